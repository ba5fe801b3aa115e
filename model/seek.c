// SPDX-License-Identifier: GPL-2.0
#include "planted.h"
#include "seek.h"

/* On the line through entries @a and @b of the table. */
static u64 interpolate(const struct profile_seek *a, const struct profile_seek *b, u32 cylinders)
{
	u32 span = b->cylinders - a->cylinders;
	s64 ns;

	if (b->ns >= a->ns)
		return a->ns + div_u64((b->ns - a->ns) * (cylinders - a->cylinders), span);
	ns = (s64)a->ns - (s64)div_u64((a->ns - b->ns) * (cylinders - a->cylinders), span);
	return max_t(s64, ns, 0);
}

static u64 by_table(const struct profile *profile, u32 cylinders)
{
	const struct profile_seek *seeks = profile->seeks;
	u32 low = 0, high = profile->nr_seeks - 1;

	if (cylinders <= seeks[0].cylinders || !high)
		return seeks[0].ns;
	/* The first entry from @cylinders on, or the last. */
	while (low < high) {
		u32 middle = (low + high) / 2;

		if (seeks[middle].cylinders < cylinders)
			low = middle + 1;
		else
			high = middle;
	}
	return interpolate(&seeks[low - 1], &seeks[low], cylinders);
}

/* The square root to a 1024th of a cylinder: short seeks are fractions of it apart. */
static u64 by_curve(const struct profile *profile, u32 cylinders)
{
	if (cylinders < profile->seek_limit)
		return profile->seek_short_base +
		       ((profile->seek_short_factor * int_sqrt64((u64)cylinders << 20)) >> 10);
	return profile->seek_long_base + div_u64(profile->seek_long_factor * cylinders, 1000);
}

u64 seek_time(const struct profile *profile, u32 cylinders)
{
	u64 ns;

	if (!cylinders)
		return 0;
	ns = profile->nr_seeks ? by_table(profile, cylinders) : by_curve(profile, cylinders);
	return max(ns, profile->cylinder_switch);
}

u64 seek_reposition(const struct profile *profile, u32 cylinders, bool switches, bool write)
{
	u64 ns = seek_time(profile, cylinders);

	if (switches)
		ns = max(ns, profile->head_switch);
	if (!write || (!cylinders && !switches))
		return ns;
	/*
	 * Writing on goes from track to track by a switch. Where the skews leave room for a
	 * switch only, the time of the switch is that of a write, settle included.
	 */
	if (cylinders <= 1 && !profile->settle_on_switch && !MODEL_PLANTED(settle))
		return ns;
	if (profile->write_settle < 0 && ns < (u64)-profile->write_settle)
		return 0;
	return ns + profile->write_settle;
}
