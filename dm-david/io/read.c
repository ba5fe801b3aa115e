// SPDX-License-Identifier: GPL-2.0
/*
 * What a read returns. Stored blocks are read from the backing device. Constant blocks return their
 * word, empty ones zeros. The content of squashed blocks is made up from seed and sector. If the
 * block's checksum is known, the content has the same checksum (store/csum.h). Without one, it is
 * made by the format of the file where files= asks for that (owner/byfile.h).
 */
#include "io.h"

#include <linux/highmem.h>
#include "../owner/byfile.h"
#include "twin.h"

/* Fill @len bytes at @buf, @pos bytes after the start of @sector, which lies in @r. */
static void make_content(struct david *d, const struct rt_range *r, void *buf, sector_t sector,
			 unsigned int pos, unsigned int len)
{
	struct content content __uninit;
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
 * On a disk with files=. A page whose file is not known, or whose file has no content by its name,
 * gets the usual content.
 */
static noinline void fill_read_by_file(struct david_io *io, const struct rt_range *r,
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

/* Without a checksum, which would take precedence over files=. */
static void fill_unstored(struct david_io *io, const struct rt_range *r, unsigned int bytes)
{
	if (r->kind == RT_SQUASHED && byfile_any(&io->d->byfile))
		fill_read_by_file(io, r, bytes);
	else
		fill_read(io, r, bytes);
}

/* Make up the unit that @sector is in, so that its checksum is @crc. */
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
			return SERVED_DEFER;
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

/* Read @bytes of the squashed range @r, some of which may have a checksum. */
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
			fill_unstored(io, r, n);
			continue;
		}
		switch (csum_find(store, io->iter.bi_sector, &crc, &io->want)) {
		case CRCT_DONE:
			served = read_unit(io, n, crc);
			if (served != SERVED)
				return served;
			break;
		case CRCT_LOAD:
			return defer_for_csum(io);
		default:
			fill_unstored(io, r, n);
		}
	}
	return SERVED;
}

void make_block(struct david *d, const struct rt_range *r, void *p, const u32 *crc)
{
	sector_t sector = r->start << d->store->block_shift;

	if (!crc) {
		make_content(d, r, p, sector, 0, d->store->block_size);
		return;
	}
	make_unit(d, p, sector, *crc);
	memmove(p, p + ((sector % CSUM_SECTORS) << SECTOR_SHIFT), d->store->block_size);
}

/* All of a read that needs no I/O, and no checksum: it is in @r, which is not stored. */
static __always_inline void read_made_up(struct david_io *io, struct stopwatch *timer,
					 const struct rt_range *r)
{
	struct bio_vec bv = bio_iter_iovec(io->bio, io->iter);
	void *p;

	stopwatch_account(timer, DAVID_CPU_MAP);
	if (unlikely(bv.bv_len < io->iter.bi_size) || r->kind != RT_SQUASHED ||
	    byfile_any(&io->d->byfile) ||
	    READ_ONCE(io->d->content.kind) != CONTENT_INCOMPRESSIBLE) {
		fill_unstored(io, r, io->iter.bi_size);
	} else {
		/* One page of what has no parameters. Nobody asks io->iter any more. */
		p = bvec_kmap_local(&bv);
		content_fill_incompressible(p, &io->d->content_key,
					    io->iter.bi_sector << SECTOR_SHIFT, bv.bv_len);
		flush_dcache_page(bv.bv_page);
		kunmap_local(p);
	}
	stopwatch_account(timer, DAVID_CPU_CONTENT);
}

enum served read_pack(struct david_io *io, const struct rt_range *r, struct page *page)
{
	struct david *d = io->d;
	void *p = kmap_local_page(page);
	int error = packs_read(d->store, d->dev->bdev, r->value, r->start, p);

	kunmap_local(p);
	return error ? io_fail(io, BLK_STS_IOERR) : SERVED;
}

/* Read of the first block of @r. A worker does it: it reads the pack, and decodes. */
static noinline enum served read_packed(struct david_io *io, const struct rt_range *r,
					unsigned int offset, unsigned int bytes)
{
	struct bvec_iter part = io->iter;
	struct david *d = io->d;
	enum served served;
	struct page *page;
	void *p;

	if (!io->in_worker)
		return SERVED_DEFER;
	page = mempool_alloc(&d->bounces, GFP_NOIO);
	served = read_pack(io, r, page);
	if (served == SERVED) {
		part.bi_size = min(bytes, d->store->block_size - offset);
		p = kmap_local_page(page);
		copy_to_request(io, part, p + offset);
		kunmap_local(p);
		io_advance(io, part.bi_size);
	}
	mempool_free(page, &d->bounces);
	return served;
}

enum served serve_read_range(struct david_io *io, struct stopwatch *timer,
			     const struct rt_range *r, bool may_remap)
{
	unsigned int bytes = io_bytes_in(io, r);
	unsigned int offset = (io->iter.bi_sector & block_sector_mask(io->d)) << SECTOR_SHIFT;
	struct piece piece = { .block = r->start, .dest = r->value };
	struct david *d = io->d;

	if (r->kind < RT_STORED) {
		enum served served = SERVED;

		stopwatch_account(timer, DAVID_CPU_MAP);
		if (r->kind == RT_SQUASHED && unlikely(READ_ONCE(d->store->has_csums)))
			served = read_squashed(io, r, bytes);
		else
			fill_unstored(io, r, bytes);
		stopwatch_account(timer, DAVID_CPU_CONTENT);
		return served;
	}
	if (twin_any(d))
		twin_see_read(io, r);
	if (unlikely(r->kind == RT_PACKED))
		return read_packed(io, r, offset, bytes);
	if (!is_aligned(d, offset, bytes)) {
		if (!is_aligned(d, offset, 0) || bytes <= d->backing_mask) {
			bytes = min(bytes, d->store->block_size - offset);
			return read_block(io, &piece, piece.dest, offset, bytes, BOUNCE_READ);
		}
		bytes &= ~d->backing_mask;
	}
	if (unlikely(d->store->share) && !offset) {
		piece.learn = true;
		piece.blocks = bytes >> (SECTOR_SHIFT + d->store->block_shift);
		/* A worker sums more than one. A child bio waits for it. */
		may_remap &= piece.blocks <= 1;
	}
	return send_piece(io, timer, &piece, offset, bytes, may_remap);
}

int map_read(struct david_io *io, struct stopwatch *timer)
{
	struct store *store = io->d->store;
	sector_t sector = io->iter.bi_sector;
	u64 first = sector >> store->block_shift;
	/* Before the lock is taken: behind it the compiler would fetch all of it again. */
	u64 last = (sector + (io->iter.bi_size >> SECTOR_SHIFT) - 1) >> store->block_shift;
	struct rt_range r __uninit;
	bool granted, whole;
	unsigned long flags;

	owner_learn(&io->d->owners, io->bio);

	spin_lock_irqsave(&store->lock, flags);
	rt_lookup(&store->table, first, &r);
	whole = likely(r.len > last - first);
	/* What needs no I/O needs no lock either: the content is made up at once. */
	if (whole && r.kind < RT_STORED &&
	    (r.kind != RT_SQUASHED || likely(!store->has_csums))) {
		spin_unlock_irqrestore(&store->lock, flags);
		read_made_up(io, timer, &r);
		bio_endio(io->bio);
		return DM_MAPIO_SUBMITTED;
	}
	io_lock_range(io);
	granted = range_lock(&store->locks, &io->lock);
	spin_unlock_irqrestore(&store->lock, flags);

	if (unlikely(!io_may_begin(io, granted)))
		return DM_MAPIO_SUBMITTED;
	if (whole) {
		atomic_set(&io->pending, 1);
		if (serve_read_range(io, timer, &r, true) == SERVED_REMAPPED)
			return DM_MAPIO_REMAPPED;
		io_put(io);
		return DM_MAPIO_SUBMITTED;
	}
	return io_serve(io, timer, true, NULL);
}
