/* SPDX-License-Identifier: GPL-2.0 */
/* The options of david-sim's commands: each has a table of them, and one function reads all. */
#ifndef DAVID_SIM_OPTIONS_H
#define DAVID_SIM_OPTIONS_H

#include "../../dm-david/portable/portable.h"

/* Texts in the order in which they were given. They are argv's, and not copied. */
struct option_list {
	char **texts;
	unsigned int nr;
};

enum sim_option_kind { SIM_FLAG, SIM_TEXT, SIM_NUMBER, SIM_LIST, SIM_CALL };

struct sim_option {
	const char *name;	/* without "--"; NULL behind the last one */
	enum sim_option_kind kind;
	void *into;		/* bool, const char *, u64, struct option_list, or for @call */
	u64 least, most;	/* SIM_NUMBER */
	const char *what;	/* a number it is: what a complaint says */
	int (*call)(void *into, char *text);	/* 0, or 1 when it has complained */
	char letter;		/* of a short form; 0: there is none */
};

/* Of most commands. A size counts sectors of 512 bytes; 0, if none is given. */
#define SIM_OPTION_PROFILE(i)	{ .name = "profile", .kind = SIM_TEXT, .into = (i) }
#define SIM_OPTION_VALUES(i)	{ .name = "option", .kind = SIM_LIST, .into = (i) }
#define SIM_OPTION_ARRAY(i)	{ .name = "array", .kind = SIM_TEXT, .into = (i) }
#define SIM_OPTION_JSON(i)	{ .name = "json", .kind = SIM_FLAG, .into = (i) }
#define SIM_OPTION_OUT(i)	{ .name = "out", .kind = SIM_TEXT, .into = (i) }
#define SIM_OPTION_SIZE(i)	{ .name = "size", .kind = SIM_NUMBER, .into = (i), .least = 1, \
				  .most = U64_MAX, .what = "a number of sectors of 512 bytes" }

/*
 * Read @argv, whose first word is the command's. --help and -h call @help and end the program.
 * Returns how many of @argv's words were read; what follows are no options. -1: it has complained,
 * in the name of @command.
 */
int options_read(const char *command, int argc, char **argv, const struct sim_option *options,
		 void (*help)(void));

/* The same where nothing may follow. Returns 0, or 1 when it has complained. */
int options_read_all(const char *command, int argc, char **argv,
		     const struct sim_option *options, void (*help)(void));

/* One more text. */
void option_list_add(struct option_list *list, char *text);

#endif
