// SPDX-License-Identifier: GPL-2.0
/*
 * The store's own pages: what is written is read back, and what is torn, stale
 * or made up is found out.
 */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "../../dm-david/lib/format.h"
#include "../../dm-david/lib/pack.h"
#include "random.h"

#define LOG_PAGES	64u
#define BLOCKS		65536u	/* of the target that operations are on */

#ifdef __KERNEL__
#define LIVES		6
#else
#define LIVES		60
#endif

static u8 supers[FORMAT_LOOK * FORMAT_PAGE];
static struct format_log_page ring[LOG_PAGES];

static void free_nothing(void *ctx, u64 dest, u64 len)
{
}

static void put(struct rangetable *rt, const struct rt_range *r)
{
	while (!rt_reserve(rt))
		rt_add_node(rt, rt_node_alloc(GFP_KERNEL));
	rt_set(rt, r, UINT_MAX, free_nothing, NULL);
}

static void begin(struct format_super *super)
{
	crc_setup();
	memset(ring, 0, sizeof(ring));
	format_begin(super, 1024, 4096);
	super->version = FORMAT_VERSION_PACKS;
	memcpy(super->uuid, "sixteen letters.", 16);
	super->epoch = 1;
}

/* An operation that makes sense, and its destination its own. */
static struct rt_range any_op(struct rnd *rnd)
{
	struct rt_range r = {
		.start = rnd_below(rnd, BLOCKS),
		.len = 1 + rnd_below(rnd, 64),
		.kind = rnd_below(rnd, RT_KINDS),
	};

	if (r.kind == RT_FILL || r.kind == RT_PACKED)
		r.value = rnd_below(rnd, 3);
	else if (r.kind == RT_STORED)
		r.value = 1000 + r.start;
	return r;
}

/* Write a batch of @n pages at @sequence; the table follows. */
static void write_batch(const struct format_super *super, struct rangetable *rt, struct rnd *rnd,
			u64 sequence, unsigned int n)
{
	unsigned int i, op;

	for (i = 0; i < n; i++) {
		struct format_log_page *page = &ring[(sequence + i) % LOG_PAGES];
		unsigned int ops = rnd_below(rnd, FORMAT_OPS + 1);

		for (op = 0; op < ops; op++) {
			struct rt_range r = any_op(rnd);

			format_put(&page->op[op], &r);
			put(rt, &r);
		}
		format_seal(page, super, sequence + i, i, ops);
	}
}

static enum format_step replay(struct format_replay *r, const struct format_super *super,
			       struct rangetable *rt)
{
	enum format_step step = FORMAT_MORE;
	u64 i;

	rt_init(rt);
	format_replay_begin(r, super, rt);
	for (i = 0; i < LOG_PAGES && step == FORMAT_MORE; i++)
		step = format_replay_page(r, &ring[(super->log_start + i) % LOG_PAGES]);
	return step == FORMAT_MORE ? format_replay_end(r) : step;
}

static bool same_tables(const struct rangetable *a, const struct rangetable *b)
{
	struct rt_range x, y;
	u64 block;

	for (block = 0; block < BLOCKS + 64; block += min(x.len, y.len)) {
		rt_lookup(a, block, &x);
		rt_lookup(b, block, &y);
		if (x.kind != y.kind || x.value != y.value)
			return false;
	}
	return !rt_check(a) && !rt_check(b);
}

static void a_superblock_is_read_as_it_was_written(struct kunit *test)
{
	struct format_super super, seen;

	begin(&super);
	super.generation = 6;
	super.target_sectors = 1ULL << 31;
	super.seed = U64_MAX;
	super.flags = FORMAT_CLEAN;
	super.log_start = 5;
	super.log_end = 7;
	memset(supers, 0, sizeof(supers));
	KUNIT_EXPECT_EQ(test, format_look(supers, &seen), FORMAT_BLANK);
	supers[65600] = 1;
	KUNIT_EXPECT_EQ(test, format_look(supers, &seen), FORMAT_FOREIGN);
	supers[65600] = 0;

	format_pack(&super, supers);
	KUNIT_ASSERT_EQ(test, format_look(supers, &seen), FORMAT_STORE);
	KUNIT_EXPECT_TRUE(test, !memcmp(&super, &seen, sizeof(seen)));
	/* The newer copy counts, and if it is torn the older. */
	super.generation++;
	format_pack(&super, supers + FORMAT_PAGE);
	KUNIT_ASSERT_EQ(test, format_look(supers, &seen), FORMAT_STORE);
	KUNIT_EXPECT_EQ(test, seen.generation, (u64)7);
	supers[FORMAT_PAGE + 2000] = 1;
	KUNIT_ASSERT_EQ(test, format_look(supers, &seen), FORMAT_STORE);
	KUNIT_EXPECT_EQ(test, seen.generation, (u64)6);
	supers[100] ^= 4;
	KUNIT_EXPECT_EQ(test, format_look(supers, &seen), FORMAT_BROKEN);
}

static void begin_zoned(struct format_super *super)
{
	begin(super);
	super->version = FORMAT_VERSION_ZONES;
	super->target_sectors = 32 << 14;
	super->zones = (struct format_zones){
		.size = 1 << 14, .capacity = 12288, .conventional = 2,
	};
}

static void the_zones_of_a_disk_are_read_as_they_were_written(struct kunit *test)
{
	struct format_super good, super, seen;
	unsigned int i;

	begin_zoned(&good);
	memset(supers, 0, sizeof(supers));
	format_pack(&good, supers);
	KUNIT_ASSERT_EQ(test, format_look(supers, &seen), FORMAT_STORE);
	KUNIT_EXPECT_EQ(test, seen.version, (u64)FORMAT_VERSION_ZONES);
	KUNIT_EXPECT_TRUE(test, format_same_zones(&seen.zones, &good.zones));
	/* A disk without zones has none, whatever was meant. */
	super = good;
	super.version = FORMAT_VERSION_PACKS;
	format_pack(&super, supers);
	KUNIT_ASSERT_EQ(test, format_look(supers, &seen), FORMAT_STORE);
	KUNIT_EXPECT_EQ(test, seen.zones.size, (u64)0);
	for (i = 0; i < 7; i++) {
		super = good;
		switch (i) {
		case 0:
			super.zones.size = 0;
			break;
		case 1:
			super.zones.size = 3 << 12;
			break;
		case 2:
			super.zones.size = 1ULL << 32;
			break;
		case 3:
			super.zones.capacity = 0;
			break;
		case 4:
			super.zones.capacity = super.zones.size + 8;
			break;
		case 5:
			super.zones.capacity--;
			break;
		default:
			super.target_sectors++;
		}
		format_pack(&super, supers);
		KUNIT_EXPECT_EQ_MSG(test, format_look(supers, &seen), FORMAT_BROKEN, "case %u", i);
	}
}

static void no_changed_byte_of_a_superblock_goes_unseen(struct kunit *test)
{
	struct format_super super, seen;
	unsigned int at;

	begin(&super);
	memset(supers, 0, sizeof(supers));
	format_pack(&super, supers);
	for (at = 0; at < FORMAT_PAGE; at++) {
		supers[at] ^= 0x10;
		KUNIT_ASSERT_NE(test, format_look(supers, &seen), FORMAT_STORE);
		supers[at] ^= 0x10;
	}
}

/* Numbers that do not go together, under a checksum that is right. */
static void a_superblock_made_to_deceive_is_refused(struct kunit *test)
{
	struct format_super good, super, seen;
	unsigned int i;

	begin(&good);
	for (i = 0; i < 9; i++) {
		super = good;
		switch (i) {
		case 0:
			super.block_size = 0;
			break;
		case 1:
			super.block_size = 8192;
			break;
		case 2:
			super.block_size = 1536;
			break;
		case 3:
			super.log_pages = 0;
			break;
		case 4:
			super.log_pages = U64_MAX;
			break;
		case 5:
			super.backing_blocks = super.log_pages;
			break;
		case 6:
			super.backing_blocks = U64_MAX;
			break;
		case 7:
			super.log_start = 1;
			break;
		default:
			super.log_end = super.log_pages + 1;
		}
		memset(supers, 0, sizeof(supers));
		format_pack(&super, supers);
		KUNIT_EXPECT_EQ_MSG(test, format_look(supers, &seen), FORMAT_BROKEN, "case %u", i);
	}
}

static void every_log_has_room_for_two_checkpoints(struct kunit *test)
{
	struct format_super super;
	struct format_room room;
	u64 pages;

	KUNIT_EXPECT_EQ(test, format_begin(&super, FORMAT_PAGES_MIN - 1, 4096), -ENOSPC);
	for (pages = FORMAT_PAGES_MIN; pages < 1ULL << 36; pages += pages / 7) {
		KUNIT_ASSERT_EQ(test, format_begin(&super, pages, 512), 0);
		format_room(super.log_pages, &room);
		KUNIT_ASSERT_TRUE(test, room.ranges >= 11 * FORMAT_OPS);
		KUNIT_ASSERT_TRUE(test, room.ring + 1 + room.walk <= FORMAT_BATCH_MAX);
		/* One that is there, one that is written, and a batch that comes in between. */
		KUNIT_ASSERT_TRUE(test, 2 * format_need(&room, room.ranges) + room.ring + 1 +
				  room.walk <= super.log_pages);
		KUNIT_ASSERT_TRUE(test, format_data(&super) < super.backing_blocks);
	}
}

static void a_log_is_read_as_it_was_written(struct kunit *test)
{
	struct rangetable written, read;
	struct format_super super;
	struct format_replay r;
	struct rnd rnd = { 1 };
	unsigned int life, n;
	u64 head;

	for (life = 0; life < LIVES; life++) {
		begin(&super);
		rt_init(&written);
		super.log_start = rnd_below(&rnd, 1000);
		for (head = super.log_start; head < super.log_start + 40; head += n) {
			n = 1 + rnd_below(&rnd, 8);
			write_batch(&super, &written, &rnd, head, n);
			super.epoch += rnd_below(&rnd, 2);
		}
		super.log_end = super.log_start + rnd_below(&rnd, 40);
		KUNIT_ASSERT_EQ(test, replay(&r, &super, &read), FORMAT_END);
		KUNIT_ASSERT_EQ(test, r.next, head);
		KUNIT_ASSERT_TRUE(test, same_tables(&written, &read));
		rt_destroy(&written);
		rt_destroy(&read);
	}
}

/*
 * Of the last batch some pages are there and some are not: the log ends at the first
 * that is missing. The next opening goes on there, and what is left of that
 * batch is never taken for its own.
 */
static void a_torn_batch_ends_the_log_and_never_comes_back(struct kunit *test)
{
	struct rangetable written, read, lost;
	struct format_super super;
	struct format_replay r;
	struct rnd rnd = { 2 };
	unsigned int life, tear;

	for (life = 0; life < LIVES; life++) {
		begin(&super);
		rt_init(&written);
		rt_init(&lost);
		write_batch(&super, &written, &rnd, 0, 1 + rnd_below(&rnd, 5));
		KUNIT_ASSERT_EQ(test, replay(&r, &super, &read), FORMAT_END);
		rt_destroy(&read);
		super.log_end = r.next;
		write_batch(&super, &lost, &rnd, r.next, 6);
		tear = r.next;
		((u8 *)&ring[tear])[rnd_below(&rnd, FORMAT_PAGE)] ^= 1;
		KUNIT_ASSERT_EQ(test, replay(&r, &super, &read), FORMAT_END);
		KUNIT_ASSERT_EQ(test, r.next, (u64)tear);
		KUNIT_ASSERT_TRUE(test, same_tables(&written, &read));
		rt_destroy(&read);

		super.epoch++;
		write_batch(&super, &written, &rnd, tear, 1);
		KUNIT_ASSERT_EQ(test, replay(&r, &super, &read), FORMAT_END);
		KUNIT_ASSERT_EQ(test, r.next, (u64)tear + 1);
		KUNIT_ASSERT_TRUE(test, same_tables(&written, &read));
		rt_destroy(&read);
		rt_destroy(&written);
		rt_destroy(&lost);
	}
}

static void a_page_lost_in_the_midst_is_found_out(struct kunit *test)
{
	struct rangetable written, read;
	struct format_super super;
	struct format_replay r;
	struct rnd rnd = { 3 };
	unsigned int life, bad;

	for (life = 0; life < LIVES; life++) {
		begin(&super);
		rt_init(&written);
		write_batch(&super, &written, &rnd, 0, 4);
		write_batch(&super, &written, &rnd, 4, 8);
		write_batch(&super, &written, &rnd, 12, 1);
		bad = rnd_below(&rnd, 12);
		((u8 *)&ring[bad])[rnd_below(&rnd, FORMAT_PAGE)] ^= 1;
		KUNIT_ASSERT_EQ(test, replay(&r, &super, &read), FORMAT_DAMAGED);
		KUNIT_ASSERT_EQ(test, r.next, (u64)bad);
		rt_destroy(&read);
		rt_destroy(&written);
	}
	/* Nothing follows it, but the superblock knows better. */
	begin(&super);
	rt_init(&written);
	write_batch(&super, &written, &rnd, 0, 4);
	ring[3].epoch = 0;
	super.log_end = 4;
	KUNIT_ASSERT_EQ(test, replay(&r, &super, &read), FORMAT_DAMAGED);
	rt_destroy(&read);
	rt_destroy(&written);
}

static void operations_that_make_no_sense_are_refused(struct kunit *test)
{
	static const struct rt_range bad[] = {
		{ .start = 1, .len = 0, .kind = RT_SQUASHED },
		{ .start = 1, .len = 1, .kind = RT_KINDS },
		{ .start = 1, .len = 1, .kind = RT_SQUASHED, .value = 1 },
		{ .start = 1, .len = 1, .kind = RT_HOLE, .value = 1 },
		{ .start = 1ULL << 60, .len = 1, .kind = RT_SQUASHED },
		{ .start = 2, .len = (1ULL << 60) - 1, .kind = RT_SQUASHED },
		{ .start = U64_MAX, .len = 1, .kind = RT_SQUASHED },
		{ .start = 1, .len = 1, .kind = RT_STORED, .value = 1ULL << 60 },
		{ .start = 1, .len = 1, .kind = RT_PACKED, .value = PACK_NUMBERS },
		{ .start = FORMAT_META - 1, .len = 2, .kind = RT_PACKED },
		/* Of a store of version 1: */
		{ .start = 1, .len = 1, .kind = RT_PACKED },
	};
	struct format_super super;
	struct format_replay r;
	struct rangetable rt;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(&super);
		if (i == ARRAY_SIZE(bad) - 1)
			super.version = FORMAT_VERSION;
		format_put(&ring[0].op[0], &bad[i]);
		format_seal(&ring[0], &super, 0, 0, 1);
		KUNIT_EXPECT_EQ_MSG(test, replay(&r, &super, &rt), FORMAT_DAMAGED, "case %u", i);
		rt_destroy(&rt);
	}
}

static void two_blocks_in_one_place_are_refused(struct kunit *test)
{
	struct rt_range r = { .start = 10, .len = 5, .value = 100, .kind = RT_STORED };
	static const u64 values[] = { 99, 104, 5, 998, U64_MAX >> 5 };
	struct remap_bitmap bm;
	struct rangetable rt;
	unsigned int i;
	u64 block;

	for (i = 0; i < ARRAY_SIZE(values) + 1; i++) {
		rt_init(&rt);
		put(&rt, &r);
		if (i) {
			struct rt_range other = { .start = 20, .len = 3, .value = values[i - 1],
						  .kind = RT_STORED };

			put(&rt, &other);
		}
		KUNIT_ASSERT_EQ(test, bm_init(&bm, 1000), 0);
		bm_claim(&bm, 0, 50);
		if (!i) {
			KUNIT_EXPECT_TRUE(test, !format_claim(&rt, &bm, 50, &block));
			KUNIT_EXPECT_EQ(test, bm.used, (u64)55);
		} else {
			KUNIT_EXPECT_TRUE(test, format_claim(&rt, &bm, 50, &block));
			KUNIT_EXPECT_EQ(test, block, (u64)20);
		}
		KUNIT_EXPECT_TRUE(test, !bm_check(&bm));
		bm_destroy(&bm);
		rt_destroy(&rt);
	}
}

static void a_block_in_a_pack_that_is_not_there_is_refused(struct kunit *test)
{
	struct rt_range block = { .start = 10, .len = 5, .value = 3, .kind = RT_PACKED };
	struct rt_range pack = { .start = FORMAT_PACKS, .len = 1, .value = 60,
				 .kind = RT_STORED };
	struct remap_bitmap bm;
	struct rangetable rt;
	u64 number, found;

	for (number = 2; number < 5; number++) {
		rt_init(&rt);
		put(&rt, &block);
		pack.start = FORMAT_PACKS + number * PACK_PAGES;
		put(&rt, &pack);
		KUNIT_ASSERT_EQ(test, bm_init(&bm, 1000), 0);
		if (number == 3) {
			KUNIT_EXPECT_TRUE(test, !format_claim(&rt, &bm, 50, &found));
		} else {
			KUNIT_EXPECT_TRUE(test, format_claim(&rt, &bm, 50, &found));
			KUNIT_EXPECT_EQ(test, found, (u64)10);
		}
		bm_destroy(&bm);
		rt_destroy(&rt);
	}
}

/* Rounds with and without somebody waiting, in any order: never more pages than there are. */
static void a_checkpoint_ahead_of_its_debt_writes_no_more_than_it_has(struct kunit *test)
{
	struct rnd rnd = { 9 };
	struct format_room room;
	s64 checkpoint_owed = 0;
	unsigned int i, ops, most;

	format_room(4096, &room);
	for (i = 0; i < 10000; i++) {
		ops = rnd_below(&rnd, 4) ? 0 : rnd_below(&rnd, room.ring + 2);
		/* Operations may not get ahead of it: wal.c's wal_round(). */
		if (checkpoint_owed > 0)
			ops = 0;
		checkpoint_owed += (s64)ops * FORMAT_WALK_RATIO;
		most = format_walk(&room, checkpoint_owed, ops);
		KUNIT_ASSERT_LE(test, most, room.walk);
		if (!ops)
			KUNIT_ASSERT_EQ(test, most, room.walk);
		else if (checkpoint_owed > 0)
			KUNIT_ASSERT_TRUE(test, most == room.walk || most == checkpoint_owed);
		else
			KUNIT_ASSERT_EQ(test, most, 0u);
		checkpoint_owed -= most;
	}
	/* It was: one of many rounds without anybody. */
	KUNIT_EXPECT_EQ(test, format_walk(&room, -1000000, 1), 0u);
}

static struct kunit_case format_cases[] = {
	KUNIT_CASE(a_superblock_is_read_as_it_was_written),
	KUNIT_CASE(the_zones_of_a_disk_are_read_as_they_were_written),
	KUNIT_CASE(no_changed_byte_of_a_superblock_goes_unseen),
	KUNIT_CASE(a_superblock_made_to_deceive_is_refused),
	KUNIT_CASE(every_log_has_room_for_two_checkpoints),
	KUNIT_CASE(a_checkpoint_ahead_of_its_debt_writes_no_more_than_it_has),
	KUNIT_CASE(a_log_is_read_as_it_was_written),
	KUNIT_CASE(a_torn_batch_ends_the_log_and_never_comes_back),
	KUNIT_CASE(a_page_lost_in_the_midst_is_found_out),
	KUNIT_CASE(operations_that_make_no_sense_are_refused),
	KUNIT_CASE(two_blocks_in_one_place_are_refused),
	KUNIT_CASE(a_block_in_a_pack_that_is_not_there_is_refused),
	{}
};

static struct kunit_suite format_suite = {
	.name = "format",
	.test_cases = format_cases,
};

kunit_test_suite(format_suite);
