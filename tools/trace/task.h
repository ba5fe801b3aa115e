/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of the tasks that are traced, by number: what the tracer knows of each, the call that
 * it is in, and the blobs for that call's record. Nothing here asks the task itself: peek.h does,
 * and capture.h makes the blobs.
 */
#ifndef TRACE_TASK_H
#define TRACE_TASK_H

#include <sys/types.h>

#include "peek.h"

#define TASK_NAME 64

struct noted; /* uring.c */

struct task {
	pid_t tid;
	pid_t tgid;
	char name[TASK_NAME]; /* hold.h */
	u32 made; /* tasks, by this one */
	bool attached; /* has no filter: stops at every call */
	bool announced; /* by the event of the task that made it */
	bool stopped; /* before it was announced */
	bool in_call;
	bool ignored; /* the call that it is in is not recorded */
	bool narrow; /* its call is i386's (ptrace/i386.h) */
	bool short_offset; /* ... and has an offset of 32 bits in memory */
	u64 found_at; /* where such a call puts its result; 0: nowhere */
	bool torn; /* a thread of its process was killed in a call */
	u64 entry; /* when */
	u64 resumed; /* the tracer's count, when it was last let go on */
	u32 epoch; /* of the tracer, when its descriptors were known */
	u16 flags; /* TRACEFILE_, as a record has them */
	struct peek_call call;
	u64 clone_flags;
	u64 asked; /* bytes of disks, by it, when that was last looked at */
	u8 *blobs; /* as in a record of the trace file, of the entry */
	u32 blobs_used;
	u64 blobs_room;
	struct noted *noted; /* submissions to io_uring, until they are known to be taken */
	u32 noted_count;
	struct task *next;
};

#define TASK_BUCKETS 1024

struct tasks {
	struct task *bucket[TASK_BUCKETS];
	unsigned int count;
};

struct task *task_find(const struct tasks *tasks, pid_t tid);

/* One that is not there yet. */
struct task *task_add(struct tasks *tasks, pid_t tid);
void task_remove(struct tasks *tasks, struct task *task);

/* Calls @each with every task; it may remove that task. */
void tasks_each(struct tasks *tasks, void (*each)(struct task *task, void *arg), void *arg);

/* A blob for the record of the call that the task is in. */
void task_blob(struct task *task, u16 kind, const void *data, u32 length);

#endif
