// SPDX-License-Identifier: GPL-2.0
/*
 * What generated content, checksums and forging cost for 4 KiB, beside copying
 * a page, all in one run.
 *
 *	content-bench time           nanoseconds, and ratios to copying
 *	content-bench NAME [COUNT]   only that, COUNT times: for callgrind
 *
 * A copy's source and target are somewhere in COLD bytes, more than a CPU
 * caches, as a page cache's pages are; generated content goes there, too. "hot" is
 * the same page over and over. Each figure is the least of ROUNDS.
 */
#include <stdio.h>
#include <time.h>

#include "../../dm-david/lib/content.h"
#include "../../dm-david/lib/crcforge.h"
#include "../../dm-david/lib/filecontent.h"

#define PAGE	4096u
#define COLD	(256u << 20)
#define PAGES	(COLD / PAGE)
#define CALLS	1000		/* shorter than a time slice */
#define ROUNDS	100

static u8 *memory;
static struct crcforge forge;
static u32 sink;		/* looked at in the end, so that nothing is left out */

struct job {
	const char *name;
	void (*run)(const struct job *job, u8 *page, u64 i);
	struct content content;
	enum file_kind file;
	bool on_bytes;		/* of a page that was just made: hot */
	bool by_table;		/* without the CPU's instruction */
};

/* Scattered, and never the page itself. */
static u8 *other(u64 i)
{
	return memory + (i * 40503 + 7777) % PAGES * PAGE;
}

static void copy(const struct job *job, u8 *page, u64 i)
{
	(void)job;
	memcpy(page, other(i), PAGE);
}

static void copy_hot(const struct job *job, u8 *page, u64 i)
{
	(void)job;
	(void)i;
	memcpy(page, memory + COLD - PAGE, PAGE);
}

static void fill(const struct job *job, u8 *page, u64 i)
{
	content_fill(page, &job->content, 1, i << 3, 0, PAGE);
}

static void file(const struct job *job, u8 *page, u64 i)
{
	struct file_place place = { .kind = job->file, .size = 1ULL << 40, .seed = 1 };

	file_fill(page, &place, (i + 100) * PAGE, PAGE);
}

static void file_end(const struct job *job, u8 *page, u64 i)
{
	struct file_place place = { .kind = job->file, .size = (1ULL << 40) + i, .seed = 1 };

	file_fill(page, &place, place.size - PAGE, PAGE);
}

static void crc(const struct job *job, u8 *page, u64 i)
{
	(void)job;
	(void)i;
	sink += crc_of(CRC_32C, page, PAGE);
}

static void forged(const struct job *job, u8 *page, u64 i)
{
	(void)job;
	crcforge_block(&forge, page, i);
}

static void fill_and_forge(const struct job *job, u8 *page, u64 i)
{
	fill(job, page, i);
	forged(job, page, i);
}

static const struct job jobs[] = {
	{ .name = "copy", .run = copy },
	{ .name = "zeros", .run = fill, .content = { .kind = CONTENT_ZEROS } },
	{ .name = "incompressible", .run = fill, .content = { .kind = CONTENT_INCOMPRESSIBLE } },
	{ .name = "compressible:300", .run = fill,
	  .content = { .kind = CONTENT_COMPRESSIBLE, .ratio = 300 } },
	{ .name = "text", .run = fill, .content = { .kind = CONTENT_TEXT } },
	{ .name = "pattern", .run = fill,
	  .content = { .kind = CONTENT_PATTERN, .word = "david" } },
	{ .name = "stamp", .run = fill, .content = { .kind = CONTENT_STAMP } },
	{ .name = "file:text", .run = file, .file = FILE_TEXT },
	{ .name = "file:html", .run = file, .file = FILE_HTML },
	{ .name = "file:json", .run = file, .file = FILE_JSON },
	{ .name = "file:pdf", .run = file, .file = FILE_PDF },
	{ .name = "file:gzip", .run = file, .file = FILE_GZIP },
	{ .name = "file:jpeg", .run = file, .file = FILE_JPEG },
	{ .name = "end:pdf", .run = file_end, .file = FILE_PDF },
	{ .name = "end:gzip", .run = file_end, .file = FILE_GZIP },
	{ .name = "fill+forge", .run = fill_and_forge,
	  .content = { .kind = CONTENT_INCOMPRESSIBLE } },
	{ .name = "crc32c", .run = crc, .on_bytes = true },
	{ .name = "forge", .run = forged, .on_bytes = true },
	{ .name = "crc32c-table", .run = crc, .on_bytes = true, .by_table = true },
	{ .name = "forge-table", .run = forged, .on_bytes = true, .by_table = true },
	{ .name = "copy-hot", .run = copy_hot, .on_bytes = true },
};

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Nanoseconds a call, the least of ROUNDS: others use the machine, too. */
static double measure(const struct job *job, bool hot)
{
	double best = 0;
	u64 i, k;

	crc_use_cpu(!job->by_table);
	for (k = 0; k < ROUNDS; k++) {
		u64 begin = now(), took;

		for (i = k * CALLS; i < (k + 1) * CALLS; i++)
			job->run(job, hot ? memory : memory + i * 28657 % PAGES * PAGE, i);
		took = now() - begin;
		if (!k || (double)took / CALLS < best)
			best = (double)took / CALLS;
	}
	return best;
}

static double of(const double *ns, const char *name)
{
	unsigned int i;

	for (i = 0; strcmp(jobs[i].name, name); i++)
		;
	return ns[i];
}

static int times(void)
{
	double cold[ARRAY_SIZE(jobs)], hot[ARRAY_SIZE(jobs)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		cold[i] = jobs[i].on_bytes ? 0 : measure(&jobs[i], false);
		hot[i] = measure(&jobs[i], true);
	}
	printf("ns for 4 KiB          cold   /copy     hot\n");
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		printf("%-18s", jobs[i].name);
		if (cold[i])
			printf("%8.0f%8.2f", cold[i], cold[i] / cold[0]);
		else
			printf("%16s", "");
		printf("%8.0f\n", hot[i]);
	}
	printf("forge / crc32c: by the CPU %.2f, by table %.2f\n",
	       of(hot, "forge") / of(hot, "crc32c"),
	       of(hot, "forge-table") / of(hot, "crc32c-table"));
	return 0;
}

int main(int argc, char **argv)
{
	u64 i, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
	unsigned int k;

	memory = malloc(COLD);
	if (!memory || argc < 2) {
		fprintf(stderr, "usage: content-bench time|NAME [COUNT]\n");
		return 2;
	}
	memset(memory, 1, COLD);
	crc_setup();
	crcforge_init(&forge, PAGE, PAGE - 4);
	if (!strcmp(argv[1], "time"))
		return times() | !sink;
	for (k = 0; k < ARRAY_SIZE(jobs); k++) {
		if (strcmp(argv[1], jobs[k].name))
			continue;
		crc_use_cpu(!jobs[k].by_table);
		for (i = 0; i < n; i++)
			jobs[k].run(&jobs[k], memory + i % 64 * PAGE, i);
		return 0;
	}
	fprintf(stderr, "content-bench: no job is called '%s'\n", argv[1]);
	return 2;
}
