// SPDX-License-Identifier: GPL-2.0
#include "order.h"

#include "../common/map.h"
#include "../common/vec.h"

enum chain { /* of the uses of a resource by a thread, newest first */
	CHAIN_ANY,
	CHAIN_READ, /* without those that read contents only */
	CHAIN_WRITE,
	CHAIN_STAGE,
	CHAINS,
	CHAIN_NONE, /* waits for none */
};

struct past { /* a use that may have to be waited for */
	u64 exit;
	u64 event;
	u32 count;
	struct past *older;
};

struct list {
	struct past *newest;
	u32 kept; /* by the last forget() */
	u32 since; /* added after it */
};

struct head {
	u32 thread;
	struct list chain[CHAINS];
	struct head *next;
};

struct resource {
	enum use_kind kind;
	u64 key;
	struct head *heads;
	struct resource *next;
};

struct clock { /* what a thread's commands from @from on come after */
	u32 from;
	u32 *done; /* by thread */
};

struct timeline {
	u32 count; /* commands so far */
	u64 exit; /* of the last one */
	u64 event;
	struct clock *clock;
	u32 clocks;
	u64 room;
	struct dep spawn;
	bool spawned;
};

struct order {
	u32 rules;
	u32 threads;
	struct timeline *line;
	struct map resources; /* lists, by kind and key */
	u64 resource_count;
	struct past *spare;
	struct dep *dep;
	u32 deps;
	u32 *best; /* by thread: 1 + its place in dep */
	u64 edges;
	u64 implied;
	order_watcher *watch;
	void *arg;
};

static const struct {
	const char *name;
	u32 rules;
} rule_names[] = {
	{ "root", RULE_FILE_SEQ | RULE_PATH_STAGE | RULE_PATH_NAME | RULE_FD_STAGE | RULE_FD_SEQ |
			  RULE_AIO_STAGE | RULE_CAUSAL | RULE_SPAWN },
	{ "temporal", RULE_PROGRAM_SEQ | RULE_CAUSAL | RULE_SPAWN },
	{ "fs", RULE_FILE_STAGE | RULE_PATH_STAGE | RULE_PATH_NAME | RULE_FD_STAGE | RULE_SPAWN },
	{ "minimal", RULE_FILE_SEQ | RULE_PATH_STAGE | RULE_PATH_NAME | RULE_FD_STAGE |
			     RULE_FD_SEQ | RULE_AIO_STAGE | RULE_CAUSAL | RULE_SPAWN |
			     RULE_READS },
	{ "single", RULE_ONE_THREAD },
	{ "program_seq", RULE_PROGRAM_SEQ | RULE_SPAWN },
	{ "file_stage", RULE_FILE_STAGE | RULE_SPAWN },
	{ "file_seq", RULE_FILE_SEQ | RULE_SPAWN },
	{ "path_stage", RULE_PATH_STAGE | RULE_SPAWN },
	{ "path_name", RULE_PATH_STAGE | RULE_PATH_NAME | RULE_SPAWN },
	{ "fd_stage", RULE_FD_STAGE | RULE_SPAWN },
	{ "fd_seq", RULE_FD_STAGE | RULE_FD_SEQ | RULE_SPAWN },
	{ "aio_stage", RULE_AIO_STAGE | RULE_SPAWN },
	{ "aio_seq", RULE_AIO_STAGE | RULE_AIO_SEQ | RULE_SPAWN },
	{ "causal", RULE_CAUSAL | RULE_SPAWN },
};

#define RULE_NOTHING 0x80000000u /* so that none is not 0 */

u32 order_rules(const char *text)
{
	u32 rules = 0, i;
	size_t length;

	if (!strcmp(text, "none"))
		return RULE_NOTHING;
	for (;; text++) {
		length = strcspn(text, ",");
		for (i = 0; i < ARRAY_SIZE(rule_names); i++) {
			if (strlen(rule_names[i].name) == length &&
			    !strncmp(rule_names[i].name, text, length))
				break;
		}
		if (i == ARRAY_SIZE(rule_names))
			return 0;
		rules |= rule_names[i].rules;
		text += length;
		if (!*text)
			return rules;
	}
}

/* Which uses a use waits for. */
static enum chain chain_of(u32 rules, const struct use *use)
{
	bool stage = use->access == ACCESS_STAGE;
	bool reads = rules & RULE_READS && use->access <= ACCESS_READ;
	u32 seq, alone;

	switch (use->kind) {
	case USE_PROGRAM:
		return rules & RULE_PROGRAM_SEQ ? CHAIN_ANY : CHAIN_NONE;
	case USE_PATH:
		if (!(rules & RULE_PATH_STAGE))
			return CHAIN_NONE;
		return stage && rules & RULE_PATH_NAME ? CHAIN_ANY : CHAIN_STAGE;
	case USE_DIR:
		if (!(rules & RULE_PATH_NAME))
			return CHAIN_NONE;
		return use->access <= ACCESS_READ ? CHAIN_WRITE : CHAIN_ANY;
	case USE_PROCESS:
	case USE_WAKE:
		if (!(rules & RULE_CAUSAL))
			return CHAIN_NONE;
		return use->on_return ? CHAIN_STAGE : CHAIN_NONE;
	case USE_MAPPING:
		if (!(rules & RULE_FD_STAGE))
			return CHAIN_NONE;
		return stage ? CHAIN_ANY : CHAIN_STAGE;
	case USE_FILE:
		seq = RULE_FILE_SEQ;
		alone = RULE_FILE_STAGE;
		break;
	case USE_FD:
		seq = RULE_FD_SEQ;
		alone = RULE_FD_STAGE;
		break;
	default:
		seq = RULE_AIO_SEQ;
		alone = RULE_AIO_STAGE;
		break;
	}
	if (rules & seq && reads)
		return CHAIN_WRITE;
	if (rules & seq)
		return use->access == ACCESS_DATA ? CHAIN_READ : CHAIN_ANY;
	if (rules & alone)
		return stage ? CHAIN_ANY : CHAIN_STAGE;
	return CHAIN_NONE;
}

const char *order_rule_of(const struct use *use, u32 rules)
{
	static const char *const seq[USE_KINDS] = {
		"program_seq", "file_seq", "path_name", "path_name", "fd_seq", "fd_stage",
		"aio_seq",     "causal",   "causal",	"causal",
	};

	if (!use)
		return "spawn";
	if (use->kind == USE_FILE && !(rules & RULE_FILE_SEQ))
		return "file_stage";
	if (use->kind == USE_FD && (use->access == ACCESS_STAGE || !(rules & RULE_FD_SEQ)))
		return "fd_stage";
	if (use->kind == USE_PATH && use->access != ACCESS_STAGE)
		return "path_stage";
	if (use->kind == USE_AIO && !(rules & RULE_AIO_SEQ))
		return "aio_stage";
	return seq[use->kind];
}

void order_print(u32 rules, char *text, size_t room)
{
	static const char *const presets[] = { "root", "temporal", "fs", "minimal", "single" };
	static const char *const rest[] = { "program_seq", "file_stage", "file_seq", "path_stage",
					    "path_name",   "fd_stage",	 "fd_seq",   "aio_stage",
					    "aio_seq",	   "causal" };
	size_t used = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(presets); i++) {
		if (rules == order_rules(presets[i])) {
			snprintf(text, room, "%s", presets[i]);
			return;
		}
	}
	snprintf(text, room, "none");
	for (i = 0; i < ARRAY_SIZE(rest) && used < room; i++) {
		if (rules & (1u << i))
			used += snprintf(text + used, room - used, "%s%s", used ? "," : "",
					 rest[i]);
	}
}

struct order *order_new(u32 threads, u32 rules)
{
	struct order *o = xmalloc(sizeof(*o));

	*o = (struct order){ .rules = rules, .threads = threads };
	o->line = xcalloc(threads, sizeof(*o->line));
	o->dep = xmalloc((threads + 1) * sizeof(*o->dep));
	o->best = xcalloc(threads, sizeof(*o->best));
	return o;
}

static void free_chain(struct past *past)
{
	while (past) {
		struct past *older = past->older;

		free(past);
		past = older;
	}
}

static void free_resource(struct resource *r)
{
	while (r->heads) {
		struct head *next = r->heads->next;
		unsigned int i;

		for (i = 0; i < CHAINS; i++)
			free_chain(r->heads->chain[i].newest);
		free(r->heads);
		r->heads = next;
	}
	free(r);
}

void order_free(struct order *o)
{
	u32 i, j;

	for (i = 0; i < o->resources.room; i++) {
		struct resource *next, *r = o->resources.value[i].pointer;

		for (; r; r = next) {
			next = r->next;
			free_resource(r);
		}
	}
	map_free(&o->resources);
	for (i = 0; i < o->threads; i++) {
		for (j = 0; j < o->line[i].clocks; j++)
			free(o->line[i].clock[j].done);
		free(o->line[i].clock);
	}
	free_chain(o->spare);
	free(o->line);
	free(o->dep);
	free(o->best);
	free(o);
}

void order_watch(struct order *o, order_watcher *watch, void *arg)
{
	o->watch = watch;
	o->arg = arg;
}

u32 order_count(const struct order *o, u32 thread)
{
	return o->line[thread].count;
}

/* Resources. */

static void **resource_place(struct order *o, const struct use *use)
{
	u64 key = use->key ^ (u64)use->kind << 56;

	return map_pointer_at(&o->resources, map_key(key));
}

static struct resource *resource_of(struct order *o, const struct use *use)
{
	void **place = resource_place(o, use);
	struct resource *r = *place;

	while (r && (r->kind != use->kind || r->key != use->key))
		r = r->next;
	if (r)
		return r;
	o->resource_count++;
	r = xmalloc(sizeof(*r));
	*r = (struct resource){ .kind = use->kind, .key = use->key, .next = *place };
	*place = r;
	return r;
}

static struct head *head_of(struct resource *r, u32 thread)
{
	struct head **place = &r->heads, *head;

	while (*place && (*place)->thread != thread)
		place = &(*place)->next;
	head = *place;
	if (head)
		*place = head->next;
	else
		head = memset(xmalloc(sizeof(*head)), 0, sizeof(*head));
	head->thread = thread;
	/* To the front: the same thread is likely to come again. */
	head->next = r->heads;
	r->heads = head;
	return head;
}

/*
 * Who begins later than @horizon finds the first use that returned before; none asks for older. A
 * call that takes long holds the horizon, and the list grows meanwhile. So the list is gone through
 * only when it may be twice as long as it was: that costs a step for each use.
 */
static void forget(struct order *o, struct list *list, u64 horizon)
{
	struct past *past = list->newest;

	if (list->since <= list->kept + 8)
		return;
	list->since = 0;
	for (list->kept = 0; past && past->exit > horizon; past = past->older)
		list->kept++;
	while (past && past->older) {
		struct past *old = past->older;

		past->older = old->older;
		old->older = o->spare;
		o->spare = old;
	}
}

static void remember(struct order *o, struct list *list, const struct order_command *c,
		     u64 horizon)
{
	struct past *past = o->spare;

	if (past)
		o->spare = past->older;
	else
		past = xmalloc(sizeof(*past));
	*past = (struct past){ c->exit, c->event, o->line[c->thread].count, list->newest };
	list->newest = past;
	list->since++;
	forget(o, list, horizon);
}

/* Clocks. */

/* What the thread's first @count commands come after; NULL: nothing. */
static const u32 *clock_at(const struct order *o, u32 thread, u32 count)
{
	const struct timeline *line = &o->line[thread];
	u32 low = 0, high = line->clocks;

	while (low < high) {
		u32 middle = low + (high - low) / 2;

		if (line->clock[middle].from < count)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? line->clock[low - 1].done : NULL;
}

/* Are the first @count of @thread done whenever the first @done of @other are? */
static bool implied_by(const struct order *o, u32 other, u32 done, u32 thread, u32 count)
{
	const u32 *clock;

	if (other == thread)
		return done >= count;
	clock = clock_at(o, other, done);
	return clock && clock[thread] >= count;
}

bool order_implies(const struct order *o, u32 other, u32 thread, u32 count)
{
	return implied_by(o, other, o->line[other].count, thread, count);
}

static void push_clock(struct order *o, u32 thread)
{
	struct timeline *line = &o->line[thread];
	const u32 *own = clock_at(o, thread, U32_MAX), *clock;
	u32 i, j;
	u32 *done = xmalloc(o->threads * sizeof(*done));

	if (own)
		memcpy(done, own, o->threads * sizeof(*done));
	else
		memset(done, 0, o->threads * sizeof(*done));
	for (i = 0; i < o->deps; i++) {
		const struct dep *dep = &o->dep[i];

		done[dep->thread] = max(done[dep->thread], dep->count);
		clock = clock_at(o, dep->thread, dep->count);
		for (j = 0; clock && j < o->threads; j++)
			done[j] = max(done[j], clock[j]);
	}
	line->clock = vec_reserve(line->clock, &line->room, line->clocks + 1,
				  sizeof(*line->clock));
	line->clock[line->clocks++] = (struct clock){ line->count, done };
}

/* Dependencies. */

static void candidate(struct order *o, const struct dep *dep)
{
	u32 at = o->best[dep->thread];

	if (!at) {
		o->dep[o->deps] = *dep;
		o->best[dep->thread] = ++o->deps;
	} else if (o->dep[at - 1].count < dep->count) {
		o->dep[at - 1] = *dep;
	}
}

static void join(struct order *o, const struct order_command *c, const struct use *use)
{
	const struct timeline *line = &o->line[use->key];
	struct dep dep = {
		.thread = use->key,
		.count = use->count ?: line->count,
		.exit = min(line->exit, c->exit),
		.event = line->event,
		.why = use,
	};
	u32 rules = use->access == ACCESS_STAGE ? RULE_CAUSAL | RULE_FD_STAGE : RULE_CAUSAL;

	if (o->rules & rules && use->key != c->thread && line->count)
		candidate(o, &dep);
}

static void collect(struct order *o, const struct order_command *c, const struct use *use)
{
	enum chain chain = chain_of(o->rules, use);
	const struct head *head;
	const struct past *past;

	if (use->kind == USE_JOINED)
		join(o, c, use);
	if (use->kind == USE_JOINED || chain == CHAIN_NONE || use->free)
		return;
	for (head = resource_of(o, use)->heads; head; head = head->next) {
		if (head->thread == c->thread)
			continue;
		past = head->chain[chain].newest;
		while (past && past->exit > c->entry && !use->on_return)
			past = past->older;
		if (past) {
			struct dep dep = {
				.thread = head->thread,
				.count = past->count,
				.exit = past->exit,
				.event = past->event,
				.why = use,
			};

			candidate(o, &dep);
		}
	}
}

/* Only what no other one, and not the thread's own past, implies. */
static void reduce(struct order *o, const struct order_command *c)
{
	u32 i, j, kept = 0;

	for (i = 0; i < o->deps; i++) {
		struct dep *dep = &o->dep[i];

		o->best[dep->thread] = 0;
		dep->kept = !implied_by(o, c->thread, U32_MAX, dep->thread, dep->count);
		for (j = 0; j < o->deps && dep->kept; j++) {
			if (j != i)
				dep->kept = !implied_by(o, o->dep[j].thread, o->dep[j].count,
							dep->thread, dep->count);
		}
		if (o->watch)
			o->watch(o->arg, c->event, dep);
	}
	/* All were needed to judge each. */
	for (i = 0; i < o->deps; i++) {
		if (o->dep[i].kept)
			o->dep[kept++] = o->dep[i];
	}
	o->edges += kept;
	o->implied += o->deps - kept;
	o->deps = kept;
}

void order_spawn(struct order *o, u32 thread, u32 parent)
{
	struct timeline *line = &o->line[thread];

	if (!(o->rules & RULE_SPAWN) || thread == parent || !o->line[parent].count)
		return;
	line->spawned = true;
	line->spawn = (struct dep){
		.thread = parent,
		.count = o->line[parent].count,
		.exit = o->line[parent].exit,
		.event = o->line[parent].event,
	};
}

struct order_result order_add(struct order *o, const struct order_command *c, u64 horizon)
{
	struct timeline *line = &o->line[c->thread];
	struct order_result result = { .latest = line->count ? line->exit : 0 };
	u32 i;

	o->deps = 0;
	if (line->spawned)
		candidate(o, &line->spawn);
	line->spawned = false;
	for (i = 0; i < c->uses; i++)
		collect(o, c, &c->use[i]);
	for (i = 0; i < o->deps; i++)
		result.latest = max(result.latest, o->dep[i].exit);
	reduce(o, c);
	if (o->deps)
		push_clock(o, c->thread);
	line->count++;
	if (!c->within)
		line->exit = c->exit;
	line->event = c->event;
	for (i = 0; i < c->uses; i++) {
		const struct use *use = &c->use[i];
		struct head *head;
		unsigned int chain;

		if (use->kind == USE_JOINED || use->quiet)
			continue;
		head = head_of(resource_of(o, use), c->thread);
		for (chain = 0; chain <= use->access; chain++)
			remember(o, &head->chain[chain], c, horizon);
	}
	result.dep = o->dep;
	result.deps = o->deps;
	return result;
}

struct order_figures order_figures(const struct order *o)
{
	return (struct order_figures){ o->edges, o->implied, o->resource_count };
}
