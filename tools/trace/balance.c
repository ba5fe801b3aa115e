// SPDX-License-Identifier: GPL-2.0
#include "balance.h"

#include <inttypes.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* @by: 1 or -1 */
static void balance_add(struct balance *b, const struct tracefile_record *record, s64 by)
{
	const struct call *call = record->flags & TRACEFILE_FOREIGN ? NULL : call_of(record->nr);

	/* exit never returns */
	if (record->flags & TRACEFILE_NO_EXIT && !(call && call->effect == DOES_EXIT))
		b->unfinished += by;
	if (record->flags & TRACEFILE_BAD_PATH)
		b->bad_paths += by;
	b->all += by;
	if (record->flags & TRACEFILE_FOREIGN) {
		b->foreign += by;
		if (record->nr < BALANCE_CALLS)
			b->calls32[record->nr] += by;
		return;
	}
	if (!call)
		b->unknown += by;
	if (record->nr < BALANCE_CALLS)
		b->calls[record->nr] += by;
	if (call && call->effect == DOES_URING)
		b->urings += by;
	if ((s64)record->result <= 0)
		return;
	if (record->nr == SYS_io_submit)
		b->aio_submissions += by * record->result;
	else if (record->nr == SYS_io_getevents || record->nr == SYS_io_pgetevents)
		b->aio_completions += by * record->result;
}

void balance_call(struct balance *b, const struct tracefile_record *record)
{
	balance_add(b, record, 1);
}

void balance_lose(struct balance *b, const struct tracefile_record *record)
{
	balance_add(b, record, -1);
	b->lost++;
}

u64 balance_calls(const struct balance *b)
{
	return b->all;
}

static void write_users(struct tracefile_writer *w)
{
	const struct passwd *user = getpwuid(getuid());

	tracefile_text(w, "user.%u=%s", getuid(), user ? user->pw_name : "");
}

static void write_scope(struct tracefile_writer *w, const struct record_options *options)
{
	tracefile_text(w, "scope=%s",
		       options->cgroup	 ? "cgroup"
		       : options->by_uid ? "uid"
		       : options->pids	 ? "pid"
					 : "command");
	if (options->cgroup)
		tracefile_text(w, "scope.cgroup=%s", options->cgroup);
	if (options->by_uid)
		tracefile_text(w, "scope.uid=%u", options->uid);
}

void write_about(struct tracefile_writer *w, const struct record_options *options, u64 now)
{
	struct tracefile_record record = { .type = TRACEFILE_ABOUT, .entry = now, .exit = now };
	struct utsname host;
	struct timespec wall;
	char command[2048] = "";
	size_t used = 0;
	char **word;

	for (word = options->command; word && *word && used < sizeof(command) - 1; word++)
		used += snprintf(command + used, sizeof(command) - used, "%s%s", used ? " " : "",
				 *word);
	uname(&host);
	clock_gettime(CLOCK_REALTIME, &wall);
	tracefile_begin(w, &record);
	tracefile_text(w, "method=%s", method.name);
	tracefile_text(w, "arch=x86_64");
	tracefile_text(w, "host=%s", host.nodename);
	tracefile_text(w, "kernel=%s %s", host.release, host.version);
	tracefile_text(w, "clock=CLOCK_MONOTONIC");
	tracefile_text(w, "clock.start=%" PRIu64, now);
	tracefile_text(w, "realtime.start=%" PRIu64, (u64)wall.tv_sec * 1000000000 + wall.tv_nsec);
	write_scope(w, options);
	tracefile_text(w, "command=%s", command);
	tracefile_text(w, "sync=%s", options->sync ? "yes" : "no");
	tracefile_text(w, "pages=%s", options->pages ? "yes" : "no");
	tracefile_text(w, "cpu=%s", options->cpu ? "yes" : "no");
	tracefile_text(w, "fifo=%s", options->fifo ? "yes" : "no");
	tracefile_text(w, "shared-disk=%s", options->share_disk ? "yes" : "no");
	write_users(w);
	tracefile_end(w);
	tracefile_flush(w);
}

static u64 ns_of_timeval(struct timeval t)
{
	return t.tv_sec * 1000000000ull + t.tv_usec * 1000ull;
}

void write_balance(struct tracefile_writer *w, const struct balance *b, const char *end)
{
	struct tracefile_record record = {
		.type = TRACEFILE_BALANCE, .entry = b->last, .exit = b->last
	};
	struct rusage used;
	u32 nr;

	getrusage(RUSAGE_SELF, &used);
	tracefile_flush(w);
	w->error = 0;
	tracefile_begin(w, &record);
	tracefile_text(w, "end=%s", end);
	for (nr = 0; nr < BALANCE_CALLS; nr++) {
		if (b->calls[nr] && call_of(nr))
			tracefile_text(w, "calls.%s=%" PRIu64, call_of(nr)->name, b->calls[nr]);
		else if (b->calls[nr])
			tracefile_text(w, "unknown.%u=%" PRIu64, nr, b->calls[nr]);
	}
	for (nr = 0; nr < BALANCE_CALLS; nr++) {
		if (b->calls32[nr])
			tracefile_text(w, "foreign.%s=%" PRIu64, call32_name(nr) ?: "unknown",
				       b->calls32[nr]);
	}
	tracefile_text(w, "calls=%" PRIu64, b->all);
	tracefile_text(w, "unknown=%" PRIu64, b->unknown);
	tracefile_text(w, "foreign=%" PRIu64, b->foreign);
	tracefile_text(w, "unfinished=%" PRIu64, b->unfinished);
	tracefile_text(w, "bad-paths=%" PRIu64, b->bad_paths);
	tracefile_text(w, "io-uring-enters=%" PRIu64, b->urings);
	tracefile_text(w, "io-uring-submissions=%" PRIu64, b->submissions);
	tracefile_text(w, "io-uring-completions=%" PRIu64, b->completions);
	tracefile_text(w, "io-uring-polled=%" PRIu64, b->polled);
	tracefile_text(w, "io-uring-unknown-rings=%" PRIu64, b->unknown_rings);
	tracefile_text(w, "io-uring-overwritten=%" PRIu64, b->overwritten);
	tracefile_text(w, "aio-submissions=%" PRIu64, b->aio_submissions);
	tracefile_text(w, "aio-completions=%" PRIu64, b->aio_completions);
	tracefile_text(w, "mapped-pages=%" PRIu64, b->mapped_pages);
	tracefile_text(w, "mapped-pages-unseen=%" PRIu64, b->unseen_pages);
	tracefile_text(w, "layout-unseen=%" PRIu64, b->unseen_layouts);
	tracefile_text(w, "lost=%" PRIu64, b->lost);
	tracefile_text(w, "tasks=%" PRIu64, b->tasks);
	tracefile_text(w, "attached=%" PRIu64, b->attached);
	tracefile_text(w, "untraced=%" PRIu64, b->untraced);
	tracefile_text(w, "late=%" PRIu64, b->late);
	tracefile_text(w, "refused=%" PRIu64, b->refused);
	tracefile_text(w, "switches=%" PRIu64, b->switches);
	tracefile_text(w, "off-ns=%" PRIu64, b->off_ns);
	tracefile_text(w, "skipped=%" PRIu64, b->skipped);
	tracefile_text(w, "segments=%u", w->segment + 1);
	tracefile_text(w, "stops=%" PRIu64, b->stops);
	tracefile_text(w, "elapsed-ns=%" PRIu64, b->last - b->first);
	tracefile_text(w, "tracer.cpu-user-ns=%" PRIu64, ns_of_timeval(used.ru_utime));
	tracefile_text(w, "tracer.cpu-system-ns=%" PRIu64, ns_of_timeval(used.ru_stime));
	/* Of all frames in front of this one. */
	tracefile_text(w, "tracer.raw-bytes=%" PRIu64, w->record_bytes);
	tracefile_text(w, "tracer.stored-bytes=%" PRIu64, w->stored_bytes);
	tracefile_text(w, "tracer.writes=%" PRIu64, w->writes);
	tracefile_end(w);
	tracefile_flush(w);
}
