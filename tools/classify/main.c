// SPDX-License-Identifier: GPL-2.0
/* david-classify: command line. */
#include <stdarg.h>
#include <stdio.h>

#include "../common/complain.h"
#include "../common/number.h"
#include "classify.h"
#include "../../dm-david/portable/crc.h"

static const char usage[] =
	"usage: david-classify image [--json] [--summary] [--window BYTES] IMAGE|DEVICE\n"
	"       david-classify replay --size BYTES --out FILE [--log-limit BYTES]\n"
	"                             [--from ENTRY] [--until ENTRY] [--unclassified BYTES]\n"
	"                             [--lag ENTRIES] [--by-super] [--tear SEED [--across]] LOG\n"
	"\n"
	"image   print which blocks of an ext, btrfs or xfs file system are metadata, and why.\n"
	"        It is mapped by windows of 16 MiB, or of --window, a multiple of 64 KiB.\n"
	"        Exit status: 0, 1: no known file system, or failed, 2: parts made no sense.\n"
	"replay  feed a log of dm-log-writes to the classifier, as the kernel would, and print\n"
	"        its figures as JSON. Marks in the log: mounted, unmounted, unknown.\n";

/* The value of the option at argv[*at], which moves on to it. */
static const char *next_word(int argc, char **argv, int *at)
{
	if (*at + 1 >= argc)
		die("%s needs a value", argv[*at]);
	return argv[++*at];
}

static u64 next_number(int argc, char **argv, int *at)
{
	const char *option = argv[*at];

	return number_of_option(option, next_word(argc, argv, at), U64_MAX);
}

static u32 parse_window(const char *text)
{
	u64 bytes = number_of_option("--window", text, U64_MAX);

	if (!bytes || bytes % VIEW_AT_MOST || bytes > 1u << 31)
		die("--window: %s is no multiple of 64 KiB, or more than 2 GiB", text);
	return bytes;
}

static int run_image(int argc, char **argv)
{
	struct image_options options = { .window = WINDOW_BYTES };
	int i;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			options.json = true;
		else if (!strcmp(argv[i], "--summary"))
			options.summary = true;
		else if (!strcmp(argv[i], "--window"))
			options.window = parse_window(next_word(argc, argv, &i));
		else if (argv[i][0] == '-')
			die("unknown option %s", argv[i]);
		else if (options.path)
			die("one IMAGE only, '%s' is too many", argv[i]);
		else
			options.path = argv[i];
	}
	if (!options.path)
		die("IMAGE is missing");
	return classify_image(&options);
}

static int run_lifelog(int argc, char **argv)
{
	struct lifelog_options options = {
		.log_limit = 8 << 20, .undecided = 64 << 20, .until = U64_MAX, .lag = 1,
	};
	int i;

	for (i = 0; i < argc; i++) {
		const char *option = argv[i];

		if (!strcmp(option, "--size"))
			options.bytes = next_number(argc, argv, &i);
		else if (!strcmp(option, "--out"))
			options.out = next_word(argc, argv, &i);
		else if (!strcmp(option, "--log-limit"))
			options.log_limit = next_number(argc, argv, &i);
		else if (!strcmp(option, "--unclassified"))
			options.undecided = next_number(argc, argv, &i);
		else if (!strcmp(option, "--lag"))
			options.lag = next_number(argc, argv, &i);
		else if (!strcmp(option, "--by-super"))
			options.by_super = true;
		else if (!strcmp(option, "--tear"))
			options.tear = next_number(argc, argv, &i);
		else if (!strcmp(option, "--across"))
			options.across = true;
		else if (!strcmp(option, "--from"))
			options.from = next_number(argc, argv, &i);
		else if (!strcmp(option, "--until"))
			options.until = next_number(argc, argv, &i);
		else if (option[0] == '-')
			die("unknown option %s", option);
		else if (options.log)
			die("one LOG only, '%s' is too many", option);
		else
			options.log = option;
	}
	if (!options.log || !options.out || !options.bytes)
		die("replay needs LOG, --out and --size");
	return classify_lifelog(&options);
}

int main(int argc, char **argv)
{
	crc_setup();
	if (argc > 1 && !strcmp(argv[1], "image"))
		return run_image(argc - 2, argv + 2);
	if (argc > 1 && !strcmp(argv[1], "replay"))
		return run_lifelog(argc - 2, argv + 2);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		fputs(usage, stdout);
		return STATUS_OK;
	}
	fputs(usage, stderr);
	return STATUS_FAILED;
}
