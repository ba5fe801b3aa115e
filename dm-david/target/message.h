/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to a live target: `dmsetup message NAME 0 ...`. Requests are served meanwhile. Sleeps.
 *
 * Locking: mode and files= are changed under mode_lock, content under content_lock; RAW rules have
 * the locks of store/raw.h.
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
