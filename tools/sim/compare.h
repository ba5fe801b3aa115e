/* SPDX-License-Identifier: GPL-2.0 */
/* Modelled times held against measured ones. */
#ifndef DAVID_SIM_COMPARE_H
#define DAVID_SIM_COMPARE_H

#include "trace.h"

/* Times in ms. */
struct comparison {
	size_t n;
	double measured_mean;
	double modelled_mean;
	double demerit;		/* RMS distance of the two distributions, time for time */
	double rms;		/* RMS of each request's error */
};

/* Of the requests of kind @op; DISK_OP_NR: of all. Returns -1 without memory. */
int trace_compare(const struct trace *trace, int op, struct comparison *comparison);

/*
 * Of the reads that do not begin where the request before ended, the share that is
 * predicted within @tolerance ns; *n says how many they are.
 */
double compare_share(const struct trace *trace, u64 tolerance, size_t *n);

#endif
