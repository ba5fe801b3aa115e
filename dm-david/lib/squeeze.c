// SPDX-License-Identifier: GPL-2.0
/*
 * Coding a block in fewer bytes: see squeeze.h.
 *
 * The range coder is that of LZMA (Igor Pavlov, public domain): a bit is coded by its probability,
 * which follows the bits that were. What stands for what:
 *
 *	0 literal		a byte, by its place in a 32-bit number
 *	1 0 distance length	as so many bytes, so far before
 *	1 1 length		likewise, as far before as the last time
 *
 * A number is coded by how many bits it has, and then these bits. Behind the input's end there are
 * zeros: so an encoder need not write those that it would end with.
 */
#include "squeeze.h"

#include "../portable/portable-alloc.h"

#define PROB_BITS	11
#define PROB_HALF	1024
#define PROB_SHIFT	4	/* how fast a probability follows: a block is short */
#define RANGE_TOP	0x1000000u

#define NUMBER_BITS	12	/* distances and lengths are less than 4096 */
#define HASH_BITS	10
#define NONE		0xffffu
#define CHAIN_MOST	48	/* places looked at for a repeat */
#define REPEAT_LEAST	3	/* bytes; with a new distance */
#define FAR		256	/* for so far back the least length is too short */

/* A number from 1 on. */
struct number_model {
	u16 size[16];
	u16 bit[NUMBER_BITS + 1][NUMBER_BITS];
};

struct model {
	u16 repeats[2][4];	/* by what was before, and the place in a number */
	u16 same_distance[2];
	u16 literal[4][256];
	struct number_model distance, length[2];
};

struct squeeze {
	struct model model;
	u8 deltas[SQUEEZE_BLOCK];
	/* Of the encoder only: */
	u16 first[1 << HASH_BITS];	/* the last place with that hash, or NONE */
	u16 before[SQUEEZE_BLOCK];	/* the place before it */
	u8 out[SQUEEZE_BLOCK];
};

struct squeeze *squeeze_new(gfp_t gfp)
{
	return kmalloc(sizeof(struct squeeze), gfp);
}

void squeeze_free(struct squeeze *s)
{
	kfree(s);
}

size_t squeeze_bytes(void)
{
	return sizeof(struct squeeze);
}

static void model_begin(struct model *m)
{
	u16 *prob = (u16 *)m;
	size_t i;

	BUILD_BUG_ON(sizeof(*m) % sizeof(*prob));
	for (i = 0; i < sizeof(*m) / sizeof(*prob); i++)
		prob[i] = PROB_HALF;
}

/* The encoder */

struct encoder {
	u64 low;
	u32 range;
	u32 pending;	/* bytes that a carry would still change: cache, and 0xff behind it */
	u8 cache;
	u8 *out;
	u32 room, len;
	bool full;
};

static void coder_put_byte(struct encoder *e, u8 byte)
{
	if (e->len < e->room)
		e->out[e->len++] = byte;
	else
		e->full = true;
}

static void shift_low(struct encoder *e)
{
	if (e->low < 0xff000000u || e->low >> 32) {
		u8 carry = e->low >> 32, byte = e->cache;

		for (; e->pending; e->pending--) {
			coder_put_byte(e, byte + carry);
			byte = 0xff;
		}
		e->cache = e->low >> 24;
	}
	e->pending++;
	e->low = (u32)e->low << 8;
}

static void coder_put_bit(struct encoder *e, u16 *prob, u32 bit)
{
	u32 bound = (e->range >> PROB_BITS) * *prob;

	if (!bit) {
		e->range = bound;
		*prob += ((1u << PROB_BITS) - *prob) >> PROB_SHIFT;
	} else {
		e->low += bound;
		e->range -= bound;
		*prob -= *prob >> PROB_SHIFT;
	}
	while (e->range < RANGE_TOP) {
		e->range <<= 8;
		shift_low(e);
	}
}

/* @bits bits of @value, each by what those before it were. */
static void coder_put_tree(struct encoder *e, u16 *prob, unsigned int bits, u32 value)
{
	u32 node = 1;

	while (bits--) {
		u32 bit = value >> bits & 1;

		coder_put_bit(e, &prob[node], bit);
		node = node << 1 | bit;
	}
}

static void coder_put_number(struct encoder *e, struct number_model *m, u32 value)
{
	unsigned int size = fls64(value), i;

	coder_put_tree(e, m->size, 4, size);
	for (i = size - 1; i--;)
		coder_put_bit(e, &m->bit[size][i], value >> i & 1);
}

/* The shortest end: the number between low and low + range with the most zeros at its end. */
static void coder_put_end(struct encoder *e)
{
	u64 low = e->low, high = e->low + e->range;
	unsigned int zeros, i;

	for (zeros = 32; zeros; zeros--) {
		u64 mask = ((u64)1 << zeros) - 1;

		low = (e->low + mask) & ~mask;
		if (low < high)
			break;
	}
	e->low = zeros ? low : e->low;
	for (i = 0; i < 5; i++)
		shift_low(e);
	while (e->len > 1 && !e->out[e->len - 1])
		e->len--;
}

static u32 hash_at(const u8 *p)
{
	u32 word = p[0] | p[1] << 8 | (u32)p[2] << 16;

	return word * 2654435761u >> (32 - HASH_BITS);
}

static u32 equal_bytes(const u8 *data, u32 a, u32 b)
{
	u32 n = 0;

	while (b + n < SQUEEZE_BLOCK && data[a + n] == data[b + n] && n < SQUEEZE_BLOCK - 1)
		n++;
	return n;
}

static void enter_places(struct squeeze *s, const u8 *data, u32 from, u32 to)
{
	for (; from < to && from + REPEAT_LEAST <= SQUEEZE_BLOCK; from++) {
		u32 hash = hash_at(data + from);

		s->before[from] = s->first[hash];
		s->first[hash] = from;
	}
}

/* The longest repeat of what is at @at, and how far before it begins. */
static u32 find_repeat(const struct squeeze *s, const u8 *data, u32 at, u32 *distance)
{
	unsigned int tries = CHAIN_MOST;
	u32 best = 0, place;

	if (at + REPEAT_LEAST > SQUEEZE_BLOCK)
		return 0;
	for (place = s->first[hash_at(data + at)]; place != NONE && tries--;
	     place = s->before[place]) {
		u32 n = equal_bytes(data, place, at);

		if (n > best) {
			best = n;
			*distance = at - place;
		}
	}
	if (best < REPEAT_LEAST || (best == REPEAT_LEAST && *distance > FAR))
		return 0;
	return best;
}

/* Code @data to @out, shorter than @room. */
static u32 squeeze_encode_bytes(struct squeeze *s, const u8 *data, u8 *out, u32 room)
{
	struct encoder e = { .range = U32_MAX, .out = out, .room = room };
	u32 at = 0, last = 0, distance = 0, again, n, before = 0;
	struct model *m = &s->model;

	model_begin(m);
	memset(s->first, 0xff, sizeof(s->first));
	while (at < SQUEEZE_BLOCK && !e.full) {
		again = last ? equal_bytes(data, at - last, at) : 0;
		n = find_repeat(s, data, at, &distance);
		if (again >= 2 && again + 2 >= n) {
			n = again;
			coder_put_bit(&e, &m->repeats[before][at & 3], 1);
			coder_put_bit(&e, &m->same_distance[before], 1);
			coder_put_number(&e, &m->length[1], n);
			before = 1;
		} else if (n) {
			coder_put_bit(&e, &m->repeats[before][at & 3], 1);
			coder_put_bit(&e, &m->same_distance[before], 0);
			coder_put_number(&e, &m->distance, distance);
			coder_put_number(&e, &m->length[0], n);
			last = distance;
			before = 1;
		} else {
			n = 1;
			coder_put_bit(&e, &m->repeats[before][at & 3], 0);
			coder_put_tree(&e, m->literal[at & 3], 8, data[at]);
			before = 0;
		}
		enter_places(s, data, at, at + n);
		at += n;
	}
	coder_put_end(&e);
	return e.full ? 0 : e.len;
}

static void to_deltas(const u8 *block, u8 *deltas)
{
	u32 before = 0, i;

	for (i = 0; i < SQUEEZE_BLOCK; i += 4) {
		u32 number = get_unaligned_le32(block + i);

		put_unaligned_le32(number - before, deltas + i);
		before = number;
	}
}

static void from_deltas(u8 *block)
{
	u32 number = 0, i;

	for (i = 0; i < SQUEEZE_BLOCK; i += 4) {
		number += get_unaligned_le32(block + i);
		put_unaligned_le32(number, block + i);
	}
}

u32 squeeze_encode(struct squeeze *s, const void *block, u8 *out, u32 room,
		   enum squeeze_kind *kind)
{
	u32 bytes, deltas;

	room = min_t(u32, room, SQUEEZE_BLOCK);
	*kind = SQUEEZE_BYTES;
	bytes = squeeze_encode_bytes(s, block, out, room);
	to_deltas(block, s->deltas);
	deltas = squeeze_encode_bytes(s, s->deltas, s->out, bytes ? bytes : room);
	if (!deltas || (bytes && deltas >= bytes))
		return bytes;
	memcpy(out, s->out, deltas);
	*kind = SQUEEZE_DELTAS;
	return deltas;
}

/* The decoder */

struct decoder {
	u32 range, code;
	const u8 *in;
	u32 left;
};

static u8 decoder_get_byte(struct decoder *d)
{
	if (!d->left)
		return 0;
	d->left--;
	return *d->in++;
}

static u32 decoder_get_bit(struct decoder *d, u16 *prob)
{
	u32 bound = (d->range >> PROB_BITS) * *prob, bit;

	if (d->code < bound) {
		d->range = bound;
		*prob += ((1u << PROB_BITS) - *prob) >> PROB_SHIFT;
		bit = 0;
	} else {
		d->range -= bound;
		d->code -= bound;
		*prob -= *prob >> PROB_SHIFT;
		bit = 1;
	}
	while (d->range < RANGE_TOP) {
		d->range <<= 8;
		d->code = d->code << 8 | decoder_get_byte(d);
	}
	return bit;
}

static u32 decoder_get_tree(struct decoder *d, u16 *prob, unsigned int bits)
{
	u32 node = 1, top = 1u << bits;

	while (node < top)
		node = node << 1 | decoder_get_bit(d, &prob[node]);
	return node - top;
}

/* 0: no such number. */
static u32 decoder_get_number(struct decoder *d, struct number_model *m)
{
	unsigned int size = decoder_get_tree(d, m->size, 4), i;
	u32 value = 1;

	if (!size || size > NUMBER_BITS)
		return 0;
	for (i = size - 1; i--;)
		value = value << 1 | decoder_get_bit(d, &m->bit[size][i]);
	return value;
}

bool squeeze_decode(struct squeeze *s, enum squeeze_kind kind, const u8 *in, u32 len,
		    void *block)
{
	struct decoder d = { .range = U32_MAX, .in = in, .left = len };
	u32 at = 0, last = 0, before = 0, n, i;
	struct model *m = &s->model;
	u8 *data = block;

	if (kind >= SQUEEZE_KINDS)
		return false;
	model_begin(m);
	for (i = 0; i < 4; i++)
		d.code = d.code << 8 | decoder_get_byte(&d);
	while (at < SQUEEZE_BLOCK) {
		if (!decoder_get_bit(&d, &m->repeats[before][at & 3])) {
			data[at] = decoder_get_tree(&d, m->literal[at & 3], 8);
			at++;
			before = 0;
			continue;
		}
		if (decoder_get_bit(&d, &m->same_distance[before])) {
			n = decoder_get_number(&d, &m->length[1]);
		} else {
			last = decoder_get_number(&d, &m->distance);
			n = decoder_get_number(&d, &m->length[0]);
		}
		if (!last || last > at || !n || n > SQUEEZE_BLOCK - at)
			return false;
		for (i = 0; i < n; i++, at++)
			data[at] = data[at - last];
		before = 1;
	}
	if (kind == SQUEEZE_DELTAS)
		from_deltas(block);
	return true;
}
