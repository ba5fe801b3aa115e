// SPDX-License-Identifier: GPL-2.0
/*
 * What md does when a user's read meets a block that its member cannot read. Sources: Linux 6.12,
 * raid5.c retry_aligned_read() and raid5_end_read_request(); raid1.c and raid10.c
 * handle_read_error(), fix_read_error(), freeze_array(). No member has failed.
 *
 * RAID-4, 5, 6: each block of 4 KiB of the request is read again by itself, unless the stripe
 * cache has it. If that fails the others of its row are read, and the user has his data. Then the
 * block is written, and read.
 *
 * RAID-1, 10: no request begins any more, and those that have begun end. Then, 4 KiB after 4 KiB,
 * the member is asked again; where it fails the next copies are, until one can be read. It is
 * written to those before it, which are read then. At last the user's read begins anew. Of
 * several reads that failed one is served after another.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "array-internal.h"

/* Of a mirror's member in an hour; of others' one after another: then md takes the member out. */
#define MOST_ERRORS	20
#define MOST_IN_A_ROW	256

enum step { STEP_AGAIN, STEP_OTHERS, STEP_WRITE, STEP_READ };

struct mend {
	struct array_wait wait;
	struct array_wait *user;
	struct mend *next;
	u64 sector;		/* on the member: what could not be read */
	u32 sectors;
	u32 member;
	u64 bad, again;		/* parity: others that cannot be read; that have been asked again */
	enum step step;
	u32 done;		/* mirrors: sectors that are served */
	u32 copy, at;		/* the copy that is asked, or was read; the one that is written */
};

static void mend_send(struct array *array, struct mend *mend, u32 to, enum disk_op op, u64 sector,
		      u32 sectors)
{
	struct member_request *request = kvzalloc(sizeof(*request), GFP_KERNEL);
	struct array_member *member = &array->members[to];

	if (!request) {
		array->failed = true;
		return;
	}
	request->disk.sector = array->setup.layout.start + sector;
	request->disk.sectors = sectors;
	request->disk.op = op;
	/* Of a mirror it waits for writes, too: submit_bio_wait(). */
	request->disk.flags = op == DISK_READ || !layout_parities(&array->setup.layout) ?
			      DISK_SYNC : 0;
	request->disk.plug = &member->plug;
	request->end = sector + sectors;
	request->member = to;
	request->mends = true;
	request->wait = &mend->wait;
	mend->wait.left++;
	array->plugged = true;
	member_submit(array, member, request, sectors);
}

static void mend_end(struct array *array, struct mend *mend, bool lost)
{
	mend->user->lost |= lost;
	array_put(array, mend->user);
	kvfree(mend);
}

/* Of a row */

u64 asked_once(const struct array *array, u64 sector)
{
	const struct array_layout *layout = &array->setup.layout;

	if (layout->level != ARRAY_6)
		return 0;
	return 1ULL << layout_member(layout, div_u64(sector, layout->chunk), layout->members - 2);
}

static void row_send(struct array *array, struct mend *mend, u64 members, enum disk_op op)
{
	u32 i;

	for (i = 0; members; i++, members >>= 1)
		if (members & 1)
			mend_send(array, mend, i, op, mend->sector, mend->sectors);
}

static void row_done(struct array *array, struct array_wait *wait)
{
	u64 all = U64_MAX >> (64 - array->setup.layout.members);
	struct mend *mend = (struct mend *)wait;
	u64 self = 1ULL << mend->member, bad = wait->failed;

	wait->failed = 0;
	wait->left = 1;
	switch (mend->step) {
	case STEP_AGAIN:
		if (!bad) {
			stripes_learn(array, self, mend->sector);
			mend_end(array, mend, false);
			return;
		}
		mend->step = STEP_OTHERS;
		row_send(array, mend, all & ~self, DISK_READ);
		break;
	case STEP_OTHERS:
		mend->again = bad & ~mend->again & ~asked_once(array, mend->sector);
		mend->bad |= bad & ~mend->again;
		if (mend->again) {
			row_send(array, mend, mend->again, DISK_READ);
			mend->again = all;	/* only this once */
			break;
		}
		bad = mend->bad | self;
		if (hweight64(bad) > layout_parities(&array->setup.layout)) {
			mend_end(array, mend, true);
			return;
		}
		stripes_learn(array, all, mend->sector);
		array_put(array, mend->user);
		if (MODEL_PLANTED(forgotten)) {
			kvfree(mend);
			return;
		}
		mend->step = STEP_WRITE;
		row_send(array, mend, bad, DISK_WRITE);
		break;
	case STEP_WRITE:
		mend->step = STEP_READ;
		row_send(array, mend, mend->bad | self, DISK_READ);
		break;
	case STEP_READ:
		kvfree(mend);
		return;
	}
	array_put(array, wait);
}

/* Of mirrors */

static u64 virtual_sector(const struct array *array, const struct mend *mend, u32 done)
{
	const struct array_layout *layout = &array->setup.layout;

	return layout->level == ARRAY_1 ? mend->sector + done :
	       layout_virtual(layout, mend->member, mend->sector + done);
}

/* The copy that is @next behind the member's own. Returns false if its member is that one again. */
static bool next_copy(const struct array *array, const struct mend *mend, u32 next,
		      struct array_piece *piece)
{
	const struct array_layout *layout = &array->setup.layout;
	u64 sector = virtual_sector(array, mend, mend->done);
	u32 own, copies = layout_copies(layout);

	for (own = 0; own < copies; own++) {
		layout_piece(layout, sector, 1, own, piece);
		if (piece->member == mend->member && piece->sector == mend->sector + mend->done)
			break;
	}
	layout_piece(layout, sector, 1, (own + next) % copies, piece);
	return next < copies;
}

static void copy_send(struct array *array, struct mend *mend, u32 copy, enum disk_op op)
{
	struct array_piece piece;

	next_copy(array, mend, copy, &piece);
	mend_send(array, mend, piece.member, op, piece.sector,
		  min_t(u32, ARRAY_BLOCK, mend->sectors - mend->done));
}

/* The read begins anew, unless no copy could be read. Others wait for the next mend, if any. */
static void copies_thaw(struct array *array, bool lost)
{
	struct mend *mend = array->mending;

	array->mending = NULL;
	array->frozen = array->mends;
	if (!lost)
		copies_read_again(array, mend->member, mend->sector, mend->sectors, mend->user);
	array_serve_held(array);
	mend_end(array, mend, lost);
}

/* The next 4 KiB, or the end. */
static void copy_next(struct array *array, struct mend *mend)
{
	mend->done += min_t(u32, ARRAY_BLOCK, mend->sectors - mend->done);
	mend->copy = 0;
	mend->step = STEP_AGAIN;
	if (mend->done == mend->sectors)
		copies_thaw(array, false);
	else
		copy_send(array, mend, 0, DISK_READ);
}

static void copies_done(struct array *array, struct array_wait *wait)
{
	struct mend *mend = (struct mend *)wait;
	struct array_piece piece;
	bool bad = wait->failed;

	wait->failed = 0;
	wait->left = 0;
	if (mend->step == STEP_AGAIN && bad) {
		array->copies_bad |= mend->copy > 0;
		if (next_copy(array, mend, ++mend->copy, &piece)) {
			copy_send(array, mend, mend->copy, DISK_READ);
			return;
		}
		copies_thaw(array, true);
	} else if (mend->step == STEP_AGAIN && (!mend->copy || MODEL_PLANTED(forgotten))) {
		copy_next(array, mend);
	} else if (mend->step == STEP_AGAIN || (mend->step == STEP_WRITE && mend->at)) {
		mend->at = mend->step == STEP_AGAIN ? mend->copy - 1 : mend->at - 1;
		mend->step = STEP_WRITE;
		copy_send(array, mend, mend->at, DISK_WRITE);
	} else if (mend->step == STEP_WRITE || mend->at) {
		mend->at = mend->step == STEP_WRITE ? mend->copy - 1 : mend->at - 1;
		mend->step = STEP_READ;
		copy_send(array, mend, mend->at, DISK_READ);
	} else {
		copy_next(array, mend);
	}
}

static bool is_quiet(const struct array *array)
{
	u32 i;

	for (i = 0; i < array->setup.layout.members; i++)
		if (array->members[i].outstanding)
			return false;
	return true;
}

void mend_go_on(struct array *array)
{
	u32 i;

	if (array->mends && !array->mending && is_quiet(array)) {
		array->mending = array->mends;
		array->mends = array->mends->next;
		copy_send(array, array->mending, 0, DISK_READ);
	}
	if (!array->plugged)
		return;
	array->plugged = false;
	for (i = 0; i < array->setup.layout.members; i++)
		disk_unplug(array->members[i].disk, &array->members[i].plug, false,
			    array->now + array->members[i].phase);
}

static struct mend *mend_make(struct array *array, const struct member_request *request)
{
	struct mend *mend = kvzalloc(sizeof(*mend), GFP_KERNEL);

	if (!mend) {
		array->failed = true;
		return NULL;
	}
	mend->user = request->wait;
	mend->user->left++;
	mend->member = request->member;
	mend->sector = request->end - request->disk.sectors;
	mend->sectors = request->disk.sectors;
	return mend;
}

static void begin_rows(struct array *array, const struct member_request *request)
{
	u64 sector = (request->end - request->disk.sectors) & ~(ARRAY_BLOCK - 1ULL);
	struct mend *mend;

	for (; sector < request->end; sector += ARRAY_BLOCK) {
		if (stripes_know(array, request->member, sector))
			continue;
		mend = mend_make(array, request);
		if (!mend)
			return;
		mend->sector = sector;
		mend->sectors = ARRAY_BLOCK;
		mend->wait.done = row_done;
		row_send(array, mend, 1ULL << mend->member, DISK_READ);
	}
}

/* raid5_end_read_request(). */
void mend_count(struct array *array, const struct member_request *request)
{
	struct array_member *member = &array->members[request->member];

	if (!layout_parities(&array->setup.layout) || request->disk.op != DISK_READ)
		return;
	member->read_errors = request->disk.fault ? member->read_errors + 1 : 0;
	array->beyond |= member->read_errors > MOST_IN_A_ROW;
}

void mend_begin(struct array *array, const struct member_request *request)
{
	struct mend *mend, **last = &array->mends;

	array->several |= array->outstanding > 1 || request->wait->left > 1;
	if (layout_parities(&array->setup.layout)) {
		begin_rows(array, request);
		return;
	}
	mend = mend_make(array, request);
	if (!mend)
		return;
	if (++array->members[request->member].read_errors > MOST_ERRORS)
		array->beyond = true;
	mend->wait.done = copies_done;
	while (*last)
		last = &(*last)->next;
	*last = mend;
	array->frozen = true;
}
