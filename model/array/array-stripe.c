// SPDX-License-Identifier: GPL-2.0
/*
 * RAID-4, 5 and 6, as md's raid5.c serves them.
 *
 * A read goes straight to the members that have the data (chunk_aligned_read()). With a failed
 * member reads are operations, too. They go by way of the stripe cache. All members that work are
 * read instead of the failed one.
 *
 * A write is divided into operations. One is for the rows that the write overwrites as a whole: it
 * reads nothing. There is one for each row that the write overwrites in part. It chooses for each
 * block what to read, as handle_stripe_dirtying() does for each stripe_head of a page: the old data
 * and the parity (read-modify-write), or what is not written (reconstruct-write). When all of this
 * has been read, data and parity are written.
 *
 *	HELD	 another operation is at work on some of its blocks
 *	DELAYED	 it has to read, nobody waits for it, and others are reading: md's delayed_list
 *	READING
 *	WRITING
 *
 * A later write to the same row joins an operation that is held or delayed. The stripe cache says
 * which blocks of the last stripes are known. They need not be read.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "array-internal.h"

enum op_state { OP_HELD, OP_DELAYED, OP_READING, OP_WRITING };

/* A part of a request, in one chunk; or, in an operation on full rows, all of them. */
struct stripe_piece {
	struct stripe_piece *next;
	struct array_wait *parent;
	u64 row;
	u32 index;			/* of the data chunk */
	u32 from, to;			/* sectors in the chunk */
};

struct stripe_op {
	struct array_wait reads;	/* first: see op_of_reads() */
	struct array_wait writes;
	struct stripe_op *next;
	struct stripe_piece *pieces;
	u64 row, rows;
	u32 from, to;			/* whole blocks, in sectors of the chunk */
	enum op_state state;
	bool full;			/* overwrites its rows */
	bool read;			/* and writes nothing: a member has failed */
	u8 flags;			/* DISK_FUA, DISK_SYNC */
};

/* A block of a row, as sets of chunks by their index: data, P, Q. */
struct stripe {
	u64 touched, full;		/* data: written in part at least; as a whole */
	u64 failed;
	u64 known;			/* in the cache */
};

/* The cache */

struct cached_stripe {
	u64 row;
	u64 known;			/* 0: the slot is empty */
	u32 block;
	u32 next;			/* in its bucket, and 1; 0: none */
	bool used;			/* since the hand came past */
};

struct stripe_cache {
	struct cached_stripe *all;
	u32 *buckets;			/* as next */
	u32 nr, hand;
};

int stripes_init(struct array *array, gfp_t gfp)
{
	u32 nr = array->setup.stripe_cache;
	struct stripe_cache *cache;

	if (!nr || !layout_parities(&array->setup.layout))
		return 0;
	cache = kvzalloc(sizeof(*cache), gfp);
	array->cache = cache;
	if (!cache)
		return -ENOMEM;
	cache->nr = nr;
	cache->all = kvcalloc(nr, sizeof(*cache->all), gfp);
	cache->buckets = kvcalloc(nr, sizeof(*cache->buckets), gfp);
	return cache->all && cache->buckets ? 0 : -ENOMEM;
}

static u32 *stripe_bucket(const struct stripe_cache *cache, u64 row, u32 block)
{
	u32 which;

	div_u64_rem(row * 0x9e3779b1 + block, cache->nr, &which);
	return &cache->buckets[which];
}

static struct cached_stripe *cache_find_stripe(const struct stripe_cache *cache, u64 row, u32 block)
{
	u32 i;

	for (i = *stripe_bucket(cache, row, block); i; i = cache->all[i - 1].next)
		if (cache->all[i - 1].row == row && cache->all[i - 1].block == block)
			return &cache->all[i - 1];
	return NULL;
}

static void unlink_stripe(struct stripe_cache *cache, struct cached_stripe *stripe)
{
	u32 *link = stripe_bucket(cache, stripe->row, stripe->block);

	while (*link != stripe - cache->all + 1)
		link = &cache->all[*link - 1].next;
	*link = stripe->next;
}

/* The next one that was not used since the hand passed it: nearly the least recently used one. */
static struct cached_stripe *replace_stripe(struct stripe_cache *cache)
{
	struct cached_stripe *stripe;
	bool used;

	do {
		stripe = &cache->all[cache->hand];
		cache->hand = (cache->hand + 1) % cache->nr;
		used = stripe->used;
		stripe->used = false;
	} while (used);
	return stripe;
}

static u64 cache_known(const struct array *array, u64 row, u32 block)
{
	const struct cached_stripe *stripe =
		array->cache ? cache_find_stripe(array->cache, row, block) : NULL;

	return stripe ? stripe->known : 0;
}

static void cache_add(struct stripe_cache *cache, u64 row, u32 block, u64 known)
{
	struct cached_stripe *stripe;
	u32 *link;

	if (!cache)
		return;
	stripe = cache_find_stripe(cache, row, block);
	if (!stripe) {
		stripe = replace_stripe(cache);
		if (stripe->known)
			unlink_stripe(cache, stripe);
		link = stripe_bucket(cache, row, block);
		*stripe = (struct cached_stripe){ .row = row, .block = block, .next = *link };
		*link = stripe - cache->all + 1;
	}
	stripe->known |= known;
	stripe->used = true;
}

/* Sets of chunks */

static u32 data_of(const struct array *array)
{
	return array->setup.layout.members - layout_parities(&array->setup.layout);
}

static u64 first_bits(u32 n)
{
	return n ? U64_MAX >> (64 - n) : 0;
}

static u64 parity_of(const struct array *array)
{
	return first_bits(array->setup.layout.members) & ~first_bits(data_of(array));
}

static u64 failed_of(const struct array *array, u64 row)
{
	u64 failed = 0;
	u32 i;

	for (i = 0; array->setup.failed && i < array->setup.layout.members; i++)
		if (!member_works(array, layout_member(&array->setup.layout, row, i)))
			failed |= 1ULL << i;
	return failed;
}

/* What handle_stripe_dirtying() counts. A block that cannot be read counts as twice all members. */
static u32 stripe_cost(const struct array *array, u64 chunks, u64 failed)
{
	return hweight64(chunks & ~failed) +
	       2 * array->setup.layout.members * hweight64(chunks & failed);
}

/* Which chunks' blocks are read before the write. */
static u64 to_read(const struct array *array, const struct stripe *stripe)
{
	u64 data = first_bits(data_of(array)), all = first_bits(array->setup.layout.members);
	u64 modify = (stripe->touched | parity_of(array)) & ~stripe->known;
	u64 rebuild = data & ~stripe->full & ~stripe->known, read;
	u32 rmw = stripe_cost(array, modify, stripe->failed);
	u32 rcw = stripe_cost(array, rebuild, stripe->failed);

	if (MODEL_PLANTED(parity_read))
		modify &= data;
	read = rmw < rcw || (rmw == rcw && array->setup.rmw == RMW_PREFER) ? modify : rebuild;
	if (array->setup.rmw == RMW_DISABLE)
		read = rebuild;
	/* A block that it has to know is computed. All other blocks are read for that. */
	if (read & stripe->failed)
		read = all & ~stripe->known & ~stripe->failed;
	return read;
}

/* The same where nothing is written. */
static u64 to_read_only(const struct array *array, const struct stripe *stripe)
{
	u64 all = first_bits(array->setup.layout.members);
	u64 wanted = stripe->touched & ~stripe->known;

	return wanted & stripe->failed ? all & ~stripe->known & ~stripe->failed : wanted;
}

static u64 to_write(const struct array *array, const struct stripe *stripe)
{
	return (stripe->touched | parity_of(array)) & ~stripe->failed;
}

/* The same set of chunks, in @row. */
static u64 chunks_of(const struct array *array, u64 members, u64 row)
{
	u64 chunks = 0;
	u32 i;

	for (i = 0; i < array->setup.layout.members; i++)
		if (members >> layout_member(&array->setup.layout, row, i) & 1)
			chunks |= 1ULL << i;
	return chunks;
}

static u64 row_of(const struct array *array, u64 sector, u32 *block)
{
	u64 row = div_u64_rem(sector, array->setup.layout.chunk, block);

	*block /= ARRAY_BLOCK;
	return row;
}

bool stripes_know(const struct array *array, u32 member, u64 sector)
{
	u32 block;
	u64 row = row_of(array, sector, &block);

	return cache_known(array, row, block) & chunks_of(array, 1ULL << member, row);
}

void stripes_learn(struct array *array, u64 members, u64 sector)
{
	u32 block;
	u64 row = row_of(array, sector, &block);

	cache_add(array->cache, row, block, chunks_of(array, members, row));
}

/* What @op writes of the block at @at. */
static void look_at(const struct array *array, const struct stripe_op *op, u64 row, u32 at,
		    struct stripe *stripe)
{
	const struct stripe_piece *piece;

	stripe->touched = 0;
	stripe->full = 0;
	stripe->known = cache_known(array, row, at / ARRAY_BLOCK);
	for (piece = op->pieces; piece; piece = piece->next) {
		if (piece->row != row || piece->from >= at + ARRAY_BLOCK || piece->to <= at)
			continue;
		stripe->touched |= 1ULL << piece->index;
		if (piece->from <= at && piece->to >= at + ARRAY_BLOCK)
			stripe->full |= 1ULL << piece->index;
	}
}

/* Of @chunks the array's user did not ask for @extra. */
static void add_blocks(struct array *array, struct array_extents *extents, u64 row, u32 at,
		       u64 chunks, u64 extra)
{
	const struct array_layout *layout = &array->setup.layout;
	u32 i;

	for (i = 0; chunks; i++, chunks >>= 1)
		if (chunks & 1)
			extents_add(array, extents, layout_member(layout, row, i),
				    row * layout->chunk + at, ARRAY_BLOCK, extra >> i & 1);
}

/* Operations */

static struct stripe_op *op_of_reads(struct array_wait *wait)
{
	return (struct stripe_op *)wait;
}

static struct stripe_op *op_of_writes(struct array_wait *wait)
{
	return (struct stripe_op *)((char *)wait - offsetof(struct stripe_op, writes));
}

static bool overlap(const struct stripe_op *a, const struct stripe_op *b)
{
	return a->row < b->row + b->rows && b->row < a->row + a->rows && a->from < b->to &&
	       b->from < a->to;
}

static bool may_go(const struct array *array, const struct stripe_op *op)
{
	const struct stripe_op *other;

	if (array->setup.writes != WRITES_MD)
		return true;
	for (other = array->ops; other != op; other = other->next)
		if (overlap(other, op))
			return false;
	return true;
}

static void add_reads(struct array *array, const struct stripe_op *op, u64 row,
		      struct array_extents *rest, struct array_extents *replaced)
{
	struct stripe stripe = { .failed = failed_of(array, row) };
	u32 at;

	for (at = op->from; at < op->to; at += ARRAY_BLOCK) {
		u64 read, own, extra;

		look_at(array, op, row, at, &stripe);
		if (!stripe.touched)
			continue;
		read = op->read ? to_read_only(array, &stripe) : to_read(array, &stripe);
		own = array->setup.writes == WRITES_EAGER ? read & stripe.touched : 0;
		extra = op->read ? ~stripe.touched : U64_MAX;
		add_blocks(array, replaced, row, at, own, extra);
		add_blocks(array, rest, row, at, read & ~own, extra);
	}
}

static void add_full_row(struct array *array, u64 row, struct array_extents *extents)
{
	const struct array_layout *layout = &array->setup.layout;
	u32 i, chunk = layout->chunk;
	u64 parity = 0;		/* members */

	for (i = data_of(array); i < layout->members; i++)
		parity |= 1ULL << layout_member(layout, row, i);
	for (i = 0; i < layout->members; i++)
		if (member_works(array, i))
			extents_add(array, extents, i, row * chunk, chunk, parity >> i & 1);
}

static void add_writes(struct array *array, const struct stripe_op *op, u64 row,
		       struct array_extents *extents)
{
	struct stripe stripe = { .failed = failed_of(array, row) };
	u64 write;
	u32 at;

	for (at = op->from; at < op->to; at += ARRAY_BLOCK) {
		look_at(array, op, row, at, &stripe);
		if (!stripe.touched)
			continue;
		write = to_write(array, &stripe);
		if (array->setup.writes == WRITES_EAGER)	/* on their way already */
			write &= ~(to_read(array, &stripe) & stripe.touched);
		add_blocks(array, extents, row, at, write, parity_of(array));
	}
}

static void write_op(struct array *array, struct stripe_op *op)
{
	struct array_extents extents = { };
	u64 row;

	op->state = OP_WRITING;
	for (row = op->row; !op->read && row < op->row + op->rows; row++)
		if (op->full)
			add_full_row(array, row, &extents);
		else
			add_writes(array, op, row, &extents);
	extents_send(array, &extents, DISK_WRITE, op->flags, &op->writes);
	array_put(array, &op->writes);
}

static void try_op(struct array *array, struct stripe_op *op)
{
	struct array_extents reads = { }, replaced = { };
	u64 row;

	if (!may_go(array, op))
		return;
	for (row = op->row; !op->full && row < op->row + op->rows; row++)
		add_reads(array, op, row, &reads, &replaced);
	if (!reads.nr && !replaced.nr) {
		write_op(array, op);
		return;
	}
	if (array->prereading && !op->read && !(op->flags & DISK_SYNC) &&
	    array->setup.writes == WRITES_MD) {
		op->state = OP_DELAYED;
		kvfree(reads.all);
		kvfree(replaced.all);
		return;
	}
	op->state = OP_READING;
	array->prereading += !op->read;
	extents_replace(array, &replaced, op->flags, &op->reads, &op->writes);
	extents_send(array, &reads, DISK_READ, op->flags & DISK_SYNC, &op->reads);
	array_put(array, &op->reads);
}

static void try_all(struct array *array, enum op_state state)
{
	struct stripe_op *op, *next;

	for (op = array->ops; op; op = next) {
		next = op->next;
		if (op->state == state)
			try_op(array, op);
	}
}

/* raid5_activate_delayed(): all delayed operations start together. */
static void activate(struct array *array)
{
	struct stripe_op *op;

	if (array->prereading)
		return;
	for (op = array->ops; op; op = op->next)
		if (op->state == OP_DELAYED) {
			op->state = OP_HELD;
			op->flags |= DISK_SYNC;
		}
	try_all(array, OP_HELD);
}

static void reads_done(struct array *array, struct array_wait *wait)
{
	struct stripe_op *op = op_of_reads(wait);

	array->prereading -= !op->read;
	op->writes.missed |= wait->missed;
	write_op(array, op);
	activate(array);
}

/* What is known of a block when @op is done. */
static u64 now_known(const struct array *array, const struct stripe_op *op,
		     const struct stripe *stripe)
{
	if (op->full)
		return first_bits(array->setup.layout.members);
	if (op->read)
		return stripe->touched | to_read_only(array, stripe);
	/* The parity of a member that failed is computed, too. */
	return stripe->touched | to_read(array, stripe) | parity_of(array);
}

static void remember(struct array *array, const struct stripe_op *op)
{
	struct stripe stripe = { };
	u64 row;
	u32 at;

	for (row = op->row; array->cache && row < op->row + op->rows; row++) {
		stripe.failed = failed_of(array, row);
		for (at = op->from; at < op->to; at += ARRAY_BLOCK) {
			look_at(array, op, row, at, &stripe);
			if (stripe.touched || op->full)
				cache_add(array->cache, row, at / ARRAY_BLOCK,
					  now_known(array, op, &stripe));
		}
	}
}

static void remove_op(struct array *array, struct stripe_op *op)
{
	struct stripe_op **link = &array->ops;

	while (*link != op)
		link = &(*link)->next;
	*link = op->next;
}

static void writes_done(struct array *array, struct array_wait *wait)
{
	struct stripe_op *op = op_of_writes(wait);
	struct stripe_piece *piece, *next;

	remember(array, op);
	remove_op(array, op);
	for (piece = op->pieces; piece; piece = next) {
		next = piece->next;
		piece->parent->missed |= wait->missed;
		piece->parent->moved += wait->moved;
		piece->parent->cached += wait->cached;
		array_put(array, piece->parent);
		kvfree(piece);
	}
	kvfree(op);
	try_all(array, OP_HELD);
}

void stripes_exit(struct array *array)
{
	struct stripe_op *op;
	struct stripe_piece *piece;

	while ((op = array->ops)) {
		array->ops = op->next;
		while ((piece = op->pieces)) {
			op->pieces = piece->next;
			kvfree(piece);
		}
		kvfree(op);
	}
	if (array->cache) {
		kvfree(array->cache->all);
		kvfree(array->cache->buckets);
	}
	kvfree(array->cache);
}

/* An operation on @row that has not begun: a later write to the row joins it. */
static struct stripe_op *find_op(const struct array *array, u64 row)
{
	struct stripe_op *op;

	if (array->setup.writes != WRITES_MD)
		return NULL;
	for (op = array->ops; op; op = op->next)
		if (op->row == row && !op->full && !op->read && op->state <= OP_DELAYED)
			return op;
	return NULL;
}

static struct stripe_op *add_op(struct array *array, u64 row, u64 rows, u8 flags)
{
	struct stripe_op *op = kvzalloc(sizeof(*op), GFP_KERNEL), **link = &array->ops;

	if (!op) {
		array->failed = true;
		return NULL;
	}
	*op = (struct stripe_op){ .reads = { .left = 1, .done = reads_done },
				  .writes = { .left = 1, .done = writes_done },
				  .row = row, .rows = rows, .flags = flags, .from = U32_MAX };
	while (*link)
		link = &(*link)->next;
	*link = op;
	return op;
}

static void add_piece(struct array *array, struct stripe_op *op, struct array_wait *parent,
		      const struct stripe_piece *model)
{
	struct stripe_piece *piece = kvzalloc(sizeof(*piece), GFP_KERNEL);

	if (!piece) {
		array->failed = true;
		return;
	}
	*piece = *model;
	piece->parent = parent;
	piece->next = op->pieces;
	op->pieces = piece;
	parent->left++;
	op->from = min(op->from, piece->from / ARRAY_BLOCK * ARRAY_BLOCK);
	op->to = max(op->to, DIV_ROUND_UP(piece->to, ARRAY_BLOCK) * ARRAY_BLOCK);
}

static void write_full(struct array *array, u64 row, u64 rows, u8 flags, struct array_wait *parent)
{
	struct stripe_op *op = add_op(array, row, rows, flags);

	if (!op)
		return;
	op->full = true;
	array->joined |= !array_has_plugs(&array->setup);
	add_piece(array, op, parent,
		  &(struct stripe_piece){ .to = array->setup.layout.chunk });
	try_op(array, op);
}

/* @from, @to: sectors of the row's data, from the first one on and before the second. */
static void add_part(struct array *array, struct stripe_op *op, u64 row, u32 from, u32 to,
		     struct array_wait *parent)
{
	u32 chunk = array->setup.layout.chunk, index;

	for (index = from / chunk; index * chunk < to; index++)
		add_piece(array, op, parent, &(struct stripe_piece){
			.row = row,
			.index = index,
			.from = max(from, index * chunk) - index * chunk,
			.to = min(to, (index + 1) * chunk) - index * chunk,
		});
}

static void write_part(struct array *array, u64 row, u32 from, u32 to, u8 flags,
		       struct array_wait *parent)
{
	struct stripe_op *op = find_op(array, row);

	array->part_written |= from / ARRAY_BLOCK != (to - 1) / ARRAY_BLOCK;
	if (op)
		op->flags |= flags;
	else
		op = add_op(array, row, 1, flags);
	if (!op)
		return;
	add_part(array, op, row, from, to, parent);
	try_op(array, op);
}

/* All of it in one operation. */
static void serve_whole(struct array *array, const struct disk_request *request,
			struct array_wait *wait)
{
	u32 width = array->setup.layout.chunk * data_of(array), from;
	u64 row = div_u64_rem(request->sector, width, &from), left = request->sectors;
	struct stripe_op *op = add_op(array, row, div_u64(from + left + width - 1, width),
				      request->flags);
	u32 part;

	if (!op)
		return;
	op->read = request->op == DISK_READ;
	for (; left; left -= part, from = 0) {
		part = min_t(u64, left, width - from);
		add_part(array, op, row++, from, from + part, wait);
	}
	try_op(array, op);
}

void stripes_write(struct array *array, const struct disk_request *request,
		   struct array_wait *wait)
{
	u32 width = array->setup.layout.chunk * data_of(array), from, to;
	u64 row = div_u64_rem(request->sector, width, &from);
	u64 last = div_u64_rem(request->sector + request->sectors, width, &to);

	if (array->setup.writes != WRITES_MD) {
		serve_whole(array, request, wait);
		return;
	}
	if (from && row == last) {
		write_part(array, row, from, to, request->flags, wait);
		return;
	}
	if (from)
		write_part(array, row++, from, width, request->flags, wait);
	if (row < last)
		write_full(array, row, last - row, request->flags, wait);
	if (to)
		write_part(array, last, 0, to, request->flags, wait);
}

void stripes_read(struct array *array, const struct disk_request *request,
		  struct array_wait *wait)
{
	struct array_extents extents = { };
	struct array_piece piece;
	u64 done;

	if (array->setup.failed) {
		serve_whole(array, request, wait);
		return;
	}
	for (done = 0; done < request->sectors; done += piece.sectors) {
		layout_piece(&array->setup.layout, request->sector + done,
			     request->sectors - done, 0, &piece);
		extents_add(array, &extents, piece.member, piece.sector, piece.sectors, false);
	}
	extents_send(array, &extents, DISK_READ, request->flags, wait);
}
