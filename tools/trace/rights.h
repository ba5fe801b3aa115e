/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Descriptors that processes pass to each other: in messages on sockets (SCM_RIGHTS), or by taking
 * one of a process that they hold a descriptor of (pidfd_getfd). A record carries those that a call
 * has sent, and what the kernel says of those that it has received.
 */
#ifndef TRACE_RIGHTS_H
#define TRACE_RIGHTS_H

#include "task.h"

/* At the call's entry, and at its exit. */
void rights_entry(struct task *task);
void rights_exit(struct task *task, s64 result);

#endif
