/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time: the modelled disk (model/host/disk.h) in a running kernel.
 *
 * A target whose table line has a profile has one of these. By mode:
 *
 *   timing-accurate	Each request enters the modelled queue whole, when it arrives.
 *			It is delivered when its effect on the store is done and its
 *			modelled completion has come. If the queue is full, the
 *			submitter sleeps until the model admits the request.
 *   speedup		Requests do not wait. The modelled drive serves them one after
 *			another without a pause, on a clock of its own. The statistics
 *			report that time as busy.
 *   model-only		Requests go to the backing device as they are. The model runs
 *			beside it at real arrival times. Both response times are reported.
 *
 * An SSD has one map for all modes: what is written in one is there in the others. A new model
 * learns from the range table what has been written before; how that lies, the profile says.
 *
 * One hrtimer is set for the model's next event; nothing polls. Its callback delivers what is due,
 * without the lock, in the order of modelled completion. Of two that complete at the same time,
 * the one that arrived first is delivered first. A request is delivered on the CPU that submitted
 * it, as a drive with a queue for each CPU would do: if that is another one than the timer's, by an
 * interrupt there. A request that the store has finished before its time waits for that callback,
 * and for nobody else. So none of these of one CPU overtakes another. A request that the store
 * finishes after its time does not wait: whoever finished it delivers it. The statistics count how
 * much later than modelled each request was delivered.
 *
 * Locking: figures->model.lock guards the model. It is taken with interrupts off, and innermost.
 * The model's clock is CLOCK_MONOTONIC, read under the lock.
 */
#ifndef DM_DAVID_TIMING_H
#define DM_DAVID_TIMING_H

#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/llist.h>
#include "../../model/host/disk.h"
#include "../uapi/dm-david.h"

struct dm_target;
struct store;
struct timing;

/* A request as the model sees it. Not zeroed before timing_accurate_submit(). */
struct timed {
	struct disk_request request;
	struct bio *bio;		/* NULL: a copy, of model-only */
	struct timed *next_due;
	union {
		struct list_head list;		/* of requests that wait to be admitted */
		struct llist_node elsewhere;	/* of those to be delivered on another CPU */
	};
	struct disk_submitter *submitter;	/* valid while the request waits */
	struct completion *admitted;	/* the submitter sleeps on it */
	u64 arrived_ns;			/* time of arrival at the target, ns */
	u64 id;				/* counts requests in the order of admission */
	u64 plug;			/* number of the task's plug; 0: none */
	atomic_t over;			/* of store and model, how many are done with it */
};

/*
 * Make the model that @word, a profile in one word, describes, for a disk of the
 * target's size. On error returns ERR_PTR and sets *@error to a text for the user.
 * timing_set_mode() must follow. Sleeps.
 */
struct timing *timing_create(struct dm_target *ti, struct store *store, const char *word,
			     char **error);
/* All requests have been completed, in every mode. Takes NULL. Sleeps. */
void timing_destroy(struct timing *timing);

/*
 * Make ready for @mode. From then on requests may come by that mode's function. Requests of the old
 * and the new mode may overlap. Sleeps. Callers hold mode_lock, or the disk is suspended.
 */
int timing_set_mode(struct timing *timing, enum david_mode mode);

/*
 * What the disk has at this moment has been written to the drive: an SSD's map is told of it, once
 * after timing_create(). There is no request, and the range table stays as it is. Sleeps.
 */
void timing_follow(struct timing *timing);

/* The disk has nothing any more, and there is no request. An SSD's map neither. Sleeps. */
void timing_forget(struct timing *timing);

/* For recordings: requests that come from now on are served in @mode. */
void timing_tell_mode(struct timing *timing, enum david_mode mode);

/* The disk's live table is this one, and its size that of which places are told. Any context. */
void timing_fit_reach(struct timing *timing);

/* From now on the statistics say what requests reach of the disk. Any context. */
void timing_restart_reach(struct timing *timing);

/*
 * Faults of the drive, as text: model/fault/fault.h. What fails is not given to the store, and the
 * classifier does not hear of it. Callers of those that change something hold mode_lock, or are the
 * constructor. Sleep, but for the last five.
 */
int timing_add_faults(struct timing *timing, const char *text, struct fault_error *error);
/* @which: a number, from 0 on, in the order in which they are printed; or "all". */
int timing_remove_faults(struct timing *timing, const char *which, struct fault_error *error);
/* The drive's age is @age now, ns. Before the first fault. */
void timing_set_age(struct timing *timing, u64 age);
/* Returns the length, below @size. */
unsigned int timing_print_faults(struct timing *timing, char *buf, unsigned int size);
u64 timing_age(const struct timing *timing);
/* The age when the model's clock is 0, modulo 2^64: for david-sim. */
u64 timing_age_shift(const struct timing *timing);
/* Was there ever a fault? Or an age given? */
bool timing_has_faults(const struct timing *timing);
bool timing_has_age(const struct timing *timing);
/* What a request fails with. */
blk_status_t timing_fault_status(u8 fault);
/*
 * With timing_has_faults(): @bio, a discard or write-zeroes that takes no modelled time, comes in
 * @mode, which is not model-only. Returns the fault that it meets, or 0. Of a large write-zeroes
 * that meets one, what was bad before that block may have been moved. Sleeps without REQ_NOWAIT.
 */
u8 timing_meet_untimed(struct timing *timing, const struct bio *bio, enum david_mode mode);

/* The profile, scaled to the disk. */
const struct profile *timing_profile(const struct timing *timing);

/* The profile in one word, not scaled: what timing_create() takes. */
const char *timing_word(const struct timing *timing);

/* Does a completed write survive a power cut without a flush? */
bool timing_writes_through(const struct timing *timing);

/*
 * timing-accurate: put @bio, a read, a write, an empty flush, or a command to a zone, into the
 * queue. @zone_flags: DISK_APPEND, DISK_OPENS. Sleeps while the queue is full; with REQ_NOWAIT
 * returns false instead. If then @timed->request.fault is not 0, the request fails with it, when
 * its time has come.
 */
bool timing_accurate_submit(struct timing *timing, struct timed *timed, struct bio *bio,
			    u8 zone_flags);

/*
 * timing-accurate: the store is done with the request. True if it is to be delivered now.
 * Otherwise return DM_ENDIO_INCOMPLETE: the timer calls bi_end_io again. Any context.
 */
bool timing_accurate_stored(struct timing *timing, struct timed *timed);

/*
 * speedup: charge the modelled time of @bio, as above. Returns the fault that it meets, or 0. Any
 * context.
 */
u8 timing_speedup_submit(struct timing *timing, const struct bio *bio, u8 zone_flags);

/*
 * @bio is a discard, in @mode. To an SSD its sectors are room for collection; to others nothing.
 * Takes no modelled time. Sleeps without REQ_NOWAIT.
 */
void timing_discard(struct timing *timing, const struct bio *bio, enum david_mode mode);

/*
 * @bio is a write-zeroes that the drive has a command for, in @mode. To an SSD its sectors have
 * been written. Takes no modelled time. Sleeps without REQ_NOWAIT.
 */
void timing_zeroes(struct timing *timing, const struct bio *bio, enum david_mode mode);

/* model-only: @bio arrives. Returns the time of arrival, ns. Any context. */
u64 timing_model_only_submit(struct timing *timing, const struct bio *bio);
/*
 * model-only: the backing device has completed a request that arrived at @arrived_ns.
 * Any context.
 */
void timing_model_only_done(struct timing *timing, enum david_request kind, u64 arrived_ns);

#endif
