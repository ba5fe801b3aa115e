/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Content by file: what a squashed file reads as, if its format, its size and the offset are known.
 *
 * A file that is read completely is a well-formed file of its size. Each format has a smallest
 * size; smaller files read as text. A page is computed without the others. The cost does not depend
 * on the file's size, except for a few products for each doubling at the end of gzip files.
 *
 * The bytes depend on format, size and seed alone. So when a file grows, its former end reads
 * differently. Otherwise it would not be well-formed.
 *
 * Portable, any context, after crc_setup().
 */
#ifndef DAVID_FILECONTENT_H
#define DAVID_FILECONTENT_H

#include "../portable/portable.h"

enum file_kind {
	FILE_NONE,	/* no kind of file: what the disk returns elsewhere */
	FILE_TEXT,	/* lines of pangrams */
	FILE_HTML,	/* paragraphs of them */
	FILE_JSON,	/* an object with an array of them */
	FILE_PDF,	/* one page, and a stream of incompressible bytes that it does not show */
	FILE_GZIP,	/* stored blocks: no smaller once compressed, and unpacks to the like */
	FILE_JPEG,	/* 8 x 8 pixels, and comments of incompressible bytes */
	FILE_KINDS
};

struct file_place {
	enum file_kind kind;
	u64 size;	/* of the file, below 2^63 */
	u64 seed;	/* the disk's and the file's: another file, other bytes */
};

/* The format's smallest file. */
u64 file_smallest(enum file_kind kind);

/*
 * Fill @buf with @len bytes of the file from byte @offset on; zeros beyond its
 * end. With FILE_NONE, zeros.
 */
void file_fill(void *buf, const struct file_place *place, u64 offset, unsigned int len);

/* The kind's word, as suffixmap.h reads it; NULL if there is no such kind. */
const char *file_kind_name(enum file_kind kind);

#endif
