// SPDX-License-Identifier: GPL-2.0
#include "task.h"

#include "../calls/tracefile.h"
#include "../common/vec.h"

static struct task **task_place(const struct tasks *tasks, pid_t tid)
{
	struct task **place = (struct task **)&tasks->bucket[(unsigned int)tid % TASK_BUCKETS];

	while (*place && (*place)->tid != tid)
		place = &(*place)->next;
	return place;
}

struct task *task_find(const struct tasks *tasks, pid_t tid)
{
	return *task_place(tasks, tid);
}

struct task *task_add(struct tasks *tasks, pid_t tid)
{
	struct task *task = xmalloc(sizeof(*task));
	struct task **place = task_place(tasks, tid);

	*task = (struct task){ .tid = tid, .tgid = tid };
	*place = task;
	tasks->count++;
	return task;
}

void task_remove(struct tasks *tasks, struct task *task)
{
	*task_place(tasks, task->tid) = task->next;
	tasks->count--;
	free(task->blobs);
	free(task);
}

void tasks_each(struct tasks *tasks, void (*each)(struct task *task, void *arg), void *arg)
{
	unsigned int i;

	for (i = 0; i < TASK_BUCKETS; i++) {
		struct task *task = tasks->bucket[i];

		while (task) {
			struct task *next = task->next;

			each(task, arg);
			task = next;
		}
	}
}

void task_blob(struct task *task, u16 kind, const void *data, u32 length)
{
	struct tracefile_blob blob = { kind, min_t(u32, length, TRACEFILE_BLOB_MAX) };
	u32 padded = sizeof(blob) + ((blob.length + 3) & ~3u);

	task->blobs = vec_reserve(task->blobs, &task->blobs_room, task->blobs_used + padded, 1);
	memset(task->blobs + task->blobs_used + padded - 4, 0, 4);
	memcpy(task->blobs + task->blobs_used, &blob, sizeof(blob));
	memcpy(task->blobs + task->blobs_used + sizeof(blob), data, blob.length);
	task->blobs_used += padded;
}
