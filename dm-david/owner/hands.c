// SPDX-License-Identifier: GPL-2.0
/* Pages in the hands of other drivers: see hands.h. */
#include "hands.h"

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/major.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>
#include "../base/inject.h"
#include "../base/plantedio.h"
#include "hear.h"

#define SLOT_BITS	17
#define BUCKET_BITS	6

/* A request whose pages are counted. */
struct held {
	struct hlist_node node;
	const struct request *rq;
	bool in_part;		/* some of it has come back: its bios end without a lock */
};

struct bucket {
	spinlock_t lock;	/* of @held; innermost, any context */
	struct hlist_head held;
};

atomic_t hands_busy = ATOMIC_INIT(1);

static DEFINE_MUTEX(watch_lock);	/* of who begins to hear; never held over I/O */
static atomic_t *slots;			/* bytes in hand, by page; NULL: nothing is heard */
static atomic_t forgotten;		/* requests that are counted, but not in @buckets */
static struct bucket buckets[1 << BUCKET_BITS];
static struct tracepoint *issued, *completed, *requeued;

static atomic_t *hands_slot_of(const struct page *page)
{
	return &slots[hash_ptr(page, SLOT_BITS)];
}

static bool has_page(const struct request *rq, const struct page *page)
{
	struct bvec_iter iter;
	struct bio_vec bv;
	struct bio *bio;

	__rq_for_each_bio(bio, rq)
		bio_for_each_segment(bv, bio, iter)
			if (bv.bv_page == page)
				return true;
	return false;
}

/* Is it @page, or another one that shares its slot? */
static bool hands_is_held(const struct page *page)
{
	struct bucket *bucket;
	unsigned long flags;
	struct held *held;
	bool found = false;

	for (bucket = buckets; !found && bucket < buckets + ARRAY_SIZE(buckets); bucket++) {
		if (hlist_empty(&bucket->held))
			continue;
		/* A request whose bios are looked at does not end while its bucket is locked. */
		spin_lock_irqsave(&bucket->lock, flags);
		hlist_for_each_entry(held, &bucket->held, node) {
			found = held->in_part || has_page(held->rq, page);
			if (found)
				break;
		}
		spin_unlock_irqrestore(&bucket->lock, flags);
	}
	return found;
}

bool hands_look(const struct page *page)
{
	if (INJECTED(hands))
		return false;
	/* Pairs with hands_watch(). */
	if (!smp_load_acquire(&slots))
		return true;
	return atomic_read(hands_slot_of(page)) && (atomic_read(&forgotten) || hands_is_held(page));
}

bool hands_have_any(struct bio *bio)
{
	struct bvec_iter iter;
	struct bio_vec bv;

	if (likely(!atomic_read(&hands_busy)))
		return false;
	bio_for_each_segment(bv, bio, iter)
		if (hands_look(bv.bv_page))
			return true;
	return false;
}

/* Is the disk a part of hardware? Then its driver keeps the pages to itself. */
static bool is_hardware(struct gendisk *disk)
{
	const struct device *dev;

	for (dev = disk_to_dev(disk)->parent; dev; dev = dev->parent)
		if (dev->bus && (!strcmp(dev->bus->name, "pci") ||
				 !strcmp(dev->bus->name, "platform")))
			return true;
	return false;
}

static bool passes_on(const struct request *rq)
{
	struct gendisk *disk = rq->q->disk;

	if (req_op(rq) != REQ_OP_WRITE || !disk || !rq->bio || !bio_has_data(rq->bio))
		return false;
	if (disk->major == LOOP_MAJOR)
		return true;
	/* It has memory of its own, and is what costs are compared with. */
	return strncmp(disk->disk_name, "nullb", 5) && !is_hardware(disk);
}

/* Add @sign times the first @bytes of @rq. */
static void hands_count(const struct request *rq, unsigned int bytes, int sign)
{
	struct bvec_iter iter;
	struct bio_vec bv;
	unsigned int n;
	struct bio *bio;

	__rq_for_each_bio(bio, rq) {
		bio_for_each_segment(bv, bio, iter) {
			n = min(bv.bv_len, bytes);
			if (!n)
				return;
			atomic_add(sign * (int)n, hands_slot_of(bv.bv_page));
			bytes -= n;
		}
	}
}

static struct bucket *hands_bucket_of(const struct request *rq)
{
	return &buckets[hash_ptr(rq, BUCKET_BITS)];
}

static struct held *hands_find(struct bucket *bucket, const struct request *rq)
{
	struct held *held;

	lockdep_assert_held(&bucket->lock);
	hlist_for_each_entry(held, &bucket->held, node)
		if (held->rq == rq)
			return held;
	return NULL;
}

/* The trace point: a driver begins with @rq. */
static void hands_see_issue(void *unused, struct request *rq)
{
	struct bucket *bucket;
	struct held *held;
	unsigned long flags;

	if (!passes_on(rq))
		return;
	atomic_inc(&hands_busy);
	held = kmalloc(sizeof(*held), GFP_ATOMIC | __GFP_NOWARN);
	if (!held)
		atomic_inc(&forgotten);
	bucket = hands_bucket_of(rq);
	spin_lock_irqsave(&bucket->lock, flags);
	/* What it had before has ended without a word, and stays counted. */
	if (held && !hands_find(bucket, rq)) {
		held->rq = rq;
		held->in_part = false;
		hlist_add_head(&held->node, &bucket->held);
		held = NULL;
	}
	hands_count(rq, blk_rq_bytes(rq), 1);
	spin_unlock_irqrestore(&bucket->lock, flags);
	kfree(held);
}

/* @bytes of @rq have come back. */
static void hands_give_back(const struct request *rq, unsigned int bytes)
{
	struct bucket *bucket = hands_bucket_of(rq);
	struct held *held;
	unsigned long flags;
	bool all;

	spin_lock_irqsave(&bucket->lock, flags);
	held = hands_find(bucket, rq);
	if (held) {
		all = bytes >= blk_rq_bytes(rq);
		hands_count(rq, bytes, -1);
		if (all) {
			hlist_del(&held->node);
		} else {
			held->in_part = true;
			held = NULL;
		}
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (!held)
		return;
	atomic_dec(&hands_busy);
	kfree(held);
}

static void hands_see_complete(void *unused, struct request *rq, blk_status_t error,
			       unsigned int bytes)
{
	if (unlikely(atomic_read(&hands_busy)))
		hands_give_back(rq, bytes);
}

static void hands_see_requeue(void *unused, struct request *rq)
{
	if (unlikely(atomic_read(&hands_busy)))
		hands_give_back(rq, blk_rq_bytes(rq));
}

static void hands_stop_hearing(void)
{
	hear_no_more(issued, hands_see_issue);
	hear_no_more(completed, hands_see_complete);
	hear_no_more(requeued, hands_see_requeue);
	issued = NULL;
	completed = NULL;
	requeued = NULL;
	tracepoint_synchronize_unregister();
}

static struct tracepoint *hands_hear(const char *name, void *probe)
{
	struct tracepoint *tp = hear_tracepoint(name, probe);

	return IS_ERR(tp) ? NULL : tp;
}

/* What ends is heard before what begins: nothing is taken for ended that was not counted. */
static bool hands_begin_to_hear(void)
{
	check_trace_callback_type_block_rq_issue(hands_see_issue);
	check_trace_callback_type_block_rq_complete(hands_see_complete);
	check_trace_callback_type_block_rq_requeue(hands_see_requeue);
	completed = hands_hear("block_rq_complete", hands_see_complete);
	requeued = hands_hear("block_rq_requeue", hands_see_requeue);
	issued = completed && requeued ? hands_hear("block_rq_issue", hands_see_issue) : NULL;
	return issued;
}

void hands_watch(struct block_device *backing)
{
	unsigned int noio = memalloc_noio_save(), i;
	atomic_t *made;

	mutex_lock(&watch_lock);
	if (INJECTED(overio))
		planted_read(backing);
	if (slots)
		goto out;
	made = kvcalloc(1 << SLOT_BITS, sizeof(*made), GFP_KERNEL);
	if (made) {
		for (i = 0; i < ARRAY_SIZE(buckets); i++)
			spin_lock_init(&buckets[i].lock);
		/* Pairs with hands_look(). */
		smp_store_release(&slots, made);
		if (hands_begin_to_hear()) {
			atomic_dec(&hands_busy);
			goto out;
		}
		hands_stop_hearing();
		atomic_set(&hands_busy, 1);
		/* A reader may still look at the slots. There is one set of them at most. */
		for (i = 0; i < 1 << SLOT_BITS; i++)
			atomic_set(&made[i], 1);
		atomic_set(&forgotten, 1);
	}
	pr_warn_once("dm-david: the kernel does not tell which pages other devices have in hand: data written by direct I/O is stored\n");
out:
	mutex_unlock(&watch_lock);
	memalloc_noio_restore(noio);
}

void hands_exit(void)
{
	struct hlist_node *next;
	struct held *held;
	unsigned int i;

	if (!slots)
		return;
	hands_stop_hearing();
	for (i = 0; i < ARRAY_SIZE(buckets); i++)
		hlist_for_each_entry_safe(held, next, &buckets[i].held, node)
			kfree(held);
	kvfree(slots);
	slots = NULL;
}
