// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE	/* strsep */
#include <stdarg.h>
#include <stdio.h>

#include "../../dm-david/portable/portable-alloc.h"
#include "../common/complain.h"
#include "../common/number.h"
#include "../common/vec.h"
#include "trace.h"

enum column { OP, LBN, BLOCKS, DELAY, MEASURED, COLUMNS };

static const char *const column_names[COLUMNS] = {
	"op", "lbn", "blocks", "delay_us", "measured_us",
};

#define MAX_FIELDS	32
#define MAX_BLOCKS	16777216u

struct reader {
	const char *file;
	unsigned long line;
	int field[COLUMNS];	/* where in a line it is; -1: nowhere */
	u64 disk_sectors;
};

__printf(2, 3)
static int reader_bad_line(const struct reader *reader, const char *format, ...)
{
	char text[300];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return complain("%s:%lu: %s", reader->file, reader->line, text);
}

static int split_line(char *line, char **fields)
{
	int n = 0;

	line[strcspn(line, "\r\n")] = '\0';
	do {
		fields[n++] = strsep(&line, ",");
	} while (line && n < MAX_FIELDS);
	return line ? MAX_FIELDS + 1 : n;
}

static int parse_header(struct reader *reader, char *line)
{
	char *fields[MAX_FIELDS];
	int n = split_line(line, fields), i, c;

	if (n > MAX_FIELDS)
		return reader_bad_line(reader, "more than %d columns", MAX_FIELDS);
	for (c = 0; c < COLUMNS; c++) {
		reader->field[c] = -1;
		for (i = 0; i < n; i++)
			if (!strcmp(fields[i], column_names[c]))
				reader->field[c] = i;
		if (reader->field[c] < 0 && c != MEASURED)
			return reader_bad_line(reader,
					"no column \"%s\"; the first line must name the columns op, lbn, blocks, delay_us and, for validate, measured_us",
					column_names[c]);
	}
	return 0;
}

/* Parse microseconds with decimals into nanoseconds. */
static bool parse_time(const char *text, u64 *ns)
{
	u64 us = 0, unit = 100;
	const char *c;

	for (c = text; *c >= '0' && *c <= '9'; c++) {
		us = us * 10 + (*c - '0');
		if (us > U64_MAX / 1000000)
			return false;
	}
	if (c == text)
		return false;
	*ns = us * 1000;
	if (*c == '.')
		for (c++; *c >= '0' && *c <= '9'; c++, unit /= 10)
			*ns += unit * (*c - '0');
	return !*c;
}

static int parse_request(struct reader *reader, char *line, struct trace_request *request)
{
	char *fields[MAX_FIELDS];
	int n = split_line(line, fields), c;
	const char *text[COLUMNS];
	u64 blocks;

	for (c = 0; c < COLUMNS; c++) {
		if (reader->field[c] >= n)
			return reader_bad_line(reader, "no value for column \"%s\"",
					       column_names[c]);
		text[c] = reader->field[c] < 0 ? "0" : fields[reader->field[c]];
	}
	if (strcmp(text[OP], "R") && strcmp(text[OP], "W"))
		return reader_bad_line(reader, "op \"%s\" is neither R nor W", text[OP]);
	request->op = text[OP][0] == 'R' ? DISK_READ : DISK_WRITE;
	if (!number_parse(text[LBN], U64_MAX, &request->sector))
		return reader_bad_line(reader, "lbn \"%s\" is not a number", text[LBN]);
	if (!number_parse(text[BLOCKS], MAX_BLOCKS, &blocks) || !blocks)
		return reader_bad_line(reader, "blocks \"%s\" is not a number from 1 to %u",
				text[BLOCKS], MAX_BLOCKS);
	request->sectors = blocks;
	if (request->sector >= reader->disk_sectors ||
	    blocks > reader->disk_sectors - request->sector)
		return reader_bad_line(reader,
				"%llu blocks from %llu on do not lie on the disk, which has %llu",
				(unsigned long long)blocks, (unsigned long long)request->sector,
				(unsigned long long)reader->disk_sectors);
	if (!parse_time(text[DELAY], &request->delay))
		return reader_bad_line(reader, "delay_us \"%s\" is not a time in microseconds",
				text[DELAY]);
	if (!parse_time(text[MEASURED], &request->measured))
		return reader_bad_line(reader, "measured_us \"%s\" is not a time in microseconds",
				text[MEASURED]);
	return 0;
}

static struct trace_request *next_request(struct trace *trace, u64 *room)
{
	trace->requests = vec_reserve(trace->requests, room, trace->nr + 1,
				      sizeof(*trace->requests));
	trace->requests[trace->nr] = (struct trace_request) { };
	return &trace->requests[trace->nr++];
}

static int load_lines(struct trace *trace, struct reader *reader, FILE *file)
{
	size_t line_room = 0;
	char *line = NULL;
	int error = 0;
	u64 room = 0;

	while (!error && getline(&line, &line_room, file) >= 0) {
		if (++reader->line == 1)
			error = parse_header(reader, line);
		else
			error = parse_request(reader, line, next_request(trace, &room));
	}
	free(line);
	if (!error && ferror(file))
		error = reader_bad_line(reader, "%s", strerror(errno));
	if (!error && !trace->nr)
		error = reader_bad_line(reader, "no requests");
	return error;
}

int trace_load(struct trace *trace, const char *name, u64 sectors)
{
	struct reader reader = { .file = name, .disk_sectors = sectors };
	FILE *file = fopen(name, "r");
	int error;

	*trace = (struct trace) { };
	if (!file) {
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
		return -1;
	}
	error = load_lines(trace, &reader, file);
	fclose(file);
	trace->measured = reader.field[MEASURED] >= 0;
	if (error)
		trace_free(trace);
	return error;
}

void trace_free(struct trace *trace)
{
	free(trace->requests);
	trace->requests = NULL;
	trace->nr = 0;
}

int trace_run(struct trace *trace, const struct profile *profile)
{
	struct drive *drive = drive_create(profile, NULL, GFP_KERNEL);
	struct trace_request *r;
	u64 now = 0, end;

	if (!drive) {
		fprintf(stderr, "out of memory\n");
		return -1;
	}
	for (r = trace->requests; r < trace->requests + trace->nr; r++) {
		end = drive_serve(drive, &(struct drive_command) {
			.sector = r->sector, .sectors = r->sectors, .op = r->op, .arrived = now,
		}, now, NULL);
		r->modelled = end - now;
		now = end + r->delay;
	}
	trace->state_bytes = drive_bytes(drive);
	drive_destroy(drive);
	return 0;
}

static void prepare_members(struct array *array, const struct array_setup *setup,
			    const struct member_words *words, bool angles)
{
	u32 i;

	if (angles)
		array_turn(array, words->angles);
	for (i = 0; i < setup->layout.members; i++)
		if (words->faults[i])
			array_set_faults(array, i, words->faults[i]);
}

int trace_run_array(struct trace *trace, const struct array_setup *setup,
		    const struct member_words *words, bool angles, struct members *members)
{
	struct array *array = array_create(setup, GFP_KERNEL);
	struct trace_request *r;
	bool failed = !array;
	u64 now = 0;
	u32 i;

	if (array)
		prepare_members(array, setup, words, angles);
	for (r = trace->requests; !failed && r < trace->requests + trace->nr; r++) {
		struct disk_request request = { .sector = r->sector, .sectors = r->sectors,
						.op = r->op, .flags = DISK_SYNC };

		array_submit(array, &request, now);
		while (!array_advance(array, array_next_event(array)) && !array_failed(array))
			;
		failed = array_failed(array);
		r->modelled = request.completion - now;
		members->lost += request.fault;
		now = request.completion + r->delay;
	}
	if (!failed)
		array_advance(array, now);
	for (i = 0; !failed && i < setup->layout.members; i++)
		array_figures(array, i, &members->figures[i]);
	members->ns = now;
	members->doubt = failed ? NULL : array_doubt(array) ?: array_single_doubt(array);
	array_destroy(array);
	if (failed)
		fprintf(stderr, "out of memory\n");
	return failed ? -1 : 0;
}
