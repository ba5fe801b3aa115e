// SPDX-License-Identifier: GPL-2.0
#include "submitted.h"

#include "../common/vec.h"

void submitted_free(struct submitted *submitted)
{
	map_free(&submitted->begun);
	free(submitted->seen);
}

bool submitted_begins(struct submitted *submitted, u32 thread)
{
	u64 *begun = map_at(&submitted->begun, thread);

	if (*begun)
		return false;
	*begun = 1;
	return true;
}

void submitted_see(struct submitted *submitted, u32 place)
{
	submitted->seen = vec_reserve(submitted->seen, &submitted->seen_room,
				      submitted->seen_count + 1, sizeof(*submitted->seen));
	submitted->seen[submitted->seen_count++] = place;
}

void submitted_forget_seen(struct submitted *submitted)
{
	submitted->seen_count = 0;
}

void submitted_use_seen(const struct submitted *submitted, struct uses *uses)
{
	u32 i;

	for (i = 0; i < submitted->seen_count; i++)
		uses_add(uses, USE_JOINED, ACCESS_READ, submitted->seen[i]);
}
