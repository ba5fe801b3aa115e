// SPDX-License-Identifier: GPL-2.0
#include "threads.h"

#include "../common/alloc.h"
#include "texts.h"

struct span {
	u32 number; /* of a thread, or of a process */
	u64 start;
	u64 end;
	u64 first; /* calls */
	u64 last;
};

static struct span span_of(u32 number, const struct source_thread *t)
{
	return (struct span){ number, t->start, t->end, t->first ?: U64_MAX, t->last };
}

/*
 * May @next have the place of @former? The trace may have an end later than it was: what @next does
 * must not come in front of it.
 */
static bool is_over(const struct span *former, const struct span *next)
{
	return former->end < next->start && former->last < next->first;
}

static int compare_starts(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	return one->start < other->start ? -1 : one->start > other->start;
}

/*
 * Processes that did not live together share one: by start, the first that is free, which are about
 * the fewest of all ways (interval graphs). By process, 1 + its number.
 */
static struct map place_processes(const struct source *source, u32 *count)
{
	u32 threads = source_threads(source), i, j, n = 0;
	struct span *span = xmalloc((threads + 1) * sizeof(*span));
	struct span *former = xmalloc((threads + 1) * sizeof(*former));
	struct map at = {}, place = {};

	for (i = 1; i <= threads; i++) {
		const struct source_thread *t = source_thread(source, i);
		u64 *known = map_at(&at, t->process + 1);

		if (!*known) {
			*known = ++n;
			span[n - 1] = span_of(t->process, t);
		}
		span[*known - 1].start = min(span[*known - 1].start, t->start);
		span[*known - 1].end = max(span[*known - 1].end, t->end);
		span[*known - 1].first = min(span[*known - 1].first, t->first);
		span[*known - 1].last = max(span[*known - 1].last, t->last);
	}
	qsort(span, n, sizeof(*span), compare_starts);
	*count = 0;
	for (i = 0; i < n; i++) {
		for (j = 0; j < *count && !is_over(&former[j], &span[i]); j++)
			;
		if (j == *count)
			++*count;
		former[j] = span[i];
		*map_at(&place, span[i].number + 1) = j + 1;
	}
	map_free(&at);
	free(span);
	free(former);
	return place;
}

u32 *threads_place(const struct source *source, bool one, u32 *count, u32 **processes)
{
	u32 threads = source_threads(source), groups, i, j;
	struct map group = place_processes(source, &groups);
	u32 *place = xmalloc((threads + 1) * sizeof(*place));
	u32 *process = xmalloc((threads + 1) * sizeof(*process));
	struct span *span = xmalloc((threads + 1) * sizeof(*span));
	struct span *former = xmalloc((threads + 1) * sizeof(*former));

	memset(place, 0, (threads + 1) * sizeof(*place));
	memset(process, 0, (threads + 1) * sizeof(*process));
	for (i = 0; i < threads; i++)
		span[i] = span_of(i + 1, source_thread(source, i + 1));
	qsort(span, threads, sizeof(*span), compare_starts);
	*count = 0;
	for (i = 0; i < threads; i++) {
		u32 number = source_thread(source, span[i].number)->process + 1;
		u32 of = one ? 0 : *map_at(&group, number) - 1;

		for (j = 0; j < *count && !one; j++) {
			if (process[j] == of && is_over(&former[j], &span[i]))
				break;
		}
		if (j == *count)
			process[(*count)++] = of;
		former[j] = span[i];
		place[span[i].number] = j;
	}
	*count = max(*count, 1u);
	map_free(&group);
	free(span);
	free(former);
	*processes = process;
	return place;
}
