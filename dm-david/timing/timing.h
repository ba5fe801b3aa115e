/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Time: the modelled disk (model/disk.h) in a running kernel.
 *
 * A target whose table line has a profile has one of these. By mode:
 *
 *   timing-accurate	Each request enters the replica queue whole, when it arrives.
 *			It is delivered when both have come: the end of its effect on
 *			the store, and the modelled completion. With the queue full,
 *			its submitter sleeps until the model lets it in.
 *   speedup		Requests do not wait. The modelled drive serves them one after
 *			another without a pause, on a clock of its own; the time
 *			that it took is told as busy.
 *   model-only		Requests go to the backing device as they are. The model runs
 *			beside it at real arrival times, and both response times are told.
 *
 * There is no polling: one hrtimer stands at the model's next event. What it
 * finds due it delivers outside of the lock, in the order of modelled
 * completion, first in first out for equal times; only the timer's callback
 * delivers what has been waiting for the model, so nothing overtakes. A request that the store
 * finished too late is delivered by whoever finished it. How much later than
 * modelled each one was delivered is counted.
 *
 * The model is guarded by store->model.lock, taken with interrupts off and
 * innermost. Its clock is CLOCK_MONOTONIC, read under the lock.
 */
#ifndef DM_DAVID_TIMING_H
#define DM_DAVID_TIMING_H

#include <linux/bio.h>
#include <linux/completion.h>
#include <linux/list.h>
#include "../../model/disk.h"
#include "../uapi/dm-david.h"

struct dm_target;
struct store;
struct timing;

/* A request as the model sees it. Not zeroed before timing_arrive(). */
struct timed {
	struct disk_request request;
	struct bio *bio;		/* NULL: nobody waits for the model */
	struct timed *next_due;
	struct list_head list;		/* of those that wait to be let in */
	struct disk_submitter *who;	/* valid while it waits */
	struct completion *let_in;	/* its submitter sleeps on it */
	u64 arrived_ns;			/* at the target: arrival, if it need not wait */
	u64 id;				/* counts requests in the order of arrival */
	u8 state;			/* under the lock */
};

/*
 * Make the model that @word, a profile in one word, describes, for a disk of the
 * target's size. On error returns ERR_PTR and sets *@error to a text for the user.
 * timing_set_mode() must follow. Sleeps.
 */
struct timing *timing_create(struct dm_target *ti, struct store *store, const char *word,
			     char **error);
/* No request may be held, in whatever mode. Takes NULL. Sleeps. */
void timing_destroy(struct timing *timing);

/*
 * Make ready for @mode. From then on requests may come by that mode's function,
 * also beside others that still come by another's. Sleeps; callers take turns.
 */
int timing_set_mode(struct timing *timing, enum david_mode mode);

/* The profile, scaled to the disk. */
const struct profile *timing_profile(const struct timing *timing);

/* The profile in one word, not scaled: what timing_create() takes. */
const char *timing_word(const struct timing *timing);

/* Does a completed write survive a power cut without a flush? */
bool timing_writes_through(const struct timing *timing);

/*
 * timing-accurate: let @bio, a read, a write or an empty flush, into the queue.
 * Sleeps while the queue is full; with REQ_NOWAIT returns false instead.
 */
bool timing_arrive(struct timing *timing, struct timed *timed, struct bio *bio);

/*
 * The store is done with the request. True if it is to be delivered now. Otherwise
 * the timer will call the bio's bi_end_io a second time. Any context.
 */
bool timing_stored(struct timing *timing, struct timed *timed);

/* speedup: charge the modelled time of @bio. Any context. */
void timing_charge(struct timing *timing, const struct bio *bio);

/* model-only: @bio arrives now, which is returned. Any context. */
u64 timing_shadow_submit(struct timing *timing, const struct bio *bio);
/*
 * model-only: the backing device has completed a request that arrived at @came.
 * Any context.
 */
void timing_measured(struct timing *timing, enum david_request kind, u64 arrived_ns);

#endif
