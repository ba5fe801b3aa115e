// SPDX-License-Identifier: GPL-2.0
/*
 * The workloads of the study of replay by metrology: threads that read or write blocks of 4 KiB of
 * a file each, anywhere or in order; and a file server, whose threads create, append to, read, look
 * at and delete whole files. Its own clock tells how long a call took: the reference that a replay
 * is held against.
 *
 *   replay-micro make DIR THREADS BYTES
 *   replay-micro rr|rw|sr|sw DIR THREADS CALLS		prints calls, mean ns
 *   replay-micro files DIR THREADS 0			makes the server's files
 *   replay-micro fs DIR THREADS ROUNDS			prints reads, mean ns, writes, mean ns
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../tools/common/clock.h"

#define BLOCK 4096
#define THREADS_MAX 64
#define WHOLE 0x20000 /* bytes of a file of the server, written and read at once */
#define APPEND 0x4000
#define FILES 50 /* of the server, for each thread */

struct worker {
	pthread_t thread;
	const char *dir;
	const char *what;
	unsigned int number;
	unsigned int calls;
	u64 ns; /* of these; of the server's reads */
	unsigned int writes; /* the server's */
	u64 write_ns;
};

static int open_file(const char *dir, unsigned int number, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/file%u", dir, number);
	fd = open(path, flags, 0644);
	if (fd < 0) {
		perror(path);
		exit(1);
	}
	return fd;
}

static u64 draw(u64 *random)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return *random >> 33;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	int write = w->what[1] == 'w', anywhere = w->what[0] == 'r';
	int fd = open_file(w->dir, w->number, O_RDWR | (write ? O_DSYNC : 0));
	u64 random = w->number + 1, blocks, start;
	unsigned int i;
	struct stat st;
	ssize_t n;
	void *buffer = aligned_alloc(BLOCK, BLOCK);

	memset(buffer, 7, BLOCK);
	fstat(fd, &st);
	blocks = st.st_size / BLOCK;
	for (i = 0; i < w->calls; i++) {
		start = anywhere ? draw(&random) % blocks : i % blocks;
		start *= BLOCK;
		w->ns -= clock_look();
		n = write ? pwrite(fd, buffer, BLOCK, start) : pread(fd, buffer, BLOCK, start);
		w->ns += clock_look();
		if (n != BLOCK)
			exit(1);
	}
	close(fd);
	free(buffer);
	return NULL;
}

static void server_write(struct worker *w, const char *path, int flags, unsigned int bytes)
{
	static char buffer[WHOLE];
	int fd = open(path, O_WRONLY | flags, 0644);

	w->write_ns -= clock_look();
	if (fd < 0 || write(fd, buffer, bytes) != bytes)
		exit(1);
	w->write_ns += clock_look();
	w->writes++;
	close(fd);
}

static void server_read(struct worker *w, const char *path, void *buffer)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = 1;

	if (fd < 0)
		exit(1);
	while (n > 0) {
		w->ns -= clock_look();
		n = read(fd, buffer, WHOLE);
		w->ns += clock_look();
		w->calls++;
	}
	close(fd);
}

/* A file is replaced, one is read and appended to, a third is looked at. */
static void *serve(void *arg)
{
	struct worker *w = arg;
	u64 random = w->number + 1;
	unsigned int rounds = w->calls, i;
	void *buffer = malloc(WHOLE);
	char path[3][4096];
	struct stat st;

	w->calls = 0;
	while (rounds--) {
		for (i = 0; i < 3; i++)
			snprintf(path[i], sizeof(path[i]), "%s/%u-%lu", w->dir, w->number,
				 draw(&random) % FILES);
		if (unlink(path[0]))
			exit(1);
		server_write(w, path[0], O_CREAT | O_EXCL, WHOLE);
		server_write(w, path[1], O_APPEND, APPEND);
		server_read(w, path[1], buffer);
		if (stat(path[2], &st))
			exit(1);
	}
	free(buffer);
	return NULL;
}

static void make_server(const char *dir, unsigned int threads)
{
	struct worker w = {};
	char path[4096];
	unsigned int i;

	for (i = 0; i < threads * FILES; i++) {
		snprintf(path, sizeof(path), "%s/%u-%u", dir, i / FILES, i % FILES);
		server_write(&w, path, O_CREAT | O_EXCL, WHOLE);
	}
}

static void make_files(const char *dir, unsigned int files, u64 bytes)
{
	char buffer[65536];
	unsigned int i;

	memset(buffer, 5, sizeof(buffer));
	for (i = 0; i < files; i++) {
		int fd = open_file(dir, i, O_WRONLY | O_CREAT);
		u64 left = bytes;

		while (left > 0) {
			ssize_t n =
				write(fd, buffer, left < sizeof(buffer) ? left : sizeof(buffer));

			if (n <= 0)
				exit(1);
			left -= n;
		}
		/* Else writeback lays several files in turns, or not: two times of one program. */
		fdatasync(fd);
		close(fd);
	}
}

static void report(const struct worker *worker, unsigned int threads, int server)
{
	struct worker all = {};
	unsigned int i;

	for (i = 0; i < threads; i++) {
		all.calls += worker[i].calls;
		all.ns += worker[i].ns;
		all.writes += worker[i].writes;
		all.write_ns += worker[i].write_ns;
	}
	printf("%u %.1f", all.calls, (double)all.ns / all.calls);
	if (server)
		printf(" %u %.1f", all.writes, (double)all.write_ns / all.writes);
	putchar('\n');
}

int main(int argc, char **argv)
{
	struct worker worker[THREADS_MAX] = {};
	unsigned int threads, i;
	int server;

	if (argc != 5)
		return 2;
	threads = atoi(argv[3]);
	if (!threads || threads > THREADS_MAX)
		return 2;
	if (!strcmp(argv[1], "make")) {
		make_files(argv[2], threads, strtoull(argv[4], NULL, 10));
		return 0;
	}
	if (!strcmp(argv[1], "files")) {
		make_server(argv[2], threads);
		return 0;
	}
	clock_start();
	server = !strcmp(argv[1], "fs");
	for (i = 0; i < threads; i++) {
		worker[i] = (struct worker){ .dir = argv[2],
					     .what = argv[1],
					     .number = i,
					     .calls = atoi(argv[4]) / threads };
		pthread_create(&worker[i].thread, NULL, server ? serve : work, &worker[i]);
	}
	for (i = 0; i < threads; i++)
		pthread_join(worker[i].thread, NULL);
	report(worker, threads, server);
	return 0;
}
