/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file systems on one disk, by the sectors that they cover.
 *
 * A volume begins where its superblock says, in a partition or behind LVM or md: the disk sees only
 * sectors. No two volumes can be alive on the same sectors. So a new volume that is proved to lie
 * in one piece (placed.h) ends all others on its sectors. A volume that is not proved ends where
 * the next one begins, which may be another logical volume between two segments of this one.
 *
 * Portable; the caller serialises. Volumes are sorted; finding one costs a few comparisons.
 */
#ifndef CLASSIFIER_VOLUME_H
#define CLASSIFIER_VOLUME_H

#include "placed.h"
#include "selfid.h"

#define VOLUMES_MAX	16

/* ext_volume_kind and so on. */
#define VOLUME_KIND(name)	name##_volume_kind,
enum volume_kind {
#include "volume-kinds.h"
	VOLUME_KINDS
};

#undef VOLUME_KIND

/* volume_slot() is below. */
#define VOLUME_SLOTS	(VOLUME_KINDS * VOLUMES_MAX)

enum volume_state {
	VOLUME_UNKNOWN,		/* not reported */
	VOLUME_UNMOUNTED,
	VOLUME_READONLY,	/* mounted, but fsck and others may write */
	VOLUME_MOUNTED,		/* read-write, recovery is over */
};

struct volume {
	u64 start;		/* sectors */
	u64 sectors;
	u64 proved;		/* so many, from its start on, are proved to be its own */
	u64 confirmed;		/* so many, by what was found in them; U64_MAX: need not be */
	u64 claimed;		/* so many has the superblock */
	enum volume_kind kind;
	enum volume_state state;
	unsigned int slot;	/* index into volume_table.live[kind] */
	void *live;		/* the kind's own state of it; NULL until there is memory */
	/* Kinds with selfid_ops */
	bool ready;		/* *live has been set up from the superblock */
	bool asked;		/* the superblock is being read */
	bool fresh;		/* its mkfs may still be at work */
	u64 judged;		/* the commit by which undecided blocks are being judged */
	u32 hand;		/* how far in their table that has come */
	u8 uuid[SELFID_UUID];	/* in each metadata block */
};

struct volume_table {
	struct volume volume[VOLUMES_MAX];	/* sorted by start, disjoint */
	unsigned int nr;
	/* What all volumes of a kind share, in memory that was given to classifier_init(). */
	void *shared[VOLUME_KINDS];
	/*
	 * The live state of volumes, by kind and slot: a part of what the kind shares, or memory
	 * that was given at the first use. The next volume in the slot uses it again.
	 */
	void *live[VOLUME_KINDS][VOLUMES_MAX];
	u64 ended;		/* volumes that were removed */
	u64 refused;		/* for lack of room */
	bool had_csums;		/* a volume's kind has checksums of data, or had */
	bool doubt;		/* believe a volume only as far as it is proved */
	u64 disk;		/* sectors of the disk */
	struct placed placed;
};

/* The volume that covers @sector. NULL: none, and *next is the start of the next one or U64_MAX. */
struct volume *volume_find(struct volume_table *t, u64 sector, u64 *next);

/* The volume that begins at @start, or NULL. */
struct volume *volume_at(struct volume_table *t, u64 start);

/*
 * Add a volume. If it is proved to lie in one piece, volumes that it overlaps end. Otherwise it
 * ends where the next one begins; and a volume in which it begins ends too if it was proved there,
 * else is cut off in front of the new one. NULL if there is no room. The caller fills in *live.
 */
struct volume *volume_add(struct volume_table *t, enum volume_kind kind, u64 start, u64 sectors);

void volume_remove(struct volume_table *t, struct volume *v);

/*
 * Set the length of @v. If the new length is proved, volumes that @v overlaps end. Otherwise @v
 * ends where the next one begins, and no more of @v is proved than before.
 */
void volume_resize(struct volume_table *t, struct volume *v, u64 sectors);

/* The volume that volume_slot() says is @slot, or NULL. */
struct volume *volume_of_slot(struct volume_table *t, u32 slot);

/* The number of @v in the tables that all volumes share: undecided.h, assoc.h. */
static inline u32 volume_slot(const struct volume *v)
{
	return v->kind * VOLUMES_MAX + v->slot;
}

/* So many sectors, from its start on, are believed to be its own. */
static inline u64 volume_believed(const struct volume *v)
{
	return min(v->proved, v->confirmed);
}

/* Has the superblock more sectors than are proved? */
static inline bool volume_doubted(const struct volume *v)
{
	return v->proved < v->claimed;
}

/* @table: the first PLACED_TABLE bytes of the disk. A partition table in it may prove volumes. */
void volume_table_read(struct volume_table *t, const void *table);

/* The sectors are discarded or set to zeros. That may prove volumes. */
void volume_cleared(struct volume_table *t, u64 sector, u64 sectors);

#endif
