/* SPDX-License-Identifier: GPL-2.0 */
/* The command that is traced, and the file that its trace goes to. */
#ifndef TRACE_COMMAND_H
#define TRACE_COMMAND_H

#include <sys/types.h>

#include "trace.h"

/*
 * A process that becomes the command when it is told to by command_go(); with @filter, with
 * seccomp's. It ends if the tracer does before.
 */
pid_t command_start(const struct record_options *options, bool filter, int *go);
void command_go(int go);

/* Of --fifo: the tracer sees each stop before another traced thread runs. */
enum { FIFO_COMMAND = 1, FIFO_TRACER };

/*
 * Real-time priority (SCHED_FIFO) for this process and what it makes from now on, or the end.
 * Threads that are woken together then go on in the order in which they were woken. Else their
 * shares of the CPU decide, and a tracer's stops change these.
 */
void command_priority(int priority);

/* A new file, locked, not on the traced disk. Or the end. */
int open_trace(const struct record_options *options);

#endif
