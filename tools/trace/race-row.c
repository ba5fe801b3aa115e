// SPDX-License-Identifier: GPL-2.0
#include "race-row.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../calls/tracefile.h"

#define TRANSFER_MAX 0x7ffff000 /* of one call: MAX_RW_COUNT */

/* ?1: with calls that have no names, about files */
static const char rows_sql[] =
	"SELECT e.id, start, duration, result, nr, e.flags, p.text, q.text, o.flags, f.ino,"
	" a0, a1, a2, a3, a4, a5, r.text, s.text, e.ofd, o.event, o.found_at, e.file, f.mode,"
	" e.offset FROM event e"
	" LEFT JOIN text p ON p.id = e.name LEFT JOIN text q ON q.id = e.name2"
	" LEFT JOIN text r ON r.id = e.path LEFT JOIN text s ON s.id = e.path2"
	" LEFT JOIN ofd o ON o.id = e.ofd LEFT JOIN file f ON f.id = e.file"
	" WHERE e.id > 0 AND duration IS NOT NULL AND result IS NOT NULL"
	" AND (p.id IS NOT NULL OR q.id IS NOT NULL OR nr IN (78, 217) OR (?1 AND e.file > 0))"
	" ORDER BY e.id";

static const char attrs_sql[] = "SELECT event, size FROM attr ORDER BY event, rowid";

bool rows_open(struct rows *rows, sqlite3 *sqlite, struct overlaps *overlaps)
{
	*rows = (struct rows){ .overlaps = overlaps };
	if (sqlite3_prepare_v2(sqlite, rows_sql, -1, &rows->calls, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(sqlite, attrs_sql, -1, &rows->attrs, NULL) != SQLITE_OK)
		return false;
	sqlite3_bind_int(rows->calls, 1, overlaps->contested.used > 0);
	rows->have_attr = true;
	return true;
}

bool rows_close(struct rows *rows)
{
	bool good = sqlite3_finalize(rows->calls) == SQLITE_OK;

	return sqlite3_finalize(rows->attrs) == SQLITE_OK && good;
}

/* The size that the call shows; -1: none. */
static s64 size_shown(struct rows *rows, u64 event)
{
	while (rows->have_attr && (u64)sqlite3_column_int64(rows->attrs, 0) < event)
		rows->have_attr = sqlite3_step(rows->attrs) == SQLITE_ROW;
	return rows->have_attr && (u64)sqlite3_column_int64(rows->attrs, 0) == event ?
		       sqlite3_column_int64(rows->attrs, 1) :
		       -1;
}

static s64 number_at(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, column);
}

bool rows_next(struct rows *rows, struct seen *s)
{
	sqlite3_stmt *q = rows->calls;
	u32 flags;
	int at;

	if (sqlite3_step(q) != SQLITE_ROW)
		return false;
	flags = sqlite3_column_int(q, 5);
	*s = (struct seen){
		.event = sqlite3_column_int64(q, 0),
		.start = sqlite3_column_int64(q, 1),
		.result = sqlite3_column_int64(q, 3),
		.nr = sqlite3_column_int64(q, 4),
		.name = (const char *)sqlite3_column_text(q, 6),
		.name2 = (const char *)sqlite3_column_text(q, 7),
		.flags = sqlite3_column_int64(q, 8),
		.ino = sqlite3_column_int64(q, 9),
		.nothing = flags & TRACEFILE_SAME_FILE,
		.said = (const char *)sqlite3_column_text(q, 16),
		.said2 = (const char *)sqlite3_column_text(q, 17),
		.ofd = sqlite3_column_int64(q, 18),
		.opened = number_at(q, 19) == sqlite3_column_int64(q, 0),
		.found_at = number_at(q, 20),
		.file = sqlite3_column_int64(q, 21),
		.mode = sqlite3_column_int64(q, 22),
		.offset = number_at(q, 23),
		.size = -1,
	};
	s->end = s->start + sqlite3_column_int64(q, 2);
	for (at = 0; at < 6; at++)
		s->args[at] = sqlite3_column_int64(q, 10 + at);
	s->call = flags & TRACEFILE_FOREIGN ? NULL : call_of(s->nr);
	if (!s->call)
		return true;
	at = call_arg(s->call, 'o');
	if (!s->opened && at >= 0 && at <= 2)
		s->flags = s->args[at];
	s->exchange = s->nr == SYS_renameat2 && s->args[4] & RENAME_EXCHANGE_FLAG;
	if (!s->result && call_arg(s->call, 's') >= 0)
		s->size = size_shown(rows, s->event);
	return true;
}

bool seen_is_open(const struct seen *s)
{
	return s->call->effect == DOES_OPEN || s->call->effect == DOES_CREAT ||
	       s->call->effect == DOES_OPENAT2;
}

bool seen_creates(const struct seen *s)
{
	return s->opened && s->flags & O_CREAT && (s->flags & O_TMPFILE) != O_TMPFILE;
}

bool seen_removes_directory(const struct seen *s)
{
	return call_removes_directory(s->call, s->nr, s->args);
}

/* Of @count notes in the order of calls, from *@at on, the one of the call; NULL: there is none. */
static const void *note_of(const void *notes, size_t size, u64 count, u64 *at, u64 event)
{
	const u64 *note = NULL; /* each begins with its event */

	for (; *at < count; ++*at) {
		note = notes + *at * size;
		if (*note >= event)
			break;
	}
	return *at < count && *note == event ? note : NULL;
}

const struct base *rows_base(struct rows *rows, u64 event)
{
	const struct overlaps *o = rows->overlaps;

	return note_of(o->base, sizeof(*o->base), o->bases, &rows->base, event);
}

u64 rows_after(struct rows *rows, u64 event)
{
	const struct overlaps *o = rows->overlaps;
	const struct reused *reused =
		note_of(o->reused, sizeof(*o->reused), o->reuses, &rows->reused, event);

	return reused ? reused->after : 0;
}

static const struct copied *copied_from(struct rows *rows, u64 event)
{
	const struct overlaps *o = rows->overlaps;

	return note_of(o->copied, sizeof(*o->copied), o->copies, &rows->copied, event);
}

/* Parts. */

static s64 asked_for(u64 bytes)
{
	return min_t(u64, bytes, TRANSFER_MAX);
}

/* A vector's length is not in the row. */
static void reads(const struct seen *s, struct part *p)
{
	bool placed = s->call->effect == DOES_PREAD;

	p->kind = PART_READ;
	p->moves = !placed || (s->nr == SYS_preadv2 && s->args[3] == U64_MAX);
	p->at = s->args[3];
	p->bytes = s->result;
	p->asked = s->nr == SYS_read || s->nr == SYS_pread64 ? asked_for(s->args[2]) : BYTES_ANY;
}

static void writes(const struct seen *s, struct part *p)
{
	p->kind = call_appends(s->nr, s->args, s->flags) ? PART_APPEND : PART_WRITE;
	p->bytes = s->result;
	switch (s->call->effect) {
	case DOES_PWRITE:
		p->moves = s->nr == SYS_pwritev2 && s->args[3] == U64_MAX;
		p->at = s->args[3];
		break;
	case DOES_COPY:
	case DOES_SPLICE:
		p->moves = !s->args[3];
		p->at = s->offset;
		break;
	default:
		p->moves = true;
		break;
	}
}

/* Returns how many parts there are. */
static u32 seeks(const struct seen *s, struct part *p)
{
	p[1] = p[0];
	p[1].kind = PART_PLACE;
	p[1].at = s->result;
	switch (s->args[2]) {
	case SEEK_SET:
		p[0] = p[1];
		return 1;
	case SEEK_CUR:
		p[0] = p[1];
		p[0].finds = true;
		p[0].bytes = s->args[1];
		return 1;
	case SEEK_END:
		p[0].kind = PART_ENDS;
		p[0].bytes = (u64)s->result - s->args[1];
		return 2;
	default: /* SEEK_DATA, SEEK_HOLE */
		p[0].kind = PART_READ;
		p[0].bytes = s->args[2] == SEEK_DATA;
		p[0].at = s->result;
		p[0].asked = 0;
		return 2;
	}
}

static u32 opens(const struct seen *s, struct part *p)
{
	bool truncates = s->flags & O_TRUNC, creates = seen_creates(s);

	if (!s->opened || (!truncates && !creates))
		return 0;
	p->kind = truncates || s->flags & O_EXCL ? PART_SET : PART_MADE;
	return 1;
}

static u32 allocates(const struct seen *s, struct part *p)
{
	if (s->args[1] & FALLOC_FL_KEEP_SIZE)
		return 0;
	p->kind = s->args[1] & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE) ? PART_CHANGE :
										      PART_WRITE;
	p->at = s->args[2];
	p->bytes = s->args[3];
	return 1;
}

/* About the file of the row. */
static u32 own_parts(const struct seen *s, struct part *p)
{
	switch (s->call->effect) {
	case DOES_READ:
	case DOES_PREAD:
		reads(s, p);
		return 1;
	case DOES_WRITE:
	case DOES_PWRITE:
	case DOES_SENDFILE:
	case DOES_COPY:
	case DOES_SPLICE:
		writes(s, p);
		return 1;
	case DOES_SEEK:
		return seeks(s, p);
	case DOES_TRUNCATE:
	case DOES_FTRUNCATE:
		p->kind = PART_SET;
		p->bytes = s->args[1];
		return 1;
	case DOES_FALLOCATE:
		return allocates(s, p);
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		return opens(s, p);
	default:
		p->kind = PART_IS;
		p->bytes = s->size;
		return s->size >= 0;
	}
}

/* A file is copied to another one up to its end; into a pipe, as far as there is room. */
static s64 asked_to_copy(const struct seen *s)
{
	if (s->call->effect == DOES_COPY)
		return asked_for(s->args[4]);
	return s->call->effect == DOES_SENDFILE && S_ISREG(s->mode) ? asked_for(s->args[3]) :
								      BYTES_ANY;
}

/* 2 + the size that the file had first; 1: that is not known; 0: it is not contested. */
static s64 first_size(struct rows *rows, u32 file)
{
	return file ? *map_at(&rows->overlaps->contested, file) : 0;
}

u32 rows_parts(struct rows *rows, const struct seen *s, struct sizes *z,
	       struct part p[PARTS_MAX])
{
	const struct copied *from = copied_from(rows, s->event);
	s64 source = from ? first_size(rows, from->file) : 0, first;
	u32 count = 0;

	if (!s->call || s->result < 0)
		return 0;
	if (source)
		p[count++] = (struct part){
			.file = sizes_file(z, from->file, source - 2),
			.ofd = sizes_ofd(z, from->ofd, PLACE_ANY),
			.kind = PART_READ,
			.moves = from->at < 0,
			.at = from->at,
			.bytes = s->result,
			.asked = asked_to_copy(s),
		};
	first = first_size(rows, s->file);
	if (!first)
		return count;
	p[count] = (struct part){
		.file = sizes_file(z, s->file, first - 2),
		.ofd = sizes_ofd(z, s->ofd, s->opened ? 0 : s->found_at),
	};
	return count + own_parts(s, &p[count]);
}
