/* SPDX-License-Identifier: Apache-2.0 */
/* Catalog files of users. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cpu/event_name.h"
#include "cpu/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void use(const struct catalog *catalog, const struct cpu *cpu)
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
	}
	cpu_pmu_free(pmu);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct catalog *catalog = mem_zalloc(1, sizeof(*catalog));
	struct err err;

	if (catalog_read(catalog, (const char *)bytes, size, "fuzz", &err) == 0)
		for (size_t i = 0; i < catalog_n_cpus(catalog); i++)
			use(catalog, catalog_cpu_at(catalog, i));
	cpu_maker_samples_latency(catalog_maker_find(catalog, "x86_64", "GenuineIntel"), 0x1cd);
	catalog_free(catalog);
	return 0;
}
