// SPDX-License-Identifier: GPL-2.0
#include "tree.h"

#include <linux/limits.h>
#include <sys/stat.h>

#include "../common/vec.h"

static u32 new_entry(struct tree *tree, u32 parent, const char *name)
{
	tree->entry = vec_reserve(tree->entry, &tree->room, tree->entries + 1,
				  sizeof(*tree->entry));
	tree->entry[tree->entries] = (struct tree_entry){
		.parent = parent,
		.name = xstrndup(name, strlen(name)),
	};
	return tree->entries++;
}

void tree_init(struct tree *tree, const struct node *root)
{
	*tree = (struct tree){ .root = root };
	new_entry(tree, 0, "");
	tree->entry[0].mode = S_IFDIR | 0755;
}

void tree_free(struct tree *tree)
{
	u32 i;

	for (i = 0; i < tree->entries; i++) {
		free(tree->entry[i].name);
		free(tree->entry[i].target);
		free(tree->entry[i].extent);
	}
	free(tree->entry);
	map_free(&tree->nodes);
	map_free(&tree->asked);
}

static u64 *state_of(struct tree *tree, const struct node *node)
{
	return map_at(&tree->nodes, (uintptr_t)node);
}

static void holds_names(struct tree *tree, u32 entry)
{
	struct tree_entry *e = &tree->entry[entry];

	if (e->mode && !e->type_guessed)
		return;
	e->mode = S_IFDIR | 0755;
	e->type_guessed = false;
}

/* The entry of a directory on the way; U32_MAX: a call made it, so it is no part of the tree. */
static u32 entry_of(struct tree *tree, struct node *node)
{
	u64 state = *state_of(tree, node);
	u32 parent, entry;

	if (node == tree->root)
		return 0;
	if (state == TREE_MADE)
		return U32_MAX;
	if (state)
		return state - 1;
	if (!node->parent)
		return U32_MAX; /* not below the root, or a name that has gone */
	parent = entry_of(tree, node->parent);
	if (parent == U32_MAX)
		return U32_MAX;
	holds_names(tree, parent);
	entry = new_entry(tree, parent, node->name);
	*state_of(tree, node) = entry + 1;
	return entry;
}

static void set_link(struct tree *tree, struct tree_entry *entry, const char *target)
{
	entry->file = 0;
	entry->mode = S_IFLNK | 0777;
	entry->type_guessed = false;
	free(entry->target);
	entry->target = xstrndup(target, strlen(target));
}

static void set_file(struct tree_entry *entry, const struct tree_found *found)
{
	/* A link of which nobody has asked what it says is taken for what it leads to. */
	if (entry->mode && !entry->type_guessed &&
	    (!S_ISLNK(entry->mode) || entry->target || S_ISLNK(found->mode)))
		return;
	entry->mode = found->mode;
	entry->size = found->size;
	entry->guessed = found->guessed;
	entry->type_guessed = found->type_guessed;
	/* Of a socket or device only the name is on a disk. */
	if (!S_ISREG(found->mode) && !S_ISDIR(found->mode) && !S_ISLNK(found->mode)) {
		entry->mode = S_IFREG | (found->mode & 07777);
		entry->size = 0;
	}
}

static void set_layout(struct tree_entry *entry, const struct tree_found *found)
{
	size_t bytes = found->extents * sizeof(*entry->extent);

	if (!found->extents || entry->extent || !S_ISREG(entry->mode))
		return;
	entry->extent = memcpy(xmalloc(bytes), found->layout, bytes);
	entry->extents = found->extents;
}

bool tree_found(struct tree *tree, struct node *node, const struct tree_found *found,
		struct tree_found *before)
{
	u32 at = entry_of(tree, node);
	struct tree_entry *entry;

	if (at == U32_MAX)
		return false;
	entry = &tree->entry[at];
	if (before)
		*before = (struct tree_found){
			.mode = entry->mode,
			.size = entry->size,
			.guessed = entry->guessed,
			.type_guessed = entry->type_guessed,
			.file = entry->file,
		};
	if (found->target)
		set_link(tree, entry, found->target);
	else if (found->mode)
		set_file(entry, found);
	if (*map_at(&tree->asked, (uintptr_t)node) && !entry->target)
		holds_names(tree, at);
	set_layout(entry, found);
	if (!found->file || S_ISDIR(found->mode))
		return true;
	if (!entry->target)
		entry->file = found->file;
	return true;
}

void tree_missing(struct tree *tree, const struct node *node)
{
	u64 state = node->parent ? *state_of(tree, node->parent) : TREE_MADE;

	if (state == TREE_MADE)
		return;
	*map_at(&tree->asked, (uintptr_t)node->parent) = 1;
	if (state && !tree->entry[state - 1].target)
		holds_names(tree, state - 1);
}

bool tree_is_file(struct tree *tree, const struct node *node)
{
	u64 state = *state_of(tree, node);
	const struct tree_entry *e = &tree->entry[state && state != TREE_MADE ? state - 1 : 0];

	return !S_ISDIR(e->mode) && e->mode && !e->type_guessed && !e->target;
}

void tree_move(struct tree *tree, const struct node *from, struct node *to)
{
	u64 state = *state_of(tree, from);
	struct tree_entry was;

	if (state == TREE_MADE && !*state_of(tree, to))
		tree_made(tree, to);
	if (!state || state == TREE_MADE || *state_of(tree, to) == TREE_MADE)
		return;
	tree->entry[state - 1].moved = true;
	was = tree->entry[state - 1];
	tree_found(tree, to,
		   &(struct tree_found){
			   .mode = was.mode,
			   .size = was.size,
			   .guessed = was.guessed,
			   .type_guessed = was.type_guessed,
			   .file = was.file,
			   .target = was.target,
			   .layout = was.extent,
			   .extents = was.extents,
		   },
		   NULL);
	*state_of(tree, from) = *state_of(tree, to);
}

/* A link at which calls have only looked: it says something that is as long, and leads nowhere. */
static void make_target(struct tree_entry *entry)
{
	size_t length = entry->size ? min_t(u64, entry->size, NAME_MAX) : 1;

	entry->target = xmalloc(length + 1);
	memset(entry->target, '-', length);
	entry->target[length] = 0;
}

void tree_link(struct tree *tree)
{
	struct map first = {}; /* entry, by file */
	u32 i;

	for (i = 1; i < tree->entries; i++) {
		if (S_ISLNK(tree->entry[i].mode) && !tree->entry[i].target)
			make_target(&tree->entry[i]);
	}
	for (i = 1; i < tree->entries; i++) {
		struct tree_entry *entry = &tree->entry[i];
		u64 *at;

		entry->other = 0;
		if (!entry->file || entry->moved)
			continue;
		at = map_at(&first, entry->file);
		if (*at)
			entry->other = *at;
		else
			*at = i;
	}
	map_free(&first);
}

struct tree_guesses tree_guesses(const struct tree *tree)
{
	struct tree_guesses found = {};
	u32 i;

	for (i = 1; i < tree->entries; i++) {
		const struct tree_entry *e = &tree->entry[i];

		if (e->other || e->moved)
			continue;
		found.types += !e->mode || e->type_guessed;
		if (e->mode && !S_ISREG(e->mode))
			continue;
		found.files++;
		found.sizes += !e->mode || e->guessed || e->type_guessed;
	}
	return found;
}

void tree_made(struct tree *tree, struct node *node)
{
	u32 parent = node->parent ? entry_of(tree, node->parent) : U32_MAX;

	if (parent != U32_MAX)
		holds_names(tree, parent);
	*state_of(tree, node) = TREE_MADE;
}

bool tree_unknown(struct tree *tree, struct node *node)
{
	return !*state_of(tree, node);
}

bool tree_was_there(struct tree *tree, const struct node *node)
{
	u64 state = *state_of(tree, node);

	return state && state != TREE_MADE;
}

void tree_path(const struct tree *tree, u32 entry, char *path, size_t room)
{
	size_t at = room - 1, length;

	path[at] = 0;
	for (; entry; entry = tree->entry[entry].parent) {
		length = strlen(tree->entry[entry].name);
		if (length + 1 > at)
			die("a path of the tree is longer than %zu bytes", room);
		at -= length;
		memcpy(path + at, tree->entry[entry].name, length);
		if (tree->entry[entry].parent)
			path[--at] = '/';
	}
	memmove(path, path + at, room - at);
}
