// SPDX-License-Identifier: GPL-2.0
/*
 * Exports of emulated disks: what is written is read back, and what is torn,
 * changed or made up is refused. In user space only, as the export is.
 */
#include <kunit/test.h>

#include "../../dm-david/portable/crc.h"
#include "exportfile-memory.h"
#include "random.h"

#define BLOCK	512u

struct disk {
	struct export_head head;
	struct rt_range range[64];
	u8 data[64 * BLOCK];
};

static void any_disk(struct rnd *rnd, struct disk *d)
{
	u64 at = 0;
	u32 i;

	memset(d, 0, sizeof(*d));
	d->head.block_size = BLOCK;
	d->head.seed = rnd_next(rnd);
	d->head.target_sectors = 1 << 30;
	d->head.ranges = rnd_below(rnd, 40);
	for (i = 0; i < d->head.ranges; i++) {
		struct rt_range *r = &d->range[i];

		/* The last ones far beyond the disk's end. */
		at += i < 30 ? rnd_below(rnd, 100) : (u64)1 << 55;
		r->start = at;
		r->len = 1 + rnd_below(rnd, 3);
		r->kind = RT_FILL + rnd_below(rnd, 3);
		if (r->kind == RT_FILL)
			r->value = rnd_next(rnd);
		if (r->kind == RT_STORED && d->head.blocks + r->len > 64)
			r->kind = RT_SQUASHED;
		if (r->kind == RT_STORED) {
			r->value = d->head.blocks;
			d->head.blocks += r->len;
		}
		at += r->len;
	}
	for (i = 0; i < d->head.blocks * BLOCK; i++)
		d->data[i] = i & 0x200 ? rnd_next(rnd) : 0;
}

static void write_ranges(struct export_writer *w, const struct disk *d, u64 from, u64 to)
{
	static struct format_op op[64];
	u64 i;

	for (i = from; i < to; i++)
		format_put(&op[i - from], &d->range[i]);
	if (to > from)
		export_chunk(w, EXPORT_RANGES, op, (to - from) * sizeof(op[0]));
}

static void write_disk(const struct disk *d)
{
	struct export_writer w = { .write = put };
	u64 half = d->head.blocks / 2 * BLOCK;

	crc_setup();
	made = 0;
	export_begin(&w, &d->head);
	write_ranges(&w, d, 0, d->head.ranges / 2);
	write_ranges(&w, d, d->head.ranges / 2, d->head.ranges);
	if (half)
		export_chunk(&w, EXPORT_BLOCKS, d->data, half);
	if (d->head.blocks)
		export_chunk(&w, EXPORT_BLOCKS, d->data + half, d->head.blocks * BLOCK - half);
	export_chunk(&w, EXPORT_END, NULL, 0);
	export_finish(&w);
	there = made;
}

/* Returns what is wrong with the file, or NULL; fills @d. */
static const char *read_disk(struct disk *d)
{
	struct export_reader r = { .read = get };
	enum export_kind kind = 0;
	u64 ranges = 0;
	u32 len, i;

	taken = 0;
	memset(d, 0, sizeof(*d));
	if (export_open(&r)) {
		d->head = r.head;
		while ((kind = export_next(&r, &len)) && kind != EXPORT_END) {
			for (i = 0; kind == EXPORT_RANGES &&
			     i < len / sizeof(struct format_op); i++)
				export_range(&r, i, &d->range[ranges++]);
			if (kind == EXPORT_BLOCKS)
				memcpy(d->data + r.blocks * BLOCK - len, r.data, len);
		}
	}
	export_close(&r);
	return kind == EXPORT_END ? NULL : r.why;
}

static void an_export_is_read_as_it_was_written(struct kunit *test)
{
	static struct disk wrote, found;
	struct rnd rnd = { 1 };
	unsigned int i;

	for (i = 0; i < 300; i++) {
		any_disk(&rnd, &wrote);
		write_disk(&wrote);
		KUNIT_ASSERT_TRUE(test, !read_disk(&found));
		KUNIT_ASSERT_EQ(test, memcmp(&wrote, &found, sizeof(wrote)), 0);
	}
}

static void an_export_that_is_torn_or_changed_is_refused(struct kunit *test)
{
	static struct disk disk, found;
	struct rnd rnd = { 2 };
	size_t at;
	u8 bit;

	do
		any_disk(&rnd, &disk);
	while (disk.head.blocks < 4 || disk.head.blocks > 8);
	write_disk(&disk);
	for (there = 0; there < made; there++)
		KUNIT_ASSERT_TRUE(test, read_disk(&found));
	for (at = 0; at < made; at++) {
		bit = 1 << rnd_below(&rnd, 8);
		export[at] ^= bit;
		KUNIT_ASSERT_TRUE(test, read_disk(&found));
		export[at] ^= bit;
	}
	export[there++] = 0;
	KUNIT_ASSERT_TRUE(test, read_disk(&found));
	there--;
	KUNIT_ASSERT_TRUE(test, !read_disk(&found));
}

static void the_end_of_another_export_is_refused(struct kunit *test)
{
	static struct disk disk, found;
	static u8 first[sizeof(export)];
	struct rnd rnd = { 3 };
	size_t len, at;

	do
		any_disk(&rnd, &disk);
	while (disk.head.blocks < 4);
	write_disk(&disk);
	len = made;
	memcpy(first, export, len);
	/* The same but for a block at the beginning: of the same length unpacked. */
	disk.data[0] ^= 1;
	disk.head.seed++;
	write_disk(&disk);
	KUNIT_ASSERT_TRUE(test, !read_disk(&found));
	for (at = sizeof(struct export_disk_head); at < min(len, made); at++) {
		if (!memcmp(first, export, at))
			continue;
		memcpy(export, first, at);
		KUNIT_ASSERT_TRUE(test, read_disk(&found));
		write_disk(&disk);
	}
}

/* Right checksums over @mend's doing. */
static const char *deceive(struct disk *d, void (*mend)(struct disk *d))
{
	static struct disk found;

	mend(d);
	write_disk(d);
	return read_disk(&found);
}

static void nothing(struct disk *d)
{
}

static void overlap(struct disk *d)
{
	d->range[1].start = d->range[0].start;
}

static void steal(struct disk *d)
{
	d->range[0].value++;
}

static void far(struct disk *d)
{
	d->range[1].start = (u64)1 << 60;
}

static void more(struct disk *d)
{
	d->head.ranges--;
}

static void fewer(struct disk *d)
{
	d->head.blocks++;
}

static void small(struct disk *d)
{
	d->head.block_size = 100;
}

static void what_makes_no_sense_is_refused(struct kunit *test)
{
	static void (* const how[])(struct disk *d) = {
		nothing, overlap, steal, far, more, fewer, small,
	};
	static struct disk disk;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(how); i++) {
		memset(&disk, 0, sizeof(disk));
		disk.head.block_size = BLOCK;
		disk.head.ranges = 2;
		disk.head.blocks = 3;
		disk.range[0] = (struct rt_range){ 5, 2, 0, RT_STORED };
		disk.range[1] = (struct rt_range){ 9, 1, 2, RT_STORED };
		KUNIT_EXPECT_EQ(test, !deceive(&disk, how[i]), !i);
	}
}

static struct kunit_case export_cases[] = {
	KUNIT_CASE(an_export_is_read_as_it_was_written),
	KUNIT_CASE(an_export_that_is_torn_or_changed_is_refused),
	KUNIT_CASE(the_end_of_another_export_is_refused),
	KUNIT_CASE(what_makes_no_sense_is_refused),
	{}
};

static struct kunit_suite export_suite = {
	.name = "exportfile",
	.test_cases = export_cases,
};

kunit_test_suite(export_suite);
