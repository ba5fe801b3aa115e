// SPDX-License-Identifier: GPL-2.0
/*
 * david store import: see store.h and image.h.
 *
 * The image's ranges become a checkpoint at the log's beginning, its blocks
 * follow each other behind the log: everything is written in order, and the
 * superblocks last. Until then the device begins with zeros: it is blank.
 */
#define _GNU_SOURCE
#include "store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image.h"

struct import {
	struct image_reader image;
	int from, to;
	const char *path, *device;
	struct format_super super;
	struct format_log_page page;
	unsigned int ops;		/* in it */
	u64 head;			/* its sequence */
};

static bool read_file(void *ctx, void *buf, size_t len)
{
	const struct import *in = ctx;
	ssize_t n;

	for (; len; buf += n, len -= n) {
		n = read(in->from, buf, len);
		if (n <= 0)
			return false;
	}
	return true;
}

static enum status bad_image(const struct import *in)
{
	fprintf(stderr, "%s: %s\n", in->path, in->image.why);
	return STATUS_DAMAGED;
}

/* Is everything in it as it should be? */
static enum status verify(struct import *in)
{
	enum image_kind kind = 0;
	u32 len;

	if (image_open(&in->image)) {
		do
			kind = image_next(&in->image, &len);
		while (kind && kind != IMAGE_END);
	}
	image_close(&in->image);
	return kind == IMAGE_END ? STATUS_GOOD : bad_image(in);
}

static enum status open_device(struct import *in, bool format)
{
	static u8 look[FORMAT_LOOK * FORMAT_PAGE];
	struct format_super old;
	enum format_found found;

	/* On a block device O_EXCL is refused while anybody has it in use. */
	in->to = open(in->device, O_RDWR | O_CLOEXEC | O_EXCL);
	if (in->to < 0) {
		perror(in->device);
		return STATUS_UNREADABLE;
	}
	if (!read_at(in->to, look, sizeof(look), 0)) {
		fprintf(stderr, "%s: cannot be read, or too small for a store\n", in->device);
		return STATUS_UNREADABLE;
	}
	found = format_look(look, &old);
	if (found == FORMAT_BLANK || format)
		return STATUS_GOOD;
	fprintf(stderr, "%s: not blank, %s: --format overwrites it\n", in->device,
		found == FORMAT_FOREIGN ? "something stands on it" : "there is a store on it");
	return STATUS_UNREADABLE;
}

/* Room for all of it, and in the log for what is written to the disk later. */
static enum status make_super(struct import *in)
{
	const struct image_head *head = &in->image.head;
	u64 pages = lseek(in->to, 0, SEEK_END) / FORMAT_PAGE, free, ranges;
	struct format_room room;

	if (format_begin(&in->super, pages, head->block_size)) {
		fprintf(stderr, "%s: too small for a store\n", in->device);
		return STATUS_UNREADABLE;
	}
	format_room(in->super.log_pages, &room);
	free = in->super.backing_blocks - format_data(&in->super);
	if (head->blocks > free) {
		fprintf(stderr, "%s: too small: %" PRIu64 " blocks of %u bytes, room for %" PRIu64
			"\n", in->device, head->blocks, head->block_size, free);
		return STATUS_UNREADABLE;
	}
	ranges = room.ranges - room.ranges / 16;
	if (head->ranges > ranges) {
		fprintf(stderr, "%s: too small: %" PRIu64 " ranges, room in its log for %" PRIu64
			"\n", in->device, head->ranges, ranges);
		return STATUS_UNREADABLE;
	}
	if (getrandom(in->super.uuid, sizeof(in->super.uuid), 0) != sizeof(in->super.uuid)) {
		perror("getrandom");
		return STATUS_UNREADABLE;
	}
	in->super.target_sectors = head->target_sectors;
	in->super.seed = head->seed;
	in->super.flags = head->flags;
	in->super.epoch = 1;
	return STATUS_GOOD;
}

static bool put_page(struct import *in)
{
	format_seal(&in->page, &in->super, in->head, 0, in->ops);
	in->ops = 0;
	return write_at(in->to, &in->page, FORMAT_PAGE,
			FORMAT_PAGE * format_place(&in->super, in->head++));
}

static bool put_ranges(struct import *in, u32 len)
{
	struct rt_range r;
	u32 i;

	for (i = 0; i < len / sizeof(struct format_op); i++) {
		image_range(&in->image, i, &r);
		if (r.kind == RT_STORED)
			r.value += format_data(&in->super);
		format_put(&in->page.op[in->ops++], &r);
		if (in->ops == FORMAT_OPS && !put_page(in))
			return false;
	}
	return true;
}

static bool put_blocks(struct import *in, u32 len)
{
	u32 size = in->super.block_size;
	u64 first = in->image.blocks - len / size;

	progress("import", first, in->image.head.blocks);
	return write_at(in->to, in->image.data, len, (format_data(&in->super) + first) * size);
}

/* All of the image but the superblocks. False with image.why set, or with errno. */
static bool put_all(struct import *in)
{
	bool good = true;
	u32 len;

	while (good) {
		switch (image_next(&in->image, &len)) {
		case IMAGE_RANGES:
			good = put_ranges(in, len);
			break;
		case IMAGE_BLOCKS:
			good = put_blocks(in, len);
			break;
		case IMAGE_END:
			return !in->ops || put_page(in);
		default:
			good = false;
		}
	}
	return false;
}

static bool put_supers(struct import *in)
{
	static u8 page[FORMAT_PAGE];
	unsigned int i;

	if (fsync(in->to))
		return false;
	in->super.flags |= FORMAT_CLEAN;
	in->super.log_end = in->head;
	for (i = 0; i < FORMAT_SUPERS; i++) {
		in->super.generation++;
		format_pack(&in->super, page);
		if (!write_at(in->to, page, FORMAT_PAGE,
			      FORMAT_PAGE * (in->super.generation % FORMAT_SUPERS)) ||
		    fsync(in->to))
			return false;
	}
	return true;
}

static bool wipe(const struct import *in)
{
	static const u8 zeros[FORMAT_LOOK * FORMAT_PAGE];

	return write_at(in->to, zeros, sizeof(zeros), 0) && !fsync(in->to);
}

static enum status put_store(struct import *in)
{
	enum status status = make_super(in);

	if (status)
		return status;
	if (wipe(in) && put_all(in) && put_supers(in)) {
		progress("import", in->image.head.blocks, in->image.head.blocks);
		return STATUS_GOOD;
	}
	if (in->image.why)
		bad_image(in);
	else
		perror(in->device);
	if (wipe(in))
		fprintf(stderr, "%s: blank now\n", in->device);
	return in->image.why ? STATUS_DAMAGED : STATUS_UNREADABLE;
}

enum status import_store(const char *path, const char *device, bool format)
{
	static struct import in;
	enum status status;

	in.path = path;
	in.device = device;
	in.image.read = read_file;
	in.image.ctx = &in;
	if (strcmp(path, "-"))
		in.from = open(path, O_RDONLY | O_CLOEXEC);
	if (in.from < 0) {
		perror(path);
		return STATUS_UNREADABLE;
	}
	status = open_device(&in, format);
	if (!status && lseek(in.from, 0, SEEK_SET) == 0) {
		status = verify(&in);
		if (!status && lseek(in.from, 0, SEEK_SET))
			status = STATUS_UNREADABLE;
	}
	if (status)
		return status;
	status = image_open(&in.image) ? put_store(&in) : bad_image(&in);
	image_close(&in.image);
	close(in.to);
	return status;
}
