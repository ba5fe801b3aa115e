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

/* A command as the host gives it to the drive. */
struct drive_command {
	u64 sector;
	u32 sectors;		/* 0 with DISK_FLUSH */
	u8 op;			/* enum disk_op */
	u8 flags;
	u64 arrived;		/* time when the drive got it */
	bool stream;		/* another that waits goes on with it */
};

struct drive;

/* Returns NULL without memory. @profile must outlive the drive. */
struct drive *drive_create(const struct profile *profile, gfp_t gfp);
void drive_destroy(struct drive *drive);
size_t drive_bytes(const struct drive *drive);

/*
 * Serve @command, which must lie on the disk, as the next one at @now: no earlier than the
 * end of the one before, nor than @command arrived. A command that arrived before @now was
 * decoded, and its arm and its data were on their way, while the one before was at its end.
 * Returns when it ends, and fills @parts, of the time from @now on, if not NULL.
 */
u64 drive_serve(struct drive *drive, const struct drive_command *command, u64 now,
		struct drive_parts *parts);

/* A write for which the buffer has no room until others are on the media */
#define DRIVE_NO_ROOM	(U64_MAX - 1)

/*
 * How long it would take, from @now on, until the drive could begin to transfer the
 * data of @command if that were served next (0 for one that hits the cache, DRIVE_NO_ROOM for
 * one that waits for room there): what shortest access first compares. Only what needs the
 * arm takes more than 0. Serving goes by the same plan.
 */
u64 drive_access_time(const struct drive *drive, const struct drive_command *command, u64 now);

#endif
