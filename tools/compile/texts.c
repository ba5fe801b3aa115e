// SPDX-License-Identifier: GPL-2.0
#include "texts.h"

#include "../common/alloc.h"

static u32 place_of(const struct map *map, u64 key)
{
	u32 at = (key * 0x9e3779b97f4a7c15ull >> 32) & (map->room - 1);

	while (map->key[at] != U64_MAX && map->key[at] != key)
		at = (at + 1) & (map->room - 1);
	return at;
}

static void grow(struct map *map)
{
	struct map old = *map;
	u32 i, at;

	map->room = old.room ? old.room * 2 : 256;
	map->key = xmalloc(map->room * sizeof(*map->key));
	map->value = xmalloc(map->room * sizeof(*map->value));
	memset(map->key, 0xff, map->room * sizeof(*map->key));
	memset(map->value, 0, map->room * sizeof(*map->value));
	for (i = 0; i < old.room; i++) {
		if (old.key[i] == U64_MAX)
			continue;
		at = place_of(map, old.key[i]);
		map->key[at] = old.key[i];
		map->value[at] = old.value[i];
	}
	free(old.key);
	free(old.value);
}

u64 *map_at(struct map *map, u64 key)
{
	u32 at;

	if (map->used * 2 >= map->room)
		grow(map);
	at = place_of(map, key);
	if (map->key[at] == U64_MAX) {
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

u64 text_hash(u64 seed, const char *text, size_t length)
{
	u64 hash = seed ^ 0xcbf29ce484222325ull;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (u8)text[i]) * 0x100000001b3ull;
	hash ^= hash >> 31;
	return hash == U64_MAX ? 0 : hash;
}

static u64 append(struct texts *texts, const char *text, size_t length)
{
	u64 at = texts->used;

	while (texts->used + length + 1 > texts->room) {
		texts->room = texts->room * 2 + 4096;
		texts->data = xrealloc(texts->data, texts->room);
	}
	memcpy(texts->data + at, text, length + 1);
	texts->used += length + 1;
	return at;
}

void texts_init(struct texts *texts)
{
	*texts = (struct texts){};
	append(texts, "", 0);
}

void texts_free(struct texts *texts)
{
	free(texts->data);
	map_free(&texts->known);
}

u64 texts_add(struct texts *texts, const char *text)
{
	size_t length = strlen(text);
	u64 *known;

	if (!length)
		return 0;
	known = map_at(&texts->known, text_hash(0, text, length));
	if (*known && !strcmp(texts->data + *known, text))
		return *known;
	*known = append(texts, text, length);
	return *known;
}
