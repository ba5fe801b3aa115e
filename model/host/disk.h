/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The modelled disk: the host's request queue in front of a drive. It is a discrete-event engine.
 * In the kernel requests and a timer call it, in the simulator a loop.
 *
 *	disk_enter()        may a submitter add a request now?
 *	disk_submit()       a request arrives in the queue
 *	disk_next_event()   the time of the next event
 *	disk_advance()      process all events until now
 *
 * Each event has its own time, even if disk_advance() is called late. So the same requests at the
 * same times give the same completions, to the nanosecond. The caller's time never runs backwards:
 * it gives no call an earlier time than a call before.
 *
 * No locks: the caller has one for the disk. Nothing allocates after disk_create(). The caller
 * allocates requests, and commands come from a fixed pool.
 */
#ifndef DAVID_MODEL_DISK_H
#define DAVID_MODEL_DISK_H

#include "../drive/drive.h"

struct disk;
struct disk_command;

/* A request's flags beside DISK_FUA and DISK_SYNC */
#define DISK_WAITED	BIT(2)	/* it had to wait until disk_enter() let it in */
#define DISK_MISSED	BIT(3)	/* the disk's: a command that has ended was no hit */

/* A list of the disk's commands. Zeroed: empty. */
struct command_list {
	struct disk_command *first, *last;
};

/*
 * What a task submits between blk_start_plug() and blk_finish_plug() waits here, with
 * host = blk-mq. The caller has one for each task that plugs, zeroed at first, and calls
 * disk_unplug() when the task unplugs or sleeps.
 */
struct disk_plug {
	struct command_list list;
	u32 nr;
};

/* A request of the host. The modelled host splits and merges requests into commands. */
struct disk_request {
	/* Set by the caller before disk_submit(). */
	u64 sector;
	u32 sectors;			/* any number; 0 with DISK_FLUSH and DISK_ZONE_... */
	u8 op;				/* enum disk_op, but DISK_TRIM */
	u8 flags;			/* DISK_FUA, DISK_SYNC, DISK_WAITED, and of solid.h */
	u16 cpu;			/* that it is submitted on; only host = blk-mq asks */
	struct disk_plug *plug;		/* of its task; NULL: it does not plug */

	/* The result, valid when disk_advance() has returned the request. Times in ns. */
	u64 arrival;
	u64 dispatch;			/* time when its first command went to the drive */
	u64 completion;
	struct drive_parts parts;	/* of its last command; hit and cached: of all */
	/* Valid from disk_submit() on */
	u64 bad;			/* FAULT_MEDIA: the first sector that cannot be read */
	u8 fault;			/* enum fault_kind: why it fails */

	/* Private to the disk until disk_advance() returns the request. */
	struct disk_request *next;
	u64 seq;
	union {
		u32 left;		/* sectors that are in no command yet */
		u32 place;		/* before disk_submit(): where its submitter waits */
	};
	u32 commands;			/* unfinished commands that have a part of it */
	u32 cached;			/* of those that have ended */
};

/* A process that submits requests: the state of its batching. Zeroed at first. */
struct disk_submitter {
	u16 cpu;			/* set by the caller, as disk_request's */
	u32 batch[2];			/* requests that it may still add to a full queue */
	u64 batch_until;		/* time when that privilege ends */
	bool woken[2];			/* it was woken, and has not entered yet */
};

/*
 * Returns NULL without memory. @profile must outlive the disk. @ftl: an SSD's map (ftl.h), if it is
 * to be shared with others or to be filled; the caller destroys it after the disk. NULL: the SSD
 * has its own, in which is what profile.precondition says.
 */
struct disk *disk_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp);
void disk_destroy(struct disk *disk);
size_t disk_bytes(const struct disk *disk);

/*
 * May @who add a request of @op at @now? If not, @who may wait: call disk_wait(), until
 * disk_wakes() says that it is woken, and then disk_woken().
 */
bool disk_enter(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now);

/* @who was refused just now, and waits with @request, which disk_wakes() asks for. */
void disk_wait(struct disk *disk, const struct disk_submitter *who, struct disk_request *request);

/*
 * Those that wait are in two lists, by direction. With host = blk-mq they are in one, as all share
 * the tags. Returns which list is for @op.
 */
unsigned int disk_line(const struct disk *disk, enum disk_op op);

/* How many waiting submitters of @op may be woken now; with host = blk-mq of any. */
u32 disk_wakeups(const struct disk *disk, enum disk_op op);

/*
 * disk_wakeups() is not 0: is it @request's submitter who is woken next? Ask in the order in which
 * they began to wait. Hosts other than blk-mq wake the first of a list: true.
 */
bool disk_wakes(const struct disk *disk, const struct disk_request *request);

/*
 * Wake @who, which waited, and give it the batching privilege. From now on one of disk_wakeups() is
 * taken by @who, until it calls disk_enter(). It must call that. If disk_enter() refuses it again,
 * it waits like one that was never woken; with host = blk-mq it calls disk_wait() for that, and is
 * the last of its list.
 */
void disk_woken(struct disk *disk, struct disk_submitter *who, enum disk_op op, u64 now);

/*
 * Does @request need no room, as it would be merged with one that waits? Ask before disk_enter().
 * Linux 2.6 gives a request room first: false.
 */
bool disk_merges(struct disk *disk, const struct disk_request *request, u64 now);

/* @request arrives at @now. disk_merges() or disk_enter() must have admitted it. */
void disk_submit(struct disk *disk, struct disk_request *request, u64 now);

/* The task that has @plug unplugs; @sleeps: as it goes to sleep. @plug is empty then. */
void disk_unplug(struct disk *disk, struct disk_plug *plug, bool sleeps, u64 now);

/*
 * An SSD that was idle has folded its SLC cache since, and collected. The next command does that
 * before all else, and so does a trim, in one piece. Who cannot be kept so long calls this before
 * disk_submit(), disk_trim() and disk_settle(), after disk_advance(), until it returns false.
 * Changes no figure and no time.
 */
bool disk_catch_up(struct disk *disk, u64 now);

/* Somebody else changes the SSD's map at @now: what it has done in its idle time comes before. */
void disk_settle(struct disk *disk, u64 now);

/* What is at these sectors is of no use any more. Takes no time, and means nothing to a disk. */
void disk_trim(struct disk *disk, u64 sector, u64 sectors, u64 now);

/*
 * From now on each command that ends is added to @sums. These are the caller's, and must be there
 * as long as @disk.
 */
void disk_sum_into(struct disk *disk, struct drive_sums *sums);

/*
 * From now on what @faults says holds for requests that come. It must be there as long as @disk.
 * Time is the disk's.
 */
void disk_set_faults(struct disk *disk, struct faults *faults);

/* False: the drive is a disk, and has none. */
bool disk_solid_figures(const struct disk *disk, struct solid_figures *figures);

/* As drive_pending_figures(). */
bool disk_pending_figures(const struct disk *disk, struct pending_figures *figures);

/* The time of the next event; U64_MAX: none without another request. */
u64 disk_next_event(const struct disk *disk);

/*
 * Process all events up to and at @now. Returns a list, linked by ->next, of the requests that are
 * complete, in the order of completion.
 */
struct disk_request *disk_advance(struct disk *disk, u64 now);

#endif
