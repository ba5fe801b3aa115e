// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "rank.h"

static int rank_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

void rank_sort(u64 *times, u64 nr)
{
	if (nr)
		qsort(times, nr, sizeof(*times), rank_compare);
}

u64 rank_of(u64 nr, u32 thousandths)
{
	return min(nr, max_t(u64, 1, DIV_ROUND_UP(nr * thousandths, 1000)));
}

u64 rank_time(const u64 *times, u64 nr, u32 thousandths)
{
	return nr ? times[rank_of(nr, thousandths) - 1] : 0;
}
