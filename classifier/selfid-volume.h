/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What volumes of btrfs and xfs share: where they begin and end, who is at work on them, and what
 * a write to one of them is.
 *
 * A volume begins with a superblock that makes sense. It ends when another volume covers it, or
 * when its own superblock is discarded, or overwritten by anything but a superblock of the same
 * file system. A btrfs also ends when anything is written in front of its superblock, where mkfs
 * of all kinds and partition tables write.
 *
 * Neither kind says on the disk whether it is mounted, as ext does. That is only needed to tell
 * its own data from another file system that is about to take its place: its own metadata carries
 * its name, whoever writes it. Where nobody tells, this is what is seen:
 *
 *   superblock read               nobody knows: mkfs of all kinds look for what is there
 *   btrfs: root of the chunk tree read, as the kernel does
 *                                 mounted: nobody but who mounts it needs that
 *   xfs: first sector of the log read by itself
 *                                 mounted: likewise
 *   btrfs: superblock of a newer generation; xfs: log record
 *                                 mounted: the table was reloaded, or somebody else looked
 *   xfs: record of an unmount     nobody knows
 *
 * Portable; the caller serialises. For btrfs-volume.c and xfs-volume.c only.
 */
#ifndef CLASSIFIER_SELFID_VOLUME_H
#define CLASSIFIER_SELFID_VOLUME_H

#include "volume-ops.h"

/*
 * Blocks of btrfs of which nothing says yet what they are stand in classifier.undecided, from
 * the volume's start on; their time is btrfs_live_tag().
 */
#define SELFID_BLOCK_SHIFT	3
#define SELFID_BLOCK_SECTORS	8u

/* What differs between btrfs and xfs. v->live has memory. */
struct selfid_ops {
	u32 super_sectors;	/* written by nobody but the file system itself */
	size_t live_bytes;	/* what v->live points to */

	/*
	 * Parse @super, of @bytes, on a disk of which @room sectors are behind the volume's start,
	 * into c->fresh. Returns NULL, or what is wrong; *sectors and *uuid are the volume's.
	 */
	const char *(*parse)(struct classifier *c, const void *super, u32 bytes, u64 room,
			     u64 *sectors, const u8 **uuid);
	/* Does c->fresh, at @start, belong to another volume: a copy? Or NULL: never. */
	bool (*is_copy)(struct classifier *c, u64 start);
	/* This is @v's superblock. Returns NULL, or what is wrong with it. */
	const char *(*begin)(struct classifier *c, struct volume *v, const void *super, u32 bytes,
			     u64 room);
	/* The verdict on a write; *sign and *sectors are what @v says then of itself. */
	enum verdict (*write)(struct classifier *c, struct volume *v,
			      const struct selfid_request *r, u32 pos, u32 *len,
			      enum selfid_reason *why, enum selfid_sign *sign, u64 *sectors);
	/* Remember what only a later commit can tell. False: it cannot be. Or NULL: none can. */
	bool (*remember)(struct classifier *c, const struct volume *v, u64 at, u32 sectors);
	bool (*wants_work)(const struct classifier *c, const struct volume *v);
	/* Is @v over when these sectors, besides its superblock, are discarded? Or NULL: no. */
	bool (*discarded)(const struct volume *v, u64 sector, u64 sectors);
	/* Sectors of @v, from its start on, were read: is a mount at work? */
	bool (*is_mounting)(struct volume *v, u64 sector, u64 sectors);
	size_t (*memory)(const struct classifier *c, const struct volume *v);
	void *(*give)(struct volume *v, void *memory, size_t bytes);
	/* *sector is from the volume's start on. */
	bool (*want)(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes);
	/* Or NULL: what ->want() asked for is learned elsewhere. */
	void (*learn)(struct volume *v, u64 sector, const void *content);
};

/* Functions of struct volume_ops. */
struct volume *selfid_super(struct classifier *c, enum volume_fs fs, u64 start, const void *super,
			    u32 bytes);
bool selfid_outlasts(struct classifier *c, struct volume *v, const struct classify_write *w,
		     u32 pos);
enum classify_reason selfid_write(struct classifier *c, struct volume *v,
				  const struct classify_write *w, u32 pos, u32 *len);
bool selfid_discarded(const struct volume *v, u64 sector, u64 sectors);
void selfid_looked(struct volume *v, u64 sector, u64 sectors);
size_t selfid_memory(const struct classifier *c, const struct volume *v);
void *selfid_give(struct classifier *c, struct volume *v, void *memory, size_t bytes);
bool selfid_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes);
void selfid_learn(struct classifier *c, struct volume *v, u64 sector, const void *content);

/* The length of @v is @sectors now. */
void selfid_resize(struct classifier *c, struct volume *v, u64 sectors);

#endif
