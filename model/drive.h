/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk drive: geometry, mechanics, cache, bus. It serves one command after
 * another, and goes on by itself (read-ahead, destage) between them. Which of
 * the commands in its window comes next is the disk's matter (disk.h).
 *
 * After C. Ruemmler, J. Wilkes, "An introduction to disk drive modeling", IEEE
 * Computer 27(3), 1994.
 *
 * No locks: the caller has one for the drive. Times are nanoseconds of one clock
 * that also tells where the platters are: angle = time modulo revolution.
 */
#ifndef DAVID_MODEL_DRIVE_H
#define DAVID_MODEL_DRIVE_H

#include "profile.h"

enum disk_op { DISK_READ, DISK_WRITE, DISK_FLUSH, DISK_OP_NR };

#define DISK_FUA	BIT(0)	/* done when on the media, whatever the cache */
#define DISK_SYNC	BIT(1)	/* somebody waits: unplugs the queue */

/* Where the time of a command went; the sum is its service time. */
struct drive_parts {
	u64 overhead;
	u64 seek;		/* and head switches and settling */
	u64 rotation;
	u64 transfer;		/* media and bus, where not hidden behind each other */
	bool hit;		/* served from the cache, or taken by it */
};

struct drive;

/* Returns NULL without memory. @profile must outlive the drive. */
struct drive *drive_create(const struct profile *profile, gfp_t gfp);
void drive_destroy(struct drive *drive);
size_t drive_bytes(const struct drive *drive);

/*
 * Serve a command of @sectors from @sector on, which must lie on the disk, that
 * the drive begins with at @now, no earlier than the end of the one before.
 * Returns when it ends, and fills @parts if not NULL.
 */
u64 drive_serve(struct drive *drive, enum disk_op op, unsigned int flags, u64 sector,
		u32 sectors, u64 now, struct drive_parts *parts);

/*
 * About how long it would take, from @now on, until the media transfer of a
 * command could begin (0 for one that hits the cache): what shortest access first
 * compares.
 */
u64 drive_access_time(const struct drive *drive, enum disk_op op, u64 sector, u32 sectors,
		      u64 now);

#endif
