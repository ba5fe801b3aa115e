/* SPDX-License-Identifier: GPL-2.0 */
/* The time that the arm takes from one track to another, ns. */
#ifndef DAVID_MODEL_SEEK_H
#define DAVID_MODEL_SEEK_H

#include "profile.h"

/* A seek over @cylinders; 0 if @cylinders is 0. */
u64 seek_time(const struct profile *profile, u32 cylinders);

/*
 * To a track that is @cylinders away and, with @switches, under another head: the longer of seek
 * and head switch. A write adds write_settle, except that a move to the next track has it in its
 * switch time already, unless the profile has settle_on_switch.
 */
u64 seek_reposition(const struct profile *profile, u32 cylinders, bool switches, bool write);

#endif
