// SPDX-License-Identifier: GPL-2.0
/* Content of RAW files that is dropped elsewhere: see twin.h. */
#include "twin.h"

#include <linux/sched/mm.h>
#include "../base/inject.h"
#include "../portable/crc.h"
#include "../store/twins.h"

/*
 * There are no tables, as a file system that needs them was not expected. Has a worker to make
 * them?
 */
static bool wants_tables(struct david *d)
{
	if (READ_ONCE(d->store->twins_refused) || !raw_has_file_rules(&d->store->raw))
		return false;
	queue_work(d->wq, &d->twin_work);
	return true;
}

void twin_work(struct work_struct *work)
{
	twin_prepare(container_of(work, struct david, twin_work));
}

void twin_prepare(struct david *d)
{
	struct store *store = d->store;
	struct twins *twins;

	if ((d->classify != CLASSIFY_AUTO && d->classify != CLASSIFY_EXPLICIT) ||
	    READ_ONCE(store->twins) || READ_ONCE(store->twins_refused) ||
	    !raw_has_file_rules(&store->raw) || !owner_may_share(&d->owners))
		return;
	twins = twins_create(store->bitmap.size);
	if (!twins) {
		WRITE_ONCE(store->twins_refused, true);
		DMWARN("%s: not enough memory: RAW files that are deduplicated may lose content",
		       dm_table_device_name(d->ti->table));
	} else if (cmpxchg(&store->twins, NULL, twins)) {
		twins_destroy(twins);
	}
}

void twin_judge(struct david_io *io, const struct bvec_iter *from, unsigned int bytes,
		struct judgement *judged)
{
	struct store *store = io->d->store;
	/* Pairs with the cmpxchg() in twin_prepare(). */
	struct twins *twins = smp_load_acquire(&store->twins);
	u64 block = from->bi_sector >> store->block_shift, dropped[TWINS_MAX];
	bool is_twin;
	u32 csum;

	if (judged->constant || bytes != store->block_size || INJECTED(twins))
		return;
	if (!twins) {
		/* What is dropped before there are tables would not be found. */
		is_twin = wants_tables(io->d);
	} else {
		csum = ~io_crc32c(io->bio, *from, bytes);
		if (judged->evidence == DAVID_EV_RAW && twins_raw(twins, block, csum, dropped))
			io->at_end |= END_TWIN;
		is_twin = judged->verdict == VERDICT_SQUASH && twins_dropped(twins, block, csum);
	}
	if (is_twin && judged->verdict == VERDICT_SQUASH) {
		judged->evidence = DAVID_EV_RAW;
		judged->verdict = VERDICT_KEEP;
	}
}

void twin_see_read(struct david_io *io, const struct rt_range *r)
{
	struct david *d = io->d;
	/* Pairs with the cmpxchg() in twin_prepare(). */
	struct twins *twins = smp_load_acquire(&d->store->twins);
	struct inode *inode;

	if (io->at_end & (END_INTERNAL | END_TWIN))
		return;
	if (!twins) {
		wants_tables(d);
		return;
	}
	rcu_read_lock();
	inode = owner_of_read(&d->owners, page_folio(bio_iter_page(io->bio, io->iter)));
	if (inode && raw_has_file(&d->store->raw, inode))
		io->at_end |= END_TWIN;
	rcu_read_unlock();
}

enum served serve_twin(struct david_io *io, struct stopwatch *timer)
{
	struct store *store = io->d->store;
	struct crct_want want;
	struct rt_range r;
	u32 csum;

	store_lookup(store, io_first_block(io), &r);
	if (r.kind == RT_SQUASHED && READ_ONCE(store->has_csums)) {
		/* The file system has the checksum of what was dropped last. */
		switch (csum_find(store, io->iter.bi_sector, &csum, &want)) {
		case CRCT_DONE:
			if (csum != ~io_crc32c(io->bio, io->iter, io->iter.bi_size))
				r.kind = RT_HOLE;
			break;
		case CRCT_NONE:
			break;
		default:
			io->want = want;
			return defer_for_csum(io);
		}
	}
	if (r.kind == RT_SQUASHED)
		return serve_write(io, timer, false, NULL);
	/* Exact data is not to be dropped later. */
	if (r.kind == RT_STORED && store->exact)
		exact_clear(store, r.value, 1);
	io_advance(io, io->iter.bi_size);
	return SERVED;
}

/* The block at @block has RAW content, or may have: store that where it was dropped. */
static int twin_spread(struct david *d, void *page, u64 block)
{
	struct store *store = d->store;
	u64 dropped[TWINS_MAX];
	struct rt_range r;
	unsigned int nr;
	int error;

	store_lookup(store, block, &r);
	if (r.kind != RT_STORED && r.kind != RT_PACKED)
		return 0;
	error = david_internal_block(d, page, block, REQ_OP_READ);
	if (error)
		return error;
	nr = twins_raw(store->twins, block, crc_of(CRC_32C, page, store->block_size), dropped);
	while (!error && nr)
		error = david_internal_block(d, page, dropped[--nr], REQ_OP_WRITE);
	return error;
}

static void finish_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);
	unsigned int noio = memalloc_noio_save();
	struct david *d = io->d;
	struct page *page = mempool_alloc(&d->twin_pages, GFP_NOIO);
	int error = 0;
	u64 block;

	for (block = io->lock.start; !error && block <= io->lock.last; block++)
		error = twin_spread(d, page_address(page), block);
	mempool_free(page, &d->twin_pages);
	memalloc_noio_restore(noio);
	if (error)
		pr_warn_ratelimited("dm-david: RAW content cannot be stored where it was dropped (error %d): a deduplicated RAW file may lose it\n",
				    error);
	io->bio->bi_end_io(io->bio);
}

void twin_finish(struct david_io *io)
{
	INIT_WORK(&io->work, finish_work);
	queue_work(io->d->twin_wq, &io->work);
}
