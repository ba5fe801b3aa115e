// SPDX-License-Identifier: GPL-2.0
/*
 * The words of table lines and messages: kinds of content, suffixes and kinds of files, RAW rules,
 * profiles. The first byte chooses. What is taken must be printed as something that is taken again
 * and printed alike; what is refused must say why.
 */
#include <stdlib.h>

#include "fuzz.h"
#include "../../dm-david/lib/content.h"
#include "../../dm-david/lib/rawset.h"
#include "../../dm-david/lib/suffixmap.h"
#include "../../model/profile/profile.h"

#define TEXT	16384

static void must(bool good)
{
	if (!good)
		abort();
}

static void content_word(const char *text)
{
	char printed[CONTENT_TEXT_SIZE], again[CONTENT_TEXT_SIZE];
	struct content c = {}, d = {};
	u8 made[256];

	if (content_parse(text, &c))
		return;
	content_print(&c, printed, sizeof(printed));
	must(!content_parse(printed, &d));
	content_print(&d, again, sizeof(again));
	must(!strcmp(printed, again));
	content_fill(made, &c, 1, 2, 3, sizeof(made));
}

static void files_word(const char *text, size_t len)
{
	char error[160] = "";
	struct suffix_map map;
	unsigned int i;

	if (suffix_map_parse(&map, text, error, sizeof(error))) {
		must(*error && strnlen(error, sizeof(error)) < sizeof(error) && !map.count);
		return;
	}
	must(map.count <= SUFFIXES);
	for (i = 0; i < map.count; i++)
		must(map.entry[i].kind < FILE_KINDS && map.entry[i].suffix[0]);
	must(suffix_map_find(&map, text, len) < FILE_KINDS);
}

static bool no_parent(void *ctx, u64 *volume, u64 *ino)
{
	return (*ino)++ % 3;
}

/* Rules with commas between; one that begins with "!" is removed. */
static void raw_words(char *text)
{
	struct rawset *set = rawset_new(0), *next, *copy;
	char error[RAW_ERROR_SIZE], rule[RAW_TEXT_SIZE], other[RAW_TEXT_SIZE];
	struct raw_file file = { .ino = 7, .name = text, .name_len = strlen(text) };
	unsigned int i;
	char *word;
	u64 len;

	while ((word = strsep(&text, ","))) {
		error[0] = '\0';
		next = *word == '!' ? rawset_remove(set, word + 1, 0, error) :
				      rawset_add(set, word, 0, error);
		if (!next) {
			must(*error && strnlen(error, sizeof(error)) < sizeof(error));
			continue;
		}
		rawset_free(set);
		set = next;
	}
	must(rawset_count(set) <= 4 * RAW_RULES);
	rawset_file(set, &file, no_parent, NULL);
	for (i = 0; i < 64; i++) {
		rawset_sector(set, (u64)1 << i, &len);
		must(len);
	}
	copy = rawset_new(0);
	for (i = 0; i < rawset_count(set); i++) {
		rawset_print(set, i, rule, sizeof(rule));
		next = rawset_add(copy, rule, 0, error);
		must(next);
		rawset_free(copy);
		copy = next;
	}
	must(rawset_count(copy) == rawset_count(set));
	for (i = 0; i < rawset_count(set); i++) {
		rawset_print(set, i, rule, sizeof(rule));
		rawset_print(copy, i, other, sizeof(other));
		must(!strcmp(rule, other));
	}
	rawset_free(copy);
	rawset_free(set);
}

static void profile_word(const char *text, size_t len)
{
	static char printed[8 * TEXT], again[8 * TEXT];
	struct profile_error error = {};
	struct profile p = {}, q = {};
	size_t size;

	if (profile_parse(&p, text, len, &error)) {
		must(error.text[0]);
		return;
	}
	size = profile_print(&p, printed, sizeof(printed));
	if (size < sizeof(printed)) {
		must(!profile_parse(&q, printed, size, &error));
		must(profile_print(&q, again, sizeof(again)) == size);
		must(!memcmp(printed, again, size));
		profile_free(&q);
	}
	/* As ctr does, with any size of disk. */
	profile_scale(&p, (u64)len << (len % 50));
	profile_free(&p);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	char *text;

	if (!size || size > TEXT)
		return 0;
	/* As large as it is, so that nothing is read behind it unseen. */
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	switch (data[0] & 3) {
	case 0:
		content_word(text);
		break;
	case 1:
		files_word(text, strlen(text));
		break;
	case 2:
		raw_words(text);
		break;
	case 3:
		profile_word(text, size - 1);
		break;
	}
	free(text);
	return 0;
}
