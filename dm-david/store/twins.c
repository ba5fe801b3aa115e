// SPDX-License-Identifier: GPL-2.0
/* Dropped blocks with the content of RAW files: see twins.h. */
#include "twins.h"

#include <linux/bitops.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#define RECENT_MAX	BIT(20)	/* buckets: 64 MB */
#define BITS_A_BLOCK	16u	/* of the store, for RAW content */
#define BITS_MAX	BIT(30)
#define TAG_BITS	24u	/* of the checksum, beside the block */

/* A dropped block, plus 1, and the upper bits of its checksum. */
#define TAG(csum)		((csum) >> (32 - TAG_BITS))
#define ENTRY(block, csum)	(((block) + 1) << TAG_BITS | TAG(csum))
#define ENTRY_BLOCK(entry)	(((entry) >> TAG_BITS) - 1)
#define ENTRY_TAG(entry)	((u32)(entry) & (BIT(TAG_BITS) - 1))

struct twins {
	u64 (*recent)[TWINS_MAX];	/* a cache line each, the last dropped first; 0: none */
	u32 recent_mask;
	u32 raw_mask;
	unsigned long *raw;	/* a bit for each content, by its checksum */
	unsigned long *known;	/* a bit for each block of the store */
	u64 blocks;
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
	twins->blocks = blocks;
	twins->recent_mask = buckets - 1;
	twins->raw_mask = bits - 1;
	twins->recent = kvcalloc(buckets, sizeof(*twins->recent), GFP_KERNEL);
	twins->raw = kvcalloc(BITS_TO_LONGS(bits), sizeof(long), GFP_KERNEL);
	twins->known = kvcalloc(BITS_TO_LONGS(blocks), sizeof(long), GFP_KERNEL);
	if (!twins->recent || !twins->raw || !twins->known) {
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
	kvfree(twins->recent);
	kvfree(twins->raw);
	kvfree(twins->known);
	kfree(twins);
}

size_t twins_bytes(const struct twins *twins)
{
	return twins ? sizeof(*twins) + (twins->recent_mask + 1ul) * sizeof(*twins->recent) +
			       (twins->raw_mask + 1ul + twins->blocks) / BITS_PER_BYTE :
		       0;
}

bool twins_dropped(struct twins *twins, u64 block, u32 csum)
{
	u64 *way = twins->recent[csum & twins->recent_mask], entry = ENTRY(block, csum), next;
	unsigned int i;

	/* Move the others back, up to where it was before. */
	for (i = 0; i < TWINS_MAX; i++) {
		next = READ_ONCE(way[i]);
		WRITE_ONCE(way[i], entry);
		if (!next || next == ENTRY(block, csum))
			break;
		entry = next;
	}
	/* Pairs with twins_raw(). */
	smp_mb();
	return test_bit(csum & twins->raw_mask, twins->raw);
}

unsigned int twins_raw(struct twins *twins, u64 block, u32 csum, u64 dropped[TWINS_MAX])
{
	const u64 *way = twins->recent[csum & twins->recent_mask];
	unsigned int i, nr = 0;
	u64 entry;

	if (!test_bit(csum & twins->raw_mask, twins->raw))
		set_bit(csum & twins->raw_mask, twins->raw);
	/* Pairs with twins_dropped(). */
	smp_mb();
	for (i = 0; i < TWINS_MAX; i++) {
		entry = READ_ONCE(way[i]);
		if (entry && ENTRY_TAG(entry) == TAG(csum) && ENTRY_BLOCK(entry) != block)
			dropped[nr++] = ENTRY_BLOCK(entry);
	}
	return nr;
}

bool twins_know(const struct twins *twins, u64 dest)
{
	return dest < twins->blocks && test_bit(dest, twins->known);
}

void twins_learn(struct twins *twins, u64 dest)
{
	if (dest < twins->blocks)
		set_bit(dest, twins->known);
}
