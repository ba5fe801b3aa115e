// SPDX-License-Identifier: GPL-2.0
#include "slots.h"

#include "../calls/workload.h"
#include "../common/complain.h"
#include "../common/vec.h"

#define FREE_TRIED 64

void slots_init(struct slots *slots, const struct order *order)
{
	*slots = (struct slots){ .order = order };
}

void slots_free(struct slots *slots)
{
	map_free(&slots->by_ofd);
	map_free(&slots->pipes);
	free(slots->free);
	free(slots->ended);
}

u32 slots_of(struct slots *slots, const struct ofd *ofd)
{
	return ofd ? (u32)*map_at(&slots->by_ofd, ofd->id) - 1 : NO_SLOT;
}

bool slots_is_pipe(struct slots *slots, const struct ofd *ofd)
{
	return ofd && *map_at(&slots->pipes, ofd->id);
}

/*
 * One whose last user is done whenever this thread is here: so no order, not even none at all, can
 * mix them up.
 */
u32 slots_take(struct slots *slots, u32 thread)
{
	u32 i, tried = min_t(u32, slots->free_count, FREE_TRIED);

	for (i = slots->free_count; i > slots->free_count - tried; i--) {
		struct free_slot *f = &slots->free[i - 1];
		u32 slot = f->slot;

		if (!order_implies(slots->order, thread, f->thread, f->count))
			continue;
		*f = slots->free[--slots->free_count];
		return slot;
	}
	if (slots->count == WL_SLOTS_MAX)
		die("the trace needs more than %u descriptors", WL_SLOTS_MAX);
	return slots->count++;
}

void slots_give(struct slots *slots, u32 thread, u32 slot)
{
	slots->free = vec_reserve(slots->free, &slots->free_room, slots->free_count + 1,
				  sizeof(*slots->free));
	slots->free[slots->free_count++] =
		(struct free_slot){ slot, thread, order_count(slots->order, thread) };
}

u32 slots_new(struct slots *slots, u32 thread, const struct ofd *ofd, bool pipe)
{
	u32 slot = slots_take(slots, thread);

	*map_at(&slots->by_ofd, ofd->id) = slot + 1;
	*map_at(&slots->pipes, ofd->id) = pipe;
	return slot;
}

void slots_closed(struct slots *slots, const struct ofd *ofd)
{
	*map_at(&slots->by_ofd, ofd->id) = 0;
}

void slots_ofd_ended(void *arg, const struct ofd *ofd, u64 closed)
{
	struct slots *slots = arg;
	u64 *slot = map_at(&slots->by_ofd, ofd->id);

	if (!*slot)
		return;
	slots->ended = vec_reserve(slots->ended, &slots->ended_room, slots->ended_count + 1,
				   sizeof(*slots->ended));
	slots->ended[slots->ended_count++] = (struct ended){ *slot - 1, ofd->id };
	*slot = 0;
}
