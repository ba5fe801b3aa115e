/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log's own: what its files share. See wal.h.
 *
 *	wal.c		entries and rounds, checkpoints, failing
 *	wal-io.c	the requests to the backing device
 *	wal-open.c	a log's life: opening, becoming live, growing, stopping
 *	superblock.c	what stands on the device, and what it says of the store
 */
#ifndef DM_DAVID_WAL_INTERNAL_H
#define DM_DAVID_WAL_INTERNAL_H

#include <linux/bio.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../lib/bitmap.h"
#include "../uapi/dm-david.h"
#include "wal.h"

#define RING_MAX	16
#define CHECKPOINT_MAX	16
#define BATCH_MAX	(RING_MAX + 1 + CHECKPOINT_MAX)
#define PAGE_SECTORS_4K	(FORMAT_PAGE >> SECTOR_SHIFT)

struct wal {
	struct store *store;
	struct block_device *bdev;	/* the live table's */
	struct workqueue_struct *event_wq;	/* likewise */
	struct work_struct *event;		/* likewise */
	struct workqueue_struct *wq;
	struct work_struct work;
	wait_queue_head_t wait;		/* for the end of a round */
	struct format_room room;
	u64 base;		/* page of the backing device where the store's first one is */
	bool fresh;			/* to be formatted when it starts */
	bool live;			/* started */

	/* Under store->lock: */
	struct format_log_page *free[RING_MAX];
	struct format_log_page *full[RING_MAX];	/* in order */
	struct format_log_page *cur;	/* being filled, or NULL */
	unsigned int nr_free, nr_full;
	unsigned int ops;		/* in cur */
	struct rt_range last;		/* the last of them */
	struct list_head waiters;
	bool busy;			/* a round is under way */
	bool want;			/* a round is wanted though nobody waits */
	bool want_packs, may_pack;	/* the superblock is to say FORMAT_VERSION_PACKS; it does */
	u64 commits;			/* ended */
	struct wal_maps maps;	/* of what is given up */
	u64 nr_pending;			/* in both of them */

	/* The worker's own, or of who has stopped it: */
	enum david_fault fault;		/* of the request that failed last */
	struct format_super super;	/* the newest one written */
	u64 head;			/* sequence of the next page */
	u64 checkpoint_start;
	u64 cursor;			/* the block where the walk goes on */
	s64 checkpoint_owed;		/* its pages to be written before more operations */
	bool in_checkpoint;
	struct format_log_page *taken[RING_MAX];
	unsigned int nr_taken;
	struct format_log_page *scratch;	/* takes what cur has */
	struct format_log_page *checkpoint_pages[CHECKPOINT_MAX];
	struct page *page;		/* for superblocks */
	struct bio_vec vec[BATCH_MAX];
	struct bio bio;
};

/* wal.c */
/* Ranges in the store's table. store->lock is held, or an old figure does. */
u64 wal_table_ranges(const struct store *store);
/* The store fails permanently, for wal->fault. Reports the reason once. */
void wal_fail(struct wal *wal, int error);
/* Have the worker do a round. Any context. */
void wal_queue_round(struct wal *wal);
/* The worker. */
void wal_work(struct work_struct *work);
/* The worker has ended, or calls this: begin a walk over the table. */
void wal_begin_checkpoint(struct wal *wal);

/* wal-io.c: all of it sleeps */
/* Pages @buf to or from the store's page @at. */
int wal_page_io(struct wal *wal, struct block_device *bdev, blk_opf_t opf, u64 at,
		void **buf, unsigned int n);
/* Make everything written before durable. Sets wal->fault on error. */
int wal_flush_backing(struct wal *wal);
/* REQ_FUA, or 0 if a flush has to follow a write. */
blk_opf_t wal_fua_opf(struct block_device *bdev);
/* Write @n pages from page @at on, as @what; once more if that fails. */
int wal_write_twice(struct wal *wal, enum david_fault what, blk_opf_t fua, u64 at,
		    void **buf, unsigned int n);

/* superblock.c: all of it sleeps */
/* Make @super the newest one. */
int super_write(struct wal *wal, const struct format_super *super);
/* Both copies, of a new store. */
int super_format(struct wal *wal);
int super_start(struct wal *wal, struct format_super *super);
/* From now on an older module must not open the store. */
int super_raise_version(struct wal *wal);
/*
 * Read what is on @bdev, with FORMAT_LOOK pages of @buf, and decide whether to open or format it.
 * On error with a text for the user in *@error. The second is of a pool's disk.
 */
int super_read(struct wal *wal, struct block_device *bdev, bool want_format,
	       bool may_write, void *buf, char **error);
int super_read_pool_disk(struct wal *wal, struct block_device *bdev, bool want_format,
			 void *buf, char **error);

#endif
