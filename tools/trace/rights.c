// SPDX-License-Identifier: GPL-2.0
#include "rights.h"

#include <sys/socket.h>
#include <sys/syscall.h>

#include "../calls/tracefile.h"
#include "../common/alloc.h"
#include "../common/vec.h"
#include "capture.h"

#define CONTROL_MAX 8192u /* bytes of a message; the kernel passes 253 descriptors at once */
#define MESSAGES_MAX 1024u /* of a call: UIO_MAXIOV */
#define RIGHTS_MAX 800u /* of a call: what fits into a blob */
#define PIDFD 4 /* SCM_PIDFD, younger than the oldest headers */

/* What has been sent and is not received yet, whatever process has it then. */
struct sent {
	u64 dev;
	u64 ino;
	struct sent *next;
};

static struct sent *under_way;

static void sent_add(const struct tracefile_attr *attr)
{
	struct sent *sent = xmalloc(sizeof(*sent));

	*sent = (struct sent){ attr->dev, attr->ino, under_way };
	under_way = sent;
}

static bool sent_take(const struct tracefile_attr *attr, bool peeked)
{
	struct sent **place = &under_way, *sent;

	while (*place && ((*place)->dev != attr->dev || (*place)->ino != attr->ino))
		place = &(*place)->next;
	sent = *place;
	if (!sent)
		return false;
	if (peeked)
		return true;
	*place = sent->next;
	free(sent);
	return true;
}

/* Descriptors of a call's messages, as numbers. */
struct numbers {
	u32 fd[RIGHTS_MAX];
	u32 count;
};

/* Of a program of 32 bits. */
struct narrow_message {
	u32 name;
	u32 name_length;
	u32 parts;
	u32 part_count;
	u32 control;
	u32 control_length;
	u32 flags;
};

struct narrow_head {
	u32 length;
	s32 level;
	s32 type;
};

static void get_head(struct cmsghdr *head, const u8 *at, bool narrow)
{
	struct narrow_head half;

	if (!narrow) {
		memcpy(head, at, sizeof(*head));
		return;
	}
	memcpy(&half, at, sizeof(half));
	*head = (struct cmsghdr){ .cmsg_len = half.length,
				  .cmsg_level = half.level,
				  .cmsg_type = half.type };
}

static void add_control(struct numbers *n, const u8 *control, size_t length, bool narrow)
{
	size_t size = narrow ? sizeof(struct narrow_head) : sizeof(struct cmsghdr);
	size_t at, end, fd, align = narrow ? sizeof(u32) : sizeof(u64);
	struct cmsghdr head;

	for (at = 0; at + size <= length; at += (head.cmsg_len + align - 1) & ~(align - 1)) {
		get_head(&head, control + at, narrow);
		if (head.cmsg_len < size)
			return;
		/* What a program says of it nobody has looked at yet. */
		head.cmsg_len = min_t(size_t, head.cmsg_len, length - at);
		end = at + head.cmsg_len;
		if (head.cmsg_level != SOL_SOCKET ||
		    (head.cmsg_type != SCM_RIGHTS && head.cmsg_type != PIDFD))
			continue;
		for (fd = at + size; fd + sizeof(u32) <= end; fd += sizeof(u32)) {
			if (n->count < RIGHTS_MAX)
				memcpy(&n->fd[n->count++], control + fd, sizeof(u32));
		}
	}
}

static void add_message(struct numbers *n, const struct task *task, u64 at)
{
	u8 control[CONTROL_MAX];
	struct narrow_message half;
	struct msghdr message;
	u64 from, length;

	if (task->narrow) {
		if (peek_memory(task->tid, at, &half, sizeof(half)) < sizeof(half))
			return;
		from = half.control;
		length = half.control_length;
	} else {
		if (peek_memory(task->tid, at, &message, sizeof(message)) < sizeof(message))
			return;
		from = (u64)message.msg_control;
		length = message.msg_controllen;
	}
	if (!from || !length)
		return;
	length = peek_memory(task->tid, from, control, min_t(size_t, length, sizeof(control)));
	add_control(n, control, length, task->narrow);
}

static void add_messages(struct numbers *n, const struct task *task, u64 count)
{
	u64 i;

	for (i = 0; i < min_t(u64, count, MESSAGES_MAX); i++)
		add_message(n, task, task->call.args[1] + i * sizeof(struct mmsghdr));
}

void rights_entry(struct task *task)
{
	struct numbers n = {};
	struct tracefile_attr attr;
	char path[64];
	u32 i;

	if (task->call.nr == SYS_sendmsg)
		add_message(&n, task, task->call.args[1]);
	else if (task->call.nr == SYS_sendmmsg)
		add_messages(&n, task, task->call.args[2]);
	if (!n.count)
		return;
	for (i = 0; i < n.count; i++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", task->tid, n.fd[i]);
		if (capture_attr(path, &attr))
			sent_add(&attr);
	}
	task_blob(task, TRACEFILE_SENT, n.fd, n.count * sizeof(*n.fd));
}

/* A call that has sent nothing: it is not under way. */
static void take_back(struct task *task)
{
	struct numbers n = {};
	struct tracefile_attr attr;
	char path[64];
	u32 i;

	if (task->call.nr == SYS_sendmsg)
		add_message(&n, task, task->call.args[1]);
	else
		add_messages(&n, task, task->call.args[2]);
	for (i = 0; i < n.count; i++) {
		snprintf(path, sizeof(path), "/proc/%d/fd/%u", task->tid, n.fd[i]);
		if (capture_attr(path, &attr))
			sent_take(&attr, false);
	}
}

static bool received(struct tracefile_right *right, const struct task *task, u32 fd)
{
	struct tracefile_attr attr;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%u", task->tid, fd);
	if (!capture_attr(path, &attr))
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%u", task->tid, fd);
	*right = (struct tracefile_right){
		.fd = fd,
		.flags = capture_number(path, "flags:", 8),
		.position = capture_number(path, "pos:", 10),
		.attr = attr,
	};
	return true;
}

static void get_received(struct task *task, const struct numbers *n, bool peeked)
{
	static struct tracefile_right rights[RIGHTS_MAX];
	u32 i, count = 0;

	for (i = 0; i < n->count; i++) {
		struct tracefile_right *right = &rights[count];

		if (!received(right, task, n->fd[i]))
			continue;
		right->sent = sent_take(&right->attr, peeked);
		right->peeked = peeked;
		count++;
	}
	if (count)
		task_blob(task, TRACEFILE_RIGHTS, rights, count * sizeof(*rights));
}

static void get_taken(struct task *task, s64 fd)
{
	struct tracefile_right right;
	char path[64];

	if (!received(&right, task, fd))
		return;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", task->tid, (int)task->call.args[0]);
	right.pid = capture_number(path, "Pid:", 10);
	right.from = task->call.args[1];
	task_blob(task, TRACEFILE_RIGHTS, &right, sizeof(right));
}

void rights_exit(struct task *task, s64 result)
{
	struct numbers n = {};

	switch (task->call.nr) {
	case SYS_sendmsg:
	case SYS_sendmmsg:
		if (result < 0)
			take_back(task);
		break;
	case SYS_recvmsg:
		if (result < 0)
			break;
		add_message(&n, task, task->call.args[1]);
		get_received(task, &n, task->call.args[2] & MSG_PEEK);
		break;
	case SYS_recvmmsg:
		if (result < 0)
			break;
		add_messages(&n, task, result);
		get_received(task, &n, task->call.args[3] & MSG_PEEK);
		break;
	case SYS_pidfd_getfd:
		if (result >= 0)
			get_taken(task, result);
		break;
	}
}
