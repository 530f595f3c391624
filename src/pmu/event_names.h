/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the kernel defines for all PMUs: include/uapi/linux/perf_event.h, by perf's names. */
#ifndef CYCLOPS_PMU_EVENT_NAMES_H
#define CYCLOPS_PMU_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct generic_event {
	const char *name;
	uint32_t type; /* enum attr_type */
	uint32_t config;
};

/* NULL if there is none of that name. */
const struct generic_event *generic_event_find(const char *name);

/* Names such as "L1-dcache-load-misses". */
bool cache_event_find(const char *name, uint32_t *out_config);

#endif
