// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD: the most bytes that a program has had allocated at a time go to descriptor 9 when it
 * ends. Buffers of 16 MB and more, as of a file that is read, do not count.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#define LARGE	16000000

/* glibc's own */
__typeof__(malloc) __libc_malloc;
__typeof__(calloc) __libc_calloc;
__typeof__(realloc) __libc_realloc;
__typeof__(aligned_alloc) __libc_memalign;
__typeof__(free) __libc_free;

static size_t live, most;

static size_t bytes_of(void *block)
{
	size_t bytes = malloc_usable_size(block);

	return bytes < LARGE ? bytes : 0;
}

static void *count(void *block)
{
	live += bytes_of(block);
	if (live > most)
		most = live;
	return block;
}

void *malloc(size_t size)
{
	return count(__libc_malloc(size));
}

void *calloc(size_t nr, size_t size)
{
	return count(__libc_calloc(nr, size));
}

void *realloc(void *block, size_t size)
{
	live -= bytes_of(block);
	return count(__libc_realloc(block, size));
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return count(__libc_memalign(alignment, size));
}

void free(void *block)
{
	live -= bytes_of(block);
	__libc_free(block);
}

static void __attribute__((destructor)) say(void)
{
	dprintf(9, "%zu\n", most);
}
