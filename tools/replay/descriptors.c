// SPDX-License-Identifier: GPL-2.0
#include "descriptors.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../calls/workload.h"

static void *descriptors_room(u64 bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

struct descriptors *descriptors_new(u32 count)
{
	struct descriptors *d = descriptors_room(sizeof(*d));
	pthread_mutexattr_t shared;
	u32 i;

	if (!d)
		return NULL;
	d->count = count;
	d->slot = descriptors_room((count + 1ull) * sizeof(*d->slot));
	d->pipe = descriptors_room((count + 1ull) * sizeof(*d->pipe));
	if (!d->slot || !d->pipe || pthread_mutexattr_init(&shared) ||
	    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) ||
	    pthread_mutex_init(&d->lock, &shared))
		return NULL;
	for (i = 0; i < count; i++)
		d->slot[i].fd = -1;
	return d;
}

static void put(struct descriptor *s, int fd, const struct descriptor *as)
{
	s->pipe = as->pipe;
	s->reads = as->reads;
	s->writes = as->writes;
	__atomic_store_n(&s->left, WL_OPEN_SLOT, __ATOMIC_RELAXED);
	__atomic_store_n(&s->fd, fd, __ATOMIC_RELEASE);
}

void descriptors_put(struct descriptors *d, u64 slot, int fd)
{
	put(&d->slot[slot], fd, &(struct descriptor){});
}

static void put_end(struct descriptors *d, u64 slot, int fd, u64 pipe, u64 flags)
{
	struct descriptor as = {
		.pipe = pipe + 1,
		.reads = (flags & O_ACCMODE) != O_WRONLY,
		.writes = (flags & O_ACCMODE) != O_RDONLY,
	};

	d->pipe[pipe].readers += as.reads;
	d->pipe[pipe].writers += as.writes;
	put(&d->slot[slot], fd, &as);
}

void descriptors_put_end(struct descriptors *d, u64 slot, int fd, u64 pipe, u64 flags)
{
	pthread_mutex_lock(&d->lock);
	put_end(d, slot, fd, pipe, flags);
	pthread_mutex_unlock(&d->lock);
}

static void say_opened(u32 *opens)
{
	__atomic_add_fetch(opens, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, opens, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

u32 *descriptors_open_fifo(struct descriptors *d, u64 slot, int fd, u64 pipe, u64 flags,
			   u32 *value)
{
	struct pipe_ends *p = &d->pipe[pipe];
	u64 mode = flags & O_ACCMODE;
	u32 *word = NULL;

	pthread_mutex_lock(&d->lock);
	put_end(d, slot, fd, pipe, flags);
	if (mode != O_WRONLY)
		say_opened(&p->read_opens);
	if (mode != O_RDONLY)
		say_opened(&p->write_opens);
	if (mode == O_RDONLY && !p->writers)
		word = &p->write_opens;
	else if (mode == O_WRONLY && !p->readers)
		word = &p->read_opens;
	*value = word ? *word : 0;
	pthread_mutex_unlock(&d->lock);
	return flags & O_NONBLOCK ? NULL : word;
}

static s64 close_slot(struct descriptor *s)
{
	int fd = __atomic_exchange_n(&s->fd, -1, __ATOMIC_ACQ_REL);

	if (fd < 0)
		return -EBADF;
	return close(fd) ? -errno : 0;
}

/* Who reads the other end of a socketpair sees that no more comes. */
static void keep(struct descriptors *d, struct pipe_ends *pipe, struct descriptor *s)
{
	if (s->writes)
		shutdown(s->fd, SHUT_WR);
	s->next_kept = pipe->kept;
	pipe->kept = s - d->slot + 1;
}

static s64 end_pipe(struct descriptors *d, struct descriptor *s)
{
	struct pipe_ends *pipe = &d->pipe[s->pipe - 1];
	s64 result = 0;

	pthread_mutex_lock(&d->lock);
	pipe->readers -= s->reads;
	pipe->writers -= s->writes;
	if (s->reads && pipe->writers)
		keep(d, pipe, s);
	else
		result = close_slot(s);
	while (!pipe->writers && pipe->kept) {
		struct descriptor *kept = &d->slot[pipe->kept - 1];

		pipe->kept = kept->next_kept;
		close_slot(kept);
	}
	pthread_mutex_unlock(&d->lock);
	return result;
}

static s64 let_go(struct descriptors *d, u64 slot, s64 change)
{
	struct descriptor *s = &d->slot[slot];

	if (descriptors_fd(d, slot) < 0)
		return -EBADF;
	if (__atomic_add_fetch(&s->left, (s32)change, __ATOMIC_ACQ_REL))
		return 0;
	return s->pipe ? end_pipe(d, s) : close_slot(s);
}

void descriptors_leave(struct descriptors *d, u64 slot)
{
	let_go(d, slot, -1);
}

s64 descriptors_close(struct descriptors *d, u64 slot, u64 others)
{
	return let_go(d, slot, (s64)others - WL_OPEN_SLOT);
}
