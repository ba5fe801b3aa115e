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
	ext_layout_need(&e->layout);
	c->undecided.wanted = true;
}

/* @v is mounted. The layout is needed for each block, so it has to be read before the first one. */
static void prepare_layout(struct classifier *c, struct volume *v)
{
	if (v->state != VOLUME_MOUNTED)
		return;
	if (!ext_live_plain(ext_of(v)) && c->strict) {
		c->pending |= !ext_of(v)->layout.needed;
		ext_layout_need(&ext_of(v)->layout);
	} else if (ext_live_plain(ext_of(v)) && c->undecided.limit &&
		   ext_of(v)->association != ASSOC_NOTHING) {
		ext_need_layout(c, ext_of(v));
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
	struct ext_live *e = ext_of(v);
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
static void ext_volume_doubt(struct classifier *c, struct volume *v)
{
	if (v->confirmed == U64_MAX)
		return;
	v->confirmed = 0;
	undecided_forget(&c->undecided, volume_slot(v));
	assoc_forget(ext_assoc_of(c), volume_slot(v));
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
	if (v && v->kind == ext_volume_kind && ext_same(&ext_of(v)->geo, &geo)) {
		before = ext_of(v)->geo;
		ext_live_super(ext_of(v), &geo);
		/* Backups have the size, too: all is to be found anew. */
		if (before.blocks != geo.blocks)
			ext_volume_doubt(c, v);
		if (c->by_super) {
			super_tells(c, v, &before, durable);
			v->state = super_state(&geo);
		}
		volume_state_is_set(c, v);
		prepare_layout(c, v);
		volume_resize(&c->volumes, v, sectors);
		return volume_at(&c->volumes, start);
	}
	v = volume_add(&c->volumes, ext_volume_kind, start, sectors);
	if (!v)
		return NULL;
	undecided_forget(&c->undecided, volume_slot(v));
	assoc_forget(ext_assoc_of(c), volume_slot(v));
	ext_live_init(ext_of(v), &geo, (c->sectors - start) >> (geo.block_bits - SECTOR_BITS));
	if (c->by_super)
		v->state = super_state(&geo);
	volume_state_is_set(c, v);
	prepare_layout(c, v);
	return v;
}

static struct volume *ext_volume_super(struct classifier *c, u64 start, const void *super,
				       u32 bytes, bool durable)
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
static bool ext_volume_early(const struct classifier *c, const struct volume *v, u64 sector,
			     u64 sectors)
{
	const struct ext_live *e = ext_of(v);

	if (e->stage < EXT_READY)
		return has_super(v, sector, sectors);
	return e->stage == EXT_READY && unlikely(logset_crowded(&e->jbd2.set, c->log_limit));
}

static void ext_volume_flush(struct volume *v)
{
	trust_flush(&ext_of(v)->trust);
}

static void ext_volume_state_told(struct classifier *c, struct volume *v)
{
	prepare_layout(c, v);
	if (v->state == VOLUME_MOUNTED)
		trust_told(&ext_of(v)->trust, &ext_of(v)->jbd2);
	else
		trust_reset(&ext_of(v)->trust);
}

/*
 * No file system discards its own superblock, journal inode or bitmaps. So a discard of these ends
 * the volume. (Inode tables do not count: the driver zeroes them in the background.)
 */
static bool ext_volume_discarded(const struct volume *v, u64 sector, u64 sectors)
{
	const struct ext_live *e = ext_of(v);
	u64 inode = v->start + e->inode_block * ext_block_sectors(v);
	u64 block, n;

	if (has_super(v, sector, sectors) ||
	    (e->inode_block && sectors_overlap(sector, sectors, inode, 1)))
		return true;
	return e->layout.known && undecided_blocks(v, sector, sectors, &block, &n) &&
	       ext_layout_has_bitmap(&e->layout, block, n);
}

static void ext_volume_looked(struct volume *v, u64 sector, u64 sectors)
{
	if (!has_super(v, sector, sectors))
		return;
	v->fresh = false;
	ext_of(v)->stranger = true;
	trust_looked(&ext_of(v)->trust);
}

/*
 * The next backup of the superblock to read. Where volumes need not be proved there is none, and
 * one behind the volume's end, as far as that is known, is missing.
 */
static u64 want_backup(struct volume *v)
{
	struct ext_live *e = ext_of(v);
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
	struct ext_live *e = ext_of(v);

	if (ext_backups_learn(&e->backups, &e->geo, block, content))
		ext_volume_doubt(c, v);
	if (e->backups.found && !e->backups.group)
		v->confirmed = v->claimed;
}

/* The next descriptor block to read. If it is behind the volume's end, the layout stays unknown. */
static u64 want_layout(const struct volume *v)
{
	struct ext_layout *l = &ext_of(v)->layout;
	u64 block = ext_layout_want(l, &ext_of(v)->geo);

	if (!block || (block + 1) * ext_block_sectors(v) <= v->sectors)
		return block;
	ext_layout_learn(l, &ext_of(v)->geo, block, NULL);
	return 0;
}

static bool ext_volume_want(struct classifier *c, struct volume *v, u64 *sector, u32 *bytes)
{
	u64 block = want_backup(v);

	c->reading = EXT_READS_BACKUPS;
	if (!block) {
		block = ext_live_want(ext_of(v));
		c->reading = CLASSIFY_READS_VOLUME;
	}
	if (!block) {
		block = want_layout(v);
		c->reading = EXT_READS_LAYOUT;
	}
	if (block)
		ext_block_at(v, block, sector, bytes);
	return block;
}

static void ext_volume_learn(struct classifier *c, struct volume *v, u64 sector,
			     const void *content)
{
	u64 offset = sector - v->start, block;

	if (offset & (ext_block_sectors(v) - 1))
		return;
	block = offset >> (ext_of(v)->geo.block_bits - SECTOR_BITS);
	if (c->reading == EXT_READS_NAMES)
		ext_chosen_learn(c, v, content);
	else if (c->reading == EXT_READS_BACKUPS)
		learn_backup(c, v, block, content);
	else if (c->reading == EXT_READS_LAYOUT)
		ext_layout_learn(&ext_of(v)->layout, &ext_of(v)->geo, block, content);
	else
		ext_live_learn(ext_of(v), block, content);
}

static size_t ext_volume_memory(const struct classifier *c, const struct volume *v)
{
	return ext_live_memory(ext_of(v), c->log_limit) ?: ext_layout_memory(&ext_of(v)->layout) ?:
	       ext_names_memory(&ext_of(v)->names);
}

static void *ext_volume_give(struct classifier *c, struct volume *v, void *memory, size_t bytes)
{
	if (ext_live_memory(ext_of(v), c->log_limit))
		return ext_live_give(ext_of(v), memory, bytes);
	if (ext_layout_memory(&ext_of(v)->layout))
		return ext_layout_give(&ext_of(v)->layout, memory, bytes);
	return ext_names_give(&ext_of(v)->names, memory, bytes);
}

static u32 ext_volume_undecided_shift(const struct volume *v)
{
	return ext_of(v)->geo.block_bits - SECTOR_BITS;
}

static void ext_volume_destroy(void *live, void (*release)(const void *))
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

static size_t ext_volume_live_bytes(const void *live)
{
	return live ? ext_live_bytes(live) : 0;
}

static void ext_volume_init(struct classifier *c)
{
	assoc_init(ext_assoc_of(c), ext_volume_kind * VOLUMES_MAX);
}

static void *ext_volume_attach(struct volume_table *t, unsigned int slot)
{
	struct ext_shared *shared = t->shared[ext_volume_kind];

	shared->live[slot].in_use = true;
	return &shared->live[slot];
}

static void ext_volume_detach(struct volume *v)
{
	ext_of(v)->in_use = false;
}

static size_t ext_volume_memory_shared(const struct classifier *c)
{
	return assoc_memory(ext_assoc_of(c), &c->undecided);
}

static void ext_volume_give_shared(struct classifier *c, void *memory)
{
	assoc_give(ext_assoc_of(c), memory);
}

/* Names come first: inodes wait for them. */
static bool ext_volume_want_shared(struct classifier *c, u64 *sector, u32 *bytes)
{
	struct ext_shared *shared = ext_shared_of(c);
	u64 block;
	u32 slot;

	if (ext_chosen_want(c, sector, bytes))
		return true;
	if (!assoc_want(&shared->assoc, &c->undecided, shared->live, &slot, &block))
		return false;
	c->reading = CLASSIFY_READS_SHARED;
	ext_block_at(volume_of_slot(&c->volumes, slot), block, sector, bytes);
	return true;
}

static void ext_volume_learn_shared(struct classifier *c, const void *content)
{
	struct ext_shared *shared = ext_shared_of(c);

	assoc_learn(&shared->assoc, &c->undecided, shared->live, content);
}

static void ext_volume_destroy_shared(struct classifier *c, void (*release)(const void *))
{
	release(ext_assoc_of(c)->inodes);
}

static size_t ext_volume_bytes_shared(const struct classifier *c)
{
	return assoc_bytes(ext_assoc_of(c));
}

/* Inodes and directories that were looked at may be written again by now. */
static void ext_volume_again(struct classifier *c)
{
	struct ext_shared *shared = ext_shared_of(c);
	unsigned int i;

	assoc_again(&shared->assoc);
	for (i = 0; i < VOLUMES_MAX; i++)
		ext_names_again(&shared->live[i].names);
}

const struct volume_ops ext_volume_ops = {
	.super_sector = EXT_SUPER_SECTOR,
	.magic_offset = EXT_MAGIC_OFFSET,
	.magic_bytes = 2,
	.magic = "\x53\xef",
	.confirms = true,
	.shared_bytes = sizeof(struct ext_shared),
	.init = ext_volume_init,
	.attach = ext_volume_attach,
	.detach = ext_volume_detach,
	.super = ext_volume_super,
	.write = ext_write,
	.early = ext_volume_early,
	.flush = ext_volume_flush,
	.state_told = ext_volume_state_told,
	.discarded = ext_volume_discarded,
	.looked = ext_volume_looked,
	.undecided_shift = ext_volume_undecided_shift,
	.memory = ext_volume_memory,
	.give = ext_volume_give,
	.want = ext_volume_want,
	.learn = ext_volume_learn,
	.destroy = ext_volume_destroy,
	.live_bytes = ext_volume_live_bytes,
	.memory_shared = ext_volume_memory_shared,
	.give_shared = ext_volume_give_shared,
	.want_shared = ext_volume_want_shared,
	.learn_shared = ext_volume_learn_shared,
	.destroy_shared = ext_volume_destroy_shared,
	.bytes_shared = ext_volume_bytes_shared,
	.again = ext_volume_again,
	.choose = ext_choose,
	.chosen_more = ext_chosen_more,
	.named = ext_named,
};
