// SPDX-License-Identifier: GPL-2.0
/*
 * Which blocks of a file system are metadata, and why. This file does ext;
 * selfid-image.c does btrfs and xfs. All of the disk is at hand, so everything
 * can be looked up. The parsers of the layout and of inodes are the kernel
 * target's.
 *
 * A map has the kind of each block. If two things claim a block,
 * the one that is metadata wins. A node of an inode's map is read only once,
 * whatever points to it, so damage cannot make this run forever.
 */
#include <inttypes.h>
#include <stdio.h>

#include "../common/vec.h"
#include "classify.h"
#include "../../classifier/ext/ext-live.h"

#define SECTOR		512u
#define IN_USE		EXT_KINDS	/* data of a file, as opposed to a free block */

struct node {
	u64 block;
	u64 logical;
	u32 level;
};

struct walk {
	const struct view *view;
	struct ext_geo geo;
	struct kinds kind;	/* by block */
	u64 errors;
	struct ext_inode inode;	/* the one being walked */
	u64 end;		/* first file block that is no longer its content: Merkle trees */
	struct node *node;	/* to be read */
	u64 nodes, room;
};

static void image_claim(struct walk *w, u64 block, u64 n, u8 kind)
{
	kinds_claim(&w->kind, block, n, kind, EXT_DATA, IN_USE);
}

static const void *at(const struct walk *w, u64 block)
{
	return view_at(w->view, block << w->geo.block_bits, ext_block_size(&w->geo));
}

static void image_add_run(void *ctx, const struct ext_run *run)
{
	struct walk *w = ctx;
	u64 inside = run->len;

	if (run->level) {
		u8 kind = w->inode.extents ? EXT_EXTENT_NODE : EXT_INDIRECT;

		if (kinds_at(&w->kind, run->start) == kind) {
			w->errors++;
			return;
		}
		/* Blocks of the resize inode are group descriptors, too. */
		image_claim(w, run->start, 1, kind);
		w->node = vec_reserve(w->node, &w->room, w->nodes + 1, sizeof(*w->node));
		w->node[w->nodes++] = (struct node) { run->start, run->logical, run->level };
		return;
	}
	if (w->inode.kind != EXT_DATA) {
		image_claim(w, run->start, run->len, w->inode.kind);
		return;
	}
	if (w->inode.verity) {
		inside = run->logical < w->end ? min(inside, w->end - run->logical) : 0;
		image_claim(w, run->start + inside, run->len - inside, EXT_VERITY);
	}
	image_claim(w, run->start, inside, IN_USE);
}

static void walk_inode(struct walk *w, u32 ino, const void *raw)
{
	struct ext_inode *inode = &w->inode;

	ext_parse_inode(&w->geo, ino, raw, inode);
	if (!inode->used)
		return;
	if (inode->xattr_block) {
		if (inode->xattr_block < w->geo.blocks)
			image_claim(w, inode->xattr_block, 1, EXT_XATTR);
		else
			w->errors++;
	}
	w->end = (inode->size + ext_block_size(&w->geo) - 1) >> w->geo.block_bits;
	w->nodes = 0;
	w->errors += ext_map_inode(&w->geo, inode, image_add_run, w);
	while (w->nodes) {
		struct node node = w->node[--w->nodes];
		const void *block = at(w, node.block);

		if (block)
			w->errors += ext_map_node(&w->geo, inode->extents, node.level, node.logical,
						  block, image_add_run, w);
		else
			w->errors++;
	}
}

static void walk_group(struct walk *w, u32 number, const struct ext_group *group)
{
	const struct ext_geo *geo = &w->geo;
	u32 i;

	image_claim(w, group->block_bitmap, 1, EXT_BLOCK_BITMAP);
	image_claim(w, group->inode_bitmap, 1, EXT_INODE_BITMAP);
	image_claim(w, group->inode_table, geo->itable_blocks, EXT_INODE_TABLE);
	for (i = 0; i < group->inodes; i++) {
		u64 ino = (u64)number * geo->inodes_per_group + i + 1;
		const u8 *block;
		u32 offset;

		if (ino > geo->inodes)
			break;
		block = at(w, ext_inode_block(geo, group, ino, &offset));
		if (!block)
			w->errors++;
		else
			walk_inode(w, ino, block + offset);
	}
}

static void walk_fixed(struct walk *w)
{
	u64 block;

	for (block = 0; block < w->geo.blocks; block++) {
		enum ext_kind kind = ext_fixed_kind(&w->geo, block);

		if (kind != EXT_DATA)
			kinds_set(&w->kind, block, kind);
	}
}

static void walk_volume(struct walk *w)
{
	const struct ext_geo *geo = &w->geo;
	u32 per_block = 1u << geo->desc_bits;
	u32 number;

	walk_fixed(w);
	for (number = 0; number < geo->groups; number++) {
		const void *block = at(w, ext_gdt_block(geo, number >> geo->desc_bits));
		struct ext_group group;

		if (block && ext_parse_group(geo, block, number & (per_block - 1), &group))
			walk_group(w, number, &group);
		else
			w->errors++;
	}
}

static const char *image_name_of(u8 kind)
{
	return kind == IN_USE ? "data" : kind == EXT_DATA ? "free" : ext_kind_name(kind);
}

static bool image_is_metadata(u8 kind)
{
	return kind != IN_USE && kind != EXT_DATA;
}

static bool picture_ext(struct picture *p, const struct view *view, u64 *sectors)
{
	const u8 *super = view_at(view, EXT_SUPER_OFFSET, EXT_SUPER_SIZE);
	struct walk w = { .view = view };

	if (!super || ext_parse_super(super, view->bytes, &w.geo))
		return false;
	kinds_init(&w.kind, w.geo.blocks);
	walk_volume(&w);
	free(w.node);
	*p = (struct picture) {
		.type = "ext", .block_size = ext_block_size(&w.geo), .blocks = w.geo.blocks,
		.errors = w.errors, .bigalloc = w.geo.ro_compat & EXT_RO_COMPAT_BIGALLOC,
		.kind = w.kind, .kinds = EXT_KINDS + 1, .name = image_name_of,
		.is_metadata = image_is_metadata,
	};
	*sectors = w.geo.blocks << (w.geo.block_bits - 9);
	return true;
}

/* A volume may begin where a partition does: at every MiB, and at DOS's sector 63. */
static bool image_find(struct picture *p, struct mapped *disk, u64 *start, u64 *sectors)
{
	u64 sector = *start;

	while ((sector + 4) * SECTOR <= disk->bytes) {
		struct view view = { disk, sector * SECTOR, disk->bytes - sector * SECTOR };

		if (picture_xfs(p, &view, sectors) || picture_ext(p, &view, sectors) ||
		    picture_btrfs(p, &view, sectors)) {
			p->start = sector;
			*start = sector;
			return true;
		}
		sector = sector ? sector == 63 ? 2048 : sector + 2048 : 63;
		if (sector > 2048)
			sector &= ~2047ULL;
	}
	return false;
}

int classify_image(const struct image_options *options)
{
	const char *comma = "";
	unsigned int found = 0;
	u64 sectors, start = 0, errors = 0;
	struct picture picture;
	struct mapped disk;

	if (!mapped_open(&disk, options->path, options->window))
		die("%s: %s", options->path, strerror(errno));
	if (!disk.bytes)
		die("%s: empty", options->path);
	if (options->json)
		printf("{\"volumes\": [");
	while (image_find(&picture, &disk, &start, &sectors)) {
		fputs(options->json ? comma : "", stdout);
		comma = ", ";
		print_picture(&picture, options);
		kinds_free(&picture.kind);
		found++;
		errors += picture.errors;
		start += sectors;
		start = (start + 2047) & ~2047ULL;
	}
	if (options->json)
		printf("]}\n");
	mapped_close(&disk);
	if (!found)
		fprintf(stderr, "david-classify: %s: no ext, btrfs or xfs file system there\n",
			options->path);
	return !found ? STATUS_FAILED : errors ? STATUS_DAMAGED : STATUS_OK;
}
