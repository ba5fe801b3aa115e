// SPDX-License-Identifier: GPL-2.0
#include "arraytext.h"

#define DEFAULT_CHUNK	1024	/* sectors: mdadm's 512 KiB */

const char array_words[] =
"  0, 1, 4, 5, 6, 10     the level, as Linux's md has it; comes first\n"
"  members=N             how many disks, 1 to 64\n"
"  chunk=512K            4K to 64M, a power of two (512K, as mdadm's); RAID-1 has none\n"
"  layout=NAME           RAID-5 and 6: left-symmetric, which is mdadm's choice, left-asymmetric,\n"
"                        right-symmetric, right-asymmetric (or ls, la, rs, ra), parity-first,\n"
"                        parity-last. RAID-6 only: ddf-zero-restart, ddf-N-restart,\n"
"                        ddf-N-continue, and the first five with -6 behind.\n"
"                        RAID-10: n2, f2, o2 and the like: near, far or offset copies (n2)\n";

static int complain(const char *word, const char *text)
{
	fprintf(stderr, "david-sim: --array: '%s': %s\n", word, text);
	return -1;
}

static bool parse_level(const char *word, enum array_level *level)
{
	static const struct {
		const char *word;
		enum array_level level;
	} levels[] = { { "0", ARRAY_0 }, { "1", ARRAY_1 }, { "4", ARRAY_4 },
		       { "5", ARRAY_5 }, { "6", ARRAY_6 }, { "10", ARRAY_10 } };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(levels); i++)
		if (!strcmp(levels[i].word, word)) {
			*level = levels[i].level;
			return true;
		}
	return false;
}

static bool parse_number(const char *word, u64 most, u64 *number)
{
	char *end;

	if (*word < '0' || *word > '9')
		return false;
	errno = 0;
	*number = strtoull(word, &end, 10);
	return !*end && !errno && *number <= most;
}

/* 65536, 64K, 1M: sectors */
static bool parse_chunk(const char *word, u32 *chunk)
{
	char *end;
	u64 bytes;

	if (*word < '0' || *word > '9')
		return false;
	bytes = strtoull(word, &end, 10);
	if (bytes > 64 << 20)
		return false;
	if (*end == 'K' || *end == 'k')
		bytes <<= 10;
	else if (*end == 'M' || *end == 'm')
		bytes <<= 20;
	else if (*end)
		return false;
	*chunk = bytes / 512;
	return (!*end || !end[1]) && bytes >= 4096 && bytes <= 64 << 20 && !(bytes & (bytes - 1));
}

/* NULL, or what the value must be. */
static const char *value_word(struct array_layout *layout, const char *name, const char *value)
{
	u64 n = 0;

	if (!strcmp(name, "members")) {
		if (!parse_number(value, ARRAY_MEMBERS, &n) || !n)
			return "1 to 64";
		layout->members = n;
	} else if (!strcmp(name, "chunk")) {
		if (layout->level == ARRAY_1)
			return "RAID-1 has no chunks; leave it out";
		if (!parse_chunk(value, &layout->chunk))
			return "a power of two from 4K to 64M";
	} else if (!strcmp(name, "layout")) {
		if (!layout_parse(layout, value))
			return "no layout of this level; see david-sim layout --help";
	} else {
		return "no such word in an array; see david-sim layout --help";
	}
	return NULL;
}

static int parse_words(struct array_layout *layout, char *rest)
{
	char *word = strsep(&rest, " \t,"), *value;
	const char *wrong;

	if (!parse_level(word, &layout->level))
		return complain(word, "the first word is the level: 0, 1, 4, 5, 6 or 10");
	layout->chunk = layout->level == ARRAY_1 ? 0 : DEFAULT_CHUNK;
	layout_parse(layout, NULL);
	while ((word = strsep(&rest, " \t,"))) {
		if (!*word)
			continue;
		value = strchr(word, '=');
		if (value)
			*value++ = '\0';
		wrong = value_word(layout, word, value ?: "");
		if (wrong)
			return complain(word, wrong);
	}
	if (!layout->members)
		return complain("members", "of how many disks? Add members=4, for instance");
	return 0;
}

int array_parse(struct array_layout *layout, const char *text, u64 member_sectors)
{
	char *copy = strdup(text);
	const char *wrong;
	int r;

	*layout = (struct array_layout){ };
	r = copy ? parse_words(layout, copy) : complain(text, "out of memory");
	free(copy);
	if (r)
		return r;
	wrong = layout_init(layout, member_sectors ?: 16ULL * (layout->chunk ?: ARRAY_BLOCK));
	return wrong ? complain(text, wrong) : 0;
}
