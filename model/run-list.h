/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The write buffer's runs by place. Thousands of them come and go at random places, so they are
 * kept in chunks: an insertion moves no more than one of these.
 */
#ifndef DAVID_MODEL_RUN_LIST_H
#define DAVID_MODEL_RUN_LIST_H

#include "cache.h"
#include "geometry.h"

struct run {
	struct segment segment;	/* dirty to its end */
	struct place place;	/* of the first dirty sector */
	u32 i;			/* its own place in the pool */
};

#define RUN_CHUNK	63

struct run_chunk {
	u16 nr;			/* none is empty, but the only one */
	u16 runs[RUN_CHUNK];	/* places in the pool */
};

struct run_list {
	struct run *pool;
	u64 *due;		/* of each run, ns of a revolution at which it begins to pass, */
	u32 *cylinders;		/* and its place's: what searches look at */
	u32 nr;			/* runs */
	u32 nr_chunks;
	u32 most_chunks;
	u64 *fences;		/* no run of the chunk begins before, all of those before it do */
	u16 *order;		/* chunks by place, then those that are free */
	struct run_chunk *chunks;
};

/* A place in the list: before the run that is there, if there is one. */
struct run_at {
	u32 chunk;		/* in order */
	u32 i;
};

/* Bytes that a list of at most @runs needs behind it. */
size_t run_list_bytes(u32 runs);
void run_list_init(struct run_list *list, struct run *pool, u32 runs, void *memory);

static inline u64 run_begin(const struct run *run)
{
	return run->segment.end - run->segment.dirty;
}

static inline struct run_chunk *run_list_chunk(const struct run_list *list, u32 chunk)
{
	return &list->chunks[list->order[chunk]];
}

static inline struct run *run_list_run(const struct run_list *list, struct run_at at)
{
	return &list->pool[run_list_chunk(list, at.chunk)->runs[at.i]];
}

static inline u32 run_list_cylinder(const struct run_list *list, struct run_at at)
{
	return list->cylinders[run_list_chunk(list, at.chunk)->runs[at.i]];
}

/* The run at *@at, which is moved on to the next chunk if it is there; NULL at the end. */
static inline struct run *run_list_get(const struct run_list *list, struct run_at *at)
{
	if (at->i == run_list_chunk(list, at->chunk)->nr) {
		if (at->chunk + 1 >= list->nr_chunks)
			return NULL;
		at->chunk++;
		at->i = 0;
	}
	return run_list_run(list, *at);
}

/* The place of @run is known now; it begins to pass at @due. */
static inline void run_list_place(struct run_list *list, const struct run *run, u64 due)
{
	list->due[run->i] = due;
	list->cylinders[run->i] = run->place.cylinder;
}

/* Where the first run is that ends behind @sector. */
struct run_at run_list_behind(const struct run_list *list, u64 sector);

/* Move *@at back by a run; false if there is none. */
static inline bool run_list_back(const struct run_list *list, struct run_at *at)
{
	if (!at->i) {
		if (!at->chunk)
			return false;
		at->i = run_list_chunk(list, --at->chunk)->nr;
	}
	at->i--;
	return true;
}

/* @at is run_list_behind() of where @run begins, and nothing overlaps it. */
void run_list_insert(struct run_list *list, struct run_at at, struct run *run);

/* The run at @at goes; the next one is there then. */
void run_list_remove(struct run_list *list, struct run_at at);

#endif
