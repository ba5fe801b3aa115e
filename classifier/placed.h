/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Does a file system lie on this disk in one piece, as its superblock would have it?
 *
 * The superblock says where a file system begins and how long it is. But a logical volume may lie
 * in several segments. Then the sectors behind the first segment belong to another volume, or to
 * another part of this one. So the computed end must be proved. A volume lies in one piece if
 *
 *   - it is the whole disk, except for what a partition table would leave; or
 *   - a partition begins where it begins, and is at least as long; or
 *   - its mkfs has discarded exactly its sectors, in one run; or
 *   - its mkfs has zeroed its last sectors. mkfs of ext, xfs and btrfs do so, to erase old
 *     signatures of md.
 *
 * What mkfs has cleared proves one volume only, because a neighbour, or a volume that was there
 * before, may end at the same sector. Reads prove nothing: the drivers of ext4 and xfs read their
 * last block, but so does a program that probes a neighbour. That the computed end is the disk's
 * end proves nothing either, unless the volume begins at sector 0: the second segment may lie on
 * another disk, and the lengths fit by chance.
 *
 * All of these prove a length. One disk of an array may be as long as the array, so an ext needs
 * more: ext-backups.h. Each metadata block of btrfs and xfs has the file system's uuid.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_PLACED_H
#define CLASSIFIER_PLACED_H

#include "../dm-david/portable/portable.h"

#define PLACED_RUNS	8

struct placed {
	/* Runs of sectors that were discarded or zeroed lately, each from left to right. */
	struct placed_run {
		u64 start, end;
	} run[PLACED_RUNS];
	unsigned int last;
};

/* The sectors are discarded, zeroed, or written with zeros. */
void placed_cleared(struct placed *p, u64 sector, u64 sectors);

/* What was cleared has proved a volume: it must not prove another. */
void placed_forget(struct placed *p);

/* Is a volume from @start to @end the whole disk of @disk sectors? */
bool placed_fills(u64 start, u64 end, u64 disk);

/*
 * Does the disk have a partition that begins at sector @start and has room for @sectors? @table:
 * the first PLACED_TABLE bytes of the disk. Reads DOS tables, and GPT with sectors of 512 bytes, as
 * far as their entries lie within these bytes.
 */
#define PLACED_TABLE	4096u
bool placed_in_table(const void *table, u64 start, u64 sectors);

/* Have the clears that were seen made a volume of these sectors, in one piece? */
bool placed_made(const struct placed *p, u64 start, u64 end);

#endif
