// SPDX-License-Identifier: GPL-2.0
/*
 * Remap bitmap: first fit over a tree of bits.
 *
 * Level 0 has one bit a block, set if it is used. A bit of level i is set if
 * that word of level i - 1 is full. The last level is one word. Bits behind
 * the end of a level are set, so that no search ever stops there. A free block
 * is found by climbing from the starting point until a word has a clear bit
 * and coming down again: two words a level at most.
 */
#include "bitmap.h"
#include "../portable/portable-alloc.h"

#define BITS		64
#define SHIFT		6
#define RUNS_LOOKED_AT	16	/* what bm_alloc() spends on a long run */

static inline u64 words_for(u64 bits)
{
	return (bits + BITS - 1) >> SHIFT;
}

int bm_init(struct remap_bitmap *bm, u64 size)
{
	u64 bits = size;

	memset(bm, 0, sizeof(*bm));
	if (!size || size >> 40)
		return -EINVAL;
	bm->size = size;
	do {
		u64 words = words_for(bits), *level;

		level = kvcalloc(words, sizeof(u64), GFP_KERNEL);
		if (!level) {
			bm_destroy(bm);
			return -ENOMEM;
		}
		if (bits % BITS)
			level[words - 1] = U64_MAX << (bits % BITS);
		bm->level[bm->levels++] = level;
		bm->bytes += words * sizeof(u64);
		bits = words;
	} while (bits > 1);
	return 0;
}

void bm_destroy(struct remap_bitmap *bm)
{
	while (bm->levels)
		kvfree(bm->level[--bm->levels]);
	memset(bm, 0, sizeof(*bm));
}

bool bm_test(const struct remap_bitmap *bm, u64 block)
{
	return bm->level[0][block >> SHIFT] >> (block % BITS) & 1;
}

/* The first free block at or after @block, or BM_NONE. */
static u64 next_free(const struct remap_bitmap *bm, u64 block)
{
	u64 bits = bm->size, at = block;
	unsigned int i;

	for (i = 0; i < bm->levels && at < bits; i++) {
		u64 word = ~bm->level[i][at >> SHIFT] & U64_MAX << (at % BITS);

		if (word) {
			at = (at & ~(u64)(BITS - 1)) + __ffs64(word);
			while (i--)
				at = (at << SHIFT) + __ffs64(~bm->level[i][at]);
			return at;
		}
		at = (at >> SHIFT) + 1;
		bits = words_for(bits);
	}
	return BM_NONE;
}

/* The number of free blocks from @block on, which is free; @want at the most. */
static u64 run_length(const struct remap_bitmap *bm, u64 block, u64 want)
{
	u64 at = block, end = min(bm->size, block + want);

	while (at < end) {
		u64 word = bm->level[0][at >> SHIFT] & U64_MAX << (at % BITS);

		at &= ~(u64)(BITS - 1);
		if (word) {
			at += __ffs64(word);
			break;
		}
		at += BITS;
	}
	return min(at, end) - block;
}

/* The bits of one word that [@at, @end) covers. */
static inline u64 bm_mask(u64 at, u64 end)
{
	u64 mask = U64_MAX << (at % BITS);

	if (end >> SHIFT == at >> SHIFT)
		mask &= ~(U64_MAX << (end % BITS));
	return mask;
}

static inline u64 next_word(u64 at)
{
	return ((at >> SHIFT) + 1) << SHIFT;
}

/* Set bits of one word of level 0; full words set their bit in the level above, and so on. */
static inline void set_bits(struct remap_bitmap *bm, u64 index, u64 mask)
{
	unsigned int i = 0;

	bm->level[0][index] |= mask;
	while (unlikely(!~bm->level[i][index]) && ++i < bm->levels) {
		bm->level[i][index >> SHIFT] |= 1ULL << (index % BITS);
		index >>= SHIFT;
	}
}

void bm_copy(struct remap_bitmap *to, const struct remap_bitmap *from)
{
	u64 i, words = words_for(from->size);

	for (i = 0; i < words; i++) {
		u64 word = from->level[0][i];

		/* Bits behind the end were set, and may be blocks now. */
		if (i == words - 1 && from->size % BITS)
			word &= ~(U64_MAX << (from->size % BITS));
		set_bits(to, i, word);
	}
	to->used = from->used;
	to->first = from->first;
}

static void take_run(struct remap_bitmap *bm, u64 start, u64 len)
{
	u64 at, end = start + len;

	for (at = start; at < end; at = next_word(at))
		set_bits(bm, at >> SHIFT, bm_mask(at, end));
	bm->used += len;
}

/* The longest of the first runs from @at, or the first that is long enough. */
static u64 find_run(const struct remap_bitmap *bm, u64 at, u64 want, u64 *got)
{
	u64 best = at;
	unsigned int i;

	for (i = 0; i < RUNS_LOOKED_AT && at != BM_NONE; i++) {
		u64 len = run_length(bm, at, want);

		if (len > *got) {
			best = at;
			*got = len;
		}
		if (len == want)
			break;
		at = next_free(bm, at + len);
	}
	return best;
}

u64 bm_alloc(struct remap_bitmap *bm, u64 hint, u64 want, u64 *got)
{
	bool hinted = hint < bm->size && !bm_test(bm, hint);
	u64 at = hint;

	*got = 0;
	if (!hinted) {
		at = next_free(bm, bm->first);
		bm->first = min(at, bm->size);
	}
	if (at == BM_NONE)
		return BM_NONE;
	if (want == 1) {
		set_bits(bm, at >> SHIFT, 1ULL << (at % BITS));
		bm->used++;
		*got = 1;
		return at;
	}
	if (hinted)
		*got = run_length(bm, at, want);
	else
		at = find_run(bm, at, want, got);
	take_run(bm, at, *got);
	return at;
}

u64 bm_alloc_run(struct remap_bitmap *bm, u64 *from, u64 want, unsigned int runs)
{
	u64 at = next_free(bm, max(*from, bm->first));

	while (at != BM_NONE && runs--) {
		u64 len = run_length(bm, at, want);

		if (len == want) {
			take_run(bm, at, len);
			return at;
		}
		at = next_free(bm, at + len);
	}
	*from = at;
	return BM_NONE;
}

bool bm_claim(struct remap_bitmap *bm, u64 start, u64 len)
{
	if (start > bm->size || len > bm->size - start ||
	    (len && run_length(bm, start, len) != len))
		return false;
	take_run(bm, start, len);
	return true;
}

void bm_free(struct remap_bitmap *bm, u64 start, u64 len)
{
	u64 at, end;

	if (WARN_ON_ONCE(start > bm->size || len > bm->size - start))
		return;
	bm->first = min(bm->first, start);
	for (at = start, end = start + len; at < end; at = next_word(at)) {
		u64 index = at >> SHIFT, mask = bm_mask(at, end) & bm->level[0][index];
		bool full = !~bm->level[0][index];
		unsigned int i;

		WARN_ON_ONCE(mask != bm_mask(at, end));
		bm->level[0][index] &= ~mask;
		bm->used -= hweight64(mask);
		for (i = 1; full && mask && i < bm->levels; i++) {
			u64 *word = &bm->level[i][index >> SHIFT];

			full = !~*word;
			*word &= ~(1ULL << (index % BITS));
			index >>= SHIFT;
		}
	}
}

const char *bm_check(const struct remap_bitmap *bm)
{
	u64 bits = bm->size, used = 0, bytes = 0, n;
	unsigned int i;

	for (i = 0; i < bm->levels; i++) {
		u64 words = words_for(bits);

		for (n = 0; n < words * BITS; n++) {
			bool set = bm->level[i][n >> SHIFT] >> (n % BITS) & 1;

			if (n >= bits && !set)
				return "clear bit behind the end";
			if (n < bits && i && set != !~bm->level[i - 1][n])
				return "word full, but its bit says otherwise";
			if (n < bits && !i)
				used += set;
		}
		bytes += words * sizeof(u64);
		bits = words;
	}
	for (n = 0; n < bm->first; n++)
		if (!bm_test(bm, n))
			return "free block before the first";
	if (bits != 1)
		return "levels missing";
	if (used != bm->used)
		return "used blocks miscounted";
	if (bytes != bm->bytes)
		return "memory miscounted";
	return NULL;
}
