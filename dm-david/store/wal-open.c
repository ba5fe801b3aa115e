// SPDX-License-Identifier: GPL-2.0
/* A log's life: it is opened, becomes live, grows, and stops. See wal.h. */
#include "wal-internal.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../compat/compat.h"
#include "../lib/poolfmt.h"
#include "../base/inject.h"
#include "logread.h"
#include "pool.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

/* Opening */

static struct format_log_page *log_page_alloc(void)
{
	return kzalloc(FORMAT_PAGE, GFP_KERNEL);
}

/* A bitmap with nothing free. */
static int init_full_bitmap(struct remap_bitmap *bm, u64 size)
{
	int r = bm_init(bm, size);

	if (!r)
		bm_claim(bm, 0, size);
	return r;
}

int wal_maps_init(struct wal_maps *maps, u64 blocks)
{
	return init_full_bitmap(&maps->pending, blocks) ?: init_full_bitmap(&maps->sealed, blocks);
}

void wal_maps_destroy(struct wal_maps *maps)
{
	bm_destroy(&maps->pending);
	bm_destroy(&maps->sealed);
}

static int alloc_pages_of_log(struct wal *wal)
{
	unsigned int i;

	format_room(wal->super.log_pages, &wal->room);
	for (i = 0; i < wal->room.ring; i++) {
		wal->free[i] = log_page_alloc();
		if (!wal->free[i])
			return -ENOMEM;
		wal->nr_free++;
	}
	for (i = 0; i < wal->room.walk; i++) {
		wal->checkpoint_pages[i] = log_page_alloc();
		if (!wal->checkpoint_pages[i])
			return -ENOMEM;
	}
	wal->scratch = log_page_alloc();
	return wal->scratch ? wal_maps_init(&wal->maps, wal->store->bitmap.size) : -ENOMEM;
}

/*
 * What a pool's disk stores is in use in the pool's bitmap since the pool was opened, and in the
 * store's since it was made. So only look whether it makes sense.
 */
static const char *claim_pool_disk(const struct store *store, u64 *block)
{
	struct remap_bitmap bitmap;
	const char *why;

	*block = 0;
	if (bm_init(&bitmap, store->bitmap.size))
		return "not enough memory";
	why = format_claim(&store->table, &bitmap, POOL_PAGES, block);
	bm_destroy(&bitmap);
	return why;
}

static int wal_replay(struct wal *wal, struct block_device *bdev, void *buf, char **error)
{
	struct store *store = wal->store;
	const char *why;
	u64 block;
	int r;

	r = log_replay(bdev, wal->base, &wal->super, &store->table, buf, &wal->head, error);
	if (r)
		return r;
	why = store->pool ? claim_pool_disk(store, &block) :
	      format_claim(&store->table, &store->bitmap, format_data(&wal->super), &block);
	if (!why)
		return 0;
	DMERR("%pg: store damaged: block %llu of the disk: %s", bdev, block, why);
	*error = "The store on the backing device is damaged: see david store check";
	return -EUCLEAN;
}

static void wal_free(struct wal *wal)
{
	unsigned int i;

	if (wal->wq)
		destroy_workqueue(wal->wq);
	while (wal->nr_free)
		kfree(wal->free[--wal->nr_free]);
	while (wal->nr_full)
		kfree(wal->full[--wal->nr_full]);
	kfree(wal->cur);
	kfree(wal->scratch);
	for (i = 0; i < CHECKPOINT_MAX; i++)
		kfree(wal->checkpoint_pages[i]);
	if (wal->page)
		__free_page(wal->page);
	wal_maps_destroy(&wal->maps);
	kfree(wal);
}

int wal_open(struct store *store, struct block_device *bdev, bool want_format,
	     bool may_write, char **error)
{
	struct wal *wal;
	void *buf;
	int r = -ENOMEM;

	*error = "Not enough memory for the store's log";
	wal = kzalloc(sizeof(*wal), GFP_KERNEL);
	buf = kmalloc(LOGREAD_PAGES * FORMAT_PAGE, GFP_KERNEL);
	if (!wal || !buf) {
		kfree(buf);
		kfree(wal);
		return -ENOMEM;
	}
	wal->store = store;
	INIT_WORK(&wal->work, wal_work);
	INIT_LIST_HEAD(&wal->waiters);
	init_waitqueue_head(&wal->wait);
	wal->page = alloc_page(GFP_KERNEL);
	wal->wq = alloc_workqueue("dm-david-log", WQ_MEM_RECLAIM | WQ_PERCPU, 1);
	if (!wal->page || !wal->wq)
		goto bad;
	r = store->pool ? super_read_pool_disk(wal, bdev, want_format, buf, error) :
			  super_read(wal, bdev, want_format, may_write, buf, error);
	if (r)
		goto bad;
	/* Claim the format's own blocks. Replay claims those of stored blocks. */
	if (!store->pool)
		bm_claim(&store->bitmap, 0, format_data(&wal->super));
	if (wal->fresh) {
		wal->head = wal->super.log_end;
	} else {
		store->seed = wal->super.seed;
		store->zones = wal->super.zones;
		r = wal_replay(wal, bdev, buf, error);
		if (r)
			goto bad;
	}
	*error = "Not enough memory for the store's log";
	r = alloc_pages_of_log(wal);
	if (r)
		goto bad;
	*error = NULL;
	store->wal = wal;
	kfree(buf);
	return 0;
bad:
	wal_free(wal);
	kfree(buf);
	return r;
}

/* Becoming live, and stopping */

int wal_start(struct store *store, struct block_device *bdev, u64 blocks,
	      sector_t target_sectors, u64 seed, struct workqueue_struct *wq,
	      struct work_struct *event)
{
	struct wal *wal = store->wal;
	struct format_super super;
	int r = 0;

	wal->bdev = bdev;
	wal->event_wq = wq;
	wal->event = event;
	if (store->no_updates)
		return 0;
	if (wal->fresh) {
		get_random_bytes(wal->super.uuid, sizeof(wal->super.uuid));
		r = super_format(wal);
	}
	if (!r && store->pool)
		r = pool_enter(store, bdev, wal->super.uuid);
	if (!r) {
		super = wal->super;
		super.generation++;
		super.epoch++;
		super.flags &= ~FORMAT_CLEAN;
		super.target_sectors = target_sectors;
		super.seed = seed;
		super.backing_blocks = INJECTED(grow) ? store->bitmap.size : blocks;
		super.log_end = wal->head;
		r = super_start(wal, &super);
	}
	if (r)
		DMERR("%pg: the superblock cannot be written: error %d", bdev, r);
	else
		/* Pairs with wal_is_live(). */
		smp_store_release(&wal->live, true);
	return r;
}

bool wal_is_live(const struct store *store)
{
	/* Pairs with wal_start() and wal_stop(). */
	return smp_load_acquire(&store->wal->live);
}

/* The longest log that a clean stop leaves, pages. */
static u64 clean_length(const struct wal *wal)
{
	u64 table = div_u64(wal_table_ranges(wal->store), FORMAT_OPS);

	return table + table / 4 + 32;
}

void wal_stop(struct store *store)
{
	struct wal *wal = store->wal;
	struct format_super super;
	unsigned long flags;
	int r;

	if (!wal->live)
		return;
	spin_lock_irqsave(&store->lock, flags);
	wal->want = true;
	spin_unlock_irqrestore(&store->lock, flags);
	wal_queue_round(wal);
	flush_work(&wal->work);
	/*
	 * A checkpoint makes the next opening short. The worker has ended, so its fields are ours.
	 */
	if (!store->failed && wal->head - wal->super.log_start > clean_length(wal)) {
		wal_begin_checkpoint(wal);
		wal_queue_round(wal);
		flush_work(&wal->work);
	}
	/* Pairs with wal_is_live(): its worker has ended. */
	smp_store_release(&wal->live, false);
	if (store->failed)
		return;
	super = wal->super;
	super.generation++;
	super.flags |= FORMAT_CLEAN;
	super.log_end = wal->head;
	r = super_write(wal, &super);
	/* Earlier writes may be lost: the store fails. */
	if (r)
		wal_fail(wal, r);
}

void wal_close(struct store *store)
{
	if (store->wal)
		wal_free(store->wal);
	store->wal = NULL;
}

/* Growing */

void wal_maps_swap(struct store *store, struct wal_maps *maps)
{
	struct wal *wal = store->wal;

	lockdep_assert_held(&store->lock);
	WARN_ON_ONCE(wal->nr_pending);
	swap(wal->maps, *maps);
}

u64 wal_bytes(const struct store *store)
{
	const struct wal *wal = store->wal;

	if (!wal)
		return 0;
	return sizeof(*wal) + PAGE_SIZE + (wal->room.ring + 1 + wal->room.walk) * FORMAT_PAGE;
}
