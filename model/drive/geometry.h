/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The place of a sector: zone, cylinder, head and angle. Spares, slips and remaps are accounted
 * for.
 *
 * The sectors of a zone fill its tracks in order. Some places are left out: front_empty places at
 * the zone's start; spares in each unit of the sparing scheme (track, cylinder, range of cylinders,
 * zone); and slipped places, each of which moves all sectors behind it in its unit by one. Places
 * are numbered from the start of the zone, and these are counted.
 */
#ifndef DAVID_MODEL_GEOMETRY_H
#define DAVID_MODEL_GEOMETRY_H

#include "../profile/profile.h"

struct geometry;

struct place {
	u32 zone;
	u32 cylinder;
	u32 head;
	u32 slot;		/* angle in sectors of the track, 0 at the index */
	u32 slots;		/* sectors of the track, data or not */
	u32 run;		/* consecutive sectors of this track from this one on */
	u32 before;		/* consecutive sectors of this track before this one */
	bool to_end;		/* the run is the rest of the track */
};

/* Returns NULL without memory. @profile must outlive the geometry. */
struct geometry *geometry_create(const struct profile *profile, gfp_t gfp);
void geometry_destroy(struct geometry *geometry);
size_t geometry_bytes(const struct geometry *geometry);

/* The place of @sector, which must lie on the disk. */
void geometry_find(const struct geometry *geometry, u64 sector, struct place *place);

/*
 * @sector is at @place. The first sector behind it that is on another track, or the disk's end.
 * Sectors that are remapped onto the track may be ignored.
 */
u64 geometry_track_end(const struct geometry *geometry, u64 sector, const struct place *place);

/* The same for its cylinder. */
u64 geometry_cylinder_end(const struct geometry *geometry, u64 sector, const struct place *place);

#endif
