/* SPDX-License-Identifier: GPL-2.0 */
/* What bugs to plant (inject.h) do to a device. */
#ifndef DM_DAVID_PLANTEDIO_H
#define DM_DAVID_PLANTEDIO_H

#include "inject.h"

#ifdef DAVID_PLANT
#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/gfp.h>

/* Read the first page of @bdev. Waits for it. */
static inline void planted_read(struct block_device *bdev)
{
	struct page *page = alloc_page(GFP_NOIO);
	struct bio_vec bv;
	struct bio bio;

	if (!page)
		return;
	bio_init(&bio, bdev, &bv, 1, REQ_OP_READ);
	__bio_add_page(&bio, page, PAGE_SIZE, 0);
	submit_bio_wait(&bio);
	bio_uninit(&bio);
	__free_page(page);
}
#else
struct block_device;

static inline void planted_read(struct block_device *bdev)
{
}
#endif

#endif
