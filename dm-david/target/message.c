// SPDX-License-Identifier: GPL-2.0
/* Messages to a live target: see message.h. */
#include "message.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include "../base/plantedio.h"
#include "../compat/compat.h"
#include "../io/david.h"
#include "../io/implicit.h"
#include "../io/packer.h"
#include "../io/twin.h"
#include "../owner/stack.h"
#include "../store/pool.h"
#include "iolocks.h"

int check_model_only(const struct david *d, char **error)
{
	struct block_device *backing = d->dev->bdev;

	if (d->zoned)
		*error = "mode: model-only is not for a disk with zones";
	else if (bdev_nr_sectors(backing) < d->ti->len)
		*error = "mode: model-only needs a backing device at least as large as the target";
	else if (bdev_logical_block_size(backing) > timing_profile(d->timing)->logical_block)
		*error =
"mode: model-only needs logical blocks no smaller than the backing device's: logical_block";
	else
		return 0;
	return -EINVAL;
}

void print_stats(const struct david *d, char *result, unsigned int maxlen)
{
	struct david_stats *st = kzalloc(sizeof(*st), GFP_KERNEL);

	result[0] = '\0';
	if (!st)
		return;
	store_stats(d->store, st);
	stats_print(st, result, maxlen);
	kfree(st);
}

/* With mode=model-only the disk sends on what it is sent, and asks for nothing. */
static void end_trails(struct david *d, bool ends)
{
	if (ends != d->ends_trails)
		stack_end_trails(disk_devt(d->owners.disk.bdev->bd_disk), ends ? 1 : -1);
	d->ends_trails = ends;
}

static int change_mode(struct david *d, const char *name)
{
	int mode = mode_parse(name);
	char *error = NULL;
	unsigned int noio;
	int r = -EINVAL;

	mutex_lock(&d->mode_lock);
	if (INJECTED(overio))
		planted_read(d->dev->bdev);
	if (mode < 0) {
		error = "mode: must be timing-accurate, speedup or model-only";
	} else if (mode == d->mode) {
		r = 0;
	} else if (!d->timing) {
		error = "mode: without a profile there is no time: must be speedup";
	} else if (mode == DAVID_MODE_MODEL_ONLY || d->mode == DAVID_MODE_MODEL_ONLY) {
		/* A request in flight could change the store after store_empty(). */
		if (!dm_suspended(d->ti))
			error =
"mode: to or from model-only the device must be suspended: dmsetup suspend";
		else if (d->store->wal)
			error = "mode: to or from model-only there must be no store: store=memory";
		else if (!store_empty(d->store))
			error = "mode: to or from model-only the store must be empty";
		else if (mode == DAVID_MODE_MODEL_ONLY && timing_has_faults(d->timing))
			error = "mode: model-only knows no faults, and the disk had some";
		else
			r = mode == DAVID_MODE_MODEL_ONLY ? check_model_only(d, &error) : 0;
	} else {
		r = 0;
	}
	if (!r && mode != d->mode) {
		/* Reclaim could wait for this disk, which may be suspended. */
		noio = memalloc_noio_save();
		r = timing_set_mode(d->timing, mode);
		memalloc_noio_restore(noio);
		if (r)
			error = "Not enough memory for the modelled disk";
	}
	if (!r && mode != d->mode) {
		/* The store is empty, and in model-only nobody knows what the disk has. */
		if (mode == DAVID_MODE_MODEL_ONLY || d->mode == DAVID_MODE_MODEL_ONLY)
			timing_forget(d->timing);
		timing_tell_mode(d->timing, mode);
	}
	if (!r) {
		end_trails(d, mode != DAVID_MODE_MODEL_ONLY);
		/* Pairs with map_timed(): whoever reads the new mode sees its model. */
		smp_store_release(&d->mode, mode);
		WRITE_ONCE(d->store->figures->mode, mode);
	}
	mutex_unlock(&d->mode_lock);
	if (error)
		DMERR("%s: %s", dm_table_device_name(d->ti->table), error);
	return r;
}

/* Blocks that are squashed already read as the new kind, too. */
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
	judge_content_changed(d);
	write_sequnlock(&d->content_lock);
	return 0;
}

static int change_files(struct david *d, const char *text)
{
	char error[BYFILE_ERROR_SIZE];
	int r;

	mutex_lock(&d->mode_lock);
	atomic64_sub(byfile_bytes(&d->byfile), &d->store->figures->target_bytes);
	r = byfile_set(&d->byfile, text, error);
	atomic64_add(byfile_bytes(&d->byfile), &d->store->figures->target_bytes);
	mutex_unlock(&d->mode_lock);
	if (r)
		DMERR("%s: files: %s", dm_table_device_name(d->ti->table), error);
	return r;
}

/* Warn if rules for files have no effect: without page owners only ext's files are known. */
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
		if (add)
			twin_prepare(d);
	}
	if (r)
		DMERR("%s: raw: %s", dm_table_device_name(d->ti->table), error);
	else if (add)
		warn_of_deafness(d);
	return r;
}

/* pool drop NAME: another disk of the pool, which is closed */
static int pool_message(struct david *d, unsigned int argc, char **argv)
{
	char *error = "wants drop NAME";
	int r = -EINVAL;

	if (!d->store->pool)
		error = "this disk is in no pool";
	else if (READ_ONCE(d->store->no_updates))
		error = "this disk is read-only, or its store has failed";
	else if (argc == 2 && !strcmp(argv[0], "drop"))
		r = pool_drop(d->store->pool, d->dev->bdev, argv[1], &error);
	if (r)
		DMERR("%s: pool: %s", dm_table_device_name(d->ti->table), error);
	return r;
}

/* MAJOR:MINOR */
static bool message_number(const char *text, dev_t *number)
{
	unsigned int major, minor;
	char end;

	if (sscanf(text, "%u:%u%c", &major, &minor, &end) != 2)
		return false;
	*number = MKDEV(major, minor);
	return true;
}

/* stack LOOP DISKSEQ LOWER SECTOR: what a loop device with direct I/O lies on. */
static int link_message(struct david *d, char **argv)
{
	u64 diskseq, sector;
	dev_t loop, lower;
	int r = -EINVAL;

	if (!message_number(argv[0], &loop) || kstrtou64(argv[1], 10, &diskseq) ||
	    !message_number(argv[2], &lower) || kstrtou64(argv[3], 10, &sector))
		DMERR("%s: stack: wants MAJOR:MINOR DISKSEQ MAJOR:MINOR SECTOR",
		      dm_table_device_name(d->ti->table));
	else
		r = stack_link(d->owners.disk.bdev, loop, diskseq, lower, sector);
	return r;
}

/* pack */
static int pack_message(struct david *d, char *result, unsigned int maxlen)
{
	struct packed packed;
	const char *error;
	int r = pack_disk(d, &packed, &error);

	if (r) {
		DMERR("%s: pack: %s", dm_table_device_name(d->ti->table), error);
		return r;
	}
	scnprintf(result, maxlen,
		  "blocks=%llu packs=%llu places=%llu changed=%llu long=%llu stopped=%s",
		  packed.blocks, packed.packs, packed.places, packed.changed, packed.long_ones,
		  packed.stopped ?: "no");
	return 1;
}

/* drive: the profile, scaled to the disk */
static int drive_message(const struct david *d, char *result, unsigned int maxlen)
{
	result[0] = '\0';
	if (d->timing)
		profile_print(timing_profile(d->timing), result, maxlen);
	return 1;
}

/* Add what is in @text, or remove what it names. */
static int change_faults(struct david *d, bool add, const char *text)
{
	struct fault_error error = { "without a profile there is no drive that could fail" };
	unsigned int noio;
	int r = -EINVAL;

	mutex_lock(&d->mode_lock);
	if (d->timing && d->mode == DAVID_MODE_MODEL_ONLY) {
		strscpy(error.text, "not with mode=model-only", sizeof(error.text));
	} else if (d->timing) {
		/* Reclaim could wait for this disk, which may be suspended. */
		noio = memalloc_noio_save();
		r = add ? timing_add_faults(d->timing, text, &error) :
			  timing_remove_faults(d->timing, text, &error);
		memalloc_noio_restore(noio);
	}
	mutex_unlock(&d->mode_lock);
	if (r)
		DMERR("%s: fault: %s", dm_table_device_name(d->ti->table), error.text);
	return r;
}

/* fault list | add FAULTS | remove NUMBER|all */
static int fault_message(struct david *d, unsigned int argc, char **argv, char *result,
			 unsigned int maxlen)
{
	unsigned int len;

	if (argc == 1 && !strcmp(argv[0], "list")) {
		if (!d->timing) {
			scnprintf(result, maxlen, "age=0ns shift=0 faults=none");
			return 1;
		}
		len = scnprintf(result, maxlen, "age=%lluns shift=%llu faults=",
				timing_age(d->timing), timing_age_shift(d->timing));
		timing_print_faults(d->timing, result + len, maxlen - len);
		return 1;
	}
	if (argc == 2 && (!strcmp(argv[0], "add") || !strcmp(argv[0], "remove")))
		return change_faults(d, !strcmp(argv[0], "add"), argv[1]);
	DMERR("%s: fault: wants list, add FAULTS or remove NUMBER, or all",
	      dm_table_device_name(d->ti->table));
	return -EINVAL;
}

/* reach restart */
static int reach_message(struct david *d, const char *word)
{
	if (strcmp(word, "restart")) {
		DMERR("%s: reach: wants restart", dm_table_device_name(d->ti->table));
		return -EINVAL;
	}
	mutex_lock(&d->mode_lock);
	if (d->timing)
		timing_restart_reach(d->timing);
	mutex_unlock(&d->mode_lock);
	return 0;
}

#define MESSAGES "stats, stack, stack LOOP DISKSEQ LOWER SECTOR, mode MODE, content KIND, " \
	"files SUFFIXES, raw ..., pool drop NAME, pack, drive, fault ..., reach restart"

static int message_obey(struct dm_target *ti, unsigned int argc, char **argv, char *result,
			unsigned int maxlen)
{
	if (argc == 1 && !strcmp(argv[0], "stats")) {
		print_stats(ti->private, result, maxlen);
		return 1;
	}
	if (argc == 1 && !strcmp(argv[0], "stack")) {
		stack_print(&((struct david *)ti->private)->owners, result, maxlen);
		return 1;
	}
	if (argc == 5 && !strcmp(argv[0], "stack"))
		return link_message(ti->private, argv + 1);
	if (argc == 2 && !strcmp(argv[0], "mode"))
		return change_mode(ti->private, argv[1]);
	if (argc == 2 && !strcmp(argv[0], "content"))
		return change_content(ti->private, argv[1]);
	if (argc == 2 && !strcmp(argv[0], "files"))
		return change_files(ti->private, argv[1]);
	if (argc == 1 && !strcmp(argv[0], "pack"))
		return pack_message(ti->private, result, maxlen);
	if (argc == 1 && !strcmp(argv[0], "drive"))
		return drive_message(ti->private, result, maxlen);
	if (argc == 2 && !strcmp(argv[0], "reach"))
		return reach_message(ti->private, argv[1]);
	if (argc && !strcmp(argv[0], "fault"))
		return fault_message(ti->private, argc - 1, argv + 1, result, maxlen);
	if (argc && !strcmp(argv[0], "raw"))
		return raw_message(ti->private, argc - 1, argv + 1, result, maxlen);
	if (argc && !strcmp(argv[0], "pool"))
		return pool_message(ti->private, argc - 1, argv + 1);
	DMERR("%s: unknown message \"%s\"; known are: " MESSAGES,
	      dm_table_device_name(ti->table), argv[0]);
	return -EINVAL;
}

int david_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		  unsigned int maxlen)
{
	struct david *d = ti->private;
	int r;

	iolocks_begin_message();
	if (INJECTED(overio))
		planted_read(d->dev->bdev);
	r = message_obey(ti, argc, argv, result, maxlen);
	iolocks_end_message();
	return r;
}
