/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which replay thread does a thread's calls: threads that did not live at the same time share one.
 */
#ifndef COMPILE_THREADS_H
#define COMPILE_THREADS_H

#include "source.h"

/*
 * For each thread of the trace (from 1 on) its replay thread; *@count of these, the fewest that
 * are enough. *@processes: for each of these the replay process that it belongs to, likewise.
 * @one: all have the same.
 */
u32 *threads_place(const struct source *source, bool one, u32 *count, u32 **processes);

#endif
