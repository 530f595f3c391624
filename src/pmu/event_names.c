/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and formats that the kernel defines: of events that all PMUs have, of core PMUs, of the bits of
 * their events. Nothing is allocated: libcyclops is made of this file, too.
 */
#include "pmu/event_names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "capture/format/attr.h"
#include "pmu/event_spec.h"
#include "pmu/pmu.h"

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

static const char *const config_names[PMU_CONFIG_WORDS] = { "config", "config1", "config2",
							    "config3", "config4" };

/* Reads "LOW" or "LOW-HIGH" as bits and moves on. */
static bool bit_range(const char **at, uint64_t *bits)
{
	char *end;
	unsigned long low, high;

	if (**at < '0' || **at > '9')
		return false;
	low = high = strtoul(*at, &end, 10);
	if (*end == '-') {
		if (end[1] < '0' || end[1] > '9')
			return false;
		high = strtoul(end + 1, &end, 10);
	}
	if (low > high || high > 63)
		return false;
	*bits |= (UINT64_MAX >> (63 - (high - low))) << low;
	*at = end;
	return true;
}

bool pmu_format_parse(const char *text, struct pmu_format *out)
{
	size_t length = strcspn(text, ":");
	const char *at = text + length;
	uint64_t bits = 0;
	uint8_t word = 0;

	while (word < PMU_CONFIG_WORDS && (strlen(config_names[word]) != length ||
					   memcmp(config_names[word], text, length) != 0))
		word++;
	if (word == PMU_CONFIG_WORDS || *at != ':')
		return false;
	do {
		at++;
		if (!bit_range(&at, &bits))
			return false;
	} while (*at == ',');
	if (*at != '\0')
		return false;
	out->word = word;
	out->bits = bits;
	return true;
}

uint64_t pmu_format_place(const struct pmu_format *f, uint64_t value)
{
	uint64_t placed = 0;

	for (unsigned bit = 0; bit < 64; bit++) {
		if (!(f->bits >> bit & 1))
			continue;
		placed |= (value & 1) << bit;
		value >>= 1;
	}
	return placed;
}

uint64_t pmu_format_max(const struct pmu_format *f)
{
	int n = __builtin_popcountll(f->bits);

	return n == 0 ? 0 : UINT64_MAX >> (64 - n);
}

/*
 * Prefixes of core PMUs: Arm's by device tree or ACPI; on x86 "cpu", or three names on hybrid CPUs.
 */
static const struct {
	const char *prefix;
	bool is_whole, is_arm;
} core_names[] = {
	{ "armv8_", false, true },	 { "armv7_", false, true },    { "armv6_", false, true },
	{ "armv9_", false, true },	 { "arm_pmuv3", false, true }, { "apple_", false, true },
	{ "cpu", true, false },		 { "cpu_core", true, false },  { "cpu_atom", true, false },
	{ "cpu_lowpower", true, false },
};

bool pmu_is_core(const char *name, bool *out_is_arm)
{
	for (size_t i = 0; i < COUNT(core_names); i++) {
		size_t length = strlen(core_names[i].prefix);

		if (strncmp(name, core_names[i].prefix, length) != 0 ||
		    (core_names[i].is_whole && name[length] != '\0'))
			continue;
		*out_is_arm = core_names[i].is_arm;
		return true;
	}
	return false;
}
