// SPDX-License-Identifier: GPL-2.0
/*
 * Exports of pools: disks that share blocks share them again, and what is torn, changed or made up
 * is refused. In user space only, as the exports are.
 */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "exportfile-memory.h"
#include "random.h"

#define DISKS	3
#define RANGES	12

/* What a pool has: each range is of one block, or of two. */
struct farm {
	struct export_pool pool;
	struct export_head head[DISKS];
	struct rt_range range[DISKS][RANGES];
	u8 data[DISKS * RANGES * 2][FORMAT_PAGE];
};

/* A range for a disk: new blocks, or some of the @known ones of other disks, from *@old on. */
static void any_range(struct rnd *rnd, struct farm *f, unsigned int disk, u64 known, u64 *old)
{
	struct export_head *head = &f->head[disk];
	struct rt_range *r = &f->range[disk][head->ranges];

	r->start = 10 * head->ranges++;
	r->len = 1 + rnd_below(rnd, 2);
	r->kind = RT_FILL + rnd_below(rnd, 3);
	if (r->kind == RT_FILL)
		r->value = rnd_next(rnd);
	if (r->kind != RT_STORED)
		return;
	f->pool.disk[disk].blocks += r->len;
	if (f->pool.share && *old + r->len <= known && rnd_below(rnd, 2)) {
		r->value = *old;
		*old += r->len;
		return;
	}
	r->value = known + head->blocks;
	head->blocks += r->len;
	f->pool.blocks += r->len;
}

static void any_farm(struct rnd *rnd, struct farm *f)
{
	unsigned int i, n;
	u64 old;

	memset(f, 0, sizeof(*f));
	f->pool.share = rnd_below(rnd, 2);
	f->pool.disks = 1 + rnd_below(rnd, DISKS);
	memcpy(f->pool.name, "farm", 4);
	for (i = 0; i < f->pool.disks; i++) {
		u64 known = f->pool.blocks;

		f->head[i].block_size = FORMAT_PAGE;
		f->head[i].seed = rnd_next(rnd);
		f->pool.disk[i].name[0] = 'a' + i;
		f->pool.disk[i].reserve = rnd_below(rnd, 1000);
		for (old = rnd_below(rnd, 3), n = rnd_below(rnd, RANGES + 1); n; n--)
			any_range(rnd, f, i, known, &old);
		f->pool.disk[i].ranges = f->head[i].ranges;
	}
	for (i = 0; i < f->pool.blocks; i++)
		memset(f->data[i], 1 + i, FORMAT_PAGE);
}

static void write_member(struct export_writer *w, const struct farm *f, unsigned int disk,
			 u64 *number)
{
	const struct export_head *head = &f->head[disk];
	static struct format_op op[RANGES];
	u64 i;

	export_begin(w, head);
	for (i = 0; i < head->ranges; i++)
		format_put(&op[i], &f->range[disk][i]);
	if (i)
		export_chunk(w, EXPORT_RANGES, op, i * sizeof(op[0]));
	if (head->blocks)
		export_chunk(w, EXPORT_BLOCKS, f->data[*number], head->blocks * FORMAT_PAGE);
	*number += head->blocks;
	export_chunk(w, EXPORT_END, NULL, 0);
	export_finish(w);
}

static void write_farm(const struct farm *f)
{
	struct export_writer w = { .write = put };
	u64 number = 0;
	unsigned int i;

	crc_setup();
	made = 0;
	export_pool_begin(&w, &f->pool);
	for (i = 0; i < f->pool.disks; i++)
		write_member(&w, f, i, &number);
	there = made;
}

static bool read_member(struct export_reader *r, struct farm *f, unsigned int disk)
{
	enum export_kind kind = 0;
	u64 ranges = 0;
	u32 len, i;

	if (export_open(r)) {
		f->head[disk] = r->head;
		while ((kind = export_next(r, &len)) && kind != EXPORT_END) {
			for (i = 0; kind == EXPORT_RANGES &&
			     i < len / sizeof(struct format_op); i++)
				export_range(r, i, &f->range[disk][ranges++]);
			if (kind == EXPORT_BLOCKS)
				memcpy(f->data[r->known + r->blocks - len / FORMAT_PAGE], r->data,
				       len);
		}
	}
	export_close(r);
	return kind == EXPORT_END;
}

/* Returns what is wrong with the file, or NULL; fills @f. */
static const char *read_farm(struct farm *f)
{
	struct export_reader r = { .read = get };
	unsigned int i;

	taken = 0;
	memset(f, 0, sizeof(*f));
	if (!export_pool_open(&r, &f->pool))
		return r.why;
	for (i = 0; i < f->pool.disks; i++)
		if (!read_member(&r, f, i))
			return r.why;
	return NULL;
}

static void a_pool_is_read_as_it_was_written(struct kunit *test)
{
	static struct farm wrote, found;
	struct rnd rnd = { 1 };
	unsigned int i;

	for (i = 0; i < 300; i++) {
		any_farm(&rnd, &wrote);
		write_farm(&wrote);
		KUNIT_ASSERT_TRUE(test, !read_farm(&found));
		KUNIT_ASSERT_EQ(test, memcmp(&wrote, &found, sizeof(wrote)), 0);
	}
}

/* Of three disks, with shared blocks. */
static void sharing_farm(struct rnd *rnd, struct farm *f)
{
	do
		any_farm(rnd, f);
	while (f->pool.disks < 3 || f->pool.disk[2].blocks <= f->head[2].blocks ||
	       f->pool.blocks > 20);
}

static void a_pool_that_is_torn_or_changed_is_refused(struct kunit *test)
{
	static struct farm farm, found;
	struct rnd rnd = { 2 };
	u8 bit;
	size_t at;

	sharing_farm(&rnd, &farm);
	write_farm(&farm);
	for (there = 0; there < made; there += 1 + there / 500)
		KUNIT_ASSERT_TRUE(test, read_farm(&found));
	there = made;
	for (at = 0; at < made; at++) {
		bit = 1 << rnd_below(&rnd, 8);
		export[at] ^= bit;
		KUNIT_ASSERT_TRUE(test, read_farm(&found));
		export[at] ^= bit;
	}
	export[there++] = 0;
	KUNIT_ASSERT_TRUE(test, read_farm(&found));
	there--;
	KUNIT_ASSERT_TRUE(test, !read_farm(&found));
}

/* Which disks: of the first file up to @from, of the second one from there on. */
static void a_disk_of_another_file_is_refused(struct kunit *test)
{
	static struct farm farm, found;
	static u8 first[sizeof(export)];
	struct rnd rnd = { 3 };
	size_t len;

	sharing_farm(&rnd, &farm);
	write_farm(&farm);
	len = made;
	memcpy(first, export, len);
	/* The same pool later: a block of the first disk, or its reserve, is another. */
	farm.pool.disk[0].reserve++;
	write_farm(&farm);
	KUNIT_ASSERT_EQ(test, len, made);
	KUNIT_ASSERT_TRUE(test, !read_farm(&found));
	memcpy(export, first, sizeof(struct export_pool_disk_head));
	KUNIT_ASSERT_TRUE(test, read_farm(&found));
}

static void nothing(struct farm *f)
{
}

static void name_one_twice(struct farm *f)
{
	f->range[1][1].value = 0;
}

static void name_a_later_one(struct farm *f)
{
	f->range[0][0].value = 2;
}

static void go_beyond_the_others(struct farm *f)
{
	f->range[1][0].value = 1;
	f->range[1][0].len = 2;
}

static void share_where_nothing_is_shared(struct farm *f)
{
	f->pool.share = false;
}

static void announce_fewer(struct farm *f)
{
	f->pool.disk[1].blocks--;
}

static void announce_more(struct farm *f)
{
	f->pool.blocks++;
}

static void small_blocks(struct farm *f)
{
	f->head[1].block_size = 512;
}

static void names_alike(struct farm *f)
{
	f->pool.disk[1].name[0] = 'a';
}

static void no_name(struct farm *f)
{
	f->pool.disk[1].name[0] = ',';
}

static void no_disk(struct farm *f)
{
	f->pool.disks = 0;
}

static void what_makes_no_sense_is_refused(struct kunit *test)
{
	static void (* const how[])(struct farm *f) = {
		nothing, name_one_twice, name_a_later_one, go_beyond_the_others,
		share_where_nothing_is_shared, announce_fewer, announce_more, small_blocks,
		names_alike, no_name, no_disk,
	};
	static struct farm farm, found;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		memset(&farm, 0, sizeof(farm));
		farm.pool = (struct export_pool){
			.name = "farm", .share = true, .disks = 2, .blocks = 3,
			.disk = { { "a", 0, 1, 2 }, { "b", 0, 2, 2 } },
		};
		farm.head[0] = (struct export_head){
			.block_size = FORMAT_PAGE, .ranges = 1, .blocks = 2,
		};
		farm.head[1] = (struct export_head){
			.block_size = FORMAT_PAGE, .ranges = 2, .blocks = 1,
		};
		farm.range[0][0] = (struct rt_range){ 5, 2, 0, RT_STORED };
		farm.range[1][0] = (struct rt_range){ 5, 1, 0, RT_STORED };
		farm.range[1][1] = (struct rt_range){ 9, 1, 2, RT_STORED };
		how[i](&farm);
		write_farm(&farm);
		KUNIT_EXPECT_EQ(test, !read_farm(&found), !i);
	}
}

static struct kunit_case pool_image_cases[] = {
	KUNIT_CASE(a_pool_is_read_as_it_was_written),
	KUNIT_CASE(a_pool_that_is_torn_or_changed_is_refused),
	KUNIT_CASE(a_disk_of_another_file_is_refused),
	KUNIT_CASE(what_makes_no_sense_is_refused),
	{}
};

static struct kunit_suite pool_image_suite = {
	.name = "poolexportfile",
	.test_cases = pool_image_cases,
};

kunit_test_suite(pool_image_suite);
