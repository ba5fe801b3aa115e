// SPDX-License-Identifier: GPL-2.0
/* A shingled drive: its map beside one that looks at each sector, and what its bands cost. */
#include <kunit/test.h>

#include "drive-bench.h"

#define BAND		1000
#define HOME		U32_MAX

/* Bands of 1000 sectors, of which the outer ones take 11 revolutions and the inner ones 22. */
static void shingle(struct bench *b, u32 cache, u32 map)
{
	b->profile.media_cache = cache;
	b->profile.media_cache_map = map;
	b->profile.media_cache_packet = 8;
	b->profile.media_cache_overhead = 15 * MS;
	b->profile.band = BAND;
	b->profile.clean_idle = SECOND;
}

#define SECTORS		9600	/* the last band is shorter */
#define CACHE		800
#define MAP		40
#define BANDS		((SECTORS + BAND - 1) / BAND)

/* Each sector by itself. */
struct naive {
	u32 at[SECTORS];	/* place in the media cache, or HOME */
	u32 owner[CACHE];	/* the sector that was last written there */
	u32 queue[BANDS];	/* bands in the order in which they came */
	u64 since[BANDS];
	u32 nr;
	u64 head;
};

static bool naive_has(const struct naive *naive, u32 band)
{
	u32 i;

	for (i = band * BAND; i < min_t(u32, SECTORS, (band + 1) * BAND); i++)
		if (naive->at[i] != HOME)
			return true;
	return false;
}

static void naive_drop(struct naive *naive)
{
	while (naive->nr && !naive_has(naive, naive->queue[0]))
		memmove(naive->queue, naive->queue + 1, --naive->nr * sizeof(naive->queue[0]));
}

static void naive_append(struct naive *naive, u32 sector, u32 sectors)
{
	u32 band = sector / BAND, i, part;

	for (i = 0; i < naive->nr && naive->queue[i] != band; i++)
		;
	if (i == naive->nr) {
		naive->queue[naive->nr++] = band;
		naive->since[band] = naive->head;
	}
	div_u64_rem(naive->head, CACHE, &part);
	for (i = 0; i < sectors; i++) {
		naive->at[sector + i] = part + i;
		naive->owner[part + i] = sector + i;
	}
	naive->head += (sectors + 7) / 8 * 8;
}

static u32 naive_room(const struct naive *naive)
{
	u64 tail = naive->nr ? naive->since[naive->queue[0]] : naive->head;
	u32 part;

	div_u64_rem(naive->head, CACHE, &part);
	return min_t(u64, CACHE - (naive->head - tail), CACHE - part);
}

/* Runs of sectors that have a place each. */
static u32 naive_extents(const struct naive *naive)
{
	u32 i, n = 0;

	for (i = 0; i < SECTORS; i++)
		n += naive->at[i] != HOME && (i % BAND == 0 || naive->at[i - 1] == HOME ||
					      naive->at[i] != naive->at[i - 1] + 1);
	return n;
}

static void compare(struct kunit *test, const struct shingle *shingle, const struct naive *naive)
{
	u32 i, run = 0, left = 0;
	u64 at = 0;

	for (i = 0; i < SECTORS; i++) {
		if (!left) {
			at = shingle_find(shingle, i, &run);
			left = run;
			KUNIT_ASSERT_GE(test, run, 1U);
			KUNIT_ASSERT_EQ(test, i / BAND, (i + run - 1) / BAND);
		}
		KUNIT_ASSERT_EQ(test, at, naive->at[i] == HOME ? i : (u64)naive->at[i]);
		/* Nothing that is needed has been written over. */
		if (naive->at[i] != HOME)
			KUNIT_ASSERT_EQ(test, naive->owner[naive->at[i]], i);
		at++;
		left--;
	}
	KUNIT_ASSERT_EQ(test, MAP - shingle->nr_unused, naive_extents(naive));
}

static void a_shingled_drives_map_is_that_of_each_sector(struct kunit *test)
{
	static const struct profile profile = {
		.sectors = SECTORS, .band = BAND, .media_cache = CACHE, .media_cache_map = MAP,
	};
	struct shingle *shingle = shingle_create(&profile, GFP_KERNEL);
	struct naive *naive = kvzalloc(sizeof(*naive), GFP_KERNEL);
	u32 round, sector, sectors, cleaned = 0, room;
	struct rnd rnd = { 21 };

	KUNIT_ASSERT_TRUE(test, shingle && naive);
	memset(naive->at, 0xff, sizeof(naive->at));
	for (round = 0; round < COMMANDS / 10; round++) {
		KUNIT_ASSERT_EQ(test, shingle_oldest(shingle),
				naive->nr ? naive->queue[0] + 1 : 0);
		room = shingle_room(shingle);
		if (shingle->nr_unused >= 2)
			KUNIT_ASSERT_EQ(test, room, naive_room(naive));
		/* Mostly side by side, so that extents are cut and go on. */
		sector = rnd_below(&rnd, round % 3 ? 400 : SECTORS);
		if (round % 50 == 49) {
			sector = sector / BAND * BAND;
		} else if (room) {
			sectors = min_t(u32, 1 + rnd_below(&rnd, 1 << rnd_below(&rnd, 8)), room);
			sectors = min_t(u32, sectors, shingle_band_left(shingle, sector));
			KUNIT_ASSERT_EQ(test, shingle_append(shingle, sector, sectors),
					naive->head % CACHE);
			naive_append(naive, sector, sectors);
			compare(test, shingle, naive);
			continue;
		} else {
			sector = (shingle_oldest(shingle) - 1) * BAND;
			cleaned++;
		}
		shingle_forget(shingle, sector / BAND);
		memset(naive->at + sector, 0xff,
		       shingle_band_sectors(shingle, sector / BAND) * sizeof(naive->at[0]));
		naive_drop(naive);
		compare(test, shingle, naive);
	}
	KUNIT_EXPECT_GE(test, cleaned, COMMANDS / 200);
	shingle_destroy(shingle);
	kvfree(naive);
}

/* A pass over sectors as they lie on the media; returns its end. */
static u64 pass(struct media *media, bool write, u64 sector, u64 sectors, u64 time)
{
	struct media_pass pass = {
		.sector = sector, .left = sectors, .time = time, .write = write,
	};
	struct media_stretch stretch;

	while (pass.left)
		media_next(media, &pass, &stretch);
	return pass.time;
}

/*
 * Without a cache each write is appended by itself. When the map is full, the band of the first
 * write is read, its copy is written, and the band.
 */
static void a_write_waits_until_the_oldest_band_is_clean(struct kunit *test)
{
	struct media media;
	static struct bench b;	/* the kernel's stack is small */
	u64 time;
	u32 i;

	prepare(&b, test);
	shingle(&b, 4000, 10);
	b.profile.media_cache_packet = 1;
	start(&b);
	for (i = 0; i < 9; i++) {
		/* One after the other: a header, and what it takes to come round. */
		time = serve(&b, DISK_WRITE, 50000 + 2000 * i + 100, 8);
		KUNIT_EXPECT_GE(test, time, 15 * MS);
		KUNIT_EXPECT_LE(test, time, i ? 26 * MS : 35 * MS);
	}
	media = b.drive->media;
	media.shingle = NULL;
	time = pass(&media, false, 0, 8, b.now);
	time = pass(&media, false, 50000, BAND, time);
	time = pass(&media, true, 4000, BAND, time);
	time = pass(&media, true, 50000, BAND, time);
	time = pass(&media, true, 72, 8, time + 15 * MS);
	time -= b.now;
	KUNIT_EXPECT_EQ(test, serve(&b, DISK_WRITE, 90000, 8), time);
	stop(&b);
}

/* Its pieces are not read one by one in the model, and still take what they take. */
static void a_band_in_many_pieces_takes_as_long_as_they_do(struct kunit *test)
{
	struct media media;
	static struct bench b;	/* the kernel's stack is small */
	u64 time;
	u32 i;

	prepare(&b, test);
	shingle(&b, 4000, 301);
	b.profile.media_cache_packet = 1;
	start(&b);
	/* One sector each, that many places apart in the media cache. */
	for (i = 0; i < 300; i++)
		serve(&b, DISK_WRITE, 50000 + 3 * (i * 7 % 300), 1);
	media = b.drive->media;
	media.shingle = NULL;
	time = b.now;
	for (i = 0; i < 300; i++)
		time = pass(&media, false, 8 * (i * 43 % 300), 1, time);
	time = pass(&media, false, 50000, BAND, time);
	time = pass(&media, true, 4000, BAND, time);
	time = pass(&media, true, 50000, BAND, time);
	time = pass(&media, true, 2400, 8, time + 15 * MS) - b.now;
	i = div64_u64(1000 * serve(&b, DISK_WRITE, 90000, 8), time);
	KUNIT_EXPECT_GE(test, i, 980);
	KUNIT_EXPECT_LE(test, i, 1020);
	stop(&b);
}

static void buffer(struct bench *b)
{
	add_cache(b);
	b->profile.write_cache = WRITE_CACHE_BACK;
	b->profile.write_buffer = 2 * BAND + 400;
	b->profile.write_segments = 100;
	b->profile.destage_idle = 50 * MS;
}

static u64 stream(struct bench *b, enum disk_op op, u64 sector, u64 end)
{
	u64 begin = b->now;

	for (; sector < end; sector += 100)
		serve(b, op, sector, 100);
	return b->now - begin;
}

/* Only what is before the first band's beginning, and behind the last one's end, is cached. */
static void a_stream_goes_to_its_bands_at_the_medias_rate(struct kunit *test)
{
	u64 time[2];
	static struct bench b;	/* the kernel's stack is small */
	u32 i, used;

	for (i = 0; i < 2; i++) {
		prepare(&b, test);
		buffer(&b);
		if (i)
			shingle(&b, 4000, 100);
		start(&b);
		time[i] = stream(&b, DISK_WRITE, 20500, 60500);
		time[i] += serve(&b, DISK_FLUSH, 0, 0);
		if (i) {
			used = 100 - b.drive->media.shingle->nr_unused;
			KUNIT_EXPECT_GE(test, used, 1U);
			KUNIT_EXPECT_LE(test, used, 20U);
		}
		stop(&b);
	}
	KUNIT_EXPECT_GE(test, time[1], time[0]);
	/* A header takes 15 ms, and then the arm goes there and back. */
	KUNIT_EXPECT_LE(test, time[1], time[0] + 2 * 60 * MS);
}

static void scatter(struct bench *b)
{
	u32 i;

	for (i = 0; i < 60; i++)
		serve(b, DISK_WRITE, 30000 + i * 37 % 60 * 100 + 50, 8);
	serve(b, DISK_FLUSH, 0, 0);
}

static struct pending_figures pending(struct bench *b)
{
	struct pending_figures figures;

	KUNIT_EXPECT_TRUE(b->test, drive_pending_figures(b->drive, &figures));
	return figures;
}

/* In the buffer first, then in the media cache, in blocks, until its band is cleaned. */
static void what_is_not_at_home_is_pending(struct kunit *test)
{
	static struct bench b;	/* the kernel's stack is small */
	u64 left, i;

	prepare(&b, test);
	buffer(&b);
	shingle(&b, 4000, 100);
	start(&b);
	serve(&b, DISK_WRITE, 30000, 6);
	serve(&b, DISK_WRITE, 35000, 8);
	KUNIT_EXPECT_EQ(test, pending(&b).sectors, 14ULL);
	KUNIT_EXPECT_EQ(test, pending(&b).runs, 2ULL);
	serve(&b, DISK_FLUSH, 0, 0);
	KUNIT_EXPECT_EQ(test, pending(&b).sectors, 16ULL);
	KUNIT_EXPECT_EQ(test, pending(&b).runs, 2ULL);
	/* Of a stream only the ends of bands stay, however long it is. */
	stream(&b, DISK_WRITE, 60000, 100000);
	serve(&b, DISK_FLUSH, 0, 0);
	left = pending(&b).sectors;
	KUNIT_EXPECT_LE(test, left, 2ULL * BAND);
	for (i = 0; i < 2; i++) {
		b.now += 20 * SECOND;
		serve(&b, DISK_READ, 1000, 1);
	}
	KUNIT_EXPECT_EQ(test, pending(&b).sectors, 0ULL);
	KUNIT_EXPECT_EQ(test, pending(&b).runs, 0ULL);
	stop(&b);
	prepare(&b, test);
	buffer(&b);
	start(&b);
	KUNIT_EXPECT_FALSE(test, drive_pending_figures(b.drive, &(struct pending_figures){ }));
	stop(&b);
}

/* What was written here and there is read piece by piece, until an idle drive has cleaned it. */
static void an_idle_drive_cleans_its_bands(struct kunit *test)
{
	u64 fresh, cached, clean;
	static struct bench b;	/* the kernel's stack is small */

	prepare(&b, test);
	buffer(&b);
	b.profile.read_hits_on_write_data = false;
	shingle(&b, 4000, 100);
	start(&b);
	fresh = stream(&b, DISK_READ, 30000, 36000);
	scatter(&b);
	KUNIT_EXPECT_LE(test, b.drive->media.shingle->nr_unused, 40U);
	cached = stream(&b, DISK_READ, 30000, 36000);
	KUNIT_EXPECT_GE(test, cached, 2 * fresh);
	/* Not yet idle for long enough, then not for long enough to be through with it. */
	b.now += SECOND - MS;
	serve(&b, DISK_READ, 100000, 1);
	KUNIT_EXPECT_LE(test, b.drive->media.shingle->nr_unused, 40U);
	b.now += SECOND + 500 * MS;
	serve(&b, DISK_READ, 100000, 1);
	KUNIT_EXPECT_GE(test, b.drive->media.shingle->nr_unused, 41U);
	KUNIT_EXPECT_LE(test, b.drive->media.shingle->nr_unused, 99U);
	b.now += 10 * SECOND;
	serve(&b, DISK_READ, 100000, 1);
	KUNIT_EXPECT_EQ(test, b.drive->media.shingle->nr_unused, 100U);
	clean = stream(&b, DISK_READ, 30000, 36000);
	KUNIT_EXPECT_LE(test, clean, fresh + 20 * MS);
	stop(&b);
}

/* Runs whose bands are cleaned in @idle; the drive has far more. */
static u32 cleaned(struct kunit *test, u64 idle)
{
	static struct bench b;	/* the kernel's stack is small */
	u32 i, runs;

	prepare(&b, test);
	shingle(&b, 40000, 5000);
	b.profile.media_cache_overhead = 0;
	b.profile.band = 200;
	start(&b);
	for (i = 0; i < 2500; i++)
		serve(&b, DISK_WRITE, i * 7919 % 10000 * 12, 8);
	runs = b.drive->media.shingle->nr_unused;
	b.now += SECOND + idle;
	serve(&b, DISK_READ, 1, 1);
	runs = b.drive->media.shingle->nr_unused - runs;
	stop(&b);
	return runs;
}

/* Of long idle time most is worked out by the band: as much is cleaned as step by step. */
static void long_idle_time_cleans_at_the_same_rate(struct kunit *test)
{
	u32 brief = cleaned(test, 9900 * MS), longer = cleaned(test, 49500 * MS);

	KUNIT_EXPECT_GE(test, brief, 50U);
	KUNIT_EXPECT_GE(test, longer, 5 * brief * 9 / 10);
	KUNIT_EXPECT_LE(test, longer, 5 * brief * 11 / 10);
}

/* As many as the map has go at the rate of packets, the rest at that of bands. */
static void random_writes_are_fast_until_the_media_cache_is_full(struct kunit *test)
{
	u64 begin, fast, slow;
	static struct bench b;	/* the kernel's stack is small */
	u32 i;

	prepare(&b, test);
	buffer(&b);
	shingle(&b, 4000, 400);
	start(&b);
	for (i = 0; i < 350; i++)
		serve(&b, DISK_WRITE, i * 7919 % 14990 * 8, 8);
	fast = b.now;
	for (; i < 600; i++)
		serve(&b, DISK_WRITE, i * 7919 % 14990 * 8, 8);
	begin = b.now;
	for (; i < 700; i++)
		serve(&b, DISK_WRITE, i * 7919 % 14990 * 8, 8);
	slow = b.now - begin;
	/* Packets of eight writes take 15 ms, a revolution and their data at most. */
	KUNIT_EXPECT_LE(test, fast, 350 / 8 * 27 * MS);
	/* Some three writes to a band: it is read, and written twice. */
	KUNIT_EXPECT_GE(test, slow, 100 / 4 * 330 * MS);
	KUNIT_EXPECT_LE(test, slow, 100 / 2 * 750 * MS);
	stop(&b);
}

static void a_shingled_drive_of_another_size_is_sound(struct kunit *test)
{
	static const char text[] =
		"name=s;capacity=48000000 sectors;rpm=6000;heads=2;cylinders=24000;segments=2;"
		"zone=0,23999,1000,48000000,0,0;seek=1,1 ms;segment_sectors=100;write_segments=2;"
		"write_buffer=1000;write_cache=back;media_cache=1000000 sectors;band=480 sectors";
	static const u64 sizes[] = { 1ULL << 34, 1ULL << 31, 48000001, 100000, 1000, 400, 17, 1 };
	char *word = kvzalloc(4096, GFP_KERNEL);
	static struct profile profile, again;	/* the kernel's stack is small */
	struct profile_error error;
	u32 i, shingled = 0;

	KUNIT_ASSERT_NOT_NULL(test, word);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		KUNIT_ASSERT_EQ(test, profile_parse(&profile, text, sizeof(text) - 1, &error), 0);
		KUNIT_ASSERT_EQ(test, profile_scale(&profile, sizes[i]), 0);
		KUNIT_EXPECT_LE(test, profile_print(&profile, word, 4096), (size_t)4095);
		KUNIT_ASSERT_EQ_MSG(test, profile_parse(&again, word, strlen(word), &error), 0,
				    "%s", error.text);
		shingled += again.media_cache != 0;
		profile_free(&again);
		profile_free(&profile);
	}
	KUNIT_EXPECT_EQ(test, shingled, 6U);
	kvfree(word);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(a_shingled_drives_map_is_that_of_each_sector),
	KUNIT_CASE(a_write_waits_until_the_oldest_band_is_clean),
	KUNIT_CASE(a_band_in_many_pieces_takes_as_long_as_they_do),
	KUNIT_CASE(a_stream_goes_to_its_bands_at_the_medias_rate),
	KUNIT_CASE(what_is_not_at_home_is_pending),
	KUNIT_CASE(an_idle_drive_cleans_its_bands),
	KUNIT_CASE(long_idle_time_cleans_at_the_same_rate),
	KUNIT_CASE(random_writes_are_fast_until_the_media_cache_is_full),
	KUNIT_CASE(a_shingled_drive_of_another_size_is_sound),
	{}
};

static struct kunit_suite suite = {
	.name = "shingle",
	.test_cases = cases,
};

kunit_test_suite(suite);
