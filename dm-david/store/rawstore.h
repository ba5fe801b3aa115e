/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A disk's RAW rules in a store that survives: they are metapages (metapages.h, rawpage.h).
 *
 * A change is durable before it takes effect, and before the message that asks for it returns. If
 * it cannot be made durable, it is refused and nothing changes.
 *
 * If the rules cannot be read when a store is opened, everything is RAW, because they could be
 * about anything. There is a rule for that, sectors:0-18446744073709551615, which the user can see
 * and remove. It is saved with the next change.
 */
#ifndef DM_DAVID_RAWSTORE_H
#define DM_DAVID_RAWSTORE_H

#include <linux/types.h>

struct block_device;
struct raw;
struct store;

struct rawstore {
	struct block_device *bdev;	/* of the live table; NULL: rules cannot be written now */
	u64 generation;			/* of the pages */
	bool opened;			/* the store was opened, and no table has been live yet */
};

/* A store that survives was opened: read its rules. Returns 0 or -ENOMEM. Sleeps. */
int rawstore_open(struct store *store, struct block_device *bdev);

/*
 * A table becomes live, after wal_start(). @from: rules in its table line. If the store was just
 * opened they replace its rules; on a reload they are added. @may_write: the table is not
 * read-only. Returns 0, or an error whose reason is in the kernel log. Sleeps.
 */
int rawstore_start(struct store *store, struct block_device *bdev, bool may_write,
		   struct raw *from);

/* From now on rules cannot be changed. Call before wal_stop(). Sleeps. */
void rawstore_stop(struct store *store);

#endif
