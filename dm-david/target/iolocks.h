/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Locks that are never held over I/O: whoever waits for one would wait for a device, which may be
 * suspended or hang (docs/ARCHITECTURE.md#locks). A kernel with lockdep looks at each bio that a
 * task sends, for whatever reason: does the task hold one of them? Then the kernel warns, once for
 * each lock. Other kernels do nothing.
 */
#ifndef DM_DAVID_IOLOCKS_H
#define DM_DAVID_IOLOCKS_H

#include <linux/lockdep.h>

/*
 * The target's messages run under device-mapper's SRCU, which is there for every target. This tells
 * that a message to this one runs. A message that does I/O takes a mutex for it.
 */
#ifdef CONFIG_LOCKDEP
extern struct lockdep_map iolocks_message;

#define iolocks_begin_message()	lock_map_acquire_read(&iolocks_message)
#define iolocks_end_message()	lock_map_release(&iolocks_message)
#else
#define iolocks_begin_message()	do { } while (0)
#define iolocks_end_message()	do { } while (0)
#endif

/* Look from now on, and no more. Both sleep. Without the trace point nothing is looked at. */
void iolocks_watch(void);
void iolocks_unwatch(void);

#endif
