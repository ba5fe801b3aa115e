/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a file system lie on this disk in one piece, as its superblock would have it?
 *
 * The superblock tells where it begins and how long it is. A logical volume may be in several
 * pieces: what lies behind the first is somebody else's, or its own from another place. A volume
 * is believed as far as something was seen at the place computed for its end:
 *
 *   - it is the whole disk, but for what a partition table would leave
 *   - the partition table has a partition that begins where it does, and is as long at least
 *   - its mkfs has discarded all of it and no more, in one run
 *   - its mkfs has set zeros at its end, as those of ext, xfs and btrfs do (against old
 *     signatures of md)
 *
 * What mkfs does counts for one volume that is proved by it, and no other: a neighbour, or who was
 * there before, may end at the same sector. For the same reason reads tell nothing: the drivers of
 * ext4 and xfs read their last block, and so does whoever probes a neighbour. A volume that begins
 * elsewhere than the disk may end where the disk does by chance, with its second piece on another.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_PLACED_H
#define CLASSIFIER_PLACED_H

#include "../dm-david/lib/portable.h"

#define PLACED_RUNS	8

struct placed {
	/* sectors discarded or set to zeros, lately, from left to right */
	struct placed_run {
		u64 start, end;
	} run[PLACED_RUNS];
	unsigned int last;
};

/* The sectors are discarded, zeroed, or written with zeros. */
void placed_cleared(struct placed *p, u64 sector, u64 sectors);

/* It has told of one volume: no other. */
void placed_forget(struct placed *p);

/* Is a volume from @start to @end the whole disk of @disk sectors? */
bool placed_fills(u64 start, u64 end, u64 disk);

/*
 * Does the partition table among the first PLACED_TABLE bytes of the disk have a partition that
 * begins at sector @start and has room for @sectors? Those of DOS, and of GPT with sectors of 512
 * bytes, as far as they are in there.
 */
#define PLACED_TABLE	4096u
bool placed_in_table(const void *table, u64 start, u64 sectors);

/* Was a volume of these sectors made at one piece just now? */
bool placed_made(const struct placed *p, u64 start, u64 end);

#endif
