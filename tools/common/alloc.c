// SPDX-License-Identifier: GPL-2.0
#include "alloc.h"

static void *checked(void *new)
{
	if (!new)
		die("no memory");
	return new;
}

void *xmalloc(size_t bytes)
{
	return checked(malloc(bytes ?: 1));
}

void *xcalloc(size_t count, size_t bytes)
{
	return checked(calloc(count ?: 1, bytes ?: 1));
}

void *xrealloc(void *old, size_t bytes)
{
	return checked(realloc(old, bytes ?: 1));
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}
