/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which of several tasks that have stopped goes on first. The kernel tells of the one first that
 * has been traced for the shortest time, so the tracer would turn threads round that wait for the
 * same block or timer. Here it is the one that was let go on the longest time ago: who began to
 * wait first is woken first, as without a tracer.
 *
 * This is all about order. What a stop means is in record.c; which tasks there are is in task.h.
 */
#ifndef TRACE_TURNS_H
#define TRACE_TURNS_H

#include <sys/resource.h>
#include <sys/types.h>

#include "../task.h"

struct turn {
	pid_t tid;
	int status; /* of wait4() */
	struct rusage used;
};

struct turns {
	struct turn *turn; /* as they were told of; one a task */
	u32 count;
	u64 room;
	u64 resumes;
};

void turns_free(struct turns *turns);

/* The task goes on. */
void turns_resumed(struct turns *turns, struct task *task);

/*
 * All that has stopped or ended by now; waits only if nothing has, and nothing is left. False: an
 * error, as of wait4().
 */
bool turns_collect(struct turns *turns);

/*
 * Takes the one whose turn it is. Immediately after turns_collect(): who is killed then, or whose
 * number another has got by exec, is not acted upon.
 */
struct turn turns_take(struct turns *turns, const struct tasks *tasks);

#endif
