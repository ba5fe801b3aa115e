// SPDX-License-Identifier: GPL-2.0
/*
 * How late does a fake disk deliver? Random requests of 4 KiB, so many at a time, past the page
 * cache; the disk's trace point tells the lateness of each. Statically linked, for a lab where one
 * instruction takes one nanosecond.
 *
 *	late read|write DEVICE REQUESTS DEPTH AT-ONCE TRACING
 *
 * DEPTH requests are under way. Those that have ended are sent again, AT-ONCE to a system call.
 * TRACING is where tracefs is mounted. Prints requests a second, and of the lateness in ns:
 * median, nine of ten, 99 and 99.9 of a hundred, and the largest.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/aio_abi.h>

#define BLOCK		4096
#define SPAN		1048576		/* blocks */
#define MOST		256
#define LINE		1000

typedef unsigned long long u64;

static noreturn void fail(const char *what)
{
	fprintf(stderr, "late: %s: %s\n", what, strerror(errno));
	exit(1);
}

static u64 now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static u64 next_random(void)
{
	static u64 state = 1;

	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return state >> 33;
}

static void put(const char *tracing, const char *name, const char *value)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tracing, name);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail(path);
	close(fd);
}

static struct iocb *prepare(int fd, int writing, u64 depth)
{
	struct iocb *iocbs = calloc(depth, sizeof(*iocbs));
	u64 i, n, *buffer;

	for (i = 0; i < depth; i++) {
		buffer = aligned_alloc(BLOCK, BLOCK);
		if (!iocbs || !buffer)
			fail("memory");
		/* No block may be constant: those are not squashed. */
		for (n = 0; n < BLOCK / sizeof(*buffer); n++)
			buffer[n] = next_random();
		iocbs[i].aio_fildes = fd;
		iocbs[i].aio_nbytes = BLOCK;
		iocbs[i].aio_lio_opcode = writing ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD;
		iocbs[i].aio_buf = (u64)buffer;
	}
	return iocbs;
}

static void send(aio_context_t ctx, struct iocb **list, u64 nr, u64 at_once)
{
	u64 i, sent = 0;
	long r;

	while (sent < nr) {
		u64 some = nr - sent < at_once ? nr - sent : at_once;

		for (i = 0; i < some; i++)
			list[sent + i]->aio_offset = next_random() % SPAN * BLOCK;
		r = syscall(SYS_io_submit, ctx, some, list + sent);
		if (r <= 0)
			fail("io_submit");
		sent += r;
	}
}

/* Returns how many of @list have ended; they are its first now. */
static u64 collect(aio_context_t ctx, struct iocb **list, u64 depth)
{
	static struct io_event events[MOST];
	long i, r = syscall(SYS_io_getevents, ctx, 1, depth, events, NULL);

	if (r <= 0)
		fail("io_getevents");
	for (i = 0; i < r; i++) {
		if (events[i].res != BLOCK) {
			errno = EIO;
			fail("a request");
		}
		list[i] = (struct iocb *)events[i].obj;
	}
	return r;
}

/* Returns requests a second. */
static double run(struct iocb *iocbs, u64 requests, u64 depth, u64 at_once)
{
	struct iocb *list[MOST];
	aio_context_t ctx = 0;
	u64 i, done = 0, nr = depth, begin;

	if (syscall(SYS_io_setup, MOST, &ctx))
		fail("io_setup");
	for (i = 0; i < depth; i++)
		list[i] = &iocbs[i];
	begin = now();
	while (done < requests) {
		send(ctx, list, nr, at_once);
		nr = collect(ctx, list, depth);
		done += nr;
	}
	begin = now() - begin;
	syscall(SYS_io_destroy, ctx);
	return done * 1e9 / begin;
}

static int compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void report(const char *tracing, u64 requests, double rate)
{
	u64 *late = calloc(requests + MOST, sizeof(*late)), nr = 0;
	char line[LINE], *at;
	FILE *trace;

	snprintf(line, sizeof(line), "%s/trace", tracing);
	trace = fopen(line, "r");
	if (!late || !trace)
		fail(line);
	while (fgets(line, sizeof(line), trace)) {
		at = strstr(line, " lateness=");
		if (at && nr < requests + MOST)
			late[nr++] = strtoull(at + strlen(" lateness="), NULL, 10);
	}
	fclose(trace);
	if (nr < requests) {
		fprintf(stderr, "late: %llu of %llu requests were traced\n", nr, requests);
		exit(1);
	}
	qsort(late, nr, sizeof(*late), compare);
	printf("%.0f %llu %llu %llu %llu %llu\n", rate, late[nr / 2], late[nr * 9 / 10],
	       late[nr * 99 / 100], late[nr * 999 / 1000], late[nr - 1]);
}

int main(int argc, char **argv)
{
	u64 requests, depth, at_once;
	int fd, writing;
	double rate;

	if (argc != 7) {
		fprintf(stderr, "usage: late read|write DEVICE REQUESTS DEPTH AT-ONCE TRACING\n");
		return 2;
	}
	writing = !strcmp(argv[1], "write");
	requests = strtoull(argv[3], NULL, 10);
	depth = strtoull(argv[4], NULL, 10);
	at_once = strtoull(argv[5], NULL, 10);
	fd = open(argv[2], O_RDWR | O_DIRECT);
	if (fd < 0)
		fail(argv[2]);
	if (!requests || !depth || depth > MOST || !at_once) {
		errno = EINVAL;
		fail("a number");
	}
	put(argv[6], "buffer_size_kb", "20000");
	put(argv[6], "trace", "");
	put(argv[6], "events/david/david_complete/enable", "1");
	rate = run(prepare(fd, writing, depth), requests, depth, at_once);
	put(argv[6], "events/david/david_complete/enable", "0");
	report(argv[6], requests, rate);
	return 0;
}
