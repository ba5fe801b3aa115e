// SPDX-License-Identifier: GPL-2.0
#include "seek.h"
#include "write-buffer.h"

static struct run *run_of(struct segment *segment)
{
	return (struct run *)segment;	/* its first member */
}

static u64 first_dirty(const struct run *run)
{
	return run->segment.end - run->segment.dirty;
}

struct write_buffer *write_buffer_create(const struct profile *profile, gfp_t gfp)
{
	/* One is being written, one is being added. */
	u32 runs = profile->write_segments + 2, i;
	struct write_buffer *buffer;

	buffer = kvzalloc(sizeof(*buffer) + runs * (sizeof(struct run) + 2 * sizeof(u16)), gfp);
	if (!buffer)
		return NULL;
	buffer->profile = profile;
	buffer->runs = (void *)&buffer->pool[runs];
	buffer->unused = buffer->runs + runs;
	for (i = 0; i < runs; i++)
		buffer->unused[buffer->nr_unused++] = runs - 1 - i;
	return buffer;
}

void write_buffer_destroy(struct write_buffer *buffer)
{
	kvfree(buffer);
}

size_t write_buffer_bytes(const struct write_buffer *buffer)
{
	u32 runs = buffer->profile->write_segments + 2;

	return sizeof(*buffer) + runs * (sizeof(struct run) + 2 * sizeof(u16));
}

bool write_buffer_room(const struct write_buffer *buffer, u32 sectors)
{
	return !buffer->sectors ||
	       (buffer->sectors + sectors <= buffer->profile->write_buffer &&
		buffer->nr < buffer->profile->write_segments);
}

/* The first run that ends behind @sector; buffer->nr if none. */
static u32 first_behind(const struct write_buffer *buffer, u64 sector)
{
	u32 low = 0, high = buffer->nr;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (write_buffer_run(buffer, middle)->segment.end > sector)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct segment *write_buffer_find(const struct write_buffer *buffer, u64 sector, u64 sectors)
{
	u32 i = first_behind(buffer, sector);
	struct segment *segment;

	if (i == buffer->nr)
		return NULL;
	segment = &write_buffer_run(buffer, i)->segment;
	return sector >= segment->start && sector + sectors <= segment->end ? segment : NULL;
}

struct segment *write_buffer_overlap(const struct write_buffer *buffer, u64 sector, u64 sectors)
{
	u32 i = first_behind(buffer, sector);

	if (i == buffer->nr || first_dirty(write_buffer_run(buffer, i)) >= sector + sectors)
		return NULL;
	return &write_buffer_run(buffer, i)->segment;
}

static void insert(struct write_buffer *buffer, const struct media *media, struct run *run)
{
	u32 i = first_behind(buffer, first_dirty(run));
	struct place place;

	run->segment.start = first_dirty(run);
	geometry_find(media->geometry, run->segment.start, &place);
	run->cylinder = place.cylinder;
	run->head = place.head;
	run->due = media_time(media, place.slots, 0, place.slot);
	memmove(&buffer->runs[i + 1], &buffer->runs[i],
		(buffer->nr++ - i) * sizeof(*buffer->runs));
	buffer->runs[i] = run - buffer->pool;
}

static struct run *take_out(struct write_buffer *buffer, u32 i)
{
	struct run *run = write_buffer_run(buffer, i);

	memmove(&buffer->runs[i], &buffer->runs[i + 1],
		(--buffer->nr - i) * sizeof(*buffer->runs));
	return run;
}

static void give_back(struct write_buffer *buffer, struct run *run)
{
	buffer->unused[buffer->nr_unused++] = run - buffer->pool;
}

static u32 index_of(const struct write_buffer *buffer, const struct segment *segment)
{
	return first_behind(buffer, segment->end - segment->dirty);
}

struct segment *write_buffer_add(struct write_buffer *buffer, const struct media *media,
				 u64 sector, u64 sectors, u64 since)
{
	u64 end = sector + sectors;
	struct segment *segment;
	struct run *run;
	/* The first that ends at @sector or behind it */
	u32 i = sector ? first_behind(buffer, sector - 1) : 0;

	if (i < buffer->nr && write_buffer_run(buffer, i)->segment.end == sector &&
	    (i + 1 == buffer->nr || first_dirty(write_buffer_run(buffer, i + 1)) > end)) {
		/* A stream: the usual case, and nothing moves. */
		segment = &write_buffer_run(buffer, i)->segment;
		segment->end = end;
		segment->dirty += sectors;
		buffer->sectors += sectors;
		return segment;
	}
	run = &buffer->pool[buffer->unused[--buffer->nr_unused]];
	segment = &run->segment;
	*segment = (struct segment) { .write = true, .dirty_since = since };
	while (i < buffer->nr && first_dirty(write_buffer_run(buffer, i)) <= end) {
		struct run *old = take_out(buffer, i);

		sector = min(sector, first_dirty(old));
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

/* Time from @now on until the head could write @run; U64_MAX if its seek alone takes @best. */
static u64 access_time(const struct write_buffer *buffer, const struct media *media,
		       const struct run *run, u64 now, u64 angle, u64 best)
{
	u64 revolution = buffer->profile->revolution, seek, since;
	u32 distance = run->cylinder > media->cylinder ? run->cylinder - media->cylinder :
							 media->cylinder - run->cylinder;

	seek = seek_reposition(buffer->profile, distance, run->head != media->head, true);
	if (seek >= best)
		return U64_MAX;
	since = run->segment.dirty_since;
	if (since > now + seek)
		seek = since - now;
	div64_u64_rem(angle + seek, revolution, &angle);
	return seek + (run->due >= angle ? run->due - angle : run->due + revolution - angle);
}

/*
 * Outwards from where the arm is, to both sides, until the seek alone takes longer than the
 * best: seeks grow with the distance.
 */
struct segment *write_buffer_nearest(const struct write_buffer *buffer, const struct media *media,
				     u64 now)
{
	u64 best_time = U64_MAX, time, angle;
	struct run *best = NULL;
	u32 low = 0, high = buffer->nr, right;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (write_buffer_run(buffer, middle)->cylinder >= media->cylinder)
			high = middle;
		else
			low = middle + 1;
	}
	right = low;
	div64_u64_rem(now, buffer->profile->revolution, &angle);
	while (low || right < buffer->nr) {
		bool up = !low || (right < buffer->nr &&
			  write_buffer_run(buffer, right)->cylinder - media->cylinder <=
			  media->cylinder - write_buffer_run(buffer, low - 1)->cylinder);
		struct run *run = write_buffer_run(buffer, up ? right : low - 1);

		time = access_time(buffer, media, run, now, angle, best_time);
		if (time == U64_MAX)
			break;	/* what is further away takes longer still */
		if (time < best_time) {
			best_time = time;
			best = run;
		}
		if (up)
			right++;
		else
			low--;
	}
	return best ? &best->segment : NULL;
}

void write_buffer_take(struct write_buffer *buffer, struct segment *segment)
{
	take_out(buffer, index_of(buffer, segment));
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
