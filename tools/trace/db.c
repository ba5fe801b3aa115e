// SPDX-License-Identifier: GPL-2.0
#include "db.h"

#include "../common/alloc.h"
#include "schema.h"

static void need(struct db *db, int status)
{
	if (status != SQLITE_OK && status != SQLITE_DONE)
		die("the database: %s", sqlite3_errmsg(db->sqlite));
}

static void run(struct db *db, const char *sql)
{
	need(db, sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL));
}

void db_open(struct db *db, const char *path)
{
	unsigned int i;

	memset(db, 0, sizeof(*db));
	need(db, sqlite3_open(path, &db->sqlite));
	/* Nobody else reads it yet; a run that is killed is repeated from the trace file. */
	run(db, "PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		"PRAGMA locking_mode = EXCLUSIVE; PRAGMA cache_size = -65536; BEGIN");
	run(db, tables_sql);
	for (i = 0; i < DB_TABLES; i++)
		need(db, sqlite3_prepare_v2(db->sqlite, inserts_sql[i], -1, &db->insert[i], NULL));
}

void db_close(struct db *db)
{
	unsigned int i;

	for (i = 0; i < DB_TABLES; i++)
		sqlite3_finalize(db->insert[i]);
	run(db, waited_sql);
	run(db, types_sql);
	run(db, views_sql);
	run(db, "COMMIT");
	need(db, sqlite3_close(db->sqlite));
	for (i = 0; i < db->by_hash.room; i++) {
		struct db_text *next, *text = db->by_hash.value[i].pointer;

		for (; text; text = next) {
			next = text->next;
			free(text->text);
			free(text);
		}
	}
	map_free(&db->by_hash);
}

void db_int(struct db *db, enum db_table table, s64 value)
{
	need(db, sqlite3_bind_int64(db->insert[table], ++db->column, value));
}

void db_null(struct db *db, enum db_table table)
{
	need(db, sqlite3_bind_null(db->insert[table], ++db->column));
}

void db_opt(struct db *db, enum db_table table, s64 value, s64 none)
{
	if (value == none)
		db_null(db, table);
	else
		db_int(db, table, value);
}

void db_str(struct db *db, enum db_table table, const char *text, int length)
{
	need(db, sqlite3_bind_text(db->insert[table], ++db->column, text, length, SQLITE_STATIC));
}

void db_blob(struct db *db, enum db_table table, const void *data, int length)
{
	need(db, sqlite3_bind_blob(db->insert[table], ++db->column, data, length, SQLITE_STATIC));
}

void db_row(struct db *db, enum db_table table)
{
	sqlite3_step(db->insert[table]);
	need(db, sqlite3_reset(db->insert[table]));
	db->column = 0;
}

u32 db_text(struct db *db, const char *text, u32 length)
{
	struct db_text *known, *new;
	void **place;

	if (!text)
		return 0;
	place = map_pointer_at(&db->by_hash, map_hash(0, text, length));
	for (known = *place; known; known = known->next) {
		if (known->length == length && !memcmp(known->text, text, length))
			return known->id;
	}
	new = xmalloc(sizeof(*new));
	*new = (struct db_text){ xstrndup(text, length), length, ++db->texts, *place };
	*place = new;
	db_int(db, DB_TEXT, new->id);
	db_str(db, DB_TEXT, new->text, length);
	db_row(db, DB_TEXT);
	return new->id;
}
