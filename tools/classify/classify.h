/* SPDX-License-Identifier: GPL-2.0 */
/* david-classify: the classifier of dm-david in user space, over images and recorded writes. */
#ifndef CLASSIFY_H
#define CLASSIFY_H

#include "../../classifier/classifier.h"
#include "kinds.h"
#include "mapped.h"

/* Exit statuses. */
enum {
	STATUS_OK,
	STATUS_FAILED = 1,	/* no known file system, nothing to be read, wrong usage */
	STATUS_DAMAGED = 2,	/* some of it made no sense and is not in what was printed */
};

struct image_options {
	const char *path;
	bool json;
	bool summary;		/* counts only, no ranges */
	u32 window;		/* see struct mapped */
};

int classify_image(const struct image_options *options);

/* What the blocks of one volume are, to be printed. */
struct picture {
	const char *type;
	u64 start;		/* sector on the disk */
	u32 block_size;		/* bytes */
	u64 blocks;
	u64 errors;
	bool bigalloc;
	struct kinds kind;	/* by block */
	unsigned int kinds;
	const char *(*name)(u8 kind);
	bool (*is_metadata)(u8 kind);
};

void print_picture(const struct picture *p, const struct image_options *options);

/*
 * A btrfs or xfs at the beginning of that part: p->kind is to be freed. False: there is none.
 * *sectors is its length.
 */
bool picture_btrfs(struct picture *p, const struct view *view, u64 *sectors);
bool picture_xfs(struct picture *p, const struct view *view, u64 *sectors);

struct lifelog_options {
	const char *log;	/* of dm-log-writes */
	const char *out;	/* what the store would hold, with noise for squashed blocks */
	u64 bytes;		/* of the disk */
	size_t log_limit;
	u64 undecided;	/* bytes that may wait for an inode */
	u64 tear;		/* a seed: divide requests and mix their parts; 0: do not */
	bool across;		/* ... and across flushes, too */
	u64 lag;		/* entries of the log from one turn of the worker to the next */
	bool by_super;		/* superblocks tell what is mounted, not marks: as in the target */
	u64 from;		/* first entry that the classifier sees */
	u64 until;		/* entry in front of which to stop */
};

int classify_lifelog(const struct lifelog_options *options);

#endif
