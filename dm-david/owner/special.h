/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of regular files that are kept, although their owner says data.
 *
 * The kernel reads some files without their page cache, or the file system takes them over:
 * journals that tune2fs makes in a mounted file system, quota files, swap areas, md's bitmaps
 * (classifier/signature.h). A program has written them before, through the page cache like any
 * file.
 *
 * Records of quota files have no signature, only a form: small numbers. Much data has that form,
 * too. So if the form fits, the file decides. A quota file begins with a signature or, in the old
 * format, with records. Without a signature, the file must also be in the file system's root
 * directory, or have a quota file's usual name.
 *
 * A page of a file may also be the buffer of direct I/O to another file. A RAW rule may name that
 * file, so the page is kept.
 */
#ifndef DM_DAVID_SPECIAL_H
#define DM_DAVID_SPECIAL_H

#include <linux/blk_types.h>
#include "../uapi/dm-david.h"

struct raw;

/*
 * A write has the segment @bv, mapped at @p. @is_direct: it was sent as direct I/O. @evidence says
 * that it is data. Returns @evidence, or the evidence to keep the segment. May take the inode's
 * i_lock; RAW rules may take rename_lock. Does not sleep. Process context.
 */
enum david_evidence special_evidence(const struct raw *raw, bool is_direct,
				     enum david_evidence evidence, const struct bio_vec *bv,
				     const void *p);

#endif
