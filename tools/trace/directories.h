/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Directories as calls make and change them, to try orders of calls: what has been done can be
 * undone. A name is an entry of a directory, not a text: who has a removed directory open, or has
 * its working directory there, does not find what is in another one of the same path.
 *
 * What was there before the trace is not known until a call has said it.
 */
#ifndef TRACE_DIRECTORIES_H
#define TRACE_DIRECTORIES_H

#include "../common/map.h"

enum object_type {
	OBJECT_UNKNOWN,
	OBJECT_DIRECTORY,
	OBJECT_OTHER,
	OBJECT_LINK,
};

/* What an entry is, beside the number of the object that it leads to. */
#define ENTRY_UNKNOWN 0u
#define ENTRY_ABSENT 1u
#define OBJECT_ROOT 2u

struct object {
	u64 ino; /* 0: not known */
	u32 entries; /* 1 + the newest one that was looked at; 0: none */
	u8 type;
	bool dead; /* removed: nothing is found in it, and nothing can be made there */
	bool initial; /* was there before the trace: of its other names nobody knows */
};

struct entry {
	u64 name; /* a hash */
	u32 dir;
	u32 leads_to;
	u32 sibling; /* 1 + another one of the same directory */
};

struct undo {
	u64 former;
	u32 at;
	u32 what;
};

struct directories {
	struct map by_name; /* 1 + the entry, by directory and hash */
	struct object *object;
	u32 objects;
	u64 object_room;
	struct entry *entry;
	u32 entries;
	u64 entry_room;
	struct undo *undo;
	u64 undos;
	u64 undo_room;
};

void directories_init(struct directories *d);
void directories_free(struct directories *d);

/* Undoes all that was done since there were so many steps to be undone (d->undos). */
void directories_undo(struct directories *d, u64 steps);

/* The entry of a name: valid as long as the directory is. O(1) on average. */
u32 directories_entry(struct directories *d, u32 dir, u64 name);

/* ENTRY_UNKNOWN, ENTRY_ABSENT, or an object. */
u32 directories_leads_to(const struct directories *d, u32 entry);
void directories_set(struct directories *d, u32 entry, u32 leads_to);

/* The object of an entry; one of before the trace, if nobody has said yet whether it is there. */
u32 directories_object(struct directories *d, u32 entry);
u32 directories_new(struct directories *d, enum object_type type, bool initial);

void directories_set_type(struct directories *d, u32 object, enum object_type type);
void directories_set_ino(struct directories *d, u32 object, u64 ino);

/* It has lost its name; it was empty. */
void directories_kill(struct directories *d, u32 object);

/* Is something in it that a call has made or found there? *@unknown: perhaps something else is. */
bool directories_has_names(const struct directories *d, u32 object, bool *unknown);

#endif
