// SPDX-License-Identifier: GPL-2.0
#include "../../model/drive/seek.h"
#include "rules.h"

#define KIB	2		/* sectors */
#define MIB	2048
#define PAGE	8		/* of an SSD's map */

/* Why a rule does not speak of a job, or of a drive */
static const char backwards[] = "backwards";
static const char uncached[] = "without a cache that makes up for it";
static const char short_span[] = "a span too small";
static const char no_arm[] = "no arm";
static const char no_flash[] = "no flash";

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

/* ... or is there no head, or are the places random anyway? */
static bool comes_in_time(const struct job *job, const struct profile *profile)
{
	return profile->kind != DRIVE_DISK || job->parts[0].order == JOB_RANDOM ||
	       cached(job, profile);
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

const char *rule_unsound(const struct job *job, const struct profile *profile)
{
	const struct job_part *part = &job->parts[0];
	u64 each = part->span / part->streams;
	u64 asked = part->sectors + part->offset;

	/* Zones come round again: they are reset. */
	if (part->zones)
		return NULL;
	if (part->start + part->span > profile->sectors || each < 2 * asked + 16)
		return short_span;
	/* Random requests that overlap wait for each other. In a large span that is rare. */
	if (part->order == JOB_RANDOM)
		return part->span >= 64ULL * part->depth * part->sectors ? NULL : short_span;
	asked = part->sectors + part->gap;
	if (((u64)job->count / part->streams + 2 + part->depth) * asked > each)
		return short_span;
	return NULL;
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

static const char *fit_depth(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Backwards, the result depends on how the host merges the waiting requests. */
	if (part->order == JOB_BACKWARD)
		return backwards;
	part->depth = min(part->depth, 32u);
	if (part->order == JOB_RANDOM)
		part->depth = min(part->depth, young(part, profile));
	part->pace = 0;
	part->flush = 0;	/* with more depth, a flush waits for other requests */
	small_gap(part, profile);
	/* One stream a request, so that depth does not change which stream reads what. */
	if (part->order != JOB_RANDOM)
		part->streams = 1;
	return comes_in_time(job, profile) ? NULL : uncached;
}

static void fast_depth(struct job *job, const struct profile *profile)
{
	job->parts[0].depth *= 2;
}

/*
 * What does not fill a band of a shingled drive goes to the media cache, on the outermost tracks,
 * and home much later. Who writes there anyway finds both equally fast. From elsewhere the cache is
 * faster, until it is full.
 */
static void beside_media_cache(struct job_part *part, const struct profile *profile)
{
	if (!profile->media_cache || !part->writes)
		return;
	part->span = min(part->span, profile->zones[0].sectors / PAGE * PAGE);
	part->start = profile->zones[0].first_sector;
}

/* Less gap */

static const char *fit_gap(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->streams = 1;
	part->writes = part->writes < 50 ? 0 : 100;
	if (!part->gap)
		part->gap = part->sectors;
	beside_media_cache(part, profile);
	return cached(job, profile) ? NULL : uncached;
}

static void fast_gap(struct job *job, const struct profile *profile)
{
	job->parts[0].gap = 0;
}

/* The drive could read through the gaps, and drop what nobody asked for. */
static const char *fit_through(struct job *job, const struct profile *profile)
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
	return cached(job, profile) ? NULL : uncached;
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

static const char *fit_size(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* Backwards, each request waits for a revolution less a part that depends on its size. */
	if (part->order == JOB_BACKWARD)
		return backwards;
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
	return NULL;
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

static const char *fit_stroke(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_RANDOM;
	part->streams = 1;
	part->gap = 0;
	job->count = max(job->count, RANDOM_LEAST);
	/* Both halves must be equally fast, apart from the seek between them. */
	whole_blocks(part, profile);
	return part->span / 2 >= 64ULL * part->depth * part->sectors ? NULL : short_span;
}

static void fast_stroke(struct job *job, const struct profile *profile)
{
	job->parts[0].span /= 2;
}

/* No pause */

static const char *fit_pause(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (!part->pace)
		part->pace = 20000;
	if (part->order == JOB_BACKWARD)
		return backwards;
	part->streams = 1;
	if (part->depth > 1)
		part->flush = 0;
	small_gap(part, profile);
	beside_media_cache(part, profile);
	/* Without a cache, a request that misses the head by a little waits for a revolution. */
	return comes_in_time(job, profile) ? NULL : uncached;
}

static void fast_pause(struct job *job, const struct profile *profile)
{
	job->parts[0].pace = 0;
}

/* Reads and writes of a stream */

static const char *fit_even(struct job *job, const struct profile *profile)
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
	if (profile->kind != DRIVE_DISK)
		return no_arm;
	return reads_ahead(job, profile) && writes_back(job, profile) ? NULL : uncached;
}

static void fast_even(struct job *job, const struct profile *profile)
{
	job->parts[0].writes = 100;
}

/* Fewer flushes. If runs do not continue, the drive chooses when to write each: no rule. */

static const char *fit_flush(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->writes = 100;
	part->depth = 1;
	part->gap = 0;
	if (part->order == JOB_BACKWARD)
		return backwards;
	if (!part->flush)
		part->flush = 8;
	beside_media_cache(part, profile);
	job->count = max(job->count / (part->flush + 1), 1u) * (part->flush + 1);
	return NULL;
}

/* The number of requests other than flushes stays the same. */
static void fast_flush(struct job *job, const struct profile *profile)
{
	job->count -= job->count / (job->parts[0].flush + 1);
	job->parts[0].flush = 0;
}

/* Caches */

static const char *fit_caches(struct job *job, const struct profile *profile)
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
	/* Nothing turns these off. */
	return profile->kind == DRIVE_DISK ? NULL : no_arm;
}

static void fast_caches(struct job *job, const struct profile *profile)
{
	job->read_cache_off = false;
	job->write_cache_off = false;
}

/* One stream for several */

static const char *fit_streams(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->gap = 0;
	/* With fewer streams, reads among writes find less that was read ahead. */
	part->writes = part->writes < 50 ? 0 : 100;
	if (part->streams == 1)
		part->streams = 2;
	beside_media_cache(part, profile);
	return cached(job, profile) ? NULL : uncached;
}

static void fast_streams(struct job *job, const struct profile *profile)
{
	job->parts[0].streams = 1;
}

/* Media and interface */

static const char *fit_limits(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	/* A block read twice may come from the cache, one written twice be written once. */
	return part->order != JOB_RANDOM || part->span >= 1000 * bytes(job) ? NULL : short_span;
}

/* Reads beside writes: a second part that writes as much, in the other half of the span */

static const char *fit_mix(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (part->order == JOB_BACKWARD)
		return backwards;
	part->writes = 0;
	part->flush = 0;
	part->fua = false;
	part->streams = 1;
	part->gap = 0;
	part->pace = 0;
	part->offset = 0;
	part->align = 0;
	part->span = part->span / 16 * 8;
	job->nr_parts = 2;
	job->parts[1] = *part;
	job->parts[1].writes = 100;
	job->parts[1].start += part->span;
	return part->order != JOB_RANDOM || part->span >= 1000 * bytes(job) ? NULL : short_span;
}

/* Written in order. Which pages are slow is chance, so there are many. */

#define ORDER_LEAST	1600U

/*
 * A 7300 reads a block that was written by itself faster than one that has neighbours: 9,900 a
 * second, and 8,484. So does its profile, and so few of the former may be faster than two flash
 * pages of the latter: 20 KiB by 4 %. From 32 KiB on they are slower.
 */
static u32 few_pages(const struct profile *profile)
{
	bool faster = profile->scattered_read_time &&
		      profile->scattered_read_time < profile->read_time;

	return profile->flash_page / 512 * (faster ? 2 : 1);
}

static const char *fit_order(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (profile->kind != DRIVE_SSD)
		return no_flash;
	part->writes = 0;
	part->flush = 0;
	part->fua = false;
	/* Of a flash page it is chance which block was asked for, and how long that takes. */
	if (part->sectors <= profile->flash_page / 512)
		return "reads within a flash page";
	if (part->sectors <= few_pages(profile))
		return "two flash pages, where blocks written by themselves are read faster";
	job->count = max(job->count, ORDER_LEAST);
	return NULL;
}

/* After a trim */

#define AFTER_TRIM	1000

static const char *fit_trim(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (profile->kind != DRIVE_SSD)
		return no_flash;
	/* What was read before or was written in between is in neither job. */
	if (part->order != JOB_RANDOM)
		part->streams = 1;
	part->sectors = min(part->sectors, 1u * MIB);
	job->count = AFTER_TRIM;
	return NULL;
}

static void fast_trim(struct job *job, const struct profile *profile)
{
	job->trim = true;
}

/* After an idle time in which the drive does all that it does while idle */

#define MOST_IDLE_BYTES	(8ULL << 30)	/* of a job that fills an SLC cache */

/* The time, with some to spare; 0: the profile states none */
static u64 idle_time(const struct profile *profile)
{
	u64 time = 0;

	if (profile->slc_cache && profile->slc_fold_rate)
		time = profile->slc_idle_after +
		       1000000000 * (profile->slc_cache * 512 / profile->slc_fold_rate + 1);
	if (profile->gc_idle_rate)
		time = max(time, profile->gc_idle_after +
			   1000000000 * (profile->gc_idle_room * 512 / profile->gc_idle_rate + 1));
	if (profile->media_cache)	/* of a shingled drive: an hour for a thousand bands */
		time = max(time, profile->clean_idle + 3600 * 1000000000ULL);
	return time;
}

static const char *fit_idle(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];
	u64 most;

	if (!idle_time(profile))
		return "no idle time stated";
	/* From the media cache to a band and back it is chance how far the platters turn. */
	if (profile->media_cache && part->order == JOB_BACKWARD)
		return backwards;
	part->writes = 100;
	part->pace = 0;
	part->flush = 0;
	part->streams = 1;
	part->gap = 0;
	/* The second run would read the rest of the pages of which the first wrote a part. */
	part->start = part->start / PAGE * PAGE;
	part->span = part->span / PAGE * PAGE;
	part->sectors = max(part->sectors / PAGE, 1u) * PAGE;
	part->align = part->align / PAGE * PAGE;
	part->offset = 0;
	if (profile->slc_cache) {
		most = min(2 * profile->slc_cache * 512, MOST_IDLE_BYTES);
		part->sectors = max(part->sectors, 128u * KIB);
		job->count = max(most / 512 / part->sectors / (1 + job->seed % 8), 20ULL);
	}
	return NULL;
}

static void fast_idle(struct job *job, const struct profile *profile)
{
	job->again = idle_time(profile);
}

/*
 * Zones. A job has one part, of zones that are written or read in order; physics.c draws it.
 */

static const char no_append[] = "no append";

/* Streams have zones enough for what they write, so that none is reset. */
static void zones_enough(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];
	u64 each = DIV_ROUND_UP((u64)(job->count + part->depth) * part->sectors,
				(u64)part->zone_capacity) + 1;
	u64 all = div_u64(profile->sectors, profile->zone_size) - profile->conventional_zones;

	part->zones = min(each * part->streams, all);
	part->first_zone = min_t(u64, part->first_zone,
				 profile->conventional_zones + all - part->zones);
	part->start = (u64)part->first_zone * part->zone_size;
	part->span = (u64)part->zones * part->zone_size;
}

static const char *fit_zone_writes(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->order = JOB_SEQUENTIAL;
	part->writes = 100;
	part->filled = 0;
	part->pace = 0;
	part->flush = 0;
	part->fua = false;
	zones_enough(job, profile);
	return NULL;
}

static const char *fit_appends(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (!profile->zone_append_limit)
		return no_append;
	part->append = true;
	part->sectors = min(part->sectors, profile->zone_append_limit);
	part->depth = max(part->depth, 2u);
	return fit_zone_writes(job, profile);
}

static const char *fit_append_depth(struct job *job, const struct profile *profile)
{
	job->parts[0].streams = 1;
	return fit_appends(job, profile);
}

/* Writes that wait for their zone are merged, and that is another matter. */
static void slow_append(struct job *job, const struct profile *profile)
{
	job->parts[0].append = false;
	job->parts[0].depth = 1;
}

static const char *fit_rewrite(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->streams = 1;
	part->append = false;
	/* Between two zones nothing is under way, and no more often than that. */
	job->count = min_t(u64, job->count, max(part->zone_capacity / part->sectors, 1U));
	return fit_zone_writes(job, profile);
}

static void fast_rewrite(struct job *job, const struct profile *profile)
{
	job->parts[0].filled = 1000;
	job->count++;	/* the reset of the one zone */
}

static const char *fit_spread(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];
	u32 most = profile->max_active_zones ?: JOB_STREAMS;

	if (profile->kind == DRIVE_DISK)
		return "an arm";
	part->streams = min(max(part->streams, 2u), min(most, 16U));
	part->depth = max(part->depth, part->streams);
	return fit_appends(job, profile);
}

static void slow_one_zone(struct job *job, const struct profile *profile)
{
	job->parts[0].streams = 1;
	zones_enough(job, profile);
}

static const char *fit_turns(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	if (profile->kind != DRIVE_DISK)
		return no_arm;
	part->append = false;
	part->streams = max(part->streams, 2u);
	return fit_zone_writes(job, profile);
}

/* Without a cache a stream loses a revolution, and who writes elsewhere meanwhile does not. */
static const char *fit_cached_turns(struct job *job, const struct profile *profile)
{
	const char *why = fit_turns(job, profile);

	if (!why && !writes_back(job, profile))
		return uncached;
	return why;
}

/* Each request is in another zone than the one before, and is on the platters before the next. */
static const char *fit_seeks(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->depth = 1;
	job->write_cache_off = true;
	return fit_turns(job, profile);
}

static const char *fit_zone_depth(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];

	part->streams = 1;
	part->depth = min(part->depth, 32u);
	/* Without a cache a write loses a revolution, or less, by what it is merged with. */
	if (profile->kind == DRIVE_DISK && !writes_back(job, profile))
		return uncached;
	return fit_zone_writes(job, profile);
}

static const char *fit_zone_limits(struct job *job, const struct profile *profile)
{
	struct job_part *part = &job->parts[0];
	u32 room = min(profile->zone_buffer ?: profile->write_buffer,
		       profile->write_buffer / part->streams);

	if (part->append && part->sectors > profile->zone_append_limit)
		return no_append;
	/* An SSD's buffer takes this much as fast as the link carries it. */
	if (part->writes && profile->kind == DRIVE_SSD)
		job->count = max(min(job->count, part->streams * (room / part->sectors)), 2U);
	return NULL;
}

const struct rule rules[] = {
	{ .name = "depth", .text = "twice the depth never costs throughput",
	  .tolerance = 100, .fit = fit_depth, .fast = fast_depth },
	{ .name = "gap", .text = "no gap never costs throughput",
	  .tolerance = 10, .fit = fit_gap, .fast = fast_gap, .places = true },
	{ .name = "through",
	  .text = "reads that skip up to 64 KiB take no longer than reading all of it",
	  .tolerance = 50, .fit = fit_through, .slow = slow_through },
	{ .name = "size", .text = "requests of twice the size never cost throughput",
	  .tolerance = 80, .fit = fit_size, .fast = fast_size, .places = true },
	{ .name = "stroke", .text = "half the span never costs throughput",
	  .tolerance = 80, .fit = fit_stroke, .fast = fast_stroke, .places = true },
	{ .name = "pause", .text = "a pause never makes requests faster",
	  .tolerance = 60, .fit = fit_pause, .fast = fast_pause },
	{ .name = "even", .text = "reads and writes of a stream are within 10 %",
	  .tolerance = 100, .fit = fit_even, .fast = fast_even, .both = true },
	{ .name = "flush", .text = "a flush never makes writes faster",
	  .tolerance = 50, .fit = fit_flush, .fast = fast_flush },
	{ .name = "caches", .text = "the drive's caches never cost throughput",
	  .tolerance = 50, .fit = fit_caches, .fast = fast_caches },
	{ .name = "streams", .text = "one stream is never slower than several",
	  .tolerance = 20, .fit = fit_streams, .fast = fast_streams, .places = true },
	{ .name = "limits", .text = "no job is faster than media and interface",
	  .tolerance = 2, .fit = fit_limits, .limit = true },
	{ .name = "mix", .text = "no reads beside writes are faster than the interface",
	  .tolerance = 2, .fit = fit_mix, .limit = true },
	{ .name = "order", .text = "what was written at random is never read faster than in order",
	  .tolerance = 30, .fit = fit_order, .order = true },
	{ .name = "trim", .text = "a trim never makes the next 1,000 requests slower",
	  .tolerance = 10, .fit = fit_trim, .fast = fast_trim, .moves = true },
	{ .name = "idle", .text = "after the drive's idle work a second run is as the first",
	  .tolerance = 20, .fit = fit_idle, .fast = fast_idle, .both = true, .fresh = true },

	{ .name = "append", .text = "appends at depth are never slower than writes one at a time",
	  .tolerance = 30, .fit = fit_append_depth, .slow = slow_append, .fresh = true },
	{ .name = "rewrite", .text = "zones that were reset are written as fast as new ones",
	  .tolerance = 50, .fit = fit_rewrite, .fast = fast_rewrite, .resets = true, .both = true,
	  .fresh = true },
	{ .name = "spread", .text = "appends to several zones of an SSD are no slower than to one",
	  .tolerance = 30, .fit = fit_spread, .slow = slow_one_zone, .fresh = true },
	{ .name = "turns", .text = "one zone of a disk is never slower than several in turn",
	  .tolerance = 20, .fit = fit_cached_turns, .fast = slow_one_zone },
	{ .name = "seeks",
	  .text = "zones of a disk that take turns cost a seek each, without a cache",
	  .tolerance = 2, .fit = fit_seeks, .limit = true, .seeks = true },
	{ .name = "zdepth", .text = "twice the depth in a zone never costs throughput",
	  .tolerance = 100, .fit = fit_zone_depth, .fast = fast_depth },
	{ .name = "zlimits", .text = "no zone is written or read faster than media and interface",
	  .tolerance = 2, .fit = fit_zone_limits, .limit = true },
};

const u32 nr_rules = ARRAY_SIZE(rules);
const u32 nr_plain_rules = ARRAY_SIZE(rules) - 7;
