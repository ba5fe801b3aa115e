// SPDX-License-Identifier: GPL-2.0
#include "races.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "../calls/calls.h"
#include "../calls/tracefile.h"
#include "../common/alloc.h"
#include "../common/vec.h"

#define EXCHANGE 2 /* RENAME_EXCHANGE */
#define LOOKS_MAX 64 /* of calls that may be under way at a time: no more are looked at */
#define STEPS_MAX 2000 /* that are tried again for one call */
#define TRIES_MAX 2000
#define RECENT_MAX 32

enum state {
	STATE_ANY,
	STATE_THERE,
	STATE_ABSENT,
};

/* What a call says of a name, or does to it. */
struct claim {
	u32 name;
	u32 next; /* 1 + the place of the name's next one; 0: none */
	u32 op;
	u8 before; /* enum state */
	u8 after; /* STATE_ANY: it changes nothing */
};

struct op {
	u64 event;
	u64 start;
	u64 end;
	u32 claim; /* its first one; the others follow */
	u32 claims;
	bool taken;
};

struct name {
	u32 first; /* 1 + the place of its first claim that may not have been taken; 0: none */
	u32 newest;
	u32 changes; /* the first of change[]; they follow */
	u32 change_count;
	u32 sibling; /* 1 + another name of the same directory; 0: none */
	u32 maker; /* 1 + the op that has made it as it is; 0: none of these */
	u32 recent[RECENT_MAX]; /* ops that have found it as it is */
	u32 recent_count;
	u8 state;
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
	u32 undo; /* the first of change_back[] that is its own */
};

struct former {
	u32 name;
	u8 state;
};

struct finder {
	struct races *races;
	struct map by_hash; /* of whole paths: 1 + the name */
	struct map by_dir; /* of the paths of directories: 1 + the newest of their names */
	struct name *name;
	u32 names;
	u64 name_room;
	struct span *change;
	u32 changes;
	u64 change_room;
	struct claim *claim;
	u32 claims;
	u64 claim_room;
	struct op *op;
	u32 ops;
	u64 op_room;
	struct step *step; /* the order, as far as it is found */
	u32 steps;
	u32 barrier; /* so many of them stay */
	u32 first; /* before this one all are taken */
	struct former *change_back; /* what names were before the steps */
	u32 changes_back;
	u64 change_back_room;
	u32 wrong[LOOKS_MAX]; /* names that the calls that may be next have found otherwise */
	u32 wrongs;
};

struct seen { /* the call that is looked at */
	u64 event;
	u64 start;
	u64 end;
	s64 result;
	u64 file;
	u64 flags; /* of open */
	bool opened;
	bool nothing; /* a rename of two names of one file, or an exchange */
	const struct call *call;
	u32 nr;
	const char *name;
	const char *name2;
};

/* -2 is ENOENT: of a descriptor it says that its directory has been removed. */
static const char rows_sql[] =
	"SELECT e.id, start, duration, result, nr, e.flags, p.text, q.text, o.flags, e.file,"
	" a0, a1, a2, a4 FROM event e LEFT JOIN ofd d ON d.id = e.ofd AND e.result = -2"
	" LEFT JOIN text p ON p.id = coalesce(e.name, d.name) LEFT JOIN text q"
	" ON q.id = e.name2 LEFT JOIN ofd o ON o.id = e.ofd AND o.event = e.id"
	" WHERE e.id > 0 AND duration IS NOT NULL AND result IS NOT NULL"
	" AND (p.id IS NOT NULL OR q.id IS NOT NULL) ORDER BY e.id";

static void read_row(struct seen *s, sqlite3_stmt *q)
{
	u32 flags = sqlite3_column_int(q, 5);
	int at;

	*s = (struct seen){
		.event = sqlite3_column_int64(q, 0),
		.start = sqlite3_column_int64(q, 1),
		.result = sqlite3_column_int64(q, 3),
		.nr = sqlite3_column_int64(q, 4),
		.name = (const char *)sqlite3_column_text(q, 6),
		.name2 = (const char *)sqlite3_column_text(q, 7),
		.flags = sqlite3_column_int64(q, 8),
		.file = sqlite3_column_int64(q, 9),
		.opened = sqlite3_column_type(q, 8) != SQLITE_NULL,
		.nothing = flags & TRACEFILE_SAME_FILE,
	};
	s->end = s->start + sqlite3_column_int64(q, 2);
	s->call = flags & TRACEFILE_FOREIGN ? NULL : call_of(s->nr);
	if (!s->call)
		return;
	at = call_arg(s->call, 'o');
	if (!s->opened && at >= 0 && at <= 2)
		s->flags = sqlite3_column_int64(q, 10 + at);
	if (s->nr == SYS_renameat2 && sqlite3_column_int64(q, 13) & EXCHANGE)
		s->nothing = true;
}

static bool is_open(const struct seen *s)
{
	return s->call->effect == DOES_OPEN || s->call->effect == DOES_CREAT ||
	       s->call->effect == DOES_OPENAT2;
}

/* The name that a call that has succeeded has made; NULL: none. *@sure: it was not there before. */
static const char *name_made(const struct seen *s, bool *sure)
{
	*sure = true;
	switch (s->call->effect) {
	case DOES_OPEN:
	case DOES_CREAT:
	case DOES_OPENAT2:
		*sure = s->flags & O_EXCL;
		return s->opened && s->flags & O_CREAT && (s->flags & O_TMPFILE) != O_TMPFILE ?
			       s->name :
			       NULL;
	case DOES_MKDIR:
	case DOES_MKNOD:
	case DOES_BIND:
		return s->name;
	case DOES_SYMLINK:
	case DOES_LINK:
		return s->name2;
	case DOES_RENAME:
		*sure = false;
		return s->nothing ? NULL : s->name2;
	default:
		return NULL;
	}
}

static const char *name_removed(const struct seen *s)
{
	switch (s->call->effect) {
	case DOES_UNLINK:
	case DOES_RMDIR:
		return s->name;
	case DOES_RENAME:
		return s->nothing ? NULL : s->name;
	default:
		return NULL;
	}
}

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
	f->name[place - 1].sibling = *newest;
	*newest = place;
}

/* First the names that some call changes, and when. */

static void add_change(struct finder *f, const struct seen *s, const char *name, bool made)
{
	u64 *place = place_of(f, name, strlen(name));

	if (!*place) {
		f->name = vec_reserve(f->name, &f->name_room, f->names + 1ull, sizeof(*f->name));
		f->name[f->names] = (struct name){};
		*place = ++f->names;
		put_in_directory(f, name, *place);
	}
	f->change = vec_reserve(f->change, &f->change_room, f->changes + 1ull, sizeof(*f->change));
	f->change[f->changes++] = (struct span){ s->start, s->end, s->event, *place - 1, made };
}

static void gather(struct finder *f, const struct seen *s)
{
	const char *name;
	bool sure;

	if (!s->call || s->result < 0)
		return;
	name = name_removed(s);
	if (name)
		add_change(f, s, name, false);
	name = name_made(s, &sure);
	if (name)
		add_change(f, s, name, true);
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

/*
 * A call that was under way, from @start to @end, and changes the name; NULL: none but @event. Of
 * several it is the one that has ended first. Changes are in the order of their ends.
 */
static const struct span *contest(const struct finder *f, const struct name *name, u64 event,
				  u64 start, u64 end)
{
	u32 low = 0, high = name->change_count, i;
	const struct span *change = &f->change[name->changes];

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (change[middle].end <= start)
			low = middle + 1;
		else
			high = middle;
	}
	for (i = low; i < name->change_count && i < low + LOOKS_MAX; i++) {
		if (change[i].event != event && change[i].start < end)
			return &change[i];
	}
	return NULL;
}

static bool is_contested(const struct finder *f, const struct name *name, u64 event, u64 start,
			 u64 end)
{
	return contest(f, name, event, start, end);
}

/* Then what calls say of these names. */

static void put_claim(struct finder *f, const struct seen *s, u64 place, enum state before,
		      enum state after)
{
	struct name *name = &f->name[place - 1];
	struct claim *claim;

	f->claim = vec_reserve(f->claim, &f->claim_room, f->claims + 1ull, sizeof(*f->claim));
	claim = &f->claim[f->claims++];
	*claim = (struct claim){
		.name = place - 1,
		.op = f->ops,
		.before = before,
		.after = after,
	};
	f->op[f->ops].claims++;
	if (name->newest)
		f->claim[name->newest - 1].next = f->claims;
	else
		name->first = f->claims;
	name->newest = f->claims;
}

static void add_claim(struct finder *f, const struct seen *s, const char *text, size_t length,
		      enum state before, enum state after)
{
	u64 place = text ? *place_of(f, text, length) : 0;

	/* What is not on the way of any other call is done when it is next. */
	if (place && (after != STATE_ANY || length == strlen(text) ||
		      is_contested(f, &f->name[place - 1], s->event, s->start, s->end)))
		put_claim(f, s, place, before, after);
}

static void claim_name(struct finder *f, const struct seen *s, const char *text, enum state before,
		       enum state after)
{
	if (text)
		add_claim(f, s, text, strlen(text), before, after);
}

/* The directories that lead to it are there. */
static void claim_way(struct finder *f, const struct seen *s, const char *text)
{
	size_t i;

	for (i = 1; text && *text && text[i]; i++) {
		if (text[i] == '/')
			add_claim(f, s, text, i, STATE_THERE, STATE_ANY);
	}
}

/* What the call would have made the name in is not there. */
static void claim_no_directory(struct finder *f, const struct seen *s, const char *text)
{
	const char *slash = text ? strrchr(text, '/') : NULL;

	if (slash && slash > text)
		add_claim(f, s, text, slash - text, STATE_ABSENT, STATE_ANY);
}

/* Does @one leave a directory with a name in it for longer than @other, or has it one earlier? */
static bool keeps_longer(const struct span *one, const struct span *other)
{
	if (one->made != other->made)
		return !one->made;
	return one->made ? one->end < other->end : one->end > other->end;
}

/*
 * Something was in the directory: of the names that others were making or removing the one that,
 * by the returns, was there for longest. Names that nobody changed were there in any order.
 */
static void claim_not_empty(struct finder *f, const struct seen *s, const char *dir)
{
	const struct span *found = NULL, *change;
	u64 place = *names_in(f, dir, strlen(dir));

	for (; place; place = f->name[place - 1].sibling) {
		change = contest(f, &f->name[place - 1], s->event, s->start, s->end);
		if (change && (!found || keeps_longer(change, found)))
			found = change;
	}
	if (found)
		put_claim(f, s, found->name + 1, STATE_THERE, STATE_ANY);
}

static bool is_name_contested(struct finder *f, const struct seen *s, const char *text,
			      size_t length)
{
	u64 place = *place_of(f, text, length);

	return place && is_contested(f, &f->name[place - 1], s->event, s->start, s->end);
}

/* Of a link or a rename: its name, or the other's directory. If both may be, neither is told. */
static void claim_one_absent(struct finder *f, const struct seen *s)
{
	const char *slash = strrchr(s->name2, '/');
	bool first = is_name_contested(f, s, s->name, strlen(s->name));
	bool second = slash && is_name_contested(f, s, s->name2, slash - s->name2);

	if (second && !first)
		claim_no_directory(f, s, s->name2);
	else if (!second)
		claim_name(f, s, s->name, STATE_ABSENT, STATE_ANY);
}

/* A directory that is removed is empty: what others make or remove in it is not there. */
static void claim_empty(struct finder *f, const struct seen *s, const char *dir)
{
	u64 place = *names_in(f, dir, strlen(dir));

	for (; place; place = f->name[place - 1].sibling) {
		if (contest(f, &f->name[place - 1], s->event, s->start, s->end))
			put_claim(f, s, place, STATE_ABSENT, STATE_ANY);
	}
}

static void claim_failed(struct finder *f, const struct seen *s)
{
	if (s->result == -ENOTEMPTY) {
		claim_way(f, s, s->name2 ?: s->name);
		claim_name(f, s, s->name2 ?: s->name, STATE_THERE, STATE_ANY);
		if (s->name)
			claim_not_empty(f, s, s->name2 ?: s->name);
	}
	if (s->result == -EISDIR && s->call->effect == DOES_UNLINK)
		claim_name(f, s, s->name, STATE_THERE, STATE_ANY);
	if (s->result == -ENOTDIR && s->call->effect == DOES_RMDIR)
		claim_name(f, s, s->name, STATE_THERE, STATE_ANY);
	if (s->result == -ENOENT && s->name2 && s->name)
		claim_one_absent(f, s);
	if (s->result == -EEXIST) {
		if (s->call->effect == DOES_LINK || s->call->effect == DOES_RENAME)
			claim_name(f, s, s->name, STATE_THERE, STATE_ANY);
		claim_way(f, s, s->name2 ?: s->name);
		claim_name(f, s, s->name2 ?: s->name, STATE_THERE, STATE_ANY);
	}
	if (s->result != -ENOENT || s->name2)
		return;
	if ((is_open(s) && s->flags & O_CREAT) || s->call->effect == DOES_MKDIR ||
	    s->call->effect == DOES_MKNOD) {
		claim_no_directory(f, s, s->name);
		return;
	}
	if (call_wants_name(s->call) || s->call->effect == DOES_FDESC)
		claim_name(f, s, s->name, STATE_ABSENT, STATE_ANY);
}

static void claim_done(struct finder *f, const struct seen *s)
{
	const char *name, *gone = name_removed(s);
	bool sure;

	claim_way(f, s, s->name);
	claim_way(f, s, s->name2);
	if (gone && s->call->effect != DOES_RENAME)
		claim_empty(f, s, gone);
	name = name_made(s, &sure);
	if (name != s->name && s->call->effect != DOES_SYMLINK)
		claim_name(f, s, s->name, STATE_THERE, gone ? STATE_ABSENT : STATE_ANY);
	claim_name(f, s, name, sure ? STATE_ABSENT : STATE_ANY, STATE_THERE);
}

static void take_claims(struct finder *f, const struct seen *s)
{
	if (!s->call)
		return;
	f->op = vec_reserve(f->op, &f->op_room, f->ops + 1ull, sizeof(*f->op));
	f->op[f->ops] = (struct op){
		.event = s->event,
		.start = s->start,
		.end = s->end,
		.claim = f->claims,
	};
	if (s->result < 0)
		claim_failed(f, s);
	else
		claim_done(f, s);
	if (f->op[f->ops].claims)
		f->ops++;
}

/* What each name was at first: there, or not. */

/* @made: how many more calls have made it than removed it. They did so in turns. */
static enum state before_changes(enum state later, int made)
{
	if (!made)
		return later;
	return made > 0 ? STATE_ABSENT : STATE_THERE;
}

/*
 * The first call during which no other one changed the name says what it was then. Those that have
 * changed it before had returned. Where there is no such call, all have changed it. STATE_ANY: not
 * known, as one of them made it whether it was there or not, or as many have made as removed it.
 */
static enum state first_state(const struct finder *f, const struct name *name)
{
	u32 at, before;
	int made = 0;
	u64 start = ~0ull;
	enum state later = STATE_ANY;

	for (at = name->first; at; at = f->claim[at - 1].next) {
		const struct claim *claim = &f->claim[at - 1];
		const struct op *op = &f->op[claim->op];

		if (claim->before == STATE_ANY ||
		    is_contested(f, name, op->event, op->start, op->end))
			continue;
		later = claim->before;
		start = op->start;
		break;
	}
	for (before = name->first; before; before = f->claim[before - 1].next) {
		const struct claim *claim = &f->claim[before - 1];

		if (f->op[claim->op].end > start)
			break;
		if (claim->after == STATE_ANY)
			continue;
		if (claim->before == STATE_ANY)
			return STATE_ANY;
		made += claim->after == STATE_THERE ? 1 : -1;
	}
	return before_changes(later, made);
}

static void find_first_states(struct finder *f)
{
	u32 i;

	for (i = 0; i < f->names; i++)
		f->name[i].state = first_state(f, &f->name[i]);
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

static bool is_as_claimed(const struct finder *f, const struct claim *claim)
{
	const struct name *name = &f->name[claim->name];

	return claim->before == STATE_ANY || name->state == STATE_ANY ||
	       name->state == claim->before;
}

/* The first claim that is not as the names are; NULL: all are. */
static const struct claim *first_wrong(const struct finder *f, const struct op *op)
{
	u32 i;

	for (i = 0; i < op->claims; i++) {
		if (!is_as_claimed(f, &f->claim[op->claim + i]))
			return &f->claim[op->claim + i];
	}
	return NULL;
}

static void set_state(struct finder *f, u32 name, u8 state)
{
	f->change_back = vec_reserve(f->change_back, &f->change_back_room, f->changes_back + 1ull,
				     sizeof(*f->change_back));
	f->change_back[f->changes_back++] = (struct former){ name, f->name[name].state };
	f->name[name].state = state;
}

static void choose_op(struct finder *f, u32 number)
{
	struct op *op = &f->op[number];
	u32 i;

	f->step[f->steps - 1].op = number;
	f->step[f->steps - 1].undo = f->changes_back;
	for (i = 0; i < op->claims; i++) {
		const struct claim *claim = &f->claim[op->claim + i];

		if (claim->after || claim->before)
			set_state(f, claim->name, claim->after ?: claim->before);
	}
	op->taken = true;
}

/* The last step is not made. */
static void undo_step(struct finder *f)
{
	struct step *step = &f->step[f->steps - 1];

	while (f->changes_back > step->undo) {
		const struct former *former = &f->change_back[--f->changes_back];

		f->name[former->name].state = former->state;
	}
	f->op[step->op].taken = false;
	f->first = min(f->first, step->op);
}

/* The steps stay, and names are as they were before the first. */
static void undo_all(struct finder *f)
{
	u32 steps = f->steps;

	for (; f->steps; f->steps--)
		undo_step(f);
	f->steps = steps;
}

static bool says(const struct finder *f, const struct op *op, u32 name)
{
	u32 i;

	for (i = 0; i < op->claims; i++) {
		if (f->claim[op->claim + i].name == name)
			return true;
	}
	return false;
}

/* Goes on with the last step: the next call that may be it. False: there is none. */
static bool try_step(struct finder *f)
{
	struct step *step = &f->step[f->steps - 1];
	u64 limit;
	u32 i;

	while (f->first < f->ops && f->op[f->first].taken)
		f->first++;
	limit = f->op[f->first].end;
	for (i = max(step->next, f->first); i < f->ops && i < f->first + LOOKS_MAX; i++) {
		const struct op *op = &f->op[i];
		const struct claim *wrong;

		if (op->taken || op->start >= limit)
			continue;
		wrong = first_wrong(f, op);
		if (!wrong) {
			step->next = i + 1;
			choose_op(f, i);
			return true;
		}
		if (f->wrongs < ARRAY_SIZE(f->wrong))
			f->wrong[f->wrongs++] = wrong->name;
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

/* There is no order up to this step: the call that returned first is next where none may be. */
static void give_up(struct finder *f, u32 most)
{
	while (f->steps <= most) {
		if (!new_step(f))
			choose_op(f, f->first);
	}
	f->barrier = f->steps;
}

static void find_order(struct finder *f)
{
	u32 most = 0, tries = 0;

	f->step = xmalloc((f->ops + 1ull) * sizeof(*f->step));
	while (f->steps < f->ops) {
		if (!new_step(f) && !step_back(f, tries++))
			give_up(f, most);
		if (f->steps > most) {
			most = f->steps;
			tries = 0;
		}
	}
}

/* At last which calls that overlapped came one after the other, and which came ahead. */

static void add_race(struct finder *f, const struct op *op, const struct op *first)
{
	struct races *r = f->races;

	if (op == first || !overlap(op, first))
		return;
	r->race = vec_reserve(r->race, &r->race_room, r->count + 1ull, sizeof(*r->race));
	r->race[r->count++] = (struct race){ op->event, first->event };
}

static void apply(struct finder *f, struct op *op, const struct claim *claim)
{
	struct name *name = &f->name[claim->name];
	bool changes = claim->after != STATE_ANY && claim->after != name->state;
	u32 number = op - f->op, i;

	if (name->maker && claim->before != STATE_ANY)
		add_race(f, op, &f->op[name->maker - 1]);
	if (!changes) {
		if (claim->before != STATE_ANY) {
			name->state = claim->before;
			name->recent[name->recent_count++ % RECENT_MAX] = number;
		}
		return;
	}
	for (i = 0; i < min_t(u32, name->recent_count, RECENT_MAX); i++)
		add_race(f, op, &f->op[name->recent[i]]);
	if (name->maker)
		add_race(f, op, &f->op[name->maker - 1]);
	name->recent_count = 0;
	name->maker = number + 1;
	name->state = claim->after;
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

	for (k = 0; k < f->steps; k++) {
		struct op *op = &f->op[f->step[k].op];

		while (f->op[base].taken)
			base++;
		op->taken = true;
		for (i = 0; i < op->claims; i++)
			apply(f, op, &f->claim[op->claim + i]);
		if (op != &f->op[base]) {
			note_ahead(f, &f->op[base], op);
			continue;
		}
		if (r->aheads > before) /* the end of its list; there is room for it */
			r->ahead[r->aheads++] = 0;
		before = r->aheads;
	}
}

static bool each_row(struct finder *f, sqlite3 *sqlite,
		     void (*use)(struct finder *f, const struct seen *s))
{
	sqlite3_stmt *q;
	struct seen seen;
	int status = sqlite3_prepare_v2(sqlite, rows_sql, -1, &q, NULL);

	if (status != SQLITE_OK)
		return false;
	while ((status = sqlite3_step(q)) == SQLITE_ROW) {
		read_row(&seen, q);
		use(f, &seen);
	}
	sqlite3_finalize(q);
	return status == SQLITE_DONE;
}

bool races_find(struct races *races, sqlite3 *sqlite)
{
	struct finder f = { .races = races };
	bool good = each_row(&f, sqlite, gather);

	*races = (struct races){};
	sort_changes(&f);
	if (good && f.changes)
		good = each_row(&f, sqlite, take_claims);
	find_first_states(&f);
	find_order(&f);
	undo_all(&f);
	tell_order(&f);
	free(f.step);
	free(f.change_back);
	map_free(&f.by_hash);
	map_free(&f.by_dir);
	free(f.name);
	free(f.change);
	free(f.claim);
	free(f.op);
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
