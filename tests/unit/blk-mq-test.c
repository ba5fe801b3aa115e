// SPDX-License-Identifier: GPL-2.0
/*
 * blk-mq's queue, rule by rule, in front of a drive that takes 1 ms for each command. In what order
 * Linux sends commands is told by orders/ (see mq-orders).
 */
#include "random.h"
#include "worded-disk.h"

#ifdef __KERNEL__
#define ROUNDS	40
#else
#define ROUNDS	400
#endif

#define MS	1000000ULL
#define STREAM	120		/* requests of a random stream */
#define TASKS	6

/* Static in the tests: a kernel's stack is small. */
struct rig {
	struct kunit *test;
	struct profile profile;
	struct disk *disk;
	struct disk_request requests[STREAM];
	u32 done[STREAM];	/* how often */
	u32 nr;
	u64 now;
};

static void prepare(struct rig *rig, struct kunit *test, const char *words)
{
	static const char drive[] = "name=t;kind=memory;host=blk-mq;capacity=64MiB;units=1;"
				    "read_latency=1ms;write_latency=1ms;flush_overhead=1ms;";

	memset(rig, 0, sizeof(*rig));
	rig->test = test;
	rig->disk = disk_of_words(test, &rig->profile, drive, words);
}

static void clean_up(struct rig *rig)
{
	disk_destroy(rig->disk);
	profile_free(&rig->profile);
}

static void advance(struct rig *rig, u64 now)
{
	struct disk_request *done = disk_advance(rig->disk, now);

	for (; done; done = done->next)
		rig->done[done - rig->requests]++;
	rig->now = max(rig->now, now);
}

static void finish(struct rig *rig)
{
	while (disk_next_event(rig->disk) != U64_MAX)
		advance(rig, disk_next_event(rig->disk));
}

static struct disk_request *submit(struct rig *rig, enum disk_op op, u64 sector, u32 sectors,
				   struct disk_plug *plug)
{
	struct disk_request *request = &rig->requests[rig->nr++];

	*request = (struct disk_request) {
		.op = op, .sector = sector, .sectors = sectors, .flags = DISK_SYNC, .plug = plug,
	};
	disk_submit(rig->disk, request, rig->now);
	return request;
}

static void a_plugged_request_waits_for_its_task(struct kunit *test)
{
	static struct disk_plug plug;
	struct disk_request *read, *other;
	static struct rig rig;

	prepare(&rig, test, "");
	read = submit(&rig, DISK_READ, 800, 8, &plug);
	other = submit(&rig, DISK_READ, 8, 8, NULL);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, read->dispatch, U64_MAX);
	KUNIT_EXPECT_EQ(test, other->dispatch, 0);
	disk_unplug(rig.disk, &plug, false, 5 * MS);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, read->dispatch, 5 * MS);
	KUNIT_EXPECT_EQ(test, plug.nr, 0);
	clean_up(&rig);
}

static void a_full_plug_list_is_flushed(struct kunit *test)
{
	static struct disk_plug plug;
	static struct rig rig;
	u32 i;

	prepare(&rig, test, "");
	for (i = 0; i < 32; i++)
		submit(&rig, DISK_READ, 1000 * i, 8, &plug);
	KUNIT_EXPECT_EQ(test, disk_next_event(rig.disk), U64_MAX);
	submit(&rig, DISK_READ, 40000, 8, &plug);
	KUNIT_EXPECT_NE(test, disk_next_event(rig.disk), U64_MAX);
	KUNIT_EXPECT_EQ(test, plug.nr, 1);
	disk_unplug(rig.disk, &plug, false, 0);
	submit(&rig, DISK_WRITE, 50000, 256, &plug);	/* as large as fills it */
	submit(&rig, DISK_WRITE, 60000, 8, &plug);
	KUNIT_EXPECT_EQ(test, plug.nr, 1);
	disk_unplug(rig.disk, &plug, false, 0);
	finish(&rig);
	for (i = 0; i < rig.nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, rig.done[i], 1, "request %u", i);
	clean_up(&rig);
}

static void a_gap_that_is_closed_makes_one_request_of_three(struct kunit *test)
{
	struct disk_request *low, *high, *between;
	static struct rig rig;

	prepare(&rig, test, "hw_depth=1;nr_requests=16;");
	submit(&rig, DISK_READ, 9000, 8, NULL);
	submit(&rig, DISK_READ, 9100, 8, NULL);		/* out of the scheduler, without a tag */
	low = submit(&rig, DISK_READ, 800, 8, NULL);
	high = submit(&rig, DISK_READ, 816, 8, NULL);
	between = submit(&rig, DISK_READ, 808, 8, NULL);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, low->dispatch, between->dispatch);
	KUNIT_EXPECT_EQ(test, high->dispatch, between->dispatch);
	clean_up(&rig);
}

static void flushes_share_one(struct kunit *test)
{
	struct disk_request *first, *later[3];
	static struct rig rig;
	u32 i;

	prepare(&rig, test, "ncq_depth=4;");
	first = submit(&rig, DISK_FLUSH, 0, 0, NULL);
	for (i = 0; i < 3; i++)
		later[i] = submit(&rig, DISK_FLUSH, 0, 0, NULL);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, first->dispatch, 0);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, later[i]->dispatch, first->completion);
		KUNIT_EXPECT_EQ(test, later[i]->completion, later[0]->completion);
	}
	clean_up(&rig);
}

/* The flush begins when the write ended, not beside it. */
static void without_fua_a_flush_follows(struct kunit *test)
{
	struct disk_request *write, *plain;
	static struct rig rig;

	prepare(&rig, test, "ncq_depth=4;fua=no;");
	plain = submit(&rig, DISK_WRITE, 800, 8, NULL);
	finish(&rig);
	write = &rig.requests[rig.nr++];
	*write = (struct disk_request) {
		.op = DISK_WRITE, .sector = 8, .sectors = 8, .flags = DISK_FUA | DISK_SYNC,
	};
	disk_submit(rig.disk, write, rig.now);
	finish(&rig);
	KUNIT_EXPECT_EQ(test, rig.done[1], 1);
	KUNIT_EXPECT_GE(test, write->completion - write->arrival,
			plain->completion - plain->arrival + 1 * MS);
	clean_up(&rig);
}

/* @request finds no tag and waits. */
static void must_wait(struct rig *rig, struct disk_submitter *who, struct disk_request *request)
{
	KUNIT_EXPECT_FALSE(rig->test, disk_enter(rig->disk, who, request->op, rig->now));
	disk_wait(rig->disk, who, request);
}

/* Wakes who is to be woken of @waiting, and returns its number; @nr: nobody is. */
static u32 wake(struct rig *rig, struct disk_submitter *who, struct disk_request *waiting, u32 nr)
{
	u32 i;

	for (i = 0; i < nr && disk_wakeups(rig->disk, DISK_READ); i++) {
		if (!waiting[i].sectors || !disk_wakes(rig->disk, &waiting[i]))
			continue;
		disk_woken(rig->disk, who, waiting[i].op, rig->now);
		if (disk_enter(rig->disk, who, waiting[i].op, rig->now)) {
			disk_submit(rig->disk, &waiting[i], rig->now);
			waiting[i].sectors = 0;
		} else {
			disk_wait(rig->disk, who, &waiting[i]);
		}
		return i;
	}
	return nr;
}

/* Eight lines: of a line all are woken before those of the next one. */
static void waiters_are_woken_in_batches(struct kunit *test)
{
	static const u32 order[] = { 0, 8, 1, 9, 2, 10, 3, 11 };
	static struct disk_request waiting[12];
	struct disk_submitter who = { };
	static struct rig rig;
	u32 i;

	prepare(&rig, test, "hw_depth=64;ncq_depth=64;nr_requests=64;scheduler=none;");
	for (i = 0; i < 64; i++) {
		KUNIT_ASSERT_TRUE(test, disk_enter(rig.disk, &who, DISK_READ, 0));
		submit(&rig, DISK_READ, 1000 * i, 8, NULL);
	}
	for (i = 0; i < ARRAY_SIZE(waiting); i++) {
		waiting[i] = (struct disk_request) { .sector = 90000 + 16 * i, .sectors = 8 };
		must_wait(&rig, &who, &waiting[i]);
	}
	for (i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ_MSG(test, disk_wakeups(rig.disk, DISK_READ), 0, "%u", i);
		advance(&rig, disk_next_event(rig.disk));
	}
	for (i = 0; i < ARRAY_SIZE(order); i++)
		KUNIT_EXPECT_EQ(test, wake(&rig, &who, waiting, 12), order[i]);
	KUNIT_EXPECT_EQ(test, wake(&rig, &who, waiting, 12), 12);
	clean_up(&rig);
}

/* Sixteen tags in words of four, of which writes may have the first one: a read takes it first. */
static void a_read_may_take_a_tag_that_writes_need(struct kunit *test)
{
	struct disk_submitter who = { };
	static struct rig rig;
	u32 i;

	prepare(&rig, test, "nr_requests=16;async_depth=4;");
	submit(&rig, DISK_READ, 500, 8, NULL);
	for (i = 0; i < 3; i++)
		submit(&rig, DISK_WRITE, 1000 * (i + 1), 8, NULL);
	KUNIT_EXPECT_FALSE(test, disk_enter(rig.disk, &who, DISK_WRITE, 0));
	KUNIT_EXPECT_TRUE(test, disk_enter(rig.disk, &who, DISK_READ, 0));
	finish(&rig);
	KUNIT_EXPECT_TRUE(test, disk_enter(rig.disk, &who, DISK_WRITE, rig.now));
	clean_up(&rig);
}

/* It would be merged with the one before it if it came now. */
static void what_waited_is_not_merged_before_it_has_a_tag(struct kunit *test)
{
	struct disk_submitter who = { };
	struct disk_request *late;
	static struct rig rig;
	u32 i;

	prepare(&rig, test, "hw_depth=1;nr_requests=4;");
	for (i = 0; i < 4; i++)
		submit(&rig, DISK_READ, 1000 * (4 - i), 8, NULL);
	late = &rig.requests[rig.nr++];
	*late = (struct disk_request) { .sector = 992, .sectors = 8 };
	must_wait(&rig, &who, late);
	advance(&rig, disk_next_event(rig.disk));
	KUNIT_EXPECT_EQ(test, wake(&rig, &who, late, 1), 0);
	finish(&rig);
	KUNIT_EXPECT_NE(test, late->dispatch, rig.requests[3].dispatch);
	clean_up(&rig);
}

static void writes_leave_tags_to_reads(struct kunit *test)
{
	struct disk_submitter who = { };
	static struct rig rig;
	u32 i;

	prepare(&rig, test, "nr_requests=16;async_depth=4;");
	for (i = 0; i < 4; i++)
		submit(&rig, DISK_WRITE, 1000 * i, 8, NULL);
	KUNIT_EXPECT_FALSE(test, disk_enter(rig.disk, &who, DISK_WRITE, 0));
	KUNIT_EXPECT_TRUE(test, disk_enter(rig.disk, &who, DISK_READ, 0));
	finish(&rig);
	clean_up(&rig);
}

/* Random streams: nothing is lost, and it does not matter when the caller comes by. */

static const char *random_words(struct rnd *rnd)
{
	static char words[200];

	snprintf(words, sizeof(words),
		 "scheduler=%s;hw_queues=%u;hw_depth=%u;nr_requests=%u;async_depth=%u;fua=%s;"
		 "ncq_depth=%u;max_sectors=%usectors;max_segments=%u;",
		 rnd_below(rnd, 2) ? "none" : "mq-deadline", 1 + rnd_below(rnd, 3),
		 1 + rnd_below(rnd, 6), 1 + rnd_below(rnd, 30), rnd_below(rnd, 8),
		 rnd_below(rnd, 2) ? "yes" : "no", 1 + rnd_below(rnd, 8),
		 8 * (1 + rnd_below(rnd, 20)), 1 + rnd_below(rnd, 20));
	return words;
}

struct task {
	struct disk_plug plug;
	struct disk_submitter who;
};

static void random_requests(struct rig *rig, struct rnd *rnd)
{
	u32 i, longest = 1 + rnd_below(rnd, 120), places = 64 << rnd_below(rnd, 10);
	u64 follow = 0;

	for (i = 0; i < STREAM; i++) {
		struct disk_request *r = &rig->requests[i];

		r->op = rnd_below(rnd, 3);
		if (r->op == DISK_FLUSH && rnd_below(rnd, 4))
			r->op = DISK_WRITE;
		r->cpu = rnd_below(rnd, 5);
		r->flags = rnd_below(rnd, 4);
		if (r->op == DISK_FLUSH)
			continue;
		r->sectors = 1 + rnd_below(rnd, longest);
		r->sector = rnd_below(rnd, 3) ? follow : rnd_below(rnd, places);
		follow = r->sector + r->sectors;
		if (!rnd_below(rnd, 4) && r->sector > 200)
			follow -= 200;
	}
}

static void unplug_all(struct rig *rig, struct task *tasks)
{
	u32 i;

	for (i = 0; i < TASKS; i++)
		disk_unplug(rig->disk, &tasks[i].plug, false, rig->now);
}

/* @task found no tag. It unplugs, and waits until it is woken; then the others unplug, too. */
static void wait_for_tag(struct rig *rig, struct task *tasks, struct task *task,
			 struct disk_request *r)
{
	disk_unplug(rig->disk, &task->plug, true, rig->now);
	disk_wait(rig->disk, &task->who, r);
	do {
		if (disk_next_event(rig->disk) == U64_MAX)
			unplug_all(rig, tasks);
		KUNIT_ASSERT_NE(rig->test, disk_next_event(rig->disk), U64_MAX);
		advance(rig, disk_next_event(rig->disk));
		if (!disk_wakeups(rig->disk, r->op))
			continue;
		KUNIT_ASSERT_TRUE(rig->test, disk_wakes(rig->disk, r));
		disk_woken(rig->disk, &task->who, r->op, rig->now);
		if (disk_enter(rig->disk, &task->who, r->op, rig->now))
			return;
		disk_wait(rig->disk, &task->who, r);
	} while (true);
}

/* Tasks in turn. */
static void run(struct rig *rig, struct task *tasks, u64 seed, struct rnd *cuts)
{
	struct rnd rnd = { seed };

	for (rig->nr = 0; rig->nr < STREAM; rig->nr++) {
		struct disk_request *r = &rig->requests[rig->nr];
		u32 i = rnd_below(&rnd, TASKS);
		struct task *task = &tasks[i];
		u64 next = rig->now + (rnd_below(&rnd, 3) ? 0 : rnd_below(&rnd, 4 * MS));

		while (cuts && rnd_below(cuts, 2))
			advance(rig, rig->now + rnd_next(cuts) % (next - rig->now + 1));
		advance(rig, next);
		task->who.cpu = r->cpu;
		r->plug = i % 2 ? &task->plug : NULL;
		if (!disk_merges(rig->disk, r, next) &&
		    !disk_enter(rig->disk, &task->who, r->op, next))
			wait_for_tag(rig, tasks, task, r);
		disk_submit(rig->disk, r, rig->now);
		if (!rnd_below(&rnd, 4))
			disk_unplug(rig->disk, &task->plug, rnd_below(&rnd, 2), rig->now);
	}
}

static void nothing_is_lost_whenever_the_caller_comes_by(struct kunit *test)
{
	static struct task tasks[2][TASKS];
	static struct rig rigs[2];
	struct rnd rnd = { 11 };
	u32 round, i, k;

	for (round = 0; round < ROUNDS; round++) {
		const char *words = random_words(&rnd);
		u64 seed = rnd_next(&rnd);

		memset(tasks, 0, sizeof(tasks));
		for (k = 0; k < 2; k++) {
			struct rnd stream = { seed };

			prepare(&rigs[k], test, words);
			random_requests(&rigs[k], &stream);
			run(&rigs[k], tasks[k], seed, k ? &rnd : NULL);
			unplug_all(&rigs[k], tasks[k]);
			finish(&rigs[k]);
		}
		for (i = 0; i < STREAM; i++) {
			const struct disk_request *a = &rigs[0].requests[i];
			const struct disk_request *b = &rigs[1].requests[i];

			KUNIT_ASSERT_EQ_MSG(test, rigs[0].done[i], 1, "round %u: %s", round, words);
			KUNIT_ASSERT_EQ_MSG(test, rigs[1].done[i], 1, "round %u: %s", round, words);
			KUNIT_ASSERT_EQ_MSG(test, a->dispatch, b->dispatch, "round %u", round);
			KUNIT_ASSERT_EQ_MSG(test, a->completion, b->completion, "round %u", round);
			KUNIT_ASSERT_LE(test, a->arrival, a->dispatch);
			KUNIT_ASSERT_LE(test, a->dispatch, a->completion);
		}
		clean_up(&rigs[0]);
		clean_up(&rigs[1]);
	}
}

static struct kunit_case blk_mq_cases[] = {
	KUNIT_CASE(a_plugged_request_waits_for_its_task),
	KUNIT_CASE(a_full_plug_list_is_flushed),
	KUNIT_CASE(a_gap_that_is_closed_makes_one_request_of_three),
	KUNIT_CASE(flushes_share_one),
	KUNIT_CASE(without_fua_a_flush_follows),
	KUNIT_CASE(waiters_are_woken_in_batches),
	KUNIT_CASE(a_read_may_take_a_tag_that_writes_need),
	KUNIT_CASE(what_waited_is_not_merged_before_it_has_a_tag),
	KUNIT_CASE(writes_leave_tags_to_reads),
	KUNIT_CASE(nothing_is_lost_whenever_the_caller_comes_by),
	{}
};

static struct kunit_suite blk_mq_suite = {
	.name = "blk-mq",
	.test_cases = blk_mq_cases,
};

kunit_test_suite(blk_mq_suite);
