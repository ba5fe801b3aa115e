// SPDX-License-Identifier: GPL-2.0
/*
 * Trace files that no tracer wrote, finished. The input is what is drawn from: which record, of
 * which task, which call, which blobs. So most of what is tried is a trace with whole records, and
 * the finisher's own claims are tried: it must take any, and each number must be of one thing
 * only.
 */
#include "../../tools/trace/finish.c"

struct source {
	const u8 *at;
	size_t left;
};

static u8 draw(struct source *s)
{
	if (!s->left)
		return 0;
	s->left--;
	return *s->at++;
}

/* Mostly small numbers, as descriptors and lengths are; some that are not. */
static u64 draw_number(struct source *s)
{
	u8 kind = draw(s);
	u64 number = 0;
	int i;

	if (kind < 200)
		return kind % 16;
	if (kind < 220)
		return draw(s) | draw(s) << 8;
	if (kind < 230)
		return (u64)-1 - draw(s);
	if (kind < 240)
		return (u32)-100;
	for (i = 0; i < 8; i++)
		number = number << 8 | draw(s);
	return number;
}

static u32 draw_blob(struct source *s, u8 *to)
{
	static const char names[][16] = { "a",	   "b",	     "/",	"..",	      "a/b",
					  "/a",	   "b/../a", "/proc/1", "/dev/fd/1", "/dev/stdin",
					  "/proc/self/fd/2", "/proc/self/cwd" };
	struct tracefile_blob *blob = (struct tracefile_blob *)to;
	u8 *data = to + sizeof(*blob);
	unsigned int i;

	blob->kind = draw(s) % (TRACEFILE_RIGHTS + 2);
	blob->length = draw(s) % 64;
	memset(data, 0, sizeof(struct tracefile_right));
	if (blob->kind == TRACEFILE_PATH || blob->kind == TRACEFILE_PATH2 ||
	    blob->kind == TRACEFILE_TARGET) {
		blob->length = sizeof(names[0]);
		memcpy(data, names[draw(s) % ARRAY_SIZE(names)], sizeof(names[0]));
	} else if (blob->kind == TRACEFILE_ATTR || blob->kind == TRACEFILE_ATTR_BEFORE) {
		blob->length = sizeof(struct tracefile_attr);
		for (i = 0; i < 6; i++)
			data[8 * i] = draw(s) % 4;
		data[41] = draw(s); /* the type, in mode */
	} else if (blob->kind == TRACEFILE_RIGHTS) {
		blob->length = sizeof(struct tracefile_right);
		for (i = 0; i < sizeof(struct tracefile_right) / 4; i++)
			data[4 * i] = draw(s) % 4;
	} else {
		for (i = 0; i < blob->length; i++)
			data[i] = draw(s);
	}
	return sizeof(*blob) + ((blob->length + 3) & ~3u);
}

static void draw_record(struct source *s, u8 *to)
{
	struct tracefile_record *r = (struct tracefile_record *)to;
	unsigned int i, blobs = draw(s) % 4;

	memset(to, 0, 512);
	r->length = sizeof(*r);
	r->type = draw(s) % 4 ? TRACEFILE_CALL : draw(s) % (TRACEFILE_FAULT + 2);
	r->flags = draw(s) % 8 ? 0 : draw(s);
	r->tid = draw(s) % 4;
	r->nr = draw(s) | (draw(s) & 1) << 8;
	if (r->type != TRACEFILE_CALL)
		r->nr %= 5;
	r->entry = draw_number(s);
	r->exit = r->entry + draw(s);
	r->result = draw_number(s);
	for (i = 0; i < CALL_ARGS; i++)
		r->args[i] = draw_number(s);
	for (i = 0; i < blobs; i++)
		r->length += draw_blob(s, to + r->length);
	r->length = (r->length + 7) & ~7u;
	assert(tracefile_record_valid(to, r->length));
}

static void check_number(struct finisher *f, const char *sql, int expected)
{
	sqlite3_stmt *statement;

	assert(sqlite3_prepare_v2(f->db.sqlite, sql, -1, &statement, NULL) == SQLITE_OK);
	assert(sqlite3_step(statement) == SQLITE_ROW);
	assert(sqlite3_column_int(statement, 0) == expected);
	sqlite3_finalize(statement);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct source source = { data, size };
	struct finisher f = {};
	u64 aligned[64];

	db_open(&f.db, ":memory:");
	world_init(&f.world);
	finish_hook(&f);
	while (source.left) {
		draw_record(&source, (u8 *)aligned);
		finish_record(&f, (struct tracefile_record *)aligned);
	}
	write_rest(&f, NULL);
	finish_contested(&f);
	/* All that was begun has ended, and has its row. */
	check_number(&f, "SELECT count(*) FROM event", f.calls);
	check_number(&f, "SELECT count(*) FROM ofd", f.world.ofd_count);
	check_number(&f, "SELECT count(*) FROM file", f.world.file_count);
	check_number(&f, "SELECT count(*) FROM thread", f.world.thread_count);
	check_number(&f, "SELECT count(*) FROM process", f.world.process_count);
	assert(!f.world.open);
	db_close(&f.db);
	finish_free(&f);
	overlaps_free(&f.overlaps);
	return 0;
}
