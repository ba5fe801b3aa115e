/* SPDX-License-Identifier: GPL-2.0 */
/* Jobs as text. */
#ifndef DAVID_SIM_JOBTEXT_H
#define DAVID_SIM_JOBTEXT_H

#include "job.h"

#define JOB_WHY		160

/* What can stand in a job, for --help. */
extern const char job_words[];

/*
 * "read random size=4K depth=32 span=5G + write size=1M ..." into @job for a disk of
 * @profile. Returns 0, or -1 with the reason in @why.
 */
int job_parse(struct job *job, const char *text, const struct profile *profile, char why[JOB_WHY]);

/* The same job as text, to be freed; NULL without memory. */
char *job_print(const struct job *job, const struct profile *profile);

#endif
