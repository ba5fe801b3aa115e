// SPDX-License-Identifier: GPL-2.0
/* Implicit evidence in a running kernel: see implicit.h. */
#include "implicit-internal.h"

#include <linux/slab.h>
#include "../../classifier/signature.h"
#include "../base/inject.h"
#include "../compat/compat.h"
#include "david.h"
#include "implicit-evidence.h"
#include "../timing/trace.h"

/* Limit of one volume's log set, bytes. mkfs.ext4 makes journals of at most 2^18 blocks. */
#define LOG_LIMIT	(4u << 20)

/* Interval of classifier_again(). */
#define AGAIN		(2 * HZ)

/*
 * The longest time that a write waits for the worker: classifier_early(). It ends a circle: the
 * worker reads the disk, and what it reads may be locked by a request whose submitter waits here.
 */
#define EARLY		(2 * HZ)

/* The evidence that each reason of the classifier is. */
static const enum david_evidence evidence_of[REASON_NR] = {
	[REASON_NO_VOLUME] = DAVID_EV_UNKNOWN,
	[REASON_UNMOUNTED] = DAVID_EV_UNKNOWN,
	[REASON_UNPLACED] = DAVID_EV_UNKNOWN,
	[REASON_LEARNING] = DAVID_EV_UNKNOWN,
	[REASON_UNSAFE] = DAVID_EV_UNKNOWN,
	[REASON_STATIC] = DAVID_EV_LAYOUT,
	[REASON_JOURNAL] = DAVID_EV_LAYOUT,
	[REASON_LOGGED] = DAVID_EV_LOGGED,
	[REASON_UNLOGGED] = DAVID_EV_IMPLIED,
	[REASON_UNJOURNALED] = DAVID_EV_UNKNOWN,
	[REASON_LOOKS] = DAVID_EV_SELF,
	[REASON_UNDECIDED] = DAVID_EV_UNKNOWN,
	[REASON_NAMED] = DAVID_EV_SELF,
	[REASON_STORED] = DAVID_EV_UNKNOWN,
	[REASON_PART] = DAVID_EV_UNKNOWN,
	[REASON_COMPRESSED] = DAVID_EV_UNKNOWN,
	[REASON_UNNAMED] = DAVID_EV_IMPLIED,
};

/* The same with page owners, who decide. That something is not known yet is no objection then. */
static enum david_evidence evidence_for(const struct david *d, enum classify_reason reason)
{
	enum david_evidence evidence = evidence_of[reason];

	if (d->classify == CLASSIFY_AUTO &&
	    (evidence == DAVID_EV_UNKNOWN || reason == REASON_LOOKS))
		return DAVID_EV_IMPLIED;
	return evidence;
}

/* The content of a request: mostly read from left to right. */
struct content_source {
	struct bio *bio;
	struct bvec_iter iter;
	u32 pos;		/* bytes before iter */
};

static void copy_content(void *ctx, u32 offset, void *to, u32 len)
{
	struct content_source *source = ctx;
	struct bvec_iter iter, start;
	struct bio_vec bv;

	if (offset < source->pos) {
		source->iter = source->bio->bi_iter;
		source->pos = 0;
	}
	bio_advance_iter(source->bio, &source->iter, offset - source->pos);
	source->pos = offset;
	start = source->iter;
	start.bi_size = len;
	__bio_for_each_segment(bv, source->bio, iter, start) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
}

/* Data at @sector has checksums that the store cannot keep, so it is kept. The lock is held. */
static void refuse_csum(struct implicit *im, u64 sector, u32 sectors)
{
	lockdep_assert_held(&im->lock);
	classifier_kept(&im->c, sector, sectors);
	if (!im->csum_warned)
		DMWARN("%s: btrfs at sector %llu: its checksums cannot be kept: its data is stored",
		       dm_table_device_name(im->d->ti->table),
		       classifier_volume(&im->c, sector));
	im->csum_warned = true;
}

/*
 * Call after the classifier's verdict on the @sectors at @sector. True: they are data, or may turn
 * out to be, and their checksums have to be kept. The lock is held.
 */
static bool check_csum(struct implicit *im, u64 sector, u32 sectors, enum classify_reason reason,
		       enum david_evidence *evidence)
{
	struct david *d = im->d;
	bool later = reason == REASON_UNDECIDED;
	enum classify_sums sums;

	lockdep_assert_held(&im->lock);
	if (d->classify != CLASSIFY_IMPLICIT || d->csum.mode == CSUM_OFF ||
	    (!later && *evidence != DAVID_EV_IMPLIED))
		return false;
	/* All data has checksums: csum_policy() says so. */
	if (d->csum.mode == CSUM_ON)
		return later;
	sums = classifier_sums(&im->c, sector);
	if (sums == CLASSIFY_SUMS_OTHER && INJECTED(other))
		sums = CLASSIFY_SUMS_CRC32C;
	switch (sums) {
	case CLASSIFY_SUMS_NONE:
		return false;
	case CLASSIFY_SUMS_CRC32C:
		/* With chosen files, data stays undecided permanently. */
		if (later && (d->store->block_size != CSUM_UNIT || im->c.by_inode)) {
			classifier_kept(&im->c, sector, sectors);
			return false;
		}
		if (!READ_ONCE(d->owners.may_have_csums))
			WRITE_ONCE(d->owners.may_have_csums, true);
		return true;
	default:
		refuse_csum(im, sector, sectors);
		*evidence = DAVID_EV_UNPROVEN;
		return false;
	}
}

void implicit_set_watch(struct implicit *im)
{
	bool all = im->d->classify != CLASSIFY_AUTO || im->c.volumes.nr;

	lockdep_assert_held(&im->lock);
	WRITE_ONCE(im->d->watch_below, all ? U64_MAX : CLASSIFIER_SUPERS_END);
}

void implicit_wake(struct implicit *im)
{
	lockdep_assert_held(&im->lock);
	if (im->stopped)
		return;
	if (im->c.pending) {
		im->busy = true;
		queue_work(im->wq, &im->work);
	}
	if (undecided_any(&im->c.undecided))
		queue_delayed_work(im->wq, &im->again, AGAIN);
}

void implicit_account(struct implicit *im)
{
	const struct undecided_figures *now = &im->c.undecided.figures;
	atomic64_t *sum = im->d->store->figures->unclassified;

	lockdep_assert_held(&im->lock);
	if (unlikely(im->c.by_name))
		implicit_account_names(im);
	if (!memcmp(now, &im->accounted, sizeof(*now)))
		return;
	atomic64_add(now->now - im->accounted.now, &sum[DAVID_UNCLASSIFIED_NOW]);
	atomic64_add(now->spilled - im->accounted.spilled, &sum[DAVID_UNCLASSIFIED_SPILLED]);
	atomic64_add(now->data - im->accounted.data, &sum[DAVID_UNCLASSIFIED_DATA]);
	atomic64_add(now->metadata - im->accounted.metadata, &sum[DAVID_UNCLASSIFIED_METADATA]);
	if (now->most > atomic64_read(&sum[DAVID_UNCLASSIFIED_MOST]))
		atomic64_set(&sum[DAVID_UNCLASSIFIED_MOST], now->most);
	im->accounted = *now;
}

/*
 * @len sectors are undecided until an inode maps them. Keep blocks with the signature of a file
 * that the kernel reads without its page cache, even if an inode maps them. The lock is held.
 */
static void keep_signed(struct implicit *im, struct content_source *source, u64 sector, u32 pos,
			u32 len)
{
	const u32 page = SIGNATURE_PAGE >> SECTOR_SHIFT;
	u32 end = pos + len, next;
	u64 word;

	lockdep_assert_held(&im->lock);
	for (; pos < end; pos = next) {
		next = min_t(u32, end, pos + page - ((sector + pos) & (page - 1)));
		copy_content(source, pos << SECTOR_SHIFT, &word, sizeof(word));
		if (!signature_begins(&word)) {
			copy_content(source, (next << SECTOR_SHIFT) - sizeof(word), &word,
				     sizeof(word));
			if (!signature_ends(&word))
				continue;
		}
		classifier_kept(&im->c, sector + pos, next - pos);
	}
}

/* Shall the write wait for the worker? Page owners decide without it. */
static bool is_early(struct implicit *im, sector_t sector, sector_t sectors)
{
	lockdep_assert_held(&im->lock);
	return im->busy && im->d->classify != CLASSIFY_AUTO &&
	       classifier_early(&im->c, sector, sectors) && !INJECTED(hasty);
}

static bool worker_is_behind(struct implicit *im, sector_t sector, sector_t sectors)
{
	bool early;

	spin_lock(&im->lock);
	early = is_early(im, sector, sectors);
	spin_unlock(&im->lock);
	return early;
}

void implicit_write(struct implicit *im, struct bio *bio, sector_t sector,
		    struct implicit_evidence *out)
{
	struct content_source source = { .bio = bio, .iter = bio->bi_iter };
	struct classify_write w = {
		.sector = sector,
		.sectors = bio_sectors(bio),
		.fua = bio->bi_opf & REQ_FUA,
		.copy = copy_content,
		.ctx = &source,
	};
	enum david_evidence evidence;
	enum classify_reason reason;
	bool has_csum = false;
	u32 pos, len;

	out->runs = 0;
	spin_lock(&im->lock);
	/* Who must not sleep goes on with what is known: less is dropped. */
	if (unlikely(im->busy) && !(bio->bi_opf & REQ_NOWAIT) &&
	    is_early(im, sector, w.sectors)) {
		spin_unlock(&im->lock);
		wait_event_timeout(im->learnt, !worker_is_behind(im, sector, w.sectors), EARLY);
		spin_lock(&im->lock);
	}
	implicit_take_rules(im);
	for (pos = 0; pos < w.sectors; pos += len) {
		classifier_write(&im->c, &w, pos, &len, &reason);
		trace_david_implied(im->d->owners.disk.bdev->bd_dev, w.sector + pos, len,
				    classify_reason_name(reason));
		evidence = evidence_for(im->d, reason);
		if ((reason == REASON_COMPRESSED && INJECTED(rests)) ||
		    (reason == REASON_LOGGED && INJECTED(logged)))
			evidence = DAVID_EV_IMPLIED;
		if (reason == REASON_UNDECIDED)
			keep_signed(im, &source, w.sector, pos, len);
		if (unlikely(classifier_has_sums(&im->c) || im->d->csum.mode == CSUM_ON))
			has_csum = check_csum(im, w.sector + pos, len, reason, &evidence);
		implicit_evidence_add(out, pos + len, evidence, has_csum);
	}
	/* An inode would call a swap file's blocks content. */
	if (unlikely(bio->bi_opf & REQ_SWAP))
		classifier_kept(&im->c, sector, w.sectors);
	implicit_account(im);
	implicit_set_watch(im);
	implicit_wake(im);
	spin_unlock(&im->lock);
}

void implicit_discard(struct implicit *im, sector_t sector, sector_t sectors)
{
	spin_lock(&im->lock);
	classifier_discard(&im->c, sector, sectors);
	implicit_account(im);
	implicit_set_watch(im);
	spin_unlock(&im->lock);
}

void implicit_flush(struct implicit *im)
{
	spin_lock(&im->lock);
	classifier_flush(&im->c);
	spin_unlock(&im->lock);
}

void implicit_read(struct implicit *im, sector_t sector, sector_t sectors)
{
	/* Page owners' evidence does not depend on the mount state before. */
	if (im->d->classify == CLASSIFY_AUTO)
		return;
	spin_lock(&im->lock);
	classifier_looked(&im->c, sector, sectors);
	spin_unlock(&im->lock);
}

/* Did the store hold content for any of these sectors, before the write that is being judged? */
static bool is_stored(void *ctx, u64 sector, u32 sectors)
{
	struct implicit *im = ctx;
	struct store *store = im->d->store;
	u64 block = sector >> store->block_shift;
	u64 last = (sector + sectors - 1) >> store->block_shift;
	struct rt_range r;

	for (; block <= last; block += r.len) {
		store_lookup(store, block, &r);
		if (r.kind >= RT_STORED)
			return true;
	}
	return false;
}

/* Making and unmaking */

struct implicit *implicit_create(struct david *d)
{
	/* As large as a page or more, and so aligned as its page wants to be. */
	struct implicit *im = kzalloc(roundup_pow_of_two(sizeof(*im)), GFP_KERNEL);

	void *shared;

	if (!im)
		return NULL;
	im->wq = alloc_workqueue("dm-david-learn", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	shared = kvzalloc(classifier_shared_bytes(), GFP_KERNEL);
	if (!im->wq || !shared) {
		if (im->wq)
			destroy_workqueue(im->wq);
		kvfree(shared);
		kfree(im);
		return NULL;
	}
	im->d = d;
	spin_lock_init(&im->lock);
	init_waitqueue_head(&im->learnt);
	INIT_WORK(&im->work, implicit_work);
	INIT_DELAYED_WORK(&im->again, implicit_again);
	classifier_init(&im->c, shared, d->ti->len, LOG_LIMIT);
	/* Page owners need no inodes to tell. */
	if (d->classify == CLASSIFY_IMPLICIT) {
		classifier_remember(&im->c, (u64)d->unclassified << 20);
		implicit_choose(im);
		classifier_stored(&im->c, is_stored, im);
		if (!INJECTED(alone))
			classifier_alone(&im->c);
		if (INJECTED(placed))
			im->c.volumes.doubt = false;
	}
	im->stopped = true;
	atomic64_add(sizeof(*im) + classifier_shared_bytes(), &d->store->figures->classify_bytes);
	classifier_by_super(&im->c);
	/* Page owners say nothing of partitions. */
	if (d->classify == CLASSIFY_AUTO)
		classifier_only_whole(&im->c);
	/* Nobody else has it yet, but implicit_set_watch() wants the lock. */
	spin_lock(&im->lock);
	implicit_set_watch(im);
	spin_unlock(&im->lock);
	return im;
}

static void implicit_release(const void *memory)
{
	kvfree(memory);
}

void implicit_destroy(struct implicit *im)
{
	struct figures *figures;

	if (!im)
		return;
	figures = im->d->store->figures;
	cancel_delayed_work_sync(&im->again);
	cancel_work_sync(&im->work);
	destroy_workqueue(im->wq);
	atomic64_sub(im->accounted.now, &figures->unclassified[DAVID_UNCLASSIFIED_NOW]);
	atomic64_sub(sizeof(*im) + classifier_shared_bytes() + classifier_bytes(&im->c),
		     &figures->classify_bytes);
	classifier_destroy(&im->c, implicit_release);
	kfree(im);
}

void implicit_stop(struct implicit *im)
{
	spin_lock(&im->lock);
	im->stopped = true;
	im->busy = false;
	spin_unlock(&im->lock);
	wake_up(&im->learnt);
	cancel_delayed_work_sync(&im->again);
	flush_work(&im->work);
}

void implicit_start(struct implicit *im)
{
	spin_lock(&im->lock);
	im->stopped = false;
	implicit_wake(im);
	spin_unlock(&im->lock);
}
