/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Percentiles by nearest rank: of times in order the least one that such a share of them does not
 * pass. tools/davidlib/quantile.py and tools/replay/count.c have the same.
 */
#ifndef DAVID_SIM_RANK_H
#define DAVID_SIM_RANK_H

#include "../../dm-david/portable/portable.h"

/* Put @times in order, the least first. */
void rank_sort(u64 *times, u64 nr);

/* Which one of @nr times, from 1 on: @thousandths of them do not pass it. 0 of none. */
u64 rank_of(u64 nr, u32 thousandths);

/* That one of @nr sorted times; 0 of none. */
u64 rank_time(const u64 *times, u64 nr, u32 thousandths);

#endif
