// SPDX-License-Identifier: GPL-2.0
/* The flash of an SSD: see ssd.h. */
#include "../dm-david/lib/portable-alloc.h"
#include "carrier.h"
#include "ftl.h"
#include "planted.h"
#include "ssd.h"

#define NEVER		U64_MAX

struct die {
	u64 reads_until;	/* the end of all reads that it has been given */
	u64 begin;		/* of its program or erase; */
	u64 carried;		/* its data are on the die; */
	u64 end;		/* 0: it has none, and is in ssd->idle */
	u64 bytes;		/* of the buffer, that are then programmed */
	u32 erases;		/* that it owes */
	u32 reads;		/* that went before the rest of it */
	bool locked;		/* none may */
	u32 channel;
};

/* A die whose program or erase ends at this time, or later if it was suspended since. */
struct event {
	u64 time;
	u32 die;
};

struct waiting {
	struct solid_command *first, *last;
};

struct ssd {
	const struct profile *profile;
	struct ftl *ftl;
	struct die *dies;
	struct carrier *channels;
	struct event *events;	/* a heap */
	u32 nr_events;
	u32 *idle;		/* a ring of dies, the one idle longest goes first */
	u32 idle_at;
	u32 nr_idle;

	/* The buffer, bytes */
	u64 size;
	u64 used;
	u64 loose;		/* of these: less than a unit, and not forced out */
	u64 forced;		/* of these: less than a unit, and must be programmed */
	u64 units;		/* whole units that no die has taken */
	u64 entered;		/* ever */
	u64 programmed;		/* ever */
	struct waiting writes;	/* for room */
	struct waiting flushes;	/* for programs */
	struct waiting ready;

	u32 flushed;		/* flushes since the map was written */
	u64 owed;		/* bytes that collection moved in the map and not on the dies; */
	u64 moves;		/* and those that dies may move now */
	u64 unit;		/* bytes that a die programs at a time */
	u32 unit_sectors;
	u64 last;		/* when the last command came */
	struct ftl_figures seen;	/* of the map, that the dies know of */
	struct solid_figures figures;
};

static void append(struct waiting *list, struct solid_command *command)
{
	command->next = NULL;
	if (list->last)
		list->last->next = command;
	else
		list->first = command;
	list->last = command;
}

static struct solid_command *pop(struct waiting *list)
{
	struct solid_command *command = list->first;

	list->first = command->next;
	if (!list->first)
		list->last = NULL;
	return command;
}

/* The heap. Equal times go by die. */

static bool earlier(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->die < b->die);
}

static void push_event(struct ssd *ssd, u64 time, u32 die)
{
	struct event event = { .time = time, .die = die }, *heap = ssd->events;
	u32 i = ssd->nr_events++, up;

	for (; i && earlier(&event, &heap[up = (i - 1) / 2]); i = up)
		heap[i] = heap[up];
	heap[i] = event;
}

static struct event pop_event(struct ssd *ssd)
{
	struct event *heap = ssd->events, first = heap[0], last = heap[--ssd->nr_events];
	u32 i = 0, down;

	while ((down = 2 * i + 1) < ssd->nr_events) {
		if (down + 1 < ssd->nr_events && earlier(&heap[down + 1], &heap[down]))
			down++;
		if (!earlier(&heap[down], &last))
			break;
		heap[i] = heap[down];
		i = down;
	}
	heap[i] = last;
	return first;
}

/* Dies at work */

static void put_idle(struct ssd *ssd, u32 die)
{
	u32 at = ssd->idle_at + ssd->nr_idle++;

	ssd->idle[at >= ssd->profile->dies ? at - ssd->profile->dies : at] = die;
}

static u32 take_idle(struct ssd *ssd)
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

static u32 hash(u64 n)
{
	return (n * 0x9e3779b97f4a7c15ULL) >> 32;
}

/* Whether the @n-th of its kind is one of the @thousandths that are chosen evenly. */
static bool chosen(u64 n, u32 thousandths)
{
	return (u64)hash(n) * 1000 >> 32 < thousandths;
}

static void begin(struct ssd *ssd, struct die *die, u64 now, u64 time)
{
	die->begin = max(now, die->reads_until);
	die->carried = die->begin;
	die->end = die->begin + time;
	die->reads = 0;
	die->locked = false;
	push_event(ssd, die->end, die - ssd->dies);
}

/* As begin(), with data for the die; it does so for @before until they are there. */
static void program(struct ssd *ssd, struct die *die, u64 now, u64 before)
{
	const struct profile *profile = ssd->profile;
	struct carrier *channel = &ssd->channels[die->channel];
	u64 from = max(now, die->reads_until);
	u64 carried = carrier_carry(channel, ssd->unit_sectors, now, from);

	ssd->figures.programs++;
	begin(ssd, die, now, carried - from + before + profile->program_time);
	die->carried = carried;
	die->locked = chosen(ssd->figures.programs, profile->locked_programs);
}

/* Give @die what is to be done at @now. False: nothing is. */
static bool give_work(struct ssd *ssd, struct die *die, u64 now)
{
	const struct profile *profile = ssd->profile;

	die->bytes = 0;
	if (die->erases) {
		die->erases--;
		ssd->figures.erases++;
		begin(ssd, die, now, profile->erase_time);
		return true;
	}
	if (ssd->moves >= ssd->unit) {
		/* What is moved is read from dies, too: here from the one that it goes to. */
		ssd->moves -= ssd->unit;
		program(ssd, die, now,
			div_u64(ssd->unit, profile->flash_page) * mean_read(profile));
		return true;
	}
	if (ssd->units) {
		ssd->units--;
		die->bytes = ssd->unit;
	} else if (ssd->forced) {
		die->bytes = ssd->forced;
		ssd->forced = 0;
	} else {
		return false;
	}
	program(ssd, die, now, 0);
	return true;
}

static void use_idle(struct ssd *ssd, u64 now)
{
	u32 die;

	while (ssd->nr_idle) {
		die = ssd->idle[ssd->idle_at];
		if (!give_work(ssd, &ssd->dies[die], now))
			return;
		take_idle(ssd);
	}
}

/* Dies that owe erases do them, wherever they are in the ring. */
static void erase_idle(struct ssd *ssd, u64 now)
{
	u32 i, die, nr = ssd->nr_idle;

	for (i = 0; i < nr; i++) {
		die = take_idle(ssd);
		if (!ssd->dies[die].erases || !give_work(ssd, &ssd->dies[die], now))
			put_idle(ssd, die);
	}
}

/* What the map has moved and erased since is work for the dies. */
static void learn_from_map(struct ssd *ssd, u64 now)
{
	const struct ftl_figures *figures = ftl_figures(ssd->ftl);
	u64 moved = figures->moved - ssd->seen.moved, erased = figures->erased - ssd->seen.erased;
	u32 i;

	ssd->owed += (moved << ftl_shift(ssd->ftl)) * FTL_PAGE * 512;
	ssd->seen = *figures;
	if (!erased)
		return;
	for (i = 0; i < ssd->profile->dies; i++)
		ssd->dies[i].erases += erased;
	erase_idle(ssd, now);
}

/*
 * The map is a sample, so it moves megabytes at a time. The dies move them little by little, as the
 * host writes: of what is owed its bytes' share of so many pages of the map.
 */
#define PAGES_TO_PAY	8

static void pay(struct ssd *ssd, u64 bytes)
{
	u64 all = (PAGES_TO_PAY * FTL_PAGE * 512ULL) << ftl_shift(ssd->ftl), part = ssd->owed;

	if (bytes < all)
		part = mul_u64_u64_div_u64(ssd->owed, bytes, all);
	ssd->owed -= part;
	ssd->moves += part;
}

/* Writes */

static bool has_room(const struct ssd *ssd, const struct solid_command *command)
{
	return ssd->used + min(command->sectors * 512ULL, ssd->size) <= ssd->size;
}

static void force_out(struct ssd *ssd)
{
	ssd->forced += ssd->loose;
	ssd->loose = 0;
	if (ssd->forced >= ssd->unit) {
		ssd->units++;
		ssd->forced -= ssd->unit;
	}
}

static void make_ready(struct ssd *ssd, struct solid_command *command, u64 end)
{
	command->end = end;
	append(&ssd->ready, command);
}

/* How long the map's own flush takes, if it is its turn. */
static u64 flush_map(struct ssd *ssd)
{
	if (!ssd->profile->map_flushes || ++ssd->flushed < ssd->profile->map_flushes)
		return 0;
	ssd->flushed = 0;
	return ssd->profile->map_flush_time;
}

/* @command is done when all that is in the buffer now has been programmed. */
static void wait_for_programs(struct ssd *ssd, struct solid_command *command, u64 now)
{
	force_out(ssd);
	command->after = ssd->entered;
	append(&ssd->flushes, command);
	use_idle(ssd, now);
}

static bool lasts_in_buffer(const struct ssd *ssd, const struct solid_command *command)
{
	return ssd->profile->power_loss_protection || !(command->flags & DISK_FUA);
}

/* @command goes to the buffer at @now. Returns false if it must be programmed to be done. */
static bool take_in(struct ssd *ssd, struct solid_command *command, u64 now)
{
	u64 first = command->sector / FTL_PAGE;
	u64 end = DIV_ROUND_UP(command->sector + command->sectors, FTL_PAGE);
	u64 bytes = command->sectors * 512ULL;

	ftl_write(ssd->ftl, first, end - first);
	learn_from_map(ssd, now);
	pay(ssd, bytes);
	ssd->used += bytes;
	ssd->entered += bytes;
	ssd->loose += bytes;
	while (ssd->loose >= ssd->unit) {
		ssd->loose -= ssd->unit;
		ssd->units++;
	}
	if (!lasts_in_buffer(ssd, command)) {
		wait_for_programs(ssd, command, now);
		return false;
	}
	use_idle(ssd, now);
	return true;
}

/* If a write waits and nothing else empties the buffer, program what is less than a unit. */
static void make_room(struct ssd *ssd, u64 now)
{
	if (!ssd->writes.first || ssd->used != ssd->loose)
		return;
	force_out(ssd);
	use_idle(ssd, now);
}

static void admit(struct ssd *ssd, u64 now)
{
	struct solid_command *command;

	while (ssd->writes.first && has_room(ssd, ssd->writes.first)) {
		command = pop(&ssd->writes);
		if (take_in(ssd, command, now))
			make_ready(ssd, command, max(now, command->end));
	}
	make_room(ssd, now);
}

/* The end of a program or an erase. */
static void finish(struct ssd *ssd, struct die *die, u64 now)
{
	ssd->used -= die->bytes;
	ssd->programmed += die->bytes;
	die->end = 0;
	while (ssd->flushes.first && ssd->flushes.first->after <= ssd->programmed)
		make_ready(ssd, pop(&ssd->flushes), now + flush_map(ssd));
	put_idle(ssd, die - ssd->dies);
	if (die->erases)
		erase_idle(ssd, now);
	use_idle(ssd, now);
	admit(ssd, now);
}

static void run(struct ssd *ssd, u64 now)
{
	while (ssd->nr_events && ssd->events[0].time <= now) {
		struct event event = pop_event(ssd);
		struct die *die = &ssd->dies[event.die];

		if (die->end > event.time)	/* it was suspended */
			push_event(ssd, die->end, event.die);
		else
			finish(ssd, die, event.time);
	}
}

/* Reads */

static bool may_suspend(const struct ssd *ssd, const struct die *die)
{
	return (!die->locked || MODEL_PLANTED(locked)) && die->reads < ssd->profile->suspends;
}

/* @die reads for @time, from @from on at the earliest. Returns the end. */
static u64 die_read(struct ssd *ssd, struct die *die, u64 from, u64 time)
{
	u64 start = max(from, die->reads_until), push = time;

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
	die->reads_until = start + time;
	ssd->figures.flash_reads++;
	return die->reads_until;
}

/* @sectors of a page that was written by itself, or with others: of the one at @page. */
static u64 read_page(struct ssd *ssd, u64 page, bool scattered, u32 sectors, u64 now, u64 from)
{
	const struct profile *profile = ssd->profile;
	u32 random = hash(page), type = (u64)(random & 0xffff) * profile->page_types >> 16;
	struct die *die = &ssd->dies[(u64)random * profile->dies >> 32];
	u64 base = scattered && profile->scattered_read_time ? profile->scattered_read_time :
							       profile->read_time;
	u64 time = base + profile->read_step * ((1U << type) - 1);
	struct carrier *channel = &ssd->channels[die->channel];
	u64 end;

	if (chosen(ssd->figures.flash_reads, profile->retries))
		time += profile->retry_time;
	end = die_read(ssd, die, from, time + carrier_time(channel, sectors));
	return carrier_carry(channel, sectors, now, end - carrier_time(channel, sectors));
}

static u64 serve_read(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	u64 at = command->sector, end = at + command->sectors, done = from, next, page;
	u32 flash_page = ssd->profile->flash_page / 512;
	enum ftl_state state;

	command->parts.hit = true;
	for (; at < end; at = next) {
		state = ftl_look(ssd->ftl, at / FTL_PAGE);
		next = (at / FTL_PAGE + 1) * FTL_PAGE;
		if (state == FTL_RUN)
			next = (div_u64(at, flash_page) + 1) * flash_page;
		next = min(next, end);
		if (state == FTL_NOTHING)
			continue;
		command->parts.hit = false;
		page = state == FTL_RUN ? div_u64(at, flash_page) : ~(at / FTL_PAGE);
		done = max(done, read_page(ssd, page, state == FTL_SCATTERED, next - at, now,
					   from));
	}
	return done;
}

static u64 serve_write(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	command->end = from;
	command->parts.hit = true;
	if (ssd->writes.first || !has_room(ssd, command)) {
		command->parts.hit = false;
		ssd->figures.buffer_waits++;
		append(&ssd->writes, command);
		make_room(ssd, now);
		return NEVER;
	}
	return take_in(ssd, command, now) ? from : NEVER;
}

static u64 serve_flush(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	if (ssd->profile->power_loss_protection || ssd->programmed == ssd->entered)
		return from;
	wait_for_programs(ssd, command, now);
	return NEVER;
}

/* Collection of the time since the last command, if that was idle. Its end disturbs nobody. */
static void collect_idle(struct ssd *ssd, u64 now)
{
	const struct profile *profile = ssd->profile;
	u64 idle = now - ssd->last, bytes;

	ssd->last = now;
	if (!profile->gc_idle_rate || idle <= profile->gc_idle_after || ssd->nr_events)
		return;
	idle = min(idle - profile->gc_idle_after, 1ULL << 42);
	bytes = mul_u64_u64_div_u64(idle, profile->gc_idle_rate, 1000000000);
	ftl_idle(ssd->ftl, div_u64(bytes, FTL_PAGE * 512), profile->gc_idle_room / FTL_PAGE);
	ssd->seen = *ftl_figures(ssd->ftl);
}

u64 ssd_serve(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	run(ssd, now);
	collect_idle(ssd, now);
	switch (command->op) {
	case DISK_READ:
		return serve_read(ssd, command, now, from);
	case DISK_WRITE:
		return serve_write(ssd, command, now, from);
	default:
		return serve_flush(ssd, command, now, from);
	}
}

u64 ssd_next_event(const struct ssd *ssd)
{
	if (!ssd->nr_events || (!ssd->writes.first && !ssd->flushes.first))
		return NEVER;
	return ssd->events[0].time;
}

void ssd_advance(struct ssd *ssd, u64 now)
{
	run(ssd, now);
}

struct solid_command *ssd_ready(struct ssd *ssd)
{
	struct solid_command *ready = ssd->ready.first;

	ssd->ready = (struct waiting){ };
	return ready;
}

void ssd_trim(struct ssd *ssd, u64 sector, u64 sectors, u64 now)
{
	u64 first = DIV_ROUND_UP(sector, FTL_PAGE), end = (sector + sectors) / FTL_PAGE;

	run(ssd, now);
	if (first < end)
		ftl_trim(ssd->ftl, first, end - first);
}

void ssd_figures(const struct ssd *ssd, struct solid_figures *figures)
{
	const struct ftl_figures *map = ftl_figures(ssd->ftl);

	*figures = ssd->figures;
	figures->sample = BIT(ftl_shift(ssd->ftl));
	figures->host_pages = map->written << ftl_shift(ssd->ftl);
	figures->moved_pages = map->moved << ftl_shift(ssd->ftl);
	figures->stuck = map->stuck;
}

/* Making */

static void init(struct ssd *ssd)
{
	const struct profile *profile = ssd->profile;
	u32 i;

	for (i = 0; i < profile->channels; i++)
		carrier_init(&ssd->channels[i], profile->channel_rate);
	for (i = 0; i < profile->dies; i++) {
		ssd->dies[i].channel = i % profile->channels;
		put_idle(ssd, i);
	}
	ssd->size = profile->write_buffer * 512ULL;
	ssd->unit = profile->program_unit;
	ssd->unit_sectors = profile->program_unit / 512;
}

struct ssd *ssd_create(const struct profile *profile, gfp_t gfp)
{
	struct ssd *ssd = kvzalloc(sizeof(*ssd), gfp);

	if (!ssd)
		return NULL;
	ssd->profile = profile;
	ssd->dies = kvcalloc(profile->dies, sizeof(*ssd->dies), gfp);
	ssd->events = kvcalloc(profile->dies, sizeof(*ssd->events), gfp);
	ssd->idle = kvcalloc(profile->dies, sizeof(*ssd->idle), gfp);
	ssd->channels = kvcalloc(profile->channels, sizeof(*ssd->channels), gfp);
	ssd->ftl = ftl_create(profile, gfp);
	if (!ssd->dies || !ssd->events || !ssd->idle || !ssd->channels || !ssd->ftl) {
		ssd_destroy(ssd);
		return NULL;
	}
	init(ssd);
	return ssd;
}

void ssd_destroy(struct ssd *ssd)
{
	if (!ssd)
		return;
	ftl_destroy(ssd->ftl);
	kvfree(ssd->dies);
	kvfree(ssd->events);
	kvfree(ssd->idle);
	kvfree(ssd->channels);
	kvfree(ssd);
}

size_t ssd_bytes(const struct ssd *ssd)
{
	return sizeof(*ssd) + ftl_bytes(ssd->ftl) +
	       ssd->profile->dies *
	       (sizeof(*ssd->dies) + sizeof(*ssd->events) + sizeof(*ssd->idle)) +
	       ssd->profile->channels * sizeof(*ssd->channels);
}
