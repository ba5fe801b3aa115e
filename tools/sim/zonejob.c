// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/portable/splitmix.h"
#include "../../model/flash/ftl.h"
#include "zonejob.h"

static const char *why(enum zone_error error)
{
	static const char *const texts[] = {
		[ZONES_INVALID] = "the drive refuses a write that is not at its zone's pointer",
		[ZONES_TOO_MANY_OPEN] = "the drive refuses a write: too many zones are open",
		[ZONES_TOO_MANY_ACTIVE] =
			"the drive refuses a write: too many zones have data and room (fewer streams, or another filled)",
	};

	return texts[error];
}

/* Sectors that have been written in a zone */
static u32 written_of(const struct zones *zones, u32 zone)
{
	struct zone_report report;

	zones_report(zones, zone, &report);
	if (report.condition == ZONE_FULL)
		return report.capacity;
	return report.wp - report.start;
}

static void fill(struct zones *zones, struct ftl *flash, u32 zone, u32 written)
{
	zones_restore(zones, zone, written);
	if (flash)
		ftl_zone_set(flash, zone, written);
}

int zonejob_zones(struct zones *zones, const struct profile *profile, const struct ftl *flash)
{
	struct zone_limits limits = {
		.sectors = profile->sectors, .zone_size = profile->zone_size,
		.zone_capacity = profile->zone_capacity,
		.conventional = profile->conventional_zones,
		.max_open = profile->max_open_zones, .max_active = profile->max_active_zones,
		.append_limit = profile->zone_append_limit,
	};
	int r = zones_init(zones, &limits);
	u32 i;

	for (i = limits.conventional; !r && flash && i < zones->count; i++)
		zones_restore(zones, i, ftl_zone_end(flash, i));
	return r;
}

#define FILL_BLOCK	8	/* sectors: no physical block is larger */

void zonejob_fill(struct zones *zones, const struct job *job, struct ftl *flash)
{
	u64 written;
	u32 i, k;

	for (i = 0; i < job->nr_parts; i++) {
		const struct job_part *part = &job->parts[i];

		written = (u64)part->zone_capacity * part->filled / 1000 / FILL_BLOCK * FILL_BLOCK;
		for (k = 0; part->filled && k < part->zones; k++)
			fill(zones, flash, part->first_zone + k, written);
	}
}

int zonejob_begin(struct zone_part *part, const struct job_part *job, const struct zones *zones)
{
	u32 i;

	*part = (struct zone_part){ .job = job, .next = job->first_zone };
	if (!job->zones)
		return 0;
	part->streams = calloc(job->streams, sizeof(*part->streams));
	part->ended = calloc(job->zones, sizeof(*part->ended));
	if (!part->streams || !part->ended)
		return -ENOMEM;
	for (i = 0; i < job->streams; i++) {
		struct zone_stream *stream = &part->streams[i];

		stream->zone = job->first_zone + i;
		stream->at = job->writes ? written_of(zones, stream->zone) : 0;
	}
	return 0;
}

void zonejob_free(struct zone_part *part)
{
	free(part->streams);
	free(part->ended);
}

static u64 start_of(const struct job_part *job, u32 zone)
{
	return (u64)zone * job->zone_size;
}

/* Reads at random: of a zone, and of a place in it. */
static void random_read(const struct job_part *job, u64 *rnd, struct disk_request *request)
{
	u32 align = job->align ?: job->sectors, zone;

	zone = job->first_zone + splitmix_next(rnd) % job->zones;
	request->op = DISK_READ;
	request->sectors = job->sectors;
	request->sector = start_of(job, zone) +
		splitmix_next(rnd) % ((job->zone_capacity - job->sectors) / align + 1) * align;
}

/* Streams have zones in turn: of two one has each other zone. */
static void next_zone(const struct job_part *job, u32 number, struct zone_stream *stream)
{
	stream->zone += job->streams;
	if (stream->zone >= job->first_zone + job->zones)
		stream->zone = job->first_zone + number;
}

/* The next command about a zone; zones take turns. */
static void zone_command(struct zone_part *part, struct disk_request *request)
{
	request->op = part->job->zone_op;
	request->sector = start_of(part->job, part->next);
	if (++part->next == part->job->first_zone + part->job->zones)
		part->next = part->job->first_zone;
}

static enum zone_op op_of(const struct disk_request *request)
{
	switch (request->op) {
	case DISK_ZONE_OPEN:
		return ZONE_OP_OPEN;
	case DISK_ZONE_CLOSE:
		return ZONE_OP_CLOSE;
	case DISK_ZONE_FINISH:
		return ZONE_OP_FINISH;
	case DISK_ZONE_RESET:
		return ZONE_OP_RESET;
	default:
		return request->flags & DISK_APPEND ? ZONE_OP_APPEND : ZONE_OP_WRITE;
	}
}

/* The state of the zones goes by the order in which requests are made. */
static const char *change_state(struct zones *zones, struct disk_request *request)
{
	enum zone_op op = op_of(request);
	struct zone_result result;
	u64 sector = request->sector;
	enum zone_error error;

	if (op == ZONE_OP_APPEND)
		sector &= ~(zones->limits.zone_size - 1);
	error = zones_command(zones, op, sector, request->sectors, &result);
	if (error != ZONES_OK)
		return why(error);
	if (request->op == DISK_WRITE && result.opened)
		request->flags |= DISK_OPENS;
	return NULL;
}

static bool stream_next(struct zone_part *part, struct zones *zones, u32 number,
			struct disk_request *request)
{
	const struct job_part *job = part->job;
	struct zone_stream *stream = &part->streams[number];

	if (stream->waits)
		return false;
	if (stream->at == job->zone_capacity) {
		/* Once the zones have all been written the first one comes again. */
		struct zone_stream next = *stream;

		next_zone(job, number, &next);
		next.at = job->writes ? written_of(zones, next.zone) : 0;
		if (next.at == job->zone_capacity) {
			if (stream->under_way)
				return false;
			next.at = 0;
			next.waits = true;
			request->op = DISK_ZONE_RESET;
			request->sector = start_of(job, next.zone);
			*stream = next;
			return true;
		}
		*stream = next;
	}
	request->op = job->writes ? DISK_WRITE : DISK_READ;
	request->flags |= job->append ? DISK_APPEND : 0;
	request->sectors = min(job->sectors, job->zone_capacity - stream->at);
	request->sector = start_of(job, stream->zone) + stream->at;
	stream->at += request->sectors;
	return true;
}

bool zonejob_next(struct zone_part *part, struct zones *zones, u32 stream, u64 *rnd,
		  struct disk_request *request, const char **refused)
{
	const char *error = NULL;

	if (part->job->zone_op)
		zone_command(part, request);
	else if (part->job->order == JOB_RANDOM)
		random_read(part->job, rnd, request);
	else if (!stream_next(part, zones, stream, request))
		return false;
	if (request->op != DISK_READ)
		error = change_state(zones, request);
	if (error)
		*refused = error;
	part->streams[stream].under_way++;
	return true;
}

void zonejob_untimed(const struct zones *zones, struct ftl *flash,
		     const struct disk_request *request)
{
	u32 zone = zones_number(zones, request->sector);

	if (zones_sequential(zones, request->sector) && request->op != DISK_READ)
		ftl_zone_set(flash, zone, written_of(zones, zone));
}

/* An append goes to the pointer, wherever that is. */
static bool has_place(const struct disk_request *request)
{
	return request->op != DISK_READ && !(request->flags & DISK_APPEND);
}

const char *zonejob_ended(struct zone_part *part, u32 number, const struct disk_request *request)
{
	static const char lost_place[] =
		"a write failed: the drive would refuse those behind it in the zone (try append)";
	const struct job_part *job = part->job;
	struct zone_stream *stream = &part->streams[number];
	struct zone_ended *zone;
	u32 at;

	stream->under_way--;
	if (!disk_op_has_data(request->op))
		stream->waits = false;
	if (!has_place(request) || job->zone_op)
		return NULL;
	zone = &part->ended[request->sector / job->zone_size - job->first_zone];
	at = request->sector % job->zone_size;
	if (request->fault != FAULT_NONE)
		zone->failed = zone->failed ? min(zone->failed, at + 1) : at + 1;
	else if (request->op == DISK_WRITE)
		zone->served = max(zone->served, at + request->sectors);
	else
		*zone = (struct zone_ended){ };
	return zone->failed && zone->served > zone->failed ? lost_place : NULL;
}
