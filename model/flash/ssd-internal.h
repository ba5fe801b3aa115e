/* SPDX-License-Identifier: GPL-2.0 */
/* What the parts of an SSD know of each other: see ssd.h. */
#ifndef DAVID_MODEL_SSD_INTERNAL_H
#define DAVID_MODEL_SSD_INTERNAL_H

#include "buffered.h"
#include "carrier.h"
#include "ftl.h"
#include "map-cache.h"
#include "ssd.h"

#define PAGE_BYTES	(FTL_PAGE * 512ULL)

struct die {
	u64 reads_until;	/* the end of all reads that it has been given */
	u64 begin;		/* of its program or erase; */
	u64 carried;		/* its data are on the die; */
	u64 end;		/* 0: it has none, and is in ssd->idle */
	u64 bytes;		/* of the buffer, that are then programmed */
	u32 erases;		/* that it owes */
	u64 filled;		/* bytes of the block that it programs to */
	u32 reads;		/* that went before the rest of it */
	bool locked;		/* none may */
	u32 channel;
	u64 reader;		/* the last command that read of it: its number, */
	u64 waited;		/* and how long its pages have waited for others' work there */
};

/*
 * A die whose program or erase ends at this time, or later if it was suspended since. From
 * profile.dies on: a read whose part of the map is in memory then.
 */
struct event {
	u64 time;
	u32 die;
};

/* Where the buffer's bytes are programmed to, in the order in which dies take them. */
enum cells { SLC, NATIVE, CELLS_NR };

/* Of the buffer, in bytes */
struct backlog {
	u64 loose;		/* less than a unit, and not forced out */
	u64 forced;		/* less than a unit, and must be programmed */
	u64 units;		/* whole units that no die has taken */
};

/* Pages that are read in times of their own */
enum page_kind { PAGE_RUN, PAGE_SCATTERED, PAGE_SLC };

/* What a die reads at once: a page of flash that was written in order, or a page by itself */
struct flash_place {
	u64 page;
	enum page_kind kind;
};

/*
 * The page that the last write ended in, if that wrote a part of it. Who follows on adds to it.
 * Then the drive programs it as a whole, with the rest as it was.
 */
struct open_page {
	struct backlog *backlog;	/* where it will be programmed; NULL: none is open */
	struct flash_place rest;	/* where the page was, */
	bool read;			/* if that is in flash */
	u64 page;
	u32 from, to;			/* its sectors that were written */
};

/* Work that the map has done at once, and dies do little by little; bytes */
struct debt {
	s64 owed;		/* of collection also: below 0, as dies did more already */
	u64 due;		/* that dies may do now */
};

struct waiting {
	struct solid_command *first, *last;
};

struct ssd {
	const struct profile *profile;
	struct ftl *ftl;
	struct ftl *own_ftl;	/* NULL: it is others' as well */
	struct die *dies;
	struct carrier *channels;
	struct event *events;	/* a heap */
	u32 nr_events;
	u32 *idle;		/* a ring of dies, the one idle longest goes first */
	u32 idle_at;
	u32 nr_idle;

	/* The buffer, bytes */
	u64 size;
	u64 used;
	struct backlog backlogs[CELLS_NR];
	struct open_page open;	/* its bytes are used, and in no backlog */
	u64 entered;		/* ever */
	u64 programmed;		/* ever */
	struct waiting writes;	/* for room */
	struct waiting flushes;	/* for programs */
	struct waiting ready;
	struct buffered *buffered;	/* NULL: reads are not served from there */

	/* The map */
	struct map_cache *map;	/* NULL: all of it is in memory */
	struct solid_command **reads;	/* that wait for it, or while it is written */
	u32 *places;		/* of these: those that are free */
	u32 most;
	u32 nr_places;
	u64 map_writes;		/* bytes of it that left memory and must be programmed */

	u32 flushed;		/* flushes since the map was written */
	u64 map_free;		/* when it has been written */
	u64 journals_from;	/* flushes write their journals, one after another, from here */
	u64 flush_free;		/* to here: when the last one has */
	u64 journaled;		/* bytes that had entered when the last flush came */
	u64 die_block;		/* bytes of a die's part of a block of the map, */
	u32 block_dies;		/* which has so many */
	u64 erases;		/* of such parts, that the map has done and no die */
	struct debt moves;	/* of collection */
	u64 stripe;		/* bytes that are moved in one go, */
	u64 collect_at;		/* and must be due: that, or when it has begun a unit */
	s64 apart;		/* the most that dies are from what the map has moved */
	struct debt folds;	/* of the SLC cache */
	u64 pay_all;		/* a write of so many bytes makes due all that is owed to folding */
	u64 fold_credit;	/* bytes that could be folded while idle, and were too few; */
	u64 folded_until;	/* up to this time */
	u64 folded_ahead;	/* pages folded since, by ssd_catch_up(); */
	u64 moved_ahead;	/* likewise those that collection has moved since @last */
	u64 busy_until;		/* the last end of a read, program or erase so far */
	u64 unit;		/* bytes that a die programs at a time */
	u32 unit_sectors;
	u64 last;		/* when the last command came */
	u64 reader;		/* commands that have read, the current one included */
	u64 waited;		/* how long that waited for the die that read last; */
	u64 off_die;		/* when that die had read the page */
	struct ftl_figures seen;	/* of the map, that the dies know of */
	struct solid_figures figures;
};

/* Is there anything for a die? Erases aside: one that has no work owes none. */
static __always_inline bool ssd_has_work(const struct ssd *ssd)
{
	const struct backlog *slc = &ssd->backlogs[SLC], *native = &ssd->backlogs[NATIVE];

	return (native->units | native->forced | slc->units | slc->forced) ||
	       ssd->moves.due >= ssd->collect_at || ssd->folds.due >= ssd->unit ||
	       ssd->map_writes >= ssd->unit;
}

/* ssd-dies.c */

/*
 * Makes dies, channels, room for a die's event and @more of others, and the map: @ftl, or one of
 * its own. @ssd is zeroed. False: there is no memory; ssd_exit_dies() frees what was made.
 */
bool ssd_init_dies(struct ssd *ssd, const struct profile *profile, struct ftl *ftl, u32 more,
		   gfp_t gfp);
void ssd_exit_dies(struct ssd *ssd);

/* Bytes of these, but for @ssd itself and the events of others. */
size_t ssd_dies_bytes(const struct ssd *ssd);

/* The time of an event. */
void ssd_push_event(struct ssd *ssd, u64 time, u32 die);
struct event ssd_pop_event(struct ssd *ssd);

/* Dies without work. */
void ssd_put_idle(struct ssd *ssd, u32 die);
u32 ssd_take_idle(struct ssd *ssd);

/* They take what is to be programmed. */
void ssd_use_idle(struct ssd *ssd, u64 now);

/* Those that owe erases do them, wherever they are in the ring. */
void ssd_erase_idle(struct ssd *ssd, u64 now);

/* @die is busy for @time, from @now on or when its reads have ended. */
void ssd_begin(struct ssd *ssd, struct die *die, u64 now, u64 time);

/* To read as much as a die programs, where a page takes @page */
u64 ssd_unit_read(const struct ssd *ssd, u64 page);

/* As ssd_begin(), with data for the die; it does so for @before until they are there. */
void ssd_program(struct ssd *ssd, struct die *die, u64 now, u64 before, u64 time);

/* Read @sectors at @place, which is on @die. Returns when they are in the controller. */
u64 ssd_read_die(struct ssd *ssd, struct die *die, struct flash_place place, u32 sectors, u64 now,
		 u64 from);

/* The same on the die that the place's hash names. */
u64 ssd_read_page(struct ssd *ssd, struct flash_place place, u32 sectors, u64 now, u64 from);

/* ssd.c */

/* Where @page is in flash. False: it is in the buffer, or was never written. */
bool ssd_find_page(const struct ssd *ssd, u64 page, struct flash_place *place);

/* Whole pages come into the buffer. Returns the backlog that they are to be added to. */
struct backlog *ssd_take_pages(struct ssd *ssd, u64 first, u32 nr, u64 now);
void ssd_add_backlog(const struct ssd *ssd, struct backlog *backlog, u64 bytes);

/* ssd-parts.c */

/* As ssd_take_pages() and ssd_add_backlog(), of sectors that need not be whole pages. */
void ssd_take_parts(struct ssd *ssd, u64 sector, u32 sectors, u64 now);

/* Nothing is added to the open page any more, if there is one. */
void ssd_close_page(struct ssd *ssd, u64 now);

#endif
