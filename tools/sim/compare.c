// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>

#include "compare.h"
#include "rank.h"

static double square(double x)
{
	return x * x;
}

/*
 * The demerit figure of Ruemmler and Wilkes, 1994. Both arrays have @n times, so times of equal
 * rank are compared.
 */
static double demerit(u64 *measured, u64 *modelled, size_t n)
{
	double sum = 0;
	size_t i;

	rank_sort(measured, n);
	rank_sort(modelled, n);
	for (i = 0; i < n; i++)
		sum += square(((double)measured[i] - (double)modelled[i]) / 1e6);
	return sqrt(sum / n);
}

int trace_compare(const struct trace *trace, int op, struct comparison *comparison)
{
	u64 *measured = malloc(trace->nr * sizeof(u64));
	u64 *modelled = malloc(trace->nr * sizeof(u64));
	double squares = 0, measured_sum = 0, modelled_sum = 0;
	size_t i, n = 0;

	*comparison = (struct comparison) { };
	if (!measured || !modelled) {
		free(measured);
		free(modelled);
		fprintf(stderr, "out of memory\n");
		return -1;
	}
	for (i = 0; i < trace->nr; i++) {
		const struct trace_request *r = &trace->requests[i];

		if (op != DISK_OP_NR && r->op != op)
			continue;
		measured[n] = r->measured;
		modelled[n++] = r->modelled;
		measured_sum += r->measured / 1e6;
		modelled_sum += r->modelled / 1e6;
		squares += square(((double)r->measured - (double)r->modelled) / 1e6);
	}
	if (n) {
		comparison->n = n;
		comparison->measured_mean = measured_sum / n;
		comparison->modelled_mean = modelled_sum / n;
		comparison->rms = sqrt(squares / n);
		comparison->demerit = demerit(measured, modelled, n);
	}
	free(measured);
	free(modelled);
	return 0;
}

double compare_share(const struct trace *trace, u64 tolerance, size_t *n)
{
	size_t i, within = 0;
	u64 expected = U64_MAX;

	*n = 0;
	for (i = 0; i < trace->nr; i++) {
		const struct trace_request *r = &trace->requests[i];
		u64 error = r->measured > r->modelled ? r->measured - r->modelled :
							r->modelled - r->measured;

		if (r->op == DISK_READ && r->sector != expected) {
			++*n;
			within += error <= tolerance;
		}
		expected = r->sector + r->sectors;
	}
	return *n ? (double)within / *n : 0;
}
