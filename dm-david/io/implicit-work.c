// SPDX-License-Identifier: GPL-2.0
/*
 * The worker of implicit evidence. It reads the blocks that the classifier asks for, gives it
 * memory, and squashes undecided blocks that turned out to be data.
 */
#include "implicit-internal.h"

#include <linux/delay.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../base/inject.h"
#include "david.h"

/*
 * Read as the disk's user would; squashed blocks are not readable. The read takes a range lock, so
 * it waits for writes of the same blocks that are in flight.
 */
static bool implicit_read_disk(struct implicit *im, u64 sector, u32 bytes)
{
	struct david *d = im->d;
	struct rt_range r;
	u64 block;

	if (david_internal_page(d, im->page, sector, bytes, REQ_OP_READ))
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
static bool implicit_give_memory(struct implicit *im)
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
	atomic64_add(classifier_bytes(&im->c) - before, &im->d->store->figures->classify_bytes);
	spin_unlock(&im->lock);
	kvfree(old);
	return memory;
}

static bool implicit_learn(struct implicit *im)
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
	able = implicit_read_disk(im, sector, bytes);
	stopwatch_start(&timer, im->d->store->stats);
	spin_lock(&im->lock);
	classifier_learn(&im->c, sector, able ? im->page : NULL);
	implicit_account(im);
	implicit_set_watch(im);
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

	/* Only stored and packed blocks are squashed. Constant and discarded ones stay. */
	for (; block < end; block = at) {
		store_lookup(store, block, &r);
		at = r.len < end - block ? block + r.len : end;
		if (r.kind < RT_STORED)
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
	implicit_account(im);
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
static bool implicit_discard_data(struct implicit *im)
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
	david_internal_request(im->d, &bio, sector, NULL);
	bio_uninit(&bio);
	return true;
}

void implicit_work(struct work_struct *work)
{
	struct implicit *im = container_of(work, struct implicit, work);

	if (INJECTED(slow) || INJECTED(hasty))
		msleep(300);
	/* A suspend does not wait until a long file's map is read. */
	while (!READ_ONCE(im->stopped) &&
	       (implicit_give_memory(im) || implicit_discard_data(im) || implicit_learn(im))) {
		wake_up(&im->learnt);
		cond_resched();
	}
	spin_lock(&im->lock);
	if (im->stopped)
		im->c.pending = true;
	im->busy = work_pending(&im->work);
	spin_unlock(&im->lock);
	wake_up(&im->learnt);
}

void implicit_again(struct work_struct *work)
{
	struct implicit *im = container_of(to_delayed_work(work), struct implicit, again);

	spin_lock(&im->lock);
	classifier_again(&im->c);
	implicit_wake(im);
	spin_unlock(&im->lock);
}
