// SPDX-License-Identifier: GPL-2.0
/*
 * Each request has a submitter of its own, as if each came from another task: one that finds the
 * host's queue full waits, and those behind it are not kept.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/flash/ftl.h"
#include "../common/alloc.h"
#include "blocks.h"
#include "rank.h"

/* A request that is under way. */
struct blocks_slot {
	struct disk_request request;	/* the flush before it, or itself */
	struct disk_submitter who;
	u64 index;
	u64 came;
	bool flushing;			/* the request itself comes after this flush */
	struct blocks_slot *next;	/* that waits for room, or is free */
	struct blocks_slot *older;	/* that was allocated */
};

struct blocks_line {
	struct blocks_slot *first, **end;
};

struct blocks_state {
	const struct blocks *blocks;
	const struct blocks_way *way;
	struct blocks_result *result;
	struct target target;
	u64 now;
	u64 next;			/* index of the next request to come */
	u64 under_way;
	u64 busy_since;
	u64 over, most_over;		/* the bound: so many are, and may be */
	struct blocks_line line[2];	/* that wait for room, by disk_line() */
	struct blocks_slot *free, *newest;
	struct drive_sums sums;		/* of a disk, up to now */
};

static struct blocks_slot *blocks_slot_of(struct disk_request *request)
{
	return (struct blocks_slot *)((char *)request - offsetof(struct blocks_slot, request));
}

static struct blocks_slot *blocks_slot_new(struct blocks_state *state)
{
	struct blocks_slot *slot = state->free;

	if (slot) {
		state->free = slot->next;
	} else {
		slot = xcalloc(1, sizeof(*slot));
		slot->older = state->newest;
		state->newest = slot;
	}
	*slot = (struct blocks_slot) {
		.index = state->next, .came = state->now, .older = slot->older,
	};
	return slot;
}

static void blocks_wait(struct blocks_state *state, struct blocks_slot *slot)
{
	struct blocks_line *line = &state->line[disk_line(state->target.disk, slot->request.op)];

	disk_wait(state->target.disk, &slot->who, &slot->request);
	slot->next = NULL;
	*line->end = slot;
	line->end = &slot->next;
}

static void blocks_enter(struct blocks_state *state, struct blocks_slot *slot)
{
	struct disk_request *request = &slot->request;

	if (target_merges(&state->target, request, state->now) ||
	    target_enter(&state->target, &slot->who, request->op, state->now))
		target_submit(&state->target, request, state->now);
	else
		blocks_wait(state, slot);
}

/* Let in those that wait, while the queue has room. */
static void blocks_admit(struct blocks_state *state, u32 number)
{
	struct blocks_line *line = &state->line[number];
	struct blocks_slot **at, *slot;
	bool entered;

	while (line->first && target_wakeups(&state->target, line->first->request.op)) {
		for (at = &line->first; *at; at = &(*at)->next)
			if (disk_wakes(state->target.disk, &(*at)->request))
				break;
		slot = *at;
		if (!slot)
			return;
		disk_woken(state->target.disk, &slot->who, slot->request.op, state->now);
		entered = target_enter(&state->target, &slot->who, slot->request.op, state->now);
		if (!entered && disk_line(state->target.disk, DISK_WRITE))
			return;
		*at = slot->next;
		if (line->end == &slot->next)
			line->end = at;
		if (entered)
			target_submit(&state->target, &slot->request, state->now);
		else
			blocks_wait(state, slot);
	}
}

/* The request itself, behind a flush if it asked for one. */
static void blocks_send(struct blocks_state *state, struct blocks_slot *slot)
{
	const struct blocks_request *r = &state->blocks->requests[slot->index];

	slot->who = (struct disk_submitter) { };
	slot->request = (struct disk_request) {
		.sector = r->sector, .sectors = r->sectors, .op = r->op,
		.flags = r->flags & (DISK_FUA | DISK_SYNC),
	};
	blocks_enter(state, slot);
}

static void blocks_come(struct blocks_state *state)
{
	const struct blocks_request *r = &state->blocks->requests[state->next];
	struct blocks_slot *slot;

	if (r->op == DISK_TRIM) {
		if (state->target.disk)
			disk_trim(state->target.disk, r->sector, r->sectors, state->now);
		state->result->trims++;
		state->next++;
		return;
	}
	slot = blocks_slot_new(state);
	state->next++;
	if (!state->under_way++)
		state->busy_since = state->now;
	slot->flushing = r->flags & BLOCKS_PREFLUSH;
	if (!slot->flushing) {
		blocks_send(state, slot);
		return;
	}
	slot->request = (struct disk_request) { .op = DISK_FLUSH, .flags = DISK_SYNC };
	blocks_enter(state, slot);
}

static void blocks_count(struct blocks_state *state, const struct blocks_slot *slot)
{
	const struct disk_request *request = &slot->request;
	struct blocks_result *result = state->result;
	struct blocks_figures *figures = &result->op[request->op];
	u64 took = request->completion - slot->came;

	figures->times[figures->nr++] = took;
	figures->sectors += request->sectors;
	figures->hits += request->parts.hit;
	figures->sum += took;
	if (request->op != DISK_FLUSH) {
		result->times[result->nr_times++] = took;
		state->over += took > state->way->bound;
	}
	if (state->way->out)
		fprintf(state->way->out, "%llu,%llu,%llu\n", (unsigned long long)slot->index,
			(unsigned long long)slot->came, (unsigned long long)request->completion);
}

static void blocks_complete(struct blocks_state *state, struct blocks_slot *slot)
{
	u64 end = slot->request.completion;

	if (slot->flushing) {
		slot->flushing = false;
		blocks_send(state, slot);
		return;
	}
	blocks_count(state, slot);
	state->result->ns = end - state->blocks->requests[0].start;
	if (!--state->under_way)
		state->result->busy += end - state->busy_since;
	slot->next = state->free;
	state->free = slot;
}

static void blocks_advance(struct blocks_state *state)
{
	struct disk_request *request, *next;

	for (request = target_advance(&state->target, state->now); request; request = next) {
		next = request->next;
		blocks_complete(state, blocks_slot_of(request));
	}
	blocks_admit(state, 0);
	blocks_admit(state, 1);
}

/* When the next request comes by itself; U64_MAX: when another has ended. */
static u64 blocks_due(const struct blocks_state *state)
{
	const struct blocks_request *requests = state->blocks->requests;
	u64 first = requests[0].start;

	if (state->next == state->blocks->nr)
		return U64_MAX;
	if (state->way->closed)
		return state->under_way < requests[state->next].depth ? max(state->now, first) :
									 U64_MAX;
	if (state->way->speed == 1)
		return requests[state->next].start;
	return first + (requests[state->next].start - first) / state->way->speed;
}

/* The bound does not hold, whatever is still to come. */
static bool blocks_too_late(const struct blocks_state *state)
{
	return state->way->bound && state->over > state->most_over;
}

/* Until all are done, or the bound is passed. Returns false if nothing will happen any more. */
static bool blocks_loop(struct blocks_state *state)
{
	u64 next;

	while (state->next < state->blocks->nr || state->under_way) {
		if (target_stopped(&state->target))
			return true;
		if (blocks_too_late(state))
			break;
		next = min(blocks_due(state), target_next_event(&state->target));
		if (next == U64_MAX)
			return false;
		state->now = max(state->now, next);
		blocks_advance(state);
		while (blocks_due(state) <= state->now)
			blocks_come(state);
		/* With blk-mq two requests that become one free a tag. */
		if (state->target.disk && !disk_line(state->target.disk, DISK_WRITE))
			blocks_admit(state, 0);
	}
	/* The last ones that end may be those that are too late. */
	state->result->beyond_bound = blocks_too_late(state);
	return true;
}

static void blocks_prepare(struct blocks_state *state)
{
	const struct blocks *blocks = state->blocks;
	u64 count[3] = { }, i;
	int op;

	for (i = 0; i < blocks->nr; i++)
		if (blocks->requests[i].op != DISK_TRIM)
			count[blocks->requests[i].op]++;
	for (op = 0; op < 3; op++)
		state->result->op[op].times = xcalloc(count[op] + 1, sizeof(u64));
	i = count[DISK_READ] + count[DISK_WRITE];
	state->result->times = xcalloc(i + 1, sizeof(u64));
	state->most_over = i - rank_of(i, 990);
	state->line[0].end = &state->line[0].first;
	state->line[1].end = &state->line[1].first;
}

static void blocks_free_slots(struct blocks_slot *slot)
{
	struct blocks_slot *older;

	for (; slot; slot = older) {
		older = slot->older;
		free(slot);
	}
}

static void blocks_finish(struct blocks_state *state)
{
	struct blocks_result *result = state->result;
	int op;

	for (op = 0; op < 3; op++)
		rank_sort(result->op[op].times, result->op[op].nr);
	rank_sort(result->times, result->nr_times);
	if (state->way->setup)
		target_figures(&state->target, state->way->setup->layout.members,
			       result->members);
	result->sums = state->sums;
	result->has_solid = target_solid_figures(&state->target, &result->solid);
}

/* Bytes that were written to the disk, or to all members. */
static u64 blocks_written(const struct blocks_state *state)
{
	const struct array_setup *setup = state->way->setup;
	u64 sectors = setup ? 0 : state->result->op[DISK_WRITE].sectors;
	u32 i;

	for (i = 0; setup && i < setup->layout.members; i++)
		sectors += state->result->members[i].write_sectors;
	return 512 * sectors;
}

/* All requests are done. How long a flush takes now is what a cache still has of them. */
static void blocks_look_after(struct blocks_state *state)
{
	const struct profile *profile = state->way->profile;
	u32 members = state->way->setup ? state->way->setup->layout.members : 0;
	struct disk_request flush = { .op = DISK_FLUSH, .flags = DISK_SYNC };
	struct disk_submitter who = { };
	u64 begin = state->now, next;

	state->result->stays_in_cache = target_cache_lasts(profile) &&
		state->result->op[DISK_WRITE].nr &&
		blocks_written(state) < 2 * target_cache_bytes(profile, members);
	if (!target_enter(&state->target, &who, DISK_FLUSH, state->now))
		return;
	target_submit(&state->target, &flush, state->now);
	while (!flush.completion) {
		next = target_next_event(&state->target);
		if (next == U64_MAX)
			return;
		state->now = max(state->now, next);
		target_advance(&state->target, state->now);
	}
	state->result->left = flush.completion - begin;
}

const char *blocks_run(const struct blocks *blocks, const struct blocks_way *way,
		       struct blocks_result *result)
{
	struct blocks_state state = { .blocks = blocks, .way = way, .result = result };
	struct ftl *flash = way->flash ? ftl_copy(way->flash, GFP_KERNEL) : NULL;
	const char *failed = "out of memory";

	*result = (struct blocks_result) { };
	if ((flash || !way->flash) &&
	    !target_create(&state.target, way->profile, way->setup, flash)) {
		if (state.target.disk)
			disk_sum_into(state.target.disk, &state.sums);
		blocks_prepare(&state);
		failed = blocks_loop(&state) ? target_failed(&state.target) :
					       "a request was never answered";
		if (!failed)
			blocks_finish(&state);
		if (!failed && way->look_after && !result->beyond_bound)
			blocks_look_after(&state);
	}
	target_destroy(&state.target);
	ftl_destroy(flash);
	blocks_free_slots(state.newest);
	if (failed)
		blocks_release(result);
	return failed;
}

void blocks_release(struct blocks_result *result)
{
	int op;

	for (op = 0; op < 3; op++)
		free(result->op[op].times);
	free(result->times);
	*result = (struct blocks_result) { };
}
