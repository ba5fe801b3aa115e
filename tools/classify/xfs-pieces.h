/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What of an xfs image is metadata without a name: later pieces of directory
 * blocks larger than a block, and what the log holds that is not home.
 *
 * With the whole image at hand a directory's pieces are where its data fork
 * says. The fork is in the inode, or in leaves of a btree, and both carry the
 * file system's name and, the leaves, the inode's number. So no tree has to be
 * walked: each inode that is a directory and each leaf that belongs to one is
 * looked at where it lies. That is more than in_checkpoint would find, as inodes and
 * leaves that are free now may still lie there: what they name is called a
 * directory's, too.
 *
 * Where the log does not end in the record of an unmount, forks may be in the
 * log only. Of all its records since the tail, inodes and their forks count, and
 * the leaves as each of their changes leaves them; nothing is ever taken out, so
 * whether a transaction was committed does not matter. All that the log will
 * write when it is recovered counts as logged.
 */
#ifndef XFS_PIECES_H
#define XFS_PIECES_H

#include "../../classifier/xfs/xfs.h"
#include "kinds.h"
#include "mapped.h"

/*
 * @view has all sectors of the volume that geo->sectors says, and its superblock is the first
 * sector. @kind tells of each block what xfs_identify() says by itself (enum selfid_reason); of
 * SELFID_DATA, what is a directory's becomes SELFID_DIRECTORY, what is the log's SELFID_LOGGED.
 *
 * Returns the number of things that made no sense, behind which more may be hidden.
 */
u64 xfs_find_pieces(const struct xfs_geo *geo, const struct view *view,
		    struct kinds *kind);

#endif
