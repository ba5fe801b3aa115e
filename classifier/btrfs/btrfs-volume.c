// SPDX-License-Identifier: GPL-2.0
/* Volumes of btrfs: see volume-ops.h and selfid-volume.h. */
#include "../selfid-volume.h"
#include "btrfs-live.h"

#define CHUNKS_AT_ONCE	256	/* of classifier.undecided */

static struct btrfs_live *btrfs_of(const struct volume *v)
{
	return v->live;
}

/* What volumes share is the superblock that is being parsed. */
static const char *btrfs_volume_parse(struct classifier *c, const void *super, u32 bytes, u64 room,
				      u64 *sectors, const u8 **uuid)
{
	struct btrfs_geo *fresh = c->volumes.shared[btrfs_volume_kind];
	const char *wrong;

	BUILD_BUG_ON(BTRFS_MAGIC_OFFSET + 8 > VOLUME_HEAD_BYTES);
	BUILD_BUG_ON(BTRFS_SUPER_SECTOR + VOLUME_SUPER_SECTORS > CLASSIFIER_SUPERS_END);
	if (bytes < BTRFS_SUPER_BYTES)
		return "not all of it";
	wrong = btrfs_parse_super(super, room, fresh);
	*sectors = fresh->sectors;
	*uuid = fresh->fsid;
	return wrong;
}

static struct volume *btrfs_volume_super(struct classifier *c, u64 start, const void *super,
					 u32 bytes, bool durable)
{
	return selfid_super(c, btrfs_volume_kind, start, super, bytes);
}

/* Forget the undecided blocks of @v: they stay kept. */
static void btrfs_volume_forget_undecided(struct classifier *c, struct volume *v)
{
	undecided_forget(&c->undecided, volume_slot(v));
	btrfs_of(v)->restarted = false;
}

static const char *btrfs_volume_begin(struct classifier *c, struct volume *v, const void *super,
				      u32 bytes, u64 room)
{
	const char *wrong = btrfs_live_init(btrfs_of(v), super, room);

	btrfs_volume_forget_undecided(c, v);
	c->undecided.wanted = c->undecided.limit;
	return wrong;
}

static enum verdict btrfs_volume_judge_write(struct classifier *c, struct volume *v,
					     const struct selfid_request *r, u32 pos, u32 *len,
					     enum selfid_reason *why, enum selfid_sign *sign,
					     u64 *sectors)
{
	enum verdict verdict = btrfs_live_write(btrfs_of(v), r, pos, len, why);

	*sign = btrfs_of(v)->sign;
	btrfs_of(v)->sign = SELFID_NO_SIGN;
	*sectors = btrfs_of(v)->geo.sectors;
	if (unlikely(btrfs_of(v)->restarted))
		btrfs_volume_forget_undecided(c, v);
	return verdict;
}

/*
 * Remember the whole blocks among these sectors. They must be blocks of the target, so the volume
 * has to begin at one.
 */
static bool btrfs_volume_remember(struct classifier *c, const struct volume *v, u64 at, u32 sectors)
{
	u64 block = DIV_ROUND_UP(at, SELFID_BLOCK_SECTORS);
	u64 end = min(at + sectors, v->proved) / SELFID_BLOCK_SECTORS;

	if (!c->undecided.limit || c->by_inode || block >= end || v->start % SELFID_BLOCK_SECTORS)
		return false;
	for (; block < end; block++)
		undecided_add(&c->undecided, volume_slot(v), block,
			      SELFID_BLOCK_SHIFT + SECTOR_BITS, btrfs_live_tag(btrfs_of(v)), false);
	c->pending |= c->undecided.wanted;
	return true;
}

static bool btrfs_volume_wants_work(const struct classifier *c, const struct volume *v)
{
	u64 epoch;

	if ((btrfs_of(v)->walking && !btrfs_of(v)->asked) || btrfs_live_memory(btrfs_of(v)))
		return true;
	epoch = btrfs_live_epoch(btrfs_of(v));
	return undecided_any(&c->undecided) && epoch && epoch != v->judged;
}

/*
 * Decide about @n blocks from @block on, each written at one of the two times in @time. False: not
 * all of them are data, so the caller has to ask for each.
 */
static bool btrfs_volume_judge_blocks(struct classifier *c, const struct volume *v, u64 block,
				      u32 n, const u64 *time)
{
	enum verdict verdict;
	int i;

	for (i = 0; i < 2; i++) {
		verdict = btrfs_live_decide(btrfs_of(v), block * SELFID_BLOCK_SECTORS,
					    n * SELFID_BLOCK_SECTORS, time[i]);
		if (n > 1 && verdict == VERDICT_KEEP)
			return false;
		if (verdict != VERDICT_UNDECIDED)
			undecided_decide(&c->undecided, volume_slot(v), block, n, time[i] + 1,
					 verdict == VERDICT_SQUASH);
	}
	return true;
}

/* Judge undecided blocks by the chunks of the last commit. */
static bool btrfs_volume_judge_undecided(struct classifier *c, struct volume *v)
{
	const struct undecided_chunk *chunk;
	u32 left = CHUNKS_AT_ONCE, i;
	u64 epoch, block, time[2];

	if (!v->ready || !undecided_any(&c->undecided))
		return false;
	epoch = btrfs_live_epoch(btrfs_of(v));
	if (!epoch)
		return false;
	if (v->judged != epoch) {
		v->judged = epoch;
		v->hand = 0;
	}
	while (left--) {
		chunk = undecided_next(&c->undecided, volume_slot(v), &v->hand, &block);
		if (!chunk)
			return false;
		time[0] = chunk->old_time;
		time[1] = chunk->new_time;
		if (btrfs_volume_judge_blocks(c, v, block, UNDECIDED_CHUNK, time))
			continue;
		for (i = 0; i < UNDECIDED_CHUNK; i++)
			btrfs_volume_judge_blocks(c, v, block + i, 1, time);
	}
	return true;
}

static u32 btrfs_volume_undecided_shift(const struct volume *v)
{
	return SELFID_BLOCK_SHIFT;
}

static enum classify_sums btrfs_volume_sums(const struct volume *v)
{
	if (!v->ready || !btrfs_sums_are_crc32c(&btrfs_of(v)->geo) ||
	    v->start % SELFID_BLOCK_SECTORS)
		return CLASSIFY_SUMS_OTHER;
	return CLASSIFY_SUMS_CRC32C;
}

/*
 * A mount reads the chunk tree's root alone. Tools read it through the page cache, in other
 * lengths.
 */
static bool btrfs_volume_is_mounting(struct volume *v, u64 sector, u64 sectors)
{
	u64 root = btrfs_live_root(btrfs_of(v));

	return root && sector == root && sectors == btrfs_of(v)->geo.node_bytes >> SECTOR_BITS;
}

static size_t btrfs_volume_memory(const struct classifier *c, const struct volume *v)
{
	return btrfs_live_memory(btrfs_of(v));
}

static void *btrfs_volume_give(struct volume *v, void *memory, size_t bytes)
{
	return btrfs_live_give(btrfs_of(v), memory, bytes);
}

static bool btrfs_volume_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	if (!btrfs_live_want(btrfs_of(v), sector, bytes))
		return false;
	c->reader.live = v->live;
	c->reader.kind = v->kind;
	c->reader.sector = v->start + *sector;
	return true;
}

static void btrfs_volume_learn_live(void *live, const void *content)
{
	btrfs_live_learn(live, content);
}

static void btrfs_volume_destroy(void *live, void (*release)(const void *))
{
	struct btrfs_live *b = live;

	if (b)
		release(b->memory);
	release(b);
}

static size_t btrfs_volume_live_bytes(const void *live)
{
	const struct btrfs_live *b = live;

	return b ? sizeof(*b) + b->bytes : 0;
}

static const struct selfid_ops btrfs_selfid_ops = {
	.super_sectors = VOLUME_SUPER_SECTORS,
	.live_bytes = sizeof(struct btrfs_live),
	.parse = btrfs_volume_parse,
	.begin = btrfs_volume_begin,
	.write = btrfs_volume_judge_write,
	.remember = btrfs_volume_remember,
	.wants_work = btrfs_volume_wants_work,
	.is_mounting = btrfs_volume_is_mounting,
	.memory = btrfs_volume_memory,
	.give = btrfs_volume_give,
	.want = btrfs_volume_want,
};

const struct volume_ops btrfs_volume_ops = {
	.super_sector = BTRFS_SUPER_SECTOR,
	.magic_offset = BTRFS_MAGIC_OFFSET,
	.magic_bytes = 8,
	.magic = "_BHRfS_M",
	.selfid = &btrfs_selfid_ops,
	.shared_bytes = sizeof(struct btrfs_geo),
	.super = btrfs_volume_super,
	.outlasts = selfid_outlasts,
	.write = selfid_write,
	.discarded = selfid_discarded,
	.looked = selfid_looked,
	.undecided_shift = btrfs_volume_undecided_shift,
	.judge = btrfs_volume_judge_undecided,
	.sums = btrfs_volume_sums,
	.memory = selfid_memory,
	.give = selfid_give,
	.want = selfid_want,
	.learn = selfid_learn,
	.learn_live = btrfs_volume_learn_live,
	.destroy = btrfs_volume_destroy,
	.live_bytes = btrfs_volume_live_bytes,
};
