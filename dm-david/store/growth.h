/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A store's maps with a bit for each block of the backing device, made anew when that has grown.
 *
 * Locking: nothing changes the store meanwhile. Its disk is suspended, or was never resumed.
 */
#ifndef DM_DAVID_GROWTH_H
#define DM_DAVID_GROWTH_H

#include "../lib/bitmap.h"
#include "exact.h"
#include "wal.h"

struct store;

struct growth {
	u64 blocks;			/* that the store is to have; more than it has */
	struct remap_bitmap bitmap;
	struct wal_maps wal;
	struct exact_maps exact;
};

/* Make maps for growth->blocks. What is new is free; in a pool it is not the store's. Sleeps. */
int growth_prepare(const struct store *store, struct growth *growth);
/*
 * Let the store have them. False if the store has something now that was not there when this was
 * prepared. Takes store->lock.
 */
bool growth_commit(struct store *store, struct growth *growth);
/* What is left, or was never used. Sleeps. */
void growth_dispose(struct growth *growth);

#endif
