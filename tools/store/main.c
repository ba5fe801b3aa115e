// SPDX-License-Identifier: GPL-2.0
/*
 * david-store: check, dump, repair, export and import a store or a pool that is not in use.
 * The kernel's own code reads it (dm-david/lib/format.c).
 *
 * repair makes only repairs that need no guess. It restores a broken copy of the
 * superblock. It cuts the log in front of a lost page, so that the disk is as it
 * was before that page was written. Two target blocks with one destination stay:
 * nobody knows which of them is right.
 */
#include "store.h"

#include <inttypes.h>
#include <unistd.h>

#include "../../dm-david/portable/crc.h"

static void info(const struct opened *o)
{
	const struct format_super *s = &o->super;
	struct format_room room;
	unsigned int i;

	format_room(s->log_pages, &room);
	printf("version %" PRIu64 "\nuuid ", s->version);
	for (i = 0; i < sizeof(s->uuid); i++)
		printf("%02x", s->uuid[i]);
	printf("\nclean %s\ngeneration %" PRIu64 "\nepoch %" PRIu64 "\nblock_size %u\n",
	       s->flags & FORMAT_CLEAN ? "yes" : "no", s->generation, s->epoch, s->block_size);
	printf("target_sectors %" PRIu64 "\nseed %" PRIu64 "\n", s->target_sectors, s->seed);
	printf("backing_blocks %" PRIu64 "\nused %" PRIu64 "\nlog_pages %" PRIu64 "\n",
	       s->backing_blocks, o->bitmap.used - o->data, s->log_pages);
	printf("log_used %" PRIu64 "\nranges_most %" PRIu64 "\n",
	       o->replay.next - s->log_start, room.ranges);
	printf("ranges_fill %" PRIu64 "\nranges_squashed %" PRIu64 "\nranges_stored %" PRIu64 "\n",
	       o->table.ranges[RT_FILL], o->table.ranges[RT_SQUASHED], o->table.ranges[RT_STORED]);
	if (s->version >= FORMAT_VERSION_PACKS)
		printf("ranges_packed %" PRIu64 "\nblocks_packed %" PRIu64 "\n",
		       o->table.ranges[RT_PACKED], o->table.blocks[RT_PACKED]);
	if (s->zones.size)
		printf("zone_size %" PRIu64 "\nzone_capacity %" PRIu64 "\n"
		       "conventional_zones %" PRIu64 "\n",
		       s->zones.size, s->zones.capacity, s->zones.conventional);
	print_rules(o);
}

/* Print first block, last block, kind and value, as `david classify` prints ranges. */
static void dump(const struct opened *o)
{
	static const char * const kinds[] = { "hole", "fill", "squashed", "stored",
					      "packed" };
	struct rt_range r;
	u64 block;

	for (block = 0; block != U64_MAX; block = r.start + r.len) {
		rt_lookup(&o->table, block, &r);
		if (r.kind == RT_HOLE)
			continue;
		printf("%" PRIu64 " %" PRIu64 " %s", r.start, r.start + r.len - 1, kinds[r.kind]);
		if (r.kind == RT_FILL)
			printf(" %016" PRIx64, r.value);
		else if (r.kind >= RT_STORED)
			printf(" %" PRIu64, r.value);
		printf("\n");
	}
}

static bool write_page(const struct opened *o, u64 page, const void *buf)
{
	if (write_at(o->fd, buf, FORMAT_PAGE, (o->base + page) * FORMAT_PAGE))
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
	/* Pages behind the lost one must not be replayed later. */
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
		"usage: david-store info|check|dump|repair [--disk NAME] DEV\n"
		"       david-store export [--disk NAME] DEV FILE\n"
		"       david-store import [--format | --disk NAME] FILE DEV\n"
		"       david-store pool create [--format] [--share] DEV NAME\n"
		"       david-store pool show|check DEV\n"
		"       david-store pool drop DEV NAME\n"
		"       david-store pool export DEV FILE\n"
		"       david-store pool import [--format] FILE DEV NAME\n");
	return STATUS_UNREADABLE;
}

static int pool_command(int argc, char **argv)
{
	const char *command = argc ? argv[0] : "";
	bool format = argc > 1 && !strcmp(argv[1], "--format");
	bool share = argc > 1 + format && !strcmp(argv[1 + format], "--share");
	int options = format + share;

	if (!strcmp(command, "create") && argc == 3 + options)
		return pool_create(argv[1 + options], argv[2 + options], format, share);
	if (!strcmp(command, "show") && argc == 2)
		return pool_show(argv[1]);
	if (!strcmp(command, "check") && argc == 2)
		return pool_check_all(argv[1]);
	if (!strcmp(command, "drop") && argc == 3)
		return pool_drop(argv[1], argv[2]);
	if (!strcmp(command, "export") && argc == 3)
		return pool_export(argv[1], argv[2]);
	if (!strcmp(command, "import") && argc == 4 + format && !share)
		return pool_import(argv[1 + format], argv[2 + format], argv[3 + format], format);
	return bad_arguments();
}

/* @command of the store on @device, or of the pool's disk @disk there. */
static enum status store_command(const char *command, const char *disk, const char *device,
				 const char *file)
{
	static struct opened o;
	enum status status = open_store(&o, device, disk, command[0] == 'r');

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
		status = export_store(&o, file);
		break;
	default:
		status = verdict(&o);
		if (command[0] == 'r' && status) {
			status = repair(&o);
		} else if (!status) {
			status = check_rules(&o);
			if (!status)
				status = check_packs(&o);
			if (!status)
				printf("no fault found\n");
		}
	}
	rt_destroy(&o.table);
	bm_destroy(&o.bitmap);
	close(o.fd);
	return status;
}

static enum status run(int argc, char **argv)
{
	static const char * const commands[] = { "info", "check", "dump", "repair", "export" };
	const char *command = argc > 1 ? argv[1] : "", *disk = NULL;
	bool format = false;
	unsigned int i;

	crc_setup();
	argc -= 2;
	argv += 2;
	if (!strcmp(command, "pool"))
		return pool_command(argc, argv);
	if (argc > 1 && !strcmp(argv[0], "--disk")) {
		disk = argv[1];
		argc -= 2;
		argv += 2;
	} else if (argc > 0 && !strcmp(argv[0], "--format")) {
		format = true;
		argc--;
		argv++;
	}
	if (!strcmp(command, "import") && argc == 2)
		return disk ? import_disk(argv[0], argv[1], disk) :
			      import_store(argv[0], argv[1], format);
	for (i = 0; i < ARRAY_SIZE(commands) && strcmp(command, commands[i]); i++)
		;
	if (i == ARRAY_SIZE(commands) || format || argc != 1 + !strcmp(command, "export"))
		return bad_arguments();
	return store_command(command, disk, argv[0], argv[1]);
}

int main(int argc, char **argv)
{
	return run(argc, argv) == STATUS_GOOD ? 0 : 1;
}
