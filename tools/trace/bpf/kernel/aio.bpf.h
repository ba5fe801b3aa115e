/* SPDX-License-Identifier: GPL-2.0 */
/* Linux AIO: what a call submits, and what has ended. A part of trace.bpf.c. */

struct submitting {
	u64 at; /* pointers to what is submitted */
	u32 used;
};

static long add_iocb(u32 i, struct submitting *s)
{
	u32 used = s->used;
	struct tracefile_iocb *one;
	struct iocb *iocb;
	u8 *to = room();
	u64 address;

	if (!to || used > SCRATCH - 256)
		return 1;
	iocb = (struct iocb *)(to + SCRATCH);
	if (bpf_probe_read_user(&address, sizeof(address), (void *)(s->at + 8 * i)) ||
	    bpf_probe_read_user(iocb, sizeof(*iocb), (void *)address))
		return 1;
	barrier_var(used); /* Linux 6.1 has forgotten by now that it is less */
	one = (struct tracefile_iocb *)(to + (used & (SCRATCH - 1)));
	one->address = address;
	one->bytes = iocb->aio_nbytes;
	if (iocb->aio_lio_opcode == IOCB_CMD_PREADV || iocb->aio_lio_opcode == IOCB_CMD_PWRITEV)
		one->bytes = total_of(iocb->aio_buf, iocb->aio_nbytes);
	one->offset = iocb->aio_offset;
	one->fd = iocb->aio_fildes;
	one->opcode = iocb->aio_lio_opcode;
	one->zero = 0;
	s->used = used + sizeof(*one);
	return 0;
}

/* As total_of(). */
__noinline u32 add_iocbs(u32 used, u64 at, u64 count)
{
	struct submitting s = { at, used + sizeof(struct tracefile_blob) };
	u8 *to = room();

	if (!to)
		return used;
	bpf_loop(count < AIO_AT_ONCE ? count : AIO_AT_ONCE, add_iocb, &s, 0);
	return close_blob(to, used, TRACEFILE_IOCBS, s.used - used - sizeof(struct tracefile_blob));
}

__noinline u32 add_events(u32 used, u64 at, u64 count)
{
	u32 length = (count < AIO_AT_ONCE ? count : AIO_AT_ONCE) * sizeof(struct io_event);
	u8 *to = room();

	used &= 4095; /* it is little more than a record's head; the verifier does not know */
	if (!to ||
	    bpf_probe_read_user(to + used + sizeof(struct tracefile_blob), length, (void *)at))
		return used;
	return close_blob(to, used, TRACEFILE_EVENTS, length);
}
