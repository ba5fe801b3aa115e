/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implicit evidence (classifier/classifier.h) in a running kernel: what the
 * writes themselves say, for disks whose file system is mounted elsewhere, by a
 * guest or over a network, so that page owners say nothing. With classify=auto
 * it is heard besides the page owners, where it says metadata and they do not.
 *
 * Each write is looked at once, in the order of arrival, before anything else
 * happens to it: the classifier learns from it, and the request carries what it
 * said. What the classifier wants to read, a worker reads from the fake disk
 * itself, by a request of the module's own (david_internal_request()).
 *
 * Blocks that nothing decides about at once are kept. When it is found that they
 * are data, the worker drops their content: by such a request, too, a discard,
 * so that its range lock keeps writes to them apart. The worker has a workqueue to
 * itself, as it waits for requests that d->wq may have to serve.
 */
#ifndef DM_DAVID_IMPLICIT_H
#define DM_DAVID_IMPLICIT_H

#include <linux/bio.h>
#include "../uapi/dm-david.h"

struct david;
struct implicit;

/* The most runs of different evidence that a request carries; the last is the worst of the rest. */
#define IMPLIED_RUNS	6

/*
 * Evidence of a request's sectors, from left to right; no runs: nothing is known. With
 * classify=auto all but what says metadata is DAVID_EV_IMPLIED.
 */
struct implied {
	unsigned int runs;
	struct {
		u32 end;	/* sectors from the request's start */
		u8 evidence;	/* enum david_evidence */
		u8 has_csum;	/* dropped now or later, its checksums are to be kept: csum.h */
	} run[IMPLIED_RUNS];
};

/* @d->store is there. Returns NULL without memory. Sleeps. */
struct implicit *implicit_create(struct david *d);
/* The device is suspended, or was never resumed. Takes NULL. Sleeps. */
void implicit_destroy(struct implicit *im);

/* Look at the write @bio at @sector of the target. Process context. */
void implicit_write(struct implicit *im, struct bio *bio, sector_t sector, struct implied *implied);
/* Sectors are discarded, or set to zeros without a write. */
void implicit_discard(struct implicit *im, sector_t sector, sector_t sectors);

/* The disk is flushed. */
void implicit_flush(struct implicit *im);

/* The sectors are read by the disk's user, and by whom may be told from that. */
void implicit_read(struct implicit *im, sector_t sector, sector_t sectors);

/*
 * Drop the content of the blocks among these that are stored, are known to be
 * data, and were not written since. The caller holds a range lock. May sleep.
 */
void implicit_squash(struct implicit *im, sector_t sector, sector_t sectors);

/* The evidence of the @n sectors, @pos sectors behind the request's start: the worst there is. */
enum david_evidence implied_at(const struct implied *implied, u32 pos, u32 n);

/* Are checksums to be kept of any of these? */
bool implied_csum(const struct implied *implied, u32 pos, u32 n);

/*
 * RAW rules are about to be taken away, and were: what is not decided by then stays kept, as
 * if they were still there.
 */
void implicit_rules_going(struct implicit *im);
void implicit_rules_gone(struct implicit *im);
/* Some were added. */
void implicit_rules_added(struct implicit *im);

/* From presuspend on no reads of its own, from resume (or presuspend_undo) on again. Sleeps. */
void implicit_stop(struct implicit *im);
void implicit_start(struct implicit *im);

#endif
