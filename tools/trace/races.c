// SPDX-License-Identifier: GPL-2.0
#include "races.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "../common/alloc.h"
#include "../common/vec.h"
#include "directories.h"
#include "race-row.h"

#define LOOKS_MAX 64 /* of calls that may be under way at a time: no more are looked at */
#define STEPS_MAX 2000 /* that are tried again for one call */
#define TRIES_MAX 2000
#define RECENT_MAX 32
#define FILE_TRIES_MAX 32 /* a file for which this often no order was found is as calls say */
#define WRONG_FILE 0x80000000u
#define PATH_TEXT_MAX 8192 /* longer ones are looked up from the root */

/* What a call says of names, or does to them. */
enum op_kind {
	OP_ANY, /* nothing: it only has to stay where it is among those that change its names */
	OP_LOOK,
	OP_CREATE, /* makes the name, if it is not there */
	OP_MAKE,
	OP_LINK,
	OP_UNLINK,
	OP_RMDIR,
	OP_RENAME,
	OP_EXCHANGE,
	OP_NOT_THERE, /* ENOENT */
	OP_NO_WAY, /* ... of who would have made the name */
	OP_NEITHER, /* ... of a link or a rename: its name, or the other's directory */
	OP_THERE, /* EEXIST */
	OP_FULL, /* ENOTEMPTY */
	OP_IS_DIRECTORY, /* EISDIR of an unlink */
	OP_NO_DIRECTORY, /* ENOTDIR of a rmdir */
	OP_LISTED,
	OP_REMOVED, /* a list of a directory that has been removed */
};

/* How a call says a name. */
struct way {
	u32 path; /* 1 + its path; 0: it has none */
	u32 from; /* its components from there on are looked up in the base */
	u32 base; /* 1 + the op that has opened it; 0: the root */
};

struct op {
	u64 event;
	u64 start;
	u64 end;
	u64 ino; /* of what it has found, or made; 0: not known */
	u64 after; /* it has got a descriptor's number that this call was still about; 0: none */
	struct way way;
	struct way way2;
	u32 extra; /* the first of other names that it says something of */
	u32 extras;
	u32 object; /* what it has opened */
	u8 kind; /* enum op_kind */
	u8 type; /* enum object_type: of what it makes, or has found */
	bool follows;
	bool made; /* it was not there, or not known to be */
	bool fresh; /* it was not there */
	bool taken;
	bool forced; /* the names or the sizes were not as it has found them, in any order */
	bool doubted; /* ... nor was an order looked for */
	u32 part; /* the first of what it does to the sizes of files */
	u32 parts;
};

/* The last parts of calls about a file, to which later ones are held. */
struct file_parts {
	u32 op[RECENT_MAX];
	u32 part[RECENT_MAX];
	u32 count;
	u32 failed; /* so often there was no order */
};

struct path {
	u32 first;
	u32 count;
	bool found; /* no call changes it, and it is there */
};

struct extra {
	u32 name;
	bool removed; /* by another call meanwhile */
	u64 end; /* of that */
	u64 hash; /* of its last component */
};

struct component {
	u64 hash;
	u32 name; /* 1 + what the path up to it is, if some call changes that; 0: none does */
};

struct name {
	u32 changes; /* the first of change[]; they follow */
	u32 change_count;
	u32 sibling; /* 1 + another name of the same directory; 0: none */
	u64 hash; /* of its last component */
	u32 maker; /* 1 + the op that has made it as it is; 0: none of these */
	u32 recent[RECENT_MAX]; /* ops that have found it as it is */
	u32 recent_count;
	bool contested; /* some call was under way while another changed it */
};

struct span {
	u64 start;
	u64 end;
	u64 event;
	u32 name;
	bool made; /* else removed */
};

struct step {
	u32 op;
	u32 next; /* the first that has not been tried in its place */
	u64 undo; /* what is to be undone down to, to set it back: of directories and of sizes */
	u64 undo_sizes;
};

struct finder {
	struct races *races;
	struct rows rows;
	sqlite3_stmt *text;
	sqlite3_stmt *opener;
	struct map by_hash; /* of whole paths: 1 + the name */
	struct map by_dir; /* of the paths of directories: 1 + the newest of their names */
	struct map by_path; /* 1 + the path */
	struct map by_event; /* 1 + the op, of those that have opened something */
	struct name *name;
	u32 names;
	u64 name_room;
	struct span *change;
	u32 changes;
	u64 change_room;
	struct path *path;
	u32 paths;
	u64 path_room;
	struct component *component;
	u32 components;
	u64 component_room;
	struct extra *extra;
	u32 extras;
	u64 extra_room;
	struct op *op;
	u32 ops;
	u64 op_room;
	struct part *part;
	u32 parts;
	u64 part_room;
	struct file_parts *of_file; /* as sizes_file() has them */
	struct sizes sizes;
	struct directories dirs;
	struct step *step; /* the order, as far as it is found */
	u32 steps;
	u32 barrier; /* so many of them stay */
	u32 first; /* before this one all are taken */
	u32 wrong[LOOKS_MAX]; /* names and files that who may be next has found otherwise */
	u32 wrongs;
};

static const char opener_sql[] =
	"SELECT event, text FROM ofd o LEFT JOIN text t ON t.id = o.name WHERE o.id = ?";

static const char text_sql[] = "SELECT text FROM text WHERE id = ?";

static u64 *place_of(struct finder *f, const char *name, size_t length)
{
	return map_at(&f->by_hash, map_hash(HASH_GOLDEN, name, length) >> 1);
}

static u64 *names_in(struct finder *f, const char *dir, size_t length)
{
	return map_at(&f->by_dir, map_hash(HASH_GOLDEN, dir, length) >> 1);
}

static void put_in_directory(struct finder *f, const char *path, u64 place)
{
	const char *slash = strrchr(path, '/');
	u64 *newest;

	if (!slash)
		return;
	newest = names_in(f, path, slash - path);
	f->name[place - 1].hash = map_hash(HASH_GOLDEN, slash + 1, strlen(slash + 1));
	f->name[place - 1].sibling = *newest;
	*newest = place;
}

/*
 * Where a relative path begins that is said with a descriptor. *@path: the whole path, as it was
 * when that was opened. Returns the call that has opened it; 0: none has, or it is not so simple.
 */
static u64 base_of(struct finder *f, u64 ofd, const char *said, char *path)
{
	u64 event;
	const char *text;

	*path = 0;
	if (!ofd || !f->opener)
		return 0;
	sqlite3_reset(f->opener);
	sqlite3_bind_int64(f->opener, 1, ofd);
	if (sqlite3_step(f->opener) != SQLITE_ROW)
		return 0;
	event = sqlite3_column_int64(f->opener, 0);
	text = (const char *)sqlite3_column_text(f->opener, 1);
	if (!event || !text || strlen(text) + strlen(said) + 2 > PATH_TEXT_MAX)
		return 0;
	sprintf(path, "%s%s%s", strcmp(text, "/") ? text : "", *said ? "/" : "", said);
	return event;
}

/* Are there only names in it, no dots and no doubled slashes? */
static bool is_plain(const char *said)
{
	size_t length;

	for (;;) {
		length = strcspn(said, "/");
		if (!length || (*said == '.' && (length == 1 || (length == 2 && said[1] == '.'))))
			return false;
		if (!said[length])
			return true;
		said += length + 1;
	}
}

/* First the names that some call changes, and when. */

static void add_change(struct finder *f, const struct name_change *change)
{
	const char *name;
	u64 *place;

	sqlite3_reset(f->text);
	sqlite3_bind_int64(f->text, 1, change->text);
	if (sqlite3_step(f->text) != SQLITE_ROW)
		return;
	name = (const char *)sqlite3_column_text(f->text, 0);
	place = place_of(f, name, strlen(name));
	if (!*place) {
		f->name = vec_reserve(f->name, &f->name_room, f->names + 1ull, sizeof(*f->name));
		f->name[f->names] = (struct name){};
		*place = ++f->names;
		put_in_directory(f, name, *place);
	}
	f->change = vec_reserve(f->change, &f->change_room, f->changes + 1ull, sizeof(*f->change));
	f->change[f->changes++] = (struct span){ change->start, change->end, change->event,
						 *place - 1, change->made };
}

static int compare_changes(const void *a, const void *b)
{
	const struct span *one = a, *other = b;

	if (one->name != other->name)
		return one->name < other->name ? -1 : 1;
	return one->event < other->event ? -1 : one->event > other->event;
}

static void sort_changes(struct finder *f)
{
	u32 i;

	if (f->changes)
		qsort(f->change, f->changes, sizeof(*f->change), compare_changes);
	for (i = 0; i < f->changes; i++) {
		struct name *name = &f->name[f->change[i].name];

		if (!name->change_count++)
			name->changes = i;
	}
}

/* Another call that was under way and changes the name. Changes are in order of their ends. */
static const struct span *contest(const struct finder *f, const struct name *name,
				  const struct op *op)
{
	u32 low = 0, high = name->change_count, i;
	const struct span *change = &f->change[name->changes];

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (change[middle].end <= op->start)
			low = middle + 1;
		else
			high = middle;
	}
	for (i = low; i < name->change_count && i < low + LOOKS_MAX; i++) {
		if (change[i].event != op->event && change[i].start < op->end)
			return &change[i];
	}
	return NULL;
}

/* Then what calls say of these names. */

static void add_component(struct finder *f, const char *path, size_t from, size_t to)
{
	f->component = vec_reserve(f->component, &f->component_room, f->components + 1ull,
				   sizeof(*f->component));
	f->component[f->components++] = (struct component){
		.hash = map_hash(HASH_GOLDEN, path + from, to - from),
		.name = *place_of(f, path, to),
	};
}

static u32 path_of(struct finder *f, const char *text)
{
	u64 *place = map_at(&f->by_path, map_hash(HASH_GOLDEN, text, strlen(text)) >> 1);
	size_t at = 0, length;
	struct path *path;

	if (*place)
		return *place;
	f->path = vec_reserve(f->path, &f->path_room, f->paths + 1ull, sizeof(*f->path));
	path = &f->path[f->paths++];
	*place = f->paths;
	*path = (struct path){ .first = f->components };
	for (;;) {
		at += strspn(text + at, "/");
		length = strcspn(text + at, "/");
		if (!length)
			return f->paths;
		add_component(f, text, at, at + length);
		path->count++;
		at += length;
	}
}

static bool ends_in(const char *path, const char *said)
{
	size_t length = strlen(path), end = strlen(said);

	return length > end && path[length - end - 1] == '/' && !strcmp(path + length - end, said);
}

static bool is_gone(const char *path)
{
	return strstr(path, " (deleted)");
}

static u32 count_slashes(const char *said)
{
	u32 count = 0;

	for (; *said; said++)
		count += *said == '/';
	return count;
}

/* How the call says a name: by its whole path, or from a directory that it has open. */
static struct way way_of(struct finder *f, const char *text, const char *said, u64 ofd)
{
	char opened[PATH_TEXT_MAX];
	const char *path = text;
	u64 event, op;

	if (!text)
		return (struct way){};
	if (ofd && said && is_plain(said)) {
		event = base_of(f, ofd, said, opened);
		op = event ? *map_at(&f->by_event, event) : 0;
		if (is_gone(text))
			path = opened;
		if (op && !is_gone(path) && ends_in(path, said)) {
			u32 number = path_of(f, path);

			return (struct way){
				number,
				f->path[number - 1].count - count_slashes(said) - 1,
				op,
			};
		}
	}
	return is_gone(text) ? (struct way){} : (struct way){ path_of(f, text), 0, 0 };
}

/* The directory that a descriptor is of. */
static struct way way_of_list(struct finder *f, const struct seen *s)
{
	char opened[PATH_TEXT_MAX];
	u64 event = base_of(f, s->ofd, "", opened);
	u64 op = event ? *map_at(&f->by_event, event) : 0;
	u32 number;

	if (!op || is_gone(opened))
		return (struct way){};
	number = path_of(f, opened);
	return (struct way){ number, f->path[number - 1].count, op };
}

static enum op_kind kind_of_failed(const struct seen *s)
{
	enum call_effect effect = s->call->effect;

	switch (s->result) {
	case -ENOTEMPTY:
		return OP_FULL;
	case -EEXIST:
		return OP_THERE;
	case -EISDIR:
		return effect == DOES_UNLINK ? OP_IS_DIRECTORY : OP_ANY;
	case -ENOTDIR:
		return seen_removes_directory(s) ? OP_NO_DIRECTORY : OP_ANY;
	case -ENOENT:
		if (effect == DOES_LINK || effect == DOES_RENAME)
			return s->name && s->name2 ? OP_NEITHER : OP_ANY;
		if (effect == DOES_MKDIR || effect == DOES_MKNOD || effect == DOES_SYMLINK ||
		    effect == DOES_BIND || (seen_is_open(s) && s->flags & O_CREAT))
			return OP_NO_WAY;
		return call_wants_name(s->call) ? OP_NOT_THERE : OP_ANY;
	default:
		return OP_ANY;
	}
}

static enum op_kind kind_of_done(const struct seen *s)
{
	switch (s->call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		if (!seen_creates(s))
			return (s->flags & O_TMPFILE) == O_TMPFILE ? OP_ANY : OP_LOOK;
		return s->flags & O_EXCL ? OP_MAKE : OP_CREATE;
	case DOES_MKDIR:
	case DOES_MKNOD:
	case DOES_BIND:
	case DOES_SYMLINK:
		return OP_MAKE;
	case DOES_LINK:
		return OP_LINK;
	case DOES_RENAME:
		return s->exchange ? OP_EXCHANGE : s->nothing ? OP_ANY : OP_RENAME;
	case DOES_UNLINK:
	case DOES_RMDIR:
		return seen_removes_directory(s) ? OP_RMDIR : OP_UNLINK;
	case DOES_MOUNT:
		return OP_ANY;
	default:
		return OP_LOOK;
	}
}

/* Attributes are of what the call itself has found, and not of what had its name a bit later. */
static bool has_own_attributes(const struct seen *s)
{
	return s->opened || (!s->result && (call_arg(s->call, 's') >= 0 ||
					    call_arg(s->call, 't') >= 0));
}

static void describe(struct op *op, const struct seen *s)
{
	enum call_effect effect = s->call->effect;

	op->kind = s->result < 0 ? kind_of_failed(s) : kind_of_done(s);
	op->follows = effect != DOES_LLOOK && effect != DOES_READLINK && effect != DOES_UNLINK &&
		      effect != DOES_RMDIR && effect != DOES_RENAME && effect != DOES_LINK;
	if (has_own_attributes(s))
		op->ino = s->ino;
	if (effect == DOES_MKDIR || effect == DOES_CHDIR ||
	    (op->kind == OP_LOOK && s->opened && s->flags & O_DIRECTORY))
		op->type = OBJECT_DIRECTORY;
	else if (effect == DOES_SYMLINK || (effect == DOES_READLINK && s->result >= 0))
		op->type = OBJECT_LINK;
	else if (op->kind == OP_MAKE || op->kind == OP_CREATE)
		op->type = OBJECT_OTHER;
}

static bool notes_way(struct finder *f, const struct op *op, const struct way *way)
{
	const struct path *path = way->path ? &f->path[way->path - 1] : NULL;
	bool changes = false;
	u32 i;

	for (i = 0; path && i < path->count; i++) {
		u32 name = f->component[path->first + i].name;

		if (!name)
			continue;
		changes = true;
		if (!f->name[name - 1].contested)
			f->name[name - 1].contested = contest(f, &f->name[name - 1], op);
	}
	return changes;
}

/*
 * Of a directory that is removed, or cannot be, for what is in it: the names in it that others make
 * or remove meanwhile.
 */
static void add_extras(struct finder *f, struct op *op, const char *dir)
{
	u64 place = *names_in(f, dir, strlen(dir));

	op->extra = f->extras;
	for (; place; place = f->name[place - 1].sibling) {
		const struct span *change = contest(f, &f->name[place - 1], op);

		if (!change)
			continue;
		f->name[place - 1].contested = true;
		f->extra = vec_reserve(f->extra, &f->extra_room, f->extras + 1ull,
				       sizeof(*f->extra));
		f->extra[f->extras++] = (struct extra){
			.name = place - 1,
			.removed = !change->made,
			.end = change->end,
			.hash = f->name[place - 1].hash,
		};
		op->extras++;
	}
}

static void add_parts(struct finder *f, struct op *op, const struct seen *s)
{
	struct part part[PARTS_MAX];

	op->part = f->parts;
	op->parts = rows_parts(&f->rows, s, &f->sizes, part);
	f->part = vec_reserve(f->part, &f->part_room, f->parts + (u64)PARTS_MAX, sizeof(*f->part));
	memcpy(&f->part[f->parts], part, op->parts * sizeof(*part));
	f->parts += op->parts;
}

static void take_op(struct finder *f, const struct seen *s)
{
	const struct base *base = rows_base(&f->rows, s->event);
	struct op op = { .event = s->event, .start = s->start, .end = s->end };
	bool lists = s->nr == SYS_getdents || s->nr == SYS_getdents64, changes;

	if (lists && (s->result >= 0 || s->result == -ENOENT)) {
		op.way = way_of_list(f, s);
		op.kind = s->result < 0 ? OP_REMOVED : OP_LISTED;
	} else if (!lists && (s->name || s->name2)) {
		op.way = way_of(f, s->name, s->said, base ? base->ofd : 0);
		op.way2 = way_of(f, s->name2, s->said2, base ? base->ofd2 : 0);
		describe(&op, s);
		/* A directory that has gone, and whose path nobody knows. */
		if ((s->name && !op.way.path) || (s->name2 && !op.way2.path))
			op.kind = OP_ANY;
	}
	if (op.kind == OP_RMDIR || op.kind == OP_RENAME || op.kind == OP_FULL)
		add_extras(f, &op, s->name2 ?: s->name);
	add_parts(f, &op, s);
	op.after = rows_after(&f->rows, s->event);
	changes = notes_way(f, &op, &op.way);
	if (!notes_way(f, &op, &op.way2) && !changes && !op.extras && !op.parts) {
		if (op.kind == OP_LOOK && op.way.path)
			f->path[op.way.path - 1].found = true;
		return;
	}
	f->op = vec_reserve(f->op, &f->op_room, f->ops + 1ull, sizeof(*f->op));
	f->op[f->ops++] = op;
	if (s->opened)
		*map_at(&f->by_event, s->event) = f->ops;
}

/* Does the call fit, when it is next? */

/* What a call has found otherwise than it is, if it may be another's doing. */
static bool is_wrong_name(struct finder *f, u32 name)
{
	if (name && f->name[name - 1].contested && f->wrongs < ARRAY_SIZE(f->wrong))
		f->wrong[f->wrongs++] = name - 1;
	return false;
}

static const struct component *component_of(const struct finder *f, const struct way *way, u32 at)
{
	return &f->component[f->path[way->path - 1].first + at];
}

static u32 count_of(const struct finder *f, const struct way *way)
{
	return f->path[way->path - 1].count;
}

static bool is_wrong_at(struct finder *f, const struct way *way, u32 at)
{
	return at < count_of(f, way) && is_wrong_name(f, component_of(f, way, at)->name);
}

static bool is_wrong_way(struct finder *f, const struct way *way)
{
	u32 i;

	for (i = 0; i < count_of(f, way); i++)
		is_wrong_at(f, way, i);
	return false;
}

static bool is_wrong_last(struct finder *f, const struct way *way)
{
	return is_wrong_at(f, way, count_of(f, way) - 1);
}

static u32 base_object(const struct finder *f, const struct way *way)
{
	return way->base ? f->op[way->base - 1].object ?: OBJECT_ROOT : OBJECT_ROOT;
}

/*
 * The directory that the last name stands in; 0: a name on the way is not as it has to be. Where
 * the call is @forced it becomes so.
 */
static u32 directory_of(struct finder *f, const struct way *way, bool forced)
{
	struct directories *d = &f->dirs;
	u32 at = base_object(f, way), i, object, entry;

	for (i = way->from; i + 1 < count_of(f, way); i++) {
		entry = directories_entry(d, at, component_of(f, way, i)->hash);
		object = directories_object(d, entry);
		if (object == ENTRY_ABSENT || d->object[object].type > OBJECT_DIRECTORY) {
			if (!forced) {
				is_wrong_at(f, way, i);
				return 0;
			}
			object = directories_new(d, OBJECT_DIRECTORY, true);
			directories_set(d, entry, object);
		}
		directories_set_type(d, object, OBJECT_DIRECTORY);
		at = object;
	}
	return at;
}

/* The entry of the last name, in the directory that it stands in. */
static u32 last_entry(struct finder *f, const struct way *way, u32 dir)
{
	return directories_entry(&f->dirs, dir, component_of(f, way, count_of(f, way) - 1)->hash);
}

/* The same; false: there is no way to it. */
static bool entry_of(struct finder *f, const struct way *way, bool forced, u32 *entry)
{
	u32 dir = directory_of(f, way, forced);

	if (dir)
		*entry = last_entry(f, way, dir);
	return dir;
}

/* The name that a call makes, or would have made. */
static const struct way *way_made(const struct op *op)
{
	return op->way2.path ? &op->way2 : &op->way;
}

static bool has_last(const struct finder *f, const struct way *way)
{
	return way->path && way->from < count_of(f, way);
}

/* What the name leads to; 0: it is not there. */
static u32 find(struct finder *f, const struct way *way, bool forced, u32 *entry)
{
	u32 object;

	if (!entry_of(f, way, forced, entry))
		return 0;
	object = directories_object(&f->dirs, *entry);
	if (object != ENTRY_ABSENT)
		return object;
	if (!forced) {
		is_wrong_last(f, way);
		return 0;
	}
	object = directories_new(&f->dirs, OBJECT_UNKNOWN, true);
	directories_set(&f->dirs, *entry, object);
	return object;
}

/* Is the object what the call says that it is? */
static bool is_like(struct finder *f, const struct op *op, u32 object)
{
	const struct object *o = &f->dirs.object[object];

	if (op->type == OBJECT_DIRECTORY && o->type > OBJECT_DIRECTORY && o->type != OBJECT_LINK)
		return false;
	/* A link's attributes are not those of what it leads to. */
	return !op->ino || !o->ino || op->ino == o->ino || o->type == OBJECT_LINK ||
	       op->type == OBJECT_LINK || !op->follows;
}

static void learn(struct finder *f, struct op *op, u32 object)
{
	op->object = object;
	if (op->type && f->dirs.object[object].type != OBJECT_LINK)
		directories_set_type(&f->dirs, object, op->type);
	if (op->ino && op->follows && f->dirs.object[object].type != OBJECT_LINK)
		directories_set_ino(&f->dirs, object, op->ino);
}

static bool does_look(struct finder *f, struct op *op, bool forced)
{
	u32 object, entry;

	if (!has_last(f, &op->way)) {
		op->object = base_object(f, &op->way);
		return true;
	}
	object = find(f, &op->way, forced, &entry);
	if (!object)
		return false;
	if (!is_like(f, op, object)) {
		if (!forced)
			return is_wrong_last(f, &op->way);
		object = directories_new(&f->dirs, OBJECT_UNKNOWN, true);
		directories_set(&f->dirs, entry, object);
	}
	learn(f, op, object);
	return true;
}

/* @way leads to @object from now on; 0: to a new one. */
static bool makes(struct finder *f, struct op *op, const struct way *way, u32 object, bool forced)
{
	struct directories *d = &f->dirs;
	u32 dir = directory_of(f, way, forced), entry;

	if (!dir || !has_last(f, way))
		return forced;
	if (d->object[dir].dead && !forced)
		return is_wrong_way(f, way);
	entry = last_entry(f, way, dir);
	if (directories_leads_to(d, entry) > ENTRY_ABSENT && !forced)
		return is_wrong_last(f, way);
	if (!object) {
		object = directories_new(d, op->type, false);
		learn(f, op, object);
	}
	directories_set(d, entry, object);
	return true;
}

static bool does_create(struct finder *f, struct op *op, bool forced)
{
	u32 entry, object;

	op->made = false;
	op->fresh = false;
	if (!has_last(f, &op->way))
		return true;
	if (!entry_of(f, &op->way, forced, &entry))
		return false;
	object = directories_leads_to(&f->dirs, entry);
	op->made = object <= ENTRY_ABSENT;
	op->fresh = object == ENTRY_ABSENT;
	if (object == ENTRY_ABSENT)
		return makes(f, op, &op->way, 0, forced);
	return does_look(f, op, forced);
}

static bool does_link(struct finder *f, struct op *op, bool forced)
{
	u32 object = 0, entry;

	if (has_last(f, &op->way)) {
		object = find(f, &op->way, forced, &entry);
		if (!object)
			return false;
		if (f->dirs.object[object].type == OBJECT_DIRECTORY && !forced)
			return is_wrong_last(f, &op->way);
	}
	return makes(f, op, &op->way2, object, forced);
}

static bool is_wrong_inside(struct finder *f, const struct op *op)
{
	u32 i;

	for (i = 0; i < op->extras; i++)
		is_wrong_name(f, f->extra[op->extra + i].name + 1);
	return false;
}

/* Nothing that a call has made or found is in it. */
static bool has_nothing(struct finder *f, const struct op *op, u32 object)
{
	bool unknown;

	return !directories_has_names(&f->dirs, object, &unknown) || is_wrong_inside(f, op);
}

static bool does_remove(struct finder *f, struct op *op, bool forced)
{
	struct directories *d = &f->dirs;
	bool dir = op->kind == OP_RMDIR;
	u32 object, entry;

	if (!has_last(f, &op->way))
		return true;
	object = find(f, &op->way, forced, &entry);
	if (!object)
		return false;
	if (!forced && (dir ? d->object[object].type > OBJECT_DIRECTORY :
			      d->object[object].type == OBJECT_DIRECTORY))
		return is_wrong_last(f, &op->way);
	if (dir && !has_nothing(f, op, object) && !forced)
		return is_wrong_last(f, &op->way);
	directories_set(d, entry, ENTRY_ABSENT);
	if (dir)
		directories_kill(d, object);
	return true;
}

static bool does_rename(struct finder *f, struct op *op, bool forced)
{
	struct directories *d = &f->dirs;
	u32 object, entry, entry2, dir, former;

	if (!has_last(f, &op->way) || !has_last(f, &op->way2))
		return true;
	object = find(f, &op->way, forced, &entry);
	dir = object ? directory_of(f, &op->way2, forced) : 0;
	if (!dir)
		return false;
	if (d->object[dir].dead && !forced)
		return is_wrong_way(f, &op->way2);
	entry2 = last_entry(f, &op->way2, dir);
	former = directories_leads_to(d, entry2);
	if (former > ENTRY_ABSENT && op->kind == OP_RENAME) {
		if (former == object) /* two names of one file: nothing happens */
			return true;
		if (d->object[former].type == OBJECT_DIRECTORY) {
			if (!has_nothing(f, op, former) && !forced)
				return is_wrong_last(f, &op->way2);
			directories_kill(d, former);
		}
	}
	if (op->kind == OP_EXCHANGE)
		former = directories_object(d, entry2);
	directories_set(d, entry2, object);
	directories_set(d, entry, op->kind == OP_EXCHANGE ? former : ENTRY_ABSENT);
	return true;
}

enum found {
	FOUND_ALL,
	FOUND_MISSING,
	FOUND_UNKNOWN,
};

/* Are the first @count names of the way there? *@entry: the one of which nobody has said it yet. */
static enum found look_for(struct finder *f, const struct op *op, const struct way *way, u32 count,
			   u32 *entry, u32 *which)
{
	struct directories *d = &f->dirs;
	u32 at = base_object(f, way), i, object;

	for (i = way->from; i < count; i++) {
		*entry = directories_entry(d, at, component_of(f, way, i)->hash);
		*which = i;
		object = directories_leads_to(d, *entry);
		/* What no call changes is taken to be there: so the last name is what is told. */
		if (object == ENTRY_UNKNOWN && i + 1 < count && !component_of(f, way, i)->name)
			object = directories_object(d, *entry);
		if (object == ENTRY_ABSENT)
			return FOUND_MISSING;
		if (object == ENTRY_UNKNOWN)
			return FOUND_UNKNOWN;
		if (d->object[object].type == OBJECT_LINK && (op->follows || i + 1 < count))
			return FOUND_MISSING; /* what it leads to may be */
		if (d->object[object].type == OBJECT_OTHER)
			return FOUND_ALL;
		at = object;
	}
	return d->object[at].dead && count < count_of(f, way) ? FOUND_MISSING : FOUND_ALL;
}

/* One of the first @count names of the way was not there. */
static bool lacks(struct finder *f, const struct op *op, const struct way *way, u32 count)
{
	u32 entry, which;

	switch (look_for(f, op, way, count, &entry, &which)) {
	case FOUND_ALL:
		return is_wrong_way(f, way);
	case FOUND_UNKNOWN:
		if (which + 1 == count)
			directories_set(&f->dirs, entry, ENTRY_ABSENT);
		return true;
	default:
		return true;
	}
}

static bool is_absent(struct finder *f, struct op *op, bool forced)
{
	u32 entry;

	if (!has_last(f, &op->way))
		return true;
	if (lacks(f, op, &op->way, count_of(f, &op->way)))
		return true;
	if (forced && entry_of(f, &op->way, true, &entry))
		directories_set(&f->dirs, entry, ENTRY_ABSENT);
	return forced;
}

static bool has_no_way(struct finder *f, struct op *op)
{
	const struct way *way = way_made(op);

	return !has_last(f, way) || lacks(f, op, way, count_of(f, way) - 1);
}

/* Neither is told where one of them only may be missing. */
static bool is_neither(struct finder *f, struct op *op)
{
	const struct way *way = &op->way2;
	u32 entry, which, count = count_of(f, way) - 1;
	enum found one, two;

	if (!has_last(f, &op->way) || !has_last(f, way))
		return true;
	one = look_for(f, op, &op->way, count_of(f, &op->way), &entry, &which);
	if (one == FOUND_MISSING)
		return true;
	if (one == FOUND_UNKNOWN && f->path[op->way.path - 1].found)
		one = FOUND_ALL;
	two = look_for(f, op, way, count, &entry, &which);
	if (one == FOUND_ALL && two == FOUND_ALL) {
		is_wrong_way(f, &op->way);
		return is_wrong_way(f, way);
	}
	if (one == FOUND_ALL)
		return lacks(f, op, way, count);
	return two != FOUND_ALL || lacks(f, op, &op->way, count_of(f, &op->way));
}

/*
 * Something was in the directory: of the names that others were removing, and of which nobody has
 * said yet whether they were there, the one that was there for longest. False: there is none.
 */
static bool keeps(struct finder *f, const struct op *op, u32 object)
{
	u32 i, entry, kept = 0;
	u64 end = 0;

	for (i = 0; i < op->extras; i++) {
		const struct extra *x = &f->extra[op->extra + i];

		if (!x->removed || x->end < end)
			continue;
		entry = directories_entry(&f->dirs, object, x->hash);
		if (directories_leads_to(&f->dirs, entry) != ENTRY_UNKNOWN)
			continue;
		kept = entry + 1;
		end = x->end;
	}
	if (kept)
		directories_object(&f->dirs, kept - 1);
	return kept;
}

static bool is_full(struct finder *f, struct op *op, bool forced)
{
	const struct way *way = way_made(op);
	struct directories *d = &f->dirs;
	u32 object, entry;
	bool unknown;

	if (!has_last(f, way))
		return true;
	object = find(f, way, forced, &entry);
	if (!object)
		return false;
	if (d->object[object].type > OBJECT_DIRECTORY)
		return is_wrong_last(f, way) || forced;
	directories_set_type(d, object, OBJECT_DIRECTORY);
	if (forced || directories_has_names(d, object, &unknown) || keeps(f, op, object))
		return true;
	/* Others may have been there, of which no call has said anything. */
	if (!op->extras && (unknown || d->object[object].initial))
		return true;
	is_wrong_inside(f, op);
	return is_wrong_last(f, way);
}

static bool is_there(struct finder *f, struct op *op, bool forced)
{
	const struct way *way = way_made(op);
	struct directories *d = &f->dirs;
	u32 object, entry;

	if (op->way2.path && has_last(f, &op->way) && !find(f, &op->way, forced, &entry))
		return false;
	if (!has_last(f, way))
		return true;
	object = find(f, way, forced, &entry);
	if (!object)
		return false;
	if (op->kind == OP_IS_DIRECTORY) {
		if (d->object[object].type > OBJECT_DIRECTORY && !forced)
			return is_wrong_last(f, way);
		directories_set_type(d, object, OBJECT_DIRECTORY);
	}
	return true;
}

/* Of a rmdir: the last name is another's, or one on the way is. */
static bool is_no_directory(struct finder *f, struct op *op, bool forced)
{
	struct directories *d = &f->dirs;
	u32 at = base_object(f, &op->way), i, entry, object;

	if (!has_last(f, &op->way) || forced)
		return true;
	for (i = op->way.from; i < count_of(f, &op->way); i++) {
		entry = directories_entry(d, at, component_of(f, &op->way, i)->hash);
		object = directories_object(d, entry);
		if (object == ENTRY_ABSENT)
			return is_wrong_way(f, &op->way);
		if (d->object[object].type > OBJECT_DIRECTORY)
			return true;
		at = object;
	}
	if (d->object[at].type == OBJECT_DIRECTORY)
		return is_wrong_way(f, &op->way);
	directories_set_type(d, at, OBJECT_OTHER);
	return true;
}

static bool is_listed(struct finder *f, struct op *op, bool forced)
{
	u32 object = op->way.base ? f->op[op->way.base - 1].object : 0;
	bool removed = op->kind == OP_REMOVED;

	if (!object || forced || f->dirs.object[object].dead == removed)
		return true;
	return is_wrong_way(f, &op->way);
}

/* What the call does to names, if these are as it has found them. */
static bool does_names(struct finder *f, struct op *op, bool forced)
{
	switch (op->kind) {
	case OP_LOOK:
		return does_look(f, op, forced);
	case OP_CREATE:
		return does_create(f, op, forced);
	case OP_MAKE:
		return makes(f, op, way_made(op), 0, forced);
	case OP_LINK:
		return does_link(f, op, forced);
	case OP_UNLINK:
	case OP_RMDIR:
		return does_remove(f, op, forced);
	case OP_RENAME:
	case OP_EXCHANGE:
		return does_rename(f, op, forced);
	case OP_NOT_THERE:
		return is_absent(f, op, forced);
	case OP_NO_WAY:
		return has_no_way(f, op) || forced;
	case OP_NEITHER:
		return is_neither(f, op) || forced;
	case OP_THERE:
	case OP_IS_DIRECTORY:
		return is_there(f, op, forced);
	case OP_FULL:
		return is_full(f, op, forced);
	case OP_NO_DIRECTORY:
		return is_no_directory(f, op, forced);
	case OP_LISTED:
	case OP_REMOVED:
		return is_listed(f, op, forced);
	default:
		return true;
	}
}

/* ... and to sizes. */
static bool does_sizes(struct finder *f, struct op *op, bool forced)
{
	u32 i;

	for (i = op->part; i < op->part + op->parts; i++) {
		struct part *part = &f->part[i];

		part->made = op->fresh;
		if (sizes_do(&f->sizes, part, forced))
			continue;
		if (f->of_file[part->file].failed >= FILE_TRIES_MAX) {
			op->doubted = true;
			sizes_do(&f->sizes, part, true);
			continue;
		}
		if (f->wrongs < ARRAY_SIZE(f->wrong))
			f->wrong[f->wrongs++] = part->file | WRONG_FILE;
		return false;
	}
	return true;
}

/* The call is done, if all is as it has found it. What it has tried has to be undone. */
static bool does(struct finder *f, struct op *op, bool forced)
{
	op->doubted = false;
	return does_names(f, op, forced) && does_sizes(f, op, forced);
}

/*
 * Then the order: what is next is one of the calls that had begun when the first of the others
 * returned, and has found each name as it is. They are tried in the order of their returns. Where
 * none has found the names so, one of those before it has to be another: the latest that has said
 * something of these names.
 */

static bool overlap(const struct op *one, const struct op *other)
{
	return one->start < other->end && other->start < one->end;
}

static bool choose_op(struct finder *f, u32 number, bool forced)
{
	struct step *step = &f->step[f->steps - 1];
	u64 undo = f->dirs.undos, undo_sizes = f->sizes.undos;

	if (!does(f, &f->op[number], forced)) {
		directories_undo(&f->dirs, undo);
		sizes_undo(&f->sizes, undo_sizes);
		return false;
	}
	step->op = number;
	step->undo = undo;
	step->undo_sizes = undo_sizes;
	f->op[number].taken = true;
	return true;
}

/* The last step is not made. */
static void undo_step(struct finder *f)
{
	struct step *step = &f->step[f->steps - 1];

	directories_undo(&f->dirs, step->undo);
	sizes_undo(&f->sizes, step->undo_sizes);
	f->op[step->op].taken = false;
	f->first = min(f->first, step->op);
}

static bool says_on(const struct finder *f, const struct way *way, u32 name)
{
	u32 i;

	for (i = 0; way->path && i < count_of(f, way); i++) {
		if (component_of(f, way, i)->name == name + 1)
			return true;
	}
	return false;
}

static bool says_of_file(const struct finder *f, const struct op *op, u32 file)
{
	u32 i;

	for (i = op->part; i < op->part + op->parts; i++) {
		if (f->part[i].file == file)
			return true;
	}
	return false;
}

/* Does the call say something of the name, or of the file? */
static bool says(const struct finder *f, const struct op *op, u32 name)
{
	u32 i;

	if (name & WRONG_FILE)
		return says_of_file(f, op, name & ~WRONG_FILE);
	for (i = 0; i < op->extras; i++) {
		if (f->extra[op->extra + i].name == name)
			return true;
	}
	return says_on(f, &op->way, name) || says_on(f, &op->way2, name);
}

/* Goes on with the last step: the next call that may be it. False: there is none. */
static bool try_step(struct finder *f)
{
	struct step *step = &f->step[f->steps - 1];
	u64 limit, next;
	u32 i;

	while (f->first < f->ops && f->op[f->first].taken)
		f->first++;
	limit = f->op[f->first].end;
	next = f->op[f->first].event;
	for (i = max(step->next, f->first); i < f->ops && i < f->first + LOOKS_MAX; i++) {
		const struct op *op = &f->op[i];

		if (op->taken || op->start >= limit || op->after >= next)
			continue;
		if (choose_op(f, i, false)) {
			step->next = i + 1;
			return true;
		}
	}
	return false;
}

static bool is_wrong(const struct finder *f, const struct op *op)
{
	u32 i;

	for (i = 0; i < f->wrongs; i++) {
		if (says(f, op, f->wrong[i]))
			return true;
	}
	return false;
}

/* Another call is tried in an earlier step. False: there is none, or it was tried often. */
static bool step_back(struct finder *f, u32 tries)
{
	u32 barrier = f->steps - 1 > STEPS_MAX ? f->steps - 1 - STEPS_MAX : 0;

	barrier = max(barrier, f->barrier);
	for (f->steps--; f->steps > barrier && tries < TRIES_MAX; f->steps--) {
		bool wrong = is_wrong(f, &f->op[f->step[f->steps - 1].op]);

		undo_step(f);
		if (wrong && try_step(f))
			return true;
	}
	return false;
}

static bool new_step(struct finder *f)
{
	f->step[f->steps++] = (struct step){};
	f->wrongs = 0;
	return try_step(f);
}

/* What is next has not found the names so, in whichever order: that is not for it to say. */
static void force(struct finder *f)
{
	f->op[f->first].forced = f->wrongs;
	choose_op(f, f->first, true);
	f->barrier = f->steps;
}

/* There is no order up to this step: the call that returned first is next where none may be. */
static void give_up(struct finder *f, u32 most)
{
	u32 i;

	for (i = 0; i < f->wrongs; i++) {
		if (f->wrong[i] & WRONG_FILE)
			f->of_file[f->wrong[i] & ~WRONG_FILE].failed++;
	}
	while (f->steps <= most) {
		if (!new_step(f))
			force(f);
	}
	f->barrier = f->steps;
}

static void find_order(struct finder *f)
{
	u32 most = 0, tries = 0;

	f->step = xmalloc((f->ops + 1ull) * sizeof(*f->step));
	while (f->steps < f->ops) {
		if (!new_step(f)) {
			if (!f->wrongs)
				force(f);
			else if (!step_back(f, tries++))
				give_up(f, most);
		}
		if (f->steps > most) {
			most = f->steps;
			tries = 0;
		}
	}
}

/*
 * At last which calls that overlapped came one after the other, and which came ahead. Of two that
 * say something of one name, one of which changes it, it is kept which came first.
 */

static void push_race(struct races *r, u64 event, u64 first)
{
	r->race = vec_reserve(r->race, &r->race_room, r->count + 1ull, sizeof(*r->race));
	r->race[r->count++] = (struct race){ event, first };
}

static void add_race(struct finder *f, const struct op *op, const struct op *first)
{
	if (op != first && overlap(op, first))
		push_race(f->races, op->event, first->event);
}

static void apply(struct finder *f, const struct op *op, u32 number, bool changes)
{
	struct name *name = &f->name[number];
	u32 own = op - f->op, i;

	if (name->maker)
		add_race(f, op, &f->op[name->maker - 1]);
	if (!changes) {
		name->recent[name->recent_count++ % RECENT_MAX] = own;
		return;
	}
	for (i = 0; i < min_t(u32, name->recent_count, RECENT_MAX); i++)
		add_race(f, op, &f->op[name->recent[i]]);
	name->recent_count = 0;
	name->maker = own + 1;
}

static void apply_way(struct finder *f, const struct op *op, const struct way *way, bool changes)
{
	u32 i, name, count = way->path ? count_of(f, way) : 0;

	for (i = 0; i < count; i++) {
		name = component_of(f, way, i)->name;
		if (name)
			apply(f, op, name - 1, changes && i + 1 == count);
	}
}

static void apply_parts(struct finder *f, const struct op *op)
{
	u32 own = op - f->op, i, k;

	for (i = op->part; i < op->part + op->parts; i++) {
		struct file_parts *of = &f->of_file[f->part[i].file];

		for (k = 0; k < min_t(u32, of->count, RECENT_MAX); k++) {
			if (overlap(op, &f->op[of->op[k]]) &&
			    sizes_matters(&f->part[of->part[k]], &f->part[i]))
				add_race(f, op, &f->op[of->op[k]]);
		}
		of->op[of->count % RECENT_MAX] = own;
		of->part[of->count++ % RECENT_MAX] = i;
	}
}

static void apply_op(struct finder *f, const struct op *op)
{
	bool changes = op->kind >= OP_MAKE && op->kind <= OP_EXCHANGE;
	u32 i;

	changes |= op->kind == OP_CREATE && op->made;
	apply_way(f, op, &op->way, changes && op->kind != OP_LINK);
	apply_way(f, op, &op->way2, changes);
	for (i = 0; i < op->extras; i++)
		apply(f, op, f->extra[op->extra + i].name, false);
	apply_parts(f, op);
}

static void note_ahead(struct finder *f, const struct op *base, const struct op *op)
{
	struct races *r = f->races;
	u64 *place = map_at(&r->before, base->event);

	if (!*place)
		*place = r->aheads + 1;
	*map_at(&r->early, op->event) = 1;
	r->ahead = vec_reserve(r->ahead, &r->ahead_room, r->aheads + 2ull, sizeof(*r->ahead));
	r->ahead[r->aheads++] = op->event;
}

static void tell_order(struct finder *f)
{
	struct races *r = f->races;
	u32 i, k, base = 0, before = 0;

	for (i = 0; i < f->ops; i++)
		f->op[i].taken = false;
	for (k = 0; k < f->steps; k++) {
		struct op *op = &f->op[f->step[k].op];

		while (f->op[base].taken)
			base++;
		op->taken = true;
		apply_op(f, op);
		if (op->forced || op->doubted)
			push_race(f->races, op->event, 0);
		if (op != &f->op[base]) {
			note_ahead(f, &f->op[base], op);
			continue;
		}
		if (r->aheads > before) /* the end of its list; there is room for it */
			r->ahead[r->aheads++] = 0;
		before = r->aheads;
	}
}

static void free_finder(struct finder *f)
{
	sqlite3_finalize(f->opener);
	sqlite3_finalize(f->text);
	free(f->step);
	directories_free(&f->dirs);
	sizes_free(&f->sizes);
	map_free(&f->by_hash);
	map_free(&f->by_dir);
	map_free(&f->by_path);
	map_free(&f->by_event);
	free(f->name);
	free(f->change);
	free(f->path);
	free(f->component);
	free(f->extra);
	free(f->part);
	free(f->of_file);
	free(f->op);
}

bool races_find(struct races *races, sqlite3 *sqlite, struct overlaps *overlaps)
{
	struct finder f = { .races = races };
	struct seen seen;
	bool good;
	u64 i;

	*races = (struct races){};
	if (sqlite3_prepare_v2(sqlite, opener_sql, -1, &f.opener, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(sqlite, text_sql, -1, &f.text, NULL) != SQLITE_OK ||
	    !rows_open(&f.rows, sqlite, overlaps))
		return false;
	for (i = 0; i < overlaps->changes; i++)
		add_change(&f, &overlaps->change[i]);
	sort_changes(&f);
	while (rows_next(&f.rows, &seen)) {
		if (seen.call)
			take_op(&f, &seen);
	}
	good = rows_close(&f.rows);
	f.of_file = xcalloc(f.sizes.file_count + 1ull, sizeof(*f.of_file));
	directories_init(&f.dirs);
	find_order(&f);
	tell_order(&f);
	free_finder(&f);
	return good;
}

u64 races_ahead(const struct races *races, u64 event, u32 *at)
{
	if (!*at && races->before.used)
		*at = *map_at((struct map *)&races->before, event);
	else if (*at)
		(*at)++;
	return *at ? races->ahead[*at - 1] : 0;
}

void races_free(struct races *races)
{
	map_free(&races->before);
	map_free(&races->early);
	free(races->ahead);
	free(races->race);
}
