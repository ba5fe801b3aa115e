// SPDX-License-Identifier: GPL-2.0
/* The drive's mechanics, against what can be worked out by hand. */
#include <kunit/test.h>

#include "../../model/drive/seek.h"
#include "drive-bench.h"

/* A zone passes at a revolution for each track, and a skew for each switch. */
static void sequential_rate_is_tracks_less_switches(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
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
	static struct bench b;	/* the kernel's stack is small */

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
	static struct bench b;	/* the kernel's stack is small */
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
	static struct bench b;	/* the kernel's stack is small */
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
	static struct bench b;	/* the kernel's stack is small */
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

/* The least and the most that the second command takes, of whatever angle it finds. */
static void at_any_angle(struct bench *b, const enum disk_op *ops, u32 sectors, u64 *least,
			 u64 *most)
{
	u64 time;
	u32 angle;

	*least = U64_MAX;
	*most = 0;
	for (angle = 0; angle < OUTER; angle++) {
		start(b);
		serve(b, ops[0], 0, 8);
		b->now = 40 * MS + angle * 100 * US;
		time = serve(b, ops[1], 0, sectors);
		*least = min(*least, time);
		*most = max(*most, time);
		stop(b);
	}
}

/* What a read takes only after another read is in the arm's way, unless the bus is held. */
static void a_held_bus_hides_what_a_read_takes_after_a_read(struct kunit *test)
{
	static const enum disk_op after_read[] = { DISK_READ, DISK_READ };
	static const enum disk_op after_write[] = { DISK_WRITE, DISK_READ };
	static struct bench b;	/* the kernel's stack is small */
	u64 least, most;

	prepare(&b, test);
	b.profile.overhead_by_kind[KIND_READ_MISS][0] = 3 * MS;
	b.profile.overhead_by_kind[KIND_READ_MISS][1] = 1 * MS;
	at_any_angle(&b, after_read, 8, &least, &most);
	KUNIT_EXPECT_EQ(test, least, 3 * MS + 800 * US);
	KUNIT_EXPECT_EQ(test, most, 3 * MS + 800 * US + 9900 * US);
	b.profile.hold_bus_read = true;
	at_any_angle(&b, after_read, 8, &least, &most);
	KUNIT_EXPECT_EQ(test, least, 3 * MS);
	KUNIT_EXPECT_EQ(test, most, 1 * MS + 800 * US + 9900 * US);
	at_any_angle(&b, after_write, 8, &least, &most);
	KUNIT_EXPECT_EQ(test, least, 1 * MS + 800 * US);
	/* If a read takes less after a read, then the arm has it then. */
	b.profile.overhead_by_kind[KIND_READ_MISS][0] = 500 * US;
	at_any_angle(&b, after_read, 8, &least, &most);
	KUNIT_EXPECT_EQ(test, least, 500 * US + 800 * US);
}

/* A write begins when three in four of its sectors are there, or when the rest comes in time. */
static void a_write_begins_before_all_of_it_has_come(struct kunit *test)
{
	static const struct { u32 sectors; u64 bus, begins; } writes[] = {
		{ 40, 80 * US, 30 * 80 * US },
		{ 40, 200 * US, 30 * 200 * US },
		{ 1, 200 * US, 200 * US },
		{ 7, 200 * US, 6 * 200 * US },
		{ 4, 900 * US, 4 * 900 * US - 3 * 100 * US },
	};
	static const enum disk_op ops[] = { DISK_READ, DISK_WRITE };
	static struct bench b;	/* the kernel's stack is small */
	u64 least, most;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(writes); i++) {
		prepare(&b, test);
		b.profile.segments = 1;
		b.profile.segment_sectors = 256;
		b.profile.bus_write = writes[i].bus;
		at_any_angle(&b, ops, writes[i].sectors, &least, &most);
		KUNIT_EXPECT_EQ(test, least, writes[i].begins + writes[i].sectors * 100 * US);
		KUNIT_EXPECT_EQ(test, most, least + 9900 * US);
	}
}

/* Part of a physical block is read before it can be written: a revolution more. */
static void a_write_of_part_of_a_block_costs_a_revolution(struct kunit *test)
{
	static const struct { u64 sector; u32 sectors; bool part; } writes[] = {
		{ 24, 8, false }, { 24, 1, true }, { 25, 8, true }, { 24, 16, false },
		{ 24, 12, true }, { 28, 20, true },
	};
	static struct bench b;	/* the kernel's stack is small */
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

static struct kunit_case drive_cases[] = {
	KUNIT_CASE(sequential_rate_is_tracks_less_switches),
	KUNIT_CASE(random_reads_cost_seek_and_half_a_revolution),
	KUNIT_CASE(without_cache_each_command_takes_a_revolution),
	KUNIT_CASE(faster_spindle_is_faster),
	KUNIT_CASE(slower_seek_and_settle_are_slower),
	KUNIT_CASE(a_held_bus_hides_what_a_read_takes_after_a_read),
	KUNIT_CASE(a_write_begins_before_all_of_it_has_come),
	KUNIT_CASE(a_write_of_part_of_a_block_costs_a_revolution),
	{}
};

static struct kunit_suite drive_suite = {
	.name = "drive",
	.test_cases = drive_cases,
};

kunit_test_suite(drive_suite);
