// SPDX-License-Identifier: GPL-2.0
/* The flash of an SSD: see ssd.h. */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "ssd-internal.h"

#define NEVER		U64_MAX

static void waiting_append(struct waiting *list, struct solid_command *command)
{
	command->next = NULL;
	if (list->last)
		list->last->next = command;
	else
		list->first = command;
	list->last = command;
}

static struct solid_command *waiting_pop(struct waiting *list)
{
	struct solid_command *command = list->first;

	list->first = command->next;
	if (!list->first)
		list->last = NULL;
	return command;
}

static noinline void take_work(struct ssd *ssd, u64 now)
{
	const struct ftl_figures *figures = ftl_figures(ssd->ftl);
	u64 moved = figures->moved - ssd->seen.moved, erased = figures->erased - ssd->seen.erased;
	u64 folded = figures->folded - ssd->seen.folded;
	u32 i;

	ssd->seen = *figures;
	ssd->moves.owed += (moved << ftl_shift(ssd->ftl)) * PAGE_BYTES;
	ssd->folds.owed += (folded << ftl_shift(ssd->ftl)) * PAGE_BYTES;
	if (!MODEL_PLANTED(together)) {
		ssd->erases += erased * ssd->block_dies;
		return;
	}
	for (i = 0; i < ssd->profile->dies; i++)
		ssd->dies[i].erases += erased;
	ssd_erase_idle(ssd, now);
}

/* What the map has moved and erased since is work for the dies. */
static __always_inline void learn_from_map(struct ssd *ssd, u64 now)
{
	const struct ftl_figures *figures = ftl_figures(ssd->ftl), *seen = &ssd->seen;

	if (unlikely(figures->moved != seen->moved || figures->folded != seen->folded ||
		     figures->erased != seen->erased))
		take_work(ssd, now);
}

/*
 * The map is a sample, so it moves and folds megabytes at a time. The dies do it little by little,
 * as the host writes. What they move for a page is known: the share of the block that is collected.
 * They are not further from the map than so many of its pages.
 */
#define PAGES_APART	64

static __always_inline void pay_moves(struct ssd *ssd, u64 bytes)
{
	const struct ftl_figures *figures = ftl_figures(ssd->ftl);
	struct debt *debt = &ssd->moves;
	u64 part;

	if (!figures->share && debt->owed <= 0)
		return;
	part = figures->share ? div_u64(bytes * figures->share, figures->gain) : bytes;
	if (MODEL_PLANTED(lumps))
		part = max(debt->owed, (s64)0);
	else if (unlikely(debt->owed > ssd->apart))
		part *= 2;
	else if (unlikely(debt->owed < -ssd->apart))
		part = 0;
	debt->owed -= part;
	debt->due += part;
}

/* Of what is folded a write makes its bytes' share of so many pages of the map due. */
#define PAGES_TO_PAY	8

static void pay_folds(struct ssd *ssd, u64 bytes)
{
	struct debt *debt = &ssd->folds;
	u64 part = debt->owed;

	if (!part)
		return;
	if (bytes < ssd->pay_all)
		part = mul_u64_u64_div_u64(debt->owed, bytes, ssd->pay_all);
	debt->owed -= part;
	debt->due += part;
}

/* The map */

/* The numbers of its own pages begin here. */
#define MAP_PAGES	0x4000000000000000ULL

/* When the part of the map that @command needs is in memory, if that can begin at @from. */
static u64 map_look_up(struct ssd *ssd, const struct solid_command *command, u64 now, u64 from)
{
	const struct profile *profile = ssd->profile;
	u32 last = div_u64(command->sector + command->sectors - 1, profile->map_coverage);
	u32 number = div_u64(command->sector, profile->map_coverage);
	u64 ready = from;

	for (; number <= last; number++) {
		struct map_page *page = map_cache_find(ssd->map, number);
		bool dirty;

		if (!page) {
			page = map_cache_add(ssd->map, number, &dirty);
			if (dirty)
				ssd->map_writes += profile->map_page;
			page->ready = ssd_read_page(ssd, (struct flash_place) {
							.page = MAP_PAGES + number,
							.kind = PAGE_RUN,
						    }, profile->map_page / 512, now, from);
			ssd->figures.map_reads++;
		}
		page->dirty |= command->op == DISK_WRITE;
		ready = max(ready, page->ready);
	}
	if (ssd->map_writes >= ssd->unit)
		ssd_use_idle(ssd, now);
	return ready;
}

/* Writes */

static bool has_whole_pages(const struct solid_command *command)
{
	return !((command->sector | command->sectors) % FTL_PAGE);
}

/* What @command takes of the buffer: pages are programmed as a whole. */
static u64 buffer_bytes(const struct solid_command *command)
{
	u64 sectors = command->sector % FTL_PAGE + command->sectors;

	return DIV_ROUND_UP(sectors, FTL_PAGE) * PAGE_BYTES;
}

static bool has_room(const struct ssd *ssd, const struct solid_command *command)
{
	return ssd->used + buffer_bytes(command) <= ssd->size;
}

/*
 * How many sectors of what is left of @command, which waits, come into the buffer: as many as there
 * is room for. While dies have something to do it makes no difference when that is, but for the
 * last ones. They are pages of flash, as long as one is free, and no less than one is left for
 * later: so neighbours stay together.
 */
static u32 sectors_that_fit(const struct ssd *ssd, const struct solid_command *command)
{
	u32 page = ssd->profile->flash_page / 512, left = command->sectors - command->taken;
	u32 before = (command->sector + command->taken) % FTL_PAGE, span = before + left;
	u64 room = (ssd->size - min(ssd->used, ssd->size)) / PAGE_BYTES * FTL_PAGE;

	if (span <= room)
		return left;
	if (MODEL_PLANTED(whole))
		return ssd->used ? 0 : left;
	if (ssd_has_work(ssd))
		return 0;
	/* A buffer of less than two pages of flash could have no room for ever. */
	if (ssd->used)
		room = min_t(u64, room, max(span, page) - page) / page * page;
	return room > before ? room - before : 0;
}

static void force_out(struct ssd *ssd, u64 now)
{
	struct backlog *backlog;

	ssd_close_page(ssd, now);
	for (backlog = ssd->backlogs; backlog < &ssd->backlogs[CELLS_NR]; backlog++) {
		backlog->forced += backlog->loose;
		backlog->loose = 0;
		if (backlog->forced >= ssd->unit) {
			backlog->units++;
			backlog->forced -= ssd->unit;
		}
	}
}

static void make_ready(struct ssd *ssd, struct solid_command *command, u64 end)
{
	command->end = end;
	waiting_append(&ssd->ready, command);
}

/* When the map is written, if it is its turn; else @now. */
static u64 flush_map(struct ssd *ssd, u64 now)
{
	if (!ssd->profile->map_flushes || ++ssd->flushed < ssd->profile->map_flushes)
		return now;
	ssd->flushed = 0;
	ssd->map_free = now + ssd->profile->map_flush_time;
	return ssd->map_free;
}

/*
 * What a flush writes beside the data, the journal of the map, is written for one after another.
 * Returns when that is done for @command, whose data are programmed at @end.
 */
static u64 write_journal(struct ssd *ssd, const struct solid_command *command, u64 end)
{
	u64 time = MODEL_PLANTED(journal) ? 0 : ssd->profile->flush_time;

	if (ssd->profile->power_loss_protection)
		return end;
	end = max(end, ssd->flush_free);
	if (command->after > ssd->journaled) {
		ssd->journaled = command->after;
		if (end > ssd->flush_free)
			ssd->journals_from = end;
		end += time;
		ssd->flush_free = end;
	}
	return end;
}

/* @command is done when all that is in the buffer now has been programmed. */
static void wait_for_programs(struct ssd *ssd, struct solid_command *command, u64 now)
{
	force_out(ssd, now);
	command->after = ssd->entered;
	waiting_append(&ssd->flushes, command);
	ssd_use_idle(ssd, now);
}

static bool lasts_in_buffer(const struct ssd *ssd, const struct solid_command *command)
{
	return ssd->profile->power_loss_protection || !(command->flags & DISK_FUA);
}

static __always_inline struct backlog *take_pages(struct ssd *ssd, u64 first, u32 nr, u64 now)
{
	u64 bytes = nr * PAGE_BYTES;
	enum cells cells = ftl_write(ssd->ftl, first, nr) ? SLC : NATIVE;

	learn_from_map(ssd, now);
	pay_moves(ssd, bytes);
	pay_folds(ssd, bytes);
	ssd->used += bytes;
	ssd->entered += bytes;
	if (ssd->buffered)
		buffered_add(ssd->buffered, first, nr, ssd->entered / 512);
	return &ssd->backlogs[cells];
}

struct backlog *ssd_take_pages(struct ssd *ssd, u64 first, u32 nr, u64 now)
{
	return take_pages(ssd, first, nr, now);
}

void ssd_add_backlog(const struct ssd *ssd, struct backlog *backlog, u64 bytes)
{
	backlog->loose += bytes;
	while (backlog->loose >= ssd->unit) {
		backlog->loose -= ssd->unit;
		backlog->units++;
	}
}

/* @sectors of @command from @sector on come into the buffer at @now. */
static __always_inline void take_piece(struct ssd *ssd, const struct solid_command *command,
				       u64 sector, u32 sectors, u64 now)
{
	u32 nr = sectors / FTL_PAGE;

	if (ssd->map && sector == command->sector)
		map_look_up(ssd, command, now, now);
	if (unlikely(ssd->open.backlog || !has_whole_pages(command)))
		ssd_take_parts(ssd, sector, sectors, now);
	else
		ssd_add_backlog(ssd, take_pages(ssd, sector / FTL_PAGE, nr, now), nr * PAGE_BYTES);
}

/* All of @command is in the buffer. Returns false if it must be programmed to be done. */
static __always_inline bool has_come_in(struct ssd *ssd, struct solid_command *command, u64 now)
{
	if (!lasts_in_buffer(ssd, command)) {
		wait_for_programs(ssd, command, now);
		return false;
	}
	if (ssd_has_work(ssd))
		ssd_use_idle(ssd, now);
	return true;
}

/* If a write waits and nothing else empties the buffer, program what is less than a unit. */
static void ssd_make_room(struct ssd *ssd, u64 now)
{
	u64 open = ssd->open.backlog ? PAGE_BYTES : 0;

	if (!ssd->writes.first ||
	    ssd->used != ssd->backlogs[SLC].loose + ssd->backlogs[NATIVE].loose + open)
		return;
	force_out(ssd, now);
	ssd_use_idle(ssd, now);
}

static void ssd_admit(struct ssd *ssd, u64 now)
{
	struct solid_command *command;
	u32 sectors;

	while ((command = ssd->writes.first) && (sectors = sectors_that_fit(ssd, command))) {
		take_piece(ssd, command, command->sector + command->taken, sectors, now);
		command->taken += sectors;
		if (command->taken < command->sectors) {
			if (ssd_has_work(ssd))
				ssd_use_idle(ssd, now);
			continue;
		}
		waiting_pop(&ssd->writes);
		command->parts.queued += now > command->end ? now - command->end : 0;
		command->end = max(now, command->end);
		if (has_come_in(ssd, command, now))
			make_ready(ssd, command, command->end);
	}
	ssd_make_room(ssd, now);
}

/* All that @command had to wait for is programmed. Its own part ended at command->end. */
static void ssd_end_flush(struct ssd *ssd, struct solid_command *command, u64 end)
{
	end = write_journal(ssd, command, end);
	command->parts.flush = end > command->end ? end - command->end : 0;
	make_ready(ssd, command, end);
}

/* The end of a program or an erase. */
static void die_finish(struct ssd *ssd, struct die *die, u64 now)
{
	ssd->used -= die->bytes;
	ssd->programmed += die->bytes;
	die->end = 0;
	ssd->busy_until = max(ssd->busy_until, now);
	while (ssd->flushes.first && ssd->flushes.first->after <= ssd->programmed)
		ssd_end_flush(ssd, waiting_pop(&ssd->flushes), flush_map(ssd, now));
	ssd_put_idle(ssd, die - ssd->dies);
	if (die->erases)
		ssd_erase_idle(ssd, now);
	ssd_use_idle(ssd, now);
	ssd_admit(ssd, now);
}

/* Reads */

/* Is the newest data of @page in the buffer? */
static __always_inline bool in_buffer(const struct ssd *ssd, u64 page)
{
	return ssd->buffered && buffered_has(ssd->buffered, page, ssd->programmed / 512);
}

/* Of sectors [@at, @end), which are written: those that are not in the buffer. */
static u32 in_flash(struct ssd *ssd, u64 at, u64 end)
{
	u32 sectors = end - at;
	u64 next;

	if (!ssd->buffered)
		return sectors;
	for (; at < end; at = next) {
		next = min(end, (at / FTL_PAGE + 1) * FTL_PAGE);
		if (in_buffer(ssd, at / FTL_PAGE)) {
			sectors -= next - at;
			ssd->figures.buffer_reads++;
		}
	}
	return sectors;
}

/* Where a die has the sector @at, whose page is in flash in @state */
static __always_inline struct flash_place find_place(const struct ssd *ssd, u64 at,
						     enum ftl_state state)
{
	const struct profile *profile = ssd->profile;
	struct flash_place place = { .page = ~(at / FTL_PAGE), .kind = PAGE_SCATTERED };

	if (state == FTL_RUN)
		place = (struct flash_place) {
			.page = div_u64(at, profile->flash_page / 512), .kind = PAGE_RUN,
		};
	if (profile->slc_cache && ftl_in_slc(ssd->ftl, at / FTL_PAGE))
		place.kind = PAGE_SLC;
	return place;
}

bool ssd_find_page(const struct ssd *ssd, u64 page, struct flash_place *place)
{
	enum ftl_state state = ftl_look(ssd->ftl, page);

	*place = find_place(ssd, page * FTL_PAGE, state);
	return state != FTL_NOTHING && !in_buffer(ssd, page);
}

static u64 read_data(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	u64 at = command->sector, end = at + command->sectors, done = from, next, read;
	enum ftl_state state;
	u64 waited = 0, off_die = from;
	u32 flash_page = ssd->profile->flash_page / 512, sectors;

	ssd->reader++;
	command->parts.hit = true;
	for (; at < end; at = next) {
		state = ftl_look(ssd->ftl, at / FTL_PAGE);
		next = (at / FTL_PAGE + 1) * FTL_PAGE;
		if (state == FTL_RUN)
			next = (div_u64(at, flash_page) + 1) * flash_page;
		next = min(next, end);
		ssd->figures.empty_reads += state == FTL_NOTHING;
		sectors = state == FTL_NOTHING ? 0 : in_flash(ssd, at, next);
		if (state != FTL_NOTHING)
			command->parts.cached += next - at - sectors;
		if (!sectors)
			continue;
		command->parts.hit = false;
		read = ssd_read_page(ssd, find_place(ssd, at, state), sectors, now, from);
		if (read > done) {
			done = read;
			waited = ssd->waited;
			off_die = ssd->off_die;
		}
	}
	command->parts.queued += waited;
	command->parts.die = off_die - from - waited;
	command->parts.channel = done - off_die;
	return done;
}

/* Is any page of @command in flash? */
static bool needs_map(struct ssd *ssd, const struct solid_command *command)
{
	u64 page = command->sector / FTL_PAGE;
	u64 end = DIV_ROUND_UP(command->sector + command->sectors, FTL_PAGE);

	for (; page < end; page++)
		if (ftl_look(ssd->ftl, page) != FTL_NOTHING && !in_buffer(ssd, page))
			return true;
	return false;
}

/* @command goes on at @time. */
static u64 put_off(struct ssd *ssd, struct solid_command *command, u64 time)
{
	u32 place = ssd->places[--ssd->nr_places];

	ssd->reads[place] = command;
	ssd_push_event(ssd, time, ssd->profile->dies + place);
	return NEVER;
}

/*
 * A read looks up where its pages are. While the map or a journal of it is written nobody can: the
 * read waits for the end of what is just being written, and not for journals that wait. Returns
 * when @command, which would begin at @from, can begin.
 */
static noinline u64 journal_ends(struct ssd *ssd, const struct solid_command *command, u64 from)
{
	u64 begin = max(from, ssd->map_free);
	u32 left = 0;

	if (!needs_map(ssd, command) || MODEL_PLANTED(during))
		return from;
	/* Journals of the same time follow on one another up to flush_free. */
	if (begin >= ssd->journals_from && begin < ssd->flush_free)
		div_u64_rem(ssd->flush_free - begin, ssd->profile->flush_time, &left);
	return begin + left;
}

static u64 ssd_serve_read(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	u64 ready;

	command->waits_for_journal = false;
	if (unlikely(from < max(ssd->flush_free, ssd->map_free))) {
		ready = journal_ends(ssd, command, from);
		if (ready > from) {
			command->waits_for_journal = true;
			command->parts.queued += ready - from;
			return put_off(ssd, command, ready);
		}
	}
	if (!ssd->map || !needs_map(ssd, command))
		return read_data(ssd, command, now, from);
	ready = map_look_up(ssd, command, now, from);
	if (ready <= from || MODEL_PLANTED(lookup))
		return read_data(ssd, command, now, from);
	if (!MODEL_PLANTED(map_wait))
		command->parts.map = ready - from;
	return put_off(ssd, command, ready);
}

/* The read that waits at @place has its part of the map, or can look it up. */
static void resume_read(struct ssd *ssd, u32 place, u64 now)
{
	struct solid_command *command = ssd->reads[place];
	u64 end;

	ssd->places[ssd->nr_places++] = place;
	end = command->waits_for_journal ? ssd_serve_read(ssd, command, now, now) :
					   read_data(ssd, command, now, now);
	if (end != NEVER)
		make_ready(ssd, command, end);
}

/* Only if no other drive used the map has it been idle since its last command: see ssd.h. */
static void ssd_see_other_users(struct ssd *ssd, u64 now)
{
	if (likely(!ftl_taken_over(ssd->ftl, ssd)))
		return;
	ssd->seen = *ftl_figures(ssd->ftl);
	ssd->last = now;
	ssd->folded_until = now;
	ssd->folded_ahead = 0;
	ssd->moved_ahead = 0;
}

static void ssd_run_to(struct ssd *ssd, u64 now)
{
	ssd_see_other_users(ssd, now);
	while (ssd->nr_events && ssd->events[0].time <= now) {
		struct event event = ssd_pop_event(ssd);
		struct die *die = &ssd->dies[event.die];

		if (event.die >= ssd->profile->dies)
			resume_read(ssd, event.die - ssd->profile->dies, event.time);
		else if (die->end > event.time)	/* it was suspended */
			ssd_push_event(ssd, die->end, event.die);
		else
			die_finish(ssd, die, event.time);
	}
}

static u64 ssd_serve_write(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	command->end = from;
	command->parts.hit = true;
	if (ssd->writes.first || !has_room(ssd, command)) {
		command->parts.hit = false;
		command->taken = 0;
		ssd->figures.buffer_waits++;
		waiting_append(&ssd->writes, command);
		ssd_admit(ssd, now);
		return NEVER;
	}
	take_piece(ssd, command, command->sector, command->sectors, now);
	return has_come_in(ssd, command, now) ? from : NEVER;
}

static u64 ssd_serve_flush(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	u64 end;

	if (ssd->profile->power_loss_protection || ssd->programmed == ssd->entered) {
		command->after = ssd->entered;
		end = write_journal(ssd, command, from);
		command->parts.flush = end - from;
		return end;
	}
	command->end = from;
	wait_for_programs(ssd, command, now);
	return NEVER;
}

/* Pages that collection has had the time to move since the last command, if that was idle. */
static u64 idle_moves(const struct ssd *ssd, u64 now)
{
	const struct profile *profile = ssd->profile;
	u64 idle = now - ssd->last;

	if (!profile->gc_idle_rate || idle <= profile->gc_idle_after || ssd->nr_events)
		return 0;
	idle = min(idle - profile->gc_idle_after, 1ULL << 42);
	return div_u64(mul_u64_u64_div_u64(idle, profile->gc_idle_rate, 1000000000), PAGE_BYTES);
}

/*
 * A piece of what collection has had the time for, @due pages since the last command. False: there
 * is nothing more to move.
 */
static bool collect_piece(struct ssd *ssd, u64 due)
{
	u64 rest = due - ssd->moved_ahead;
	bool more = ftl_idle(ssd->ftl, &rest, ssd->profile->gc_idle_room / FTL_PAGE);

	ssd->moved_ahead = due - rest;
	return more;
}

/*
 * Collection of the idle time up to @now. Its end disturbs nobody. What it had time for, and there
 * was nothing to move, it does not do later.
 */
static void collect_idle(struct ssd *ssd, u64 now)
{
	u64 due = idle_moves(ssd, now);

	if (due <= ssd->moved_ahead)
		return;
	while (collect_piece(ssd, due))
		;
	/* What is less than a page of the map stays. */
	if ((due - ssd->moved_ahead) >> ftl_shift(ssd->ftl))
		ssd->moved_ahead = due;
	ssd->seen = *ftl_figures(ssd->ftl);
}

/*
 * At @now dies are folding, as many as the rate needs. They have not begun at once: each is at
 * another place of its unit.
 */
static void interrupt_folding(struct ssd *ssd, u64 now)
{
	const struct profile *profile = ssd->profile;
	u64 time = ssd_unit_read(ssd, profile->slc_read_time) + profile->program_time +
		   carrier_time(ssd->channels, ssd->unit_sectors);
	u64 dies = mul_u64_u64_div_u64(profile->slc_fold_rate, time, ssd->unit * 1000000000);
	u32 i, nr = max_t(u64, min_t(u64, dies, profile->dies), 1);

	for (i = 0; i < nr; i++) {
		struct die *die = &ssd->dies[ssd_take_idle(ssd)];

		die->bytes = 0;
		ssd_begin(ssd, die, now - min(now, div_u64(time * (2 * i + 1), 2 * nr)), time);
		ssd->figures.programs++;
	}
}

/*
 * Is the drive idle, and folds? *@credit: bytes that it has had the time to fold by @now, and those
 * that were too few before. It takes as long as the rate says, with all that it moves and erases.
 */
static bool is_folding(const struct ssd *ssd, u64 now, u64 *credit)
{
	const struct profile *profile = ssd->profile;
	u64 from = max(ssd->busy_until, ssd->last) + profile->slc_idle_after;

	from = max(from, ssd->folded_until);
	if (!profile->slc_fold_rate || ssd->nr_events || now <= from || MODEL_PLANTED(idle))
		return false;
	*credit = ssd->fold_credit + mul_u64_u64_div_u64(min(now - from, 1ULL << 42),
							 profile->slc_fold_rate, 1000000000);
	return true;
}

/* A piece of what an idle drive folds. Returns its pages, 0: no more; *@left as of ftl_fold() */
static u64 fold_piece(struct ssd *ssd, u64 due, bool *left)
{
	u64 piece = ftl_fold(ssd->ftl, due - ssd->folded_ahead, left);

	ssd->folded_ahead += piece;
	return piece;
}

/* What an idle drive has folded of its SLC cache by @now. */
static void fold_idle(struct ssd *ssd, u64 now, bool command)
{
	u64 credit;
	bool left;

	if (!is_folding(ssd, now, &credit))
		return;
	while (fold_piece(ssd, div_u64(credit, PAGE_BYTES), &left))
		;
	ssd->fold_credit = left ? credit - ssd->folded_ahead * PAGE_BYTES : 0;
	ssd->folded_until = now;
	ssd->folded_ahead = 0;
	ssd->seen = *ftl_figures(ssd->ftl);
	if (left && command)
		interrupt_folding(ssd, now);
}

bool ssd_catch_up(struct ssd *ssd, u64 now)
{
	const struct profile *profile = ssd->profile;
	u64 credit, due = ssd->folded_ahead;
	bool more = false, left = false;

	/* Before each request: most drives are done here. */
	if (likely(!profile->slc_fold_rate && !profile->gc_idle_rate))
		return false;
	if (!ftl_is_used_by(ssd->ftl, ssd))
		return false;
	ssd_run_to(ssd, now);
	if (profile->slc_cache && profile->slc_fold_rate) {
		if (is_folding(ssd, now, &credit))
			due = div_u64(credit, PAGE_BYTES);
		more = fold_piece(ssd, due, &left);
	}
	/* While there is something to fold a command may find that it does not collect. */
	if (!more && !left) {
		due = idle_moves(ssd, now);
		more = due > ssd->moved_ahead && collect_piece(ssd, due);
	}
	ssd->seen = *ftl_figures(ssd->ftl);
	return more;
}

void ssd_settle(struct ssd *ssd, u64 now)
{
	bool left = false;

	ssd_run_to(ssd, now);
	if (ssd->profile->slc_cache) {
		fold_idle(ssd, now, false);
		ftl_fold(ssd->ftl, 0, &left);
	}
	if (!left && !MODEL_PLANTED(unsettled))
		collect_idle(ssd, now);
}

u64 ssd_serve(struct ssd *ssd, struct solid_command *command, u64 now, u64 from)
{
	ssd_run_to(ssd, now);
	if (ssd->profile->slc_cache)
		fold_idle(ssd, now, true);
	collect_idle(ssd, now);
	ssd->last = now;
	ssd->moved_ahead = 0;
	switch (command->op) {
	case DISK_READ:
		return ssd_serve_read(ssd, command, now, from);
	case DISK_WRITE:
		return ssd_serve_write(ssd, command, now, from);
	default:
		return ssd_serve_flush(ssd, command, now, from);
	}
}

u64 ssd_next_event(const struct ssd *ssd)
{
	if (!ssd->nr_events ||
	    (!ssd->writes.first && !ssd->flushes.first && ssd->nr_places == ssd->most))
		return NEVER;
	return ssd->events[0].time;
}

void ssd_advance(struct ssd *ssd, u64 now)
{
	ssd_run_to(ssd, now);
}

struct solid_command *ssd_ready(struct ssd *ssd)
{
	struct solid_command *ready = ssd->ready.first;

	ssd->ready = (struct waiting){ };
	return ready;
}

void ssd_trim(struct ssd *ssd, u64 sector, u64 sectors, u64 now)
{
	u64 first = DIV_ROUND_UP(sector, FTL_PAGE), end = (sector + sectors) / FTL_PAGE;

	ssd_settle(ssd, now);
	if (first < end)
		ftl_trim(ssd->ftl, first, end - first);
	if (MODEL_PLANTED(trimmed))
		for (first = 0; first < ssd->profile->dies; first++)
			ssd->dies[first].erases++;
}

void ssd_figures(const struct ssd *ssd, struct solid_figures *figures)
{
	const struct ftl_figures *map = ftl_figures(ssd->ftl);

	*figures = ssd->figures;
	figures->sample = BIT(ftl_shift(ssd->ftl));
	figures->host_pages = map->written << ftl_shift(ssd->ftl);
	figures->moved_pages = map->moved << ftl_shift(ssd->ftl);
	figures->fresh_pages = map->fresh << ftl_shift(ssd->ftl);
	figures->folded_pages = map->folded << ftl_shift(ssd->ftl);
	figures->stuck = map->stuck;
}

/* Making */

static void ssd_init(struct ssd *ssd)
{
	const struct profile *profile = ssd->profile;
	u64 block = ftl_block_pages(ssd->ftl) * PAGE_BYTES;
	u32 i;

	ssd->die_block = max_t(u64, div_u64(block, profile->dies), profile->program_unit);
	ssd->block_dies = div64_u64(block, ssd->die_block);
	for (i = 0; i < profile->dies; i++) {
		/* No two dies open their next block at the same time. */
		ssd->dies[i].filled = div_u64(ssd->die_block * i, profile->dies);
		ssd_put_idle(ssd, i);
	}
	ssd->size = profile->write_buffer * 512ULL;
	ssd->stripe = max_t(u64, MODEL_PLANTED(stripe) ? 0 : profile->write_stripe, ssd->unit);
	ssd->collect_at = ssd->stripe;
	ssd->apart = (PAGES_APART * PAGE_BYTES) << ftl_shift(ssd->ftl);
	ssd->pay_all = (PAGES_TO_PAY * PAGE_BYTES) << ftl_shift(ssd->ftl);
	for (i = 0; i < ssd->most; i++)
		ssd->places[ssd->nr_places++] = i;
}

/* Pages of the map that fit into memory; 0: all of them do. */
static u32 map_pages(const struct profile *profile)
{
	u32 pages = profile->map_cache / (profile->map_page / 512);

	return pages * (u64)profile->map_coverage < profile->sectors ? pages : 0;
}

/* Can reads have to wait for the map, for a part of it or while it is written? */
static bool reads_wait(const struct profile *profile)
{
	return map_pages(profile) || profile->map_flushes || profile->flush_time;
}

/* False: there is no memory. */
static bool create_parts(struct ssd *ssd, const struct profile *profile, u32 most, struct ftl *ftl,
			 gfp_t gfp)
{
	u32 pages = map_pages(profile);

	ssd->most = reads_wait(profile) ? most : 0;
	ssd->idle = kvcalloc(profile->dies, sizeof(*ssd->idle), gfp);
	if (!ssd_init_dies(ssd, profile, ftl, ssd->most, gfp) || !ssd->idle)
		return false;
	if (profile->buffer_reads) {
		ssd->buffered = buffered_create(profile->write_buffer, gfp);
		if (!ssd->buffered)
			return false;
	}
	if (ssd->most) {
		ssd->reads = kvcalloc(most, sizeof(*ssd->reads), gfp);
		ssd->places = kvcalloc(most, sizeof(*ssd->places), gfp);
		if (!ssd->reads || !ssd->places)
			return false;
	}
	if (pages)
		ssd->map = map_cache_create(pages, gfp);
	return !pages || ssd->map;
}

struct ssd *ssd_create(const struct profile *profile, u32 most, struct ftl *ftl, gfp_t gfp)
{
	struct ssd *ssd = kvzalloc(sizeof(*ssd), gfp);

	if (!ssd)
		return NULL;
	if (!create_parts(ssd, profile, most, ftl, gfp)) {
		ssd_destroy(ssd);
		return NULL;
	}
	ssd_init(ssd);
	return ssd;
}

void ssd_destroy(struct ssd *ssd)
{
	if (!ssd)
		return;
	ssd_exit_dies(ssd);
	buffered_destroy(ssd->buffered);
	map_cache_destroy(ssd->map);
	kvfree(ssd->reads);
	kvfree(ssd->places);
	kvfree(ssd->idle);
	kvfree(ssd);
}

size_t ssd_bytes(const struct ssd *ssd)
{
	return sizeof(*ssd) + ssd_dies_bytes(ssd) + ssd->profile->dies * sizeof(*ssd->idle) +
	       ssd->most * (sizeof(*ssd->reads) + sizeof(*ssd->places) + sizeof(*ssd->events)) +
	       (ssd->buffered ? buffered_bytes(ssd->buffered) : 0) +
	       (ssd->map ? map_cache_bytes(ssd->map) : 0);
}
