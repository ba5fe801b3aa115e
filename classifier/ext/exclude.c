// SPDX-License-Identifier: GPL-2.0
/* Can a block be metadata, by its content: see exclude.h. */
#include "exclude.h"

#define EXTENT_MAGIC	0xf30a
#define XATTR_MAGIC	0xea020000u
#define XATTR_MAGIC_OLD	0xea010000u
#define JOURNAL_MAGIC	0xc03b3998u
#define ORPHAN_MAGIC	0x0b10ca04u
#define MMP_MAGIC	0x004d4d50u

static const u32 quota_magic[] = { 0xd9c01f11u, 0xd9c01927u, 0xd9c03f14u };

#define EXTENT_DEPTH	5
#define DIRECTORY_TAIL	0xde00000cu
#define SYMLINK_MIN	60u
#define ENTRY_MIN	8	/* inode number, length, length of the name */
#define QUOTA_BLOCK	1024u	/* of the new format, whatever the file system's */
#define QUOTA_HEADER	16u
#define QUOTA_ENTRIES	21	/* in one of these, at most */
#define QUOTA_BLOCKS	4194304u	/* of a quota file: 4 GiB of it */
#define QUOTA_RECORD	32u	/* of the old format */
#define QUOTA_GRACE	16777216u	/* seconds */
#define QUOTA_DATE	1000000000u

/* @head: the first 64 bytes of the block, @tail: its last 8. */
static bool exclude_has_magic(const void *head, const void *tail)
{
	u32 first = get_unaligned_le32(head), i;
	__be32 big;

	memcpy(&big, head, sizeof(big));
	if ((first & 0xffff) == EXTENT_MAGIC || first == XATTR_MAGIC || first == XATTR_MAGIC_OLD ||
	    first == MMP_MAGIC || be32_to_cpu(big) == JOURNAL_MAGIC ||
	    get_unaligned_le32(tail) == ORPHAN_MAGIC)
		return true;
	for (i = 0; i < ARRAY_SIZE(quota_magic); i++)
		if (first == quota_magic[i])
			return true;
	return get_unaligned_le16(head + EXT_MAGIC_OFFSET) == EXT_MAGIC;
}

static bool is_entry(const void *entry, u32 room)
{
	u32 len = get_unaligned_le16(entry + 4);

	return len >= ENTRY_MIN && len % 4 == 0 && len <= room;
}

/*
 * Entries that follow each other to the very end of the block. A node of the
 * hash tree is one that fills the block, a root two, a checksum a last one of 12.
 */
static bool exclude_is_directory(const void *block, u32 size)
{
	u32 at;

	for (at = 0; at <= size - ENTRY_MIN; at += get_unaligned_le16(block + at + 4))
		if (!is_entry(block + at, size - at))
			return false;
	return at == size;
}

static bool is_indirect(const void *block, u32 size, u64 blocks)
{
	u32 at;

	for (at = 0; at < size; at += 4)
		if (get_unaligned_le32(block + at) >= blocks)
			return false;
	return true;
}

static bool exclude_is_zero(const u8 *p, u32 len)
{
	while (len && !*p) {
		p++;
		len--;
	}
	return !len;
}

/* A target has no NUL, and at least one NUL behind it. Short targets are in the inode. */
static bool is_symlink(const u8 *block, u32 size)
{
	u32 len;

	if (block[size - 1])
		return false;
	len = strnlen((const char *)block, size);
	return len >= SYMLINK_MIN && exclude_is_zero(block + len, size - len);
}

static bool is_doubtful(const u8 *block, u32 size)
{
	u32 len = strnlen((const char *)block, size);

	return len >= SYMLINK_MIN && len < size;
}

static bool is_quota_header(const void *piece)
{
	return get_unaligned_le32(piece) < QUOTA_BLOCKS &&
	       get_unaligned_le32(piece + 4) < QUOTA_BLOCKS && !get_unaligned_le16(piece + 10) &&
	       !get_unaligned_le32(piece + 12);
}

/* A block of a tree, like a small indirect block, or of records behind a header of 16 bytes. */
static bool is_quota_piece(const void *piece)
{
	if (is_indirect(piece, QUOTA_BLOCK, QUOTA_BLOCKS))
		return true;
	if (!is_quota_header(piece))
		return false;
	/* A removed record is zeros. */
	if (!get_unaligned_le16(piece + 8))
		return exclude_is_zero(piece + QUOTA_HEADER, QUOTA_BLOCK - QUOTA_HEADER);
	return get_unaligned_le16(piece + 8) <= QUOTA_ENTRIES;
}

static bool is_quota(const void *block, u32 size)
{
	u32 at;

	for (at = 0; at < size; at += QUOTA_BLOCK)
		if (!is_quota_piece(block + at))
			return false;
	return true;
}

/*
 * The old format: limits and use of blocks, the same of inodes, and two times, which
 * are dates, periods of grace or nothing.
 */
static bool is_old_quota(const void *block, u32 size)
{
	u32 at, i;

	for (at = 0; at < size; at += QUOTA_RECORD) {
		for (i = 24; i < 32; i += 4) {
			u32 time = get_unaligned_le32(block + at + i);

			if (time > QUOTA_GRACE && time < QUOTA_DATE)
				return false;
		}
		/* More than 2^30 inodes: not in any that this format serves. */
		for (i = 12; i < 24; i += 4)
			if (get_unaligned_le32(block + at + i) >> 30)
				return false;
	}
	return true;
}

bool ext_looks_like_quota(const void *block, u32 size)
{
	return is_quota(block, size) || is_old_quota(block, size);
}

enum ext_look ext_look(const struct ext_geo *geo, const void *block)
{
	u32 size = ext_block_size(geo);

	if (exclude_has_magic(block, block + size - EXT_LOOK_TAIL))
		return EXT_LOOK_MAGIC;
	if (exclude_is_directory(block, size))
		return EXT_LOOK_DIRECTORY;
	if (is_indirect(block, size, geo->blocks))
		return EXT_LOOK_INDIRECT;
	if (is_symlink(block, size))
		return EXT_LOOK_SYMLINK;
	if (ext_looks_like_quota(block, size))
		return EXT_LOOK_QUOTA;
	return is_doubtful(block, size) ? EXT_LOOK_DOUBTFUL : EXT_LOOK_NONE;
}

bool ext_may_look(const struct ext_geo *geo, const void *head, const void *tail)
{
	return exclude_has_magic(head, tail) || is_entry(head, ext_block_size(geo)) ||
	       is_indirect(head, EXT_LOOK_HEAD, max_t(u64, geo->blocks, QUOTA_BLOCKS)) ||
	       is_quota_header(head) || is_old_quota(head, EXT_LOOK_HEAD) ||
	       (!((const u8 *)tail)[EXT_LOOK_TAIL - 1] &&
		strnlen(head, SYMLINK_MIN) == SYMLINK_MIN);
}

bool ext_is_formed(const struct ext_geo *geo, const void *block)
{
	u32 size = ext_block_size(geo), first = get_unaligned_le32(block);
	u32 entries = get_unaligned_le16(block + 2), most = get_unaligned_le16(block + 4);

	/* In use, and of one block: the kernel writes no other, and refuses other lengths. */
	if (first == XATTR_MAGIC)
		return get_unaligned_le32(block + 4) && get_unaligned_le32(block + 8) == 1;
	if ((first & 0xffff) == EXTENT_MAGIC)
		return entries <= most && 12 * (most + 1) <= size &&
		       get_unaligned_le16(block + 6) <= EXTENT_DEPTH;
	if (!exclude_is_directory(block, size))
		return false;
	/* An entry of no inode that holds the checksum; or 12 bytes, and a directory called "." */
	return (!get_unaligned_le32(block + size - 12) &&
		get_unaligned_le32(block + size - 8) == DIRECTORY_TAIL) ||
	       (first && get_unaligned_le16(block + 4) == 12 && !memcmp(block + 6, "\1\2.", 3));
}
