// SPDX-License-Identifier: GPL-2.0
/* david store export: see store.h and image.h. */
#define _GNU_SOURCE
#include "store.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "image.h"

struct file {
	int fd;
	const char *path;
};

static bool write_file(void *ctx, const void *buf, size_t len)
{
	struct file *file = ctx;
	ssize_t n;

	for (; len; buf += n, len -= n) {
		n = write(file->fd, buf, len);
		if (n <= 0) {
			perror(file->path);
			return false;
		}
	}
	return true;
}

/* The next range of @table from *@block on that is no hole. */
static bool next_range(const struct rangetable *table, u64 *block, struct rt_range *r)
{
	while (*block != U64_MAX) {
		rt_lookup(table, *block, r);
		*block = r->start + r->len;
		if (r->kind != RT_HOLE)
			return true;
	}
	return false;
}

static bool put_ranges(const struct opened *o, struct image_writer *w)
{
	static struct format_op op[IMAGE_CHUNK / sizeof(struct format_op)];
	u64 block = 0, stored = 0;
	struct rt_range r;
	unsigned int n = 0;
	bool good = true;

	while (good && next_range(&o->table, &block, &r)) {
		if (r.kind == RT_STORED) {
			r.value = stored;
			stored += r.len;
		}
		format_put(&op[n++], &r);
		if (n < ARRAY_SIZE(op))
			continue;
		good = image_chunk(w, IMAGE_RANGES, op, sizeof(op));
		n = 0;
	}
	return good && (!n || image_chunk(w, IMAGE_RANGES, op, n * sizeof(op[0])));
}

static bool put_blocks(const struct opened *o, struct image_writer *w, u64 all)
{
	static u8 buf[IMAGE_CHUNK];
	u32 size = o->super.block_size, have = 0;
	u64 block = 0, done = 0;
	struct rt_range r;

	while (next_range(&o->table, &block, &r)) {
		while (r.kind == RT_STORED && r.len) {
			u64 n = min_t(u64, r.len, (IMAGE_CHUNK - have) / size);

			if (!read_at(o->fd, buf + have, n * size, r.value * size)) {
				fprintf(stderr, "%s: block %" PRIu64 " cannot be read\n", o->path,
					r.value);
				return false;
			}
			have += n * size;
			r.value += n;
			r.len -= n;
			done += n;
			if (have < IMAGE_CHUNK)
				continue;
			progress("export", done, all);
			if (!image_chunk(w, IMAGE_BLOCKS, buf, have))
				return false;
			have = 0;
		}
	}
	return !have || image_chunk(w, IMAGE_BLOCKS, buf, have);
}

static bool put_all(const struct opened *o, struct file *file)
{
	const struct rangetable *t = &o->table;
	struct image_head head = {
		.block_size = o->super.block_size,
		.flags = o->super.flags & ~FORMAT_CLEAN,
		.target_sectors = o->super.target_sectors,
		.seed = o->super.seed,
		.ranges = t->ranges[RT_FILL] + t->ranges[RT_SQUASHED] + t->ranges[RT_STORED],
		.blocks = t->blocks[RT_STORED],
	};
	struct image_writer w = { .write = write_file, .ctx = file };
	bool good;

	memcpy(head.uuid, o->super.uuid, sizeof(head.uuid));
	if (!image_begin(&w, &head))
		return false;
	good = put_ranges(o, &w) && put_blocks(o, &w, head.blocks) &&
	       image_chunk(&w, IMAGE_END, NULL, 0);
	image_finish(&w);
	if (good)
		progress("export", head.blocks, head.blocks);
	return good;
}

enum status export_store(struct opened *o, const char *path)
{
	char part[4096];
	struct file file = { .fd = STDOUT_FILENO, .path = "standard output" };
	bool good;

	if (o->step == FORMAT_DAMAGED || o->claim) {
		fprintf(stderr, "%s: damaged, not exported: see david store check\n", o->path);
		return STATUS_DAMAGED;
	}
	if (!strcmp(path, "-"))
		return put_all(o, &file) ? STATUS_GOOD : STATUS_UNREADABLE;
	file.path = path;
	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part))
		return STATUS_UNREADABLE;
	file.fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file.fd < 0) {
		perror(part);
		return STATUS_UNREADABLE;
	}
	good = put_all(o, &file);
	if (good && (fsync(file.fd) || rename(part, path))) {
		perror(path);
		good = false;
	}
	close(file.fd);
	if (!good)
		unlink(part);
	return good ? STATUS_GOOD : STATUS_UNREADABLE;
}
