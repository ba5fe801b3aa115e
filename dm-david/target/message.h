/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to a live target: `dmsetup message NAME 0 ...`. Those that change parameters take turns
 * (mode_lock); requests go on meanwhile. Sleeps.
 */
#ifndef DM_DAVID_MESSAGE_H
#define DM_DAVID_MESSAGE_H

struct david;
struct dm_target;

/* What model-only mode asks of the devices: 0, or -EINVAL with *@error a text for the user. */
int check_model_only(const struct david *d, char **error);

/* The counters, as status and the stats message give them. */
void print_stats(const struct david *d, char *result, unsigned int maxlen);

/* A target's message(). */
int david_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		  unsigned int maxlen);

#endif
