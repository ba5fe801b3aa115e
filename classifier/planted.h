/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Bugs to prove that a test finds them, as in model/planted.h. Only a david-classify that is built
 * with CLASSIFIER_PLANT has them (`make hunt`): the environment's CLASSIFIER_PLANT names one.
 *
 *	chunks	what lies in any chunk of a btrfs is data in the end
 *	unheard	what the log of an xfs tells is not heard
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
#else
#define CLASSIFIER_PLANTED(bug)	((void)#bug, false)
#endif

#endif
