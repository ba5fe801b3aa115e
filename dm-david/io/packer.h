/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The packer: blocks that are kept, in fewer places of the store (store/packs.h).
 *
 * It goes through the disk once, from the message `pack` to the message's end. It reads each block
 * that is stored, as the disk's user would, and codes it. A full pack is written and made durable.
 * Then it takes each of its blocks alone: it locks the block's range, reads the pack and the block
 * again, and compares them. Only if all bytes are equal does the block become one of the pack, by
 * an entry in the table. So nothing has to know what is written to the disk meanwhile: a block that
 * was written since differs, or waits.
 *
 * The blocks' places are freed as if the blocks had been written anew. They are used again when the
 * entry is durable. A crash leaves a block in its place or in its pack.
 */
#ifndef DM_DAVID_PACKER_H
#define DM_DAVID_PACKER_H

#include <linux/types.h>

struct david;

struct packed {
	u64 blocks;	/* packed */
	u64 packs;	/* of these */
	u64 places;	/* that the packs take */
	u64 changed;	/* written meanwhile: left as they are */
	u64 long_ones;	/* would not have become shorter, or too little */
	const char *stopped;	/* why it ended before the disk's end, or NULL */
};

/*
 * Pack what is stored. Returns 0, or an error with its text in *@error. With 0, @packed->stopped
 * may tell that it ended early: what was done is whole. Sleeps, for long.
 */
int pack_disk(struct david *d, struct packed *packed, const char **error);

/*
 * Before the device is suspended, or removed: let pack_disk() end early, and wait for that.
 * Requests must still be served. Sleeps.
 */
void packer_stop(struct david *d);
/* It may pack again. */
void packer_start(struct david *d);

#endif
