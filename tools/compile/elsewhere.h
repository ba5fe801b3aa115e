/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names that are not the replay's: in trees that the trace has mounted (mounts.h), and of a process
 * that has gone to other mounts (setns). What they lead to nobody has recorded. Such a call is left
 * out and counted, and says nothing of the initial tree.
 */
#ifndef COMPILE_ELSEWHERE_H
#define COMPILE_ELSEWHERE_H

#include <stdbool.h>

#include "../calls/workload.h"

struct compiler;

/* Are the names of the call that is being made? Then it is about no names any more. */
bool elsewhere_hides(struct compiler *c);

/* Why such a call is left out. What only changes where names lead to has been followed. */
enum wl_reason elsewhere_reason(const struct compiler *c);

#endif
