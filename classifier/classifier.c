// SPDX-License-Identifier: GPL-2.0
/* Implicit classification of one disk: see classifier.h. */
#include "classifier.h"
#include "selfid-volume.h"

#define SECTOR_BITS	9
#define SUPER_SECTOR	(EXT_SUPER_OFFSET >> SECTOR_BITS)
#define SUPER_SECTORS	(EXT_SUPER_SIZE >> SECTOR_BITS)

static const char * const reason_names[CLASSIFY_REASONS] = {
	[CLASSIFY_NO_VOLUME] = "no-volume",
	[CLASSIFY_UNMOUNTED] = "unmounted",
	[CLASSIFY_LEARNING] = "learning",
	[CLASSIFY_UNSAFE] = "unsafe",
	[CLASSIFY_UNJOURNALED] = "unjournaled",
	[CLASSIFY_STATIC] = "static",
	[CLASSIFY_JOURNAL] = "journal",
	[CLASSIFY_LOGGED] = "logged",
	[CLASSIFY_UNLOGGED] = "unlogged",
	[CLASSIFY_NAMED] = "named",
	[CLASSIFY_PART] = "part",
	[CLASSIFY_UNNAMED] = "unnamed",
};

static const enum verdict says[CLASSIFY_REASONS] = {
	[CLASSIFY_NO_VOLUME] = VERDICT_KEEP,
	[CLASSIFY_UNMOUNTED] = VERDICT_KEEP,
	[CLASSIFY_LEARNING] = VERDICT_KEEP,
	[CLASSIFY_UNSAFE] = VERDICT_KEEP,
	[CLASSIFY_UNJOURNALED] = VERDICT_KEEP,
	[CLASSIFY_STATIC] = VERDICT_KEEP,
	[CLASSIFY_JOURNAL] = VERDICT_KEEP,
	[CLASSIFY_LOGGED] = VERDICT_KEEP,
	[CLASSIFY_UNLOGGED] = VERDICT_SQUASH,
	[CLASSIFY_NAMED] = VERDICT_KEEP,
	[CLASSIFY_PART] = VERDICT_KEEP,
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
}

void classifier_destroy(struct classifier *c, void (*release)(const void *))
{
	unsigned int i;

	for (i = 0; i < VOLUMES_MAX; i++) {
		struct ext_live *e = &c->volumes.ext[i];

		release(e->entry);
		release(e->jbd2.pending);
		release(e->jbd2.set.slot);
		if (c->volumes.btrfs[i])
			release(c->volumes.btrfs[i]->memory);
		release(c->volumes.btrfs[i]);
		release(c->volumes.xfs[i]);
	}
	memset(c, 0, sizeof(*c));
}

static u32 block_sectors(const struct volume *v)
{
	return 1u << (v->ext->geo.block_bits - SECTOR_BITS);
}

static enum volume_state super_state(const struct ext_geo *geo)
{
	return geo->journal_ino && geo->incompat & EXT_INCOMPAT_RECOVER ? VOLUME_MOUNTED :
									   VOLUME_UNMOUNTED;
}

/* The superblock at @super stands for a volume at sector @start. NULL if it makes no sense. */
static struct volume *learn_super(struct classifier *c, u64 start, const void *super)
{
	struct ext_geo geo;
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
		ext_live_super(v->ext, &geo);
		if (c->by_super)
			v->state = super_state(&geo);
		volume_resize(&c->volumes, v, sectors);
		return volume_at(&c->volumes, start);
	}
	v = volume_add(&c->volumes, VOLUME_EXT, start, sectors);
	if (!v)
		return NULL;
	ext_live_init(v->ext, &geo, (c->sectors - start) >> (geo.block_bits - SECTOR_BITS));
	if (c->by_super)
		v->state = super_state(&geo);
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
	learn_super(c, at - SUPER_SECTOR, c->block);
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

/* Superblocks that begin in the @n sectors from @pos on, of volumes not known so far. */
static void scan(struct classifier *c, const struct classify_write *w, u32 pos, u32 n)
{
	u8 head[SELFID_PEEK_BYTES];
	u32 i;

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
		now = learn_super(c, start, c->block);
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

/* The whole block of the file system at @pos, or NULL if the write is only of a part. */
static const void *content(struct classifier *c, const struct volume *v,
			   const struct classify_write *w, u32 pos, u32 part, u32 n)
{
	if (part || n != block_sectors(v))
		return NULL;
	get(w, pos, n, c->block);
	return c->block;
}

static void note_work(struct classifier *c, const struct ext_live *e)
{
	if ((e->want && !e->asked) || ext_live_memory(e, c->log_limit))
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
	ext_live_journal_write(v->ext, logical, content(c, v, w, pos, part, n));
	note_work(c, v->ext);
}

static enum classify_reason mounted(const struct volume *v, u64 block)
{
	const struct ext_live *e = v->ext;

	if (ext_fixed_kind(&e->geo, block) != EXT_DATA)
		return CLASSIFY_STATIC;
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
	return jbd2_has(&e->jbd2, block) ? CLASSIFY_LOGGED : CLASSIFY_UNLOGGED;
}

static enum classify_reason in_volume(struct classifier *c, struct volume *v,
				      const struct classify_write *w, u32 pos, u32 *len)
{
	u64 offset = w->sector + pos - v->start;
	u32 size = block_sectors(v);
	u64 block = offset >> (v->ext->geo.block_bits - SECTOR_BITS);
	u32 part = offset & (size - 1);
	u32 n = min(size - part, w->sectors - pos);
	u32 logical;

	*len = n;
	if (unlikely(offset < SUPER_SECTOR + SUPER_SECTORS && offset + n > SUPER_SECTOR)) {
		if (v->state != VOLUME_MOUNTED)
			scan(c, w, pos, n);
		/* The scan may have ended it. */
		v = volume_at(&c->volumes, w->sector + pos - offset);
		if (v && v->fs == VOLUME_EXT && !own_super(c, v, w))
			scan(c, w, pos, n);
		return CLASSIFY_STATIC;
	}
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
		return mounted(v, block);
	}
	ext_live_write(v->ext, block, content(c, v, w, pos, part, n));
	note_work(c, v->ext);
	scan(c, w, pos, n);
	return CLASSIFY_UNMOUNTED;
}

enum verdict classifier_write(struct classifier *c, const struct classify_write *w, u32 pos,
			      u32 *len, enum classify_reason *reason)
{
	u64 next, sector = w->sector + pos;
	struct volume *v = volume_find(&c->volumes, sector, &next);

	if (v && v->fs != VOLUME_EXT && !selfid_outlasts(c, v, w, pos))
		v = volume_find(&c->volumes, sector, &next);
	if (v && v->fs != VOLUME_EXT) {
		*reason = selfid_write(c, v, w, pos, len);
	} else if (v) {
		*reason = in_volume(c, v, w, pos, len);
	} else {
		*len = min_t(u64, w->sectors - pos, next - sector);
		/* What begins here may end further on: look at no more than that at once. */
		*len = min_t(u32, *len, CLASSIFIER_BLOCK >> SECTOR_BITS);
		scan(c, w, pos, *len);
		*reason = CLASSIFY_NO_VOLUME;
	}
	c->count[*reason] += *len;
	return says[*reason];
}

/* No file system discards its own superblock or its journal's inode. */
static bool ext_discarded(const struct volume *v, u64 sector, u64 sectors)
{
	u64 super = v->start + SUPER_SECTOR;
	u64 inode = v->start + v->ext->inode_block * block_sectors(v);

	return (sector < super + SUPER_SECTORS && super < sector + sectors) ||
	       (v->ext->inode_block && sector <= inode && inode < sector + sectors);
}

void classifier_discard(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i = 0;

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

void classifier_looked(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i;

	for (i = 0; c->by_super && i < c->volumes.nr; i++)
		if (c->volumes.volume[i].fs != VOLUME_EXT)
			selfid_looked(&c->volumes.volume[i], sector, sectors);
}

void classifier_mount(struct classifier *c, u64 start, enum volume_state state)
{
	struct volume *v = volume_at(&c->volumes, start);
	unsigned int i;

	if (v) {
		v->state = state;
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

static struct volume *wants_memory(struct classifier *c, size_t *bytes)
{
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		*bytes = v->fs == VOLUME_EXT ? ext_live_memory(v->ext, c->log_limit) :
					       selfid_memory(v);
		if (*bytes)
			return v;
	}
	*bytes = 0;
	return NULL;
}

size_t classifier_memory(struct classifier *c)
{
	size_t bytes;

	/* The worker is here; what comes up from now on wants it again. */
	c->pending = false;
	wants_memory(c, &bytes);
	return bytes;
}

void *classifier_give(struct classifier *c, void *memory, size_t bytes)
{
	size_t wanted;
	struct volume *v = wants_memory(c, &wanted);

	if (!v || wanted != bytes)
		return memory;
	if (v->fs != VOLUME_EXT)
		return selfid_give(&c->volumes, v, memory, bytes);
	return ext_live_give(v->ext, memory, bytes);
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

bool classifier_want(struct classifier *c, u64 *sector, u32 *bytes)
{
	unsigned int i;

	if (want_probe(c, sector, bytes))
		return true;
	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];
		u64 block;

		if (v->fs != VOLUME_EXT) {
			if (selfid_want(c, v, sector, bytes))
				return true;
			continue;
		}
		block = ext_live_want(v->ext);
		if (!block)
			continue;
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
	return learn_super(c, start, content + EXT_SUPER_OFFSET);
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
			v->state = state;
		return true;
	}
	return false;
}

void classifier_learn(struct classifier *c, u64 sector, const void *content)
{
	struct btrfs_live *reader = c->reader;
	struct volume *v;
	u64 next, offset;

	c->pending = true;
	if (learn_probe(c, sector, content))
		return;
	if (reader && sector == c->reader_sector) {
		c->reader = NULL;
		btrfs_live_learn(reader, content);
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
	ext_live_learn(v->ext, offset >> (v->ext->geo.block_bits - SECTOR_BITS), content);
}

size_t classifier_bytes(const struct classifier *c)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < VOLUMES_MAX; i++) {
		const struct btrfs_live *b = c->volumes.btrfs[i];

		bytes += ext_live_bytes(&c->volumes.ext[i]);
		bytes += b ? sizeof(*b) + b->bytes : 0;
		bytes += c->volumes.xfs[i] ? sizeof(struct xfs_live) : 0;
	}
	return bytes;
}
