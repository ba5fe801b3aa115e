/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The table of a profile's parameters. The parser, the printer, the checks and
 * the documentation all go by it; a new field of struct profile needs a line
 * there and nothing else.
 */
#ifndef DAVID_MODEL_PROFILE_OPTIONS_H
#define DAVID_MODEL_PROFILE_OPTIONS_H

#include "profile.h"

#define PROFILE_MAX_SECTORS	(1ULL << 48)
#define PROFILE_MAX_CYLINDERS	(1 << 24)
#define PROFILE_LONGEST		4000000000LL	/* ns */
#define PROFILE_LONGEST_FINE	1000000000000LL	/* ps */
#define PROFILE_MAX_ZONES	1024
#define PROFILE_MAX_SEEKS	4096
#define PROFILE_MAX_SLIPS	65536
#define PROFILE_MAX_REMAPS	1024
#define PROFILE_MAX_BANDS	BIT(19)
#define PROFILE_MAX_HOST_ZONES	BIT(20)
#define PROFILE_MAX_TEXT	(4 << 20)	/* bytes; the counts above need less */

enum option_kind {
	OPTION_NAME,
	OPTION_COUNT,
	OPTION_SECTORS,
	OPTION_BYTES,
	OPTION_SPEED,		/* thousandths of a revolution per minute */
	OPTION_TIME,		/* ns */
	OPTION_FINE_TIME,	/* ps */
	OPTION_SHARE,		/* thousandths */
	OPTION_RATE,		/* bytes a second */
	OPTION_FLAG,
	OPTION_CHOICE,
	OPTION_ITEMS,		/* given any number of times, columns separated by commas */
};

/* A unit that a kind's values may be given in, and what one of it is in the struct. */
struct option_unit {
	const char *name;
	u64 scale;
};

/* A parameter, or a column of one. */
struct profile_option {
	const char *name;
	enum option_kind kind;
	u8 size;			/* of the field, bytes */
	u16 offset;			/* in struct profile; of a column, in the item's struct */
	bool required;
	u8 kinds;			/* of drives that have it: BIT(enum drive_kind); 0: disks */
	s64 least, most, preset;	/* in the struct's unit */
	const char *const *choices;	/* OPTION_CHOICE: names by number, ends with NULL */
	const char *const *refused;	/* ... other names, and why; ends with NULL */
	const struct profile_option *columns;	/* OPTION_ITEMS */
	const char *help;
};

extern const struct profile_option profile_options[];
extern const unsigned int profile_nr_options;

/* The first entries of the table: the parameters that are lists */
enum { ITEM_ZONE, ITEM_SEEK, ITEM_SLIP, ITEM_REMAP, ITEM_NR };

static inline bool profile_has(const struct profile_option *option, enum drive_kind kind)
{
	return (option->kinds ?: BIT(DRIVE_DISK)) & BIT(kind);
}

/* Units of @kind, largest first. The last has the name "": a number without a unit. */
const struct option_unit *profile_units(enum option_kind kind);

/* Where things stand in the text. */
struct profile_lines {
	u32 *options;		/* 0: not given */
	u32 *items[ITEM_NR];
};

/* The line of a parameter that is no list; 0: it was not given. @field is its place in @profile. */
u32 profile_line(const struct profile *profile, const struct profile_lines *lines,
		 const void *field);

/*
 * Check what the table cannot express: how parameters go together. Slips are not
 * looked at. Returns 0 or -EINVAL with @error filled.
 */
int profile_check(const struct profile *profile, const struct profile_lines *lines,
		  struct profile_error *error);

/* Fill in what follows from the parameters. */
void profile_derive(struct profile *profile);

/* Fill @error; returns -EINVAL. */
__printf(3, 4)
int profile_fail(struct profile_error *error, unsigned int line, const char *format, ...);

#endif
