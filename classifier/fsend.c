// SPDX-License-Identifier: GPL-2.0
/* Where a file system ends: see fsend.h. */
#include "fsend.h"

#define EXT_MAGIC	0xef53u
#define EXT_64BIT	0x80u		/* s_feature_incompat */
#define XFS_MAGIC	0x58465342u
#define F2FS_MAGIC	0xf2f52010u

/* @blocks of 2^@shift bytes, in sectors. 0: not possible. */
static u64 fsend_sectors(u64 blocks, u32 shift)
{
	if (shift < 9 || shift > 16 || blocks >> (64 - 16))
		return 0;
	return blocks << (shift - 9);
}

static u64 ext_end(const void *super)
{
	u64 blocks = get_unaligned_le32(super + 0x4);
	u32 shift = get_unaligned_le32(super + 0x18);

	if (get_unaligned_le16(super + 0x38) != EXT_MAGIC || shift > 6)
		return 0;
	if (get_unaligned_le32(super + 0x60) & EXT_64BIT)
		blocks |= (u64)get_unaligned_le32(super + 0x150) << 32;
	return fsend_sectors(blocks, 10 + shift);
}

static u64 xfs_end(const void *super)
{
	const u8 *blocklog = super + 120;

	if (get_unaligned_be32(super) != XFS_MAGIC)
		return 0;
	return fsend_sectors(get_unaligned_be64(super + 8), *blocklog);
}

/* Of this device: dev_item.total_bytes. */
static u64 btrfs_end(const void *super)
{
	return memcmp(super + 0x40, "_BHRfS_M", 8) ? 0 : get_unaligned_le64(super + 0xd1) >> 9;
}

static u64 f2fs_end(const void *super)
{
	if (get_unaligned_le32(super) != F2FS_MAGIC)
		return 0;
	return fsend_sectors(get_unaligned_le64(super + 36), get_unaligned_le32(super + 16));
}

u32 fs_super_sector(enum fs_kind kind)
{
	static const u8 sector[FSEND_KINDS] = {
		[FSEND_EXT] = 2, [FSEND_XFS] = 0, [FSEND_BTRFS] = 128, [FSEND_F2FS] = 2,
	};

	return sector[kind];
}

u64 fs_end(enum fs_kind kind, const void *super)
{
	switch (kind) {
	case FSEND_EXT:
		return ext_end(super);
	case FSEND_XFS:
		return xfs_end(super);
	case FSEND_BTRFS:
		return btrfs_end(super);
	case FSEND_F2FS:
		return f2fs_end(super);
	default:
		return 0;
	}
}
