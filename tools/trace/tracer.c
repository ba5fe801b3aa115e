// SPDX-License-Identifier: GPL-2.0
#include "tracer.h"

#include "../calls/calls.h"
#include "../common/clock.h"

u64 tracer_now(struct tracer *t)
{
	t->balance.last = max(clock_look(), t->balance.last + 1);
	return t->balance.last;
}

u32 tracer_classes(const struct record_options *options)
{
	return 1u << CALL_FILES | (options->sync ? 1u << CALL_SYNC : 0) |
	       (options->pages ? 1u << CALL_PAGES : 0);
}
