// SPDX-License-Identifier: GPL-2.0
/* Which squashed blocks have their checksum kept: see csum-policy.h. */
#include "csum-policy.h"

#include "david.h"

static const char * const mode_names[CSUM_MODES] = {
	[CSUM_AUTO] = "auto",
	[CSUM_ON] = "on",
	[CSUM_OFF] = "off",
};

const char *csum_mode_name(enum csum_mode mode)
{
	return mode_names[mode];
}

int csum_mode_parse(const char *name)
{
	return match_string(mode_names, ARRAY_SIZE(mode_names), name);
}

void csum_policy_init(struct david *d)
{
	d->owners.watch_btrfs = d->csum.mode == CSUM_AUTO &&
			       (d->classify == CLASSIFY_AUTO || d->classify == CLASSIFY_EXPLICIT);
	d->owners.may_have_csums = d->csum.mode == CSUM_ON;
}

void csum_policy_watch(struct david *d, sector_t first, unsigned int sectors)
{
	if (d->csum.mode == CSUM_ON && (first | sectors) % CSUM_SECTORS &&
	    !READ_ONCE(d->csum.is_misaligned)) {
		WRITE_ONCE(d->csum.is_misaligned, true);
		DMWARN("%s: checksums: a write at sector %llu is not of whole 4 KiB: all is kept",
		       dm_table_device_name(d->ti->table), (u64)first);
	}
}

enum csum_policy csum_policy(const struct david *d, const struct owner_top *top)
{
	if (d->csum.mode == CSUM_ON)
		return READ_ONCE(d->csum.is_misaligned) ? CSUM_REFUSE : CSUM_KEEP;
	if (d->csum.mode == CSUM_OFF)
		return CSUM_IGNORE;
	if (!d->owners.watch_btrfs || !owner_is_btrfs(top->dev))
		return CSUM_IGNORE;
	/* Units are the file system's, too. The disk's superblock is in this target. */
	if (!top->is_aligned || (top->dev == &d->owners.disk && d->ti->begin))
		return CSUM_REFUSE;
	/* A type that is not known is none that we can keep: extent.h looks for the superblock. */
	return READ_ONCE(top->dev->csum_type) == OWNER_CSUM_OURS ? CSUM_KEEP : CSUM_REFUSE;
}
