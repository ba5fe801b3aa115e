/* SPDX-License-Identifier: GPL-2.0 */
/* What options say of single members of an array: how they fail, where their platters stand. */
#ifndef DAVID_SIM_MEMBERWORDS_H
#define DAVID_SIM_MEMBERWORDS_H

#include "../../model/array/array.h"

struct member_words {
	struct faults *faults[ARRAY_MEMBERS];	/* NULL: none */
	u64 angles[ARRAY_MEMBERS];		/* ns */
};

/* "3:slow:factor=4", of --fault. Returns 0, or 1 when it has complained in @command's name. */
int members_parse_fault(const char *command, struct member_words *words,
			const struct array_setup *setup, const char *text);

/* "0+4000000", of --angles, of all members. The same. */
int members_parse_angles(const char *command, struct member_words *words,
			 const struct array_setup *setup, const char *text);

bool members_have_media(const struct member_words *words);

/* Did no request meet what a member has? Then it complains. */
bool members_unmet(const char *command, const struct member_words *words);

void members_free(struct member_words *words);

#endif
