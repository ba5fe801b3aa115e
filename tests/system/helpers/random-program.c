// SPDX-License-Identifier: GPL-2.0
/*
 * random-program SEED COUNT [KIND...]: COUNT programs, of seeds SEED, SEED + 1, ..., one after the
 * other, each in a directory of its own below the current one. Each does at random what programs
 * do with files, descriptors, pipes, threads and processes. What it does follows from the seed, not
 * from what its calls return, so one seed is one program. Each process has names of its own, so no
 * two overlapping calls decide which of them comes first; but for the step "races", whose processes
 * make and remove the same names. KIND: these steps only.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
#define DEPTH_MAX 3
#define BYTES_MAX 20000

struct self { /* a process, or a thread of one */
	unsigned long long random;
	unsigned int depth;
	unsigned int names;
	char name[64]; /* in front of all of its names */
};

static char data[BYTES_MAX];
static const char *allowed[32]; /* kinds of steps; none: all */

static unsigned long long draw(struct self *s, unsigned long long below)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return (s->random * 0x2545f4914f6cdd1dull >> 20) % below;
}

static void seed(struct self *s, unsigned long long number)
{
	unsigned int i;

	s->random = (number + 1) * 0x9e3779b97f4a7c15ull;
	for (i = 0; i < 8; i++)
		draw(s, 2);
}

static const char *new_name(struct self *s)
{
	static __thread char names[4][96];
	static __thread unsigned int next;
	char *name = names[next++ % 4];

	snprintf(name, sizeof(names[0]), "%s.%u", s->name, s->names++);
	return name;
}

static size_t bytes(struct self *s)
{
	return draw(s, 4) ? draw(s, 300) + 1 : draw(s, BYTES_MAX) + 1;
}

static int make_file(struct self *s, int flags)
{
	int fd = open(new_name(s), O_RDWR | O_CREAT | flags, 0644);

	if (fd < 0)
		err(1, "%s", s->name);
	return fd;
}

static void put(int fd, size_t n)
{
	ssize_t done;

	while (n) {
		done = write(fd, data, n);
		if (done <= 0)
			return;
		n -= done;
	}
}

/* Until the end, or no further than @most. */
static void take(int fd, int to, size_t most)
{
	char room[4096];
	ssize_t n;

	while (most) {
		n = read(fd, room, most < sizeof(room) ? most : sizeof(room));
		if (n <= 0)
			return;
		most -= n;
		if (to >= 0)
			put(to, n);
	}
}

static void steps(struct self *s, unsigned int count);

/* 0: it is the child; it ends with leave(). */
static pid_t begin_child(struct self *s)
{
	unsigned long long number = draw(s, UINT32_MAX);
	unsigned int name = s->names++;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		snprintf(s->name + strlen(s->name), sizeof(s->name) - strlen(s->name), "-%u", name);
		s->names = 0;
		s->depth++;
		seed(s, number);
	}
	return pid;
}

static void leave(struct self *s)
{
	if (s->depth < DEPTH_MAX && !draw(s, 3))
		steps(s, draw(s, 3));
	_exit(0);
}

static void wait_for(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The steps. */

static void step_file(struct self *s)
{
	int fd = make_file(s, draw(s, 2) ? O_EXCL : O_TRUNC), other;

	put(fd, bytes(s));
	if (draw(s, 2) && pwrite(fd, data, bytes(s), draw(s, 5000)) < 0)
		warn("pwrite");
	if (draw(s, 3) == 0 && ftruncate(fd, draw(s, 9000)))
		warn("ftruncate");
	lseek(fd, draw(s, 100), SEEK_SET);
	other = draw(s, 2) ? dup(fd) : fcntl(fd, F_DUPFD_CLOEXEC, 20);
	take(other, -1, bytes(s));
	close(draw(s, 2) ? fd : other);
}

static void step_names(struct self *s)
{
	char dir[96], one[128], two[128];
	int fd;

	snprintf(dir, sizeof(dir), "%s", new_name(s));
	mkdir(dir, 0755);
	snprintf(one, sizeof(one), "%s/one", dir);
	snprintf(two, sizeof(two), "%s/two", dir);
	fd = open(one, O_CREAT | O_EXCL | O_WRONLY, 0644);
	put(fd, bytes(s));
	switch (draw(s, 4)) {
	case 0:
		rename(one, two);
		break;
	case 1:
		if (link(one, two) || unlink(draw(s, 2) ? one : two))
			warn("link");
		break;
	case 2:
		if (symlink("one", two))
			warn("symlink");
		break;
	default:
		unlink(one);
		put(fd, bytes(s));
		break;
	}
	close(fd);
	if (draw(s, 2))
		rename(dir, new_name(s));
}

/* Parent and child write to one description. */
static void step_append(struct self *s)
{
	int fd = make_file(s, draw(s, 2) ? O_APPEND : 0);
	size_t mine = bytes(s);
	pid_t pid;

	put(fd, bytes(s));
	pid = begin_child(s);
	if (!pid) {
		put(fd, bytes(s));
		if (draw(s, 2))
			close(fd);
		leave(s);
	}
	put(fd, mine);
	if (draw(s, 2)) {
		close(fd);
		wait_for(pid);
		return;
	}
	wait_for(pid);
	put(fd, mine);
	close(fd);
}

/* The child writes to a pipe. The parent reads to the end, or goes before. */
static void step_pipe(struct self *s)
{
	bool all = draw(s, 3);
	int p[2], out = make_file(s, 0);
	pid_t pid;

	if (pipe2(p, draw(s, 2) ? O_CLOEXEC : 0))
		err(1, "pipe2");
	pid = begin_child(s);
	if (!pid) {
		if (draw(s, 2))
			close(p[0]);
		put(p[1], all ? bytes(s) * 5 : bytes(s));
		leave(s);
	}
	close(p[1]);
	take(p[0], out, all ? SIZE_MAX : draw(s, 200) + 1);
	close(p[0]);
	wait_for(pid);
	close(out);
}

/* As Go and others learn that an exec went well: the end of a pipe, which it closes. */
static void step_exec(struct self *s)
{
	int p[2], other = make_file(s, draw(s, 2) ? O_CLOEXEC : 0);
	char c;
	pid_t pid;

	if (pipe2(p, O_CLOEXEC))
		err(1, "pipe2");
	pid = draw(s, 2) ? vfork() : fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		execl("/proc/self/exe", "random-program", "nothing", NULL);
		_exit(1);
	}
	close(p[1]);
	if (read(p[0], &c, 1))
		warnx("%s: the exec failed", s->name);
	put(other, 100);
	close(p[0]);
	if (draw(s, 2))
		close(other);
	wait_for(pid);
}

/* A pipe of three processes, by execs or not. */
static void step_pipeline(struct self *s)
{
	int a[2], b[2], out = make_file(s, 0);
	size_t n = bytes(s);
	pid_t one, two;

	if (pipe(a) || pipe(b))
		err(1, "pipe");
	one = begin_child(s);
	if (!one) {
		dup2(a[1], 1);
		close(a[0]);
		close(a[1]);
		close(b[0]);
		close(b[1]);
		put(1, n);
		leave(s);
	}
	two = begin_child(s);
	if (!two) {
		dup2(a[0], 0);
		dup2(b[1], 1);
		close_range(3, UINT32_MAX, 0);
		take(0, 1, SIZE_MAX);
		leave(s);
	}
	close(a[0]);
	close(a[1]);
	close(b[1]);
	take(b[0], out, SIZE_MAX);
	close(b[0]);
	close(out);
	wait_for(one);
	wait_for(two);
}

static void step_socket(struct self *s)
{
	int p[2], out = make_file(s, 0);
	size_t n = bytes(s);
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | (draw(s, 2) ? SOCK_CLOEXEC : 0), 0, p))
		err(1, "socketpair");
	pid = begin_child(s);
	if (!pid) {
		close(p[0]);
		take(p[1], -1, SIZE_MAX);
		put(p[1], bytes(s));
		leave(s);
	}
	close(p[1]);
	put(p[0], n);
	shutdown(p[0], SHUT_WR);
	take(p[0], out, SIZE_MAX);
	close(p[0]);
	close(out);
	wait_for(pid);
}

/* A descriptor goes through a socket; who gets it writes to the file. */
static void step_passing(struct self *s)
{
	char room[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec piece = { &byte, 1 };
	struct msghdr message = { .msg_iov = &piece,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	int p[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p))
		err(1, "socketpair");
	pid = begin_child(s);
	if (!pid) {
		if (recvmsg(p[1], &message, 0) == 1) {
			memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
			put(fd, bytes(s));
		}
		leave(s);
	}
	fd = make_file(s, 0);
	put(fd, 50);
	*c = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	if (sendmsg(p[0], &message, 0) != 1)
		warn("sendmsg");
	if (draw(s, 2))
		close(fd);
	wait_for(pid);
	close(p[0]);
	close(p[1]);
}

/* The same from a living process, by its number there (pidfd_getfd). */
static void step_taking(struct self *s)
{
	int from[2], to[2], fd, pidfd, taken;
	pid_t pid;

	if (pipe(from) || pipe(to))
		err(1, "pipe");
	pid = begin_child(s);
	if (!pid) {
		close(to[1]);
		fd = make_file(s, draw(s, 2) ? O_APPEND : 0);
		put(fd, bytes(s));
		if (write(from[1], &fd, sizeof(fd)) != sizeof(fd))
			warn("write");
		take(to[0], -1, SIZE_MAX);
		put(fd, bytes(s));
		leave(s);
	}
	close(from[1]);
	if (read(from[0], &fd, sizeof(fd)) != sizeof(fd))
		errx(1, "%s: no number", s->name);
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	taken = syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	put(taken, bytes(s));
	if (draw(s, 2))
		close(taken);
	close(pidfd);
	close(to[1]);
	wait_for(pid);
	close(from[0]);
	close(to[0]);
}

static int noted; /* where a signal is written down */

static void note(int signal)
{
	put(noted, 10 + (signal == SIGALRM));
}

static void until_end(int fd, int to)
{
	char room[4096];
	ssize_t n;

	do {
		n = read(fd, room, sizeof(room));
		if (n > 0)
			put(to, n);
	} while (n > 0 || (n < 0 && errno == EINTR));
}

/* Who sends a signal to its parent, or is killed by one; a read that is interrupted. */
static void step_signals(struct self *s)
{
	struct sigaction act = { .sa_handler = note };
	struct itimerval soon = { .it_value.tv_usec = 300 };
	unsigned int kind = draw(s, 3);
	int p[2], out = make_file(s, O_APPEND);
	size_t n = bytes(s);
	pid_t pid;

	noted = make_file(s, 0);
	sigaction(SIGUSR1, &act, NULL);
	sigaction(SIGALRM, &act, NULL);
	if (pipe(p))
		err(1, "pipe");
	pid = begin_child(s);
	if (!pid) {
		signal(SIGUSR1, SIG_DFL);
		close(p[0]);
		put(p[1], n);
		put(out, 20);
		if (kind == 0)
			kill(getppid(), SIGUSR1);
		else if (kind == 1)
			raise(SIGKILL);
		else
			usleep(1000);
		put(p[1], 100);
		leave(s);
	}
	close(p[1]);
	if (kind == 2)
		setitimer(ITIMER_REAL, &soon, NULL);
	until_end(p[0], out);
	wait_for(pid);
	signal(SIGUSR1, SIG_IGN);
	close(p[0]);
	close(noted);
	close(out);
}

/* What a child has done is over: it has ended, or has said so. */
static void step_waited(struct self *s)
{
	unsigned int kind = draw(s, 4);
	int event = eventfd(0, 0), fd, pidfd;
	const char *name = new_name(s), *other = new_name(s);
	unsigned long long one = 1;
	siginfo_t info;
	pid_t pid;

	pid = begin_child(s);
	if (!pid) {
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0644);
		put(fd, bytes(s));
		if (kind == 3 && write(event, &one, sizeof(one)) < 0)
			warn("write");
		_exit(0);
	}
	pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (kind == 0)
		waitid(P_PID, pid, &info, WEXITED | (draw(s, 2) ? WNOWAIT : 0));
	else if (kind == 1)
		waitid(P_ALL, 0, &info, WEXITED | (draw(s, 2) ? WNOWAIT : 0));
	else if (kind == 2)
		waitid(3 /* P_PIDFD */, pidfd, draw(s, 2) ? &info : NULL,
		       WEXITED | (draw(s, 2) ? WNOWAIT : 0));
	else if (read(event, &one, sizeof(one)) < 0)
		warn("read");
	if (draw(s, 2))
		rename(name, other);
	else
		unlink(name);
	close(pidfd);
	close(event);
	waitpid(pid, NULL, 0);
}

/* Several messages a call. */
static void step_messages(struct self *s)
{
	struct iovec piece[3] = { { data, draw(s, 900) + 1 },
				  { data, draw(s, 900) + 1 },
				  { data, draw(s, 900) + 1 } };
	static const int kinds[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
	static char room[3][1000];
	struct mmsghdr message[3] = {};
	int p[2], i, n, got = 0, out = make_file(s, 0);
	pid_t pid;

	if (socketpair(AF_UNIX, kinds[draw(s, 3)], 0, p))
		err(1, "socketpair");
	for (i = 0; i < 3; i++)
		message[i].msg_hdr = (struct msghdr){ .msg_iov = &piece[i], .msg_iovlen = 1 };
	pid = begin_child(s);
	if (!pid) {
		close(p[0]);
		if (sendmmsg(p[1], message, 3, 0) < 0)
			warn("sendmmsg");
		leave(s);
	}
	close(p[1]);
	for (i = 0; i < 3; i++)
		piece[i] = (struct iovec){ room[i], sizeof(room[i]) };
	for (;;) {
		n = recvmmsg(p[0], message, 3, MSG_WAITFORONE, NULL);
		for (i = 0; i < n && message[i].msg_len; i++)
			put(out, message[i].msg_len);
		got += i;
		if (n <= 0 || i < n || got == 3) /* datagrams have no end behind them */
			break;
	}
	wait_for(pid);
	close(p[0]);
	close(out);
}

/* Writes by a ring, and a read of what they have written; nothing, where there are no rings. */
static void step_uring(struct self *s)
{
	static char room[BYTES_MAX];
	struct io_uring_params about = {};
	unsigned int i, n = draw(s, 4) + 1, *tail, *array;
	int fd = make_file(s, 0), ring = syscall(SYS_io_uring_setup, 8, &about);
	size_t size = about.cq_off.cqes + about.cq_entries * sizeof(struct io_uring_cqe);
	struct io_uring_sqe *entry;
	char *at;

	if (ring < 0 || !(about.features & IORING_FEAT_SINGLE_MMAP)) {
		close(fd);
		return;
	}
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	entry = mmap(NULL, 8 * sizeof(*entry), PROT_READ | PROT_WRITE, MAP_SHARED, ring,
		     IORING_OFF_SQES);
	if (at == MAP_FAILED || (void *)entry == MAP_FAILED)
		err(1, "mmap");
	tail = (unsigned int *)(at + about.sq_off.tail);
	array = (unsigned int *)(at + about.sq_off.array);
	for (i = 0; i <= n; i++) {
		bool reads = i == n;

		entry[i] = (struct io_uring_sqe){
			.opcode = reads ? IORING_OP_READ : IORING_OP_WRITE,
			.fd = fd,
			.addr = (uintptr_t)(reads ? room : data),
			.len = reads ? sizeof(room) : bytes(s),
			.off = reads ? 0 : draw(s, 5000),
			.flags = reads ? 0 : IOSQE_IO_LINK,
		};
		array[i] = i;
	}
	__atomic_store_n(tail, n + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, n + 1, n + 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		warn("io_uring_enter");
	put(fd, bytes(s));
	munmap(at, size);
	munmap(entry, 8 * sizeof(*entry));
	close(ring);
	close(fd);
}

static void step_fifo(struct self *s)
{
	const char *name = new_name(s);
	int fd, out = make_file(s, 0);
	pid_t pid;

	if (mkfifo(name, 0600))
		err(1, "mkfifo");
	pid = begin_child(s);
	if (!pid) {
		fd = open(name, O_WRONLY);
		put(fd, bytes(s));
		leave(s);
	}
	fd = open(name, O_RDONLY);
	take(fd, out, SIZE_MAX);
	close(fd);
	close(out);
	wait_for(pid);
}

/* By the kernel: from a file through pipes to two others. */
static void step_splice(struct self *s)
{
	int from = make_file(s, 0), to = make_file(s, 0), copy = make_file(s, 0), a[2], b[2];
	ssize_t n;

	put(from, bytes(s));
	lseek(from, 0, SEEK_SET);
	if (pipe(a) || pipe(b))
		err(1, "pipe");
	for (;;) {
		n = splice(from, NULL, a[1], NULL, 4096, 0);
		if (n <= 0)
			break;
		n = tee(a[0], b[1], n, 0);
		while (n > 0 && splice(b[0], NULL, copy, NULL, n, 0) < n)
			break;
		while (n > 0 && splice(a[0], NULL, to, NULL, n, 0) < n)
			break;
	}
	close(a[1]);
	take(a[0], to, SIZE_MAX);
	close(a[0]);
	close(b[0]);
	close(b[1]);
	close(from);
	close(to);
	close(copy);
}

static void step_copy(struct self *s)
{
	int from = make_file(s, 0), to = make_file(s, 0);
	loff_t at = draw(s, 50);

	put(from, bytes(s));
	lseek(from, 0, SEEK_SET);
	if (draw(s, 2)) {
		if (sendfile(to, from, NULL, bytes(s)) < 0)
			warn("sendfile");
	} else if (copy_file_range(from, &at, to, NULL, bytes(s), 0) < 0 && errno != EXDEV) {
		warn("copy_file_range");
	}
	close(from);
	close(to);
}

static void step_mapping(struct self *s)
{
	int fd = make_file(s, 0);
	char *at;

	if (ftruncate(fd, 8192))
		err(1, "ftruncate");
	at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		err(1, "mmap");
	if (draw(s, 2))
		close(fd);
	at[draw(s, 8192)] = 1;
	msync(at, 8192, MS_SYNC);
	munmap(at, 8192);
}

/* What a descriptor is of, by its name. */
static void step_again(struct self *s)
{
	char way[64];
	int p[2], fd = make_file(s, 0), again;

	put(fd, bytes(s));
	snprintf(way, sizeof(way), draw(s, 2) ? "/dev/fd/%d" : "/proc/self/fd/%d", fd);
	again = open(way, O_RDWR);
	put(again, bytes(s));
	close(again);
	close(fd);
	if (pipe(p))
		err(1, "pipe");
	snprintf(way, sizeof(way), "/dev/fd/%d", p[1]);
	again = open(way, O_WRONLY);
	close(p[1]);
	put(again, 100);
	close(again);
	take(p[0], -1, SIZE_MAX);
	close(p[0]);
}

/* Who makes a name that others make, too? Who is late goes on with what is there. */
static void race(struct self *s, const char *common, unsigned int rounds)
{
	char name[160], other[200];
	int fd;

	while (rounds--) {
		snprintf(name, sizeof(name), "%s.%u", common, rounds % 3);
		switch (draw(s, 7)) {
		case 0:
			mkdir(name, 0755);
			break;
		case 6: /* never removed: no trace says what has kept a directory from that */
			strcat(name, ".d");
			mkdir(name, 0755);
			snprintf(other, sizeof(other), "%s/%s", name, new_name(s));
			close(open(other, O_CREAT | O_WRONLY, 0644));
			unlink(other);
			break;
		case 1:
			rmdir(name);
			break;
		case 2:
			snprintf(other, sizeof(other), "%s.lock", name);
			fd = open(other, O_CREAT | O_EXCL | O_WRONLY, 0644);
			if (fd < 0)
				break;
			put(fd, 10);
			close(fd);
			unlink(other);
			break;
		case 3:
			snprintf(other, sizeof(other), "%s.lock", name);
			access(other, F_OK);
			break;
		case 4:
			snprintf(other, sizeof(other), "%s.link", name);
			if (symlink("nowhere", other) && draw(s, 2))
				unlink(other);
			break;
		default:
			close(open(name, O_RDONLY | O_DIRECTORY));
			break;
		}
	}
}

static void step_races(struct self *s)
{
	unsigned int i, n = draw(s, 3) + 2;
	char common[96];
	pid_t pid[4];

	snprintf(common, sizeof(common), "%s", new_name(s));
	for (i = 0; i < n; i++) {
		pid[i] = begin_child(s);
		if (!pid[i]) {
			race(s, common, draw(s, 20) + 5);
			leave(s);
		}
	}
	for (i = 0; i < n; i++)
		wait_for(pid[i]);
}

static void *run_thread(void *arg)
{
	struct self *s = arg;

	step_file(s);
	step_names(s);
	if (draw(s, 2))
		step_copy(s);
	return NULL;
}

static void step_threads(struct self *s)
{
	struct self own[3];
	pthread_t thread[3];
	unsigned int i, n = draw(s, 3) + 1;

	for (i = 0; i < n; i++) {
		own[i] = *s;
		snprintf(own[i].name, sizeof(own[i].name), "%.40s+%u", s->name, s->names++);
		own[i].names = 0;
		seed(&own[i], draw(s, UINT32_MAX));
		if (pthread_create(&thread[i], NULL, run_thread, &own[i]))
			errx(1, "no thread");
	}
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
}

static const struct {
	const char *kind;
	void (*step)(struct self *s);
} kinds[] = {
	{ "file", step_file },	       { "names", step_names },	      { "append", step_append },
	{ "pipe", step_pipe },	       { "exec", step_exec },	      { "pipeline", step_pipeline },
	{ "socket", step_socket },     { "passing", step_passing },   { "taking", step_taking },
	{ "signals", step_signals },   { "waited", step_waited },     { "messages", step_messages },
	{ "uring", step_uring },       { "fifo", step_fifo },	      { "splice", step_splice },
	{ "copy", step_copy },	       { "mapping", step_mapping },   { "again", step_again },
	{ "threads", step_threads },   { "races", step_races },
};

static bool is_allowed(const char *kind)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(allowed) && allowed[i]; i++) {
		if (!strcmp(allowed[i], kind))
			return true;
	}
	return !allowed[0];
}

static void steps(struct self *s, unsigned int count)
{
	unsigned int i;

	while (count--) {
		do
			i = draw(s, ARRAY_SIZE(kinds));
		while (!is_allowed(kinds[i].kind));
		kinds[i].step(s);
	}
}

static void run_program(unsigned long long number)
{
	struct self s = { .name = "p" };
	char dir[32];
	pid_t pid;

	snprintf(dir, sizeof(dir), "%llu", (unsigned long long)number);
	if (mkdir(dir, 0755))
		err(1, "%s", dir);
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		if (chdir(dir))
			err(1, "%s", dir);
		seed(&s, number);
		steps(&s, draw(&s, 6) + 3);
		_exit(0);
	}
	wait_for(pid);
}

int main(int argc, char **argv)
{
	unsigned long long first, count;
	int i;

	if (argc == 2 && !strcmp(argv[1], "nothing"))
		return 0;
	if (argc < 3 || argc - 3 >= (int)ARRAY_SIZE(allowed))
		errx(1, "usage: random-program SEED COUNT [KIND...]");
	for (i = 3; i < argc; i++)
		allowed[i - 3] = argv[i];
	first = strtoull(argv[1], NULL, 10);
	count = strtoull(argv[2], NULL, 10);
	signal(SIGPIPE, SIG_IGN);
	memset(data, 'd', sizeof(data));
	for (; count; count--)
		run_program(first++);
	return 0;
}
