// SPDX-License-Identifier: GPL-2.0
/* The packer: see packer.h. */
#include "packer.h"

#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "../base/inject.h"
#include "../owner/owner.h"
#include "../store/packs.h"
#include "io.h"

#define WALK_RANGES	64	/* looked at in one hold of store->lock */

struct packer {
	struct david *d;
	struct packed *packed;
	struct pack_maker maker;
	struct squeeze *squeeze;
	void *page;		/* a block, as it was read to be coded */
	struct pack_step step;
};

/* One block of a pack takes its place. The request has the block's range lock. */
enum served serve_pack(struct david_io *io)
{
	struct pack_step *step = io->pack;
	struct store *store = io->d->store;
	struct block_device *bdev = io->d->dev->bdev;
	struct rt_range r;
	int error = 0;

	step->done = PACK_CHANGED;
	store_lookup(store, io_first_block(io), &r);
	if (r.kind == RT_STORED)
		error = metapages_io(store, bdev, r.value, &step->now, 1, REQ_OP_READ | REQ_META);
	if (r.kind == RT_STORED && !error)
		error = packs_read(store, bdev, step->number, r.start, step->packed);
	if (error) {
		step->done = PACK_ERROR;
	} else if (r.kind == RT_STORED &&
		   (!memcmp(step->now, step->packed, SQUEEZE_BLOCK) || INJECTED(stale))) {
		r.len = 1;
		r.kind = RT_PACKED;
		r.value = step->number;
		step->done = store_set(store, &r, GFP_NOIO) ? PACK_DONE : PACK_REFUSED;
	}
	io_advance(io, io->iter.bi_size);
	return SERVED;
}

/* Ask for p->step, of @block. */
static int request_step(struct packer *p, u64 block)
{
	struct store *store = p->d->store;
	struct bio bio;
	int error;

	bio_init(&bio, p->d->dev->bdev, NULL, 0, REQ_OP_DISCARD | REQ_META);
	bio.bi_iter.bi_size = store->block_size;
	error = david_internal_request(p->d, &bio, block << store->block_shift, &p->step);
	bio_uninit(&bio);
	return error;
}

/* The table has as many ranges as a disk may have, and half of them are left for its user. */
static bool table_has_room(struct store *store)
{
	u64 limit = wal_ranges_limit(store), ranges = 0;
	unsigned long flags;
	unsigned int kind;

	spin_lock_irqsave(&store->lock, flags);
	for (kind = 0; kind < RT_KINDS; kind++)
		ranges += store->table.ranges[kind];
	if (store->table_limit && rt_bytes(&store->table) > store->table_limit / 2)
		limit = 1;
	spin_unlock_irqrestore(&store->lock, flags);
	return !limit || ranges <= limit / 2;
}

static bool may_go_on(struct packer *p)
{
	struct packed *packed = p->packed;

	if (READ_ONCE(p->d->pack_stopped))
		packed->stopped = "suspended";
	else if (fatal_signal_pending(current))
		packed->stopped = "killed";
	else if (!table_has_room(p->d->store))
		packed->stopped = "table";
	return !packed->stopped;
}

/* The next block that is stored, from *@block on. */
static bool next_stored(struct store *store, u64 *block)
{
	unsigned long flags;
	struct rt_range r;
	unsigned int i;

	while (*block < FORMAT_META) {
		spin_lock_irqsave(&store->lock, flags);
		for (i = 0; i < WALK_RANGES && *block < FORMAT_META; i++) {
			rt_lookup(&store->table, *block, &r);
			if (r.kind == RT_STORED)
				break;
			*block = r.start + r.len;
		}
		spin_unlock_irqrestore(&store->lock, flags);
		if (*block < FORMAT_META && i < WALK_RANGES)
			return true;
		cond_resched();
	}
	return false;
}

/* Put the blocks of pack @number there, each by itself. */
static int enter_blocks(struct packer *p, u64 number)
{
	struct packed *packed = p->packed;
	u32 i;

	p->step.number = number;
	for (i = 0; i < p->maker.pieces; i++) {
		u64 block = le64_to_cpu(pack_piece_at(p->maker.pack, i)->block);
		int error;

		if (!may_go_on(p))
			break;
		error = request_step(p, block);
		if (error)
			return error;
		if (p->step.done == PACK_ERROR)
			return -EIO;
		if (p->step.done == PACK_REFUSED) {
			packed->stopped = "table";
			break;
		}
		packed->blocks += p->step.done == PACK_DONE;
		packed->changed += p->step.done == PACK_CHANGED;
		cond_resched();
	}
	return 0;
}

/* The pack is full, or the disk has ended. */
static int end_pack(struct packer *p)
{
	struct store *store = p->d->store;
	u32 pages;
	u64 number;
	int error;

	if (!p->maker.pieces)
		return 0;
	number = packs_number(store);
	pages = pack_seal(&p->maker, number);
	if (pages >= p->maker.pieces) {
		p->packed->long_ones += p->maker.pieces;
		return 0;
	}
	error = packs_enter(store, p->d->dev->bdev, number, p->maker.pack, pages);
	if (error == -ENOSPC) {
		p->packed->stopped = "full";
		return 0;
	}
	if (!error) {
		p->packed->packs++;
		p->packed->places += pages;
		error = enter_blocks(p, number);
	}
	return error;
}

static int pack_block(struct packer *p, u64 block)
{
	int error = david_internal_block(p->d, p->page, block, REQ_OP_READ);
	enum pack_added added;

	if (error)
		return error;
	added = pack_add(&p->maker, p->squeeze, block, p->page);
	if (added == PACK_FULL) {
		error = end_pack(p);
		pack_begin(&p->maker);
		if (error || p->packed->stopped)
			return error;
		added = pack_add(&p->maker, p->squeeze, block, p->page);
	}
	p->packed->long_ones += added == PACK_LONG;
	return 0;
}

/* From behind the superblocks on: they are read before the disk is in use, and often written. */
static int pack_all(struct packer *p)
{
	struct store *store = p->d->store;
	u64 block = DIV_ROUND_UP(FS_SUPERS_END, 1u << store->block_shift);
	int error = 0;

	pack_begin(&p->maker);
	for (; !error && may_go_on(p) && next_stored(store, &block); block++) {
		error = pack_block(p, block);
		cond_resched();
	}
	if (!error && !p->packed->stopped)
		error = end_pack(p);
	return error;
}

static const char *why_not(const struct david *d)
{
	struct store *store = d->store;

	if (READ_ONCE(d->pack_stopped))
		return "the device is suspended";
	if (d->mode == DAVID_MODE_MODEL_ONLY)
		return "with mode=model-only nothing is in a store";
	if (store->pool)
		return "a pool's disks cannot be packed";
	if (store->exact)
		return "with exact data stored blocks may be dropped at any time: not packed";
	if (store->block_size != SQUEEZE_BLOCK)
		return "only blocks of 4096 bytes can be packed";
	if (READ_ONCE(store->no_updates))
		return "the disk is read-only";
	return NULL;
}

static bool packer_init(struct packer *p)
{
	p->maker.pack = kmalloc(PACK_BYTES, GFP_KERNEL);
	p->maker.content = kmalloc(PACK_BYTES, GFP_KERNEL);
	p->squeeze = squeeze_new(GFP_KERNEL);
	p->page = kmalloc(SQUEEZE_BLOCK, GFP_KERNEL);
	p->step.now = kmalloc(SQUEEZE_BLOCK, GFP_KERNEL);
	p->step.packed = kmalloc(SQUEEZE_BLOCK, GFP_KERNEL);
	return p->maker.pack && p->maker.content && p->squeeze && p->page && p->step.now &&
	       p->step.packed;
}

static void packer_exit(struct packer *p)
{
	kfree(p->step.packed);
	kfree(p->step.now);
	kfree(p->page);
	squeeze_free(p->squeeze);
	kfree(p->maker.content);
	kfree(p->maker.pack);
}

void packer_stop(struct david *d)
{
	WRITE_ONCE(d->pack_stopped, true);
	/* A removal does not wait for messages, and nothing is written after it has begun. */
	mutex_lock(&d->pack_lock);
	mutex_unlock(&d->pack_lock);
}

void packer_start(struct david *d)
{
	WRITE_ONCE(d->pack_stopped, false);
}

int pack_disk(struct david *d, struct packed *packed, const char **error)
{
	struct packer p = { .d = d, .packed = packed };
	struct store *store = d->store;
	int r;

	memset(packed, 0, sizeof(*packed));
	*error = "killed";
	if (mutex_lock_killable(&d->pack_lock))
		return -EINTR;
	/* Under the lock, which packer_stop() takes. */
	*error = why_not(d);
	r = -EINVAL;
	if (*error)
		goto out;
	*error = "not enough memory";
	r = -ENOMEM;
	if (!packer_init(&p) || packs_create(store))
		goto out;
	*error = "the store's superblock cannot be written";
	r = -EIO;
	if (store->wal && !wal_allow_packs(store))
		goto out;
	*error = "a block, or a pack, cannot be read or written";
	packs_fill(store, true);
	r = pack_all(&p);
	packs_fill(store, false);
	packs_sweep(store, d->dev->bdev, true);
out:
	packer_exit(&p);
	mutex_unlock(&d->pack_lock);
	return r;
}
