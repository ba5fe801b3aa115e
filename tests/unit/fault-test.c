// SPDX-License-Identifier: GPL-2.0
/* Drives that fail: which requests, how much longer the others take, and the text form. */
#include "../../model/fault/fault.h"
#include "drive-bench.h"
#include "worded-disk.h"

#ifdef __KERNEL__
#define ROUNDS	20
#else
#define ROUNDS	300
#endif

/* Static in the tests: a kernel's stack is small. */
static struct faults faults, again;
static struct fault_error error;

static void add(struct kunit *test, const char *text)
{
	KUNIT_ASSERT_EQ_MSG(test, faults_parse(&faults, text, &error), 0, "%s", error.text);
}

/* 64 MiB in blocks of 4 KiB */
static const struct profile blocks = {
	.sectors = 131072, .physical_block = 4096, .read_retries = 3, .read_retry_time = 10 * MS,
	.write_error_time = 25 * MS, .host_timeout = 500 * MS, .host_retries = 1,
};

static void what_is_printed_is_parsed_to_the_same(struct kunit *test)
{
	static const char *const texts[] = {
		"none",
		"media-error:sectors=8-15",
		"media-error:sectors=4096-:one_in=1000:seed=7:over=365d",
		"media-error:from=36h:for=10m:every=1d",
		"timeout:one_in=1000000:seed=18446744073709551615,drawn:requests=12",
		"gone:from=90s",
		"slow:sectors=0-65535:factor=1.250",
		"slow:factor=10000.000:from=1ns:for=1ms:every=1s,firmware-stall:from=2h:for=30s",
		"media-error:sectors=8-15,moved:sectors=0-7,moved:sectors=16-131071",
		"moved:sectors=131064-131071",
	};
	static char text[400], second[400];
	u32 i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		faults_init(&faults, &blocks);
		faults_init(&again, &blocks);
		add(test, texts[i]);
		KUNIT_EXPECT_EQ(test, faults_print(&faults, text, sizeof(text)),
				strlen(texts[i]));
		KUNIT_EXPECT_STREQ(test, text, texts[i]);
		KUNIT_ASSERT_EQ(test, faults_parse(&again, text, &error), 0);
		faults_print(&again, second, sizeof(second));
		KUNIT_EXPECT_STREQ(test, second, text);
		KUNIT_EXPECT_EQ(test, memcmp(&faults, &again, sizeof(faults)), 0);
	}
}

static void a_wrong_text_says_what_is_wrong(struct kunit *test)
{
	static const char *const texts[][2] = {
		{ "", "\"\" is no kind of fault" },
		{ "media", "\"media\" is no kind of fault" },
		{ "media-error:sectors=8", "media-error: sectors= has no value that it may have" },
		{ "media-error:sectors=9-8",
		  "media-error: sectors= has no value that it may have" },
		{ "media-error:sectors=131072-", "media-error: the disk has no such sectors" },
		{ "media-error:one_in=0", "media-error: one_in= has no value that it may have" },
		{ "media-error:seed=18446744073709551616",
		  "media-error: seed= has no value that it may have" },
		{ "media-error:factor=2", "media-error has no word \"factor=2\"" },
		{ "gone:sectors=0-7", "gone has no word \"sectors=0-7\"" },
		{ "gone:from=1s:from=2s", "gone: from stands twice" },
		{ "gone:from=1", "gone: from= has no value that it may have" },
		{ "gone:from=99999999999d", "gone: from= has no value that it may have" },
		{ "gone:every=1s", "gone: every= needs a shorter for=" },
		{ "gone:for=1s:every=1s", "gone: every= needs a shorter for=" },
		{ "gone from", "gone: there is \" from\" behind it" },
		{ "gone,", "\"\" is no kind of fault" },
		{ "slow", "slow needs factor=" },
		{ "slow:factor=0.999", "slow: factor= has no value that it may have" },
		{ "slow:factor=1.0005", "slow: factor= has no value that it may have" },
		{ "slow:factor=10001", "slow: factor= has no value that it may have" },
		{ "firmware-stall", "firmware-stall needs for=" },
		{ "firmware-stall:for=6ms:every=11ms",
		  "firmware-stall: every= is at least 10ms and twice for=" },
		{ "firmware-stall:for=1ms:every=9ms",
		  "firmware-stall: every= is at least 10ms and twice for=" },
		{ "firmware-stall:for=1s:every=5s,firmware-stall:for=1s:every=6s",
		  "one firmware-stall may have every=" },
		{ "moved:sectors=0-", "moved wants :sectors=A-B" },
		{ "drawn", "drawn wants :requests=N" },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		faults_init(&faults, &blocks);
		KUNIT_EXPECT_EQ_MSG(test, faults_parse(&faults, texts[i][0], &error), -EINVAL,
				    "%s", texts[i][0]);
		KUNIT_EXPECT_STREQ(test, error.text, texts[i][1]);
	}
}

#define BLOCKS	64

/* The naive second model: a byte for each block. */
struct naive {
	u8 bad[BLOCKS], moved[BLOCKS];
};

static bool naive_meets(struct naive *naive, enum disk_op op, u32 sector, u32 sectors, u64 *bad)
{
	u32 s, block;

	for (s = sector; s < sector + sectors; s++) {
		block = s / 8;
		if (naive->bad[block] && (op == DISK_READ || block * 8 < sector ||
					  block * 8 + 8 > sector + sectors)) {
			*bad = s;
			return true;
		}
	}
	for (s = sector; op == DISK_WRITE && s < sector + sectors; s++) {
		naive->moved[s / 8] |= naive->bad[s / 8];
		naive->bad[s / 8] = 0;
	}
	return false;
}

static void spoil(struct kunit *test, struct naive *naive, struct rnd *rnd)
{
	u32 first = rnd_below(rnd, BLOCKS * 8), last = first + rnd_below(rnd, 40), block;
	char text[60];

	last = min(last, BLOCKS * 8U - 1);
	snprintf(text, sizeof(text), "media-error:sectors=%u-%u", first, last);
	if (faults.nr == FAULTS_MOST)
		return;
	add(test, text);
	for (block = first / 8; block <= last / 8; block++) {
		naive->bad[block] = 1;
		naive->moved[block] = 0;
	}
}

static void check_moved(struct kunit *test, const struct naive *naive)
{
	u32 block;

	for (block = 0; block < BLOCKS; block++)
		KUNIT_ASSERT_EQ(test, !!faults_moved(&faults, block * 8 + block % 8, 1),
				(bool)naive->moved[block]);
}

static void reads_fail_and_whole_writes_mend_as_in_a_naive_model(struct kunit *test)
{
	struct rnd rnd = { 5 };
	struct fault_met met;
	struct naive naive;
	u32 round, i;

	for (round = 0; round < ROUNDS; round++) {
		memset(&naive, 0, sizeof(naive));
		faults_init(&faults, &blocks);
		for (i = 0; i < 100; i++) {
			enum disk_op op = rnd_below(&rnd, 3) ? DISK_READ : DISK_WRITE;
			u32 sectors = 1 + rnd_below(&rnd, 60);
			u32 sector = rnd_below(&rnd, BLOCKS * 8 - sectors);
			u64 bad = 0;
			bool fails;

			if (!rnd_below(&rnd, 10))
				spoil(test, &naive, &rnd);
			if (rnd_below(&rnd, 2)) {
				sector &= ~7U;
				sectors = (sectors + 7) & ~7U;
			}
			fails = naive_meets(&naive, op, sector, sectors, &bad);
			faults_meet(&faults, op, sector, sectors, i, &met);
			KUNIT_ASSERT_EQ(test, met.kind, fails ? FAULT_MEDIA : FAULT_NONE);
			KUNIT_ASSERT_EQ(test, met.sector, bad);
			check_moved(test, &naive);
		}
	}
}

/* A text of some faults, what they take back, and what was moved, in any order. */
static void some_text(struct rnd *rnd, char *text, size_t size)
{
	u32 items = 1 + rnd_below(rnd, 4), len = 0, i, first, last;

	for (i = 0; i < items; i++) {
		first = rnd_below(rnd, BLOCKS * 8);
		last = min(first + rnd_below(rnd, 60), BLOCKS * 8U - 1);
		len += snprintf(text + len, size - len, "%s", i ? "," : "");
		switch (rnd_below(rnd, 5)) {
		case 0:
			len += snprintf(text + len, size - len, "moved:sectors=%u-%u", first, last);
			break;
		case 1:
			len += snprintf(text + len, size - len, "drawn:requests=%u", first);
			break;
		case 2:
			len += snprintf(text + len, size - len, "firmware-stall:for=%ums:every=9s",
					1 + first);
			break;
		case 3:
			len += snprintf(text + len, size - len, "slow:factor=%u", 1 + last);
			break;
		default:
			len += snprintf(text + len, size - len, "media-error:sectors=%u-%u", first,
					last);
		}
	}
}

/* What lies behind the last run that was moved is nothing. */
static bool same_faults(const struct faults *a, const struct faults *b)
{
	return a->shift == b->shift && a->drawn == b->drawn && a->nr == b->nr &&
	       a->nr_moved == b->nr_moved && !memcmp(a->all, b->all, a->nr * sizeof(*a->all)) &&
	       !memcmp(a->moved, b->moved, a->nr_moved * sizeof(*a->moved)) &&
	       !memcmp(&a->figures, &b->figures, sizeof(a->figures));
}

/* Parsed aside and merged, while requests go on in between, it is as if it were parsed then. */
static void what_is_merged_is_as_if_it_were_parsed(struct kunit *test)
{
	static struct faults added;
	struct fault_error other;
	struct rnd rnd = { 11 };
	struct fault_met met;
	u32 round, i, refused = 0;
	static char text[400];
	int r;

	for (round = 0; round < ROUNDS; round++) {
		faults_init(&faults, &blocks);
		for (i = 0; i < 12; i++) {
			u32 block = rnd_below(&rnd, BLOCKS);

			some_text(&rnd, text, sizeof(text));
			faults_init_added(&added, &blocks);
			r = faults_parse(&added, text, &error);
			faults_meet(&faults, DISK_WRITE, block * 8, 8, i, &met);
			again = faults;
			if (!r)
				r = faults_merge(&again, &added, &error);
			refused += r == -EINVAL;
			if (r) {
				again = faults;
				KUNIT_ASSERT_EQ(test, faults_parse(&again, text, &other), r);
				KUNIT_ASSERT_STREQ(test, error.text, other.text);
				continue;
			}
			KUNIT_ASSERT_EQ_MSG(test, faults_parse(&faults, text, &error), 0, "%s: %s",
					    text, error.text);
			KUNIT_ASSERT_TRUE_MSG(test, same_faults(&faults, &again), "%s", text);
		}
	}
	KUNIT_EXPECT_GE(test, refused, (u32)ROUNDS);
}

/* Of a write in pieces, with no more of them at a time than @most blocks. */
static void meet_in_pieces(u32 most, u64 sector, u64 sectors, u64 now, struct fault_met *met)
{
	u64 end = sector + sectors, next;

	faults_meet_silence(&again, sector, sectors, now, met);
	for (; !met->kind && sector < end; sector = next) {
		next = min(end, (sector | (most * 8 - 1)) + 1);
		faults_meet_media(&again, DISK_WRITE, sector, next - sector, now, met);
	}
}

/* It fails where the whole one does; what was bad before that may have been moved, and no more. */
static void a_write_in_pieces_meets_what_the_whole_one_meets(struct kunit *test)
{
	struct fault_met whole, pieces;
	struct rnd rnd = { 3 };
	u32 round, failed = 0, i;

	for (round = 0; round < 10 * ROUNDS; round++) {
		u32 sectors = 1 + rnd_below(&rnd, BLOCKS * 8);
		u32 sector = rnd_below(&rnd, BLOCKS * 8 - sectors + 1);
		static char text[400];

		faults_init(&faults, &blocks);
		snprintf(text, sizeof(text),
			 "media-error:one_in=%u:seed=%u,timeout:one_in=9,gone:from=9s",
			 1 + rnd_below(&rnd, 20), round);
		add(test, text);
		again = faults;
		faults_meet(&faults, DISK_WRITE, sector, sectors, round % 10 * SECOND, &whole);
		meet_in_pieces(1 << rnd_below(&rnd, 5), sector, sectors, round % 10 * SECOND,
			       &pieces);
		KUNIT_ASSERT_EQ(test, pieces.kind, whole.kind);
		KUNIT_ASSERT_EQ(test, pieces.sector, whole.sector);
		failed += whole.kind == FAULT_MEDIA;
		if (!whole.kind) {
			KUNIT_ASSERT_TRUE(test, same_faults(&faults, &again));
			continue;
		}
		for (i = whole.sector; whole.kind == FAULT_MEDIA && i < BLOCKS * 8; i++)
			KUNIT_ASSERT_EQ(test, !!faults_moved(&again, i, 1), false);
	}
	KUNIT_EXPECT_GE(test, failed, (u32)ROUNDS);
}

/* The share is near what was asked for; another seed draws others; a large read meets any of it. */
static void a_share_of_the_blocks_is_drawn(struct kunit *test)
{
	u64 block, nr = blocks.sectors / 8, bad = 0, both = 0, whole = 0;
	struct fault_met met, other;

	faults_init(&faults, &blocks);
	faults_init(&again, &blocks);
	add(test, "media-error:one_in=16:seed=1");
	KUNIT_ASSERT_EQ(test, faults_parse(&again, "media-error:one_in=16:seed=2", &error), 0);
	for (block = 0; block < nr; block++) {
		faults_meet(&faults, DISK_READ, block * 8, 8, 0, &met);
		faults_meet(&again, DISK_READ, block * 8, 8, 0, &other);
		bad += met.kind == FAULT_MEDIA;
		both += met.kind && other.kind;
		whole |= (u64)(met.kind == FAULT_MEDIA) << block % 8;
		if (block % 8 == 7) {
			faults_meet(&faults, DISK_READ, (block - 7) * 8, 64, 0, &met);
			KUNIT_ASSERT_EQ(test, met.kind == FAULT_MEDIA, whole != 0);
			whole = 0;
		}
	}
	/* 1024 of 16384 with a standard deviation of 31; 64 with one of 8 */
	KUNIT_EXPECT_LE(test, max(bad, 1024ULL) - min(bad, 1024ULL), 124ULL);
	KUNIT_EXPECT_LE(test, max(both, 64ULL) - min(both, 64ULL), 32ULL);
}

/* What is bad stays bad, and there is evenly more of it. */
static void a_share_grows_with_age(struct kunit *test)
{
	u64 block, nr = blocks.sectors / 8, step, bad[5];
	struct fault_met met;
	static u8 was[131072 / 8];

	memset(was, 0, sizeof(was));
	faults_init(&faults, &blocks);
	add(test, "media-error:one_in=4:from=1s:over=4s");
	for (step = 0; step < 5; step++) {
		bad[step] = 0;
		for (block = 0; block < nr; block++) {
			faults_meet(&faults, DISK_READ, block * 8, 8, (1 + step) * SECOND, &met);
			KUNIT_ASSERT_LE(test, was[block], (u8)(met.kind == FAULT_MEDIA));
			was[block] = met.kind == FAULT_MEDIA;
			bad[step] += was[block];
		}
	}
	for (step = 0; step < 5; step++)
		KUNIT_EXPECT_LE(test, max(bad[step], 1024 * step) - min(bad[step], 1024 * step),
				220ULL);
}

static void spare_blocks_run_out(struct kunit *test)
{
	struct fault_met met;
	u64 block;

	faults_init(&faults, &blocks);
	add(test, "media-error");
	for (block = 0; block < FAULTS_MOVED; block++) {
		faults_meet(&faults, DISK_WRITE, block * 16, 8, 0, &met);
		KUNIT_ASSERT_EQ(test, met.kind, FAULT_NONE);
	}
	faults_meet(&faults, DISK_WRITE, block * 16, 8, 0, &met);
	KUNIT_EXPECT_EQ(test, met.kind, FAULT_MEDIA);
	KUNIT_EXPECT_EQ(test, faults.nr_moved, FAULTS_MOVED);
	KUNIT_EXPECT_EQ(test, faults.figures.moved, (u64)FAULTS_MOVED);
	KUNIT_EXPECT_EQ(test, faults.figures.media_writes, 1ULL);
}

static void timeouts_and_a_drive_that_is_gone_keep_their_times(struct kunit *test)
{
	struct fault_met met;
	u64 second, failed = 0;

	faults_init(&faults, &blocks);
	add(test, "timeout:sectors=100-199:from=2s:for=1s:every=4s,gone:from=20s:for=2s");
	faults.shift = 5 * SECOND;
	for (second = 5; second < 30; second++) {
		u64 phase = (second + 4 - 2) % 4;
		bool gone = second == 20 || second == 21;

		faults_meet(&faults, DISK_WRITE, 199, 1, second * SECOND - faults.shift, &met);
		KUNIT_EXPECT_EQ(test, met.kind, gone ? FAULT_GONE :
						!phase ? FAULT_TIMEOUT : FAULT_NONE);
		KUNIT_EXPECT_EQ(test, met.ns, met.kind == FAULT_TIMEOUT ? SECOND : 0);
		faults_meet(&faults, DISK_READ, 200, 8, second * SECOND - faults.shift, &met);
		KUNIT_EXPECT_EQ(test, met.kind, gone ? FAULT_GONE : FAULT_NONE);
		/* A flush is met by what is everywhere. */
		faults_meet(&faults, DISK_FLUSH, 0, 0, second * SECOND - faults.shift, &met);
		KUNIT_EXPECT_EQ(test, met.kind, gone ? FAULT_GONE : FAULT_NONE);
	}
	faults_init(&faults, &blocks);
	add(test, "timeout:one_in=10:seed=3");
	for (second = 0; second < 10000; second++) {
		faults_meet(&faults, DISK_FLUSH, 0, 0, 0, &met);
		failed += met.kind == FAULT_TIMEOUT;
	}
	KUNIT_EXPECT_LE(test, max(failed, 1000ULL) - min(failed, 1000ULL), 120ULL);
	KUNIT_EXPECT_EQ(test, faults.figures.timeouts, failed);
	KUNIT_EXPECT_EQ(test, faults.drawn, 10000ULL);
}

/* Step by step: a tick of work is done in each tick that is not in a stall. */
static u64 naive_stalled(u32 (*stalls)[3], u32 age, u32 work)
{
	u32 begin = age, i, since;

	while (work) {
		bool stalled = false;

		for (i = 0; i < 3; i++) {
			if (age < stalls[i][0])
				continue;
			since = age - stalls[i][0];
			if (stalls[i][2])
				since %= stalls[i][2];
			stalled |= since < stalls[i][1];
		}
		work -= !stalled;
		age++;
	}
	return age - begin;
}

static void a_stall_holds_everything_up(struct kunit *test)
{
	struct rnd rnd = { 9 };
	u32 round, i;

	for (round = 0; round < ROUNDS; round++) {
		u32 stalls[3][3] = { };
		char text[60];

		faults_init(&faults, &blocks);

		for (i = 0; i < 3; i++) {
			stalls[i][0] = rnd_below(&rnd, 300);
			stalls[i][1] = 1 + rnd_below(&rnd, 60);
		}
		stalls[2][2] = 10 + 2 * stalls[2][1] + rnd_below(&rnd, 50);
		for (i = 0; i < 3; i++) {
			snprintf(text, sizeof(text), "firmware-stall:from=%ums:for=%ums%s%u%s",
				 stalls[i][0], stalls[i][1], i < 2 ? ",drawn:requests=" : ":every=",
				 stalls[i][2], i < 2 ? "" : "ms");
			add(test, text);
		}
		for (i = 0; i < 30; i++) {
			u64 age = rnd_below(&rnd, 500), work = 1 + rnd_below(&rnd, 200);
			u64 ns = faults_time(&faults, DISK_READ, false, 0, 8, age * MS, work * MS);

			KUNIT_ASSERT_EQ(test, ns, naive_stalled(stalls, age, work) * MS);
		}
	}
}

static void retries_and_factors_take_their_time(struct kunit *test)
{
	struct profile limited = blocks;

	faults_init(&faults, &blocks);
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_READ, true, 0, 8, 0, 7), 30 * MS + 7);
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_WRITE, true, 0, 8, 0, 7), 25 * MS + 7);
	limited.erc_read = 12 * MS;
	limited.erc_write = 70 * MS;
	faults.profile = &limited;
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_READ, true, 0, 8, 0, 7), 12 * MS + 7);
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_WRITE, true, 0, 8, 0, 7), 25 * MS + 7);
	add(test, "slow:factor=2.5,slow:sectors=100-199:factor=4:from=10s");
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_READ, false, 0, 8, 0, 1001), 2502ULL);
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_READ, false, 199, 8, 9 * SECOND, 1000),
			2500ULL);
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_READ, false, 199, 8, 10 * SECOND, 1000),
			4000ULL);
	KUNIT_EXPECT_EQ(test, faults_time(&faults, DISK_FLUSH, false, 0, 0, 10 * SECOND, 1000),
			2500ULL);
	KUNIT_EXPECT_EQ(test, faults.figures.slowed, 4ULL);
	KUNIT_EXPECT_EQ(test, faults.figures.stalled, 0ULL);
}

/* The drive */

static void begin(struct bench *b, struct kunit *test, const char *text)
{
	prepare(b, test);
	b->profile.read_retries = 20;
	b->profile.read_retry_time = 15 * MS;
	start(b);
	faults_init(&faults, &b->profile);
	add(test, text);
	drive_set_faults(b->drive, &faults, 0);
}

/* As serve(), of a block that is bad. */
static u64 serve_bad(struct bench *b, u64 sector, struct drive_parts *parts)
{
	u64 from = b->now;

	b->now = serve_at(b, DISK_READ, DISK_BAD, sector, 8, from, parts);
	KUNIT_EXPECT_EQ(b->test, drive_parts_total(parts), b->now - from);
	return b->now - from;
}

static void a_bad_read_takes_the_retries_and_no_more(struct kunit *test)
{
	static struct bench b, good;	/* the kernel's stack is small */
	struct drive_parts parts;
	u64 usual;

	begin(&b, test, "media-error:sectors=4000-4007");
	prepare(&good, test);
	start(&good);
	usual = serve(&good, DISK_READ, 4000, 8);
	KUNIT_EXPECT_EQ(test, serve_bad(&b, 4000, &parts), usual + 300 * MS);
	KUNIT_EXPECT_EQ(test, parts.fault, 300 * MS);
	/* The arm is where it was, and 30 revolutions later the platters are, too. */
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 9000, 8), serve(&good, DISK_READ, 9000, 8));
	stop(&b);
	stop(&good);
}

/* By hand: from the home's last sector to the spare area at the disk's end, and the block. */
static u64 by_hand(const struct bench *b, u64 end, u32 cylinder, u32 sectors)
{
	u64 revolution = b->profile.revolution, sector = div_u64(revolution, INNER), late;
	struct place spare;

	geometry_find(b->drive->media.geometry, b->profile.sectors - 1, &spare);
	end += seek_time(&b->profile, spare.cylinder - cylinder);
	div64_u64_rem(end + revolution - sector * spare.slot, revolution, &late);
	return end + (late ? revolution - late : 0) + sectors * sector;
}

static void a_block_that_was_moved_has_a_detour_for_ever(struct kunit *test)
{
	static struct bench b, good;	/* the kernel's stack is small */
	u64 end;
	u32 i;

	begin(&b, test, "moved:sectors=4002-4004");
	for (i = 0; i < 3; i++) {
		b.now = i * SECOND;
		prepare(&good, test);
		start(&good);
		good.now = b.now;
		good.drive->media.cylinder = b.drive->media.cylinder;
		good.drive->media.head = b.drive->media.head;
		serve(&good, i % 2 ? DISK_WRITE : DISK_READ, 4000, 8);
		serve(&b, i % 2 ? DISK_WRITE : DISK_READ, 4000, 8);
		end = by_hand(&good, good.now, good.drive->media.cylinder, 3);
		KUNIT_EXPECT_EQ(test, b.now, end);
		KUNIT_EXPECT_EQ(test, b.drive->media.cylinder, (u32)CYLINDERS - 1);
		stop(&good);
	}
	KUNIT_EXPECT_EQ(test, faults.figures.detours, 3ULL);
	/* Beside it there is none. */
	serve(&b, DISK_READ, 4005, 8);
	KUNIT_EXPECT_EQ(test, faults.figures.detours, 3ULL);
	stop(&b);
}

static void a_slow_drive_is_slow_where_and_when_it_is(struct kunit *test)
{
	static struct bench b, good;	/* the kernel's stack is small */
	u64 usual;

	begin(&b, test, "slow:sectors=0-19999:factor=3:from=1s");
	prepare(&good, test);
	start(&good);
	usual = serve(&good, DISK_READ, 5000, 8);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 5000, 8), usual);
	good.now = SECOND;
	b.now = SECOND;
	usual = serve(&good, DISK_READ, 8000, 8);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 8000, 8), 3 * usual);
	good.now = 2 * SECOND;
	b.now = 2 * SECOND;
	usual = serve(&good, DISK_READ, 30000, 8);
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_READ, 30000, 8), usual);
	stop(&b);
	stop(&good);
}

/* With any faults parts add up, and the same commands give the same. */
static u64 random_commands(struct bench *b, u64 seed)
{
	struct rnd rnd = { seed };
	struct drive_parts parts;
	u64 sum = 0;
	u32 i;

	start(b);
	faults_init(&faults, &b->profile);
	add(b->test, "slow:sectors=3000-50000:factor=1.7:from=2s:for=3s:every=5s");
	add(b->test, "firmware-stall:from=1s:for=40ms:every=100ms");
	add(b->test, "moved:sectors=0-9,moved:sectors=1000-16999,moved:sectors=40000-40003");
	drive_set_faults(b->drive, &faults, 0);
	for (i = 0; i < COMMANDS / 20; i++) {
		enum disk_op op = rnd_below(&rnd, 20) ? rnd_below(&rnd, 2) : DISK_FLUSH;
		u32 sectors = op == DISK_FLUSH ? 0 : 1 + rnd_below(&rnd, 300);
		u32 flags = op != DISK_FLUSH && !rnd_below(&rnd, 9) ? DISK_BAD : 0;
		u64 from = b->now + rnd_below(&rnd, 30 * MS);

		b->now = serve_at(b, op, flags, rnd_below(&rnd, b->profile.sectors - 300),
				  sectors, from, &parts);
		KUNIT_ASSERT_GE(b->test, b->now, from);
		KUNIT_ASSERT_EQ(b->test, drive_parts_total(&parts), b->now - from);
		sum = sum * 31 + b->now;
	}
	KUNIT_EXPECT_GE(b->test, faults.figures.detours, 1ULL);
	KUNIT_EXPECT_GE(b->test, faults.figures.stalled, 1ULL);
	stop(b);
	return sum;
}

static void parts_add_up_whatever_fails(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u32 i;

	for (i = 0; i < 8; i++) {
		prepare(&b, test);
		if (i & 1)
			add_cache(&b);
		b.profile.write_cache = i & 2 ? WRITE_CACHE_BACK : WRITE_CACHE_OFF;
		b.profile.write_buffer = i & 4 ? 400 : 0;
		b.profile.read_retries = 4;
		b.profile.read_retry_time = 9 * MS;
		KUNIT_EXPECT_EQ(test, random_commands(&b, i), random_commands(&b, i));
	}
}

/* Disks, with their hosts */

#define MEMORY	"name=t;kind=memory;capacity=64MiB;units=1;read_latency=1ms;write_latency=1ms;"	\
		"flush_overhead=1ms;read_retries=2;read_retry_time=50ms;host_timeout=3s;"
#define DRIVE	"name=t;capacity=64MiB;rpm=6000;cylinders=1024;heads=1;"			\
		"zone=0,1023,128,131072,0,0,0,0,0;seek=1,1ms;seek=1023,9ms;ncq_depth=4;"	\
		"overhead=1ms;read_retries=2;read_retry_time=50ms;host_timeout=3s;physical_block=4096;"

struct rig {
	struct profile profile;
	struct disk *disk;
	struct drive_sums sums;
	struct disk_request requests[8];
	u32 nr, ended;
};

static void rig_begin(struct kunit *test, struct rig *rig, const char *drive, const char *host,
		      const char *text)
{
	memset(rig, 0, sizeof(*rig));
	rig->disk = disk_of_words(test, &rig->profile, drive, host);
	faults_init(&faults, &rig->profile);
	add(test, text);
	disk_set_faults(rig->disk, &faults);
	disk_sum_into(rig->disk, &rig->sums);
}

static void rig_submit(struct rig *rig, enum disk_op op, u64 sector, u32 sectors, u64 now)
{
	struct disk_request *request = &rig->requests[rig->nr++];

	*request = (struct disk_request) {
		.op = op, .sector = sector, .sectors = sectors, .flags = DISK_SYNC,
	};
	disk_submit(rig->disk, request, now);
}

/* All of them end, one after another. */
static void rig_end(struct kunit *test, struct rig *rig)
{
	struct disk_request *done;
	u64 last = 0, next;

	while ((next = disk_next_event(rig->disk)) != U64_MAX) {
		for (done = disk_advance(rig->disk, next); done; done = done->next) {
			KUNIT_EXPECT_GE(test, done->completion, last);
			KUNIT_EXPECT_EQ(test, done->completion, next);
			last = done->completion;
			rig->ended++;
		}
	}
	KUNIT_EXPECT_EQ(test, rig->ended, rig->nr);
	disk_destroy(rig->disk);
	profile_free(&rig->profile);
}

static const char *const hosts[] = { "", "host=blk-mq;", "host=nvme;" };

static void a_memory_fails_with_each_host(struct kunit *test)
{
	static struct rig rig;
	const struct disk_request *r = rig.requests;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(hosts); i++) {
		rig_begin(test, &rig, MEMORY, hosts[i],
			  "media-error:sectors=8-15,gone:from=10s:for=1s");
		add(test, "timeout:from=20s:for=1ms,firmware-stall:from=30s:for=2s");
		add(test, "slow:factor=5:from=40s");
		rig_submit(&rig, DISK_READ, 8, 8, 0);
		rig_submit(&rig, DISK_READ, 16, 8, SECOND);
		rig_submit(&rig, DISK_WRITE, 8, 8, 2 * SECOND);
		rig_submit(&rig, DISK_READ, 8, 8, 3 * SECOND);
		rig_submit(&rig, DISK_WRITE, 8, 8, 10 * SECOND);
		rig_submit(&rig, DISK_FLUSH, 0, 0, 20 * SECOND);
		rig_submit(&rig, DISK_READ, 8, 8, 31 * SECOND);
		rig_submit(&rig, DISK_READ, 8, 8, 41 * SECOND);
		rig_end(test, &rig);
		KUNIT_EXPECT_EQ(test, r[0].fault, FAULT_MEDIA);
		KUNIT_EXPECT_EQ(test, r[0].bad, 8ULL);
		KUNIT_EXPECT_EQ(test, r[0].completion - r[1].completion, 0 - 900 * MS);
		KUNIT_EXPECT_EQ(test, r[0].parts.fault, 100 * MS);
		KUNIT_EXPECT_EQ(test, r[2].fault, FAULT_NONE);
		KUNIT_EXPECT_EQ(test, r[3].fault, FAULT_NONE);
		KUNIT_EXPECT_EQ(test, r[4].fault, FAULT_GONE);
		KUNIT_EXPECT_EQ(test, r[4].completion, 10 * SECOND);
		KUNIT_EXPECT_EQ(test, r[5].fault, FAULT_TIMEOUT);
		KUNIT_EXPECT_EQ(test, r[5].completion, 23 * SECOND);
		/* All it would have taken comes after the stall. */
		KUNIT_EXPECT_EQ(test, r[6].completion - r[3].completion, 29 * SECOND);
		KUNIT_EXPECT_EQ(test, r[7].completion - 41 * SECOND,
				5 * (r[3].completion - 3 * SECOND));
		KUNIT_EXPECT_EQ(test, rig.sums.parts.fault, r[0].parts.fault + r[6].parts.fault +
							    r[7].parts.fault);
	}
}

/* All that the arm is wanted for waits while it tries. The rest of a request is no part of that. */
static void a_disk_serves_nothing_while_it_tries_again(struct kunit *test)
{
	static struct rig rig;
	const struct disk_request *r = rig.requests;
	u32 i;

	for (i = 0; i < 2; i++) {
		rig_begin(test, &rig, DRIVE, hosts[i], "media-error:sectors=1000-1000");
		rig_submit(&rig, DISK_READ, 1001, 1, 0);
		rig_submit(&rig, DISK_READ, 60000, 8, 1 * MS);
		rig_submit(&rig, DISK_WRITE, 1002, 3, SECOND);
		rig_submit(&rig, DISK_READ, 2000, 8, 2 * SECOND);
		rig_submit(&rig, DISK_WRITE, 1000, 8, 3 * SECOND);
		rig_submit(&rig, DISK_READ, 1000, 8, 4 * SECOND);
		rig_end(test, &rig);
		KUNIT_EXPECT_EQ(test, r[0].fault, FAULT_MEDIA);
		KUNIT_EXPECT_EQ(test, r[0].parts.fault, 100 * MS);
		KUNIT_EXPECT_EQ(test, r[1].fault, FAULT_NONE);
		KUNIT_EXPECT_GE(test, r[1].completion, r[0].completion);
		/* A part of a bad block cannot be written. */
		KUNIT_EXPECT_EQ(test, r[2].fault, FAULT_MEDIA);
		KUNIT_EXPECT_EQ(test, r[2].bad, 1002ULL);
		KUNIT_EXPECT_EQ(test, r[3].fault, FAULT_NONE);
		KUNIT_EXPECT_EQ(test, r[4].fault, FAULT_NONE);
		KUNIT_EXPECT_EQ(test, r[5].fault, FAULT_NONE);
		KUNIT_EXPECT_GE(test, r[5].parts.fault, 9 * MS);
		KUNIT_EXPECT_EQ(test, faults.figures.media_reads, 1ULL);
		KUNIT_EXPECT_EQ(test, faults.figures.media_writes, 1ULL);
	}
}

/* A request that is cut into commands takes the retries of the one that has the bad block. */
static void a_large_request_tries_once(struct kunit *test)
{
	static struct rig rig;
	u64 usual;
	u32 i;

	for (i = 0; i < 2; i++) {
		rig_begin(test, &rig, DRIVE "max_sectors=64sectors;", hosts[i], "none");
		rig_submit(&rig, DISK_READ, 0, 640, 0);
		rig_end(test, &rig);
		usual = rig.requests[0].completion;
		rig_begin(test, &rig, DRIVE "max_sectors=64sectors;", hosts[i],
			  "media-error:sectors=632-639");
		rig_submit(&rig, DISK_READ, 0, 640, 0);
		rig_end(test, &rig);
		KUNIT_EXPECT_EQ(test, rig.requests[0].completion, usual + 100 * MS);
		KUNIT_EXPECT_EQ(test, rig.requests[0].bad, 632ULL);
	}
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(what_is_printed_is_parsed_to_the_same),
	KUNIT_CASE(a_wrong_text_says_what_is_wrong),
	KUNIT_CASE(reads_fail_and_whole_writes_mend_as_in_a_naive_model),
	KUNIT_CASE(what_is_merged_is_as_if_it_were_parsed),
	KUNIT_CASE(a_write_in_pieces_meets_what_the_whole_one_meets),
	KUNIT_CASE(a_share_of_the_blocks_is_drawn),
	KUNIT_CASE(a_share_grows_with_age),
	KUNIT_CASE(spare_blocks_run_out),
	KUNIT_CASE(timeouts_and_a_drive_that_is_gone_keep_their_times),
	KUNIT_CASE(a_stall_holds_everything_up),
	KUNIT_CASE(retries_and_factors_take_their_time),
	KUNIT_CASE(a_bad_read_takes_the_retries_and_no_more),
	KUNIT_CASE(a_block_that_was_moved_has_a_detour_for_ever),
	KUNIT_CASE(a_slow_drive_is_slow_where_and_when_it_is),
	KUNIT_CASE(parts_add_up_whatever_fails),
	KUNIT_CASE(a_memory_fails_with_each_host),
	KUNIT_CASE(a_disk_serves_nothing_while_it_tries_again),
	KUNIT_CASE(a_large_request_tries_once),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "fault",
	.test_cases = fault_cases,
};

kunit_test_suite(fault_suite);
