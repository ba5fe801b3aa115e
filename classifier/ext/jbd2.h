/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Journal snooping: which blocks a live jbd2 journal has logged.
 *
 * jbd2 logs each metadata block before it writes the block home. A transaction is descriptor
 * blocks, which name the home blocks; the logged blocks; and a commit block. So while a file system
 * with a journal is mounted, a write to a block that no transaction in the log names is not
 * metadata. The write-ahead order decides at once. (David, FAST 2011, section 3.1.2, reads journals
 * to learn of inodes earlier. Here the order itself is the evidence.)
 *
 * That holds only if no transaction was missed that may still be written home. jbd2_complete() says
 * so. It becomes false when something in the log was not understood, was not seen, or found no
 * room. It becomes true again when the log's tail, which is in the journal's superblock, has passed
 * that place. Crash and recovery need no special case. Recovery writes only logged blocks, and
 * restarts the log behind them. (With fast commits it writes others, but the volume does not count
 * as mounted then.)
 *
 * A control block has a magic number in its first word. If a logged block begins with the same
 * number, jbd2 writes it with that word cleared (JBD2_FLAG_ESCAPE). So no file content can look
 * like a control block.
 *
 * A revoke record removes a block from the set when its transaction commits. Not earlier, because
 * until then recovery may still write the block home.
 *
 * Descriptor tags of all formats are read (8 to 16 bytes; checksums v1 to v3; 64 bit). Checksums
 * are not verified. A torn control block is never committed, and a tag too many only keeps more.
 *
 * Portable, any context; the caller serialises.
 */
#ifndef CLASSIFIER_JBD2_H
#define CLASSIFIER_JBD2_H

#include "../logset.h"

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
	u64 revoked;		/* revoke records that removed a block */
	u64 bad;		/* control blocks that were not understood */
	u64 missed;		/* how often something was not seen, or had no room */
};

struct jbd2 {
	u64 blocks;		/* of the volume */
	u32 block_size;

	/* From the journal's superblock. */
	bool known;
	u32 maxlen;		/* blocks of the journal */
	u32 first;		/* first block of the log, to which it wraps */
	u32 fast;		/* blocks at the journal's end that are for fast commits */
	u32 features;		/* incompatible ones */
	u32 start;		/* block where the oldest transaction in the log begins, 0: empty */
	u32 tail;		/* number of that transaction */

	bool unseen;		/* control blocks went by before the superblock was known */
	bool tail_fresh;	/* ->tail has moved since something was missed */
	bool joined;		/* ->complete_from is valid */
	u32 complete_from;	/* this transaction and all later ones were seen completely */
	u32 head;		/* newest transaction seen */

	struct logset set;

	u64 *pending;		/* revoke records of ->pending_tid, which has not committed yet */
	u32 pending_room;
	u32 pending_nr;
	u32 pending_tid;

	struct jbd2_counters count;
};

/* Start with a volume of @blocks and an unknown journal. Keeps memory that was given. */
void jbd2_init(struct jbd2 *j, u64 blocks, u32 block_size);

/*
 * Call jbd2_expect_super(), read the journal's superblock from the disk, then call
 * jbd2_read_super(). @maxlen: how many blocks the journal's map has. Returns NULL, or what is
 * wrong.
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

/* The transaction of a control block. */
static inline u32 jbd2_tid(const void *block)
{
	return get_unaligned_be32(block + 8);
}

/*
 * For reading a log back. Returns the kind of @block if it is a control block of transaction @tid,
 * else JBD2_LOGGED. For a descriptor, calls @tag for each home block, in the order of the logged
 * blocks that follow.
 */
enum jbd2_block_kind jbd2_read(const struct jbd2 *j, u32 tid, const void *block,
			       void (*tag)(void *ctx, u64 home), void *ctx);

/* Blocks of the log, a ring. */
static inline u32 jbd2_log_blocks(const struct jbd2 *j)
{
	return j->maxlen - j->first - j->fast;
}

/* Does the journal have fast commits? They change the disk without the log. */
bool jbd2_has_fast_commits(const struct jbd2 *j);

/* Is transaction @a older than @b? Numbers wrap. */
static inline bool jbd2_before(u32 a, u32 b)
{
	return (s32)(a - b) < 0;
}

/* Only a part of a journal block was written, or something that is not understood. */
void jbd2_missed(struct jbd2 *j);

/* Is a block that is not in the log set certainly not metadata? */
bool jbd2_complete(const struct jbd2 *j);

static inline bool jbd2_has(const struct jbd2 *j, u64 block)
{
	return logset_has(&j->set, block);
}

#endif
