// SPDX-License-Identifier: GPL-2.0
/*
 * The parameters keep their meaning. So the import translates names and units.
 * There are four exceptions. Two are where a file contradicts its own zones. The zone tables
 * of some drives have more blocks than the drive declares. The declared number
 * counts, and the last zones are cut. That moves no block in front of the cut. And
 * the last zone may end with the cylinder whose number is that of all cylinders
 * (hp_c2490a): there the zones count, as their blocks are those declared. The third is a
 * settle below zero (hp_c2490a, dec_rz26): an arm that writes is on its track no sooner than one
 * that reads, so it is zero. The fourth is a write that misses and has the arm sooner than a read
 * that does: a write is decoded as a read is, and its data come as well. So it has as much
 * overhead. Of eight drives' 16 overheads 15 are so. The other is hp_c2490a's after a write, which
 * is hp_c2247a's figure to the last digit.
 *
 * DiskSim 4.0's reference manual (CMU-PDL-08-101) and its module specifications
 * say which numbers a switch may have. All of them are in the tables below. For
 * each number there are the words of a profile that mean the same, or the reason
 * why the import refuses it.
 */
#define _GNU_SOURCE	/* memmem */
#include "params.h"

enum translation { AS_IT_IS, IN_MS, BY_NUMBER, IGNORED };

/* What else must be true of the drive for a number to mean the same as its word. */
enum condition { ALWAYS, NO_SLIPS, EVEN_ZONES };

/* One number that a switch may have. */
struct number {
	int number;
	const char *word;	/* in the profile; NULL: refused */
	const char *more;	/* a line of the profile besides, or NULL */
	const char *why;	/* it is refused, or may be by its condition */
	enum condition only_if;
};

struct key {
	const char *name;
	const char *option;	/* BY_NUMBER: NULL if no number has an effect */
	enum translation how;
	const struct number *numbers;
	unsigned int nr_numbers;
};

#define KEY(k, o, h)	{ .name = k, .option = o, .how = h }
#define NUMBER(k, o, n)	{ .name = k, .option = o, .how = BY_NUMBER, .numbers = n,	\
			  .nr_numbers = ARRAY_SIZE(n) }

#define TAKEN(n, w)		{ .number = n, .word = w }
#define REFUSED(n, reason)	{ .number = n, .why = reason }
#define TAKEN_IF(n, w, c, reason)	\
	{ .number = n, .word = w, .only_if = c, .why = reason }

static const struct number yes_no[] = { TAKEN(0, "no"), TAKEN(1, "yes") };

/* DiskSim takes 0 to 2 for these, and asks only whether the number is 0. */
static const struct number yes_no_yes[] = { TAKEN(0, "no"), TAKEN(1, "yes"), TAKEN(2, "yes") };

/*
 * These switches have no effect on an imported drive. It serves one command at a
 * time, so no other command can hit the cache, be prebuffered or seek meanwhile.
 * It does not share the bus. A read of blocks that read-ahead is fetching always
 * waits for them.
 */
static const struct number no_effect[] = { TAKEN(0, "no"), TAKEN(1, "yes") };
static const struct number preseeking[] = { TAKEN(0, "no"), TAKEN(1, "yes"), TAKEN(2, "yes") };

static const struct number mapping[] = {
	TAKEN(0, "no"),
	TAKEN(1, "yes"),
	/* As 1, but counted from the disk's first cylinder, not from the zone's. */
	TAKEN_IF(2, "yes", EVEN_ZONES, "the model counts odd cylinders from its zone's first"),
	REFUSED(3, "DiskSim has no layout for it either"),
	REFUSED(4, "the layout is in a file of its own"),
};

#define SPARES_IN_FRONT	"the model has no spares at the front of cylinders"

static const struct number sparing[] = {
	TAKEN(0, "none"),
	TAKEN(1, "tracks"),
	TAKEN(2, "cylinder"),
	TAKEN(3, "track"),
	TAKEN_IF(4, "cylinder", NO_SLIPS, "they would use the disk's last spares"),
	REFUSED(5, SPARES_IN_FRONT),
	REFUSED(6, SPARES_IN_FRONT),
	TAKEN(7, "disk-end"),
	TAKEN(8, "range"),
	TAKEN(9, "zone-end"),
	/* As 9, but slips take no spares. The layout is the same: the zone table counts slips. */
	TAKEN(10, "zone-end"),
};

static const struct number readahead[] = {
	TAKEN(0, "none"),
	TAKEN(1, "track"),
	TAKEN(2, "cylinder"),
	TAKEN(3, "max"),
	TAKEN(4, "track-next"),
};

static const struct number over_requested[] = {
	{ .number = -1, .word = "yes", .more = "drop_requested = yes" },
	TAKEN(0, "no"),
	TAKEN(1, "yes"),
};

static const struct number write_cache[] = {
	TAKEN(0, "through"), TAKEN(1, "sequential"), TAKEN(2, "back")
};

static const struct key keys[] = {
	KEY("name", "name", AS_IT_IS),
	KEY("model", NULL, IGNORED),
	KEY("published_rms_ms", NULL, IGNORED),
	KEY("rpm", "rpm", AS_IT_IS),
	KEY("heads", "heads", AS_IT_IS),
	KEY("cylinders", "cylinders", AS_IT_IS),
	KEY("declared_blocks", NULL, IGNORED),	/* see import_zone() */
	KEY("sector_bytes", NULL, IGNORED),	/* see import_key() */
	NUMBER("lbn_mapping", "serpentine", mapping),
	NUMBER("sparing_scheme", "sparing", sparing),
	KEY("sparing_range_cyls", "sparing_range", AS_IT_IS),
	KEY("head_switch_ms", "head_switch", IN_MS),
	KEY("write_settle_ms", "write_settle", IN_MS),
	KEY("bus_read_ms_per_block", "bus_read", IN_MS),
	KEY("bus_write_ms_per_block", "bus_write", IN_MS),
	KEY("buffer_segments", "segments", AS_IT_IS),
	KEY("max_write_segments", "write_segments", AS_IT_IS),
	KEY("segment_blocks", "segment_sectors", AS_IT_IS),
	NUMBER("separate_write_segment", "separate_write_segment", yes_no),
	NUMBER("enable_cache", "read_cache", yes_no_yes),
	NUMBER("readahead_kind", "readahead", readahead),
	KEY("readahead_min_blocks", "readahead_min", AS_IT_IS),
	KEY("readahead_max_blocks", "readahead_max", AS_IT_IS),
	NUMBER("readahead_over_requested", "readahead_over_requested", over_requested),
	NUMBER("readahead_on_idle_hit", "readahead_on_idle_hit", yes_no),
	NUMBER("read_any_free_blocks", "read_any_free", yes_no),
	NUMBER("fast_write_level", "write_cache", write_cache),
	NUMBER("read_hits_on_write_data", "read_hits_on_write_data", yes_no),
	NUMBER("immediate_buffer_read", "immediate_read", yes_no_yes),
	NUMBER("immediate_buffer_write", "immediate_write", yes_no_yes),
	NUMBER("combine_seq_writes", "combine_sequential_writes", yes_no),
	NUMBER("stop_prefetch_in_sector", "stop_prefetch_in_sector", yes_no),
	NUMBER("write_hit_stop_prefetch", "write_hit_stops_prefetch", yes_no),
	NUMBER("read_directly_to_buffer", "read_directly_to_buffer", yes_no),
	NUMBER("immediate_transfer_partial_hit", "transfer_partial_hit", yes_no),
	KEY("write_water_mark", "write_water_mark", AS_IT_IS),
	KEY("read_water_mark", "read_water_mark", AS_IT_IS),
	NUMBER("water_mark_by_request", "water_mark_by_request", yes_no),
	NUMBER("never_disconnect", "never_disconnect", yes_no),
	NUMBER("hold_bus_read", "hold_bus_read", yes_no),
	NUMBER("hold_bus_write", "hold_bus_write", yes_no),
	NUMBER("almost_read_hits", NULL, no_effect),
	NUMBER("sneaky_full_hits", NULL, no_effect),
	NUMBER("sneaky_partial_hits", NULL, no_effect),
	NUMBER("sneaky_intermediate_hits", NULL, no_effect),
	NUMBER("write_prebuffering", NULL, no_effect),
	NUMBER("preseeking_level", NULL, preseeking),
	NUMBER("disconnect_write_if_seek", NULL, no_effect),
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
	NUMBER("extra_write_disconnect", "extra_write_disconnect", yes_no),
	KEY("xd_command", "xd_command", IN_MS),
	KEY("xd_disconnect", "xd_disconnect", IN_MS),
	KEY("xd_inter", "xd_inter", IN_MS),
	KEY("xd_second", "xd_second", IN_MS),
	KEY("xd_seek_delta", "xd_seek_delta", IN_MS),
	KEY("min_seek_delay", "min_seek_delay", IN_MS),
};

enum section { HEAD, ZONES, SLIPS, REMAPS, SEEK };

/* Overheads of commands that miss, after a read and after a write */
static const char *const read_misses[] = { "ov_read_miss_after_read", "ov_read_miss_after_write" };
static const char *const write_misses[] = {
	"ov_write_miss_after_read", "ov_write_miss_after_write"
};

/* A write's overhead. It is written when the read's is known. */
struct write_miss {
	char value[24];
	unsigned int line;	/* 0: not told */
};

struct import {
	const char *source;
	struct profile_error *error;
	unsigned int line;
	enum section section;
	u64 declared;		/* capacity, 0: not told */
	u64 cylinders;		/* 0: not told */
	u64 in_zones;		/* cylinders, as far as the zones reach */
	u64 sum;		/* of the zones so far */
	const struct number *mapping, *sparing;	/* those that have a condition, or NULL */
	double read_misses[2];	/* ms; 0: not told */
	bool holds_bus;		/* for reads */
	struct write_miss write_misses[2];
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

/* Rounds to nanoseconds: some values have more decimals. */
static int take_ms(struct import *import, const char *value, double *ms)
{
	char *end;

	*ms = strtod(value, &end);
	return end == value || *end ? fail(import, "'%.30s' is not a time in ms", value) : 0;
}

static int put_ms(struct import *import, const char *value)
{
	double ms;

	if (take_ms(import, value, &ms))
		return -EINVAL;
	fprintf(import->out, " %.6f ms\n", ms);
	return 0;
}

/* The numbers that are taken, such as "0, 1 or 2". */
static const char *taken(const struct key *key, char *text, size_t size)
{
	size_t n = 0;
	unsigned int i, left = 0;

	for (i = 0; i < key->nr_numbers; i++)
		left += !!key->numbers[i].word;
	for (i = 0; i < key->nr_numbers; i++)
		if (key->numbers[i].word)
			n += snprintf(text + n, size - n, "%d%s", key->numbers[i].number,
				      --left > 1 ? ", " : left ? " or " : "");
	return text;
}

static int translate_number(struct import *import, const struct key *key, const char *value)
{
	char *end, text[40];
	long wanted = strtol(value, &end, 10);
	const struct number *number;

	for (number = key->numbers; number < key->numbers + key->nr_numbers; number++)
		if (number->number == wanted)
			break;
	if (end == value || *end || number == key->numbers + key->nr_numbers)
		return fail(import, "%s is '%.20s', not %s", key->name, value,
			    taken(key, text, sizeof(text)));
	if (!number->word)
		return fail(import, "%s %d cannot be modelled: %s", key->name, number->number,
			    number->why);
	if (!strcmp(key->name, "lbn_mapping"))
		import->mapping = number->only_if ? number : NULL;
	if (!strcmp(key->name, "sparing_scheme"))
		import->sparing = number->only_if ? number : NULL;
	if (key->option)
		fprintf(import->out, "%s = %s\n", key->option, number->word);
	if (number->more)
		fprintf(import->out, "%s\n", number->more);
	return 0;
}

static int translate(struct import *import, const struct key *key, const char *value)
{
	switch (key->how) {
	case AS_IT_IS:
		fprintf(import->out, "%s = %s\n", key->option, value);
		return 0;
	case IN_MS:
		fprintf(import->out, "%s =", key->option);
		return put_ms(import, value);
	case BY_NUMBER:
		return translate_number(import, key, value);
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

/* True: it is written later. */
static bool note_miss(struct import *import, const char *name, const char *value)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(write_misses); i++) {
		struct write_miss *miss = &import->write_misses[i];

		if (!strcmp(name, read_misses[i]))
			import->read_misses[i] = strtod(value, NULL);
		if (strcmp(name, write_misses[i]) || strlen(value) >= sizeof(miss->value) ||
		    miss->line)
			continue;
		snprintf(miss->value, sizeof(miss->value), "%s", value);
		miss->line = import->line;
		return true;
	}
	return false;
}

/* ms until a read that misses has the arm, after a read or a write: drive_read_decoded() */
static double read_decoded(const struct import *import, u32 after)
{
	const double *misses = import->read_misses;

	return import->holds_bus ? min(misses[after], misses[1]) : misses[after];
}

static int put_write_misses(struct import *import)
{
	const struct write_miss *miss;
	double ms, least;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(write_misses); i++) {
		miss = &import->write_misses[i];
		least = read_decoded(import, i);
		if (!miss->line)
			continue;
		import->line = miss->line;
		if (take_ms(import, miss->value, &ms))
			return -EINVAL;
		/* One below zero is refused as a profile's is. */
		if (ms >= 0 && ms < least) {
			fprintf(stderr, "%s:%u: %s is %s: %g counts, as of a read that misses\n",
				import->source, miss->line, write_misses[i], miss->value, least);
			ms = least;
		}
		fprintf(import->out, "overhead_write_miss_after_%s = %.6f ms\n",
			i ? "write" : "read", ms);
	}
	return 0;
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
	/* Written when the zones are known. What is no number is refused as a profile's is. */
	if (!strcmp(name, "cylinders") && !value[strspn(value, "0123456789")]) {
		import->cylinders = strtoull(value, NULL, 10);
		return 0;
	}
	if (!strcmp(name, "write_settle_ms") && strtod(value, NULL) < 0) {
		fprintf(stderr,
			"%s:%u: write_settle_ms is %.20s: 0 counts, as a write seeks no faster\n",
			import->source, import->line, value);
		value = "0";
	}
	if (!strcmp(name, "hold_bus_read"))
		import->holds_bus = strtol(value, NULL, 10);
	if (note_miss(import, name, value))
		return 0;
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
	if (import->mapping && v[1] % 2)
		return fail(import,
			    "lbn_mapping %d cannot be modelled with a zone from cylinder %llu on: %s",
			    import->mapping->number, v[1], import->mapping->why);
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
	import->in_zones = max_t(u64, import->in_zones, v[2] + 1);
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
		if (import->sparing)
			return fail(import, "sparing_scheme %d with slips cannot be modelled: %s",
				    import->sparing->number, import->sparing->why);
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

static void put_cylinders(const struct import *import)
{
	unsigned long long told = import->cylinders, in_zones = import->in_zones;

	if (told && in_zones == told + 1) {
		fprintf(stderr,
			"%s: the zones have %llu cylinders, and %llu are declared: the zones count\n",
			import->source, in_zones, told);
		fprintf(import->out, "cylinders = %llu  # %llu are declared\n", in_zones, told);
	} else if (told) {
		fprintf(import->out, "cylinders = %llu\n", told);
	}
}

bool params_recognize(const char *text, size_t len)
{
	return memmem(text, len, "\n[zones]", 8);
}

bool params_is_description(const char *text, size_t len)
{
	return memmem(text, len, "disksim_", 8) && memmem(text, len, "{", 1);
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
		ret = put_write_misses(&import);
	if (!ret) {
		put_cylinders(&import);
		fprintf(import.out, "capacity = %llu sectors\n",
			(unsigned long long)capacity(&import));
	}
	fclose(import.out);
	if (ret) {
		free(profile);
		return NULL;
	}
	return profile;
}
