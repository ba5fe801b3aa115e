// SPDX-License-Identifier: GPL-2.0
/*
 * What the model itself has counted, for the statistics: see timing.h. The model is asked when they
 * are read. A disk's figures outlive the model of a table, so they are added up.
 */
#include "timing-internal.h"

static void count_flash(u64 *flash, const struct solid_figures *more)
{
	flash[DAVID_FLASH_HOST_PAGES] += more->host_pages;
	flash[DAVID_FLASH_MOVED_PAGES] += more->moved_pages;
	flash[DAVID_FLASH_FOLDED_PAGES] += more->folded_pages;
	flash[DAVID_FLASH_READS] += more->flash_reads;
	flash[DAVID_FLASH_PROGRAMS] += more->programs;
	flash[DAVID_FLASH_SLC_PROGRAMS] += more->slc_programs;
	flash[DAVID_FLASH_MAP_PROGRAMS] += more->map_programs;
	flash[DAVID_FLASH_MAP_READS] += more->map_reads;
	flash[DAVID_FLASH_ERASES] += more->erases;
	flash[DAVID_FLASH_EMPTY_READS] += more->empty_reads;
	flash[DAVID_FLASH_BUFFER_READS] += more->buffer_reads;
	flash[DAVID_FLASH_BUFFER_WAITS] += more->buffer_waits;
	flash[DAVID_FLASH_SUSPENDED] += more->suspended;
	flash[DAVID_FLASH_FRESH_PAGES] += more->fresh_pages;
}

/* What has been counted since the last call. Ways to spare blocks are of all that the media did. */
static void count_faults(struct timing *t, u64 *faults)
{
	const struct fault_figures *now = &t->faults->figures, *before = &t->failed;

	faults[DAVID_FAULTS_MEDIA_READ] += now->media_reads - before->media_reads;
	faults[DAVID_FAULTS_MEDIA_WRITE] += now->media_writes - before->media_writes;
	faults[DAVID_FAULTS_TIMEOUT] += now->timeouts - before->timeouts;
	faults[DAVID_FAULTS_GONE] += now->gone - before->gone;
	faults[DAVID_FAULTS_SLOWED] += now->slowed - before->slowed;
	faults[DAVID_FAULTS_STALLED] += now->stalled - before->stalled;
	faults[DAVID_FAULTS_DETOURS] += now->detours - before->detours;
	faults[DAVID_FAULTS_MOVED] += now->moved - before->moved;
	t->failed = *now;
}

/*
 * Requests that are under way keep the disk busy, however long they take. Until the next event that
 * has not been processed nothing of that changes.
 */
static void count_busy_so_far(struct timing *t)
{
	u64 now = min(platter_clock(t), disk_next_event(t->disk));

	if (t->outstanding && now > t->busy_since)
		timing_busy_until(t, now);
}

/* The lock is held. */
static void count_model(struct model_source *source)
{
	struct timing *t = container_of(source, struct timing, source);
	struct model_figures *figures = &t->figures->model;
	const struct reach *reach = figures->reached;
	struct solid_figures now, more;
	struct pending_figures pending;

	lockdep_assert_held(&figures->lock);
	if (t->faults)
		count_faults(t, figures->faults);
	if (!t->disk)
		return;
	count_busy_so_far(t);
	if (disk_solid_figures(t->disk, &now)) {
		more = now;
		solid_figures_subtract(&more, &t->counted);
		count_flash(figures->flash, &more);
		t->counted = now;
	}
	figures->reach[DAVID_REACH_FIRST] = reach->first;
	figures->reach[DAVID_REACH_END] = reach->end;
	figures->reach[DAVID_REACH_PAGES] = reach_pages(reach);
	reach_most(reach, &figures->reach[DAVID_REACH_MOST_FIRST],
		   &figures->reach[DAVID_REACH_MOST_END]);
	/* Of two tables, one is being loaded: nothing came to it. */
	if (!t->next_id)
		return;
	disk_pending_figures(t->disk, &pending);
	figures->pending[DAVID_PENDING_SECTORS] = pending.sectors;
	figures->pending[DAVID_PENDING_RUNS] = pending.runs;
}

void timing_count_from(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	unsigned long flags;

	if (t->source.count)
		return;
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
	memset(figures->pending, 0, sizeof(figures->pending));
	spin_unlock_irqrestore(&figures->lock, flags);
}

void timing_fit_reach(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	unsigned long flags;

	spin_lock_irqsave(&figures->lock, flags);
	if (figures->reached)
		reach_fit(figures->reached, t->profile.sectors);
	spin_unlock_irqrestore(&figures->lock, flags);
}

void timing_restart_reach(struct timing *t)
{
	struct model_figures *figures = &t->figures->model;
	unsigned long flags;

	spin_lock_irqsave(&figures->lock, flags);
	if (figures->reached)
		reach_clear(figures->reached, t->profile.sectors);
	memset(figures->reach, 0, sizeof(figures->reach));
	spin_unlock_irqrestore(&figures->lock, flags);
}
