// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include "../common/alloc.h"
#include "texts.h"

struct span {
	u32 number; /* of a thread, or of a process */
	u64 start;
	u64 end;
};

static int compare_starts(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

/*
 * Processes that did not live together share one: by start, the first that is free, which are the
 * fewest of all ways (interval graphs). By process, 1 + its number.
 */
static struct map place_processes(const struct source *source, u32 *count)
{
	u32 threads = source_threads(source), i, j, n = 0;
	struct span *span = xmalloc((threads + 1) * sizeof(*span));
	u64 *end = xmalloc((threads + 1) * sizeof(*end));
	struct map at = {}, place = {};

	for (i = 1; i <= threads; i++) {
		const struct source_thread *t = source_thread(source, i);
		u64 *known = map_at(&at, t->process + 1);

		if (!*known) {
			*known = ++n;
			span[n - 1] = (struct span){ t->process, t->start, t->end };
		}
		span[*known - 1].start = min(span[*known - 1].start, t->start);
		span[*known - 1].end = max(span[*known - 1].end, t->end);
	}
	qsort(span, n, sizeof(*span), compare_starts);
	*count = 0;
	for (i = 0; i < n; i++) {
		for (j = 0; j < *count && end[j] >= span[i].start; j++)
			;
		if (j == *count)
			++*count;
		end[j] = span[i].end;
		*map_at(&place, span[i].number + 1) = j + 1;
	}
	map_free(&at);
	free(span);
	free(end);
	return place;
}

u32 *threads_place(const struct source *source, bool one, u32 *count, u32 **processes)
{
	u32 threads = source_threads(source), groups, i, j;
	struct map group = place_processes(source, &groups);
	u32 *place = xmalloc((threads + 1) * sizeof(*place));
	u32 *process = xmalloc((threads + 1) * sizeof(*process));
	struct span *span = xmalloc((threads + 1) * sizeof(*span));
	u64 *end = xmalloc((threads + 1) * sizeof(*end));

	memset(place, 0, (threads + 1) * sizeof(*place));
	memset(process, 0, (threads + 1) * sizeof(*process));
	for (i = 0; i < threads; i++) {
		const struct source_thread *t = source_thread(source, i + 1);

		span[i] = (struct span){ i + 1, t->start, t->end };
	}
	qsort(span, threads, sizeof(*span), compare_starts);
	*count = 0;
	for (i = 0; i < threads; i++) {
		u32 number = source_thread(source, span[i].number)->process + 1;
		u32 of = one ? 0 : *map_at(&group, number) - 1;

		for (j = 0; j < *count && !one && (process[j] != of || end[j] >= span[i].start);)
			j++;
		if (j == *count)
			process[(*count)++] = of;
		end[j] = span[i].end;
		place[span[i].number] = j;
	}
	*count = max(*count, 1u);
	map_free(&group);
	free(span);
	free(end);
	*processes = process;
	return place;
}
