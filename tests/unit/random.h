/* SPDX-License-Identifier: GPL-2.0 */
/* Random numbers that repeat: the same sequence from the same seed, in every world. */
#ifndef UNIT_RANDOM_H
#define UNIT_RANDOM_H

#include "../../dm-david/portable/portable.h"

struct rnd {
	u64 state;
};

/* splitmix64 */
static inline u64 rnd_next(struct rnd *rnd)
{
	u64 z = rnd->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 0 … n - 1 */
static inline u32 rnd_below(struct rnd *rnd, u32 n)
{
	return ((rnd_next(rnd) >> 32) * n) >> 32;
}

#endif
