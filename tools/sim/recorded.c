// SPDX-License-Identifier: GPL-2.0
/*
 * The model gets each recorded request at the time when the kernel's model got it.
 * Those times include back-pressure already, so there is none here.
 */
#define _GNU_SOURCE		/* getline */
#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/uapi/dm-david.h"
#include "../../model/flash/ftl.h"
#include "../common/complain.h"
#include "../common/vec.h"
#include "recorded.h"
#include "target.h"

#include <stdio.h>

struct recorded {
	struct disk_request request;
	u64 arrival;
	u64 completion;		/* the kernel's; 0 if it was not recorded */
	u64 refused;		/* when another was first refused by the full queue since the
				 * request before; 0: none
				 */
	u8 refused_op;
	bool queued;
	u64 plug;		/* number of its task's plug; 0: none */
};

/* A task unplugged before request @id came. */
struct unplug {
	u64 id;
	u64 now;
	u64 plug;
	bool sleeps;
};

/* Sectors that were written before request @id came, by no request. */
struct written {
	u64 id;
	u64 now;
	u64 sector;
	u64 sectors;
};

struct recording {
	struct written *written;
	u64 room_written;
	size_t nr_written, next_written;
	struct recorded *requests;	/* by id */
	u64 room;
	size_t nr;
	struct unplug *unplugs;	/* in their order */
	u64 room_unplugs;
	size_t nr_unplugs, next_unplug;
	struct disk_plug *plugs;	/* by number */
	u64 nr_plugs;
	char device[24];
	const char *file;
	size_t line;
	bool speedup;		/* was its mode for a while */
	struct drive_sums sums;	/* of the model's commands */
	struct pending_figures pending;	/* at the end */
	struct solid_figures solid;	/* likewise, of an SSD or memory */
	bool has_solid;
	bool refused_at_end;	/* and what was refused never came: the slot behind the last */
};

static int recording_bad_line(const struct recording *rec, const char *text)
{
	return complain("%s, line %zu: %s", rec->file, rec->line, text);
}

static struct recorded *slot(struct recording *rec, u64 id)
{
	u64 room = rec->room;

	rec->requests = vec_reserve(rec->requests, &rec->room, id + 1, sizeof(*rec->requests));
	memset(rec->requests + room, 0, (rec->room - room) * sizeof(*rec->requests));
	rec->nr = max(rec->nr, (size_t)id + 1);
	return &rec->requests[id];
}

/* Parse the number that follows " @name=" in @line. */
static int value(const struct recording *rec, const char *line, const char *name, u64 most,
		 u64 *result)
{
	char key[24], text[80], *end;
	const char *at;

	snprintf(key, sizeof(key), " %s=", name);
	at = strstr(line, key);
	if (at) {
		errno = 0;
		*result = strtoull(at + strlen(key), &end, 10);
		if (end != at + strlen(key) && !errno && *result <= most)
			return 0;
	}
	snprintf(text, sizeof(text), "no number %s=, or too large a one", name);
	return recording_bad_line(rec, text);
}

/* 1 if the line belongs to the chosen device. */
static int check_device(struct recording *rec, const char *line, bool chosen)
{
	char device[sizeof(rec->device)] = "";
	const char *at = strstr(line, " dev=");

	if (!at || sscanf(at, " dev=%23[0-9:]", device) != 1)
		return recording_bad_line(rec, "no dev=");
	if (!rec->device[0])
		memcpy(rec->device, device, sizeof(device));
	if (!strcmp(rec->device, device))
		return 1;
	return chosen ? 0 : recording_bad_line(rec, "a second device; choose one with --device");
}

static int take_queued(struct recording *rec, const char *line)
{
	u64 id, arrival, op, sector, sectors, flags, cpu = 0, plug = 0;
	struct recorded *r;

	if (value(rec, line, "id", rec->line, &id) ||
	    value(rec, line, "arrival", U64_MAX / 2, &arrival) ||
	    value(rec, line, "op", DISK_ZONE_RESET, &op) ||
	    value(rec, line, "sector", U64_MAX / 2, &sector) ||
	    value(rec, line, "sectors", U32_MAX, &sectors) ||
	    value(rec, line, "flags", 255, &flags) ||
	    (strstr(line, " plug=") && (value(rec, line, "cpu", UINT16_MAX, &cpu) ||
					value(rec, line, "plug", rec->line, &plug))))
		return -1;
	r = slot(rec, id);
	if (r->queued)
		return recording_bad_line(rec,
					  "this id was queued before; record one device's life only");
	r->queued = true;
	r->arrival = arrival;
	r->request.sector = sector;
	r->request.sectors = sectors;
	r->request.op = op;
	r->request.flags = flags;
	r->request.cpu = cpu;
	r->plug = plug;
	rec->nr_plugs = max(rec->nr_plugs, plug + 1);
	return 0;
}

static int take_unplugged(struct recording *rec, const char *line)
{
	struct unplug unplug;
	u64 sleeps;

	if (value(rec, line, "id", rec->line, &unplug.id) ||
	    value(rec, line, "now", U64_MAX / 2, &unplug.now) ||
	    value(rec, line, "plug", rec->line, &unplug.plug) ||
	    value(rec, line, "sleeps", 1, &sleeps))
		return -1;
	unplug.sleeps = sleeps;
	rec->nr_plugs = max(rec->nr_plugs, unplug.plug + 1);
	rec->unplugs = vec_reserve(rec->unplugs, &rec->room_unplugs, rec->nr_unplugs + 1,
				   sizeof(*rec->unplugs));
	rec->unplugs[rec->nr_unplugs++] = unplug;
	return 0;
}

static int take_written(struct recording *rec, const char *line)
{
	struct written written;

	if (value(rec, line, "id", rec->line, &written.id) ||
	    value(rec, line, "now", U64_MAX / 2, &written.now) ||
	    value(rec, line, "sector", U64_MAX / 2, &written.sector) ||
	    value(rec, line, "sectors", U64_MAX / 2, &written.sectors))
		return -1;
	rec->written = vec_reserve(rec->written, &rec->room_written, rec->nr_written + 1,
				   sizeof(*rec->written));
	rec->written[rec->nr_written++] = written;
	return 0;
}

static int take_mode(struct recording *rec, const char *line)
{
	u64 mode;

	if (value(rec, line, "mode", U64_MAX, &mode))
		return -1;
	rec->speedup |= mode == DAVID_MODE_SPEEDUP;
	return 0;
}

static int take_completed(struct recording *rec, const char *line)
{
	struct recorded *r;
	u64 id, completion;

	if (value(rec, line, "id", rec->line, &id) ||
	    value(rec, line, "completion", U64_MAX / 2, &completion))
		return -1;
	r = slot(rec, id);
	r->completion = completion;
	return 0;
}

static int take_refused(struct recording *rec, const char *line)
{
	struct recorded *r;
	u64 id, now, op;

	if (value(rec, line, "id", rec->line, &id) ||
	    value(rec, line, "now", U64_MAX / 2, &now) ||
	    value(rec, line, "op", DISK_ZONE_RESET, &op))
		return -1;
	r = slot(rec, id);
	if (r->refused)
		return 0;
	r->refused = now;
	r->refused_op = op;
	return 0;
}

static int take_line(struct recording *rec, const char *line, bool chosen)
{
	const char *queued = strstr(line, "david_queue:");
	const char *completed = strstr(line, "david_complete:");
	const char *refused = strstr(line, "david_wait:");
	const char *unplugged = strstr(line, "david_unplug:");
	const char *written = strstr(line, "david_written:");
	const char *mode = strstr(line, "david_mode:");
	int mine;

	if (strstr(line, "LOST") && strstr(line, "EVENTS"))
		return recording_bad_line(rec, "events were lost; record with a larger buffer");
	if (!queued && !completed && !refused && !unplugged && !written && !mode)
		return 0;
	mine = check_device(rec, line, chosen);
	if (mine <= 0)
		return mine;
	if (refused)
		return take_refused(rec, refused);
	if (unplugged)
		return take_unplugged(rec, unplugged);
	if (written)
		return take_written(rec, written);
	if (mode)
		return take_mode(rec, mode);
	return queued ? take_queued(rec, queued) : take_completed(rec, completed);
}

static int complain_of_size(const struct profile *profile)
{
	fprintf(stderr, "are not on a disk of %llu sectors\n",
		(unsigned long long)profile->sectors);
	fprintf(stderr, "Give the size that it had there with --size.\n");
	return -1;
}

static int recording_check(struct recording *rec, const struct profile *profile)
{
	const struct recorded *r;
	u64 last = 0;
	size_t id;

	if (rec->nr && !rec->requests[rec->nr - 1].queued && rec->requests[rec->nr - 1].refused) {
		rec->refused_at_end = true;
		rec->nr--;
	}

	if (!rec->nr) {
		fprintf(stderr, "%s: no david_queue events\n", rec->file);
		return -1;
	}
	if (rec->speedup && profile->kind == DRIVE_SSD) {
		fprintf(stderr, "%s: the disk was in speedup for a while; ", rec->file);
		fprintf(stderr, "what an SSD was sent then is not recorded\n");
		return -1;
	}
	for (id = 0; id < rec->nr_written; id++) {
		const struct written *w = &rec->written[id];

		if (w->sector > profile->sectors || w->sectors > profile->sectors - w->sector) {
			fprintf(stderr, "%s: sectors written before request %llu ", rec->file,
				(unsigned long long)w->id);
			return complain_of_size(profile);
		}
	}
	for (id = 0; id < rec->nr; id++) {
		r = &rec->requests[id];
		if (!r->queued) {
			fprintf(stderr, "%s: request %zu is missing; ", rec->file, id);
			fprintf(stderr, "record from before the disk is made\n");
			return -1;
		}
		if (r->arrival < last) {
			fprintf(stderr, "%s: request %zu arrives before the one before it\n",
				rec->file, id);
			return -1;
		}
		last = r->arrival;
		if (r->request.op > DISK_TRIM && !profile->zone_size) {
			fprintf(stderr, "%s: request %zu is a command to a zone, ", rec->file, id);
			fprintf(stderr, "but the profile is of a drive without zones\n");
			return -1;
		}
		if (r->request.sector > profile->sectors ||
		    r->request.sectors > profile->sectors - r->request.sector) {
			fprintf(stderr, "%s: request %zu: its sectors ", rec->file, id);
			return complain_of_size(profile);
		}
	}
	return 0;
}

static int recording_load(struct recording *rec, bool chosen)
{
	FILE *file = strcmp(rec->file, "-") ? fopen(rec->file, "r") : stdin;
	size_t size = 0;
	char *line = NULL;
	int r = 0;

	if (!file) {
		fprintf(stderr, "%s: %s\n", rec->file, strerror(errno));
		return -1;
	}
	while (!r && getline(&line, &size, file) >= 0) {
		rec->line++;
		r = take_line(rec, line, chosen);
	}
	if (ferror(file))
		r = recording_bad_line(rec, "cannot be read");
	free(line);
	if (file != stdin)
		fclose(file);
	return r;
}

/*
 * A refusal unplugs the queue. Here nobody waits yet, so the model may admit the first request to
 * a full queue: whoever fills the queue may go on with a batch. It does not admit a second one.
 */
static void refuse(struct disk *disk, const struct recorded *r)
{
	struct disk_submitter first = { }, second = { };

	if (disk_enter(disk, &first, r->refused_op, r->refused))
		disk_enter(disk, &second, r->refused_op, r->refused);
}

/* Tasks that unplugged before request @id came. */
static void recording_unplug(struct recording *rec, struct disk *disk, u64 id)
{
	const struct unplug *u = &rec->unplugs[rec->next_unplug];

	for (; rec->next_unplug < rec->nr_unplugs && u->id <= id; rec->next_unplug++, u++)
		disk_unplug(disk, &rec->plugs[u->plug], u->sleeps, u->now);
}

static void recording_send(struct recording *rec, struct disk *disk, struct recorded *r)
{
	r->request.plug = r->plug ? &rec->plugs[r->plug] : NULL;
	if (r->request.op == DISK_TRIM)
		disk_trim(disk, r->request.sector, r->request.sectors, r->arrival);
	else
		disk_submit(disk, &r->request, r->arrival);
}

/* As the kernel's model was told before request @id: timing_follow(), timing_zeroes(). */
static void write_before(struct recording *rec, struct disk *disk, struct ftl *ftl, u64 id)
{
	const struct written *w = &rec->written[rec->next_written];

	for (; rec->next_written < rec->nr_written && w->id <= id; rec->next_written++, w++) {
		u64 first = w->sector / FTL_PAGE, end = w->sector + w->sectors;

		/* Of what was there before the first request the time is not known. */
		if (w->now)
			disk_settle(disk, w->now);
		ftl_fill(ftl, first, DIV_ROUND_UP(end, FTL_PAGE) - first);
	}
}

/* @ftl: of an SSD, else NULL. */
static int run_on(struct recording *rec, struct disk *disk, struct ftl *ftl)
{
	u64 next;
	size_t id;

	rec->plugs = calloc(rec->nr_plugs + 1, sizeof(*rec->plugs));
	if (!disk || !rec->plugs) {
		fprintf(stderr, "david-sim: not enough memory for the disk\n");
		return -1;
	}
	disk_sum_into(disk, &rec->sums);
	for (id = 0; id < rec->nr; id++) {
		if (ftl)
			write_before(rec, disk, ftl, id);
		recording_unplug(rec, disk, id);
		if (rec->requests[id].refused)
			refuse(disk, &rec->requests[id]);
		disk_advance(disk, rec->requests[id].arrival);
		recording_send(rec, disk, &rec->requests[id]);
	}
	if (ftl)
		write_before(rec, disk, ftl, U64_MAX);
	recording_unplug(rec, disk, U64_MAX);
	if (rec->refused_at_end)
		refuse(disk, &rec->requests[rec->nr]);
	while ((next = disk_next_event(disk)) != U64_MAX)
		disk_advance(disk, next);
	disk_pending_figures(disk, &rec->pending);
	rec->has_solid = disk_solid_figures(disk, &rec->solid);
	return 0;
}

/* Returns NULL, and says why, if @text is wrong. */
static struct faults *recorded_faults(const struct profile *profile, const char *text, u64 shift)
{
	struct faults *faults = calloc(1, sizeof(*faults));
	struct fault_error error;

	if (!faults) {
		complain("not enough memory for the faults");
		return NULL;
	}
	faults_init(faults, profile);
	faults->shift = shift;
	if (!faults_parse(faults, text, &error))
		return faults;
	complain("--faults: %s", error.text);
	free(faults);
	return NULL;
}

static int recording_run(struct recording *rec, const struct profile *profile,
			 struct faults *faults)
{
	struct ftl *ftl = profile->kind == DRIVE_SSD ? ftl_create(profile, GFP_KERNEL) : NULL;
	struct disk *disk = NULL;
	int r;

	if (ftl || profile->kind != DRIVE_SSD)
		disk = disk_create(profile, ftl, GFP_KERNEL);
	if (disk && faults)
		disk_set_faults(disk, faults);
	r = run_on(rec, disk, ftl);
	disk_destroy(disk);
	ftl_destroy(ftl);
	return r;
}

static int write_out(const struct recording *rec, const char *name)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "w") : stdout;
	size_t id;
	bool bad;

	if (!file) {
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
		return -1;
	}
	fprintf(file, "id,arrival_ns,dispatch_ns,completion_ns,overhead_ns,seek_ns,rotation_ns,");
	fprintf(file, "transfer_ns,flush_ns,queued_ns,die_ns,channel_ns,map_ns,hit,cached,"
		"fault_ns,failed\n");
	for (id = 0; id < rec->nr; id++) {
		const struct disk_request *r = &rec->requests[id].request;

		if (r->op == DISK_TRIM)
			continue;
		fprintf(file, "%zu,%llu,%llu,%llu,", id, (unsigned long long)r->arrival,
			(unsigned long long)r->dispatch, (unsigned long long)r->completion);
		fprintf(file, "%llu,%llu,%llu,", (unsigned long long)r->parts.overhead,
			(unsigned long long)r->parts.seek, (unsigned long long)r->parts.rotation);
		fprintf(file, "%llu,%llu,%llu,", (unsigned long long)r->parts.transfer,
			(unsigned long long)r->parts.flush, (unsigned long long)r->parts.queued);
		fprintf(file, "%llu,%llu,%llu,%u,%u,", (unsigned long long)r->parts.die,
			(unsigned long long)r->parts.channel, (unsigned long long)r->parts.map,
			r->parts.hit, r->parts.cached);
		fprintf(file, "%llu,%u\n", (unsigned long long)r->parts.fault, r->fault);
	}
	bad = ferror(file);
	bad |= file == stdout ? fflush(file) : fclose(file);
	if (bad)
		fprintf(stderr, "%s: %s\n", name, strerror(errno));
	return bad ? -1 : 0;
}

/* Sectors of requests of @op that only a cache saw. */
static unsigned long long cached_of(const struct recording *rec, enum disk_op op)
{
	unsigned long long sum = 0;
	size_t id;

	for (id = 0; id < rec->nr; id++)
		if (rec->requests[id].request.op == op)
			sum += rec->requests[id].request.parts.cached;
	return sum;
}

/* Reads that the drive's cache served whole. */
static unsigned long long read_hits_of(const struct recording *rec)
{
	unsigned long long hits = 0;
	size_t id;

	for (id = 0; id < rec->nr; id++)
		if (rec->requests[id].request.op == DISK_READ)
			hits += rec->requests[id].request.parts.hit;
	return hits;
}

/* By the names that the kernel's statistics have for them. */
static void print_flash(FILE *to, const struct solid_figures *solid)
{
	const struct {
		const char *name;
		u64 value;
	} figures[] = {
		{ "host_pages", solid->host_pages },
		{ "moved_pages", solid->moved_pages },
		{ "fresh_pages", solid->fresh_pages },
		{ "folded_pages", solid->folded_pages },
		{ "reads", solid->flash_reads },
		{ "programs", solid->programs },
		{ "slc_programs", solid->slc_programs },
		{ "map_programs", solid->map_programs },
		{ "map_reads", solid->map_reads },
		{ "erases", solid->erases },
		{ "empty_reads", solid->empty_reads },
		{ "buffer_reads", solid->buffer_reads },
		{ "buffer_waits", solid->buffer_waits },
		{ "suspended", solid->suspended },
	};
	size_t i;

	fputs("\"flash\": {", to);
	for (i = 0; i < ARRAY_SIZE(figures); i++)
		fprintf(to, "%s\"%s\": %llu", i ? ", " : "", figures[i].name,
			(unsigned long long)figures[i].value);
	fputs("}, ", to);
}

/* The number of completions that differ. Prints the first of them. */
static size_t recording_compare(const struct recording *rec, size_t *compared, u64 *last)
{
	size_t id, differ = 0;

	*compared = 0;
	*last = 0;
	for (id = 0; id < rec->nr; id++) {
		const struct recorded *r = &rec->requests[id];

		*last = max(*last, r->request.completion);
		if (!r->completion)
			continue;
		(*compared)++;
		if (r->completion == r->request.completion)
			continue;
		if (!differ++) {
			fprintf(stderr, "%s: request %zu: done at %llu ns by the kernel's model, ",
				rec->file, id, (unsigned long long)r->completion);
			fprintf(stderr, "at %llu ns by this one\n",
				(unsigned long long)r->request.completion);
		}
	}
	return differ;
}

int replay_recorded(const struct profile *profile, const struct recorded_options *options)
{
	const char *name = options->file, *out = options->out;
	struct faults *faults = NULL;
	bool json = options->json;
	struct recording rec = { .file = name };
	size_t compared, differ;
	unsigned long long total;
	int status = 1;
	u64 last;
	FILE *to;

	if (options->device)
		snprintf(rec.device, sizeof(rec.device), "%s", options->device);
	if (options->faults) {
		faults = recorded_faults(profile, options->faults, options->fault_shift);
		if (!faults)
			return 1;
	}
	if (recording_load(&rec, options->device) || recording_check(&rec, profile) ||
	    recording_run(&rec, profile, faults) || (out && write_out(&rec, out)))
		goto out;
	differ = recording_compare(&rec, &compared, &last);
	to = out && !strcmp(out, "-") ? stderr : stdout;
	total = last - rec.requests[0].arrival;
	if (json)
		fprintf(to, "{\"n\": %zu, \"compared\": %zu, \"differ\": %zu, ", rec.nr,
			compared, differ);
	if (json)
		fprintf(to, "\"total_ns\": %llu, \"hits\": %llu, ", total,
			(unsigned long long)rec.sums.hits);
	if (json)
		fprintf(to, "\"cached\": {\"read\": %llu, \"write\": %llu}, ",
			cached_of(&rec, DISK_READ), cached_of(&rec, DISK_WRITE));
	if (json)
		fprintf(to, "\"pending\": {\"sectors\": %llu, \"runs\": %llu}, ",
			(unsigned long long)rec.pending.sectors,
			(unsigned long long)rec.pending.runs);
	if (json)
		fprintf(to, "\"read_hits\": %llu, ", read_hits_of(&rec));
	if (json && rec.has_solid)
		print_flash(to, &rec.solid);
	if (json)
		target_print_sums(to, &rec.sums);
	if (json)
		fprintf(to, "}\n");
	else
		fprintf(to, "%zu requests, %zu completions compared, %zu differ; %llu ns in all\n",
			rec.nr, compared, differ, total);
	status = differ ? 1 : 0;
out:
	free(faults);
	free(rec.requests);
	free(rec.unplugs);
	free(rec.written);
	free(rec.plugs);
	return status;
}
