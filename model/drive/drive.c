// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "drive-internal.h"

struct drive *drive_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	struct drive *drive = kvzalloc(sizeof(*drive), gfp);

	if (!drive)
		return NULL;
	drive->profile = profile;
	if (profile->kind != DRIVE_DISK) {
		drive->solid = solid_create(profile, 1, ftl, gfp);
		if (drive->solid)
			return drive;
		kvfree(drive);
		return NULL;
	}
	drive->media.profile = profile;
	drive->media.geometry = geometry_create(profile, gfp);
	drive->media.seeks = seek_steps_create(profile, gfp);
	drive->cache = cache_create(profile, gfp);
	if (profile->media_cache)
		drive->media.shingle = shingle_create(profile, gfp);
	if (profile->write_buffer && profile->write_cache == WRITE_CACHE_BACK && drive->media.seeks)
		drive->writes = write_buffer_create(profile, drive->media.seeks, gfp);
	if (!drive->media.geometry || !drive->media.seeks || !drive->cache ||
	    (profile->media_cache && !drive->media.shingle) ||
	    (profile->write_buffer && profile->write_cache == WRITE_CACHE_BACK &&
	     !drive->writes)) {
		drive_destroy(drive);
		return NULL;
	}
	return drive;
}

void drive_destroy(struct drive *drive)
{
	if (!drive)
		return;
	if (drive->solid) {
		solid_destroy(drive->solid);
		kvfree(drive);
		return;
	}
	geometry_destroy(drive->media.geometry);
	seek_steps_destroy(drive->media.seeks);
	cache_destroy(drive->cache);
	shingle_destroy(drive->media.shingle);
	write_buffer_destroy(drive->writes);
	kvfree(drive);
}

void drive_set_faults(struct drive *drive, struct faults *faults, u64 ahead)
{
	drive->faults = faults;
	drive->ahead = ahead;
	if (drive->solid)
		return;
	/* Spare blocks lie behind the last sector, on its track or near it. */
	geometry_find(drive->media.geometry, drive->profile->sectors - 1, &drive->spare);
}

size_t drive_bytes(const struct drive *drive)
{
	if (drive->solid)
		return sizeof(*drive) + solid_bytes(drive->solid);
	return sizeof(*drive) + geometry_bytes(drive->media.geometry) +
	       seek_steps_bytes(drive->media.seeks) + cache_bytes(drive->cache) +
	       (drive->media.shingle ? drive->media.shingle->bytes : 0) +
	       (drive->writes ? write_buffer_bytes(drive->writes) : 0);
}

/* Read-ahead has the mechanics first: it began with the last read. */
static void drive_background(struct drive *drive, u64 now)
{
	drive->clock = max(drive->clock, now);
	readahead_advance(drive, drive->clock);
	if (drive->readahead.segment)
		return;
	destage_advance(drive, drive->clock);
	if (drive->media.shingle && !drive->destage.segment)
		clean_advance(drive, drive->clock);
}

static u64 drive_flush(struct drive *drive, struct command *cmd)
{
	u64 overhead = drive->profile->overhead + drive->profile->flush_overhead;

	destage_all(drive, cmd->begin);
	cmd->parts.flush = U64_MAX >> 3;	/* all but the overhead */
	drive_decoded(drive, cmd, cmd->begin + overhead);
	return max(drive->media_free, cmd->begin) + overhead;
}

/* Of a zone: it takes no arm. What is in the write buffer of the zone is written all the same. */
static noinline u64 drive_zone(struct drive *drive, u8 op, struct command *cmd)
{
	const struct profile *profile = drive->profile;
	u64 time = profile->overhead;

	switch (op) {
	case DISK_ZONE_OPEN:
		time += profile->zone_open_time;
		break;
	case DISK_ZONE_CLOSE:
		time += profile->zone_close_time;
		break;
	case DISK_ZONE_FINISH:
		time += profile->zone_finish_time;
		break;
	default:
		time += profile->zone_reset_time;
	}
	drive_decoded(drive, cmd, cmd->begin + time);
	return cmd->begin + time;
}

static void fill_block(struct drive *drive, u64 sector, u32 sectors, u64 *time)
{
	struct media_pass pass = {
		.sector = sector,
		.left = min_t(u64, sectors, drive->profile->sectors - sector),
		.time = *time,
	};
	struct segment *segment = cache_find(drive->cache, sector, false);
	struct media_stretch stretch;

	if (segment && sector + pass.left <= segment->end)
		return;
	while (pass.left)
		media_next(&drive->media, &pass, &stretch);
	*time = pass.time;
}

void drive_fill_parts(struct drive *drive, struct media_pass *pass)
{
	u32 block = drive->profile->physical_block / 512;
	u64 first = pass->sector, end = pass->sector + pass->left;

	if (first & (block - 1)) {
		first &= ~(u64)(block - 1);
		fill_block(drive, first, block, &pass->time);
		first += block;
	}
	if (end & (block - 1) && end > first)
		fill_block(drive, end & ~(u64)(block - 1), block, &pass->time);
}

/* What is left over is transfer; what overlaps is not counted twice. */
static void command_split(struct command *cmd, u64 total)
{
	struct drive_parts *parts = &cmd->parts;
	u64 hidden;

	if (cmd->hidden) {
		hidden = min(cmd->hidden, parts->seek);
		parts->seek -= hidden;
		parts->rotation -= min(cmd->hidden - hidden, parts->rotation);
	}
	drive_parts_split(parts, total);
	if (MODEL_PLANTED(turns))
		parts->transfer += parts->rotation;
}

/* How much longer faults make a command of @ns. */
static u64 faults_more(const struct drive *drive, const struct drive_command *command, u64 now,
		       u64 ns)
{
	if (!drive->faults)
		return 0;
	return faults_time(drive->faults, command->sectors ? command->op : DISK_FLUSH,
			   command->flags & DISK_BAD, command->sector, command->sectors,
			   now + drive->ahead, ns) - ns;
}

/* One command at a time, on a drive that could have more. */
static u64 serve_alone(struct drive *drive, const struct drive_command *command, u64 now,
		       struct drive_parts *parts)
{
	struct solid_command alone = {
		.sector = command->sector,
		.sectors = command->sectors,
		.op = command->sectors || command->op > DISK_OP_NR ? command->op : DISK_FLUSH,
		.flags = command->flags,
	};
	struct solid *solid = drive->solid;
	u64 more;

	solid_submit(solid, &alone, now);
	while (!solid_advance(solid, solid_next_event(solid)))
		;
	more = faults_more(drive, command, now, alone.end - now);
	alone.parts.fault += more;
	if (parts)
		*parts = alone.parts;
	return alone.end + more;
}

u64 drive_detours(struct drive *drive, u64 sector, u64 sectors, bool write, u64 now)
{
	u64 at = sector, end = sector + sectors, seek, wait, begin = now;
	const struct place *spare = &drive->spare;
	struct media *media = &drive->media;
	const struct fault_run *run;
	struct place home;
	u32 nr;

	while (at < end && !MODEL_PLANTED(straight) &&
	       (run = faults_moved(drive->faults, at, end - at))) {
		if (now > begin) {
			media_find(media, max(at, run->first), &home);
			media_access(media, &home, write, now, 0, &seek, &wait);
			now += seek + wait;
			media->cylinder = home.cylinder;
			media->head = home.head;
		}
		nr = min_t(u64, min(run->end, end) - max(run->first, at), spare->slots);
		media_access(media, spare, write, now, 0, &seek, &wait);
		now += seek + wait + media_time(media, spare->slots, 0, nr);
		media->cylinder = spare->cylinder;
		media->head = spare->head;
		drive->faults->figures.detours++;
		at = run->end;
	}
	return now;
}

/*
 * What faults add to the command that was served until @end. Nothing else is done meanwhile: the
 * arm, the electronics and the bus are taken. A command that the cache served or took had no need
 * of the media, but for what it waited for.
 */
static noinline u64 drive_meets_faults(struct drive *drive, const struct drive_command *command,
				       struct command *cmd, u64 end)
{
	bool bad = command->flags & DISK_BAD;
	u64 more, free, usual = end - cmd->now;

	if (bad || (!cmd->parts.hit &&
		    faults_moved(drive->faults, command->sector, command->sectors)))
		readahead_stop(drive, drive->media_free);
	if (!cmd->parts.hit) {
		free = drive->media_free;
		drive->media_free = drive_detours(drive, command->sector, command->sectors,
						  command->op == DISK_WRITE, free);
		end += drive->media_free - free;
	}
	if (bad) {
		cmd->parts.hit = false;
		cmd->parts.cached = 0;
	}
	end += faults_more(drive, command, cmd->now, end - cmd->now);
	more = end - cmd->now - usual;
	if (more) {
		cmd->parts.fault = more;
		drive->media_free = max(drive->media_free, end);
		drive->bus_free = max(drive->bus_free, end);
	}
	return end;
}

u64 drive_serve(struct drive *drive, const struct drive_command *command, u64 now,
		struct drive_parts *parts)
{
	struct command cmd = {
		.sector = command->sector,
		.sectors = command->sectors,
		.begin = drive_begin(drive, command->arrived),
		.now = now,
		.fua = command->flags & DISK_FUA,
	};
	u64 end;

	if (drive->solid)
		return serve_alone(drive, command, now, parts);
	drive_background(drive, cmd.begin);
	if (command->op == DISK_FLUSH || !command->sectors) {
		end = command->op > DISK_OP_NR ? drive_zone(drive, command->op, &cmd) :
						 drive_flush(drive, &cmd);
	} else if (command->op == DISK_READ) {
		end = drive_read(drive, &cmd);
		drive->wrote = false;
		drive->bus_free = end;
	} else {
		end = drive_write(drive, &cmd);
		drive->wrote = true;
		drive->last_write = command->sector + command->sectors;
	}
	end = max(end, now);
	command_split(&cmd, end - now);
	if (unlikely(drive->faults))
		end = drive_meets_faults(drive, command, &cmd, end);
	drive->last_end = end;
	if (parts)
		*parts = cmd.parts;
	return end;
}

void drive_trim(struct drive *drive, u64 sector, u64 sectors, u64 now)
{
	if (drive->solid)
		solid_trim(drive->solid, sector, sectors, now);
}

bool drive_pending_figures(const struct drive *drive, struct pending_figures *figures)
{
	const struct shingle *shingle = drive->solid ? NULL : drive->media.shingle;

	*figures = (struct pending_figures){ };
	if (!shingle)
		return false;
	figures->sectors = shingle_used(shingle) + drive->dirty;
	figures->runs = shingle->profile->media_cache_map - shingle->nr_unused;
	if (drive->writes) {
		figures->sectors += drive->writes->sectors;
		figures->runs += drive->writes->runs.nr;
	}
	return true;
}

void drive_locate(const struct drive *drive, struct drive_command *command)
{
	if (disk_op_has_data(command->op))
		media_find(&drive->media, command->sector, &command->place);
}

/*
 * Of the wait for a sector a drive knows a share, in 1000ths; the rest counts as half a revolution.
 * Some know it least where commands follow on one another: a Toshiba P300 gains nothing by it from
 * 1 MiB on.
 */
static u32 known_share(const struct profile *profile, bool stream)
{
	u32 known = profile->ncq_rotation;

	return stream ? known * profile->ncq_rotation_stream / 1000 : known;
}

static noinline u64 exact_at_media(const struct drive *drive, const struct place *place, bool write,
				   u64 start, u64 not_before, u32 known, u64 guess)
{
	u64 seek, wait;

	media_access(&drive->media, place, write, start, not_before, &seek, &wait);
	return start + seek + div_u64(wait * known + guess, 1000);
}

/* The access time at the media, from @start on; see drive_access_time() for @limit. */
static __always_inline u64 at_media(const struct drive *drive, const struct drive_command *command,
				    const struct place *place, u64 start, u64 not_before,
				    u64 limit)
{
	u32 known = known_share(drive->profile, command->stream);
	u64 guess = drive->profile->revolution / 2 * (1000 - known);
	bool write = command->op == DISK_WRITE;
	const struct seek_step *step;

	step = seek_step(drive->media.seeks, media_distance(&drive->media, place));
	if (start + (write ? step->least : step->least_read) + div_u64(guess, 1000) >= limit)
		return limit;
	return exact_at_media(drive, place, write, start, not_before, known, guess);
}

/* When the mechanics could be had for a command that is decoded at @ready. */
static u64 media_start(const struct drive *drive, u64 ready)
{
	return drive->readahead.segment ? readahead_stops(drive, ready) :
					  max(ready, drive->media_free);
}

static u64 read_access(const struct drive *drive, const struct drive_command *command,
		       const struct command *cmd, u64 limit)
{
	const struct place *place = &command->place;
	struct read_plan plan;
	struct place from;

	read_plan(drive, cmd, &plan);
	if (plan.source == FROM_BUFFER)
		return 0;
	if (plan.source == FROM_READAHEAD && !MODEL_PLANTED(order))
		return max(plan.first, cmd->now + 1);	/* the arm is needed, where it is */
	if (plan.from != cmd->sector) {
		media_find(&drive->media, plan.from, &from);
		place = &from;
	}
	return at_media(drive, command, place, media_start(drive, plan.ready), 0, limit);
}

static u64 write_access(const struct drive *drive, const struct drive_command *command,
			const struct command *cmd, u64 limit)
{
	struct write_plan plan;

	if (drive->profile->write_cache == WRITE_CACHE_BACK && !cmd->fua &&
	    cache_has_room(drive->cache))
		return 0;
	write_plan(drive, cmd, &plan);
	return at_media(drive, command, &command->place, media_start(drive, plan.ready),
			plan.not_before, limit);
}

/* Where more than a glance is needed. Returns a time of the clock. */
static noinline u64 access_by_plan(const struct drive *drive, const struct drive_command *command,
				   u64 now, u64 limit)
{
	const struct command cmd = {
		.sector = command->sector,
		.sectors = command->sectors,
		.begin = drive_begin(drive, command->arrived),
		.now = now,
		.fua = command->flags & DISK_FUA,
	};

	if (command->op == DISK_READ)
		return read_access(drive, command, &cmd, limit);
	if (command->op == DISK_WRITE)
		return write_access(drive, command, &cmd, limit);
	return 0;
}

u64 drive_access_time(const struct drive *drive, const struct drive_command *command, u64 now,
		      u64 limit)
{
	u64 first, ready;

	if (command->op == DISK_WRITE && drive->writes && !(command->flags & DISK_FUA))
		return write_buffer_room(drive->writes, command->sectors) ? 0 : DRIVE_NO_ROOM;
	limit = limit < U64_MAX - now ? now + limit : U64_MAX;
	if (command->op == DISK_READ && read_is_far(drive, command->sector, command->sectors)) {
		ready = drive_begin(drive, command->arrived) + drive_read_decoded(drive);
		first = at_media(drive, command, &command->place, media_start(drive, ready), 0,
				 limit);
	} else {
		first = access_by_plan(drive, command, now, limit);
	}
	return first > now ? first - now : 0;
}
