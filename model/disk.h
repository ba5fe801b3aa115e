/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The modelled disk: the host's request queue in front of a drive, as one
 * discrete-event engine that the kernel's timers and the simulator both drive.
 *
 *	disk_enter()        may a submitter add a request now?
 *	disk_submit()       a request arrives in the queue
 *	disk_next_event()   when something will happen next
 *	disk_advance()      let happen what happens until now
 *
 * Everything happens at its own time, however late disk_advance() is called:
 * the same requests at the same times give the same completions, to the
 * nanosecond. Time never runs backwards: each call's time is no earlier than
 * that of any call before it.
 *
 * No locks: the caller has one for the disk. Nothing allocates after
 * disk_create(): a request brings its own room, commands come from a fixed pool.
 */
#ifndef DAVID_MODEL_DISK_H
#define DAVID_MODEL_DISK_H

#include "drive.h"

struct disk;
struct disk_command;

/* A request of the host: split and merged into commands as the target's host would have. */
struct disk_request {
	/* The caller's, to be set before disk_submit() */
	u64 sector;
	u32 sectors;			/* any number; 0 with DISK_FLUSH */
	u8 op;				/* enum disk_op */
	u8 flags;			/* DISK_FUA, DISK_SYNC */

	/* The answer, complete once the request is on a done list */
	u64 arrival;
	u64 dispatch;			/* its first command went to the drive */
	u64 completion;
	struct drive_parts parts;	/* of its last command; overhead, seek ... in ns */

	/* The disk's until then, and after that the caller's */
	struct disk_request *next;
	u64 seq;
	u32 left;			/* sectors that are in no command yet */
	u32 commands;			/* unfinished commands that carry part of it */
};

/* A submitter: a process, as far as the queue's batching is concerned. Zeroed at first. */
struct disk_submitter {
	u32 batch[2];			/* requests it may still add to a full queue */
	u64 batch_until;
	bool woken[2];			/* and has not entered yet */
};

/* Returns NULL without memory. @profile must outlive the disk. */
struct disk *disk_create(const struct profile *profile, gfp_t gfp);
void disk_destroy(struct disk *disk);
size_t disk_bytes(const struct disk *disk);

/*
 * May @who add a request of @op at @now? If not, it is to wait until
 * disk_wakeups() says that there is room, and is then woken in order of arrival
 * with disk_woken().
 */
bool disk_enter(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now);

/* How many waiting submitters of @op may be woken now; asking does not use them up. */
u32 disk_wakeups(const struct disk *disk, enum disk_op op);

/*
 * @who waited, is woken, and gets its batching privilege. It takes one of those that
 * disk_wakeups() tells of until it calls disk_enter(), which it must; if that still
 * refuses it, it waits again as if it had just come.
 */
void disk_woken(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now);

/* @request arrives at @now. It must have been let in by disk_enter(). */
void disk_submit(struct disk *disk, struct disk_request *request, u64 now);

/* The time of the next event, U64_MAX if none will come by itself. */
u64 disk_next_event(const struct disk *disk);

/*
 * Let everything happen up to and at @now. Returns the requests completed, linked by
 * next, in order of completion, NULL at the end.
 */
struct disk_request *disk_advance(struct disk *disk, u64 now);

#endif
