// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: it makes the same calls each time it runs. In the directory of its first
 * argument it makes and removes files in all the ways there are, with threads, processes, a
 * program that replaces another, and a signal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

static void fill(const char *name, int blocks)
{
	char block[512];
	int fd = open(name, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	need(fd >= 0, name);
	memset(block, 'x', sizeof(block));
	while (blocks--)
		need(write(fd, block, sizeof(block)) == sizeof(block), name);
	close(fd);
}

static void names(void)
{
	struct stat st;

	need(!mkdir("dir", 0755) && !mkdir("dir/sub", 0755), "mkdir");
	fill("dir/sub/one", 3);
	need(!link("dir/sub/one", "two"), "link");
	need(!symlink("dir/sub", "way"), "symlink");
	need(!rename("dir", "moved"), "rename"); /* the link leads nowhere now */
	need(stat("way/one", &st) < 0, "stat");
	need(!unlink("way") && !symlink("moved/sub", "way"), "unlink");
	need(!stat("way/one", &st) && st.st_nlink == 2, "stat");
	need(!chdir("way"), "chdir");
	fill("here", 1); /* moved/sub/here */
	need(!chdir("../.."), "chdir");
	fill("gone", 1);
	need(!unlink("gone"), "unlink");
	fill("gone", 2); /* often with the same inode number */
	need(!mkdir("empty", 0700) && !rmdir("empty"), "rmdir");
	need(!mknod("pipe", S_IFIFO | 0600, 0), "mknod");
	fill("left", 1);
	fill("right", 5);
	need(!renameat2(AT_FDCWD, "left", AT_FDCWD, "right", RENAME_EXCHANGE), "exchange");
}

static void descriptors(void)
{
	struct open_how how = { .flags = O_RDONLY };
	struct iovec iov[2] = { { "abc", 3 }, { "defgh", 5 } };
	int fd = open("data", O_CREAT | O_RDWR, 0600), other, dir, pipes[2], pair[2];
	off64_t start = 0;
	char text[16];

	need(fd >= 0 && writev(fd, iov, 2) == 8 && pwrite(fd, "Z", 1, 100) == 1, "write");
	need(lseek(fd, 1, SEEK_SET) == 1 && read(fd, text, 4) == 4, "read");
	other = dup(fd);
	need(read(other, text, 3) == 3, "read"); /* the offset is shared: from 5 on */
	need(dup2(other, 20) == 20 && fcntl(fd, F_DUPFD_CLOEXEC, 30) == 30, "dup2");
	need(!ftruncate(fd, 5000) && !fallocate(fd, 0, 8192, 4096) && !fsync(fd), "ftruncate");
	need(!truncate("right", 100), "truncate");
	dir = open(".", O_DIRECTORY | O_PATH);
	need(syscall(SYS_openat2, dir, "data", &how, sizeof(how)) >= 0, "openat2");
	fd = openat(dir, "copy", O_CREAT | O_WRONLY | O_APPEND, 0600);
	need(sendfile(fd, other, NULL, 100) < 0, "sendfile"); /* O_APPEND: refused */
	need(copy_file_range(other, &start, 30, NULL, 8, 0) == 8, "copy");
	need(write(fd, "end", 3) == 3 && write(fd, "end", 3) == 3, "append");
	need(!pipe(pipes) && write(pipes[1], "x", 1) == 1 && read(pipes[0], text, 16) == 1,
	     "pipe");
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && !close_range(pair[0], pair[1], 0),
	     "close_range");
	need(open("no such file", O_RDONLY) < 0 && close(1000) < 0, "errors");
}

static void *thread(void *name)
{
	fill(name, 2);
	need(!unlink(name), "unlink");
	return NULL;
}

static void tasks(const char *self)
{
	int fd = open("shared", O_CREAT | O_RDWR, 0600);
	pthread_t other;
	char text[4];
	pid_t pid;

	need(write(fd, "0123456789", 10) == 10 && !lseek(fd, 0, SEEK_SET), "shared");
	pid = fork();
	if (!pid) {
		need(read(fd, text, 4) == 4, "child");
		_exit(3);
	}
	need(waitpid(pid, NULL, 0) == pid, "wait");
	need(read(fd, text, 4) == 4, "parent"); /* from where the child has read to */
	close(fd);
	need(!pthread_create(&other, NULL, thread, "by-thread"), "thread");
	pthread_join(other, NULL);
	pid = vfork();
	if (!pid) {
		execl(self, self, "--child", NULL);
		_exit(1);
	}
	need(waitpid(pid, NULL, 0) == pid, "wait");
	pid = fork();
	if (!pid) {
		raise(SIGKILL);
		_exit(1);
	}
	need(waitpid(pid, NULL, 0) == pid, "wait");
}

static void mapped(void)
{
	int fd = open("data", O_RDWR);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	need(map != MAP_FAILED, "mmap");
	map[7]++;
	need(!msync(map, 4096, MS_SYNC) && !munmap(map, 4096), "msync");
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--child"))
		return access(".", F_OK);
	if (argc > 2 && (!strcmp(argv[1], "--loop") || !strcmp(argv[1], "--loop-slowly"))) {
		/* for ever: something to stop anywhere */
		need(!chdir(argv[2]), argv[2]);
		for (;;) {
			fill("again", 20);
			unlink("again");
			if (argv[1][strlen("--loop")])
				usleep(500);
		}
	}
	need(argc == 2 && !chdir(argv[1]), "tracee DIRECTORY");
	names();
	descriptors();
	tasks(argv[0]);
	mapped();
	return 0;
}
