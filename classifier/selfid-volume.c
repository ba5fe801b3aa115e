// SPDX-License-Identifier: GPL-2.0
/* What volumes of btrfs and xfs share: see selfid-volume.h. */
#include "selfid-volume.h"

static const enum classify_reason reasons[SELFID_REASONS] = {
	[SELFID_UNSAFE] = REASON_UNSAFE,
	[SELFID_SUPER] = REASON_STATIC,
	[SELFID_BEYOND] = REASON_NO_VOLUME,
	[SELFID_LOG] = REASON_JOURNAL,
	[SELFID_AG] = REASON_STATIC,
	[SELFID_BTREE] = REASON_NAMED,
	[SELFID_DIRECTORY] = REASON_NAMED,
	[SELFID_ATTR] = REASON_NAMED,
	[SELFID_SYMLINK] = REASON_NAMED,
	[SELFID_DQUOT] = REASON_NAMED,
	[SELFID_INODE] = REASON_NAMED,
	[SELFID_NAMED] = REASON_NAMED,
	[SELFID_TREE] = REASON_NAMED,
	[SELFID_CHUNK] = REASON_STATIC,
	[SELFID_CACHE] = REASON_NAMED,
	[SELFID_REST] = REASON_NAMED,
	[SELFID_COMPRESSED] = REASON_COMPRESSED,
	[SELFID_UNREAD] = REASON_LEARNING,
	[SELFID_LOGGED] = REASON_LOGGED,
	[SELFID_STORED] = REASON_STORED,
	[SELFID_PART] = REASON_PART,
	[SELFID_DATA] = REASON_UNNAMED,
};

/*
 * Parse @super, of @bytes, of a volume at @start into what its kind's volumes share. Returns NULL
 * and the volume's *sectors and *uuid, or what is wrong.
 */
static const char *selfid_parse(struct classifier *c, enum volume_kind kind, u64 start,
				const void *super, u32 bytes, u64 *sectors, const u8 **uuid)
{
	u64 room = start < c->sectors ? c->sectors - start : 0;

	return volume_ops[kind]->selfid->parse(c, super, bytes, room, sectors, uuid);
}

/* Is @super, of @bytes, one of @v's own? */
static bool is_own_super(struct classifier *c, const struct volume *v, const void *super,
			 u32 bytes)
{
	const u8 *uuid;
	u64 sectors;

	return !selfid_parse(c, v->kind, v->start, super, bytes, &sectors, &uuid) &&
	       !memcmp(v->uuid, uuid, sizeof(v->uuid));
}

/* Set up *v->live from the superblock. @v has memory. */
static void selfid_begin(struct classifier *c, struct volume *v, const void *super, u32 bytes)
{
	v->ready = !ops_of(v)->selfid->begin(c, v, super, bytes, c->sectors - v->start);
	c->pending = true;
}

/* @v's superblock was written. While @v has no memory, c->held has it; there is one for all. */
static void super_written(struct classifier *c, struct volume *v, const void *super, u32 bytes)
{
	if (v->ready)
		return;
	if (v->live) {
		selfid_begin(c, v, super, bytes);
		return;
	}
	c->held.start = v->start;
	c->held.bytes = bytes;
	memcpy(c->held.content, super, bytes);
}

void selfid_resize(struct classifier *c, struct volume *v, u64 sectors)
{
	volume_resize(&c->volumes, v, min(sectors, c->sectors - v->start));
}

struct volume *selfid_super(struct classifier *c, enum volume_kind kind, u64 start,
			    const void *super, u32 bytes)
{
	const struct volume_ops *ops = volume_ops[kind];
	struct volume *v = volume_at(&c->volumes, start);
	const u8 *uuid;
	u64 sectors;

	if (selfid_parse(c, kind, start, super, bytes, &sectors, &uuid)) {
		c->errors++;
		return NULL;
	}
	if (ops->selfid->is_copy && ops->selfid->is_copy(c, start))
		return NULL;
	if (!v || v->kind != kind || memcmp(v->uuid, uuid, sizeof(v->uuid))) {
		v = volume_add(&c->volumes, kind, start, sectors);
		if (!v)
			return NULL;
		memcpy(v->uuid, uuid, sizeof(v->uuid));
		/* Undecided blocks under its slot belonged to another volume. */
		if (ops->undecided_shift)
			undecided_forget(&c->undecided, volume_slot(v));
	}
	c->table_wanted |= volume_doubted(v);
	super_written(c, v, super, bytes);
	c->pending = true;
	return v;
}

bool selfid_outlasts(struct classifier *c, struct volume *v, const struct classify_write *w,
		     u32 pos)
{
	const struct volume_ops *ops = ops_of(v);
	u64 offset = w->sector + pos - v->start;
	u64 n = min_t(u64, w->sectors - pos, v->sectors - offset);

	if (likely(offset >= ops->super_sector + ops->selfid->super_sectors))
		return true;
	if (offset == ops->super_sector) {
		n = min_t(u64, n, VOLUME_SUPER_SECTORS);
		write_copy(w, pos, n, c->block);
		if (is_own_super(c, v, c->block, n << SECTOR_BITS)) {
			super_written(c, v, c->block, n << SECTOR_BITS);
			return true;
		}
	}
	volume_remove(&c->volumes, v);
	return false;
}

/* The part of a request from the volume's start on; the request begins in front of it. */
struct later_part {
	const struct classify_write *w;
	u32 skip;
};

static void copy_later(void *ctx, u32 offset, void *to, u32 len)
{
	const struct later_part *part = ctx;

	part->w->copy(part->w->ctx, (part->skip << SECTOR_BITS) + offset, to, len);
}

/* These sectors of @v, counted from its start, are written: they are no longer undecided. */
static void selfid_overwritten(struct classifier *c, const struct volume *v, u64 at, u32 sectors)
{
	u64 first = at / SELFID_BLOCK_SECTORS;
	u64 end = DIV_ROUND_UP(at + sectors, SELFID_BLOCK_SECTORS);

	if (ops_of(v)->undecided_shift)
		undecided_remove(&c->undecided, volume_slot(v), first, end - first);
}

/* A later commit has to decide about these sectors: remember the whole blocks among them. */
static bool selfid_remember(struct classifier *c, const struct volume *v, u64 at, u32 sectors)
{
	const struct selfid_ops *selfid = ops_of(v)->selfid;

	return selfid->remember && selfid->remember(c, v, at, sectors);
}

enum classify_reason selfid_write(struct classifier *c, struct volume *v,
				  const struct classify_write *w, u32 pos, u32 *len)
{
	u64 end = min(w->sector + w->sectors, v->start + v->sectors);
	const struct volume_ops *ops = ops_of(v);
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
		return REASON_LEARNING;

	verdict = ops->selfid->write(c, v, &r, pos - part.skip, len, &why, &sign, &sectors);
	at = r.sector + pos - part.skip;
	if (unlikely(undecided_any(&c->undecided)))
		selfid_overwritten(c, v, at, *len);
	if (unlikely(sign != SELFID_NO_SIGN) && c->by_super) {
		v->state = sign == SELFID_AT_WORK ? VOLUME_MOUNTED : VOLUME_UNKNOWN;
		v->fresh &= v->state != VOLUME_MOUNTED;
	}
	if (unlikely(ops->selfid->wants_work(c, v)))
		c->pending = true;
	if (likely(v->state == VOLUME_MOUNTED) || verdict == VERDICT_KEEP) {
		if (unlikely(sectors != v->claimed))
			selfid_resize(c, v, sectors);
		if (unlikely(verdict == VERDICT_UNDECIDED) && selfid_remember(c, v, at, *len))
			return REASON_UNDECIDED;
		return reasons[why];
	}
	/* If the volume lives on, its next commit proves that its driver has written this. */
	return selfid_remember(c, v, at, *len) ? REASON_UNDECIDED : REASON_UNMOUNTED;
}

/* No file system discards its own superblock. */
bool selfid_discarded(const struct volume *v, u64 sector, u64 sectors)
{
	const struct volume_ops *ops = ops_of(v);

	return sectors_overlap(sector, sectors, v->start + ops->super_sector,
			       ops->selfid->super_sectors) ||
	       (ops->selfid->discarded && ops->selfid->discarded(v, sector, sectors));
}

void selfid_looked(struct volume *v, u64 sector, u64 sectors)
{
	const struct volume_ops *ops = ops_of(v);

	if (sectors_overlap(sector, sectors, v->start + ops->super_sector,
			    ops->selfid->super_sectors)) {
		v->state = VOLUME_UNKNOWN;
		v->fresh = false;
	} else if (v->ready && sector >= v->start &&
		   ops->selfid->is_mounting(v, sector - v->start, sectors)) {
		v->state = VOLUME_MOUNTED;
	}
}

size_t selfid_memory(const struct classifier *c, const struct volume *v)
{
	const struct selfid_ops *selfid = ops_of(v)->selfid;

	if (!v->live)
		return selfid->live_bytes;
	return v->ready ? selfid->memory(c, v) : 0;
}

void *selfid_give(struct classifier *c, struct volume *v, void *memory, size_t bytes)
{
	if (v->live)
		return ops_of(v)->selfid->give(v, memory, bytes);
	v->live = memory;
	c->volumes.live[v->kind][v->slot] = memory;
	if (c->held.bytes && c->held.start == v->start) {
		selfid_begin(c, v, c->held.content, c->held.bytes);
		c->held.bytes = 0;
	}
	return NULL;
}

bool selfid_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	const struct volume_ops *ops = ops_of(v);

	if (v->ready) {
		if (!ops->selfid->want(c, v, sector, bytes))
			return false;
		*sector += v->start;
		return true;
	}
	if (!v->live || v->asked)
		return false;
	v->asked = true;
	*sector = v->start + ops->super_sector;
	*bytes = VOLUME_SUPER_SECTORS << SECTOR_BITS;
	return true;
}

void selfid_learn(struct classifier *c, struct volume *v, u64 sector, const void *content)
{
	const struct volume_ops *ops = ops_of(v);
	u32 bytes = VOLUME_SUPER_SECTORS << SECTOR_BITS;

	if (v->ready) {
		if (ops->selfid->learn)
			ops->selfid->learn(v, sector - v->start, content);
		return;
	}
	/* It may have been written since. */
	if (!v->asked || sector != v->start + ops->super_sector)
		return;
	v->asked = false;
	if (content && is_own_super(c, v, content, bytes))
		selfid_begin(c, v, content, bytes);
	if (!v->ready)
		volume_remove(&c->volumes, v);
}
