/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages that another block device's driver has in hand.
 *
 * A loop device with direct I/O gives the pages of its requests to the file that it lies on. If the
 * file is on a fake disk, they arrive there like any program's direct I/O to a file. But what is in
 * them belongs to whoever uses the loop device: a file system, LUKS, LVM. The file holds it for
 * them, and nobody knows which of it is metadata. ublk without copies, and the loopbacks of LIO and
 * NVMe, pass pages on likewise. So a page says nothing while a request of such a device is under
 * way with it, from the driver's start of the request to its end.
 *
 * Every driver of requests is taken for one that passes pages on, unless its disk hangs on real
 * hardware. What is counted by mistake is kept, and nothing else happens.
 *
 * Pages are counted in slots by their address, in bytes. If a page's slot is not empty, the
 * requests under way are looked through for it. While one of them has come back in part the slots
 * decide: its bios may be gone. A request that there is no memory to remember stays counted
 * permanently, and the slots decide from then on.
 */
#ifndef DM_DAVID_HANDS_H
#define DM_DAVID_HANDS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/types.h>

struct bio;
struct block_device;
struct page;

/* Requests under way; 1 more before hands_watch(). Not for others: hands_have(). */
extern atomic_t hands_busy;

/*
 * Begin to hear of requests: before the first fake disk can have a file system. Until then, and if
 * it fails, every page is in somebody's hands. To be called for each target, whose @backing device
 * only a planted bug looks at. Sleeps; takes no lock but its own.
 */
void hands_watch(struct block_device *backing);

/* No target is left. Sleeps. */
void hands_exit(void);

bool hands_look(const struct page *page);

/* Has a driver that may pass it on @page in hand? Any context. */
static inline bool hands_have(const struct page *page)
{
	return unlikely(atomic_read(&hands_busy)) && hands_look(page);
}

/* The same of any page of @bio. */
bool hands_have_any(struct bio *bio);

#endif
