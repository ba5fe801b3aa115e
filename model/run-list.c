// SPDX-License-Identifier: GPL-2.0
#include "run-list.h"

/* Four times as many as full ones would do: see pack(). */
static u32 chunks_for(u32 runs)
{
	return 4 * DIV_ROUND_UP(runs, RUN_CHUNK);
}

size_t run_list_bytes(u32 runs)
{
	return runs * (sizeof(u64) + sizeof(u32)) +
	       chunks_for(runs) * (sizeof(u64) + sizeof(struct run_chunk) + sizeof(u16));
}

void run_list_init(struct run_list *list, struct run *pool, u32 runs, void *memory)
{
	u32 i;

	list->pool = pool;
	list->most_chunks = chunks_for(runs);
	list->due = memory;
	list->fences = &list->due[runs];
	list->chunks = (void *)&list->fences[list->most_chunks];
	list->cylinders = (void *)&list->chunks[list->most_chunks];
	list->order = (void *)&list->cylinders[runs];
	list->nr_chunks = 1;
	for (i = 0; i < list->most_chunks; i++)
		list->order[i] = i;
}

static u32 chunk_of(const struct run_list *list, u64 sector)
{
	u32 low = 0, high = list->nr_chunks - 1;

	while (low < high) {
		u32 middle = (low + high + 1) / 2;

		if (list->fences[middle] <= sector)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

struct run_at run_list_behind(const struct run_list *list, u64 sector)
{
	struct run_at at = { .chunk = chunk_of(list, sector) }, before;
	const struct run_chunk *chunk = run_list_chunk(list, at.chunk);
	u32 high = chunk->nr;

	while (at.i < high) {
		u32 middle = (at.i + high) / 2;

		if (list->pool[chunk->runs[middle]].segment.end > sector)
			high = middle;
		else
			at.i = middle + 1;
	}
	if (at.i || !at.chunk)
		return at;
	/* One that begins before the chunk may reach into it. */
	before = at;
	run_list_back(list, &before);
	return run_list_run(list, before)->segment.end > sector ? before : at;
}

static void set_fence(struct run_list *list, u32 chunk)
{
	struct run_at at = { .chunk = chunk };

	list->fences[chunk] = chunk ? run_begin(run_list_run(list, at)) : 0;
}

/*
 * All chunks are in use: fill the first ones. At most half of those that are free then go for
 * splits of full ones, the others each for as many insertions as half a chunk has.
 */
static void pack(struct run_list *list)
{
	u32 from, i, n = 0;

	for (from = 0; from < list->nr_chunks; from++) {
		struct run_chunk *chunk = run_list_chunk(list, from);
		u32 nr = chunk->nr;

		chunk->nr = 0;
		for (i = 0; i < nr; i++, n++) {
			struct run_chunk *to = run_list_chunk(list, n / RUN_CHUNK);

			to->runs[n % RUN_CHUNK] = chunk->runs[i];
			to->nr = n % RUN_CHUNK + 1;
		}
	}
	list->nr_chunks = max(DIV_ROUND_UP(n, RUN_CHUNK), 1U);
	for (i = 0; i < list->nr_chunks; i++)
		set_fence(list, i);
}

/* The upper half of a full chunk goes to one of its own. */
static void split(struct run_list *list, u32 chunk)
{
	u32 after = list->nr_chunks - chunk - 1, half = RUN_CHUNK / 2;
	struct run_chunk *from = run_list_chunk(list, chunk);
	u16 new = list->order[list->nr_chunks++];
	struct run_chunk *to = &list->chunks[new];

	memmove(&list->order[chunk + 2], &list->order[chunk + 1], after * sizeof(*list->order));
	memmove(&list->fences[chunk + 2], &list->fences[chunk + 1],
		after * sizeof(*list->fences));
	list->order[chunk + 1] = new;
	to->nr = RUN_CHUNK - half;
	memcpy(to->runs, &from->runs[half], to->nr * sizeof(*to->runs));
	from->nr = half;
	set_fence(list, chunk + 1);
}

void run_list_insert(struct run_list *list, struct run_at at, struct run *run)
{
	struct run_chunk *chunk = run_list_chunk(list, at.chunk);

	if (chunk->nr == RUN_CHUNK) {
		if (list->nr_chunks == list->most_chunks) {
			pack(list);
			at = run_list_behind(list, run_begin(run));
		}
		chunk = run_list_chunk(list, at.chunk);
		if (chunk->nr == RUN_CHUNK)
			split(list, at.chunk);
		at = run_list_behind(list, run_begin(run));
		chunk = run_list_chunk(list, at.chunk);
	}
	memmove(&chunk->runs[at.i + 1], &chunk->runs[at.i],
		(chunk->nr++ - at.i) * sizeof(*chunk->runs));
	chunk->runs[at.i] = run->i;
	list->nr++;
}

void run_list_remove(struct run_list *list, struct run_at at)
{
	struct run_chunk *chunk = run_list_chunk(list, at.chunk);
	u16 empty = list->order[at.chunk];
	u32 after;

	memmove(&chunk->runs[at.i], &chunk->runs[at.i + 1],
		(--chunk->nr - at.i) * sizeof(*chunk->runs));
	list->nr--;
	if (chunk->nr || list->nr_chunks == 1)
		return;
	after = --list->nr_chunks - at.chunk;
	memmove(&list->order[at.chunk], &list->order[at.chunk + 1],
		after * sizeof(*list->order));
	memmove(&list->fences[at.chunk], &list->fences[at.chunk + 1],
		after * sizeof(*list->fences));
	list->order[list->nr_chunks] = empty;
	list->fences[0] = 0;
}
