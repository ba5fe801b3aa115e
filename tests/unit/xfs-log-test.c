// SPDX-License-Identifier: GPL-2.0
/* An xfs log by hand. Real ones: tests/system/selfid_record.py. */
#include <kunit/test.h>

#include "../../classifier/xfs/xfs-log.h"
#include "random.h"

#define LOG_SECTORS	1024
#define ROOM		(40 * 1024)	/* of a record's content */
#define BLOCK_SHIFT	3

#define TRANSACTION	0x69
#define START		0x01
#define COMMIT		0x02
#define CONTINUES	0x04
#define CONTINUED	0x08

#define DIRECTORY	(11 << 11)	/* types of buffers, in a format's flags */
#define BTREE		(4 << 11)
#define CANCEL		2

/* Too large for a kernel's stack. */
static struct xfs_log l;
static u8 disk[LOG_SECTORS][512];
static u64 memory[2][LOGSET_MIN_BYTES / 8];

/* The record being made, and the log's end. */
static struct {
	u8 content[ROOM];
	u32 bytes, operations;
	u32 place, cycle;
	u32 size;		/* of a record in memory: more than 32 KiB need a larger header */
	bool silent;		/* written, but not seen */
} w;

static u64 at(u32 cycle, u32 place)
{
	return (u64)cycle * LOG_SECTORS + place;
}

static u64 end_of_log(void)
{
	return at(w.cycle, w.place);
}

static void start(void)
{
	struct xfs_log_geo geo = { .sectors = LOG_SECTORS, .block_shift = BLOCK_SHIFT };

	memset(&l, 0, sizeof(l));
	memset(geo.uuid, 0x77, sizeof(geo.uuid));
	xfs_log_init(&l, &geo);
	memset(memory, 0, sizeof(memory));
	logset_give(&l.set, memory[0], sizeof(memory[0]));
	memset(disk, 0, sizeof(disk));
	memset(&w, 0, sizeof(w));
	w.cycle = 1;
	w.size = 32768;
}

static void put(const void *data, u32 n)
{
	if (n)
		memcpy(w.content + w.bytes, data, n);
	w.bytes += n;
}

static void operation(u32 id, u8 client, u8 flags, const void *data, u32 n)
{
	__be32 word[2] = { cpu_to_be32(id), cpu_to_be32(n) };
	u8 rest[4] = { client, flags };

	put(word, sizeof(word));
	put(rest, sizeof(rest));
	put(data, n);
	w.operations++;
}

/* What begins the item of a buffer, with one word of bitmap. */
static void make_format(u8 *to, u16 flags, u16 sectors, u64 place)
{
	__le64 number = cpu_to_le64(place);

	memset(to, 0, 24);
	to[0] = 0x3c;
	to[1] = 0x12;
	to[2] = 2;
	to[4] = flags;
	to[5] = flags >> 8;
	to[6] = sectors;
	to[7] = sectors >> 8;
	memcpy(to + 8, &number, sizeof(number));
	to[16] = 1;
}

static void buffer(u16 flags, u16 sectors, u64 place)
{
	static const u8 content[128] = { 0x5a, 0x5a };
	u8 format[24];

	make_format(format, flags, sectors, place);
	operation(7, TRANSACTION, 0, format, sizeof(format));
	operation(7, TRANSACTION, 0, content, sizeof(content));
}

static void see(u32 place)
{
	if (!w.silent)
		xfs_log_write(&l, place, disk[place]);
}

static void set_header(struct xfs_log_header *h, u32 cycle, u32 place, u64 tail)
{
	memset(h, 0, sizeof(*h));
	h->magic = cpu_to_be32(XFS_LOG_MAGIC);
	h->cycle = cpu_to_be32(cycle);
	h->version = cpu_to_be32(2);
	h->lsn_cycle = cpu_to_be32(cycle);
	h->lsn_block = cpu_to_be32(place);
	h->tail_cycle = cpu_to_be32(tail / LOG_SECTORS);
	h->tail_block = cpu_to_be32(tail % LOG_SECTORS);
	h->format = cpu_to_be32(1);
	memset(h->uuid, 0x77, sizeof(h->uuid));
}

/* One sector on, over the log's end. */
static u8 *next_sector(u32 *place)
{
	u8 *sector = disk[w.place];

	*place = w.place;
	memset(sector, 0, 512);
	if (++w.place == LOG_SECTORS) {
		w.place = 0;
		w.cycle++;
	}
	return sector;
}

/* Write the record; sectors are seen in order. */
static void finish(u64 tail)
{
	u32 headers = max(DIV_ROUND_UP(w.size, 32768), 1), sectors = DIV_ROUND_UP(w.bytes, 512);
	u32 first = 0, places[8], cycle = w.cycle, place, i, k;
	struct xfs_log_header *h;
	__be32 now;

	for (i = 0; i < headers; i++)
		next_sector(&places[i]);
	first = places[0];
	h = (struct xfs_log_header *)disk[first];
	set_header(h, cycle, first, tail);
	h->bytes = cpu_to_be32(sectors * 512);
	h->operations = cpu_to_be32(w.operations);
	h->size = cpu_to_be32(w.size);
	for (i = 1; i < headers; i++) {
		now = cpu_to_be32(places[i] < first ? cycle + 1 : cycle);
		memcpy(disk[places[i]], &now, sizeof(now));
	}
	/* The first word of each sector goes to the header, and the cycle in its place. */
	for (k = 0; k < sectors; k++) {
		void *words = k < 64 ? (void *)h->cycle_data :
				       disk[places[k / 64]] + sizeof(__be32);
		u32 n = min_t(u32, w.bytes - k * 512, 512);
		u8 *sector;

		now = cpu_to_be32(w.cycle);
		sector = next_sector(&place);
		memcpy(sector, w.content + k * 512, n);
		memcpy(words + k % 64 * sizeof(__be32), sector, sizeof(__be32));
		memcpy(sector, &now, sizeof(now));
	}
	for (i = 0, place = first; i < headers + sectors; i++, place = (place + 1) % LOG_SECTORS)
		see(place);
	w.bytes = 0;
	w.operations = 0;
}

static void unmount_record(void)
{
	u8 magic[8] = { 'n', 'U' };

	operation(3, XFS_LOG_CLIENT, XFS_LOG_UNMOUNT, magic, sizeof(magic));
	finish(end_of_log());
}

/* What a mount clears behind the end, as far as @n. */
static void clear_run(u64 tail, u32 n)
{
	u32 i, cycle = w.cycle - 1, place = w.place;

	for (i = 0; i < n && place + i < LOG_SECTORS; i++) {
		memset(disk[place + i], 0, 512);
		set_header((void *)disk[place + i], cycle, place + i, tail);
		see(place + i);
	}
}

static bool has(u64 sector)
{
	return xfs_log_has(&l, sector >> BLOCK_SHIFT);
}

static void logged_directories_are_known_from_a_clean_mount_on(struct kunit *test)
{
	u64 tail;

	start();
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	unmount_record();
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	xfs_log_mount(&l);
	clear_run(at(1, 0), 100);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	tail = end_of_log();
	operation(7, TRANSACTION, START, NULL, 0);
	buffer(DIRECTORY, 8, 8000);
	buffer(DIRECTORY, 24, 16000);
	buffer(0, 8, 24000);
	operation(7, TRANSACTION, COMMIT, NULL, 0);
	finish(tail);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_TRUE(test, has(8000) && !has(8008) && !has(7992));
	KUNIT_EXPECT_TRUE(test, has(16000) && has(16008) && has(16016) && !has(16024));
	KUNIT_EXPECT_TRUE(test, has(24000));
	unmount_record();
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_FALSE(test, has(8000));
	KUNIT_EXPECT_EQ(test, l.count.missed + l.count.bad, 0);
}

static void what_is_no_directory_block_is_passed_over(struct kunit *test)
{
	u8 content[128];

	start();
	unmount_record();
	buffer(BTREE, 8, 8000);
	buffer(DIRECTORY | CANCEL, 8, 8008);
	buffer(DIRECTORY, 1, 8016);
	buffer(DIRECTORY, 0, 8024);
	buffer(DIRECTORY, 136, 8032);
	buffer(DIRECTORY, 8, 1ULL << 60);
	/* Not where an item begins. */
	make_format(content + 64, DIRECTORY, 8, 8040);
	operation(7, TRANSACTION, 0, content + 40, 60);
	make_format(content, DIRECTORY, 8, 8048);
	operation(7, TRANSACTION, 0, content, 15);
	operation(7, XFS_LOG_CLIENT, 0, content, 24);
	finish(at(1, 2));
	KUNIT_EXPECT_EQ(test, l.set.used, 0);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
}

/* A record that ends after @cut bytes of the format; another transaction comes in between. */
static void continue_format(struct kunit *test, u32 cut, u32 before)
{
	static const u8 zeros[600];
	u8 format[24];

	make_format(format, DIRECTORY, 8, 8000 + 8 * cut);
	operation(7, TRANSACTION, START, NULL, 0);
	operation(9, TRANSACTION, 0, zeros, before);
	operation(7, TRANSACTION, CONTINUES, format, cut);
	finish(at(1, 2));
	operation(9, TRANSACTION, 0, zeros, before);
	operation(7, TRANSACTION, CONTINUED, format + cut, sizeof(format) - cut);
	finish(at(1, 2));
	KUNIT_EXPECT_EQ_MSG(test, has(8000 + 8 * cut), true, "cut after %u bytes", cut);
}

static void formats_go_on_in_the_next_record(struct kunit *test)
{
	u32 cut, before;

	for (before = 440; before < 520; before += 4) {
		start();
		unmount_record();
		for (cut = 1; cut < 24; cut++)
			continue_format(test, cut, before);
		KUNIT_EXPECT_EQ_MSG(test, l.count.missed, 0, "%u bytes before", before);
	}
}

static void headers_may_have_several_sectors_and_the_log_an_end(struct kunit *test)
{
	static const u8 zeros[500];
	u32 round, i;

	start();
	unmount_record();
	w.size = 65536;
	for (round = 0; round < 20; round++) {
		u64 tail = end_of_log();

		/* All over more sectors than one header has words for. */
		for (i = 0; i < 70; i++) {
			buffer(DIRECTORY, 8, (round * 100 + i) * 8);
			operation(7, TRANSACTION, 0, zeros, 300 + round);
		}
		finish(tail);
		for (i = 0; i < 70; i++)
			KUNIT_EXPECT_EQ_MSG(test, has((round * 100 + i) * 8), true, "round %u: %u",
					    round, i);
	}
	KUNIT_EXPECT_GE(test, w.cycle, 2);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_EQ(test, l.count.missed + l.count.bad, 0);
}

static void what_is_home_makes_room(struct kunit *test)
{
	u32 i, k;

	start();
	unmount_record();
	for (i = 0; i < 40; i++) {
		u64 tail = end_of_log();

		for (k = 0; k < 150; k++)
			buffer(DIRECTORY, 8, (i * 1000 + k) * 8);
		finish(tail);
		KUNIT_EXPECT_TRUE(test, has((i * 1000) * 8));
	}
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_EQ(test, l.count.missed, 0);
}

static void without_room_it_is_not_complete_until_the_tail_has_moved_on(struct kunit *test)
{
	u64 tail, full;
	u32 i, k;

	start();
	unmount_record();
	tail = end_of_log();
	for (i = 0; i < 8; i++) {
		for (k = 0; k < 150; k++)
			buffer(DIRECTORY, 8, (i * 1000 + k) * 8);
		finish(tail);
	}
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	full = end_of_log();
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
		buffer(DIRECTORY, 8, 8);
		finish(full);
	}
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
}

static void a_page_cache_writes_sectors_again(struct kunit *test)
{
	u32 round, place, page;

	start();
	unmount_record();
	clear_run(at(1, 0), 200);
	for (round = 0; round < 30; round++) {
		page = w.place & ~7u;
		w.silent = true;
		buffer(DIRECTORY, 8, round * 80);
		finish(at(1, 2));
		w.silent = false;
		for (place = page; place < ((w.place + 7) & ~7u); place++)
			see(place);
		KUNIT_EXPECT_EQ_MSG(test, has(round * 80), true, "round %u", round);
	}
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_EQ(test, l.count.missed, 0);
}

#define MIXED	6

/*
 * Transactions side by side, whose formats go on over the ends of records; so many mixed, of which
 * sectors of @beside come in turns.
 */
static void live_mixed(struct kunit *test, u64 seed, u32 beside)
{
	static const u8 zeros[700];
	u32 first[MIXED], end[MIXED], order[MIXED], cut[3] = { }, round, i, k, id;
	struct rnd rnd = { seed };
	u64 tail, number = 1000, cut_number[3] = { };
	u8 format[24];

	start();
	unmount_record();
	for (round = 0; round < 12; round++) {
		u64 from = number;

		tail = end_of_log();
		w.silent = true;
		for (i = 0; i < MIXED; i++) {
			first[i] = w.place;
			/* Others, whose regions are no formats, go on as well. */
			operation(77, TRANSACTION, CONTINUED | CONTINUES, zeros, 30);
			for (id = 0; id < 3; id++) {
				if (!cut[id] || !rnd_below(&rnd, 3))
					continue;
				make_format(format, DIRECTORY, 8, cut_number[id] * 8);
				operation(id, TRANSACTION, CONTINUED, format + cut[id],
					  24 - cut[id]);
				cut[id] = 0;
			}
			for (k = rnd_below(&rnd, 4); k; k--)
				buffer(DIRECTORY, 8, number++ * 8);
			operation(8, TRANSACTION, 0, zeros, rnd_below(&rnd, 700));
			for (id = 0; id < 3; id++) {
				if (cut[id] || rnd_below(&rnd, 2) || i == MIXED - 1)
					continue;
				cut[id] = 1 + rnd_below(&rnd, 23);
				cut_number[id] = number++;
				make_format(format, DIRECTORY, 8, cut_number[id] * 8);
				operation(id, TRANSACTION, CONTINUES, format, cut[id]);
			}
			finish(tail);
			end[i] = w.place;
			order[i] = i;
		}
		w.silent = false;
		for (i = MIXED; i > 1; i--) {
			k = rnd_below(&rnd, i);
			id = order[k];
			order[k] = order[i - 1];
			order[i - 1] = id;
		}
		for (i = MIXED; i;) {
			u32 *one = &order[rnd_below(&rnd, min(i, beside))];

			for (k = 1 + rnd_below(&rnd, 4); k && first[*one] != end[*one]; k--) {
				see(first[*one]);
				first[*one] = (first[*one] + 1) % LOG_SECTORS;
			}
			if (first[*one] == end[*one])
				*one = order[--i];
		}
		for (; from < number; from++)
			if (!(cut[0] && from == cut_number[0]) &&
			    !(cut[1] && from == cut_number[1]) &&
			    !(cut[2] && from == cut_number[2]))
				KUNIT_EXPECT_EQ_MSG(test, has(from * 8), true,
						    "seed %u, round %u: %u", (u32)seed, round,
						    (u32)from);
	}
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_EQ_MSG(test, l.count.missed + l.count.bad, 0, "seed %u", (u32)seed);
}

static void records_come_in_any_order(struct kunit *test)
{
	u64 seed;

	for (seed = 1; seed < 60; seed++)
		live_mixed(test, seed, 1);
}

static void records_come_in_turns(struct kunit *test)
{
	u64 seed;

	for (seed = 1; seed < 60; seed++)
		live_mixed(test, seed, 2 + seed % (XFS_LOG_BESIDE - 1));
}

/* Begin so many records, and do not end them. */
static void begin_records(u32 n, u32 *rest)
{
	u32 i, place;

	for (i = 0; i < n; i++) {
		place = w.place;
		w.silent = true;
		buffer(DIRECTORY, 8, 800 + i * 80);
		finish(at(1, 2));
		w.silent = false;
		see(place);
		rest[i] = (place + 1) % LOG_SECTORS;
	}
}

static void a_record_begun_is_awaited(struct kunit *test)
{
	u32 rest[XFS_LOG_BESIDE + 1];

	start();
	unmount_record();
	begin_records(XFS_LOG_BESIDE, rest);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	see(rest[0]);
	KUNIT_EXPECT_TRUE(test, !l.count.missed && has(800) && !has(880));
	see(rest[2]);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l) && has(960));
	/* One too many. */
	start();
	unmount_record();
	begin_records(XFS_LOG_BESIDE + 1, rest);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	/* Begun again: another log may have been made of it. */
	start();
	unmount_record();
	begin_records(2, rest);
	disk[rest[0] - 1][32]++;
	see(rest[0] - 1);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	/* All that was begun before a mount is forgotten. */
	start();
	unmount_record();
	begin_records(3, rest);
	xfs_log_mount(&l);
	begin_records(1, rest + 3);
	see(rest[0]);
	KUNIT_EXPECT_FALSE(test, has(800));
}

static void too_many_gaps_end_it(struct kunit *test)
{
	u32 i;

	start();
	unmount_record();
	for (i = 0; i < 2 * XFS_LOG_RUNS + 2; i++) {
		w.silent = i % 2 == 0;
		buffer(DIRECTORY, 8, 800);
		finish(at(1, 2));
	}
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_EQ(test, l.count.missed, 1);
}

static void what_came_before_it_was_joined_does_not_matter(struct kunit *test)
{
	u32 place, first;

	start();
	first = w.place;
	w.silent = true;
	buffer(DIRECTORY, 8, 800);
	finish(at(1, 0) - 1);
	w.silent = false;
	place = w.place;
	buffer(DIRECTORY, 8, 1600);
	finish(at(1, 0) - 1);
	for (; first < place; first++)
		see(first);
	buffer(DIRECTORY, 8, 2400);
	finish(at(1, place));
	buffer(DIRECTORY, 8, 2400);
	finish(at(1, place));
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_TRUE(test, has(1600) && has(2400));
	KUNIT_EXPECT_EQ(test, l.count.missed, 0);
}

static void recovery_is_over_when_all_of_it_is_home(struct kunit *test)
{
	u64 tail, first;

	start();
	unmount_record();
	tail = end_of_log();
	buffer(DIRECTORY, 8, 800);
	finish(tail);
	buffer(DIRECTORY, 8, 1600);
	finish(tail);
	/* A crash, and a mount that finds the log as it is. */
	xfs_log_mount(&l);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	clear_run(tail, 100);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	first = end_of_log();
	buffer(DIRECTORY, 8, 2400);
	finish(tail);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	buffer(DIRECTORY, 8, 3200);
	finish(first - 1);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	buffer(DIRECTORY, 8, 3200);
	finish(first);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_TRUE(test, has(2400) && has(3200) && !has(800));
}

static void a_mount_that_is_not_seen_is_told_by_what_it_clears(struct kunit *test)
{
	u64 tail;

	start();
	unmount_record();
	tail = end_of_log();
	buffer(DIRECTORY, 8, 800);
	finish(tail);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	clear_run(tail, 100);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
}

static void the_first_record_of_a_clean_mount_says_so(struct kunit *test)
{
	start();
	w.silent = true;
	unmount_record();
	w.silent = false;
	xfs_log_mount(&l);
	clear_run(at(1, 0), 100);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	buffer(DIRECTORY, 8, 800);
	finish(end_of_log());
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_TRUE(test, has(800));
}

/* What is in front of the sectors that a mount cleared. */
static void learn(struct kunit *test)
{
	u32 place, sectors;

	KUNIT_ASSERT_TRUE(test, xfs_log_want(&l, &place, &sectors));
	KUNIT_ASSERT_EQ(test, place + sectors, w.place);
	xfs_log_learn(&l, disk[place]);
}

static void where_an_unmount_was_not_seen_it_is_read(struct kunit *test)
{
	u32 place, sectors;

	start();
	w.silent = true;
	buffer(DIRECTORY, 8, 800);
	finish(at(1, 0));
	unmount_record();
	w.silent = false;
	xfs_log_mount(&l);
	KUNIT_EXPECT_FALSE(test, xfs_log_want(&l, &place, &sectors));
	clear_run(at(1, 0), 100);
	learn(test);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_FALSE(test, xfs_log_want(&l, &place, &sectors));
	buffer(DIRECTORY, 8, 1600);
	finish(end_of_log());
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l) && has(1600) && !has(800));

	/* After a crash there is none. */
	start();
	w.silent = true;
	unmount_record();
	buffer(DIRECTORY, 8, 800);
	finish(at(1, 0));
	w.silent = false;
	xfs_log_mount(&l);
	clear_run(at(1, 0), 100);
	learn(test);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	/* Nor where the first record came before it was read. */
	start();
	w.silent = true;
	unmount_record();
	w.silent = false;
	clear_run(at(1, 0), 100);
	buffer(DIRECTORY, 8, 800);
	finish(at(1, 0));
	xfs_log_learn(&l, disk[0]);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	xfs_log_learn(&l, NULL);
}

static void loaded_in_the_middle_two_records_have_to_say_so(struct kunit *test)
{
	u64 first;

	start();
	w.place = 100;
	first = end_of_log();
	buffer(DIRECTORY, 8, 800);
	finish(first - 50);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	buffer(DIRECTORY, 8, 1600);
	finish(first);
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	buffer(DIRECTORY, 8, 2400);
	finish(first);
	KUNIT_EXPECT_TRUE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_TRUE(test, has(800) && has(1600) && has(2400));
}

static void damaged_records_end_it(struct kunit *test)
{
	static const struct {
		u32 at, value;
	} cases[] = {
		{ 0, 0 }, { 4, 9 }, { 8, 1 }, { 12, 0x70000000 }, { 16, 9 }, { 20, 9 }, { 24, 9 },
		{ 28, 0x7000000 }, { 40, 900 }, { 300, 2 }, { 304, 0 }, { 320, 0x7fffffff },
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		__be32 value = cpu_to_be32(cases[i].value);
		u32 place, first;

		start();
		unmount_record();
		first = w.place;
		w.silent = true;
		buffer(DIRECTORY, 8, 800);
		finish(at(1, 2));
		w.silent = false;
		memcpy(disk[first] + cases[i].at, &value, sizeof(value));
		for (place = first; place < w.place; place++)
			see(place);
		buffer(DIRECTORY, 8, 1600);
		finish(at(1, 2));
		KUNIT_EXPECT_EQ_MSG(test, xfs_log_complete(&l), false, "case %d", i);
		KUNIT_EXPECT_GE_MSG(test, l.count.missed, 1, "case %d", i);
	}
}

static void unknown_operations_end_it(struct kunit *test)
{
	u8 byte = 1;

	start();
	unmount_record();
	operation(7, 0x33, 0, &byte, 1);
	finish(at(1, 2));
	KUNIT_EXPECT_FALSE(test, xfs_log_complete(&l));
	KUNIT_EXPECT_EQ(test, l.count.bad, 1);
}

static struct kunit_case xfs_log_cases[] = {
	KUNIT_CASE(logged_directories_are_known_from_a_clean_mount_on),
	KUNIT_CASE(what_is_no_directory_block_is_passed_over),
	KUNIT_CASE(formats_go_on_in_the_next_record),
	KUNIT_CASE(headers_may_have_several_sectors_and_the_log_an_end),
	KUNIT_CASE(what_is_home_makes_room),
	KUNIT_CASE(without_room_it_is_not_complete_until_the_tail_has_moved_on),
	KUNIT_CASE(a_page_cache_writes_sectors_again),
	KUNIT_CASE(records_come_in_any_order),
	KUNIT_CASE(records_come_in_turns),
	KUNIT_CASE(a_record_begun_is_awaited),
	KUNIT_CASE(too_many_gaps_end_it),
	KUNIT_CASE(what_came_before_it_was_joined_does_not_matter),
	KUNIT_CASE(recovery_is_over_when_all_of_it_is_home),
	KUNIT_CASE(a_mount_that_is_not_seen_is_told_by_what_it_clears),
	KUNIT_CASE(the_first_record_of_a_clean_mount_says_so),
	KUNIT_CASE(where_an_unmount_was_not_seen_it_is_read),
	KUNIT_CASE(loaded_in_the_middle_two_records_have_to_say_so),
	KUNIT_CASE(damaged_records_end_it),
	KUNIT_CASE(unknown_operations_end_it),
	{}
};

static struct kunit_suite xfs_log_suite = {
	.name = "xfs-log",
	.test_cases = xfs_log_cases,
};

kunit_test_suite(xfs_log_suite);
