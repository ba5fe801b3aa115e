// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: children that begin in ways that a log shows in odd order. In the directory
 * of its second argument it is to "spawn" programs, whose descriptors are opened in the child
 * before its exec, or to "exec" from a thread that is not the first one.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

#define COUNT	6

static void spawn(int number)
{
	char in[] = "in", out[16], *words[] = { "cat", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;

	snprintf(out, sizeof(out), "out%d", number);
	need(!posix_spawn_file_actions_init(&actions), "actions");
	need(!posix_spawn_file_actions_addopen(&actions, 0, in, O_RDONLY, 0), "open");
	need(!posix_spawn_file_actions_addopen(&actions, 1, out, O_WRONLY | O_CREAT, 0644), "open");
	need(!posix_spawn(&pid, "/bin/cat", &actions, NULL, words, environ), "posix_spawn");
	need(!posix_spawn_file_actions_destroy(&actions), "actions");
	need(waitpid(pid, NULL, 0) == pid, "waitpid");
}

/* Held until the thread's beginning is over for the first one, too. */
static pthread_mutex_t begun = PTHREAD_MUTEX_INITIALIZER;

static void *replace(void *unused)
{
	pthread_mutex_lock(&begun);
	execl("/bin/cat", "cat", "in", NULL);
	need(0, "execl");
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int i, fd;

	need(argc == 3 && !chdir(argv[2]), "chdir");
	fd = open("in", O_CREAT | O_RDWR | O_TRUNC, 0644);
	need(fd >= 0 && write(fd, "twelve bytes", 12) == 12 && !close(fd), "in");
	if (!strcmp(argv[1], "exec")) {
		pthread_mutex_lock(&begun);
		need(!pthread_create(&thread, NULL, replace, NULL), "thread");
		pthread_mutex_unlock(&begun);
		need(!pthread_join(thread, NULL), "join");
	}
	for (i = 0; i < COUNT; i++)
		spawn(i);
	return 0;
}
