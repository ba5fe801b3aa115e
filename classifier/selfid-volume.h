/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The volumes of btrfs and xfs on a disk: where they begin and end, who is at
 * work on them, and what a write to one of them is.
 *
 * A volume begins with a superblock that makes sense, and ends when another one
 * covers it, when its own superblock is discarded or overwritten by anything
 * but a superblock of the same file system, and, for btrfs, when anything is
 * written in front of that, where mkfs of all kinds and partition tables write.
 *
 * Neither kind says on the disk whether it is mounted, as ext does. That is only
 * needed to tell its own data from another file system that is about to take
 * its place (its own metadata carries its name, whoever writes it). What is
 * seen, where nobody tells:
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
 * Portable; the caller serialises. For classifier.c only.
 */
#ifndef CLASSIFIER_SELFID_VOLUME_H
#define CLASSIFIER_SELFID_VOLUME_H

#include "classifier.h"

/* So many bytes tell whether a superblock may begin there. */
#define SELFID_PEEK_BYTES	(BTRFS_MAGIC_OFFSET + 8)

/* Where the superblock is, in sectors from the volume's start; so many of them are looked at. */
static inline u32 selfid_super_sector(enum volume_fs fs)
{
	return fs == VOLUME_BTRFS ? BTRFS_SUPER_SECTOR : 0;
}

#define SELFID_SUPER_SECTORS	8

/*
 * May a superblock of one of the two begin in the sector that begins with the
 * SELFID_PEEK_BYTES at @head? VOLUME_EXT: no.
 */
enum volume_fs selfid_peek(const void *head);

/*
 * The superblock at @super, of up to @bytes, stands for a volume at sector
 * @start. NULL if it makes no sense, or is the copy of a known one.
 */
struct volume *selfid_super(struct classifier *c, enum volume_fs fs, u64 start, const void *super,
			    u32 bytes);

/*
 * Does @v outlast what @w writes from @pos on? To be asked before
 * selfid_write(); if not it is removed.
 */
bool selfid_outlasts(struct classifier *c, struct volume *v, const struct classify_write *w,
		     u32 pos);

/* As classifier_write(), in @v. */
enum classify_reason selfid_write(struct classifier *c, struct volume *v,
				  const struct classify_write *w, u32 pos, u32 *len);

/*
 * Blocks of btrfs of which nothing says yet what they are stand in classifier.undecided, from
 * the volume's start on, under this instead of a slot of ext; their time is btrfs_live_tag().
 */
#define SELFID_BLOCK_SHIFT	3
#define SELFID_BLOCK_SECTORS	8u

static inline u32 selfid_undecided_slot(const struct volume *v)
{
	return VOLUMES_MAX + v->slot;
}

/* What @v, a btrfs, knows of its data. */
enum classify_sums selfid_sums(const struct volume *v);

/* Judge them by the chunks of the last commit, some a call. True: there are more. */
bool selfid_judge(struct classifier *c, struct volume *v);

/* @v is removed if its superblock, or what it lives from, is among these sectors. */
bool selfid_discarded(const struct volume *v, u64 sector, u64 sectors);

/* The sectors were read by somebody else than us. */
void selfid_looked(struct volume *v, u64 sector, u64 sectors);

/* As classifier_memory() and so on, for @v. @limit: of its log set. */
size_t selfid_memory(const struct volume *v, size_t limit);
void *selfid_give(struct classifier *c, struct volume *v, void *memory, size_t bytes);
bool selfid_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes);
void selfid_learn(struct classifier *c, struct volume *v, u64 sector, const void *content);

#endif
