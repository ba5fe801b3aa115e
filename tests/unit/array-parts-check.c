// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays of shipped drives: where the members' time went adds up, and so do their bytes. Random
 * jobs, on each level, with and without members that have failed. Called with profiles' files.
 *
 * What is expected comes from the requests' own times, and from the layout.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/array/array.h"
#include "../../tools/sim/load.h"
#include "random.h"

#define CHUNK	128		/* sectors */
#define MOST	16		/* requests at a time */
#define SPAN	4000000		/* sectors of each member */

static int failures;

static const struct kind {
	const char *name, *layout;
	enum array_level level;
	u32 members;
	u64 failed;
} kinds[] = {
	{ "RAID-0", NULL, ARRAY_0, 3, 0 },
	{ "RAID-1", NULL, ARRAY_1, 2, 0 },
	{ "RAID-1 of 3, one failed", NULL, ARRAY_1, 3, 1 << 0 },
	{ "RAID-5", NULL, ARRAY_5, 5, 0 },
	{ "RAID-5, one failed", NULL, ARRAY_5, 4, 1 << 2 },
	{ "RAID-6", NULL, ARRAY_6, 6, 0 },
	{ "RAID-6, two failed", NULL, ARRAY_6, 6, 1 << 1 | 1 << 4 },
	{ "RAID-10", "n2", ARRAY_10, 4, 0 },
	{ "RAID-10, far", "f2", ARRAY_10, 4, 0 },
	{ "RAID-10, one failed", "n2", ARRAY_10, 4, 1 << 3 },
};

/* What requests took, and what they must have done, by themselves. */
struct expected {
	u64 busy, until;	/* ns with any request; end of the last one */
	u64 read, written;	/* sectors of data that lie on members that work */
	u64 redundant;		/* sectors of parity and of further copies on these */
	u64 flushes;
};

struct check {
	const struct profile *profile;
	const struct kind *kind;
	struct array_setup setup;
	struct array *array;
	u32 depth;
	struct expected expected;
};

static bool works(const struct check *check, u32 member)
{
	return !(check->setup.failed >> member & 1);
}

static void expect(const struct check *check, const char *what, u64 is, u64 should)
{
	if (is == should)
		return;
	printf("not ok %s, %s, %u at a time: %s is %llu, should be %llu\n", check->profile->name,
	       check->kind->name, check->depth, what, (unsigned long long)is,
	       (unsigned long long)should);
	failures++;
}

/* @request is to lie in one chunk. A read of what is on a failed member reads none of it. */
static void expect_bytes(struct check *check, const struct disk_request *request)
{
	const struct array_layout *layout = &check->setup.layout;
	struct expected *expected = &check->expected;
	u32 i, copies = layout_copies(layout), parities = layout_parities(layout), places = 0;
	u32 data = layout->members - parities;
	struct array_piece piece;

	for (i = 0; i < copies; i++) {
		layout_piece(layout, request->sector, request->sectors, i, &piece);
		places += works(check, piece.member);
	}
	if (request->op == DISK_READ) {
		expected->read += places ? request->sectors : 0;
		return;
	}
	expected->written += places ? request->sectors : 0;
	expected->redundant += places > 1 ? (places - 1) * request->sectors : 0;
	for (i = data; i < layout->members; i++)
		if (works(check, layout_member(layout, piece.row, i)))
			expected->redundant += request->sectors;
}

static void take(struct check *check, const struct disk_request *done)
{
	struct expected *expected = &check->expected;

	for (; done; done = done->next) {
		u64 from = max(done->arrival, expected->until);

		expected->busy += done->completion > from ? done->completion - from : 0;
		expected->until = max(expected->until, done->completion);
	}
}

static u64 finish(struct check *check)
{
	u64 next, now = 0;

	while ((next = array_next_event(check->array)) != U64_MAX) {
		now = next;
		take(check, array_advance(check->array, now));
	}
	return now;
}

/* Some requests in one chunk each, or, several at a time, also longer ones. */
static void make_request(struct check *check, struct rnd *rnd, struct disk_request *request)
{
	enum disk_op op = rnd_below(rnd, 12) ? rnd_below(rnd, 2) : DISK_FLUSH;
	u32 most = check->depth > 1 ? 3 * CHUNK : CHUNK, sectors = 8 * (1 + rnd_below(rnd, 16));
	u64 span = check->setup.layout.sectors / most;

	if (check->depth > 1)
		sectors = 8 * (1 + rnd_below(rnd, most / 8));
	*request = (struct disk_request) {
		.op = op, .flags = DISK_SYNC, .sectors = op == DISK_FLUSH ? 0 : sectors,
		.sector = rnd_next(rnd) % (rnd_below(rnd, 4) ? 64 : span) * most,
	};
	if (check->depth == 1 && op != DISK_FLUSH)
		request->sector += 8 * rnd_below(rnd, (CHUNK - sectors) / 8 + 1);
}

static u64 random_job(struct check *check, u32 n)
{
	struct disk_request requests[MOST];
	struct rnd rnd = { check->depth };
	u64 now = 0;
	u32 i, k;

	for (i = 0; i < n; i += check->depth) {
		for (k = 0; k < check->depth; k++) {
			make_request(check, &rnd, &requests[k]);
			check->expected.flushes += requests[k].op == DISK_FLUSH;
			if (check->depth == 1 && requests[k].op != DISK_FLUSH)
				expect_bytes(check, &requests[k]);
			array_submit(check->array, &requests[k], now);
		}
		now = max(now, finish(check));
		if (!rnd_below(&rnd, 4))
			now += rnd_below(&rnd, 300000000);
		take(check, array_advance(check->array, now));
	}
	return now;
}

static void check_member(const struct check *check, const struct array_member_figures *f, u64 now)
{
	u64 parts = drive_parts_total(&f->drive.parts);

	expect(check, "busy and waiting of a member", f->busy + f->waiting, check->expected.busy);
	expect(check, "all time of a member", f->busy + f->waiting + f->idle, now);
	expect(check, "flushes of a member", f->flushes, check->expected.flushes);
	/* All are sent at once, and waited for: a disk always has a command then. */
	if (check->depth == 1 || check->profile->kind == DRIVE_DISK)
		expect(check, "parts of a member", parts, f->busy);
	if (check->depth == 1)
		expect(check, "response times of a member", f->response, f->busy);
	else if (f->response < f->busy || f->busy > check->expected.busy)
		expect(check, "busy of a member, at most", f->busy,
		       min(f->response, check->expected.busy));
}

static void check_job(struct check *check, u32 n)
{
	struct array_member_figures f, sum = { };
	u64 now = random_job(check, n);
	u32 i;

	for (i = 0; i < check->setup.layout.members; i++) {
		array_figures(check->array, i, &f);
		if (!works(check, i)) {
			expect(check, "time of a failed member", f.busy + f.waiting + f.idle, 0);
			expect(check, "requests of a failed member", f.reads + f.writes, 0);
			continue;
		}
		check_member(check, &f, now);
		sum.read_sectors += f.read_sectors;
		sum.preread_sectors += f.preread_sectors;
		sum.write_sectors += f.write_sectors;
		sum.redundant_sectors += f.redundant_sectors;
	}
	if (check->depth > 1)
		return;
	expect(check, "sectors that were asked for",
	       sum.read_sectors - sum.preread_sectors, check->expected.read);
	expect(check, "sectors of data", sum.write_sectors - sum.redundant_sectors,
	       check->expected.written);
	expect(check, "sectors of parity and copies", sum.redundant_sectors,
	       check->expected.redundant);
}

static void check_array(const struct profile *profile, const struct kind *kind, u32 depth, u32 n)
{
	struct check check = { .profile = profile, .kind = kind, .depth = depth };
	struct array_setup *setup = &check.setup;

	*setup = (struct array_setup) {
		.layout = { .level = kind->level, .members = kind->members,
			    .chunk = kind->level == ARRAY_1 ? 0 : CHUNK },
		.profile = profile, .failed = kind->failed, .rmw = RMW_ENABLE, .seed = 1,
	};
	if (!layout_parse(&setup->layout, kind->layout) || layout_init(&setup->layout, SPAN) ||
	    array_check(setup))
		exit(2);
	check.array = array_create(setup, GFP_KERNEL);
	if (!check.array)
		exit(2);
	check_job(&check, n);
	array_destroy(check.array);
}

int main(int argc, char **argv)
{
	u32 k;
	int i;

	for (i = 1; i < argc; i++) {
		struct profile profile;

		if (load_profile(&profile, argv[i], NULL))
			exit(2);
		/* A blank SSD reads nothing. */
		if (profile.kind == DRIVE_SSD)
			profile.precondition = PRECONDITION_SEQUENTIAL;
		for (k = 0; k < ARRAY_SIZE(kinds); k++) {
			check_array(&profile, &kinds[k], 1, 1000);
			check_array(&profile, &kinds[k], MOST, 2000);
		}
		profile_free(&profile);
	}
	printf("%d profiles in arrays, %d failures\n", argc - 1, failures);
	return failures || argc < 2;
}
