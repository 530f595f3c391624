/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/cpu_choice.h"

#include <assert.h>
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "cpu/pmu.h"

/* A PMU named after a core, such as "armv8_neoverse_n1"; "armv8_pmuv3_0" may be any. */
static const struct cpu *cpu_of_pmu(const struct catalog *c, const char *pmu)
{
	const char *core = strncmp(pmu, "armv", 4) == 0 ? strchr(pmu, '_') : NULL;

	return core == NULL ? NULL : catalog_cpu_find(c, core + 1);
}

/* Words in capitals joined by '_' are of Arm's architecture, not of the kernel or of x86. */
static bool is_arm_name(const struct cpu_pmu *arm, const char *name)
{
	struct event_name parts;

	event_name_split(name, &parts);
	if (strncmp(parts.pmu, "armv", 4) == 0)
		return true;
	for (size_t i = 0; i < arm->n_events; i++)
		if (strcasecmp(arm->events[i].name, parts.event) == 0)
			return parts.pmu[0] == '\0';
	return false;
}

static bool has_arm_names(const struct catalog *c, const struct counts *counts)
{
	struct cpu_pmu *arm = NULL;
	struct err err;
	bool has = false;

	if (counts->items.n == 0 ||
	    cpu_pmu_open(c, catalog_cpu_find(c, CPU_ANY_ARM), 0, &arm, &err) < 0)
		return false;
	for (size_t i = 0; i < counts->items.n && !has; i++)
		has = is_arm_name(arm, counts->items.items[i].event);
	cpu_pmu_free(arm);
	return has;
}

const struct cpu *stat_cpu(const struct catalog *c, const struct counts *counts)
{
	const struct cpu *cpu = counts->midr == 0 ? NULL : catalog_cpu_of_midr(c, counts->midr);

	if (cpu == NULL && counts->cpu != NULL)
		cpu = catalog_cpu_find(c, counts->cpu);
	for (size_t i = 0; i < counts->items.n && cpu == NULL; i++) {
		struct event_name name;

		event_name_split(counts->items.items[i].event, &name);
		if (name.pmu[0] != '\0')
			cpu = cpu_of_pmu(c, name.pmu);
	}
	if (cpu == NULL && counts->midr == 0 && has_arm_names(c, counts))
		cpu = catalog_cpu_find(c, CPU_ANY_ARM);
	if (cpu == NULL)
		cpu = catalog_cpu_stand_in(c, counts->midr);
	assert(cpu != NULL);
	return cpu;
}
