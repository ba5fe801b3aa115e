/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays as text. */
#ifndef DAVID_SIM_ARRAYTEXT_H
#define DAVID_SIM_ARRAYTEXT_H

#include "../../model/array/array.h"

/* What can stand in an array's text, for --help. */
extern const char array_words[];

/*
 * "5 members=8 chunk=512K ..." into @setup, of members of @sectors; 0: of 16 chunks. All of them
 * is for data if the text names no metadata. Returns 0, or -1 and has complained.
 */
int array_parse(struct array_setup *setup, const char *text, u64 sectors);

/* The same of such drives, with metadata 1.2. Drives with zones are refused: md takes none. */
int array_parse_of(struct array_setup *setup, const char *text, const struct profile *profile);

/* What members did in @ns: lines of text, or fields of an object of JSON. */
void array_print_text(FILE *out, const struct array_member_figures *figures, u32 members);
void array_print_json(FILE *out, const struct array_member_figures *figures, u32 members, u64 ns);

#endif
