// SPDX-License-Identifier: GPL-2.0
#include "elsewhere.h"

#include <sched.h>
#include <sys/syscall.h>

#include "making.h"

void elsewhere_free(struct elsewhere *e)
{
	map_free(&e->processes);
	map_free(&e->mounts);
}

void elsewhere_fork(struct elsewhere *e, u32 parent, u32 child, u64 flags)
{
	if (flags & CLONE_NEWNS || *map_at(&e->processes, parent))
		*map_at(&e->processes, child) = 1;
}

static bool is_below_mount(struct elsewhere *e, const struct named *named)
{
	const struct node *node;

	for (node = named->given ? named->node : NULL; node; node = node->parent) {
		if (*map_at(&e->mounts, (uintptr_t)node))
			return true;
	}
	return false;
}

/* It is about the tree of mounts itself. */
static bool moves_names(const struct compiler *c)
{
	switch (c->making.call->effect) {
	case DOES_MOUNT:
		return true;
	default:
		return choose_nr(c) == SYS_pivot_root;
	}
}

bool elsewhere_hides(struct compiler *c)
{
	struct making *g = &c->making;
	struct elsewhere *e = &c->elsewhere;

	if (!g->first.given && !g->second.given)
		return false;
	if (!moves_names(c) && !*map_at(&e->processes, g->about.thread->process->id) &&
	    (!e->mounts.used ||
	     (!is_below_mount(e, &g->first) && !is_below_mount(e, &g->second))))
		return false;
	source_hide_names(c->source);
	g->first.given = false;
	g->second.given = false;
	return true;
}

static void see_mount(struct compiler *c)
{
	struct making *g = &c->making;
	const struct named *at = g->second.given ? &g->second : &g->first;
	bool own = *map_at(&c->elsewhere.processes, g->about.thread->process->id);

	if (at->given && !at->kernel && !own)
		*map_at(&c->elsewhere.mounts, (uintptr_t)at->node) = 1;
}

void elsewhere_follow(struct compiler *c)
{
	struct making *g = &c->making;
	u64 *process;

	if (g->result < 0)
		return;
	if (g->call->effect == DOES_MOUNT) {
		see_mount(c);
		return;
	}
	process = map_at(&c->elsewhere.processes, g->about.thread->process->id);
	switch (choose_nr(c)) {
	case SYS_pivot_root:
		*process = 1;
		break;
	case SYS_unshare:
		*process |= (choose_arg(c, 0) & CLONE_NEWNS) != 0;
		break;
	case SYS_setns:
		*process |= !choose_arg(c, 1) || choose_arg(c, 1) & CLONE_NEWNS;
		break;
	}
}
