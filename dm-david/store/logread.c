// SPDX-License-Identifier: GPL-2.0
/* A store's own pages, and reading its log: see logread.h. */
#include "logread.h"

#include <linux/bio.h>
#include <linux/blkdev.h>
#include <linux/device-mapper.h>
#include <linux/sched.h>

#include "../lib/format.h"

#define DM_MSG_PREFIX	"david"

#define VECS		32
#define PAGE_SECTORS_4K	(FORMAT_PAGE >> SECTOR_SHIFT)

int log_pages_io(struct block_device *bdev, blk_opf_t opf, u64 at, void *buf, unsigned int n)
{
	struct bio_vec vec[VECS];
	unsigned int done, some, i;
	struct bio bio;
	int r = 0;

	for (done = 0; done < n && !r; done += some) {
		some = min_t(unsigned int, n - done, VECS);
		bio_init(&bio, bdev, vec, VECS, opf | REQ_META);
		bio.bi_iter.bi_sector = (at + done) * PAGE_SECTORS_4K;
		for (i = 0; i < some; i++) {
			void *page = buf + (done + i) * FORMAT_PAGE;

			__bio_add_page(&bio, virt_to_page(page), FORMAT_PAGE, offset_in_page(page));
		}
		r = submit_bio_wait(&bio);
		bio_uninit(&bio);
	}
	return r;
}

int log_replay(struct block_device *bdev, u64 base, const struct format_super *super,
	       struct rangetable *table, void *buf, u64 *head, char **error)
{
	enum format_step step = FORMAT_MORE;
	struct format_replay replay;
	unsigned int n = 0, i;
	u64 done;
	int r;

	format_replay_begin(&replay, super, table);
	for (done = 0; done < super->log_pages && step == FORMAT_MORE; done += n) {
		u64 at = format_place(super, super->log_start + done);

		n = min_t(u64, LOGREAD_PAGES, super->log_pages - done);
		n = min_t(u64, n, FORMAT_SUPERS + super->log_pages - at);
		r = log_pages_io(bdev, REQ_OP_READ, base + at, buf, n);
		if (r) {
			*error = "The store's log on the backing device cannot be read";
			return r;
		}
		for (i = 0; i < n && step == FORMAT_MORE; i++)
			step = format_replay_page(&replay, buf + i * FORMAT_PAGE);
		cond_resched();
	}
	if (step == FORMAT_MORE)
		step = format_replay_end(&replay);
	if (step == FORMAT_NO_MEMORY) {
		*error = "Not enough memory for the store's tables";
		return -ENOMEM;
	}
	*head = replay.next;
	if (step != FORMAT_DAMAGED)
		return 0;
	DMERR("%pg: store damaged at page %llu of the log: %s", bdev, replay.next, replay.why);
	*error = "The store on the backing device is damaged: see david store check";
	return -EUCLEAN;
}
