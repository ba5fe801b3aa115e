/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a read of squashed data returns.
 *
 * Content is a function of the seed and the place on the target disk, and of
 * nothing else: not of the block size, nor of how requests are cut. So the
 * same sector reads the same twice, across reboots, and whatever was squashed
 * in one request reads whole in another.
 *
 * Portable, any context. Cost of CONTENT_INCOMPRESSIBLE: about 1,200
 * instructions for 4 KiB.
 */
#ifndef DAVID_CONTENT_H
#define DAVID_CONTENT_H

#include "portable.h"

enum content_kind {
	CONTENT_ZEROS,
	CONTENT_INCOMPRESSIBLE,	/* no two words of a disk are equal */
	CONTENT_KINDS
};

/*
 * Fill @buf with @len bytes of the target disk from @offset bytes behind the
 * start of @sector (512 bytes each) on. Both may be any number.
 */
void content_fill(void *buf, enum content_kind kind, u64 seed, u64 sector, unsigned int offset,
		  unsigned int len);

/* The name in a table line, NULL if there is no such kind; and back, or -EINVAL. */
const char *content_name(enum content_kind kind);
int content_parse(const char *name);

#endif
