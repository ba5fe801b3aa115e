// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "doubts.h"
#include "target.h"

#define LEAST	0.1	/* a share below that is no doubt */
#define WINDOW	20	/* requests: fewer in a window say nothing of a rate */

struct doubts {
	struct doubt *doubt;
	u32 nr;
};

const char *doubt_name(enum doubt_kind kind)
{
	static const char *const names[] = {
		[DOUBT_CACHED_WRITES] = "cached_writes",
		[DOUBT_CACHED_READS] = "cached_reads",
		[DOUBT_EMPTY_READS] = "empty_reads",
		[DOUBT_ERASED_FLASH] = "erased_flash",
		[DOUBT_TREND] = "trend",
		[DOUBT_UNSTEADY] = "unsteady",
		[DOUBT_FAILED] = "failed",
		[DOUBT_UNMET_FAULTS] = "unmet_faults",
	};

	return names[kind];
}

__printf(4, 5)
static void doubts_add(struct doubts *doubts, enum doubt_kind kind, double share,
		       const char *format, ...)
{
	struct doubt *doubt = &doubts->doubt[doubts->nr++];
	va_list words;

	doubt->kind = kind;
	doubt->share = share;
	va_start(words, format);
	vsnprintf(doubt->text, sizeof(doubt->text), format, words);
	va_end(words);
}

/* Of the kind: there is none yet. */
static bool doubts_lack(const struct doubts *doubts, enum doubt_kind kind)
{
	u32 i;

	for (i = 0; i < doubts->nr; i++)
		if (doubts->doubt[i].kind == kind)
			return false;
	return true;
}

static const char *of_part(const struct job *job)
{
	return job->nr_parts > 1 ? "a part of the job has" : "was";
}

/* Of the bytes of @op in one part of a job, most that only a cache saw. */
static double cached_share(const struct job *job, const struct job_result *result, enum disk_op op)
{
	double most = 0;
	u32 i;

	for (i = 0; i < job->nr_parts; i++) {
		const struct job_figures *part = &result->part_op[i][op];

		most = fmax(most, 512.0 * part->cached / fmax(part->bytes, 1));
	}
	return most;
}

/* What a cache still has when the last request has been served. */
static void doubt_left(struct doubts *doubts, const struct job_result *result)
{
	double left = fmax(0, (double)result->left - result->left_before);
	double all = result->ns + left, share = left / fmax(all, 1);

	if (result->lasting_cache && result->written < 2 * result->cache)
		doubts_add(doubts, DOUBT_CACHED_WRITES, 1,
			   "%.4g MB were written, into a cache of %.4g MB (count more, or say steady)",
			   result->written / 1e6, result->cache / 1e6);
	else if (share >= LEAST)
		doubts_add(doubts, DOUBT_CACHED_WRITES, share,
			   "a cache took the writes: to empty it afterwards took %.4g s, beside %.4g s; with that it is %.1f requests a second (count more, or say steady or drain)",
			   left / 1e9, result->ns / 1e9, job_served(&result->all) * 1e9 / all);
}

static void doubt_writes(struct doubts *doubts, const struct job *job,
			 const struct job_result *result)
{
	double share = cached_share(job, result, DISK_WRITE);

	if (!result->op[DISK_WRITE].requests)
		return;
	if (result->media_share >= LEAST)
		doubts_add(doubts, DOUBT_CACHED_WRITES, result->media_share,
			   "a shingled disk's media cache took the writes: %.0f %% of them wait there for bands to be written (count more, or say steady)",
			   100 * result->media_share);
	else if (share >= LEAST)
		doubts_add(doubts, DOUBT_CACHED_WRITES, share,
			   "%.0f %% of what %s written was overwritten in the drive's cache, and never got to the media (a larger span, or cache=off)",
			   100 * share, of_part(job));
	else if (!result->filled)
		doubt_left(doubts, result);
}

/*
 * Of the pages that were read; or of the reads of a part, if that is more: those for which no flash
 * was asked, but for what a buffer had.
 */
static double empty_share(const struct job *job, const struct job_result *result)
{
	double empty = result->solid.empty_reads - result->begin.solid.empty_reads;
	double most, share;
	u32 i;

	if (!result->has_solid || empty <= 0)
		return 0;
	most = empty / fmax(result->read_pages, 1);
	for (i = 0; job->nr_parts > 1 && i < job->nr_parts; i++) {
		const struct job_figures *part = &result->part_op[i][DISK_READ];

		share = part->hits / fmax(job_served(part), 1) -
			512.0 * part->cached / fmax(part->bytes, 1);
		most = fmax(most, fmin(share, 4096 * empty / fmax(part->bytes, 1)));
	}
	return most;
}

/*
 * Of the random reads of one part, most that a disk's cache served. On an SSD what nobody wrote is
 * a hit, too.
 */
static double hit_share(const struct job *job, const struct job_result *result)
{
	double most = 0;
	u32 i;

	for (i = 0; i < job->nr_parts; i++) {
		const struct job_figures *part = &result->part_op[i][DISK_READ];

		if (job->parts[i].order == JOB_RANDOM && !result->has_solid)
			most = fmax(most, part->hits / fmax(job_served(part), 1));
	}
	return most;
}

/* A stream's hits say nothing: they were read for it. */
static void doubt_reads(struct doubts *doubts, const struct job *job,
			const struct job_result *result)
{
	double hits = hit_share(job, result), cached = cached_share(job, result, DISK_READ);

	if (hits >= LEAST && hits >= cached)
		doubts_add(doubts, DOUBT_CACHED_READS, hits,
			   "%.0f %% of the random reads were in the drive's cache (a larger span, or cache=off)",
			   100 * hits);
	else if (cached >= LEAST)
		doubts_add(doubts, DOUBT_CACHED_READS, cached,
			   "%.0f %% of what %s read was in the drive's cache, and not read from the media for it (a larger span, or cache=off)",
			   100 * cached, of_part(job));
}

/* Bytes that a disk read and wrote of the host's data; of an array the member that did most. */
static double most_moved(const struct job_result *result)
{
	double most = 0;
	u32 i;

	for (i = 0; i < result->nr_members; i++) {
		const struct array_member_figures *member = &result->members[i];

		most = fmax(most, 512.0 * (member->read_sectors - member->preread_sectors +
					   member->write_sectors - member->redundant_sectors));
	}
	return result->nr_members ? most : result->all.bytes;
}

/* Whatever the job is: no more can pass the heads. */
static void doubt_rate(struct doubts *doubts, const struct job_result *result,
		       const struct job_limits *limits)
{
	bool writes = result->op[DISK_WRITE].bytes > result->op[DISK_READ].bytes;
	enum doubt_kind kind = writes ? DOUBT_CACHED_WRITES : DOUBT_CACHED_READS;
	double rate = most_moved(result) * 1e9 / fmax(result->ns, 1);
	double share = rate > 0 ? 1 - limits->media / rate : 0;

	if (!result->has_solid && share >= LEAST && doubts_lack(doubts, kind))
		doubts_add(doubts, kind, share,
			   "%.1f MB/s were read and written%s, and the media have %.1f",
			   rate / 1e6, result->nr_members ? " on a member" : "",
			   limits->media / 1e6);
}

static void doubt_empty(struct doubts *doubts, const struct job *job,
			const struct job_result *result)
{
	double share = empty_share(job, result);

	if (share >= LEAST)
		doubts_add(doubts, DOUBT_EMPTY_READS, share,
			   "%.0f %% of the pages that %s read had never been written, so flash was not asked (%s)",
			   100 * share, job->nr_parts > 1 ? "a part of the job" : "were",
			   job->parts[0].zones ? "filled=100" :
			   "--option precondition=random, or sequential");
}

/*
 * Once collection moves pages the rate goes on to fall: what is left to be collected has ever more
 * that is still valid, until all has been written anew for some times. Blocks of which nothing is
 * valid, as sequential writes leave them, are collected for the erase alone.
 */
static double rewritten_times(const struct job_result *result, const struct job_limits *limits)
{
	double pages = result->solid.host_pages + result->found_pages;

	return 4096 * pages / fmax(max(1U, result->nr_members) * limits->places, 1);
}

static void doubt_erased(struct doubts *doubts, const struct job_result *result,
			 const struct job_limits *limits)
{
	struct solid_figures counted = result->solid;
	double fresh, times, slc, missing = 0;

	if (!result->op[DISK_WRITE].requests || !result->has_solid)
		return;
	solid_figures_subtract(&counted, &result->begin.solid);
	fresh = target_fresh_share(&counted, &result->solid);
	times = rewritten_times(result, limits);
	if (result->solid.moved_pages && limits->rewrites)
		missing = 1 - times / limits->rewrites;
	slc = counted.slc_programs * limits->program_pages;
	if (fresh >= LEAST && fresh >= missing && 2 * slc > counted.fresh_pages)
		doubts_add(doubts, DOUBT_ERASED_FLASH, fresh,
			   "the SLC cache took %.0f %% of the writes, and nothing had to be collected for them (steady, or a longer warm)",
			   100 * fresh);
	else if (fresh >= LEAST && fresh >= missing)
		doubts_add(doubts, DOUBT_ERASED_FLASH, fresh,
			   "flash blocks that were erased took %.0f %% of the writes, and none had to be collected for them (--option precondition=random, and steady or a longer warm)",
			   100 * fresh);
	else if (missing >= LEAST)
		doubts_add(doubts, DOUBT_ERASED_FLASH, missing,
			   "collection had only begun: each place was written %.3g times, and the rate falls until it has been %u times (--option precondition=random, or a longer warm)",
			   times, limits->rewrites);
}

/* Of the job's rate, or of that of one of several parts, if that is more. */
static void doubt_trend(struct doubts *doubts, const struct job *job,
			const struct job_result *result)
{
	double trend = job->count < JOB_WINDOWS * WINDOW ? 0 : job_trend(&result->windows);
	bool of_one = false;
	u32 i;

	for (i = 0; job->nr_parts > 1 && i < job->nr_parts; i++) {
		double part = job_part_trend(result, i, WINDOW);

		if (fabs(part) <= fmax(fabs(trend), JOB_LEVEL))
			continue;
		trend = part;
		of_one = true;
	}
	if (fabs(trend) >= JOB_LEVEL)
		doubts_add(doubts, DOUBT_TREND, trend / 100,
			   "the rate%s was not level: it %s by %.0f %% (a longer warm, or say steady)",
			   of_one ? " of a part of the job" : "",
			   trend < 0 ? "fell" : "rose", fabs(trend));
}

static void doubt_steady(struct doubts *doubts, const struct job *job,
			 const struct job_result *result)
{
	u64 flushes = result->flushes - result->failed_flushes;
	double rate = (job_served(&result->all) + flushes) * 1e9 / fmax(result->ns, 1);

	if (result->level && fabs(rate / result->before - 1) >= LEAST)
		doubts_add(doubts, DOUBT_UNSTEADY, rate / result->before - 1,
			   "%llu requests before those that count came at %.1f a second (count more)",
			   (unsigned long long)result->warmed, result->before);
	if (job->steady && !result->level)
		doubts_add(doubts, DOUBT_UNSTEADY, 1,
			   "after %llu requests the rate was not level, or the caches not full: the job was counted all the same",
			   (unsigned long long)result->warmed);
}

/*
 * Of all flushes, or of the reads, the writes or the commands about zones of a part: most that
 * failed, and @which.
 */
static double failed_share(const struct job *job, const struct job_result *result,
			   const char **which)
{
	static const char *const names[] = { "reads", "writes", "commands about zones" };
	double most = result->failed_flushes / fmax(result->flushes, 1), share;
	u32 i, kind;

	*which = "flushes";
	for (i = 0; i < job->nr_parts; i++)
		for (kind = 0; kind < ARRAY_SIZE(names); kind++) {
			const struct job_figures *part = kind < 2 ? &result->part_op[i][kind] :
								    &result->parts[i];

			if (!part->failed || (kind == 2 && !job->parts[i].zone_op))
				continue;
			share = part->failed / fmax(part->requests, 1);
			if (share < most)
				continue;
			most = share;
			*which = names[kind];
		}
	return most;
}

static void doubt_faults(struct doubts *doubts, const struct job *job,
			 const struct job_result *result)
{
	const char *which;
	double share = failed_share(job, result, &which);

	if (share >= LEAST)
		doubts_add(doubts, DOUBT_FAILED, share,
			   "%.0f %% of the %s%s failed, and the figures are of what did not (fewer faults, another age of the drive, or count less)",
			   100 * share, which, job->nr_parts > 1 ? " of a part of the job" : "");
	if (result->has_faults && !result->faults_met && !result->all.failed)
		doubts_add(doubts, DOUBT_UNMET_FAULTS, 1,
			   "no request met a fault: the figures are of a healthy drive (other places or another age of the faults, or count more)");
}

/* What was not asked for: no flash, no steady rate, failures, or a drive that did not fail. */
bool doubts_refute(const struct doubt *doubts, u32 nr)
{
	static const bool refutes[DOUBT_NR] = {
		[DOUBT_EMPTY_READS] = true,
		[DOUBT_UNSTEADY] = true,
		[DOUBT_FAILED] = true,
		[DOUBT_UNMET_FAULTS] = true,
	};
	u32 i;

	for (i = 0; i < nr; i++)
		if (refutes[doubts[i].kind])
			return true;
	return false;
}

u32 job_doubts(const struct job *job, const struct job_result *result,
	       const struct job_limits *limits, struct doubt doubts[DOUBT_NR])
{
	struct doubts found = { .doubt = doubts };

	doubt_writes(&found, job, result);
	doubt_reads(&found, job, result);
	doubt_rate(&found, result, limits);
	doubt_empty(&found, job, result);
	doubt_erased(&found, result, limits);
	doubt_faults(&found, job, result);
	if (doubts_lack(&found, DOUBT_FAILED))
		doubt_trend(&found, job, result);
	doubt_steady(&found, job, result);
	return found.nr;
}
