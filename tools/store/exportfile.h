/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An emulated disk as one file. docs/FORMAT.md describes it.
 *
 * A header, then chunks: the table's ranges in order, the stored blocks in the
 * order in which the ranges name them, and an end. A chunk's checksum goes on
 * from that of the chunk before it, so a file that is torn, or joined of two, is found
 * out, and so is one whose chunks are not those that the header announces.
 *
 * Written and read from the first byte to the last: pipes will do. All that is
 * read may be anything; it is checked here and nowhere else.
 */
#ifndef TOOLS_STORE_IMAGE_H
#define TOOLS_STORE_IMAGE_H

#include "../../dm-david/portable/portable.h"
#include "../../dm-david/lib/bitmap.h"
#include "../../dm-david/lib/format.h"

#define IMAGE_VERSION	1
#define IMAGE_MAGIC	"dm-david image\n"	/* and a NUL: 16 bytes */
#define IMAGE_CHUNK	1048576u		/* bytes at most, unpacked */

struct image_disk_head {
	u8 magic[16];
	__le32 crc;		/* crc32c of the header with this field 0 */
	__le32 version;
	__le32 store_version;	/* FORMAT_VERSION of the store that it was made of */
	__le32 block_size;
	__le32 flags;		/* its superblock's, but FORMAT_CLEAN */
	__le32 zero;
	u8 uuid[16];		/* of that store */
	__le64 target_sectors;
	__le64 seed;
	__le64 ranges;
	__le64 blocks;		/* stored */
};

enum image_kind {
	IMAGE_RANGES = 1,	/* struct format_op; a stored one's value is a block's number */
	IMAGE_BLOCKS,
	IMAGE_END,
};

struct image_disk_chunk {
	__le32 crc;		/* crc32c of what follows, begun with the crc before it */
	__le32 kind;
	__le32 len;		/* unpacked */
	__le32 packed;		/* by zlib; len if that did not make it less */
};

struct image_pool;

struct image_head {
	bool packs;		/* FORMAT_VERSION_PACKS */
	u32 block_size;
	u32 flags;
	u8 uuid[16];
	u64 target_sectors;
	u64 seed;
	u64 ranges;
	u64 blocks;
};

/* Both return false at an error; a reader at the end of the file, too. All of @len or nothing. */
typedef bool (*image_write_fn)(void *ctx, const void *buf, size_t len);
typedef bool (*image_read_fn)(void *ctx, void *buf, size_t len);

struct image_writer {
	image_write_fn write;
	void *ctx;
	u32 crc;
	u8 *packed;
};

struct image_reader {
	image_read_fn read;
	void *ctx;
	struct image_head head;
	const char *why;	/* what is wrong with the file */
	u32 crc;
	u64 ranges, blocks;	/* read */
	u64 stored;		/* blocks that the ranges name and that come with this disk */
	u64 next;		/* no range begins before this block */
	/* Of a whole pool's, see poolexportfile.h: */
	const struct image_pool *pool;
	unsigned int disk;	/* the next one of it */
	u64 known;		/* blocks of the disks before this one */
	u64 others;		/* of them, those that the ranges name */
	struct remap_bitmap named;	/* blocks that the ranges name, if disks share them */
	u32 room;		/* in the two */
	u8 *packed, *data;
};

/* crc32c of @len bytes at @data behind those that have @crc; begin with 0. */
u32 image_crc(u32 crc, const void *data, size_t len);

/* Returns false if writing failed or there is no memory. @w need not be ended after that. */
bool image_begin(struct image_writer *w, const struct image_head *head);
/* Up to IMAGE_CHUNK bytes of one kind; with IMAGE_END none. */
bool image_chunk(struct image_writer *w, enum image_kind kind, const void *data, u32 len);
void image_finish(struct image_writer *w);

/*
 * Fills r->head. Returns false with r->why. Then, and always, image_close(). A reader begins with
 * all zeros but read and ctx.
 */
bool image_open(struct image_reader *r);
/*
 * The next chunk: its kind, its content in r->data, and in *@len its length.
 * IMAGE_END: all was read that was announced. 0: see r->why.
 */
enum image_kind image_next(struct image_reader *r, u32 *len);
void image_close(struct image_reader *r);

/* Operation @i of a chunk of ranges, which image_next() has checked. */
void image_range(const struct image_reader *r, u32 i, struct rt_range *out);

#endif
