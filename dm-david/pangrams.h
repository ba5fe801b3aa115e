/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lines of text that use every letter: plain ASCII, all of one length, so that
 * the line at any place of a text is found without reading what is before it.
 * Part of what disks have returned: never to be changed, only followed by another.
 */
#ifndef DAVID_PANGRAMS_H
#define DAVID_PANGRAMS_H

#define PANGRAMS	64
#define PANGRAM_LEN	63	/* without the byte that ends the line */

extern const char pangrams[PANGRAMS][PANGRAM_LEN + 1];

#endif
