/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What each block of a volume is: a kind, below 256. Chunks of blocks that are all alike take no
 * room, and most of a large disk is that.
 */
#ifndef KINDS_H
#define KINDS_H

#include "../../dm-david/portable/portable.h"

#define KINDS_CHUNK	4096u	/* blocks */

struct kinds {
	u64 blocks;
	u8 **chunk;		/* NULL: all of its blocks are of the kind same[] */
	u8 *same;
};

/* All blocks are of kind 0. To be freed. Without memory this ends the program, as the others do. */
void kinds_init(struct kinds *k, u64 blocks);
void kinds_free(struct kinds *k);

static inline u8 kinds_at(const struct kinds *k, u64 block)
{
	const u8 *chunk = k->chunk[block / KINDS_CHUNK];

	return chunk ? chunk[block % KINDS_CHUNK] : k->same[block / KINDS_CHUNK];
}

void kinds_set(struct kinds *k, u64 block, u8 kind);

/* Of these blocks, those of the kinds @over and @or become @kind. */
void kinds_claim(struct kinds *k, u64 block, u64 n, u8 kind, u8 over, u8 or);

#endif
