/* SPDX-License-Identifier: Apache-2.0 */
#include "maker.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"

/* "first-last", or "first" alone. */
static const char *cpu_list(char *out, size_t size, uint64_t first, uint64_t last)
{
	if (first == last)
		snprintf(out, size, "%" PRIu64, first);
	else
		snprintf(out, size, "%" PRIu64 "-%" PRIu64, first, last);
	return out;
}

/* Two nodes (one if there is one CPU), each with half of the CPUs and of the memory. */
static void write_memory(struct writer *w, uint64_t n_cpus)
{
	enum { FIRST_BLOCK = 2, N_BLOCKS = 66, SPLIT = 34 }; /* of 1 GiB: see physical_of() */
	uint64_t n_nodes = n_cpus > 1 ? 2 : 1;
	uint64_t blocks[2][2] = { { 0 } };
	struct writer_memory_node memory[2];
	struct writer_numa_node nodes[2];
	char lists[2][48];

	for (uint64_t i = FIRST_BLOCK; i < N_BLOCKS; i++)
		blocks[n_nodes > 1 && i >= SPLIT][i / 64] |= (uint64_t)1 << i % 64;
	for (uint32_t i = 0; i < n_nodes; i++) {
		uint64_t first = i * n_cpus / n_nodes, last = (i + 1) * n_cpus / n_nodes - 1;

		cpu_list(lists[i], sizeof(lists[i]), first, last);
		nodes[i] = (struct writer_numa_node){ i, 32 << 20, 16 << 20, lists[i] };
		memory[i] = (struct writer_memory_node){ i, blocks[i], N_BLOCKS };
	}
	writer_numa_topology(w, nodes, n_nodes);
	writer_memory_topology(w, 1 << 30, memory, n_nodes);
}

void make_machine(struct writer *w, uint64_t n_cpus)
{
	static const struct writer_pmu pmus[] = { { 1, "software" },
						  { 8, "armv8_pmuv3_0" },
						  { MAKE_SPE_TYPE, "arm_spe_0" },
						  { MAKE_SPE_TYPE + 1, "arm_spe_1" } };
	static const struct writer_cache caches[] = {
		{ 1, 64, 256, 4, "Data", "64K", "0" },
		{ 1, 64, 256, 4, "Instruction", "64K", "0" },
		{ 2, 64, 2048, 8, "Unified", "1024K", "0" },
	};
	const char *const command[] = { "make-capture" };

	writer_feature_string(w, FEATURE_HOSTNAME, "made-up");
	writer_feature_string(w, FEATURE_OSRELEASE, "6.1.0");
	writer_feature_string(w, FEATURE_VERSION, "6.1.0");
	writer_feature_string(w, FEATURE_ARCH, "aarch64");
	writer_feature_string(w, FEATURE_CPUID, "0x00000000413fd0c1");
	writer_feature_u64(w, FEATURE_TOTAL_MEM, 64 << 20);
	writer_command_line(w, COUNT(command), command);
	writer_n_cpus(w, (uint32_t)n_cpus, (uint32_t)n_cpus);
	writer_pmus(w, pmus, COUNT(pmus));
	writer_caches(w, caches, COUNT(caches));
	write_memory(w, n_cpus);
}
