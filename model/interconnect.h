/* SPDX-License-Identifier: Apache-2.0 */
/* The memory system behind the L2s: coherence, system cache, DRAM. Used by memory.c only. */
#ifndef CYCLOPS_MODEL_INTERCONNECT_H
#define CYCLOPS_MODEL_INTERCONNECT_H

#include "model/memory.h"

/* Prefetches into the host's caches what an access of the line in the CPU's L2 needs. */
void interconnect_host_prefetch(const struct memory *, unsigned cpu, uint64_t line);

/*
 * Requests a line that misses the CPU's L2, at cycle `time`. Sets source, peers, missed_l2 and
 * ready of `out`. Returns the state that the line gets.
 */
enum line_state interconnect_get(struct memory *, unsigned cpu, uint64_t line, bool to_write,
				 uint64_t time, struct access *out);

/* Adds the line to the L2, and returns its entry. The victim goes to the system cache. */
struct entry *interconnect_fill_l2(struct memory *, unsigned cpu, uint64_t line);

/*
 * Has another CPU invalidated the line in this one, which has not had it since? Clears that. False
 * unless memory.tracks_invalidated is set.
 */
bool interconnect_clear_invalidated(struct memory *, unsigned cpu, uint64_t line);

/* Upgrades a shared line to be written: invalidates all other copies. Adds to the access's time. */
void interconnect_upgrade(struct memory *, unsigned cpu, uint64_t line, struct access *);

#endif
