// SPDX-License-Identifier: GPL-2.0
/*
 * Writing the log and its checkpoints: see wal.h.
 *
 * One worker does this in rounds, one write at a time. A round takes the entries in memory and the
 * waiting flushes, under store->lock. If a checkpoint is being written, it adds pages of that. Then
 * it writes the pages and completes the flushes.
 *
 * A checkpoint is a walk over the table while the table changes. What the walk finds is written in
 * order with the log's entries. A change behind the walk has its entry later in the log, so replay
 * applies it after what the walk found. A change in front of the walk is found by the walk. Its
 * entry is applied again, which changes nothing, as an entry states the new content. The walk may
 * find a change before its entry is written, which the next round does. If power fails in between,
 * the table is newer there than the last flush. That is allowed, and the block is durable, as each
 * round begins with a flush.
 *
 * Errors. wal-io.c tries a failed write once more, and a failed flush not. After a failed flush or
 * a second failed write nothing can be made durable any more. So the store fails permanently. Reads
 * go on.
 */
#include "wal-internal.h"

#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/sched.h>

#include "../base/inject.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

u64 wal_table_ranges(const struct store *store)
{
	const struct rangetable *rt = &store->table;

	return rt->ranges[RT_FILL] + rt->ranges[RT_SQUASHED] + rt->ranges[RT_STORED] +
	       rt->ranges[RT_PACKED];
}

/* Write @n pages of the log, sealed, at its head: one bio, or two where the ring ends. */
static int wal_write_pages(struct wal *wal, struct format_log_page **page, unsigned int n)
{
	const blk_opf_t fua = wal_fua_opf(wal->bdev);
	unsigned int done, some;
	int r = INJECTED(ahead) ? 0 : wal_flush_backing(wal);

	for (done = 0; done < n && !r; done += some) {
		u64 at = format_place(&wal->super, wal->head + done);

		some = min_t(u64, n - done, FORMAT_SUPERS + wal->super.log_pages - at);
		r = wal_write_twice(wal, DAVID_FAULT_LOG, fua, at, (void **)page + done, some);
	}
	if (!r && !fua)
		r = wal_flush_backing(wal);
	if (!r)
		wal->head += n;
	return r;
}

/* Failing */

/* The store fails permanently. Reports the reason once. */
void wal_fail(struct wal *wal, int error)
{
	static const char * const why[] = {
		[DAVID_FAULT_FLUSH] = "it cannot flush, and may have forgotten what it had",
		[DAVID_FAULT_LOG] = "the store's log cannot be written",
		[DAVID_FAULT_SUPER] = "the store's superblock cannot be written",
		[DAVID_FAULT_ROOM] = "the store's log has no room, which cannot be",
	};
	struct store *store = wal->store;
	unsigned long flags;

	DMERR("%pg: %s: error %d; the disk is read-only from now on", wal->bdev, why[wal->fault],
	      error);
	spin_lock_irqsave(&store->lock, flags);
	WRITE_ONCE(store->fault, wal->fault);
	WRITE_ONCE(store->failed, true);
	WRITE_ONCE(store->no_updates, true);
	store->credits = S64_MIN / 2;
	spin_unlock_irqrestore(&store->lock, flags);
	wake_up_all(&wal->wait);
	queue_work(wal->event_wq, wal->event);
}

/* The order of operations */

/* How many entries there is room for in memory. */
static s64 free_slots(const struct wal *wal)
{
	return (s64)wal->nr_free * FORMAT_OPS + (wal->cur ? FORMAT_OPS - wal->ops : 0);
}

/* Each update makes two ranges at most. */
static s64 room_to_grow(const struct wal *wal, u64 limit)
{
	u64 ranges = wal_table_ranges(wal->store);

	return limit > ranges ? (limit - ranges) / 2 : 0;
}

static void set_credits(struct wal *wal)
{
	u64 soft = wal->room.ranges - wal->room.ranges / 16;
	struct store *store = wal->store;
	s64 memory = store_growth(store, store->table_limit);

	if (!store->no_updates)
		store->credits = min3(free_slots(wal), room_to_grow(wal, soft), memory);
	/* An eighth of the table is free. */
	if (room_to_grow(wal, soft) > (s64)(wal->room.ranges / 16) &&
	    store_growth(store, store->table_limit - store->table_limit / 8))
		store->table_warned = false;
}

void wal_queue_round(struct wal *wal)
{
	queue_work(wal->wq, &wal->work);
}

static bool continues_last(const struct rt_range *last, const struct rt_range *r)
{
	return r->kind == last->kind && r->start == last->start + last->len &&
	       r->value == last->value + (r->kind == RT_STORED ? last->len : 0);
}

void wal_append(struct store *store, const struct rt_range *r, u64 len)
{
	struct wal *wal = store->wal;
	struct rt_range op __uninit;

	lockdep_assert_held(&store->lock);
	if (wal->ops && continues_last(&wal->last, r)) {
		wal->last.len += len;
		format_put(&wal->cur->op[wal->ops - 1], &wal->last);
		return;
	}
	if (!wal->cur || wal->ops == FORMAT_OPS) {
		if (wal->cur) {
			wal->full[wal->nr_full++] = wal->cur;
			if (wal->nr_full >= wal->room.ring / 2)
				wal_queue_round(wal);
		}
		wal->cur = wal->free[--wal->nr_free];
		wal->ops = 0;
	}
	op = *r;
	op.len = len;
	wal->last = op;
	format_put(&wal->cur->op[wal->ops++], &op);
	store->credits--;
}

void wal_freed(struct store *store, u64 dest, u64 len)
{
	struct wal *wal = store->wal;

	lockdep_assert_held(&store->lock);
	wal->nr_pending += free_blocks(&wal->maps.pending, dest, len);
}

static bool wait_commit(struct wal *wal, gfp_t gfp, unsigned long *flags)
	__must_hold(&wal->store->lock)
{
	u64 round = wal->commits + wal->busy;

	wal->want = true;
	wal_queue_round(wal);
	if (!gfpflags_allow_blocking(gfp))
		return false;
	spin_unlock_irqrestore(&wal->store->lock, *flags);
	wait_event(wal->wait, READ_ONCE(wal->commits) > round || READ_ONCE(wal->store->failed));
	spin_lock_irqsave(&wal->store->lock, *flags);
	return true;
}

/* Wait until there may be room. Requests under way may have all of it: no round gives any then. */
static bool wait_room(struct wal *wal, gfp_t gfp, unsigned long *flags)
	__must_hold(&wal->store->lock)
{
	if (wal->busy || wal->ops || wal->nr_full || !gfpflags_allow_blocking(gfp))
		return wait_commit(wal, gfp, flags);
	spin_unlock_irqrestore(&wal->store->lock, *flags);
	schedule_timeout_uninterruptible(1);
	spin_lock_irqsave(&wal->store->lock, *flags);
	return true;
}

enum store_room wal_reserve(struct store *store, enum rt_kind kind, gfp_t gfp,
			    unsigned long *flags)
{
	s64 reserved = store->table.reserved;
	struct wal *wal = store->wal;
	u64 limit = store->table_limit;

	lockdep_assert_held(&store->lock);
	set_credits(wal);
	if (reserved <= store->credits)
		return STORE_ROOM;
	if (reserved > free_slots(wal)) {
		/* Who waits has none: many who wait must not keep each other waiting. */
		rt_unreserve(&store->table);
		return wait_room(wal, gfp, flags) ? STORE_AGAIN : STORE_NO_ROOM;
	}
	/* The table is full. A discard may go on, as it makes room in the end. */
	if (kind == RT_HOLE && reserved <= room_to_grow(wal, wal->room.ranges) &&
	    reserved <= store_growth(store, limit + limit / 16))
		return STORE_ROOM;
	rt_unreserve(&store->table);
	return STORE_NO_ROOM;
}

bool wal_wait_free(struct store *store, gfp_t gfp)
{
	struct wal *wal = store->wal;
	unsigned long flags;
	bool some;

	spin_lock_irqsave(&store->lock, flags);
	some = wal->nr_pending && !store->no_updates;
	if (some)
		wait_commit(wal, gfp, &flags);
	spin_unlock_irqrestore(&store->lock, flags);
	return some;
}

bool wal_sync(struct store *store, struct wal_waiter *wait)
{
	struct wal *wal = store->wal;
	unsigned long flags;
	bool queued;

	if (INJECTED(flush))
		return false;
	spin_lock_irqsave(&store->lock, flags);
	if (INJECTED(late)) {
		wait_commit(wal, GFP_NOWAIT, &flags);
		spin_unlock_irqrestore(&store->lock, flags);
		return false;
	}
	queued = wal->busy || wal->ops || wal->nr_full || store->failed;
	if (queued) {
		list_add_tail(&wait->list, &wal->waiters);
		wal_queue_round(wal);
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return queued;
}

struct until_durable {
	struct wal_waiter wait;
	struct completion done;
	blk_status_t status;
};

static void is_durable(struct wal_waiter *wait, blk_status_t status)
{
	struct until_durable *until = container_of(wait, struct until_durable, wait);

	until->status = status;
	complete(&until->done);
}

blk_status_t wal_make_durable(struct store *store, struct block_device *bdev)
{
	struct until_durable until = { .wait.flush = true, .wait.done = is_durable };

	INIT_LIST_HEAD(&until.wait.list);
	init_completion(&until.done);
	if (!wal_sync(store, &until.wait))
		return errno_to_blk_status(blkdev_issue_flush(bdev));
	wait_for_completion(&until.done);
	return until.status;
}

bool wal_allow_packs(struct store *store)
{
	struct wal *wal = store->wal;
	unsigned long flags;
	bool able;

	spin_lock_irqsave(&store->lock, flags);
	wal->want_packs = true;
	while (!wal->may_pack && !store->no_updates)
		wait_commit(wal, GFP_NOIO, &flags);
	able = wal->may_pack && !store->no_updates;
	spin_unlock_irqrestore(&store->lock, flags);
	return able;
}

u64 wal_pending_blocks(const struct store *store)
{
	lockdep_assert_held(&store->lock);
	return store->wal ? store->wal->nr_pending : 0;
}

u64 wal_blocks(const struct store *store)
{
	return store->wal ? format_data(&store->wal->super) : 0;
}

/* Rounds */

/* Is it time for a checkpoint? */
static bool checkpoint_due(const struct wal *wal)
{
	u64 live = wal->head - wal->super.log_start, ranges = wal_table_ranges(wal->store);
	u64 table = div_u64(ranges, FORMAT_OPS) + 1;

	/* After a crash, opening the store reads all pages that are live. */
	return live > table + table / 2 + 64 ||
	       wal->super.log_pages - live < format_need(&wal->room, ranges) + BATCH_MAX;
}

/* Fill @page with what comes next in the table. Returns the number of entries. */
static unsigned int checkpoint_fill_page(struct wal *wal, struct format_log_page *page)
{
	struct store *store = wal->store;
	unsigned int ops = 0;
	unsigned long flags;
	struct rt_range r;

	spin_lock_irqsave(&store->lock, flags);
	while (wal->in_checkpoint && ops < FORMAT_OPS) {
		rt_lookup(&store->table, wal->cursor, &r);
		if (r.kind != RT_HOLE)
			format_put(&page->op[ops++], &r);
		wal->cursor = r.start + r.len;
		wal->in_checkpoint = wal->cursor != U64_MAX;
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return ops;
}

/* Blocks that were freed before the round are reusable now. */
static void release_sealed(struct wal *wal)
{
	struct store *store = wal->store;
	unsigned long flags;
	u64 dest, len;

	do {
		spin_lock_irqsave(&store->lock, flags);
		dest = bm_alloc(&wal->maps.sealed, BM_NONE, 1024, &len);
		if (dest != BM_NONE) {
			store_give_up(store, dest, len);
			wal->nr_pending -= len;
		}
		spin_unlock_irqrestore(&store->lock, flags);
	} while (dest != BM_NONE);
}

/* Take the pages and waiters of a round. store->lock is held. Returns the entries in scratch. */
static unsigned int seal_pages(struct wal *wal, struct list_head *waiters)
{
	unsigned int i, ops = wal->ops;

	lockdep_assert_held(&wal->store->lock);
	for (i = 0; i < wal->nr_full; i++)
		wal->taken[i] = wal->full[i];
	wal->nr_taken = wal->nr_full;
	wal->nr_full = 0;
	/* Write a copy: reservations for the rest of the page stay valid. */
	if (ops)
		memcpy(wal->scratch->op, wal->cur->op, ops * sizeof(wal->scratch->op[0]));
	wal->ops = 0;
	list_splice_init(&wal->waiters, waiters);
	/* The sealed bitmap is empty: release_sealed() has run. */
	swap(wal->maps.pending, wal->maps.sealed);
	wal->want = false;
	set_credits(wal);
	return ops;
}

void wal_begin_checkpoint(struct wal *wal)
{
	wal->in_checkpoint = true;
	wal->checkpoint_start = wal->head;
	wal->cursor = 0;
	wal->checkpoint_owed = 0;
}

/* Write the pages of one round. */
static int wal_write_round(struct wal *wal, unsigned int ops, bool *checkpoint_done)
{
	struct format_log_page *batch[BATCH_MAX];
	unsigned int count[BATCH_MAX];
	unsigned int n, i, most;

	for (n = 0; n < wal->nr_taken; n++) {
		batch[n] = wal->taken[n];
		count[n] = FORMAT_OPS;
	}
	if (ops) {
		batch[n] = wal->scratch;
		count[n++] = ops;
	}
	if (!wal->in_checkpoint && checkpoint_due(wal))
		wal_begin_checkpoint(wal);
	*checkpoint_done = false;
	if (wal->in_checkpoint) {
		wal->checkpoint_owed += (s64)n * FORMAT_WALK_RATIO;
		most = format_walk(&wal->room, wal->checkpoint_owed, n);
		for (i = 0; i < most && wal->in_checkpoint; i++) {
			count[n] = checkpoint_fill_page(wal, wal->checkpoint_pages[i]);
			if (count[n])
				batch[n++] = wal->checkpoint_pages[i];
		}
		wal->checkpoint_owed -= i;
		*checkpoint_done = !wal->in_checkpoint;
	}
	if (n > wal->super.log_pages - (wal->head - wal->super.log_start)) {
		wal->fault = DAVID_FAULT_ROOM;	/* cannot be: see format_room() */
		return -ENOSPC;
	}
	for (i = 0; i < n; i++)
		format_seal(batch[i], &wal->super, wal->head + i, i, count[i]);
	return n ? wal_write_pages(wal, batch, n) : 0;
}

/* The log begins where the walk began. */
static int checkpoint_end(struct wal *wal)
{
	struct format_super super = wal->super;

	super.generation++;
	super.log_start = wal->checkpoint_start;
	super.log_end = wal->head;
	return super_write(wal, &super);
}

static void end_waiters(struct list_head *waiters, int error)
{
	struct wal_waiter *wait, *next;

	list_for_each_entry_safe(wait, next, waiters, list) {
		list_del_init(&wait->list);
		wait->done(wait, errno_to_blk_status(error));
	}
}

/* Returns false if there was nothing to do. */
static bool wal_round(struct wal *wal)
{
	struct store *store = wal->store;
	struct wal_waiter *wait;
	bool checkpoint_done = false, wants_flush = false, raise, sealed;
	unsigned int ops = 0;
	unsigned long flags;
	LIST_HEAD(waiters);
	int r = 0;

	if (INJECTED(late))
		msleep(200);
	spin_lock_irqsave(&store->lock, flags);
	if (list_empty(&wal->waiters) && !wal->want && wal->nr_full < wal->room.ring / 2 &&
	    !wal->in_checkpoint) {
		spin_unlock_irqrestore(&store->lock, flags);
		return false;
	}
	wal->busy = true;
	raise = wal->want_packs && wal->super.version < FORMAT_VERSION_PACKS;
	/* During a checkpoint, entries must not get ahead of the walk. */
	sealed = !wal->in_checkpoint || wal->checkpoint_owed <= 0;
	if (sealed)
		ops = seal_pages(wal, &waiters);
	spin_unlock_irqrestore(&store->lock, flags);

	list_for_each_entry(wait, &waiters, list)
		wants_flush |= wait->flush;
	if (store->failed)
		r = -EIO;
	else if (raise)
		r = super_raise_version(wal);
	if (!r && (ops || wal->nr_taken || wal->in_checkpoint))
		r = wal_write_round(wal, ops, &checkpoint_done);
	else if (!r && wants_flush)
		r = wal_flush_backing(wal);
	if (!r && checkpoint_done)
		r = checkpoint_end(wal);
	if (r) {
		wal->in_checkpoint = false;
		if (!store->failed)
			wal_fail(wal, r);
	} else if (sealed) {
		release_sealed(wal);
	}

	spin_lock_irqsave(&store->lock, flags);
	while (wal->nr_taken)
		wal->free[wal->nr_free++] = wal->taken[--wal->nr_taken];
	wal->busy = false;
	wal->may_pack = wal->super.version >= FORMAT_VERSION_PACKS;
	wal->commits++;
	set_credits(wal);
	spin_unlock_irqrestore(&store->lock, flags);
	wake_up_all(&wal->wait);
	end_waiters(&waiters, r);
	return true;
}

void wal_work(struct work_struct *work)
{
	struct wal *wal = container_of(work, struct wal, work);

	while (wal_round(wal))
		cond_resched();
}

u64 wal_ranges_limit(const struct store *store)
{
	const struct wal *wal = store->wal;

	return wal ? wal->room.ranges - wal->room.ranges / 16 : 0;
}
