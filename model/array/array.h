/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An array of modelled disks, as Linux's md serves it: one discrete-event engine with the
 * interface of a single disk (model/host/disk.h). A request becomes requests to members; each
 * member has a queue and a drive of its own, and all serve at the same time. md itself takes
 * no time.
 *
 *	RAID-0		pieces by chunk, those that follow on each other on a member as one
 *	RAID-1, 10	a read to the copy that md's read_balance() chooses, a write to all
 *	RAID-4, 5, 6	a read past the cache; a write by stripes (array-stripe.c)
 *
 * For david-sim only: dm-david.ko has no arrays. Unlike a disk, an array allocates memory for
 * each request; array_failed() says that there was none.
 */
#ifndef DAVID_ARRAY_H
#define DAVID_ARRAY_H

#include "../host/disk.h"
#include "array-layout.h"

/* Which copy is read. */
enum array_reads {
	READS_MD,		/* sequential, else idle, else nearest */
	READS_FIRST,		/* the first one that works */
	READS_ROUND_ROBIN,
	READS_SHORTEST,		/* fewest requests outstanding, then the first of them */
};

/* In which order a write that has to read does so; RAID-4, 5, 6. */
enum array_writes {
	WRITES_MD,		/* each row by itself, one after another where they overlap */
	WRITES_WHOLE,		/* a request's reads, then its writes: DiskSim's sync */
	WRITES_EAGER,		/* but data right after their old ones */
};

/* When a small write reads the old data and parity: md's rmw_level. */
enum array_rmw {
	RMW_DISABLE,		/* always read what is not written */
	RMW_ENABLE,		/* if that reads less */
	RMW_PREFER,		/* if that reads no more */
};

struct array_setup {
	struct array_layout layout;
	const struct profile *profile;	/* of each member; must outlive the array */
	u64 constant;			/* ns that members take for anything; 0: disks */
	u64 failed;			/* bit by member */
	enum array_reads reads;
	enum array_rmw rmw;
	enum array_writes writes;
	u32 stripe_cache;		/* blocks a member that are kept, md's stripe_cache_size */
	u64 seed;			/* of the members' start angles */
};

/*
 * What a member has done. At any time it is busy; or it waits, as the array has something to do and
 * this member does not: for a slower one, or for reads before writes; or the array is idle. The
 * three add up to the time since the array was made, to the nanosecond. A failed member has none.
 */
struct array_member_figures {
	u64 reads, writes, flushes;
	u64 read_sectors, write_sectors;
	/* Of the reads: nobody asked for these: old data and parity, the rest of a row */
	u64 prereads;			/* requests that have such sectors */
	u64 preread_sectors;
	u64 redundant_sectors;		/* of what is written: parity, copies but the first */
	u64 response;			/* ns, sum over requests that are done */
	u64 busy;			/* ns with anything outstanding */
	u64 waiting, idle;		/* ns without */
	struct drive_sums drive;	/* of the drive's commands that have ended */
};

struct array;

/* Returns why the setup cannot work, such as that too many members failed; NULL: it can. */
const char *array_check(const struct array_setup *setup);

/* Returns NULL without memory. The setup must have passed array_check(). */
struct array *array_create(const struct array_setup *setup, gfp_t gfp);

/* What is outstanding ends first: its requests must still be there. */
void array_destroy(struct array *array);

/* @request arrives at @now. It must lie on the array. Times never run backwards. */
void array_submit(struct array *array, struct disk_request *request, u64 now);

/* The time of the next event, U64_MAX if none will come by itself. */
u64 array_next_event(const struct array *array);

/* Let everything happen up to and at @now. Returns the completed requests, in order. */
struct disk_request *array_advance(struct array *array, u64 now);

/* Was there no memory for a request? Then nothing that the array says holds. */
bool array_failed(const struct array *array);

/* @member's, up to the last event or submission. */
void array_figures(const struct array *array, u32 member, struct array_member_figures *figures);

/* Of all members together. False: they are disks, and have none. */
bool array_solid_figures(const struct array *array, struct solid_figures *figures);

/* The same of what is pending. False: they are not shingled. */
bool array_pending_figures(const struct array *array, struct pending_figures *figures);

/*
 * From now on what @faults says holds for @member, which is no constant one; its age is 0 now.
 * It must be there as long as the array. What takes time may be; and media errors, if no member has
 * failed and only reads come. A request that md cannot serve has ->fault then.
 */
void array_set_faults(struct array *array, u32 member, struct faults *faults);

/* Before anything: each member's clock is so many ns ahead of the array's, not as the seed says. */
void array_turn(struct array *array, const u64 *angles);

/* Why what was got from elsewhere took a time that is not to be believed; or NULL. */
const char *array_doubt(const struct array *array);

/* Why single requests may take other times than with md, which were held one by one; or NULL. */
const char *array_single_doubt(const struct array *array);

/* The memory of the members' disks. */
size_t array_bytes(const struct array *array);

#endif
