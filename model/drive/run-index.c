// SPDX-License-Identifier: GPL-2.0
#include "run-index.h"

static u32 part_shift(const struct profile *profile, u32 runs)
{
	/* More parts have less in them, but take longer to look at. */
	u32 shift = RUN_INDEX_FINE, parts = runs > 128 ? RUN_INDEX_PARTS : 8;

	while ((profile->revolution - 1) >> shift >= parts)
		shift++;
	return shift;
}

static u32 nr_parts(const struct profile *profile, u32 runs)
{
	return ((profile->revolution - 1) >> part_shift(profile, runs)) + 1;
}

/* Either all bands fit into the search's window, or some runs share one. */
static u32 band_shift(const struct profile *profile, u32 runs)
{
	u32 shift = 0, bands = max(runs / 4, 32U);

	while ((max(profile->cylinders, 1U) - 1) >> shift >= bands)
		shift++;
	return shift;
}

static u32 nr_bands(const struct profile *profile, u32 runs)
{
	return ((max(profile->cylinders, 1U) - 1) >> band_shift(profile, runs)) + 1;
}

/* With a word before and after them, so that the window never ends outside. */
static u32 nr_words(const struct profile *profile, u32 runs)
{
	return DIV_ROUND_UP(nr_bands(profile, runs), 64) + 2;
}

size_t run_index_bytes(const struct profile *profile, u32 runs)
{
	size_t parts = nr_parts(profile, runs);

	return (runs + 1) * sizeof(struct run_key) + parts * nr_words(profile, runs) * sizeof(u64) +
	       parts * nr_bands(profile, runs) * sizeof(u16);
}

static u64 window_of(const struct run_index *index, u32 reach)
{
	u32 bands = reach ? (reach >> index->band_shift) + 1 : 0;

	if (bands > 31 && index->nr_bands > 32)
		return 0;
	bands = min(bands, 31U);
	return ~0ULL >> (63 - 2 * bands) << (32 - bands);
}

static void set_reach(struct run_index *index)
{
	const struct seek_step *step = index->seeks->steps, *last = step + index->seeks->nr - 1;
	u32 i;

	for (i = 0; i < RUN_INDEX_TIMES; i++) {
		while (step < last && (step[1].least >> index->time_shift <= i ||
				       i == RUN_INDEX_TIMES - 1))
			step++;
		index->reach[RUN_INDEX_PAST + i] = step->end - 1;
		index->window[i] = i < RUN_INDEX_TIMES - 1 ? window_of(index, step->end - 1) : 0;
	}
}

void run_index_init(struct run_index *index, const struct profile *profile,
		    const struct seek_steps *seeks, const struct run *pool, u32 runs, void *memory)
{
	index->profile = profile;
	index->seeks = seeks;
	index->pool = pool;
	index->part_shift = part_shift(profile, runs);
	index->time_shift = index->part_shift - RUN_INDEX_FINE;
	index->band_shift = band_shift(profile, runs);
	index->nr_bands = nr_bands(profile, runs);
	index->nr_words = nr_words(profile, runs);
	index->keys = memory;
	index->bands = (void *)&index->keys[runs + 1];
	index->heads = (void *)&index->bands[nr_parts(profile, runs) * index->nr_words];
	set_reach(index);
}

void run_index_insert(struct run_index *index, const struct media *media, const struct run *run)
{
	u64 due = media_due(media, &run->place);
	u32 part = due >> index->part_shift, band = run->place.cylinder >> index->band_shift;
	u16 *head = &index->heads[part * index->nr_bands + band];

	index->keys[run->i + 1] = (struct run_key) {
		.due = due,
		.since = run->segment.dirty_since,
		.cylinder = run->place.cylinder,
		.head = run->place.head,
		.next = *head,
	};
	index->keys[*head].previous = run->i + 1;	/* of keys[0], if there is none */
	*head = run->i + 1;
	index->bands[part * index->nr_words + 1 + band / 64] |= 1ULL << band % 64;
	index->parts |= 1ULL << part;
	index->runs_in_part[part]++;
}

void run_index_remove(struct run_index *index, const struct run *run)
{
	const struct run_key *key = &index->keys[run->i + 1];
	u32 part = key->due >> index->part_shift, band = key->cylinder >> index->band_shift;

	index->keys[key->next].previous = key->previous;
	if (key->previous)
		index->keys[key->previous].next = key->next;
	else
		index->heads[part * index->nr_bands + band] = key->next;
	if (!key->next && !key->previous)
		index->bands[part * index->nr_words + 1 + band / 64] &= ~(1ULL << band % 64);
	if (!--index->runs_in_part[part])
		index->parts &= ~(1ULL << part);
}

/* The nearest so far, and what it is compared by. */
struct search {
	const struct run_index *index;
	u64 now;
	u64 revolution;
	u32 cylinder;		/* of the arm */
	u32 head;
	u64 offset;		/* what passes at angle a, passes in a + offset ns */
	u64 time;		/* that the best one takes */
	u32 rank;		/* its distance */
	s64 last;		/* what passes after that, in 2^time_shift ns, takes longer */
	u32 best;		/* place in the pool plus 1 */
};

/* Of equals the nearer one, or the one above, or the one with less to pass on the way to it. */
static bool comes_first(const struct search *search, u32 i, u32 distance)
{
	const struct run_index *index = search->index;
	const struct run_key *key = &index->keys[i], *best = &index->keys[search->best];
	bool below = key->cylinder < search->cylinder;

	if (distance != search->rank)
		return distance < search->rank;
	if (key->cylinder != best->cylinder)
		return !below;
	return below ? run_begin(&index->pool[i - 1]) > run_begin(&index->pool[search->best - 1]) :
		       run_begin(&index->pool[i - 1]) < run_begin(&index->pool[search->best - 1]);
}

/*
 * Run @i passes in @wait. The arm may be there by then. The exact time is the first one after
 * @wait, and so many revolutions, at which the arm and the data are there.
 */
static noinline void search_compare(struct search *search, u32 i, u32 distance, u64 wait)
{
	const struct run_index *index = search->index;
	const struct seek_step *step = seek_step(index->seeks, distance);
	const struct run_key *key = &index->keys[i];
	u64 ready;

	if (wait < step->most || key->since > search->now) {
		ready = seek_reposition_in(index->profile, step, distance,
					   key->head != search->head, true);
		if (key->since > search->now + ready)
			ready = key->since - search->now;
		if (wait < ready)
			wait += div64_u64(ready - wait + search->revolution - 1,
					  search->revolution) * search->revolution;
	}
	if (wait > search->time || (wait == search->time && !comes_first(search, i, distance)))
		return;
	search->time = wait;
	search->rank = distance;
	search->last = (wait >> index->time_shift) + (1 << RUN_INDEX_FINE);
	search->best = i;
}

static __always_inline void search_band(struct search *search, u32 head, bool far)
{
	const struct run_index *index = search->index;
	u32 i = index->heads[head], distance;
	const struct run_key *key;
	u64 wait;
	s64 time;

	do {
		key = &index->keys[i];
		distance = abs((s32)(key->cylinder - search->cylinder));
		wait = key->due + search->offset;
		time = (s64)wait >> index->time_shift;
		if (far)
			time = min(time, (s64)RUN_INDEX_TIMES - 1);
		/* If the arm is too late for it, or it has just passed: in the next turn. */
		if (distance <= index->reach[RUN_INDEX_PAST + time] && wait <= search->time)
			search_compare(search, i, distance, wait);
		i = key->next;
	} while (i);
}

/* Of a part, bands that may be far from the arm. */
static noinline void search_far(struct search *search, u32 part, u32 time)
{
	const struct run_index *index = search->index;
	u32 reach = index->reach[RUN_INDEX_PAST + time], word;
	u32 low = (search->cylinder - min(search->cylinder, reach)) >> index->band_shift;
	u64 high = ((u64)search->cylinder + reach) >> index->band_shift;
	u32 last = min_t(u64, high, index->nr_bands - 1);
	u64 bits;

	for (word = low / 64; word <= last / 64; word++) {
		bits = index->bands[part * index->nr_words + 1 + word];
		if (word == low / 64)
			bits &= ~0ULL << low % 64;
		if (word == last / 64)
			bits &= ~0ULL >> (63 - last % 64);
		for (; bits; bits &= bits - 1)
			search_band(search, part * index->nr_bands + word * 64 + __ffs64(bits),
				    true);
	}
}

/* Of the revolution's @parts. True: nothing that passes later is nearer than the best. */
static bool search_turn(struct search *search, u64 parts)
{
	const struct run_index *index = search->index;
	u32 first = (search->cylinder >> index->band_shift) + 32, shift = first % 64, part, head;
	s64 start = (s64)search->offset >> index->time_shift, time;
	const u64 *bands = index->bands + first / 64, *words;
	u64 bits, window;

	for (; parts; parts &= parts - 1) {
		part = __ffs64(parts);
		/* The time from now on until all of the part has passed. */
		time = start + ((part + 1) << RUN_INDEX_FINE);
		if (time > search->last)
			return true;
		window = time < RUN_INDEX_TIMES ? index->window[time] : 0;
		if (!window) {
			search_far(search, part, min(time, (s64)RUN_INDEX_TIMES - 1));
			continue;
		}
		words = bands + part * index->nr_words;
		bits = (words[0] >> shift | words[1] << 1 << (63 - shift)) & window;
		if (!bits)
			continue;	/* mostly: nothing in it is in reach */
		head = part * index->nr_bands + first - 64;
		for (; bits; bits &= bits - 1)
			search_band(search, head + __ffs64(bits), false);
	}
	return false;
}

const struct run *run_index_nearest(const struct run_index *index, const struct media *media,
				    u64 now)
{
	struct search search = {
		.index = index, .cylinder = media->cylinder, .head = media->head, .now = now,
		.revolution = index->profile->revolution,
		.time = S64_MAX, .last = S64_MAX,
	};
	u64 angle, parts;

	div64_u64_rem(now, search.revolution, &angle);
	search.offset = -angle;
	parts = index->parts & ~0ULL << (angle >> index->part_shift);
	while (!search_turn(&search, parts)) {
		parts = index->parts;
		search.offset += search.revolution;
	}
	return &index->pool[search.best - 1];
}
