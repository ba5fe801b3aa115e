/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Growing a store: after the backing device has become larger, the next resume uses all of it.
 *
 * No I/O is in flight then. The store's bitmaps and maps, which have a bit for each block, are
 * allocated again. If the store survives on its device, the superblock with the new size is durable
 * before a block behind the old end is used. So after a power cut the store has the old size and
 * nothing behind it, or the new size. The log keeps its length, and the range table may have no
 * more ranges than before.
 *
 * Growing may fail without harm: if there is no memory for it, the store keeps its size.
 */
#ifndef DM_DAVID_GROW_H
#define DM_DAVID_GROW_H

#include <linux/types.h>

struct block_device;
struct david;
struct store;

/* store_blocks() if the store used all of @bdev. */
u64 grow_blocks(const struct store *store, struct block_device *bdev);

/*
 * @d's table becomes live, after store_follow(). Grow the store to the size of the backing device,
 * and mark it open. Returns 0, or an error whose reason is in the kernel log. Sleeps; allocates
 * with GFP_NOIO.
 */
int grow_start(struct david *d, bool may_write);

#endif
