/* SPDX-License-Identifier: Apache-2.0 */
/* The features of the capture's header, which describe the modelled machine. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/recorder.h"

enum {
	MEMORY_KB = 64 << 20, /* 64 GiB */
	BLOCK_SHIFT = 30,     /* of the memory topology: 1 GiB */
	FIRST_BLOCK = 2,      /* memory begins at 2 GiB */
	N_BLOCKS = 66,
	LINE = LINE_BYTES,
};

/* The CPU's description begins with "modelled": readers know modelled captures by this word. */
static void describe_cpu(struct writer *w, const struct config *c)
{
	struct text text = { 0 };
	char cpuid[24];

	text_format(&text, "modelled %s (cyclops %s)", c->model, c->version);
	text_char(&text, '\0');
	writer_feature_string(w, FEATURE_CPUDESC, text.bytes);
	text_release(&text);
	snprintf(cpuid, sizeof(cpuid), "0x%016x", c->params.midr);
	writer_feature_string(w, FEATURE_CPUID, cpuid);
}

static void describe_topology(struct writer *w, const struct params *p)
{
	struct cpu_place places[MAX_CPUS];
	char names[MAX_CPUS][12], all[16];
	const char *each[MAX_CPUS], *const one[] = { all };
	struct writer_cpu_topology topology = {
		.core_siblings = one,
		.n_core_siblings = 1,
		.thread_siblings = each,
		.n_thread_siblings = p->n_cpus,
		.die_siblings = one,
		.n_die_siblings = 1,
		.places = places,
		.n_places = p->n_cpus,
	};

	snprintf(all, sizeof(all), "0-%u", p->n_cpus - 1);
	for (uint32_t i = 0; i < p->n_cpus; i++) {
		places[i] = (struct cpu_place){ .core = i };
		snprintf(names[i], sizeof(names[i]), "%u", i);
		each[i] = names[i];
	}
	writer_n_cpus(w, p->n_cpus, p->n_cpus);
	writer_cpu_topology(w, &topology);
}

static void describe_memory(struct writer *w, const struct params *p)
{
	char cpus[16];
	struct writer_numa_node node = { .total_kb = MEMORY_KB, .free_kb = MEMORY_KB / 2 };
	const uint64_t blocks[] = { UINT64_MAX << FIRST_BLOCK, 3 };
	const struct writer_memory_node memory = { .blocks = blocks, .n_blocks = N_BLOCKS };

	snprintf(cpus, sizeof(cpus), "0-%u", p->n_cpus - 1);
	node.cpus = cpus;
	writer_feature_u64(w, FEATURE_TOTAL_MEM, MEMORY_KB);
	writer_numa_topology(w, &node, 1);
	writer_memory_topology(w, (uint64_t)1 << BLOCK_SHIFT, &memory, 1);
}

enum { N_CACHES = 4 };

static void describe_caches(struct writer *w, const struct params *p)
{
	const struct {
		uint32_t level, bytes, ways;
		const char *type;
	} kinds[N_CACHES] = {
		{ 1, p->l1d_bytes, p->l1d_ways, "Data" },
		{ 1, p->l1i_bytes, p->l1i_ways, "Instruction" },
		{ 2, p->l2_bytes, p->l2_ways, "Unified" },
		{ 3, p->system_cache_bytes, p->system_cache_ways, "Unified" },
	};
	struct writer_cache caches[N_CACHES];
	char sizes[N_CACHES][16], all[16];

	snprintf(all, sizeof(all), "0-%u", p->n_cpus - 1);
	for (size_t i = 0; i < N_CACHES; i++) {
		snprintf(sizes[i], sizeof(sizes[i]), "%uK", kinds[i].bytes >> 10);
		caches[i] = (struct writer_cache){
			.level = kinds[i].level,
			.line_bytes = LINE,
			.sets = kinds[i].bytes / LINE / kinds[i].ways,
			.ways = kinds[i].ways,
			.type = kinds[i].type,
			.size = sizes[i],
			.cpus = kinds[i].level == 3 ? all : "0",
		};
	}
	writer_caches(w, caches, N_CACHES);
}

void recorder_features(const struct recorder *r)
{
	const struct config *c = r->config;
	struct writer_pmu pmus[3] = { { 1, "software" } };
	size_t n_pmus = 1;
	struct writer *w = r->writer;

	writer_feature_string(w, FEATURE_HOSTNAME, "model");
	writer_feature_string(w, FEATURE_OSRELEASE, "qemu-user");
	writer_feature_string(w, FEATURE_VERSION, c->version);
	writer_feature_string(w, FEATURE_ARCH, "aarch64");
	writer_command_line(w, c->arguments.n, c->arguments.items);
	if (c->samples.events.n > 0)
		pmus[n_pmus++] = (struct writer_pmu){ PMU_TYPE, "armv8_pmuv3_0" };
	if (!c->without_spe)
		pmus[n_pmus++] = (struct writer_pmu){ SPE_TYPE, "arm_spe_0" };
	writer_pmus(w, pmus, n_pmus);
	if (c->samples.branches.depth > 0)
		writer_feature(w, FEATURE_BRANCH_STACK, NULL, 0);
	writer_sample_time(w, r->first_ns, r->journal->last_ns);
	describe_cpu(w, c);
	describe_topology(w, &c->params);
	describe_memory(w, &c->params);
	describe_caches(w, &c->params);
}
