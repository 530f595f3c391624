/* SPDX-License-Identifier: Apache-2.0 */
/* Catalog files of users: what they say, and what catalog update says that they change. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "catalog/changes.h"
#include "cpu/event_name.h"
#include "cpu/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* `before` NULL: the CPU is new. */
static void compare(const struct cpu_pmu *before, const struct cpu_pmu *after)
{
	struct change_counts counts = { 0 };
	struct table changes;

	changes_init(&changes);
	changes_add(&changes, before, after, &counts);
	table_release(&changes);
}

/* Gives the facts of a CPU that can be opened the place of `other`. */
static void use(const struct catalog *catalog, const struct cpu *cpu, struct cpu_pmu **other)
{
	struct cpu_pmu *pmu = NULL;
	struct err err;

	for (unsigned value = 0; value < 64; value++) {
		cpu_source(cpu, (uint16_t)value);
		cpu_spe_event(cpu, value);
		cpu_erratum_find(cpu, (uint64_t)value << 20, ERRATUM_SPE_BIAS);
	}
	catalog_own_cache_lines(catalog, cpu);
	if (cpu_pmu_open(catalog, cpu, 0x410fd490, &pmu, &err) == 0) {
		cpu_event_of_name(pmu, "armv8_pmuv3_0/event=0x11/u");
		cpu_threshold_find(pmu, "branch_mpki");
		compare(*other, pmu);
		cpu_pmu_free(*other);
		*other = pmu;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct catalog *catalog = mem_zalloc(1, sizeof(*catalog));
	struct cpu_pmu *last = NULL;
	struct err err;

	if (catalog_read(catalog, (const char *)bytes, size, "fuzz", &err) == 0)
		for (size_t i = 0; i < catalog_n_cpus(catalog); i++)
			use(catalog, catalog_cpu_at(catalog, i), &last);
	cpu_maker_samples_latency(catalog_maker_find(catalog, "x86_64", "GenuineIntel"), 0x1cd);
	cpu_pmu_free(last);
	catalog_free(catalog);
	return 0;
}
