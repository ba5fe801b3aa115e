// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/hash.h"
#include "run-hash.h"

static u32 nr_buckets(u32 runs)
{
	return 1U << fls64(2 * (u64)runs - 1);
}

size_t run_hash_bytes(u32 runs)
{
	return nr_buckets(runs) * sizeof(u16);
}

void run_hash_init(struct run_hash *hash, struct run *pool, u32 runs, void *memory)
{
	hash->pool = pool;
	hash->size = runs;
	hash->mask = nr_buckets(runs) - 1;
	hash->buckets = memory;
}

static u32 region_shift(u32 level)
{
	return 8 + 3 * level;
}

/* Regions of several levels share the buckets. */
static u32 run_bucket(const struct run_hash *hash, u64 region)
{
	return hash_slot(region, hash->mask + 1);
}

/* The one of two that begins first, where @run has any of the sectors. */
static struct run *run_first(struct run *best, struct run *run, u64 sector, u64 end)
{
	if (run_begin(run) >= end || run->segment.end <= sector ||
	    (best && run_begin(best) < run_begin(run)))
		return best;
	return run;
}

static struct run *find_in(const struct run_hash *hash, u32 bucket, u64 sector, u64 end,
			   struct run *best)
{
	u16 node = hash->buckets[bucket];
	struct run *run;

	while (node) {
		run = &hash->pool[(node - 1) / 2];
		best = run_first(best, run, sector, end);
		node = run->next[(node - 1) % 2];
	}
	return best;
}

/* More regions than runs: all of these then. */
static noinline struct run *find_in_all(const struct run_hash *hash, u64 sector, u64 end)
{
	struct run *best = NULL;
	u32 i;

	for (i = 0; i < hash->size; i++)
		if (hash->pool[i].hashed)
			best = run_first(best, &hash->pool[i], sector, end);
	return best;
}

struct run *run_hash_find(const struct run_hash *hash, u64 sector, u64 end)
{
	struct run *best = NULL;
	u32 levels, level, shift;
	u64 region, last;

	for (levels = hash->levels; levels; levels &= levels - 1) {
		level = __ffs64(levels);
		shift = region_shift(level);
		region = sector >> shift;
		last = (end - 1) >> shift;
		if (last - region > hash->size)
			return find_in_all(hash, sector, end);
		do {
			best = find_in(hash, run_bucket(hash, region), sector, end, best);
		} while (region++ != last);
	}
	return best;
}

static void set_level(struct run *run)
{
	u32 level = 0;

	while (level < RUN_LEVELS - 1 && run->segment.dirty > 1ULL << region_shift(level))
		level++;
	run->level = level;
}

/* The buckets of its first region and its last. Returns how many they are. */
static u32 buckets_of(const struct run_hash *hash, const struct run *run, u32 *buckets)
{
	u32 shift = region_shift(run->level);
	u64 first = run_begin(run) >> shift, last = (run->segment.end - 1) >> shift;

	buckets[0] = run_bucket(hash, first);
	if (first == last)
		return 1;
	buckets[1] = run_bucket(hash, last);
	return buckets[0] == buckets[1] ? 1 : 2;
}

static void bucket_link(struct run_hash *hash, struct run *run, u32 bucket, u32 which)
{
	run->next[which] = hash->buckets[bucket];
	hash->buckets[bucket] = 2 * run->i + which + 1;
}

static void bucket_unlink(struct run_hash *hash, const struct run *run, u32 bucket, u32 which)
{
	u16 *node = &hash->buckets[bucket], own = 2 * run->i + which + 1;

	while (*node != own)
		node = &hash->pool[(*node - 1) / 2].next[(*node - 1) % 2];
	*node = run->next[which];
}

void run_hash_insert(struct run_hash *hash, struct run *run)
{
	u32 buckets[2];

	set_level(run);
	if (buckets_of(hash, run, buckets) == 2)
		bucket_link(hash, run, buckets[1], 1);
	bucket_link(hash, run, buckets[0], 0);
	run->hashed = true;
	hash->nr_in_level[run->level]++;
	hash->levels |= 1U << run->level;
	hash->nr++;
}

void run_hash_remove(struct run_hash *hash, struct run *run)
{
	u32 buckets[2];

	if (buckets_of(hash, run, buckets) == 2)
		bucket_unlink(hash, run, buckets[1], 1);
	bucket_unlink(hash, run, buckets[0], 0);
	run->hashed = false;
	if (!--hash->nr_in_level[run->level])
		hash->levels &= ~(1U << run->level);
	hash->nr--;
}

void run_hash_extend(struct run_hash *hash, struct run *run, u64 sectors)
{
	u32 shift = region_shift(run->level);
	u64 end = run->segment.end + sectors;
	bool moves = (end - 1) >> shift != (run->segment.end - 1) >> shift ||
		     run->segment.dirty + sectors > 1ULL << shift;

	if (moves)
		run_hash_remove(hash, run);
	run->segment.end = end;
	run->segment.dirty += sectors;
	if (moves)
		run_hash_insert(hash, run);
}
