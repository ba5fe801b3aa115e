/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ext-volume.c, ext-verdict.c and ext-chosen.c share: see volume-ops.h.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_EXT_VOLUME_H
#define CLASSIFIER_EXT_VOLUME_H

#include "../volume-ops.h"

#define EXT_SUPER_SECTOR	(EXT_SUPER_OFFSET >> SECTOR_BITS)
#define EXT_SUPER_SECTORS	(EXT_SUPER_SIZE >> SECTOR_BITS)

static inline u32 ext_block_sectors(const struct volume *v)
{
	return 1u << (v->ext->geo.block_bits - SECTOR_BITS);
}

/* volume_slot() of the volume that has @e. */
static inline u32 ext_slot(const struct classifier *c, const struct ext_live *e)
{
	return e - c->volumes.ext;
}

/* Set *sector and *bytes to @block of @v. */
static inline void ext_block_at(const struct volume *v, u64 block, u64 *sector, u32 *bytes)
{
	*sector = v->start + block * ext_block_sectors(v);
	*bytes = ext_block_size(&v->ext->geo);
}

/* ext-volume.c */

/*
 * The superblock @super of a volume at @start was seen. Returns the volume, which may be new. NULL
 * if @super makes no sense. @durable: it was written with FUA.
 */
struct volume *ext_super(struct classifier *c, u64 start, const void *super, bool durable);
/* Inodes of @e will decide about blocks. Ask for its layout, and for the table of such blocks. */
void ext_need_layout(struct classifier *c, struct ext_live *e);
/* Blocks of @e that wait for a commit stay kept permanently. */
void ext_stop_waiting(struct classifier *c, struct ext_live *e);

/* ext-verdict.c: volume_ops.write */
enum classify_reason ext_write(struct classifier *c, struct volume *v,
			       const struct classify_write *w, u32 pos, u32 *len);

/* ext-chosen.c: as classifier_want() and _learn(), for the blocks from which names are read */
bool ext_chosen_want(struct classifier *c, u64 *sector, u32 *bytes);
void ext_chosen_learn(struct classifier *c, const struct volume *v, const void *content);

#endif
