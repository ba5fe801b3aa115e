/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file systems on one disk, by the sectors that they cover.
 *
 * A volume begins where its superblock says it does, be that a partition or
 * somewhere behind LVM or md: the disk sees only sectors. A new superblock ends
 * all volumes that its own overlaps, since no two can be alive on the same
 * sectors and which one is older is known.
 *
 * Portable; the caller serialises. Volumes are kept sorted; finding one costs a
 * few comparisons.
 */
#ifndef CLASSIFIER_VOLUME_H
#define CLASSIFIER_VOLUME_H

#include "ext-live.h"

#define VOLUMES_MAX	16

enum volume_fs {
	VOLUME_EXT,
	/* btrfs and xfs have their place here: a type, and a member of the union below */
};

enum volume_state {
	VOLUME_UNKNOWN,		/* nobody has said */
	VOLUME_UNMOUNTED,
	VOLUME_READONLY,	/* mounted, but fsck and others may write */
	VOLUME_MOUNTED,		/* read-write, recovery is over */
};

struct volume {
	u64 start;		/* sectors */
	u64 sectors;
	enum volume_fs fs;
	enum volume_state state;
	union {
		struct ext_live *ext;
	};
};

struct volume_table {
	struct volume volume[VOLUMES_MAX];	/* sorted by start, disjoint */
	unsigned int nr;
	struct ext_live ext[VOLUMES_MAX];	/* in use: those that a volume points to */
	u64 ended;		/* volumes that others replaced */
	u64 refused;		/* for lack of room */
};

/* The volume that covers @sector, or NULL; then *next is where the next one begins, or U64_MAX. */
struct volume *volume_find(struct volume_table *t, u64 sector, u64 *next);

/* The volume that begins at @start, or NULL. */
struct volume *volume_at(struct volume_table *t, u64 start);

/*
 * A new ext volume; those that it overlaps end. NULL if there is no room.
 * The caller fills in ->ext with ext_live_init().
 */
struct volume *volume_add_ext(struct volume_table *t, u64 start, u64 sectors);

void volume_remove(struct volume_table *t, struct volume *v);

/* Set the length of @v; what that overlaps ends. */
void volume_resize(struct volume_table *t, struct volume *v, u64 sectors);

#endif
