// SPDX-License-Identifier: GPL-2.0
/*
 * Work whose time is to be known with and without a tracer; prints nanoseconds.
 *
 *   tracework reads FILE COUNT	random reads of 4 KiB, after one that is not timed
 *   tracework run COMMAND...	a command, from its start to its end
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "need.h"

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void reads(const char *name, int count)
{
	unsigned long long state = 1;
	int fd = open(name, O_RDONLY);
	long long start = 0;
	char block[4096];
	struct stat st;
	int i;

	need(fd >= 0 && !fstat(fd, &st), name);
	posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
	for (i = -1; i < count; i++) {
		off_t at;

		state = state * 6364136223846793005ull + 1442695040888963407ull;
		at = (state >> 33) % (st.st_size / 4096) * 4096;
		need(pread(fd, block, sizeof(block), at) == sizeof(block), "pread");
		if (i < 0)
			start = now();
	}
	printf("%lld\n", now() - start);
}

static void run(char **command)
{
	long long start = now();
	int status;
	pid_t pid = fork();

	if (!pid) {
		need(!!freopen("/dev/null", "w", stdout), "/dev/null");
		execvp(*command, command);
		need(0, *command);
	}
	need(waitpid(pid, &status, 0) == pid && !status, *command);
	printf("%lld\n", now() - start);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "reads"))
		reads(argv[2], atoi(argv[3]));
	else if (argc > 2 && !strcmp(argv[1], "run"))
		run(argv + 2);
	else
		need(0, "tracework reads FILE COUNT | run COMMAND");
	return 0;
}
