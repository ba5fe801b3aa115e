/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A pool as one file: a header that names its disks, then an export of each (exportfile.h), one
 * behind the other. docs/FORMAT.md describes it.
 *
 * Blocks are numbered over the whole file, in the order in which they stand in it. A block that
 * several disks share stands in it once, in the export of the first of them. The ranges of the
 * others name its number. So what was shared is shared again when the file is read.
 *
 * The checksums of the disks go on from the header's: no disk can be replaced by another file's.
 */
#ifndef TOOLS_STORE_POOLEXPORTFILE_H
#define TOOLS_STORE_POOLEXPORTFILE_H

#include "../../dm-david/lib/poolfmt.h"
#include "exportfile.h"

#define EXPORT_POOL_MAGIC	"dm-david disks\n"	/* and a NUL: 16 bytes */

struct export_pool_disk_entry {
	u8 name[POOL_NAME];	/* zeros: none */
	__le64 reserve;		/* blocks */
	__le64 ranges;		/* in its export */
	__le64 blocks;		/* that these name */
};

struct export_pool_disk_head {
	u8 magic[16];
	__le32 crc;		/* crc32c of the header with this field 0 */
	__le32 version;		/* EXPORT_VERSION */
	__le32 flags;		/* POOL_SHARE */
	__le32 disks;
	u8 name[POOL_NAME];	/* of the pool */
	__le64 blocks;		/* in the whole file */
	struct export_pool_disk_entry disk[POOL_DISKS];
};

struct export_pool_disk {
	char name[POOL_NAME];
	u64 reserve;
	u64 ranges;
	u64 blocks;
};

struct export_pool {
	char name[POOL_NAME];
	bool share;
	unsigned int disks;	/* one at least */
	u64 blocks;
	struct export_pool_disk disk[POOL_DISKS];
};

/* Then the disks, each from export_begin() to export_finish(). Returns false if writing failed. */
bool export_pool_begin(struct export_writer *w, const struct export_pool *pool);

/*
 * Fills @pool, and lets @r read its disks: each from export_open() to export_close(). @pool stays
 * with @r. Whether there is room for pool->blocks is to be asked before the first of them. Returns
 * false with r->why.
 */
bool export_pool_open(struct export_reader *r, struct export_pool *pool);

#endif
