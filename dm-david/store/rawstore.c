// SPDX-License-Identifier: GPL-2.0
/* RAW rules that last: see rawstore.h. */
#include "rawstore.h"

#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "../base/inject.h"
#include "../lib/rawpage.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

/* What is RAW where nobody knows. */
#define EVERYTHING	"sectors:0-18446744073709551615"

/* Opening */

static int rawstore_read_page(struct store *store, struct block_device *bdev, unsigned int n,
			      void *page)
{
	unsigned long flags;
	u64 place;

	spin_lock_irqsave(&store->lock, flags);
	place = metapage_place(store, META_RAW, n);
	spin_unlock_irqrestore(&store->lock, flags);
	if (place == BM_NONE)
		return -ENODATA;
	return metapages_io(store, bdev, place, &page, 1, REQ_OP_READ | REQ_META);
}

/* The rules that there are; NULL with *@wrong: what is there cannot be understood. */
static int read_rules(struct store *store, struct block_device *bdev, void *page,
		      struct rawset **set, const char **wrong)
{
	unsigned int n = 0, i;
	void *pages;
	int r;

	*wrong = "a page cannot be read";
	r = rawstore_read_page(store, bdev, 0, page);
	if (!r)
		n = rawpage_look(page, wrong);
	if (!n)
		return 0;
	pages = kvmalloc_array(n, RAWPAGE_SIZE, GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	*wrong = "a page cannot be read";
	for (i = 0; i < n && !r; i++) {
		r = rawstore_read_page(store, bdev, i, page);
		memcpy(pages + i * RAWPAGE_SIZE, page, RAWPAGE_SIZE);
	}
	if (!r)
		r = rawpage_unpack(pages, n, GFP_KERNEL, set, &store->rules.generation, wrong);
	kvfree(pages);
	return r == -ENOMEM ? r : 0;
}

static int keep_everything(struct rawset **set)
{
	struct rawset *none = rawset_new(GFP_KERNEL);
	char error[RAW_ERROR_SIZE];

	if (none)
		*set = rawset_add(none, EVERYTHING, GFP_KERNEL, error);
	rawset_free(none);
	return *set ? 0 : -ENOMEM;
}

static int save_rules(struct raw *raw, const struct rawset *set, char *error);

int rawstore_open(struct store *store, struct block_device *bdev)
{
	struct rawset *set = NULL;
	const char *wrong;
	void *page;
	int r = 0;

	BUILD_BUG_ON(META_RAW != RAWPAGE_AREA);
	BUILD_BUG_ON(RAWPAGE_SIZE != FORMAT_PAGE);
	store->raw.save = save_rules;
	store->rules.opened = true;
	if (!store->meta_pages[META_RAW])
		return 0;
	page = kmalloc(RAWPAGE_SIZE, GFP_KERNEL);
	if (!page)
		return -ENOMEM;
	r = read_rules(store, bdev, page, &set, &wrong);
	kfree(page);
	if (!r && !set) {
		DMERR("%pg: raw: the rules in the store are lost: %s; all is kept, by the rule %s",
		      bdev, wrong, EVERYTHING);
		r = keep_everything(&set);
	}
	RCU_INIT_POINTER(store->raw.set, set);
	return r;
}

/* Saving */

static blk_status_t rawstore_make_durable(struct store *store)
{
	if (INJECTED(rules))
		return BLK_STS_OK;
	return wal_make_durable(store, store->rules.bdev);
}

static bool rawstore_write_pages(struct store *store, const struct rawset *set, unsigned int pages,
				 u64 dest, void *page)
{
	unsigned int i;

	for (i = 0; i < pages; i++) {
		rawpage_pack(set, store->rules.generation + 1, i, page);
		if (metapages_io(store, store->rules.bdev, dest + i * metapage_blocks(store),
				 &page, 1, REQ_OP_WRITE | REQ_META | REQ_SYNC))
			return false;
	}
	return true;
}

static blk_status_t rawstore_enter_pages(struct store *store, const struct rawset *set, void *page)
{
	unsigned int pages = rawpage_count(set);
	u64 blocks = (u64)pages * metapage_blocks(store), dest = store_get_run(store, blocks);
	blk_status_t status = BLK_STS_OK;
	unsigned long flags;

	if (dest == BM_NONE)
		return BLK_STS_NOSPC;
	if (!rawstore_write_pages(store, set, pages, dest, page))
		status = BLK_STS_IOERR;
	spin_lock_irqsave(&store->lock, flags);
	if (!status && !store_reserve(store, RT_STORED, GFP_NOIO, &flags))
		status = store_refused(store);
	/* One range, one operation: all of it or nothing is in the log. */
	if (!status)
		metapages_move(store, META_RAW, 0, pages, dest);
	else
		store_free_run(store, dest, blocks);
	spin_unlock_irqrestore(&store->lock, flags);
	if (status)
		return status;
	store->rules.generation++;
	/* What cannot be forgotten behind it means nothing. */
	metapages_forget(store, META_RAW, pages, RAWPAGE_MOST - pages, GFP_NOIO);
	return BLK_STS_OK;
}

/* raw->lock is held. */
static int save_rules(struct raw *raw, const struct rawset *set, char *error)
{
	struct store *store = container_of(raw, struct store, raw);
	blk_status_t status;
	void *page;

	lockdep_assert_held(&raw->lock);
	if (!store->rules.bdev) {
		strscpy(error,
			"rules cannot last while the device is suspended or read-only",
			RAW_ERROR_SIZE);
		return -EBUSY;
	}
	page = kmalloc(RAWPAGE_SIZE, GFP_NOIO);
	if (!page) {
		strscpy(error, "no memory for rules to last", RAW_ERROR_SIZE);
		return -ENOMEM;
	}
	if (set)
		status = rawstore_enter_pages(store, set, page);
	else
		status = metapages_forget(store, META_RAW, 0, RAWPAGE_MOST, GFP_NOIO) ?
			 BLK_STS_OK : store_refused(store);
	kfree(page);
	status = status ?: rawstore_make_durable(store);
	if (status)
		strscpy(error, status == BLK_STS_NOSPC ?
			"rules cannot be saved: the store is full" :
			"rules cannot be saved: the store cannot be written", RAW_ERROR_SIZE);
	return blk_status_to_errno(status);
}

/* Tables */

int rawstore_start(struct store *store, struct block_device *bdev, bool may_write,
		   struct raw *from)
{
	bool replace = store->rules.opened;
	char error[RAW_ERROR_SIZE];
	int r;

	/* To a disk that is not written to rules mean nothing. */
	if (!may_write)
		return 0;
	mutex_lock(&store->raw.lock);
	store->rules.bdev = bdev;
	store->rules.opened = false;
	mutex_unlock(&store->raw.lock);
	r = raw_take(&store->raw, from, replace, error);
	if (r < 0)
		DMERR("%pg: raw: %s", bdev, error);
	else if (r)
		DMWARN("%pg: raw: the table line's rules take the place of the store's", bdev);
	return min(r, 0);
}

void rawstore_stop(struct store *store)
{
	mutex_lock(&store->raw.lock);
	store->rules.bdev = NULL;
	mutex_unlock(&store->raw.lock);
}
