// SPDX-License-Identifier: GPL-2.0
/*
 * RAW rules: three sorted tables of ranges, and a sorted table of suffixes.
 * Neighbouring ranges that can be joined are joined. A directory is a range of
 * one inode.
 */
#include "../portable/portable-alloc.h"
#include "rawtables.h"

static const char * const words[TABLES] = {
	[INO] = "ino",
	[DIR] = "dir",
	[SECTORS] = "sectors",
};

/* A rule, parsed. */
struct rule {
	bool is_suffix;
	enum table table;
	struct raw_range range;
	struct suffix suffix;
};

struct rawset *rawset_alloc(const unsigned int *count, unsigned int suffixes, gfp_t gfp)
{
	size_t ranges = 0, bytes = sizeof(struct rawset);
	struct rawset *set;
	struct raw_range *place;
	int i;

	for (i = 0; i < TABLES; i++)
		ranges += count[i] + 2;
	bytes += ranges * sizeof(struct raw_range) + (suffixes + 2) * sizeof(struct suffix);
	set = kvzalloc(bytes, gfp);
	if (!set)
		return NULL;
	set->bytes = bytes;
	place = (struct raw_range *)(set + 1);
	for (i = 0; i < TABLES; i++) {
		set->range[i] = place;
		place += count[i] + 2;
	}
	set->suffix = (struct suffix *)place;
	return set;
}

struct rawset *rawset_new(gfp_t gfp)
{
	static const unsigned int none[TABLES];

	return rawset_alloc(none, 0, gfp);
}

void rawset_free(struct rawset *set)
{
	kvfree(set);
}

static struct rawset *copy_set(const struct rawset *old, gfp_t gfp)
{
	struct rawset *set = rawset_alloc(old->count, old->suffixes, gfp);
	int i;

	if (!set)
		return NULL;
	for (i = 0; i < TABLES; i++) {
		set->count[i] = old->count[i];
		memcpy(set->range[i], old->range[i], old->count[i] * sizeof(struct raw_range));
	}
	set->suffixes = old->suffixes;
	memcpy(set->suffix, old->suffix, old->suffixes * sizeof(struct suffix));
	return set;
}

/* Words */

static int rule_error(char *error, const char *part, size_t len, const char *what)
{
	snprintf(error, RAW_ERROR_SIZE, "'%.*s': %s", (int)min_t(size_t, len, 40), part, what);
	return -EINVAL;
}

/* The number in the @len bytes at @text. */
static int read_number(const char *text, size_t len, u64 *value, char *error)
{
	u64 n = 0;
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned int digit = text[i] - '0';

		if (digit > 9)
			return rule_error(error, text, len, "is not a decimal number");
		if (n > (U64_MAX - digit) / 10)
			return rule_error(error, text, len, "is more than 2^64 - 1");
		n = n * 10 + digit;
	}
	if (!len)
		return rule_error(error, text, len, "a number is missing");
	*value = n;
	return 0;
}

static int parse_range(const char *text, struct rule *rule, char *error)
{
	size_t len = strcspn(text, "/");
	struct raw_range *r = &rule->range;
	int bad;

	if (text[len]) {
		if (rule->table == SECTORS)
			return rule_error(error, text, strlen(text),
				     "sectors are of the disk, not of a volume");
		bad = read_number(text, len, &r->volume, error);
		if (bad)
			return bad;
		text += len + 1;
	}
	len = strcspn(text, "-");
	bad = read_number(text, len, &r->first, error);
	if (bad)
		return bad;
	r->last = r->first;
	if (!text[len])
		return 0;
	if (rule->table == DIR)
		return rule_error(error, text, strlen(text), "wants one directory, not a range");
	bad = read_number(text + len + 1, strlen(text + len + 1), &r->last, error);
	if (bad)
		return bad;
	if (r->last < r->first)
		return rule_error(error, text, strlen(text), "ends before it begins");
	return 0;
}

const char *rawset_bad_suffix(const char *text, size_t len)
{
	size_t i;

	if (!len)
		return "a suffix is missing";
	if (len > RAW_SUFFIX_LEN)
		return "a suffix has 23 characters at most";
	for (i = 0; i < len; i++)
		if ((u8)text[i] <= ' ' || text[i] == '.' || text[i] == '/' || text[i] == ',')
			return "a suffix has no dot, slash, comma or space";
	return NULL;
}

static int read_suffix(const char *text, struct rule *rule, char *error)
{
	size_t len = strlen(text);
	const char *bad = rawset_bad_suffix(text, len);

	if (bad)
		return rule_error(error, text, len, bad);
	memcpy(rule->suffix.text, text, len);
	return 0;
}

static int read_rule(const char *text, struct rule *rule, char *error)
{
	size_t len = strcspn(text, ":");
	int table;

	memset(rule, 0, sizeof(*rule));
	if (text[len]) {
		if (len == 6 && !memcmp(text, "suffix", 6)) {
			rule->is_suffix = true;
			return read_suffix(text + len + 1, rule, error);
		}
		for (table = 0; table < TABLES; table++) {
			if (strlen(words[table]) != len || memcmp(words[table], text, len))
				continue;
			rule->table = table;
			return parse_range(text + len + 1, rule, error);
		}
	}
	return rule_error(error, text, strlen(text),
		     "wants ino:, dir:, suffix: or sectors: and what is meant");
}

bool rawset_same(const struct rawset *a, const struct rawset *b)
{
	int i;

	if (!a || !b)
		return !(a ? rawset_count(a) : 0) && !(b ? rawset_count(b) : 0);
	for (i = 0; i < TABLES; i++)
		if (a->count[i] != b->count[i] ||
		    memcmp(a->range[i], b->range[i], a->count[i] * sizeof(struct raw_range)))
			return false;
	return a->suffixes == b->suffixes &&
	       !memcmp(a->suffix, b->suffix, a->suffixes * sizeof(struct suffix));
}

unsigned int rawset_count(const struct rawset *set)
{
	return set->count[INO] + set->count[DIR] + set->count[SECTORS] + set->suffixes;
}

bool rawset_has_names(const struct rawset *set)
{
	return set->count[DIR] || set->suffixes;
}

bool rawset_has_suffixes(const struct rawset *set)
{
	return set->suffixes;
}

bool rawset_has_files(const struct rawset *set)
{
	return set->count[INO] || rawset_has_names(set);
}

size_t rawset_bytes(const struct rawset *set)
{
	return set->bytes;
}

void rawset_print(const struct rawset *set, unsigned int n, char *text, size_t size)
{
	const struct raw_range *r;
	int table, at;

	for (table = 0; table < TABLES; n -= set->count[table++])
		if (n < set->count[table])
			break;
	if (table == TABLES) {
		snprintf(text, size, "suffix:%s", n < set->suffixes ? set->suffix[n].text : "");
		return;
	}
	r = &set->range[table][n];
	at = snprintf(text, size, "%s:", words[table]);
	if (r->volume)
		at += snprintf(text + at, size - at, "%llu/", (unsigned long long)r->volume);
	at += snprintf(text + at, size - at, "%llu", (unsigned long long)r->first);
	if (r->last != r->first)
		snprintf(text + at, size - at, "-%llu", (unsigned long long)r->last);
}

/* Tables */

/* The number of ranges that end before @at in @volume: the index of @at's range. */
static unsigned int locate_range(const struct rawset *set, enum table table, u64 volume, u64 at)
{
	unsigned int low = 0, high = set->count[table];

	while (low < high) {
		unsigned int middle = (low + high) / 2;
		const struct raw_range *r = &set->range[table][middle];

		if (r->volume < volume || (r->volume == volume && r->last < at))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool has_rule(const struct rawset *set, enum table table, u64 volume, u64 at)
{
	unsigned int i = locate_range(set, table, volume, at);

	return i < set->count[table] && set->range[table][i].volume == volume &&
	       set->range[table][i].first <= at;
}

/* Replace @n ranges from index @i on by @m ranges. */
static void replace_rules(struct rawset *set, enum table table, unsigned int i, unsigned int n,
			  const struct raw_range *r, unsigned int m)
{
	struct raw_range *at = set->range[table] + i;

	memmove(at + m, at + n, (set->count[table] - i - n) * sizeof(*r));
	memcpy(at, r, m * sizeof(*r));
	set->count[table] += m;
	set->count[table] -= n;
}

static void insert_range(struct rawset *set, enum table table, struct raw_range new)
{
	/* Directories are not joined: each is one inode. */
	u64 reach = table != DIR && new.first ? 1 : 0;
	unsigned int i = locate_range(set, table, new.volume, new.first - reach), n;

	for (n = 0; i + n < set->count[table]; n++) {
		const struct raw_range *r = &set->range[table][i + n];

		if (r->volume != new.volume ||
		    (r->first > new.last && (table == DIR || r->first - new.last > 1)))
			break;
		new.first = min(new.first, r->first);
		new.last = max(new.last, r->last);
	}
	replace_rules(set, table, i, n, &new, 1);
}

/* Returns false if nothing of @old is there. */
static bool cut_range(struct rawset *set, enum table table, const struct raw_range *old)
{
	unsigned int i = locate_range(set, table, old->volume, old->first), n, m = 0;
	struct raw_range rest[2];

	for (n = 0; i + n < set->count[table]; n++) {
		struct raw_range r = set->range[table][i + n];

		if (r.volume != old->volume || r.first > old->last)
			break;
		if (r.first < old->first) {
			rest[m] = r;
			rest[m++].last = old->first - 1;
		}
		if (r.last > old->last) {
			rest[m] = r;
			rest[m++].first = old->last + 1;
		}
	}
	replace_rules(set, table, i, n, rest, m);
	return n;
}

/* The index of @suffix, or where to insert it. *there: the set has it. */
static unsigned int rawset_find_suffix(const struct rawset *set, const struct suffix *suffix,
				       bool *there)
{
	unsigned int low = 0, high = set->suffixes;

	*there = false;
	while (low < high) {
		unsigned int middle = (low + high) / 2;
		int order = memcmp(&set->suffix[middle], suffix, sizeof(*suffix));

		*there |= !order;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void rawset_add_suffix(struct rawset *set, const struct suffix *suffix)
{
	bool there;
	unsigned int i = rawset_find_suffix(set, suffix, &there);

	if (there)
		return;
	memmove(&set->suffix[i + 1], &set->suffix[i], (set->suffixes - i) * sizeof(*suffix));
	set->suffix[i] = *suffix;
	set->suffixes++;
}

static bool rawset_remove_suffix(struct rawset *set, const struct suffix *suffix)
{
	bool there;
	unsigned int i = rawset_find_suffix(set, suffix, &there);

	if (!there)
		return false;
	set->suffixes--;
	memmove(&set->suffix[i], &set->suffix[i + 1], (set->suffixes - i) * sizeof(*suffix));
	return true;
}

static bool rawset_is_full(const struct rawset *set, const struct rule *rule)
{
	return (rule->is_suffix ? set->suffixes : set->count[rule->table]) > RAW_RULES;
}

struct rawset *rawset_add(const struct rawset *old, const char *text, gfp_t gfp, char *error)
{
	struct rawset *set;
	struct rule rule;

	if (read_rule(text, &rule, error))
		return NULL;
	set = copy_set(old, gfp);
	if (!set) {
		rule_error(error, text, strlen(text), "no memory for one rule more");
		return NULL;
	}
	if (rule.is_suffix)
		rawset_add_suffix(set, &rule.suffix);
	else
		insert_range(set, rule.table, rule.range);
	if (rawset_is_full(set, &rule)) {
		rule_error(error, text, strlen(text),
			   "there are 4096 rules of this kind, the most there can be");
		rawset_free(set);
		return NULL;
	}
	return set;
}

struct rawset *rawset_remove(const struct rawset *old, const char *text, gfp_t gfp, char *error)
{
	struct rawset *set;
	struct rule rule;
	bool done;

	if (read_rule(text, &rule, error))
		return NULL;
	set = copy_set(old, gfp);
	if (!set) {
		rule_error(error, text, strlen(text), "no memory for the change");
		return NULL;
	}
	if (rule.is_suffix)
		done = rawset_remove_suffix(set, &rule.suffix);
	else
		done = cut_range(set, rule.table, &rule.range);
	if (done && !rawset_is_full(set, &rule))
		return set;
	rule_error(error, text, strlen(text), done ?
	      "would make two rules of one, and 4096 is the most there can be" :
	      "there is no such rule");
	rawset_free(set);
	return NULL;
}

/* Lookups */

bool rawset_name(const struct rawset *set, const char *name, size_t len)
{
	struct suffix suffix = {};
	size_t at = len;
	bool there;

	while (at && name[at - 1] != '.')
		at--;
	if (at < 2 || at == len || len - at > RAW_SUFFIX_LEN)
		return false;
	memcpy(suffix.text, name + at, len - at);
	rawset_find_suffix(set, &suffix, &there);
	return there;
}

bool rawset_file(const struct rawset *set, const struct raw_file *file, raw_parent_fn parent,
		 void *ctx)
{
	u64 volume = file->volume, ino = file->ino;
	unsigned int depth;

	if (set->count[INO] && has_rule(set, INO, volume, ino))
		return true;
	if (set->suffixes && file->name && rawset_name(set, file->name, file->name_len))
		return true;
	if (!set->count[DIR])
		return false;
	for (depth = 0; !has_rule(set, DIR, volume, ino); depth++) {
		if (depth == RAW_DEPTH)
			return true;
		if (!parent || !parent(ctx, &volume, &ino))
			return false;
	}
	return true;
}

u64 rawset_next_dir(const struct rawset *set, u64 volume, u64 after)
{
	unsigned int i = after == U64_MAX ? set->count[DIR] :
					    locate_range(set, DIR, volume, after + 1);

	if (i == set->count[DIR] || set->range[DIR][i].volume != volume)
		return 0;
	return set->range[DIR][i].first;
}

bool rawset_sector(const struct rawset *set, u64 sector, u64 *len)
{
	unsigned int i = locate_range(set, SECTORS, 0, sector);
	const struct raw_range *r = &set->range[SECTORS][i];

	if (i == set->count[SECTORS]) {
		*len = U64_MAX;
		return false;
	}
	if (r->first > sector) {
		*len = r->first - sector;
		return false;
	}
	*len = r->last == U64_MAX ? U64_MAX : r->last - sector + 1;
	return true;
}
