// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks that another disk of the pool has already (store/share.h), as the legs of a mirror do.
 *
 * A block that is to be kept is looked for by its checksum. If there seems to be one, this disk
 * joins it, reads it, and compares it with what is to be written. Only if all bytes are equal does
 * the block become this disk's, by an entry in its table; nothing is written. What an earlier write
 * has in flight is waited for first: md sends the legs of a mirror one after the other at once.
 *
 * Bytes are compared after the block was written and read again. So it does not matter whether
 * checksums collide, or whether somebody changes a page while it is being written. The block has,
 * byte for byte, what the request has at that moment, and it does not change any more.
 *
 * If the bytes differ, the request is served again from that block on, without looking for others.
 */
#include "io.h"

#include <linux/highmem.h>

#include "../base/inject.h"
#include "../portable/crc.h"

#define RUN	32	/* blocks offered at once */

u32 io_crc32c(const struct bio *bio, struct bvec_iter iter, unsigned int bytes)
{
	struct bvec_iter at;
	struct bio_vec bv;
	u32 sum = ~0u;
	void *p;

	iter.bi_size = bytes;
	__bio_for_each_segment(bv, bio, at, iter) {
		p = bvec_kmap_local(&bv);
		sum = crc_update(CRC_32C, sum, p, bv.bv_len);
		kunmap_local(p);
	}
	return sum;
}

static bool is_equal(struct bio *bio, struct bvec_iter iter, const void *block)
{
	struct bvec_iter at;
	struct bio_vec bv;
	bool equal = true;
	void *p;

	__bio_for_each_segment(bv, bio, at, iter) {
		p = bvec_kmap_local(&bv);
		equal = equal && !memcmp(p, block, bv.bv_len);
		kunmap_local(p);
		block += bv.bv_len;
	}
	return equal;
}

/* The block that was waited for is written, or will never be. */
static void share_wait_over(struct share_waiter *waiter)
{
	io_put(container_of(waiter, struct david_io, share_wait));
}

static enum served wait_for(struct david_io *io, u64 dest)
{
	io->share_wait.dest = dest;
	io->share_wait.done = share_wait_over;
	atomic_inc(&io->pending);
	/* If it is done by now, a worker finds it at once. */
	if (!share_wait(io->d->store->share, &io->share_wait))
		atomic_dec(&io->pending);
	return SERVED_DEFER;
}

/* Enter @piece, which this disk wants to join, under a reservation. SERVED_FAILED: it cannot. */
static enum served piece_join(struct david_io *io, const struct piece *piece, gfp_t gfp)
{
	struct store *store = io->d->store;
	enum served served = SERVED;
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	if (!store_reserve(store, RT_STORED, gfp, &flags)) {
		served = SERVED_DEFER;
	} else if (piece->dest < store->bitmap.size &&
		   share_join(store->share, store->pool_slot, piece->dest)) {
		store->held++;
	} else {
		rt_unreserve(&store->table);
		served = SERVED_FAILED;
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return served;
}

/* Read the block at piece->dest, and compare. @own: it is in the table already. */
static enum served read_and_compare(struct david_io *io, struct piece *piece, bool own)
{
	enum served served;

	piece->blocks = 1;
	piece->commit = !own;
	served = read_block(io, piece, piece->dest, 0, io->d->store->block_size, BOUNCE_COMPARE);
	if (served != SERVED)
		piece_abort(io->d->store, piece);
	return served;
}

/*
 * Look for the next block elsewhere. @own: what it replaces, or BM_NONE. SERVED_FAILED: it is to be
 * written.
 */
static enum served find_block(struct david_io *io, struct piece *piece,
			      const struct share_block *block, u64 own)
{
	struct store *store = io->d->store;
	gfp_t gfp = io_gfp(io);
	enum served served;

	switch (share_look(store->share, store->pool_slot, block, own, &piece->dest)) {
	case SHARE_WAIT:
		return wait_for(io, piece->dest);
	case SHARE_OWN:
		/* To be durable it is written: whether it was since the last flush nobody knows. */
		if (io->bio->bi_opf & REQ_FUA && !INJECTED(unflushed))
			return SERVED_FAILED;
		/* It is to be kept from now on, whatever it was stored for. */
		if (store->exact && !INJECTED(retained))
			exact_clear(store, own, 1);
		return read_and_compare(io, piece, true);
	case SHARE_THERE:
		break;
	default:
		return SERVED_FAILED;
	}
	served = piece_join(io, piece, gfp);
	if (served == SERVED)
		return read_and_compare(io, piece, false);
	/* A worker could sleep for the reservation: writing the block fails with the reason. */
	return served == SERVED_DEFER && gfpflags_allow_blocking(gfp) ? SERVED_FAILED : served;
}

/* The checksums of the blocks of @piece, up to one that may be found elsewhere. Cuts @piece. */
static void sum_run(struct david_io *io, struct piece *piece, struct share_block *block, u64 own)
{
	struct store *store = io->d->store;
	struct bvec_iter iter = io->iter;
	u64 n = min_t(u64, piece->blocks, RUN), i, dest;

	for (i = 1; i < n; i++) {
		bio_advance_iter(io->bio, &iter, store->block_size);
		block[i].block = piece->block + i;
		block[i].sum = io_crc32c(io->bio, iter, store->block_size);
		if (share_look(store->share, store->pool_slot, &block[i],
			       own == BM_NONE ? own : own + i, &dest) != SHARE_NONE)
			break;
	}
	piece->blocks = i;
}

enum served write_shared(struct david_io *io, struct stopwatch *timer, bool may_remap,
			 struct piece *piece)
{
	struct store *store = io->d->store;
	enum served served;
	struct share_block block[RUN];
	struct rt_range r;
	u64 own, i;

	store_lookup(store, piece->block, &r);
	own = r.kind == RT_STORED ? r.value : BM_NONE;
	piece->blocks = min(piece->blocks, r.len);
	block[0].block = piece->block;
	block[0].sum = io_crc32c(io->bio, io->iter, store->block_size);
	served = find_block(io, piece, block, own);
	if (served != SERVED_FAILED)
		return served;
	sum_run(io, piece, block, own);
	served = piece_place(io, piece, io_gfp(io));
	if (served != SERVED)
		return served;
	for (i = 0; i < piece->blocks; i++)
		share_offer(store->share, store->pool_slot, &block[i], piece->dest + i);
	piece->offered = true;
	served = send_piece(io, timer, piece, 0, piece->blocks * store->block_size, may_remap);
	if (served == SERVED_DEFER)
		piece_abort(store, piece);
	return served;
}

enum served write_shared_part(struct david_io *io, const struct rt_range *r, unsigned int offset,
			      unsigned int bytes)
{
	struct piece piece = { .block = r->start, .blocks = 1 };
	enum served served = piece_place(io, &piece, io_gfp(io));

	if (served != SERVED)
		return served;
	served = read_block(io, &piece, r->value, offset, bytes, BOUNCE_RMW);
	if (served == SERVED_DEFER)
		piece_abort(io->d->store, &piece);
	return served;
}

blk_status_t share_compared(struct child_bio *child)
{
	struct david_io *io = child->io;
	void *p = kmap_local_page(child->bounce);
	bool equal = !child->bio.bi_status &&
		     (is_equal(io->bio, child->iter, p) || INJECTED(unread));

	kunmap_local(p);
	return equal ? BLK_STS_OK : BLK_STS_IOERR;
}

void share_differs(struct david_io *io, const struct bvec_iter *part)
{
	unsigned int done = (part->bi_sector - io_first_sector(io)) << SECTOR_SHIFT;
	unsigned int left = io->bio->bi_iter.bi_size - done;

	lockdep_assert_held(&io->d->store->lock);
	io->unshared = max(io->unshared, left);
}

void share_again(struct david_io *io)
{
	unsigned int left = io->unshared;

	io->unshared = INJECTED(recounted) ? io->bio->bi_iter.bi_size : io->iter.bi_size;
	io->at_end |= END_AGAIN;
	io->iter = io->bio->bi_iter;
	io->iter.bi_sector = io_first_sector(io);
	io_advance(io, io->iter.bi_size - left);
}

u64 share_counted_blocks(const struct david_io *io, u64 block, u64 blocks)
{
	unsigned int done = io->bio->bi_iter.bi_size - io->unshared;
	sector_t end = io_first_sector(io) + (done >> SECTOR_SHIFT);

	end >>= io->d->store->block_shift;
	return end > block ? min_t(u64, end - block, blocks) : 0;
}

void share_read(struct david_io *io, const struct piece *piece, struct bvec_iter iter)
{
	struct store *store = io->d->store;
	struct share_block block;
	u64 i;

	for (i = 0; i < piece->blocks; i++) {
		block.block = piece->block + i;
		block.sum = io_crc32c(io->bio, iter, store->block_size);
		share_learn(store->share, store->pool_slot, &block, piece->dest + i);
		bio_advance_iter(io->bio, &iter, store->block_size);
	}
}
