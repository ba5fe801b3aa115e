// SPDX-License-Identifier: GPL-2.0
/*
 * What a lookup among RAW rules costs, in user space: beside copying a page, and as often as asked
 * for callgrind.
 *
 *	raw-bench time			nanoseconds a lookup
 *	raw-bench NAME RULES [COUNT]	only that, COUNT times
 *
 * Rules are of one kind, and what is looked for is none of them. Each figure is the least of
 * ROUNDS.
 */
#include <stdio.h>
#include <time.h>

#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/lib/rawset.h"

#define PAGE	4096u
#define CALLS	10000
#define ROUNDS	50
#define DEPTH	6		/* directories above a file */

static u64 sink;		/* looked at in the end, so that nothing is left out */
static u8 *pages;

static bool up(void *ctx, u64 *volume, u64 *ino)
{
	(void)volume;
	*ino += 1000003;
	return ++*(u32 *)ctx <= DEPTH;
}

static void by_inode(const struct rawset *set, u64 i)
{
	struct raw_file file = { .ino = i * 2 + 1, .name = "file.data", .name_len = 9 };

	sink += rawset_file(set, &file, NULL, NULL);
}

static void by_directory(const struct rawset *set, u64 i)
{
	struct raw_file file = { .ino = i * 2 + 1, .name = "file.data", .name_len = 9 };
	u32 depth = 0;

	sink += rawset_file(set, &file, up, &depth);
}

static void by_sector(const struct rawset *set, u64 i)
{
	u64 len;

	sink += rawset_sector(set, i * 2 + 1, &len);
}

static void copy(const struct rawset *set, u64 i)
{
	(void)set;
	memcpy(pages + i % 64 * PAGE, pages + (i + 32) % 64 * PAGE, PAGE);
	sink += pages[i % PAGE];
}

static const struct job {
	const char *name;
	const char *rule;	/* of number n */
	void (*run)(const struct rawset *set, u64 i);
} jobs[] = {
	{ "ino", "ino:%u", by_inode },
	{ "dir", "dir:%u", by_directory },
	{ "suffix", "suffix:s%u", by_inode },
	{ "sectors", "sectors:%u", by_sector },
	{ "copy", "ino:%u", copy },
};

static struct rawset *rules_of(const struct job *job, u32 n)
{
	char text[RAW_TEXT_SIZE], error[RAW_ERROR_SIZE];
	struct rawset *set = rawset_new(GFP_KERNEL), *next;
	u32 i;

	for (i = 0; set && i < n; i++) {
		snprintf(text, sizeof(text), job->rule, i * 1000);
		next = rawset_add(set, text, GFP_KERNEL, error);
		rawset_free(set);
		set = next;
	}
	return set;
}

static double measure(const struct job *job, const struct rawset *set)
{
	struct timespec from, to;
	double best = 0, took;
	u32 round;
	u64 i;

	for (round = 0; round < ROUNDS; round++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &from);
		for (i = 0; i < CALLS; i++)
			job->run(set, i * 7919 % 4000000);
		clock_gettime(CLOCK_MONOTONIC_RAW, &to);
		took = (to.tv_sec - from.tv_sec) * 1e9 + to.tv_nsec - from.tv_nsec;
		if (!round || took / CALLS < best)
			best = took / CALLS;
	}
	return best;
}

static void times(void)
{
	static const u32 rules[] = { 1, 64, 4096 };
	u32 i, k;

	printf("ns a lookup%8s%8s%8s rules\n", "1", "64", "4096");
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		printf("%-11s", jobs[i].name);
		for (k = 0; k < ARRAY_SIZE(rules); k++) {
			struct rawset *set = rules_of(&jobs[i], rules[k]);

			printf("%8.1f", measure(&jobs[i], set));
			rawset_free(set);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	u64 n = argc > 3 ? strtoull(argv[3], NULL, 0) : 1000, i;
	struct rawset *set;
	u32 k;

	pages = calloc(64, PAGE);
	if (!pages || argc < 2) {
		fprintf(stderr, "usage: raw-bench time|NAME RULES [COUNT]\n");
		return 2;
	}
	if (!strcmp(argv[1], "time")) {
		times();
		return sink == 1;
	}
	for (k = 0; argc > 2 && k < ARRAY_SIZE(jobs); k++) {
		if (strcmp(argv[1], jobs[k].name))
			continue;
		set = rules_of(&jobs[k], strtoul(argv[2], NULL, 0));
		for (i = 0; i < n; i++)
			jobs[k].run(set, i * 7919 % 4000000);
		rawset_free(set);
		return sink == 1;
	}
	fprintf(stderr, "raw-bench: no job is called '%s'\n", argv[1]);
	return 2;
}
