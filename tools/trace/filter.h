/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which calls stop a traced task: seccomp's filter of a command, and the same question asked of an
 * attached task. It looks at numbers alone. What is recorded of a call that stops is in capture.h;
 * which processes are traced at all is in scope.h.
 */
#ifndef TRACE_FILTER_H
#define TRACE_FILTER_H

#include "../../dm-david/portable/portable.h"

/*
 * Calls of @classes (bits of enum call_class) and all that have no number in the table stop the
 * calling task; the others run at full speed. Of mmap, only that of a file. False: errno. To be
 * called in the child, in front of its exec.
 */
bool filter_install(u32 classes);

/* Would the filter stop it? */
bool filter_wants(u32 nr, const u64 *args, u32 classes);

#endif
