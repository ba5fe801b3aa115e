// SPDX-License-Identifier: GPL-2.0
#include "source.h"

#include <fcntl.h>
#include <sched.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../calls/calls.h"
#include "../common/vec.h"
#include "texts.h"

/* What no call is like, and what was never seen to end, is not done again. */
#define SUBMITTED " nr IS NOT NULL AND seen IS NOT NULL AND thread > 0"
#define IN_ORDER " ORDER BY seen, uring.rowid"

struct file_row {
	struct tracefile_attr attr;
	s64 first_size;
	bool guessed;
};

struct cwd {
	u32 pid;
	char *path;
	struct cwd *next;
};

struct race { /* @first came before, and was under way with another call */
	u64 first;
	u32 next; /* 1 + the place of another one of the same call; 0: none */
};

struct source {
	sqlite3 *sqlite;
	sqlite3_stmt *events;
	sqlite3_stmt *uring;
	sqlite3_stmt *row; /* of these, the one whose row is next; NULL: none */
	sqlite3_stmt *waker;
	sqlite3_stmt *faults;
	sqlite3_stmt *pages;
	sqlite3_stmt *extras;
	sqlite3_stmt *attrs;
	bool have_event; /* the row of events that stands is not yet given */
	bool have_uring;
	bool have_fault;
	bool have_page;
	bool gave_fault; /* the row of faults that stands */
	bool have_extra;
	bool have_attr;
	struct source_thread *thread;
	u32 threads;
	u32 submissions; /* to io_uring; each has a thread behind these */
	u32 given; /* of them */
	struct map submitted; /* by event: the first that it submitted */
	struct map touched; /* by process and file: the end of what was touched */
	struct map written; /* ... of a shared mapping: may it have been written? */
	u32 *next_submitted;
	u64 *given_event; /* of each thread, its last one */
	u32 *by_end; /* threads, by their ends */
	u32 next_end;
	u32 next_made; /* the first thread of which nobody knows yet that it has begun */
	struct source_ofd *ofd;
	u32 ofds;
	bool knows_start;
	struct file_row *file;
	u32 files;
	struct cwd *cwds;
	u64 *horizon; /* by event */
	u64 event_count;
	u64 elapsed;
	u64 missing;
	char *command;
	char *page_name;
	struct race *race;
	u32 races;
	u64 race_room;
	struct map after; /* by event: 1 + the first race of it */
	struct map first; /* by event: does another one come after it so? */
	struct map undecided; /* by event: has it found its names so in no order? */
	u32 pending; /* whose call it is, after its exec has been given */
	struct map waited; /* by event: the process that waitid() has found to have ended */
	struct map living; /* by tid: the last thread that has begun */
	struct source_item item;
	u64 record[TRACEFILE_RECORD_MAX / 8];
};

static void need(struct source *s, bool ok)
{
	if (!ok)
		die("the trace: %s", sqlite3_errmsg(s->sqlite));
}

static sqlite3_stmt *query(struct source *s, const char *sql)
{
	sqlite3_stmt *statement;

	need(s, sqlite3_prepare_v2(s->sqlite, sql, -1, &statement, NULL) == SQLITE_OK);
	return statement;
}

static bool step(struct source *s, sqlite3_stmt *statement)
{
	int status = sqlite3_step(statement);

	need(s, status == SQLITE_ROW || status == SQLITE_DONE);
	return status == SQLITE_ROW;
}

static bool is_null(sqlite3_stmt *statement, int column)
{
	return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

static u64 number(struct source *s, const char *sql)
{
	sqlite3_stmt *statement = query(s, sql);
	u64 value = step(s, statement) ? sqlite3_column_int64(statement, 0) : 0;

	sqlite3_finalize(statement);
	return value;
}

static bool has_column(struct source *s, const char *table, const char *column)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "SELECT count(*) FROM pragma_table_info('%s') WHERE name = '%s'",
		 table, column);
	return number(s, sql);
}

/* A table of rows whose numbers are 1 to the result. */
static u32 rows_of(struct source *s, const char *sql)
{
	u64 rows = number(s, sql);

	if (rows >= U32_MAX / 64)
		die("the trace has %llu rows of a kind", (unsigned long long)rows);
	return rows;
}

/* One more than @count: numbers begin with 1. */
static void *zeroed(u64 count, size_t size)
{
	return xcalloc(count + 1, size);
}

static void load_threads(struct source *s)
{
	sqlite3_stmt *q;
	u64 id;

	s->threads = rows_of(s, "SELECT max(id) FROM thread");
	s->thread = zeroed(s->threads, sizeof(*s->thread));
	/* Older traces do not say before which call it was made. */
	q = query(s, has_column(s, "thread", "made")
			     ? "SELECT id, tid, process, start, end, made FROM thread WHERE id > 0"
			     : "SELECT id, tid, process, start, end, -1 FROM thread WHERE id > 0");
	while (step(s, q)) {
		struct source_thread *t = &s->thread[sqlite3_column_int(q, 0)];

		t->tid = sqlite3_column_int(q, 1);
		t->process = sqlite3_column_int(q, 2);
		t->start = sqlite3_column_int64(q, 3);
		t->end = is_null(q, 4) ? U64_MAX : sqlite3_column_int64(q, 4);
		t->made = sqlite3_column_int64(q, 5);
		t->first = t->made + 1;
	}
	sqlite3_finalize(q);
	q = query(s, "SELECT thread, max(id), max(start + coalesce(duration, 0)),"
		     " max(CASE WHEN duration IS NOT NULL AND result IS NOT NULL THEN id END),"
		     " min(id) FROM event GROUP BY thread");
	while (step(s, q)) {
		id = sqlite3_column_int64(q, 0);
		if (!id || id > s->threads)
			die("the trace has a call of thread %llu", (unsigned long long)id);
		s->thread[id].last = sqlite3_column_int64(q, 1);
		s->thread[id].end = max_t(u64, s->thread[id].end, sqlite3_column_int64(q, 2));
		s->thread[id].returned = sqlite3_column_int64(q, 3);
		s->thread[id].first =
			min_t(u64, s->thread[id].first ?: U64_MAX, sqlite3_column_int64(q, 4));
	}
	sqlite3_finalize(q);
	q = query(s, "SELECT thread, max(time + duration) FROM fault GROUP BY thread");
	while (step(s, q)) {
		id = sqlite3_column_int64(q, 0);
		if (!id || id > s->threads)
			die("the trace has a touch of thread %llu", (unsigned long long)id);
		s->thread[id].end = max_t(u64, s->thread[id].end, sqlite3_column_int64(q, 1));
	}
	sqlite3_finalize(q);
}

static void join_siblings(struct source *s)
{
	struct map first = {}; /* by process */
	u64 *known;
	u32 i;

	for (i = 1; i <= s->threads; i++) {
		known = map_at(&first, s->thread[i].process);
		s->thread[i].sibling = *known;
		*known = i;
	}
	/* A ring: from each to all. */
	for (i = 1; i <= s->threads; i++) {
		if (!s->thread[i].sibling)
			s->thread[i].sibling = *map_at(&first, s->thread[i].process);
	}
	map_free(&first);
}

static u64 clone_flags(sqlite3_stmt *q)
{
	u64 flags = 0;

	switch (sqlite3_column_int(q, 2)) {
	case SYS_clone:
		return sqlite3_column_int64(q, 3);
	case SYS_vfork:
		return CLONE_VM | CLONE_VFORK;
	case SYS_clone3:
		if (sqlite3_column_bytes(q, 6) >= sizeof(flags))
			memcpy(&flags, sqlite3_column_blob(q, 6), sizeof(flags));
		return flags;
	default:
		return 0;
	}
}

/* Which thread did that call make? */
static u32 made_by(const struct source *s, u32 tid, u64 start)
{
	u32 i;

	for (i = 1; i <= s->threads; i++) {
		if (s->thread[i].tid == tid && s->thread[i].start == start)
			return i;
	}
	return 0;
}

static void load_forks(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT id, thread, nr, a0, result, start,"
				   " (SELECT value FROM extra WHERE event = e.id AND kind = 12)"
				   " FROM event e WHERE nr IN (56, 57, 58, 435) AND result > 0");
	u32 child;

	while (step(s, q)) {
		child = made_by(s, sqlite3_column_int(q, 4), sqlite3_column_int64(q, 5));
		if (!child || child == (u32)sqlite3_column_int(q, 1))
			continue;
		s->thread[child].parent = sqlite3_column_int(q, 1);
		s->thread[child].clone = sqlite3_column_int64(q, 0);
		s->thread[child].first =
			min(s->thread[child].first ?: U64_MAX, s->thread[child].clone);
		s->thread[child].flags = clone_flags(q);
	}
	sqlite3_finalize(q);
}

static void load_waited(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT event, value FROM extra WHERE kind = ?1");
	u32 child;

	sqlite3_bind_int(q, 1, TRACEFILE_CHILD);
	while (step(s, q)) {
		if (sqlite3_column_bytes(q, 1) < sizeof(child))
			continue;
		memcpy(&child, sqlite3_column_blob(q, 1), sizeof(child));
		*map_at(&s->waited, sqlite3_column_int64(q, 0)) = child;
	}
	sqlite3_finalize(q);
}

/* A thread of that process, other than @other. */
static u32 thread_of(const struct source *s, u32 process, u32 other)
{
	u32 i;

	for (i = 1; process && i <= s->threads; i++) {
		if (s->thread[i].process == process && i != other)
			return i;
	}
	return 0;
}

/*
 * Who made it was not seen, as in a trace that was imported: another thread of its process is as
 * good, or one of the process that made its process.
 */
static void adopt_threads(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT id, coalesce(parent, 0), how FROM process");
	u32 i, process;

	while (step(s, q)) {
		process = sqlite3_column_int(q, 0);
		i = thread_of(s, process, 0);
		if (!i || s->thread[i].parent)
			continue;
		s->thread[i].parent = thread_of(s, sqlite3_column_int(q, 1), i);
		if (!strcmp((const char *)sqlite3_column_text(q, 2) ?: "", "vfork"))
			s->thread[i].flags = CLONE_VM | CLONE_VFORK;
	}
	sqlite3_finalize(q);
	for (i = 1; i <= s->threads; i++) {
		if (s->thread[i].parent || thread_of(s, s->thread[i].process, 0) == i)
			continue;
		s->thread[i].parent = thread_of(s, s->thread[i].process, i);
		s->thread[i].flags =
			CLONE_THREAD | CLONE_FILES | CLONE_FS | CLONE_VM | CLONE_SIGHAND;
	}
}

static struct source *sorting;

static int compare_ends(const void *a, const void *b)
{
	u64 one = sorting->thread[*(const u32 *)a].end,
	    other = sorting->thread[*(const u32 *)b].end;

	return one < other ? -1 : one > other;
}

static void sort_ends(struct source *s)
{
	u32 i;

	s->by_end = zeroed(s->threads, sizeof(*s->by_end));
	for (i = 0; i < s->threads; i++)
		s->by_end[i] = i + 1;
	sorting = s;
	qsort(s->by_end, s->threads, sizeof(*s->by_end), compare_ends);
}

static void load_ofds(struct source *s)
{
	sqlite3_stmt *q;

	s->ofds = rows_of(s, "SELECT max(id) FROM ofd");
	s->ofd = zeroed(s->ofds, sizeof(*s->ofd));
	/* Older traces do not say where it stood. */
	q = query(s, has_column(s, "ofd", "found_at")
			     ? "SELECT o.id, text, flags, size_open, event, found_at FROM ofd o"
			       " LEFT JOIN text ON text.id = o.name WHERE o.id > 0"
			     : "SELECT o.id, text, flags, size_open, event, 0 FROM ofd o"
			       " LEFT JOIN text ON text.id = o.name WHERE o.id > 0");
	while (step(s, q)) {
		struct source_ofd *o = &s->ofd[sqlite3_column_int(q, 0)];
		const char *name = (const char *)sqlite3_column_text(q, 1);

		o->name = name ? strdup(name) : NULL;
		o->flags = sqlite3_column_int64(q, 2);
		o->size_open = is_null(q, 3) ? -1 : sqlite3_column_int64(q, 3);
		o->event = sqlite3_column_int64(q, 4);
		o->found_at = sqlite3_column_int64(q, 5);
		o->found = !is_null(q, 5);
		s->knows_start |= o->found;
	}
	sqlite3_finalize(q);
}

static void load_files(struct source *s)
{
	sqlite3_stmt *q;

	s->files = rows_of(s, "SELECT max(id) FROM file");
	s->file = zeroed(s->files, sizeof(*s->file));
	/* Older traces have no such column, and attributes of all files. */
	q = query(s, has_column(s, "file", "guessed")
			     ? "SELECT id, mode, links, first_size, size, guessed FROM file"
			       " WHERE id > 0"
			     : "SELECT id, mode, links, first_size, size, NULL FROM file"
			       " WHERE id > 0");
	while (step(s, q)) {
		u32 id = sqlite3_column_int(q, 0);

		s->file[id].attr = (struct tracefile_attr){
			.dev = SOURCE_DEV,
			.ino = id,
			.mode = sqlite3_column_int(q, 1),
			.nlink = sqlite3_column_int(q, 2),
			.size = is_null(q, 4) ? 0 : sqlite3_column_int64(q, 4),
		};
		s->file[id].first_size = is_null(q, 3) ? -1 : sqlite3_column_int64(q, 3);
		s->file[id].guessed = is_null(q, 3) || !is_null(q, 5);
	}
	sqlite3_finalize(q);
}

static void load_recorded(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT value FROM trace WHERE key = 'command'");

	s->command = strdup(step(s, q) ? (const char *)sqlite3_column_text(q, 0) ?: "" : "");
	sqlite3_finalize(q);
}

static void load_cwds(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT key, value FROM trace WHERE key GLOB 'cwd.*'");

	while (step(s, q)) {
		struct cwd *cwd = xmalloc(sizeof(*cwd));
		const char *path = (const char *)sqlite3_column_text(q, 1);

		cwd->pid = strtoul((const char *)sqlite3_column_text(q, 0) + 4, NULL, 10);
		cwd->path = strdup(path ?: "/");
		cwd->next = s->cwds;
		s->cwds = cwd;
	}
	sqlite3_finalize(q);
}

/*
 * Each submission has a thread of its own: it is done beside the thread that made it, and shares
 * its descriptors.
 */
static void load_submissions(struct source *s)
{
	sqlite3_stmt *q =
		query(s, "SELECT event, thread, start, seen, uring.rowid, CASE WHEN lag(flags) OVER"
			 " same & 12 THEN lag(rowid) OVER same END FROM uring WHERE" SUBMITTED
			 " WINDOW same AS (PARTITION BY event ORDER BY rowid)" IN_ORDER);
	struct map numbers = {}; /* by rowid */
	u64 room = 0, more = 0;
	u64 *first;

	while (step(s, q)) {
		u32 by = sqlite3_column_int(q, 1), n = s->submissions++, number;

		if (by > s->threads)
			die("the trace has a submission of thread %u", by);
		number = s->threads + n + 1;
		s->thread = vec_reserve(s->thread, &room, number + 1ull, sizeof(*s->thread));
		s->next_submitted = vec_reserve(s->next_submitted, &more, n + 1ull,
						sizeof(*s->next_submitted));
		s->thread[number] = s->thread[by];
		s->thread[number].parent = by;
		s->thread[number].start = sqlite3_column_int64(q, 2);
		s->thread[number].end = sqlite3_column_int64(q, 3);
		s->thread[number].first = sqlite3_column_int64(q, 0);
		s->thread[number].last = s->thread[number].first;
		*map_at(&numbers, sqlite3_column_int64(q, 4)) = number;
		if (!is_null(q, 5))
			s->thread[number].after = *map_at(&numbers, sqlite3_column_int64(q, 5));
		first = map_at(&s->submitted, sqlite3_column_int64(q, 0));
		s->next_submitted[n] = *first;
		*first = number;
	}
	map_free(&numbers);
	sqlite3_finalize(q);
}

u32 source_submitted(const struct source *s, u64 event, u32 thread)
{
	if (!s->submissions)
		return 0;
	return thread ? s->next_submitted[thread - s->threads - 1]
		      : *map_at((struct map *)&s->submitted, event);
}

/* A touch that waits may have begun before calls that have returned since. */
static void lower_by_touches(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT id, start + coalesce(duration, 0) FROM event"
				   " WHERE id > 0 ORDER BY id");
	sqlite3_stmt *touch = query(s, "SELECT time, time + duration FROM fault WHERE file > 0"
				       " ORDER BY time + duration");
	bool more = step(s, touch), call = true;
	u64 *horizon;

	while (more) {
		call = call && step(s, q);
		horizon = &s->horizon[call ? sqlite3_column_int64(q, 0) : s->event_count + 1];
		while (more &&
		       (!call || sqlite3_column_int64(touch, 1) <= sqlite3_column_int64(q, 1))) {
			*horizon = min_t(u64, *horizon, sqlite3_column_int64(touch, 0));
			more = step(s, touch);
		}
	}
	sqlite3_finalize(touch);
	sqlite3_finalize(q);
}

/* What is seen at an event may have begun before. */
static void lower_horizon(struct source *s)
{
	sqlite3_stmt *q = query(s, "SELECT id, start + coalesce(duration, 0) FROM event"
				   " WHERE id > 0 ORDER BY id");
	u32 i = s->threads + 1, last = s->threads + s->submissions;

	while (i <= last && step(s, q)) {
		u64 *horizon = &s->horizon[sqlite3_column_int64(q, 0)];

		for (; i <= last && s->thread[i].end <= (u64)sqlite3_column_int64(q, 1); i++)
			*horizon = min(*horizon, s->thread[i].start);
	}
	sqlite3_finalize(q);
}

static void load_horizon(struct source *s)
{
	sqlite3_stmt *q;
	u64 i;

	s->event_count = rows_of(s, "SELECT max(id) FROM event");
	s->horizon = zeroed(s->event_count + 1, sizeof(*s->horizon));
	memset(s->horizon, 0xff, (s->event_count + 2) * sizeof(*s->horizon));
	q = query(s, "SELECT id, start FROM event WHERE id > 0");
	while (step(s, q))
		s->horizon[sqlite3_column_int64(q, 0)] = sqlite3_column_int64(q, 1);
	sqlite3_finalize(q);
	lower_horizon(s);
	lower_by_touches(s);
	for (i = s->event_count; i; i--)
		s->horizon[i] = min(s->horizon[i], s->horizon[i + 1]);
	s->elapsed = number(s, "SELECT max(start + coalesce(duration, 0)) FROM event");
	s->missing = number(s, "SELECT sum(value) FROM balance "
			       "WHERE key IN ('lost', 'unparsed', 'not-taken')");
}

static u64 touched_key(u32 process, u32 file)
{
	return (u64)process << 32 | file;
}

/* Nobody knows which pages of a shared mapping were written, if the tracer was not root's. */
static void load_touched(struct source *s)
{
	sqlite3_stmt *q =
		query(s, "SELECT process, file, max(offset + length), max(shared AND"
			 " coalesce(written, writable)) FROM page WHERE file > 0 GROUP BY 1, 2"
			 " UNION ALL SELECT process, file, max(offset) + 4096, max(shared AND write)"
			 " FROM fault f JOIN thread t ON t.id = f.thread WHERE file > 0"
			 " GROUP BY 1, 2");
	u64 key, *end;

	while (step(s, q)) {
		key = touched_key(sqlite3_column_int(q, 0), sqlite3_column_int(q, 1));
		end = map_at(&s->touched, key);
		*end = max_t(u64, *end, sqlite3_column_int64(q, 2));
		*map_at(&s->written, key) |= sqlite3_column_int(q, 3);
	}
	sqlite3_finalize(q);
}

bool source_knows_start(const struct source *s)
{
	return s->knows_start;
}

bool source_has_touches(const struct source *s)
{
	return s->touched.used;
}

u64 source_touched(const struct source *s, u32 process, u32 file, bool *written)
{
	u64 key = touched_key(process, file);

	if (!s->touched.used)
		return 0;
	*written = *map_at((struct map *)&s->written, key);
	return *map_at((struct map *)&s->touched, key);
}

bool source_page(struct source *s, u64 event, struct source_touch *touch)
{
	sqlite3_stmt *q = s->pages;

	while (s->have_page && (u64)sqlite3_column_int64(q, 0) < event)
		s->have_page = step(s, q);
	if (!s->have_page || (u64)sqlite3_column_int64(q, 0) != event)
		return false;
	free(s->page_name);
	s->page_name = is_null(q, 7) ? NULL : strdup((const char *)sqlite3_column_text(q, 7));
	*touch = (struct source_touch){
		.process = sqlite3_column_int(q, 1),
		.file = sqlite3_column_int(q, 2),
		.offset = sqlite3_column_int64(q, 3),
		.length = sqlite3_column_int64(q, 4),
		.shared = sqlite3_column_int(q, 5),
		.written = sqlite3_column_int(q, 6),
		.name = s->page_name,
	};
	s->have_page = step(s, q);
	return true;
}

/* Traces that were finished by older programs have none. */
static void load_races(struct source *s)
{
	sqlite3_stmt *q;
	u64 *place;

	if (!has_column(s, "race", "first"))
		return;
	q = query(s, "SELECT event FROM race WHERE first IS NULL");
	while (step(s, q))
		*map_at(&s->undecided, sqlite3_column_int64(q, 0)) = 1;
	sqlite3_finalize(q);
	q = query(s, "SELECT event, first FROM race WHERE first IS NOT NULL");
	while (step(s, q)) {
		place = map_at(&s->after, sqlite3_column_int64(q, 0));
		s->race = vec_reserve(s->race, &s->race_room, s->races + 1ull, sizeof(*s->race));
		s->race[s->races++] = (struct race){ sqlite3_column_int64(q, 1), *place };
		*place = s->races;
		*map_at(&s->first, sqlite3_column_int64(q, 1)) = 1;
	}
	sqlite3_finalize(q);
}

u64 source_comes_after(const struct source *s, u64 event, u32 *at)
{
	if (*at)
		*at = s->race[*at - 1].next;
	else if (s->races)
		*at = *map_at((struct map *)&s->after, event);
	return *at ? s->race[*at - 1].first : 0;
}

bool source_comes_first(const struct source *s, u64 event)
{
	return s->races && *map_at((struct map *)&s->first, event);
}

bool source_undecided(const struct source *s, u64 event)
{
	return s->undecided.used && *map_at((struct map *)&s->undecided, event);
}

/* Of what is next in both tables the first to return; what was submitted is seen by a call. */
static void choose_row(struct source *s)
{
	u64 exit = 0;

	s->row = s->have_event ? s->events : NULL;
	if (!s->have_uring)
		return;
	if (s->have_event)
		exit = sqlite3_column_int64(s->events, 3) +
		       max_t(s64, sqlite3_column_int64(s->events, 4), 0);
	if (s->row && exit < source_thread(s, s->threads + s->given + 1)->end)
		return;
	s->row = s->uring;
	s->given++;
}

struct source *source_open(const char *path)
{
	struct source *s = zeroed(1, sizeof(*s));

	need(s, sqlite3_open_v2(path, &s->sqlite, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
	load_threads(s);
	join_siblings(s);
	load_forks(s);
	load_waited(s);
	adopt_threads(s);
	sort_ends(s);
	load_ofds(s);
	load_files(s);
	load_cwds(s);
	load_recorded(s);
	load_submissions(s);
	load_horizon(s);
	load_touched(s);
	load_races(s);
	s->given_event = zeroed(s->threads + s->submissions, sizeof(*s->given_event));
	s->faults = query(s, "SELECT time, duration, thread, p.file, p.offset, write, shared,"
			     " t.process, text FROM (SELECT rowid AS row, * FROM fault"
			     " WHERE file > 0) AS p JOIN thread t ON t.id = thread"
			     " JOIN file f ON f.id = p.file LEFT JOIN text ON text.id = f.name"
			     " ORDER BY time + duration, row");
	/* What msync() names was written by somebody: where nobody knows more, all of it. */
	s->pages = query(s, "SELECT e.id, p.process, p.file, p.offset, p.length, shared,"
			    " coalesce(written, writable AND nr = 26), text FROM page p"
			    " JOIN event e ON e.start = p.time JOIN thread t ON t.id = e.thread"
			    " AND t.process = p.process LEFT JOIN text ON text.id = p.name"
			    " WHERE p.file > 0 ORDER BY e.id, p.rowid");
	s->events =
		query(s, "SELECT e.id, thread, nr, start, duration, result, a0, a1, a2, a3, a4,"
			 " a5, ofd, file, flags, p.text, q.text, offset FROM event e"
			 " LEFT JOIN text p ON p.id = path LEFT JOIN text q ON q.id = path2"
			 " WHERE e.id > 0 ORDER BY e.id");
	s->extras = query(s, "SELECT event, kind, value FROM extra ORDER BY event, rowid");
	s->attrs = query(s, "SELECT event, mode, links, size FROM attr ORDER BY event, rowid");
	s->waker = query(s, "SELECT thread FROM event WHERE id > ?1 AND id <= ?1 + 64 AND nr = ?2"
			    " AND a0 = ?3 AND a1 & 127 IN (1, 10) AND start < ?4 ORDER BY id");
	s->uring = query(s, "SELECT event, thread, nr, start, seen - start, result, a0, a1, a2, a3,"
			    " a4, a5, ofd, file, 0, p.text, q.text, offset FROM uring"
			    " LEFT JOIN text p ON p.id = path LEFT JOIN text q ON q.id = path2"
			    " WHERE" SUBMITTED IN_ORDER);
	s->have_event = step(s, s->events);
	s->have_uring = step(s, s->uring);
	s->have_fault = step(s, s->faults);
	s->have_page = step(s, s->pages);
	choose_row(s);
	s->have_extra = step(s, s->extras);
	s->have_attr = step(s, s->attrs);
	return s;
}

void source_close(struct source *s)
{
	struct cwd *cwd = s->cwds, *next;
	u32 i;

	sqlite3_finalize(s->waker);
	sqlite3_finalize(s->faults);
	sqlite3_finalize(s->pages);
	map_free(&s->touched);
	map_free(&s->written);
	free(s->page_name);
	free(s->given_event);
	map_free(&s->after);
	map_free(&s->first);
	free(s->race);
	map_free(&s->undecided);
	sqlite3_finalize(s->events);
	sqlite3_finalize(s->uring);
	map_free(&s->submitted);
	map_free(&s->living);
	map_free(&s->waited);
	free(s->next_submitted);
	sqlite3_finalize(s->extras);
	sqlite3_finalize(s->attrs);
	sqlite3_close(s->sqlite);
	for (i = 0; i <= s->ofds; i++)
		free((char *)s->ofd[i].name);
	for (; cwd; cwd = next) {
		next = cwd->next;
		free(cwd->path);
		free(cwd);
	}
	free(s->thread);
	free(s->by_end);
	free(s->ofd);
	free(s->file);
	free(s->horizon);
	free(s->command);
	free(s);
}

u32 source_threads(const struct source *s)
{
	return s->threads + s->submissions;
}

const struct source_thread *source_thread(const struct source *s, u32 thread)
{
	return &s->thread[thread];
}

const struct source_ofd *source_ofd(const struct source *s, u32 ofd)
{
	return ofd && ofd <= s->ofds ? &s->ofd[ofd] : NULL;
}

bool source_file(const struct source *s, u32 file, struct tracefile_attr *attr, s64 *first_size)
{
	if (!file || file > s->files)
		return false;
	*attr = s->file[file].attr;
	*first_size = s->file[file].first_size;
	return true;
}

bool source_size_guessed(const struct source *s, u32 file)
{
	return !file || file > s->files || s->file[file].guessed;
}

const char *source_cwd(const struct source *s, u32 pid)
{
	const struct cwd *cwd = s->cwds;

	while (cwd && cwd->pid != pid)
		cwd = cwd->next;
	return cwd ? cwd->path : NULL;
}

u64 source_elapsed(const struct source *s)
{
	return s->elapsed;
}

const char *source_command(const struct source *s)
{
	return s->command;
}

u64 source_missing(const struct source *s)
{
	return s->missing;
}

u64 source_events(const struct source *s)
{
	return s->event_count;
}

u64 source_horizon(const struct source *s)
{
	u64 next = s->item.event + 1;

	if (s->item.submitted || s->item.kind == SOURCE_TOUCH)
		next = s->have_event ? sqlite3_column_int64(s->events, 0) : s->event_count + 1;
	return s->horizon[min(next, s->event_count + 1)];
}

u32 source_waker(struct source *s, u64 address)
{
	u32 process = s->thread[s->item.thread].process, found = 0, thread;

	if (source_horizon(s) >= s->item.exit)
		return 0;
	sqlite3_bind_int64(s->waker, 1, s->item.event);
	sqlite3_bind_int64(s->waker, 2, SYS_futex);
	sqlite3_bind_int64(s->waker, 3, address);
	sqlite3_bind_int64(s->waker, 4, s->item.exit);
	while (!found && step(s, s->waker)) {
		thread = sqlite3_column_int(s->waker, 0);
		if (thread && thread <= s->threads && thread != s->item.thread &&
		    s->thread[thread].process == process)
			found = thread;
	}
	sqlite3_reset(s->waker);
	return found;
}

/* Records. */

static void add_blob(struct source *s, u16 kind, const void *data, u32 length)
{
	struct tracefile_record *r = (struct tracefile_record *)s->record;
	struct tracefile_blob *blob = (struct tracefile_blob *)((u8 *)s->record + r->length);

	if (length > TRACEFILE_BLOB_MAX || r->length + length + 16 > sizeof(s->record))
		return;
	*blob = (struct tracefile_blob){ kind, length };
	if (length)
		memcpy(blob + 1, data, length);
	r->length += sizeof(*blob) + ((length + 3) & ~3u);
}

static void add_text(struct source *s, u16 kind, int column)
{
	if (!is_null(s->row, column))
		add_blob(s, kind, sqlite3_column_text(s->row, column),
			 sqlite3_column_bytes(s->row, column));
}

/* What the tables attr and extra have of this call. */
static void add_others(struct source *s, u64 event, struct tracefile_attr *attr)
{
	while (s->have_attr && (u64)sqlite3_column_int64(s->attrs, 0) <= event) {
		if ((u64)sqlite3_column_int64(s->attrs, 0) == event && attr) {
			attr->mode = sqlite3_column_int(s->attrs, 1);
			attr->nlink = sqlite3_column_int(s->attrs, 2);
			attr->size = sqlite3_column_int64(s->attrs, 3);
		}
		s->have_attr = step(s, s->attrs);
	}
	while (s->have_extra && (u64)sqlite3_column_int64(s->extras, 0) <= event) {
		if ((u64)sqlite3_column_int64(s->extras, 0) == event)
			add_blob(s, sqlite3_column_int(s->extras, 1),
				 sqlite3_column_blob(s->extras, 2),
				 sqlite3_column_bytes(s->extras, 2));
		s->have_extra = step(s, s->extras);
	}
}

/* Is the file of the row that of the attributes that the record had? */
static bool row_has_attr(const struct call *call)
{
	switch (call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
	case DOES_SOCKET:
	case DOES_LOOK ... DOES_STATX:
	case DOES_TRUNCATE:
	case DOES_RENAME ... DOES_MKNOD:
	case DOES_EXEC:
		return true;
	default:
		return false;
	}
}

static void make_record(struct source *s)
{
	struct tracefile_record *r = (struct tracefile_record *)s->record;
	sqlite3_stmt *q = s->row;
	const struct call *call;
	struct tracefile_attr attr;
	bool known;
	s64 first;
	u32 i;

	*r = (struct tracefile_record){
		.length = sizeof(*r),
		.type = TRACEFILE_CALL,
		.flags = sqlite3_column_int(q, 14),
		.tid = s->thread[s->item.thread].tid,
		.nr = sqlite3_column_int64(q, 2),
		.entry = s->item.entry,
		.exit = s->item.exit,
		.result = sqlite3_column_int64(q, 5),
	};
	for (i = 0; i < 6; i++)
		r->args[i] = sqlite3_column_int64(q, 6 + i);
	add_text(s, TRACEFILE_PATH, 15);
	add_text(s, TRACEFILE_PATH2, 16);
	call = r->flags & TRACEFILE_FOREIGN ? NULL : call_of(r->nr);
	known = call && row_has_attr(call) && source_file(s, s->item.file, &attr, &first);
	add_others(s, s->item.event, known ? &attr : NULL);
	if (known)
		add_blob(s,
			 call->effect == DOES_UNLINK || call->effect == DOES_RMDIR
				 ? TRACEFILE_ATTR_BEFORE
				 : TRACEFILE_ATTR,
			 &attr, sizeof(attr));
	r->length = (r->length + 7) & ~7u;
	s->item.record = r;
}

void source_hide_names(struct source *s)
{
	struct tracefile_record *r = (struct tracefile_record *)s->record;
	u32 at = sizeof(*r);

	while (at + sizeof(struct tracefile_blob) <= r->length) {
		struct tracefile_blob *blob = (struct tracefile_blob *)((u8 *)s->record + at);

		if (blob->kind == TRACEFILE_PATH || blob->kind == TRACEFILE_PATH2)
			blob->kind = 0;
		at += sizeof(*blob) + ((blob->length + 3) & ~3u);
	}
}

static const struct source_item *fork_item(struct source *s, u32 thread)
{
	struct source_thread *t = &s->thread[thread];
	u32 steps;

	/* First who made it. */
	for (steps = 0; t->parent && !s->thread[t->parent].born && steps < s->threads; steps++) {
		thread = t->parent;
		t = &s->thread[thread];
	}
	t->born = true;
	/* A submission is done for a thread, and does not end. */
	if (thread <= s->threads)
		*map_at(&s->living, t->tid) = thread;
	s->item.kind = SOURCE_FORK;
	s->item.thread = t->parent;
	s->item.other = thread;
	s->item.flags = t->flags;
	s->item.record = NULL;
	return &s->item;
}

static bool makes_thread(struct source *s, u64 event, u32 *thread)
{
	u32 nr = sqlite3_column_int64(s->row, 2), i;

	if (nr != SYS_clone && nr != SYS_fork && nr != SYS_vfork && nr != SYS_clone3)
		return false;
	for (i = 1; i <= s->threads; i++) {
		if (s->thread[i].clone == event && !s->thread[i].born) {
			*thread = i;
			return true;
		}
	}
	return false;
}

/* A thread that was made before the call: others may have had its descriptors since. 0: none. */
static u32 next_made(struct source *s, u64 event)
{
	while (s->next_made < s->threads && s->thread[s->next_made + 1].born)
		s->next_made++;
	return s->next_made < s->threads && s->thread[s->next_made + 1].made < event ?
		       s->next_made + 1 :
		       0;
}

/* A thread that is gone when the call at @time ends, and has not been said to be. */
static u32 next_gone(struct source *s, u64 time, u64 event)
{
	u32 i, thread;

	for (i = s->next_end; i < s->threads; i++) {
		thread = s->by_end[i];
		if (s->thread[thread].end >= time)
			return 0;
		if (s->thread[thread].gone || s->thread[thread].last >= event ||
		    !s->thread[thread].born)
			continue;
		s->thread[thread].gone = true;
		while (s->next_end < s->threads && s->thread[s->by_end[s->next_end]].gone)
			s->next_end++;
		return thread;
	}
	return 0;
}

s64 source_waited_for(const struct source *s, u32 nr, const u64 *args, s64 result)
{
	u64 child = *map_at((struct map *)&s->waited, s->item.event);

	if (nr == SYS_wait4)
		return result;
	if (nr == SYS_waitid && !result && child)
		return child;
	return nr == SYS_waitid && !result && args[0] == P_PID && args[3] & WEXITED &&
			       !(args[3] & WNOHANG) ?
		       (s32)args[1] :
		       0;
}

/*
 * Whom the call has waited for is gone, and so are its threads, though that was seen later. What
 * they have begun since has never returned. 0: none, or all have been said to be.
 */
static u32 waited_for(struct source *s, u64 event)
{
	u32 leader, thread, gone = 0, i;
	u64 args[4];
	s64 child;

	if (is_null(s->row, 5))
		return 0;
	for (i = 0; i < ARRAY_SIZE(args); i++)
		args[i] = sqlite3_column_int64(s->row, 6 + i);
	child = source_waited_for(s, sqlite3_column_int64(s->row, 2), args,
				  sqlite3_column_int64(s->row, 5));
	if (child <= 0)
		return 0;
	leader = *map_at(&s->living, child);
	if (!leader || s->thread[leader].parent == 0)
		return 0;
	thread = leader;
	do {
		const struct source_thread *t = &s->thread[thread];

		if (t->born && t->returned >= event)
			return 0; /* it was only stopped */
		if (t->born && !t->gone)
			gone = thread;
		thread = t->sibling;
	} while (thread != leader);
	return gone;
}

static bool executes(struct source *s)
{
	u32 nr = sqlite3_column_int64(s->row, 2);

	return (nr == SYS_execve || nr == SYS_execveat) && !is_null(s->row, 5) &&
	       !sqlite3_column_int64(s->row, 5);
}

static void next_row(struct source *s)
{
	if (s->row == s->events)
		s->have_event = step(s, s->events);
	else if (s->row)
		s->have_uring = step(s, s->uring);
	choose_row(s);
}

/* Is a touch the next to end? What came while a call was under way is before it. */
static bool touch_is_next(const struct source *s)
{
	sqlite3_stmt *q = s->row;

	if (!s->have_fault)
		return false;
	return !q || sqlite3_column_int64(s->faults, 0) + sqlite3_column_int64(s->faults, 1) <=
			     sqlite3_column_int64(q, 3) + max_t(s64, sqlite3_column_int64(q, 4), 0);
}

static const struct source_item *touch_item(struct source *s)
{
	sqlite3_stmt *q = s->faults;
	u64 next = s->have_event ? sqlite3_column_int64(s->events, 0) : s->event_count + 1;
	u32 thread = sqlite3_column_int(q, 2), gone;

	s->item.entry = sqlite3_column_int64(q, 0);
	s->item.exit = s->item.entry + sqlite3_column_int64(q, 1);
	gone = next_gone(s, s->item.exit, next);
	if (gone) {
		s->item.kind = SOURCE_EXIT;
		s->item.thread = gone;
		return &s->item;
	}
	if (!s->thread[thread].born)
		return fork_item(s, thread);
	s->gave_fault = true;
	s->item.kind = SOURCE_TOUCH;
	s->item.thread = thread;
	s->item.event = s->given_event[thread];
	s->item.finished = true;
	s->item.submitted = false;
	s->item.touch = (struct source_touch){
		.process = sqlite3_column_int(q, 7),
		.file = sqlite3_column_int(q, 3),
		.offset = sqlite3_column_int64(q, 4),
		.length = 4096,
		.shared = sqlite3_column_int(q, 6),
		.written = sqlite3_column_int(q, 5),
		.name = (const char *)sqlite3_column_text(q, 8),
	};
	return &s->item;
}

const struct source_item *source_next(struct source *s)
{
	u32 thread;

	if (s->item.record) {
		s->item.record = NULL;
		next_row(s);
	}
	if (s->gave_fault) {
		s->gave_fault = false;
		s->have_fault = step(s, s->faults);
	}
	if (touch_is_next(s))
		return touch_item(s);
	if (!s->row) {
		s->item.kind = SOURCE_END;
		return &s->item;
	}
	s->item.event = sqlite3_column_int64(s->row, 0);
	s->item.thread = sqlite3_column_int(s->row, 1);
	s->item.submitted = s->row == s->uring;
	if (s->item.submitted)
		s->item.thread = s->threads + s->given;
	s->item.entry = sqlite3_column_int64(s->row, 3);
	s->item.finished = !is_null(s->row, 4) && !is_null(s->row, 5);
	s->item.exit = s->item.entry + max_t(s64, sqlite3_column_int64(s->row, 4), 0);
	thread = next_gone(s, s->item.exit, s->item.event);
	if (thread) {
		s->item.kind = SOURCE_EXIT;
		s->item.thread = thread;
		return &s->item;
	}
	thread = next_made(s, s->item.submitted ? 0 : s->item.event);
	if (thread)
		return fork_item(s, thread);
	if (!s->thread[s->item.thread].born)
		return fork_item(s, s->item.thread);
	thread = s->item.submitted ? 0 : waited_for(s, s->item.event);
	if (thread) {
		s->thread[thread].gone = true;
		s->item.kind = SOURCE_EXIT;
		s->item.thread = thread;
		return &s->item;
	}
	if (!s->item.submitted && makes_thread(s, s->item.event, &thread))
		return fork_item(s, thread);
	if (executes(s) && s->pending != s->item.event) {
		s->pending = s->item.event;
		s->item.kind = SOURCE_EXEC;
		return &s->item;
	}
	s->item.kind = SOURCE_CALL;
	s->given_event[s->item.thread] = s->item.event;
	s->item.file = sqlite3_column_int(s->row, 13);
	s->item.ofd = sqlite3_column_int(s->row, 12);
	s->item.offset = sqlite3_column_int64(s->row, 17);
	make_record(s);
	return &s->item;
}
