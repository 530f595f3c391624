/* SPDX-License-Identifier: Apache-2.0 */
/* Which CPUs' private caches hold a line: what a snoop filter of the interconnect knows. */
#ifndef CYCLOPS_MODEL_DIRECTORY_H
#define CYCLOPS_MODEL_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

struct directory_slot {
	uint64_t line;
	uint64_t holders; /* bit n: CPU n; 0: the slot is empty */
};

/*
 * Open addressing with linear probing; never more than half full. It is as large as the lines
 * that are held at the same time need: for most programs it then fits the host's caches.
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

/* The line will be looked for soon. */
void directory_expect(const struct directory *, uint64_t line);

void directory_add(struct directory *, uint64_t line, unsigned cpu);

/* The CPU must hold the line. */
void directory_remove(struct directory *, uint64_t line, unsigned cpu);

#endif
