// SPDX-License-Identifier: GPL-2.0
/* A store on a backing device that has become larger: see grow.h. */
#include "grow.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/sched/mm.h>
#include "../io/david.h"
#include "../store/growth.h"
#include "../store/pool.h"
#include "../store/store.h"

#define DM_MSG_PREFIX	"david"

static u64 device_blocks(const struct store *store, struct block_device *bdev)
{
	/* pool_starting() has seen to it. */
	if (store->pool)
		return store->bitmap.size;
	return bdev_nr_sectors(bdev) >> store->block_shift;
}

u64 grow_blocks(const struct store *store, struct block_device *bdev)
{
	return max(store->bitmap.size, device_blocks(store, bdev)) - wal_blocks(store);
}

/* False if there is something now that was not there when this was prepared. */
static bool grow_commit(struct david *d, struct growth *growth)
{
	unsigned long flags;

	spin_lock_irqsave(&d->store->lock, flags);
	d->store->low_water = d->low_water;
	spin_unlock_irqrestore(&d->store->lock, flags);
	return growth_commit(d->store, growth);
}

static bool grow_is_wanted(const struct store *store, u64 blocks)
{
	return blocks > store->bitmap.size && !store->no_updates;
}

static int grow_and_start(struct david *d)
{
	const char *name = dm_table_device_name(d->ti->table);
	struct block_device *bdev = d->dev->bdev;
	struct store *store = d->store;
	struct growth growth = { .blocks = device_blocks(store, bdev) };
	u64 before = store->bitmap.size;
	int r = 0;

	if (growth.blocks < before) {
		DMERR("%s: backing device is smaller than the store in use", name);
		return -EINVAL;
	}
	if (grow_is_wanted(store, growth.blocks))
		r = growth_prepare(store, &growth);
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
	growth_dispose(&growth);
	return r;
}

int grow_start(struct david *d, bool may_write)
{
	unsigned int noio = memalloc_noio_save();
	int r;

	store_set_access(d->store, may_write);
	if (d->store->pool)
		pool_starting(d->store, d->dev->bdev);
	r = grow_and_start(d);
	if (d->store->pool)
		pool_started(d->store);
	memalloc_noio_restore(noio);
	return r;
}
