/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The on-disk format of ext2, ext3 and ext4: the superblock as a geometry, and the blocks that are
 * metadata by their place.
 *
 * The disk is not trusted. ext_parse_super() checks a superblock. Computing with what it has
 * accepted is safe (no product overflows, no divisor is 0), so nobody checks again.
 *
 * Portable, any context, no state.
 */
#ifndef CLASSIFIER_EXT_H
#define CLASSIFIER_EXT_H

#include "../../dm-david/portable/portable.h"

#define EXT_SUPER_OFFSET	1024	/* bytes from the volume's start */
#define EXT_SUPER_SIZE		1024
#define EXT_MAGIC		0xef53
#define EXT_MAGIC_OFFSET	56	/* within the superblock */

/* Inodes that the format reserves. */
#define EXT_ROOT_INO		2
#define EXT_BOOT_INO		5
#define EXT_RESIZE_INO		7
#define EXT_JOURNAL_INO		8
#define EXT_GOOD_OLD_FIRST_INO	11

/* Features that change what is found where. */
#define EXT_COMPAT_HAS_JOURNAL		0x0004
#define EXT_COMPAT_RESIZE_INODE		0x0010
#define EXT_COMPAT_SPARSE_SUPER2	0x0200
#define EXT_COMPAT_ORPHAN_FILE		0x1000
#define EXT_RO_COMPAT_SPARSE_SUPER	0x0001
#define EXT_RO_COMPAT_GDT_CSUM		0x0010
#define EXT_RO_COMPAT_QUOTA		0x0100
#define EXT_RO_COMPAT_BIGALLOC		0x0200
#define EXT_RO_COMPAT_METADATA_CSUM	0x0400
#define EXT_RO_COMPAT_VERITY		0x8000
#define EXT_INCOMPAT_RECOVER		0x0004
#define EXT_INCOMPAT_JOURNAL_DEV	0x0008
#define EXT_INCOMPAT_META_BG		0x0010
#define EXT_INCOMPAT_64BIT		0x0080
#define EXT_INCOMPAT_MMP		0x0100
#define EXT_INCOMPAT_FLEX_BG		0x0200
#define EXT_INCOMPAT_EA_INODE		0x0400
#define EXT_INCOMPAT_CSUM_SEED		0x2000
#define EXT_INCOMPAT_ENCRYPT		0x10000

/*
 * Features whose metadata has a form that exclude.h knows. Inode association needs that (assoc.h).
 * Of the incompatible features: those named here, and filetype, extents, flex_bg, largedir,
 * inline_data and casefold; not ea_inode, dirdata and encrypt. Of the read-only features: all up to
 * metadata_csum except quota, snapshots and shared blocks; and project, verity, orphan_present.
 */
#define EXT_INCOMPAT_KNOWN	(0x2c242 | EXT_INCOMPAT_RECOVER | EXT_INCOMPAT_META_BG | \
				 EXT_INCOMPAT_64BIT | EXT_INCOMPAT_MMP | EXT_INCOMPAT_CSUM_SEED)
#define EXT_RO_COMPAT_KNOWN	(0x1267f | EXT_RO_COMPAT_VERITY)

/* s_state; both are clear while a file system without a journal is mounted read-write. */
#define EXT_STATE_VALID		0x0001
#define EXT_STATE_ERROR		0x0002

/* What a block is. */
enum ext_kind {
	EXT_DATA,		/* file content, or free */
	EXT_BOOT,		/* in front of the superblock */
	EXT_SUPER,		/* superblock or backup */
	EXT_GDT,		/* group descriptors or backup */
	EXT_GDT_RESERVED,	/* reserved for more group descriptors */
	EXT_BLOCK_BITMAP,
	EXT_INODE_BITMAP,
	EXT_INODE_TABLE,
	EXT_MMP,		/* multi-mount protection */
	EXT_JOURNAL,
	EXT_DIRECTORY,
	EXT_EXTENT_NODE,
	EXT_INDIRECT,
	EXT_XATTR,
	EXT_EA_INODE,		/* value of a large extended attribute */
	EXT_SYMLINK,
	EXT_QUOTA,
	EXT_ORPHAN,		/* orphan file */
	EXT_VERITY,		/* Merkle tree and descriptor, beyond a file's end */
	EXT_RESERVED_INODE,	/* content of a reserved inode: bad blocks, boot loader */
	EXT_KINDS
};

const char *ext_kind_name(enum ext_kind kind);

/* A checked superblock. Block numbers count from the volume's start. */
struct ext_geo {
	u64 blocks;
	u32 groups;
	u32 first_data;		/* first block of group 0 */
	u32 block_bits;		/* 10 … 16 */
	u32 blocks_per_group;
	u32 inodes;
	u32 inodes_per_group;
	u32 inode_size;
	u32 itable_blocks;	/* per group */
	u32 desc_size;
	u32 desc_bits;		/* log2 of descriptors per block */
	u32 gdt_blocks;		/* descriptor blocks behind each superblock, without meta_bg's */
	u32 reserved_gdt;	/* reserved blocks behind these */
	u32 meta_bg_from;	/* first descriptor block that meta_bg places; U32_MAX: none */
	u32 backup_groups[2];	/* sparse_super2 */
	u32 compat, incompat, ro_compat;
	u64 mmp_block;		/* 0: none */
	u32 first_ino;
	u32 journal_ino;	/* 0: no journal in this file system */
	u32 quota_ino[3];
	u32 orphan_ino;
	u32 mount_state;	/* s_state */
	u32 mounts;		/* s_mnt_count, 16 bits */
	u32 checksum_seed;	/* s_checksum_seed with csum_seed, else the uuid's checksum */
	u8 uuid[16];
	u8 hash_seed[16];	/* this and the time: of one mkfs, for good */
	u32 mkfs_time;
};

static inline u32 ext_block_size(const struct ext_geo *geo)
{
	return 1u << geo->block_bits;
}

/*
 * Parse the superblock @super (1024 bytes, any alignment) of a volume of at most @bytes into *geo.
 * Returns NULL, or what is wrong. Refuses backups and external journal devices, too.
 */
const char *ext_parse_super(const void *super, u64 bytes, struct ext_geo *geo);

/* @super has a superblock's magic number. Is it a backup? */
bool ext_is_backup(const void *super);

/*
 * Is @super, from the beginning of a block, the backup that @group of this file system has, made by
 * the same mkfs? One that is older than a change of the size is not.
 */
bool ext_is_backup_of(const struct ext_geo *geo, const void *super, u32 group);

/* Are they the same file system, of the same mkfs? Its size and features may have changed. */
bool ext_same(const struct ext_geo *a, const struct ext_geo *b);

/* Does @group begin with a superblock? */
bool ext_has_super(const struct ext_geo *geo, u32 group);

/*
 * What @block is by the superblock alone: EXT_BOOT, EXT_SUPER, EXT_GDT,
 * EXT_GDT_RESERVED, EXT_MMP, or EXT_DATA for anything else. One division.
 */
enum ext_kind ext_fixed_kind(const struct ext_geo *geo, u64 block);

/* Descriptor block number @index. Its first descriptor is that of group @index << desc_bits. */
u64 ext_gdt_block(const struct ext_geo *geo, u32 index);

/* How many descriptor blocks there are. */
static inline u32 ext_gdt_count(const struct ext_geo *geo)
{
	return ((u64)geo->groups + (1u << geo->desc_bits) - 1) >> geo->desc_bits;
}

struct ext_group {
	u64 block_bitmap;
	u64 inode_bitmap;
	u64 inode_table;
	u32 inodes;		/* inodes from this one on were never initialised (uninit_bg) */
};

/*
 * Read descriptor number @slot of a descriptor block. False if one of its
 * blocks lies outside of the volume.
 */
bool ext_parse_group(const struct ext_geo *geo, const void *block, u32 slot,
		     struct ext_group *group);

/*
 * Returns the block in which inode @ino lies, and its byte *offset there. @group: the inode's
 * group. The caller has checked that 1 <= ino <= geo->inodes.
 */
u64 ext_inode_block(const struct ext_geo *geo, const struct ext_group *group, u32 ino,
		    u32 *offset);

#endif
