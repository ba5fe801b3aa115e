// SPDX-License-Identifier: GPL-2.0
/*
 * Streams through the whole modelled disk, queue and drive: a host that keeps some requests
 * outstanding gets what the media give, whatever their size and number.
 */
#include <kunit/test.h>

#include "../../model/host/disk.h"

#define MS		1000000ULL

#define TRACK		1000		/* sectors */
#define DEPTH		32
#define REQUESTS	400

/* A revolution takes 10 ms, a head switch 1 ms, a cylinder switch 2 ms: both skews leave room. */
static const char drive[] =
	"name=test;capacity=8000000;rpm=6000;heads=4;cylinders=2000;"
	"zone=0,1999,1000,8000000,100,200;seek=1,2ms;seek=100,5ms;seek=400,9ms;head_switch=1ms;"
	"bus_read=2us;bus_write=2us;overhead=100us;ncq_depth=32;"
	"segments=32;readahead=max;write_segments=16;write_settle=1ms;";

#define CACHE	"segment_sectors=1024;readahead_max=1024;"

static const char usual[] = CACHE "write_cache=back;settle_on_switch=no";

struct job {
	const char *options;		/* in place of the usual */
	enum disk_op op;
	u32 sectors;
	u32 gap;			/* sectors skipped after each request */
	u32 depth;
	u64 pause;			/* ns between a completion and the next request */
	u32 streams;			/* that take turns, 0: one */
	bool again;			/* all requests are for the same sectors */
};

static void make_profile(struct kunit *test, struct profile *profile, const char *options)
{
	static char text[sizeof(drive) + 200];	/* a kernel's stack is small */
	struct profile_error error;
	int n;

	n = snprintf(text, sizeof(text), "%s%s", drive,
		     options ?: usual);
	KUNIT_ASSERT_EQ_MSG(test, profile_parse(profile, text, n, &error), 0, "%s", error.text);
}

/* Time that a job's requests take, the first quarter of them left out. */
static u64 run(struct kunit *test, const struct job *job)
{
	static struct profile profile;	/* a kernel's stack is small */
	u64 now = 0, sector, begin = 0, next, at[DEPTH] = {};
	u32 streams = job->streams ?: 1;
	static struct disk_request requests[DEPTH];
	struct disk_submitter who = {};
	u32 sent = 0, done = 0, i;
	struct disk *disk;

	make_profile(test, &profile, job->options);
	disk = disk_create(&profile, NULL, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, disk);
	while (done < REQUESTS) {
		struct disk_request *request;

		for (i = 0; i < job->depth; i++) {
			if (at[i] > now || sent == REQUESTS)
				continue;
			KUNIT_ASSERT_TRUE(test, disk_enter(disk, &who, job->op, now));
			sector = div_u64(profile.sectors, streams) * (sent % streams);
			if (!job->again)
				sector += (u64)(sent / streams) * (job->sectors + job->gap);
			requests[i] = (struct disk_request) {
				.sector = sector, .sectors = job->sectors, .op = job->op,
				.flags = DISK_SYNC,
			};
			disk_submit(disk, &requests[i], now);
			at[i] = U64_MAX;
			sent++;
		}
		next = disk_next_event(disk);
		for (i = 0; i < job->depth; i++)
			if (at[i] > now)
				next = min(next, at[i]);
		now = max(now, next);
		for (request = disk_advance(disk, now); request; request = request->next) {
			at[request - requests] = request->completion + job->pause;
			if (++done == REQUESTS / 4)
				begin = request->completion;
		}
	}
	disk_destroy(disk);
	profile_free(&profile);
	return now - begin;
}

/* What the media need for these requests and the gaps between them: 45 ms for four tracks. */
static u64 media(const struct job *job)
{
	u64 sectors = (u64)(job->sectors + job->gap) * (REQUESTS - REQUESTS / 4);

	return div_u64(sectors * 45 * MS, 4 * TRACK);
}

static void expect_media(struct kunit *test, const struct job *job)
{
	u64 is = run(test, job), should = media(job);

	KUNIT_EXPECT_LE_MSG(test, is, should + should / 33,
			    "op %d of %u sectors, gap %u, depth %u, %s", job->op, job->sectors,
			    job->gap, job->depth, job->options ?: "");
}

static const u32 depths[] = { 1, 2, 4, 8, 32 };
static const u32 sizes[] = { 64, 128, 256, 1024, 2048, 4096 };

static void sequential_reads_get_the_media_rate_at_any_depth(struct kunit *test)
{
	struct job job = { .op = DISK_READ };
	u32 d, s;

	for (d = 0; d < ARRAY_SIZE(depths); d++) {
		for (s = 0; s < ARRAY_SIZE(sizes) && sizes[s] * depths[d] <= 32768; s++) {
			job.depth = depths[d];
			job.sectors = sizes[s];
			expect_media(test, &job);
		}
	}
}

static void sequential_writes_get_the_media_rate_at_any_depth(struct kunit *test)
{
	struct job job = { .op = DISK_WRITE };
	u32 d, s;

	for (d = 0; d < ARRAY_SIZE(depths); d++) {
		for (s = 0; s < ARRAY_SIZE(sizes) && sizes[s] * depths[d] <= 32768; s++) {
			job.depth = depths[d];
			job.sectors = sizes[s];
			expect_media(test, &job);
		}
	}
}

/* Skews that leave room for a switch only: with the settle on top each track costs a revolution. */
static void a_settle_on_every_switch_costs_a_revolution_a_track(struct kunit *test)
{
	struct job job = { .op = DISK_WRITE, .sectors = 256, .depth = 4,
			   .options = CACHE "write_cache=back;settle_on_switch=yes" };

	/* 40 tracks and more, 9 ms each for a revolution of 10 ms less the settle */
	KUNIT_EXPECT_GE(test, run(test, &job), media(&job) + 70 * 9 * MS);
}

static void reads_that_skip_a_gap_cost_what_the_span_costs(struct kunit *test)
{
	static const u32 gaps[] = { 1, 8, 32, 64, 128 };
	struct job job = { .op = DISK_READ, .sectors = 32 };
	u32 d, g;

	for (d = 0; d < 3; d++) {
		for (g = 0; g < ARRAY_SIZE(gaps); g++) {
			job.depth = depths[d];
			job.gap = gaps[g];
			expect_media(test, &job);
		}
	}
}

static void a_pause_never_makes_a_stream_faster(struct kunit *test)
{
	static const u64 pauses[] = { 20000, 50000, 100000, 1000000 };
	struct job job = { .op = DISK_READ, .sectors = 8, .depth = 1 };
	u64 without;
	u32 gap, i;

	for (gap = 0; gap <= 16; gap += 8) {
		job.gap = gap;
		job.pause = 0;
		without = run(test, &job);
		for (i = 0; i < ARRAY_SIZE(pauses); i++) {
			job.pause = pauses[i];
			KUNIT_EXPECT_GE(test, run(test, &job) + without / 50, without);
		}
	}
}

/* The command that waits is decoded, and its data come, while the head writes the one before. */
static void queued_writes_without_a_cache_go_in_one_pass(struct kunit *test)
{
	struct job job = { .op = DISK_WRITE,
			   .options = CACHE "write_cache=off;settle_on_switch=no" };
	u32 d, s;

	for (d = 1; d < ARRAY_SIZE(depths); d++) {
		for (s = 0; s < 4; s++) {
			job.depth = depths[d];
			job.sectors = sizes[s];
			expect_media(test, &job);
		}
	}
	/* One at a time each has just missed its place. */
	job.depth = 1;
	job.sectors = 64;
	KUNIT_EXPECT_GE(test, run(test, &job), REQUESTS * 3 / 4 * 10 * MS);
}

/* The electronics decode the next command while the bus carries the data of the one before. */
static void overhead_of_queued_hits_overlaps_the_bus(struct kunit *test)
{
	struct job job = { .op = DISK_READ, .sectors = 8, .depth = 4 };
	u64 hits;

	hits = run(test, &job);
	/* 100 us each and no more than the media's, but for the first ones */
	KUNIT_EXPECT_LE(test, hits, REQUESTS * 3 / 4 * 102000ULL + 20 * MS);
	job.depth = 1;
	KUNIT_EXPECT_GE(test, run(test, &job), REQUESTS * 3 / 4 * 116000ULL - 20 * MS);
}

/* Each gets enough read ahead to be worth the seek. */
static void streams_that_take_turns_share_half_of_the_rate(struct kunit *test)
{
	struct job job = { .op = DISK_READ, .sectors = 256, .depth = 1, .options =
			   "segment_sectors=4096;readahead_max=3072;readahead_stream=3072;"
			   "readahead_on_idle_hit=yes" };

	for (job.streams = 2; job.streams <= 16; job.streams *= 2)
		KUNIT_EXPECT_LE(test, run(test, &job), 2 * media(&job));
}

static void a_reader_slower_than_the_media_is_never_late(struct kunit *test)
{
	struct job job = { .op = DISK_READ, .sectors = 64, .depth = 1, .pause = 2 * MS, .options =
			   "segment_sectors=4096;readahead_max=3072;readahead_on_idle_hit=yes" };

	/* Each is a hit: overhead and bus. */
	KUNIT_EXPECT_LE(test, run(test, &job), REQUESTS * 3 / 4 * (2 * MS + 230000));
}

static void what_was_read_is_not_lost_to_its_own_read_ahead(struct kunit *test)
{
	struct job job = { .op = DISK_READ, .sectors = 256, .depth = 1, .again = true,
			   .pause = 30 * MS,
			   .options = "segment_sectors=4096;readahead_max=3072" };

	KUNIT_EXPECT_LE(test, run(test, &job), REQUESTS * 3 / 4 * (30 * MS + 613000));
	/* Nor where a segment has no room for both. Without the word it is, on each second time. */
	job.options = "segment_sectors=600;readahead_max=500;keep_requested=yes";
	KUNIT_EXPECT_LE(test, run(test, &job), REQUESTS * 3 / 4 * (30 * MS + 613000));
	job.options = "segment_sectors=600;readahead_max=500;keep_requested=no";
	KUNIT_EXPECT_GE(test, run(test, &job), REQUESTS * 3 / 4 * (32 * MS));
}

static struct kunit_case stream_cases[] = {
	KUNIT_CASE(sequential_reads_get_the_media_rate_at_any_depth),
	KUNIT_CASE(sequential_writes_get_the_media_rate_at_any_depth),
	KUNIT_CASE(a_settle_on_every_switch_costs_a_revolution_a_track),
	KUNIT_CASE(reads_that_skip_a_gap_cost_what_the_span_costs),
	KUNIT_CASE(a_pause_never_makes_a_stream_faster),
	KUNIT_CASE(queued_writes_without_a_cache_go_in_one_pass),
	KUNIT_CASE(overhead_of_queued_hits_overlaps_the_bus),
	KUNIT_CASE(streams_that_take_turns_share_half_of_the_rate),
	KUNIT_CASE(a_reader_slower_than_the_media_is_never_late),
	KUNIT_CASE(what_was_read_is_not_lost_to_its_own_read_ahead),
	{}
};

static struct kunit_suite stream_suite = {
	.name = "stream",
	.test_cases = stream_cases,
};

kunit_test_suite(stream_suite);
