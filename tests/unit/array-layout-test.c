// SPDX-License-Identifier: GPL-2.0
/*
 * Where an array's sectors lie: against pictures of md's layouts, and against rules that hold
 * for any layout. tests/system/cases/arrays.py holds the same mapping to md itself.
 */
#include <kunit/test.h>

#include "../../model/array/array-layout.h"
#include "random.h"

#define CHUNK	128		/* sectors */
#define ROWS	8

#ifdef __KERNEL__
#define ARRAYS	300
#else
#define ARRAYS	5000
#endif

struct picture {
	enum array_level level;
	const char *layout;
	u32 members, rows;
	const char *text;	/* a row of chunks each, by member */
};

/*
 * RAID-5 and 6: comments of Linux's raid5.c, and md(4). RAID-10: md(4) and the figures of
 * Wikipedia's "Non-standard RAID levels". A letter is a data chunk of the array, a the first;
 * P and Q are parity.
 */
static const struct picture pictures[] = {
	{ ARRAY_0, NULL, 3, 2, "abc def" },
	{ ARRAY_4, NULL, 4, 3, "abcP defP ghiP" },
	{ ARRAY_5, NULL, 4, 5, "abcP efPd iPgh Pjkl mnoP" },
	{ ARRAY_5, "left-asymmetric", 4, 5, "abcP dePf gPhi Pjkl mnoP" },
	{ ARRAY_5, "ra", 4, 5, "Pabc dPef ghPi jklP Pmno" },
	{ ARRAY_5, "right-symmetric", 4, 5, "Pabc fPde hiPg jklP Pmno" },
	{ ARRAY_5, "parity-first", 3, 2, "Pab Pcd" },
	{ ARRAY_5, "parity-last", 3, 2, "abP cdP" },
	{ ARRAY_6, "ls", 5, 5, "QabcP defPQ hiPQg lPQjk PQmno" },
	{ ARRAY_6, "la", 5, 5, "QabcP defPQ ghPQi jPQkl PQmno" },
	{ ARRAY_6, "rs", 5, 5, "PQabc fPQde hiPQg jklPQ QmnoP" },
	{ ARRAY_6, "ra", 5, 5, "PQabc dPQef ghPQi jklPQ QmnoP" },
	{ ARRAY_6, "parity-first", 5, 2, "PQabc PQdef" },
	{ ARRAY_6, "parity-last", 5, 2, "abcPQ defPQ" },
	{ ARRAY_6, "ddf-zero-restart", 5, 5, "PQabc dPQef ghPQi jklPQ QmnoP" },
	{ ARRAY_6, "ddf-N-restart", 5, 5, "abcPQ dePQf gPQhi PQjkl QmnoP" },
	{ ARRAY_6, "ddf-N-continue", 5, 5, "abcQP efQPd iQPgh QPjkl PmnoQ" },
	{ ARRAY_6, "left-asymmetric-6", 5, 4, "abcPQ dePfQ gPhiQ PjklQ" },
	{ ARRAY_6, "left-symmetric-6", 5, 4, "abcPQ efPdQ iPghQ PjklQ" },
	{ ARRAY_6, "right-asymmetric-6", 5, 4, "PabcQ dPefQ ghPiQ jklPQ" },
	{ ARRAY_6, "right-symmetric-6", 5, 4, "PabcQ fPdeQ hiPgQ jklPQ" },
	{ ARRAY_6, "parity-first-6", 5, 2, "PabcQ PdefQ" },
	{ ARRAY_10, "n2", 4, 2, "aabb ccdd" },
	{ ARRAY_10, "n2", 3, 4, "aab bcc dde eff" },
	{ ARRAY_10, "n3", 4, 3, "aaab bbcc cddd" },
	{ ARRAY_10, "f2", 4, 4, "abcd efgh dabc hefg" },
	{ ARRAY_10, "f3", 3, 3, "abc cab bca" },
	{ ARRAY_10, "o2", 4, 4, "abcd dabc efgh hefg" },
	{ ARRAY_10, "o2", 3, 4, "abc cab def fde" },
};

/* What lies in a chunk of a member. */
static void draw(const struct array_layout *layout, char (*rows)[ARRAY_MEMBERS])
{
	u32 data = layout->members - layout_parities(layout), copy;
	struct array_piece piece;
	u64 sector;

	for (sector = 0; sector < layout->sectors; sector += CHUNK) {
		char letter = 'a' + sector / CHUNK;

		for (copy = 0; copy < layout_copies(layout); copy++) {
			layout_piece(layout, sector, CHUNK, copy, &piece);
			rows[piece.sector / CHUNK][piece.member] = letter;
		}
		if (layout_parities(layout) >= 1)
			rows[piece.row][layout_member(layout, piece.row, data)] = 'P';
		if (layout_parities(layout) == 2)
			rows[piece.row][layout_member(layout, piece.row, data + 1)] = 'Q';
	}
}

static void layouts_are_those_of_the_pictures(struct kunit *test)
{
	static char rows[ROWS][ARRAY_MEMBERS];
	char name[32];
	u32 i, row;

	for (i = 0; i < ARRAY_SIZE(pictures); i++) {
		const struct picture *p = &pictures[i];
		struct array_layout layout = { .level = p->level, .members = p->members,
					       .chunk = CHUNK };
		const char *text = p->text;

		memset(rows, 0, sizeof(rows));
		KUNIT_ASSERT_TRUE(test, layout_parse(&layout, p->layout));
		KUNIT_ASSERT_TRUE(test, !layout_init(&layout, p->rows * CHUNK + CHUNK / 2));
		draw(&layout, rows);
		for (row = 0; row < p->rows; row++, text += p->members + 1)
			KUNIT_EXPECT_EQ_MSG(test, 0, strncmp(rows[row], text, p->members),
					    "level %d, %s, row %u: %s", p->level,
					    p->layout ?: "default", row, rows[row]);
		layout_print(&layout, name, sizeof(name));
		KUNIT_EXPECT_TRUE(test, layout_parse(&layout, *name ? name : NULL));
	}
}

static bool random_layout(struct rnd *rnd, struct array_layout *layout)
{
	static const char *const words[] = {
		"ls", "la", "rs", "ra", "parity-first", "parity-last", "ddf-zero-restart",
		"ddf-N-restart", "ddf-N-continue", "left-symmetric-6", "left-asymmetric-6",
		"right-symmetric-6", "right-asymmetric-6", "parity-first-6", "n2", "n3", "n4", "f2",
		"f3", "o2", "o3",
	};

	*layout = (struct array_layout){ .level = rnd_below(rnd, ARRAY_10 + 1),
					 .members = 1 + rnd_below(rnd, 12),
					 .chunk = ARRAY_BLOCK << rnd_below(rnd, 6) };
	return layout_parse(layout, layout->level < ARRAY_5 ? NULL :
			    words[rnd_below(rnd, ARRAY_SIZE(words))]) &&
	       !layout_init(layout, layout->chunk * (1 + rnd_below(rnd, 40)) + rnd_below(rnd, 8));
}

/* A place of a member, as a bit. */
static bool taken(struct kunit *test, u8 *used, const struct array_layout *layout, u32 member,
		  u64 sector)
{
	u64 bit = sector / ARRAY_BLOCK * layout->members + member;
	bool was = used[bit / 8] & 1 << bit % 8;

	KUNIT_EXPECT_LE(test, member + 1, layout->members);
	KUNIT_EXPECT_LE(test, sector + 1, layout->member_sectors);
	used[bit / 8] |= 1 << bit % 8;
	return was;
}

static void no_two_blocks_lie_in_one_place(struct kunit *test)
{
	struct rnd rnd = { .state = 1 };
	struct array_layout l;
	struct array_piece piece;
	u32 arrays = 0, copy, i;
	u64 sector, row;
	u8 *used;

	while (arrays < ARRAYS) {
		if (!random_layout(&rnd, &l) || l.level == ARRAY_1)
			continue;
		arrays++;
		used = kvzalloc(l.member_sectors / ARRAY_BLOCK * l.members / 8 + 1, GFP_KERNEL);
		KUNIT_ASSERT_TRUE(test, used);
		for (sector = 0; sector < l.sectors; sector += ARRAY_BLOCK)
			for (copy = 0; copy < layout_copies(&l); copy++) {
				layout_piece(&l, sector, ARRAY_BLOCK, copy, &piece);
				KUNIT_EXPECT_FALSE(test, taken(test, used, &l, piece.member,
							       piece.sector));
			}
		for (row = 0; row * l.chunk < l.member_sectors; row++)
			for (i = 0; i < layout_parities(&l); i++) {
				u32 member = layout_member(&l, row, l.members -
							   layout_parities(&l) + i);

				KUNIT_EXPECT_FALSE(test, taken(test, used, &l, member,
							       row * l.chunk));
			}
		kvfree(used);
	}
}

static void copies_lie_on_different_members(struct kunit *test)
{
	struct rnd rnd = { .state = 2 };
	struct array_layout l;
	struct array_piece piece;
	u32 arrays = 0, copy;
	u64 on, sector;

	while (arrays < ARRAYS) {
		if (!random_layout(&rnd, &l) || layout_copies(&l) == 1)
			continue;
		arrays++;
		sector = rnd_next(&rnd) % l.sectors;
		for (on = 0, copy = 0; copy < layout_copies(&l); copy++) {
			layout_piece(&l, sector, 1, copy, &piece);
			KUNIT_EXPECT_FALSE(test, !!(on & 1ULL << piece.member));
			on |= 1ULL << piece.member;
		}
	}
}

static void pieces_end_where_their_chunk_does(struct kunit *test)
{
	struct array_layout l = { .level = ARRAY_5, .members = 4, .chunk = CHUNK };
	struct array_piece piece;

	KUNIT_ASSERT_TRUE(test, layout_parse(&l, NULL));
	KUNIT_ASSERT_TRUE(test, !layout_init(&l, 1 << 20));
	layout_piece(&l, CHUNK - 8, 1000, 0, &piece);
	KUNIT_EXPECT_EQ(test, piece.sectors, 8);
	KUNIT_EXPECT_EQ(test, piece.sector, CHUNK - 8);
	layout_piece(&l, CHUNK + 8, 16, 0, &piece);
	KUNIT_EXPECT_EQ(test, piece.sectors, 16);
	KUNIT_EXPECT_EQ(test, piece.member, 1);
}

static void what_cannot_be_is_refused(struct kunit *test)
{
	static const struct {
		enum array_level level;
		const char *layout;
		u32 members, chunk;
		u64 sectors;
	} bad[] = {
		{ ARRAY_0, NULL, 0, CHUNK, 1 << 20 },
		{ ARRAY_5, "ls", 1, CHUNK, 1 << 20 },
		{ ARRAY_6, "ls", 3, CHUNK, 1 << 20 },
		{ ARRAY_10, "n3", 2, CHUNK, 1 << 20 },
		{ ARRAY_0, NULL, 65, CHUNK, 1 << 20 },
		{ ARRAY_0, NULL, 4, 100, 1 << 20 },
		{ ARRAY_0, NULL, 4, 4, 1 << 20 },
		{ ARRAY_0, NULL, 4, 1 << 18, 1 << 20 },
		{ ARRAY_0, NULL, 4, CHUNK, CHUNK - 1 },
		{ ARRAY_10, "f2", 4, CHUNK, CHUNK },
		{ ARRAY_1, NULL, 2, 0, 0 },
	};
	static const struct {
		enum array_level level;
		const char *layout;
	} words[] = {
		{ ARRAY_0, "ls" }, { ARRAY_1, "n2" }, { ARRAY_4, "ls" }, { ARRAY_5, "n2" },
		{ ARRAY_5, "ddf-N-restart" }, { ARRAY_5, "left" }, { ARRAY_5, "" },
		{ ARRAY_6, "parity-first-7" }, { ARRAY_10, "ls" }, { ARRAY_10, "n0" },
		{ ARRAY_10, "n" }, { ARRAY_10, "" }, { ARRAY_10, "n2x" },
		{ ARRAY_10, "n99999999999999999999" },
	};
	struct array_layout layout;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		layout = (struct array_layout){ .level = bad[i].level, .members = bad[i].members,
						.chunk = bad[i].chunk };
		KUNIT_ASSERT_TRUE(test, layout_parse(&layout, bad[i].layout));
		KUNIT_EXPECT_EQ_MSG(test, true, !!layout_init(&layout, bad[i].sectors),
				    "case %u", i);
	}
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		layout = (struct array_layout){ .level = words[i].level, .members = 8,
						.chunk = CHUNK };
		KUNIT_EXPECT_EQ_MSG(test, false, layout_parse(&layout, words[i].layout),
				    "word %u", i);
	}
}

static struct kunit_case array_layout_cases[] = {
	KUNIT_CASE(layouts_are_those_of_the_pictures),
	KUNIT_CASE(no_two_blocks_lie_in_one_place),
	KUNIT_CASE(copies_lie_on_different_members),
	KUNIT_CASE(pieces_end_where_their_chunk_does),
	KUNIT_CASE(what_cannot_be_is_refused),
	{}
};

static struct kunit_suite array_layout_suite = {
	.name = "array-layout",
	.test_cases = array_layout_cases,
};

kunit_test_suite(array_layout_suite);
