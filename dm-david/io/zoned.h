/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fake disk with zones (model/zones/zones.h).
 *
 * device-mapper takes the zones of a table from the devices below it. So such a disk names a device
 * that has the same zones, and stores nothing: zones=, a null_blk device. Nothing is sent there.
 * docs/ZONES.md has the reasons.
 *
 * A command's effect on the zone's state comes when the command arrives. What it does to the store
 * may take longer. So commands to one zone take turns: each that is accepted has the zone's next
 * ticket, and touches the store when all before it are done with that. So the range table gets the
 * blocks of a zone in their order, and so does the log. After a power cut a zone has the blocks up
 * to some pointer, and none behind. Therefore the write pointer is nowhere stored: it is the first
 * block of the zone that is a hole. A finish makes the rest of a zone zeros; a reset, all a hole.
 *
 * A write that fails leaves the pointer behind what was stored of it. What came after it fails,
 * too. If the store then cannot be put in order, the zone becomes read-only.
 *
 * A zone that was open is closed when a table is loaded. That is what a power-on does.
 *
 * Locking: zoned->lock guards states and tickets. It is taken with interrupts off, and none is
 * taken within.
 */
#ifndef DM_DAVID_ZONED_H
#define DM_DAVID_ZONED_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include "../../model/zones/zones.h"

struct blk_zone;
struct david;
struct david_io;
struct dm_dev;
struct dm_report_zones_args;
struct dm_target;
struct queue_limits;
struct stopwatch;

#define ZONED_LISTS	64

/* Tickets of a zone; they wrap. */
struct zoned_turns {
	u32 next;		/* for whoever comes */
	u32 turn;		/* who may touch the store */
	u32 stale;		/* those before it came before a failure: they fail */
};

struct zoned {
	struct dm_dev *dev;	/* has the same zones */
	spinlock_t lock;
	struct zones zones;
	struct zoned_turns *turns;	/* of each zone */
	struct list_head waiting[ZONED_LISTS];	/* for their turn: by zone, modulo */
	bool restored;		/* states have been read from the store */
};

/* The table line has zones=@name. On error returns it, with a text in ti->error. Sleeps. */
int zoned_create(struct david *d, const char *name);
/* Takes a disk without. */
void zoned_destroy(struct david *d);

/* The table becomes live: does the store have the disk's zones, or none? Logs why not. Sleeps. */
int zoned_check_store(struct david *d);
/* Then, when the log runs: what does the store have of each zone? Sleeps. */
void zoned_restore(struct david *d, bool may_write);

/* What the queue of a zoned disk has; the rest is as of any. */
void zoned_limits(const struct david *d, struct queue_limits *limits);

int zoned_report(struct dm_target *ti, struct dm_report_zones_args *args, unsigned int nr_zones);

/*
 * A request that has sectors arrives. True: go on with it; what is to take a turn has END_ZONE. An
 * append is a write from now on, to its place. False: it was wrong, and has ended.
 */
bool zoned_accept(struct david_io *io);

/*
 * Has the disk one place for btrfs's superblock? Then *@sector is that. Else btrfs writes it to the
 * first two zones in turn, each behind the one before.
 */
bool zoned_super_sector(const struct david *d, u32 *sector);

/* As david_map(): a request to open, close, finish or reset a zone. */
int zoned_manage(struct david_io *io);

/* The modelled drive fails a request of a zoned disk, which has not ended yet. */
void zoned_take_back(struct david_io *io);

/* Serve a request with END_ZONE, now or in its turn. Returns what a target's map returns. */
int zoned_begin(struct david_io *io, struct stopwatch *timer);

/*
 * A request with END_ZONE has failed. True: hold it back; it will end once more when the zone is in
 * order again. Any context.
 */
bool zoned_fail(struct david_io *io);

/* A request with END_ZONE is done with the store: the next one's turn. Any context. */
void zoned_pass(struct david_io *io);

/* An append has ended well: ends it once more, so that device-mapper sees its place. */
void zoned_end_append(struct david_io *io);

#endif
