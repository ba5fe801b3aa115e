// SPDX-License-Identifier: GPL-2.0
/* Files chosen by their names: see ext-names.h. */
#include "ext-names.h"

#include "ext-dir.h"
#include "ext-live.h"
#include "../../dm-david/portable/hash.h"

#define PARTS	4096u	/* more than two levels of any directory's map */
#define TRIES	4u	/* walks that were overtaken by changes, one after the other */

/* Flags of inodes. */
#define CHOSEN	1u	/* its content, if it is a file */
#define BELOW	2u	/* likewise, and of all that is below it */
#define WAS_READ	4u	/* it is a directory, and its names were read */

void ext_names_forget(struct ext_names *n)
{
	n->in_log = false;
	n->tail = 0;
	n->full = false;
	ext_names_choose(n);
}

void ext_names_choose(struct ext_names *n)
{
	n->full = false;
	n->walking = false;
	n->done = false;
	n->resting = false;
	n->stuck = U64_MAX;
	n->now = 0;
	n->asked = 0;
	n->tries = 0;
}

/* Changes when the journal makes progress. */
static u64 ext_names_stamp(const struct ext_live *e)
{
	const struct jbd2_counters *count = &e->jbd2.count;

	return count->descriptors + count->commits + count->revokes + count->supers;
}

bool ext_names_ready(const struct ext_live *e)
{
	const struct ext_names *n = &e->names;
	const struct jbd2 *j = &e->jbd2;

	if (!n->done || n->changed || n->overflow || n->full || !ext_live_complete(e) ||
	    jbd2_has_fast_commits(j))
		return false;
	if (!j->start)
		return !n->in_log;
	return n->in_log && n->tid == j->head + 1 && !jbd2_before(j->tail, n->tail) &&
	       !jbd2_before(n->tid, j->tail);
}

/* Tables */

/* There is no room for something. */
static bool ext_names_overflow(struct ext_names *n)
{
	n->overflow = n->bytes < EXT_NAMES_MAX_BYTES;
	n->full = !n->overflow;
	return false;
}

static bool ext_names_is_full(u32 used, u32 slots)
{
	return used >= slots - slots / 4;
}

static struct ext_names_logged *find_logged(const struct ext_names *n, u64 home)
{
	u32 i = hash_slot(home, n->slots);

	while (n->log[i].home && n->log[i].home != home)
		i = (i + 1) & (n->slots - 1);
	return &n->log[i];
}

/* Add @block to the blocks of the view. False: it is among them already. */
static bool ext_names_see(struct ext_names *n, u64 block)
{
	u32 i = hash_slot(block, n->slots);

	while (n->seen[i] && n->seen[i] != block)
		i = (i + 1) & (n->slots - 1);
	if (n->seen[i])
		return false;
	if (ext_names_is_full(n->blocks, n->slots))
		return ext_names_overflow(n);
	n->seen[i] = block;
	n->blocks++;
	return true;
}

static bool has_seen(const struct ext_names *n, u64 block)
{
	u32 i = hash_slot(block, n->slots);

	while (n->seen[i] && n->seen[i] != block)
		i = (i + 1) & (n->slots - 1);
	return n->seen[i];
}

static struct ext_names_inode *ext_names_find_inode(const struct ext_names *n, u32 ino)
{
	u32 slots = n->slots / 2, i = hash_slot(ino, slots);

	while (n->inode[i].ino && n->inode[i].ino != ino)
		i = (i + 1) & (slots - 1);
	return &n->inode[i];
}

bool ext_names_has(const struct ext_names *n, u32 ino)
{
	return n->memory && ext_names_find_inode(n, ino)->flags & (CHOSEN | BELOW);
}

/* The log */

static void clear_log(struct ext_names *n)
{
	memset(n->log, 0, n->slots * sizeof(*n->log));
	n->logged = 0;
}

/* Start at the log's tail, if that is not the one that was followed so far. */
static void ext_names_follow(struct ext_names *n, const struct jbd2 *j)
{
	bool begin = j->start && (!n->in_log || jbd2_before(n->tid, j->tail) ||
				  jbd2_before(j->tail, n->tail));

	if (begin || (!j->start && n->in_log)) {
		clear_log(n);
		n->in_log = j->start;
		n->tid = j->tail;
		n->begin = j->start;
		n->at = j->start;
		n->length = 0;
		n->stuck = U64_MAX;
		/* Transactions that were not read may have changed blocks of the view. */
		n->changed = true;
	}
	n->tail = j->tail;
}

static bool is_read(const struct ext_names *n, const struct jbd2 *j)
{
	return !n->in_log || n->tid == j->head + 1;
}

static u32 ext_names_log_behind(const struct jbd2 *j, u32 at, u32 blocks)
{
	u32 left = j->maxlen - at;

	return blocks < left ? at + blocks : j->first + (blocks - left);
}

/* No room for the log's blocks: drop old ones, by reading the log again. Or ask for more memory. */
static void ext_names_make_room(struct ext_names *n, const struct jbd2 *j)
{
	u32 i, live = 0;

	for (i = 0; i < n->slots; i++)
		live += n->log[i].home && !jbd2_before(n->log[i].tid, j->tail);
	if (live > n->slots / 2)
		ext_names_overflow(n);
	else
		n->in_log = false;
}

/* One descriptor's blocks. */
struct tagging {
	struct ext_names *n;
	const struct jbd2 *j;
	u32 blocks;
};

static void add_tag(void *ctx, u64 home)
{
	struct tagging *t = ctx;
	struct ext_names *n = t->n;
	struct ext_names_logged *logged;

	t->blocks++;
	if (!home)
		return;
	n->changed |= has_seen(n, home);
	logged = find_logged(n, home);
	if (!logged->home) {
		if (ext_names_is_full(n->logged, n->slots)) {
			ext_names_make_room(n, t->j);
			return;
		}
		n->logged++;
	}
	logged->home = home;
	logged->at = ext_names_log_behind(t->j, n->at, t->blocks);
	logged->tid = n->tid;
}

static void learn_log(struct ext_names *n, const struct jbd2 *j, const void *content)
{
	struct tagging t = { .n = n, .j = j };

	switch (content ? jbd2_read(j, n->tid, content, add_tag, &t) : JBD2_BAD) {
	case JBD2_DESCRIPTOR:
	case JBD2_REVOKE:
		n->length += 1 + t.blocks;
		n->at = ext_names_log_behind(j, n->at, 1 + t.blocks);
		if (n->length < j->maxlen)
			return;
		break;
	case JBD2_COMMIT:
		n->tid++;
		n->begin = ext_names_log_behind(j, n->at, 1);
		n->at = n->begin;
		n->length = 0;
		return;
	default:
		break;
	}
	/* The transaction is incomplete, or not understood: read it again when there is more. */
	n->at = n->begin;
	n->length = 0;
	n->stuck = n->stamp;
}

/* The place of the newest copy of @block: in the log, if a complete transaction has one. */
static u64 ext_names_place_of(const struct ext_live *e, u64 block)
{
	const struct ext_names *n = &e->names;
	const struct ext_names_logged *logged = find_logged(n, block);

	if (!logged->home || !e->jbd2.start || jbd2_before(logged->tid, e->jbd2.tail))
		return block;
	return ext_live_journal_block(e, logged->at);
}

/* The walk */

static void ext_names_rest(struct ext_names *n)
{
	n->walking = false;
	n->resting = true;
	n->tries = 0;
}

static void ext_names_give_up(struct ext_names *n)
{
	n->errors++;
	n->done = false;
	ext_names_rest(n);
}

/* @ino was found. True if it is new. */
static bool add_inode(struct ext_names *n, u32 ino, u32 flags)
{
	struct ext_names_inode *inode = ext_names_find_inode(n, ino);
	bool new = !inode->ino;

	if (new && ext_names_is_full(n->inodes, n->slots / 2))
		return ext_names_overflow(n);
	/* The directory was found before, with fewer flags: what is below has to be read again. */
	if (inode->flags & WAS_READ && flags & ~inode->flags)
		n->failed = true;
	n->inodes += new;
	n->chosen += flags && !inode->flags;
	inode->ino = ino;
	inode->flags |= flags;
	return new;
}

static void add_dir(struct ext_names *n, u32 ino, u32 flags)
{
	/* The table of directories has as much room as that of inodes. */
	if (add_inode(n, ino, flags))
		n->dir[n->dirs++] = ino;
}

static void begin_walk(struct ext_names *n, const struct ext_geo *geo,
		       const struct ext_names_choice *choice)
{
	u32 ino = 0;

	memset(n->inode, 0, n->slots / 2 * sizeof(*n->inode));
	memset(n->seen, 0, n->slots * sizeof(*n->seen));
	n->inodes = 0;
	n->chosen = 0;
	n->blocks = 0;
	n->dirs = 0;
	n->next_dir = 0;
	n->parts = 0;
	n->now = 0;
	n->changed = false;
	n->failed = false;
	n->done = false;
	n->walking = true;
	while ((ino = choice->next_dir(choice->ctx, ino)) && ino <= geo->inodes)
		add_dir(n, ino, BELOW);
	if (choice->everywhere)
		add_dir(n, EXT_ROOT_INO, 0);
}

static void end_walk(struct ext_names *n)
{
	if (n->changed) {
		if (++n->tries < TRIES)
			n->walking = false;
		else
			ext_names_give_up(n);
		return;
	}
	n->done = true;
	n->walks++;
	ext_names_rest(n);
}

/* Sets ->now to the next block of the walk: false if there is none. */
static bool next_block(struct ext_live *e)
{
	struct ext_names *n = &e->names;
	struct ext_names_part *part;
	u32 offset;

	n->reading_inode = !n->parts;
	if (n->parts) {
		part = &n->part[n->parts - 1];
		n->now = part->start++;
		n->level = part->level;
		n->parts -= !--part->len;
		/* A block that was seen already is in two directories, or twice in one. */
		if (ext_names_see(n, n->now))
			return true;
		ext_names_give_up(n);
		return false;
	}
	if (n->next_dir == n->dirs) {
		end_walk(n);
		return false;
	}
	n->ino = n->dir[n->next_dir++];
	n->now = ext_layout_inode_block(&e->layout, &e->geo, n->ino, &offset);
	if (!n->now) {
		ext_names_give_up(n);
		return false;
	}
	ext_names_see(n, n->now);
	return true;
}

u64 ext_names_want(struct ext_live *e, const struct ext_names_choice *choice)
{
	struct ext_names *n = &e->names;

	n->asked = 0;
	if (!n->memory || n->overflow || n->full || !ext_live_complete(e) ||
	    jbd2_has_fast_commits(&e->jbd2) || !e->layout.known)
		return 0;
	ext_names_follow(n, &e->jbd2);
	n->reading_log = !is_read(n, &e->jbd2);
	if (n->reading_log) {
		n->stamp = ext_names_stamp(e);
		if (n->stuck == n->stamp)
			return 0;
		n->asked = ext_live_journal_block(e, n->at);
		return n->asked;
	}
	while ((!n->done || n->changed) && !n->resting) {
		if (!n->walking)
			begin_walk(n, &e->geo, choice);
		if (n->overflow || n->full)
			return 0;
		if (!n->now && !next_block(e))
			continue;
		n->asked = ext_names_place_of(e, n->now);
		return n->asked;
	}
	return 0;
}

static void found_part(void *ctx, const struct ext_run *run)
{
	struct ext_names *n = ctx;

	if (n->parts == PARTS) {
		n->failed = true;
		return;
	}
	n->part[n->parts].start = run->start;
	n->part[n->parts].len = run->len;
	n->part[n->parts++].level = run->level;
}

/* Names in the directory that is being read. */
struct naming {
	struct ext_names *n;
	const struct ext_names_choice *choice;
	u32 flags;		/* for all of them */
};

static void found_name(void *ctx, const struct ext_name *name)
{
	struct naming *f = ctx;
	u32 flags = f->flags;

	/* A chosen suffix of a directory's name does not apply to the files below it. */
	if (f->choice->everywhere && f->choice->suffix(f->choice->ctx, name->name, name->len))
		flags |= CHOSEN;
	if (name->may_be_dir)
		add_dir(f->n, name->ino, flags);
	else if (flags)
		add_inode(f->n, name->ino, flags);
}

static unsigned int ext_names_learn_inode(struct ext_live *e, struct naming *f, const void *content)
{
	const struct ext_geo *geo = &e->geo;
	struct ext_names *n = f->n;
	struct ext_inode inode;
	u32 offset;

	ext_layout_inode_block(&e->layout, geo, n->ino, &offset);
	ext_parse_inode(geo, n->ino, content + offset, &inode);
	if (inode.kind != EXT_DIRECTORY || !inode.links)
		return 0;
	ext_names_find_inode(n, n->ino)->flags |= WAS_READ;
	if (inode.inline_data)
		return ext_dir_inline(geo, content + offset, found_name, f);
	n->extents = inode.extents;
	return ext_map_inode(geo, &inode, found_part, n);
}

static void learn_walk(struct ext_live *e, const struct ext_names_choice *choice,
		       const void *content)
{
	struct ext_names *n = &e->names;
	struct naming f = {
		.n = n,
		.choice = choice,
		.flags = ext_names_find_inode(n, n->ino)->flags & BELOW,
	};
	unsigned int wrong;

	if (n->reading_inode)
		wrong = ext_names_learn_inode(e, &f, content);
	else if (n->level)
		wrong = ext_map_node(&e->geo, n->extents, n->level, 0, content, found_part, n);
	else
		wrong = ext_dir_block(&e->geo, content, found_name, &f);
	if (wrong || n->failed)
		ext_names_give_up(n);
}

void ext_names_learn(struct ext_live *e, const struct ext_names_choice *choice,
		     const void *content)
{
	struct ext_names *n = &e->names;

	if (!n->asked)
		return;
	if (n->reading_log) {
		learn_log(n, &e->jbd2, content);
		return;
	}
	/* The log may have wrapped over it meanwhile: then the block is at home. */
	if (!n->walking || n->overflow || n->full || n->asked != ext_names_place_of(e, n->now))
		return;
	n->now = 0;
	if (content)
		learn_walk(e, choice, content);
	else
		ext_names_give_up(n);
}

/* Memory */

size_t ext_names_memory(const struct ext_names *n)
{
	if (!n->wanted)
		return 0;
	if (!n->memory)
		return EXT_NAMES_MIN_BYTES;
	return n->overflow ? n->bytes * 4 : 0;
}

void *ext_names_give(struct ext_names *n, void *memory, size_t bytes)
{
	/* Of one slot everywhere: all tables together, a power of two. */
	const u32 slot = sizeof(*n->log) + sizeof(*n->seen) +
			 (sizeof(*n->inode) + sizeof(*n->dir)) / 2;
	void *old = n->memory;

	BUILD_BUG_ON(PARTS * sizeof(*n->part) > EXT_NAMES_MIN_BYTES / 2);
	n->memory = memory;
	n->bytes = bytes;
	n->overflow = false;
	for (n->slots = 1024; 2 * n->slots * slot <= bytes - PARTS * sizeof(*n->part);)
		n->slots *= 2;
	n->log = memory;
	n->seen = (void *)(n->log + n->slots);
	n->inode = (void *)(n->seen + n->slots);
	n->part = (void *)(n->inode + n->slots / 2);
	n->dir = (void *)(n->part + PARTS);
	ext_names_forget(n);
	return old;
}
