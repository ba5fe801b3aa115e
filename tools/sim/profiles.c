// SPDX-License-Identifier: GPL-2.0
/* david-sim profile: look at profiles, check and import them. */

#include "../../model/profile/profile-options.h"
#include "../common/complain.h"
#include "../common/number.h"
#include "load.h"
#include "params.h"
#include "profiles.h"

static const char usage[] =
"Usage: david-sim profile list P...\n"
"       david-sim profile show P [--word] [--sectors N] [--option NAME=VALUE]...\n"
"       david-sim profile import FILE.params [-o OUT]\n"
"       david-sim profile check FILE\n"
"       david-sim profile options\n"
"\n"
"list      a line for each profile: name, size, speed, heads\n"
"show      all parameters of a profile, those not given in it, too\n"
"import    make a profile of DiskSim's drive parameters\n"
"check     say what is wrong with a profile, with its line, or that nothing is\n"
"options   the parameters that a profile can have, with units, limits and presets\n"
"\n"
"  --word              in one word, as in a device-mapper table\n"
"  --sectors N         scaled to a disk of this size\n"
"  --option NAME=VALUE replace a value; may be given many times\n"
"  -o OUT, --out OUT   write there, and not to standard output\n"
"\n"
"P is a file, or the name of a profile in profiles/.\n";

struct arguments {
	struct option_list values;
	bool word;
	const char *sectors, *out;
	char **files;
	int nr_files;
};

static const char command[] = "david-sim profile";

static void profiles_help(void)
{
	fputs(usage, stdout);
}

static int profile_arguments(int argc, char **argv, struct arguments *args)
{
	const struct sim_option options[] = {
		SIM_OPTION_VALUES(&args->values),
		{ .name = "word", .kind = SIM_FLAG, .into = &args->word },
		{ .name = "sectors", .kind = SIM_TEXT, .into = &args->sectors },
		{ .name = "out", .kind = SIM_TEXT, .into = &args->out, .letter = 'o' },
		{ }
	};
	int read = options_read(command, argc, argv, options, profiles_help);

	if (read < 0)
		return 1;
	args->files = argv + read;
	args->nr_files = argc - read;
	return 0;
}

static int list(const struct arguments *args)
{
	int i, status = 0;

	printf("%-32s %10s %9s %6s\n", "NAME", "GB", "RPM", "HEADS");
	for (i = 0; i < args->nr_files; i++) {
		struct profile profile;

		if (load_profile(&profile, args->files[i], NULL)) {
			status = 1;
			continue;
		}
		if (profile.kind == DRIVE_DISK)
			printf("%-32s %10.1f %9.0f %6u\n", profile.name,
			       profile.sectors * 512 / 1e9, profile.rpm / 1e3, profile.heads);
		else
			printf("%-32s %10.1f %9s %6s\n", profile.name,
			       profile.sectors * 512 / 1e9,
			       profile.kind == DRIVE_SSD ? "ssd" : "memory", "-");
		profile_free(&profile);
	}
	return status;
}

static int scale(struct profile *profile, const char *sectors)
{
	u64 n;

	if (!number_parse(sectors, U64_MAX, &n) || !n || profile_scale(profile, n)) {
		fprintf(stderr,
			"david-sim: %s cannot be scaled to %s sectors: not a number, no multiple of the logical block, or too large\n",
			profile->name, sectors);
		return -1;
	}
	return 0;
}

/* An item on each line. */
static void print_lines(char *word)
{
	char *item, *equals;

	while ((item = strsep(&word, ";"))) {
		equals = strchr(item, '=');
		printf("%.*s = %s\n", (int)(equals - item), item, equals + 1);
	}
}

static int show(const struct arguments *args)
{
	struct profile profile;
	char *word = NULL;

	if (load_profile(&profile, args->files[0], &args->values))
		return 1;
	if (!args->sectors || !scale(&profile, args->sectors))
		word = print_profile(&profile);
	profile_free(&profile);
	if (!word)
		return 1;
	if (args->word)
		puts(word);
	else
		print_lines(word);
	free(word);
	return 0;
}

static int check_files(const struct arguments *args)
{
	struct profile profile;

	if (load_profile(&profile, args->files[0], &args->values))
		return 1;
	printf("%s: '%s', %.1f GB, is sound\n", args->files[0], profile.name,
	       profile.sectors * 512 / 1e9);
	profile_free(&profile);
	return 0;
}

static int write_text(const char *name, const char *text)
{
	FILE *file = name ? fopen(name, "w") : stdout;
	int bad = !file || fputs(text, file) < 0;

	if (file)
		bad |= name ? fclose(file) : fflush(file);
	if (bad)
		fprintf(stderr, "%s: %s\n", name ?: "standard output", strerror(errno));
	return bad ? 1 : 0;
}

static int import(const struct arguments *args)
{
	const char *name = args->files[0];
	struct profile_error error;
	struct profile profile;
	size_t len;
	char *text = load_text(name, &len);
	int status = 1;

	if (!text)
		return 1;
	if (profile_parse(&profile, text, len, &error)) {
		fprintf(stderr, "%s: %s (line %u as a profile)\n", name, error.text, error.line);
	} else {
		status = write_text(args->out, text);
		profile_free(&profile);
	}
	free(text);
	return status;
}

static void print_limit(enum option_kind kind, s64 value)
{
	const struct option_unit *unit = profile_units(kind);
	double size = value < 0 ? -(double)value : value;

	if (kind == OPTION_SECTORS || kind == OPTION_COUNT) {
		printf("%lld", (long long)value);
		return;
	}
	while (unit[1].scale && unit->scale > size && unit->scale > 1)
		unit++;
	printf("%g%s", (double)value / unit->scale, unit->name);
}

static void print_choices(const struct profile_option *option)
{
	unsigned int i;

	for (i = 0; option->choices[i]; i++)
		if (option->choices[i][0])
			printf("%s%s", i ? "|" : "", option->choices[i]);
	printf(" [%s]", option->choices[option->preset]);
}

static void print_columns(const struct profile_option *option)
{
	const struct profile_option *column;

	for (column = option->columns; column->name; column++)
		printf("%s%s%s%s", column == option->columns ? "" : ",",
		       column->required ? "" : "[", column->name, column->required ? "" : "]");
	printf("; up to %lld of them", (long long)option->most);
}

/* The kinds of drives that have it, if that is not a disk alone. */
static const char *kinds_of(const struct profile_option *option)
{
	switch (option->kinds) {
	case 0:
		return "";
	case BIT(DRIVE_SSD):
		return " (ssd)";
	case BIT(DRIVE_MEMORY):
		return " (memory)";
	case BIT(DRIVE_SSD) | BIT(DRIVE_MEMORY):
		return " (ssd, memory)";
	case BIT(DRIVE_SSD) | BIT(DRIVE_DISK):
		return " (disk, ssd)";
	default:
		return " (all)";
	}
}

static void print_option(const struct profile_option *option)
{
	const struct option_unit *unit;

	printf("%s\n    %s%s%s\n    ", option->name, option->help, kinds_of(option),
	       option->required ? " (required)" : "");
	switch (option->kind) {
	case OPTION_NAME:
		printf("up to %d characters", PROFILE_NAME_LEN - 1);
		break;
	case OPTION_FLAG:
		printf("yes|no [%s]", option->preset ? "yes" : "no");
		break;
	case OPTION_CHOICE:
		print_choices(option);
		break;
	case OPTION_ITEMS:
		print_columns(option);
		break;
	default:
		print_limit(option->kind, option->least);
		printf(" to ");
		print_limit(option->kind, option->most);
		if (!option->required) {
			printf(" [");
			print_limit(option->kind, option->preset);
			printf("]");
		}
		for (unit = profile_units(option->kind); unit->name[0]; unit++)
			printf("%s%s", unit == profile_units(option->kind) ? "; units " : ", ",
			       unit->name);
	}
	printf("\n");
}

static int options(const struct arguments *args)
{
	unsigned int i;

	printf("A profile is lines \"name = value unit\", or in one word \"name=value;...\".\n");
	printf("\"#\" begins a comment. What stands in [] is taken when nothing is given.\n");
	printf("A parameter is a disk's, or that of the kinds of drives in ().\n\n");
	for (i = 0; i < profile_nr_options; i++)
		print_option(&profile_options[i]);
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(const struct arguments *args);
	int least, most;	/* files */
} commands[] = {
	{ "list", list, 1, INT_MAX },
	{ "show", show, 1, 1 },
	{ "import", import, 1, 1 },
	{ "check", check_files, 1, 1 },
	{ "options", options, 0, 0 },
};

int profiles_main(int argc, char **argv)
{
	struct arguments args = { };
	unsigned int i;
	int status;

	status = profile_arguments(argc, argv, &args);
	if (status)
		return status;
	if (!args.nr_files)
		return bad_usage(command,
				 "profile needs a command: list, show, import, check or options");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(args.files[0], commands[i].name))
			break;
	if (i == ARRAY_SIZE(commands))
		return bad_usage(command,
				 "profile has the commands list, show, import, check and options");
	args.files++;
	args.nr_files--;
	if (args.nr_files < commands[i].least || args.nr_files > commands[i].most)
		return bad_usage(command, "%s",
				 args.nr_files ? "too many files" : "which profile?");
	return commands[i].run(&args);
}
