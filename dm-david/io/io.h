/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One request on its way through a target: what the files of this room share.
 *
 *	map.c		where a request comes in, and where it ends
 *	request.c	its life in between: one piece after the other, put off, failed, ended
 *	judge.c		the verdict on each block of a write: squash it, or keep it
 *	write.c		what becomes of a write, by verdict; discards and zeroes
 *	read.c		what a read returns; it makes up what is not stored
 *	backing.c	where a block is stored, and the bios that go there
 *
 *	csum-policy.c, extent.c, implicit.c	evidence for judge.c, with state of their own
 *
 * map.c calls request.c, which calls write.c and read.c, and these judge.c and backing.c. For a
 * request of one piece map.c calls them itself. What fails, is deferred or has ended goes back to
 * request.c: io_fail(), defer_for_csum(), io_put().
 *
 * Locking: a request holds its range lock (base/rangelock.h) from its first piece to its end. Two
 * kinds take none: writes that are done at once, and reads without I/O in a store without
 * checksums. All other state of a request is its own; only @pending and @status are shared with
 * the ends of its child bios.
 *
 * Sleeping: a submitter sleeps only for the modelled queue (map_timed()); a worker may sleep for
 * memory and for room in the log. So functions below sleep only with io->in_worker.
 */
#ifndef DM_DAVID_IO_H
#define DM_DAVID_IO_H

#include "implicit.h"
#include "david.h"

struct stopwatch;

/* A run of blocks on its way to the backing device. */
struct piece {
	u64 block;
	u64 dest;
	u64 blocks;
	bool commit;		/* newly allocated: to be entered into the range table */
	bool evictable;		/* data that may be squashed at any time: exact.h */
	bool has_csum;		/* checksums are recorded already; a later squash uses them */
};

/* david_io->at_end: what david_end_io() has to do. */
#define END_UNLOCK	BIT(0)	/* release the range lock */
#define END_TIMED	BIT(1)	/* wait for the model */
#define END_MODEL_ONLY	BIT(2)	/* tell the model how long the backing device took */
#define END_CALLED_AGAIN	BIT(3)	/* second call, from the timer: nothing left to do */
#define END_LOGGED	BIT(4)	/* wait until its log entries are durable */
#define END_INTERNAL	BIT(5)	/* the module's own: device-mapper does not know of it */

/* A request: device-mapper's per-bio data, not zeroed. */
struct david_io {
	struct david *d;
	struct bio *bio;
	struct bvec_iter iter;	/* what is left to do, bi_sector relative to the target */
	struct range_lock lock;
	union {			/* some kernels zero per-bio data: its size costs time */
		struct work_struct work;
		struct wal_waiter wait;	/* when served: a flush, or END_LOGGED */
	};
	union {
		struct piece remapped_piece;	/* valid if remapped */
		struct crct_want want;	/* while deferred for checksums: defer_for_csum() */
	};
	struct owner_cache owners;
	struct owner_top top;		/* of a write */
	struct implied implied;		/* what the classifier says of its sectors */
	sector_t first;			/* of the request: implied counts from there */
	/* Child bios and checksum fetches under way, and one while the request is served */
	atomic_t pending;
	blk_status_t status;
	u8 at_end;
	bool remapped;	/* the clone itself went to the backing device */
	bool in_worker;		/* not in its submitter's context any more */
	bool wants_worker;	/* came with REQ_NOWAIT, a worker must go on: begin_nowait() */
	union {
		struct timed timed;	/* with a profile only, as the next */
		struct {
			enum david_request kind;
			u64 arrived_ns;
		} measured;
		struct completion done;	/* the module's own */
	};
};

/* What child_endio() does with the bounce page. */
enum bounce_use {
	BOUNCE_WRITTEN,		/* nothing */
	BOUNCE_READ,		/* copy from the page to the request */
	BOUNCE_RMW,		/* copy from the request to the page, write the page back */
};

struct child_bio {
	struct david_io *io;
	struct piece piece;
	struct page *bounce;
	/* The following with BOUNCE_READ and BOUNCE_RMW only */
	enum bounce_use use;
	unsigned int offset;	/* into the block, bytes */
	struct bvec_iter iter;	/* the request's part */
	struct work_struct work;
	struct bio bio;		/* last: see bioset_init() */
};

/* What serving a piece returns. */
enum served {
	SERVED,			/* go on with the next piece */
	SERVED_DEFER,		/* go on from a worker, when own child bios have returned */
	SERVED_REMAPPED,	/* device-mapper sends the clone to the backing device */
	SERVED_FAILED,		/* io->status says why */
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
 * Serve a request from its first piece on, or from where it was put off. Its range lock, if it
 * needs one, is granted. @span is the verdict on its first blocks, or NULL. Returns what a
 * target's map returns: DM_MAPIO_REMAPPED only if @may_remap.
 */
int io_serve(struct david_io *io, struct stopwatch *timer, bool may_remap, struct span *span);
/* A worker goes on with the request. Any context. */
void io_queue(struct david_io *io);
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
void io_lock_range(struct david_io *io);

/* judge.c */

/* The verdict on the whole blocks that are left, up to the first that differs. */
void judge_blocks(struct david_io *io, struct stopwatch *timer, struct span *span);
/* The verdict on the next @bytes, which are less than a block. */
void judge_part(struct david_io *io, unsigned int bytes, struct judgement *judged);
/* The checksum policy of @r's first unit. Shortens @r to the units with the same policy. */
enum csum_policy csum_policy_of(const struct david_io *io, struct rt_range *r);
/* Count @blocks of @span as written, and trace them. */
void count_blocks(struct david_io *io, const struct span *span, u64 blocks);
void trace_verdict(const struct david *d, sector_t sector, u32 sectors, enum david_written written,
		   enum david_evidence evidence);

/* write.c: the next piece of the request, by kind */

enum served serve_write(struct david_io *io, struct stopwatch *timer, bool may_remap,
			struct span *span);
enum served serve_discard(struct david_io *io, struct stopwatch *timer);
enum served serve_squash(struct david_io *io);

/* read.c */

/* Read what of the request lies in @r. */
enum served serve_read_range(struct david_io *io, struct stopwatch *timer, const struct rt_range *r,
			     bool may_remap);
/* How many of the bytes left lie in @r, which was looked up at io_first_block(). */
unsigned int io_bytes_in(const struct david_io *io, const struct rt_range *r);
/* Make up block r->start at @p, which has room for 4 KiB. @crc: the unit's checksum, or NULL. */
void make_block(struct david *d, const struct rt_range *r, void *p, const u32 *crc);

/* backing.c */

/*
 * Find a destination for @piece->block, for @piece->blocks at most. If the block is stored, it is
 * the old one. Else allocate, and reserve the table update with @gfp. Cuts @piece down to one run.
 * Without room the request fails. Not so for an evictable piece: this returns SERVED_FAILED, and
 * io->status is as it was; the caller may squash the piece. Takes store->lock. Sleeps if @gfp may.
 */
enum served piece_place(struct david_io *io, struct piece *piece, gfp_t gfp);
/* A new piece was written: enter it, or on error free its destination. store->lock is held. */
void piece_commit_or_abort(struct store *store, const struct piece *piece, blk_status_t status);
/* A new piece will not be written. Takes store->lock. */
void piece_abort(struct store *store, const struct piece *piece);
/*
 * Send the next @bytes of the request to the destination of @piece, @offset bytes into its first
 * block: by a child bio, or the clone itself if it is all of the request and @may_remap.
 */
enum served send_piece(struct david_io *io, struct stopwatch *timer, const struct piece *piece,
		       unsigned int offset, unsigned int bytes, bool may_remap);
/*
 * Read the block of @piece into a bounce page. @use says whether the request's next @bytes are
 * copied from @offset of the page, or into it.
 */
enum served read_block(struct david_io *io, const struct piece *piece, unsigned int offset,
		       unsigned int bytes, enum bounce_use use);
/* Set up @bio, of d->child_bios, for @offset bytes into @piece's destination. @bounce or NULL. */
void child_init(struct david_io *io, struct bio *bio, const struct piece *piece,
		unsigned int offset, struct page *bounce);
void child_submit(struct david_io *io, struct bio *bio);
/* Copy between memory and the part of the request that @start describes. */
void copy_to_request(struct david_io *io, struct bvec_iter start, void *from);
void copy_from_request(struct david_io *io, struct bvec_iter start, void *to);

#endif
