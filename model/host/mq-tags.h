/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tags of a hardware queue, and those that wait for one.
 *
 * A tag is a bit of a word. With a scheduler a write may have the first bits of each word only, so
 * that reads find others. A read takes any, so it may take what writes need. A search begins with
 * the word of the CPU's hint, which is the tag that was freed last there. A freed bit is not seen
 * before its word has no other.
 *
 * There are eight lines of waiters. Each waiter goes to the next line. When a batch of tags was
 * freed, as many waiters are woken: all of a line before those of the next one. So they are not
 * woken in the order in which they came. A waiter that is woken and finds no tag goes to the next
 * line again.
 *
 * Linux 7.3: lib/sbitmap.c, block/blk-mq-tag.c. Linux draws the first hint at random; here it is 0.
 */
#ifndef DAVID_MODEL_MQ_TAGS_H
#define DAVID_MODEL_MQ_TAGS_H

#include "disk.h"

#define MQ_CPUS		64	/* a request's CPU is taken modulo this */
#define MQ_LINES	8	/* SBQ_WAIT_QUEUES */
#define MQ_WAKE_BATCH	8U	/* SBQ_WAKE_BATCH */
#define MQ_NO_TAG	U32_MAX

struct mq_word {
	u64 taken;
	u64 freed;		/* of these, not yet seen to be free */
};

struct mq_tags {
	u32 depth;
	u32 shallow;			/* how many of them writes may have */
	u32 shift;			/* log2 of the tags in a word */
	u32 nr_words;
	struct mq_word *words;
	u16 hints[MQ_CPUS];
	u32 batch;			/* waiters woken at a time */
	u32 freed;			/* tags, since the last batch was woken */
	u32 waiting[MQ_LINES];		/* not woken */
	u32 waiters;			/* these, and the woken ones that have not come yet */
	u8 next_line;			/* of the next waiter */
	u8 wake_line;			/* to be woken next */
};

/* @shallow: how many of them writes may have. Returns 0 or -ENOMEM, with nothing to free. */
int mq_tags_init(struct mq_tags *tags, u32 depth, u32 shallow, gfp_t gfp);
/* Takes a zeroed one, too. */
void mq_tags_exit(struct mq_tags *tags);

/* Would mq_tag_get() find one? */
bool mq_tag_free(const struct mq_tags *tags, enum disk_op op);

/* Take a tag, or return MQ_NO_TAG, which is remembered. */
u32 mq_tag_get(struct mq_tags *tags, u32 cpu, enum disk_op op);
void mq_tag_put(struct mq_tags *tags, u32 cpu, u32 tag);

/* The line for somebody who is to wait, or was woken and may have to wait again. */
u8 mq_tags_line(struct mq_tags *tags);

/*
 * A tag was put. Returns how many waiters that wakes, at most MQ_WAKE_BATCH, with the line of each
 * in @lines, in order.
 */
u32 mq_tags_wake(struct mq_tags *tags, u8 lines[MQ_WAKE_BATCH]);

#endif
