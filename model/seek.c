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

/* Where the next step begins: with each part of distances, and where table or curve bends. */
static u32 next_step(const struct profile *profile, u32 cylinders, u32 *entry)
{
	u64 next = seek_part_begin(seek_part(cylinders) + 1);

	while (*entry < profile->nr_seeks && profile->seeks[*entry].cylinders <= cylinders)
		++*entry;
	if (*entry < profile->nr_seeks)
		next = min_t(u64, next, profile->seeks[*entry].cylinders);
	if (profile->seek_limit > cylinders)
		next = min_t(u64, next, profile->seek_limit);
	return min_t(u64, next, max(profile->cylinders, 1U));
}

/* Within a step the time grows or falls all along, so that its ends are the extremes. */
static void set_step(const struct profile *profile, struct seek_step *step)
{
	u32 first = step->begin, last = step->end - 1;
	u64 first_ns = seek_reposition(profile, first, false, true);
	u64 last_ns = seek_reposition(profile, last, false, true);

	step->least = min(first_ns, last_ns);
	step->most = max(seek_reposition(profile, first, true, true),
			 seek_reposition(profile, last, true, true));
	step->most = max(step->most, max(first_ns, last_ns));
}

u32 seek_steps(const struct profile *profile, struct seek_step *steps)
{
	u32 cylinders = 0, next, entry = 0, n = 0, i;

	do {
		next = next_step(profile, cylinders, &entry);
		if (steps) {
			steps[n].begin = cylinders;
			steps[n].end = next;
			set_step(profile, &steps[n]);
		}
		n++;
		cylinders = next;
	} while (cylinders < profile->cylinders);
	if (steps)
		steps[n - 1].end = U32_MAX;
	for (i = n - 1; steps && i--;)
		steps[i].least = min(steps[i].least, steps[i + 1].least);
	return n;
}
