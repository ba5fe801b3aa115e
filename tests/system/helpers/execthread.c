// SPDX-License-Identifier: GPL-2.0
/*
 * A program to trace: its first thread changes the working directory, its second one runs the
 * program of the argument, a shell, which makes a file there by a relative name.
 */
#include <pthread.h>
#include <unistd.h>

#include "need.h"

static void *run(void *shell)
{
	execl(shell, "sh", "-c", "echo x >made; exec 5<>other; echo y >&5", NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	need(argc > 1 && !chdir("below"), "below");
	need(!pthread_create(&thread, NULL, run, argv[1]), "thread");
	for (;;)
		pause();
}
