// SPDX-License-Identifier: GPL-2.0
/* The dies of an SSD at work, and the events of it: see ssd.h. */
#include "../../dm-david/portable/hash.h"
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "ssd-internal.h"

/* The heap. Equal times go by die. */

static bool event_is_earlier(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->die < b->die);
}

void ssd_push_event(struct ssd *ssd, u64 time, u32 die)
{
	struct event event = { .time = time, .die = die }, *heap = ssd->events;
	u32 i = ssd->nr_events++, up;

	for (; i && event_is_earlier(&event, &heap[up = (i - 1) / 2]); i = up)
		heap[i] = heap[up];
	heap[i] = event;
}

struct event ssd_pop_event(struct ssd *ssd)
{
	struct event *heap = ssd->events, first = heap[0], last = heap[--ssd->nr_events];
	u32 i = 0, down;

	while ((down = 2 * i + 1) < ssd->nr_events) {
		if (down + 1 < ssd->nr_events && event_is_earlier(&heap[down + 1], &heap[down]))
			down++;
		if (!event_is_earlier(&heap[down], &last))
			break;
		heap[i] = heap[down];
		i = down;
	}
	heap[i] = last;
	return first;
}

/* Dies at work */

void ssd_put_idle(struct ssd *ssd, u32 die)
{
	u32 at = ssd->idle_at + ssd->nr_idle++;

	ssd->idle[at >= ssd->profile->dies ? at - ssd->profile->dies : at] = die;
}

u32 ssd_take_idle(struct ssd *ssd)
{
	u32 die = ssd->idle[ssd->idle_at];

	ssd->idle_at = ssd->idle_at + 1 == ssd->profile->dies ? 0 : ssd->idle_at + 1;
	ssd->nr_idle--;
	return die;
}

/* The slowest read of a page is 2^types - 1 steps slower than the fastest. */
static u64 mean_read(const struct profile *profile)
{
	u64 types = profile->page_types;

	return profile->read_time +
	       div_u64(profile->read_step * ((1ULL << types) - 1 - types), types);
}

/* Whether the @n-th of its kind is one of the @thousandths that are chosen evenly. */
static bool nth_is_chosen(u64 n, u32 thousandths)
{
	return (u64)hash_u64(n) * 1000 >> 32 < thousandths;
}

void ssd_begin(struct ssd *ssd, struct die *die, u64 now, u64 time)
{
	die->begin = max(now, die->reads_until);
	die->carried = die->begin;
	die->end = die->begin + time;
	die->reads = 0;
	die->locked = false;
	ssd_push_event(ssd, die->end, die - ssd->dies);
}

/*
 * @die programs a unit to its block. When that is full the next one is erased, if it ever held
 * data: the map has erased all of a block at once, its dies do it one by one, as they need it.
 */
static void die_fill(struct ssd *ssd, struct die *die)
{
	die->filled += ssd->unit;
	if (die->filled < ssd->die_block)
		return;
	die->filled -= ssd->die_block;
	if (ssd->erases) {
		ssd->erases--;
		die->erases++;
	}
}

static __always_inline void die_program(struct ssd *ssd, struct die *die, u64 now, u64 before,
					u64 time)
{
	const struct profile *profile = ssd->profile;
	struct carrier *channel = &ssd->channels[die->channel];
	u64 from = max(now, die->reads_until);
	u64 carried = carrier_carry(channel, ssd->unit_sectors, now, from);

	ssd->figures.programs++;
	ssd_begin(ssd, die, now, carried - from + before + time);
	die->carried = carried;
	die->locked = nth_is_chosen(ssd->figures.programs, profile->locked_programs);
}

void ssd_program(struct ssd *ssd, struct die *die, u64 now, u64 before, u64 time)
{
	die_program(ssd, die, now, before, time);
}

u64 ssd_unit_read(const struct ssd *ssd, u64 page)
{
	return div_u64(ssd->unit, ssd->profile->flash_page) * page;
}

/* Give @die a part of the buffer. False: nothing is to be programmed. */
static bool program_buffer(struct ssd *ssd, struct die *die, u64 now)
{
	const struct profile *profile = ssd->profile;
	enum cells cells;

	for (cells = 0; cells < CELLS_NR && !ssd->backlogs[cells].units; cells++)
		;
	if (cells < CELLS_NR) {
		ssd->backlogs[cells].units--;
		die->bytes = ssd->unit;
	} else {
		for (cells = 0; cells < CELLS_NR && !ssd->backlogs[cells].forced; cells++)
			;
		if (cells == CELLS_NR)
			return false;
		die->bytes = ssd->backlogs[cells].forced;
		ssd->backlogs[cells].forced = 0;
	}
	if (cells == SLC)
		ssd->figures.slc_programs++;
	else
		die_fill(ssd, die);
	die_program(ssd, die, now, 0,
		    cells == SLC ? profile->slc_program_time : profile->program_time);
	return true;
}

/* Give @die what is to be done at @now. False: nothing is. */
static bool give_work(struct ssd *ssd, struct die *die, u64 now)
{
	const struct profile *profile = ssd->profile;

	die->bytes = 0;
	if (die->erases) {
		die->erases--;
		ssd->figures.erases++;
		ssd_begin(ssd, die, now, profile->erase_time);
		return true;
	}
	/* What is moved is read from dies, too: here from the one that it goes to. */
	if (ssd->moves.due >= ssd->collect_at) {
		die_fill(ssd, die);
		ssd->moves.due -= ssd->unit;
		ssd->collect_at = ssd->moves.due >= ssd->unit ? ssd->unit : ssd->stripe;
		die_program(ssd, die, now, ssd_unit_read(ssd, mean_read(profile)),
			    profile->program_time);
		return true;
	}
	if (ssd->folds.due >= ssd->unit) {
		die_fill(ssd, die);
		ssd->folds.due -= ssd->unit;
		die_program(ssd, die, now, ssd_unit_read(ssd, profile->slc_read_time),
			    profile->program_time);
		return true;
	}
	if (ssd->map_writes >= ssd->unit) {
		ssd->map_writes -= ssd->unit;
		ssd->figures.map_programs++;
		die_program(ssd, die, now, 0, profile->program_time);
		return true;
	}
	return program_buffer(ssd, die, now);
}

void ssd_use_idle(struct ssd *ssd, u64 now)
{
	u32 die;

	while (ssd->nr_idle) {
		die = ssd->idle[ssd->idle_at];
		if (!give_work(ssd, &ssd->dies[die], now))
			return;
		ssd_take_idle(ssd);
	}
}

void ssd_erase_idle(struct ssd *ssd, u64 now)
{
	u32 i, die, nr = ssd->nr_idle;

	for (i = 0; i < nr; i++) {
		die = ssd_take_idle(ssd);
		if (!ssd->dies[die].erases || !give_work(ssd, &ssd->dies[die], now))
			ssd_put_idle(ssd, die);
	}
}

/* Reads of dies */

static bool may_suspend(const struct ssd *ssd, const struct die *die)
{
	return (!die->locked || MODEL_PLANTED(locked)) && die->reads < ssd->profile->suspends;
}

/* @die reads for @time, from @from on at the earliest. Returns the end. */
static u64 die_read(struct ssd *ssd, struct die *die, u64 from, u64 time)
{
	u64 free = max(from, die->reads_until), start = free, push;

	if (MODEL_PLANTED(crowd))
		time += (free - from) / 2;
	push = time;

	if (die->end > start) {
		if (start <= die->begin) {	/* it has not begun */
			die->begin += push;
			die->carried += push;
		} else if (!may_suspend(ssd, die)) {
			start = die->end;
			push = 0;
		} else {
			if (start > die->reads_until) {
				start = max(start, die->carried) + ssd->profile->suspend_time;
				push += ssd->profile->suspend_time;
				ssd->figures.suspended++;
			}
			die->reads++;
		}
		if (!MODEL_PLANTED(suspend))
			die->end += push;
	}
	/* Its own pages before this one are no wait. */
	if (die->reader != ssd->reader) {
		die->reader = ssd->reader;
		die->waited = free - from;
	}
	die->waited += start - free;
	ssd->waited = die->waited;
	die->reads_until = start + time;
	ssd->busy_until = max(ssd->busy_until, die->reads_until);
	ssd->figures.flash_reads++;
	return die->reads_until;
}

/* Of a page whose number is @random */
static u64 page_time(const struct profile *profile, u32 random, enum page_kind kind)
{
	u32 type = (u64)(random & 0xffff) * profile->page_types >> 16;
	u64 base = profile->read_time;

	if (kind == PAGE_SLC)
		return profile->slc_read_time;
	if (kind == PAGE_SCATTERED && MODEL_PLANTED(nearer))
		return base / 2;
	if (kind == PAGE_SCATTERED && profile->scattered_read_time)
		base = profile->scattered_read_time;
	return base + profile->read_step * ((1U << type) - 1);
}

/*
 * Where a page lies. Neighbours that were written together are spread evenly over the dies: the
 * hash multiplies by the golden ratio. Those that were written at other times lie where dies were
 * free then, so that some dies have several of them.
 */
static u32 page_hash(u64 page, enum page_kind kind)
{
	u32 n;

	if (kind != PAGE_SCATTERED || MODEL_PLANTED(even))
		return hash_u64(page);
	n = (u32)page ^ (u32)(page >> 32) * 0x9e3779b1;
	n = (n ^ n >> 16) * 0x85ebca6b;
	n = (n ^ n >> 13) * 0xc2b2ae35;
	return n ^ n >> 16;
}

static __always_inline u64 read_page(struct ssd *ssd, struct die *die, u32 random,
				     enum page_kind kind, u32 sectors, u64 now, u64 from)
{
	const struct profile *profile = ssd->profile;
	u64 time = page_time(profile, random, kind);
	struct carrier *channel = &ssd->channels[die->channel];
	u64 carried = carrier_time(channel, sectors);

	if (nth_is_chosen(ssd->figures.flash_reads, profile->retries))
		time += profile->retry_time;
	/* It holds the page until the channel has carried it. */
	ssd->off_die = die_read(ssd, die, from, time + carried) - carried;
	return carrier_carry(channel, sectors, now, ssd->off_die);
}

u64 ssd_read_die(struct ssd *ssd, struct die *die, struct flash_place place, u32 sectors, u64 now,
		 u64 from)
{
	return read_page(ssd, die, page_hash(place.page, place.kind), place.kind, sectors, now,
			 from);
}

u64 ssd_read_page(struct ssd *ssd, struct flash_place place, u32 sectors, u64 now, u64 from)
{
	u32 random = page_hash(place.page, place.kind);
	struct die *die = &ssd->dies[(u64)random * ssd->profile->dies >> 32];

	return read_page(ssd, die, random, place.kind, sectors, now, from);
}

/* Making */

bool ssd_init_dies(struct ssd *ssd, const struct profile *profile, struct ftl *ftl, u32 more,
		   gfp_t gfp)
{
	u32 i;

	ssd->profile = profile;
	ssd->unit = profile->program_unit;
	ssd->unit_sectors = profile->program_unit / 512;
	ssd->dies = kvcalloc(profile->dies, sizeof(*ssd->dies), gfp);
	ssd->channels = kvcalloc(profile->channels, sizeof(*ssd->channels), gfp);
	ssd->events = kvcalloc(profile->dies + more, sizeof(*ssd->events), gfp);
	ssd->own_ftl = ftl ? NULL : ftl_create(profile, gfp);
	ssd->ftl = ftl ?: ssd->own_ftl;
	if (!ssd->dies || !ssd->channels || !ssd->events || !ssd->ftl)
		return false;
	for (i = 0; i < profile->channels; i++)
		carrier_init(&ssd->channels[i], profile->channel_rate);
	for (i = 0; i < profile->dies; i++)
		ssd->dies[i].channel = i % profile->channels;
	return true;
}

void ssd_exit_dies(struct ssd *ssd)
{
	ftl_destroy(ssd->own_ftl);
	kvfree(ssd->dies);
	kvfree(ssd->channels);
	kvfree(ssd->events);
}

size_t ssd_dies_bytes(const struct ssd *ssd)
{
	return (ssd->own_ftl ? ftl_bytes(ssd->own_ftl) : 0) +
	       ssd->profile->dies * (sizeof(*ssd->dies) + sizeof(*ssd->events)) +
	       ssd->profile->channels * sizeof(*ssd->channels);
}
