/* SPDX-License-Identifier: GPL-2.0 */
/* Which system call does the same as an operation of io_uring. */
#ifndef TRACE_URING_CALLS_H
#define TRACE_URING_CALLS_H

#include <linux/io_uring.h>

#include "../calls/calls.h"

/*
 * Where in a submission the arguments of the call that does the same stand, in their order: f
 * descriptor, a address, l length, o offset or second address, r flags. NULL: no call does.
 */
const char *uring_fields(u8 opcode);

/* The call's number; without flags and offset, if @sqe is NULL. */
u32 uring_call(u8 opcode, const struct io_uring_sqe *sqe);

/* @fd: what @sqe is about; it may be one of registered files. */
void uring_args(const struct io_uring_sqe *sqe, s32 fd, u64 *args);

/* Is the call's result a descriptor? */
bool uring_opens(u32 nr);

#endif
