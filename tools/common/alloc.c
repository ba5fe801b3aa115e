// SPDX-License-Identifier: GPL-2.0
#include "alloc.h"

#include <errno.h>
#include <stdarg.h>

int die_status = EXIT_FAILURE;

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	exit(die_status);
}

void *xrealloc(void *old, size_t bytes)
{
	void *new = realloc(old, bytes ? bytes : 1);

	if (!new)
		die("no memory");
	return new;
}

void *xmalloc(size_t bytes)
{
	return xrealloc(NULL, bytes);
}

char *xstrndup(const char *text, size_t length)
{
	char *copy = xmalloc(length + 1);

	memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}
