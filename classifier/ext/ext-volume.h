/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What ext-volume.c, ext-verdict.c and ext-chosen.c share: see volume-ops.h.
 *
 * Portable; the caller serialises.
 */
#ifndef CLASSIFIER_EXT_VOLUME_H
#define CLASSIFIER_EXT_VOLUME_H

#include "../volume-ops.h"
#include "assoc.h"
#include "ext-live.h"

#define EXT_SUPER_SECTOR	(EXT_SUPER_OFFSET >> SECTOR_BITS)
#define EXT_SUPER_SECTORS	(EXT_SUPER_SIZE >> SECTOR_BITS)

/* What all volumes of ext share. */
struct ext_shared {
	struct assoc assoc;
	struct ext_live live[VOLUMES_MAX];	/* by volume.slot */
};

/* classifier.reading, for blocks other than those of ext_live_want(). */
enum {
	EXT_READS_LAYOUT = CLASSIFY_READS_OWN,
	EXT_READS_BACKUPS,
	EXT_READS_NAMES,
};

static inline struct ext_shared *ext_shared_of(const struct classifier *c)
{
	return c->volumes.shared[ext_volume_kind];
}

static inline struct assoc *ext_assoc_of(const struct classifier *c)
{
	return &ext_shared_of(c)->assoc;
}

/* The live state of the volume whose volume_slot() is @slot. */
static inline struct ext_live *ext_live_at(const struct classifier *c, u32 slot)
{
	return &ext_shared_of(c)->live[slot % VOLUMES_MAX];
}

static inline struct ext_live *ext_of(const struct volume *v)
{
	return v->live;
}

static inline u32 ext_block_sectors(const struct volume *v)
{
	return 1u << (ext_of(v)->geo.block_bits - SECTOR_BITS);
}

/* volume_slot() of the volume that has @e. */
static inline u32 ext_slot(const struct classifier *c, const struct ext_live *e)
{
	return ext_volume_kind * VOLUMES_MAX + (e - ext_shared_of(c)->live);
}

/* Set *sector and *bytes to @block of @v. */
static inline void ext_block_at(const struct volume *v, u64 block, u64 *sector, u32 *bytes)
{
	*sector = v->start + block * ext_block_sectors(v);
	*bytes = ext_block_size(&ext_of(v)->geo);
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
/* ext-chosen.c: volume_ops.choose, .chosen_more and .named */
void ext_choose(struct classifier *c);
void ext_chosen_more(struct classifier *c);
u64 ext_named(const struct volume *v, bool *full);

#endif
