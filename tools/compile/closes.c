// SPDX-License-Identifier: GPL-2.0
#include "closes.h"

#include "../common/vec.h"
#include "making.h"

void closes_init(struct closes *closes, const struct source *source)
{
	u32 threads = source_threads(source), i;
	u64 *first;

	*closes = (struct closes){};
	closes->done = xcalloc(threads + 1ull, sizeof(*closes->done));
	closes->next = xcalloc(threads + 1ull, sizeof(*closes->next));
	for (i = 1; i <= threads; i++) {
		first = map_at(&closes->first, source_thread(source, i)->process);
		closes->next[i] = *first;
		*first = i;
	}
}

void closes_free(struct closes *closes)
{
	free(closes->ofd);
	free(closes->done);
	free(closes->next);
	map_free(&closes->first);
}

void closes_follow(struct closes *closes, u32 thread, u32 done)
{
	closes->done[thread] = done;
}

void closes_note(struct compiler *c, const struct thread *thread, u32 from, u32 to, bool exec)
{
	struct closes *closes = &c->closes;
	const struct fdtable *fds = thread->fds;
	u32 fd;

	for (fd = from; fd <= to && fd < fds->count; fd++) {
		const struct slot *s = &fds->slot[fd];

		if (!s->ofd || (exec && !s->cloexec) || slots_of(&c->slots, s->ofd) == NO_SLOT)
			continue;
		closes->ofd = vec_reserve(closes->ofd, &closes->room, closes->count + 1ull,
					  sizeof(*closes->ofd));
		closes->ofd[closes->count++] = s->ofd->id;
	}
}

/* What other threads of the process have done with its descriptors came before. */
static void use_threads(struct compiler *c)
{
	const struct closes *closes = &c->closes;
	u32 own = compiler_place(c), process, i;

	process = source_thread(c->source, c->making.item->thread)->process;
	for (i = *map_at(&c->closes.first, process); i; i = closes->next[i]) {
		u32 place = c->place[i];

		if (closes->done[i] && place != own &&
		    !order_implies(c->order, own, place, closes->done[i]))
			uses_add_joined(&c->uses, place, closes->done[i]);
	}
}

/*
 * Who has inherited a descriptor comes after the command that opens it, though that may be by
 * another thread than the one that made its process.
 */
void closes_use_opened(struct compiler *c, u32 slot)
{
	struct slot_use opened = c->slots.state[slot].opened;
	u32 own = compiler_place(c);

	if (opened.count && opened.thread != own &&
	    !order_implies(c->order, own, opened.thread, opened.count))
		uses_add_joined(&c->uses, opened.thread, opened.count);
}

/*
 * A planted bug: what an exec closes waits for what others did with it, one after the other. Only
 * in a program built to be found out.
 */
static bool waits_for_others(void)
{
#ifdef COMPILE_PLANT
	return getenv("COMPILE_PLANT");
#else
	return false;
#endif
}

static void add_one(struct compiler *c, u8 op, u32 slot, u32 ofd, bool all)
{
	struct use_list own = uses_set_aside(&c->uses);
	const struct source_item *item = c->making.item;
	u64 args[WL_ARGS] = { slot };

	if (all && !waits_for_others()) {
		use_threads(c);
		closes_use_opened(c, slot);
	} else {
		uses_add(&c->uses, USE_FD, ACCESS_STAGE, ofd);
		if (op == WL_LEAVE)
			uses_quiet(&c->uses);
		else if (all || c->making.call->effect != DOES_CLOSERANGE)
			uses_on_return(&c->uses);
	}
	if (op == WL_CLOSE && slots_fifo(&c->slots, slot)) {
		uses_add(&c->uses, USE_FILE, ACCESS_WRITE, slots_fifo(&c->slots, slot));
		uses_free_of_waits(&c->uses);
	}
	command_add(c, op, WL_MADE_UP | WL_NO_RESULT, item->entry, item->exit, 0, args);
	uses_take_back(&c->uses, &own);
}

static void add_closes(struct compiler *c, bool all)
{
	struct closes *closes = &c->closes;
	struct slots *slots = &c->slots;
	u32 i, slot;

	for (i = 0; i < closes->count; i++) {
		slot = slots_of_number(slots, closes->ofd[i]);
		if (slot != NO_SLOT)
			add_one(c, WL_LEAVE, slot, closes->ofd[i], all);
	}
	closes->count = 0;
	for (i = 0; i < slots->ended_count; i++) {
		const struct ended *e = &slots->ended[i];

		add_one(c, WL_CLOSE, e->slot, e->ofd, all);
		slots_give(slots, compiler_place(c), e->slot);
	}
	slots->ended_count = 0;
}

void closes_add(struct compiler *c)
{
	add_closes(c, false);
}

void closes_add_all(struct compiler *c)
{
	add_closes(c, true);
}
