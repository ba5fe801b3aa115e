/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk drive: geometry, mechanics, cache, bus. It serves one command after another. Between
 * commands it does read-ahead and destage. disk.h chooses which command of the drive's window is
 * next.
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

#define DISK_FUA	BIT(0)	/* complete when on the media, not in the cache */
#define DISK_SYNC	BIT(1)	/* a process waits for it: unplugs the queue */

/* The parts of a command's service time, ns. */
struct drive_parts {
	u64 overhead;
	u64 seek;		/* with head switches and settling */
	u64 rotation;
	u64 transfer;		/* media and bus, without what overlaps */
	bool hit;		/* a read from the cache, or a write into it */
};

/* A command as the host gives it to the drive. */
struct drive_command {
	u64 sector;
	u32 sectors;		/* 0 with DISK_FLUSH */
	u8 op;			/* enum disk_op */
	u8 flags;
	u64 arrived;		/* time when the drive got it */
	bool stream;		/* a waiting command begins where this one ends */
};

struct drive;

/* Returns NULL without memory. @profile must outlive the drive. */
struct drive *drive_create(const struct profile *profile, gfp_t gfp);
void drive_destroy(struct drive *drive);
size_t drive_bytes(const struct drive *drive);

/*
 * Serve @command, which must lie on the disk, at @now. @now is neither before the end of the last
 * command nor before @command arrived. If @command arrived earlier than @now, it was decoded, and
 * its seek and its data transfer may have begun, while the last command ended. Returns when it
 * ends. @parts, if not NULL: of the time from @now on.
 */
u64 drive_serve(struct drive *drive, const struct drive_command *command, u64 now,
		struct drive_parts *parts);

/* The buffer has no room for a write until others are on the media. */
#define DRIVE_NO_ROOM	(U64_MAX - 1)

/*
 * If @command were served next: the time from @now until its data transfer could begin. Shortest
 * access first compares these. 0 for a command that does not need the arm, such as a cache hit.
 * DRIVE_NO_ROOM for a write that waits for room in the buffer. drive_serve() follows the same plan.
 */
u64 drive_access_time(const struct drive *drive, const struct drive_command *command, u64 now);

#endif
