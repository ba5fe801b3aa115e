/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies between a file system and a fake disk: partitions, logical volumes, arrays.
 *
 * A file system on a logical volume sends its requests to the volume. Device-mapper and md pass
 * them on as clones, and the kernel's trace point block_bio_remap tells of each: this bio came
 * from that sector of that device. All clones and parts of a request begin their bio_vecs with the
 * same page. So a trail leads from each bio that reaches the fake disk up to the device that the
 * request was first sent to, and to the sector there. Evidence is then the same as for a whole
 * disk: what the file system that has that device mounted writes there (owner.h).
 * The table of trails is lib/trail.h.
 *
 * A trail belongs to one request. There is no table of which device lies on which, so none can be
 * out of date: if a volume is moved away, its requests lead elsewhere. A layer that copies,
 * encrypts or computes leaves no trail, or sends pages of its own. Nobody owns such pages. What
 * has no trail is kept.
 *
 * A loop device with direct I/O hands down the pages, and the kernel does not tell where to. So the
 * user says what the device lies on: stack_link(). A trail counts only where a request arrives with
 * its page at the place that was said. So a false or old answer costs space and nothing else.
 *
 * Parity needs the bytes of all members to restore those of one. With skip_copy, md may write the
 * file's own pages to the members. So requests to an array with parity get no trail.
 *
 * Locking: each bucket of trails has a spin lock; requests of any disks may share a bucket. Devices
 * are found under RCU. One global spin lock is taken only for a device that is not known yet. A
 * mutex orders those who enter devices and links.
 */
#ifndef DM_DAVID_STACK_H
#define DM_DAVID_STACK_H

#include <linux/jump_label.h>
#include "owner.h"

/* True once the trace point is heard: something other than a file system holds a fake disk. */
DECLARE_STATIC_KEY_FALSE(stack_is_watched);

/* No target is left. Sleeps. */
void stack_exit(void);

/*
 * Someone who is no file system holds the fake disk @bdev: begin to hear. Before that nothing is
 * heard. Any context but NMI.
 */
void stack_want(struct block_device *bdev);

/*
 * The loop device @number, whose disk has the sequence number @diskseq (/sys/block/.../diskseq),
 * lies on the device @to from @sector on. @disk is any disk. -ENODEV: there is no such device.
 * -EOPNOTSUPP: this kernel has no trace point that tells. -ENOMEM. Sleeps.
 */
int stack_link(struct block_device *disk, dev_t number, u64 diskseq, dev_t to, u64 sector);

/*
 * So many more targets of the device @number (@change may be negative) are of this module, and want
 * back all that they send on. No trail leads on from there, so a fake disk below keeps it. 0 or
 * -ENOMEM; never fails for a device that was named before. Sleeps, but not for I/O.
 */
int stack_end_trails(dev_t number, int change);

/*
 * @bio has reached the fake disk of @watch. If a trail leads to a device that was mounted when the
 * request was sent there, sets @top to that device. On entry @top names the fake disk itself. Call
 * this before bi_sector is changed. Any context but NMI.
 */
void stack_find(struct owner_watch *watch, const struct bio *bio, struct owner_top *top);

/*
 * All that @bio writes at @sector of the fake disk is data, by the page owner. It came from @top.
 * Where a mirror sends the same to another disk, that is data, too, even if the file has been cut
 * meanwhile: a disk may have let its submitter wait. Any context but NMI.
 */
void stack_found_data(const struct owner_top *top, const struct bio *bio, sector_t sector);

/*
 * A line for each device in @watch->seen: MAJOR:MINOR and its file system's type, or "-". Who asks
 * wants to see: if someone who is no file system holds the fake disk, begin to hear. Process
 * context.
 */
void stack_print(const struct owner_watch *watch, char *result, unsigned int size);

#endif
