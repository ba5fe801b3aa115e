// SPDX-License-Identifier: GPL-2.0
/*
 * Threads that wait for each other in known ways.
 *
 *   waiters DIR THREADS [KIND:A>B]...
 *
 * Thread A makes calls that name A.1 and A.2, waits for all that it is told to wait for, makes A.3
 * and A.4, lets those go that wait for it, and makes A.5. Kinds: pipe, cond (a condition variable),
 * spin (a word of memory; others may run meanwhile), pure (memory alone).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EDGES_MAX 64
#define THREADS_MAX 8

struct edge {
	char kind;
	int from;
	int to;
	int pipe[2];
	int set;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

static struct edge edge[EDGES_MAX];
static int edges;
static const char *dir;

static void call(int thread, int number)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d.%d", dir, thread, number);
	access(path, F_OK);
}

static void spin(struct edge *e)
{
	struct timespec time;

	while (!__atomic_load_n(&e->set, __ATOMIC_ACQUIRE)) {
		if (e->kind != 's')
			continue;
		/* Under the virtual clock nothing else runs, and no time goes by, otherwise. */
		sched_yield();
		clock_gettime(CLOCK_MONOTONIC, &time);
	}
}

static void wait_at(struct edge *e)
{
	char byte;

	if (e->kind == 's' || e->kind == 'u') {
		spin(e);
	} else if (e->kind == 'c') {
		pthread_mutex_lock(&e->lock);
		while (!e->set)
			pthread_cond_wait(&e->changed, &e->lock);
		pthread_mutex_unlock(&e->lock);
	} else if (read(e->pipe[0], &byte, 1) != 1) {
		abort();
	}
}

static void let_go(struct edge *e)
{
	if (e->kind == 's' || e->kind == 'u') {
		__atomic_store_n(&e->set, 1, __ATOMIC_RELEASE);
	} else if (e->kind == 'c') {
		pthread_mutex_lock(&e->lock);
		e->set = 1;
		pthread_cond_signal(&e->changed);
		pthread_mutex_unlock(&e->lock);
	} else if (write(e->pipe[1], "", 1) != 1) {
		abort();
	}
}

static void *work(void *arg)
{
	int me = (int)(long)arg, i;

	call(me, 1);
	call(me, 2);
	for (i = 0; i < edges; i++) {
		if (edge[i].to == me)
			wait_at(&edge[i]);
	}
	call(me, 3);
	call(me, 4);
	for (i = 0; i < edges; i++) {
		if (edge[i].from == me)
			let_go(&edge[i]);
	}
	call(me, 5);
	return NULL;
}

static void add_edge(const char *text)
{
	struct edge *e = &edge[edges++];
	const char *colon = strchr(text, ':');

	if (!colon || edges > EDGES_MAX || sscanf(colon, ":%d>%d", &e->from, &e->to) != 2)
		exit(2);
	e->kind = strncmp(text, "pure", 4) ? *text : 'u';
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->changed, NULL);
	if (e->kind == 'p' && pipe(e->pipe))
		exit(2);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int threads = argc > 2 ? atoi(argv[2]) : 0, i;

	if (threads < 1 || threads > THREADS_MAX)
		return 2;
	dir = argv[1];
	for (i = 3; i < argc; i++)
		add_edge(argv[i]);
	for (i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, work, (void *)(long)(i + 1));
	for (i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
