// SPDX-License-Identifier: GPL-2.0
/* The file systems on one disk: see volume.h. */
#include "volume-ops.h"

/* Number of volumes that begin at or before @sector. */
static unsigned int count_until(const struct volume_table *t, u64 sector)
{
	unsigned int n = 0;

	while (n < t->nr && t->volume[n].start <= sector)
		n++;
	return n;
}

struct volume *volume_find(struct volume_table *t, u64 sector, u64 *next)
{
	unsigned int n = count_until(t, sector);

	if (n && sector - t->volume[n - 1].start < t->volume[n - 1].sectors)
		return &t->volume[n - 1];
	*next = n < t->nr ? t->volume[n].start : U64_MAX;
	return NULL;
}

struct volume *volume_at(struct volume_table *t, u64 start)
{
	unsigned int n = count_until(t, start);

	return n && t->volume[n - 1].start == start ? &t->volume[n - 1] : NULL;
}

struct volume *volume_of_slot(struct volume_table *t, u32 slot)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++)
		if (volume_slot(&t->volume[i]) == slot)
			return &t->volume[i];
	return NULL;
}

void volume_remove(struct volume_table *t, struct volume *v)
{
	unsigned int at = v - t->volume;

	if (ops_of(v)->detach)
		ops_of(v)->detach(v);
	memmove(v, v + 1, (t->nr - at - 1) * sizeof(*v));
	t->nr--;
	t->ended++;
}

/* End all volumes but the one that begins at @keep which share a sector with these. */
static void end_overlapping(struct volume_table *t, u64 start, u64 sectors, u64 keep)
{
	unsigned int i = 0;

	while (i < t->nr) {
		struct volume *v = &t->volume[i];

		if (v->start != keep && v->start < start + sectors && start < v->start + v->sectors)
			volume_remove(t, v);
		else
			i++;
	}
}

/* Of @sectors from @start on, those in front of the next volume. */
static u64 until_next(const struct volume_table *t, u64 start, u64 sectors)
{
	unsigned int n = count_until(t, start);

	return n < t->nr ? min(sectors, t->volume[n].start - start) : sectors;
}

/*
 * Another volume begins at @start: cut off or end the volume that covers @start, if there is one.
 */
static void volume_make_room(struct volume_table *t, u64 start)
{
	u64 next;
	struct volume *v = volume_find(t, start, &next);

	if (!v)
		return;
	if (start - v->start < v->proved || start == v->start)
		volume_remove(t, v);
	else
		v->sectors = start - v->start;
}

static bool in_use(const struct volume_table *t, enum volume_kind kind, unsigned int slot)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++)
		if (t->volume[i].kind == kind && t->volume[i].slot == slot)
			return true;
	return false;
}

/* A free slot, one with memory if there is one. There are as many as volumes. */
static unsigned int free_slot(const struct volume_table *t, enum volume_kind kind)
{
	unsigned int slot, found = VOLUMES_MAX;

	for (slot = 0; slot < VOLUMES_MAX; slot++) {
		if (in_use(t, kind, slot))
			continue;
		if (t->live[kind][slot])
			return slot;
		if (found == VOLUMES_MAX)
			found = slot;
	}
	return found;
}

/* Does another volume than the one at @start end with these sectors? */
static bool is_end_of_another(const struct volume_table *t, u64 start, u64 end)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++)
		if (t->volume[i].start > start &&
		    t->volume[i].start + t->volume[i].claimed == end)
			return true;
	return false;
}

/* Is a new volume proved to lie in these sectors? */
static bool is_made(const struct volume_table *t, u64 start, u64 sectors)
{
	u64 end = start + sectors;

	return !t->doubt || placed_fills(start, end, t->disk) ||
	       (placed_made(&t->placed, start, end) && !is_end_of_another(t, start, end));
}

struct volume *volume_add(struct volume_table *t, enum volume_kind kind, u64 start, u64 sectors)
{
	const struct volume_ops *ops = volume_ops[kind];
	bool proved = is_made(t, start, sectors);
	u64 claimed = sectors;
	struct volume *v;
	unsigned int at, slot;

	if (proved) {
		placed_forget(&t->placed);
		end_overlapping(t, start, sectors, U64_MAX);
	} else {
		volume_make_room(t, start);
		sectors = until_next(t, start, sectors);
	}
	if (t->nr == VOLUMES_MAX) {
		t->refused++;
		return NULL;
	}
	slot = free_slot(t, kind);
	at = count_until(t, start);
	v = &t->volume[at];
	memmove(v + 1, v, (t->nr - at) * sizeof(*v));
	t->nr++;
	memset(v, 0, sizeof(*v));
	v->start = start;
	v->sectors = sectors;
	v->claimed = claimed;
	v->proved = proved ? sectors : 0;
	v->confirmed = t->doubt && ops->confirms ? 0 : U64_MAX;
	v->kind = kind;
	v->state = VOLUME_UNKNOWN;
	v->fresh = true;
	v->slot = slot;
	if (ops->attach)
		t->live[kind][slot] = ops->attach(t, slot);
	t->had_csums |= !!ops->sums;
	v->live = t->live[kind][slot];
	return v;
}

static void set_sectors(struct volume_table *t, struct volume *v, u64 sectors, bool proved)
{
	u64 start = v->start;

	v->claimed = sectors;
	if (proved) {
		end_overlapping(t, start, sectors, start);
		v = volume_at(t, start);
		v->proved = sectors;
	} else {
		sectors = until_next(t, start, sectors);
		v->proved = min(v->proved, sectors);
	}
	v->sectors = sectors;
}

void volume_resize(struct volume_table *t, struct volume *v, u64 sectors)
{
	bool proved = !t->doubt || sectors <= v->proved ||
		      placed_fills(v->start, v->start + sectors, t->disk);

	if (v->sectors != sectors || v->claimed != sectors)
		set_sectors(t, v, sectors, proved);
}

void volume_cleared(struct volume_table *t, u64 sector, u64 sectors)
{
	unsigned int i;

	if (!t->doubt)
		return;
	placed_cleared(&t->placed, sector, sectors);
	/* mkfs may write the superblock first. */
	for (i = 0; i < t->nr; i++) {
		struct volume *v = &t->volume[i];

		if (unlikely(volume_doubted(v)) && v->fresh &&
		    is_made(t, v->start, v->claimed)) {
			placed_forget(&t->placed);
			set_sectors(t, v, v->claimed, true);
			return;
		}
	}
}

void volume_table_read(struct volume_table *t, const void *table)
{
	unsigned int i = 0;

	while (i < t->nr) {
		struct volume *v = &t->volume[i];

		if (volume_doubted(v) && placed_in_table(table, v->start, v->claimed)) {
			set_sectors(t, v, v->claimed, true);
			i = 0;	/* it may have ended others */
		} else {
			i++;
		}
	}
}
