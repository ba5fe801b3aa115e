/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Descriptors that a message passes on, and those that come from others: as they are when they have
 * just come. Of a message, those of its first header that has some. A part of trace.bpf.c.
 */
#define SOL_SOCKET 1
#define SCM_RIGHTS 1
#define CMSG_CLOEXEC 0x40000000 /* MSG_ */
#define MSG_PEEK 2
#define O_CLOEXEC 02000000
#define HEADERS_MAX 4
#define SENT_MAX 253 /* the kernel's own limit: SCM_MAX_FD */
#define RECEIVED_MAX 128 /* a power of two; more are counted as lost */
#define RIGHT sizeof(struct tracefile_right)

struct control_head { /* struct cmsghdr */
	u64 length;
	u32 level;
	u32 type;
};

struct coming {
	u64 at; /* the descriptors' numbers; 0: the one is @fd */
	u32 fd;
	u32 from; /* which number it has there, if it is another process's */
	u32 cloexec;
	u32 peeked;
	u32 begin; /* of the rights, in the record */
};

/* Where each one goes follows from @i alone: of a sum the verifier would look at each value. */
static long add_right(u32 i, struct coming *c)
{
	u32 fd = c->fd, at = (c->begin & 4095) + (i & (RECEIVED_MAX - 1)) * RIGHT;
	struct tracefile_right *right;
	const struct file *file;
	u8 *to = room();

	if (!to || (c->at && bpf_probe_read_user(&fd, sizeof(fd), (void *)(c->at + 4 * i))))
		return 1;
	right = (struct tracefile_right *)(to + at);
	__builtin_memset(right, 0, sizeof(*right));
	right->fd = fd;
	right->from = c->from;
	/* Who has sent it may be traced: the finisher looks for it. */
	right->sent = 1;
	right->peeked = c->peeked;
	right->flags = c->cloexec;
	file = file_of(fd);
	if (!file || !attr_of(file, &right->attr))
		return 0;
	right->flags |= BPF_CORE_READ(file, f_flags) & ~O_CLOEXEC;
	right->position = BPF_CORE_READ(file, f_pos);
	return 0;
}

static __always_inline u32 add_rights(u8 *to, u32 used, struct coming *c, u32 many)
{
	if (many > RECEIVED_MAX) {
		count(LOST);
		many = RECEIVED_MAX;
	}
	c->begin = used + sizeof(struct tracefile_blob);
	bpf_loop(many, add_right, c, 0);
	return close_blob(to, used, TRACEFILE_RIGHTS, many * RIGHT);
}

/* Where a message has descriptors, and how many: @at and the result. 0: it has none. */
static __always_inline u32 find_control(u64 message, u64 *at)
{
	u64 where[2], end; /* msg_control, msg_controllen */
	struct control_head head;
	int i;

	if (bpf_probe_read_user(where, sizeof(where), (void *)(message + 32)))
		return 0;
	end = where[0] + where[1];
	for (i = 0; i < HEADERS_MAX && where[0] + sizeof(head) <= end; i++) {
		if (bpf_probe_read_user(&head, sizeof(head), (void *)where[0]) ||
		    head.length < sizeof(head))
			return 0;
		*at = where[0] + sizeof(head);
		if (head.level == SOL_SOCKET && head.type == SCM_RIGHTS)
			return (u32)(head.length - sizeof(head)) / 4;
		where[0] += (head.length + 7) & ~7ull;
	}
	return 0;
}

/* As total_of(). */
__noinline u32 add_received(u32 used, u64 message, u64 flags)
{
	struct coming c = { .cloexec = flags & CMSG_CLOEXEC ? O_CLOEXEC : 0,
			    .peeked = flags & MSG_PEEK };
	u32 many = find_control(message, &c.at);
	u8 *to = room();

	return to && many ? add_rights(to, used & 4095, &c, many) : used;
}

__noinline u32 add_sent(u32 used, u64 message)
{
	u64 at = 0;
	u32 many = find_control(message, &at), length;
	u8 *to = room();

	used &= 4095;
	if (many > SENT_MAX)
		many = SENT_MAX;
	length = many * sizeof(u32);
	if (!to || !many ||
	    bpf_probe_read_user(to + used + sizeof(struct tracefile_blob), length, (void *)at))
		return used;
	return close_blob(to, used, TRACEFILE_SENT, length);
}

/* By pidfd_getfd(). Nobody has sent it: it is not waited for, as if it were to come again. */
__noinline u32 add_taken(u32 used, u32 fd, u32 from)
{
	struct coming c = { .fd = fd, .from = from, .cloexec = O_CLOEXEC, .peeked = 1 };
	u8 *to = room();

	return to ? add_rights(to, used & 4095, &c, 1) : used;
}

/* As total_of(). A call of these has no other blobs. */
__noinline u32 add_passed(u32 used, u32 effect, u32 result, const struct state *state)
{
	if (!state)
		return used;
	switch (effect) {
	case PLAN_SENDS:
		return add_sent(used, state->args[1]);
	case PLAN_RECEIVES:
		return add_received(used, state->args[1], state->args[2]);
	default:
		return add_taken(used, result, state->args[1]);
	}
}
