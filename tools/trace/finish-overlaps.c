// SPDX-License-Identifier: GPL-2.0
/*
 * Which calls overlapped, of those about one name or one file's size: their order has to be found
 * out (races.h). Here is noted what that takes.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "../common/alloc.h"
#include "../common/vec.h"
#include "finish.h"

void overlaps_free(struct overlaps *o)
{
	free(o->base);
	free(o->change);
	free(o->copied);
	free(o->reused);
	map_free(&o->contested);
}

void finish_free(struct finisher *f)
{
	world_free(&f->world);
	map_free(&f->sized_by_file);
	free(f->sized);
	map_free(&f->used_by_number);
	free(f->used);
}

/* Names. */

static u32 said_from(const struct about *a, char letter, const char *path)
{
	const struct ofd *dir = path && *path != '/' ? effect_dir(a, letter) : NULL;

	return dir ? dir->id : 0;
}

static void note_base(struct finisher *f, const struct about *a)
{
	struct overlaps *o = &f->overlaps;
	struct base base = {
		.event = f->world.event,
		.ofd = said_from(a, 'p', a->path_length ? a->path : NULL),
		.ofd2 = said_from(a, 'P', a->path2_length ? a->path2 : NULL),
	};

	if (!base.ofd && !base.ofd2)
		return;
	o->base = vec_reserve(o->base, &o->base_room, o->bases + 1, sizeof(*o->base));
	o->base[o->bases++] = base;
}

/* The name that a call that has succeeded has made, or may have made; 0: none. */
static u32 name_made(const struct about *a)
{
	bool nothing = a->record->flags & TRACEFILE_SAME_FILE;

	switch (a->call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		return a->ofd && a->ofd->flags & O_CREAT &&
				       (a->ofd->flags & O_TMPFILE) != O_TMPFILE ?
			       a->name :
			       0;
	case DOES_MKDIR:
	case DOES_MKNOD:
	case DOES_BIND:
		return a->name;
	case DOES_SYMLINK:
	case DOES_LINK:
		return a->name2;
	case DOES_RENAME:
		return nothing ? 0 : a->name2;
	default:
		return 0;
	}
}

static u32 name_removed(const struct about *a)
{
	switch (a->call->effect) {
	case DOES_UNLINK:
	case DOES_RMDIR:
		return a->name;
	case DOES_RENAME:
		return a->record->flags & TRACEFILE_SAME_FILE ? 0 : a->name;
	default:
		return 0;
	}
}

static bool note_change(struct finisher *f, const struct about *a, u32 name, bool made)
{
	const struct tracefile_record *r = a->record;
	struct overlaps *o = &f->overlaps;
	u64 start = finish_since(f, r->entry);

	if (!name)
		return false;
	o->change = vec_reserve(o->change, &o->change_room, o->changes + 1, sizeof(*o->change));
	o->change[o->changes++] = (struct name_change){
		.event = f->world.event,
		.start = start,
		.end = start + (r->exit - r->entry),
		.text = name,
		.made = made,
	};
	return true;
}

static bool note_changes(struct finisher *f, const struct about *a)
{
	bool changes;

	if ((s64)a->record->result < 0)
		return false;
	changes = note_change(f, a, name_removed(a), false);
	return note_change(f, a, name_made(a), true) || changes;
}

/* Of the last calls of two threads, that of @tid becomes this one. Returns its place. */
static struct last *last_of(struct last *two, u32 tid)
{
	u32 i = two[0].tid != tid && (two[1].tid == tid || two[1].exit < two[0].exit);

	if (two[i].tid != tid)
		two[i] = (struct last){ .tid = tid };
	return &two[i];
}

static bool under_way(const struct last *last, const struct tracefile_record *r)
{
	return last->tid != r->tid && last->exit > r->entry;
}

static void note_names(struct finisher *f, const struct about *a)
{
	const struct tracefile_record *r = a->record;
	bool changes = note_changes(f, a);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(f->named); i++) {
		if ((changes && under_way(&f->named[i], r)) || under_way(&f->changed[i], r))
			f->overlapped = true;
	}
	last_of(f->named, r->tid)->exit = r->exit;
	if (changes)
		last_of(f->changed, r->tid)->exit = r->exit;
}

/* Sizes. */

static bool is_file(const struct file *file)
{
	return file && (!file->mode || S_ISREG(file->mode));
}

static struct sized *sized_of(struct finisher *f, const struct file *file)
{
	u64 *place = map_at(&f->sized_by_file, file->id);

	if (*place)
		return &f->sized[*place - 1];
	f->sized = vec_reserve(f->sized, &f->sized_room, f->sized_count + 1ull, sizeof(*f->sized));
	f->sized[f->sized_count] =
		(struct sized){ .size = file->size, .first = -1, .file = file->id };
	*place = ++f->sized_count;
	return &f->sized[*place - 1];
}

static void mark_contested(struct finisher *f, struct sized *s)
{
	s->contested = true;
	f->overlapped = true;
}

void finish_contested(struct finisher *f)
{
	u32 i;

	for (i = 0; i < f->sized_count; i++) {
		if (f->sized[i].contested && !f->sized[i].submitted)
			*map_at(&f->overlaps.contested, f->sized[i].file) = f->sized[i].first + 2;
	}
}

void finish_submitted(struct finisher *f, const struct about *a)
{
	if (is_file(a->file) && (s64)a->record->result >= 0 && a->call->effect != DOES_READ &&
	    a->call->effect != DOES_PREAD)
		sized_of(f, a->file)->submitted = true;
}

/* What a look at the open file says is so if nobody was changing that. */
static void note_open(struct finisher *f, const struct about *a)
{
	bool known = *map_at(&f->sized_by_file, a->file->id);
	struct sized *s = sized_of(f, a->file);

	if (known || !a->ofd || a->ofd->flags & O_TRUNC)
		return;
	s->first = a->ofd->size_open;
	s->opened = a->record->exit;
}

static void was_changing(struct sized *s, const struct about *a)
{
	if (a->record->entry < s->opened)
		s->first = -1;
}

/* A call that has found something up to @end, or has come to the file's end: S64_MAX. */
static void note_look(struct finisher *f, const struct about *a, const struct file *file, s64 end)
{
	struct sized *s = sized_of(f, file);
	struct last *own;
	u32 i;

	for (i = 0; i < 2; i++) {
		if (under_way(&s->set[i], a->record) ||
		    (under_way(&s->grown[i], a->record) && s->grown[i].level < end))
			mark_contested(f, s);
	}
	own = last_of(s->looked, a->record->tid);
	own->exit = a->record->exit;
	own->level = max(own->level, end);
}

/* A write; what the file has up to @level is there with and without it. */
static void note_growth(struct finisher *f, const struct about *a, const struct file *file)
{
	struct sized *s = sized_of(f, file);
	s64 level = s->size == file->size ? S64_MAX : min(s->size, file->size);
	struct last *own;
	u32 i;

	for (i = 0; i < 2; i++) {
		if (under_way(&s->set[i], a->record) ||
		    (under_way(&s->looked[i], a->record) && s->looked[i].level > level))
			mark_contested(f, s);
	}
	was_changing(s, a);
	own = last_of(s->grown, a->record->tid);
	own->level = own->exit ? min(own->level, level) : level;
	own->exit = a->record->exit;
	s->size = file->size;
}

static void note_set(struct finisher *f, const struct about *a, const struct file *file, s64 size)
{
	struct sized *s = sized_of(f, file);
	struct last *own;
	u32 i;

	for (i = 0; i < 2; i++) {
		if ((under_way(&s->set[i], a->record) && s->set[i].level != size) ||
		    under_way(&s->grown[i], a->record) || under_way(&s->looked[i], a->record))
			mark_contested(f, s);
	}
	was_changing(s, a);
	own = last_of(s->set, a->record->tid);
	own->level = size;
	own->exit = a->record->exit;
	s->size = file->size;
}

static void note_copied(struct finisher *f, const struct about *a)
{
	struct overlaps *o = &f->overlaps;

	o->copied = vec_reserve(o->copied, &o->copied_room, o->copies + 1, sizeof(*o->copied));
	o->copied[o->copies++] = (struct copied){
		.event = f->world.event,
		.file = a->source->file->id,
		.ofd = a->source->id,
		.at = a->source_at == NO_OFFSET ? -1 : a->source_at,
	};
	note_look(f, a, a->source->file, S64_MAX);
}

static void note_read(struct finisher *f, const struct about *a)
{
	u64 got = a->record->result, asked = effect_asked(a);
	bool whole = got && got >= asked && a->offset != NO_OFFSET;

	note_look(f, a, a->file, whole ? (s64)((u64)a->offset + got) : S64_MAX);
}

static void note_sizes(struct finisher *f, const struct about *a)
{
	const u64 *args = a->record->args;

	if (a->source && is_file(a->source->file))
		note_copied(f, a);
	if (!is_file(a->file))
		return;
	switch (a->call->effect) {
	case DOES_READ:
	case DOES_PREAD:
		note_read(f, a);
		break;
	case DOES_WRITE:
	case DOES_PWRITE:
	case DOES_SENDFILE:
	case DOES_COPY:
	case DOES_SPLICE:
		note_growth(f, a, a->file);
		break;
	case DOES_SEEK:
		if (args[2] != SEEK_SET && args[2] != SEEK_CUR)
			note_look(f, a, a->file, S64_MAX);
		break;
	case DOES_TRUNCATE:
	case DOES_FTRUNCATE:
		note_set(f, a, a->file, args[1]);
		break;
	case DOES_FALLOCATE:
		if (args[1] & (FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE))
			note_set(f, a, a->file, -1);
		else if (!(args[1] & FALLOC_FL_KEEP_SIZE))
			note_growth(f, a, a->file);
		break;
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		note_open(f, a);
		if (a->ofd && a->ofd->flags & O_TRUNC)
			note_set(f, a, a->file, 0);
		break;
	default:
		break;
	}
}

/* Descriptors. */

static struct used *used_of(struct finisher *f, u64 key)
{
	u64 *place = map_at(&f->used_by_number, key);

	if (*place)
		return &f->used[*place - 1];
	f->used = vec_reserve(f->used, &f->used_room, f->used_count + 1ull, sizeof(*f->used));
	f->used[f->used_count] = (struct used){};
	*place = ++f->used_count;
	return &f->used[*place - 1];
}

/* A number that is given out again: who gets it comes after all that was about the one before. */
static void note_reuse(struct finisher *f, const struct about *a)
{
	const struct tracefile_record *r = a->record;
	bool opens = a->ofd && a->ofd->open_event == f->world.event;
	int at = call_arg(a->call, 'f');
	struct overlaps *o = &f->overlaps;
	struct used *used;
	u64 key[2] = { (uintptr_t)a->thread->fds };

	if (!opens && at < 0)
		return;
	key[1] = opens ? r->result : r->args[at];
	used = used_of(f, map_hash(HASH_GOLDEN, key, sizeof(key)) >> 1);
	if (opens && used->exit > r->entry) {
		o->reused = vec_reserve(o->reused, &o->reused_room, o->reuses + 1,
					sizeof(*o->reused));
		o->reused[o->reuses++] = (struct reused){ f->world.event, used->event };
	}
	*used = (struct used){ r->exit, f->world.event };
}

void finish_overlaps(struct finisher *f, const struct about *a)
{
	bool failed = (s64)a->record->result < 0;

	note_base(f, a);
	if (a->name || a->name2 || (a->ofd && a->record->result == (u64)-ENOENT))
		note_names(f, a);
	if (!failed) {
		note_sizes(f, a);
		note_reuse(f, a);
	}
}
