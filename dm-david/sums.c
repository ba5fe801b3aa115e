// SPDX-License-Identifier: GPL-2.0
/* Checksums of squashed blocks on a live disk: see sums.h. */
#include "sums.h"

#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "crcforge.h"
#include "david.h"

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
	u64 places;			/* chunks that have one in the store, under store->lock */
	struct mutex lock;		/* guards the following; workers only */
	void *page;			/* a chunk's image */
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

int sums_create(struct david *d)
{
	struct store *store = d->store;
	struct sums *sums;

	INIT_WORK(&d->sums.evict, evict_work);
	d->owners.tell_btrfs = d->sums.mode == SUMS_AUTO &&
			       (d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT);
	d->owners.checksums = d->sums.mode == SUMS_ON;
	if (d->sums.mode == SUMS_OFF || READ_ONCE(store->sums))
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
	crcforge_init(&sums->forge, SUMS_UNIT, SUMS_UNIT - 4);
	/* Two tables may be loaded at once. */
	if (cmpxchg(&store->sums, NULL, sums))
		sums_destroy(sums);
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

void sums_tell(struct david *d, bool yes)
{
	if (d->sums.mode != SUMS_AUTO)
		return;
	WRITE_ONCE(d->sums.told, yes);
	if (yes)
		WRITE_ONCE(d->owners.checksums, true);
}

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
	if (READ_ONCE(d->sums.told))
		return SUMS_KEPT;
	if (!watch->tell_btrfs || !watch->btrfs_holder ||
	    READ_ONCE(watch->bdev->bd_holder) != READ_ONCE(watch->btrfs_holder))
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
	crct_set(&sums->table, unit, units, crc);
	WRITE_ONCE(store->has_sums, true);
	too_much = over(sums);
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(too_much))
		queue_work(d->wq, &d->sums.evict);
	return CRCT_DONE;
}

/* Dropping them */

enum crct_result sums_drop(struct store *store, u64 block, u64 blocks, struct crct_want *want)
{
	unsigned long flags;
	u64 unit, units, done;

	units = units_within(store, block, blocks, &unit);
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

void sums_forget(struct store *store, u64 block, u64 blocks)
{
	unsigned long flags;
	u64 unit, units, done;

	units = units_within(store, block, blocks, &unit);
	while (units) {
		spin_lock_irqsave(&store->lock, flags);
		done = forget(store, unit, units);
		spin_unlock_irqrestore(&store->lock, flags);
		unit += done;
		units -= done;
	}
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
		if (chunk && old == CRCT_NOWHERE) {
			place = store_alloc_run(store, CRCT_IMAGE / store->block_size);
			sums->places += place != BM_NONE;
		}
		if (chunk)
			crct_pack(chunk, sums->page);
		spin_unlock_irqrestore(&store->lock, flags);
		good = true;
		if (!chunk)
			continue;
		good = place != BM_NONE &&
		       !backing_io(d, place, CRCT_IMAGE, REQ_OP_WRITE | REQ_META);
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
	static const struct crct_want one = { .chunks = 1 };
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
	} while (r == -ENOMEM);
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
	st->checksums[DAVID_SUMS_STORE] = sums->places * (CRCT_IMAGE / store->block_size);
	st->checksums[DAVID_SUMS_LOADS] = sums->table.loads;
	st->checksums[DAVID_SUMS_EVICTIONS] = sums->table.evictions;
}
