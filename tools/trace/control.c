// SPDX-License-Identifier: GPL-2.0
#include "control.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "../common/alloc.h"

/* Interrupts wait4(); its own default action is none. */
#define KICK SIGURG
#define KICK_NS 5000000

static void on_kick(int signal)
{
}

/* A signal as what it asks for. */
static u32 asked_by(struct control *c, u32 signal)
{
	switch (signal) {
	case SIGUSR1:
		return ASKED_ON;
	case SIGUSR2:
		return ASKED_OFF;
	default:
		c->signal = signal;
		return ASKED_END;
	}
}

static u32 control_listen(struct control *c)
{
	struct pollfd fds[2] = { { c->signals, POLLIN, 0 }, { c->news, POLLIN, 0 } };
	struct signalfd_siginfo info;
	int ready = poll(fds, c->news < 0 ? 1 : 2, c->interval);
	u32 asked = ready ? 0 : ASKED_SCAN;

	if (ready > 0 && fds[0].revents & POLLIN &&
	    read(c->signals, &info, sizeof(info)) == sizeof(info))
		asked |= asked_by(c, info.ssi_signo);
	if (ready > 0 && fds[1].revents)
		asked |= ASKED_NEWS;
	return asked;
}

/* The tracer may be about to wait, and miss it: so again, until it has been heard. */
static void tell(struct control *c, u32 asked)
{
	struct timespec until;

	__atomic_or_fetch(&c->asked, asked, __ATOMIC_SEQ_CST);
	do {
		pthread_kill(c->tracer, KICK);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += KICK_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
	} while (sem_timedwait(&c->taken, &until));
}

static void *control_thread(void *arg)
{
	struct control *c = arg;

	for (;;) {
		u32 asked = control_listen(c);

		if (asked)
			tell(c, asked);
	}
	return NULL;
}

static bool is_ignored(int signal)
{
	struct sigaction action;

	return !sigaction(signal, NULL, &action) && action.sa_handler == SIG_IGN;
}

void control_start(struct control *c, int news, int interval)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_handler = on_kick };
	pthread_t thread;
	unsigned int i;
	sigset_t set;

	sigemptyset(&set);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		/* nohup has it ignored; a blocked one would come all the same. */
		if (signals[i] != SIGHUP || !is_ignored(SIGHUP))
			sigaddset(&set, signals[i]);
	}
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	c->tracer = pthread_self();
	c->signals = signalfd(-1, &set, SFD_CLOEXEC);
	c->news = news;
	c->interval = interval;
	sem_init(&c->taken, 0, 0);
	sigaction(KICK, &action, NULL);
	if (c->signals < 0 || pthread_create(&thread, NULL, control_thread, c))
		die("no thread: %s", strerror(errno));
}

u32 control_take(struct control *c)
{
	u32 asked = 0;

	if (__atomic_load_n(&c->asked, __ATOMIC_RELAXED))
		asked = __atomic_exchange_n(&c->asked, 0, __ATOMIC_SEQ_CST);
	if (asked)
		sem_post(&c->taken);
	return asked;
}

bool control_lock(int fd, int byte, bool locked)
{
	struct flock lock = {
		.l_type = locked ? F_WRLCK : F_UNLCK,
		.l_whence = SEEK_SET,
		.l_start = byte,
		.l_len = 1,
	};

	return !fcntl(fd, F_SETLK, &lock);
}
