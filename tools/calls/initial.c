// SPDX-License-Identifier: GPL-2.0
#include "initial.h"

static bool is_settled(const struct initial *initial)
{
	return initial->replaced || initial->source == INITIAL_TOLD;
}

/* Of a size that the file has now, what it had at first; -1: the trace has made it so large. */
static s64 size_before(const struct initial *initial, s64 size)
{
	s64 before = (u64)size - initial->appended;

	return size < 0 || before < 0 || (initial->written && before <= initial->written) ? -1 :
											    before;
}

void initial_told(struct initial *initial, s64 size)
{
	s64 before = size_before(initial, size);

	if (is_settled(initial) || before < 0)
		return;
	initial->source = INITIAL_TOLD;
	initial->size = before;
}

void initial_held(struct initial *initial, s64 end)
{
	s64 before = size_before(initial, end);

	if (is_settled(initial) || before <= initial->size)
		return;
	initial->source = INITIAL_LEAST;
	initial->size = before;
}

void initial_ended(struct initial *initial, s64 offset, s64 bytes)
{
	s64 before = size_before(initial, (u64)offset + bytes);

	if (before < 0)
		return;
	/* Nothing was read: the end may be far in front of that, but not behind it. */
	if (is_settled(initial) || before < initial->size || (!bytes && before > initial->size))
		return;
	initial->source = INITIAL_END;
	initial->size = before;
}

void initial_written(struct initial *initial, s64 end)
{
	initial->written = max(initial->written, end);
}

void initial_appended(struct initial *initial, s64 bytes)
{
	initial->appended = (u64)initial->appended + bytes;
}

void initial_replaced(struct initial *initial)
{
	initial->replaced = true;
}
