/* SPDX-License-Identifier: Apache-2.0 */
/* Header features for the writer: docs/reference/perf-data.md section 1.2. */
#include "capture/writer/writer.h"

#include "capture/writer/emit.h"
#include "capture/writer/writer_inside.h"

static void writer_features_set(struct writer *w, unsigned feature, const struct text *section)
{
	writer_feature(w, feature, section->bytes, section->n);
}

static void emit_strings(struct text *out, const char *const *strings, size_t n)
{
	emit_u32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		emit_string(out, strings[i]);
}

void writer_feature_string(struct writer *w, unsigned feature, const char *text)
{
	struct text *out = writer_scratch(w);

	emit_string(out, text);
	writer_features_set(w, feature, out);
}

void writer_feature_u64(struct writer *w, unsigned feature, uint64_t value)
{
	struct text *out = writer_scratch(w);

	emit_u64(out, value);
	writer_features_set(w, feature, out);
}

void writer_n_cpus(struct writer *w, uint32_t available, uint32_t online)
{
	struct text *out = writer_scratch(w);

	emit_u32(out, available);
	emit_u32(out, online);
	writer_features_set(w, FEATURE_NRCPUS, out);
}

void writer_command_line(struct writer *w, size_t n_args, const char *const *args)
{
	struct text *out = writer_scratch(w);

	emit_strings(out, args, n_args);
	writer_features_set(w, FEATURE_CMDLINE, out);
}

void writer_sample_time(struct writer *w, uint64_t first_ns, uint64_t last_ns)
{
	struct text *out = writer_scratch(w);

	emit_u64(out, first_ns);
	emit_u64(out, last_ns);
	writer_features_set(w, FEATURE_SAMPLE_TIME, out);
}

void writer_clock_data(struct writer *w, uint32_t clock_id, uint64_t clock_time_ns,
		       uint64_t wall_clock_ns)
{
	const uint32_t version = 1;
	struct text *out = writer_scratch(w);

	emit_u32(out, version);
	emit_u32(out, clock_id);
	emit_u64(out, wall_clock_ns);
	emit_u64(out, clock_time_ns);
	writer_features_set(w, FEATURE_CLOCK_DATA, out);
}

void writer_build_id(struct writer *w, const struct build_id *id, const char *path, int32_t pid,
		     uint16_t misc)
{
	const uint16_t has_size = 1 << 15;
	size_t path_size = (strlen(path) + 1 + 63) / 64 * 64;
	struct text *out = writer_build_id_section(w);

	emit_u32(out, 0);
	emit_u16(out, misc | has_size);
	emit_u16(out, (uint16_t)(8 + 4 + 24 + path_size));
	emit_u32(out, (uint32_t)pid);
	emit_bytes(out, id->bytes, sizeof(id->bytes));
	emit_u32(out, id->size);
	emit_padded_text(out, path, 64);
}

void writer_pmus(struct writer *w, const struct writer_pmu *pmus, size_t n_pmus)
{
	struct text *out = writer_scratch(w);

	emit_u32(out, (uint32_t)n_pmus);
	for (size_t i = 0; i < n_pmus; i++) {
		emit_u32(out, pmus[i].type);
		emit_string(out, pmus[i].name);
	}
	writer_features_set(w, FEATURE_PMU_MAPPINGS, out);
}

void writer_cpu_topology(struct writer *w, const struct writer_cpu_topology *topology)
{
	struct text *out = writer_scratch(w);

	emit_strings(out, topology->core_siblings, topology->n_core_siblings);
	emit_strings(out, topology->thread_siblings, topology->n_thread_siblings);
	for (size_t i = 0; i < topology->n_places; i++) {
		emit_u32(out, topology->places[i].core);
		emit_u32(out, topology->places[i].socket);
	}
	emit_strings(out, topology->die_siblings, topology->n_die_siblings);
	for (size_t i = 0; i < topology->n_places; i++)
		emit_u32(out, topology->places[i].die);
	writer_features_set(w, FEATURE_CPU_TOPOLOGY, out);
}

void writer_numa_topology(struct writer *w, const struct writer_numa_node *nodes, size_t n_nodes)
{
	struct text *out = writer_scratch(w);

	emit_u32(out, (uint32_t)n_nodes);
	for (size_t i = 0; i < n_nodes; i++) {
		emit_u32(out, nodes[i].node);
		emit_u64(out, nodes[i].total_kb);
		emit_u64(out, nodes[i].free_kb);
		emit_string(out, nodes[i].cpus);
	}
	writer_features_set(w, FEATURE_NUMA_TOPOLOGY, out);
}

void writer_memory_topology(struct writer *w, uint64_t block_bytes,
			    const struct writer_memory_node *nodes, size_t n_nodes)
{
	const uint64_t version = 1;
	struct text *out = writer_scratch(w);

	emit_u64(out, version);
	emit_u64(out, block_bytes);
	emit_u64(out, n_nodes);
	for (size_t i = 0; i < n_nodes; i++) {
		emit_u64(out, nodes[i].node);
		emit_u64(out, nodes[i].n_blocks);
		emit_u64(out, nodes[i].n_blocks);
		for (uint64_t word = 0; word * 64 < nodes[i].n_blocks; word++)
			emit_u64(out, nodes[i].blocks[word]);
	}
	writer_features_set(w, FEATURE_MEM_TOPOLOGY, out);
}

void writer_caches(struct writer *w, const struct writer_cache *caches, size_t n_caches)
{
	const uint32_t version = 1;
	struct text *out = writer_scratch(w);

	emit_u32(out, version);
	emit_u32(out, (uint32_t)n_caches);
	for (size_t i = 0; i < n_caches; i++) {
		emit_u32(out, caches[i].level);
		emit_u32(out, caches[i].line_bytes);
		emit_u32(out, caches[i].sets);
		emit_u32(out, caches[i].ways);
		emit_string(out, caches[i].type);
		emit_string(out, caches[i].size);
		emit_string(out, caches[i].cpus);
	}
	writer_features_set(w, FEATURE_CACHE, out);
}

void writer_groups(struct writer *w, const struct writer_group *groups, size_t n_groups)
{
	struct text *out = writer_scratch(w);

	emit_u32(out, (uint32_t)n_groups);
	for (size_t i = 0; i < n_groups; i++) {
		emit_string(out, groups[i].name);
		emit_u32(out, groups[i].leader);
		emit_u32(out, groups[i].n_members);
	}
	writer_features_set(w, FEATURE_GROUP_DESC, out);
}

static void emit_capabilities(struct text *out, const struct writer_capability *capabilities,
			      size_t n)
{
	emit_u32(out, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		emit_string(out, capabilities[i].name);
		emit_string(out, capabilities[i].value);
	}
}

/*
 * The PMU "cpu" has a feature of its own. The other feature is a list of PMUs, here with one entry.
 */
void writer_pmu_capabilities(struct writer *w, const char *pmu,
			     const struct writer_capability *capabilities, size_t n)
{
	struct text *out = writer_scratch(w);

	if (strcmp(pmu, "cpu") == 0) {
		emit_capabilities(out, capabilities, n);
		writer_features_set(w, FEATURE_CPU_PMU_CAPS, out);
		return;
	}
	emit_u32(out, 1);
	emit_capabilities(out, capabilities, n);
	emit_string(out, pmu);
	writer_features_set(w, FEATURE_PMU_CAPS, out);
}
