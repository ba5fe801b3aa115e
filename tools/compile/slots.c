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
	u32 i;

	for (i = 0; i < slots->count; i++)
		free(slots->state[i].last);
	free(slots->state);
	map_free(&slots->by_ofd);
	free(slots->free);
	free(slots->ended);
}

u32 slots_of_number(struct slots *slots, u32 ofd)
{
	return (u32)*map_at(&slots->by_ofd, ofd) - 1;
}

u32 slots_of(struct slots *slots, const struct ofd *ofd)
{
	return ofd ? slots_of_number(slots, ofd->id) : NO_SLOT;
}

u32 slots_pipe(const struct slots *slots, u32 slot)
{
	return slots->state[slot].pipe - 1;
}

bool slots_is_pipe(struct slots *slots, const struct ofd *ofd)
{
	u32 slot = slots_of(slots, ofd);

	return slot != NO_SLOT && slots->state[slot].pipe;
}

bool slots_writes(struct slots *slots, const struct ofd *ofd)
{
	return slots_is_pipe(slots, ofd) && slots->state[slots_of(slots, ofd)].writes;
}

/* Whoever has let go of it is done whenever @thread is here. */
static bool is_free_for(const struct slots *slots, u32 thread, u32 slot)
{
	const struct slot_state *s = &slots->state[slot];
	u32 i;

	for (i = 0; i < s->lasts; i++) {
		if (!order_implies(slots->order, thread, s->last[i].thread, s->last[i].count))
			return false;
	}
	return true;
}

static u32 take_new(struct slots *slots)
{
	if (slots->count == WL_SLOTS_MAX)
		die("the trace needs more than %u descriptors", WL_SLOTS_MAX);
	slots->state = vec_reserve(slots->state, &slots->state_room, slots->count + 1ull,
				   sizeof(*slots->state));
	slots->state[slots->count] = (struct slot_state){};
	return slots->count++;
}

void slots_reserve(struct slots *slots)
{
	if (!slots->count)
		take_new(slots);
}

/* One that is free in any order that the rules allow, even if they allow all. */
u32 slots_take(struct slots *slots, u32 thread)
{
	u32 i, tried = min_t(u32, slots->free_count, FREE_TRIED);

	for (i = slots->free_count; i > slots->free_count - tried; i--) {
		u32 slot = slots->free[i - 1];
		struct slot_state *s = &slots->state[slot];

		if (!is_free_for(slots, thread, slot))
			continue;
		slots->free[i - 1] = slots->free[--slots->free_count];
		*s = (struct slot_state){ .last = s->last, .room = s->room };
		return slot;
	}
	return take_new(slots);
}

static void add_last(struct slot_state *s, u32 thread, u32 count)
{
	u32 i;

	for (i = 0; i < s->lasts && s->last[i].thread != thread; i++)
		;
	if (i == s->lasts) {
		s->last = vec_reserve(s->last, &s->room, ++s->lasts, sizeof(*s->last));
		s->last[i] = (struct slot_use){ .thread = thread };
	}
	s->last[i].count = max(s->last[i].count, count);
}

static void add_free(struct slots *slots, u32 slot)
{
	slots->free = vec_reserve(slots->free, &slots->free_room, slots->free_count + 1ull,
				  sizeof(*slots->free));
	slots->free[slots->free_count++] = slot;
}

/* Any end may have closed any other: so each is free when all are. */
static void give_ends(struct slots *slots, struct slot_state *pipe)
{
	u32 first = pipe->given - 1, at, next, i;
	struct slot_state *all = &slots->state[first];

	for (at = all->next_given; at; at = slots->state[at - 1].next_given) {
		for (i = 0; i < slots->state[at - 1].lasts; i++)
			add_last(all, slots->state[at - 1].last[i].thread,
				 slots->state[at - 1].last[i].count);
	}
	for (at = all->next_given; at; at = next) {
		next = slots->state[at - 1].next_given;
		for (i = 0; i < all->lasts; i++)
			add_last(&slots->state[at - 1], all->last[i].thread, all->last[i].count);
		add_free(slots, at - 1);
	}
	add_free(slots, first);
	pipe->given = 0;
}

void slots_give(struct slots *slots, u32 thread, u32 slot)
{
	struct slot_state *s = &slots->state[slot], *pipe;

	add_last(s, thread, order_count(slots->order, thread));
	if (!s->pipe) {
		add_free(slots, slot);
		return;
	}
	pipe = &slots->state[s->pipe - 1];
	s->next_given = pipe->given;
	pipe->given = slot + 1;
	if (!--pipe->ends)
		give_ends(slots, pipe);
}

u32 slots_new(struct slots *slots, u32 thread, const struct ofd *ofd)
{
	u32 slot = slots_take(slots, thread);

	*map_at(&slots->by_ofd, ofd->id) = slot + 1;
	slots->state[slot].ofd = ofd->id;
	slots->state[slot].opened =
		(struct slot_use){ thread, order_count(slots->order, thread) + 1 };
	return slot;
}

void slots_set_end(struct slots *slots, u32 slot, u32 pipe, bool writes)
{
	slots->state[slot].pipe = pipe + 1;
	slots->state[slot].writes = writes;
	slots->state[pipe].ends++;
}

void slots_set_fifo(struct slots *slots, u32 slot, u64 key)
{
	slots->state[slot].fifo = key;
}

u64 slots_fifo(const struct slots *slots, u32 slot)
{
	return slots->state[slot].fifo;
}

void slots_released(struct slots *slots, u32 thread, u32 slot)
{
	slots->state[slot].releases++;
	add_last(&slots->state[slot], thread, order_count(slots->order, thread));
}

u32 slots_releases(const struct slots *slots, u32 slot)
{
	return slots->state[slot].releases;
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
