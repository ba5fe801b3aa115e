// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: it makes descriptors in all ways that there are, each so that exec closes
 * them and so that it does not, and runs itself. The second life closes each number once: so the
 * result of each close says what the kernel had there. What is not allowed here is left out.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <linux/perf_event.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

#define LAST 255
#define FSOPEN 430
#define OPEN_TREE 428
#define PIDFD_OPEN 434
#define PIDFD_GETFD 438
#define CLOSE_RANGE 436
#define LANDLOCK 444
#define MEMFD_SECRET 447
#define UNSHARE 2u
#define CLOEXEC 4u

/* A pointer with that bit set, or without it: nobody may take it for a flag. */
static void *pointer(bool bit)
{
	static char room[1 << 21];
	char *first = room + (O_CLOEXEC << 1) - (unsigned long)room % (O_CLOEXEC << 1);

	return first + (bit ? O_CLOEXEC : 0);
}

static void flagged(bool cloexec)
{
	int flag = cloexec ? O_CLOEXEC : 0;
	int *two = pointer(!cloexec);
	sigset_t none;

	sigemptyset(&none);
	open(".", O_RDONLY | O_DIRECTORY | flag);
	openat(AT_FDCWD, "file", O_RDWR | O_CREAT | flag, 0644);
	syscall(SYS_openat2, AT_FDCWD, "file", &(struct open_how){ .flags = O_RDONLY | flag },
		sizeof(struct open_how));
	socket(AF_UNIX, SOCK_STREAM | flag, 0);
	socketpair(AF_UNIX, SOCK_DGRAM | flag, 0, two);
	pipe2(two, flag);
	eventfd(0, flag);
	epoll_create1(flag);
	signalfd(-1, &none, flag);
	timerfd_create(CLOCK_MONOTONIC, flag);
	inotify_init1(flag);
	memfd_create("m", cloexec ? MFD_CLOEXEC : 0);
	dup3(0, cloexec ? 100 : 101, flag);
	fcntl(0, cloexec ? F_DUPFD_CLOEXEC : F_DUPFD, 110);
	syscall(SYS_userfaultfd, flag | 1);
	syscall(MEMFD_SECRET, flag);
	syscall(SYS_fanotify_init, (cloexec ? 1 : 0) | 0x200, O_RDONLY);
	syscall(FSOPEN, "tmpfs", cloexec ? 1 : 0);
	syscall(OPEN_TREE, AT_FDCWD, ".", flag);
	syscall(SYS_perf_event_open,
		&(struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
					   .size = sizeof(struct perf_event_attr),
					   .config = PERF_COUNT_SW_DUMMY,
					   .exclude_kernel = 1 },
		0, -1, -1, cloexec ? PERF_FLAG_FD_CLOEXEC : 0);
}

/* Both sides of a terminal: the second one by an ioctl of the first. */
static void terminal(void)
{
	int unlock = 0, first = open("/dev/ptmx", O_RDWR | O_NOCTTY), i;

	if (first < 0 || ioctl(first, TIOCSPTLCK, &unlock))
		return;
	for (i = 0; i < 2; i++)
		ioctl(first, TIOCGPTPEER, O_RDWR | O_NOCTTY | (i ? O_CLOEXEC : 0));
}

/* Calls that have no such flag: some of what they make exec closes, some it keeps. */
static void without_flag(void)
{
	struct landlock_ruleset_attr rules = { .handled_access_fs = 1 };
	char name[32];
	char params[120] = {};
	unsigned int i;

	for (i = 0; i < 2; i++)
		need(!syscall(SYS_pipe, pointer(i)), "pipe");
	syscall(SYS_eventfd, O_CLOEXEC | 1); /* its first value */
	syscall(SYS_epoll_create, O_CLOEXEC | 1);
	syscall(SYS_inotify_init);
	syscall(SYS_creat, "created", O_CLOEXEC | 0644);
	syscall(SYS_dup2, 0, 102, O_CLOEXEC, O_CLOEXEC);
	syscall(SYS_dup, 0, O_CLOEXEC, O_CLOEXEC);
	syscall(PIDFD_OPEN, getpid(), 0);
	syscall(PIDFD_GETFD, syscall(PIDFD_OPEN, getpid(), 0), 0, 0);
	syscall(SYS_io_uring_setup, 4, params);
	syscall(LANDLOCK, &rules, sizeof(rules), 0);
	syscall(LANDLOCK, NULL, 0, 1); /* a version, no descriptor */
	snprintf(name, sizeof(name), "/david-%d", getpid());
	mq_open(name, O_RDWR | O_CREAT, 0600, NULL);
	mq_unlink(name);
}

/* By the flag of the descriptor, changed afterwards. */
static void changed(void)
{
	int closed = dup(0), kept = fcntl(0, F_DUPFD_CLOEXEC, 3), moved = dup(0);
	int first = fcntl(0, F_DUPFD, 120);

	fcntl(closed, F_SETFD, FD_CLOEXEC);
	fcntl(kept, F_SETFD, 0);
	fcntl(moved, F_SETFD, FD_CLOEXEC);
	dup2(moved, moved + 20);
	fcntl(0, F_DUPFD, first + 1);
	fcntl(0, F_DUPFD, first + 2);
	fcntl(0, F_DUPFD, first + 3);
	syscall(CLOSE_RANGE, first + 1, first + 2, CLOEXEC);
	syscall(CLOSE_RANGE, first + 3, first + 3, 0);
}

static int accepted(int listening, bool four, int flag)
{
	return four ? accept4(listening, NULL, NULL, flag) : accept(listening, NULL, pointer(true));
}

static void accepting(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listening = socket(AF_UNIX, SOCK_STREAM, 0), i;
	socklen_t size = sizeof(sa_family_t) + 1 + 16;

	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "david-%010d", getpid());
	need(!bind(listening, (struct sockaddr *)&at, size) && !listen(listening, 8), "bind");
	for (i = 0; i < 3; i++) {
		int client = socket(AF_UNIX, SOCK_STREAM, 0);

		need(!connect(client, (struct sockaddr *)&at, size), "connect");
		need(accepted(listening, i, i == 2 ? SOCK_CLOEXEC : 0) >= 0, "accept");
	}
}

static int only_files(void *arg)
{
	return 0;
}

/* A child that shares the table, one that has a copy, and one that is known by a descriptor. */
static void children(void)
{
	static char stack[65536];
	int pidfd = -1, status;
	pid_t pid;

	pid = clone(only_files, stack + sizeof(stack), CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
	waitpid(pid, &status, 0);
	pid = clone(only_files, stack + sizeof(stack), CLONE_PIDFD | SIGCHLD, NULL, &pidfd);
	waitpid(pid, &status, 0);
	need(pidfd >= 0, "clone");
	pid = fork();
	if (!pid) {
		fcntl(0, F_SETFD, FD_CLOEXEC);
		syscall(CLOSE_RANGE, 3, ~0u, UNSHARE);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	need(!unshare(CLONE_FILES), "unshare");
}

static void close_all(void)
{
	int fd;

	for (fd = 3; fd <= LAST; fd++)
		close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		close_all();
		return 0;
	}
	flagged(true);
	flagged(false);
	without_flag();
	terminal();
	changed();
	accepting();
	children();
	execl("/proc/self/exe", "descriptors", "again", NULL);
	return 1;
}
