/* SPDX-License-Identifier: Apache-2.0 */
/* What all CPUs of a maker have in common in the samples of their PMUs: facts of the catalog. */
#ifndef CYCLOPS_CPU_MAKERS_H
#define CYCLOPS_CPU_MAKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu.h"

struct cpu_maker {
	const char *arch, *cpuid; /* how these begin in a capture's header; "": any */
	const char *weight;	  /* what the weight of a sample counts, in words */
	uint16_t *latency_events; /* sample loads by their latency: config1 has the least one */
	size_t n_latency_events;
};

/* The maker of a CPU, by the capture's architecture and CPU id; NULL if not known. */
const struct cpu_maker *catalog_maker_find(const struct catalog *, const char *arch,
					   const char *cpuid);

/* Does this event (low 16 bits of attr.config) sample loads by their latency? No for NULL. */
bool cpu_maker_samples_latency(const struct cpu_maker *, uint64_t config);

#endif
