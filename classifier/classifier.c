// SPDX-License-Identifier: GPL-2.0
/* Implicit classification of one disk: see classifier.h. */
#include "classifier.h"

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
};

const char *classify_reason_name(enum classify_reason reason)
{
	return reason < CLASSIFY_REASONS ? reason_names[reason] : "unknown";
}

void classifier_init(struct classifier *c, u64 sectors, size_t log_limit)
{
	memset(c, 0, sizeof(*c));
	c->sectors = sectors;
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
	}
	memset(c, 0, sizeof(*c));
}

static u32 block_sectors(const struct volume *v)
{
	return 1u << (v->ext->geo.block_bits - SECTOR_BITS);
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
	if (v && ext_same(&v->ext->geo, &geo)) {
		ext_live_super(v->ext, &geo);
		volume_resize(&c->volumes, v, sectors);
		return volume_at(&c->volumes, start);
	}
	v = volume_add_ext(&c->volumes, start, sectors);
	if (v)
		ext_live_init(v->ext, &geo, (c->sectors - start) >> (geo.block_bits - SECTOR_BITS));
	return v;
}

static void get(const struct classify_write *w, u32 sector, u32 sectors, void *to)
{
	w->copy(w->ctx, sector << SECTOR_BITS, to, sectors << SECTOR_BITS);
}

/* Superblocks that begin in the @n sectors from @pos on, of volumes not known so far. */
static void scan(struct classifier *c, const struct classify_write *w, u32 pos, u32 n)
{
	u32 i;

	for (i = pos; i < pos + n; i++) {
		u64 at = w->sector + i;
		__le16 magic;

		if (at < SUPER_SECTOR || w->sectors - i < SUPER_SECTORS)
			continue;
		w->copy(w->ctx, (i << SECTOR_BITS) + EXT_MAGIC_OFFSET, &magic, sizeof(magic));
		if (le16_to_cpu(magic) != EXT_MAGIC || volume_at(&c->volumes, at - SUPER_SECTOR))
			continue;
		get(w, i, SUPER_SECTORS, c->block);
		learn_super(c, at - SUPER_SECTOR, c->block);
	}
}

/*
 * A write that touches the sectors of the volume's own superblock. Anything
 * but the whole of a superblock of the same file system ends the volume.
 */
static void own_super(struct classifier *c, struct volume *v, const struct classify_write *w)
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
		if (now->state != state)
			now->state = VOLUME_UNKNOWN;
		return;
	}
	v = volume_at(&c->volumes, start);
	if (v)
		volume_remove(&c->volumes, v);
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
		if (v)
			own_super(c, v, w);
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

	if (v) {
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

void classifier_discard(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i = 0;

	while (i < c->volumes.nr) {
		struct volume *v = &c->volumes.volume[i];
		u64 super = v->start + SUPER_SECTOR;

		if (sector < super + SUPER_SECTORS && super < sector + sectors)
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
	c->probe[c->probes].asked = false;
	c->probes++;
	c->pending = true;
}

static struct ext_live *wants_memory(struct classifier *c, size_t *bytes)
{
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		*bytes = ext_live_memory(c->volumes.volume[i].ext, c->log_limit);
		if (*bytes)
			return c->volumes.volume[i].ext;
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
	struct ext_live *e = wants_memory(c, &wanted);

	if (!e || wanted != bytes)
		return memory;
	return ext_live_give(e, memory, bytes);
}

bool classifier_want(struct classifier *c, u64 *sector, u32 *bytes)
{
	unsigned int i;

	for (i = 0; i < c->probes; i++) {
		if (c->probe[i].asked)
			continue;
		c->probe[i].asked = true;
		*sector = c->probe[i].start + SUPER_SECTOR;
		*bytes = EXT_SUPER_SIZE;
		return true;
	}
	for (i = 0; i < c->volumes.nr; i++) {
		const struct volume *v = &c->volumes.volume[i];
		u64 block = ext_live_want(v->ext);

		if (!block)
			continue;
		*sector = v->start + block * block_sectors(v);
		*bytes = ext_block_size(&v->ext->geo);
		return true;
	}
	return false;
}

static bool learn_probe(struct classifier *c, u64 sector, const void *super)
{
	unsigned int i;

	for (i = 0; i < c->probes; i++) {
		enum volume_state state = c->probe[i].state;
		struct volume *v;

		if (!c->probe[i].asked || c->probe[i].start + SUPER_SECTOR != sector)
			continue;
		c->probe[i] = c->probe[--c->probes];
		/* A superblock written since is newer than what was read. */
		v = volume_at(&c->volumes, sector - SUPER_SECTOR);
		if (!v && super)
			v = learn_super(c, sector - SUPER_SECTOR, super);
		if (v)
			v->state = state;
		return true;
	}
	return false;
}

void classifier_learn(struct classifier *c, u64 sector, const void *content)
{
	struct volume *v;
	u64 next, offset;

	c->pending = true;
	if (learn_probe(c, sector, content))
		return;
	v = volume_find(&c->volumes, sector, &next);
	if (!v)
		return;
	offset = sector - v->start;
	if (offset & (block_sectors(v) - 1))
		return;
	ext_live_learn(v->ext, offset >> (v->ext->geo.block_bits - SECTOR_BITS), content);
}

size_t classifier_bytes(const struct classifier *c)
{
	size_t bytes = 0;
	unsigned int i;

	for (i = 0; i < VOLUMES_MAX; i++)
		bytes += ext_live_bytes(&c->volumes.ext[i]);
	return bytes;
}
