/* SPDX-License-Identifier: GPL-2.0 */
/*
 * CLOCK_MONOTONIC, looked at without moving it. Under the virtual clock of user mode Linux
 * clock_gettime() takes time, so that who waits by looking comes to an end: 1 ns, and 256 ns where
 * it is looked at very often while nothing else happens. What a timer has left is the same clock,
 * and takes none: the kernel asks with interrupts off.
 *
 * So nobody may wait by looking at this clock: under the virtual one that wait would never end.
 */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include "../../dm-david/portable/portable.h"

/*
 * To be called once in each process, before the first look. Without it a look moves the clock.
 * Returns by how many ns clock_look_moving() moves it; 0: it goes by itself.
 */
u64 clock_start(void);

/* Nanoseconds. */
u64 clock_look(void);

/* The same by clock_gettime(): who waits by looking gets on. */
u64 clock_look_moving(void);

#endif
