// SPDX-License-Identifier: GPL-2.0
#include "mounts.h"

#include "../common/alloc.h"
#include "../common/vec.h"

#define STACK_MAX 64 /* of mounts above one another */

const struct mounts mounts_none;

struct mounts *mounts_new(struct node *root)
{
	struct mounts *m = xmalloc(sizeof(*m));

	*m = (struct mounts){ .refs = 1, .root = { root, MOUNT_FIRST } };
	return m;
}

struct mounts *mounts_get(struct mounts *m)
{
	m->refs++;
	return m;
}

struct mounts *mounts_copy(const struct mounts *m)
{
	struct mounts *copy = mounts_new(m->root.node);
	u32 i;

	copy->root = m->root;
	copy->unknown = m->unknown;
	copy->copied = true;
	copy->apart = m->apart;
	for (i = 0; i < m->count; i++)
		mounts_add(copy, m->mount[i].id, m->mount[i].at, m->mount[i].root);
	return copy;
}

void mounts_put(struct mounts *m)
{
	if (--m->refs)
		return;
	free(m->mount);
	free(m);
}

static struct mount *by_id(const struct mounts *m, u32 id)
{
	u32 i;

	for (i = 0; i < m->count; i++) {
		if (m->mount[i].id == id)
			return &m->mount[i];
	}
	return NULL;
}

static bool is_spot(struct spot one, const struct node *node, u32 mount)
{
	return one.node == node && one.mount == mount;
}

/* What is mounted there; the youngest is on top. */
static struct mount *mount_at(const struct mounts *m, const struct node *node, u32 mount)
{
	u32 i;

	for (i = m->count; i--;) {
		if (is_spot(m->mount[i].at, node, mount))
			return &m->mount[i];
	}
	return NULL;
}

struct node *mounts_enter(struct view *view, struct node *node)
{
	const struct mount *mount;
	unsigned int steps;

	for (steps = 0; view->mounts->count && steps < STACK_MAX; steps++) {
		mount = mount_at(view->mounts, node, view->mount);
		if (!mount)
			break;
		node = mount->root;
		view->mount = mount->id;
		view->crossed = true;
	}
	return node;
}

struct node *mounts_above(struct names *names, struct view *view, struct node *node)
{
	const struct mount *mount;
	unsigned int steps;

	for (steps = 0; view->mounts->count && steps < STACK_MAX; steps++) {
		if (is_spot(view->root, node, view->mount))
			return node;
		mount = by_id(view->mounts, view->mount);
		if (!mount || mount->root != node)
			break;
		node = mount->at.node;
		view->mount = mount->at.mount;
		view->crossed = true;
	}
	/* Nothing is above what is mounted nowhere any more. */
	if (is_spot(view->root, node, view->mount) || node->mounted)
		return node;
	return mounts_enter(view, node->parent ?: node->above ?: names->root);
}

void mounts_add(struct mounts *m, u32 id, struct spot at, struct node *root)
{
	m->mount = vec_reserve(m->mount, &m->room, m->count + 1ull, sizeof(*m->mount));
	m->mount[m->count++] = (struct mount){ id, at, root };
}

void mounts_add_below(struct mounts *m, u32 id, struct spot from, u32 *next)
{
	u32 count = m->count, i;

	for (i = 0; i < count; i++) {
		struct mount mount = m->mount[i];

		if (mount.at.mount != from.mount || mount.id == id || mount.at.mount == id ||
		    !names_is_below(mount.at.node, from.node))
			continue;
		mounts_add(m, (*next)++, (struct spot){ mount.at.node, id }, mount.root);
		mounts_add_below(m, *next - 1, (struct spot){ mount.root, mount.id }, next);
	}
}

void mounts_move(struct mounts *m, u32 id, struct spot at)
{
	struct mount *mount = by_id(m, id);
	struct node *root;

	if (!mount)
		return;
	root = mount->root;
	mounts_remove(m, (struct spot){ root, id });
	mounts_add(m, id, at, root);
}

void mounts_remove(struct mounts *m, struct spot root)
{
	struct mount *mount = by_id(m, root.mount);

	if (!mount || mount->root != root.node)
		return;
	m->count--;
	memmove(mount, mount + 1, (m->mount + m->count - mount) * sizeof(*mount));
}

void mounts_pivot(struct mounts *m, struct spot to, struct spot old)
{
	struct spot before = m->root;

	mounts_remove(m, to);
	m->root = to;
	mounts_add(m, before.mount, old, before.node);
}
