/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux AIO. The record of an io_submit carries what was asked for, that of an io_getevents what
 * has ended: TRACEFILE_IOCBS, TRACEFILE_EVENTS. What the finisher makes of them is in
 * finish-submissions.c.
 */
#ifndef TRACE_AIO_H
#define TRACE_AIO_H

#include "../task.h"

/* What the record of the task's call is to carry; at its entry, and at its exit. */
void aio_entry(struct task *task);
void aio_exit(struct task *task, s64 result);

#endif
