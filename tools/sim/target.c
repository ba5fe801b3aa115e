// SPDX-License-Identifier: GPL-2.0
#include "../../dm-david/portable/portable-alloc.h"
#include "target.h"

int target_create(struct target *target, const struct profile *profile,
		  const struct array_setup *setup, struct ftl *flash)
{
	struct array_setup with;

	*target = (struct target){ };
	if (setup) {
		with = *setup;
		with.profile = profile;
		target->array = array_create(&with, GFP_KERNEL);
	} else {
		target->disk = disk_create(profile, flash, GFP_KERNEL);
	}
	return target->array || target->disk ? 0 : -ENOMEM;
}

void target_destroy(struct target *target)
{
	array_destroy(target->array);
	disk_destroy(target->disk);
}

u64 target_cache_bytes(const struct profile *profile, u32 members)
{
	u64 segments = (u64)profile->segments * profile->segment_sectors;

	if (profile->write_cache == WRITE_CACHE_OFF)
		return 0;
	return 512 * (max_t(u64, segments, profile->write_buffer) + profile->slc_cache) *
	       max(1U, members);
}

double target_fresh_share(const struct solid_figures *counted, const struct solid_figures *all)
{
	if (counted->host_pages)
		return (double)counted->fresh_pages / counted->host_pages;
	return all->programs && !all->erases && !all->moved_pages;
}

void target_print_sums(FILE *to, const struct drive_sums *sums)
{
	const struct drive_parts *parts = &sums->parts;

	fprintf(to, "\"drive_ns\": {\"overhead\": %llu, \"seek\": %llu, \"rotation\": %llu, ",
		(unsigned long long)parts->overhead, (unsigned long long)parts->seek,
		(unsigned long long)parts->rotation);
	fprintf(to, "\"transfer\": %llu, \"flush\": %llu, \"queued\": %llu, ",
		(unsigned long long)parts->transfer, (unsigned long long)parts->flush,
		(unsigned long long)parts->queued);
	fprintf(to, "\"die\": %llu, \"channel\": %llu, \"map\": %llu, \"fault\": %llu}",
		(unsigned long long)parts->die, (unsigned long long)parts->channel,
		(unsigned long long)parts->map, (unsigned long long)parts->fault);
}

void target_figures(const struct target *target, u32 members, struct array_member_figures *figures)
{
	u32 i;

	for (i = 0; target->array && i < members; i++)
		array_figures(target->array, i, &figures[i]);
}
