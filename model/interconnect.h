/* SPDX-License-Identifier: Apache-2.0 */
/* What lies behind a CPU's L2; the part of memory.h that only memory.c uses. */
#ifndef CYCLOPS_MODEL_INTERCONNECT_H
#define CYCLOPS_MODEL_INTERCONNECT_H

#include "model/memory.h"

/* The CPU will ask its L2 for the line: what that needs is fetched into this machine's caches. */
void interconnect_expect(const struct memory *, unsigned cpu, uint64_t line);

/*
 * Gets a line that the CPU's L2 does not have, at cycle `time`. Fills in where it came from,
 * from whom, and when; returns what the CPU may do with it.
 */
enum line_state interconnect_get(struct memory *, unsigned cpu, uint64_t line, bool to_write,
				 uint64_t time, struct access *out);

/* Makes room for the line in the L2, and returns its entry. What leaves goes further down. */
struct entry *interconnect_fill_l2(struct memory *, unsigned cpu, uint64_t line);

/* Did another CPU take the line from this one, which has not had it since? It is forgotten. */
bool interconnect_retake(struct memory *, unsigned cpu, uint64_t line);

/* All other CPUs lose the line, and this one may write it; the access takes longer. */
void interconnect_upgrade(struct memory *, unsigned cpu, uint64_t line, struct access *);

#endif
