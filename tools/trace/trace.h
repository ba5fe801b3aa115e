/* SPDX-License-Identifier: GPL-2.0 */
/* david-trace: records what programs do to files, and finishes what was recorded. */
#ifndef TRACE_H
#define TRACE_H

#include "../../dm-david/portable/portable.h"

/* Exit statuses of the program itself; `record` has the command's. */
enum {
	STATUS_OK,
	STATUS_FAILED = 1, /* wrong usage, too */
	STATUS_BAD = 2, /* the trace is broken; what is in front of that was taken */
	STATUS_UNTRACED = 125, /* `record`: the command was not started, or nothing was traced */
};

struct record_options {
	const char *out; /* the trace file */
	const char *disk; /* any file of the traced disk; NULL: the working directory */
	bool share_disk; /* the trace may be on it */
	bool sync; /* calls that tasks wait for each other with, too */
	bool pages; /* of mapped files, too */
	bool layout; /* where files lie, too */
	bool cpu; /* CPU time at each call */
	bool off; /* at first */
	bool fifo; /* the command with real-time priority */
	const pid_t *pids; /* processes to attach to, until 0; or NULL */
	bool by_uid; /* processes of uid */
	unsigned int uid;
	const char *cgroup; /* processes in it and below; or NULL */
	unsigned int segments; /* a ring of so many files, each of so many bytes; 1: one file */
	unsigned long long segment_bytes;
	const char *hold; /* a thread that is held in front of each call (hold.h); or NULL */
	unsigned long long hold_ns;
	unsigned int look; /* descriptors are looked at after one of so many calls; 0: never */
	char **command; /* or NULL */
};

/* How calls are recorded. Each program has one, which is linked into it. */
struct method {
	const char *name;
	/* Returns the command's exit status, as a shell does. */
	int (*record)(const struct record_options *options);
};

extern const struct method method;

/* A trace file as text, a line a record. Returns an exit status. */
int dump(const char *path);

/*
 * A trace file into a new SQLite file. Returns an exit status: STATUS_BAD if the trace is cut
 * short.
 */
int finish(const char *file, const char *database);

#endif
