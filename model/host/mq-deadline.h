/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The I/O scheduler mq-deadline, with its merging.
 *
 * Linux 6.12 and 7.3: block/mq-deadline.c, block/elevator.c. Of the three priorities there is one.
 * Expiry goes by the nanosecond instead of by jiffies.
 */
#ifndef DAVID_MODEL_MQ_DEADLINE_H
#define DAVID_MODEL_MQ_DEADLINE_H

#include "mq-request.h"

struct mq_deadline {
	const struct profile *profile;
	struct command_sort sort[2];	/* waiting reads, waiting writes */
	struct command_list fifo[2];	/* the same, by expiry */
	u64 latest[2];			/* sector of the last one dispatched */
	u64 seq;
	u64 hashed;
	struct mq_request *last_merge;	/* looked at first */
	u32 batching;			/* of the current batch so far */
	u32 starved;			/* how often reads went before waiting writes */
	u8 direction;			/* of the batch */
};

/* @most: requests that there may be. Returns 0 or -ENOMEM, with nothing to free. */
int mq_deadline_init(struct mq_deadline *dd, const struct profile *profile, u32 most, gfp_t gfp);
/* Takes a zeroed one, too. */
void mq_deadline_exit(struct mq_deadline *dd);

static inline bool mq_deadline_has_work(const struct mq_deadline *dd)
{
	return dd->sort[0].nr || dd->sort[1].nr;
}

/* Would mq_deadline_merge() merge them? */
bool mq_deadline_may_merge(const struct mq_deadline *dd, const struct disk_request *request,
			   u32 sectors);

/*
 * Merge the next @sectors of @request with a waiting request; false: none takes them. What has
 * merged with another one because of it is appended to @unused.
 */
bool mq_deadline_merge(struct mq_deadline *dd, struct disk_request *request, u32 sectors,
		       struct command_list *unused);

/* @rq waits from @now on. Requests that it made one with others are appended to @unused. */
void mq_deadline_insert(struct mq_deadline *dd, struct mq_request *rq, u64 now,
			struct command_list *unused);

/* Remove and return the next request; NULL: none waits. */
struct mq_request *mq_deadline_next(struct mq_deadline *dd, u64 now);

#endif
