// SPDX-License-Identifier: GPL-2.0
/*
 * From a trace file to a SQLite file: one pass, record by record. effects.h says what each call
 * did; what it was about goes into the row of the call. What has ended gets its row when it ends.
 * Here are the pass, what the trace says of itself, and when nothing was recorded; finish.h names
 * the other parts.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "../common/alloc.h"
#include "../common/vec.h"
#include "finish.h"
#include "trace.h"

/* What happened meanwhile is not known. */
static void write_gap(struct finisher *f, const char *why, u64 start, u64 calls)
{
	struct db *db = &f->db;

	db_str(db, DB_GAP, why, -1);
	db_int(db, DB_GAP, finish_since(f, start));
	db_int(db, DB_GAP, finish_since(f, f->world.time));
	db_opt(db, DB_GAP, calls, 0);
	db_row(db, DB_GAP);
}

static void take_switch(struct finisher *f, const struct tracefile_record *r)
{
	if (r->args[0] && f->off_since)
		write_gap(f, "off", f->off_since, 0);
	f->off_since = r->args[0] ? 0 : r->entry;
}

static void take_segment(struct finisher *f, const struct tracefile_record *r)
{
	if (!f->calls && r->args[0]) {
		f->dropped = r->args[0];
		write_gap(f, "dropped", f->start, f->dropped);
	}
	if (f->dropped + f->calls != r->args[0])
		f->torn_ring = true;
	if (!r->args[1] && !f->off_since)
		f->off_since = r->entry;
}

static void take_texts(struct finisher *f, const struct tracefile_record *r, enum db_table table)
{
	const char *data, *equals;
	u32 at = 0, length;
	u16 kind;

	while (tracefile_each(r, &at, &kind, &data, &length)) {
		equals = memchr(data, '=', length);
		if (kind != TRACEFILE_TEXT || !equals)
			continue;
		db_str(&f->db, table, data, equals - data);
		db_str(&f->db, table, equals + 1, data + length - equals - 1);
		db_row(&f->db, table);
	}
}

/* The number that a record has as KEY=NUMBER; 0: none. */
static u64 number_by_key(const struct tracefile_record *r, const char *key)
{
	u32 at = 0, length, end = strlen(key);
	const char *data;
	u16 kind;

	while (tracefile_each(r, &at, &kind, &data, &length)) {
		if (kind == TRACEFILE_TEXT && length > end && !memcmp(data, key, end) &&
		    data[end] == '=')
			return strtoull(data + end + 1, NULL, 10);
	}
	return 0;
}

static void take_balance(struct finisher *f, const struct tracefile_record *r)
{
	take_texts(f, r, DB_BALANCE);
	f->counted = number_by_key(r, "calls");
	f->lost = number_by_key(r, "lost");
	f->balanced = true;
}

static void finish_record(struct finisher *f, const struct tracefile_record *r)
{
	struct world *w = &f->world;

	/* An import's first record has no time. */
	f->records++;
	if (!f->start)
		f->start = r->entry;
	w->time = r->exit;
	if (f->again && r->type != TRACEFILE_FD) {
		world_settle(w, f->again);
		f->again = NULL;
	}
	if (f->looked && (r->type != TRACEFILE_FD || !(r->flags & TRACEFILE_LOOKED)))
		finish_looked(f);
	if (r->flags & TRACEFILE_LOOKED && (r->type == TRACEFILE_TASK || r->type == TRACEFILE_FD)) {
		finish_look(f, r);
		return;
	}
	switch (r->type) {
	case TRACEFILE_ABOUT:
		if (!f->about)
			take_texts(f, r, DB_TRACE);
		f->about = true;
		break;
	case TRACEFILE_SQE:
		finish_sqe(f, r);
		break;
	case TRACEFILE_CQE:
		finish_cqe(f, r);
		break;
	case TRACEFILE_PAGES:
		finish_pages(f, r);
		break;
	case TRACEFILE_FAULT:
		finish_fault(f, r);
		break;
	case TRACEFILE_WAITED:
		finish_waited(f, r);
		break;
	case TRACEFILE_SWITCH:
		take_switch(f, r);
		break;
	case TRACEFILE_SEGMENT:
		take_segment(f, r);
		break;
	case TRACEFILE_CALL:
		finish_call(f, r);
		if (!(r->flags & (TRACEFILE_FOREIGN | TRACEFILE_NO_EXIT)))
			finish_aio(f, r);
		break;
	case TRACEFILE_FORK:
		world_fork(w, world_thread(w, r->tid), r->nr, r->args[0]);
		break;
	case TRACEFILE_EXEC:
		world_exec(w, r->tid, r->nr);
		break;
	case TRACEFILE_EXIT:
		world_exit(w, world_thread(w, r->tid), r->result, r->args[0]);
		break;
	case TRACEFILE_TASK:
		finish_task(f, r);
		break;
	case TRACEFILE_FD:
		finish_fd(f, r);
		break;
	case TRACEFILE_BALANCE:
		take_balance(f, r);
		break;
	}
}

static void say_texts(struct finisher *f, const char *key, const char *value)
{
	db_str(&f->db, DB_TRACE, key, -1);
	db_str(&f->db, DB_TRACE, value, -1);
	db_row(&f->db, DB_TRACE);
}

static void say_number(struct finisher *f, const char *key, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	say_texts(f, key, text);
}

#define LOST "calls were lost: the tracer was not as fast as they came, or had no room for them"

/* What is wrong with a trace that was read; NULL: nothing. */
static const char *judge(const struct finisher *f, const struct tracefile_reader *reader,
			 enum tracefile_status status)
{
	if (status != TRACEFILE_END)
		return reader->problem;
	if (!f->balanced)
		return "it ends without a balance: the tracer was stopped";
	if (f->torn_ring)
		return "calls are missing between the files of a ring";
	if (f->counted != f->calls + f->dropped)
		return "its balance counts other calls than it has";
	return NULL;
}

/* The table of calls, as the trace's reader needs it. */
static void write_syscalls(struct finisher *f)
{
	unsigned int nr;

	for (nr = 0; nr < calls_end; nr++) {
		const struct call *call = call_of(nr);

		if (!call)
			continue;
		db_int(&f->db, DB_SYSCALL, nr);
		db_str(&f->db, DB_SYSCALL, call->name, -1);
		db_int(&f->db, DB_SYSCALL, call->class);
		db_str(&f->db, DB_SYSCALL, call->args, -1);
		db_str(&f->db, DB_SYSCALL, call->does, -1);
		db_row(&f->db, DB_SYSCALL);
	}
}

/* Of no class, and nothing is done by them. */
static void write_syscalls32(struct finisher *f)
{
	u32 nr;

	for (nr = 0; nr < CALLS32_END; nr++) {
		if (!call32_name(nr))
			continue;
		db_int(&f->db, DB_SYSCALL, CALL_I386 + nr);
		db_str(&f->db, DB_SYSCALL, call32_name(nr), -1);
		db_null(&f->db, DB_SYSCALL);
		db_str(&f->db, DB_SYSCALL, "", -1);
		db_null(&f->db, DB_SYSCALL);
		db_row(&f->db, DB_SYSCALL);
	}
}

/*
 * Records in the order in which calls came before each other: those of the file, but that calls
 * which were under way are taken earlier.
 */
struct ordered {
	struct tracefile_reader reader;
	enum tracefile_status status;
	const struct races *races; /* NULL: the order of the file */
	struct tracefile_record **waiting; /* in front of what the reader has next */
	u32 from; /* the first of these that has not been given */
	u32 count;
	u64 room;
	u64 calls; /* that the reader has given */
	u64 event; /* the call whose turn it is, in the file; 0: none */
	u32 ahead; /* which of those that come before it */
	struct tracefile_record *given;
	u64 *number; /* by a call's place in the file: that which it has got */
	u64 number_room;
	u64 numbers;
};

static bool is_call(const struct tracefile_record *r)
{
	return r->type == TRACEFILE_CALL;
}

/* One more of the file stands in line. */
static bool read_on(struct ordered *o)
{
	const struct tracefile_record *record;

	o->status = tracefile_next(&o->reader, &record);
	if (o->status != TRACEFILE_OK)
		return false;
	if (o->from == o->count) {
		o->from = 0;
		o->count = 0;
	}
	o->waiting = vec_reserve(o->waiting, &o->room, o->count + 1ull, sizeof(*o->waiting));
	o->waiting[o->count] = memcpy(xmalloc(record->length), record, record->length);
	o->calls += is_call(record);
	o->count++;
	return true;
}

/* The call of that number, which stands behind the first in line. */
static struct tracefile_record *take_early(struct ordered *o, u64 event)
{
	u64 number = o->event;
	struct tracefile_record *found;
	u32 i;

	for (i = o->from + 1; i < o->count || read_on(o); i++) {
		number += o->waiting[i] && is_call(o->waiting[i]);
		if (!o->waiting[i]) /* a call that has been taken */
			number++;
		if (number != event)
			continue;
		found = o->waiting[i];
		o->waiting[i] = NULL;
		return found;
	}
	die("there is no call %" PRIu64, event);
}

static void note_number(struct ordered *o, u64 event)
{
	o->number = vec_reserve(o->number, &o->number_room, event + 1, sizeof(*o->number));
	o->number[event] = ++o->numbers;
}

static const struct tracefile_record *next_in_order(struct ordered *o)
{
	struct tracefile_record *record;
	u64 event;

	free(o->given);
	o->given = NULL;
	for (;;) {
		if (o->from == o->count && !read_on(o))
			return NULL;
		record = o->waiting[o->from];
		if (record && !is_call(record))
			break;
		if (!o->ahead)
			o->event++;
		if (!record) {
			o->from++;
			continue;
		}
		event = races_ahead(o->races, o->event, &o->ahead);
		if (!event) {
			o->ahead = 0;
			note_number(o, o->event);
			break;
		}
		note_number(o, event);
		o->given = take_early(o, event);
		return o->given;
	}
	o->from++;
	o->given = record;
	return record;
}

static const struct tracefile_record *next_record(struct ordered *o)
{
	const struct tracefile_record *record;

	if (o->races)
		return next_in_order(o);
	o->status = tracefile_next(&o->reader, &record);
	return o->status == TRACEFILE_OK ? record : NULL;
}

static void free_ordered(struct ordered *o)
{
	for (; o->from < o->count; o->from++)
		free(o->waiting[o->from]);
	free(o->given);
	free(o->waiting);
	free(o->number);
	tracefile_reader_free(&o->reader);
}

/* Which calls were found to come after others that were under way with them. */
static void write_races(struct finisher *f, const struct races *races, const u64 *number)
{
	struct db *db = &f->db;
	u32 i;

	for (i = 0; i < races->count; i++) {
		db_int(db, DB_RACE, number[races->race[i].event]);
		db_opt(db, DB_RACE, races->race[i].first ? number[races->race[i].first] : 0, 0);
		db_row(db, DB_RACE);
	}
}

static void write_rest(struct finisher *f, const char *problem)
{
	if (f->looked)
		finish_looked(f);
	if (f->off_since)
		write_gap(f, "off", f->off_since, 0);
	finish_pending(f);
	finish_world(f);
	write_syscalls(f);
	write_syscalls32(f);
	say_number(f, "start", f->start);
	say_number(f, "events", f->calls);
	say_number(f, "dropped", f->dropped);
	if (f->looks) {
		say_number(f, "looks", f->looks);
		say_number(f, "looks.descriptors", f->compared);
		say_number(f, "looks.different", f->differences);
	}
	if (!problem && f->dropped)
		problem = "the first calls were dropped: their file was used again";
	say_texts(f, "whole", problem ? "no" : "yes");
	say_texts(f, "problem", problem ?: "");
}

/* By the names and files of its calls, as a trace has them that was finished already. */
static void find_races(struct races *races, const char *database, struct overlaps *overlaps)
{
	sqlite3 *sqlite;

	if (sqlite3_open_v2(database, &sqlite, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
	    !races_find(races, sqlite, overlaps))
		die("%s: %s", database, sqlite3_errmsg(sqlite));
	sqlite3_close(sqlite);
}

static int input = -1; /* the standard input, to be read more than once */

/* What comes by a pipe is kept in a file without a name. */
static void keep_input(const char *database)
{
	static char buffer[1 << 16];
	char path[PATH_MAX];
	ssize_t got = 0, put = 0;
	int to;

	if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) {
		input = dup(STDIN_FILENO);
		return;
	}
	snprintf(path, sizeof(path), "%s.input", database);
	to = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (to < 0 || unlink(path))
		die("%s: %s", path, strerror(errno));
	while ((got = read(STDIN_FILENO, buffer, sizeof(buffer))) > 0) {
		put = write(to, buffer, got);
		if (put != got)
			break;
	}
	if (got < 0 || put < got)
		die("%s: %s", path, put >= 0 && put < got ? "no room" : strerror(errno));
	input = to;
}

/* True: calls overlapped whose order matters. @overlaps is for finding that. */
static bool finish_once(const char *file, const char *database, const struct races *races,
			struct overlaps *overlaps, const char **problem, const char **lost)
{
	struct finisher f = {};
	struct ordered o = { .races = races };
	const struct tracefile_record *record;
	static char said[256];

	if (!strcmp(file, "-") &&
	    (dup2(input, STDIN_FILENO) < 0 || lseek(STDIN_FILENO, 0, SEEK_SET) < 0))
		die("the input: %s", strerror(errno));
	tracefile_reader_open(&o.reader, file);
	db_open(&f.db, database);
	world_init(&f.world);
	finish_hook(&f);
	while ((record = next_record(&o)))
		finish_record(&f, record);
	*problem = judge(&f, &o.reader, o.status);
	if (*problem) {
		snprintf(said, sizeof(said), "%s", *problem);
		*problem = said;
	}
	*lost = !*problem && f.lost ? LOST : NULL;
	write_rest(&f, *problem ?: *lost);
	finish_contested(&f);
	if (races)
		write_races(&f, races, o.number);
	db_close(&f.db);
	free_ordered(&o);
	finish_free(&f);
	*overlaps = f.overlaps;
	return f.overlapped;
}

int finish(const char *file, const char *database)
{
	const char *problem, *lost;
	struct overlaps overlaps, again;
	struct races races;

	if (!access(database, F_OK))
		die("%s is there already", database);
	if (!strcmp(file, "-"))
		keep_input(database);
	if (finish_once(file, database, NULL, &overlaps, &problem, &lost)) {
		find_races(&races, database, &overlaps);
		if (races.count) {
			if (unlink(database))
				die("%s: %s", database, strerror(errno));
			finish_once(file, database, &races, &again, &problem, &lost);
			overlaps_free(&again);
		}
		races_free(&races);
	}
	overlaps_free(&overlaps);
	if (problem || lost)
		fprintf(stderr, "david-trace: %s: %s\n", file, problem ?: lost);
	/* How many may be lost is not said here: the database has the balance. */
	return problem ? STATUS_BAD : STATUS_OK;
}
