/* SPDX-License-Identifier: GPL-2.0 */
/* A disk whose drive and host the test tells in the words of a profile. */
#ifndef UNIT_WORDED_DISK_H
#define UNIT_WORDED_DISK_H

#include <kunit/test.h>

#include "../../model/host/disk.h"
#include "../../model/profile/profile-options.h"

/* If "@drive@words" is no profile, the test ends. Call disk_destroy(), then profile_free(). */
static inline struct disk *disk_of_words(struct kunit *test, struct profile *profile,
					 const char *drive, const char *words)
{
	static char text[900];		/* a kernel's stack is small */
	size_t len = snprintf(text, sizeof(text), "%s%s", drive, words);
	struct profile_error error;
	struct disk *disk;

	KUNIT_ASSERT_LE(test, len + 1, sizeof(text));
	KUNIT_ASSERT_EQ_MSG(test, profile_parse(profile, text, len, &error), 0, "%s", error.text);
	disk = disk_create(profile, NULL, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, disk);
	return disk;
}

#endif
