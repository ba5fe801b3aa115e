// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "write-buffer.h"

static struct run *segment_run(struct segment *segment)
{
	return (struct run *)segment;	/* its first member */
}

static void run_give_back(struct write_buffer *buffer, struct run *run)
{
	buffer->unused[buffer->nr_unused++] = run->i;
}

struct write_buffer *write_buffer_create(const struct profile *profile,
					 const struct seek_steps *seeks, gfp_t gfp)
{
	/* One is being written, one is being added. */
	u32 runs = profile->write_segments + 2, i;
	size_t index = run_index_bytes(profile, runs), bytes;
	struct write_buffer *buffer;
	void *memory;

	bytes = sizeof(*buffer) + runs * (sizeof(struct run) + sizeof(u16)) + index +
		run_hash_bytes(runs);
	buffer = kvzalloc(bytes, gfp);
	if (!buffer)
		return NULL;
	buffer->profile = profile;
	buffer->bytes = bytes;
	buffer->nr_runs = runs;
	memory = &buffer->pool[runs];
	run_index_init(&buffer->index, profile, seeks, buffer->pool, runs, memory);
	memory += index;
	run_hash_init(&buffer->runs, buffer->pool, runs, memory);
	buffer->unused = memory + run_hash_bytes(runs);
	for (i = runs; i--;) {
		buffer->pool[i].i = i;
		run_give_back(buffer, &buffer->pool[i]);
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

/* The last question had the answer that nothing is there. Until a run is added it stays so. */
static bool known_free(const struct write_buffer *buffer, u64 sector, u64 end)
{
	return sector == buffer->free_from && end == buffer->free_end;
}

/* The first run that has or touches any of these sectors. Asked twice, it is looked for once. */
static struct run *find_near(struct write_buffer *buffer, u64 sector, u64 end)
{
	struct run *run;

	if (known_free(buffer, sector, end))
		return NULL;
	run = run_hash_find(&buffer->runs, sector ? sector - 1 : 0, end + 1);
	if (!run) {
		buffer->free_from = sector;
		buffer->free_end = end;
	}
	return run;
}

struct segment *write_buffer_find(struct write_buffer *buffer, u64 sector, u64 sectors)
{
	struct run *run = find_near(buffer, sector, sector + sectors);

	/* One that ends at the sector comes before the one that has it. */
	if (run && run->segment.end == sector)
		run = run_hash_find(&buffer->runs, sector, sector + 1);
	if (!run || sector < run_begin(run) || sector + sectors > run->segment.end)
		return NULL;
	return &run->segment;
}

struct segment *write_buffer_overlap(struct write_buffer *buffer, u64 sector, u64 sectors)
{
	struct run *run = NULL;

	/* A read has asked before: for what it may take from there. */
	if (!known_free(buffer, sector, sector + sectors))
		run = run_hash_find(&buffer->runs, sector, sector + sectors);
	return run ? &run->segment : NULL;
}

static void run_insert(struct write_buffer *buffer, const struct media *media, struct run *run)
{
	run->segment.start = run_begin(run);
	geometry_find(media->geometry, run->segment.start, &run->place);
	run_index_insert(&buffer->index, media, run);
	run_hash_insert(&buffer->runs, run);
}

static void run_take_out(struct write_buffer *buffer, struct run *run)
{
	run_index_remove(&buffer->index, run);
	run_hash_remove(&buffer->runs, run);
}

struct segment *write_buffer_add(struct write_buffer *buffer, const struct media *media,
				 u64 sector, u64 sectors, u64 since)
{
	u64 end = sector + sectors, before = sector ? sector - 1 : 0;
	struct run *old = find_near(buffer, sector, end), *run;
	struct segment *segment;

	buffer->free_end = 0;
	if (old && old->segment.end == sector && !run_hash_find(&buffer->runs, sector, end + 1)) {
		/* A stream: the usual case where there is a run already. */
		run_hash_extend(&buffer->runs, old, sectors);
		buffer->sectors += sectors;
		return &old->segment;
	}
	run = &buffer->pool[buffer->unused[--buffer->nr_unused]];
	segment = &run->segment;
	*segment = (struct segment) { .write = true, .dirty_since = since };
	for (; old; old = run_hash_find(&buffer->runs, before, end + 1)) {
		sector = min(sector, run_begin(old));
		end = max(end, old->segment.end);
		run_take_out(buffer, old);
		buffer->sectors -= old->segment.dirty;
		run_give_back(buffer, old);
	}
	segment->start = sector;
	segment->end = end;
	segment->dirty = end - sector;
	buffer->sectors += segment->dirty;
	run_insert(buffer, media, run);
	return segment;
}

struct segment *write_buffer_nearest(struct write_buffer *buffer, const struct media *media,
				     u64 now)
{
	if (!buffer->runs.nr)
		return NULL;
	return &buffer->pool[run_index_nearest(&buffer->index, media, now)->i].segment;
}

struct segment *write_buffer_next(struct write_buffer *buffer)
{
	if (!buffer->runs.nr)
		return NULL;
	do {
		buffer->hand = buffer->hand + 1 < buffer->nr_runs ? buffer->hand + 1 : 0;
	} while (!buffer->pool[buffer->hand].hashed);
	return &buffer->pool[buffer->hand].segment;
}

void write_buffer_take(struct write_buffer *buffer, struct segment *segment)
{
	run_take_out(buffer, segment_run(segment));
}

void write_buffer_return(struct write_buffer *buffer, const struct media *media,
			 struct segment *segment)
{
	u64 sector = segment->end - segment->dirty, sectors = segment->dirty;

	run_give_back(buffer, segment_run(segment));
	if (!sectors)
		return;
	/* What was written to in the meantime is one with it. */
	buffer->sectors -= sectors;
	write_buffer_add(buffer, media, sector, sectors, segment->dirty_since);
}
