// SPDX-License-Identifier: GPL-2.0
/* A raw trace as text, for tests and for who doubts: a line a record, then what it carries. */
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
	struct raw_attr attr;

	memcpy(&attr, data, sizeof(attr));
	printf("dev=%" PRIu64 ",ino=%" PRIu64 ",mode=%o,nlink=%u,size=%" PRIu64, attr.dev,
	       attr.ino, attr.mode, attr.nlink, attr.size);
}

static void print_blob(u16 kind, const char *data, u32 length)
{
	static const char *const names[] = {
		[RAW_PATH] = "path",	      [RAW_PATH2] = "path2", [RAW_ATTR] = "attr",
		[RAW_ATTR_BEFORE] = "before", [RAW_FDS] = "fds",     [RAW_ARGV] = "argv",
		[RAW_TOTAL] = "total",	      [RAW_CWD] = "cwd",     [RAW_TARGET] = "target",
		[RAW_OFFSETS] = "offsets",    [RAW_HOW] = "how",     [RAW_CLONE] = "clone",
		[RAW_LOCK] = "lock",	      [RAW_CPU] = "cpu",     [RAW_TEXT] = "text",
	};

	if (kind >= ARRAY_SIZE(names) || !names[kind])
		return;
	printf(" %s=", names[kind]);
	if ((kind == RAW_ATTR || kind == RAW_ATTR_BEFORE) && length >= sizeof(struct raw_attr))
		print_attr(data);
	else
		print_text(data, length);
}

static void print_record(const struct raw_record *record)
{
	static const char *const types[] = {
		[RAW_ABOUT] = "about",	   [RAW_FORK] = "fork",	    [RAW_EXEC] = "exec",
		[RAW_EXIT] = "exit",	   [RAW_TASK] = "task",	    [RAW_FD] = "fd",
		[RAW_BALANCE] = "balance", [RAW_SWITCH] = "switch", [RAW_SEGMENT] = "segment",
		[RAW_SQE] = "sqe",	   [RAW_CQE] = "cqe",	    [RAW_PAGES] = "pages",
		[RAW_FAULT] = "fault",
	};
	const struct call *call = record->flags & RAW_FOREIGN ? NULL : call_of(record->nr);
	u16 type = record->type, kind;
	const char *data;
	u32 at = 0, i, length;

	if (type == RAW_CALL)
		printf("%u %s(", record->tid, call ? call->name : "unknown");
	else
		printf("%u %s %u (", record->tid,
		       type < ARRAY_SIZE(types) && types[type] ? types[type] : "record",
		       record->nr);
	for (i = 0; i < (call && type == RAW_CALL ? strlen(call->args) : CALL_ARGS); i++)
		printf("%s0x%" PRIx64, i ? ", " : "", record->args[i]);
	printf(") = %" PRId64 " %" PRIu64 " %" PRIu64 " flags=%u", (s64)record->result,
	       record->entry, record->exit, record->flags);
	while (raw_each(record, &at, &kind, &data, &length))
		print_blob(kind, data, length);
	putchar('\n');
}

int dump(const char *path)
{
	const struct raw_record *record;
	struct raw_reader reader;
	enum raw_status status;

	raw_reader_open(&reader, path);
	while ((status = raw_next(&reader, &record)) == RAW_OK)
		print_record(record);
	if (status != RAW_END)
		fprintf(stderr, "david-trace: %s: %s, at byte %" PRIu64 "\n", path, reader.problem,
			reader.offset);
	raw_reader_free(&reader);
	return status == RAW_BROKEN ? STATUS_BAD : STATUS_OK;
}
