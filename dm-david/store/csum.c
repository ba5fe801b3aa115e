// SPDX-License-Identifier: GPL-2.0
/* Checksums of squashed blocks on a live disk: see csum.h. */
#include "csum.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../lib/crcforge.h"
#include "../base/inject.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

/* A request may exceed the limit by so many bytes before it has to make room itself. */
#define OVER_BYTES	(64 * 4096)

/* Chunks that crct_clear() may take under one hold of the lock. */
#define CLEAR_CHUNKS	16

/*
 * So many chunks stay in memory, whatever the limit is: a chunk that was loaded for a request must
 * stay until the request has used it.
 */
#define LEAST_CHUNKS	16
#define NODE_BYTES	512

/* Not the number of a chunk: csum_fetch() is to make room in memory. */
#define WANT_ROOM	(U64_MAX - 1)

struct csums {
	struct crctable table;		/* under store->lock */
	u64 limit;			/* bytes, likewise; see is_over_limit() */
	struct crcforge forge;
	u64 places;			/* of a store in memory: chunks that have one, likewise */
	struct mutex lock;		/* guards the following; workers only */
	void *page;			/* a chunk's image */
	u64 saves;			/* chunks saved, for statistics */
	bool stuck;			/* making room made none: nobody waits for it */
};

/* Making and unmaking */

static void evict_work(struct work_struct *work);
static void sync_work(struct work_struct *work);

/* Of chunks that were saved: crct_last(). */
static u64 saved_place(void *ctx, u64 number)
{
	u64 place = metapage_place(ctx, META_CSUM, number);

	return place == BM_NONE ? CRCT_NOWHERE : place;
}

int csum_create(struct csum_io *io, bool wanted)
{
	struct store *store = io->store;
	struct csums *csums;

	INIT_WORK(&io->evict, evict_work);
	INIT_WORK(&io->sync, sync_work);
	INIT_LIST_HEAD(&io->waiters);
	if (READ_ONCE(store->csums) || (!wanted && !store->meta_pages[META_CSUM]))
		return 0;

	csums = kzalloc(sizeof(*csums), GFP_KERNEL);
	if (!csums)
		return -ENOMEM;
	csums->page = kmalloc(CRCT_IMAGE, GFP_KERNEL);
	if (!csums->page) {
		kfree(csums);
		return -ENOMEM;
	}
	mutex_init(&csums->lock);
	crct_init(&csums->table, 0);
	csums->limit = (u64)io->megabytes << 20;
	if (store->wal)
		crct_last(&csums->table, saved_place, store);
	crcforge_init(&csums->forge, CSUM_UNIT, CSUM_UNIT - 4);
	/* Two tables may be loaded at once. */
	if (cmpxchg(&store->csums, NULL, csums))
		csum_destroy(csums);
	if (store->meta_pages[META_CSUM])
		WRITE_ONCE(store->has_csums, true);
	return 0;
}

void csum_destroy(struct csums *csums)
{
	if (!csums)
		return;
	crct_destroy(&csums->table);
	kfree(csums->page);
	kfree(csums);
}

void csum_resume(struct csum_io *io)
{
	struct store *store = io->store;
	unsigned long flags;

	if (!store->csums)
		return;
	spin_lock_irqsave(&store->lock, flags);
	store->csums->limit = (u64)io->megabytes << 20;
	spin_unlock_irqrestore(&store->lock, flags);
}

/* Units and blocks */

static u64 unit_of(const struct store *store, u64 block)
{
	return (block << store->block_shift) / CSUM_SECTORS;
}

/* The units that lie wholly within the blocks; returns how many. */
static u64 units_within(const struct store *store, u64 block, u64 blocks, u64 *unit)
{
	u64 end = ((block + blocks) << store->block_shift) / CSUM_SECTORS;

	*unit = ((block << store->block_shift) + CSUM_SECTORS - 1) / CSUM_SECTORS;
	return end > *unit ? end - *unit : 0;
}

/* store->lock is held. */
static void give_up_place(void *ctx, u64 place)
{
	struct store *store = ctx;

	lockdep_assert_held(&store->lock);
	/* In a store with a log the range table has the places. */
	if (store->wal)
		return;
	store_free_run(store, place, CRCT_IMAGE / store->block_size);
	store->csums->places--;
}

/* Entering checksums */

static bool refill_reserves(struct store *store, const struct crct_want *want, gfp_t gfp)
{
	struct csums *csums = store->csums;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < want->chunks; i++) {
		struct crct_chunk *chunk = crct_chunk_alloc(gfp);

		if (!chunk)
			return false;
		spin_lock_irqsave(&store->lock, flags);
		crct_add_chunk(&csums->table, chunk);
		spin_unlock_irqrestore(&store->lock, flags);
	}
	for (i = 0; i < want->nodes; i++) {
		struct crct_node *node = crct_node_alloc(gfp);

		if (!node)
			return false;
		spin_lock_irqsave(&store->lock, flags);
		crct_add_node(&csums->table, node);
		spin_unlock_irqrestore(&store->lock, flags);
	}
	return true;
}

/* Of one unit after the other. */
static void csum_units(struct bio *bio, struct bvec_iter iter, u32 *crc, unsigned int units)
{
	struct bvec_iter it;
	struct bio_vec bv;
	unsigned int left = CSUM_UNIT;
	u32 state = ~0u;

	iter.bi_size = units * CSUM_UNIT;
	__bio_for_each_segment(bv, bio, it, iter) {
		const u8 *start = bvec_kmap_local(&bv), *p = start, *end = p + bv.bv_len;

		while (p < end) {
			unsigned int n = min_t(size_t, left, end - p);

			state = crc_update(CRC_32C, state, p, n);
			p += n;
			left -= n;
			if (!left) {
				*crc++ = ~state;
				state = ~0u;
				left = CSUM_UNIT;
			}
		}
		kunmap_local(start);
	}
}

/*
 * Is more in memory than the limit? The index always stays in memory, so LEAST_CHUNKS are allowed
 * on top of it. store->lock is held.
 */
static bool is_over_limit(struct store *store)
{
	struct csums *csums = store->csums;

	lockdep_assert_held(&store->lock);
	csums->table.limit = max(csums->limit,
				 csums->table.nodes * NODE_BYTES + LEAST_CHUNKS * CRCT_IMAGE);
	return crct_over(&csums->table);
}

/* Is so much more in memory that a request has to wait, and would waiting help? */
static bool is_far_over_limit(struct store *store)
{
	struct csums *csums = store->csums;

	return is_over_limit(store) && !READ_ONCE(csums->stuck) &&
	       crct_bytes(&csums->table) > csums->table.limit + OVER_BYTES;
}

enum crct_result csum_squash(struct csum_io *io, const struct rt_range *r, struct bio *bio,
			     struct bvec_iter iter, gfp_t gfp, struct crct_want *want)
{
	struct store *store = io->store;
	struct csums *csums = store->csums;
	u64 unit = unit_of(store, r->start);
	unsigned int units = r->len * store->block_size / CSUM_UNIT;
	enum crct_result result;
	u32 crc[CSUM_BATCH];
	unsigned long flags;
	bool too_much;

	csum_units(bio, iter, crc, units);
	for (;;) {
		spin_lock_irqsave(&store->lock, flags);
		if (unlikely(is_far_over_limit(store))) {
			spin_unlock_irqrestore(&store->lock, flags);
			want->number = WANT_ROOM;
			return CRCT_LOAD;
		}
		result = crct_reserve(&csums->table, unit, units, want);
		if (result == CRCT_DONE)
			break;
		spin_unlock_irqrestore(&store->lock, flags);
		if (result == CRCT_LOAD)
			return result;
		if (!refill_reserves(store, want, gfp))
			return CRCT_MEMORY;
	}
	if (r->kind == RT_SQUASHED) {
		if (!store_reserve(store, r->kind, gfp, &flags)) {
			crct_unreserve(&csums->table, unit, units, give_up_place, store);
			spin_unlock_irqrestore(&store->lock, flags);
			return CRCT_MEMORY;
		}
		store_commit(store, r);
	}
	if (INJECTED(unit))
		swap(crc[0], crc[units - 1]);
	crct_set(&csums->table, unit, units, crc);
	WRITE_ONCE(store->has_csums, true);
	too_much = is_over_limit(store);
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(too_much))
		queue_work(io->wq, &io->evict);
	return CRCT_DONE;
}

/* Dropping them */

/* Is any of these units in a chunk that was saved and is not in memory? */
static bool any_not_resident(struct store *store, u64 unit, u64 units, struct crct_want *want)
{
	struct crctable *table = &store->csums->table;
	u64 end = unit + units;
	enum crct_result r = CRCT_NONE;
	unsigned long flags;
	u32 crc;

	spin_lock_irqsave(&store->lock, flags);
	for (; unit < end && r != CRCT_LOAD; unit = (div_u64(unit, CRCT_BLOCKS) + 1) * CRCT_BLOCKS)
		r = crct_find(table, unit, &crc, want);
	spin_unlock_irqrestore(&store->lock, flags);
	return r == CRCT_LOAD;
}

enum crct_result csum_invalidate(struct store *store, u64 block, u64 blocks, struct crct_want *want)
{
	unsigned long flags;
	u64 unit, units, done;

	units = units_within(store, block, blocks, &unit);
	if (store->wal && any_not_resident(store, unit, units, want))
		return CRCT_LOAD;
	while (units) {
		spin_lock_irqsave(&store->lock, flags);
		done = crct_clear(&store->csums->table, unit, units, CLEAR_CHUNKS, give_up_place,
				  store, want);
		spin_unlock_irqrestore(&store->lock, flags);
		unit += done;
		units -= done;
		if (units && want->place != CRCT_NOWHERE)
			return CRCT_LOAD;
	}
	return CRCT_DONE;
}

/* Drop checksums of at most CLEAR_CHUNKS chunks. Returns the units done. store->lock is held. */
static u64 invalidate_units(struct store *store, u64 unit, u64 units)
{
	struct crct_want want;
	u64 done, next;

	lockdep_assert_held(&store->lock);
	done = crct_clear(&store->csums->table, unit, units, CLEAR_CHUNKS, give_up_place, store,
			  &want);
	if (done == units || want.place == CRCT_NOWHERE)
		return done;
	/* Part of a chunk that is not in memory: leave it. */
	next = (want.number + 1) * CRCT_BLOCKS;
	return min(next - unit, units);
}

void csum_invalidate_cached_locked(struct store *store, u64 block, u64 blocks)
{
	u64 unit, units = units_within(store, block, blocks, &unit);

	lockdep_assert_held(&store->lock);
	if (units)
		invalidate_units(store, unit, units);
}

void csum_invalidate_cached(struct store *store, u64 block, u64 blocks, gfp_t gfp)
{
	u64 unit, units, done, first, end;
	unsigned long flags;

	units = units_within(store, block, blocks, &unit);
	first = div_u64(unit + CRCT_BLOCKS - 1, CRCT_BLOCKS);
	end = div_u64(unit + units, CRCT_BLOCKS);
	while (units) {
		spin_lock_irqsave(&store->lock, flags);
		done = invalidate_units(store, unit, units);
		spin_unlock_irqrestore(&store->lock, flags);
		unit += done;
		units -= done;
	}
	/*
	 * Forget whole chunks that are saved. Without memory they stay, and their content is
	 * ignored.
	 */
	if (store->wal && end > first)
		metapages_forget(store, META_CSUM, first, end - first, gfp);
}

/* Reading */

enum crct_result csum_find(struct store *store, sector_t sector, u32 *crc, struct crct_want *want)
{
	enum crct_result result;
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	result = crct_find(&store->csums->table, sector / CSUM_SECTORS, crc, want);
	spin_unlock_irqrestore(&store->lock, flags);
	return result;
}

void csum_forge(struct store *store, void *content, u32 crc)
{
	crcforge_block(&store->csums->forge, content, crc);
}

bool csum_touches(struct store *store, unsigned int pos, unsigned int len)
{
	return crcforge_touches(&store->csums->forge, pos, len);
}

/* Workers */

/* At @place, from or to csums->page. */
static int backing_io(struct csum_io *io, u64 place, unsigned int bytes, blk_opf_t opf)
{
	void *page = io->store->csums->page;
	struct bio_vec bv;
	struct bio bio;
	int error;

	bio_init(&bio, io->bdev, &bv, 1, opf);
	bio.bi_iter.bi_sector = place << io->store->block_shift;
	__bio_add_page(&bio, virt_to_page(page), bytes, offset_in_page(page));
	error = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return error;
}

/*
 * For a store with a log. @written: @chunk was written to @place, or is empty and needs no place
 * (CRCT_NOWHERE). Enters the place into the range table. @evict: @chunk may leave memory then.
 */
static blk_status_t enter_chunk(struct csum_io *io, struct crct_chunk *chunk, u64 place,
				bool written, bool evict)
{
	struct store *store = io->store;
	struct crctable *table = &store->csums->table;
	bool empty = place == CRCT_NOWHERE, good;
	blk_status_t status = BLK_STS_IOERR;
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	good = written;
	if (good && !store_reserve(store, empty ? RT_HOLE : RT_STORED, GFP_NOIO, &flags)) {
		status = store_refused(store);
		good = false;
	}
	if (good) {
		status = BLK_STS_OK;
		if (empty && !crct_is_empty(chunk)) {
			/* Not any more. */
			rt_unreserve(&store->table);
			good = false;
		} else {
			metapages_move(store, META_CSUM, crct_number(chunk), 1, place);
		}
	} else if (!empty) {
		store_free_run(store, place, metapage_blocks(store));
	}
	if (evict)
		crct_evicted(table, chunk, place, good, give_up_place, store);
	else
		crct_saved(table, chunk, place, good, give_up_place, store);
	spin_unlock_irqrestore(&store->lock, flags);
	return status;
}

/* Get pages for images, at least csums->page. Returns how many. */
static unsigned int get_images(struct csums *csums, void **image, unsigned int most)
{
	unsigned int n;

	image[0] = csums->page;
	for (n = 1; n < most; n++) {
		image[n] = kmalloc(CRCT_IMAGE, GFP_NOWAIT | __GFP_NOWARN);
		if (!image[n])
			break;
	}
	return n;
}

/*
 * Save at most META_BATCH chunks, by one write. Sets *@done to how many. *@barren is that of
 * store_find_room(). csums->lock is held.
 */
static blk_status_t save_batch(struct csum_io *io, u64 most, u64 *done, bool *barren)
{
	struct store *store = io->store;
	struct csums *csums = store->csums;
	struct crct_chunk *chunk[META_BATCH];
	unsigned int blocks = metapage_blocks(store), images, full = 0, n = 0, i;
	blk_status_t status = BLK_STS_OK, entered;
	void *image[META_BATCH];
	u64 place[META_BATCH], dest;
	unsigned long flags;
	bool written = true;

	lockdep_assert_held(&csums->lock);
	images = get_images(csums, image, min_t(u64, most, META_BATCH));
	spin_lock_irqsave(&store->lock, flags);
	most = images;
	dest = store_alloc_run(store, most * blocks, &flags);
	if (dest == BM_NONE && most > 1) {
		most = 1;
		dest = store_alloc_run(store, blocks, &flags);
	}
	while (dest != BM_NONE && n < most && (chunk[n] = crct_save(&csums->table))) {
		place[n] = CRCT_NOWHERE;
		if (!crct_is_empty(chunk[n])) {
			crct_pack(chunk[n], image[full]);
			place[n] = dest + full++ * blocks;
		}
		n++;
	}
	if (dest != BM_NONE && full < most)
		store_free_run(store, dest + full * blocks, (most - full) * blocks);
	spin_unlock_irqrestore(&store->lock, flags);

	*done = n;
	if (dest == BM_NONE && !store_find_room(store, barren))
		status = BLK_STS_NOSPC;
	if (full)
		written = !metapages_io(store, io->bdev, dest, image, full,
				  REQ_OP_WRITE | REQ_META | REQ_SYNC);
	for (i = 0; i < n; i++) {
		entered = enter_chunk(io, chunk[i], place[i],
				      written || place[i] == CRCT_NOWHERE, false);
		status = status ?: entered;
	}
	csums->saves += full;
	for (i = 1; i < images; i++)
		kfree(image[i]);
	return status;
}

/* Save the @left oldest of the unsaved. csums->lock is held. */
static blk_status_t save_oldest(struct csum_io *io, u64 left)
{
	struct csums *csums = io->store->csums;
	blk_status_t status = BLK_STS_OK;
	unsigned int noio = memalloc_noio_save();
	bool barren = false;
	u64 done;

	lockdep_assert_held(&csums->lock);
	while (left && !status && READ_ONCE(csums->table.unsaved)) {
		status = save_batch(io, left, &done, &barren);
		left -= done;
		cond_resched();
	}
	memalloc_noio_restore(noio);
	if (status)
		DMERR_LIMIT("%s: checksums: %llu chunks cannot be written: %s",
			    io->name, csums->table.unsaved,
			    status == BLK_STS_NOSPC ? "the store is full" : "error");
	return status;
}

/* The checksums are durable, or with @status cannot be: go on with the log. */
static void sync_log(struct csum_io *io, struct wal_waiter *wait, blk_status_t status)
{
	if (!status) {
		if (wal_sync(io->store, wait))
			return;
		if (wait->flush)
			status = errno_to_blk_status(blkdev_issue_flush(io->bdev));
	}
	wait->done(wait, status);
}

static void sync_work(struct work_struct *work)
{
	struct csum_io *io = container_of(work, struct csum_io, sync);
	struct store *store = io->store;
	struct csums *csums = store->csums;
	struct wal_waiter *wait, *next;
	blk_status_t status;
	unsigned long flags;
	LIST_HEAD(waiters);
	u64 left;

	mutex_lock(&csums->lock);
	spin_lock_irqsave(&store->lock, flags);
	list_splice_init(&io->waiters, &waiters);
	/* Under the mutex no chunk is being evicted. So the oldest ones are those they wait for. */
	left = csums->table.unsaved;
	spin_unlock_irqrestore(&store->lock, flags);
	status = save_oldest(io, left);
	mutex_unlock(&csums->lock);

	list_for_each_entry_safe(wait, next, &waiters, list) {
		list_del_init(&wait->list);
		sync_log(io, wait, status);
	}
}

bool csum_sync(struct csum_io *io, struct wal_waiter *wait)
{
	struct store *store = io->store;
	struct csums *csums = READ_ONCE(store->csums);
	unsigned long flags;

	/* A flush covers writes that have completed. Their unsaved chunks are visible here. */
	if (!csums || !READ_ONCE(csums->table.unsaved) || INJECTED(sums))
		return false;
	spin_lock_irqsave(&store->lock, flags);
	list_add_tail(&wait->list, &io->waiters);
	spin_unlock_irqrestore(&store->lock, flags);
	queue_work(io->wq, &io->sync);
	return true;
}

void csum_stop(struct csum_io *io)
{
	struct store *store = io->store;
	struct csums *csums = store->csums;

	if (!csums || !store->wal || store->no_updates)
		return;
	mutex_lock(&csums->lock);
	if (csums->table.unsaved && !INJECTED(sums))
		save_oldest(io, U64_MAX);
	mutex_unlock(&csums->lock);
}

/* Write chunks to the store until there is room, one after the other. csums->lock is held. */
static void evict_chunks(struct csum_io *io)
{
	struct store *store = io->store;
	struct csums *csums = store->csums;
	struct crct_chunk *chunk;
	u64 place, old, before, rounds;
	unsigned long flags;
	bool good, no_place, barren = false;

	lockdep_assert_held(&csums->lock);
	before = csums->table.evictions;
	/* Each is a bounded search: after one round all are marked as not used. */
	rounds = 2 + csums->table.resident / 64;
	do {
		spin_lock_irqsave(&store->lock, flags);
		chunk = is_over_limit(store) ? crct_evict(&csums->table, &place) : NULL;
		old = place;
		if (chunk && (old == CRCT_NOWHERE || store->wal)) {
			place = store_alloc_run(store, CRCT_IMAGE / store->block_size,
						&flags);
			csums->places += place != BM_NONE && !store->wal;
		}
		if (chunk)
			crct_pack(chunk, csums->page);
		spin_unlock_irqrestore(&store->lock, flags);
		good = true;
		if (!chunk)
			continue;
		no_place = place == BM_NONE;
		good = !no_place &&
		       !backing_io(io, place, CRCT_IMAGE, REQ_OP_WRITE | REQ_META);
		if (store->wal && place != BM_NONE) {
			good = !enter_chunk(io, chunk, place, good, true);
			continue;
		}
		spin_lock_irqsave(&store->lock, flags);
		crct_evicted(&csums->table, chunk, place, good, give_up_place, store);
		if (!good && old == CRCT_NOWHERE && place != BM_NONE)
			give_up_place(store, place);
		spin_unlock_irqrestore(&store->lock, flags);
		good |= no_place && store_find_room(store, &barren);
		cond_resched();
	} while (good && crct_over(&csums->table) && (chunk || rounds--));
	/* What left memory is in the reserve. */
	for (;;) {
		spin_lock_irqsave(&store->lock, flags);
		chunk = csums->table.spare_chunks > 2 ? crct_take_chunk(&csums->table) : NULL;
		spin_unlock_irqrestore(&store->lock, flags);
		if (!chunk)
			break;
		crct_chunk_free(chunk);
	}
	WRITE_ONCE(csums->stuck, crct_over(&csums->table) && csums->table.evictions == before);
}

static void evict_work(struct work_struct *work)
{
	struct csum_io *io = container_of(work, struct csum_io, evict);
	struct csums *csums = io->store->csums;

	mutex_lock(&csums->lock);
	evict_chunks(io);
	mutex_unlock(&csums->lock);
}

/* csums->lock is held. */
static blk_status_t load_chunk(struct csum_io *io, const struct crct_want *want)
{
	struct crct_want one = { .chunks = 1 };
	struct store *store = io->store;
	struct csums *csums = store->csums;
	struct crct_want left;
	unsigned long flags;
	bool too_much;
	int r;

	lockdep_assert_held(&csums->lock);
	if (backing_io(io, want->place, CRCT_IMAGE, REQ_OP_READ | REQ_META | REQ_SYNC))
		return BLK_STS_IOERR;
	do {
		if (!refill_reserves(store, &one, GFP_NOIO))
			return BLK_STS_RESOURCE;
		spin_lock_irqsave(&store->lock, flags);
		r = crct_load(&csums->table, want, csums->page);
		if (r == -EBADMSG)
			crct_clear(&csums->table, want->number * CRCT_BLOCKS, CRCT_BLOCKS, 1,
				   give_up_place, store, &left);
		too_much = is_over_limit(store);
		spin_unlock_irqrestore(&store->lock, flags);
		/* It may not be in the tree, either. */
		one.nodes = CRCT_PATH;
	} while (r == -ENOMEM);
	if (r && store->wal)
		metapages_forget(store, META_CSUM, want->number, 1, GFP_NOIO);
	if (r)
		DMERR("%s: checksums of %u blocks are lost: backing block %llu was changed",
		      io->name, CRCT_BLOCKS, want->place);
	if (too_much)
		queue_work(io->wq, &io->evict);
	return r ? BLK_STS_IOERR : BLK_STS_OK;
}

blk_status_t csum_fetch(struct csum_io *io, const struct crct_want *want)
{
	struct csums *csums = io->store->csums;
	blk_status_t status = BLK_STS_OK;
	unsigned int noio;

	mutex_lock(&csums->lock);
	noio = memalloc_noio_save();
	if (want->number == WANT_ROOM)
		evict_chunks(io);
	else
		status = load_chunk(io, want);
	memalloc_noio_restore(noio);
	mutex_unlock(&csums->lock);
	return status;
}

void csum_stats(const struct store *store, struct david_stats *st)
{
	const struct csums *csums = store->csums;

	lockdep_assert_held(&store->lock);
	if (!csums)
		return;
	st->mem[DAVID_MEM_CHECKSUMS] = sizeof(*csums) + CRCT_IMAGE + crct_bytes(&csums->table);
	st->checksums[DAVID_SUMS_BLOCKS] = csums->table.entries;
	st->checksums[DAVID_SUMS_STORE] = store->meta_pages[META_CSUM] +
					  csums->places * (CRCT_IMAGE / store->block_size);
	st->checksums[DAVID_SUMS_LOADS] = csums->table.loads;
	st->checksums[DAVID_SUMS_EVICTIONS] = csums->table.evictions;
	st->checksums[DAVID_SUMS_SAVES] = csums->saves;
}
