// SPDX-License-Identifier: GPL-2.0
/* How much of a disk requests have reached: see reach.h. */
#include "reach.h"

#include "../portable/splitmix.h"

/* Parts of twice the size: of each two one is made. */
static void reach_widen(struct reach *reach)
{
	const struct reach_part *from;
	struct reach_part both;
	u32 i, k;

	reach->part_shift++;
	for (i = 0; i < REACH_PARTS; i++) {
		both = (struct reach_part){ };
		for (k = 2 * i; k < min_t(u32, 2 * i + 2, REACH_PARTS); k++) {
			from = &reach->parts[k];
			if (!from->nr)
				continue;
			both.first = both.nr ? min(both.first, from->first) : from->first;
			both.end = max(both.end, from->end);
			both.nr += from->nr;
		}
		reach->parts[i] = both;
	}
}

void reach_fit(struct reach *reach, u64 sectors)
{
	while (sectors && (sectors - 1) >> reach->part_shift >= REACH_PARTS)
		reach_widen(reach);
}

void reach_clear(struct reach *reach, u64 sectors)
{
	memset(reach, 0, sizeof(*reach));
	reach_fit(reach, sectors);
}

void reach_count(struct reach *reach, u64 sector, u32 sectors)
{
	u64 number = min_t(u64, sector >> reach->part_shift, REACH_PARTS - 1);
	struct reach_part *part = &reach->parts[number];

	if (!sectors)
		return;
	part->first = part->nr ? min(part->first, sector) : sector;
	part->end = max(part->end, sector + sectors);
	part->nr++;
}

void reach_most(const struct reach *reach, u64 *first, u64 *end)
{
	const struct reach_part *low = reach->parts, *high = low + REACH_PARTS - 1, *part;
	u64 nr = 0, below, above;

	for (part = low; part <= high; part++)
		nr += part->nr;
	*first = 0;
	*end = 0;
	if (!nr)
		return;
	below = nr / REACH_FEW;
	above = below;
	for (; low->nr <= below; low++)
		below -= low->nr;
	for (; high->nr <= above; high--)
		above -= high->nr;
	*first = low->first;
	for (part = low; part <= high; part++)
		*end = max(*end, part->end);
}

static u64 reach_hash(u64 page)
{
	return splitmix_next(&page);
}

/* Is a page with that hash in the sample? Its first bits decide. */
static bool is_sampled(const struct reach *reach, u64 hash)
{
	return !reach->shift || !(hash >> (64 - reach->shift));
}

/* Enter @page, if it is not there. Its hash's last bits say where. There is a free slot. */
static void reach_enter(struct reach *reach, u64 page, u64 hash)
{
	u32 slot = hash % REACH_SLOTS;

	for (; reach->slots[slot]; slot = (slot + 1) % REACH_SLOTS)
		if (reach->slots[slot] == page + 1)
			return;
	reach->slots[slot] = page + 1;
	reach->nr++;
}

/* Keep half of the sample. */
static void reach_shrink(struct reach *reach)
{
	u32 slot, nr = 0, i;

	reach->shift++;
	for (slot = 0; slot < REACH_SLOTS; slot++)
		if (reach->slots[slot] && is_sampled(reach, reach_hash(reach->slots[slot] - 1)))
			reach->kept[nr++] = reach->slots[slot] - 1;
	memset(reach->slots, 0, sizeof(reach->slots));
	reach->nr = 0;
	for (i = 0; i < nr; i++)
		reach_enter(reach, reach->kept[i], reach_hash(reach->kept[i]));
}

void reach_add(struct reach *reach, u64 sector, u32 sectors)
{
	u64 page = sector / REACH_PAGE, end = sector + sectors, hash;

	if (!sectors)
		return;
	reach->first = reach->end ? min(reach->first, sector) : sector;
	reach->end = max(reach->end, end);
	for (; page * REACH_PAGE < end; page++) {
		hash = reach_hash(page);
		if (!is_sampled(reach, hash))
			continue;
		reach_enter(reach, page, hash);
		/* All may be gone at a time, or none. */
		while (reach->nr == REACH_MOST)
			reach_shrink(reach);
	}
}
