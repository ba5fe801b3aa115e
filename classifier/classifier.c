// SPDX-License-Identifier: GPL-2.0
/* Implicit classification of one disk: see classifier.h. */
#include "logset.h"
#include "volume-ops.h"

#define VOLUME_KIND(name) \
	[name##_volume_kind] = &name##_volume_ops,
const struct volume_ops *const volume_ops[VOLUME_KINDS] = {
#include "volume-kinds.h"
};

#undef VOLUME_KIND

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
	[REASON_COMPRESSED] = "packed",
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
	[REASON_COMPRESSED] = VERDICT_KEEP,
	[REASON_UNNAMED] = VERDICT_SQUASH,
};

const char *classify_reason_name(enum classify_reason reason)
{
	return reason < REASON_NR ? reason_names[reason] : "unknown";
}

size_t classifier_shared_bytes(void)
{
	unsigned int kind;
	size_t bytes = 0;

	for (kind = 0; kind < VOLUME_KINDS; kind++)
		bytes += volume_ops[kind]->shared_bytes;
	return bytes;
}

/* Each kind gets its part of @shared. The first part begins where @shared does, if it is not 0. */
static void init_kinds(struct classifier *c, void *shared)
{
	unsigned int kind;

	c->shared = shared;
	for (kind = 0; kind < VOLUME_KINDS; kind++) {
		c->volumes.shared[kind] = shared;
		shared += volume_ops[kind]->shared_bytes;
		if (volume_ops[kind]->init)
			volume_ops[kind]->init(c);
	}
}

void classifier_init(struct classifier *c, void *shared, u64 sectors, size_t log_limit)
{
	memset(c, 0, sizeof(*c));
	c->sectors = sectors;
	c->last_start = U64_MAX;
	c->log_limit = max_t(size_t, log_limit, LOGSET_MIN_BYTES);
	undecided_init(&c->undecided, 0);
	init_kinds(c, shared);
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
	unsigned int kind, slot;

	for (kind = 0; kind < VOLUME_KINDS; kind++) {
		const struct volume_ops *ops = volume_ops[kind];

		for (slot = 0; slot < VOLUMES_MAX; slot++)
			ops->destroy(c->volumes.live[kind][slot], release);
		if (ops->destroy_shared)
			ops->destroy_shared(c, release);
	}
	release(c->undecided.chunk);
	release(c->shared);
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

static bool super_has_magic(const struct volume_ops *ops, const u8 *super)
{
	return unlikely(!memcmp(super + ops->magic_offset, ops->magic, ops->magic_bytes));
}

/* Sector @i of @w, which begins with @head, may be the first of a superblock. */
static void scan_sector(struct classifier *c, const struct classify_write *w, u32 i, const u8 *head)
{
	u32 n = min_t(u32, w->sectors - i, VOLUME_SUPER_SECTORS);
	u64 at = w->sector + i;
	unsigned int kind;

	for (kind = 0; kind < VOLUME_KINDS; kind++) {
		const struct volume_ops *ops = volume_ops[kind];

		if (!super_has_magic(ops, head) || at < ops->super_sector ||
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
static enum classify_reason unproved_reason(struct classifier *c, const struct classify_write *w,
					    u32 pos, u32 *len, u64 proved,
					    enum classify_reason reason)
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
			*reason = unproved_reason(c, w, pos, len, proved, *reason);
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
	unsigned int kind;

	if (!undecided_any(&c->undecided))
		return;
	for (kind = 0; kind < VOLUME_KINDS; kind++)
		if (volume_ops[kind]->again)
			volume_ops[kind]->again(c);
	c->pending = true;
}

void classifier_choose(struct classifier *c, const struct classify_choice *choice)
{
	unsigned int kind;

	c->choice = *choice;
	for (kind = 0; kind < VOLUME_KINDS; kind++)
		if (volume_ops[kind]->choose)
			volume_ops[kind]->choose(c);
}

void classifier_chosen_more(struct classifier *c)
{
	unsigned int kind;

	for (kind = 0; kind < VOLUME_KINDS; kind++)
		if (volume_ops[kind]->chosen_more)
			volume_ops[kind]->chosen_more(c);
	c->pending = true;
}

void classifier_chosen_anew(struct classifier *c)
{
	u32 slot;

	for (slot = 0; slot < VOLUME_SLOTS; slot++)
		undecided_forget(&c->undecided, slot);
	classifier_chosen_more(c);
}

u64 classifier_named(const struct classifier *c, bool *full)
{
	u64 chosen = 0;
	unsigned int i;

	*full = false;
	for (i = 0; i < c->volumes.nr; i++) {
		const struct volume *v = &c->volumes.volume[i];

		if (ops_of(v)->named)
			chosen += ops_of(v)->named(v, full);
	}
	return chosen;
}

/* The next memory to give: for a volume, for what a kind's volumes share, or for c->undecided. */
struct memory_want {
	size_t bytes;
	struct volume *v;		/* or NULL */
	const struct volume_ops *shared;	/* that kind, or NULL */
};

/* Memory for what volumes share, of a kind of which there is one. */
static size_t shared_wants_memory(struct classifier *c, const struct volume_ops **ops)
{
	unsigned int i;
	size_t bytes;

	for (i = 0; i < c->volumes.nr; i++) {
		*ops = ops_of(&c->volumes.volume[i]);
		bytes = (*ops)->memory_shared ? (*ops)->memory_shared(c) : 0;
		if (bytes)
			return bytes;
	}
	*ops = NULL;
	return 0;
}

static struct memory_want wants_memory(struct classifier *c)
{
	struct memory_want want = { };
	unsigned int i;

	for (i = 0; i < c->volumes.nr; i++) {
		want.v = &c->volumes.volume[i];
		want.bytes = ops_of(want.v)->memory(c, want.v);
		if (want.bytes)
			return want;
	}
	want.v = NULL;
	want.bytes = undecided_memory(&c->undecided);
	if (!want.bytes)
		want.bytes = shared_wants_memory(c, &want.shared);
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
	if (want.shared)
		want.shared->give_shared(c, memory);
	else
		undecided_give(&c->undecided, memory, bytes);
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

/*
 * A probe reads each block in which a kind has its superblock, from left to right. Returns where
 * block number @look of these begins, in sectors from the volume's start. U64_MAX: there is none.
 */
static u64 probe_offset(unsigned int look)
{
	u64 offset = 0, next, at;
	unsigned int kind;

	for (;; look--) {
		next = U64_MAX;
		for (kind = 0; kind < VOLUME_KINDS; kind++) {
			at = volume_ops[kind]->super_sector & ~(VOLUME_SUPER_SECTORS - 1);
			if (at >= offset)
				next = min(next, at);
		}
		if (!look || next == U64_MAX)
			return next;
		offset = next + 1;
	}
}

static bool want_probe(struct classifier *c, u64 *sector, u32 *bytes)
{
	unsigned int i;

	for (i = 0; i < c->probes; i++) {
		u64 offset = probe_offset(c->probe[i].asked);

		if (offset == U64_MAX)
			continue;
		*sector = c->probe[i].start + offset;
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
	unsigned int i, kind;

	c->reading = CLASSIFY_READS_VOLUME;
	if (want_probe(c, sector, bytes) || want_table(c, sector, bytes))
		return true;
	for (i = 0; i < c->volumes.nr; i++) {
		struct volume *v = &c->volumes.volume[i];

		if (ops_of(v)->want(c, v, sector, bytes))
			return true;
	}
	for (kind = 0; kind < VOLUME_KINDS; kind++) {
		const struct volume_ops *ops = volume_ops[kind];

		c->reading_kind = kind;
		if (ops->want_shared && ops->want_shared(c, sector, bytes))
			return true;
	}
	return false;
}

/* A probe has read @content. A superblock written since is newer than what was read. */
static struct volume *probe_found(struct classifier *c, u64 start, unsigned int look,
				  const u8 *content)
{
	struct volume *v = volume_at(&c->volumes, start);
	unsigned int kind = VOLUME_KINDS;

	/* The last kind first: volume-kinds.h says why. */
	while (!v && kind--) {
		const struct volume_ops *ops = volume_ops[kind];
		u64 offset = (ops->super_sector - probe_offset(look)) << SECTOR_BITS;

		if (offset < CLASSIFIER_BLOCK && super_has_magic(ops, content + offset))
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

		if (!c->probe[i].asked || start + probe_offset(look) != sector)
			continue;
		if (content)
			v = probe_found(c, start, look, content);
		if (v || probe_offset(look + 1) == U64_MAX)
			c->probe[i] = c->probe[--c->probes];
		if (v && !c->by_super)
			state_is_told(c, v, state);
		return true;
	}
	return false;
}

void classifier_learn(struct classifier *c, u64 sector, const void *content)
{
	void *live = c->reader.live;
	struct volume *v;
	u64 next;

	c->pending = true;
	if (c->reading == CLASSIFY_READS_TABLE) {
		c->reading = CLASSIFY_READS_VOLUME;
		if (content)
			volume_table_read(&c->volumes, content);
		return;
	}
	if (learn_probe(c, sector, content))
		return;
	if (live && sector == c->reader.sector) {
		c->reader.live = NULL;
		volume_ops[c->reader.kind]->learn_live(live, content);
		return;
	}
	if (c->reading == CLASSIFY_READS_SHARED) {
		volume_ops[c->reading_kind]->learn_shared(c, content);
		return;
	}
	v = volume_find(&c->volumes, sector, &next);
	if (v)
		ops_of(v)->learn(c, v, sector, content);
}

size_t classifier_bytes(const struct classifier *c)
{
	size_t bytes = undecided_bytes(&c->undecided);
	unsigned int kind, slot;

	for (kind = 0; kind < VOLUME_KINDS; kind++) {
		const struct volume_ops *ops = volume_ops[kind];

		for (slot = 0; slot < VOLUMES_MAX; slot++)
			bytes += ops->live_bytes(c->volumes.live[kind][slot]);
		if (ops->bytes_shared)
			bytes += ops->bytes_shared(c);
	}
	return bytes;
}
