/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How large a file was before the trace, where no attributes say so: from what its calls returned.
 * What the trace has written itself proves nothing. Only who opens a file is told its attributes by
 * the own tracer; traces of others tell less.
 */
#ifndef TRACE_INITIAL_H
#define TRACE_INITIAL_H

#include "../../dm-david/portable/portable.h"

enum initial_source { /* who says so */
	INITIAL_UNKNOWN,
	INITIAL_LEAST, /* what was read or mapped: the file may have been larger */
	INITIAL_END, /* a read came to the file's end */
	INITIAL_TOLD, /* attributes, or a seek to the end */
};

struct initial {
	enum initial_source source;
	s64 size;
	s64 written; /* the trace has written up to there */
	s64 appended; /* so many bytes, to a file whose size was not known */
	bool replaced; /* truncated: what follows says nothing about before */
};

/* The file has this size now. */
void initial_told(struct initial *initial, s64 size);

/* There was something up to @end. */
void initial_held(struct initial *initial, s64 end);

/* A read at @offset gave @bytes, less than asked for. */
void initial_ended(struct initial *initial, s64 offset, s64 bytes);

void initial_written(struct initial *initial, s64 end);
void initial_appended(struct initial *initial, s64 bytes);
void initial_replaced(struct initial *initial);

#endif
