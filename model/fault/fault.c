// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/splitmix.h"
#include "../planted.h"
#include "fault.h"

void faults_init(struct faults *faults, const struct profile *profile)
{
	memset(faults, 0, sizeof(*faults));
	faults->profile = profile;
}

void faults_remove(struct faults *faults, u32 i)
{
	faults->nr--;
	memmove(&faults->all[i], &faults->all[i + 1],
		(faults->nr - i) * sizeof(*faults->all));
}

/* When */

/* How long @fault has been on at @age; U64_MAX: it is not. */
static u64 fault_elapsed(const struct fault *fault, u64 age)
{
	u64 elapsed;

	if (age < fault->from)
		return U64_MAX;
	elapsed = age - fault->from;
	if (fault->every)
		div64_u64_rem(elapsed, fault->every, &elapsed);
	return fault->length && elapsed >= fault->length ? U64_MAX : elapsed;
}

static bool fault_is_on(const struct fault *fault, u64 age)
{
	return fault_elapsed(fault, age) != U64_MAX;
}

/* The next time that @fault begins, after @age; U64_MAX: it does not. */
static u64 fault_begins(const struct fault *fault, u64 age)
{
	u64 elapsed;

	if (age < fault->from)
		return fault->from;
	if (!fault->every)
		return U64_MAX;
	div64_u64_rem(age - fault->from, fault->every, &elapsed);
	return age + fault->every - elapsed;
}

/* Where */

static u64 block_sectors(const struct faults *faults)
{
	return faults->profile->physical_block / 512;
}

static u64 faults_block(const struct faults *faults, u64 sector)
{
	return sector & ~(block_sectors(faults) - 1);
}

/* Has @fault any of these sectors? A flush, which has none, is met by what is everywhere. */
static bool fault_covers(const struct fault *fault, u64 sector, u64 sectors)
{
	if (!sectors)
		return !fault->first && fault->last == U64_MAX;
	return sector <= fault->last && fault->first < sector + sectors;
}

/* The index of the first run that ends behind @sector. */
static u32 moved_find(const struct faults *faults, u64 sector)
{
	u32 low = 0, high = faults->nr_moved;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (faults->moved[middle].end <= sector)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct fault_run *faults_moved(const struct faults *faults, u64 sector, u64 sectors)
{
	u32 i = moved_find(faults, sector);

	return i < faults->nr_moved && faults->moved[i].first < sector + sectors ?
		&faults->moved[i] : NULL;
}

bool faults_move(struct faults *faults, u64 first, u64 end)
{
	struct fault_run *run;
	u32 i = moved_find(faults, first ? first - 1 : 0), last;

	/* Those from i on to before last touch it. */
	for (last = i; last < faults->nr_moved && faults->moved[last].first <= end; last++) {
		first = min(first, faults->moved[last].first);
		end = max(end, faults->moved[last].end);
	}
	if (last == i && faults->nr_moved == FAULTS_MOVED)
		return false;
	run = &faults->moved[i];
	memmove(run + 1, &faults->moved[last], (faults->nr_moved - last) * sizeof(*run));
	faults->nr_moved -= last - i;
	faults->nr_moved++;
	*run = (struct fault_run){ .first = first, .end = end };
	return true;
}

bool faults_move_back(struct faults *faults, u64 first, u64 end)
{
	struct fault_run *run;
	u32 i = moved_find(faults, first);

	while (i < faults->nr_moved && faults->moved[i].first < end) {
		run = &faults->moved[i];
		if (run->first < first && run->end > end) {
			if (faults->nr_moved == FAULTS_MOVED)
				return false;
			memmove(run + 1, run, (faults->nr_moved++ - i) * sizeof(*run));
			run[0].end = first;
			run[1].first = end;
			return true;
		}
		if (run->first < first) {
			run->end = first;
			i++;
		} else if (run->end > end) {
			run->first = end;
			i++;
		} else {
			faults->nr_moved--;
			memmove(run, run + 1, (faults->nr_moved - i) * sizeof(*run));
		}
	}
	return true;
}

/* A number that is drawn for @what: the same each time. */
static u64 fault_draw(const struct fault *fault, u64 what)
{
	u64 state = fault->seed ^ what * HASH_GOLDEN;

	splitmix_next(&state);
	return splitmix_next(&state);
}

/* Of all numbers that may be drawn, those below this one are hit. */
static u64 drawn_below(const struct fault *fault)
{
	return div64_u64(U64_MAX, fault->one_in);
}

/* Has @fault made the block of sector @block bad at @age? It covers it. */
static bool fault_spoils(const struct fault *fault, u64 block, u64 age)
{
	u64 elapsed = fault_elapsed(fault, age), below;

	if (elapsed == U64_MAX)
		return false;
	if (fault->one_in == 1 && !fault->over)
		return true;
	below = drawn_below(fault);
	/* Shares are counted in 65536ths. */
	if (elapsed < fault->over)
		below = (below >> 16) * div64_u64(elapsed, (fault->over >> 16) + 1);
	return fault_draw(fault, block) < below;
}

static bool block_is_bad(const struct faults *faults, u64 block, u64 age)
{
	u32 i;

	for (i = 0; i < faults->nr; i++) {
		const struct fault *fault = &faults->all[i];

		if (fault->kind == FAULT_MEDIA &&
		    fault_covers(fault, block, block_sectors(faults)) &&
		    fault_spoils(fault, block, age))
			return !faults_moved(faults, block, block_sectors(faults));
	}
	return false;
}

/* Is there a fault of @kind that may be met here, now? */
static bool may_meet(const struct faults *faults, enum fault_kind kind, u64 sector, u64 sectors,
		     u64 age)
{
	u64 first = faults_block(faults, sector);
	u32 i;

	for (i = 0; i < faults->nr; i++)
		if (faults->all[i].kind == kind && fault_is_on(&faults->all[i], age) &&
		    fault_covers(&faults->all[i], first,
				 sector + sectors + block_sectors(faults) - 1 - first))
			return true;
	return false;
}

static void meet_media(struct fault_met *met, u64 sector)
{
	met->kind = FAULT_MEDIA;
	met->sector = sector;
}

static void read_media(struct faults *faults, u64 sector, u64 sectors, u64 age,
		       struct fault_met *met)
{
	u64 block = faults_block(faults, sector), end = sector + sectors;

	for (; block < end; block += block_sectors(faults)) {
		if (!block_is_bad(faults, block, age))
			continue;
		meet_media(met, max(block, sector));
		faults->figures.media_reads++;
		return;
	}
}

/*
 * A part of a bad block cannot be written: the drive would have to read the rest. All of the write
 * is looked at before anything is moved, as a write that fails has written nothing.
 */
static void write_media(struct faults *faults, u64 sector, u64 sectors, u64 age,
			struct fault_met *met)
{
	u64 size = block_sectors(faults), end = sector + sectors, block, last = U64_MAX;
	u32 runs = 0;

	for (block = faults_block(faults, sector); block < end; block += size) {
		if (!block_is_bad(faults, block, age))
			continue;
		runs += block != last;
		last = block + size;
		if (block >= sector && last <= end && faults->nr_moved + runs <= FAULTS_MOVED)
			continue;
		meet_media(met, max(block, sector));
		faults->figures.media_writes++;
		return;
	}
	for (block = faults_block(faults, sector); runs && block < end; block += size) {
		if (!block_is_bad(faults, block, age))
			continue;
		if (!MODEL_PLANTED(unmended))
			faults_move(faults, block, block + size);
		faults->figures.moved++;
	}
}

static bool meets_timeout(struct faults *faults, u64 sector, u64 sectors, u64 age)
{
	u64 drawn = faults->drawn++;
	u32 i;

	for (i = 0; i < faults->nr; i++) {
		const struct fault *fault = &faults->all[i];

		if (fault->kind == FAULT_TIMEOUT && fault_is_on(fault, age) &&
		    fault_covers(fault, sector, sectors) &&
		    (fault->one_in == 1 || fault_draw(fault, drawn) < drawn_below(fault)))
			return true;
	}
	return false;
}

static bool faults_gone(const struct faults *faults, u64 age)
{
	u32 i;

	for (i = 0; i < faults->nr; i++)
		if (faults->all[i].kind == FAULT_GONE && fault_is_on(&faults->all[i], age))
			return true;
	return false;
}

void faults_meet_silence(struct faults *faults, u64 sector, u64 sectors, u64 now,
			 struct fault_met *met)
{
	u64 age = now + faults->shift;

	*met = (struct fault_met){ };
	if (faults_gone(faults, age)) {
		met->kind = FAULT_GONE;
		faults->figures.gone++;
	} else if (meets_timeout(faults, sector, sectors, age)) {
		met->kind = FAULT_TIMEOUT;
		met->ns = faults->profile->host_timeout * (1ULL + faults->profile->host_retries);
		faults->figures.timeouts++;
	}
}

void faults_meet_media(struct faults *faults, enum disk_op op, u64 sector, u64 sectors, u64 now,
		       struct fault_met *met)
{
	u64 age = now + faults->shift;

	if (!sectors || !may_meet(faults, FAULT_MEDIA, sector, sectors, age))
		return;
	if (op == DISK_READ)
		read_media(faults, sector, sectors, age, met);
	else
		write_media(faults, sector, sectors, age, met);
}

void faults_meet(struct faults *faults, enum disk_op op, u64 sector, u64 sectors, u64 now,
		 struct fault_met *met)
{
	faults_meet_silence(faults, sector, sectors, now, met);
	if (!met->kind)
		faults_meet_media(faults, op, sector, sectors, now, met);
}

/* How long */

/* What the drive tries until it gives a block up. */
static u64 retries_time(const struct profile *profile, enum disk_op op)
{
	u64 ns = op == DISK_READ ? (u64)profile->read_retries * profile->read_retry_time :
				   profile->write_error_time;
	u64 limit = op == DISK_READ ? profile->erc_read : profile->erc_write;

	return limit && !MODEL_PLANTED(unlimited) ? min(ns, limit) : ns;
}

/* The largest factor that is on, thousandths. */
static u32 slow_factor(const struct faults *faults, u64 sector, u64 sectors, u64 age)
{
	u32 i, factor = 1000;

	for (i = 0; i < faults->nr; i++)
		if (faults->all[i].kind == FAULT_SLOW && fault_is_on(&faults->all[i], age) &&
		    fault_covers(&faults->all[i], sector, sectors))
			factor = max(factor, faults->all[i].factor);
	return factor;
}

/* When the stall that there is at @age ends; 0: there is none. */
static u64 stall_end(const struct faults *faults, u64 age)
{
	u64 elapsed, end = 0;
	u32 i;

	for (i = 0; i < faults->nr; i++) {
		const struct fault *fault = &faults->all[i];

		elapsed = fault->kind == FAULT_STALL ? fault_elapsed(fault, age) : U64_MAX;
		if (elapsed != U64_MAX)
			end = max(end, age - elapsed + fault->length);
	}
	return end;
}

/* When the next one begins, after @age. */
static u64 stall_begins(const struct faults *faults, u64 age)
{
	u64 next = U64_MAX;
	u32 i;

	for (i = 0; i < faults->nr; i++)
		if (faults->all[i].kind == FAULT_STALL)
			next = min(next, fault_begins(&faults->all[i], age));
	return next;
}

/*
 * @ns of work from @age on, with all stalls that come in between. These end: only one fault repeats
 * its stalls, and it works half of the time or more.
 */
static u64 with_stalls(const struct faults *faults, u64 age, u64 ns)
{
	u64 begin = age, end, next;

	for (;;) {
		while ((end = stall_end(faults, age)))
			age = end;
		next = stall_begins(faults, age);
		if (next >= age + ns || MODEL_PLANTED(unstalled))
			return age + ns - begin;
		ns -= next - age;
		age = next;
	}
}

u64 faults_time(struct faults *faults, enum disk_op op, bool bad, u64 sector, u64 sectors, u64 now,
		u64 ns)
{
	u64 age = now + faults->shift, work = ns;
	u32 factor = slow_factor(faults, sector, sectors, age), rest;

	if (factor > 1000) {
		work = div_u64_rem(ns, 1000, &rest) * factor + rest * (u64)factor / 1000;
		faults->figures.slowed++;
	}
	if (bad)
		work += retries_time(faults->profile, op);
	ns = with_stalls(faults, age, work);
	faults->figures.stalled += ns > work;
	return ns;
}
