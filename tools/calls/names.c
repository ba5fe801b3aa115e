// SPDX-License-Identifier: GPL-2.0
#include "names.h"

#include "../common/alloc.h"
#include "mounts.h"

#define DELETED " (deleted)"

/* The list of all names of one hash. */
static void **names_place(struct names *names, const struct node *parent, const char *name,
			  size_t length)
{
	return map_pointer_at(&names->by_hash,
			      map_hash((uintptr_t)parent * HASH_GOLDEN, name, length));
}

static void insert(struct names *names, struct node *node)
{
	void **place = names_place(names, node->parent, node->name, strlen(node->name));

	node->next = *place;
	*place = node;
}

static struct node *make(struct names *names, struct node *parent, const char *name, size_t length)
{
	struct node *node = xmalloc(sizeof(*node));

	*node = (struct node){ .parent = parent,
			       .name = xstrndup(name, length),
			       .all = names->last };
	names->last = node;
	if (parent)
		insert(names, node);
	return node;
}

void names_init(struct names *names)
{
	*names = (struct names){ .epoch = 1 };
	names->root = make(names, NULL, "", 0);
	names->root->state = NODE_THERE;
}

void names_free(struct names *names)
{
	struct node *node = names->last;

	while (node) {
		struct node *before = node->all;

		free(node->name);
		free(node->target);
		free(node);
		node = before;
	}
	map_free(&names->by_hash);
}

static struct node *child_of(struct names *names, struct node *parent, const char *name,
			     size_t length)
{
	struct node *node = *names_place(names, parent, name, length);

	for (; node; node = node->next) {
		if (node->parent == parent && !strncmp(node->name, name, length) &&
		    !node->name[length])
			return node;
	}
	return make(names, parent, name, length);
}

static struct node *walk(struct names *names, struct view *view, struct node *at, const char *path,
			 bool follow, unsigned int *links)
{
	if (*path == '/') {
		at = view->root.node;
		view->mount = view->root.mount;
	}
	for (;;) {
		struct node *child;
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (!length)
			return at;
		if (length == 2 && !strncmp(path, "..", 2)) {
			at = mounts_above(names, view, at);
		} else if (length != 1 || *path != '.') {
			child = mounts_enter(view, child_of(names, at, path, length));
			if (child->target && (follow || path[length]) && (*links)++ < LINKS_MAX) {
				view->linked = true;
				child = walk(names, view, at, child->target, true, links);
			}
			at = child;
		}
		path += length;
	}
}

struct node *names_find(struct names *names, struct node *from, const char *path, bool follow)
{
	struct view view = { .root.node = names->root, .mounts = &mounts_none };

	return names_find_in(names, &view, from, path, follow);
}

struct node *names_find_in(struct names *names, struct view *view, struct node *from,
			   const char *path, bool follow)
{
	unsigned int links = 0;

	return walk(names, view, from, path, follow, &links);
}

struct node *names_new_tree(struct names *names, const struct node *at)
{
	struct node *root = make(names, NULL, "", 0);

	root->mounted = true;
	root->state = NODE_THERE;
	if (at)
		names_mount_tree(root, at);
	return root;
}

/* Its names say where it was mounted, and those there do not lead to it. */
void names_mount_tree(struct node *root, const struct node *at)
{
	free(root->name);
	root->name = xstrndup(at->name, strlen(at->name));
	root->parent = at->parent;
}

bool names_in_tree(const struct node *node)
{
	while (node && !node->mounted)
		node = node->parent;
	return node;
}

static void take_out(struct names *names, struct node *node)
{
	void **first = names_place(names, node->parent, node->name, strlen(node->name));
	struct node *before = *first;

	if (before == node) {
		*first = node->next;
		return;
	}
	while (before && before->next != node)
		before = before->next;
	if (before)
		before->next = node->next;
}

bool names_is_gone(const struct node *node)
{
	while (node->parent)
		node = node->parent;
	return *node->name;
}

bool names_is_below(const struct node *node, const struct node *above)
{
	for (; node; node = node->parent) {
		if (node == above)
			return true;
	}
	return false;
}

void names_remove(struct names *names, struct node *node)
{
	if (!node->parent || node->mounted)
		return;
	take_out(names, node);
	node->above = node->parent;
	node->parent = NULL;
	node->state = NODE_ABSENT;
	names->epoch++;
}

void names_move(struct names *names, struct node *from, struct node *to)
{
	struct node *parent = to->parent;

	/* No kernel lets such a rename through. */
	if (from == to || !from->parent || !parent || from->mounted || to->mounted ||
	    names_is_below(to, from) || names_is_below(from, to))
		return;
	names_remove(names, to);
	take_out(names, from);
	free(from->name);
	from->name = xstrndup(to->name, strlen(to->name));
	from->parent = parent;
	insert(names, from);
	names->epoch++;
}

void names_exchange(struct names *names, struct node *one, struct node *other)
{
	struct node *parent = one->parent;
	char *name = one->name;

	if (!parent || !other->parent || one->mounted || other->mounted ||
	    names_is_below(one, other) || names_is_below(other, one))
		return;
	take_out(names, one);
	take_out(names, other);
	one->parent = other->parent;
	one->name = other->name;
	other->parent = parent;
	other->name = name;
	insert(names, one);
	insert(names, other);
	names->epoch++;
}

/* Puts @name in front of what is at @at; what has no room is cut off at the front. */
static u32 put_before(char *path, u32 at, const char *name)
{
	u32 length = strlen(name), kept = min(length, at);

	memcpy(path + at - kept, name + length - kept, kept);
	return at - kept;
}

u32 names_path(const struct node *node, char *path, u32 room)
{
	const struct node *step = node;
	u32 length = 0, at;

	for (; step->parent; step = step->parent)
		length += strlen(step->name) + 1;
	/* Not up to the root: a directory on the way, or the name itself, has been removed. */
	if (*step->name)
		length += strlen(step->name) + strlen(DELETED);
	length = max(length, 1u);
	at = min(length, room - 1);
	path[at] = 0;
	if (*step->name)
		at = put_before(path, at, DELETED);
	for (step = node; step->parent; step = step->parent) {
		at = put_before(path, at, step->name);
		at = put_before(path, at, "/");
	}
	if (*step->name)
		put_before(path, at, step->name);
	else if (at)
		put_before(path, at, "/");
	return length;
}
