/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store's format on the backing device. docs/FORMAT.md describes each field.
 *
 *   page 0, page 1     the superblock, twice: a new generation replaces the older copy
 *   page 2 ...         the log: a ring of pages
 *   behind it          stored blocks
 *
 * The log is the only form of the tables on the device. Each page has operations on the range
 * table: "blocks from start on, so many, are now of this kind". Applied in order, from the page
 * that the superblock names, they make the table. As the ring is finite, a checkpoint writes the
 * whole table into it again from time to time, between new operations. When the checkpoint is
 * complete, the superblock names the page where it began.
 *
 * The device is not trusted. All input is checked once, in this file. Portable. Only the layout of
 * the log page is for the I/O path.
 */
#ifndef DAVID_FORMAT_H
#define DAVID_FORMAT_H

#include "bitmap.h"
#include "../portable/portable.h"
#include "rangetable.h"

#define FORMAT_VERSION		1
#define FORMAT_VERSION_PACKS	2	/* a store that has, or had, packed blocks (pack.h) */
/* Of a zoned disk. It may have packed blocks, too, if they are of SQUEEZE_BLOCK. */
#define FORMAT_VERSION_ZONES	3
#define FORMAT_MAGIC		"dm-david store\n"	/* and a NUL: 16 bytes */
#define FORMAT_PAGE		4096u
#define FORMAT_SUPERS		2u	/* pages, and where the log begins */
/* A device is blank if so many pages are zeros. btrfs's superblock is at 64 KiB. */
#define FORMAT_LOOK		17u	/* pages */
#define FORMAT_LOG_MIN		64u	/* pages */
#define FORMAT_LOG_MAX		1048576u	/* 4 GiB */
#define FORMAT_PAGES_MIN	128u	/* of the backing device */
#define FORMAT_BATCH_MAX	64u	/* pages written at once */
#define FORMAT_LOG_MAGIC	0x676f4c44u	/* "DLog" */

/*
 * Addresses of the range table from here on are metapages (metapages.h). The disk ends long before.
 * Each area has FORMAT_META_AREA addresses.
 */
#define FORMAT_META		((u64)1 << 59)
#define FORMAT_META_AREA		((u64)1 << 56)
/* The area of packs. Pack n begins at its page n * PACK_PAGES. Only with blocks of 4 KiB. */
#define FORMAT_PACKS		(FORMAT_META + 2 * FORMAT_META_AREA)

#define FORMAT_CLEAN		BIT(0)	/* the log ends at log_end, and exactly there */

struct format_disk_super {
	u8 magic[16];
	__le32 crc;		/* crc32c of the page with this field 0 */
	__le32 version;
	u8 uuid[16];
	__le64 generation;
	__le64 epoch;		/* the number of the opening, from 1 */
	__le32 block_size;
	__le32 flags;
	__le64 backing_blocks;
	__le64 target_sectors;
	__le64 seed;
	__le64 log_pages;
	__le64 log_start;	/* sequence of the first page to read */
	__le64 log_end;		/* no page before this one may be missing */
	/* With FORMAT_VERSION_ZONES, else zeros */
	__le64 zone_size;
	__le64 zone_capacity;
	__le32 conventional_zones;
	u8 zero[3964];
};

#define FORMAT_KIND_BITS	3

struct format_op {
	__le64 start;
	__le64 len_kind;	/* len << 3 | enum rt_kind */
	__le64 value;
};

#define FORMAT_OPS		169u

/* The page of sequence n is page n % log_pages of the log. */
struct format_log_page {
	__le32 crc;		/* crc32c of what follows */
	__le32 magic;
	u8 uuid[16];		/* the superblock's */
	__le64 sequence;
	__le32 epoch;		/* the lower half of the superblock's */
	__le16 batch;		/* pages written at once with this one and before it */
	__le16 ops;
	struct format_op op[FORMAT_OPS];
};

static inline void format_asserts(void)
{
	BUILD_BUG_ON(sizeof(struct format_disk_super) != FORMAT_PAGE);
	BUILD_BUG_ON(offsetof(struct format_disk_super, crc) != 16);
	BUILD_BUG_ON(offsetof(struct format_disk_super, uuid) != 24);
	BUILD_BUG_ON(offsetof(struct format_disk_super, generation) != 40);
	BUILD_BUG_ON(offsetof(struct format_disk_super, epoch) != 48);
	BUILD_BUG_ON(offsetof(struct format_disk_super, block_size) != 56);
	BUILD_BUG_ON(offsetof(struct format_disk_super, backing_blocks) != 64);
	BUILD_BUG_ON(offsetof(struct format_disk_super, log_pages) != 88);
	BUILD_BUG_ON(offsetof(struct format_disk_super, log_end) != 104);
	BUILD_BUG_ON(offsetof(struct format_disk_super, zone_size) != 112);
	BUILD_BUG_ON(offsetof(struct format_disk_super, zero) != 132);
	BUILD_BUG_ON(sizeof(struct format_op) != 24);
	BUILD_BUG_ON(sizeof(struct format_log_page) != FORMAT_PAGE);
	BUILD_BUG_ON(offsetof(struct format_log_page, sequence) != 24);
	BUILD_BUG_ON(offsetof(struct format_log_page, batch) != 36);
	BUILD_BUG_ON(offsetof(struct format_log_page, op) != 40);
}

/* Where a zoned disk has zones; sectors. All 0: it has none. */
struct format_zones {
	u64 size;
	u64 capacity;
	u64 conventional;	/* zones */
};

static inline bool format_same_zones(const struct format_zones *a, const struct format_zones *b)
{
	return a->size == b->size && a->capacity == b->capacity &&
	       a->conventional == b->conventional;
}

/* The superblock in memory. */
struct format_super {
	u8 uuid[16];
	u64 generation;
	u64 epoch;
	u32 block_size;
	u32 flags;
	u64 backing_blocks;	/* of block_size, when it was opened last */
	u64 target_sectors;	/* likewise */
	u64 seed;
	u64 log_pages;
	u64 log_start;
	u64 log_end;
	u64 version;		/* FORMAT_VERSION, FORMAT_VERSION_PACKS or _ZONES */
	struct format_zones zones;
};

enum format_found {
	FORMAT_BLANK,		/* nothing but zeros */
	FORMAT_STORE,
	FORMAT_OTHER_VERSION,
	FORMAT_BROKEN,		/* a store, but no copy of the superblock is whole */
	FORMAT_FOREIGN,
};

/* Look at the first FORMAT_LOOK pages, one after the other in @pages. */
enum format_found format_look(const void *pages, struct format_super *super);

/* Make a page of @super. It belongs into page generation % 2. */
void format_pack(const struct format_super *super, void *page);

/*
 * @pages are the first FORMAT_SUPERS of a device. Is it a copy of the store whose newest
 * superblock is @super, as it is now? Not if that superblock says that the store is in use.
 * Uses @scratch, a page.
 */
bool format_is_copy(const void *pages, const struct format_super *super, void *scratch);

/*
 * Begin a new store: fills @super but for uuid, target_sectors and seed.
 * Returns -ENOSPC if @pages, the size of the backing device, are too few.
 */
int format_begin(struct format_super *super, u64 pages, u32 block_size);

/* The first block of the backing device that may hold a stored block. */
static inline u64 format_data(const struct format_super *super)
{
	return (FORMAT_SUPERS + super->log_pages) * (FORMAT_PAGE / super->block_size);
}

/* The page of the backing device where the log's page @sequence is. */
static inline u64 format_place(const struct format_super *super, u64 sequence)
{
	u64 at;

	div64_u64_rem(sequence, super->log_pages, &at);
	return FORMAT_SUPERS + at;
}

/*
 * What a log of that size has room for. A checkpoint of T pages of table needs
 * 3 T / 2 + slack pages if one page of operations comes with at least
 * FORMAT_WALK_RATIO pages of checkpoint. The one before may be as long, and the
 * next begins when its room is about to be taken.
 */
#define FORMAT_WALK_RATIO	8

struct format_room {
	unsigned int ring;	/* pages of operations collected in memory */
	unsigned int walk;	/* pages of checkpoint written at once */
	u64 slack;		/* pages */
	u64 ranges;		/* that the table may have; a sixteenth of it for discards only */
};

void format_room(u64 log_pages, struct format_room *room);

/*
 * How many pages of a checkpoint to write in a round with @ops pages of operations. @owed: how many
 * must be written before more operations; it may be negative. Without operations as many as a round
 * can have, otherwise only those that are owed.
 */
static inline unsigned int format_walk(const struct format_room *room, s64 owed, unsigned int ops)
{
	if (!ops || owed > (s64)room->walk)
		return room->walk;
	return owed > 0 ? owed : 0;
}

/* Pages that must be free when a checkpoint of @ranges begins. */
static inline u64 format_need(const struct format_room *room, u64 ranges)
{
	u64 table = div_u64(ranges, FORMAT_OPS) + 1;

	return table + table / 2 + room->slack;
}

/* Make @page, whose op[] are filled in, the page @sequence. */
void format_seal(struct format_log_page *page, const struct format_super *super, u64 sequence,
		 unsigned int batch, unsigned int ops);

static inline void format_put(struct format_op *op, const struct rt_range *r)
{
	op->start = cpu_to_le64(r->start);
	op->len_kind = cpu_to_le64(r->len << FORMAT_KIND_BITS | r->kind);
	op->value = cpu_to_le64(r->value);
}

/* Reading the log: pages are fed in, from log_start on, until it is told to stop. */
struct format_replay {
	const struct format_super *super;
	struct rangetable *rt;	/* empty at first */
	u64 next;		/* sequence of the first page that is not there */
	u32 epoch;		/* of the last page taken */
	unsigned int beyond;	/* pages looked at behind the end */
	u64 ops;
	const char *why;	/* with FORMAT_DAMAGED */
};

enum format_step {
	FORMAT_MORE,
	FORMAT_END,
	FORMAT_DAMAGED,
	FORMAT_NO_MEMORY,
};

void format_replay_begin(struct format_replay *replay, const struct format_super *super,
			 struct rangetable *rt);

/* The page of the sequence next + beyond. Sleeps. */
enum format_step format_replay_page(struct format_replay *replay, const void *page);

/* Call after log_pages pages, or after FORMAT_END. */
enum format_step format_replay_end(struct format_replay *replay);

/*
 * Take in @bm all blocks that the table says are stored, and see that the packs are there that it
 * names. Returns NULL, or what is wrong, and in *@block the target's block. (Portable sources have
 * no printing.) Blocks before @data are not for stored blocks.
 */
const char *format_claim(const struct rangetable *rt, struct remap_bitmap *bm, u64 data,
			 u64 *block);

#endif
