// SPDX-License-Identifier: GPL-2.0
#include "calls.h"

#include <fcntl.h>
#include <sys/syscall.h>

#define FIRST_XATTR_AT 463 /* setxattrat; older headers have none */

static const struct call calls[] = {
#define CALL(nr, name, class, effect, args, fds, replay)               \
	[nr] = { #name, CALL_##class,  DOES_##effect,  args, #effect, \
		 CALL_FDS_##fds, REPLAY_##replay },
#include "calls-x86-64.h"
#undef CALL
};

static const struct call32 {
	const char *name;
	const char *like; /* a call of x86-64; NULL: none */
} calls32[] = {
#define LIKE(name) #name
#define NONE NULL
#define CALL32(nr, name, like) [nr] = { #name, like },
#include "calls-i386.h"
#undef CALL32
#undef NONE
#undef LIKE
};

const unsigned int calls_end = sizeof(calls) / sizeof(*calls);

const struct call *call_of(u32 nr)
{
	return nr < calls_end && calls[nr].name ? &calls[nr] : NULL;
}

u32 call_number(const struct call *call)
{
	return call - calls;
}

const char *call32_name(u32 nr)
{
	return nr < ARRAY_SIZE(calls32) ? calls32[nr].name : NULL;
}

const struct call *call32_like(u32 nr)
{
	const char *like = call32_name(nr) ? calls32[nr].like : NULL;
	u32 i;

	for (i = 0; like && i < calls_end; i++) {
		if (calls[i].name && !strcmp(calls[i].name, like))
			return &calls[i];
	}
	return NULL;
}

int call_arg(const struct call *call, char letter)
{
	const char *at = letter ? strchr(call->args, letter) : NULL;

	return at ? at - call->args : -1;
}

bool call_removes_directory(const struct call *call, u32 nr, const u64 *args)
{
	return call->effect == DOES_RMDIR || (nr == SYS_unlinkat && args[2] & AT_REMOVEDIR);
}

bool call_appends(u32 nr, const u64 *args, u32 flags)
{
	u64 own = nr == SYS_pwritev2 ? args[5] : 0;

	return !(own & RWF_NOAPPEND_FLAG) && (flags & O_APPEND || own & RWF_APPEND_FLAG);
}

bool call_wants_name(const struct call *call)
{
	switch (call->effect) {
	case DOES_OPEN:
	case DOES_OPENAT2:
	case DOES_LOOK ... DOES_STATX:
	case DOES_READLINK:
	case DOES_UNLINK:
	case DOES_RMDIR:
	case DOES_TRUNCATE:
	case DOES_CHDIR:
	case DOES_CHROOT:
		return true;
	default:
		return false;
	}
}

bool call_closes_at_exec(const struct call *call, const u64 *args)
{
	if (call->fds >= CALL_FDS_IF(0, 0))
		return args[(call->fds >> 5) - 1] >> (call->fds & 31) & 1;
	return call->fds == CALL_FDS_CLOSED;
}

bool call_xattr_at(u32 nr)
{
	return nr >= FIRST_XATTR_AT && nr < FIRST_XATTR_AT + 4;
}

enum call_xattr call_xattr(u32 nr, unsigned int *name)
{
	static const enum call_xattr at[] = { XATTR_SET, XATTR_GET, XATTR_LIST, XATTR_REMOVE };

	*name = call_xattr_at(nr) ? 3 : 1;
	if (call_xattr_at(nr))
		return at[nr - FIRST_XATTR_AT];
	switch (nr) {
	case SYS_setxattr ... SYS_fsetxattr:
		return XATTR_SET;
	case SYS_getxattr ... SYS_fgetxattr:
		return XATTR_GET;
	case SYS_listxattr ... SYS_flistxattr:
		return XATTR_LIST;
	case SYS_removexattr ... SYS_fremovexattr:
		return XATTR_REMOVE;
	default:
		return XATTR_NONE;
	}
}

static void print_fds(u8 fds)
{
	static const char *const words[] = { "none", "kept", "closed", "how", "command" };

	if (fds < CALL_FDS_IF(0, 0))
		printf("%s", words[fds]);
	else
		printf("closed-if:%u:%#x", (fds >> 5) - 1, 1u << (fds & 31));
}

void calls_print(void)
{
	static const char *const classes[] = { "never", "files", "sync", "pages" };
	static const char *const replays[] = { "done", "order", "out" };
	unsigned int nr;

	for (nr = 0; nr < calls_end; nr++) {
		const struct call *call = &calls[nr];

		if (!call->name)
			continue;
		printf("%u %s %s %s %s ", nr, call->name, classes[call->class],
		       *call->args ? call->args : "-", call->does);
		print_fds(call->fds);
		printf(" %s\n", replays[call->replay]);
	}
}

void calls32_print(void)
{
	unsigned int nr;

	for (nr = 0; nr < ARRAY_SIZE(calls32); nr++) {
		const struct call *like = call32_like(nr);

		if (calls32[nr].name)
			printf("%u %s %s\n", nr, calls32[nr].name, like ? like->name : "-");
	}
}
