/* SPDX-License-Identifier: GPL-2.0 */
/* The tables of a finished trace; docs/TRACE-TABLES.md has them. Included by db.c only. */
#ifndef TRACE_SCHEMA_H
#define TRACE_SCHEMA_H

static const char tables_sql[] =
	"CREATE TABLE trace(key TEXT, value TEXT);"
	"CREATE TABLE balance(key TEXT, value TEXT);"
	"CREATE TABLE syscall(nr INTEGER PRIMARY KEY, name TEXT, class TEXT, args TEXT, does TEXT);"
	"CREATE TABLE text(id INTEGER PRIMARY KEY, text TEXT);"
	"CREATE TABLE process(id INTEGER PRIMARY KEY, pid INT, parent INT, how TEXT, uid INT,"
	" command INT, program INT, start INT, end INT, status INT, cpu INT, children INT);"
	"CREATE TABLE thread(id INTEGER PRIMARY KEY, tid INT, process INT, start INT, end INT,"
	" made INT);"
	"CREATE TABLE file(id INTEGER PRIMARY KEY, dev INT, ino INT, generation INT, mode INT,"
	" links INT, first_size INT, size INT, event INT, name INT, removed INT, guessed INT);"
	"CREATE TABLE ofd(id INTEGER PRIMARY KEY, file INT, name INT, flags INT, process INT,"
	" opened INT, closed INT, event INT, size_open INT, size_close INT, mtime INT, atime INT,"
	" reads INT, writes INT, bytes_read INT, bytes_written INT, seeks INT, syncs INT,"
	" sequential INT, descriptors INT, found_at INT);"
	"CREATE TABLE session(ofd INT, process INT, command INT, reads INT, writes INT,"
	" bytes_read INT, bytes_written INT, first INT, last INT);"
	"CREATE TABLE event(id INTEGER PRIMARY KEY, thread INT, nr INT, start INT, duration INT,"
	" result INT, a0 INT, a1 INT, a2 INT, a3 INT, a4 INT, a5 INT, ofd INT, file INT,"
	" offset INT, path INT, path2 INT, name INT, name2 INT, cpu INT, flags INT, length INT);"
	"CREATE TABLE attr(event INT, file INT, dev INT, mode INT, links INT, size INT, mtime INT,"
	" atime INT);"
	"CREATE TABLE extra(event INT, kind INT, value BLOB);"
	"CREATE TABLE uring(event INT, thread INT, ring INT, opcode INT, flags INT, user_data INT,"
	" nr INT, start INT, seen INT, result INT, a0 INT, a1 INT, a2 INT, a3 INT, a4 INT, a5 INT,"
	" ofd INT, file INT, offset INT, path INT, path2 INT, name INT, name2 INT);"
	"CREATE TABLE page(time INT, process INT, file INT, name INT, offset INT, length INT,"
	" shared INT, writable INT, written INT);"
	"CREATE TABLE fault(time INT, thread INT, file INT, offset INT, write INT, shared INT,"
	" kernel INT, duration INT);"
	"CREATE TEMP TABLE waited(thread INT, time INT, until INT);"
	"CREATE TABLE look(event INT, process INT, fd INT, what TEXT, trace INT, kernel INT);"
	"CREATE TABLE race(event INT, first INT);"
	"CREATE TABLE gap(why TEXT, start INT, end INT, calls INT);"
	"CREATE TABLE names(path INT, file INT, target TEXT);";

static const char *const inserts_sql[] = {
	[DB_TRACE] = "INSERT INTO trace VALUES(?,?)",
	[DB_BALANCE] = "INSERT INTO balance VALUES(?,?)",
	[DB_EVENT] = "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[DB_ATTR] = "INSERT INTO attr VALUES(?,?,?,?,?,?,?,?)",
	[DB_EXTRA] = "INSERT INTO extra VALUES(?,?,?)",
	[DB_TEXT] = "INSERT INTO text VALUES(?,?)",
	[DB_FILE] = "INSERT INTO file VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[DB_OFD] = "INSERT INTO ofd VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[DB_SESSION] = "INSERT INTO session VALUES(?,?,?,?,?,?,?,?,?)",
	[DB_PROCESS] = "INSERT INTO process VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[DB_THREAD] = "INSERT INTO thread VALUES(?,?,?,?,?,?)",
	[DB_NAME] = "INSERT INTO names VALUES(?,?,?)",
	[DB_URING] =
		"INSERT INTO uring VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
	[DB_PAGE] = "INSERT INTO page VALUES(?,?,?,?,?,?,?,?,?)",
	[DB_FAULT] = "INSERT INTO fault VALUES(?,?,?,?,?,?,?,0)",
	[DB_WAITED] = "INSERT INTO waited VALUES(?,?,?)",
	[DB_LOOK] = "INSERT INTO look VALUES(?,?,?,?,?,?)",
	[DB_RACE] = "INSERT INTO race VALUES(?,?)",
	[DB_GAP] = "INSERT INTO gap VALUES(?,?,?,?)",
	[DB_SYSCALL] = "INSERT INTO syscall VALUES(?,?,?,?,?)",
};

/* A page that was waited for more than once came with the last one. */
static const char waited_sql[] =
	"CREATE INDEX temp.by_touch ON waited(thread, time);"
	"UPDATE fault SET duration = until - fault.time FROM (SELECT thread AS t, time AS at,"
	" max(until) AS until FROM waited GROUP BY 1, 2) WHERE thread = t AND time = at;"
	"DROP TABLE waited;";

/* What "type of a file" means: the first rule whose pattern its name matches. */
static const char types_sql[] =
	"CREATE TABLE file_type(pattern TEXT, type TEXT);"
	"INSERT INTO file_type VALUES('/tmp/*', 'temporary'), ('/var/tmp/*', 'temporary'),"
	" ('/proc/*', 'kernel'), ('/sys/*', 'kernel'), ('/dev/*', 'device'),"
	" ('*.c', 'C source'), ('*.h', 'C source'), ('*.cc', 'C++ source'),"
	" ('*.cpp', 'C++ source'), ('*.py', 'Python source'), ('*.o', 'object'),"
	" ('*.a', 'library'), ('*.so', 'library'), ('*.so.*', 'library'), ('*/bin/*', 'program'),"
	" ('*/sbin/*', 'program'), ('*.db', 'database'), ('*.sqlite', 'database'),"
	" ('*.log', 'log'), ('*.txt', 'text'), ('*.md', 'text'), ('*.html', 'text'),"
	" ('*.gz', 'archive'), ('*.xz', 'archive'), ('*.zst', 'archive'), ('*.zip', 'archive'),"
	" ('*.tar', 'archive'), ('*/.git/*', 'git'), ('/etc/*', 'configuration');";

#define TYPE_OF(name) "(SELECT type FROM file_type WHERE " name " GLOB pattern LIMIT 1)"
#define PATH_OF(id) "(SELECT text FROM text WHERE text.id = " id ")"
#define USER_OF(uid) "(SELECT value FROM trace WHERE key = 'user.' || " uid ")"
#define COMMON                                                                                    \
	"length AS record_length, e.start AS real_time, e.cpu AS process_time"
#define DOES(what) "(SELECT nr FROM syscall WHERE does IN (" what "))"
#define EVENTS                                                                                    \
	" FROM event e JOIN thread t ON t.id = e.thread JOIN process p ON p.id = t.process "

/*
 * The eight records of Table 1 of the tracing package for 4.2BSD (Zhou, Da Costa, Smith), with its
 * fields.
 */
static const char views_sql[] =
	"CREATE VIEW name AS SELECT text AS path, file, target"
	" FROM names JOIN text ON text.id = path;"
	"CREATE VIEW call AS SELECT e.id, t.tid, p.id AS process, s.name, e.start, duration,"
	" result, CASE WHEN result < 0 AND result > -4096 THEN -result END AS errno,"
	" a0, a1, a2, a3, a4, a5, ofd, file, offset, " PATH_OF("e.path") " AS path, "
	PATH_OF("e.path2") " AS path2, " PATH_OF("e.name") " AS full_path, " PATH_OF("e.name2")
	" AS full_path2" EVENTS "LEFT JOIN syscall s ON s.nr = e.nr;"
	"CREATE VIEW submission AS SELECT u.event, t.tid, p.id AS process, opcode, s.name, u.start,"
	" seen, result, CASE WHEN result < 0 THEN -result END AS errno, a0, a1, a2, a3, a4, a5, ofd,"
	" file, offset, " PATH_OF("u.path") " AS path, " PATH_OF("u.path2") " AS path2, "
	PATH_OF("u.name") " AS full_path, " PATH_OF("u.name2") " AS full_path2"
	" FROM uring u JOIN thread t ON t.id = u.thread JOIN process p ON p.id = t.process"
	" LEFT JOIN syscall s ON s.nr = u.nr;"
	"CREATE VIEW bsd_open AS SELECT CASE WHEN e.nr = 85 OR o.flags & 64 AND o.size_open = 0"
	" THEN 'create' ELSE 'open' END AS record_type, " COMMON ", o.file AS file_id,"
	" o.id AS open_id, p.pid AS process_id, p.uid AS user_id, o.flags AS open_mode,"
	" f.dev AS device_number, o.mtime AS last_modify_time, o.atime AS last_access_time, "
	USER_OF("p.uid") " AS user_name, o.size_open AS file_size_when_open,"
	" o.size_close AS file_size_when_close, " TYPE_OF(PATH_OF("o.name")) " AS file_type,"
	" o.closed AS close_time, o.reads + o.writes AS number_of_io,"
	" o.bytes_read + o.bytes_written AS bytes_transferred_while_open,"
	" o.descriptors AS reference_count, " PATH_OF("o.name") " AS file_name"
	EVENTS "JOIN ofd o ON o.event = e.id AND o.id = e.ofd LEFT JOIN file f ON f.id = o.file;"
	"CREATE VIEW bsd_close AS SELECT 'close' AS record_type, " COMMON ", o.file AS file_id,"
	" o.id AS open_id, p.pid AS process_id, p.uid AS user_id, o.flags AS open_mode,"
	" f.dev AS device_number, o.size_close AS file_size, " TYPE_OF(PATH_OF("o.name"))
	" AS file_type, o.reads + o.writes AS number_of_io,"
	" o.bytes_read + o.bytes_written AS bytes_transferred_while_open,"
	" o.descriptors AS reference_count" EVENTS
	"JOIN ofd o ON o.id = e.ofd LEFT JOIN file f ON f.id = o.file"
	" WHERE e.nr = 3 AND result = 0;"
	"CREATE VIEW bsd_read_write AS SELECT CASE WHEN e.nr IN " DOES("'READ','PREAD'")
	" THEN 'read' ELSE 'write' END AS record_type, " COMMON ", duration,"
	" e.file AS file_id, e.ofd AS open_id, p.pid AS process_id, p.uid AS user_id, offset,"
	" result AS bytes_transferred" EVENTS
	"WHERE result >= 0 AND e.nr IN " DOES("'READ','PREAD','WRITE','PWRITE'") ";"
	"CREATE VIEW bsd_rename AS SELECT 'rename' AS record_type, length AS record_length,"
	" e.start AS real_time, e.file AS file_id, p.pid AS process_id, p.uid AS user_id,"
	" a.dev AS device_number, a.mtime AS last_modify_time, a.atime AS last_access_time, "
	USER_OF("p.uid") " AS user_name, a.size AS file_size, " TYPE_OF(PATH_OF("e.name"))
	" AS old_file_type, " TYPE_OF(PATH_OF("e.name2")) " AS new_file_type, "
	PATH_OF("e.name") " AS old_file_name, " PATH_OF("e.name2") " AS new_file_name" EVENTS
	"LEFT JOIN attr a ON a.event = e.id WHERE result = 0 AND e.nr IN " DOES("'RENAME'") ";"
	"CREATE VIEW bsd_delete AS SELECT 'delete' AS record_type, length AS record_length,"
	" e.start AS real_time, e.file AS file_id, p.pid AS process_id, p.uid AS user_id,"
	" a.dev AS device_number, a.mtime AS last_modify_time, a.atime AS last_access_time, "
	USER_OF("p.uid") " AS user_name, a.size AS file_size, " TYPE_OF(PATH_OF("e.name"))
	" AS file_type, " PATH_OF("e.name") " AS file_name" EVENTS
	"LEFT JOIN attr a ON a.event = e.id WHERE result = 0 AND e.nr IN "
	DOES("'UNLINK','RMDIR'") ";"
	"CREATE VIEW bsd_execute AS SELECT 'execute' AS record_type, " COMMON
	", e.file AS file_id, p.pid AS process_id, p.uid AS user_id, a.dev AS device_number, "
	USER_OF("p.uid") " AS user_name, a.size AS file_size, " PATH_OF("e.name") " AS file_name"
	EVENTS "LEFT JOIN attr a ON a.event = e.id WHERE result = 0 AND e.nr IN "
	DOES("'EXEC'") ";"
	"CREATE VIEW bsd_fork AS SELECT 'fork' AS record_type, NULL AS record_length,"
	" c.start AS real_time, NULL AS process_time, c.how = 'vfork' AS vfork_flag,"
	" p.pid AS parent_process_id, c.pid AS child_process_id, c.uid AS user_id"
	" FROM process c JOIN process p ON p.id = c.parent;"
	"CREATE VIEW bsd_exit AS SELECT 'exit' AS record_type, NULL AS record_length,"
	" p.end AS real_time, p.cpu AS process_time, p.pid AS process_id, p.uid AS user_id"
	" FROM process p WHERE p.end IS NOT NULL;";

#endif
