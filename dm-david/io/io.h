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
 * map.c calls request.c, which calls write.c and read.c, and these judge.c and backing.c. Only
 * the end of a child bio goes the other way: it resumes its request by io_put().
 *
 * Locking: a request holds its range lock (base/rangelock.h) from its first piece to its end, but
 * for reads without I/O and writes that are done at once. All other state of a request is its own;
 * only @pending and @status are shared with the ends of its child bios.
 *
 * Sleeping: a submitter sleeps only for the modelled queue (map_timed()); a worker may sleep.
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
	bool has_csum;		/* its checksums are recorded, for when it is squashed */
};

/* david_io->at_end: what its end has to see to. */
#define END_UNLOCK	BIT(0)	/* release the range lock */
#define END_TIMED	BIT(1)	/* wait for the model */
#define END_MODEL_ONLY	BIT(2)	/* tell the model how long the backing device took */
#define END_CALLED_AGAIN	BIT(3)	/* nothing: the timer calls bi_end_io the second time */
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
	struct implied implied;		/* what the request says itself */
	sector_t first;			/* of the request: implied counts from there */
	atomic_t pending;	/* child bios in flight, and one while being served */
	blk_status_t status;
	u8 at_end;
	bool remapped;	/* the clone itself went to the backing device */
	bool in_worker;		/* not in its submitter's context any more */
	bool wants_worker;	/* its submitter must not sleep, and the backing device may */
	union {
		struct timed timed;	/* with a profile only, as the next */
		struct {
			enum david_request kind;
			u64 arrived_ns;
		} measured;
		struct completion done;	/* the module's own */
	};
};

/* What becomes of a child bio's bounce page when the backing device is done with it. */
enum bounce_use {
	BOUNCE_WRITTEN,		/* nothing */
	BOUNCE_READ,		/* the request's part is copied to it */
	BOUNCE_RMW,		/* the request's part is copied in, and the page written back */
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
	struct rt_range r;	/* kind: RT_STORED means kept, wherever that will be */
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
	/* It may go on from a worker. */
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
/* One of @pending is done; the last one resumes or ends the request. Any context. */
void io_put(struct david_io *io);
/* The request fails with @status, if nothing failed before. Returns SERVED_FAILED. */
enum served io_fail(struct david_io *io, blk_status_t status);
/* A worker gets io->want, then the request goes on. Returns SERVED_DEFER. */
enum served defer_for_csum(struct david_io *io);
/*
 * The store had no reservation for a change that was asked for with @gfp. A submitter leaves that
 * to a worker. A worker could sleep for it, so then the store refuses the change.
 */
enum served reservation_failed(struct david_io *io, gfp_t gfp);
/* Prepare the range lock of the blocks that the request touches. */
void io_lock_range(struct david_io *io);

/* judge.c */

/* The verdict on the whole blocks that are left, up to the first that differs. */
void judge_blocks(struct david_io *io, struct stopwatch *timer, struct span *span);
/* The verdict on the next @bytes, which are less than a block. */
void judge_part(struct david_io *io, unsigned int bytes, struct judgement *judged);
/* What is to be done about the checksums of @r's blocks; @r is cut to those that are alike. */
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
/* Bytes of the request that lie in @r, looked up from the first block that is left. */
unsigned int io_bytes_in(const struct david_io *io, const struct rt_range *r);
/* All of a block that is not stored, at @p, which has room for a unit; @crc of it, or NULL. */
void make_block(struct david *d, const struct rt_range *r, void *p, const u32 *crc);

/* backing.c */

/*
 * Find the destination of @piece, which says the first block and how many are wanted: where it is
 * stored already, or newly allocated, with a reservation to enter it, made with @gfp. The piece is
 * cut down to what lies there in one run. Takes store->lock.
 */
enum served piece_place(struct david_io *io, struct piece *piece, gfp_t gfp);
/* A new piece was written: enter it, or give its destination back. store->lock is held. */
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
 * Read all of the block of @piece into a bounce page, to copy from it or into it @bytes at
 * @offset, which are the request's next.
 */
enum served read_block(struct david_io *io, const struct piece *piece, unsigned int offset,
		       unsigned int bytes, enum bounce_use use);
/* A bio from d->child_bios, to @offset bytes into the destination of @piece; @bounce or NULL. */
void child_init(struct david_io *io, struct bio *bio, const struct piece *piece,
		unsigned int offset, struct page *bounce);
void child_submit(struct david_io *io, struct bio *bio);
/* Between the part @start of the request and memory. */
void copy_to_request(struct david_io *io, struct bvec_iter start, void *from);
void copy_from_request(struct david_io *io, struct bvec_iter start, void *to);

#endif
