/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a sector is: zone, cylinder, head and angle, past spares, slipped
 * and remapped places.
 *
 * The sectors of a zone are dealt out over its tracks in order, but for those
 * that are left out: front_empty places at its start, spares (in each unit that
 * the sparing scheme has: track, cylinder, range of cylinders, zone), and slipped
 * ones, which move everything behind them in their unit one place on. Places are
 * numbered from the start of the zone, spares and slips included.
 */
#ifndef DAVID_MODEL_GEOMETRY_H
#define DAVID_MODEL_GEOMETRY_H

#include "profile.h"

struct geometry;

struct place {
	u32 zone;
	u32 cylinder;
	u32 head;
	u32 slot;		/* angle in sectors of the track, 0 at the index */
	u32 slots;		/* sectors of the track, data or not */
	u32 run;		/* sectors from this one on that lie one behind the other */
	u32 before;		/* and those before it, on this track */
	bool to_end;		/* the run is the rest of the track */
};

/* Returns NULL without memory. @profile must outlive the geometry. */
struct geometry *geometry_create(const struct profile *profile, gfp_t gfp);
void geometry_destroy(struct geometry *geometry);
size_t geometry_bytes(const struct geometry *geometry);

/* Where @sector is; it must lie on the disk. */
void geometry_find(const struct geometry *geometry, u64 sector, struct place *place);

/*
 * The first sector behind @sector, which is at @place, that is not on its track, or the
 * disk's end. Sectors remapped onto the track may be left out.
 */
u64 geometry_track_end(const struct geometry *geometry, u64 sector, const struct place *place);

/* The same of its cylinder. */
u64 geometry_cylinder_end(const struct geometry *geometry, u64 sector, const struct place *place);

#endif
