// SPDX-License-Identifier: GPL-2.0
/* Backups of ext's superblock, as a proof of its place: see ext-backups.h. */
#include "ext-backups.h"

static u32 next_power(u32 base, u32 after)
{
	u64 n = 1;

	while (n <= after)
		n *= base;
	return min_t(u64, n, U32_MAX);
}

/* Where every group has a backup, those of sparse_super and the last one will do. */
static u32 next_of_sparse(const struct ext_geo *geo, u32 group)
{
	u32 next = min(next_power(3, group), min(next_power(5, group), next_power(7, group)));
	bool all = !(geo->ro_compat & EXT_RO_COMPAT_SPARSE_SUPER);

	if (next < geo->groups)
		return next;
	return all && group < geo->groups - 1 ? geo->groups - 1 : 0;
}

u32 ext_backups_next(const struct ext_geo *geo, u32 group)
{
	u32 next = 0, i;

	if (!(geo->compat & EXT_COMPAT_SPARSE_SUPER2))
		return next_of_sparse(geo, group);
	for (i = 0; i < ARRAY_SIZE(geo->backup_groups); i++) {
		u32 at = geo->backup_groups[i];

		if (at > group && at < geo->groups && (!next || at < next))
			next = at;
	}
	return next;
}

static u64 block_of(const struct ext_geo *geo, u32 group)
{
	return geo->first_data + (u64)group * geo->blocks_per_group;
}

/* Are there enough of them, and far enough, that they cannot all be in their places by chance? */
static bool are_proof(const struct ext_geo *geo)
{
	u32 group, last = 0, n = 0;

	for (group = ext_backups_next(geo, 0); group; group = ext_backups_next(geo, group)) {
		last = group;
		n++;
	}
	return n >= BACKUPS_LEAST && block_of(geo, last) << geo->block_bits >= BACKUPS_REACH;
}

void ext_backups_look(struct ext_backups *b, const struct ext_geo *geo)
{
	b->stale = b->asked;
	b->group = are_proof(geo) ? ext_backups_next(geo, 0) : 0;
	b->found &= b->group != 0;
}

u64 ext_backups_want(struct ext_backups *b, const struct ext_geo *geo)
{
	if (b->asked || !b->group)
		return 0;
	b->asked = true;
	b->stale = false;
	return block_of(geo, b->group);
}

static u32 ext_backups_missed(struct ext_backups *b)
{
	u32 group = b->group;

	b->group = 0;
	b->found = false;
	return group;
}

u32 ext_backups_learn(struct ext_backups *b, const struct ext_geo *geo, u64 block,
		      const void *content)
{
	b->asked = false;
	if (b->stale || !b->group || block != block_of(geo, b->group))
		return 0;
	if (!content || !ext_is_backup_of(geo, content, b->group))
		return ext_backups_missed(b);
	b->group = ext_backups_next(geo, b->group);
	b->found |= !b->group;
	return 0;
}
