// SPDX-License-Identifier: GPL-2.0
/*
 * Extended attributes. What a call has found, and no call has set, was there before: it is set in
 * front of the first call that has found it. The kernel keeps those of the namespaces `security`
 * and `trusted` for itself, a security module and root: a replay sets none of them.
 */
#include <errno.h>
#include <sys/xattr.h>

#include "../common/alloc.h"
#include "../common/vec.h"
#include "making.h"

#define XATTR_ROOM_MAX 0x10000u /* XATTR_SIZE_MAX */

enum known {
	KNOWN_NOT,
	KNOWN_NAME, /* a call has found it, and not what it says */
	KNOWN_SIZE,
	KNOWN_VALUE,
};

struct asked {
	enum call_xattr does;
	u32 size;
	u32 flags;
	const char *name; /* NULL: the trace does not say it */
	const u8 *value; /* NULL: nor this */
	u32 length;
};

static struct asked xattr_asked(const struct compiler *c)
{
	const struct tracefile_record *r = c->making.item->record;
	const struct tracefile_xattr *x;
	unsigned int at;
	struct asked a = { .does = call_xattr(r->nr, &at) };
	u32 length;

	a.value = tracefile_find(r, TRACEFILE_VALUE, 0, &a.length);
	x = tracefile_find(r, TRACEFILE_XATTR, sizeof(*x) + 2, &length);
	if (!x || x->name[length - sizeof(*x) - 1])
		return a;
	a.name = x->name;
	a.size = x->size;
	a.flags = x->flags;
	return a;
}

/* The kernel's own: whether they are there, and who may set them, is not a file's alone. */
static bool is_kernels(const char *name)
{
	return strncmp(name, "user.", 5) && strncmp(name, "system.posix_acl_", 17);
}

static u64 file_key(const struct compiler *c)
{
	const struct making *g = &c->making;

	return g->about.file ? (uintptr_t)g->about.file : (uintptr_t)g->first.node;
}

static u64 *known_of(struct compiler *c, const char *name)
{
	return map_at(&c->xattrs, map_hash(file_key(c) * HASH_GOLDEN, name, strlen(name)));
}

static u64 digits_of(struct compiler *c, const u8 *value, u32 length)
{
	char *text = xmalloc(2ull * length + 1);
	u64 at;
	u32 i;

	text[0] = 0;
	for (i = 0; i < length; i++)
		sprintf(text + 2ull * i, "%02x", value[i]);
	at = texts_add(&c->output.texts, text);
	free(text);
	return at;
}

/* The command's first argument, and behind its last one whether it is about a link itself. */
static bool on_file(struct compiler *c, u8 by_name, u8 by_fd, unsigned int last)
{
	struct making *g = &c->making;
	const struct ofd *ofd = g->about.ofd;

	if (!g->first.given) {
		if (call_xattr_at(choose_nr(c))) /* of the descriptor itself */
			ofd = world_ofd(g->about.thread, choose_arg(c, 0));
		return choose_on_fd(c, by_fd, ofd, ACCESS_READ);
	}
	if (!choose_on_path(c, by_name, &g->first))
		return false;
	g->args[last] = !effect_follows(&g->about, 'p');
	return true;
}

/* It was there before, as far as @how says. What is not known of it is zeroes. */
static void make_before(struct compiler *c, const char *name, enum known how, const u8 *value,
			u32 length)
{
	struct making *g = &c->making;
	u64 *known = known_of(c, name), args[WL_ARGS] = {};
	u8 *made = NULL;

	if (*known >= how || is_kernels(name))
		return;
	*known = how;
	*map_at(&c->xattrs, file_key(c)) = 1;
	if (!value) {
		made = xcalloc(length + 1ull, 1);
		value = made;
	}
	if (!on_file(c, WL_SETXATTR, WL_FSETXATTR, 4))
		goto out;
	memcpy(args, g->args, sizeof(args));
	args[1] = texts_add(&c->output.texts, name);
	args[2] = digits_of(c, value, length);
	args[3] = 0;
	command_make_up(c, g->op, 0, args);
out:
	free(made);
}

static void set(struct compiler *c, const struct asked *a)
{
	struct making *g = &c->making;

	if (g->result >= 0) {
		*known_of(c, a->name) = KNOWN_VALUE;
		*map_at(&c->xattrs, file_key(c)) = 1;
	}
	if (g->result == -EEXIST)
		make_before(c, a->name, KNOWN_NAME, NULL, 0);
	if (!on_file(c, WL_SETXATTR, WL_FSETXATTR, 4))
		return;
	g->args[1] = texts_add(&c->output.texts, a->name);
	g->args[2] = digits_of(c, a->value, a->length);
	g->args[3] = a->flags & (XATTR_CREATE | XATTR_REPLACE);
}

static void get(struct compiler *c, const struct asked *a)
{
	struct making *g = &c->making;

	if (g->result >= 0)
		make_before(c, a->name, a->value ? KNOWN_VALUE : KNOWN_SIZE, a->value,
			    a->value ? a->length : g->result);
	else if (g->result == -ERANGE)
		make_before(c, a->name, KNOWN_NAME, NULL, a->size + 1);
	if (!on_file(c, WL_GETXATTR, WL_FGETXATTR, 3))
		return;
	g->args[1] = texts_add(&c->output.texts, a->name);
	g->args[2] = min_t(u32, a->size, XATTR_ROOM_MAX);
}

static void remove_it(struct compiler *c, const struct asked *a)
{
	struct making *g = &c->making;

	if (g->result >= 0) {
		make_before(c, a->name, KNOWN_NAME, NULL, 0);
		*known_of(c, a->name) = KNOWN_NOT;
	}
	if (on_file(c, WL_REMOVEXATTR, WL_FREMOVEXATTR, 2))
		g->args[1] = texts_add(&c->output.texts, a->name);
}

/* The names were there. What they say another call may have found. */
static void list(struct compiler *c, const struct asked *a)
{
	struct making *g = &c->making;
	const char *name = (const char *)a->value;
	u32 at = 0, length;

	for (; name && at < a->length; at += length + 1) {
		length = strnlen(name + at, a->length - at);
		if (at + length < a->length)
			make_before(c, name + at, KNOWN_NAME, NULL, 0);
	}
	on_file(c, WL_LISTXATTR, WL_FLISTXATTR, 1);
	/* A replay has room for all; of what was there before no call has said the names yet. */
	if (g->result == -ERANGE || (g->result > 0 && !*map_at(&c->xattrs, file_key(c))))
		g->flags |= WL_NO_RESULT;
}

static void leave_alone(struct compiler *c, const char *name)
{
	u64 *place = map_at(&c->xattrs_left, map_hash(HASH_GOLDEN, name, strlen(name)) >> 1);

	if (!*place) {
		c->xattr_left = vec_reserve(c->xattr_left, &c->xattr_left_room,
					    c->xattr_lefts + 1ull, sizeof(*c->xattr_left));
		c->xattr_left[c->xattr_lefts] = (struct xattr_left){ strdup(name), 0 };
		*place = ++c->xattr_lefts;
	}
	c->xattr_left[*place - 1].calls++;
	choose_none(c, BECAUSE_FORBIDDEN);
}

void xattrs_free(struct compiler *c)
{
	u32 i;

	for (i = 0; i < c->xattr_lefts; i++)
		free(c->xattr_left[i].name);
	free(c->xattr_left);
	map_free(&c->xattrs_left);
	map_free(&c->xattrs);
}

/* A value that is too long, or arguments that make no sense. */
static bool is_refused(const struct making *g)
{
	return g->result == -E2BIG || g->result == -EINVAL || g->result == -EFAULT;
}

bool xattrs_choose(struct compiler *c)
{
	struct asked a = xattr_asked(c);
	struct making *g = &c->making;
	bool changes = a.does == XATTR_SET || a.does == XATTR_REMOVE;

	if (a.does == XATTR_NONE)
		return false;
	choose_use_file(c, changes ? ACCESS_WRITE : ACCESS_READ);
	if (g->first.given && g->first.kernel) {
		choose_none(c, BECAUSE_KERNEL);
		return true;
	}
	if (a.does == XATTR_LIST) {
		list(c, &a);
		return true;
	}
	if (is_refused(g)) {
		choose_none(c, BECAUSE_ORDER);
		return true;
	}
	if (!a.name || (a.does == XATTR_SET && (!a.value || a.length != a.size))) {
		choose_none(c, BECAUSE_NOT_DONE);
		return true;
	}
	/* That it is not there a replay finds as well. */
	if (is_kernels(a.name) && !(a.does == XATTR_GET && g->result == -ENODATA)) {
		leave_alone(c, a.name);
		return true;
	}
	if (a.does == XATTR_SET)
		set(c, &a);
	else if (a.does == XATTR_GET)
		get(c, &a);
	else
		remove_it(c, &a);
	return true;
}
