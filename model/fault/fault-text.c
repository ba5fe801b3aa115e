// SPDX-License-Identifier: GPL-2.0
/* The text form of faults: see fault.h. One table of words serves the parser and the printer. */
#include "fault.h"

#define NSEC_S		1000000000ULL
#define LONGEST		(1000 * 365 * 86400ULL * NSEC_S / 100)	/* ten years, of a time */
#define OLDEST		(4 * LONGEST)				/* of an age */
#define MOST_FACTOR	10000			/* times as slow */
#define MOST_ONE_IN	(1024ULL << 30)
#define LEAST_EVERY	(NSEC_S / 100)		/* of stalls: with_stalls() goes through all */

enum fault_word {
	WORD_SECTORS, WORD_ONE_IN, WORD_SEED, WORD_OVER, WORD_FACTOR, WORD_FROM, WORD_FOR,
	WORD_EVERY, WORD_NR
};

static const char *const word_names[] = {
	[WORD_SECTORS] = "sectors", [WORD_ONE_IN] = "one_in", [WORD_SEED] = "seed",
	[WORD_OVER] = "over", [WORD_FACTOR] = "factor", [WORD_FROM] = "from",
	[WORD_FOR] = "for", [WORD_EVERY] = "every",
};

#define WHEN	(BIT(WORD_FROM) | BIT(WORD_FOR) | BIT(WORD_EVERY))
#define DRAWN	(BIT(WORD_SECTORS) | BIT(WORD_ONE_IN) | BIT(WORD_SEED))

static const struct {
	const char *name;
	u32 words;		/* that it may have */
} kinds[] = {
	[FAULT_NONE] = { "" },
	[FAULT_MEDIA] = { "media-error", WHEN | DRAWN | BIT(WORD_OVER) },
	[FAULT_TIMEOUT] = { "timeout", WHEN | DRAWN },
	[FAULT_GONE] = { "gone", WHEN },
	[FAULT_SLOW] = { "slow", WHEN | BIT(WORD_SECTORS) | BIT(WORD_FACTOR) },
	[FAULT_STALL] = { "firmware-stall", WHEN },
};

/* Largest first */
static const struct {
	const char *name;
	u64 ns;
} units[] = {
	{ "d", 86400 * NSEC_S }, { "h", 3600 * NSEC_S }, { "m", 60 * NSEC_S }, { "s", NSEC_S },
	{ "ms", 1000000 }, { "us", 1000 }, { "ns", 1 },
};

/* Where the parser is. */
struct cursor {
	const char *at;
	struct fault_error *error;
};

__printf(2, 3)
static int fault_fail(struct fault_error *error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -EINVAL;
}

/* Is @word next, and nothing more of a word behind it? Then it is passed. */
static bool take_word(struct cursor *cursor, const char *word)
{
	size_t len = strlen(word);
	char next;

	if (strncmp(cursor->at, word, len))
		return false;
	next = cursor->at[len];
	if ((next >= 'a' && next <= 'z') || next == '_' || next == '-')
		return false;
	cursor->at += len;
	return true;
}

static bool take_char(struct cursor *cursor, char c)
{
	if (*cursor->at != c)
		return false;
	cursor->at++;
	return true;
}

static bool take_number(struct cursor *cursor, u64 *number)
{
	const char *from = cursor->at;
	u64 value = 0;

	for (; *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++)
		if (check_mul_overflow(value, 10ULL, &value) ||
		    check_add_overflow(value, (u64)(*cursor->at - '0'), &value))
			return false;
	*number = value;
	return cursor->at != from;
}

static bool take_time(struct cursor *cursor, u64 most, u64 *ns)
{
	u64 number;
	size_t i;

	if (!take_number(cursor, &number))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (take_word(cursor, units[i].name))
			return !check_mul_overflow(number, units[i].ns, ns) && *ns <= most;
	*ns = 0;
	return !number;
}

int fault_time_parse(const char *text, u64 *ns)
{
	struct cursor cursor = { .at = text };

	return take_time(&cursor, OLDEST, ns) && !*cursor.at ? 0 : -EINVAL;
}

/* A-B, or A- to the end of the disk */
static bool take_sectors(struct cursor *cursor, u64 *first, u64 *last)
{
	*last = U64_MAX;
	if (!take_number(cursor, first) || !take_char(cursor, '-'))
		return false;
	if (*cursor->at >= '0' && *cursor->at <= '9' && !take_number(cursor, last))
		return false;
	return *first <= *last;
}

/* Thousandths: a number with up to three decimals */
static bool take_factor(struct cursor *cursor, u32 *factor)
{
	u64 whole;
	u32 digit, part = 0;

	if (!take_number(cursor, &whole) || whole > MOST_FACTOR)
		return false;
	if (take_char(cursor, '.'))
		for (digit = 100; *cursor->at >= '0' && *cursor->at <= '9'; digit /= 10) {
			if (!digit)
				return false;
			part += (*cursor->at++ - '0') * digit;
		}
	*factor = whole * 1000 + part;
	return true;
}

static bool take_value(struct cursor *cursor, enum fault_word word, struct fault *fault)
{
	switch (word) {
	case WORD_SECTORS:
		return take_sectors(cursor, &fault->first, &fault->last);
	case WORD_ONE_IN:
		return take_number(cursor, &fault->one_in) && fault->one_in &&
		       fault->one_in <= MOST_ONE_IN;
	case WORD_SEED:
		return take_number(cursor, &fault->seed);
	case WORD_OVER:
		return take_time(cursor, LONGEST, &fault->over);
	case WORD_FACTOR:
		return take_factor(cursor, &fault->factor) && fault->factor >= 1000;
	case WORD_FROM:
		return take_time(cursor, OLDEST, &fault->from);
	case WORD_FOR:
		return take_time(cursor, LONGEST, &fault->length) && fault->length;
	default:
		return take_time(cursor, LONGEST, &fault->every) && fault->every;
	}
}

static int take_words(struct cursor *cursor, struct fault *fault, u32 *given)
{
	const char *kind = kinds[fault->kind].name;
	u32 word;

	while (take_char(cursor, ':')) {
		for (word = 0; word < WORD_NR; word++)
			if (kinds[fault->kind].words & BIT(word) &&
			    take_word(cursor, word_names[word]))
				break;
		if (word == WORD_NR)
			return fault_fail(cursor->error, "%s has no word \"%.20s\"", kind,
					  cursor->at);
		if (*given & BIT(word))
			return fault_fail(cursor->error, "%s: %s stands twice", kind,
					  word_names[word]);
		*given |= BIT(word);
		if (!take_char(cursor, '=') || !take_value(cursor, word, fault))
			return fault_fail(cursor->error, "%s: %s= has no value that it may have",
					  kind, word_names[word]);
	}
	if (*cursor->at && *cursor->at != ',')
		return fault_fail(cursor->error, "%s: there is \"%.20s\" behind it", kind,
				  cursor->at);
	return 0;
}

/* Of stalls that repeat there is one. */
static int check_repeats(const struct faults *faults, const struct fault *fault,
			 struct fault_error *error)
{
	u32 i;

	if (fault->kind != FAULT_STALL || !fault->every)
		return 0;
	for (i = 0; i < faults->nr; i++)
		if (faults->all[i].kind == FAULT_STALL && faults->all[i].every)
			return fault_fail(error, "one firmware-stall may have every=");
	return 0;
}

/* What the words must be together. */
static int check_fault(const struct faults *faults, const struct fault *fault, u32 given,
		       struct fault_error *error)
{
	const char *kind = kinds[fault->kind].name;

	if (fault->every && (!fault->length || fault->length >= fault->every))
		return fault_fail(error, "%s: every= needs a shorter for=", kind);
	if (fault->kind == FAULT_SLOW && !(given & BIT(WORD_FACTOR)))
		return fault_fail(error, "slow needs factor=");
	if (fault->first >= faults->profile->sectors)
		return fault_fail(error, "%s: the disk has no such sectors", kind);
	if (fault->kind != FAULT_STALL)
		return 0;
	if (!fault->length)
		return fault_fail(error, "firmware-stall needs for=");
	if (fault->every && (fault->every < LEAST_EVERY || fault->length > fault->every / 2))
		return fault_fail(error, "firmware-stall: every= is at least 10ms and twice for=");
	return check_repeats(faults, fault, error);
}

static bool same_fault(const struct fault *a, const struct fault *b)
{
	return a->kind == b->kind && a->factor == b->factor && a->first == b->first &&
	       a->last == b->last && a->one_in == b->one_in && a->seed == b->seed &&
	       a->over == b->over && a->from == b->from && a->length == b->length &&
	       a->every == b->every;
}

/* Sectors @first to @last as whole blocks: [*begin, *end) */
static void fault_blocks(const struct faults *faults, u64 first, u64 last, u64 *begin, u64 *end)
{
	u64 block = faults->profile->physical_block / 512;

	last = min(last, faults->profile->sectors - 1);
	*begin = first & ~(block - 1);
	*end = (last & ~(block - 1)) + block;
}

static int add_fault(struct faults *faults, const struct fault *fault, struct fault_error *error)
{
	u64 begin, end;
	u32 i;

	if (fault->kind == FAULT_MEDIA && fault->one_in == 1 && !fault->from && !fault->over) {
		fault_blocks(faults, fault->first, fault->last, &begin, &end);
		if (!faults_move_back(faults, begin, end))
			return fault_fail(error, "no room for more runs of moved blocks");
	}
	for (i = 0; i < faults->nr; i++)
		if (same_fault(&faults->all[i], fault))
			return 0;
	if (faults->nr == FAULTS_MOST)
		return fault_fail(error, "a drive has at most %u faults", FAULTS_MOST);
	faults->all[faults->nr++] = *fault;
	return 0;
}

static int take_fault(struct faults *faults, struct cursor *cursor, enum fault_kind kind)
{
	struct fault fault = {
		.kind = kind, .factor = 1000, .last = U64_MAX, .one_in = 1,
	};
	u32 given = 0;
	int r;

	r = take_words(cursor, &fault, &given);
	if (!r)
		r = check_fault(faults, &fault, given, cursor->error);
	return r ?: add_fault(faults, &fault, cursor->error);
}

static int move_more(struct faults *faults, u64 begin, u64 end, struct fault_error *error)
{
	if (faults_move(faults, begin, end))
		return 0;
	return fault_fail(error, "there are more than %u runs of moved blocks", FAULTS_MOVED);
}

/* moved:sectors=A-B, drawn:requests=N */
static int take_past(struct faults *faults, struct cursor *cursor, bool drawn)
{
	u64 first, last, begin, end;

	if (drawn && take_char(cursor, ':') && take_word(cursor, "requests") &&
	    take_char(cursor, '=') && take_number(cursor, &faults->drawn))
		return 0;
	if (drawn)
		return fault_fail(cursor->error, "drawn wants :requests=N");
	if (!take_char(cursor, ':') || !take_word(cursor, "sectors") || !take_char(cursor, '=') ||
	    !take_sectors(cursor, &first, &last) || last >= faults->profile->sectors)
		return fault_fail(cursor->error, "moved wants :sectors=A-B");
	fault_blocks(faults, first, last, &begin, &end);
	return move_more(faults, begin, end, cursor->error);
}

static int take_item(struct faults *faults, struct cursor *cursor)
{
	u32 kind;

	for (kind = FAULT_NONE + 1; kind < FAULT_KIND_NR; kind++)
		if (take_word(cursor, kinds[kind].name))
			return take_fault(faults, cursor, kind);
	if (take_word(cursor, "moved"))
		return take_past(faults, cursor, false);
	if (take_word(cursor, "drawn"))
		return take_past(faults, cursor, true);
	return fault_fail(cursor->error, "\"%.20s\" is no kind of fault", cursor->at);
}

int faults_parse(struct faults *faults, const char *text, struct fault_error *error)
{
	struct cursor cursor = { .at = text, .error = error };
	int r;

	if (!strcmp(text, "none"))
		return 0;
	do {
		r = take_item(faults, &cursor);
		if (r)
			return r;
	} while (take_char(&cursor, ','));
	return *cursor.at ? fault_fail(error, "there is \"%.20s\" behind a fault", cursor.at) : 0;
}

void faults_init_added(struct faults *added, const struct profile *profile)
{
	faults_init(added, profile);
	added->drawn = FAULTS_UNDRAWN;
}

/*
 * What @added has moved stood behind the faults that would have taken it back: so faults come
 * first.
 */
int faults_merge(struct faults *faults, const struct faults *added, struct fault_error *error)
{
	u32 i;
	int r = 0;

	for (i = 0; !r && i < added->nr; i++)
		r = check_repeats(faults, &added->all[i], error) ?:
		    add_fault(faults, &added->all[i], error);
	for (i = 0; !r && i < added->nr_moved; i++)
		r = move_more(faults, added->moved[i].first, added->moved[i].end, error);
	if (!r && added->drawn != FAULTS_UNDRAWN)
		faults->drawn = added->drawn;
	return r;
}

/* Printing */

struct output {
	char *buf;
	size_t size, len;
};

__printf(2, 3)
static void fault_put(struct output *out, const char *format, ...)
{
	size_t at = min(out->len, out->size);
	va_list args;

	va_start(args, format);
	out->len += vsnprintf(out->buf ? out->buf + at : NULL, out->size - at, format, args);
	va_end(args);
}

static void put_time(struct output *out, const char *word, u64 ns)
{
	u64 rest;
	size_t i;

	if (!ns)
		return;
	for (i = 0; i + 1 < ARRAY_SIZE(units); i++) {
		div64_u64_rem(ns, units[i].ns, &rest);
		if (!rest)
			break;
	}
	fault_put(out, ":%s=%llu%s", word, (unsigned long long)div64_u64(ns, units[i].ns),
		  units[i].name);
}

static void put_sectors(struct output *out, u64 first, u64 last)
{
	if (!first && last == U64_MAX)
		return;
	fault_put(out, ":sectors=%llu-", (unsigned long long)first);
	if (last != U64_MAX)
		fault_put(out, "%llu", (unsigned long long)last);
}

static void put_fault(struct output *out, const struct fault *fault)
{
	fault_put(out, "%s", kinds[fault->kind].name);
	put_sectors(out, fault->first, fault->last);
	if (fault->one_in != 1)
		fault_put(out, ":one_in=%llu", (unsigned long long)fault->one_in);
	if (fault->seed)
		fault_put(out, ":seed=%llu", (unsigned long long)fault->seed);
	put_time(out, word_names[WORD_OVER], fault->over);
	if (fault->kind == FAULT_SLOW)
		fault_put(out, ":factor=%u.%03u", fault->factor / 1000, fault->factor % 1000);
	put_time(out, word_names[WORD_FROM], fault->from);
	put_time(out, word_names[WORD_FOR], fault->length);
	put_time(out, word_names[WORD_EVERY], fault->every);
}

size_t fault_print(const struct faults *faults, u32 i, char *buf, size_t size)
{
	struct output out = { .buf = buf, .size = size };

	put_fault(&out, &faults->all[i]);
	return out.len;
}

size_t faults_print(const struct faults *faults, char *buf, size_t size)
{
	struct output out = { .buf = buf, .size = size };
	u64 end;
	u32 i;

	for (i = 0; i < faults->nr; i++) {
		if (out.len)
			fault_put(&out, ",");
		put_fault(&out, &faults->all[i]);
	}
	for (i = 0; i < faults->nr_moved; i++) {
		end = min(faults->moved[i].end, faults->profile->sectors);
		fault_put(&out, "%smoved", out.len ? "," : "");
		put_sectors(&out, faults->moved[i].first, end - 1);
	}
	if (faults->nr && faults->drawn)
		fault_put(&out, ",drawn:requests=%llu", (unsigned long long)faults->drawn);
	if (!out.len)
		fault_put(&out, "none");
	return out.len;
}
