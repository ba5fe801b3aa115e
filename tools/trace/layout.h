/* SPDX-License-Identifier: GPL-2.0 */
/* Where files lie on their disk, with --layout: of each once, when it is first opened. */
#ifndef TRACE_LAYOUT_H
#define TRACE_LAYOUT_H

#include "calls.h"
#include "task.h"

/* Puts RAW_LAYOUT into @task: at the exit of an open, if its file was not seen before. */
void layout_opened(struct task *task, const struct call *call, s64 result);

#endif
