/* SPDX-License-Identifier: GPL-2.0 */
/* Memory, or the program's end with a message. */
#ifndef COMMON_ALLOC_H
#define COMMON_ALLOC_H

#include "complain.h"

void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *old, size_t bytes);
char *xstrndup(const char *text, size_t length);

#endif
