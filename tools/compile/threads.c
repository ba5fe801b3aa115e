// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include "../trace/trace.h"

static const struct source *sorting;

static int compare_starts(const void *a, const void *b)
{
	u64 one = source_thread(sorting, *(const u32 *)a)->start;
	u64 other = source_thread(sorting, *(const u32 *)b)->start;

	return one < other ? -1 : one > other;
}

u32 *threads_place(const struct source *source, bool one, u32 *count)
{
	u32 threads = source_threads(source), i, j;
	u32 *place = xmalloc((threads + 1) * sizeof(*place));
	u32 *sorted = xmalloc((threads + 1) * sizeof(*sorted));
	u64 *end = xmalloc((threads + 1) * sizeof(*end));

	memset(place, 0, (threads + 1) * sizeof(*place));
	for (i = 0; i < threads; i++)
		sorted[i] = i + 1;
	sorting = source;
	qsort(sorted, threads, sizeof(*sorted), compare_starts);
	*count = 0;
	for (i = 0; i < threads; i++) {
		const struct source_thread *t = source_thread(source, sorted[i]);

		/* By start, the first that is free: the fewest of all ways (interval graphs). */
		for (j = 0; j < *count && end[j] >= t->start && !one; j++)
			;
		if (j == *count)
			++*count;
		end[j] = t->end;
		place[sorted[i]] = j;
	}
	*count = max(*count, 1u);
	free(sorted);
	free(end);
	return place;
}
