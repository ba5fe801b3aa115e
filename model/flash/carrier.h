/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What carries data at a rate: a drive's link, a channel of its flash.
 *
 * Data are carried no earlier than if all had been carried in the order in which their commands
 * came. So the rate holds. What can be carried early does not wait for what can be carried late.
 */
#ifndef DAVID_MODEL_CARRIER_H
#define DAVID_MODEL_CARRIER_H

#include "../../dm-david/portable/portable.h"

struct carrier {
	u64 free;		/* when it has carried all that came so far */
	u64 ps;			/* to carry a sector */
};

static inline void carrier_init(struct carrier *carrier, u64 rate)
{
	carrier->free = 0;
	carrier->ps = div64_u64(512ULL * 1000 * 1000 * 1000 * 1000, rate);
}

static inline u64 carrier_time(const struct carrier *carrier, u32 sectors)
{
	return div_u64(sectors * carrier->ps, 1000);
}

/* When has that been carried which takes @time, came at @now, and can be carried from @from on? */
static inline u64 carrier_occupy(struct carrier *carrier, u64 time, u64 now, u64 from)
{
	carrier->free = max(carrier->free, now) + time;
	return max(carrier->free, from + time);
}

/* The same of @sectors. */
static inline u64 carrier_carry(struct carrier *carrier, u32 sectors, u64 now, u64 from)
{
	return carrier_occupy(carrier, carrier_time(carrier, sectors), now, from);
}

#endif
