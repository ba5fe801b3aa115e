// SPDX-License-Identifier: GPL-2.0
/* Runs the registered suites, or those named on the command line. */
#include <kunit/test.h>

#include "../../../dm-david/portable/crc.h"

static struct kunit_suite *suites;
static unsigned int passed, failed;

void unit_register(struct kunit_suite *suite)
{
	suite->next = suites;
	suites = suite;
}

static bool run_case(const struct kunit_case *c)
{
	struct kunit test = { .name = c->name };

	if (!setjmp(test.end))
		c->run_case(&test);
	return !test.failed;
}

static void run_suite(struct kunit_suite *suite)
{
	struct kunit_case *c;
	unsigned int n = 0;

	printf("# %s\n", suite->name);
	for (c = suite->test_cases; c->run_case; c++) {
		bool good = run_case(c);

		if (good)
			passed++;
		else
			failed++;
		printf("%sok %u %s.%s\n", good ? "" : "not ", ++n, suite->name, c->name);
		fflush(stdout);
	}
}

static struct kunit_suite *find_suite(const char *name)
{
	struct kunit_suite *suite = suites;

	while (suite && strcmp(suite->name, name))
		suite = suite->next;
	return suite;
}

static int no_such_suite(const char *name)
{
	struct kunit_suite *suite;

	fprintf(stderr, "no suite %s; there are:", name);
	for (suite = suites; suite; suite = suite->next)
		fprintf(stderr, " %s", suite->name);
	fprintf(stderr, "\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct kunit_suite *suite;
	int i;

	for (i = 1; i < argc; i++)
		if (!find_suite(argv[i]))
			return no_such_suite(argv[i]);

	crc_setup();
	for (i = 1; i < argc; i++)
		run_suite(find_suite(argv[i]));
	for (suite = suites; suite && argc < 2; suite = suite->next)
		run_suite(suite);
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
