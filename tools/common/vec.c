// SPDX-License-Identifier: GPL-2.0
#include "vec.h"

#define ROOM_MIN 32

void *vec_grow(void *items, u64 *room, u64 count, size_t item)
{
	*room = max_t(u64, max(*room * 2, count), ROOM_MIN);
	return xrealloc(items, *room * item);
}
