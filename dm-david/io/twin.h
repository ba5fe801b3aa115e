/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Content of RAW files that is, or was, dropped elsewhere: store/twins.h, with requests. Only while
 * there are RAW rules for files, on a file system that can give a file the blocks of another.
 *
 * A file system that deduplicates waits until both files are written, or read. So a request that
 * brings RAW content ends when the content stands wherever it was dropped.
 */
#ifndef DM_DAVID_TWIN_H
#define DM_DAVID_TWIN_H

#include "io.h"

/*
 * RAW rules are there, perhaps, or a table is about to become live: make the tables, if they may be
 * needed. Sleeps, but not for I/O.
 */
void twin_prepare(struct david *d);

void twin_work(struct work_struct *work);

static inline bool twin_any(const struct david *d)
{
	return raw_any(&d->store->raw) && READ_ONCE(d->owners.may_share);
}

/*
 * The verdict is @judged on the block that is the next @bytes from @from on: data that is dropped,
 * or a RAW file's. Dropped data that a RAW file has is kept; until there are tables, all is.
 * Process context.
 */
void twin_judge(struct david_io *io, const struct bvec_iter *from, unsigned int bytes,
		struct judgement *judged);

/*
 * A read of the stored blocks of @r begins. If a RAW file reads, their content is looked at when
 * the read ends. Process context.
 */
void twin_see_read(struct david_io *io, const struct rt_range *r);

/*
 * The request has END_TWIN, and has ended but for that: a worker stores its content where that was
 * dropped, then completes it again. Any context.
 */
void twin_finish(struct david_io *io);

/* A write of the module's own: it stores the block only if that is still dropped. */
enum served serve_twin(struct david_io *io, struct stopwatch *timer);

#endif
