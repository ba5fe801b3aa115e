/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bugs to prove that a test finds them, as in model/planted.h. Only a david-classify that is built
 * with CLASSIFIER_PLANT has them (`make hunt`): the environment's CLASSIFIER_PLANT names one. And a
 * module that is built with DAVID_PLANT, whose parameter `plant` does (dm-david/base/inject.h).
 *
 *	chunks	what lies in any chunk of a btrfs is data in the end
 *	unheard	what the log of an xfs tells is not heard
 *	longer	an xfs that is made smaller ends where it did, until its superblock is written
 * Lives with features have to find, besides (tests/system/helpers/featurekinds.py):
 *	rmapbt	reverse mappings and reference counts of an xfs are data
 *	inodes	inodes of an xfs are data
 *	unsafe	an xfs with a log or files on another device is like any other
 *	spacetree	a btrfs's tree of free space is data
 *	anyfile	all that any inode maps is data where inodes decide, behind its end, too,
 *		whatever it looks like
 */
#ifndef DAVID_CLASSIFIER_PLANTED_H
#define DAVID_CLASSIFIER_PLANTED_H

#include "../dm-david/portable/portable.h"

#ifdef CLASSIFIER_PLANT
#include <stdlib.h>

static inline bool classifier_planted(const char *bug)
{
	const char *planted = getenv("CLASSIFIER_PLANT");

	return planted && !strcmp(planted, bug);
}

#define CLASSIFIER_PLANTED(bug)	classifier_planted(#bug)
#elif defined(DAVID_PLANT) && defined(__KERNEL__)
#include <linux/string.h>

extern char *david_plant;
#define CLASSIFIER_PLANTED(bug)	(david_plant && sysfs_streq(david_plant, #bug))
#else
#define CLASSIFIER_PLANTED(bug)	((void)#bug, false)
#endif

#endif
