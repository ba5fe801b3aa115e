// SPDX-License-Identifier: GPL-2.0
#include "verdict.h"

static const char * const names[CLASSIFY_MODES] = {
	[CLASSIFY_AUTO] = "auto",
	[CLASSIFY_IMPLICIT] = "implicit",
	[CLASSIFY_EXPLICIT] = "explicit",
	[CLASSIFY_KEEP] = "keep",
	[CLASSIFY_DATA] = "data",
};

const char *classify_name(enum classify_mode mode)
{
	return mode < CLASSIFY_MODES ? names[mode] : NULL;
}

int classify_parse(const char *name)
{
	int mode;

	for (mode = 0; mode < CLASSIFY_MODES; mode++)
		if (!strcmp(name, names[mode]))
			return mode;
	return -EINVAL;
}
