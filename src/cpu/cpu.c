/* SPDX-License-Identifier: Apache-2.0 */
/* The facts of one CPU. */
#include "cpu/cpu.h"

#include <strings.h>

#include "base/alloc.h"
#include "cpu/internal.h"

/* Words for levels in catalog/sources. */
static const char *const level_names[N_SOURCE_LEVELS] = {
	[SOURCE_UNKNOWN] = "unknown",
	[SOURCE_L1] = "L1",
	[SOURCE_L2] = "L2",
	[SOURCE_PEER_CORE] = "peer-core",
	[SOURCE_LOCAL_CLUSTER] = "local-cluster",
	[SOURCE_SYSTEM_CACHE] = "system-cache",
	[SOURCE_PEER_CLUSTER] = "peer-cluster",
	[SOURCE_REMOTE] = "remote",
	[SOURCE_DRAM] = "DRAM",
	[SOURCE_REMOTE_DRAM] = "remote-DRAM",
	[SOURCE_DEVICE] = "device",
};

const char *source_level_name(enum source_level level)
{
	return level_names[level];
}

int source_level_find(const char *name)
{
	for (size_t i = 0; i < COUNT(level_names); i++)
		if (strcasecmp(name, level_names[i]) == 0)
			return (int)i;
	return -1;
}

const char *cpu_id(const struct cpu *cpu)
{
	return cpu->id;
}

const char *cpu_name(const struct cpu *cpu)
{
	return cpu->name;
}

const char *cpu_alias_at(const struct cpu *cpu, size_t i)
{
	return i < cpu->n_aliases ? cpu->aliases[i] : NULL;
}

const struct cpu_source *cpu_source(const struct cpu *cpu, uint16_t value)
{
	if (cpu == NULL || cpu->encoding == NULL || value >= cpu->encoding->n_by_value)
		return NULL;
	return cpu->encoding->by_value[value];
}

struct cpu_sources cpu_sources(const struct cpu *cpu)
{
	if (cpu == NULL || cpu->encoding == NULL)
		return (struct cpu_sources){ 0 };
	return (struct cpu_sources){ cpu->encoding->by_value, cpu->encoding->n_by_value };
}

bool cpu_has_sources(const struct cpu *cpu)
{
	return cpu != NULL && cpu->encoding != NULL;
}

const char *cpu_spe_event(const struct cpu *cpu, unsigned bit)
{
	if (cpu == NULL)
		return NULL;
	for (size_t i = 0; i < cpu->n_spe_events; i++)
		if (cpu->spe_events[i].bit == bit)
			return cpu->spe_events[i].name;
	return NULL;
}

int cpu_spe_ernd(const struct cpu *cpu)
{
	return cpu == NULL ? -1 : cpu->spe_ernd - 1;
}

unsigned cpu_load_to_use(const struct cpu *cpu)
{
	return cpu == NULL ? 0 : cpu->load_to_use;
}

unsigned cpu_cache_line(const struct cpu *cpu)
{
	return cpu == NULL ? 0 : cpu->cache_line;
}

bool cpu_may_have_spe(const struct cpu *cpu)
{
	return !cpu->lacks_spe;
}
