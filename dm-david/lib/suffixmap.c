// SPDX-License-Identifier: GPL-2.0
/* Which suffix is which kind of file: see suffixmap.h. */
#include "suffixmap.h"

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/* The entry for @suffix, or -1. */
static int suffix_map_find_suffix(const struct suffix_map *map, const char *suffix, size_t len)
{
	char key[SUFFIX_LEN] = {};
	unsigned int i;

	if (!len || len > SUFFIX_LEN)
		return -1;
	for (i = 0; i < len; i++)
		key[i] = to_lower(suffix[i]);
	for (i = 0; i < map->count; i++)
		if (!memcmp(map->entry[i].suffix, key, SUFFIX_LEN))
			return i;
	return -1;
}

enum file_kind suffix_map_find(const struct suffix_map *map, const char *name, size_t len)
{
	size_t i = len;
	int found;

	while (i && name[i - 1] != '.')
		i--;
	/* A name that begins with its only dot is a hidden file without a suffix. */
	if (i < 2)
		return FILE_NONE;
	found = suffix_map_find_suffix(map, name + i, len - i);
	return found < 0 ? FILE_NONE : map->entry[found].kind;
}

static int find_kind(const char *word, size_t len)
{
	const char *name;
	int kind;

	for (kind = 0; kind < FILE_KINDS; kind++) {
		name = file_kind_name(kind);
		if (strlen(name) == len && !memcmp(name, word, len))
			return kind;
	}
	return -1;
}

/* Write to @error: @what, about the @len bytes at @p in @text. */
static int suffix_error(char *error, size_t size, const char *text, const char *p, size_t len,
			const char *what)
{
	snprintf(error, size, "suffixes, character %u, '%.*s': %s", (unsigned int)(p - text) + 1,
		 (int)min_t(size_t, len, 20), p, what);
	return -EINVAL;
}

static const char *suffix_map_add(struct suffix_map *map, const char *suffix, size_t len)
{
	size_t i;

	if (!len)
		return "a suffix is missing here";
	if (len > SUFFIX_LEN)
		return "a suffix has 11 characters at most";
	for (i = 0; i < len; i++)
		if (suffix[i] <= ' ' || suffix[i] == '.' || suffix[i] == '/')
			return "a suffix has no dot, slash or space";
	if (suffix_map_find_suffix(map, suffix, len) >= 0)
		return "this suffix stands twice";
	if (map->count == SUFFIXES)
		return "these are more than 64 suffixes";
	memset(&map->entry[map->count], 0, sizeof(map->entry[0]));
	for (i = 0; i < len; i++)
		map->entry[map->count].suffix[i] = to_lower(suffix[i]);
	map->count++;
	return NULL;
}

/*
 * Parse one "suffix,suffix=kind" and move *text behind it. On errors [*text, *text + *len) is what
 * is wrong.
 */
static const char *parse_group(struct suffix_map *map, const char **text, size_t *len)
{
	unsigned int i = map->count;
	const char *error;
	int kind;

	for (;; *text += *len + 1) {
		*len = strcspn(*text, ",=;");
		error = suffix_map_add(map, *text, *len);
		if (error)
			return error;
		if ((*text)[*len] == '=')
			break;
		if ((*text)[*len] != ',')
			return "wants =KIND behind the suffix";
	}
	*text += *len + 1;
	*len = strcspn(*text, ";");
	kind = find_kind(*text, *len);
	if (kind < 0)
		return "unknown kind; known are text, html, json, pdf, gzip, jpeg, none";
	for (; i < map->count; i++)
		map->entry[i].kind = kind;
	*text += *len;
	return NULL;
}

int suffix_map_parse(struct suffix_map *map, const char *text, char *error, size_t size)
{
	const char *p = text, *what;
	size_t len;

	map->count = 0;
	while (*p) {
		what = parse_group(map, &p, &len);
		if (what) {
			map->count = 0;
			return suffix_error(error, size, text, p, len, what);
		}
		p += *p == ';';
	}
	return 0;
}
