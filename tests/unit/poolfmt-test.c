// SPDX-License-Identifier: GPL-2.0
/* A pool's directory: what is written is read back; what is torn, older or made up is found out. */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/poolfmt.h"
#include "random.h"

#define PAGES	4096u

static u8 look[FORMAT_LOOK * FORMAT_PAGE];
static struct pool_super pool, back;

static void add(unsigned int slot, const char *name, u64 first, u64 pages)
{
	struct pool_entry *entry = &pool.disk[slot];

	memset(entry, 0, sizeof(*entry));
	memcpy(entry->name, name, strlen(name));
	memset(entry->uuid, 'a' + slot, sizeof(entry->uuid));
	entry->first = first;
	entry->pages = pages;
	entry->reserve = 16;
}

/* Both copies, as two changes leave them. */
static void write_copy(void)
{
	pool.generation++;
	pool_pack(&pool, look + pool_copy_page(&pool) * FORMAT_PAGE);
}

static void begin(struct kunit *test)
{
	crc_setup();
	memset(look, 0, sizeof(look));
	KUNIT_ASSERT_EQ(test, pool_begin(&pool, "farm", PAGES), 0);
	add(0, "first", 6, 66);
	add(5, "other", 100, 80);
	write_copy();
	write_copy();
}

static void directory_comes_back(struct kunit *test)
{
	begin(test);
	KUNIT_ASSERT_EQ(test, pool_look(look, &back), FORMAT_STORE);
	KUNIT_EXPECT_EQ(test, memcmp(&pool, &back, sizeof(pool)), 0);
	KUNIT_EXPECT_EQ(test, pool_find(&back, "other"), 5u);
	KUNIT_EXPECT_EQ(test, pool_find(&back, "none"), POOL_DISKS);
	KUNIT_EXPECT_EQ(test, pool_find(&back, ""), 1u);
}

/* Power may fail while a copy is written: any part of it may be new. */
static void torn_change_leaves_the_one_before(struct kunit *test)
{
	static u8 old[sizeof(look)], new[sizeof(look)];
	unsigned int sectors = POOL_PAGES * FORMAT_PAGE / 512, n;
	enum format_found found;

	begin(test);
	memcpy(old, look, sizeof(old));
	add(1, "third", 200, 66);
	write_copy();
	memcpy(new, look, sizeof(new));
	for (n = 0; n <= sectors; n++) {
		memcpy(look, old, sizeof(look));
		memcpy(look, new, n * 512);
		found = pool_look(look, &back);
		KUNIT_ASSERT_EQ(test, found, FORMAT_STORE);
		KUNIT_ASSERT_EQ(test, back.generation == pool.generation,
				pool_find(&back, "third") == 1);
		KUNIT_ASSERT_TRUE(test, back.generation == pool.generation ||
				  back.generation == pool.generation - 1);
	}
	KUNIT_EXPECT_EQ(test, back.generation, pool.generation);
}

static void kinds_of_devices_are_told_apart(struct kunit *test)
{
	struct format_super store;

	begin(test);
	KUNIT_EXPECT_EQ(test, format_look(look, &store), FORMAT_FOREIGN);
	look[100] ^= 1;
	look[POOL_COPY * FORMAT_PAGE + 100] ^= 1;
	KUNIT_EXPECT_EQ(test, pool_look(look, &back), FORMAT_BROKEN);
	memset(look, 0, sizeof(look));
	KUNIT_EXPECT_EQ(test, pool_look(look, &back), FORMAT_BLANK);
	look[FORMAT_LOOK * FORMAT_PAGE - 1] = 1;
	KUNIT_EXPECT_EQ(test, pool_look(look, &back), FORMAT_FOREIGN);
	format_begin(&store, PAGES, 4096);
	format_pack(&store, look);
	KUNIT_EXPECT_EQ(test, pool_look(look, &back), FORMAT_FOREIGN);
}

/* With a right checksum, but not made by us. */
static void senseless_directories_are_refused(struct kunit *test)
{
	static const struct {
		const char *name;
		u64 first, pages;
	} bad[] = {
		{ "x", 5, 66 }, { "x", PAGES - 65, 66 }, { "x", 200, 65 }, { "x", U64_MAX, 66 },
		{ "x", 200, U64_MAX }, { "first", 200, 66 }, { "a b", 200, 66 }, { "-a", 200, 66 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(test);
		add(3, bad[i].name, bad[i].first, bad[i].pages);
		write_copy();
		write_copy();
		KUNIT_EXPECT_EQ_MSG(test, pool_look(look, &back), FORMAT_BROKEN, "case %u", i);
	}
	begin(test);
	pool.blocks = POOL_PAGES_MIN - 1;
	write_copy();
	write_copy();
	KUNIT_EXPECT_EQ(test, pool_look(look, &back), FORMAT_BROKEN);
	KUNIT_EXPECT_EQ(test, pool_begin(&pool, "farm", POOL_PAGES_MIN - 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, pool_begin(&pool, "", PAGES), -EINVAL);
	KUNIT_EXPECT_EQ(test, pool_begin(&pool, "a,b", PAGES), -EINVAL);
}

static void overlapping_areas_are_found(struct kunit *test)
{
	struct remap_bitmap bm;

	begin(test);
	KUNIT_ASSERT_EQ(test, bm_init(&bm, PAGES), 0);
	KUNIT_EXPECT_TRUE(test, !pool_claim_areas(&pool, &bm));
	KUNIT_EXPECT_EQ(test, bm.used, (u64)POOL_PAGES + 66 + 80);
	bm_destroy(&bm);
	add(2, "third", 71, 66);
	KUNIT_ASSERT_EQ(test, bm_init(&bm, PAGES), 0);
	KUNIT_EXPECT_TRUE(test, !!pool_claim_areas(&pool, &bm));
	bm_destroy(&bm);
}

static void shared_pools_have_the_flag_and_a_disk_less(struct kunit *test)
{
	unsigned int i;

	begin(test);
	pool.share = true;
	write_copy();
	KUNIT_ASSERT_EQ(test, pool_look(look, &back), FORMAT_STORE);
	KUNIT_EXPECT_EQ(test, memcmp(&pool, &back, sizeof(pool)), 0);
	for (i = 0; i < POOL_SHARE_DISKS; i++)
		pool.disk[i].name[0] = 'x';
	KUNIT_EXPECT_EQ(test, pool_find(&pool, ""), POOL_DISKS);
	pool.share = false;
	KUNIT_EXPECT_EQ(test, pool_find(&pool, ""), POOL_SHARE_DISKS);
	begin(test);
	pool.share = true;
	add(POOL_SHARE_DISKS, "last", 200, 66);
	write_copy();
	write_copy();
	KUNIT_EXPECT_EQ(test, pool_look(look, &back), FORMAT_BROKEN);
}

/* A table with one stored range. */
static void store(struct kunit *test, struct rangetable *table, u64 start, u64 dest, u64 len)
{
	struct rt_range r = { .start = start, .len = len, .value = dest, .kind = RT_STORED };

	while (!rt_reserve(table))
		rt_add_node(table, rt_node_alloc(GFP_KERNEL));
	KUNIT_ASSERT_EQ(test, rt_set(table, &r, U32_MAX, NULL, NULL), len);
}

static void claims_of_disks_fit_together(struct kunit *test)
{
	static const struct {
		u64 dest[2];	/* of one disk */
		u64 other;	/* of another one */
		bool share, good;
		u64 shared;
	} cases[] = {
		{ { 300, 400 }, 500, false, true, 0 },
		{ { 300, 400 }, 405, false, false, 0 },
		{ { 300, 305 }, 500, false, false, 0 },
		{ { 300, 400 }, 500, true, true, 0 },
		{ { 300, 400 }, 400, true, true, 10 },
		{ { 300, 400 }, 393, true, true, 3 },
		{ { 300, 305 }, 500, true, false, 0 },	/* one disk, twice */
		{ { 300, 400 }, 65, true, false, 0 },	/* in an area */
		{ { 300, 400 }, 3, true, false, 0 },	/* in the directory */
		{ { 300, 400 }, PAGES - 9, true, false, 0 },
	};
	struct rangetable one, two;
	struct remap_bitmap bm;
	u64 block, shared;
	const char *why;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		begin(test);
		pool.share = cases[i].share;
		rt_init(&one);
		rt_init(&two);
		store(test, &one, 1000, cases[i].dest[0], 10);
		store(test, &one, 2000, cases[i].dest[1], 10);
		store(test, &two, 5000, cases[i].other, 10);
		KUNIT_ASSERT_EQ(test, bm_init(&bm, PAGES), 0);
		KUNIT_EXPECT_TRUE(test, !pool_claim_areas(&pool, &bm));
		shared = 0;
		why = pool_claim_disk(&pool, &one, &bm, &block, &shared);
		if (!why)
			why = pool_claim_disk(&pool, &two, &bm, &block, &shared);
		KUNIT_EXPECT_EQ_MSG(test, !why, cases[i].good, "case %u", i);
		KUNIT_EXPECT_EQ_MSG(test, shared, cases[i].shared, "case %u", i);
		if (!why)
			KUNIT_EXPECT_EQ(test, bm.used, POOL_PAGES + 66 + 80 + 30 - shared);
		KUNIT_EXPECT_TRUE(test, !bm_check(&bm));
		bm_destroy(&bm);
		rt_destroy(&one);
		rt_destroy(&two);
	}
}

static void disks_must_be_what_the_directory_says(struct kunit *test)
{
	struct format_super disk;

	begin(test);
	format_begin(&disk, PAGES, 4096);
	disk.log_pages = 64;
	memset(disk.uuid, 'a', sizeof(disk.uuid));
	KUNIT_EXPECT_TRUE(test, !pool_check_disk(&pool.disk[0], &disk));
	KUNIT_EXPECT_TRUE(test, !!pool_check_disk(&pool.disk[5], &disk));
	disk.log_pages = 65;
	KUNIT_EXPECT_TRUE(test, !!pool_check_disk(&pool.disk[0], &disk));
	KUNIT_EXPECT_EQ(test, pool_area_pages(PAGES, 0), 66u);
	KUNIT_EXPECT_EQ(test, pool_area_pages(1 << 20, 0), 2u + 8192);
	KUNIT_EXPECT_EQ(test, pool_area_pages(PAGES, 100), 102u);
}

/* Single bits of a good directory: either nobody notices, or it is broken; never nonsense. */
static void any_bit_may_be_wrong(struct kunit *test)
{
	struct rnd rnd = { 17 };
	unsigned int i;

	begin(test);
	for (i = 0; i < 2000; i++) {
		u32 at = rnd_below(&rnd, POOL_PAGES * FORMAT_PAGE), bit = 1 << rnd_below(&rnd, 8);

		look[at] ^= bit;
		KUNIT_ASSERT_EQ(test, pool_look(look, &back), FORMAT_STORE);
		KUNIT_ASSERT_EQ(test, memcmp(back.disk, pool.disk, sizeof(back.disk)), 0);
		look[at] ^= bit;
	}
}

static struct kunit_case poolfmt_cases[] = {
	KUNIT_CASE(directory_comes_back),
	KUNIT_CASE(torn_change_leaves_the_one_before),
	KUNIT_CASE(kinds_of_devices_are_told_apart),
	KUNIT_CASE(senseless_directories_are_refused),
	KUNIT_CASE(overlapping_areas_are_found),
	KUNIT_CASE(shared_pools_have_the_flag_and_a_disk_less),
	KUNIT_CASE(claims_of_disks_fit_together),
	KUNIT_CASE(disks_must_be_what_the_directory_says),
	KUNIT_CASE(any_bit_may_be_wrong),
	{}
};

static struct kunit_suite poolfmt_suite = {
	.name = "poolfmt",
	.test_cases = poolfmt_cases,
};

kunit_test_suite(poolfmt_suite);
