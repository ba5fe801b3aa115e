// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "mq-deadline.h"
#include "../planted.h"

#define READ_EXPIRE	(500ULL * 1000 * 1000)
#define WRITE_EXPIRE	(5ULL * 1000 * 1000 * 1000)
#define BATCH		16
#define WRITES_STARVED	2

int mq_deadline_init(struct mq_deadline *dd, const struct profile *profile, u32 most, gfp_t gfp)
{
	memset(dd, 0, sizeof(*dd));
	dd->profile = profile;
	dd->direction = DISK_WRITE;
	dd->sort[0].at = kvcalloc(most, sizeof(*dd->sort[0].at), gfp);
	dd->sort[1].at = kvcalloc(most, sizeof(*dd->sort[1].at), gfp);
	if (dd->sort[0].at && dd->sort[1].at)
		return 0;
	mq_deadline_exit(dd);
	return -ENOMEM;
}

void mq_deadline_exit(struct mq_deadline *dd)
{
	kvfree(dd->sort[0].at);
	kvfree(dd->sort[1].at);
	memset(dd, 0, sizeof(*dd));
}

static struct command_sort *sort_of(struct mq_deadline *dd, const struct mq_request *rq)
{
	return &dd->sort[direction_of(rq->command.op)];
}

static struct command_list *fifo_of(struct mq_deadline *dd, const struct mq_request *rq)
{
	return &dd->fifo[direction_of(rq->command.op)];
}

/* Of equal sectors those that came later lie behind. */
static void sort_add(struct mq_deadline *dd, struct mq_request *rq)
{
	rq->command.seq = dd->seq++;
	command_sort_insert(sort_of(dd, rq), &rq->command);
}

static void dd_merged(struct mq_deadline *dd, struct mq_request *rq)
{
	rq->hashed = ++dd->hashed;
	dd->last_merge = rq;
}

static void dd_remove(struct mq_deadline *dd, struct mq_request *rq)
{
	if (rq->sorted) {
		command_sort_remove(sort_of(dd, rq), &rq->command);
		command_list_remove(fifo_of(dd, rq), &rq->command);
		rq->sorted = false;
	}
	if (dd->last_merge == rq)
		dd->last_merge = NULL;
}

/* The youngest in the hash of those that end at @sector: no others are found by their end. */
static struct mq_request *dd_youngest_ending(const struct mq_deadline *dd, unsigned int direction,
					     u64 sector, struct mq_request *best)
{
	const struct command_sort *sort = &dd->sort[direction];
	u32 i = command_sort_find(sort, sector, 0);

	while (i--) {
		struct mq_request *rq = mq_request_of(sort->at[i]);

		if (rq->command.sector + dd->profile->max_sectors < sector)
			break;
		if (mq_request_end(rq) == sector && mq_mergeable(rq) &&
		    (!best || rq->hashed > best->hashed))
			best = rq;
	}
	return best;
}

/* Linux looks among reads and writes together. */
static struct mq_request *find_end(const struct mq_deadline *dd, u64 sector)
{
	return dd_youngest_ending(dd, 1, sector, dd_youngest_ending(dd, 0, sector, NULL));
}

static struct mq_request *find_begin(const struct mq_deadline *dd, enum disk_op op, u64 sector)
{
	const struct command_sort *sort = &dd->sort[direction_of(op)];
	u32 i = command_sort_find(sort, sector, 0);

	return i < sort->nr && sort->at[i]->sector == sector ? mq_request_of(sort->at[i]) : NULL;
}

/* elv_merge() of Linux: with whom, and how. */
static enum mq_merge find_merge(const struct mq_deadline *dd, const struct disk_request *request,
				u32 sectors, struct mq_request **rq)
{
	u64 sector = command_next_sector(request);
	enum mq_merge kind;

	*rq = dd->last_merge;
	kind = *rq ? mq_merge_kind(*rq, request, sectors) : MQ_MERGE_NONE;
	if (kind != MQ_MERGE_NONE)
		return kind;
	*rq = find_end(dd, sector);
	if (*rq && mq_merge_kind(*rq, request, sectors) != MQ_MERGE_NONE)
		return MQ_MERGE_BACK;
	*rq = MODEL_PLANTED(front) ? NULL : find_begin(dd, request->op, sector + sectors);
	return *rq ? mq_merge_kind(*rq, request, sectors) : MQ_MERGE_NONE;
}

/* What is there only as @next would have expired is now in @rq. */
static bool merge_next(struct mq_deadline *dd, struct mq_request *rq, struct mq_request *next,
		       struct command_list *unused)
{
	if (!mq_merge_next(dd->profile, rq, next))
		return false;
	if (rq->sorted && next->sorted && next->expires < rq->expires) {
		command_list_remove(fifo_of(dd, rq), &rq->command);
		command_list_insert(fifo_of(dd, rq), &rq->command, &next->command);
		rq->expires = next->expires;
	}
	dd_remove(dd, next);
	dd_merged(dd, rq);
	command_list_append(unused, &next->command);
	return true;
}

/* @rq has grown to its end: what begins there may be merged with it. */
static bool merge_with_next(struct mq_deadline *dd, struct mq_request *rq,
			    struct command_list *unused)
{
	struct command_sort *sort = sort_of(dd, rq);
	u32 i = command_sort_find(sort, rq->command.sector, rq->command.seq) + 1;

	return i < sort->nr && merge_next(dd, rq, mq_request_of(sort->at[i]), unused);
}

/* @rq has grown to its front. */
static bool merge_with_previous(struct mq_deadline *dd, struct mq_request *rq,
				struct command_list *unused)
{
	struct command_sort *sort = sort_of(dd, rq);
	u32 i = command_sort_find(sort, rq->command.sector, rq->command.seq);

	return i && merge_next(dd, mq_request_of(sort->at[i - 1]), rq, unused);
}

bool mq_deadline_may_merge(const struct mq_deadline *dd, const struct disk_request *request,
			   u32 sectors)
{
	struct mq_request *rq;

	return find_merge(dd, request, sectors, &rq) != MQ_MERGE_NONE &&
	       mq_merge_fits(dd->profile, rq, sectors);
}

bool mq_deadline_merge(struct mq_deadline *dd, struct disk_request *request, u32 sectors,
		       struct command_list *unused)
{
	struct mq_request *rq;
	enum mq_merge kind = find_merge(dd, request, sectors, &rq);

	if (kind == MQ_MERGE_NONE)
		return false;
	if (!mq_merge_fits(dd->profile, rq, sectors)) {
		rq->no_merge = true;
		if (dd->last_merge == rq)
			dd->last_merge = NULL;
		return false;
	}
	if (kind == MQ_MERGE_BACK) {
		mq_merge(rq, request, sectors, kind);
		if (!merge_with_next(dd, rq, unused))
			dd_merged(dd, rq);
		return true;
	}
	command_sort_remove(sort_of(dd, rq), &rq->command);
	mq_merge(rq, request, sectors, kind);
	sort_add(dd, rq);
	if (!merge_with_previous(dd, rq, unused))
		dd->last_merge = rq;
	return true;
}

static bool insert_merge(struct mq_deadline *dd, struct mq_request *rq,
			 struct command_list *unused)
{
	struct mq_request *before;
	bool any = false;

	if (!mq_mergeable(rq))
		return false;
	if (dd->last_merge && merge_next(dd, dd->last_merge, rq, unused))
		return true;
	while ((before = find_end(dd, rq->command.sector)) && before != rq &&
	       merge_next(dd, before, rq, unused)) {
		any = true;
		rq = before;
	}
	return any;
}

void mq_deadline_insert(struct mq_deadline *dd, struct mq_request *rq, u64 now,
			struct command_list *unused)
{
	if (insert_merge(dd, rq, unused))
		return;
	sort_add(dd, rq);
	if (mq_mergeable(rq)) {
		rq->hashed = ++dd->hashed;
		if (!dd->last_merge)
			dd->last_merge = rq;
	}
	rq->expires = now + (rq->command.op == DISK_READ ? READ_EXPIRE : WRITE_EXPIRE);
	command_list_append(fifo_of(dd, rq), &rq->command);
	rq->sorted = true;
}

/* The first from the start of the last one dispatched on. */
static struct mq_request *next_upwards(const struct mq_deadline *dd, unsigned int direction)
{
	const struct command_sort *sort = &dd->sort[direction];
	u32 i = command_sort_find(sort, dd->latest[direction], 0);

	return i < sort->nr ? mq_request_of(sort->at[i]) : NULL;
}

/* Reads go first, but no more than twice while writes wait. */
static unsigned int choose_direction(struct mq_deadline *dd)
{
	if (dd->fifo[DISK_READ].first &&
	    !(dd->fifo[DISK_WRITE].first && dd->starved++ >= WRITES_STARVED &&
	      !MODEL_PLANTED(starved)))
		return DISK_READ;
	dd->starved = 0;
	return DISK_WRITE;
}

static struct mq_request *begin_batch(struct mq_deadline *dd, u64 now)
{
	unsigned int direction = choose_direction(dd);
	struct mq_request *oldest = mq_request_of(dd->fifo[direction].first);
	struct mq_request *next = next_upwards(dd, direction);

	dd->direction = direction;
	dd->batching = 0;
	return next && now < oldest->expires ? next : oldest;
}

struct mq_request *mq_deadline_next(struct mq_deadline *dd, u64 now)
{
	struct mq_request *rq;

	if (!mq_deadline_has_work(dd))
		return NULL;
	rq = next_upwards(dd, dd->direction);
	if (!rq || dd->batching >= BATCH)
		rq = begin_batch(dd, now);
	if (!MODEL_PLANTED(batch))
		dd->batching++;
	dd_remove(dd, rq);
	dd->latest[dd->direction] = rq->command.sector;
	return rq;
}
