// SPDX-License-Identifier: GPL-2.0
/* Linux in front of an NVMe drive: see nvme.h. */
#include "../../dm-david/portable/portable-alloc.h"
#include "command.h"
#include "nvme.h"
#include "request-list.h"

struct nvme {
	const struct profile *profile;
	struct solid *solid;
	u64 now;
	struct solid_command *tags;
	struct solid_command *free;	/* of these */
	u32 used;
	u32 woken;			/* submitters that were woken and have not come yet */
	struct request_list pending;	/* that no tag is left for, or for a part of them */
	struct request_list done;
	struct drive_sums *sums;	/* of commands that have ended; NULL: nobody asks */
};

struct nvme *nvme_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	struct nvme *nvme = kvzalloc(sizeof(*nvme), gfp);
	u32 i;

	if (!nvme)
		return NULL;
	nvme->profile = profile;
	nvme->tags = kvcalloc(profile->nr_requests, sizeof(*nvme->tags), gfp);
	nvme->solid = solid_create(profile, profile->nr_requests, ftl, gfp);
	if (!nvme->tags || !nvme->solid) {
		nvme_destroy(nvme);
		return NULL;
	}
	for (i = 0; i < profile->nr_requests; i++) {
		nvme->tags[i].next = nvme->free;
		nvme->free = &nvme->tags[i];
	}
	return nvme;
}

void nvme_destroy(struct nvme *nvme)
{
	if (!nvme)
		return;
	solid_destroy(nvme->solid);
	kvfree(nvme->tags);
	kvfree(nvme);
}

size_t nvme_bytes(const struct nvme *nvme)
{
	return sizeof(*nvme) + nvme->profile->nr_requests * sizeof(*nvme->tags) +
	       solid_bytes(nvme->solid);
}

struct solid *nvme_solid(const struct nvme *nvme)
{
	return nvme->solid;
}

void nvme_sum_into(struct nvme *nvme, struct drive_sums *sums)
{
	nvme->sums = sums;
}

/* The next command of @request goes to the drive. A tag must be free. */
static void nvme_send(struct nvme *nvme, struct disk_request *request)
{
	u32 sectors = min(request->left, nvme->profile->max_sectors);
	struct solid_command *command = nvme->free;

	nvme->free = command->next;
	nvme->used++;
	*command = (struct solid_command) {
		.sector = request->sector + request->sectors - request->left,
		.sectors = sectors,
		.op = request->op,
		.flags = request->flags,
		.owner = request,
	};
	/* The first one has opened the zone. */
	request->flags &= ~DISK_OPENS;
	request->left -= sectors;
	request->commands++;
	request->dispatch = min(request->dispatch, nvme->now);
	solid_submit(nvme->solid, command, nvme->now);
}

/* False: tags ran out. */
static bool nvme_send_all(struct nvme *nvme, struct disk_request *request)
{
	do {
		if (!nvme->free)
			return false;
		nvme_send(nvme, request);
	} while (request->left);
	return true;
}

static void nvme_finish(struct nvme *nvme, struct solid_command *command)
{
	struct disk_request *request = command->owner;

	command->next = nvme->free;
	nvme->free = command;
	nvme->used--;
	if (nvme->sums)
		drive_sums_add_solid(nvme->sums, &command->parts);
	if (request_ended(request, &command->parts, command->parts.cached, nvme->now))
		request_list_append(&nvme->done, request);
	while (nvme->pending.first && nvme_send_all(nvme, nvme->pending.first))
		request_list_pop(&nvme->pending);
}

static noinline void nvme_run_events(struct nvme *nvme, u64 now)
{
	struct solid_command *command;
	u64 next;

	while ((next = solid_next_event(nvme->solid)) <= now && next != U64_MAX) {
		nvme->now = next;
		command = solid_advance(nvme->solid, next);
		if (command)
			nvme_finish(nvme, command);
	}
}

static void nvme_run_to(struct nvme *nvme, u64 now)
{
	if (solid_next_event(nvme->solid) <= now)
		nvme_run_events(nvme, now);
	nvme->now = max(nvme->now, now);
}

bool nvme_enter(struct nvme *nvme, struct disk_submitter *who, enum disk_op op, u64 now)
{
	bool *woken = &who->woken[op != DISK_READ];

	nvme_run_to(nvme, now);
	if (*woken) {
		*woken = false;
		nvme->woken--;
	} else if (nvme->woken && nvme_wakeups(nvme) == 0) {
		return false;	/* the rest is for those */
	}
	return nvme->free && !nvme->pending.first;
}

u32 nvme_wakeups(const struct nvme *nvme)
{
	u32 taken = nvme->used + nvme->woken;

	if (nvme->pending.first || taken >= nvme->profile->nr_requests)
		return 0;
	return nvme->profile->nr_requests - taken;
}

void nvme_woken(struct nvme *nvme, struct disk_submitter *who, enum disk_op op, u64 now)
{
	bool *woken = &who->woken[op != DISK_READ];

	nvme_run_to(nvme, now);
	if (!*woken) {
		*woken = true;
		nvme->woken++;
	}
}

void nvme_submit(struct nvme *nvme, struct disk_request *request, u64 now)
{
	nvme_run_to(nvme, now);
	request->arrival = nvme->now;
	request->dispatch = U64_MAX;
	request->left = disk_op_has_data(request->op) ? request->sectors : 0;
	request->commands = 0;
	request->cached = 0;
	request->next = NULL;
	if (!request->sectors && disk_op_has_data(request->op)) {	/* nothing to do */
		request->completion = nvme->now;
		request->dispatch = nvme->now;
		request_list_append(&nvme->done, request);
	} else if (nvme->pending.first || !nvme_send_all(nvme, request)) {
		request_list_append(&nvme->pending, request);
	}
}

void nvme_trim(struct nvme *nvme, u64 sector, u64 sectors, u64 now)
{
	nvme_run_to(nvme, now);
	solid_trim(nvme->solid, sector, sectors, now);
}

u64 nvme_next_event(const struct nvme *nvme)
{
	return nvme->done.first ? nvme->done.first->completion : solid_next_event(nvme->solid);
}

struct disk_request *nvme_advance(struct nvme *nvme, u64 now)
{
	struct disk_request *done;

	nvme_run_to(nvme, now);
	done = nvme->done.first;
	nvme->done = (struct request_list){ };
	return done;
}
