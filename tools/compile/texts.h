/* SPDX-License-Identifier: GPL-2.0 */
/* The compiled trace's buffers: each text once. And a map of numbers, which it is made of. */
#ifndef COMPILE_TEXTS_H
#define COMPILE_TEXTS_H

#include "../../dm-david/portable/portable.h"

struct map {
	u64 *key;
	u64 *value;
	u32 room; /* a power of 2, or 0 */
	u32 used;
};

/* The value's place; a new one is 0. No key is U64_MAX. */
u64 *map_at(struct map *map, u64 key);
void map_free(struct map *map);

struct texts {
	char *data;
	u64 used;
	u64 room;
	struct map known; /* by hash */
};

void texts_init(struct texts *texts); /* 0 is the empty text */
void texts_free(struct texts *texts);
u64 texts_add(struct texts *texts, const char *text);

u64 text_hash(u64 seed, const char *text, size_t length);

#endif
