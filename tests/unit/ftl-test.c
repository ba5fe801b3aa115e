// SPDX-License-Identifier: GPL-2.0
/*
 * The map of an SSD. Write amplification under uniform random writes has closed forms, with
 * a = physical / logical size and W Lambert's function:
 *
 *	FIFO	A = a / (a + W(-a e^-a))	Desnoyers, TOS 2014; Xiang, Kurkoski 2011
 *	greedy	A = N / (N - (X - 1)), X = 1/2 - N/a W(-k e^-k), k = (1 + 1/2N) a, N pages a block
 *
 * With FIFO and classes of pages that have a share f of the data and r of the writes each
 *
 *	A = sum of r / (1 - e^(-r a / (A f)))
 *
 * Here are no fractions, so the tables have their values. Physical is what is not kept free.
 */
#include <kunit/test.h>

#include "../../model/flash/ftl.h"
#include "random.h"

/*
 * Halves of blocks that are free on average. Collection begins when four blocks are, and by its end
 * one less may be. Half of the block that is being filled is free, half of the one collected, too.
 */
#define KEPT_FREE	9

/* Pages of @blocks blocks of @per_block that are @fill thousandths full. */
static u64 pages_of(u32 fill, u32 blocks, u32 per_block)
{
	return (u64)fill * per_block * (2 * blocks - KEPT_FREE) / 2000;
}

/* Static in the tests: a kernel's stack is small. */
struct flash {
	struct kunit *test;
	struct profile profile;
	struct ftl *ftl;
	u64 pages;
	struct rnd rnd;
};

/* Flash of @blocks blocks of @per_block pages. @words go into the profile. */
static void prepare(struct flash *flash, struct kunit *test, u64 pages, u32 blocks, u32 per_block,
		    const char *words)
{
	struct profile_error error;
	static char text[400];		/* the kernel's stack is small */
	size_t len;

	len = snprintf(text, sizeof(text),
		       "name=t;kind=ssd;capacity=%llusectors;raw_capacity=%llusectors;gc_unit=%usectors;write_buffer=1MiB;%s",
		       (unsigned long long)pages * FTL_PAGE,
		       (unsigned long long)blocks * per_block * FTL_PAGE, per_block * FTL_PAGE,
		       words);
	memset(flash, 0, sizeof(*flash));
	flash->test = test;
	flash->pages = pages;
	flash->rnd.state = 5;
	KUNIT_ASSERT_EQ_MSG(test, profile_parse(&flash->profile, text, len, &error), 0, "%s",
			    error.text);
	flash->ftl = ftl_create(&flash->profile, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, flash->ftl);
}

static void done(struct flash *flash)
{
	ftl_destroy(flash->ftl);
	profile_free(&flash->profile);
}

static void fill(struct flash *flash)
{
	u64 page;

	for (page = 0; page < flash->pages; page++)
		ftl_write(flash->ftl, page, 1);
}

static void overwrite(struct flash *flash, u64 writes)
{
	for (; writes; writes--)
		ftl_write(flash->ftl, rnd_below(&flash->rnd, flash->pages), 1);
}

/* Write amplification since @before, in 10000ths. */
static u32 amplification(const struct flash *flash, struct ftl_figures before)
{
	const struct ftl_figures *now = ftl_figures(flash->ftl);
	u64 written = now->written - before.written;

	return 10000 * (written + now->moved - before.moved) / written;
}

/* Of uniform random writes, when the drive is full and has been written some times. */
static u32 steady(struct flash *flash)
{
	struct ftl_figures before;

	fill(flash);
	overwrite(flash, 3 * flash->pages);
	before = *ftl_figures(flash->ftl);
	overwrite(flash, 2 * flash->pages);
	return amplification(flash, before);
}

static void expect_near(struct kunit *test, const char *what, u32 is, u32 should, u32 percent)
{
	u32 off = 10000ULL * (is > should ? is - should : should - is) / should;

	kunit_info(test, "%s: %u.%04u, should be %u.%04u, off by %u.%02u %%", what, is / 10000,
		   is % 10000, should / 10000, should % 10000, off / 100, off % 100);
	KUNIT_EXPECT_LE_MSG(test, off, percent * 100, "%s: %u, should be %u", what, is, should);
}

static const struct form {
	u32 fill;		/* thousandths */
	u32 fifo, greedy64, greedy256;
} forms[] = {
	{ 500, 12550, 12387, 12509 }, { 700, 18762, 18332, 18652 }, { 800, 26927, 25982, 26684 },
	{ 875, 41820, 39462, 41203 }, { 900, 51787, 48159, 50828 }, { 930, 73177, 66001, 71237 },
};

static void check_form(struct kunit *test, const struct form *form, u32 blocks, u32 per_block,
		       const char *words, u32 should, u32 percent)
{
	static struct flash flash;
	char what[40];

	prepare(&flash, test, pages_of(form->fill, blocks, per_block), blocks, per_block, words);
	snprintf(what, sizeof(what), "fill %u, %u pages", form->fill, per_block);
	expect_near(test, what, steady(&flash), should, percent);
	done(&flash);
}

static void fifo_is_within_1_percent_of_its_closed_form(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		check_form(test, &forms[i], 1024, 64, "sample=1;gc=fifo;gc_separate=no",
			   forms[i].fifo, 1);
}

static void greedy_is_within_2_percent_of_its_closed_form(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(forms); i++)
		check_form(test, &forms[i], 1024, 64, "sample=1;gc_separate=no",
			   forms[i].greedy64, 2);
	for (i = 0; i < ARRAY_SIZE(forms); i += 2)
		check_form(test, &forms[i], 512, 256, "sample=1;gc_separate=no",
			   forms[i].greedy256, 2);
}

/* Ten choices are almost as good as all: Van Houdt 2013. One is none. */
static void of_more_choices_the_best_is_better(struct kunit *test)
{
	static const char *const words[] = {
		"sample=1;gc_separate=no;gc=choices;gc_choices=10",
		"sample=1;gc_separate=no;gc=choices;gc_choices=2",
		"sample=1;gc_separate=no;gc=choices;gc_choices=1",
	};
	u32 is, last = 0, i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		static struct flash flash;

		prepare(&flash, test, pages_of(800, 1024, 64), 1024, 64, words[i]);
		is = steady(&flash);
		done(&flash);
		KUNIT_EXPECT_GE(test, is, last + 1);
		if (!i)
			expect_near(test, "ten choices", is, 25982, 4);
		last = is;
	}
}

/* Of 100 writes 80 go to the first 20 % of the pages. */
static void overwrite_skewed(struct flash *flash, u64 writes)
{
	u32 hot = flash->pages / 5;

	for (; writes; writes--) {
		if (rnd_below(&flash->rnd, 100) < 80)
			ftl_write(flash->ftl, rnd_below(&flash->rnd, hot), 1);
		else
			ftl_write(flash->ftl,
				  hot + rnd_below(&flash->rnd, flash->pages - hot), 1);
	}
}

static u32 steady_skewed(struct kunit *test, const char *words)
{
	struct ftl_figures before;
	static struct flash flash;
	u32 is;

	prepare(&flash, test, pages_of(800, 1024, 64), 1024, 64, words);
	fill(&flash);
	overwrite_skewed(&flash, 5 * flash.pages);
	before = *ftl_figures(flash.ftl);
	overwrite_skewed(&flash, 2 * flash.pages);
	is = amplification(&flash, before);
	done(&flash);
	return is;
}

/* The closed form for FIFO. Greedy is better; what parts hot and cold by age is better still. */
static void hot_and_cold_pages_cost_what_they_should(struct kunit *test)
{
	u32 fifo = steady_skewed(test, "sample=1;gc=fifo;gc_separate=no");
	u32 greedy = steady_skewed(test, "sample=1;gc_separate=no");
	u32 benefit = steady_skewed(test, "sample=1;gc=cost-benefit");

	expect_near(test, "fifo, 80 to 20", fifo, 30345, 1);
	KUNIT_EXPECT_LE(test, greedy, fifo);
	KUNIT_EXPECT_LE(test, benefit, greedy);
}

/* What is trimmed is room for collection: the drive behaves as one that is filled less. */
static void trimmed_pages_do_not_count(struct kunit *test)
{
	const u32 blocks = 1024, kept = pages_of(700, blocks, 64);
	struct ftl_figures before;
	static struct flash flash;

	prepare(&flash, test, pages_of(930, blocks, 64), blocks, 64,
		"sample=1;gc_separate=no");
	fill(&flash);
	ftl_trim(flash.ftl, kept, flash.pages - kept);
	flash.pages = kept;
	overwrite(&flash, 3 * flash.pages);
	before = *ftl_figures(flash.ftl);
	overwrite(&flash, 2 * flash.pages);
	expect_near(test, "trimmed", amplification(&flash, before), 18332, 2);
	done(&flash);
}

/* GiB of 1,024 that are used, and what a Micron 7450 MAX of 800 GB then has: SSD-iq, PVLDB 2025. */
static void a_micron_7450_max_is_within_8_percent(struct kunit *test)
{
	static const struct {
		u32 gib, measured;	/* 10000ths */
	} used[] = {
		{ 372, 11100 }, { 447, 11700 }, { 521, 12800 },
		{ 596, 14100 }, { 670, 16100 }, { 745, 19000 },
	};
	struct ftl_figures before;
	static struct flash flash;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(used); i++) {
		/* As the profile says it, but a sample of a sample: 512 MiB stand for 512 GiB. */
		prepare(&flash, test, used[i].gib * 256ULL, 1024, 256,
			"sample=1;precondition=random");
		before = *ftl_figures(flash.ftl);
		overwrite(&flash, flash.pages);
		expect_near(test, "7450 MAX", amplification(&flash, before), used[i].measured, 8);
		done(&flash);
	}
}

#ifdef __KERNEL__
#define SAMPLE		16
#else
#define SAMPLE		64
#endif

/* The same writes on the full map and on a sample. */
static void a_sample_is_within_2_percent_of_the_full_map(struct kunit *test)
{
	const u32 blocks = 64, per_block = 512 * SAMPLE;
	const u64 pages = pages_of(800, blocks, per_block);
	static struct flash full, some;	/* the kernel's stack is small */
	char words[20];
	u64 i, page;

	snprintf(words, sizeof(words), "sample=%u", SAMPLE);
	prepare(&full, test, pages, blocks, per_block, "sample=1");
	prepare(&some, test, pages, blocks, per_block, words);
	KUNIT_EXPECT_LE(test, ftl_bytes(some.ftl), ftl_bytes(full.ftl) / (SAMPLE / 2));
	fill(&full);
	fill(&some);
	for (i = 0; i < 2 * pages; i++) {
		page = rnd_below(&full.rnd, pages);
		ftl_write(full.ftl, page, 1);
		ftl_write(some.ftl, page, 1);
	}
	expect_near(test, "a sample", amplification(&some, (struct ftl_figures){ }),
		    amplification(&full, (struct ftl_figures){ }), 2);
	done(&full);
	done(&some);
}

/* 1 TB, by the page 2 GB, in at most 8 MB. */
static void a_terabyte_fits_8_mb(struct kunit *test)
{
	static struct flash flash;

	prepare(&flash, test, 1000ULL * 1000 * 1000 * 1000 / 4096, 1024, 1 << 18, "");
	KUNIT_EXPECT_LE(test, ftl_bytes(flash.ftl), 8ULL << 20);
	KUNIT_EXPECT_GE(test, ftl_bytes(flash.ftl), 2ULL << 20);
	done(&flash);
}

/* Each page knows whether it was written, with a full map; with a sample each eighth of a group. */
static void reads_know_what_was_written(struct kunit *test)
{
	static struct flash flash;

	prepare(&flash, test, 4096, 64, 128, "sample=1");
	ftl_write(flash.ftl, 100, 1);
	ftl_write(flash.ftl, 200, 8);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 99), (int)FTL_NOTHING);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 100), (int)FTL_SCATTERED);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 101), (int)FTL_NOTHING);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 200), (int)FTL_RUN);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 207), (int)FTL_RUN);
	ftl_trim(flash.ftl, 203, 2);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 202), (int)FTL_RUN);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 203), (int)FTL_NOTHING);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 205), (int)FTL_RUN);
	done(&flash);

	prepare(&flash, test, 65536, 64, 2048, "sample=64");
	ftl_write(flash.ftl, 64, 64);
	ftl_trim(flash.ftl, 65, 15);		/* all of the second eighth, not all of the first */
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 63), (int)FTL_NOTHING);
	KUNIT_EXPECT_NE(test, (int)ftl_look(flash.ftl, 64), (int)FTL_NOTHING);
	KUNIT_EXPECT_NE(test, (int)ftl_look(flash.ftl, 71), (int)FTL_NOTHING);
	KUNIT_EXPECT_EQ(test, (int)ftl_look(flash.ftl, 72), (int)FTL_NOTHING);
	KUNIT_EXPECT_NE(test, (int)ftl_look(flash.ftl, 80), (int)FTL_NOTHING);
	done(&flash);
}

/* An idle drive makes as much room as it is told, and what then is written moves nothing. */
static void idle_collection_makes_room(struct kunit *test)
{
	struct ftl_figures before;
	static struct flash flash;
	u64 pages = U64_MAX;

	prepare(&flash, test, 800 * 64 * 1024 / 1000, 1024, 64, "sample=1;precondition=random");
	while (ftl_idle(flash.ftl, &pages, 100 * 64))
		;
	before = *ftl_figures(flash.ftl);
	KUNIT_EXPECT_NE(test, before.moved, 0ULL);
	overwrite(&flash, 94 * 64);
	KUNIT_EXPECT_EQ(test, ftl_figures(flash.ftl)->moved, before.moved);
	overwrite(&flash, 20 * 64);
	KUNIT_EXPECT_GE(test, ftl_figures(flash.ftl)->moved, before.moved + 1);
	done(&flash);
}

/* What is in an SLC cache, by the rules alone. */
#define SLC_PAGES	2000
struct slc_oracle {
	bool used[SLC_PAGES], in_slc[SLC_PAGES];
	u32 nr_used, nr_slc, most, least, hand;
	bool folds;		/* a full one makes room */
	u64 folded;
};

static u32 oracle_size(const struct slc_oracle *oracle)
{
	u32 size = (u64)oracle->most * (SLC_PAGES - oracle->nr_used) / SLC_PAGES;

	return max(size, oracle->least);
}

static void oracle_drop(struct slc_oracle *oracle, u32 page)
{
	oracle->nr_used -= oracle->used[page];
	oracle->nr_slc -= oracle->in_slc[page];
	oracle->used[page] = false;
	oracle->in_slc[page] = false;
}

static void oracle_fold(struct slc_oracle *oracle)
{
	while (!oracle->in_slc[oracle->hand])
		oracle->hand = (oracle->hand + 1) % SLC_PAGES;
	oracle->in_slc[oracle->hand] = false;
	oracle->nr_slc--;
	oracle->folded++;
}

/* Returns whether the cache takes it. */
static bool oracle_write(struct slc_oracle *oracle, u32 page)
{
	u32 size = oracle_size(oracle);
	bool takes = oracle->folds ? size : oracle->nr_slc < size;

	oracle_drop(oracle, page);
	while (takes && oracle->nr_slc && oracle->nr_slc >= size)
		oracle_fold(oracle);
	oracle->used[page] = true;
	oracle->nr_used++;
	oracle->in_slc[page] = takes;
	oracle->nr_slc += takes;
	return takes;
}

static void check_slc(struct kunit *test, u32 most, u32 least, bool folds, const char *words)
{
	static struct slc_oracle oracle;	/* the kernel's stack is small */
	static struct flash flash;
	u64 written = 0, folded;
	bool left;
	u32 i, k;

	prepare(&flash, test, SLC_PAGES, 64, 64, words);
	memset(&oracle, 0, sizeof(oracle));
	oracle.most = most;
	oracle.least = least;
	oracle.folds = folds;
	for (i = 0; i < 30000; i++) {
		/* Sometimes most is written, sometimes most is trimmed. */
		u32 what = rnd_below(&flash.rnd, 100), page = rnd_below(&flash.rnd, SLC_PAGES);
		u32 trims = i / 5000 % 2 ? 60 : 5;

		if (what < trims) {
			ftl_trim(flash.ftl, page, 1);
			oracle_drop(&oracle, page);
		} else if (what < 98) {
			KUNIT_ASSERT_EQ_MSG(test, ftl_write(flash.ftl, page, 1),
					    oracle_write(&oracle, page), "write %u", i);
			written++;
		} else {
			k = rnd_below(&flash.rnd, 60);
			folded = ftl_fold(flash.ftl, k, &left);
			KUNIT_ASSERT_EQ(test, folded, min_t(u64, k, oracle.nr_slc));
			for (; folded; folded--)
				oracle_fold(&oracle);
			KUNIT_ASSERT_EQ(test, left, oracle.nr_slc > 0);
		}
		KUNIT_ASSERT_EQ(test, ftl_in_slc(flash.ftl, page), oracle.in_slc[page]);
		KUNIT_ASSERT_EQ(test, ftl_look(flash.ftl, page) != FTL_NOTHING,
				oracle.used[page]);
		for (k = i % 1000 ? SLC_PAGES : 0; k < SLC_PAGES; k++)
			KUNIT_ASSERT_EQ(test, ftl_in_slc(flash.ftl, k), oracle.in_slc[k]);
	}
	KUNIT_EXPECT_EQ(test, ftl_figures(flash.ftl)->written, written);
	KUNIT_EXPECT_EQ(test, ftl_figures(flash.ftl)->folded, oracle.folded);
	KUNIT_EXPECT_FALSE(test, ftl_figures(flash.ftl)->stuck);
	done(&flash);
}

static void an_slc_cache_has_what_a_naive_one_has(struct kunit *test)
{
	check_slc(test, 300, 300, false, "sample=1;slc_cache=2400sectors");
	check_slc(test, 900, 50, false,
		  "sample=1;slc_cache=7200sectors;slc_cache_min=400sectors");
	check_slc(test, 300, 300, true, "sample=1;slc_cache=2400sectors;slc_full=fold");
	check_slc(test, 2000, 1, true,
		  "sample=1;slc_cache=16000sectors;slc_cache_min=8sectors;slc_full=fold");
}

/* What is overwritten in the cache never gets to blocks: n writes to k pages fold k. */
static void overwrites_in_the_slc_cache_cost_blocks_nothing(struct kunit *test)
{
	u64 folded = 0, piece;
	static struct flash flash;
	bool left;
	u32 i;

	prepare(&flash, test, SLC_PAGES, 64, 64,
		"sample=1;slc_cache=2400sectors;precondition=random");
	for (i = 0; i < 20000; i++)
		ftl_write(flash.ftl, rnd_below(&flash.rnd, 200), 1);
	KUNIT_EXPECT_EQ(test, ftl_figures(flash.ftl)->moved, 0ULL);
	while ((piece = ftl_fold(flash.ftl, U64_MAX, &left)))
		folded += piece;
	KUNIT_EXPECT_EQ(test, folded, 200ULL);
	KUNIT_EXPECT_FALSE(test, left);
	done(&flash);
}

/* By a sample of one page of 256, the cache is full after its size within 5 %. */
static void a_sample_knows_when_the_slc_cache_is_full(struct kunit *test)
{
	const u32 blocks = 64, per_block = 512 * SAMPLE, cache = blocks * per_block / 8;
	const u64 pages = pages_of(800, blocks, per_block);
	static struct flash flash;
	char words[60];
	u32 n = 0;

	snprintf(words, sizeof(words), "sample=%u;slc_cache=%usectors", SAMPLE,
		 cache * FTL_PAGE);
	prepare(&flash, test, pages, blocks, per_block, words);
	/* A page a write, each another one */
	while (n < 2 * cache && ftl_write(flash.ftl, n * 5ULL % pages, 1))
		n++;
	kunit_info(test, "%u pages of %u", n, cache);
	KUNIT_EXPECT_GE(test, n, cache - cache / 20);
	KUNIT_EXPECT_LE(test, n, cache + cache / 20);
	done(&flash);
}

/* A map that is told of content in pieces has what one has that was told at once. */
static void content_is_the_same_in_whatever_pieces(struct kunit *test)
{
	static struct flash whole, pieces;
	const u64 first = 1003, end = 150001, gap = 70007, behind = 90210;
	const char *words = "sample=16;precondition=random;precondition_fill=0.3";
	u64 page, next;

	prepare(&whole, test, 200000, 64, 4096, words);
	prepare(&pieces, test, 200000, 64, 4096, words);
	ftl_fill(whole.ftl, first, gap - first);
	ftl_fill(whole.ftl, behind, end - behind);
	for (page = first; page < end; page = next) {
		next = min(page + 1 + rnd_below(&pieces.rnd, 50), page < gap ? gap : end);
		if (page < gap || page >= behind)
			ftl_fill(pieces.ftl, page, next - page);
		else
			next = behind;
	}
	for (page = 0; page < 200000; page++)
		KUNIT_ASSERT_EQ_MSG(test, ftl_look(whole.ftl, page), ftl_look(pieces.ftl, page),
				    "page %llu", (unsigned long long)page);
	/* They go on alike, so their blocks are the same. */
	for (page = 0; page < 300000; page++) {
		next = rnd_below(&whole.rnd, 200000);
		ftl_write(whole.ftl, next, 1);
		ftl_write(pieces.ftl, next, 1);
	}
	KUNIT_EXPECT_GE(test, ftl_figures(whole.ftl)->moved, 1ULL);
	KUNIT_EXPECT_EQ(test, ftl_figures(whole.ftl)->moved, ftl_figures(pieces.ftl)->moved);
	done(&whole);
	done(&pieces);
}

/* Pages whose group's page in the map was not written lie as the last write to the group did. */
static void content_beside_the_sample_has_neighbours_too(struct kunit *test)
{
	static struct flash flash;
	u64 group, page;
	u32 of[3] = { };

	prepare(&flash, test, 64 * 1024, 64, 4096, "sample=64");
	for (group = 0; group < 1024; group++) {
		page = group * 64 + 8 * (group % 8);
		if (group % 2)
			ftl_write(flash.ftl, page, 8);
		else
			ftl_fill(flash.ftl, page, 8);
		for (; page % 8 < 7; page++)
			of[ftl_look(flash.ftl, page)]++;
	}
	KUNIT_EXPECT_EQ(test, of[FTL_RUN], 7U * 1024);
	for (group = 0; group < 1024; group++) {
		page = group * 64 + 8 * (group % 8);
		ftl_write(flash.ftl, page + 1, 1);
		of[ftl_look(flash.ftl, page + 1)]++;
	}
	/* But where the map has another page of the eight, which was not written since. */
	KUNIT_EXPECT_GE(test, of[FTL_SCATTERED], 800U);
	done(&flash);
}

/* It lies as the precondition says, and counts in no figure. What the map has stays as it is. */
static void content_lies_as_the_precondition_says(struct kunit *test)
{
	static const struct {
		const char *words;
		enum ftl_state told;
	} pasts[] = {
		{ "sample=1", FTL_RUN },
		{ "sample=1;slc_cache=2400sectors", FTL_RUN },
		{ "sample=1;precondition=sequential;precondition_fill=0.1", FTL_RUN },
		{ "sample=1;precondition=random;precondition_fill=0.1", FTL_SCATTERED },
	};
	static struct flash flash;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pasts); i++) {
		prepare(&flash, test, SLC_PAGES, 64, 64, pasts[i].words);
		ftl_write(flash.ftl, 1400, 1);
		ftl_fill(flash.ftl, 1300, 200);
		ftl_fill(flash.ftl, 1700, 0);
		KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 1299), FTL_NOTHING);
		KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 1300), pasts[i].told);
		KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 1400), FTL_SCATTERED);
		KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 1499), pasts[i].told);
		KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 1500), FTL_NOTHING);
		KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 1700), FTL_NOTHING);
		KUNIT_EXPECT_FALSE(test, ftl_in_slc(flash.ftl, 1350));
		KUNIT_EXPECT_EQ(test, ftl_figures(flash.ftl)->written, 1ULL);
		done(&flash);
	}
}

/* A copy goes on as the original does, and neither changes the other. */
static void a_copy_goes_on_as_the_original(struct kunit *test)
{
	static struct flash flash;
	struct ftl_figures figures;
	struct ftl *copy;
	u64 page;

	prepare(&flash, test, pages_of(800, 64, 64), 64, 64, "");
	fill(&flash);
	overwrite(&flash, 5000);
	copy = ftl_copy(flash.ftl, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, copy);
	KUNIT_EXPECT_TRUE(test, ftl_taken_over(copy, &flash));
	figures = *ftl_figures(copy);
	for (page = 0; page < flash.pages; page += 3)
		ftl_write(flash.ftl, page, 1);
	KUNIT_EXPECT_EQ(test, memcmp(&figures, ftl_figures(copy), sizeof(figures)), 0);
	for (page = 0; page < flash.pages; page += 3)
		ftl_write(copy, page, 1);
	KUNIT_EXPECT_EQ(test, memcmp(ftl_figures(flash.ftl), ftl_figures(copy), sizeof(figures)),
			0);
	ftl_trim(copy, 0, flash.pages);
	KUNIT_EXPECT_EQ(test, ftl_look(flash.ftl, 0), FTL_SCATTERED);
	KUNIT_EXPECT_EQ(test, ftl_look(copy, 0), FTL_NOTHING);
	ftl_destroy(copy);
	done(&flash);
}

static struct kunit_case ftl_cases[] = {
	KUNIT_CASE(fifo_is_within_1_percent_of_its_closed_form),
	KUNIT_CASE(greedy_is_within_2_percent_of_its_closed_form),
	KUNIT_CASE(of_more_choices_the_best_is_better),
	KUNIT_CASE(hot_and_cold_pages_cost_what_they_should),
	KUNIT_CASE(trimmed_pages_do_not_count),
	KUNIT_CASE(a_micron_7450_max_is_within_8_percent),
	KUNIT_CASE(a_sample_is_within_2_percent_of_the_full_map),
	KUNIT_CASE(a_terabyte_fits_8_mb),
	KUNIT_CASE(reads_know_what_was_written),
	KUNIT_CASE(idle_collection_makes_room),
	KUNIT_CASE(an_slc_cache_has_what_a_naive_one_has),
	KUNIT_CASE(overwrites_in_the_slc_cache_cost_blocks_nothing),
	KUNIT_CASE(a_sample_knows_when_the_slc_cache_is_full),
	KUNIT_CASE(content_is_the_same_in_whatever_pieces),
	KUNIT_CASE(content_beside_the_sample_has_neighbours_too),
	KUNIT_CASE(content_lies_as_the_precondition_says),
	KUNIT_CASE(a_copy_goes_on_as_the_original),
	{}
};

static struct kunit_suite ftl_suite = {
	.name = "ftl",
	.test_cases = ftl_cases,
};

kunit_test_suite(ftl_suite);
