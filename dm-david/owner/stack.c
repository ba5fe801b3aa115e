// SPDX-License-Identifier: GPL-2.0
/* From a bio back to the device that it was first sent to: see stack.h. */
#include "stack.h"

#include <linux/bio.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <trace/events/block.h>
#include "../base/inject.h"
#include "../compat/compat.h"

DEFINE_STATIC_KEY_FALSE(stack_is_watched);

/*
 * Trails of 512 requests, and of each 128 passages that may lead further: md collects 32 bios
 * before it sends them on. Together 2 MiB. What finds no room is kept.
 */
#define PASSAGES	128u
#define WAYS		4u
#define BUCKET_BITS	7
#define BUCKETS		BIT(BUCKET_BITS)
/* A trail ends with its request. Nobody tells when that is: a queue may be suspended meanwhile. */
#define TRAIL_AGE	(10 * HZ)
/* A device that could not be looked up is tried again. */
#define RETRY_AGE	HZ
#define WANTED		16u

/* Sectors of a request, where they have been sent, and where they were at first. */
struct passage {
	dev_t to;		/* 0: free */
	u32 sectors;
	u32 used;		/* by the trail's clock */
	u64 sector;		/* of @to */
	u64 top_sector;
};

struct trail {
	const struct bio_vec *vecs;	/* NULL: free. Only compared */
	struct owner_dev *top;
	unsigned long since;		/* jiffies */
	bool is_aligned;
	u8 nr;				/* of passages, free ones among them */
	u32 clock;
	struct passage passages[PASSAGES];
};

struct bucket {
	spinlock_t lock;	/* of @trails */
	struct trail trails[WAYS];
};

/* A device that requests were sent on from. It stays until the module goes; its @bdev may not. */
struct stack_dev {
	struct hlist_node node;
	dev_t number;
	unsigned long failed;		/* to be looked up: jiffies, or 0 */
	struct owner_dev owner;
};

static struct bucket *buckets;
static DEFINE_HASHTABLE(devices, 6);	/* entered by the work only, found under RCU */

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

static struct bucket *bucket_of(const struct bio_vec *vecs)
{
	return &buckets[hash_ptr(vecs, BUCKET_BITS)];
}

static bool is_fresh(const struct trail *trail)
{
	return time_before(jiffies, trail->since + TRAIL_AGE);
}

static struct trail *trail_of(struct bucket *bucket, const struct bio_vec *vecs)
{
	unsigned int i;

	for (i = 0; i < WAYS; i++)
		if (bucket->trails[i].vecs == vecs)
			return is_fresh(&bucket->trails[i]) ? &bucket->trails[i] : NULL;
	return NULL;
}

/* A trail for a request to @top: the one that it has already, or else the oldest. */
static struct trail *begin_trail(struct bucket *bucket, const struct bio_vec *vecs,
				 struct owner_dev *top)
{
	struct trail *trail = &bucket->trails[0];
	unsigned int i;

	for (i = 0; i < WAYS; i++) {
		if (bucket->trails[i].vecs == vecs) {
			trail = &bucket->trails[i];
			break;
		}
		if (time_before(bucket->trails[i].since, trail->since))
			trail = &bucket->trails[i];
	}
	if (trail->vecs != vecs || trail->top != top || !is_fresh(trail)) {
		trail->vecs = vecs;
		trail->top = top;
		trail->is_aligned = true;
		trail->nr = 0;
	}
	return trail;
}

/* A passage to @sectors sectors at @sector of @to, or NULL. */
static struct passage *passage_to(struct trail *trail, dev_t to, sector_t sector, u32 sectors)
{
	struct passage *passage;

	for (passage = trail->passages; passage < trail->passages + trail->nr; passage++)
		if (passage->to == to && sector >= passage->sector &&
		    sector + sectors <= passage->sector + passage->sectors) {
			passage->used = ++trail->clock;
			return passage;
		}
	return NULL;
}

/* A free one, or a new one, or the one that was used longest ago. */
static struct passage *free_passage(struct trail *trail)
{
	struct passage *passage, *oldest = trail->passages;

	for (passage = trail->passages; passage < trail->passages + trail->nr; passage++) {
		if (!passage->to)
			return passage;
		if ((s32)(passage->used - oldest->used) < 0)
			oldest = passage;
	}
	return trail->nr < PASSAGES ? &trail->passages[trail->nr++] : oldest;
}

/* Where @bio goes from the device @number: a bio to a partition goes on with that in bi_bdev. */
static dev_t target_of(const struct bio *bio, dev_t number)
{
	dev_t to = bio->bi_bdev->bd_dev;

	return to == number ? disk_devt(bio->bi_bdev->bd_disk) : to;
}

/* @bio was at @from of the device @number, and is now where it says. */
static void add_passage(struct trail *trail, const struct bio *bio, dev_t number, sector_t from,
			u64 top_sector)
{
	trail->since = jiffies;
	trail->is_aligned &= !((bio->bi_iter.bi_sector ^ from) % (PAGE_SIZE >> SECTOR_SHIFT));
	*free_passage(trail) = (struct passage){
		.to = target_of(bio, number),
		.sectors = bio_sectors(bio),
		.used = ++trail->clock,
		.sector = bio->bi_iter.bi_sector,
		.top_sector = top_sector,
	};
}

/* The trace point: @bio, which was at @from of the device @number, goes on to another. */
static void see_remap(void *unused, struct bio *bio, dev_t number, sector_t from)
{
	struct passage *passage;
	struct stack_dev *dev;
	struct bucket *bucket;
	struct trail *trail;
	unsigned long flags;
	bool is_top;

	if (bio_op(bio) != REQ_OP_WRITE || !bio_has_data(bio))
		return;
	rcu_read_lock();
	dev = device_of(number);
	if (!dev || is_gone(READ_ONCE(dev->owner.bdev))) {
		if (!dev || !dev->failed || time_after(jiffies, dev->failed + RETRY_AGE))
			want_device(number);
		goto out;
	}
	if (from < FS_SUPERS_END)
		owner_see_super(&dev->owner, bio, from);
	if (compat_has_parity(dev->owner.bdev) && !INJECTED(parity))
		goto out;
	is_top = owner_has_mounted(&dev->owner, bio);
	bucket = bucket_of(bio->bi_io_vec);
	spin_lock_irqsave(&bucket->lock, flags);
	if (is_top) {
		trail = begin_trail(bucket, bio->bi_io_vec, &dev->owner);
		add_passage(trail, bio, number, from, from);
	} else {
		trail = trail_of(bucket, bio->bi_io_vec);
		passage = trail ? passage_to(trail, number, from, bio_sectors(bio)) : NULL;
		if (passage)
			add_passage(trail, bio, number, from,
				    passage->top_sector + from - passage->sector);
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
out:
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
	struct bucket *bucket = bucket_of(bio->bi_io_vec);
	sector_t sector = bio->bi_iter.bi_sector;
	struct owner_dev *dev = NULL;
	struct passage *passage;
	struct trail *trail;
	unsigned long flags;

	spin_lock_irqsave(&bucket->lock, flags);
	trail = trail_of(bucket, bio->bi_io_vec);
	passage = trail ? passage_to(trail, watch->disk.bdev->bd_dev, sector, bio_sectors(bio)) :
			  NULL;
	if (passage) {
		dev = trail->top;
		top->dev = dev;
		top->offset += passage->top_sector - passage->sector;
		top->is_aligned = trail->is_aligned;
		/* Whoever uses the memory of the bio_vecs next does not come by here. */
		if (passage->sectors == bio_sectors(bio))
			passage->to = 0;
	}
	spin_unlock_irqrestore(&bucket->lock, flags);
	if (dev && READ_ONCE(watch->seen[0]) != dev)
		note_seen(watch, dev);
}

/* What has @number now, or NULL. The reference is to its inode: a device may go all the same. */
static struct block_device *grab(dev_t number)
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

static void enter_device(dev_t number)
{
	struct stack_dev *dev = device_of(number);
	struct block_device *bdev;

	if (!dev) {
		dev = kzalloc(sizeof(*dev), GFP_KERNEL);
		if (!dev)
			return;
		dev->number = number;
		hash_add_rcu(devices, &dev->node, number);
	}
	if (dev->owner.bdev)
		return;
	bdev = grab(number);
	WRITE_ONCE(dev->failed, bdev ? 0 : jiffies | 1);
	/* What its predecessor's superblocks said. */
	memset(dev->owner.fs_end, 0, sizeof(dev->owner.fs_end));
	dev->owner.csum_type = OWNER_CSUM_UNKNOWN;
	if (bdev)
		owner_see_cached(&dev->owner, compat_bdev_inode(bdev)->i_mapping);
	/* Pairs with the look at it in see_remap(): what is known of it comes first. */
	smp_store_release(&dev->owner.bdev, bdev);
}

static void drop(struct stack_dev *dev)
{
	struct block_device *bdev = dev->owner.bdev;

	WRITE_ONCE(dev->owner.bdev, NULL);
	synchronize_rcu();
	iput(compat_bdev_inode(bdev));
}

static bool begin_to_hear(void)
{
	unsigned int i;

	buckets = kvcalloc(BUCKETS, sizeof(*buckets), GFP_KERNEL);
	if (!buckets)
		return false;
	for (i = 0; i < BUCKETS; i++)
		spin_lock_init(&buckets[i].lock);
	if (register_trace_block_bio_remap(see_remap, NULL)) {
		kvfree(buckets);
		buckets = NULL;
		return false;
	}
	static_branch_enable(&stack_is_watched);
	return true;
}

static void find_wanted(struct work_struct *work)
{
	struct stack_dev *dev;
	dev_t numbers[WANTED];
	unsigned int i, nr;

	if (!buckets && !begin_to_hear()) {
		pr_warn_once("dm-david: the kernel does not tell who lies on a disk: data that comes through other devices is stored\n");
		return;
	}
	hash_for_each(devices, i, dev, node)
		if (dev->owner.bdev && is_gone(dev->owner.bdev))
			drop(dev);
	spin_lock_irq(&wanted_lock);
	nr = wanted_nr;
	memcpy(numbers, wanted, sizeof(numbers));
	wanted_nr = 0;
	spin_unlock_irq(&wanted_lock);
	for (i = 0; i < nr; i++)
		enter_device(numbers[i]);
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
	if (!buckets)
		return;
	static_branch_disable(&stack_is_watched);
	unregister_trace_block_bio_remap(see_remap, NULL);
	tracepoint_synchronize_unregister();
	cancel_work_sync(&wanted_work);
	hash_for_each_safe(devices, i, next, dev, node) {
		if (dev->owner.bdev)
			drop(dev);
		hash_del(&dev->node);
		kfree(dev);
	}
	kvfree(buckets);
}
