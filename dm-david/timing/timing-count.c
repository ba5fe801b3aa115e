// SPDX-License-Identifier: GPL-2.0
/*
 * What the model itself has counted, for the statistics: see timing.h. The model is asked when they
 * are read. A disk's figures outlive the model of a table, so they are added up.
 */
#include "timing-internal.h"

static void count_flash(struct model_figures *figures, const struct solid_figures *now,
			const struct solid_figures *then)
{
	u64 *flash = figures->flash;

	flash[DAVID_FLASH_HOST_PAGES] += now->host_pages - then->host_pages;
	flash[DAVID_FLASH_MOVED_PAGES] += now->moved_pages - then->moved_pages;
	flash[DAVID_FLASH_FOLDED_PAGES] += now->folded_pages - then->folded_pages;
	flash[DAVID_FLASH_READS] += now->flash_reads - then->flash_reads;
	flash[DAVID_FLASH_PROGRAMS] += now->programs - then->programs;
	flash[DAVID_FLASH_SLC_PROGRAMS] += now->slc_programs - then->slc_programs;
	flash[DAVID_FLASH_MAP_PROGRAMS] += now->map_programs - then->map_programs;
	flash[DAVID_FLASH_MAP_READS] += now->map_reads - then->map_reads;
	flash[DAVID_FLASH_ERASES] += now->erases - then->erases;
	flash[DAVID_FLASH_EMPTY_READS] += now->empty_reads - then->empty_reads;
	flash[DAVID_FLASH_BUFFER_READS] += now->buffer_reads - then->buffer_reads;
	flash[DAVID_FLASH_BUFFER_WAITS] += now->buffer_waits - then->buffer_waits;
	flash[DAVID_FLASH_SUSPENDED] += now->suspended - then->suspended;
}

/* The lock is held. */
static void count_model(struct model_source *source)
{
	struct timing *t = container_of(source, struct timing, source);
	struct model_figures *figures = &t->figures->model;
	const struct reach *reach = t->reach;
	struct solid_figures now;

	lockdep_assert_held(&figures->lock);
	if (disk_solid_figures(t->disk, &now)) {
		count_flash(figures, &now, &t->counted);
		t->counted = now;
	}
	/* Of two tables, one is being loaded: it has reached nothing. */
	if (!reach->end)
		return;
	figures->reach[DAVID_REACH_FIRST] = reach->first;
	figures->reach[DAVID_REACH_END] = reach->end;
	figures->reach[DAVID_REACH_PAGES] = reach_pages(reach);
}

void timing_count_from(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	unsigned long flags;

	t->source.count = count_model;
	spin_lock_irqsave(&figures->lock, flags);
	list_add_tail(&t->source.list, &figures->sources);
	spin_unlock_irqrestore(&figures->lock, flags);
}

void timing_count_to(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	unsigned long flags;

	spin_lock_irqsave(&figures->lock, flags);
	count_model(&t->source);
	list_del(&t->source.list);
	memset(figures->reach, 0, sizeof(figures->reach));
	spin_unlock_irqrestore(&figures->lock, flags);
}

void timing_restart_reach(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	unsigned long flags;

	spin_lock_irqsave(&figures->lock, flags);
	if (t->reach)
		reach_clear(t->reach);
	memset(figures->reach, 0, sizeof(figures->reach));
	spin_unlock_irqrestore(&figures->lock, flags);
}
