// SPDX-License-Identifier: GPL-2.0
/*
 * dm-david: a disk much larger than the storage behind it, for benchmarks.
 *
 * A file system on this target keeps all of its metadata and none of its data.
 * Blocks that carry metadata are stored on a small backing device, compactly
 * and wherever there is room (store.c); the content of data blocks is dropped
 * and made up again when it is read (map.c); a range table (rangetable.c) says
 * which is which for every block of the large disk. What a block carries is
 * decided from evidence (owner.c, classifier/), and where evidence is missing
 * the block is stored: losing metadata is the one thing that must not happen.
 *
 * After David: N. Agrawal, L. Arulraj, A. Arpaci-Dusseau, R. Arpaci-Dusseau,
 * "Emulating Goliath Storage Systems with David", FAST 2011.
 *
 * A profile gives it the times of a drive (timing.c, model/).
 *
 * This file is the target as device-mapper sees it: the table line and its
 * parameters, status and messages, limits, resume.
 */
#include "../io/david.h"

#include "../lib/crc.h"
#include "../io/extent.h"
#include "grow.h"
#include "../io/implicit.h"
#include "../base/inject.h"

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include "../compat/compat.h"

/*
 * The words of a table line: one table for the parser, the printer and, by its
 * error texts, the user.
 */
struct option {
	const char *name;
	int (*parse)(struct david *d, const char *value);
	void (*print)(const struct david *d, char *value, size_t size);
	char *error;
	/* In place of print(), of what can be long: the length, less than @size. */
	unsigned int (*emit)(struct david *d, char *value, unsigned int size);
};

/* Megabytes. Memory for a block that waits is at most 21 bytes, for all of them 88 MB. */
#define UNCLASSIFIED_DEFAULT	64
#define UNCLASSIFIED_MAX	1048576

/* Of every value that has a print(). */
#define VALUE_MAX CONTENT_TEXT_SIZE

#define MODE_UNSET	((enum david_mode)-1)

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

/* A quarter of what the machine has. */
static unsigned int default_table_megabytes(void)
{
	return max(totalram_pages() >> (20 - PAGE_SHIFT) >> 2, 1ul);
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

/* What recreates the device: it is formatted once only. */
static void print_store(const struct david *d, char *value, size_t size)
{
	strscpy(value, store_names[d->store->wal ? STORE_AUTO : STORE_MEMORY], size);
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
	/* Last, as there may be none. */
	{ "profile", parse_profile, NULL, NULL, emit_profile },
};

#define OPTION_NAMES \
"mode, classify, content, seed, block_size, low_water, unclassified, checksums, " \
"checksum_memory, exact, files, raw, table_memory, store, profile"

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
static int parse_options(struct david *d, unsigned int argc, char **argv, char **error)
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

/* Features of the disk that is faked. Without a profile: of any that is fast. */

/* The largest request without a profile, sectors: Linux's own limit for disks. */
#define MAX_SECTORS	2560

static bool david_rotational(const struct david *d)
{
	return d->timing && timing_profile(d->timing)->rpm;
}

static bool david_write_cache(const struct david *d)
{
	return !d->timing || !timing_writes_through(d->timing);
}

/* A disk without the command gets writes of zeros from its host, and they take their time. */
static bool david_write_zeroes(const struct david *d)
{
	return !d->timing || timing_profile(d->timing)->write_zeroes;
}

/* The table has no room for more ranges: in memory, or in the log. */
static void report_table_full(const struct david *d)
{
	const char *name = dm_table_device_name(d->ti->table);
	struct store *store = d->store;
	unsigned long flags;
	bool memory;

	spin_lock_irqsave(&store->lock, flags);
	/* Less than a sixteenth of it is left. */
	memory = store->table_limit &&
		 !store_growth(store, store->table_limit - store->table_limit / 16);
	spin_unlock_irqrestore(&store->lock, flags);
	if (memory) {
		DMERR("%s: table full: it takes its %u MB; what would take more gets ENOSPC", name,
		      d->table_megabytes);
		DMERR("%s: discard, or load a table with a larger table_memory", name);
	} else {
		DMERR("%s: table full: %llu ranges; what would make more gets ENOSPC", name,
		      wal_ranges_limit(store));
		DMERR("%s: discard, or get a longer log by david store export and import", name);
	}
}

/* Tell the user, in process context, that the store is low, full, both in turn, or failed. */
static void event_work(struct work_struct *work)
{
	struct david *d = container_of(work, struct david, event);
	struct store *store = d->store;
	int notices = atomic_xchg(&d->notices, 0);
	unsigned long flags;
	u64 used;

	spin_lock_irqsave(&store->lock, flags);
	used = store_used(store);
	spin_unlock_irqrestore(&store->lock, flags);

	if (notices & DAVID_NOTICE_LOW) {
		DMWARN("%s: store low: %llu of %llu blocks of the backing device are used",
		       dm_table_device_name(d->ti->table), used,
		       store_blocks(store));
		dm_table_event(d->ti->table);
	}
	if (notices & DAVID_NOTICE_FULL) {
		DMERR("%s: store full: %llu blocks used; what must be stored gets ENOSPC",
		      dm_table_device_name(d->ti->table), store_blocks(store));
		DMERR("%s: discard, or make the backing device larger: david resize --backing",
		      dm_table_device_name(d->ti->table));
		dm_table_event(d->ti->table);
	}
	if (notices & DAVID_NOTICE_TABLE) {
		report_table_full(d);
		dm_table_event(d->ti->table);
	}
	/* Once; wal.c has said why. */
	if (READ_ONCE(store->failed) && !d->failure_warned) {
		d->failure_warned = true;
		dm_table_event(d->ti->table);
	}
}

/* Takes half-built targets: what is not there yet is NULL. */
static void david_free(struct david *d)
{
	if (d->rmw_wq)
		destroy_workqueue(d->rmw_wq);
	if (d->wq)
		destroy_workqueue(d->wq);
	if (d->store) {
		if (mempool_initialized(&d->bounces))
			david_pools_exit(d);
		implicit_destroy(d->implicit);
		timing_destroy(d->timing);
		atomic64_sub(sizeof(*d) + byfile_bytes(&d->byfile), &d->store->target_bytes);
		store_put(d->store);
	}
	if (d->dev)
		dm_put_device(d->ti, d->dev);
	byfile_set(&d->byfile, NULL, NULL);
	raw_destroy(&d->raw);
	kfree(d);
}

/* What model-only mode asks of the devices; @error says what is wrong. */
static int check_model_only(const struct david *d, char **error)
{
	struct block_device *backing = d->dev->bdev;

	if (bdev_nr_sectors(backing) < d->ti->len)
		*error = "mode: model-only needs a backing device at least as large as the target";
	else if (bdev_logical_block_size(backing) > timing_profile(d->timing)->logical_block)
		*error =
"mode: model-only needs logical blocks no smaller than the backing device's: logical_block";
	else
		return 0;
	return -EINVAL;
}

static int make_timing(struct david *d, char **error)
{
	int r;

	d->timing = timing_create(d->ti, d->store, d->profile, error);
	d->profile = NULL;
	if (IS_ERR(d->timing)) {
		r = PTR_ERR(d->timing);
		d->timing = NULL;
		return r;
	}
	if (d->mode == MODE_UNSET)
		d->mode = DAVID_MODE_TIMING_ACCURATE;
	if (d->mode == DAVID_MODE_MODEL_ONLY) {
		r = check_model_only(d, error);
		if (r)
			return r;
	}
	r = timing_set_mode(d->timing, d->mode);
	if (r)
		*error = "Not enough memory for the modelled disk";
	return r;
}

static int david_ctr(struct dm_target *ti, unsigned int argc, char **argv)
{
	struct mapped_device *md = dm_table_get_md(ti->table);
	struct store *store;
	struct david *d;
	int r;

	if (!argc) {
		ti->error = "Backing device is missing: <device> [<count> <name=value>...]";
		return -EINVAL;
	}
	d = kzalloc(sizeof(*d), GFP_KERNEL);
	if (!d) {
		ti->error = "Not enough memory for the target";
		return -ENOMEM;
	}
	d->ti = ti;
	INIT_WORK(&d->event, event_work);
	d->classify = CLASSIFY_AUTO;
	d->content.kind = CONTENT_INCOMPRESSIBLE;
	seqlock_init(&d->content_lock);
	d->csum_io.megabytes = 16;
	d->block_size = 4096;
	d->low_water = U64_MAX;
	d->table_megabytes = default_table_megabytes();
	d->unclassified = UNCLASSIFIED_DEFAULT;
	d->mode = MODE_UNSET;
	mutex_init(&d->mode_lock);
	raw_init(&d->raw);

	r = parse_options(d, argc - 1, argv + 1, &ti->error);
	if (r)
		goto bad;

	r = dm_get_device(ti, argv[0], dm_table_get_mode(ti->table), &d->dev);
	if (r) {
		ti->error = "Backing device is not there, not a block device, or in use";
		goto bad;
	}
	r = -EINVAL;
	if (d->dev->bdev->bd_disk == dm_disk(md)) {
		ti->error = "Backing device is the device itself";
		goto bad;
	}
	if (bdev_logical_block_size(d->dev->bdev) > d->block_size) {
		ti->error = "block_size is smaller than the backing device's logical block size";
		goto bad;
	}
	d->backing_mask = bdev_logical_block_size(d->dev->bdev) - 1;
	if (!d->profile && d->mode != MODE_UNSET && d->mode != DAVID_MODE_SPEEDUP) {
		ti->error = "mode: without a profile there is no time: must be speedup";
		goto bad;
	}
	/* There the backing device is all the disk's own. */
	if (d->mode == DAVID_MODE_MODEL_ONLY)
		d->store_kind = STORE_MEMORY;
	store = store_get(md, ti->begin, d->dev->bdev,
			  dm_table_get_mode(ti->table) & COMPAT_MODE_WRITE, d->block_size,
			  d->store_kind, &ti->error);
	if (IS_ERR(store)) {
		r = PTR_ERR(store);
		goto bad;
	}
	d->store = store;
	if (!d->seed_given)
		d->seed = store->seed;
	atomic64_add(sizeof(*d) + byfile_bytes(&d->byfile), &store->target_bytes);
	if (d->low_water == U64_MAX)
		d->low_water = grow_blocks(store, d->dev->bdev) / 16;
	if (d->low_water > grow_blocks(store, d->dev->bdev)) {
		ti->error = "low_water: more blocks than the backing device has";
		goto bad;
	}

	if (d->profile) {
		r = make_timing(d, &ti->error);
		if (r)
			goto bad;
	} else {
		d->mode = DAVID_MODE_SPEEDUP;
	}

	r = david_pools_init(d);
	if (r) {
		ti->error = "Not enough memory for the pools";
		goto bad;
	}
	d->wq = alloc_workqueue("dm-david", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (d->wq && d->backing_mask >= SECTOR_SIZE)
		d->rmw_wq = alloc_workqueue("dm-david-rmw", WQ_MEM_RECLAIM | WQ_PERCPU, 0);
	if (!d->wq || (d->backing_mask >= SECTOR_SIZE && !d->rmw_wq)) {
		ti->error = "Not enough memory for the work queue";
		r = -ENOMEM;
		goto bad;
	}
	d->csum_io.store = store;
	d->csum_io.bdev = d->dev->bdev;
	d->csum_io.wq = d->wq;
	d->csum_io.name = dm_table_device_name(ti->table);
	csum_policy_init(d);
	r = csum_create(&d->csum_io, d->csum.mode != CSUM_OFF) ?:
	    exact_create(store, &d->exact_work, d->exact_megabytes);
	if (r) {
		ti->error = "Not enough memory for checksums or exact data";
		goto bad;
	}
	d->owners.bdev = dm_disk(md)->part0;
	d->owners.raw = &store->raw;
	if (d->classify == CLASSIFY_IMPLICIT || d->classify == CLASSIFY_AUTO) {
		d->implicit = implicit_create(d);
		if (!d->implicit) {
			ti->error = "Not enough memory for classification";
			r = -ENOMEM;
			goto bad;
		}
	}

	if (d->classify == CLASSIFY_EXPLICIT)
		d->watch_below = FS_SUPERS_END;

	ti->private = d;
	ti->per_io_data_size = david_io_size;
	ti->num_flush_bios = 1;
	ti->flush_supported = david_write_cache(d);
	ti->num_discard_bios = 1;
	ti->discards_supported = true;
	ti->num_write_zeroes_bios = 1;
	return 0;
bad:
	david_free(d);
	return r;
}

static void david_dtr(struct dm_target *ti)
{
	david_free(ti->private);
}

/*
 * Not in ctr: the table before this one may be at work on the store until now.
 * To and from model-only a disk's content cannot be taken along.
 */
static int check_mode(struct dm_target *ti)
{
	struct david *d = ti->private;

	if (d->mode == READ_ONCE(d->store->mode) ||
	    (store_empty(d->store) && !d->store->wal) ||
	    (d->mode != DAVID_MODE_MODEL_ONLY && d->store->mode != DAVID_MODE_MODEL_ONLY))
		return 0;
	DMERR("%s: mode: cannot become %s, as the store is not empty",
	      dm_table_device_name(ti->table), mode_name(d->mode));
	return -EINVAL;
}

static int david_preresume(struct dm_target *ti)
{
	struct david *d = ti->private;
	bool may_write = dm_table_get_mode(ti->table) & COMPAT_MODE_WRITE;
	const char *why;
	int r = store_follow(d->store, d->dev->bdev, &why);

	if (r) {
		DMERR("%s: %s", dm_table_device_name(ti->table), why);
		return r;
	}
	r = check_mode(ti);
	if (r)
		return r;
	extent_open(d);
	return grow_start(d, may_write) ?:
	       rawstore_start(d->store, d->dev->bdev, may_write, &d->raw);
}

static void david_presuspend(struct dm_target *ti)
{
	struct david *d = ti->private;

	if (d->implicit)
		implicit_stop(d->implicit);
}

static void david_presuspend_undo(struct dm_target *ti)
{
	struct david *d = ti->private;

	if (d->implicit)
		implicit_start(d->implicit);
}

static void david_postsuspend(struct dm_target *ti)
{
	struct david *d = ti->private;

	/* Requests have ended, but not what they left to workers. */
	flush_workqueue(d->wq);
	csum_stop(&d->csum_io);
	rawstore_stop(d->store);
	if (d->store->wal)
		wal_stop(d->store);
}

static void david_resume(struct dm_target *ti)
{
	struct david *d = ti->private;
	struct store *store = d->store;
	bool sole = ti->len == dm_table_get_size(ti->table);
	unsigned long flags;

	spin_lock_irqsave(&store->lock, flags);
	store->target_sectors = ti->len;
	store->low_water = d->low_water;
	store->table_limit = (u64)d->table_megabytes << 20;
	store->seed = d->seed;
	WRITE_ONCE(store->mode, d->mode);
	spin_unlock_irqrestore(&store->lock, flags);
	compat_finish_limits(dm_disk(dm_table_get_md(ti->table))->queue, sole,
			     david_rotational(d), david_write_cache(d), david_write_zeroes(d));
	csum_resume(&d->csum_io);
	if (exact_resume(d->store, d->exact_megabytes))
		queue_work(d->wq, &d->exact_work.work);
	if (d->implicit)
		implicit_start(d->implicit);
}

static void print_table(struct david *d, char *result, unsigned int maxlen)
{
	unsigned int nr = ARRAY_SIZE(options) - !d->timing;
	char value[VALUE_MAX];
	unsigned int sz = 0;
	unsigned int i;

	DMEMIT("%s %u", d->dev->name, nr);
	for (i = 0; i < nr; i++) {
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

static void print_ima(const struct david *d, char *result, unsigned int maxlen)
{
	char value[VALUE_MAX];
	unsigned int sz = 0;
	unsigned int i;

	DMEMIT_TARGET_NAME_VERSION(d->ti->type);
	DMEMIT(",backing=%s", d->dev->name);
	for (i = 0; i < ARRAY_SIZE(options); i++) {
		if (!options[i].print)
			continue;
		options[i].print(d, value, sizeof(value));
		DMEMIT(",%s=%s", options[i].name, value);
	}
	/* The others are no matter of security, and too long. */
	if (d->timing)
		DMEMIT(",profile=%s", timing_profile(d->timing)->name);
	DMEMIT(";");
}

static void print_stats(const struct david *d, char *result, unsigned int maxlen)
{
	struct david_stats *st = kzalloc(sizeof(*st), GFP_KERNEL);

	result[0] = '\0';
	if (!st)
		return;
	store_stats(d->store, st);
	stats_print(st, result, maxlen);
	kfree(st);
}

static void david_status(struct dm_target *ti, status_type_t type, unsigned int status_flags,
			 char *result, unsigned int maxlen)
{
	switch (type) {
	case STATUSTYPE_INFO:
		print_stats(ti->private, result, maxlen);
		break;
	case STATUSTYPE_TABLE:
		print_table(ti->private, result, maxlen);
		break;
	case STATUSTYPE_IMA:
		print_ima(ti->private, result, maxlen);
		break;
	}
}

static int change_mode(struct david *d, const char *name)
{
	int mode = mode_parse(name);
	char *error = NULL;
	int r = -EINVAL;

	mutex_lock(&d->mode_lock);
	if (mode < 0) {
		error = "mode: must be timing-accurate, speedup or model-only";
	} else if (mode == d->mode) {
		r = 0;
	} else if (!d->timing) {
		error = "mode: without a profile there is no time: must be speedup";
	} else if (mode == DAVID_MODE_MODEL_ONLY || d->mode == DAVID_MODE_MODEL_ONLY) {
		/* A request that is under way now would change the store after the look at it. */
		if (!dm_suspended(d->ti))
			error =
"mode: to or from model-only the device must be suspended: dmsetup suspend";
		else if (d->store->wal)
			error = "mode: to or from model-only there must be no store: store=memory";
		else if (!store_empty(d->store))
			error = "mode: to or from model-only the store must be empty";
		else
			r = mode == DAVID_MODE_MODEL_ONLY ? check_model_only(d, &error) : 0;
	} else {
		r = 0;
	}
	if (!r && mode != d->mode) {
		r = timing_set_mode(d->timing, mode);
		if (r)
			error = "Not enough memory for the modelled disk";
	}
	if (!r) {
		/* Requests look at it once, pairs with map_timed(): the model is there. */
		smp_store_release(&d->mode, mode);
		WRITE_ONCE(d->store->mode, mode);
	}
	mutex_unlock(&d->mode_lock);
	if (error)
		DMERR("%s: %s", dm_table_device_name(d->ti->table), error);
	return r;
}

/* What is squashed already reads as the new kind, too. */
static int change_content(struct david *d, const char *text)
{
	struct content content;
	const char *error = content_parse(text, &content);

	if (error) {
		DMERR("%s: content: %s", dm_table_device_name(d->ti->table), error);
		return -EINVAL;
	}
	write_seqlock(&d->content_lock);
	d->content = content;
	write_sequnlock(&d->content_lock);
	return 0;
}

static int change_files(struct david *d, const char *text)
{
	char error[BYFILE_ERROR_SIZE];
	int r;

	mutex_lock(&d->mode_lock);
	atomic64_sub(byfile_bytes(&d->byfile), &d->store->target_bytes);
	r = byfile_set(&d->byfile, text, error);
	atomic64_add(byfile_bytes(&d->byfile), &d->store->target_bytes);
	mutex_unlock(&d->mode_lock);
	if (r)
		DMERR("%s: files: %s", dm_table_device_name(d->ti->table), error);
	return r;
}

/* Rules for files need to be told of files: by page owners, or on ext by inodes and names. */
static void warn_of_deafness(const struct david *d)
{
	const struct raw *raw = &d->store->raw;

	if (d->classify == CLASSIFY_DATA && raw_has_file_rules(raw))
		DMWARN("%s: raw: classify=data is not told of files: sectors: works",
		       dm_table_device_name(d->ti->table));
}

/* raw list | add RULE... | remove RULE... */
static int raw_message(struct david *d, unsigned int argc, char **argv, char *result,
		       unsigned int maxlen)
{
	char error[RAW_ERROR_SIZE] = "wants list, add RULE... or remove RULE...";
	bool add = argc && !strcmp(argv[0], "add");
	int r = -EINVAL;

	if (argc == 1 && !strcmp(argv[0], "list")) {
		raw_print(&d->store->raw, '\n', result, maxlen);
		return 1;
	}
	if (argc > 1 && (add || !strcmp(argv[0], "remove"))) {
		if (!add && d->implicit)
			implicit_rules_going(d->implicit);
		r = raw_change(&d->store->raw, add, argc - 1, argv + 1, error);
		if (!add && d->implicit)
			implicit_rules_gone(d->implicit);
		if (add && d->implicit)
			implicit_rules_added(d->implicit);
	}
	if (r)
		DMERR("%s: raw: %s", dm_table_device_name(d->ti->table), error);
	else if (add)
		warn_of_deafness(d);
	return r;
}

#define MESSAGES "stats, mode MODE, content KIND, files SUFFIXES, raw ..."

static int david_message(struct dm_target *ti, unsigned int argc, char **argv,
			 char *result, unsigned int maxlen)
{
	if (argc == 1 && !strcmp(argv[0], "stats")) {
		print_stats(ti->private, result, maxlen);
		return 1;
	}
	if (argc == 2 && !strcmp(argv[0], "mode"))
		return change_mode(ti->private, argv[1]);
	if (argc == 2 && !strcmp(argv[0], "content"))
		return change_content(ti->private, argv[1]);
	if (argc == 2 && !strcmp(argv[0], "files"))
		return change_files(ti->private, argv[1]);
	if (argc && !strcmp(argv[0], "raw"))
		return raw_message(ti->private, argc - 1, argv + 1, result, maxlen);
	DMERR("%s: unknown message \"%s\"; known are: " MESSAGES,
	      dm_table_device_name(ti->table), argv[0]);
	return -EINVAL;
}

static int david_iterate_devices(struct dm_target *ti, iterate_devices_callout_fn fn, void *data)
{
	struct david *d = ti->private;
	sector_t blocks = bdev_nr_sectors(d->dev->bdev) >> d->store->block_shift;

	/* Whole blocks: device-mapper asks for no less than whole logical blocks of the target. */
	return fn(ti, d->dev, 0, blocks << d->store->block_shift, data);
}

/* The disk that is faked, and nothing of the backing device. */
static void david_io_hints(struct dm_target *ti, struct queue_limits *limits)
{
	struct david *d = ti->private;
	const struct profile *profile = d->timing ? timing_profile(d->timing) : NULL;

	limits->logical_block_size = profile ? profile->logical_block : SECTOR_SIZE;
	/* Less than a block costs more than a block: it may need the rest of it. */
	limits->physical_block_size = profile ? profile->physical_block : d->block_size;
	limits->physical_block_size = max(limits->physical_block_size, limits->logical_block_size);
	limits->io_min = limits->physical_block_size;
	limits->io_opt = 0;
	limits->alignment_offset = 0;
	limits->chunk_sectors = 0;
	/* Requests are cut for the backing device below this target. */
	limits->seg_boundary_mask = BLK_SEG_BOUNDARY_MASK;
	limits->virt_boundary_mask = 0;
	limits->max_segment_size = UINT_MAX;
	limits->max_segments = USHRT_MAX;
	if (profile && profile->max_segments < USHRT_MAX)
		limits->max_segments = profile->max_segments;
	compat_max_sectors(limits, profile ? max_t(u32, profile->max_sectors, PAGE_SECTORS) :
					     MAX_SECTORS);
	compat_rotational(limits, david_rotational(d));
	limits->discard_granularity = max(d->block_size, limits->logical_block_size);
	limits->discard_alignment = 0;
	limits->max_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
	limits->max_hw_discard_sectors = UINT_MAX >> SECTOR_SHIFT;
}

static struct target_type david_target = {
	.name = "david",
	.version = DAVID_VERSION,
	/* A request that must not sleep does not: see map_nowait() and timing_arrive(). */
	.features = DM_TARGET_NOWAIT,
	.module = THIS_MODULE,
	.ctr = david_ctr,
	.dtr = david_dtr,
	.map = david_map,
	.end_io = david_end_io,
	.presuspend = david_presuspend,
	.presuspend_undo = david_presuspend_undo,
	.postsuspend = david_postsuspend,
	.preresume = david_preresume,
	.resume = david_resume,
	.status = david_status,
	.message = david_message,
	.iterate_devices = david_iterate_devices,
	.io_hints = david_io_hints,
};

#ifdef DAVID_PLANT
char *david_plant;
module_param_named(plant, david_plant, charp, 0600);
#endif

static int __init david_init(void)
{
	int r;

	crc_setup();
	stopwatch_setup();
	r = david_ctl_init();
	if (r)
		return r;
	r = dm_register_target(&david_target);
	if (r)
		david_ctl_exit();
	return r;
}

static void __exit david_exit(void)
{
	dm_unregister_target(&david_target);
	david_ctl_exit();
}

module_init(david_init);
module_exit(david_exit);

MODULE_DESCRIPTION("device-mapper target that fakes a large disk for benchmarks");
MODULE_AUTHOR("The dm-david authors");
MODULE_LICENSE("GPL");
