// SPDX-License-Identifier: GPL-2.0
#include "texts.h"

#include "../common/vec.h"

static u64 texts_append(struct texts *texts, const char *text, size_t length)
{
	u64 at = texts->used;

	texts->data = vec_reserve(texts->data, &texts->room, at + length + 1, 1);
	memcpy(texts->data + at, text, length + 1);
	texts->used += length + 1;
	return at;
}

void texts_init(struct texts *texts)
{
	*texts = (struct texts){};
	texts_append(texts, "", 0);
}

void texts_free(struct texts *texts)
{
	free(texts->data);
	map_free(&texts->known);
}

u64 texts_add(struct texts *texts, const char *text)
{
	size_t length = strlen(text);
	u64 *known;

	if (!length)
		return 0;
	known = map_at(&texts->known, map_hash(0, text, length));
	if (*known && !strcmp(texts->data + *known, text))
		return *known;
	*known = texts_append(texts, text, length);
	return *known;
}
