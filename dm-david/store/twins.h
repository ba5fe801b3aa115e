/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Twins: dropped blocks with the content of a RAW file's block.
 *
 * btrfs and xfs can give a file the blocks of another one, without a write: deduplication, xfs's
 * swapext. The kernel compares both files in the page cache. There a file outside the rules is
 * still what was written, though the disk has dropped it. Afterwards the RAW file has blocks that
 * were dropped. So what a rule keeps is a content, wherever it is written:
 *
 *	a block is to be dropped, and its content is RAW	it is kept
 *	RAW content is written or read, and a block with it	it is stored there, too, before
 *	was dropped before					the request ends (io/twin.h)
 *
 * Both are found by the crc32c of a block. RAW content has a bit each, which may be set by other
 * content, too: then a block is kept in vain. Of dropped blocks the last are remembered, as many as
 * the machine has pages, since what left the page cache cannot be compared any more: by content
 * which blocks, and by block the last content. A wrong match stores some RAW content in place of
 * dropped data, which has no content of its own.
 *
 * Locking: none. One who enters a dropped block and then asks for RAW content, and one who enters
 * RAW content and then looks for dropped blocks, do not miss each other. The tables belong to a
 * store, so they outlive tables of device-mapper. Any context, unless it says otherwise.
 */
#ifndef DM_DAVID_TWINS_H
#define DM_DAVID_TWINS_H

#include <linux/types.h>

#define TWINS_MAX	8u	/* dropped blocks that are found for one content */

struct twins;

/* For a store of @blocks blocks. NULL: not enough memory. May sleep, but not for I/O. */
struct twins *twins_create(u64 blocks);
/* Takes NULL. Sleeps. */
void twins_destroy(struct twins *twins);
/* Takes NULL. */
size_t twins_bytes(const struct twins *twins);

/* @block is dropped; its content has @csum. True: a RAW file may have this content. */
bool twins_dropped(struct twins *twins, u64 block, u32 csum);

/*
 * RAW content has @csum. Sets @dropped to the blocks that were last dropped with it, but for
 * @block, and returns their number.
 */
unsigned int twins_raw(struct twins *twins, u64 block, u32 csum, u64 dropped[TWINS_MAX]);

#endif
