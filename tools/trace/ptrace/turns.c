// SPDX-License-Identifier: GPL-2.0
#include "turns.h"

#include <sys/wait.h>

#include "../../common/vec.h"

void turns_free(struct turns *turns)
{
	free(turns->turn);
}

void turns_resumed(struct turns *turns, struct task *task)
{
	task->resumed = ++turns->resumes;
}

/* A stopped task does nothing until it is let go on. So if it does, it was killed meanwhile. */
static void turns_add(struct turns *turns, const struct turn *turn)
{
	u32 i;

	for (i = 0; i < turns->count && turns->turn[i].tid != turn->tid; i++)
		;
	turns->turn = vec_reserve(turns->turn, &turns->room, i + 1, sizeof(*turns->turn));
	turns->turn[i] = *turn;
	if (i == turns->count)
		turns->count++;
}

bool turns_collect(struct turns *turns)
{
	struct turn turn;

	for (;;) {
		turn.tid = wait4(-1, &turn.status, turns->count ? __WALL | WNOHANG : __WALL,
				 &turn.used);
		if (turn.tid <= 0)
			return turns->count;
		turns_add(turns, &turn);
	}
}

static u64 key_of(const struct tasks *tasks, pid_t tid)
{
	const struct task *task = task_find(tasks, tid);

	return task ? task->resumed : 0;
}

struct turn turns_take(struct turns *turns, const struct tasks *tasks)
{
	u64 least = key_of(tasks, turns->turn[0].tid), key;
	struct turn turn;
	u32 i, at = 0;

	for (i = 1; i < turns->count; i++) {
		key = key_of(tasks, turns->turn[i].tid);
		if (key < least) {
			least = key;
			at = i;
		}
	}
	turn = turns->turn[at];
	turns->turn[at] = turns->turn[--turns->count];
	return turn;
}
