/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which call must wait for which. Each call uses resources. A rule says, for one kind of resource,
 * which uses keep the order that they had in the original: the later one waits for the last use
 * of every other thread that had returned before the later one was entered. So calls that
 * overlapped are never ordered. What another dependency implies already is left out: vector clocks
 * tell.
 *
 * The rules are those of ROOT (Weiss, Harter, Arpaci-Dusseau, SOSP'13) by name; WHY.md has what
 * each means.
 */
#ifndef COMPILE_ORDER_H
#define COMPILE_ORDER_H

#include "../../dm-david/portable/portable.h"

enum order_rule {
	RULE_PROGRAM_SEQ = 0x1,
	RULE_FILE_STAGE = 0x2,
	RULE_FILE_SEQ = 0x4,
	RULE_PATH_STAGE = 0x8,
	RULE_PATH_NAME = 0x10,
	RULE_FD_STAGE = 0x20,
	RULE_FD_SEQ = 0x40,
	RULE_AIO_STAGE = 0x80,
	RULE_AIO_SEQ = 0x100,
	RULE_CAUSAL = 0x200,
	RULE_SPAWN = 0x400, /* a thread begins when it was made */
	RULE_READS = 0x800, /* two that only read are not ordered */
	RULE_ONE_THREAD = 0x1000,
};

/* The rules that @text names: a preset, or names with commas between them. 0: it names none. */
u32 order_rules(const char *text);
void order_print(u32 rules, char *text, size_t room);

enum use_kind {
	USE_PROGRAM,
	USE_FILE,
	USE_PATH,
	USE_DIR, /* its list of names: changes do not wait for each other */
	USE_FD,
	USE_MAPPING,
	USE_AIO,
	USE_PROCESS, /* its end, and who waits for it */
	USE_WAKE, /* futex */
	USE_JOINED, /* what the replay thread @key has done so far, or its first @count commands */
	USE_KINDS,
};

enum use_access {
	ACCESS_DATA, /* reads contents, and moves nothing: two of them never matter to each other */
	ACCESS_READ,
	ACCESS_WRITE,
	ACCESS_STAGE, /* begins or ends its life */
};

struct use {
	enum use_kind kind;
	enum use_access access;
	u64 key; /* one number, one resource of that kind */
	bool on_return; /* it waited, or was the last: what counts is what returned before it did */
	bool quiet; /* nobody waits for it */
	bool free; /* it waits for nobody */
	u32 count; /* USE_JOINED; 0: all */
};

struct dep {
	u32 thread;
	u32 count; /* commands that it must have done */
	u64 exit; /* of the last of these, in the original */
	u64 event;
	const struct use *why; /* NULL: the thread was made by it */
	bool kept; /* not implied by others */
};

#define ORDER_DEPS_MAX 0x4000

struct order;

/* What is told of each candidate: is it kept, or implied by others? */
typedef void order_watcher(void *arg, u64 event, const struct dep *dep);

struct order *order_new(u32 threads, u32 rules);
void order_free(struct order *o);
void order_watch(struct order *o, order_watcher *watch, void *arg);

/* The next command of @thread begins a thread that @parent is just making. */
void order_spawn(struct order *o, u32 thread, u32 parent);

struct order_command {
	u32 thread;
	u64 event;
	u64 entry;
	u64 exit;
	const struct use *use;
	u32 uses;
	bool within; /* the thread's time goes on from its last command that is not */
};

struct order_result {
	const struct dep *dep; /* those that are kept; valid until the next call */
	u32 deps;
	u64 latest; /* exit of the last predecessor, the thread's own last command too; 0: none */
};

/*
 * Commands come in the order in which they returned. @horizon: no later command is entered before
 * that.
 */
struct order_result order_add(struct order *o, const struct order_command *command, u64 horizon);

struct order_figures {
	u64 edges; /* kept */
	u64 implied; /* left out */
	u64 resources;
};

struct order_figures order_figures(const struct order *o);

/* Is the thread's @count-th command implied to be done by all that @other has done? */
bool order_implies(const struct order *o, u32 other, u32 thread, u32 count);
u32 order_count(const struct order *o, u32 thread);

const char *order_rule_of(const struct use *use, u32 rules);

#endif
