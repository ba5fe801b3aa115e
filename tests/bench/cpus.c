// SPDX-License-Identifier: GPL-2.0
/*
 * How many requests a second one or several CPUs get from a block device.
 *
 *	cpus PROCESSES read|write DEVICE MILLISECONDS DEPTH SPAN
 *		Each process has a CPU of its own, and SPAN blocks of 4 KiB of its own, a power of
 *		two, which it visits at random with direct requests, for MILLISECONDS and until it
 *		has visited each: DEPTH of them under way, an eighth as many or more in a system
 *		call. Prints requests a second, of all together.
 *		Processes and not threads, and few system calls: what either costs in an emulated
 *		kernel is not the device's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/aio_abi.h>

#define BLOCK		4096
#define MAX_DEPTH	256u

static const char *device;

static noreturn void fail(const char *what)
{
	fprintf(stderr, "cpus: %s: %s: %s\n", device, what, strerror(errno));
	_exit(1);
}

/* Seen by all. */
struct shared {
	atomic_int ready, go, stop;
	struct {
		atomic_long done;
		long apart[15];		/* no cache line is two CPUs' */
	} worker[64];
};

struct worker {
	int fd, writing;
	unsigned int id;
	__u64 span, at;
	__u8 *buf;
	aio_context_t ctx;
	struct iocb cb[MAX_DEPTH];
};

static void prepare(struct worker *w, struct iocb *cb)
{
	*cb = (struct iocb){
		.aio_lio_opcode = w->writing ? IOCB_CMD_PWRITE : IOCB_CMD_PREAD,
		.aio_fildes = w->fd,
		.aio_buf = (uintptr_t)w->buf,
		.aio_nbytes = BLOCK,
		.aio_offset = (w->id * w->span + w->at) * BLOCK,
		.aio_data = (uintptr_t)cb,
	};
	w->at = (w->at * 1103515245 + 12345) & (w->span - 1);
}

static void at_depth(struct worker *w, unsigned int depth, atomic_long *done, atomic_int *stop)
{
	struct iocb *batch[MAX_DEPTH];
	struct io_event event[MAX_DEPTH];
	long n = 0, i;

	for (; n < depth; n++)
		batch[n] = &w->cb[n];
	while (!*stop || *done < (long)w->span) {
		for (i = 0; i < n; i++)
			prepare(w, batch[i]);
		if (syscall(SYS_io_submit, w->ctx, n, batch) != n)
			fail("submit");
		n = syscall(SYS_io_getevents, w->ctx, (depth + 7L) / 8, (long)depth, event, NULL);
		if (n <= 0)
			fail("events");
		for (i = 0; i < n; i++) {
			if (event[i].res != BLOCK) {
				errno = event[i].res < 0 ? -event[i].res : EIO;
				fail("a request");
			}
			batch[i] = (struct iocb *)(uintptr_t)event[i].data;
		}
		*done += n;
	}
}

static noreturn void work(struct worker *w, unsigned int depth, struct shared *shared)
{
	atomic_long *done = &shared->worker[w->id].done;
	__u64 word = 1 + 2 * w->id;
	cpu_set_t own;
	int i;

	CPU_ZERO(&own);
	CPU_SET(w->id, &own);
	if (sched_setaffinity(0, sizeof(own), &own))
		fail("affinity");
	w->fd = open(device, O_RDWR | O_DIRECT);
	if (w->fd < 0)
		fail("open");
	w->buf = aligned_alloc(BLOCK, BLOCK);
	if (!w->buf)
		fail("memory");
	/* No block may be constant: those are stored without their content. */
	for (i = 0; i < BLOCK / 8; i++)
		((__u64 *)w->buf)[i] = word *= 6364136223846793005;
	if (syscall(SYS_io_setup, depth, &w->ctx))
		fail("setup");
	shared->ready++;
	while (!shared->go)
		sched_yield();
	at_depth(w, depth, done, &shared->stop);
	_exit(0);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1000000000.0;
}

int main(int argc, char **argv)
{
	static struct worker w;
	unsigned int processes, depth, i;
	struct shared *shared;
	int status, bad = 0;
	long ms, sum = 0;
	double begin, end;

	if (argc != 7) {
		fprintf(stderr,
			"usage: cpus PROCESSES read|write DEVICE MILLISECONDS DEPTH SPAN\n");
		return 2;
	}
	processes = strtoul(argv[1], NULL, 10);
	w.writing = !strcmp(argv[2], "write");
	device = argv[3];
	ms = strtol(argv[4], NULL, 10);
	depth = strtoul(argv[5], NULL, 10);
	w.span = strtoull(argv[6], NULL, 10);
	if (!processes || processes > 64 || ms < 1 || !depth || depth > MAX_DEPTH || !w.span ||
	    w.span & (w.span - 1)) {
		fprintf(stderr, "cpus: what is asked is out of range\n");
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		fail("memory");
	for (w.id = 0; w.id < processes; w.id++)
		if (!fork())
			work(&w, depth, shared);
	while (shared->ready < (int)processes) {
		usleep(1000);
		if (waitpid(-1, &status, WNOHANG) > 0)
			return 1;
	}
	begin = now();
	shared->go = 1;
	usleep(ms * 1000);
	for (i = 0; i < processes; i++)
		while (shared->worker[i].done < (long)w.span &&
		       waitpid(-1, &status, WNOHANG) <= 0)
			usleep(1000);
	for (i = 0; i < processes; i++)
		sum += shared->worker[i].done;
	end = now();
	shared->stop = 1;
	while (wait(&status) > 0)
		bad |= status;
	if (bad)
		return 1;
	printf("%.0f\n", sum / (end - begin));
	return 0;
}
