// SPDX-License-Identifier: GPL-2.0
/*
 * Files of ext that are chosen to be kept: by inode number, by name, by directory.
 *
 * Inodes tell which blocks a chosen file has (assoc.h). Names are read from directories while
 * inodes wait for them (ext-names.h).
 */
#include "ext-volume.h"

static bool is_chosen(void *ctx, u32 slot, u32 ino)
{
	struct classifier *c = ctx;
	const struct volume *v = volume_of_slot(&c->volumes, slot);

	if (!v || c->choice.inode(c->choice.ctx, v->start, ino))
		return true;
	return c->by_name && (!ext_names_ready(ext_of(v)) || ext_names_has(&ext_of(v)->names, ino));
}

static bool can_tell(void *ctx, u32 slot)
{
	const struct classifier *c = ctx;

	return !c->by_name || ext_names_ready(ext_live_at(c, slot));
}

void ext_choose(struct classifier *c)
{
	struct assoc *a = ext_assoc_of(c);

	a->chosen = is_chosen;
	a->ready = can_tell;
	a->chosen_ctx = c;
}

void ext_chosen_more(struct classifier *c)
{
	u32 slot;

	for (slot = 0; slot < VOLUMES_MAX; slot++)
		ext_names_choose(&ext_shared_of(c)->live[slot].names);
}

/* The choice in one volume, for the walk through its directories. */
struct choice_of {
	const struct classify_choice *choice;
	u64 start;
};

static bool suffix_of(void *ctx, const char *name, u32 len)
{
	const struct choice_of *of = ctx;

	return of->choice->suffix(of->choice->ctx, name, len);
}

static u32 next_dir_of(void *ctx, u32 after)
{
	const struct choice_of *of = ctx;

	return of->choice->next_dir(of->choice->ctx, of->start, after);
}

static struct ext_names_choice choice_in(const struct classifier *c, struct choice_of *of)
{
	return (struct ext_names_choice) {
		.suffix = suffix_of,
		.next_dir = next_dir_of,
		.ctx = of,
		.everywhere = c->by_suffix,
	};
}

/* Read names if inodes wait for the view, and no inode can be looked at without it. */
static u64 want_names(struct classifier *c, const struct volume *v)
{
	struct choice_of of = { &c->choice, v->start };
	struct ext_names_choice choice = choice_in(c, &of);

	if (v->kind != ext_volume_kind || !ext_of(v)->names.wanted || ext_names_ready(ext_of(v)) ||
	    !assoc_waits(ext_assoc_of(c), ext_slot(c, ext_of(v)), ext_of(v)))
		return 0;
	return ext_names_want(ext_of(v), &choice);
}

bool ext_chosen_want(struct classifier *c, u64 *sector, u32 *bytes)
{
	unsigned int i;
	u64 block;

	for (i = 0; c->by_name && !assoc_is_busy(ext_assoc_of(c)) && i < c->volumes.nr; i++) {
		const struct volume *v = &c->volumes.volume[i];

		block = want_names(c, v);
		if (!block)
			continue;
		c->reading = EXT_READS_NAMES;
		ext_block_at(v, block, sector, bytes);
		return true;
	}
	return false;
}

void ext_chosen_learn(struct classifier *c, const struct volume *v, const void *content)
{
	struct choice_of of = { &c->choice, v->start };
	struct ext_names_choice choice = choice_in(c, &of);

	ext_names_learn(ext_of(v), &choice, content);
}

u64 ext_named(const struct volume *v, bool *full)
{
	const struct ext_names *names = &ext_of(v)->names;

	if (!names->wanted)
		return 0;
	*full |= names->full;
	return names->chosen;
}
