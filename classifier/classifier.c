// SPDX-License-Identifier: GPL-2.0
/* Implicit classification of one disk: see classifier.h. */
#include "ext/ext-volume.h"

const struct volume_ops *const volume_ops[VOLUME_KINDS] = {
	[VOLUME_EXT] = &ext_volume_ops,
	[VOLUME_BTRFS] = &btrfs_volume_ops,
	[VOLUME_XFS] = &xfs_volume_ops,
};

static const char * const reason_names[REASON_NR] = {
	[REASON_NO_VOLUME] = "no-volume",
	[REASON_UNMOUNTED] = "unmounted",
	[REASON_UNPLACED] = "unplaced",
	[REASON_LEARNING] = "learning",
	[REASON_UNSAFE] = "unsafe",
	[REASON_UNJOURNALED] = "unjournaled",
	[REASON_STATIC] = "static",
	[REASON_JOURNAL] = "journal",
	[REASON_LOGGED] = "logged",
	[REASON_UNLOGGED] = "unlogged",
	[REASON_LOOKS] = "looks",
	[REASON_UNDECIDED] = "undecided",
	[REASON_NAMED] = "named",
	[REASON_STORED] = "stored",
	[REASON_PART] = "part",
	[REASON_PACKED] = "packed",
	[REASON_UNNAMED] = "unnamed",
};

static const enum verdict says[REASON_NR] = {
	[REASON_NO_VOLUME] = VERDICT_KEEP,
	[REASON_UNMOUNTED] = VERDICT_KEEP,
	[REASON_UNPLACED] = VERDICT_KEEP,
	[REASON_LEARNING] = VERDICT_KEEP,
	[REASON_UNSAFE] = VERDICT_KEEP,
	[REASON_UNJOURNALED] = VERDICT_KEEP,
	[REASON_STATIC] = VERDICT_KEEP,
	[REASON_JOURNAL] = VERDICT_KEEP,
	[REASON_LOGGED] = VERDICT_KEEP,
	[REASON_UNLOGGED] = VERDICT_SQUASH,
	[REASON_LOOKS] = VERDICT_KEEP,
	[REASON_UNDECIDED] = VERDICT_UNDECIDED,
	[REASON_NAMED] = VERDICT_KEEP,
	[REASON_STORED] = VERDICT_KEEP,
	[REASON_PART] = VERDICT_KEEP,
	[REASON_PACKED] = VERDICT_KEEP,
	[REASON_UNNAMED] = VERDICT_SQUASH,
};

const char *classify_reason_name(enum classify_reason reason)
{
	return reason < REASON_NR ? reason_names[reason] : "unknown";
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

bool classifier_early(const struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		const struct volume *v = &c->volumes.volume[i];

		if (ops_of(v)->early && sectors_overlap(sector, sectors, v->start, v->sectors) &&
		    ops_of(v)->early(c, v, sector, sectors))
			return true;
	}
	return false;
}

void classifier_flush(struct classifier *c)
{
	unsigned int i;

	c->flushes++;
	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		if (ops_of(v)->flush)
			ops_of(v)->flush(v);
	}
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

void classifier_destroy(struct classifier *c, void (*release)(const void *))
{
	unsigned int fs, slot;

	for (fs = 0; fs < VOLUME_KINDS; fs++)
		for (slot = 0; slot < VOLUMES_MAX; slot++)
			volume_ops[fs]->destroy(c->volumes.live[fs][slot], release);
	release(c->undecided.chunk);
	release(c->assoc.inodes);
	memset(c, 0, sizeof(*c));
}

/* Zeros are written where nothing is mounted: mkfs may be at work. */
static void look_for_zeros(struct classifier *c, const struct classify_write *w, u32 pos, u32 n)
{
	u64 first;

	w->copy(w->ctx, pos << SECTOR_BITS, &first, sizeof(first));
	if (first || n > CLASSIFIER_BLOCK >> SECTOR_BITS)
		return;
	write_copy(w, pos, n, c->block);
	if (!memcmp(c->block, c->block + 1, (n << SECTOR_BITS) - sizeof(first)))
		volume_cleared(&c->volumes, w->sector + pos, n);
}

static bool has_magic(const struct volume_ops *ops, const u8 *super)
{
	return unlikely(!memcmp(super + ops->magic_offset, ops->magic, ops->magic_bytes));
}

/* Sector @i of @w, which begins with @head, may be the first of a superblock. */
static void scan_sector(struct classifier *c, const struct classify_write *w, u32 i, const u8 *head)
{
	u32 n = min_t(u32, w->sectors - i, VOLUME_SUPER_SECTORS);
	u64 at = w->sector + i;
	unsigned int fs;

	for (fs = 0; fs < VOLUME_KINDS; fs++) {
		const struct volume_ops *ops = volume_ops[fs];

		if (!has_magic(ops, head) || at < ops->super_sector ||
		    at - ops->super_sector > c->last_start)
			continue;
		write_copy(w, i, n, c->block);
		ops->super(c, at - ops->super_sector, c->block, n << SECTOR_BITS, w->fua);
	}
}

void scan_for_supers(struct classifier *c, const struct classify_write *w, u32 pos, u32 n)
{
	u8 head[VOLUME_HEAD_BYTES];
	u32 i;

	if (c->strict)
		look_for_zeros(c, w, pos, n);
	for (i = pos; i < pos + n; i++) {
		w->copy(w->ctx, i << SECTOR_BITS, head, sizeof(head));
		scan_sector(c, w, i, head);
	}
}

/* A verdict to squash counts only in front of @proved. Returns the reason that then holds. */
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
	scan_for_supers(c, w, pos, *len);
	return REASON_UNPLACED;
}

enum verdict classifier_write(struct classifier *c, const struct classify_write *w, u32 pos,
			      u32 *len, enum classify_reason *reason)
{
	u64 next, proved, sector = w->sector + pos;
	struct volume *v = volume_find(&c->volumes, sector, &next);

	if (v && ops_of(v)->outlasts && !ops_of(v)->outlasts(c, v, w, pos))
		v = volume_find(&c->volumes, sector, &next);
	if (v) {
		proved = v->start + volume_believed(v);
		*reason = ops_of(v)->write(c, v, w, pos, len);
		if (unlikely(sector + *len > proved))
			*reason = unproved(c, w, pos, len, proved, *reason);
	} else {
		*len = min_t(u64, w->sectors - pos, next - sector);
		/* A superblock that begins here may end this volume: go on in small steps. */
		*len = min_t(u32, *len, CLASSIFIER_BLOCK >> SECTOR_BITS);
		scan_for_supers(c, w, pos, *len);
		*reason = REASON_NO_VOLUME;
	}
	/* A block that no inode decides about may belong to a chosen file. */
	if (unlikely(c->by_inode) && says[*reason] == VERDICT_SQUASH)
		*reason = REASON_UNDECIDED;
	c->count[*reason] += *len;
	return says[*reason];
}

enum classify_sums classifier_sums(struct classifier *c, u64 sector)
{
	u64 next;
	const struct volume *v = volume_find(&c->volumes, sector, &next);

	return v && ops_of(v)->sums ? ops_of(v)->sums(v) : CLASSIFY_SUMS_NONE;
}

u64 classifier_volume(struct classifier *c, u64 sector)
{
	u64 next;
	const struct volume *v = volume_find(&c->volumes, sector, &next);

	return v ? v->start : sector;
}

bool undecided_blocks(const struct volume *v, u64 sector, u64 sectors, u64 *block, u64 *len)
{
	u64 from = max(sector, v->start), end = min(sector + sectors, v->start + v->sectors);
	u32 shift;

	if (!ops_of(v)->undecided_shift || from >= end)
		return false;
	shift = ops_of(v)->undecided_shift(v);
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

		if (undecided_blocks(v, sector, sectors, &block, &len))
			undecided_remove(&c->undecided, volume_slot(v), block, len);
	}
}

void classifier_discard(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i = 0;

	classifier_kept(c, sector, sectors);
	volume_cleared(&c->volumes, sector, sectors);
	while (i < c->volumes.nr) {
		struct volume *v = &c->volumes.volume[i];

		if (ops_of(v)->discarded(v, sector, sectors))
			volume_remove(&c->volumes, v);
		else
			i++;
	}
}

void classifier_looked(struct classifier *c, u64 sector, u64 sectors)
{
	unsigned int i;

	for (i = 0; c->by_super && i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		ops_of(v)->looked(v, sector, sectors);
	}
}

/* The caller has reported the mount state. */
static void state_is_told(struct classifier *c, struct volume *v, enum volume_state state)
{
	v->state = state;
	volume_state_is_set(c, v);
	if (ops_of(v)->state_told)
		ops_of(v)->state_told(c, v);
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

/* The next memory to give: for a volume, or for one of the tables that all volumes share. */
struct memory_want {
	size_t bytes;
	struct volume *v;	/* NULL: one of those */
};

static struct memory_want wants_memory(struct classifier *c)
{
	struct memory_want want = { };
	bool inodes = false;
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		want.v = &c->volumes.volume[i];
		inodes |= ops_of(want.v)->has_inodes;
		want.bytes = ops_of(want.v)->memory(c, want.v);
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
	/* The worker is running. New work from now on sets it again. */
	c->pending = false;
	return wants_memory(c).bytes;
}

void *classifier_give(struct classifier *c, void *memory, size_t bytes)
{
	struct memory_want want = wants_memory(c);

	if (!want.bytes || want.bytes != bytes)
		return memory;
	if (want.v)
		return ops_of(want.v)->give(c, want.v, memory, bytes);
	if (undecided_memory(&c->undecided))
		undecided_give(&c->undecided, memory, bytes);
	else
		assoc_give(&c->assoc, memory);
	return NULL;
}

bool classifier_claim(struct classifier *c, u64 *sector, u32 *sectors)
{
	struct volume *v;
	u32 slot, len, i, shift;
	bool more = false;
	u64 block;

	for (i = 0; i < c->volumes.nr; i++) {
		v = &c->volumes.volume[i];
		if (ops_of(v)->judge)
			more |= ops_of(v)->judge(c, v);
	}
	while (undecided_take(&c->undecided, &slot, &block, &len)) {
		v = volume_of_slot(&c->volumes, slot);
		if (!v) {
			undecided_forget(&c->undecided, slot);
			continue;
		}
		shift = ops_of(v)->undecided_shift(v);
		*sector = v->start + (block << shift);
		*sectors = len << shift;
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
	       undecided_blocks(v, sector, sectors, &block, &len) &&
	       undecided_is_data(&c->undecided, volume_slot(v), block, len);
}

void classifier_done(struct classifier *c, u64 sector, u32 sectors)
{
	u64 next, block, len;
	struct volume *v = volume_find(&c->volumes, sector, &next);

	if (v && undecided_blocks(v, sector, sectors, &block, &len))
		undecided_done(&c->undecided, volume_slot(v), block, len);
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
		/* The disk is too small for that superblock. */
		if (*sector + (CLASSIFIER_BLOCK >> SECTOR_BITS) > c->sectors) {
			c->probe[i--] = c->probe[--c->probes];
			continue;
		}
		c->probe[i].asked++;
		return true;
	}
	return false;
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

		if (ops_of(v)->want(c, v, sector, bytes))
			return true;
	}
	if (ext_chosen_want(c, sector, bytes))
		return true;
	if (!assoc_want(&c->assoc, &c->undecided, c->volumes.ext, &slot, &block))
		return false;
	c->reading = CLASSIFY_READS_ASSOC;
	ext_block_at(volume_of_slot(&c->volumes, slot), block, sector, bytes);
	return true;
}

/* A probe has read @content. A superblock written since is newer than what was read. */
static struct volume *probe_found(struct classifier *c, u64 start, unsigned int look,
				  const u8 *content)
{
	struct volume *v = volume_at(&c->volumes, start);
	unsigned int fs = VOLUME_KINDS;

	/* xfs before ext, whose superblock does not begin the volume. */
	while (!v && fs--) {
		const struct volume_ops *ops = volume_ops[fs];
		u64 offset = (start + ops->super_sector - probe_sector(start, look)) << SECTOR_BITS;

		if (offset < CLASSIFIER_BLOCK && has_magic(ops, content + offset))
			return ops->super(c, start, content + offset, CLASSIFIER_BLOCK - offset,
					  false);
	}
	return v;
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
			v = probe_found(c, start, look, content);
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
	u64 next;

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
	if (v)
		ops_of(v)->learn(c, v, sector, content);
}

size_t classifier_bytes(const struct classifier *c)
{
	size_t bytes = undecided_bytes(&c->undecided) + assoc_bytes(&c->assoc);
	unsigned int fs, slot;

	for (fs = 0; fs < VOLUME_KINDS; fs++)
		for (slot = 0; slot < VOLUMES_MAX; slot++)
			bytes += volume_ops[fs]->live_bytes(c->volumes.live[fs][slot]);
	return bytes;
}
