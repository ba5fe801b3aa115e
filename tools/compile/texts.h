/* SPDX-License-Identifier: GPL-2.0 */
/* The compiled trace's texts, each once. */
#ifndef COMPILE_TEXTS_H
#define COMPILE_TEXTS_H

#include "../common/map.h"

struct texts {
	char *data;
	u64 used;
	u64 room;
	struct map known; /* by hash */
};

void texts_init(struct texts *texts); /* 0 is the empty text */
void texts_free(struct texts *texts);
u64 texts_add(struct texts *texts, const char *text);

#endif
