/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names that are not the replay's: of a process that has a mount namespace of its own, or has
 * called pivot_root(), and below what the trace has mounted. What they lead to nobody has recorded.
 * Such a call is left out and counted, and says nothing of the initial tree.
 */
#ifndef COMPILE_ELSEWHERE_H
#define COMPILE_ELSEWHERE_H

#include "../common/map.h"

struct compiler;

struct elsewhere {
	struct map processes; /* by number: 1 */
	struct map mounts; /* by node: 1 */
};

void elsewhere_free(struct elsewhere *e);

/* A process has the root and the mounts of its maker, if @flags (of clone) leave them. */
void elsewhere_fork(struct elsewhere *e, u32 parent, u32 child, u64 flags);

/* Are the names of the call that is being made? Then its record has none any more. */
bool elsewhere_hides(struct compiler *c);

/* What the call, which has been made, changes of that. */
void elsewhere_follow(struct compiler *c);

#endif
