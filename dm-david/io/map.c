// SPDX-License-Identifier: GPL-2.0
/*
 * Where a request comes in (david_map) and where it ends (david_end_io).
 *
 * A request covers blocks that are stored on the backing device, squashed, constant or never
 * written, in any mixture, and begins and ends at any sector. It is served as the one request that
 * it is: from left to right, one piece at a time. A piece is as long a run as can be treated alike.
 *
 *   piece                        what happens
 *   write, constant blocks       range table: FILL
 *   write, data                  range table: SQUASHED
 *   write, kept, stored already  child bio to the same destination
 *   write, kept, else            allocate, child bio; range table: STORED once it is written
 *   write, part of a block       as above, if need be after the rest of the block was copied or
 *                                made up into a bounce page
 *   read                         child bio, or content made up in place
 *   discard, write zeroes        range table only
 *
 * Three ways are shorter. A request that is one piece for the backing device needs no child bio:
 * the clone that device-mapper made is remapped. A write of one piece without I/O, and a read
 * without I/O, are done at once, without a range lock (map_write(), map_read()).
 *
 * Waiting and progress: a submitter does not sleep for memory (io_gfp()), since child bios of the
 * same request may be queued behind this very call. If a piece gets no memory, the request is
 * deferred: it goes on from a worker when its own child bios have returned. A worker may sleep for
 * memory, from mempools if need be. What it has sent is on its way, and returns its elements of the
 * mempools without that worker.
 *
 * A disk with a profile has its times, too: map_timed(). The model sees the whole request, before
 * it is cut into pieces.
 */
#include "io.h"

#include "../base/inject.h"
#include "../owner/stack.h"
#include "twin.h"

const unsigned int david_io_size = sizeof(struct david_io);

static int map_locked(struct david_io *io, struct stopwatch *timer, struct span *span)
{
	struct store *store = io->d->store;
	unsigned long flags;
	bool granted;

	io_lock_range(io);
	spin_lock_irqsave(&store->lock, flags);
	granted = range_lock(&store->locks, &io->lock);
	spin_unlock_irqrestore(&store->lock, flags);
	if (unlikely(!io_may_begin(io, granted)))
		return DM_MAPIO_SUBMITTED;
	return io_serve(io, timer, true, span);
}

/* Nobody has sent it on, as far as is known. */
static inline void init_top(struct david_io *io, struct david *d, const struct bio *bio)
{
	io->top = (struct owner_top){
		.dev = &d->owners.disk,
		.offset = d->ti->begin,
		.is_aligned = true,
		.is_direct = owner_is_direct(bio->bi_opf),
	};
}

/* The first blocks are of @span. Is all of it data, other legs of a mirror need not ask again. */
static void tell_legs(const struct david_io *io, const struct span *span)
{
	if (io->top.dev != &io->d->owners.disk && span->r.kind == RT_SQUASHED &&
	    span->evidence == DAVID_EV_FILE &&
	    span->r.len == io->iter.bi_size / io->d->store->block_size)
		stack_found_data(&io->top, io->bio, io->iter.bi_sector);
}

/* All blocks of @span, which is all of the request, are kept, and no special case is. */
static __always_inline
int map_kept(struct david_io *io, struct stopwatch *timer, const struct span *span)
{
	enum served served;

	io_lock_range(io);
	io->remapped_piece = (struct piece){ .block = span->r.start, .blocks = span->r.len };
	atomic_set(&io->pending, 1);
	served = lock_and_send(io, timer);
	if (unlikely(served == SERVED_WAITS))
		return DM_MAPIO_SUBMITTED;
	if (likely(served == SERVED_REMAPPED)) {
		io_count_blocks(io, timer, span, span->r.len);
		stopwatch_account(timer, DAVID_CPU_MAP);
		return DM_MAPIO_REMAPPED;
	}
	if (served == SERVED)
		io_count_blocks(io, timer, span, io->remapped_piece.blocks);
	return io_go_on(io, timer, true, served);
}

/* Inlined twice: a call would cost each write of a disk without zones 26 instructions. */
static __always_inline int map_write_now(struct david_io *io, struct stopwatch *timer)
{
	struct david *d = io->d;
	struct store *store = d->store;
	struct span span __uninit;

	owner_cache_init(&io->owners);
	/* Does it begin or end within a block? A block has 4 KiB at most: 32 bits tell. */
	if (((u32)io->iter.bi_sector << SECTOR_SHIFT | io->iter.bi_size) &
	    (store->block_size - 1))
		return map_locked(io, timer, NULL);

	judge_blocks(io, timer, &span);
	if (static_branch_unlikely(&stack_is_watched))
		tell_legs(io, &span);
	if (unlikely(may_have_csums(d) || store->exact) ||
	    span.r.len < io->iter.bi_size >> (store->block_shift + SECTOR_SHIFT))
		return map_locked(io, timer, &span);
	if (span.r.kind == RT_STORED) {
		if (unlikely(store->share || io->wants_worker))
			return map_locked(io, timer, &span);
		return map_kept(io, timer, &span);
	}
	/* No I/O, and of one piece: done at once, unless there is somebody to wait for. */
	if (unlikely(!store_set_at_once(store, &span.r)))
		return map_locked(io, timer, &span);
	io_count_blocks(io, timer, &span, span.r.len);
	stopwatch_account(timer, DAVID_CPU_MAP);
	bio_endio(io->bio);
	return DM_MAPIO_SUBMITTED;
}

int map_write(struct david_io *io, struct stopwatch *timer)
{
	return map_write_now(io, timer);
}

int map_zone(struct david_io *io, struct stopwatch *timer)
{
	struct store *store = io->d->store;
	struct rt_range r;
	unsigned long flags;
	bool granted;

	zoned_range(io, &r);
	io->lock.start = r.start;
	io->lock.last = r.start + r.len - 1;
	io->lock.shared = false;
	io->at_end |= END_UNLOCK;
	spin_lock_irqsave(&store->lock, flags);
	granted = range_lock(&store->locks, &io->lock);
	spin_unlock_irqrestore(&store->lock, flags);
	return io_may_begin(io, granted) ? io_serve(io, timer, false, NULL) : DM_MAPIO_SUBMITTED;
}

/*
 * Its submitter must not sleep (REQ_NOWAIT). A worker submits it instead if the backing device may
 * sleep. One that can do without sleeping may refuse the request, and then it is the submitter's to
 * try again, or send_again()'s.
 */
static void begin_nowait(struct david_io *io)
{
	io->wants_worker = !bdev_nowait(io->d->dev->bdev);
	if (io->wants_worker)
		io->bio->bi_opf &= ~REQ_NOWAIT;
}

/* model-only: the backing device holds all, and at its own place. */
static int map_through(struct david_io *io, enum david_request kind)
{
	struct david *d = io->d;
	struct bio *bio = io->bio;
	bool able = true;

	bio_set_dev(bio, d->dev->bdev);
	if (bio_sectors(bio))
		bio->bi_iter.bi_sector = dm_target_offset(d->ti, bio->bi_iter.bi_sector);
	if (unlikely(READ_ONCE(d->store->no_updates)) && kind != DAVID_REQ_READ &&
	    kind != DAVID_REQ_FLUSH) {
		bio_io_error(bio);
		return DM_MAPIO_SUBMITTED;
	}
	switch (kind) {
	case DAVID_REQ_DISCARD:
		/* A discard guarantees nothing, so the backing device may ignore it. */
		if (bdev_max_discard_sectors(d->dev->bdev))
			break;
		bio_endio(bio);
		return DM_MAPIO_SUBMITTED;
	case DAVID_REQ_ZEROES:
		able = bdev_write_zeroes_sectors(d->dev->bdev);
		break;
	default:
		io->measured.kind = kind;
		io->measured.arrived_ns = timing_model_only_submit(d->timing, bio);
		io->at_end |= END_MODEL_ONLY;
	}
	if (able)
		return DM_MAPIO_REMAPPED;
	/* The block layer writes zeros instead. */
	bio->bi_status = BLK_STS_NOTSUPP;
	bio_endio(bio);
	return DM_MAPIO_SUBMITTED;
}

/*
 * The modelled drive fails the request: the store and the classifier never hear of it. What the
 * disk has stays, so whoever reads it when the fault is over has it.
 */
static noinline bool fail_request(struct david_io *io, u8 fault, int *result)
{
	if (io->d->zoned)
		zoned_take_back(io);
	io->at_end |= END_FAULT;
	io->bio->bi_status = timing_fault_status(fault);
	bio_endio(io->bio);
	*result = DM_MAPIO_SUBMITTED;
	return false;
}

/* What the model wants to know of a write to a zone. */
static unsigned int zone_flags(const struct david_io *io)
{
	bool appends = io->at_end & END_APPEND && !INJECTED(zone_plain) &&
		       timing_profile(io->d->timing)->zone_append_limit;

	/* For a drive that has no append Linux makes it a write. */
	return (appends ? DISK_APPEND : 0) | (io->at_end & END_OPENS ? DISK_OPENS : 0);
}

bool map_timed(struct david_io *io, enum david_request kind, int *result)
{
	struct david *d = io->d;
	struct bio *bio = io->bio;
	bool range_only = kind == DAVID_REQ_DISCARD || kind == DAVID_REQ_ZEROES;
	/*
	 * The mode may change at any time. So it is read once, and at_end says what to do at the
	 * request's end. Pairs with change_mode().
	 */
	enum david_mode mode = smp_load_acquire(&d->mode);
	u8 fault, flags = unlikely(io->at_end) ? zone_flags(io) : 0;

	/*
	 * The zone's state has changed already, so the submitter cannot come a second time. Linux
	 * does the same with writes that wait for their zone.
	 */
	if (unlikely(d->zoned) && kind != DAVID_REQ_READ && bio->bi_opf & REQ_NOWAIT) {
		bio->bi_opf &= ~REQ_NOWAIT;
		io->wants_worker = true;
	}
	if (unlikely(range_only && timing_has_faults(d->timing)) &&
	    mode != DAVID_MODE_MODEL_ONLY) {
		fault = timing_meet_untimed(d->timing, bio, mode);
		if (fault)
			return fail_request(io, fault, result);
	}
	if (kind == DAVID_REQ_DISCARD)
		timing_discard(d->timing, bio, mode);
	else if (kind == DAVID_REQ_ZEROES && mode != DAVID_MODE_MODEL_ONLY)
		timing_zeroes(d->timing, bio, mode);
	switch (mode) {
	case DAVID_MODE_MODEL_ONLY:
		*result = map_through(io, kind);
		return false;
	case DAVID_MODE_TIMING_ACCURATE:
		if (range_only)
			break;
		if (unlikely(!timing_accurate_submit(d->timing, &io->timed, bio, flags))) {
			bio_wouldblock_error(bio);
			*result = DM_MAPIO_SUBMITTED;
			return false;
		}
		io->at_end |= END_TIMED;
		if (unlikely(io->timed.request.fault))
			return fail_request(io, io->timed.request.fault, result);
		break;
	default:
		if (range_only)
			break;
		fault = timing_speedup_submit(d->timing, bio, flags);
		if (unlikely(fault))
			return fail_request(io, fault, result);
	}
	/*
	 * If the modelled drive has no cache to flush, a completed write must be durable. A discard
	 * need not be.
	 */
	if ((kind == DAVID_REQ_WRITE || kind == DAVID_REQ_ZEROES) &&
	    timing_writes_through(d->timing))
		bio->bi_opf |= REQ_FUA;
	return true;
}

static enum david_request request_kind(const struct bio *bio)
{
	switch (bio_op(bio)) {
	case REQ_OP_READ:
		return DAVID_REQ_READ;
	case REQ_OP_DISCARD:
		return DAVID_REQ_DISCARD;
	case REQ_OP_WRITE_ZEROES:
		return DAVID_REQ_ZEROES;
	default:
		return DAVID_REQ_WRITE;
	}
}

static void io_end_flush(struct wal_waiter *wait, blk_status_t status)
{
	struct bio *bio = container_of(wait, struct david_io, wait)->bio;

	bio->bi_status = status;
	bio_endio(bio);
}

static int map_flush(struct david_io *io)
{
	struct david *d = io->d;
	struct store *store = d->store;

	io->wait.flush = true;
	io->wait.done = io_end_flush;
	if (store->wal && (csum_sync(&d->csum_io, &io->wait) || wal_sync(store, &io->wait)))
		return DM_MAPIO_SUBMITTED;
	bio_set_dev(io->bio, d->dev->bdev);
	return DM_MAPIO_REMAPPED;
}

/* Once for each request, in the order of arrival: the classifier learns from it. */
static void notify_classifier(struct david_io *io, enum david_request kind)
{
	io->first = io->iter.bi_sector;
	if (kind == DAVID_REQ_WRITE && io->first < FS_SUPERS_END)
		owner_see_super(&io->d->owners.disk, io->bio, io->first);
	if (!io->d->implicit)
		return;
	if (kind == DAVID_REQ_READ)
		implicit_read(io->d->implicit, io->first, bio_sectors(io->bio));
	else if (kind == DAVID_REQ_WRITE)
		implicit_write(io->d->implicit, io->bio, io->first, &io->implicit);
	else
		implicit_discard(io->d->implicit, io->first, bio_sectors(io->bio));
}

int david_map(struct dm_target *ti, struct bio *bio)
{
	struct david *d = ti->private;
	struct david_io *io = dm_per_bio_data(bio, sizeof(*io));
	struct stats __percpu *stats = d->store->stats;
	struct stopwatch timer __uninit;
	enum david_request kind;
	int result;

	io->d = d;
	io->bio = bio;
	io->at_end = 0;
	io->remapped = false;
	io->in_worker = false;
	io->wants_worker = false;
	io->status = BLK_STS_OK;
	io->unshared = 0;

	if (!bio_sectors(bio)) {
		if (unlikely(op_is_zone_mgmt(bio_op(bio))))
			return zoned_manage(io);
		/* An empty flush: what was written before is to be durable. */
		this_cpu_inc(stats->requests[DAVID_REQ_FLUSH]);
		if (d->timing && !map_timed(io, DAVID_REQ_FLUSH, &result))
			return result;
		if (d->implicit)
			implicit_flush(d->implicit);
		return map_flush(io);
	}

	io->iter = bio->bi_iter;
	io->iter.bi_sector = dm_target_offset(ti, bio->bi_iter.bi_sector);
	if (unlikely(d->zoned) && !zoned_accept(io))
		return DM_MAPIO_SUBMITTED;
	kind = request_kind(bio);
	this_cpu_inc(stats->requests[kind]);
	this_cpu_add(stats->sectors[kind], bio_sectors(bio));
	if (kind != DAVID_REQ_READ)
		init_top(io, d, bio);
	/* Before it waits for the model: a trail does not wait for ever. */
	if (kind == DAVID_REQ_WRITE && static_branch_unlikely(&stack_is_watched))
		stack_find(&d->owners, bio, &io->top);
	if (d->timing && !map_timed(io, kind, &result))
		return result;

	stopwatch_start(&timer, stats);
	io->implicit.runs = 0;
	if (unlikely(io->iter.bi_sector < READ_ONCE(d->watch_below))) {
		notify_classifier(io, kind);
		stopwatch_account(&timer, DAVID_CPU_CLASSIFY);
	}
	if (unlikely(bio->bi_opf & (REQ_NOWAIT | REQ_FUA))) {
		if (bio->bi_opf & REQ_FUA && kind != DAVID_REQ_READ && d->store->wal)
			io->at_end |= END_LOGGED;
		if (bio->bi_opf & REQ_NOWAIT)
			begin_nowait(io);
	}
	switch (kind) {
	case DAVID_REQ_READ:
		return map_read(io, &timer);
	case DAVID_REQ_WRITE:
		if (unlikely(io->at_end & END_ZONE))
			return zoned_begin(io, &timer);
		return map_write_now(io, &timer);
	default:
		return map_locked(io, &timer, NULL);
	}
}

/* The clone read a block that other disks of the pool may join. */
static noinline void read_remapped(struct david_io *io)
{
	struct bvec_iter iter = io->iter;

	iter.bi_size = io->d->store->block_size;
	share_read(io, &io->remapped_piece, iter);
}

static void end_unlock(struct david_io *io, blk_status_t error)
{
	struct store *store = io->d->store;
	struct david_io *next, *tmp;
	unsigned long flags;
	LIST_HEAD(granted);
	struct stopwatch timer;

	stopwatch_start(&timer, store->stats);
	if (unlikely(store->share) && io->remapped && io->remapped_piece.learn && !error)
		read_remapped(io);
	spin_lock_irqsave(&store->lock, flags);
	if (io->remapped)
		piece_commit_or_abort(store, &io->remapped_piece, error);
	range_unlock(&store->locks, &io->lock, &granted);
	spin_unlock_irqrestore(&store->lock, flags);
	if (io->remapped)
		piece_wake(store, &io->remapped_piece);

	/* This may be hard interrupt context: they go on from a worker. */
	list_for_each_entry_safe(next, tmp, &granted, lock.granted)
		io_queue(next);
	stopwatch_account(&timer, DAVID_CPU_MAP);
}

static void internal_endio(struct bio *bio)
{
	struct david_io *io = bio->bi_private;

	if (io->at_end & END_UNLOCK)
		end_unlock(io, bio->bi_status);
	complete(&io->done);
}

int david_internal_request(struct david *d, struct bio *bio, sector_t sector,
			   struct pack_step *step)
{
	struct david_io *io = mempool_alloc(&d->requests, GFP_NOIO);
	struct stopwatch timer;
	int result;

	bio->bi_iter.bi_sector = sector;
	bio->bi_private = io;
	bio->bi_end_io = internal_endio;
	io->d = d;
	io->bio = bio;
	io->iter = bio->bi_iter;
	io->at_end = END_INTERNAL;
	if (step) {
		io->at_end |= END_PACK;
		io->pack = step;
	}
	io->remapped = false;
	io->in_worker = false;
	io->wants_worker = false;
	io->status = BLK_STS_OK;
	io->unshared = 0;
	io->implicit.runs = 0;
	owner_cache_init(&io->owners);
	init_top(io, d, bio);
	init_completion(&io->done);
	stopwatch_start(&timer, d->store->stats);
	if (bio_op(bio) == REQ_OP_READ)
		result = map_read(io, &timer);
	else
		result = map_locked(io, &timer, NULL);
	if (result == DM_MAPIO_REMAPPED)
		submit_bio_noacct(bio);
	wait_for_completion_io(&io->done);
	mempool_free(io, &d->requests);
	return blk_status_to_errno(bio->bi_status);
}

int david_internal_page(struct david *d, void *page, sector_t sector, u32 bytes, blk_opf_t op)
{
	struct bio_vec bv;
	struct bio bio;
	int error;

	bio_init(&bio, d->dev->bdev, &bv, 1, op | REQ_META);
	__bio_add_page(&bio, virt_to_page(page), bytes, offset_in_page(page));
	error = david_internal_request(d, &bio, sector, NULL);
	bio_uninit(&bio);
	return error;
}

int david_internal_block(struct david *d, void *page, u64 block, blk_opf_t op)
{
	return david_internal_page(d, page, block << d->store->block_shift, d->store->block_size,
				   op);
}

/*
 * The bio has completed once already, and david_end_io() held it back. Complete it again, through
 * device-mapper's end_io.
 */
static void end_logged_write(struct wal_waiter *wait, blk_status_t status)
{
	struct bio *bio = container_of(wait, struct david_io, wait)->bio;

	if (status)
		bio->bi_status = status;
	bio->bi_end_io(bio);
}

static void send_work(struct work_struct *work)
{
	struct david_io *io = container_of(work, struct david_io, work);

	bio_set_dev(io->bio, io->d->dev->bdev);
	submit_bio_noacct(io->bio);
}

/*
 * The backing device refused the clone, as it would have to sleep. Its submitter must not try
 * again: the model has the request, and would see it a second time. So a worker sends it.
 */
static void send_again(struct david_io *io)
{
	struct bio *bio = io->bio;

	bio->bi_iter = io->sent.iter;
	bio->bi_flags = io->sent.flags;
	bio->bi_opf &= ~REQ_NOWAIT;
	bio->bi_status = BLK_STS_OK;
	/* It may have been split. */
	atomic_set(&bio->__bi_remaining, 1);
	INIT_WORK(&io->work, send_work);
	queue_work(io->d->wq, &io->work);
}

static bool is_failure(blk_status_t error)
{
	return error != BLK_STS_NOSPC && error != BLK_STS_AGAIN && error != BLK_STS_NOTSUPP;
}

/* All is done. Only of an append is there something to say. */
static inline int io_end_well(struct david_io *io, u16 at_end, blk_status_t error)
{
	if (likely(!(at_end & END_APPEND)) || error)
		return DM_ENDIO_DONE;
	zoned_end_append(io);
	return DM_ENDIO_INCOMPLETE;
}

/* What david_end_io() does where there is more to do than nothing. */
static noinline int io_end_request(struct david_io *io, struct bio *bio, blk_status_t *error)
{
	u16 at_end = io->at_end;
	struct timing *timing;

	if (unlikely(*error == BLK_STS_AGAIN) && at_end & END_TIMED && io->remapped &&
	    bio->bi_opf & REQ_NOWAIT && !INJECTED(refused)) {
		send_again(io);
		return DM_ENDIO_INCOMPLETE;
	}
	/* Whatever failed, what the store has of the zone is put in order first. */
	if (unlikely(*error && at_end & END_ZONE) && zoned_fail(io))
		return DM_ENDIO_INCOMPLETE;
	if (unlikely(*error) && !(at_end & (END_CALLED_AGAIN | END_FAULT)) && is_failure(*error))
		this_cpu_inc(io->d->store->stats->errors);
	if (at_end & END_UNLOCK) {
		end_unlock(io, *error);
		if (likely(at_end == END_UNLOCK))
			return DM_ENDIO_DONE;
	}
	if (unlikely(at_end & END_ZONE))
		zoned_pass(io);
	if (unlikely(at_end & END_TWIN) && !*error) {
		io->at_end = at_end & (END_TIMED | END_LOGGED | END_APPEND);
		twin_finish(io);
		return DM_ENDIO_INCOMPLETE;
	}
	if (at_end & END_LOGGED && !*error) {
		io->at_end = at_end & (END_TIMED | END_APPEND);
		io->wait.flush = false;
		io->wait.done = end_logged_write;
		if (csum_sync(&io->d->csum_io, &io->wait) || wal_sync(io->d->store, &io->wait))
			return DM_ENDIO_INCOMPLETE;
	}
	timing = io->d->timing;
	if (at_end & END_MODEL_ONLY)
		timing_model_only_done(timing, io->measured.kind, io->measured.arrived_ns);
	if (!(at_end & END_TIMED))
		return io_end_well(io, at_end, *error);
	/* From timing_accurate_stored() on the timer may deliver it. */
	io->at_end = END_CALLED_AGAIN | (at_end & END_APPEND);
	if (!timing_accurate_stored(timing, &io->timed))
		return DM_ENDIO_INCOMPLETE;
	return io_end_well(io, at_end, *error);
}

int david_end_io(struct dm_target *ti, struct bio *bio, blk_status_t *error)
{
	struct david_io *io = dm_per_bio_data(bio, sizeof(struct david_io));

	if (!io->at_end && likely(!*error))
		return DM_ENDIO_DONE;
	return io_end_request(io, bio, error);
}
