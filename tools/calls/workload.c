// SPDX-License-Identifier: GPL-2.0
#include "workload.h"

#include <stdarg.h>
#include <sys/stat.h>

const struct wl_op_info wl_ops[WL_OPS] = {
#define OP(name, args, result) [WL_##name] = { #name, args, result },
#include "workload-ops.h"
#undef OP
};

const char *const wl_reasons[WL_REASONS] = {
	[BECAUSE_NOT_DONE] = "not-replayed",
	[BECAUSE_KERNEL] = "without-a-disk",
	[BECAUSE_ORDER] = "only-in-order",
	[BECAUSE_FORBIDDEN] = "without-rights",
	[BECAUSE_UNKNOWN] = "unknown",
	[BECAUSE_LEFT_OUT] = "left-out",
	[BECAUSE_MISSING] = "missing",
	[BECAUSE_ELSEWHERE] = "elsewhere",
};

static char problem[200];

static const char *wrong(const char *format, ...) __printf(1, 2);

static const char *wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(problem, sizeof(problem), format, args);
	va_end(args);
	return problem;
}

/* FNV-1a, eight bytes at a time. */
u64 wl_hash(const void *data, u64 size)
{
	u64 hash = 0xcbf29ce484222325ull, word;
	const u8 *at = data;

	for (; size >= sizeof(word); size -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3ull;
		hash ^= hash >> 29;
	}
	for (; size; size--)
		hash = (hash ^ *at++) * 0x100000001b3ull;
	return hash;
}

u32 wl_put(u8 *to, u64 value)
{
	u32 n = 0;

	for (; value >= 0x80; value >>= 7)
		to[n++] = value | 0x80;
	to[n++] = value;
	return n;
}

void wl_put_fixed(u8 *to, u64 value)
{
	u32 i;

	for (i = 0; i < WL_FIXED; i++, value >>= 7)
		to[i] = (value & 0x7f) | (i < WL_FIXED - 1 ? 0x80 : 0);
}

bool wl_number(const u8 **at, const u8 *end, u64 *value)
{
	unsigned int shift;

	*value = 0;
	for (shift = 0; shift < 64 && *at < end; shift += 7) {
		u8 byte = *(*at)++;

		*value |= (u64)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

bool wl_dep(const u8 **dep, const u8 *end, u32 *thread, u32 *count)
{
	u64 numbers[2];

	if (!wl_number(dep, end, &numbers[0]) || !wl_number(dep, end, &numbers[1]) ||
	    numbers[0] > U32_MAX || numbers[1] > U32_MAX)
		return false;
	*thread = numbers[0];
	*count = numbers[1];
	return true;
}

static bool skip_deps(struct wl_cursor *c, u32 deps)
{
	u32 thread, count;

	while (deps--) {
		if (!wl_dep(&c->at, c->end, &thread, &count))
			return false;
	}
	return true;
}

bool wl_next(struct wl_cursor *c, struct wl_command *command)
{
	u64 event, start, result, deps;
	const char *args;
	unsigned int i;

	if (c->end - c->at < 2 || *c->at >= WL_OPS)
		return false;
	command->op = *c->at++;
	command->flags = *c->at++;
	if (!wl_number(&c->at, c->end, &event) || !wl_number(&c->at, c->end, &start) ||
	    !wl_number(&c->at, c->end, &command->duration) ||
	    !wl_number(&c->at, c->end, &command->gap) || !wl_number(&c->at, c->end, &result) ||
	    !wl_number(&c->at, c->end, &deps) || deps > WL_THREADS_MAX)
		return false;
	event = c->event + (u64)wl_unfold(event);
	if (event > U32_MAX)
		return false;
	c->event = event;
	c->start += (u64)wl_unfold(start);
	command->event = c->event;
	command->start = c->start;
	command->result = wl_unfold(result);
	command->deps = deps;
	command->dep = c->at;
	if (!skip_deps(c, deps))
		return false;
	args = wl_ops[command->op].args;
	for (i = 0; args[i]; i++) {
		if (!wl_number(&c->at, c->end, &command->args[i]))
			return false;
		if (args[i] == 'i')
			command->args[i] = wl_unfold(command->args[i]);
	}
	return true;
}

struct wl_cursor wl_commands(const struct workload *w, u32 thread)
{
	const u8 *at = w->data + le64_to_cpu(w->thread[thread].at);

	return (struct wl_cursor){ .at = at, .end = at + le64_to_cpu(w->thread[thread].bytes) };
}

struct wl_cursor wl_tree(const struct workload *w)
{
	const struct wl_header *header = (const struct wl_header *)w->data;
	const u8 *at = w->data + le64_to_cpu(header->tree_at);

	return (struct wl_cursor){ .at = at, .end = at + le64_to_cpu(header->tree_bytes) };
}

bool wl_next_entry(const struct workload *w, struct wl_cursor *c, struct wl_entry *entry)
{
	u64 numbers[4];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (!wl_number(&c->at, c->end, &numbers[i]))
			return false;
	}
	if (numbers[0] > U32_MAX || numbers[2] >= w->text_bytes || numbers[3] >= w->text_bytes)
		return false;
	*entry = (struct wl_entry){
		.mode = numbers[0],
		.size = numbers[1],
		.path = w->text + numbers[2],
		.other = w->text + numbers[3],
	};
	return true;
}

struct wl_cursor wl_layout(const struct workload *w)
{
	const struct wl_header *header = (const struct wl_header *)w->data;
	const u8 *at = w->data + le64_to_cpu(header->layout_at);

	return (struct wl_cursor){ .at = at, .end = at + le64_to_cpu(header->layout_bytes) };
}

bool wl_next_piece(struct wl_cursor *c, struct wl_piece *piece)
{
	return wl_number(&c->at, c->end, &piece->gap) &&
	       wl_number(&c->at, c->end, &piece->entry) &&
	       wl_number(&c->at, c->end, &piece->offset) &&
	       wl_number(&c->at, c->end, &piece->length);
}

static bool within(u64 at, u64 bytes, u64 size)
{
	return at <= size && bytes <= size - at;
}

/* What is not here is a part of what there was. */
static bool calls_add_up(const struct wl_header *h)
{
	u64 calls = le64_to_cpu(h->calls), reason;

	for (reason = 0; reason < WL_REASONS; reason++) {
		if (le64_to_cpu(h->without[reason]) > calls)
			return false;
		calls -= le64_to_cpu(h->without[reason]);
	}
	return true;
}

static const char *check_header(struct workload *w, const void *data, u64 size)
{
	const struct wl_header *h = data;
	u64 text_at, thread_at;

	if (size < sizeof(*h) || le32_to_cpu(h->magic) != WL_MAGIC)
		return "it is no compiled trace";
	if (le32_to_cpu(h->version) != WL_VERSION)
		return wrong("it has version %u of the format, not %u", le32_to_cpu(h->version),
			     WL_VERSION);
	text_at = le64_to_cpu(h->text_at);
	thread_at = le64_to_cpu(h->thread_at);
	*w = (struct workload){
		.data = data,
		.size = size,
		.threads = le32_to_cpu(h->threads),
		.slots = le32_to_cpu(h->slots),
		.commands = le64_to_cpu(h->commands),
		.entries = le64_to_cpu(h->tree),
		.pieces = le64_to_cpu(h->layout),
		.text_bytes = le64_to_cpu(h->text_bytes),
	};
	if (w->threads > WL_THREADS_MAX || w->slots > WL_SLOTS_MAX)
		return wrong("it asks for %u threads and %u descriptors", w->threads, w->slots);
	if (!within(text_at, w->text_bytes, size) || !w->text_bytes || thread_at % 8 ||
	    !within(thread_at, w->threads * sizeof(struct wl_thread), size) ||
	    !within(le64_to_cpu(h->tree_at), le64_to_cpu(h->tree_bytes), size) ||
	    !within(le64_to_cpu(h->layout_at), le64_to_cpu(h->layout_bytes), size))
		return "a part is outside of the file";
	w->text = (const char *)w->data + text_at;
	w->thread = (const struct wl_thread *)(w->data + thread_at);
	if (w->text[w->text_bytes - 1])
		return "its last text has no end";
	if (le64_to_cpu(h->command) >= w->text_bytes)
		return "its program's name is not there";
	if (!calls_add_up(h))
		return "it leaves out more calls than the trace had";
	return NULL;
}

static const char *check_tree(const struct workload *w)
{
	struct wl_cursor cursor = wl_tree(w);
	struct wl_entry entry;
	u64 i;

	for (i = 0; i < w->entries; i++) {
		if (!wl_next_entry(w, &cursor, &entry))
			return wrong("entry %llu of the tree is broken", (unsigned long long)i);
		if (entry.size > WL_SIZE_MAX)
			return wrong("entry %llu of the tree has %llu bytes",
				     (unsigned long long)i, (unsigned long long)entry.size);
		if (entry.mode && !S_ISREG(entry.mode) && !S_ISDIR(entry.mode) &&
		    !S_ISLNK(entry.mode))
			return wrong("entry %llu of the tree has mode %o", (unsigned long long)i,
				     entry.mode);
	}
	return NULL;
}

/* The sizes of the tree's files; NULL: there is no memory. The tree has been checked. */
static u64 *file_sizes(const struct workload *w)
{
	struct wl_cursor cursor = wl_tree(w);
	u64 *size = malloc((w->entries + 1) * sizeof(*size)), i;
	struct wl_entry entry;

	for (i = 0; size && i < w->entries; i++) {
		wl_next_entry(w, &cursor, &entry);
		size[i] = S_ISREG(entry.mode) ? entry.size : 0;
	}
	return size;
}

static const char *check_layout(const struct workload *w)
{
	struct wl_cursor cursor = wl_layout(w);
	u64 *size = w->pieces ? file_sizes(w) : NULL, i;
	const char *said = NULL;
	struct wl_piece p;

	if (w->pieces && !size)
		return "there is no memory to look at it";
	for (i = 0; i < w->pieces && !said; i++) {
		if (!wl_next_piece(&cursor, &p) || p.gap > WL_GAP_MAX || p.entry >= w->entries ||
		    p.offset >= size[p.entry] || p.offset % WL_BLOCK ||
		    p.length > (size[p.entry] - p.offset + WL_BLOCK - 1) / WL_BLOCK * WL_BLOCK)
			said = wrong("piece %llu of the layout is broken", (unsigned long long)i);
	}
	free(size);
	return said;
}

static const char *check_args(struct workload *w, const struct wl_command *c)
{
	const char *args = wl_ops[c->op].args;
	unsigned int i;

	for (i = 0; args[i]; i++) {
		u64 value = c->args[i];

		switch (args[i]) {
		case 's':
		case 'S':
			if (value >= w->slots)
				return wrong("record %u: descriptor %llu of %u", c->event,
					     (unsigned long long)value, w->slots);
			break;
		case 'P':
		case 'T':
			if (value >= w->text_bytes)
				return wrong("record %u: a text that is not there", c->event);
			break;
		case 't':
			if (value >= w->threads)
				return wrong("record %u: a thread that is not there", c->event);
			break;
		case 'n':
			if (value > WL_LENGTH_MAX)
				return wrong("record %u: %llu bytes at once", c->event,
					     (unsigned long long)value);
			w->length_max = max(w->length_max, value);
			break;
		}
	}
	return NULL;
}

/* Of a mapping that is there it is only known then how long it is. */
static const char *check_mapping(const struct wl_command *c)
{
	const u64 *a = c->args;
	bool wrong_one;

	switch (c->op) {
	case WL_MAP:
		wrong_one = !a[1] || a[1] > WL_SIZE_MAX || a[2] % WL_BLOCK || a[2] > WL_SIZE_MAX ||
			    a[3] & ~(u64)(WL_MAP_SHARED | WL_MAP_WRITTEN);
		break;
	case WL_TOUCH:
		wrong_one = a[1] % WL_BLOCK || a[3] > 1;
		break;
	case WL_MSYNC:
	case WL_ADVISE:
		wrong_one = a[1] % WL_BLOCK;
		break;
	default:
		return NULL;
	}
	return wrong_one ? wrong("record %u: a mapping, or pages of one, that cannot be", c->event)
			 : NULL;
}

static const char *check_deps(const struct workload *w, const struct wl_command *c, u32 thread)
{
	const u8 *dep = c->dep;
	u32 i, other, count;

	for (i = 0; i < c->deps; i++) {
		if (!wl_dep(&dep, w->data + w->size, &other, &count) || other >= w->threads ||
		    other == thread || count > le32_to_cpu(w->thread[other].commands))
			return wrong("record %u: waits for what never comes", c->event);
	}
	return NULL;
}

static const char *check_thread(struct workload *w, u32 thread, u64 *commands)
{
	const struct wl_thread *t = &w->thread[thread];
	struct wl_command command;
	struct wl_cursor cursor;
	const char *said;
	u32 i;

	if (!within(le64_to_cpu(t->at), le64_to_cpu(t->bytes), w->size) ||
	    le32_to_cpu(t->before) > le32_to_cpu(t->commands) ||
	    le32_to_cpu(t->process) >= w->threads)
		return wrong("thread %u is outside of the file", thread);
	w->processes = max(w->processes, le32_to_cpu(t->process) + 1);
	cursor = wl_commands(w, thread);
	for (i = 0; i < le32_to_cpu(t->commands); i++) {
		if (!wl_next(&cursor, &command))
			return wrong("record %u or the one after it: broken", cursor.event);
		w->removes |= command.op == WL_RMDIR;
		w->pipes |= command.op == WL_PIPE || command.op == WL_PAIR ||
			    command.op == WL_OPEN_FIFO;
		said = check_args(w, &command) ?: check_mapping(&command) ?:
			       check_deps(w, &command, thread);
		if (said)
			return said;
	}
	if (cursor.at != cursor.end)
		return wrong("thread %u has more than its commands", thread);
	*commands += le32_to_cpu(t->commands);
	return NULL;
}

const char *wl_check(struct workload *w, const void *data, u64 size)
{
	const char *said = check_header(w, data, size) ?: check_tree(w) ?: check_layout(w);
	u64 commands = 0;
	u32 i;

	for (i = 0; !said && i < w->threads; i++)
		said = check_thread(w, i, &commands);
	if (!said && commands != w->commands)
		said = "it has another number of commands than it says";
	return said ?: wl_check_order(w);
}

const char *wl_check_all(struct workload *w, const void *data, u64 size)
{
	const struct wl_header *h = data;
	u32 skip = offsetof(struct wl_header, hash) + sizeof(h->hash);
	const char *said = check_header(w, data, size);

	if (said)
		return said;
	if (wl_hash((const u8 *)data + skip, size - skip) != le64_to_cpu(h->hash))
		return "it is damaged: its hash is another";
	return wl_check(w, data, size);
}
