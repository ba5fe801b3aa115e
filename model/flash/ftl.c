// SPDX-License-Identifier: GPL-2.0
/* The map of an SSD: see ftl.h. */
#include "../../dm-david/portable/portable-alloc.h"
#include "ftl.h"
#include "../planted.h"

/* What the map may take, of bytes, if the profile says nothing. */
#define MOST_BYTES	(7 << 20)

/* And whatever it says */
#define MOST_SLOTS	BIT(28)

/* Blocks that are never full of valid data: those open, and those that collection needs. */
#define SPARE_BLOCKS	8

/*
 * Collection begins when no more blocks than this are free. With less the host could find its block
 * full before collection has paid for the next: two are open, one is being collected, and the last
 * one is for moves.
 */
#define FEW_FREE	4

#define NONE		U32_MAX
#define SCATTERED	BIT(31)		/* in the map beside the slot */
#define IN_SLC		BIT(30)		/* ... or instead of one */
#define NO_SLOT		BIT(29)		/* ... with this, which is none */
#define SLOT(entry)	((entry) & (u32)(IN_SLC - 1))
#define NONE_RUN	(NONE & ~SCATTERED)	/* the last write to the group was no single page */

/*
 * Of the SLC cache it is known how many of each 2^SLC_PART neighbouring groups are there. Who seeks
 * the next one does not look at all of the map.
 */
#define SLC_PART	10

/* Pages of the map that an idle drive folds or moves in one call */
#define IDLE_PIECE	128

/* Overwrites that make the steady state, as multiples of what is filled */
#define OVERWRITES	4

enum block_state { BLOCK_FREE, BLOCK_OPEN, BLOCK_CLOSED, BLOCK_VICTIM };

struct block {
	u32 valid;		/* slots that the map points to */
	u32 closed;		/* ftl->closed when it was */
	u8 state;		/* enum block_state */
};

/* A block that is being filled. */
struct stream {
	u32 block;		/* NONE at first */
	u32 at;			/* its next slot */
};

struct ftl {
	const struct profile *profile;
	u32 shift;		/* one page of 1 << shift is in the map */
	u32 groups;
	u32 *map;		/* by group: slot and SCATTERED, or NONE */
	u8 *written;		/* by group: eighths of it with something in them */

	u32 block_shift;	/* slots of a block */
	u32 nr_blocks;
	u32 *slots;		/* by slot: the group that was written there */
	struct block *blocks;
	u32 *free;		/* a ring of blocks, the one freed first goes first */
	u32 free_at;
	u32 nr_free;
	u32 closed;		/* blocks ever closed */

	struct stream host, moves;
	u32 victim;		/* NONE: nothing is collected */
	u32 victim_at;
	u32 credit;		/* collection's, in moves times figures.gain */

	u32 used;		/* groups with data; */
	u32 in_slc;		/* of these: in the SLC cache, */
	u32 slc_size;		/* which now takes so many; */
	u32 slc_most;		/* when the drive is empty, */
	u32 slc_least;		/* and when it is full */
	u32 fold_at;		/* the next one that may be folded */
	u16 *slc_parts;		/* by SLC_PART: groups there; NULL: the drive has no cache */

	u64 rnd;
	const void *user;
	struct ftl_figures figures;

	/* Of a drive with zones, which has nothing of the above but the figures */
	u32 *zone_ends;		/* NULL: it has none */
	u32 nr_zones;
};

u32 ftl_shift(const struct ftl *ftl)
{
	return ftl->shift;
}

const struct ftl_figures *ftl_figures(const struct ftl *ftl)
{
	return &ftl->figures;
}

bool ftl_taken_over(struct ftl *ftl, const void *user)
{
	bool taken = ftl->user != user;

	ftl->user = user;
	return taken;
}

bool ftl_is_used_by(const struct ftl *ftl, const void *user)
{
	return ftl->user == user;
}

/* There is no page of the group in the map. */
static bool is_none(u32 entry)
{
	return (entry | SCATTERED) == NONE;
}

static u32 group_hash(u32 n)
{
	n *= 0x9e3779b1;
	n ^= n >> 15;
	n *= 0x85ebca77;
	return n ^ n >> 13;
}

/* The one page of a group that is in the map. */
static u64 sampled_page(const struct ftl *ftl, u32 group)
{
	return ((u64)group << ftl->shift) | (group_hash(group) & (BIT(ftl->shift) - 1));
}

static u32 rnd_below(struct ftl *ftl, u32 limit)
{
	ftl->rnd = ftl->rnd * 6364136223846793005ULL + 1442695040888963407ULL;
	return (ftl->rnd >> 32) * limit >> 32;
}

static u32 per_block(const struct ftl *ftl)
{
	return 1U << ftl->block_shift;
}

u64 ftl_block_pages(const struct ftl *ftl)
{
	return (u64)per_block(ftl) << ftl->shift;
}

/* Blocks */

static u32 block_take_free(struct ftl *ftl)
{
	u32 block = ftl->free[ftl->free_at];

	ftl->free_at = ftl->free_at + 1 == ftl->nr_blocks ? 0 : ftl->free_at + 1;
	ftl->nr_free--;
	return block;
}

static void block_put_free(struct ftl *ftl, u32 block)
{
	u32 at = ftl->free_at + ftl->nr_free++;

	ftl->free[at >= ftl->nr_blocks ? at - ftl->nr_blocks : at] = block;
	ftl->blocks[block].state = BLOCK_FREE;
}

/* What an SLC cache takes that shrinks as the drive fills */
static void size_slc(struct ftl *ftl)
{
	u64 unused = ftl->groups - ftl->used;

	ftl->slc_size = max_t(u32, ftl->slc_least, div_u64(ftl->slc_most * unused, ftl->groups));
}

static void group_drop(struct ftl *ftl, u32 group)
{
	u32 entry = ftl->map[group];

	if (is_none(entry))
		return;
	if (entry & IN_SLC) {
		ftl->in_slc--;
		ftl->slc_parts[group >> SLC_PART]--;
	} else {
		ftl->blocks[SLOT(entry) >> ftl->block_shift].valid--;
	}
	ftl->map[group] = NONE_RUN | (entry & SCATTERED);
	ftl->used--;
}

static void group_point(struct ftl *ftl, u32 group, u32 entry)
{
	group_drop(ftl, group);
	ftl->map[group] = entry;
	ftl->used++;
}

/* Write @group to the next slot of @stream. A block must be free if that is full. */
static void stream_append(struct ftl *ftl, struct stream *stream, u32 group, u32 flags)
{
	u32 slot;

	if (stream->block == NONE || stream->at == per_block(ftl)) {
		stream->block = block_take_free(ftl);
		stream->at = 0;
		ftl->blocks[stream->block].state = BLOCK_OPEN;
	}
	slot = (stream->block << ftl->block_shift) + stream->at++;
	group_point(ftl, group, slot | flags);
	ftl->slots[slot] = group;
	ftl->blocks[stream->block].valid++;
	if (stream->at == per_block(ftl)) {
		ftl->blocks[stream->block].state = BLOCK_CLOSED;
		ftl->blocks[stream->block].closed = ftl->closed++;
	}
}

/* Collection */

/* How much worse it is to collect @block than others: less is better. */
static u64 block_badness(const struct ftl *ftl, const struct block *block)
{
	u64 age = ftl->closed - block->closed, valid = block->valid;

	if (ftl->figures.stuck)
		return valid;
	switch (ftl->profile->gc) {
	case GC_FIFO:
		return U32_MAX - age;
	case GC_COST_BENEFIT:	/* Rosenblum and Ousterhout 1992: age * (1 - u) / (1 + u) */
		return U64_MAX - div64_u64((age * (per_block(ftl) - valid)) << 16,
					   per_block(ftl) + valid);
	default:
		return MODEL_PLANTED(gc) ? U32_MAX - valid : valid;
	}
}

static u32 gc_choose_of_some(struct ftl *ftl)
{
	u32 best = NONE, left = ftl->profile->gc_choices, tries = 64 * left;

	while (left && tries--) {
		u32 i = rnd_below(ftl, ftl->nr_blocks);

		if (ftl->blocks[i].state != BLOCK_CLOSED)
			continue;
		left--;
		if (best == NONE || ftl->blocks[i].valid < ftl->blocks[best].valid)
			best = i;
	}
	return best;
}

/*
 * In one hold of the caller's lock: a profile has 16,384 blocks at most (MAX_UNITS of
 * profile-check.c), which take 20 to 35 us.
 */
static u32 gc_choose_of_all(const struct ftl *ftl)
{
	u64 least = 0;
	u32 i, best = NONE;

	for (i = 0; i < ftl->nr_blocks; i++) {
		const struct block *block = &ftl->blocks[i];
		u64 bad;

		if (block->state != BLOCK_CLOSED)
			continue;
		bad = block_badness(ftl, block);
		if (best == NONE || bad < least) {
			best = i;
			least = bad;
		}
	}
	return best;
}

/* False: nothing is to be collected. */
static bool gc_choose(struct ftl *ftl)
{
	u32 victim = NONE;

	if (ftl->profile->gc == GC_CHOICES && !ftl->figures.stuck)
		victim = gc_choose_of_some(ftl);
	if (victim == NONE)
		victim = gc_choose_of_all(ftl);
	if (victim == NONE)
		return false;
	ftl->victim = victim;
	ftl->victim_at = 0;
	ftl->blocks[victim].state = BLOCK_VICTIM;
	ftl->figures.share = ftl->blocks[victim].valid;
	/* A block without room only costs moves. FIFO may have to pass some. */
	ftl->figures.gain = max(per_block(ftl) - ftl->figures.share, 1U);
	return true;
}

static void gc_erase_if_empty(struct ftl *ftl)
{
	if (ftl->blocks[ftl->victim].valid)
		return;
	block_put_free(ftl, ftl->victim);
	ftl->victim = NONE;
	ftl->figures.erased++;
}

/* Move the victim's next valid page. It has one. */
static void gc_move_one(struct ftl *ftl)
{
	u32 first = ftl->victim << ftl->block_shift, group, slot, entry;

	do {
		slot = first + ftl->victim_at++;
		group = ftl->slots[slot];
		entry = ftl->map[group];
	} while (is_none(entry) || SLOT(entry) != slot);
	stream_append(ftl, ftl->profile->gc_separate ? &ftl->moves : &ftl->host, group,
		      entry & SCATTERED);
	ftl->figures.moved++;
}

/* Collect all of a block. */
static void gc_collect_block(struct ftl *ftl)
{
	while (ftl->blocks[ftl->victim].valid)
		gc_move_one(ftl);
	gc_erase_if_empty(ftl);
}

/* Before the host writes a page: the moves that this page owes. */
static void gc_collect(struct ftl *ftl)
{
	struct ftl_figures *figures = &ftl->figures;

	if (ftl->victim == NONE && (ftl->nr_free > FEW_FREE || !gc_choose(ftl))) {
		figures->share = 0;
		return;
	}
	ftl->credit += figures->share;
	while (ftl->credit >= figures->gain && ftl->blocks[ftl->victim].valid) {
		ftl->credit -= figures->gain;
		gc_move_one(ftl);
	}
	gc_erase_if_empty(ftl);
}

/* The last block that is free is for moves: they must always have a place. */
static bool host_may_write(const struct ftl *ftl)
{
	return (ftl->host.block != NONE && ftl->host.at < per_block(ftl)) || ftl->nr_free > 1;
}

/* A round of all blocks finds whatever room there is. A policy that does not is wrong. */
static void ftl_make_room(struct ftl *ftl)
{
	u32 blocks = 0;

	while (!host_may_write(ftl) && (ftl->victim != NONE || gc_choose(ftl))) {
		if (blocks++ == ftl->nr_blocks)
			ftl->figures.stuck = true;
		gc_collect_block(ftl);
	}
}

static void write_to_block(struct ftl *ftl, u32 group, u32 flags)
{
	gc_collect(ftl);
	ftl_make_room(ftl);
	stream_append(ftl, &ftl->host, group, flags);
}

/*
 * Are more blocks free than collection keeps free? Where it has begun there is one more than it
 * begins at, until the host takes that.
 */
static bool has_fresh_blocks(const struct ftl *ftl)
{
	return ftl->nr_free > FEW_FREE + 1;
}

static void write_one(struct ftl *ftl, u32 group, u32 flags)
{
	ftl->figures.fresh += has_fresh_blocks(ftl);
	write_to_block(ftl, group, flags);
	ftl->figures.written++;
}

/* The SLC cache */

static bool is_in_slc(u32 entry)
{
	return !is_none(entry) && entry & IN_SLC;
}

/* The next group of those in the cache, which has one. They go in the order of their numbers. */
static void slc_fold_one(struct ftl *ftl)
{
	u32 at = ftl->fold_at;

	while (!is_in_slc(ftl->map[at])) {
		at = ftl->slc_parts[at >> SLC_PART] ? at + 1 : (at | (BIT(SLC_PART) - 1)) + 1;
		if (at >= ftl->groups)
			at = 0;
	}
	ftl->fold_at = at;
	write_to_block(ftl, at, ftl->map[at] & SCATTERED);
	ftl->figures.folded++;
}

u64 ftl_fold(struct ftl *ftl, u64 pages, bool *left)
{
	u64 groups = min_t(u64, pages >> ftl->shift, ftl->in_slc), folded = 0;
	u64 moved = ftl->figures.moved;

	while (folded < groups && folded + ftl->figures.moved - moved < IDLE_PIECE) {
		slc_fold_one(ftl);
		folded++;
	}
	*left = ftl->in_slc;
	return folded << ftl->shift;
}

/* Does the cache take what is written next? */
static bool slc_takes(struct ftl *ftl)
{
	if (!ftl->slc_most)
		return false;
	size_slc(ftl);
	if (ftl->profile->slc_full == SLC_FULL_FOLD || MODEL_PLANTED(slc))
		return ftl->slc_size;
	return ftl->in_slc < ftl->slc_size;
}

static void write_to_slc(struct ftl *ftl, u32 group, u32 flags)
{
	group_drop(ftl, group);
	while (ftl->in_slc >= ftl->slc_size && ftl->in_slc && !MODEL_PLANTED(slc))
		slc_fold_one(ftl);
	group_point(ftl, group, IN_SLC | NO_SLOT | flags);
	ftl->in_slc++;
	ftl->slc_parts[group >> SLC_PART]++;
	ftl->figures.written++;
	ftl->figures.fresh++;
}

bool ftl_idle(struct ftl *ftl, u64 *pages, u64 room)
{
	u64 most = min_t(u64, *pages >> ftl->shift, IDLE_PIECE), moves = most;
	u64 blocks = room >> ftl->shift >> ftl->block_shift;

	if (!most || ftl->nr_free >= min_t(u64, blocks, ftl->nr_blocks))
		return false;
	if (ftl->victim == NONE && !gc_choose(ftl))
		return false;
	if (ftl->figures.share == per_block(ftl))	/* nothing to be had */
		return false;
	for (; moves && ftl->blocks[ftl->victim].valid; moves--)
		gc_move_one(ftl);
	gc_erase_if_empty(ftl);
	*pages -= (most - moves) << ftl->shift;
	return true;
}

/* What has been written of a group */

/* The bit of the eighth that the group's page @i is in. */
static u32 eighth_of(const struct ftl *ftl, u32 i)
{
	return ftl->shift > 3 ? i >> (ftl->shift - 3) : i;
}

/* The bits of pages [from, to] of a group. */
static u8 eighths_touched(const struct ftl *ftl, u32 from, u32 to)
{
	return (2U << eighth_of(ftl, to)) - (1U << eighth_of(ftl, from));
}

/* The bits of those eighths that lie in pages [from, to] completely. */
static u8 eighths_covered(const struct ftl *ftl, u32 from, u32 to)
{
	u32 size = ftl->shift > 3 ? 1U << (ftl->shift - 3) : 1;
	u32 begin = DIV_ROUND_UP(from, size), end = (to + 1) / size;

	return begin < end ? (1U << end) - (1U << begin) : 0;
}

/* The part of @group that lies in pages [first, last]. */
struct part {
	u32 from, to;
	bool sampled;		/* the page in the map is in it */
};

static __always_inline struct part part_of(const struct ftl *ftl, u32 group, u64 first, u64 last)
{
	u64 begin = (u64)group << ftl->shift, page = sampled_page(ftl, group);

	return (struct part) {
		.from = first > begin ? first - begin : 0,
		.to = min(last - begin, (u64)BIT(ftl->shift) - 1),
		.sampled = page >= first && page <= last,
	};
}

/*
 * @part of @group is written: a page by itself, or not, as @flags say. Returns whether the group's
 * page in the map is in it; if there is none, the group is as this write was.
 */
static __always_inline bool group_touch(struct ftl *ftl, u32 group, struct part part, u32 flags)
{
	ftl->written[group] |= eighths_touched(ftl, part.from, part.to);
	if (!part.sampled && is_none(ftl->map[group]))
		ftl->map[group] = NONE_RUN | flags;
	return part.sampled;
}

/* Zones */

u32 ftl_zone_end(const struct ftl *ftl, u32 zone)
{
	return ftl->zone_ends[zone];
}

void ftl_zone_set(struct ftl *ftl, u32 zone, u32 end)
{
	u32 *now = &ftl->zone_ends[zone];

	if (end > *now)
		ftl->figures.written += (end + FTL_PAGE - 1) / FTL_PAGE -
					(*now + FTL_PAGE - 1) / FTL_PAGE;
	*now = end;
}

/* Each zone that has a part of these pages is written up to the last one of them. */
static noinline void zones_fill(struct ftl *ftl, u64 first, u64 nr)
{
	u64 sector = first * FTL_PAGE, end = min((first + nr) * FTL_PAGE, ftl->profile->sectors);
	u32 size = ftl->profile->zone_size, capacity = ftl->profile->zone_capacity, zone;
	u64 next;

	for (; sector < end; sector = next) {
		zone = div_u64(sector, size);
		next = min(end, (zone + 1ULL) * size);
		ftl_zone_set(ftl, zone, max(ftl->zone_ends[zone],
					    min_t(u32, next - (u64)zone * size, capacity)));
	}
}

/* A zone is empty if all that was written is among these pages. */
static noinline void zones_trim(struct ftl *ftl, u64 first, u64 nr)
{
	u64 sector = first * FTL_PAGE, end = (first + nr) * FTL_PAGE;
	u32 size = ftl->profile->zone_size, zone = div_u64(sector + size - 1, size);

	for (; zone < ftl->nr_zones && (u64)zone * size < end; zone++)
		if ((u64)zone * size + ftl->zone_ends[zone] <= end)
			ftl->zone_ends[zone] = 0;
}

/* False: there is no memory. */
static bool zones_create(struct ftl *ftl, gfp_t gfp)
{
	const struct profile *profile = ftl->profile;
	u32 filled, i;

	ftl->nr_zones = div_u64(profile->sectors, profile->zone_size);
	ftl->zone_ends = kvcalloc(ftl->nr_zones, sizeof(*ftl->zone_ends), gfp);
	if (!ftl->zone_ends)
		return false;
	filled = profile->precondition == PRECONDITION_FRESH ? 0 :
		 (u64)ftl->nr_zones * profile->precondition_fill / 1000;
	for (i = 0; i < filled; i++)
		ftl->zone_ends[i] = profile->zone_capacity;
	return true;
}

bool ftl_write(struct ftl *ftl, u64 first, u32 nr)
{
	bool slc = slc_takes(ftl);
	u64 last = first + nr - 1;
	u32 flags = nr * FTL_PAGE * 512 < ftl->profile->flash_page ? SCATTERED : 0;
	u32 group;

	for (group = first >> ftl->shift; group <= last >> ftl->shift; group++) {
		if (group_touch(ftl, group, part_of(ftl, group, first, last), flags))
			(slc ? write_to_slc : write_one)(ftl, group, flags);
	}
	return slc;
}

void ftl_fill(struct ftl *ftl, u64 first, u64 nr)
{
	u32 flags = ftl->profile->precondition == PRECONDITION_RANDOM ? SCATTERED : 0;
	struct ftl_figures figures = ftl->figures;
	u64 last = first + nr - 1;
	u32 group;

	if (!nr)
		return;
	if (ftl->zone_ends) {
		zones_fill(ftl, first, nr);
		ftl->figures = figures;
		return;
	}
	for (group = first >> ftl->shift; group <= last >> ftl->shift; group++) {
		if (group_touch(ftl, group, part_of(ftl, group, first, last), flags) &&
		    is_none(ftl->map[group]))
			write_to_block(ftl, group, flags);
	}
	figures.stuck |= ftl->figures.stuck;
	figures.share = ftl->figures.share;
	figures.gain = ftl->figures.gain;
	ftl->figures = figures;
}

void ftl_trim(struct ftl *ftl, u64 first, u64 nr)
{
	u64 last = first + nr - 1;
	u32 group;

	if (!nr)
		return;
	if (ftl->zone_ends) {
		zones_trim(ftl, first, nr);
		return;
	}
	for (group = first >> ftl->shift; group <= last >> ftl->shift; group++) {
		struct part part = part_of(ftl, group, first, last);

		ftl->written[group] &= ~eighths_covered(ftl, part.from, part.to);
		if (part.sampled && !MODEL_PLANTED(trim))
			group_drop(ftl, group);
	}
}

enum ftl_state ftl_look(const struct ftl *ftl, u64 page)
{
	u32 group = page >> ftl->shift, i = page & (BIT(ftl->shift) - 1);
	u32 entry = ftl->map[group];

	if (!(ftl->written[group] >> eighth_of(ftl, i) & 1))
		return FTL_NOTHING;
	return entry & SCATTERED ? FTL_SCATTERED : FTL_RUN;
}

bool ftl_in_slc(const struct ftl *ftl, u64 page)
{
	return is_in_slc(ftl->map[page >> ftl->shift]);
}

/* Making */

static u64 bytes_with(u64 pages, u64 slots, u32 shift)
{
	return (pages >> shift) * (sizeof(u32) + 1) + (slots >> shift) * sizeof(u32);
}

static u32 shift_of(const struct profile *profile, u64 pages, u64 slots)
{
	u32 shift = 0;

	if (profile->sample)
		shift = fls64(profile->sample) - 1;
	while (slots >> shift > MOST_SLOTS ||
	       (!profile->sample && bytes_with(pages, slots, shift) > MOST_BYTES))
		shift++;
	return shift;
}

/* Blocks of the flash, and at least so many that collection has room to work in. */
static u32 ftl_count_blocks(const struct ftl *ftl)
{
	u64 raw = div64_u64(ftl->profile->raw_sectors, ftl->profile->gc_unit);
	u64 needed = DIV_ROUND_UP(ftl->groups, per_block(ftl)) + SPARE_BLOCKS;

	return max(raw, needed);
}

static void set_sizes(struct ftl *ftl)
{
	const struct profile *profile = ftl->profile;
	u64 pages = DIV_ROUND_UP(profile->sectors, FTL_PAGE);
	u32 unit_shift = fls64(profile->gc_unit / FTL_PAGE) - 1;

	ftl->shift = shift_of(profile, pages, profile->raw_sectors / FTL_PAGE);
	ftl->groups = (pages + BIT(ftl->shift) - 1) >> ftl->shift;
	ftl->block_shift = unit_shift > ftl->shift ? unit_shift - ftl->shift : 0;
	ftl->nr_blocks = ftl_count_blocks(ftl);
	ftl->slc_most = min_t(u64, profile->slc_cache / FTL_PAGE >> ftl->shift, ftl->groups);
	ftl->slc_least = ftl->slc_most;
	if (profile->slc_cache_min)
		ftl->slc_least = min_t(u64, ftl->slc_least,
				       profile->slc_cache_min / FTL_PAGE >> ftl->shift);
}

/* The share of the last group's pages that does not lie on the drive is not worth a thought. */
static void ftl_precondition(struct ftl *ftl)
{
	u32 filled = (u64)ftl->groups * ftl->profile->precondition_fill / 1000;
	u64 overwrites = (u64)filled * OVERWRITES;
	u32 i;

	if (ftl->profile->precondition == PRECONDITION_FRESH)
		return;
	for (i = 0; i < filled; i++) {
		ftl->written[i] = 0xff;
		write_one(ftl, i, 0);
	}
	if (ftl->profile->precondition != PRECONDITION_RANDOM)
		return;
	for (; overwrites; overwrites--) {
		write_one(ftl, rnd_below(ftl, filled), SCATTERED);
		if (!(overwrites & 4095))
			cond_resched();
	}
}

static size_t nr_slots(const struct ftl *ftl)
{
	return (size_t)ftl->nr_blocks << ftl->block_shift;
}

static size_t nr_slc_parts(const struct ftl *ftl)
{
	return ftl->slc_most ? (ftl->groups >> SLC_PART) + 1 : 0;
}

/* The tables, zeroed. False: there is no memory. */
static bool create_tables(struct ftl *ftl, gfp_t gfp)
{
	ftl->map = kvcalloc(ftl->groups, sizeof(*ftl->map), gfp);
	ftl->written = kvcalloc(ftl->groups, 1, gfp);
	ftl->slots = kvcalloc(nr_slots(ftl), sizeof(*ftl->slots), gfp);
	ftl->blocks = kvcalloc(ftl->nr_blocks, sizeof(*ftl->blocks), gfp);
	ftl->free = kvcalloc(ftl->nr_blocks, sizeof(*ftl->free), gfp);
	ftl->slc_parts = NULL;
	if (nr_slc_parts(ftl)) {
		ftl->slc_parts = kvcalloc(nr_slc_parts(ftl), sizeof(*ftl->slc_parts), gfp);
		if (!ftl->slc_parts)
			return false;
	}
	return ftl->map && ftl->written && ftl->slots && ftl->blocks && ftl->free;
}

struct ftl *ftl_create(const struct profile *profile, gfp_t gfp)
{
	struct ftl *ftl = kvzalloc(sizeof(*ftl), gfp);
	u32 i;

	if (!ftl)
		return NULL;
	ftl->profile = profile;
	ftl->rnd = 1;
	if (profile->zone_size) {
		if (zones_create(ftl, gfp))
			return ftl;
		kvfree(ftl);
		return NULL;
	}
	set_sizes(ftl);
	if (nr_slots(ftl) > NO_SLOT || !create_tables(ftl, gfp)) {
		ftl_destroy(ftl);
		return NULL;
	}
	memset(ftl->map, 0xff, ftl->groups * sizeof(*ftl->map));
	for (i = 0; i < ftl->nr_blocks; i++)
		block_put_free(ftl, i);
	ftl->host.block = NONE;
	ftl->moves.block = NONE;
	ftl->victim = NONE;
	ftl_precondition(ftl);
	ftl->figures = (struct ftl_figures) {
		.stuck = ftl->figures.stuck,
		.share = ftl->figures.share, .gain = ftl->figures.gain,
	};
	return ftl;
}

struct ftl *ftl_copy(const struct ftl *ftl, gfp_t gfp)
{
	struct ftl *copy = kvzalloc(sizeof(*copy), gfp);

	if (!copy)
		return NULL;
	*copy = *ftl;
	copy->user = NULL;
	if (ftl->zone_ends) {
		copy->zone_ends = kvcalloc(ftl->nr_zones, sizeof(*ftl->zone_ends), gfp);
		if (!copy->zone_ends) {
			kvfree(copy);
			return NULL;
		}
		memcpy(copy->zone_ends, ftl->zone_ends,
		       ftl->nr_zones * sizeof(*ftl->zone_ends));
		return copy;
	}
	if (!create_tables(copy, gfp)) {
		ftl_destroy(copy);
		return NULL;
	}
	memcpy(copy->map, ftl->map, ftl->groups * sizeof(*ftl->map));
	memcpy(copy->written, ftl->written, ftl->groups);
	memcpy(copy->slots, ftl->slots, nr_slots(ftl) * sizeof(*ftl->slots));
	memcpy(copy->blocks, ftl->blocks, ftl->nr_blocks * sizeof(*ftl->blocks));
	memcpy(copy->free, ftl->free, ftl->nr_blocks * sizeof(*ftl->free));
	if (copy->slc_parts)
		memcpy(copy->slc_parts, ftl->slc_parts,
		       nr_slc_parts(ftl) * sizeof(*ftl->slc_parts));
	return copy;
}

void ftl_destroy(struct ftl *ftl)
{
	if (!ftl)
		return;
	kvfree(ftl->map);
	kvfree(ftl->written);
	kvfree(ftl->slots);
	kvfree(ftl->blocks);
	kvfree(ftl->free);
	kvfree(ftl->slc_parts);
	kvfree(ftl->zone_ends);
	kvfree(ftl);
}

size_t ftl_bytes(const struct ftl *ftl)
{
	return sizeof(*ftl) + ftl->nr_zones * sizeof(*ftl->zone_ends) +
	       ftl->groups * (sizeof(*ftl->map) + 1) +
	       nr_slc_parts(ftl) * sizeof(*ftl->slc_parts) +
	       nr_slots(ftl) * sizeof(*ftl->slots) +
	       ftl->nr_blocks * (sizeof(*ftl->blocks) + sizeof(*ftl->free));
}
