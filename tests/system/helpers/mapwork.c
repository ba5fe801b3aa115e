// SPDX-License-Identifier: GPL-2.0
/*
 * Two threads that only use mapped files.
 *
 *   mapwork DIR	one reads all of DIR/r in steps of a page, and 200 pages of DIR/t anywhere;
 *			one writes all of DIR/w, asks for it to be written, and writes a page again
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "need.h"

#define PAGE 4096
#define TOUCHES 200

static const char *dir;

static char *map(const char *name, int write, long *pages)
{
	char path[4096];
	struct stat st;
	void *at;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, write ? O_RDWR : O_RDONLY);
	need(fd >= 0 && !fstat(fd, &st), path);
	at = mmap(NULL, st.st_size, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
	need(at != MAP_FAILED, path);
	close(fd);
	*pages = st.st_size / PAGE;
	return at;
}

static void touch(const char *at)
{
	__atomic_load_n(at, __ATOMIC_SEQ_CST);
}

static void *reader(void *arg)
{
	unsigned long long random = 1;
	long pages, i, step;
	char *at = map("r", 0, &pages);

	for (i = 0; i < pages; i++)
		touch(&at[i * PAGE]);
	munmap(at, pages * PAGE);
	at = map("t", 0, &pages);
	madvise(at, pages * PAGE, MADV_RANDOM);
	step = pages / TOUCHES;
	for (i = 0; i < TOUCHES; i++) {
		random = random * 6364136223846793005ull + 1442695040888963407ull;
		/* Each page once: as many touches as there are pages. */
		touch(&at[(i * 77 % TOUCHES * step + (random >> 33) % step) * PAGE]);
	}
	munmap(at, pages * PAGE);
	return NULL;
}

static void *writer(void *arg)
{
	long pages, i;
	char *at = map("w", 1, &pages);

	for (i = 0; i < pages; i++)
		at[i * PAGE] = i;
	need(!msync(at, pages * PAGE, MS_SYNC), "msync");
	at[PAGE] = 1;
	munmap(at, pages * PAGE);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	need(argc == 2, "mapwork DIR");
	dir = argv[1];
	need(!pthread_create(&thread[0], NULL, reader, NULL), "pthread_create");
	need(!pthread_create(&thread[1], NULL, writer, NULL), "pthread_create");
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
