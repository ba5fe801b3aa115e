// SPDX-License-Identifier: GPL-2.0
/*
 * Content of squashed data.
 *
 * Incompressible content must cost little more than the stores themselves. In
 * each page of 4 KiB of the target, word i is base + i * STEP: one addition and
 * one store a word. All cost of mixing is in the base, once a page.
 *
 * It is unique by construction. STEP is odd, so that the low 9 bits of
 * i * STEP are a different number for each of the page's 512 words; and the
 * base's low 9 bits depend on the seed alone. So two words of one disk can
 * only be equal at the same place in two pages, hence if the pages' bases are
 * equal, and those are a permutation of the page numbers. Compressors, which
 * look for repeated strings and for uneven byte counts, find neither.
 */
#include "content.h"

#define PAGE_BYTES	4096u	/* of content; the machine's pages may be others */
#define INDEX_BITS	9	/* 512 words a page */
#define BASE_BITS	(64 - INDEX_BITS)
#define BASE_MASK	(U64_MAX >> INDEX_BITS)

/* Odd, and without a pattern: the golden ratio's bits, as in splitmix64, and its mixers. */
#define STEP		0x9e3779b97f4a7c15ULL
#define MIX1		0xbf58476d1ce4e5b9ULL
#define MIX2		0x94d049bb133111ebULL

static inline u64 mix(u64 x)
{
	x = (x ^ (x >> 30)) * MIX1;
	x = (x ^ (x >> 27)) * MIX2;
	return x ^ (x >> 31);
}

/* A permutation of the numbers of BASE_BITS bits. */
static inline u64 permute(u64 x)
{
	x = ((x ^ (x >> 28)) * MIX1) & BASE_MASK;
	x = ((x ^ (x >> 27)) * MIX2) & BASE_MASK;
	return x ^ (x >> 28);
}

static u64 base_of(u64 seed, u64 page)
{
	u64 a = mix(seed + STEP), b = mix(a + STEP);

	return permute(permute((page ^ a) & BASE_MASK) ^ (b & BASE_MASK)) << INDEX_BITS |
	       b >> BASE_BITS;
}

static __always_inline void put_word(u8 *p, u64 x)
{
	__le64 word = cpu_to_le64(x);

	memcpy(p, &word, sizeof(word));
}

/* Four and sixteen words, unrolled by hand: a loop's own instructions would be a third more. */
static __always_inline u64 put4(u8 *p, u64 x, u64 step)
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

static __always_inline u64 put16(u8 *p, u64 x, u64 step)
{
	x = put4(p, x, step);
	x = put4(p + 32, x, step);
	x = put4(p + 64, x, step);
	return put4(p + 96, x, step);
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
	/* Else the compiler makes each multiple of STEP a constant, to be loaded. */
	OPTIMIZER_HIDE_VAR(step);
	for (; len >= 512; len -= 512, p += 512) {
		x = put16(p, x, step);
		x = put16(p + 128, x, step);
		x = put16(p + 256, x, step);
		x = put16(p + 384, x, step);
	}
	for (; len >= 8; len -= 8, p += 8) {
		put_word(p, x);
		x += step;
	}
	if (len) {
		__le64 word = cpu_to_le64(x);

		memcpy(p, &word, len);
	}
}

static void fill_incompressible(u8 *p, u64 seed, u64 at, unsigned int len)
{
	while (len) {
		unsigned int in_page = at % PAGE_BYTES;
		unsigned int n = min(PAGE_BYTES - in_page, len);

		fill_page(p, base_of(seed, at / PAGE_BYTES), in_page, n);
		p += n;
		at += n;
		len -= n;
	}
}

void content_fill(void *buf, enum content_kind kind, u64 seed, u64 sector, unsigned int offset,
		  unsigned int len)
{
	switch (kind) {
	case CONTENT_INCOMPRESSIBLE:
		fill_incompressible(buf, seed, (sector << 9) + offset, len);
		break;
	default:
		memset(buf, 0, len);
	}
}

static const char * const names[CONTENT_KINDS] = {
	[CONTENT_ZEROS] = "zeros",
	[CONTENT_INCOMPRESSIBLE] = "incompressible",
};

const char *content_name(enum content_kind kind)
{
	return kind < CONTENT_KINDS ? names[kind] : NULL;
}

int content_parse(const char *name)
{
	int kind;

	for (kind = 0; kind < CONTENT_KINDS; kind++)
		if (!strcmp(name, names[kind]))
			return kind;
	return -EINVAL;
}
