/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk drive: geometry, mechanics, cache, bus. It serves one command after another. Between
 * commands it does read-ahead and destage. drive_serve() serves drives without an arm, too, one
 * command at a time; solid.h is what they can do. disk.h chooses which command of the drive's
 * window is next.
 *
 * After C. Ruemmler, J. Wilkes, "An introduction to disk drive modeling", IEEE
 * Computer 27(3), 1994.
 *
 * No locks: the caller has one for the drive. Times are nanoseconds of one clock
 * that also tells where the platters are: angle = time modulo revolution.
 */
#ifndef DAVID_MODEL_DRIVE_H
#define DAVID_MODEL_DRIVE_H

#include "../fault/fault.h"
#include "../flash/solid.h"
#include "geometry.h"

/* A command as the host gives it to the drive. */
struct drive_command {
	u64 sector;
	u32 sectors;		/* 0 with DISK_FLUSH and DISK_ZONE_... */
	u8 op;			/* enum disk_op */
	u8 flags;		/* DISK_FUA, DISK_BAD */
	u64 arrived;		/* time when the drive got it */
	bool stream;		/* a waiting command begins where this one ends */
	struct place place;	/* drive_locate(); no slots: not asked yet */
};

struct drive;

/* Returns NULL without memory. @profile must outlive the drive. @ftl: as for disk_create(). */
struct drive *drive_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp);
void drive_destroy(struct drive *drive);
size_t drive_bytes(const struct drive *drive);

/*
 * Serve @command, which must lie on the disk, at @now. @now is neither before the end of the last
 * command nor before @command arrived. A command that arrived before @now was decoded while the
 * last one ended; its seek and its data transfer may have begun then. Returns the time when it
 * ends. @parts, if not NULL, receives the parts of the time from @now to that end.
 */
u64 drive_serve(struct drive *drive, const struct drive_command *command, u64 now,
		struct drive_parts *parts);

/*
 * From now on what @faults says holds for commands that begin, and for what the media do. It must
 * be there as long as the drive. The drive's time and @ahead are the time of @faults. Of a drive
 * without an arm only drive_serve() goes by it.
 */
void drive_set_faults(struct drive *drive, struct faults *faults, u64 ahead);

/* As disk_trim(). */
void drive_trim(struct drive *drive, u64 sector, u64 sectors, u64 now);

/* The buffer has no room for a write until others are on the media. */
#define DRIVE_NO_ROOM	(U64_MAX - 1)

/* What a shingled drive has taken in and not written home yet: in its media cache and buffer. */
struct pending_figures {
	u64 sectors;		/* of the buffer, and of the media cache's log that are in use */
	u64 runs;		/* in which they lie */
};

/* False: the drive is not shingled, and has none. */
bool drive_pending_figures(const struct drive *drive, struct pending_figures *figures);

/* Set command->place. */
void drive_locate(const struct drive *drive, struct drive_command *command);

/*
 * If @command were served next: the time from @now until its data transfer could begin. Shortest
 * access first compares these. 0 for a command that does not need the arm, such as a cache hit.
 * DRIVE_NO_ROOM for a write that waits for room in the buffer. drive_serve() follows the same plan.
 *
 * A result below @limit is what it would be without a limit. Any other result says only that the
 * time is @limit or more: mostly the seek alone shows that, and the rest is not computed.
 */
u64 drive_access_time(const struct drive *drive, const struct drive_command *command, u64 now,
		      u64 limit);

#endif
