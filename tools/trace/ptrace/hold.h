/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Holds one thread in front of each of its calls for some time, and no other: who is late then
 * waits for it, by a lock, a pipe or memory that it watches. `david trace causal` makes one run for
 * each thread.
 *
 * A thread is known by who made it: 1 is the command's first, 1.2 the second that 1 has made.
 */
#ifndef TRACE_HOLD_H
#define TRACE_HOLD_H

#include <stdbool.h>

struct task;
struct tracer;

/* @child is the next one that @parent has made. */
void hold_name(struct task *parent, struct task *child);

/* True: the task, which is stopped at the entry of a call, is to stay so for now. */
bool hold_begins(struct tracer *t, const struct task *task);

/* Lets the held task go on when it is time. Called whenever the tracer's wait is interrupted. */
void hold_look(struct tracer *t);

#endif
