/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pack: blocks of the disk in few places of the store. docs/FORMAT.md describes each field.
 *
 * A pack has a number, and takes up to PACK_PAGES pages. It has a head, a piece for each block, in
 * the order of the blocks, and behind the last piece the blocks' coded content (squeeze.h), in the
 * same order. It is written once and never changed. A block is found in it by the block's number.
 *
 * The device is not trusted. All input is checked in this file. Portable.
 */
#ifndef DAVID_PACK_H
#define DAVID_PACK_H

#include "../portable/portable.h"
#include "squeeze.h"

#define PACK_PAGES	8u
#define PACK_BYTES	(PACK_PAGES * SQUEEZE_BLOCK)
#define PACK_MAGIC	0x6b615044u	/* "DPak" */
#define PACK_NUMBERS	((u64)1 << 52)
/* A block is packed if it takes no more than that. */
#define PACK_PIECE_MOST	(SQUEEZE_BLOCK / 4 * 3)

struct pack_head {
	__le32 crc;		/* crc32c of what follows, up to bytes */
	__le32 magic;
	__le64 number;
	__le32 bytes;		/* of the pack, head included */
	__le32 pieces;
};

struct pack_piece {
	__le64 block;		/* of the disk */
	__le32 crc;		/* crc32c of the block */
	__le16 len;		/* coded */
	__le16 kind;		/* enum squeeze_kind */
};

static inline void pack_asserts(void)
{
	BUILD_BUG_ON(sizeof(struct pack_head) != 24);
	BUILD_BUG_ON(sizeof(struct pack_piece) != 16);
}

/* A pack that is being made. */
struct pack_maker {
	u8 *pack;		/* PACK_BYTES: in the end, the pack */
	u8 *content;		/* PACK_BYTES: the coded blocks */
	u32 pieces;
	u32 len;		/* of content */
};

static inline void pack_begin(struct pack_maker *maker)
{
	maker->pieces = 0;
	maker->len = 0;
}

enum pack_added {
	PACK_ADDED,
	PACK_FULL,	/* no room for it: in another pack, perhaps */
	PACK_LONG,	/* its content cannot be coded in so much less */
};

/* Add @block, with this @content. Blocks are added in their order. */
enum pack_added pack_add(struct pack_maker *maker, struct squeeze *s, u64 block,
			 const void *content);

/* Finish the pack, as that of @number. Returns its pages; the last one has zeros at its end. */
u32 pack_seal(struct pack_maker *maker, u64 number);

/* Is there the whole of pack @number in @len bytes at @pack? NULL, or what is wrong. */
const char *pack_check(const void *pack, u32 len, u64 number);

/* Piece @i of a pack that was checked. */
static inline struct pack_piece *pack_piece_at(const void *pack, u32 i)
{
	return (struct pack_piece *)(pack + sizeof(struct pack_head)) + i;
}

static inline u32 pack_pieces(const void *pack)
{
	return le32_to_cpu(((const struct pack_head *)pack)->pieces);
}

/* The content of @block, to @content, from a pack that was checked. NULL, or what is wrong. */
const char *pack_read(const void *pack, struct squeeze *s, u64 block, void *content);

#endif
