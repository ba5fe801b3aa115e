/* SPDX-License-Identifier: GPL-2.0 */
/* A small drive to be tried, its clock, and commands to it. */
#ifndef UNIT_DRIVE_BENCH_H
#define UNIT_DRIVE_BENCH_H

#include <kunit/test.h>

#include "../../model/drive/drive-internal.h"
#include "random.h"

#ifdef __KERNEL__
#define COMMANDS	2000
#else
#define COMMANDS	20000
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

static inline void set_rpm(struct bench *b, u32 rpm)
{
	b->profile.rpm = rpm * 1000;
	b->profile.revolution = div_u64(60 * SECOND, rpm);
}

/* No cache, no overhead, a bus without end: mechanics only. */
static inline void prepare(struct bench *b, struct kunit *test)
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
static inline void add_cache(struct bench *b)
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

static inline void start(struct bench *b)
{
	b->drive = drive_create(&b->profile, NULL, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(b->test, b->drive);
	b->now = 0;
}

static inline void stop(struct bench *b)
{
	drive_destroy(b->drive);
}

static inline u64 serve_at(struct bench *b, enum disk_op op, unsigned int flags, u64 sector,
			   u32 sectors, u64 now, struct drive_parts *parts)
{
	const struct drive_command command = {
		.sector = sector, .sectors = sectors, .op = op, .flags = flags, .arrived = now,
	};

	return drive_serve(b->drive, &command, now, parts);
}

static inline u64 access_at(struct bench *b, enum disk_op op, unsigned int flags, u64 sector,
			    u32 sectors, u64 now)
{
	struct drive_command command = {
		.sector = sector, .sectors = sectors, .op = op, .flags = flags, .arrived = now,
	};

	drive_locate(b->drive, &command);
	return drive_access_time(b->drive, &command, now, U64_MAX);
}

/* Serves one command and lets the clock go to its end. Returns how long it took. */
static inline u64 serve(struct bench *b, enum disk_op op, u64 sector, u32 sectors)
{
	struct drive_parts parts;
	u64 begin = b->now;

	b->now = serve_at(b, op, 0, sector, sectors, begin, &parts);
	KUNIT_ASSERT_GE(b->test, b->now, begin);
	KUNIT_ASSERT_EQ(b->test, drive_parts_total(&parts), b->now - begin);
	return b->now - begin;
}

#endif
