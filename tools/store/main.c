// SPDX-License-Identifier: GPL-2.0
/*
 * david-store: a store looked at, repaired, and moved while it is not in use, by
 * the kernel's own reading of it (dm-david/lib/format.c).
 *
 * repair does what can be done without guessing: it gives back a copy of the
 * superblock that is broken, and cuts the log before a page that is lost, so
 * that the disk is as it was when that page had not been written. Two blocks in one
 * place it leaves: which of them is right nobody knows.
 */
#include "store.h"

#include <inttypes.h>
#include <unistd.h>

#include "../../dm-david/lib/crc.h"

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
	print_rules(o);
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

static bool write_page(const struct opened *o, u64 page, const void *buf)
{
	if (write_at(o->fd, buf, FORMAT_PAGE, page * FORMAT_PAGE))
		return true;
	perror(o->path);
	return false;
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

static int bad_arguments(void)
{
	fprintf(stderr,
		"usage: david-store info|check|dump|repair DEV\n"
		"       david-store export DEV FILE\n"
		"       david-store import [--format] FILE DEV\n");
	return STATUS_UNREADABLE;
}

int main(int argc, char **argv)
{
	static struct opened o;
	const char *command = argc > 1 ? argv[1] : "";
	bool format = argc == 5 && !strcmp(argv[2], "--format");
	enum status status;

	crc_setup();
	if (!strcmp(command, "import") && argc == 4 + format)
		return import_store(argv[2 + format], argv[3 + format], format);
	if (strcmp(command, "export") ? argc != 3 : argc != 4)
		return bad_arguments();
	if (strcmp(command, "info") && strcmp(command, "check") && strcmp(command, "dump") &&
	    strcmp(command, "repair") && strcmp(command, "export"))
		return bad_arguments();
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
	case 'e':
		status = export_store(&o, argv[3]);
		break;
	default:
		status = verdict(&o);
		if (command[0] == 'r' && status) {
			status = repair(&o);
		} else if (!status) {
			status = check_rules(&o);
			if (!status)
				printf("no fault found\n");
		}
	}
	rt_destroy(&o.table);
	bm_destroy(&o.bitmap);
	close(o.fd);
	return status;
}
