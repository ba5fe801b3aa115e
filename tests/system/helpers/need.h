/* SPDX-License-Identifier: GPL-2.0 */
/* For programs that tests run: they go on, or say what went wrong and end with 1. */
#ifndef TESTS_NEED_H
#define TESTS_NEED_H

#include <stdio.h>
#include <stdlib.h>

static inline void need(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(1);
}

#endif
