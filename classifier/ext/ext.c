// SPDX-License-Identifier: GPL-2.0
/*
 * Static layout of ext2, ext3 and ext4: see ext.h. The formulas are those of
 * fs/ext4: ext4_bg_has_super(), ext4_bg_num_gdb() and descriptor_loc().
 */
#include "ext.h"

#define MAX_BLOCK_BITS		16
#define MAX_GROUPS		0x40000000
#define MIN_DESC_SIZE		32
#define MIN_INODE_SIZE		128
#define NUMBER_MAX		0xffffu	/* s_block_group_nr */

/* The parts of struct ext4_super_block that matter here. */
struct super {
	__le32 inodes;			/* 0x00 */
	__le32 blocks_lo;
	__le32 unused_08[3];
	__le32 first_data;		/* 0x14 */
	__le32 log_block_size;
	__le32 log_cluster_size;
	__le32 blocks_per_group;	/* 0x20 */
	__le32 clusters_per_group;
	__le32 inodes_per_group;
	__le32 unused_2c[2];
	__le16 mounts;			/* 0x34 */
	__le16 unused_36;
	__le16 magic;			/* 0x38 */
	__le16 state;
	__le32 unused_3c[4];
	__le32 revision;		/* 0x4c */
	__le32 unused_50;
	__le32 first_ino;		/* 0x54 */
	__le16 inode_size;
	__le16 group;
	__le32 compat;
	__le32 incompat;		/* 0x60 */
	__le32 ro_compat;
	u8 uuid[16];
	u8 unused_78[0x56];
	__le16 reserved_gdt;		/* 0xce */
	u8 journal_uuid[16];
	__le32 journal_ino;		/* 0xe0 */
	__le32 journal_dev;
	__le32 unused_e8;
	u8 hash_seed[16];		/* 0xec */
	u8 unused_fc[2];
	__le16 desc_size;		/* 0xfe */
	__le32 unused_100;
	__le32 first_meta_bg;		/* 0x104 */
	__le32 mkfs_time;		/* 0x108 */
	__le32 unused_10c[17];
	__le32 blocks_hi;		/* 0x150 */
	__le32 unused_154[5];
	__le64 mmp_block;		/* 0x168 */
	u8 unused_170[0xd0];
	__le32 usr_quota_ino;		/* 0x240 */
	__le32 grp_quota_ino;
	__le32 unused_248;
	__le32 backup_groups[2];	/* 0x24c */
	u8 unused_254[24];
	__le32 prj_quota_ino;		/* 0x26c */
	__le32 checksum_seed;		/* 0x270 */
	__le32 unused_274[3];
	__le32 orphan_ino;		/* 0x280 */
	u8 unused_284[0x17c];
};

struct group_desc {
	__le32 block_bitmap_lo;
	__le32 inode_bitmap_lo;
	__le32 inode_table_lo;
	__le16 unused_0c[3];
	__le16 flags;			/* 0x12 */
	__le32 unused_14[2];
	__le16 unused_inodes_lo;	/* 0x1c */
	__le16 checksum;
	__le32 block_bitmap_hi;		/* 0x20, with 64bit */
	__le32 inode_bitmap_hi;
	__le32 inode_table_hi;
	__le16 unused_2c[3];
	__le16 unused_inodes_hi;	/* 0x32 */
};

#define GROUP_INODE_UNINIT	1

static const char * const kind_names[EXT_KINDS] = {
	[EXT_DATA] = "data",
	[EXT_BOOT] = "boot",
	[EXT_SUPER] = "superblock",
	[EXT_GDT] = "gdt",
	[EXT_GDT_RESERVED] = "gdt-reserved",
	[EXT_BLOCK_BITMAP] = "block-bitmap",
	[EXT_INODE_BITMAP] = "inode-bitmap",
	[EXT_INODE_TABLE] = "inode-table",
	[EXT_MMP] = "mmp",
	[EXT_JOURNAL] = "journal",
	[EXT_DIRECTORY] = "directory",
	[EXT_EXTENT_NODE] = "extent-node",
	[EXT_INDIRECT] = "indirect",
	[EXT_XATTR] = "xattr",
	[EXT_EA_INODE] = "ea-inode",
	[EXT_SYMLINK] = "symlink",
	[EXT_QUOTA] = "quota",
	[EXT_ORPHAN] = "orphan",
	[EXT_VERITY] = "verity",
	[EXT_RESERVED_INODE] = "reserved-inode",
};

const char *ext_kind_name(enum ext_kind kind)
{
	return kind < EXT_KINDS ? kind_names[kind] : "unknown";
}

static bool power_of_2(u32 n)
{
	return n && !(n & (n - 1));
}

static u64 blocks_of(const struct super *s, u32 incompat)
{
	u64 blocks = le32_to_cpu(s->blocks_lo);

	if (incompat & EXT_INCOMPAT_64BIT)
		blocks |= (u64)le32_to_cpu(s->blocks_hi) << 32;
	return blocks;
}

/* Blocks, groups and what is computed from them. */
static const char *parse_size(const struct super *s, u64 bytes, struct ext_geo *geo)
{
	u64 groups;
	u32 rest;

	if (le32_to_cpu(s->log_block_size) > MAX_BLOCK_BITS - 10)
		return "s_log_block_size is too large";
	geo->block_bits = 10 + le32_to_cpu(s->log_block_size);
	geo->blocks = blocks_of(s, geo->incompat);
	if (!geo->blocks || geo->blocks > bytes >> geo->block_bits)
		return "s_blocks_count is 0 or more than the device holds";
	geo->first_data = le32_to_cpu(s->first_data);
	if (geo->first_data > 1 || geo->first_data >= geo->blocks)
		return "s_first_data_block is neither 0 nor 1";
	geo->blocks_per_group = le32_to_cpu(s->blocks_per_group);
	/* One bitmap block a group: of blocks or, with bigalloc, of clusters. */
	if (geo->blocks_per_group < 8 ||
	    geo->blocks_per_group > (geo->ro_compat & EXT_RO_COMPAT_BIGALLOC ?
				     1u << 30 : 8u << geo->block_bits))
		return "s_blocks_per_group is impossible";
	groups = div_u64_rem(geo->blocks - geo->first_data, geo->blocks_per_group, &rest);
	groups += rest != 0;
	if (groups > MAX_GROUPS)
		return "too many groups";
	geo->groups = groups;
	return NULL;
}

static const char *parse_inodes(const struct super *s, struct ext_geo *geo)
{
	u64 bytes;

	geo->inode_size = MIN_INODE_SIZE;
	geo->first_ino = EXT_GOOD_OLD_FIRST_INO;
	if (le32_to_cpu(s->revision)) {
		geo->inode_size = le16_to_cpu(s->inode_size);
		geo->first_ino = le32_to_cpu(s->first_ino);
	}
	if (geo->inode_size < MIN_INODE_SIZE || !power_of_2(geo->inode_size) ||
	    geo->inode_size > ext_block_size(geo))
		return "s_inode_size is impossible";
	geo->inodes = le32_to_cpu(s->inodes);
	geo->inodes_per_group = le32_to_cpu(s->inodes_per_group);
	if (!geo->inodes_per_group || geo->inodes_per_group > 8u << geo->block_bits)
		return "s_inodes_per_group is impossible";
	if (geo->inodes > (u64)geo->groups * geo->inodes_per_group)
		return "s_inodes_count is more than the groups hold";
	bytes = (u64)geo->inodes_per_group * geo->inode_size;
	geo->itable_blocks = (bytes + ext_block_size(geo) - 1) >> geo->block_bits;
	return NULL;
}

static const char *parse_descriptors(const struct super *s, struct ext_geo *geo)
{
	u32 count;

	geo->desc_size = MIN_DESC_SIZE;
	if (geo->incompat & EXT_INCOMPAT_64BIT) {
		geo->desc_size = le16_to_cpu(s->desc_size);
		if (geo->desc_size < 2 * MIN_DESC_SIZE || !power_of_2(geo->desc_size) ||
		    geo->desc_size > ext_block_size(geo))
			return "s_desc_size is impossible";
	}
	geo->desc_bits = geo->block_bits - (fls64(geo->desc_size) - 1);
	geo->reserved_gdt = le16_to_cpu(s->reserved_gdt);
	if (geo->reserved_gdt > ext_block_size(geo) / 4)
		return "s_reserved_gdt_blocks is impossible";
	count = ext_gdt_count(geo);
	geo->gdt_blocks = count;
	geo->meta_bg_from = U32_MAX;
	if (geo->incompat & EXT_INCOMPAT_META_BG) {
		geo->meta_bg_from = le32_to_cpu(s->first_meta_bg);
		geo->gdt_blocks = min(count, geo->meta_bg_from);
	}
	geo->backup_groups[0] = le32_to_cpu(s->backup_groups[0]);
	geo->backup_groups[1] = le32_to_cpu(s->backup_groups[1]);
	return NULL;
}

const char *ext_parse_super(const void *super, u64 bytes, struct ext_geo *geo)
{
	struct super copy;
	const struct super *s = &copy;
	const char *wrong;

	BUILD_BUG_ON(sizeof(struct super) != EXT_SUPER_SIZE);
	BUILD_BUG_ON(offsetof(struct super, magic) != EXT_MAGIC_OFFSET);
	BUILD_BUG_ON(offsetof(struct super, checksum_seed) != 0x270);
	BUILD_BUG_ON(offsetof(struct super, reserved_gdt) != 0xce);
	BUILD_BUG_ON(offsetof(struct super, desc_size) != 0xfe);
	BUILD_BUG_ON(offsetof(struct super, mkfs_time) != 0x108);
	BUILD_BUG_ON(offsetof(struct super, mmp_block) != 0x168);
	BUILD_BUG_ON(offsetof(struct super, usr_quota_ino) != 0x240);
	BUILD_BUG_ON(offsetof(struct super, orphan_ino) != 0x280);

	memcpy(&copy, super, sizeof(copy));
	memset(geo, 0, sizeof(*geo));
	if (le16_to_cpu(s->magic) != EXT_MAGIC)
		return "no magic number";
	geo->mount_state = le16_to_cpu(s->state);
	geo->mounts = le16_to_cpu(s->mounts);
	if (le32_to_cpu(s->revision)) {
		if (le16_to_cpu(s->group))
			return "a backup";
		geo->compat = le32_to_cpu(s->compat);
		geo->incompat = le32_to_cpu(s->incompat);
		geo->ro_compat = le32_to_cpu(s->ro_compat);
	}
	if (geo->incompat & EXT_INCOMPAT_JOURNAL_DEV)
		return "an external journal";
	wrong = parse_size(s, bytes, geo);
	if (!wrong)
		wrong = parse_inodes(s, geo);
	if (!wrong)
		wrong = parse_descriptors(s, geo);
	if (wrong)
		return wrong;

	if (geo->incompat & EXT_INCOMPAT_CSUM_SEED)
		geo->checksum_seed = le32_to_cpu(s->checksum_seed);
	if (geo->incompat & EXT_INCOMPAT_MMP)
		geo->mmp_block = le64_to_cpu(s->mmp_block);
	if (geo->compat & EXT_COMPAT_HAS_JOURNAL)
		geo->journal_ino = le32_to_cpu(s->journal_ino);
	if (geo->ro_compat & EXT_RO_COMPAT_QUOTA) {
		geo->quota_ino[0] = le32_to_cpu(s->usr_quota_ino);
		geo->quota_ino[1] = le32_to_cpu(s->grp_quota_ino);
		geo->quota_ino[2] = le32_to_cpu(s->prj_quota_ino);
	}
	if (geo->compat & EXT_COMPAT_ORPHAN_FILE)
		geo->orphan_ino = le32_to_cpu(s->orphan_ino);
	memcpy(geo->uuid, s->uuid, sizeof(geo->uuid));
	memcpy(geo->hash_seed, s->hash_seed, sizeof(geo->hash_seed));
	geo->mkfs_time = le32_to_cpu(s->mkfs_time);
	return NULL;
}

bool ext_same(const struct ext_geo *a, const struct ext_geo *b)
{
	return !memcmp(a->uuid, b->uuid, sizeof(a->uuid)) &&
	       !memcmp(a->hash_seed, b->hash_seed, sizeof(a->hash_seed)) &&
	       a->mkfs_time == b->mkfs_time && a->block_bits == b->block_bits &&
	       a->first_data == b->first_data && a->blocks_per_group == b->blocks_per_group &&
	       a->inodes_per_group == b->inodes_per_group && a->inode_size == b->inode_size;
}

static bool power_of(u32 n, u32 base)
{
	while (n % base == 0)
		n /= base;
	return n == 1;
}

bool ext_has_super(const struct ext_geo *geo, u32 group)
{
	if (!group)
		return true;
	if (geo->compat & EXT_COMPAT_SPARSE_SUPER2)
		return group == geo->backup_groups[0] || group == geo->backup_groups[1];
	if (group == 1 || !(geo->ro_compat & EXT_RO_COMPAT_SPARSE_SUPER))
		return true;
	return group & 1 && (power_of(group, 3) || power_of(group, 5) || power_of(group, 7));
}

/* meta_bg: a descriptor block stands in the first, second and last group of those it describes. */
static bool has_meta_gdt(const struct ext_geo *geo, u32 group)
{
	u32 mask = (1u << geo->desc_bits) - 1;
	u32 at = group & mask;

	if (group >> geo->desc_bits < geo->meta_bg_from)
		return false;
	return at == 0 || at == 1 || at == mask;
}

enum ext_kind ext_fixed_kind(const struct ext_geo *geo, u64 block)
{
	u32 group, at, gdt, super = 1;

	if (block == geo->mmp_block && block)
		return EXT_MMP;
	if (block < geo->first_data)
		return EXT_BOOT;
	group = div_u64_rem(block - geo->first_data, geo->blocks_per_group, &at);
	gdt = geo->gdt_blocks;
	/* Cheap test first: most blocks are behind the metadata with which a group may begin. */
	if (at > 2 + gdt + geo->reserved_gdt)
		return EXT_DATA;
	/* Blocks of 1 KiB counted from 0: the superblock is the second one. */
	if (!group && geo->block_bits == 10 && !geo->first_data) {
		if (!at)
			return EXT_BOOT;
		at--;
	}
	if (!ext_has_super(geo, group))
		super = 0;
	if (super && !at)
		return EXT_SUPER;
	at -= super;
	if (geo->meta_bg_from != U32_MAX && has_meta_gdt(geo, group)) {
		/* Behind descriptors of the old style, if there are any. Both are kept. */
		if (!at || (super && at <= gdt))
			return EXT_GDT;
	}
	if (!super)
		return EXT_DATA;
	if (at < gdt)
		return EXT_GDT;
	return at < gdt + geo->reserved_gdt ? EXT_GDT_RESERVED : EXT_DATA;
}

bool ext_is_backup(const void *super)
{
	const struct super *s = super;
	__le16 group;

	memcpy(&group, &s->group, sizeof(group));
	return group;
}

/* The field has 16 bits: of larger numbers e2fsprogs writes the largest that fits, ext4 a part. */
static bool has_number(const struct super *s, u32 group)
{
	u32 said = le16_to_cpu(s->group);

	return said == (group & NUMBER_MAX) || (group > NUMBER_MAX && said == NUMBER_MAX);
}

/* Of the features those that place metadata: all copies have the same. */
static bool has_features(const struct super *s, const struct ext_geo *geo)
{
	const u32 incompat = EXT_INCOMPAT_META_BG | EXT_INCOMPAT_64BIT | EXT_INCOMPAT_FLEX_BG;
	const u32 ro_compat = EXT_RO_COMPAT_SPARSE_SUPER | EXT_RO_COMPAT_BIGALLOC;

	return !((le32_to_cpu(s->compat) ^ geo->compat) & EXT_COMPAT_SPARSE_SUPER2) &&
	       !((le32_to_cpu(s->incompat) ^ geo->incompat) & incompat) &&
	       !((le32_to_cpu(s->ro_compat) ^ geo->ro_compat) & ro_compat);
}

static bool of_same_mkfs(const struct super *s, const struct ext_geo *geo)
{
	return !memcmp(s->uuid, geo->uuid, sizeof(s->uuid)) &&
	       !memcmp(s->hash_seed, geo->hash_seed, sizeof(s->hash_seed)) &&
	       le32_to_cpu(s->mkfs_time) == geo->mkfs_time;
}

bool ext_is_backup_of(const struct ext_geo *geo, const void *super, u32 group)
{
	struct super s;

	memcpy(&s, super, sizeof(s));
	return le16_to_cpu(s.magic) == EXT_MAGIC && has_number(&s, group) &&
	       of_same_mkfs(&s, geo) && has_features(&s, geo) &&
	       blocks_of(&s, geo->incompat) == geo->blocks &&
	       le32_to_cpu(s.inodes_per_group) == geo->inodes_per_group &&
	       le32_to_cpu(s.log_block_size) == geo->block_bits - 10 &&
	       le32_to_cpu(s.first_data) == geo->first_data &&
	       le32_to_cpu(s.blocks_per_group) == geo->blocks_per_group;
}

u64 ext_gdt_block(const struct ext_geo *geo, u32 index)
{
	u32 shift = geo->block_bits == 10 && !geo->first_data;
	u32 group;

	if (index < geo->meta_bg_from)
		return (u64)geo->first_data + shift + 1 + index;
	group = index << geo->desc_bits;
	return geo->first_data + (u64)group * geo->blocks_per_group +
	       ext_has_super(geo, group) + (group ? 0 : shift);
}

static bool ext_is_inside(const struct ext_geo *geo, u64 block, u64 count)
{
	return block > geo->first_data && block < geo->blocks && count <= geo->blocks - block;
}

bool ext_parse_group(const struct ext_geo *geo, const void *block, u32 slot,
		     struct ext_group *group)
{
	struct group_desc d = { };
	u32 unused;

	BUILD_BUG_ON(offsetof(struct group_desc, unused_inodes_hi) != 0x32);
	memcpy(&d, block + ((size_t)slot << (geo->block_bits - geo->desc_bits)),
	       min_t(size_t, sizeof(d), geo->desc_size));
	group->block_bitmap = le32_to_cpu(d.block_bitmap_lo);
	group->inode_bitmap = le32_to_cpu(d.inode_bitmap_lo);
	group->inode_table = le32_to_cpu(d.inode_table_lo);
	unused = le16_to_cpu(d.unused_inodes_lo);
	if (geo->desc_size > MIN_DESC_SIZE) {
		group->block_bitmap |= (u64)le32_to_cpu(d.block_bitmap_hi) << 32;
		group->inode_bitmap |= (u64)le32_to_cpu(d.inode_bitmap_hi) << 32;
		group->inode_table |= (u64)le32_to_cpu(d.inode_table_hi) << 32;
		unused |= (u32)le16_to_cpu(d.unused_inodes_hi) << 16;
	}
	group->inodes = geo->inodes_per_group;
	if (geo->ro_compat & (EXT_RO_COMPAT_GDT_CSUM | EXT_RO_COMPAT_METADATA_CSUM)) {
		if (le16_to_cpu(d.flags) & GROUP_INODE_UNINIT)
			group->inodes = 0;
		else if (unused <= group->inodes)
			group->inodes -= unused;
	}
	return ext_is_inside(geo, group->block_bitmap, 1) &&
	       ext_is_inside(geo, group->inode_bitmap, 1) &&
	       ext_is_inside(geo, group->inode_table, geo->itable_blocks);
}

u64 ext_inode_block(const struct ext_geo *geo, const struct ext_group *group, u32 ino,
		    u32 *offset)
{
	u64 at = (u64)((ino - 1) % geo->inodes_per_group) * geo->inode_size;

	*offset = at & (ext_block_size(geo) - 1);
	return group->inode_table + (at >> geo->block_bits);
}
