// SPDX-License-Identifier: GPL-2.0
/* The file systems on one disk: see volume.h. */
#include "volume.h"

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

void volume_remove(struct volume_table *t, struct volume *v)
{
	unsigned int at = v - t->volume;

	if (v->fs == VOLUME_EXT)
		v->ext->in_use = false;
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

static bool in_use(const struct volume_table *t, enum volume_fs fs, unsigned int slot)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++)
		if (t->volume[i].fs == fs && t->volume[i].slot == slot)
			return true;
	return false;
}

static bool has_memory(const struct volume_table *t, enum volume_fs fs, unsigned int slot)
{
	switch (fs) {
	case VOLUME_BTRFS:
		return t->btrfs[slot];
	case VOLUME_XFS:
		return t->xfs[slot];
	default:
		return true;
	}
}

/* A free slot, one with memory if there is one. There are as many as volumes. */
static unsigned int free_slot(const struct volume_table *t, enum volume_fs fs)
{
	unsigned int slot, found = VOLUMES_MAX;

	for (slot = 0; slot < VOLUMES_MAX; slot++) {
		if (in_use(t, fs, slot))
			continue;
		if (has_memory(t, fs, slot))
			return slot;
		if (found == VOLUMES_MAX)
			found = slot;
	}
	return found;
}

struct volume *volume_add(struct volume_table *t, enum volume_fs fs, u64 start, u64 sectors)
{
	struct volume *v;
	unsigned int at, slot;

	end_overlapping(t, start, sectors, U64_MAX);
	if (t->nr == VOLUMES_MAX) {
		t->refused++;
		return NULL;
	}
	slot = free_slot(t, fs);
	at = count_until(t, start);
	v = &t->volume[at];
	memmove(v + 1, v, (t->nr - at) * sizeof(*v));
	t->nr++;
	memset(v, 0, sizeof(*v));
	v->start = start;
	v->sectors = sectors;
	v->fs = fs;
	v->state = VOLUME_UNKNOWN;
	v->slot = slot;
	switch (fs) {
	case VOLUME_EXT:
		v->ext = &t->ext[slot];
		v->ext->in_use = true;
		break;
	case VOLUME_BTRFS:
		v->btrfs = t->btrfs[slot];
		t->had_btrfs = true;
		break;
	case VOLUME_XFS:
		v->xfs = t->xfs[slot];
		break;
	}
	return v;
}

void volume_resize(struct volume_table *t, struct volume *v, u64 sectors)
{
	u64 start = v->start;

	if (v->sectors == sectors)
		return;
	end_overlapping(t, start, sectors, start);
	volume_at(t, start)->sectors = sectors;
}
