// SPDX-License-Identifier: GPL-2.0
/*
 * What page owners tell (dm-david/owner/owner.c), of pages that are made up here: the struct page
 * of a slab differs from kernel to kernel and from moment to moment.
 */
#include <kunit/test.h>
#include <linux/blkdev.h>
#include <linux/magic.h>

/* In place of compat.h: no superblock holds the disk, only a btrfs of the kernels up to 6.16. */
#define DM_DAVID_COMPAT_H
static struct super_block *compat_bdev_super(struct block_device *bdev)
{
	return NULL;
}

static bool compat_btrfs_copies(void)
{
	return false;
}

#include "../../dm-david/owner/owner.c"
#include "../../dm-david/owner/fs.c"

#ifdef DAVID_PLANT
char *david_plant;
#endif

/* Nobody listens. */
void stack_want(struct block_device *bdev)
{
}

/* Nobody has a page in hand. */
atomic_t hands_busy;

bool hands_look(const struct page *page)
{
	return false;
}

/* There are no rules. */
bool raw_has_file(const struct raw *raw, struct inode *inode)
{
	return false;
}

struct world {
	struct file_system_type type;
	struct super_block sb;
	struct inode inode;
	struct address_space mapping;
	struct block_device bdev;
	struct raw raw;
	struct owner_watch watch;
	struct owner_cache cache;
	struct page *page;
};

static enum david_evidence evidence_of(struct world *world)
{
	const struct owner_top top = { .dev = &world->watch.disk, .is_direct = true };

	owner_cache_init(&world->cache);
	return owner_evidence(&world->watch, &top, &world->cache, world->page);
}

static void set_mapping(struct world *world, void *mapping)
{
	page_folio(world->page)->mapping = mapping;
}

/* Bit 0: PAGE_MAPPING_ANON, FOLIO_MAPPING_ANON. */
static void make_anonymous(struct world *world)
{
	set_mapping(world, (void *)((unsigned long)&world->mapping | 1));
}

static int owner_init(struct kunit *test)
{
	struct world *world = kunit_kzalloc(test, sizeof(*world), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, world);
	world->page = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, world->page);
	world->sb.s_magic = BTRFS_SUPER_MAGIC;
	world->sb.s_type = &world->type;
	world->inode.i_sb = &world->sb;
	world->inode.i_mode = S_IFDIR;
	world->inode.i_ino = 1000;
	world->mapping.host = &world->inode;
	world->bdev.bd_holder = &world->type;
	world->watch.disk.bdev = &world->bdev;
	world->watch.disk.btrfs_holder = &world->type;
	world->watch.raw = &world->raw;
	test->priv = world;
	return 0;
}

static void owner_exit(struct kunit *test)
{
	struct world *world = test->priv;

	if (!world || !world->page)
		return;
	set_mapping(world, NULL);
	__free_page(world->page);
}

static void an_anonymous_page_is_data_while_the_disk_is_mounted(struct kunit *test)
{
	struct world *world = test->priv;

	make_anonymous(world);
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_ANON);
	world->bdev.bd_holder = NULL;
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_UNMOUNTED);
}

/* Layers may have dropped REQ_SWAP by the time the page is here. */
static void a_page_of_swapped_memory_is_kept(struct kunit *test)
{
	struct world *world = test->priv;
	struct folio *folio = page_folio(world->page);

	make_anonymous(world);
	folio_set_swapbacked(folio);
	folio_set_swapcache(folio);
	if (folio_test_swapcache(folio))
		KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_UNOWNED);
	else
		kunit_skip(test, "this kernel does not swap");
	folio_clear_swapcache(folio);
	folio_clear_swapbacked(folio);
}

/* From 6.2 on a slab has numbers of its own where other pages have their mapping. */
static void a_slab_belongs_to_nobody_whatever_stands_in_it(struct kunit *test)
{
	struct world *world = test->priv;
	struct folio *folio = page_folio(world->page);

	__folio_set_slab(folio);
	make_anonymous(world);
	KUNIT_EXPECT_TRUE(test, folio_test_anon(folio));
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_UNOWNED);
	set_mapping(world, &world->mapping);
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_UNOWNED);
	set_mapping(world, NULL);
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_UNOWNED);
	__folio_clear_slab(folio);
}

static void a_page_without_a_mapping_belongs_to_nobody(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, evidence_of(test->priv), DAVID_EV_UNOWNED);
}

static void a_directorys_page_is_none_of_a_files(struct kunit *test)
{
	struct world *world = test->priv;

	set_mapping(world, &world->mapping);
	/* Without a name in the dentry cache btrfs may have it for itself. */
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_INTERNAL);
	world->sb.s_magic = XFS_SUPER_MAGIC;
	KUNIT_EXPECT_EQ(test, evidence_of(world), DAVID_EV_DIRECTORY);
}

static struct kunit_case owner_cases[] = {
	KUNIT_CASE(an_anonymous_page_is_data_while_the_disk_is_mounted),
	KUNIT_CASE(a_page_of_swapped_memory_is_kept),
	KUNIT_CASE(a_slab_belongs_to_nobody_whatever_stands_in_it),
	KUNIT_CASE(a_page_without_a_mapping_belongs_to_nobody),
	KUNIT_CASE(a_directorys_page_is_none_of_a_files),
	{}
};

static struct kunit_suite owner_suite = {
	.name = "owner",
	.init = owner_init,
	.exit = owner_exit,
	.test_cases = owner_cases,
};

kunit_test_suite(owner_suite);
