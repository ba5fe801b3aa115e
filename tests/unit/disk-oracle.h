/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The disk again, by the rules as they are told in model/host/WHY.md and without any
 * care for cost: commands are in one array in order of arrival, everything is found by
 * looking at all of them, and who must wait for whom is asked anew each time.
 */
#ifndef UNIT_DISK_ORACLE_H
#define UNIT_DISK_ORACLE_H

#include "fake-drive.h"

#define ORACLE_COMMANDS	8192
#define ORACLE_NEVER	U64_MAX

enum oracle_state { ORACLE_WAITS, ORACLE_WINDOW, ORACLE_ACTIVE, ORACLE_DONE };

struct oracle_request {
	u64 sector, dispatch, completion;
	u32 sectors, placed, commands;
	u8 op, flags;
	bool pending;
};

struct oracle_command {
	u64 sector, arrival, dispatch, dispatch_order;
	u32 sectors, segments;
	u8 op, flags;
	bool has_part;
	enum oracle_state state;
	u32 requests[64];
	u32 nr_requests;
	u32 passed;		/* how often the arm went to one that was dispatched later */
};

struct oracle {
	const struct profile *profile;
	struct oracle_request *requests;	/* the test's */
	u32 nr_requests;
	struct oracle_command *commands;
	u32 nr;
	u64 now, busy_until, unplug_at, head, dispatches;
	/* where the arm is, since when, for how much; and who goes before those that came later */
	u64 arm_since, arm_sectors, arm_end, group;
	u8 arm_op;
	/* scheduler */
	bool any;
	u8 direction;
	u64 last_sector, last_end;
	u32 last_command, batch, starved;
};

static bool oracle_meet(u64 a, u32 an, u64 b, u32 bn)
{
	return a < b + bn && b < a + an;
}

static bool oracle_writes(const struct oracle_request *r)
{
	return r->op != DISK_READ;
}

static bool oracle_conflict(const struct oracle_command *c, u8 op, u64 sector, u32 sectors)
{
	return c->state != ORACLE_DONE && c->op != DISK_FLUSH &&
	       (c->op == DISK_WRITE || op == DISK_WRITE) &&
	       oracle_meet(c->sector, c->sectors, sector, sectors);
}

static bool oracle_free(const struct oracle *o, u32 i)
{
	const struct oracle_command *c = &o->commands[i];
	u32 j;

	if (c->state != ORACLE_WAITS || c->op == DISK_FLUSH)
		return false;
	for (j = 0; j < i; j++)
		if (oracle_conflict(&o->commands[j], c->op, c->sector, c->sectors))
			return false;
	return true;
}

static u32 oracle_count(const struct oracle *o, bool write)
{
	u32 i, n = 0;

	for (i = 0; i < o->nr; i++)
		n += o->commands[i].state != ORACLE_DONE &&
		     write == (o->commands[i].op != DISK_READ);
	return n;
}

static u32 oracle_in(const struct oracle *o, enum oracle_state state)
{
	u32 i, n = 0;

	for (i = 0; i < o->nr; i++)
		n += o->commands[i].state == state;
	return n;
}

static bool oracle_takes(const struct oracle *o, u32 i, const struct oracle_request *r, u32 n)
{
	const struct oracle_command *c = &o->commands[i];

	return oracle_free(o, i) && c->op == r->op && !((c->flags | r->flags) & DISK_FUA) &&
	       c->sectors + n <= o->profile->max_sectors &&
	       c->segments + (n + 7) / 8 <= o->profile->max_segments &&
	       !(c->has_part && n < r->sectors);
}

static void oracle_carry(struct oracle *o, struct oracle_command *c, u32 request, u32 n)
{
	struct oracle_request *r = &o->requests[request];

	c->sectors += n;
	c->segments += (n + 7) / 8;
	c->flags |= r->flags;
	c->has_part |= n < r->sectors;
	c->requests[c->nr_requests++] = request;
	r->commands++;
	r->placed += n;
}

static bool oracle_merge(struct oracle *o, u32 request, u64 sector, u32 n)
{
	const struct oracle_request *r = &o->requests[request];
	struct oracle_command *back = NULL, *front = NULL, *c;
	u32 i;

	for (i = 0; i < o->nr; i++) {
		c = &o->commands[i];
		if (!oracle_takes(o, i, r, n))
			continue;
		/* of several, the one that lies highest, then the youngest ... */
		if (c->sector + c->sectors == sector && (!back || c->sector >= back->sector))
			back = c;
		/* ... and the oldest */
		if (c->sector == sector + n && !front)
			front = c;
	}
	for (i = 0; i < o->nr; i++)
		if (oracle_conflict(&o->commands[i], r->op, sector, n))
			return false;
	c = back ?: front;
	if (!c)
		return false;
	if (!back)
		c->sector = sector;
	oracle_carry(o, c, request, n);
	return true;
}

static void oracle_new(struct oracle *o, u32 request, u64 sector, u32 n)
{
	struct oracle_command *c = &o->commands[o->nr++];

	memset(c, 0, sizeof(*c));
	c->sector = sector;
	c->arrival = o->now;
	c->op = o->requests[request].op;
	oracle_carry(o, c, request, n);
}

static void oracle_place(struct oracle *o, u32 request)
{
	struct oracle_request *r = &o->requests[request];
	u32 limit = o->profile->nr_requests * 3 / 2;
	u32 piece = min(o->profile->max_sectors, o->profile->max_segments * 8);

	r->pending = true;
	if (r->op == DISK_FLUSH) {
		if (oracle_count(o, true) >= limit)
			return;
		oracle_new(o, request, 0, 0);
	}
	while (r->placed < r->sectors) {
		u64 sector = r->sector + r->placed;
		u32 n = min(r->sectors - r->placed, piece);

		if (oracle_merge(o, request, sector, n))
			continue;
		if (oracle_count(o, oracle_writes(r)) >=
		    (r->placed ? o->profile->nr_requests : limit))
			return;
		oracle_new(o, request, sector, n);
	}
	r->pending = false;
}

/* What is pending before it: any of its direction, of the other what it overlaps. */
static bool oracle_blocked(const struct oracle *o, u32 request)
{
	const struct oracle_request *r = &o->requests[request];
	u32 i;

	for (i = 0; i < request; i++) {
		const struct oracle_request *p = &o->requests[i];

		if (p->pending && (oracle_writes(p) == oracle_writes(r) ||
				   oracle_meet(p->sector, p->sectors, r->sector, r->sectors)))
			return true;
	}
	return false;
}

static void oracle_place_pending(struct oracle *o)
{
	bool progress = true;
	u32 i, write;

	while (progress) {
		progress = false;
		for (write = 0; write < 2; write++) {
			for (i = 0; i < o->nr_requests; i++) {
				struct oracle_request *r = &o->requests[i];

				if (!r->pending || oracle_writes(r) != write)
					continue;
				if (!oracle_blocked(o, i))
					oracle_place(o, i);
				if (r->pending)
					break;
				progress = true;
			}
		}
	}
}

/* The lowest free command of @ops (bits) from place (@sector, @from) on, ORACLE_COMMANDS: none */
static u32 oracle_lowest(const struct oracle *o, u32 ops, u64 sector, u32 from)
{
	u32 i, best = ORACLE_COMMANDS;

	for (i = 0; i < o->nr; i++) {
		const struct oracle_command *c = &o->commands[i];

		if (oracle_free(o, i) && ops & BIT(c->op) &&
		    (c->sector > sector || (c->sector == sector && i >= from)) &&
		    (best == ORACLE_COMMANDS || c->sector < o->commands[best].sector))
			best = i;
	}
	return best;
}

static u32 oracle_oldest(const struct oracle *o, u32 ops)
{
	u32 i;

	for (i = 0; i < o->nr; i++)
		if (oracle_free(o, i) && ops & BIT(o->commands[i].op))
			return i;
	return ORACLE_COMMANDS;
}

static u32 oracle_deadline(struct oracle *o)
{
	u32 reads = oracle_oldest(o, BIT(DISK_READ)), writes = oracle_oldest(o, BIT(DISK_WRITE));
	u32 next = ORACLE_COMMANDS, oldest;
	bool write;
	u64 patience;

	if (o->any)
		next = oracle_lowest(o, BIT(o->direction), o->last_sector, o->last_command + 1);
	if (next < ORACLE_COMMANDS && o->batch < 16) {
		o->batch++;
		return next;
	}
	if (reads == ORACLE_COMMANDS && writes == ORACLE_COMMANDS)
		return ORACLE_COMMANDS;
	write = reads == ORACLE_COMMANDS;
	if (reads < ORACLE_COMMANDS && writes < ORACLE_COMMANDS)
		write = o->starved++ >= 2;
	if (write)
		o->starved = 0;
	o->batch = 1;
	oldest = write ? writes : reads;
	patience = write ? 5000000000ULL : 500000000ULL;
	if (next < ORACLE_COMMANDS && write == o->direction &&
	    o->now - o->commands[oldest].arrival < patience)
		return next;
	return oldest;
}

static u32 oracle_choose(struct oracle *o)
{
	u32 both = BIT(DISK_READ) | BIT(DISK_WRITE), i;

	switch (o->profile->scheduler) {
	case SCHEDULER_FIFO:
		return oracle_oldest(o, both);
	case SCHEDULER_DEADLINE:
		return oracle_deadline(o);
	default:
		i = oracle_lowest(o, both, o->last_end, 0);
		return i < ORACLE_COMMANDS ? i : oracle_lowest(o, both, 0, 0);
	}
}

static void oracle_to_drive(struct oracle *o, struct oracle_command *c)
{
	u32 i;

	c->state = ORACLE_WINDOW;
	c->dispatch = o->now;
	c->dispatch_order = o->dispatches++;
	for (i = 0; i < c->nr_requests; i++)
		if (o->requests[c->requests[i]].dispatch == ORACLE_NEVER)
			o->requests[c->requests[i]].dispatch = o->now;
}

/* Does another command of the window end where @c begins? */
static bool oracle_follows(const struct oracle *o, const struct oracle_command *c)
{
	u32 i;

	for (i = 0; i < o->nr; i++)
		if (c->op != DISK_FLUSH && o->commands[i].state == ORACLE_WINDOW &&
		    o->commands[i].op == c->op &&
		    o->commands[i].sector + o->commands[i].sectors == c->sector)
			return true;
	return false;
}

static bool oracle_goes_on(const struct oracle *o, const struct oracle_command *c)
{
	return c->op == o->arm_op && c->sector == o->arm_end;
}

/* The kinds of commands of which one may go next */
enum oracle_kind { ORACLE_NO_ARM, ORACLE_ON, ORACLE_ELSEWHERE, ORACLE_NO_ROOM };

/* The oldest is always seen, and others of which enough came later. */
static bool oracle_seen(const struct oracle *o, const struct oracle_command *c)
{
	u32 i, before = 0, later = 0;

	for (i = 0; i < o->nr; i++) {
		if (o->commands[i].state != ORACLE_WINDOW)
			continue;
		before += o->commands[i].dispatch_order < c->dispatch_order;
		later += o->commands[i].dispatch_order > c->dispatch_order;
	}
	return !before || later >= o->profile->ncq_unseen;
}

static bool oracle_is(const struct oracle *o, const struct oracle_command *c, enum oracle_kind kind)
{
	u64 time = fake_access(o->head, c->op, c->sector);
	bool on = oracle_goes_on(o, c);

	if (c->state != ORACLE_WINDOW || oracle_follows(o, c) || !oracle_seen(o, c))
		return false;
	switch (kind) {
	case ORACLE_NO_ARM:
		return !time && (c->op == DISK_WRITE || !on);
	case ORACLE_ON:
		return time != DRIVE_NO_ROOM && on && (time || c->op == DISK_READ);
	case ORACLE_ELSEWHERE:
		return time && time != DRIVE_NO_ROOM && !on;
	default:
		return time == DRIVE_NO_ROOM;
	}
}

static bool oracle_in_group(const struct oracle *o, const struct oracle_command *c)
{
	return c->dispatch <= o->group;
}

/* Of those of a kind, that came with the group if @old or else later: the nearest, or the first. */
static struct oracle_command *oracle_best(const struct oracle *o, enum oracle_kind kind, bool old)
{
	struct oracle_command *c, *best = NULL;
	u64 time, least = 0;

	for (c = o->commands; c < o->commands + o->nr; c++) {
		bool in_group = c->dispatch <= o->group;

		if (!oracle_is(o, c, kind) || (kind != ORACLE_NO_ARM && old != in_group))
			continue;
		time = kind == ORACLE_ELSEWHERE ? fake_distance(o->head, c->sector) : 0;
		if (!best || time < least ||
		    (time == least && c->dispatch_order < best->dispatch_order)) {
			best = c;
			least = time;
		}
	}
	return best;
}

/* Does a stream's write wait for room? */
static bool oracle_stream_waits(const struct oracle *o, bool old)
{
	const struct oracle_command *c, *next;

	for (c = o->commands; c < o->commands + o->nr; c++) {
		if (!oracle_is(o, c, ORACLE_NO_ROOM) || old != oracle_in_group(o, c))
			continue;
		for (next = o->commands; next < o->commands + o->nr; next++)
			if (next->state == ORACLE_WINDOW && next->op == c->op &&
			    next->sector == c->sector + c->sectors)
				return true;
	}
	return false;
}

/* In order of arrival, as all go beside a stream's writes that wait for room. */
static struct oracle_command *oracle_first(const struct oracle *o, bool old)
{
	struct oracle_command *c, *first = NULL;

	for (c = o->commands; c < o->commands + o->nr; c++)
		if ((oracle_is(o, c, ORACLE_ELSEWHERE) || oracle_is(o, c, ORACLE_NO_ROOM)) &&
		    old == oracle_in_group(o, c) &&
		    (!first || c->dispatch_order < first->dispatch_order))
			first = c;
	return first;
}

/* With few commands in the drive the nearest may go before another one twice. */
static bool oracle_passed_twice(const struct oracle *o, const struct oracle_command *c)
{
	return o->profile->ncq_fair >= oracle_in(o, ORACLE_WINDOW) && c->passed >= 2;
}

static void oracle_pass(struct oracle *o, const struct oracle_command *best)
{
	u32 i;

	for (i = 0; i < o->nr; i++)
		if (o->commands[i].state == ORACLE_WINDOW &&
		    o->commands[i].dispatch_order < best->dispatch_order)
			o->commands[i].passed++;
}

static struct oracle_command *oracle_next(struct oracle *o, struct oracle_command *oldest)
{
	struct oracle_command *c = oracle_best(o, ORACLE_NO_ARM, false);
	bool old = true;

	if (c)
		return c;
	if (!oracle_best(o, ORACLE_ON, true) && !oracle_best(o, ORACLE_ELSEWHERE, true) &&
	    !oracle_best(o, ORACLE_NO_ROOM, true)) {
		old = false;
		if (oracle_best(o, ORACLE_NO_ROOM, false) &&
		    (oracle_best(o, ORACLE_ON, false) || oracle_best(o, ORACLE_ELSEWHERE, false))) {
			o->group = o->now;
			old = true;
		}
	}
	c = oracle_best(o, ORACLE_ON, old);
	if (c && c->dispatch > o->arm_since && oldest->dispatch <= o->arm_since &&
	    o->arm_sectors >= max(o->profile->readahead_stream, 2 * o->profile->max_sectors)) {
		o->group = o->arm_since;
		return oldest;
	}
	if (c)
		return c;
	c = oracle_first(o, old);
	if (oracle_stream_waits(o, old) || (c && oracle_passed_twice(o, c)))
		return c;
	return oracle_best(o, ORACLE_ELSEWHERE, old) ?:
	       oracle_best(o, ORACLE_NO_ROOM, old) ?: oldest;
}

static void oracle_arm(struct oracle *o, const struct oracle_command *c)
{
	if (c->op != o->arm_op || c->sector < o->arm_end ||
	    c->sector > o->arm_end + o->profile->readahead_stream ||
	    (c->dispatch > o->arm_since &&
	     o->arm_sectors >= max(o->profile->readahead_stream, 2 * o->profile->max_sectors))) {
		o->arm_since = o->now;
		o->arm_sectors = 0;
	}
	o->arm_op = c->op;
	o->arm_end = c->sector + c->sectors;
	o->arm_sectors += c->sectors;
}

static void oracle_start(struct oracle *o)
{
	struct oracle_command *best, *oldest = NULL;
	bool arm;
	u32 i;

	for (i = 0; i < o->nr; i++) {
		struct oracle_command *c = &o->commands[i];

		if (c->state == ORACLE_ACTIVE)
			return;
		if (c->state == ORACLE_WINDOW &&
		    (!oldest || c->dispatch_order < oldest->dispatch_order))
			oldest = c;
	}
	if (!oldest)
		return;
	best = oldest;
	arm = best->op != DISK_FLUSH;
	if (oracle_in(o, ORACLE_WINDOW) > 1 &&
	    o->now - oldest->dispatch <= o->profile->ncq_age_limit) {
		arm = !oracle_best(o, ORACLE_NO_ARM, false);
		best = oracle_next(o, oldest);
	}
	if (arm) {
		oracle_arm(o, best);
		oracle_pass(o, best);
	}
	best->state = ORACLE_ACTIVE;
	o->busy_until = o->now + FAKE_FIXED;
	if (best->op == DISK_FLUSH)
		return;
	o->busy_until += FAKE_SECTOR * fake_distance(o->head, best->sector);
	o->head = best->sector + best->sectors;
}

static void oracle_dispatch(struct oracle *o)
{
	u32 i, inside;

	for (;;) {
		inside = oracle_in(o, ORACLE_WINDOW) + oracle_in(o, ORACLE_ACTIVE);
		for (i = 0; i < o->nr; i++)
			if (o->commands[i].op == DISK_FLUSH &&
			    (o->commands[i].state == ORACLE_WINDOW ||
			     o->commands[i].state == ORACLE_ACTIVE))
				inside = o->profile->ncq_depth;
		if (o->unplug_at != ORACLE_NEVER || inside >= o->profile->ncq_depth)
			break;
		for (i = 0; i < o->nr; i++)
			if (o->commands[i].op == DISK_FLUSH && o->commands[i].state == ORACLE_WAITS)
				break;
		if (i < o->nr) {
			if (!inside)
				oracle_to_drive(o, &o->commands[i]);
			break;
		}
		i = oracle_choose(o);
		if (i == ORACLE_COMMANDS)
			break;
		oracle_to_drive(o, &o->commands[i]);
		o->any = true;
		o->direction = o->commands[i].op;
		o->last_sector = o->commands[i].sector;
		o->last_command = i;
		o->last_end = o->commands[i].sector + o->commands[i].sectors;
	}
	oracle_start(o);
}

static void oracle_finish(struct oracle *o)
{
	u32 i, j;

	for (i = 0; o->commands[i].state != ORACLE_ACTIVE; i++)
		;
	o->commands[i].state = ORACLE_DONE;
	for (j = 0; j < o->commands[i].nr_requests; j++) {
		struct oracle_request *r = &o->requests[o->commands[i].requests[j]];

		if (!--r->commands && r->placed == r->sectors)
			r->completion = o->now;
	}
	o->busy_until = ORACLE_NEVER;
	oracle_place_pending(o);
}

static void oracle_run(struct oracle *o, u64 now)
{
	while (min(o->busy_until, o->unplug_at) <= now) {
		o->now = min(o->busy_until, o->unplug_at);
		if (o->now == ORACLE_NEVER)
			return;
		if (o->busy_until == o->now)
			oracle_finish(o);
		o->unplug_at = ORACLE_NEVER;
		oracle_dispatch(o);
	}
	o->now = now;
}

/* Request number @i, to be filled in by the caller, arrives. */
static void oracle_submit(struct oracle *o, u32 i, u64 now)
{
	struct oracle_request *r = &o->requests[i];
	u32 before;

	oracle_run(o, now);
	r->placed = 0;
	r->commands = 0;
	r->dispatch = ORACLE_NEVER;
	r->completion = ORACLE_NEVER;
	r->pending = true;
	o->nr_requests = i + 1;
	before = oracle_in(o, ORACLE_WAITS);
	if (!oracle_blocked(o, i))
		oracle_place(o, i);
	if (!before && o->profile->plug_time)
		o->unplug_at = now + o->profile->plug_time;
	if (r->flags & DISK_SYNC || r->op == DISK_FLUSH ||
	    oracle_in(o, ORACLE_WAITS) >= o->profile->plug_threshold)
		o->unplug_at = ORACLE_NEVER;
	oracle_dispatch(o);
}

#endif
