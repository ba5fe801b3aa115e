/* SPDX-License-Identifier: GPL-2.0 */
/* A store's or a pool's own pages on the backing device, and its log. All of this sleeps. */
#ifndef DM_DAVID_LOGREAD_H
#define DM_DAVID_LOGREAD_H

#include <linux/blk_types.h>

struct block_device;
struct format_super;
struct rangetable;

#define LOGREAD_PAGES	64	/* that log_replay() wants of a buffer */

/* @n pages at page @at of @bdev, from or to @buf, which kmalloc() has made. 0 or an error. */
int log_pages_io(struct block_device *bdev, blk_opf_t opf, u64 at, void *buf, unsigned int n);

/*
 * Replay the log of the store whose superblocks are at page @base: fills @table, and sets *@head to
 * the sequence behind the log's end. @buf has LOGREAD_PAGES. Returns 0 or an error, with a text for
 * the user in *@error.
 */
int log_replay(struct block_device *bdev, u64 base, const struct format_super *super,
	       struct rangetable *table, void *buf, u64 *head, char **error);

#endif
