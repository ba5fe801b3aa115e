// SPDX-License-Identifier: GPL-2.0
/* The verdict on a write to a volume of ext: see ext-volume.h. */
#include "../planted.h"
#include "exclude.h"
#include "ext-volume.h"

/*
 * Without a journal, may a repair tool be the writer? Two events tell it from the driver. Either
 * reads the superblock first, and the driver then counts the mount.
 */
static bool may_be_repair(const struct classifier *c, const struct ext_live *e)
{
	return c->by_super && ext_live_plain(e) && e->stranger;
}

/*
 * A write hits the sectors of the volume's own superblock. Anything but a complete superblock of
 * ext ends the volume. False: the volume is gone.
 */
static bool own_super(struct classifier *c, struct volume *v, const struct classify_write *w)
{
	u64 at = v->start + EXT_SUPER_SECTOR;
	enum volume_state state = v->state;
	struct volume *now = NULL;
	u64 start = v->start;

	if (w->sector <= at && w->sector + w->sectors >= at + EXT_SUPER_SECTORS) {
		write_copy(w, at - w->sector, EXT_SUPER_SECTORS, c->block);
		now = ext_super(c, start, c->block, w->fua);
	}
	if (now) {
		/* A new volume is not mounted. The same volume keeps its state. */
		if (now->state != state && !c->by_super)
			now->state = VOLUME_UNKNOWN;
		return true;
	}
	v = volume_at(&c->volumes, start);
	if (v)
		volume_remove(&c->volumes, v);
	return false;
}

/*
 * The whole block of the file system at @pos, or NULL if the write is only of a part, or blocks
 * are larger than what is understood.
 */
static const void *whole_block(struct classifier *c, const struct volume *v,
			       const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	if (part || n != ext_block_sectors(v) || n > CLASSIFIER_BLOCK >> SECTOR_BITS)
		return NULL;
	write_copy(w, pos, n, c->block);
	return c->block;
}

/* Is the content one repeated word? The caller stores that as it is, whoever wrote it. */
static bool ext_is_constant(struct classifier *c, const struct volume *v,
			    const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	const u8 *whole = whole_block(c, v, w, pos, part, n);

	return whole && !memcmp(whole, whole + 8, ext_block_size(&ext_of(v)->geo) - 8);
}

static void note_work(struct classifier *c, const struct ext_live *e)
{
	if ((e->want && !e->asked) || ext_live_memory(e, c->log_limit))
		c->pending = true;
}

/*
 * A commit was seen. So the driver is at work, and has written the blocks that wait. Blocks whose
 * content does not decide wait until a flush is seen as well.
 */
static void decide_waiting(struct classifier *c, struct ext_live *e)
{
	bool order = trust_order(&e->trust);
	u32 slot = ext_slot(c, e);
	u64 n = e->geo.blocks;

	if (unlikely(c->by_inode)) {
		ext_stop_waiting(c, e);
		return;
	}
	undecided_decide(&c->undecided, slot, 0, n, order ? UNDECIDED_ANY - 1 : UNDECIDED_ANY,
			 true);
	if (!order && !trust_may_come(&e->trust))
		undecided_decide(&c->undecided, slot, 0, n, UNDECIDED_ANY - 1, false);
	e->waits = !order && trust_may_come(&e->trust);
	c->pending = true;
}

/* A journal block is written. Only its first word tells a logged block from a control block. */
static void journal_write(struct classifier *c, const struct volume *v,
			  const struct classify_write *w, u32 pos, u32 part, u32 n, u32 logical)
{
	struct ext_live *e = ext_of(v);
	const void *whole;
	__be32 word;

	if (!part && n == ext_block_sectors(v)) {
		w->copy(w->ctx, pos << SECTOR_BITS, &word, sizeof(word));
		if (!jbd2_control(word) && logical)
			return;
	}
	whole = whole_block(c, v, w, pos, part, n);
	if (ext_live_journal_write(e, logical, whole, c->flushes) && unlikely(e->waits))
		decide_waiting(c, e);
	note_work(c, e);
	/* Notes may wait for the journal's progress. */
	if (ext_assoc_of(c)->notes)
		c->pending = true;
}

/*
 * Is @block a bitmap or inode table, by the descriptors? Then inode tables and block bitmaps are
 * noted for assoc.h. @whole: the content; NULL: only a part of the block is written.
 */
static bool in_layout(struct classifier *c, const struct volume *v, u64 block, const void *whole)
{
	struct ext_live *e = ext_of(v);
	enum ext_layout_kind kind;
	u32 first;

	if (!e->layout.known)
		return false;
	kind = ext_layout_find(&e->layout, &e->geo, block, &first);
	if ((kind == EXT_LAYOUT_INODES || kind == EXT_LAYOUT_BLOCK_BITMAP) && whole &&
	    !may_be_repair(c, e)) {
		assoc_note(ext_assoc_of(c), ext_slot(c, e), e, block, whole, first,
			   kind == EXT_LAYOUT_BLOCK_BITMAP);
		c->pending |= undecided_any(&c->undecided);
	}
	return kind != EXT_LAYOUT_OTHER;
}

/* Remember @block until an inode decides. @doubtful: only evidence that is newer counts. */
static void wait_for_inode(struct classifier *c, struct ext_live *e, u64 block, bool doubtful)
{
	undecided_add(&c->undecided, ext_slot(c, e), block, e->geo.block_bits,
		      ext_assoc_of(c)->time, doubtful);
	c->pending |= c->undecided.wanted;
}

/*
 * No journal decides about @block. If it cannot be metadata by its place and content, remember it
 * until an inode decides. @otherwise: the reason to keep it if it can be metadata.
 */
static enum classify_reason ask_inodes(struct classifier *c, const struct volume *v,
				       const struct classify_write *w, u32 pos, u32 part, u32 n,
				       u64 block, enum classify_reason otherwise)
{
	struct ext_live *e = ext_of(v);
	enum ext_look look;
	const void *whole;

	if (e->association == ASSOC_NOTHING || !c->undecided.limit || may_be_repair(c, e))
		return otherwise;
	if (!e->layout.known) {
		ext_need_layout(c, e);
		return otherwise;
	}
	whole = whole_block(c, v, w, pos, part, n);
	if (in_layout(c, v, block, whole))
		return REASON_STATIC;
	look = whole ? ext_look(&e->geo, whole) : EXT_LOOK_MAGIC;
	if (look == EXT_LOOK_MAGIC && whole)
		assoc_note_node(ext_assoc_of(c), ext_slot(c, e), e, block, whole);
	if (look && look != EXT_LOOK_DOUBTFUL && !CLASSIFIER_PLANTED(anyfile))
		return otherwise == REASON_LOGGED ? REASON_LOGGED : REASON_LOOKS;
	wait_for_inode(c, e, block, look == EXT_LOOK_DOUBTFUL);
	return REASON_UNDECIDED;
}

/* Learn from a write of metadata by place. */
static void static_write(struct classifier *c, const struct volume *v,
			 const struct classify_write *w, u32 pos, u32 part, u32 n, u64 block,
			 enum ext_kind kind)
{
	struct ext_live *e = ext_of(v);

	if (kind == EXT_SUPER && block > e->geo.first_data) {
		ext_backups_look(&e->backups, &e->geo);
		c->pending = true;
	}
	if (kind != EXT_GDT || !e->layout.needed)
		return;
	ext_layout_gdt_write(&e->layout, &e->geo, block, whole_block(c, v, w, pos, part, n));
	c->pending = true;
}

/*
 * A block that is not in the log is written. If it has content, file content is not logged
 * (!data=journal). Then logged blocks are metadata, and stay kept even if inodes map them. A block
 * of zeros proves nothing, as the driver zeroes blocks.
 */
static void look_for_order(struct classifier *c, const struct volume *v,
			   const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	if (ext_is_constant(c, v, w, pos, part, n))
		return;
	ext_of(v)->ordered = true;
	undecided_forget(&c->undecided, volume_slot(v));
	assoc_forget(ext_assoc_of(c), volume_slot(v));
}

/*
 * Files are chosen to be kept, so an inode has to name the owner of @block. Only an inode that is
 * written after the block counts, with a journal as well: a file's data is written before the
 * commit of its inode, but after the commit in which another file freed the block.
 */
static enum classify_reason whose_data(struct classifier *c, const struct volume *v, u32 part,
				       u32 n, u64 block)
{
	struct ext_live *e = ext_of(v);

	if (e->association != ASSOC_NODES_TOO || part || n != ext_block_sectors(v))
		return REASON_UNDECIDED;
	c->pending |= c->by_name && !e->names.wanted;
	e->names.wanted |= c->by_name;
	if (!e->layout.known)
		ext_need_layout(c, e);
	else
		wait_for_inode(c, e, block, true);
	return REASON_UNDECIDED;
}

/* A logged block comes home. It may be an inode table, a bitmap or an extent node: note it. */
static void note_logged(struct classifier *c, const struct volume *v,
			const struct classify_write *w, u32 pos, u32 part, u32 n, u64 block)
{
	const void *whole = whole_block(c, v, w, pos, part, n);

	if (whole && !in_layout(c, v, block, whole) &&
	    ext_look(&ext_of(v)->geo, whole) == EXT_LOOK_MAGIC)
		assoc_note_node(ext_assoc_of(c), volume_slot(v), ext_of(v), block, whole);
}

/* Metadata by place is written that is not logged. A driver with a journal does not do that. */
static void place_tells(struct classifier *c, const struct volume *v,
			const struct classify_write *w, u32 pos, u32 part, u32 n, u64 block)
{
	struct ext_live *e = ext_of(v);

	if (!ext_live_complete(e) || jbd2_has(&e->jbd2, block) ||
	    ext_is_constant(c, v, w, pos, part, n))
		return;
	trust_foreign(&e->trust);
	ext_stop_waiting(c, e);
}

/* ext_look() of a block that is not logged; EXT_LOOK_DOUBTFUL counts as EXT_LOOK_NONE. */
static enum ext_look looks_like(struct classifier *c, const struct volume *v,
				const struct classify_write *w, u32 pos, u32 n)
{
	struct ext_live *e = ext_of(v);
	u64 head[EXT_LOOK_HEAD / 8], tail;
	enum ext_look look;

	w->copy(w->ctx, pos << SECTOR_BITS, head, sizeof(head));
	w->copy(w->ctx, ((pos + n) << SECTOR_BITS) - sizeof(tail), &tail, sizeof(tail));
	if (likely(!ext_may_look(&e->geo, head, &tail)))
		return EXT_LOOK_NONE;
	look = ext_look(&e->geo, whole_block(c, v, w, pos, 0, n));
	if (look == EXT_LOOK_NONE || look == EXT_LOOK_DOUBTFUL)
		return EXT_LOOK_NONE;
	/* File content rarely has such a form: probably a tool is at work. */
	if (ext_is_formed(&e->geo, c->block)) {
		e->trust.at_work = false;
		ext_stop_waiting(c, e);
	}
	return look;
}

/*
 * A block that is not logged, and not metadata by place or form. It is not known yet whether the
 * driver is at work, and whether writes come in order.
 */
static enum classify_reason wait_for_commit(struct classifier *c, const struct volume *v,
					    const struct classify_write *w, u32 pos, u32 n,
					    u64 block)
{
	struct ext_live *e = ext_of(v);
	bool doubtful = e->association == ASSOC_NOTHING ||
			ext_look(&e->geo, whole_block(c, v, w, pos, 0, n)) == EXT_LOOK_DOUBTFUL;

	if (doubtful && !trust_may_come(&e->trust))
		return REASON_LOOKS;
	if (!doubtful && e->trust.at_work)
		return REASON_UNLOGGED;
	undecided_add(&c->undecided, ext_slot(c, e), block, e->geo.block_bits, 0, doubtful);
	c->pending |= c->undecided.wanted;
	e->waits = true;
	return REASON_UNDECIDED;
}

static bool is_trusted(const struct classifier *c, const struct ext_live *e)
{
	return !c->strict || (e->trust.at_work && trust_order(&e->trust));
}

/* The verdict on a block that is not logged, while the journal is in use. */
static enum classify_reason not_logged(struct classifier *c, const struct volume *v,
				       const struct classify_write *w, u32 pos, u32 part, u32 n,
				       u64 block)
{
	struct ext_live *e = ext_of(v);
	u32 first;

	if (!c->strict)
		return REASON_UNLOGGED;
	if (unlikely(part || n != ext_block_sectors(v)))
		return REASON_LOOKS;
	if (unlikely(!e->layout.known)) {
		ext_layout_need(&e->layout);
		return REASON_LEARNING;
	}
	if (unlikely(ext_layout_find(&e->layout, &e->geo, block, &first) != EXT_LAYOUT_OTHER)) {
		place_tells(c, v, w, pos, part, n, block);
		return REASON_STATIC;
	}
	if (unlikely(looks_like(c, v, w, pos, n)))
		return REASON_LOOKS;
	if (likely(is_trusted(c, e)))
		return REASON_UNLOGGED;
	return wait_for_commit(c, v, w, pos, n, block);
}

static enum classify_reason judge_mounted(struct classifier *c, const struct volume *v,
					  const struct classify_write *w, u32 pos, u32 part, u32 n,
					  u64 block)
{
	const struct ext_live *e = ext_of(v);
	enum ext_kind kind = ext_fixed_kind(&e->geo, block);
	bool beyond = block * ext_block_sectors(v) + part + n > volume_believed(v);

	if (kind != EXT_DATA) {
		static_write(c, v, w, pos, part, n, block, kind);
		if (c->strict && kind != EXT_MMP && kind != EXT_BOOT && !beyond)
			place_tells(c, v, w, pos, part, n, block);
		return REASON_STATIC;
	}
	if (unlikely(beyond))
		return REASON_UNPLACED;
	if (ext_live_plain(e))
		return unlikely(c->by_inode) ? REASON_UNJOURNALED :
		       ask_inodes(c, v, w, pos, part, n, block, REASON_UNSAFE);
	if (e->stage == EXT_KEEP)
		return REASON_UNSAFE;
	/*
	 * Mounted, but is the journal in use? ext4 with noload, ext2's own driver, and tune2fs -j
	 * on a mounted ext2 write metadata without logging it. While a journal is in use, the
	 * superblock on the disk has the flag that recovery is needed. The other ways do not mount
	 * read-write while the flag is set.
	 */
	if (!(e->geo.incompat & EXT_INCOMPAT_RECOVER))
		return REASON_UNJOURNALED;
	if (!ext_live_complete(e))
		return REASON_LEARNING;
	if (jbd2_has(&e->jbd2, block)) {
		if (unlikely(c->by_inode)) {
			note_logged(c, v, w, pos, part, n, block);
			return REASON_LOGGED;
		}
		/* With data=journal file content is logged, too. */
		if (!e->ordered && is_trusted(c, e))
			return ask_inodes(c, v, w, pos, part, n, block, REASON_LOGGED);
		if (unlikely(e->geo.ro_compat & EXT_RO_COMPAT_VERITY))
			in_layout(c, v, block, whole_block(c, v, w, pos, part, n));
		return REASON_LOGGED;
	}
	if (unlikely(!e->ordered && c->undecided.limit))
		look_for_order(c, v, w, pos, part, n);
	if (unlikely(c->by_inode))
		return is_trusted(c, e) ? whose_data(c, v, part, n, block) : REASON_LEARNING;
	/* Merkle trees are not logged. */
	if (likely(!(e->geo.ro_compat & EXT_RO_COMPAT_VERITY)))
		return not_logged(c, v, w, pos, part, n, block);
	if (!is_trusted(c, e))
		return REASON_UNSAFE;
	return ask_inodes(c, v, w, pos, part, n, block, REASON_UNSAFE);
}

/*
 * May another volume be there? The mounted one may not reach so far, or another writer is at work.
 */
static bool other_may_be(const struct classifier *c, const struct volume *v, u64 offset, u32 n)
{
	return c->strict && (offset + n > volume_believed(v) ||
			     (!ext_live_plain(ext_of(v)) && !ext_of(v)->trust.at_work));
}

enum classify_reason ext_write(struct classifier *c, struct volume *v,
			       const struct classify_write *w, u32 pos, u32 *len)
{
	u64 offset = w->sector + pos - v->start;
	u32 size = ext_block_sectors(v);
	u64 block = offset >> (ext_of(v)->geo.block_bits - SECTOR_BITS);
	u32 part = offset & (size - 1);
	u32 n = min(size - part, w->sectors - pos);
	enum classify_reason reason;
	enum ext_kind kind;
	bool another;
	u32 logical;

	*len = n;
	ext_of(v)->trust.opening = false;
	if (undecided_any(&c->undecided))
		undecided_remove(&c->undecided, volume_slot(v), block, 1);
	if (unlikely(sectors_overlap(offset, n, EXT_SUPER_SECTOR, EXT_SUPER_SECTORS))) {
		if (v->state != VOLUME_MOUNTED)
			scan_for_supers(c, w, pos, n);
		/* The scan may have ended it. */
		v = volume_at(&c->volumes, w->sector + pos - offset);
		if (v && v->kind == ext_volume_kind && !own_super(c, v, w))
			scan_for_supers(c, w, pos, n);
		return REASON_STATIC;
	}
	/* A boot loader, or a partition table: the driver writes whole blocks. */
	if (unlikely(offset < EXT_SUPER_SECTOR))
		trust_looked(&ext_of(v)->trust);
	logical = ext_live_journal(ext_of(v), block);
	if (logical != U32_MAX) {
		journal_write(c, v, w, pos, part, n, logical);
		return REASON_JOURNAL;
	}
	if (likely(v->state == VOLUME_MOUNTED)) {
		if (unlikely(ext_live_watches(ext_of(v), block))) {
			ext_live_write(ext_of(v), block, whole_block(c, v, w, pos, part, n));
			note_work(c, ext_of(v));
		}
		another = other_may_be(c, v, offset, n);
		reason = judge_mounted(c, v, w, pos, part, n, block);
		if (unlikely(another))
			scan_for_supers(c, w, pos, n);
		return reason;
	}
	ext_live_write(ext_of(v), block, whole_block(c, v, w, pos, part, n));
	ext_names_written(&ext_of(v)->names);
	note_work(c, ext_of(v));
	/* The last inodes of a mount are written after the superblock that ends it. */
	if (undecided_any(&c->undecided) && !ext_of(v)->waits)
		in_layout(c, v, block, whole_block(c, v, w, pos, part, n));
	kind = ext_fixed_kind(&ext_of(v)->geo, block);
	if (kind != EXT_DATA)
		static_write(c, v, w, pos, part, n, block, kind);
	scan_for_supers(c, w, pos, n);
	return REASON_UNMOUNTED;
}
