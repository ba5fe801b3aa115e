/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file systems on one disk, by the sectors that they cover.
 *
 * A volume begins where its superblock says it does, be that a partition or
 * somewhere behind LVM or md: the disk sees only sectors. Where a volume is
 * proved to lie in one piece (placed.h) it ends all others there, since no two can be alive on
 * the same sectors. Otherwise it ends where the next one begins: that may be
 * another logical volume between two pieces of this one.
 *
 * Portable; the caller serialises. Volumes are kept sorted; finding one costs a
 * few comparisons.
 */
#ifndef CLASSIFIER_VOLUME_H
#define CLASSIFIER_VOLUME_H

#include "btrfs-live.h"
#include "ext-live.h"
#include "placed.h"
#include "xfs.h"

#define VOLUMES_MAX	16

enum volume_fs {
	VOLUME_EXT,
	VOLUME_BTRFS,
	VOLUME_XFS,
};

#define VOLUME_KINDS	(VOLUME_XFS + 1)
/* volume_slot() is below. */
#define VOLUME_SLOTS	(VOLUME_KINDS * VOLUMES_MAX)

enum volume_state {
	VOLUME_UNKNOWN,		/* nobody has said */
	VOLUME_UNMOUNTED,
	VOLUME_READONLY,	/* mounted, but fsck and others may write */
	VOLUME_MOUNTED,		/* read-write, recovery is over */
};

struct volume {
	u64 start;		/* sectors */
	u64 sectors;
	u64 proved;		/* of them, from its start on, lie where the superblock has them */
	u64 claimed;		/* sectors by its superblock */
	enum volume_fs fs;
	enum volume_state state;
	unsigned int slot;	/* in the table, of its kind */
	union {
		struct ext_live *ext;
		struct btrfs_live *btrfs;
		struct xfs_live *xfs;
		void *live;	/* one of these; NULL until there is memory */
	};
	/* btrfs and xfs */
	bool ready;		/* what is pointed to knows the superblock */
	bool asked;		/* the superblock is being read */
	bool fresh;		/* its mkfs may still be at work */
	u64 judged;		/* btrfs: the commit that undecided blocks are judged by */
	u32 hand;		/* and how far in their table that is */
	u8 uuid[SELFID_UUID];	/* as metadata carries it */
};

struct volume_table {
	struct volume volume[VOLUMES_MAX];	/* sorted by start, disjoint */
	unsigned int nr;
	struct ext_live ext[VOLUMES_MAX];	/* in use: those that a volume points to */
	/*
	 * What volumes point to, by kind and slot. Of btrfs and xfs memory, given when it was
	 * needed first, and kept for the next one. Of ext the above, once used.
	 */
	void *live[VOLUME_KINDS][VOLUMES_MAX];
	u64 ended;		/* volumes that were removed */
	u64 refused;		/* for lack of room */
	bool had_btrfs;		/* there is one, or was */
	bool doubt;		/* volumes are believed as far as they are proved only */
	u64 disk;		/* sectors of it */
	struct placed placed;
};

/* The volume that covers @sector, or NULL; then *next is where the next one begins, or U64_MAX. */
struct volume *volume_find(struct volume_table *t, u64 sector, u64 *next);

/* The volume that begins at @start, or NULL. */
struct volume *volume_at(struct volume_table *t, u64 start);

/*
 * A new volume. If it is proved to lie there those that it overlaps end. Else it ends where the
 * next one begins, and those that it begins within end, or are cut off in front of it if they
 * were not proved there. NULL if there is no room. The caller fills in what ->ext, ->btrfs or
 * ->xfs points to.
 */
struct volume *volume_add(struct volume_table *t, enum volume_fs fs, u64 start, u64 sectors);

void volume_remove(struct volume_table *t, struct volume *v);

/*
 * Set the length of @v. If that is proved what it overlaps ends; else @v ends where the next one
 * begins, and no more of it is proved than was.
 */
void volume_resize(struct volume_table *t, struct volume *v, u64 sectors);

/* The volume that volume_slot() says is @slot, or NULL. */
struct volume *volume_of_slot(struct volume_table *t, u32 slot);

/* What stands for @v in the tables that all volumes share: undecided.h, assoc.h. */
static inline u32 volume_slot(const struct volume *v)
{
	return v->fs * VOLUMES_MAX + v->slot;
}

/* Is it not proved that it lies where its superblock has it? */
static inline bool volume_doubted(const struct volume *v)
{
	return v->proved < v->claimed;
}

/* The first PLACED_TABLE bytes of the disk: volumes may be proved by a partition table. */
void volume_table_read(struct volume_table *t, const void *table);

/* The sectors are discarded or set to zeros. Volumes may be proved by that. */
void volume_cleared(struct volume_table *t, u64 sector, u64 sectors);

#endif
