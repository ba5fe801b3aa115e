/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request of blk-mq: a command with a tag. The requests of the host (bios in Linux) are merged
 * into it, and two such requests into one.
 *
 * Linux 6.12 and 7.3: block/blk-merge.c.
 */
#ifndef DAVID_MODEL_MQ_REQUEST_H
#define DAVID_MODEL_MQ_REQUEST_H

#include "command.h"

struct mq_request {
	struct disk_command command;
	u64 expires;		/* when mq-deadline prefers it */
	u64 hashed;		/* when it was last found by its end: the youngest is found */
	u16 cpu;		/* that it was submitted on */
	u16 hw;			/* hardware queue */
	u16 tag;
	bool no_merge;		/* it once had no room for another one */
	bool sorted;		/* in mq-deadline's array and list */
	bool flush_after;	/* FUA, and the drive has none */
};

static inline struct mq_request *mq_request_of(struct disk_command *command)
{
	return container_of(command, struct mq_request, command);
}

/* The sector behind it. */
static inline u64 mq_request_end(const struct mq_request *rq)
{
	return rq->command.sector + rq->command.sectors;
}

/* May anything be merged with it at all? */
static inline bool mq_mergeable(const struct mq_request *rq)
{
	return !rq->no_merge && !rq->flush_after &&
	       !(rq->command.flags & (DISK_FUA | DISK_APPEND)) &&
	       disk_op_has_data(rq->command.op);
}

enum mq_merge {
	MQ_MERGE_NONE,		/* they do not lie side by side, or may not be merged */
	MQ_MERGE_BACK,
	MQ_MERGE_FRONT,
};

/* How do the next @sectors of @request lie to @rq? */
enum mq_merge mq_merge_kind(const struct mq_request *rq, const struct disk_request *request,
			    u32 sectors);

/*
 * Is there room for them, too? If not, Linux never merges with @rq again, and the caller sets
 * rq->no_merge.
 */
bool mq_merge_fits(const struct profile *profile, const struct mq_request *rq, u32 sectors);

/* Merge them, as mq_merge_kind() and mq_merge_fits() allow. */
void mq_merge(struct mq_request *rq, struct disk_request *request, u32 sectors,
	      enum mq_merge kind);

/* Merge @next into @rq, which it begins behind. False: they may not be merged. */
bool mq_merge_next(const struct profile *profile, struct mq_request *rq, struct mq_request *next);

#endif
