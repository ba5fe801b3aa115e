/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which kind of file a name is, by its suffix. The user says it as "htm,html=html;gz=gzip".
 *
 * The map is data of the device. It is read in places that may not sleep, and is small enough to be
 * copied.
 *
 * Portable, any context.
 */
#ifndef DAVID_SUFFIXMAP_H
#define DAVID_SUFFIXMAP_H

#include "filecontent.h"

#define SUFFIX_LEN	11	/* the longest, without the dot */
#define SUFFIXES	64

#define SUFFIX_DEFAULT	\
	"txt,text,log,md=text;htm,html=html;json=json;pdf=pdf;gz=gzip;jpg,jpeg=jpeg"

struct suffix_map {
	unsigned int count;
	struct {
		char suffix[SUFFIX_LEN];	/* lower case, padded with 0 */
		u8 kind;
	} entry[SUFFIXES];
};

/*
 * Read @text into @map. Returns 0, or -EINVAL with an empty map and what is
 * wrong, with its place, in @error. An empty text is an empty map.
 */
int suffix_map_parse(struct suffix_map *map, const char *text, char *error, size_t size);

/* The kind for a file's @name of @len bytes, by what is behind its last dot, in any case. */
enum file_kind suffix_map_find(const struct suffix_map *map, const char *name, size_t len);

#endif
