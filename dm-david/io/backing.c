// SPDX-License-Identifier: GPL-2.0
/*
 * Stored blocks: where a block is on the backing device, and the bios that go there.
 *
 * If one piece is all of the request, the clone that device-mapper made is remapped. Otherwise each
 * piece is a child bio. If the backing device cannot read or write so small a part of a block, a
 * bounce page holds the block: it is read, modified and written.
 */
#include "io.h"

#include <linux/delay.h>
#include <linux/highmem.h>

#include "../base/inject.h"
#include "../store/pool.h"

#define MIN_CHILDREN	16
#define MIN_BOUNCES	4

void piece_commit_or_abort(struct store *store, const struct piece *piece, blk_status_t status)
{
	struct rt_range r = {
		.start = piece->block,
		.len = piece->blocks,
		.value = piece->dest,
		.kind = RT_STORED,
	};

	lockdep_assert_held(&store->lock);
	if (unlikely(piece->offered))
		share_written(store->share, store->pool_slot, piece->dest, piece->blocks, !status);
	if (!piece->commit)
		return;
	/* The write failed: the block keeps its old content. */
	if (status) {
		store_abort(store, piece->dest, piece->blocks);
		return;
	}
	store_commit(store, &r);
	if (unlikely(store->has_csums) && !piece->evictable && !piece->has_csum)
		csum_invalidate_cached_locked(store, r.start, r.len);
}

void piece_abort(struct store *store, const struct piece *piece)
{
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	piece_commit_or_abort(store, piece, BLK_STS_RESOURCE);
	spin_unlock_irqrestore(&store->lock, flags);
	piece_wake(store, piece);
}

void copy_to_request(struct david_io *io, struct bvec_iter start, void *from)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	__bio_for_each_segment(bv, io->bio, iter, start) {
		memcpy_to_bvec(&bv, from);
		from += bv.bv_len;
	}
}

void copy_from_request(struct david_io *io, struct bvec_iter start, void *to)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	if (bio_op(io->bio) == REQ_OP_WRITE_ZEROES) {
		memset(to, 0, start.bi_size);
		return;
	}
	__bio_for_each_segment(bv, io->bio, iter, start) {
		memcpy_from_bvec(to, &bv);
		to += bv.bv_len;
	}
}

static void rmw_work(struct work_struct *work);

static void child_free(struct child_bio *child)
{
	struct david_io *io = child->io;

	if (child->bounce)
		mempool_free(child->bounce, &io->d->bounces);
	bio_put(&child->bio);
	io_put(io);
}

/* Another disk's block was read. It is this disk's, too, or the request is served again. */
static noinline void end_compare(struct child_bio *child)
{
	struct store *store = child->io->d->store;
	blk_status_t differs = share_compared(child);
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	piece_commit_or_abort(store, &child->piece, differs);
	if (differs)
		share_differs(child->io, &child->iter);
	spin_unlock_irqrestore(&store->lock, flags);
	child_free(child);
}

static void learn_work(struct work_struct *work)
{
	struct child_bio *child = container_of(work, struct child_bio, work);

	share_read(child->io, &child->piece, child->iter);
	child_free(child);
}

/* Other disks may join what was read: a look at each block, which may be hard interrupt context. */
static noinline void child_learn(struct child_bio *child)
{
	if (child->piece.blocks <= 1) {
		share_read(child->io, &child->piece, child->iter);
		child_free(child);
		return;
	}
	INIT_WORK(&child->work, learn_work);
	queue_work(child->io->d->rmw_wq, &child->work);
}

static void child_endio(struct bio *bio)
{
	struct child_bio *child = container_of(bio, struct child_bio, bio);
	struct david_io *io = child->io;
	struct store *store = io->d->store;
	unsigned long flags;
	void *p;

	if (unlikely(child->use == BOUNCE_COMPARE)) {
		end_compare(child);
		return;
	}
	if (unlikely(child->bounce && child->use != BOUNCE_WRITTEN) && !bio->bi_status) {
		if (child->use == BOUNCE_RMW) {
			/* This may be hard interrupt context. */
			INIT_WORK(&child->work, rmw_work);
			queue_work(io->d->rmw_wq, &child->work);
			return;
		}
		p = kmap_local_page(child->bounce);
		copy_to_request(io, child->iter, p + child->offset);
		kunmap_local(p);
	}

	if (unlikely(child->piece.learn) && !bio->bi_status) {
		child_learn(child);
		return;
	}
	if (child->piece.commit | child->piece.offered) {
		spin_lock_irqsave(&store->lock, flags);
		piece_commit_or_abort(store, &child->piece, bio->bi_status);
		spin_unlock_irqrestore(&store->lock, flags);
		piece_wake(store, &child->piece);
	}
	if (unlikely(bio->bi_status))
		WRITE_ONCE(io->status, bio->bi_status);
	child_free(child);
}

void child_init(struct david_io *io, struct bio *bio, const struct piece *piece,
		unsigned int offset, struct page *bounce)
{
	struct child_bio *child = container_of(bio, struct child_bio, bio);

	child->io = io;
	child->piece = *piece;
	child->bounce = bounce;
	child->use = BOUNCE_WRITTEN;
	bio->bi_iter.bi_sector = (piece->dest << io->d->store->block_shift) +
				 (offset >> SECTOR_SHIFT);
	bio->bi_end_io = child_endio;
}

void child_submit(struct david_io *io, struct bio *bio)
{
	atomic_inc(&io->pending);
	submit_bio_noacct(bio);
}

/* The block was read into the bounce page: modify it and write it back. */
static void rmw_work(struct work_struct *work)
{
	struct child_bio *child = container_of(work, struct child_bio, work);
	struct david_io *io = child->io;
	struct bio *bio = &child->bio;
	void *p;

	p = kmap_local_page(child->bounce);
	copy_from_request(io, child->iter, p + child->offset);
	kunmap_local(p);
	bio_reset(bio, io->d->dev->bdev, bounce_opf(io));
	bio_clone_blkg_association(bio, io->bio);
	bio->bi_ioprio = io->bio->bi_ioprio;
	__bio_add_page(bio, child->bounce, io->d->store->block_size, 0);
	child_init(io, bio, &child->piece, 0, child->bounce);
	submit_bio_noacct(bio);
}

enum served read_block(struct david_io *io, const struct piece *piece, u64 from,
		       unsigned int offset, unsigned int bytes, enum bounce_use use)
{
	struct david *d = io->d;
	gfp_t gfp = io_gfp(io);
	struct page *page;
	struct child_bio *child;
	struct bio *bio;

	page = mempool_alloc(&d->bounces, gfp);
	if (!page)
		return SERVED_DEFER;
	bio = bio_alloc_bioset(d->dev->bdev, 1,
			       REQ_OP_READ | (io->bio->bi_opf & REQ_SYNC),
			       gfp, &d->child_bios);
	if (!bio) {
		mempool_free(page, &d->bounces);
		return SERVED_DEFER;
	}
	bio->bi_ioprio = io->bio->bi_ioprio;
	bio_clone_blkg_association(bio, io->bio);
	__bio_add_page(bio, page, d->store->block_size, 0);
	child_init(io, bio, piece, 0, page);
	bio->bi_iter.bi_sector = from << d->store->block_shift;
	child = container_of(bio, struct child_bio, bio);
	child->use = use;
	child->offset = offset;
	child->iter = io->iter;
	child->iter.bi_size = bytes;
	io_advance(io, bytes);
	child_submit(io, bio);
	return SERVED;
}

/* send_piece() by a child bio. */
static noinline enum served send_part(struct david_io *io, struct stopwatch *timer,
				      const struct piece *piece, unsigned int offset,
				      unsigned int bytes)
{
	struct david *d = io->d;
	struct bio *bio;
	bool waits;

	stopwatch_account(timer, DAVID_CPU_MAP);
	/*
	 * The model has the request: its submitter must not try again, as send_again() has it. So
	 * one that would not have waited is sent by a worker, which may.
	 */
	waits = io->bio->bi_opf & REQ_NOWAIT && io->at_end & END_TIMED && !INJECTED(refused);
	if (unlikely(waits) && !io->in_worker)
		return SERVED_DEFER;
	bio = bio_alloc_clone(d->dev->bdev, io->bio, io_gfp(io), &d->child_bios);
	if (!bio)
		return SERVED_DEFER;
	if (unlikely(waits))
		bio->bi_opf &= ~REQ_NOWAIT;
	bio->bi_iter = io->iter;
	bio->bi_iter.bi_size = bytes;
	child_init(io, bio, piece, offset, NULL);
	if (unlikely(piece->learn))
		container_of(bio, struct child_bio, bio)->iter = io->iter;
	child_submit(io, bio);
	io_advance(io, bytes);
	stopwatch_account(timer, DAVID_CPU_IO);
	return SERVED;
}

/* The clone itself goes to the destination of @piece, which io->remapped_piece is. */
static __always_inline enum served piece_remap(struct david_io *io, const struct piece *piece,
					       unsigned int offset)
{
	io->remapped = true;
	bio_set_dev(io->bio, io->d->dev->bdev);
	io->bio->bi_iter.bi_sector = (piece->dest << io->d->store->block_shift) +
				     (offset >> SECTOR_SHIFT);
	io->iter.bi_size = 0;
	if (unlikely(io->bio->bi_opf & REQ_NOWAIT))
		io->sent = (struct sent){ io->bio->bi_iter, io->bio->bi_flags };
	return SERVED_REMAPPED;
}

enum served send_piece(struct david_io *io, struct stopwatch *timer, const struct piece *piece,
		       unsigned int offset, unsigned int bytes, bool may_remap)
{
	if (!may_remap || bytes != io->bio->bi_iter.bi_size)
		return send_part(io, timer, piece, offset, bytes);
	io->remapped_piece = *piece;
	return piece_remap(io, piece, offset);
}

/* The content at the destination of @piece is about to be replaced. store->lock is held. */
static void exact_replace(struct david *d, const struct piece *piece)
{
	lockdep_assert_held(&d->store->lock);
	if (!piece->evictable)
		exact_cleared(d->store, piece->dest, piece->blocks);
	else if (exact_taken(d->store, piece->block, piece->dest, piece->blocks))
		queue_work(d->wq, &d->exact_work.work);
}

static void backing_notify(struct david *d, int notices)
{
	atomic_or(notices, &d->notices);
	queue_work(d->wq, &d->event);
}

/* There is no block for @piece. A worker tries again where waiting may help. */
static enum served piece_without_room(struct david_io *io, const struct piece *piece, gfp_t gfp)
{
	struct david *d = io->d;
	struct store *store = d->store;
	unsigned long flags;
	bool warn;

	if (store->pool && pool_reclaim(store, gfp))
		return SERVED_DEFER;
	if (store->packs &&
	    (!gfpflags_allow_blocking(gfp) || packs_sweep(store, d->dev->bdev, false)))
		return SERVED_DEFER;
	if (PLANTED_PAUSE && gfpflags_allow_blocking(gfp))
		msleep(PLANTED_PAUSE_MS);
	/* Freed blocks are reusable once that is durable. */
	if (store->wal && wal_wait_free(store, gfp))
		return SERVED_DEFER;
	spin_lock_irqsave(&store->lock, flags);
	/* It may have become durable since @piece found no block. */
	if (store_allocatable(store) && !INJECTED(once)) {
		spin_unlock_irqrestore(&store->lock, flags);
		return SERVED_DEFER;
	}
	if (store->pool)
		store->full = true;
	warn = store->full && !store->full_warned;
	if (warn)
		store->full_warned = true;
	spin_unlock_irqrestore(&store->lock, flags);
	if (warn)
		backing_notify(d, DAVID_NOTICE_FULL);
	if (piece->evictable)
		return SERVED_FAILED;
	this_cpu_inc(store->stats->nospc);
	return io_fail(io, BLK_STS_NOSPC);
}

/* piece_place(). With @locks the range lock is taken first, or it returns SERVED_WAITS. */
static __always_inline enum served piece_find_place(struct david_io *io, struct piece *piece,
						    gfp_t gfp, bool locks)
{
	struct david *d = io->d;
	struct store *store = d->store;
	struct rt_range r __uninit;
	bool was_low, refused;
	unsigned long flags;
	int notices = 0;
	u64 hint;

	spin_lock_irqsave(&store->lock, flags);
	if (locks && unlikely(!range_lock(&store->locks, &io->lock))) {
		spin_unlock_irqrestore(&store->lock, flags);
		this_cpu_inc(store->stats->range_locks);
		return SERVED_WAITS;
	}
	hint = rt_lookup_hint(&store->table, piece->block, &r);
	piece->blocks = min(piece->blocks, r.len);
	piece->dest = r.value;
	/* What other disks have, too, is not written in its place. */
	piece->commit = r.kind != RT_STORED ||
			(unlikely(store->share) && !share_own(store->share, store->pool_slot,
							      r.value, &piece->blocks));
	if (!piece->commit) {
		if (unlikely(store->exact))
			exact_replace(d, piece);
		/* A new piece needs a reservation, which checks no_updates. */
		refused = store->no_updates;
		spin_unlock_irqrestore(&store->lock, flags);
		return unlikely(refused) ? io_fail(io, BLK_STS_IOERR) : SERVED;
	}
	if (!store_reserve(store, RT_STORED, gfp, &flags)) {
		spin_unlock_irqrestore(&store->lock, flags);
		if (piece->evictable && gfpflags_allow_blocking(gfp))
			return SERVED_FAILED;
		return reservation_failed(io, gfp);
	}
	was_low = store->low;
	piece->dest = store_alloc(store, piece->block, hint, piece->blocks, r.kind == RT_STORED,
				  &piece->blocks);
	if (unlikely(piece->dest == BM_NONE))
		rt_unreserve(&store->table);
	if (unlikely(store->low && !was_low))
		notices |= DAVID_NOTICE_LOW;
	if (unlikely(piece->evictable) && piece->dest != BM_NONE)
		exact_replace(d, piece);
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(notices))
		backing_notify(d, notices);
	if (likely(piece->dest != BM_NONE))
		return SERVED;
	return piece_without_room(io, piece, gfp);
}

enum served piece_place(struct david_io *io, struct piece *piece, gfp_t gfp)
{
	return piece_find_place(io, piece, gfp, false);
}

enum served lock_and_send(struct david_io *io, struct stopwatch *timer)
{
	struct piece *piece = &io->remapped_piece;
	struct store *store = io->d->store;
	enum served served = piece_find_place(io, piece, io_gfp(io), true);
	unsigned int bytes;

	if (served != SERVED)
		return served;
	bytes = piece->blocks << (store->block_shift + SECTOR_SHIFT);
	if (likely(bytes == io->iter.bi_size))
		return piece_remap(io, piece, 0);
	served = send_part(io, timer, piece, 0, bytes);
	if (served == SERVED_DEFER)
		piece_abort(store, piece);
	return served;
}

/*
 * Device-mapper has two biosets of its own with our per-bio data in front of each bio, and in each
 * as many bios as we have children.
 */
static long pool_bytes(const struct david *d)
{
	return MIN_CHILDREN * (kmem_cache_size(d->child_bios.bio_slab) +
			       BIO_MAX_VECS * sizeof(struct bio_vec) +
			       2 * sizeof(struct david_io)) +
	       MIN_BOUNCES * PAGE_SIZE + sizeof(struct david_io) + PAGE_SIZE;
}

static void pools_exit(struct david *d)
{
	mempool_exit(&d->twin_pages);
	mempool_exit(&d->requests);
	mempool_exit(&d->bounces);
	bioset_exit(&d->child_bios);
}

/*
 * A request of the module's own waits for another one's element only while that one is served,
 * and that one waits for none. Who has a page for twins waits for such a request.
 */
int david_pools_init(struct david *d)
{
	int r = bioset_init(&d->child_bios, MIN_CHILDREN, offsetof(struct child_bio, bio),
			    BIOSET_NEED_BVECS) ?:
		mempool_init_page_pool(&d->bounces, MIN_BOUNCES, 0) ?:
		mempool_init_kmalloc_pool(&d->requests, 1, sizeof(struct david_io)) ?:
		mempool_init_page_pool(&d->twin_pages, 1, 0);

	if (r)
		pools_exit(d);
	else
		atomic64_add(pool_bytes(d), &d->store->figures->pool_bytes);
	return r;
}

void david_pools_exit(struct david *d)
{
	atomic64_sub(pool_bytes(d), &d->store->figures->pool_bytes);
	pools_exit(d);
}
