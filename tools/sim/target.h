/* SPDX-License-Identifier: GPL-2.0 */
/* What jobs and traces run on: a modelled disk, or an array of them. */
#ifndef DAVID_SIM_TARGET_H
#define DAVID_SIM_TARGET_H

#include <stdio.h>

#include "../../model/array/array.h"

struct target {
	struct disk *disk;
	struct array *array;	/* NULL: the disk */
};

/*
 * @setup: NULL, or the array, of disks of @profile. @flash: of a disk that is an SSD, its map,
 * which outlives it; NULL: its own. Returns 0 or -ENOMEM.
 */
int target_create(struct target *target, const struct profile *profile,
		  const struct array_setup *setup, struct ftl *flash);

/* What is outstanding on an array ends: its requests must still be there. */
void target_destroy(struct target *target);

/* As the functions of model/host/disk.h. An array lets everybody in: md has no such limit. */

static inline bool target_enter(struct target *target, struct disk_submitter *who,
				enum disk_op op, u64 now)
{
	return target->array || disk_enter(target->disk, who, op, now);
}

static inline bool target_merges(struct target *target, const struct disk_request *request,
				 u64 now)
{
	return target->disk && disk_merges(target->disk, request, now);
}

static inline u32 target_wakeups(const struct target *target, enum disk_op op)
{
	return target->array ? 0 : disk_wakeups(target->disk, op);
}

static inline void target_submit(struct target *target, struct disk_request *request, u64 now)
{
	if (target->array)
		array_submit(target->array, request, now);
	else
		disk_submit(target->disk, request, now);
}

static inline u64 target_next_event(const struct target *target)
{
	return target->array ? array_next_event(target->array) : disk_next_event(target->disk);
}

static inline struct disk_request *target_advance(struct target *target, u64 now)
{
	return target->array ? array_advance(target->array, now) : disk_advance(target->disk, now);
}

static inline size_t target_bytes(const struct target *target)
{
	return target->array ? array_bytes(target->array) : disk_bytes(target->disk);
}

/* Of an SSD or a memory, or of all members together. False: they are disks. */
static inline bool target_solid_figures(const struct target *target,
					struct solid_figures *figures)
{
	return target->array ? array_solid_figures(target->array, figures) :
			       disk_solid_figures(target->disk, figures);
}

/* Of a shingled disk, or of all members together: nothing of others. */
static inline void target_pending_figures(const struct target *target,
					  struct pending_figures *figures)
{
	if (target->array)
		array_pending_figures(target->array, figures);
	else
		disk_pending_figures(target->disk, figures);
}

/* Need it not go on? Cheap. Of the members of an array only target_failed() asks. */
static inline bool target_stopped(const struct target *target)
{
	struct solid_figures figures;

	if (target->array)
		return array_failed(target->array);
	return disk_solid_figures(target->disk, &figures) && figures.stuck;
}

/* Why what it says means nothing; NULL: it does mean something. */
static inline const char *target_failed(const struct target *target)
{
	struct solid_figures figures;

	if (target->array && array_failed(target->array))
		return "out of memory";
	if (target_solid_figures(target, &figures) && figures.stuck)
		return "the modelled drive cannot go on: collection finds no room";
	return NULL;
}

/* Bytes of writes that the caches of disks of @profile take; @members: of an array, else 0. */
u64 target_cache_bytes(const struct profile *profile, u32 members);

/* A flush need not empty the cache of a disk of @profile. */
static inline bool target_cache_lasts(const struct profile *profile)
{
	return profile->kind == DRIVE_SSD && profile->power_loss_protection;
}

/*
 * Of the pages that were written in a span, those for which nothing had to be collected. If the
 * map's sample has none of them: was anything collected at all? @counted: the span's; @all: from
 * the beginning.
 */
double target_fresh_share(const struct solid_figures *counted, const struct solid_figures *all);

/* Print "drive_ns": {…}: where the time of commands that have ended went, as JSON. */
void target_print_sums(FILE *to, const struct drive_sums *sums);

/* Of each member. */
void target_figures(const struct target *target, u32 members,
		    struct array_member_figures *figures);

#endif
