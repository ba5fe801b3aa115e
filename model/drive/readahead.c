// SPDX-License-Identifier: GPL-2.0
/*
 * Read-ahead: after a read the head reads on into its segment, until the limit or until the
 * mechanics are needed. There is no event for it: what has been read by now is computed when it is
 * asked for.
 */
#include "drive-internal.h"

void readahead_start(struct drive *drive, struct segment *segment, u64 limit, u64 time)
{
	struct readahead *ra = &drive->readahead;

	if (limit <= segment->end)
		return;
	ra->segment = segment;
	ra->pass = (struct media_pass) {
		.sector = segment->end,
		.left = limit - segment->end,
		.time = time,
	};
	ra->stretch.sectors = 0;
	ra->done = 0;
	ra->start = time;
	ra->reached = time;
	ra->least = min(limit, segment->end + drive->profile->readahead_min);
}

void readahead_secure(struct drive *drive)
{
	struct readahead *ra = &drive->readahead;
	u64 limit = ra->pass.sector + ra->pass.left;

	if (ra->segment)
		ra->least = max(ra->least, min(limit, ra->segment->end +
						      drive->profile->readahead_stream));
}

/* When @n sectors of the stretch are done. */
static u64 sectors_done(const struct media_stretch *stretch, u64 n)
{
	u64 span = (stretch->end - stretch->begin) * n + stretch->sectors - 1;

	return stretch->begin + div64_u64(span, stretch->sectors);
}

/* How many sectors of the stretch, which is under the head, are done at @now. */
static u64 sectors_until(const struct media_stretch *stretch, u64 now)
{
	return div64_u64((now - stretch->begin) * stretch->sectors,
			 stretch->end - stretch->begin);
}

static void readahead_add(struct drive *drive, u32 done)
{
	struct readahead *ra = &drive->readahead;

	cache_append(drive->cache, ra->segment, done - ra->done);
	ra->segment->fresh += done - ra->done;
	ra->done = done;
}

/* Take the next stretch if this one is done. Returns false if there is none. */
static bool next_stretch(struct drive *drive)
{
	struct readahead *ra = &drive->readahead;

	if (ra->done < ra->stretch.sectors)
		return true;
	if (!ra->pass.left)
		return false;
	media_next(&drive->media, &ra->pass, &ra->stretch);
	ra->done = 0;
	return true;
}

void readahead_advance(struct drive *drive, u64 now)
{
	struct readahead *ra = &drive->readahead;

	while (ra->segment) {
		const struct media_stretch *s = &ra->stretch;

		if (!next_stretch(drive)) {
			drive->media_free = ra->pass.time;
			ra->segment = NULL;
		} else if (now >= s->end) {
			readahead_add(drive, s->sectors);
		} else {
			if (now > s->begin)
				readahead_add(drive, max_t(u64, ra->done, sectors_until(s, now)));
			break;
		}
	}
}

void readahead_extend(struct drive *drive, u64 limit)
{
	struct media_pass *pass = &drive->readahead.pass;

	if (limit > pass->sector + pass->left)
		pass->left = limit - pass->sector;
}

static u64 read_until(struct drive *drive, u64 sector)
{
	struct readahead *ra = &drive->readahead;
	const struct media_stretch *s = &ra->stretch;
	u32 n;

	while (next_stretch(drive)) {
		if (sector >= s->sector + s->sectors) {
			readahead_add(drive, s->sectors);
			if (sector == s->sector + s->sectors)
				return s->end;
			continue;
		}
		n = sector - s->sector;
		if (n > ra->done)
			readahead_add(drive, n);
		return sectors_done(s, n);
	}
	return ra->pass.time;
}

u64 readahead_reach(struct drive *drive, u64 sector)
{
	struct readahead *ra = &drive->readahead;

	ra->reached = max(ra->reached, read_until(drive, sector));
	return ra->reached;
}

/* The switches on the way are not counted: they do not decide whether to wait for it. */
u64 readahead_time(const struct drive *drive, u64 sector)
{
	const struct readahead *ra = &drive->readahead;
	const struct media_stretch *s = &ra->stretch;
	u64 from = ra->pass.sector, time = ra->start;

	if (s->sectors) {
		from = s->sector + s->sectors;
		time = s->end;
		if (sector < from) {
			from = s->sector;
			time = s->begin;
		}
	}
	return time + (sector - from) * drive->media.sector_time;
}

/*
 * The time at which the sector that is under the head at @now is done; @now itself, if the head is
 * between two. Where read-ahead has not been computed that far, it is up to a sector too late.
 */
static u64 sector_end(const struct drive *drive, u64 now)
{
	const struct media_stretch *stretch = &drive->readahead.stretch;
	u64 n;

	if (drive->profile->stop_prefetch_in_sector)
		return now;
	if (!stretch->sectors || now > stretch->end)
		return drive->readahead.pass.left ? now + drive->media.sector_time : now;
	if (now <= stretch->begin)
		return now;
	n = sectors_until(stretch, now);
	return sectors_done(stretch, n) == now ? now : sectors_done(stretch, n + 1);
}

u64 readahead_stops(const struct drive *drive, u64 now)
{
	const struct readahead *ra = &drive->readahead;

	now = max(max(now, ra->reached), drive->clock);
	if (now == ra->start)
		return now;
	if (ra->least > ra->segment->end)
		now = max(now, readahead_time(drive, ra->least));
	return sector_end(drive, now);
}

void readahead_stop(struct drive *drive, u64 now)
{
	struct readahead *ra = &drive->readahead;
	u64 sector;

	if (!ra->segment)
		return;
	now = max(max(now, ra->reached), drive->clock);
	if (now == ra->start && ra->least <= ra->segment->end) {
		drive->media_free = now;	/* it has not begun */
		ra->segment = NULL;
		return;
	}
	readahead_advance(drive, now);
	if (ra->segment && ra->segment->end < ra->least)
		now = max(now, readahead_reach(drive, ra->least));
	if (!ra->segment)
		return;
	sector = sector_end(drive, now);
	if (sector > now)
		readahead_reach(drive, ra->segment->end + 1);
	drive->media_free = max(now, sector);
	ra->segment = NULL;
}
