// SPDX-License-Identifier: GPL-2.0
#include "elsewhere.h"

#include <sys/syscall.h>

#include "making.h"

static bool is_elsewhere(const struct named *named)
{
	return named->given && !named->kernel && (named->gone || names_in_tree(named->node));
}

enum wl_reason elsewhere_reason(const struct compiler *c)
{
	const struct making *g = &c->making;

	/* In a directory that has been removed nobody looks for a name on the disk. */
	if (g->result == -ENOENT && (g->first.gone || g->second.gone))
		return BECAUSE_KERNEL;
	if (g->call->effect != DOES_MOUNT || g->result < 0 ||
	    g->about.thread->place->mounts->unknown)
		return BECAUSE_ELSEWHERE;
	if (effect_mounts_new(&g->about))
		return effect_mounts_kernels(&g->about) ? BECAUSE_KERNEL : BECAUSE_ELSEWHERE;
	return choose_nr(c) == SYS_move_mount ? BECAUSE_ELSEWHERE : BECAUSE_ORDER;
}

/*
 * Not found, though it is there: a symbolic link that nobody has read, and that leads elsewhere by
 * the process's root.
 */
static bool is_lost(struct compiler *c)
{
	const struct making *g = &c->making;
	const struct named *last = g->second.given ? &g->second : &g->first;

	return g->result == -ENOENT && last->given && last->aside && last->node->file &&
	       !tree_unknown(&c->tree, last->node);
}

bool elsewhere_hides(struct compiler *c)
{
	struct making *g = &c->making;
	bool unknown = g->about.thread->place->mounts->unknown;

	if (!g->first.given && !g->second.given)
		return false;
	if (!unknown && g->call->effect != DOES_MOUNT && !is_elsewhere(&g->first) &&
	    !is_elsewhere(&g->second) && !is_lost(c))
		return false;
	if (unknown)
		source_hide_names(c->source);
	g->first.given = false;
	g->second.given = false;
	return true;
}
