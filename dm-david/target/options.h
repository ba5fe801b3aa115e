/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of a table line: one table (options.c) for the parser, the printer and, by its error
 * texts, the user. docs/REFERENCE.md tells what each word means.
 *
 * A line that options_print() printed makes the same target again.
 */
#ifndef DM_DAVID_OPTIONS_H
#define DM_DAVID_OPTIONS_H

struct david;

/* A mode that no word of the line has named. */
#define MODE_UNSET	((enum david_mode)-1)

/* What holds without a word. */
void options_default(struct david *d);

/*
 * [<number of words> <name=value>...] into @d, which has its defaults. Changes the words. 0 or
 * -EINVAL with *@error a text for the user. In ctr; sleeps.
 */
int options_parse(struct david *d, unsigned int argc, char **argv, char **error);

/* The table line, and what of it IMA is to measure, into @result of @maxlen bytes. Sleeps. */
void options_print(struct david *d, char *result, unsigned int maxlen);
void options_print_ima(const struct david *d, char *result, unsigned int maxlen);

#endif
