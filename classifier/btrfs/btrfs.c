// SPDX-License-Identifier: GPL-2.0
/* btrfs on the disk: see btrfs.h. The structures are those of the kernel's btrfs_tree.h. */
#include "btrfs.h"

#include "../../dm-david/portable/crc.h"

#define MAGIC			0x4d5f53665248425fULL	/* "_BHRfS_M" */
#define CHUNK_ITEM		228
#define CSUM_CRC32C		0
#define CSUM_BYTES		32

#define FLAGS_SAFE		0x7ULL	/* written, reloc, error */

#define INCOMPAT_MIXED_GROUPS	BIT(2)
#define INCOMPAT_METADATA_UUID	BIT(10)
/*
 * Mixed backrefs, default subvolume, mixed groups, two compressions, big
 * metadata, extended iref, skinny extents, no holes, metadata uuid, raid1c34,
 * simple quota.
 */
#define INCOMPAT_SAFE		(0x3fUL | BIT(6) | BIT(8) | BIT(9) | BIT(10) | BIT(11) | BIT(16))
#define INCOMPAT_RAID56		BIT(7)
/* Free-space tree and its valid bit, verity, block-group tree. */
#define COMPAT_RO_SAFE		0xfUL
#define COMPAT_RO_SPACE_TREE	0x3UL

/* Of a tree block: written, of a relocation tree, with a new checksum; above them the revision. */
#define HEADER_WRITTEN		BIT(0)
#define HEADER_FLAGS		(BIT(0) | BIT(1) | BIT(16))
#define MIXED_BACKREF_REV	1

#define BLOCK_RAID0		BIT(3)
#define BLOCK_RAID10		BIT(6)
#define BLOCK_RAID56		(BIT(7) | BIT(8))
#define BLOCK_SAFE		0x67fUL

struct dev_item {
	__le64 devid;
	__le64 total_bytes;
	u8 unused_10[82];
} __packed;

struct btrfs_super {
	u8 csum[CSUM_BYTES];
	u8 fsid[SELFID_UUID];
	__le64 bytenr;
	__le64 flags;
	__le64 magic;
	__le64 generation;
	__le64 root;
	__le64 chunk_root;
	__le64 log_root;
	u8 unused_68[32];
	__le64 devices;
	__le32 sector_bytes;
	__le32 node_bytes;
	u8 unused_98[8];
	__le32 sys_chunk_bytes;
	__le64 chunk_generation;
	__le64 compat;
	__le64 compat_ro;
	__le64 incompat;
	__le16 csum_type;
	u8 root_level;
	u8 chunk_level;
	u8 log_level;
	struct dev_item dev_item;
	u8 label[256];
	__le64 cache_generation;
	__le64 uuid_generation;
	u8 metadata_uuid[SELFID_UUID];
	u8 unused_24b[224];
	u8 sys_chunk[2048];
	u8 unused_b2b[1237];
} __packed;

struct btrfs_block_header {
	u8 csum[CSUM_BYTES];
	u8 fsid[SELFID_UUID];
	__le64 logical;
	__le64 flags;
	u8 chunk_tree_uuid[SELFID_UUID];
	__le64 generation;
	__le64 owner;
	__le32 items;
	u8 level;
} __packed;

struct disk_key {
	__le64 objectid;
	u8 type;
	__le64 offset;
} __packed;

struct leaf_item {
	struct disk_key key;
	__le32 offset;
	__le32 size;
} __packed;

struct key_ptr {
	struct disk_key key;
	__le64 logical;
	__le64 generation;
} __packed;

struct disk_stripe {
	__le64 devid;
	__le64 offset;
	u8 dev_uuid[SELFID_UUID];
} __packed;

struct disk_chunk {
	__le64 length;
	__le64 owner;
	__le64 stripe_len;
	__le64 type;
	u8 unused_20[12];
	__le16 stripes;
	__le16 sub_stripes;
} __packed;

static bool power_of_2_between(u32 n, u32 least, u32 most)
{
	return n >= least && n <= most && !(n & (n - 1));
}

/* Is the checksum right? It covers everything behind its own field. */
static bool csum_holds(const void *block, u32 bytes)
{
	__le32 stored;

	memcpy(&stored, block, sizeof(stored));
	return le32_to_cpu(stored) == crc_of(CRC_32C, block + CSUM_BYTES, bytes - CSUM_BYTES);
}

/*
 * The extents of @chunk, with its stripes behind it in @bytes, on this device: their number, and
 * number @nth of them. -EINVAL: impossible.
 */
static int chunk_extents(const struct btrfs_geo *geo, const struct disk_key *key, const void *chunk,
			 u32 bytes, unsigned int nth, struct btrfs_extent *extent)
{
	struct disk_chunk c;
	unsigned int i, stripes, found = 0;
	u64 type, length;
	u32 parts = 1;

	if (bytes < sizeof(c))
		return -EINVAL;
	memcpy(&c, chunk, sizeof(c));
	stripes = le16_to_cpu(c.stripes);
	type = le64_to_cpu(c.type);
	if (!stripes || bytes < sizeof(c) + stripes * sizeof(struct disk_stripe))
		return -EINVAL;
	if (type & ~BLOCK_SAFE || !(type & (BTRFS_CHUNK_DATA | BTRFS_CHUNK_SYSTEM |
					    BTRFS_CHUNK_METADATA)))
		return -EINVAL;
	if (type & BLOCK_RAID0)
		parts = stripes;
	if (type & BLOCK_RAID10) {
		if (!le16_to_cpu(c.sub_stripes) || stripes % le16_to_cpu(c.sub_stripes))
			return -EINVAL;
		parts = stripes / le16_to_cpu(c.sub_stripes);
	}
	length = le64_to_cpu(c.length);
	length = div_u64(length, parts);
	if (!length || length & 511)
		return -EINVAL;
	for (i = 0; i < stripes; i++) {
		struct disk_stripe s;
		u64 offset;

		memcpy(&s, chunk + sizeof(c) + i * sizeof(s), sizeof(s));
		if (le64_to_cpu(s.devid) != geo->devid)
			continue;
		offset = le64_to_cpu(s.offset);
		if (offset & 511 || offset >> 9 >= geo->sectors ||
		    length >> 9 > geo->sectors - (offset >> 9))
			return -EINVAL;
		if (found++ != nth)
			continue;
		extent->start = offset >> 9;
		extent->sectors = length >> 9;
		extent->type = type & (BTRFS_CHUNK_DATA | BTRFS_CHUNK_SYSTEM |
				       BTRFS_CHUNK_METADATA);
		extent->misaligned = ((offset | le64_to_cpu(key->offset)) &
				      (geo->node_bytes - 1)) != 0;
		extent->striped = parts > 1;
	}
	return found;
}

static const char *parse_system_chunks(const struct btrfs_super *s, struct btrfs_geo *geo)
{
	u32 bytes = le32_to_cpu(s->sys_chunk_bytes), at = 0;

	if (bytes > sizeof(s->sys_chunk))
		return "sys_chunk_array_size is impossible";
	while (at < bytes) {
		struct btrfs_system_chunk *to = &geo->system[geo->system_chunks];
		struct btrfs_extent extent = { };
		struct disk_chunk c;
		struct disk_key key;
		int found;

		if (bytes - at < sizeof(key) + sizeof(c))
			return "sys_chunk_array ends within a chunk";
		memcpy(&key, s->sys_chunk + at, sizeof(key));
		at += sizeof(key);
		memcpy(&c, s->sys_chunk + at, sizeof(c));
		found = chunk_extents(geo, &key, s->sys_chunk + at, bytes - at, 0, &extent);
		if (found < 0 || key.type != CHUNK_ITEM)
			return "sys_chunk_array holds an impossible chunk";
		at += sizeof(c) + le16_to_cpu(c.stripes) * sizeof(struct disk_stripe);
		/* No program makes striped system chunks; their blocks would not be in a row. */
		if (!found || le64_to_cpu(c.type) & (BLOCK_RAID0 | BLOCK_RAID10))
			continue;
		if (geo->system_chunks == BTRFS_SYSTEM_CHUNKS)
			return "sys_chunk_array holds too many chunks";
		to->logical = le64_to_cpu(key.offset);
		to->bytes = le64_to_cpu(c.length);
		to->sector = extent.start;
		if (to->logical + to->bytes < to->logical)
			return "sys_chunk_array holds an impossible chunk";
		geo->system_chunks++;
	}
	return NULL;
}

/* Why nothing of this file system may be squashed: a feature that is not understood. NULL: none. */
static const char *btrfs_unsafe_feature(const struct btrfs_super *s, u64 devid)
{
	u64 incompat = le64_to_cpu(s->incompat);

	if (incompat & INCOMPAT_RAID56)
		return "raid5 or raid6";
	if (incompat & ~INCOMPAT_SAFE)
		return "incompatible features that are not known";
	if (le64_to_cpu(s->compat_ro) & ~COMPAT_RO_SAFE)
		return "read-only compatible features that are not known";
	if (le64_to_cpu(s->flags) & ~FLAGS_SAFE)
		return "a seed device, a dump, or in conversion";
	if (!devid)
		return "the target of a running replace";
	return NULL;
}

const char *btrfs_parse_super(const void *super, u64 sectors, struct btrfs_geo *geo)
{
	const struct btrfs_super *s = super;
	u64 incompat;

	BUILD_BUG_ON(sizeof(struct btrfs_super) != BTRFS_SUPER_BYTES);
	BUILD_BUG_ON(offsetof(struct btrfs_super, magic) != BTRFS_MAGIC_OFFSET);
	BUILD_BUG_ON(offsetof(struct btrfs_super, csum_type) != 196);
	BUILD_BUG_ON(offsetof(struct btrfs_super, label) != 299);
	BUILD_BUG_ON(offsetof(struct btrfs_super, sys_chunk) != 811);
	BUILD_BUG_ON(sizeof(struct dev_item) != 98);
	BUILD_BUG_ON(sizeof(struct btrfs_block_header) != BTRFS_HEADER_BYTES);
	BUILD_BUG_ON(sizeof(struct leaf_item) != 25);
	BUILD_BUG_ON(sizeof(struct key_ptr) != 33);
	BUILD_BUG_ON(sizeof(struct disk_chunk) != 48);

	memset(geo, 0, sizeof(*geo));
	if (le64_to_cpu(s->magic) != MAGIC)
		return "no magic number";
	if (le64_to_cpu(s->bytenr) != BTRFS_SUPER_SECTOR << 9)
		return "a mirror";
	geo->csum_type = le16_to_cpu(s->csum_type);
	if (geo->csum_type == CSUM_CRC32C && !csum_holds(super, BTRFS_SUPER_BYTES))
		return "wrong checksum";
	incompat = le64_to_cpu(s->incompat);
	memcpy(geo->fsid, incompat & INCOMPAT_METADATA_UUID ? s->metadata_uuid : s->fsid,
	       sizeof(geo->fsid));
	geo->node_bytes = le32_to_cpu(s->node_bytes);
	geo->sector_bytes = le32_to_cpu(s->sector_bytes);
	if (!power_of_2_between(geo->sector_bytes, 512, BTRFS_MAX_NODE))
		return "sectorsize is impossible";
	if (!power_of_2_between(geo->node_bytes, max(geo->sector_bytes, 4096u), BTRFS_MAX_NODE))
		return "nodesize is impossible";
	geo->mixed = incompat & INCOMPAT_MIXED_GROUPS;
	if (geo->mixed && geo->node_bytes != geo->sector_bytes)
		return "mixed block groups whose nodes are no sectors";
	geo->sectors = le64_to_cpu(s->dev_item.total_bytes) >> 9;
	if (geo->sectors <= BTRFS_RESERVED_SECTORS || geo->sectors > sectors)
		return "the device is larger than the disk, or has no room";
	geo->devid = le64_to_cpu(s->dev_item.devid);
	geo->devices = le64_to_cpu(s->devices);
	geo->generation = le64_to_cpu(s->generation);
	geo->chunk_root = le64_to_cpu(s->chunk_root);
	geo->chunk_generation = le64_to_cpu(s->chunk_generation);
	geo->chunk_level = s->chunk_level;
	if (geo->chunk_level > 7)
		return "chunk_root_level is impossible";
	geo->space_cache = le64_to_cpu(s->cache_generation) != U64_MAX &&
			   le64_to_cpu(s->cache_generation) &&
			   !(le64_to_cpu(s->compat_ro) & COMPAT_RO_SPACE_TREE);
	geo->unsafe = btrfs_unsafe_feature(s, geo->devid);
	if (geo->unsafe)
		return NULL;
	return parse_system_chunks(s, geo);
}

bool btrfs_same(const struct btrfs_geo *a, const struct btrfs_geo *b)
{
	return !memcmp(a->fsid, b->fsid, sizeof(a->fsid)) && a->devid == b->devid &&
	       a->node_bytes == b->node_bytes && a->sector_bytes == b->sector_bytes &&
	       a->mixed == b->mixed && a->csum_type == b->csum_type && a->unsafe == b->unsafe;
}

bool btrfs_sums_are_crc32c(const struct btrfs_geo *geo)
{
	return geo->csum_type == CSUM_CRC32C && geo->sector_bytes == 4096;
}

u64 btrfs_system_sector(const struct btrfs_geo *geo, u64 logical)
{
	unsigned int i;

	for (i = 0; i < geo->system_chunks; i++) {
		const struct btrfs_system_chunk *c = &geo->system[i];

		if (logical >= c->logical && logical - c->logical < c->bytes &&
		    c->bytes - (logical - c->logical) >= geo->node_bytes)
			return c->sector + ((logical - c->logical) >> 9);
	}
	return 0;
}

bool btrfs_parse_header(const struct btrfs_geo *geo, const void *block, struct btrfs_header *h)
{
	struct btrfs_block_header copy;

	memcpy(&copy, block, sizeof(copy));
	h->logical = le64_to_cpu(copy.logical);
	h->generation = le64_to_cpu(copy.generation);
	h->owner = le64_to_cpu(copy.owner);
	h->items = le32_to_cpu(copy.items);
	h->level = copy.level;
	return !memcmp(copy.fsid, geo->fsid, sizeof(copy.fsid));
}

bool btrfs_looks_like_header(const struct btrfs_geo *geo, const void *block)
{
	struct btrfs_block_header h;
	u64 flags;

	memcpy(&h, block, sizeof(h));
	flags = le64_to_cpu(h.flags);
	return flags >> 56 == MIXED_BACKREF_REV && !(flags << 8 >> 8 & ~HEADER_FLAGS) &&
	       flags & HEADER_WRITTEN && h.level < 8 && h.generation &&
	       !(le64_to_cpu(h.logical) & (geo->sector_bytes - 1));
}

/*
 * A checksum for each page, the generation, then entries. It has 16 pages for each 256 MiB of its
 * chunk, which has at most 10 GiB (cache_save_setup()).
 */
u32 btrfs_cache_sectors(const void *page, u64 generation)
{
	const __le64 wanted = cpu_to_le64(generation);
	u32 at;

	for (at = 64; at <= 64 * 40; at += 64) {
		__le32 stored;

		if (memcmp(page + at, &wanted, sizeof(wanted)))
			continue;
		memcpy(&stored, page, sizeof(stored));
		if (le32_to_cpu(stored) == crc_of(CRC_32C, page + at, 4096 - at))
			return at / sizeof(stored) * 8;
	}
	return 0;
}

bool btrfs_node_valid(const struct btrfs_geo *geo, const void *node, const struct btrfs_header *h)
{
	u32 room = geo->node_bytes - sizeof(struct btrfs_block_header);

	if (h->level > 7 ||
	    h->items > room / (h->level ? sizeof(struct key_ptr) : sizeof(struct leaf_item)))
		return false;
	return geo->csum_type != CSUM_CRC32C || csum_holds(node, geo->node_bytes);
}

void btrfs_node_child(const void *node, u32 slot, u64 *logical, u64 *generation)
{
	struct key_ptr p;

	memcpy(&p, node + sizeof(struct btrfs_block_header) + slot * sizeof(p), sizeof(p));
	*logical = le64_to_cpu(p.logical);
	*generation = le64_to_cpu(p.generation);
}

int btrfs_leaf_chunk(const struct btrfs_geo *geo, const void *leaf, u32 slot, unsigned int nth,
		     struct btrfs_extent *extent)
{
	u32 room = geo->node_bytes - sizeof(struct btrfs_block_header);
	u32 offset, size;
	struct leaf_item item;
	int found;

	memcpy(&item, leaf + sizeof(struct btrfs_block_header) + slot * sizeof(item), sizeof(item));
	if (item.key.type != CHUNK_ITEM)
		return 0;
	offset = le32_to_cpu(item.offset);
	size = le32_to_cpu(item.size);
	if (offset > room || size > room - offset)
		return -EINVAL;
	leaf += sizeof(struct btrfs_block_header);
	found = chunk_extents(geo, &item.key, leaf + offset, size, nth, extent);
	return found < 0 ? found : found + 1;
}
