// SPDX-License-Identifier: GPL-2.0
/* What becomes of a write, by the verdict on its blocks; discards, and writes of zeros. */
#include "io.h"

#include <linux/highmem.h>
#include "../base/inject.h"
#include "../timing/trace.h"

/* Squash the blocks of @span with their checksums. */
static enum served squash_with_csums(struct david_io *io, const struct stopwatch *timer,
				     struct span *span)
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
			return defer_for_csum(io);
		default:
			return reservation_failed(io, gfp);
		}
		io_count_blocks(io, timer, span, r.len);
		io_advance(io, r.len * store->block_size);
	}
	return SERVED;
}

/*
 * Exact data (store/exact.h): store blocks of @span instead of squashing them, as many as one piece
 * can have. SERVED_FAILED: squash them.
 */
static enum served write_exact(struct david_io *io, struct stopwatch *timer, bool may_remap,
			       struct span *span)
{
	struct store *store = io->d->store;
	struct rt_range r = span->r;
	gfp_t gfp = io_gfp(io);
	struct piece piece;
	enum served served;
	u64 blocks;

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
			return defer_for_csum(io);
		default:
			return reservation_failed(io, gfp);
		}
		break;
	default:
		return SERVED_FAILED;
	}
	piece = (struct piece){ .block = r.start, .blocks = r.len, .evictable = true };
	served = piece_place(io, &piece, gfp);
	if (served != SERVED)
		return served;
	served = send_piece(io, timer, &piece, 0, piece.blocks * store->block_size, may_remap);
	if (served == SERVED_DEFER) {
		piece_abort(store, &piece);
		return served;
	}
	blocks = piece.blocks - io_counted_blocks(io, piece.block, piece.blocks);
	this_cpu_add(store->stats->evidence[span->evidence], blocks);
	this_cpu_add(store->stats->verdict[DAVID_WRITTEN_EXACT], blocks);
	return served;
}

/* Whole units, of which each may have a checksum. */
static bool is_of_units(const struct store *store, const struct rt_range *r)
{
	return !(((r->start | r->len) << store->block_shift) % CSUM_SECTORS);
}

/* Squash the blocks of @span. The blocks, or blocks before them, may have checksums. */
static noinline enum served squash_with_policy(struct david_io *io, struct stopwatch *timer,
					       struct span *span)
{
	struct store *store = io->d->store;
	gfp_t gfp = io_gfp(io);
	enum csum_policy policy;
	enum served served;
	struct rt_range r;

	/* A copy of squashed data has the checksum that it had, whoever may own it now. */
	if (span->evidence == DAVID_EV_MADE_UP)
		policy = is_of_units(store, &span->r) && !INJECTED(copy) ? CSUM_KEEP : CSUM_IGNORE;
	else
		policy = csum_policy_of(io, &span->r);
	switch (policy) {
	case CSUM_KEEP:
		served = squash_with_csums(io, timer, span);
		stopwatch_account(timer, DAVID_CPU_MAP);
		return served;
	case CSUM_REFUSE:
		/* The policy has changed since the blocks were judged: judge them again. */
		return SERVED_DEFER;
	default:
		break;
	}
	if (store->has_csums &&
	    csum_invalidate(store, span->r.start, span->r.len, &io->want) != CRCT_DONE)
		return defer_for_csum(io);
	r = span->r;
	if (!store_set(store, &r, gfp))
		return reservation_failed(io, gfp);
	io_count_blocks(io, timer, span, span->r.len);
	stopwatch_account(timer, DAVID_CPU_MAP);
	io_advance(io, span->r.len * store->block_size);
	return SERVED;
}

/*
 * Record the checksums of @piece, whose blocks are kept because they are undecided. If they are
 * squashed later, their content is no longer at hand. Shortens @piece to what one call can record.
 */
static noinline enum served csum_undecided(struct david_io *io, const struct span *span,
					   struct piece *piece, gfp_t gfp)
{
	struct store *store = io->d->store;
	struct rt_range r = { .start = piece->block, .kind = RT_STORED };

	if (store->block_size != CSUM_UNIT || span->evidence == DAVID_EV_RAW || INJECTED(later) ||
	    csum_policy(io->d, &io->top) == CSUM_REFUSE ||
	    !implicit_evidence_has_csum(&io->implicit, io->iter.bi_sector - io->first,
					piece->blocks << store->block_shift))
		return SERVED;
	piece->blocks = min_t(u64, piece->blocks, CSUM_BATCH);
	r.len = piece->blocks;
	switch (csum_squash(&io->d->csum_io, &r, io->bio, io->iter, gfp, &io->want)) {
	case CRCT_DONE:
		piece->has_csum = true;
		return SERVED;
	case CRCT_LOAD:
		return defer_for_csum(io);
	default:
		return reservation_failed(io, gfp);
	}
}

/* Write blocks of @piece to where they are, or to a new place, as many as one run can have. */
static __always_inline enum served write_kept(struct david_io *io, struct stopwatch *timer,
					      bool may_remap, struct piece *piece)
{
	struct store *store = io->d->store;
	enum served served;

	if (unlikely(store->share) && !(io->at_end & END_AGAIN))
		return write_shared(io, timer, may_remap, piece);
	served = piece_place(io, piece, io_gfp(io));
	if (served != SERVED)
		return served;
	served = send_piece(io, timer, piece, 0, piece->blocks * store->block_size, may_remap);
	if (served == SERVED_DEFER)
		piece_abort(store, piece);
	return served;
}

static enum served write_blocks(struct david_io *io, struct stopwatch *timer, bool may_remap,
				struct span *span)
{
	struct store *store = io->d->store;
	struct piece piece = { .block = span->r.start, .blocks = span->r.len };
	gfp_t gfp = io_gfp(io);
	enum served served;

	if (span->r.kind == RT_SQUASHED && unlikely(store->exact) &&
	    span->evidence != DAVID_EV_MADE_UP) {
		served = write_exact(io, timer, may_remap, span);
		if (served != SERVED_FAILED)
			return served;
	}
	if (span->r.kind == RT_SQUASHED && unlikely(may_have_csums(io->d)))
		return squash_with_policy(io, timer, span);
	if (span->r.kind != RT_STORED) {
		if (!store_set(store, &span->r, gfp))
			return reservation_failed(io, gfp);
		if (unlikely(READ_ONCE(store->has_csums)))
			csum_invalidate_cached(store, piece.block, piece.blocks, gfp);
	} else {
		if (unlikely(READ_ONCE(io->d->owners.may_have_csums)) && io->implicit.runs) {
			served = csum_undecided(io, span, &piece, gfp);
			if (served != SERVED)
				return served;
		}
		served = write_kept(io, timer, may_remap, &piece);
		if (served == SERVED_DEFER || served == SERVED_FAILED)
			return served;
	}
	io_count_blocks(io, timer, span, piece.blocks);
	stopwatch_account(timer, DAVID_CPU_MAP);
	if (span->r.kind == RT_STORED)
		return served;
	io_advance(io, piece.blocks * store->block_size);
	return SERVED;
}

/*
 * Write @bytes at @offset into the block of @r through a bounce page. If the block is not stored
 * yet, the rest of it is made up as a read would return it, and the whole block is written to a new
 * destination. If it is packed, the rest is read from the pack. If it is stored, the part is
 * written alone, or the block is read, modified and written where the backing device cannot write
 * so small a part.
 */
static enum served write_bounce(struct david_io *io, const struct rt_range *r,
				unsigned int offset, unsigned int bytes)
{
	struct david *d = io->d;
	struct store *store = d->store;
	struct piece piece = { .block = r->start, .blocks = 1 };
	bool stored = r->kind == RT_STORED, packed = r->kind == RT_PACKED;
	struct bvec_iter part = io->iter;
	const u32 *known = NULL;
	gfp_t gfp = io_gfp(io);
	struct page *page;
	enum served served;
	struct bio *bio;
	void *p;
	u32 crc;

	if (stored && !is_aligned(d, offset, bytes)) {
		piece.dest = r->value;
		return read_block(io, &piece, piece.dest, offset, bytes, BOUNCE_RMW);
	}
	if (r->kind == RT_SQUASHED && unlikely(READ_ONCE(store->has_csums))) {
		switch (csum_find(store, r->start << store->block_shift, &crc, &io->want)) {
		case CRCT_DONE:
			known = &crc;
			break;
		case CRCT_LOAD:
			return defer_for_csum(io);
		default:
			break;
		}
	}

	/* A worker may read its pack. */
	if (unlikely(packed) && !io->in_worker)
		return SERVED_DEFER;

	/*
	 * The page first, then the bio, everywhere: nobody who holds a bio waits for a page. A
	 * worker may sleep for the bio while it holds the page, and in piece_place() while it
	 * holds both. Ends of child bios refill the pools, and the log's own worker makes room in
	 * the log. Neither waits for what is held here.
	 */
	page = mempool_alloc(&d->bounces, gfp);
	if (!page)
		return SERVED_DEFER;
	bio = bio_alloc_bioset(d->dev->bdev, 1, bounce_opf(io), gfp, &d->child_bios);
	if (!bio) {
		served = SERVED_DEFER;
		goto free_page;
	}
	bio->bi_ioprio = io->bio->bi_ioprio;
	bio_clone_blkg_association(bio, io->bio);
	served = packed ? read_pack(io, r, page) : SERVED;
	if (served == SERVED)
		served = piece_place(io, &piece, gfp);
	if (served != SERVED)
		goto free_bio;

	p = kmap_local_page(page);
	if (!stored && !packed)
		make_block(d, r, p, known);
	part.bi_size = bytes;
	copy_from_request(io, part, p + offset);
	kunmap_local(p);
	if (stored) {
		__bio_add_page(bio, page, bytes, offset);
		child_init(io, bio, &piece, offset, page);
	} else {
		__bio_add_page(bio, page, store->block_size, 0);
		child_init(io, bio, &piece, 0, page);
	}
	child_submit(io, bio);
	io_advance(io, bytes);
	return SERVED;

free_bio:
	bio_put(bio);
free_page:
	mempool_free(page, &d->bounces);
	return served;
}

/* May the block at @dest, which the disk has, be written there? */
static bool is_own(struct store *store, u64 dest)
{
	u64 one = 1;

	return share_own(store->share, store->pool_slot, dest, &one);
}

/*
 * A write of less than a block is dropped only if the block is squashed already. Otherwise the rest
 * of the block may be metadata, or zeros that a program relies on, so the whole block is kept.
 * (With classify=data nothing is metadata.)
 */
static enum served write_part(struct david_io *io, struct stopwatch *timer, unsigned int offset,
			      unsigned int bytes, bool may_remap)
{
	struct david *d = io->d;
	struct store *store = d->store;
	struct judgement judged = {
		.verdict = VERDICT_KEEP, .evidence = DAVID_EV_MODE, .constant = true
	};
	struct piece piece = { .block = io_first_block(io), .blocks = 1 };
	enum david_written written = DAVID_WRITTEN_KEPT;
	gfp_t gfp = io_gfp(io);
	enum served served;
	struct rt_range r;
	bool zeroes = bio_op(io->bio) == REQ_OP_WRITE_ZEROES;
	bool counted = io->at_end & END_AGAIN && io->iter.bi_size > io->unshared;

	if (unlikely(READ_ONCE(store->no_updates)))
		return io_fail(io, BLK_STS_IOERR);
	if (!zeroes)
		judge_part(io, bytes, &judged);
	stopwatch_account(timer, DAVID_CPU_CLASSIFY);
	store_lookup(store, piece.block, &r);

	if (judged.constant && (r.kind == RT_FILL || r.kind == RT_HOLE) &&
	    judged.word == r.value) {
		/* The block has this content already. */
		written = DAVID_WRITTEN_FILL;
		io_advance(io, bytes);
		served = SERVED;
	} else if (judged.verdict == VERDICT_SQUASH && r.kind == RT_SQUASHED) {
		written = DAVID_WRITTEN_SQUASHED;
		io_advance(io, bytes);
		served = SERVED;
	} else if (d->classify == CLASSIFY_DATA && judged.verdict == VERDICT_SQUASH &&
		   r.kind < RT_STORED) {
		written = DAVID_WRITTEN_SQUASHED;
		r.len = 1;
		r.value = 0;
		r.kind = RT_SQUASHED;
		if (!store_set(store, &r, gfp))
			return reservation_failed(io, gfp);
		io_advance(io, bytes);
		served = SERVED;
	} else {
		if (judged.verdict == VERDICT_SQUASH)
			judged.evidence = DAVID_EV_PARTIAL;
		else if (r.kind == RT_STORED && unlikely(store->exact))
			exact_clear(store, r.value, 1);
		if (r.kind == RT_STORED && unlikely(store->share) && !is_own(store, r.value)) {
			served = write_shared_part(io, &r, offset, bytes);
		} else if (r.kind == RT_STORED && !zeroes && is_aligned(d, offset, bytes)) {
			piece.dest = r.value;
			served = send_piece(io, timer, &piece, offset, bytes, may_remap);
		} else {
			served = write_bounce(io, &r, offset, bytes);
		}
	}
	stopwatch_account(timer, DAVID_CPU_IO);
	if (!zeroes && !counted && (served == SERVED || served == SERVED_REMAPPED)) {
		this_cpu_inc(store->stats->evidence[judged.evidence]);
		this_cpu_inc(store->stats->verdict[written]);
		if (trace_david_verdict_enabled())
			trace_verdict(d, (piece.block << store->block_shift) +
				      (offset >> SECTOR_SHIFT), bytes >> SECTOR_SHIFT, written,
				      judged.evidence);
	}
	return served;
}

enum served serve_write(struct david_io *io, struct stopwatch *timer, bool may_remap,
			struct span *span)
{
	struct store *store = io->d->store;
	unsigned int offset = (io->iter.bi_sector & block_sector_mask(io->d)) << SECTOR_SHIFT;
	unsigned int bytes = min(store->block_size - offset, io->iter.bi_size);
	struct span judged;
	struct rt_range r;
	gfp_t gfp;

	if (bytes < store->block_size)
		return write_part(io, timer, offset, bytes, may_remap);
	if (bio_op(io->bio) != REQ_OP_WRITE_ZEROES) {
		if (!span) {
			span = &judged;
			judge_blocks(io, timer, span);
		}
		return write_blocks(io, timer, may_remap, span);
	}

	r.start = io_first_block(io);
	r.len = io->iter.bi_size / store->block_size;
	r.value = 0;
	r.kind = RT_FILL;
	bytes = r.len * store->block_size;
	gfp = io_gfp(io);
	if (!store_set(store, &r, gfp))
		return reservation_failed(io, gfp);
	if (unlikely(READ_ONCE(store->has_csums)))
		csum_invalidate_cached(store, io_first_block(io), bytes / store->block_size, gfp);
	io_advance(io, bytes);
	stopwatch_account(timer, DAVID_CPU_MAP);
	return SERVED;
}

enum served serve_discard(struct david_io *io, struct stopwatch *timer)
{
	struct store *store = io->d->store;
	unsigned int shift = store->block_shift;
	sector_t end = io->iter.bi_sector + bio_sectors(io->bio);
	struct rt_range r = { .kind = RT_HOLE };
	gfp_t gfp = io_gfp(io);
	u64 first, blocks;

	/* Blocks that are discarded in part stay as they are. */
	first = (io->iter.bi_sector + block_sector_mask(io->d)) >> shift;
	r.start = first;
	if (r.start < end >> shift) {
		r.len = (end >> shift) - r.start;
		blocks = r.len;
		if (!store_set(store, &r, gfp))
			return reservation_failed(io, gfp);
		if (unlikely(READ_ONCE(store->has_csums)))
			csum_invalidate_cached(store, first, blocks, gfp);
	}
	io_advance(io, io->iter.bi_size);
	stopwatch_account(timer, DAVID_CPU_MAP);
	return SERVED;
}

/* A discard of the module's own: blocks that were kept, and turned out to be data. */
enum served serve_squash(struct david_io *io)
{
	implicit_squash(io->d->implicit, io->iter.bi_sector, bio_sectors(io->bio));
	io_advance(io, io->iter.bi_size);
	return SERVED;
}
