/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What volumes of btrfs and xfs share: their beginning and end, their mount state, and the verdict
 * on a write.
 *
 * A volume begins with a valid superblock. It ends when another volume covers it; when its
 * superblock is discarded; or when its superblock is overwritten by anything but a superblock of
 * the same file system. A btrfs also ends when anything is written in front of its superblock,
 * where each mkfs and each partition table writes.
 *
 * The mount state tells data of this file system from blocks of another one that is being made in
 * its place. (Metadata of this file system has its uuid, whoever writes it.) Unlike ext, neither
 * kind has the mount state on the disk. If nobody reports it, it is inferred:
 *
 *   event                                       mount state
 *   superblock read                             unknown: each mkfs looks for what is there
 *   btrfs: root of the chunk tree read          mounted: only a mount reads that
 *   xfs: first sector of the log read alone     mounted: only a mount does that
 *   btrfs: superblock of a newer generation,    mounted: the table was reloaded, or a program
 *   xfs: log record                             has read the superblock meanwhile
 *   xfs: record of an unmount                   unknown
 *
 * Portable; the caller serialises. For btrfs-volume.c and xfs-volume.c only.
 */
#ifndef CLASSIFIER_SELFID_VOLUME_H
#define CLASSIFIER_SELFID_VOLUME_H

#include "volume-ops.h"

/*
 * Undecided blocks of btrfs are in classifier.undecided, with blocks of 4 KiB that count from the
 * volume's start. Their time is btrfs_live_tag().
 */
#define SELFID_BLOCK_SHIFT	3
#define SELFID_BLOCK_SECTORS	8u

/* What differs between btrfs and xfs. v->live has memory. */
struct selfid_ops {
	u32 super_sectors;	/* of the superblock; only the file system itself writes them */
	size_t live_bytes;	/* size of *v->live */

	/*
	 * Parse @super, of @bytes, into what the kind's volumes share. The disk has @room sectors
	 * from the volume's start on. Returns NULL and the volume's *sectors and *uuid, or what is
	 * wrong.
	 */
	const char *(*parse)(struct classifier *c, const void *super, u32 bytes, u64 room,
			     u64 *sectors, const u8 **uuid);
	/* Is what was parsed last, at @start, a copy of another volume's? Or NULL: no. */
	bool (*is_copy)(struct classifier *c, u64 start);
	/* Set up *v->live from @v's superblock. Returns NULL, or what is wrong. */
	const char *(*begin)(struct classifier *c, struct volume *v, const void *super, u32 bytes,
			     u64 room);
	/* The verdict on a write. *sign: what it shows. *sectors: the volume's length after it. */
	enum verdict (*write)(struct classifier *c, struct volume *v,
			      const struct selfid_request *r, u32 pos, u32 *len,
			      enum selfid_reason *why, enum selfid_sign *sign, u64 *sectors);
	/* Remember sectors that only a later commit decides. False: no room. Or NULL: keep them. */
	bool (*remember)(struct classifier *c, const struct volume *v, u64 at, u32 sectors);
	bool (*wants_work)(const struct classifier *c, const struct volume *v);
	/* Does a discard of these sectors, not of its superblock, end @v? Or NULL: no. */
	bool (*discarded)(const struct volume *v, u64 sector, u64 sectors);
	/* The disk's user read sectors, which count from the volume's start: is that a mount? */
	bool (*is_mounting)(struct volume *v, u64 sector, u64 sectors);
	size_t (*memory)(const struct classifier *c, const struct volume *v);
	void *(*give)(struct volume *v, void *memory, size_t bytes);
	/* *sector counts from the volume's start. */
	bool (*want)(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes);
	/* Or NULL: another function takes what ->want() asked for. */
	void (*learn)(struct volume *v, u64 sector, const void *content);
};

/* Functions of struct volume_ops. */
struct volume *selfid_super(struct classifier *c, enum volume_kind kind, u64 start,
			    const void *super, u32 bytes);
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
