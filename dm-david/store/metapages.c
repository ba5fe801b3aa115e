// SPDX-License-Identifier: GPL-2.0
/* The module's own pages in a store: see metapages.h. */
#include "metapages.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/sched.h>
#include "store.h"

unsigned int metapage_blocks(const struct store *store)
{
	return FORMAT_PAGE / store->block_size;
}

static u64 metapage_block(const struct store *store, enum meta_area area, u64 page)
{
	return FORMAT_META + area * FORMAT_META_AREA + page * metapage_blocks(store);
}

void metapages_open(struct store *store)
{
	enum meta_area area;
	struct rt_range r;
	u64 at, end;

	for (area = 0; area < META_AREAS; area++) {
		end = metapage_block(store, area + 1, 0);
		for (at = metapage_block(store, area, 0); at < end; at += r.len) {
			rt_lookup(&store->table, at, &r);
			r.len = min(r.len, end - at);
			if (r.kind == RT_STORED)
				store->meta_pages[area] += r.len;
		}
	}
}

u64 metapage_place(const struct store *store, enum meta_area area, u64 page)
{
	struct rt_range r;

	lockdep_assert_held(&store->lock);
	if (!store->meta_pages[area])
		return BM_NONE;
	rt_lookup(&store->table, metapage_block(store, area, page), &r);
	return r.kind == RT_STORED && r.len >= metapage_blocks(store) ? r.value : BM_NONE;
}

static void metapages_commit(struct store *store, enum meta_area area, const struct rt_range *r)
{
	u64 before = store->table.blocks[RT_STORED];

	store_commit(store, r);
	store->meta_pages[area] += store->table.blocks[RT_STORED] - before;
}

void metapages_move(struct store *store, enum meta_area area, u64 page, u64 pages, u64 dest)
{
	struct rt_range r = {
		.start = metapage_block(store, area, page),
		.len = pages * metapage_blocks(store),
		.value = dest == BM_NONE ? 0 : dest,
		.kind = dest == BM_NONE ? RT_HOLE : RT_STORED,
	};

	lockdep_assert_held(&store->lock);
	metapages_commit(store, area, &r);
}

bool metapages_forget(struct store *store, enum meta_area area, u64 page, u64 pages, gfp_t gfp)
{
	u64 at = metapage_block(store, area, page), end = metapage_block(store, area, page + pages);
	bool good = true;
	unsigned long flags;
	struct rt_range r;

	while (good && at < end) {
		spin_lock_irqsave(&store->lock, flags);
		rt_lookup(&store->table, at, &r);
		if (r.kind != RT_HOLE) {
			good = store_reserve(store, RT_HOLE, gfp, &flags);
			/* The lock may have been let go. One old range at a time. */
			rt_lookup(&store->table, at, &r);
			r.len = min(r.len, end - at);
			r.value = 0;
			if (good && r.kind == RT_HOLE) {
				rt_unreserve(&store->table);
			} else if (good) {
				r.kind = RT_HOLE;
				metapages_commit(store, area, &r);
			}
		}
		spin_unlock_irqrestore(&store->lock, flags);
		at += min(r.len, end - at);
		if (gfpflags_allow_blocking(gfp))
			cond_resched();
	}
	return good;
}

int metapages_io(struct store *store, struct block_device *bdev, u64 dest, void **page,
		 unsigned int pages, blk_opf_t opf)
{
	struct bio_vec vec[META_BATCH];
	struct bio bio;
	unsigned int i;
	int error;

	bio_init(&bio, bdev, vec, META_BATCH, opf);
	bio.bi_iter.bi_sector = dest << store->block_shift;
	for (i = 0; i < pages; i++)
		__bio_add_page(&bio, virt_to_page(page[i]), FORMAT_PAGE, offset_in_page(page[i]));
	error = submit_bio_wait(&bio);
	bio_uninit(&bio);
	return error;
}
