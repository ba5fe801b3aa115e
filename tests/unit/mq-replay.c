// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the modelled disk the requests of an order (see mq-orders), and prints the commands that
 * the modelled host sends: when, kind, sector, sectors.
 *
 *	mq-replay PROFILE < ORDER
 *
 * PROFILE is one in one word. The environment chooses a planted bug.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../../dm-david/lib/portable-alloc.h"
#include "../../model/command.h"
#include "../../model/planted.h"
#include "../../model/profile-options.h"

#define MOST	10000

static struct disk_request requests[MOST];
static struct disk_plug plugs[MOST];
static struct disk *disk;

void model_sent(const struct disk_command *command)
{
	printf("%llu %u %llu %u\n", (unsigned long long)command->dispatch, command->op,
	       (unsigned long long)command->sector, command->sectors);
}

static void run_until(u64 now)
{
	while (disk_next_event(disk) <= now)
		disk_advance(disk, disk_next_event(disk));
}

static void arrive(struct disk_request *request, u64 now)
{
	struct disk_submitter who = { .cpu = request->cpu };

	run_until(now);
	if (!disk_merges(disk, request, now) && !disk_enter(disk, &who, request->op, now)) {
		fprintf(stderr, "mq-replay: no tag for a request at %llu\n",
			(unsigned long long)now);
		exit(2);
	}
	disk_submit(disk, request, now);
}

int main(int argc, char **argv)
{
	unsigned long long at, sector;
	unsigned int op, sectors, fua, plug, cpu, nr = 0;
	struct profile_error error;
	struct profile profile;
	char line[200];

	if (argc != 2 || profile_parse(&profile, argv[1], strlen(argv[1]), &error)) {
		fprintf(stderr, "mq-replay: %s\n", argc == 2 ? error.text : "a profile, please");
		return 2;
	}
	disk = disk_create(&profile, GFP_KERNEL);
	if (!disk)
		return 2;
	while (fgets(line, sizeof(line), stdin)) {
		cpu = 0;
		if (sscanf(line, "u %llu %u", &at, &plug) == 2 && plug < MOST) {
			run_until(at);
			disk_unplug(disk, &plugs[plug], false, at);
		} else if (sscanf(line, "q %llu %u %llu %u %u %u %u", &at, &op, &sector, &sectors,
				  &fua, &plug, &cpu) >= 6 && plug < MOST && nr < MOST) {
			requests[nr] = (struct disk_request) {
				.sector = sector, .sectors = sectors, .op = op, .cpu = cpu,
				.flags = DISK_SYNC | (fua ? DISK_FUA : 0),
				.plug = plug ? &plugs[plug] : NULL,
			};
			arrive(&requests[nr++], at);
		} else if (line[0] != 'i' && line[0] != '#') {
			fprintf(stderr, "mq-replay: what is this: %s", line);
			return 2;
		}
	}
	run_until(U64_MAX - 1);
	disk_destroy(disk);
	profile_free(&profile);
	return 0;
}
