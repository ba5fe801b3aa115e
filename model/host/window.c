// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "window.h"

#define NEVER	U64_MAX

static int make_drive(struct window *window, struct ftl *ftl, gfp_t gfp)
{
	window->waiting = kvcalloc(window->profile->ncq_depth, sizeof(*window->waiting), gfp);
	if (!window->waiting)
		return -ENOMEM;
	window->drive = drive_create(window->profile, ftl, gfp);
	return window->drive ? 0 : -ENOMEM;
}

static int make_solid(struct window *window, struct ftl *ftl, gfp_t gfp)
{
	u32 i, depth = window->profile->ncq_depth;

	window->to_solid = kvcalloc(depth, sizeof(*window->to_solid), gfp);
	if (!window->to_solid)
		return -ENOMEM;
	for (i = 0; i < depth; i++)
		window->to_solid[i].next = i ? &window->to_solid[i - 1] : NULL;
	window->free = &window->to_solid[depth - 1];
	window->solid = solid_create(window->profile, depth, ftl, gfp);
	return window->solid ? 0 : -ENOMEM;
}

int window_init(struct window *window, const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	int r;

	memset(window, 0, sizeof(*window));
	window->profile = profile;
	r = (profile->kind == DRIVE_DISK ? make_drive : make_solid)(window, ftl, gfp);
	if (r)
		window_exit(window);
	return r;
}

void window_exit(struct window *window)
{
	drive_destroy(window->drive);
	solid_destroy(window->solid);
	kvfree(window->waiting);
	kvfree(window->to_solid);
	memset(window, 0, sizeof(*window));
}

size_t window_bytes(const struct window *window)
{
	u32 depth = window->profile->ncq_depth;

	if (window->solid)
		return solid_bytes(window->solid) + depth * sizeof(*window->to_solid);
	return drive_bytes(window->drive) + depth * sizeof(*window->waiting);
}

static struct drive_command as_drive_command(const struct disk_command *command)
{
	return (struct drive_command) {
		.sector = command->sector,
		.sectors = command->sectors,
		.op = command->op,
		.flags = command->flags,
		.arrived = command->dispatch,
		.stream = command->followed,
	};
}

static bool command_follows(const struct disk_command *command, const struct disk_command *other)
{
	return command->op == other->op && command->sector == other->sector + other->sectors;
}

static void stream_link(struct disk_command *one, struct disk_command *other, int change)
{
	if (command_follows(one, other)) {
		one->follows += change;
		other->followed += change;
	}
	if (command_follows(other, one)) {
		other->follows += change;
		one->followed += change;
	}
}

/*
 * One pass of the head serves commands that lie one behind the other, if it begins with the first.
 * If it began with a later one, each of those before that would cost a revolution.
 */
static void window_enqueue(struct window *window, struct disk_command *command)
{
	u32 i;

	command->follows = 0;
	command->followed = 0;
	command->passed = 0;
	command->to_drive = as_drive_command(command);
	for (i = 0; i < window->nr; i++)
		stream_link(command, window->waiting[i], 1);
	window->waiting[window->nr++] = command;
}

static struct disk_command *window_dequeue(struct window *window, u32 i)
{
	struct disk_command *command = window->waiting[i];

	if (--window->nr > i)
		memmove(&window->waiting[i], &window->waiting[i + 1],
			(window->nr - i) * sizeof(*window->waiting));
	for (i = 0; i < window->nr; i++)
		stream_link(command, window->waiting[i], -1);
	return command;
}

/* Does @command go on where the arm is? */
static bool goes_on(const struct window *window, const struct disk_command *command)
{
	return command->op == window->turn.op && command->sector == window->turn.end;
}

#define NONE	U32_MAX

/* Of what needs the arm, as places in the window; NONE if there is none such. */
struct choice {
	u32 on;			/* goes on where the arm is */
	u32 nearest;
	u64 time;		/* of that */
	u32 write;		/* waited longest for room in the buffer */
	u32 first;		/* of all these, waited longest */
	bool stream;		/* a stream's writes wait for room */
};

/* Some drives choose only when many commands wait, and then not from the last ones. */
static u32 ncq_seen(const struct window *window)
{
	u32 unseen = min(window->profile->ncq_unseen, window->nr - 1);

	return window->nr - unseen;
}

/*
 * What there is to choose from: @old came no later than window->batch, @recent came later.
 * Returns what needs no arm, NONE if there is none such.
 */
static u32 ncq_survey(const struct window *window, struct choice *old, struct choice *recent)
{
	u32 i, nr = ncq_seen(window), hit = NONE;

	*old = (struct choice) { .on = NONE, .nearest = NONE, .time = NEVER, .write = NONE,
				 .first = NONE };
	*recent = *old;
	for (i = 0; i < nr; i++) {
		struct disk_command *command = window->waiting[i];
		struct choice *choice = command->dispatch <= window->batch ? old : recent;
		u64 time;

		if (command->follows && !MODEL_PLANTED(order))
			continue;
		if (!command->to_drive.place.slots)
			drive_locate(window->drive, &command->to_drive);
		command->to_drive.stream = command->followed;
		time = drive_access_time(window->drive, &command->to_drive, window->now,
					 choice->time);
		if (!time && (command->op == DISK_WRITE || !goes_on(window, command) ||
			      MODEL_PLANTED(order))) {
			hit = min(hit, i);
			continue;
		}
		choice->first = min(choice->first, i);
		if (time == DRIVE_NO_ROOM) {
			choice->write = min(choice->write, i);
			choice->stream |= command->followed;
		} else if (goes_on(window, command) && !MODEL_PLANTED(order)) {
			choice->on = min(choice->on, i);
		} else if (time < choice->time) {
			choice->time = time;
			choice->nearest = i;
		}
	}
	return hit;
}

/*
 * With few commands to choose from the nearest may be chosen over one of them so often and no more.
 * Fitted to one drive, as ncq_fair is.
 */
#define PASSES	2

static bool passed_often(const struct window *window, u32 i)
{
	return window->nr <= window->profile->ncq_fair && window->waiting[i]->passed >= PASSES;
}

static void pass_over(struct window *window, u32 which)
{
	u32 i;

	for (i = 0; window->profile->ncq_fair && i < which; i++)
		window->waiting[i]->passed++;
}

/*
 * A stream's turn lasts until the next command is one that came after the turn began, and at least
 * as much was moved as is read ahead for one stream.
 */
static bool turn_is_over(const struct window *window, const struct disk_command *command)
{
	return command->dispatch > window->turn.since &&
	       window->turn.sectors >= max(window->profile->readahead_stream,
					 2 * window->profile->max_sectors);
}

/*
 * Which command of the window comes next. The order: one that waited too long; one that needs no
 * arm; one that goes on where the arm is; the nearest.
 *
 * Nothing may starve beside a stream. So after a stream's turn all commands that wait come before
 * later ones. The same holds for reads beside writes that wait for room in the buffer. If such
 * writes are a stream's, all go in order of arrival: a Toshiba P300 gives a random reader, a reader
 * and a writer as many requests each. Returns whether the command needs the arm.
 */
static bool ncq_choose(struct window *window, u32 *which)
{
	struct choice old, recent, *choice;
	u32 hit;

	*which = 0;		/* dispatched first, waited longest */
	if (window->nr == 1 ||
	    window->now - window->waiting[0]->dispatch > window->profile->ncq_age_limit)
		return true;
	hit = ncq_survey(window, &old, &recent);
	if (hit != NONE) {
		*which = hit;
		return false;
	}
	if (old.first == NONE && recent.first == NONE)
		return true;	/* all that is seen goes on with what is not */
	choice = &old;
	if (old.first == NONE) {
		choice = &recent;
		if (recent.write != NONE && min(recent.on, recent.nearest) != NONE)
			window->batch = window->now;
	}
	if (choice->on == NONE && (choice->stream || passed_often(window, choice->first)))
		*which = choice->first;
	else if (choice->on == NONE)
		*which = choice->nearest != NONE ? choice->nearest : choice->write;
	else if (turn_is_over(window, window->waiting[choice->on]) &&
		 window->waiting[0]->dispatch <= window->turn.since)
		window->batch = window->turn.since;		/* the turn is over: window[0] */
	else
		*which = choice->on;
	return true;
}

static void take_turn(struct window *window, const struct disk_command *command)
{
	/* The head reads through a small gap. If nobody waits, the next turn begins. */
	if (command->op != window->turn.op ||
	    command->sector - window->turn.end > window->profile->readahead_stream ||
	    turn_is_over(window, command)) {
		window->turn.since = window->now;
		window->turn.sectors = 0;
	}
	window->turn.op = command->op;
	window->turn.end = command->sector + command->sectors;
	window->turn.sectors += command->sectors;
}

/* A request of @command has a bad block: in @command, or in another command of it? */
static noinline bool has_bad_block(const struct disk_command *command)
{
	const struct disk_request *request = command->part;

	if (request && request->flags & DISK_BAD &&
	    request->bad - command->sector < command->sectors)
		return true;
	for (request = command->requests.first; request; request = request->next)
		if (request->flags & DISK_BAD)
			return true;
	return false;
}

static __always_inline void window_serve(struct window *window, struct disk_command *command)
{
	window->active = command;
	if (unlikely(command->flags & DISK_BAD) && !has_bad_block(command))
		command->to_drive.flags &= ~DISK_BAD;
	window->busy_until = drive_serve(window->drive, &command->to_drive, window->now,
					 &window->parts);
}

void window_start(struct window *window, u64 now)
{
	struct disk_command *command;
	bool arm;
	u32 i;

	window->now = now;
	if (window->active || !window->nr)
		return;
	arm = ncq_choose(window, &i);
	if (arm)
		pass_over(window, i);
	command = window_dequeue(window, i);
	if (arm && disk_op_has_data(command->op))
		take_turn(window, command);
	window_serve(window, command);
}

/* A drive without an arm begins with a command when it gets it. */
static void hand_over(struct window *window, struct disk_command *command)
{
	struct solid_command *to_solid = window->free;

	window->free = to_solid->next;
	*to_solid = (struct solid_command) {
		.sector = command->sector,
		.sectors = command->sectors,
		.op = command->op,
		.flags = command->flags,
		.owner = command,
	};
	window->under_way++;
	solid_submit(window->solid, to_solid, window->now);
}

void window_send(struct window *window, struct disk_command *command, u64 now)
{
	window->now = now;
	if (window->solid)
		hand_over(window, command);
	else
		window_enqueue(window, command);
}

void window_send_flush(struct window *window, struct disk_command *command, u64 now)
{
	window->now = now;
	if (window->solid) {
		window->flushing = true;
		hand_over(window, command);
		return;
	}
	command->to_drive = as_drive_command(command);
	window_serve(window, command);
}

static struct disk_command *advance_solid(struct window *window)
{
	struct solid_command *done = solid_advance(window->solid, window->now);

	if (!done)
		return NULL;
	done->next = window->free;
	window->free = done;
	window->under_way--;
	window->flushing = false;
	window->parts = done->parts;
	if (window->sums)
		drive_sums_add_solid(window->sums, &window->parts);
	return done->owner;
}

struct disk_command *window_advance(struct window *window, u64 now)
{
	struct disk_command *command = window->active;

	window->now = now;
	if (window->solid)
		return advance_solid(window);
	window->active = NULL;
	if (window->sums)
		drive_sums_add_arm(window->sums, &window->parts);
	return command;
}
