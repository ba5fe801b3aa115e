/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reads that took long and asked no disk. How long a read took does not tell: a thread that another
 * has kept from its processor, or that the tracer lets wait, takes as long as a fast disk. The
 * kernel counts for each thread the bytes that it has asked disks for (/proc/PID/task/TID/io). That
 * file is read after a read that took long, so what a look costs is no part of a fast one.
 *
 * In doubt a read has asked the disk: where the kernel does not count, where the file system is not
 * one of a disk, where the thread has read anything from a disk since the look before.
 */
#ifndef TRACE_DISK_READ_H
#define TRACE_DISK_READ_H

#include "../calls/calls.h"
#include "task.h"

/*
 * Does the kernel count? Once, before anything is traced: under the virtual clock of the uml lab,
 * whose kernel does not, each call that fails takes a microsecond.
 */
void disk_read_start(void);

/* At a call's exit, which was at @exit: TRACEFILE_NO_DISK among the flags of the task. */
void disk_read_exit(struct task *task, const struct call *call, s64 result, u64 exit);

#endif
