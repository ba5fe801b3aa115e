/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records on their way to the reader: where one is made, how it gets its blobs, and the ring that
 * it is put into. A part of trace.bpf.c.
 */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(u32));
	__uint(value_size, 2 * SCRATCH);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} ring SEC(".maps");

/* What the reader sees and sets. */
struct shared shared SEC(".data.shared");

/* Set before this is loaded, and constant from then on: what cannot be reached is not verified. */
struct constants constants SEC(".rodata.kernel");

static __always_inline u8 *room(void)
{
	return bpf_map_lookup_elem(&scratch, &(u32){ 0 });
}

static __always_inline void count(enum counted what)
{
	__sync_fetch_and_add(&shared.counts.of[what], 1);
}

static __always_inline void start(u8 *to, u16 type, u32 tid, u64 entry, u64 exit)
{
	struct tracefile_record *r = (struct tracefile_record *)to;

	__builtin_memset(r, 0, sizeof(*r));
	r->type = type;
	r->tid = tid;
	r->entry = entry;
	r->exit = exit;
}

static u64 filled; /* bytes of the ring since the reader was woken; about, with several CPUs */

/*
 * How a record of @used bytes is to be put into the ring. To wake the reader costs more than a
 * record, so that is done once for each part of the ring. Until then the reader comes by itself, a
 * few times a second.
 */
static __always_inline u64 wakeup_with(u32 used)
{
	filled += used;
	if (filled < RING_BYTES / RING_PARTS)
		return BPF_RB_NO_WAKEUP;
	filled = 0;
	return BPF_RB_FORCE_WAKEUP;
}

/* Puts a record of @used bytes into the ring. */
static __always_inline void put(u8 *to, u32 used)
{
	struct tracefile_record *r = (struct tracefile_record *)to;

	used = (used + 7) & ~7u;
	if (used > SCRATCH)
		used = SCRATCH;
	r->length = used;
	if (bpf_ringbuf_output(&ring, to, used, wakeup_with(used)))
		count(LOST);
}

/* The head of a blob of @length bytes that are there already; where the next one begins. */
static __always_inline u32 close_blob(u8 *to, u32 used, u16 kind, u32 length)
{
	struct tracefile_blob *blob;

	if (used > SCRATCH - sizeof(*blob))
		return used;
	blob = (struct tracefile_blob *)(to + used);
	blob->kind = kind;
	blob->length = length;
	return used + sizeof(*blob) + ((length + 3) & ~3u);
}

static __always_inline u32 add_small(u8 *to, u32 used, u16 kind, const void *data, u32 length)
{
	if (used > SCRATCH - 256)
		return used;
	__builtin_memcpy(to + used + sizeof(struct tracefile_blob), data, length);
	return close_blob(to, used, kind, length);
}

/* Blobs end at a multiple of 4, records at one of 8: what fills up has to be an empty blob. */
static __always_inline u32 fill_up(u8 *to, u32 used)
{
	if (used & 4 && used <= SCRATCH - 4) {
		*(u32 *)(to + used) = 0;
		used += 4;
	}
	return used;
}
