// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's part: at the tracepoints of calls and tasks it makes records (tracefile.h) and puts
 * them into a ring. Nothing waits: where the ring is full, a record is counted as lost.
 *
 * The parts are included and not linked: what they share is inlined into each program, and the
 * verifier takes each program by itself. A part may use those above it.
 */
#include <stdbool.h>
#include <linux/aio_abi.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s64 s64;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "kernel.bpf.h"
#include "../trace.bpf.h"

#include "../../../calls/tracefile.h"

#include "ring.bpf.h"
#include "task.bpf.h"
#include "file.bpf.h"
#include "memory.bpf.h"
#include "aio.bpf.h"
#include "uring.bpf.h"
#include "rights.bpf.h"
#include "call.bpf.h"
#include "life.bpf.h"
#include "fault.bpf.h"

char license_of_it[] SEC("license") = "GPL";
