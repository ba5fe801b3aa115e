// SPDX-License-Identifier: GPL-2.0
#include "tracer.h"

#include <time.h>

#include "calls.h"

u64 tracer_now(struct tracer *t)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	t->balance.last = time.tv_sec * 1000000000ull + time.tv_nsec;
	return t->balance.last;
}

u32 tracer_classes(const struct record_options *options)
{
	return 1u << CALL_FILES | (options->sync ? 1u << CALL_SYNC : 0) |
	       (options->pages ? 1u << CALL_PAGES : 0);
}
