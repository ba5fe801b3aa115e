// SPDX-License-Identifier: GPL-2.0
/*
 * What a traced call costs, in microseconds a call:
 *
 *  - a cached pread;
 *  - a call that no tracer of files wants;
 *  - the calls to files of the day that the tracing package for 4.2BSD saw (its Table 2), with the
 *    sizes of its Table 3: time, then CPU time of the program;
 *  - these and the day's processes, forks and execs: CPU time, and how much of it is the system's.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../system/helpers/need.h"

static char block[8192];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static double us(const struct timeval *t)
{
	return t->tv_sec * 1e6 + t->tv_usec;
}

/* CPU time of the program and of the processes that it has made. */
static double cpu(double *system)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	*system = us(&own.ru_stime) + us(&children.ru_stime);
	return *system + us(&own.ru_utime) + us(&children.ru_utime);
}

/* A thousandth of the day. Sizes are those of 83 % of its writes and 78 % of its reads. */
enum { CREATES = 7, OPENS = 88, READS = 221, WRITES = 82, FORKS = 8, VFORKS = 7, EXECS = 12 };

static const int read_sizes[] = { 40, 512, 1024, 512, 6144, 40, 1024, 4096, 512, 1024, 8192 };
static const int write_sizes[] = { 40, 1024, 6144, 6144, 1024, 40, 6144, 1024, 4096 };

static void read_some(int fd, int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		int size = read_sizes[i % 11];

		need(read(fd, block, size) == size, "read");
	}
}

static void write_some(int fd, int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		int size = write_sizes[i % 9];

		need(write(fd, block, size) == size, "write");
	}
}

/* Half of what is written goes to new files. */
static int files(void)
{
	int i, fd;

	for (i = 0; i < CREATES; i++) {
		fd = open("made", O_CREAT | O_WRONLY, 0600);
		write_some(fd, i * WRITES / 2 / CREATES, (i + 1) * WRITES / 2 / CREATES);
		close(fd);
		unlink("made");
	}
	for (i = 0; i < OPENS; i++) {
		fd = open("f", O_RDWR);
		read_some(fd, i * READS / OPENS, (i + 1) * READS / OPENS);
		write_some(fd, i * WRITES / 2 / OPENS, (i + 1) * WRITES / 2 / OPENS);
		close(fd);
	}
	return 3 * CREATES + 2 * OPENS + READS + WRITES;
}

static int processes(void)
{
	char *const again[] = { "trace-cost", NULL };
	int i;

	for (i = 0; i < FORKS + VFORKS; i++) {
		pid_t pid = i % 2 ? vfork() : fork();

		if (!pid) {
			if (i < EXECS)
				execv("/proc/self/exe", again);
			_exit(0);
		}
		need(waitpid(pid, NULL, 0) == pid, "wait");
	}
	return 2 * (FORKS + VFORKS) + EXECS;
}

int main(int argc, char **argv)
{
	int i, fd, calls = 0, n = argc > 2 ? atoi(argv[2]) : 0;
	double start, used, system, before;

	if (argc == 1)
		return 0;
	need(n > 0 && !chdir(argv[1]), "trace-cost DIRECTORY CALLS");
	fd = open("f", O_CREAT | O_RDWR | O_TRUNC, 0600);
	for (i = 0; i < 16; i++)
		need(write(fd, block, 4096) == 4096, "write");
	start = now();
	for (i = 0; i < n; i++)
		need(pread(fd, block, 4096, i % 16 * 4096) > 0, "pread");
	printf("%.3f ", (now() - start) / n);
	start = now();
	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	printf("%.3f ", (now() - start) / n);
	start = now();
	used = cpu(&before);
	while (calls < n)
		calls += files();
	printf("%.3f %.3f ", (now() - start) / calls, (cpu(&system) - used) / calls);
	used = cpu(&before);
	for (i = 0, calls = 0; i < n / 500; i++)
		calls += files() + processes();
	used = cpu(&system) - used;
	printf("%.3f %.3f\n", used / calls, (system - before) / used);
	return 0;
}
