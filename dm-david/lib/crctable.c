// SPDX-License-Identifier: GPL-2.0
/*
 * Checksums of squashed blocks: chunks of one page, in a radix tree that is as
 * high as the largest chunk number needs.
 *
 * A reservation puts the chunks of its run into the tree and pins them. So
 * crct_set() has nothing left to do that could fail. A slot of the lowest nodes
 * is empty, or a chunk, or the place of a chunk in the store.
 *
 * The clock algorithm chooses which chunk leaves memory: a hand moves along the
 * ring of resident chunks, and takes the first one that was not used since the
 * hand last passed it.
 *
 * A table that survives (crct_last()) has chunks in the store that its tree does
 * not know: ct->where() returns their places. A changed chunk is in the list of
 * unsaved chunks, oldest first, until it has been written.
 */
#include "../portable/crc.h"
#include "crctable.h"
#include "../portable/portable-alloc.h"

#define NODE_BITS	6
#define NODE_SLOTS	64
#define LEVELS		9	/* chunk numbers are below 2^51: CRCT_PATH is twice that */
#define MAP_WORDS	(CRCT_BLOCKS / 64)
#define EVICT_STEPS	128

struct crct_chunk {
	u64 number;
	u64 home;		/* place in the store, or CRCT_NOWHERE */
	struct crct_chunk *next, *prev;	/* ring of resident chunks; next: reserve */
	struct crct_chunk *newer, *older;	/* list of the dirty that are not leaving */
	u32 pins;		/* reservations */
	u16 used;		/* checksums */
	bool referenced;	/* since the hand came by */
	bool dirty;		/* home, if any, holds something older */
	bool leaving;		/* between crct_evict() and crct_evicted() */
	u64 map[MAP_WORDS];	/* which blocks have one */
	u32 crc[CRCT_BLOCKS];
};

/* 0: nothing. Lowest level: chunk, or what crct_spilled() makes. Above: node. */
struct crct_node {
	u64 slot[NODE_SLOTS];
};

/* A chunk in the store. */
struct image {
	__le64 magic;
	__le64 number;
	__le64 map[MAP_WORDS];
	__le32 crc[CRCT_BLOCKS];
	__le32 zero[28];
	__le32 check;		/* crc32c of all before */
};

#define IMAGE_MAGIC	0x3174637263646976ULL

static inline void *tagged_pointer(u64 slot)
{
	return (void *)(uintptr_t)slot;
}

/* A chunk in the store, with its number of checksums. */
static inline u64 crct_spilled(u64 place, u32 used)
{
	return (u64)used << 54 | place << 1 | 1;
}

static inline bool is_spilled(u64 slot)
{
	return slot & 1;
}

static inline u64 crct_place_of(u64 slot)
{
	return (slot & (U64_MAX >> 10)) >> 1;
}

static inline u32 used_of(u64 slot)
{
	return slot >> 54;
}

void crct_init(struct crctable *ct, u64 limit)
{
	BUILD_BUG_ON(sizeof(struct crct_chunk) > 4096);
	BUILD_BUG_ON(sizeof(struct image) != CRCT_IMAGE);
	memset(ct, 0, sizeof(*ct));
	ct->limit = limit;
}

void crct_last(struct crctable *ct, u64 (*where)(void *ctx, u64 number), void *ctx)
{
	ct->where = where;
	ct->where_ctx = ctx;
}

struct crct_chunk *crct_chunk_alloc(gfp_t gfp)
{
	return kmalloc(4096, gfp);
}

struct crct_node *crct_node_alloc(gfp_t gfp)
{
	return kmalloc(sizeof(struct crct_node), gfp);
}

void crct_chunk_free(struct crct_chunk *chunk)
{
	kfree(chunk);
}

void crct_node_free(struct crct_node *node)
{
	kfree(node);
}

void crct_add_chunk(struct crctable *ct, struct crct_chunk *chunk)
{
	chunk->next = ct->chunk_pool;
	ct->chunk_pool = chunk;
	ct->spare_chunks++;
}

void crct_add_node(struct crctable *ct, struct crct_node *node)
{
	node->slot[0] = (uintptr_t)ct->node_pool;
	ct->node_pool = node;
	ct->spare_nodes++;
}

struct crct_chunk *crct_take_chunk(struct crctable *ct)
{
	struct crct_chunk *chunk = ct->chunk_pool;

	if (chunk) {
		ct->chunk_pool = chunk->next;
		ct->spare_chunks--;
	}
	return chunk;
}

struct crct_node *crct_take_node(struct crctable *ct)
{
	struct crct_node *node = ct->node_pool;

	if (node) {
		ct->node_pool = tagged_pointer(node->slot[0]);
		ct->spare_nodes--;
	}
	return node;
}

/* The tree */

static unsigned int levels_for(u64 number)
{
	return number ? (fls64(number) + NODE_BITS - 1) / NODE_BITS : 1;
}

static unsigned int index_at(u64 number, unsigned int level)
{
	return number >> (level * NODE_BITS) & (NODE_SLOTS - 1);
}

/* The slot of chunk @number. NULL if nodes are missing on the way to it: *missing of them. */
static u64 *find_slot(const struct crctable *ct, u64 number, unsigned int *missing)
{
	unsigned int levels = levels_for(number), level;
	struct crct_node *node = ct->root;

	if (levels > ct->height) {
		*missing = levels - 1 + (node ? levels - ct->height : 1);
		return NULL;
	}
	for (level = ct->height - 1; level; level--) {
		u64 slot = node->slot[index_at(number, level)];

		if (!slot) {
			*missing = level;
			return NULL;
		}
		node = tagged_pointer(slot);
	}
	return &node->slot[index_at(number, 0)];
}

static u64 crct_slot_of(const struct crctable *ct, u64 number)
{
	unsigned int missing;
	u64 *slot = find_slot(ct, number, &missing);

	return slot ? *slot : 0;
}

static struct crct_node *new_node(struct crctable *ct)
{
	struct crct_node *node = crct_take_node(ct);

	memset(node, 0, sizeof(*node));
	ct->nodes++;
	return node;
}

/* The slot of chunk @number. Missing nodes are taken from the reserve. */
static u64 *make_slot(struct crctable *ct, u64 number)
{
	unsigned int levels = levels_for(number), level;
	struct crct_node *node;

	if (!ct->root) {
		ct->root = new_node(ct);
		ct->height = levels;
	}
	while (ct->height < levels) {
		node = new_node(ct);
		node->slot[0] = (uintptr_t)ct->root;
		ct->root = node;
		ct->height++;
	}
	node = ct->root;
	for (level = ct->height - 1; level; level--) {
		u64 *slot = &node->slot[index_at(number, level)];

		if (!*slot)
			*slot = (uintptr_t)new_node(ct);
		node = tagged_pointer(*slot);
	}
	return &node->slot[index_at(number, 0)];
}

static bool is_empty(const struct crct_node *node)
{
	unsigned int i;

	for (i = 0; i < NODE_SLOTS; i++)
		if (node->slot[i])
			return false;
	return true;
}

/* Empty the slot of @number, and free the nodes that have become empty. */
static void clear_slot(struct crctable *ct, u64 number)
{
	struct crct_node *path[LEVELS], *node = ct->root;
	unsigned int level;

	for (level = ct->height - 1; level; level--) {
		path[level] = node;
		node = tagged_pointer(node->slot[index_at(number, level)]);
	}
	path[0] = node;
	for (; level < ct->height; level++) {
		path[level]->slot[index_at(number, level)] = 0;
		if (!is_empty(path[level]))
			return;
		crct_add_node(ct, path[level]);
		ct->nodes--;
	}
	ct->root = NULL;
	ct->height = 0;
}

/* The slot of the first chunk from *number on, resident or not. 0 if there is none. */
static u64 next_slot(const struct crctable *ct, u64 *number)
{
	struct crct_node *node = ct->root;
	unsigned int level = ct->height, i;

	while (level) {
		if (*number >> (ct->height * NODE_BITS))
			return 0;
		level--;
		i = index_at(*number, level);
		while (i < NODE_SLOTS && !node->slot[i]) {
			*number = ((*number >> (level * NODE_BITS)) + 1) << (level * NODE_BITS);
			i++;
		}
		if (i == NODE_SLOTS) {
			/* This node has no more slots: descend again, to what follows it. */
			node = ct->root;
			level = ct->height;
			continue;
		}
		if (!level)
			return node->slot[i];
		node = tagged_pointer(node->slot[i]);
	}
	return 0;
}

/* Resident chunks */

static void ring_add(struct crctable *ct, struct crct_chunk *chunk)
{
	struct crct_chunk *hand = ct->hand;

	ct->resident++;
	if (!hand) {
		chunk->next = chunk;
		chunk->prev = chunk;
		ct->hand = chunk;
		return;
	}
	/* Behind the hand, which will reach it last. */
	chunk->next = hand;
	chunk->prev = hand->prev;
	chunk->prev->next = chunk;
	hand->prev = chunk;
}

static void ring_remove(struct crctable *ct, struct crct_chunk *chunk)
{
	ct->resident--;
	if (chunk->next == chunk) {
		ct->hand = NULL;
		return;
	}
	chunk->prev->next = chunk->next;
	chunk->next->prev = chunk->prev;
	if (ct->hand == chunk)
		ct->hand = chunk->next;
}

/* Chunks that differ from the store */

static void list_dirty(struct crctable *ct, struct crct_chunk *chunk)
{
	chunk->newer = NULL;
	chunk->older = ct->newest;
	if (ct->newest)
		ct->newest->newer = chunk;
	else
		ct->oldest = chunk;
	ct->newest = chunk;
}

static void unlist_dirty(struct crctable *ct, struct crct_chunk *chunk)
{
	if (chunk->older)
		chunk->older->newer = chunk->newer;
	else
		ct->oldest = chunk->newer;
	if (chunk->newer)
		chunk->newer->older = chunk->older;
	else
		ct->newest = chunk->older;
}

static void set_dirty(struct crctable *ct, struct crct_chunk *chunk)
{
	if (!chunk->dirty && !chunk->leaving) {
		list_dirty(ct, chunk);
		ct->unsaved++;
	}
	chunk->dirty = true;
}

/* @chunk, which is dirty, is about to be written. */
static void begin_leaving(struct crctable *ct, struct crct_chunk *chunk)
{
	unlist_dirty(ct, chunk);
	chunk->leaving = true;
	chunk->dirty = false;
}

static void end_leaving(struct crctable *ct, struct crct_chunk *chunk, bool good)
{
	chunk->leaving = false;
	chunk->dirty |= !good;
	if (chunk->dirty)
		list_dirty(ct, chunk);
	else
		ct->unsaved--;
}

static struct crct_chunk *crct_new_chunk(struct crctable *ct, u64 number)
{
	struct crct_chunk *chunk = crct_take_chunk(ct);

	memset(chunk, 0, offsetof(struct crct_chunk, crc));
	chunk->number = number;
	chunk->home = CRCT_NOWHERE;
	chunk->referenced = true;
	ring_add(ct, chunk);
	return chunk;
}

/* Free @chunk if nothing needs it. */
static void drop_if_empty(struct crctable *ct, struct crct_chunk *chunk, crct_freed_fn freed,
			  void *ctx)
{
	if (chunk->used || chunk->pins || chunk->leaving)
		return;
	if (chunk->home != CRCT_NOWHERE) {
		if (ct->where) {
			/* The store still has it. It is freed when it has been saved as empty. */
			set_dirty(ct, chunk);
			return;
		}
		freed(ctx, chunk->home);
	}
	if (chunk->dirty) {
		unlist_dirty(ct, chunk);
		ct->unsaved--;
	}
	clear_slot(ct, chunk->number);
	ring_remove(ct, chunk);
	crct_add_chunk(ct, chunk);
}

/* The place of chunk @number, whose slot is empty, or CRCT_NOWHERE. */
static u64 unknown_place(const struct crctable *ct, u64 number)
{
	return ct->where ? ct->where(ct->where_ctx, number) : CRCT_NOWHERE;
}

static enum crct_result want_load(struct crct_want *want, u64 number, u64 place)
{
	memset(want, 0, sizeof(*want));
	want->number = number;
	want->place = place;
	return CRCT_LOAD;
}

/* Runs */

struct piece {
	u64 number;
	unsigned int from, to;	/* blocks of the chunk */
};

/* The part of [@at, @end) that is in one chunk. */
static struct piece piece_at(u64 at, u64 end)
{
	struct piece p;
	u32 from;

	p.number = div_u64_rem(at, CRCT_BLOCKS, &from);
	p.from = from;
	p.to = from + min_t(u64, CRCT_BLOCKS - from, end - at);
	return p;
}

enum crct_result crct_reserve(struct crctable *ct, u64 start, u64 len, struct crct_want *want)
{
	u64 at, end = start + len;
	struct piece p;

	memset(want, 0, sizeof(*want));
	for (at = start; at < end; at += p.to - p.from) {
		unsigned int missing = 0;
		u64 *slot, place;

		p = piece_at(at, end);
		slot = find_slot(ct, p.number, &missing);
		if (slot && is_spilled(*slot))
			return want_load(want, p.number, crct_place_of(*slot));
		if (!slot || !*slot) {
			place = unknown_place(ct, p.number);
			if (place != CRCT_NOWHERE)
				return want_load(want, p.number, place);
		}
		want->chunks += !slot || !*slot;
		/* More than enough if chunks of the run need the same nodes. */
		want->nodes += missing;
	}
	if (want->chunks > ct->spare_chunks || want->nodes > ct->spare_nodes) {
		want->chunks -= min_t(u64, want->chunks, ct->spare_chunks);
		want->nodes -= min_t(u64, want->nodes, ct->spare_nodes);
		return CRCT_MEMORY;
	}
	for (at = start; at < end; at += p.to - p.from) {
		struct crct_chunk *chunk;
		u64 *slot;

		p = piece_at(at, end);
		slot = make_slot(ct, p.number);
		if (!*slot)
			*slot = (uintptr_t)crct_new_chunk(ct, p.number);
		chunk = tagged_pointer(*slot);
		chunk->pins++;
	}
	return CRCT_DONE;
}

void crct_unreserve(struct crctable *ct, u64 start, u64 len, crct_freed_fn freed, void *ctx)
{
	u64 at, end = start + len;
	struct piece p;

	for (at = start; at < end; at += p.to - p.from) {
		struct crct_chunk *chunk;

		p = piece_at(at, end);
		chunk = tagged_pointer(crct_slot_of(ct, p.number));
		chunk->pins--;
		drop_if_empty(ct, chunk, freed, ctx);
	}
}

/* The bits of map[@word] that stand for blocks [@from, @to). */
static u64 crct_mask(unsigned int word, unsigned int from, unsigned int to)
{
	unsigned int first = word * 64;
	u64 mask = U64_MAX;

	if (from > first)
		mask &= U64_MAX << (from - first);
	if (to < first + 64)
		mask &= U64_MAX >> (first + 64 - to);
	return mask;
}

static void crct_set_piece(struct crctable *ct, struct crct_chunk *chunk, const struct piece *p,
			   const u32 *crc)
{
	unsigned int word, new = 0;

	for (word = p->from / 64; word * 64 < p->to; word++) {
		u64 mask = crct_mask(word, p->from, p->to);

		new += hweight64(mask & ~chunk->map[word]);
		chunk->map[word] |= mask;
	}
	memcpy(chunk->crc + p->from, crc, (p->to - p->from) * sizeof(*crc));
	chunk->used += new;
	ct->entries += new;
	chunk->referenced = true;
	set_dirty(ct, chunk);
}

void crct_set(struct crctable *ct, u64 start, u64 len, const u32 *crc)
{
	u64 at, end = start + len;
	struct piece p;

	for (at = start; at < end; at += p.to - p.from) {
		struct crct_chunk *chunk;

		p = piece_at(at, end);
		chunk = tagged_pointer(crct_slot_of(ct, p.number));
		crct_set_piece(ct, chunk, &p, crc + (at - start));
		chunk->pins--;
	}
}

enum crct_result crct_find(struct crctable *ct, u64 block, u32 *crc, struct crct_want *want)
{
	struct piece p = piece_at(block, block + 1);
	u64 slot = crct_slot_of(ct, p.number);
	struct crct_chunk *chunk;
	u64 place;

	if (is_spilled(slot))
		return want_load(want, p.number, crct_place_of(slot));
	if (!slot) {
		place = unknown_place(ct, p.number);
		return place == CRCT_NOWHERE ? CRCT_NONE : want_load(want, p.number, place);
	}
	chunk = tagged_pointer(slot);
	if (!(chunk->map[p.from / 64] >> p.from % 64 & 1))
		return CRCT_NONE;
	chunk->referenced = true;
	*crc = chunk->crc[p.from];
	return CRCT_DONE;
}

static void crct_clear_piece(struct crctable *ct, struct crct_chunk *chunk, const struct piece *p)
{
	unsigned int word, old = 0;

	for (word = p->from / 64; word * 64 < p->to; word++) {
		u64 mask = crct_mask(word, p->from, p->to);

		old += hweight64(mask & chunk->map[word]);
		chunk->map[word] &= ~mask;
	}
	chunk->used -= old;
	ct->entries -= old;
	if (old)
		set_dirty(ct, chunk);
}

u64 crct_clear(struct crctable *ct, u64 start, u64 len, unsigned int max_chunks,
	       crct_freed_fn freed, void *ctx, struct crct_want *want)
{
	u64 at = start, end = start + len, slot;
	struct crct_chunk *chunk;
	struct piece p;

	memset(want, 0, sizeof(*want));
	want->place = CRCT_NOWHERE;
	for (; at < end; at += p.to - p.from) {
		p = piece_at(at, end);
		want->number = p.number;
		slot = next_slot(ct, &want->number);
		if (!slot)
			return len;
		if (want->number != p.number) {
			if (want->number >= div_u64(end + CRCT_BLOCKS - 1, CRCT_BLOCKS))
				return len;
			at = want->number * CRCT_BLOCKS;
			p = piece_at(at, end);
		}
		if (!max_chunks--)
			break;
		if (is_spilled(slot)) {
			if (p.to - p.from < CRCT_BLOCKS) {
				want->place = crct_place_of(slot);
				break;
			}
			freed(ctx, crct_place_of(slot));
			ct->entries -= used_of(slot);
			ct->spilled--;
			clear_slot(ct, p.number);
			continue;
		}
		chunk = tagged_pointer(slot);
		crct_clear_piece(ct, chunk, &p);
		drop_if_empty(ct, chunk, freed, ctx);
	}
	return min(at, end) - start;
}

/* Leaving memory, and coming back */

static void chunk_unpack(struct crct_chunk *chunk, const struct image *image)
{
	unsigned int i;

	for (i = 0; i < MAP_WORDS; i++) {
		chunk->map[i] = le64_to_cpu(image->map[i]);
		chunk->used += hweight64(chunk->map[i]);
	}
	for (i = 0; i < CRCT_BLOCKS; i++)
		chunk->crc[i] = le32_to_cpu(image->crc[i]);
}

void crct_pack(const struct crct_chunk *chunk, void *buf)
{
	struct image *image = buf;
	unsigned int i;

	memset(image, 0, sizeof(*image));
	image->magic = cpu_to_le64(IMAGE_MAGIC);
	image->number = cpu_to_le64(chunk->number);
	for (i = 0; i < MAP_WORDS; i++)
		image->map[i] = cpu_to_le64(chunk->map[i]);
	for (i = 0; i < CRCT_BLOCKS; i++)
		image->crc[i] = cpu_to_le32(chunk->crc[i]);
	image->check = cpu_to_le32(crc_of(CRC_32C, image, offsetof(struct image, check)));
}

int crct_load(struct crctable *ct, const struct crct_want *want, const void *buf)
{
	const struct image *image = buf;
	struct crct_chunk *chunk;
	unsigned int missing = 0;
	u64 *slot = find_slot(ct, want->number, &missing);
	u64 old = slot ? *slot : 0;

	if (old ? !is_spilled(old) || crct_place_of(old) != want->place :
		  unknown_place(ct, want->number) != want->place)
		return 0;
	if (le64_to_cpu(image->magic) != IMAGE_MAGIC ||
	    le64_to_cpu(image->number) != want->number ||
	    le32_to_cpu(image->check) != crc_of(CRC_32C, image, offsetof(struct image, check)))
		return -EBADMSG;
	if (!ct->spare_chunks || missing > ct->spare_nodes)
		return -ENOMEM;
	chunk = crct_new_chunk(ct, want->number);
	chunk_unpack(chunk, image);
	chunk->home = want->place;
	*make_slot(ct, want->number) = (uintptr_t)chunk;
	ct->loads++;
	ct->entries += chunk->used;
	if (old) {
		ct->spilled--;
		ct->entries -= used_of(old);
	}
	return 0;
}

static u64 used_bytes(const struct crctable *ct)
{
	return ct->resident * 4096 + ct->nodes * sizeof(struct crct_node);
}

bool crct_over(const struct crctable *ct)
{
	return used_bytes(ct) > ct->limit;
}

/* @chunk's image in the store is good: replace the chunk by its place. */
static void chunk_spill(struct crctable *ct, struct crct_chunk *chunk)
{
	unsigned int missing;

	*find_slot(ct, chunk->number, &missing) = crct_spilled(chunk->home, chunk->used);
	ring_remove(ct, chunk);
	crct_add_chunk(ct, chunk);
	ct->spilled++;
	ct->evictions++;
}

struct crct_chunk *crct_evict(struct crctable *ct, u64 *place)
{
	unsigned int steps;

	for (steps = 0; steps < EVICT_STEPS && ct->hand && crct_over(ct); steps++) {
		struct crct_chunk *chunk = ct->hand;

		ct->hand = chunk->next;
		if (chunk->referenced) {
			chunk->referenced = false;
			continue;
		}
		if (chunk->pins || chunk->leaving || !chunk->used)
			continue;
		if (!chunk->dirty) {
			chunk_spill(ct, chunk);
			continue;
		}
		begin_leaving(ct, chunk);
		*place = chunk->home;
		return chunk;
	}
	return NULL;
}

struct crct_chunk *crct_save(struct crctable *ct)
{
	struct crct_chunk *chunk = ct->oldest;

	if (chunk)
		begin_leaving(ct, chunk);
	return chunk;
}

u64 crct_number(const struct crct_chunk *chunk)
{
	return chunk->number;
}

bool crct_is_empty(const struct crct_chunk *chunk)
{
	return !chunk->used;
}

void crct_saved(struct crctable *ct, struct crct_chunk *chunk, u64 place, bool good,
		crct_freed_fn freed, void *ctx)
{
	end_leaving(ct, chunk, good);
	if (good)
		chunk->home = place;
	drop_if_empty(ct, chunk, freed, ctx);
}

void crct_evicted(struct crctable *ct, struct crct_chunk *chunk, u64 place, bool good,
		  crct_freed_fn freed, void *ctx)
{
	end_leaving(ct, chunk, good);
	if (good) {
		if (chunk->home != CRCT_NOWHERE && chunk->home != place)
			freed(ctx, chunk->home);
		chunk->home = place;
	}
	if (!chunk->used)
		drop_if_empty(ct, chunk, freed, ctx);
	else if (!chunk->dirty && !chunk->pins && !chunk->referenced)
		chunk_spill(ct, chunk);
}

void crct_destroy(struct crctable *ct)
{
	struct crct_chunk *chunk;
	struct crct_node *node;
	u64 number = 0, slot;

	while ((slot = next_slot(ct, &number))) {
		clear_slot(ct, number);
		if (is_spilled(slot))
			continue;
		ring_remove(ct, tagged_pointer(slot));
		crct_add_chunk(ct, tagged_pointer(slot));
	}
	while ((chunk = crct_take_chunk(ct)))
		crct_chunk_free(chunk);
	while ((node = crct_take_node(ct)))
		crct_node_free(node);
	crct_init(ct, ct->limit);
}

u64 crct_bytes(const struct crctable *ct)
{
	return used_bytes(ct) + ct->spare_chunks * 4096 +
	       ct->spare_nodes * sizeof(struct crct_node);
}

const char *crct_check(const struct crctable *ct)
{
	u64 number, last = 0, slot, entries = 0, resident = 0, gone = 0, nodes = 0;
	u64 unsaved = 0, dirty = 0;
	const struct crct_chunk *chunk = ct->hand;
	unsigned int level, i;

	for (number = 0; (slot = next_slot(ct, &number)); last = number++) {
		/* Count the nodes that the chunk before this one did not share. */
		for (level = 1; level <= ct->height; level++)
			nodes += (!resident && !gone) ||
				 number >> level * NODE_BITS != last >> level * NODE_BITS;
		if (is_spilled(slot)) {
			gone++;
			entries += used_of(slot);
			if (!used_of(slot))
				return "an empty chunk is in the store";
			continue;
		}
		resident++;
		chunk = tagged_pointer(slot);
		if (chunk->number != number)
			return "a chunk is at another's place";
		for (i = 0; i < MAP_WORDS; i++)
			entries += hweight64(chunk->map[i]);
		if (!chunk->used && !chunk->pins && !chunk->leaving && !(ct->where && chunk->dirty))
			return "an empty chunk was not freed";
		unsaved += chunk->dirty || chunk->leaving;
		dirty += chunk->dirty && !chunk->leaving;
	}
	if (unsaved != ct->unsaved)
		return "the number of unsaved chunks is wrong";
	for (chunk = ct->oldest; chunk; chunk = chunk->newer, dirty--)
		if (!chunk->dirty || chunk->leaving ||
		    (chunk->newer ? chunk->newer->older : ct->newest) != chunk)
			return "the list of dirty chunks is wrong";
	if (dirty)
		return "the list of dirty chunks is of another length";
	chunk = ct->hand;
	if (entries != ct->entries)
		return "the number of checksums is wrong";
	if (resident != ct->resident || gone != ct->spilled)
		return "the number of chunks is wrong";
	if (nodes != ct->nodes)
		return "the number of nodes is wrong";
	if (!ct->hand != !resident)
		return "the ring is not what is resident";
	for (number = 0, chunk = ct->hand; number < resident; number++, chunk = chunk->next)
		if (chunk->next->prev != chunk)
			return "the ring is broken";
	return chunk == ct->hand ? NULL : "the ring is of another length";
}
