/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flash of an SSD with zones (NVMe's ZNS). It has no collection and no map of pages: a zone is
 * written in order, and its place on the dies follows from its number.
 *
 * A zone lies on profile.zone_dies dies. Of what is written to it each program_unit goes to the
 * next of these. So one zone writes as fast as its dies, and several zones on other dies as fast as
 * all of them together.
 *
 * A write, or an append, ends when it is in the buffer. Of a zone no more than profile.zone_buffer
 * waits there for dies, of all no more than profile.write_buffer. What is less than a program_unit
 * waits until the rest comes, or until the zone is full. It is kept by capacitors, so a flush waits
 * for nothing.
 *
 * A read goes to the die that has its page. The dies are those of ssd.h: reads go before programs,
 * and suspend them.
 *
 * Commands about zones are done one after another, beside reads and writes: measured on a ZN540 by
 * K. Doekemeijer et al., CLUSTER 2023. They take no time of a die.
 *
 * The functions are those of ssd.h with the same names.
 */
#ifndef DAVID_MODEL_ZNS_H
#define DAVID_MODEL_ZNS_H

#include "solid.h"

struct ftl;
struct zns;

struct zns *zns_create(const struct profile *profile, struct ftl *ftl, gfp_t gfp);
void zns_destroy(struct zns *zns);
size_t zns_bytes(const struct zns *zns);

/* As ssd_serve(); commands about zones, too. */
u64 zns_serve(struct zns *zns, struct solid_command *command, u64 now, u64 from);

u64 zns_next_event(const struct zns *zns);
void zns_advance(struct zns *zns, u64 now);
struct solid_command *zns_ready(struct zns *zns);
void zns_trim(struct zns *zns, u64 sector, u64 sectors, u64 now);
void zns_figures(const struct zns *zns, struct solid_figures *figures);

#endif
