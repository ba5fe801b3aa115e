// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <sys/utsname.h>

/* A string of JSON. @bytes: it may be no text, and what is not ASCII is a number, too. */
static void write_text(FILE *to, const char *text, bool bytes)
{
	fputc('"', to);
	for (; *text; text++) {
		if ((u8)*text < 0x20 || *text == '"' || *text == '\\' ||
		    (bytes && (u8)*text >= 0x7f))
			fprintf(to, "\\u%04x", (u8)*text);
		else
			fputc(*text, to);
	}
	fputc('"', to);
}

static void write_spread(FILE *to, const char *name, const struct spread *s)
{
	fprintf(to,
		"\"%s\": {\"n\": %" PRIu64 ", \"mean\": %.3f, \"sd\": %.3f, \"min\": %" PRIu64
		", \"p50\": %" PRIu64 ", \"p99\": %" PRIu64 ", \"p99.9\": %" PRIu64
		", \"max\": %" PRIu64 "}",
		name, s->n, s->n ? (double)s->sum / s->n : 0, spread_deviation(s), s->least,
		spread_quantile(s, 500), spread_quantile(s, 990), spread_quantile(s, 999),
		s->most);
}

static void write_calls(FILE *to, const struct counted *c)
{
	const char *between = "";
	u32 op;

	fputs("  \"calls\": {", to);
	for (op = 0; op < WL_OPS; op++) {
		if (!c->call[op])
			continue;
		fprintf(to, "%s\n    \"%s\": {", between, wl_ops[op].name);
		write_spread(to, "replay", c->call[op]);
		fputs(", ", to);
		write_spread(to, "original", c->original[op]);
		fputc('}', to);
		between = ",";
	}
	fputs("\n  },\n", to);
}

static void write_differences(FILE *to, const struct replay_result *r)
{
	u32 i;

	fputs("  \"differences\": [", to);
	for (i = 0; i < r->differences; i++) {
		const struct difference *d = &r->difference[i];

		fprintf(to,
			"%s\n    {\"record\": %u, \"call\": \"%s\", \"expected\": %" PRId64
			", \"got\": %" PRId64 "}",
			i ? "," : "", d->event, wl_ops[d->op].name, d->expected, d->got);
	}
	fputs("\n  ],\n", to);
}

static void write_about(FILE *to, const struct workload *w, const struct report_about *about)
{
	const struct wl_header *header = (const struct wl_header *)w->data;
	struct utsname name = {};
	char order[sizeof(header->order) + 1] = "";

	uname(&name);
	memcpy(order, header->order, sizeof(header->order));
	fputs("  \"workload\": ", to);
	write_text(to, about->workload, false);
	fputs(",\n  \"program\": ", to);
	write_text(to, w->text + le64_to_cpu(header->command), true);
	fputs(",\n  \"target\": ", to);
	write_text(to, about->target, false);
	fputs(",\n  \"order\": ", to);
	write_text(to, order, false);
	fputs(",\n  \"timing\": ", to);
	write_text(to, about->timing, false);
	fprintf(to, ",\n  \"scale\": %g,\n  \"kernel\": ", about->scale);
	write_text(to, name.release, false);
	fprintf(to, ",\n  \"threads\": %u,\n  \"processes\": %u,\n", w->threads,
		about->processes ? w->processes : 1);
}

/* How much of the trace it can be about. */
static void write_trace(FILE *to, const struct wl_header *h, const struct replay_result *r)
{
	const char *between = "";
	u32 i;

	fprintf(to, "  \"trace-calls\": %" PRIu64 ",\n  \"trace-same\": %" PRIu64
		",\n  \"not-in-workload\": {",
		(u64)le64_to_cpu(h->calls), r->same);
	for (i = 0; i < WL_REASONS; i++) {
		if (!le64_to_cpu(h->without[i]))
			continue;
		fprintf(to, "%s\"%s\": %" PRIu64, between, wl_reasons[i],
			(u64)le64_to_cpu(h->without[i]));
		between = ", ";
	}
	fputs("},\n", to);
}

/*
 * The most memory that was used, kB. getrusage() is no help: its figure begins with that of the
 * program that has started this one.
 */
static u64 memory_kb(void)
{
	FILE *from = fopen("/proc/self/status", "r");
	unsigned long long kb = 0;
	char line[256];

	while (from && fgets(line, sizeof(line), from)) {
		if (sscanf(line, "VmHWM: %llu", &kb) == 1)
			break;
	}
	if (from)
		fclose(from);
	return kb;
}

static void write_rates(FILE *to, const struct log_figures *f)
{
	u32 i;

	fprintf(to, "  \"rate-interval\": %" PRIu64 ",\n  \"rates\": [", f->interval);
	for (i = 0; i < f->rates; i++)
		fprintf(to, "%s[%" PRIu64 ", %" PRIu64 "]", i ? ", " : "", f->rate[i].calls,
			f->rate[i].error);
	fputs("],\n", to);
}

/* The thread's @count-th command. */
static u32 event_of(const struct workload *w, u32 thread, u32 count)
{
	struct wl_cursor cursor = wl_commands(w, thread);
	struct wl_command c = {};
	u32 i;

	for (i = 0; i < count && wl_next(&cursor, &c); i++)
		;
	return c.event;
}

static const char *waited_for(const struct wait *wait)
{
	switch (wait->kind) {
	case WAIT_START:
		return "all threads";
	case WAIT_CHANGED:
		return "the other side of a FIFO";
	default:
		return wait->op == WL_FILL ? "room in a pipe that nobody reads"
					   : "what nobody writes to a pipe, or its end";
	}
}

static void write_wait(FILE *to, const struct workload *w, const struct wait *wait)
{
	fprintf(to, "{\"record\": %u, \"call\": \"%s\", ", wait->event, wl_ops[wait->op].name);
	if (wait->kind == WAIT_REACHED)
		fprintf(to, "\"for-record\": %u}", event_of(w, wait->thread, wait->value));
	else
		fprintf(to, "\"for\": \"%s\"}", waited_for(wait));
}

static void write_shortages(FILE *to, const struct workload *w, const struct counted *c)
{
	const char *between = "";
	struct rlimit limit = {};
	u32 i;

	getrlimit(RLIMIT_NOFILE, &limit);
	fprintf(to, "  \"descriptors\": %u,\n  \"descriptors-limit\": %" PRIu64
		",\n  \"shortages\": {", w->slots, (u64)limit.rlim_cur);
	for (i = 0; i < SHORTAGES; i++) {
		if (!c->shortage[i])
			continue;
		fprintf(to, "%s\"%s\": %" PRIu64, between, shortage_names[i], c->shortage[i]);
		between = ", ";
	}
	fputs("},\n", to);
}

/* When nothing could go on, and when no thread went on though one could. */
static void write_waits(FILE *to, const struct workload *w, const struct waiting *waiting)
{
	u32 i;

	fprintf(to, "  \"stalls\": %" PRIu64 ",\n  \"stalled\": [", waiting->stalls);
	for (i = 0; i < waiting->stalled_count; i++) {
		fputs(i ? ", " : "", to);
		write_wait(to, w, &waiting->stalled[i]);
	}
	fputs("],\n", to);
	if (waiting->timed)
		fprintf(to, "  \"idle\": %" PRIu64 ",\n  \"idle-times\": %" PRIu64 ",\n",
			waiting->idle_ns, waiting->idle_times);
}

static u64 ns_of(struct timeval t)
{
	return (u64)t.tv_sec * 1000000000 + (u64)t.tv_usec * 1000;
}

void report_write(FILE *to, const struct workload *w, const struct replay_result *r,
		  const struct report_about *about)
{
	const struct wl_header *header = (const struct wl_header *)w->data;
	struct rusage used = {}, ended = {}; /* of its processes */
	u32 i;

	getrusage(RUSAGE_SELF, &used);
	getrusage(RUSAGE_CHILDREN, &ended);
	fputs("{\n", to);
	write_about(to, w, about);
	fprintf(to,
		"  \"elapsed\": %" PRIu64 ",\n  \"original-elapsed\": %" PRIu64
		",\n  \"bytes-read\": %" PRIu64 ",\n  \"bytes-written\": %" PRIu64
		",\n  \"bytes-touched\": %" PRIu64
		",\n  \"made\": %" PRIu64 ",\n  \"compared\": %" PRIu64 ",\n  \"late\": %" PRIu64
		",\n  \"stopped\": %s,\n",
		r->elapsed, (u64)le64_to_cpu(header->elapsed), r->counted.read, r->counted.written,
		r->counted.touched, r->made, r->compared, r->counted.late,
		r->stopped ? "true" : "false");
	write_trace(to, header, r);
	write_waits(to, w, about->waiting);
	for (i = 0; i < OUTCOMES; i++)
		fprintf(to, "  \"%s\": %" PRIu64 ",\n", outcome_names[i], r->counted.outcome[i]);
	write_shortages(to, w, &r->counted);
	if (about->judged)
		fprintf(to,
			"  \"order-violations\": %" PRIu64 ",\n  \"first-violation\": %u,\n"
			"  \"overlap\": %.6f,\n  \"original-overlap\": %.6f,\n",
			about->figures.violations, about->figures.first, about->figures.overlap,
			about->figures.original);
	if (about->judged)
		write_rates(to, &about->figures);
	fprintf(to,
		"  \"user-ns\": %" PRIu64 ",\n  \"system-ns\": %" PRIu64
		",\n  \"memory-kb\": %" PRIu64 ",\n",
		ns_of(used.ru_utime) + ns_of(ended.ru_utime),
		ns_of(used.ru_stime) + ns_of(ended.ru_stime),
		memory_kb());
	fputs("  ", to);
	write_spread(to, "issue-error", &r->counted.issue);
	fputs(",\n  ", to);
	write_spread(to, "waits", &r->counted.wait);
	fputs(",\n", to);
	write_calls(to, &r->counted);
	write_differences(to, r);
	fputs("  \"end\": true\n}\n", to);
}
