// SPDX-License-Identifier: GPL-2.0
#include "mapped.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../common/vec.h"
#include "making.h"

#define PAGE 4096u
#define RUN_MAX (WL_LENGTH_MAX / PAGE * PAGE)

static u64 pages_up(u64 bytes)
{
	return (bytes + PAGE - 1) & ~(u64)(PAGE - 1);
}

static u64 mapped_arg(const struct compiler *c, unsigned int i)
{
	return c->making.item->record->args[i];
}

static u32 process_of(const struct compiler *c)
{
	return source_thread(c->source, c->making.item->thread)->process;
}

static struct memory *memory_of(struct mapped *all, u32 process)
{
	u64 *place = map_at(&all->processes, process);

	if (!*place) {
		all->memory = vec_reserve(all->memory, &all->room, all->memories + 1,
					  sizeof(*all->memory));
		all->memory[all->memories++] = (struct memory){};
		*place = all->memories;
	}
	return &all->memory[*place - 1];
}

void mapped_free(struct mapped *mapped)
{
	u32 i;

	for (i = 0; i < mapped->memories; i++)
		free(mapped->memory[i].area);
	free(mapped->memory);
	free(mapped->ended);
	map_free(&mapped->processes);
	map_free(&mapped->pages);
}

static struct area *add_area(struct memory *memory, const struct area *area)
{
	memory->area = vec_reserve(memory->area, &memory->room, memory->areas + 1,
				   sizeof(*memory->area));
	memory->area[memory->areas] = *area;
	return &memory->area[memory->areas++];
}

/* Pages of the file that the process has touched are no new ones in another mapping of it. */
static u32 seen_in(struct mapped *mapped, const struct memory *memory, u64 file, bool shared)
{
	u32 i;

	for (i = 0; i < memory->areas; i++) {
		if (memory->area[i].file == file && memory->area[i].shared == shared)
			return memory->area[i].seen;
	}
	return ++mapped->ids;
}

/* The area is gone; so is the mapping with its last one. */
static void remove_area(struct mapped *mapped, struct memory *memory, u32 at)
{
	struct area gone = memory->area[at];
	u32 i;

	memory->area[at] = memory->area[--memory->areas];
	for (i = 0; i < memory->areas; i++) {
		if (memory->area[i].id == gone.id)
			return;
	}
	if (gone.slot == NO_SLOT)
		return;
	mapped->ended = vec_reserve(mapped->ended, &mapped->ended_room, mapped->ended_count + 1,
				    sizeof(*mapped->ended));
	mapped->ended[mapped->ended_count++] = gone;
}

/* Nothing of the process's is between two addresses now. */
static void cut(struct mapped *mapped, struct memory *memory, u64 from, u64 to)
{
	u32 i;

	for (i = memory->areas; i--;) {
		struct area a = memory->area[i], rest = a;

		if (!a.at || a.at >= to || a.at + a.length <= from)
			continue;
		if (a.at + a.length > to) {
			rest.at = to;
			rest.length = a.at + a.length - to;
			rest.offset += to - a.at;
			add_area(memory, &rest);
		}
		if (a.at < from)
			memory->area[i].length = from - a.at;
		else
			remove_area(mapped, memory, i);
	}
}

void mapped_end(struct mapped *mapped, u32 process)
{
	struct memory *memory = memory_of(mapped, process);

	while (memory->areas)
		remove_area(mapped, memory, memory->areas - 1);
}

void mapped_add_ends(struct compiler *c)
{
	struct mapped *mapped = &c->mapped;
	u32 i;

	for (i = 0; i < mapped->ended_count; i++) {
		u64 args[WL_ARGS] = { mapped->ended[i].slot, mapped->ended[i].id };

		compiler_add_made_up(c, WL_UNMAP, args);
		slots_give(&c->slots, compiler_place(c), mapped->ended[i].slot);
	}
	mapped->ended_count = 0;
}

/* Calls. */

bool mapped_map(struct compiler *c)
{
	struct making *g = &c->making;
	const struct ofd *ofd = g->about.ofd;
	bool written, shared = (mapped_arg(c, 3) & MAP_TYPE) != MAP_PRIVATE;
	u32 slot = slots_of(&c->slots, ofd);

	if (g->result < 0 || slot == NO_SLOT || slots_is_pipe(&c->slots, ofd) || !g->about.file ||
	    !source_touched(c->source, process_of(c), compiler_file_key(g->about.file), &written))
		return false;
	written = !shared || (ofd->flags & O_ACCMODE) == O_RDWR;
	g->op = WL_MAP;
	g->args[0] = slot;
	g->args[1] = min_t(u64, mapped_arg(c, 1), WL_SIZE_MAX);
	g->args[2] = min_t(u64, mapped_arg(c, 5), WL_SIZE_MAX / PAGE * PAGE);
	g->args[3] = (shared ? WL_MAP_SHARED : 0) | (written ? WL_MAP_WRITTEN : 0);
	g->args[4] = slots_take(&c->slots, compiler_place(c));
	g->mapping = ++c->mapped.ids;
	uses_add(&c->uses, USE_MAPPING, ACCESS_STAGE, g->mapping);
	return true;
}

/* The area at an address; NULL: there is none. */
static const struct area *area_at(const struct memory *memory, u64 address)
{
	u32 i;

	for (i = 0; i < memory->areas; i++) {
		const struct area *a = &memory->area[i];

		if (a->at && address >= a->at && address - a->at < a->length)
			return a;
	}
	return NULL;
}

/* What needs no rights and changes nothing but what is in memory: as touch.c does. */
static bool is_told(u64 advice)
{
	return advice <= MADV_DONTNEED || advice == MADV_HUGEPAGE || advice == MADV_NOHUGEPAGE ||
	       (advice >= MADV_COLD && advice <= MADV_POPULATE_READ);
}

bool mapped_call(struct compiler *c)
{
	struct making *g = &c->making;
	u32 nr = g->item->record->nr;
	const struct area *a = area_at(memory_of(&c->mapped, process_of(c)), mapped_arg(c, 0));
	u64 at;

	if (!a || (nr != SYS_msync && (nr != SYS_madvise || !is_told(mapped_arg(c, 2)))))
		return false;
	at = mapped_arg(c, 0) - a->at;
	g->op = nr == SYS_msync ? WL_MSYNC : WL_ADVISE;
	g->args[0] = a->slot;
	g->args[1] = a->offset - a->start + at;
	g->args[2] = min(mapped_arg(c, 1), a->length - at);
	g->args[3] = mapped_arg(c, 2);
	uses_add(&c->uses, USE_FILE, nr == SYS_msync ? ACCESS_READ : ACCESS_DATA, a->file);
	uses_add(&c->uses, USE_MAPPING, ACCESS_READ, a->id);
	return true;
}

/*
 * What it grows by is not in the replay's mapping: should it be touched, there is one of its own.
 */
static void areas_move(struct mapped *mapped, struct memory *memory, u64 from, u64 bytes, u64 to,
		       u64 new_bytes)
{
	u32 i, before = memory->areas;

	/* Its own place is not taken away from it. */
	if (to != from)
		cut(mapped, memory, to, to + new_bytes);
	for (i = 0, before = memory->areas; i < before; i++) {
		struct area *a = &memory->area[i];

		if (a->at && a->at >= from && a->at - from < bytes)
			a->at += to - from;
	}
	if (new_bytes < bytes)
		cut(mapped, memory, to + new_bytes, to + bytes);
}

void mapped_follow(struct compiler *c)
{
	struct making *g = &c->making;
	struct memory *memory = memory_of(&c->mapped, process_of(c));
	u64 bytes = pages_up(mapped_arg(c, 1)), file;
	struct area area;

	if (g->result < 0)
		return;
	switch (g->item->record->nr) {
	case SYS_mmap:
		cut(&c->mapped, memory, g->result, g->result + bytes);
		if (g->op != WL_MAP)
			break;
		file = compiler_file_key(g->about.file);
		area = (struct area){
			.at = g->result,
			.length = bytes,
			.offset = g->args[2],
			.start = g->args[2],
			.file = file,
			.slot = g->args[4],
			.id = g->mapping,
			.shared = g->args[3] & WL_MAP_SHARED,
			.written = g->args[3] & WL_MAP_WRITTEN,
		};
		area.seen = seen_in(&c->mapped, memory, file, area.shared);
		add_area(memory, &area);
		break;
	case SYS_munmap:
		cut(&c->mapped, memory, mapped_arg(c, 0), mapped_arg(c, 0) + bytes);
		break;
	case SYS_mremap:
		areas_move(&c->mapped, memory, mapped_arg(c, 0), bytes, g->result,
			   pages_up(mapped_arg(c, 2)));
		break;
	}
}

/* Touches. */

/* The newest mapping that has the page; NULL: there is none. */
static struct area *area_of(struct memory *memory, const struct source_touch *t, u64 offset)
{
	struct area *found = NULL, *a;
	u32 i;

	for (i = 0; i < memory->areas; i++) {
		a = &memory->area[i];
		if (a->file != t->file || a->shared != t->shared || offset < a->offset ||
		    offset - a->offset >= a->length || (t->written && !a->written))
			continue;
		if (!found || found->slot == NO_SLOT || (a->slot != NO_SLOT && a->id > found->id))
			found = a;
	}
	return found;
}

/* One that no call has made: of the whole file, as far as it is touched. */
static struct area *make_area(struct compiler *c, struct memory *memory,
			      const struct source_touch *t)
{
	u8 when = c->making.item->kind == SOURCE_TOUCH ? 0 : WL_WITHIN;
	u8 flags = WL_MADE_UP | WL_NO_RESULT | when;
	struct area area = { .file = t->file, .slot = NO_SLOT, .shared = t->shared };
	bool written;
	u64 open[WL_ARGS] = {}, map[WL_ARGS] = {};

	area.length = pages_up(source_touched(c->source, t->process, t->file, &written));
	area.written = !t->shared || written;
	area.id = ++c->mapped.ids;
	area.seen = seen_in(&c->mapped, memory, t->file, t->shared);
	if (!t->name || !adopt_name(c, t->name, t->file, &open[0]))
		return add_area(memory, &area);
	area.slot = slots_take(&c->slots, compiler_place(c));
	open[1] = t->shared && written ? O_RDWR : O_RDONLY;
	open[3] = slots_take(&c->slots, compiler_place(c));
	map[0] = open[3];
	map[1] = area.length;
	map[3] = (t->shared ? WL_MAP_SHARED : 0) | (area.written ? WL_MAP_WRITTEN : 0);
	map[4] = area.slot;
	uses_add(&c->uses, USE_FILE, ACCESS_READ, t->file);
	compiler_add_now(c, WL_OPEN, flags, 0, open);
	uses_add(&c->uses, USE_MAPPING, ACCESS_STAGE, area.id);
	compiler_add_now(c, WL_MAP, flags, 0, map);
	compiler_add_now(c, WL_CLOSE, flags, 0, map);
	slots_give(&c->slots, compiler_place(c), open[3]);
	return add_area(memory, &area);
}

static void add_touch(struct compiler *c, const struct source_touch *t, const struct area *a,
		      u64 offset, u64 length, u8 flags)
{
	const struct source_item *item = c->making.item;
	u64 args[WL_ARGS] = { a->slot, offset - a->start, length, t->written };

	if (!(flags & WL_WITHIN) && !t->written &&
	    item->exit - item->entry <= c->options.cached + length)
		flags |= WL_CACHED;
	uses_add(&c->uses, USE_FILE, t->written && t->shared ? ACCESS_WRITE : ACCESS_DATA, t->file);
	uses_add(&c->uses, USE_MAPPING, ACCESS_READ, a->id);
	compiler_add_now(c, WL_TOUCH, flags, length, args);
	c->figures.touches++;
	c->figures.touched += length / PAGE;
}

/* Has it been, and from now on it is. */
static bool was_seen(struct mapped *mapped, u32 set, u64 page)
{
	u64 *bits = map_at(&mapped->pages, (u64)set << 40 ^ page / 64);
	u64 bit = 1ull << page % 64;
	bool seen = *bits & bit;

	*bits |= bit;
	return seen;
}

/* Those of an area. A look finds what earlier looks have found, too; not what was written since. */
static void add_found(struct compiler *c, const struct source_touch *t, const struct area *a,
		      u64 offset, u64 length)
{
	u64 end = offset + length, from = offset;

	for (; offset < end; offset += PAGE) {
		if (!was_seen(&c->mapped, a->seen, offset / PAGE) || t->written)
			continue;
		if (offset > from)
			add_touch(c, t, a, from, offset - from, WL_WITHIN);
		from = offset + PAGE;
	}
	if (end > from)
		add_touch(c, t, a, from, end - from, WL_WITHIN);
}

static bool is_wanted(const struct compiler *c, const struct source_touch *t)
{
	const struct compile_options *o = &c->options;
	const struct source_item *item = c->making.item;
	const struct source_thread *thread = source_thread(c->source, item->thread);

	if (item->entry >= o->to || (item->entry < o->from && !t->written))
		return false;
	if (o->pid && world_thread((struct world *)&c->world, thread->tid)->process->pid != o->pid)
		return false;
	return !o->path || (t->name && !fnmatch(o->path, t->name, 0));
}

static void take(struct compiler *c, const struct source_touch *t, bool found)
{
	struct memory *memory = memory_of(&c->mapped, t->process);
	u64 offset = t->offset, left = t->length, n;

	if (offset % PAGE || offset > WL_SIZE_MAX || left > WL_SIZE_MAX || !is_wanted(c, t))
		return;
	c->making.futex = 0;
	uses_clear(&c->uses);
	for (; left; offset += n, left -= n) {
		const struct area *a = area_of(memory, t, offset) ?: make_area(c, memory, t);

		n = min(min_t(u64, left, RUN_MAX), a->offset + a->length - offset);
		if (a->slot == NO_SLOT)
			c->figures.touches_left += n / PAGE;
		else if (found)
			add_found(c, t, a, offset, n);
		else
			add_touch(c, t, a, offset, n, 0);
	}
}

void mapped_add_pages(struct compiler *c)
{
	struct source_touch touch;

	while (source_page(c->source, c->making.item->event, &touch))
		take(c, &touch, true);
}

void mapped_add_touch(struct compiler *c)
{
	take(c, &c->making.item->touch, false);
}
