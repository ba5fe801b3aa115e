// SPDX-License-Identifier: GPL-2.0
/*
 * Writes to an SSD of less than a page. The map has pages of 4 KiB, and flash is programmed with
 * whole ones. So the rest of a page is read first, if it is in flash. The command is done when it
 * is in the buffer, and the rest is read meanwhile.
 *
 * A page that a write ends in stays open: a stream of small writes fills it, and nothing is read.
 */
#include "../planted.h"
#include "ssd-internal.h"

/* Sectors [@at, @end) of one page come. */
static void open_page(struct ssd *ssd, u64 at, u64 end, u64 now)
{
	struct open_page *open = &ssd->open;

	/* Where it is before it is written */
	open->page = at / FTL_PAGE;
	open->read = ssd_find_page(ssd, open->page, &open->rest);
	open->from = at % FTL_PAGE;
	open->to = open->from + (end - at);
	open->backlog = ssd_take_pages(ssd, open->page, 1, now);
}

void ssd_close_page(struct ssd *ssd, u64 now)
{
	struct open_page *open = &ssd->open;
	bool whole = !open->from && open->to == FTL_PAGE;

	if (!open->backlog)
		return;
	if (open->read && !whole && !MODEL_PLANTED(rest)) {
		ssd->reader++;
		ssd_read_page(ssd, open->rest, FTL_PAGE, now, now);
	}
	ssd_add_backlog(ssd, open->backlog, PAGE_BYTES);
	open->backlog = NULL;
}

/* Sectors of [@at, @end) that the open page takes, as they go on where it ends */
static u32 follow_on(struct ssd *ssd, u64 at, u64 end)
{
	struct open_page *open = &ssd->open;
	u32 sectors = min(end - at, FTL_PAGE - at % FTL_PAGE);

	if (!open->backlog || at != open->page * FTL_PAGE + open->to)
		return 0;
	open->to += sectors;
	return sectors;
}

void ssd_take_parts(struct ssd *ssd, u64 sector, u32 sectors, u64 now)
{
	u64 at = sector, end = sector + sectors, next;
	u32 pages;

	at += follow_on(ssd, at, end);
	if (at == end && at % FTL_PAGE)
		return;
	ssd_close_page(ssd, now);
	if (at % FTL_PAGE) {
		next = min(end, (at / FTL_PAGE + 1) * FTL_PAGE);
		open_page(ssd, at, next, now);
		at = next;
		if (at % FTL_PAGE)
			return;
		ssd_close_page(ssd, now);
	}
	next = end / FTL_PAGE * FTL_PAGE;
	pages = (next - at) / FTL_PAGE;
	if (at < next)
		ssd_add_backlog(ssd, ssd_take_pages(ssd, at / FTL_PAGE, pages, now),
				pages * PAGE_BYTES);
	if (next < end)
		open_page(ssd, next, end, now);
}
