/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays as text. */
#ifndef DAVID_SIM_ARRAYTEXT_H
#define DAVID_SIM_ARRAYTEXT_H

#include "../../model/array/array-layout.h"

/* What can stand in an array's text, for --help. */
extern const char array_words[];

/*
 * "5 members=8 chunk=512K ..." into @layout, of members of @member_sectors; 0: of 16 chunks.
 * Returns 0, or -1 and has complained on standard error.
 */
int array_parse(struct array_layout *layout, const char *text, u64 member_sectors);

#endif
