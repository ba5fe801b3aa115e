/* SPDX-License-Identifier: GPL-2.0 */
/* What has come of a replay, as JSON. */
#ifndef REPLAY_REPORT_H
#define REPLAY_REPORT_H

#include "run.h"

struct report_about {
	const char *workload;
	const char *target;
	const char *timing;
	double scale;
	bool processes;
	const struct waiting *waiting;
	bool judged;
	struct log_figures figures; /* if judged */
};

void report_write(FILE *to, const struct workload *w, const struct replay_result *result,
		  const struct report_about *about);

#endif
