// SPDX-License-Identifier: GPL-2.0
/* A store's maps for a larger backing device: see growth.h. */
#include "growth.h"

#include "store.h"

int growth_prepare(const struct store *store, struct growth *growth)
{
	u64 before = store->bitmap.size;
	int r = bm_init(&growth->bitmap, growth->blocks);

	if (!r && store->wal)
		r = wal_maps_init(&growth->wal, growth->blocks);
	if (!r && store->exact)
		r = exact_maps_grow(store, growth->blocks, &growth->exact);
	if (r)
		return r;
	bm_copy(&growth->bitmap, &store->bitmap);
	if (store->pool)
		bm_claim(&growth->bitmap, before, growth->blocks - before);
	return 0;
}

bool growth_commit(struct store *store, struct growth *growth)
{
	unsigned long flags;
	bool fits;

	spin_lock_irqsave(&store->lock, flags);
	fits = !store->exact || growth->exact.data;
	if (fits) {
		swap(store->bitmap, growth->bitmap);
		if (store->wal)
			wal_maps_swap(store, &growth->wal);
		if (store->exact)
			exact_maps_swap(store, &growth->exact);
		store_has_room(store);
	}
	spin_unlock_irqrestore(&store->lock, flags);
	return fits;
}

void growth_dispose(struct growth *growth)
{
	bm_destroy(&growth->bitmap);
	wal_maps_destroy(&growth->wal);
	exact_maps_free(&growth->exact);
}
