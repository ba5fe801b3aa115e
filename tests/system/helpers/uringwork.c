// SPDX-License-Identifier: GPL-2.0
/*
 * A program that works by io_uring alone: in the directory of its first argument it makes,
 * writes, reads, renames and removes files, several operations a call. Without a library. With
 * "poll" a thread of the kernel takes one operation from the ring, that does nothing; with "polled"
 * it takes them all. Status 77: the kernel has no io_uring, or not these operations.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "need.h"

#define ENTRIES 8

static struct ring {
	int fd;
	struct io_uring_params params;
	char *rings;
	struct io_uring_sqe *sqes;
	unsigned int queued;
	unsigned int enter_flags;
	unsigned long long serial;
	int result[256]; /* by user_data */
} ring;

static unsigned int *word(unsigned int offset)
{
	return (unsigned int *)(ring.rings + offset);
}

static void set_up(unsigned int flags)
{
	size_t size;

	ring.params.flags = flags;
	ring.fd = syscall(SYS_io_uring_setup, ENTRIES, &ring.params);
	if (ring.fd < 0 || !(ring.params.features & IORING_FEAT_SINGLE_MMAP))
		exit(77);
	size = ring.params.cq_off.cqes + ring.params.cq_entries * sizeof(struct io_uring_cqe);
	ring.rings = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring.fd,
			  IORING_OFF_SQ_RING);
	ring.sqes = mmap(NULL, ENTRIES * sizeof(*ring.sqes), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, ring.fd, IORING_OFF_SQES);
	need(ring.rings != MAP_FAILED && (void *)ring.sqes != MAP_FAILED, "mmap");
}

static void submit(unsigned int wait)
{
	struct io_uring_cqe *cqes = (struct io_uring_cqe *)(ring.rings + ring.params.cq_off.cqes);
	unsigned int head = *word(ring.params.cq_off.head);

	need(syscall(SYS_io_uring_enter, ring.fd, ring.queued, wait,
		     IORING_ENTER_GETEVENTS | ring.enter_flags, NULL, 0) == ring.queued,
	     "io_uring_enter");
	ring.queued = 0;
	for (; head != __atomic_load_n(word(ring.params.cq_off.tail), __ATOMIC_ACQUIRE); head++) {
		struct io_uring_cqe *cqe = &cqes[head & *word(ring.params.cq_off.ring_mask)];

		ring.result[cqe->user_data] = cqe->res;
	}
	__atomic_store_n(word(ring.params.cq_off.head), head, __ATOMIC_RELEASE);
}

/* Queued, not submitted; its number. */
static int add(int opcode, int fd, const void *addr, unsigned int len, unsigned long long off,
	       unsigned int flags, int sqe_flags)
{
	unsigned int tail = *word(ring.params.sq_off.tail), at = tail & (ENTRIES - 1);
	struct io_uring_sqe *sqe = &ring.sqes[at];

	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = opcode;
	sqe->flags = sqe_flags;
	sqe->fd = fd;
	sqe->addr = (unsigned long)addr;
	sqe->len = len;
	sqe->off = off;
	sqe->rw_flags = flags;
	sqe->user_data = ++ring.serial;
	word(ring.params.sq_off.array)[at] = at;
	__atomic_store_n(word(ring.params.sq_off.tail), tail + 1, __ATOMIC_RELEASE);
	ring.queued++;
	return ring.serial;
}

static int one(int opcode, int fd, const void *addr, unsigned int len, unsigned long long off,
	       unsigned int flags)
{
	int number = add(opcode, fd, addr, len, off, flags, 0);

	submit(1);
	if (ring.result[number] == -EINVAL)
		exit(77);
	return ring.result[number];
}

static void work(void)
{
	static char block[4096];
	int i, a, b, files[2];

	need(!one(IORING_OP_MKDIRAT, AT_FDCWD, "d", 0755, 0, 0), "mkdir");
	a = one(IORING_OP_OPENAT, AT_FDCWD, "d/a", 0644, 0, O_CREAT | O_RDWR);
	b = one(IORING_OP_OPENAT, AT_FDCWD, "d/b", 0644, 0, O_CREAT | O_RDWR);
	need(a >= 0 && b >= 0, "open");
	/* In this order: what is not linked may be done by a thread of the kernel meanwhile. */
	for (i = 0; i < 3; i++)
		add(IORING_OP_WRITE, a, block, 1000 * (i + 1), 4096 * i, 0, IOSQE_IO_LINK);
	add(IORING_OP_WRITE, b, block, 100, -1, 0, 0);
	submit(4);
	files[0] = b;
	files[1] = a;
	need(!syscall(SYS_io_uring_register, ring.fd, IORING_REGISTER_FILES, files, 2),
	     "register");
	i = add(IORING_OP_READ, 1, block, 4096, 4096, 0, IOSQE_FIXED_FILE);
	submit(1);
	need(ring.result[i] == 4096, "read");
	need(one(IORING_OP_READ, 99, block, 1, 0, 0) == -EBADF, "read of 99");
	need(!one(IORING_OP_FSYNC, a, NULL, 0, 0, IORING_FSYNC_DATASYNC), "fsync");
	need(!one(IORING_OP_FALLOCATE, b, (void *)5000ul, 0, 0, 0), "fallocate");
	need(!one(IORING_OP_RENAMEAT, AT_FDCWD, "d/b", AT_FDCWD, (unsigned long)"d/c", 0),
	     "rename");
	need(!one(IORING_OP_LINKAT, AT_FDCWD, "d/c", AT_FDCWD, (unsigned long)"d/e", 0), "link");
	need(!one(IORING_OP_SYMLINKAT, AT_FDCWD, "c", 0, (unsigned long)"d/f", 0), "symlink");
	need(!one(IORING_OP_UNLINKAT, AT_FDCWD, "d/a", 0, 0, 0), "unlink");
	need(!one(IORING_OP_CLOSE, b, NULL, 0, 0, 0), "close");
	need(open("d/again", O_CREAT | O_WRONLY, 0644) == b, "open after close");
}

int main(int argc, char **argv)
{
	need(argc > 1 && !chdir(argv[1]), "uringwork DIRECTORY");
	set_up(argc > 2 ? IORING_SETUP_SQPOLL : 0);
	if (argc > 2)
		ring.enter_flags = IORING_ENTER_SQ_WAKEUP;
	if (argc > 2 && !strcmp(argv[2], "poll")) {
		add(IORING_OP_NOP, -1, NULL, 0, 0, 0, 0);
		submit(1);
		return 0;
	}
	work();
	return 0;
}
