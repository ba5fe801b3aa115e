// SPDX-License-Identifier: GPL-2.0
/* SSDs and disks with zones, and the host in front of them: times that can be told beforehand. */
#include "../../model/flash/ftl.h"
#include "random.h"
#include "worded-disk.h"

#define US		1000ULL
#define MS		1000000ULL

/* 4 KiB go over the link in 2 us. Each die has a channel: a unit of 16 KiB takes 40 us and 600. */
#define ZNS	ZNS_OF("nvme")
#define ZNS_OF(host)								\
	"name=t;kind=ssd;host=" host ";nr_requests=512;max_sectors=64sectors;"	\
	"capacity=64MiB;gc_unit=1MiB;power_loss_protection=yes;write_cache=back;" \
	"zone_size=4MiB;zone_capacity=3MiB;zone_append_limit=64sectors;"	\
	"link_rate=2048MB/s;command_time=1us;append_command_time=4us;"		\
	"read_latency=5us;write_latency=3us;flush_overhead=7us;"		\
	"dies=4;channels=4;channel_rate=409.6MB/s;read_time=50us;page_types=1;"	\
	"flash_page=16384B;program_unit=16384B;program_time=600us;erase_time=2ms;" \
	"write_buffer=8MiB;"
#define PROGRAM		(640 * US)
#define UNIT		32		/* sectors */
#define ZONE		8192ULL		/* sectors from one zone to the next */
#define CAPACITY	6144U
#define WRITE_4K	(1 * US + 2 * US + 3 * US)
#define READ_4K		(1 * US + 50 * US + 10 * US + 2 * US + 5 * US)

/* Static in the tests: a kernel's stack is small. */
struct rig {
	struct kunit *test;
	struct profile profile;
	struct disk *disk;
	struct disk_submitter who;
	u64 now;
};

static void prepare(struct rig *rig, struct kunit *test, const char *drive, const char *words)
{
	memset(rig, 0, sizeof(*rig));
	rig->test = test;
	rig->disk = disk_of_words(test, &rig->profile, drive, words);
}

static void done(struct rig *rig)
{
	disk_destroy(rig->disk);
	profile_free(&rig->profile);
}

static void submit(struct rig *rig, struct disk_request *request, enum disk_op op, u8 flags,
		   u64 sector, u32 sectors)
{
	*request = (struct disk_request) {
		.op = op, .sector = sector, .sectors = sectors, .flags = DISK_SYNC | flags,
	};
	if (!disk_merges(rig->disk, request, rig->now))
		KUNIT_EXPECT_TRUE(rig->test, disk_enter(rig->disk, &rig->who, op, rig->now));
	disk_submit(rig->disk, request, rig->now);
}

/* Until nothing is under way. */
static void finish(struct rig *rig)
{
	u64 next;

	while ((next = disk_next_event(rig->disk)) != U64_MAX) {
		rig->now = max(rig->now, next);
		disk_advance(rig->disk, next);
	}
}

static u64 time_of(struct rig *rig, enum disk_op op, u8 flags, u64 sector, u32 sectors)
{
	struct disk_request request;

	submit(rig, &request, op, flags, sector, sectors);
	finish(rig);
	KUNIT_EXPECT_EQ(rig->test, drive_parts_total(&request.parts),
			request.completion - request.dispatch);
	return request.completion - request.arrival;
}

static void each_command_takes_its_words(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, ZNS, "zone_implicit_open_time=11us;zone_open_time=13us;"
		"zone_close_time=17us;buffer_reads=yes;");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, DISK_OPENS, 0, 8), WRITE_4K + 11 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 0, 8, 8), WRITE_4K);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, DISK_APPEND, 16, 8), WRITE_4K + 3 * US);
	/* Less than a unit, which waits in the buffer for the rest, however long that takes. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 16, 8), 1 * US + 2 * US + 5 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 0, 24, 8), WRITE_4K);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 24, 8), 1 * US + 2 * US + 5 * US);
	rig.now += PROGRAM;
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 24, 8), READ_4K);
	/* Above the pointer there is nothing to be read. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 32, 8), 1 * US + 2 * US + 5 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0, 0), 1 * US + 7 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_OPEN, 0, ZONE, 0), 1 * US + 13 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_CLOSE, 0, ZONE, 0), 1 * US + 17 * US);
	done(&rig);
}

static void fill_zone(struct rig *rig, u32 zone, u32 sectors)
{
	u32 at;

	for (at = 0; at < sectors; at += 64)
		time_of(rig, DISK_WRITE, at ? 0 : DISK_OPENS, zone * ZONE + at,
			min(64U, sectors - at));
	rig->now += 1000 * PROGRAM;
}

static void resets_and_finishes_go_by_what_is_in_the_zone(struct kunit *test)
{
	static struct disk_request reset[2], read;
	static struct rig rig;

	prepare(&rig, test, ZNS, "zone_reset_time=2ms;zone_reset_full_time=8ms;"
		"zone_finish_time=3ms;zone_finish_empty_time=60ms;");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_RESET, 0, 0, 0), 1 * US + 2 * MS);
	fill_zone(&rig, 0, CAPACITY / 4);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_RESET, 0, 0, 0), 1 * US + 4 * MS);
	fill_zone(&rig, 0, CAPACITY);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 0, 8), READ_4K);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_FINISH, 0, 0, 0), 1 * US + 3 * MS);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_RESET, 0, 0, 0), 1 * US + 10 * MS);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 0, 8), 1 * US + 2 * US + 5 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_FINISH, 0, 0, 0), 1 * US + 63 * MS);
	fill_zone(&rig, 1, CAPACITY / 2);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_FINISH, 0, ZONE, 0), 1 * US + 33 * MS);
	/* One after the other, and reads beside them. Zone 2 is empty. */
	submit(&rig, &reset[0], DISK_ZONE_RESET, 0, ZONE, 0);
	submit(&rig, &reset[1], DISK_ZONE_RESET, 0, 2 * ZONE, 0);
	submit(&rig, &read, DISK_READ, 0, 2 * ZONE, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, reset[0].completion - reset[0].arrival, 1 * US + 10 * MS);
	KUNIT_EXPECT_EQ(test, reset[1].completion - reset[1].arrival, 1 * US + 12 * MS);
	KUNIT_EXPECT_EQ(test, reset[1].parts.queued, 10 * MS);
	KUNIT_EXPECT_EQ(test, read.completion - read.arrival, 2 * US + 8 * US);
	done(&rig);
}

/* In order to @zones zones at once, @units units of each; the time of all of it. */
static u64 write_zones(struct rig *rig, u32 zones, u32 units)
{
	static struct disk_request r[512];
	u64 begin = rig->now;
	u32 i, n = zones * units;

	for (i = 0; i < n; i++)
		submit(rig, &r[i], DISK_WRITE, DISK_APPEND,
		       i % zones * ZONE + i / zones * UNIT, UNIT);
	finish(rig);
	return rig->now - begin;
}

/*
 * The buffer of a zone has room for a unit for each of its dies. So a write comes in when that has
 * been programmed which its die had of its zone before. Zones that share dies take turns.
 */
static void a_zone_is_as_fast_as_its_dies(struct kunit *test)
{
	static const struct {
		const char *dies;
		u32 zones;
		u32 rounds;		/* of programs that the last of 64 writes waits for */
	} cases[] = {
		{ "1", 1, 63 }, { "1", 2, 63 }, { "1", 4, 63 }, { "1", 8, 126 },
		{ "2", 1, 31 }, { "2", 2, 31 }, { "2", 4, 62 }, { "4", 1, 15 }, { "4", 4, 60 },
	};
	static struct rig rig;
	char words[100];
	u64 took;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(words, sizeof(words), "zone_dies=%s;zone_buffer=%u sectors;",
			 cases[i].dies, UNIT * (cases[i].dies[0] - '0'));
		prepare(&rig, test, ZNS, words);
		took = write_zones(&rig, cases[i].zones, 64);
		/* The first units begin up to 4 us and 8 us of the link apart. */
		KUNIT_EXPECT_GE_MSG(test, took, cases[i].rounds * PROGRAM, "case %u", i);
		KUNIT_EXPECT_LE_MSG(test, took, cases[i].rounds * PROGRAM + 100 * US, "case %u", i);
		done(&rig);
	}
}

static void writes_of_a_zone_go_one_at_a_time(struct kunit *test)
{
	static struct disk_request r[9], other, append[3];
	static struct rig rig;
	u32 i;

	prepare(&rig, test, ZNS, "");
	for (i = 0; i < 9; i++)
		submit(&rig, &r[i], DISK_WRITE, 0, 8 * i, 8);
	submit(&rig, &other, DISK_WRITE, 0, ZONE, 8);
	finish(&rig);
	/* The first alone. Seven are one command of 64 sectors less one; the last is the third. */
	KUNIT_EXPECT_EQ(test, r[0].completion, WRITE_4K);
	for (i = 1; i < 9; i++)
		KUNIT_EXPECT_EQ(test, r[i].completion, WRITE_4K + 1 * US + 16 * US + 3 * US);
	KUNIT_EXPECT_EQ(test, r[8].dispatch, WRITE_4K);
	/* Another zone's goes at once: the controller has it 1 us later. */
	KUNIT_EXPECT_EQ(test, other.completion, WRITE_4K + 1 * US);
	for (i = 0; i < 3; i++)
		submit(&rig, &append[i], DISK_WRITE, DISK_APPEND, 2 * ZONE + 8 * i, 8);
	finish(&rig);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, append[i].completion - append[i].arrival,
				4 * US * (i + 1) + 2 * US + 3 * US);
	done(&rig);
}

static void a_large_write_is_sent_in_pieces_of_its_zone(struct kunit *test)
{
	static struct disk_request large, small, fua;
	static struct rig rig;
	u64 piece = 1 * US + 16 * US + 3 * US;

	prepare(&rig, test, ZNS, "");
	submit(&rig, &large, DISK_WRITE, 0, 0, 160);
	submit(&rig, &small, DISK_WRITE, 0, 160, 8);
	submit(&rig, &fua, DISK_WRITE, DISK_FUA, 168, 8);
	finish(&rig);
	/* 64, 64, and 32 with the 8 that follow; FUA is not merged. */
	KUNIT_EXPECT_EQ(test, large.completion, 2 * piece + 1 * US + 10 * US + 3 * US);
	KUNIT_EXPECT_EQ(test, small.completion, large.completion);
	KUNIT_EXPECT_EQ(test, fua.completion, large.completion + WRITE_4K);
	KUNIT_EXPECT_EQ(test, large.dispatch, 0);
	done(&rig);
}

#define WRITES	400

struct zone_oracle {
	u64 unit_end[CAPACITY / UNIT];	/* when it has been programmed */
	u32 at;
};

/*
 * A second program, without events: zone z has die z % 4 for itself, and room for @room sectors.
 * The sector at n comes in when the write is there, and when all but @room of n + 1 are programmed.
 * A unit is programmed when its last sector is in and the unit before it is done. Returns when the
 * last sector of the next @sectors is in.
 */
static u64 oracle_write(struct zone_oracle *zone, u32 sectors, u32 room, u64 now)
{
	u64 in = now;
	u32 i, unit;

	for (i = 0; i < sectors; i++, zone->at++) {
		if (zone->at >= room)
			in = max(in, zone->unit_end[(zone->at - room) / UNIT]);
		unit = zone->at / UNIT;
		if (zone->at % UNIT == UNIT - 1)
			zone->unit_end[unit] = PROGRAM +
				max(in, unit ? zone->unit_end[unit - 1] : 0);
	}
	return in;
}

/* Of all its pieces the first one. */
static void a_large_write_opens_its_zone_once(struct kunit *test)
{
	static const char * const drives[] = { ZNS_OF("nvme"), ZNS_OF("blk-mq") };
	static struct disk_request opens, open;
	static struct rig rig;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drives); i++) {
		prepare(&rig, test, drives[i], "");
		submit(&rig, &open, DISK_WRITE, DISK_OPENS, 0, 1024);
		finish(&rig);
		done(&rig);
		prepare(&rig, test, drives[i], "zone_implicit_open_time=11us;");
		submit(&rig, &opens, DISK_WRITE, DISK_OPENS, 0, 1024);
		finish(&rig);
		KUNIT_EXPECT_EQ(test, opens.completion, open.completion + 11 * US);
		/* One piece that is an append, or none, opens once, too. */
		KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, DISK_APPEND | DISK_OPENS, ZONE, 8),
				WRITE_4K + (3 + 11) * US);
		done(&rig);
	}
}

static void appends_are_those_of_a_second_program(struct kunit *test)
{
	static struct disk_request r[WRITES];
	static struct zone_oracle zones[4];
	static u64 in[WRITES];
	u64 controller = 0, link = 0, end, waited = 0;
	struct rnd rnd = { .state = 11 };
	static struct rig rig;
	u32 i, z, sectors;

	prepare(&rig, test, ZNS, "zone_dies=1;zone_buffer=56 sectors;");
	memset(zones, 0, sizeof(zones));
	for (i = 0; i < WRITES; i++) {
		z = rnd_below(&rnd, 4);
		sectors = 1 + rnd_below(&rnd, 64);
		rig.now += rnd_below(&rnd, 100) * US * rnd_below(&rnd, 12);
		disk_advance(rig.disk, rig.now);
		end = rig.now;
		submit(&rig, &r[i], DISK_WRITE, DISK_APPEND, z * ZONE + zones[z].at, sectors);
		in[i] = oracle_write(&zones[z], sectors, 56, rig.now);
		controller = max(controller, rig.now) + 4 * US;
		link = max(link, rig.now) + 250 * sectors;
		end = max(link, controller + 250 * sectors);
		waited += in[i] > end;
		in[i] = max(in[i], end) + 3 * US;
	}
	finish(&rig);
	for (i = 0; i < WRITES; i++)
		KUNIT_ASSERT_EQ_MSG(test, r[i].completion, in[i], "write %u", i);
	/* The test is about those. */
	KUNIT_EXPECT_GE(test, waited, WRITES / 4);
	KUNIT_EXPECT_LE(test, waited, WRITES * 3 / 4);
	done(&rig);
}

/* Reads, writes, appends, resets and finishes at random: the same again, and parts that add up. */
static void random_life(struct rig *rig, u64 seed, u64 *sum)
{
	static struct disk_request r[64];
	u32 at[16] = { }, i, k, z, sectors, kind;
	struct rnd rnd = { .state = seed };

	*sum = 0;
	for (i = 0; i < 30; i++) {
		for (k = 0; k < ARRAY_SIZE(r); k++) {
			z = rnd_below(&rnd, 16);
			sectors = 1 + rnd_below(&rnd, 200);
			kind = rnd_below(&rnd, 8);
			rig->now += rnd_below(&rnd, 200) * US;
			if (kind == 0 || at[z] + sectors > CAPACITY) {
				kind = at[z] + sectors <= CAPACITY && rnd_below(&rnd, 2);
				submit(rig, &r[k], kind ? DISK_ZONE_FINISH : DISK_ZONE_RESET, 0,
				       z * ZONE, 0);
				at[z] = kind ? CAPACITY : 0;
			} else if (kind < 4) {
				submit(rig, &r[k], DISK_READ, 0,
				       z * ZONE + rnd_below(&rnd, CAPACITY - sectors), sectors);
			} else {
				sectors = kind < 6 ? min(sectors, 64U) : sectors;
				submit(rig, &r[k], DISK_WRITE,
				       (kind < 6 ? DISK_APPEND : 0) | (at[z] ? 0 : DISK_OPENS),
				       z * ZONE + at[z], sectors);
				at[z] += sectors;
			}
		}
		finish(rig);
		for (k = 0; k < ARRAY_SIZE(r); k++) {
			KUNIT_ASSERT_NE(rig->test, r[k].completion, 0);
			*sum = *sum * 31 + r[k].completion;
		}
		if (rnd_below(&rnd, 4))
			continue;
		for (k = 0; k < ARRAY_SIZE(r); k++)
			r[k].completion = 0;
	}
}

static void random_lives_repeat(struct kunit *test)
{
	static const char *const words[] = {
		"zone_buffer=16 KiB;", "zone_dies=3;zone_buffer=32 KiB;buffer_reads=yes;",
		"zone_dies=1;suspends=2;suspend_time=5us;",
		"conventional_zones=3;zone_buffer=1MiB;",
		"zone_reset_time=1ms;zone_finish_empty_time=9ms;interrupt_batch=4;interrupt_time=9us;",
	};
	static struct rig rig;
	u64 first, again;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		prepare(&rig, test, ZNS, words[i]);
		random_life(&rig, i, &first);
		done(&rig);
		prepare(&rig, test, ZNS, words[i]);
		random_life(&rig, i, &again);
		KUNIT_EXPECT_EQ(test, first, again);
		done(&rig);
	}
}

/* What the disk has is told to a new drive; a copy has the same; what is trimmed is empty. */
static void a_map_of_zones_has_what_it_is_told(struct kunit *test)
{
	static struct rig rig;
	struct ftl *ftl, *copy;

	prepare(&rig, test, ZNS, "precondition=sequential;precondition_fill=25%;");
	ftl = ftl_create(&rig.profile, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, ftl);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 3), CAPACITY);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 4), 0);
	ftl_fill(ftl, 5 * ZONE / 8, 10);
	ftl_fill(ftl, 5 * ZONE / 8 + 2, 3);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 5), 80);
	ftl_fill(ftl, 6 * ZONE / 8 + 100, 2 * ZONE / 8 - 100);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 6), CAPACITY);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 7), CAPACITY);
	KUNIT_EXPECT_EQ(test, ftl_figures(ftl)->written, 0);
	copy = ftl_copy(ftl, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	ftl_trim(ftl, 5 * ZONE / 8, 9);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 5), 80);
	ftl_trim(ftl, 5 * ZONE / 8, 10);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(ftl, 5), 0);
	KUNIT_EXPECT_EQ(test, ftl_zone_end(copy, 5), 80);
	KUNIT_EXPECT_LE(test, ftl_bytes(ftl), 1000);
	ftl_destroy(copy);
	ftl_destroy(ftl);
	done(&rig);
}

/* A disk: 1000 sectors a track, 10 ms a revolution, no cache. */
#define DISK									\
	"name=t;host=blk-mq;scheduler=none;capacity=1048576 sectors;rpm=6000;heads=1;"	\
	"cylinders=1100;zone=0,1099,1000,1048576;seek=1,1ms;seek=1099,10ms;"	\
	"bus_read=0ns;bus_write=0ns;overhead=0.1ms;ncq_depth=32;zone_size=64MiB;"

static void a_disk_has_the_times_of_its_platters(struct kunit *test)
{
	static const char words[] = "conventional_zones=1;zone_open_time=2ms;zone_close_time=3ms;"
				    "zone_finish_time=4ms;zone_reset_time=5ms;";
	static struct disk_request r[2], s[2];
	static struct rig rig, plain;
	u64 zone = 131072, took;

	prepare(&rig, test, DISK, words);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_OPEN, 0, zone, 0), 2 * MS + 100 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_CLOSE, 0, zone, 0), 3 * MS + 100 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_FINISH, 0, zone, 0), 4 * MS + 100 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_ZONE_RESET, 0, zone, 0), 5 * MS + 100 * US);
	/* One write is what it is on the disk without zones. */
	rig.now = 1000 * MS;
	took = time_of(&rig, DISK_WRITE, DISK_OPENS, zone, 8);
	plain = rig;
	disk_destroy(rig.disk);
	plain.profile.zone_size = 0;
	plain.disk = disk_create(&plain.profile, NULL, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, plain.disk);
	plain.now = 1000 * MS;
	KUNIT_EXPECT_EQ(test, time_of(&plain, DISK_WRITE, 0, zone, 8), took);
	/* Two writes that follow on: without zones one pass, with them the second is too late. */
	plain.now = 2000 * MS;
	submit(&plain, &s[0], DISK_WRITE, 0, zone + 8, 8);
	submit(&plain, &s[1], DISK_WRITE, 0, zone + 16, 8);
	finish(&plain);
	disk_destroy(plain.disk);
	rig.disk = disk_create(&rig.profile, NULL, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, rig.disk);
	rig.now = 1000 * MS;
	time_of(&rig, DISK_WRITE, 0, zone, 8);
	rig.now = 2000 * MS;
	submit(&rig, &r[0], DISK_WRITE, 0, zone + 8, 8);
	submit(&rig, &r[1], DISK_WRITE, 0, zone + 16, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[0].completion, s[0].completion);
	KUNIT_EXPECT_EQ(test, r[1].completion, r[0].completion + 10 * MS + 80 * US);
	/* In a conventional zone writes are as everywhere. */
	rig.now = 3000 * MS;
	submit(&rig, &r[0], DISK_WRITE, 0, 5000, 8);
	submit(&rig, &r[1], DISK_WRITE, 0, 4000, 8);
	KUNIT_EXPECT_EQ(test, r[1].arrival, 3000 * MS);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[0].dispatch, 3000 * MS);
	KUNIT_EXPECT_EQ(test, r[1].dispatch, 3000 * MS);
	done(&rig);
}

static void zones_and_faults_go_together(struct kunit *test)
{
	static struct faults faults;
	static struct rig rig;
	struct disk_request r[2];
	struct fault_error error;

	prepare(&rig, test, ZNS, "");
	faults_init(&faults, &rig.profile);
	KUNIT_ASSERT_EQ(test, faults_parse(&faults, "slow:factor=3", &error), 0);
	disk_set_faults(rig.disk, &faults);
	submit(&rig, &r[0], DISK_WRITE, 0, 0, 8);
	submit(&rig, &r[1], DISK_WRITE, 0, 8, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[0].completion, 3 * WRITE_4K);
	/* The drive is slow for the host, and has the second one when it is done with the first. */
	KUNIT_EXPECT_EQ(test, r[1].completion, 4 * WRITE_4K);
	done(&rig);
}

static struct kunit_case zns_cases[] = {
	KUNIT_CASE(each_command_takes_its_words),
	KUNIT_CASE(resets_and_finishes_go_by_what_is_in_the_zone),
	KUNIT_CASE(a_zone_is_as_fast_as_its_dies),
	KUNIT_CASE(writes_of_a_zone_go_one_at_a_time),
	KUNIT_CASE(a_large_write_is_sent_in_pieces_of_its_zone),
	KUNIT_CASE(a_large_write_opens_its_zone_once),
	KUNIT_CASE(appends_are_those_of_a_second_program),
	KUNIT_CASE(random_lives_repeat),
	KUNIT_CASE(a_map_of_zones_has_what_it_is_told),
	KUNIT_CASE(a_disk_has_the_times_of_its_platters),
	KUNIT_CASE(zones_and_faults_go_together),
	{}
};

static struct kunit_suite zns_suite = {
	.name = "zns",
	.test_cases = zns_cases,
};

kunit_test_suite(zns_suite);
