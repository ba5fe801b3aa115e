/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Do the backups of an ext volume's superblock lie where it has them?
 *
 * That a volume is as long as its disk, or as its partition, does not show that it lies there in
 * one piece. A disk of an md RAID-10 with the layout "far" begins with the array's first chunk, and
 * is as long as the array, but has every other chunk only. So does a disk of any array whose file
 * system was made shorter than the array. A backup has the number of its group, and what one mkfs
 * alone has: its uuid, hash seed, time and geometry. Where all backups are found at their computed
 * places, no such arrangement is possible:
 *
 *   - One that divides, or leaves out, sectors regularly has its first chunks in their places, and
 *     moves the others by an amount that grows with the distance. The first chunks may be several:
 *     three, of near-3 on four disks. The last backup has to be behind them (BACKUPS_REACH).
 *   - With far copies, one more chunk may be in its place by chance: the last one, or one in the
 *     middle if the file system is shorter than the array. So there have to be some (BACKUPS_LEAST)
 *     backups. sparse_super2 has two, so it is never proved.
 *
 * Backups are read one after the other (ext_backups_want(), ext_backups_learn()). mke2fs writes the
 * superblock first, through the page cache. So if one is missing, they are read again when a
 * backup is written.
 *
 * Portable; the caller serialises. Blocks count from the volume's start.
 */
#ifndef CLASSIFIER_EXT_BACKUPS_H
#define CLASSIFIER_EXT_BACKUPS_H

#include "ext.h"

/* Bytes: the last backup is at least so far from the beginning. Three chunks of 256 MiB. */
#define BACKUPS_REACH	(768u << 20)
#define BACKUPS_LEAST	3u

struct ext_backups {
	u32 group;	/* whose backup is to be read next; 0: none, or they prove nothing */
	bool found;	/* all of them are in their places */
	bool asked;	/* one is being read */
	bool stale;	/* one was written since the read began */
};

/* Read all of them, again. What was found stays found until one is not. */
void ext_backups_look(struct ext_backups *b, const struct ext_geo *geo);

/* The group that has a backup behind @group's, of those that are looked at; 0: none. */
u32 ext_backups_next(const struct ext_geo *geo, u32 group);

/* The block to read next, 0: none. */
u64 ext_backups_want(struct ext_backups *b, const struct ext_geo *geo);

/*
 * Takes the content of @block, NULL if it could not be read. Returns the group whose backup it is
 * not, or 0.
 */
u32 ext_backups_learn(struct ext_backups *b, const struct ext_geo *geo, u64 block,
		      const void *content);

#endif
