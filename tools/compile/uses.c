// SPDX-License-Identifier: GPL-2.0
#include "uses.h"

#include "../common/vec.h"

void uses_init(struct uses *uses)
{
	*uses = (struct uses){};
	texts_init(&uses->texts);
}

void uses_free(struct uses *uses)
{
	free(uses->next.use);
	map_free(&uses->names);
	texts_free(&uses->texts);
}

void uses_clear(struct uses *uses)
{
	uses->next.count = 0;
}

void uses_add(struct uses *uses, enum use_kind kind, enum use_access access, u64 key)
{
	struct use_list *l = &uses->next;

	l->use = vec_reserve(l->use, &l->room, l->count + 1, sizeof(*l->use));
	l->use[l->count++] = (struct use){ .kind = kind, .access = access, .key = key };
}

void uses_on_return(struct uses *uses)
{
	uses->next.use[uses->next.count - 1].on_return = true;
}

void uses_quiet(struct uses *uses)
{
	uses->next.use[uses->next.count - 1].quiet = true;
}

void uses_free_of_waits(struct uses *uses)
{
	uses->next.use[uses->next.count - 1].free = true;
}

void uses_add_joined(struct uses *uses, u32 place, u32 count)
{
	uses_add(uses, USE_JOINED, ACCESS_STAGE, place);
	uses->next.use[uses->next.count - 1].count = count;
}

void uses_add_name(struct uses *uses, u64 key, const char *name)
{
	uses_add(uses, USE_PATH, ACCESS_READ, key);
	*map_at(&uses->names, key) = texts_add(&uses->texts, name);
}

struct use_list uses_set_aside(struct uses *uses)
{
	struct use_list aside = uses->next;

	uses->next = (struct use_list){};
	return aside;
}

void uses_take_back(struct uses *uses, const struct use_list *aside)
{
	free(uses->next.use);
	uses->next = *aside;
}

void uses_print(struct uses *uses, const struct use *use, char *text, size_t room)
{
	static const char *const kinds[USE_KINDS] = {
		"the program", "file",	  "name",  "directory",	       "description",
		"mapping", "AIO context", "process", "futex", "all of its thread",
	};

	if (!use)
		snprintf(text, room, "the thread's beginning");
	else if (use->kind == USE_PATH)
		snprintf(text, room, "name %s",
			 uses->texts.data + *map_at(&uses->names, use->key));
	else
		snprintf(text, room, "%s %llu", kinds[use->kind], (unsigned long long)use->key);
}
