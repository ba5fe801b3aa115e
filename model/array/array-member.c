// SPDX-License-Identifier: GPL-2.0
/*
 * A member of an array: a modelled disk with its queue. Its platters have a start angle of their
 * own. md submits from one thread, so a member has one submitter. Requests that the queue has no
 * room for wait here.
 *
 * For closed forms there is another kind of member: it takes the same time for each request.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "array-internal.h"

int member_init(struct array_member *member, const struct array_setup *setup, u64 phase,
		gfp_t gfp)
{
	member->constant = setup->constant;
	member->phase = phase;
	if (member->constant)
		return 0;
	member->disk = disk_create(setup->profile, NULL, gfp);
	if (!member->disk)
		return -ENOMEM;
	disk_sum_into(member->disk, &member->figures.drive);
	return 0;
}

static void free_line(struct request_list *line)
{
	while (line->first)
		kvfree(as_member_request(request_list_pop(line)));
}

void member_exit(struct array_member *member)
{
	free_line(&member->waiting[DISK_READ]);
	free_line(&member->waiting[DISK_WRITE]);
	free_line(&member->line);
	disk_destroy(member->disk);
}

static void member_begin(struct array *array, struct array_member *member)
{
	member->ends = array->now + member->constant;
	member->began = array->began++;
	member->line.first->dispatch = array->now;
}

static void member_count(struct array_member *member, const struct disk_request *request,
			 u32 extra)
{
	struct array_member_figures *figures = &member->figures;

	if (request->op == DISK_READ) {
		figures->reads++;
		figures->read_sectors += request->sectors;
		figures->prereads += extra != 0;
		figures->preread_sectors += extra;
	} else if (request->op == DISK_WRITE) {
		figures->writes++;
		figures->write_sectors += request->sectors;
		figures->redundant_sectors += extra;
	} else {
		figures->flushes++;
	}
}

static void member_wait(struct array_member *member, struct disk_request *request)
{
	disk_wait(member->disk, &member->who, request);
	request_list_append(&member->waiting[disk_line(member->disk, request->op)], request);
}

void member_submit(struct array *array, struct array_member *member,
		   struct member_request *request, u32 extra)
{
	struct request_list *waiting;
	u64 now = array->now + member->phase;

	member_count(member, &request->disk, extra);
	request->extra = extra;
	request->submitted = array->now;
	if (!member->outstanding++)
		member->busy_since = array->now;
	if (member->constant) {
		request_list_append(&member->line, &request->disk);
		if (member->line.first == &request->disk)
			member_begin(array, member);
		return;
	}
	waiting = &member->waiting[disk_line(member->disk, request->disk.op)];
	/* With blk-mq one that comes later may take a tag before those that wait. */
	if ((waiting->first && disk_line(member->disk, DISK_WRITE)) ||
	    !disk_enter(member->disk, &member->who, request->disk.op, now))
		member_wait(member, &request->disk);
	else
		disk_submit(member->disk, &request->disk, now);
}

u64 member_next_event(const struct array_member *member)
{
	u64 next;

	if (member->constant)
		return member->line.first ? member->ends : NEVER;
	next = disk_next_event(member->disk);
	return next == NEVER ? NEVER : next - member->phase;
}

/* Of @waiting, which is not empty, the one that is woken. It stays there. */
static struct disk_request *woken(const struct array_member *member,
				  const struct request_list *waiting)
{
	struct disk_request *request = waiting->first;

	while (request && !disk_wakes(member->disk, request))
		request = request->next;
	return request;
}

static void member_admit(struct array *array, struct array_member *member,
			 struct request_list *waiting)
{
	u64 now = array->now + member->phase;
	struct disk_request *request;
	bool entered;

	while (waiting->first && disk_wakeups(member->disk, waiting->first->op)) {
		request = woken(member, waiting);
		if (!request)
			return;
		disk_woken(member->disk, &member->who, request->op, now);
		entered = disk_enter(member->disk, &member->who, request->op, now);
		if (!entered && disk_line(member->disk, DISK_WRITE))
			return;
		request_list_remove(waiting, request);
		if (entered)
			disk_submit(member->disk, request, now);
		else
			member_wait(member, request);
	}
}

static struct disk_request *advance_constant(struct array *array, struct array_member *member)
{
	struct disk_request *request;

	if (!member->line.first || member->ends > array->now)
		return NULL;
	request = request_list_pop(&member->line);
	request->completion = array->now;
	request->parts.overhead = member->constant;
	drive_sums_add(&member->figures.drive, &request->parts);
	request->next = NULL;
	if (member->line.first)
		member_begin(array, member);
	return request;
}

struct disk_request *member_advance(struct array *array, struct array_member *member)
{
	struct disk_request *done, *request;

	if (member->constant) {
		done = advance_constant(array, member);
	} else {
		done = disk_advance(member->disk, array->now + member->phase);
		member_admit(array, member, &member->waiting[DISK_READ]);
		member_admit(array, member, &member->waiting[DISK_WRITE]);
	}
	for (request = done; request; request = request->next)
		if (!--member->outstanding || MODEL_PLANTED(overlap))
			member->figures.busy += array->now - member->busy_since;
	return done;
}
