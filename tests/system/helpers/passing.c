// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: descriptors that processes pass to each other. In the working directory each
 * of these files is opened by one process and written by another, where that one stands:
 *
 *   log, data	by a message with both, one of them O_APPEND; their sender ends
 *   peeked	by a message that is looked at before it is taken
 *   one, two	by two messages at once
 *   taken	by pidfd_getfd
 *   foreign	by a message from outside of the trace, if descriptor 3 is a socket
 *
 * Then it runs itself, and closes each number once.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

#define LAST 63
#define MOST 2
#define PIDFD_OPEN 434
#define PIDFD_GETFD 438

struct packet {
	char byte;
	struct iovec part;
	char control[CMSG_SPACE(MOST * sizeof(int))];
	struct msghdr message;
};

static void prepare(struct packet *p, const int *fds, int count)
{
	struct cmsghdr *head;

	memset(p, 0, sizeof(*p));
	p->part = (struct iovec){ &p->byte, 1 };
	p->message.msg_iov = &p->part;
	p->message.msg_iovlen = 1;
	p->message.msg_control = p->control;
	p->message.msg_controllen = fds ? CMSG_SPACE(count * sizeof(int)) : sizeof(p->control);
	if (!fds)
		return;
	head = CMSG_FIRSTHDR(&p->message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(head), fds, count * sizeof(int));
}

static void take_out(struct packet *p, int *fds, int count)
{
	struct cmsghdr *head = CMSG_FIRSTHDR(&p->message);

	need(head && head->cmsg_len == CMSG_LEN(count * sizeof(int)), "control message");
	memcpy(fds, CMSG_DATA(head), count * sizeof(int));
}

static void send_all(int to, const int *fds, int count)
{
	struct packet p;

	prepare(&p, fds, count);
	need(sendmsg(to, &p.message, 0) == 1, "sendmsg");
}

static void receive(int from, int *fds, int count, int flags)
{
	struct packet p;

	prepare(&p, NULL, 0);
	need(recvmsg(from, &p.message, flags) == 1, "recvmsg");
	take_out(&p, fds, count);
}

static int make(const char *name, int flags, int bytes)
{
	static const char zeros[1000];
	int fd = open(name, O_CREAT | O_RDWR | flags, 0644);

	need(fd >= 0 && write(fd, zeros, bytes) == bytes, name);
	return fd;
}

static void put(int fd, int bytes)
{
	static const char zeros[1000];

	need(write(fd, zeros, bytes) == bytes, "write");
}

static void end_child(pid_t pid)
{
	int status;

	need(waitpid(pid, &status, 0) == pid && !status, "child");
}

static void send_and_end(const int *pair)
{
	int fds[2] = { make("log", O_APPEND, 100), make("data", 0, 200) }, more[2];
	struct packet p[2];
	struct mmsghdr both[2];
	int i;

	send_all(pair[1], fds, 2);
	close(fds[0]);
	fds[1] = make("peeked", 0, 300);
	send_all(pair[1], &fds[1], 1);
	more[0] = make("one", 0, 10);
	more[1] = make("two", 0, 20);
	for (i = 0; i < 2; i++) {
		prepare(&p[i], &more[i], 1);
		both[i].msg_hdr = p[i].message;
	}
	need(sendmmsg(pair[1], both, 2, 0) == 2, "sendmmsg");
	/* To nobody: it is not under way then. */
	shutdown(pair[1], SHUT_WR);
	prepare(&p[0], fds, 1);
	need(sendmsg(pair[1], &p[0].message, MSG_NOSIGNAL) < 0, "sendmsg to nobody");
	_exit(0);
}

static void by_messages(void)
{
	int pair[2], fds[2], i;
	struct packet p[2];
	struct mmsghdr both[2];
	pid_t pid;

	need(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), "socketpair");
	pid = fork();
	if (!pid)
		send_and_end(pair);
	end_child(pid);
	receive(pair[0], fds, 2, MSG_CMSG_CLOEXEC);
	put(fds[0], 11);
	put(fds[1], 22);
	need(lseek(fds[1], 0, SEEK_CUR) == 222, "where it stands");
	receive(pair[0], &fds[0], 1, MSG_PEEK);
	receive(pair[0], &fds[1], 1, 0);
	put(fds[0], 1);
	put(fds[1], 2);
	for (i = 0; i < 2; i++) {
		prepare(&p[i], NULL, 0);
		both[i].msg_hdr = p[i].message;
	}
	need(recvmmsg(pair[0], both, 2, 0, NULL) == 2, "recvmmsg");
	for (i = 0; i < 2; i++) {
		p[i].message = both[i].msg_hdr;
		take_out(&p[i], fds, 1);
		put(fds[0], 5);
	}
}

static void by_pidfd(void)
{
	int ready[2], fd, pidfd, taken;
	pid_t pid;

	need(!pipe(ready), "pipe");
	pid = fork();
	if (!pid) {
		fd = make("taken", O_APPEND, 40);
		need(write(ready[1], &fd, sizeof(fd)) == sizeof(fd), "write");
		pause();
	}
	need(read(ready[0], &fd, sizeof(fd)) == sizeof(fd), "read");
	pidfd = syscall(PIDFD_OPEN, pid, 0);
	taken = syscall(PIDFD_GETFD, pidfd, fd, 0);
	need(taken >= 0, "pidfd_getfd");
	put(taken, 4);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	put(taken, 4);
}

/* An end of a pipe: what goes in by one process comes out at another. */
static void by_message_a_pipe(void)
{
	int pair[2], ends[2], fd;
	char byte;
	pid_t pid;

	need(!socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), "socketpair");
	pid = fork();
	if (!pid) {
		need(!pipe(ends), "pipe");
		send_all(pair[1], ends, 1);
		need(write(ends[1], "x", 1) == 1, "write");
		_exit(0);
	}
	end_child(pid);
	receive(pair[0], &fd, 1, 0);
	need(read(fd, &byte, 1) == 1 && !read(fd, &byte, 1), "the pipe");
}

static void from_outside(void)
{
	struct stat st;
	int fd;

	if (fstat(3, &st) || !S_ISSOCK(st.st_mode))
		return;
	receive(3, &fd, 1, 0);
	put(fd, 7);
}

int main(int argc, char **argv)
{
	int fd;

	for (fd = 3; argc > 1 && fd <= LAST; fd++)
		close(fd);
	if (argc > 1)
		return 0;
	from_outside();
	by_messages();
	by_pidfd();
	by_message_a_pipe();
	execl("/proc/self/exe", "passing", "again", NULL);
	return 1;
}
