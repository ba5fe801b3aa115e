// SPDX-License-Identifier: GPL-2.0
#include "directories.h"

#include "../common/alloc.h"
#include "../common/vec.h"

enum {
	UNDO_ENTRY,
	UNDO_TYPE,
	UNDO_INO,
	UNDO_DEAD,
	UNDO_NEW,
};

static void note_undo(struct directories *d, u32 what, u32 at, u64 former)
{
	d->undo = vec_reserve(d->undo, &d->undo_room, d->undos + 1, sizeof(*d->undo));
	d->undo[d->undos++] = (struct undo){ former, at, what };
}

void directories_undo(struct directories *d, u64 steps)
{
	while (d->undos > steps) {
		const struct undo *u = &d->undo[--d->undos];

		switch (u->what) {
		case UNDO_ENTRY:
			d->entry[u->at].leads_to = u->former;
			break;
		case UNDO_TYPE:
			d->object[u->at].type = u->former;
			break;
		case UNDO_INO:
			d->object[u->at].ino = u->former;
			break;
		case UNDO_DEAD:
			d->object[u->at].dead = false;
			break;
		case UNDO_NEW:
			d->objects--;
			break;
		}
	}
}

/* Its number may have been another's, which was undone: that one's entries are left, unknown. */
u32 directories_new(struct directories *d, enum object_type type, bool initial)
{
	u64 room = d->object_room;
	struct object *object;

	d->object = vec_reserve(d->object, &d->object_room, d->objects + 1ull, sizeof(*d->object));
	if (d->object_room > room)
		memset(d->object + room, 0, (d->object_room - room) * sizeof(*d->object));
	object = &d->object[d->objects];
	object->ino = 0;
	object->type = type;
	object->dead = false;
	object->initial = initial;
	note_undo(d, UNDO_NEW, d->objects, 0);
	return d->objects++;
}

void directories_init(struct directories *d)
{
	*d = (struct directories){};
	while (d->objects <= OBJECT_ROOT)
		directories_new(d, OBJECT_DIRECTORY, true);
}

void directories_free(struct directories *d)
{
	map_free(&d->by_name);
	free(d->object);
	free(d->entry);
	free(d->undo);
}

u32 directories_entry(struct directories *d, u32 dir, u64 name)
{
	u64 *place = map_at(&d->by_name, map_hash(name, &dir, sizeof(dir)) >> 1);

	if (*place)
		return *place - 1;
	d->entry = vec_reserve(d->entry, &d->entry_room, d->entries + 1ull, sizeof(*d->entry));
	d->entry[d->entries] = (struct entry){ name, dir, ENTRY_UNKNOWN, d->object[dir].entries };
	*place = ++d->entries;
	d->object[dir].entries = *place;
	return *place - 1;
}

u32 directories_leads_to(const struct directories *d, u32 entry)
{
	const struct entry *e = &d->entry[entry];
	const struct object *dir = &d->object[e->dir];

	if (dir->dead || (e->leads_to == ENTRY_UNKNOWN && !dir->initial))
		return ENTRY_ABSENT;
	return e->leads_to;
}

void directories_set(struct directories *d, u32 entry, u32 leads_to)
{
	note_undo(d, UNDO_ENTRY, entry, d->entry[entry].leads_to);
	d->entry[entry].leads_to = leads_to;
}

u32 directories_object(struct directories *d, u32 entry)
{
	u32 object = directories_leads_to(d, entry);

	if (object != ENTRY_UNKNOWN)
		return object;
	object = directories_new(d, OBJECT_UNKNOWN, true);
	directories_set(d, entry, object);
	return object;
}

void directories_set_type(struct directories *d, u32 object, enum object_type type)
{
	if (d->object[object].type == type)
		return;
	note_undo(d, UNDO_TYPE, object, d->object[object].type);
	d->object[object].type = type;
}

void directories_set_ino(struct directories *d, u32 object, u64 ino)
{
	if (d->object[object].ino == ino)
		return;
	note_undo(d, UNDO_INO, object, d->object[object].ino);
	d->object[object].ino = ino;
}

void directories_kill(struct directories *d, u32 object)
{
	if (d->object[object].dead)
		return;
	note_undo(d, UNDO_DEAD, object, 0);
	d->object[object].dead = true;
}

bool directories_has_names(const struct directories *d, u32 object, bool *unknown)
{
	u32 at = d->object[object].entries;

	*unknown = false;
	for (; at; at = d->entry[at - 1].sibling) {
		u32 leads_to = directories_leads_to(d, at - 1);

		if (leads_to > ENTRY_ABSENT)
			return true;
		*unknown |= leads_to == ENTRY_UNKNOWN;
	}
	return false;
}
