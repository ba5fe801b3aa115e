/* SPDX-License-Identifier: GPL-2.0 */
/* Memory, or the program's end with a message. */
#ifndef COMMON_ALLOC_H
#define COMMON_ALLOC_H

#include "../../dm-david/portable/portable.h"

/* Print "PROGRAM: ..." and end with `die_status`: EXIT_FAILURE, if nobody has set it. */
extern int die_status;
void die(const char *format, ...) __attribute__((__noreturn__, __format__(printf, 1, 2)));

/* Memory, or the end. */
void *xmalloc(size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrndup(const char *text, size_t length);

#endif
