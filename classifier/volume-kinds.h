/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kinds of file systems, one line each. The core names them in no other place.
 *
 * VOLUME_KIND(NAME): the directory NAME/ defines `const struct volume_ops NAME_volume_ops`
 * (volume-ops.h). The core makes NAME_volume_kind, the number of the kind, of it.
 *
 * Where several kinds find their superblocks in one block of a probe, the last one counts. So xfs
 * comes behind ext, whose superblock does not begin the volume.
 *
 * This file has no include guard: see volume.h and volume-ops.h, which include it.
 */
VOLUME_KIND(ext)
VOLUME_KIND(btrfs)
VOLUME_KIND(xfs)
