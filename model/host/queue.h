/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of the host's queue: requests are split and merged into them, and the I/O scheduler
 * chooses the next one.
 *
 * A command is live from its arrival until it is complete. There is an array of live reads and one
 * of live writes, each sorted by sector. They serve for merging, for finding overlaps, and for
 * choosing the next command. An insertion moves at most as many pointers as the queue's limit.
 *
 * Order: if a command overlaps an earlier live one, and either of them writes, it is held until the
 * earlier one is complete. So commands that are queued or in the drive may be served in any order.
 */
#ifndef DAVID_MODEL_QUEUE_H
#define DAVID_MODEL_QUEUE_H

#include "command.h"

struct queue {
	const struct profile *profile;
	struct disk_command *pool;
	struct disk_command *free;
	u32 pool_size;
	u64 seq;
	u32 piece;			/* sectors of the largest command */
	struct command_sort live[2];	/* reads, writes */
	struct command_list fifo[2];	/* the queued ones, by seq */
	struct command_list flushes;

	/* State of the scheduler. */
	u64 sector;			/* of the last command dispatched */
	u64 last_seq;			/* of the last command dispatched */
	u64 end;			/* sector behind the last command dispatched */
	u8 direction;			/* DISK_READ, DISK_WRITE; DISK_OP_NR at first */
	u32 batch;			/* commands of the current batch so far */
	u32 starved;			/* how often reads went before waiting writes */
};

/* Returns 0 or -ENOMEM, with nothing to free. @profile must outlive the queue. */
int queue_init(struct queue *queue, const struct profile *profile, gfp_t gfp);
void queue_exit(struct queue *queue);
size_t queue_bytes(const struct queue *queue);

/* The most requests of one direction, with the submitters' batches. */
static inline u32 queue_most(const struct profile *profile)
{
	return profile->nr_requests * 3 / 2;
}

static inline u32 queue_live(const struct queue *queue)
{
	return queue->live[0].nr + queue->live[1].nr;
}

/* Is there a command that may be dispatched? */
static inline bool queue_ready(const struct queue *queue)
{
	return queue->fifo[0].first || queue->fifo[1].first || queue->flushes.first;
}

/*
 * Merge the next @sectors of @request into a queued command. False: no command may take them.
 */
bool queue_merge(struct queue *queue, struct disk_request *request, u32 sectors);

/* Make a command of the next @sectors of @request. The pool must not be empty. */
void queue_add(struct queue *queue, struct disk_request *request, u32 sectors, u64 now);

/* Make a command of a flush. It is in neither array. */
void queue_add_flush(struct queue *queue, struct disk_request *request, u64 now);

/* Remove and return the command that the scheduler chooses; NULL: nothing is queued. */
struct disk_command *queue_next(struct queue *queue, u64 now);

/* Remove and return the first waiting flush; NULL: none. */
struct disk_command *queue_next_flush(struct queue *queue);

/* @command is complete: release commands that it holds, and return it to the pool. */
void queue_complete(struct queue *queue, struct disk_command *command);

#endif
