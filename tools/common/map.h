/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash table: from a 64 bit key to a number or a pointer. Open addressing, at most half full. A
 * key is never removed; its value may be set to 0 or NULL, which is what a new key has.
 *
 * What does not fit into 64 bits, as a text, has a hash for a key. The value is then a list of all
 * that have this hash.
 */
#ifndef COMMON_MAP_H
#define COMMON_MAP_H

#include "../../dm-david/portable/hash.h"

union map_value {
	u64 number;
	void *pointer;
};

struct map { /* zeroed at first */
	u64 *key;
	union map_value *value;
	u32 room; /* a power of 2, or 0 */
	u32 used;
};

/* The value's place, until the next call. No key is U64_MAX. O(1) on average. */
union map_value *map_value_at(struct map *map, u64 key);

static inline u64 *map_at(struct map *map, u64 key)
{
	return &map_value_at(map, key)->number;
}

static inline void **map_pointer_at(struct map *map, u64 key)
{
	return &map_value_at(map, key)->pointer;
}

/* Any number as a key; two of them come to the same one. */
static inline u64 map_key(u64 number)
{
	return number == U64_MAX ? 0 : number;
}

void map_free(struct map *map);

/* Of a text, or any bytes; never U64_MAX. */
u64 map_hash(u64 seed, const void *bytes, size_t length);

#endif
