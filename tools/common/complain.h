/* SPDX-License-Identifier: GPL-2.0 */
/* What a program says on standard error, and its end. */
#ifndef COMMON_COMPLAIN_H
#define COMMON_COMPLAIN_H

#include "../../dm-david/portable/portable.h"

/* Prints a line, behind all that was printed before. Returns -1. */
int complain(const char *format, ...) __printf(1, 2);

/* A command was called wrong: prints "COMMAND: ...", and a line that names its help. Returns 1. */
int bad_usage(const char *command, const char *format, ...) __printf(2, 3);

/* That line only: getopt_long() has said what is wrong. Returns 1. */
int usage_hint(const char *command);

/* Prints "PROGRAM: ..." and ends with `die_status`: EXIT_FAILURE, if nobody has set it. */
extern int die_status;
void die(const char *format, ...) __attribute__((__noreturn__)) __printf(1, 2);

#endif
