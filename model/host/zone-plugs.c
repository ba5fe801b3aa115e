// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "command.h"
#include "zone-plugs.h"

/* Zones that are written at the same time; writes of others wait until one of these has ended. */
#define MOST_WRITES	256

/* A write as it is sent: a part of one that arrived, and others as a whole. */
struct zone_write {
	struct disk_request request;
	struct disk_request *part;	/* of which more is to be sent; NULL: none */
	struct request_list whole;	/* that end with it */
	u32 zone;
	struct zone_write *next;	/* free, or under way */
};

struct zone_plugs {
	const struct profile *profile;
	struct zone_write *writes;
	struct zone_write *free;
	struct zone_write *under_way;
	struct request_list waiting;	/* with something to be sent, in order of arrival */
};

static u32 plugs_zone(const struct zone_plugs *plugs, const struct disk_request *request)
{
	return div_u64(request->sector, plugs->profile->zone_size);
}

struct zone_plugs *zone_plugs_create(const struct profile *profile, gfp_t gfp)
{
	struct zone_plugs *plugs = kvzalloc(sizeof(*plugs), gfp);
	u32 i;

	if (!plugs)
		return NULL;
	plugs->profile = profile;
	plugs->writes = kvcalloc(MOST_WRITES, sizeof(*plugs->writes), gfp);
	if (!plugs->writes) {
		kvfree(plugs);
		return NULL;
	}
	for (i = 0; i < MOST_WRITES; i++) {
		plugs->writes[i].next = plugs->free;
		plugs->free = &plugs->writes[i];
	}
	return plugs;
}

void zone_plugs_destroy(struct zone_plugs *plugs)
{
	if (!plugs)
		return;
	kvfree(plugs->writes);
	kvfree(plugs);
}

size_t zone_plugs_bytes(const struct zone_plugs *plugs)
{
	return sizeof(*plugs) + MOST_WRITES * sizeof(*plugs->writes);
}

bool zone_plugs_take(const struct zone_plugs *plugs, const struct disk_request *request)
{
	return request->op == DISK_WRITE && request->sectors &&
	       (!(request->flags & DISK_APPEND) || MODEL_PLANTED(plugged)) &&
	       plugs_zone(plugs, request) >= plugs->profile->conventional_zones &&
	       !MODEL_PLANTED(unplugged);
}

void zone_plugs_add(struct zone_plugs *plugs, struct disk_request *request, u64 now)
{
	request->arrival = now;
	request->dispatch = U64_MAX;
	request->left = request->sectors;
	request->commands = 0;
	request->cached = 0;
	request_list_append(&plugs->waiting, request);
}

static bool is_under_way(const struct zone_plugs *plugs, u32 zone)
{
	const struct zone_write *write;

	for (write = plugs->under_way; write; write = write->next)
		if (write->zone == zone)
			return true;
	return false;
}

bool zone_plugs_waits(const struct zone_plugs *plugs, const struct disk_request *request)
{
	return is_under_way(plugs, plugs_zone(plugs, request));
}

/* @write takes the next @sectors of @request, which leaves the list if that is all. */
static void plugs_carry(struct zone_plugs *plugs, struct zone_write *write,
			struct disk_request *request, u32 sectors)
{
	write->request.sectors += sectors;
	write->request.flags |= request->flags & ~(DISK_WAITED | DISK_MISSED);
	/* The rest of it finds the zone open. */
	request->flags &= ~DISK_OPENS;
	if (request->flags & DISK_BAD && !write->request.bad)
		write->request.bad = request->bad;
	request->left -= sectors;
	request->commands++;
	if (request->left) {
		write->part = request;
		return;
	}
	request_list_remove(&plugs->waiting, request);
	request_list_append(&write->whole, request);
}

/* What goes on with @write, and is to be sent as a whole with it. */
static void plugs_merge(struct zone_plugs *plugs, struct zone_write *write,
			struct disk_request *next)
{
	u32 segments = command_segments(write->request.sectors);
	struct disk_request *request;

	for (request = next; request && !write->part; request = next) {
		next = request->next;
		if (plugs_zone(plugs, request) != write->zone)
			continue;
		segments += command_segments(request->left);
		if ((request->flags | write->request.flags) & (DISK_FUA | DISK_APPEND) ||
		    write->request.sector + write->request.sectors != request->sector ||
		    write->request.sectors + request->left > plugs->profile->max_sectors ||
		    segments > plugs->profile->max_segments)
			return;
		plugs_carry(plugs, write, request, request->left);
	}
}

struct disk_request *zone_plugs_next(struct zone_plugs *plugs)
{
	struct disk_request *request = plugs->waiting.first, *next;
	struct zone_write *write = plugs->free;

	while (request && is_under_way(plugs, plugs_zone(plugs, request)))
		request = request->next;
	if (!request || !write)
		return NULL;
	plugs->free = write->next;
	*write = (struct zone_write) {
		.request = {
			.sector = command_next_sector(request), .op = DISK_WRITE,
			.cpu = request->cpu,
		},
		.zone = plugs_zone(plugs, request),
		.next = plugs->under_way,
	};
	plugs->under_way = write;
	next = request->next;
	plugs_carry(plugs, write, request, min(request->left, plugs->profile->max_sectors));
	plugs_merge(plugs, write, next);
	return &write->request;
}

bool zone_plugs_ended(struct zone_plugs *plugs, struct disk_request *request,
		      struct request_list *done)
{
	struct zone_write *write = container_of(request, struct zone_write, request), **at;
	u32 cached = request->parts.cached, mine;
	struct disk_request *carried, *next;

	for (at = &plugs->under_way; *at && *at != write; at = &(*at)->next)
		;
	if (!*at)
		return false;
	*at = write->next;
	if (write->part) {
		write->part->dispatch = min(write->part->dispatch, request->dispatch);
		request_ended(write->part, &request->parts, cached, request->completion);
	}
	for (carried = write->whole.first; carried; carried = next) {
		next = carried->next;
		mine = min(cached, carried->sectors);
		cached -= mine;
		carried->dispatch = min(carried->dispatch, request->dispatch);
		if (request_ended(carried, &request->parts, mine, request->completion))
			request_list_append(done, carried);
	}
	write->next = plugs->free;
	plugs->free = write;
	return true;
}
