// SPDX-License-Identifier: GPL-2.0
/* A drive without an arm: see solid.h. */
#include "../../dm-david/portable/portable-alloc.h"
#include "carrier.h"
#include "../planted.h"
#include "ssd.h"
#include "zns.h"

#define NEVER		U64_MAX

struct solid {
	const struct profile *profile;
	u64 *units;			/* memory: when each is free */
	struct ssd *ssd;		/* flash, */
	struct zns *zns;		/* or that of a drive with zones */
	u64 controller;			/* when it is free */
	u64 busy_until;			/* the last end that is known */
	u32 waiting;			/* commands whose ends are not */
	u64 next;			/* the next event: asked for several times a command; */
	u64 flash_next;			/* and the flash's */
	struct carrier link[2];		/* to the host, from the host; or one for both */
	bool shares_link;
	u64 seq;
	struct solid_command **ends;	/* a heap of commands whose ends are known */
	u32 nr_ends;
	u32 most;
	/* Those that have ended, by their ends, and that no interrupt has told of */
	struct solid_command *held, *last_held;
	u32 nr_held;
	struct solid_command *told;	/* those that the host has still to take */
	u64 interrupt;			/* the next one at the latest, the last, or NEVER */
};

static void part_take(u64 *part, u64 *left)
{
	*part = min(*part, *left);
	*left -= *part;
}

void drive_parts_cut(struct drive_parts *parts, u64 total)
{
	part_take(&parts->overhead, &total);
	part_take(&parts->queued, &total);
	part_take(&parts->flush, &total);
	part_take(&parts->seek, &total);
	part_take(&parts->rotation, &total);
	part_take(&parts->map, &total);
	part_take(&parts->die, &total);
	part_take(&parts->channel, &total);
	parts->transfer = total;
}

/* The heap: by end, then in the order in which the ends became known. */

static bool ends_earlier(const struct solid_command *a, const struct solid_command *b)
{
	return a->end < b->end || (a->end == b->end && a->seq < b->seq);
}

static void push_end(struct solid *solid, struct solid_command *command)
{
	struct solid_command **heap = solid->ends;
	u32 i = solid->nr_ends++, up;

	command->seq = solid->seq++;
	for (; i && ends_earlier(command, heap[up = (i - 1) / 2]); i = up)
		heap[i] = heap[up];
	heap[i] = command;
}

static struct solid_command *pop_end(struct solid *solid)
{
	struct solid_command **heap = solid->ends, *first = heap[0];
	struct solid_command *last = heap[--solid->nr_ends];
	u32 i = 0, down;

	while ((down = 2 * i + 1) < solid->nr_ends) {
		if (down + 1 < solid->nr_ends && ends_earlier(heap[down + 1], heap[down]))
			down++;
		if (!ends_earlier(heap[down], last))
			break;
		heap[i] = heap[down];
		i = down;
	}
	heap[i] = last;
	return first;
}

static u64 command_latency(const struct solid *solid, const struct solid_command *command)
{
	switch (command->op) {
	case DISK_READ:
		return solid->profile->read_latency;
	case DISK_WRITE:
		return solid->profile->write_latency;
	case DISK_FLUSH:
		return solid->profile->flush_overhead;
	default:
		return 0;	/* of a zone: zns.h has its time */
	}
}

static __always_inline u64 command_time(const struct profile *profile,
					const struct solid_command *command)
{
	if (command->op == DISK_WRITE && unlikely(command->flags & DISK_APPEND) &&
	    profile->append_command_time && !MODEL_PLANTED(append))
		return profile->append_command_time;
	if (command->op == DISK_WRITE && profile->write_command_time)
		return profile->write_command_time;
	if (command->op == DISK_READ && profile->page_time && !MODEL_PLANTED(pages))
		return profile->command_time +
		       (u64)(command->sectors - 1) / 8 * profile->page_time;
	return profile->command_time;
}

/*
 * @command's data cross the link from @from on, or when that is free. Returns when they have. A
 * command's data are not divided: a large one is in the way of all behind it.
 */
static u64 cross_link(struct solid *solid, struct solid_command *command, u64 from)
{
	bool one = solid->shares_link && !MODEL_PLANTED(duplex);
	struct carrier *link = &solid->link[one ? 0 : command->op];
	u64 time = carrier_time(link, command->sectors) + solid->profile->link_command_time, end;

	if (MODEL_PLANTED(wide) && command->flags & DISK_APPEND)
		time /= 2;
	if (MODEL_PLANTED(twice) && command->sectors > 128)
		from = carrier_occupy(link, time, command->begin, from);
	end = carrier_occupy(link, time, command->begin, from);
	command->parts.overhead += solid->profile->link_command_time;
	command->parts.queued += end - from - time;
	return end;
}

/* @command is served at @end, but for what all of them need. */
static void complete_command(struct solid *solid, struct solid_command *command, u64 end)
{
	u64 fixed = command_latency(solid, command);

	if (command->op == DISK_READ)
		end = cross_link(solid, command, end);
	command->end = end + (solid->profile->kind == DRIVE_SSD ? fixed : 0);
	solid->busy_until = max(solid->busy_until, command->end);
	command->parts.overhead += fixed + command_time(solid->profile, command);
	drive_parts_split(&command->parts, command->end - command->begin);
	if (MODEL_PLANTED(waits))
		command->parts.transfer += command->parts.queued;
	push_end(solid, command);
}

/* Memory: the unit that is free first serves it. */
static u64 serve_memory(struct solid *solid, struct solid_command *command, u64 from)
{
	u64 *unit = solid->units;
	u32 i;

	for (i = 1; i < solid->profile->units; i++)
		if (solid->units[i] < *unit)
			unit = &solid->units[i];
	command->parts.queued += *unit > from ? *unit - from : 0;
	*unit = max(*unit, from) + command_latency(solid, command);
	return *unit;
}

/* A command has ended, or its end is known. */
static void update_next(struct solid *solid)
{
	u64 next = min(solid->flash_next, solid->interrupt);

	solid->next = solid->nr_ends ? min(next, solid->ends[0]->end) : next;
}

/* Flash has done something: commands may have waited for it, and need wait no more. */
static void take_ready(struct solid *solid)
{
	struct solid_command *ready, *next;

	solid->flash_next = ssd_next_event(solid->ssd);

	for (ready = ssd_ready(solid->ssd); ready; ready = next) {
		next = ready->next;
		solid->waiting--;
		complete_command(solid, ready, ready->end);
	}
}

/* The same of a drive with zones. */
static noinline void take_zns_ready(struct solid *solid)
{
	struct solid_command *ready, *next;

	for (ready = zns_ready(solid->zns); ready; ready = next) {
		next = ready->next;
		solid->waiting--;
		complete_command(solid, ready, ready->end);
	}
	solid->flash_next = zns_next_event(solid->zns);
}

static noinline u64 serve_zns(struct solid *solid, struct solid_command *command, u64 now, u64 from)
{
	u64 end = zns_serve(solid->zns, command, now, from);

	solid->waiting += end == NEVER;
	take_zns_ready(solid);
	return end;
}

/* A drive that has nothing under way has to wake for a command. */
static u64 wake_time(const struct solid *solid, const struct solid_command *command, u64 now)
{
	if (solid->waiting || now < solid->busy_until || !disk_op_has_data(command->op))
		return 0;
	if (MODEL_PLANTED(awake) && now != solid->busy_until)
		return 0;
	return command->op == DISK_READ ? solid->profile->wake_time :
					  solid->profile->write_wake_time;
}

void solid_submit(struct solid *solid, struct solid_command *command, u64 now)
{
	u64 from, end;

	command->begin = now;
	command->parts = (struct drive_parts){ };
	from = max(solid->controller, now);
	command->parts.queued = from - now;
	command->parts.overhead = wake_time(solid, command, now);
	from += command->parts.overhead;
	from += command_time(solid->profile, command);
	solid->controller = from;
	if (command->op == DISK_WRITE)
		from = cross_link(solid, command, from);
	if (solid->ssd) {
		end = ssd_serve(solid->ssd, command, now, from);
		solid->waiting += end == NEVER;
		take_ready(solid);
	} else if (solid->zns) {
		end = serve_zns(solid, command, now, from);
	} else {
		end = serve_memory(solid, command, from);
	}
	if (end != NEVER)
		complete_command(solid, command, end);
	update_next(solid);
}

u64 solid_next_event(const struct solid *solid)
{
	return solid->next;
}

/*
 * A host's adapter interrupts it for several commands at a time. The first one that has ended waits
 * for others, but not for long, and not if there are too few to come.
 */

/* The host hears at @now of all that have ended. */
static void interrupt_host(struct solid *solid, u64 now)
{
	struct solid_command *command;

	for (command = solid->held; command; command = command->next) {
		command->parts.queued += now - command->end;
		command->end = now;
	}
	solid->told = solid->held;
	solid->held = NULL;
	solid->nr_held = 0;
	solid->interrupt = now;
}

static void hold_command(struct solid *solid, struct solid_command *command)
{
	u32 batch = solid->profile->interrupt_batch;
	u32 under_way = solid->waiting + solid->nr_ends + solid->nr_held + 1;

	command->next = NULL;
	if (solid->held)
		solid->last_held->next = command;
	else
		solid->held = command;
	solid->last_held = command;
	if (!solid->nr_held++)
		solid->interrupt = command->end + solid->profile->interrupt_time;
	if (solid->nr_held == batch || (under_way <= batch && !MODEL_PLANTED(lonely)))
		interrupt_host(solid, command->end);
}

static noinline struct solid_command *take_told(struct solid *solid, u64 now)
{
	struct solid_command *command;
	u64 end;

	while (!solid->told) {
		end = solid->nr_ends ? solid->ends[0]->end : NEVER;
		if (min(end, solid->interrupt) > now)
			return NULL;
		if (end <= solid->interrupt)
			hold_command(solid, pop_end(solid));
		else
			interrupt_host(solid, solid->interrupt);
	}
	command = solid->told;
	solid->told = command->next;
	if (!solid->told)
		solid->interrupt = NEVER;
	return command;
}

struct solid_command *solid_advance(struct solid *solid, u64 now)
{
	struct solid_command *ended = NULL;

	if (now < solid->next)
		return NULL;
	if (solid->flash_next <= now && solid->ssd) {
		ssd_advance(solid->ssd, now);
		take_ready(solid);
	} else if (solid->flash_next <= now) {
		zns_advance(solid->zns, now);
		take_zns_ready(solid);
	}
	if (solid->profile->interrupt_batch)
		ended = take_told(solid, now);
	else if (solid->nr_ends && solid->ends[0]->end <= now)
		ended = pop_end(solid);
	update_next(solid);
	return ended;
}

bool solid_catch_up(struct solid *solid, u64 now)
{
	return solid->ssd && !solid->waiting && ssd_catch_up(solid->ssd, now);
}

void solid_settle(struct solid *solid, u64 now)
{
	if (!solid->ssd)
		return;
	ssd_settle(solid->ssd, now);
	take_ready(solid);
	update_next(solid);
}

void solid_trim(struct solid *solid, u64 sector, u64 sectors, u64 now)
{
	if (solid->zns) {
		zns_trim(solid->zns, sector, sectors, now);
		take_zns_ready(solid);
	} else if (solid->ssd) {
		ssd_trim(solid->ssd, sector, sectors, now);
		take_ready(solid);
	}
	update_next(solid);
}

void solid_figures(const struct solid *solid, struct solid_figures *figures)
{
	*figures = (struct solid_figures){ };
	if (solid->ssd)
		ssd_figures(solid->ssd, figures);
	else if (solid->zns)
		zns_figures(solid->zns, figures);
}

void solid_figures_add(struct solid_figures *sum, const struct solid_figures *figures)
{
	sum->host_pages += figures->host_pages;
	sum->moved_pages += figures->moved_pages;
	sum->fresh_pages += figures->fresh_pages;
	sum->sample = figures->sample;
	sum->flash_reads += figures->flash_reads;
	sum->programs += figures->programs;
	sum->erases += figures->erases;
	sum->suspended += figures->suspended;
	sum->buffer_waits += figures->buffer_waits;
	sum->buffer_reads += figures->buffer_reads;
	sum->empty_reads += figures->empty_reads;
	sum->slc_programs += figures->slc_programs;
	sum->folded_pages += figures->folded_pages;
	sum->map_reads += figures->map_reads;
	sum->map_programs += figures->map_programs;
	sum->stuck |= figures->stuck;
}

void solid_figures_subtract(struct solid_figures *figures, const struct solid_figures *before)
{
	figures->host_pages -= before->host_pages;
	figures->moved_pages -= before->moved_pages;
	figures->fresh_pages -= before->fresh_pages;
	figures->flash_reads -= before->flash_reads;
	figures->programs -= before->programs;
	figures->erases -= before->erases;
	figures->suspended -= before->suspended;
	figures->buffer_waits -= before->buffer_waits;
	figures->buffer_reads -= before->buffer_reads;
	figures->empty_reads -= before->empty_reads;
	figures->slc_programs -= before->slc_programs;
	figures->folded_pages -= before->folded_pages;
	figures->map_reads -= before->map_reads;
	figures->map_programs -= before->map_programs;
}

struct solid *solid_create(const struct profile *profile, u32 most, struct ftl *ftl, gfp_t gfp)
{
	struct solid *solid = kvzalloc(sizeof(*solid), gfp);

	if (!solid)
		return NULL;
	solid->profile = profile;
	solid->most = most;
	solid->next = NEVER;
	solid->flash_next = NEVER;
	solid->interrupt = NEVER;
	solid->shares_link = profile_shares_link(profile);
	carrier_init(&solid->link[DISK_READ], profile->link_rate);
	carrier_init(&solid->link[DISK_WRITE], profile->link_rate);
	solid->ends = kvcalloc(most, sizeof(*solid->ends), gfp);
	if (profile_has_map(profile))
		solid->ssd = ssd_create(profile, most, ftl, gfp);
	else if (profile->kind == DRIVE_SSD)
		solid->zns = zns_create(profile, ftl, gfp);
	else
		solid->units = kvcalloc(profile->units, sizeof(*solid->units), gfp);
	if (!solid->ends || (!solid->ssd && !solid->zns && !solid->units)) {
		solid_destroy(solid);
		return NULL;
	}
	return solid;
}

void solid_destroy(struct solid *solid)
{
	if (!solid)
		return;
	ssd_destroy(solid->ssd);
	zns_destroy(solid->zns);
	kvfree(solid->units);
	kvfree(solid->ends);
	kvfree(solid);
}

size_t solid_bytes(const struct solid *solid)
{
	return sizeof(*solid) + solid->most * sizeof(*solid->ends) +
	       (solid->ssd ? ssd_bytes(solid->ssd) :
		solid->zns ? zns_bytes(solid->zns) :
			     solid->profile->units * sizeof(*solid->units));
}
