/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The disk's engine over a drive whose times are easily foretold: this file includes
 * model/host/disk.c with other names for its functions and for the drive's. A command
 * takes FAKE_FIXED, and FAKE_SECTOR for each sector of its distance to the end of the
 * one before. For some writes it never has room. Its cache has served what lies from
 * FAKE_CACHED on, and for half of each command's sectors nothing else did.
 */
#ifndef UNIT_FAKE_DRIVE_H
#define UNIT_FAKE_DRIVE_H

#define window_init		fake_window_init
#define window_exit		fake_window_exit
#define window_bytes		fake_window_bytes
#define window_send		fake_window_send
#define window_send_flush	fake_window_send_flush
#define window_start		fake_window_start
#define window_advance		fake_window_advance
#define drive_create		fake_drive_create
#define drive_destroy		fake_drive_destroy
#define drive_bytes		fake_drive_bytes
#define drive_serve		fake_drive_serve
#define drive_access_time	fake_drive_access_time
#define drive_locate		fake_drive_locate
#define disk_create		fake_disk_create
#define disk_destroy		fake_disk_destroy
#define disk_sum_into		fake_disk_sum_into
#define disk_bytes		fake_disk_bytes
#define disk_enter		fake_disk_enter
#define disk_wait		fake_disk_wait
#define disk_line		fake_disk_line
#define disk_wakes		fake_disk_wakes
#define disk_wakeups		fake_disk_wakeups
#define disk_woken		fake_disk_woken
#define disk_submit		fake_disk_submit
#define disk_next_event		fake_disk_next_event
#define disk_advance		fake_disk_advance
#define disk_catch_up		fake_disk_catch_up
#define disk_settle		fake_disk_settle
#define disk_merges		fake_disk_merges
#define disk_unplug		fake_disk_unplug
#define disk_trim		fake_disk_trim
#define disk_solid_figures	fake_disk_solid_figures
#define disk_pending_figures	fake_disk_pending_figures
#define drive_pending_figures	fake_drive_pending_figures
#define drive_set_faults	fake_drive_set_faults
#define disk_set_faults		fake_disk_set_faults

#include "../../model/host/window.c"
#undef NEVER
#include "../../model/host/disk.c"

#define FAKE_FIXED	1000000		/* ns */
#define FAKE_SECTOR	7
#define FAKE_CACHED	1024

struct drive {
	u64 head;
	u64 end;
	u32 served;
};

/* What the drive last served, for tests to look at */
static struct {
	enum disk_op op;
	u64 sector;
	u32 sectors;
	u32 served;
	u64 cached;	/* of all commands so far */
} fake_last;

struct drive *drive_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp)
{
	return kvzalloc(sizeof(struct drive), gfp);
}

void drive_set_faults(struct drive *drive, struct faults *faults, u64 ahead)
{
}

void drive_destroy(struct drive *drive)
{
	kvfree(drive);
}

size_t drive_bytes(const struct drive *drive)
{
	return sizeof(*drive);
}

bool drive_pending_figures(const struct drive *drive, struct pending_figures *figures)
{
	return false;
}

static u64 fake_distance(u64 from, u64 to)
{
	return from < to ? to - from : from - to;
}

static u64 fake_access(u64 head, enum disk_op op, u64 sector)
{
	if (op == DISK_WRITE && sector / 8 % 4 == 1)
		return DRIVE_NO_ROOM;
	return FAKE_SECTOR * fake_distance(head, sector);
}

void drive_locate(const struct drive *drive, struct drive_command *command)
{
}

u64 drive_access_time(const struct drive *drive, const struct drive_command *command, u64 now,
		      u64 limit)
{
	return fake_access(drive->head, command->op, command->sector);
}

u64 drive_serve(struct drive *drive, const struct drive_command *command, u64 now,
		struct drive_parts *parts)
{
	u64 seek = command->op == DISK_FLUSH ? 0 :
		   FAKE_SECTOR * fake_distance(drive->head, command->sector);

	/* A drive serves one command after another. */
	WARN_ON_ONCE(now < drive->end);
	*parts = (struct drive_parts){
		.overhead = FAKE_FIXED, .seek = seek, .cached = command->sectors / 2,
		.hit = command->op != DISK_FLUSH && command->sector >= FAKE_CACHED,
	};
	fake_last.cached += parts->cached;
	if (command->op != DISK_FLUSH)
		drive->head = command->sector + command->sectors;
	drive->end = now + FAKE_FIXED + seek;
	fake_last.op = command->op;
	fake_last.sector = command->sector;
	fake_last.sectors = command->sectors;
	fake_last.served = ++drive->served;
	return drive->end;
}

#endif
