/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The operations of a kind of file system. volume_ops[] has one struct volume_ops for each kind.
 *
 *	classifier.c	what all kinds share: which volume covers a sector, probes, verdicts
 *	ext-volume.c	ext2, ext3, ext4: superblock, mount, journal's and layout's needs
 *	ext-verdict.c	ext: the verdict on a write
 *	ext-chosen.c	ext: files that are chosen to be kept, by inode, name or directory
 *	selfid-volume.c	what btrfs and xfs share, as their metadata names itself
 *	btrfs-volume.c	btrfs
 *	xfs-volume.c	xfs
 *
 * A new kind is a file with a struct volume_ops; an extern below; a line in enum volume_fs, where
 * VOLUME_KINDS counts the last; and a line in volume_ops[]. A kind whose metadata blocks carry the
 * file system's uuid also has a struct selfid_ops.
 *
 * Portable; the caller serialises. Only for the files above.
 */
#ifndef CLASSIFIER_VOLUME_OPS_H
#define CLASSIFIER_VOLUME_OPS_H

#include "classifier.h"

#define SECTOR_BITS		9
/* So many sectors of a superblock are parsed. */
#define VOLUME_SUPER_SECTORS	8u
/* The magic number of each kind is within so many bytes of the superblock. */
#define VOLUME_HEAD_BYTES	(BTRFS_MAGIC_OFFSET + 8)

struct selfid_ops;

/* Functions marked "or NULL" may be NULL. */
struct volume_ops {
	u32 super_sector;		/* from the volume's start */
	u32 magic_offset;		/* bytes into the superblock; within VOLUME_HEAD_BYTES */
	u32 magic_bytes;
	char magic[8];
	bool has_inodes;		/* inodes decide about undecided blocks: assoc.h */
	const struct selfid_ops *selfid;	/* or NULL: selfid-volume.h */

	/*
	 * A superblock for a volume at @start was seen: @super, of @bytes, with the right magic.
	 * Adds the volume if it is new. Returns it, or NULL if @super makes no sense or there is no
	 * room. @durable: the superblock was written with FUA.
	 */
	struct volume *(*super)(struct classifier *c, u64 start, const void *super, u32 bytes,
				bool durable);
	/*
	 * Called before ->write(). If what @w writes from @pos on ends @v, removes @v and returns
	 * false. Or NULL: ->write() does that.
	 */
	bool (*outlasts)(struct classifier *c, struct volume *v, const struct classify_write *w,
			 u32 pos);
	/* classifier_write() for a part of @w that lies in @v. May remove @v. */
	enum classify_reason (*write)(struct classifier *c, struct volume *v,
				      const struct classify_write *w, u32 pos, u32 *len);
	/* classifier_early() for a write to these sectors. Or NULL: never. */
	bool (*early)(const struct classifier *c, const struct volume *v, u64 sector, u64 sectors);
	/* The disk was flushed. Or NULL. */
	void (*flush)(struct volume *v);
	/* classifier_mount() has set v->state. Or NULL. */
	void (*state_told)(struct classifier *c, struct volume *v);
	/* Does a discard of these sectors end @v? */
	bool (*discarded)(const struct volume *v, u64 sector, u64 sectors);
	/* classifier_looked(): the disk's user read the sectors. */
	void (*looked)(struct volume *v, u64 sector, u64 sectors);

	/* log2 of the sectors in an undecided block. Or NULL: no block is ever undecided. */
	u32 (*undecided_shift)(const struct volume *v);
	/* Decide about some undecided blocks. True: there are more. Or NULL. */
	bool (*judge)(struct classifier *c, struct volume *v);
	/* Checksums of its data. Or NULL: CLASSIFY_SUMS_NONE. */
	enum classify_sums (*sums)(const struct volume *v);

	/* classifier_memory(), _give(), _want() and _learn() for @v. */
	size_t (*memory)(const struct classifier *c, const struct volume *v);
	void *(*give)(struct classifier *c, struct volume *v, void *memory, size_t bytes);
	bool (*want)(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes);
	void (*learn)(struct classifier *c, struct volume *v, u64 sector, const void *content);
	/* Call @release for memory that was given to @live, the state of a slot. */
	void (*destroy)(void *live, void (*release)(const void *));
	/* Bytes of that memory. */
	size_t (*live_bytes)(const void *live);
};

extern const struct volume_ops ext_volume_ops, btrfs_volume_ops, xfs_volume_ops;
/* By enum volume_fs. */
extern const struct volume_ops *const volume_ops[VOLUME_KINDS];

static inline const struct volume_ops *ops_of(const struct volume *v)
{
	return volume_ops[v->fs];
}

/* Copy @sectors of @w's content to @to, from @w's sector number @sector on. */
static inline void write_copy(const struct classify_write *w, u32 sector, u32 sectors, void *to)
{
	w->copy(w->ctx, sector << SECTOR_BITS, to, sectors << SECTOR_BITS);
}

/*
 * v->state was set. A mount means that mkfs is over, and is the time to read the partition table.
 */
static inline void volume_state_is_set(struct classifier *c, struct volume *v)
{
	v->fresh &= v->state != VOLUME_MOUNTED;
	c->table_wanted |= volume_doubted(v);
}

static inline bool sectors_overlap(u64 a, u64 n, u64 b, u64 m)
{
	return a < b + m && b < a + n;
}

/* classifier.c */

/* Look for superblocks that begin in the @n sectors of @w from @pos on. May remove volumes. */
void scan_for_supers(struct classifier *c, const struct classify_write *w, u32 pos, u32 n);
/* Convert sectors of the disk to blocks of @v that may be undecided. False: there are none. */
bool undecided_blocks(const struct volume *v, u64 sector, u64 sectors, u64 *block, u64 *len);

#endif
