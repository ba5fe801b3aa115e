/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A compiled trace: one file, mapped. docs/REPLAY.md has its format for readers in other
 * languages. It has the three parts of Replayfs (Joukov, Wong, Zadok, FAST'05): commands, a
 * resource table, of which the file says only how large it is, and buffers; and the tree that must
 * be there at first.
 *
 * All that is read is distrusted. wl_check() looks at every member once. What has passed it is
 * followed without further looks.
 */
#ifndef REPLAY_WORKLOAD_H
#define REPLAY_WORKLOAD_H

#include "../../dm-david/portable/portable.h"

#define WL_MAGIC 0x4b4c5744u /* "DWLK" */
#define WL_VERSION 9
#define WL_ARGS 5
#define WL_THREADS_MAX 0x4000u
#define WL_SLOTS_MAX 0x100000u
#define WL_FIXED 5 /* bytes of a number that is known later */
#define WL_LENGTH_MAX 0x40000000u /* bytes that one call may read or write */
#define WL_SIZE_MAX (S64_MAX / 2) /* of a file */
#define WL_GAP_MAX 0x4000000u /* bytes between files that are kept apart */
#define WL_BLOCK 4096u
#define WL_OPEN_SLOT 0x40000000 /* in the count of who lets go of a slot, until its WL_CLOSE */

enum wl_op {
#define OP(name, args, result) WL_##name,
#include "workload-ops.h"
#undef OP
	WL_OPS,
};

struct wl_op_info {
	const char *name;
	const char *args;
	char result;
};

extern const struct wl_op_info wl_ops[WL_OPS];

enum wl_reason { /* why a call of the trace is no call here */
	BECAUSE_NOT_DONE, /* the trace has too little of it: xattrs, ioctl, ... */
	BECAUSE_KERNEL, /* it is about /proc, /sys, /dev, sockets and other things without a disk */
	BECAUSE_ORDER, /* only its place in the order is replayed: locks, waits, exits */
	BECAUSE_FORBIDDEN, /* it failed for lack of rights */
	BECAUSE_UNKNOWN, /* it is not in the table of calls, or another architecture's */
	BECAUSE_LEFT_OUT, /* by --from, --to, --only, --root */
	BECAUSE_MISSING, /* the trace itself has it only as a number: lost, not understood */
	BECAUSE_ELSEWHERE, /* a name in a root, or on a mount, of the program's own */
	WL_REASONS,
};

extern const char *const wl_reasons[WL_REASONS];

struct wl_header {
	__le32 magic;
	__le32 version;
	__le64 hash; /* of all that follows this member */
	__le32 threads;
	__le32 slots; /* of the resource table */
	__le64 commands;
	__le64 elapsed; /* of the original, ns */
	__le64 tree; /* entries */
	__le64 tree_at; /* from the beginning of the file */
	__le64 tree_bytes;
	__le64 text_at;
	__le64 text_bytes;
	__le64 thread_at; /* an array of struct wl_thread */
	char order[32]; /* the rules, as text */
	__le64 layout; /* pieces of files, by their place on the original's disk */
	__le64 layout_at;
	__le64 layout_bytes;
	__le64 calls; /* of the trace, with those that it only counts */
	__le64 without[WL_REASONS]; /* of these: what is no call here, by reason */
	__le64 command; /* text: what was recorded */
};

struct wl_thread {
	__le64 at;
	__le64 bytes;
	__le32 commands;
	__le32 before; /* of these, how many only bring about the state at --from */
	__le32 process; /* that it belongs to: 0, 1, ... */
	__le32 zero;
};

static_assert(sizeof(struct wl_header) == 224, "the header has no holes");
static_assert(sizeof(struct wl_thread) == 32, "a thread's entry has no holes");

/* Flags of a command. */
#define WL_MADE_UP 0x1 /* no call of the trace: not counted */
#define WL_NO_RESULT 0x2 /* the original's is not known */
#define WL_CACHED 0x4 /* a read that asked no disk */
#define WL_WITHIN 0x8 /* in the time up to the next command, nobody knows when: it adds none */

/* Of a mapping. */
#define WL_MAP_SHARED 0x1
#define WL_MAP_WRITTEN 0x2 /* may be */

/*
 * A command is a byte with its op, a byte with flags, then numbers of 7 bits a byte, the lowest
 * first; signed ones are folded: event, start and result signed; event and start as a difference
 * to the thread's last command. Then the dependencies, as many as are said, each a thread and how
 * many commands it must have done. Then the arguments.
 */
struct wl_command {
	u8 op;
	u8 flags;
	u32 event; /* number of the call in the trace */
	u64 start; /* ns since the start of the original */
	u64 duration;
	u64 gap; /* from the last return that this call came after */
	s64 result;
	u32 deps;
	const u8 *dep; /* the first one */
	u64 args[WL_ARGS];
};

struct wl_cursor {
	const u8 *at;
	const u8 *end;
	u64 start;
	u32 event;
};

/* An entry of the initial tree. */
struct wl_entry {
	u32 mode; /* type and permissions; 0: another name of the file @other */
	u64 size;
	const char *path;
	const char *other; /* what a symbolic link says, or the first name */
};

/* A piece of a file of the initial tree, @gap bytes behind the last one. */
struct wl_piece {
	u64 gap;
	u64 entry;
	u64 offset;
	u64 length;
};

/* Reads of pipes that wait for what nobody writes, whatever the order. */
struct wl_starved {
	u64 count;
	u32 event; /* of the first one */
	u64 bytes; /* that it waits for; 1 for the end, too */
};

struct workload {
	const u8 *data;
	u64 size;
	u32 threads;
	u32 processes;
	u32 slots;
	u64 commands;
	u64 entries;
	u64 pieces;
	const struct wl_thread *thread;
	const char *text;
	u64 text_bytes;
	u64 length_max; /* of all reads and writes */
	bool removes; /* directories */
	bool pipes; /* makes some */
	struct wl_starved starved;
};

/*
 * NULL, or what is wrong, with the number of the trace's record where there is one; the text is
 * static.
 */
const char *wl_check(struct workload *w, const void *data, u64 size);

/*
 * workload-order.c: can all commands be done? NULL, or the commands that wait for each other. What
 * each command asks for has been checked. Into @w->starved what waits for a pipe in vain.
 */
const char *wl_check_order(struct workload *w);

/* The same, and the hash. */
const char *wl_check_all(struct workload *w, const void *data, u64 size);

u64 wl_hash(const void *data, u64 size);

struct wl_cursor wl_commands(const struct workload *w, u32 thread);
bool wl_next(struct wl_cursor *cursor, struct wl_command *command);
bool wl_dep(const u8 **dep, const u8 *end, u32 *thread, u32 *count);
struct wl_cursor wl_tree(const struct workload *w);
struct wl_cursor wl_layout(const struct workload *w);
bool wl_next_piece(struct wl_cursor *cursor, struct wl_piece *piece);
bool wl_next_entry(const struct workload *w, struct wl_cursor *cursor, struct wl_entry *entry);

/* Numbers of 7 bits a byte. */
bool wl_number(const u8 **at, const u8 *end, u64 *value);
u32 wl_put(u8 *to, u64 value);

/* In WL_FIXED bytes, whatever it is. */
void wl_put_fixed(u8 *to, u64 value);

/* Is there a call in the replay, or only a place in the order? */
static inline bool wl_is_call(u8 op)
{
	return op != WL_NONE && op != WL_WAIT && op != WL_LEAVE;
}

static inline u64 wl_fold(s64 value)
{
	return (u64)value << 1 ^ (u64)(value >> 63);
}

static inline s64 wl_unfold(u64 value)
{
	return (s64)(value >> 1 ^ -(value & 1));
}

#endif
