// SPDX-License-Identifier: GPL-2.0
/* RAW rules as pages of a store: see rawpage.h. */
#include "rawpage.h"

#include "../portable/crc.h"
#include "rawtables.h"

#define MAGIC		0x77615244	/* "DRaw" */
#define VERSION		1
#define KINDS		(TABLES + 1)	/* the tables, then suffixes */

struct disk_range {
	__le64 volume;
	__le64 first;
	__le64 last;
};

union disk_rule {
	struct disk_range range;
	char suffix[RAW_SUFFIX_LEN + 1];
};

/* Rules are in the order of rawset_print(). The counts are those of the whole set. */
struct raw_page {
	__le32 crc;		/* crc32c of the rest */
	__le32 magic;
	__le16 version;
	__le16 number;		/* of this page */
	__le32 zero;
	__le64 generation;
	__le32 count[KINDS];
	union disk_rule rule[RAWPAGE_RULES];
};

static void rawpage_asserts(void)
{
	BUILD_BUG_ON(sizeof(struct raw_page) != RAWPAGE_SIZE);
	BUILD_BUG_ON(offsetof(struct raw_page, magic) != 4);
	BUILD_BUG_ON(offsetof(struct raw_page, version) != 8);
	BUILD_BUG_ON(offsetof(struct raw_page, number) != 10);
	BUILD_BUG_ON(offsetof(struct raw_page, generation) != 16);
	BUILD_BUG_ON(offsetof(struct raw_page, count) != 24);
	BUILD_BUG_ON(offsetof(struct raw_page, rule) != 40);
	BUILD_BUG_ON(sizeof(union disk_rule) != 24);
}

static u32 crc_of_page(const struct raw_page *page)
{
	return crc_of(CRC_32C, &page->magic, RAWPAGE_SIZE - sizeof(page->crc));
}

unsigned int rawpage_count(const struct rawset *set)
{
	return DIV_ROUND_UP(rawset_count(set), RAWPAGE_RULES);
}

static unsigned int count_of(const struct rawset *set, unsigned int kind)
{
	return kind < TABLES ? set->count[kind] : set->suffixes;
}

static void pack_rule(const struct rawset *set, unsigned int kind, unsigned int i,
		      union disk_rule *to)
{
	const struct raw_range *r;

	if (kind == TABLES) {
		memcpy(to->suffix, set->suffix[i].text, sizeof(to->suffix));
		return;
	}
	r = &set->range[kind][i];
	to->range.volume = cpu_to_le64(r->volume);
	to->range.first = cpu_to_le64(r->first);
	to->range.last = cpu_to_le64(r->last);
}

void rawpage_pack(const struct rawset *set, u64 generation, unsigned int n, void *to)
{
	unsigned int kind, i, at = 0, from = n * RAWPAGE_RULES;
	struct raw_page *page = to;

	rawpage_asserts();
	memset(page, 0, sizeof(*page));
	page->magic = cpu_to_le32(MAGIC);
	page->version = cpu_to_le16(VERSION);
	page->number = cpu_to_le16(n);
	page->generation = cpu_to_le64(generation);
	for (kind = 0; kind < KINDS; kind++) {
		page->count[kind] = cpu_to_le32(count_of(set, kind));
		for (i = 0; i < count_of(set, kind); i++, at++)
			if (at >= from && at < from + RAWPAGE_RULES)
				pack_rule(set, kind, i, &page->rule[at - from]);
	}
	page->crc = cpu_to_le32(crc_of_page(page));
}

static const char *check_page(const struct raw_page *page, unsigned int number)
{
	if (le32_to_cpu(page->magic) != MAGIC)
		return "a page is of something else";
	if (le32_to_cpu(page->crc) != crc_of_page(page))
		return "a page has a wrong checksum";
	if (le16_to_cpu(page->version) != VERSION)
		return "they are of another version";
	if (le16_to_cpu(page->number) != number)
		return "a page is another one";
	return NULL;
}

unsigned int rawpage_look(const void *first, const char **wrong)
{
	const struct raw_page *page = first;
	unsigned int kind, rules = 0;

	*wrong = check_page(page, 0);
	if (*wrong)
		return 0;
	*wrong = "there are too many";
	for (kind = 0; kind < KINDS; kind++) {
		if (le32_to_cpu(page->count[kind]) > RAW_RULES)
			return 0;
		rules += le32_to_cpu(page->count[kind]);
	}
	*wrong = "there are none";
	return DIV_ROUND_UP(rules, RAWPAGE_RULES);
}

static bool unpack_range(struct rawset *set, enum table table, const union disk_rule *from)
{
	struct raw_range r = {
		.volume = le64_to_cpu(from->range.volume),
		.first = le64_to_cpu(from->range.first),
		.last = le64_to_cpu(from->range.last),
	};
	const struct raw_range *before = set->range[table] + set->count[table];

	if (r.last < r.first || (table == SECTORS && r.volume) ||
	    (table == DIR && r.first != r.last))
		return false;
	if (set->count[table]) {
		before--;
		if (r.volume < before->volume ||
		    (r.volume == before->volume && r.first <= before->last))
			return false;
	}
	set->range[table][set->count[table]++] = r;
	return true;
}

static bool unpack_suffix(struct rawset *set, const union disk_rule *from)
{
	size_t len = strnlen(from->suffix, sizeof(from->suffix)), i;
	struct suffix *suffix = &set->suffix[set->suffixes];

	if (rawset_bad_suffix(from->suffix, len))
		return false;
	for (i = len; i < sizeof(from->suffix); i++)
		if (from->suffix[i])
			return false;
	memcpy(suffix->text, from->suffix, sizeof(suffix->text));
	if (set->suffixes && memcmp(suffix[-1].text, suffix->text, sizeof(suffix->text)) >= 0)
		return false;
	set->suffixes++;
	return true;
}

int rawpage_unpack(const void *pages, unsigned int n, gfp_t gfp, struct rawset **result,
		   u64 *generation, const char **wrong)
{
	const struct raw_page *page = pages;
	unsigned int count[KINDS], kind, i, at = 0;
	struct rawset *set;

	for (i = 0; i < n; i++) {
		*wrong = check_page(&page[i], i);
		if (*wrong)
			return -EINVAL;
		*wrong = "pages do not belong together";
		if (page[i].generation != page->generation ||
		    memcmp(page[i].count, page->count, sizeof(page->count)))
			return -EINVAL;
	}
	for (kind = 0; kind < KINDS; kind++)
		count[kind] = le32_to_cpu(page->count[kind]);
	set = rawset_alloc(count, count[TABLES], gfp);
	if (!set)
		return -ENOMEM;
	*wrong = "a rule makes no sense";
	for (kind = 0; kind < KINDS; kind++) {
		for (i = 0; i < count[kind]; i++, at++) {
			const union disk_rule *rule =
				&page[at / RAWPAGE_RULES].rule[at % RAWPAGE_RULES];

			if (kind < TABLES ? unpack_range(set, kind, rule) :
					    unpack_suffix(set, rule))
				continue;
			rawset_free(set);
			return -EINVAL;
		}
	}
	*generation = le64_to_cpu(page->generation);
	*result = set;
	return 0;
}
