// SPDX-License-Identifier: GPL-2.0
/* Volumes of ext2, ext3 and ext4: begun, mounted and ended by their superblocks. */
#include "ext-volume.h"

static enum volume_state super_state(const struct ext_geo *geo)
{
	if (!(geo->compat & EXT_COMPAT_HAS_JOURNAL))
		return geo->mount_state & (EXT_STATE_VALID | EXT_STATE_ERROR) ? VOLUME_UNMOUNTED :
										VOLUME_MOUNTED;
	return geo->journal_ino && geo->incompat & EXT_INCOMPAT_RECOVER ? VOLUME_MOUNTED :
									   VOLUME_UNMOUNTED;
}

void ext_need_layout(struct classifier *c, struct ext_live *e)
{
	c->pending |= !e->layout.needed;
	layout_need(&e->layout);
	c->undecided.wanted = true;
}

/* @v is mounted. The layout is needed for each block, so it has to be read before the first one. */
static void prepare_layout(struct classifier *c, struct volume *v)
{
	if (v->state != VOLUME_MOUNTED)
		return;
	if (!ext_live_plain(v->ext) && c->strict) {
		c->pending |= !v->ext->layout.needed;
		layout_need(&v->ext->layout);
	} else if (ext_live_plain(v->ext) && c->undecided.limit &&
		   v->ext->association != ASSOC_NOTHING) {
		ext_need_layout(c, v->ext);
	}
}

void ext_stop_waiting(struct classifier *c, struct ext_live *e)
{
	if (likely(!e->waits))
		return;
	undecided_forget(&c->undecided, ext_slot(c, e));
	e->waits = false;
}

/* The superblock of @v was written; it was @before. Does a mount begin, go on or end? */
static void super_tells(struct classifier *c, struct volume *v, const struct ext_geo *before,
			bool durable)
{
	struct ext_live *e = v->ext;
	bool clean = !(before->incompat & EXT_INCOMPAT_RECOVER);

	if (!(e->geo.incompat & EXT_INCOMPAT_RECOVER)) {
		ext_stop_waiting(c, e);
		trust_reset(&e->trust);
	} else if (clean || (u16)(before->mounts + 1) == e->geo.mounts) {
		ext_stop_waiting(c, e);
		trust_mount(&e->trust, &e->jbd2, clean, durable);
	}
}

/* Where volumes have to be found in one piece, this one is not, or no longer. */
static void doubt(struct classifier *c, struct volume *v)
{
	if (v->confirmed == U64_MAX)
		return;
	v->confirmed = 0;
	undecided_forget(&c->undecided, volume_slot(v));
	assoc_forget(&c->assoc, volume_slot(v));
}

struct volume *ext_super(struct classifier *c, u64 start, const void *super, bool durable)
{
	struct ext_geo geo, before;
	struct volume *v;
	const char *wrong;
	u64 sectors;

	if (start >= c->sectors)
		return NULL;
	wrong = ext_parse_super(super, (c->sectors - start) << SECTOR_BITS, &geo);
	if (wrong) {
		c->errors += !ext_is_backup(super);
		return NULL;
	}
	sectors = geo.blocks << (geo.block_bits - SECTOR_BITS);
	c->pending = true;
	v = volume_at(&c->volumes, start);
	if (v && v->fs == VOLUME_EXT && ext_same(&v->ext->geo, &geo)) {
		before = v->ext->geo;
		ext_live_super(v->ext, &geo);
		/* Backups have the size, too: all is to be found anew. */
		if (before.blocks != geo.blocks)
			doubt(c, v);
		if (c->by_super) {
			super_tells(c, v, &before, durable);
			v->state = super_state(&geo);
		}
		volume_state_is_set(c, v);
		prepare_layout(c, v);
		volume_resize(&c->volumes, v, sectors);
		return volume_at(&c->volumes, start);
	}
	v = volume_add(&c->volumes, VOLUME_EXT, start, sectors);
	if (!v)
		return NULL;
	undecided_forget(&c->undecided, volume_slot(v));
	assoc_forget(&c->assoc, volume_slot(v));
	ext_live_init(v->ext, &geo, (c->sectors - start) >> (geo.block_bits - SECTOR_BITS));
	if (c->by_super)
		v->state = super_state(&geo);
	volume_state_is_set(c, v);
	prepare_layout(c, v);
	return v;
}

static struct volume *super_seen(struct classifier *c, u64 start, const void *super, u32 bytes,
				 bool durable)
{
	if (bytes < EXT_SUPER_SIZE || volume_at(&c->volumes, start))
		return NULL;
	return ext_super(c, start, super, durable);
}

static bool has_super(const struct volume *v, u64 sector, u64 sectors)
{
	return sectors_overlap(sector, sectors, v->start + EXT_SUPER_SECTOR, EXT_SUPER_SECTORS);
}

/*
 * A mount begins with its superblock, and the log is followed from there on. So the log has to be
 * known by then. Later, the log set must not become full.
 */
static bool early(const struct classifier *c, const struct volume *v, u64 sector, u64 sectors)
{
	const struct ext_live *e = v->ext;

	if (e->stage < EXT_READY)
		return has_super(v, sector, sectors);
	return e->stage == EXT_READY && unlikely(logset_crowded(&e->jbd2.set, c->log_limit));
}

static void flush(struct volume *v)
{
	trust_flush(&v->ext->trust);
}

static void state_told(struct classifier *c, struct volume *v)
{
	prepare_layout(c, v);
	if (v->state == VOLUME_MOUNTED)
		trust_told(&v->ext->trust, &v->ext->jbd2);
	else
		trust_reset(&v->ext->trust);
}

/*
 * No file system discards its own superblock, journal inode or bitmaps. So a discard of these ends
 * the volume. (Inode tables do not count: the driver zeroes them in the background.)
 */
static bool discarded(const struct volume *v, u64 sector, u64 sectors)
{
	const struct ext_live *e = v->ext;
	u64 inode = v->start + e->inode_block * ext_block_sectors(v);
	u64 block, n;

	if (has_super(v, sector, sectors) ||
	    (e->inode_block && sectors_overlap(sector, sectors, inode, 1)))
		return true;
	return e->layout.known && undecided_blocks(v, sector, sectors, &block, &n) &&
	       layout_has_bitmap(&e->layout, block, n);
}

static void looked(struct volume *v, u64 sector, u64 sectors)
{
	if (!has_super(v, sector, sectors))
		return;
	v->fresh = false;
	v->ext->stranger = true;
	trust_looked(&v->ext->trust);
}

/*
 * The next backup of the superblock to read. Where volumes need not be proved there is none, and
 * one behind the volume's end, as far as that is known, is missing.
 */
static u64 want_backup(struct volume *v)
{
	struct ext_live *e = v->ext;
	u64 block;

	if (v->confirmed == U64_MAX || e->geo.block_bits > CLASSIFIER_BLOCK_BITS)
		return 0;
	block = ext_backups_want(&e->backups, &e->geo);
	if (!block || (block + 1) * ext_block_sectors(v) <= v->sectors)
		return block;
	ext_backups_learn(&e->backups, &e->geo, block, NULL);
	return 0;
}

/*
 * One that is missing shows that the volume does not lie there, or no longer. Or its size has
 * changed, and the backup is still in the log only: it is read again when it is written.
 */
static void learn_backup(struct classifier *c, struct volume *v, u64 block, const void *content)
{
	struct ext_live *e = v->ext;

	if (ext_backups_learn(&e->backups, &e->geo, block, content))
		doubt(c, v);
	if (e->backups.found && !e->backups.group)
		v->confirmed = v->claimed;
}

/* The next descriptor block to read. If it is behind the volume's end, the layout stays unknown. */
static u64 want_layout(const struct volume *v)
{
	struct layout *l = &v->ext->layout;
	u64 block = layout_want(l, &v->ext->geo);

	if (!block || (block + 1) * ext_block_sectors(v) <= v->sectors)
		return block;
	layout_learn(l, &v->ext->geo, block, NULL);
	return 0;
}

static bool want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	u64 block = want_backup(v);

	c->reading = CLASSIFY_READS_BACKUPS;
	if (!block) {
		block = ext_live_want(v->ext);
		c->reading = CLASSIFY_READS_LIVE;
	}
	if (!block) {
		block = want_layout(v);
		c->reading = CLASSIFY_READS_LAYOUT;
	}
	if (block)
		ext_block_at(v, block, sector, bytes);
	return block;
}

static void learn(struct classifier *c, struct volume *v, u64 sector, const void *content)
{
	u64 offset = sector - v->start, block;

	if (offset & (ext_block_sectors(v) - 1))
		return;
	block = offset >> (v->ext->geo.block_bits - SECTOR_BITS);
	if (c->reading == CLASSIFY_READS_NAMES)
		ext_chosen_learn(c, v, content);
	else if (c->reading == CLASSIFY_READS_BACKUPS)
		learn_backup(c, v, block, content);
	else if (c->reading == CLASSIFY_READS_LAYOUT)
		layout_learn(&v->ext->layout, &v->ext->geo, block, content);
	else
		ext_live_learn(v->ext, block, content);
}

static size_t memory(const struct classifier *c, const struct volume *v)
{
	return ext_live_memory(v->ext, c->log_limit) ?: layout_memory(&v->ext->layout) ?:
	       ext_names_memory(&v->ext->names);
}

static void *give(struct classifier *c, struct volume *v, void *memory, size_t bytes)
{
	if (ext_live_memory(v->ext, c->log_limit))
		return ext_live_give(v->ext, memory, bytes);
	if (layout_memory(&v->ext->layout))
		return layout_give(&v->ext->layout, memory, bytes);
	return ext_names_give(&v->ext->names, memory, bytes);
}

static u32 undecided_shift(const struct volume *v)
{
	return v->ext->geo.block_bits - SECTOR_BITS;
}

static void destroy(void *live, void (*release)(const void *))
{
	struct ext_live *e = live;

	if (!e)
		return;
	release(e->entry);
	release(e->jbd2.pending);
	release(e->jbd2.set.slot);
	release(e->layout.run);
	release(e->names.memory);
}

static size_t live_bytes(const void *live)
{
	return live ? ext_live_bytes(live) : 0;
}

const struct volume_ops ext_volume_ops = {
	.super_sector = EXT_SUPER_SECTOR,
	.magic_offset = EXT_MAGIC_OFFSET,
	.magic_bytes = 2,
	.magic = "\x53\xef",
	.has_inodes = true,
	.super = super_seen,
	.write = ext_write,
	.early = early,
	.flush = flush,
	.state_told = state_told,
	.discarded = discarded,
	.looked = looked,
	.undecided_shift = undecided_shift,
	.memory = memory,
	.give = give,
	.want = want,
	.learn = learn,
	.destroy = destroy,
	.live_bytes = live_bytes,
};
