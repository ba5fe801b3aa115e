/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of this room share: see timing.h.
 *
 *	timing.c		a model is made from a profile, told what the disk has, and unmade
 *	timing-modes.c		a request's way, by mode
 *	timing-events.c		the model's events, and who waits for room in its queue
 *	timing-count.c		what the model itself has counted, for the statistics
 *	timing-deliver.c	the timer; delivery, and how late it is
 *	timing-plug.c		what tasks have plugged
 *	timing-faults.c		what fails of the drive
 *	timing-untimed.c	what takes no modelled time, of any number of blocks
 */
#ifndef DM_DAVID_TIMING_INTERNAL_H
#define DM_DAVID_TIMING_INTERNAL_H

#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/smp.h>
#include "../../model/flash/ftl.h"
#include "../lib/reach.h"
#include "../store/store.h"
#include "timing.h"

/*
 * A task that has slept for room in the queue may then add a batch of requests. Few tasks have that
 * privilege at a time. They are in a table of sets; a new one replaces the one of its set whose
 * privilege ends first.
 */
#define SUBMITTER_BITS	4
#define SUBMITTER_WAYS	4

struct submitter {
	pid_t pid;
	struct disk_submitter disk;
};

/* What a CPU is to deliver, of what is due. The timer fired on another one. */
struct delivery {
	struct timing *timing;
	struct llist_head due;
	call_single_data_t call;
};

struct timing {
	struct dm_target *ti;
	struct store *store;
	struct figures *figures;	/* the store's */
	dev_t dev;			/* the fake disk, for tracing */
	struct profile profile;		/* scaled */
	char *word;			/* not scaled */
	size_t bytes;			/* counted in figures->model_bytes */

	/* Under figures->model.lock; each made when a mode first needs it. */
	struct disk *disk;
	struct drive *drive;		/* speedup's own */
	u64 drive_clock;
	u64 drive_ahead;		/* of it, to the clock of faults */
	struct ftl *ftl;		/* an SSD's map: of both; else NULL */
	struct faults *faults;		/* NULL: there was none yet */
	u64 age_shift;			/* the drive's age when the platters' clock was 0 */
	bool has_age;			/* it was given */
	bool followed;			/* timing_follow() has been called */
	struct drive_sums sums;		/* of commands, until requests complete */
	u32 outstanding;		/* requests in the model */
	u64 busy_since;			/* with any: until then it is counted */
	struct model_source source;	/* in the figures' list, once there is one of them */
	struct solid_figures counted;	/* of the disk's flash, what the figures have */
	struct fault_figures failed;	/* the same, of faults */

	u64 last;			/* the model's time */
	u64 armed;			/* when the timer fires; U64_MAX: not at all */
	u64 next_id;
	u64 next_plug;
	atomic_t plugs;			/* tasks that have one: see struct task_plug */
	struct list_head waiting[2];	/* to be let in, in order of arrival: disk_line() */
	struct timed *due;		/* to be delivered by the timer */
	struct timed **due_tail;
	struct list_head beside;	/* struct beside, all there are */
	unsigned int nr_beside;
	struct submitter submitters[1 << SUBMITTER_BITS][SUBMITTER_WAYS];

	struct hrtimer timer;
	struct delivery __percpu *deliveries;
};

/* What a task has plugged. The task frees it when it unplugs. timing_destroy() waits for that. */
struct task_plug {
	struct blk_plug_cb cb;
	struct disk_plug disk;
	u64 number;
};

/* model-only: the model's own copy of a request, as the bio may be gone before. */
struct beside {
	struct timed timed;
	struct list_head list;
};

/* The clock that the model's platters turn by. */
static inline u64 platter_clock(const struct timing *t)
{
	return ktime_get_ns() + t->profile.phase;
}

/* Requests were under way from busy_since on. The lock is held. */
static inline void timing_busy_until(struct timing *t, u64 now)
{
	t->figures->model.busy_ns += now - t->busy_since;
	t->busy_since = now;
}

/*
 * Two must be done with @timed: the store with its effect, the model with its time. Who comes
 * second, and is told so, delivers it. Needs no lock.
 */
static inline bool timing_is_over(struct timed *timed)
{
	return atomic_inc_return(&timed->over) == 2;
}

/* May who submits @bio sleep? Device-mapper has the others with preemption off. */
static inline bool timing_may_sleep(const struct bio *bio)
{
	return !(bio->bi_opf & (REQ_NOWAIT | REQ_POLLED));
}

/* timing-events.c: figures->model.lock is held, but for the first */
/* What @bio, at @sector of the disk, is to the model. */
void timed_init(struct timed *timed, const struct bio *bio, u64 sector);
/* Process the model's events until now. Returns the time. */
u64 timing_run_model(struct timing *t);
/*
 * timing_run_model(), before a request or a discard goes to the model: an SSD that was idle has
 * something to do first. The lock is let go in between.
 */
u64 timing_catch_up(struct timing *t, bool sleeps, unsigned long *flags);
/* Set the timer to the next event. */
void timing_arm(struct timing *t);
/*
 * Submit the request if the queue has room, and return true. Otherwise, with @waits, add it to
 * those that wait to be admitted.
 */
bool timing_try_enter(struct timing *t, struct timed *timed, bool waits, u64 now);
/* With blk-mq two requests that become one free a tag, which somebody may wait for. */
void timing_admit_after_merge(struct timing *t, u64 now);
void timing_free_beside(struct timing *t, struct timed *timed);
void timing_count_completion(struct model_figures *figures, const struct timed *timed);
/* What commands took since the last call. */
void timing_count_commands(struct model_figures *figures, struct drive_sums *sums);

/* timing-count.c */
/* The disk, or speedup's drive, is there: its counters count from now on. */
void timing_count_from(struct timing *t);
/* The disk goes. */
void timing_count_to(struct timing *t);

/* timing-deliver.c */
/* @timed is delivered now. */
void timing_count_delivery(struct timing *t, const struct timed *timed);
/* What another CPU's timer has left for this one: struct delivery. Hard interrupt. */
void timing_deliver_here(void *data);
enum hrtimer_restart timing_timer(struct hrtimer *timer);

/* timing-faults.c: a model was made. */
void timing_attach_faults(struct timing *t);

/* timing.c: so many bytes more are the model's. */
void timing_count_bytes(struct timing *t, size_t bytes);

/* timing-plug.c */
/* The plug of this task for this disk; NULL: it does not plug. */
struct task_plug *current_plug(struct timing *t);

#endif
