// SPDX-License-Identifier: GPL-2.0
/* A model is made, told what the disk has, and unmade: see timing.h. */
#include "timing-internal.h"

#include <linux/device-mapper.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>
#include "../base/inject.h"
#include "../compat/compat.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

const struct profile *timing_profile(const struct timing *t)
{
	return &t->profile;
}

const char *timing_word(const struct timing *t)
{
	return t->word;
}

bool timing_writes_through(const struct timing *t)
{
	return t->profile.write_cache == WRITE_CACHE_OFF ||
	       t->profile.write_cache == WRITE_CACHE_THROUGH;
}

void timing_count_bytes(struct timing *t, size_t bytes)
{
	t->bytes += bytes;
	atomic64_add(bytes, &t->figures->model_bytes);
}

/* What was reached belongs to the disk: only its first model makes it. */
static int make_reach(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	struct reach *reach;
	unsigned long flags;

	if (READ_ONCE(figures->reached))
		return 0;
	reach = kvmalloc(sizeof(*reach), GFP_KERNEL);
	if (!reach)
		return -ENOMEM;
	reach_clear(reach, t->profile.sectors);
	spin_lock_irqsave(&figures->lock, flags);
	if (!figures->reached) {
		figures->reached = reach;
		reach = NULL;
		atomic64_add(sizeof(*reach), &t->figures->model_bytes);
	}
	spin_unlock_irqrestore(&figures->lock, flags);
	kvfree(reach);
	return 0;
}

int timing_set_mode(struct timing *t, enum david_mode mode)
{
	if (mode == DAVID_MODE_SPEEDUP) {
		if (t->drive)
			return 0;
		t->drive = drive_create(&t->profile, t->ftl, GFP_KERNEL);
		if (!t->drive)
			return -ENOMEM;
		t->drive_ahead = platter_clock(t) - t->drive_clock;
		timing_attach_faults(t);
		timing_count_from(t);
		timing_count_bytes(t, drive_bytes(t->drive));
		return 0;
	}
	if (t->disk)
		return 0;
	if (make_reach(t))
		return -ENOMEM;
	t->disk = disk_create(&t->profile, t->ftl, GFP_KERNEL);
	if (!t->disk)
		return -ENOMEM;
	disk_sum_into(t->disk, &t->sums);
	timing_attach_faults(t);
	timing_count_from(t);
	timing_count_bytes(t, disk_bytes(t->disk));
	return 0;
}

static size_t profile_bytes(const struct profile *profile)
{
	return profile->nr_zones * sizeof(*profile->zones) +
	       profile->nr_slips * sizeof(*profile->slips) +
	       profile->nr_remaps * sizeof(*profile->remaps) +
	       profile->nr_seeks * sizeof(*profile->seeks);
}

/* Parse @word, keep what it says in canonical form, and scale it. */
static int timing_read_profile(struct timing *t, const char *word, u64 sectors, char **error)
{
	/* Shared by all: two constructors that fail at once may garble the text. */
	static char text[160];
	struct profile_error e;
	size_t size;
	int r;

	r = profile_parse(&t->profile, word, strlen(word), &e);
	if (r) {
		*error = "Not enough memory for the profile";
		if (r == -EINVAL) {
			snprintf(text, sizeof(text), "profile: item %u: %s", e.line, e.text);
			*error = text;
		}
		return r;
	}
	*error = "Not enough memory for the profile";
	size = profile_print(&t->profile, NULL, 0) + 1;
	t->word = kvmalloc(size, GFP_KERNEL);
	if (!t->word)
		return -ENOMEM;
	profile_print(&t->profile, t->word, size);
	r = profile_scale(&t->profile, sectors);
	if (r == -EINVAL)
		*error = "profile: cannot be scaled to a disk of this size";
	if (r)
		return r;
	timing_count_bytes(t, size + profile_bytes(&t->profile));
	return 0;
}

void timing_tell_mode(struct timing *t, enum david_mode mode)
{
	trace_david_mode(t->dev, mode);
}

static int make_map(struct timing *t)
{
	if (t->profile.kind != DRIVE_SSD)
		return 0;
	t->ftl = ftl_create(&t->profile, GFP_KERNEL);
	if (!t->ftl)
		return -ENOMEM;
	timing_count_bytes(t, ftl_bytes(t->ftl));
	return 0;
}

static int make_deliveries(struct timing *t)
{
	struct delivery *delivery;
	int cpu;

	t->deliveries = alloc_percpu(struct delivery);
	if (!t->deliveries)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		delivery = per_cpu_ptr(t->deliveries, cpu);
		delivery->timing = t;
		INIT_CSD(&delivery->call, timing_deliver_here, delivery);
	}
	timing_count_bytes(t, num_possible_cpus() * sizeof(*delivery));
	return 0;
}

struct timing *timing_create(struct dm_target *ti, struct store *store, const char *word,
			     char **error)
{
	struct timing *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int r;

	if (!t) {
		*error = "Not enough memory for the model";
		return ERR_PTR(-ENOMEM);
	}
	t->ti = ti;
	t->store = store;
	t->figures = store->figures;
	t->dev = disk_devt(dm_disk(dm_table_get_md(ti->table)));
	t->armed = U64_MAX;
	t->due_tail = &t->due;
	INIT_LIST_HEAD(&t->beside);
	INIT_LIST_HEAD(&t->waiting[0]);
	INIT_LIST_HEAD(&t->waiting[1]);
	hrtimer_setup(&t->timer, timing_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	timing_count_bytes(t, sizeof(*t));
	*error = "Not enough memory for the model";
	r = make_deliveries(t) ?: timing_read_profile(t, word, ti->len, error);
	if (!r) {
		*error = "Not enough memory for the model";
		r = make_map(t);
		t->age_shift = -platter_clock(t);	/* it is new */
	}
	if (r) {
		timing_destroy(t);
		return ERR_PTR(r);
	}
	return t;
}

void timing_destroy(struct timing *t)
{
	struct beside *beside, *next;

	if (!t)
		return;
	wait_var_event(&t->plugs, !atomic_read(&t->plugs));
	hrtimer_cancel(&t->timer);
	/* A call on another CPU has delivered the last request, and may still be on its way out. */
	if (num_possible_cpus() > 1)
		synchronize_rcu();
	free_percpu(t->deliveries);
	/* Nobody waits for these. */
	list_for_each_entry_safe(beside, next, &t->beside, list)
		timing_free_beside(t, &beside->timed);
	if (t->source.count)
		timing_count_to(t);
	if (t->disk)
		disk_destroy(t->disk);
	if (t->drive)
		drive_destroy(t->drive);
	kvfree(t->faults);
	ftl_destroy(t->ftl);
	profile_free(&t->profile);
	kvfree(t->word);
	atomic64_sub(t->bytes, &t->figures->model_bytes);
	kfree(t);
}
