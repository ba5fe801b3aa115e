// SPDX-License-Identifier: GPL-2.0
/* Any profile and any commands: times add up, never run backwards, and repeat. */
#include <kunit/test.h>

#include "drive-bench.h"

#ifdef __KERNEL__
#define PROFILES	10
#else
#define PROFILES	150
#endif

static void random_profile(struct bench *b, struct rnd *rnd)
{
	struct profile *p = &b->profile;
	u32 k;

	set_rpm(b, 4200 + rnd_below(rnd, 11000));
	p->serpentine = rnd_below(rnd, 2);
	p->write_settle = (s64)rnd_below(rnd, 1 * MS) - 500 * (s64)US;
	p->bus_read = rnd_below(rnd, 200 * US);
	p->bus_write = rnd_below(rnd, 200 * US);
	p->segments = rnd_below(rnd, 9);
	p->segment_sectors = 1 + rnd_below(rnd, 300);
	p->write_segments = rnd_below(rnd, p->segments + 1);
	p->read_cache = rnd_below(rnd, 4);
	p->write_cache = p->segments ? rnd_below(rnd, 4) : rnd_below(rnd, 2);
	p->readahead = rnd_below(rnd, 5);
	if (!p->segments)
		p->readahead = READAHEAD_NONE;
	p->readahead_max = rnd_below(rnd, 300);
	p->readahead_min = rnd_below(rnd, p->readahead_max + 1);
	p->readahead_stream = rnd_below(rnd, p->readahead_max + 1);
	p->write_buffer = rnd_below(rnd, 2) ? rnd_below(rnd, 600) : 0;
	p->settle_on_switch = rnd_below(rnd, 2);
	p->physical_block = rnd_below(rnd, 2) ? 4096 : 512;
	p->readahead_over_requested = rnd_below(rnd, 2);
	p->drop_requested = rnd_below(rnd, 2);
	p->keep_requested = rnd_below(rnd, 2);
	p->readahead_on_idle_hit = rnd_below(rnd, 2);
	p->read_any_free = rnd_below(rnd, 2);
	p->read_hits_on_write_data = rnd_below(rnd, 2);
	p->separate_write_segment = rnd_below(rnd, 2);
	p->combine_sequential_writes = rnd_below(rnd, 2);
	p->stop_prefetch_in_sector = rnd_below(rnd, 2);
	p->write_hit_stops_prefetch = rnd_below(rnd, 2);
	p->immediate_read = rnd_below(rnd, 2);
	p->immediate_write = rnd_below(rnd, 2);
	p->never_disconnect = rnd_below(rnd, 2);
	p->extra_write_disconnect = rnd_below(rnd, 2);
	p->water_mark_by_request = rnd_below(rnd, 2);
	p->read_water_mark = rnd_below(rnd, 1001);
	p->destage_idle = rnd_below(rnd, 3) * 7 * MS;
	for (k = 0; k < KIND_NR; k++) {
		p->overhead_by_kind[k][0] = rnd_below(rnd, 2 * MS);
		p->overhead_by_kind[k][1] = rnd_below(rnd, 2 * MS);
	}
	p->xd_command = rnd_below(rnd, 1 * MS);
	p->min_seek_delay = rnd_below(rnd, 1 * MS);
	p->first_reselect = rnd_below(rnd, 300 * US);
	/* Shingled, where the write cache allows for it */
	if (rnd_below(rnd, 2) || p->write_cache == WRITE_CACHE_SEQUENTIAL ||
	    (p->write_cache == WRITE_CACHE_BACK && p->write_buffer < 16))
		return;
	p->band = 8 * (1 + rnd_below(rnd, p->write_buffer ? p->write_buffer / 16 : 40));
	p->media_cache = p->band + 8 * rnd_below(rnd, 100);
	p->media_cache_map = 2 + rnd_below(rnd, 100);
	p->media_cache_packet = 1 + rnd_below(rnd, 9);
	p->media_cache_overhead = rnd_below(rnd, 20 * MS);
	p->clean_idle = rnd_below(rnd, 30 * MS);
}

/* Runs do not touch, are found by their first and last sector, and sum up to what is said. */
static void check_write_buffer(struct bench *b)
{
	const struct write_buffer *writes = b->drive->writes;
	const struct segment *written = b->drive->destage.segment;
	u64 sum = written ? written->dirty : 0;
	u32 n = 0, i;

	for (i = 0; i < b->profile.write_segments + 2; i++) {
		const struct run *run = &writes->pool[i];
		const struct segment *s = &run->segment;

		if (!run->hashed)
			continue;
		KUNIT_ASSERT_EQ(b->test, s->start + s->dirty, s->end);
		KUNIT_ASSERT_LE(b->test, 1ULL, s->dirty);
		KUNIT_ASSERT_LE(b->test, s->end, b->profile.sectors);
		KUNIT_ASSERT_TRUE(b->test, run_hash_find(&writes->runs, s->start - !!s->start,
							 s->start + 1) == run);
		KUNIT_ASSERT_TRUE(b->test, run_hash_find(&writes->runs, s->end - 1,
							 s->end + 1) == run);
		sum += s->dirty;
		n++;
	}
	KUNIT_ASSERT_EQ(b->test, sum, writes->sectors);
	KUNIT_ASSERT_EQ(b->test, n, writes->runs.nr);
	KUNIT_ASSERT_LE(b->test, n, b->profile.write_segments + 1);
	KUNIT_ASSERT_EQ(b->test, n + writes->nr_unused + (written ? 1 : 0),
			b->profile.write_segments + 2);
}

/* Dirty sectors are at the end of their segment, and nothing is read in behind them. */
static void check_cache(struct bench *b)
{
	const struct segment *reading = b->drive->readahead.segment;
	const struct cache *cache = b->drive->cache;
	u32 dirty = 0, i;

	for (i = 0; i < cache->nr; i++) {
		const struct segment *s = &cache->segments[i];

		dirty += s->dirty != 0;
		KUNIT_ASSERT_LE(b->test, s->start + s->dirty, s->end);
		KUNIT_ASSERT_LE(b->test, s->end, b->profile.sectors);
		KUNIT_ASSERT_LE(b->test, s->end - s->start, (u64)b->profile.segment_sectors);
		KUNIT_ASSERT_TRUE(b->test, !s->dirty || s->write);
	}
	KUNIT_ASSERT_LE(b->test, dirty, cache->nr_writes);
	if (b->drive->writes)
		check_write_buffer(b);
	KUNIT_ASSERT_TRUE(b->test, !reading || !reading->write);
}

/* A sum over all the ends: the same commands must give the same. */
static u64 random_commands(struct bench *b, u64 seed)
{
	struct rnd rnd = { seed };
	u64 sector = 0, sum = 0;
	u32 i;

	start(b);
	for (i = 0; i < COMMANDS / 20; i++) {
		enum disk_op op = rnd_below(&rnd, 20) ? rnd_below(&rnd, 2) : DISK_FLUSH;
		u32 sectors = 1 + rnd_below(&rnd, rnd_below(&rnd, 10) ? 32 : 700), flags, k;
		u64 begin = b->now, estimate;
		struct drive_parts parts;

		/* Sequential, near or far */
		k = rnd_below(&rnd, 3);
		if (k == 1)
			sector += rnd_below(&rnd, 200) - 100ULL;
		if (k == 2 || sector >= b->profile.sectors - sectors)
			sector = rnd_below(&rnd, b->profile.sectors - sectors);
		if (rnd_below(&rnd, 2))
			begin += rnd_below(&rnd, 40 * MS);
		flags = rnd_below(&rnd, 10) ? 0 : DISK_FUA;
		if (op == DISK_FLUSH)
			sectors = 0;
		estimate = access_at(b, op, flags, sector, sectors, begin);
		if (estimate != DRIVE_NO_ROOM)
			KUNIT_ASSERT_LE(b->test, estimate, SECOND);
		b->now = serve_at(b, op, flags, sector, sectors, begin, &parts);
		KUNIT_ASSERT_GE(b->test, b->now, begin);
		KUNIT_ASSERT_LE(b->test, b->now, begin + 10 * SECOND);
		KUNIT_ASSERT_EQ(b->test, drive_parts_total(&parts), b->now - begin);
		if (op == DISK_FLUSH)
			KUNIT_ASSERT_EQ(b->test, parts.overhead + parts.flush, b->now - begin);
		else if (!(flags & DISK_FUA))
			KUNIT_ASSERT_EQ(b->test, parts.flush, 0ULL);
		check_cache(b);
		sum = sum * 31 + b->now;
		sector += sectors;
	}
	KUNIT_EXPECT_LE(b->test, drive_bytes(b->drive), (size_t)1 << 20);
	stop(b);
	return sum;
}

static void any_profile_serves_any_commands_and_repeats(struct kunit *test)
{
	struct rnd rnd = { 3 };
	static struct bench b;	/* the kernel's stack is small */
	u64 seed;
	u32 i;

	for (i = 0; i < PROFILES; i++) {
		prepare(&b, test);
		random_profile(&b, &rnd);
		seed = rnd_next(&rnd);
		KUNIT_EXPECT_EQ(test, random_commands(&b, seed), random_commands(&b, seed));
	}
}

static struct kunit_case any_drive_cases[] = {
	KUNIT_CASE(any_profile_serves_any_commands_and_repeats),
	{}
};

static struct kunit_suite any_drive_suite = {
	.name = "any-drive",
	.test_cases = any_drive_cases,
};

kunit_test_suite(any_drive_suite);
