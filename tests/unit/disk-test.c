// SPDX-License-Identifier: GPL-2.0
/*
 * The replica queue, over a drive whose times are easily foretold: held against a
 * naive oracle on random streams, and rule by rule.
 */
#include <kunit/test.h>

#include "disk-oracle.h"
#include "random.h"

#ifdef __KERNEL__
#define ROUNDS	40
#else
#define ROUNDS	400
#endif

#define MS		1000000ULL
#define STREAM		90		/* requests of a random stream */
#define SUBMITTERS	8

/* The same one each time: a kernel's stack is small. */
static struct profile *base_profile(void)
{
	static struct profile profile;

	profile = (struct profile){
		.sectors = 1 << 20, .ncq_depth = 1, .ncq_age_limit = 500 * MS,
		.nr_requests = 128, .nr_batching = 32, .max_sectors = 1024, .max_segments = 128,
		.plug_time = 3 * MS, .plug_threshold = 4,
	};
	return &profile;
}

static struct profile *random_profile(struct rnd *rnd)
{
	struct profile *profile = base_profile();

	profile->scheduler = rnd_below(rnd, 3);
	profile->ncq_depth = rnd_below(rnd, 2) ? 1 : 1 + rnd_below(rnd, 8);
	profile->ncq_unseen = rnd_below(rnd, 2) ? 0 : rnd_below(rnd, 6);
	profile->ncq_fair = rnd_below(rnd, 2) ? 0 : rnd_below(rnd, 9);
	profile->ncq_age_limit = rnd_below(rnd, 2) ? 10000 * MS : rnd_below(rnd, 20) * MS;
	profile->readahead_stream = rnd_below(rnd, 300);
	profile->nr_requests = 1 + rnd_below(rnd, rnd_below(rnd, 2) ? 4 : 60);
	profile->nr_batching = rnd_below(rnd, 8);
	profile->max_sectors = 8 * (1 + rnd_below(rnd, 12));
	profile->max_segments = 1 + rnd_below(rnd, 12);
	profile->plug_time = rnd_below(rnd, 2) * 3 * MS;
	profile->plug_threshold = 1 + rnd_below(rnd, 6);
	return profile;
}

struct stream {
	struct disk_request requests[STREAM];
	u64 at[STREAM];
	u32 done[STREAM];	/* how often */
};

static void random_stream(struct rnd *rnd, struct stream *stream)
{
	/* from sparse to packed places, from bursts to a trickle */
	u32 i, places = 64 << rnd_below(rnd, 12), longest = 1 + rnd_below(rnd, 120);
	u32 pause = 1 << rnd_below(rnd, 22), flushes = rnd_below(rnd, 10), fua = rnd_below(rnd, 10);
	u64 now = rnd_below(rnd, 1000), follow = 0;

	memset(stream, 0, sizeof(*stream));
	for (i = 0; i < STREAM; i++) {
		struct disk_request *r = &stream->requests[i];

		now += rnd_below(rnd, 3) ? rnd_below(rnd, pause) : 0;
		stream->at[i] = now;
		r->op = rnd_below(rnd, 2) ? DISK_WRITE : DISK_READ;
		r->sectors = 1 + rnd_below(rnd, longest);
		r->sector = rnd_below(rnd, 2) ? follow : rnd_below(rnd, places);
		follow = r->sector + r->sectors;
		r->flags = rnd_below(rnd, 3) ? 0 : DISK_SYNC;
		if (rnd_below(rnd, 100) < flushes) {
			r->op = DISK_FLUSH;
			r->sector = 0;
			r->sectors = 0;
		} else if (r->op == DISK_WRITE && rnd_below(rnd, 100) < fua) {
			r->flags |= DISK_FUA;
		}
	}
}

static void collect(struct stream *stream, struct disk_request *done)
{
	for (; done; done = done->next)
		stream->done[done - stream->requests]++;
}

/* Without back-pressure; the disk may look after itself between the arrivals, or not. */
static void run_open(struct disk *disk, struct stream *stream, struct rnd *cuts)
{
	u32 i;

	for (i = 0; i < STREAM; i++) {
		u64 before = i ? stream->at[i - 1] : 0;

		while (cuts && rnd_below(cuts, 2)) {
			before += rnd_next(cuts) % (stream->at[i] - before + 1);
			collect(stream, disk_advance(disk, before));
		}
		disk_submit(disk, &stream->requests[i], stream->at[i]);
	}
	while (disk_next_event(disk) != U64_MAX)
		collect(stream, disk_advance(disk, disk_next_event(disk)));
}

/* @cached: sectors that only the drive's cache saw, of all commands. */
static void check_once(struct kunit *test, const struct stream *stream, u64 cached)
{
	u32 i;

	for (i = 0; i < STREAM; i++) {
		const struct disk_request *r = &stream->requests[i];

		KUNIT_ASSERT_EQ_MSG(test, stream->done[i], 1, "request %u", i);
		KUNIT_ASSERT_EQ(test, r->left, 0);
		KUNIT_ASSERT_EQ(test, r->commands, 0);
		KUNIT_ASSERT_LE(test, r->arrival, r->dispatch);
		KUNIT_ASSERT_LE(test, r->dispatch + FAKE_FIXED, r->completion);
		KUNIT_ASSERT_LE(test, r->parts.cached, r->sectors);
		cached -= r->parts.cached;
	}
	KUNIT_ASSERT_EQ(test, cached, 0ULL);
}

static void random_streams_go_as_the_oracle_says(struct kunit *test)
{
	struct stream *stream = kvzalloc(sizeof(*stream), GFP_KERNEL);
	struct oracle_request *requests = kvcalloc(STREAM, sizeof(*requests), GFP_KERNEL);
	struct oracle_command *commands = kvcalloc(ORACLE_COMMANDS, sizeof(*commands), GFP_KERNEL);
	struct rnd rnd = { 3 };
	u32 round, i;

	KUNIT_ASSERT_NOT_NULL(test, stream);
	KUNIT_ASSERT_NOT_NULL(test, requests);
	KUNIT_ASSERT_NOT_NULL(test, commands);
	for (round = 0; round < ROUNDS; round++) {
		struct profile *profile = random_profile(&rnd);
		struct disk *disk = disk_create(profile, NULL, GFP_KERNEL);
		struct oracle oracle = {
			.profile = profile, .requests = requests, .commands = commands,
			.busy_until = ORACLE_NEVER, .unplug_at = ORACLE_NEVER,
		};

		KUNIT_ASSERT_NOT_NULL(test, disk);
		random_stream(&rnd, stream);
		for (i = 0; i < STREAM; i++) {
			requests[i] = (struct oracle_request){
				.sector = stream->requests[i].sector,
				.sectors = stream->requests[i].sectors,
				.op = stream->requests[i].op, .flags = stream->requests[i].flags,
			};
			oracle_submit(&oracle, i, stream->at[i]);
		}
		oracle_run(&oracle, ORACLE_NEVER);
		fake_last.cached = 0;
		run_open(disk, stream, &rnd);
		check_once(test, stream, fake_last.cached);
		for (i = 0; i < STREAM; i++) {
			KUNIT_ASSERT_EQ_MSG(test, stream->requests[i].dispatch,
					    requests[i].dispatch, "request %u, round %u, %u", i,
					    round, profile->scheduler);
			KUNIT_ASSERT_EQ_MSG(test, stream->requests[i].completion,
					    requests[i].completion, "request %u, round %u, %u", i,
					    round, profile->scheduler);
		}
		disk_destroy(disk);
	}
	kvfree(stream);
	kvfree(requests);
	kvfree(commands);
}

/* As a host would drive it: submitters wait while the queue is full, and are woken in order. */
struct host {
	struct disk *disk;
	struct stream *stream;
	struct disk_submitter who[SUBMITTERS];
	u32 queue[2][STREAM], first[2], last[2];	/* waiting requests, by direction */
	u32 most;		/* requests that were in the queue at once */
	u64 waited;		/* ns, of all */
};

static unsigned int host_direction(const struct disk_request *r)
{
	return r->op == DISK_READ ? 0 : 1;
}

static void host_wake(struct host *host, u64 now)
{
	u32 way, i;

	for (way = 0; way < 2; way++) {
		while (host->first[way] < host->last[way] &&
		       disk_wakeups(host->disk, way ? DISK_WRITE : DISK_READ)) {
			struct disk_submitter *who;

			i = host->queue[way][host->first[way]];
			who = &host->who[i % SUBMITTERS];
			disk_woken(host->disk, who, host->stream->requests[i].op, now);
			if (!disk_enter(host->disk, who, host->stream->requests[i].op, now))
				break;
			host->first[way]++;
			host->waited += now - host->stream->at[i];
			disk_submit(host->disk, &host->stream->requests[i], now);
		}
	}
}

static void run_host(struct host *host, struct rnd *cuts)
{
	struct stream *stream = host->stream;
	u64 now = 0, next;
	u32 i = 0;

	for (;;) {
		next = min(i < STREAM ? stream->at[i] : U64_MAX, disk_next_event(host->disk));
		if (next == U64_MAX)
			break;
		while (cuts && rnd_below(cuts, 2)) {
			now += rnd_next(cuts) % (next - now + 1);
			collect(stream, disk_advance(host->disk, now));
			host_wake(host, now);
		}
		now = next;
		collect(stream, disk_advance(host->disk, now));
		host_wake(host, now);
		while (i < STREAM && stream->at[i] == now) {
			unsigned int way = host_direction(&stream->requests[i]);

			if (disk_enter(host->disk, &host->who[i % SUBMITTERS],
				       stream->requests[i].op, now))
				disk_submit(host->disk, &stream->requests[i], now);
			else
				host->queue[way][host->last[way]++] = i;
			host->most = max(host->most, host->disk->count[way]);
			i++;
		}
	}
}

static void it_does_not_matter_when_the_caller_comes_by(struct kunit *test)
{
	struct stream *one = kvzalloc(sizeof(*one), GFP_KERNEL);
	struct stream *other = kvzalloc(sizeof(*other), GFP_KERNEL);
	struct host *host = kvzalloc(sizeof(*host), GFP_KERNEL);
	struct rnd rnd = { 4 };
	u32 round, i, open;

	KUNIT_ASSERT_NOT_NULL(test, one);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_ASSERT_NOT_NULL(test, host);
	for (round = 0; round < ROUNDS; round++) {
		struct profile *profile = random_profile(&rnd);
		struct disk *disks[2] = {
			disk_create(profile, NULL, GFP_KERNEL),
			disk_create(profile, NULL, GFP_KERNEL),
		};

		KUNIT_ASSERT_NOT_NULL(test, disks[0]);
		KUNIT_ASSERT_NOT_NULL(test, disks[1]);
		random_stream(&rnd, one);
		*other = *one;
		open = rnd_below(&rnd, 2);
		fake_last.cached = 0;
		if (open) {
			run_open(disks[0], one, NULL);
			run_open(disks[1], other, &rnd);
		} else {
			*host = (struct host){ .disk = disks[0], .stream = one };
			run_host(host, NULL);
			KUNIT_ASSERT_LE(test, host->most, max(1u, profile->nr_requests * 3 / 2));
			*host = (struct host){ .disk = disks[1], .stream = other };
			run_host(host, &rnd);
		}
		check_once(test, one, fake_last.cached / 2);
		check_once(test, other, fake_last.cached / 2);
		for (i = 0; i < STREAM; i++) {
			KUNIT_ASSERT_EQ_MSG(test, one->requests[i].completion,
					    other->requests[i].completion, "request %u, round %u",
					    i, round);
			KUNIT_ASSERT_EQ(test, one->requests[i].dispatch,
					other->requests[i].dispatch);
		}
		disk_destroy(disks[0]);
		disk_destroy(disks[1]);
	}
	kvfree(one);
	kvfree(other);
	kvfree(host);
}

static bool one_writes_what_the_other_touches(const struct disk_request *a,
					      const struct disk_request *b)
{
	return (a->op == DISK_WRITE || b->op == DISK_WRITE) &&
	       a->sector < b->sector + b->sectors && b->sector < a->sector + a->sectors;
}

static void overlapping_requests_keep_their_order(struct kunit *test)
{
	struct stream *stream = kvzalloc(sizeof(*stream), GFP_KERNEL);
	struct rnd rnd = { 5 };
	u32 round, i, j, pairs = 0;

	KUNIT_ASSERT_NOT_NULL(test, stream);
	for (round = 0; round < ROUNDS; round++) {
		struct profile *profile = random_profile(&rnd);
		struct disk *disk;

		profile->max_sectors = 128;	/* nothing is split: then it must be strictly so */
		profile->max_segments = 16;
		profile->nr_requests = 128;
		disk = disk_create(profile, NULL, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, disk);
		random_stream(&rnd, stream);
		run_open(disk, stream, NULL);
		for (i = 0; i < STREAM; i++) {
			for (j = i + 1; j < STREAM; j++) {
				if (!one_writes_what_the_other_touches(&stream->requests[i],
								       &stream->requests[j]))
					continue;
				KUNIT_ASSERT_LE_MSG(test, stream->requests[i].completion,
						    stream->requests[j].dispatch,
						    "requests %u and %u, round %u", i, j, round);
				pairs++;
			}
		}
		disk_destroy(disk);
	}
	KUNIT_EXPECT_GE(test, pairs, ROUNDS * 10);
	kvfree(stream);
}

static struct disk *create(struct kunit *test, const struct profile *profile)
{
	struct disk *disk = disk_create(profile, NULL, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, disk);
	return disk;
}

static struct disk_request request(enum disk_op op, u64 sector, u32 sectors, u8 flags)
{
	return (struct disk_request){
		.op = op, .sector = sector, .sectors = sectors, .flags = flags
	};
}

static void finish(struct disk *disk)
{
	while (disk_next_event(disk) != U64_MAX)
		disk_advance(disk, disk_next_event(disk));
}

/* How many commands @n requests of @sectors in sequence become, the drive being busy. */
static u32 merged(struct kunit *test, const struct profile *profile, u32 n, u32 sectors,
		  bool backwards)
{
	struct disk *disk = create(test, profile);
	struct disk_request *requests = kvcalloc(n + 1, sizeof(*requests), GFP_KERNEL);
	u32 i, served;

	KUNIT_ASSERT_NOT_NULL(test, requests);
	requests[n] = request(DISK_READ, 500000, 1, DISK_SYNC);
	disk_submit(disk, &requests[n], 0);
	for (i = 0; i < n; i++) {
		u32 at = backwards ? n - 1 - i : i;

		requests[i] = request(DISK_WRITE, 8 + at * sectors, sectors, 0);
		disk_submit(disk, &requests[i], i);
	}
	finish(disk);
	served = fake_last.served - 1;
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_NE(test, requests[i].completion, 0);
	kvfree(requests);
	disk_destroy(disk);
	return served;
}

static void merges_stop_at_size_and_segments(struct kunit *test)
{
	struct profile *profile = base_profile();

	profile->plug_threshold = 2048;
	KUNIT_EXPECT_EQ(test, merged(test, profile, 128, 8, false), 1);
	KUNIT_EXPECT_EQ(test, merged(test, profile, 129, 8, false), 2);
	KUNIT_EXPECT_EQ(test, merged(test, profile, 128, 8, true), 1);
	KUNIT_EXPECT_EQ(test, merged(test, profile, 129, 8, true), 2);
	profile->max_sectors = 64;
	KUNIT_EXPECT_EQ(test, merged(test, profile, 128, 8, false), 16);
	KUNIT_EXPECT_EQ(test, merged(test, profile, 128, 8, true), 16);
	profile->max_sectors = 1024;
	profile->max_segments = 10;	/* a request of one sector takes a segment, too */
	KUNIT_EXPECT_EQ(test, merged(test, profile, 100, 1, false), 10);
	KUNIT_EXPECT_EQ(test, merged(test, profile, 100, 9, false), 20);
}

static void a_large_request_is_split(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk = create(test, profile);
	struct disk_request r = request(DISK_WRITE, 0, 3000, DISK_SYNC);

	disk_submit(disk, &r, 0);
	finish(disk);
	KUNIT_EXPECT_EQ(test, fake_last.served, 3);
	KUNIT_EXPECT_EQ(test, fake_last.sector, 2048);
	KUNIT_EXPECT_EQ(test, fake_last.sectors, 952);
	KUNIT_EXPECT_EQ(test, r.dispatch, 0);
	KUNIT_EXPECT_EQ(test, r.completion, 3 * FAKE_FIXED);
	disk_destroy(disk);
}

/* The last of a request's commands was a hit, whatever the others were. */
static void a_request_is_a_hit_if_all_of_it_was(struct kunit *test)
{
	struct disk *disk = create(test, base_profile());
	struct disk_request some = request(DISK_READ, 0, 3000, DISK_SYNC);
	struct disk_request all = request(DISK_READ, FAKE_CACHED, 3000, DISK_SYNC);
	struct disk_request none = request(DISK_READ, FAKE_CACHED - 8, 8, DISK_SYNC);

	disk_submit(disk, &some, 0);
	finish(disk);
	disk_submit(disk, &all, some.completion);
	finish(disk);
	disk_submit(disk, &none, all.completion);
	finish(disk);
	KUNIT_EXPECT_FALSE(test, some.parts.hit);
	KUNIT_EXPECT_TRUE(test, all.parts.hit);
	KUNIT_EXPECT_FALSE(test, none.parts.hit);
	KUNIT_EXPECT_EQ(test, some.parts.cached, 1500U);
	disk_destroy(disk);
}

/* Larger than the whole queue: goes through piece by piece. */
static void a_request_may_be_larger_than_the_queue(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk_request big = request(DISK_WRITE, 0, 1000, DISK_SYNC);
	struct disk_request next = request(DISK_WRITE, 2000, 8, DISK_SYNC);
	struct disk_request read = request(DISK_READ, 999, 2, DISK_SYNC);
	struct disk *disk;

	profile->nr_requests = 2;
	profile->max_sectors = 8;
	disk = create(test, profile);
	disk_submit(disk, &big, 0);
	disk_submit(disk, &next, 0);
	disk_submit(disk, &read, 0);
	KUNIT_EXPECT_EQ(test, disk_wakeups(disk, DISK_WRITE), 0);
	finish(disk);
	KUNIT_EXPECT_EQ(test, fake_last.served, 127);
	KUNIT_EXPECT_LE(test, big.completion, next.dispatch + 2 * FAKE_FIXED);
	KUNIT_EXPECT_LE(test, big.completion, read.dispatch);
	disk_destroy(disk);
}

static void a_plugged_queue_waits_for_its_timer(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk = create(test, profile);
	struct disk_request r = request(DISK_WRITE, 0, 8, 0);

	disk_submit(disk, &r, 10);
	KUNIT_EXPECT_EQ(test, disk_next_event(disk), 10 + 3 * MS);
	finish(disk);
	KUNIT_EXPECT_EQ(test, r.dispatch, 10 + 3 * MS);
	KUNIT_EXPECT_EQ(test, r.completion, 10 + 3 * MS + FAKE_FIXED);
	disk_destroy(disk);
}

static void the_threshold_unplugs(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk = create(test, profile);
	static struct disk_request r[4];	/* the kernel's stack is small */
	u32 i;

	for (i = 0; i < 4; i++) {
		r[i] = request(DISK_WRITE, 1000 * i, 8, 0);
		disk_submit(disk, &r[i], 100 * i);
	}
	finish(disk);
	KUNIT_EXPECT_EQ(test, r[0].dispatch, 300);
	KUNIT_EXPECT_EQ(test, r[0].completion, 300 + FAKE_FIXED);
	disk_destroy(disk);
}

static void who_waits_unplugs(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk = create(test, profile);
	struct disk_request slow = request(DISK_WRITE, 0, 8, 0);
	struct disk_request sync = request(DISK_READ, 5000, 8, DISK_SYNC);

	disk_submit(disk, &slow, 0);
	disk_submit(disk, &sync, 500);
	finish(disk);
	KUNIT_EXPECT_EQ(test, slow.dispatch, 500);
	KUNIT_EXPECT_EQ(test, sync.dispatch, slow.completion);
	disk_destroy(disk);
}

static void a_flush_waits_for_what_the_drive_has(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk_request flush = request(DISK_FLUSH, 0, 0, 0);
	static struct disk_request w[4];
	struct disk *disk;
	u32 i;

	profile->ncq_depth = 3;
	disk = create(test, profile);
	for (i = 0; i < 4; i++) {
		w[i] = request(DISK_WRITE, 100 * i, 8, DISK_SYNC);
		disk_submit(disk, &w[i], 0);
		if (i == 2)
			disk_submit(disk, &flush, 0);
	}
	finish(disk);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_LE(test, w[i].completion, flush.dispatch);
	KUNIT_EXPECT_EQ(test, flush.completion, flush.dispatch + FAKE_FIXED);
	KUNIT_EXPECT_EQ(test, w[3].dispatch, flush.completion);
	disk_destroy(disk);
}

/* A far request among ever new near ones: when is it served? */
static u64 far_request(struct kunit *test, u64 age_limit, u32 fair)
{
	struct profile *profile = base_profile();
	struct disk_request far = request(DISK_READ, 900000, 8, DISK_SYNC);
	static struct disk_request near[300];
	struct disk *disk;
	u32 i;

	profile->ncq_depth = 4;
	profile->ncq_age_limit = age_limit;
	profile->ncq_fair = fair;
	disk = create(test, profile);
	for (i = 0; i < 4; i++) {
		near[i] = request(DISK_READ, 100 * i, 8, DISK_SYNC);
		disk_submit(disk, &near[i], 0);
	}
	disk_submit(disk, &far, 0);
	for (; i < ARRAY_SIZE(near); i++) {
		u64 now = disk_next_event(disk);

		near[i] = request(DISK_READ, (100 * i) % 3000, 8, DISK_SYNC);
		disk_advance(disk, now);
		disk_submit(disk, &near[i], now);
	}
	finish(disk);
	disk_destroy(disk);
	return far.completion;
}

static void nothing_starves_in_the_drive(struct kunit *test)
{
	u64 limit = 20 * MS, service = FAKE_FIXED + 900000 * FAKE_SECTOR;

	/* without the limit, the far one would wait for the end of the stream */
	KUNIT_EXPECT_GE(test, far_request(test, 10000 * MS, 0), 290 * MS);
	KUNIT_EXPECT_GE(test, far_request(test, limit, 0), limit);
	KUNIT_EXPECT_LE(test, far_request(test, limit, 0), limit + service + 4 * MS);
}

/* Four wait whenever the drive chooses. Three go before the far one can be passed over, then two */
static void few_commands_pass_over_one_twice(struct kunit *test)
{
	u64 near = FAKE_FIXED + 3000 * FAKE_SECTOR, far = FAKE_FIXED + 900000 * FAKE_SECTOR;

	KUNIT_EXPECT_LE(test, far_request(test, 10000 * MS, 4), 6 * near + far);
	KUNIT_EXPECT_GE(test, far_request(test, 10000 * MS, 3), 290 * MS);
}

/*
 * Section 6.2 of the paper: with bursty I/O the time in the queue outweighs that in
 * the drive. 2000 writes from 8 threads, each going on as soon as it may.
 */
#define BURST	2000

struct burst {
	struct disk_request requests[BURST];
	struct disk_submitter who[SUBMITTERS];
	u32 left[SUBMITTERS];		/* requests it has still to submit */
	u32 by[BURST];			/* whose request it was */
	u32 waiting[SUBMITTERS], first, waiters;	/* a ring */
	u32 submitted, most, run, longest;
};

/* @who submits until it must wait. */
static void burst_on(struct burst *b, struct disk *disk, u32 who, u64 now, struct rnd *rnd)
{
	b->run = 0;
	while (b->left[who]) {
		if (!disk_enter(disk, &b->who[who], DISK_WRITE, now)) {
			b->waiting[(b->first + b->waiters++) % SUBMITTERS] = who;
			break;
		}
		b->requests[b->submitted] = request(DISK_WRITE, 16 * rnd_below(rnd, 60000), 8, 0);
		b->by[b->submitted] = who;
		disk_submit(disk, &b->requests[b->submitted++], now);
		b->left[who]--;
		b->run++;
		b->most = max(b->most, disk->count[1]);
	}
}

static void a_burst_spends_its_time_in_the_queue(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk = create(test, profile);
	struct burst *b = kvzalloc(sizeof(*b), GFP_KERNEL);
	struct rnd rnd = { 6 };
	u64 queued = 0, served = 0, now;
	u32 i, batches = 0;

	KUNIT_ASSERT_NOT_NULL(test, b);
	for (i = 0; i < SUBMITTERS; i++) {
		b->left[i] = BURST / SUBMITTERS;
		burst_on(b, disk, i, 0, &rnd);
		/* who fills the queue goes on for a batch, the others wait at once */
		KUNIT_EXPECT_EQ(test, b->run, i ? 0 : 127 + 32);
	}
	KUNIT_EXPECT_EQ(test, disk_wakeups(disk, DISK_WRITE), 0);
	while ((now = disk_next_event(disk)) != U64_MAX) {
		disk_advance(disk, now);
		while (b->waiters && disk_wakeups(disk, DISK_WRITE)) {
			u32 who = b->waiting[b->first++ % SUBMITTERS];

			b->waiters--;
			disk_woken(disk, &b->who[who], DISK_WRITE, now);
			burst_on(b, disk, who, now, &rnd);
			if (b->left[who])
				KUNIT_EXPECT_EQ(test, b->run, 32);
			batches++;
		}
	}
	KUNIT_EXPECT_EQ(test, b->submitted, BURST);
	KUNIT_EXPECT_EQ(test, b->most, 127 + 32);	/* the paper's 128-160 */
	KUNIT_EXPECT_GE(test, batches, (BURST - 159) / 32);
	for (i = 0; i < BURST; i++) {
		queued += b->requests[i].dispatch - b->requests[i].arrival;
		served += b->requests[i].completion - b->requests[i].dispatch;
	}
	KUNIT_EXPECT_GE(test, queued, 100 * served);
	kunit_info(test, "%llu times as long in the queue as in the drive, %u wake-ups",
		   (unsigned long long)div64_u64(queued, served), batches);
	kvfree(b);
	disk_destroy(disk);
}

static void a_batch_ends_after_20_ms(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk;
	struct disk_submitter who = { }, other = { };
	static struct disk_request r[8];
	u32 i;

	profile->nr_requests = 4;
	disk = create(test, profile);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, disk_enter(disk, &who, DISK_WRITE, 0));
		r[i] = request(DISK_WRITE, 800000 * (i % 2) + 16 * i, 8, DISK_SYNC);
		disk_submit(disk, &r[i], 0);
	}
	KUNIT_EXPECT_FALSE(test, disk_enter(disk, &other, DISK_WRITE, 0));
	KUNIT_EXPECT_TRUE(test, disk_enter(disk, &other, DISK_READ, 0));
	/* two are done after 7.6 ms: there is room for one that waits */
	disk_advance(disk, 8 * MS);
	KUNIT_EXPECT_EQ(test, disk_wakeups(disk, DISK_WRITE), 2);
	disk_woken(disk, &other, DISK_WRITE, 8 * MS);
	KUNIT_EXPECT_EQ(test, disk_wakeups(disk, DISK_WRITE), 1);
	for (i = 4; i < 8; i++) {
		KUNIT_EXPECT_TRUE(test, disk_enter(disk, &other, DISK_WRITE, 8 * MS));
		r[i] = request(DISK_WRITE, 100 + 16 * i, 8, 0);
		disk_submit(disk, &r[i], 8 * MS);
	}
	/* 1.5 times the limit, batch or not */
	KUNIT_EXPECT_FALSE(test, disk_enter(disk, &other, DISK_WRITE, 8 * MS));
	disk_destroy(disk);

	disk = create(test, profile);
	for (i = 0; i < 4; i++) {
		KUNIT_EXPECT_TRUE(test, disk_enter(disk, &who, DISK_WRITE, 0));
		r[i] = request(DISK_WRITE, 10000000ULL * (i + 1), 8, DISK_SYNC);
		disk_submit(disk, &r[i], 0);
	}
	/* nothing is done yet, but the privilege of having filled the queue has ended */
	KUNIT_EXPECT_FALSE(test, disk_enter(disk, &who, DISK_WRITE, 20 * MS));
	disk_destroy(disk);
}

static void writes_are_not_starved_by_reads(struct kunit *test)
{
	static struct disk_request r[100];
	struct profile *profile = base_profile();
	struct disk_request w = request(DISK_WRITE, 500000, 8, 0);
	struct disk *disk;
	u32 i;

	profile->scheduler = SCHEDULER_DEADLINE;
	disk = create(test, profile);
	for (i = 0; i < ARRAY_SIZE(r); i++) {
		r[i] = request(DISK_READ, 100 * (i + 1), 8, DISK_SYNC);
		disk_submit(disk, &r[i], 0);
		if (!i)
			disk_submit(disk, &w, 0);
	}
	finish(disk);
	/* the batch that runs, two more, then the write */
	KUNIT_EXPECT_GE(test, w.dispatch, 48 * FAKE_FIXED);
	KUNIT_EXPECT_LE(test, w.dispatch, 49 * FAKE_FIXED);
	disk_destroy(disk);
}

static void a_disk_is_small(struct kunit *test)
{
	struct profile *profile = base_profile();
	struct disk *disk = create(test, profile);

	KUNIT_EXPECT_LE(test, disk_bytes(disk), 64 << 10);
	disk_destroy(disk);
	profile->nr_requests = 2048;
	profile->ncq_depth = 256;
	disk = create(test, profile);
	KUNIT_EXPECT_LE(test, disk_bytes(disk), 1 << 20);
	disk_destroy(disk);
}

static struct kunit_case disk_cases[] = {
	KUNIT_CASE(random_streams_go_as_the_oracle_says),
	KUNIT_CASE(it_does_not_matter_when_the_caller_comes_by),
	KUNIT_CASE(overlapping_requests_keep_their_order),
	KUNIT_CASE(merges_stop_at_size_and_segments),
	KUNIT_CASE(a_large_request_is_split),
	KUNIT_CASE(a_request_is_a_hit_if_all_of_it_was),
	KUNIT_CASE(a_request_may_be_larger_than_the_queue),
	KUNIT_CASE(a_plugged_queue_waits_for_its_timer),
	KUNIT_CASE(the_threshold_unplugs),
	KUNIT_CASE(who_waits_unplugs),
	KUNIT_CASE(a_flush_waits_for_what_the_drive_has),
	KUNIT_CASE(nothing_starves_in_the_drive),
	KUNIT_CASE(few_commands_pass_over_one_twice),
	KUNIT_CASE(a_burst_spends_its_time_in_the_queue),
	KUNIT_CASE(a_batch_ends_after_20_ms),
	KUNIT_CASE(writes_are_not_starved_by_reads),
	KUNIT_CASE(a_disk_is_small),
	{ }
};

static struct kunit_suite disk_suite = {
	.name = "disk",
	.test_cases = disk_cases,
};

kunit_test_suite(disk_suite);
