/* SPDX-License-Identifier: GPL-2.0 */
/* A call on its way to a command: compiler.c follows it, choose.c says what it becomes. */
#ifndef COMPILE_MAKING_H
#define COMPILE_MAKING_H

#include "closes.h"
#include "compiler.h"
#include "elsewhere.h"
#include "mapped.h"
#include "slots.h"
#include "submitted.h"
#include "uses.h"
#include "waits.h"

struct named { /* a path of a call */
	bool given;
	bool kernel; /* below /proc, /sys or /dev */
	bool aside; /* by a root or mounts that the replay does not have */
	bool gone; /* in a directory that has been removed */
	struct node *node; /* what it led to before the call */
	struct node *dir; /* where that name was */
	u64 key; /* of the name, as a resource */
	u64 dir_key;
	char *text; /* from the root on; in @said of struct compiler */
};

struct making {
	struct about about;
	const struct source_item *item;
	const struct call *call;
	struct named first;
	struct named second;
	u32 ofd_before; /* descriptions before the call: later ones are new */
	u64 futex; /* that it waited for; 0: none */
	u64 latest; /* what the touches in front of the call came after */
	u32 mapping; /* number of the one that it makes */
	u8 op;
	u8 flags;
	enum wl_reason reason; /* why there is no call in the replay */
	u64 args[WL_ARGS];
	s64 result;
	/* A command of its own after it, or before: of the other end of what moves between two. */
	u8 other_op;
	bool other_first;
	u32 other_slot;
	const u8 *lengths; /* of more messages: each has a command of its own behind the call's */
	u32 more;
	bool last_close;
	u32 outside; /* 1 + why its descriptor's open was left out; 0: it was not */
};

struct compiler {
	struct source *source;
	struct compile_options options;
	struct world world;
	struct node *root; /* what the replay's root was in the original */
	struct order *order;
	struct waits waits;
	struct uses uses;
	struct slots slots;
	struct closes closes;
	struct submitted submitted;
	struct mapped mapped;
	struct output output;
	struct tree tree;
	struct compile_figures figures;
	u32 *place; /* replay threads */
	struct map left_out; /* by open file description: 1 + why its open was left out */
	struct map fifos; /* by file: 1 + number of its pipe (slots_set_end()) */
	struct map adopted; /* by the trace's number of a description: the one of the world */
	struct map umasks; /* by process: 1 + umask */
	struct map xattrs; /* by file and attribute: what is known of it */
	struct map xattrs_left; /* by name: 1 + its place in xattr_left */
	struct xattr_left *xattr_left;
	u32 xattr_lefts;
	u64 xattr_left_room;
	struct map listed; /* by description: has it given names, and not come to its end? */
	struct map threads; /* by tid, of threads that others may join: 1 + place */
	struct map missing; /* by node: a call has not found it, and none has made it since */
	struct map named_files; /* by file, as struct tree knows it: it has had a name */
	struct map raced; /* by event, of calls that others come after: place << 32 | commands */
	struct making making;
	char said[2][NAMES_PATH_MAX];
};

/* The replay thread that does the call. */
static inline u32 compiler_place(const struct compiler *c)
{
	return c->place[c->making.item->thread];
}

/* commands.c */
u64 compiler_file_key(const struct file *file);

/* A command with the uses that have been told. */
void command_add(struct compiler *c, u8 op, u8 flags, u64 entry, u64 exit, s64 result,
		 const u64 *args);

/* One that is no call of the trace, at the time of this one; it has its own uses. */
void command_make_up(struct compiler *c, u8 op, s64 result, const u64 *args);

/*
 * A command at the time of the item that is being followed, with the uses that have been told;
 * with WL_WITHIN it is in front of it. Or one that is no call of the trace.
 */
void compiler_add_now(struct compiler *c, u8 op, u8 flags, s64 result, const u64 *args);
void compiler_add_made_up(struct compiler *c, u8 op, const u64 *args);

/* adopt.c: the call's description, if nobody was seen to open it: it was there before the trace. */
void adopt_descriptor(struct compiler *c);

/* The replay's name of a file that is there by this name; false: it is not, or not that file. */
bool adopt_name(struct compiler *c, const char *name, u32 file, u64 *text);

/* paths.c: what the path at letter @letter of the call leads to. */
void path_find(struct compiler *c, struct named *named, char letter);

/* As the replay says it: from the directory @root on, its root in the original. */
void path_rebase(const struct node *root, struct named *named);

/* What the names say of the initial tree, and which of them change. */
void path_use_names(struct compiler *c);

/* Of a path from the original's root on, what is behind @root; NULL: it is elsewhere. */
const char *path_behind_root(const struct node *root, const char *path);
bool path_is_below_root(const struct node *root, const struct node *node);

/* Is it in a directory of the kernel's: /proc, /sys, /dev? */
bool path_is_kernels(const struct node *node);

/* Of a file by its attributes, for struct tree; not 0. */
u32 path_file_number(const struct tracefile_attr *attr);

/* What a symbolic link says, for the replay; in @room bytes. */
void path_target(const struct node *root, const char *said, char *target, size_t room);

/* What the call becomes: op, arguments and so on of c->making; its uses. */
void choose(struct compiler *c);

/* No call of the replay. */
static inline void choose_none(struct compiler *c, enum wl_reason reason)
{
	c->making.op = WL_NONE;
	c->making.reason = reason;
}

/* A command about a descriptor, if it is one that is replayed. */
bool choose_on_path(struct compiler *c, u8 op, const struct named *named);
void choose_use_file(struct compiler *c, enum use_access access);

/* xattrs.c: False: the call is about none. */
bool xattrs_choose(struct compiler *c);
void xattrs_free(struct compiler *c);
bool choose_on_fd(struct compiler *c, u8 op, const struct ofd *ofd, enum use_access access);
void choose_use_ofd(struct compiler *c, const struct ofd *ofd, enum use_access access);

static inline u64 choose_arg(const struct compiler *c, unsigned int i)
{
	return c->making.item->record->args[i];
}

static inline u32 choose_nr(const struct compiler *c)
{
	return c->making.item->record->nr;
}

static inline u64 choose_length(u64 asked)
{
	return min_t(u64, asked, WL_LENGTH_MAX);
}

/* pipes.c: calls about pipes, FIFOs and socketpairs, as choose() has calls about files. */
void pipe_make(struct compiler *c);
void pipe_transfer(struct compiler *c, const struct ofd *ofd, bool write);
void pipe_resize(struct compiler *c);
void pipe_tee(struct compiler *c);
void pipe_shutdown(struct compiler *c);

/* Several messages a call: the first is its command. pipe_more() adds the others behind it. */
void pipe_messages(struct compiler *c, bool write);
void pipe_more(struct compiler *c);

/* Between two descriptors: copying, splicing, sending. */
void pipe_move(struct compiler *c);

/*
 * An open of a FIFO, or of what a descriptor is of, by its name in /proc or /dev. False: it is
 * neither.
 */
bool pipe_open(struct compiler *c, u64 flags);

#endif
