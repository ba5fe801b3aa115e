// SPDX-License-Identifier: GPL-2.0
/*
 * Requests of the log and the superblock to the backing device: see wal.h.
 *
 * Errors. A failed write is tried once more, with the same pages to the same place, as a page's
 * sequence number depends on its place. A failed flush is not tried again: a device that could not
 * write its cache may have dropped it, and would report success the next time. So writes and
 * flushes must be told apart. They are requests of their own, and FUA is not used on a device for
 * which the block layer would make a write and a flush of it.
 */
#include "wal-internal.h"

#include <linux/blkdev.h>
#include <linux/delay.h>
#include <linux/device-mapper.h>

#include "../compat/compat.h"
#include "store.h"

#define DM_MSG_PREFIX	"david"

#define RETRY_MS	500	/* a path may have come back by then */

/* Pages @buf to or from the store's page @at. Sleeps. */
int wal_page_io(struct wal *wal, struct block_device *bdev, blk_opf_t opf, u64 at,
		void **buf, unsigned int n)
{
	unsigned int i;
	int r;

	bio_init(&wal->bio, bdev, wal->vec, BATCH_MAX, opf);
	wal->bio.bi_iter.bi_sector = (wal->base + at) * PAGE_SECTORS_4K;
	for (i = 0; i < n; i++)
		__bio_add_page(&wal->bio, virt_to_page(buf[i]), FORMAT_PAGE,
			       offset_in_page(buf[i]));
	r = submit_bio_wait(&wal->bio);
	bio_uninit(&wal->bio);
	return r;
}

/* Make everything written before durable. After a failure it is unknown for ever whether it is. */
int wal_flush_backing(struct wal *wal)
{
	int r = blkdev_issue_flush(wal->bdev);

	if (r)
		wal->fault = DAVID_FAULT_FLUSH;
	return r;
}

/*
 * Returns REQ_FUA if a failed write with FUA is a failed write and not a failed flush. For a drive
 * without FUA the block layer makes a write and a flush of it. A driver that passes requests on,
 * such as device-mapper, may claim FUA for drives without.
 */
blk_opf_t wal_fua_opf(struct block_device *bdev)
{
	return bdev_fua(bdev) && !bdev->bd_disk->fops->submit_bio ? REQ_FUA : 0;
}

/* Write @n pages from page @at on, as @what. */
int wal_write_twice(struct wal *wal, enum david_fault what, blk_opf_t fua, u64 at,
		    void **buf, unsigned int n)
{
	const blk_opf_t opf = REQ_OP_WRITE | REQ_SYNC | REQ_META | fua;
	int r = wal_page_io(wal, wal->bdev, opf, at, buf, n);

	if (likely(!r))
		return 0;
	DMWARN("%pg: the store's %s cannot be written: error %d; a second try follows", wal->bdev,
	       what == DAVID_FAULT_LOG ? "log" : "superblock", r);
	WRITE_ONCE(wal->store->log_retries, wal->store->log_retries + 1);
	msleep(RETRY_MS);
	r = wal_page_io(wal, wal->bdev, opf, at, buf, n);
	if (r)
		wal->fault = what;
	return r;
}
