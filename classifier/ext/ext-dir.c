// SPDX-License-Identifier: GPL-2.0
/* Names in directories: see ext-dir.h. */
#include "ext-dir.h"

#define INCOMPAT_FILETYPE	0x0002
#define FILE_TYPE_DIR		2

#define INODE_MAP		0x28	/* the pointers' place in an inode: here, entries */
#define INODE_MAP_BYTES		60
#define INLINE_DOTDOT		4	/* bytes in front of them: the parent's number */
#define INODE_GOOD_OLD		128
#define XATTR_MAGIC		0xea020000u
#define XATTR_SYSTEM		7
#define XATTR_DATA		"data"

struct entry {
	__le32 ino;
	__le16 bytes;
	u8 name_len;
	u8 type;
};

struct xattr {
	u8 name_len;
	u8 index;
	__le16 offset;
	__le32 in_inode;
	__le32 size;
	__le32 hash;
};

static bool is_name(const char *name, u32 len)
{
	return len && !memchr(name, '/', len) && !memchr(name, '\0', len);
}

/* Call @fn for the entry, if it has a name. False: the entry is impossible. */
static bool ext_dir_report(const struct ext_geo *geo, const struct entry *e, const char *name,
			   ext_name_fn fn, void *ctx)
{
	bool typed = geo->incompat & INCOMPAT_FILETYPE;
	struct ext_name found = {
		.ino = le32_to_cpu(e->ino),
		.name = name,
		.len = e->name_len,
		.may_be_dir = !typed || !e->type || e->type == FILE_TYPE_DIR,
	};

	/* Without types their place is the length's upper half, always 0. */
	if (found.ino > geo->inodes || !is_name(name, found.len) || (!typed && e->type))
		return false;
	if (name[0] == '.' && (found.len == 1 || (found.len == 2 && name[1] == '.')))
		return true;
	fn(ctx, &found);
	return true;
}

static unsigned int read_chain(const struct ext_geo *geo, const void *chain, u32 size,
			       ext_name_fn fn, void *ctx)
{
	unsigned int wrong = 0;
	struct entry e;
	u32 at, bytes;

	BUILD_BUG_ON(sizeof(struct entry) != 8);
	for (at = 0; at < size; at += bytes) {
		if (size - at < sizeof(e))
			return wrong + 1;
		memcpy(&e, chain + at, sizeof(e));
		bytes = le16_to_cpu(e.bytes);
		if (bytes < sizeof(e) || bytes % 4 || bytes > size - at)
			return wrong + 1;
		if (!e.ino)
			continue;
		if (sizeof(e) + e.name_len > bytes ||
		    !ext_dir_report(geo, &e, chain + at + sizeof(e), fn, ctx))
			wrong++;
	}
	return wrong;
}

unsigned int ext_dir_block(const struct ext_geo *geo, const void *block, ext_name_fn fn,
			   void *ctx)
{
	return read_chain(geo, block, ext_block_size(geo), fn, ctx);
}

/* The entries are in the place of the inode's map. The rest is the value of an attribute there. */
unsigned int ext_dir_inline(const struct ext_geo *geo, const void *raw, ext_name_fn fn,
			    void *ctx)
{
	const u32 size = geo->inode_size;
	unsigned int wrong;
	struct xattr x;
	__le16 extra;
	__le32 word;
	u32 first, at;

	BUILD_BUG_ON(sizeof(struct xattr) != 16);
	wrong = read_chain(geo, raw + INODE_MAP + INLINE_DOTDOT, INODE_MAP_BYTES - INLINE_DOTDOT,
			   fn, ctx);
	if (size < INODE_GOOD_OLD + sizeof(extra))
		return wrong + 1;
	memcpy(&extra, raw + INODE_GOOD_OLD, sizeof(extra));
	at = INODE_GOOD_OLD + le16_to_cpu(extra);
	if (at % 4 || at + sizeof(word) > size)
		return wrong + 1;
	memcpy(&word, raw + at, sizeof(word));
	/* No attributes at all: nor is there room for any, as a rule. */
	if (le32_to_cpu(word) != XATTR_MAGIC)
		return wrong;
	first = at + sizeof(word);
	for (at = first; at + sizeof(word) <= size; at += (sizeof(x) + x.name_len + 3) & ~3u) {
		u32 offset, bytes;

		memcpy(&word, raw + at, sizeof(word));
		if (!word)
			return wrong;
		if (at + sizeof(x) > size)
			break;
		memcpy(&x, raw + at, sizeof(x));
		if (x.name_len > size - at - sizeof(x))
			break;
		if (x.index != XATTR_SYSTEM || x.name_len != strlen(XATTR_DATA) ||
		    memcmp(raw + at + sizeof(x), XATTR_DATA, x.name_len))
			continue;
		offset = le16_to_cpu(x.offset);
		bytes = le32_to_cpu(x.size);
		if (x.in_inode || offset > size - first || bytes > size - first - offset)
			break;
		return wrong + read_chain(geo, raw + first + offset, bytes, fn, ctx);
	}
	return wrong + 1;
}
