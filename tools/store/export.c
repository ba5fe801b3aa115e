// SPDX-License-Identifier: GPL-2.0
/* Disks written to a file: see export.h, store.h and exportfile.h. */
#define _GNU_SOURCE
#include "export.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

/* A disk's ranges, one after the other, cut where the numbers of their blocks do not go on. */
struct walk {
	const struct rangetable *table;
	struct numbers *numbers;
	u64 block;		/* of the disk, the next one */
	struct rt_range range;
	u64 number;		/* of its first block, if it is stored */
};

static u64 number_of(struct numbers *n, u64 dest)
{
	if (!n->of[dest])
		n->of[dest] = ++n->next;
	return n->of[dest] - 1;
}

/* The number of the block at @dest. Cuts @len to the blocks behind it that go on like that. */
static u64 number_run(struct numbers *n, u64 dest, u64 *len)
{
	u64 first = n->next, i;

	if (!n->of) {
		n->next += *len;
		return first;
	}
	first = number_of(n, dest);
	for (i = 1; i < *len; i++)
		if (number_of(n, dest + i) != first + i || first + i == n->known)
			break;
	*len = i;
	return first;
}

static void walk_begin(struct walk *w, const struct rangetable *table, struct numbers *numbers)
{
	*w = (struct walk){ .table = table, .numbers = numbers };
	/* They are the same each time. */
	if (!numbers->of)
		numbers->next = numbers->known;
}

static bool walk_next(struct walk *w)
{
	struct rt_range *r = &w->range;
	u64 skip;

	while (w->block != U64_MAX) {
		rt_lookup(w->table, w->block, r);
		skip = w->block - r->start;
		r->start += skip;
		r->len -= skip;
		if (r->kind == RT_STORED) {
			r->value += skip;
			w->number = number_run(w->numbers, r->value, &r->len);
		}
		w->block = r->start + r->len;
		if (r->kind != RT_HOLE)
			return true;
	}
	return false;
}

/* Stored, and not with a disk before. */
static bool is_new(const struct walk *w)
{
	return w->range.kind == RT_STORED && w->number >= w->numbers->known;
}

struct export_count export_count(const struct opened *o, struct numbers *n)
{
	struct export_count count = {};
	struct walk w;

	walk_begin(&w, &o->table, n);
	while (walk_next(&w)) {
		count.ranges++;
		if (w.range.kind == RT_STORED)
			count.named += w.range.len;
		if (is_new(&w))
			count.blocks += w.range.len;
	}
	return count;
}

static bool export_put_ranges(const struct opened *o, struct numbers *n, struct export_writer *out)
{
	static struct format_op op[EXPORT_CHUNK / sizeof(struct format_op)];
	unsigned int ops = 0;
	bool good = true;
	struct walk w;

	walk_begin(&w, &o->table, n);
	while (good && walk_next(&w)) {
		if (w.range.kind == RT_STORED)
			w.range.value = w.number;
		format_put(&op[ops++], &w.range);
		if (ops < ARRAY_SIZE(op))
			continue;
		good = export_chunk(out, EXPORT_RANGES, op, sizeof(op));
		ops = 0;
	}
	return good && (!ops || export_chunk(out, EXPORT_RANGES, op, ops * sizeof(op[0])));
}

static bool export_put_blocks(const struct opened *o, struct numbers *n, struct export_writer *out,
			      u64 all)
{
	static u8 buf[EXPORT_CHUNK];
	u32 size = o->super.block_size, have = 0;
	u64 done = n->known, some;
	struct walk w;

	walk_begin(&w, &o->table, n);
	while (walk_next(&w)) {
		for (; is_new(&w) && w.range.len; w.range.value += some, w.range.len -= some) {
			some = min_t(u64, w.range.len, (EXPORT_CHUNK - have) / size);
			if (!read_at(o->fd, buf + have, some * size, w.range.value * size)) {
				fprintf(stderr, "%s: block %" PRIu64 " cannot be read\n", o->path,
					w.range.value);
				return false;
			}
			have += some * size;
			done += some;
			if (have < EXPORT_CHUNK)
				continue;
			progress("export", done, all);
			if (!export_chunk(out, EXPORT_BLOCKS, buf, have))
				return false;
			have = 0;
		}
	}
	return !have || export_chunk(out, EXPORT_BLOCKS, buf, have);
}

bool export_disk(const struct opened *o, const struct export_count *count, struct numbers *n,
		 struct export_writer *out, u64 all)
{
	struct export_head head = {
		.packs = o->super.version == FORMAT_VERSION_PACKS,
		.block_size = o->super.block_size,
		.flags = o->super.flags & ~FORMAT_CLEAN,
		.target_sectors = o->super.target_sectors,
		.seed = o->super.seed,
		.ranges = count->ranges,
		.blocks = count->blocks,
	};
	bool good;

	memcpy(head.uuid, o->super.uuid, sizeof(head.uuid));
	if (!export_begin(out, &head))
		return false;
	good = export_put_ranges(o, n, out) && export_put_blocks(o, n, out, all) &&
	       export_chunk(out, EXPORT_END, NULL, 0);
	export_finish(out);
	n->known += count->blocks;
	return good;
}

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

enum status export_file(const char *path, export_fn put, void *what)
{
	struct file file = { .fd = STDOUT_FILENO, .path = "standard output" };
	struct export_writer w = { .write = write_file, .ctx = &file };
	char part[4096];
	bool good;

	if (!strcmp(path, "-"))
		return put(what, &w) ? STATUS_GOOD : STATUS_UNREADABLE;
	file.path = path;
	if (snprintf(part, sizeof(part), "%s.part", path) >= (int)sizeof(part))
		return STATUS_UNREADABLE;
	file.fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file.fd < 0) {
		perror(part);
		return STATUS_UNREADABLE;
	}
	good = put(what, &w);
	if (good && (fsync(file.fd) || rename(part, path))) {
		perror(path);
		good = false;
	}
	close(file.fd);
	if (!good)
		unlink(part);
	return good ? STATUS_GOOD : STATUS_UNREADABLE;
}

static bool export_put_store(void *what, struct export_writer *w)
{
	const struct opened *o = what;
	struct numbers n = {};
	struct export_count count = export_count(o, &n);
	bool good = export_disk(o, &count, &n, w, count.blocks);

	if (good)
		progress("export", count.blocks, count.blocks);
	return good;
}

enum status export_store(struct opened *o, const char *path)
{
	if (o->step == FORMAT_DAMAGED || o->claim) {
		fprintf(stderr, "%s: damaged, not exported: see david store check\n", o->path);
		return STATUS_DAMAGED;
	}
	if (o->super.zones.size) {
		fprintf(stderr, "%s: of a zoned disk, not exported: an export has no zones\n",
			o->path);
		return STATUS_UNREADABLE;
	}
	return export_file(path, export_put_store, o);
}
