// SPDX-License-Identifier: GPL-2.0
/*
 * Writing the log, its checkpoints and the superblock: see durable.h.
 *
 * One worker does it all, one write at a time, in rounds. A round takes what
 * stands in memory and who waits for it (under the lock), adds pages of the
 * checkpoint if one is being written, writes, and lets go.
 *
 * A checkpoint is a walk over the table while that changes. What the walk finds
 * is written in order with the operations: changes behind the walk come later in the
 * log and are applied to what it found; changes in front of it are found by it, and
 * applying them again does no harm, since an operation says what is, not
 * what to do. The walk may see a change whose operation comes with the next
 * round only. If power fails in between, the table is newer there than it need be,
 * which is allowed of anything not flushed; the block itself is durable,
 * since every write here begins with a flush.
 *
 * Errors. A write that failed is tried once more: the same pages to the same place, as
 * a page's sequence says where it stands. A flush is not, since a device that could not
 * write what it had in its cache may have forgotten it, and say that all is well the
 * next time. So that the two can be told apart they are requests of their own, and FUA
 * is not asked of a device that may make it of a write and a flush. If it comes to
 * nothing, nothing that comes can be made durable, and what is not must not look so: the
 * store fails for good. Reads go on.
 */
#include "durable.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../compat/compat.h"
#include "../lib/crc.h"
#include "../base/inject.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

#define RING_MAX	16
#define WALK_MAX	16
#define BATCH_MAX	(RING_MAX + 1 + WALK_MAX)
#define READ_PAGES	64
#define PAGE_SECTORS_4K	(FORMAT_PAGE >> SECTOR_SHIFT)
#define RETRY_MS	500	/* a path may have come back by then */

struct durable {
	struct store *store;
	struct block_device *bdev;	/* the live table's */
	struct workqueue_struct *event_wq;	/* likewise */
	struct work_struct *event;		/* likewise */
	struct workqueue_struct *wq;
	struct work_struct work;
	wait_queue_head_t wait;		/* for the end of a round */
	struct format_room room;
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
	u64 rounds;			/* ended */
	struct durable_maps maps;	/* of what is given up */
	u64 nr_pending;			/* in both of them */

	/* The worker's own, or of who has stopped it: */
	enum david_fault fault;		/* of the request that failed last */
	struct format_super super;	/* the newest one written */
	u64 head;			/* sequence of the next page */
	u64 walk_begin;
	u64 cursor;			/* the block where the walk goes on */
	s64 debt;			/* pages of walk to be written before more operations */
	bool walking;
	struct format_log_page *taken[RING_MAX];
	unsigned int nr_taken;
	struct format_log_page *scratch;	/* takes what cur has */
	struct format_log_page *walk[WALK_MAX];
	struct page *page;		/* for superblocks */
	struct bio_vec vec[BATCH_MAX];
	struct bio bio;
};

static u64 table_ranges(const struct store *store)
{
	const struct rangetable *rt = &store->table;

	return rt->ranges[RT_FILL] + rt->ranges[RT_SQUASHED] + rt->ranges[RT_STORED];
}

/* Reading and writing */

/* Pages @buf to or from page @at of the backing device. Sleeps. */
static int transfer(struct durable *d, struct block_device *bdev, blk_opf_t opf, u64 at,
		    void **buf, unsigned int n)
{
	unsigned int i;
	int r;

	bio_init(&d->bio, bdev, d->vec, BATCH_MAX, opf);
	d->bio.bi_iter.bi_sector = at * PAGE_SECTORS_4K;
	for (i = 0; i < n; i++)
		__bio_add_page(&d->bio, virt_to_page(buf[i]), FORMAT_PAGE,
			       offset_in_page(buf[i]));
	r = submit_bio_wait(&d->bio);
	bio_uninit(&d->bio);
	return r;
}

/* What was written before is durable after this, or never known to be. */
static int flush(struct durable *d)
{
	int r = blkdev_issue_flush(d->bdev);

	if (r)
		d->fault = DAVID_FAULT_FLUSH;
	return r;
}

/*
 * Is a failed write with FUA a failed write and nothing more? The block layer makes a write
 * and a flush of it where a drive has no FUA. A driver that passes requests on, like
 * device-mapper, may say that it has and pass them to some that have not.
 */
static blk_opf_t honest_fua(struct block_device *bdev)
{
	return bdev_fua(bdev) && !bdev->bd_disk->fops->submit_bio ? REQ_FUA : 0;
}

/* Write @n pages from page @at on, as @what. */
static int write_twice(struct durable *d, enum david_fault what, blk_opf_t fua, u64 at, void **buf,
		       unsigned int n)
{
	const blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | REQ_META | fua;
	int r = transfer(d, d->bdev, opf, at, buf, n);

	if (likely(!r))
		return 0;
	DMWARN("%pg: the store's %s cannot be written: error %d; a second try follows", d->bdev,
	       what == DAVID_FAULT_LOG ? "log" : "superblock", r);
	WRITE_ONCE(d->store->log_retries, d->store->log_retries + 1);
	msleep(RETRY_MS);
	r = transfer(d, d->bdev, opf, at, buf, n);
	if (r)
		d->fault = what;
	return r;
}

static int write_super(struct durable *d, const struct format_super *super)
{
	const blk_opf_t fua = honest_fua(d->bdev);
	void *p = page_address(d->page);
	int r;

	format_pack(super, p);
	r = flush(d);
	if (!r)
		r = write_twice(d, DAVID_FAULT_SUPER, fua, super->generation % FORMAT_SUPERS,
				&p, 1);
	if (!r && !fua)
		r = flush(d);
	if (!r)
		d->super = *super;
	return r;
}

/* Write @n pages of the log, sealed, at its head: one bio, or two where the ring ends. */
static int write_log(struct durable *d, struct format_log_page **page, unsigned int n)
{
	const blk_opf_t fua = honest_fua(d->bdev);
	unsigned int done, some;
	int r = flush(d);

	for (done = 0; done < n && !r; done += some) {
		u64 at = format_place(&d->super, d->head + done);

		some = min_t(u64, n - done, FORMAT_SUPERS + d->super.log_pages - at);
		r = write_twice(d, DAVID_FAULT_LOG, fua, at, (void **)page + done, some);
	}
	if (!r && !fua)
		r = flush(d);
	if (!r)
		d->head += n;
	return r;
}

/* Failing */

/* What the user is told, once. */
static void fail(struct durable *d, int error)
{
	static const char * const why[] = {
		[DAVID_FAULT_FLUSH] = "it cannot flush, and may have forgotten what it had",
		[DAVID_FAULT_LOG] = "the store's log cannot be written",
		[DAVID_FAULT_SUPER] = "the store's superblock cannot be written",
		[DAVID_FAULT_ROOM] = "the store's log has no room, which cannot be",
	};
	struct store *store = d->store;
	unsigned long flags;

	DMERR("%pg: %s: error %d; the disk is read-only from now on", d->bdev, why[d->fault],
	      error);
	spin_lock_irqsave(&store->lock, flags);
	WRITE_ONCE(store->fault, d->fault);
	WRITE_ONCE(store->failed, true);
	WRITE_ONCE(store->refuses, true);
	store->allowance = S64_MIN / 2;
	spin_unlock_irqrestore(&store->lock, flags);
	wake_up_all(&d->wait);
	queue_work(d->event_wq, d->event);
}

/* The order of operations */

/* Room for operations in memory. */
static s64 slots(const struct durable *d)
{
	return (s64)d->nr_free * FORMAT_OPS + (d->cur ? FORMAT_OPS - d->ops : 0);
}

/* Each update makes two ranges at most. */
static s64 growth(const struct durable *d, u64 limit)
{
	u64 ranges = table_ranges(d->store);

	return limit > ranges ? (limit - ranges) / 2 : 0;
}

static void set_allowance(struct durable *d)
{
	u64 soft = d->room.ranges - d->room.ranges / 16;
	struct store *store = d->store;
	s64 memory = store_growth(store, store->table_limit);

	if (!store->refuses)
		store->allowance = min3(slots(d), growth(d, soft), memory);
	/* An eighth of the table is free. */
	if (growth(d, soft) > (s64)(d->room.ranges / 16) &&
	    store_growth(store, store->table_limit - store->table_limit / 8))
		store->table_told = false;
}

static void kick(struct durable *d)
{
	queue_work(d->wq, &d->work);
}

static bool continues(const struct rt_range *last, const struct rt_range *r)
{
	return r->kind == last->kind && r->start == last->start + last->len &&
	       r->value == last->value + (r->kind == RT_STORED ? last->len : 0);
}

void durable_note(struct store *store, const struct rt_range *r, u64 len)
{
	struct durable *d = store->durable;

	if (d->ops && continues(&d->last, r)) {
		d->last.len += len;
		format_put(&d->cur->op[d->ops - 1], &d->last);
		return;
	}
	if (!d->cur || d->ops == FORMAT_OPS) {
		if (d->cur) {
			d->full[d->nr_full++] = d->cur;
			if (d->nr_full >= d->room.ring / 2)
				kick(d);
		}
		d->cur = d->free[--d->nr_free];
		d->ops = 0;
	}
	d->last = *r;
	d->last.len = len;
	format_put(&d->cur->op[d->ops++], &d->last);
	store->allowance--;
}

void durable_freed(struct store *store, u64 dest, u64 len)
{
	struct durable *d = store->durable;

	bm_free(&d->maps.pending, dest, len);
	d->nr_pending += len;
}

static bool wait_round(struct durable *d, gfp_t gfp, unsigned long *flags)
	__must_hold(&d->store->lock)
{
	u64 round = d->rounds + d->busy;

	d->want = true;
	kick(d);
	if (!gfpflags_allow_blocking(gfp))
		return false;
	spin_unlock_irqrestore(&d->store->lock, *flags);
	wait_event(d->wait, READ_ONCE(d->rounds) > round || READ_ONCE(d->store->failed));
	spin_lock_irqsave(&d->store->lock, *flags);
	return true;
}

bool durable_promise(struct store *store, enum rt_kind kind, gfp_t gfp, unsigned long *flags)
{
	struct durable *d = store->durable;
	u64 limit = store->table_limit;
	s64 promised;

	while (!store->refuses) {
		promised = store->table.promised;
		set_allowance(d);
		if (promised <= store->allowance)
			return true;
		if (promised > slots(d)) {
			if (!wait_round(d, gfp, flags))
				return false;
			continue;
		}
		/* The table is full. What is discarded makes room in the end. */
		return kind == RT_HOLE && promised <= growth(d, d->room.ranges) &&
		       promised <= store_growth(store, limit + limit / 16);
	}
	return false;
}

bool durable_wait_free(struct store *store, gfp_t gfp)
{
	struct durable *d = store->durable;
	unsigned long flags;
	bool some;

	spin_lock_irqsave(&store->lock, flags);
	some = d->nr_pending && !store->refuses;
	if (some)
		wait_round(d, gfp, &flags);
	spin_unlock_irqrestore(&store->lock, flags);
	return some;
}

bool durable_sync(struct store *store, struct durable_wait *wait)
{
	struct durable *d = store->durable;
	unsigned long flags;
	bool queued;

	if (INJECTED(flush))
		return false;
	spin_lock_irqsave(&store->lock, flags);
	if (INJECTED(late)) {
		wait_round(d, GFP_NOWAIT, &flags);
		spin_unlock_irqrestore(&store->lock, flags);
		return false;
	}
	queued = d->busy || d->ops || d->nr_full || store->failed;
	if (queued) {
		list_add_tail(&wait->list, &d->waiters);
		kick(d);
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return queued;
}

u64 durable_pending(const struct store *store)
{
	return store->durable ? store->durable->nr_pending : 0;
}

u64 durable_reserved(const struct store *store)
{
	return store->durable ? format_data(&store->durable->super) : 0;
}

/* Rounds */

/* Is it time for a checkpoint? */
static bool walk_due(const struct durable *d)
{
	u64 live = d->head - d->super.log_start, ranges = table_ranges(d->store);
	u64 table = div_u64(ranges, FORMAT_OPS) + 1;

	/* All that is live is read when the store is opened after a crash. */
	return live > table + table / 2 + 64 ||
	       d->super.log_pages - live < format_need(&d->room, ranges) + BATCH_MAX;
}

/* Fill @page with what comes next in the table. Returns the number of entries. */
static unsigned int walk_page(struct durable *d, struct format_log_page *page)
{
	struct store *store = d->store;
	unsigned int ops = 0;
	unsigned long flags;
	struct rt_range r;

	spin_lock_irqsave(&store->lock, flags);
	while (d->walking && ops < FORMAT_OPS) {
		rt_lookup(&store->table, d->cursor, &r);
		if (r.kind != RT_HOLE)
			format_put(&page->op[ops++], &r);
		d->cursor = r.start + r.len;
		d->walking = d->cursor != U64_MAX;
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return ops;
}

/* Blocks given up before the round are free now. */
static void release_sealed(struct durable *d)
{
	struct store *store = d->store;
	unsigned long flags;
	u64 dest, len;

	do {
		spin_lock_irqsave(&store->lock, flags);
		dest = bm_alloc(&d->maps.sealed, BM_NONE, 1024, &len);
		if (dest != BM_NONE) {
			bm_free(&store->bitmap, dest, len);
			d->nr_pending -= len;
		}
		spin_unlock_irqrestore(&store->lock, flags);
	} while (dest != BM_NONE);
}

/* Take what is to be written. store->lock is held. Returns the entries in scratch. */
static unsigned int seal(struct durable *d, struct list_head *waiters)
{
	unsigned int i, ops = d->ops;

	for (i = 0; i < d->nr_full; i++)
		d->taken[i] = d->full[i];
	d->nr_taken = d->nr_full;
	d->nr_full = 0;
	/* A copy, so that the rest of the page stays promised to whom it is. */
	if (ops)
		memcpy(d->scratch->op, d->cur->op, ops * sizeof(d->scratch->op[0]));
	d->ops = 0;
	list_splice_init(&d->waiters, waiters);
	/* What was sealed before has been released: it is empty. */
	swap(d->maps.pending, d->maps.sealed);
	d->want = false;
	set_allowance(d);
	return ops;
}

static void begin_walk(struct durable *d)
{
	d->walking = true;
	d->walk_begin = d->head;
	d->cursor = 0;
	d->debt = 0;
}

/* Write the pages of one round. */
static int write_round(struct durable *d, unsigned int ops, bool *end_of_walk)
{
	struct format_log_page *batch[BATCH_MAX];
	unsigned int count[BATCH_MAX];
	unsigned int n, i, most;

	for (n = 0; n < d->nr_taken; n++) {
		batch[n] = d->taken[n];
		count[n] = FORMAT_OPS;
	}
	if (ops) {
		batch[n] = d->scratch;
		count[n++] = ops;
	}
	if (!d->walking && walk_due(d))
		begin_walk(d);
	*end_of_walk = false;
	if (d->walking) {
		d->debt += (s64)n * FORMAT_WALK_RATIO;
		most = format_walk(&d->room, d->debt, n);
		for (i = 0; i < most && d->walking; i++) {
			count[n] = walk_page(d, d->walk[i]);
			if (count[n])
				batch[n++] = d->walk[i];
		}
		d->debt -= i;
		*end_of_walk = !d->walking;
	}
	if (n > d->super.log_pages - (d->head - d->super.log_start)) {
		d->fault = DAVID_FAULT_ROOM;	/* cannot be: see format_room() */
		return -ENOSPC;
	}
	for (i = 0; i < n; i++)
		format_seal(batch[i], &d->super, d->head + i, i, count[i]);
	return n ? write_log(d, batch, n) : 0;
}

/* The log begins where the walk began. */
static int end_walk(struct durable *d)
{
	struct format_super super = d->super;

	super.generation++;
	super.log_start = d->walk_begin;
	super.log_end = d->head;
	return write_super(d, &super);
}

static void end_waiters(struct list_head *waiters, int error)
{
	struct durable_wait *wait, *next;

	list_for_each_entry_safe(wait, next, waiters, list) {
		list_del_init(&wait->list);
		wait->done(wait, errno_to_blk_status(error));
	}
}

/* Returns false if there was nothing to do. */
static bool one_round(struct durable *d)
{
	struct store *store = d->store;
	struct durable_wait *wait;
	bool end_of_walk = false, wants_flush = false, sealed;
	unsigned int ops = 0;
	unsigned long flags;
	LIST_HEAD(waiters);
	int r = 0;

	if (INJECTED(late))
		msleep(200);
	spin_lock_irqsave(&store->lock, flags);
	if (list_empty(&d->waiters) && !d->want && d->nr_full < d->room.ring / 2 && !d->walking) {
		spin_unlock_irqrestore(&store->lock, flags);
		return false;
	}
	d->busy = true;
	/* In a checkpoint, operations may not get ahead of the walk. */
	sealed = !d->walking || d->debt <= 0;
	if (sealed)
		ops = seal(d, &waiters);
	spin_unlock_irqrestore(&store->lock, flags);

	list_for_each_entry(wait, &waiters, list)
		wants_flush |= wait->flush;
	if (store->failed)
		r = -EIO;
	else if (ops || d->nr_taken || d->walking)
		r = write_round(d, ops, &end_of_walk);
	else if (wants_flush)
		r = flush(d);
	if (!r && end_of_walk)
		r = end_walk(d);
	if (r) {
		d->walking = false;
		if (!store->failed)
			fail(d, r);
	} else if (sealed) {
		release_sealed(d);
	}

	spin_lock_irqsave(&store->lock, flags);
	while (d->nr_taken)
		d->free[d->nr_free++] = d->taken[--d->nr_taken];
	d->busy = false;
	d->rounds++;
	set_allowance(d);
	spin_unlock_irqrestore(&store->lock, flags);
	wake_up_all(&d->wait);
	end_waiters(&waiters, r);
	return true;
}

static void durable_work(struct work_struct *work)
{
	struct durable *d = container_of(work, struct durable, work);

	while (one_round(d))
		cond_resched();
}

/* Start and stop */

/* A new store: an older copy of the superblock may stay behind only as long as nothing else is. */
static int format(struct durable *d)
{
	struct format_super super = d->super;
	unsigned int i;
	int r = 0;

	for (i = 0; i < FORMAT_SUPERS && !r; i++) {
		super.generation++;
		r = write_super(d, &super);
	}
	if (!r)
		d->fresh = false;
	return r;
}

int durable_check_copy(struct store *store, struct block_device *bdev)
{
	struct durable *d = store->durable;
	void *page[FORMAT_SUPERS];
	unsigned int i;
	void *buf;
	int r;

	/* The disk is suspended: memory is not to be had by writing to it. */
	buf = kmalloc(FORMAT_SUPERS * FORMAT_PAGE, GFP_NOIO);
	if (!buf)
		return -ENOMEM;
	for (i = 0; i < FORMAT_SUPERS; i++)
		page[i] = buf + i * FORMAT_PAGE;
	r = transfer(d, bdev, REQ_OP_READ | REQ_META, 0, page, FORMAT_SUPERS);
	if (!r && (store->failed || !format_is_copy(buf, &d->super, page_address(d->page))))
		r = -EINVAL;
	kfree(buf);
	return r;
}

/* Growing */

/* A bitmap with nothing free. */
static int full_bitmap(struct remap_bitmap *bm, u64 size)
{
	int r = bm_init(bm, size);

	if (!r)
		bm_claim(bm, 0, size);
	return r;
}

int durable_maps_init(struct durable_maps *maps, u64 blocks)
{
	return full_bitmap(&maps->pending, blocks) ?: full_bitmap(&maps->sealed, blocks);
}

void durable_maps_swap(struct store *store, struct durable_maps *maps)
{
	struct durable *d = store->durable;

	WARN_ON_ONCE(d->nr_pending);
	swap(d->maps, *maps);
}

void durable_maps_destroy(struct durable_maps *maps)
{
	bm_destroy(&maps->pending);
	bm_destroy(&maps->sealed);
}

u64 durable_ranges_limit(const struct store *store)
{
	const struct durable *d = store->durable;

	return d ? d->room.ranges - d->room.ranges / 16 : 0;
}

/* Becoming live */

int durable_start(struct store *store, struct block_device *bdev, u64 blocks,
		  sector_t target_sectors, u64 seed, struct workqueue_struct *wq,
		  struct work_struct *event)
{
	struct durable *d = store->durable;
	struct format_super super;
	int r = 0;

	d->bdev = bdev;
	d->event_wq = wq;
	d->event = event;
	if (store->refuses)
		return 0;
	if (d->fresh) {
		get_random_bytes(d->super.uuid, sizeof(d->super.uuid));
		r = format(d);
	}
	if (!r) {
		super = d->super;
		super.generation++;
		super.epoch++;
		super.flags &= ~FORMAT_CLEAN;
		super.target_sectors = target_sectors;
		super.seed = seed;
		super.backing_blocks = INJECTED(grow) ? store->bitmap.size : blocks;
		super.log_end = d->head;
		r = write_super(d, &super);
	}
	if (r)
		DMERR("%pg: the superblock cannot be written: error %d", bdev, r);
	else
		d->live = true;
	return r;
}

/* As long a log as may be left by a clean stop. */
static u64 clean_length(const struct durable *d)
{
	u64 table = div_u64(table_ranges(d->store), FORMAT_OPS);

	return table + table / 4 + 32;
}

void durable_stop(struct store *store)
{
	struct durable *d = store->durable;
	struct format_super super;
	unsigned long flags;
	int r;

	if (!d->live)
		return;
	spin_lock_irqsave(&store->lock, flags);
	d->want = true;
	spin_unlock_irqrestore(&store->lock, flags);
	kick(d);
	flush_work(&d->work);
	/* So that opening reads little more than the table. The worker's fields are ours now. */
	if (!store->failed && d->head - d->super.log_start > clean_length(d)) {
		begin_walk(d);
		kick(d);
		flush_work(&d->work);
	}
	d->live = false;
	if (store->failed)
		return;
	super = d->super;
	super.generation++;
	super.flags |= FORMAT_CLEAN;
	super.log_end = d->head;
	r = write_super(d, &super);
	/* What was written before may be lost, so nobody may go on as if it were not. */
	if (r)
		fail(d, r);
}

static struct format_log_page *log_page_alloc(void)
{
	return kzalloc(FORMAT_PAGE, GFP_KERNEL);
}

static void destroy(struct durable *d)
{
	unsigned int i;

	if (d->wq)
		destroy_workqueue(d->wq);
	while (d->nr_free)
		kfree(d->free[--d->nr_free]);
	while (d->nr_full)
		kfree(d->full[--d->nr_full]);
	kfree(d->cur);
	kfree(d->scratch);
	for (i = 0; i < WALK_MAX; i++)
		kfree(d->walk[i]);
	if (d->page)
		__free_page(d->page);
	durable_maps_destroy(&d->maps);
	kfree(d);
}

void durable_close(struct store *store)
{
	if (store->durable)
		destroy(store->durable);
	store->durable = NULL;
}

u64 durable_bytes(const struct store *store)
{
	const struct durable *d = store->durable;

	if (!d)
		return 0;
	return sizeof(*d) + PAGE_SIZE + (d->room.ring + 1 + d->room.walk) * FORMAT_PAGE;
}

/* Opening */

static int make_room(struct durable *d)
{
	unsigned int i;

	format_room(d->super.log_pages, &d->room);
	for (i = 0; i < d->room.ring; i++) {
		d->free[i] = log_page_alloc();
		if (!d->free[i])
			return -ENOMEM;
		d->nr_free++;
	}
	for (i = 0; i < d->room.walk; i++) {
		d->walk[i] = log_page_alloc();
		if (!d->walk[i])
			return -ENOMEM;
	}
	d->scratch = log_page_alloc();
	return d->scratch ? durable_maps_init(&d->maps, d->store->bitmap.size) : -ENOMEM;
}

/* Read @n pages at @at into @buf, which is contiguous. */
static int read_pages(struct durable *d, struct block_device *bdev, u64 at, void *buf,
		      unsigned int n)
{
	unsigned int done, some, i;
	void *page[BATCH_MAX];
	int r = 0;

	for (done = 0; done < n && !r; done += some) {
		some = min_t(unsigned int, n - done, BATCH_MAX);
		for (i = 0; i < some; i++)
			page[i] = buf + (done + i) * FORMAT_PAGE;
		r = transfer(d, bdev, REQ_OP_READ | REQ_META, at + done, page, some);
	}
	return r;
}

/* The geometry that was recorded against the one that there is. */
static int check_super(struct store *store, const struct format_super *super, char **error)
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

static int replay(struct durable *d, struct block_device *bdev, void *buf, char **error)
{
	struct format_replay replay;
	enum format_step step = FORMAT_MORE;
	struct store *store = d->store;
	u64 done, block;
	const char *why;
	unsigned int n = 0, i;
	int r;

	format_replay_begin(&replay, &d->super, &store->table);
	for (done = 0; done < d->super.log_pages && step == FORMAT_MORE; done += n) {
		u64 at = format_place(&d->super, d->super.log_start + done);

		n = min_t(u64, READ_PAGES, d->super.log_pages - done);
		n = min_t(u64, n, FORMAT_SUPERS + d->super.log_pages - at);
		r = read_pages(d, bdev, at, buf, n);
		if (r) {
			*error = "The store's log on the backing device cannot be read";
			return r;
		}
		for (i = 0; i < n && step == FORMAT_MORE; i++)
			step = format_replay_page(&replay, buf + i * FORMAT_PAGE);
		cond_resched();
	}
	if (step == FORMAT_MORE)
		step = format_replay_end(&replay);
	if (step == FORMAT_NO_MEMORY) {
		*error = "Not enough memory for the store's tables";
		return -ENOMEM;
	}
	*error = "The store on the backing device is damaged: see david store check";
	if (step == FORMAT_DAMAGED) {
		DMERR("%pg: store damaged at page %llu of the log: %s", bdev, replay.next,
		      replay.why);
		return -EUCLEAN;
	}
	d->head = replay.next;
	why = format_claim(&store->table, &store->bitmap, format_data(&d->super), &block);
	if (why) {
		DMERR("%pg: store damaged: block %llu of the disk: %s", bdev, block, why);
		return -EUCLEAN;
	}
	return 0;
}

/* What stands on @bdev, and what to do with it. */
static int look(struct durable *d, struct block_device *bdev, bool want_format, bool may_write,
		void *buf, char **error)
{
	struct store *store = d->store;
	u64 pages = bdev_nr_sectors(bdev) / PAGE_SECTORS_4K;
	enum format_found found;
	int r;

	if (pages < FORMAT_PAGES_MIN) {
		*error = "Backing device is too small for a store that lasts: see store=memory";
		return -EINVAL;
	}
	r = read_pages(d, bdev, 0, buf, FORMAT_LOOK);
	if (r) {
		*error = "Backing device cannot be read";
		return r;
	}
	found = format_look(buf, &d->super);
	if (found == FORMAT_STORE && !want_format)
		return check_super(store, &d->super, error);
	if (found == FORMAT_BLANK || want_format) {
		u64 generation = found == FORMAT_STORE ? d->super.generation : 0;

		*error = "Backing device cannot be written: there is no store on it";
		if (!may_write)
			return -EROFS;
		d->fresh = true;
		*error = NULL;
		r = format_begin(&d->super, pages, store->block_size);
		d->super.generation = generation;
		return r;
	}
	if (found == FORMAT_OTHER_VERSION)
		*error =
"Backing device holds a david store of another version: store=format makes a new one";
	else if (found == FORMAT_BROKEN)
		*error =
"Backing device holds a david store that is broken: see david store check, or store=format";
	else
		*error =
"Backing device holds something else than a david store: store=format overwrites it";
	return -EINVAL;
}

int durable_open(struct store *store, struct block_device *bdev, bool want_format,
		 bool may_write, char **error)
{
	struct durable *d;
	void *buf;
	int r = -ENOMEM;

	*error = "Not enough memory for the store's log";
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	buf = kmalloc(READ_PAGES * FORMAT_PAGE, GFP_KERNEL);
	if (!d || !buf) {
		kfree(buf);
		kfree(d);
		return -ENOMEM;
	}
	d->store = store;
	INIT_WORK(&d->work, durable_work);
	INIT_LIST_HEAD(&d->waiters);
	init_waitqueue_head(&d->wait);
	d->page = alloc_page(GFP_KERNEL);
	d->wq = alloc_workqueue("dm-david-log", WQ_MEM_RECLAIM | WQ_PERCPU, 1);
	if (!d->page || !d->wq)
		goto bad;
	r = look(d, bdev, want_format, may_write, buf, error);
	if (r)
		goto bad;
	if (d->fresh) {
		d->head = d->super.log_end;
		bm_claim(&store->bitmap, 0, format_data(&d->super));
	} else {
		/* What is stored is claimed by the replay, the format's own first. */
		bm_claim(&store->bitmap, 0, format_data(&d->super));
		store->seed = d->super.seed;
		r = replay(d, bdev, buf, error);
		if (r)
			goto bad;
	}
	*error = "Not enough memory for the store's log";
	r = make_room(d);
	if (r)
		goto bad;
	*error = NULL;
	store->durable = d;
	kfree(buf);
	return 0;
bad:
	destroy(d);
	kfree(buf);
	return r;
}
