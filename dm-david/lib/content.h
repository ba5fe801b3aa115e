/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a read of squashed data returns.
 *
 * Content depends on the seed and the place on the target disk only, not on the block size or on
 * requests. So a sector always reads the same, also after a reboot, and also if it is read with
 * other sectors than it was written with.
 *
 * Portable, any context. Cost for 4 KiB: see docs/CONTENT.md; of
 * CONTENT_INCOMPRESSIBLE about 1,200 instructions.
 */
#ifndef DAVID_CONTENT_H
#define DAVID_CONTENT_H

#include "../portable/portable.h"

enum content_kind {
	CONTENT_ZEROS,
	CONTENT_INCOMPRESSIBLE,	/* no two words of a disk are equal */
	CONTENT_COMPRESSIBLE,	/* each 4 KiB: incompressible bytes, then zeros */
	CONTENT_TEXT,		/* pangrams, a line of 64 bytes each */
	CONTENT_PATTERN,	/* one word of 8 bytes, repeated */
	CONTENT_STAMP,		/* each word of a sector is the sector's number, little-endian */
	CONTENT_KINDS
};

/* Of compressible content: what gzip -6 makes of it, in thousandths of its size. */
#define CONTENT_MIN_RATIO	20
#define CONTENT_MAX_RATIO	1000

struct content {
	enum content_kind kind;
	u32 ratio;		/* CONTENT_COMPRESSIBLE */
	u8 word[8];		/* CONTENT_PATTERN: as they stand on the disk */
};

/*
 * Fill @buf with @len bytes of the target disk, from @offset bytes behind the start of @sector on.
 * @offset and @len may be any number.
 */
void content_fill(void *buf, const struct content *c, u64 seed, u64 sector, unsigned int offset,
		  unsigned int len);

/* What a seed comes to, worked out beforehand. */
struct content_key {
	u64 a, b;
};

struct content_key content_key(u64 seed);

/* The same for CONTENT_INCOMPRESSIBLE, from the byte @at of the disk on. */
void content_fill_incompressible(void *buf, const struct content_key *key, u64 at,
				 unsigned int len);

/* The same for the place @at in bytes: of a disk, or of a file with a seed of its own. */
void content_fill_at(void *buf, const struct content *c, u64 seed, u64 at, unsigned int len);

/*
 * The low bits of the first word of each 4 KiB of incompressible and of compressible content: they
 * depend on the seed alone. The word is little-endian.
 */
#define CONTENT_MARK	511
u64 content_mark(u64 seed);

/*
 * As it stands in a table line: KIND, compressible:RATIO or pattern:HEX, where
 * HEX is 1, 2, 4 or 8 bytes. content_parse() returns NULL, or what is wrong,
 * with *c as it was. content_print() writes at most @size bytes, the final 0
 * included; CONTENT_TEXT_SIZE are enough for all.
 */
#define CONTENT_TEXT_SIZE	32
#define CONTENT_WORDS \
	"zeros, incompressible, compressible:20 (to 1000), text, pattern:HEX, stamp"

const char *content_parse(const char *text, struct content *c);
void content_print(const struct content *c, char *text, size_t size);

/* The word of a kind, NULL if there is no such kind. */
const char *content_name(enum content_kind kind);

#endif
