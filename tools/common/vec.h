/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An array that grows. Its owner has the items, how many there are, and for how many there is
 * room; all three are 0 at first. Without memory the program ends.
 */
#ifndef COMMON_VEC_H
#define COMMON_VEC_H

#include "alloc.h"

void *vec_grow(void *items, u64 *room, u64 count, size_t item);

/*
 * Room for @count items of @item bytes: returns @items, or where they are now, and then *@room is
 * at least twice what it was. What is behind the old items is not initialized. O(1) on average.
 */
static inline void *vec_reserve(void *items, u64 *room, u64 count, size_t item)
{
	return likely(count <= *room) ? items : vec_grow(items, room, count, item);
}

#endif
