// SPDX-License-Identifier: GPL-2.0
#include "write-buffer.h"

static struct run *run_of(struct segment *segment)
{
	return (struct run *)segment;	/* its first member */
}

static void give_back(struct write_buffer *buffer, struct run *run)
{
	buffer->unused[buffer->nr_unused++] = run->i;
}

struct write_buffer *write_buffer_create(const struct profile *profile, gfp_t gfp)
{
	/* One is being written, one is being added. */
	u32 runs = profile->write_segments + 2, nr_steps = seek_steps(profile, NULL), part, i;
	struct write_buffer *buffer;
	size_t bytes;

	bytes = sizeof(*buffer) + runs * (sizeof(struct run) + sizeof(u16)) +
		nr_steps * sizeof(struct seek_step) + run_list_bytes(runs);
	buffer = kvzalloc(bytes, gfp);
	if (!buffer)
		return NULL;
	buffer->profile = profile;
	buffer->bytes = bytes;
	buffer->nr_steps = nr_steps;
	buffer->steps = (void *)&buffer->pool[runs];
	seek_steps(profile, buffer->steps);
	for (i = 0; i < nr_steps; i++)
		if (seek_part_begin(seek_part(buffer->steps[i].begin)) == buffer->steps[i].begin)
			for (part = seek_part(buffer->steps[i].begin); part < SEEK_PARTS; part++)
				buffer->step_of_part[part] = i;
	run_list_init(&buffer->runs, buffer->pool, runs, &buffer->steps[nr_steps]);
	buffer->unused = (void *)&buffer->steps[nr_steps] + run_list_bytes(runs);
	for (i = runs; i--;) {
		buffer->pool[i].i = i;
		give_back(buffer, &buffer->pool[i]);
	}
	return buffer;
}

void write_buffer_destroy(struct write_buffer *buffer)
{
	kvfree(buffer);
}

size_t write_buffer_bytes(const struct write_buffer *buffer)
{
	return buffer->bytes;
}

bool write_buffer_room(const struct write_buffer *buffer, u32 sectors)
{
	return !buffer->sectors ||
	       (buffer->sectors + sectors <= buffer->profile->write_buffer &&
		buffer->runs.nr < buffer->profile->write_segments);
}

/* Where the first run is that ends behind @sector: looked for once, mostly. */
static struct run_at behind(struct write_buffer *buffer, u64 sector)
{
	if (!buffer->last.valid || buffer->last.sector != sector) {
		buffer->last.at = run_list_behind(&buffer->runs, sector);
		buffer->last.sector = sector;
		buffer->last.valid = true;
	}
	return buffer->last.at;
}

static struct run *first_behind(struct write_buffer *buffer, u64 sector)
{
	struct run_at at = behind(buffer, sector);

	return run_list_get(&buffer->runs, &at);
}

struct segment *write_buffer_find(struct write_buffer *buffer, u64 sector, u64 sectors)
{
	struct run *run = first_behind(buffer, sector);

	if (!run || sector < run->segment.start || sector + sectors > run->segment.end)
		return NULL;
	return &run->segment;
}

struct segment *write_buffer_overlap(struct write_buffer *buffer, u64 sector, u64 sectors)
{
	struct run *run = first_behind(buffer, sector);

	return run && run_begin(run) < sector + sectors ? &run->segment : NULL;
}

static void insert(struct write_buffer *buffer, const struct media *media, struct run *run)
{
	struct run_at *arm = &buffer->arm.at, at;
	u32 chunks = buffer->runs.nr_chunks;

	run->segment.start = run_begin(run);
	geometry_find(media->geometry, run->segment.start, &run->place);
	run_list_place(&buffer->runs, run, media_time(media, run->place.slots, 0,
						      run->place.slot));
	at = behind(buffer, run->segment.start);
	run_list_insert(&buffer->runs, at, run);
	buffer->last.valid = false;
	buffer->chosen = NULL;
	if (chunks != buffer->runs.nr_chunks)
		buffer->arm.valid = false;
	else if (at.chunk == arm->chunk && at.i <= arm->i &&
		 (at.i < arm->i || run->place.cylinder < buffer->arm.cylinder))
		arm->i++;
}

static void take_out(struct write_buffer *buffer, struct run_at at)
{
	struct run_at *last = &buffer->last.at;
	u32 chunks = buffer->runs.nr_chunks;

	run_list_remove(&buffer->runs, at);
	buffer->chosen = NULL;
	buffer->arm.valid = false;
	if (chunks != buffer->runs.nr_chunks || (at.chunk == last->chunk && at.i == last->i))
		buffer->last.valid = false;
	else if (at.chunk == last->chunk && at.i < last->i)
		last->i--;
}

/* The run that ends at @sector, which *@at is behind; *@at is its place then. NULL if none does. */
static struct run *ends_at(const struct write_buffer *buffer, struct run_at *at, u64 sector)
{
	struct run_at before = *at;
	struct run *run;

	if (!run_list_back(&buffer->runs, &before))
		return NULL;
	run = run_list_run(&buffer->runs, before);
	if (run->segment.end != sector)
		return NULL;
	*at = before;
	return run;
}

struct segment *write_buffer_add(struct write_buffer *buffer, const struct media *media,
				 u64 sector, u64 sectors, u64 since)
{
	struct run_at at = behind(buffer, sector), next = at;
	struct run *follower = run_list_get(&buffer->runs, &next);
	struct run *run = ends_at(buffer, &at, sector), *old;
	u64 end = sector + sectors;
	struct segment *segment;

	if (run && (!follower || run_begin(follower) > end)) {
		/* A stream: the usual case, and nothing moves. */
		segment = &run->segment;
		segment->end = end;
		segment->dirty += sectors;
		buffer->sectors += sectors;
		buffer->last.valid = false;
		return segment;
	}
	run = &buffer->pool[buffer->unused[--buffer->nr_unused]];
	segment = &run->segment;
	*segment = (struct segment) { .write = true, .dirty_since = since };
	while ((old = run_list_get(&buffer->runs, &at)) && run_begin(old) <= end) {
		take_out(buffer, at);
		sector = min(sector, run_begin(old));
		end = max(end, old->segment.end);
		buffer->sectors -= old->segment.dirty;
		give_back(buffer, old);
	}
	segment->start = sector;
	segment->end = end;
	segment->dirty = end - sector;
	buffer->sectors += segment->dirty;
	insert(buffer, media, run);
	return segment;
}

/* The nearest so far, and what it is compared by. */
struct search {
	const struct write_buffer *buffer;
	const struct media *media;
	u64 now;
	u64 angle;		/* of the platters at @now, in ns */
	u64 revolution;
	u64 time;		/* that the best one takes */
	u64 rank;		/* of the best one, among equals */
	struct run *best;
	struct run_at at;	/* of it */
};

/* One side of the arm: runs before @at, or from it on. */
struct side {
	struct run_at at;
	const struct seek_step *step;
};

/*
 * The time until the head could write @run: the first one after @wait, and so many revolutions,
 * at which the arm and the data are there.
 */
static u64 exact_time(const struct search *search, const struct run *run, u32 distance, u64 wait)
{
	bool switches = run->place.head != search->media->head;
	u64 ready = seek_reposition(search->buffer->profile, distance, switches, true);
	u64 since = run->segment.dirty_since;

	if (since > search->now + ready)
		ready = since - search->now;
	if (wait >= ready)
		return wait;
	return wait + div64_u64(ready - wait + search->revolution - 1, search->revolution) *
		      search->revolution;
}

static void compare(struct search *search, struct run *run, u32 distance, bool down, u64 wait,
		    const struct seek_step *step, struct run_at at)
{
	u64 time, rank = 2 * (u64)distance + down;

	if (wait < step->least)
		wait += search->revolution;
	if (wait > search->time)
		return;
	time = wait;
	if (wait < step->most || run->segment.dirty_since > search->now)
		time = exact_time(search, run, distance, wait);
	/* Of equals the nearer one, or the one above. */
	if (time > search->time || (time == search->time && rank >= search->rank))
		return;
	search->time = time;
	search->rank = rank;
	search->best = run;
	search->at = at;
}

/* On to the step that @distance is in. */
static const struct seek_step *step_to(const struct write_buffer *buffer,
				       const struct seek_step *step, u32 distance)
{
	if (distance >= (++step)->end)
		step = buffer->steps + buffer->step_of_part[seek_part(distance)];
	while (distance >= step->end)
		step++;
	return step;
}

#define SIDE_BLOCK	16

/* On to the next chunk of a side, where one is at its end. False: that was the last one. */
static __always_inline bool side_chunk(const struct run_list *list, struct side *side, bool up)
{
	if (side->at.i != (up ? run_list_chunk(list, side->at.chunk)->nr : 0))
		return true;
	if (side->at.chunk == (up ? list->nr_chunks - 1 : 0))
		return false;
	side->at.chunk += up ? 1 : -1;
	side->at.i = up ? 0 : run_list_chunk(list, side->at.chunk)->nr;
	return true;
}

/*
 * The next few runs of a side, in one chunk. The angle tells when a run's first sector passes:
 * mostly later than that of the best, and then its seek does not matter. Returns whether those
 * further away may be nearer in time.
 */
static __always_inline bool search_some(struct search *search, struct side *side, bool up)
{
	const struct run_list *list = &search->buffer->runs;
	const u32 *cylinders = list->cylinders, arm = search->media->cylinder;
	const u64 *due = list->due, angle = search->angle, revolution = search->revolution;
	const struct seek_step *step = side->step;
	u64 wait, best = search->time;
	u32 distance, run, i, end;
	const u16 *runs;

	if (!side_chunk(list, side, up))
		return false;
	runs = run_list_chunk(list, side->at.chunk)->runs;
	i = side->at.i;
	if (up)
		end = min_t(u32, i + SIDE_BLOCK, run_list_chunk(list, side->at.chunk)->nr);
	else
		end = i - min_t(u32, i, SIDE_BLOCK);
	side->at.i = end;
	for (; i != end; i += up ? 1 : -1) {
		run = runs[up ? i : i - 1];
		distance = up ? cylinders[run] - arm : arm - cylinders[run];
		if (distance >= step->end) {
			step = step_to(search->buffer, step, distance);
			if (step->least > best)
				return false;
		}
		wait = due[run] - angle;
		if (due[run] < angle)
			wait += revolution;
		if (wait < step->least)
			wait += revolution;	/* the arm is too late for it */
		if (wait <= best) {
			compare(search, &list->pool[run], distance, !up, wait, step,
				(struct run_at) { side->at.chunk, up ? i : i - 1 });
			best = search->time;
		}
	}
	side->step = step;
	return step->least <= best;
}

/* The first run on the arm's cylinder or above it. */
static struct run_at above_arm(const struct run_list *list, u32 cylinder)
{
	u32 low = 0, high = list->nr_chunks - 1, middle, first = 0;
	const struct run_chunk *chunk;

	while (low < high) {
		middle = (low + high + 1) / 2;
		if (list->cylinders[run_list_chunk(list, middle)->runs[0]] < cylinder)
			low = middle;
		else
			high = middle - 1;
	}
	chunk = run_list_chunk(list, low);
	high = chunk->nr;
	for (;;) {
		if (first == high)
			return (struct run_at) { .chunk = low, .i = first };
		middle = (first + high) / 2;
		if (list->cylinders[chunk->runs[middle]] < cylinder)
			first = middle + 1;
		else
			high = middle;
	}
}

static struct run_at arm_place(const struct write_buffer *buffer, u32 cylinder)
{
	struct run_at at = buffer->arm.at, below = at;

	if (!buffer->arm.valid || buffer->arm.cylinder != cylinder)
		return above_arm(&buffer->runs, cylinder);
	while (run_list_back(&buffer->runs, &below) &&
	       run_list_cylinder(&buffer->runs, below) == cylinder)
		at = below;
	return at;
}

/* Outwards from the arm to both sides, until seeks alone take longer than the best does. */
struct segment *write_buffer_nearest(struct write_buffer *buffer, const struct media *media,
				     u64 now)
{
	struct search search = {
		.buffer = buffer, .media = media, .now = now,
		.revolution = buffer->profile->revolution, .time = U64_MAX,
	};
	struct side up = { .step = buffer->steps }, down;
	bool more_up = true, more_down = true;

	if (!buffer->runs.nr)
		return NULL;
	up.at = arm_place(buffer, media->cylinder);
	down = up;
	div64_u64_rem(now, search.revolution, &search.angle);
	while (more_up || more_down) {
		more_up = more_up && search_some(&search, &up, true);
		more_down = more_down && search_some(&search, &down, false);
	}
	buffer->chosen = search.best;
	buffer->chosen_at = search.at;
	return &search.best->segment;
}

void write_buffer_take(struct write_buffer *buffer, struct segment *segment)
{
	struct run *run = run_of(segment);

	struct run_at at = run == buffer->chosen ? buffer->chosen_at :
						   behind(buffer, run_begin(run));
	u32 chunks = buffer->runs.nr_chunks;

	take_out(buffer, at);
	buffer->arm.at = at;
	buffer->arm.cylinder = run->place.cylinder;
	buffer->arm.valid = chunks == buffer->runs.nr_chunks;
}

void write_buffer_return(struct write_buffer *buffer, const struct media *media,
			 struct segment *segment)
{
	u64 sector = segment->end - segment->dirty, sectors = segment->dirty;

	give_back(buffer, run_of(segment));
	if (!sectors)
		return;
	/* What was written to in the meantime is one with it. */
	buffer->sectors -= sectors;
	write_buffer_add(buffer, media, sector, sectors, segment->dirty_since);
}
