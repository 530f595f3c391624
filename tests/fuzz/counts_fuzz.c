/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of other tools, and what is made of them. The first byte chooses the CPU. */
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "estimate/stat_record.h"
#include "metrics/cpu_choice.h"
#include "stat/stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void explain(const struct catalog *catalog, const struct cpu *cpu, struct counts *counts,
		    const struct stat_options *options)
{
	struct stat_answer answer = { 0 };
	struct cpu_pmu *pmu = NULL;
	struct err err;

	if (cpu_pmu_open(catalog, cpu, counts->midr, &pmu, &err) == 0)
		stat_answer_make(pmu, counts, options, &answer, &err);
	stat_answer_release(&answer);
	cpu_pmu_free(pmu);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct catalog *catalog = NULL;
	struct counts counts = { 0 };
	struct err err;

	if (size == 0 || catalog_open(NULL, &catalog, &err) < 0)
		return 0;
	if (counts_read(bytes + 1, size - 1, "x_metrics.csv", &counts, &err) == 0) {
		const struct cpu *cpu = catalog_cpu_at(catalog, *bytes % catalog_n_cpus(catalog));
		const struct stat_options options = { .for_programs = *bytes & 1, .slots = 5 };

		explain(catalog, stat_cpu(catalog, &counts), &counts, &options);
		explain(catalog, cpu, &counts, &options);
	}
	counts_release(&counts);
	catalog_free(catalog);
	return 0;
}
