// SPDX-License-Identifier: GPL-2.0
#include "verdict.h"

/* DAVID_EV_MODE is no evidence. A mode that decides, decides alone. */
#define SILENT	BIT(DAVID_EV_MODE)
#define DATA	(BIT(DAVID_EV_FILE) | BIT(DAVID_EV_ANON) | BIT(DAVID_EV_IMPLIED))

enum verdict verdict_of_set(enum classify_mode mode, u32 set)
{
	BUILD_BUG_ON(DAVID_EV_NR > 32);

	if (mode == CLASSIFY_KEEP)
		return VERDICT_KEEP;
	if (mode == CLASSIFY_DATA)
		return VERDICT_SQUASH;
	if (set & ~(SILENT | DATA))
		return VERDICT_KEEP;
	return set & DATA ? VERDICT_SQUASH : VERDICT_UNDECIDED;
}

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
