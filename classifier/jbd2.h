/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Journal snooping: what a live jbd2 journal says about blocks elsewhere.
 *
 * jbd2 logs every metadata block before it is written home: a transaction's
 * descriptor blocks name the home blocks, the blocks themselves follow, then a
 * commit block. So while a file system with a journal is mounted, a write whose
 * block stands in no transaction that is still in the log is not metadata:
 * the write-ahead order classifies it at once. David (FAST 2011, section 3.1.2)
 * reads journals to decide about inodes earlier; here the order itself decides.
 *
 * That holds only if no transaction that may still be written home was missed.
 * jbd2_complete() tells. After anything that was not understood, not seen or
 * found no room it is false, and becomes true again by itself once the log's
 * tail, as the journal's superblock tells it, has passed the trouble. A crash
 * and recovery are no special case: recovery writes only logged blocks (and,
 * with fast commits, others: the mount state is for that), and restarts the
 * log behind everything.
 *
 * Control blocks are known by their first word. A logged block that happens to
 * begin with it is written with that word cleared (JBD2_FLAG_ESCAPE), so no
 * file's content can look like a control block.
 *
 * A revoke record takes a block out again, at its transaction's commit and not
 * before: until then recovery may still write the block home.
 *
 * Descriptor blocks with tags of all formats (8 to 16 bytes; checksums v1 to
 * v3, 64 bit) are read. Checksums are not verified: a torn control block is
 * never committed, and reading too much into it only keeps more.
 *
 * Portable, any context; the caller serialises.
 */
#ifndef CLASSIFIER_JBD2_H
#define CLASSIFIER_JBD2_H

#include "logset.h"

#define JBD2_MAGIC		0xc03b3998u
#define JBD2_PENDING_MAX	65536	/* revoke records of one transaction, at most */
#define JBD2_PENDING_MIN	512

enum jbd2_block_kind {
	JBD2_LOGGED,		/* no control block: a logged block, or stale */
	JBD2_DESCRIPTOR,
	JBD2_COMMIT,
	JBD2_SUPER,
	JBD2_REVOKE,
	JBD2_BAD,		/* a control block that makes no sense: counted */
};

struct jbd2_counters {
	u64 descriptors, commits, revokes, supers;
	u64 tags;		/* home blocks named */
	u64 revoked;		/* records that took a block out */
	u64 bad;		/* control blocks not understood */
	u64 missed;		/* times that something was not seen, or had no room */
};

struct jbd2 {
	/* the volume's */
	u64 blocks;
	u32 block_size;

	/* from the journal's superblock */
	bool known;
	u32 maxlen;		/* blocks of the journal */
	u32 first;		/* where the log begins, and goes on behind its end */
	u32 fast;		/* blocks at the journal's end that are for fast commits */
	u32 features;		/* incompatible ones */
	u32 start;		/* block where the oldest transaction in the log begins, 0: empty */
	u32 tail;		/* its number */

	bool unseen;		/* control blocks went by before the superblock was known */
	bool tail_fresh;	/* ->tail moved since anything was last missed */
	bool joined;		/* ->complete_from is valid */
	u32 complete_from;	/* this transaction and all later ones were seen whole */
	u32 head;		/* newest transaction seen */

	struct logset set;

	u64 *pending;		/* records of transaction ->pending_tid, not yet committed */
	u32 pending_room;
	u32 pending_nr;
	u32 pending_tid;

	struct jbd2_counters count;
};

/* Begin with nothing known, of a volume of @blocks. Keeps the memory given. */
void jbd2_init(struct jbd2 *j, u64 blocks, u32 block_size);

/*
 * Learn the journal's superblock from @block, read from the disk. Returns NULL
 * or what is wrong. @maxlen: blocks that the journal really has. Before the
 * read is begun, jbd2_expect_super() has to be called.
 */
void jbd2_expect_super(struct jbd2 *j);
const char *jbd2_read_super(struct jbd2 *j, const void *block, u32 maxlen);

/* A whole block at @logical of the journal is written. */
enum jbd2_block_kind jbd2_write(struct jbd2 *j, u32 logical, const void *block);

/* Would jbd2_write() look at more than the first word of a block that begins with @word? */
static inline bool jbd2_control(__be32 word)
{
	return word == cpu_to_be32(JBD2_MAGIC);
}

/* The transaction that a control block is of. */
static inline u32 jbd2_tid(const void *block)
{
	return get_unaligned_be32(block + 8);
}

/*
 * Read a log back: what is @block, if it is a control block of transaction @tid? Else
 * JBD2_LOGGED. Of a descriptor @tag is told the home blocks, in the order in which what is
 * logged follows.
 */
enum jbd2_block_kind jbd2_read(const struct jbd2 *j, u32 tid, const void *block,
			       void (*tag)(void *ctx, u64 home), void *ctx);

/* Blocks of the log, which goes round. */
static inline u32 jbd2_log_blocks(const struct jbd2 *j)
{
	return j->maxlen - j->first - j->fast;
}

/* Do fast commits change the disk in ways that the log does not tell? */
bool jbd2_has_fast_commits(const struct jbd2 *j);

/* Is transaction @a older than @b? Numbers wrap. */
static inline bool jbd2_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* A part of a block of the journal is written, or something else that was not understood. */
void jbd2_missed(struct jbd2 *j);

/* Does a block outside of the log set prove that it is not metadata? */
bool jbd2_complete(const struct jbd2 *j);

static inline bool jbd2_has(const struct jbd2 *j, u64 block)
{
	return logset_has(&j->set, block);
}

#endif
