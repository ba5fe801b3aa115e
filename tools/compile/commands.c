// SPDX-License-Identifier: GPL-2.0
/* What a call becomes, written down: its uses are ordered, its wait and its gap known. */
#include "making.h"

u64 compiler_file_key(const struct file *file)
{
	return file->known ? file->ino : (u64)(uintptr_t)file;
}

static u64 gap_of(const struct compiler *c, const struct wl_command *command, u64 exit,
		  const struct order_result *deps)
{
	u64 from = c->options.from;
	/* What is no call takes as long as it took, if its process did not end before it. */
	u64 until = wl_is_call(command->op) || !c->making.item->finished ? command->start : exit;
	u64 since = max(max(deps->latest, c->making.latest), from);

	if (command->flags & WL_MADE_UP || exit <= from || until <= since)
		return 0;
	return until - since;
}

/* Who ended a wait would have ended those before it, for the same futex, that timed out. */
static void follow_wait(struct compiler *c, const struct wl_command *command, u32 thread,
			const struct order_result *deps)
{
	const struct dep *last = NULL;
	u32 i;

	for (i = 0; i < deps->deps; i++) {
		if (deps->dep[i].exit > command->start && (!last || deps->dep[i].exit > last->exit))
			last = &deps->dep[i];
	}
	if (command->op == WL_WAIT)
		waits_timed_out(&c->waits, &c->output, thread, c->making.futex);
	else if (last)
		waits_ended(&c->waits, &c->output, thread, c->making.futex, last->thread,
			    last->count);
}

void command_add(struct compiler *c, u8 op, u8 flags, u64 entry, u64 exit, s64 result,
		 const u64 *args)
{
	const struct source_item *item = c->making.item;
	u32 thread = compiler_place(c);
	struct order_command ordered = {
		.thread = thread,
		.event = item->event,
		.entry = entry,
		.exit = exit,
		.use = c->uses.next.use,
		.uses = c->uses.next.count,
		.within = flags & WL_WITHIN,
	};
	struct order_result deps;
	struct wl_command command = {
		.op = op,
		.flags = flags,
		.event = item->event,
		.start = entry,
		.duration = exit - entry,
		.result = result,
	};

	if (c->options.rules & RULE_PROGRAM_SEQ && !(flags & WL_MADE_UP)) {
		uses_add(&c->uses, USE_PROGRAM, ACCESS_WRITE, 0);
		ordered.use = c->uses.next.use;
		ordered.uses = c->uses.next.count;
	}
	deps = order_add(c->order, &ordered, min(source_horizon(c->source), entry));
	if (args)
		memcpy(command.args, args, sizeof(command.args));
	if (op == WL_CLOSE)
		command.args[1] = slots_releases(&c->slots, command.args[0]);
	if (flags & WL_WITHIN) {
		c->making.latest = max(c->making.latest, deps.latest);
		command.start = c->making.latest;
		command.duration = 0;
	} else {
		command.gap = gap_of(c, &command, exit, &deps);
	}
	if (!(flags & (WL_WITHIN | WL_MADE_UP)))
		c->making.latest = 0;
	output_add(&c->output, thread, &command, &deps, exit <= c->options.from && c->options.from);
	if (c->making.futex && !(flags & WL_MADE_UP))
		follow_wait(c, &command, thread, &deps);
	if (op == WL_CLOSE_ONE || op == WL_LEAVE)
		slots_released(&c->slots, thread, command.args[0]);
	closes_follow(&c->closes, item->thread, order_count(c->order, thread));
	uses_clear(&c->uses);
}

/* A command that is no call of the trace, at the time of this one. */
void command_make_up(struct compiler *c, u8 op, s64 result, const u64 *args)
{
	struct use_list own = uses_set_aside(&c->uses);

	if (op == WL_UNMAP)
		uses_add(&c->uses, USE_MAPPING, ACCESS_STAGE, args[1]);
	command_add(c, op, WL_MADE_UP | WL_NO_RESULT, c->making.item->entry, c->making.item->exit,
		    result, args);
	uses_take_back(&c->uses, &own);
}

void compiler_add_made_up(struct compiler *c, u8 op, const u64 *args)
{
	command_make_up(c, op, 0, args);
}

void compiler_add_now(struct compiler *c, u8 op, u8 flags, s64 result, const u64 *args)
{
	const struct source_item *item = c->making.item;

	command_add(c, op, flags, item->entry, flags & WL_WITHIN ? item->entry : item->exit,
		    result, args);
}
