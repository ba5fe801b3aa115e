// SPDX-License-Identifier: GPL-2.0
/*
 * Compiled traces that no compiler wrote. The input is what stands behind the header's first
 * members, so that most of what is tried has a header that fits. What wl_check() lets through must
 * hold: every text ends, every slot is there, every wait can be met.
 */
#include "fuzz.h"

#include "../../tools/calls/workload.h"

#define FILE_MAX 4096

/*
 * A file of one to four threads that share what follows the tables; from few bytes that say how.
 *
 */
static u64 lay_out(u8 *file, const u8 *data, size_t size)
{
	struct wl_header *h = (struct wl_header *)file;
	struct wl_thread *t = (struct wl_thread *)(h + 1);
	u32 threads = data[0] % 4 + 1, i, at = sizeof(*h) + threads * sizeof(*t),
	    text = data[1] % 64;
	u64 bytes = min_t(u64, size - 16, FILE_MAX - at - 1), commands = 0, rest;

	rest = bytes > text ? bytes - text : 0;
	*h = (struct wl_header){
		.magic = cpu_to_le32(WL_MAGIC),
		.version = cpu_to_le32(WL_VERSION),
		.threads = cpu_to_le32(threads),
		.slots = cpu_to_le32(data[2] % 8),
		.tree = cpu_to_le64(data[3] % 3),
		.tree_at = cpu_to_le64(at),
		.tree_bytes = cpu_to_le64(min_t(u64, data[3] % 3 * 6, rest)),
		.text_at = cpu_to_le64(at + rest),
		.text_bytes = cpu_to_le64(bytes - rest + 1),
		.thread_at = cpu_to_le64(sizeof(*h)),
		.layout = cpu_to_le64(data[3] / 3 % 3),
		.layout_at = cpu_to_le64(at),
		.layout_bytes = cpu_to_le64(rest),
	};
	for (i = 0; i < threads; i++) {
		u64 from = rest * i / threads, to = rest * (i + 1) / threads;

		t[i] = (struct wl_thread){
			.at = cpu_to_le64(at + from),
			.bytes = cpu_to_le64(to - from),
			.commands = cpu_to_le32(data[4 + i] % 16),
			.process = cpu_to_le32(data[4 + i] / 16 % 5),
		};
		commands += data[4 + i] % 16;
	}
	h->commands = cpu_to_le64(commands);
	memcpy(file + at, data + 16, bytes);
	file[at + bytes] = 0;
	return at + bytes + 1;
}

static void check_command(const struct workload *w, const struct wl_command *c)
{
	const char *args = wl_ops[c->op].args;
	unsigned int i;

	assert(c->op != WL_TOUCH || c->args[1] % WL_BLOCK == 0);
	assert(c->op != WL_MAP || (c->args[1] && c->args[1] <= WL_SIZE_MAX));
	for (i = 0; args[i]; i++) {
		if (args[i] == 's' || args[i] == 'S')
			assert(c->args[i] < w->slots);
		if (args[i] == 'n')
			assert(c->args[i] <= WL_LENGTH_MAX);
		if (args[i] == 'P' || args[i] == 'T')
			assert(c->args[i] + strlen(w->text + c->args[i]) < w->text_bytes);
	}
}

/* Each piece is in a file that there is. */
static void check_layout(const struct workload *w)
{
	struct wl_cursor cursor = wl_layout(w);
	struct wl_piece piece;
	u64 i;

	for (i = 0; i < w->pieces; i++) {
		assert(wl_next_piece(&cursor, &piece));
		assert(piece.entry < w->entries && piece.gap <= WL_GAP_MAX);
		assert(piece.offset < WL_SIZE_MAX && piece.length <= WL_SIZE_MAX + WL_BLOCK);
	}
}

/* In some order all threads come to their ends. */
static void check_end(const struct workload *w)
{
	u32 done[4] = {}, thread, other, count, i;
	struct wl_cursor cursor[4];
	bool moved = true;

	for (thread = 0; thread < w->threads; thread++)
		cursor[thread] = wl_commands(w, thread);
	while (moved) {
		moved = false;
		for (thread = 0; thread < w->threads; thread++) {
			struct wl_cursor next = cursor[thread];
			struct wl_command c;
			bool ready = true;

			if (done[thread] == le32_to_cpu(w->thread[thread].commands))
				continue;
			assert(wl_next(&next, &c));
			for (i = 0; i < c.deps; i++) {
				assert(wl_dep(&c.dep, w->data + w->size, &other, &count));
				ready = ready && done[other] >= count;
			}
			if (!ready)
				continue;
			check_command(w, &c);
			cursor[thread] = next;
			done[thread]++;
			moved = true;
		}
	}
	for (thread = 0; thread < w->threads; thread++)
		assert(done[thread] == le32_to_cpu(w->thread[thread].commands));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static u64 aligned[FILE_MAX / 8 + 1];
	struct wl_cursor cursor;
	struct wl_entry entry;
	struct workload w;
	u8 *file;
	u64 bytes, i;

	if (size < 16)
		return 0;
	wl_check(&w, data, size); /* as it is: mostly no header */
	bytes = lay_out((u8 *)aligned, data, size);
	file = malloc(bytes); /* so that a look beyond it is found */
	memcpy(file, aligned, bytes);
	if (!wl_check(&w, file, bytes)) {
		cursor = wl_tree(&w);
		for (i = 0; i < w.entries; i++)
			assert(wl_next_entry(&w, &cursor, &entry));
		check_layout(&w);
		check_end(&w);
	}
	free(file);
	return 0;
}
