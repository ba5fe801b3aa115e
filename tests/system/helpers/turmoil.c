// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that make calls all the time, while their process comes to an end, becomes another
 * program or is stopped. The exit status is 7.
 *
 *   turmoil exec	a thread that is not the first runs another program
 *   turmoil exit	one of them ends the process
 *   turmoil stop	another process stops it, lets it go on and kills it
 *   turmoil threads	threads come and go
 *   turmoil done
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "need.h"

#define THREADS 6
#define ROUNDS 20

static const char *self;

static void *calls(void *arg)
{
	long count = (long)arg;
	struct stat st;

	while (!count || --count)
		stat("/", &st);
	return NULL;
}

static void *exec(void *arg)
{
	usleep(2000);
	execl(self, self, "done", NULL);
	return NULL;
}

static void *end(void *arg)
{
	usleep(2000);
	_exit(7);
	return NULL;
}

static void busy(void *(*other)(void *arg))
{
	pthread_t thread;
	int i;

	for (i = 0; i < THREADS; i++)
		need(!pthread_create(&thread, NULL, calls, NULL), "pthread_create");
	need(!other || !pthread_create(&thread, NULL, other, NULL), "pthread_create");
	calls(NULL);
}

static void stop_and_go(void)
{
	int status, i;
	pid_t pid = fork();

	if (!pid)
		busy(NULL);
	for (i = 0; i < ROUNDS; i++) {
		usleep(1000);
		kill(pid, SIGSTOP);
		need(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "stop");
		kill(pid, SIGCONT);
		need(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status), "go");
	}
	kill(pid, SIGKILL);
	need(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status), "kill");
}

static void come_and_go(void)
{
	pthread_t thread[THREADS];
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < THREADS; i++)
			need(!pthread_create(&thread[i], NULL, calls, (void *)3), "create");
		for (i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	self = argv[0];
	if (!strcmp(what, "exec"))
		busy(exec);
	else if (!strcmp(what, "exit"))
		busy(end);
	else if (!strcmp(what, "stop"))
		stop_and_go();
	else if (!strcmp(what, "threads"))
		come_and_go();
	else
		need(!strcmp(what, "done"), "turmoil exec|exit|stop|threads|done");
	return 7;
}
