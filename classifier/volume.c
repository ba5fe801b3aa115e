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

struct volume *volume_add_ext(struct volume_table *t, u64 start, u64 sectors)
{
	struct volume *v;
	unsigned int at, slot;

	end_overlapping(t, start, sectors, U64_MAX);
	for (slot = 0; slot < VOLUMES_MAX && t->ext[slot].in_use; slot++)
		;
	if (slot == VOLUMES_MAX) {
		t->refused++;
		return NULL;
	}
	at = count_until(t, start);
	v = &t->volume[at];
	memmove(v + 1, v, (t->nr - at) * sizeof(*v));
	t->nr++;
	v->start = start;
	v->sectors = sectors;
	v->fs = VOLUME_EXT;
	v->state = VOLUME_UNKNOWN;
	v->ext = &t->ext[slot];
	v->ext->in_use = true;
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
