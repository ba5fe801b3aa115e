/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is submitted to io_uring. The rings are memory of the task: submissions are read when it
 * enters the kernel with them, completions at each enter, at the ring's close and at the
 * process's end. So of a completion only the time when it was seen is known.
 *
 * Each submission is recorded as the system call that does the same.
 */
#ifndef TRACE_URING_H
#define TRACE_URING_H

#include "../tracer.h"

/* At the entry of a call that is recorded. */
void uring_entry(struct tracer *t, struct task *task, const struct call *call);

/* At its exit, when its record has been written. */
void uring_exit(struct tracer *t, struct task *task, const struct call *call, s64 result);

/* The task, or, after an exec, its memory, is gone. */
void uring_gone(struct task *task);

/* What rings still have is written down, and all are forgotten. */
void uring_end(struct tracer *t);

#endif
