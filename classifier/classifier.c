// SPDX-License-Identifier: GPL-2.0
/* Implicit classification of one disk: see classifier.h. */
#include "classifier.h"
#include "exclude.h"
#include "selfid-volume.h"

#define SECTOR_BITS	9
#define SUPER_SECTOR	(EXT_SUPER_OFFSET >> SECTOR_BITS)
#define SUPER_SECTORS	(EXT_SUPER_SIZE >> SECTOR_BITS)

static const char * const reason_names[CLASSIFY_REASONS] = {
	[CLASSIFY_NO_VOLUME] = "no-volume",
	[CLASSIFY_UNMOUNTED] = "unmounted",
	[CLASSIFY_UNPLACED] = "unplaced",
	[CLASSIFY_LEARNING] = "learning",
	[CLASSIFY_UNSAFE] = "unsafe",
	[CLASSIFY_UNJOURNALED] = "unjournaled",
	[CLASSIFY_STATIC] = "static",
	[CLASSIFY_JOURNAL] = "journal",
	[CLASSIFY_LOGGED] = "logged",
	[CLASSIFY_UNLOGGED] = "unlogged",
	[CLASSIFY_LOOKS] = "looks",
	[CLASSIFY_UNDECIDED] = "undecided",
	[CLASSIFY_NAMED] = "named",
	[CLASSIFY_STORED] = "stored",
	[CLASSIFY_PART] = "part",
	[CLASSIFY_PACKED] = "packed",
	[CLASSIFY_UNNAMED] = "unnamed",
};

static const enum verdict says[CLASSIFY_REASONS] = {
	[CLASSIFY_NO_VOLUME] = VERDICT_KEEP,
	[CLASSIFY_UNMOUNTED] = VERDICT_KEEP,
	[CLASSIFY_UNPLACED] = VERDICT_KEEP,
	[CLASSIFY_LEARNING] = VERDICT_KEEP,
	[CLASSIFY_UNSAFE] = VERDICT_KEEP,
	[CLASSIFY_UNJOURNALED] = VERDICT_KEEP,
	[CLASSIFY_STATIC] = VERDICT_KEEP,
	[CLASSIFY_JOURNAL] = VERDICT_KEEP,
	[CLASSIFY_LOGGED] = VERDICT_KEEP,
	[CLASSIFY_UNLOGGED] = VERDICT_SQUASH,
	[CLASSIFY_LOOKS] = VERDICT_KEEP,
	[CLASSIFY_UNDECIDED] = VERDICT_UNDECIDED,
	[CLASSIFY_NAMED] = VERDICT_KEEP,
	[CLASSIFY_STORED] = VERDICT_KEEP,
	[CLASSIFY_PART] = VERDICT_KEEP,
	[CLASSIFY_PACKED] = VERDICT_KEEP,
	[CLASSIFY_UNNAMED] = VERDICT_SQUASH,
};

const char *classify_reason_name(enum classify_reason reason)
{
	return reason < CLASSIFY_REASONS ? reason_names[reason] : "unknown";
}

void classifier_init(struct classifier *c, u64 sectors, size_t log_limit)
{
	memset(c, 0, sizeof(*c));
	c->sectors = sectors;
	c->last_start = U64_MAX;
	c->log_limit = max_t(size_t, log_limit, LOGSET_MIN_BYTES);
	undecided_init(&c->undecided, 0);
	assoc_init(&c->assoc);
}

void classifier_alone(struct classifier *c)
{
	c->strict = true;
	c->volumes.doubt = true;
	c->volumes.disk = c->sectors;
}

void classifier_flush(struct classifier *c)
{
	unsigned int i;

	c->flushes++;
	for (i = 0; i < c->volumes.nr; i++)
		if (c->volumes.volume[i].fs == VOLUME_EXT)
			trust_flush(&c->volumes.volume[i].ext->trust);
}

void classifier_remember(struct classifier *c, u64 bytes)
{
	undecided_init(&c->undecided, bytes);
}

void classifier_stored(struct classifier *c, bool (*stored)(void *ctx, u64 sector, u32 sectors),
		       void *ctx)
{
	c->stored = stored;
	c->stored_ctx = ctx;
}

/* What stands for @v, if it is not of xfs, in the tables that all volumes share. */
static u32 shared_slot(const struct volume *v)
{
	return v->fs == VOLUME_EXT ? v->slot : selfid_undecided_slot(v);
}

#define SHARED_SLOTS	(2 * VOLUMES_MAX)

/* The volume that @slot stands for, or NULL. */
static struct volume *volume_of(struct classifier *c, u32 slot)
{
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		if (v->fs != VOLUME_XFS && shared_slot(v) == slot)
			return v;
	}
	return NULL;
}

static bool is_chosen(void *ctx, u32 slot, u32 ino)
{
	struct classifier *c = ctx;
	const struct volume *v = volume_of(c, slot);

	if (!v || c->choice.inode(c->choice.ctx, v->start, ino))
		return true;
	return c->by_name && (!ext_names_ready(v->ext) || ext_names_has(&v->ext->names, ino));
}

static bool can_tell(void *ctx, u32 slot)
{
	const struct classifier *c = ctx;

	return !c->by_name || ext_names_ready(&c->volumes.ext[slot]);
}

void classifier_choose(struct classifier *c, const struct classify_choice *choice)
{
	c->choice = *choice;
	c->assoc.chosen = is_chosen;
	c->assoc.ready = can_tell;
	c->assoc.chosen_ctx = c;
}

void classifier_chosen_more(struct classifier *c)
{
	u32 slot;

	for (slot = 0; slot < VOLUMES_MAX; slot++)
		ext_names_choose(&c->volumes.ext[slot].names);
	c->pending = true;
}

void classifier_chosen_anew(struct classifier *c)
{
	u32 slot;

	for (slot = 0; slot < SHARED_SLOTS; slot++)
		undecided_forget(&c->undecided, slot);
	classifier_chosen_more(c);
}

void classifier_destroy(struct classifier *c, void (*release)(const void *))
{
	unsigned int i;

	for (i = 0; i < VOLUMES_MAX; i++) {
		struct ext_live *e = &c->volumes.ext[i];

		release(e->entry);
		release(e->jbd2.pending);
		release(e->jbd2.set.slot);
		release(e->layout.run);
		release(e->names.memory);
		if (c->volumes.btrfs[i])
			release(c->volumes.btrfs[i]->memory);
		release(c->volumes.btrfs[i]);
		if (c->volumes.xfs[i])
			release(c->volumes.xfs[i]->log.set.slot);
		release(c->volumes.xfs[i]);
	}
	release(c->undecided.chunk);
	release(c->assoc.inodes);
	memset(c, 0, sizeof(*c));
}

static u32 block_sectors(const struct volume *v)
{
	return 1u << (v->ext->geo.block_bits - SECTOR_BITS);
}

/* The blocks that are undecided on @v are so many sectors, as a power of 2. */
static u32 undecided_shift(const struct volume *v)
{
	return v->fs == VOLUME_EXT ? v->ext->geo.block_bits - SECTOR_BITS : SELFID_BLOCK_SHIFT;
}

/* What stands for @e in the tables that all volumes share. */
static u32 slot_of(const struct classifier *c, const struct ext_live *e)
{
	return e - c->volumes.ext;
}

/*
 * Without a journal nothing tells a repair after a crash from the driver's own work, but that
 * whoever begins to work on a volume reads its superblock, and the driver counts the mount.
 */
static bool strange(const struct classifier *c, const struct ext_live *e)
{
	return c->by_super && ext_live_plain(e) && e->stranger;
}

static enum volume_state super_state(const struct ext_geo *geo)
{
	if (!(geo->compat & EXT_COMPAT_HAS_JOURNAL))
		return geo->mount_state & (EXT_STATE_VALID | EXT_STATE_ERROR) ? VOLUME_UNMOUNTED :
										VOLUME_MOUNTED;
	return geo->journal_ino && geo->incompat & EXT_INCOMPAT_RECOVER ? VOLUME_MOUNTED :
									   VOLUME_UNMOUNTED;
}

/* Inodes will be asked about blocks of @e: the layout and a table for them are wanted. */
static void need_layout(struct classifier *c, struct ext_live *e)
{
	c->pending |= !e->layout.needed;
	layout_need(&e->layout);
	c->undecided.wanted = true;
}

/* @v's state was set. */
static void state_is_set(struct classifier *c, struct volume *v)
{
	c->table_wanted |= volume_doubted(v);
	v->fresh &= v->state != VOLUME_MOUNTED;
	/* Every block will be asked about: better know the layout before the first one comes. */
	if (v->fs != VOLUME_EXT || v->state != VOLUME_MOUNTED)
		return;
	if (!ext_live_plain(v->ext) && c->strict) {
		c->pending |= !v->ext->layout.needed;
		layout_need(&v->ext->layout);
	} else if (ext_live_plain(v->ext) && c->undecided.limit &&
		   v->ext->association != ASSOC_NOTHING) {
		need_layout(c, v->ext);
	}
}

/* Somebody has said so. */
static void state_is_told(struct classifier *c, struct volume *v, enum volume_state state)
{
	v->state = state;
	state_is_set(c, v);
	if (v->fs != VOLUME_EXT)
		return;
	if (state == VOLUME_MOUNTED)
		trust_told(&v->ext->trust, &v->ext->jbd2);
	else
		trust_reset(&v->ext->trust);
}

/* What waits for the driver's next commit stays kept. */
static void stop_waiting(struct classifier *c, struct ext_live *e)
{
	if (likely(!e->waits))
		return;
	undecided_forget(&c->undecided, slot_of(c, e));
	e->waits = false;
}

/* The superblock of @v was @before, and says now that a mount begins, goes on or ends. */
static void super_tells(struct classifier *c, struct volume *v, const struct ext_geo *before,
			bool durable)
{
	struct ext_live *e = v->ext;
	bool clean = !(before->incompat & EXT_INCOMPAT_RECOVER);

	if (!(e->geo.incompat & EXT_INCOMPAT_RECOVER)) {
		stop_waiting(c, e);
		trust_reset(&e->trust);
	} else if (clean || (u16)(before->mounts + 1) == e->geo.mounts) {
		stop_waiting(c, e);
		trust_mount(&e->trust, &e->jbd2, clean, durable);
	}
}

/*
 * The superblock at @super stands for a volume at sector @start. NULL if it makes no sense.
 * @durable: so it was written.
 */
static struct volume *learn_super(struct classifier *c, u64 start, const void *super, bool durable)
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
		if (c->by_super) {
			super_tells(c, v, &before, durable);
			v->state = super_state(&geo);
		}
		state_is_set(c, v);
		volume_resize(&c->volumes, v, sectors);
		return volume_at(&c->volumes, start);
	}
	v = volume_add(&c->volumes, VOLUME_EXT, start, sectors);
	if (!v)
		return NULL;
	undecided_forget(&c->undecided, slot_of(c, v->ext));
	assoc_forget(&c->assoc, slot_of(c, v->ext));
	ext_live_init(v->ext, &geo, (c->sectors - start) >> (geo.block_bits - SECTOR_BITS));
	if (c->by_super)
		v->state = super_state(&geo);
	state_is_set(c, v);
	return v;
}

static void get(const struct classify_write *w, u32 sector, u32 sectors, void *to)
{
	w->copy(w->ctx, sector << SECTOR_BITS, to, sectors << SECTOR_BITS);
}

static void scan_ext(struct classifier *c, const struct classify_write *w, u32 i, const u8 *head)
{
	u64 at = w->sector + i;
	__le16 magic;

	memcpy(&magic, head + EXT_MAGIC_OFFSET, sizeof(magic));
	if (likely(le16_to_cpu(magic) != EXT_MAGIC) || at < SUPER_SECTOR ||
	    w->sectors - i < SUPER_SECTORS || at - SUPER_SECTOR > c->last_start ||
	    volume_at(&c->volumes, at - SUPER_SECTOR))
		return;
	get(w, i, SUPER_SECTORS, c->block);
	learn_super(c, at - SUPER_SECTOR, c->block, w->fua);
}

static void scan_selfid(struct classifier *c, const struct classify_write *w, u32 i,
			const u8 *head)
{
	enum volume_fs fs = selfid_peek(head);
	u32 from = selfid_super_sector(fs), n;
	u64 at = w->sector + i;

	if (likely(fs == VOLUME_EXT) || at < from || at - from > c->last_start)
		return;
	n = min_t(u32, w->sectors - i, SELFID_SUPER_SECTORS);
	get(w, i, n, c->block);
	selfid_super(c, fs, at - from, c->block, n << SECTOR_BITS);
}

/* Zeros are written where nothing is mounted: mkfs may be at work. */
static void look_for_zeros(struct classifier *c, const struct classify_write *w, u32 pos, u32 n)
{
	u64 first;

	w->copy(w->ctx, pos << SECTOR_BITS, &first, sizeof(first));
	if (first || n > CLASSIFIER_BLOCK >> SECTOR_BITS)
		return;
	get(w, pos, n, c->block);
	if (!memcmp(c->block, c->block + 1, (n << SECTOR_BITS) - sizeof(first)))
		volume_cleared(&c->volumes, w->sector + pos, n);
}

/* Superblocks that begin in the @n sectors from @pos on, of volumes not known so far. */
static void scan(struct classifier *c, const struct classify_write *w, u32 pos, u32 n)
{
	u8 head[SELFID_PEEK_BYTES];
	u32 i;

	if (c->strict)
		look_for_zeros(c, w, pos, n);
	for (i = pos; i < pos + n; i++) {
		w->copy(w->ctx, i << SECTOR_BITS, head, sizeof(head));
		scan_ext(c, w, i, head);
		scan_selfid(c, w, i, head);
	}
}

/*
 * A write that touches the sectors of the volume's own superblock. Anything
 * but the whole of a superblock of ext ends the volume; false: there is none now.
 */
static bool own_super(struct classifier *c, struct volume *v, const struct classify_write *w)
{
	u64 at = v->start + SUPER_SECTOR;
	enum volume_state state = v->state;
	struct volume *now = NULL;
	u64 start = v->start;

	if (w->sector <= at && w->sector + w->sectors >= at + SUPER_SECTORS) {
		get(w, at - w->sector, SUPER_SECTORS, c->block);
		now = learn_super(c, start, c->block, w->fua);
	}
	if (now) {
		/* A new one is not mounted; the same one stays what it was. */
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
static const void *content(struct classifier *c, const struct volume *v,
			   const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	if (part || n != block_sectors(v) || n > CLASSIFIER_BLOCK >> SECTOR_BITS)
		return NULL;
	get(w, pos, n, c->block);
	return c->block;
}

static void note_work(struct classifier *c, const struct ext_live *e)
{
	if ((e->want && !e->asked) || ext_live_memory(e, c->log_limit))
		c->pending = true;
}

/*
 * A commit: the driver is at work, and was when it wrote what waits. What its content cannot tell
 * waits on until flushes are seen as well.
 */
static void waited(struct classifier *c, struct ext_live *e)
{
	bool order = trust_order(&e->trust);
	u32 slot = slot_of(c, e);
	u64 n = e->geo.blocks;

	if (unlikely(c->by_inode)) {
		stop_waiting(c, e);
		return;
	}
	undecided_decide(&c->undecided, slot, 0, n, order ? UNDECIDED_ANY - 1 : UNDECIDED_ANY,
			 true);
	if (!order && !trust_may_come(&e->trust))
		undecided_decide(&c->undecided, slot, 0, n, UNDECIDED_ANY - 1, false);
	e->waits = !order && trust_may_come(&e->trust);
	c->pending = true;
}

/* A block of the journal; most of them are logged blocks, which only their first word tells. */
static void journal_write(struct classifier *c, const struct volume *v,
			  const struct classify_write *w, u32 pos, u32 part, u32 n, u32 logical)
{
	__be32 word;

	if (!part && n == block_sectors(v)) {
		w->copy(w->ctx, pos << SECTOR_BITS, &word, sizeof(word));
		if (!jbd2_control(word) && logical)
			return;
	}
	if (ext_live_journal_write(v->ext, logical, content(c, v, w, pos, part, n), c->flushes) &&
	    unlikely(v->ext->waits))
		waited(c, v->ext);
	note_work(c, v->ext);
	/* Some notes wait for the journal to go on. */
	if (c->assoc.notes)
		c->pending = true;
}

/*
 * Blocks whose place the descriptors tell. Those that tell of others are noted. @whole: the
 * content, NULL: not all of it is written.
 */
static bool in_layout(struct classifier *c, const struct volume *v, u64 block, const void *whole)
{
	struct ext_live *e = v->ext;
	enum layout_kind kind;
	u32 first;

	if (!e->layout.known)
		return false;
	kind = layout_find(&e->layout, &e->geo, block, &first);
	if (whole && !strange(c, e) && (kind == LAYOUT_INODES || kind == LAYOUT_BLOCK_BITMAP)) {
		assoc_note(&c->assoc, slot_of(c, e), e, block, whole, first,
			   kind == LAYOUT_BLOCK_BITMAP);
		c->pending |= undecided_any(&c->undecided);
	}
	return kind != LAYOUT_OTHER;
}

/* Remember @block; @doubtful: only what is written later than it can tell. */
static void wait_for_inode(struct classifier *c, struct ext_live *e, u64 block, bool doubtful)
{
	undecided_add(&c->undecided, slot_of(c, e), block, e->geo.block_bits, c->assoc.time,
		      doubtful);
	c->pending |= c->undecided.wanted;
}

/*
 * No order of writes says what @block is. If it cannot be metadata by its
 * place and content, remember it until an inode tells; @otherwise: the reason
 * to keep it if it can.
 */
static enum classify_reason ask_inodes(struct classifier *c, const struct volume *v,
				       const struct classify_write *w, u32 pos, u32 part, u32 n,
				       u64 block, enum classify_reason otherwise)
{
	struct ext_live *e = v->ext;
	enum ext_look look;
	const void *whole;

	if (e->association == ASSOC_NOTHING || !c->undecided.limit || strange(c, e))
		return otherwise;
	if (!e->layout.known) {
		need_layout(c, e);
		return otherwise;
	}
	whole = content(c, v, w, pos, part, n);
	if (in_layout(c, v, block, whole))
		return CLASSIFY_STATIC;
	look = whole ? ext_look(&e->geo, whole) : EXT_LOOK_MAGIC;
	if (look == EXT_LOOK_MAGIC && whole)
		assoc_note_node(&c->assoc, slot_of(c, e), e, block, whole);
	if (look && look != EXT_LOOK_DOUBTFUL)
		return otherwise == CLASSIFY_LOGGED ? CLASSIFY_LOGGED : CLASSIFY_LOOKS;
	wait_for_inode(c, e, block, look == EXT_LOOK_DOUBTFUL);
	return CLASSIFY_UNDECIDED;
}

/* Metadata by its place: what can be learned from it. */
static void static_write(struct classifier *c, const struct volume *v,
			 const struct classify_write *w, u32 pos, u32 part, u32 n, u64 block,
			 enum ext_kind kind)
{
	if (kind != EXT_GDT || !v->ext->layout.needed)
		return;
	layout_gdt_write(&v->ext->layout, &v->ext->geo, block, content(c, v, w, pos, part, n));
	c->pending = true;
}

/*
 * A block of no log is written. If it holds anything, file content is not logged: then what is
 * logged is metadata, and stays kept, whatever inodes may tell. Where blocks are zeroed by the
 * driver it proves nothing.
 */
static void look_for_order(struct classifier *c, const struct volume *v,
			   const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	const u8 *whole = content(c, v, w, pos, part, n);

	if (whole && !memcmp(whole, whole + 8, ext_block_size(&v->ext->geo) - 8))
		return;
	v->ext->ordered = true;
	undecided_forget(&c->undecided, slot_of(c, v->ext));
	assoc_forget(&c->assoc, slot_of(c, v->ext));
}

/*
 * Files are chosen to be kept: an inode has to tell whose @block is, and only one that is
 * written after it can. Also with a journal: the data is written before the inode's commit, but
 * after the commit of the transaction in which another file gave the block up.
 */
static enum classify_reason whose_data(struct classifier *c, const struct volume *v, u32 part,
				       u32 n, u64 block)
{
	struct ext_live *e = v->ext;

	if (e->association != ASSOC_NODES_TOO || part || n != block_sectors(v))
		return CLASSIFY_UNDECIDED;
	c->pending |= c->by_name && !e->names.wanted;
	e->names.wanted |= c->by_name;
	if (!e->layout.known)
		need_layout(c, e);
	else
		wait_for_inode(c, e, block, true);
	return CLASSIFY_UNDECIDED;
}

/* A logged block comes home: it may be one that tells of others. */
static void note_logged(struct classifier *c, const struct volume *v,
			const struct classify_write *w, u32 pos, u32 part, u32 n, u64 block)
{
	const void *whole = content(c, v, w, pos, part, n);

	if (whole && !in_layout(c, v, block, whole) &&
	    ext_look(&v->ext->geo, whole) == EXT_LOOK_MAGIC)
		assoc_note_node(&c->assoc, slot_of(c, v->ext), v->ext, block, whole);
}

/* Is what is written to a block one repeated word? That is kept as it is, whoever wrote it. */
static bool is_constant(struct classifier *c, const struct volume *v,
			const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	const u8 *whole = content(c, v, w, pos, part, n);

	return whole && !memcmp(whole, whole + 8, ext_block_size(&v->ext->geo) - 8);
}

/* Metadata by its place is written, and is not logged: no driver with a journal does that. */
static void place_tells(struct classifier *c, const struct volume *v,
			const struct classify_write *w, u32 pos, u32 part, u32 n, u64 block)
{
	struct ext_live *e = v->ext;

	if (!ext_live_complete(e) || jbd2_has(&e->jbd2, block) ||
	    is_constant(c, v, w, pos, part, n))
		return;
	trust_foreign(&e->trust);
	stop_waiting(c, e);
}

/* What a block that is not logged looks like, if that is more than doubtful. */
static enum ext_look looks_like(struct classifier *c, const struct volume *v,
				const struct classify_write *w, u32 pos, u32 n)
{
	struct ext_live *e = v->ext;
	u64 head[EXT_LOOK_HEAD / 8], tail;
	enum ext_look look;

	w->copy(w->ctx, pos << SECTOR_BITS, head, sizeof(head));
	w->copy(w->ctx, ((pos + n) << SECTOR_BITS) - sizeof(tail), &tail, sizeof(tail));
	if (likely(!ext_may_look(&e->geo, head, &tail)))
		return EXT_LOOK_NONE;
	look = ext_look(&e->geo, content(c, v, w, pos, 0, n));
	if (look == EXT_LOOK_NONE || look == EXT_LOOK_DOUBTFUL)
		return EXT_LOOK_NONE;
	/* Of a file's content there is little that is so: rather somebody else is at work. */
	if (ext_is_formed(&e->geo, c->block)) {
		e->trust.at_work = false;
		stop_waiting(c, e);
	}
	return look;
}

/*
 * A block that is not logged, and not metadata by its place or form. Nobody knows yet who is at
 * work, or whether the order of writes is kept.
 */
static enum classify_reason wait_for_commit(struct classifier *c, const struct volume *v,
					    const struct classify_write *w, u32 pos, u32 n,
					    u64 block)
{
	struct ext_live *e = v->ext;
	bool doubtful = e->association == ASSOC_NOTHING ||
			ext_look(&e->geo, content(c, v, w, pos, 0, n)) == EXT_LOOK_DOUBTFUL;

	if (doubtful && !trust_may_come(&e->trust))
		return CLASSIFY_LOOKS;
	if (!doubtful && e->trust.at_work)
		return CLASSIFY_UNLOGGED;
	undecided_add(&c->undecided, slot_of(c, e), block, e->geo.block_bits, 0, doubtful);
	c->pending |= c->undecided.wanted;
	e->waits = true;
	return CLASSIFY_UNDECIDED;
}

/* A block that is not logged, of a volume whose journal is in use: place and content agree? */
static enum classify_reason not_logged(struct classifier *c, const struct volume *v,
				       const struct classify_write *w, u32 pos, u32 part, u32 n,
				       u64 block)
{
	struct ext_live *e = v->ext;
	u32 first;

	if (!c->strict)
		return CLASSIFY_UNLOGGED;
	if (unlikely(part || n != block_sectors(v)))
		return CLASSIFY_LOOKS;
	if (unlikely(!e->layout.known)) {
		layout_need(&e->layout);
		return CLASSIFY_LEARNING;
	}
	if (unlikely(layout_find(&e->layout, &e->geo, block, &first) != LAYOUT_OTHER)) {
		place_tells(c, v, w, pos, part, n, block);
		return CLASSIFY_STATIC;
	}
	if (unlikely(looks_like(c, v, w, pos, n)))
		return CLASSIFY_LOOKS;
	if (likely(e->trust.at_work && trust_order(&e->trust)))
		return CLASSIFY_UNLOGGED;
	return wait_for_commit(c, v, w, pos, n, block);
}

static bool is_trusted(const struct classifier *c, const struct ext_live *e)
{
	return !c->strict || (e->trust.at_work && trust_order(&e->trust));
}

static enum classify_reason mounted(struct classifier *c, const struct volume *v,
				    const struct classify_write *w, u32 pos, u32 part, u32 n,
				    u64 block)
{
	const struct ext_live *e = v->ext;
	enum ext_kind kind = ext_fixed_kind(&e->geo, block);
	bool beyond = block * block_sectors(v) + part + n > v->proved;

	if (kind != EXT_DATA) {
		static_write(c, v, w, pos, part, n, block, kind);
		if (c->strict && kind != EXT_MMP && kind != EXT_BOOT && !beyond)
			place_tells(c, v, w, pos, part, n, block);
		return CLASSIFY_STATIC;
	}
	if (unlikely(beyond))
		return CLASSIFY_UNPLACED;
	if (ext_live_plain(e))
		return unlikely(c->by_inode) ? CLASSIFY_UNJOURNALED :
		       ask_inodes(c, v, w, pos, part, n, block, CLASSIFY_UNSAFE);
	if (e->stage == EXT_KEEP)
		return CLASSIFY_UNSAFE;
	/*
	 * Mounted, but with its journal? ext4 without one (noload), ext2's own
	 * driver, or tune2fs -j on a mounted ext2 write metadata unlogged. The
	 * flag that recovery is needed is in the superblock on the disk whenever
	 * a journal is in use, and neither mounts read-write while it is set.
	 */
	if (!(e->geo.incompat & EXT_INCOMPAT_RECOVER))
		return CLASSIFY_UNJOURNALED;
	if (!ext_live_complete(e))
		return CLASSIFY_LEARNING;
	if (jbd2_has(&e->jbd2, block)) {
		if (unlikely(c->by_inode)) {
			note_logged(c, v, w, pos, part, n, block);
			return CLASSIFY_LOGGED;
		}
		/* With data=journal file content is logged, too. */
		if (!e->ordered && is_trusted(c, e))
			return ask_inodes(c, v, w, pos, part, n, block, CLASSIFY_LOGGED);
		if (unlikely(e->geo.ro_compat & EXT_RO_COMPAT_VERITY))
			in_layout(c, v, block, content(c, v, w, pos, part, n));
		return CLASSIFY_LOGGED;
	}
	if (unlikely(!e->ordered && c->undecided.limit))
		look_for_order(c, v, w, pos, part, n);
	if (unlikely(c->by_inode))
		return is_trusted(c, e) ? whose_data(c, v, part, n, block) : CLASSIFY_LEARNING;
	/* Merkle trees are not logged. */
	if (likely(!(e->geo.ro_compat & EXT_RO_COMPAT_VERITY)))
		return not_logged(c, v, w, pos, part, n, block);
	if (!is_trusted(c, e))
		return CLASSIFY_UNSAFE;
	return ask_inodes(c, v, w, pos, part, n, block, CLASSIFY_UNSAFE);
}

/* A mounted volume may not reach there, or somebody else may be at work: is there another one? */
static bool other_may_be(const struct classifier *c, const struct volume *v, u64 offset, u32 n)
{
	return c->strict && (offset + n > v->proved ||
			     (!ext_live_plain(v->ext) && !v->ext->trust.at_work));
}

static enum classify_reason in_volume(struct classifier *c, struct volume *v,
				      const struct classify_write *w, u32 pos, u32 *len)
{
	u64 offset = w->sector + pos - v->start;
	u32 size = block_sectors(v);
	u64 block = offset >> (v->ext->geo.block_bits - SECTOR_BITS);
	u32 part = offset & (size - 1);
	u32 n = min(size - part, w->sectors - pos);
	enum classify_reason reason;
	enum ext_kind kind;
	bool another;
	u32 logical;

	*len = n;
	v->ext->trust.opening = false;
	if (undecided_any(&c->undecided))
		undecided_remove(&c->undecided, slot_of(c, v->ext), block, 1);
	if (unlikely(offset < SUPER_SECTOR + SUPER_SECTORS && offset + n > SUPER_SECTOR)) {
		if (v->state != VOLUME_MOUNTED)
			scan(c, w, pos, n);
		/* The scan may have ended it. */
		v = volume_at(&c->volumes, w->sector + pos - offset);
		if (v && v->fs == VOLUME_EXT && !own_super(c, v, w))
			scan(c, w, pos, n);
		return CLASSIFY_STATIC;
	}
	/* A boot loader, or a partition table: the driver writes whole blocks. */
	if (unlikely(offset < SUPER_SECTOR))
		trust_looked(&v->ext->trust);
	logical = ext_live_journal(v->ext, block);
	if (logical != U32_MAX) {
		journal_write(c, v, w, pos, part, n, logical);
		return CLASSIFY_JOURNAL;
	}
	if (likely(v->state == VOLUME_MOUNTED)) {
		if (unlikely(ext_live_watches(v->ext, block))) {
			ext_live_write(v->ext, block, content(c, v, w, pos, part, n));
			note_work(c, v->ext);
		}
		another = other_may_be(c, v, offset, n);
		reason = mounted(c, v, w, pos, part, n, block);
		if (unlikely(another))
			scan(c, w, pos, n);
		return reason;
	}
	ext_live_write(v->ext, block, content(c, v, w, pos, part, n));
	ext_names_written(&v->ext->names);
	note_work(c, v->ext);
	/* The last inodes of a mount are written when the superblock has said that it is over. */
	if (undecided_any(&c->undecided) && !v->ext->waits)
		in_layout(c, v, block, content(c, v, w, pos, part, n));
	kind = ext_fixed_kind(&v->ext->geo, block);
	if (kind != EXT_DATA)
		static_write(c, v, w, pos, part, n, block, kind);
	scan(c, w, pos, n);
	return CLASSIFY_UNMOUNTED;
}

/* Of what was said for @reason of a btrfs or xfs only that counts which is in front of @proved. */
static enum classify_reason unproved(struct classifier *c, const struct classify_write *w, u32 pos,
				     u32 *len, u64 proved, enum classify_reason reason)
{
	u64 sector = w->sector + pos;

	if (says[reason] == VERDICT_KEEP)
		return reason;
	if (sector < proved) {
		*len = proved - sector;
		return reason;
	}
	*len = min_t(u32, *len, CLASSIFIER_BLOCK >> SECTOR_BITS);
	scan(c, w, pos, *len);
	return CLASSIFY_UNPLACED;
}

enum verdict classifier_write(struct classifier *c, const struct classify_write *w, u32 pos,
			      u32 *len, enum classify_reason *reason)
{
	u64 next, proved, sector = w->sector + pos;
	struct volume *v = volume_find(&c->volumes, sector, &next);

	if (v && v->fs != VOLUME_EXT && !selfid_outlasts(c, v, w, pos))
		v = volume_find(&c->volumes, sector, &next);
	if (v && v->fs != VOLUME_EXT) {
		proved = v->start + v->proved;
		*reason = selfid_write(c, v, w, pos, len);
		if (unlikely(sector + *len > proved))
			*reason = unproved(c, w, pos, len, proved, *reason);
	} else if (v) {
		*reason = in_volume(c, v, w, pos, len);
	} else {
		*len = min_t(u64, w->sectors - pos, next - sector);
		/* What begins here may end further on: look at no more than that at once. */
		*len = min_t(u32, *len, CLASSIFIER_BLOCK >> SECTOR_BITS);
		scan(c, w, pos, *len);
		*reason = CLASSIFY_NO_VOLUME;
	}
	/* What no inode can tell might be a chosen file's. */
	if (unlikely(c->by_inode) && says[*reason] == VERDICT_SQUASH)
		*reason = CLASSIFY_UNDECIDED;
	c->count[*reason] += *len;
	return says[*reason];
}

enum classify_sums classifier_sums(struct classifier *c, u64 sector)
{
	u64 next;
	const struct volume *v = volume_find(&c->volumes, sector, &next);

	return v && v->fs == VOLUME_BTRFS ? selfid_sums(v) : CLASSIFY_SUMS_NONE;
}

u64 classifier_volume(struct classifier *c, u64 sector)
{
	u64 next;
	const struct volume *v = volume_find(&c->volumes, sector, &next);

	return v ? v->start : sector;
}

/* Blocks of @v that may be undecided and have one of the sectors; false: none. */
static bool blocks_of(const struct volume *v, u64 sector, u64 sectors, u64 *block, u64 *len)
{
	u64 from = max(sector, v->start), end = min(sector + sectors, v->start + v->sectors);
	u32 shift;

	if (v->fs == VOLUME_XFS || from >= end)
		return false;
	shift = undecided_shift(v);
	*block = (from - v->start) >> shift;
	*len = ((end - v->start - 1) >> shift) + 1 - *block;
	return true;
}

void classifier_kept(struct classifier *c, u64 sector, u64 sectors)
{
	u64 block, len;
	unsigned int i;

	for (i = 0; undecided_any(&c->undecided) && i < c->volumes.nr; i++) {
		const struct volume *v = &c->volumes.volume[i];

		if (blocks_of(v, sector, sectors, &block, &len))
			undecided_remove(&c->undecided, shared_slot(v), block, len);
	}
}

/*
 * No file system discards its own superblock or its journal's inode, nor its bitmaps: somebody
 * else takes the place. (Inode tables are zeroed in the background.)
 */
static bool ext_discarded(const struct volume *v, u64 sector, u64 sectors)
{
	const struct ext_live *e = v->ext;
	u64 super = v->start + SUPER_SECTOR;
	u64 inode = v->start + e->inode_block * block_sectors(v);
	u64 block, n;

	if ((sector < super + SUPER_SECTORS && super < sector + sectors) ||
	    (e->inode_block && sector <= inode && inode < sector + sectors))
		return true;
	return e->layout.known && blocks_of(v, sector, sectors, &block, &n) &&
	       layout_has_bitmap(&e->layout, block, n);
}

void classifier_discard(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i = 0;

	classifier_kept(c, sector, sectors);
	volume_cleared(&c->volumes, sector, sectors);
	while (i < c->volumes.nr) {
		struct volume *v = &c->volumes.volume[i];

		if (v->fs == VOLUME_EXT ? ext_discarded(v, sector, sectors) :
					  selfid_discarded(v, sector, sectors))
			volume_remove(&c->volumes, v);
		else
			i++;
	}
}

void classifier_read(struct classifier *c, const struct classify_write *w)
{
	u64 next;
	u32 pos;

	for (pos = 0; pos < w->sectors; pos++)
		if (!volume_find(&c->volumes, w->sector + pos, &next))
			scan(c, w, pos, 1);
}

static void is_looked_at(struct volume *v)
{
	v->fresh = false;
	v->ext->stranger = true;
	trust_looked(&v->ext->trust);
}

void classifier_looked(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i;

	for (i = 0; c->by_super && i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];
		u64 super = v->start + SUPER_SECTOR;

		if (v->fs != VOLUME_EXT)
			selfid_looked(v, sector, sectors);
		else if (sector < super + SUPER_SECTORS && super < sector + sectors)
			is_looked_at(v);
	}
}

void classifier_mount(struct classifier *c, u64 start, enum volume_state state)
{
	struct volume *v = volume_at(&c->volumes, start);
	unsigned int i;

	if (v) {
		state_is_told(c, v, state);
		c->pending = true;
		return;
	}
	for (i = 0; i < c->probes; i++) {
		if (c->probe[i].start == start) {
			c->probe[i].state = state;
			return;
		}
	}
	/* With no room for one more, everything there stays kept. */
	if (state != VOLUME_MOUNTED || c->probes == CLASSIFIER_PROBES)
		return;
	c->probe[c->probes].start = start;
	c->probe[c->probes].state = state;
	c->probe[c->probes].asked = 0;
	c->probes++;
	c->pending = true;
}

void classifier_by_super(struct classifier *c)
{
	c->by_super = true;
	classifier_mount(c, 0, VOLUME_MOUNTED);
}

void classifier_only_whole(struct classifier *c)
{
	c->last_start = 0;
}

void classifier_again(struct classifier *c)
{
	unsigned int i;

	if (!undecided_any(&c->undecided))
		return;
	assoc_again(&c->assoc);
	for (i = 0; i < VOLUMES_MAX; i++)
		ext_names_again(&c->volumes.ext[i].names);
	c->pending = true;
}

/* Who wants memory: the table, the notes, or one of a volume's three. */
struct memory_want {
	size_t bytes;
	struct volume *v;	/* NULL: one of those that all volumes share */
	bool layout;
	bool names;
};

static struct memory_want wants_memory(struct classifier *c)
{
	struct memory_want want = { };
	bool inodes = false;
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		want.v = &c->volumes.volume[i];
		if (want.v->fs != VOLUME_EXT) {
			want.bytes = selfid_memory(want.v, c->log_limit);
			if (want.bytes)
				return want;
			continue;
		}
		inodes = true;
		want.bytes = ext_live_memory(want.v->ext, c->log_limit);
		if (want.bytes)
			return want;
		want.bytes = layout_memory(&want.v->ext->layout);
		want.layout = want.bytes;
		if (want.bytes)
			return want;
		want.bytes = ext_names_memory(&want.v->ext->names);
		want.names = want.bytes;
		if (want.bytes)
			return want;
	}
	want.v = NULL;
	want.bytes = undecided_memory(&c->undecided);
	if (!want.bytes && inodes)
		want.bytes = assoc_memory(&c->assoc, &c->undecided);
	return want;
}

size_t classifier_memory(struct classifier *c)
{
	/* The worker is here; what comes up from now on wants it again. */
	c->pending = false;
	return wants_memory(c).bytes;
}

void *classifier_give(struct classifier *c, void *memory, size_t bytes)
{
	struct memory_want want = wants_memory(c);

	if (!want.bytes || want.bytes != bytes)
		return memory;
	if (want.v && want.v->fs != VOLUME_EXT)
		return selfid_give(c, want.v, memory, bytes);
	if (want.layout)
		return layout_give(&want.v->ext->layout, memory, bytes);
	if (want.names)
		return ext_names_give(&want.v->ext->names, memory, bytes);
	if (want.v)
		return ext_live_give(want.v->ext, memory, bytes);
	if (undecided_memory(&c->undecided))
		undecided_give(&c->undecided, memory, bytes);
	else
		assoc_give(&c->assoc, memory);
	return NULL;
}

bool classifier_claim(struct classifier *c, u64 *sector, u32 *sectors)
{
	struct volume *v;
	u32 slot, len, i;
	bool more = false;
	u64 block;

	for (i = 0; i < c->volumes.nr; i++)
		more |= selfid_judge(c, &c->volumes.volume[i]);
	while (undecided_take(&c->undecided, &slot, &block, &len)) {
		v = volume_of(c, slot);
		if (!v) {
			undecided_forget(&c->undecided, slot);
			continue;
		}
		*sector = v->start + (block << undecided_shift(v));
		*sectors = len << undecided_shift(v);
		return true;
	}
	*sector = 0;
	*sectors = 0;
	return more;
}

bool classifier_is_data(struct classifier *c, u64 sector, u32 sectors)
{
	u64 next, block, len;
	struct volume *v = volume_find(&c->volumes, sector, &next);

	return v && sector + sectors <= v->start + v->sectors &&
	       blocks_of(v, sector, sectors, &block, &len) &&
	       undecided_is_data(&c->undecided, shared_slot(v), block, len);
}

void classifier_done(struct classifier *c, u64 sector, u32 sectors)
{
	u64 next, block, len;
	struct volume *v = volume_find(&c->volumes, sector, &next);

	if (v && blocks_of(v, sector, sectors, &block, &len))
		undecided_done(&c->undecided, shared_slot(v), block, len);
}

/* What a probe reads: the first block has the superblocks of ext and xfs, the other btrfs's. */
static u64 probe_sector(u64 start, unsigned int look)
{
	return start + (look ? BTRFS_SUPER_SECTOR : 0);
}

static bool want_probe(struct classifier *c, u64 *sector, u32 *bytes)
{
	unsigned int i;

	for (i = 0; i < c->probes; i++) {
		if (c->probe[i].asked == CLASSIFIER_LOOKS)
			continue;
		*sector = probe_sector(c->probe[i].start, c->probe[i].asked);
		*bytes = CLASSIFIER_BLOCK;
		/* A disk too small for that has none. */
		if (*sector + (CLASSIFIER_BLOCK >> SECTOR_BITS) > c->sectors) {
			c->probe[i--] = c->probe[--c->probes];
			continue;
		}
		c->probe[i].asked++;
		return true;
	}
	return false;
}

/* The next block of descriptors. One behind the volume's end would never be learned: give it up. */
static u64 want_layout(const struct volume *v)
{
	struct layout *l = &v->ext->layout;
	u64 block = layout_want(l, &v->ext->geo);

	if (!block || (block + 1) * block_sectors(v) <= v->sectors)
		return block;
	layout_learn(l, &v->ext->geo, block, NULL);
	return 0;
}

/* What the walk through one volume's directories is to know. */
struct choice_of {
	const struct classify_choice *choice;
	u64 start;
};

static bool suffix_of(void *ctx, const char *name, u32 len)
{
	const struct choice_of *of = ctx;

	return of->choice->suffix(of->choice->ctx, name, len);
}

static u32 next_dir_of(void *ctx, u32 after)
{
	const struct choice_of *of = ctx;

	return of->choice->next_dir(of->choice->ctx, of->start, after);
}

static struct ext_names_choice choice_in(const struct classifier *c, struct choice_of *of)
{
	return (struct ext_names_choice) {
		.suffix = suffix_of,
		.next_dir = next_dir_of,
		.ctx = of,
		.everywhere = c->by_suffix,
	};
}

/* Names are read while inodes wait for them, and none is looked at with what is known. */
static u64 want_names(struct classifier *c, const struct volume *v)
{
	struct choice_of of = { &c->choice, v->start };
	struct ext_names_choice choice = choice_in(c, &of);

	if (v->fs != VOLUME_EXT || !v->ext->names.wanted || ext_names_ready(v->ext) ||
	    !assoc_waits(&c->assoc, slot_of(c, v->ext), v->ext))
		return 0;
	return ext_names_want(v->ext, &choice);
}

static void learn_names(struct classifier *c, const struct volume *v, const void *content)
{
	struct choice_of of = { &c->choice, v->start };
	struct ext_names_choice choice = choice_in(c, &of);

	ext_names_learn(v->ext, &choice, content);
}

static bool want_table(struct classifier *c, u64 *sector, u32 *bytes)
{
	if (likely(!c->table_wanted) || c->sectors < PLACED_TABLE >> SECTOR_BITS)
		return false;
	c->table_wanted = false;
	c->reading = CLASSIFY_READS_TABLE;
	*sector = 0;
	*bytes = PLACED_TABLE;
	return true;
}

bool classifier_want(struct classifier *c, u64 *sector, u32 *bytes)
{
	unsigned int i;
	u64 block;
	u32 slot;

	c->reading = CLASSIFY_READS_LIVE;
	if (want_probe(c, sector, bytes) || want_table(c, sector, bytes))
		return true;
	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		if (v->fs != VOLUME_EXT) {
			if (selfid_want(c, v, sector, bytes))
				return true;
			continue;
		}
		block = ext_live_want(v->ext);
		c->reading = CLASSIFY_READS_LIVE;
		if (!block) {
			block = want_layout(v);
			c->reading = CLASSIFY_READS_LAYOUT;
		}
		if (!block)
			continue;
		*sector = v->start + block * block_sectors(v);
		*bytes = ext_block_size(&v->ext->geo);
		return true;
	}
	for (i = 0; c->by_name && !assoc_is_busy(&c->assoc) && i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		block = want_names(c, v);
		if (!block)
			continue;
		c->reading = CLASSIFY_READS_NAMES;
		*sector = v->start + block * block_sectors(v);
		*bytes = ext_block_size(&v->ext->geo);
		return true;
	}
	if (assoc_want(&c->assoc, &c->undecided, c->volumes.ext, &slot, &block)) {
		const struct volume *v = volume_of(c, slot);

		c->reading = CLASSIFY_READS_ASSOC;
		*sector = v->start + block * block_sectors(v);
		*bytes = ext_block_size(&v->ext->geo);
		return true;
	}
	return false;
}

/* A superblock written since is newer than what was read. */
static struct volume *found(struct classifier *c, u64 start, unsigned int look, const u8 *content)
{
	struct volume *v = volume_at(&c->volumes, start);
	enum volume_fs fs = selfid_peek(content);
	__le16 magic;

	if (v)
		return v;
	if (look)
		return fs == VOLUME_BTRFS ?
		       selfid_super(c, fs, start, content, CLASSIFIER_BLOCK) : NULL;
	if (fs == VOLUME_XFS)
		return selfid_super(c, fs, start, content, CLASSIFIER_BLOCK);
	memcpy(&magic, content + EXT_SUPER_OFFSET + EXT_MAGIC_OFFSET, sizeof(magic));
	if (le16_to_cpu(magic) != EXT_MAGIC)
		return NULL;
	return learn_super(c, start, content + EXT_SUPER_OFFSET, false);
}

static bool learn_probe(struct classifier *c, u64 sector, const void *content)
{
	unsigned int i;

	for (i = 0; i < c->probes; i++) {
		enum volume_state state = c->probe[i].state;
		u64 start = c->probe[i].start;
		unsigned int look = c->probe[i].asked - 1;
		struct volume *v = NULL;

		if (!c->probe[i].asked || probe_sector(start, look) != sector)
			continue;
		if (content)
			v = found(c, start, look, content);
		if (v || look == CLASSIFIER_LOOKS - 1)
			c->probe[i] = c->probe[--c->probes];
		if (v && !c->by_super)
			state_is_told(c, v, state);
		return true;
	}
	return false;
}

void classifier_learn(struct classifier *c, u64 sector, const void *content)
{
	struct btrfs_live *reader = c->reader;
	struct volume *v;
	u64 next, offset, block;

	c->pending = true;
	if (c->reading == CLASSIFY_READS_TABLE) {
		c->reading = CLASSIFY_READS_LIVE;
		if (content)
			volume_table_read(&c->volumes, content);
		return;
	}
	if (learn_probe(c, sector, content))
		return;
	if (reader && sector == c->reader_sector) {
		c->reader = NULL;
		btrfs_live_learn(reader, content);
		return;
	}
	if (c->reading == CLASSIFY_READS_ASSOC) {
		assoc_learn(&c->assoc, &c->undecided, c->volumes.ext, content);
		return;
	}
	v = volume_find(&c->volumes, sector, &next);
	if (!v)
		return;
	if (v->fs != VOLUME_EXT) {
		selfid_learn(c, v, sector, content);
		return;
	}
	offset = sector - v->start;
	if (offset & (block_sectors(v) - 1))
		return;
	block = offset >> (v->ext->geo.block_bits - SECTOR_BITS);
	if (c->reading == CLASSIFY_READS_NAMES)
		learn_names(c, v, content);
	else if (c->reading == CLASSIFY_READS_LAYOUT)
		layout_learn(&v->ext->layout, &v->ext->geo, block, content);
	else
		ext_live_learn(v->ext, block, content);
}

u64 classifier_named(const struct classifier *c, bool *full)
{
	u64 chosen = 0;
	unsigned int i;

	*full = false;
	for (i = 0; i < c->volumes.nr; i++) {
		const struct volume *v = &c->volumes.volume[i];

		if (v->fs != VOLUME_EXT || !v->ext->names.wanted)
			continue;
		chosen += v->ext->names.chosen;
		*full |= v->ext->names.full;
	}
	return chosen;
}

size_t classifier_bytes(const struct classifier *c)
{
	size_t bytes = undecided_bytes(&c->undecided) + assoc_bytes(&c->assoc);
	unsigned int i;

	for (i = 0; i < VOLUMES_MAX; i++) {
		const struct btrfs_live *b = c->volumes.btrfs[i];

		bytes += ext_live_bytes(&c->volumes.ext[i]);
		bytes += b ? sizeof(*b) + b->bytes : 0;
		bytes += c->volumes.xfs[i] ? xfs_live_bytes(c->volumes.xfs[i]) : 0;
	}
	return bytes;
}
