// SPDX-License-Identifier: GPL-2.0
/*
 * A rebuild. Two threads of md take part. Neither takes time.
 *
 * The filler (md_do_sync()) asks for block after block. For RAID-4, 5 and 6 a block is a stripe
 * of 4 KiB a member. There are @stripes of them, in 8 lists by the block's number. If the next
 * block's list is empty, the filler waits until there is one in it and fewer than three quarters
 * are in use. Then it takes one, and sleeps for one tick before it goes on. The cache grows by a
 * stripe each time that a list is found empty. RAID-1 has blocks of 64 KiB, and 32 of them under
 * way within 64 MiB.
 *
 * The server (raid5d(), raid1d()) reads a block from all members that work, of RAID-1 from the
 * first; when all have been read it writes the new drives.
 *
 * After each 16th of all, and 5 minutes, the filler waits until nothing is under way. Then the
 * server writes the superblocks: of each member a flush and a write with FUA. Nothing is served
 * meanwhile; but of RAID-1 and 10 the filler asks for its reads itself, and goes on. There the
 * server wakes when the first of them has been read. At the end they are written twice: as all is
 * done, and as the new drives are members. At the beginning they have just been written, so the
 * heads are there; and they are written once more, as the array is being filled.
 */
#include "../../dm-david/portable/portable-alloc.h"
#include "../planted.h"
#include "array-internal.h"
#include "array-rebuild.h"

#define LISTS		8		/* NR_STRIPE_HASH_LOCKS */
#define MIRROR_BLOCK	128		/* sectors: RESYNC_SECTORS */
#define MIRROR_DEPTH	32		/* RESYNC_DEPTH of RAID-1, */
#define TEN_DEPTH	512		/* and of RAID-10 */
#define MIRROR_UNIT	131072		/* sectors: BARRIER_UNIT_SECTOR_SIZE */
#define WINDOW		256		/* sectors between two looks at the speed */
#define MARKS		10		/* SYNC_MARKS */
#define MARK_S		3		/* SYNC_MARK_STEP */
#define UPDATE_S	300		/* UPDATE_FREQUENCY */
#define LIMITED_MS	500
#define SUPERBLOCK	1		/* sector */
#define LEAD		1000000000	/* ns in which superblocks are written before it begins */

enum step { STEP_READ, STEP_WRITE, STEP_MEND, STEP_AGAIN };

enum filler {
	FILLER_LEADS,			/* it has not begun */
	FILLER_GOES,
	FILLER_WAITS,			/* for a stripe */
	FILLER_BLOCKS,			/* until a member's queue takes what it was sent */
	FILLER_SLEEPS,			/* until ->wakes */
	FILLER_DRAINS,			/* until nothing is under way; then superblocks */
	FILLER_UPDATES,			/* superblocks are being written */
	FILLER_DONE,
};

struct rebuild;

/* RAID-10: of each new member one, with the same @first. */
struct rebuild_block {
	struct array_wait wait;
	struct rebuild *rebuild;
	struct rebuild_block *next;	/* held */
	struct rebuild_block *first;
	u32 parts;			/* of the first: how many are there still */
	u64 sector;
	u32 sectors;
	u64 from;			/* sector; RAID-10: of the member that is read */
	u64 sources, targets;
	u64 bad;			/* members that could not read it */
	u64 again;			/* of these: asked a second time */
	enum step step;
};

struct rebuild_superblock {
	struct array_wait wait;
	struct rebuild *rebuild;
	u32 member;
};

struct rebuild {
	struct array *array;
	const struct array_rebuild *how;
	struct array_rebuilt *result;
	struct disk_plug *plugs;	/* by member, of the server */
	struct array_wait superblocks;
	struct rebuild_superblock *of_member;
	bool updating;
	bool due;			/* mirrors: the superblocks, as soon as the server wakes, */
	bool wakes_server;		/* which it does now */
	bool last;			/* at the end they are written twice */
	struct rebuild_block *held;	/* RAID-1: read, to be written after the superblocks */
	u64 all, new;			/* sets of members: there, being filled */
	u64 tick;			/* ns */
	u32 block;			/* sectors */
	bool mirror;			/* or RAID-10 */
	bool ten;

	enum filler filler;
	u64 wakes;
	bool taken;			/* the filler holds a stripe for @next */
	bool looks;			/* at its speed, before it goes on */
	u64 next;			/* sector */
	u64 updated;			/* curr_resync_completed, */
	u64 updated_at;			/* and when */
	u64 active;			/* sectors: recovery_active */
	u64 last_check;
	u32 parts;			/* RAID-10: of blocks that are under way */
	u32 stripes, used, free[LISTS];
	bool grows;			/* by a stripe, when the server comes to it */
	u32 in_unit[2];			/* RAID-1: blocks in an even unit, in an odd one */
	u64 mark[MARKS], mark_done[MARKS];
	u64 speed_mark, speed_done;
	u32 last_mark;
};

static void block_done(struct array *array, struct array_wait *wait);

const char *array_rebuild_check(const struct array_setup *setup, const struct array_rebuild *how)
{
	const struct array_layout *layout = &setup->layout;

	if (layout->level == ARRAY_0)
		return "RAID-0 has nothing to fill a member from";
	if (!setup->failed)
		return "no member has failed; add failed=N";
	if (setup->constant)
		return "members of a constant time are not filled";
	if (layout_parities(layout) && setup->stripe_cache < LISTS)
		return "md has 17 stripes at least; leave stripe-cache out";
	if (!how->sectors || how->sectors % ARRAY_BLOCK || how->sectors > layout->member_sectors)
		return "no whole blocks of 4 KiB that a member has";
	return NULL;
}

/* Requests */

/* @sector is the drive's. */
static void send(struct rebuild *rebuild, u32 member, enum disk_op op, u8 flags, u64 sector,
		 u32 sectors, struct array_wait *wait)
{
	struct member_request *request = kvzalloc(sizeof(*request), GFP_KERNEL);

	if (!request) {
		rebuild->array->failed = true;
		return;
	}
	request->disk.sector = sector;
	request->disk.sectors = sectors;
	request->disk.op = op;
	request->disk.flags = flags;
	request->disk.plug = &rebuild->plugs[member];
	request->end = sector + sectors;
	request->member = member;
	request->wait = wait;
	wait->left++;
	member_submit(rebuild->array, &rebuild->array->members[member], request,
		      op == DISK_FLUSH ? 0 : sectors);
}

static void send_to(struct rebuild *rebuild, u64 members, enum disk_op op,
		    struct rebuild_block *block)
{
	u64 sector = op == DISK_READ ? block->from : block->sector;
	u32 i;

	for (i = 0; members; i++, members >>= 1)
		if (members & 1)
			send(rebuild, i, op, op == DISK_READ ? DISK_SYNC : 0,
			     rebuild->array->setup.layout.start + sector, block->sectors,
			     &block->wait);
}

/* Blocks */

static struct rebuild_block *block_make(struct rebuild *rebuild, u32 sectors)
{
	struct rebuild_block *block = kvzalloc(sizeof(*block), GFP_KERNEL);

	if (!block) {
		rebuild->array->failed = true;
		return NULL;
	}
	block->wait = (struct array_wait){ .left = 1, .done = block_done };
	block->rebuild = rebuild;
	block->first = block;
	block->sector = rebuild->next;
	block->from = rebuild->next;
	block->sectors = sectors;
	block->sources = rebuild->all & ~rebuild->new;
	block->targets = rebuild->new;
	if (rebuild->mirror)
		block->sources &= -block->sources;	/* the first */
	return block;
}

/* RAID-10: what @member has at the filler's place, from the first copy that is there. */
static bool find_copy(const struct rebuild *rebuild, u32 member, struct array_piece *piece)
{
	const struct array_layout *layout = &rebuild->array->setup.layout;
	u64 sector = layout_virtual(layout, member, rebuild->next);
	u32 copy;

	if (!(rebuild->new >> member & 1) || sector >= layout->sectors)
		return false;
	for (copy = 0; copy < layout_copies(layout); copy++) {
		layout_piece(layout, sector, 1, copy, piece);
		if (!(rebuild->new >> piece->member & 1))
			return true;
	}
	return false;
}

static u32 parts_of_ten(const struct rebuild *rebuild)
{
	struct array_piece piece;
	u32 i, parts = 0;

	for (i = 0; i < rebuild->array->setup.layout.members; i++)
		parts += find_copy(rebuild, i, &piece);
	return parts;
}

/* md sends the last one first. Of a row that is not whole there may be none. */
static bool begin_ten(struct rebuild *rebuild, u32 sectors)
{
	u32 i = rebuild->array->setup.layout.members, parts = parts_of_ten(rebuild);
	struct rebuild_block *block, *first = NULL;
	struct array_piece piece;

	while (i--) {
		if (!find_copy(rebuild, i, &piece))
			continue;
		block = block_make(rebuild, sectors);
		if (!block)
			return false;
		first = first ?: block;
		block->first = first;
		first->parts = parts;
		block->from = piece.sector;
		block->sources = 1ULL << piece.member;
		block->targets = 1ULL << i;
		send_to(rebuild, block->sources, DISK_READ, block);
		array_put(rebuild->array, &block->wait);
	}
	return first;
}

static bool begin_one(struct rebuild *rebuild, u32 sectors)
{
	struct rebuild_block *block = block_make(rebuild, sectors);

	if (!block)
		return false;
	block->parts = 1;
	send_to(rebuild, block->sources, DISK_READ, block);
	array_put(rebuild->array, &block->wait);
	return true;
}

/* It ends with its chunk, if there are chunks. */
static u32 next_sectors(const struct rebuild *rebuild)
{
	const struct array_layout *layout = &rebuild->array->setup.layout;
	u32 sectors = min_t(u64, rebuild->block, rebuild->how->sectors - rebuild->next), within;

	if (!rebuild->ten || layout->near == layout->members)
		return sectors;
	div_u64_rem(rebuild->next, layout->chunk, &within);
	return min(sectors, layout->chunk - within);
}

static void block_begin(struct rebuild *rebuild)
{
	u32 sectors = next_sectors(rebuild);

	if (rebuild->ten ? begin_ten(rebuild, sectors) : begin_one(rebuild, sectors)) {
		rebuild->active += sectors;
		rebuild->result->blocks += sectors / ARRAY_BLOCK;
	}
	rebuild->next += sectors;
}

static void block_end(struct rebuild *rebuild, struct rebuild_block *block)
{
	u32 list = block->sector / ARRAY_BLOCK % LISTS;
	struct rebuild_block *first = block->first;

	if (rebuild->ten) {
		rebuild->parts--;
	} else if (rebuild->mirror) {
		rebuild->in_unit[block->sector / MIRROR_UNIT % 2]--;
	} else {
		rebuild->used--;
		rebuild->free[list]++;
	}
	if (block != first)
		kvfree(block);
	if (--first->parts)
		return;
	rebuild->active -= first->sectors;
	kvfree(first);
}

/* The server is at the superblocks. */
static void hold(struct rebuild *rebuild, struct rebuild_block *block)
{
	struct rebuild_block **link = &rebuild->held;

	while (*link)
		link = &(*link)->next;
	*link = block;
}

static void release(struct rebuild *rebuild)
{
	struct rebuild_block *block;

	while ((block = rebuild->held)) {
		rebuild->held = block->next;
		send_to(rebuild, block->targets | block->bad, DISK_WRITE, block);
		array_put(rebuild->array, &block->wait);
	}
}

/* All of a step is done: the next one. */
static void block_done(struct array *array, struct array_wait *wait)
{
	struct rebuild_block *block = (struct rebuild_block *)wait;
	struct rebuild *rebuild = block->rebuild;
	u64 bad = wait->failed, once = asked_once(rebuild->array, block->sector);

	wait->failed = 0;
	wait->left = 1;
	rebuild->result->bad_reads += hweight64(bad);
	switch (block->step) {
	case STEP_READ:
		if (bad & ~block->again & ~once) {
			block->bad |= bad & (block->again | once);
			block->again |= bad;
			send_to(rebuild, bad & ~block->bad, DISK_READ, block);
			break;
		}
		block->bad |= bad;
		block->step = STEP_WRITE;
		if (block->bad && hweight64(rebuild->new | block->bad) >
				  layout_parities(&array->setup.layout)) {
			rebuild->result->lost++;
			block_end(rebuild, block);
			return;
		}
		if (MODEL_PLANTED(forgotten))
			block->bad = 0;
		rebuild->wakes_server = true;
		if (rebuild->updating || rebuild->due) {
			hold(rebuild, block);
			return;
		}
		send_to(rebuild, block->targets | block->bad, DISK_WRITE, block);
		break;
	case STEP_WRITE:
		if (!block->bad) {
			block_end(rebuild, block);
			return;
		}
		rebuild->result->mended += hweight64(block->bad);
		block->step = STEP_MEND;
		send_to(rebuild, block->bad, DISK_WRITE, block);
		break;
	case STEP_MEND:
		block->step = STEP_AGAIN;
		send_to(rebuild, block->bad, DISK_READ, block);
		break;
	case STEP_AGAIN:
		block_end(rebuild, block);
		return;
	}
	array_put(array, wait);
}

/* Superblocks: of each member a flush, and then a write */

static void superblocks_begin(struct rebuild *rebuild);

static void superblocks_written(struct array *array, struct array_wait *wait)
{
	struct rebuild *rebuild = (struct rebuild *)((char *)wait -
						     offsetof(struct rebuild, superblocks));

	rebuild->updating = false;
	if (rebuild->filler == FILLER_LEADS)
		return;
	if (rebuild->filler == FILLER_UPDATES && rebuild->next < rebuild->how->sectors)
		rebuild->filler = FILLER_GOES;
	else if (rebuild->filler == FILLER_UPDATES && rebuild->last)
		rebuild->filler = FILLER_DONE;
	else if (rebuild->filler == FILLER_UPDATES)
		rebuild->last = true;
	release(rebuild);
	if (rebuild->last && rebuild->filler == FILLER_UPDATES)
		superblocks_begin(rebuild);
}

static void superblock_flushed(struct array *array, struct array_wait *wait)
{
	struct rebuild_superblock *one = (struct rebuild_superblock *)wait;
	struct rebuild *rebuild = one->rebuild;

	send(rebuild, one->member, DISK_WRITE, DISK_SYNC | DISK_FUA, rebuild->how->superblock,
	     SUPERBLOCK, &rebuild->superblocks);
	array_put(array, &rebuild->superblocks);
}

static void superblocks_begin(struct rebuild *rebuild)
{
	u32 i, members = rebuild->array->setup.layout.members;

	rebuild->updating = true;
	rebuild->superblocks = (struct array_wait){ .left = members,
						    .done = superblocks_written };
	for (i = 0; i < members; i++) {
		struct rebuild_superblock *one = &rebuild->of_member[i];

		*one = (struct rebuild_superblock){ .wait = { .done = superblock_flushed },
						    .rebuild = rebuild, .member = i };
		send(rebuild, i, DISK_FLUSH, DISK_SYNC, 0, 0, &one->wait);
	}
}

/* The filler */

static u64 ticks(const struct rebuild *rebuild)
{
	return div64_u64(rebuild->array->now - rebuild->array->begun + rebuild->how->after_tick,
			 rebuild->tick);
}

/* A timer rounds up by one tick. */
static void filler_sleeps(struct rebuild *rebuild, u64 nr)
{
	rebuild->filler = FILLER_SLEEPS;
	rebuild->wakes = rebuild->array->begun + (ticks(rebuild) + nr + 1) * rebuild->tick -
			 rebuild->how->after_tick;
}

static bool update_is_due(const struct rebuild *rebuild)
{
	return rebuild->next - rebuild->updated > rebuild->how->sectors >> 4 ||
	       ticks(rebuild) >= rebuild->updated_at + (u64)UPDATE_S * rebuild->how->hz;
}

static u32 list_of(const struct rebuild *rebuild)
{
	return rebuild->next / ARRAY_BLOCK % LISTS;
}

static bool take_stripe(struct rebuild *rebuild)
{
	u32 list = list_of(rebuild);

	if (!rebuild->free[list])
		return false;
	rebuild->free[list]--;
	rebuild->used++;
	return true;
}

/* Who is the 32nd, of RAID-10 the 512th, waits until one of the others is done. */
static bool take_block(struct rebuild *rebuild)
{
	u32 *unit = &rebuild->in_unit[rebuild->next / MIRROR_UNIT % 2], parts = 1;
	u32 depth = MIRROR_DEPTH;

	if (!rebuild->mirror)
		return take_stripe(rebuild);
	if (rebuild->ten) {
		unit = &rebuild->parts;
		parts = parts_of_ten(rebuild);
		depth = TEN_DEPTH;
	}
	if (*unit + parts >= depth)
		return false;
	*unit += parts;
	return true;
}

/* The filler of a mirror sends its reads itself: it waits for room in a queue. */
static bool is_blocked(const struct rebuild *rebuild)
{
	u32 i;

	for (i = 0; rebuild->mirror && i < rebuild->array->setup.layout.members; i++)
		if (!(rebuild->new >> i & 1) &&
		    rebuild->array->members[i].waiting[DISK_READ].first)
			return true;
	return false;
}

/* md's speed: since the oldest mark, with the sectors that are under way left out. */
static bool is_too_fast(struct rebuild *rebuild)
{
	u64 done = rebuild->next - rebuild->active, now = ticks(rebuild);
	u32 hz = rebuild->how->hz, next;

	if (now >= rebuild->mark[rebuild->last_mark] + (u64)MARK_S * hz) {
		next = (rebuild->last_mark + 1) % MARKS;
		rebuild->speed_mark = rebuild->mark[next];
		rebuild->speed_done = rebuild->mark_done[next];
		rebuild->mark[next] = now;
		rebuild->mark_done[next] = done;
		rebuild->last_mark = next;
	}
	return div64_u64((done - rebuild->speed_done) / 2,
			 div64_u64(now - rebuild->speed_mark, hz) + 1) + 1 >
	       rebuild->how->speed_max;
}

static void look_at_speed(struct rebuild *rebuild)
{
	rebuild->looks = is_too_fast(rebuild);
	if (rebuild->looks)
		filler_sleeps(rebuild, (u64)LIMITED_MS * rebuild->how->hz / 1000);
}

static void filler_goes(struct rebuild *rebuild)
{
	if (is_blocked(rebuild)) {
		rebuild->filler = FILLER_BLOCKS;
		return;
	}
	if (rebuild->looks) {
		look_at_speed(rebuild);
		return;
	}
	if (rebuild->next == rebuild->how->sectors) {
		rebuild->filler = FILLER_DRAINS;
		return;
	}
	if (!rebuild->taken && update_is_due(rebuild)) {
		rebuild->filler = FILLER_DRAINS;
		return;
	}
	if (!rebuild->taken && !take_block(rebuild)) {
		rebuild->filler = FILLER_WAITS;
		rebuild->grows = !rebuild->mirror;
		return;
	}
	rebuild->taken = false;
	block_begin(rebuild);
	if (rebuild->last_check + WINDOW > rebuild->next ||
	    rebuild->next == rebuild->how->sectors)
		return;
	rebuild->last_check = rebuild->next;
	look_at_speed(rebuild);
}

/* It has waited for a block. */
static bool filler_takes(struct rebuild *rebuild)
{
	if (!rebuild->mirror && rebuild->used >= rebuild->stripes * 3 / 4)
		return false;
	if (!take_block(rebuild))
		return false;
	rebuild->taken = true;
	if (rebuild->mirror)
		rebuild->filler = FILLER_GOES;
	else
		filler_sleeps(rebuild, 1);
	return true;
}

/* Returns false if it cannot go on now. */
static bool filler_step(struct rebuild *rebuild)
{
	switch (rebuild->filler) {
	case FILLER_GOES:
		filler_goes(rebuild);
		return true;
	case FILLER_WAITS:
		return filler_takes(rebuild);
	case FILLER_BLOCKS:
		if (is_blocked(rebuild))
			return false;
		rebuild->filler = FILLER_GOES;
		return true;
	case FILLER_SLEEPS:
		if (rebuild->array->now < rebuild->wakes)
			return false;
		rebuild->filler = FILLER_GOES;
		return true;
	case FILLER_DRAINS:
		if (rebuild->active || rebuild->updating)
			return false;
		rebuild->updated = rebuild->next;
		rebuild->updated_at = ticks(rebuild);
		if (rebuild->mirror && rebuild->next < rebuild->how->sectors) {
			rebuild->filler = FILLER_GOES;
			rebuild->due = true;
			rebuild->wakes_server = false;
			return true;
		}
		rebuild->filler = FILLER_UPDATES;
		superblocks_begin(rebuild);
		return true;
	default:
		return false;
	}
}

/* The whole */

static void unplug(struct rebuild *rebuild)
{
	struct array *array = rebuild->array;
	u32 i;

	for (i = 0; i < array->setup.layout.members; i++)
		disk_unplug(array->members[i].disk, &rebuild->plugs[i], false,
			    array->now + array->members[i].phase);
}

/* The threads have done all that they can do now. */
static void threads_go(struct rebuild *rebuild)
{
	unplug(rebuild);
	while (filler_step(rebuild))
		;
	if (rebuild->due && rebuild->wakes_server) {
		rebuild->due = false;
		superblocks_begin(rebuild);
	}
	if (rebuild->grows) {
		rebuild->free[rebuild->stripes++ % LISTS]++;
		rebuild->grows = false;
	}
	unplug(rebuild);
}

/* Until @now, if it does not end before. */
static void run_until(struct rebuild *rebuild, u64 now)
{
	struct array *array = rebuild->array;
	u64 when;

	while (rebuild->filler != FILLER_DONE && !array->failed && array->now < now) {
		when = min(array_next_event(array), now);
		if (rebuild->filler == FILLER_SLEEPS)
			when = min(when, rebuild->wakes);
		array_advance(array, when);
		threads_go(rebuild);
	}
}

/* So that the angles are those after the lead. */
static void turn(struct rebuild *rebuild)
{
	u64 revolution = rebuild->array->setup.profile->revolution;
	u32 i;

	if (!rebuild->how->angles || !revolution)
		return;
	for (i = 0; i < rebuild->array->setup.layout.members; i++)
		rebuild->array->members[i].phase = rebuild->how->angles[i] + revolution -
						   LEAD % revolution;
}

/* What is before it is nobody's. */
static void start(struct rebuild *rebuild)
{
	struct array *array = rebuild->array;
	u32 i;

	for (i = 0; i < array->setup.layout.members; i++) {
		array->members[i].figures = (struct array_member_figures){ };
		if (rebuild->how->of_member && rebuild->how->of_member[i])
			array_set_faults(array, i, rebuild->how->of_member[i]);
	}
	array->begun = array->now;
	array->busy_since = array->now;
	array->busy = 0;
	array->outstanding++;
	rebuild->wakes_server = true;
	rebuild->due = rebuild->mirror;
	rebuild->filler = rebuild->mirror ? FILLER_GOES : FILLER_UPDATES;
	if (!rebuild->mirror)
		superblocks_begin(rebuild);
	threads_go(rebuild);
}

static void run(struct rebuild *rebuild)
{
	struct array *array = rebuild->array;

	turn(rebuild);
	rebuild->filler = FILLER_LEADS;
	superblocks_begin(rebuild);
	unplug(rebuild);
	run_until(rebuild, LEAD);
	start(rebuild);
	run_until(rebuild, NEVER);
	array->outstanding--;
	array->busy += array->now - array->busy_since;
}

static void begin(struct rebuild *rebuild)
{
	const struct array_setup *setup = &rebuild->array->setup;
	u32 i;

	rebuild->all = U64_MAX >> (64 - setup->layout.members);
	rebuild->new = setup->failed;
	rebuild->tick = div_u64(1000000000, rebuild->how->hz);
	rebuild->ten = setup->layout.level == ARRAY_10;
	rebuild->mirror = rebuild->ten || setup->layout.level == ARRAY_1;
	rebuild->block = rebuild->mirror ? MIRROR_BLOCK : ARRAY_BLOCK;
	rebuild->stripes = rebuild->mirror ? 0 : setup->stripe_cache;
	for (i = 0; i < rebuild->stripes; i++)
		rebuild->free[i % LISTS]++;
}

int array_rebuild(struct array *array, const struct array_rebuild *how,
		  struct array_rebuilt *result)
{
	u32 members = array->setup.layout.members;
	struct rebuild rebuild = { .array = array, .how = how, .result = result };

	*result = (struct array_rebuilt){ };
	begin(&rebuild);
	rebuild.plugs = kvcalloc(members, sizeof(*rebuild.plugs), GFP_KERNEL);
	rebuild.of_member = kvcalloc(members, sizeof(*rebuild.of_member), GFP_KERNEL);
	if (rebuild.plugs && rebuild.of_member) {
		array->setup.failed = 0;	/* each is there, and is counted */
		run(&rebuild);
		result->ns = array->now - array->begun;
		result->stripes = rebuild.stripes;
	} else {
		array->failed = true;
	}
	kvfree(rebuild.plugs);
	kvfree(rebuild.of_member);
	return array->failed ? -ENOMEM : 0;
}
