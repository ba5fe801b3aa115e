// SPDX-License-Identifier: GPL-2.0
/*
 * The engine, and RAID-0, 1 and 10. Sources of what is read where: Linux 6.12, raid1.c
 * choose_best_rdev(), raid10.c read_balance(), both for disks that rotate.
 *
 * Events of several members may have the same time. Then the service that began first ends first.
 * A request that arrives at that time comes before all of them.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/portable/splitmix.h"
#include "../planted.h"
#include "array-internal.h"

#define SMALL_CHUNK	128		/* sectors */

/* A request of the array's user. */
struct parent {
	struct array_wait wait;
	struct parent *next;		/* held */
	struct disk_request *request;
};

/* Does each sector have a copy on a member that works? The pattern repeats within two rows. */
static bool every_sector_is_left(const struct array_setup *setup)
{
	const struct array_layout *layout = &setup->layout;
	struct array_piece piece;
	u64 sector, chunk = layout->chunk ?: layout->sectors;
	u32 copy;

	for (sector = 0; sector < layout->sectors && sector < 2ULL * layout->members * chunk;
	     sector += chunk) {
		for (copy = 0; copy < layout_copies(layout); copy++) {
			layout_piece(layout, sector, 1, copy, &piece);
			if (!(setup->failed >> piece.member & 1))
				break;
		}
		if (copy == layout_copies(layout))
			return false;
	}
	return true;
}

const char *array_check(const struct array_setup *setup)
{
	const struct array_layout *layout = &setup->layout;
	u32 parities = layout_parities(layout);

	if (layout->members < ARRAY_MEMBERS && setup->failed >> layout->members)
		return "there is no such member";
	if (parities && hweight64(setup->failed) > parities)
		return "more members failed than the level has parity for";
	if (setup->writes != WRITES_MD && setup->stripe_cache)
		return "only md's writes have a stripe cache";
	if (!parities && !every_sector_is_left(setup))
		return "some sectors have no copy on a member that works";
	return NULL;
}

/* Of a member's platters, if it has any. */
static u64 start_angle(const struct array_setup *setup, u64 *seed)
{
	u64 rnd = splitmix_next(seed);

	return setup->constant || !setup->profile->revolution ? 0 :
	       rnd % setup->profile->revolution;
}

struct array *array_create(const struct array_setup *setup, gfp_t gfp)
{
	struct array *array = kvzalloc(sizeof(*array), gfp);
	u64 seed = setup->seed;
	u32 i;

	if (!array)
		return NULL;
	array->setup = *setup;
	array->members = kvcalloc(setup->layout.members, sizeof(*array->members), gfp);
	if (!array->members || stripes_init(array, gfp))
		goto fail;
	for (i = 0; i < setup->layout.members; i++) {
		u64 phase = start_angle(setup, &seed);

		if (member_init(&array->members[i], setup, phase, gfp))
			goto fail;
	}
	return array;
fail:
	array->failed = true;	/* nothing is outstanding */
	array_destroy(array);
	return NULL;
}

static void array_run_to(struct array *array, u64 until);

void array_set_faults(struct array *array, u32 member, struct faults *faults)
{
	faults->shift -= array->members[member].phase + array->now;
	disk_set_faults(array->members[member].disk, faults);
}

void array_turn(struct array *array, const u64 *angles)
{
	u32 i;

	for (i = 0; i < array->setup.layout.members && array->setup.profile->revolution; i++)
		array->members[i].phase = angles[i];
}

const char *array_doubt(const struct array *array)
{
	if (array->beyond)
		return "a member failed more reads than md bears: there it goes, here it stays";
	if (array->several)
		return "a read failed while another request was under way: not held beside md";
	if (array->copies_bad)
		return "two copies of a block could not be read: md reads otherwise then";
	return NULL;
}

const char *array_single_doubt(const struct array *array)
{
	if (array->part_written)
		return
"a write of more than 4 KiB and less than a row: md does it by 4 KiB, which single times show";
	if (array->joined)
		return
"pieces of a request went to a member as one: on this host and layout md sends them one by one";
	return NULL;
}

void array_destroy(struct array *array)
{
	u32 i;

	if (!array)
		return;
	if (array->members && !array->failed)
		array_run_to(array, NEVER - 1);
	for (i = 0; array->members && i < array->setup.layout.members; i++)
		member_exit(&array->members[i]);
	stripes_exit(array);
	kvfree(array->members);
	kvfree(array);
}

/* Requests to members */

void array_put(struct array *array, struct array_wait *wait)
{
	if (!--wait->left)
		wait->done(array, wait);
}

static bool grow(struct array_extents *extents)
{
	u32 room = extents->room ? extents->room * 2 : 16;
	struct array_extent *more = kvcalloc(room, sizeof(*more), GFP_KERNEL);

	if (!more)
		return false;
	if (extents->nr)
		memcpy(more, extents->all, extents->nr * sizeof(*more));
	kvfree(extents->all);
	extents->all = more;
	extents->room = room;
	return true;
}

/*
 * Where the host has no plugs that tasks hold, md's pieces stay apart. Those of rows with parity
 * were seen to; and those of copies that come round to the same member.
 */
static bool joins_as_md_does_not(const struct array_setup *setup)
{
	const struct array_layout *layout = &setup->layout;

	if (layout->level == ARRAY_1)
		return false;
	if (layout->chunk < SMALL_CHUNK)
		return true;
	if (layout->level == ARRAY_10)
		return layout->members % layout->near;
	return layout_parities(layout) && !array_has_plugs(setup);
}

void extents_add(struct array *array, struct array_extents *extents, u32 member, u64 sector,
		 u32 sectors, bool extra)
{
	struct array_extent *last = NULL;

	if (extents->last[member])
		last = &extents->all[extents->last[member] - 1];
	if (last && last->sector + last->sectors == sector) {
		array->joined |= joins_as_md_does_not(&array->setup);
		last->sectors += sectors;
		last->extra += extra ? sectors : 0;
		return;
	}
	if (extents->nr == extents->room && !grow(extents)) {
		array->failed = true;
		return;
	}
	extents->all[extents->nr++] = (struct array_extent){
		.sector = sector, .sectors = sectors, .extra = extra ? sectors : 0,
		.member = member,
	};
	extents->last[member] = extents->nr;
}

static struct member_request *request_make(struct array *array, const struct array_extent *extent,
					   enum disk_op op, u8 flags,
					   struct array_wait *wait)
{
	struct member_request *request = kvzalloc(sizeof(*request), GFP_KERNEL);

	if (!request) {
		array->failed = true;
		return NULL;
	}
	request->disk.sector = array->setup.layout.start + extent->sector;
	request->disk.sectors = extent->sectors;
	request->disk.op = op;
	request->disk.flags = flags;
	request->end = extent->sector + extent->sectors;
	request->member = extent->member;
	request->wait = wait;
	wait->left++;
	return request;
}

static void extent_send(struct array *array, const struct array_extent *extent, enum disk_op op,
			u8 flags, struct array_wait *wait)
{
	struct member_request *request = request_make(array, extent, op, flags, wait);

	if (request)
		member_submit(array, &array->members[extent->member], request, extent->extra);
}

void extents_send(struct array *array, struct array_extents *extents, enum disk_op op, u8 flags,
		  struct array_wait *wait)
{
	u32 i;

	for (i = 0; i < extents->nr; i++)
		extent_send(array, &extents->all[i], op, flags, wait);
	kvfree(extents->all);
	*extents = (struct array_extents){ };
}

void extents_replace(struct array *array, struct array_extents *extents, u8 flags,
		     struct array_wait *reads, struct array_wait *writes)
{
	struct member_request *request;
	u32 i;

	for (i = 0; i < extents->nr; i++) {
		request = request_make(array, &extents->all[i], DISK_READ, flags & DISK_SYNC,
				       reads);
		if (!request)
			continue;
		request->then = writes;
		writes->left++;
		member_submit(array, &array->members[request->member], request,
			      extents->all[i].extra);
	}
	kvfree(extents->all);
	*extents = (struct array_extents){ };
}

/* What was read is written. */
static void replace_extent(struct array *array, const struct member_request *request)
{
	struct array_extent extent = { .sector = request->end - request->disk.sectors,
				       .sectors = request->disk.sectors,
				       .member = request->member };

	extent_send(array, &extent, DISK_WRITE, request->disk.flags, request->then);
	array_put(array, request->then);
}

/* Which copy is read */

/* md's nr_pending. A request's earlier pieces count when the copy for its next piece is chosen. */
static u32 pending(const struct array_member *member)
{
	return member->outstanding + member->planned;
}

static u64 distance(u64 a, u64 b)
{
	return a > b ? a - b : b - a;
}

/* raid1.c: the member whose last read this one continues; else an idle one; else the nearest. */
static u32 balance_mirror(const struct array *array, u64 sector)
{
	u32 i, idle = NO_MEMBER, nearest = NO_MEMBER;
	u64 least = NEVER;

	for (i = 0; i < array->setup.layout.members; i++) {
		const struct array_member *member = &array->members[i];

		if (!member_works(array, i))
			continue;
		if (member->next_sequential == sector || member->head == sector)
			return i;
		if (!pending(member) && idle == NO_MEMBER)
			idle = i;
		if (distance(member->head, sector) < least) {
			least = distance(member->head, sector);
			nearest = i;
		}
	}
	return idle != NO_MEMBER ? idle : nearest;
}

/* raid10.c: near copies: an idle one, else the nearest; far copies: the first on its member. */
static u64 balance_cost(const struct array *array, const struct array_piece *piece)
{
	const struct array_member *member = &array->members[piece->member];
	const struct array_layout *layout = &array->setup.layout;

	if (layout->near > 1 && !pending(member))
		return 0;
	return layout->far > 1 ? piece->sector : distance(piece->sector, member->head);
}

/* The cost of a copy: the one with the least is read; of several such ones the first. */
static u64 copy_cost(const struct array *array, const struct array_piece *piece, u32 copy)
{
	u32 copies = layout_copies(&array->setup.layout);

	switch (array->setup.reads) {
	case READS_FIRST:
		return copy;
	case READS_ROUND_ROBIN:
		return (copy + copies - array->turn % copies) % copies;
	case READS_SHORTEST:
		return pending(&array->members[piece->member]);
	default:
		return balance_cost(array, piece);
	}
}

static void choose_copy(struct array *array, u64 sector, u64 sectors, struct array_piece *chosen)
{
	const struct array_layout *layout = &array->setup.layout;
	struct array_piece piece;
	u64 least = NEVER, cost;
	u32 copy;

	if (layout->level == ARRAY_1 && array->setup.reads == READS_MD) {
		layout_piece(layout, sector, sectors, balance_mirror(array, sector), chosen);
		return;
	}
	for (copy = 0; copy < layout_copies(layout); copy++) {
		layout_piece(layout, sector, sectors, copy, &piece);
		if (!member_works(array, piece.member))
			continue;
		cost = copy_cost(array, &piece, copy);
		if (cost < least || least == NEVER) {
			least = cost;
			*chosen = piece;
		}
	}
	array->turn++;
}

static void copies_read(struct array *array, const struct disk_request *request,
			struct array_wait *wait)
{
	struct array_extents extents = { };
	struct array_piece piece;
	u64 done;
	u32 i;

	for (done = 0; done < request->sectors; done += piece.sectors) {
		choose_copy(array, request->sector + done, request->sectors - done, &piece);
		extents_add(array, &extents, piece.member, piece.sector, piece.sectors, false);
		array->members[piece.member].next_sequential = piece.sector + piece.sectors;
		array->members[piece.member].planned++;
	}
	for (i = 0; i < array->setup.layout.members; i++)
		array->members[i].planned = 0;
	extents_send(array, &extents, DISK_READ, request->flags, wait);
}

void copies_read_again(struct array *array, u32 member, u64 sector, u32 sectors,
		       struct array_wait *wait)
{
	const struct array_layout *layout = &array->setup.layout;
	struct array_extents extents = { };
	struct array_piece piece;
	u32 done;

	for (done = 0; done < sectors; done += piece.sectors) {
		choose_copy(array, layout->level == ARRAY_1 ? sector + done :
			    layout_virtual(layout, member, sector + done), sectors - done, &piece);
		extents_add(array, &extents, piece.member, piece.sector, piece.sectors, false);
		array->members[piece.member].next_sequential = piece.sector + piece.sectors;
	}
	extents_send(array, &extents, DISK_READ, DISK_SYNC, wait);
}

static void copies_write(struct array *array, const struct disk_request *request,
			 struct array_wait *wait)
{
	const struct array_layout *layout = &array->setup.layout;
	struct array_extents extents = { };
	struct array_piece piece;
	bool another;
	u64 done;
	u32 copy;

	for (done = 0; done < request->sectors; done += piece.sectors)
		for (copy = 0, another = false; copy < layout_copies(layout); copy++) {
			layout_piece(layout, request->sector + done, request->sectors - done, copy,
				     &piece);
			if (!member_works(array, piece.member))
				continue;
			extents_add(array, &extents, piece.member, piece.sector, piece.sectors,
				    another);
			another = !MODEL_PLANTED(copies);
		}
	extents_send(array, &extents, DISK_WRITE, request->flags, wait);
}

/* Of all members */
static void flush_members(struct array *array, const struct disk_request *request,
			  struct array_wait *wait)
{
	u32 i;

	for (i = 0; i < array->setup.layout.members; i++)
		if (member_works(array, i))
			extent_send(array, &(struct array_extent){ .member = i }, DISK_FLUSH,
				    request->flags, wait);
}

/* The callers' side */

static void parent_done(struct array *array, struct array_wait *wait)
{
	struct parent *parent = (struct parent *)wait;
	struct disk_request *request = parent->request;

	request->completion = array->now;
	request->fault = wait->lost ? FAULT_MEDIA : 0;
	request->parts.hit = !wait->missed && request->op != DISK_FLUSH;
	request->parts.cached = wait->moved ? div64_u64(wait->cached * request->sectors,
							wait->moved) : 0;
	if (!--array->outstanding)
		array->busy += array->now - array->busy_since;
	request_list_append(&array->done, request);
	kvfree(parent);
}

/* Copies and parity say nothing of the data. */
static void count_cached(struct array_wait *wait, const struct member_request *request)
{
	u32 sectors = request->disk.sectors - request->extra;

	wait->moved += sectors;
	wait->cached += min(request->disk.parts.cached, sectors);
}

static void member_done(struct array *array, struct array_member *member,
			struct member_request *request)
{
	member->figures.response += array->now - request->submitted;
	if (request->disk.op != DISK_FLUSH && !request->mends)
		member->head = request->end;
	request->wait->missed |= !request->disk.parts.hit;
	if (request->mends)
		mend_count(array, request);
	if (request->disk.fault && request->wait->mends)
		mend_begin(array, request);
	else if (request->disk.fault)
		request->wait->failed |= 1ULL << request->member;
	count_cached(request->wait, request);
	if (request->then)
		replace_extent(array, request);
	array_put(array, request->wait);
	kvfree(request);
}

static void member_events(struct array *array, struct array_member *member)
{
	struct disk_request *done, *next;

	for (done = member_advance(array, member); done; done = next) {
		next = done->next;
		member_done(array, member, as_member_request(done));
	}
}

static struct array_member *next_member(const struct array *array, u64 *when)
{
	struct array_member *first = NULL, *member = array->members;
	u32 i;

	*when = NEVER;
	for (i = 0; i < array->setup.layout.members; i++, member++) {
		u64 next = member_next_event(member);

		if (next == NEVER || next > *when ||
		    (first && next == *when && member->began >= first->began))
			continue;
		*when = next;
		first = member;
	}
	return first;
}

static void array_run_to(struct array *array, u64 until)
{
	struct array_member *member;
	u64 when;

	while ((member = next_member(array, &when)) && when <= until) {
		array->now = max(array->now, when);
		member_events(array, member);
		if ((array->plugged || array->mends) &&
		    (!next_member(array, &when) || when > array->now))
			mend_go_on(array);
	}
}

static void serve(struct array *array, struct parent *parent)
{
	struct disk_request *request = parent->request;

	if (request->op == DISK_FLUSH)
		flush_members(array, request, &parent->wait);
	else if (layout_parities(&array->setup.layout) && request->op == DISK_READ)
		stripes_read(array, request, &parent->wait);
	else if (layout_parities(&array->setup.layout))
		stripes_write(array, request, &parent->wait);
	else if (request->op == DISK_READ)
		copies_read(array, request, &parent->wait);
	else
		copies_write(array, request, &parent->wait);
	array_put(array, &parent->wait);
}

static void hold_back(struct array *array, struct parent *parent)
{
	struct parent **last = &array->held;

	while (*last)
		last = &(*last)->next;
	*last = parent;
}

void array_serve_held(struct array *array)
{
	struct parent *parent;

	while (!array->frozen && (parent = array->held)) {
		array->held = parent->next;
		serve(array, parent);
	}
}

void array_submit(struct array *array, struct disk_request *request, u64 now)
{
	struct parent *parent = kvzalloc(sizeof(*parent), GFP_KERNEL);

	if (now)
		array_run_to(array, now - 1);
	array->now = max(array->now, now);
	request->arrival = array->now;
	request->dispatch = array->now;
	request->parts = (struct drive_parts){ };
	if (!parent) {
		array->failed = true;
		return;
	}
	*parent = (struct parent){ .wait = { .left = 1, .done = parent_done },
				   .request = request };
	if (!array->outstanding++)
		array->busy_since = array->now;
	parent->wait.mends = request->op == DISK_READ && !array->setup.failed;
	if (array->frozen)
		hold_back(array, parent);
	else
		serve(array, parent);
}

u64 array_next_event(const struct array *array)
{
	u64 when;

	if (array->done.first)
		return array->now;
	next_member(array, &when);
	return when;
}

struct disk_request *array_advance(struct array *array, u64 now)
{
	struct disk_request *done;

	array_run_to(array, now);
	array->now = max(array->now, now);
	done = array->done.first;
	array->done = (struct request_list){ };
	return done;
}

bool array_failed(const struct array *array)
{
	return array->failed;
}

void array_figures(const struct array *array, u32 member, struct array_member_figures *figures)
{
	const struct array_member *m = &array->members[member];

	u64 busy = array->busy;

	if (!member_works(array, member)) {
		*figures = (struct array_member_figures){ };
		return;
	}
	*figures = m->figures;
	if (m->outstanding)
		figures->busy += array->now - m->busy_since;
	if (array->outstanding)
		busy += array->now - array->busy_since;
	figures->waiting = busy - figures->busy;
	figures->idle = array->now - array->begun - busy;
}

bool array_solid_figures(const struct array *array, struct solid_figures *figures)
{
	struct solid_figures one;
	bool any = false;
	u32 i;

	*figures = (struct solid_figures){ };
	for (i = 0; i < array->setup.layout.members; i++)
		if (array->members[i].disk &&
		    disk_solid_figures(array->members[i].disk, &one)) {
			solid_figures_add(figures, &one);
			any = true;
		}
	return any;
}

bool array_pending_figures(const struct array *array, struct pending_figures *figures)
{
	struct pending_figures one;
	bool any = false;
	u32 i;

	*figures = (struct pending_figures){ };
	for (i = 0; i < array->setup.layout.members; i++)
		if (array->members[i].disk &&
		    disk_pending_figures(array->members[i].disk, &one)) {
			figures->sectors += one.sectors;
			figures->runs += one.runs;
			any = true;
		}
	return any;
}

size_t array_bytes(const struct array *array)
{
	size_t bytes = 0;
	u32 i;

	for (i = 0; i < array->setup.layout.members; i++)
		if (array->members[i].disk)
			bytes += disk_bytes(array->members[i].disk);
	return bytes;
}
