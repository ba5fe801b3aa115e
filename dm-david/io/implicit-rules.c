// SPDX-License-Identifier: GPL-2.0
/* RAW rules with classify=implicit: the classifier asks which inodes and names they choose. */
#include "implicit-internal.h"

#include "david.h"

static bool is_raw(void *ctx, u64 start, u32 ino)
{
	struct implicit *im = ctx;

	return im->rules_going || raw_has_inode(&im->d->store->raw, start, ino);
}

static bool is_raw_name(void *ctx, const char *name, u32 len)
{
	struct implicit *im = ctx;

	return raw_has_name(&im->d->store->raw, name, len);
}

static u32 next_raw_dir(void *ctx, u64 start, u32 after)
{
	struct implicit *im = ctx;
	u64 ino = raw_next_dir(&im->d->store->raw, start, after);

	/* ext has no larger inode numbers. */
	return ino <= U32_MAX ? ino : 0;
}

void implicit_choose(struct implicit *im)
{
	struct classify_choice choice = {
		.inode = is_raw,
		.suffix = is_raw_name,
		.next_dir = next_raw_dir,
		.ctx = im,
	};

	classifier_choose(&im->c, &choice);
}

void implicit_account_names(struct implicit *im)
{
	bool full;

	lockdep_assert_held(&im->lock);
	atomic64_set(&im->d->store->figures->raw_names, classifier_named(&im->c, &full));
	atomic64_set(&im->d->store->figures->raw_names_full, full);
	if (full && !im->reported_full)
		DMWARN("%s: raw: no room for all files chosen by name: everything is kept",
		       dm_table_device_name(im->d->ti->table));
	im->reported_full = full;
}

void implicit_take_rules(struct implicit *im)
{
	const struct raw *raw = &im->d->store->raw;
	bool any = im->d->classify == CLASSIFY_IMPLICIT && raw_any(raw);

	lockdep_assert_held(&im->lock);
	im->c.by_inode = any && raw_has_file_rules(raw);
	im->c.by_name = any && raw_has_name_rules(raw);
	im->c.by_suffix = any && raw_has_suffix_rules(raw);
}

void implicit_rules_going(struct implicit *im)
{
	spin_lock(&im->lock);
	im->rules_going = true;
	spin_unlock(&im->lock);
}

void implicit_rules_gone(struct implicit *im)
{
	spin_lock(&im->lock);
	im->rules_going = false;
	implicit_take_rules(im);
	classifier_chosen_anew(&im->c);
	implicit_account(im);
	spin_unlock(&im->lock);
}

void implicit_rules_added(struct implicit *im)
{
	spin_lock(&im->lock);
	implicit_take_rules(im);
	classifier_chosen_more(&im->c);
	spin_unlock(&im->lock);
}
