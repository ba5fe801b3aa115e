// SPDX-License-Identifier: GPL-2.0
/* A trace file as text, for tests and for who doubts: a line a record, then what it carries. */
#include <inttypes.h>

#include "../calls/calls.h"
#include "../calls/tracefile.h"
#include "trace.h"

static void print_text(const char *data, u32 length)
{
	u32 i;

	for (i = 0; i < length; i++) {
		if (data[i] >= ' ' && data[i] < 127 && data[i] != '\\')
			putchar(data[i]);
		else if (data[i] || i + 1 < length)
			printf("\\x%02x", (u8)data[i]);
	}
}

static void print_attr(const char *data)
{
	struct tracefile_attr attr;

	memcpy(&attr, data, sizeof(attr));
	printf("dev=%" PRIu64 ",ino=%" PRIu64 ",mode=%o,nlink=%u,size=%" PRIu64, attr.dev,
	       attr.ino, attr.mode, attr.nlink, attr.size);
}

static void print_blob(u16 kind, const char *data, u32 length)
{
	static const char *const names[] = {
		[TRACEFILE_PATH] = "path",     [TRACEFILE_PATH2] = "path2",
		[TRACEFILE_ATTR] = "attr",     [TRACEFILE_ATTR_BEFORE] = "before",
		[TRACEFILE_FDS] = "fds",       [TRACEFILE_ARGV] = "argv",
		[TRACEFILE_TOTAL] = "total",   [TRACEFILE_CWD] = "cwd",
		[TRACEFILE_TARGET] = "target", [TRACEFILE_OFFSETS] = "offsets",
		[TRACEFILE_XATTR] = "xattr",   [TRACEFILE_VALUE] = "value",
		[TRACEFILE_HOW] = "how",       [TRACEFILE_CLONE] = "clone",
		[TRACEFILE_LOCK] = "lock",     [TRACEFILE_CPU] = "cpu",
		[TRACEFILE_TEXT] = "text",
	};

	if (kind >= ARRAY_SIZE(names) || !names[kind])
		return;
	printf(" %s=", names[kind]);
	if ((kind == TRACEFILE_ATTR || kind == TRACEFILE_ATTR_BEFORE) &&
	    length >= sizeof(struct tracefile_attr))
		print_attr(data);
	else
		print_text(data, length);
}

static const char *name_of(const struct tracefile_record *record, const struct call *call)
{
	if (record->flags & TRACEFILE_FOREIGN)
		return call32_name(record->nr) ?: "unknown";
	return call ? call->name : "unknown";
}

static void print_record(const struct tracefile_record *record)
{
	static const char *const types[] = {
		[TRACEFILE_ABOUT] = "about",	 [TRACEFILE_FORK] = "fork",
		[TRACEFILE_EXEC] = "exec",	 [TRACEFILE_EXIT] = "exit",
		[TRACEFILE_TASK] = "task",	 [TRACEFILE_FD] = "fd",
		[TRACEFILE_BALANCE] = "balance", [TRACEFILE_SWITCH] = "switch",
		[TRACEFILE_SEGMENT] = "segment", [TRACEFILE_SQE] = "sqe",
		[TRACEFILE_CQE] = "cqe",	 [TRACEFILE_PAGES] = "pages",
		[TRACEFILE_FAULT] = "fault",
	};
	const struct call *call = record->flags & TRACEFILE_FOREIGN ? NULL : call_of(record->nr);
	u16 type = record->type, kind;
	const char *data;
	u32 at = 0, i, length;

	if (type == TRACEFILE_CALL)
		printf("%u %s(", record->tid, name_of(record, call));
	else
		printf("%u %s %u (", record->tid,
		       type < ARRAY_SIZE(types) && types[type] ? types[type] : "record",
		       record->nr);
	for (i = 0; i < (call && type == TRACEFILE_CALL ? strlen(call->args) : CALL_ARGS); i++)
		printf("%s0x%" PRIx64, i ? ", " : "", record->args[i]);
	printf(") = %" PRId64 " %" PRIu64 " %" PRIu64 " flags=%u", (s64)record->result,
	       record->entry, record->exit, record->flags);
	while (tracefile_each(record, &at, &kind, &data, &length))
		print_blob(kind, data, length);
	putchar('\n');
}

int dump(const char *path)
{
	const struct tracefile_record *record;
	struct tracefile_reader reader;
	enum tracefile_status status;

	tracefile_reader_open(&reader, path);
	while ((status = tracefile_next(&reader, &record)) == TRACEFILE_OK)
		print_record(record);
	if (status != TRACEFILE_END)
		fprintf(stderr, "david-trace: %s: %s, at byte %" PRIu64 "\n", path, reader.problem,
			reader.offset);
	tracefile_reader_free(&reader);
	return status == TRACEFILE_BROKEN ? STATUS_BAD : STATUS_OK;
}
