// SPDX-License-Identifier: GPL-2.0
/* Memory, or the program's end with a message: trace.h has what is in here. */
#include <errno.h>
#include <stdarg.h>

#include "trace.h"

int die_status = STATUS_FAILED;

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
