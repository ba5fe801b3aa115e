// SPDX-License-Identifier: GPL-2.0
/*
 * Which pages other drivers have in hand (dm-david/owner/hands.c), of requests that are made up
 * here: no driver of a lab gives a part of a write back.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>

/* owner-test.c has its own of these. */
#define hands_busy		tested_hands_busy
#define hands_look		tested_hands_look
#define hear_tracepoint		tested_hear_tracepoint
#define hear_no_more		tested_hear_no_more

#include "../../dm-david/owner/hands.c"

/* Nobody is heard: the tests call what would be called. */
struct tracepoint *hear_tracepoint(const char *name, void *probe)
{
	return NULL;
}

void hear_no_more(struct tracepoint *tp, void *probe)
{
}

#define PAGES	4

/* A write of a loop device, of a bio for each page. */
struct made {
	struct gendisk disk;
	struct request_queue queue;
	struct request rq;
	struct bio bios[PAGES];
	struct bio_vec vecs[PAGES];
	struct page *pages[PAGES];
};

static void put_pages(void *made)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		__free_page(((struct made *)made)->pages[i]);
}

static void put_slots(void *unused)
{
	kvfree(slots);
	slots = NULL;
}

static struct made *make_write(struct kunit *test)
{
	struct made *made = kunit_kzalloc(test, sizeof(*made), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, made);
	made->disk.major = LOOP_MAJOR;
	made->queue.disk = &made->disk;
	made->rq.q = &made->queue;
	made->rq.cmd_flags = REQ_OP_WRITE;
	made->rq.__data_len = PAGES * PAGE_SIZE;
	made->rq.bio = made->bios;
	for (i = 0; i < PAGES; i++) {
		made->pages[i] = alloc_page(GFP_KERNEL | __GFP_NOFAIL);
		bio_init(&made->bios[i], NULL, &made->vecs[i], 1, REQ_OP_WRITE);
		__bio_add_page(&made->bios[i], made->pages[i], PAGE_SIZE, 0);
		if (i)
			made->bios[i - 1].bi_next = &made->bios[i];
	}
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_pages, made), 0);
	slots = kvcalloc(1 << SLOT_BITS, sizeof(*slots), GFP_KERNEL | __GFP_NOFAIL);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_slots, NULL), 0);
	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		spin_lock_init(&buckets[i].lock);
	atomic_set(&hands_busy, 0);
	atomic_set(&forgotten, 0);
	return made;
}

static void expect_held(struct kunit *test, struct made *made, unsigned int from)
{
	unsigned int i;

	for (i = 0; i < PAGES; i++)
		KUNIT_EXPECT_EQ_MSG(test, hands_look(made->pages[i]), i >= from, "page %u", i);
}

static void a_page_is_in_hand_from_issue_to_completion(struct kunit *test)
{
	struct made *made = make_write(test);

	expect_held(test, made, PAGES);
	hands_see_issue(NULL, &made->rq);
	expect_held(test, made, 0);
	hands_see_complete(NULL, &made->rq, BLK_STS_OK, PAGES * PAGE_SIZE);
	expect_held(test, made, PAGES);
	KUNIT_EXPECT_EQ(test, atomic_read(&hands_busy), 0);
}

/*
 * The kernel ends the bios of a part that has come back, and frees them, with no lock that the one
 * who looks could take. So from then on nobody looks at the request's bios.
 */
static void of_a_request_that_comes_back_in_parts_no_bio_is_looked_at(struct kunit *test)
{
	struct made *made = make_write(test);

	hands_see_issue(NULL, &made->rq);
	hands_see_complete(NULL, &made->rq, BLK_STS_OK, 2 * PAGE_SIZE);
	/* The kernel is about to take the first two away: whoever looks now sees none. */
	made->rq.bio = NULL;
	expect_held(test, made, 2);
	made->rq.bio = &made->bios[2];
	made->rq.__data_len = 2 * PAGE_SIZE;
	expect_held(test, made, 2);
	hands_see_complete(NULL, &made->rq, BLK_STS_OK, 2 * PAGE_SIZE);
	expect_held(test, made, PAGES);
	KUNIT_EXPECT_EQ(test, atomic_read(&hands_busy), 0);
}

/* A driver that has given a part back has the rest queued again. */
static void what_is_queued_again_is_in_nobodys_hands(struct kunit *test)
{
	struct made *made = make_write(test);

	hands_see_issue(NULL, &made->rq);
	hands_see_complete(NULL, &made->rq, BLK_STS_OK, 2 * PAGE_SIZE);
	made->rq.bio = &made->bios[2];
	made->rq.__data_len = 2 * PAGE_SIZE;
	hands_see_requeue(NULL, &made->rq);
	expect_held(test, made, PAGES);
	hands_see_issue(NULL, &made->rq);
	expect_held(test, made, 2);
	hands_see_complete(NULL, &made->rq, BLK_STS_OK, 2 * PAGE_SIZE);
	expect_held(test, made, PAGES);
	KUNIT_EXPECT_EQ(test, atomic_read(&hands_busy), 0);
}

static struct kunit_case hands_cases[] = {
	KUNIT_CASE(a_page_is_in_hand_from_issue_to_completion),
	KUNIT_CASE(of_a_request_that_comes_back_in_parts_no_bio_is_looked_at),
	KUNIT_CASE(what_is_queued_again_is_in_nobodys_hands),
	{}
};

static struct kunit_suite hands_suite = {
	.name = "hands",
	.test_cases = hands_cases,
};

kunit_test_suite(hands_suite);
