/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Streams of requests as the kernel's trace points david_queue, david_complete and david_wait told
 * them, in the text form of a trace.
 */
#ifndef DAVID_SIM_RECORDED_H
#define DAVID_SIM_RECORDED_H

#include "../../model/host/disk.h"

/*
 * Send the requests recorded in @file ("-": standard input), the text form of a
 * trace, through the modelled disk at their arrival times, and write a line
 * "id,arrival_ns,dispatch_ns,completion_ns" for each to @out, unless that is NULL, and behind it
 * the parts of its last command. The model's completions are held against the recorded ones: a
 * summary goes to standard output, or to standard error if @out is "-". @device ("252:0") chooses
 * one if several were recorded. @profile is that of the kernel, scaled to the disk. @faults: those
 * that the drive had from the beginning, and the message "fault list"'s shift; NULL: none. Returns
 * the exit status: 0, or 1 if something cannot be read or any completion differs; complains on
 * standard error.
 */
struct recorded_options {
	const char *file, *device, *out;
	const char *faults;
	u64 fault_shift;
	bool json;
};

int replay_recorded(const struct profile *profile, const struct recorded_options *options);

#endif
