/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Numbers that look random, from a seed: splitmix64.
 *
 * G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
 * Whoever knows one number knows all that follow. Portable, any context, two multiplications.
 */
#ifndef DAVID_SPLITMIX_H
#define DAVID_SPLITMIX_H

#include "hash.h"

/* The next number; any @state is a seed. */
static inline u64 splitmix_next(u64 *state)
{
	u64 z = *state += HASH_GOLDEN;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

#endif
