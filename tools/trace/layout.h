/* SPDX-License-Identifier: GPL-2.0 */
/* Where files lie on their disk, with --layout: of each once, when it is first opened. */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include "../calls/calls.h"
#include "../calls/tracefile.h"
#include "task.h"

#define LAYOUT_MAX 256 /* extents of a file; what lies behind them is left out */

/* Is it the first time that this is asked of a file? */
bool layout_first(u64 dev, u64 ino);

/* The extents of that file, at most LAYOUT_MAX; -1: @path does not lead to it. */
int layout_at(const char *path, u64 dev, u64 ino, struct tracefile_extent *extent);

/* Puts TRACEFILE_LAYOUT into @task: at the exit of an open, if its file was not seen before. */
void layout_opened(struct task *task, const struct call *call, s64 result);

#endif
