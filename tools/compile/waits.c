// SPDX-License-Identifier: GPL-2.0
#include "waits.h"

#include "../common/vec.h"

void waits_free(struct waits *waits)
{
	map_free(&waits->newest);
	free(waits->timed_out);
}

static u64 *newest_of(struct waits *waits, u32 thread, u64 futex)
{
	return map_at(&waits->newest, (futex ^ thread * HASH_GOLDEN) >> 1);
}

void waits_timed_out(struct waits *waits, const struct output *out, u32 thread, u64 futex)
{
	u64 *newest = newest_of(waits, thread, futex);

	waits->timed_out = vec_reserve(waits->timed_out, &waits->room, waits->count + 1,
				       sizeof(*waits->timed_out));
	waits->timed_out[waits->count] = (struct timed_out){ out->stream[thread].used, *newest };
	*newest = ++waits->count;
}

void waits_ended(struct waits *waits, struct output *out, u32 thread, u64 futex, u32 other,
		 u32 count)
{
	u64 *newest = newest_of(waits, thread, futex);
	u32 at = *newest;

	*newest = 0;
	for (; at; at = waits->timed_out[at - 1].older)
		output_ended(out, thread, waits->timed_out[at - 1].at, other, count);
}
