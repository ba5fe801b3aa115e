// SPDX-License-Identifier: GPL-2.0
/* david-compile: the command line. `david compile` is what users call. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "../common/complain.h"
#include "../common/number.h"
#include "compiler.h"

#define XATTRS_NAMED 5
#define CACHED_NS 50000 /* less than disks take */

static const char usage_text[] =
	"Usage: david-compile [--order RULES] [--from NS] [--to NS] [--pid PID] [--path PATTERN]\n"
	"                     [--root DIR] [--cached NS] [--stats] [--dot FILE] [--explain EVENT]\n"
	"                     TRACE OUT\n";

struct watch {
	struct uses *uses;
	u32 rules;
	u64 explain; /* 0: none */
	const char *dot_path; /* NULL: no drawing */
	FILE *dot;
};

/* Not before the trace has been read: a command that fails leaves no drawing behind. */
static void dot_open(struct watch *w)
{
	if (!w->dot_path)
		return;
	w->dot = fopen(w->dot_path, "we");
	if (!w->dot)
		die("%s: %s", w->dot_path, strerror(errno));
	fputs("digraph order {\n", w->dot);
}

static void dot_close(struct watch *w)
{
	bool failed;

	if (!w->dot)
		return;
	fputs("}\n", w->dot);
	failed = ferror(w->dot);
	if (fclose(w->dot) || failed)
		die("%s: it could not be written; is there room for it?", w->dot_path);
}

static void watch(void *arg, u64 event, const struct dep *dep)
{
	const struct watch *w = arg;
	char name[4200];

	if (w->dot && dep->kept)
		fprintf(w->dot, "\te%" PRIu64 " -> e%" PRIu64 " [label=\"%s\"];\n", dep->event,
			event, order_rule_of(dep->why, w->rules));
	if (!w->explain || event != w->explain)
		return;
	uses_print(w->uses, dep->why, name, sizeof(name));
	printf("call %" PRIu64 " waits for call %" PRIu64 ": %s, %s%s\n", event, dep->event,
	       order_rule_of(dep->why, w->rules), name, dep->kept ? "" : " (implied by another)");
}

static void print_stats(struct compiler *c, u64 bytes, u64 elapsed, u64 starved)
{
	const struct output *out = compiler_output(c);
	struct order_figures order = order_figures(compiler_order(c));
	struct tree_guesses guesses = tree_guesses(compiler_tree(c));
	struct compile_figures f = compiler_figures(c);
	u32 op, i;

	printf("calls %" PRIu64 "\n", f.calls);
	printf("commands %" PRIu64 "\n", out->commands);
	for (i = 0; i < WL_REASONS; i++)
		printf("%s %" PRIu64 "\n", wl_reasons[i], f.without[i]);
	printf("mappings %" PRIu64 "\n", f.mapped);
	printf("by-others %" PRIu64 "\n", f.others);
	printf("touches %" PRIu64 "\n", f.touches);
	printf("touched-pages %" PRIu64 "\n", f.touched);
	printf("untouched-pages %" PRIu64 "\n", f.touches_left);
	printf("threads %u\n", out->streams);
	printf("processes %u\n", output_processes(out));
	printf("descriptors %u\n", compiler_slots(c));
	printf("resources %" PRIu64 "\n", order.resources);
	printf("edges %" PRIu64 "\n", order.edges);
	printf("implied-edges %" PRIu64 "\n", order.implied);
	printf("tree %u\n", compiler_tree(c)->entries - 1);
	printf("tree-files %u\n", guesses.files);
	printf("guessed-sizes %u\n", guesses.sizes);
	printf("guessed-types %u\n", guesses.types);
	printf("starved %" PRIu64 "\n", starved);
	printf("elapsed-ns %" PRIu64 "\n", elapsed);
	printf("bytes %" PRIu64 "\n", bytes);
	for (op = 0; op < WL_OPS; op++) {
		if (out->ops[op])
			printf("op.%s %" PRIu64 "\n", wl_ops[op].name, out->ops[op]);
	}
}

/* A few of the names, as the trace has them first. */
static void print_xattrs_left(const struct compiler *compiler)
{
	u32 count, i;
	const struct xattr_left *left = compiler_xattrs_left(compiler, &count);

	if (!count)
		return;
	fputs("david-compile: extended attributes of the kernel's and root's are left alone:",
	      stderr);
	for (i = 0; i < count && i < XATTRS_NAMED; i++)
		fprintf(stderr, "%s %" PRIu64 " calls about %s", i ? "," : "", left[i].calls,
			left[i].name);
	if (count > i)
		fprintf(stderr, ", and more about %u others", count - i);
	fputc('\n', stderr);
}

static void print_guesses(const struct tree_guesses *g)
{
	if (g->sizes)
		fprintf(stderr,
			"david-compile: the sizes of %u of %u files that were there are guessed:"
			" the least that the trace's calls need\n",
			g->sizes, g->files);
	if (g->types)
		fprintf(stderr,
			"david-compile: the types of %u names that were there are guessed\n",
			g->types);
}

static int make_workload(const char *trace, const char *to, const struct compile_options *options,
			 struct watch *w, bool stats)
{
	struct source *source = source_open(trace);
	struct compiler *compiler = compiler_new(source, options);
	u64 elapsed = source_elapsed(source), bytes;
	struct compile_figures figures;
	struct tree_guesses guesses;
	struct wl_starved starved;
	char order[32];

	w->uses = compiler_uses(compiler);
	w->rules = options->rules;
	dot_open(w);
	if (w->dot || w->explain)
		order_watch(compiler_order(compiler), watch, w);
	compiler_run(compiler);
	dot_close(w);
	order_print(options->rules, order, sizeof(order));
	tree_link(compiler_tree(compiler));
	figures = compiler_figures(compiler);
	bytes = output_write(compiler_output(compiler), to, compiler_tree(compiler),
			     &(struct output_about){ .slots = compiler_slots(compiler),
						     .elapsed = elapsed,
						     .order = order,
						     .command = source_command(source),
						     .calls = figures.calls,
						     .without = figures.without },
			     &starved);
	if (stats)
		print_stats(compiler, bytes, elapsed, starved.count);
	if (starved.count)
		fprintf(stderr,
			"david-compile: %" PRIu64 " reads of pipes wait for what nobody writes;"
			" the first is record %u, of %" PRIu64 " bytes\n",
			starved.count, starved.event, starved.bytes);
	guesses = tree_guesses(compiler_tree(compiler));
	print_guesses(&guesses);
	if (figures.others)
		fprintf(stderr,
			"david-compile: %" PRIu64
			" names were made or removed by somebody who was not traced:"
			" the replay does so in front of the call that has seen it\n",
			figures.others);
	if (figures.undecided)
		fprintf(stderr,
			"david-compile: order not decided by the trace: %" PRIu64
			" calls: what others did meanwhile does not explain their results,"
			" which are not compared\n",
			figures.undecided);
	print_xattrs_left(compiler);
	if (figures.mapped)
		fprintf(stderr,
			"david-compile: %" PRIu64
			" mappings of files: which of their pages were touched nobody has recorded\n",
			figures.mapped);
	if (figures.shared && !figures.futexes)
		fputs("david-compile: what threads waited for is not known: record with --sync\n",
		      stderr);
	compiler_free(compiler);
	source_close(source);
	return EXIT_SUCCESS;
}

static int usage(void)
{
	fputs(usage_text, stderr);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "order", required_argument, NULL, 'o' },
					       { "from", required_argument, NULL, 'f' },
					       { "to", required_argument, NULL, 't' },
					       { "pid", required_argument, NULL, 'p' },
					       { "path", required_argument, NULL, 'a' },
					       { "root", required_argument, NULL, 'r' },
					       { "cached", required_argument, NULL, 'c' },
					       { "dot", required_argument, NULL, 'd' },
					       { "explain", required_argument, NULL, 'e' },
					       { "stats", no_argument, NULL, 's' },
					       {} };
	struct compile_options options = {
		.rules = order_rules("root"),
		.to = U64_MAX,
		.cached = CACHED_NS,
	};
	struct watch w = {};
	bool stats = false;
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (option) {
		case 'o':
			options.rules = order_rules(optarg);
			if (!options.rules)
				die("there is no order or rule in: %s", optarg);
			break;
		case 'f':
			options.from = number_of_option("--from", optarg, U64_MAX);
			break;
		case 't':
			options.to = number_of_option("--to", optarg, U64_MAX);
			break;
		case 'p':
			options.pid = number_of_option("--pid", optarg, U32_MAX);
			break;
		case 'a':
			options.path = optarg;
			break;
		case 'r':
			options.root = optarg;
			break;
		case 'c':
			options.cached = number_of_option("--cached", optarg, U64_MAX);
			break;
		case 'd':
			w.dot_path = optarg;
			break;
		case 'e':
			w.explain = number_of_option("--explain", optarg, U64_MAX);
			break;
		case 's':
			stats = true;
			break;
		default:
			return usage();
		}
	}
	if (argc - optind != 2)
		return usage();
	return make_workload(argv[optind], argv[optind + 1], &options, &w, stats);
}
