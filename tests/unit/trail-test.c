// SPDX-License-Identifier: GPL-2.0
/* Trails of requests through layers: all legs of a mirror are recognised, or none. */
#include <kunit/test.h>

#include "../../dm-david/lib/trail.h"
#include "random.h"

#define AGE	100u
#define MIDDLE	9u	/* a layer between, as a device */
#define LEGS	3u	/* devices 1 to 3 */
#define SPREAD	1000000u	/* of places on devices */

/* What is allocated. */
struct world {
	struct trails trails;
	unsigned int passages;
	bool has_no_memory;
	u64 now;
};

struct request {
	const char *page;
	u64 sector;
	u32 sectors;
	unsigned int legs;
	unsigned int arrived;		/* legs that have */
	unsigned int found;
};

static void free_all(struct world *world, struct passage *freed)
{
	struct passage *next;

	for (; freed; freed = next) {
		next = freed->next;
		kvfree(freed);
		world->passages--;
	}
}

static void lay(struct kunit *test, struct world *world, const struct request *request, u32 to)
{
	struct passage *memory = NULL, passage = {
		.page = request->page,
		.vecs = request,
		.top = world,
		.top_sector = request->sector,
		.sector = request->sector + (u64)to * SPREAD,
		.since = world->now,
		.sectors = request->sectors,
		.left = request->sectors,
		.to = to,
	};

	if (!world->has_no_memory) {
		memory = kvzalloc(sizeof(*memory), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, memory);
		world->passages++;
	}
	free_all(world, trails_lay(&world->trails, &passage, memory, AGE));
}

static struct passage *find(struct world *world, const struct request *request, u32 to, u32 offset,
			    u32 sectors)
{
	struct trail_bio bio = {
		.page = request->page,
		.vecs = request,
		.sector = request->sector + (u64)to * SPREAD + offset,
		.sectors = sectors,
		.to = to,
	};

	return trails_find(&world->trails, &bio, world->now, AGE);
}

/* Is the bio recognised? Then some of the leg is data. */
static bool arrive(struct kunit *test, struct world *world, const struct request *request, u32 to,
		   u32 offset, u32 sectors)
{
	struct passage *passage = find(world, request, to, offset, sectors);

	if (!passage)
		return false;
	KUNIT_EXPECT_TRUE(test, passage->top == world);
	KUNIT_EXPECT_EQ(test, passage->top_sector, request->sector);
	free_all(world, trails_arrive(&world->trails, passage, sectors, world->now));
	return true;
}

static void must_be_empty(struct kunit *test, struct world *world)
{
	KUNIT_EXPECT_EQ(test, world->passages, world->trails.nr);
	free_all(world, world->trails.first);
	KUNIT_EXPECT_EQ(test, world->passages, 0);
}

static void send(struct kunit *test, struct world *world, const struct request *request,
		 bool has_layer)
{
	struct passage *passage;
	unsigned int leg;

	if (has_layer)
		lay(test, world, request, MIDDLE);
	for (leg = 1; leg <= request->legs; leg++) {
		if (has_layer) {
			passage = find(world, request, MIDDLE, 0, request->sectors);
			if (!passage)
				continue;
			passage->has_led = true;
		}
		lay(test, world, request, leg);
	}
}

/*
 * @nr requests under way in one bucket, some through a layer more. Returns how many per cent were
 * found.
 */
static unsigned int lives(struct kunit *test, unsigned int nr, u64 seed, bool short_of_memory)
{
	static const char pages[2 * TRAILS_MOST];
	struct request *requests = kvcalloc(nr, sizeof(*requests), GFP_KERNEL), *request;
	unsigned int step, found = 0, ended = 0, leg;
	struct rnd rnd = { seed };
	struct world world = { };

	KUNIT_ASSERT_NOT_NULL(test, requests);
	for (step = 0; step < 20000; step++) {
		request = &requests[rnd_below(&rnd, nr)];
		if (request->arrived == request->legs) {
			KUNIT_ASSERT_TRUE(test, !request->found || request->found == request->legs);
			found += request->found != 0;
			ended += request->legs != 0;
			*request = (struct request){
				.page = &pages[request - requests],
				.sector = rnd_below(&rnd, 100),
				.sectors = 1 + rnd_below(&rnd, 100),
				.legs = 1 + rnd_below(&rnd, LEGS),
			};
			world.has_no_memory = short_of_memory && !rnd_below(&rnd, 4);
			send(test, &world, request, rnd_below(&rnd, 2));
			/* As if some came between two legs. */
			world.has_no_memory = false;
			continue;
		}
		leg = ++request->arrived;
		request->found += arrive(test, &world, request, leg, 0, request->sectors);
	}
	KUNIT_EXPECT_LE(test, world.trails.nr, TRAILS_MOST);
	must_be_empty(test, &world);
	kvfree(requests);
	return found * 100 / ended;
}

static void all_legs_are_found(struct kunit *test)
{
	/* Up to three legs and what led there: 50 requests do not fill a bucket. */
	KUNIT_EXPECT_EQ(test, lives(test, 4, 1, false), 100);
	KUNIT_EXPECT_EQ(test, lives(test, 50, 2, false), 100);
}

static void all_legs_are_lost_or_none(struct kunit *test)
{
	unsigned int found;

	/* More passages than there is room for. */
	found = lives(test, TRAILS_MOST, 3, false);
	KUNIT_EXPECT_GE(test, found, 20);
	KUNIT_EXPECT_LE(test, found, 90);
	found = lives(test, 20, 4, true);
	KUNIT_EXPECT_GE(test, found, 60);
	KUNIT_EXPECT_LE(test, found, 90);
}

static void memory_that_comes_too_late_helps_no_leg(struct kunit *test)
{
	const struct request request = { .page = "a", .sectors = 8 };
	const struct request next = { .page = "b", .sectors = 8 };
	struct world world = { .has_no_memory = true };

	lay(test, &world, &request, 1);
	world.has_no_memory = false;
	lay(test, &world, &request, 2);
	KUNIT_EXPECT_TRUE(test, !arrive(test, &world, &request, 1, 0, 8));
	KUNIT_EXPECT_TRUE(test, !arrive(test, &world, &request, 2, 0, 8));
	lay(test, &world, &next, 1);
	world.has_no_memory = true;
	lay(test, &world, &next, 2);
	KUNIT_EXPECT_TRUE(test, !arrive(test, &world, &next, 1, 0, 8));
	must_be_empty(test, &world);
}

static void an_arrival_gives_the_other_legs_time(struct kunit *test)
{
	const struct request request = { .page = "a", .sectors = 8 };
	struct world world = { };

	lay(test, &world, &request, 1);
	lay(test, &world, &request, 2);
	lay(test, &world, &request, 3);
	world.now = AGE - 1;
	KUNIT_EXPECT_TRUE(test, arrive(test, &world, &request, 1, 0, 8));
	world.now = 2 * AGE - 2;
	KUNIT_EXPECT_TRUE(test, arrive(test, &world, &request, 2, 0, 8));
	world.now = 3 * AGE - 2;
	KUNIT_EXPECT_TRUE(test, !arrive(test, &world, &request, 3, 0, 8));
	must_be_empty(test, &world);
}

static void a_leg_that_comes_in_parts_stays_until_the_last(struct kunit *test)
{
	const struct request request = { .page = "a", .sectors = 24 };
	const struct request other = { .page = "b", .sectors = 8 };
	struct world world = { };
	unsigned int i;

	lay(test, &world, &request, 1);
	lay(test, &world, &request, 2);
	KUNIT_EXPECT_TRUE(test, arrive(test, &world, &request, 1, 0, 8));
	for (i = 0; i < 2 * TRAILS_MOST; i++)
		lay(test, &world, &other, 4 + i);
	KUNIT_EXPECT_TRUE(test, arrive(test, &world, &request, 1, 8, 16));
	KUNIT_EXPECT_TRUE(test, !arrive(test, &world, &request, 1, 8, 16));
	KUNIT_EXPECT_TRUE(test, arrive(test, &world, &request, 2, 0, 24));
	must_be_empty(test, &world);
}

/* Evidence may change between two legs. */
static void what_one_leg_found_data_the_others_know(struct kunit *test)
{
	const struct request request = { .page = "a", .sector = 100, .sectors = 24 };
	struct world world = { };
	struct passage *passage;

	lay(test, &world, &request, 1);
	lay(test, &world, &request, 2);
	passage = find(&world, &request, 2, 0, 24);
	KUNIT_ASSERT_NOT_NULL(test, passage);
	trails_were_data(&world.trails, "b", &world, 100, 24);
	trails_were_data(&world.trails, request.page, &rnd_next, 100, 24);
	trails_were_data(&world.trails, request.page, &world, 108, 16);
	KUNIT_EXPECT_EQ(test, passage_data(passage, passage->sector), 0);
	trails_were_data(&world.trails, request.page, &world, 100, 8);
	KUNIT_EXPECT_EQ(test, passage_data(passage, passage->sector), 8);
	KUNIT_EXPECT_EQ(test, passage_data(passage, passage->sector + 8), 0);
	trails_were_data(&world.trails, request.page, &world, 108, 100);
	KUNIT_EXPECT_EQ(test, passage_data(passage, passage->sector + 16), 8);
	/* Another request, from the same page to the same place: nothing is known of that. */
	lay(test, &world, &request, 2);
	passage = find(&world, &request, 2, 0, 24);
	KUNIT_ASSERT_NOT_NULL(test, passage);
	KUNIT_EXPECT_EQ(test, passage_data(passage, passage->sector), 0);
	must_be_empty(test, &world);
}

/* Direct I/O from one buffer to one place after the other. */
static void requests_from_the_same_page_do_not_fill_the_table(struct kunit *test)
{
	struct world world = { };
	struct request request = { .page = "a", .sectors = 64, .legs = 2 };
	unsigned int i;

	for (i = 0; i < 1000; i++) {
		request.sector = 64 * i;
		send(test, &world, &request, true);
		KUNIT_ASSERT_TRUE(test, arrive(test, &world, &request, 1, 0, 64));
		KUNIT_ASSERT_TRUE(test, arrive(test, &world, &request, 2, 0, 64));
	}
	KUNIT_EXPECT_LE(test, world.trails.nr, TRAILS_MANY);
	must_be_empty(test, &world);
}

/* The same page goes to the same place again, and now its content matters. */
static void a_way_that_was_cut_leads_nowhere(struct kunit *test)
{
	struct world world = { };
	struct request request = { .page = "a", .sectors = 64, .legs = 2 };
	struct passage next = { .page = request.page, .sectors = 16, .to = 1 };

	lay(test, &world, &request, 1);
	lay(test, &world, &request, 2);
	next.sector = SPREAD + 64;
	free_all(&world, trails_cut(&world.trails, &next));
	next.sector = SPREAD + 56;
	next.page = "b";
	free_all(&world, trails_cut(&world.trails, &next));
	KUNIT_ASSERT_NOT_NULL(test, find(&world, &request, 1, 0, 64));
	next.page = request.page;
	free_all(&world, trails_cut(&world.trails, &next));
	KUNIT_EXPECT_FALSE(test, arrive(test, &world, &request, 1, 0, 64));
	KUNIT_EXPECT_TRUE(test, arrive(test, &world, &request, 2, 0, 64));
	must_be_empty(test, &world);
}

static struct kunit_case trail_cases[] = {
	KUNIT_CASE(all_legs_are_found),
	KUNIT_CASE(all_legs_are_lost_or_none),
	KUNIT_CASE(memory_that_comes_too_late_helps_no_leg),
	KUNIT_CASE(an_arrival_gives_the_other_legs_time),
	KUNIT_CASE(a_leg_that_comes_in_parts_stays_until_the_last),
	KUNIT_CASE(what_one_leg_found_data_the_others_know),
	KUNIT_CASE(requests_from_the_same_page_do_not_fill_the_table),
	KUNIT_CASE(a_way_that_was_cut_leads_nowhere),
	{}
};

static struct kunit_suite trail_suite = {
	.name = "trail",
	.test_cases = trail_cases,
};

kunit_test_suite(trail_suite);
