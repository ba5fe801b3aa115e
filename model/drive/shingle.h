/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The map of a shingled drive that hides its shingles (drive-managed SMR): where a sector is.
 *
 * Tracks overlap within a band, so no part of a band can be written without the rest of it. What is
 * not a whole band is appended to the media cache, a log that is not shingled. Later the band is
 * cleaned: read, and written again with what the media cache has of it. Bands are cleaned in the
 * order in which they came into the media cache, which frees the log from its oldest end.
 *
 * A. Aghayev, P. Desnoyers, "Skylight - a window on shingled disk operation", FAST 2015.
 *
 * No time passes here: clean.c and destage.c move the arm. Memory is bounded by the profile, and
 * allocated when the drive is made.
 */
#ifndef DAVID_MODEL_SHINGLE_H
#define DAVID_MODEL_SHINGLE_H

#include "../profile/profile.h"

/*
 * Neighbouring sectors of a band that lie side by side in the media cache. A band's are a treap: a
 * tree by their start, and a heap by a hash of their numbers, which keeps it flat. Links are a
 * number + 1, and 0 for none.
 */
struct shingle_extent {
	u32 left;		/* those before it; of an unused one: the next unused one */
	u32 right;
	u32 start;		/* sector within the band */
	u32 sectors;
	u32 at;			/* sector within the media cache */
};

struct shingle {
	const struct profile *profile;
	u32 nr_bands;
	u64 head;		/* sectors that were ever appended, to whole blocks */
	u32 *root;		/* by band: of its extents; 0: all of it is at home */
	u32 *next;		/* by band: the one that came after it, number + 1 */
	u32 *since;		/* by band: head when it came, in blocks */
	u32 oldest, newest;	/* bands that came, number + 1; 0: none */
	u32 unused;		/* extent, number + 1 */
	u32 nr_unused;
	size_t bytes;
	struct shingle_extent extents[];
};

/* Returns NULL without memory. @profile must outlive it. */
struct shingle *shingle_create(const struct profile *profile, gfp_t gfp);
void shingle_destroy(struct shingle *shingle);

static inline u32 shingle_band(const struct shingle *shingle, u64 sector)
{
	return div_u64(sector, shingle->profile->band);
}

/* Sectors of @band: the last one may be shorter. */
static inline u64 shingle_band_sectors(const struct shingle *shingle, u32 band)
{
	const struct profile *profile = shingle->profile;

	return min_t(u64, profile->band, profile->sectors - (u64)band * profile->band);
}

/* Sectors from @sector to the end of its band. */
static inline u64 shingle_band_left(const struct shingle *shingle, u64 sector)
{
	u32 band = shingle_band(shingle, sector);

	return (u64)band * shingle->profile->band + shingle_band_sectors(shingle, band) - sector;
}

/* Behind the media cache there is room for a copy of one band. */
static inline u64 shingle_scratch(const struct shingle *shingle)
{
	return shingle->profile->media_cache;
}

/*
 * The sector of the media on which @sector is. *run: so many of its band lie in a row there. The
 * media cache has the first sectors of the media, as if the sectors of the host that lie there had
 * others beside them: it is a small part of the drive.
 */
u64 shingle_find(const struct shingle *shingle, u64 sector, u32 *run);

/* Sectors of the log from its oldest end on: those of bands that were not cleaned since. */
u64 shingle_used(const struct shingle *shingle);

/* Sectors that can be appended in one piece. 0: a band has to be cleaned first. */
u32 shingle_room(const struct shingle *shingle);

/* Append @sectors, which are of one band, and for which there is room. Returns their place. */
u64 shingle_append(struct shingle *shingle, u64 sector, u32 sectors);

/* The first extent of @band that begins at its sector @start or behind it; NULL: none. */
const struct shingle_extent *shingle_extent(const struct shingle *shingle, u32 band, u32 start);

/*
 * What the media cache has of @band has been read, and shingle_forget() follows before anything
 * else. Returns how many extents that were.
 */
u32 shingle_read_all(struct shingle *shingle, u32 band);

/* All of @band is at home. */
void shingle_forget(struct shingle *shingle, u32 band);

/* The band to be cleaned next, number + 1. 0: none has anything in the media cache. */
u32 shingle_oldest(struct shingle *shingle);

#endif
