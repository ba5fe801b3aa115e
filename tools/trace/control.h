/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is asked of the tracer while it waits for its tasks: a thread waits for signals and for
 * news of processes, and interrupts the tracer until it has listened. So nothing is lost between
 * a look and a wait, and a traced call costs nothing more.
 *
 * Whether a tracer lives, and whether it records, others see at locks on its file: byte 0 is
 * locked while it lives, byte 1 while it records. The lock's owner is who takes the signals.
 */
#ifndef TRACE_CONTROL_H
#define TRACE_CONTROL_H

#include <pthread.h>
#include <semaphore.h>

#include "../../dm-david/portable/portable.h"

enum asked {
	ASKED_END = 0x1, /* SIGINT, SIGQUIT, SIGTERM, SIGHUP */
	ASKED_ON = 0x2, /* SIGUSR1 */
	ASKED_OFF = 0x4, /* SIGUSR2 */
	ASKED_NEWS = 0x8, /* processes may have begun */
	ASKED_SCAN = 0x10, /* some time has passed since the last scan */
};

struct control {
	pthread_t tracer;
	int signals; /* a signalfd */
	int news; /* a socket with events of processes, or -1 */
	int interval; /* between scans, ms; -1: none */
	u32 asked; /* atomic: enum asked */
	int signal; /* the last that asked for the end */
	sem_t taken;
};

/* Signals are blocked from here on. */
void control_start(struct control *c, int news, int interval);

/* What has been asked since the last time; 0: nothing. */
u32 control_take(struct control *c);

/* Byte 0 or 1 of the trace. False: someone else has it. */
bool control_lock(int fd, int byte, bool locked);

#endif
