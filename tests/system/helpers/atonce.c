// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that begin to wait one after the other, and may go on all at once. Prints their numbers
 * in the order in which they did.
 *
 *   atonce block FILE THREADS	for the same block of a file
 *   atonce time FILE THREADS	for the same time; FILE is looked at then
 *   atonce open FILE THREADS	for what is needed to open FILE0, FILE1, ...
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "need.h"

#define THREADS_MAX 16
#define APART_NS 20000

static const char *file, *what;
static struct timespec until;
static int next, order[THREADS_MAX];

static struct timespec later(long long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += t.tv_nsec;
	return (struct timespec){ t.tv_sec + ns / 1000000000, ns % 1000000000 };
}

static void *work(void *arg)
{
	int number = (long)arg, fd, i;
	struct timespec start = later(APART_NS * (number + 1ll));
	char byte, name[4096];
	struct stat st;

	snprintf(name, sizeof(name), "%s%d", file, number);
	if (strcmp(what, "open"))
		fd = open(file, O_RDONLY);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &start, NULL);
	if (!strcmp(what, "open"))
		fd = open(name, O_RDONLY);
	else if (!strcmp(what, "block"))
		need(pread(fd, &byte, 1, 0) == 1, "pread");
	else
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	order[__atomic_fetch_add(&next, 1, __ATOMIC_SEQ_CST)] = number;
	for (i = 0; i < 3; i++)
		fstat(fd, &st);
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int count = argc == 4 ? atoi(argv[3]) : 0;
	long i;

	need(count > 0 && count <= THREADS_MAX, "atonce block|time FILE THREADS");
	what = argv[1];
	file = argv[2];
	until = later(50000000);
	for (i = 0; i < count; i++)
		need(!pthread_create(&thread[i], NULL, work, (void *)i), "pthread_create");
	for (i = 0; i < count; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < count; i++)
		printf("%d", order[i]);
	printf("\n");
	return 0;
}
