// SPDX-License-Identifier: GPL-2.0
#include "sizes.h"

#include "../common/alloc.h"
#include "../common/vec.h"

void sizes_free(struct sizes *z)
{
	map_free(&z->files);
	map_free(&z->ofds);
	free(z->file);
	free(z->place);
	free(z->undo);
}

u32 sizes_file(struct sizes *z, u32 id, s64 first)
{
	u64 *place = map_at(&z->files, id);

	if (*place)
		return *place - 1;
	z->file = vec_reserve(z->file, &z->file_room, z->file_count + 1ull, sizeof(*z->file));
	z->file[z->file_count] = first < 0 ? (struct size){ 0, SIZE_ANY } :
					     (struct size){ first, first };
	*place = ++z->file_count;
	return *place - 1;
}

u32 sizes_ofd(struct sizes *z, u32 id, s64 at)
{
	u64 *place = map_at(&z->ofds, id);

	if (*place)
		return *place - 1;
	z->place = vec_reserve(z->place, &z->ofd_room, z->ofd_count + 1ull, sizeof(*z->place));
	z->place[z->ofd_count] = at;
	*place = ++z->ofd_count;
	return *place - 1;
}

static struct size_undo *size_undo_step(struct sizes *z)
{
	z->undo = vec_reserve(z->undo, &z->undo_room, z->undos + 1, sizeof(*z->undo));
	return &z->undo[z->undos++];
}

void sizes_undo(struct sizes *z, u64 steps)
{
	while (z->undos > steps) {
		const struct size_undo *u = &z->undo[--z->undos];

		if (u->file)
			z->file[u->at] = u->size;
		else
			z->place[u->at] = u->size.least;
	}
}

static void set_size(struct sizes *z, u32 file, struct size size)
{
	*size_undo_step(z) = (struct size_undo){ z->file[file], file, true };
	z->file[file] = size;
}

static void set_place(struct sizes *z, u32 ofd, s64 at)
{
	*size_undo_step(z) = (struct size_undo){ { z->place[ofd], 0 }, ofd, false };
	z->place[ofd] = at;
}

static s64 sum(s64 one, s64 other)
{
	s64 result;

	return __builtin_add_overflow(one, other, &result) ? SIZE_ANY : result;
}

/* What the file's size must have been, for the part to have found what it has. */
static struct size size_found(const struct part *p)
{
	s64 end = sum(p->from, p->bytes);

	switch (p->kind) {
	case PART_IS:
	case PART_ENDS:
		return (struct size){ p->bytes, p->bytes };
	case PART_READ:
		if (p->from == PLACE_ANY || (!p->bytes && !p->asked))
			break;
		if (!p->bytes)
			return (struct size){ 0, p->from };
		return (struct size){ end, p->asked > p->bytes ? end : SIZE_ANY };
	}
	return (struct size){ 0, SIZE_ANY };
}

/* What it is when the part has been done, from @size on. */
static struct size size_after(const struct part *p, struct size size)
{
	s64 end = p->from == PLACE_ANY ? SIZE_ANY : sum(p->from, p->bytes);

	switch (p->kind) {
	case PART_SET:
		return (struct size){ p->bytes, p->bytes };
	case PART_MADE:
		return p->made ? (struct size){ 0, 0 } : size;
	case PART_CHANGE:
		return (struct size){ 0, SIZE_ANY };
	case PART_WRITE:
		if (end == SIZE_ANY)
			return (struct size){ size.least, SIZE_ANY };
		return (struct size){ max(size.least, end), max(size.most, end) };
	case PART_APPEND:
		return (struct size){ sum(size.least, p->bytes), sum(size.most, p->bytes) };
	default:
		return size;
	}
}

static bool is_one(struct size size)
{
	return size.least == size.most;
}

/* Where the description stands when the part has been done. */
static s64 place_after(const struct part *p)
{
	if (p->kind == PART_PLACE)
		return p->at;
	if (p->kind == PART_APPEND)
		return is_one(p->after) ? p->after.least : PLACE_ANY;
	return p->from == PLACE_ANY ? PLACE_ANY : sum(p->from, p->bytes);
}

bool sizes_do(struct sizes *z, struct part *p, bool forced)
{
	struct size size = z->file[p->file], found;
	s64 stands = z->place[p->ofd];

	if (p->finds && stands != PLACE_ANY && stands != (s64)((u64)p->at - p->bytes) && !forced)
		return false;
	p->from = p->moves ? stands : p->at;
	p->before = size;
	found = size_found(p);
	size.least = max(size.least, found.least);
	size.most = min(size.most, found.most);
	if (size.least > size.most) {
		if (!forced)
			return false;
		size = found;
	}
	p->after = size_after(p, size);
	if (p->after.least != p->before.least || p->after.most != p->before.most)
		set_size(z, p->file, p->after);
	if ((p->moves || p->kind == PART_PLACE) && place_after(p) != stands)
		set_place(z, p->ofd, place_after(p));
	return true;
}

/* A file that has been made has no bytes. */
static enum part_kind kind_of(const struct part *p)
{
	return p->kind == PART_MADE && p->made ? PART_SET : p->kind;
}

static bool changes(const struct part *p)
{
	return kind_of(p) <= PART_APPEND;
}

static bool looks(const struct part *p)
{
	return p->kind == PART_READ || p->kind == PART_ENDS;
}

/* Might the part have found something else in a file of that size? */
static bool may_differ(const struct part *p, struct size size)
{
	struct size found = size_found(p);

	return size.least < found.least || size.most > found.most;
}

static s64 end_of(const struct part *p)
{
	return p->from == PLACE_ANY ? SIZE_ANY : sum(p->from, p->bytes);
}

/* Does it make another size, which of the two changes comes first? */
static bool changes_matter(const struct part *first, const struct part *later)
{
	const struct part *one = kind_of(first) <= kind_of(later) ? first : later;
	const struct part *other = one == first ? later : first;
	enum part_kind kind = kind_of(one), second = kind_of(other);

	if (kind == PART_CHANGE || second == PART_CHANGE)
		return true;
	if (kind == PART_SET && second == PART_SET)
		return one->bytes != other->bytes;
	if (kind == PART_SET)
		return second == PART_APPEND || end_of(other) > one->bytes;
	return kind == PART_WRITE && second == PART_APPEND && end_of(one) > first->before.least;
}

/* Of one description: what moves it, and what is done where it stands. */
static bool places_matter(const struct part *first, const struct part *later)
{
	if (!(first->moves || first->kind == PART_PLACE) ||
	    !(later->moves || later->kind == PART_PLACE))
		return false;
	if (first->kind == PART_PLACE || later->kind == PART_PLACE)
		return true;
	return looks(first) != looks(later) ||
	       (looks(first) && (first->bytes < first->asked || later->bytes < later->asked));
}

bool sizes_matters(const struct part *first, const struct part *later)
{
	if (first->ofd == later->ofd && places_matter(first, later))
		return true;
	if (first->file != later->file)
		return false;
	if (changes(first) && changes(later))
		return changes_matter(first, later);
	if (changes(first) && looks(later))
		return may_differ(later, first->before);
	return looks(first) && changes(later) && may_differ(first, later->after);
}
