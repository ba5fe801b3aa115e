/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Drive parameters extracted from DiskSim ("key = value" lines, then tables
 * [zones], [slips], [remaps], [seek]), made into a profile's text.
 */
#ifndef DAVID_SIM_PARAMS_H
#define DAVID_SIM_PARAMS_H

#include "../../model/profile/profile.h"

#define PARAMS_HEAD	"# Imported from "	/* begin of what is made */

/* Does the text look like such a file? */
bool params_recognize(const char *text, size_t len);

/* Is it a description in DiskSim's own language? Only `david profile import` reads that. */
bool params_is_description(const char *text, size_t len);

/*
 * The text of a profile, to be freed by the caller, or NULL with @error filled.
 * @source is named in it as where the values come from. What is not understood
 * and might matter is told on standard error.
 */
char *params_to_profile(const char *text, size_t len, const char *source,
			struct profile_error *error);

#endif
