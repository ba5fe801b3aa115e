// SPDX-License-Identifier: GPL-2.0
/* The Unclassified Block Store: see undecided.h. */
#include "undecided.h"
#include "../dm-david/portable/hash.h"

#define BLOCK_BITS	52	/* of a key: chunk number + 1 below, slot above */
#define CHUNK_BITS	6
#define MIN_CHUNKS	64u

void undecided_init(struct undecided *u, u64 limit)
{
	memset(u, 0, sizeof(*u));
	u->limit = limit;
	u->free = UNDECIDED_NONE;
	u->newest = UNDECIDED_NONE;
	u->oldest = UNDECIDED_NONE;
	u->listed = UNDECIDED_NONE;
}

/* A chunk for every four blocks of 4 KiB: most writes are of more than one. */
static u32 chunks_of(const struct undecided *u)
{
	u64 wanted = u->limit >> 14;
	u32 chunks = MIN_CHUNKS;

	while (chunks < wanted && chunks < 1u << 20)
		chunks <<= 1;
	return chunks;
}

static size_t bytes_of(u32 chunks)
{
	return chunks * (sizeof(struct undecided_chunk) + sizeof(u32));
}

size_t undecided_memory(const struct undecided *u)
{
	return u->wanted && !u->chunk ? bytes_of(chunks_of(u)) : 0;
}

void undecided_give(struct undecided *u, void *memory, size_t bytes)
{
	u32 i;

	u->chunk = memory;
	u->chunks = chunks_of(u);
	u->buckets = u->chunks;
	u->bucket = memory + bytes - u->buckets * sizeof(u32);
	for (i = 0; i < u->buckets; i++)
		u->bucket[i] = UNDECIDED_NONE;
	u->wanted = false;
}

size_t undecided_bytes(const struct undecided *u)
{
	return u->chunk ? bytes_of(u->chunks) : 0;
}

static u64 key_of(u32 slot, u64 block)
{
	return ((block >> CHUNK_BITS) + 1) | (u64)slot << BLOCK_BITS;
}

static u32 undecided_slot(u64 key)
{
	return key >> BLOCK_BITS;
}

static u64 undecided_first(u64 key)
{
	return ((key & ((1ULL << BLOCK_BITS) - 1)) - 1) << CHUNK_BITS;
}

static u32 *undecided_bucket(const struct undecided *u, u64 key)
{
	return &u->bucket[hash_u64(key) >> 8 & (u->buckets - 1)];
}

static struct undecided_chunk *undecided_find(const struct undecided *u, u64 key)
{
	u32 at;

	if (!u->chunk)
		return NULL;
	for (at = *undecided_bucket(u, key); at != UNDECIDED_NONE; at = u->chunk[at].next_in_bucket)
		if (u->chunk[at].key == key)
			return &u->chunk[at];
	return NULL;
}

static void unlink_age(struct undecided *u, struct undecided_chunk *c)
{
	if (c->newer == UNDECIDED_NONE)
		u->newest = c->older;
	else
		u->chunk[c->newer].older = c->older;
	if (c->older == UNDECIDED_NONE)
		u->oldest = c->newer;
	else
		u->chunk[c->older].newer = c->newer;
}

static void link_newest(struct undecided *u, struct undecided_chunk *c)
{
	u32 at = c - u->chunk;

	c->newer = UNDECIDED_NONE;
	c->older = u->newest;
	if (u->newest == UNDECIDED_NONE)
		u->oldest = at;
	else
		u->chunk[u->newest].newer = at;
	u->newest = at;
}

static void set_listed(struct undecided *u, struct undecided_chunk *c, bool listed)
{
	u32 at = c - u->chunk;

	if (c->listed == listed)
		return;
	c->listed = listed;
	if (listed) {
		c->listed_before = UNDECIDED_NONE;
		c->listed_next = u->listed;
		if (u->listed != UNDECIDED_NONE)
			u->chunk[u->listed].listed_before = at;
		u->listed = at;
		return;
	}
	if (c->listed_next != UNDECIDED_NONE)
		u->chunk[c->listed_next].listed_before = c->listed_before;
	if (c->listed_before != UNDECIDED_NONE)
		u->chunk[c->listed_before].listed_next = c->listed_next;
	else
		u->listed = c->listed_next;
}

static void undecided_drop_chunk(struct undecided *u, struct undecided_chunk *c)
{
	u32 at = c - u->chunk;
	u32 *link = undecided_bucket(u, c->key);

	while (*link != at)
		link = &u->chunk[*link].next_in_bucket;
	*link = c->next_in_bucket;
	unlink_age(u, c);
	set_listed(u, c, false);
	c->key = 0;
	c->next_in_bucket = u->free;
	u->free = at;
}

static u64 content_of(const struct undecided_chunk *c, u64 bitmap)
{
	return (u64)hweight64(bitmap) << c->bits;
}

/* Take @mask out; returns the bytes that were undecided. */
static u64 undecided_clear(struct undecided *u, struct undecided_chunk *c, u64 mask)
{
	u64 bytes = content_of(c, (c->old | c->new | c->data) & mask);

	c->old &= ~mask;
	c->new &= ~mask;
	c->data &= ~mask;
	c->doubtful &= ~mask;
	u->figures.now -= bytes;
	if (!(c->old | c->new | c->data))
		undecided_drop_chunk(u, c);
	else if (!c->data)
		set_listed(u, c, false);
	return bytes;
}

static void undecided_spill(struct undecided *u)
{
	u->figures.spilled += undecided_clear(u, &u->chunk[u->oldest], U64_MAX);
}

static struct undecided_chunk *undecided_new_chunk(struct undecided *u, u64 key, u32 bits, u64 time)
{
	struct undecided_chunk *c;
	u32 *bucket;

	if (u->free == UNDECIDED_NONE && u->used == u->chunks)
		undecided_spill(u);
	if (u->free == UNDECIDED_NONE) {
		c = &u->chunk[u->used++];
	} else {
		c = &u->chunk[u->free];
		u->free = c->next_in_bucket;
	}
	memset(c, 0, sizeof(*c));
	c->key = key;
	c->bits = bits;
	c->new_time = time;
	c->old_time = time;
	bucket = undecided_bucket(u, key);
	c->next_in_bucket = *bucket;
	*bucket = c - u->chunk;
	link_newest(u, c);
	return c;
}

void undecided_add(struct undecided *u, u32 slot, u64 block, u32 bits, u64 time, bool doubtful)
{
	u64 key = key_of(slot, block), bit = 1ULL << (block & (UNDECIDED_CHUNK - 1));
	struct undecided_chunk *c;

	if (!u->limit)
		return;
	if (!u->chunk) {
		u->wanted = true;
		return;
	}
	undecided_remove(u, slot, block, 1);
	while (u->figures.now && u->figures.now + (1ULL << bits) > u->limit)
		undecided_spill(u);
	c = undecided_find(u, key);
	if (!c)
		c = undecided_new_chunk(u, key, bits, time);
	if (c->new_time != time) {
		/* The older bitmap has the time of its newest block. */
		if (c->new) {
			c->old |= c->new;
			c->old_time = c->new_time;
			c->new = 0;
		}
		c->new_time = time;
	}
	c->new |= bit;
	if (doubtful)
		c->doubtful |= bit;
	u->figures.now += 1ULL << bits;
	u->figures.most = max(u->figures.most, u->figures.now);
	if (u->newest != c - u->chunk) {
		unlink_age(u, c);
		link_newest(u, c);
	}
}

static u64 undecided_mask(u32 from, u64 len)
{
	u64 mask = len >= UNDECIDED_CHUNK ? U64_MAX : (1ULL << len) - 1;

	return mask << from;
}

/* What is to be done with the blocks @mask of a chunk. */
enum change {
	CHANGE_REMOVE,
	CHANGE_DATA,		/* those written before @time are data */
	CHANGE_METADATA,
	CHANGE_DONE,		/* those that are data have been dropped */
};

static void undecided_change(struct undecided *u, struct undecided_chunk *c, u64 mask, u64 time,
			     enum change what)
{
	u64 before = 0;

	if (c->old_time < time)
		before |= c->old & mask;
	if (c->new_time < time)
		before |= c->new & mask;
	if (time == UNDECIDED_ANY)
		before &= ~c->doubtful;
	switch (what) {
	case CHANGE_REMOVE:
		undecided_clear(u, c, mask);
		break;
	case CHANGE_DATA:
		if (!before)
			break;
		c->old &= ~before;
		c->new &= ~before;
		c->data |= before;
		set_listed(u, c, true);
		break;
	case CHANGE_METADATA:
		if (before)
			u->figures.metadata += undecided_clear(u, c, before);
		break;
	case CHANGE_DONE:
		if (c->data & mask)
			u->figures.data += undecided_clear(u, c, c->data & mask);
	}
}

static void each_chunk(struct undecided *u, u32 slot, u64 block, u64 len, u64 time,
		       enum change what)
{
	u64 end = block + len, first;
	u32 i;

	if (!u->figures.now)
		return;
	if (len >> CHUNK_BITS > u->used) {
		/* @len is more than the table has: look at each chunk of the table. */
		for (i = 0; i < u->used; i++) {
			struct undecided_chunk *c = &u->chunk[i];
			u64 from;

			if (!c->key || undecided_slot(c->key) != slot)
				continue;
			first = undecided_first(c->key);
			from = max(first, block);
			if (from < first + UNDECIDED_CHUNK && from < end)
				undecided_change(u, c, undecided_mask(from - first, end - from),
						 time, what);
		}
		return;
	}
	while (block < end && u->figures.now) {
		struct undecided_chunk *c = undecided_find(u, key_of(slot, block));
		u32 from = block & (UNDECIDED_CHUNK - 1);

		if (c)
			undecided_change(u, c, undecided_mask(from, end - block), time, what);
		block += UNDECIDED_CHUNK - from;
	}
}

void undecided_remove(struct undecided *u, u32 slot, u64 block, u64 len)
{
	each_chunk(u, slot, block, len, 0, CHANGE_REMOVE);
}

void undecided_forget(struct undecided *u, u32 slot)
{
	u32 i;

	for (i = 0; i < u->used; i++)
		if (u->chunk[i].key && undecided_slot(u->chunk[i].key) == slot)
			u->figures.spilled += undecided_clear(u, &u->chunk[i], U64_MAX);
}

void undecided_decide(struct undecided *u, u32 slot, u64 block, u64 len, u64 time, bool data)
{
	each_chunk(u, slot, block, len, time, data ? CHANGE_DATA : CHANGE_METADATA);
}

const struct undecided_chunk *undecided_next(const struct undecided *u, u32 slot, u32 *at,
					     u64 *block)
{
	while (*at < u->used) {
		const struct undecided_chunk *c = &u->chunk[(*at)++];

		if (!c->key || undecided_slot(c->key) != slot)
			continue;
		*block = undecided_first(c->key);
		return c;
	}
	return NULL;
}

bool undecided_take(struct undecided *u, u32 *slot, u64 *block, u32 *len)
{
	struct undecided_chunk *c;
	u32 first;

	if (u->listed == UNDECIDED_NONE)
		return false;
	c = &u->chunk[u->listed];
	set_listed(u, c, false);
	first = __ffs64(c->data);
	*slot = undecided_slot(c->key);
	*block = undecided_first(c->key) + first;
	*len = fls64(c->data) - first;
	return true;
}

bool undecided_is_data(const struct undecided *u, u32 slot, u64 block, u32 len)
{
	u64 at, mask;
	u32 from, n;

	for (at = block; at < block + len; at += n) {
		const struct undecided_chunk *c = undecided_find(u, key_of(slot, at));

		from = at & (UNDECIDED_CHUNK - 1);
		n = min_t(u64, UNDECIDED_CHUNK - from, block + len - at);
		mask = undecided_mask(from, n);
		if (!c || (c->data & mask) != mask)
			return false;
	}
	return true;
}

void undecided_done(struct undecided *u, u32 slot, u64 block, u32 len)
{
	each_chunk(u, slot, block, len, 0, CHANGE_DONE);
}
