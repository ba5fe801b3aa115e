// SPDX-License-Identifier: GPL-2.0
/* Drives without an arm, and the host in front of them: times that can be told beforehand. */
#include "../../model/flash/ftl.h"
#include "random.h"
#include "worded-disk.h"

#define US		1000ULL
#define MS		1000000ULL

/* 4 KiB go over a channel in 10 us, over the link in 2 us. */
#define SSD_OF(largest)								\
	"name=t;kind=ssd;max_sectors=" largest ";"				\
	"capacity=64MiB;raw_capacity=80MiB;gc_unit=1MiB;sample=1;"		\
	"link_rate=2048MB/s;command_time=1us;read_latency=5us;write_latency=3us;" \
	"dies=4;channels=2;channel_rate=409.6MB/s;read_time=50us;"		\
	"flash_page=16384B;program_unit=16384B;program_time=600us;erase_time=2ms;" \
	"write_buffer=256KiB;flush_overhead=7us;"
#define SSD		SSD_OF("64sectors")
#define NVME		"host=nvme;nr_requests=64;"
#define PLAIN_SSD	SSD NVME "page_types=1;"
#define TLC_SSD		SSD NVME "page_types=3;read_step=26us;"
#define SATA_SSD	SSD "page_types=1;ncq_depth=32;"

#define ANY_MEMORY								\
	"name=t;kind=memory;host=nvme;nr_requests=64;max_sectors=64sectors;"	\
	"capacity=64MiB;link_rate=2048MB/s;command_time=1us;"			\
	"read_latency=9us;write_latency=11us;"
#define MEMORY		ANY_MEMORY "units=2;"

#define READ_4K		(1 * US + 50 * US + 10 * US + 2 * US + 5 * US)

/* Static in the tests: a kernel's stack is small. */
struct rig {
	struct kunit *test;
	struct profile profile;
	struct disk *disk;
	struct disk_submitter who;
	u64 now;
};

static void prepare(struct rig *rig, struct kunit *test, const char *kind, const char *words)
{
	memset(rig, 0, sizeof(*rig));
	rig->test = test;
	rig->disk = disk_of_words(test, &rig->profile, kind, words);
}

/* @rig's drive on a clock of its own, with the map of both; @rig had one of its own till now. */
static struct ftl *share_map(struct rig *rig, struct rig *other)
{
	struct ftl *ftl = ftl_create(&rig->profile, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(rig->test, ftl);
	disk_destroy(rig->disk);
	rig->disk = disk_create(&rig->profile, ftl, GFP_KERNEL);
	*other = *rig;
	other->disk = disk_create(&rig->profile, ftl, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(rig->test, rig->disk && other->disk);
	return ftl;
}

static void done(struct rig *rig)
{
	disk_destroy(rig->disk);
	profile_free(&rig->profile);
}

static void submit(struct rig *rig, struct disk_request *request, enum disk_op op, u64 sector,
		   u32 sectors)
{
	*request = (struct disk_request) {
		.op = op, .sector = sector, .sectors = sectors, .flags = DISK_SYNC,
	};
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

static u64 time_of(struct rig *rig, enum disk_op op, u64 sector, u32 sectors)
{
	struct disk_request request;

	submit(rig, &request, op, sector, sectors);
	finish(rig);
	return request.completion - request.arrival;
}

static void expect_about(struct kunit *test, u64 is, u64 should)
{
	KUNIT_EXPECT_GE(test, is, should - should / 20);
	KUNIT_EXPECT_LE(test, is, should + should / 20);
}

static void memory_serves_one_command_in_a_unit(struct kunit *test)
{
	struct disk_request r[3];
	static struct rig rig;
	u32 i;

	prepare(&rig, test, MEMORY, "");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), 1 * US + 9 * US + 2 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 800, 8), 1 * US + 2 * US + 11 * US);
	for (i = 0; i < 3; i++)
		submit(&rig, &r[i], DISK_READ, 8 * i, 8);
	finish(&rig);
	/* Two units, then one is free again; the controller takes 1 us for each. */
	KUNIT_EXPECT_EQ(test, r[0].completion - r[0].arrival, 12 * US);
	KUNIT_EXPECT_EQ(test, r[1].completion - r[1].arrival, 13 * US);
	KUNIT_EXPECT_EQ(test, r[2].completion - r[2].arrival, 10 * US + 9 * US + 2 * US);
	done(&rig);
}

#define LINK_REQUESTS	40

/*
 * Reads and writes at random that come together. By a second program: the controller takes 1 us
 * each, a unit 9 or 11; what crosses the link does so no earlier than in the order of arrival.
 */
static void check_link(struct kunit *test, const char *words, bool shared, u64 frames)
{
	static struct disk_request r[LINK_REQUESTS];
	u64 free[2] = { }, controller, least, end;
	struct rnd rnd = { .state = 7 };
	static struct rig rig;
	u32 i, way;

	prepare(&rig, test, ANY_MEMORY "units=40;", words);
	for (i = 0; i < LINK_REQUESTS; i++)
		submit(&rig, &r[i], rnd_next(&rnd) % 2 ? DISK_WRITE : DISK_READ, 64 * i,
		       8 + 8 * (rnd_next(&rnd) % 7));
	finish(&rig);
	for (i = 0; i < LINK_REQUESTS; i++) {
		way = shared ? 0 : r[i].op;
		controller = (i + 1) * US;
		least = r[i].sectors / 8 * 2 * US + frames;
		free[way] += least;
		if (r[i].op == DISK_READ)
			end = max(free[way], controller + 9 * US + least);
		else
			end = max(free[way], controller + least) + 11 * US;
		KUNIT_EXPECT_EQ_MSG(test, r[i].completion - r[i].arrival, end, "%s, %u", words, i);
	}
	done(&rig);
}

static void an_interface_says_whether_reads_and_writes_share_the_link(struct kunit *test)
{
	check_link(test, "", false, 0);
	check_link(test, "interface=pcie;", false, 0);
	check_link(test, "interface=sas;link_command_time=3us", false, 3 * US);
	check_link(test, "interface=sata;", true, 0);
	check_link(test, "interface=sata;link_command_time=3us", true, 3 * US);
}

static void a_read_is_command_flash_channel_link(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "precondition=sequential");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K);
	/* One page of flash is read at once. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 64, 32),
			1 * US + 50 * US + 40 * US + 8 * US + 5 * US);
	done(&rig);
}

static void what_was_never_written_is_not_in_flash(struct kunit *test)
{
	const u64 nothing = 1 * US + 2 * US + 5 * US;
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "power_loss_protection=yes");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), nothing);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 800, 8), 1 * US + 2 * US + 3 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K);
	disk_trim(rig.disk, 800, 8, rig.now);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), nothing);
	done(&rig);
}

/* One drive writes, the other one reads it, and has neither its work nor its idle time. */
static void two_drives_of_one_map_share_what_is_written(struct kunit *test)
{
	static struct rig rig, other;
	struct rnd rnd = { 3 };
	struct ftl *ftl;
	u32 i;

	prepare(&rig, test, PLAIN_SSD,
		"gc_idle_after=1ms;gc_idle_rate=1000MB/s;gc_idle_room=8MiB;");
	ftl = share_map(&rig, &other);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K - 60 * US);
	for (i = 0; i < 60000; i++)
		time_of(&other, DISK_WRITE, 8 * rnd_below(&rnd, 16384), 8);
	KUNIT_EXPECT_GE(test, ftl_figures(ftl)->moved, 10000ULL);
	time_of(&other, DISK_WRITE, 800, 32);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K);
	/* What it writes itself may move pages of some blocks. */
	time_of(&rig, DISK_WRITE, 1600, 32);
	KUNIT_EXPECT_LE(test, time_of(&rig, DISK_FLUSH, 0, 0), 10 * MS);
	/* An hour in which the other one worked is not idle: nothing is collected. */
	time_of(&other, DISK_WRITE, 800, 32);
	i = ftl_figures(ftl)->moved;
	rig.now += 3600 * 1000 * MS;
	time_of(&rig, DISK_READ, 800, 8);
	KUNIT_EXPECT_EQ(test, ftl_figures(ftl)->moved, (u64)i);
	rig.now += 1000 * MS;
	time_of(&rig, DISK_READ, 800, 8);
	KUNIT_EXPECT_GE(test, ftl_figures(ftl)->moved, (u64)i + 1);
	/* And what one collects while idle is no work of the other one's. */
	time_of(&other, DISK_WRITE, 800, 32);
	KUNIT_EXPECT_LE(test, time_of(&other, DISK_FLUSH, 0, 0), 10 * MS);
	disk_destroy(other.disk);
	done(&rig);
	ftl_destroy(ftl);
}

static void a_flush_writes_what_would_be_lost(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 1 * US + 7 * US);
	time_of(&rig, DISK_WRITE, 800, 8);
	/* 4 KiB, but a die is given a unit: 40 us over the channel, then the program. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 640 * US + 7 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 1 * US + 7 * US);
	done(&rig);

	prepare(&rig, test, PLAIN_SSD, "power_loss_protection=yes");
	time_of(&rig, DISK_WRITE, 800, 8);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 1 * US + 7 * US);
	done(&rig);
}

/* @n writes of a unit each, one after another. Returns the time of the last @last. */
static u64 write_units(struct rig *rig, u32 n, u32 last)
{
	u64 begin = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (i == n - last)
			begin = rig->now;
		time_of(rig, DISK_WRITE, 32 * i, 32);
	}
	return rig->now - begin;
}

static void a_full_buffer_empties_at_the_dies_rate(struct kunit *test)
{
	u64 took, should = 400 * 640 * US / 4;
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "power_loss_protection=yes");
	/* 16 units fit. Nothing is collected: the drive is fresh. */
	took = write_units(&rig, 16, 16);
	KUNIT_EXPECT_LE(test, took, 16 * (1 + 8 + 3) * US);
	write_units(&rig, 100, 100);
	took = write_units(&rig, 400, 400);
	KUNIT_EXPECT_GE(test, took, should - should / 50);
	KUNIT_EXPECT_LE(test, took, should + should / 50);
	done(&rig);
}

/* However large the writes are, they take what the dies need. */
static void a_write_comes_into_the_buffer_in_pieces(struct kunit *test)
{
	/* Less than the buffer of 16 units, as much, more; 5/4 of a unit, not by pages */
	static const u32 sizes[] = { 96, 192, 512, 520, 768, 2048, 40 };
	static struct rig rig;
	u32 i, j;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		u32 sectors = sizes[i], nr = 2 * 2048 * 8 / sectors;
		u64 should = nr * sectors / 32 * 640 * US / 4, begin = 0;

		prepare(&rig, test, SSD_OF("2048sectors") NVME "page_types=1;",
			"power_loss_protection=yes");
		/* The first half fills the buffer, and the dies are busy from then on. */
		for (j = 0; j < 2 * nr; j++) {
			if (j == nr)
				begin = rig.now;
			time_of(&rig, DISK_WRITE, j * sectors + 4 * (sectors == 40), sectors);
		}
		KUNIT_EXPECT_GE_MSG(test, rig.now - begin, should - should / 50, "%u", sectors);
		KUNIT_EXPECT_LE_MSG(test, rig.now - begin, should + should / 50, "%u", sectors);
		done(&rig);
	}
}

/*
 * Written over and over in order: no page is moved, and each die erases a block of its own for each
 * 16 units. So four units take 640 us and a sixteenth of 2 ms, and three dies go on meanwhile.
 */
static void dies_erase_one_after_another(struct kunit *test)
{
	u64 should = 4096 / 4 * (640 * US + 2 * MS / 16), begin, longest = 0;
	struct solid_figures before, after;
	static struct rig rig;
	u32 i;

	prepare(&rig, test, PLAIN_SSD "power_loss_protection=yes;precondition=sequential;", "");
	write_units(&rig, 4096, 1);
	disk_solid_figures(rig.disk, &before);
	begin = rig.now;
	for (i = 0; i < 4096; i++)
		longest = max(longest, time_of(&rig, DISK_WRITE, 32 * i, 32));
	disk_solid_figures(rig.disk, &after);
	KUNIT_EXPECT_EQ(test, after.moved_pages, 0ULL);
	KUNIT_EXPECT_GE(test, after.erases - before.erases, 4096 / 16 - 4ULL);
	KUNIT_EXPECT_LE(test, after.erases - before.erases, 4096 / 16 + 4ULL);
	KUNIT_EXPECT_GE(test, rig.now - begin, should - should / 50);
	KUNIT_EXPECT_LE(test, rig.now - begin, should + should / 50);
	KUNIT_EXPECT_LE(test, longest, 1 * MS);
	done(&rig);
}

struct bursts {
	u32 nr;			/* of collection: times at which dies moved something */
	u32 least, most;	/* units at such a time */
	u64 units;
};

/* Random writes of a page that come so seldom that the dies have done all before the next one. */
static struct bursts collect_slowly(struct kunit *test, const char *words)
{
	struct bursts bursts = { .least = U32_MAX };
	struct solid_figures figures;
	static struct rig rig;
	struct rnd rnd = { 4 };
	u64 programs = 0;
	u32 i;

	prepare(&rig, test, PLAIN_SSD "power_loss_protection=yes;precondition=random;", words);
	for (i = 0; i < 4000; i++) {
		u32 units;

		time_of(&rig, DISK_WRITE, 8 * rnd_below(&rnd, 16384), 8);
		rig.now += 50 * MS;
		time_of(&rig, DISK_FLUSH, 0, 0);	/* looks at the dies */
		disk_solid_figures(rig.disk, &figures);
		units = figures.programs - programs - (i % 4 == 3);	/* four fill the host's */
		programs = figures.programs;
		if (!units)
			continue;
		bursts.nr++;
		bursts.units += units;
		bursts.least = min(bursts.least, units);
		bursts.most = max(bursts.most, units);
	}
	KUNIT_EXPECT_GE(test, bursts.units, figures.moved_pages / 4 - 16);
	KUNIT_EXPECT_LE(test, bursts.units, figures.moved_pages / 4);
	done(&rig);
	return bursts;
}

/* As much is moved, but it comes together. */
static void collection_moves_a_stripe_in_one_go(struct kunit *test)
{
	struct bursts each = collect_slowly(test, "");
	struct bursts stripes = collect_slowly(test, "write_stripe=262144");

	KUNIT_EXPECT_EQ(test, each.least, 1U);
	KUNIT_EXPECT_LE_MSG(test, each.most, 4U, "%u", each.most);
	KUNIT_EXPECT_GE_MSG(test, stripes.least, 16U, "%u", stripes.least);
	KUNIT_EXPECT_LE_MSG(test, stripes.most, 16U + each.most, "%u", stripes.most);
	KUNIT_EXPECT_LE(test, stripes.nr, stripes.units / 16);
	KUNIT_EXPECT_GE(test, stripes.nr, stripes.units / (16 + each.most));
}

/* The longest of many reads beside a die that programs. */
static u64 longest_read(struct kunit *test, const char *words)
{
	struct disk_request write, read;
	static struct rig rig;
	u64 longest = 0;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, words);
	for (i = 0; i < 100; i++) {
		submit(&rig, &write, DISK_WRITE, 32 * i, 32);
		rig.now += 100 * US;
		submit(&rig, &read, DISK_READ, 8 * (1000 + i), 8);
		finish(&rig);
		longest = max(longest, read.completion - read.arrival);
		rig.now += 1 * MS;		/* the program has ended */
	}
	done(&rig);
	return longest;
}

static void a_read_suspends_a_program_if_the_drive_can(struct kunit *test)
{
	u64 waits = longest_read(test, "precondition=sequential");
	u64 suspends = longest_read(test, "precondition=sequential;suspends=9;suspend_time=20us");

	/* The program began 4 to 12 us after its write, and the read came 100 us after that. */
	KUNIT_EXPECT_GE(test, waits, 640 * US - 100 * US + READ_4K - 1 * US);
	KUNIT_EXPECT_LE(test, waits, 640 * US - 100 * US + READ_4K);
	KUNIT_EXPECT_EQ(test, suspends, READ_4K + 20 * US);
}

static void page_types_are_read_at_speeds_of_their_own(struct kunit *test)
{
	u32 seen[4] = { }, i, type;
	static struct rig rig;

	prepare(&rig, test, TLC_SSD, "precondition=sequential");
	for (i = 0; i < 3000; i++) {
		u64 extra = time_of(&rig, DISK_READ, 32 * i, 8) - READ_4K;

		for (type = 0; type < 3; type++)
			if (extra == ((1 << type) - 1) * 26 * US)
				break;
		seen[type]++;
	}
	for (i = 0; i < 3; i++) {	/* a third each */
		KUNIT_EXPECT_GE(test, seen[i], 900U);
		KUNIT_EXPECT_LE(test, seen[i], 1100U);
	}
	done(&rig);
}

/* Two pages lie on one of four dies once in four times, and the second waits for the first. */
static void pages_written_at_random_lie_at_random(struct kunit *test)
{
	static struct rig rig;
	u32 together = 0, i;

	prepare(&rig, test, PLAIN_SSD, "precondition=random");
	for (i = 0; i < 4000; i++)
		together += time_of(&rig, DISK_READ, 16 * i, 16) > READ_4K + 50 * US;
	KUNIT_EXPECT_GE_MSG(test, together, 900U, "%u", together);
	KUNIT_EXPECT_LE_MSG(test, together, 1100U, "%u", together);
	done(&rig);
}

static void a_large_read_takes_the_controller_longer(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "page_time=2us");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), 1 * US + 2 * US + 5 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 9), 3 * US + 9 * US / 4 + 5 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 64), 15 * US + 16 * US + 5 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 800, 64), 1 * US + 16 * US + 3 * US);
	done(&rig);
}

/* n programs that write and flush are served one after another: the drive saturates. */
static void flushes_write_their_journals_one_after_another(struct kunit *test)
{
	static struct disk_request write[4], flush[4];
	static struct rig rig;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, "flush_time=1ms");
	/* The unit's data over the channel, its program, the journal, 7 us of overhead. */
	time_of(&rig, DISK_WRITE, 800, 8);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0),
			40 * US + 600 * US + MS + 7 * US);
	/* Nothing was written since. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 8 * US);
	for (i = 0; i < 4; i++) {
		submit(&rig, &write[i], DISK_WRITE, 8000 + 800 * i, 8);
		submit(&rig, &flush[i], DISK_FLUSH, 0, 0);
	}
	finish(&rig);
	for (i = 1; i < 4; i++)
		KUNIT_EXPECT_EQ(test, flush[i].completion - flush[i - 1].completion, MS);
	done(&rig);
}

/* After the data's 640 us: the flush's end, less its overhead. */
static u64 begin_flush(struct rig *rig, struct disk_request *write, struct disk_request *flush,
		       u64 sector)
{
	u64 begin;

	submit(rig, write, DISK_WRITE, sector, 8);
	begin = rig->now;
	submit(rig, flush, DISK_FLUSH, 0, 0);
	return begin + 640 * US;
}

/*
 * A read of flash waits for the journal or the map that is being written, and for no other one that
 * waits. A page that was never written needs no map.
 */
static void reads_wait_while_the_map_is_written(struct kunit *test)
{
	static struct disk_request write[3], flush[3], read[4];
	static struct rig rig;
	u64 from, ends;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, "flush_time=1ms");
	time_of(&rig, DISK_WRITE, 800, 32);
	time_of(&rig, DISK_FLUSH, 0, 0);
	for (i = 0; i < 3; i++)
		from = begin_flush(&rig, &write[i], &flush[i], 8000 + 800 * i);
	rig.now = from + 300 * US;
	disk_advance(rig.disk, rig.now);
	submit(&rig, &read[0], DISK_READ, 800, 8);
	submit(&rig, &read[1], DISK_READ, 80000, 8);	/* 1 us behind */
	rig.now = from + 1500 * US;
	disk_advance(rig.disk, rig.now);
	submit(&rig, &read[2], DISK_READ, 800, 8);
	finish(&rig);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, flush[i].completion, from + (i + 1) * MS + 7 * US);
	KUNIT_EXPECT_EQ(test, read[0].completion, from + MS + READ_4K - 1 * US);
	KUNIT_EXPECT_EQ(test, read[0].parts.queued, 699 * US);
	KUNIT_EXPECT_EQ(test, read[1].completion, from + 300 * US + 9 * US);
	KUNIT_EXPECT_EQ(test, read[2].completion, from + 2 * MS + READ_4K - 1 * US);
	submit(&rig, &read[3], DISK_READ, 800, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, read[3].completion - read[3].arrival, READ_4K);
	done(&rig);

	prepare(&rig, test, PLAIN_SSD, "map_flushes=2;map_flush_time=2ms");
	time_of(&rig, DISK_WRITE, 800, 32);
	time_of(&rig, DISK_FLUSH, 0, 0);
	ends = begin_flush(&rig, &write[0], &flush[0], 8000) + 2 * MS;
	rig.now = ends - MS;
	disk_advance(rig.disk, rig.now);
	submit(&rig, &read[0], DISK_READ, 800, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, flush[0].completion, ends + 7 * US);
	KUNIT_EXPECT_EQ(test, read[0].completion, ends + READ_4K - 1 * US);
	done(&rig);
}

/* What reads and writes of a drive take more than those of another. */
static void a_profile_may_add_to_some_commands(struct kunit *test)
{
	static struct rig rig;
	u32 slow = 0, i;

	prepare(&rig, test, PLAIN_SSD, "precondition=sequential;scattered_read_time=40us;"
		"write_command_time=4us;wake_time=9us;retries=0.1;retry_time=70us");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 800, 8), 4 * US + 2 * US + 3 * US);
	for (i = 0; i < 1000; i++) {
		u64 took = time_of(&rig, DISK_READ, 32 * i, 8) - 9 * US;	/* all wake it */

		if (i == 25)	/* was written by itself */
			took += 10 * US;
		slow += took == READ_4K + 70 * US;
		KUNIT_EXPECT_TRUE(test, took == READ_4K || took == READ_4K + 70 * US);
	}
	KUNIT_EXPECT_GE(test, slow, 90U);
	KUNIT_EXPECT_LE(test, slow, 110U);
	done(&rig);
}

static void the_first_of_several_writes_wakes_the_drive(struct kunit *test)
{
	static struct disk_request requests[3];
	static struct rig rig;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, "write_command_time=4us;write_wake_time=7us");
	for (i = 0; i < 3; i++)
		submit(&rig, &requests[i], DISK_WRITE, 800 * i, 8);
	finish(&rig);
	for (i = 0; i < 3; i++)	/* the link takes 2 us, write_latency is 3 us */
		KUNIT_EXPECT_EQ(test, requests[i].completion - requests[i].arrival,
				7 * US + (i + 1) * 4 * US + 2 * US + 3 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 8000, 8), (7 + 4 + 2 + 3) * US);
	done(&rig);
}

static void some_programs_cannot_be_suspended(struct kunit *test)
{
	const char *words = "precondition=sequential;suspends=9;suspend_time=20us;";
	char some[100];

	snprintf(some, sizeof(some), "%slocked_programs=0.1", words);
	KUNIT_EXPECT_EQ(test, longest_read(test, words), READ_4K + 20 * US);
	KUNIT_EXPECT_GE(test, longest_read(test, some), 640 * US - 100 * US + READ_4K - 1 * US);
}

static void the_map_is_written_with_some_flushes(struct kunit *test)
{
	static struct rig rig;
	u64 flush = 1 * US + 50 * US, took, most = 0;
	u32 i, more = 0;

	prepare(&rig, test, PLAIN_SSD, "map_flushes=4;map_flush_time=2ms");
	for (i = 0; i < 40; i++) {
		time_of(&rig, DISK_WRITE, 32 * i, 8);
		took = time_of(&rig, DISK_FLUSH, 0, 0);
		most = max(most, took);
		more += took > 2 * MS;
		KUNIT_EXPECT_GE(test, took, flush);
	}
	KUNIT_EXPECT_EQ(test, more, 10U);
	KUNIT_EXPECT_LE(test, most, 3 * MS);
	done(&rig);
}

/* What a read takes whose data are in the buffer, or nowhere. */
#define READ_BUFFER	(1 * US + 2 * US + 5 * US)

static void what_waits_in_the_buffer_is_read_from_there(struct kunit *test)
{
	struct disk_request write, read;
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "buffer_reads=yes;precondition=sequential");
	/* Less than a unit stays in the buffer. Its neighbours share its flash page. */
	time_of(&rig, DISK_WRITE, 800, 8);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_BUFFER);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 808, 8), READ_4K);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 32),
			1 * US + 50 * US + 30 * US + 8 * US + 5 * US);
	time_of(&rig, DISK_FLUSH, 0, 0);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K);

	/* While it is programmed, which takes 640 us, and not after that */
	submit(&rig, &write, DISK_WRITE, 3200, 32);
	rig.now += 300 * US;
	submit(&rig, &read, DISK_READ, 3208, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, read.completion - read.arrival, READ_BUFFER);
	rig.now += 1 * MS;
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 3208, 8), READ_4K);

	/* What is trimmed is nowhere. */
	time_of(&rig, DISK_WRITE, 800, 8);
	disk_trim(rig.disk, 800, 8, rig.now);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_BUFFER);
	done(&rig);

	prepare(&rig, test, PLAIN_SSD, "precondition=sequential");
	time_of(&rig, DISK_WRITE, 800, 8);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K);
	done(&rig);
}

/* 8 pages of the map, 128 sectors of the drive each */
#define SMALL_MAP	"precondition=sequential;map_cache=32KiB;map_coverage=64KiB;"

static void a_read_reads_the_map_first_if_it_is_not_in_memory(struct kunit *test)
{
	const u64 map = 50 * US + 10 * US;
	struct disk_request a, b;
	static struct rig rig;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, SMALL_MAP);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 128 * i, 8), READ_4K + map);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 16 * i, 8), READ_4K);
	/* The ninth takes the place of one that was used, as all were. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 1024, 8), READ_4K + map);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 8), READ_4K + map);
	/* Over two parts of the map: both are read at the same time, then both data. */
	KUNIT_EXPECT_GE(test, time_of(&rig, DISK_READ, 128 * 30 - 8, 16), READ_4K + map);
	/* Who needs a part that is being read waits for it, too. */
	submit(&rig, &a, DISK_READ, 6400, 8);
	submit(&rig, &b, DISK_READ, 6464, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, a.completion - a.arrival, READ_4K + map);
	KUNIT_EXPECT_EQ(test, a.parts.map, map);
	KUNIT_EXPECT_EQ(test, a.parts.die + a.parts.channel, 60 * US);
	KUNIT_EXPECT_GE(test, b.parts.map, 50 * US);
	KUNIT_EXPECT_GE(test, b.completion - b.arrival, READ_4K + map);
	done(&rig);

	/* If all of it fits, nothing is read. */
	prepare(&rig, test, PLAIN_SSD, "precondition=sequential;map_cache=64KiB");
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K);
	done(&rig);
}

/* The closed form: of random reads of a span a share misses, and takes a read longer. */
static void random_reads_miss_the_map_by_the_closed_form(struct kunit *test)
{
	const u32 reads = 4000;
	struct rnd rnd = { 7 };
	static struct rig rig;
	u32 share, i;

	for (share = 2; share <= 32; share *= 4) {	/* the span, as multiples of 8 pages */
		u64 sum = 0, should = READ_4K + 60 * US * (share - 1) / share;

		prepare(&rig, test, PLAIN_SSD, SMALL_MAP);
		for (i = 0; i < 2 * reads; i++) {
			u64 took = time_of(&rig, DISK_READ,
					   8 * rnd_below(&rnd, 128 * share), 8);

			sum += i < reads ? 0 : took;
		}
		kunit_info(test, "span %u times the cache: %llu ns, should be %llu", share,
			   (unsigned long long)div_u64(sum, reads), (unsigned long long)should);
		KUNIT_EXPECT_LE(test, sum, reads * (should + should / 50));
		KUNIT_EXPECT_GE(test, sum, reads * (should - should / 50));
		done(&rig);
	}
}

/* A page that is written in part costs the dies its program, and a read of the rest. */
static void a_part_of_a_page_takes_a_read_and_a_page(struct kunit *test)
{
	const u32 writes = 1500;
	struct solid_figures figures;
	struct rnd rnd = { 5 };
	static struct rig rig;
	u64 begin = 0;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, "precondition=sequential;power_loss_protection=yes");
	/* It is done when it is in the buffer: a sector takes a quarter of a us of the link. */
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_WRITE, 803, 1), 4 * US + US / 4);
	for (i = 0; i < writes + 500; i++) {
		if (i == 500)	/* the buffer is full */
			begin = rig.now;
		time_of(&rig, DISK_WRITE, 8 * rnd_below(&rnd, 16384) + 3, 1);
	}
	disk_solid_figures(rig.disk, &figures);
	expect_about(test, rig.now - begin, writes * (640 * US / 4 + 60 * US) / 4);
	KUNIT_EXPECT_EQ(test, figures.host_pages, writes + 501ULL);
	KUNIT_EXPECT_EQ(test, figures.flash_reads, writes + 500ULL);	/* the last one is open */
	done(&rig);
}

/* A second program: which pages are written, and of which the rest is read? */
struct naive_pages {
	u64 page;	/* the open one, plus 1; 0: none */
	u32 from, to;
	u64 written, read;
};

static void naive_close(struct naive_pages *naive)
{
	naive->read += naive->page && naive->to - naive->from < 8;
	naive->page = 0;
}

/* Sector by sector. */
static void naive_write(struct naive_pages *naive, u64 sector, u32 sectors)
{
	u32 i;

	for (i = 0; i < sectors; i++) {
		u64 at = sector + i;

		if (!naive->page || naive->page - 1 != at / 8 || naive->to != at % 8) {
			naive_close(naive);
			*naive = (struct naive_pages) { .page = at / 8 + 1, .from = at % 8,
				.written = naive->written + 1, .read = naive->read };
		}
		naive->to = at % 8 + 1;
		if (naive->to == 8)
			naive_close(naive);
	}
}

/* Small writes in order, over one another, and elsewhere, with a flush now and then */
static void small_writes_are_as_a_naive_program_has_them(struct kunit *test)
{
	struct naive_pages naive = { };
	struct solid_figures figures;
	struct rnd rnd = { 11 };
	static struct rig rig;
	u64 at = 0;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, "precondition=sequential");
	for (i = 0; i < 4000; i++) {
		u32 sectors = 1 + rnd_below(&rnd, rnd_below(&rnd, 4) ? 8 : 40);

		if (!rnd_below(&rnd, 3))
			at = rnd_below(&rnd, rig.profile.sectors / 2);
		time_of(&rig, DISK_WRITE, at, sectors);
		naive_write(&naive, at, sectors);
		at += sectors;
		if (rnd_below(&rnd, 20))
			continue;
		time_of(&rig, DISK_FLUSH, 0, 0);
		naive_close(&naive);
	}
	time_of(&rig, DISK_FLUSH, 0, 0);
	naive_close(&naive);
	disk_solid_figures(rig.disk, &figures);
	KUNIT_EXPECT_EQ(test, figures.host_pages, naive.written);
	KUNIT_EXPECT_EQ(test, figures.flash_reads, naive.read);
	done(&rig);
}

/* Random writes all over a large map write as much of it as of data: a die does two programs. */
static void random_writes_write_the_map_too(struct kunit *test)
{
	/* 4000 pages are 1000 units, and as many of the map, and 4000 reads of it, on 4 dies. */
	const u64 should = (2 * 1000 * 640 + 4000 * 60) * US / 4;
	struct solid_figures figures;
	static struct rig rig;
	struct rnd rnd = { 9 };
	u64 begin = 0, took;
	u32 i;

	prepare(&rig, test, PLAIN_SSD,
		"power_loss_protection=yes;map_cache=4KiB;map_coverage=16KiB;suspends=99");
	for (i = 0; i < 6000; i++) {
		if (i == 2000)
			begin = rig.now;
		time_of(&rig, DISK_WRITE, 8 * rnd_below(&rnd, 16384), 8);
	}
	took = rig.now - begin;
	disk_solid_figures(rig.disk, &figures);
	KUNIT_EXPECT_GE(test, figures.map_programs, 6000 / 4 - 20ULL);
	KUNIT_EXPECT_LE(test, figures.map_programs, 6000 / 4ULL);
	expect_about(test, took, should);
	done(&rig);
}

/* 256 units */
#define SLC_SSD		PLAIN_SSD "power_loss_protection=yes;slc_cache=4MiB;"		\
			"slc_program_time=100us;slc_read_time=20us;"

/* The time of @n units written from @from on, once the buffer is full. */
static u64 units_take(struct rig *rig, u32 from, u32 n)
{
	u64 begin = rig->now;
	u32 i;

	for (i = 0; i < n; i++)
		time_of(rig, DISK_WRITE, 32 * (from + i), 32);
	return rig->now - begin;
}

/* Fast until the cache is full, then as slow as without one, then idle, and fast again. */
static void an_slc_cache_is_fast_until_it_is_full(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, SLC_SSD, "slc_idle_after=10ms;slc_fold_rate=16384000B/s");
	units_take(&rig, 0, 32);			/* the buffer's 16, and as many */
	expect_about(test, units_take(&rig, 32, 224), 224 * 140 * US / 4);
	units_take(&rig, 256, 20);
	expect_about(test, units_take(&rig, 276, 120), 120 * 640 * US / 4);

	/* A unit a ms: when the buffer is empty, 10 ms, and 128 units are folded. */
	rig.now += 4 * 640 * US + 10 * MS + 128 * MS;
	units_take(&rig, 400, 32);
	expect_about(test, units_take(&rig, 432, 96), 96 * 140 * US / 4);
	units_take(&rig, 528, 20);
	expect_about(test, units_take(&rig, 548, 120), 120 * 640 * US / 4);

	/* A day is not worked out piece by piece. */
	rig.now += 86400 * 1000 * MS;
	units_take(&rig, 0, 32);
	expect_about(test, units_take(&rig, 32, 224), 224 * 140 * US / 4);
	done(&rig);
}

/* To write a unit one is read and programmed first: 20 + 640 us, then 140. */
static void a_full_slc_cache_may_have_to_make_room(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, SLC_SSD, "slc_full=fold");
	units_take(&rig, 0, 300);
	expect_about(test, units_take(&rig, 300, 300), 300 * (20 + 640 + 140) * US / 4);
	/* What is there may be overwritten without that. */
	units_take(&rig, 400, 32);
	expect_about(test, units_take(&rig, 432, 100), 100 * 140 * US / 4);
	done(&rig);
}

static void trims_make_room_in_the_slc_cache(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, SLC_SSD, "");
	units_take(&rig, 0, 300);
	disk_trim(rig.disk, 0, 256 * 32, rig.now);
	rig.now += 100 * MS;
	units_take(&rig, 300, 32);
	expect_about(test, units_take(&rig, 332, 224), 224 * 140 * US / 4);
	done(&rig);
}

static void reads_and_flushes_of_the_slc_cache_are_fast(struct kunit *test)
{
	static struct rig rig;

	prepare(&rig, test, PLAIN_SSD, "slc_cache=64KiB;slc_program_time=100us;slc_read_time=20us");
	time_of(&rig, DISK_WRITE, 800, 8);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 140 * US + 7 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 800, 8), READ_4K - 30 * US);
	/* Past it: 16 pages fill it, with those that are there. */
	time_of(&rig, DISK_WRITE, 1600, 120);
	time_of(&rig, DISK_FLUSH, 0, 0);
	time_of(&rig, DISK_WRITE, 3200, 8);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_FLUSH, 0, 0), 640 * US + 7 * US);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 3200, 8), READ_4K);
	done(&rig);
}

/* Who comes while the drive folds may find its die busy. Afterwards nobody does. */
static void folding_is_in_the_way_of_the_next_command(struct kunit *test)
{
	const char *words = "slc_fold_rate=81920000B/s;slc_idle_after=10ms";
	u32 i, late = 0, most = 0;
	static struct rig rig;

	/* 5 units a ms, 660 us each: 3 of 4 dies are folding. */
	for (i = 0; i < 40; i++) {
		u64 took;

		prepare(&rig, test, SLC_SSD, words);
		units_take(&rig, 0, 64);
		rig.now += 15 * MS;
		took = time_of(&rig, DISK_READ, 32 * (63 - i % 4), 8);
		most = max_t(u64, most, took);
		late += took > READ_4K;
		rig.now += 50 * MS;
		KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 32 * i, 8), READ_4K);
		done(&rig);
	}
	KUNIT_EXPECT_GE(test, late, 1U);
	KUNIT_EXPECT_LE(test, late, 39U);
	KUNIT_EXPECT_LE(test, most, 660 * US + READ_4K);
}

#define BATCHED		600

/* Random reads that come whether others have ended or not */
static void read_steadily(struct kunit *test, const char *words, struct disk_request *requests)
{
	static struct rig rig;
	struct rnd rnd = { 7 };
	u32 i;

	prepare(&rig, test, ANY_MEMORY "units=8;", words);
	for (i = 0; i < BATCHED; i++) {
		submit(&rig, &requests[i], DISK_READ, 8 * rnd_below(&rnd, 16384), 8);
		/* More come at a time than end in 3 us, or fewer */
		rig.now += rnd_below(&rnd, i / 100 % 2 ? 2000 : 12000);
	}
	finish(&rig);
	done(&rig);
}

/*
 * By a second program: of all commands, by their ends, the first one waits for three more, or for
 * 3 us; and for none if no more than four are under way.
 */
static void naive_interrupts(struct disk_request *requests)
{
	static u64 told[BATCHED];
	static bool ended[BATCHED];
	u32 held = 0, first = 0, left, i, j, next, under_way;

	memset(told, 0, sizeof(told));
	memset(ended, 0, sizeof(ended));
	for (left = BATCHED; left; left--) {
		for (next = BATCHED, i = 0; i < BATCHED; i++)
			if (!ended[i] && (next == BATCHED ||
					  requests[i].completion < requests[next].completion))
				next = i;
		if (held && requests[first].completion + 3 * US < requests[next].completion) {
			for (j = 0; j < BATCHED; j++)
				if (ended[j] && !told[j])
					told[j] = requests[first].completion + 3 * US;
			held = 0;
		}
		ended[next] = true;
		if (!held++)
			first = next;
		for (under_way = held, j = 0; j < BATCHED; j++)
			under_way += !ended[j] && requests[j].arrival < requests[next].completion;
		if (held < 4 && under_way > 4 && left > 1)
			continue;
		for (j = 0; j < BATCHED; j++)
			if (ended[j] && !told[j])
				told[j] = requests[next].completion;
		held = 0;
	}
	for (j = 0; j < BATCHED; j++)
		requests[j].completion = told[j];
}

static void an_interrupt_may_tell_of_several_commands(struct kunit *test)
{
	struct disk_request *plain = kvcalloc(BATCHED, sizeof(*plain), GFP_KERNEL);
	struct disk_request *batched = kvcalloc(BATCHED, sizeof(*batched), GFP_KERNEL);
	u32 i, later = 0, together = 0;

	KUNIT_ASSERT_TRUE(test, plain && batched);
	read_steadily(test, "", plain);
	read_steadily(test, "interrupt_batch=4;interrupt_time=3us", batched);
	for (i = 0; i < BATCHED; i++)
		later += batched[i].completion > plain[i].completion;
	naive_interrupts(plain);
	for (i = 0; i < BATCHED; i++) {
		const struct disk_request *one = &batched[i];

		KUNIT_EXPECT_EQ_MSG(test, one->completion, plain[i].completion, "%u", i);
		KUNIT_EXPECT_EQ(test, drive_parts_total(&one->parts),
				one->completion - one->arrival);
		together += i && one->completion == one[-1].completion;
	}
	/* Some wait, some do not. */
	KUNIT_EXPECT_GE_MSG(test, later, BATCHED / 4, "%u", later);
	KUNIT_EXPECT_LE_MSG(test, later, BATCHED * 3 / 4, "%u", later);
	KUNIT_EXPECT_GE_MSG(test, together, BATCHED / 8, "%u", together);
	kvfree(plain);
	kvfree(batched);
}

#define STREAM		3000

/* At some time from now to @at the drive does some of what it has to do when it was idle. */
static void catch_up(struct rig *rig, struct rnd *rnd, u64 at)
{
	u64 now = rig->now + rnd_below(rnd, at - rig->now + 1);
	u32 times = rnd_below(rnd, 3);

	disk_advance(rig->disk, now);
	while (times-- && disk_catch_up(rig->disk, now))
		;
}

/* What is at some sectors is of no use, or others change the map: in the middle of an idle time. */
static void change_map(struct rig *rig, struct rnd *rnd, struct rnd *calls, bool often)
{
	u32 nr = rnd_below(rnd, 4);

	for (; nr; nr--) {
		u64 at = rig->now + rnd_below(rnd, 20 * MS);
		u64 sector = rnd_below(rnd, rig->profile.sectors - 16384);

		if (often)
			catch_up(rig, calls, at);
		rig->now = at;
		if (rnd_below(rnd, 4))
			disk_trim(rig->disk, sector, 8 + rnd_below(rnd, 16000), at);
		else
			disk_settle(rig->disk, at);
	}
}

/*
 * A random stream. @often: the disk is called at each event, and in between, else only for the next
 * request.
 */
static void run_stream(struct rig *rig, struct disk_request *requests, bool often)
{
	struct rnd rnd = { 3 }, calls = { 5 };
	u64 next, at = 0;
	u32 i, sent = 0;

	for (i = 0; i < STREAM; i++) {
		u32 kind = rnd_below(&rnd, 100);
		enum disk_op op = kind < 45 ? DISK_READ : kind < 97 ? DISK_WRITE : DISK_FLUSH;
		u32 sectors = op == DISK_FLUSH ? 0 : 8 << rnd_below(&rnd, 6);
		u64 sector = rnd_below(&rnd, rig->profile.sectors - 256);

		at += rnd_below(&rnd, 2) ? rnd_below(&rnd, 1000) : rnd_below(&rnd, 600000);
		if (i % 10 == 0) {
			change_map(rig, &rnd, &calls, often);
			at = max(at, rig->now);
		}
		at += i % 50 ? 0 : rnd_below(&rnd, 60 * MS);
		while (often && (next = disk_next_event(rig->disk)) < at)
			disk_advance(rig->disk, next);
		if (often)
			catch_up(rig, &calls, at);
		rig->now = at;
		if (kind == 50)
			disk_trim(rig->disk, sector, 256, at);
		/* Both ways refuse the same: whoever may not enter is left out. */
		if (!disk_enter(rig->disk, &rig->who, op, at))
			continue;
		requests[sent] = (struct disk_request) {
			.op = op, .sector = sector, .sectors = sectors,
			.flags = DISK_SYNC | (kind == 60 ? DISK_FUA : 0),
		};
		disk_submit(rig->disk, &requests[sent++], at);
	}
	finish(rig);
}

static void check_lateness(struct kunit *test, const char *kind, const char *words)
{
	struct solid_figures figures[2];
	struct disk_request *requests[2];
	static struct rig rig;
	u32 i, k;

	for (k = 0; k < 2; k++) {
		prepare(&rig, test, kind, words);
		requests[k] = kvcalloc(STREAM, sizeof(**requests), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, requests[k]);
		run_stream(&rig, requests[k], k);
		disk_solid_figures(rig.disk, &figures[k]);
		done(&rig);
	}
	KUNIT_EXPECT_EQ(test, figures[0].moved_pages, figures[1].moved_pages);
	KUNIT_EXPECT_EQ(test, figures[0].folded_pages, figures[1].folded_pages);
	for (i = 0; i < STREAM; i++)
		if (requests[0][i].completion != requests[1][i].completion)
			break;
	KUNIT_EXPECT_EQ_MSG(test, i, (u32)STREAM, "request %u ends at %llu or at %llu", i,
			    (unsigned long long)requests[0][i % STREAM].completion,
			    (unsigned long long)requests[1][i % STREAM].completion);
	kvfree(requests[0]);
	kvfree(requests[1]);
}

#define ALL_CACHES	"buffer_reads=yes;map_cache=64KiB;map_coverage=256KiB;slc_cache=4MiB;"	\
			"slc_cache_min=1MiB;slc_idle_after=100us;slc_fold_rate=100MB/s;"

#define IDLE_GC		"gc_idle_rate=90MB/s;gc_idle_after=50us;gc_idle_room=9MiB;"

static void a_late_call_changes_no_time(struct kunit *test)
{
	check_lateness(test, MEMORY, "");
	check_lateness(test, PLAIN_SSD, "precondition=random;suspends=9;suspend_time=20us");
	check_lateness(test, TLC_SSD, "precondition=random;precondition_fill=0.9;gc=cost-benefit");
	check_lateness(test, SATA_SSD, "precondition=random");
	check_lateness(test, PLAIN_SSD, ALL_CACHES "precondition=random");
	check_lateness(test, SATA_SSD, ALL_CACHES "slc_full=fold;wake_time=9us");
	check_lateness(test, PLAIN_SSD, IDLE_GC "precondition=random");
	check_lateness(test, PLAIN_SSD, ALL_CACHES IDLE_GC "precondition=random");
	check_lateness(test, SATA_SSD, "interrupt_batch=4;interrupt_time=30us");
	check_lateness(test, PLAIN_SSD, "precondition=random;interrupt_batch=3;interrupt_time=9us");
}

static u64 idle_work(struct rig *rig)
{
	struct solid_figures figures;

	disk_solid_figures(rig->disk, &figures);
	return figures.folded_pages + figures.moved_pages;
}

/*
 * The drive has been idle for an hour, and has worked on so many pages of its map. By calls of
 * which none takes long: then nothing is left for the next command, which comes at once.
 */
static void check_pieces(struct kunit *test, const char *words, u32 writes, u64 least, u64 most)
{
	u64 before, begin, calls = 0;
	static struct rig rig;
	u32 i;

	prepare(&rig, test, PLAIN_SSD, words);
	for (i = 0; i < writes; i++)
		time_of(&rig, DISK_WRITE, 64 * i * 7 % 131072, 64);
	rig.now += 3600 * 1000 * MS;
	disk_advance(rig.disk, rig.now);
	begin = idle_work(&rig);
	do {
		before = idle_work(&rig);
		calls++;
	} while (disk_catch_up(rig.disk, rig.now) && idle_work(&rig) - before <= most);
	KUNIT_EXPECT_LE(test, idle_work(&rig) - before, most);
	before = idle_work(&rig);
	KUNIT_EXPECT_GE(test, before - begin, least);
	KUNIT_EXPECT_LE(test, calls, (before - begin) / 64 + 3);
	KUNIT_EXPECT_EQ(test, time_of(&rig, DISK_READ, 0, 8), READ_4K);
	KUNIT_EXPECT_EQ(test, idle_work(&rig), before);
	done(&rig);
}

static void what_an_idle_drive_has_done_comes_in_pieces(struct kunit *test)
{
	check_pieces(test, "slc_cache=48MiB;slc_idle_after=1s;slc_fold_rate=50MB/s", 2048, 12288,
		     2 * 128);
	check_pieces(test, "slc_cache=48MiB;slc_idle_after=1s;slc_fold_rate=50MB/s;"
		     "precondition=random", 2048, 12288, 2 * 128);
	check_pieces(test, "precondition=random;gc_idle_rate=90MB/s;gc_idle_after=1s;"
		     "gc_idle_room=12MiB", 1, 1025, 128);
}

/* In ten idle times of 11 ms, 10 ms of each. */
static void what_an_idle_drive_collects_is_by_its_rate(struct kunit *test)
{
	static struct rig rig;
	u64 begin;
	u32 i, late;

	for (late = 0; late < 2; late++) {
		prepare(&rig, test, PLAIN_SSD, "precondition=random;gc_idle_rate=40MB/s;"
			"gc_idle_after=1ms;gc_idle_room=14MiB");
		rig.now = 1 * MS;
		time_of(&rig, DISK_READ, 0, 8);
		begin = idle_work(&rig);
		for (i = 1; i <= 10; i++) {
			rig.now = 11 * MS * i - 3 * MS;
			/* Who asks before the command comes changes nothing. */
			while (late && disk_catch_up(rig.disk, rig.now))
				;
			rig.now += 4 * MS;
			time_of(&rig, DISK_READ, 0, 8);
			/* 10 ms of 40 MB/s are 97.7 pages of 4 KiB. */
			KUNIT_EXPECT_EQ(test, idle_work(&rig) - begin, 97ULL * i);
		}
		done(&rig);
	}
}

/* An older host in front: its flush waits for all commands, and what comes later for the flush. */
static void serial_ata_flushes_alone(struct kunit *test)
{
	struct disk_request read, flush, later;
	static struct rig rig;

	prepare(&rig, test, SATA_SSD, "precondition=sequential;power_loss_protection=yes");
	submit(&rig, &read, DISK_READ, 800, 8);
	submit(&rig, &flush, DISK_FLUSH, 0, 0);
	rig.now += 1 * US;
	submit(&rig, &later, DISK_READ, 1600, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, read.completion, READ_4K);
	KUNIT_EXPECT_EQ(test, flush.completion, read.completion + 8 * US);
	KUNIT_EXPECT_EQ(test, later.completion, flush.completion + READ_4K);
	done(&rig);
}

/* What waits for other commands, or for programs, is no transfer. */
static void waits_are_parts_of_their_own(struct kunit *test)
{
	struct disk_request r[3];
	static struct rig rig;

	/* Two reads of one page: the second waits for the controller, and until the die is free. */
	prepare(&rig, test, PLAIN_SSD, "precondition=sequential");
	submit(&rig, &r[0], DISK_READ, 800, 8);
	submit(&rig, &r[1], DISK_READ, 800, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[0].parts.overhead, 6 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.die, 50 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.channel, 10 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.transfer, 2 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.queued + r[0].parts.map, 0ULL);
	KUNIT_EXPECT_EQ(test, r[1].parts.queued, 60 * US);
	KUNIT_EXPECT_EQ(test, r[1].parts.die, 50 * US);
	KUNIT_EXPECT_EQ(test, r[1].parts.channel, 10 * US);
	KUNIT_EXPECT_EQ(test, r[1].parts.transfer, 2 * US);
	done(&rig);

	/* A flush waits 40 us for the channel and 600 us for the program. */
	prepare(&rig, test, PLAIN_SSD, "");
	time_of(&rig, DISK_WRITE, 800, 8);
	submit(&rig, &r[0], DISK_FLUSH, 0, 0);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[0].parts.overhead, 8 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.flush, 639 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.transfer + r[0].parts.queued, 0ULL);
	r[0] = (struct disk_request) { .op = DISK_WRITE, .sectors = 8, .flags = DISK_FUA };
	disk_submit(rig.disk, &r[0], rig.now);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[0].parts.transfer, 2 * US);
	/* The program began when the write came, so 3 us of it are the command's and the link's. */
	KUNIT_EXPECT_EQ(test, r[0].parts.flush, 637 * US);
	done(&rig);

	/* 20 units of 16 KiB for a buffer of 16: the last ones wait for room. */
	prepare(&rig, test, PLAIN_SSD, "");
	write_units(&rig, 20, 1);
	submit(&rig, &r[0], DISK_WRITE, 640, 32);
	finish(&rig);
	KUNIT_EXPECT_GE(test, r[0].parts.queued, 100 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.transfer, 8 * US);
	KUNIT_EXPECT_EQ(test, r[0].parts.flush, 0ULL);
	done(&rig);

	/* Memory of two units, a command a microsecond: the third waits for the first. */
	prepare(&rig, test, MEMORY, "");
	submit(&rig, &r[0], DISK_READ, 0, 8);
	submit(&rig, &r[1], DISK_READ, 8, 8);
	submit(&rig, &r[2], DISK_READ, 16, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, r[2].parts.overhead, 10 * US);
	KUNIT_EXPECT_EQ(test, r[2].parts.queued, 9 * US);
	KUNIT_EXPECT_EQ(test, r[2].parts.transfer, 2 * US);
	done(&rig);
}

/* All tags are given, none twice; requests larger than a command take several. */
static void tags_run_out_and_come_back(struct kunit *test)
{
	static struct disk_request r[65];
	static struct rig rig;
	u32 i;

	prepare(&rig, test, MEMORY, "");
	for (i = 0; i < 63; i++)
		submit(&rig, &r[i], DISK_READ, 8 * i, 8);
	submit(&rig, &r[63], DISK_READ, 1024, 1024);	/* 16 commands, one tag */
	KUNIT_EXPECT_FALSE(test, disk_enter(rig.disk, &rig.who, DISK_WRITE, rig.now));
	KUNIT_EXPECT_EQ(test, disk_wakeups(rig.disk, DISK_WRITE), 0U);
	finish(&rig);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_NE(test, r[i].completion, 0ULL);
	KUNIT_EXPECT_EQ(test, disk_wakeups(rig.disk, DISK_WRITE), 64U);
	disk_woken(rig.disk, &rig.who, DISK_WRITE, rig.now);
	KUNIT_EXPECT_EQ(test, disk_wakeups(rig.disk, DISK_READ), 63U);
	submit(&rig, &r[64], DISK_WRITE, 0, 8);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, disk_wakeups(rig.disk, DISK_READ), 64U);
	done(&rig);
}

static struct kunit_case solid_cases[] = {
	KUNIT_CASE(memory_serves_one_command_in_a_unit),
	KUNIT_CASE(collection_moves_a_stripe_in_one_go),
	KUNIT_CASE(pages_written_at_random_lie_at_random),
	KUNIT_CASE(a_large_read_takes_the_controller_longer),
	KUNIT_CASE(a_part_of_a_page_takes_a_read_and_a_page),
	KUNIT_CASE(small_writes_are_as_a_naive_program_has_them),
	KUNIT_CASE(flushes_write_their_journals_one_after_another),
	KUNIT_CASE(reads_wait_while_the_map_is_written),
	KUNIT_CASE(an_interface_says_whether_reads_and_writes_share_the_link),
	KUNIT_CASE(a_read_is_command_flash_channel_link),
	KUNIT_CASE(what_was_never_written_is_not_in_flash),
	KUNIT_CASE(two_drives_of_one_map_share_what_is_written),
	KUNIT_CASE(a_flush_writes_what_would_be_lost),
	KUNIT_CASE(a_full_buffer_empties_at_the_dies_rate),
	KUNIT_CASE(a_write_comes_into_the_buffer_in_pieces),
	KUNIT_CASE(dies_erase_one_after_another),
	KUNIT_CASE(a_read_suspends_a_program_if_the_drive_can),
	KUNIT_CASE(page_types_are_read_at_speeds_of_their_own),
	KUNIT_CASE(a_profile_may_add_to_some_commands),
	KUNIT_CASE(the_first_of_several_writes_wakes_the_drive),
	KUNIT_CASE(some_programs_cannot_be_suspended),
	KUNIT_CASE(the_map_is_written_with_some_flushes),
	KUNIT_CASE(what_waits_in_the_buffer_is_read_from_there),
	KUNIT_CASE(a_read_reads_the_map_first_if_it_is_not_in_memory),
	KUNIT_CASE(random_reads_miss_the_map_by_the_closed_form),
	KUNIT_CASE(random_writes_write_the_map_too),
	KUNIT_CASE(an_slc_cache_is_fast_until_it_is_full),
	KUNIT_CASE(a_full_slc_cache_may_have_to_make_room),
	KUNIT_CASE(trims_make_room_in_the_slc_cache),
	KUNIT_CASE(reads_and_flushes_of_the_slc_cache_are_fast),
	KUNIT_CASE(folding_is_in_the_way_of_the_next_command),
	KUNIT_CASE(an_interrupt_may_tell_of_several_commands),
	KUNIT_CASE(a_late_call_changes_no_time),
	KUNIT_CASE(what_an_idle_drive_has_done_comes_in_pieces),
	KUNIT_CASE(what_an_idle_drive_collects_is_by_its_rate),
	KUNIT_CASE(serial_ata_flushes_alone),
	KUNIT_CASE(waits_are_parts_of_their_own),
	KUNIT_CASE(tags_run_out_and_come_back),
	{}
};

static struct kunit_suite solid_suite = {
	.name = "solid",
	.test_cases = solid_cases,
};

kunit_test_suite(solid_suite);
