/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mappings of files, by process, and the touches of their pages. A mapping whose file the process
 * touches anywhere stays in the replay until it is gone in the original; one that no call of the
 * trace has made, as that of the program itself, is made when it is needed.
 */
#ifndef COMPILE_MAPPED_H
#define COMPILE_MAPPED_H

#include "source.h"
#include "texts.h"

struct compiler;

struct area { /* of a process's memory */
	u64 at; /* address; 0: no call of the trace has made it */
	u64 length;
	u64 offset; /* in the file */
	u64 start; /* ... of the mapping in the replay, which may be longer */
	u64 file;
	u32 slot; /* NO_SLOT: it cannot be made */
	u32 id; /* of the mapping */
	u32 seen; /* number of a set of pages, the same for all areas of a file */
	bool shared;
	bool written; /* may be */
};

struct memory { /* of a process */
	struct area *area;
	u32 areas;
	u64 room;
};

struct mapped {
	struct map processes; /* 1 + place in @memory */
	struct memory *memory;
	u32 memories;
	u64 room;
	struct map pages; /* by set and page / 64: a bit for each that was touched */
	u32 ids; /* of mappings and sets so far */
	struct area *ended;
	u32 ended_count;
	u64 ended_room;
};

void mapped_free(struct mapped *mapped);

/* WL_MAP, if the mapping is to stay; false: it is not. The call is mmap(). */
bool mapped_map(struct compiler *c);

/* What a call about memory becomes: msync(), madvise(). False: nothing. */
bool mapped_call(struct compiler *c);

/* What the call has done to the process's mappings. */
void mapped_follow(struct compiler *c);

/* All of the process's are gone. */
void mapped_end(struct mapped *mapped, u32 process);

/* Commands for those that are gone. */
void mapped_add_ends(struct compiler *c);

/* Pages that were found to have been touched when the call was made. In front of it. */
void mapped_add_pages(struct compiler *c);

/* A touch of its own. */
void mapped_add_touch(struct compiler *c);

#endif
