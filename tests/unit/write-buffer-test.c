// SPDX-License-Identifier: GPL-2.0
/* The write buffer's runs: found, chosen and written in whole blocks. */
#include <kunit/test.h>

#include "drive-bench.h"

/* The buffer is full by bytes: short writes fill it by their own size. */
static void a_write_buffer_takes_as_many_writes_as_fit(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 time = 0;
	u32 i;

	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	b.profile.write_buffer = 400;
	b.profile.write_segments = 100;
	b.profile.destage_idle = SECOND;
	start(&b);
	for (i = 0; i < 50; i++)
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 2037 * i, 8), 108 * US);
	/* What is dirty can be written again and read. */
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 2037 * 7, 8), 108 * US);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 2037 * 30 + 2, 4), 104 * US);
	for (; i < 150; i++)
		time += serve(&b, DISK_WRITE, 1000 + 1037 * i % 90000, 8);
	KUNIT_EXPECT_GE(test, time, 100 * 800 * US);
	/* Fifty to choose from: far better than a seek and half a revolution each */
	KUNIT_EXPECT_LE(test, time, 100 * 4 * MS);
	KUNIT_EXPECT_GE(test, serve(&b, DISK_FLUSH, 0, 0), 50 * 800 * US);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_FLUSH, 0, 0), 100 * US);
	stop(&b);
}

#define RUNS	300

/* The first of the runs that has any of the sectors, by a look at each. */
static const struct run *naive_find(const struct run *pool, u64 sector, u64 end)
{
	const struct run *best = NULL;
	u32 i;

	for (i = 0; i < RUNS; i++)
		if (pool[i].segment.dirty && run_begin(&pool[i]) < end &&
		    pool[i].segment.end > sector &&
		    (!best || run_begin(&pool[i]) < run_begin(best)))
			best = &pool[i];
	return best;
}

static u64 some_length(struct rnd *rnd)
{
	return 1 + rnd_below(rnd, 1 << rnd_below(rnd, 20));
}

static void a_run_is_found_by_any_of_its_sectors(struct kunit *test)
{
	struct run *pool = kvcalloc(RUNS, sizeof(*pool), GFP_KERNEL), *run;
	void *memory = kvzalloc(run_hash_bytes(RUNS), GFP_KERNEL);
	struct run_hash hash = { };
	struct rnd rnd = { 13 };
	u64 sector, end, span;
	u32 round;

	KUNIT_ASSERT_TRUE(test, pool && memory);
	run_hash_init(&hash, pool, RUNS, memory);
	for (round = 0; round < COMMANDS; round++) {
		/* Far apart for a while, then side by side. */
		span = round / 500 % 2 ? 1 << 30 : 1 << 16;
		sector = rnd_below(&rnd, span);
		end = sector + some_length(&rnd);
		KUNIT_ASSERT_TRUE(test, run_hash_find(&hash, sector, end) ==
					naive_find(pool, sector, end));
		run = &pool[rnd_below(&rnd, RUNS)];
		run->i = run - pool;
		if (run->segment.dirty && round % 3 == 0) {
			end = run->segment.end + some_length(&rnd);
			if (naive_find(pool, run->segment.end, end))
				continue;
			run_hash_extend(&hash, run, end - run->segment.end);
		} else if (run->segment.dirty) {
			run_hash_remove(&hash, run);
			run->segment.dirty = 0;
		} else if (!naive_find(pool, sector, end)) {
			run->segment.end = end;
			run->segment.dirty = end - sector;
			run_hash_insert(&hash, run);
		}
	}
	kvfree(pool);
	kvfree(memory);
}

/* Of equals: the nearer one, the one above the arm, the one with less to pass on the way to it. */
static bool naive_before(const struct bench *b, const struct run *run, const struct run *other)
{
	u32 arm = b->drive->media.cylinder, at = run->place.cylinder, best = other->place.cylinder;
	u32 distance = at > arm ? at - arm : arm - at, least = best > arm ? best - arm : arm - best;

	if (distance != least)
		return distance < least;
	if (at != best)
		return at > best;
	return at < arm ? run_begin(run) > run_begin(other) : run_begin(run) < run_begin(other);
}

static const struct run *naive_nearest(const struct bench *b, u64 now)
{
	const struct write_buffer *writes = b->drive->writes;
	const struct run *best = NULL, *run;
	u64 seek, wait, least = 0;
	u32 i;

	for (i = 0; i < b->profile.write_segments + 2; i++) {
		run = &writes->pool[i];
		if (!run->hashed)
			continue;
		media_access(&b->drive->media, &run->place, true, now, run->segment.dirty_since,
			     &seek, &wait);
		if (best && (seek + wait > least ||
			     (seek + wait == least && !naive_before(b, run, best))))
			continue;
		best = run;
		least = seek + wait;
	}
	return best;
}

static void check_nearest(struct bench *b, u64 now)
{
	struct write_buffer *writes = b->drive->writes;

	if (writes->runs.nr)
		KUNIT_ASSERT_TRUE(b->test, &naive_nearest(b, now)->segment ==
					   write_buffer_nearest(writes, &b->drive->media, now));
}

/* The search looks at parts of the revolution and at what is near; the naive one at every run. */
static void the_nearest_run_is_that_of_all_runs(struct kunit *test)
{
	static const struct { u32 runs; u64 span; } cases[] = {
		{ 5, 0 }, { 40, 0 }, { 40, 3000 }, { 200, 0 }, { 200, 9000 }, { 1000, 0 },
	};
	struct rnd rnd = { 12 };
	static struct bench b;	/* the kernel's stack is small */
	u32 i, round;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		prepare(&b, test);
		add_cache(&b);
		b.profile.write_cache = WRITE_CACHE_BACK;
		b.profile.write_buffer = 100000;
		b.profile.write_segments = cases[i].runs;
		b.profile.destage_idle = SECOND;
		start(&b);
		for (round = 0; round < COMMANDS / 40; round++) {
			u64 span = cases[i].span ?: b.profile.sectors - 8, now;

			serve(&b, DISK_WRITE, rnd_below(&rnd, span), 1 + rnd_below(&rnd, 8));
			check_nearest(&b, b.now);
			/* As the drive has it that chooses while data are on their way */
			now = b.now - rnd_below(&rnd, min(b.now, 5 * MS));
			b.drive->media.cylinder = rnd_below(&rnd, b.profile.cylinders);
			b.drive->media.head = rnd_below(&rnd, b.profile.heads);
			check_nearest(&b, now);
			b.now += rnd_below(&rnd, MS);
		}
		stop(&b);
	}
}

/* A stream of short writes is written in whole blocks, but for its two ends. */
static void a_stream_that_is_not_aligned_is_written_in_whole_blocks(struct kunit *test)
{
	u64 time[2] = {};
	static struct bench b;	/* the kernel's stack is small */
	u32 i, k;

	for (k = 0; k < 2; k++) {
		prepare(&b, test);
		add_cache(&b);
		b.profile.physical_block = 4096;
		b.profile.write_cache = WRITE_CACHE_BACK;
		b.profile.write_buffer = 800;
		start(&b);
		for (i = 0; i < 600; i++)
			time[k] += serve(&b, DISK_WRITE, 20 * i + 3 * k, 20);
		time[k] += serve(&b, DISK_FLUSH, 0, 0);
		stop(&b);
	}
	KUNIT_EXPECT_LE(test, time[1], time[0] + 6 * 10 * MS);
}

static struct kunit_case write_buffer_cases[] = {
	KUNIT_CASE(a_write_buffer_takes_as_many_writes_as_fit),
	KUNIT_CASE(a_run_is_found_by_any_of_its_sectors),
	KUNIT_CASE(the_nearest_run_is_that_of_all_runs),
	KUNIT_CASE(a_stream_that_is_not_aligned_is_written_in_whole_blocks),
	{}
};

static struct kunit_suite write_buffer_suite = {
	.name = "write-buffer",
	.test_cases = write_buffer_cases,
};

kunit_test_suite(write_buffer_suite);
