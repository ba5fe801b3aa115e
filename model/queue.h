/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of the host's queue: made of requests by splitting and merging,
 * kept in the order that the data demand, and chosen by the I/O scheduler.
 *
 * A command is live from its arrival until it is done. All live reads and all
 * live writes are in an array each, sorted by place; that one structure finds
 * what can be merged, what overlaps, and what comes next under the heads. An
 * insertion moves pointers, of which there are no more than the queue's limit.
 *
 * Order: a command that overlaps an earlier live one is held until that is done,
 * if either of them writes. So whatever is queued or in the drive may go in any
 * order, and neither the scheduler nor the drive need think about it.
 */
#ifndef DAVID_MODEL_QUEUE_H
#define DAVID_MODEL_QUEUE_H

#include "disk.h"

enum command_state {
	COMMAND_HELD,		/* until those that it waits for are done */
	COMMAND_QUEUED,		/* may be dispatched */
	COMMAND_DRIVE,		/* has gone to the drive */
};

struct disk_command {
	u64 sector;
	u64 seq;		/* order of arrival, of its first request */
	u64 arrival;
	u64 dispatch;
	u32 sectors;
	u32 segments;
	u32 waits_for;		/* earlier live commands that it must not overtake */
	u8 op;
	u8 flags;
	u8 state;		/* enum command_state */
	bool holds;		/* others may wait for it */
	struct disk_request *first, *last;	/* that are in it as a whole, by next */
	struct disk_request *part;	/* that has other commands, too */
	struct disk_command *prev, *next;	/* in a list */
	u32 follows;			/* how many in the drive end where it begins, */
	u32 followed;			/* or begin where it ends */
};

struct command_list {
	struct disk_command *first, *last;
};

struct queue {
	const struct profile *profile;
	struct disk_command *pool;
	struct disk_command *free;
	u32 pool_size;
	u64 seq;
	u32 piece;			/* sectors of the largest command */
	struct disk_command **sorted[2];	/* live reads, live writes: by sector, then seq */
	u32 live[2];
	struct command_list fifo[2];	/* those queued, by seq */
	struct command_list flushes;

	/* Where the scheduler is */
	u64 sector;			/* of the last command dispatched, and its end */
	u64 last_seq;
	u64 end;
	u8 direction;			/* DISK_READ, DISK_WRITE; DISK_OP_NR at first */
	u32 batch;			/* commands of the batch so far */
	u32 starved;			/* how often reads went before waiting writes */
};

/* Returns 0 or -ENOMEM, with nothing to free. @profile must outlive the queue. */
int queue_init(struct queue *queue, const struct profile *profile, gfp_t gfp);
void queue_exit(struct queue *queue);
size_t queue_bytes(const struct queue *queue);

/* The index of an operation's direction: flushes count as writes. */
static inline unsigned int direction_of(enum disk_op op)
{
	return op != DISK_READ;
}

/* Requests that a direction may have, all exceptions counted. */
static inline u32 queue_most(const struct profile *profile)
{
	return profile->nr_requests * 3 / 2;
}

static inline u32 queue_live(const struct queue *queue)
{
	return queue->live[0] + queue->live[1];
}

/* Is there anything that may go to the drive? */
static inline bool queue_ready(const struct queue *queue)
{
	return queue->fifo[0].first || queue->fifo[1].first || queue->flushes.first;
}

/*
 * Put the next @sectors of @request into a command that is there already. Returns
 * false if there is none that may take them.
 */
bool queue_merge(struct queue *queue, struct disk_request *request, u32 sectors);

/* Put the next @sectors of @request into a new command. The pool must have one left. */
void queue_add(struct queue *queue, struct disk_request *request, u32 sectors, u64 now);

/* A flush, which is in none of the arrays. */
void queue_add_flush(struct queue *queue, struct disk_request *request, u64 now);

/* Take out what the scheduler chooses; NULL if nothing is queued. */
struct disk_command *queue_next(struct queue *queue, u64 now);

/* The first flush that waits, taken out; NULL if there is none. */
struct disk_command *queue_next_flush(struct queue *queue);

/* @command is done: let go on what waited for it, and give it back to the pool. */
void queue_complete(struct queue *queue, struct disk_command *command);

#endif
