/* SPDX-License-Identifier: GPL-2.0 */
/* The resources that the next command uses, in the order in which they were told (order.h). */
#ifndef COMPILE_USES_H
#define COMPILE_USES_H

#include "order.h"
#include "texts.h"

struct use_list {
	struct use *use;
	u32 count;
	u64 room;
};

struct uses {
	struct use_list next; /* of the next command */
	struct map names; /* for people: text of a USE_PATH's key */
	struct texts texts;
};

void uses_init(struct uses *uses);
void uses_free(struct uses *uses);

void uses_clear(struct uses *uses);
void uses_add(struct uses *uses, enum use_kind kind, enum use_access access, u64 key);

/* The last one counts from the command's return on (struct use). */
void uses_on_return(struct uses *uses);

/* Nobody waits for the last one; it waits for nobody. */
void uses_quiet(struct uses *uses);
void uses_free_of_waits(struct uses *uses);

/* What the replay thread @place has done by its @count-th command is done before: its uses end. */
void uses_add_joined(struct uses *uses, u32 place, u32 count);

/* A USE_PATH, and how people call it. */
void uses_add_name(struct uses *uses, u64 key, const char *name);

/*
 * Another command comes in front of it, that has none of its uses: those are set aside, and taken
 * back after it.
 */
struct use_list uses_set_aside(struct uses *uses);
void uses_take_back(struct uses *uses, const struct use_list *aside);

/* What a resource is, for people; NULL: none, the thread began there. */
void uses_print(struct uses *uses, const struct use *use, char *text, size_t room);

#endif
