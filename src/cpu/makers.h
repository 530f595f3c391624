/* SPDX-License-Identifier: Apache-2.0 */
/* What PMU samples have in common on all CPUs of a maker. Facts of the catalog. */
#ifndef CYCLOPS_CPU_MAKERS_H
#define CYCLOPS_CPU_MAKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cpu/cpu.h"

struct cpu_maker {
	const char *arch, *cpuid; /* prefixes of these texts in a capture's header; "": any */
	const char *weight;	  /* what the weight of a sample means, in words */
	/* events that sample loads of a least latency, which is in config1 */
	const uint16_t *latency_events;
	size_t n_latency_events;
};

/* The maker, by the architecture and CPU id in a capture's header; NULL if unknown. */
const struct cpu_maker *catalog_maker_find(const struct catalog *, const char *arch,
					   const char *cpuid);

/* Does this event (low 16 bits of attr.config) sample loads by latency? False for NULL. */
bool cpu_maker_samples_latency(const struct cpu_maker *, uint64_t config);

#endif
