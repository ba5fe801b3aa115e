// SPDX-License-Identifier: GPL-2.0
/*
 * david-store: a store looked at and repaired while it is not in use, by the
 * kernel's own reading of it (dm-david/format.c).
 *
 * repair does what can be done without guessing: it gives back a copy of the
 * superblock that is broken, and cuts the log before a page that is lost, so
 * that the disk is as it was when that page had not been written. Two blocks in one
 * place it leaves: which of them is right nobody knows.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../dm-david/crc.h"
#include "../../dm-david/format.h"

enum status {
	STATUS_GOOD,
	STATUS_DAMAGED,		/* or no store at all */
	STATUS_UNREADABLE,	/* nothing can be said */
};

struct opened {
	int fd;
	const char *path;
	struct format_super super;
	bool copy_broken;		/* one of the two */
	struct rangetable table;
	struct remap_bitmap bitmap;
	struct format_replay replay;
	enum format_step step;
	const char *claim;		/* what is wrong with the table */
	u64 claim_block;
};

static bool read_page(const struct opened *o, u64 page, void *buf)
{
	return pread(o->fd, buf, FORMAT_PAGE, page * FORMAT_PAGE) == FORMAT_PAGE;
}

static bool write_page(const struct opened *o, u64 page, const void *buf)
{
	if (pwrite(o->fd, buf, FORMAT_PAGE, page * FORMAT_PAGE) == FORMAT_PAGE)
		return true;
	perror(o->path);
	return false;
}

static enum status open_store(struct opened *o, const char *path, bool write)
{
	static u8 look[FORMAT_LOOK * FORMAT_PAGE];
	struct format_super super;
	struct stat st;
	unsigned int i;

	o->path = path;
	/* On a block device O_EXCL is refused while anybody has it in use. */
	o->fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_EXCL);
	if (o->fd < 0 || fstat(o->fd, &st)) {
		perror(path);
		return STATUS_UNREADABLE;
	}
	for (i = 0; i < FORMAT_LOOK; i++) {
		if (!read_page(o, i, look + i * FORMAT_PAGE)) {
			fprintf(stderr, "%s: cannot be read, or too small for a store\n", path);
			return STATUS_UNREADABLE;
		}
	}
	switch (format_look(look, &o->super)) {
	case FORMAT_STORE:
		break;
	case FORMAT_BLANK:
		fprintf(stderr, "%s: blank\n", path);
		return STATUS_DAMAGED;
	case FORMAT_OTHER_VERSION:
		fprintf(stderr, "%s: a store of another version\n", path);
		return STATUS_DAMAGED;
	case FORMAT_BROKEN:
		fprintf(stderr, "%s: a store with both copies of its superblock broken\n", path);
		return STATUS_DAMAGED;
	default:
		fprintf(stderr, "%s: no store\n", path);
		return STATUS_DAMAGED;
	}
	/* Each copy by itself. */
	for (i = 0; i < FORMAT_SUPERS; i++) {
		u8 *other = look + (1 - i) * FORMAT_PAGE, keep[FORMAT_PAGE];

		memcpy(keep, other, FORMAT_PAGE);
		memset(other, 0, FORMAT_PAGE);
		o->copy_broken |= format_look(look, &super) != FORMAT_STORE ||
				  memcmp(super.uuid, o->super.uuid, sizeof(super.uuid));
		memcpy(other, keep, FORMAT_PAGE);
	}
	return STATUS_GOOD;
}

static enum status read_table(struct opened *o)
{
	static u8 page[FORMAT_PAGE];
	u64 i;

	rt_init(&o->table);
	format_replay_begin(&o->replay, &o->super, &o->table);
	o->step = FORMAT_MORE;
	for (i = 0; i < o->super.log_pages && o->step == FORMAT_MORE; i++) {
		/* What cannot be read is not what is expected. */
		if (!read_page(o, format_place(&o->super, o->super.log_start + i), page))
			memset(page, 0, sizeof(page));
		o->step = format_replay_page(&o->replay, page);
	}
	if (o->step == FORMAT_MORE)
		o->step = format_replay_end(&o->replay);
	if (o->step == FORMAT_NO_MEMORY || bm_init(&o->bitmap, o->super.backing_blocks)) {
		fprintf(stderr, "%s: not enough memory\n", o->path);
		return STATUS_UNREADABLE;
	}
	bm_claim(&o->bitmap, 0, format_data(&o->super));
	o->claim = format_claim(&o->table, &o->bitmap, format_data(&o->super), &o->claim_block);
	return STATUS_GOOD;
}

static enum status verdict(const struct opened *o)
{
	enum status status = STATUS_GOOD;

	if (o->copy_broken) {
		printf("one copy of the superblock is broken (david store repair)\n");
		status = STATUS_DAMAGED;
	}
	if (o->step == FORMAT_DAMAGED) {
		printf("log page %" PRIu64 ": %s (david store repair)\n", o->replay.next,
		       o->replay.why);
		status = STATUS_DAMAGED;
	}
	if (o->claim) {
		printf("block %" PRIu64 " of the disk: %s\n", o->claim_block, o->claim);
		status = STATUS_DAMAGED;
	}
	return status;
}

static void info(const struct opened *o)
{
	const struct format_super *s = &o->super;
	struct format_room room;
	unsigned int i;

	format_room(s->log_pages, &room);
	printf("version %u\nuuid ", FORMAT_VERSION);
	for (i = 0; i < sizeof(s->uuid); i++)
		printf("%02x", s->uuid[i]);
	printf("\nclean %s\ngeneration %" PRIu64 "\nepoch %" PRIu64 "\nblock_size %u\n",
	       s->flags & FORMAT_CLEAN ? "yes" : "no", s->generation, s->epoch, s->block_size);
	printf("target_sectors %" PRIu64 "\nseed %" PRIu64 "\n", s->target_sectors, s->seed);
	printf("backing_blocks %" PRIu64 "\nused %" PRIu64 "\nlog_pages %" PRIu64 "\n",
	       s->backing_blocks, o->bitmap.used - format_data(s), s->log_pages);
	printf("log_used %" PRIu64 "\nranges_most %" PRIu64 "\n",
	       o->replay.next - s->log_start, room.ranges);
	printf("ranges_fill %" PRIu64 "\nranges_squashed %" PRIu64 "\nranges_stored %" PRIu64 "\n",
	       o->table.ranges[RT_FILL], o->table.ranges[RT_SQUASHED], o->table.ranges[RT_STORED]);
}

/* First block, last block, kind, value: as `david classify` prints ranges. */
static void dump(const struct opened *o)
{
	static const char * const kinds[] = { "hole", "fill", "squashed", "stored" };
	struct rt_range r;
	u64 block;

	for (block = 0; block != U64_MAX; block = r.start + r.len) {
		rt_lookup(&o->table, block, &r);
		if (r.kind == RT_HOLE)
			continue;
		printf("%" PRIu64 " %" PRIu64 " %s", r.start, r.start + r.len - 1, kinds[r.kind]);
		if (r.kind == RT_FILL)
			printf(" %016" PRIx64, r.value);
		else if (r.kind == RT_STORED)
			printf(" %" PRIu64, r.value);
		printf("\n");
	}
}

static enum status repair(struct opened *o)
{
	static u8 page[FORMAT_PAGE];
	u64 end = o->super.log_start + o->super.log_pages, at;
	unsigned int i;

	if (o->claim) {
		printf("this cannot be repaired\n");
		return STATUS_DAMAGED;
	}
	/* What was written after the page that is lost must not speak of it again. */
	if (o->step == FORMAT_DAMAGED)
		for (at = o->replay.next; at < end; at++)
			if (!write_page(o, format_place(&o->super, at), page))
				return STATUS_UNREADABLE;
	if (fsync(o->fd))
		return STATUS_UNREADABLE;
	o->super.log_end = o->replay.next;
	o->super.flags &= ~FORMAT_CLEAN;
	o->super.epoch++;
	for (i = 0; i < FORMAT_SUPERS; i++) {
		o->super.generation++;
		format_pack(&o->super, page);
		if (!write_page(o, o->super.generation % FORMAT_SUPERS, page) || fsync(o->fd))
			return STATUS_UNREADABLE;
	}
	printf("repaired; check the file system on the disk, too\n");
	return STATUS_GOOD;
}

int main(int argc, char **argv)
{
	static struct opened o;
	const char *command = argc == 3 ? argv[1] : "";
	enum status status;

	crc_setup();
	if (strcmp(command, "info") && strcmp(command, "check") && strcmp(command, "dump") &&
	    strcmp(command, "repair")) {
		fprintf(stderr, "usage: david-store info|check|dump|repair DEV\n");
		return STATUS_UNREADABLE;
	}
	status = open_store(&o, argv[2], command[0] == 'r');
	if (!status)
		status = read_table(&o);
	if (status)
		return status;
	switch (command[0]) {
	case 'i':
		info(&o);
		break;
	case 'd':
		dump(&o);
		break;
	default:
		status = verdict(&o);
		if (command[0] == 'r' && status)
			status = repair(&o);
		else if (!status)
			printf("no fault found\n");
	}
	rt_destroy(&o.table);
	bm_destroy(&o.bitmap);
	close(o.fd);
	return status;
}
