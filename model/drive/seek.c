// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "seek.h"

/* On the line through entries @a and @b of the table. */
static u64 seek_interpolate(const struct profile_seek *a, const struct profile_seek *b,
			    u32 cylinders)
{
	u32 span = b->cylinders - a->cylinders;
	s64 ns;

	if (b->ns >= a->ns)
		return a->ns + div_u64((b->ns - a->ns) * (cylinders - a->cylinders), span);
	ns = (s64)a->ns - (s64)div_u64((a->ns - b->ns) * (cylinders - a->cylinders), span);
	return max_t(s64, ns, 0);
}

/* The first entry of the table from @cylinders on, or the last. */
static u32 find_entry(const struct profile *profile, u32 cylinders)
{
	u32 low = 0, high = max(profile->nr_seeks, 1U) - 1;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (profile->seeks[middle].cylinders < cylinders)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static u64 by_table(const struct profile *profile, u32 entry, u32 cylinders)
{
	const struct profile_seek *seeks = profile->seeks;

	if (!entry)
		return seeks[0].ns;
	return seek_interpolate(&seeks[entry - 1], &seeks[entry], cylinders);
}

/*
 * The largest integer whose square is no more than @x. By Newton's method from above: a seventh of
 * what int_sqrt64() takes.
 */
static u64 floor_sqrt(u64 x)
{
	u64 better = 1ULL << (fls64(x) + 1) / 2, best;

	do {
		best = better;
		better = (best + div64_u64(x, best)) / 2;
	} while (better < best);
	return best;
}

/* The square root to a 1024th of a cylinder: short seeks are fractions of it apart. */
static u64 by_curve(const struct profile *profile, u32 cylinders)
{
	if (cylinders < profile->seek_limit)
		return profile->seek_short_base +
		       ((profile->seek_short_factor * floor_sqrt((u64)cylinders << 20)) >> 10);
	return profile->seek_long_base + div_u64(profile->seek_long_factor * cylinders, 1000);
}

static u64 time_by(const struct profile *profile, u32 entry, u32 cylinders)
{
	u64 ns;

	if (!cylinders)
		return 0;
	ns = profile->nr_seeks ? by_table(profile, entry, cylinders) :
				 by_curve(profile, cylinders);
	return max(ns, profile->cylinder_switch);
}

u64 seek_time(const struct profile *profile, u32 cylinders)
{
	return time_by(profile, find_entry(profile, cylinders), cylinders);
}

static u64 seek_with_switch(const struct profile *profile, u64 ns, u32 cylinders, bool switches,
			    bool write)
{
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

u64 seek_reposition(const struct profile *profile, u32 cylinders, bool switches, bool write)
{
	return seek_with_switch(profile, seek_time(profile, cylinders), cylinders, switches, write);
}

u64 seek_reposition_in(const struct profile *profile, const struct seek_step *step, u32 cylinders,
		       bool switches, bool write)
{
	return seek_with_switch(profile, time_by(profile, step->entry, cylinders), cylinders,
				switches, write);
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
	step->least_read = min(seek_time(profile, first), seek_time(profile, last));
	step->most = max(seek_reposition(profile, first, true, true),
			 seek_reposition(profile, last, true, true));
	step->most = max(step->most, max(first_ns, last_ns));
}

/* Returns how many there are; @steps may be NULL. */
static u32 set_steps(const struct profile *profile, struct seek_step *steps)
{
	u32 cylinders = 0, next, entry = 0, n = 0, i;

	do {
		next = next_step(profile, cylinders, &entry);
		if (steps) {
			steps[n].begin = cylinders;
			steps[n].end = next;
			steps[n].entry = find_entry(profile, next - 1);
			set_step(profile, &steps[n]);
		}
		n++;
		cylinders = next;
	} while (cylinders < profile->cylinders);
	if (steps)
		steps[n - 1].end = U32_MAX;
	for (i = n - 1; steps && i--;) {
		steps[i].least = min(steps[i].least, steps[i + 1].least);
		steps[i].least_read = min(steps[i].least_read, steps[i + 1].least_read);
	}
	return n;
}

struct seek_steps *seek_steps_create(const struct profile *profile, gfp_t gfp)
{
	u32 nr = set_steps(profile, NULL), i, part;
	struct seek_steps *steps;

	steps = kvzalloc(sizeof(*steps) + nr * sizeof(struct seek_step), gfp);
	if (!steps)
		return NULL;
	steps->nr = nr;
	set_steps(profile, steps->steps);
	for (i = 0; i < nr; i++) {
		part = seek_part(steps->steps[i].begin);
		if (seek_part_begin(part) != steps->steps[i].begin)
			continue;
		for (; part < SEEK_PARTS; part++)
			steps->of_part[part] = i;
	}
	return steps;
}

void seek_steps_destroy(struct seek_steps *steps)
{
	kvfree(steps);
}

size_t seek_steps_bytes(const struct seek_steps *steps)
{
	return sizeof(*steps) + steps->nr * sizeof(struct seek_step);
}
