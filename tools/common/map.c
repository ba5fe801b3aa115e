// SPDX-License-Identifier: GPL-2.0
#include "map.h"

#include "alloc.h"

#define ROOM_MIN 256
#define FREE U64_MAX

static u32 map_place(const struct map *map, u64 key)
{
	u32 at = hash_slot(key, map->room);

	while (map->key[at] != FREE && map->key[at] != key)
		at = (at + 1) & (map->room - 1);
	return at;
}

static void map_grow(struct map *map)
{
	struct map old = *map;
	u32 i, at;

	map->room = max(old.room * 2, (u32)ROOM_MIN);
	map->key = xmalloc(map->room * sizeof(*map->key));
	map->value = xcalloc(map->room, sizeof(*map->value));
	memset(map->key, 0xff, map->room * sizeof(*map->key));
	for (i = 0; i < old.room; i++) {
		if (old.key[i] == FREE)
			continue;
		at = map_place(map, old.key[i]);
		map->key[at] = old.key[i];
		map->value[at] = old.value[i];
	}
	map_free(&old);
}

union map_value *map_value_at(struct map *map, u64 key)
{
	u32 at;

	if (map->used * 2 >= map->room)
		map_grow(map);
	at = map_place(map, key);
	if (map->key[at] == FREE) {
		map->key[at] = key;
		map->used++;
	}
	return &map->value[at];
}

void map_free(struct map *map)
{
	free(map->key);
	free(map->value);
}

/* FNV-1a. */
u64 map_hash(u64 seed, const void *bytes, size_t length)
{
	u64 hash = seed ^ 0xcbf29ce484222325ull;
	const u8 *byte = bytes;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ull;
	hash ^= hash >> 31;
	return hash == U64_MAX ? 0 : hash;
}
