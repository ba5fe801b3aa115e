/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk's RAW rules in a store that lasts: pages of its own (metapages.h, rawpage.h).
 *
 * A change is durable before it counts and before the message that asks for it
 * returns. If it cannot be made durable it is refused, and nothing has changed.
 *
 * Rules that cannot be read when a store is opened could be about anything, so then
 * everything is RAW, by a rule that says so: sectors:0-18446744073709551615. It is
 * there to be seen and to be removed, and is not saved before another change is.
 */
#ifndef DM_DAVID_RAWSTORE_H
#define DM_DAVID_RAWSTORE_H

#include <linux/types.h>

struct block_device;
struct raw;
struct store;

struct rawstore {
	struct block_device *bdev;	/* the live table's; NULL: cannot be written now */
	u64 generation;			/* of the pages */
	bool opened;			/* since the store was, no table has been live */
};

/* A store that lasts was opened: its rules, which are not in use yet. 0 or -ENOMEM. Sleeps. */
int rawstore_open(struct store *store, struct block_device *bdev);

/*
 * A table becomes live, after wal_start(): if it brings rules, @from, they take the
 * place of those with which the store was opened; those of a disk that goes on they are
 * added to. @may_write: the table's. Returns 0 or an error, told in the log. Sleeps.
 */
int rawstore_start(struct store *store, struct block_device *bdev, bool may_write,
		   struct raw *from);

/* Before wal_stop(). Sleeps. */
void rawstore_stop(struct store *store);

#endif
