// SPDX-License-Identifier: GPL-2.0
#include "output.h"

#include "../common/vec.h"

#define NUMBER_MAX 10 /* bytes */

void output_init(struct output *out, u32 streams, u32 *process)
{
	*out = (struct output){ .streams = streams, .process = process };
	out->stream = xmalloc(streams * sizeof(*out->stream));
	memset(out->stream, 0, streams * sizeof(*out->stream));
	texts_init(&out->texts);
}

void output_free(struct output *out)
{
	u32 i;

	for (i = 0; i < out->streams; i++)
		free(out->stream[i].data);
	free(out->stream);
	free(out->process);
	texts_free(&out->texts);
}

u32 output_processes(const struct output *out)
{
	u32 i, processes = 0;

	for (i = 0; i < out->streams; i++)
		processes = max(processes, out->process[i] + 1);
	return processes;
}

static void reserve(struct stream *s, u64 bytes)
{
	s->data = vec_reserve(s->data, &s->room, s->used + bytes, 1);
}

static void put(struct stream *s, u64 value)
{
	s->used += wl_put(s->data + s->used, value);
}

static void put_arg(struct stream *s, char letter, u64 value)
{
	if (letter != 't' && letter != 'f') {
		put(s, letter == 'i' ? wl_fold(value) : value);
		return;
	}
	wl_put_fixed(s->data + s->used, value);
	s->used += WL_FIXED;
}

void output_ended(struct output *out, u32 stream, u64 at, u32 other, u32 count)
{
	u8 *args = out->stream[stream].data + at - 2 * WL_FIXED;

	wl_put_fixed(args, other);
	wl_put_fixed(args + WL_FIXED, count);
}

void output_add(struct output *out, u32 stream, const struct wl_command *c,
		const struct order_result *deps, bool before)
{
	struct stream *s = &out->stream[stream];
	const char *args = wl_ops[c->op].args;
	u32 i;

	reserve(s, 2 + NUMBER_MAX * (6 + WL_ARGS + 2ull * deps->deps));
	s->data[s->used++] = c->op;
	s->data[s->used++] = c->flags;
	put(s, wl_fold((s64)c->event - s->event));
	put(s, wl_fold((s64)(c->start - s->start)));
	put(s, c->duration);
	put(s, c->gap);
	put(s, wl_fold(c->result));
	put(s, deps->deps);
	for (i = 0; i < deps->deps; i++) {
		put(s, deps->dep[i].thread);
		put(s, deps->dep[i].count);
	}
	for (i = 0; args[i]; i++)
		put_arg(s, args[i], c->args[i]);
	s->event = c->event;
	s->start = c->start;
	s->commands++;
	s->before += before;
	out->ops[c->op]++;
	out->commands++;
}

struct lying { /* a piece of a file of the tree, by its place on the original's disk */
	struct tracefile_extent at;
	u64 entry;
};

struct lyings {
	struct lying *piece;
	u64 count;
};

/* Blocks behind the file's end are no part of it. */
static void add_pieces(struct lyings *all, const struct tree_entry *e, u64 entry)
{
	u64 size = min_t(u64, e->size, WL_SIZE_MAX), end;
	u32 i;

	if ((e->mode & 0170000) != 0100000 || e->other || !e->extents)
		return;
	end = (size + WL_BLOCK - 1) / WL_BLOCK * WL_BLOCK;
	all->piece = xrealloc(all->piece, (all->count + e->extents) * sizeof(*all->piece));
	for (i = 0; i < e->extents; i++) {
		struct tracefile_extent at = e->extent[i];

		if (at.offset >= size || at.offset % WL_BLOCK || at.place > S64_MAX)
			continue;
		at.length = min(at.length, end - at.offset);
		all->piece[all->count++] = (struct lying){ at, entry };
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct tracefile_extent *one = &((const struct lying *)a)->at;
	const struct tracefile_extent *other = &((const struct lying *)b)->at;

	if (one->dev != other->dev)
		return one->dev < other->dev ? -1 : 1;
	return one->place < other->place ? -1 : one->place > other->place;
}

static struct stream layout_part(struct lyings *all)
{
	struct stream s = {};
	u64 i;

	if (all->count)
		qsort(all->piece, all->count, sizeof(*all->piece), compare_places);
	for (i = 0; i < all->count; i++) {
		const struct tracefile_extent *at = &all->piece[i].at, *last = at;
		u64 gap = 0;

		if (i)
			last = &all->piece[i - 1].at;
		if (last->dev == at->dev && at->place > last->place + last->length)
			gap = at->place - last->place - last->length;
		reserve(&s, 4 * NUMBER_MAX);
		put(&s, gap <= WL_GAP_MAX ? gap : 0);
		put(&s, all->piece[i].entry);
		put(&s, at->offset);
		put(&s, at->length);
	}
	return s;
}

/* The file's parts, in memory. */
static struct stream tree_part(struct output *out, const struct tree *tree, u64 *entries,
			       struct lyings *pieces)
{
	struct stream s = {};
	static char path[NAMES_PATH_MAX], other[NAMES_PATH_MAX];
	struct map seen = {};
	u32 i;

	for (i = 1; i < tree->entries; i++) {
		const struct tree_entry *e = &tree->entry[i];
		u64 path_at, other_at, *twice;
		const char *target = e->target;

		if (e->moved)
			continue;
		tree_path(tree, i, path, sizeof(path));
		path_at = texts_add(&out->texts, path);
		twice = map_at(&seen, path_at);
		if (*twice || !path_at)
			continue;
		*twice = 1;
		*other = 0;
		if (e->other)
			tree_path(tree, e->other, other, sizeof(other));
		else if ((e->mode & 0170000) == 0120000 && !target)
			/* What it says nobody has asked; only how long that is. */
			memset(other, 'x', min_t(u64, e->size, 255)),
				other[min_t(u64, e->size, 255)] = 0;
		other_at = texts_add(&out->texts, e->other || !target ? other : target);
		reserve(&s, 4 * NUMBER_MAX);
		put(&s, e->other ? 0 : e->mode ?: TREE_UNKNOWN_MODE);
		put(&s, min_t(u64, e->size, WL_SIZE_MAX));
		put(&s, path_at);
		put(&s, other_at);
		add_pieces(pieces, e, *entries);
		++*entries;
	}
	map_free(&seen);
	return s;
}

static void output_write_all(FILE *file, const char *path, const void *data, u64 bytes)
{
	if (bytes && fwrite(data, bytes, 1, file) != 1)
		die("%s: %s", path, strerror(errno));
}

static void *output_append(void *whole, u64 *used, const void *data, u64 bytes)
{
	whole = xrealloc(whole, *used + bytes + 8);
	if (bytes)
		memcpy((u8 *)whole + *used, data, bytes);
	*used += bytes;
	return whole;
}

u64 output_write(struct output *out, const char *path, const struct tree *tree,
		 const struct output_about *about, struct wl_starved *starved)
{
	u32 skip = offsetof(struct wl_header, hash) + sizeof(__le64), i;
	struct wl_header header = {};
	struct wl_thread *threads = xmalloc((out->streams + 1) * sizeof(*threads));
	u64 entries = 0, used = 0, command = texts_add(&out->texts, about->command);
	struct lyings pieces = {};
	struct stream tree_data = tree_part(out, tree, &entries, &pieces);
	struct stream layout = layout_part(&pieces);
	u8 *whole = NULL;
	struct workload made;
	const char *said;
	FILE *file;

	whole = output_append(whole, &used, &header, sizeof(header));
	used += out->streams * sizeof(*threads);
	for (i = 0; i < out->streams; i++)
		used += out->stream[i].used;
	whole = xrealloc(whole, used + 8);
	used = sizeof(header) + out->streams * sizeof(*threads);
	for (i = 0; i < out->streams; i++) {
		const struct stream *s = &out->stream[i];

		threads[i] = (struct wl_thread){
			.at = cpu_to_le64(used),
			.bytes = cpu_to_le64(s->used),
			.commands = cpu_to_le32(s->commands),
			.before = cpu_to_le32(s->before),
			.process = cpu_to_le32(out->process[i]),
		};
		if (s->used)
			memcpy(whole + used, s->data, s->used);
		used += s->used;
	}
	memcpy(whole + sizeof(header), threads, out->streams * sizeof(*threads));
	header = (struct wl_header){
		.magic = cpu_to_le32(WL_MAGIC),
		.version = cpu_to_le32(WL_VERSION),
		.threads = cpu_to_le32(out->streams),
		.slots = cpu_to_le32(about->slots),
		.commands = cpu_to_le64(out->commands),
		.elapsed = cpu_to_le64(about->elapsed),
		.tree = cpu_to_le64(entries),
		.tree_at = cpu_to_le64(used),
		.tree_bytes = cpu_to_le64(tree_data.used),
		.text_at = cpu_to_le64(used + tree_data.used),
		.text_bytes = cpu_to_le64(out->texts.used),
		.thread_at = cpu_to_le64(sizeof(header)),
		.layout = cpu_to_le64(pieces.count),
		.layout_at = cpu_to_le64(used + tree_data.used + out->texts.used),
		.layout_bytes = cpu_to_le64(layout.used),
		.calls = cpu_to_le64(about->calls),
		.command = cpu_to_le64(command),
	};
	for (i = 0; i < WL_REASONS; i++)
		header.without[i] = cpu_to_le64(about->without[i]);
	snprintf(header.order, sizeof(header.order), "%s", about->order);
	whole = output_append(whole, &used, tree_data.data, tree_data.used);
	whole = output_append(whole, &used, out->texts.data, out->texts.used);
	whole = output_append(whole, &used, layout.data, layout.used);
	memcpy(whole, &header, sizeof(header));
	header.hash = cpu_to_le64(wl_hash(whole + skip, used - skip));
	memcpy(whole, &header, sizeof(header));
	said = wl_check(&made, whole, used);
	if (said)
		die("%s: %s", path, said);
	*starved = made.starved;
	file = fopen(path, "wbe");
	if (!file)
		die("%s: %s", path, strerror(errno));
	output_write_all(file, path, whole, used);
	if (fclose(file))
		die("%s: %s", path, strerror(errno));
	free(whole);
	free(threads);
	free(tree_data.data);
	free(layout.data);
	free(pieces.piece);
	return used;
}
