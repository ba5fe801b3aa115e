/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A request's way through the modelled disk, for perf and trace-cmd. Times are
 * nanoseconds of CLOCK_MONOTONIC. `david-sim replay --recorded` reads the text form
 * back, so words are only ever added at the end of a line.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM david

#if !defined(DM_DAVID_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define DM_DAVID_TRACE_H

#include <linux/kdev_t.h>
#include <linux/tracepoint.h>
#include "timing.h"

/*
 * A request enters the replica queue. Ids count the requests of a device in this order. An SSD's
 * discards are told of, too, as op 3; nothing completes them.
 */
TRACE_EVENT(david_queue,
	TP_PROTO(dev_t dev, const struct timed *timed, u64 arrival),
	TP_ARGS(dev, timed, arrival),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, id)
		__field(u64, arrival)
		__field(u8, op)
		__field(u64, sector)
		__field(u32, sectors)
		__field(u8, flags)
		__field(u64, waited)
		__field(u16, cpu)
		__field(u64, plug)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->id = timed->id;
		__entry->arrival = arrival;
		__entry->op = timed->request.op;
		__entry->sector = timed->request.sector;
		__entry->sectors = timed->request.sectors;
		__entry->flags = timed->request.flags;
		__entry->waited = arrival - timed->arrived_ns;
		__entry->cpu = timed->request.cpu;
		__entry->plug = timed->plug;
	),
	TP_printk("dev=%u:%u id=%llu arrival=%llu op=%u sector=%llu sectors=%u flags=%u waited=%llu cpu=%u plug=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id, __entry->arrival,
		  __entry->op, __entry->sector, __entry->sectors, __entry->flags, __entry->waited,
		  __entry->cpu, __entry->plug)
);

/* A task unplugs: what it had plugged comes to the scheduler. It is before request number id. */
TRACE_EVENT(david_unplug,
	TP_PROTO(dev_t dev, u64 id, u64 now, u64 plug, bool sleeps),
	TP_ARGS(dev, id, now, plug, sleeps),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, id)
		__field(u64, now)
		__field(u64, plug)
		__field(bool, sleeps)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->id = id;
		__entry->now = now;
		__entry->plug = plug;
		__entry->sleeps = sleeps;
	),
	TP_printk("dev=%u:%u id=%llu now=%llu plug=%llu sleeps=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id, __entry->now,
		  __entry->plug, __entry->sleeps)
);

/* The queue is full, and the request has to wait. It would have been number id. */
TRACE_EVENT(david_wait,
	TP_PROTO(dev_t dev, const struct timed *timed, u64 id),
	TP_ARGS(dev, timed, id),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, id)
		__field(u64, now)
		__field(u8, op)
		__field(u64, sector)
		__field(u32, sectors)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->id = id;
		__entry->now = timed->arrived_ns;
		__entry->op = timed->request.op;
		__entry->sector = timed->request.sector;
		__entry->sectors = timed->request.sectors;
	),
	TP_printk("dev=%u:%u id=%llu now=%llu op=%u sector=%llu sectors=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id, __entry->now,
		  __entry->op, __entry->sector, __entry->sectors)
);

/* A request is delivered; with mode=model-only, the model has completed it. */
TRACE_EVENT(david_complete,
	TP_PROTO(dev_t dev, const struct timed *timed, u64 delivered),
	TP_ARGS(dev, timed, delivered),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, id)
		__field(u64, arrival)
		__field(u64, dispatch)
		__field(u64, completion)
		__field(u64, delivered)
		__field(u64, lateness)
		__field(u64, overhead)
		__field(u64, seek)
		__field(u64, rotation)
		__field(u64, transfer)
		__field(u8, hit)
		__field(u64, flush)
		__field(u64, queued)
		__field(u64, die)
		__field(u64, channel)
		__field(u64, map)
		__field(u64, fault)
		__field(u8, failed)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->id = timed->id;
		__entry->arrival = timed->request.arrival;
		__entry->dispatch = timed->request.dispatch;
		__entry->completion = timed->request.completion;
		__entry->delivered = delivered;
		__entry->lateness = delivered - timed->request.completion;
		__entry->overhead = timed->request.parts.overhead;
		__entry->seek = timed->request.parts.seek;
		__entry->rotation = timed->request.parts.rotation;
		__entry->transfer = timed->request.parts.transfer;
		__entry->hit = timed->request.parts.hit;
		__entry->flush = timed->request.parts.flush;
		__entry->queued = timed->request.parts.queued;
		__entry->die = timed->request.parts.die;
		__entry->channel = timed->request.parts.channel;
		__entry->map = timed->request.parts.map;
		__entry->fault = timed->request.parts.fault;
		__entry->failed = timed->request.fault;
	),
	TP_printk("dev=%u:%u id=%llu arrival=%llu dispatch=%llu completion=%llu delivered=%llu lateness=%llu overhead=%llu seek=%llu rotation=%llu transfer=%llu hit=%u flush=%llu queued=%llu die=%llu channel=%llu map=%llu fault=%llu failed=%u",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id, __entry->arrival,
		  __entry->dispatch, __entry->completion, __entry->delivered, __entry->lateness,
		  __entry->overhead, __entry->seek, __entry->rotation, __entry->transfer,
		  __entry->hit, __entry->flush, __entry->queued, __entry->die,
		  __entry->channel, __entry->map, __entry->fault, __entry->failed)
);

/*
 * An SSD's map has been told that these sectors have been written, at this time and before request
 * number id. With id 0: what the disk had before; these ranges come in order, and do not touch.
 */
TRACE_EVENT(david_written,
	TP_PROTO(dev_t dev, u64 id, u64 now, u64 sector, u64 sectors),
	TP_ARGS(dev, id, now, sector, sectors),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, id)
		__field(u64, now)
		__field(u64, sector)
		__field(u64, sectors)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->id = id;
		__entry->now = now;
		__entry->sector = sector;
		__entry->sectors = sectors;
	),
	TP_printk("dev=%u:%u id=%llu now=%llu sector=%llu sectors=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->id, __entry->now,
		  __entry->sector, __entry->sectors)
);

/* The disk goes on in this mode: enum david_mode. Requests of the old one may not be over. */
TRACE_EVENT(david_mode,
	TP_PROTO(dev_t dev, u8 mode),
	TP_ARGS(dev, mode),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u8, mode)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->mode = mode;
	),
	TP_printk("dev=%u:%u mode=%u", MAJOR(__entry->dev), MINOR(__entry->dev), __entry->mode)
);

/* In the order of the enums in uapi/dm-david.h. */
#define david_show_written(what) __print_symbolic(what, \
	{ DAVID_WRITTEN_KEPT,		"kept" }, \
	{ DAVID_WRITTEN_FILL,		"fill" }, \
	{ DAVID_WRITTEN_SQUASHED,	"squashed" })
#define DAVID_EVIDENCE_SYMBOL(kind, name, says)	, { DAVID_EV_##kind, #name }
/* Its arguments are expanded before __print_symbolic() sees them. */
#define DAVID_PRINT_SYMBOLIC(...)	__print_symbolic(__VA_ARGS__)
#define david_show_evidence(what) \
	DAVID_PRINT_SYMBOLIC(what DAVID_EVIDENCE(DAVID_EVIDENCE_SYMBOL))

/* What became of a run of blocks of a write, or of a part of one, and the evidence that decided. */
TRACE_EVENT(david_verdict,
	TP_PROTO(dev_t dev, u64 sector, u32 sectors, enum david_written written,
		 enum david_evidence evidence),
	TP_ARGS(dev, sector, sectors, written, evidence),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, sectors)
		__field(u8, written)
		__field(u8, evidence)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->sectors = sectors;
		__entry->written = written;
		__entry->evidence = evidence;
	),
	TP_printk("dev=%u:%u sector=%llu sectors=%u written=%s evidence=%s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->sector, __entry->sectors,
		  david_show_written(__entry->written), david_show_evidence(__entry->evidence))
);

/* What the classifier said of a run of sectors of a write, and why: docs/CLASSIFICATION.md. */
TRACE_EVENT(david_implied,
	TP_PROTO(dev_t dev, u64 sector, u32 sectors, const char *reason),
	TP_ARGS(dev, sector, sectors, reason),
	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, sector)
		__field(u32, sectors)
		__array(char, reason, 16)
	),
	TP_fast_assign(
		__entry->dev = dev;
		__entry->sector = sector;
		__entry->sectors = sectors;
		strscpy(__entry->reason, reason, sizeof(__entry->reason));
	),
	TP_printk("dev=%u:%u sector=%llu sectors=%u reason=%s",
		  MAJOR(__entry->dev), MINOR(__entry->dev), __entry->sector, __entry->sectors,
		  __entry->reason)
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
