/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A backing device that has become larger is used to its end from the next resume on.
 *
 * No I/O is under way then. What the store has by the block, its bitmaps and maps, is
 * made anew; where it lasts, the superblock tells the new size, durably, before a block
 * behind the old end is used. So whatever moment power fails at, the
 * store is of the old size, and holds nothing behind it, or of the new one. The log stays as
 * long as it was made, and with it the number of ranges that the table may have.
 *
 * Growing is no condition for going on: without memory for it the store keeps its size.
 */
#ifndef DM_DAVID_GROW_H
#define DM_DAVID_GROW_H

#include <linux/types.h>

struct block_device;
struct david;
struct store;

/* Blocks for the disk's content that the store would have on @bdev: see store_blocks(). */
u64 grow_blocks(const struct store *store, struct block_device *bdev);

/*
 * @d's table becomes live, on its backing device, which store_follow() has looked at:
 * make the store as large as that is, and mark it as open. 0, or an error that the kernel log
 * tells of. Sleeps, but does not write to any disk for memory.
 */
int grow_start(struct david *d, bool may_write);

#endif
