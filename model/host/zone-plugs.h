/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux's zone write plugs. A drive may have only one write of a zone at a time, or it could get
 * them in another order than that of the zone. So Linux sends the first, and lets those that follow
 * wait in front of its queue. When the write has ended, the next one is sent, with what goes on
 * with it: as much as one request takes. Appends do not wait, nor writes to conventional zones.
 *
 * Linux 6.12: block/blk-zoned.c, blk_zone_wplug_handle_write(), blk_zone_wplug_bio_work(),
 * blk_zone_write_plug_init_request().
 *
 * Portable, any context; the caller keeps others out. Nothing allocates but zone_plugs_create().
 */
#ifndef DAVID_MODEL_ZONE_PLUGS_H
#define DAVID_MODEL_ZONE_PLUGS_H

#include "request-list.h"

struct zone_plugs;

/* Returns NULL without memory. */
struct zone_plugs *zone_plugs_create(const struct profile *profile, gfp_t gfp);
void zone_plugs_destroy(struct zone_plugs *plugs);
size_t zone_plugs_bytes(const struct zone_plugs *plugs);

/* Is @request a write that may have to wait for others of its zone? */
bool zone_plugs_take(const struct zone_plugs *plugs, const struct disk_request *request);

/* Is one of @request's zone under way, or waiting? */
bool zone_plugs_waits(const struct zone_plugs *plugs, const struct disk_request *request);

/* Such a request arrives at @now. */
void zone_plugs_add(struct zone_plugs *plugs, struct disk_request *request, u64 now);

/* The next write that may be sent to the host's queue; NULL: none now. */
struct disk_request *zone_plugs_next(struct zone_plugs *plugs);

/*
 * @request has ended at the host's queue. False: it is none that zone_plugs_next() gave. Else those
 * that it carried, and that are complete, are appended to @done.
 */
bool zone_plugs_ended(struct zone_plugs *plugs, struct disk_request *request,
		      struct request_list *done);

#endif
