// SPDX-License-Identifier: GPL-2.0
/* The drive's segments: hits, read-ahead, and writes that are done before they are on the media. */
#include <kunit/test.h>

#include "drive-bench.h"

static void second_read_hits(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */

	prepare(&b, test);
	add_cache(&b);
	start(&b);
	serve(&b, DISK_READ, 1000, 16);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 1000, 16), 116 * US);
	/* A write there makes it miss: it goes to the media and the data are not kept. */
	b.profile.read_hits_on_write_data = false;
	serve(&b, DISK_WRITE, 1008, 1);
	KUNIT_EXPECT_GE(test, serve(&b, DISK_READ, 1000, 16), 1 * MS);
	stop(&b);
}

/* Read-ahead goes on while the drive is idle, sector by sector and no further than it should. */
static void readahead_goes_on_while_idle(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 idle;

	for (idle = 0; idle <= 20; idle += 20) {
		prepare(&b, test);
		add_cache(&b);
		start(&b);
		serve(&b, DISK_READ, 0, 10);
		b.now += idle * MS;
		/* It began with the media's end, a sector on the bus ago; then overhead, bus. */
		if (idle)
			KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 10, 64), 164 * US);
		else
			KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 10, 64), 64 * 100 * US);
		stop(&b);
	}
	prepare(&b, test);
	add_cache(&b);
	b.profile.readahead_on_idle_hit = false;
	start(&b);
	serve(&b, DISK_READ, 0, 10);
	b.now += SECOND;
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 73, 1), 101 * US);
	KUNIT_EXPECT_GE(test, serve(&b, DISK_READ, 74, 1), 200 * US);
	stop(&b);
}

static u32 cached_of(struct bench *b, enum disk_op op, u64 sector, u32 sectors)
{
	struct drive_parts parts;

	b->now = serve_at(b, op, 0, sector, sectors, b->now, &parts) + SECOND;
	return parts.cached;
}

/* What read-ahead brought counts once. What the host had before, or wrote, no platter gave it. */
static void what_only_the_cache_saw_is_counted(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */

	prepare(&b, test);
	add_cache(&b);
	b.profile.readahead_on_idle_hit = false;
	b.profile.write_cache = WRITE_CACHE_BACK;
	start(&b);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 1000, 10), 0U);
	/* 64 sectors came behind it, in whatever order they are asked for. */
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 1040, 34), 0U);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 1010, 30), 0U);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 1000, 16), 16U);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 1064, 20), 10U);
	/* A stream of more than a segment at a time passes through it. */
	serve(&b, DISK_READ, 20000, 10);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 20010, 250), 0U);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_WRITE, 5000, 8), 0U);
	KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_READ, 5000, 8), 8U);
	stop(&b);
}

/* Data that others replace before they are on the media never get there. */
static void what_is_overwritten_in_the_cache_is_counted(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	int runs;

	for (runs = 0; runs < 2; runs++) {
		prepare(&b, test);
		add_cache(&b);
		b.profile.write_cache = WRITE_CACHE_BACK;
		b.profile.destage_idle = 100 * SECOND;
		b.profile.write_buffer = runs ? 800 : 0;
		start(&b);
		KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_WRITE, 1000, 16), 0U);
		KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_WRITE, 1016, 16), 0U);
		KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_WRITE, 1008, 16), 16U);
		/* Segments are not cut: they write both. */
		KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_WRITE, 1028, 16), runs ? 4U : 0U);
		serve(&b, DISK_FLUSH, 0, 0);
		KUNIT_EXPECT_EQ(test, cached_of(&b, DISK_WRITE, 1000, 16), 0U);
		stop(&b);
	}
}

/* Sectors that the host has cannot be hit again; those read ahead can, and are then dropped. */
static void requested_sectors_leave_the_cache(struct kunit *test)
{
	const u64 hit = 101 * US;	/* of one sector */
	static struct bench b;	/* the kernel's stack is small */
	int drop;

	for (drop = 0; drop < 2; drop++) {
		prepare(&b, test);
		add_cache(&b);
		b.profile.drop_requested = drop;
		start(&b);
		serve(&b, DISK_READ, 0, 10);
		b.now += SECOND;
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 30, 1), hit);
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 31, 1), hit);
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 73, 1), hit);
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 31, 1) == hit, !drop);
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 9, 1) == hit, !drop);
		stop(&b);
	}
}

static void readahead_ends_with_the_cylinder(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */

	prepare(&b, test);
	add_cache(&b);
	b.profile.readahead = READAHEAD_CYLINDER;
	b.profile.readahead_max = 0;
	b.profile.readahead_over_requested = true;
	b.profile.segment_sectors = 2 * HEADS * OUTER;
	b.profile.readahead_on_idle_hit = false;
	start(&b);
	serve(&b, DISK_READ, 5, 1);
	b.now += SECOND;
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, HEADS * OUTER - 1, 1), 101 * US);
	KUNIT_EXPECT_GE(test, serve(&b, DISK_READ, HEADS * OUTER, 1), 200 * US);
	stop(&b);
}

/* With read-ahead, a reader that keeps up gets what the media give. */
static void sequential_reads_stream(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 time = 0;
	u32 i;

	prepare(&b, test);
	add_cache(&b);
	start(&b);
	serve(&b, DISK_READ, 0, 10);
	for (i = 1; i <= 400; i++)
		time += serve(&b, DISK_READ, 10 * i, 10);
	/* 40 tracks, of which 10 end a cylinder */
	KUNIT_EXPECT_EQ(test, time, 40 * 10 * MS + 40 * 1 * MS + 10 * 1 * MS);
	stop(&b);
}

static void write_back_is_done_with_the_bus(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 time;

	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	b.profile.destage_idle = 50 * MS;
	start(&b);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 3000, 8), 108 * US);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 3008, 8), 108 * US);
	/* Written again, and read, in the buffer */
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 3004, 4), 104 * US);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 3002, 12), 112 * US);
	/* A flush waits for the media: a seek and 16 sectors at least. */
	time = serve(&b, DISK_FLUSH, 0, 0);
	KUNIT_EXPECT_GE(test, time, 1600 * US);
	KUNIT_EXPECT_LE(test, time, 20 * MS);
	/* Nothing left */
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_FLUSH, 0, 0), 100 * US);
	/* After enough idle time there is nothing left either, before that there is. */
	serve(&b, DISK_WRITE, 9000, 8);
	b.now += 50 * MS - 1;
	KUNIT_EXPECT_GE(test, serve(&b, DISK_FLUSH, 0, 0), 800 * US);
	serve(&b, DISK_WRITE, 9000, 8);
	b.now += 100 * MS;
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_FLUSH, 0, 0), 100 * US);
	stop(&b);
}

static void forced_write_goes_to_the_media(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 end;

	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	start(&b);
	end = serve_at(&b, DISK_WRITE, DISK_FUA, 5000, 8, 0, NULL);
	KUNIT_EXPECT_GE(test, end, 1 * MS);
	stop(&b);
}

/* Scattered writes fill the write segments; from then on each waits for the media. */
static void full_write_cache_waits(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 time = 0;
	u32 i;

	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	b.profile.destage_idle = SECOND;
	start(&b);
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 8037 * i, 8), 108 * US);
	for (; i < 14; i++)
		time += serve(&b, DISK_WRITE, 8037 * i, 8);
	KUNIT_EXPECT_GE(test, time, 10 * 800 * US);
	/* Four to choose from: better than a seek and half a revolution each */
	KUNIT_EXPECT_LE(test, time, 10 * 6 * MS);
	stop(&b);

	/* A stream is held to the media's pace: 900 sectors of 1000 must be written. */
	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	start(&b);
	for (i = 0, time = 0; i < 50; i++)
		time += serve(&b, DISK_WRITE, 20 * i, 20);
	KUNIT_EXPECT_GE(test, time, 90 * MS);
	KUNIT_EXPECT_LE(test, time, 130 * MS);
	stop(&b);
}

static struct kunit_case cache_cases[] = {
	KUNIT_CASE(second_read_hits),
	KUNIT_CASE(what_only_the_cache_saw_is_counted),
	KUNIT_CASE(what_is_overwritten_in_the_cache_is_counted),
	KUNIT_CASE(readahead_goes_on_while_idle),
	KUNIT_CASE(requested_sectors_leave_the_cache),
	KUNIT_CASE(readahead_ends_with_the_cylinder),
	KUNIT_CASE(sequential_reads_stream),
	KUNIT_CASE(write_back_is_done_with_the_bus),
	KUNIT_CASE(forced_write_goes_to_the_media),
	KUNIT_CASE(full_write_cache_waits),
	{}
};

static struct kunit_suite cache_suite = {
	.name = "cache",
	.test_cases = cache_cases,
};

kunit_test_suite(cache_suite);
