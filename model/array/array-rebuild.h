/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How md fills new drives in place of members that failed, while nobody asks anything of the
 * array. Sources: Linux 6.12, md.c md_do_sync(), raid5.c raid5_sync_request() and
 * raid5_get_active_stripe(), raid1.c raid1_sync_request() and raise_barrier().
 */
#ifndef DAVID_ARRAY_REBUILD_H
#define DAVID_ARRAY_REBUILD_H

#include "array.h"

struct array_rebuild {
	u64 sectors;		/* of each member, from its beginning */
	u64 superblock;		/* sector of a member, of a block of 4 KiB */
	u32 hz;			/* ticks of the kernel's clock a second */
	u64 after_tick;			/* ns since a tick when it begins; */
	const u64 *angles;		/* ns that each member's clock is ahead then; or NULL */
	struct faults *const *of_member;	/* NULL: none; from the beginning on */
	u32 speed_max;		/* KiB/s; md's speed_limit_max */
};

struct array_rebuilt {
	u64 ns;
	u64 blocks;		/* of 4 KiB, that each new drive was to get; */
	u64 lost;		/* of these: not written, as too little could be read */
	u64 bad_reads;		/* requests to members that failed */
	u64 mended;		/* blocks that md wrote anew where they could not be read */
	u32 stripes;		/* of md's cache at the end; RAID-1: 0 */
};

/* Returns NULL, or why this array cannot be rebuilt, or not here. */
const char *array_rebuild_check(const struct array_setup *setup, const struct array_rebuild *how);

/*
 * Fill all of the members that setup.failed names, from the array's beginning: nothing was ever
 * asked of it. Members' faults may be what takes time, and media errors, but of RAID-1. Returns
 * 0, or -ENOMEM.
 */
int array_rebuild(struct array *array, const struct array_rebuild *how,
		  struct array_rebuilt *result);

#endif
