// SPDX-License-Identifier: GPL-2.0
#include "pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture.h"

#define PAGE 4096u
#define PRESENT 0x8000000000000000ull
#define AT_ONCE 4096 /* pages */
#define RUNS_MAX (RAW_BLOB_MAX / sizeof(struct raw_run) - 1)

struct mapping {
	u64 from;
	u64 to;
	u64 offset; /* in the file */
	u64 ino;
	bool shared;
	bool written; /* may be */
	char path[PATH_MAX];
};

struct runs {
	struct raw_run run[RUNS_MAX];
	u32 count;
	u64 pages;
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
	m->written = flags[1] == 'w';
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

static void add_page(struct runs *runs, u64 page)
{
	struct raw_run *last = runs->count ? &runs->run[runs->count - 1] : NULL;

	if (last && last->first + last->count == page)
		last->count++;
	else if (runs->count < RUNS_MAX)
		runs->run[runs->count++] = (struct raw_run){ page, 1 };
	else
		return;
	runs->pages++;
}

static void find_runs(int pagemap, const struct mapping *m, struct runs *runs)
{
	u64 entries[AT_ONCE], at = m->from;

	runs->count = 0;
	runs->pages = 0;
	while (at < m->to) {
		u64 i, count = min_t(u64, AT_ONCE, (m->to - at) / PAGE);
		ssize_t got = pread(pagemap, entries, count * sizeof(*entries),
				    at / PAGE * sizeof(*entries));

		if (got <= 0)
			return;
		for (i = 0; i < got / sizeof(*entries); i++) {
			if (entries[i] & PRESENT)
				add_page(runs, (m->offset + at - m->from) / PAGE + i);
		}
		at += i * PAGE;
	}
}

static void write_pages(struct tracer *t, const struct task *task, const struct mapping *m,
			const struct runs *runs)
{
	struct raw_record record = {
		.type = RAW_PAGES,
		.tid = task->tid,
		.entry = t->balance.last,
		.exit = t->balance.last,
		.args = { m->from, m->to - m->from, m->offset, runs->pages, m->shared,
			  m->written },
	};
	char path[PATH_MAX + 64];
	struct raw_attr attr;

	raw_begin(&t->writer, &record);
	raw_add(&t->writer, RAW_PATH, m->path, strlen(m->path) + 1);
	snprintf(path, sizeof(path), "/proc/%d/root%s", task->tid, m->path);
	if (capture_attr(path, &attr) && attr.ino == m->ino)
		raw_add(&t->writer, RAW_ATTR, &attr, sizeof(attr));
	raw_add(&t->writer, RAW_RUNS, runs->run, runs->count * sizeof(*runs->run));
	raw_end(&t->writer);
	t->balance.mapped_pages += runs->pages;
}

/* Of the mappings between two addresses. */
static void look(struct tracer *t, const struct task *task, u64 from, u64 to)
{
	static struct runs runs;
	char path[64], line[PATH_MAX + 128];
	struct mapping m;
	int pagemap;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/pagemap", task->tid);
	pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", task->tid);
	maps = fopen(path, "r");
	while (pagemap >= 0 && maps && fgets(line, sizeof(line), maps)) {
		if (!parse(line, &m) || m.to <= from || m.from >= to)
			continue;
		clip(&m, from, to);
		find_runs(pagemap, &m, &runs);
		if (runs.count)
			write_pages(t, task, &m, &runs);
	}
	if (maps)
		fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
}

void pages_entry(struct tracer *t, const struct task *task)
{
	const u64 *args = task->call.args;

	switch (task->call.nr) {
	case SYS_munmap:
	case SYS_msync:
		look(t, task, args[0], args[0] + ((args[1] + PAGE - 1) & ~(u64)(PAGE - 1)));
		break;
	case SYS_execve:
	case SYS_execveat:
	case SYS_exit_group:
		look(t, task, 0, U64_MAX);
		break;
	}
}

static void end_one(struct task *task, void *arg)
{
	if (task->tid == task->tgid)
		look(arg, task, 0, U64_MAX);
}

void pages_end(struct tracer *t)
{
	tasks_each(&t->tasks, end_one, t);
}
