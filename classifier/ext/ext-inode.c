// SPDX-License-Identifier: GPL-2.0
/* Inodes and their maps: see ext-inode.h. */
#include "../../dm-david/portable/crc.h"
#include "ext-inode.h"

#define MODE_TYPE	0xf000
#define MODE_DIR	0x4000
#define MODE_REG	0x8000
#define MODE_LINK	0xa000

#define FLAG_IMMUTABLE	0x00000010
#define FLAG_EXTENTS	0x00080000
#define FLAG_VERITY	0x00100000
#define FLAG_EA_INODE	0x00200000
#define FLAG_INLINE	0x10000000

#define DIRECT		12	/* pointers in front of the indirect one */
#define EXTENT_MAGIC	0xf30a
#define UNWRITTEN	32768	/* ee_len above this: allocated, not written */

struct raw_inode {
	__le16 mode;
	__le16 uid;
	__le32 size_lo;
	__le32 times[3];
	__le32 dtime;		/* 0x14 */
	__le16 gid;
	__le16 links;
	__le32 blocks_lo;
	__le32 flags;		/* 0x20 */
	__le32 version;
	u8 map[EXT_INODE_MAP];	/* 0x28 */
	__le32 generation;	/* 0x64 */
	__le32 xattr_lo;
	__le32 size_hi;
	__le32 fragment;
	__le16 blocks_hi;
	__le16 xattr_hi;
	__le16 unused_78[4];
};

struct extent_header {
	__le16 magic;
	__le16 entries;
	__le16 max;
	__le16 depth;
	__le32 generation;
};

struct extent {
	__le32 logical;
	__le16 len;
	__le16 start_hi;
	__le32 start_lo;
};

struct extent_index {
	__le32 logical;
	__le32 leaf_lo;
	__le16 leaf_hi;
	__le16 unused;
};

static enum ext_kind reserved_kind(const struct ext_geo *geo, u32 ino)
{
	if (ino == geo->journal_ino || ino == EXT_JOURNAL_INO)
		return EXT_JOURNAL;
	if (ino == geo->quota_ino[0] || ino == geo->quota_ino[1] || ino == geo->quota_ino[2])
		return EXT_QUOTA;
	if (ino == geo->orphan_ino)
		return EXT_ORPHAN;
	if (ino == EXT_RESIZE_INO)
		return EXT_GDT_RESERVED;
	if (ino < geo->first_ino && ino != EXT_ROOT_INO)
		return EXT_RESERVED_INODE;
	return EXT_DATA;
}

static enum ext_kind content_kind(const struct ext_geo *geo, const struct ext_inode *inode)
{
	enum ext_kind kind = reserved_kind(geo, inode->ino);

	if (kind != EXT_DATA)
		return kind;
	switch (inode->mode & MODE_TYPE) {
	case MODE_DIR:
		return EXT_DIRECTORY;
	case MODE_LINK:
		return EXT_SYMLINK;
	case MODE_REG:
		return inode->flags & FLAG_EA_INODE ? EXT_EA_INODE : EXT_DATA;
	default:
		return EXT_RESERVED_INODE;
	}
}

void ext_parse_inode(const struct ext_geo *geo, u32 ino, const void *raw,
		     struct ext_inode *inode)
{
	struct raw_inode r;
	u32 type;

	BUILD_BUG_ON(sizeof(struct raw_inode) != 128);
	BUILD_BUG_ON(offsetof(struct raw_inode, map) != 0x28);
	BUILD_BUG_ON(offsetof(struct raw_inode, xattr_hi) != 0x76);

	memcpy(&r, raw, sizeof(r));
	inode->ino = ino;
	inode->mode = le16_to_cpu(r.mode);
	inode->flags = le32_to_cpu(r.flags);
	inode->links = le16_to_cpu(r.links);
	inode->dtime = le32_to_cpu(r.dtime);
	inode->generation = le32_to_cpu(r.generation);
	inode->size = le32_to_cpu(r.size_lo) | (u64)le32_to_cpu(r.size_hi) << 32;
	inode->xattr_block = le32_to_cpu(r.xattr_lo);
	if (geo->incompat & EXT_INCOMPAT_64BIT)
		inode->xattr_block |= (u64)le16_to_cpu(r.xattr_hi) << 32;
	memcpy(inode->map, r.map, sizeof(inode->map));

	type = inode->mode & MODE_TYPE;
	inode->kind = content_kind(geo, inode);
	/*
	 * An unlinked file that is still open has no links and no dtime, and is
	 * in use; dtime is then the next orphan's number. Reserved inodes may
	 * have neither mode nor links (bad blocks).
	 */
	inode->used = inode->links || ino < geo->first_ino || (inode->mode && !inode->dtime);
	inode->extents = inode->flags & FLAG_EXTENTS;
	inode->verity = inode->flags & FLAG_VERITY;
	inode->regular = type == MODE_REG;
	inode->immutable = inode->flags & FLAG_IMMUTABLE;
	inode->inline_data = inode->flags & FLAG_INLINE;
	inode->mapped = inode->used && !(inode->flags & FLAG_INLINE);
	switch (type) {
	case MODE_DIR:
	case MODE_REG:
	case 0:
		break;
	case MODE_LINK:
		/* A short target stands in the map's place. */
		if (inode->size < EXT_INODE_MAP && !inode->extents)
			inode->mapped = false;
		break;
	default:
		inode->mapped = false;
	}
}

static bool ext_inode_is_inside(const struct ext_geo *geo, u64 start, u32 len)
{
	return start >= geo->first_data && start && start < geo->blocks &&
	       len <= geo->blocks - start;
}

/* The extents or indices in a node of @bytes bytes that must be @depth levels above the leaves. */
static unsigned int map_extents(const struct ext_geo *geo, const void *node, u32 bytes, u32 depth,
				ext_run_fn fn, void *ctx)
{
	struct extent_header h;
	struct ext_run run;
	u32 entries, room, i;
	unsigned int wrong = 0;

	BUILD_BUG_ON(sizeof(struct extent) != 12 || sizeof(struct extent_index) != 12);
	memcpy(&h, node, sizeof(h));
	room = (bytes - sizeof(h)) / sizeof(struct extent);
	entries = le16_to_cpu(h.entries);
	if (le16_to_cpu(h.magic) != EXTENT_MAGIC || le16_to_cpu(h.depth) != depth ||
	    entries > room || entries > le16_to_cpu(h.max))
		return 1;
	for (i = 0; i < entries; i++) {
		const void *at = node + sizeof(h) + i * sizeof(struct extent);

		if (depth) {
			struct extent_index x;

			memcpy(&x, at, sizeof(x));
			run.logical = le32_to_cpu(x.logical);
			run.start = le32_to_cpu(x.leaf_lo) | (u64)le16_to_cpu(x.leaf_hi) << 32;
			run.len = 1;
		} else {
			struct extent x;

			memcpy(&x, at, sizeof(x));
			run.logical = le32_to_cpu(x.logical);
			run.start = le32_to_cpu(x.start_lo) | (u64)le16_to_cpu(x.start_hi) << 32;
			run.len = le16_to_cpu(x.len);
			if (run.len > UNWRITTEN)
				run.len -= UNWRITTEN;
		}
		run.level = depth;
		if (run.len && ext_inode_is_inside(geo, run.start, run.len))
			fn(ctx, &run);
		else
			wrong++;
	}
	return wrong;
}

/* @count pointers at @p of @level, each for @step file blocks from @logical on; runs join. */
static unsigned int map_pointers(const struct ext_geo *geo, const void *p, u32 count, u32 level,
				 u64 logical, u64 step, ext_run_fn fn, void *ctx)
{
	struct ext_run run = { };
	unsigned int wrong = 0;
	u32 i;

	run.level = level;
	for (i = 0; i < count; i++, logical += step) {
		__le32 word;
		u32 block;

		memcpy(&word, p + i * sizeof(word), sizeof(word));
		block = le32_to_cpu(word);
		if (!block)
			continue;
		if (!ext_inode_is_inside(geo, block, 1)) {
			wrong++;
			continue;
		}
		if (run.len && !level && block == run.start + run.len &&
		    logical == run.logical + run.len) {
			run.len++;
			continue;
		}
		if (run.len)
			fn(ctx, &run);
		run.logical = logical;
		run.start = block;
		run.len = 1;
	}
	if (run.len)
		fn(ctx, &run);
	return wrong;
}

unsigned int ext_map_inode(const struct ext_geo *geo, const struct ext_inode *inode,
			   ext_run_fn fn, void *ctx)
{
	u32 bits = geo->block_bits - 2;
	unsigned int wrong;
	u64 logical = DIRECT;
	u32 level;

	if (!inode->mapped)
		return 0;
	if (inode->extents) {
		struct extent_header h;

		memcpy(&h, inode->map, sizeof(h));
		if (le16_to_cpu(h.depth) > EXT_MAX_DEPTH)
			return 1;
		return map_extents(geo, inode->map, EXT_INODE_MAP, le16_to_cpu(h.depth), fn, ctx);
	}
	wrong = map_pointers(geo, inode->map, DIRECT, 0, 0, 1, fn, ctx);
	for (level = 1; level <= 3; level++) {
		wrong += map_pointers(geo, inode->map + 4 * (DIRECT + level - 1), 1, level,
				      logical, 0, fn, ctx);
		logical += 1ULL << (bits * level);
	}
	return wrong;
}

unsigned int ext_map_node(const struct ext_geo *geo, bool extents, u32 level, u64 logical,
			  const void *block, ext_run_fn fn, void *ctx)
{
	u32 bits = geo->block_bits - 2;

	if (!level || level > EXT_MAX_DEPTH)
		return 1;
	if (extents)
		return map_extents(geo, block, ext_block_size(geo), level - 1, fn, ctx);
	if (level > 3)
		return 1;
	return map_pointers(geo, block, 1u << bits, level - 1, logical,
			    1ULL << (bits * (level - 1)), fn, ctx);
}

bool ext_node_is_of(const struct ext_geo *geo, const struct ext_inode *inode, const void *block)
{
	__le32 ino = cpu_to_le32(inode->ino), generation = cpu_to_le32(inode->generation), said;
	u32 seed = geo->checksum_seed, tail;
	struct extent_header h;

	if (!(geo->ro_compat & EXT_RO_COMPAT_METADATA_CSUM) || !inode->extents)
		return false;
	memcpy(&h, block, sizeof(h));
	tail = sizeof(h) + le16_to_cpu(h.max) * sizeof(struct extent);
	if (le16_to_cpu(h.magic) != EXTENT_MAGIC || tail > ext_block_size(geo) - sizeof(said))
		return false;
	if (!(geo->incompat & EXT_INCOMPAT_CSUM_SEED))
		seed = crc_update(CRC_32C, ~0u, geo->uuid, sizeof(geo->uuid));
	seed = crc_update(CRC_32C, seed, &ino, sizeof(ino));
	seed = crc_update(CRC_32C, seed, &generation, sizeof(generation));
	memcpy(&said, block + tail, sizeof(said));
	return le32_to_cpu(said) == crc_update(CRC_32C, seed, block, tail);
}
