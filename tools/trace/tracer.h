/* SPDX-License-Identifier: GPL-2.0 */
/* The tracer's state, and what its parts do with it: record.c, attach.c, tracer.c. */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H

#include <time.h>

#include "balance.h"
#include "control.h"
#include "task.h"

struct turns; /* ptrace/turns.h */

struct tracer {
	const struct record_options *options;
	struct tracefile_writer writer;
	struct tasks tasks;
	struct balance balance;
	struct control control;
	pid_t command; /* its process; 0 when it has ended */
	int status; /* of the command */
	bool detaching;
	bool unwritten; /* records were lost as the trace could not be written */
	bool on; /* calls are recorded */
	u32 epoch; /* how often it was switched on; tasks of another one are to be looked at again
		    */
	u64 off_since;
	u64 rotated_at; /* calls, when the segment began */
	timer_t hold_timer;
	bool hold_made;
	pid_t held; /* hold.c; 0: none is */
	u64 held_until;
	bool scanned; /* for a scope: what comes now is new */
	u64 looks; /* a random number, for --look */
	struct turns *turns; /* tasks that have stopped; the tracer by ptrace alone has it */
};

/*
 * CLOCK_MONOTONIC; no two looks are alike, so that the order of what happened is that of its times.
 * Where the clock stands still meanwhile each is a nanosecond later than the one before.
 */
u64 tracer_now(struct tracer *t);

/* Of which classes calls are recorded: bits. */
u32 tracer_classes(const struct record_options *options);

/* Before the first record. What cannot be written is lost, and the command goes on. */
void tracer_open(struct tracer *t);

/* The last record. Returns the exit status of the tracer: the command's, but for a broken trace. */
int tracer_close(struct tracer *t);

/* A task that is gone meanwhile is no error. */
void tracer_resume(struct tracer *t, struct task *task, int signal);

/* attach.c */
void start_command(struct tracer *t);

/* All threads of a process. False: errno. */
bool attach(struct tracer *t, pid_t pid);

/* What is in the scope and is not traced yet; all that there is, or what has just begun. */
void attach_scope(struct tracer *t, bool all);

/* Let go at the next stop, each. */
void detach_all(struct tracer *t);
void detach(struct tracer *t, struct task *task, int signal);

/* Recording, on and off. */
void switch_on(struct tracer *t);
void switch_off(struct tracer *t);

/*
 * The descriptors of the task's process, if it has not been looked at since the last switch_on().
 *
 */
void look_again(struct tracer *t, struct task *task);

/* Begins the next segment, if the current one is full. */
void rotate_if_full(struct tracer *t);

/* What all tasks have, once more. */
void look_at_all(struct tracer *t);

#endif
