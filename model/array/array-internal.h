/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of an array share: array.c is the engine, array-member.c a member,
 * array-stripe.c writes with parity, array-mend.c reads that fail.
 */
#ifndef DAVID_ARRAY_INTERNAL_H
#define DAVID_ARRAY_INTERNAL_H

#include "../host/request-list.h"
#include "array.h"

#define NEVER	U64_MAX

/* Somebody who goes on when several things are done. */
struct array_wait {
	u32 left;
	bool mends;			/* a user's read: what fails is got from elsewhere, */
	bool lost;			/* or it could not be */
	bool missed;			/* a drive's cache was not enough for something of it */
	u64 failed;			/* members of which a request failed */
	u64 moved, cached;		/* sectors that were asked for; of these parts.cached */
	void (*done)(struct array *array, struct array_wait *wait);
};

struct member_request {
	struct disk_request disk;
	struct array_wait *wait;
	struct array_wait *then;	/* a read: its place is written, and this waits for it */
	u64 submitted;			/* the array's time */
	u64 end;			/* sector, counted from where data begin */
	u32 member;
	u32 extra;			/* sectors that nobody asked for */
	bool mends;			/* array-mend.c's: no place of the head to md */
};

/* What a member has served is the array's own. */
static inline struct member_request *as_member_request(struct disk_request *request)
{
	return (struct member_request *)request;	/* @disk is its beginning */
}

struct array_member {
	struct disk *disk;		/* NULL: constant service time */
	u64 constant;
	u64 phase;			/* added to the array's clock */
	struct disk_submitter who;
	struct disk_plug plug;		/* array-mend.c: of the requests of now */
	u32 read_errors;
	struct request_list waiting[2];	/* for room in the disk's queue, by direction */
	struct request_list line;	/* constant: the first one is being served */
	u64 ends, began;		/* constant: when it is done; in which order it began */
	u32 outstanding;
	u32 planned;			/* pieces of the request that is being divided */
	u64 head, next_sequential;	/* md's head_position, next_seq_sect */
	u64 busy_since;
	struct array_member_figures figures;	/* but waiting and idle */
};

/* Runs of sectors on members, those that follow on one another as one. */
struct array_extent {
	u64 sector;
	u32 sectors;
	u32 extra;			/* of these: nobody asked for them */
	u32 member;
};

struct array_extents {
	struct array_extent *all;
	u32 nr, room;
	u32 last[ARRAY_MEMBERS];	/* by member: index of its last one, plus 1; 0: none */
};

struct stripe_op;
struct stripe_cache;
struct mend;
struct parent;

struct array {
	struct array_setup setup;
	struct array_member *members;
	u64 now;
	u64 begun;			/* since when idle time counts */
	u32 outstanding;		/* requests of its user */
	u64 busy, busy_since;		/* ns with any */
	u64 began;			/* constant members: services begun so far */
	u32 turn;			/* round robin */
	bool failed;
	bool beyond;			/* md would have taken a member out */
	bool several;			/* a read failed beside another request */
	bool copies_bad;		/* a mirror: two copies of a block could not be read */
	bool part_written;		/* of a row, and more than a block of 4 KiB */
	bool joined;			/* pieces went to a member as one, and not with md */
	bool plugged;			/* some member's plug has something */
	bool frozen;			/* mirrors: requests wait in @held, */
	struct parent *held;
	struct mend *mends, *mending;	/* for these; oldest first */
	struct request_list done;
	struct stripe_op *ops;		/* oldest first */
	struct stripe_cache *cache;
	u32 prereading;			/* ops that read before they write */
};

/* Do the members' hosts join what a task has sent while it plugs? Constant ones have none. */
static inline bool array_has_plugs(const struct array_setup *setup)
{
	return setup->constant || setup->profile->host == HOST_BLK_MQ;
}

static inline bool member_works(const struct array *array, u32 member)
{
	return !(array->setup.failed >> member & 1);
}

/* array.c */
void array_put(struct array *array, struct array_wait *wait);
/* @extra: the array's user did not ask for them. */
void extents_add(struct array *array, struct array_extents *extents, u32 member, u64 sector,
		 u32 sectors, bool extra);
/* Send them all, and forget them. @wait gets one more to wait for with each. */
void extents_send(struct array *array, struct array_extents *extents, enum disk_op op, u8 flags,
		  struct array_wait *wait);

/* The same for reads whose places are each written as soon as it has been read. */
void extents_replace(struct array *array, struct array_extents *extents, u8 flags,
		     struct array_wait *reads, struct array_wait *writes);

/* What @member has there is read from the copy that md chooses; for @wait. */
void copies_read_again(struct array *array, u32 member, u64 sector, u32 sectors,
		       struct array_wait *wait);
void array_serve_held(struct array *array);

/* array-stripe.c: has the stripe cache the block at @sector of @member; now it has @members'. */
bool stripes_know(const struct array *array, u32 member, u64 sector);
void stripes_learn(struct array *array, u64 members, u64 sector);

/* array-mend.c: @request is a user's read, and has failed. */
void mend_begin(struct array *array, const struct member_request *request);
/* One of array-mend.c's has ended. */
void mend_count(struct array *array, const struct member_request *request);
/* To be called when all that happens now has happened. */
void mend_go_on(struct array *array);
/* The members that md does not ask a second time for what they could not read: RAID-6's P. */
u64 asked_once(const struct array *array, u64 sector);

/* array-member.c: returns 0 or -ENOMEM */
int member_init(struct array_member *member, const struct array_setup *setup, u64 phase,
		gfp_t gfp);
void member_exit(struct array_member *member);
/* @extra: sectors of it that the array's user did not ask for. */
void member_submit(struct array *array, struct array_member *member,
		   struct member_request *request, u32 extra);
u64 member_next_event(const struct array_member *member);
/* What is done at array->now, linked by disk.next. */
struct disk_request *member_advance(struct array *array, struct array_member *member);

/* array-stripe.c */
int stripes_init(struct array *array, gfp_t gfp);
void stripes_exit(struct array *array);
void stripes_read(struct array *array, const struct disk_request *request,
		  struct array_wait *wait);
void stripes_write(struct array *array, const struct disk_request *request,
		   struct array_wait *wait);

#endif
