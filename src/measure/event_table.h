/* SPDX-License-Identifier: Apache-2.0 */
/* Event names of the catalog, as scripts/measure-events.py writes them. */
#ifndef CYCLOPS_MEASURE_EVENT_TABLE_H
#define CYCLOPS_MEASURE_EVENT_TABLE_H

#include <stdint.h>

enum { MEASURE_CPU_WORDS = 1 };

/* A core by its MIDR, and the CPU file of the catalog that it has. */
struct measure_part {
	uint8_t implementer;
	uint16_t part;
	uint8_t cpu;
};

struct measure_code {
	const char *name;
	uint16_t code;
	uint64_t cpus[MEASURE_CPU_WORDS]; /* a bit for each that has the event by this number */
};

/* Sorted by name. */
extern const struct measure_code measure_codes[];
extern const unsigned measure_n_codes;
extern const struct measure_part measure_parts[];
extern const unsigned measure_n_parts;
extern const unsigned measure_any_cpu; /* what all PMUv3 have in common */

#endif
