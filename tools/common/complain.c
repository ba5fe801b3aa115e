// SPDX-License-Identifier: GPL-2.0
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* program_invocation_short_name */
#endif
#include "complain.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

int die_status = EXIT_FAILURE;

/*
 * An answer that is cut, as its disk is full, must not end with 0. Each program of tools/ is linked
 * with this file, so none has to remember it.
 */
static void check_stdout(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	fprintf(stderr, "%s: standard output could not be written; what it has is not whole\n",
		program_invocation_short_name);
	_exit(die_status);
}

static void __attribute__((constructor)) watch_stdout(void)
{
	atexit(check_stdout);
}

static void print_line(const char *who, const char *format, va_list args)
{
	fflush(stdout);
	if (who)
		fprintf(stderr, "%s: ", who);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(NULL, format, args);
	va_end(args);
	return -1;
}

int bad_usage(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(command, format, args);
	va_end(args);
	return usage_hint(command);
}

int usage_hint(const char *command)
{
	fprintf(stderr, "Try '%s --help'.\n", command);
	return 1;
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(program_invocation_short_name, format, args);
	va_end(args);
	exit(die_status);
}
