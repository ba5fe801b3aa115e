/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls of 32-bit programs. Most do what a call of x86-64 does, and have their arguments elsewhere:
 * they are recorded as that call. What stands in the program's memory has other forms: such a task
 * is `narrow`. The others, as those that are many in one, stay foreign.
 */
#ifndef TRACE_I386_H
#define TRACE_I386_H

#include "../task.h"

/* The call that the task stands in becomes one of x86-64. False: it stays what it is. */
bool i386_entry(struct task *task);

/* What the call of x86-64 would have returned. */
s64 i386_result(const struct task *task, s64 result);

#endif
