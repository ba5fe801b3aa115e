/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of text that use every letter: plain ASCII, all of one length, so that
 * the line at any place of a text is found without reading what is before it.
 * Part of what disks have returned: never to be changed, only followed by another.
 */
#ifndef DAVID_PANGRAMS_H
#define DAVID_PANGRAMS_H

#include "../portable/portable.h"

#define PANGRAMS	64
#define PANGRAM_LEN	63	/* without the byte that ends the line */

extern const char pangrams[PANGRAMS][PANGRAM_LEN + 1];

/* To be added for each line: odd, and without a pattern. */
#define PANGRAM_STEP	0x9e3779b97f4a7c15ULL

/* One of them for any number @x. */
static __always_inline const char *pangram_for(u64 x)
{
	BUILD_BUG_ON(PANGRAMS != 64);
	return pangrams[((x ^ (x >> 32)) * 0xbf58476d1ce4e5b9ULL) >> 58];
}

#endif
