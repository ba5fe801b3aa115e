/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files about volumes of ext share: see volume-ops.h.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_EXT_VOLUME_H
#define CLASSIFIER_EXT_VOLUME_H

#include "volume-ops.h"

#define EXT_SUPER_SECTOR	(EXT_SUPER_OFFSET >> SECTOR_BITS)
#define EXT_SUPER_SECTORS	(EXT_SUPER_SIZE >> SECTOR_BITS)

static inline u32 ext_block_sectors(const struct volume *v)
{
	return 1u << (v->ext->geo.block_bits - SECTOR_BITS);
}

/* What stands for @e in the tables that all volumes share: volume_slot() of its volume. */
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
 * The superblock @super stands for a volume at @start: a new one, or one that is known. NULL if
 * it makes no sense. @durable: its write had FUA.
 */
struct volume *ext_super(struct classifier *c, u64 start, const void *super, bool durable);
/* Inodes will be asked about blocks of @e: its layout, and a table for the blocks, are wanted. */
void ext_need_layout(struct classifier *c, struct ext_live *e);
/* Blocks that wait for the driver's next commit stay kept. */
void ext_stop_waiting(struct classifier *c, struct ext_live *e);

/* ext-verdict.c: volume_ops.write */
enum classify_reason ext_write(struct classifier *c, struct volume *v,
			       const struct classify_write *w, u32 pos, u32 *len);

/* ext-chosen.c: as classifier_want() and _learn(), for what names are read from */
bool ext_chosen_want(struct classifier *c, u64 *sector, u32 *bytes);
void ext_chosen_learn(struct classifier *c, const struct volume *v, const void *content);

#endif
