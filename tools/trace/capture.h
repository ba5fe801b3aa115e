/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is recorded of a call beside its numbers: paths and structures from the task's memory, and
 * the attributes of files that say which file it was. Attributes are looked up by way of
 * /proc/PID, so that names mean what they mean to the task.
 *
 * This is what to record, call by call. How a task's memory is read is in peek.h; where the blobs
 * wait for the record is in task.h; when a call stops, and its record is written, is in
 * ptrace/record.c. Where a file lies is in layout.h.
 */
#ifndef TRACE_CAPTURE_H
#define TRACE_CAPTURE_H

#include "../calls/calls.h"
#include "../calls/tracefile.h"
#include "task.h"

/* Sets the flags of a clone() or clone3() that @task is about to make. */
void capture_clone(struct task *task);

/* Puts blobs into @task. At the entry stop. */
void capture_entry(struct task *task, const struct call *call);

/* Of the file that a path leads to, through links. */
bool capture_attr(const char *path, struct tracefile_attr *attr);

/* Of the file behind a descriptor. */
void capture_fd(struct task *task, int fd);

/* At the exit stop; only calls that did not fail have something to show. */
void capture_exit(struct task *task, const struct call *call, s64 result);

/* A TRACEFILE_TASK alone: for one that runs on, whose descriptors may be others by now. */
void capture_task(struct tracefile_writer *w, pid_t tid, pid_t tgid, u64 now, u16 flags);

/* State at the start, or TRACEFILE_AGAIN: of the task and of each descriptor. */
void capture_state(struct tracefile_writer *w, pid_t tid, pid_t tgid, u64 now, u16 flags);

/* The number behind a word at the beginning of a line of a file of /proc; 0: there is none. */
u64 capture_number(const char *path, const char *word, int base);

/* A number in /proc/PID/status; 0 if it is gone. */
u64 capture_status(pid_t pid, const char *word);

/* The process of a thread, or the thread itself if it is gone. */
pid_t capture_process(pid_t tid);

#endif
