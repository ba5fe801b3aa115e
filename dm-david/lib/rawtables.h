/* SPDX-License-Identifier: GPL-2.0 */
/* What a set of RAW rules is made of: for rawset.c and rawpage.c only. */
#ifndef DAVID_RAWTABLES_H
#define DAVID_RAWTABLES_H

#include "rawset.h"

enum table { INO, DIR, SECTORS, TABLES };

struct raw_range {
	u64 volume;	/* 0 for sectors */
	u64 first, last;
};

struct suffix {
	char text[RAW_SUFFIX_LEN + 1];	/* padded with 0 */
};

/* Tables of ranges, sorted and without overlaps, and of suffixes, sorted, each once. */
struct rawset {
	unsigned int count[TABLES];
	unsigned int suffixes;
	size_t bytes;
	struct raw_range *range[TABLES];	/* behind this struct, room for two more each */
	struct suffix *suffix;
};

/* Room for @count and @suffixes, and two more of each: what a change may add. */
struct rawset *rawset_alloc(const unsigned int *count, unsigned int suffixes, gfp_t gfp);

/* Is @text, of @len bytes, a suffix? Else what is wrong. */
const char *rawset_bad_suffix(const char *text, size_t len);

#endif
