/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which pages of mapped files a process has in its page tables, before a call takes them away. So
 * it is known which pages were touched, not when. The kernel maps pages around one that is read,
 * if they are in memory: so more may be there than were touched.
 */
#ifndef TRACE_PAGES_H
#define TRACE_PAGES_H

#include "../tracer.h"

/* At the entry of munmap, msync, exec and exit. */
void pages_entry(struct tracer *t, const struct task *task);

/* Of all processes. */
void pages_end(struct tracer *t);

#endif
