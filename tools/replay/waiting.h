/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Threads that wait, and for what. As long as one runs, others may be let go on. When none does,
 * and nothing that any of them waits for has come, nothing will: the replay stands still. That is
 * seen at once, by the last one that begins to wait. A thread that waits for a pipe then gives up;
 * its command fails with ETIMEDOUT, and what everybody waited for is kept for the report.
 *
 * A thread that waits until it is time runs, in this sense.
 */
#ifndef REPLAY_WAITING_H
#define REPLAY_WAITING_H

#include "../../dm-david/portable/portable.h"

enum wait_kind {
	WAIT_NONE,
	WAIT_REACHED, /* until *@word is @value, or more: the commands of another thread */
	WAIT_CHANGED, /* until *@word is another than @value: the other side of a FIFO */
	WAIT_PIPE, /* until poll() says @events of @fd */
	WAIT_START, /* the same, of threads that have done what is before --from */
};

struct wait {
	enum wait_kind kind;
	u32 event; /* of the trace: whose command waits */
	u8 op;
	const u32 *word;
	u32 value;
	u32 thread; /* WAIT_REACHED: whose commands */
	int fd;
	short events;
};

#define STALLED_MAX 20

struct waiting { /* shared by all threads and processes */
	u32 threads;
	u32 running;
	u32 ends; /* of waits so far */
	int wake; /* an eventfd: somebody gives up, or all stop */
	bool stopped;
	bool timed; /* times may be looked at: a virtual clock would move by that */
	u64 idle_since;
	u64 idle_ns; /* in which no thread ran: until one that was let go on did */
	u64 idle_times;
	u64 stalls;
	u32 stalled_count;
	/* What was waited for at the first stall; the first of these gave up. */
	struct wait stalled[STALLED_MAX];
	struct waiter *waiter; /* by thread */
};

/* Of so many threads, all of which run. NULL: there is no memory. */
struct waiting *waiting_new(u32 threads);
void waiting_free(struct waiting *w);

/* The calling thread is this one of them. */
void waiting_set_thread(u32 thread);

/* The calling thread begins to wait, and has waited. */
void waiting_begin(struct waiting *w, const struct wait *what);
void waiting_end(struct waiting *w);

/* The calling thread runs no more. */
void waiting_leave(struct waiting *w);

/* All stop: who waits for a pipe gives up. */
void waiting_stop(struct waiting *w);

/* Waits for a WAIT_PIPE, or a WAIT_CHANGED that is woken as a futex. False: gave up. */
bool waiting_until(struct waiting *w, const struct wait *what);

#endif
