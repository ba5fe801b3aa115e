/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux of today in front of a drive: blk-mq.
 *
 * A request of the host waits in its task's plug list until the task unplugs, has gathered 32, or
 * one of them has 128 KiB. Then it is with the scheduler: mq-deadline for all hardware queues
 * together, or none, with a list for each CPU. It goes to the drive when a tag of its hardware
 * queue is free and the drive takes another command. Flushes pass all that, one at a time: those
 * that come while one is under way share the next.
 *
 * With a scheduler each hardware queue has profile.nr_requests tags for requests that wait, and
 * profile.hw_depth for those in the drive. Without, a request has a tag of the drive from its
 * arrival on. Who gets no tag waits. Waiters are woken in batches, when that many tags were freed.
 *
 * Requests that overlap are not kept in order: neither does Linux.
 *
 * Linux 6.12 and 7.3: block/blk-mq.c, blk-mq-sched.c, blk-mq-tag.c, blk-flush.c, lib/sbitmap.c.
 *
 * The functions are those of disk.h, which calls them.
 */
#ifndef DAVID_MODEL_BLK_MQ_H
#define DAVID_MODEL_BLK_MQ_H

#include "disk.h"

struct blk_mq;

struct blk_mq *blk_mq_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp);
void blk_mq_destroy(struct blk_mq *mq);
size_t blk_mq_bytes(const struct blk_mq *mq);
struct solid *blk_mq_solid(const struct blk_mq *mq);
struct drive *blk_mq_drive(const struct blk_mq *mq);
void blk_mq_sum_into(struct blk_mq *mq, struct drive_sums *sums);

bool blk_mq_merges(struct blk_mq *mq, const struct disk_request *request, u64 now);
bool blk_mq_enter(struct blk_mq *mq, struct disk_submitter *who, enum disk_op op, u64 now);
u32 blk_mq_wait(struct blk_mq *mq, const struct disk_submitter *who);
bool blk_mq_wakes(const struct blk_mq *mq, u32 place);
u32 blk_mq_wakeups(const struct blk_mq *mq);
void blk_mq_woken(struct blk_mq *mq, struct disk_submitter *who, enum disk_op op, u64 now);
void blk_mq_submit(struct blk_mq *mq, struct disk_request *request, u64 now);
void blk_mq_unplug(struct blk_mq *mq, struct disk_plug *plug, bool sleeps, u64 now);
void blk_mq_trim(struct blk_mq *mq, u64 sector, u64 sectors, u64 now);
u64 blk_mq_next_event(const struct blk_mq *mq);
struct disk_request *blk_mq_advance(struct blk_mq *mq, u64 now);

#endif
