// SPDX-License-Identifier: GPL-2.0
/*
 * Drives that fail: the faults of a disk's model, see timing.h. The model itself decides what they
 * do (model/fault/fault.h). Here they are made, listed and told apart for the block layer.
 *
 * They exist from the first fault on. Their memory stays until the table goes.
 */
#include "timing-internal.h"

#include <linux/device-mapper.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

/* Both models are told. Each has a clock of its own; speedup's is ahead by this. */
static void attach_faults(struct timing *t)
{
	if (t->disk)
		disk_set_faults(t->disk, t->faults);
	if (t->drive)
		drive_set_faults(t->drive, t->faults, t->drive_ahead);
}

void timing_attach_faults(struct timing *t)
{
	unsigned long flags;

	spin_lock_irqsave(&t->figures->model.lock, flags);
	if (t->faults)
		attach_faults(t);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
}

bool timing_has_faults(const struct timing *t)
{
	return READ_ONCE(t->faults);
}

void timing_set_age(struct timing *t, u64 age)
{
	t->age_shift = age - platter_clock(t);
	t->has_age = true;
}

u64 timing_age(const struct timing *t)
{
	return platter_clock(t) + t->age_shift;
}

u64 timing_age_shift(const struct timing *t)
{
	return t->age_shift;
}

bool timing_has_age(const struct timing *t)
{
	return t->has_age || timing_has_faults(t);
}

/* The first ones: @first, which is not used after that by anybody else. */
static void begin_faults(struct timing *t, struct faults *first)
{
	unsigned long flags;

	spin_lock_irqsave(&t->figures->model.lock, flags);
	WRITE_ONCE(t->faults, first);
	attach_faults(t);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	timing_count_bytes(t, sizeof(*first));
}

/* Returns NULL, with @error filled, without memory. */
static struct faults *faults_alloc(struct fault_error *error)
{
	struct faults *faults = kvmalloc(sizeof(*faults), GFP_KERNEL);

	if (!faults)
		snprintf(error->text, sizeof(error->text), "not enough memory");
	return faults;
}

/* A text may be long: neither of these is for who holds the model's lock. */
static int read_fault_text(struct faults *faults, const char *text, struct fault_error *error)
{
	might_sleep();
	return faults_parse(faults, text, error);
}

static size_t print_fault_text(const struct faults *faults, char *buf, unsigned int size)
{
	might_sleep();
	return faults_print(faults, buf, size);
}

/* Requests change what is there, so it is copied, and changed, under the lock: all or nothing. */
static int add_to_faults(struct timing *t, const struct faults *added, struct fault_error *error)
{
	struct faults *changed = faults_alloc(error);
	unsigned long flags;
	int r;

	if (!changed)
		return -ENOMEM;
	spin_lock_irqsave(&t->figures->model.lock, flags);
	*changed = *t->faults;
	r = faults_merge(changed, added, error);
	if (!r)
		*t->faults = *changed;
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	kvfree(changed);
	return r;
}

int timing_add_faults(struct timing *t, const char *text, struct fault_error *error)
{
	struct faults *parsed = faults_alloc(error);
	int r;

	if (!parsed)
		return -ENOMEM;
	if (t->faults) {
		faults_init_added(parsed, &t->profile);
	} else {
		faults_init(parsed, &t->profile);
		parsed->shift = t->age_shift;
	}
	r = read_fault_text(parsed, text, error);
	if (!r && !t->faults) {
		begin_faults(t, parsed);
		return 0;
	}
	if (!r)
		r = add_to_faults(t, parsed, error);
	kvfree(parsed);
	return r;
}

int timing_remove_faults(struct timing *t, const char *which, struct fault_error *error)
{
	bool all = !strcmp(which, "all");
	unsigned int number = 0;
	unsigned long flags;
	int r = all ? 0 : kstrtouint(which, 10, &number);

	spin_lock_irqsave(&t->figures->model.lock, flags);
	if (all) {
		while (t->faults && t->faults->nr)
			faults_remove(t->faults, t->faults->nr - 1);
	} else if (!r && t->faults && number < t->faults->nr) {
		faults_remove(t->faults, number);
	} else {
		snprintf(error->text, sizeof(error->text), "there is no fault of number %.20s",
			 which);
		r = -EINVAL;
	}
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	return r;
}

unsigned int timing_print_faults(struct timing *t, char *buf, unsigned int size)
{
	struct faults *faults;
	unsigned int noio;
	unsigned long flags;
	size_t len;

	if (!timing_has_faults(t))
		return scnprintf(buf, size, "none");
	/* Reclaim could wait for this disk, which may be suspended. */
	noio = memalloc_noio_save();
	faults = kvmalloc(sizeof(*faults), GFP_KERNEL);
	memalloc_noio_restore(noio);
	/* Without memory all is printed under the lock: a table line must not lack them. */
	spin_lock_irqsave(&t->figures->model.lock, flags);
	if (faults)
		*faults = *t->faults;
	else
		len = faults_print(t->faults, buf, size);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	if (faults)
		len = print_fault_text(faults, buf, size);
	kvfree(faults);
	return min_t(size_t, len, size - 1);
}

blk_status_t timing_fault_status(u8 fault)
{
	switch (fault) {
	case FAULT_MEDIA:
		return BLK_STS_MEDIUM;
	case FAULT_TIMEOUT:
		return BLK_STS_TIMEOUT;
	default:
		return BLK_STS_OFFLINE;
	}
}
