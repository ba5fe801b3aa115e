// SPDX-License-Identifier: GPL-2.0
/* From a bio back to the device that it was first sent to: see stack.h. */
#include "stack.h"

#include <linux/bio.h>
#include <linux/blk-mq.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <trace/events/block.h>
#include "../base/inject.h"
#include "../base/plantedio.h"
#include "../compat/compat.h"
#include "../lib/trail.h"
#include "../store/csum.h"
#include "hands.h"
#include "hear.h"

DEFINE_STATIC_KEY_FALSE(stack_is_watched);

/* Passages live as long as their requests: together some 100 bytes each. What gets none is kept. */
#define BUCKET_BITS	9
#define BUCKETS		BIT(BUCKET_BITS)
/* Nobody tells when a request ends: its queue may be full, or suspended, meanwhile. */
#define TRAIL_AGE	(60 * HZ)
/* A device that could not be looked up is tried again. */
#define RETRY_AGE	HZ
#define WANTED		16u

struct bucket {
	spinlock_t lock;	/* of @trails */
	struct trails trails;
};

/* A request's first device, and its sector there. */
struct origin {
	struct owner_dev *top;
	u64 sector;
	u32 data;		/* sectors from there on that another leg found data */
	bool is_aligned;
	bool is_direct;
};

/* Where a loop device's requests go, as root says. */
struct link {
	dev_t to;
	u64 sector;			/* of @to: the loop device's first */
	u64 diskseq;			/* of the loop device when that was said */
	struct rcu_head rcu;
};

/* A device that requests were sent on from. It stays until the module goes; its @bdev may not. */
struct stack_dev {
	struct hlist_node node;
	dev_t number;
	unsigned long failed;		/* to be looked up: jiffies, or 0 */
	struct link __rcu *link;	/* NULL: none was told of */
	atomic_t ends;			/* targets of this module in its tables: trails end here */
	struct owner_dev owner;
};

static struct bucket *buckets;
static DEFINE_MUTEX(devices_lock);	/* of entering @devices and links */
static DEFINE_HASHTABLE(devices, 6);	/* found under RCU */
static struct tracepoint *rq_issue;	/* NULL until a link is told of */
static struct tracepoint *bio_queue;

/* What the trace point asks of the work. */
static DEFINE_SPINLOCK(wanted_lock);
static dev_t wanted[WANTED];
static unsigned int wanted_nr;
static typeof_member(struct device, class) disk_class;	/* of all disks; NULL before stack_want() */
static void find_wanted(struct work_struct *work);
static DECLARE_WORK(wanted_work, find_wanted);

static struct stack_dev *device_of(dev_t number)
{
	struct stack_dev *dev;

	hash_for_each_possible_rcu(devices, dev, node, number)
		if (dev->number == number)
			return dev;
	return NULL;
}

/* Its number may have been given to another device since then. */
static bool is_gone(struct block_device *bdev)
{
	return !bdev || inode_unhashed(compat_bdev_inode(bdev));
}

static void want_device(dev_t number)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&wanted_lock, flags);
	for (i = 0; i < wanted_nr && wanted[i] != number; i++)
		;
	if (i == wanted_nr && wanted_nr < WANTED) {
		wanted[wanted_nr++] = number;
		schedule_work(&wanted_work);
	}
	spin_unlock_irqrestore(&wanted_lock, flags);
}

/*
 * Layers share a request's bio_vecs, or copy them. Its first page stays the same. A loop device
 * hands down bio_vecs from the current one on.
 */
static const struct page *first_page(const struct bio *bio)
{
	return bio->bi_io_vec->bv_page;
}

static struct bucket *stack_bucket_of(const struct page *page)
{
	return &buckets[hash_ptr(page, BUCKET_BITS)];
}

static void free_passages(struct passage *freed)
{
	struct passage *next;

	for (; freed; freed = next) {
		next = freed->next;
		kfree(freed);
	}
}

/* The passage of the request that @bio is of to @sector of @to, or NULL. */
static struct passage *find_passage(struct bucket *bucket, const struct bio *bio, dev_t to,
				    sector_t sector)
{
	struct trail_bio on = {
		.page = first_page(bio),
		.vecs = bio->bi_io_vec,
		.sector = sector,
		.sectors = bio_sectors(bio),
		.to = to,
	};

	lockdep_assert_held(&bucket->lock);
	return trails_find(&bucket->trails, &on, get_jiffies_64(), TRAIL_AGE);
}

/* Does @bio go to a driver of hardware? Of those only loop devices send on. */
static bool stack_is_last(const struct bio *bio)
{
	struct gendisk *disk = bio->bi_bdev->bd_disk;
	const struct stack_dev *dev;

	if (disk->fops->submit_bio)
		return false;
	dev = device_of(disk_devt(disk));
	return !dev || !rcu_access_pointer(dev->link);
}

/* Where @bio goes from the device @number: a bio to a partition goes on with that in bi_bdev. */
static dev_t target_of(const struct bio *bio, dev_t number)
{
	dev_t to = bio->bi_bdev->bd_dev;

	return to == number ? disk_devt(bio->bi_bdev->bd_disk) : to;
}

/*
 * @bio was sent to @from of @dev, which a file system has mounted. May a trail begin there? Not if
 * @bio is marked: layers drop the marks. Nor if a page of it is in the hands of another driver.
 * Sets @origin.
 */
static bool stack_departs(struct stack_dev *dev, struct bio *bio, sector_t from,
			  struct origin *origin)
{
	if (owner_is_marked(bio->bi_opf) && !INJECTED(unmarked))
		return false;
	*origin = (struct origin){
		.top = &dev->owner,
		.sector = from,
		.is_aligned = true,
		.is_direct = owner_is_direct(bio->bi_opf),
	};
	/* Other pages than buffers tell by themselves: the file system writes its own. */
	return !origin->is_direct || !hands_have_any(bio);
}

static bool ends_here(const struct stack_dev *dev)
{
	return atomic_read(&dev->ends) && !INJECTED(upper);
}

static bool is_departure(const struct passage *passage)
{
	const struct owner_dev *top = passage->top;

	return container_of(top, struct stack_dev, owner)->number == passage->to;
}

/* Sets @origin for @bio, which was sent to @from of @dev. False: its trail does not lead here. */
static bool find_origin(struct stack_dev *dev, struct block_device *bdev, struct bio *bio,
			sector_t from, struct origin *origin)
{
	struct bucket *bucket = stack_bucket_of(first_page(bio));
	struct passage *passage;
	unsigned long flags;

	if (from < FS_SUPERS_END)
		owner_see_super(&dev->owner, bio, from);
	if (ends_here(dev))
		return false;
	if (compat_has_parity(bdev) && !INJECTED(parity))
		return false;
	/* The request itself is remapped: it is not queued before that. */
	if (bdev_is_partition(bdev) && owner_has_mounted(&dev->owner, bio))
		return stack_departs(dev, bio, from, origin);
	spin_lock_irqsave(&bucket->lock, flags);
	passage = find_passage(bucket, bio, dev->number, from);
	if (passage) {
		passage->has_led = true;
		*origin = (struct origin){
			.top = passage->top,
			.sector = passage->top_sector + from - passage->sector,
			.data = passage_data(passage, from),
			.is_aligned = passage->is_aligned,
			.is_direct = passage->is_direct,
		};
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	return passage;
}

/* A bio goes where @next leads, and has no trail. What was laid there was of an earlier one. */
static void cut_trail(const struct passage *next)
{
	struct bucket *bucket = stack_bucket_of(next->page);
	struct passage *freed;
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	freed = trails_cut(&bucket->trails, next);
	spin_unlock_irqrestore(&bucket->lock, flags);
	free_passages(freed);
}

/* A request that has come from @origin, and was at @from, goes on to @next. */
static void lay_passage(const struct origin *origin, sector_t from, struct passage *next)
{
	struct passage *memory = kmalloc(sizeof(*memory), GFP_ATOMIC | __GFP_NOWARN), *freed;
	struct bucket *bucket = stack_bucket_of(next->page);
	unsigned long flags;

	next->top = origin->top;
	next->top_sector = origin->sector;
	next->since = get_jiffies_64();
	next->left = next->sectors;
	next->data = min(origin->data, next->sectors);
	next->is_aligned = origin->is_aligned && !((next->sector ^ from) % CSUM_SECTORS);
	next->is_direct = origin->is_direct;
	spin_lock_irqsave(&bucket->lock, flags);
	freed = trails_lay(&bucket->trails, next, memory, TRAIL_AGE);
	spin_unlock_irqrestore(&bucket->lock, flags);
	free_passages(freed);
}

/* @bio is on its way to @to. */
static struct passage passage_of(const struct bio *bio, dev_t to)
{
	return (struct passage){
		.page = first_page(bio),
		.vecs = bio->bi_io_vec,
		.to = to,
		.sector = bio->bi_iter.bi_sector,
		.sectors = bio_sectors(bio),
	};
}

static bool is_write(const struct bio *bio)
{
	return bio_op(bio) == REQ_OP_WRITE && bio->bi_iter.bi_size;
}

/*
 * The trace point: @bio is sent to a device by whoever made it. Each bio passes here once. If a
 * file system has the device mounted, this is where its request departs.
 */
static void stack_see_queue(void *unused, struct bio *bio)
{
	struct block_device *bdev;
	struct stack_dev *dev;
	struct origin origin;
	struct passage next;

	/* To a partition it has departed already: stack_see_remap(). */
	if (!is_write(bio) || bio_flagged(bio, BIO_REMAPPED))
		return;
	rcu_read_lock();
	dev = device_of(bio->bi_bdev->bd_dev);
	bdev = dev ? READ_ONCE(dev->owner.bdev) : NULL;
	if (!is_gone(bdev) && !ends_here(dev) && owner_has_mounted(&dev->owner, bio)) {
		next = passage_of(bio, dev->number);
		/* An array with parity has pages of files in vecs of its own. */
		if (INJECTED(parity))
			next.vecs = NULL;
		if (stack_departs(dev, bio, next.sector, &origin))
			lay_passage(&origin, next.sector, &next);
		else
			cut_trail(&next);
	}
	rcu_read_unlock();
}

/* The trace point: @bio, which was at @from of the device @number, goes on to another. */
static void stack_see_remap(void *unused, struct bio *bio, dev_t number, sector_t from)
{
	struct block_device *bdev;
	struct stack_dev *dev;
	struct origin origin;
	struct passage next;
	bool comes;

	if (!is_write(bio))
		return;
	rcu_read_lock();
	dev = device_of(number);
	bdev = dev ? READ_ONCE(dev->owner.bdev) : NULL;
	if (is_gone(bdev)) {
		if (!dev || !dev->failed || time_after(jiffies, dev->failed + RETRY_AGE))
			want_device(number);
	} else {
		comes = find_origin(dev, bdev, bio, from, &origin);
		if (!stack_is_last(bio)) {
			next = passage_of(bio, target_of(bio, number));
			if (comes)
				lay_passage(&origin, from, &next);
			else
				cut_trail(&next);
		}
	}
	rcu_read_unlock();
}

/* Sets @origin for the bios of @rq, if all have come from neighbouring places of one device. */
static bool find_origin_of_request(struct stack_dev *dev, struct block_device *bdev,
				   const struct request *rq, struct origin *origin)
{
	struct origin one;
	struct bio *bio;
	u64 sectors = 0;

	__rq_for_each_bio(bio, rq) {
		if (!find_origin(dev, bdev, bio, bio->bi_iter.bi_sector, &one))
			return false;
		if (!sectors)
			*origin = one;
		else if (one.top != origin->top || one.sector != origin->sector + sectors)
			return false;
		if (one.data >= bio_sectors(bio) && origin->data >= sectors)
			origin->data = sectors + one.data;
		origin->is_aligned &= one.is_aligned;
		origin->is_direct |= one.is_direct;
		sectors += bio_sectors(bio);
	}
	return true;
}

/*
 * The trace point: a driver begins with @rq. A loop device with direct I/O sends it on as one bio,
 * with the bio_vecs of its only bio or with a copy of all. What it is told to be on may be false:
 * then the request does not arrive there.
 */
static void stack_see_issue(void *unused, struct request *rq)
{
	struct gendisk *disk = rq->q->disk;
	const struct bio_vec *first;
	struct block_device *bdev;
	struct stack_dev *dev;
	struct origin origin;
	struct passage next;
	struct link *link;

	if (req_op(rq) != REQ_OP_WRITE || !disk || !rq->bio || !bio_has_data(rq->bio))
		return;
	rcu_read_lock();
	dev = device_of(disk_devt(disk));
	link = dev ? rcu_dereference(dev->link) : NULL;
	bdev = dev ? READ_ONCE(dev->owner.bdev) : NULL;
	if (link && link->diskseq == disk->diskseq && !is_gone(bdev) &&
	    find_origin_of_request(dev, bdev, rq, &origin)) {
		first = __bvec_iter_bvec(rq->bio->bi_io_vec, rq->bio->bi_iter);
		next = (struct passage){
			.page = first->bv_page,
			.vecs = rq->bio == rq->biotail ? first : NULL,
			.to = link->to,
			.sector = blk_rq_pos(rq) + link->sector,
			.sectors = blk_rq_sectors(rq),
		};
		lay_passage(&origin, blk_rq_pos(rq), &next);
	}
	rcu_read_unlock();
}

static void note_seen(struct owner_watch *watch, struct owner_dev *dev)
{
	unsigned int i;

	for (i = 0; i < OWNER_SEEN && READ_ONCE(watch->seen[i]) != dev; i++)
		if (!READ_ONCE(watch->seen[i]) && !cmpxchg(&watch->seen[i], NULL, dev))
			break;
}

void stack_find(struct owner_watch *watch, const struct bio *bio, struct owner_top *top)
{
	sector_t sector = bio->bi_iter.bi_sector;
	struct bucket *bucket = stack_bucket_of(first_page(bio));
	struct passage *passage, *arrived = NULL;
	struct owner_dev *dev = NULL;
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	passage = find_passage(bucket, bio, watch->disk.bdev->bd_dev, sector);
	/* What departs here may go on to another disk (mode=model-only), but has come from none. */
	if (passage && !is_departure(passage) &&
	    !(INJECTED(lost) && passage->is_begun && sector & 16)) {
		dev = passage->top;
		top->dev = dev;
		top->offset += passage->top_sector - passage->sector;
		top->is_aligned = passage->is_aligned;
		top->is_direct = passage->is_direct;
		top->was_data = passage_data(passage, sector) >= bio_sectors(bio);
		/* Whoever writes the page here next has come another way. */
		arrived = trails_arrive(&bucket->trails, passage, bio_sectors(bio),
					get_jiffies_64());
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	kfree(arrived);
	if (dev && READ_ONCE(watch->seen[0]) != dev)
		note_seen(watch, dev);
}

void stack_found_data(const struct owner_top *top, const struct bio *bio, sector_t sector)
{
	struct bucket *bucket = stack_bucket_of(first_page(bio));
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	trails_were_data(&bucket->trails, first_page(bio), top->dev, sector + top->offset,
			 bio_sectors(bio));
	spin_unlock_irqrestore(&bucket->lock, flags);
}

/* What has @number now, or NULL. The reference is to its inode: a device may go all the same. */
static struct block_device *stack_grab(dev_t number)
{
	struct device *device = class_find_device_by_devt(disk_class, number);
	struct block_device *bdev = NULL;

	if (!device)
		return NULL;
	if (igrab(compat_bdev_inode(dev_to_bdev(device))))
		bdev = dev_to_bdev(device);
	put_device(device);
	return bdev;
}

/* What is known of @number, at first nothing. NULL: not enough memory. */
static struct stack_dev *stack_entry_of(dev_t number)
{
	struct stack_dev *dev;

	lockdep_assert_held(&devices_lock);
	rcu_read_lock();
	dev = device_of(number);
	rcu_read_unlock();
	if (dev)
		return dev;
	dev = kzalloc(sizeof(*dev), GFP_NOIO);
	if (dev) {
		dev->number = number;
		hash_add_rcu(devices, &dev->node, number);
	}
	return dev;
}

/* NULL: not enough memory. */
static struct stack_dev *enter_device(dev_t number)
{
	struct stack_dev *dev = stack_entry_of(number);
	struct block_device *bdev;

	if (!dev || dev->owner.bdev)
		return dev;
	bdev = stack_grab(number);
	WRITE_ONCE(dev->failed, bdev ? 0 : jiffies | 1);
	/* What its predecessor's superblocks said. */
	memset(dev->owner.fs_end, 0, sizeof(dev->owner.fs_end));
	dev->owner.csum_type = OWNER_CSUM_UNKNOWN;
	if (bdev)
		owner_see_cached(&dev->owner, bdev);
	/* Pairs with the look at it in stack_see_remap(): what is known of it comes first. */
	smp_store_release(&dev->owner.bdev, bdev);
	return dev;
}

static void stack_drop(struct stack_dev *dev)
{
	struct block_device *bdev = dev->owner.bdev;

	WRITE_ONCE(dev->owner.bdev, NULL);
	synchronize_rcu();
	iput(compat_bdev_inode(bdev));
}

static void free_buckets(void)
{
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		free_passages(buckets[i].trails.first);
	kvfree(buckets);
	buckets = NULL;
}

static bool stack_begin_to_hear(void)
{
	unsigned int i;

	lockdep_assert_held(&devices_lock);
	if (buckets)
		return true;
	buckets = kvcalloc(BUCKETS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets)
		return false;
	for (i = 0; i < BUCKETS; i++)
		spin_lock_init(&buckets[i].lock);
	check_trace_callback_type_block_bio_queue(stack_see_queue);
	bio_queue = hear_tracepoint("block_bio_queue", stack_see_queue);
	if (IS_ERR(bio_queue) || register_trace_block_bio_remap(stack_see_remap, NULL)) {
		hear_no_more(IS_ERR(bio_queue) ? NULL : bio_queue, stack_see_queue);
		tracepoint_synchronize_unregister();
		free_buckets();
		return false;
	}
	static_branch_enable(&stack_is_watched);
	return true;
}

static void drop_gone(void)
{
	struct stack_dev *dev;
	unsigned int i;

	hash_for_each(devices, i, dev, node)
		if (dev->owner.bdev && is_gone(dev->owner.bdev))
			stack_drop(dev);
}

static void find_wanted(struct work_struct *work)
{
	unsigned int noio = memalloc_noio_save();
	dev_t numbers[WANTED];
	unsigned int i, nr;

	mutex_lock(&devices_lock);
	if (!stack_begin_to_hear()) {
		pr_warn_once("dm-david: the kernel does not tell who lies on a disk: data that comes through other devices is stored\n");
		goto out;
	}
	drop_gone();
	spin_lock_irq(&wanted_lock);
	nr = wanted_nr;
	memcpy(numbers, wanted, sizeof(numbers));
	wanted_nr = 0;
	spin_unlock_irq(&wanted_lock);
	for (i = 0; i < nr; i++)
		enter_device(numbers[i]);
out:
	mutex_unlock(&devices_lock);
	memalloc_noio_restore(noio);
}

static int hear_requests(void)
{
	struct tracepoint *tp;

	lockdep_assert_held(&devices_lock);
	check_trace_callback_type_block_rq_issue(stack_see_issue);
	if (rq_issue)
		return 0;
	tp = hear_tracepoint("block_rq_issue", stack_see_issue);
	if (IS_ERR(tp))
		return PTR_ERR(tp);
	rq_issue = tp;
	return 0;
}

int stack_end_trails(dev_t number, int change)
{
	unsigned int noio = memalloc_noio_save();
	struct stack_dev *dev;

	mutex_lock(&devices_lock);
	dev = stack_entry_of(number);
	if (dev)
		atomic_add(change, &dev->ends);
	mutex_unlock(&devices_lock);
	memalloc_noio_restore(noio);
	return dev ? 0 : -ENOMEM;
}

int stack_link(struct block_device *disk, dev_t number, u64 diskseq, dev_t to, u64 sector)
{
	/* The message that tells of it may come while the disk is suspended. */
	struct link *link = kmalloc(sizeof(*link), GFP_NOIO), *old;
	unsigned int noio = memalloc_noio_save();
	struct stack_dev *dev;
	int r = -ENOMEM;

	if (!link)
		goto out;
	*link = (struct link){ .to = to, .sector = sector, .diskseq = diskseq };
	stack_want(disk);
	mutex_lock(&devices_lock);
	if (INJECTED(overio))
		planted_read(disk);
	if (stack_begin_to_hear()) {
		drop_gone();
		dev = enter_device(number);
		if (dev)
			r = dev->owner.bdev ? hear_requests() : -ENODEV;
	}
	if (!r) {
		old = rcu_replace_pointer(dev->link, link, lockdep_is_held(&devices_lock));
		link = old;
	}
	mutex_unlock(&devices_lock);
	kfree_rcu(link, rcu);
out:
	memalloc_noio_restore(noio);
	return r;
}

void stack_want(struct block_device *bdev)
{
	if (likely(READ_ONCE(disk_class)))
		return;
	WRITE_ONCE(disk_class, disk_to_dev(bdev->bd_disk)->class);
	schedule_work(&wanted_work);
}

void stack_print(const struct owner_watch *watch, char *result, unsigned int size)
{
	const struct super_block *sb;
	const struct owner_dev *dev;
	struct block_device *bdev;
	unsigned int i, len = 0;

	result[0] = '\0';
	rcu_read_lock();
	if (READ_ONCE(watch->disk.bdev->bd_holder) && !compat_bdev_super(watch->disk.bdev))
		stack_want(watch->disk.bdev);
	for (i = 0; i < OWNER_SEEN; i++) {
		dev = READ_ONCE(watch->seen[i]);
		bdev = dev ? READ_ONCE(dev->bdev) : NULL;
		if (!bdev)
			continue;
		sb = compat_bdev_super(bdev);
		len += scnprintf(result + len, size - len, "%s%u:%u %s", len ? "\n" : "",
				 MAJOR(bdev->bd_dev), MINOR(bdev->bd_dev),
				 sb ? sb->s_type->name : owner_is_btrfs(dev) ? "btrfs" : "-");
	}
	rcu_read_unlock();
}

void stack_exit(void)
{
	struct stack_dev *dev;
	struct hlist_node *next;
	unsigned int i;

	cancel_work_sync(&wanted_work);
	if (buckets) {
		static_branch_disable(&stack_is_watched);
		hear_no_more(rq_issue, stack_see_issue);
		hear_no_more(bio_queue, stack_see_queue);
		unregister_trace_block_bio_remap(stack_see_remap, NULL);
		tracepoint_synchronize_unregister();
		cancel_work_sync(&wanted_work);
	}
	hash_for_each_safe(devices, i, next, dev, node) {
		if (dev->owner.bdev)
			stack_drop(dev);
		hash_del(&dev->node);
		kfree(rcu_dereference_protected(dev->link, true));
		kfree(dev);
	}
	if (buckets)
		free_buckets();
}
