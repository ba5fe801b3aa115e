/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux AIO. The record of an io_submit carries what was asked for, that of an io_getevents what
 * has ended: RAW_IOCBS, RAW_EVENTS. The finisher makes of them what there is of io_uring: a
 * submission, as the system call that does the same, and its completion.
 */
#ifndef TRACE_AIO_H
#define TRACE_AIO_H

#include "../calls/tracefile.h"
#include "task.h"

/* By ptrace: what the record of the task's call is to carry; at its entry, and at its exit. */
void aio_entry(struct task *task);
void aio_exit(struct task *task, s64 result);

/* The @i-th submission, or completion, of a call; NULL: it has no such. Valid until the next. */
const struct raw_record *aio_submission(const struct raw_record *call, u32 i);
const struct raw_record *aio_completion(const struct raw_record *call, u32 i);

#endif
