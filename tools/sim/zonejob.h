/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs on drives with zones: where a part's next request goes, which zones have to be reset for it,
 * and what has to end first. model/zones/ says what the drive would refuse.
 *
 * A stream of writes fills a zone to its capacity and goes on with the next one of its own. A zone
 * that has data is reset when the stream comes to it, or is written on if it is not full. A reset
 * waits until the stream has nothing under way, and what follows waits for its end.
 */
#ifndef DAVID_SIM_ZONEJOB_H
#define DAVID_SIM_ZONEJOB_H

#include "../../model/zones/zones.h"
#include "job.h"

struct ftl;

struct zone_stream {
	u32 zone;		/* of the drive */
	u32 at;			/* sectors of it that have been asked for */
	u32 under_way;		/* requests */
	bool waits;		/* for a command about its zone */
};

/* What has ended in a zone since it was reset, in sectors from its start on. */
struct zone_ended {
	u32 failed;		/* 1 + the first one of a write or reset that failed; 0: none */
	u32 served;		/* 1 + the last one of the writes that did not */
};

/* A part's streams and zones; NULL and 0 if it has nothing to do with zones. */
struct zone_part {
	const struct job_part *job;
	struct zone_stream *streams;
	struct zone_ended *ended;
	u32 next;		/* the zone that the next command is about */
	bool appends;
};

/* The drive's zones, as @flash has them; NULL: empty. Returns 0 or -ENOMEM. */
int zonejob_zones(struct zones *zones, const struct profile *profile, const struct ftl *flash);

/* They, and @flash, if that is not NULL, are filled as the parts of @job say. */
void zonejob_fill(struct zones *zones, const struct job *job, struct ftl *flash);

/* Returns 0 or -ENOMEM. */
int zonejob_begin(struct zone_part *part, const struct job_part *job, const struct zones *zones);
void zonejob_free(struct zone_part *part);

/*
 * The next request of @stream: its op, sector, sectors, and flags beside those that it has. @rnd is
 * the job's. False: it has to wait until a request of the stream ends. *@refused is why the drive
 * would refuse it; else it stays as it is.
 */
bool zonejob_next(struct zone_part *part, struct zones *zones, u32 stream, u64 *rnd,
		  struct disk_request *request, const char **refused);

/* @flash has what @request leaves of its zone, at once. */
void zonejob_untimed(const struct zones *zones, struct ftl *flash,
		     const struct disk_request *request);

/*
 * @request of @stream has ended, or will have failed. Returns why the drive would not have served
 * all: a write that fails leaves its zone's pointer where it was, and what is behind it is refused.
 * Else NULL.
 */
const char *zonejob_ended(struct zone_part *part, u32 stream, const struct disk_request *request);

#endif
