// SPDX-License-Identifier: GPL-2.0
/* A store on a backing device that has become larger: see grow.h. */
#include "grow.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/sched/mm.h>
#include "../io/david.h"
#include "../store/wal.h"
#include "../store/exact.h"
#include "../store/store.h"

#define DM_MSG_PREFIX	"david"

/* What the store is to have. */
struct growth {
	u64 blocks;
	struct remap_bitmap bitmap;
	struct wal_maps wal;
	struct exact_maps exact;
};

static u64 device_blocks(const struct store *store, struct block_device *bdev)
{
	return bdev_nr_sectors(bdev) >> store->block_shift;
}

u64 grow_blocks(const struct store *store, struct block_device *bdev)
{
	return max(store->bitmap.size, device_blocks(store, bdev)) - wal_blocks(store);
}

static void grow_dispose(struct growth *growth)
{
	bm_destroy(&growth->bitmap);
	wal_maps_destroy(&growth->wal);
	exact_maps_free(&growth->exact);
}

/* Copies may be made without the lock: nothing changes a store whose disk is suspended. */
static int grow_prepare(const struct store *store, struct growth *growth)
{
	int r = bm_init(&growth->bitmap, growth->blocks);

	if (!r && store->wal)
		r = wal_maps_init(&growth->wal, growth->blocks);
	if (!r && store->exact)
		r = exact_maps_grow(store, growth->blocks, &growth->exact);
	if (!r)
		bm_copy(&growth->bitmap, &store->bitmap);
	return r;
}

/* False if there is something now that was not there when this was prepared. */
static bool grow_commit(struct david *d, struct growth *growth)
{
	struct store *store = d->store;
	unsigned long flags;
	bool fits;

	spin_lock_irqsave(&store->lock, flags);
	fits = !store->exact || growth->exact.data;
	if (fits) {
		swap(store->bitmap, growth->bitmap);
		if (store->wal)
			wal_maps_swap(store, &growth->wal);
		if (store->exact)
			exact_maps_swap(store, &growth->exact);
		store->low_water = d->low_water;
		store_has_room(store);
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return fits;
}

static bool wants(const struct store *store, u64 blocks)
{
	return blocks > store->bitmap.size && !store->no_updates;
}

int grow_start(struct david *d, bool may_write)
{
	const char *name = dm_table_device_name(d->ti->table);
	struct block_device *bdev = d->dev->bdev;
	struct store *store = d->store;
	struct growth growth = { .blocks = device_blocks(store, bdev) };
	u64 before = store->bitmap.size;
	unsigned int noio;
	int r = 0;

	if (growth.blocks < before) {
		DMERR("%s: backing device is smaller than the store in use", name);
		return -EINVAL;
	}
	store_set_access(store, may_write);
	noio = memalloc_noio_save();
	if (wants(store, growth.blocks))
		r = grow_prepare(store, &growth);
	if (r || !growth.bitmap.size)
		growth.blocks = before;
	if (r)
		DMWARN("%s: backing device has grown, but is not used to its end: error %d",
		       name, r);
	r = 0;
	if (store->wal)
		r = wal_start(store, bdev, growth.blocks, d->ti->len, d->seed, d->wq, &d->event);
	if (!r && growth.blocks > before && !grow_commit(d, &growth))
		DMWARN("%s: backing device has grown, but is not used to its end: resume again",
		       name);
	grow_dispose(&growth);
	memalloc_noio_restore(noio);
	return r;
}
