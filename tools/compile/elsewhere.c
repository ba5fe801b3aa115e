// SPDX-License-Identifier: GPL-2.0
#include "elsewhere.h"

#include <sys/syscall.h>

#include "making.h"

static bool is_elsewhere(const struct named *named)
{
	return named->given && !named->kernel && names_in_tree(named->node);
}

enum wl_reason elsewhere_reason(const struct compiler *c)
{
	const struct making *g = &c->making;

	if (g->call->effect != DOES_MOUNT || g->result < 0 ||
	    g->about.thread->place->mounts->unknown)
		return BECAUSE_ELSEWHERE;
	if (effect_mounts_new(&g->about))
		return effect_mounts_kernels(&g->about) ? BECAUSE_KERNEL : BECAUSE_ELSEWHERE;
	return choose_nr(c) == SYS_move_mount ? BECAUSE_ELSEWHERE : BECAUSE_ORDER;
}

bool elsewhere_hides(struct compiler *c)
{
	struct making *g = &c->making;
	bool unknown = g->about.thread->place->mounts->unknown;

	if (!g->first.given && !g->second.given)
		return false;
	if (!unknown && g->call->effect != DOES_MOUNT && !is_elsewhere(&g->first) &&
	    !is_elsewhere(&g->second))
		return false;
	if (unknown)
		source_hide_names(c->source);
	g->first.given = false;
	g->second.given = false;
	return true;
}
