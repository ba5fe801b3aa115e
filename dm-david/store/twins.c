// SPDX-License-Identifier: GPL-2.0
/* Dropped blocks with the content of RAW files: see twins.h. */
#include "twins.h"

#include <linux/bitops.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#define RECENT_MAX	BIT(19)	/* buckets of each kind: 32 MB */
#define BITS_A_BLOCK	16u	/* of the store, for RAW content */
#define BITS_MAX	BIT(30)
#define TAG_BITS	24u	/* of the checksum, beside the block */

/* A dropped block, plus 1, and the upper bits of its checksum. */
#define TAG(csum)		((csum) >> (32 - TAG_BITS))
#define ENTRY(block, csum)	(((block) + 1) << TAG_BITS | TAG(csum))
#define ENTRY_BLOCK(entry)	(((entry) >> TAG_BITS) - 1)
#define ENTRY_TAG(entry)	((u32)(entry) & (BIT(TAG_BITS) - 1))

struct twins {
	/* A cache line each, the last dropped first; 0: none. By checksum, and by block */
	u64 (*by_csum)[TWINS_MAX];
	u64 (*by_block)[TWINS_MAX];
	u32 recent_mask;
	u32 raw_mask;
	unsigned long *raw;	/* a bit for each content, by its checksum */
};

struct twins *twins_create(u64 blocks)
{
	unsigned int noio = memalloc_noio_save();
	struct twins *twins = kzalloc(sizeof(*twins), GFP_KERNEL);
	u64 buckets = roundup_pow_of_two(max(totalram_pages() / TWINS_MAX, 1ul));
	u64 bits = roundup_pow_of_two(clamp_t(u64, blocks, BITS_PER_LONG, BITS_MAX) * BITS_A_BLOCK);

	if (!twins)
		goto out;
	buckets = min_t(u64, buckets, RECENT_MAX);
	bits = min_t(u64, bits, BITS_MAX);
	twins->recent_mask = buckets - 1;
	twins->raw_mask = bits - 1;
	twins->by_csum = kvcalloc(buckets, sizeof(*twins->by_csum), GFP_KERNEL);
	twins->by_block = kvcalloc(buckets, sizeof(*twins->by_block), GFP_KERNEL);
	twins->raw = kvcalloc(BITS_TO_LONGS(bits), sizeof(long), GFP_KERNEL);
	if (!twins->by_csum || !twins->by_block || !twins->raw) {
		twins_destroy(twins);
		twins = NULL;
	}
out:
	memalloc_noio_restore(noio);
	return twins;
}

void twins_destroy(struct twins *twins)
{
	if (!twins)
		return;
	kvfree(twins->by_csum);
	kvfree(twins->by_block);
	kvfree(twins->raw);
	kfree(twins);
}

size_t twins_bytes(const struct twins *twins)
{
	return twins ? sizeof(*twins) + 2 * (twins->recent_mask + 1ul) * sizeof(*twins->by_csum) +
			       (twins->raw_mask + 1ul) / BITS_PER_BYTE :
		       0;
}

static u64 *blocks_with(const struct twins *twins, u32 csum)
{
	return twins->by_csum[csum & twins->recent_mask];
}

static u64 *entries_of(const struct twins *twins, u64 block)
{
	return twins->by_block[hash_64(block, 32) & twins->recent_mask];
}

/* Enter @entry in front, and move the others back, up to the one that @replaced is true of. */
static void twins_enter(u64 *way, u64 entry, bool (*replaced)(u64 old, u64 new))
{
	u64 next, new = entry;
	unsigned int i;

	for (i = 0; i < TWINS_MAX; i++) {
		next = READ_ONCE(way[i]);
		WRITE_ONCE(way[i], entry);
		if (!next || replaced(next, new))
			break;
		entry = next;
	}
}

static bool is_same(u64 old, u64 new)
{
	return old == new;
}

static bool is_same_block(u64 old, u64 new)
{
	return ENTRY_BLOCK(old) == ENTRY_BLOCK(new);
}

/* Is @entry what its block was dropped with last? */
static bool twins_is_last(const struct twins *twins, u64 entry)
{
	const u64 *way = entries_of(twins, ENTRY_BLOCK(entry));
	unsigned int i;

	for (i = 0; i < TWINS_MAX; i++)
		if (is_same_block(READ_ONCE(way[i]), entry))
			return READ_ONCE(way[i]) == entry;
	return false;
}

bool twins_dropped(struct twins *twins, u64 block, u32 csum)
{
	twins_enter(entries_of(twins, block), ENTRY(block, csum), is_same_block);
	twins_enter(blocks_with(twins, csum), ENTRY(block, csum), is_same);
	/* Pairs with twins_raw(). */
	smp_mb();
	return test_bit(csum & twins->raw_mask, twins->raw);
}

unsigned int twins_raw(struct twins *twins, u64 block, u32 csum, u64 dropped[TWINS_MAX])
{
	const u64 *way = blocks_with(twins, csum);
	unsigned int i, nr = 0;
	u64 entry;

	if (!test_bit(csum & twins->raw_mask, twins->raw))
		set_bit(csum & twins->raw_mask, twins->raw);
	/* Pairs with twins_dropped(). */
	smp_mb();
	for (i = 0; i < TWINS_MAX; i++) {
		entry = READ_ONCE(way[i]);
		if (entry && ENTRY_TAG(entry) == TAG(csum) && ENTRY_BLOCK(entry) != block &&
		    twins_is_last(twins, entry))
			dropped[nr++] = ENTRY_BLOCK(entry);
	}
	return nr;
}
