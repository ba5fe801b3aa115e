// SPDX-License-Identifier: GPL-2.0
/* The RAW rules in a store: see store.h. */
#include "store.h"

#include "../../dm-david/portable/portable-alloc.h"
#include "../../dm-david/lib/rawpage.h"

static bool read_page(const struct opened *o, unsigned int n, void *page)
{
	u32 blocks = FORMAT_PAGE / o->super.block_size;
	struct rt_range r;

	rt_lookup(&o->table, FORMAT_META + RAWPAGE_AREA * FORMAT_META_AREA + n * blocks, &r);
	return r.kind == RT_STORED && r.len >= blocks &&
	       read_at(o->fd, page, FORMAT_PAGE, r.value * o->super.block_size);
}

static bool any(const struct opened *o)
{
	struct rt_range r;

	rt_lookup(&o->table, FORMAT_META + RAWPAGE_AREA * FORMAT_META_AREA, &r);
	return r.kind != RT_HOLE || r.len < FORMAT_META_AREA;
}

static bool read_rules(const struct opened *o, struct rawset **set, const char **wrong)
{
	static u8 pages[RAWPAGE_MOST][FORMAT_PAGE];
	unsigned int n = 0, i;
	u64 generation;

	*set = NULL;
	if (!any(o))
		return true;
	*wrong = "a page cannot be read";
	if (read_page(o, 0, pages[0]))
		n = rawpage_look(pages[0], wrong);
	for (i = 1; i < n; i++) {
		if (!read_page(o, i, pages[i])) {
			*wrong = "a page cannot be read";
			return false;
		}
	}
	return n && !rawpage_unpack(pages, n, GFP_KERNEL, set, &generation, wrong);
}

void print_rules(const struct opened *o)
{
	char text[RAW_TEXT_SIZE];
	struct rawset *set;
	const char *wrong;
	unsigned int i;

	if (!read_rules(o, &set, &wrong)) {
		printf("raw lost: %s\n", wrong);
		return;
	}
	printf("raw ");
	for (i = 0; set && i < rawset_count(set); i++) {
		rawset_print(set, i, text, sizeof(text));
		printf("%s%s", i ? "," : "", text);
	}
	printf("%s\n", i ? "" : "none");
	rawset_free(set);
}

enum status check_rules(const struct opened *o)
{
	struct rawset *set;
	const char *wrong;

	if (read_rules(o, &set, &wrong)) {
		rawset_free(set);
		return STATUS_GOOD;
	}
	printf("the RAW rules are lost: %s; the disk keeps all until they are set again\n", wrong);
	return STATUS_DAMAGED;
}
