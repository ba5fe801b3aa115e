// SPDX-License-Identifier: GPL-2.0
/* Inode association: see assoc.h. */
#include "../planted.h"
#include "assoc.h"
#include "../../dm-david/portable/hash.h"

#define BLOCK_MAX	4096u
#define PROBES		8u

void assoc_init(struct assoc *a, u32 first_slot)
{
	memset(a, 0, sizeof(*a));
	a->first_slot = first_slot;
	a->now.slot = UNDECIDED_NONE;
}

static const struct ext_live *live_of(const struct assoc *a, const struct ext_live *ext, u32 slot)
{
	return &ext[slot - a->first_slot];
}

static size_t bytes_needed(void)
{
	return BLOCK_MAX + ASSOC_NOTES * sizeof(struct assoc_note) +
	       ASSOC_NODES * sizeof(struct assoc_node) +
	       ASSOC_WRITTEN * sizeof(struct assoc_written);
}

size_t assoc_memory(const struct assoc *a, const struct undecided *u)
{
	return u->chunk && !a->note ? bytes_needed() : 0;
}

void assoc_give(struct assoc *a, void *memory)
{
	a->inodes = memory;
	a->note = memory + BLOCK_MAX;
	a->node = (void *)(a->note + ASSOC_NOTES);
	a->written = (void *)(a->node + ASSOC_NODES);
}

size_t assoc_bytes(const struct assoc *a)
{
	return a->note ? bytes_needed() : 0;
}

/*
 * The journal's progress: it grows when the journal reaches a point behind which no crash returns.
 */
static u64 assoc_progress(const struct ext_live *e)
{
	return e->jbd2.count.commits + e->jbd2.count.supers;
}

/* No protection against intent: whoever could forge the content may write anything anyway. */
static u64 hash_of(const struct ext_live *e, const void *content)
{
	u32 at, size = ext_block_size(&e->geo);
	u64 hash = size, word;

	for (at = 0; at < size; at += sizeof(word)) {
		memcpy(&word, content + at, sizeof(word));
		hash = (hash ^ word) * HASH_GOLDEN;
		hash ^= hash >> 32;
	}
	return hash;
}

static u32 assoc_bucket(u64 block)
{
	return hash_u64(block) >> 8;
}

static void set_state(struct assoc *a, struct assoc_note *note, enum assoc_state state)
{
	a->notes += (state == ASSOC_FRESH) - (note->state == ASSOC_FRESH);
	note->state = state;
}

/* The note of @block, or a free one for it; NULL: no room. */
static struct assoc_note *assoc_place(struct assoc *a, u32 slot, u64 block)
{
	u32 at = assoc_bucket(block), i;
	struct assoc_note *best = NULL;

	for (i = 0; i < PROBES; i++) {
		struct assoc_note *note = &a->note[(at + i) & (ASSOC_NOTES - 1)];

		if (note->state != ASSOC_FREE && note->block == block && note->slot == slot)
			return note;
		if (note->state != ASSOC_FRESH && (!best || note->state < best->state))
			best = note;
	}
	return best;
}

void assoc_note(struct assoc *a, u32 slot, const struct ext_live *e, u64 block,
		const void *content, u32 first, bool bitmap)
{
	struct assoc_note *note;

	if (!a->note)
		return;
	note = assoc_place(a, slot, block);
	if (!note) {
		a->missed++;
		return;
	}
	note->block = block;
	note->slot = slot;
	note->first = first;
	note->bitmap = bitmap;
	note->time = ++a->time;
	note->progress = assoc_progress(e);
	note->hash = hash_of(e, content);
	set_state(a, note, ASSOC_FRESH);
}

static struct assoc_written *written_at(const struct assoc *a, u64 block)
{
	return &a->written[assoc_bucket(block) & (ASSOC_WRITTEN - 1)];
}

void assoc_note_node(struct assoc *a, u32 slot, const struct ext_live *e, u64 block,
		     const void *content)
{
	struct assoc_written *w;

	if (!a->note)
		return;
	w = written_at(a, block);
	w->block = block;
	w->slot = slot;
	w->time = ++a->time;
	w->progress = assoc_progress(e);
	w->hash = hash_of(e, content);
}

void assoc_again(struct assoc *a)
{
	u32 i;

	for (i = 0; a->note && i < ASSOC_NOTES; i++)
		if (a->note[i].state == ASSOC_SEEN)
			set_state(a, &a->note[i], ASSOC_FRESH);
}

static void assoc_stop(struct assoc *a)
{
	a->now.slot = UNDECIDED_NONE;
	a->reading = false;
	a->nodes = 0;
}

void assoc_forget(struct assoc *a, u32 slot)
{
	u32 i;

	for (i = 0; a->note && i < ASSOC_NOTES; i++)
		if (a->note[i].slot == slot)
			set_state(a, &a->note[i], ASSOC_FREE);
	for (i = 0; a->note && i < ASSOC_WRITTEN; i++)
		if (a->written[i].slot == slot)
			a->written[i].block = 0;
	if (a->now.slot == slot)
		assoc_stop(a);
}

/* The block has been looked at. It stays ASSOC_SEEN, unless it was noted again meanwhile. */
static void assoc_finish(struct assoc *a)
{
	struct assoc_note *note = &a->note[a->place];

	if (a->files && note->state == ASSOC_FREE && note->block == a->now.block &&
	    note->slot == a->now.slot)
		set_state(a, note, ASSOC_SEEN);
	assoc_stop(a);
}

struct walk {
	struct assoc *a;
	struct undecided *u;
	bool data;
	bool follow;		/* through nodes; and however old the inode is */
	u64 time;		/* when it was written what tells of it, 0: not known */
};

static void assoc_found_run(void *ctx, const struct ext_run *run)
{
	struct walk *w = ctx;
	struct assoc *a = w->a;
	u64 len = run->len;

	if (w->data && run->logical >= a->size && !CLASSIFIER_PLANTED(anyfile))
		return;
	if (!run->level) {
		if (w->data && !CLASSIFIER_PLANTED(anyfile))
			len = min(len, a->size - run->logical);
		if (w->follow && w->data)
			undecided_decide(w->u, a->now.slot, run->start, len, UNDECIDED_ANY, true);
		if (w->time)
			undecided_decide(w->u, a->now.slot, run->start, len, w->time, w->data);
		return;
	}
	if (!w->follow)
		return;
	if (a->nodes == ASSOC_NODES) {
		a->missed++;
		return;
	}
	a->node[a->nodes].start = run->start;
	a->node[a->nodes].logical = run->logical;
	a->node[a->nodes++].level = run->level;
}

static bool is_file(const struct ext_inode *inode)
{
	return inode->kind == EXT_DATA && inode->regular && inode->links && !inode->dtime &&
	       !inode->immutable;
}

static void assoc_look_at_inode(struct assoc *a, struct undecided *u, const struct ext_live *e)
{
	const struct ext_geo *geo = &e->geo;
	u32 ino = a->now.first + a->next;
	struct walk w = { .a = a, .u = u, .time = a->now.time };

	ext_parse_inode(geo, ino, a->inodes + a->next * geo->inode_size, &a->inode);
	if (!a->inode.mapped || ino > geo->inodes || ino < geo->first_ino)
		return;
	w.data = is_file(&a->inode) || CLASSIFIER_PLANTED(anyfile);
	/* An orphan or an immutable file: its blocks are neither data nor metadata. */
	if (!w.data && a->inode.kind == EXT_DATA)
		return;
	w.follow = w.data && e->association == ASSOC_NODES_TOO;
	a->spare = w.data && a->chosen && a->chosen(a->chosen_ctx, a->now.slot, ino);
	w.data &= !a->spare;
	a->files |= w.follow;
	a->size = (a->inode.size + ext_block_size(geo) - 1) >> geo->block_bits;
	ext_map_inode(geo, &a->inode, assoc_found_run, &w);
}

static void assoc_look_at_bitmap(struct assoc *a, struct undecided *u, const struct ext_live *e)
{
	const struct ext_geo *geo = &e->geo;
	u64 start = geo->first_data + (u64)a->now.first * geo->blocks_per_group;
	u32 n = min_t(u64, geo->blocks_per_group, geo->blocks - start), from, at;

	/*
	 * With bigalloc a bit is a cluster. A free block may also have had metadata without form.
	 */
	if (geo->ro_compat & EXT_RO_COMPAT_BIGALLOC || e->association != ASSOC_NODES_TOO)
		return;
	a->files = true;
	for (at = 0; at < n && undecided_any(u); at++) {
		for (from = at; at < n && !(a->inodes[at / 8] >> at % 8 & 1); at++)
			;
		if (at > from)
			undecided_decide(u, a->now.slot, start + from, at - from, UNDECIDED_ANY,
					 true);
	}
}

/* Look at inodes of the block that was read, until a node has to be read. */
static void assoc_look_at_inodes(struct assoc *a, struct undecided *u, const struct ext_live *e)
{
	u32 n = ext_block_size(&e->geo) / e->geo.inode_size;

	while (!a->nodes && a->next < n && undecided_any(u)) {
		if (a->ready && !a->ready(a->chosen_ctx, a->now.slot)) {
			/* No longer: another time. */
			a->files = true;
			break;
		}
		assoc_look_at_inode(a, u, e);
		a->next++;
	}
	if (!a->nodes)
		assoc_finish(a);
}

/* Has the journal made progress since @before? Until then what was written then does not count. */
static bool assoc_is_ripe(const struct ext_live *e, u64 before)
{
	return ext_live_plain(e) || assoc_progress(e) != before;
}

bool assoc_waits(const struct assoc *a, u32 slot, const struct ext_live *e)
{
	u32 i;

	for (i = 0; a->note && a->notes && i < ASSOC_NOTES; i++)
		if (a->note[i].state == ASSOC_FRESH && a->note[i].slot == slot &&
		    assoc_is_ripe(e, a->note[i].progress))
			return true;
	return false;
}

static bool next_note(struct assoc *a, const struct ext_live *ext)
{
	u32 left = a->note ? ASSOC_NOTES : 0;

	for (; left && a->notes; left--, a->hand++) {
		struct assoc_note *note = &a->note[a->hand & (ASSOC_NOTES - 1)];
		const struct ext_live *e;

		if (note->state != ASSOC_FRESH)
			continue;
		e = live_of(a, ext, note->slot);
		if (!e->in_use || e->association == ASSOC_NOTHING || note->block >= e->geo.blocks) {
			set_state(a, note, ASSOC_FREE);
			continue;
		}
		if (!assoc_is_ripe(e, note->progress) ||
		    (a->ready && !a->ready(a->chosen_ctx, note->slot)))
			continue;
		a->now = *note;
		a->place = note - a->note;
		set_state(a, note, ASSOC_FREE);
		return true;
	}
	return false;
}

/* When the node @block was written as a node of this inode; 0: not known. */
static u64 time_of_node(const struct assoc *a, const struct ext_live *e, u64 block,
			const void *content)
{
	const struct assoc_written *w = written_at(a, block);

	if (w->block != block || w->slot != a->now.slot || !assoc_is_ripe(e, w->progress) ||
	    hash_of(e, content) != w->hash || !ext_node_is_of(&e->geo, &a->inode, content))
		return 0;
	return w->time;
}

bool assoc_want(struct assoc *a, struct undecided *u, const struct ext_live *ext, u32 *slot,
		u64 *block)
{
	if (!undecided_any(u))
		return false;
	if (a->now.slot != UNDECIDED_NONE && !live_of(a, ext, a->now.slot)->in_use)
		assoc_stop(a);
	if (a->now.slot != UNDECIDED_NONE && !a->reading && !a->nodes)
		assoc_look_at_inodes(a, u, live_of(a, ext, a->now.slot));
	if (a->now.slot == UNDECIDED_NONE) {
		if (!next_note(a, ext))
			return false;
		a->reading = true;
	}
	*slot = a->now.slot;
	*block = a->nodes ? a->node[a->nodes - 1].start : a->now.block;
	return true;
}

void assoc_learn(struct assoc *a, struct undecided *u, const struct ext_live *ext,
		 const void *content)
{
	struct walk w = { .a = a, .u = u, .data = !a->spare, .follow = true };
	const struct ext_live *e;
	struct assoc_node node;

	/* Forgotten while it was read. */
	if (a->now.slot == UNDECIDED_NONE)
		return;
	e = live_of(a, ext, a->now.slot);
	if (a->reading) {
		if (!content)
			return assoc_stop(a);
		if (hash_of(e, content) != a->now.hash) {
			/* Overtaken by its own reading: another time. */
			a->files = true;
			return assoc_finish(a);
		}
		memcpy(a->inodes, content, ext_block_size(&e->geo));
		a->reading = false;
		a->files = false;
		a->next = 0;
		if (a->now.bitmap) {
			assoc_look_at_bitmap(a, u, e);
			return assoc_finish(a);
		}
	} else if (a->nodes) {
		node = a->node[--a->nodes];
		a->read++;
		if (content) {
			w.time = time_of_node(a, e, node.start, content);
			ext_map_node(&e->geo, a->inode.extents, node.level, node.logical, content,
				     assoc_found_run, &w);
		}
	}
	if (!a->nodes)
		assoc_look_at_inodes(a, u, e);
}
