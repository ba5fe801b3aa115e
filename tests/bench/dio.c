// SPDX-License-Identifier: GPL-2.0
/*
 * Direct I/O on a block device, and what it costs. Statically linked, it runs
 * in a lab where one instruction takes one nanosecond of virtual time: the
 * figure that it prints is then instructions per operation.
 *
 *	dio read|write seq|other|random DEVICE OPS START SPAN
 *		OPS requests of one 4 KiB block each, within SPAN blocks from
 *		block START on: one after the other, every other one, or at
 *		random. Random visits each block once before it visits one
 *		again, and needs a SPAN that is a power of two. Prints
 *		nanoseconds per request: the mean of the middle half of batches of them,
 *		so that a timer tick does not count.
 *	dio ranges DEVICE COUNT START
 *		Write COUNT blocks that each need a range of their own: each is one
 *		repeated word, never its neighbour's. Large requests, not timed.
 *	dio fill DEVICE
 *		Write all of the device once, so that it has allocated its memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

#define BLOCK		4096
#define LARGE_BLOCKS	256
#define BATCH		40	/* requests */

enum pattern { SEQ, OTHER, RANDOM, PATTERNS };

static const char *device;

static noreturn void fail(const char *what)
{
	fprintf(stderr, "dio: %s: %s: %s\n", device, what, strerror(errno));
	exit(1);
}

static noreturn void bad_usage(void)
{
	fprintf(stderr, "usage: dio read|write seq|other|random DEVICE OPS START SPAN\n"
		"       dio ranges DEVICE COUNT START\n"
		"       dio fill DEVICE\n");
	exit(2);
}

static __u64 parse_number(const char *text)
{
	char *end;
	__u64 n = strtoull(text, &end, 10);

	if (end == text || *end) {
		fprintf(stderr, "dio: %s: not a number\n", text);
		bad_usage();
	}
	return n;
}

static int open_device(int flags)
{
	int fd = open(device, flags | O_DIRECT);

	if (fd < 0)
		fail("open");
	return fd;
}

static __u64 *aligned(size_t size)
{
	void *p = aligned_alloc(BLOCK, size);

	if (!p)
		fail("memory");
	memset(p, 0, size);
	return p;
}

static void transfer(int fd, int writing, void *buf, size_t len, __u64 block)
{
	ssize_t done = writing ? pwrite(fd, buf, len, block * BLOCK) :
				 pread(fd, buf, len, block * BLOCK);

	if (done < 0)
		fail(writing ? "write" : "read");
	if (done != (ssize_t)len) {
		errno = EIO;
		fail("came back short");
	}
}

static __u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The mean of the middle half of @n times. */
static double middle_mean(__u64 *time, __u64 n)
{
	__u64 first = n / 4, last = n - 1 - n / 4, sum = 0, i;

	qsort(time, n, sizeof(*time), compare);
	for (i = first; i <= last; i++)
		sum += time[i];
	return (double)sum / (last - first + 1);
}

static int measure(int writing, enum pattern pattern, __u64 ops, __u64 start, __u64 span)
{
	int fd = open_device(writing ? O_WRONLY : O_RDONLY);
	__u64 *buf = aligned(BLOCK), *time, at = 0, i, begin, word = 1;

	if (ops < BATCH || !span || (pattern == RANDOM && span & (span - 1)))
		bad_usage();
	time = calloc(ops / BATCH, sizeof(*time));
	if (!time)
		fail("memory");
	/* No block may be constant: those are stored without their content. */
	for (i = 0; i < BLOCK / 8; i++) {
		word *= 6364136223846793005;
		buf[i] = word;
	}

	transfer(fd, writing, buf, BLOCK, start);
	begin = now();
	for (i = 0; i < ops; i++) {
		transfer(fd, writing, buf, BLOCK, start + at);
		at = pattern == RANDOM ? (at * 1103515245 + 12345) & (span - 1) :
		     (pattern == OTHER ? 2 : 1) * (i + 1) % span;
		if (i % BATCH == BATCH - 1) {
			__u64 end = now();

			time[i / BATCH] = end - begin;
			begin = end;
		}
	}
	printf("%.1f\n", middle_mean(time, ops / BATCH) / BATCH);
	free(time);
	close(fd);
	return 0;
}

static int ranges(__u64 count, __u64 start)
{
	int fd = open_device(O_WRONLY);
	__u64 *buf = aligned(LARGE_BLOCKS * BLOCK), i, n;

	for (i = 0; i < LARGE_BLOCKS * BLOCK / 8; i++)
		buf[i] = 1 + i / (BLOCK / 8) % 2;
	for (; count; count -= n, start += n) {
		n = count < LARGE_BLOCKS ? count : LARGE_BLOCKS;
		transfer(fd, 1, buf, n * BLOCK, start);
	}
	close(fd);
	return 0;
}

static int fill(void)
{
	int fd = open_device(O_WRONLY);
	__u64 *buf = aligned(LARGE_BLOCKS * BLOCK), size, at, n;

	if (ioctl(fd, BLKGETSIZE64, &size))
		fail("size");
	for (at = 0; at < size / BLOCK; at += n) {
		n = size / BLOCK - at < LARGE_BLOCKS ? size / BLOCK - at : LARGE_BLOCKS;
		transfer(fd, 1, buf, n * BLOCK, at);
	}
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7) {
		static const char * const patterns[] = { "seq", "other", "random" };
		int writing = !strcmp(argv[1], "write");
		enum pattern pattern = SEQ;

		while (pattern < PATTERNS && strcmp(argv[2], patterns[pattern]))
			pattern++;
		if ((!writing && strcmp(argv[1], "read")) || pattern == PATTERNS)
			bad_usage();
		device = argv[3];
		return measure(writing, pattern, parse_number(argv[4]), parse_number(argv[5]),
			       parse_number(argv[6]));
	}
	if (argc == 5 && !strcmp(argv[1], "ranges")) {
		device = argv[2];
		return ranges(parse_number(argv[3]), parse_number(argv[4]));
	}
	if (argc == 3 && !strcmp(argv[1], "fill")) {
		device = argv[2];
		return fill();
	}
	bad_usage();
}
