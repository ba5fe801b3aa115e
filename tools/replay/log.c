// SPDX-License-Identifier: GPL-2.0
#include "log.h"

#define RATES 500
#define INTERVAL_NS 10000000

struct span { /* the beginning or end of a call */
	u64 time;
	s32 step;
};

static int log_compare(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	if (one->time != other->time)
		return one->time < other->time ? -1 : 1;
	return one->step - other->step; /* ends first */
}

/* The integral of (calls under way - 1) where that is positive, by the time from first to last. */
static double overlap_of(struct span *span, u64 spans)
{
	u64 i, sum = 0;
	s64 under_way = 0;

	if (!spans)
		return 0;
	qsort(span, spans, sizeof(*span), log_compare);
	for (i = 0; i < spans; i++) {
		if (i && under_way > 1)
			sum += (under_way - 1) * (span[i].time - span[i - 1].time);
		under_way += span[i].step;
	}
	if (span[spans - 1].time == span[0].time)
		return 0;
	return (double)sum / (span[spans - 1].time - span[0].time);
}

static void add_span(struct span *span, u64 *spans, u64 from, u64 to)
{
	span[(*spans)++] = (struct span){ from, 1 };
	span[(*spans)++] = (struct span){ to, -1 };
}

static u64 end_of(const struct workload *w, const struct log_entry *log)
{
	u64 i, end = 0;

	for (i = 0; i < w->commands; i++)
		end = max(end, log[i].exit);
	return end;
}

static bool start_rates(struct log_figures *f, u64 end)
{
	f->interval = max_t(u64, end / RATES + 1, INTERVAL_NS);
	f->rates = end / f->interval + 1;
	f->rate = calloc(f->rates, sizeof(*f->rate));
	return f->rate;
}

static void add_rate(struct log_figures *f, const struct log_entry *e)
{
	struct log_rate *rate = &f->rate[min_t(u64, e->planned / f->interval, f->rates - 1)];

	rate->calls++;
	rate->error += e->entry > e->planned ? e->entry - e->planned : e->planned - e->entry;
}

bool log_judge(const struct workload *w, const struct log_entry *log, struct log_figures *f)
{
	const struct log_entry **first = malloc((w->threads + 1) * sizeof(*first)), *at = log;
	struct span *span = malloc((2 * w->commands + 1) * sizeof(*span));
	struct span *before = malloc((2 * w->commands + 1) * sizeof(*before));
	u64 spans = 0, befores = 0;
	u32 thread, i, j, other, count;

	*f = (struct log_figures){};
	if (!first || !span || !before || !start_rates(f, end_of(w, log))) {
		free(first);
		free(span);
		free(before);
		return false;
	}
	for (thread = 0; thread < w->threads; thread++) {
		first[thread] = at;
		at += le32_to_cpu(w->thread[thread].commands);
	}
	for (thread = 0; thread < w->threads; thread++) {
		struct wl_cursor cursor = wl_commands(w, thread);
		struct wl_command c;

		for (i = 0; i < le32_to_cpu(w->thread[thread].commands); i++) {
			const struct log_entry *e = &first[thread][i];
			const u8 *dep;

			wl_next(&cursor, &c);
			dep = c.dep;
			for (j = 0; j < c.deps; j++) {
				wl_dep(&dep, w->data + w->size, &other, &count);
				if (!count || first[other][count - 1].exit <= e->entry)
					continue;
				if (!f->violations++)
					f->first = c.event;
			}
			if (!wl_is_call(c.op) || c.flags & WL_MADE_UP)
				continue;
			if (i >= le32_to_cpu(w->thread[thread].before))
				add_rate(f, e);
			add_span(span, &spans, e->entry, e->exit);
			add_span(before, &befores, c.start, c.start + c.duration);
		}
	}
	f->overlap = overlap_of(span, spans);
	f->original = overlap_of(before, befores);
	free(first);
	free(span);
	free(before);
	return true;
}
