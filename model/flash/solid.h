/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A drive without an arm: it has many commands under way at a time. A controller takes them one
 * after another. Then memory serves them here, or flash in ssd.h. Their data share the link.
 *
 * No locks: the caller has one for the drive. No call has an earlier time than one before it.
 */
#ifndef DAVID_MODEL_SOLID_H
#define DAVID_MODEL_SOLID_H

#include "../profile/profile.h"

enum disk_op {
	DISK_READ, DISK_WRITE, DISK_FLUSH, DISK_OP_NR,
	DISK_TRIM = DISK_OP_NR,		/* in recordings; no command: disk_trim() */
	/* Of a zone, whose first sector they have. They carry no data: sectors is 0. */
	DISK_ZONE_OPEN, DISK_ZONE_CLOSE, DISK_ZONE_FINISH, DISK_ZONE_RESET,
};

/* Does it read or write? Others have no sectors. */
static inline bool disk_op_has_data(u8 op)
{
	return op < DISK_FLUSH;
}

#define DISK_FUA	BIT(0)	/* complete when on the media, not in the cache */
#define DISK_SYNC	BIT(1)	/* a process waits for it: unplugs the queue */
/* Of writes to a zone: */
#define DISK_APPEND	BIT(5)	/* sector is where the drive has put it */
#define DISK_OPENS	BIT(6)	/* the zone was not open */

/*
 * The parts of a command's service time, ns: their sum is that time. An arm serves one command
 * after another; elsewhere the times of commands overlap.
 */
struct drive_parts {
	u64 overhead;
	u64 seek;		/* with head switches and settling */
	u64 rotation;
	u64 transfer;		/* a disk's media, the link: all that is no other part */
	u64 flush;		/* until what a flush or FUA needs is on the media */
	u64 queued;		/* for the drive's other work: room, the arm, a die, the link */
	/* Of an SSD's read: of the page that is in the controller last */
	u64 die;		/* that reads it */
	u64 channel;		/* that is waited for, and carries it */
	u64 map;		/* before: a part of the map, which tells where it is */
	u64 fault;		/* retries, detours, stalls; and more of all, of a slow drive */
	bool hit;		/* a read from the cache, or a write into it */
	/*
	 * Sectors that only a cache saw: read from there though the media brought nothing for it,
	 * or overwritten there before they were on the media.
	 */
	u32 cached;
};

static inline u64 drive_parts_total(const struct drive_parts *parts)
{
	return parts->overhead + parts->seek + parts->rotation + parts->transfer + parts->flush +
	       parts->queued + parts->die + parts->channel + parts->map + parts->fault;
}

/* What the commands that have ended took, all in all. */
struct drive_sums {
	struct drive_parts parts;	/* but hit and cached */
	u64 hits;
};

/* But hit and cached */
static inline void drive_parts_add(struct drive_parts *parts, const struct drive_parts *more)
{
	parts->overhead += more->overhead;
	parts->seek += more->seek;
	parts->rotation += more->rotation;
	parts->transfer += more->transfer;
	parts->flush += more->flush;
	parts->queued += more->queued;
	parts->die += more->die;
	parts->channel += more->channel;
	parts->map += more->map;
	parts->fault += more->fault;
}

static inline void drive_parts_subtract(struct drive_parts *parts, const struct drive_parts *less)
{
	parts->overhead -= less->overhead;
	parts->seek -= less->seek;
	parts->rotation -= less->rotation;
	parts->transfer -= less->transfer;
	parts->flush -= less->flush;
	parts->queued -= less->queued;
	parts->die -= less->die;
	parts->channel -= less->channel;
	parts->map -= less->map;
	parts->fault -= less->fault;
}

static inline void drive_sums_add(struct drive_sums *sums, const struct drive_parts *parts)
{
	drive_parts_add(&sums->parts, parts);
	sums->hits += parts->hit;
}

/* The same of a command of an arm: it has no die, channel and map. */
static inline void drive_sums_add_arm(struct drive_sums *sums, const struct drive_parts *parts)
{
	struct drive_parts *sum = &sums->parts;

	sum->overhead += parts->overhead;
	sum->seek += parts->seek;
	sum->rotation += parts->rotation;
	sum->transfer += parts->transfer;
	sum->flush += parts->flush;
	sum->queued += parts->queued;
	sum->fault += parts->fault;
	sums->hits += parts->hit;
}

/* And of one without an arm: what faults add to it, the host adds to its request (disk.c). */
static inline void drive_sums_add_solid(struct drive_sums *sums, const struct drive_parts *parts)
{
	struct drive_parts *sum = &sums->parts;

	sum->overhead += parts->overhead;
	sum->transfer += parts->transfer;
	sum->flush += parts->flush;
	sum->queued += parts->queued;
	sum->die += parts->die;
	sum->channel += parts->channel;
	sum->map += parts->map;
	sums->hits += parts->hit;
}

/* @parts are known but transfer, and are more than @total: what was hidden is no part. */
void drive_parts_cut(struct drive_parts *parts, u64 total);

/*
 * A command took @total without what faults add, of which @parts are known but transfer. Each is
 * less than 2^61.
 */
static inline void drive_parts_split(struct drive_parts *parts, u64 total)
{
	u64 known = parts->overhead + parts->queued + parts->flush + parts->seek + parts->rotation +
		    parts->die + parts->channel + parts->map;

	if (likely(known <= total))
		parts->transfer = total - known;
	else
		drive_parts_cut(parts, total);
}

struct solid_command {
	/* Set by the caller, who keeps the struct until solid_advance() returns it. */
	u64 sector;
	u32 sectors;		/* 0 with DISK_FLUSH */
	u8 op;			/* enum disk_op */
	u8 flags;
	void *owner;

	/* The result */
	u64 end;
	struct drive_parts parts;

	/* Private to the drive */
	u64 begin;
	u64 seq;
	u64 after;		/* bytes that must have been programmed */
	u32 taken;		/* sectors of a write that waits: they are in the buffer */
	bool waits_for_journal;	/* a read */
	struct solid_command *next;	/* the owner's while the drive has not the command */
};

struct ftl;
struct solid;

/*
 * For up to @most commands at a time. Returns NULL without memory. @profile must outlive it, and be
 * of no disk. @ftl: an SSD's map, as ssd_create() takes it, or NULL.
 */
struct solid *solid_create(const struct profile *profile, u32 most, struct ftl *ftl, gfp_t gfp);
void solid_destroy(struct solid *solid);
size_t solid_bytes(const struct solid *solid);

/* @command, which lies on the drive, arrives at @now. */
void solid_submit(struct solid *solid, struct solid_command *command, u64 now);

/* When solid_advance() has to be called; U64_MAX: not at all. It may then have nothing. */
u64 solid_next_event(const struct solid *solid);

/* A command that has ended by @now, the one that ended first; NULL: none. */
struct solid_command *solid_advance(struct solid *solid, u64 now);

/* As disk_catch_up() and disk_settle(). */
bool solid_catch_up(struct solid *solid, u64 now);
void solid_settle(struct solid *solid, u64 now);

/* What is at these sectors is of no use. Takes no time. */
void solid_trim(struct solid *solid, u64 sector, u64 sectors, u64 now);

/* The figures of flash and its map; all 0 of memory. Pages of 4 KiB */
struct solid_figures {
	u64 host_pages;		/* written, of those in the map times its sample */
	u64 moved_pages;
	u64 fresh_pages;	/* of host_pages: nothing had to be collected for them */
	u64 sample;
	u64 flash_reads;
	u64 programs;
	u64 erases;
	u64 suspended;
	u64 buffer_waits;	/* writes that waited for room */
	u64 buffer_reads;	/* parts of reads that were served from the write buffer */
	u64 empty_reads;	/* pages of reads that were never written, or trimmed */
	u64 slc_programs;	/* of the programs */
	u64 folded_pages;	/* from the SLC cache to native cells */
	u64 map_reads;		/* of pages of the map that were not in memory */
	u64 map_programs;	/* of the programs: pages of the map */
	bool stuck;		/* ftl_figures.stuck: the times mean nothing */
};

void solid_figures(const struct solid *solid, struct solid_figures *figures);

/* Those of several drives of one profile. */
void solid_figures_add(struct solid_figures *sum, const struct solid_figures *figures);

/* What was counted since @before. */
void solid_figures_subtract(struct solid_figures *figures, const struct solid_figures *before);

#endif
