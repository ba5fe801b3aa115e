/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies between a file system and a fake disk: partitions, logical volumes, arrays.
 *
 * A file system on a logical volume sends its requests to the volume. Device-mapper and md pass
 * them on as clones, and the kernel's trace point block_bio_remap tells of each: this bio came
 * from that sector of that device. All clones and parts of a request share one array of bio_vecs.
 * So a trail leads from each bio that reaches the fake disk up to the device that the request was
 * first sent to, and to the sector there. Evidence is then the same as for a whole disk: what
 * the file system that has that device mounted writes there (owner.h).
 *
 * A trail is of one request, and of now. No table of who lies on whom can be out of date: if a
 * volume is moved away, its requests lead elsewhere. Layers that copy, encrypt or compute leave
 * no trail, or pages of their own, which nobody owns. What has no trail is kept.
 *
 * Parity needs the bytes of all members to restore those of one. So requests to an array with
 * parity, which may lend its members the file's own pages (skip_copy), have no trail.
 *
 * Locking: a trail's bucket has a spin lock, devices are found under RCU. No lock is of all disks.
 */
#ifndef DM_DAVID_STACK_H
#define DM_DAVID_STACK_H

#include <linux/jump_label.h>
#include "owner.h"

/* The trace point is heard: some fake disk was seen to be held by no file system. */
DECLARE_STATIC_KEY_FALSE(stack_is_watched);

/* No target is left. Sleeps. */
void stack_exit(void);

/*
 * Someone who is no file system holds the fake disk @bdev: begin to hear. Before that nothing is
 * heard. Any context but NMI.
 */
void stack_want(struct block_device *bdev);

/*
 * @bio has reached the fake disk of @watch. If a trail leads to a device that was mounted when the
 * request was sent there, sets @top to that device. @top holds the fake disk itself, and where
 * @bio lies there is to be in the bio still: call it before bi_sector is changed. Any context but
 * NMI.
 */
void stack_find(struct owner_watch *watch, const struct bio *bio, struct owner_top *top);

/* A line for each device in @watch->seen: MAJOR:MINOR and its file system's type, or "-". */
void stack_print(const struct owner_watch *watch, char *result, unsigned int size);

#endif
