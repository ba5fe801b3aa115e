// SPDX-License-Identifier: GPL-2.0
/* Journal snooping over journals made by hand. */
#include <kunit/test.h>

#include "../../classifier/ext/jbd2.h"

#define BLOCK		1024u
#define MAXLEN		256u
#define DESCRIPTOR	1u
#define COMMIT		2u
#define SUPER		4u
#define REVOKE		5u
#define SAME_UUID	2u
#define LAST		8u

#define F_REVOKE	0x01u
#define F_64BIT		0x02u
#define F_CSUM_V2	0x08u
#define F_CSUM_V3	0x10u

struct journal {
	struct jbd2 j;
	u32 features;
	u8 block[BLOCK];
	u32 at;
};

static void put32(struct journal *jn, u32 at, u32 value)
{
	__be32 word = cpu_to_be32(value);

	memcpy(jn->block + at, &word, sizeof(word));
}

static void put16(struct journal *jn, u32 at, u32 value)
{
	__be16 word = cpu_to_be16(value);

	memcpy(jn->block + at, &word, sizeof(word));
}

static void begin(struct journal *jn, u32 type, u32 tid)
{
	memset(jn->block, 0, BLOCK);
	put32(jn, 0, JBD2_MAGIC);
	put32(jn, 4, type);
	put32(jn, 8, tid);
	jn->at = 12;
}

static void super(struct journal *jn, u32 start, u32 tail)
{
	begin(jn, SUPER, 0);
	put32(jn, 12, BLOCK);
	put32(jn, 16, MAXLEN);
	put32(jn, 20, 1);
	put32(jn, 24, tail);
	put32(jn, 28, start);
	put32(jn, 40, jn->features);
}

/* A tag as fs/jbd2/commit.c writes it; the first is followed by a uuid. */
static void tag(struct journal *jn, u64 home, u32 flags)
{
	put32(jn, jn->at, home);
	if (jn->features & F_CSUM_V3) {
		put32(jn, jn->at + 4, flags);
		put32(jn, jn->at + 8, home >> 32);
		put32(jn, jn->at + 12, 0xdeadbeef);
		jn->at += 16;
	} else {
		put16(jn, jn->at + 6, flags);
		jn->at += 8;
		if (jn->features & F_64BIT) {
			put32(jn, jn->at, home >> 32);
			jn->at += 4;
		}
		if (jn->features & F_CSUM_V2)
			jn->at += 2;
	}
	if (!(flags & SAME_UUID)) {
		memset(jn->block + jn->at, 0xff, 16);
		jn->at += 16;
	}
}

static enum jbd2_block_kind put(struct journal *jn, u32 logical)
{
	return jbd2_write(&jn->j, logical, jn->block);
}

static void descriptor(struct journal *jn, u32 logical, u32 tid, u64 home)
{
	begin(jn, DESCRIPTOR, tid);
	tag(jn, home, 0);
	tag(jn, home + 1, SAME_UUID | LAST);
	put(jn, logical);
}

static void commit(struct journal *jn, u32 logical, u32 tid)
{
	begin(jn, COMMIT, tid);
	put(jn, logical);
}

static void revoke(struct journal *jn, u32 logical, u32 tid, u64 home)
{
	begin(jn, REVOKE, tid);
	if (jn->features & F_64BIT) {
		put32(jn, 12, 16 + 8);
		put32(jn, 16, home >> 32);
		put32(jn, 20, home);
	} else {
		put32(jn, 12, 16 + 4);
		put32(jn, 16, home);
	}
	put(jn, logical);
}

static void open_journal(struct kunit *test, struct journal *jn, u32 features)
{
	void *set = kvzalloc(LOGSET_MIN_BYTES, GFP_KERNEL);

	memset(jn, 0, sizeof(*jn));
	jn->features = features;
	jbd2_init(&jn->j, 1ULL << 33, BLOCK);
	KUNIT_ASSERT_NOT_NULL(test, set);
	logset_give(&jn->j.set, set, LOGSET_MIN_BYTES);
	jn->j.pending = kvcalloc(JBD2_PENDING_MIN, sizeof(u64), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, jn->j.pending);
	jn->j.pending_room = JBD2_PENDING_MIN;
}

static void close_journal(struct journal *jn)
{
	kvfree(jn->j.set.slot);
	kvfree(jn->j.pending);
}

static struct journal *clean(struct kunit *test, u32 features)
{
	struct journal *jn = kvzalloc(sizeof(*jn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jn);
	open_journal(test, jn, features);
	super(jn, 0, 10);
	jbd2_expect_super(&jn->j);
	KUNIT_ASSERT_TRUE(test, !jbd2_read_super(&jn->j, jn->block, MAXLEN));
	return jn;
}

static void discard(struct journal *jn)
{
	close_journal(jn);
	kvfree(jn);
}

static const u32 formats[] = {
	F_REVOKE, F_REVOKE | F_64BIT, F_REVOKE | F_CSUM_V2, F_REVOKE | F_CSUM_V2 | F_64BIT,
	F_REVOKE | F_CSUM_V3, F_REVOKE | F_CSUM_V3 | F_64BIT,
};

static void tags_of_every_format_are_read(struct kunit *test)
{
	u32 f;

	for (f = 0; f < ARRAY_SIZE(formats); f++) {
		struct journal *jn = clean(test, formats[f]);
		u64 high = formats[f] & F_64BIT ? 1ULL << 32 : 0;

		descriptor(jn, 1, 10, high + 5000);
		KUNIT_EXPECT_EQ_MSG(test, jn->j.count.tags, 2, "format %x", formats[f]);
		KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, high + 5000));
		KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, high + 5001));
		KUNIT_EXPECT_TRUE(test, !jbd2_has(&jn->j, high + 5002));
		KUNIT_EXPECT_TRUE(test, !high || !jbd2_has(&jn->j, 5000));
		KUNIT_EXPECT_EQ(test, jn->j.count.bad, 0);
		KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
		discard(jn);
	}
}

static void a_full_descriptor_is_read_to_its_end(struct kunit *test)
{
	u32 f, n, i;

	for (f = 0; f < ARRAY_SIZE(formats); f++) {
		struct journal *jn = clean(test, formats[f]);
		u32 tail = formats[f] & (F_CSUM_V2 | F_CSUM_V3) ? 4 : 0;
		u32 bytes;

		begin(jn, DESCRIPTOR, 10);
		tag(jn, 100, 0);
		bytes = jn->at - 12 - 16;
		n = (BLOCK - tail - jn->at) / bytes;
		for (i = 0; i < n; i++)
			tag(jn, 101 + i, SAME_UUID | (i + 1 == n ? LAST : 0));
		KUNIT_EXPECT_EQ(test, put(jn, 1), JBD2_DESCRIPTOR);
		KUNIT_EXPECT_EQ_MSG(test, jn->j.count.tags, n + 1, "format %x", formats[f]);
		KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 100 + n));
		discard(jn);
	}
}

static void a_revoked_block_stays_until_the_commit(struct kunit *test)
{
	u32 f;

	for (f = 0; f < ARRAY_SIZE(formats); f++) {
		struct journal *jn = clean(test, formats[f]);

		descriptor(jn, 1, 10, 300);
		commit(jn, 4, 10);
		revoke(jn, 5, 11, 300);
		KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 300));
		commit(jn, 6, 11);
		KUNIT_EXPECT_TRUE(test, !jbd2_has(&jn->j, 300));
		KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 301));
		/* And comes back once it is metadata again. */
		descriptor(jn, 7, 12, 300);
		KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 300));
		discard(jn);
	}
}

static void a_revoke_without_its_commit_is_forgotten(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	descriptor(jn, 1, 10, 300);
	commit(jn, 4, 10);
	revoke(jn, 5, 11, 300);
	/* A crash; recovery restarts the log behind. */
	super(jn, 1, 13);
	put(jn, 0);
	commit(jn, 1, 13);
	KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 300));
	discard(jn);
}

static void a_block_logged_in_the_revoking_transaction_stays(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	revoke(jn, 1, 10, 300);
	descriptor(jn, 2, 10, 300);
	commit(jn, 5, 10);
	KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 300));
	discard(jn);
}

static void joined_in_the_middle_it_waits_for_the_tail(struct kunit *test)
{
	struct journal *jn = kvzalloc(sizeof(*jn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jn);
	open_journal(test, jn, F_REVOKE);
	super(jn, 50, 10);
	jbd2_expect_super(&jn->j);
	KUNIT_ASSERT_TRUE(test, !jbd2_read_super(&jn->j, jn->block, MAXLEN));
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	/* 12 was perhaps seen in part only; 13 is whole. */
	descriptor(jn, 90, 12, 300);
	commit(jn, 93, 12);
	descriptor(jn, 94, 13, 400);
	commit(jn, 97, 13);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 90, 12);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 94, 13);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	discard(jn);
}

static void after_recovery_the_tail_itself_is_seen(struct kunit *test)
{
	struct journal *jn = kvzalloc(sizeof(*jn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jn);
	open_journal(test, jn, F_REVOKE);
	super(jn, 50, 10);
	jbd2_expect_super(&jn->j);
	KUNIT_ASSERT_TRUE(test, !jbd2_read_super(&jn->j, jn->block, MAXLEN));
	super(jn, 1, 20);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	descriptor(jn, 1, 20, 300);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	discard(jn);
}

/* e2fsck replays a log of small blocks: the pages around its superblock are written too. */
static void an_old_tail_written_again_is_no_new_one(struct kunit *test)
{
	struct journal *jn = kvzalloc(sizeof(*jn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jn);
	open_journal(test, jn, F_REVOKE);
	super(jn, 1, 10);
	jbd2_expect_super(&jn->j);
	KUNIT_ASSERT_TRUE(test, !jbd2_read_super(&jn->j, jn->block, MAXLEN));
	put(jn, 0);
	descriptor(jn, 1, 10, 300);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 0, 20);
	put(jn, 0);
	descriptor(jn, 1, 10, 300);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	discard(jn);
}

static void control_blocks_before_the_superblock_was_read_count(struct kunit *test)
{
	struct journal *jn = kvzalloc(sizeof(*jn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, jn);
	open_journal(test, jn, F_REVOKE);
	jbd2_expect_super(&jn->j);
	/* While the read is under way: what it brings is old. */
	descriptor(jn, 1, 10, 300);
	super(jn, 0, 10);
	KUNIT_ASSERT_TRUE(test, !jbd2_read_super(&jn->j, jn->block, MAXLEN));
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	discard(jn);
}

static void what_was_missed_keeps_until_the_tail_has_passed(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	descriptor(jn, 1, 10, 300);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	jbd2_missed(&jn->j);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	commit(jn, 4, 10);
	descriptor(jn, 5, 11, 400);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 5, 11);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	discard(jn);
}

static void without_room_nothing_is_proven(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);
	u32 tid;

	/* Two blocks each: more than 896 fit not. */
	for (tid = 10; tid < 500; tid++)
		descriptor(jn, 1 + tid % 200, tid, 1000 + 2 * tid);
	KUNIT_EXPECT_TRUE(test, jn->j.count.missed > 0);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	/* The tail moves on: there is room again, and later all is known. */
	super(jn, 1, 499);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	descriptor(jn, 100, 500, 70000);
	KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 70001));
	super(jn, 100, 500);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	discard(jn);
}

static void an_emptied_log_of_which_nothing_was_missed_stays_known(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	descriptor(jn, 1, 10, 300);
	super(jn, 0, 11);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	/* e2fsck may still be about to write it. */
	KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 300));
	discard(jn);
}

static void an_emptied_log_that_was_not_seen_proves_nothing(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	jbd2_missed(&jn->j);
	descriptor(jn, 1, 10, 300);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	/* The tail has passed 10, but e2fsck may write its blocks after this. */
	super(jn, 0, 11);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 1, 12);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	descriptor(jn, 1, 12, 400);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	discard(jn);
}

static void escaped_and_foreign_blocks_say_nothing(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	begin(jn, DESCRIPTOR, 10);
	tag(jn, 300, LAST);
	put32(jn, 0, 0);
	KUNIT_EXPECT_EQ(test, put(jn, 1), JBD2_LOGGED);
	KUNIT_EXPECT_TRUE(test, !jbd2_has(&jn->j, 300));
	/* Beyond the log. */
	put32(jn, 0, JBD2_MAGIC);
	KUNIT_EXPECT_EQ(test, put(jn, MAXLEN), JBD2_LOGGED);
	KUNIT_EXPECT_TRUE(test, !jbd2_has(&jn->j, 300));
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	discard(jn);
}

static void nonsense_is_counted_and_keeps(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	/* No last tag. */
	begin(jn, DESCRIPTOR, 10);
	tag(jn, 300, 0);
	KUNIT_EXPECT_EQ(test, put(jn, 1), JBD2_BAD);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 1, 11);
	put(jn, 0);
	descriptor(jn, 1, 11, 400);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	/* A home beyond the disk. */
	jn->j.blocks = 1000;
	begin(jn, DESCRIPTOR, 11);
	tag(jn, 1000, LAST);
	KUNIT_EXPECT_EQ(test, put(jn, 1), JBD2_BAD);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 1, 12);
	put(jn, 0);
	/* A revoke block longer than a block: takes nothing out. */
	descriptor(jn, 1, 12, 300);
	commit(jn, 4, 12);
	begin(jn, REVOKE, 13);
	put32(jn, 12, BLOCK + 4);
	put32(jn, 16, 300);
	KUNIT_EXPECT_EQ(test, put(jn, 5), JBD2_BAD);
	commit(jn, 6, 13);
	KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 300));
	/* Of no type. */
	begin(jn, 77, 14);
	KUNIT_EXPECT_EQ(test, put(jn, 7), JBD2_BAD);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	/* A superblock with unknown features. */
	jn->features = 0x80;
	super(jn, 0, 15);
	KUNIT_EXPECT_EQ(test, put(jn, 0), JBD2_BAD);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	KUNIT_EXPECT_EQ(test, jn->j.count.bad, 5);
	discard(jn);
}

static void a_transaction_that_went_by_unseen_is_noticed(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	descriptor(jn, 1, 11, 300);	/* the first after a clean mount may be one on */
	commit(jn, 4, 11);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	descriptor(jn, 9, 13, 400);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	super(jn, 20, 14);
	put(jn, 0);
	KUNIT_EXPECT_TRUE(test, jbd2_complete(&jn->j));
	/* Older than the tail: makes no sense. */
	descriptor(jn, 12, 9, 400);
	KUNIT_EXPECT_TRUE(test, !jbd2_complete(&jn->j));
	discard(jn);
}

static void more_revokes_than_room_keep_more(struct kunit *test)
{
	struct journal *jn = clean(test, F_REVOKE);

	jn->j.pending_room = 1;
	descriptor(jn, 1, 10, 300);
	commit(jn, 4, 10);
	revoke(jn, 5, 11, 300);
	revoke(jn, 6, 11, 301);
	commit(jn, 7, 11);
	KUNIT_EXPECT_TRUE(test, !jbd2_has(&jn->j, 300));
	KUNIT_EXPECT_TRUE(test, jbd2_has(&jn->j, 301));
	discard(jn);
}

static struct kunit_case jbd2_cases[] = {
	KUNIT_CASE(tags_of_every_format_are_read),
	KUNIT_CASE(a_full_descriptor_is_read_to_its_end),
	KUNIT_CASE(a_revoked_block_stays_until_the_commit),
	KUNIT_CASE(a_revoke_without_its_commit_is_forgotten),
	KUNIT_CASE(a_block_logged_in_the_revoking_transaction_stays),
	KUNIT_CASE(joined_in_the_middle_it_waits_for_the_tail),
	KUNIT_CASE(after_recovery_the_tail_itself_is_seen),
	KUNIT_CASE(an_old_tail_written_again_is_no_new_one),
	KUNIT_CASE(control_blocks_before_the_superblock_was_read_count),
	KUNIT_CASE(what_was_missed_keeps_until_the_tail_has_passed),
	KUNIT_CASE(without_room_nothing_is_proven),
	KUNIT_CASE(an_emptied_log_of_which_nothing_was_missed_stays_known),
	KUNIT_CASE(an_emptied_log_that_was_not_seen_proves_nothing),
	KUNIT_CASE(escaped_and_foreign_blocks_say_nothing),
	KUNIT_CASE(nonsense_is_counted_and_keeps),
	KUNIT_CASE(a_transaction_that_went_by_unseen_is_noticed),
	KUNIT_CASE(more_revokes_than_room_keep_more),
	{}
};

static struct kunit_suite jbd2_suite = {
	.name = "jbd2",
	.test_cases = jbd2_cases,
};

kunit_test_suite(jbd2_suite);
