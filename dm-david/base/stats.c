// SPDX-License-Identifier: GPL-2.0
/* Counters: summing up and printing. */
#include "stats.h"

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#ifdef STOPWATCH_TSC
DEFINE_STATIC_KEY_FALSE(stopwatch_tsc);
#endif

void stopwatch_setup(void)
{
#ifdef STOPWATCH_TSC
	if (boot_cpu_has(X86_FEATURE_TSC) && tsc_khz && !check_tsc_unstable())
		static_branch_enable(&stopwatch_tsc);
#endif
}

static u64 stopwatch_ns(u64 ticks)
{
#ifdef STOPWATCH_TSC
	if (static_branch_likely(&stopwatch_tsc))
		return mul_u64_u32_div(ticks, USEC_PER_SEC, tsc_khz);
#endif
	return ticks;
}

/* Set @sum to the sum over all CPUs. */
static void stats_sum(struct stats __percpu *stats, struct stats *sum)
{
	int cpu, component;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		/* All fields are u64: an array to be added up. */
		const u64 *from = (const u64 *)per_cpu_ptr(stats, cpu);
		u64 *to = (u64 *)sum;
		size_t i;

		for (i = 0; i < sizeof(*sum) / sizeof(u64); i++)
			to[i] += READ_ONCE(from[i]);
	}
	for (component = 0; component < DAVID_CPU_NR; component++)
		sum->cpu[component] = stopwatch_ns(sum->cpu[component]);
}

void stats_read(struct stats __percpu *stats, struct david_stats *st)
{
	/* Too large for the stack. */
	static DEFINE_MUTEX(lock);
	static struct stats sum;

	mutex_lock(&lock);
	stats_sum(stats, &sum);
	st->nospc = sum.nospc;
	st->errors = sum.errors;
	st->range_locks = sum.range_locks;
	COPY_ARRAY(st->cpu, sum.cpu);
	COPY_ARRAY(st->verdict, sum.verdict);
	BUILD_BUG_ON(DAVID_EV_NR > 2 * DAVID_SLOTS);
	memcpy(st->evidence, sum.evidence, sizeof(st->evidence));
	memcpy(st->more_evidence, sum.evidence + DAVID_SLOTS,
	       sizeof(sum.evidence) - sizeof(st->evidence));
	COPY_ARRAY(st->requests, sum.requests);
	COPY_ARRAY(st->sectors, sum.sectors);
	COPY_ARRAY(st->late, sum.late);
	st->late_50us = sum.late_50us;
	st->late_ns = sum.late_ns;
	COPY_ARRAY(st->delivered, sum.delivered);
	COPY_ARRAY(st->delivered_ns, sum.delivered_ns);
	COPY_ARRAY(st->delivered_late_ns, sum.delivered_late_ns);
	COPY_ARRAY(st->delivered_over, sum.delivered_over);
	COPY_ARRAY(st->measured, sum.measured);
	COPY_ARRAY(st->measured_ns, sum.measured_ns);
	COPY_ARRAY(st->measured_times, sum.measured_times);
	COPY_ARRAY(st->zones, sum.zones);
	mutex_unlock(&lock);
}

struct figures *figures_create(void)
{
	struct figures *figures = kzalloc(sizeof(*figures), GFP_KERNEL);

	if (!figures)
		return NULL;
	spin_lock_init(&figures->model.lock);
	INIT_LIST_HEAD(&figures->model.sources);
	figures->created = div_u64(ktime_get_real_ns(), NSEC_PER_USEC);
	return figures;
}

void figures_destroy(struct figures *figures)
{
	if (figures)
		kvfree(figures->model.reached);
	kfree(figures);
}

static void model_stats(struct model_figures *model, struct david_stats *st)
{
	struct model_source *source;
	unsigned long flags;

	st->late_max = atomic64_read(&model->late_max);
	spin_lock_irqsave(&model->lock, flags);
	list_for_each_entry(source, &model->sources, list)
		source->count(source);
	COPY_ARRAY(st->flash, model->flash);
	COPY_ARRAY(st->reach, model->reach);
	COPY_ARRAY(st->cached, model->cached);
	COPY_ARRAY(st->pending, model->pending);
	COPY_ARRAY(st->faults, model->faults);
	COPY_ARRAY(st->zones_ns, model->zones_ns);
	st->read_hits = model->read_hits;
	st->read_pages = model->read_pages;
	COPY_ARRAY(st->modelled, model->requests);
	COPY_ARRAY(st->modelled_ns, model->ns);
	COPY_ARRAY(st->modelled_times, model->times);
	COPY_ARRAY(st->parts, model->parts);
	st->hits = model->hits;
	st->busy_ns = model->busy_ns;
	st->queue_waits = model->queue_waits;
	st->queue_wait_ns = model->queue_wait_ns;
	st->unmodelled = model->unmodelled;
	spin_unlock_irqrestore(&model->lock, flags);
}

void figures_stats(struct figures *figures, unsigned int block_size, struct david_stats *st)
{
	unsigned int i;

	model_stats(&figures->model, st);
	st->created = figures->created;
	st->mode = READ_ONCE(figures->mode);
	for (i = 0; i < DAVID_UNCLASSIFIED_NR; i++)
		st->unclassified[i] = div_u64(atomic64_read(&figures->unclassified[i]), block_size);
	st->raw_names = atomic64_read(&figures->raw_names);
	st->raw_names_full = atomic64_read(&figures->raw_names_full);
	st->mem[DAVID_MEM_POOLS] += atomic64_read(&figures->pool_bytes);
	st->mem[DAVID_MEM_TARGET] += sizeof(*figures) + atomic64_read(&figures->target_bytes);
	st->mem[DAVID_MEM_CLASSIFY] += atomic64_read(&figures->classify_bytes);
	st->mem[DAVID_MEM_MODEL] += atomic64_read(&figures->model_bytes);
}

static const char * const state_names[] = {
	[DAVID_STATE_OK] = "ok",
	[DAVID_STATE_LOW] = "low",
	[DAVID_STATE_FULL] = "full",
	[DAVID_STATE_FAILED] = "failed",
};

static const char * const fault_names[] = {
	[DAVID_FAULT_NONE] = "none",
	[DAVID_FAULT_FLUSH] = "flush",
	[DAVID_FAULT_LOG] = "log",
	[DAVID_FAULT_SUPER] = "superblock",
	[DAVID_FAULT_ROOM] = "room",
};

static const char * const mode_names[] = {
	[DAVID_MODE_SPEEDUP] = "speedup",
	[DAVID_MODE_TIMING_ACCURATE] = "timing-accurate",
	[DAVID_MODE_MODEL_ONLY] = "model-only",
};

const char *mode_name(enum david_mode mode)
{
	return mode_names[mode];
}

int mode_parse(const char *name)
{
	return match_string(mode_names, ARRAY_SIZE(mode_names), name);
}

static const char * const mem_names[DAVID_SLOTS] = {
	[DAVID_MEM_RANGES] = "ranges",
	[DAVID_MEM_BITMAP] = "bitmap",
	[DAVID_MEM_POOLS] = "pools",
	[DAVID_MEM_TARGET] = "target",
	[DAVID_MEM_CLASSIFY] = "classify",
	[DAVID_MEM_MODEL] = "model",
	[DAVID_MEM_CHECKSUMS] = "checksums",
};

static const char * const cpu_names[DAVID_SLOTS] = {
	[DAVID_CPU_CLASSIFY] = "classify",
	[DAVID_CPU_MAP] = "map",
	[DAVID_CPU_CONTENT] = "content",
	[DAVID_CPU_IO] = "io",
	[DAVID_CPU_MODEL] = "model",
};

static const char * const verdict_names[DAVID_SLOTS] = {
	[DAVID_WRITTEN_KEPT] = "kept",
	[DAVID_WRITTEN_FILL] = "fill",
	[DAVID_WRITTEN_SQUASHED] = "squashed",
	[DAVID_WRITTEN_EXACT] = "exact",
};

static const char * const evidence_names[2 * DAVID_SLOTS] = {
#define EVIDENCE_NAME(kind, name, says)	#name,
	DAVID_EVIDENCE(EVIDENCE_NAME)
#undef EVIDENCE_NAME
};

static const char * const range_names[DAVID_SLOTS] = {
	[DAVID_RANGE_FILL] = "fill",
	[DAVID_RANGE_SQUASHED] = "squashed",
	[DAVID_RANGE_STORED] = "stored",
	[DAVID_RANGE_PACKED] = "packed",
};

static const char * const request_names[DAVID_SLOTS] = {
	[DAVID_REQ_READ] = "read",
	[DAVID_REQ_WRITE] = "write",
	[DAVID_REQ_FLUSH] = "flush",
	[DAVID_REQ_DISCARD] = "discard",
	[DAVID_REQ_ZEROES] = "zeroes",
};

static const char * const sums_names[DAVID_SLOTS] = {
	[DAVID_SUMS_BLOCKS] = "blocks",
	[DAVID_SUMS_STORE] = "store",
	[DAVID_SUMS_LOADS] = "loads",
	[DAVID_SUMS_EVICTIONS] = "evictions",
	[DAVID_SUMS_SAVES] = "saves",
};

static const char * const part_names[DAVID_SLOTS] = {
	[DAVID_PART_OVERHEAD] = "overhead",
	[DAVID_PART_SEEK] = "seek",
	[DAVID_PART_ROTATION] = "rotation",
	[DAVID_PART_TRANSFER] = "transfer",
	[DAVID_PART_FLUSH] = "flush",
	[DAVID_PART_QUEUED] = "queued",
	[DAVID_PART_DIE] = "die",
	[DAVID_PART_CHANNEL] = "channel",
	[DAVID_PART_MAP] = "map",
	[DAVID_PART_FAULT] = "fault",
};

/* Kinds of requests that take time. */
static const char * const timed_names[DAVID_SLOTS] = {
	[DAVID_REQ_READ] = "read",
	[DAVID_REQ_WRITE] = "write",
	[DAVID_REQ_FLUSH] = "flush",
};

static const char * const unclassified_names[DAVID_SLOTS] = {
	[DAVID_UNCLASSIFIED_NOW] = "now",
	[DAVID_UNCLASSIFIED_MOST] = "most",
	[DAVID_UNCLASSIFIED_SPILLED] = "spilled",
	[DAVID_UNCLASSIFIED_DATA] = "data",
	[DAVID_UNCLASSIFIED_METADATA] = "metadata",
};

static const char * const flash_names[DAVID_SLOTS] = {
	[DAVID_FLASH_HOST_PAGES] = "host_pages",
	[DAVID_FLASH_MOVED_PAGES] = "moved_pages",
	[DAVID_FLASH_FOLDED_PAGES] = "folded_pages",
	[DAVID_FLASH_READS] = "reads",
	[DAVID_FLASH_PROGRAMS] = "programs",
	[DAVID_FLASH_SLC_PROGRAMS] = "slc_programs",
	[DAVID_FLASH_MAP_PROGRAMS] = "map_programs",
	[DAVID_FLASH_MAP_READS] = "map_reads",
	[DAVID_FLASH_ERASES] = "erases",
	[DAVID_FLASH_EMPTY_READS] = "empty_reads",
	[DAVID_FLASH_BUFFER_READS] = "buffer_reads",
	[DAVID_FLASH_BUFFER_WAITS] = "buffer_waits",
	[DAVID_FLASH_SUSPENDED] = "suspended",
	[DAVID_FLASH_FRESH_PAGES] = "fresh_pages",
};

static const char * const reach_names[DAVID_SLOTS] = {
	[DAVID_REACH_FIRST] = "first",
	[DAVID_REACH_END] = "end",
	[DAVID_REACH_PAGES] = "pages",
	[DAVID_REACH_MOST_FIRST] = "most_first",
	[DAVID_REACH_MOST_END] = "most_end",
};

static const char * const cached_names[DAVID_SLOTS] = {
	[DAVID_REQ_READ] = "read",
	[DAVID_REQ_WRITE] = "write",
};

static const char * const pending_names[DAVID_SLOTS] = {
	[DAVID_PENDING_SECTORS] = "sectors",
	[DAVID_PENDING_RUNS] = "runs",
};

static const char * const failed_names[DAVID_SLOTS] = {
	[DAVID_FAULTS_MEDIA_READ] = "media_read",
	[DAVID_FAULTS_MEDIA_WRITE] = "media_write",
	[DAVID_FAULTS_TIMEOUT] = "timeout",
	[DAVID_FAULTS_GONE] = "gone",
	[DAVID_FAULTS_SLOWED] = "slowed",
	[DAVID_FAULTS_STALLED] = "stalled",
	[DAVID_FAULTS_DETOURS] = "detours",
	[DAVID_FAULTS_MOVED] = "moved",
};

static const char * const zone_names[DAVID_SLOTS] = {
	[DAVID_ZONE_OPEN] = "open",
	[DAVID_ZONE_CLOSE] = "close",
	[DAVID_ZONE_FINISH] = "finish",
	[DAVID_ZONE_RESET] = "reset",
	[DAVID_ZONE_APPEND] = "append",
	[DAVID_ZONE_OPENED] = "opened",
	[DAVID_ZONE_REFUSED] = "refused",
};

/* Those without data. */
static const char * const timed_zone_names[DAVID_SLOTS] = {
	[DAVID_ZONE_OPEN] = "open",
	[DAVID_ZONE_CLOSE] = "close",
	[DAVID_ZONE_FINISH] = "finish",
	[DAVID_ZONE_RESET] = "reset",
};

/* Stands for the names of a histogram's buckets, which have none. */
static const char * const histogram[1];

#define FIELD(field) { #field, offsetof(struct david_stats, field) }
#define ARRAY(field, prefix, names) { prefix, offsetof(struct david_stats, field), names }
#define HISTOGRAM(field) { #field, offsetof(struct david_stats, field), histogram }

/*
 * Every figure by its name; an array by a prefix and the names of its slots; a
 * histogram is a word whose value is a list, up to its last bucket that is not 0.
 */
static const struct {
	const char *name;
	size_t offset;
	const char * const *slots;
} figures[] = {
	FIELD(target_sectors),
	FIELD(store_blocks),
	FIELD(store_used),
	FIELD(store_low_water),
	FIELD(nospc),
	FIELD(errors),
	FIELD(range_locks),
	ARRAY(mem, "mem", mem_names),
	ARRAY(cpu, "cpu", cpu_names),
	ARRAY(verdict, "written", verdict_names),
	ARRAY(evidence, "ev", evidence_names),
	ARRAY(more_evidence, "ev", evidence_names + DAVID_SLOTS),
	ARRAY(ranges, "ranges", range_names),
	ARRAY(blocks, "blocks", range_names),
	ARRAY(requests, "requests", request_names),
	ARRAY(sectors, "sectors", request_names),
	HISTOGRAM(late),
	FIELD(late_50us),
	FIELD(late_max),
	FIELD(late_ns),
	FIELD(busy_ns),
	FIELD(queue_waits),
	FIELD(queue_wait_ns),
	FIELD(unmodelled),
	FIELD(hits),
	ARRAY(parts, "part", part_names),
	ARRAY(modelled, "modelled", timed_names),
	ARRAY(modelled_ns, "modelled_ns", timed_names),
	HISTOGRAM(modelled_times),
	ARRAY(measured, "measured", timed_names),
	ARRAY(measured_ns, "measured_ns", timed_names),
	HISTOGRAM(measured_times),
	ARRAY(checksums, "checksums", sums_names),
	FIELD(exact_blocks),
	FIELD(exact_limit),
	ARRAY(unclassified, "unclassified", unclassified_names),
	FIELD(log_retries),
	FIELD(raw_names),
	FIELD(raw_names_full),
	ARRAY(delivered, "delivered", timed_names),
	ARRAY(delivered_ns, "delivered_ns", timed_names),
	ARRAY(delivered_late_ns, "delivered_late_ns", timed_names),
	ARRAY(delivered_over, "delivered_over", timed_names),
	FIELD(pool_saved),
	FIELD(pool_memory),
	FIELD(packs_store),
	FIELD(read_hits),
	FIELD(read_pages),
	ARRAY(flash, "flash", flash_names),
	ARRAY(reach, "reach", reach_names),
	ARRAY(cached, "cached", cached_names),
	ARRAY(pending, "pending", pending_names),
	ARRAY(faults, "faults", failed_names),
	FIELD(created),
	ARRAY(zones, "zones", zone_names),
	ARRAY(zones_ns, "zones_ns", timed_zone_names),
};

static int print_histogram(const u64 *value, char *result, unsigned int maxlen)
{
	unsigned int nr = DAVID_BUCKETS, i;
	int len;

	while (nr > 1 && !value[nr - 1])
		nr--;
	len = scnprintf(result, maxlen, "%llu", value[0]);
	for (i = 1; i < nr; i++)
		len += scnprintf(result + len, maxlen - len, ",%llu", value[i]);
	return len;
}

int stats_print(const struct david_stats *st, char *result, unsigned int maxlen)
{
	unsigned int i, slot;
	int len;

	len = scnprintf(result, maxlen, "state=%s fault=%s mode=%s block_size=%u",
			state_names[st->state], fault_names[st->fault], mode_names[st->mode],
			st->block_size);
	for (i = 0; i < ARRAY_SIZE(figures); i++) {
		const u64 *value = (const void *)st + figures[i].offset;

		if (!figures[i].slots) {
			len += scnprintf(result + len, maxlen - len, " %s=%llu",
					 figures[i].name, *value);
			continue;
		}
		if (figures[i].slots == histogram) {
			len += scnprintf(result + len, maxlen - len, " %s=", figures[i].name);
			len += print_histogram(value, result + len, maxlen - len);
			continue;
		}
		for (slot = 0; slot < DAVID_SLOTS; slot++)
			if (figures[i].slots[slot])
				len += scnprintf(result + len, maxlen - len, " %s_%s=%llu",
						 figures[i].name, figures[i].slots[slot],
						 value[slot]);
	}
	return len;
}
