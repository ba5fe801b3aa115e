/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Trace points of the kernel's image. Few are exported by name, so they are found by it. They stay
 * as long as the kernel does.
 */
#ifndef DM_DAVID_HEAR_H
#define DM_DAVID_HEAR_H

struct tracepoint;

/*
 * Call @probe at the trace point @name from now on. The arguments of @probe are those that the
 * kernel's header gives @name, behind a pointer that is NULL; the caller has the compiler check
 * them (check_trace_callback_type_NAME()). Returns the trace point, for hear_no_more(), or an error
 * pointer: -EOPNOTSUPP if the kernel has no such trace point. Sleeps.
 */
struct tracepoint *hear_tracepoint(const char *name, void *probe);

/*
 * @probe is not called any more, once tracepoint_synchronize_unregister() has returned. @tp may be
 * NULL. Sleeps.
 */
void hear_no_more(struct tracepoint *tp, void *probe);

#endif
