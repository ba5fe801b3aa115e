// SPDX-License-Identifier: GPL-2.0
/*
 * Content of squashed data.
 *
 * Incompressible content must cost little more than the stores themselves. In
 * each page of 4 KiB of the target, word i is base + i * STEP: one addition and
 * one store a word. All cost of mixing is in the base, once a page.
 *
 * No two words of one disk are equal. STEP is odd, so the low 9 bits of
 * i * STEP differ for each of the page's 512 words. The base's low 9 bits
 * depend on the seed alone. So two equal words would be at the same place in
 * two pages, and the bases of these pages would be equal. But the bases are a
 * permutation of the page numbers. Compressors look for repeated strings and
 * for uneven byte counts. They find neither.
 *
 * Compressible content is the front of such a page, followed by zeros. Zeros
 * add next to nothing to a compressor's output. So the front's share of the
 * page is the ratio, for any compressor and any number of whole pages.
 */
#include "content.h"
#include "pangrams.h"

#define PAGE_BYTES	4096u	/* of content; the machine's pages may be others */
#define INDEX_BITS	9	/* 512 words a page */
#define BASE_BITS	(64 - INDEX_BITS)
#define BASE_MASK	(U64_MAX >> INDEX_BITS)

/* Odd, and without a pattern: the golden ratio's bits, as in splitmix64, and its mixers. */
#define STEP		0x9e3779b97f4a7c15ULL
#define MIX1		0xbf58476d1ce4e5b9ULL
#define MIX2		0x94d049bb133111ebULL

static inline u64 content_mix(u64 x)
{
	x = (x ^ (x >> 30)) * MIX1;
	x = (x ^ (x >> 27)) * MIX2;
	return x ^ (x >> 31);
}

/* A permutation of the numbers of BASE_BITS bits. */
static inline u64 content_permute(u64 x)
{
	x = ((x ^ (x >> 28)) * MIX1) & BASE_MASK;
	x = ((x ^ (x >> 27)) * MIX2) & BASE_MASK;
	return x ^ (x >> 28);
}

u64 content_mark(u64 seed)
{
	return content_mix(content_mix(seed + STEP) + STEP) >> BASE_BITS;
}

struct content_key content_key(u64 seed)
{
	u64 a = content_mix(seed + STEP);

	return (struct content_key){ a, content_mix(a + STEP) };
}

static __always_inline u64 base_with(const struct content_key *key, u64 page)
{
	u64 x = content_permute((page ^ key->a) & BASE_MASK) ^ (key->b & BASE_MASK);

	return content_permute(x) << INDEX_BITS | key->b >> BASE_BITS;
}

static u64 base_of(u64 seed, u64 page)
{
	struct content_key key = content_key(seed);

	return base_with(&key, page);
}

static __always_inline void put_word(u8 *p, u64 x)
{
	__le64 word = cpu_to_le64(x);

	memcpy(p, &word, sizeof(word));
}

/* Store @word four times, as it is in memory. */
static __always_inline void content_put_raw4(u8 *p, u64 word)
{
	memcpy(p, &word, 8);
	memcpy(p + 8, &word, 8);
	memcpy(p + 16, &word, 8);
	memcpy(p + 24, &word, 8);
}

/* Four and sixteen words, unrolled by hand: a loop would take a third more instructions. */
static __always_inline u64 content_put4(u8 *p, u64 x, u64 step)
{
	put_word(p, x);
	x += step;
	put_word(p + 8, x);
	x += step;
	put_word(p + 16, x);
	x += step;
	put_word(p + 24, x);
	return x + step;
}

static __always_inline u64 content_put16(u8 *p, u64 x, u64 step)
{
	x = content_put4(p, x, step);
	x = content_put4(p + 32, x, step);
	x = content_put4(p + 64, x, step);
	return content_put4(p + 96, x, step);
}

static __always_inline u64 content_put64(u8 *p, u64 x, u64 step)
{
	x = content_put16(p, x, step);
	x = content_put16(p + 128, x, step);
	x = content_put16(p + 256, x, step);
	return content_put16(p + 384, x, step);
}

/* 1024 bytes, @n times. */
static noinline u64 put_kilobytes(u8 *p, u64 x, unsigned int n)
{
	u64 step = STEP;

	/* Otherwise the compiler loads each multiple of STEP as a constant. */
	OPTIMIZER_HIDE_VAR(step);
	for (; n; n--, p += 1024) {
		x = content_put64(p, x, step);
		x = content_put64(p + 512, x, step);
	}
	return x;
}

/* Bytes [@at, @at + @len) of the page whose first word is @x. */
static void fill_page(u8 *p, u64 x, unsigned int at, unsigned int len)
{
	unsigned int part = at % 8;
	u64 step = STEP;

	x += at / 8 * step;
	if (part) {
		__le64 word = cpu_to_le64(x);
		unsigned int n = min(8 - part, len);

		memcpy(p, (u8 *)&word + part, n);
		x += step;
		p += n;
		len -= n;
	}
	x = put_kilobytes(p, x, len / 1024);
	p += len - len % 1024;
	len %= 1024;
	for (; len >= 8; len -= 8, p += 8) {
		put_word(p, x);
		x += step;
	}
	if (len) {
		__le64 word = cpu_to_le64(x);

		memcpy(p, &word, len);
	}
}

/* Of its own, as it needs more registers than the usual page. */
static noinline void fill_pages(u8 *p, const struct content_key *key, u64 at, unsigned int len)
{
	while (len) {
		unsigned int in_page = at % PAGE_BYTES;
		unsigned int n = min(PAGE_BYTES - in_page, len);

		fill_page(p, base_with(key, at / PAGE_BYTES), in_page, n);
		p += n;
		at += n;
		len -= n;
	}
}

void content_fill_incompressible(void *buf, const struct content_key *key, u64 at,
				 unsigned int len)
{
	/* Mostly a page. */
	if (likely(len == PAGE_BYTES && !(at % PAGE_BYTES)))
		put_kilobytes(buf, base_with(key, at / PAGE_BYTES), PAGE_BYTES / 1024);
	else
		fill_pages(buf, key, at, len);
}

/*
 * Bytes of a page that are not zeros. A compressor adds headers and tables to
 * each piece of its input, and they count for the ratio. gzip -6 adds 60 bytes
 * a page to pieces of 4 KiB, 20 to pieces of 128 KiB. FRAMING is in the middle.
 */
#define FRAMING		44

static unsigned int front_of(u32 ratio)
{
	unsigned int n = ratio * PAGE_BYTES / 1000;

	if (ratio >= CONTENT_MAX_RATIO)
		return PAGE_BYTES;
	return n > FRAMING ? n - FRAMING : 1;
}

static void fill_compressible(u8 *p, u64 seed, u32 ratio, u64 at, unsigned int len)
{
	unsigned int front = front_of(ratio);

	while (len) {
		unsigned int in_page = at % PAGE_BYTES;
		unsigned int n = min(PAGE_BYTES - in_page, len);
		unsigned int random = in_page < front ? min(front - in_page, n) : 0;

		if (random)
			fill_page(p, base_of(seed, at / PAGE_BYTES), in_page, random);
		memset(p + random, 0, n - random);
		p += n;
		at += n;
		len -= n;
	}
}

#define LINE		(PANGRAM_LEN + 1u)
#define PAGE_LINES	(PAGE_BYTES / LINE)

static __always_inline void put_line(u8 *p, const char *line)
{
	unsigned int i;

	/* By words: in the kernel memcpy() is a call, whose start costs more than the copy. */
	for (i = 0; i < LINE; i += 32) {
		u64 a, b, c, d;

		memcpy(&a, line + i, 8);
		memcpy(&b, line + i + 8, 8);
		memcpy(&c, line + i + 16, 8);
		memcpy(&d, line + i + 24, 8);
		memcpy(p + i, &a, 8);
		memcpy(p + i + 8, &b, 8);
		memcpy(p + i + 16, &c, 8);
		memcpy(p + i + 24, &d, 8);
	}
	p[PANGRAM_LEN] = '\n';
}

static void fill_text(u8 *p, u64 seed, u64 at, unsigned int len)
{
	while (len) {
		unsigned int line = at % PAGE_BYTES / LINE, from = at % LINE;
		u64 x = base_of(seed, at / PAGE_BYTES) + line * PANGRAM_STEP;

		for (; len && line < PAGE_LINES; line++, x += PANGRAM_STEP) {
			unsigned int n = min(LINE - from, len);

			if (n == LINE) {
				put_line(p, pangram_for(x));
			} else {
				memcpy(p, pangram_for(x) + from, n);
				if (from + n == LINE)
					p[n - 1] = '\n';
			}
			from = 0;
			p += n;
			at += n;
			len -= n;
		}
	}
}

/* Repeat @word, as it is in memory. Its first byte goes where @at % 8 is 0. */
static void fill_word(u8 *p, u64 word, u64 at, unsigned int len)
{
	unsigned int turn = at % 8;

	for (; turn && len; turn = (turn + 1) % 8, len--)
		*p++ = ((u8 *)&word)[turn];
	for (; len >= 64; len -= 64, p += 64) {
		content_put_raw4(p, word);
		content_put_raw4(p + 32, word);
	}
	for (; len >= 8; len -= 8, p += 8)
		memcpy(p, &word, 8);
	memcpy(p, &word, len);
}

static void fill_stamp(u8 *p, u64 at, unsigned int len)
{
	while (len) {
		unsigned int n = min(512 - (unsigned int)(at % 512), len);
		__le64 sector = cpu_to_le64(at >> 9);
		u64 word;

		memcpy(&word, &sector, 8);
		fill_word(p, word, at, n);
		p += n;
		at += n;
		len -= n;
	}
}

void content_fill_at(void *buf, const struct content *c, u64 seed, u64 at, unsigned int len)
{
	struct content_key key;
	u64 word;

	switch (c->kind) {
	case CONTENT_INCOMPRESSIBLE:
		key = content_key(seed);
		content_fill_incompressible(buf, &key, at, len);
		break;
	case CONTENT_COMPRESSIBLE:
		fill_compressible(buf, seed, c->ratio, at, len);
		break;
	case CONTENT_TEXT:
		fill_text(buf, seed, at, len);
		break;
	case CONTENT_PATTERN:
		memcpy(&word, c->word, 8);
		fill_word(buf, word, at, len);
		break;
	case CONTENT_STAMP:
		fill_stamp(buf, at, len);
		break;
	default:
		memset(buf, 0, len);
	}
}

void content_fill(void *buf, const struct content *c, u64 seed, u64 sector, unsigned int offset,
		  unsigned int len)
{
	content_fill_at(buf, c, seed, (sector << 9) + offset, len);
}

static const char * const names[CONTENT_KINDS] = {
	[CONTENT_ZEROS] = "zeros",
	[CONTENT_INCOMPRESSIBLE] = "incompressible",
	[CONTENT_COMPRESSIBLE] = "compressible",
	[CONTENT_TEXT] = "text",
	[CONTENT_PATTERN] = "pattern",
	[CONTENT_STAMP] = "stamp",
};

const char *content_name(enum content_kind kind)
{
	return kind < CONTENT_KINDS ? names[kind] : NULL;
}

static const char *parse_ratio(const char *text, struct content *c)
{
	u32 ratio = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9' && p < text + 4; p++)
		ratio = ratio * 10 + (*p - '0');
	if (p == text || *p || ratio < CONTENT_MIN_RATIO || ratio > CONTENT_MAX_RATIO)
		return "compressible: wants a ratio from 20 to 1000 thousandths, like :300";
	c->ratio = ratio;
	return NULL;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit |= 0x20;
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static const char *parse_word(const char *text, struct content *c)
{
	size_t digits = strlen(text);
	unsigned int i;

	for (i = 0; i < digits && i < 16; i++)
		if (hex_digit(text[i]) < 0)
			break;
	if (i != digits || (digits != 2 && digits != 4 && digits != 8 && digits != 16))
		return "pattern: wants 2, 4, 8 or 16 hex digits, like :deadbeef";
	for (i = 0; i < 8; i++) {
		unsigned int at = 2 * i % digits;

		c->word[i] = hex_digit(text[at]) << 4 | hex_digit(text[at + 1]);
	}
	return NULL;
}

const char *content_parse(const char *text, struct content *c)
{
	const char *colon = strchr(text, ':');
	size_t len = strcspn(text, ":");
	struct content new = { .kind = 0 };
	const char *error = NULL;

	while (strlen(names[new.kind]) != len || memcmp(names[new.kind], text, len))
		if (++new.kind == CONTENT_KINDS)
			return "unknown kind; known are " CONTENT_WORDS;
	switch (new.kind) {
	case CONTENT_COMPRESSIBLE:
		error = parse_ratio(colon ? colon + 1 : "", &new);
		break;
	case CONTENT_PATTERN:
		error = parse_word(colon ? colon + 1 : "", &new);
		break;
	default:
		if (colon)
			error = "only compressible and pattern take a value behind a colon";
	}
	if (!error)
		*c = new;
	return error;
}

void content_print(const struct content *c, char *text, size_t size)
{
	const char *name = content_name(c->kind);

	switch (c->kind) {
	case CONTENT_COMPRESSIBLE:
		snprintf(text, size, "%s:%u", name, c->ratio);
		break;
	case CONTENT_PATTERN:
		snprintf(text, size, "%s:%02x%02x%02x%02x%02x%02x%02x%02x", name,
			 c->word[0], c->word[1], c->word[2], c->word[3],
			 c->word[4], c->word[5], c->word[6], c->word[7]);
		break;
	default:
		snprintf(text, size, "%s", name ? name : "?");
	}
}
