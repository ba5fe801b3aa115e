// SPDX-License-Identifier: GPL-2.0
/*
 * Writing the log, its checkpoints and the superblock: see wal.h.
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
 * Errors. A failed write is tried once more, with the same pages to the same place, as a page's
 * sequence number depends on its place. A failed flush is not tried again: a device that could not
 * write its cache may have dropped it, and would report success the next time. So writes and
 * flushes must be told apart. They are requests of their own, and FUA is not used on a device for
 * which the block layer would make a write and a flush of it. After a failed flush or a second
 * failed write nothing can be made durable any more. So the store fails permanently. Reads go on.
 */
#include "wal.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../compat/compat.h"
#include "../portable/crc.h"
#include "../lib/poolfmt.h"
#include "../base/inject.h"
#include "logread.h"
#include "pool.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

#define RING_MAX	16
#define CHECKPOINT_MAX	16
#define BATCH_MAX	(RING_MAX + 1 + CHECKPOINT_MAX)
#define PAGE_SECTORS_4K	(FORMAT_PAGE >> SECTOR_SHIFT)
#define RETRY_MS	500	/* a path may have come back by then */

struct wal {
	struct store *store;
	struct block_device *bdev;	/* the live table's */
	struct workqueue_struct *event_wq;	/* likewise */
	struct work_struct *event;		/* likewise */
	struct workqueue_struct *wq;
	struct work_struct work;
	wait_queue_head_t wait;		/* for the end of a round */
	struct format_room room;
	u64 base;		/* page of the backing device where the store's first one is */
	bool fresh;			/* to be formatted when it starts */
	bool live;			/* started */

	/* Under store->lock: */
	struct format_log_page *free[RING_MAX];
	struct format_log_page *full[RING_MAX];	/* in order */
	struct format_log_page *cur;	/* being filled, or NULL */
	unsigned int nr_free, nr_full;
	unsigned int ops;		/* in cur */
	struct rt_range last;		/* the last of them */
	struct list_head waiters;
	bool busy;			/* a round is under way */
	bool want;			/* a round is wanted though nobody waits */
	bool want_packs, may_pack;	/* the superblock is to say FORMAT_VERSION_PACKS; it does */
	u64 commits;			/* ended */
	struct wal_maps maps;	/* of what is given up */
	u64 nr_pending;			/* in both of them */

	/* The worker's own, or of who has stopped it: */
	enum david_fault fault;		/* of the request that failed last */
	struct format_super super;	/* the newest one written */
	u64 head;			/* sequence of the next page */
	u64 checkpoint_start;
	u64 cursor;			/* the block where the walk goes on */
	s64 checkpoint_owed;		/* its pages to be written before more operations */
	bool in_checkpoint;
	struct format_log_page *taken[RING_MAX];
	unsigned int nr_taken;
	struct format_log_page *scratch;	/* takes what cur has */
	struct format_log_page *checkpoint_pages[CHECKPOINT_MAX];
	struct page *page;		/* for superblocks */
	struct bio_vec vec[BATCH_MAX];
	struct bio bio;
};

static u64 wal_table_ranges(const struct store *store)
{
	const struct rangetable *rt = &store->table;

	return rt->ranges[RT_FILL] + rt->ranges[RT_SQUASHED] + rt->ranges[RT_STORED] +
	       rt->ranges[RT_PACKED];
}

/* Reading and writing */

/* Pages @buf to or from the store's page @at. Sleeps. */
static int wal_page_io(struct wal *wal, struct block_device *bdev, blk_opf_t opf, u64 at,
		       void **buf, unsigned int n)
{
	unsigned int i;
	int r;

	bio_init(&wal->bio, bdev, wal->vec, BATCH_MAX, opf);
	wal->bio.bi_iter.bi_sector = (wal->base + at) * PAGE_SECTORS_4K;
	for (i = 0; i < n; i++)
		__bio_add_page(&wal->bio, virt_to_page(buf[i]), FORMAT_PAGE,
			       offset_in_page(buf[i]));
	r = submit_bio_wait(&wal->bio);
	bio_uninit(&wal->bio);
	return r;
}

/* Make everything written before durable. After a failure it is unknown for ever whether it is. */
static int wal_flush_backing(struct wal *wal)
{
	int r = blkdev_issue_flush(wal->bdev);

	if (r)
		wal->fault = DAVID_FAULT_FLUSH;
	return r;
}

/*
 * Returns REQ_FUA if a failed write with FUA is a failed write and not a failed flush. For a drive
 * without FUA the block layer makes a write and a flush of it. A driver that passes requests on,
 * such as device-mapper, may claim FUA for drives without.
 */
static blk_opf_t wal_fua_opf(struct block_device *bdev)
{
	return bdev_fua(bdev) && !bdev->bd_disk->fops->submit_bio ? REQ_FUA : 0;
}

/* Write @n pages from page @at on, as @what. */
static int wal_write_twice(struct wal *wal, enum david_fault what, blk_opf_t fua, u64 at,
			   void **buf, unsigned int n)
{
	const blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | REQ_META | fua;
	int r = wal_page_io(wal, wal->bdev, opf, at, buf, n);

	if (likely(!r))
		return 0;
	DMWARN("%pg: the store's %s cannot be written: error %d; a second try follows", wal->bdev,
	       what == DAVID_FAULT_LOG ? "log" : "superblock", r);
	WRITE_ONCE(wal->store->log_retries, wal->store->log_retries + 1);
	msleep(RETRY_MS);
	r = wal_page_io(wal, wal->bdev, opf, at, buf, n);
	if (r)
		wal->fault = what;
	return r;
}

static int super_write(struct wal *wal, const struct format_super *super)
{
	const blk_opf_t fua = wal_fua_opf(wal->bdev);
	void *p = page_address(wal->page);
	int r;

	format_pack(super, p);
	r = wal_flush_backing(wal);
	if (!r)
		r = wal_write_twice(wal, DAVID_FAULT_SUPER, fua, super->generation % FORMAT_SUPERS,
				    &p, 1);
	if (!r && !fua)
		r = wal_flush_backing(wal);
	if (!r)
		wal->super = *super;
	return r;
}

/* Write @n pages of the log, sealed, at its head: one bio, or two where the ring ends. */
static int wal_write_pages(struct wal *wal, struct format_log_page **page, unsigned int n)
{
	const blk_opf_t fua = wal_fua_opf(wal->bdev);
	unsigned int done, some;
	int r = wal_flush_backing(wal);

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
static void wal_fail(struct wal *wal, int error)
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

static void wal_queue_round(struct wal *wal)
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

static void wal_begin_checkpoint(struct wal *wal)
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

/* An older module must not open the store from now on. */
static int super_raise_version(struct wal *wal)
{
	struct format_super super = wal->super;
	unsigned int i;
	int r = 0;

	super.version = FORMAT_VERSION_PACKS;
	super.log_end = wal->head;
	/* Both copies: it would open the other one. */
	for (i = 0; i < FORMAT_SUPERS && !r; i++) {
		super.generation++;
		r = super_write(wal, &super);
	}
	return r;
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
	raise = wal->want_packs && wal->super.version != FORMAT_VERSION_PACKS;
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
	wal->may_pack = wal->super.version == FORMAT_VERSION_PACKS;
	wal->commits++;
	set_credits(wal);
	spin_unlock_irqrestore(&store->lock, flags);
	wake_up_all(&wal->wait);
	end_waiters(&waiters, r);
	return true;
}

static void wal_work(struct work_struct *work)
{
	struct wal *wal = container_of(work, struct wal, work);

	while (wal_round(wal))
		cond_resched();
}

/* Start and stop */

/* Format a new store. While an older copy of the superblock is left, nothing else is written. */
static int super_format(struct wal *wal)
{
	struct format_super super = wal->super;
	unsigned int i;
	int r = 0;

	for (i = 0; i < FORMAT_SUPERS && !r; i++) {
		super.generation++;
		r = super_write(wal, &super);
	}
	if (!r)
		wal->fresh = false;
	return r;
}

int wal_check_copy(struct store *store, struct block_device *bdev)
{
	struct wal *wal = store->wal;
	void *page[FORMAT_SUPERS];
	unsigned int i;
	void *buf;
	int r;

	/* The disk is suspended: an allocation must not wait for writes to it. */
	buf = kmalloc(FORMAT_SUPERS * FORMAT_PAGE, GFP_NOIO);
	if (!buf)
		return -ENOMEM;
	for (i = 0; i < FORMAT_SUPERS; i++)
		page[i] = buf + i * FORMAT_PAGE;
	r = wal_page_io(wal, bdev, REQ_OP_READ | REQ_META, 0, page, FORMAT_SUPERS);
	if (!r && (store->failed || !format_is_copy(buf, &wal->super, page_address(wal->page))))
		r = -EINVAL;
	kfree(buf);
	return r;
}

/* Growing */

/* A bitmap with nothing free. */
static int init_full_bitmap(struct remap_bitmap *bm, u64 size)
{
	int r = bm_init(bm, size);

	if (!r)
		bm_claim(bm, 0, size);
	return r;
}

int wal_maps_init(struct wal_maps *maps, u64 blocks)
{
	return init_full_bitmap(&maps->pending, blocks) ?: init_full_bitmap(&maps->sealed, blocks);
}

void wal_maps_swap(struct store *store, struct wal_maps *maps)
{
	struct wal *wal = store->wal;

	lockdep_assert_held(&store->lock);
	WARN_ON_ONCE(wal->nr_pending);
	swap(wal->maps, *maps);
}

void wal_maps_destroy(struct wal_maps *maps)
{
	bm_destroy(&maps->pending);
	bm_destroy(&maps->sealed);
}

u64 wal_ranges_limit(const struct store *store)
{
	const struct wal *wal = store->wal;

	return wal ? wal->room.ranges - wal->room.ranges / 16 : 0;
}

/* Becoming live */

int wal_start(struct store *store, struct block_device *bdev, u64 blocks,
	      sector_t target_sectors, u64 seed, struct workqueue_struct *wq,
	      struct work_struct *event)
{
	struct wal *wal = store->wal;
	struct format_super super;
	int r = 0;

	wal->bdev = bdev;
	wal->event_wq = wq;
	wal->event = event;
	if (store->no_updates)
		return 0;
	if (wal->fresh) {
		get_random_bytes(wal->super.uuid, sizeof(wal->super.uuid));
		r = super_format(wal);
	}
	if (!r && store->pool)
		r = pool_enter(store, bdev, wal->super.uuid);
	if (!r) {
		super = wal->super;
		super.generation++;
		super.epoch++;
		super.flags &= ~FORMAT_CLEAN;
		super.target_sectors = target_sectors;
		super.seed = seed;
		super.backing_blocks = INJECTED(grow) ? store->bitmap.size : blocks;
		super.log_end = wal->head;
		r = super_write(wal, &super);
	}
	if (r)
		DMERR("%pg: the superblock cannot be written: error %d", bdev, r);
	else
		/* Pairs with wal_is_live(). */
		smp_store_release(&wal->live, true);
	return r;
}

bool wal_is_live(const struct store *store)
{
	/* Pairs with wal_start() and wal_stop(). */
	return smp_load_acquire(&store->wal->live);
}

/* The longest log that a clean stop leaves, pages. */
static u64 clean_length(const struct wal *wal)
{
	u64 table = div_u64(wal_table_ranges(wal->store), FORMAT_OPS);

	return table + table / 4 + 32;
}

void wal_stop(struct store *store)
{
	struct wal *wal = store->wal;
	struct format_super super;
	unsigned long flags;
	int r;

	if (!wal->live)
		return;
	spin_lock_irqsave(&store->lock, flags);
	wal->want = true;
	spin_unlock_irqrestore(&store->lock, flags);
	wal_queue_round(wal);
	flush_work(&wal->work);
	/*
	 * A checkpoint makes the next opening short. The worker has ended, so its fields are ours.
	 */
	if (!store->failed && wal->head - wal->super.log_start > clean_length(wal)) {
		wal_begin_checkpoint(wal);
		wal_queue_round(wal);
		flush_work(&wal->work);
	}
	/* Pairs with wal_is_live(): its worker has ended. */
	smp_store_release(&wal->live, false);
	if (store->failed)
		return;
	super = wal->super;
	super.generation++;
	super.flags |= FORMAT_CLEAN;
	super.log_end = wal->head;
	r = super_write(wal, &super);
	/* Earlier writes may be lost: the store fails. */
	if (r)
		wal_fail(wal, r);
}

static struct format_log_page *log_page_alloc(void)
{
	return kzalloc(FORMAT_PAGE, GFP_KERNEL);
}

static void wal_free(struct wal *wal)
{
	unsigned int i;

	if (wal->wq)
		destroy_workqueue(wal->wq);
	while (wal->nr_free)
		kfree(wal->free[--wal->nr_free]);
	while (wal->nr_full)
		kfree(wal->full[--wal->nr_full]);
	kfree(wal->cur);
	kfree(wal->scratch);
	for (i = 0; i < CHECKPOINT_MAX; i++)
		kfree(wal->checkpoint_pages[i]);
	if (wal->page)
		__free_page(wal->page);
	wal_maps_destroy(&wal->maps);
	kfree(wal);
}

void wal_close(struct store *store)
{
	if (store->wal)
		wal_free(store->wal);
	store->wal = NULL;
}

u64 wal_bytes(const struct store *store)
{
	const struct wal *wal = store->wal;

	if (!wal)
		return 0;
	return sizeof(*wal) + PAGE_SIZE + (wal->room.ring + 1 + wal->room.walk) * FORMAT_PAGE;
}

/* Opening */

static int alloc_pages_of_log(struct wal *wal)
{
	unsigned int i;

	format_room(wal->super.log_pages, &wal->room);
	for (i = 0; i < wal->room.ring; i++) {
		wal->free[i] = log_page_alloc();
		if (!wal->free[i])
			return -ENOMEM;
		wal->nr_free++;
	}
	for (i = 0; i < wal->room.walk; i++) {
		wal->checkpoint_pages[i] = log_page_alloc();
		if (!wal->checkpoint_pages[i])
			return -ENOMEM;
	}
	wal->scratch = log_page_alloc();
	return wal->scratch ? wal_maps_init(&wal->maps, wal->store->bitmap.size) : -ENOMEM;
}

/* Does the superblock's geometry fit the device and the table line? */
static int super_check(struct store *store, const struct format_super *super, char **error)
{
	switch (super->block_size) {
	case 512:
		*error = "The store on the backing device has block_size=512";
		break;
	case 1024:
		*error = "The store on the backing device has block_size=1024";
		break;
	case 2048:
		*error = "The store on the backing device has block_size=2048";
		break;
	default:
		*error = "The store on the backing device has block_size=4096";
	}
	if (super->block_size != store->block_size)
		return -EINVAL;
	*error = "Backing device is smaller than when the store on it was used last";
	return super->backing_blocks <= store->bitmap.size ? 0 : -EINVAL;
}

/*
 * What a pool's disk stores is in use in the pool's bitmap since the pool was opened, and in the
 * store's since it was made. So only look whether it makes sense.
 */
static const char *claim_pool_disk(const struct store *store, u64 *block)
{
	struct remap_bitmap bitmap;
	const char *why;

	*block = 0;
	if (bm_init(&bitmap, store->bitmap.size))
		return "not enough memory";
	why = format_claim(&store->table, &bitmap, POOL_PAGES, block);
	bm_destroy(&bitmap);
	return why;
}

static int wal_replay(struct wal *wal, struct block_device *bdev, void *buf, char **error)
{
	struct store *store = wal->store;
	const char *why;
	u64 block;
	int r;

	r = log_replay(bdev, wal->base, &wal->super, &store->table, buf, &wal->head, error);
	if (r)
		return r;
	why = store->pool ? claim_pool_disk(store, &block) :
	      format_claim(&store->table, &store->bitmap, format_data(&wal->super), &block);
	if (!why)
		return 0;
	DMERR("%pg: store damaged: block %llu of the disk: %s", bdev, block, why);
	*error = "The store on the backing device is damaged: see david store check";
	return -EUCLEAN;
}

/* The store of a pool's disk: there, or to be made in the disk's area. */
static int super_read_pool_disk(struct wal *wal, struct block_device *bdev, bool want_format,
				void *buf, char **error)
{
	struct store *store = wal->store;
	const char *why;
	u64 pages;
	int r;

	*error = "block_size: of a pool's disks must be 4096";
	if (store->block_size != FORMAT_PAGE)
		return -EINVAL;
	wal->base = pool_area(store, &pages, &wal->fresh);
	if (wal->fresh) {
		r = format_begin(&wal->super, store->bitmap.size, FORMAT_PAGE);
		wal->super.log_pages = pages - FORMAT_SUPERS;
		return r;
	}
	*error = "store=format: the pool has a disk of that name: see david pool drop";
	if (want_format)
		return -EINVAL;
	*error = "Backing device cannot be read";
	r = log_pages_io(bdev, REQ_OP_READ, wal->base, buf, FORMAT_LOOK);
	if (r)
		return r;
	*error = "The disk in the pool is damaged: see david pool check";
	why = format_look(buf, &wal->super) == FORMAT_STORE ? pool_check(store, &wal->super) :
	      "no copy of its superblock is whole";
	if (!why && wal->super.version != FORMAT_VERSION)
		why = "it has packed blocks, which a pool's disks have not";
	if (!why)
		return super_check(store, &wal->super, error);
	DMERR("%pg: disk %s of the pool: %s", bdev, pool_disk_name(store), why);
	return -EUCLEAN;
}

/* Read what is on @bdev, and decide whether to open or format it. */
static int super_read(struct wal *wal, struct block_device *bdev, bool want_format,
		      bool may_write, void *buf, char **error)
{
	struct store *store = wal->store;
	u64 pages = bdev_nr_sectors(bdev) / PAGE_SECTORS_4K;
	enum format_found found;
	int r;

	if (pages < FORMAT_PAGES_MIN) {
		*error = "Backing device is too small for a store that lasts: see store=memory";
		return -EINVAL;
	}
	r = log_pages_io(bdev, REQ_OP_READ, 0, buf, FORMAT_LOOK);
	if (r) {
		*error = "Backing device cannot be read";
		return r;
	}
	found = format_look(buf, &wal->super);
	if (found == FORMAT_STORE && !want_format)
		return super_check(store, &wal->super, error);
	if (found == FORMAT_BLANK || want_format) {
		u64 generation = found == FORMAT_STORE ? wal->super.generation : 0;

		*error = "Backing device cannot be written: there is no store on it";
		if (!may_write)
			return -EROFS;
		wal->fresh = true;
		*error = NULL;
		r = format_begin(&wal->super, pages, store->block_size);
		wal->super.generation = generation;
		return r;
	}
	if (found == FORMAT_OTHER_VERSION)
		*error =
"Backing device holds a david store of another version: store=format makes a new one";
	else if (found == FORMAT_BROKEN)
		*error =
"Backing device holds a david store that is broken: see david store check, or store=format";
	else if (!memcmp(buf, POOL_MAGIC, sizeof(POOL_MAGIC) - 1))
		*error = "Backing device holds a david pool: pool=NAME is a disk of it";
	else
		*error =
"Backing device holds something else than a david store: store=format overwrites it";
	return -EINVAL;
}

int wal_open(struct store *store, struct block_device *bdev, bool want_format,
	     bool may_write, char **error)
{
	struct wal *wal;
	void *buf;
	int r = -ENOMEM;

	*error = "Not enough memory for the store's log";
	wal = kzalloc(sizeof(*wal), GFP_KERNEL);
	buf = kmalloc(LOGREAD_PAGES * FORMAT_PAGE, GFP_KERNEL);
	if (!wal || !buf) {
		kfree(buf);
		kfree(wal);
		return -ENOMEM;
	}
	wal->store = store;
	INIT_WORK(&wal->work, wal_work);
	INIT_LIST_HEAD(&wal->waiters);
	init_waitqueue_head(&wal->wait);
	wal->page = alloc_page(GFP_KERNEL);
	wal->wq = alloc_workqueue("dm-david-log", WQ_MEM_RECLAIM | WQ_PERCPU, 1);
	if (!wal->page || !wal->wq)
		goto bad;
	r = store->pool ? super_read_pool_disk(wal, bdev, want_format, buf, error) :
			  super_read(wal, bdev, want_format, may_write, buf, error);
	if (r)
		goto bad;
	/* Claim the format's own blocks. Replay claims those of stored blocks. */
	if (!store->pool)
		bm_claim(&store->bitmap, 0, format_data(&wal->super));
	if (wal->fresh) {
		wal->head = wal->super.log_end;
	} else {
		store->seed = wal->super.seed;
		r = wal_replay(wal, bdev, buf, error);
		if (r)
			goto bad;
	}
	*error = "Not enough memory for the store's log";
	r = alloc_pages_of_log(wal);
	if (r)
		goto bad;
	*error = NULL;
	store->wal = wal;
	kfree(buf);
	return 0;
bad:
	wal_free(wal);
	kfree(buf);
	return r;
}
