/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool as one file: a header that names its disks, then an image of each (exportfile.h), one
 * behind the other. docs/FORMAT.md describes it.
 *
 * Blocks are numbered over the whole file, in the order in which they stand in it. A block that
 * several disks share stands in it once, in the image of the first of them. The ranges of the
 * others name its number. So what was shared is shared again when the file is read.
 *
 * The checksums of the disks go on from the header's: no disk can be replaced by another file's.
 */
#ifndef TOOLS_STORE_POOLIMAGE_H
#define TOOLS_STORE_POOLIMAGE_H

#include "../../dm-david/lib/poolfmt.h"
#include "exportfile.h"

#define IMAGE_POOL_MAGIC	"dm-david disks\n"	/* and a NUL: 16 bytes */

struct image_pool_disk_entry {
	u8 name[POOL_NAME];	/* zeros: none */
	__le64 reserve;		/* blocks */
	__le64 ranges;		/* in its image */
	__le64 blocks;		/* that these name */
};

struct image_pool_disk_head {
	u8 magic[16];
	__le32 crc;		/* crc32c of the header with this field 0 */
	__le32 version;		/* IMAGE_VERSION */
	__le32 flags;		/* POOL_SHARE */
	__le32 disks;
	u8 name[POOL_NAME];	/* of the pool */
	__le64 blocks;		/* in the whole file */
	struct image_pool_disk_entry disk[POOL_DISKS];
};

struct image_pool_disk {
	char name[POOL_NAME];
	u64 reserve;
	u64 ranges;
	u64 blocks;
};

struct image_pool {
	char name[POOL_NAME];
	bool share;
	unsigned int disks;	/* one at least */
	u64 blocks;
	struct image_pool_disk disk[POOL_DISKS];
};

/* Then the disks, each from image_begin() to image_finish(). Returns false if writing failed. */
bool image_pool_begin(struct image_writer *w, const struct image_pool *pool);

/*
 * Fills @pool, and lets @r read its disks: each from image_open() to image_close(). @pool stays
 * with @r. Whether there is room for pool->blocks is to be asked before the first of them. Returns
 * false with r->why.
 */
bool image_pool_open(struct image_reader *r, struct image_pool *pool);

#endif
