/* SPDX-License-Identifier: GPL-2.0 */
/* Which processes are to be traced, when it is not a command: those of a user, or of a cgroup. */
#ifndef TRACE_SCOPE_H
#define TRACE_SCOPE_H

#include <sys/types.h>

#include "trace.h"

/* The directory of --cgroup: as given, or below where cgroup2 is mounted. Or the end. */
const char *scope_cgroup(const char *name);

/* Where cgroup2 is mounted; empty: nowhere. */
const char *scope_cgroup_top(void);

/* Is there a scope, or are processes named? */
bool scope_is_open(const struct record_options *options);

/* Is that process, by its user or its cgroup, to be traced? Not the tracer and its ancestors. */
bool scope_wants(const struct record_options *options, pid_t pid);

/* Calls @each with every process that there is and that is wanted. */
void scope_each(const struct record_options *options, void (*each)(void *arg, pid_t pid),
		void *arg);

/* A socket that tells of processes that begin, or -1: the kernel or the rights do not have it. */
int scope_news_open(void);

/* A process that it tells of; 0: no more at present. */
pid_t scope_news(int news);

#endif
