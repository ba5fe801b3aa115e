/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large files are, and where descriptions stand in them, as calls make and find that, to try
 * orders of calls: what has been done can be undone.
 *
 * A size is known from both sides: the file has at least so many bytes, and at most so many. Before
 * the trace it may have had any number. Each call that finds something narrows that, or cannot have
 * come now.
 */
#ifndef TRACE_SIZES_H
#define TRACE_SIZES_H

#include "../common/map.h"

#define SIZE_ANY INT64_MAX /* of `most`: no call has said */
#define PLACE_ANY (-1) /* where a description stands is not known */
#define BYTES_ANY (-1) /* how many a read has asked for is not known */

struct size {
	s64 least;
	s64 most;
};

/* What a call does to one file, or has found there. */
enum part_kind {
	PART_SET, /* the file has @bytes */
	PART_CHANGE, /* it has others than before, nobody knows how many */
	PART_WRITE, /* @bytes from @at on */
	PART_APPEND, /* @bytes more */
	PART_READ, /* has got @bytes from @at on, and asked for @asked */
	PART_IS, /* it has found @bytes in all, and shows them */
	PART_ENDS, /* ... and has returned them: a replay compares that */
	PART_PLACE, /* the description stands at @at; if @finds, it stood @bytes in front of that */
	PART_MADE, /* it has none, if the call has made it; else nothing is done */
};

struct part {
	u32 file; /* as sizes_file() and sizes_ofd() have them */
	u32 ofd;
	u8 kind; /* enum part_kind */
	bool moves; /* @at is where the description stands, and that moves on */
	bool finds; /* PART_PLACE */
	bool made; /* PART_MADE: it has */
	s64 at;
	s64 bytes;
	s64 asked;
	/* As it was when the part was done last. */
	s64 from; /* where it was: PLACE_ANY: not known */
	struct size before;
	struct size after;
};

struct size_undo {
	struct size size; /* of a file, or its least is where a description stood */
	u32 at;
	bool file;
};

struct sizes {
	struct map files; /* by number: 1 + the place in file */
	struct map ofds;
	struct size *file;
	u32 file_count;
	u64 file_room;
	s64 *place;
	u32 ofd_count;
	u64 ofd_room;
	struct size_undo *undo;
	u64 undos;
	u64 undo_room;
};

void sizes_free(struct sizes *z);

/* @first: as large as the file is before a call of these has said anything; -1: not known. */
u32 sizes_file(struct sizes *z, u32 id, s64 first);

/* @at: where the description stands before a call of these has said anything. */
u32 sizes_ofd(struct sizes *z, u32 id, s64 at);

/*
 * The part is done. False: the file is not as the call has found it, and nothing is done. @forced:
 * then it becomes so.
 */
bool sizes_do(struct sizes *z, struct part *part, bool forced);

/* Undoes all that was done since there were so many steps to be undone (z->undos). */
void sizes_undo(struct sizes *z, u64 steps);

/*
 * Two parts of calls that overlapped, as they were done: is it for what they return, or for how
 * large the file is at last, which of them comes first?
 */
bool sizes_matters(const struct part *first, const struct part *later);

#endif
