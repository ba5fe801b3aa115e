// SPDX-License-Identifier: GPL-2.0
/*
 * The life of a request between david_map() and david_end_io(). It is served one piece after the
 * other. It is deferred when a piece lacks memory, room or a checksum, and a worker resumes it. It
 * ends when its last child bio has ended.
 */
#include "io.h"
#include "twin.h"

static void serve_work(struct work_struct *work);

void io_queue(struct david_io *io)
{
	INIT_WORK(&io->work, serve_work);
	queue_work(io->d->wq, &io->work);
}

void io_put(struct david_io *io)
{
	if (!atomic_dec_and_test(&io->pending))
		return;
	if (unlikely(io->unshared && !(io->at_end & END_AGAIN)) && !io->status)
		share_again(io);
	if (io->iter.bi_size && !io->status) {
		io_queue(io);
		return;
	}
	io->bio->bi_status = io->status;
	bio_endio(io->bio);
}

static void csum_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);
	blk_status_t status = csum_fetch(&io->d->csum_io, &io->want);

	if (unlikely(status))
		WRITE_ONCE(io->status, status);
	io_put(io);
}

enum served defer_for_csum(struct david_io *io)
{
	atomic_inc(&io->pending);
	INIT_WORK(&io->work, csum_work);
	queue_work(io->d->wq, &io->work);
	return SERVED_DEFER;
}

enum served io_fail(struct david_io *io, blk_status_t status)
{
	cmpxchg(&io->status, BLK_STS_OK, status);
	return SERVED_FAILED;
}

/* Raise the table-full event once per episode. set_credits() and store_make_room() re-arm it. */
static void notify_table_full(struct david *d)
{
	struct store *store = d->store;
	unsigned long flags;
	bool told;

	spin_lock_irqsave(&store->lock, flags);
	told = store->table_warned;
	store->table_warned = true;
	spin_unlock_irqrestore(&store->lock, flags);
	if (told)
		return;
	atomic_or(DAVID_NOTICE_TABLE, &d->notices);
	queue_work(d->wq, &d->event);
}

enum served reservation_failed(struct david_io *io, gfp_t gfp)
{
	if (!gfpflags_allow_blocking(gfp))
		return SERVED_DEFER;
	if (store_refused(io->d->store) == BLK_STS_NOSPC) {
		this_cpu_inc(io->d->store->stats->nospc);
		notify_table_full(io->d);
	}
	return io_fail(io, store_refused(io->d->store));
}

static enum served serve_piece(struct david_io *io, struct stopwatch *timer, bool may_remap,
			       struct span *span)
{
	struct rt_range r;

	switch (bio_op(io->bio)) {
	case REQ_OP_READ:
		store_lookup(io->d->store, io_first_block(io), &r);
		return serve_read_range(io, timer, &r, may_remap);
	case REQ_OP_DISCARD:
		if (unlikely(io->at_end & END_INTERNAL))
			return io->at_end & END_PACK ? serve_pack(io) : serve_squash(io);
		return serve_discard(io, timer);
	case REQ_OP_ZONE_FINISH:
	case REQ_OP_ZONE_RESET:
		return zoned_serve(io);
	default:
		if (unlikely(io->at_end & END_INTERNAL))
			return serve_twin(io, timer);
		return serve_write(io, timer, may_remap, span);
	}
}

int io_go_on(struct david_io *io, struct stopwatch *timer, bool may_remap, enum served served)
{
	while (served == SERVED && io->iter.bi_size && !READ_ONCE(io->status))
		served = serve_piece(io, timer, may_remap, NULL);

	if (served == SERVED_REMAPPED)
		return DM_MAPIO_REMAPPED;
	io_put(io);
	return DM_MAPIO_SUBMITTED;
}

int io_serve(struct david_io *io, struct stopwatch *timer, bool may_remap, struct span *span)
{
	atomic_set(&io->pending, 1);
	return io_go_on(io, timer, may_remap, serve_piece(io, timer, may_remap, span));
}

static void serve_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);
	struct stopwatch timer;

	/* A worker may sleep in the backing device, too. */
	io->in_worker = true;
	io->bio->bi_opf &= ~REQ_NOWAIT;
	stopwatch_start(&timer, io->d->store->stats);
	io_serve(io, &timer, false, NULL);
}
