// SPDX-License-Identifier: GPL-2.0
/* btrfs and xfs on a disk: see selfid-volume.h. */
#include "selfid-volume.h"

#define SECTOR_BITS	9
#define CHUNKS_AT_ONCE	256	/* of classifier.undecided */

static const enum classify_reason reasons[SELFID_REASONS] = {
	[SELFID_UNSAFE] = CLASSIFY_UNSAFE,
	[SELFID_SUPER] = CLASSIFY_STATIC,
	[SELFID_BEYOND] = CLASSIFY_NO_VOLUME,
	[SELFID_LOG] = CLASSIFY_JOURNAL,
	[SELFID_AG] = CLASSIFY_STATIC,
	[SELFID_BTREE] = CLASSIFY_NAMED,
	[SELFID_DIRECTORY] = CLASSIFY_NAMED,
	[SELFID_ATTR] = CLASSIFY_NAMED,
	[SELFID_SYMLINK] = CLASSIFY_NAMED,
	[SELFID_DQUOT] = CLASSIFY_NAMED,
	[SELFID_INODE] = CLASSIFY_NAMED,
	[SELFID_NAMED] = CLASSIFY_NAMED,
	[SELFID_TREE] = CLASSIFY_NAMED,
	[SELFID_CHUNK] = CLASSIFY_STATIC,
	[SELFID_CACHE] = CLASSIFY_NAMED,
	[SELFID_REST] = CLASSIFY_NAMED,
	[SELFID_PACKED] = CLASSIFY_PACKED,
	[SELFID_UNREAD] = CLASSIFY_LEARNING,
	[SELFID_LOGGED] = CLASSIFY_LOGGED,
	[SELFID_STORED] = CLASSIFY_STORED,
	[SELFID_PART] = CLASSIFY_PART,
	[SELFID_DATA] = CLASSIFY_UNNAMED,
};

enum volume_fs selfid_peek(const void *head)
{
	__be32 xfs;

	memcpy(&xfs, head, sizeof(xfs));
	if (be32_to_cpu(xfs) == XFS_MAGIC)
		return VOLUME_XFS;
	return memcmp(head + BTRFS_MAGIC_OFFSET, "_BHRfS_M", 8) ? VOLUME_EXT : VOLUME_BTRFS;
}

/*
 * The superblock parsed into @c->fresh; NULL, or what is wrong with it. Then
 * *sectors and @uuid are the volume's.
 */
static const char *parse(struct classifier *c, enum volume_fs fs, u64 start, const void *super,
			 u32 bytes, u64 *sectors, const u8 **uuid)
{
	u64 room = start < c->sectors ? c->sectors - start : 0;
	const char *wrong;

	if (fs == VOLUME_BTRFS) {
		if (bytes < BTRFS_SUPER_BYTES)
			return "not all of it";
		wrong = btrfs_parse_super(super, room, &c->fresh.btrfs);
		*sectors = c->fresh.btrfs.sectors;
		*uuid = c->fresh.btrfs.fsid;
		return wrong;
	}
	wrong = xfs_parse_super(super, bytes, room, &c->fresh.xfs);
	*sectors = c->fresh.xfs.sectors;
	*uuid = c->fresh.xfs.uuid;
	return wrong;
}

/* Nothing is undecided on @v. */
static void forget(struct classifier *c, struct volume *v)
{
	undecided_forget(&c->undecided, selfid_undecided_slot(v));
	if (v->ready)
		v->btrfs->anew = false;
}

/* @v has memory, and this is its superblock. */
static void begin(struct classifier *c, struct volume *v, const void *super, u32 bytes)
{
	u64 room = c->sectors - v->start;
	const char *wrong;

	if (v->fs == VOLUME_BTRFS) {
		wrong = btrfs_live_init(v->btrfs, super, room);
	} else {
		v->xfs->stored = c->stored;
		v->xfs->stored_ctx = c->stored_ctx;
		v->xfs->start = v->start;
		wrong = xfs_live_init(v->xfs, super, bytes, room);
	}
	v->ready = !wrong;
	c->pending = true;
	if (v->fs != VOLUME_BTRFS)
		return;
	forget(c, v);
	c->undecided.wanted = c->undecided.limit;
}

/* @v's superblock was written. It is held, one for all, while @v has no memory. */
static void began(struct classifier *c, struct volume *v, const void *super, u32 bytes)
{
	if (v->ready)
		return;
	if (v->live) {
		begin(c, v, super, bytes);
		return;
	}
	c->held.start = v->start;
	c->held.bytes = bytes;
	memcpy(c->held.content, super, bytes);
}

static void resize(struct classifier *c, struct volume *v, u64 sectors)
{
	volume_resize(&c->volumes, v, min(sectors, c->sectors - v->start));
}

/* The superblock of a group of a known xfs: no volume. One behind its end tells of its growth. */
static bool is_copy(struct classifier *c, u64 start)
{
	const struct xfs_geo *fresh = &c->fresh.xfs;
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		u32 behind = 0;

		if (v->fs != VOLUME_XFS || v->start >= start ||
		    memcmp(v->uuid, fresh->uuid, sizeof(v->uuid)))
			continue;
		div_u64_rem(start - v->start, fresh->ag_sectors, &behind);
		if (behind)
			continue;
		if (v->ready && !v->xfs->wrong && fresh->ag_sectors == v->xfs->geo.ag_sectors &&
		    fresh->sectors > v->claimed && fresh->sectors <= c->sectors - v->start) {
			v->xfs->geo.sectors = fresh->sectors;
			resize(c, v, fresh->sectors);
		}
		return true;
	}
	return false;
}

struct volume *selfid_super(struct classifier *c, enum volume_fs fs, u64 start, const void *super,
			    u32 bytes)
{
	struct volume *v = volume_at(&c->volumes, start);
	const u8 *uuid;
	u64 sectors;

	if (parse(c, fs, start, super, bytes, &sectors, &uuid)) {
		c->errors++;
		return NULL;
	}
	if (fs == VOLUME_XFS && is_copy(c, start))
		return NULL;
	if (!v || v->fs != fs || memcmp(v->uuid, uuid, sizeof(v->uuid))) {
		v = volume_add(&c->volumes, fs, start, sectors);
		if (!v)
			return NULL;
		memcpy(v->uuid, uuid, sizeof(v->uuid));
		/* What stands under its number was another one's. */
		if (fs == VOLUME_BTRFS)
			undecided_forget(&c->undecided, selfid_undecided_slot(v));
	}
	c->table_wanted |= volume_doubted(v);
	began(c, v, super, bytes);
	c->pending = true;
	return v;
}

bool selfid_outlasts(struct classifier *c, struct volume *v, const struct classify_write *w,
		     u32 pos)
{
	u64 start = v->start, offset = w->sector + pos - start;
	u64 n = min_t(u64, w->sectors - pos, v->sectors - offset);
	u32 bytes = min_t(u64, n, SELFID_SUPER_SECTORS) << SECTOR_BITS;
	u32 at = selfid_super_sector(v->fs);
	enum volume_fs fs = v->fs;

	if (likely(offset >= at + (fs == VOLUME_BTRFS ? SELFID_SUPER_SECTORS : 1)))
		return true;
	if (offset == at) {
		const u8 *uuid;
		u64 sectors;

		w->copy(w->ctx, pos << SECTOR_BITS, c->block, bytes);
		if (!parse(c, fs, start, c->block, bytes, &sectors, &uuid) &&
		    !memcmp(v->uuid, uuid, sizeof(v->uuid))) {
			began(c, v, c->block, bytes);
			return true;
		}
	}
	volume_remove(&c->volumes, v);
	return false;
}

/* A request that begins in front of the volume: its part from the volume's start on. */
struct later_part {
	const struct classify_write *w;
	u32 skip;
};

static void copy_later(void *ctx, u32 offset, void *to, u32 len)
{
	const struct later_part *part = ctx;

	part->w->copy(part->w->ctx, (part->skip << SECTOR_BITS) + offset, to, len);
}

/* The verdict of what @v points to; *sign and *sectors are what it says now. */
static enum verdict judge(struct volume *v, const struct selfid_request *r, u32 pos, u32 *len,
			  enum selfid_reason *why, enum selfid_sign *sign, u64 *sectors)
{
	enum verdict verdict;

	if (v->fs == VOLUME_BTRFS) {
		verdict = btrfs_live_write(v->btrfs, r, pos, len, why);
		*sign = v->btrfs->sign;
		v->btrfs->sign = SELFID_NO_SIGN;
		*sectors = v->btrfs->geo.sectors;
	} else {
		verdict = xfs_live_write(v->xfs, r, pos, len, why);
		*sign = v->xfs->sign;
		v->xfs->sign = SELFID_NO_SIGN;
		*sectors = v->xfs->geo.sectors;
	}
	return verdict;
}

static bool wants_work(const struct classifier *c, const struct volume *v)
{
	u64 epoch;

	if (v->fs != VOLUME_BTRFS)
		return xfs_live_wants_work(v->xfs, c->log_limit);
	if ((v->btrfs->walking && !v->btrfs->asked) || btrfs_live_memory(v->btrfs))
		return true;
	epoch = btrfs_live_epoch(v->btrfs);
	return undecided_any(&c->undecided) && epoch && epoch != v->judged;
}

/* What was undecided among these sectors of @v, counted from its start, is written anew. */
static void overwritten(struct classifier *c, const struct volume *v, u64 at, u32 sectors)
{
	u64 first = at / SELFID_BLOCK_SECTORS;
	u64 end = DIV_ROUND_UP(at + sectors, SELFID_BLOCK_SECTORS);

	if (v->fs == VOLUME_BTRFS)
		undecided_remove(&c->undecided, selfid_undecided_slot(v), first, end - first);
}

/*
 * Only a later commit can tell what these sectors are: remember those that are whole blocks.
 * The target looks at blocks of its own, so the volume's must be the same. False: none.
 */
static bool remember(struct classifier *c, const struct volume *v, u64 at, u32 sectors)
{
	u64 block = DIV_ROUND_UP(at, SELFID_BLOCK_SECTORS);
	u64 end = min(at + sectors, v->proved) / SELFID_BLOCK_SECTORS;

	if (v->fs != VOLUME_BTRFS || !c->undecided.limit || c->by_inode || block >= end ||
	    v->start % SELFID_BLOCK_SECTORS)
		return false;
	for (; block < end; block++)
		undecided_add(&c->undecided, selfid_undecided_slot(v), block,
			      SELFID_BLOCK_SHIFT + SECTOR_BITS, btrfs_live_tag(v->btrfs), false);
	c->pending |= c->undecided.wanted;
	return true;
}

enum classify_reason selfid_write(struct classifier *c, struct volume *v,
				  const struct classify_write *w, u32 pos, u32 *len)
{
	u64 end = min(w->sector + w->sectors, v->start + v->sectors);
	struct later_part part = { .w = w };
	struct selfid_request r = { .copy = w->copy, .ctx = w->ctx };
	enum selfid_reason why;
	enum selfid_sign sign;
	enum verdict verdict;
	u64 sectors, at;

	if (unlikely(w->sector < v->start)) {
		part.skip = v->start - w->sector;
		r.copy = copy_later;
		r.ctx = &part;
	}
	r.sector = w->sector + part.skip - v->start;
	r.sectors = end - v->start - r.sector;
	*len = end - w->sector - pos;
	/* Nothing is undecided then. */
	if (unlikely(!v->ready))
		return CLASSIFY_LEARNING;

	verdict = judge(v, &r, pos - part.skip, len, &why, &sign, &sectors);
	at = r.sector + pos - part.skip;
	if (unlikely(undecided_any(&c->undecided)))
		overwritten(c, v, at, *len);
	if (v->fs == VOLUME_BTRFS && unlikely(v->btrfs->anew))
		forget(c, v);
	if (unlikely(sign != SELFID_NO_SIGN) && c->by_super) {
		v->state = sign == SELFID_AT_WORK ? VOLUME_MOUNTED : VOLUME_UNKNOWN;
		v->fresh &= v->state != VOLUME_MOUNTED;
	}
	if (unlikely(wants_work(c, v)))
		c->pending = true;
	if (likely(v->state == VOLUME_MOUNTED) || verdict == VERDICT_KEEP) {
		if (unlikely(sectors != v->claimed))
			resize(c, v, sectors);
		if (unlikely(verdict == VERDICT_UNDECIDED) && remember(c, v, at, *len))
			return CLASSIFY_UNDECIDED;
		return reasons[why];
	}
	/* If it lives on, its next commit is proof of who was at work. */
	return remember(c, v, at, *len) ? CLASSIFY_UNDECIDED : CLASSIFY_UNMOUNTED;
}

/*
 * The @n blocks from @block on, written at either @time, are in one chunk of data, or too new to
 * tell, or only one; false: none of these.
 */
static bool judge_blocks(struct classifier *c, const struct volume *v, u64 block, u32 n,
			 const u64 *time)
{
	enum verdict verdict;
	int i;

	for (i = 0; i < 2; i++) {
		verdict = btrfs_live_decide(v->btrfs, block * SELFID_BLOCK_SECTORS,
					    n * SELFID_BLOCK_SECTORS, time[i]);
		if (n > 1 && verdict == VERDICT_KEEP)
			return false;
		if (verdict != VERDICT_UNDECIDED)
			undecided_decide(&c->undecided, selfid_undecided_slot(v), block, n,
					 time[i] + 1, verdict == VERDICT_SQUASH);
	}
	return true;
}

bool selfid_judge(struct classifier *c, struct volume *v)
{
	const struct undecided_chunk *chunk;
	u32 left = CHUNKS_AT_ONCE, i;
	u64 epoch, block, time[2];

	if (v->fs != VOLUME_BTRFS || !v->ready || !undecided_any(&c->undecided))
		return false;
	epoch = btrfs_live_epoch(v->btrfs);
	if (!epoch)
		return false;
	if (v->judged != epoch) {
		v->judged = epoch;
		v->hand = 0;
	}
	while (left--) {
		chunk = undecided_next(&c->undecided, selfid_undecided_slot(v), &v->hand, &block);
		if (!chunk)
			return false;
		time[0] = chunk->old_time;
		time[1] = chunk->new_time;
		if (judge_blocks(c, v, block, UNDECIDED_CHUNK, time))
			continue;
		for (i = 0; i < UNDECIDED_CHUNK; i++)
			judge_blocks(c, v, block + i, 1, time);
	}
	return true;
}

enum classify_sums selfid_sums(const struct volume *v)
{
	if (!v->ready || !btrfs_sums_are_crc32c(&v->btrfs->geo) || v->start % SELFID_BLOCK_SECTORS)
		return CLASSIFY_SUMS_OTHER;
	return CLASSIFY_SUMS_CRC32C;
}

static bool overlap(u64 a, u64 n, u64 b, u64 m)
{
	return a < b + m && b < a + n;
}

bool selfid_discarded(const struct volume *v, u64 sector, u64 sectors)
{
	u32 n = v->fs == VOLUME_BTRFS ? SELFID_SUPER_SECTORS : 1;

	/* No file system discards these of its own. */
	if (overlap(sector, sectors, v->start + selfid_super_sector(v->fs), n))
		return true;
	return v->fs == VOLUME_XFS && v->ready && v->xfs->geo.log_sectors &&
	       overlap(sector, sectors, v->start + v->xfs->geo.log_start, 1);
}

void selfid_looked(struct volume *v, u64 sector, u64 sectors)
{
	u32 n = v->fs == VOLUME_BTRFS ? SELFID_SUPER_SECTORS : 1;
	u64 root;

	if (overlap(sector, sectors, v->start + selfid_super_sector(v->fs), n)) {
		v->state = VOLUME_UNKNOWN;
		v->fresh = false;
		return;
	}
	if (!v->ready || sector < v->start)
		return;
	sector -= v->start;
	if (v->fs == VOLUME_XFS) {
		if (v->xfs->geo.log_sectors && sector == v->xfs->geo.log_start &&
		    sectors <= SELFID_SUPER_SECTORS) {
			v->state = VOLUME_MOUNTED;
			xfs_live_mount(v->xfs);
		}
		return;
	}
	root = btrfs_live_root(v->btrfs);
	/* Tools read through the page cache, and so other lengths. */
	if (root && sector == root && sectors == v->btrfs->geo.node_bytes >> SECTOR_BITS)
		v->state = VOLUME_MOUNTED;
}

size_t selfid_memory(const struct volume *v, size_t limit)
{
	if (!v->live)
		return v->fs == VOLUME_XFS ? sizeof(struct xfs_live) : sizeof(struct btrfs_live);
	if (!v->ready)
		return 0;
	return v->fs == VOLUME_BTRFS ? btrfs_live_memory(v->btrfs) :
				       xfs_live_memory(v->xfs, limit);
}

void *selfid_give(struct classifier *c, struct volume *v, void *memory, size_t bytes)
{
	if (v->live)
		return v->fs == VOLUME_BTRFS ? btrfs_live_give(v->btrfs, memory, bytes) :
					       xfs_live_give(v->xfs, memory, bytes);
	v->live = memory;
	if (v->fs == VOLUME_XFS)
		c->volumes.xfs[v->slot] = memory;
	else
		c->volumes.btrfs[v->slot] = memory;
	if (c->held.bytes && c->held.start == v->start) {
		begin(c, v, c->held.content, c->held.bytes);
		c->held.bytes = 0;
	}
	return NULL;
}

bool selfid_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	if (!v->ready) {
		if (!v->live || v->asked)
			return false;
		v->asked = true;
		*sector = v->start + selfid_super_sector(v->fs);
		*bytes = SELFID_SUPER_SECTORS << SECTOR_BITS;
		return true;
	}
	if (v->fs == VOLUME_XFS) {
		if (!xfs_live_want(v->xfs, sector, bytes))
			return false;
		*sector += v->start;
		return true;
	}
	if (!btrfs_live_want(v->btrfs, sector, bytes))
		return false;
	*sector += v->start;
	c->reader = v->btrfs;
	c->reader_sector = *sector;
	return true;
}

void selfid_learn(struct classifier *c, struct volume *v, u64 sector, const void *content)
{
	const u8 *uuid;
	u64 sectors;

	if (v->fs == VOLUME_XFS && v->ready) {
		xfs_live_learn(v->xfs, sector - v->start, content);
		return;
	}
	/* It may have been written since. */
	if (v->ready || !v->asked || sector != v->start + selfid_super_sector(v->fs))
		return;
	v->asked = false;
	if (content && !parse(c, v->fs, v->start, content, SELFID_SUPER_SECTORS << SECTOR_BITS,
			      &sectors, &uuid) &&
	    !memcmp(v->uuid, uuid, sizeof(v->uuid)))
		begin(c, v, content, SELFID_SUPER_SECTORS << SECTOR_BITS);
	if (!v->ready)
		volume_remove(&c->volumes, v);
}
