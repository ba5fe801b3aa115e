// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "shingle.h"

struct shingle *shingle_create(const struct profile *profile, gfp_t gfp)
{
	u32 bands = div_u64(profile->sectors + profile->band - 1, profile->band), i;
	u32 extents = profile->media_cache_map;
	struct shingle *shingle;
	size_t bytes;

	bytes = sizeof(*shingle) + (size_t)extents * sizeof(shingle->extents[0]) +
		(size_t)bands * 3 * sizeof(u32);
	shingle = kvzalloc(bytes, gfp);
	if (!shingle)
		return NULL;
	shingle->profile = profile;
	shingle->bytes = bytes;
	shingle->nr_bands = bands;
	shingle->root = (u32 *)&shingle->extents[extents];
	shingle->next = shingle->root + bands;
	shingle->since = shingle->next + bands;
	for (i = extents; i--;) {
		shingle->extents[i].left = shingle->unused;
		shingle->unused = i + 1;
	}
	shingle->nr_unused = extents;
	return shingle;
}

void shingle_destroy(struct shingle *shingle)
{
	kvfree(shingle);
}

static inline struct shingle_extent *extent_of(struct shingle *shingle, u32 number)
{
	return &shingle->extents[number - 1];
}

static u32 take_extent(struct shingle *shingle, u32 start, u32 sectors, u32 at)
{
	u32 number = shingle->unused;
	struct shingle_extent *extent = extent_of(shingle, number);

	shingle->unused = extent->left;
	shingle->nr_unused--;
	*extent = (struct shingle_extent) { .start = start, .sectors = sectors, .at = at };
	return number;
}

static void give_extent(struct shingle *shingle, u32 number)
{
	extent_of(shingle, number)->left = shingle->unused;
	shingle->unused = number;
	shingle->nr_unused++;
}

static u32 extent_priority(u32 number)
{
	number *= 0x9e3779b1;
	return number ^ number >> 15;
}

/* Divide the tree @root: what begins before @start, and the rest. */
static void tree_split(struct shingle *shingle, u32 root, u32 start, u32 *before, u32 *rest)
{
	struct shingle_extent *extent;

	while (root) {
		extent = extent_of(shingle, root);
		if (extent->start < start) {
			*before = root;
			before = &extent->right;
			root = *before;
		} else {
			*rest = root;
			rest = &extent->left;
			root = *rest;
		}
	}
	*before = 0;
	*rest = 0;
}

/* One tree of two; all of @before begins before all of @rest. */
static u32 tree_join(struct shingle *shingle, u32 before, u32 rest)
{
	u32 root, *link = &root;

	while (before && rest) {
		if (extent_priority(before) > extent_priority(rest)) {
			*link = before;
			link = &extent_of(shingle, before)->right;
			before = *link;
		} else {
			*link = rest;
			link = &extent_of(shingle, rest)->left;
			rest = *link;
		}
	}
	*link = before ?: rest;
	return root;
}

/* Of the tree @root; NULL: it is empty. */
static struct shingle_extent *last_of(struct shingle *shingle, u32 root)
{
	struct shingle_extent *extent = NULL;

	for (; root; root = extent->right)
		extent = extent_of(shingle, root);
	return extent;
}

static void give_tree(struct shingle *shingle, u32 root)
{
	struct shingle_extent *extent, *left;
	u32 next;

	while (root) {
		extent = extent_of(shingle, root);
		next = extent->left;
		if (next) {
			left = extent_of(shingle, next);
			extent->left = left->right;
			left->right = root;
		} else {
			next = extent->right;
			give_extent(shingle, root);
		}
		root = next;
	}
}

const struct shingle_extent *shingle_extent(const struct shingle *shingle, u32 band, u32 start)
{
	const struct shingle_extent *extent, *found = NULL;
	u32 number;

	for (number = shingle->root[band]; number;) {
		extent = &shingle->extents[number - 1];
		if (extent->start < start) {
			number = extent->right;
		} else {
			found = extent;
			number = extent->left;
		}
	}
	return found;
}

u64 shingle_find(const struct shingle *shingle, u64 sector, u32 *run)
{
	u32 band = shingle_band(shingle, sector), number, end;
	u32 start = sector - (u64)band * shingle->profile->band;
	const struct shingle_extent *extent;

	end = shingle_band_sectors(shingle, band);
	for (number = shingle->root[band]; number;) {
		extent = &shingle->extents[number - 1];
		if (start >= extent->start && start < extent->start + extent->sectors) {
			*run = extent->start + extent->sectors - start;
			return extent->at + start - extent->start;
		}
		if (start < extent->start)
			end = extent->start;
		number = start < extent->start ? extent->left : extent->right;
	}
	*run = end - start;
	return sector;
}

u64 shingle_used(const struct shingle *shingle)
{
	u32 blocks = shingle->head / SHINGLE_BLOCK, tail;

	tail = shingle->oldest ? shingle->since[shingle->oldest - 1] : blocks;
	return (u64)(u32)(blocks - tail) * SHINGLE_BLOCK;
}

u32 shingle_room(const struct shingle *shingle)
{
	const struct profile *profile = shingle->profile;
	u32 part;

	/* What is appended may cut an extent in two. */
	if (shingle->nr_unused < 2)
		return 0;
	div_u64_rem(shingle->head, profile->media_cache, &part);
	return min_t(u64, profile->media_cache - shingle_used(shingle),
		     profile->media_cache - part);
}

static void band_came(struct shingle *shingle, u32 band)
{
	if (shingle->newest == band + 1 || shingle->next[band])
		return;		/* it is among them, perhaps with nothing left */
	shingle->since[band] = shingle->head / SHINGLE_BLOCK;
	if (shingle->newest)
		shingle->next[shingle->newest - 1] = band + 1;
	else
		shingle->oldest = band + 1;
	shingle->newest = band + 1;
}

u64 shingle_append(struct shingle *shingle, u64 sector, u32 sectors)
{
	u32 band = shingle_band(shingle, sector), part, before, inside, behind, over, number;
	u32 start = sector - (u64)band * shingle->profile->band, end = start + sectors;
	struct shingle_extent *last;

	band_came(shingle, band);
	div_u64_rem(shingle->head, shingle->profile->media_cache, &part);
	tree_split(shingle, shingle->root[band], start, &before, &inside);
	tree_split(shingle, inside, end, &inside, &behind);
	/* The last one within may go on behind, and so may the last one before. */
	last = last_of(shingle, inside) ?: last_of(shingle, before);
	if (last && last->start + last->sectors > end) {
		over = end - last->start;
		number = take_extent(shingle, end, last->sectors - over, last->at + over);
		behind = tree_join(shingle, number, behind);
	}
	give_tree(shingle, inside);
	last = last_of(shingle, before);
	if (last && last->start + last->sectors > start)
		last->sectors = start - last->start;
	if (last && last->start + last->sectors == start && last->at + last->sectors == part)
		last->sectors += sectors;
	else
		before = tree_join(shingle, before, take_extent(shingle, start, sectors, part));
	shingle->root[band] = tree_join(shingle, before, behind);
	shingle->head += DIV_ROUND_UP(sectors, SHINGLE_BLOCK) * SHINGLE_BLOCK;
	return part;
}

u32 shingle_read_all(struct shingle *shingle, u32 band)
{
	u32 unused = shingle->nr_unused;

	give_tree(shingle, shingle->root[band]);
	shingle->root[band] = 0;
	return shingle->nr_unused - unused;
}

void shingle_forget(struct shingle *shingle, u32 band)
{
	shingle_read_all(shingle, band);
	shingle_oldest(shingle);
}

u32 shingle_oldest(struct shingle *shingle)
{
	u32 band;

	while (shingle->oldest && !shingle->root[shingle->oldest - 1]) {
		band = shingle->oldest - 1;
		shingle->oldest = shingle->next[band];
		shingle->next[band] = 0;
		if (!shingle->oldest)
			shingle->newest = 0;
	}
	return shingle->oldest;
}
