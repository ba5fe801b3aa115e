// SPDX-License-Identifier: GPL-2.0
#include "../planted.h"
#include "command.h"

void command_carry(struct disk_command *command, struct disk_request *request, u32 sectors)
{
	command->sectors += sectors;
	command->segments += command_segments(sectors);
	command->flags |= request->flags;
	/* Only the first command of a request finds the zone closed. */
	request->flags &= ~DISK_OPENS;
	if (command_is_part(request, sectors))
		command->part = request;
	else
		request_list_append(&command->requests, request);
	request->left -= sectors;
	request->commands++;
}

void command_dispatched(struct disk_command *command, u64 now)
{
	struct disk_request *request;

	command->dispatch = now;
	for (request = command->requests.first; request; request = request->next)
		request->dispatch = min(request->dispatch, now);
	if (command->part)
		command->part->dispatch = min(command->part->dispatch, now);
}

void command_ended(struct disk_command *command, const struct drive_parts *parts, u64 now,
		   struct request_list *done)
{
	u32 cached = MODEL_PLANTED(unseen) ? 0 : parts->cached, mine;
	struct disk_request *request, *next;

	for (request = command->requests.first; request; request = next) {
		next = request->next;
		mine = min(cached, request->sectors);
		cached -= mine;
		if (request_ended(request, parts, mine, now))
			request_list_append(done, request);
	}
	if (command->part && request_ended(command->part, parts, cached, now))
		request_list_append(done, command->part);
}

void command_list_remove(struct command_list *list, struct disk_command *command)
{
	if (command->prev)
		command->prev->next = command->next;
	else
		list->first = command->next;
	if (command->next)
		command->next->prev = command->prev;
	else
		list->last = command->prev;
}

void command_list_insert(struct command_list *list, struct disk_command *command,
			 struct disk_command *after)
{
	command->prev = after;
	command->next = after ? after->next : list->first;
	if (after)
		after->next = command;
	else
		list->first = command;
	if (command->next)
		command->next->prev = command;
	else
		list->last = command;
}

u32 command_sort_find(const struct command_sort *sort, u64 sector, u64 seq)
{
	u32 low = 0, high = sort->nr;

	while (low < high) {
		u32 middle = (low + high) / 2;
		const struct disk_command *command = sort->at[middle];

		if (command->sector < sector || (command->sector == sector && command->seq < seq))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void command_sort_insert(struct command_sort *sort, struct disk_command *command)
{
	u32 at = command_sort_find(sort, command->sector, command->seq);
	u32 after = sort->nr++ - at;

	if (after)
		memmove(&sort->at[at + 1], &sort->at[at], after * sizeof(*sort->at));
	sort->at[at] = command;
}

void command_sort_remove(struct command_sort *sort, struct disk_command *command)
{
	u32 at = command_sort_find(sort, command->sector, command->seq);
	u32 after = --sort->nr - at;

	if (after)
		memmove(&sort->at[at], &sort->at[at + 1], after * sizeof(*sort->at));
}
