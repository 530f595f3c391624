/* SPDX-License-Identifier: Apache-2.0 */
/* Events that the kernel names itself: include/uapi/linux/perf_event.h; the names are perf's. */
#ifndef CYCLOPS_PMU_EVENT_NAMES_H
#define CYCLOPS_PMU_EVENT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

struct generic_event {
	const char *name;
	uint32_t type; /* enum attr_type */
	uint32_t config;
};

/* NULL: no such. */
const struct generic_event *generic_event_find(const char *name);

/* "L1-dcache-load-misses" and its like. */
bool cache_event_find(const char *name, uint32_t *out_config);

#endif
