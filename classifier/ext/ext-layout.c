// SPDX-License-Identifier: GPL-2.0
/* Where bitmaps and inode tables lie: see ext-layout.h. */
#include "ext-layout.h"

void ext_layout_forget(struct ext_layout *l)
{
	l->known = false;
	l->failed = false;
	l->overflow = false;
	l->next = 0;
	l->runs = 0;
	l->stale = true;
}

/* Shell's sort, by start: nearly sorted already, as a rule. */
static void ext_layout_sort(struct ext_layout_run *a, u32 n)
{
	u32 gap = 1, i, j;

	while (gap < n / 3)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3) {
		for (i = gap; i < n; i++) {
			struct ext_layout_run moved = a[i];

			for (j = i; j >= gap && a[j - gap].start > moved.start; j -= gap)
				a[j] = a[j - gap];
			a[j] = moved;
		}
	}
}

/* The last run that begins at or before @block, or NULL. */
static const struct ext_layout_run *ext_layout_last_before(const struct ext_layout *l, u64 block)
{
	u32 low = 0, high = l->runs;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (l->run[middle].start <= block)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &l->run[low - 1] : NULL;
}

static const struct ext_layout_run *ext_layout_run_of(const struct ext_layout *l, u64 block)
{
	const struct ext_layout_run *run = ext_layout_last_before(l, block);

	return run && block - run->start < run->len ? run : NULL;
}

bool ext_layout_has_bitmap(const struct ext_layout *l, u64 block, u64 n)
{
	const struct ext_layout_run *run = n ? ext_layout_last_before(l, block + n - 1) : NULL;

	/* Runs are disjoint, and those of bitmaps and inode tables alternate. */
	for (; run && run->start + run->len > block; run--) {
		if (run->kind != EXT_LAYOUT_INODES)
			return true;
		if (run == l->run)
			break;
	}
	return false;
}

enum ext_layout_kind ext_layout_find(const struct ext_layout *l, const struct ext_geo *geo,
				     u64 block, u32 *first)
{
	const struct ext_layout_run *run = ext_layout_run_of(l, block);
	u32 group, at;

	if (!run)
		return EXT_LAYOUT_OTHER;
	if (run->kind == EXT_LAYOUT_INODES) {
		group = run->group + div_u64_rem(block - run->start, geo->itable_blocks, &at);
		*first = group * geo->inodes_per_group +
			 at * (ext_block_size(geo) / geo->inode_size) + 1;
	} else {
		*first = run->group + (block - run->start);
	}
	return run->kind;
}

u64 ext_layout_inode_block(const struct ext_layout *l, const struct ext_geo *geo, u32 ino,
			   u32 *offset)
{
	u32 in_block = ext_block_size(geo) / geo->inode_size, group, index, i;

	if (!l->known || !ino || ino > geo->inodes)
		return 0;
	group = div_u64_rem(ino - 1, geo->inodes_per_group, &index);
	*offset = index % in_block * geo->inode_size;
	for (i = 0; i < l->runs; i++) {
		const struct ext_layout_run *run = &l->run[i];
		u64 at = (u64)(group - run->group) * geo->itable_blocks + index / in_block;

		if (run->kind == EXT_LAYOUT_INODES && group >= run->group && at < run->len)
			return run->start + at;
	}
	return 0;
}

/* Add to the last run of the kind, if that is among the last three. */
static void ext_layout_add_run(struct ext_layout *l, enum ext_layout_kind kind, u64 start,
			       u32 len, u32 group)
{
	struct ext_layout_run *run;
	u32 i;

	for (i = 1; i <= 3 && i <= l->runs; i++) {
		run = &l->run[l->runs - i];
		if (run->kind == kind && run->start + run->len == start &&
		    run->len < U32_MAX - len &&
		    run->group + run->len / len == group) {
			run->len += len;
			return;
		}
	}
	if (l->runs == l->room) {
		l->overflow = true;
		return;
	}
	run = &l->run[l->runs++];
	run->start = start;
	run->len = len;
	run->group = group;
	run->kind = kind;
}

/* The descriptor block that @block is, or U32_MAX: a backup, or none. */
static u32 ext_layout_gdt_index(const struct ext_geo *geo, u64 block)
{
	u64 first = ext_gdt_block(geo, 0);
	u32 index = U32_MAX, rest;

	if (block >= first && block - first < ext_gdt_count(geo) &&
	    ext_gdt_block(geo, block - first) == block)
		return block - first;
	if (geo->meta_bg_from != U32_MAX && block >= geo->first_data)
		index = (u32)div_u64_rem(block - geo->first_data, geo->blocks_per_group, &rest) >>
			geo->desc_bits;
	return index < ext_gdt_count(geo) && ext_gdt_block(geo, index) == block ? index : U32_MAX;
}

/* Groups of descriptor block @index. */
static u32 ext_layout_gdt_groups(const struct ext_geo *geo, u32 index)
{
	return min(1u << geo->desc_bits, geo->groups - (index << geo->desc_bits));
}

static bool ext_layout_is_same(const struct ext_layout *l, const struct ext_geo *geo, u32 index,
			       const void *content)
{
	u32 n = ext_layout_gdt_groups(geo, index), group = index << geo->desc_bits, i, first;
	struct ext_group desc;

	for (i = 0; i < n; i++, group++) {
		if (!ext_parse_group(geo, content, i, &desc) ||
		    ext_layout_find(l, geo, desc.block_bitmap, &first) != EXT_LAYOUT_BLOCK_BITMAP ||
		    first != group ||
		    ext_layout_find(l, geo, desc.inode_bitmap, &first) != EXT_LAYOUT_INODE_BITMAP ||
		    first != group ||
		    ext_layout_find(l, geo, desc.inode_table, &first) != EXT_LAYOUT_INODES ||
		    first != group * geo->inodes_per_group + 1)
			return false;
	}
	return true;
}

void ext_layout_gdt_write(struct ext_layout *l, const struct ext_geo *geo, u64 block,
			  const void *content)
{
	u32 index = ext_layout_gdt_index(geo, block);

	if (index == U32_MAX || !l->needed)
		return;
	if (!l->known || !content || !ext_layout_is_same(l, geo, index, content))
		ext_layout_forget(l);
}

u64 ext_layout_want(struct ext_layout *l, const struct ext_geo *geo)
{
	if (!l->needed || l->known || l->failed || l->overflow || !l->run)
		return 0;
	l->stale = false;
	return ext_gdt_block(geo, l->next);
}

void ext_layout_learn(struct ext_layout *l, const struct ext_geo *geo, u64 block,
		      const void *content)
{
	u32 n, first, i;

	if (l->stale || block != ext_layout_want(l, geo))
		return;
	if (!content) {
		l->failed = true;
		return;
	}
	n = ext_layout_gdt_groups(geo, l->next);
	first = l->next << geo->desc_bits;
	for (i = 0; i < n; i++) {
		struct ext_group group;

		if (!ext_parse_group(geo, content, i, &group)) {
			l->failed = true;
			return;
		}
		ext_layout_add_run(l, EXT_LAYOUT_BLOCK_BITMAP, group.block_bitmap, 1, first + i);
		ext_layout_add_run(l, EXT_LAYOUT_INODE_BITMAP, group.inode_bitmap, 1, first + i);
		ext_layout_add_run(l, EXT_LAYOUT_INODES, group.inode_table, geo->itable_blocks,
				   first + i);
	}
	if (l->overflow)
		return;
	if (++l->next < ext_gdt_count(geo))
		return;
	ext_layout_sort(l->run, l->runs);
	for (i = 1; i < l->runs; i++)
		if (l->run[i - 1].start + l->run[i - 1].len > l->run[i].start)
			l->failed = true;
	l->known = !l->failed;
}

/* The memory that was given for @bytes of runs. */
static size_t ext_layout_given(size_t bytes)
{
	size_t given = EXT_LAYOUT_MIN_BYTES;

	while (given < bytes)
		given *= 2;
	return given;
}

size_t ext_layout_memory(const struct ext_layout *l)
{
	size_t bytes = (size_t)l->room * sizeof(*l->run);

	if (!l->needed)
		return 0;
	if (!l->run)
		return EXT_LAYOUT_MIN_BYTES;
	return l->overflow && bytes < EXT_LAYOUT_MAX_BYTES / 2 ? ext_layout_given(bytes) * 2 : 0;
}

void *ext_layout_give(struct ext_layout *l, void *memory, size_t bytes)
{
	void *old = l->run;

	l->run = memory;
	l->room = bytes / sizeof(*l->run);
	ext_layout_forget(l);
	return old;
}
