/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The modelled disk: the host's request queue in front of a drive. It is a discrete-event engine.
 * The kernel's timer and the simulator both drive it.
 *
 *	disk_enter()        may a submitter add a request now?
 *	disk_submit()       a request arrives in the queue
 *	disk_next_event()   the time of the next event
 *	disk_advance()      process all events until now
 *
 * Each event has its own time, even if disk_advance() is called late. So the same requests at the
 * same times give the same completions, to the nanosecond. Time never runs backwards: no call has
 * an earlier time than a call before it.
 *
 * No locks: the caller has one for the disk. Nothing allocates after disk_create(). The caller
 * allocates requests, and commands come from a fixed pool.
 */
#ifndef DAVID_MODEL_DISK_H
#define DAVID_MODEL_DISK_H

#include "drive.h"

struct disk;
struct disk_command;

/* A request of the host. The modelled host splits and merges requests into commands. */
struct disk_request {
	/* Set by the caller before disk_submit(). */
	u64 sector;
	u32 sectors;			/* any number; 0 with DISK_FLUSH */
	u8 op;				/* enum disk_op */
	u8 flags;			/* DISK_FUA, DISK_SYNC */

	/* The result, valid when disk_advance() has returned the request. Times in ns. */
	u64 arrival;
	u64 dispatch;			/* time when its first command went to the drive */
	u64 completion;
	struct drive_parts parts;	/* of its last command */

	/* Private to the disk until disk_advance() returns the request. */
	struct disk_request *next;
	u64 seq;
	u32 left;			/* sectors that are in no command yet */
	u32 commands;			/* unfinished commands that have a part of it */
};

/* A process that submits requests: the state of its batching. Zeroed at first. */
struct disk_submitter {
	u32 batch[2];			/* requests that it may still add to a full queue */
	u64 batch_until;		/* time when that privilege ends */
	bool woken[2];			/* it was woken, and has not entered yet */
};

/* Returns NULL without memory. @profile must outlive the disk. */
struct disk *disk_create(const struct profile *profile, gfp_t gfp);
void disk_destroy(struct disk *disk);
size_t disk_bytes(const struct disk *disk);

/*
 * May @who add a request of @op at @now? If not, @who has to wait until disk_wakeups() says that
 * there is room. Submitters are woken in the order of arrival, with disk_woken().
 */
bool disk_enter(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now);

/* How many waiting submitters of @op may be woken now. */
u32 disk_wakeups(const struct disk *disk, enum disk_op op);

/*
 * Wake @who, which waited, and give it the batching privilege. It uses one of disk_wakeups() until
 * it calls disk_enter(), which it must do. If disk_enter() refuses it again, it waits as a new one.
 */
void disk_woken(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now);

/* @request arrives at @now. disk_enter() must have admitted it. */
void disk_submit(struct disk *disk, struct disk_request *request, u64 now);

/* The time of the next event; U64_MAX: none without another request. */
u64 disk_next_event(const struct disk *disk);

/*
 * Process all events up to and at @now. Returns a list, linked by ->next, of the requests that are
 * complete, in the order of completion.
 */
struct disk_request *disk_advance(struct disk *disk, u64 now);

#endif
