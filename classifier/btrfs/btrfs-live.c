// SPDX-License-Identifier: GPL-2.0
/* A mounted btrfs: see btrfs-live.h. */
#include "btrfs-live.h"
#include "btrfs-compressed.h"

#include "../planted.h"

#define LOG_TREE	((u64)-6)
#define FREE_SPACE_TREE	10
#define FIRST_ROOM	1024
#define MOST_ROOM	1048576
#define MOST_NODES	65536
#define MIRRORS		2
#define SUPER_SECTORS	(BTRFS_SUPER_BYTES >> 9)
#define BLOCK_SECTORS	(BTRFS_COMPRESSED_BLOCK >> 9)

/* Superblocks at 64 MiB and 256 GiB. */
static const u64 mirror[MIRRORS] = { 1u << 17, 1u << 29 };

static void walk_end(struct btrfs_live *b)
{
	b->walking = false;
	b->stale = b->asked;
}

/* The chunk tree cannot be read. Without a new map everything that needs one stays undecided. */
static void walk_fail(struct btrfs_live *b)
{
	b->errors++;
	walk_end(b);
}

static void walk_push(struct btrfs_live *b, u64 logical, u64 generation, u32 level)
{
	if (b->depth == BTRFS_WALK_STACK) {
		walk_fail(b);
		return;
	}
	b->stack[b->depth].logical = logical;
	b->stack[b->depth].generation = generation;
	b->stack[b->depth++].level = level;
}

static void walk_begin(struct btrfs_live *b)
{
	walk_end(b);
	if (b->wrong || !b->memory)
		return;
	b->walking = true;
	b->depth = 0;
	b->nodes = 0;
	b->filled = 0;
	b->next.nr = 0;
	walk_push(b, b->geo.chunk_root, b->geo.chunk_generation, b->geo.chunk_level);
}

/* Add to the map that is being made, and keep it sorted. Chunks come nearly sorted. */
static void map_add(struct btrfs_live *b, const struct btrfs_extent *e)
{
	struct btrfs_map *m = &b->next;
	u32 i = m->nr;

	if (m->nr == b->room) {
		if (b->room < MOST_ROOM)
			b->wanted = b->room * 2;
		walk_fail(b);
		return;
	}
	while (i && m->extent[i - 1].start > e->start)
		i--;
	if ((i && m->extent[i - 1].start + m->extent[i - 1].sectors > e->start) ||
	    (i < m->nr && e->start + e->sectors > m->extent[i].start)) {
		walk_fail(b);
		return;
	}
	if (i && i == m->nr && m->extent[i - 1].type == e->type &&
	    m->extent[i - 1].misaligned == e->misaligned &&
	    m->extent[i - 1].striped == e->striped &&
	    m->extent[i - 1].start + m->extent[i - 1].sectors == e->start) {
		m->extent[i - 1].sectors += e->sectors;
		return;
	}
	memmove(&m->extent[i + 1], &m->extent[i], (m->nr - i) * sizeof(*e));
	m->extent[i] = *e;
	m->nr++;
}

static void map_ready(struct btrfs_live *b)
{
	struct btrfs_map old = b->map;
	u32 i;

	b->map = b->next;
	b->next = old;
	b->misaligned = false;
	for (i = 0; i < b->map.nr; i++)
		b->misaligned |= b->map.extent[i].misaligned;
	b->mapped = true;
	b->settled = true;
	b->map_generation = b->geo.generation;
	b->walking = false;
}

static void read_leaf(struct btrfs_live *b, const struct btrfs_header *h)
{
	struct btrfs_extent extent;
	unsigned int nth;
	int found;
	u32 i;

	for (i = 0; i < h->items && b->walking; i++) {
		nth = 0;
		do {
			found = btrfs_leaf_chunk(&b->geo, b->node, i, nth, &extent);
			if (found < 0) {
				walk_fail(b);
				return;
			}
			if (found > 1 + nth)
				map_add(b, &extent);
			nth++;
		} while (found > 1 + nth && b->walking);
	}
}

static void read_node(struct btrfs_live *b)
{
	struct btrfs_walk_entry at = b->stack[b->depth - 1];
	struct btrfs_header h;
	u32 i;

	if (!btrfs_parse_header(&b->geo, b->node, &h) || h.logical != at.logical ||
	    h.generation != at.generation || h.level != at.level ||
	    !btrfs_node_valid(&b->geo, b->node, &h) || ++b->nodes > MOST_NODES) {
		walk_fail(b);
		return;
	}
	b->filled = 0;
	b->depth--;
	if (!h.level) {
		read_leaf(b, &h);
	} else {
		/* The last one is popped first: so they come in order. */
		for (i = h.items; i-- && b->walking;) {
			u64 logical, generation;

			btrfs_node_child(b->node, i, &logical, &generation);
			walk_push(b, logical, generation, h.level - 1);
		}
	}
	if (b->walking && !b->depth)
		map_ready(b);
}

bool btrfs_live_want(struct btrfs_live *b, u64 *sector, u32 *bytes)
{
	u64 at;

	if (!b->walking || b->asked)
		return false;
	at = btrfs_system_sector(&b->geo, b->stack[b->depth - 1].logical);
	if (!at) {
		walk_fail(b);
		return false;
	}
	*sector = at + (b->filled >> 9);
	*bytes = min_t(u32, b->geo.node_bytes - b->filled, BTRFS_READ_BYTES);
	b->asked = true;
	return true;
}

void btrfs_live_learn(struct btrfs_live *b, const void *content)
{
	u32 bytes;

	b->asked = false;
	if (b->stale) {
		b->stale = false;
		return;
	}
	if (!b->walking)
		return;
	if (!content) {
		walk_fail(b);
		return;
	}
	bytes = min_t(u32, b->geo.node_bytes - b->filled, BTRFS_READ_BYTES);
	memcpy(b->node + b->filled, content, bytes);
	b->filled += bytes;
	if (b->filled == b->geo.node_bytes)
		read_node(b);
}

static size_t memory_for(u32 room)
{
	return BTRFS_WALK_STACK * sizeof(struct btrfs_walk_entry) + BTRFS_MAX_NODE +
	       2 * (size_t)room * sizeof(struct btrfs_extent);
}

size_t btrfs_live_memory(const struct btrfs_live *b)
{
	return b->wrong || b->room >= b->wanted ? 0 : memory_for(b->wanted);
}

void *btrfs_live_give(struct btrfs_live *b, void *memory, size_t bytes)
{
	void *old = b->memory;

	if (bytes != memory_for(b->wanted))
		return memory;
	b->memory = memory;
	b->bytes = bytes;
	b->room = b->wanted;
	b->stack = memory;
	memory += BTRFS_WALK_STACK * sizeof(*b->stack);
	b->next.extent = memory;
	memory += b->room * sizeof(struct btrfs_extent);
	if (b->map.nr)
		memcpy(memory, b->map.extent, b->map.nr * sizeof(struct btrfs_extent));
	b->map.extent = memory;
	memory += b->room * sizeof(struct btrfs_extent);
	b->node = memory;
	if (!b->settled)
		walk_begin(b);
	return old;
}

/* Forget everything that was learned. */
static void btrfs_live_restart(struct btrfs_live *b)
{
	b->map.nr = 0;
	b->mapped = false;
	b->settled = false;
	b->misaligned = false;
	b->map_generation = 0;
	b->committing = true;
	b->restarted = true;
	memset(&b->open, 0, sizeof(b->open));
	memset(&b->begun, 0, sizeof(b->begun));
	memset(&b->compressed, 0, sizeof(b->compressed));
	if (!b->wanted)
		b->wanted = FIRST_ROOM;
	walk_begin(b);
}

const char *btrfs_live_init(struct btrfs_live *b, const void *super, u64 sectors)
{
	b->wrong = btrfs_parse_super(super, sectors, &b->geo);
	if (b->wrong)
		return b->wrong;
	b->wrong = b->geo.unsafe;
	b->errors = 0;
	b->sign = SELFID_NO_SIGN;
	btrfs_live_restart(b);
	return NULL;
}

/* The superblock was written. */
static void btrfs_live_new_super(struct btrfs_live *b, const char *wrong)
{
	const struct btrfs_geo *fresh = &b->fresh;
	bool same;

	if (wrong) {
		b->errors++;
		b->wrong = wrong;
		walk_end(b);
		return;
	}
	if (b->wrong || !btrfs_same(&b->geo, fresh) || fresh->generation < b->geo.generation) {
		b->geo = *fresh;
		b->wrong = fresh->unsafe;
		btrfs_live_restart(b);
		return;
	}
	/* A log commit: the same generation once more. */
	if (fresh->generation == b->geo.generation)
		return;
	b->sign = SELFID_AT_WORK;
	same = fresh->chunk_root == b->geo.chunk_root &&
	       fresh->chunk_generation == b->geo.chunk_generation;
	b->geo = *fresh;
	b->committing = false;
	memset(&b->begun, 0, sizeof(b->begun));
	if (same && b->settled) {
		b->map_generation = fresh->generation;
		return;
	}
	b->settled = false;
	walk_begin(b);
}

static void btrfs_live_write_super(struct btrfs_live *b, const struct selfid_request *r)
{
	const char *wrong = "the superblock is written in parts";

	if (r->sector <= BTRFS_SUPER_SECTOR &&
	    r->sector + r->sectors >= BTRFS_SUPER_SECTOR + SUPER_SECTORS) {
		selfid_copy(r, BTRFS_SUPER_SECTOR - r->sector, b->super, BTRFS_SUPER_BYTES);
		wrong = btrfs_parse_super(b->super, U64_MAX, &b->fresh);
	}
	btrfs_live_new_super(b, wrong);
}

/* The known chunk at @sector. NULL: none, and *end is the start of the next one. */
static const struct btrfs_extent *btrfs_live_find(const struct btrfs_live *b, u64 sector, u64 *end)
{
	u32 low = 0, high = b->map.nr;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (b->map.extent[middle].start <= sector)
			low = middle + 1;
		else
			high = middle;
	}
	*end = low < b->map.nr ? b->map.extent[low].start : U64_MAX;
	if (!low || sector - b->map.extent[low - 1].start >= b->map.extent[low - 1].sectors)
		return NULL;
	*end = b->map.extent[low - 1].start + b->map.extent[low - 1].sectors;
	return &b->map.extent[low - 1];
}

static bool btrfs_live_is_header(struct btrfs_live *b, const struct selfid_request *r, u32 pos,
				 bool *planted)
{
	u8 block[BTRFS_HEADER_BYTES];
	struct btrfs_header h;

	selfid_copy(r, pos, block, sizeof(block));
	*planted = false;
	if (!btrfs_parse_header(&b->geo, block, &h))
		return btrfs_looks_like_header(&b->geo, block);
	*planted = CLASSIFIER_PLANTED(spacetree) && h.owner == FREE_SPACE_TREE;
	if (h.generation > b->geo.generation + 1 ||
	    (h.generation > b->geo.generation && h.owner != LOG_TREE))
		b->committing = true;
	return true;
}

/* Does a free-space cache of version 1 begin there? */
static bool is_cache(struct btrfs_live *b, const struct selfid_request *r, u32 pos)
{
	u64 at = r->sector + pos;
	u32 n;

	if (r->sectors - pos < 8)
		return false;
	selfid_copy(r, pos, b->super, 4096);
	n = btrfs_cache_sectors(b->super, b->geo.generation + 1);
	if (!n)
		n = btrfs_cache_sectors(b->super, b->geo.generation + 2);
	selfid_open_add(&b->open, at + 8, at + n);
	return n;
}

static bool near_mirror(u64 sector, u32 sectors)
{
	int i;

	for (i = 0; i < MIRRORS; i++)
		if (sector < mirror[i] + SUPER_SECTORS && mirror[i] < sector + sectors)
			return true;
	return false;
}

/* May the block at @pos belong to a compressed extent: one that begins there, or shortly before? */
static bool is_compressed(struct btrfs_live *b, const struct selfid_request *r, u32 pos)
{
	u8 head[BTRFS_COMPRESSED_PEEK];
	u64 at = r->sector + pos;

	if (!(at % BLOCK_SECTORS) && r->sectors - pos >= BLOCK_SECTORS) {
		selfid_copy(r, pos, head, sizeof(head));
		if (unlikely(btrfs_compressed_peek(head))) {
			selfid_copy(r, pos, b->super, BTRFS_COMPRESSED_BLOCK);
			if (btrfs_compressed(b->super)) {
				selfid_open_end(&b->compressed, at, BTRFS_COMPRESSED_MAX >> 9);
				selfid_open_add(&b->compressed, at + BLOCK_SECTORS,
						at + (BTRFS_COMPRESSED_MAX >> 9));
				return true;
			}
		}
	}
	return selfid_open_take(&b->compressed, at, BLOCK_SECTORS - at % BLOCK_SECTORS);
}

/* The same for all blocks up to *len. Shortens *len to blocks with the same answer. */
static bool are_compressed(struct btrfs_live *b, const struct selfid_request *r, u32 pos, u32 *len)
{
	u32 n = BLOCK_SECTORS - (r->sector + pos) % BLOCK_SECTORS;
	bool compressed = is_compressed(b, r, pos);

	for (; n < *len; n += BLOCK_SECTORS) {
		if (is_compressed(b, r, pos + n) == compressed)
			continue;
		*len = n;
	}
	return compressed;
}

/* The verdict on a later part of a slot, whose first sector is not in the same request. */
static enum verdict btrfs_live_judge_part(struct btrfs_live *b, u64 at, u32 *len,
					  enum selfid_reason *reason)
{
	const struct btrfs_extent *e;
	bool settled;
	u64 end;
	u32 n = selfid_open_take(&b->open, at, *len);

	if (n) {
		*len = n;
		*reason = SELFID_REST;
		return VERDICT_KEEP;
	}
	/* While a commit is written, or may be unseen, the chunks may change. */
	settled = !b->committing && b->geo.devices == 1;
	n = settled ? selfid_open_take(&b->begun, at, *len) : 0;
	if (n) {
		*len = n;
		*reason = SELFID_DATA;
		return VERDICT_SQUASH;
	}
	e = btrfs_live_find(b, at, &end);
	*len = min_t(u64, *len, end - at);
	*reason = SELFID_PART;
	if (!e || e->type != BTRFS_CHUNK_DATA || !b->settled || !settled)
		return VERDICT_UNDECIDED;
	*reason = SELFID_DATA;
	return VERDICT_SQUASH;
}

/*
 * May the slot hold parity of tree blocks on other devices? Parity has no header. A conversion to
 * RAID 5 may have begun, and the superblock shows it with the next commit only. A known chunk of
 * data has no parity.
 */
static bool may_be_parity(const struct btrfs_live *b, const struct btrfs_extent *e)
{
	return b->geo.devices > 1 && !(e && e->type == BTRFS_CHUNK_DATA && b->settled);
}

enum verdict btrfs_live_write(struct btrfs_live *b, const struct selfid_request *r, u32 pos,
			      u32 *len, enum selfid_reason *reason)
{
	u64 at = r->sector + pos, end;
	u32 left = r->sectors - pos, unit = b->geo.node_bytes >> 9;
	const struct btrfs_extent *e;
	bool compressed, planted;
	enum verdict verdict;
	u32 n;

	*len = left;
	*reason = SELFID_SUPER;
	if (at < BTRFS_RESERVED_SECTORS) {
		*len = min_t(u64, left, BTRFS_RESERVED_SECTORS - at);
		if (at < BTRFS_SUPER_SECTOR + SUPER_SECTORS && at + *len > BTRFS_SUPER_SECTOR)
			btrfs_live_write_super(b, r);
		return VERDICT_KEEP;
	}
	*reason = SELFID_UNSAFE;
	if (b->wrong)
		return VERDICT_KEEP;
	*reason = SELFID_BEYOND;
	if (at >= b->geo.sectors)
		return VERDICT_KEEP;

	/* Tree blocks may lie across slots, or caches may exist: any sector may begin one. */
	if (b->misaligned || !b->mapped || b->geo.space_cache)
		unit = b->geo.sector_bytes >> 9;
	n = min_t(u64, left, unit - (at & (unit - 1)));
	*len = n;
	*reason = SELFID_SUPER;
	if (near_mirror(at, n))
		return VERDICT_KEEP;

	if (!(at & (unit - 1))) {
		if (btrfs_live_is_header(b, r, pos, &planted)) {
			*reason = planted ? SELFID_DATA : SELFID_TREE;
			selfid_open_end(&b->begun, at, b->geo.node_bytes >> 9);
			selfid_open_add(&b->open, at + n, at + (b->geo.node_bytes >> 9));
			return planted ? VERDICT_SQUASH : VERDICT_KEEP;
		}
		if (b->geo.space_cache && is_cache(b, r, pos)) {
			*len = min(n, 8u);
			*reason = SELFID_CACHE;
			return VERDICT_KEEP;
		}
		if (b->geo.node_bytes >> 9 == unit && !b->geo.space_cache)
			selfid_open_end(&b->open, at, unit);
	}
	e = btrfs_live_find(b, at, &end);
	if (e && e->type & (BTRFS_CHUNK_SYSTEM | BTRFS_CHUNK_METADATA) &&
	    !(b->geo.mixed && e->type & BTRFS_CHUNK_DATA)) {
		*len = min_t(u64, n, end - at);
		*reason = SELFID_CHUNK;
		return VERDICT_KEEP;
	}
	compressed = are_compressed(b, r, pos, len);
	if (e && e->striped) {
		*len = min_t(u64, *len, end - at);
		compressed = true;
	}
	if (b->geo.node_bytes >> 9 == unit && !(at & (unit - 1)) && !b->geo.space_cache) {
		selfid_open_add(&b->begun, at + *len, at + unit);
		*reason = SELFID_DATA;
		verdict = VERDICT_SQUASH;
		if (unlikely(may_be_parity(b, e))) {
			*reason = SELFID_PART;
			verdict = VERDICT_UNDECIDED;
		}
	} else {
		verdict = btrfs_live_judge_part(b, at, len, reason);
	}
	if (likely(!compressed) || verdict == VERDICT_KEEP)
		return verdict;
	*reason = SELFID_COMPRESSED;
	return VERDICT_KEEP;
}

/*
 * Do headers alone decide in mixed chunks? Yes, if a node is a single block. Then each block's
 * first sector was seen, and an undecided block, for which only the mount state was missing, is
 * data.
 */
static bool headers_alone(const struct btrfs_live *b)
{
	return b->geo.mixed && b->geo.node_bytes == 4096 && !b->geo.space_cache;
}

enum verdict btrfs_live_decide(const struct btrfs_live *b, u64 sector, u32 sectors, u64 tag)
{
	const struct btrfs_extent *e;
	u64 end;

	if (b->wrong || tag > b->geo.generation)
		return VERDICT_KEEP;
	if (!b->settled || b->map_generation <= tag)
		return VERDICT_UNDECIDED;
	e = btrfs_live_find(b, sector, &end);
	if (e && sectors <= end - sector && !e->striped &&
	    (e->type == BTRFS_CHUNK_DATA || CLASSIFIER_PLANTED(chunks) ||
	     (e->type & BTRFS_CHUNK_DATA && headers_alone(b))))
		return VERDICT_SQUASH;
	if (e || sectors > end - sector)
		return VERDICT_KEEP;
	/* In no known chunk: the next commit may name it. After two commits it is gone. */
	return b->map_generation > tag + 2 ? VERDICT_KEEP : VERDICT_UNDECIDED;
}
