// SPDX-License-Identifier: GPL-2.0
/*
 * A modelled disk behind a pipe. What is asked next may depend on the answers so far, as it does
 * for who measures a drive.
 */
#include <stdio.h>

#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/host/disk.h"
#include "../common/complain.h"
#include "live.h"
#include "load.h"

#define LIVE_DEPTH	1024

static const char usage[] =
"Usage: david-sim live --profile P [--option NAME=VALUE]...\n"
"\n"
"Serve requests from standard input by the modelled disk, queue included, and answer each by a\n"
"line \"issued,completed\", in nanoseconds of the disk's clock. A line is one of\n"
"\n"
"  one OP,SECTOR,SECTORS,FLAGS,TIME    no request is outstanding; it is issued at TIME, or when\n"
"                                      the one before has completed, if that is later\n"
"  deep DEPTH,COUNT,TIME               so many requests follow; from TIME on DEPTH of them are\n"
"                                      outstanding: OP,SECTOR,SECTORS,FLAGS\n"
"  size                                answered by \"sectors,logical block,physical block\"\n"
"\n"
"OP is 0 (read), 1 (write) or 2 (flush). FLAGS is 0, or 1 for FUA. An empty line writes out the\n"
"answers so far.\n"
"\n"
"  --profile P         a profile or a file of DiskSim parameters, or a name in profiles/\n"
"  --option NAME=VALUE replace a value of the profile; may be given many times\n"
"  -h, --help          this text\n";

struct live {
	const struct profile *profile;
	struct disk *disk;
	unsigned long line;
	u64 now;
};

static int live_bad_line(const struct live *live, const char *text)
{
	return complain("david-sim live: line %lu: %s", live->line, text);
}

static void answer(const struct disk_request *request)
{
	printf("%llu,%llu\n", (unsigned long long)request->arrival,
	       (unsigned long long)request->completion);
}

static int take_request(struct live *live, struct disk_request *request, unsigned int op,
			unsigned long long sector, unsigned int sectors, unsigned int flags)
{
	bool flush = op == DISK_FLUSH;

	if (op >= DISK_OP_NR || flags > DISK_FUA || flush != !sectors)
		return live_bad_line(live, "no such request");
	if (sector > live->profile->sectors || sectors > live->profile->sectors - sector)
		return live_bad_line(live, "a request behind the disk's end");
	*request = (struct disk_request) {
		.op = op, .sector = sector, .sectors = sectors, .flags = flags | DISK_SYNC,
	};
	return 0;
}

/* Returns whether the host's queue had room. */
static bool submit(struct live *live, struct disk_request *request)
{
	struct disk_submitter who = { };

	if (!disk_enter(live->disk, &who, request->op, live->now))
		return false;
	disk_submit(live->disk, request, live->now);
	return true;
}

/* Until something completes. */
static struct disk_request *complete_some(struct live *live)
{
	struct disk_request *done = NULL;

	while (!done) {
		live->now = max(live->now, disk_next_event(live->disk));
		done = disk_advance(live->disk, live->now);
	}
	return done;
}

static int serve_one(struct live *live, const char *line)
{
	unsigned long long sector, time;
	unsigned int op, sectors, flags;
	struct disk_request request;

	if (sscanf(line, "one %u,%llu,%u,%u,%llu", &op, &sector, &sectors, &flags, &time) != 5)
		return live_bad_line(live, "OP,SECTOR,SECTORS,FLAGS,TIME must follow");
	if (take_request(live, &request, op, sector, sectors, flags))
		return -1;
	if (time > live->now) {
		live->now = time;
		disk_advance(live->disk, live->now);
	}
	submit(live, &request);
	complete_some(live);
	answer(&request);
	return 0;
}

static int take_requests(struct live *live, struct disk_request *requests, unsigned int count)
{
	unsigned int op, sectors, flags, i;
	unsigned long long sector;
	char line[128];

	for (i = 0; i < count; i++) {
		live->line++;
		if (!fgets(line, sizeof(line), stdin) ||
		    sscanf(line, "%u,%llu,%u,%u", &op, &sector, &sectors, &flags) != 4)
			return live_bad_line(live, "OP,SECTOR,SECTORS,FLAGS");
		if (take_request(live, &requests[i], op, sector, sectors, flags))
			return -1;
	}
	return 0;
}

static void run_deep(struct live *live, struct disk_request *requests, unsigned int count,
		     unsigned int depth)
{
	unsigned int next = 0, outstanding = 0;
	struct disk_request *done;

	while (next < count || outstanding) {
		while (outstanding < depth && next < count && submit(live, &requests[next])) {
			outstanding++;
			next++;
		}
		for (done = complete_some(live); done; done = done->next)
			outstanding--;
	}
}

static int serve_deep(struct live *live, const char *line)
{
	struct disk_request *requests;
	unsigned int depth, count, i;
	unsigned long long time;
	int r;

	if (sscanf(line, "deep %u,%u,%llu", &depth, &count, &time) != 3 || !depth ||
	    depth > LIVE_DEPTH)
		return live_bad_line(live, "DEPTH,COUNT,TIME must follow");
	requests = calloc(max(count, 1U), sizeof(*requests));
	if (!requests)
		return live_bad_line(live, "out of memory");
	r = take_requests(live, requests, count);
	if (!r) {
		if (time > live->now) {
			live->now = time;
			disk_advance(live->disk, live->now);
		}
		run_deep(live, requests, count, depth);
		for (i = 0; i < count; i++)
			answer(&requests[i]);
	}
	free(requests);
	return r;
}

static int serve_line(struct live *live, const char *line)
{
	live->line++;
	if (!strcmp(line, "\n"))
		return fflush(stdout) ? -1 : 0;
	if (!strncmp(line, "one ", 4))
		return serve_one(live, line);
	if (!strncmp(line, "deep ", 5))
		return serve_deep(live, line);
	if (strcmp(line, "size\n"))
		return live_bad_line(live, "the first word must be one, deep or size");
	printf("%llu,%u,%u\n", (unsigned long long)live->profile->sectors,
	       live->profile->logical_block, live->profile->physical_block);
	return 0;
}

static int live_serve(const struct profile *profile)
{
	struct live live = { .profile = profile, .disk = disk_create(profile, NULL, GFP_KERNEL) };
	char line[128];
	int r = 0;

	if (!live.disk) {
		fprintf(stderr, "david-sim live: not enough memory for the disk\n");
		return 1;
	}
	while (!r && fgets(line, sizeof(line), stdin))
		r = serve_line(&live, line);
	disk_destroy(live.disk);
	return r || fflush(stdout) ? 1 : 0;
}

static void live_help(void)
{
	fputs(usage, stdout);
}

int live_main(int argc, char **argv)
{
	static const char command[] = "david-sim live";
	struct profile profile = { };
	struct option_list values = { };
	const char *name = NULL;
	int status;
	const struct sim_option options[] = {
		SIM_OPTION_PROFILE(&name),
		SIM_OPTION_VALUES(&values),
		{ }
	};

	if (options_read_all(command, argc, argv, options, live_help))
		return 1;
	if (!name)
		return bad_usage(command, "--profile is needed");
	if (load_profile(&profile, name, &values))
		return 1;
	status = live_serve(&profile);
	profile_free(&profile);
	return status;
}
