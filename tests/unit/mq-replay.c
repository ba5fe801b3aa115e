// SPDX-License-Identifier: GPL-2.0
/*
 * Gives the modelled disk the requests of an order (see mq-orders). Prints the commands that the
 * modelled host sends: "i", when, kind, sector, sectors. And the same with "g" of requests that
 * waited for a tag and have got one.
 *
 *	mq-replay PROFILE < ORDER
 *
 * PROFILE is one in one word. The environment chooses a planted bug.
 */
#include <stdio.h>
#include <stdlib.h>
#include "../../dm-david/portable/portable-alloc.h"
#include "../../model/host/command.h"
#include "../../model/planted.h"
#include "../../model/profile/profile-options.h"

#define MOST	10000

static struct disk_request requests[MOST];
static struct disk_plug plugs[MOST];
static struct disk *disk;
/* Those that wait, first come first */
static struct disk_request *waiting[MOST];
static unsigned int nr_waiting;

void model_sent(const struct disk_command *command)
{
	printf("i %llu %u %llu %u\n", (unsigned long long)command->dispatch, command->op,
	       (unsigned long long)command->sector, command->sectors);
}

static void wait_for_tag(struct disk_request *request)
{
	struct disk_submitter who = { .cpu = request->cpu };

	disk_wait(disk, &who, request);
	waiting[nr_waiting++] = request;
}

/* Wake the one of @waiting that is to be woken. */
static void wake(u64 now)
{
	struct disk_request *request;
	struct disk_submitter who;
	unsigned int i = 0;

	while (i < nr_waiting && !disk_wakes(disk, waiting[i]))
		i++;
	if (i == nr_waiting) {
		fprintf(stderr, "mq-replay: nobody waits where the model wakes\n");
		exit(2);
	}
	request = waiting[i];
	memmove(&waiting[i], &waiting[i + 1], (--nr_waiting - i) * sizeof(*waiting));
	who = (struct disk_submitter) { .cpu = request->cpu };
	disk_woken(disk, &who, request->op, now);
	if (!disk_enter(disk, &who, request->op, now)) {
		wait_for_tag(request);
		return;
	}
	printf("g %llu %u %llu %u\n", (unsigned long long)now, request->op,
	       (unsigned long long)request->sector, request->sectors);
	disk_submit(disk, request, now);
}

static void wake_all(u64 now)
{
	while (disk_wakeups(disk, DISK_READ))
		wake(now);
}

static void run_until(u64 now)
{
	u64 next;

	while ((next = disk_next_event(disk)) <= now) {
		disk_advance(disk, next);
		wake_all(next);
	}
}

static void arrive(struct disk_request *request, u64 now)
{
	struct disk_submitter who = { .cpu = request->cpu };

	run_until(now);
	if (disk_merges(disk, request, now) || disk_enter(disk, &who, request->op, now))
		disk_submit(disk, request, now);
	else
		wait_for_tag(request);
	wake_all(now);	/* two requests may have become one, which frees a tag */
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
	disk = disk_create(&profile, NULL, GFP_KERNEL);
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
		} else if (!strchr("ig#", line[0])) {
			fprintf(stderr, "mq-replay: what is this: %s", line);
			return 2;
		}
	}
	run_until(U64_MAX - 1);
	disk_destroy(disk);
	profile_free(&profile);
	return 0;
}
