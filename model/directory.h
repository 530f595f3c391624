/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs hold a line in their private caches: the snoop filter of the interconnect. */
#ifndef CYCLOPS_MODEL_DIRECTORY_H
#define CYCLOPS_MODEL_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

struct directory_slot {
	uint64_t line;
	uint64_t holders; /* bit n: CPU n; 0: the slot is empty */
};

/*
 * A hash table: open addressing with linear probing, at most half full. Lines that no CPU holds are
 * removed, so that for most programs it fits the host's caches.
 */
struct directory {
	struct directory_slot *slots;
	size_t mask;
	size_t n; /* lines */
};

void directory_init(struct directory *);
void directory_release(struct directory *);

/* Bit n: CPU n holds the line. */
uint64_t directory_holders(const struct directory *, uint64_t line);

/* Prefetches the line's slot into the host's caches. */
void directory_host_prefetch(const struct directory *, uint64_t line);

void directory_add(struct directory *, uint64_t line, unsigned cpu);

/* The CPU must hold the line. */
void directory_remove(struct directory *, uint64_t line, unsigned cpu);

#endif
