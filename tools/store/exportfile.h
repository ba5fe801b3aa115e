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
#ifndef TOOLS_STORE_EXPORTFILE_H
#define TOOLS_STORE_EXPORTFILE_H

#include "../../dm-david/portable/portable.h"
#include "../../dm-david/lib/bitmap.h"
#include "../../dm-david/lib/format.h"

#define EXPORT_VERSION	1
#define EXPORT_MAGIC	"dm-david image\n"	/* and a NUL: 16 bytes */
#define EXPORT_CHUNK	1048576u		/* bytes at most, unpacked */

struct export_disk_head {
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

enum export_kind {
	EXPORT_RANGES = 1,	/* struct format_op; a stored one's value is a block's number */
	EXPORT_BLOCKS,
	EXPORT_END,
};

struct export_disk_chunk {
	__le32 crc;		/* crc32c of what follows, begun with the crc before it */
	__le32 kind;
	__le32 len;		/* unpacked */
	__le32 packed;		/* by zlib; len if that did not make it less */
};

struct export_pool;

struct export_head {
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
typedef bool (*export_write_fn)(void *ctx, const void *buf, size_t len);
typedef bool (*export_read_fn)(void *ctx, void *buf, size_t len);

struct export_writer {
	export_write_fn write;
	void *ctx;
	u32 crc;
	u8 *packed;
};

struct export_reader {
	export_read_fn read;
	void *ctx;
	struct export_head head;
	const char *why;	/* what is wrong with the file */
	u32 crc;
	u64 ranges, blocks;	/* read */
	u64 stored;		/* blocks that the ranges name and that come with this disk */
	u64 next;		/* no range begins before this block */
	/* Of a whole pool's, see poolexportfile.h: */
	const struct export_pool *pool;
	unsigned int disk;	/* the next one of it */
	u64 known;		/* blocks of the disks before this one */
	u64 others;		/* of them, those that the ranges name */
	struct remap_bitmap named;	/* blocks that the ranges name, if disks share them */
	u32 room;		/* in the two */
	u8 *packed, *data;
};

/* crc32c of @len bytes at @data behind those that have @crc; begin with 0. */
u32 export_crc(u32 crc, const void *data, size_t len);

/* Returns false if writing failed or there is no memory. @w need not be ended after that. */
bool export_begin(struct export_writer *w, const struct export_head *head);
/* Up to EXPORT_CHUNK bytes of one kind; with EXPORT_END none. */
bool export_chunk(struct export_writer *w, enum export_kind kind, const void *data, u32 len);
void export_finish(struct export_writer *w);

/*
 * Fills r->head. Returns false with r->why. Then, and always, export_close(). A reader begins with
 * all zeros but read and ctx.
 */
bool export_open(struct export_reader *r);
/*
 * The next chunk: its kind, its content in r->data, and in *@len its length.
 * EXPORT_END: all was read that was announced. 0: see r->why.
 */
enum export_kind export_next(struct export_reader *r, u32 *len);
void export_close(struct export_reader *r);

/* Operation @i of a chunk of ranges, which export_next() has checked. */
void export_range(const struct export_reader *r, u32 i, struct rt_range *out);

#endif
