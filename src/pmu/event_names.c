/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/event_names.h"

#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "capture/format/attr.h"
#include "pmu/event_spec.h"

static const struct generic_event events[] = {
	{ "cycles", ATTR_TYPE_HARDWARE, 0 },
	{ "cpu-cycles", ATTR_TYPE_HARDWARE, 0 },
	{ "instructions", ATTR_TYPE_HARDWARE, 1 },
	{ "cache-references", ATTR_TYPE_HARDWARE, 2 },
	{ "cache-misses", ATTR_TYPE_HARDWARE, 3 },
	{ "branches", ATTR_TYPE_HARDWARE, 4 },
	{ "branch-instructions", ATTR_TYPE_HARDWARE, 4 },
	{ "branch-misses", ATTR_TYPE_HARDWARE, 5 },
	{ "bus-cycles", ATTR_TYPE_HARDWARE, 6 },
	{ "stalled-cycles-frontend", ATTR_TYPE_HARDWARE, 7 },
	{ "stalled-cycles-backend", ATTR_TYPE_HARDWARE, 8 },
	{ "ref-cycles", ATTR_TYPE_HARDWARE, 9 },
	{ "cpu-clock", ATTR_TYPE_SOFTWARE, 0 },
	{ "task-clock", ATTR_TYPE_SOFTWARE, 1 },
	{ "page-faults", ATTR_TYPE_SOFTWARE, 2 },
	{ "faults", ATTR_TYPE_SOFTWARE, 2 },
	{ "context-switches", ATTR_TYPE_SOFTWARE, 3 },
	{ "cs", ATTR_TYPE_SOFTWARE, 3 },
	{ "cpu-migrations", ATTR_TYPE_SOFTWARE, 4 },
	{ "migrations", ATTR_TYPE_SOFTWARE, 4 },
	{ "minor-faults", ATTR_TYPE_SOFTWARE, 5 },
	{ "major-faults", ATTR_TYPE_SOFTWARE, 6 },
	{ "alignment-faults", ATTR_TYPE_SOFTWARE, 7 },
	{ "emulation-faults", ATTR_TYPE_SOFTWARE, 8 },
	{ "dummy", ATTR_TYPE_SOFTWARE, 9 },
	{ "bpf-output", ATTR_TYPE_SOFTWARE, 10 },
	{ "cgroup-switches", ATTR_TYPE_SOFTWARE, 11 },
};

static const struct {
	const char *name;
	uint32_t number;
} caches[] = {
	{ "L1-dcache", 0 }, { "L1-icache", 1 }, { "LLC", 2 },  { "dTLB", 3 },
	{ "iTLB", 4 },	    { "branch", 5 },	{ "node", 6 },
};

/* What follows the name of the cache: the operation, then accesses or misses. */
static const struct {
	const char *name;
	uint32_t bits;
} accesses[] = {
	{ "-loads", 0 },	   { "-load-misses", 1 << 16 },
	{ "-stores", 1 << 8 },	   { "-store-misses", 1 << 8 | 1 << 16 },
	{ "-prefetches", 2 << 8 }, { "-prefetch-misses", 2 << 8 | 1 << 16 },
};

const struct generic_event *generic_event_find(const char *name)
{
	for (size_t i = 0; i < COUNT(events); i++)
		if (strcmp(events[i].name, name) == 0)
			return &events[i];
	return NULL;
}

const char *event_generic_name(size_t index)
{
	return index < COUNT(events) ? events[index].name : NULL;
}

bool cache_event_find(const char *name, uint32_t *out_config)
{
	for (size_t i = 0; i < COUNT(caches); i++) {
		size_t length = strlen(caches[i].name);

		if (strncmp(name, caches[i].name, length) != 0)
			continue;
		for (size_t k = 0; k < COUNT(accesses); k++) {
			if (strcmp(name + length, accesses[k].name) != 0)
				continue;
			*out_config = caches[i].number | accesses[k].bits;
			return true;
		}
	}
	return false;
}
