// SPDX-License-Identifier: GPL-2.0
#include "mq-request.h"

/* The model keeps one part of a request in a command, so two parts are not merged. */
static bool both_parts(const struct mq_request *rq, bool part)
{
	return rq->command.part && part;
}

enum mq_merge mq_merge_kind(const struct mq_request *rq, const struct disk_request *request,
			    u32 sectors)
{
	u64 sector = command_next_sector(request);

	if (!mq_mergeable(rq) || rq->command.op != request->op ||
	    request->flags & (DISK_FUA | DISK_APPEND) ||
	    both_parts(rq, command_is_part(request, sectors)))
		return MQ_MERGE_NONE;
	if (mq_request_end(rq) == sector)
		return MQ_MERGE_BACK;
	return rq->command.sector == sector + sectors ? MQ_MERGE_FRONT : MQ_MERGE_NONE;
}

bool mq_merge_fits(const struct profile *profile, const struct mq_request *rq, u32 sectors)
{
	return rq->command.sectors + sectors <= profile->max_sectors &&
	       rq->command.segments + command_segments(sectors) <= profile->max_segments;
}

void mq_merge(struct mq_request *rq, struct disk_request *request, u32 sectors,
	      enum mq_merge kind)
{
	if (kind == MQ_MERGE_FRONT)
		rq->command.sector -= sectors;
	command_carry(&rq->command, request, sectors);
}

bool mq_merge_next(const struct profile *profile, struct mq_request *rq, struct mq_request *next)
{
	struct disk_command *command = &rq->command, *more = &next->command;

	if (!mq_mergeable(rq) || !mq_mergeable(next) || command->op != more->op ||
	    mq_request_end(rq) != more->sector || both_parts(rq, more->part) ||
	    command->sectors + more->sectors > profile->max_sectors ||
	    command->segments + more->segments > profile->max_segments)
		return false;
	command->sectors += more->sectors;
	command->segments += more->segments;
	command->flags |= more->flags;
	request_list_splice(&command->requests, &more->requests);
	if (more->part)
		command->part = more->part;
	return true;
}
