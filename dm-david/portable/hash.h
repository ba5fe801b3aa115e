/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Multiplicative hashing (Knuth, volume 3, section 6.4), for tables whose size is a power of two.
 *
 * A stream of keys in a row is spread evenly. Whoever can choose the keys can make them collide.
 * Portable, any context, one multiplication.
 */
#ifndef DAVID_HASH_H
#define DAVID_HASH_H

#include "portable.h"

/* 2^64 divided by the golden ratio: odd, and without a pattern. */
#define HASH_GOLDEN	0x9e3779b97f4a7c15ULL

/* 32 bits for @key. All of them depend on all lower bits of @key, the lowest ones on the fewest. */
static inline u32 hash_u64(u64 key)
{
	return (key * HASH_GOLDEN) >> 32;
}

/* The slot of @key in a table of @slots slots, a power of two. */
static inline u32 hash_slot(u64 key, u32 slots)
{
	return hash_u64(key) & (slots - 1);
}

#endif
