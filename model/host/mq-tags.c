// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "mq-tags.h"
#include "../planted.h"

#define WORD_BITS	64

/* Few tags are spread over four words, if there are four: sbitmap_calculate_shift(). */
static u32 word_shift(u32 depth)
{
	u32 shift = 6;

	while (depth >= 4 && 4U << shift > depth)
		shift--;
	return shift;
}

int mq_tags_init(struct mq_tags *tags, u32 depth, u32 shallow, gfp_t gfp)
{
	memset(tags, 0, sizeof(*tags));
	tags->depth = depth;
	tags->shallow = shallow;
	tags->shift = word_shift(depth);
	tags->nr_words = DIV_ROUND_UP(depth, 1U << tags->shift);
	tags->batch = max(min(min(depth, shallow) / MQ_LINES, MQ_WAKE_BATCH), 1U);
	tags->words = kvcalloc(tags->nr_words, sizeof(*tags->words), gfp);
	return tags->words ? 0 : -ENOMEM;
}

void mq_tags_exit(struct mq_tags *tags)
{
	kvfree(tags->words);
	memset(tags, 0, sizeof(*tags));
}

/* How many bits of word @i @op may have: __map_depth_with_shallow(). */
static u32 word_depth(const struct mq_tags *tags, u32 i, enum disk_op op)
{
	u32 depth = min(tags->depth - (i << tags->shift), 1U << tags->shift), share;

	if (op == DISK_READ || tags->shallow >= tags->depth)
		return depth;
	share = depth * tags->shallow;
	return share / tags->depth + (share % tags->depth >= (i + 1) * depth);
}

static u64 low_bits(u32 nr)
{
	return nr < WORD_BITS ? (1ULL << nr) - 1 : U64_MAX;
}

bool mq_tag_free(const struct mq_tags *tags, enum disk_op op)
{
	u32 i;

	for (i = 0; i < tags->nr_words; i++)
		if (~(tags->words[i].taken & ~tags->words[i].freed) &
		    low_bits(word_depth(tags, i, op)))
			return true;
	return false;
}

/* Of the first @depth bits of @word the first free one from @hint on, then from 0 on. */
static u32 mq_word_get_bit(struct mq_word *word, u32 depth, u32 hint)
{
	u64 free = ~word->taken & low_bits(depth);

	if (!depth)
		return MQ_NO_TAG;
	if (!free) {
		word->taken &= ~word->freed;
		word->freed = 0;
		free = ~word->taken & low_bits(depth);
		if (!free)
			return MQ_NO_TAG;
	}
	if (free & ~low_bits(hint))
		free &= ~low_bits(hint);
	word->taken |= free & -free;
	return __ffs64(free);
}

static u32 find_tag(struct mq_tags *tags, u32 hint, enum disk_op op)
{
	u32 n, bit, i = hint >> tags->shift;

	/* Who may have any begins with a word's first. */
	hint = op == DISK_READ ? 0 : hint & ((1U << tags->shift) - 1);
	for (n = 0; n < tags->nr_words; n++) {
		bit = mq_word_get_bit(&tags->words[i], word_depth(tags, i, op), hint);
		if (bit != MQ_NO_TAG)
			return (i << tags->shift) + bit;
		hint = 0;
		i = (i + 1) % tags->nr_words;
	}
	return MQ_NO_TAG;
}

u32 mq_tag_get(struct mq_tags *tags, u32 cpu, enum disk_op op)
{
	u16 *hint = &tags->hints[cpu % MQ_CPUS];
	u32 tag = find_tag(tags, *hint, op);

	if (tag == MQ_NO_TAG)
		*hint = 0;
	else if (tag == *hint)
		*hint = tag + 2 < tags->depth ? tag + 1 : 0;
	return tag;
}

void mq_tag_put(struct mq_tags *tags, u32 cpu, u32 tag)
{
	tags->words[tag >> tags->shift].freed |= 1ULL << (tag & ((1U << tags->shift) - 1));
	tags->hints[cpu % MQ_CPUS] = tag;
}

u8 mq_tags_line(struct mq_tags *tags)
{
	u8 line = tags->next_line;

	if (!MODEL_PLANTED(lines))
		tags->next_line = (line + 1) % MQ_LINES;
	return line;
}

/* __sbitmap_queue_wake_up() */
u32 mq_tags_wake(struct mq_tags *tags, u8 lines[MQ_WAKE_BATCH])
{
	u32 i, nr = 0;

	if (!tags->waiters || ++tags->freed < tags->batch)
		return 0;
	tags->freed -= tags->batch;
	for (i = 0; i < MQ_LINES && nr < tags->batch; i++) {
		u8 line = tags->wake_line;

		tags->wake_line = (line + 1) % MQ_LINES;
		for (; tags->waiting[line] && nr < tags->batch; tags->waiting[line]--)
			lines[nr++] = line;
	}
	return nr;
}
