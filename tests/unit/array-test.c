// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays of members that take 10 ms for each request, one at a time. Their times were computed
 * by others: DiskSim's logorg, built from WD's tree, and an event simulation of 50 lines.
 */
#include <kunit/test.h>

#include "../../model/array/array.h"
#include "../../model/host/disk.h"

#define CHUNK		128		/* sectors */
#define REQUESTS	2000
#define MS		1000000ULL
#define SPAN		900000ULL	/* sectors, for each member with data */

struct job {
	const char *name;
	u32 sectors, gap, writes;	/* sectors; ms; percent */
};

static const struct job r4k = { "r4k", 8, 4, 0 }, w4k = { "w4k", 8, 16, 100 };
static const struct job mix70 = { "mix70", 8, 10, 30 }, r256k = { "r256k", 512, 50, 0 };
static const struct job w256k = { "w256k", 512, 80, 100 }, w192k = { "w192k", 384, 80, 100 };
static const struct job w64k = { "w64k", 128, 20, 100 };

struct run {
	struct array *array;
	struct disk_request *requests;
	u64 sum, squares, most;		/* ms */
	u32 done;
};

static u32 random_at(u32 *x, u32 below)
{
	*x = *x * 1664525 + 1013904223;
	return (u64)(*x >> 8) * below >> 24;
}

static void take(struct run *run, struct disk_request *done)
{
	for (; done; done = done->next) {
		u64 ms = div_u64(done->completion - done->arrival, MS);

		run->sum += ms;
		run->squares += ms * ms;
		run->most = max(run->most, ms);
		run->done++;
	}
}

static void run_job(struct kunit *test, const struct array_setup *setup, const struct job *job,
		    struct run *run)
{
	u64 span = div_u64(setup->layout.sectors, job->sectors), next;
	u32 x = 1, i;

	*run = (struct run){ .array = array_create(setup, GFP_KERNEL) };
	run->requests = kvcalloc(REQUESTS, sizeof(*run->requests), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, run->array && run->requests);
	for (i = 0; i < REQUESTS; i++) {
		struct disk_request *request = &run->requests[i];

		request->sector = (u64)random_at(&x, span) * job->sectors;
		request->sectors = job->sectors;
		request->op = random_at(&x, 100) < job->writes ? DISK_WRITE : DISK_READ;
		request->flags = DISK_SYNC;
		array_submit(run->array, request, (u64)i * job->gap * MS);
	}
	while ((next = array_next_event(run->array)) != U64_MAX)
		take(run, array_advance(run->array, next));
	KUNIT_EXPECT_FALSE(test, array_failed(run->array));
	KUNIT_EXPECT_EQ(test, run->done, REQUESTS);
}

static void end_run(struct run *run)
{
	array_destroy(run->array);
	kvfree(run->requests);
}

/* In thousandths of a ms */
static u32 deviation(const struct run *run)
{
	return (int_sqrt64((run->squares * REQUESTS - run->sum * run->sum) * 10000) +
		REQUESTS / 20) / (REQUESTS / 10);
}

/* 4 members of @level, of which @data hold different data. */
static struct array_setup setup_of(struct kunit *test, enum array_level level, u32 members,
				   u32 data, const char *layout)
{
	struct array_setup setup = {
		.layout = { .level = level, .members = members, .chunk = CHUNK },
		.constant = 10 * MS,
		.rmw = RMW_PREFER,
	};

	if (level == ARRAY_1)
		setup.layout.chunk = 0;
	KUNIT_ASSERT_TRUE(test, layout_parse(&setup.layout, layout));
	KUNIT_ASSERT_TRUE(test, !layout_init(&setup.layout, SPAN + CHUNK));
	KUNIT_ASSERT_TRUE(test, !array_check(&setup));
	setup.layout.sectors = SPAN * data;	/* requests lie within these */
	return setup;
}

struct expected {
	enum array_level level;
	u32 members, data;
	const char *layout;
	enum array_reads reads;
	enum array_writes writes;
	const struct job *job;
	u32 mean, deviation, most;	/* thousandths of a ms; ms; 0: not told */
	/*
	 * Requests come, and members are done, in the same ms; who is first decides, and programs
	 * differ in that: the mean may differ by so many ten-thousandths.
	 */
	u32 ties;
};

static const struct expected table[] = {
	{ ARRAY_0, 4, 4, NULL, READS_MD, WRITES_WHOLE, &r4k, 14927, 7297, 60, 0 },
	{ ARRAY_0, 4, 4, NULL, READS_MD, WRITES_WHOLE, &w4k, 10000, 0, 10, 0 },
	{ ARRAY_0, 4, 4, NULL, READS_MD, WRITES_WHOLE, &mix70, 10000, 0, 10, 0 },
	{ ARRAY_0, 4, 4, NULL, READS_MD, WRITES_WHOLE, &r256k, 10000, 0, 10, 0 },
	{ ARRAY_0, 4, 4, NULL, READS_MD, WRITES_WHOLE, &w256k, 10000, 0, 10, 0 },
	{ ARRAY_0, 4, 4, NULL, READS_MD, WRITES_WHOLE, &w64k, 10000, 0, 10, 0 },
	{ ARRAY_1, 2, 1, NULL, READS_FIRST, WRITES_WHOLE, &r4k, 6007000, 3464101, 12004, 0 },
	{ ARRAY_1, 2, 1, NULL, READS_FIRST, WRITES_WHOLE, &w4k, 10000, 0, 10, 0 },
	{ ARRAY_1, 2, 1, NULL, READS_FIRST, WRITES_WHOLE, &mix70, 10000, 0, 10, 0 },
	{ ARRAY_1, 2, 1, NULL, READS_ROUND_ROBIN, WRITES_WHOLE, &r4k, 1009000, 577350, 2008, 0 },
	{ ARRAY_1, 2, 1, NULL, READS_SHORTEST, WRITES_WHOLE, &r4k, 1009000, 0, 0, 20 },
	{ ARRAY_1, 3, 1, NULL, READS_ROUND_ROBIN, WRITES_WHOLE, &r4k, 10000, 0, 10, 0 },
	{ ARRAY_10, 4, 2, "n2", READS_ROUND_ROBIN, WRITES_WHOLE, &r4k, 12237, 3070, 30, 0 },
	{ ARRAY_10, 4, 2, "n2", READS_SHORTEST, WRITES_WHOLE, &r4k, 11313, 0, 0, 20 },
	{ ARRAY_10, 4, 2, "n2", READS_MD, WRITES_WHOLE, &w4k, 10000, 0, 10, 0 },
	{ ARRAY_10, 4, 2, "n2", READS_MD, WRITES_WHOLE, &w256k, 10000, 0, 10, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_EAGER, &r4k, 14889, 6576, 48, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_EAGER, &w4k, 31458, 9722, 76, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_EAGER, &mix70, 17140, 0, 0, 10 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &r4k, 14889, 6576, 48, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &w4k, 33200, 0, 0, 10 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &mix70, 17150, 0, 0, 10 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &r256k, 10000, 0, 10, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &w256k, 20000, 0, 20, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &w192k, 10000, 0, 10, 0 },
	{ ARRAY_5, 4, 3, "ls", READS_MD, WRITES_WHOLE, &w64k, 20000, 0, 20, 0 },
	{ ARRAY_5, 8, 7, "ls", READS_MD, WRITES_EAGER, &r4k, 11393, 2920, 30, 0 },
	{ ARRAY_5, 8, 7, "ls", READS_MD, WRITES_EAGER, &w4k, 23194, 4692, 48, 0 },
	{ ARRAY_5, 8, 7, "ls", READS_MD, WRITES_EAGER, &mix70, 14635, 7640, 50, 0 },
	{ ARRAY_5, 8, 7, "ls", READS_MD, WRITES_WHOLE, &w4k, 23656, 0, 46, 0 },
	{ ARRAY_5, 8, 7, "ls", READS_MD, WRITES_WHOLE, &mix70, 14655, 0, 0, 0 },
	{ ARRAY_4, 4, 3, NULL, READS_MD, WRITES_EAGER, &r4k, 26319, 18268, 100, 0 },
	{ ARRAY_4, 4, 3, NULL, READS_MD, WRITES_EAGER, &w4k, 5416410, 0, 0, 0 },
	{ ARRAY_4, 4, 3, NULL, READS_MD, WRITES_EAGER, &mix70, 17650, 0, 0, 10 },
	{ ARRAY_4, 4, 3, NULL, READS_MD, WRITES_WHOLE, &r256k, 10000, 0, 10, 0 },
	{ ARRAY_4, 4, 3, NULL, READS_MD, WRITES_WHOLE, &w256k, 20000, 0, 20, 0 },
	{ ARRAY_4, 4, 3, NULL, READS_MD, WRITES_WHOLE, &w64k, 20000, 0, 20, 0 },
	{ ARRAY_5, 4, 3, "la", READS_MD, WRITES_WHOLE, &w4k, 33949, 0, 0, 10 },
	{ ARRAY_5, 4, 3, "ra", READS_MD, WRITES_WHOLE, &w4k, 34107, 0, 0, 10 },
	{ ARRAY_5, 4, 3, "rs", READS_MD, WRITES_WHOLE, &w4k, 33462, 0, 0, 10 },
};

static void times_are_those_of_disksims_arrays(struct kunit *test)
{
	struct run run;
	s64 off;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		const struct expected *e = &table[i];
		struct array_setup setup = setup_of(test, e->level, e->members, e->data, e->layout);

		setup.reads = e->reads;
		setup.writes = e->writes;
		run_job(test, &setup, e->job, &run);
		off = run.sum * 1000 - (s64)e->mean * REQUESTS;
		KUNIT_EXPECT_LE_MSG(test, (off < 0 ? -off : off) * 10000,
				    (s64)e->mean * REQUESTS * e->ties, "row %u, %s: mean %llu", i,
				    e->job->name,
				    (unsigned long long)div_u64(run.sum * 1000, REQUESTS));
		if (e->deviation)
			KUNIT_EXPECT_EQ_MSG(test, deviation(&run), e->deviation,
					    "row %u, %s: deviation", i, e->job->name);
		if (e->most)
			KUNIT_EXPECT_EQ_MSG(test, run.most, (u64)e->most, "row %u, %s: most", i,
					    e->job->name);
		end_run(&run);
	}
}

/* One request to an idle array, and what it made of it. */
struct lone {
	enum array_level level;
	u32 members;
	u64 failed;			/* members */
	enum array_rmw rmw;
	enum disk_op op;
	u64 sector;
	u32 sectors;
	u32 reads, writes, ms;		/* expected */
};

/*
 * Of RAID-5 and 6 left-symmetric, chunks of 64 KiB. The first row of 8 members has data on 0 to 6
 * and P on 7; of RAID-6 Q on 0, data on 1 to 6, P on 7. What is read: handle_stripe_dirtying().
 */
static const struct lone lone[] = {
	/* a read; of a member that failed, all others */
	{ ARRAY_5, 8, 0, RMW_ENABLE, DISK_READ, 0, 8, 1, 0, 10 },
	{ ARRAY_5, 8, 1 << 0, RMW_ENABLE, DISK_READ, 0, 8, 7, 0, 10 },
	{ ARRAY_5, 8, 1 << 1, RMW_ENABLE, DISK_READ, 0, 8, 1, 0, 10 },
	{ ARRAY_6, 8, 1 << 1, RMW_ENABLE, DISK_READ, 0, 8, 7, 0, 10 },
	{ ARRAY_6, 8, 3 << 1, RMW_ENABLE, DISK_READ, 0, 8, 6, 0, 10 },
	/* read-modify-write: old data and parity; reconstruct-write: what is not written */
	{ ARRAY_5, 8, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 2, 2, 20 },
	{ ARRAY_5, 3, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 1, 2, 20 },
	{ ARRAY_5, 4, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 2, 2, 20 },
	{ ARRAY_5, 8, 0, RMW_DISABLE, DISK_WRITE, 0, 8, 6, 2, 20 },
	{ ARRAY_6, 8, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 3, 3, 20 },
	{ ARRAY_6, 6, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 3, 3, 20 },
	{ ARRAY_6, 5, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 2, 3, 20 },
	{ ARRAY_5, 8, 0, RMW_ENABLE, DISK_WRITE, 0, 3 * CHUNK, 4, 4, 20 },
	{ ARRAY_5, 8, 0, RMW_ENABLE, DISK_WRITE, 0, 4 * CHUNK, 3, 5, 20 },
	/* a whole row: nothing is read; part of a block: all of it is written */
	{ ARRAY_5, 8, 0, RMW_ENABLE, DISK_WRITE, 0, 7 * CHUNK, 0, 8, 10 },
	{ ARRAY_5, 8, 0, RMW_ENABLE, DISK_WRITE, 3, 1, 2, 2, 20 },
	{ ARRAY_5, 3, 0, RMW_ENABLE, DISK_WRITE, 3, 1, 2, 2, 20 },
	/* a member that failed has the data, others of the row, or the parity */
	{ ARRAY_5, 8, 1 << 0, RMW_ENABLE, DISK_WRITE, 0, 8, 6, 1, 20 },
	{ ARRAY_5, 8, 1 << 1, RMW_ENABLE, DISK_WRITE, 0, 8, 2, 2, 20 },
	{ ARRAY_5, 8, 1 << 7, RMW_ENABLE, DISK_WRITE, 0, 8, 6, 1, 20 },
	{ ARRAY_5, 3, 1 << 1, RMW_ENABLE, DISK_WRITE, 0, 8, 2, 2, 20 },
	{ ARRAY_6, 8, 3 << 1, RMW_ENABLE, DISK_WRITE, 0, 8, 6, 2, 20 },
	/* copies */
	{ ARRAY_1, 3, 0, RMW_ENABLE, DISK_WRITE, 0, 8, 0, 3, 10 },
	{ ARRAY_1, 3, 1 << 1, RMW_ENABLE, DISK_WRITE, 0, 8, 0, 2, 10 },
	{ ARRAY_1, 3, 3 << 0, RMW_ENABLE, DISK_READ, 0, 8, 1, 0, 10 },
	{ ARRAY_10, 4, 1 << 0, RMW_ENABLE, DISK_READ, 0, 8, 1, 0, 10 },
	{ ARRAY_10, 4, 0, RMW_ENABLE, DISK_WRITE, 0, 2 * CHUNK, 0, 4, 10 },
	/* what follows on, on a member, is one request */
	{ ARRAY_0, 4, 0, RMW_ENABLE, DISK_READ, 0, 16 * CHUNK, 4, 0, 10 },
	{ ARRAY_5, 4, 0, RMW_ENABLE, DISK_WRITE, 0, 12 * CHUNK, 0, 4, 10 },
};

static void count_members(const struct array *array, u32 members, u64 *reads, u64 *writes)
{
	struct array_member_figures figures;
	u32 i;

	*reads = 0;
	*writes = 0;
	for (i = 0; i < members; i++) {
		array_figures(array, i, &figures);
		*reads += figures.reads;
		*writes += figures.writes;
	}
}

static u64 count_prereads(const struct array *array, u32 members)
{
	struct array_member_figures figures;
	u64 prereads = 0;
	u32 i;

	for (i = 0; i < members; i++) {
		array_figures(array, i, &figures);
		prereads += figures.prereads;
	}
	return prereads;
}

static void what_is_read_and_written_is_what_md_does(struct kunit *test)
{
	u64 reads, writes, extra, next;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(lone); i++) {
		const struct lone *l = &lone[i];
		struct array_setup setup = setup_of(test, l->level, l->members, 1, NULL);
		struct disk_request request = { .sector = l->sector, .sectors = l->sectors,
						.op = l->op, .flags = DISK_SYNC };
		struct array *array;

		setup.rmw = l->rmw;
		setup.failed = l->failed;
		KUNIT_ASSERT_TRUE(test, !array_check(&setup));
		array = array_create(&setup, GFP_KERNEL);
		KUNIT_ASSERT_TRUE(test, array);
		array_submit(array, &request, MS);
		while ((next = array_next_event(array)) != U64_MAX)
			array_advance(array, next);
		count_members(array, l->members, &reads, &writes);
		KUNIT_EXPECT_EQ_MSG(test, reads, (u64)l->reads, "case %u: reads", i);
		KUNIT_EXPECT_EQ_MSG(test, writes, (u64)l->writes, "case %u: writes", i);
		/* Of a write all; of a read those that are read instead of a failed member. */
		extra = l->op == DISK_WRITE || (layout_parities(&setup.layout) && reads > 1) ?
			reads : 0;
		KUNIT_EXPECT_EQ_MSG(test, count_prereads(array, l->members), extra,
				    "case %u: prereads", i);
		KUNIT_EXPECT_EQ_MSG(test, request.completion - request.arrival, l->ms * MS,
				    "case %u: time", i);
		array_destroy(array);
	}
}

static void too_many_failed_members_are_refused(struct kunit *test)
{
	static const struct {
		enum array_level level;
		const char *layout;
		u32 members;
		u64 failed;
		bool good;
	} cases[] = {
		{ ARRAY_0, NULL, 4, 1, false }, { ARRAY_1, NULL, 2, 3, false },
		{ ARRAY_1, NULL, 2, 2, true }, { ARRAY_4, NULL, 4, 3, false },
		{ ARRAY_5, NULL, 4, 8, true }, { ARRAY_5, NULL, 4, 5, false },
		{ ARRAY_6, NULL, 5, 3, true }, { ARRAY_6, NULL, 5, 7, false },
		{ ARRAY_10, "n2", 4, 5, true }, { ARRAY_10, "n2", 4, 3, false },
		{ ARRAY_10, "n2", 3, 3, false }, { ARRAY_10, "f2", 4, 5, true },
		{ ARRAY_10, "f2", 4, 6, false }, { ARRAY_5, NULL, 4, 16, false },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct array_setup setup = setup_of(test, cases[i].level, cases[i].members, 1,
						    cases[i].layout);

		layout_init(&setup.layout, SPAN);
		setup.failed = cases[i].failed;
		KUNIT_EXPECT_EQ_MSG(test, !array_check(&setup), cases[i].good, "case %u", i);
	}
}

/* Writes of the same row that nobody waits for: the first reads, the others join meanwhile. */
static void writes_that_nobody_waits_for_join(struct kunit *test)
{
	struct array_setup setup = setup_of(test, ARRAY_5, 8, 7, NULL);
	static struct disk_request requests[28];
	struct array *array;
	u64 reads[2], writes[2], next;
	u32 i, sync;

	setup.rmw = RMW_ENABLE;
	for (sync = 0; sync < 2; sync++) {
		array = array_create(&setup, GFP_KERNEL);
		KUNIT_ASSERT_TRUE(test, array);
		for (i = 0; i < ARRAY_SIZE(requests); i++) {
			requests[i] = (struct disk_request){ .sector = i / 4 * CHUNK + i % 4 * 8,
				.sectors = 8, .op = DISK_WRITE, .flags = sync ? DISK_SYNC : 0 };
			array_submit(array, &requests[i], MS);
		}
		while ((next = array_next_event(array)) != U64_MAX)
			array_advance(array, next);
		count_members(array, 8, &reads[sync], &writes[sync]);
		array_destroy(array);
	}
	KUNIT_EXPECT_LE_MSG(test, reads[0], reads[1] / 2, "reads of %llu",
			    (unsigned long long)reads[1]);
	KUNIT_EXPECT_LE(test, writes[0], writes[1]);
}

/* What a write has read or written need not be read for the next one. */
static void the_stripe_cache_spares_reads(struct kunit *test)
{
	struct array_setup setup = setup_of(test, ARRAY_5, 8, 7, NULL);
	u64 reads, writes, next, expected[] = { 2, 0, 1 };
	const u64 sectors[] = { 0, 0, CHUNK };
	u64 before = 0;
	struct array *array;
	u32 i;

	setup.rmw = RMW_ENABLE;
	setup.stripe_cache = 4;
	array = array_create(&setup, GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, array);
	for (i = 0; i < 3 + 64; i++) {
		struct disk_request request = { .sector = i < 3 ? sectors[i] : i * 7 * CHUNK,
			.sectors = 8, .op = DISK_WRITE, .flags = DISK_SYNC };

		array_submit(array, &request, (i + 1) * 100 * MS);
		while ((next = array_next_event(array)) != U64_MAX)
			array_advance(array, next);
		count_members(array, 8, &reads, &writes);
		KUNIT_EXPECT_EQ_MSG(test, reads - before, i < 3 ? expected[i] : 2, "write %u", i);
		before = reads;
	}
	array_destroy(array);
}

static struct kunit_case array_cases[] = {
	KUNIT_CASE(times_are_those_of_disksims_arrays),
	KUNIT_CASE(what_is_read_and_written_is_what_md_does),
	KUNIT_CASE(too_many_failed_members_are_refused),
	KUNIT_CASE(writes_that_nobody_waits_for_join),
	KUNIT_CASE(the_stripe_cache_spares_reads),
	{}
};

static struct kunit_suite array_suite = {
	.name = "array",
	.test_cases = array_cases,
};

kunit_test_suite(array_suite);
