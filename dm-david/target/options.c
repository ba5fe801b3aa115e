// SPDX-License-Identifier: GPL-2.0
/* The words of a table line: see options.h. */
#include "options.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/string.h>
#include "../io/david.h"
#include "../lib/poolfmt.h"

/*
 * The words of a table line: one table for the parser, the printer and, by its
 * error texts, the user.
 */
struct option {
	const char *name;
	int (*parse)(struct david *d, const char *value);
	void (*print)(const struct david *d, char *value, size_t size);
	char *error;
	/* Instead of print(), for long values. Returns the length, below @size. */
	unsigned int (*emit)(struct david *d, char *value, unsigned int size);
	/* Not every disk has it: only of those that have it is it printed. */
	bool (*has)(const struct david *d);
};

/* Megabytes. Memory for a block that waits is at most 21 bytes, for all of them 88 MB. */
#define UNCLASSIFIED_DEFAULT	64
#define UNCLASSIFIED_MAX	1048576

/* Of every value that has a print(). */
#define VALUE_MAX POOL_NAME

static int parse_mode(struct david *d, const char *value)
{
	int mode = mode_parse(value);

	if (mode < 0)
		return mode;
	d->mode = mode;
	return 0;
}

static void print_mode(const struct david *d, char *value, size_t size)
{
	strscpy(value, mode_name(READ_ONCE(d->mode)), size);
}

static int parse_profile(struct david *d, const char *value)
{
	d->profile = value;
	return 0;
}

static int parse_classify(struct david *d, const char *value)
{
	int mode = classify_parse(value);

	if (mode < 0)
		return mode;
	d->classify = mode;
	return 0;
}

static void print_classify(const struct david *d, char *value, size_t size)
{
	strscpy(value, classify_name(d->classify), size);
}

static int parse_content(struct david *d, const char *value)
{
	return content_parse(value, &d->content) ? -EINVAL : 0;
}

static void print_content(const struct david *d, char *value, size_t size)
{
	struct content content = david_content(d);

	content_print(&content, value, size);
}

static int parse_seed(struct david *d, const char *value)
{
	d->seed_given = true;
	return kstrtou64(value, 0, &d->seed);
}

static void print_seed(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%llu", d->seed);
}

static int parse_block_size(struct david *d, const char *value)
{
	int r = kstrtouint(value, 10, &d->block_size);

	if (r)
		return r;
	if (!is_power_of_2(d->block_size) || d->block_size < SECTOR_SIZE || d->block_size > 4096)
		return -EINVAL;
	return 0;
}

static void print_block_size(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%u", d->block_size);
}

static int parse_low_water(struct david *d, const char *value)
{
	return kstrtou64(value, 10, &d->low_water);
}

static void print_low_water(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%llu", d->low_water);
}

static int parse_unclassified(struct david *d, const char *value)
{
	int r = kstrtouint(value, 10, &d->unclassified);

	return r ? r : d->unclassified > UNCLASSIFIED_MAX ? -EINVAL : 0;
}

static void print_unclassified(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%u", d->unclassified);
}

static int parse_checksums(struct david *d, const char *value)
{
	int mode = csum_mode_parse(value);

	if (mode < 0)
		return mode;
	d->csum.mode = mode;
	return 0;
}

static void print_checksums(const struct david *d, char *value, size_t size)
{
	strscpy(value, csum_mode_name(d->csum.mode), size);
}

static int parse_checksum_memory(struct david *d, const char *value)
{
	return kstrtouint(value, 10, &d->csum_io.megabytes);
}

static void print_checksum_memory(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%u", d->csum_io.megabytes);
}

static int parse_exact(struct david *d, const char *value)
{
	return kstrtouint(value, 10, &d->exact_megabytes);
}

static void print_exact(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%u", d->exact_megabytes);
}

static int parse_table_memory(struct david *d, const char *value)
{
	int r = kstrtouint(value, 10, &d->table_megabytes);

	return r ? r : d->table_megabytes ? 0 : -EINVAL;
}

static void print_table_memory(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%u", d->table_megabytes);
}

static int parse_files(struct david *d, const char *value)
{
	char error[BYFILE_ERROR_SIZE];

	return byfile_set(&d->byfile, value, error);
}

static unsigned int emit_files(struct david *d, char *value, unsigned int size)
{
	return byfile_print(&d->byfile, value, size);
}

static int parse_raw(struct david *d, const char *value)
{
	char error[RAW_ERROR_SIZE];
	char *copy = kstrdup(value, GFP_KERNEL);
	int r = copy ? raw_add_text(&d->raw, copy, error) : -ENOMEM;

	kfree(copy);
	return r;
}

static unsigned int emit_raw(struct david *d, char *value, unsigned int size)
{
	return raw_print(&d->store->raw, ',', value, size) ?: scnprintf(value, size, "none");
}

static unsigned int emit_profile(struct david *d, char *value, unsigned int size)
{
	return scnprintf(value, size, "%s", timing_word(d->timing));
}

static const char * const store_names[] = {
	[STORE_AUTO] = "auto",
	[STORE_FORMAT] = "format",
	[STORE_MEMORY] = "memory",
};

static int parse_store(struct david *d, const char *value)
{
	int kind = match_string(store_names, ARRAY_SIZE(store_names), value);

	if (kind < 0)
		return kind;
	d->store_kind = kind;
	return 0;
}

/* A printed table line must not format the store again: store=format is printed as store=auto. */
static void print_store(const struct david *d, char *value, size_t size)
{
	strscpy(value, store_names[d->store->wal ? STORE_AUTO : STORE_MEMORY], size);
}

static int parse_pool(struct david *d, const char *value)
{
	d->pool.disk = value;
	return pool_name_ok(value) ? 0 : -EINVAL;
}

static void print_pool(const struct david *d, char *value, size_t size)
{
	strscpy(value, pool_disk_name(d->store), size);
}

static int parse_reserve(struct david *d, const char *value)
{
	return kstrtou64(value, 10, &d->pool.reserve);
}

static void print_reserve(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%llu", pool_reserve(d->store));
}

static int parse_log(struct david *d, const char *value)
{
	return kstrtou64(value, 10, &d->pool.log_pages);
}

static bool has_pool(const struct david *d)
{
	return d->store->pool;
}

static bool has_profile(const struct david *d)
{
	return d->timing;
}

static void print_log(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%llu", pool_log_pages(d->store));
}

static int parse_faults(struct david *d, const char *value)
{
	d->faults = strcmp(value, "none") ? value : NULL;
	return 0;
}

static unsigned int emit_faults(struct david *d, char *value, unsigned int size)
{
	return timing_print_faults(d->timing, value, size);
}

static bool has_faults(const struct david *d)
{
	return d->timing && timing_has_faults(d->timing);
}

static int parse_age(struct david *d, const char *value)
{
	return fault_time_parse(value, &d->age);
}

static void print_age(const struct david *d, char *value, size_t size)
{
	snprintf(value, size, "%lluns", timing_age(d->timing));
}

static bool has_age(const struct david *d)
{
	return d->timing && timing_has_age(d->timing);
}

static int parse_zones(struct david *d, const char *value)
{
	d->zones = value;
	return 0;
}

static void print_zones(const struct david *d, char *value, size_t size)
{
	strscpy(value, d->zoned->dev->name, size);
}

static bool has_zones(const struct david *d)
{
	return d->zoned;
}

static const struct option options[] = {
	{ "mode", parse_mode, print_mode,
	  "mode: must be timing-accurate, speedup or model-only" },
	{ "classify", parse_classify, print_classify,
	  "classify: must be auto, implicit, explicit, keep or data" },
	{ "content", parse_content, print_content,
	  "content: must be one of " CONTENT_WORDS },
	{ "seed", parse_seed, print_seed,
	  "seed: must be a number from 0 to 2^64 - 1" },
	{ "block_size", parse_block_size, print_block_size,
	  "block_size: must be 512, 1024, 2048 or 4096" },
	{ "low_water", parse_low_water, print_low_water,
	  "low_water: must be a number of blocks" },
	{ "unclassified", parse_unclassified, print_unclassified,
	  "unclassified: must be a number of MB from 0 to 1048576" },
	{ "checksums", parse_checksums, print_checksums,
	  "checksums: must be auto, on or off" },
	{ "checksum_memory", parse_checksum_memory, print_checksum_memory,
	  "checksum_memory: must be a number of megabytes" },
	{ "exact", parse_exact, print_exact,
	  "exact: must be a number of megabytes" },
	{ "files", parse_files, NULL,
	  "files: must be off, default, or suffixes and kinds: htm,html=html;gz=gzip",
	  emit_files },
	{ "raw", parse_raw, NULL,
	  "raw: must be none, or rules with commas between: ino:, dir:, suffix:, sectors:",
	  emit_raw },
	{ "table_memory", parse_table_memory, print_table_memory,
	  "table_memory: must be a number of megabytes from 1" },
	{ "store", parse_store, print_store,
	  "store: must be auto, format or memory" },
	{ "pool", parse_pool, print_pool,
	  "pool: must be the disk's name there: up to 63 letters, digits and #+-.:=@_",
	  NULL, has_pool },
	{ "pool_reserve", parse_reserve, print_reserve,
	  "pool_reserve: must be a number of blocks", NULL, has_pool },
	{ "pool_log", parse_log, print_log,
	  "pool_log: must be a number of pages", NULL, has_pool },
	{ "age", parse_age, print_age,
	  "age: must be a number with ns, us, ms, s, m, h or d", NULL, has_age },
	{ "faults", parse_faults, NULL, NULL, emit_faults, has_faults },
	{ "zones", parse_zones, print_zones,
	  "zones: must be a zoned device", NULL, has_zones },
	{ "profile", parse_profile, NULL, NULL, emit_profile, has_profile },
};

#define OPTION_NAMES \
"mode, classify, content, seed, block_size, low_water, unclassified, checksums, " \
"checksum_memory, exact, files, raw, table_memory, store, pool, pool_reserve, pool_log, age, " \
"faults, zones, profile"

void options_default(struct david *d)
{
	d->mode = MODE_UNSET;
	d->classify = CLASSIFY_AUTO;
	d->content.kind = CONTENT_INCOMPRESSIBLE;
	d->block_size = 4096;
	d->low_water = U64_MAX;
	d->unclassified = UNCLASSIFIED_DEFAULT;
	d->csum_io.megabytes = 16;
	d->pool.reserve = U64_MAX;
	d->age = U64_MAX;
	/* A quarter of what the machine has. */
	d->table_megabytes = max(totalram_pages() >> (20 - PAGE_SHIFT) >> 2, 1ul);
}

static int parse_option(struct david *d, char *word, unsigned int *seen, char **error)
{
	char *value = strchr(word, '=');
	unsigned int i;

	if (!value) {
		*error = "A word after the count is not of the form name=value";
		return -EINVAL;
	}
	*value++ = '\0';
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (strcmp(word, options[i].name))
			continue;
		if (*seen & (1u << i)) {
			*error = "A name stands twice among the name=value words";
			return -EINVAL;
		}
		*seen |= 1u << i;
		if (options[i].parse(d, value)) {
			*error = options[i].error;
			return -EINVAL;
		}
		return 0;
	}
	*error = "Unknown name; known are " OPTION_NAMES;
	return -EINVAL;
}

/* [<number of words> <name=value>...] */
int options_parse(struct david *d, unsigned int argc, char **argv, char **error)
{
	unsigned int count, seen = 0;
	int r;

	if (!argc)
		return 0;
	if (kstrtouint(argv[0], 10, &count)) {
		*error = "After the backing device comes the number of words that follow";
		return -EINVAL;
	}
	if (count != argc - 1) {
		*error = "The number of words differs from the number that was announced";
		return -EINVAL;
	}
	for (argv++; count; count--, argv++) {
		r = parse_option(d, *argv, &seen, error);
		if (r)
			return r;
	}
	return 0;
}

/* Printing */

static bool is_printed(const struct david *d, const struct option *option)
{
	return !option->has || option->has(d);
}

void options_print(struct david *d, char *result, unsigned int maxlen)
{
	char value[VALUE_MAX];
	unsigned int sz = 0, nr = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		nr += is_printed(d, &options[i]);
	DMEMIT("%s %u", d->dev->name, nr);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!is_printed(d, &options[i]))
			continue;
		if (options[i].print) {
			options[i].print(d, value, sizeof(value));
			DMEMIT(" %s=%s", options[i].name, value);
		} else {
			DMEMIT(" %s=", options[i].name);
			if (sz < maxlen)
				sz += options[i].emit(d, result + sz, maxlen - sz);
		}
	}
}

void options_print_ima(const struct david *d, char *result, unsigned int maxlen)
{
	char value[VALUE_MAX];
	unsigned int sz = 0;
	unsigned int i;

	DMEMIT_TARGET_NAME_VERSION(d->ti->type);
	DMEMIT(",backing=%s", d->dev->name);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!options[i].print || !is_printed(d, &options[i]))
			continue;
		options[i].print(d, value, sizeof(value));
		DMEMIT(",%s=%s", options[i].name, value);
	}
	/* The rest is long, and does not matter for security. */
	if (d->timing)
		DMEMIT(",profile=%s", timing_profile(d->timing)->name);
	DMEMIT(";");
}
