/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The finished trace: a SQLite file, written once from front to end. docs/TRACE-TABLES.md has its
 * tables. An error of SQLite ends the program.
 */
#ifndef TRACE_DB_H
#define TRACE_DB_H

#include <sqlite3.h>

#include "../calls/world.h"

enum db_table {
	DB_TRACE,
	DB_BALANCE,
	DB_EVENT,
	DB_ATTR,
	DB_EXTRA,
	DB_TEXT,
	DB_FILE,
	DB_OFD,
	DB_SESSION,
	DB_PROCESS,
	DB_THREAD,
	DB_NAME,
	DB_SYSCALL,
	DB_RACE,
	DB_GAP,
	DB_URING,
	DB_PAGE,
	DB_FAULT,
	DB_WAITED,
	DB_LOOK,
	DB_TABLES,
};

struct db_text {
	char *text;
	u32 length;
	u32 id;
	struct db_text *next;
};

struct db {
	sqlite3 *sqlite;
	sqlite3_stmt *insert[DB_TABLES];
	int column; /* of the row that is being made */
	struct map by_hash; /* lists of texts */
	u32 texts;
};

/* A new file; there must be none. */
void db_open(struct db *db, const char *path);

/* Views and indices, then the end. */
void db_close(struct db *db);

/* A row, column by column. */
void db_int(struct db *db, enum db_table table, s64 value);
void db_null(struct db *db, enum db_table table);
void db_str(struct db *db, enum db_table table, const char *text, int length);
void db_blob(struct db *db, enum db_table table, const void *data, int length);
void db_row(struct db *db, enum db_table table);

/* @value, or NULL if it is @none. */
void db_opt(struct db *db, enum db_table table, s64 value, s64 none);

/* The number of a text, the same for the same text; 0 is no text. */
u32 db_text(struct db *db, const char *text, u32 length);

#endif
