/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The format of a pool: one backing device that several disks share. docs/FORMAT.md describes each
 * field.
 *
 *   pages 0..2, pages 3..5   the directory, twice: a new generation replaces the older copy
 *   behind it                areas of disks, and stored blocks, in any order
 *
 * The directory names the disks and says where each has its area: a run of pages with that disk's
 * superblocks and log, as format.h describes them, page 0 being the area's first. Stored blocks are
 * numbered over the whole device. The directory changes only when a disk is added or dropped.
 * Blocks are of one page.
 *
 * Which blocks are free is not recorded: those that are in no area, and that no disk's table names.
 * In a pool with POOL_SHARE the tables of several disks may name one block.
 *
 * The device is not trusted. All input is checked once, in this file. Portable.
 */
#ifndef DAVID_POOLFMT_H
#define DAVID_POOLFMT_H

#include "format.h"

#define POOL_VERSION	1
#define POOL_MAGIC	"dm-david pool\n\0"	/* and a NUL: 16 bytes */
#define POOL_COPIES	2u
#define POOL_COPY	3u	/* pages */
#define POOL_PAGES	(POOL_COPIES * POOL_COPY)
#define POOL_DISKS	64u
#define POOL_NAME	64	/* bytes, one of them NUL */
#define POOL_PAGES_MIN	256u	/* of the device: 1 MiB */

#define POOL_SHARE	1u	/* flag: a block may be several disks' */
#define POOL_SHARE_DISKS 63u	/* at most, with this flag */
#define POOL_SPARE	16u	/* blocks that each disk keeps, with this flag */

struct pool_disk_entry {
	u8 name[POOL_NAME];	/* zeros: no disk */
	u8 uuid[16];		/* of its store */
	__le64 first;		/* page of its area */
	__le64 pages;		/* of its area */
	__le64 reserve;		/* blocks */
	u8 zero[24];
};

struct pool_disk_super {
	u8 magic[16];
	__le32 crc;		/* crc32c of the copy with this field 0 */
	__le32 version;
	u8 uuid[16];
	__le64 generation;
	__le32 block_size;	/* FORMAT_PAGE */
	__le32 flags;		/* POOL_SHARE */
	__le64 blocks;
	u8 name[POOL_NAME];
	struct pool_disk_entry disk[POOL_DISKS];
	u8 zero[POOL_COPY * FORMAT_PAGE - 128 - POOL_DISKS * 128];
};

/* A disk of the pool, in memory. */
struct pool_entry {
	char name[POOL_NAME];	/* "": no disk */
	u8 uuid[16];
	u64 first;		/* page */
	u64 pages;
	u64 reserve;		/* blocks that other disks cannot take */
};

/* The directory in memory: 7 KiB. */
struct pool_super {
	u8 uuid[16];
	u64 generation;
	u64 blocks;		/* of the device, as it is used; never becomes smaller */
	bool share;		/* POOL_SHARE */
	char name[POOL_NAME];
	struct pool_entry disk[POOL_DISKS];
};

/* Up to 63 of device-mapper's letters for names, no blanks, no comma. */
bool pool_name_ok(const char *name);

/*
 * Look at the first FORMAT_LOOK pages of a device. FORMAT_STORE: there is a pool, and *@super is
 * filled. The caller compares its size with the device's.
 */
enum format_found pool_look(const void *pages, struct pool_super *super);

/* Begin a pool: fills all of @super but uuid. -EINVAL: bad name; -ENOSPC: too small a device. */
int pool_begin(struct pool_super *super, const char *name, u64 pages);

/* Make a copy of the directory at @copy, POOL_COPY pages. It belongs to page pool_copy_page(). */
void pool_pack(const struct pool_super *super, void *copy);

static inline u64 pool_copy_page(const struct pool_super *super)
{
	return super->generation % POOL_COPIES * POOL_COPY;
}

/* How many disks there may be. */
static inline unsigned int pool_most_disks(const struct pool_super *super)
{
	return super->share ? POOL_SHARE_DISKS : POOL_DISKS;
}

/* The disk called @name, or with "" the first unused entry; POOL_DISKS if there is none. */
unsigned int pool_find(const struct pool_super *super, const char *name);

/*
 * Pages of a new disk's area in a pool of so many pages, if its log has @log_pages; 0: as it is by
 * default, 1/128 of the pool.
 */
u64 pool_area_pages(u64 pages, u64 log_pages);

/* Take in @bm, fresh from bm_init(), the directory and all areas. NULL, or what is wrong. */
const char *pool_claim_areas(const struct pool_super *super, struct remap_bitmap *bm);

/*
 * Take in @bm, where the areas and perhaps other disks' blocks are taken, what a disk of @table
 * stores. NULL, or what is wrong with block *@block of the disk. Adds to *@shared the blocks that
 * another disk has, too. In a pool without POOL_SHARE that is wrong. Allocates.
 */
const char *pool_claim_disk(const struct pool_super *super, const struct rangetable *table,
			    struct remap_bitmap *bm, u64 *block, u64 *shared);

/* Is @disk, read from @entry's area, what @entry says? NULL, or what is wrong. */
const char *pool_check_disk(const struct pool_entry *entry, const struct format_super *disk);

#endif
