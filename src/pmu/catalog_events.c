/* SPDX-License-Identifier: Apache-2.0 */
#include "pmu/catalog_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cpu/pmu.h"
#include "pmu/machine.h"

/* A core PMU and what the catalog has of its CPU. */
struct core {
	const struct pmu *pmu;
	struct cpu_pmu *facts; /* NULL: its CPU is not in the catalog */
};

/* Filled when asked for the first time, through a pointer to const. */
struct answers {
	struct catalog *catalog; /* NULL: not opened yet, or could not be opened */
	bool is_opened;
	VEC_OF(struct core) cores;
};

struct catalog_events {
	const char *root;
	struct answers *answers;
};

struct catalog_events *catalog_events_new(const char *root)
{
	struct catalog_events *events = mem_zalloc(1, sizeof(*events));

	events->root = root;
	events->answers = mem_zalloc(1, sizeof(*events->answers));
	return events;
}

void catalog_events_free(struct catalog_events *events)
{
	if (events == NULL)
		return;
	for (size_t i = 0; i < events->answers->cores.n; i++)
		cpu_pmu_free(events->answers->cores.items[i].facts);
	vec_release(&events->answers->cores);
	catalog_free(events->answers->catalog);
	free(events->answers);
	free(events);
}

static struct cpu_pmu *open_core_facts(const struct catalog_events *events, const struct pmu *pmu)
{
	uint32_t first = pmu->cpus.n > 0 ? pmu->cpus.items[0].first : 0;
	uint64_t midr = machine_midr(events->root, first);
	struct answers *answers = events->answers;
	const struct cpu *cpu;
	struct cpu_pmu *facts;
	struct err ignored;

	if (midr == 0)
		return NULL;
	if (!answers->is_opened && catalog_open(NULL, &answers->catalog, &ignored) < 0)
		answers->catalog = NULL;
	answers->is_opened = true;
	if (answers->catalog == NULL)
		return NULL;
	cpu = catalog_cpu_of_midr(answers->catalog, midr);
	if (cpu == NULL && strncmp(pmu->name, "armv8_", 6) == 0)
		cpu = catalog_cpu_find(answers->catalog, CPU_ANY_ARM);
	if (cpu == NULL || cpu_pmu_open(answers->catalog, cpu, midr, &facts, &ignored) < 0)
		return NULL;
	return facts;
}

static const struct cpu_pmu *core_facts(const struct catalog_events *events, const struct pmu *pmu)
{
	struct answers *answers = events->answers;
	struct core *core;

	for (size_t i = 0; i < answers->cores.n; i++)
		if (answers->cores.items[i].pmu == pmu)
			return answers->cores.items[i].facts;
	core = vec_add(&answers->cores);
	core->pmu = pmu;
	core->facts = open_core_facts(events, pmu);
	return core->facts;
}

/*
 * Finds an event by name. Events that the kernel wants by a word of its own have no number to
 * return.
 */
static bool catalog_events_find(const void *context, const struct pmu *pmu, const char *name,
				uint64_t *code)
{
	const struct cpu_pmu *facts = core_facts(context, pmu);
	const struct cpu_event *event = facts != NULL ? cpu_event_find(facts, name) : NULL;

	if (event == NULL || event->linux_name != NULL)
		return false;
	*code = event->code;
	return true;
}

struct event_finder catalog_events_finder(const struct catalog_events *events)
{
	return (struct event_finder){ .find = catalog_events_find, .context = events };
}
