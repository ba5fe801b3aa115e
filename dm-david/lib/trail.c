// SPDX-License-Identifier: GPL-2.0
/* Trails of requests through layers: see trail.h. */
#include "trail.h"

static bool is_old(const struct passage *passage, u64 now, u64 age)
{
	return now - passage->since >= age;
}

/* Move what @link points to from the bucket to the chain @freed. @before is the one before it. */
static void trails_take(struct trails *trails, struct passage **link, struct passage *before,
			struct passage **freed)
{
	struct passage *passage = *link;

	*link = passage->next;
	if (trails->last == passage)
		trails->last = before;
	trails->nr--;
	passage->next = *freed;
	*freed = passage;
}

typedef bool goes_t(const struct passage *passage, const struct passage *by, u64 age);

/* Take the passages that @goes is true of, the oldest first, @most at most. */
static void trails_take_some(struct trails *trails, goes_t *goes, const struct passage *by, u64 age,
			     unsigned int most, struct passage **freed)
{
	struct passage **link = &trails->first, *before = NULL;

	while (*link && most) {
		if (goes(*link, by, age)) {
			trails_take(trails, link, before, freed);
			most--;
		} else {
			before = *link;
			link = &before->next;
		}
	}
}

/* Left by a request before this one, from the same page to the same place. */
static bool is_replaced(const struct passage *passage, const struct passage *by, u64 age)
{
	return passage->page == by->page && passage->to == by->to &&
	       by->sector < passage->sector + passage->sectors &&
	       passage->sector < by->sector + by->sectors;
}

/* Are both of one request, and of sectors that are, at least in part, the same? */
static bool are_legs(const struct passage *a, const struct passage *b)
{
	return a->page == b->page && a->top == b->top &&
	       a->top_sector < b->top_sector + b->sectors &&
	       b->top_sector < a->top_sector + a->sectors;
}

static bool is_leg(const struct passage *passage, const struct passage *by, u64 age)
{
	return are_legs(passage, by);
}

static bool has_served(const struct passage *passage, const struct passage *by, u64 age)
{
	return (passage->has_led || is_old(passage, by->since, age)) && !are_legs(passage, by);
}

/*
 * Make room: by passages that have led further, or are old. Of a full bucket the oldest request
 * goes that has arrived nowhere.
 */
static void trails_make_room(struct trails *trails, const struct passage *passage, u64 age,
			     struct passage **freed)
{
	const struct passage *oldest;
	struct passage goes;

	if (trails->nr >= TRAILS_MANY)
		trails_take_some(trails, has_served, passage, age, 2, freed);
	if (trails->nr < TRAILS_MOST)
		return;
	for (oldest = trails->first; oldest; oldest = oldest->next)
		if (!oldest->is_begun && !are_legs(oldest, passage))
			break;
	if (!oldest)
		return;
	goes = *oldest;
	trails_take_some(trails, is_leg, &goes, age, TRAILS_MOST, freed);
}

struct passage *trails_lay(struct trails *trails, const struct passage *passage,
			   struct passage *memory, u64 age)
{
	struct passage *freed = NULL;

	trails_take_some(trails, is_replaced, passage, age, TRAILS_MOST, &freed);
	trails_make_room(trails, passage, age, &freed);
	if (!memory || trails->nr >= TRAILS_MOST)
		trails->refused = passage->page;
	else if (trails->refused != passage->page)
		trails->refused = NULL;
	if (trails->refused) {
		/* Nor do its other legs get through. */
		trails_take_some(trails, is_leg, passage, age, TRAILS_MOST, &freed);
		if (!memory)
			return freed;
		memory->next = freed;
		return memory;
	}
	*memory = *passage;
	memory->next = NULL;
	if (trails->last)
		trails->last->next = memory;
	else
		trails->first = memory;
	trails->last = memory;
	trails->nr++;
	return freed;
}

struct passage *trails_cut(struct trails *trails, const struct passage *passage)
{
	struct passage *freed = NULL;

	trails_take_some(trails, is_replaced, passage, 0, TRAILS_MOST, &freed);
	return freed;
}

struct passage *trails_find(struct trails *trails, const struct trail_bio *bio, u64 now, u64 age)
{
	struct passage *passage;

	for (passage = trails->first; passage; passage = passage->next)
		if (passage->page == bio->page && passage->to == bio->to &&
		    bio->sector >= passage->sector &&
		    bio->sector + bio->sectors <= passage->sector + passage->sectors &&
		    (!passage->vecs || passage->vecs == bio->vecs))
			return is_old(passage, now, age) ? NULL : passage;
	return NULL;
}

struct passage *trails_arrive(struct trails *trails, struct passage *passage, u32 sectors, u64 now)
{
	struct passage *other, *before = NULL, *freed = NULL;

	for (other = trails->first; other; other = other->next) {
		if (other->next == passage)
			before = other;
		if (are_legs(other, passage)) {
			other->is_begun = true;
			other->since = now;
		}
	}
	passage->left -= min(passage->left, sectors);
	if (!passage->left)
		trails_take(trails, before ? &before->next : &trails->first, before, &freed);
	return freed;
}

void trails_were_data(struct trails *trails, const void *page, const void *top, u64 top_sector,
		      u32 sectors)
{
	u64 end = top_sector + sectors, known;
	struct passage *passage;

	for (passage = trails->first; passage; passage = passage->next) {
		known = passage->top_sector + passage->data;
		if (passage->page == page && passage->top == top && top_sector <= known &&
		    known < end)
			passage->data = min_t(u64, end - passage->top_sector, passage->sectors);
	}
}
