/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The zones of a zoned drive: what state each is in, and what a command makes of it.
 *
 * A drive begins with conventional zones, which take any write. The others are sequential: a write
 * has to begin at the zone's write pointer and moves it. A sequential zone is in a condition:
 *
 *	empty -> implicitly or explicitly open -> closed -> open ... -> full -> (reset) empty
 *
 *	write, append	an empty or closed zone becomes implicitly open, a zone without room full
 *	open		the zone becomes explicitly open
 *	close		an open zone becomes closed, or empty if nothing was written
 *	finish		the zone becomes full
 *	reset		the zone becomes empty
 *
 * Of open zones, and of active ones (open or closed), there may be so many at a time. If one more
 * is to be opened, an implicitly open zone is closed for it, each in its turn. Explicitly open ones
 * stay. What a command may not do fails, and changes nothing.
 *
 * The rules are those of ZBC, ZAC and the zoned namespaces of NVMe, as Linux's null_blk reads them
 * (drivers/block/null_blk/zoned.c): which error, which zone is closed, and where a full zone's
 * pointer stands.
 *
 * Portable, any context; the caller keeps others out. Only zones_init() allocates, 8 bytes a zone.
 * A command takes constant time, but if it has to find a zone to close, or resets all.
 */
#ifndef DAVID_MODEL_ZONES_H
#define DAVID_MODEL_ZONES_H

#include "../../dm-david/portable/portable.h"

/* The numbers are those of enum blk_zone_type. */
enum zone_kind {
	ZONE_CONVENTIONAL = 1,
	ZONE_SEQUENTIAL = 2,
};

/* The numbers are those of enum blk_zone_cond. */
enum zone_condition {
	ZONE_NOT_WP = 0,	/* conventional */
	ZONE_EMPTY = 1,
	ZONE_IMP_OPEN = 2,
	ZONE_EXP_OPEN = 3,
	ZONE_CLOSED = 4,
	ZONE_READONLY = 0xd,
	ZONE_FULL = 0xe,
	ZONE_OFFLINE = 0xf,
};

enum zone_op {
	ZONE_OP_WRITE,
	ZONE_OP_APPEND,
	ZONE_OP_OPEN,
	ZONE_OP_CLOSE,
	ZONE_OP_FINISH,
	ZONE_OP_RESET,
	ZONE_OP_RESET_ALL,
};

/* What becomes of a command. */
enum zone_error {
	ZONES_OK,
	ZONES_INVALID,		/* not at the pointer, no room, or not in this condition */
	ZONES_TOO_MANY_OPEN,
	ZONES_TOO_MANY_ACTIVE,
};

#define ZONES_NONE	U32_MAX

/* What a drive has; in sectors, or a number of zones. */
struct zone_limits {
	u64 sectors;		/* of the drive: a multiple of zone_size */
	u64 zone_size;		/* a power of two, at most 2^31 */
	u64 zone_capacity;	/* at most zone_size */
	u32 conventional;	/* zones at the front; fewer than all */
	u32 max_open;		/* 0: no limit */
	u32 max_active;		/* likewise */
	u32 append_limit;	/* of one append; 0: the drive has none */
};

struct zone_state {
	u32 written;		/* sectors; of a zone that was finished: all of its size */
	u8 condition;
};

struct zones {
	struct zone_limits limits;
	u32 count;
	u8 shift;		/* log2 of the zones' size */
	/* Of sequential zones. Counted only if there are limits. */
	u32 imp_open, exp_open, closed;
	u32 next_close;		/* where the search for a zone to close begins */
	struct zone_state *state;
};

struct zone_result {
	u64 sector;		/* of a write, where it goes; of the others the zone's first */
	/* Of a reset those written before; of a finish those not written; else the request's */
	u64 sectors;
	bool opened;		/* a write or append opened the zone */
	bool changed;		/* any zone's condition or pointer */
	u8 before;		/* the zone's condition */
	u32 closed;		/* the zone that was closed for it, or ZONES_NONE */
};

/* The fields are those of struct blk_zone. */
struct zone_report {
	u64 start, len, capacity;
	u64 wp;			/* the sector; U64_MAX if the zone cannot be written any more */
	u8 type, condition;
};

/*
 * A limit that is no limit, as there are no more zones, becomes none, and no more zones are open
 * than active. The limits are of a drive.
 */
void zones_normalize(struct zone_limits *limits);

/*
 * All sequential zones are empty. The limits are as zones_normalize() has them. 0; -EINVAL if
 * @limits are none of a drive; -ENOMEM.
 */
int zones_init(struct zones *zones, const struct zone_limits *limits);
void zones_exit(struct zones *zones);

/* The number of the zone with @sector, which the drive has. */
static inline u32 zones_number(const struct zones *zones, u64 sector)
{
	return sector >> zones->shift;
}

/* Does @sector lie in a sequential zone? */
static inline bool zones_sequential(const struct zones *zones, u64 sector)
{
	return zones_number(zones, sector) >= zones->limits.conventional;
}

/*
 * A command at @sector, which with an append is the zone's first. A write or append has @sectors
 * and ends within the zone. A write to a conventional zone is always right. @result is valid if it
 * is ZONES_OK.
 */
enum zone_error zones_command(struct zones *zones, enum zone_op op, u64 sector, u32 sectors,
			      struct zone_result *result);

void zones_report(const struct zones *zones, u32 number, struct zone_report *report);

/*
 * The drive has failed the ZONE_OP_OPEN or ZONE_OP_CLOSE of zone @number, which had the condition
 * @before. It has that again, unless somebody has changed it since or the limits have no room. A
 * zone that was closed for it stays closed, as a drive may do at any time.
 */
void zones_take_back(struct zones *zones, u32 number, enum zone_op op, u8 before);

/*
 * What the sequential zone @number has is known from elsewhere, such as after a power-on: its first
 * @written sectors. It is empty, closed or full then, whatever the limits.
 */
void zones_restore(struct zones *zones, u32 number, u64 written);

/* The sequential zone @number cannot be written any more. What it has can be read. */
void zones_set_readonly(struct zones *zones, u32 number);

#endif
