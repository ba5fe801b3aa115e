// SPDX-License-Identifier: GPL-2.0
/* One reader for the tables of options.h, on top of getopt_long(). */
#include "options.h"

#include <getopt.h>

#include "../common/complain.h"
#include "../common/number.h"

#define MOST_OPTIONS	32
#define FIRST		256	/* of long options: a letter is none */

void option_list_add(struct option_list *list, char *text)
{
	char **texts = realloc(list->texts, (list->nr + 1) * sizeof(*texts));

	if (!texts)
		die("out of memory");
	texts[list->nr++] = text;
	list->texts = texts;
}

static int option_take(const char *command, const struct sim_option *option, char *text)
{
	/* As a shell's "$UNSET" leaves it. */
	if (option->kind != SIM_FLAG && !text[strspn(text, " \t")])
		return bad_usage(command, "--%s: its value is empty", option->name);
	switch (option->kind) {
	case SIM_FLAG:
		*(bool *)option->into = true;
		return 0;
	case SIM_TEXT:
		*(const char **)option->into = text;
		return 0;
	case SIM_NUMBER:
		if (number_parse(text, option->most, option->into) &&
		    *(u64 *)option->into >= option->least)
			return 0;
		return bad_usage(command, "--%s: %s", option->name, option->what);
	case SIM_LIST:
		option_list_add(option->into, text);
		return 0;
	case SIM_CALL:
		return option->call(option->into, text);
	}
	return 1;
}

/* As getopt_long() has them. Returns how many there are. */
static int options_declare(const struct sim_option *options, struct option *found, char *letters)
{
	int i, letter = 0;

	letters[letter++] = 'h';
	for (i = 0; options[i].name; i++) {
		bool argument = options[i].kind != SIM_FLAG;

		if (i == MOST_OPTIONS)
			die("too many options in a table");
		found[i] = (struct option){
			options[i].name, argument ? required_argument : no_argument, NULL,
			FIRST + i,
		};
		if (options[i].letter) {
			letters[letter++] = options[i].letter;
			letters[letter++] = ':';
		}
	}
	found[i] = (struct option){ "help", no_argument, NULL, 'h' };
	return i;
}

static const struct sim_option *option_of(const struct sim_option *options, int nr, int code)
{
	int i;

	if (code >= FIRST)
		return &options[code - FIRST];
	for (i = 0; i < nr; i++)
		if (options[i].letter && options[i].letter == code)
			return &options[i];
	return NULL;
}

int options_read(const char *command, int argc, char **argv, const struct sim_option *options,
		 void (*help)(void))
{
	struct option found[MOST_OPTIONS + 2] = { };
	char letters[2 * MOST_OPTIONS + 2] = "";
	int code, nr = options_declare(options, found, letters);

	while ((code = getopt_long(argc, argv, letters, found, NULL)) != -1) {
		const struct sim_option *option = option_of(options, nr, code);

		if (code == 'h') {
			help();
			exit(0);
		}
		if (!option)
			usage_hint(command);
		if (!option || option_take(command, option, optarg))
			return -1;
	}
	return optind;
}

int options_read_all(const char *command, int argc, char **argv,
		     const struct sim_option *options, void (*help)(void))
{
	int read = options_read(command, argc, argv, options, help);

	if (read < 0)
		return 1;
	if (read < argc)
		return bad_usage(command, "%s: an argument that is no option", argv[read]);
	return 0;
}
