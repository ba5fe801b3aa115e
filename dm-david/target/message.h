/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to a live target: `dmsetup message NAME 0 ...`. mode_lock serialises those that change
 * parameters. Requests are served meanwhile. Sleeps.
 */
#ifndef DM_DAVID_MESSAGE_H
#define DM_DAVID_MESSAGE_H

struct david;
struct dm_target;

/* Do the devices meet the needs of model-only mode? 0, or -EINVAL and a text for the user. */
int check_model_only(const struct david *d, char **error);

/* Print the counters as in status and in the stats message. */
void print_stats(const struct david *d, char *result, unsigned int maxlen);

/* A target's message(). */
int david_message(struct dm_target *ti, unsigned int argc, char **argv, char *result,
		  unsigned int maxlen);

#endif
