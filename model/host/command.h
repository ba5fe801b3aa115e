/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A command: what the modelled host sends to the drive. It has one request of the host or several
 * merged ones, or a part of one. Here are also lists of commands, and arrays sorted by sector.
 *
 * Portable, any context; the caller keeps others out. Nothing allocates.
 */
#ifndef DAVID_MODEL_COMMAND_H
#define DAVID_MODEL_COMMAND_H

#include "request-list.h"

enum command_state {
	COMMAND_HELD,		/* waits for commands that it overlaps */
	COMMAND_QUEUED,		/* may be dispatched */
	COMMAND_DRIVE,		/* dispatched to the drive */
};

struct disk_command {
	u64 sector;
	u64 seq;		/* order of arrival of its first request */
	u64 arrival;
	u64 dispatch;
	u32 sectors;
	u32 segments;
	u32 waits_for;		/* earlier live commands that it must not overtake */
	u8 op;
	u8 flags;
	u8 state;		/* enum command_state */
	bool holds;		/* others may wait for it */
	struct request_list requests;	/* those that it has completely */
	struct disk_request *part;	/* a request that has other commands, too */
	struct disk_command *prev, *next;	/* in a list */
	u16 follows;			/* how many commands in the drive end where it begins */
	u16 followed;			/* how many commands in the drive begin where it ends */
	u32 passed;			/* how often the arm went to a later one in the drive */
	struct drive_command to_drive;	/* as the drive has it */
};

/* The index of an operation's direction: flushes count as writes. */
static inline unsigned int direction_of(enum disk_op op)
{
	return op != DISK_READ;
}

#define COMMAND_SEGMENT	8	/* sectors: no two pages of a request lie side by side in memory */

static inline u32 command_segments(u32 sectors)
{
	return DIV_ROUND_UP(sectors, COMMAND_SEGMENT);
}

/* The first sector of @request that is in no command yet. */
static inline u64 command_next_sector(const struct disk_request *request)
{
	return request->sector + request->sectors - request->left;
}

static inline bool command_is_part(const struct disk_request *request, u32 sectors)
{
	return sectors < request->sectors;
}

/* @command gets the next @sectors of @request to carry. */
void command_carry(struct disk_command *command, struct disk_request *request, u32 sectors);

/* @command goes to the drive at @now. */
void command_dispatched(struct disk_command *command, u64 now);

/*
 * A command ended at @now that carried @request or a part of it. Of what is in @parts @cached is
 * @request's. Returns whether that is complete.
 */
static inline bool request_ended(struct disk_request *request, const struct drive_parts *parts,
				 u32 cached, u64 now)
{
	request->cached += cached;
	if (--request->commands || request->left) {
		request->flags |= parts->hit ? 0 : DISK_MISSED;
		return false;
	}
	request->parts = *parts;
	request->parts.cached = request->cached;
	if (request->flags & DISK_MISSED)
		request->parts.hit = false;
	request->completion = now;
	return true;
}

/* @command ended at @now. Append to @done those of its requests that have no other command. */
void command_ended(struct disk_command *command, const struct drive_parts *parts, u64 now,
		   struct request_list *done);

/* Insert @command behind @after; NULL: in front. */
void command_list_insert(struct command_list *list, struct disk_command *command,
			 struct disk_command *after);
void command_list_remove(struct command_list *list, struct disk_command *command);

static inline void command_list_append(struct command_list *list, struct disk_command *command)
{
	command_list_insert(list, command, list->last);
}

static inline struct disk_command *command_list_pop(struct command_list *list)
{
	struct disk_command *command = list->first;

	if (command)
		command_list_remove(list, command);
	return command;
}

/* An array sorted by sector, then seq. An insertion moves as many pointers as lie above. */
struct command_sort {
	struct disk_command **at;
	u32 nr;
};

/* The index of the first command from (@sector, @seq) on. */
u32 command_sort_find(const struct command_sort *sort, u64 sector, u64 seq);
void command_sort_insert(struct command_sort *sort, struct disk_command *command);
void command_sort_remove(struct command_sort *sort, struct disk_command *command);

#endif
