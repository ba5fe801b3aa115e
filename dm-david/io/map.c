// SPDX-License-Identifier: GPL-2.0
/*
 * The way of a request through the target.
 *
 * A request covers blocks that are stored on the backing device, squashed,
 * constant or never written, in any mixture, and begins and ends at any
 * sector. It is served as the one request that it is: from left to right, one
 * piece at a time, a piece being as long a run as can be treated alike.
 *
 *   piece                        what happens
 *   write, constant blocks       range table: FILL
 *   write, data                  range table: SQUASHED
 *   write, kept, stored already  sub-bio to the same destination
 *   write, kept, else            allocate, sub-bio; range table: STORED once it is written
 *   write, part of a block       as above, if need be after the rest of the block was
 *                                copied or made up into a bounce page
 *   read                         sub-bio, or content made up in place
 *   discard, write zeroes        range table only
 *
 * The most frequent request is one single piece for the backing device. It
 * needs no sub-bio: the clone that device-mapper made is redirected.
 *
 * Waiting and progress: a request holds its range lock (rangelock.h) from the
 * first piece to its end. The first piece may sleep for memory, from mempools
 * if need be. A further piece finds sub-bios of the same request outstanding,
 * which may still be queued behind this very call, so it must not sleep: if it
 * gets no memory, the request is parked, and goes on from a worker when its own
 * sub-bios have returned. No request ever waits for a pool while it holds an
 * element of it.
 *
 * A disk with a profile has its times, too: map_timed(). The request that the
 * model sees is the whole one, before it is cut into pieces.
 */
#include "david.h"
#include "../owner/byfile.h"
#include "extent.h"
#include "implicit.h"
#include "../base/inject.h"
#include "../owner/special.h"

#include <linux/highmem.h>
#include <linux/slab.h>
#include "../timing/trace.h"

#define MIN_SUBS	16
#define MIN_BOUNCES	4

/* A run of blocks on its way to the backing device. */
struct piece {
	u64 block;
	u64 dest;
	u64 blocks;
	bool commit;		/* newly allocated: to be entered into the range table */
	bool data;		/* stored for a while only: exact.h */
	bool summed;		/* it has checksums, should it be squashed later */
};

/* david_io->at_end: what its end has to see to. */
#define END_UNLOCK	BIT(0)	/* release the range lock */
#define END_TIMED	BIT(1)	/* wait for the model */
#define END_MEASURED	BIT(2)	/* model-only */
#define END_DELIVERED	BIT(3)	/* nothing: it comes for the second time */
#define END_DURABLE	BIT(4)	/* wait until it is logged */
#define END_OWN		BIT(5)	/* the module's own: device-mapper does not know of it */

/* A request: device-mapper's per-bio data, not zeroed. */
struct david_io {
	struct david *d;
	struct bio *bio;
	struct bvec_iter iter;	/* what is left to do, bi_sector relative to the target */
	struct range_lock lock;
	union {			/* per-bio data is zeroed by some kernels, so its size is time */
		struct work_struct work;
		struct durable_wait wait;	/* when served: a flush, or END_DURABLE */
	};
	union {
		struct piece whole;	/* valid if redirected */
		struct crct_want want;	/* while parked for checksums: fetch() */
	};
	struct owner_cache owners;
	struct implied implied;		/* what the request says itself */
	sector_t first;			/* of the request: implied counts from there */
	atomic_t pending;	/* sub-bios in flight, and one while being served */
	blk_status_t status;
	u8 at_end;
	bool redirected;	/* the clone itself went to the backing device */
	bool nowait;		/* in its submitter's context, and must not sleep there */
	union {
		struct timed timed;	/* with a profile only, as the next */
		struct {
			enum david_request kind;
			u64 came;
		} measured;
		struct completion done;	/* the module's own */
	};
};

const unsigned int david_io_size = sizeof(struct david_io);

/* What becomes of a sub-bio's bounce page when the backing device is done with it. */
enum bounce_use {
	BOUNCE_WRITTEN,		/* nothing */
	BOUNCE_READ,		/* the request's part is copied to it */
	BOUNCE_CHANGE,		/* the request's part is copied in, and the page written back */
};

struct sub {
	struct david_io *io;
	struct piece piece;
	struct page *bounce;
	/* The following with BOUNCE_READ and BOUNCE_CHANGE only */
	enum bounce_use use;
	unsigned int offset;	/* into the block, bytes */
	struct bvec_iter iter;	/* the request's part */
	struct work_struct work;
	struct bio bio;		/* last: see bioset_init() */
};

/* What serving a piece says. */
enum served {
	SERVED,			/* go on with the next piece */
	SERVED_PARK,		/* go on when own sub-bios have returned: out of memory; fetch() */
	SERVED_REDIRECT,	/* the clone is to go to the backing device */
	SERVED_FAILED,		/* io->status says why */
};

static unsigned int block_mask(const struct david *d)
{
	return (1u << d->store->block_shift) - 1;
}

static u64 first_block(const struct david_io *io)
{
	return io->iter.bi_sector >> io->d->store->block_shift;
}

/*
 * Sleep for memory only with no sub-bio of the same request outstanding. One may return at any
 * time, so ask once for each piece: who asks again may be told otherwise.
 */
static gfp_t io_gfp(const struct david_io *io)
{
	return atomic_read(&io->pending) == 1 && !io->nowait ? GFP_NOIO :
							       GFP_NOWAIT | __GFP_NOWARN;
}

static void io_advance(struct david_io *io, unsigned int bytes)
{
	bio_advance_iter(io->bio, &io->iter, bytes);
}

static void serve_work(struct work_struct *work);

static void io_queue(struct david_io *io)
{
	INIT_WORK(&io->work, serve_work);
	queue_work(io->d->wq, &io->work);
}

static void io_put(struct david_io *io)
{
	if (!atomic_dec_and_test(&io->pending))
		return;
	if (io->iter.bi_size && !io->status) {
		io_queue(io);
		return;
	}
	io->bio->bi_status = io->status;
	bio_endio(io->bio);
}

static void fetch_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);
	blk_status_t status = csum_policy_fetch(io->d, &io->want);

	if (unlikely(status))
		WRITE_ONCE(io->status, status);
	io_put(io);
}

/* Let a worker get io->want, and go on then. */
static enum served fetch(struct david_io *io)
{
	atomic_inc(&io->pending);
	INIT_WORK(&io->work, fetch_work);
	queue_work(io->d->wq, &io->work);
	return SERVED_PARK;
}

/* The first error counts: a sub-bio may have failed before. */
static enum served io_fail(struct david_io *io, blk_status_t status)
{
	cmpxchg(&io->status, BLK_STS_OK, status);
	return SERVED_FAILED;
}

/* Once, until there is room again: see set_allowance(). */
static void tell_table_full(struct david *d)
{
	struct store *store = d->store;
	unsigned long flags;
	bool told;

	spin_lock_irqsave(&store->lock, flags);
	told = store->table_told;
	store->table_told = true;
	spin_unlock_irqrestore(&store->lock, flags);
	if (told)
		return;
	atomic_or(DAVID_TELL_TABLE, &d->tell);
	queue_work(d->wq, &d->event);
}

/*
 * There is no reservation; it was asked for with @gfp. A caller that may not sleep tries again
 * from a worker. If the caller could sleep, the store refuses the request.
 */
static noinline enum served no_promise(struct david_io *io, gfp_t gfp)
{
	if (!gfpflags_allow_blocking(gfp))
		return SERVED_PARK;
	if (store_refused(io->d->store) == BLK_STS_NOSPC) {
		this_cpu_inc(io->d->store->stats->nospc);
		tell_table_full(io->d);
	}
	return io_fail(io, store_refused(io->d->store));
}

/* Stored pieces */

/* store->lock is held. */
static void piece_done(struct store *store, const struct piece *piece, blk_status_t status)
{
	struct rt_range r = {
		.start = piece->block,
		.len = piece->blocks,
		.value = piece->dest,
		.kind = RT_STORED,
	};

	if (!piece->commit)
		return;
	/* What could not be written keeps its old content. */
	if (status) {
		store_abort(store, piece->dest, piece->blocks);
		return;
	}
	store_commit(store, &r);
	if (unlikely(store->has_csums) && !piece->data && !piece->summed)
		csum_invalidate_cached_locked(store, r.start, r.len);
}

static void piece_drop(struct store *store, const struct piece *piece)
{
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	piece_done(store, piece, BLK_STS_RESOURCE);
	spin_unlock_irqrestore(&store->lock, flags);
}

static void copy_to_request(struct david_io *io, struct bvec_iter start, void *from)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	__bio_for_each_segment(bv, io->bio, iter, start) {
		memcpy_to_bvec(&bv, from);
		from += bv.bv_len;
	}
}

static void copy_from_request(struct david_io *io, struct bvec_iter start, void *to)
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

static void change_work(struct work_struct *work);

static void sub_endio(struct bio *bio)
{
	struct sub *sub = container_of(bio, struct sub, bio);
	struct david_io *io = sub->io;
	struct store *store = io->d->store;
	unsigned long flags;
	void *p;

	if (unlikely(sub->bounce && sub->use != BOUNCE_WRITTEN) && !bio->bi_status) {
		if (sub->use == BOUNCE_CHANGE) {
			/* This may be hard interrupt context. */
			INIT_WORK(&sub->work, change_work);
			queue_work(io->d->change_wq, &sub->work);
			return;
		}
		p = kmap_local_page(sub->bounce);
		copy_to_request(io, sub->iter, p + sub->offset);
		kunmap_local(p);
	}

	if (sub->piece.commit) {
		spin_lock_irqsave(&store->lock, flags);
		piece_done(store, &sub->piece, bio->bi_status);
		spin_unlock_irqrestore(&store->lock, flags);
	}
	if (unlikely(bio->bi_status))
		WRITE_ONCE(io->status, bio->bi_status);
	if (sub->bounce)
		mempool_free(sub->bounce, &io->d->bounces);
	bio_put(bio);
	io_put(io);
}

static void sub_init(struct david_io *io, struct bio *bio, const struct piece *piece,
		     unsigned int offset, struct page *bounce)
{
	struct sub *sub = container_of(bio, struct sub, bio);

	sub->io = io;
	sub->piece = *piece;
	sub->bounce = bounce;
	sub->use = BOUNCE_WRITTEN;
	bio->bi_iter.bi_sector = (piece->dest << io->d->store->block_shift) +
				 (offset >> SECTOR_SHIFT);
	bio->bi_end_io = sub_endio;
}

static void sub_submit(struct david_io *io, struct bio *bio)
{
	atomic_inc(&io->pending);
	submit_bio_noacct(bio);
}

/* Parts of blocks, on a backing device that reads and writes no less than more than that */

static bool aligned(const struct david *d, unsigned int offset, unsigned int bytes)
{
	return likely(!((offset | bytes) & d->backing_mask));
}

static blk_opf_t bounce_opf(const struct david_io *io)
{
	if (bio_op(io->bio) == REQ_OP_WRITE_ZEROES)
		return REQ_OP_WRITE | (io->bio->bi_opf & REQ_FUA);
	/* It may go on from a worker. */
	return io->bio->bi_opf & ~REQ_NOWAIT;
}

/* The block is there: put the request's part in its place and write it back. */
static void change_work(struct work_struct *work)
{
	struct sub *sub = container_of(work, struct sub, work);
	struct david_io *io = sub->io;
	struct bio *bio = &sub->bio;
	void *p;

	p = kmap_local_page(sub->bounce);
	copy_from_request(io, sub->iter, p + sub->offset);
	kunmap_local(p);
	bio_reset(bio, io->d->dev->bdev, bounce_opf(io));
	bio_clone_blkg_association(bio, io->bio);
	bio->bi_ioprio = io->bio->bi_ioprio;
	__bio_add_page(bio, sub->bounce, io->d->store->block_size, 0);
	sub_init(io, bio, &sub->piece, 0, sub->bounce);
	submit_bio_noacct(bio);
}

/*
 * Read all of the block of @piece into a bounce page, to copy from it or into it
 * @bytes at @offset, which are the request's next.
 */
static enum served read_block(struct david_io *io, const struct piece *piece,
			      unsigned int offset, unsigned int bytes, enum bounce_use use)
{
	struct david *d = io->d;
	gfp_t gfp = io_gfp(io);
	struct page *page;
	struct sub *sub;
	struct bio *bio;

	page = mempool_alloc(&d->bounces, gfp);
	if (!page)
		return SERVED_PARK;
	bio = bio_alloc_bioset(d->dev->bdev, 1,
			       REQ_OP_READ | (io->bio->bi_opf & REQ_SYNC),
			       gfp, &d->subs);
	if (!bio) {
		mempool_free(page, &d->bounces);
		return SERVED_PARK;
	}
	bio->bi_ioprio = io->bio->bi_ioprio;
	bio_clone_blkg_association(bio, io->bio);
	__bio_add_page(bio, page, d->store->block_size, 0);
	sub_init(io, bio, piece, 0, page);
	sub = container_of(bio, struct sub, bio);
	sub->use = use;
	sub->offset = offset;
	sub->iter = io->iter;
	sub->iter.bi_size = bytes;
	io_advance(io, bytes);
	sub_submit(io, bio);
	return SERVED;
}

/*
 * Send the next @bytes of the request to the destination of @piece, @offset
 * bytes into its first block: a part of it, as a sub-bio.
 */
static noinline enum served send_part(struct david_io *io, struct lap *lap,
				      const struct piece *piece, unsigned int offset,
				      unsigned int bytes)
{
	struct david *d = io->d;
	struct bio *bio;

	lap_charge(lap, DAVID_CPU_MAP);
	bio = bio_alloc_clone(d->dev->bdev, io->bio, io_gfp(io), &d->subs);
	if (!bio)
		return SERVED_PARK;
	bio->bi_iter = io->iter;
	bio->bi_iter.bi_size = bytes;
	sub_init(io, bio, piece, offset, NULL);
	sub_submit(io, bio);
	io_advance(io, bytes);
	lap_charge(lap, DAVID_CPU_IO);
	return SERVED;
}

/* Likewise; if it is all of the request, the clone itself is redirected where that can be. */
static enum served send_piece(struct david_io *io, struct lap *lap, const struct piece *piece,
			      unsigned int offset, unsigned int bytes, bool may_redirect)
{
	struct david *d = io->d;

	if (!may_redirect || bytes != io->bio->bi_iter.bi_size)
		return send_part(io, lap, piece, offset, bytes);
	io->whole = *piece;
	io->redirected = true;
	bio_set_dev(io->bio, d->dev->bdev);
	io->bio->bi_iter.bi_sector = (piece->dest << d->store->block_shift) +
				     (offset >> SECTOR_SHIFT);
	io->iter.bi_size = 0;
	return SERVED_REDIRECT;
}

/* What stands at the destination of @piece is about to be replaced. store->lock is held. */
static void place_exact(struct david *d, const struct piece *piece)
{
	if (!piece->data)
		exact_cleared(d->store, piece->dest, piece->blocks);
	else if (exact_taken(d->store, piece->block, piece->dest, piece->blocks))
		queue_work(d->wq, &d->exact_work.work);
}

/*
 * Find the destination of @piece, which says the first block and how many are
 * wanted: where it is stored already, or newly allocated, with the promise to
 * enter it, made with @gfp. The piece is cut down to what lies there in one run.
 */
static enum served piece_place(struct david_io *io, struct piece *piece, gfp_t gfp)
{
	struct david *d = io->d;
	struct store *store = d->store;
	unsigned long flags;
	int tell = 0;
	struct rt_range r;
	bool was_low;
	u64 hint;

	spin_lock_irqsave(&store->lock, flags);
	hint = rt_lookup_hint(&store->table, piece->block, &r);
	piece->blocks = min(piece->blocks, r.len);
	piece->dest = r.value;
	piece->commit = r.kind != RT_STORED;
	if (!piece->commit) {
		if (unlikely(store->exact))
			place_exact(d, piece);
		spin_unlock_irqrestore(&store->lock, flags);
		/* For what is new the promise asks. */
		return unlikely(store->refuses) ? io_fail(io, BLK_STS_IOERR) : SERVED;
	}
	if (!store_promise(store, RT_STORED, gfp, &flags)) {
		spin_unlock_irqrestore(&store->lock, flags);
		return no_promise(io, gfp);
	}
	was_low = store->low;
	piece->dest = store_alloc(store, piece->block, hint, piece->blocks, &piece->blocks);
	if (unlikely(piece->dest == BM_NONE))
		rt_unpromise(&store->table);
	if (unlikely(store->low && !was_low))
		tell |= DAVID_TELL_LOW;
	if (unlikely(store->full && !store->full_told)) {
		store->full_told = true;
		tell |= DAVID_TELL_FULL;
	}
	if (unlikely(piece->data) && piece->dest != BM_NONE)
		place_exact(d, piece);
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(tell)) {
		atomic_or(tell, &d->tell);
		queue_work(d->wq, &d->event);
	}
	if (likely(piece->dest != BM_NONE))
		return SERVED;
	/* What was given up is not free before that is durable: try again then, from a worker. */
	if (store->durable && durable_wait_free(store, gfp))
		return SERVED_PARK;
	this_cpu_inc(store->stats->nospc);
	return io_fail(io, BLK_STS_NOSPC);
}

/* Content made up */

/* Fill @len bytes at @buf, @pos bytes after the start of @sector, which lies in @r. */
static void make_content(struct david *d, const struct rt_range *r, void *buf, sector_t sector,
			 unsigned int pos, unsigned int len)
{
	struct content content;
	unsigned int i;

	switch (r->kind) {
	case RT_SQUASHED:
		content = david_content(d);
		content_fill(buf, &content, d->seed, sector, pos, len);
		break;
	case RT_FILL:
		if (r->value && !((pos | len) & 7)) {
			memset64(buf, r->value, len / 8);
			break;
		}
		if (r->value) {
			for (i = 0; i < len; i++)
				((u8 *)buf)[i] = ((const u8 *)&r->value)[(pos + i) & 7];
			break;
		}
		fallthrough;
	default:
		memset(buf, 0, len);
	}
}

/*
 * Squashed, on a disk that has content by file: the usual where the file is not known,
 * or its content not by its name. This is the place to say no because of what is kept of a
 * block (its checksum), whoever reads it.
 */
static noinline void fill_by_file(struct david_io *io, const struct rt_range *r,
				  unsigned int bytes)
{
	struct byfile_cache cache = { .mapping = NULL };
	struct bvec_iter iter, start = io->iter;
	struct david *d = io->d;
	unsigned int pos = 0;
	struct bio_vec bv;
	void *p;

	start.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, start) {
		p = bvec_kmap_local(&bv);
		if (!byfile_fill(&d->byfile, &d->owners, d->seed, &cache, &bv, p))
			make_content(d, r, p, io->iter.bi_sector, pos, bv.bv_len);
		flush_dcache_page(bv.bv_page);
		kunmap_local(p);
		pos += bv.bv_len;
	}
	io_advance(io, bytes);
}

static void fill_read(struct david_io *io, const struct rt_range *r, unsigned int bytes)
{
	struct bvec_iter iter, start = io->iter;
	unsigned int pos = 0;
	struct bio_vec bv;
	void *p;

	start.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, start) {
		p = bvec_kmap_local(&bv);
		make_content(io->d, r, p, io->iter.bi_sector, pos, bv.bv_len);
		flush_dcache_page(bv.bv_page);
		kunmap_local(p);
		pos += bv.bv_len;
	}
	io_advance(io, bytes);
}

/* Squashed blocks whose checksums are known */

/* The unit that @sector is in, with its checksum. */
static void make_unit(struct david *d, void *buf, sector_t sector, u32 crc)
{
	struct content content = david_content(d);

	content_fill(buf, &content, d->seed, round_down(sector, CSUM_SECTORS), 0, CSUM_UNIT);
	csum_forge(d->store, buf, crc);
}

/* Read @bytes, which are in one unit. */
static enum served read_unit(struct david_io *io, unsigned int bytes, u32 crc)
{
	unsigned int pos = (io->iter.bi_sector % CSUM_SECTORS) << SECTOR_SHIFT;
	struct bio_vec bv = bio_iter_iovec(io->bio, io->iter);
	struct bvec_iter part = io->iter;
	struct david *d = io->d;
	struct page *page;
	void *p;

	if (likely(bytes == CSUM_UNIT && bv.bv_len >= CSUM_UNIT)) {
		p = bvec_kmap_local(&bv);
		make_unit(d, p, io->iter.bi_sector, crc);
		flush_dcache_page(bv.bv_page);
		kunmap_local(p);
	} else {
		page = mempool_alloc(&d->bounces, io_gfp(io));
		if (!page)
			return SERVED_PARK;
		p = kmap_local_page(page);
		make_unit(d, p, io->iter.bi_sector, crc);
		part.bi_size = bytes;
		copy_to_request(io, part, p + pos);
		kunmap_local(p);
		mempool_free(page, &d->bounces);
	}
	io_advance(io, bytes);
	return SERVED;
}

/* Read @bytes of the squashed range @r, as fill_read() would without checksums. */
static enum served read_squashed(struct david_io *io, const struct rt_range *r, unsigned int bytes)
{
	struct store *store = io->d->store;
	enum served served;
	unsigned int pos, n;
	u32 crc;

	for (; bytes; bytes -= n) {
		pos = (io->iter.bi_sector % CSUM_SECTORS) << SECTOR_SHIFT;
		n = min(CSUM_UNIT - pos, bytes);
		if (!csum_touches(store, pos, n)) {
			fill_read(io, r, n);
			continue;
		}
		switch (csum_find(store, io->iter.bi_sector, &crc, &io->want)) {
		case CRCT_DONE:
			served = read_unit(io, n, crc);
			if (served != SERVED)
				return served;
			break;
		case CRCT_LOAD:
			return fetch(io);
		default:
			fill_read(io, r, n);
		}
	}
	return SERVED;
}

/* All of a block that is not stored, at @p, which has room for a unit; @crc of that, or NULL. */
static void make_block(struct david *d, const struct rt_range *r, void *p, const u32 *crc)
{
	sector_t sector = r->start << d->store->block_shift;

	if (!crc) {
		make_content(d, r, p, sector, 0, d->store->block_size);
		return;
	}
	make_unit(d, p, sector, *crc);
	memmove(p, p + ((sector % CSUM_SECTORS) << SECTOR_SHIFT), d->store->block_size);
}

static bool checked(const struct david *d)
{
	return READ_ONCE(d->owners.checksums) || READ_ONCE(d->store->has_csums);
}

/* Verdicts */

struct look {
	enum verdict verdict;
	enum david_evidence evidence;
	bool constant;		/* one repeated word */
	u64 word;
};

/* Do all @n words from @p on equal @word? Four at a time: constant blocks are read to the end. */
static bool all_equal(const u64 *p, unsigned int n, u64 word)
{
	for (; n >= 4; n -= 4, p += 4)
		if ((p[0] ^ word) | (p[1] ^ word) | (p[2] ^ word) | (p[3] ^ word))
			return false;
	for (; n; n--, p++)
		if (*p != word)
			return false;
	return true;
}

/* What is to be done about the checksums of data: by what is known of all, or of this request. */
static enum csum_policy csum_policy_at(const struct david_io *io, sector_t sector, u32 sectors)
{
	enum csum_policy policy = csum_policy(io->d);

	if (policy == CSUM_IGNORE && implied_sums(&io->implied, sector - io->first, sectors))
		return CSUM_KEEP;
	return policy;
}

/* The same of the blocks of @r, which is cut to those that are alike. */
static enum csum_policy csum_policy_of(const struct david_io *io, struct rt_range *r)
{
	unsigned int shift = io->d->store->block_shift;
	sector_t sector = r->start << shift, end = (r->start + r->len) << shift, next;
	enum csum_policy policy = csum_policy(io->d);

	/* Known of all, or nobody has told of parts. */
	if (policy != CSUM_IGNORE || !io->implied.runs)
		return policy;
	for (; sector < end; sector = next) {
		next = min(round_down(sector, CSUM_SECTORS) + CSUM_SECTORS, end);
		if (sector == r->start << shift)
			policy = csum_policy_at(io, sector, next - sector);
		else if (csum_policy_at(io, sector, next - sector) != policy)
			break;
	}
	r->len = (sector >> shift) - r->start;
	return policy;
}

/* Where checksums may matter: what is no whole unit, or has one we cannot keep, is kept itself. */
static noinline void look_checked(struct david_io *io, struct bvec_iter from, unsigned int bytes,
				  struct look *look)
{
	bool data = look->verdict == VERDICT_SQUASH;
	enum csum_policy policy;

	csum_policy_watch(io->d, io->bio, from, bytes, data);
	if (!data)
		return;
	policy = csum_policy_at(io, from.bi_sector, bytes >> SECTOR_SHIFT);
	if (policy == CSUM_IGNORE)
		return;
	if (policy == CSUM_REFUSE)
		look->evidence = DAVID_EV_UNPROVEN;
	else if (bytes < CSUM_UNIT || from.bi_sector % CSUM_SECTORS)
		look->evidence = DAVID_EV_PARTIAL;
	else
		return;
	look->verdict = VERDICT_KEEP;
}

/* Look at @bytes of a write from @from on: evidence of every page, and whether it is constant. */
static void look_at_pages(struct david_io *io, struct bvec_iter from, unsigned int bytes,
			  struct look *look)
{
	struct david *d = io->d;
	bool by_owner = d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT;
	struct bvec_iter iter;
	struct bio_vec bv;
	bool first = true;
	u64 *p;

	look->evidence = DAVID_EV_MODE;
	if (by_owner && (io->bio->bi_opf & (REQ_META | REQ_PRIO | REQ_SWAP))) {
		look->evidence = DAVID_EV_FLAGS;
		by_owner = false;
	}
	if (unlikely(io->implied.runs) && d->classify == CLASSIFY_IMPLICIT)
		look->evidence = io->bio->bi_opf & REQ_SWAP ? DAVID_EV_FLAGS :
				 implied_at(&io->implied, from.bi_sector - io->first,
					    bytes >> SECTOR_SHIFT);
	look->verdict = verdict_of(d->classify, look->evidence);
	look->constant = true;

	from.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, from) {
		/* One page that says metadata is enough to keep the block. */
		if (by_owner && (first || look->verdict != VERDICT_KEEP)) {
			look->evidence = owner_evidence(&d->owners, &io->owners, bv.bv_page);
			look->verdict = verdict_of(d->classify, look->evidence);
		}
		if (look->constant && !((bv.bv_offset | bv.bv_len) & 7)) {
			p = bvec_kmap_local(&bv);
			if (first)
				look->word = *p;
			look->constant = all_equal(p, bv.bv_len / 8, look->word);
			kunmap_local(p);
		} else {
			look->constant = false;
		}
		first = false;
	}
	if (unlikely(READ_ONCE(d->owners.checksums)))
		look_checked(io, from, bytes, look);
}

/* It is data so far. Does its content, or what its pages are, say that it is to be kept? */
static noinline void look_closer(const struct david_io *io, struct bvec_iter from,
				 unsigned int bytes, struct look *look)
{
	struct david *d = io->d;
	struct bvec_iter iter;
	struct bio_vec bv;
	void *p;

	if (look->evidence == DAVID_EV_ANON &&
	    extent_behind(d, from.bi_sector + (bytes >> SECTOR_SHIFT))) {
		look->evidence = DAVID_EV_UNMOUNTED;
		look->verdict = VERDICT_KEEP;
		return;
	}
	from.bi_size = bytes;
	__bio_for_each_segment(bv, io->bio, iter, from) {
		p = bvec_kmap_local(&bv);
		look->evidence = special_evidence(d->owners.raw, io->bio->bi_opf, look->evidence,
						  &bv, p);
		kunmap_local(p);
	}
	look->verdict = verdict_of(d->classify, look->evidence);
}

/* classify=auto: the page owner says data. Does the write itself say something else? */
static noinline void hear_objection(const struct david_io *io, sector_t sector, unsigned int bytes,
				    struct look *look)
{
	enum david_evidence implied = implied_at(&io->implied, sector - io->first,
						 bytes >> SECTOR_SHIFT);

	if (io->d->classify != CLASSIFY_AUTO || !verdict_objects(implied, look->evidence))
		return;
	look->evidence = implied;
	look->verdict = VERDICT_KEEP;
}

/* The same, and what the write itself says. */
static __always_inline void look_at(struct david_io *io, struct bvec_iter from, unsigned int bytes,
				    struct look *look)
{
	look_at_pages(io, from, bytes, look);
	if (look->verdict != VERDICT_SQUASH)
		return;
	if (!look->constant && io->d->classify != CLASSIFY_DATA)
		look_closer(io, from, bytes, look);
	if (unlikely(io->implied.runs))
		hear_objection(io, from.bi_sector, bytes, look);
}

static enum rt_kind look_kind(const struct look *look)
{
	if (look->constant)
		return RT_FILL;
	return look->verdict == VERDICT_SQUASH ? RT_SQUASHED : RT_STORED;
}

/* Whole blocks to be written */

/* A run of whole blocks that one thing becomes of. */
struct span {
	struct rt_range r;	/* kind: RT_STORED means kept, wherever that will be */
	enum david_evidence evidence;
};

/*
 * What is judged at a time: a block, or a unit where checksums may matter. From
 * within a unit on only what is left of it.
 */
static unsigned int look_bytes(const struct david_io *io)
{
	unsigned int block_size = io->d->store->block_size, bytes;

	if (likely(block_size == CSUM_UNIT || !READ_ONCE(io->d->owners.checksums)))
		return block_size;
	bytes = CSUM_UNIT - ((io->iter.bi_sector % CSUM_SECTORS) << SECTOR_SHIFT);
	return min(bytes, round_down(io->iter.bi_size, block_size));
}

/*
 * Blocks of data on a disk that has rules for what to keep: cut to those that are alike, @step of
 * them at a time.
 */
static noinline void look_at_place(struct david_io *io, struct span *span, u64 step)
{
	struct store *store = io->d->store;
	unsigned int shift = store->block_shift;
	u64 block = span->r.start, end = block + span->r.len;
	bool keep = raw_has_sectors(&store->raw, block << shift, step << shift);

	while ((block += step) < end)
		if (raw_has_sectors(&store->raw, block << shift, step << shift) != keep)
			break;
	span->r.len = block - span->r.start;
	if (keep) {
		span->r.kind = RT_STORED;
		span->evidence = DAVID_EV_RAW;
	}
}

/* Judge the whole blocks that are left, up to the first that differs. */
static void look_at_blocks(struct david_io *io, struct lap *lap, struct span *span)
{
	unsigned int bytes = look_bytes(io), block_size = io->d->store->block_size;
	u64 left = io->iter.bi_size / block_size, step = bytes / block_size;
	struct bvec_iter iter = io->iter;
	struct look look, next;

	look_at(io, iter, bytes, &look);
	span->evidence = look.evidence;
	span->r.start = first_block(io);
	span->r.kind = look_kind(&look);
	span->r.value = span->r.kind == RT_FILL ? look.word : 0;
	for (span->r.len = step; span->r.len + step <= left; span->r.len += step) {
		bio_advance_iter(io->bio, &iter, bytes);
		look_at(io, iter, bytes, &next);
		if (look_kind(&next) != span->r.kind || next.evidence != span->evidence ||
		    (span->r.kind == RT_FILL && next.word != span->r.value))
			break;
	}
	if (span->r.kind == RT_SQUASHED && raw_any(&io->d->store->raw))
		look_at_place(io, span, step);
	lap_charge(lap, DAVID_CPU_CLASSIFY);
}

/* Apart, so that its caller has nothing to save for it where nobody traces. */
static noinline void trace_verdict(const struct david *d, sector_t sector, u32 sectors,
				   enum david_written written, enum david_evidence evidence)
{
	trace_david_verdict(d->owners.bdev->bd_dev, sector, sectors, written, evidence);
}

static void count_blocks(struct david_io *io, const struct span *span, u64 blocks)
{
	struct stats __percpu *stats = io->d->store->stats;
	enum david_written written = DAVID_WRITTEN_KEPT;

	if (span->r.kind != RT_STORED)
		written = span->r.kind == RT_FILL ? DAVID_WRITTEN_FILL : DAVID_WRITTEN_SQUASHED;
	this_cpu_add(stats->evidence[span->evidence], blocks);
	this_cpu_add(stats->verdict[written], blocks);
	if (trace_david_verdict_enabled())
		trace_verdict(io->d, span->r.start << io->d->store->block_shift,
			      blocks << io->d->store->block_shift, written, span->evidence);
}

/* Squash the blocks of @span with their checksums. */
static enum served squash_units(struct david_io *io, struct span *span)
{
	struct store *store = io->d->store;
	struct rt_range r = span->r;
	gfp_t gfp = io_gfp(io);

	for (; span->r.len; span->r.start += r.len, span->r.len -= r.len) {
		r.start = span->r.start;
		r.len = min_t(u64, span->r.len, CSUM_BATCH * CSUM_UNIT / store->block_size);
		switch (csum_squash(&io->d->csum_io, &r, io->bio, io->iter, gfp, &io->want)) {
		case CRCT_DONE:
			break;
		case CRCT_LOAD:
			return fetch(io);
		default:
			return no_promise(io, gfp);
		}
		count_blocks(io, span, r.len);
		io_advance(io, r.len * store->block_size);
	}
	return SERVED;
}

/* Store the blocks of @span for a while, as far as one piece goes. SERVED_FAILED: it cannot be. */
static enum served write_exact(struct david_io *io, struct lap *lap, bool may_redirect,
			       struct span *span)
{
	struct store *store = io->d->store;
	struct rt_range r = span->r;
	gfp_t gfp = io_gfp(io);
	struct piece piece;
	enum served served;

	r.kind = RT_STORED;
	r.len = min_t(u64, r.len, CSUM_BATCH * CSUM_UNIT / store->block_size);
	if (!exact_wants(store, r.len, gfp))
		return SERVED_FAILED;
	switch (csum_policy_of(io, &r)) {
	case CSUM_IGNORE:
		break;
	case CSUM_KEEP:
		switch (csum_squash(&io->d->csum_io, &r, io->bio, io->iter, gfp, &io->want)) {
		case CRCT_DONE:
			break;
		case CRCT_LOAD:
			return fetch(io);
		default:
			return no_promise(io, gfp);
		}
		break;
	default:
		return SERVED_FAILED;
	}
	piece = (struct piece){ .block = r.start, .blocks = r.len, .data = true };
	served = piece_place(io, &piece, gfp);
	/* No room is none for this. What a sub-bio met stays an error. */
	if (served == SERVED_FAILED)
		cmpxchg(&io->status, BLK_STS_NOSPC, BLK_STS_OK);
	if (served != SERVED)
		return served;
	served = send_piece(io, lap, &piece, 0, piece.blocks * store->block_size, may_redirect);
	if (served == SERVED_PARK) {
		piece_drop(store, &piece);
		return served;
	}
	this_cpu_add(store->stats->evidence[span->evidence], piece.blocks);
	this_cpu_add(store->stats->verdict[DAVID_WRITTEN_EXACT], piece.blocks);
	return served;
}

/* Squash the blocks of @span; checksums may matter, or have mattered. */
static noinline enum served squash_checked(struct david_io *io, struct lap *lap, struct span *span)
{
	struct store *store = io->d->store;
	gfp_t gfp = io_gfp(io);
	enum served served;
	struct rt_range r;

	switch (csum_policy_of(io, &span->r)) {
	case CSUM_KEEP:
		served = squash_units(io, span);
		lap_charge(lap, DAVID_CPU_MAP);
		return served;
	case CSUM_UNKNOWN:
		csum_policy_want(&io->want);
		return fetch(io);
	case CSUM_REFUSE:
		/* Not when they were looked at: look again. */
		return SERVED_PARK;
	default:
		break;
	}
	if (store->has_csums &&
	    csum_invalidate(store, span->r.start, span->r.len, &io->want) != CRCT_DONE)
		return fetch(io);
	r = span->r;
	if (!store_set(store, &r, gfp))
		return no_promise(io, gfp);
	count_blocks(io, span, span->r.len);
	lap_charge(lap, DAVID_CPU_MAP);
	io_advance(io, span->r.len * store->block_size);
	return SERVED;
}

/*
 * The blocks of @piece are kept for now: the classifier may find that they are data, and then
 * nobody has their content in hand. As many as are done at once.
 */
static noinline enum served sum_undecided(struct david_io *io, const struct span *span,
					  struct piece *piece, gfp_t gfp)
{
	struct store *store = io->d->store;
	struct rt_range r = { .start = piece->block, .kind = RT_STORED };

	if (store->block_size != CSUM_UNIT || span->evidence == DAVID_EV_RAW || INJECTED(later) ||
	    csum_policy(io->d) == CSUM_REFUSE ||
	    !implied_sums(&io->implied, io->iter.bi_sector - io->first,
			  piece->blocks << store->block_shift))
		return SERVED;
	piece->blocks = min_t(u64, piece->blocks, CSUM_BATCH);
	r.len = piece->blocks;
	switch (csum_squash(&io->d->csum_io, &r, io->bio, io->iter, gfp, &io->want)) {
	case CRCT_DONE:
		piece->summed = true;
		return SERVED;
	case CRCT_LOAD:
		return fetch(io);
	default:
		return no_promise(io, gfp);
	}
}

static enum served write_blocks(struct david_io *io, struct lap *lap, bool may_redirect,
				struct span *span)
{
	struct store *store = io->d->store;
	struct piece piece = { .block = span->r.start, .blocks = span->r.len };
	gfp_t gfp = io_gfp(io);
	enum served served;

	if (span->r.kind == RT_SQUASHED && unlikely(store->exact)) {
		served = write_exact(io, lap, may_redirect, span);
		if (served != SERVED_FAILED)
			return served;
	}
	if (span->r.kind == RT_SQUASHED && unlikely(checked(io->d)))
		return squash_checked(io, lap, span);
	if (span->r.kind != RT_STORED) {
		if (!store_set(store, &span->r, gfp))
			return no_promise(io, gfp);
		if (unlikely(READ_ONCE(store->has_csums)))
			csum_invalidate_cached(store, piece.block, piece.blocks, gfp);
	} else {
		if (unlikely(READ_ONCE(io->d->owners.checksums)) && io->implied.runs) {
			served = sum_undecided(io, span, &piece, gfp);
			if (served != SERVED)
				return served;
		}
		served = piece_place(io, &piece, gfp);
		if (served != SERVED)
			return served;
		served = send_piece(io, lap, &piece, 0, piece.blocks * store->block_size,
				    may_redirect);
		if (served == SERVED_PARK) {
			piece_drop(store, &piece);
			return served;
		}
	}
	count_blocks(io, span, piece.blocks);
	lap_charge(lap, DAVID_CPU_MAP);
	if (span->r.kind == RT_STORED)
		return served;
	io_advance(io, piece.blocks * store->block_size);
	return SERVED;
}

/* Parts of blocks to be written */

/*
 * Write @bytes at @offset into the block of @r through a bounce page: the whole
 * block to a new destination if it is not stored yet, with the rest of it as
 * reads would show it, else the part alone if the backing device can do that.
 */
static enum served write_bounce(struct david_io *io, const struct rt_range *r,
				unsigned int offset, unsigned int bytes)
{
	struct david *d = io->d;
	struct store *store = d->store;
	struct piece piece = { .block = r->start, .blocks = 1 };
	bool stored = r->kind == RT_STORED;
	struct bvec_iter part = io->iter;
	const u32 *known = NULL;
	gfp_t gfp = io_gfp(io);
	struct page *page;
	enum served served;
	struct bio *bio;
	void *p;
	u32 crc;

	if (stored && !aligned(d, offset, bytes)) {
		piece.dest = r->value;
		return read_block(io, &piece, offset, bytes, BOUNCE_CHANGE);
	}
	if (r->kind == RT_SQUASHED && unlikely(READ_ONCE(store->has_csums))) {
		switch (csum_find(store, r->start << store->block_shift, &crc, &io->want)) {
		case CRCT_DONE:
			known = &crc;
			break;
		case CRCT_LOAD:
			return fetch(io);
		default:
			break;
		}
	}

	/* Two pools, always taken in this order, and none held while sleeping for more. */
	page = mempool_alloc(&d->bounces, gfp);
	if (!page)
		return SERVED_PARK;
	bio = bio_alloc_bioset(d->dev->bdev, 1, bounce_opf(io), gfp, &d->subs);
	if (!bio) {
		served = SERVED_PARK;
		goto free_page;
	}
	bio->bi_ioprio = io->bio->bi_ioprio;
	bio_clone_blkg_association(bio, io->bio);
	served = piece_place(io, &piece, gfp);
	if (served != SERVED)
		goto free_bio;

	p = kmap_local_page(page);
	if (!stored)
		make_block(d, r, p, known);
	part.bi_size = bytes;
	copy_from_request(io, part, p + offset);
	kunmap_local(p);
	if (stored) {
		__bio_add_page(bio, page, bytes, offset);
		sub_init(io, bio, &piece, offset, page);
	} else {
		__bio_add_page(bio, page, store->block_size, 0);
		sub_init(io, bio, &piece, 0, page);
	}
	sub_submit(io, bio);
	io_advance(io, bytes);
	return SERVED;

free_bio:
	bio_put(bio);
free_page:
	mempool_free(page, &d->bounces);
	return served;
}

/*
 * A write of less than a block is dropped only if the whole block is data
 * already. Else the rest of it might be metadata, or zeros that somebody counts
 * on, and the block is kept whole. (classify=data means: nothing is.)
 */
static enum served write_part(struct david_io *io, struct lap *lap, unsigned int offset,
			      unsigned int bytes, bool may_redirect)
{
	struct david *d = io->d;
	struct store *store = d->store;
	struct look look = {
		.verdict = VERDICT_KEEP, .evidence = DAVID_EV_MODE, .constant = true
	};
	struct piece piece = { .block = first_block(io), .blocks = 1 };
	enum david_written written = DAVID_WRITTEN_KEPT;
	gfp_t gfp = io_gfp(io);
	enum served served;
	struct rt_range r;
	bool zeroes = bio_op(io->bio) == REQ_OP_WRITE_ZEROES;

	if (unlikely(store->refuses))
		return io_fail(io, BLK_STS_IOERR);
	if (!zeroes)
		look_at(io, io->iter, bytes, &look);
	if (look.verdict == VERDICT_SQUASH && raw_any(&store->raw) &&
	    raw_has_sectors(&store->raw, io->iter.bi_sector, bytes >> SECTOR_SHIFT)) {
		look.evidence = DAVID_EV_RAW;
		look.verdict = VERDICT_KEEP;
	}
	lap_charge(lap, DAVID_CPU_CLASSIFY);
	store_lookup(store, piece.block, &r);

	if (look.constant && (r.kind == RT_FILL || r.kind == RT_HOLE) &&
	    look.word == r.value) {
		/* It reads so already. */
		written = DAVID_WRITTEN_FILL;
		io_advance(io, bytes);
		served = SERVED;
	} else if (look.verdict == VERDICT_SQUASH && r.kind == RT_SQUASHED) {
		written = DAVID_WRITTEN_SQUASHED;
		io_advance(io, bytes);
		served = SERVED;
	} else if (d->classify == CLASSIFY_DATA && look.verdict == VERDICT_SQUASH &&
		   r.kind != RT_STORED) {
		written = DAVID_WRITTEN_SQUASHED;
		r.len = 1;
		r.value = 0;
		r.kind = RT_SQUASHED;
		if (!store_set(store, &r, gfp))
			return no_promise(io, gfp);
		io_advance(io, bytes);
		served = SERVED;
	} else {
		if (look.verdict == VERDICT_SQUASH)
			look.evidence = DAVID_EV_PARTIAL;
		else if (r.kind == RT_STORED && unlikely(store->exact))
			exact_clear(store, r.value, 1);
		if (r.kind == RT_STORED && !zeroes && aligned(d, offset, bytes)) {
			piece.dest = r.value;
			served = send_piece(io, lap, &piece, offset, bytes, may_redirect);
		} else {
			served = write_bounce(io, &r, offset, bytes);
		}
	}
	lap_charge(lap, DAVID_CPU_IO);
	if (!zeroes && (served == SERVED || served == SERVED_REDIRECT)) {
		this_cpu_inc(store->stats->evidence[look.evidence]);
		this_cpu_inc(store->stats->verdict[written]);
		if (trace_david_verdict_enabled())
			trace_verdict(d, (piece.block << store->block_shift) +
				      (offset >> SECTOR_SHIFT), bytes >> SECTOR_SHIFT, written,
				      look.evidence);
	}
	return served;
}

/* Pieces, by kind of request */

static enum served serve_write(struct david_io *io, struct lap *lap, bool may_redirect,
			       struct span *span)
{
	struct store *store = io->d->store;
	unsigned int offset = (io->iter.bi_sector & block_mask(io->d)) << SECTOR_SHIFT;
	unsigned int bytes = min(store->block_size - offset, io->iter.bi_size);
	struct span judged;
	struct rt_range r;
	gfp_t gfp;

	if (bytes < store->block_size)
		return write_part(io, lap, offset, bytes, may_redirect);
	if (bio_op(io->bio) != REQ_OP_WRITE_ZEROES) {
		if (!span) {
			span = &judged;
			look_at_blocks(io, lap, span);
		}
		return write_blocks(io, lap, may_redirect, span);
	}

	r.start = first_block(io);
	r.len = io->iter.bi_size / store->block_size;
	r.value = 0;
	r.kind = RT_FILL;
	bytes = r.len * store->block_size;
	gfp = io_gfp(io);
	if (!store_set(store, &r, gfp))
		return no_promise(io, gfp);
	if (unlikely(READ_ONCE(store->has_csums)))
		csum_invalidate_cached(store, first_block(io), bytes / store->block_size, gfp);
	io_advance(io, bytes);
	lap_charge(lap, DAVID_CPU_MAP);
	return SERVED;
}

static enum served serve_discard(struct david_io *io, struct lap *lap)
{
	struct store *store = io->d->store;
	unsigned int shift = store->block_shift;
	sector_t end = io->iter.bi_sector + bio_sectors(io->bio);
	struct rt_range r = { .kind = RT_HOLE };
	gfp_t gfp = io_gfp(io);
	u64 first, blocks;

	/* What is not a whole block is left as it is. */
	first = (io->iter.bi_sector + block_mask(io->d)) >> shift;
	r.start = first;
	if (r.start < end >> shift) {
		r.len = (end >> shift) - r.start;
		blocks = r.len;
		if (!store_set(store, &r, gfp))
			return no_promise(io, gfp);
		if (unlikely(READ_ONCE(store->has_csums)))
			csum_invalidate_cached(store, first, blocks, gfp);
	}
	io_advance(io, io->iter.bi_size);
	lap_charge(lap, DAVID_CPU_MAP);
	return SERVED;
}

/* The worker's own: blocks that were kept and are found to be data. */
static enum served serve_squash(struct david_io *io)
{
	implicit_squash(io->d->implicit, io->iter.bi_sector, bio_sectors(io->bio));
	io_advance(io, io->iter.bi_size);
	return SERVED;
}

/* Bytes of the request that lie in @r, looked up from the first block that is left. */
static unsigned int bytes_in_range(const struct david_io *io, const struct rt_range *r)
{
	unsigned int shift = io->d->store->block_shift;
	sector_t end;

	if (r->len > U32_MAX)
		return io->iter.bi_size;
	end = (r->start + r->len) << shift;
	return min_t(u64, io->iter.bi_size, (u64)(end - io->iter.bi_sector) << SECTOR_SHIFT);
}

static enum served serve_read_range(struct david_io *io, struct lap *lap,
				    const struct rt_range *r, bool may_redirect)
{
	unsigned int bytes = bytes_in_range(io, r);
	unsigned int offset = (io->iter.bi_sector & block_mask(io->d)) << SECTOR_SHIFT;
	struct piece piece = { .block = r->start, .dest = r->value };
	struct david *d = io->d;

	if (r->kind != RT_STORED) {
		enum served served = SERVED;

		lap_charge(lap, DAVID_CPU_MAP);
		if (r->kind == RT_SQUASHED && unlikely(READ_ONCE(d->store->has_csums)))
			served = read_squashed(io, r, bytes);
		else if (r->kind == RT_SQUASHED && byfile_any(&d->byfile))
			fill_by_file(io, r, bytes);
		else
			fill_read(io, r, bytes);
		lap_charge(lap, DAVID_CPU_CONTENT);
		return served;
	}
	if (!aligned(d, offset, bytes)) {
		if (!aligned(d, offset, 0) || bytes <= d->backing_mask) {
			bytes = min(bytes, d->store->block_size - offset);
			return read_block(io, &piece, offset, bytes, BOUNCE_READ);
		}
		bytes &= ~d->backing_mask;
	}
	return send_piece(io, lap, &piece, offset, bytes, may_redirect);
}

static enum served serve_piece(struct david_io *io, struct lap *lap, bool may_redirect,
			       struct span *span)
{
	struct rt_range r;

	switch (bio_op(io->bio)) {
	case REQ_OP_READ:
		store_lookup(io->d->store, first_block(io), &r);
		return serve_read_range(io, lap, &r, may_redirect);
	case REQ_OP_DISCARD:
		if (unlikely(io->at_end & END_OWN))
			return serve_squash(io);
		return serve_discard(io, lap);
	default:
		return serve_write(io, lap, may_redirect, span);
	}
}

/*
 * Serve a request whose range lock, if it needs one, is granted. @span is the
 * verdict on its first blocks if that is known already, or NULL.
 */
static int serve(struct david_io *io, struct lap *lap, bool may_redirect, struct span *span)
{
	enum served served;

	atomic_set(&io->pending, 1);
	do {
		served = serve_piece(io, lap, may_redirect, span);
		span = NULL;
	} while (served == SERVED && io->iter.bi_size && !READ_ONCE(io->status));

	if (served == SERVED_REDIRECT)
		return DM_MAPIO_REMAPPED;
	io_put(io);
	return DM_MAPIO_SUBMITTED;
}

static void serve_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);
	struct lap lap;

	/* A worker may sleep, and so may the backing device when a worker submits to it. */
	io->nowait = false;
	io->bio->bi_opf &= ~REQ_NOWAIT;
	lap_start(&lap, io->d->store->stats);
	serve(io, &lap, false, NULL);
}

/* Where a request begins and ends */

static void io_lock_range(struct david_io *io)
{
	unsigned int shift = io->d->store->block_shift;

	io->lock.start = io->iter.bi_sector >> shift;
	io->lock.last = (io->iter.bi_sector + bio_sectors(io->bio) - 1) >> shift;
	io->lock.shared = bio_op(io->bio) == REQ_OP_READ;
	io->at_end |= END_UNLOCK;
}

/*
 * May a request that must not sleep go to the backing device from here? Not if that may sleep over
 * it. Nor if the model has it: the backing device may refuse it, and the model would see it again.
 */
static bool may_send(const struct david_io *io)
{
	return io->bio->bi_opf & REQ_NOWAIT;
}

static int map_read(struct david_io *io, struct lap *lap)
{
	struct store *store = io->d->store;
	struct rt_range r;
	unsigned long flags;
	bool granted = true;

	owner_learn(&io->d->owners, io->bio);

	spin_lock_irqsave(&store->lock, flags);
	rt_lookup(&store->table, first_block(io), &r);
	/* What needs no I/O needs no lock either: the content is made up at once. */
	if (r.kind == RT_STORED || bytes_in_range(io, &r) < io->iter.bi_size ||
	    (r.kind == RT_SQUASHED && unlikely(store->has_csums))) {
		io_lock_range(io);
		granted = range_lock(&store->locks, &io->lock);
	}
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(!granted)) {
		this_cpu_inc(store->stats->range_locks);
		return DM_MAPIO_SUBMITTED;
	}
	if (unlikely(io->nowait) && io->at_end & END_UNLOCK && !may_send(io)) {
		io_queue(io);
		return DM_MAPIO_SUBMITTED;
	}
	if (likely(bytes_in_range(io, &r) == io->iter.bi_size)) {
		atomic_set(&io->pending, 1);
		if (serve_read_range(io, lap, &r, true) == SERVED_REDIRECT)
			return DM_MAPIO_REMAPPED;
		io_put(io);
		return DM_MAPIO_SUBMITTED;
	}
	return serve(io, lap, true, NULL);
}

static int map_change(struct david_io *io, struct lap *lap, struct span *span)
{
	struct store *store = io->d->store;
	unsigned long flags;
	bool granted;

	io_lock_range(io);
	spin_lock_irqsave(&store->lock, flags);
	granted = range_lock(&store->locks, &io->lock);
	spin_unlock_irqrestore(&store->lock, flags);
	if (unlikely(!granted)) {
		this_cpu_inc(store->stats->range_locks);
		return DM_MAPIO_SUBMITTED;
	}
	if (unlikely(io->nowait) && !may_send(io)) {
		io_queue(io);
		return DM_MAPIO_SUBMITTED;
	}
	return serve(io, lap, true, span);
}

static int map_write(struct david_io *io, struct lap *lap)
{
	struct store *store = io->d->store;
	struct span span;

	owner_cache_init(&io->owners);
	if ((io->iter.bi_sector & block_mask(io->d)) || io->iter.bi_size % store->block_size)
		return map_change(io, lap, NULL);

	look_at_blocks(io, lap, &span);
	/* No I/O, and of one piece: done at once, unless there is somebody to wait for. */
	if (span.r.kind == RT_STORED || unlikely(checked(io->d) || store->exact) ||
	    span.r.len < io->iter.bi_size / store->block_size ||
	    !store_set_at_once(store, &span.r, io->nowait ? GFP_NOWAIT | __GFP_NOWARN : GFP_NOIO))
		return map_change(io, lap, &span);
	count_blocks(io, &span, span.r.len);
	lap_charge(lap, DAVID_CPU_MAP);
	bio_endio(io->bio);
	return DM_MAPIO_SUBMITTED;
}

/*
 * Its submitter must not sleep: what cannot be done at once is done by a worker. A request that the
 * backing device refuses, as it would sleep, is the submitter's to try again.
 */
static void begin_nowait(struct david_io *io)
{
	io->nowait = true;
	if (io->at_end & END_TIMED || !bdev_nowait(io->d->dev->bdev))
		io->bio->bi_opf &= ~REQ_NOWAIT;
}

/* Time, for disks that have a profile */

/* model-only: the backing device holds all, and at its own place. */
static int map_through(struct david_io *io, enum david_request kind)
{
	struct david *d = io->d;
	struct bio *bio = io->bio;
	bool able = true;

	bio_set_dev(bio, d->dev->bdev);
	if (bio_sectors(bio))
		bio->bi_iter.bi_sector = dm_target_offset(d->ti, bio->bi_iter.bi_sector);
	if (unlikely(READ_ONCE(d->store->refuses)) && kind != DAVID_REQ_READ &&
	    kind != DAVID_REQ_FLUSH) {
		bio_io_error(bio);
		return DM_MAPIO_SUBMITTED;
	}
	switch (kind) {
	case DAVID_REQ_DISCARD:
		/* Nobody can count on what it does. */
		if (bdev_max_discard_sectors(d->dev->bdev))
			break;
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	case DAVID_REQ_ZEROES:
		able = bdev_write_zeroes_sectors(d->dev->bdev);
		break;
	default:
		io->measured.kind = kind;
		io->measured.came = timing_beside(d->timing, bio);
		io->at_end |= END_MEASURED;
	}
	if (able)
		return DM_MAPIO_REMAPPED;
	/* The block layer writes zeros instead. */
	bio->bi_status = BLK_STS_NOTSUPP;
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}

/* True if the store's turn is next, otherwise *@result is what map returns. */
static bool map_timed(struct david_io *io, enum david_request kind, int *result)
{
	struct david *d = io->d;
	struct bio *bio = io->bio;
	bool range_only = kind == DAVID_REQ_DISCARD || kind == DAVID_REQ_ZEROES;

	/*
	 * The mode may change at any time, so it is looked at once: what the
	 * request is to be at its end stands in at_end. Pairs with change_mode().
	 */
	switch (smp_load_acquire(&d->mode)) {
	case DAVID_MODE_MODEL_ONLY:
		*result = map_through(io, kind);
		return false;
	case DAVID_MODE_TIMING_ACCURATE:
		if (range_only)
			break;
		if (unlikely(!timing_arrive(d->timing, &io->timed, bio))) {
			bio_wouldblock_error(bio);
			*result = DM_MAPIO_SUBMITTED;
			return false;
		}
		io->at_end |= END_TIMED;
		break;
	default:
		if (!range_only)
			timing_charge(d->timing, bio);
	}
	/*
	 * Without a cache to flush, the host takes what is complete for durable. Nobody counts on
	 * a discard.
	 */
	if ((kind == DAVID_REQ_WRITE || kind == DAVID_REQ_ZEROES) &&
	    timing_writes_through(d->timing))
		bio->bi_opf |= REQ_FUA;
	return true;
}

static enum david_request request_kind(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return DAVID_REQ_READ;
	case REQ_OP_DISCARD:
		return DAVID_REQ_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return DAVID_REQ_ZEROES;
	default:
		return DAVID_REQ_WRITE;
	}
}

static void flush_durable(struct durable_wait *wait, blk_status_t status)
{
	struct bio *bio = container_of(wait, struct david_io, wait)->bio;

	bio->bi_status = status;
	bio_endio(bio);
}

static int map_flush(struct david_io *io)
{
	struct david *d = io->d;
	struct store *store = d->store;

	io->wait.flush = true;
	io->wait.done = flush_durable;
	if (store->durable && (csum_sync(&d->csum_io, &io->wait) || durable_sync(store, &io->wait)))
		return DM_MAPIO_SUBMITTED;
	bio_set_dev(io->bio, d->dev->bdev);
	return DM_MAPIO_REMAPPED;
}

/* Once for each request, in the order of arrival: the classifier learns from it. */
static void look_implicitly(struct david_io *io, enum david_request kind)
{
	io->first = io->iter.bi_sector;
	if (kind == DAVID_REQ_WRITE && io->first < FS_SUPERS_END)
		extent_see(io->d, io->bio, io->first);
	if (!io->d->implicit)
		return;
	if (kind == DAVID_REQ_READ)
		implicit_read(io->d->implicit, io->first, bio_sectors(io->bio));
	else if (kind == DAVID_REQ_WRITE)
		implicit_write(io->d->implicit, io->bio, io->first, &io->implied);
	else
		implicit_discard(io->d->implicit, io->first, bio_sectors(io->bio));
}

int david_map(struct dm_target *ti, struct bio *bio)
{
	struct david *d = ti->private;
	struct david_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct stats __percpu *stats = d->store->stats;
	enum david_request kind;
	struct lap lap;
	int result;

	io->d = d;
	io->bio = bio;
	io->at_end = 0;
	io->redirected = false;
	io->nowait = false;
	io->status = BLK_STS_OK;

	if (!bio_sectors(bio)) {
		/* An empty flush: what was written before is to be durable. */
		this_cpu_inc(stats->requests[DAVID_REQ_FLUSH]);
		if (d->timing && !map_timed(io, DAVID_REQ_FLUSH, &result))
			return result;
		return map_flush(io);
	}

	io->iter = bio->bi_iter;
	io->iter.bi_sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	kind = request_kind(bio);
	this_cpu_inc(stats->requests[kind]);
	this_cpu_add(stats->sectors[kind], bio_sectors(bio));
	if (d->timing && !map_timed(io, kind, &result))
		return result;

	lap_start(&lap, stats);
	io->implied.runs = 0;
	if (unlikely(io->iter.bi_sector < READ_ONCE(d->watch_below))) {
		look_implicitly(io, kind);
		lap_charge(&lap, DAVID_CPU_CLASSIFY);
	}
	if (unlikely(bio->bi_opf & (REQ_NOWAIT | REQ_FUA))) {
		if (bio->bi_opf & REQ_FUA && kind != DAVID_REQ_READ && d->store->durable)
			io->at_end |= END_DURABLE;
		if (bio->bi_opf & REQ_NOWAIT)
			begin_nowait(io);
	}
	switch (kind) {
	case DAVID_REQ_READ:
		return map_read(io, &lap);
	case DAVID_REQ_WRITE:
		return map_write(io, &lap);
	default:
		return map_change(io, &lap, NULL);
	}
}

static void end_unlock(struct david_io *io, blk_status_t error)
{
	struct store *store = io->d->store;
	struct david_io *next, *tmp;
	unsigned long flags;
	LIST_HEAD(granted);
	struct lap lap;

	lap_start(&lap, store->stats);
	spin_lock_irqsave(&store->lock, flags);
	if (io->redirected)
		piece_done(store, &io->whole, error);
	range_unlock(&store->locks, &io->lock, &granted);
	spin_unlock_irqrestore(&store->lock, flags);

	/* This may be hard interrupt context: they go on from a worker. */
	list_for_each_entry_safe(next, tmp, &granted, lock.granted)
		io_queue(next);
	lap_charge(&lap, DAVID_CPU_MAP);
}

/* The module's own requests */

static void own_endio(struct bio *bio)
{
	struct david_io *io = bio->bi_private;

	if (io->at_end & END_UNLOCK)
		end_unlock(io, bio->bi_status);
	complete(&io->done);
}

int david_own_request(struct david *d, struct bio *bio, sector_t sector)
{
	struct david_io *io = kmalloc(sizeof(*io), GFP_NOIO);
	struct lap lap;
	int result;

	if (!io)
		return -ENOMEM;
	bio->bi_iter.bi_sector = sector;
	bio->bi_private = io;
	bio->bi_end_io = own_endio;
	io->d = d;
	io->bio = bio;
	io->iter = bio->bi_iter;
	io->at_end = END_OWN;
	io->redirected = false;
	io->nowait = false;
	io->status = BLK_STS_OK;
	io->implied.runs = 0;
	owner_cache_init(&io->owners);
	init_completion(&io->done);
	lap_start(&lap, d->store->stats);
	if (bio_op(bio) == REQ_OP_READ)
		result = map_read(io, &lap);
	else
		result = map_change(io, &lap, NULL);
	if (result == DM_MAPIO_REMAPPED)
		submit_bio_noacct(bio);
	wait_for_completion_io(&io->done);
	kfree(io);
	return blk_status_to_errno(bio->bi_status);
}

/* It has ended before, and was held back: device-mapper's end of it comes anew. */
static void write_durable(struct durable_wait *wait, blk_status_t status)
{
	struct bio *bio = container_of(wait, struct david_io, wait)->bio;

	if (status)
		bio->bi_status = status;
	bio->bi_end_io(bio);
}

static bool is_failure(blk_status_t error)
{
	return error != BLK_STS_NOSPC && error != BLK_STS_AGAIN && error != BLK_STS_NOTSUPP;
}

int david_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct david_io *io = dm_per_bio_data(bio, sizeof(struct david_io));
	u8 at_end = io->at_end;
	struct timing *timing;

	if (unlikely(*error) && at_end != END_DELIVERED && is_failure(*error))
		this_cpu_inc(io->d->store->stats->errors);
	if (!at_end)
		return DM_ENDIO_DONE;
	if (at_end & END_UNLOCK) {
		end_unlock(io, *error);
		if (likely(at_end == END_UNLOCK))
			return DM_ENDIO_DONE;
	}
	if (at_end & END_DURABLE && !*error) {
		io->at_end = at_end & END_TIMED;
		io->wait.flush = false;
		io->wait.done = write_durable;
		if (csum_sync(&io->d->csum_io, &io->wait) || durable_sync(io->d->store, &io->wait))
			return DM_ENDIO_INCOMPLETE;
	}
	timing = io->d->timing;
	if (at_end & END_MEASURED)
		timing_measured(timing, io->measured.kind, io->measured.came);
	if (!(at_end & END_TIMED))
		return DM_ENDIO_DONE;
	/* From timing_stored() on the timer may deliver it. */
	io->at_end = END_DELIVERED;
	return timing_stored(timing, &io->timed) ? DM_ENDIO_DONE : DM_ENDIO_INCOMPLETE;
}

/* Device-mapper keeps as many of our per-bio data ready as we keep sub-bios. */
static const long pool_bytes = MIN_SUBS * (sizeof(struct sub) + sizeof(struct david_io) +
					   BIO_MAX_VECS * sizeof(struct bio_vec)) +
			       MIN_BOUNCES * PAGE_SIZE;

int david_pools_init(struct david *d)
{
	int r;

	r = bioset_init(&d->subs, MIN_SUBS, offsetof(struct sub, bio), BIOSET_NEED_BVECS);
	if (r)
		return r;
	r = mempool_init_page_pool(&d->bounces, MIN_BOUNCES, 0);
	if (r) {
		bioset_exit(&d->subs);
		return r;
	}
	atomic64_add(pool_bytes, &d->store->pools);
	return 0;
}

void david_pools_exit(struct david *d)
{
	atomic64_sub(pool_bytes, &d->store->pools);
	mempool_exit(&d->bounces);
	bioset_exit(&d->subs);
}
