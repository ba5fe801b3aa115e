// SPDX-License-Identifier: GPL-2.0
#include "../../model/seek.h"
#include "rules.h"

#define KIB	2		/* sectors */
#define MIB	2048

static bool reads_ahead(const struct job *job, const struct profile *profile)
{
	return !job->read_cache_off && profile->read_cache && profile->segments &&
	       profile->readahead == READAHEAD_MAX;
}

static u32 least_track(const struct profile *profile)
{
	u32 least = U32_MAX, i;

	for (i = 0; i < profile->nr_zones; i++)
		least = min(least, profile->zones[i].sectors_per_track);
	return least;
}

static bool writes_back(const struct job *job, const struct profile *profile)
{
	return !job->write_cache_off && profile->write_cache == WRITE_CACHE_BACK;
}

/* Are requests of this kind not bound to follow one another within a revolution? */
static bool cached(const struct job *job, const struct profile *profile)
{
	const struct job_part *part = &job->parts[0];

	if (part->fua || part->flush)
		return false;
	return (part->writes == 100 || reads_ahead(job, profile)) &&
	       (!part->writes || writes_back(job, profile));
}

static u64 bytes(const struct job *job)
{
	return (u64)job->count * job->parts[0].sectors;
}

/*
 * The head reads on through a small gap. Where gaps are longer than a switch takes, and between
 * runs that are written, the drive has a choice, and each has its own way.
 */
static void small_gap(struct job_part *part, const struct profile *profile)
{
	part->gap = part->writes ? 0 : min(part->gap, least_track(profile) / 8ULL);
}

bool rule_sound(const struct job *job, const struct profile *profile)
{
	const struct job_part *part = &job->parts[0];
	u64 each = part->span / part->streams;
	u64 asked = part->sectors + part->offset;

	if (part->start + part->span > profile->sectors || each < 2 * asked + 16)
		return false;
	/* Random requests that overlap wait for each other: seldom, if the span is large. */
	if (part->order == JOB_RANDOM)
		return part->span >= 64ULL * part->depth * part->sectors;
	return ((u64)job->count / part->streams + 2 + part->depth) * (part->sectors + part->gap) <=
	       each;
}

/* More depth */

/*
 * What waited for ncq_age_limit goes in order of arrival, so that nothing starves. A window that
 * takes longer than that has no choice left: a P300 that makes 82 requests a second of 32 at a
 * time makes 67 where 600 ms are the limit, less than of 8 at a time. So many requests may wait
 * for half of the limit, if each takes the longest way and revolution, and one more for what is
 * no whole block.
 */
static u32 young(const struct job_part *part, const struct profile *profile)
{
	u64 track = profile->revolution + profile->head_switch;
	u64 each = seek_time(profile, profile->cylinders - 1) + 2 * profile->revolution +
		   part->sectors * track / least_track(profile);

	return max(profile->ncq_age_limit / 2 / each, 1ULL);
}

static bool fit_depth(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Backwards, how those that wait are grouped decides, and that is the host's matter. */
	if (part->order == JOB_BACKWARD)
		return false;
	part->depth = min(part->depth, 32u);
	if (part->order == JOB_RANDOM)
		part->depth = min(part->depth, young(part, profile));
	part->pace = 0;
	part->flush = 0;	/* with more depth, flushes find other requests under way */
	small_gap(part, profile);
	/* A stream each, so that depth does not change who reads what. */
	if (part->order != JOB_RANDOM)
		part->streams = 1;
	return part->order == JOB_RANDOM || cached(job, profile);
}

static void fast_depth(struct job *job, const struct profile *profile)
{
	job->parts[0].depth *= 2;
}

/* Less gap */

static bool fit_gap(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->streams = 1;
	part->writes = part->writes < 50 ? 0 : 100;
	if (!part->gap)
		part->gap = part->sectors;
	return cached(job, profile);
}

static void fast_gap(struct job *job, const struct profile *profile)
{
	job->parts[0].gap = 0;
}

/* Reading all of it, and giving away what was not asked for, would do. */
static bool fit_through(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->streams = 1;
	part->writes = 0;
	part->flush = 0;
	/* What waits in the host's queue is merged, but not across gaps. */
	part->depth = min(part->depth, profile->ncq_depth);
	/* Many larger ones are more than the host's queue takes, and overtake one another. */
	part->sectors = min(part->sectors, 1u * MIB);
	if (!part->gap)
		part->gap = part->sectors;
	part->gap = min(part->gap, min(64ULL * KIB, least_track(profile) / 4ULL));
	return cached(job, profile);
}

static void slow_through(struct job *job, const struct profile *profile)
{
	job->parts[0].sectors += job->parts[0].gap;
	job->parts[0].gap = 0;
}

/* Larger requests */

/*
 * As many requests as the window has room for, in pieces that the host makes of twice their
 * size. Of more the drive would know parts only: without a cache it loses a revolution where the
 * rest comes.
 */
static u32 known_to_drive(const struct job_part *part, const struct profile *profile)
{
	u32 pieces = (2 * part->sectors + profile->max_sectors - 1) / profile->max_sectors;

	return max(profile->ncq_depth / pieces, 1u);
}

static bool fit_size(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Backwards, each waits for nearly a revolution; how nearly, its size decides. */
	if (part->order == JOB_BACKWARD)
		return false;
	/* What a stream's turn leaves of what was read ahead is luck. So is what a write finds. */
	part->streams = 1;
	if (part->writes < 100)
		part->fua = false;
	part->sectors = min(part->sectors, 8u * MIB);
	part->depth = min(part->depth, known_to_drive(part, profile));
	part->gap = 0;
	part->flush = 0;
	part->pace = 0;
	part->align = 0;
	part->offset = 0;
	job->count &= ~1u;
	return true;
}

static void fast_size(struct job *job, const struct profile *profile)
{
	job->parts[0].sectors *= 2;
	job->count /= 2;
}

/* A shorter stroke */

/*
 * A write's first and last block, where it has only parts of them, are read before. Is the last
 * one within a head switch of the first on the next track, that takes a revolution more. How long
 * a track is in this zone decides: 2 MiB on a HC310 take 27 ms where tracks have 4115 sectors,
 * 20 ms where they have 3994.
 */
static void whole_blocks(struct job_part *part, const struct profile *profile)
{
	u32 block = profile->physical_block / 512;

	if (!part->writes)
		return;
	part->offset = 0;
	part->sectors = max(part->sectors / block, 1u) * block;
	part->align = part->align / block * block;
}

static bool fit_stroke(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_RANDOM;
	part->streams = 1;
	part->gap = 0;
	job->count = max(job->count, RANDOM_LEAST);
	/* The halves are to be as fast as one another, but for the way between them. */
	whole_blocks(part, profile);
	return part->span / 2 >= 64ULL * part->depth * part->sectors;
}

static void fast_stroke(struct job *job, const struct profile *profile)
{
	job->parts[0].span /= 2;
}

/* No pause */

static bool fit_pause(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (!part->pace)
		part->pace = 20000;
	if (part->order == JOB_BACKWARD)
		return false;
	part->streams = 1;
	if (part->depth > 1)
		part->flush = 0;
	small_gap(part, profile);
	/* Without a cache, what comes a little too late for the head waits for a revolution. */
	return part->order == JOB_RANDOM || cached(job, profile);
}

static void fast_pause(struct job *job, const struct profile *profile)
{
	job->parts[0].pace = 0;
}

/* Reads and writes of a stream */

static bool fit_even(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->streams = 1;
	part->writes = 0;
	part->gap = 0;
	part->pace = 0;
	part->flush = 0;
	part->offset = 0;
	part->fua = false;
	part->async = false;
	part->sectors = max(part->sectors, 64u * KIB);
	job->count = max(job->count, 256u * MIB / part->sectors);
	return reads_ahead(job, profile) && writes_back(job, profile);
}

static void fast_even(struct job *job, const struct profile *profile)
{
	job->parts[0].writes = 100;
}

/* Fewer flushes. Of runs that do not go on the drive chooses itself when it writes which. */

static bool fit_flush(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->writes = 100;
	part->depth = 1;
	part->gap = 0;
	if (part->order == JOB_BACKWARD)
		return false;
	if (!part->flush)
		part->flush = 8;
	job->count = job->count / (part->flush + 1) * (part->flush + 1);
	return job->count;
}

/* The requests that are not flushes stay as many. */
static void fast_flush(struct job *job, const struct profile *profile)
{
	job->count -= job->count / (job->parts[0].flush + 1);
	job->parts[0].flush = 0;
}

/* Caches */

static bool fit_caches(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* What is written late may cost a seek back to a stream that has gone on, */
	part->streams = 1;
	part->flush = 0;	/* or one that a write without a cache does beside the bus. */
	part->writes = part->writes < 50 ? 0 : 100;
	/* A pause may put a request right where the head is, read-ahead put it elsewhere. */
	part->pace = 0;
	small_gap(part, profile);
	/* The queue may hold more than the write cache can choose from. */
	if (part->writes) {
		part->depth = 1;
		part->sectors = min(part->sectors, profile->max_sectors / 2);
	}
	job->read_cache_off = true;
	job->write_cache_off = true;
	return true;
}

static void fast_caches(struct job *job, const struct profile *profile)
{
	job->read_cache_off = false;
	job->write_cache_off = false;
}

/* One stream for several */

static bool fit_streams(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->gap = 0;
	/* Reads among writes find less read ahead, the fewer streams there are. */
	part->writes = part->writes < 50 ? 0 : 100;
	if (part->streams == 1)
		part->streams = 2;
	return cached(job, profile);
}

static void fast_streams(struct job *job, const struct profile *profile)
{
	job->parts[0].streams = 1;
}

/* Media and interface */

static bool fit_limits(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* What is read twice may come from the cache, what is written twice be written once. */
	return part->order != JOB_RANDOM || part->span >= 1000 * bytes(job);
}

const struct rule rules[] = {
	{ .name = "depth", .text = "twice the depth never costs throughput",
	  .tolerance = 100, .fit = fit_depth, .fast = fast_depth },
	{ .name = "gap", .text = "no gap never costs throughput",
	  .tolerance = 10, .fit = fit_gap, .fast = fast_gap },
	{ .name = "through",
	  .text = "reads that skip up to 64 KiB take no longer than reading all of it",
	  .tolerance = 50, .fit = fit_through, .slow = slow_through },
	{ .name = "size", .text = "requests of twice the size never cost throughput",
	  .tolerance = 80, .fit = fit_size, .fast = fast_size },
	{ .name = "stroke", .text = "half the span never costs throughput",
	  .tolerance = 80, .fit = fit_stroke, .fast = fast_stroke },
	{ .name = "pause", .text = "a pause never makes requests faster",
	  .tolerance = 60, .fit = fit_pause, .fast = fast_pause },
	{ .name = "even", .text = "reads and writes of a stream are within 10 %",
	  .tolerance = 100, .fit = fit_even, .fast = fast_even, .both = true },
	{ .name = "flush", .text = "a flush never makes writes faster",
	  .tolerance = 50, .fit = fit_flush, .fast = fast_flush },
	{ .name = "caches", .text = "the drive's caches never cost throughput",
	  .tolerance = 50, .fit = fit_caches, .fast = fast_caches },
	{ .name = "streams", .text = "one stream is never slower than several",
	  .tolerance = 20, .fit = fit_streams, .fast = fast_streams },
	{ .name = "limits", .text = "no job is faster than media and interface",
	  .tolerance = 2, .fit = fit_limits, .limit = true },
};

const u32 nr_rules = ARRAY_SIZE(rules);
