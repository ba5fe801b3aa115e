/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One request on its way through a target: what the files of this room share.
 *
 *	map.c		where a request comes in, and where it ends
 *	request.c	its life in between: one piece after the other, deferred, failed, ended
 *	judge.c		the verdict on each block of a write: squash it, or keep it
 *	write.c		what becomes of a write, by verdict; discards and zeroes
 *	read.c		what a read returns; it makes up what is not stored
 *	backing.c	where a block is stored, and the bios that go there
 *	share.c		in a pool: blocks that another disk has already
 *	packer.c	stored blocks, in fewer places
 *	twin.c		content of RAW files that is dropped elsewhere
 *	zoned.c		disks with zones: a request's turn, what a finish or reset does
 *
 *	csum-policy.c, extent.c, implicit*.c	evidence for judge.c, with state of their own
 *	implicit-evidence.c	the evidence that a request carries
 *
 * map.c calls request.c. request.c calls write.c and read.c. write.c calls judge.c and share.c.
 * write.c and read.c call backing.c. The verdict on a write of whole blocks, and many a read, need
 * no range lock yet: map.c calls judge.c and read.c for them itself. So it calls backing.c for a
 * write that is kept, whose range lock and place are had in one hold of store->lock. What fails, is
 * deferred or has ended goes back to request.c: io_fail(), defer_for_csum(), io_put().
 *
 * Locking: a request holds its range lock (base/rangelock.h) from its first piece to its end. These
 * requests take no range lock:
 *
 *	a write that store_set_at_once() does
 *	a read of blocks that are all one constant, or all never written
 *	a read of blocks that are all squashed, in a store without checksums (store->has_csums)
 *	a flush, and all requests with mode=model-only
 *
 * Nobody but who serves a request touches its struct david_io, so that needs no lock. Three fields
 * are shared with the ends of its child bios: @pending, @status and @unshared.
 *
 * Sleeping: a submitter sleeps only for the modelled queue (map_timed()); a worker may sleep for
 * memory and for room in the log. So functions below sleep only with io->in_worker.
 */
#ifndef DM_DAVID_IO_H
#define DM_DAVID_IO_H

#include "david.h"
#include "implicit.h"
#include "implicit-evidence.h"
#include "../store/packs.h"
#include "../store/share.h"
#include "../timing/trace.h"

struct stopwatch;

/* A run of blocks on its way to the backing device. */
struct piece {
	u64 block;
	u64 dest;
	u64 blocks;
	bool commit;		/* newly allocated: to be entered into the range table */
	bool evictable;		/* data that may be squashed at any time: exact.h */
	bool has_csum;		/* checksums are recorded already; a later squash uses them */
	bool offered;		/* to other disks of the pool: share_offer() */
	bool learn;		/* a read: other disks may join what it returns */
};

/* david_io->at_end: what david_end_io() has to do. */
#define END_UNLOCK	BIT(0)	/* release the range lock */
#define END_TIMED	BIT(1)	/* wait for the model */
#define END_MODEL_ONLY	BIT(2)	/* count how long the backing device took */
#define END_CALLED_AGAIN	BIT(3)	/* second call, from the timer: nothing left to do */
#define END_LOGGED	BIT(4)	/* wait until its log entries are durable */
#define END_INTERNAL	BIT(5)	/* the module's own: device-mapper does not know of it */
#define END_PACK	BIT(6)	/* with END_INTERNAL: pack a block */
#define END_TWIN	BIT(7)	/* its content may have been dropped elsewhere: twin.h */
#define END_FAULT	BIT(8)	/* the modelled drive fails it: nothing was served */
#define END_AGAIN	BIT(9)	/* served a second time, from share_again() on */
#define END_ZONE	BIT(10)	/* has a ticket of its zone: zoned.h */
#define END_ZONE_OVER	BIT(11)	/* with END_ZONE: it fails, and the zone is as before */
#define END_APPEND	BIT(12)	/* a zone append, which is served as a write */
#define END_OPENS	BIT(13)	/* nothing: the write has opened its zone, which takes time */

/* A bio as it was before the backing device had it. */
struct sent {
	struct bvec_iter iter;
	unsigned short flags;
};

/* A request: device-mapper's per-bio data, not zeroed. */
struct david_io {
	struct david *d;
	struct bio *bio;
	struct bvec_iter iter;	/* what is left to do, bi_sector relative to the target */
	union {
		struct range_lock lock;
		struct list_head turn;	/* while it waits for its turn in its zone */
	};
	union {			/* some kernels zero per-bio data: its size costs time */
		struct work_struct work;
		struct wal_waiter wait;	/* of a flush; of END_LOGGED, once it is served */
		struct share_waiter share_wait;	/* while deferred for another disk's write */
		struct sent sent;	/* while remapped with REQ_NOWAIT: send_again() */
	};
	union {
		struct piece remapped_piece;	/* valid if remapped */
		struct crct_want want;	/* while deferred for checksums: defer_for_csum() */
		struct pack_step *pack;	/* END_PACK */
	};
	struct owner_cache owners;
	struct owner_top top;		/* of a write */
	struct implicit_evidence implicit;	/* what the classifier says of its sectors */
	sector_t first;			/* of the request: implicit counts from there */
	/* Child bios and checksum fetches under way; plus 1 while somebody serves the request */
	atomic_t pending;
	/* Bytes to be served again: share_differs(). With END_AGAIN: share_again() */
	unsigned int unshared;
	u32 zone, ticket;	/* END_ZONE; of an open or close the condition that it found */
	blk_status_t status;
	u16 at_end;
	bool remapped;	/* the clone itself went to the backing device */
	bool in_worker;		/* not in its submitter's context any more */
	bool wants_worker;	/* came with REQ_NOWAIT, a worker must go on: begin_nowait() */
	union {
		struct timed timed;	/* END_TIMED */
		struct {
			enum david_request kind;
			u64 arrived_ns;
		} measured;		/* END_MODEL_ONLY */
		struct completion done;	/* END_INTERNAL */
	};
};

/* What child_endio() does with the bounce page. */
enum bounce_use {
	BOUNCE_WRITTEN,		/* nothing */
	BOUNCE_READ,		/* copy from the page to the request */
	BOUNCE_RMW,		/* copy from the request to the page, write the page back */
	BOUNCE_COMPARE,		/* compare the page with the request */
};

struct child_bio {
	struct david_io *io;
	struct piece piece;
	struct page *bounce;
	enum bounce_use use;
	/* The following not with BOUNCE_WRITTEN */
	unsigned int offset;	/* into the block, bytes */
	struct bvec_iter iter;	/* the request's part; also with piece.learn */
	struct work_struct work;
	struct bio bio;		/* last: see bioset_init() */
};

/* What serving a piece returns. */
enum served {
	SERVED,			/* go on with the next piece */
	SERVED_DEFER,		/* go on from a worker, when own child bios have returned */
	SERVED_REMAPPED,	/* device-mapper sends the clone to the backing device */
	SERVED_FAILED,		/* io->status says why */
	SERVED_WAITS,		/* for its range lock: nothing is served yet */
};

/* The verdict on a block, or on a part of one. */
struct judgement {
	enum verdict verdict;
	enum david_evidence evidence;
	bool constant;		/* one repeated word */
	u64 word;
};

/* A run of whole blocks with the same verdict. */
struct span {
	struct rt_range r;	/* RT_STORED: to be kept; no destination is chosen yet */
	enum david_evidence evidence;
};

static inline unsigned int block_sector_mask(const struct david *d)
{
	return (1u << d->store->block_shift) - 1;
}

/* Of the target, the first of the request that its clone still has. */
static inline sector_t io_first_sector(const struct david_io *io)
{
	sector_t sector = io->bio->bi_iter.bi_sector;

	/* The module's own are made so. */
	return io->at_end & END_INTERNAL ? sector : dm_target_offset(io->d->ti, sector);
}

static inline u64 io_first_block(const struct david_io *io)
{
	return io->iter.bi_sector >> io->d->store->block_shift;
}

/*
 * A submitter never sleeps for memory here: its own child bios may still be queued behind this very
 * call. What gets none is deferred to a worker. A worker may always sleep, as its child bios are on
 * their way.
 */
static inline gfp_t io_gfp(const struct david_io *io)
{
	return io->in_worker ? GFP_NOIO : GFP_NOWAIT | __GFP_NOWARN;
}

static inline void io_advance(struct david_io *io, unsigned int bytes)
{
	bio_advance_iter(io->bio, &io->iter, bytes);
}

static inline bool may_have_csums(const struct david *d)
{
	return READ_ONCE(d->owners.may_have_csums) || READ_ONCE(d->store->has_csums);
}

static inline bool is_aligned(const struct david *d, unsigned int offset, unsigned int bytes)
{
	return likely(!((offset | bytes) & d->backing_mask));
}

static inline blk_opf_t bounce_opf(const struct david_io *io)
{
	if (bio_op(io->bio) == REQ_OP_WRITE_ZEROES)
		return REQ_OP_WRITE | (io->bio->bi_opf & REQ_FUA);
	/* A worker may submit it, and may sleep. */
	return io->bio->bi_opf & ~REQ_NOWAIT;
}

/* request.c */

/*
 * Serve a request from its first piece on, or from where it was deferred. Its range lock, if
 * it has END_UNLOCK, is granted. @span is the verdict on its first blocks, or NULL. Returns what a
 * target's map returns: DM_MAPIO_REMAPPED only if @may_remap.
 */
int io_serve(struct david_io *io, struct stopwatch *timer, bool may_remap, struct span *span);
/* A worker goes on with the request. Any context. */
void io_queue(struct david_io *io);

/*
 * range_lock() has said whether io->lock is @granted. May the submitter serve the request? If not,
 * a worker does: at once, or when the lock is granted.
 */
static inline bool io_may_begin(struct david_io *io, bool granted)
{
	if (unlikely(!granted)) {
		this_cpu_inc(io->d->store->stats->range_locks);
		return false;
	}
	if (unlikely(io->wants_worker)) {
		io_queue(io);
		return false;
	}
	return true;
}

/* Drop one of @pending. The last drop resumes or ends the request. Any context. */
void io_put(struct david_io *io);
/* The request fails with @status, if nothing failed before. Returns SERVED_FAILED. */
enum served io_fail(struct david_io *io, blk_status_t status);
/* Queue a worker that loads the checksums in io->want, then goes on. Returns SERVED_DEFER. */
enum served defer_for_csum(struct david_io *io);
/*
 * store_reserve() failed with @gfp. In a submitter: SERVED_DEFER. In a worker, which could sleep,
 * the refusal is final: the request fails as store_refused() says.
 */
enum served reservation_failed(struct david_io *io, gfp_t gfp);
/* Prepare the range lock of the blocks that the request touches. */
static inline void io_lock_range(struct david_io *io)
{
	unsigned int shift = io->d->store->block_shift;

	io->lock.start = io->iter.bi_sector >> shift;
	io->lock.last = (io->iter.bi_sector + bio_sectors(io->bio) - 1) >> shift;
	io->lock.shared = bio_op(io->bio) == REQ_OP_READ;
	io->at_end |= END_UNLOCK;
}

/*
 * The first piece of a request was served by other means than io_serve(), as @served says, while
 * its submitter held one of @pending. Go on, as io_serve() does.
 */
int io_go_on(struct david_io *io, struct stopwatch *timer, bool may_remap, enum served served);

/* share.c */

/* The register of crc32c (portable/crc.h) after the next @bytes from @iter on. Any context. */
u32 io_crc32c(const struct bio *bio, struct bvec_iter iter, unsigned int bytes);

/* How many of @blocks from @block on were counted before the request was served again. */
u64 share_counted_blocks(const struct david_io *io, u64 block, u64 blocks);

/* judge.c */

/* The verdict on the whole blocks that are left, up to the first that differs. */
void judge_blocks(struct david_io *io, struct stopwatch *timer, struct span *span);
/* The verdict on the next @bytes, which are less than a block. */
void judge_part(struct david_io *io, unsigned int bytes, struct judgement *judged);
/* The checksum policy of @r's first unit. Shortens @r to the units with the same policy. */
enum csum_policy csum_policy_of(const struct david_io *io, struct rt_range *r);
void trace_verdict(const struct david *d, sector_t sector, u32 sectors, enum david_written written,
		   enum david_evidence evidence);

/*
 * How many of @blocks from @block on were counted before. A block that the module writes for a twin
 * was counted when its user wrote it.
 */
static inline u64 io_counted_blocks(const struct david_io *io, u64 block, u64 blocks)
{
	if (likely(!(io->at_end & (END_INTERNAL | END_AGAIN))))
		return 0;
	return io->at_end & END_INTERNAL ? blocks : share_counted_blocks(io, block, blocks);
}

/* Count @blocks of @span as written, where @timer counts, and trace them. */
static inline void io_count_blocks(struct david_io *io, const struct stopwatch *timer,
				   const struct span *span, u64 blocks)
{
	struct stats __percpu *stats = timer->stats;
	enum david_written written = DAVID_WRITTEN_KEPT;
	u64 start = span->r.start, counted;

	BUILD_BUG_ON((int)RT_FILL != (int)DAVID_WRITTEN_FILL ||
		     (int)RT_SQUASHED != (int)DAVID_WRITTEN_SQUASHED);
	counted = io_counted_blocks(io, start, blocks);
	if (unlikely(counted)) {
		start += counted;
		blocks -= counted;
		if (!blocks)
			return;
	}
	if (span->r.kind != RT_STORED)
		written = (enum david_written)span->r.kind;
	this_cpu_add(stats->evidence[span->evidence], blocks);
	this_cpu_add(stats->verdict[written], blocks);
	if (trace_david_verdict_enabled())
		trace_verdict(io->d, start << io->d->store->block_shift,
			      blocks << io->d->store->block_shift, written, span->evidence);
}

/* write.c: the next piece of the request, by kind */

enum served serve_write(struct david_io *io, struct stopwatch *timer, bool may_remap,
			struct span *span);
enum served serve_discard(struct david_io *io, struct stopwatch *timer);
enum served serve_squash(struct david_io *io);

/* packer.c: a discard of the module's own that packs a block */
enum served serve_pack(struct david_io *io);

/*
 * map.c: the modelled time of a request; @kind is DAVID_REQ_FLUSH of a command to a zone. True: go
 * on with the store. False: *@result is what map returns.
 */
bool map_timed(struct david_io *io, enum david_request kind, int *result);

/* map.c: what the request, whose turn in its zone it is, does to the store */

int map_write(struct david_io *io, struct stopwatch *timer);
/* A finish or reset. */
int map_zone(struct david_io *io, struct stopwatch *timer);

/* zoned.c: the same, once it has its range lock */

enum served zoned_serve(struct david_io *io);
/* The blocks of the store that a finish makes zeros, or a reset a hole. */
void zoned_range(const struct david_io *io, struct rt_range *r);

/* read.c */

/* Read what of the request lies in @r. */
enum served serve_read_range(struct david_io *io, struct stopwatch *timer, const struct rt_range *r,
			     bool may_remap);
/* A read: begins to serve it, and returns what a target's map returns. */
int map_read(struct david_io *io, struct stopwatch *timer);

/* The first block of @r, which is packed, to @page. Sleeps. */
enum served read_pack(struct david_io *io, const struct rt_range *r, struct page *page);

/* How many of the bytes left lie in @r, which was looked up at io_first_block(). */
static inline unsigned int io_bytes_in(const struct david_io *io, const struct rt_range *r)
{
	unsigned int shift = io->d->store->block_shift;
	sector_t end;

	if (r->len > U32_MAX)
		return io->iter.bi_size;
	end = (r->start + r->len) << shift;
	return min_t(u64, io->iter.bi_size, (u64)(end - io->iter.bi_sector) << SECTOR_SHIFT);
}

/* Make up block r->start at @p, which has room for 4 KiB. @crc: the unit's checksum, or NULL. */
void make_block(struct david *d, const struct rt_range *r, void *p, const u32 *crc);

/* backing.c */

/*
 * Find a destination for @piece->block, for @piece->blocks at most. If the block is stored and no
 * other disk has it, it is the old one. Else allocate, and reserve the table update with @gfp. Cuts
 * @piece down to one run. Without room this calls io_fail() and returns SERVED_FAILED. For an
 * evictable piece it returns SERVED_FAILED without io_fail(): the caller may squash the piece.
 * Takes store->lock. Sleeps if @gfp may.
 */
enum served piece_place(struct david_io *io, struct piece *piece, gfp_t gfp);
/*
 * A submitter's write of blocks that are all kept: take the range lock, which is prepared, place
 * the first piece in the same hold of store->lock, and send it: the clone itself if that is all.
 * The piece is io->remapped_piece. SERVED_WAITS: a worker serves all of the request.
 */
enum served lock_and_send(struct david_io *io, struct stopwatch *timer);
/*
 * A piece was written, or joined. If it is new, enter it, or on error give up its destination.
 * store->lock is held.
 */
void piece_commit_or_abort(struct store *store, const struct piece *piece, blk_status_t status);
/* After that, without locks: who waits for @piece goes on. */
static inline void piece_wake(struct store *store, const struct piece *piece)
{
	if (unlikely(piece->offered))
		share_wake(store->share, piece->dest, piece->blocks);
}

/* A piece that is new, or offered, will not be written. Takes store->lock. */
void piece_abort(struct store *store, const struct piece *piece);
/*
 * Send the next @bytes of the request to the destination of @piece, @offset bytes into its first
 * block: by a child bio, or the clone itself if it is all of the request and @may_remap.
 */
enum served send_piece(struct david_io *io, struct stopwatch *timer, const struct piece *piece,
		       unsigned int offset, unsigned int bytes, bool may_remap);
/*
 * Read the block at destination @from into a bounce page. @use says what is done with the request's
 * next @bytes and @offset of the page. What is written back goes to the destination of @piece.
 */
enum served read_block(struct david_io *io, const struct piece *piece, u64 from,
		       unsigned int offset, unsigned int bytes, enum bounce_use use);
/*
 * Set up @bio, which comes from d->child_bios, for I/O from @offset bytes behind the start of
 * @piece's destination. @bounce is the page that its end frees, or NULL.
 */
void child_init(struct david_io *io, struct bio *bio, const struct piece *piece,
		unsigned int offset, struct page *bounce);
void child_submit(struct david_io *io, struct bio *bio);
/* Copy between memory and the part of the request that @start describes. */
void copy_to_request(struct david_io *io, struct bvec_iter start, void *from);
void copy_from_request(struct david_io *io, struct bvec_iter start, void *to);

/* share.c: with store->share only */

/*
 * Write blocks of @piece, or find one of them stored by another disk. Cuts @piece down to what is
 * served.
 */
enum served write_shared(struct david_io *io, struct stopwatch *timer, bool may_remap,
			 struct piece *piece);
/* Write a part of the block of @r, which other disks have, too: the block gets a new place. */
enum served write_shared_part(struct david_io *io, const struct rt_range *r, unsigned int offset,
			      unsigned int bytes);
/* The block of another disk was read: BLK_STS_OK if it is equal to the request's part. */
blk_status_t share_compared(struct child_bio *child);
/* It is not: serve the request again from @part on, once all else is done. store->lock is held. */
void share_differs(struct david_io *io, const struct bvec_iter *part);
/*
 * Begin to serve it again, and seek no other disk's blocks. io->unshared is from now on what was
 * left to serve of it: what is before that was counted.
 */
void share_again(struct david_io *io);
/* The request read @piece into its part @iter. It still has its range lock. */
void share_read(struct david_io *io, const struct piece *piece, struct bvec_iter iter);

#endif
