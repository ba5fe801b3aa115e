/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of the fake disk the file system at its sector 0 takes.
 *
 * While a file system is mounted, direct I/O to the disk is its data. Only within the file system,
 * though: another one may lie behind it, and its metadata may come by direct I/O (through a loop
 * device with an offset, or from a guest that has it). So superblocks are looked at as they are
 * written, and once when a table becomes live. That of btrfs tells the kind of its checksums, too.
 */
#ifndef DM_DAVID_EXTENT_H
#define DM_DAVID_EXTENT_H

#include <linux/blk_types.h>

struct david;
struct owner_top;

/* A table is about to become live: read the superblocks that are stored. Sleeps. */
void extent_open(struct david *d);

/*
 * Does a write that ends at sector @end of the target go past the end of the file system on @top?
 * True if that end is not known. Any context but NMI.
 */
bool extent_behind(const struct david *d, const struct owner_top *top, sector_t end);

#endif
