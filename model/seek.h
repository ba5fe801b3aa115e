/* SPDX-License-Identifier: GPL-2.0 */
/* How long the arm takes from one track to another. */
#ifndef DAVID_MODEL_SEEK_H
#define DAVID_MODEL_SEEK_H

#include "profile.h"

/* A seek over @cylinders, 0 for none of them. */
u64 seek_time(const struct profile *profile, u32 cylinders);

/*
 * From a track to one @cylinders away, with another head if @switches: the longer of
 * the two moves, and the settling that a write needs after any of them.
 */
u64 seek_reposition(const struct profile *profile, u32 cylinders, bool switches, bool write);

#endif
