// SPDX-License-Identifier: GPL-2.0
#include "rank.h"

u64 rank_of(u64 nr, u32 thousandths)
{
	return min(nr, max_t(u64, 1, DIV_ROUND_UP(nr * thousandths, 1000)));
}

u64 rank_time(const u64 *times, u64 nr, u32 thousandths)
{
	return nr ? times[rank_of(nr, thousandths) - 1] : 0;
}
