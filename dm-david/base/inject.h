/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bugs that a test plants, to see that its oracle finds them. Only a module built with
 * DAVID_PLANT has them; its parameter `plant` names one.
 *
 * For the test of power cuts:
 *	flush	a flush completes at once
 *	late	and before its operations are written
 *	reuse	a destination is allocated again as soon as it is given up
 *	sums	a flush does not wait for checksums
 *	rules	a change of RAW rules is not waited for
 *	grow	what a backing device has grown by is used before the superblock says so
 * For btrfs's scrub:
 *	unit	the checksum that is kept is another block's
 *	later	what is dropped later has no checksum
 *	other	all kinds of checksums are taken for crc32c
 * For f2fs's checker:
 *	nodes	pages that a file system keeps for itself are data
 * For what others write (classify=implicit):
 *	alone	what is not logged is data, whatever it holds, whoever writes it
 *	placed	a volume is one piece, as its superblock says
 * For what is read back:
 *	unowned	pages that nobody owns are data
 *	packed	f2fs's compressed pages are data
 */
#ifndef DM_DAVID_INJECT_H
#define DM_DAVID_INJECT_H

#ifdef DAVID_PLANT
#include <linux/string.h>

extern char *david_plant;
#define INJECTED(bug)	(david_plant && !strcmp(david_plant, #bug))
#else
#define INJECTED(bug)	((void)#bug, false)
#endif

#endif
