/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words of a table line. One table in options.c serves the parser, the printer and the error
 * texts. docs/REFERENCE.md has the meaning of each word.
 *
 * A table line that options_print() has printed makes the same target again.
 */
#ifndef DM_DAVID_OPTIONS_H
#define DM_DAVID_OPTIONS_H

struct david;

/* No word of the table line has set the mode. */
#define MODE_UNSET	((enum david_mode)-1)

/* Set all parameters to their defaults. */
void options_default(struct david *d);

/*
 * Parse [<number of words> <name=value>...] into @d, which has its defaults. Modifies the words.
 * Returns 0, or -EINVAL and a text for the user. In ctr; sleeps.
 */
int options_parse(struct david *d, unsigned int argc, char **argv, char **error);

/* Print the table line, or what IMA measures of it, into @result of @maxlen bytes. Sleeps. */
void options_print(struct david *d, char *result, unsigned int maxlen);
void options_print_ima(const struct david *d, char *result, unsigned int maxlen);

#endif
