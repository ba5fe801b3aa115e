// SPDX-License-Identifier: GPL-2.0
/*
 * Which blocks of a btrfs or xfs are metadata. This feeds the whole image to the
 * target's classifiers, as if it were being written now. So a block that has the
 * file system's identity counts as metadata, even if it is no longer in use.
 * Everything that the classifiers do not decide counts as metadata, too.
 *
 * Some metadata of xfs has no identity. xfs-pieces.c looks it up. If that fails, all is kept.
 */
#include <inttypes.h>

#include "classify.h"
#include "../../classifier/btrfs/btrfs-live.h"
#include "xfs-pieces.h"

static const char *selfid_image_name_of(u8 kind)
{
	return selfid_reason_name(kind);
}

static bool selfid_image_is_metadata(u8 kind)
{
	return kind != SELFID_DATA;
}

static void selfid_image_copy_from(void *ctx, u32 offset, void *to, u32 len)
{
	memcpy(to, (const u8 *)ctx + offset, len);
}

static void picture_begin(struct picture *p, const char *type, u32 block_size, u64 sectors)
{
	*p = (struct picture) {
		.type = type, .block_size = block_size, .blocks = sectors / (block_size >> 9),
		.kinds = SELFID_REASONS, .name = selfid_image_name_of,
		.is_metadata = selfid_image_is_metadata,
	};
	kinds_init(&p->kind, p->blocks);
}

/* One of the two classifiers' verdicts. */
typedef enum verdict (*judge_fn)(void *live, const struct selfid_request *r, u32 pos, u32 *len,
				 enum selfid_reason *reason);

/* Feed the volume, all of which is there, to @judge, @unit bytes at a time. */
static void show(struct picture *p, const struct view *view, u32 unit, judge_fn judge, void *live)
{
	u64 at, end = p->blocks * p->block_size;

	for (at = 0; at < end; at += unit) {
		u32 bytes = min_t(u64, unit, end - at), pos, len, i;
		struct selfid_request r = {
			.sector = at >> 9, .sectors = bytes >> 9,
			.copy = selfid_image_copy_from, .ctx = (void *)view_at(view, at, bytes),
		};

		for (pos = 0; pos < r.sectors; pos += len) {
			enum selfid_reason reason;

			judge(live, &r, pos, &len, &reason);
			for (i = pos; i < pos + len; i += p->block_size >> 9)
				kinds_set(&p->kind, ((r.sector + i) << 9) / p->block_size, reason);
		}
	}
}

static enum verdict judge_xfs(void *live, const struct selfid_request *r, u32 pos, u32 *len,
			      enum selfid_reason *reason)
{
	return xfs_live_write(live, r, pos, len, reason);
}

bool picture_xfs(struct picture *p, const struct view *view, u64 *sectors)
{
	static struct xfs_live x;
	const u8 *super = view_at(view, 0, sizeof(x.super));
	struct xfs_geo geo;

	x.pieces_known = true;
	if (!super || xfs_live_init(&x, super, sizeof(x.super), view->bytes >> 9))
		return false;
	/* Pieces of directory blocks are looked up elsewhere: parse it as one without. */
	xfs_parse_super(super, sizeof(x.super), view->bytes >> 9, &geo);
	*sectors = x.geo.sectors;
	picture_begin(p, "xfs", x.geo.block_bytes, *sectors);
	show(p, view, x.geo.block_bytes, judge_xfs, &x);
	p->errors = x.errors;
	if (x.wrong)
		return true;
	p->errors += xfs_find_pieces(&geo, view, &p->kind);
	if (p->errors && geo.directory_blocks > 1)
		kinds_claim(&p->kind, 0, p->blocks, SELFID_UNSAFE, SELFID_DATA, SELFID_DATA);
	return true;
}

static enum verdict judge_btrfs(void *live, const struct selfid_request *r, u32 pos, u32 *len,
				enum selfid_reason *reason)
{
	return btrfs_live_write(live, r, pos, len, reason);
}

/* Read the chunk tree, as the target's worker does. */
static void read_chunks(struct btrfs_live *b, const struct view *view)
{
	size_t wanted;
	u64 sector;
	u32 n;

	do {
		while ((wanted = btrfs_live_memory(b)))
			free(btrfs_live_give(b, calloc(1, wanted), wanted));
		if (!btrfs_live_want(b, &sector, &n))
			break;
		btrfs_live_learn(b, view_at(view, sector << 9, n));
	} while (true);
}

/* Free-space caches of version 1, whenever they were written. */
static void find_caches(struct picture *p, const struct view *view, u64 generation)
{
	u64 block;
	u32 at, n;

	for (block = 0; block < p->blocks; block++) {
		const u8 *page = view_at(view, block * p->block_size, p->block_size);

		for (at = 64; at <= 64 * 40; at += 64) {
			__le64 word;

			memcpy(&word, page + at, sizeof(word));
			if (!word || le64_to_cpu(word) > generation)
				continue;
			n = btrfs_cache_sectors(page, le64_to_cpu(word)) / 8;
			if (block + n <= p->blocks)
				kinds_claim(&p->kind, block, n, SELFID_CACHE, SELFID_DATA,
					    SELFID_DATA);
		}
	}
}

bool picture_btrfs(struct picture *p, const struct view *view, u64 *sectors)
{
	const u8 *super = view_at(view, BTRFS_SUPER_SECTOR << 9, BTRFS_SUPER_BYTES);
	static struct btrfs_live b;

	if (!super || btrfs_live_init(&b, super, view->bytes >> 9))
		return false;
	*sectors = b.geo.sectors;
	picture_begin(p, "btrfs", b.geo.sector_bytes, *sectors);
	read_chunks(&b, view);
	/* Nobody writes to the image. */
	b.committing = false;
	show(p, view, b.geo.node_bytes, judge_btrfs, &b);
	if (b.geo.space_cache && b.geo.sector_bytes == 4096)
		find_caches(p, view, b.geo.generation);
	p->errors = b.errors;
	return true;
}
