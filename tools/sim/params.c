// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters keep their meaning, so this is a translation of names and
 * units. The exception is the capacity: for some drives the zone tables sum to
 * more than the drive declares. The drive's own word counts, and the zones at
 * the end are cut; that moves no block before.
 */
#define _GNU_SOURCE	/* memmem */
#include "params.h"

enum translation { AS_IT_IS, IN_MS, YES_NO, BY_NUMBER, IGNORED };

struct key {
	const char *name;
	const char *option;
	enum translation how;
	const char *const *words;	/* BY_NUMBER: NULL where a number is not known */
	unsigned int nr_words;
};

#define KEY(k, o, h)	{ .name = k, .option = o, .how = h }
#define WORD(k, o, w)	{ .name = k, .option = o, .how = BY_NUMBER, .words = w,	\
			  .nr_words = ARRAY_SIZE(w) }

static const char *const sparing[] = {
	"none", "tracks", "cylinder", "track", NULL, NULL, NULL, "disk-end", "range", "zone-end"
};

static const char *const readahead[] = { "none", "track", NULL, "max", "track-next" };
static const char *const write_cache[] = { "through", "sequential", "back" };

static const struct key keys[] = {
	KEY("name", "name", AS_IT_IS),
	KEY("model", NULL, IGNORED),
	KEY("published_rms_ms", NULL, IGNORED),
	KEY("rpm", "rpm", AS_IT_IS),
	KEY("heads", "heads", AS_IT_IS),
	KEY("cylinders", "cylinders", AS_IT_IS),
	KEY("declared_blocks", NULL, IGNORED),	/* see import_zone() */
	KEY("sector_bytes", NULL, IGNORED),	/* see import_key() */
	KEY("lbn_mapping", "serpentine", YES_NO),
	WORD("sparing_scheme", "sparing", sparing),
	KEY("sparing_range_cyls", "sparing_range", AS_IT_IS),
	KEY("head_switch_ms", "head_switch", IN_MS),
	KEY("write_settle_ms", "write_settle", IN_MS),
	KEY("bus_read_ms_per_block", "bus_read", IN_MS),
	KEY("bus_write_ms_per_block", "bus_write", IN_MS),
	KEY("buffer_segments", "segments", AS_IT_IS),
	KEY("max_write_segments", "write_segments", AS_IT_IS),
	KEY("segment_blocks", "segment_sectors", AS_IT_IS),
	KEY("separate_write_segment", "separate_write_segment", YES_NO),
	KEY("enable_cache", "read_cache", YES_NO),
	WORD("readahead_kind", "readahead", readahead),
	KEY("readahead_min_blocks", "readahead_min", AS_IT_IS),
	KEY("readahead_max_blocks", "readahead_max", AS_IT_IS),
	KEY("readahead_over_requested", "readahead_over_requested", YES_NO),
	KEY("readahead_on_idle_hit", "readahead_on_idle_hit", YES_NO),
	KEY("read_any_free_blocks", "read_any_free", YES_NO),
	WORD("fast_write_level", "write_cache", write_cache),
	KEY("read_hits_on_write_data", "read_hits_on_write_data", YES_NO),
	KEY("immediate_buffer_read", "immediate_read", YES_NO),
	KEY("immediate_buffer_write", "immediate_write", YES_NO),
	KEY("combine_seq_writes", "combine_sequential_writes", YES_NO),
	KEY("stop_prefetch_in_sector", "stop_prefetch_in_sector", YES_NO),
	KEY("write_hit_stop_prefetch", "write_hit_stops_prefetch", YES_NO),
	KEY("read_directly_to_buffer", "read_directly_to_buffer", YES_NO),
	KEY("immediate_transfer_partial_hit", "transfer_partial_hit", YES_NO),
	KEY("write_water_mark", "write_water_mark", AS_IT_IS),
	KEY("read_water_mark", "read_water_mark", AS_IT_IS),
	KEY("water_mark_by_request", "water_mark_by_request", YES_NO),
	KEY("never_disconnect", "never_disconnect", YES_NO),
	KEY("hold_bus_read", "hold_bus_read", YES_NO),
	KEY("hold_bus_write", "hold_bus_write", YES_NO),
	KEY("ov_per_request", "overhead", IN_MS),
	KEY("ov_read_hit_after_read", "overhead_read_hit_after_read", IN_MS),
	KEY("ov_read_hit_after_write", "overhead_read_hit_after_write", IN_MS),
	KEY("ov_read_miss_after_read", "overhead_read_miss_after_read", IN_MS),
	KEY("ov_read_miss_after_write", "overhead_read_miss_after_write", IN_MS),
	KEY("ov_write_hit_after_read", "overhead_write_hit_after_read", IN_MS),
	KEY("ov_write_hit_after_write", "overhead_write_hit_after_write", IN_MS),
	KEY("ov_write_miss_after_read", "overhead_write_miss_after_read", IN_MS),
	KEY("ov_write_miss_after_write", "overhead_write_miss_after_write", IN_MS),
	KEY("ov_read_completion", "read_completion", IN_MS),
	KEY("ov_write_completion", "write_completion", IN_MS),
	KEY("ov_data_prep", "data_preparation", IN_MS),
	KEY("ov_first_reselect", "first_reselect", IN_MS),
	KEY("ov_other_reselect", "other_reselect", IN_MS),
	KEY("ov_read_disconnect_after_read", "read_disconnect_after_read", IN_MS),
	KEY("ov_read_disconnect_after_write", "read_disconnect_after_write", IN_MS),
	KEY("ov_write_disconnect", "write_disconnect", IN_MS),
	KEY("extra_write_disconnect", "extra_write_disconnect", YES_NO),
	KEY("xd_command", "xd_command", IN_MS),
	KEY("xd_disconnect", "xd_disconnect", IN_MS),
	KEY("xd_inter", "xd_inter", IN_MS),
	KEY("xd_second", "xd_second", IN_MS),
	KEY("xd_seek_delta", "xd_seek_delta", IN_MS),
	KEY("min_seek_delay", "min_seek_delay", IN_MS),
};

enum section { HEAD, ZONES, SLIPS, REMAPS, SEEK };

struct import {
	const char *source;
	struct profile_error *error;
	unsigned int line;
	enum section section;
	u64 declared;		/* capacity, 0: not told */
	u64 sum;		/* of the zones so far */
	FILE *out;
};

__printf(2, 3)
static int fail(struct import *import, const char *format, ...)
{
	va_list args;

	import->error->line = import->line;
	va_start(args, format);
	vsnprintf(import->error->text, sizeof(import->error->text), format, args);
	va_end(args);
	return -EINVAL;
}

static int word_by_number(const struct key *key, const char *value, const char **word)
{
	char *end;
	unsigned long number = strtoul(value, &end, 10);

	if (end == value || *end || number >= key->nr_words || !key->words[number])
		return -EINVAL;
	*word = key->words[number];
	return 0;
}

/* Some have more decimals than nanoseconds. */
static int put_ms(struct import *import, const char *value)
{
	char *end;
	double ms = strtod(value, &end);

	if (end == value || *end)
		return fail(import, "'%.30s' is not a time in ms", value);
	fprintf(import->out, " %.6f ms\n", ms);
	return 0;
}

static int translate(struct import *import, const struct key *key, const char *value)
{
	const char *word;

	switch (key->how) {
	case AS_IT_IS:
		fprintf(import->out, "%s = %s\n", key->option, value);
		return 0;
	case IN_MS:
		fprintf(import->out, "%s =", key->option);
		return put_ms(import, value);
	case YES_NO:
		if (strcmp(value, "0") && strcmp(value, "1"))
			return fail(import, "%s is '%.20s', neither 0 nor 1", key->name, value);
		fprintf(import->out, "%s = %s\n", key->option, *value == '1' ? "yes" : "no");
		return 0;
	case BY_NUMBER:
		if (word_by_number(key, value, &word))
			return fail(import, "%s '%.20s' is not known", key->name, value);
		fprintf(import->out, "%s = %s\n", key->option, word);
		return 0;
	default:
		return 0;
	}
}

static char *trimmed(char *text)
{
	char *end;

	text += strspn(text, " \t\r");
	for (end = text + strlen(text); end > text && strchr(" \t\r", end[-1]); end--)
		end[-1] = '\0';
	return text;
}

static int import_key(struct import *import, char *line)
{
	char *equals = strchr(line, '='), *name = line, *value;
	unsigned int i;

	if (!equals)
		return fail(import, "'%.30s' is not of the form key = value", line);
	*equals = '\0';
	name = trimmed(name);
	value = trimmed(equals + 1);
	if (!strcmp(name, "declared_blocks"))
		import->declared = strtoull(value, NULL, 10);
	if (!strcmp(name, "sector_bytes") && strcmp(value, "512"))
		return fail(import, "sectors of %.20s bytes are not supported, only 512", value);
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			return translate(import, &keys[i], value);
	if (strcmp(value, "0"))
		fprintf(stderr, "%s:%u: '%s' is not known and not used\n", import->source,
			import->line, name);
	return 0;
}

/* index first_cyl last_cyl sectors_per_track first_offset front_empty skews spares n_slips lbn n */
static int import_zone(struct import *import, const char *line)
{
	unsigned long long v[12];
	u64 sectors;

	if (sscanf(line, "%llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu %llu",
		   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7], &v[8], &v[9],
		   &v[10], &v[11]) != 12)
		return fail(import, "a zone has 12 numbers, but this is '%.40s'", line);
	if (v[10] != import->sum)
		return fail(import,
			    "zone %llu begins with block %llu, but those before end at %llu", v[0],
			    v[10], (unsigned long long)import->sum);
	sectors = v[11];
	if (import->declared && import->sum + sectors > import->declared)
		sectors = import->declared > import->sum ? import->declared - import->sum : 0;
	import->sum += v[11];
	if (!sectors) {
		fprintf(import->out, "# zone %llu lies past the declared capacity\n", v[0]);
		return 0;
	}
	fprintf(import->out, "zone = %llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu,%llu", v[1], v[2],
		v[3], (unsigned long long)sectors, v[6], v[7], v[4], v[5], v[8]);
	if (sectors != v[11])
		fprintf(import->out, "  # holds %llu, cut at the declared capacity", v[11]);
	fprintf(import->out, "\n");
	return 0;
}

static int import_row(struct import *import, const char *line)
{
	unsigned long zone, from, to;
	char time[24];

	switch (import->section) {
	case ZONES:
		return import_zone(import, line);
	case SLIPS:
		if (sscanf(line, "%lu %lu", &zone, &from) != 2)
			return fail(import, "a slip has 2 numbers, but this is '%.40s'", line);
		fprintf(import->out, "slip = %lu,%lu\n", zone, from);
		return 0;
	case REMAPS:
		if (sscanf(line, "%lu %lu %lu", &zone, &from, &to) != 3)
			return fail(import, "a remap has 3 numbers, but this is '%.40s'", line);
		fprintf(import->out, "remap = %lu,%lu,%lu\n", zone, from, to);
		return 0;
	default:
		if (sscanf(line, "%lu %23s", &from, time) != 2)
			return fail(import, "a seek has 2 numbers, but this is '%.40s'", line);
		fprintf(import->out, "seek = %lu,", from);
		return put_ms(import, time);
	}
}

static int import_section(struct import *import, const char *line)
{
	static const char *const names[] = {
		[ZONES] = "[zones]", [SLIPS] = "[slips]", [REMAPS] = "[remaps]", [SEEK] = "[seek]"
	};
	enum section section;

	for (section = ZONES; section <= SEEK; section++) {
		if (!strcmp(line, names[section])) {
			import->section = section;
			return 0;
		}
	}
	return fail(import, "there is no table '%.30s'", line);
}

static int import_line(struct import *import, char *line)
{
	line = trimmed(line);
	if (!*line)
		return 0;
	if (*line == '#') {
		if (import->section == HEAD)	/* where the values come from */
			fprintf(import->out, "%s\n", line);
		return 0;
	}
	if (*line == '[')
		return import_section(import, line);
	return import->section == HEAD ? import_key(import, line) : import_row(import, line);
}

static u64 capacity(const struct import *import)
{
	return import->declared && import->declared < import->sum ? import->declared : import->sum;
}

bool params_recognize(const char *text, size_t len)
{
	return memmem(text, len, "\n[zones]", 8);
}

char *params_to_profile(const char *text, size_t len, const char *source,
			struct profile_error *error)
{
	struct import import = { .source = source, .error = error };
	const char *end = text + len, *next;
	char *profile = NULL, line[1024];
	size_t size;
	int ret = 0;

	import.out = open_memstream(&profile, &size);
	if (!import.out)
		return NULL;
	fprintf(import.out, PARAMS_HEAD "%s.\n", source);
	for (; text < end && !ret; text = next + 1) {
		import.line++;
		next = memchr(text, '\n', end - text) ?: end;
		if (next - text >= sizeof(line)) {
			ret = fail(&import, "line is longer than %zu characters", sizeof(line) - 1);
			break;
		}
		memcpy(line, text, next - text);
		line[next - text] = '\0';
		ret = import_line(&import, line);
	}
	if (!ret)
		fprintf(import.out, "capacity = %llu sectors\n",
			(unsigned long long)capacity(&import));
	fclose(import.out);
	if (ret) {
		free(profile);
		return NULL;
	}
	return profile;
}
