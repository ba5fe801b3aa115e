// SPDX-License-Identifier: GPL-2.0
/* Checksums of squashed blocks on a live disk: see sums.h. */
#include "sums.h"

#include <linux/blkdev.h>
#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "crcforge.h"
#include "david.h"
#include "inject.h"

/* Chunks that a request may go beyond the limit before it has to make room itself. */
#define OVER_BYTES	(64 * 4096)

/* What crct_clear() may do under one hold of the lock. */
#define CLEAR_CHUNKS	16

/*
 * Never fewer in memory, whatever the limit says: a chunk that was loaded for
 * a request must stay until the request comes to use it.
 */
#define LEAST_CHUNKS	16
#define NODE_BYTES	512

/* Chunk numbers that are none. */
#define WANT_SUPER	U64_MAX
#define WANT_ROOM	(U64_MAX - 1)

enum sums_type {
	TYPE_UNKNOWN,
	TYPE_OURS,		/* crc32c of 4 KiB */
	TYPE_OTHER,
};

struct sums {
	struct crctable table;		/* under store->lock */
	u64 limit;			/* bytes, likewise; see over() */
	struct crcforge forge;
	u64 places;			/* of a store in memory: chunks that have one, likewise */
	struct mutex lock;		/* guards the following; workers only */
	void *page;			/* a chunk's image */
	u64 saves;			/* chunks saved, for statistics */
	bool stuck;			/* making room made none: nobody waits for it */
};

/* btrfs's superblock: fs/btrfs/fs.h, struct btrfs_super_block */
#define SUPER_SECTOR	128
#define SUPER_MAGIC_AT	0x40
#define SUPER_SECTOR_AT	0x90
#define SUPER_TYPE_AT	0xc4
#define SUPER_BYTES	0xc6
static const char super_magic[] = "_BHRfS_M";

static const char * const mode_names[SUMS_MODES] = {
	[SUMS_AUTO] = "auto",
	[SUMS_ON] = "on",
	[SUMS_OFF] = "off",
};

const char *sums_mode_name(enum sums_mode mode)
{
	return mode_names[mode];
}

int sums_mode_parse(const char *name)
{
	return match_string(mode_names, ARRAY_SIZE(mode_names), name);
}

/* Making and unmaking */

static void evict_work(struct work_struct *work);
static void sync_work(struct work_struct *work);

/* Of chunks that were saved: crct_last(). */
static u64 where(void *ctx, u64 number)
{
	u64 place = own_place(ctx, OWN_SUMS, number);

	return place == BM_NONE ? CRCT_NOWHERE : place;
}

int sums_create(struct david *d)
{
	struct store *store = d->store;
	struct sums *sums;

	INIT_WORK(&d->sums.evict, evict_work);
	INIT_WORK(&d->sums.sync, sync_work);
	INIT_LIST_HEAD(&d->sums.waiters);
	d->owners.tell_btrfs = d->sums.mode == SUMS_AUTO &&
			       (d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT);
	d->owners.checksums = d->sums.mode == SUMS_ON;
	if (READ_ONCE(store->sums) || (d->sums.mode == SUMS_OFF && !store->own[OWN_SUMS]))
		return 0;

	sums = kzalloc(sizeof(*sums), GFP_KERNEL);
	if (!sums)
		return -ENOMEM;
	sums->page = kmalloc(CRCT_IMAGE, GFP_KERNEL);
	if (!sums->page) {
		kfree(sums);
		return -ENOMEM;
	}
	mutex_init(&sums->lock);
	crct_init(&sums->table, 0);
	sums->limit = (u64)d->sums.megabytes << 20;
	if (store->durable)
		crct_last(&sums->table, where, store);
	crcforge_init(&sums->forge, SUMS_UNIT, SUMS_UNIT - 4);
	/* Two tables may be loaded at once. */
	if (cmpxchg(&store->sums, NULL, sums))
		sums_destroy(sums);
	if (store->own[OWN_SUMS])
		WRITE_ONCE(store->has_sums, true);
	return 0;
}

void sums_destroy(struct sums *sums)
{
	if (!sums)
		return;
	crct_destroy(&sums->table);
	kfree(sums->page);
	kfree(sums);
}

void sums_resume(struct david *d)
{
	struct store *store = d->store;
	unsigned long flags;

	if (!store->sums)
		return;
	spin_lock_irqsave(&store->lock, flags);
	store->sums->limit = (u64)d->sums.megabytes << 20;
	spin_unlock_irqrestore(&store->lock, flags);
}

/* Who is concerned */

static u8 type_of(const u8 *super)
{
	__le32 sector;
	__le16 type;

	memcpy(&sector, super + SUPER_SECTOR_AT, sizeof(sector));
	memcpy(&type, super + SUPER_TYPE_AT, sizeof(type));
	return type || le32_to_cpu(sector) != SUMS_UNIT ? TYPE_OTHER : TYPE_OURS;
}

void sums_see(struct david *d, struct bio *bio, struct bvec_iter iter, unsigned int bytes,
	      bool data)
{
	sector_t first = dm_target_offset(d->ti, bio->bi_iter.bi_sector);
	struct bvec_iter it;
	struct bio_vec bv;
	u8 super[SUPER_BYTES], *to = super;

	if (data && d->sums.mode == SUMS_ON && (first | bio_sectors(bio)) % SUMS_SECTORS &&
	    !READ_ONCE(d->sums.across)) {
		WRITE_ONCE(d->sums.across, true);
		DMWARN("%s: checksums: a write at sector %llu is not of whole 4 KiB: all is kept",
		       dm_table_device_name(d->ti->table), (u64)first);
	}
	if (likely(iter.bi_sector != SUPER_SECTOR) || bytes < SECTOR_SIZE)
		return;
	iter.bi_size = SUPER_BYTES;
	__bio_for_each_segment(bv, bio, it, iter) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
	if (!memcmp(super + SUPER_MAGIC_AT, super_magic, 8))
		WRITE_ONCE(d->sums.type, type_of(super));
}

enum sums_say sums_say(const struct david *d)
{
	const struct owner_watch *watch = &d->owners;

	if (d->sums.mode == SUMS_ON)
		return READ_ONCE(d->sums.across) ? SUMS_REFUSE : SUMS_KEPT;
	if (d->sums.mode == SUMS_OFF)
		return SUMS_NONE;
	if (!watch->tell_btrfs || !owner_is_btrfs(watch))
		return SUMS_NONE;
	/* Units are the disk's, too, and its superblock is in this target. */
	if (d->ti->begin)
		return SUMS_REFUSE;
	switch (READ_ONCE(d->sums.type)) {
	case TYPE_OURS:
		return SUMS_KEPT;
	case TYPE_OTHER:
		return SUMS_REFUSE;
	default:
		return SUMS_ASK;
	}
}

/* Units and blocks */

static u64 unit_of(const struct store *store, u64 block)
{
	return (block << store->block_shift) / SUMS_SECTORS;
}

/* The units that lie wholly within the blocks; returns how many. */
static u64 units_within(const struct store *store, u64 block, u64 blocks, u64 *unit)
{
	u64 end = ((block + blocks) << store->block_shift) / SUMS_SECTORS;

	*unit = ((block << store->block_shift) + SUMS_SECTORS - 1) / SUMS_SECTORS;
	return end > *unit ? end - *unit : 0;
}

/* store->lock is held. */
static void give_up_place(void *ctx, u64 place)
{
	struct store *store = ctx;

	/* There the range table has the places. */
	if (store->durable)
		return;
	store_free_run(store, place, CRCT_IMAGE / store->block_size);
	store->sums->places--;
}

/* Entering checksums */

static bool refill(struct store *store, const struct crct_want *want, gfp_t gfp)
{
	struct sums *sums = store->sums;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < want->chunks; i++) {
		struct crct_chunk *chunk = crct_chunk_alloc(gfp);

		if (!chunk)
			return false;
		spin_lock_irqsave(&store->lock, flags);
		crct_add_chunk(&sums->table, chunk);
		spin_unlock_irqrestore(&store->lock, flags);
	}
	for (i = 0; i < want->nodes; i++) {
		struct crct_node *node = crct_node_alloc(gfp);

		if (!node)
			return false;
		spin_lock_irqsave(&store->lock, flags);
		crct_add_node(&sums->table, node);
		spin_unlock_irqrestore(&store->lock, flags);
	}
	return true;
}

/* Of one unit after the other. */
static void calculate(struct bio *bio, struct bvec_iter iter, u32 *crc, unsigned int units)
{
	struct bvec_iter it;
	struct bio_vec bv;
	unsigned int left = SUMS_UNIT;
	u32 state = ~0u;

	iter.bi_size = units * SUMS_UNIT;
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
				left = SUMS_UNIT;
			}
		}
		kunmap_local(start);
	}
}

/*
 * Is more in memory than there may be? The index cannot leave, so it does not
 * count against the least. store->lock is held.
 */
static bool over(struct sums *sums)
{
	sums->table.limit = max(sums->limit,
				sums->table.nodes * NODE_BYTES + LEAST_CHUNKS * CRCT_IMAGE);
	return crct_over(&sums->table);
}

/* Much more in memory than there may be, and it is of use to wait for less. */
static bool far_over(struct sums *sums)
{
	return over(sums) && !READ_ONCE(sums->stuck) &&
	       crct_bytes(&sums->table) > sums->table.limit + OVER_BYTES;
}

enum crct_result sums_squash(struct david *d, const struct rt_range *r, struct bio *bio,
			     struct bvec_iter iter, gfp_t gfp, struct crct_want *want)
{
	struct store *store = d->store;
	struct sums *sums = store->sums;
	u64 unit = unit_of(store, r->start);
	unsigned int units = r->len * store->block_size / SUMS_UNIT;
	enum crct_result result;
	u32 crc[SUMS_BATCH];
	unsigned long flags;
	bool too_much;

	calculate(bio, iter, crc, units);
	for (;;) {
		spin_lock_irqsave(&store->lock, flags);
		if (unlikely(far_over(sums))) {
			spin_unlock_irqrestore(&store->lock, flags);
			want->number = WANT_ROOM;
			return CRCT_LOAD;
		}
		result = crct_promise(&sums->table, unit, units, want);
		if (result == CRCT_DONE)
			break;
		spin_unlock_irqrestore(&store->lock, flags);
		if (result == CRCT_LOAD)
			return result;
		if (!refill(store, want, gfp))
			return CRCT_MEMORY;
	}
	if (r->kind == RT_SQUASHED) {
		if (!store_promise(store, r->kind, gfp, &flags)) {
			crct_unpromise(&sums->table, unit, units, give_up_place, store);
			spin_unlock_irqrestore(&store->lock, flags);
			return CRCT_MEMORY;
		}
		store_commit(store, r);
	}
	if (INJECT_BUG(unit))
		swap(crc[0], crc[units - 1]);
	crct_set(&sums->table, unit, units, crc);
	WRITE_ONCE(store->has_sums, true);
	too_much = over(sums);
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(too_much))
		queue_work(d->wq, &d->sums.evict);
	return CRCT_DONE;
}

/* Dropping them */

/* Is any of these in a chunk that was saved and is not in memory? */
static bool any_away(struct store *store, u64 unit, u64 units, struct crct_want *want)
{
	struct crctable *table = &store->sums->table;
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

enum crct_result sums_drop(struct store *store, u64 block, u64 blocks, struct crct_want *want)
{
	unsigned long flags;
	u64 unit, units, done;

	units = units_within(store, block, blocks, &unit);
	if (store->durable && any_away(store, unit, units, want))
		return CRCT_LOAD;
	while (units) {
		spin_lock_irqsave(&store->lock, flags);
		done = crct_clear(&store->sums->table, unit, units, CLEAR_CHUNKS, give_up_place,
				  store, want);
		spin_unlock_irqrestore(&store->lock, flags);
		unit += done;
		units -= done;
		if (units && want->place != CRCT_NOWHERE)
			return CRCT_LOAD;
	}
	return CRCT_DONE;
}

/* Those of at most CLEAR_CHUNKS chunks; returns the units done. store->lock is held. */
static u64 forget(struct store *store, u64 unit, u64 units)
{
	struct crct_want want;
	u64 done, next;

	done = crct_clear(&store->sums->table, unit, units, CLEAR_CHUNKS, give_up_place, store,
			  &want);
	if (done == units || want.place == CRCT_NOWHERE)
		return done;
	/* Part of a chunk that is not in memory: leave it. */
	next = (want.number + 1) * CRCT_BLOCKS;
	return min(next - unit, units);
}

void sums_forget_few(struct store *store, u64 block, u64 blocks)
{
	u64 unit, units = units_within(store, block, blocks, &unit);

	if (units)
		forget(store, unit, units);
}

void sums_forget(struct store *store, u64 block, u64 blocks, gfp_t gfp)
{
	u64 unit, units, done, first, end;
	unsigned long flags;

	units = units_within(store, block, blocks, &unit);
	first = div_u64(unit + CRCT_BLOCKS - 1, CRCT_BLOCKS);
	end = div_u64(unit + units, CRCT_BLOCKS);
	while (units) {
		spin_lock_irqsave(&store->lock, flags);
		done = forget(store, unit, units);
		spin_unlock_irqrestore(&store->lock, flags);
		unit += done;
		units -= done;
	}
	/* Whole chunks: all that is saved of them. Without memory they stay, and mean nothing. */
	if (store->durable && end > first)
		own_forget(store, OWN_SUMS, first, end - first, gfp);
}

/* Reading */

enum crct_result sums_find(struct store *store, sector_t sector, u32 *crc, struct crct_want *want)
{
	enum crct_result result;
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	result = crct_find(&store->sums->table, sector / SUMS_SECTORS, crc, want);
	spin_unlock_irqrestore(&store->lock, flags);
	return result;
}

void sums_forge(struct store *store, void *content, u32 crc)
{
	crcforge_block(&store->sums->forge, content, crc);
}

bool sums_touches(struct store *store, unsigned int pos, unsigned int len)
{
	return crcforge_touches(&store->sums->forge, pos, len);
}

/* Workers */

/* At @place, from or to sums->page. */
static int backing_io(struct david *d, u64 place, unsigned int bytes, blk_opf_t opf)
{
	void *page = d->store->sums->page;
	struct bio_vec bv;
	struct bio bio;
	int error;

	bio_init(&bio, d->dev->bdev, &bv, 1, opf);
	bio.bi_iter.bi_sector = place << d->store->block_shift;
	__bio_add_page(&bio, virt_to_page(page), bytes, offset_in_page(page));
	error = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return error;
}

/*
 * In a store that lasts: @chunk was written to @place, or not (@written), or is empty
 * and needs none (CRCT_NOWHERE). Enter that, and let it leave memory if it is to (@evict).
 */
static blk_status_t enter_chunk(struct david *d, struct crct_chunk *chunk, u64 place,
				bool written, bool evict)
{
	struct store *store = d->store;
	struct crctable *table = &store->sums->table;
	bool empty = place == CRCT_NOWHERE, good;
	blk_status_t status = BLK_STS_IOERR;
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	good = written;
	if (good && !store_promise(store, empty ? RT_HOLE : RT_STORED, GFP_NOIO, &flags)) {
		status = store_refused(store);
		good = false;
	}
	if (good) {
		status = BLK_STS_OK;
		if (empty && !crct_is_empty(chunk)) {
			/* Not any more. */
			rt_unpromise(&store->table);
			good = false;
		} else {
			own_move(store, OWN_SUMS, crct_number(chunk), 1, place);
		}
	} else if (!empty) {
		store_free_run(store, place, own_page_blocks(store));
	}
	if (evict)
		crct_evicted(table, chunk, place, good, give_up_place, store);
	else
		crct_saved(table, chunk, place, good, give_up_place, store);
	spin_unlock_irqrestore(&store->lock, flags);
	return status;
}

/* Pages for images: at least the one that is always there. Returns how many. */
static unsigned int get_images(struct sums *sums, void **image, unsigned int most)
{
	unsigned int n;

	image[0] = sums->page;
	for (n = 1; n < most; n++) {
		image[n] = kmalloc(CRCT_IMAGE, GFP_NOWAIT | __GFP_NOWARN);
		if (!image[n])
			break;
	}
	return n;
}

/* Save at most OWN_BATCH chunks, by one write. Sets *@done to how many. sums->lock is held. */
static blk_status_t save_some(struct david *d, u64 most, u64 *done)
{
	struct store *store = d->store;
	struct sums *sums = store->sums;
	struct crct_chunk *chunk[OWN_BATCH];
	unsigned int blocks = own_page_blocks(store), images, full = 0, n = 0, i;
	blk_status_t status = BLK_STS_OK, entered;
	void *image[OWN_BATCH];
	u64 place[OWN_BATCH], dest;
	unsigned long flags;
	bool written = true;

	images = get_images(sums, image, min_t(u64, most, OWN_BATCH));
	spin_lock_irqsave(&store->lock, flags);
	most = images;
	dest = store_alloc_run(store, most * blocks, &flags);
	if (dest == BM_NONE && most > 1) {
		most = 1;
		dest = store_alloc_run(store, blocks, &flags);
	}
	while (dest != BM_NONE && n < most && (chunk[n] = crct_save(&sums->table))) {
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
	if (dest == BM_NONE && !durable_wait_free(store, GFP_NOIO))
		status = BLK_STS_NOSPC;
	if (full)
		written = !own_io(store, d->dev->bdev, dest, image, full,
				  REQ_OP_WRITE | REQ_META | REQ_SYNC);
	for (i = 0; i < n; i++) {
		entered = enter_chunk(d, chunk[i], place[i],
				      written || place[i] == CRCT_NOWHERE, false);
		status = status ?: entered;
	}
	sums->saves += full;
	for (i = 1; i < images; i++)
		kfree(image[i]);
	return status;
}

/* Save the @left oldest of the unsaved. sums->lock is held. */
static blk_status_t save(struct david *d, u64 left)
{
	struct sums *sums = d->store->sums;
	blk_status_t status = BLK_STS_OK;
	unsigned int noio = memalloc_noio_save();
	u64 done;

	while (left && !status && READ_ONCE(sums->table.unsaved)) {
		status = save_some(d, left, &done);
		left -= done;
		cond_resched();
	}
	memalloc_noio_restore(noio);
	if (status)
		DMERR_LIMIT("%s: checksums: %llu chunks cannot be written: %s",
			    dm_table_device_name(d->ti->table), sums->table.unsaved,
			    status == BLK_STS_NOSPC ? "the store is full" : "error");
	return status;
}

/* Durable what is in the log; checksums are, or cannot be (@status). */
static void sync_log(struct david *d, struct durable_wait *wait, blk_status_t status)
{
	if (!status) {
		if (durable_sync(d->store, wait))
			return;
		if (wait->flush)
			status = errno_to_blk_status(blkdev_issue_flush(d->dev->bdev));
	}
	wait->done(wait, status);
}

static void sync_work(struct work_struct *work)
{
	struct david *d = container_of(work, struct david, sums.sync);
	struct store *store = d->store;
	struct sums *sums = store->sums;
	struct durable_wait *wait, *next;
	blk_status_t status;
	unsigned long flags;
	LIST_HEAD(waiters);
	u64 left;

	mutex_lock(&sums->lock);
	spin_lock_irqsave(&store->lock, flags);
	list_splice_init(&d->sums.waiters, &waiters);
	/* Under the mutex none is leaving: the oldest are those that they wait for. */
	left = sums->table.unsaved;
	spin_unlock_irqrestore(&store->lock, flags);
	status = save(d, left);
	mutex_unlock(&sums->lock);

	list_for_each_entry_safe(wait, next, &waiters, list) {
		list_del_init(&wait->list);
		sync_log(d, wait, status);
	}
}

bool sums_sync(struct david *d, struct durable_wait *wait)
{
	struct store *store = d->store;
	struct sums *sums = READ_ONCE(store->sums);
	unsigned long flags;

	/* A flush speaks of what completed before it: that is seen here. */
	if (!sums || !READ_ONCE(sums->table.unsaved) || INJECT_BUG(sums))
		return false;
	spin_lock_irqsave(&store->lock, flags);
	list_add_tail(&wait->list, &d->sums.waiters);
	spin_unlock_irqrestore(&store->lock, flags);
	queue_work(d->wq, &d->sums.sync);
	return true;
}

void sums_stop(struct david *d)
{
	struct store *store = d->store;
	struct sums *sums = store->sums;

	if (!sums || !store->durable || store->refuses)
		return;
	mutex_lock(&sums->lock);
	if (sums->table.unsaved && !INJECT_BUG(sums))
		save(d, U64_MAX);
	mutex_unlock(&sums->lock);
}

/* Write chunks to the store until there is room, one after the other. sums->lock is held. */
static void make_room(struct david *d)
{
	struct store *store = d->store;
	struct sums *sums = store->sums;
	struct crct_chunk *chunk;
	u64 place, old, before, rounds;
	unsigned long flags;
	bool good;

	before = sums->table.evictions;
	/* Each is a bounded search: after one round all are marked as not used. */
	rounds = 2 + sums->table.resident / 64;
	do {
		spin_lock_irqsave(&store->lock, flags);
		chunk = over(sums) ? crct_evict(&sums->table, &place) : NULL;
		old = place;
		if (chunk && (old == CRCT_NOWHERE || store->durable)) {
			place = store_alloc_run(store, CRCT_IMAGE / store->block_size,
						&flags);
			sums->places += place != BM_NONE && !store->durable;
		}
		if (chunk)
			crct_pack(chunk, sums->page);
		spin_unlock_irqrestore(&store->lock, flags);
		good = true;
		if (!chunk)
			continue;
		good = place != BM_NONE &&
		       !backing_io(d, place, CRCT_IMAGE, REQ_OP_WRITE | REQ_META);
		if (store->durable && place != BM_NONE) {
			good = !enter_chunk(d, chunk, place, good, true);
			continue;
		}
		spin_lock_irqsave(&store->lock, flags);
		crct_evicted(&sums->table, chunk, place, good, give_up_place, store);
		if (!good && old == CRCT_NOWHERE && place != BM_NONE)
			give_up_place(store, place);
		spin_unlock_irqrestore(&store->lock, flags);
		cond_resched();
	} while (good && crct_over(&sums->table) && (chunk || rounds--));
	/* What left memory is in the reserve. */
	for (;;) {
		spin_lock_irqsave(&store->lock, flags);
		chunk = sums->table.spare_chunks > 2 ? crct_take_chunk(&sums->table) : NULL;
		spin_unlock_irqrestore(&store->lock, flags);
		if (!chunk)
			break;
		crct_chunk_free(chunk);
	}
	WRITE_ONCE(sums->stuck, crct_over(&sums->table) && sums->table.evictions == before);
}

static void evict_work(struct work_struct *work)
{
	struct david *d = container_of(work, struct david, sums.evict);
	struct sums *sums = d->store->sums;

	mutex_lock(&sums->lock);
	make_room(d);
	mutex_unlock(&sums->lock);
}

/* sums->lock is held. */
static blk_status_t load(struct david *d, const struct crct_want *want)
{
	struct crct_want one = { .chunks = 1 };
	struct store *store = d->store;
	struct sums *sums = store->sums;
	struct crct_want left;
	unsigned long flags;
	bool too_much;
	int r;

	if (backing_io(d, want->place, CRCT_IMAGE, REQ_OP_READ | REQ_META | REQ_SYNC))
		return BLK_STS_IOERR;
	do {
		if (!refill(store, &one, GFP_NOIO))
			return BLK_STS_RESOURCE;
		spin_lock_irqsave(&store->lock, flags);
		r = crct_load(&sums->table, want, sums->page);
		if (r == -EBADMSG)
			crct_clear(&sums->table, want->number * CRCT_BLOCKS, CRCT_BLOCKS, 1,
				   give_up_place, store, &left);
		too_much = over(sums);
		spin_unlock_irqrestore(&store->lock, flags);
		/* It may not be in the tree, either. */
		one.nodes = CRCT_PATH;
	} while (r == -ENOMEM);
	if (r && store->durable)
		own_forget(store, OWN_SUMS, want->number, 1, GFP_NOIO);
	if (r)
		DMERR("%s: checksums of %u blocks are lost: backing block %llu was changed",
		      dm_table_device_name(d->ti->table), CRCT_BLOCKS, want->place);
	if (too_much)
		queue_work(d->wq, &d->sums.evict);
	return r ? BLK_STS_IOERR : BLK_STS_OK;
}

/* sums->lock is held. */
static void read_super(struct david *d)
{
	struct store *store = d->store;
	u8 type = TYPE_OTHER;
	struct rt_range r;
	u8 *page = store->sums->page;

	store_lookup(store, SUPER_SECTOR >> store->block_shift, &r);
	if (r.kind == RT_STORED &&
	    !backing_io(d, r.value, store->block_size, REQ_OP_READ | REQ_META | REQ_SYNC) &&
	    !memcmp(page + SUPER_MAGIC_AT, super_magic, 8))
		type = type_of(page);
	/* A superblock that was written meanwhile knows better. */
	cmpxchg(&d->sums.type, TYPE_UNKNOWN, type);
}

blk_status_t sums_fetch(struct david *d, const struct crct_want *want)
{
	struct sums *sums = d->store->sums;
	blk_status_t status = BLK_STS_OK;
	unsigned int noio;

	mutex_lock(&sums->lock);
	noio = memalloc_noio_save();
	if (want->number == WANT_SUPER)
		read_super(d);
	else if (want->number == WANT_ROOM)
		make_room(d);
	else
		status = load(d, want);
	memalloc_noio_restore(noio);
	mutex_unlock(&sums->lock);
	return status;
}

void sums_want_super(struct crct_want *want)
{
	want->number = WANT_SUPER;
}

void sums_stats(const struct store *store, struct david_stats *st)
{
	const struct sums *sums = store->sums;

	if (!sums)
		return;
	st->mem[DAVID_MEM_CHECKSUMS] = sizeof(*sums) + CRCT_IMAGE + crct_bytes(&sums->table);
	st->checksums[DAVID_SUMS_BLOCKS] = sums->table.entries;
	st->checksums[DAVID_SUMS_STORE] = store->own[OWN_SUMS] +
					  sums->places * (CRCT_IMAGE / store->block_size);
	st->checksums[DAVID_SUMS_LOADS] = sums->table.loads;
	st->checksums[DAVID_SUMS_EVICTIONS] = sums->table.evictions;
	st->checksums[DAVID_SUMS_SAVES] = sums->saves;
}
