/* SPDX-License-Identifier: GPL-2.0 */
/* One david target: a line of a device-mapper table. */
#ifndef DM_DAVID_DAVID_H
#define DM_DAVID_DAVID_H

#include <linux/bio.h>
#include <linux/device-mapper.h>
#include <linux/mempool.h>
#include <linux/mutex.h>
#include <linux/seqlock.h>
#include <linux/workqueue.h>
#include "../../classifier/verdict.h"
#include "../owner/byfile.h"
#include "../lib/content.h"
#include "csum-policy.h"
#include "../store/exact.h"
#include "../store/pool.h"
#include "../owner/owner.h"
#include "../store/store.h"
#include "../timing/timing.h"
#include "zoned.h"

#define DM_MSG_PREFIX "david"

/*
 * The version of the dm target, which `dmsetup targets` prints: of its table line, messages and
 * status. The release's is in tools/version. docs/REFERENCE.md#versions has all that there are.
 */
#define DAVID_VERSION { 0, 1, 0 }

/* A block that is to be packed. */
struct pack_step {
	u64 number;		/* of its pack, which is durable */
	void *now, *packed;	/* room for the block, as it is stored and as the pack has it */
	enum {
		PACK_DONE,
		PACK_CHANGED,	/* it has other content by now */
		PACK_REFUSED,	/* the table has no room */
		PACK_ERROR,	/* one of them cannot be read */
	} done;
};

struct david {
	struct dm_target *ti;
	struct dm_dev *dev;		/* the backing device */
	struct store *store;
	struct owner_watch owners;
	bool ends_trails;		/* stack_end_trails(); under mode_lock */
	struct implicit *implicit;	/* classify=implicit or auto, else NULL */
	u64 watch_below;		/* it and extent.h are shown requests before this sector */
	struct timing *timing;		/* NULL without a profile */
	struct zoned *zoned;		/* NULL without zones */
	struct csum_watch csum;
	struct csum_io csum_io;
	unsigned int exact_megabytes;
	unsigned int table_megabytes;	/* of memory for the range table */
	struct exact_work exact_work;

	/* Parameters, as the table line gives them. */
	enum david_mode mode;		/* messages change it, under mode_lock */
	const char *profile;		/* in ctr only */
	const char *faults;		/* in ctr only; NULL: none */
	const char *zones;		/* in ctr only: the zoned device; NULL: no zones */
	u64 age;			/* in ctr only; U64_MAX: not given */
	enum classify_mode classify;
	struct content content;		/* a message changes it */
	seqlock_t content_lock;		/* guards it */
	struct byfile byfile;		/* messages change it, under mode_lock */
	struct raw raw;			/* rules to add when it resumes */
	u64 seed;
	struct content_key content_key;	/* of the seed */
	u64 copy_mask, copy_mark;	/* judge_content_changed() */
	bool seed_given;
	enum store_kind store_kind;	/* in ctr only */
	struct pool_want pool;		/* in ctr only */
	unsigned int block_size;	/* bytes */
	unsigned int backing_mask;	/* logical block of the backing device, less 1 */
	u64 low_water;			/* blocks */
	unsigned int unclassified;	/* MB of content that may wait for an inode to tell */

	struct bio_set child_bios;	/* struct child_bio */
	mempool_t bounces;		/* pages, for less than a block */
	mempool_t requests;		/* of the module's own: struct david_io */
	mempool_t twin_pages;		/* of whoever writes RAW content where it was dropped */
	struct workqueue_struct *wq;	/* requests that had to wait, and events */
	/* Bounce pages to be written back: they must not wait for those that wait for pages. */
	struct workqueue_struct *rmw_wq;	/* NULL where nobody needs it */
	struct work_struct event;
	bool failure_warned;		/* its own */
	atomic_t notices;		/* to be given: DAVID_NOTICE_* */
#define DAVID_NOTICE_LOW	1
#define DAVID_NOTICE_FULL	2
#define DAVID_NOTICE_TABLE	4
	struct mutex mode_lock;		/* messages that change mode, files=, faults: by turns */
	struct mutex pack_lock;		/* messages that pack do */
	bool pack_stopped;		/* suspended, or about to be: nothing is packed */
	struct work_struct twin_work;	/* twin.h */
	struct workqueue_struct *twin_wq;	/* likewise; NULL where nobody needs it */
};

static inline struct content david_content(const struct david *d)
{
	struct content content;
	unsigned int seq;

	do {
		seq = read_seqbegin(&d->content_lock);
		content = d->content;
	} while (unlikely(read_seqretry(&d->content_lock, seq)));
	return content;
}

/* judge.c: @d has its store, or its kind of content has changed. Any context. */
void judge_content_changed(struct david *d);

/* map.c: the way of a request */
extern const unsigned int david_io_size;	/* per-bio data */
int david_pools_init(struct david *d);
void david_pools_exit(struct david *d);
int david_map(struct dm_target *ti, struct bio *bio);
int david_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error);

/*
 * A request of the module's own at @sector of the target: a read; or a discard, which drops what
 * the classifier knows to be data (implicit_squash()), or with @step packs a block (packer.h); or a
 * write of one block, which is done only if the block is dropped (serve_twin()). Requests of the
 * disk's user that overlap it are kept apart from it, as from each other. It takes no modelled
 * time, and device-mapper does not see it: only while the device is not suspended. @bio names the
 * backing device. Waits for requests that may need d->wq, so not from a worker of that. Returns 0
 * or an error. Sleeps.
 */
int david_internal_request(struct david *d, struct bio *bio, sector_t sector,
			   struct pack_step *step);

/* The same: @bytes are read into @page, or written from there. @page is in the kernel's own map. */
int david_internal_page(struct david *d, void *page, sector_t sector, u32 bytes, blk_opf_t op);
/* The same of one block. */
int david_internal_block(struct david *d, void *page, u64 block, blk_opf_t op);

/* ctl.c: /dev/david */
int david_ctl_init(void);
void david_ctl_exit(void);

#endif
