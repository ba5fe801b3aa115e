/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A block of 4 KiB of metadata in fewer bytes.
 *
 * What file systems keep is mostly numbers: a map of blocks that count up, inodes that differ in a
 * few fields, directories. So a block is coded as it is, or as the differences between its 32-bit
 * numbers, whichever is shorter: repeats of what stood before (LZ77) and single bytes, by an
 * adaptive range coder. An adaptive coder sends no tables, which for so small a block would be a
 * large part of it. It needs no library, so each kernel and each tool reads what another has
 * written.
 *
 * Not for an I/O path: a block takes some hundred microseconds.
 *
 * Portable. The caller serialises all calls with one struct squeeze. Decoding is bounded whatever
 * the input is: at most 4096 steps, no byte outside of @in and @block. It does not tell whether the
 * input is what was once encoded: keep a checksum of the block.
 */
#ifndef DAVID_SQUEEZE_H
#define DAVID_SQUEEZE_H

#include "../portable/portable.h"

#define SQUEEZE_BLOCK	4096u

enum squeeze_kind {
	SQUEEZE_BYTES,		/* the block's bytes */
	SQUEEZE_DELTAS,		/* each 32-bit number less the one before it */
	SQUEEZE_KINDS
};

struct squeeze;

/* Work memory; NULL if there is none. Sleeps if @gfp does. */
struct squeeze *squeeze_new(gfp_t gfp);
void squeeze_free(struct squeeze *s);
size_t squeeze_bytes(void);

/*
 * Code @block into @out, which has room for @room bytes. Returns how many it took, and which kind;
 * 0: it does not fit.
 */
u32 squeeze_encode(struct squeeze *s, const void *block, u8 *out, u32 room,
		   enum squeeze_kind *kind);

/* False if @in cannot be of that kind; @block has anything then. */
bool squeeze_decode(struct squeeze *s, enum squeeze_kind kind, const u8 *in, u32 len,
		    void *block);

#endif
