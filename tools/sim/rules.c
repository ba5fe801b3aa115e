// SPDX-License-Identifier: GPL-2.0
#include "../../model/drive/seek.h"
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

/* Does the cache make it irrelevant that each request comes in time for the head? */
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
 * The head passes over a small gap. In a longer gap, or between runs that are written, drives
 * choose in different ways. So rules about gaps get jobs with small gaps only.
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
	/* Random requests that overlap wait for each other. In a large span that is rare. */
	if (part->order == JOB_RANDOM)
		return part->span >= 64ULL * part->depth * part->sectors;
	return ((u64)job->count / part->streams + 2 + part->depth) * (part->sectors + part->gap) <=
	       each;
}

/* More depth */

/*
 * How many requests the drive may choose among. Requests that waited for ncq_age_limit are served
 * in order of arrival, so that none starves. If a window takes longer than that limit, nothing is
 * left to choose: with 32 requests at a time a P300 serves 82 a second, but 67 with a limit of
 * 600 ms, less than with 8 at a time. So this is the number of requests that take half of the
 * limit, if each takes the longest seek and a revolution, and another one for parts of blocks.
 */
static u32 young(const struct job_part *part, const struct profile *profile)
{
	u64 track = profile->revolution + profile->head_switch;
	u64 each = seek_time(profile, profile->cylinders - 1) + 2 * profile->revolution +
		   part->sectors * track / least_track(profile);

	/* A drive without an arm takes none of these times, and lets nothing starve. */
	return each ? max(profile->ncq_age_limit / 2 / each, 1ULL) : U32_MAX;
}

static bool fit_depth(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Backwards, the result depends on how the host merges the waiting requests. */
	if (part->order == JOB_BACKWARD)
		return false;
	part->depth = min(part->depth, 32u);
	if (part->order == JOB_RANDOM)
		part->depth = min(part->depth, young(part, profile));
	part->pace = 0;
	part->flush = 0;	/* with more depth, a flush waits for other requests */
	small_gap(part, profile);
	/* One stream a request, so that depth does not change which stream reads what. */
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

/* The drive could read through the gaps, and drop what nobody asked for. */
static bool fit_through(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->streams = 1;
	part->writes = 0;
	part->flush = 0;
	/* The host merges waiting requests, but not across gaps. So none may wait there. */
	part->depth = min(part->depth, profile->ncq_depth);
	/* Larger requests do not all fit into the host's queue, and overtake one another. */
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
 * How many requests of twice the size fit into the drive's window, in the pieces that the host
 * makes of them. Of more requests the drive would know parts only. Without a cache it loses a
 * revolution when the rest arrives.
 */
static u32 known_to_drive(const struct job_part *part, const struct profile *profile)
{
	u32 pieces = (2 * part->sectors + profile->max_sectors - 1) / profile->max_sectors;

	return max(profile->ncq_depth / pieces, 1u);
}

static bool fit_size(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Backwards, each request waits for a revolution less a part that depends on its size. */
	if (part->order == JOB_BACKWARD)
		return false;
	/* What other streams, or writes, leave of what was read ahead is chance. */
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
 * If a write covers parts of its first and last block, the drive reads them first. If the last one
 * is less than a head switch before the first one's place, on the next track, that costs another
 * revolution. It depends on the track's length: 2 MiB on a HC310 take 27 ms in a zone with tracks
 * of 4115 sectors, 20 ms in one with tracks of 3994.
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
	/* Both halves must be equally fast, apart from the seek between them. */
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
	/* Without a cache, a request that misses the head by a little waits for a revolution. */
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

/* Fewer flushes. If runs do not continue, the drive chooses when to write each: no rule. */

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

/* The number of requests other than flushes stays the same. */
static void fast_flush(struct job *job, const struct profile *profile)
{
	job->count -= job->count / (job->parts[0].flush + 1);
	job->parts[0].flush = 0;
}

/* Caches */

static bool fit_caches(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Data written late may cost a seek back, as its stream has moved on, */
	part->streams = 1;
	part->flush = 0;	/* or a seek that, without a cache, happens during the transfer. */
	part->writes = part->writes < 50 ? 0 : 100;
	/* After a pause the head may be right in front of a request; read-ahead moves it away. */
	part->pace = 0;
	small_gap(part, profile);
	/* The queue may hold more requests than the write cache has to choose from. */
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
	/* With fewer streams, reads among writes find less that was read ahead. */
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

	/* A block read twice may come from the cache, one written twice be written once. */
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
