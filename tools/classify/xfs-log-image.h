/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The log in an xfs image, as recovery would read it: from the tail that its
 * newest record names to its end. Where that record is an unmount's there is
 * nothing to recover, and nothing is read.
 *
 * Items of transactions that were not committed are among what is handed over,
 * and so may be some in front of the tail: the newest records may turn out to be torn when the
 * file system is mounted, and then the tail is an earlier one's.
 */
#ifndef XFS_LOG_IMAGE_H
#define XFS_LOG_IMAGE_H

#include "../../classifier/xfs/xfs-log.h"

#define XFS_LOG_REGIONS	257	/* of an item: XLOG_MAX_REGIONS_IN_ITEM */

struct xfs_log_region {
	const u8 *p;
	u32 bytes;
};

struct xfs_log_item {
	u32 type;		/* XFS_LI_ */
	u32 regions;		/* at least 1, the first with at least 4 bytes */
	struct xfs_log_region region[XFS_LOG_REGIONS];
};

struct xfs_log_image;

/*
 * The log's @sectors are at @log, its records carry @uuid. To be closed. *errors grows by what
 * makes no sense in it: no record at all, or some missing.
 */
struct xfs_log_image *xfs_log_open(const u8 *log, u32 sectors, const u8 *uuid, u64 *errors);

/* Call @take for each item, in the log's order. Returns the number of things that made no sense. */
u64 xfs_log_each(struct xfs_log_image *image,
		 void (*take)(void *ctx, const struct xfs_log_item *item), void *ctx);

void xfs_log_close(struct xfs_log_image *image);

#endif
