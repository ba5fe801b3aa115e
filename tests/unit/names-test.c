// SPDX-License-Identifier: GPL-2.0
/* Names in directories, at home and in the log, of a small volume made by hand. */
#include <kunit/test.h>

#include "../../classifier/ext/ext-dir.h"
#include "ext-world.h"

enum { RAW = 20, DEEP = 40, PLAIN = 60 };
enum { ABOVE = 100, BELOW = 200, ELSEWHERE = 300, DATABASE = 301, LATER = 302 };

/* Where their names are. */
enum { ROOT_NAMES = WORLD_FREE, RAW_NAMES, DEEP_NAMES, PLAIN_NAMES };

static bool is_db(void *ctx, const char *name, u32 len)
{
	return len > 3 && !memcmp(name + len - 3, ".db", 3);
}

static u32 raw_only(void *ctx, u32 after)
{
	return after < RAW ? RAW : 0;
}

static u32 none(void *ctx, u32 after)
{
	return 0;
}

static const struct ext_names_choice directory = { .suffix = is_db, .next_dir = raw_only };
static const struct ext_names_choice suffix = {
	.suffix = is_db, .next_dir = none, .everywhere = true,
};

/* /raw/{above,deep/below}, /plain/{elsewhere,x.db} */
static struct world *make(struct kunit *test)
{
	struct world *w = kvzalloc(sizeof(*w), GFP_KERNEL);
	u32 at;

	KUNIT_ASSERT_TRUE(test, w && world_make(w));
	world_dir(w, EXT_ROOT_INO, ROOT_NAMES, 1);
	at = world_entry(world_at(w, ROOT_NAMES), 0, 12, 2, WORLD_DIR, ".");
	at = world_entry(world_at(w, ROOT_NAMES), at, 12, 2, WORLD_DIR, "..");
	at = world_entry(world_at(w, ROOT_NAMES), at, 12, RAW, WORLD_DIR, "raw");
	world_entry(world_at(w, ROOT_NAMES), at, WORLD_BLOCK - at, PLAIN, WORLD_DIR, "plain");
	world_dir(w, RAW, RAW_NAMES, 1);
	at = world_entry(world_at(w, RAW_NAMES), 0, 16, ABOVE, WORLD_FILE, "above");
	world_entry(world_at(w, RAW_NAMES), at, WORLD_BLOCK - at, DEEP, WORLD_DIR, "deep");
	world_dir(w, DEEP, DEEP_NAMES, 1);
	world_names(world_at(w, DEEP_NAMES), DEEP, BELOW, WORLD_FILE, "below");
	world_dir(w, PLAIN, PLAIN_NAMES, 1);
	at = world_entry(world_at(w, PLAIN_NAMES), 0, 20, ELSEWHERE, WORLD_FILE, "elsewhere");
	world_entry(world_at(w, PLAIN_NAMES), at, WORLD_BLOCK - at, DATABASE, WORLD_FILE, "x.db");
	return w;
}

static void end(struct world *w)
{
	world_end(w);
	kvfree(w);
}

/* Read all; is it known then? */
static bool know(struct world *w, const struct ext_names_choice *choice)
{
	ext_names_again(&w->e.names);
	world_read(w, choice, 1000);
	return ext_names_ready(&w->e);
}

static bool has(struct world *w, u32 ino)
{
	return ext_names_has(&w->e.names, ino);
}

static void all_below_a_directory_is_chosen(struct kunit *test)
{
	struct world *w = make(test);

	KUNIT_EXPECT_FALSE(test, ext_names_ready(&w->e));
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_TRUE(test, has(w, RAW) && has(w, ABOVE) && has(w, DEEP) && has(w, BELOW));
	KUNIT_EXPECT_FALSE(test, has(w, PLAIN) || has(w, ELSEWHERE) || has(w, DATABASE));
	KUNIT_EXPECT_EQ(test, w->e.names.chosen, 4);
	end(w);
}

static void a_suffix_is_looked_for_everywhere(struct kunit *test)
{
	struct world *w = make(test);

	KUNIT_EXPECT_TRUE(test, know(w, &suffix));
	KUNIT_EXPECT_TRUE(test, has(w, DATABASE));
	KUNIT_EXPECT_FALSE(test, has(w, ABOVE) || has(w, BELOW) || has(w, ELSEWHERE));
	KUNIT_EXPECT_EQ(test, w->e.names.chosen, 1);
	end(w);
}

static void the_logs_copy_counts_once_it_is_committed(struct kunit *test)
{
	struct world *w = make(test);
	u64 walks;

	KUNIT_ASSERT_TRUE(test, know(w, &directory));
	world_super(w, 1, w->tid);
	world_names(world_descriptor(w, DEEP_NAMES), DEEP, LATER, WORLD_FILE, "later");
	KUNIT_EXPECT_FALSE(test, know(w, &directory));
	world_commit(w);
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_TRUE(test, has(w, LATER) && has(w, ABOVE));
	KUNIT_EXPECT_FALSE(test, has(w, BELOW));
	/* Other blocks do not matter, but for that the log has to be read. */
	walks = w->e.names.walks;
	world_descriptor(w, PLAIN_NAMES);
	world_commit(w);
	KUNIT_EXPECT_FALSE(test, ext_names_ready(&w->e));
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_EQ(test, w->e.names.walks, walks);
	/* The newest one, although it went round the log's end. */
	while (w->head < 60) {
		world_descriptor(w, PLAIN_NAMES);
		world_commit(w);
	}
	world_super(w, w->head, w->tid);
	world_names(world_at(w, DEEP_NAMES), DEEP, 0, 0, "");
	world_descriptor(w, PLAIN_NAMES);
	world_commit(w);
	world_names(world_descriptor(w, DEEP_NAMES), DEEP, BELOW, WORLD_FILE, "below");
	world_commit(w);
	KUNIT_EXPECT_LE(test, w->head, 20);
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_TRUE(test, has(w, BELOW));
	KUNIT_EXPECT_FALSE(test, has(w, LATER));
	/* All of it is home, and the log is empty. */
	world_super(w, 0, w->tid);
	KUNIT_EXPECT_FALSE(test, ext_names_ready(&w->e));
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_FALSE(test, has(w, BELOW));
	end(w);
}

static void what_cannot_be_read_is_not_known(struct kunit *test)
{
	struct world *w = make(test);
	u8 *names = world_at(w, DEEP_NAMES);
	u32 round;

	world_le16(names + 4, 10);
	KUNIT_EXPECT_FALSE(test, know(w, &directory));
	world_names(names, DEEP, WORLD_INODES + 1, WORLD_FILE, "behind");
	KUNIT_EXPECT_FALSE(test, know(w, &directory));
	/* A directory that is its own child, and one that has another's block. */
	world_names(names, DEEP, DEEP, WORLD_DIR, "again");
	for (round = 0; round < 2; round++) {
		KUNIT_EXPECT_EQ(test, know(w, &directory), !round);
		world_dir(w, DEEP, RAW_NAMES, 1);
		ext_names_written(&w->e.names);
	}
	KUNIT_EXPECT_EQ(test, w->e.names.errors, 3);
	end(w);
}

static void more_names_find_more_memory(struct kunit *test)
{
	struct world *w = make(test);
	u32 ino = 350, i, at;

	/* 40 blocks of 40 names. */
	world_dir(w, DEEP, WORLD_FREE + 10, 40);
	for (i = 0; i < 40; i++)
		for (at = 0; at < WORLD_BLOCK;)
			at = world_entry(world_at(w, WORLD_FREE + 10 + i), at,
					 WORLD_BLOCK - at < 48 ? WORLD_BLOCK - at : 24, ino++,
					 WORLD_FILE, "name");
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_EQ(test, w->e.names.chosen, ino - 350 + 3);
	KUNIT_EXPECT_NE(test, w->e.names.bytes, EXT_NAMES_MIN_BYTES);
	for (i = 350; i < ino; i++)
		KUNIT_ASSERT_TRUE(test, has(w, i));
	end(w);
}

struct told {
	u32 n;
	u32 sum;
};

static void tell(void *ctx, const struct ext_name *name)
{
	struct told *told = ctx;

	told->n++;
	told->sum += name->ino * (name->may_be_dir ? 1000 : 1);
}

static void small_directories_stand_in_their_inode(struct kunit *test)
{
	struct world *w = make(test);
	u8 *raw = world_inode(w, DEEP), *x = raw + 128 + 32;
	struct told told = { };

	world_dir(w, DEEP, 0, 0);
	world_le32(raw + 0x20, 0x10000000);
	memset(raw + 0x28, 0, 60);
	world_le32(raw + 0x28, RAW);
	world_entry(raw, 0x2c, 24, BELOW, WORLD_FILE, "below");
	world_entry(raw, 0x2c + 24, 32, 0, 0, "");
	world_le16(raw + 128, 32);
	KUNIT_EXPECT_EQ(test, ext_dir_inline(&w->e.geo, raw, tell, &told), 0);
	KUNIT_EXPECT_EQ(test, told.sum, BELOW);
	/* And more, as an attribute behind another one. */
	world_le32(x, 0xea020000);
	x += 4;
	x[0] = 3;
	x[1] = 1;
	x[20] = 4;
	x[21] = 7;
	world_le16(x + 22, 56);
	world_le32(x + 28, 20);
	memcpy(x + 36, "data", 4);
	world_entry(x, 56, 20, LATER, WORLD_FILE, "later");
	told.sum = 0;
	KUNIT_EXPECT_EQ(test, ext_dir_inline(&w->e.geo, raw, tell, &told), 0);
	KUNIT_EXPECT_EQ(test, told.sum, BELOW + LATER);
	KUNIT_EXPECT_TRUE(test, know(w, &directory));
	KUNIT_EXPECT_TRUE(test, has(w, BELOW) && has(w, LATER));
	/* Its value is beyond the inode. */
	world_le16(x + 22, 90);
	KUNIT_EXPECT_EQ(test, ext_dir_inline(&w->e.geo, raw, tell, &told), 1);
	end(w);
}

static void entries_without_types_may_be_directories(struct kunit *test)
{
	struct world *w = make(test);
	struct told told = { };

	KUNIT_EXPECT_EQ(test, ext_dir_block(&w->e.geo, world_at(w, RAW_NAMES), tell, &told), 0);
	KUNIT_EXPECT_EQ(test, told.sum, ABOVE + 1000 * DEEP);
	w->e.geo.incompat &= ~2u;
	world_at(w, RAW_NAMES)[7] = 0;
	world_at(w, RAW_NAMES)[16 + 7] = 0;
	told.sum = 0;
	KUNIT_EXPECT_EQ(test, ext_dir_block(&w->e.geo, world_at(w, RAW_NAMES), tell, &told), 0);
	KUNIT_EXPECT_EQ(test, told.sum, 1000 * (ABOVE + DEEP));
	end(w);
}

static struct kunit_case names_cases[] = {
	KUNIT_CASE(all_below_a_directory_is_chosen),
	KUNIT_CASE(a_suffix_is_looked_for_everywhere),
	KUNIT_CASE(the_logs_copy_counts_once_it_is_committed),
	KUNIT_CASE(what_cannot_be_read_is_not_known),
	KUNIT_CASE(more_names_find_more_memory),
	KUNIT_CASE(small_directories_stand_in_their_inode),
	KUNIT_CASE(entries_without_types_may_be_directories),
	{}
};

static struct kunit_suite names_suite = {
	.name = "names",
	.test_cases = names_cases,
};

kunit_test_suite(names_suite);
