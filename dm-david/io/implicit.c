// SPDX-License-Identifier: GPL-2.0
/* Implicit evidence in a running kernel: see implicit.h. */
#include "implicit.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../../classifier/classifier.h"
#include "../../classifier/signature.h"
#include "../compat/compat.h"
#include "david.h"
#include "../base/inject.h"
#include "../timing/trace.h"

/* Limit of one volume's log set, bytes. mkfs.ext4 makes journals of at most 2^18 blocks. */
#define LOG_LIMIT	(4u << 20)

/* Interval of classifier_again(). */
#define AGAIN		(2 * HZ)

struct implicit {
	struct david *d;
	spinlock_t lock;		/* the classifier; process context only */
	struct classifier c;
	bool stopped;
	bool rules_going;		/* until then any file may have been chosen */
	struct undecided_figures told;	/* of classifier.undecided, what the store was told */
	bool told_full;			/* that there is no room for all names */
	bool csum_warned;		/* that there are checksums which cannot be kept */
	struct workqueue_struct *wq;	/* of the following two */
	struct work_struct work;
	struct delayed_work again;	/* look again at what is undecided */
	u8 page[CLASSIFIER_BLOCK] __aligned(CLASSIFIER_BLOCK);
};

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
	[REASON_PACKED] = DAVID_EV_UNKNOWN,
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

/* The stronger of two pieces of evidence: one that keeps, or else the more certain one. */
static enum david_evidence worse(enum david_evidence a, enum david_evidence b)
{
	static const u8 rank[DAVID_EV_NR] = {
		[DAVID_EV_LOGGED] = 1,
		[DAVID_EV_UNKNOWN] = 2,
		[DAVID_EV_UNPROVEN] = 2,
		[DAVID_EV_SELF] = 3,
		[DAVID_EV_LAYOUT] = 4,
	};

	return rank[a] < rank[b] ? b : a;
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

static void add_run(struct implied *implied, u32 end, enum david_evidence evidence, bool has_csum)
{
	unsigned int last = implied->runs - 1;

	if (implied->runs && implied->run[last].evidence == evidence &&
	    implied->run[last].has_csum == has_csum) {
		implied->run[last].end = end;
	} else if (implied->runs < IMPLIED_RUNS) {
		implied->run[implied->runs].end = end;
		implied->run[implied->runs].has_csum = has_csum;
		implied->run[implied->runs++].evidence = evidence;
	} else {
		implied->run[last].end = end;
		implied->run[last].has_csum |= has_csum;
		implied->run[last].evidence = worse(implied->run[last].evidence, evidence);
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

/*
 * The lock is held. Without a file system classify=auto need not look at what
 * cannot be the beginning of one.
 */
static void set_watch(struct implicit *im)
{
	bool all = im->d->classify != CLASSIFY_AUTO || im->c.volumes.nr;

	lockdep_assert_held(&im->lock);
	WRITE_ONCE(im->d->watch_below, all ? U64_MAX : CLASSIFIER_SUPERS_END);
}

/* The lock is held. */
static void wake_worker(struct implicit *im)
{
	lockdep_assert_held(&im->lock);
	if (im->stopped)
		return;
	if (im->c.pending)
		queue_work(im->wq, &im->work);
	if (undecided_any(&im->c.undecided))
		queue_delayed_work(im->wq, &im->again, AGAIN);
}

/* The lock is held. */
static void tell_names(struct implicit *im)
{
	bool full;

	lockdep_assert_held(&im->lock);
	atomic64_set(&im->d->store->raw_names, classifier_named(&im->c, &full));
	atomic64_set(&im->d->store->raw_names_full, full);
	if (full && !im->told_full)
		DMWARN("%s: raw: no room for all files chosen by name: everything is kept",
		       dm_table_device_name(im->d->ti->table));
	im->told_full = full;
}

/*
 * Take the user's rules over into the classifier, unless page owners apply them. The lock is held.
 */
static void take_rules(struct implicit *im)
{
	const struct raw *raw = &im->d->store->raw;
	bool any = im->d->classify == CLASSIFY_IMPLICIT && raw_any(raw);

	lockdep_assert_held(&im->lock);
	im->c.by_inode = any && raw_has_file_rules(raw);
	im->c.by_name = any && raw_has_name_rules(raw);
	im->c.by_suffix = any && raw_has_suffix_rules(raw);
}

/* Add the classifier's figures to the store's, which outlive a table. The lock is held. */
static void tell_figures(struct implicit *im)
{
	const struct undecided_figures *now = &im->c.undecided.figures;
	atomic64_t *sum = im->d->store->unclassified;

	lockdep_assert_held(&im->lock);
	if (unlikely(im->c.by_name))
		tell_names(im);
	if (!memcmp(now, &im->told, sizeof(*now)))
		return;
	atomic64_add(now->now - im->told.now, &sum[DAVID_UNCLASSIFIED_NOW]);
	atomic64_add(now->spilled - im->told.spilled, &sum[DAVID_UNCLASSIFIED_SPILLED]);
	atomic64_add(now->data - im->told.data, &sum[DAVID_UNCLASSIFIED_DATA]);
	atomic64_add(now->metadata - im->told.metadata, &sum[DAVID_UNCLASSIFIED_METADATA]);
	if (now->most > atomic64_read(&sum[DAVID_UNCLASSIFIED_MOST]))
		atomic64_set(&sum[DAVID_UNCLASSIFIED_MOST], now->most);
	im->told = *now;
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

void implicit_write(struct implicit *im, struct bio *bio, sector_t sector, struct implied *implied)
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

	implied->runs = 0;
	spin_lock(&im->lock);
	take_rules(im);
	for (pos = 0; pos < w.sectors; pos += len) {
		classifier_write(&im->c, &w, pos, &len, &reason);
		trace_david_implied(im->d->owners.disk.bdev->bd_dev, w.sector + pos, len,
				    classify_reason_name(reason));
		evidence = evidence_for(im->d, reason);
		if (reason == REASON_UNDECIDED)
			keep_signed(im, &source, w.sector, pos, len);
		if (unlikely(classifier_has_sums(&im->c) || im->d->csum.mode == CSUM_ON))
			has_csum = check_csum(im, w.sector + pos, len, reason, &evidence);
		add_run(implied, pos + len, evidence, has_csum);
	}
	/* An inode would call a swap file's blocks content. */
	if (unlikely(bio->bi_opf & REQ_SWAP))
		classifier_kept(&im->c, sector, w.sectors);
	tell_figures(im);
	set_watch(im);
	wake_worker(im);
	spin_unlock(&im->lock);
}

void implicit_discard(struct implicit *im, sector_t sector, sector_t sectors)
{
	spin_lock(&im->lock);
	classifier_discard(&im->c, sector, sectors);
	tell_figures(im);
	set_watch(im);
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

enum david_evidence implied_at(const struct implied *implied, u32 pos, u32 n)
{
	enum david_evidence evidence = DAVID_EV_IMPLIED;
	u32 begin = 0;
	unsigned int i;

	for (i = 0; i < implied->runs && begin < pos + n; i++) {
		if (implied->run[i].end > pos)
			evidence = worse(evidence, implied->run[i].evidence);
		begin = implied->run[i].end;
	}
	return begin < pos + n ? DAVID_EV_UNKNOWN : evidence;
}

bool implied_csum(const struct implied *implied, u32 pos, u32 n)
{
	u32 begin = 0;
	unsigned int i;

	for (i = 0; i < implied->runs && begin < pos + n; i++) {
		if (implied->run[i].has_csum && implied->run[i].end > pos)
			return true;
		begin = implied->run[i].end;
	}
	return false;
}

/* The worker */

/*
 * Read as the disk's user would; squashed blocks are not readable. The read takes a range lock, so
 * it waits for writes of the same blocks that are in flight.
 */
static bool read_disk(struct implicit *im, u64 sector, u32 bytes)
{
	struct david *d = im->d;
	struct bio_vec bv;
	struct rt_range r;
	struct bio bio;
	int error;
	u64 block;

	bio_init(&bio, d->dev->bdev, &bv, 1, REQ_OP_READ | REQ_META);
	__bio_add_page(&bio, virt_to_page(im->page), bytes, offset_in_page(im->page));
	error = david_internal_request(d, &bio, sector);
	bio_uninit(&bio);
	if (error)
		return false;
	for (block = sector >> d->store->block_shift;
	     block <= (sector + (bytes >> SECTOR_SHIFT) - 1) >> d->store->block_shift; block++) {
		store_lookup(d->store, block, &r);
		if (r.kind == RT_SQUASHED)
			return false;
	}
	return true;
}

/* True: there was something to do. */
static bool give_memory(struct implicit *im)
{
	size_t bytes, before;
	unsigned int noio;
	void *memory, *old = NULL;

	spin_lock(&im->lock);
	bytes = classifier_memory(&im->c);
	spin_unlock(&im->lock);
	if (!bytes)
		return false;
	noio = memalloc_noio_save();
	memory = kvzalloc(bytes, GFP_KERNEL | __GFP_NOWARN);
	memalloc_noio_restore(noio);
	spin_lock(&im->lock);
	before = classifier_bytes(&im->c);
	if (memory)
		old = classifier_give(&im->c, memory, bytes);
	else
		im->c.pending = true;	/* the next write tries again; until then all is kept */
	atomic64_add(classifier_bytes(&im->c) - before, &im->d->store->classify_bytes);
	spin_unlock(&im->lock);
	kvfree(old);
	return memory;
}

static bool learn(struct implicit *im)
{
	struct stopwatch timer;
	u64 sector;
	u32 bytes;
	bool wanted, able;

	spin_lock(&im->lock);
	wanted = classifier_want(&im->c, &sector, &bytes);
	spin_unlock(&im->lock);
	if (!wanted)
		return false;
	able = read_disk(im, sector, bytes);
	stopwatch_start(&timer, im->d->store->stats);
	spin_lock(&im->lock);
	classifier_learn(&im->c, sector, able ? im->page : NULL);
	tell_figures(im);
	set_watch(im);
	spin_unlock(&im->lock);
	stopwatch_account(&timer, DAVID_CPU_CLASSIFY);
	return true;
}

/*
 * May the stored block at @sector be squashed, as far as checksums go? If data there has checksums,
 * csum_undecided() recorded them when the block was written. The lock is held.
 */
static bool csum_allow(struct implicit *im, u64 sector)
{
	const struct david *d = im->d;

	lockdep_assert_held(&im->lock);
	switch (d->csum.mode) {
	case CSUM_OFF:
		return true;
	case CSUM_ON:
		return !READ_ONCE(d->csum.is_misaligned) && d->store->block_size == CSUM_UNIT;
	default:
		break;
	}
	switch (classifier_sums(&im->c, sector)) {
	case CLASSIFY_SUMS_NONE:
		return true;
	case CLASSIFY_SUMS_CRC32C:
		return d->store->block_size == CSUM_UNIT;
	default:
		return false;
	}
}

/* Is the block data that may be squashed, and that no rule of the user keeps? */
static bool is_data(struct implicit *im, u64 block)
{
	unsigned int shift = im->d->store->block_shift;
	bool data;

	spin_lock(&im->lock);
	data = classifier_is_data(&im->c, block << shift, 1u << shift) &&
	       csum_allow(im, block << shift);
	spin_unlock(&im->lock);
	return data && !raw_has_sectors(&im->d->store->raw, block << shift, 1u << shift);
}

static void squash_run(struct implicit *im, u64 block, u64 end)
{
	struct store *store = im->d->store;
	u64 at, start = block;
	struct rt_range r;

	/* Only stored blocks are squashed. Constant and discarded blocks stay as they are. */
	for (; block < end; block = at) {
		store_lookup(store, block, &r);
		at = r.len < end - block ? block + r.len : end;
		if (r.kind != RT_STORED)
			continue;
		r.len = at - block;
		r.value = 0;
		r.kind = RT_SQUASHED;
		/* The store refuses the update: the blocks stay kept. */
		if (!store_set(store, &r, GFP_NOIO)) {
			end = r.start;
			break;
		}
	}
	spin_lock(&im->lock);
	classifier_done(&im->c, start << store->block_shift, (end - start) << store->block_shift);
	tell_figures(im);
	spin_unlock(&im->lock);
}

void implicit_squash(struct implicit *im, sector_t sector, sector_t sectors)
{
	unsigned int shift = im->d->store->block_shift;
	u64 block = (sector + (1u << shift) - 1) >> shift;
	u64 end = (sector + sectors) >> shift;
	u64 start;

	while (block < end) {
		for (start = block; block < end && is_data(im, block); block++)
			;
		if (block > start)
			squash_run(im, start, block);
		else
			block++;
	}
}

/* True: there were blocks to squash. */
static bool squash(struct implicit *im)
{
	struct bio bio;
	u64 sector;
	u32 sectors;
	bool claimed;

	spin_lock(&im->lock);
	claimed = classifier_claim(&im->c, &sector, &sectors);
	spin_unlock(&im->lock);
	if (!claimed)
		return false;
	if (!sectors)
		return true;
	bio_init(&bio, im->d->dev->bdev, NULL, 0, REQ_OP_DISCARD | REQ_META);
	bio.bi_iter.bi_size = sectors << SECTOR_SHIFT;
	/* If it fails, the blocks stay kept. */
	david_internal_request(im->d, &bio, sector);
	bio_uninit(&bio);
	return true;
}

static void implicit_work(struct work_struct *work)
{
	struct implicit *im = container_of(work, struct implicit, work);

	/* A suspend does not wait until a long file's map is read. */
	while (!READ_ONCE(im->stopped) && (give_memory(im) || squash(im) || learn(im)))
		cond_resched();
	spin_lock(&im->lock);
	if (im->stopped)
		im->c.pending = true;
	spin_unlock(&im->lock);
}

static void implicit_again(struct work_struct *work)
{
	struct implicit *im = container_of(to_delayed_work(work), struct implicit, again);

	spin_lock(&im->lock);
	classifier_again(&im->c);
	wake_worker(im);
	spin_unlock(&im->lock);
}

/* RAW files */

static bool is_raw(void *ctx, u64 start, u32 ino)
{
	struct implicit *im = ctx;

	return im->rules_going || raw_has_inode(&im->d->store->raw, start, ino);
}

static bool is_raw_name(void *ctx, const char *name, u32 len)
{
	struct implicit *im = ctx;

	return raw_has_name(&im->d->store->raw, name, len);
}

static u32 next_raw_dir(void *ctx, u64 start, u32 after)
{
	struct implicit *im = ctx;
	u64 ino = raw_next_dir(&im->d->store->raw, start, after);

	/* ext has no larger inode numbers. */
	return ino <= U32_MAX ? ino : 0;
}

void implicit_rules_going(struct implicit *im)
{
	spin_lock(&im->lock);
	im->rules_going = true;
	spin_unlock(&im->lock);
}

void implicit_rules_gone(struct implicit *im)
{
	spin_lock(&im->lock);
	im->rules_going = false;
	take_rules(im);
	classifier_chosen_anew(&im->c);
	tell_figures(im);
	spin_unlock(&im->lock);
}

void implicit_rules_added(struct implicit *im)
{
	spin_lock(&im->lock);
	take_rules(im);
	classifier_chosen_more(&im->c);
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
		if (r.kind == RT_STORED)
			return true;
	}
	return false;
}

/* Making and unmaking */

struct implicit *implicit_create(struct david *d)
{
	/* As large as a page or more, and so aligned as its page wants to be. */
	struct implicit *im = kzalloc(roundup_pow_of_two(sizeof(*im)), GFP_KERNEL);
	struct classify_choice choice = {
		.inode = is_raw,
		.suffix = is_raw_name,
		.next_dir = next_raw_dir,
		.ctx = im,
	};

	if (!im)
		return NULL;
	im->wq = alloc_workqueue("dm-david-learn", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!im->wq) {
		kfree(im);
		return NULL;
	}
	im->d = d;
	spin_lock_init(&im->lock);
	INIT_WORK(&im->work, implicit_work);
	INIT_DELAYED_WORK(&im->again, implicit_again);
	classifier_init(&im->c, d->ti->len, LOG_LIMIT);
	/* Page owners need no inodes to tell. */
	if (d->classify == CLASSIFY_IMPLICIT) {
		classifier_remember(&im->c, (u64)d->unclassified << 20);
		classifier_choose(&im->c, &choice);
		classifier_stored(&im->c, is_stored, im);
		if (!INJECTED(alone))
			classifier_alone(&im->c);
		if (INJECTED(placed))
			im->c.volumes.doubt = false;
	}
	im->stopped = true;
	atomic64_add(sizeof(*im), &d->store->classify_bytes);
	classifier_by_super(&im->c);
	/* Page owners say nothing of partitions. */
	if (d->classify == CLASSIFY_AUTO)
		classifier_only_whole(&im->c);
	/* Nobody else has it yet, but set_watch() wants the lock. */
	spin_lock(&im->lock);
	set_watch(im);
	spin_unlock(&im->lock);
	return im;
}

static void release(const void *memory)
{
	kvfree(memory);
}

void implicit_destroy(struct implicit *im)
{
	if (!im)
		return;
	cancel_delayed_work_sync(&im->again);
	cancel_work_sync(&im->work);
	destroy_workqueue(im->wq);
	atomic64_sub(im->told.now, &im->d->store->unclassified[DAVID_UNCLASSIFIED_NOW]);
	atomic64_sub(sizeof(*im) + classifier_bytes(&im->c), &im->d->store->classify_bytes);
	classifier_destroy(&im->c, release);
	kfree(im);
}

void implicit_stop(struct implicit *im)
{
	spin_lock(&im->lock);
	im->stopped = true;
	spin_unlock(&im->lock);
	cancel_delayed_work_sync(&im->again);
	flush_work(&im->work);
}

void implicit_start(struct implicit *im)
{
	spin_lock(&im->lock);
	im->stopped = false;
	wake_worker(im);
	spin_unlock(&im->lock);
}
