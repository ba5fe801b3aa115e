// SPDX-License-Identifier: GPL-2.0
/* How much of a disk requests have reached: see reach.h. */
#include "reach.h"

#include "../portable/splitmix.h"

void reach_clear(struct reach *reach)
{
	memset(reach, 0, sizeof(*reach));
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
