// SPDX-License-Identifier: GPL-2.0
/*
 * A program that works by Linux AIO: in the directory of its first argument it writes, syncs and
 * reads two files, several operations a call. Without a library. Status 77: the kernel has no AIO.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "need.h"

#define BLOCK 4096

static aio_context_t context;
static struct iocb iocbs[8];
static int queued;
static char *buffer;

static void add(int opcode, int fd, const void *at, unsigned long long bytes, long long offset)
{
	iocbs[queued++] = (struct iocb){
		.aio_lio_opcode = opcode,
		.aio_fildes = fd,
		.aio_buf = (unsigned long)at,
		.aio_nbytes = bytes,
		.aio_offset = offset,
		.aio_data = 77,
	};
}

/* All that is queued; how many the kernel takes. They are awaited, two at a time at least. */
static int submit(long long *sum)
{
	struct iocb *all[8];
	struct io_event events[8];
	int i, taken, left;

	for (i = 0; i < queued; i++)
		all[i] = &iocbs[i];
	taken = syscall(SYS_io_submit, context, queued, all);
	queued = 0;
	*sum = 0;
	for (left = taken; left > 0; left -= i) {
		int n, least = left < 2 ? left : 2;

		i = syscall(SYS_io_getevents, context, least, left, events, NULL);
		need(i >= least, "io_getevents");
		for (n = 0; n < i; n++)
			*sum += events[n].res;
	}
	return taken;
}

int main(int argc, char **argv)
{
	struct iovec parts[2];
	long long sum;
	int a, b;

	if (argc != 2 || chdir(argv[1]))
		return 2;
	if (syscall(SYS_io_setup, 8, &context))
		return 77;
	buffer = aligned_alloc(BLOCK, 8 * BLOCK);
	memset(buffer, 9, 8 * BLOCK);
	parts[0] = (struct iovec){ buffer, BLOCK };
	parts[1] = (struct iovec){ buffer + BLOCK, 2 * BLOCK };
	a = open("a", O_RDWR | O_CREAT | O_EXCL, 0644);
	b = open("b", O_RDWR | O_CREAT | O_EXCL, 0644);
	need(a >= 0 && b >= 0, "open");
	add(IOCB_CMD_PWRITE, a, buffer, 1000, 0);
	add(IOCB_CMD_PWRITE, a, buffer, BLOCK, BLOCK);
	add(IOCB_CMD_PWRITE, b, buffer, BLOCK, 3 * BLOCK);
	add(IOCB_CMD_PWRITEV, b, parts, 2, 0);
	need(submit(&sum) == 4 && sum == 1000 + 5 * BLOCK, "writes");
	add(IOCB_CMD_FDSYNC, a, NULL, 0, 0);
	add(IOCB_CMD_FSYNC, b, NULL, 0, 0);
	need(submit(&sum) == 2 && !sum, "syncs");
	add(IOCB_CMD_PREAD, a, buffer, 2 * BLOCK, BLOCK);
	add(IOCB_CMD_PREADV, b, parts, 2, BLOCK);
	add(IOCB_CMD_PREAD, 99, buffer, BLOCK, 0); /* no such descriptor: it is not taken */
	need(submit(&sum) == 2 && sum == BLOCK + 3 * BLOCK, "reads");
	need(!syscall(SYS_io_destroy, context), "io_destroy");
	close(a);
	need(!unlink("a") && !close(b), "unlink");
	return 0;
}
