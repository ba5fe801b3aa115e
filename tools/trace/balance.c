// SPDX-License-Identifier: GPL-2.0
#include "balance.h"

#include <inttypes.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

void balance_call(struct balance *b, const struct raw_record *record)
{
	const struct call *call = record->flags & RAW_FOREIGN ? NULL : call_of(record->nr);

	/* exit never returns */
	if (record->flags & RAW_NO_EXIT && !(call && call->effect == DOES_EXIT))
		b->unfinished++;
	if (record->flags & RAW_BAD_PATH)
		b->bad_paths++;
	b->all++;
	if (record->flags & RAW_FOREIGN) {
		b->foreign++;
		return;
	}
	if (!call)
		b->unknown++;
	if (record->nr < BALANCE_CALLS)
		b->calls[record->nr]++;
	if (call && call->effect == DOES_URING)
		b->urings++;
	if ((s64)record->result <= 0)
		return;
	if (record->nr == SYS_io_submit)
		b->aio_submissions += record->result;
	else if (record->nr == SYS_io_getevents || record->nr == SYS_io_pgetevents)
		b->aio_completions += record->result;
}

u64 balance_calls(const struct balance *b)
{
	return b->all;
}

static void write_users(struct raw_writer *w)
{
	const struct passwd *user = getpwuid(getuid());

	raw_text(w, "user.%u=%s", getuid(), user ? user->pw_name : "");
}

static void write_scope(struct raw_writer *w, const struct record_options *options)
{
	raw_text(w, "scope=%s",
		 options->cgroup   ? "cgroup"
		 : options->by_uid ? "uid"
		 : options->pids   ? "pid"
				   : "command");
	if (options->cgroup)
		raw_text(w, "scope.cgroup=%s", options->cgroup);
	if (options->by_uid)
		raw_text(w, "scope.uid=%u", options->uid);
}

void write_about(struct raw_writer *w, const struct record_options *options, u64 now)
{
	struct raw_record record = { .type = RAW_ABOUT, .entry = now, .exit = now };
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
	raw_begin(w, &record);
	raw_text(w, "method=%s", method.name);
	raw_text(w, "arch=x86_64");
	raw_text(w, "host=%s", host.nodename);
	raw_text(w, "kernel=%s %s", host.release, host.version);
	raw_text(w, "clock=CLOCK_MONOTONIC");
	raw_text(w, "clock.start=%" PRIu64, now);
	raw_text(w, "realtime.start=%" PRIu64, (u64)wall.tv_sec * 1000000000 + wall.tv_nsec);
	write_scope(w, options);
	raw_text(w, "command=%s", command);
	raw_text(w, "sync=%s", options->sync ? "yes" : "no");
	raw_text(w, "pages=%s", options->pages ? "yes" : "no");
	raw_text(w, "cpu=%s", options->cpu ? "yes" : "no");
	raw_text(w, "fifo=%s", options->fifo ? "yes" : "no");
	raw_text(w, "shared-disk=%s", options->share_disk ? "yes" : "no");
	write_users(w);
	raw_end(w);
	raw_flush(w);
}

static u64 ns_of_timeval(struct timeval t)
{
	return t.tv_sec * 1000000000ull + t.tv_usec * 1000ull;
}

void write_balance(struct raw_writer *w, const struct balance *b, const char *end)
{
	struct raw_record record = { .type = RAW_BALANCE, .entry = b->last, .exit = b->last };
	struct rusage used;
	u32 nr;

	getrusage(RUSAGE_SELF, &used);
	raw_begin(w, &record);
	raw_text(w, "end=%s", end);
	for (nr = 0; nr < BALANCE_CALLS; nr++) {
		if (b->calls[nr] && call_of(nr))
			raw_text(w, "calls.%s=%" PRIu64, call_of(nr)->name, b->calls[nr]);
		else if (b->calls[nr])
			raw_text(w, "unknown.%u=%" PRIu64, nr, b->calls[nr]);
	}
	raw_text(w, "calls=%" PRIu64, b->all);
	raw_text(w, "unknown=%" PRIu64, b->unknown);
	raw_text(w, "foreign=%" PRIu64, b->foreign);
	raw_text(w, "unfinished=%" PRIu64, b->unfinished);
	raw_text(w, "bad-paths=%" PRIu64, b->bad_paths);
	raw_text(w, "io-uring-enters=%" PRIu64, b->urings);
	raw_text(w, "io-uring-submissions=%" PRIu64, b->submissions);
	raw_text(w, "io-uring-completions=%" PRIu64, b->completions);
	raw_text(w, "io-uring-polled=%" PRIu64, b->polled);
	raw_text(w, "io-uring-unknown-rings=%" PRIu64, b->unknown_rings);
	raw_text(w, "io-uring-overwritten=%" PRIu64, b->overwritten);
	raw_text(w, "aio-submissions=%" PRIu64, b->aio_submissions);
	raw_text(w, "aio-completions=%" PRIu64, b->aio_completions);
	raw_text(w, "mapped-pages=%" PRIu64, b->mapped_pages);
	raw_text(w, "mapped-pages-unseen=%" PRIu64, b->unseen_pages);
	raw_text(w, "layout-unseen=%" PRIu64, b->unseen_layouts);
	raw_text(w, "lost=%" PRIu64, b->lost);
	raw_text(w, "tasks=%" PRIu64, b->tasks);
	raw_text(w, "attached=%" PRIu64, b->attached);
	raw_text(w, "untraced=%" PRIu64, b->untraced);
	raw_text(w, "late=%" PRIu64, b->late);
	raw_text(w, "refused=%" PRIu64, b->refused);
	raw_text(w, "switches=%" PRIu64, b->switches);
	raw_text(w, "off-ns=%" PRIu64, b->off_ns);
	raw_text(w, "skipped=%" PRIu64, b->skipped);
	raw_text(w, "segments=%u", w->segment + 1);
	raw_text(w, "stops=%" PRIu64, b->stops);
	raw_text(w, "elapsed-ns=%" PRIu64, b->last - b->first);
	raw_text(w, "tracer.cpu-user-ns=%" PRIu64, ns_of_timeval(used.ru_utime));
	raw_text(w, "tracer.cpu-system-ns=%" PRIu64, ns_of_timeval(used.ru_stime));
	/* Of all frames in front of this one. */
	raw_text(w, "tracer.raw-bytes=%" PRIu64, w->raw_bytes);
	raw_text(w, "tracer.stored-bytes=%" PRIu64, w->stored_bytes);
	raw_text(w, "tracer.writes=%" PRIu64, w->writes);
	raw_end(w);
	raw_flush(w);
}
