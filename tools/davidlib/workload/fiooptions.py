# SPDX-License-Identifier: GPL-2.0
"""fio's options (3.33, `fio --cmdhelp=all`), each in one class: REFUSED with the reason, or KEPT, as the
figures stay of what fio itself counts. What is in neither is refused, too: nobody has looked at it.
"""

from __future__ import annotations

_PLACE = "bench says where the files are"
_SEED = "each run's seed goes to fio; seeds = [...] or repeats of the question choose them"
_TIMES = "bench takes each request's time from fio's log"
_LOST = "its file would go with the lab; the run's result has the figures over time"
_BEFORE = "bench makes the files before it measures"
_SPAN = ("the disk's figures would be of that time, too, and fio's are not; the built-in workloads have "
         "steady = true")
_STEADY = ("fio ends the job when its rate is steady, and the way there would be in the figures; a run with "
           "a trend says so, and the built-in workloads have steady = true")
_SEARCH = "fio tries one depth after another, and all of them would be in the figures; write an iodepth"
_VERIFY = ("reads that look at what was written would count as the job's, and the fake disk does not keep "
           "the content of data")
_REPLAY = ("the log names files of its own, and may have syncs that fio does not time; kind = 'replay' is "
           "for traces")
_ERRORS = "a request that failed would count as done"
_SPINS = "it loops until something happens, and under virtual time nothing does meanwhile"

REFUSED = {
    "include": "bench takes the job's text alone: put what the file says into it",
    "profile": "it makes jobs of its own; write them down",
    **dict.fromkeys(("directory", "opendir"), _PLACE),
    **dict.fromkeys(("randseed", "randrepeat", "allrandrepeat"), _SEED),
    "clocksource": "bench needs clock_gettime: fio's own clock is not the lab's",
    "ioscheduler": "the fake disk's scheduler is the drive's: profile-option = ['scheduler=...']",
    **dict.fromkeys(("create_only", "create_on_open", "unlink", "unlink_each_loop"), _BEFORE),
    **dict.fromkeys(
        ("ramp_time", "startdelay", "wait_for", "pre_read", "exec_prerun", "exec_postrun"), _SPAN),
    "new_group": "jobs that run at once are one group; stonewall begins another one",
    **dict.fromkeys(("steadystate", "steadystate_duration", "steadystate_ramp_time"), _STEADY),
    **dict.fromkeys(("latency_target", "latency_window", "latency_percentile", "latency_run"), _SEARCH),
    **dict.fromkeys(
        ("verify", "do_verify", "verify_only", "verify_interval", "verify_offset", "verify_pattern",
         "verify_fatal", "verify_dump", "verify_async", "verify_async_cpus", "verify_backlog",
         "verify_backlog_batch", "experimental_verify", "verify_state_load", "verify_state_save",
         "trim_percentage", "trim_verify_zero", "trim_backlog", "trim_backlog_batch"), _VERIFY),
    **dict.fromkeys(
        ("read_iolog", "read_iolog_chunked", "replay_no_stall", "replay_redirect", "replay_scale",
         "replay_align", "replay_time_scale", "replay_skip", "merge_blktrace_file", "merge_blktrace_scalars",
         "merge_blktrace_iters"), _REPLAY),
    **dict.fromkeys(("continue_on_error", "ignore_error", "error_dump"), _ERRORS),
    **dict.fromkeys(("gtod_cpu", "thinktime_spin", "flow", "flow_id", "flow_sleep", "sqthread_poll",
                     "sqthread_poll_cpu"), _SPINS),
    **dict.fromkeys(
        ("unified_rw_reporting", "write_lat_log", "log_avg_msec", "log_hist_msec", "log_max_value",
         "log_compression", "log_compression_cpus", "log_store_compressed", "log_unix_epoch",
         "log_alternate_epoch", "log_alternate_epoch_clock_id", "per_job_logs", "disable_lat", "gtod_reduce",
         "stats"), _TIMES),
    **dict.fromkeys(("write_bw_log", "write_iops_log", "write_hist_log", "bwavgtime", "iopsavgtime",
                     "log_hist_coarseness"), _LOST),
}

KEPT = frozenset("""
    description name kb_base unit_base
    filename filename_format unique_filename lockfile nrfiles openfiles file_service_type fallocate
    fadvise_hint
    create_serialize create_fsync allow_file_create allow_mounted_write overwrite filesize file_append
    fill_device
    rw rw_sequencer bs ba bsrange bssplit bs_unaligned size io_size offset offset_increment offset_align
    number_ios
    norandommap random_generator random_distribution percentage_random rwmixread rwmixwrite
    direct atomic buffered invalidate sync write_hint write_barrier
    fsync fdatasync sync_file_range end_fsync fsync_on_close
    ioengine iodepth iodepth_batch iodepth_batch_complete_min iodepth_batch_complete_max iodepth_low
    serialize_overlap io_submit_mode
    loops numjobs thread runtime time_based stonewall exitall exit_what exitall_on_error
    thinktime thinktime_blocks thinktime_blocks_type thinktime_iotime
    rate rate_min rate_iops rate_iops_min rate_process rate_cycle rate_ignore_thinktime max_latency
    zonemode zonesize zonecapacity zonerange zoneskip read_beyond_wp max_open_zones job_max_open_zones
    ignore_zone_limits zone_reset_threshold zone_reset_frequency
    mem iomem_align hugepage-size lockmem zero_buffers refill_buffers scramble_buffers buffer_pattern
    buffer_compress_percentage buffer_compress_chunk dedupe_percentage dedupe_mode
    dedupe_working_set_percentage
    dedupe_global
    nice prio prioclass cpumask cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy
    cgroup cgroup_weight cgroup_nodelete uid gid
    write_iolog log_entries log_offset log_prio
    group_reporting disk_util block_error_percentiles clat_percentiles lat_percentiles slat_percentiles
    percentile_list significant_figures disable_clat disable_slat disable_bw_measurement
    hipri hipri_percentage uncached nowait userspace_reap cmdprio_percentage cmdprio_class cmdprio
    cmdprio_bssplit
    fixedbufs registerfiles nonvectored force_async thp
""".split())

# Two names of one option: fio takes the one that stands last.
ALIASES = {
    "readwrite": "rw", "blocksize": "bs", "blockalign": "ba", "blocksize_range": "bsrange",
    "blocksize_unaligned": "bs_unaligned", "fileoffset": "offset", "io_limit": "io_size",
    "nr_files": "nrfiles", "fill_fs": "fill_device", "timeout": "runtime", "wait_for_previous": "stonewall",
    "iomem": "mem", "ratemin": "rate_min", "ratecycle": "rate_cycle", "iodepth_batch_submit": "iodepth_batch",
    "iodepth_batch_complete": "iodepth_batch_complete_min", "disable_bw": "disable_bw_measurement",
    "ss": "steadystate", "ss_dur": "steadystate_duration", "ss_ramp": "steadystate_ramp_time",
    "start_delay": "startdelay",
}


def refusal(option: str) -> str:
    """Why a job cannot have it; nothing: it can."""
    if why := REFUSED.get(option):
        return f"{option}: leave it out; {why}"
    if option in KEPT:
        return ""
    return f"{option}: bench does not know what it would do to the figures; leave it out"
