// SPDX-License-Identifier: GPL-2.0
/*
 * Journal snooping: see jbd2.h. The formats are those of include/linux/jbd2.h
 * and fs/jbd2/recovery.c; everything in a journal is big-endian.
 */
#include "jbd2.h"

#define TYPE_DESCRIPTOR	1
#define TYPE_COMMIT	2
#define TYPE_SUPER_V1	3
#define TYPE_SUPER_V2	4
#define TYPE_REVOKE	5

#define TAG_SAME_UUID	2
#define TAG_LAST	8

#define FEATURE_REVOKE		0x01
#define FEATURE_64BIT		0x02
#define FEATURE_ASYNC_COMMIT	0x04
#define FEATURE_CSUM_V2		0x08
#define FEATURE_CSUM_V3		0x10
#define FEATURE_FAST_COMMIT	0x20
#define FEATURES_KNOWN		0x3f

#define UUID_BYTES	16
#define FAST_DEFAULT	256	/* blocks */
#define TAIL_BYTES	4	/* checksum at the end of descriptor and revoke blocks */

struct header {
	__be32 magic;
	__be32 type;
	__be32 tid;
};

struct super {
	struct header h;
	__be32 block_size;
	__be32 maxlen;
	__be32 first;
	__be32 sequence;
	__be32 start;
	__be32 error;
	__be32 compat;
	__be32 incompat;
	__be32 ro_compat;
	u8 uuid[16];
	__be32 users, dynsuper, max_transaction, max_trans_data;
	u8 checksum_type, padding[3];
	__be32 fast;
};

void jbd2_init(struct jbd2 *j, u64 blocks, u32 block_size)
{
	struct logset set = j->set;
	u64 *pending = j->pending;
	u32 room = j->pending_room;

	memset(j, 0, sizeof(*j));
	j->set = set;
	logset_clear(&j->set);
	j->pending = pending;
	j->pending_room = room;
	j->blocks = blocks;
	j->block_size = block_size;
}

void jbd2_missed(struct jbd2 *j)
{
	j->count.missed++;
	j->joined = false;
	j->tail_fresh = false;
}

bool jbd2_complete(const struct jbd2 *j)
{
	return j->known && j->joined && !jbd2_before(j->tail, j->complete_from);
}

/* The superblock's own fields. */
static const char *parse_super(struct jbd2 *j, const void *block, u32 maxlen)
{
	struct super s;
	u32 features = 0;

	BUILD_BUG_ON(offsetof(struct super, fast) != 0x54);
	memcpy(&s, block, sizeof(s));
	if (s.h.magic != cpu_to_be32(JBD2_MAGIC) ||
	    (be32_to_cpu(s.h.type) != TYPE_SUPER_V1 && be32_to_cpu(s.h.type) != TYPE_SUPER_V2))
		return "no journal superblock";
	if (be32_to_cpu(s.block_size) != j->block_size)
		return "the journal's block size is not the file system's";
	if (be32_to_cpu(s.maxlen) > maxlen || !s.maxlen)
		return "the journal is longer than its inode";
	if (be32_to_cpu(s.first) >= be32_to_cpu(s.maxlen) || !s.first)
		return "the log begins beyond its end";
	if (be32_to_cpu(s.start) >= be32_to_cpu(s.maxlen))
		return "the log's tail is beyond its end";
	if (be32_to_cpu(s.h.type) == TYPE_SUPER_V2)
		features = be32_to_cpu(s.incompat);
	if (features & ~FEATURES_KNOWN ||
	    (features & (FEATURE_CSUM_V2 | FEATURE_CSUM_V3)) == (FEATURE_CSUM_V2 | FEATURE_CSUM_V3))
		return "the journal has unknown features";
	j->maxlen = be32_to_cpu(s.maxlen);
	j->first = be32_to_cpu(s.first);
	j->features = features;
	j->fast = 0;
	if (features & FEATURE_FAST_COMMIT)
		j->fast = be32_to_cpu(s.fast) ?: FAST_DEFAULT;
	if (j->fast >= j->maxlen - j->first)
		j->fast = 0;
	j->start = be32_to_cpu(s.start);
	j->tail = be32_to_cpu(s.sequence);
	return NULL;
}

static const char *learn_super(struct jbd2 *j, const void *block, u32 maxlen)
{
	const char *wrong = parse_super(j, block, maxlen);

	if (wrong) {
		j->known = false;
		j->count.bad++;
		jbd2_missed(j);
		return wrong;
	}
	j->known = true;
	j->count.supers++;
	return NULL;
}

/* An empty log: every transaction that may ever be written home is still to come. */
static void begin_empty(struct jbd2 *j)
{
	j->joined = true;
	j->complete_from = j->tail;
	j->head = j->tail;
}

void jbd2_expect_super(struct jbd2 *j)
{
	j->unseen = false;
}

const char *jbd2_read_super(struct jbd2 *j, const void *block, u32 maxlen)
{
	const char *wrong = learn_super(j, block, maxlen);

	if (wrong)
		return wrong;
	/* The block that was read may be older than writes that were seen. */
	if (!j->start && !j->unseen)
		begin_empty(j);
	j->tail_fresh = !j->start && !j->unseen;
	return NULL;
}

/*
 * jbd2 marks its log empty after all of it is written home. So does e2fsck after a replay, but
 * there the page cache decides which write comes first, and home blocks may come later. If the log
 * was seen, these blocks are in the set. If not, the set is incomplete until the next transaction,
 * which restarts the log.
 */
static enum jbd2_block_kind jbd2_write_super(struct jbd2 *j, const void *block)
{
	u32 start = j->start, tail = j->tail;
	bool complete = jbd2_complete(j);

	if (learn_super(j, block, j->maxlen))
		return JBD2_BAD;
	if (!j->start) {
		if (complete)
			begin_empty(j);
		else
			jbd2_missed(j);
	}
	/*
	 * Ignore a superblock without news. If blocks are smaller than a page, the page cache may
	 * write an old superblock again, and an old first transaction with it.
	 */
	if (j->start != start || j->tail != tail)
		j->tail_fresh = true;
	return JBD2_SUPER;
}

/*
 * A control block of transaction @tid at @logical. Numbers are consecutive, so
 * a gap is a transaction that was not seen, and one older than the tail makes
 * no sense. (An empty log's superblock names the next number or the one before.)
 */
static void jbd2_control_seen(struct jbd2 *j, u32 logical, u32 tid)
{
	/*
	 * If the transaction is the log's tail and the tail is here, it is seen from its beginning.
	 */
	bool first = j->tail_fresh && tid == j->tail && logical == j->start;

	if (jbd2_before(tid, j->tail)) {
		j->count.bad++;
		jbd2_missed(j);
		return;
	}
	if (j->joined && jbd2_before(j->head + 1, tid) && !first)
		jbd2_missed(j);
	if (!j->joined) {
		j->complete_from = first ? tid : tid + 1;
		j->head = tid;
		j->joined = true;
	}
	if (jbd2_before(j->head, tid))
		j->head = tid;
}

/* Home blocks of transaction @tid are missing: incomplete until the tail has passed it. */
static void jbd2_incomplete(struct jbd2 *j, u32 tid)
{
	j->count.missed++;
	if (jbd2_before(j->complete_from, tid + 1))
		j->complete_from = tid + 1;
}

static u32 tag_bytes(const struct jbd2 *j)
{
	u32 bytes = 8;

	if (j->features & FEATURE_CSUM_V3)
		return 16;
	if (j->features & FEATURE_CSUM_V2)
		bytes += 2;
	if (j->features & FEATURE_64BIT)
		bytes += 4;
	return bytes;
}

/* Where the content of a descriptor or revoke block ends, bytes. */
static u32 content_end(const struct jbd2 *j)
{
	return j->features & (FEATURE_CSUM_V2 | FEATURE_CSUM_V3) ?
	       j->block_size - TAIL_BYTES : j->block_size;
}

static bool jbd2_add_logged(struct jbd2 *j, u64 block, u32 tid)
{
	if (logset_add(&j->set, block, tid))
		return true;
	/* No room: drop blocks that the log no longer has. */
	return logset_expire(&j->set, j->tail, j->head) && logset_add(&j->set, block, tid);
}

/* The tags of a descriptor. */
struct tags {
	u32 at;
	u32 flags;
	bool bad;
};

static bool next_tag(const struct jbd2 *j, const void *block, struct tags *t, u64 *home)
{
	u32 bytes = tag_bytes(j);
	const void *tag = block + t->at;

	if (t->flags & TAG_LAST)
		return false;
	t->bad = t->at + bytes > content_end(j);
	if (t->bad)
		return false;
	*home = get_unaligned_be32(tag);
	/* v3 has 32 bits of flags, of which only the low half is used so far. */
	if (j->features & FEATURE_CSUM_V3)
		t->flags = get_unaligned_be32(tag + 4);
	else
		t->flags = get_unaligned_be16(tag + 6);
	if (j->features & FEATURE_64BIT)
		*home |= (u64)get_unaligned_be32(tag + 8) << 32;
	t->at += bytes;
	if (!(t->flags & TAG_SAME_UUID))
		t->at += UUID_BYTES;
	t->bad = *home >= j->blocks;
	return !t->bad;
}

static enum jbd2_block_kind jbd2_write_descriptor(struct jbd2 *j, u32 tid, const void *block)
{
	struct tags t = { .at = sizeof(struct header) };
	bool whole = true;
	u64 home;

	j->count.descriptors++;
	while (next_tag(j, block, &t, &home)) {
		j->count.tags++;
		whole &= jbd2_add_logged(j, home, tid);
	}
	j->count.bad += t.bad;
	if (!whole || t.bad)
		jbd2_incomplete(j, tid);
	return t.bad ? JBD2_BAD : JBD2_DESCRIPTOR;
}

enum jbd2_block_kind jbd2_read(const struct jbd2 *j, u32 tid, const void *block,
			       void (*tag)(void *ctx, u64 home), void *ctx)
{
	struct tags t = { .at = sizeof(struct header) };
	struct header h;
	u64 home;

	memcpy(&h, block, sizeof(h));
	if (!jbd2_control(h.magic) || be32_to_cpu(h.tid) != tid)
		return JBD2_LOGGED;
	switch (be32_to_cpu(h.type)) {
	case TYPE_DESCRIPTOR:
		while (next_tag(j, block, &t, &home))
			tag(ctx, home);
		return t.bad ? JBD2_BAD : JBD2_DESCRIPTOR;
	case TYPE_COMMIT:
		return JBD2_COMMIT;
	case TYPE_REVOKE:
		return JBD2_REVOKE;
	default:
		return JBD2_BAD;
	}
}

bool jbd2_has_fast_commits(const struct jbd2 *j)
{
	return j->features & FEATURE_FAST_COMMIT;
}

static enum jbd2_block_kind jbd2_write_revoke(struct jbd2 *j, u32 tid, const void *block)
{
	u32 bytes = j->features & FEATURE_64BIT ? 8 : 4;
	u32 at = sizeof(struct header) + 4;
	u32 end = get_unaligned_be32(block + sizeof(struct header));

	j->count.revokes++;
	if (end > content_end(j)) {
		/* Remove nothing. That only keeps more. */
		j->count.bad++;
		return JBD2_BAD;
	}
	if (j->pending_nr && j->pending_tid != tid)
		j->pending_nr = 0;
	j->pending_tid = tid;
	for (; at + bytes <= end; at += bytes) {
		u64 home = get_unaligned_be32(block + at);

		if (bytes == 8)
			home = home << 32 | get_unaligned_be32(block + at + 4);
		if (j->pending_nr < j->pending_room)
			j->pending[j->pending_nr++] = home;
	}
	return JBD2_REVOKE;
}

static enum jbd2_block_kind jbd2_write_commit(struct jbd2 *j, u32 tid)
{
	u32 i;

	j->count.commits++;
	for (i = 0; i < j->pending_nr && j->pending_tid == tid; i++) {
		u32 used = j->set.used;

		/* A block that this transaction itself logged stays. */
		logset_revoke(&j->set, j->pending[i], tid);
		j->count.revoked += used - j->set.used;
	}
	j->pending_nr = 0;
	return JBD2_COMMIT;
}

enum jbd2_block_kind jbd2_write(struct jbd2 *j, u32 logical, const void *block)
{
	struct header h;
	u32 type, tid;

	memcpy(&h, block, sizeof(h));
	if (!jbd2_control(h.magic))
		return JBD2_LOGGED;
	type = be32_to_cpu(h.type);
	if (!j->known) {
		/* The superblock is about to be read, and may then be older than this block. */
		j->unseen = true;
		return JBD2_BAD;
	}
	if (!logical)
		return jbd2_write_super(j, block);
	if (logical >= j->maxlen)
		return JBD2_LOGGED;
	tid = be32_to_cpu(h.tid);
	if (type == TYPE_DESCRIPTOR || type == TYPE_COMMIT || type == TYPE_REVOKE)
		jbd2_control_seen(j, logical, tid);
	switch (type) {
	case TYPE_DESCRIPTOR:
		return jbd2_write_descriptor(j, tid, block);
	case TYPE_COMMIT:
		return jbd2_write_commit(j, tid);
	case TYPE_REVOKE:
		return jbd2_write_revoke(j, tid, block);
	default:
		j->count.bad++;
		jbd2_missed(j);
		return JBD2_BAD;
	}
}
