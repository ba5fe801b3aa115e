// SPDX-License-Identifier: GPL-2.0
/*
 * Metadata of an xfs image that has no identity: see xfs-pieces.h. Structures are those of the
 * kernel's xfs_format.h and xfs_log_format.h. The log has the byte order of the machine that wrote
 * it. Only little-endian logs are read.
 */
#include <sys/stat.h>

#include "../common/vec.h"
#include "xfs-log-image.h"
#include "xfs-pieces.h"

#define INODE_MAGIC	0x494e
#define INODE_FORK	176		/* bytes of an inode in front of its data fork */
#define FORMAT_EXTENTS	2
#define FLAG_NREXT64	BIT(4)
#define LEAF_MAGIC	0x424d4133	/* BMA3 */
#define LEAF_RECORDS	72
#define EXTENT_BYTES	16

#define ITEM_INODE	0x123b
#define ITEM_BUFFER	0x123c
#define ITEM_CREATE	0x123f		/* inodes */
#define FIELD_EXTENTS	0x4		/* the data fork, as extents */
#define BUFFER_CANCEL	0x2
#define BUFFER_BTREE	4		/* type */
#define BUFFER_TYPE(flags)	((flags) >> 11)
#define BUFFER_FORMAT	24		/* bytes in front of its map */
#define CHUNK		128		/* of a buffer, a bit in the map */

#define CHANGED_HASH	1024

/* A block of a btree as the log changes it. */
struct changed {
	struct changed *next;
	u64 block;
	u8 content[];
};

struct walk {
	const struct xfs_geo *geo;
	const struct view *view;
	struct kinds *kind;
	u64 blocks;
	u32 block_bits;
	u32 inode_bytes;
	u32 ag_blocks;
	u32 ag_bits;			/* of a block's number in a group */
	u32 inode_bits;			/* of an inode's in a block */
	u64 left;			/* blocks that may still be named, for an end */
	u64 errors;

	/* Of the log. */
	u64 *directory;			/* numbers of inodes, sorted */
	u64 directories, room;
	struct changed *changed[CHANGED_HASH];
};

static const u8 *block_at(const struct walk *w, u64 block)
{
	return view_at(w->view, block << w->block_bits, w->geo->block_bytes);
}

static void pieces_claim(struct walk *w, u64 block, u64 n, u8 kind)
{
	if (block >= w->blocks || n > w->blocks - block || n > w->left) {
		w->errors++;
		return;
	}
	w->left -= n;
	kinds_claim(w->kind, block, n, kind, SELFID_DATA, SELFID_DATA);
}

static void claim_in_group(struct walk *w, u64 ag, u64 in_ag, u64 n, u8 kind)
{
	if (!n || ag > w->blocks / w->ag_blocks || in_ag >= w->ag_blocks ||
	    n > w->ag_blocks - in_ag)
		w->errors++;
	else
		pieces_claim(w, ag * w->ag_blocks + in_ag, n, kind);
}

/* A directory's. */
static void claim_extents(struct walk *w, const u8 *extent, u64 n)
{
	for (; n--; extent += EXTENT_BYTES) {
		u64 high = get_unaligned_be64(extent), low = get_unaligned_be64(extent + 8);
		u64 block = (high & 0x1ff) << 43 | low >> 21;

		claim_in_group(w, block >> w->ag_bits, block & (BIT(w->ag_bits) - 1),
			       low & (BIT(21) - 1), SELFID_DIRECTORY);
	}
}

static bool is_inode(const struct walk *w, const u8 *inode)
{
	return get_unaligned_be16(inode) == INODE_MAGIC && inode[4] == 3 &&
	       !memcmp(inode + 160, w->geo->uuid, SELFID_UUID);
}

static void pieces_look_at_inode(struct walk *w, const u8 *inode)
{
	u32 room = inode[82] ? inode[82] * 8 : w->inode_bytes - INODE_FORK;
	u64 extents = get_unaligned_be64(inode + 120) & FLAG_NREXT64 ?
		      get_unaligned_be64(inode + 24) : get_unaligned_be32(inode + 76);

	if (!is_inode(w, inode) || !S_ISDIR(get_unaligned_be16(inode + 2)) ||
	    inode[5] != FORMAT_EXTENTS)
		return;
	if (room > w->inode_bytes - INODE_FORK || extents > room / EXTENT_BYTES) {
		w->errors++;
		return;
	}
	claim_extents(w, inode + INODE_FORK, extents);
}

/* The inode where its number says that it is, or NULL. */
static const u8 *pieces_find_inode(const struct walk *w, u64 number)
{
	u64 ag = number >> (w->ag_bits + w->inode_bits);
	u64 block = number >> w->inode_bits & (BIT(w->ag_bits) - 1);
	const u8 *inode;

	if (ag > w->blocks / w->ag_blocks || block >= w->ag_blocks ||
	    ag * w->ag_blocks + block >= w->blocks)
		return NULL;
	inode = block_at(w, ag * w->ag_blocks + block) +
		(number & (BIT(w->inode_bits) - 1)) * w->inode_bytes;
	return is_inode(w, inode) && get_unaligned_be64(inode + 152) == number ? inode : NULL;
}

static int pieces_compare(const void *one, const void *two)
{
	u64 a = *(const u64 *)one, b = *(const u64 *)two;

	return a < b ? -1 : a > b;
}

static bool pieces_is_directory(const struct walk *w, u64 number)
{
	const u8 *inode = pieces_find_inode(w, number);

	if (inode && S_ISDIR(get_unaligned_be16(inode + 2)))
		return true;
	return w->directories &&
	       bsearch(&number, w->directory, w->directories, sizeof(number), pieces_compare);
}

static void look_at_leaf(struct walk *w, const u8 *leaf)
{
	u32 records = get_unaligned_be16(leaf + 6);

	if (get_unaligned_be32(leaf) != LEAF_MAGIC || get_unaligned_be16(leaf + 4) ||
	    memcmp(leaf + 40, w->geo->uuid, SELFID_UUID) ||
	    !pieces_is_directory(w, get_unaligned_be64(leaf + 56)))
		return;
	if (records > (w->geo->block_bytes - LEAF_RECORDS) / EXTENT_BYTES) {
		w->errors++;
		return;
	}
	claim_extents(w, leaf + LEAF_RECORDS, records);
}

static void look_at_blocks(struct walk *w)
{
	u64 block;
	u32 i;

	for (block = 0; block < w->blocks; block++) {
		const u8 *content = block_at(w, block);

		if (kinds_at(w->kind, block) == SELFID_BTREE)
			look_at_leaf(w, content);
		else if (kinds_at(w->kind, block) == SELFID_INODE)
			for (i = 0; i < w->geo->block_bytes; i += w->inode_bytes)
				pieces_look_at_inode(w, content + i);
	}
}

static void add_directory(struct walk *w, u64 number)
{
	w->directory = vec_reserve(w->directory, &w->room, w->directories + 1,
				   sizeof(*w->directory));
	w->directory[w->directories++] = number;
}

/* Regions: the format, the inode, the data fork if it has changed, others. */
static void take_inode(struct walk *w, const struct xfs_log_item *item)
{
	const struct xfs_log_region *format = &item->region[0], *core = &item->region[1];
	u32 at = format->bytes == 52 ? 12 : 16;	/* packed by 32-bit kernels */

	if (item->regions < 2 || format->bytes < 52 || core->bytes < INODE_FORK) {
		w->errors++;
		return;
	}
	if (w->geo->directory_blocks == 1 || !S_ISDIR(get_unaligned_le16(core->p + 2)))
		return;
	add_directory(w, get_unaligned_le64(format->p + at));
	if (!(get_unaligned_le32(format->p + 4) & FIELD_EXTENTS))
		return;
	if (item->regions < 3)
		w->errors++;
	else
		claim_extents(w, item->region[2].p, item->region[2].bytes / EXTENT_BYTES);
}

/* Where a buffer is. *blocks is 0 if recovery would not write it. */
static u64 pieces_place_of(struct walk *w, const struct xfs_log_item *item, u64 *blocks)
{
	const struct xfs_log_region *format = &item->region[0];
	u32 unit = w->geo->block_bytes >> 9, sectors;
	u64 at;

	*blocks = 0;
	if (format->bytes < BUFFER_FORMAT) {
		w->errors++;
		return 0;
	}
	if (get_unaligned_le16(format->p + 4) & BUFFER_CANCEL)
		return 0;
	sectors = get_unaligned_le16(format->p + 6);
	at = get_unaligned_le64(format->p + 8);
	if (at < w->geo->sectors)
		*blocks = DIV_ROUND_UP(at % unit + sectors, unit);
	else
		w->errors++;
	return at / unit;
}

/* Take all items that say where metadata is. */
static void take_places(void *ctx, const struct xfs_log_item *item)
{
	const struct xfs_log_region *format = &item->region[0];
	struct walk *w = ctx;
	u64 block, blocks;

	switch (item->type) {
	case ITEM_INODE:
		take_inode(w, item);
		break;
	case ITEM_BUFFER:
		block = pieces_place_of(w, item, &blocks);
		pieces_claim(w, block, blocks, SELFID_LOGGED);
		break;
	case ITEM_CREATE:
		if (format->bytes < 28)
			w->errors++;
		else
			claim_in_group(w, get_unaligned_be32(format->p + 4),
				       get_unaligned_be32(format->p + 8),
				       get_unaligned_be32(format->p + 20), SELFID_LOGGED);
		break;
	}
}

/* The block with all changes so far. */
static u8 *pieces_change(struct walk *w, u64 block)
{
	struct changed **head = &w->changed[block % CHANGED_HASH], *c;

	for (c = *head; c; c = c->next)
		if (c->block == block)
			return c->content;
	c = malloc(sizeof(*c) + w->geo->block_bytes);
	if (!c)
		abort();
	c->block = block;
	c->next = *head;
	*head = c;
	memcpy(c->content, block_at(w, block), w->geo->block_bytes);
	return c->content;
}

/* As xlog_recover_do_reg_buffer(). */
static bool apply(u8 *content, u32 chunks, const struct xfs_log_item *item)
{
	const struct xfs_log_region *format = &item->region[0];
	u32 words = format->bytes >= BUFFER_FORMAT ? get_unaligned_le32(format->p + 16) : 0;
	u32 bits = min(chunks, words < 64 ? words * 32 : 2048), bit = 0, region = 1, n;
	const u8 *map = format->p + 20;

	if (format->bytes < 20 + words * 4ULL)
		return false;
	for (; region < item->regions; region++) {
		while (bit < bits && !(map[bit / 8] >> bit % 8 & 1))
			bit++;
		for (n = 0; bit + n < bits && map[(bit + n) / 8] >> (bit + n) % 8 & 1;)
			n++;
		n = min(n, item->region[region].bytes / CHUNK);
		if (!n)
			return false;
		memcpy(content + bit * CHUNK, item->region[region].p, n * CHUNK);
		bit += n;
	}
	return true;
}

/* Apply the item's changes to blocks of btrees, and take the places in them. */
static void take_leaves(void *ctx, const struct xfs_log_item *item)
{
	struct walk *w = ctx;
	u64 block, blocks;
	u8 *content;

	if (item->type != ITEM_BUFFER)
		return;
	block = pieces_place_of(w, item, &blocks);
	if (blocks != 1 || block >= w->blocks ||
	    BUFFER_TYPE(get_unaligned_le16(item->region[0].p + 4)) != BUFFER_BTREE ||
	    get_unaligned_le16(item->region[0].p + 6) << 9 != w->geo->block_bytes)
		return;
	content = pieces_change(w, block);
	if (!apply(content, w->geo->block_bytes / CHUNK, item))
		w->errors++;
	look_at_leaf(w, content);
}

/* Read and check fields that xfs_parse_super() does not use. */
static bool read_super(struct walk *w)
{
	const u8 *super = view_at(w->view, 0, XFS_SUPER_BYTES);

	w->inode_bytes = get_unaligned_be16(super + 104);
	w->ag_blocks = w->geo->ag_sectors >> (w->block_bits - 9);
	w->inode_bits = super[123];
	w->ag_bits = super[124];
	return w->inode_bytes >= 256 && w->inode_bits < 16 && w->ag_bits <= 32 &&
	       w->inode_bytes << w->inode_bits == w->geo->block_bytes;
}

u64 xfs_find_pieces(const struct xfs_geo *geo, const struct view *view,
		    struct kinds *kind)
{
	struct walk w = {
		.geo = geo, .view = view, .kind = kind,
		.block_bits = fls64(geo->block_bytes) - 1,
	};
	u64 log_at = geo->log_start << 9, log_bytes = (u64)geo->log_sectors << 9;
	struct xfs_log_image *image;
	const u8 *log;
	unsigned int i;

	w.blocks = geo->sectors >> (w.block_bits - 9);
	w.left = 64 * w.blocks + (1 << 26);
	if (!read_super(&w))
		return 1;
	log = view_map(view, log_at, log_bytes);
	image = xfs_log_open(log, geo->log_sectors, geo->log_uuid, &w.errors);
	w.errors += xfs_log_each(image, take_places, &w);
	/* Directory blocks of one block have an identity. */
	if (geo->directory_blocks > 1) {
		if (w.directories)
			qsort(w.directory, w.directories, sizeof(*w.directory), pieces_compare);
		/* Parts of the log that make no sense have been counted. */
		xfs_log_each(image, take_leaves, &w);
		look_at_blocks(&w);
	}
	xfs_log_close(image);
	view_unmap(view, log_at, log_bytes, log);

	for (i = 0; i < CHANGED_HASH; i++) {
		struct changed *c = w.changed[i], *next;

		for (; c; c = next) {
			next = c->next;
			free(c);
		}
	}
	free(w.directory);
	return w.errors;
}
