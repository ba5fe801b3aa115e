// SPDX-License-Identifier: GPL-2.0
#include "pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../capture.h"

#define PAGE 4096u
#define PRESENT 0x8000000000000000ull
#define OF_FILE 0x2000000000000000ull /* or of shared memory; else a private copy */
#define FRAME 0x7fffffffffffffull /* the page's number in memory: 0 without rights */
#define DIRTY 0x10ull /* in /proc/kpageflags */
#define AT_ONCE 4096 /* pages */
#define RUNS_MAX (TRACEFILE_BLOB_MAX / sizeof(struct tracefile_run) - 1)

struct mapping {
	u64 from;
	u64 to;
	u64 offset; /* in the file */
	u64 ino;
	bool shared;
	bool writable;
	char path[PATH_MAX];
};

struct runs { /* of pages of which as much is known */
	struct tracefile_run run[RUNS_MAX];
	u32 count;
	u64 pages;
	u64 what; /* enum tracefile_pages */
};

struct look { /* at the mappings of a task */
	struct tracer *t;
	const struct task *task;
	u64 time;
	int pagemap;
	int flags; /* /proc/kpageflags; -1: without rights */
};

/* A line of /proc/PID/maps; false: no file's. */
static bool parse(const char *line, struct mapping *m)
{
	char flags[5];
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &m->from,
		   &m->to, flags, &m->offset, &m->ino, &path) < 5 ||
	    !path || line[path] != '/')
		return false;
	m->shared = flags[3] == 's';
	m->writable = flags[1] == 'w';
	snprintf(m->path, sizeof(m->path), "%.*s", (int)strcspn(line + path, "\n"), line + path);
	return true;
}

static void clip(struct mapping *m, u64 from, u64 to)
{
	if (m->from < from) {
		m->offset += from - m->from;
		m->from = from;
	}
	if (m->to > to)
		m->to = to;
}

static void write_runs(const struct look *l, const struct mapping *m, struct runs *runs)
{
	struct tracefile_record record = {
		.type = TRACEFILE_PAGES,
		.tid = l->task->tid,
		.entry = l->time,
		.exit = l->time,
		.args = { m->from, m->to - m->from, m->offset, runs->pages, m->shared,
			  runs->what | (m->writable ? TRACEFILE_PAGES_WRITABLE : 0) },
	};
	struct tracefile_writer *w = &l->t->writer;
	char path[PATH_MAX + 64];
	struct tracefile_attr attr;

	if (!runs->count)
		return;
	tracefile_begin(w, &record);
	tracefile_add(w, TRACEFILE_PATH, m->path, strlen(m->path) + 1);
	snprintf(path, sizeof(path), "/proc/%d/root%s", l->task->tid, m->path);
	if (capture_attr(path, &attr) && attr.ino == m->ino)
		tracefile_add(w, TRACEFILE_ATTR, &attr, sizeof(attr));
	tracefile_add(w, TRACEFILE_RUNS, runs->run, runs->count * sizeof(*runs->run));
	tracefile_end(w);
	l->t->balance.mapped_pages += runs->pages;
	runs->count = 0;
	runs->pages = 0;
}

static void add_page(const struct look *l, const struct mapping *m, struct runs *runs, u64 page)
{
	struct tracefile_run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

	runs->pages++;
	if (last && last->first + last->count == page) {
		last->count++;
		return;
	}
	if (runs->count == RUNS_MAX) {
		runs->pages--;
		write_runs(l, m, runs);
		runs->pages++;
	}
	runs->run[runs->count++] = (struct tracefile_run){ page, 1 };
}

/*
 * Was the page written? A private mapping has a copy of its own then. A shared one's page is dirty,
 * until it is written to the disk; that only root can see.
 */
static u64 what_of(const struct look *l, const struct mapping *m, u64 entry)
{
	u64 flags;

	if (!m->writable)
		return TRACEFILE_PAGES_KNOWN;
	if (!m->shared)
		return TRACEFILE_PAGES_KNOWN | (entry & OF_FILE ? 0 : TRACEFILE_PAGES_WRITTEN);
	if (!(entry & FRAME) || l->flags < 0 ||
	    pread(l->flags, &flags, sizeof(flags), (entry & FRAME) * sizeof(flags)) !=
		    sizeof(flags))
		return 0;
	return TRACEFILE_PAGES_KNOWN | (flags & DIRTY ? TRACEFILE_PAGES_WRITTEN : 0);
}

static void find_runs(const struct look *l, const struct mapping *m)
{
	static struct runs all[TRACEFILE_PAGES_WRITTEN * 2]; /* by what is known of their pages */
	u64 entries[AT_ONCE], at = m->from, i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		all[i].what = i;
	while (at < m->to) {
		u64 count = min_t(u64, AT_ONCE, (m->to - at) / PAGE);
		ssize_t got = pread(l->pagemap, entries, count * sizeof(*entries),
				    at / PAGE * sizeof(*entries));

		if (got <= 0)
			break;
		for (i = 0; i < got / sizeof(*entries); i++) {
			if (entries[i] & PRESENT)
				add_page(l, m, &all[what_of(l, m, entries[i])],
					 (m->offset + at - m->from) / PAGE + i);
		}
		at += i * PAGE;
	}
	for (i = 0; i < ARRAY_SIZE(all); i++)
		write_runs(l, m, &all[i]);
}

/* Of the mappings between two addresses. */
static void pages_look(struct tracer *t, const struct task *task, u64 time, u64 from, u64 to)
{
	char path[64], line[PATH_MAX + 128];
	struct look l = { .t = t, .task = task, .time = time };
	struct mapping m;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", task->tid);
	l.pagemap = open(path, O_RDONLY | O_CLOEXEC);
	l.flags = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", task->tid);
	maps = fopen(path, "r");
	while (l.pagemap >= 0 && maps && fgets(line, sizeof(line), maps)) {
		if (!parse(line, &m) || m.to <= from || m.from >= to)
			continue;
		clip(&m, from, to);
		find_runs(&l, &m);
	}
	if (maps)
		fclose(maps);
	if (l.pagemap >= 0)
		close(l.pagemap);
	if (l.flags >= 0)
		close(l.flags);
}

void pages_entry(struct tracer *t, const struct task *task)
{
	const u64 *args = task->call.args;

	switch (task->call.nr) {
	case SYS_munmap:
	case SYS_msync:
		pages_look(t, task, task->entry, args[0],
			   args[0] + ((args[1] + PAGE - 1) & ~(u64)(PAGE - 1)));
		break;
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit_group:
		pages_look(t, task, task->entry, 0, U64_MAX);
		break;
	}
}

static void pages_end_task(struct task *task, void *arg)
{
	struct tracer *t = arg;

	if (task->tid == task->tgid)
		pages_look(t, task, t->balance.last, 0, U64_MAX);
}

void pages_end(struct tracer *t)
{
	tasks_each(&t->tasks, pages_end_task, t);
}
