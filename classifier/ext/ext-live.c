// SPDX-License-Identifier: GPL-2.0
/*
 * One ext volume in use: see ext-live.h.
 *
 * Learning goes through the stages in order. If something is wrong, it ends in EXT_KEEP. It starts
 * again when a block is written that it has looked at, as mke2fs writes a superblock long before
 * the rest.
 */
#include "ext-live.h"

#define MAX_BLOCK_BITS	12
#define MAP_MIN_BYTES	8192
#define MAP_MAX_BYTES	1048576

static void ext_live_give_up(struct ext_live *e, const char *wrong)
{
	e->stage = EXT_KEEP;
	e->wrong = wrong;
	e->want = 0;
}

static void ext_live_need(struct ext_live *e, enum ext_stage stage, u64 block)
{
	e->stage = stage;
	e->want = block;
}

/* Forget what was learned, and start to learn again. */
static void ext_live_restart(struct ext_live *e)
{
	const struct ext_geo *geo = &e->geo;
	u32 group;

	/* Ignore the result of a read in flight. */
	e->stale = e->asked;
	e->wrong = NULL;
	e->want = 0;
	e->group_block = 0;
	e->inode_block = 0;
	e->runs = 0;
	e->nodes = 0;
	e->next_node = 0;
	e->mapped = false;
	e->overflow = false;
	e->jbd2.known = false;
	jbd2_missed(&e->jbd2);
	ext_names_forget(&e->names);

	if (geo->block_bits > MAX_BLOCK_BITS)
		return ext_live_give_up(e, "blocks larger than 4096 bytes");
	if (!(geo->compat & EXT_COMPAT_HAS_JOURNAL))
		return ext_live_give_up(e, "no journal");
	if (!geo->journal_ino)
		return ext_live_give_up(e, "the journal is on another device");
	if (geo->journal_ino > geo->inodes)
		return ext_live_give_up(e, "the journal's inode is beyond the last");
	group = (geo->journal_ino - 1) / geo->inodes_per_group;
	if (group >= geo->groups)
		return ext_live_give_up(e, "the journal's inode is beyond the last group");
	e->group_block = ext_gdt_block(geo, group >> geo->desc_bits);
	ext_live_need(e, EXT_NEED_GROUP, e->group_block);
}

static void set_association(struct ext_live *e)
{
	const struct ext_geo *geo = &e->geo;

	e->association = ASSOC_NODES_TOO;
	/* Merkle trees have no form. With a journal, the log names the files that have one. */
	if (geo->ro_compat & EXT_RO_COMPAT_VERITY)
		e->association = ext_live_plain(e) ? ASSOC_NOTHING : ASSOC_INODES;
	/* Values of attributes, encrypted links and metadata of unknown features have no form. */
	if (geo->incompat & ~EXT_INCOMPAT_KNOWN || geo->ro_compat & ~EXT_RO_COMPAT_KNOWN ||
	    geo->block_bits > MAX_BLOCK_BITS)
		e->association = ASSOC_NOTHING;
}

void ext_live_init(struct ext_live *e, const struct ext_geo *geo, u64 most_blocks)
{
	e->geo = *geo;
	e->errors = 0;
	e->ordered = false;
	e->stranger = true;
	e->waits = false;
	trust_reset(&e->trust);
	e->layout.needed = false;
	ext_layout_forget(&e->layout);
	e->backups.found = false;
	ext_backups_look(&e->backups, geo);
	set_association(e);
	jbd2_init(&e->jbd2, most_blocks, ext_block_size(geo));
	ext_live_restart(e);
}

/* Are the fields the same on which learning depends? */
static bool same_journal(const struct ext_geo *a, const struct ext_geo *b)
{
	const u32 compat = EXT_COMPAT_HAS_JOURNAL | EXT_COMPAT_SPARSE_SUPER2;
	const u32 incompat = EXT_INCOMPAT_64BIT | EXT_INCOMPAT_META_BG;

	return a->journal_ino == b->journal_ino && a->desc_size == b->desc_size &&
	       !((a->compat ^ b->compat) & compat) && !((a->incompat ^ b->incompat) & incompat) &&
	       !((a->ro_compat ^ b->ro_compat) & EXT_RO_COMPAT_VERITY) &&
	       a->meta_bg_from == b->meta_bg_from;
}

void ext_live_super(struct ext_live *e, const struct ext_geo *geo)
{
	bool same = same_journal(&e->geo, geo);

	/* Only the driver counts mounts, and it does so first. */
	if ((u16)(e->geo.mounts + 1) == geo->mounts) {
		e->ordered = false;
		e->stranger = false;
	}
	if (e->geo.blocks != geo->blocks || !same)
		ext_layout_forget(&e->layout);
	if (e->geo.blocks != geo->blocks)
		e->backups.found = false;
	if (!e->backups.found)
		ext_backups_look(&e->backups, geo);
	e->geo = *geo;
	set_association(e);
	if (!same)
		ext_live_restart(e);
}

/* Shell's sort, by start: in place, without recursion, and quick enough for what it gets. */
static void ext_live_sort(struct ext_journal_entry *a, u32 n)
{
	u32 gap = 1, i, j;

	while (gap < n / 3)
		gap = 3 * gap + 1;
	for (; gap; gap /= 3) {
		for (i = gap; i < n; i++) {
			struct ext_journal_entry moved = a[i];

			for (j = i; j >= gap && a[j - gap].start > moved.start; j -= gap)
				a[j] = a[j - gap];
			a[j] = moved;
		}
	}
}

/* The last entry that begins at or before @block, or NULL. */
static const struct ext_journal_entry *
last_before(const struct ext_journal_entry *a, u32 n, u64 block)
{
	u32 low = 0, high = n;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (a[middle].start <= block)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &a[low - 1] : NULL;
}

u32 ext_live_journal(const struct ext_live *e, u64 block)
{
	const struct ext_journal_entry *run;

	if (!e->mapped)
		return U32_MAX;
	run = last_before(e->entry, e->runs, block);
	if (!run || block - run->start >= run->len)
		return U32_MAX;
	return run->logical + (block - run->start);
}

u64 ext_live_journal_block(const struct ext_live *e, u32 logical)
{
	u32 i;

	for (i = 0; e->mapped && i < e->runs; i++)
		if (logical - e->entry[i].logical < e->entry[i].len)
			return e->entry[i].start + (logical - e->entry[i].logical);
	return 0;
}

/* Is @block in the journal inode's map? Before the map is sorted, all of it is searched. */
static bool is_node(const struct ext_live *e, u64 block)
{
	const struct ext_journal_entry *nodes = e->entry + e->entries - e->nodes;
	const struct ext_journal_entry *node;
	u32 i;

	if (e->mapped) {
		node = last_before(nodes, e->nodes, block);
		return node && node->start == block;
	}
	for (i = 0; i < e->nodes; i++)
		if (nodes[i].start == block)
			return true;
	return false;
}

static void ext_live_add_run(void *ctx, const struct ext_run *run)
{
	struct ext_live *e = ctx;
	struct ext_journal_entry *last = e->runs ? &e->entry[e->runs - 1] : NULL;
	struct ext_journal_entry *new;

	/* A journal has less than 2^32 blocks. */
	if (run->logical + run->len > U32_MAX) {
		e->errors++;
		return;
	}
	if (!run->level && last && last->start + last->len == run->start &&
	    last->logical + last->len == run->logical) {
		last->len += run->len;
		return;
	}
	if (e->runs + e->nodes >= e->entries) {
		e->overflow = true;
		return;
	}
	if (run->level)
		new = &e->entry[e->entries - ++e->nodes];
	else
		new = &e->entry[e->runs++];
	new->start = run->start;
	new->logical = run->logical;
	new->len = run->level ? run->level : run->len;
}

/* All of the map was read: is every block of the journal there, once? */
static const char *check_map(const struct ext_live *e)
{
	u64 total = 0, size = e->inode.size >> e->geo.block_bits;
	u32 i;

	for (i = 0; i < e->runs; i++) {
		const struct ext_journal_entry *run = &e->entry[i];

		if (i && run[-1].start + run[-1].len > run->start)
			return "the journal has a block twice";
		total += run->len;
	}
	if (!total || total < size || size > U32_MAX)
		return "the journal has holes";
	return NULL;
}

static void next_map_block(struct ext_live *e)
{
	const char *wrong;
	u32 i;

	if (e->overflow) {
		/* ext_live_give() starts again with more room. */
		if (e->entries * sizeof(*e->entry) >= MAP_MAX_BYTES)
			return ext_live_give_up(e, "the journal is too fragmented");
		return ext_live_need(e, EXT_NEED_MAP, 0);
	}
	if (e->next_node < e->nodes)
		return ext_live_need(e, EXT_NEED_MAP,
				     e->entry[e->entries - 1 - e->next_node].start);
	ext_live_sort(e->entry, e->runs);
	ext_live_sort(e->entry + e->entries - e->nodes, e->nodes);
	wrong = check_map(e);
	if (wrong)
		return ext_live_give_up(e, wrong);
	e->mapped = true;
	for (i = 0; i < e->runs && e->entry[i].logical; i++)
		;
	if (i == e->runs)
		return ext_live_give_up(e, "the journal has no first block");
	jbd2_init(&e->jbd2, e->jbd2.blocks, e->jbd2.block_size);
	ext_live_need(e, EXT_NEED_JOURNAL, e->entry[i].start);
}

static void ext_live_learn_group(struct ext_live *e, const void *content)
{
	u32 group = (e->geo.journal_ino - 1) / e->geo.inodes_per_group;
	u32 slot = group & ((1u << e->geo.desc_bits) - 1);
	struct ext_group desc;

	if (!ext_parse_group(&e->geo, content, slot, &desc))
		return ext_live_give_up(e, "the journal inode's group descriptor is wrong");
	e->inode_block = ext_inode_block(&e->geo, &desc, e->geo.journal_ino, &e->inode_offset);
	ext_live_need(e, EXT_NEED_INODE, e->inode_block);
}

static void ext_live_learn_inode(struct ext_live *e, const void *content)
{
	ext_parse_inode(&e->geo, e->geo.journal_ino, content + e->inode_offset, &e->inode);
	if (!e->inode.mapped || !e->inode.mode)
		return ext_live_give_up(e, "the journal's inode is not in use");
	e->errors += ext_map_inode(&e->geo, &e->inode, ext_live_add_run, e);
	next_map_block(e);
}

static void ext_live_learn_map(struct ext_live *e, const void *content)
{
	const struct ext_journal_entry *node = &e->entry[e->entries - 1 - e->next_node++];

	e->errors += ext_map_node(&e->geo, e->inode.extents, node->len, node->logical, content,
				  ext_live_add_run, e);
	next_map_block(e);
}

static void ext_live_learn_journal(struct ext_live *e, const void *content)
{
	u64 length = e->inode.size >> e->geo.block_bits;
	const char *wrong = jbd2_read_super(&e->jbd2, content, length);

	if (wrong)
		return ext_live_give_up(e, wrong);
	e->stage = EXT_READY;
	e->want = 0;
}

u64 ext_live_want(struct ext_live *e)
{
	if (e->asked || !e->want)
		return 0;
	/* Memory for the map comes first. */
	if (e->stage == EXT_NEED_INODE && !e->entry)
		return 0;
	e->asked = true;
	e->stale = false;
	if (e->stage == EXT_NEED_JOURNAL)
		jbd2_expect_super(&e->jbd2);
	return e->want;
}

void ext_live_learn(struct ext_live *e, u64 block, const void *content)
{
	if (!e->asked)
		return;
	e->asked = false;
	if (e->stale || block != e->want)
		return;
	if (!content)
		return ext_live_give_up(e, "a block could not be read");
	switch (e->stage) {
	case EXT_NEED_GROUP:
		return ext_live_learn_group(e, content);
	case EXT_NEED_INODE:
		return ext_live_learn_inode(e, content);
	case EXT_NEED_MAP:
		return ext_live_learn_map(e, content);
	case EXT_NEED_JOURNAL:
		return ext_live_learn_journal(e, content);
	default:
		return;
	}
}

/* Has @content the same descriptor as before? */
static bool group_stays(const struct ext_live *e, const void *content)
{
	u32 group = (e->geo.journal_ino - 1) / e->geo.inodes_per_group;
	struct ext_group desc;
	u32 offset;

	return ext_parse_group(&e->geo, content, group & ((1u << e->geo.desc_bits) - 1), &desc) &&
	       ext_inode_block(&e->geo, &desc, e->geo.journal_ino, &offset) == e->inode_block;
}

static bool inode_stays(const struct ext_live *e, const void *content)
{
	struct ext_inode inode;

	ext_parse_inode(&e->geo, e->geo.journal_ino, content + e->inode_offset, &inode);
	return inode.mapped == e->inode.mapped && inode.extents == e->inode.extents &&
	       inode.size == e->inode.size && !memcmp(inode.map, e->inode.map, sizeof(inode.map));
}

void ext_live_write(struct ext_live *e, u64 block, const void *content)
{
	bool mapped = e->mapped;

	if (e->group_block && block == e->group_block) {
		if (!(mapped && content && group_stays(e, content)))
			ext_live_restart(e);
	} else if (e->inode_block && block == e->inode_block) {
		if (!(mapped && content && inode_stays(e, content)))
			ext_live_restart(e);
	} else if (e->nodes && is_node(e, block)) {
		ext_live_restart(e);
	}
}

bool ext_live_journal_write(struct ext_live *e, u32 logical, const void *content, u64 flushes)
{
	u64 tags = e->jbd2.count.tags;
	enum jbd2_block_kind kind;

	if (!content) {
		e->jbd2.unseen = true;
		jbd2_missed(&e->jbd2);
		return false;
	}
	kind = jbd2_write(&e->jbd2, logical, content);
	/* A valid superblock of the journal where there was none before. */
	if (!logical && e->stage == EXT_KEEP)
		ext_live_restart(e);
	return trust_control(&e->trust, &e->jbd2, kind, jbd2_tid(content), logical,
			     e->jbd2.count.tags - tags, flushes);
}

size_t ext_live_memory(const struct ext_live *e, size_t log_limit)
{
	size_t bytes = (size_t)e->entries * sizeof(*e->entry);
	const struct jbd2 *j = &e->jbd2;

	if (e->stage == EXT_KEEP || !e->in_use)
		return 0;
	if (!e->entry)
		return MAP_MIN_BYTES;
	if (e->overflow)
		return bytes * 4;
	if (!j->pending)
		return JBD2_PENDING_MIN * sizeof(u64);
	if (j->pending_nr == j->pending_room && j->pending_room < JBD2_PENDING_MAX)
		return 2 * j->pending_room * sizeof(u64);
	return logset_wants(&j->set, log_limit);
}

void *ext_live_give(struct ext_live *e, void *memory, size_t bytes)
{
	struct jbd2 *j = &e->jbd2;
	void *old;

	/* In the order of ext_live_memory(). */
	if (!e->entry || e->overflow) {
		old = e->entry;
		e->entry = memory;
		e->entries = bytes / sizeof(*e->entry);
		if (e->overflow)
			ext_live_restart(e);
		return old;
	}
	if (!j->pending || (j->pending_nr == j->pending_room &&
			    j->pending_room < JBD2_PENDING_MAX)) {
		old = j->pending;
		if (old)
			memcpy(memory, old, j->pending_nr * sizeof(u64));
		j->pending = memory;
		j->pending_room = bytes / sizeof(u64);
		return old;
	}
	return logset_give(&j->set, memory, bytes);
}

size_t ext_live_bytes(const struct ext_live *e)
{
	return e->entries * sizeof(*e->entry) + e->jbd2.pending_room * sizeof(u64) +
	       (size_t)e->jbd2.set.slots * sizeof(u64) + e->layout.room * sizeof(*e->layout.run) +
	       e->names.bytes;
}
