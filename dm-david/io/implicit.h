/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Implicit evidence (classifier/classifier.h) in a running kernel. It comes from the writes
 * themselves. It serves disks whose file system is mounted elsewhere, by a guest or over a network,
 * so that there are no page owners. With classify=auto there are page owners, and implicit evidence
 * can only object to them.
 *
 * Each write is shown to the classifier once, in the order of arrival, before anything else happens
 * to it. The request carries the evidence (implicit-evidence.h). A worker reads the blocks that the
 * classifier asks for from the fake disk itself, by a request of the module's own
 * (david_internal_request()).
 *
 * Undecided blocks are kept. If they turn out to be data, the worker squashes them, by a discard of
 * the module's own. Its range lock excludes writes to these blocks. The worker has a workqueue of
 * its own, as it waits for requests that d->wq may have to serve.
 */
#ifndef DM_DAVID_IMPLICIT_H
#define DM_DAVID_IMPLICIT_H

#include <linux/bio.h>

struct david;
struct implicit;
struct implicit_evidence;

/* @d->store is there. Returns NULL without memory. Sleeps. */
struct implicit *implicit_create(struct david *d);
/* The device is suspended, or was never resumed. Takes NULL. Sleeps. */
void implicit_destroy(struct implicit *im);

/* Look at the write @bio at @sector of the target. Its evidence goes to @out. Process context. */
void implicit_write(struct implicit *im, struct bio *bio, sector_t sector,
		    struct implicit_evidence *out);
/* Sectors are discarded, or set to zeros without a write. */
void implicit_discard(struct implicit *im, sector_t sector, sector_t sectors);

/* The disk is flushed. */
void implicit_flush(struct implicit *im);

/* The disk's user reads the sectors. Reads may show the mount state. */
void implicit_read(struct implicit *im, sector_t sector, sector_t sectors);

/*
 * Squash the stored blocks among these that are data, and that were not written since that is
 * known. The caller holds a range lock. May sleep.
 */
void implicit_squash(struct implicit *im, sector_t sector, sector_t sectors);

/*
 * Call implicit_rules_going() before RAW rules are removed, implicit_rules_gone() after. Blocks
 * that are undecided by then stay kept, as if the rules were still there.
 */
void implicit_rules_going(struct implicit *im);
void implicit_rules_gone(struct implicit *im);
/* RAW rules were added. */
void implicit_rules_added(struct implicit *im);

/* Stop the module's own requests at presuspend; go on at resume or presuspend_undo. Sleeps. */
void implicit_stop(struct implicit *im);
void implicit_start(struct implicit *im);

#endif
