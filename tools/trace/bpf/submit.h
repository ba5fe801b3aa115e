/* SPDX-License-Identifier: GPL-2.0 */
/* The reader's part of submissions to io_uring: what the kernel's part has read becomes records. */
#ifndef TRACE_BPF_SUBMIT_H
#define TRACE_BPF_SUBMIT_H

#include "../tracer.h"
#include "trace.bpf.h"

/* What the kernel's part is to read of each operation. */
void submit_plan(struct uring_op *ops);

/* A TRACEFILE_SQE or TRACEFILE_CQE of the kernel's part. It is written behind its call. */
void submit_take(struct tracer *t, const struct tracefile_record *record, pid_t tgid);

/* A call of x86-64, when its record has been written. */
void submit_follow(struct tracer *t, const struct tracefile_record *record, pid_t tgid);

/* What has no call is written too. */
void submit_end(struct tracer *t);

#endif
