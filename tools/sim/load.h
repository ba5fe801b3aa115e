/* SPDX-License-Identifier: GPL-2.0 */
/* Profiles from files. */
#ifndef DAVID_SIM_LOAD_H
#define DAVID_SIM_LOAD_H

#include "../../model/profile/profile.h"
#include "options.h"

/*
 * Load a profile: @name is a file with a profile or with DiskSim parameters, or the
 * name of one in profiles/. @values, "name=value", replace some of it; NULL: none. Complains on
 * standard error and returns -1 when that does not work.
 */
int load_profile(struct profile *profile, const char *name, const struct option_list *values);

/*
 * To --size, in sectors; 0: as it is. Returns 0, or 1 when it has complained in the name of
 * @command, with what is possible.
 */
int load_scaled(const char *command, struct profile *profile, u64 sectors);

/* Its text as it stands in the file, or as imported; to be freed. NULL: has complained. */
char *load_text(const char *name, size_t *len);

/* The one-word form, to be freed. */
char *print_profile(const struct profile *profile);

#endif
