// SPDX-License-Identifier: GPL-2.0
/* Trace points, found by name: see hear.h. */
#include "hear.h"

#include <linux/err.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

struct wanted {
	const char *name;
	struct tracepoint *found;
};

static void look_at(struct tracepoint *tp, void *data)
{
	struct wanted *wanted = data;

	if (!strcmp(tp->name, wanted->name))
		wanted->found = tp;
}

struct tracepoint *hear_tracepoint(const char *name, void *probe)
{
	struct wanted wanted = { .name = name };
	int r;

	for_each_kernel_tracepoint(look_at, &wanted);
	if (!wanted.found)
		return ERR_PTR(-EOPNOTSUPP);
	r = tracepoint_probe_register(wanted.found, probe, NULL);
	return r ? ERR_PTR(r) : wanted.found;
}

void hear_no_more(struct tracepoint *tp, void *probe)
{
	if (tp)
		tracepoint_probe_unregister(tp, probe, NULL);
}
