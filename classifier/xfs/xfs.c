// SPDX-License-Identifier: GPL-2.0
/* A mounted xfs: see xfs.h. The structures are those of the kernel's xfs_format.h. */
#include "xfs.h"

#include "../../dm-david/portable/crc.h"
#include "../planted.h"

#define VERSION_MASK		0xf
#define VERSION_5		5
#define MIN_BLOCK_BITS		10
#define MAX_BLOCK_BITS		16
#define AG_HEADERS		4	/* sectors: superblock, free space, inodes, free list */

/* ftype, sparse inodes, metadata uuid, bigtime, needsrepair, nrext64, exchange, parent. */
#define INCOMPAT_SAFE		0xffu
#define INCOMPAT_META_UUID	BIT(2)

/* Free-inode and reverse-mapping btrees, reflink, inode btree counts. */
#define RO_COMPAT_SAFE		0xfu

/*
 * What is younger than kernel 5.5, and what older ones do not mount for writing: bigtime (5.10),
 * nrext64 (5.19), exchange and parent (6.10); inode btree counts (5.10).
 */
#define INCOMPAT_CLEARED	0xe8u
#define RO_COMPAT_CLEARED	0x8u

struct xfs_super {
	__be32 magic;		/* 0x00 */
	__be32 block_bytes;
	__be64 blocks;
	__be64 rt_blocks;	/* 0x10 */
	__be64 rt_extents;
	u8 uuid[SELFID_UUID];	/* 0x20 */
	__be64 log_start;	/* 0x30 */
	__be64 unused_38[3];
	__be32 unused_50;	/* 0x50 */
	__be32 ag_blocks;
	__be32 ags;
	__be32 unused_5c;
	__be32 log_blocks;	/* 0x60 */
	__be16 version;
	__be16 sector_bytes;
	__be16 inode_bytes;	/* 0x68 */
	__be16 inodes_per_block;
	u8 name[12];
	u8 block_bits;		/* 0x78 */
	u8 sector_bits;
	u8 inode_bits;
	u8 inodes_per_block_bits;
	u8 ag_block_bits;
	u8 unused_7d;
	u8 in_progress;
	u8 unused_7f;
	u8 unused_80[64];
	u8 directory_bits;	/* 0xc0 */
	u8 unused_c1[15];
	__be32 compat;		/* 0xd0 */
	__be32 ro_compat;
	__be32 incompat;
	__be32 log_incompat;
	__le32 crc;		/* 0xe0 */
	u8 unused_e4[20];
	u8 meta_uuid[SELFID_UUID];	/* 0xf8 */
	u8 unused_108[248];
} __packed;

/* The checksum is over the whole sector, its own place counting as 0. */
static bool crc_holds(const void *super, u32 bytes)
{
	const u32 at = offsetof(struct xfs_super, crc);
	const __le32 none = 0;
	u32 crc = crc_update(CRC_32C, ~0u, super, at);
	__le32 stored;

	memcpy(&stored, super + at, sizeof(stored));
	crc = crc_update(CRC_32C, crc, &none, sizeof(none));
	crc = crc_update(CRC_32C, crc, super + at + sizeof(none), bytes - at - sizeof(none));
	return le32_to_cpu(stored) == ~crc;
}

static const char *xfs_unsafe_feature(const struct xfs_super *s)
{
	if (be32_to_cpu(s->incompat) & ~INCOMPAT_SAFE)
		return "incompatible features that are not known";
	if (be32_to_cpu(s->ro_compat) & ~RO_COMPAT_SAFE)
		return "read-only compatible features that are not known";
	if (CLASSIFIER_PLANTED(unsafe))
		return NULL;
	if (s->rt_blocks || s->rt_extents)
		return "a realtime section";
	if (!s->log_start)
		return "the log is on another device";
	if (s->directory_bits > MAX_BLOCK_BITS - s->block_bits)
		return "directory blocks larger than 64 KiB";
	return NULL;
}

static const char *parse_layout(const struct xfs_super *s, u64 sectors, struct xfs_geo *geo)
{
	u32 sector_bytes = be16_to_cpu(s->sector_bytes);
	u32 to_sectors = s->block_bits - 9;
	u32 ag_blocks = be32_to_cpu(s->ag_blocks);
	u64 log = be64_to_cpu(s->log_start);
	u64 blocks = be64_to_cpu(s->blocks);

	if (!ag_blocks || ag_blocks > U32_MAX >> to_sectors || s->ag_block_bits > 32 ||
	    ag_blocks > 1ULL << s->ag_block_bits)
		return "sb_agblocks is impossible";
	if (!blocks || blocks > sectors >> to_sectors)
		return "sb_dblocks is 0 or more than the device holds";
	if (blocks > (u64)be32_to_cpu(s->ags) * ag_blocks)
		return "sb_dblocks is more than the allocation groups hold";
	geo->sectors = blocks << to_sectors;
	geo->ag_sectors = ag_blocks << to_sectors;
	geo->ag_header_sectors = max(AG_HEADERS * sector_bytes, geo->block_bytes) >> 9;
	if (log) {
		u64 ag = log >> s->ag_block_bits;
		u64 block = log & ((1ULL << s->ag_block_bits) - 1);

		if (ag >= be32_to_cpu(s->ags) || block >= ag_blocks)
			return "sb_logstart is impossible";
		geo->log_start = (ag * ag_blocks + block) << to_sectors;
		geo->log_sectors = (u64)be32_to_cpu(s->log_blocks) << to_sectors;
		if (!geo->log_sectors || geo->log_sectors > geo->sectors ||
		    geo->log_start > geo->sectors - geo->log_sectors)
			return "sb_logblocks is impossible";
	}
	return NULL;
}

const char *xfs_parse_super(const void *super, u32 bytes, u64 sectors, struct xfs_geo *geo)
{
	const struct xfs_super *s = super;
	u32 sector_bytes;

	BUILD_BUG_ON(sizeof(struct xfs_super) != XFS_SUPER_BYTES);
	BUILD_BUG_ON(offsetof(struct xfs_super, log_blocks) != 96);
	BUILD_BUG_ON(offsetof(struct xfs_super, block_bits) != 120);
	BUILD_BUG_ON(offsetof(struct xfs_super, directory_bits) != 192);
	BUILD_BUG_ON(offsetof(struct xfs_super, crc) != 224);
	BUILD_BUG_ON(offsetof(struct xfs_super, meta_uuid) != 248);

	memset(geo, 0, sizeof(*geo));
	if (be32_to_cpu(s->magic) != XFS_MAGIC)
		return "no magic number";
	if (s->block_bits < 9 || s->block_bits > MAX_BLOCK_BITS ||
	    be32_to_cpu(s->block_bytes) != 1u << s->block_bits)
		return "sb_blocksize is impossible";
	geo->block_bytes = 1u << s->block_bits;
	sector_bytes = be16_to_cpu(s->sector_bytes);
	if (s->sector_bits < 9 || s->sector_bits > 15 || sector_bytes != 1u << s->sector_bits ||
	    s->sector_bits > s->block_bits)
		return "sb_sectsize is impossible";
	if ((be16_to_cpu(s->version) & VERSION_MASK) != VERSION_5) {
		geo->unsafe = "not version 5";
		return parse_layout(s, sectors, geo);
	}
	if (s->block_bits < MIN_BLOCK_BITS)
		return "sb_blocksize is impossible";
	if (sector_bytes <= bytes && !crc_holds(super, sector_bytes))
		return "wrong checksum";
	memcpy(geo->uuid, be32_to_cpu(s->incompat) & INCOMPAT_META_UUID ? s->meta_uuid : s->uuid,
	       sizeof(geo->uuid));
	memcpy(geo->log_uuid, s->uuid, sizeof(geo->log_uuid));
	geo->unsafe = xfs_unsafe_feature(s);
	geo->directory_blocks = geo->unsafe ? 1 : 1u << s->directory_bits;
	geo->cleared = be32_to_cpu(s->incompat) & INCOMPAT_CLEARED ||
		       be32_to_cpu(s->ro_compat) & RO_COMPAT_CLEARED;
	geo->in_progress = s->in_progress;
	if (!geo->unsafe && geo->in_progress)
		geo->unsafe = "mkfs has not finished";
	if (sector_bytes > bytes)
		geo->unsafe = "sectors larger than 4096 bytes, or not written as one";
	return parse_layout(s, sectors, geo);
}

static enum selfid_reason by_magic(const struct xfs_geo *geo, const void *head, u32 *blocks)
{
	switch (get_unaligned_be32(head)) {
	case 0x41423342:	/* AB3B: free space by block */
	case 0x41423343:	/* AB3C: by count */
	case 0x49414233:	/* IAB3: inodes */
	case 0x46494233:	/* FIB3: free inodes */
	case 0x524d4233:	/* RMB3: reverse mapping */
	case 0x52334643:	/* R3FC: reference counts */
	case 0x424d4133:	/* BMA3: a file's extents */
		return SELFID_BTREE;
	case 0x58444233:	/* XDB3: the only block */
	case 0x58444433:	/* XDD3: data */
	case 0x58444633:	/* XDF3: free space */
		return SELFID_DIRECTORY;
	case 0x5841524d:	/* XARM: remote value, every block */
		return SELFID_ATTR;
	case 0x58534c4d:	/* XSLM: 1023 bytes, and one header only */
		if (geo->block_bytes == 1u << MIN_BLOCK_BITS)
			*blocks = 2;
		return SELFID_SYMLINK;
	case 0x58465342:	/* XFSB */
	case 0x58414746:	/* XAGF */
	case 0x58414749:	/* XAGI */
	case 0x5841464c:	/* XAFL */
		return SELFID_AG;
	}
	switch (get_unaligned_be16(head)) {
	case 0x494e:		/* IN */
		return SELFID_INODE;
	case 0x4451:		/* DQ */
		return SELFID_DQUOT;
	}
	switch (get_unaligned_be16(head + 8)) {
	case 0x3df1:		/* directory leaf, the only one */
	case 0x3dff:		/* one of several */
	case 0x3ebe:		/* node, of directories and of attributes */
		return SELFID_DIRECTORY;
	case 0x3bee:
		return SELFID_ATTR;
	}
	return SELFID_NAMED;
}

/* A bug: is that data? */
static bool is_planted(const void *head)
{
	u32 magic = get_unaligned_be32(head);

	return (CLASSIFIER_PLANTED(rmapbt) && (magic == 0x524d4233 || magic == 0x52334643)) ||
	       (CLASSIFIER_PLANTED(inodes) && magic >> 16 == 0x494e);
}

enum selfid_reason xfs_identify(const struct xfs_geo *geo, const void *head, u32 *blocks)
{
	/*
	 * Remote values and symbolic links; directories; short btrees, leaves and nodes; long
	 * btrees; quota; inodes.
	 */
	static const u8 offset[] = { 16, 24, 32, 40, 120, 160 };
	unsigned int i;
	u64 first, there;

	memcpy(&first, geo->uuid, sizeof(first));
	for (i = 0; i < ARRAY_SIZE(offset); i++) {
		memcpy(&there, head + offset[i], sizeof(there));
		if (likely(there != first) ||
		    memcmp(head + offset[i], geo->uuid, sizeof(geo->uuid)))
			continue;
		*blocks = 1;
		return is_planted(head) ? SELFID_DATA : by_magic(geo, head, blocks);
	}
	return SELFID_DATA;
}

/*
 * Is it metadata of another xfs, from an image that is being restored over this one? Quota and
 * inodes have only a magic number of 16 bits and a version. The magic numbers of all others are
 * rare in data.
 */
static noinline bool is_foreign(const struct xfs_geo *geo, const void *head, bool *surely)
{
	u32 blocks;

	*surely = false;
	if (is_planted(head))
		return false;
	switch (by_magic(geo, head, &blocks)) {
	case SELFID_NAMED:
		return false;
	case SELFID_INODE:
		return *(const u8 *)(head + 4) <= 3;
	case SELFID_DQUOT:
		return *(const u8 *)(head + 2) <= 1;
	default:
		*surely = get_unaligned_be32(head) >> 24 == 'X';
		return true;
	}
}

static const struct xfs_log_geo no_log;

/* ->geo is new: may data of this file system be squashed? */
static void xfs_live_settle(struct xfs_live *x)
{
	struct xfs_log_geo log = {
		.sectors = x->geo.log_sectors,
		.block_shift = fls64(x->geo.block_bytes >> 9) - 1,
	};

	x->wrong = x->geo.unsafe;
	if (x->pieces_known)
		x->geo.directory_blocks = 1;
	if (x->geo.directory_blocks == 1)
		return;
	if (!x->stored) {
		x->wrong = "directory blocks of several blocks may lie scattered";
		return;
	}
	if (!x->geo.cleared) {
		x->wrong = "large directory blocks, and a kernel before 5.5 may write them";
		xfs_log_init(&x->log, &no_log);
		return;
	}
	memcpy(log.uuid, x->geo.log_uuid, sizeof(log.uuid));
	if (memcmp(&x->log.geo, &log, sizeof(log)))
		xfs_log_init(&x->log, &log);
}

const char *xfs_live_init(struct xfs_live *x, const void *super, u32 bytes, u64 sectors)
{
	x->errors = 0;
	x->sign = SELFID_NO_SIGN;
	x->former = 0;
	memset(&x->open, 0, sizeof(x->open));
	x->asked = 0;
	xfs_log_init(&x->log, &no_log);
	x->wrong = xfs_parse_super(super, bytes, sectors, &x->geo);
	if (x->wrong)
		return x->wrong;
	xfs_live_settle(x);
	return NULL;
}

/* Also while mkfs is at work: it leaves the record of an unmount. */
static bool follows_log(const struct xfs_live *x)
{
	return x->geo.directory_blocks > 1 && x->geo.cleared && x->stored;
}

void xfs_live_mount(struct xfs_live *x)
{
	if (follows_log(x))
		xfs_log_mount(&x->log);
}

size_t xfs_live_memory(const struct xfs_live *x, size_t limit)
{
	return follows_log(x) ? logset_wants(&x->log.set, limit) : 0;
}

void *xfs_live_give(struct xfs_live *x, void *memory, size_t bytes)
{
	return logset_give(&x->log.set, memory, bytes);
}

size_t xfs_live_bytes(const struct xfs_live *x)
{
	return sizeof(*x) + x->log.set.slots * sizeof(*x->log.set.slot);
}

bool xfs_live_want(struct xfs_live *x, u64 *sector, u32 *bytes)
{
	u32 place, sectors;

	if (!follows_log(x) || !xfs_log_want(&x->log, &place, &sectors))
		return false;
	*sector = x->geo.log_start + place;
	*bytes = sectors << 9;
	x->asked = *sector;
	return true;
}

void xfs_live_learn(struct xfs_live *x, u64 sector, const void *content)
{
	/* The read may have been asked for because of an earlier superblock. */
	if (x->asked != sector || !follows_log(x))
		return;
	x->asked = 0;
	xfs_log_learn(&x->log, content);
}

/* The superblock is written. */
static void xfs_live_write_super(struct xfs_live *x, const struct selfid_request *r, u32 pos)
{
	u32 bytes = min_t(u32, sizeof(x->super), (r->sectors - pos) << 9);
	const char *wrong;

	memset(x->super, 0, sizeof(x->super));
	selfid_copy(r, pos, x->super, bytes);
	wrong = xfs_parse_super(x->super, bytes, U64_MAX, &x->fresh);
	if (wrong) {
		x->errors++;
		x->wrong = wrong;
		return;
	}
	if (x->fresh.sectors > x->geo.sectors)
		x->former = x->geo.sectors;
	x->geo = x->fresh;
	xfs_live_settle(x);
}

void xfs_live_resize(struct xfs_live *x, u64 sectors)
{
	if (sectors <= x->geo.log_start + x->geo.log_sectors)
		return;
	if (sectors > x->geo.sectors)
		x->former = x->geo.sectors;
	x->geo.sectors = sectors;
}

/*
 * A copy of the superblock at a group's start is written. After xfs_growfs the copies have the new
 * size at once. The superblock itself has it only when the log's tail moves. (A group that is being
 * added has a copy with the size before: it lies behind that.)
 */
static void xfs_live_write_copy(struct xfs_live *x, const struct selfid_request *r, u32 pos)
{
	const struct xfs_geo *fresh = &x->fresh;
	u32 bytes = min_t(u32, sizeof(x->super), (r->sectors - pos) << 9);

	memset(x->super, 0, sizeof(x->super));
	selfid_copy(r, pos, x->super, bytes);
	if (xfs_parse_super(x->super, bytes, U64_MAX, &x->fresh))
		return;
	if (!memcmp(fresh->uuid, x->geo.uuid, sizeof(fresh->uuid)) &&
	    fresh->ag_sectors == x->geo.ag_sectors && fresh->log_start == x->geo.log_start &&
	    fresh->block_bytes == x->geo.block_bytes && fresh->sectors > r->sector + pos &&
	    !(CLASSIFIER_PLANTED(longer) && fresh->sectors < x->geo.sectors))
		xfs_live_resize(x, fresh->sectors);
}

/* The first fields of struct xfs_super. */
struct xfs_super_head {
	__be32 magic;
	__be32 block_bytes;
	__be64 blocks;
	u8 unused_10[16];
	u8 uuid[SELFID_UUID];
};

static u64 sectors_of(const struct xfs_live *x, const struct xfs_super_head *s)
{
	return be64_to_cpu(s->blocks) * (x->geo.block_bytes >> 9);
}

/*
 * Is it this file system's superblock, with fewer blocks than are known? A record from before the
 * last growth may come behind the copies that told of it.
 */
static bool is_shorter(const struct xfs_live *x, const struct xfs_super_head *s)
{
	return !CLASSIFIER_PLANTED(longer) &&
	       be32_to_cpu(s->block_bytes) == x->geo.block_bytes &&
	       !memcmp(s->uuid, x->geo.log_uuid, sizeof(s->uuid)) &&
	       be64_to_cpu(s->blocks) < x->geo.sectors &&	/* no overflow below */
	       sectors_of(x, s) < x->geo.sectors && sectors_of(x, s) != x->former;
}

/* Is the record with its header at @pos that of an unmount? */
static bool is_unmount_record(const struct selfid_request *r, u32 pos,
			      const struct xfs_log_header *h)
{
	u32 headers = xfs_log_headers(h);
	u8 operation[12];

	if (be32_to_cpu(h->operations) != 1)
		return false;
	/* It has one operation, which is not in this request: it may be. */
	if (headers >= r->sectors - pos)
		return true;
	selfid_copy(r, pos + headers, operation, sizeof(operation));
	return operation[8] == XFS_LOG_CLIENT && operation[9] & XFS_LOG_UNMOUNT;
}

/*
 * Copy content sector number @n of the record with its header at @pos to @to. The header, and
 * further header sectors, have the first word of each sector; the sector itself has the cycle.
 */
static void copy_logged(const struct selfid_request *r, u32 pos, u32 headers, u32 n, void *to)
{
	u32 of_sector = n % XFS_LOG_CYCLES * sizeof(__be32);
	u32 at = n < XFS_LOG_CYCLES ? offsetof(struct xfs_log_header, cycle_data) : sizeof(__be32);
	u8 header[512];

	selfid_copy(r, pos + n / XFS_LOG_CYCLES, header, sizeof(header));
	selfid_copy(r, pos + headers + n, to, 512);
	memcpy(to, header + at + of_sector, sizeof(__be32));
}

/* Does a shorter superblock begin in the first of the two logged sectors in x->super? */
static void look_for_super(struct xfs_live *x)
{
	struct xfs_super_head s;
	u32 at;

	for (at = 0; at < 512; at += sizeof(__be32)) {
		if (likely(get_unaligned_be32(x->super + at) != XFS_MAGIC))
			continue;
		memcpy(&s, x->super + at, sizeof(s));
		if (is_shorter(x, &s))
			xfs_live_resize(x, sectors_of(x, &s));
	}
}

/*
 * Look for the superblock among what the record with its header at @pos has logged, in sectors of
 * the request in front of @end. The record of a shrink is on the disk before anything is done to
 * what was cut off: xfs_growfs_data_private() waits for it. The superblock is logged from its
 * beginning on, at a multiple of 4 bytes.
 */
static noinline void find_logged_super(struct xfs_live *x, const struct selfid_request *r, u32 pos,
				       u32 end, const struct xfs_log_header *h)
{
	u32 sectors = min(be32_to_cpu(h->bytes) >> 9, XFS_LOG_RECORD_SECTORS);
	u32 headers = xfs_log_headers(h), n;

	if (pos + headers >= end)
		return;
	sectors = min(sectors, end - pos - headers);
	memset(x->super, 0, 1024);
	for (n = 0; n <= sectors; n++) {
		/* The sector before, and this one. */
		memcpy(x->super, x->super + 512, 512);
		if (n < sectors)
			copy_logged(r, pos, headers, n, x->super + 512);
		look_for_super(x);
	}
}

/* Follow the log with the sectors of the request, from @pos on, that are in it. */
static noinline void follow_log(struct xfs_live *x, const struct selfid_request *r, u32 pos)
{
	u64 end = x->geo.log_start + x->geo.log_sectors;
	u8 sector[512];
	u64 at;

	for (; pos < r->sectors; pos++) {
		at = r->sector + pos;
		if (at < x->geo.log_start)
			continue;
		if (at >= end)
			break;
		selfid_copy(r, pos, sector, sizeof(sector));
		xfs_log_write(&x->log, at - x->geo.log_start, sector);
	}
}

/*
 * @n sectors of the log are written. A record shows that the driver is at work, except the record
 * of an unmount: that is also left by a freeze, a remount read-only, mkfs and xfs_repair. A record
 * names its own place, so a record in an image of this file system at another place does not count.
 */
static void xfs_live_write_log(struct xfs_live *x, const struct selfid_request *r, u32 pos, u32 n)
{
	struct xfs_log_header h;
	u32 i;

	for (i = pos; i < pos + n; i++) {
		selfid_copy(r, i, &h.magic, sizeof(h.magic));
		if (be32_to_cpu(h.magic) != XFS_LOG_MAGIC)
			continue;
		selfid_copy(r, i, &h, sizeof(h));
		if (memcmp(h.uuid, x->geo.log_uuid, sizeof(h.uuid)) ||
		    be32_to_cpu(h.lsn_block) != r->sector + i - x->geo.log_start)
			continue;
		x->sign = is_unmount_record(r, i, &h) ? SELFID_AT_REST : SELFID_AT_WORK;
		find_logged_super(x, r, i, pos + n, &h);
	}
}

static bool xfs_repeats_word(const void *content, u32 bytes, const void *word)
{
	u32 i;

	for (i = 0; i < bytes; i += sizeof(u64))
		if (memcmp(content + i, word, sizeof(u64)))
			return false;
	return true;
}

/*
 * Is the content, which begins with @head, one repeated word? A new directory block is zeros, and a
 * segment of it without changes is in no log. The store keeps whole blocks of one word exactly, but
 * this may be less than one of its blocks.
 */
static bool xfs_is_constant(const struct selfid_request *r, u32 pos, u32 sectors, const void *head)
{
	u8 sector[512];

	BUILD_BUG_ON(XFS_HEAD_BYTES % sizeof(u64));
	if (likely(!xfs_repeats_word(head, XFS_HEAD_BYTES, head)))
		return false;
	for (; sectors; sectors--) {
		selfid_copy(r, pos++, sector, sizeof(sector));
		if (!xfs_repeats_word(sector, sizeof(sector), head))
			return false;
	}
	return true;
}

/* May the block that begins with @head, and has no uuid, be a segment of a directory block? */
static noinline bool may_be_piece(struct xfs_live *x, const struct selfid_request *r, u32 pos,
				  u32 sectors, const void *head, enum selfid_reason *reason)
{
	u64 at = r->sector + pos;

	if (!xfs_log_complete(&x->log))
		*reason = SELFID_UNREAD;
	else if (xfs_log_has(&x->log, at >> x->log.geo.block_shift) && !CLASSIFIER_PLANTED(unheard))
		*reason = SELFID_LOGGED;
	else if (xfs_is_constant(r, pos, sectors, head))
		*reason = SELFID_PART;
	else if (x->stored(x->stored_ctx, x->start + at, sectors))
		*reason = SELFID_STORED;
	else
		return false;
	return true;
}

enum verdict xfs_live_write(struct xfs_live *x, const struct selfid_request *r, u32 pos, u32 *len,
			    enum selfid_reason *reason)
{
	const struct xfs_geo *geo = &x->geo;
	u32 left = r->sectors - pos, unit = geo->block_bytes >> 9;
	u64 at = r->sector + pos, end;
	u8 head[XFS_HEAD_BYTES];
	u32 in_ag, blocks, n;
	bool surely;

	*len = left;
	if (!at)
		xfs_live_write_super(x, r, pos);
	*reason = SELFID_UNSAFE;
	if (x->wrong) {
		if (unlikely(follows_log(x)))
			follow_log(x, r, pos);
		return VERDICT_KEEP;
	}
	*reason = SELFID_BEYOND;
	if (at >= geo->sectors)
		return VERDICT_KEEP;
	*reason = SELFID_LOG;
	end = geo->log_start + geo->log_sectors;
	if (at >= geo->log_start && at < end) {
		*len = min_t(u64, left, end - at);
		if (unlikely(follows_log(x)))
			follow_log(x, r, pos);
		xfs_live_write_log(x, r, pos, *len);
		return VERDICT_KEEP;
	}
	*reason = SELFID_AG;
	div_u64_rem(at, geo->ag_sectors, &in_ag);
	if (in_ag < geo->ag_header_sectors) {
		if (!in_ag && at)
			xfs_live_write_copy(x, r, pos);
		*len = min(left, geo->ag_header_sectors - in_ag);
		return VERDICT_KEEP;
	}

	n = min_t(u64, left, unit - (at & (unit - 1)));
	*len = n;
	if (at & (unit - 1)) {
		n = selfid_open_take(&x->open, at, n);
		if (n)
			*len = n;
		*reason = n ? SELFID_REST : SELFID_PART;
		return VERDICT_KEEP;
	}
	selfid_copy(r, pos, head, sizeof(head));
	*reason = xfs_identify(geo, head, &blocks);
	if (*reason != SELFID_DATA) {
		*len = min(left, blocks * unit);
		selfid_open_add(&x->open, at + *len, at + blocks * unit);
		return VERDICT_KEEP;
	}
	if (selfid_open_take(&x->open, at, n)) {
		*reason = SELFID_REST;
		return VERDICT_KEEP;
	}
	if (unlikely(is_foreign(geo, head, &surely))) {
		*reason = SELFID_PART;
		/* Who brings it need not be the driver. */
		if (surely)
			x->sign = SELFID_AT_REST;
		return VERDICT_KEEP;
	}
	if (unlikely(geo->directory_blocks > 1) && may_be_piece(x, r, pos, n, head, reason))
		return VERDICT_KEEP;
	return VERDICT_SQUASH;
}
