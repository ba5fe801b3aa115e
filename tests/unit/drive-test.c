// SPDX-License-Identifier: GPL-2.0
/*
 * The drive against what can be worked out by hand, and against any profile and any
 * commands: times that add up, never run backwards, and repeat.
 */
#include <kunit/test.h>

#include "../../model/drive-internal.h"
#include "../../model/seek.h"
#include "random.h"

#ifdef __KERNEL__
#define COMMANDS	2000
#define PROFILES	10
#else
#define COMMANDS	20000
#define PROFILES	150
#endif

#define US		1000ULL
#define MS		(1000 * US)
#define SECOND		(1000 * MS)

/* Two zones of 200 cylinders, 4 heads, at 6000 rpm: a revolution takes 10 ms. */
#define HEADS		4
#define CYLINDERS	400
#define OUTER		100	/* sectors of a track */
#define INNER		50

struct bench {
	struct kunit *test;
	struct profile profile;
	struct profile_zone zones[2];
	struct profile_seek seeks[3];
	struct drive *drive;
	u64 now;
};

static void set_rpm(struct bench *b, u32 rpm)
{
	b->profile.rpm = rpm * 1000;
	b->profile.revolution = div_u64(60 * SECOND, rpm);
}

/* No cache, no overhead, a bus without end: mechanics only. */
static void prepare(struct bench *b, struct kunit *test)
{
	*b = (struct bench) {
		.test = test,
		.zones = {
			{ .first_cyl = 0, .last_cyl = CYLINDERS / 2 - 1,
			  .sectors_per_track = OUTER, .track_skew = 10, .cyl_skew = 20,
			  .sectors = CYLINDERS / 2 * HEADS * OUTER },
			{ .first_cyl = CYLINDERS / 2, .last_cyl = CYLINDERS - 1,
			  .sectors_per_track = INNER, .track_skew = 5, .cyl_skew = 10,
			  .first_sector = CYLINDERS / 2 * HEADS * OUTER,
			  .sectors = CYLINDERS / 2 * HEADS * INNER },
		},
		.seeks = { { 1, 1 * MS }, { 100, 5 * MS }, { 400, 9 * MS } },
		.profile = {
			.name = "test",
			.sectors = CYLINDERS / 2 * HEADS * (OUTER + INNER),
			.logical_block = 512,
			.physical_block = 512,
			.cylinders = CYLINDERS,
			.heads = HEADS,
			.nr_zones = 2,
			.nr_seeks = 3,
			.head_switch = 900 * US,
			.settle_on_switch = true,
			.ncq_depth = 1,
			.ncq_rotation = 1000,
			.ncq_rotation_stream = 1000,
		},
	};
	b->profile.zones = b->zones;
	b->profile.seeks = b->seeks;
	set_rpm(b, 6000);
}

/* A cache of 8 segments of 100 sectors, of which 4 may hold what was written. */
static void add_cache(struct bench *b)
{
	b->profile.segments = 8;
	b->profile.segment_sectors = 100;
	b->profile.write_segments = 4;
	b->profile.read_cache = true;
	b->profile.readahead = READAHEAD_MAX;
	b->profile.readahead_max = 64;
	b->profile.readahead_on_idle_hit = true;
	b->profile.combine_sequential_writes = true;
	b->profile.read_hits_on_write_data = true;
	b->profile.write_hit_stops_prefetch = true;
	b->profile.bus_read = US;
	b->profile.bus_write = US;
	b->profile.overhead = 100 * US;
}

static void start(struct bench *b)
{
	b->drive = drive_create(&b->profile, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(b->test, b->drive);
	b->now = 0;
}

static void stop(struct bench *b)
{
	drive_destroy(b->drive);
}

static u64 serve_at(struct bench *b, enum disk_op op, unsigned int flags, u64 sector,
		    u32 sectors, u64 now, struct drive_parts *parts)
{
	const struct drive_command command = {
		.sector = sector, .sectors = sectors, .op = op, .flags = flags, .arrived = now,
	};

	return drive_serve(b->drive, &command, now, parts);
}

static u64 access_at(struct bench *b, enum disk_op op, unsigned int flags, u64 sector, u32 sectors,
		     u64 now)
{
	const struct drive_command command = {
		.sector = sector, .sectors = sectors, .op = op, .flags = flags, .arrived = now,
	};

	return drive_access_time(b->drive, &command, now);
}

/* Serves one command and lets the clock go to its end. Returns how long it took. */
static u64 serve(struct bench *b, enum disk_op op, u64 sector, u32 sectors)
{
	struct drive_parts parts;
	u64 begin = b->now;

	b->now = serve_at(b, op, 0, sector, sectors, begin, &parts);
	KUNIT_ASSERT_GE(b->test, b->now, begin);
	KUNIT_ASSERT_EQ(b->test, parts.overhead + parts.seek + parts.rotation + parts.transfer,
			b->now - begin);
	return b->now - begin;
}

/* A zone passes at a revolution for each track, and a skew for each switch. */
static void sequential_rate_is_tracks_less_switches(struct kunit *test)
{
	struct bench b;
	u32 z;

	for (z = 0; z < 2; z++) {
		const u32 tracks = 40, cylinders = tracks / HEADS;
		u32 spt = z ? INNER : OUTER;
		u64 skews, got;

		prepare(&b, test);
		start(&b);
		/* First the sector before, so that the head is where the transfer begins. */
		serve(&b, DISK_READ, b.zones[z].first_sector, spt);
		got = serve(&b, DISK_READ, b.zones[z].first_sector + spt, tracks * spt);
		skews = (u64)tracks * b.zones[z].track_skew +
			(u64)cylinders * (b.zones[z].cyl_skew - b.zones[z].track_skew);
		KUNIT_EXPECT_EQ(test, got, tracks * b.profile.revolution +
				div_u64(skews * b.profile.revolution, spt));
		stop(&b);
	}
}

/* Mean seek over all pairs of cylinders of the outer zone, drawn as the reads draw them. */
static void random_reads_cost_seek_and_half_a_revolution(struct kunit *test)
{
	u64 sum = 0, expected = 0, mean;
	struct rnd rnd = { 1 };
	u32 last = 0, i;
	struct bench b;

	prepare(&b, test);
	b.profile.overhead = 300 * US;
	b.profile.bus_read = 20 * US;
	start(&b);
	for (i = 0; i < COMMANDS; i++) {
		u32 sector = rnd_below(&rnd, CYLINDERS / 2 * HEADS * OUTER);
		u32 cylinder = sector / (HEADS * OUTER), head = sector / OUTER % HEADS;
		u32 last_cylinder = last / (HEADS * OUTER), last_head = last / OUTER % HEADS;

		b.now += rnd_below(&rnd, 10 * MS);
		sum += serve(&b, DISK_READ, sector, 1);
		expected += seek_reposition(&b.profile, cylinder > last_cylinder ?
					    cylinder - last_cylinder : last_cylinder - cylinder,
					    head != last_head, false);
		last = sector;
	}
	/* overhead, half a revolution, one sector of media and of bus */
	mean = div_u64(expected, COMMANDS) + 300 * US + 5 * MS + 100 * US + 20 * US;
	sum = div_u64(sum, COMMANDS);
	KUNIT_EXPECT_LE(test, sum, mean + mean / 50);
	KUNIT_EXPECT_GE(test, sum, mean - mean / 50);
	stop(&b);
}

/*
 * Without a cache the next sector has just passed when the next command comes: each takes
 * a revolution and its own transfer, one that writes the same again a revolution sharp.
 */
static void without_cache_each_command_takes_a_revolution(struct kunit *test)
{
	enum disk_op op;
	struct bench b;
	u32 i;

	for (op = DISK_READ; op <= DISK_WRITE; op++) {
		prepare(&b, test);
		b.profile.overhead = 500 * US;
		start(&b);
		serve(&b, op, 0, 8);
		for (i = 1; i < 12; i++)
			KUNIT_EXPECT_EQ(test, serve(&b, op, 8 * i, 8), 10 * MS + 8 * 100 * US);
		for (i = 1; i < 12; i++)
			KUNIT_EXPECT_EQ(test, serve(&b, op, 88, 8), 10 * MS);
		stop(&b);
	}
}

static u64 random_work(struct bench *b, enum disk_op op)
{
	struct rnd rnd = { 5 };
	u32 i;

	start(b);
	for (i = 0; i < COMMANDS / 4; i++)
		serve(b, op, rnd_below(&rnd, b->profile.sectors - 8), 8);
	stop(b);
	return b->now;
}

static void faster_spindle_is_faster(struct kunit *test)
{
	u64 before = U64_MAX, time;
	struct bench b;
	u32 rpm;

	for (rpm = 3600; rpm <= 15000; rpm += 1900) {
		prepare(&b, test);
		set_rpm(&b, rpm);
		time = random_work(&b, DISK_READ);
		KUNIT_EXPECT_LE(test, time + 1, before);
		before = time;
	}
}

static void slower_seek_and_settle_are_slower(struct kunit *test)
{
	u64 before = 0, time;
	struct bench b;
	u32 factor, i;

	for (factor = 1; factor <= 4; factor++) {
		prepare(&b, test);
		for (i = 0; i < 3; i++)
			b.seeks[i].ns *= factor;
		time = random_work(&b, DISK_READ);
		KUNIT_EXPECT_GE(test, time, before + 1);
		before = time;
	}
	for (before = 0, i = 0; i < 4; i++) {
		prepare(&b, test);
		b.profile.write_settle = (s64)i * 2 * MS - 1 * (s64)MS;
		time = random_work(&b, DISK_WRITE);
		KUNIT_EXPECT_GE(test, time, before + 1);
		before = time;
	}
}

static void seeks_go_through_their_table_and_past_it(struct kunit *test)
{
	struct bench b;

	prepare(&b, test);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 1), 1 * MS);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 100), 5 * MS);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 250), 7 * MS);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 550), 11 * MS);
	b.profile.nr_seeks = 0;
	b.profile.seek_short_base = 2 * MS;
	b.profile.seek_short_factor = 100 * US;
	b.profile.seek_long_base = 3 * MS;
	b.profile.seek_long_factor = 10 * MS;	/* picoseconds: 10 us a cylinder */
	b.profile.seek_limit = 200;
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 144), 3200 * US);
	KUNIT_EXPECT_EQ(test, seek_time(&b.profile, 200), 5 * MS);
	/* A head switch hides in a seek, and the settle comes after either. */
	b.profile.write_settle = 300 * US;
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 0, false, true), 0ULL);
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 0, true, false), 900 * US);
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 144, true, true), 3500 * US);
	b.profile.write_settle = -1000 * (s64)US;
	KUNIT_EXPECT_EQ(test, seek_reposition(&b.profile, 0, true, true), 0ULL);
}

static void second_read_hits(struct kunit *test)
{
	struct bench b;

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
	struct bench b;
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

/* Sectors that the host has cannot be hit again; those read ahead can, and are then dropped. */
static void requested_sectors_leave_the_cache(struct kunit *test)
{
	const u64 hit = 101 * US;	/* of one sector */
	struct bench b;
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
	struct bench b;

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
	struct bench b;
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
	struct bench b;
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
	struct bench b;
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
	struct bench b;
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

/* The buffer is full by bytes: short writes fill it by their own size. */
static void a_write_buffer_takes_as_many_writes_as_fit(struct kunit *test)
{
	struct bench b;
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

/* The first of @nr sorted runs that ends behind @sector; NULL if none. */
static const struct run *naive_behind(const struct run *const *sorted, u32 nr, u64 sector)
{
	u32 i;

	for (i = 0; i < nr; i++)
		if (sorted[i]->segment.end > sector)
			return sorted[i];
	return NULL;
}

static void check_runs(struct kunit *test, const struct run_list *list,
		       const struct run *const *sorted, u32 nr, u64 sector)
{
	struct run_at at = run_list_behind(list, sector);
	u32 i;

	KUNIT_ASSERT_EQ(test, list->nr, nr);
	KUNIT_ASSERT_TRUE(test, run_list_get(list, &at) == naive_behind(sorted, nr, sector));
	for (at = (struct run_at) { }, i = 0; i < nr; i++, at.i++)
		KUNIT_ASSERT_TRUE(test, run_list_get(list, &at) == sorted[i]);
	KUNIT_ASSERT_TRUE(test, !run_list_get(list, &at));
}

/* With as few chunks as will do, so that they are packed, too. */
static void runs_stay_in_order_however_they_come_and_go(struct kunit *test)
{
	struct run *pool = kvcalloc(RUNS, sizeof(*pool), GFP_KERNEL);
	const struct run **sorted = kvcalloc(RUNS, sizeof(*sorted), GFP_KERNEL);
	void *memory = kvzalloc(run_list_bytes(RUNS), GFP_KERNEL);
	struct run_list list = { };
	struct rnd rnd = { 13 };
	u32 round, i, k, nr = 0;
	struct run_at at;

	KUNIT_ASSERT_TRUE(test, pool && sorted && memory);
	run_list_init(&list, pool, RUNS, memory);
	list.most_chunks = DIV_ROUND_UP(RUNS, RUN_CHUNK) + 1;
	for (round = 0; round < COMMANDS; round++) {
		/* Grow for a while, then shrink; in places here and there. */
		bool grow = round / 400 % 2 ? rnd_below(&rnd, 4) == 0 : rnd_below(&rnd, 4) != 0;
		u64 sector = 10 * (rnd_below(&rnd, 200) + 200 * (round / 100 % 50));

		for (i = 0; i < nr && run_begin(sorted[i]) < sector; i++)
			;
		if (grow && nr < RUNS && (i == nr || run_begin(sorted[i]) != sector)) {
			for (k = 0; pool[k].segment.dirty; k++)
				;
			pool[k].i = k;
			pool[k].segment.dirty = 1 + rnd_below(&rnd, 9);
			pool[k].segment.end = sector + pool[k].segment.dirty;
			run_list_insert(&list, run_list_behind(&list, sector), &pool[k]);
			memmove(&sorted[i + 1], &sorted[i], (nr++ - i) * sizeof(*sorted));
			sorted[i] = &pool[k];
		} else if (!grow && i < nr) {
			pool[sorted[i]->i].segment.dirty = 0;
			at = run_list_behind(&list, sector);
			run_list_get(&list, &at);
			run_list_remove(&list, at);
			memmove(&sorted[i], &sorted[i + 1], (--nr - i) * sizeof(*sorted));
		}
		if (round % 7 == 0)
			check_runs(test, &list, sorted, nr, rnd_below(&rnd, 100000));
	}
	kvfree(pool);
	kvfree(sorted);
	kvfree(memory);
}

/* The choice goes outwards from the arm and stops early; the naive one looks at every run. */
static void the_nearest_run_is_that_of_all_runs(struct kunit *test)
{
	struct rnd rnd = { 12 };
	struct bench b;
	u32 round;

	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	b.profile.write_buffer = 10000;
	b.profile.write_segments = 200;
	b.profile.destage_idle = SECOND;
	start(&b);
	for (round = 0; round < COMMANDS / 100; round++) {
		const struct run_list *runs = &b.drive->writes->runs;
		u64 seek, wait, best = U64_MAX, got;
		const struct run *nearest, *run;
		struct run_at at;
		struct place place;

		serve(&b, DISK_WRITE, rnd_below(&rnd, b.profile.sectors - 8), 8);
		b.now += rnd_below(&rnd, MS);
		for (at = (struct run_at) { }; (run = run_list_get(runs, &at)); at.i++) {
			geometry_find(b.drive->media.geometry, run->segment.start, &place);
			media_access(&b.drive->media, &place, true, b.now, 0, &seek, &wait);
			best = min(best, seek + wait);
		}
		nearest = (void *)write_buffer_nearest(b.drive->writes, &b.drive->media, b.now);
		geometry_find(b.drive->media.geometry, nearest->segment.start, &place);
		media_access(&b.drive->media, &place, true, b.now, 0, &seek, &wait);
		got = seek + wait;
		KUNIT_EXPECT_EQ(test, got, best);
	}
	stop(&b);
}

/* Part of a physical block is read before it can be written: a revolution more. */
static void a_write_of_part_of_a_block_costs_a_revolution(struct kunit *test)
{
	static const struct { u64 sector; u32 sectors; bool part; } writes[] = {
		{ 24, 8, false }, { 24, 1, true }, { 25, 8, true }, { 24, 16, false },
		{ 24, 12, true }, { 28, 20, true },
	};
	struct bench b;
	u64 whole, time;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		prepare(&b, test);
		start(&b);
		whole = serve(&b, DISK_WRITE, writes[i].sector, writes[i].sectors);
		stop(&b);
		prepare(&b, test);
		b.profile.physical_block = 4096;
		start(&b);
		time = serve(&b, DISK_WRITE, writes[i].sector, writes[i].sectors);
		stop(&b);
		KUNIT_EXPECT_EQ(test, time, whole + (writes[i].part ? 10 * MS : 0));
	}
}

/* A stream of short writes is written in whole blocks, but for its two ends. */
static void a_stream_that_is_not_aligned_is_written_in_whole_blocks(struct kunit *test)
{
	u64 time[2] = {};
	struct bench b;
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

/* What shortest access first compares is what the mechanics then need. */
static void access_time_is_what_the_mechanics_need(struct kunit *test)
{
	struct rnd rnd = { 9 };
	struct bench b;
	u32 i;

	prepare(&b, test);
	b.profile.overhead = 70 * US;
	b.profile.write_settle = 400 * US;
	start(&b);
	for (i = 0; i < COMMANDS / 10; i++) {
		enum disk_op op = rnd_below(&rnd, 2) ? DISK_READ : DISK_WRITE;
		u64 sector = rnd_below(&rnd, b.profile.sectors), estimate;
		u64 transfer = sector < b.zones[1].first_sector ? 100 * US : 200 * US;

		b.now += rnd_below(&rnd, 3 * MS);
		estimate = access_at(&b, op, 0, sector, 1, b.now);
		KUNIT_EXPECT_EQ(test, serve(&b, op, sector, 1), estimate + transfer);
	}
	stop(&b);
}

/*
 * Nor does the drive miss what it counted on beside its cache: read-ahead ends with a sector, and
 * a forced write needs the arm however much room there is.
 */
static void nothing_takes_longer_than_the_access_time_said(struct kunit *test)
{
	struct rnd rnd = { 10 };
	u64 last = 0;
	struct bench b;
	u32 i;

	prepare(&b, test);
	add_cache(&b);
	b.profile.write_cache = WRITE_CACHE_BACK;
	b.profile.nr_zones = 1;
	b.profile.sectors = b.zones[0].sectors;
	start(&b);
	for (i = 0; i < COMMANDS; i++) {
		enum disk_op op = rnd_below(&rnd, 4) ? DISK_READ : DISK_WRITE;
		u64 sector = last + rnd_below(&rnd, 200), begin, estimate;

		if (!rnd_below(&rnd, 3) || sector >= b.profile.sectors)
			sector = rnd_below(&rnd, b.profile.sectors);
		if (!rnd_below(&rnd, 4))
			b.now += rnd_below(&rnd, 3 * MS);
		begin = b.now;
		estimate = access_at(&b, op, DISK_FUA, sector, 1, begin);
		b.now = serve_at(&b, op, DISK_FUA, sector, 1, begin, NULL);
		last = sector;
		/* A hit waits for its overhead. Read-ahead's switches are not counted. */
		estimate = max(estimate, 100 * US);
		KUNIT_EXPECT_LE(test, b.now - begin, estimate + 2 * MS + 101 * US);
	}
	stop(&b);
}

/* What it does not know of the angle counts as half a revolution. */
static void a_drive_knows_the_angle_in_part(struct kunit *test)
{
	struct drive_command command = { .sector = 20, .sectors = 1, .op = DISK_READ };
	u64 exact, half, none, stream;
	struct bench b;

	prepare(&b, test);
	start(&b);
	exact = drive_access_time(b.drive, &command, 0);
	b.profile.ncq_rotation = 500;
	half = drive_access_time(b.drive, &command, 0);
	command.stream = true;
	KUNIT_EXPECT_EQ(test, drive_access_time(b.drive, &command, 0), half);
	b.profile.ncq_rotation_stream = 0;
	stream = drive_access_time(b.drive, &command, 0);
	b.profile.ncq_rotation = 0;
	command.stream = false;
	none = drive_access_time(b.drive, &command, 0);
	KUNIT_EXPECT_NE(test, exact, none);
	KUNIT_EXPECT_EQ(test, none, b.profile.revolution / 2);
	KUNIT_EXPECT_EQ(test, half, (exact + none) / 2);
	KUNIT_EXPECT_EQ(test, stream, none);
	stop(&b);
}

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
}

/* Runs are in order of place, do not touch, and sum up to what the buffer says. */
static void check_write_buffer(struct bench *b)
{
	const struct write_buffer *writes = b->drive->writes;
	const struct segment *written = b->drive->destage.segment;
	u64 sum = written ? written->dirty : 0, free = 0;
	const struct run *run;
	struct run_at at = { };
	u32 n = 0;

	for (; (run = run_list_get(&writes->runs, &at)); at.i++) {
		const struct segment *s = &run->segment;

		KUNIT_ASSERT_EQ(b->test, s->start + s->dirty, s->end);
		KUNIT_ASSERT_LE(b->test, 1ULL, s->dirty);
		KUNIT_ASSERT_LE(b->test, s->end, b->profile.sectors);
		KUNIT_ASSERT_LE(b->test, free, s->start);
		free = s->end + 1;
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
		KUNIT_ASSERT_EQ(b->test, parts.overhead + parts.seek + parts.rotation +
				parts.transfer, b->now - begin);
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
	struct bench b;
	u64 seed;
	u32 i;

	for (i = 0; i < PROFILES; i++) {
		prepare(&b, test);
		random_profile(&b, &rnd);
		seed = rnd_next(&rnd);
		KUNIT_EXPECT_EQ(test, random_commands(&b, seed), random_commands(&b, seed));
	}
}

static struct kunit_case drive_cases[] = {
	KUNIT_CASE(sequential_rate_is_tracks_less_switches),
	KUNIT_CASE(random_reads_cost_seek_and_half_a_revolution),
	KUNIT_CASE(without_cache_each_command_takes_a_revolution),
	KUNIT_CASE(faster_spindle_is_faster),
	KUNIT_CASE(slower_seek_and_settle_are_slower),
	KUNIT_CASE(seeks_go_through_their_table_and_past_it),
	KUNIT_CASE(second_read_hits),
	KUNIT_CASE(readahead_goes_on_while_idle),
	KUNIT_CASE(requested_sectors_leave_the_cache),
	KUNIT_CASE(readahead_ends_with_the_cylinder),
	KUNIT_CASE(sequential_reads_stream),
	KUNIT_CASE(write_back_is_done_with_the_bus),
	KUNIT_CASE(forced_write_goes_to_the_media),
	KUNIT_CASE(full_write_cache_waits),
	KUNIT_CASE(a_write_buffer_takes_as_many_writes_as_fit),
	KUNIT_CASE(runs_stay_in_order_however_they_come_and_go),
	KUNIT_CASE(the_nearest_run_is_that_of_all_runs),
	KUNIT_CASE(a_write_of_part_of_a_block_costs_a_revolution),
	KUNIT_CASE(a_stream_that_is_not_aligned_is_written_in_whole_blocks),
	KUNIT_CASE(access_time_is_what_the_mechanics_need),
	KUNIT_CASE(nothing_takes_longer_than_the_access_time_said),
	KUNIT_CASE(a_drive_knows_the_angle_in_part),
	KUNIT_CASE(any_profile_serves_any_commands_and_repeats),
	{}
};

static struct kunit_suite drive_suite = {
	.name = "drive",
	.test_cases = drive_cases,
};

kunit_test_suite(drive_suite);
