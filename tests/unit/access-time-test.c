// SPDX-License-Identifier: GPL-2.0
/* What shortest access first compares: is it what serving the command then takes? */
#include <kunit/test.h>

#include "drive-bench.h"

/* What shortest access first compares is what the mechanics then need. */
static void access_time_is_what_the_mechanics_need(struct kunit *test)
{
	struct rnd rnd = { 9 };
	static struct bench b;	/* the kernel's stack is small */
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
	static struct bench b;	/* the kernel's stack is small */
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

/* With a limit the time is the same, or neither is below the limit. */
static void access_times_below_a_limit_are_exact(struct kunit *test)
{
	struct rnd rnd = { 14 };
	static struct bench b;	/* the kernel's stack is small */
	u32 i, below = 0;

	prepare(&b, test);
	add_cache(&b);
	start(&b);
	for (i = 0; i < COMMANDS; i++) {
		struct drive_command command = {
			.sector = rnd_below(&rnd, b.profile.sectors - 8), .sectors = 8,
			.op = rnd_below(&rnd, 4) ? DISK_READ : DISK_WRITE, .arrived = b.now,
			.stream = rnd_below(&rnd, 2),
		};
		u64 limit = 1 + rnd_below(&rnd, 20 * MS), exact, time;

		b.profile.ncq_rotation = 100 * rnd_below(&rnd, 11);
		drive_locate(b.drive, &command);
		exact = drive_access_time(b.drive, &command, b.now, U64_MAX);
		time = drive_access_time(b.drive, &command, b.now, limit);
		if (time < limit || exact < limit)
			KUNIT_ASSERT_EQ(test, time, exact);
		below += time < limit;
		serve(&b, command.op, command.sector, command.sectors);
	}
	KUNIT_EXPECT_LE(test, COMMANDS / 10, below);
	KUNIT_EXPECT_LE(test, below, COMMANDS * 9 / 10);
	stop(&b);
}

/* What it does not know of the angle counts as half a revolution. */
static void a_drive_knows_the_angle_in_part(struct kunit *test)
{
	struct drive_command command = { .sector = 20, .sectors = 1, .op = DISK_READ };
	u64 exact, half, none, stream;
	static struct bench b;	/* the kernel's stack is small */

	prepare(&b, test);
	start(&b);
	drive_locate(b.drive, &command);
	exact = drive_access_time(b.drive, &command, 0, U64_MAX);
	b.profile.ncq_rotation = 500;
	half = drive_access_time(b.drive, &command, 0, U64_MAX);
	command.stream = true;
	KUNIT_EXPECT_EQ(test, drive_access_time(b.drive, &command, 0, U64_MAX), half);
	b.profile.ncq_rotation_stream = 0;
	stream = drive_access_time(b.drive, &command, 0, U64_MAX);
	b.profile.ncq_rotation = 0;
	command.stream = false;
	none = drive_access_time(b.drive, &command, 0, U64_MAX);
	KUNIT_EXPECT_NE(test, exact, none);
	KUNIT_EXPECT_EQ(test, none, b.profile.revolution / 2);
	KUNIT_EXPECT_EQ(test, half, (exact + none) / 2);
	KUNIT_EXPECT_EQ(test, stream, none);
	stop(&b);
}

static struct kunit_case access_time_cases[] = {
	KUNIT_CASE(access_time_is_what_the_mechanics_need),
	KUNIT_CASE(nothing_takes_longer_than_the_access_time_said),
	KUNIT_CASE(access_times_below_a_limit_are_exact),
	KUNIT_CASE(a_drive_knows_the_angle_in_part),
	{}
};

static struct kunit_suite access_time_suite = {
	.name = "access-time",
	.test_cases = access_time_cases,
};

kunit_test_suite(access_time_suite);
