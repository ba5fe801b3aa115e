// SPDX-License-Identifier: GPL-2.0
/*
 * What takes no modelled time, and may be of any number of blocks: discards, zeroes, what the disk
 * had before, and that it has nothing any more.
 *
 * Under the model's lock interrupts are off, and the timer is late for whoever waits. So all of
 * this is done in pieces, and the lock is free in between. That changes nothing: a piece is of
 * whole groups of an SSD's map, or of whole physical blocks.
 */
#include "timing-internal.h"

#include <linux/device-mapper.h>
#include <linux/sched.h>
#include "../base/inject.h"
#include "trace.h"

/* Of a piece */
#define MOST_GROUPS	1024		/* of pages of which one is in the map */
#define MOST_BLOCKS	8192		/* physical ones, that a fault may have made bad */

/* Ranges that are asked for at a time: few enough for the store's lock */
#define FOLLOWED_RANGES	16

/* A range of sectors, piece by piece. */
struct pieces {
	u64 at, next;		/* the piece */
	u64 end;		/* of all */
	u64 size;		/* of a piece; a power of two */
	bool sleeps;
};

static bool pieces_next(struct pieces *pieces)
{
	if (pieces->next == pieces->end)
		return false;
	if (pieces->sleeps && pieces->next != pieces->at)
		cond_resched();
	pieces->at = pieces->next;
	pieces->next = min(pieces->end, (pieces->at | (pieces->size - 1)) + 1);
	if (INJECTED(whole))
		pieces->next = pieces->end;
	return true;
}

/* @at to @end, of the SSD's map. */
static struct pieces map_pieces(const struct timing *t, u64 at, u64 end)
{
	return (struct pieces){
		.at = at, .next = at, .end = end, .sleeps = true,
		/* Of a zone it is only known how far it is written. */
		.size = t->profile.zone_size ?:
			(u64)MOST_GROUPS * FTL_PAGE << ftl_shift(t->ftl),
	};
}

static void bio_pieces(struct pieces *pieces, const struct bio *bio)
{
	pieces->sleeps = timing_may_sleep(bio);
}

/* The lock is held. */
static void map_fill(struct timing *t, const struct pieces *piece)
{
	u64 page = piece->at / FTL_PAGE;

	lockdep_assert_held(&t->figures->model.lock);
	ftl_fill(t->ftl, page, DIV_ROUND_UP(piece->next, FTL_PAGE) - page);
}

/* Sectors [@start, @end) have been written. Those behind the disk's end are no matter. */
static void timing_tell_written(struct timing *t, u64 start, u64 end)
{
	struct pieces pieces;
	unsigned long flags;

	end = min(end, t->profile.sectors);
	if (start >= end)
		return;
	trace_david_written(t->dev, 0, 0, start, end - start);
	if (!t->ftl)
		return;
	pieces = map_pieces(t, start, end);
	while (pieces_next(&pieces)) {
		spin_lock_irqsave(&t->figures->model.lock, flags);
		map_fill(t, &pieces);
		spin_unlock_irqrestore(&t->figures->model.lock, flags);
	}
}

void timing_follow(struct timing *t)
{
	struct store *store = t->store;
	struct rt_range ranges[FOLLOWED_RANGES];
	u64 at = 0, start = 0, end = 0;
	unsigned long flags;
	unsigned int i, nr;

	/* Of a drive without flash only a recording wants to know. */
	if (t->followed || (!t->ftl && !trace_david_written_enabled()) || INJECTED(blank))
		return;
	t->followed = true;
	do {
		spin_lock_irqsave(&store->lock, flags);
		nr = rt_read(&store->table, at, ranges, FOLLOWED_RANGES);
		spin_unlock_irqrestore(&store->lock, flags);
		for (i = 0; i < nr; i++) {
			at = ranges[i].start + ranges[i].len;
			if (ranges[i].start << store->block_shift != end) {
				timing_tell_written(t, start, end);
				start = ranges[i].start << store->block_shift;
			}
			end = at << store->block_shift;
		}
		cond_resched();
	} while (nr && end < t->profile.sectors);
	timing_tell_written(t, start, end);
}

void timing_forget(struct timing *t)
{
	struct pieces pieces;
	unsigned long flags;
	u64 page;

	if (!t->ftl)
		return;
	pieces = map_pieces(t, 0, round_up(t->profile.sectors, FTL_PAGE));
	while (pieces_next(&pieces)) {
		page = pieces.at / FTL_PAGE;
		spin_lock_irqsave(&t->figures->model.lock, flags);
		ftl_trim(t->ftl, page, pieces.next / FTL_PAGE - page);
		spin_unlock_irqrestore(&t->figures->model.lock, flags);
	}
}

/* A piece of a discard. The lock is held, and let go in between. */
static void discard_piece(struct timing *t, const struct bio *bio, const struct pieces *piece,
			  enum david_mode mode, unsigned long *lock_flags)
	__must_hold(&t->figures->model.lock)
{
	struct timed timed = { };
	u64 sectors = piece->next - piece->at, now;

	lockdep_assert_held(&t->figures->model.lock);
	if (mode == DAVID_MODE_SPEEDUP) {
		drive_trim(t->drive, piece->at, sectors, t->drive_clock);
		return;
	}
	timed_init(&timed, bio, piece->at);
	timed.request.op = DISK_TRIM;
	timed.request.sectors = sectors;
	now = timing_catch_up(t, piece->sleeps, lock_flags);
	timed.arrived_ns = now;
	timed.id = t->next_id++;
	trace_david_queue(t->dev, &timed, now);
	disk_trim(t->disk, piece->at, sectors, now);
	timing_arm(t);
}

void timing_discard(struct timing *t, const struct bio *bio, enum david_mode mode)
{
	u64 sector = dm_target_offset(t->ti, bio->bi_iter.bi_sector);
	struct pieces pieces;
	unsigned long flags;

	if (!t->ftl)
		return;
	pieces = map_pieces(t, sector, sector + bio_sectors(bio));
	bio_pieces(&pieces, bio);
	while (pieces_next(&pieces)) {
		spin_lock_irqsave(&t->figures->model.lock, flags);
		discard_piece(t, bio, &pieces, mode, &flags);
		spin_unlock_irqrestore(&t->figures->model.lock, flags);
	}
}

void timing_zeroes(struct timing *t, const struct bio *bio, enum david_mode mode)
{
	u64 sector = dm_target_offset(t->ti, bio->bi_iter.bi_sector), now;
	struct pieces pieces;
	unsigned long flags;

	if (!t->ftl)
		return;
	pieces = map_pieces(t, sector, sector + bio_sectors(bio));
	bio_pieces(&pieces, bio);
	while (pieces_next(&pieces)) {
		spin_lock_irqsave(&t->figures->model.lock, flags);
		if (mode != DAVID_MODE_SPEEDUP) {
			now = timing_catch_up(t, pieces.sleeps, &flags);
			disk_settle(t->disk, now);
			trace_david_written(t->dev, t->next_id, now, pieces.at,
					    pieces.next - pieces.at);
			timing_arm(t);
		}
		map_fill(t, &pieces);
		spin_unlock_irqrestore(&t->figures->model.lock, flags);
	}
}

/* What the drive's clock says, of faults. The lock is held. */
static u64 fault_clock(struct timing *t, enum david_mode mode)
{
	u64 now;

	if (mode == DAVID_MODE_SPEEDUP)
		return t->drive_clock + t->drive_ahead;
	now = timing_run_model(t);
	timing_arm(t);
	return now;
}

u8 timing_meet_untimed(struct timing *t, const struct bio *bio, enum david_mode mode)
{
	u64 sector = dm_target_offset(t->ti, bio->bi_iter.bi_sector), now;
	u64 sectors = bio_op(bio) == REQ_OP_DISCARD ? 0 : bio_sectors(bio);
	struct pieces pieces = {
		.at = sector, .next = sector, .end = sector + sectors,
		.size = MOST_BLOCKS * (t->profile.physical_block >> SECTOR_SHIFT),
	};
	struct fault_met met;
	unsigned long flags;

	spin_lock_irqsave(&t->figures->model.lock, flags);
	now = fault_clock(t, mode);
	faults_meet_silence(t->faults, sector, sectors, now, &met);
	spin_unlock_irqrestore(&t->figures->model.lock, flags);
	bio_pieces(&pieces, bio);
	while (!met.kind && pieces_next(&pieces)) {
		spin_lock_irqsave(&t->figures->model.lock, flags);
		faults_meet_media(t->faults, DISK_WRITE, pieces.at, pieces.next - pieces.at, now,
				  &met);
		spin_unlock_irqrestore(&t->figures->model.lock, flags);
	}
	return met.kind;
}
