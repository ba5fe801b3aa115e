/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux in front of an NVMe drive: no scheduler and no plugging, so a request is with the drive as
 * soon as it comes. It is cut into commands of profile.max_sectors. Each command has a tag while it
 * is under way; there are profile.nr_requests for reads and writes together. Flushes are commands
 * like others.
 *
 * Linux 6.12: drivers/nvme/host/pci.c, nvme_queue_rq(); block/blk-mq-tag.c. There each CPU may have
 * a queue with tags of its own; here is one queue, so nr_requests is what all submitters have.
 *
 * The functions are those of disk.h, which calls them. nr_requests is waited for in turn: nobody
 * adds a batch.
 */
#ifndef DAVID_MODEL_NVME_H
#define DAVID_MODEL_NVME_H

#include "disk.h"

struct nvme;

struct nvme *nvme_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp);
void nvme_destroy(struct nvme *nvme);
size_t nvme_bytes(const struct nvme *nvme);
struct solid *nvme_solid(const struct nvme *nvme);
void nvme_sum_into(struct nvme *nvme, struct drive_sums *sums);

bool nvme_enter(struct nvme *nvme, struct disk_submitter *who, enum disk_op op, u64 now);
u32 nvme_wakeups(const struct nvme *nvme);
void nvme_woken(struct nvme *nvme, struct disk_submitter *who, enum disk_op op, u64 now);
void nvme_submit(struct nvme *nvme, struct disk_request *request, u64 now);
void nvme_trim(struct nvme *nvme, u64 sector, u64 sectors, u64 now);
u64 nvme_next_event(const struct nvme *nvme);
struct disk_request *nvme_advance(struct nvme *nvme, u64 now);

#endif
