// SPDX-License-Identifier: GPL-2.0
#include "touch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../calls/workload.h"

#define PAGE 4096u

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all mappings' members */
static _Thread_local sigjmp_buf *landing; /* of a thread that touches */
static _Thread_local u64 touched; /* bytes: what a jump leaves alone */

static void on_sigbus(int signal_number)
{
	if (landing)
		siglongjmp(*landing, 1);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

void touch_begin(void)
{
	/* The jump leaves the handler: the signal is not to stay blocked. */
	struct sigaction action = { .sa_handler = on_sigbus, .sa_flags = SA_NODEFER };

	sigaction(SIGBUS, &action, NULL);
}

/* With the lock held. */
static void take_away(struct mapping *m)
{
	munmap(m->at, m->length);
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct mapping){};
}

s64 mapping_make(struct mapping *m, int fd, u64 length, u64 offset, u64 flags, bool keep)
{
	bool shared = flags & WL_MAP_SHARED, written = flags & WL_MAP_WRITTEN;
	s64 result = 0;
	void *at;

	pthread_mutex_lock(&lock);
	at = m->at ? MAP_FAILED
		   : mmap(NULL, length, written ? PROT_READ | PROT_WRITE : PROT_READ,
			  shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE, fd, offset);
	if (m->at)
		result = -EBUSY;
	else if (at == MAP_FAILED)
		result = -errno;
	else
		*m = (struct mapping){
			.at = at,
			.length = (length + PAGE - 1) & ~(u64)(PAGE - 1),
			.offset = offset,
			.shared = shared,
			.written = written,
			.fd = keep ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1,
		};
	pthread_mutex_unlock(&lock);
	return result;
}

s64 mapping_end(struct mapping *m)
{
	s64 result = 0;

	pthread_mutex_lock(&lock);
	if (!m->at || m->ended)
		result = -EBADF;
	else if (m->users)
		m->ended = true;
	else
		take_away(m);
	pthread_mutex_unlock(&lock);
	return result;
}

/* Until leave() it stays where it is. 0, or -errno. */
static s64 enter(struct mapping *m, u64 at, u64 length)
{
	s64 result = 0;

	pthread_mutex_lock(&lock);
	if (!m->at || m->ended)
		result = -EBADF;
	else if (at > m->length || length > m->length - at)
		result = -EINVAL;
	else
		m->users++;
	pthread_mutex_unlock(&lock);
	return result;
}

static void leave(struct mapping *m)
{
	pthread_mutex_lock(&lock);
	if (!--m->users && m->ended)
		take_away(m);
	pthread_mutex_unlock(&lock);
}

/* The first byte of each page. What is written is never looked at. */
static s64 touch_pages(u8 *from, u64 length, bool write)
{
	sigjmp_buf here;

	touched = 0;
	if (!sigsetjmp(here, 0)) {
		landing = &here;
		for (; touched < length; touched += PAGE) {
			if (write)
				__atomic_store_n(&from[touched], 1, __ATOMIC_SEQ_CST);
			else
				__atomic_load_n(&from[touched], __ATOMIC_SEQ_CST);
		}
	}
	landing = NULL;
	if (!touched && length)
		return -EFAULT;
	return min(touched, length);
}

s64 mapping_touch(struct mapping *m, u64 at, u64 length, bool write, bool again)
{
	s64 result = enter(m, at, length);

	if (result)
		return result;
	if (again && m->fd >= 0)
		posix_fadvise(m->fd, m->offset + at, length, POSIX_FADV_DONTNEED);
	result = write && !m->written ? -EACCES : touch_pages(m->at + at, length, write);
	leave(m);
	return result;
}

s64 mapping_sync(struct mapping *m, u64 at, u64 length, u64 flags)
{
	s64 result = enter(m, at, length);

	if (result)
		return result;
	result = msync(m->at + at, length, flags & (MS_ASYNC | MS_SYNC)) ? -errno : 0;
	leave(m);
	return result;
}

s64 mapping_advise(struct mapping *m, u64 at, u64 length, u64 advice)
{
	s64 result;

	/* Nothing that changes a file, or what the mapping is. */
	if (advice > MADV_DONTNEED && advice != MADV_HUGEPAGE && advice != MADV_NOHUGEPAGE &&
	    (advice < 20 || advice > 22)) /* cold, page out, populate for reading */
		return -EINVAL;
	result = enter(m, at, length);
	if (result)
		return result;
	result = madvise(m->at + at, length, advice) ? -errno : 0;
	leave(m);
	return result;
}
