// SPDX-License-Identifier: GPL-2.0
/* david-trace: the command line. `david trace` is what users call. */
#include <getopt.h>

#include "../common/alloc.h"
#include "../common/number.h"
#include "../calls/calls.h"
#include "../calls/tracefile.h"
#include "scope.h"
#include "trace.h"

static const char usage_text[] =
	"Usage: david-trace record --out OUT [--disk FILE] [--share-disk] [--sync] [--cpu] [--pages]\n"
	"                          [--layout] [--off] [--rotate BYTES,FILES] [--hold THREAD,NS] [--fifo]\n"
	"                          [--look CALLS] -- COMMAND...\n"
	"       david-trace record --out OUT [...] --pid PID[,PID...] | --uid UID | --cgroup DIR\n"
	"       david-trace finish FILE DATABASE\n"
	"       david-trace dump FILE\n"
	"       david-trace calls [i386]\n";

static int usage(void)
{
	fputs(usage_text, stderr);
	return die_status;
}

/* Numbers with commas between them, then 0. */
static pid_t *parse_pids(const char *text)
{
	pid_t *pids = xmalloc((strlen(text) + 2) * sizeof(*pids));
	unsigned int n = 0;
	char *end;

	for (;; text = end + 1) {
		pids[n] = strtol(text, &end, 10);
		if (end == text || pids[n] <= 0 || (*end && *end != ','))
			die("--pid takes process numbers with commas between them");
		n++;
		if (!*end)
			break;
	}
	pids[n] = 0;
	return pids;
}

/* "BYTES,FILES": so many bytes in so many files. */
static void parse_rotate(struct record_options *options, char *text)
{
	char *comma = strchr(text, ',');

	if (!comma)
		die("--rotate takes bytes and a number of files");
	*comma = 0;
	options->segment_bytes = number_of_option("--rotate", text, U64_MAX);
	options->segments = number_of_option("--rotate", comma + 1, U32_MAX);
	if (options->segments < 2 || options->segments > TRACEFILE_SEGMENTS_MAX)
		die("a ring has 2 to %u files", TRACEFILE_SEGMENTS_MAX);
	options->segment_bytes /= options->segments;
	if (options->segment_bytes < TRACEFILE_SEGMENT_MIN)
		die("a file of a ring has at least %u bytes", TRACEFILE_SEGMENT_MIN);
}

/* "NAME,NS" */
static void parse_hold(struct record_options *options, char *text)
{
	char *comma = strchr(text, ',');

	if (!comma)
		die("--hold takes a thread and a time");
	*comma = 0;
	options->hold = text;
	options->hold_ns = number_of_option("--hold", comma + 1, U64_MAX);
	if (!options->hold_ns)
		die("nothing can be held for no time");
}

static int record_command(int argc, char **argv)
{
	static const struct option longs[] = { { "out", required_argument, NULL, 'o' },
					       { "disk", required_argument, NULL, 'd' },
					       { "share-disk", no_argument, NULL, 'h' },
					       { "sync", no_argument, NULL, 's' },
					       { "cpu", no_argument, NULL, 'c' },
					       { "off", no_argument, NULL, 'f' },
					       { "pages", no_argument, NULL, 'm' },
					       { "layout", no_argument, NULL, 'y' },
					       { "pid", required_argument, NULL, 'p' },
					       { "uid", required_argument, NULL, 'u' },
					       { "cgroup", required_argument, NULL, 'g' },
					       { "rotate", required_argument, NULL, 'r' },
					       { "hold", required_argument, NULL, 'l' },
					       { "fifo", no_argument, NULL, 'i' },
					       { "look", required_argument, NULL, 'k' },
					       {} };
	struct record_options options = {};
	int option;

	/* Any other status may be the command's. */
	die_status = STATUS_UNTRACED;
	while ((option = getopt_long(argc, argv, "+", longs, NULL)) != -1) {
		switch (option) {
		case 'o':
			options.out = optarg;
			break;
		case 'd':
			options.disk = optarg;
			break;
		case 'h':
			options.share_disk = true;
			break;
		case 's':
			options.sync = true;
			break;
		case 'c':
			options.cpu = true;
			break;
		case 'p':
			options.pids = parse_pids(optarg);
			break;
		case 'f':
			options.off = true;
			break;
		case 'i':
			options.fifo = true;
			break;
		case 'm':
			options.pages = true;
			break;
		case 'y':
			options.layout = true;
			break;
		case 'u':
			options.by_uid = true;
			options.uid = number_of_option("--uid", optarg, U32_MAX);
			break;
		case 'g':
			options.cgroup = scope_cgroup(optarg);
			break;
		case 'l':
			parse_hold(&options, optarg);
			break;
		case 'k':
			options.look = number_of_option("--look", optarg, U32_MAX);
			break;
		case 'r':
			parse_rotate(&options, optarg);
			break;
		default:
			return usage();
		}
	}
	if (optind < argc)
		options.command = argv + optind;
	if (!options.out || !!options.command + !!options.pids + scope_is_open(&options) != 1 ||
	    (options.fifo && !options.command))
		return usage();
	return method.record(&options);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";

	if (!strcmp(word, "record"))
		return record_command(argc - 1, argv + 1);
	if (!strcmp(word, "dump") && argc == 3)
		return dump(argv[2]);
	if (!strcmp(word, "finish") && argc == 4)
		return finish(argv[2], argv[3]);
	if (!strcmp(word, "calls") && argc == 2) {
		calls_print();
		return STATUS_OK;
	}
	if (!strcmp(word, "calls") && argc == 3 && !strcmp(argv[2], "i386")) {
		calls32_print();
		return STATUS_OK;
	}
	return usage();
}
