/* SPDX-License-Identifier: Apache-2.0 */
/* The header features of a capture. Readers are in feature_*.c. */
#include "capture/format/info.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "capture/format/feature.h"

typedef bool feature_reader(struct section *, struct info *draft);

/* A feature with neither reader nor string has no content, or is read elsewhere. */
static const struct {
	const char *name;
	feature_reader *read;
	size_t string; /* offset in struct info of a str_id for the whole section; 0: none */
} features[FEATURE_FILE2 + 1] = {
	[FEATURE_TRACING_DATA] = { "TRACING_DATA" },
	[FEATURE_BUILD_ID] = { "BUILD_ID", read_build_ids },
	[FEATURE_HOSTNAME] = { "HOSTNAME", .string = offsetof(struct info, hostname) },
	[FEATURE_OSRELEASE] = { "OSRELEASE", .string = offsetof(struct info, os_release) },
	[FEATURE_VERSION] = { "VERSION", .string = offsetof(struct info, perf_version) },
	[FEATURE_ARCH] = { "ARCH", .string = offsetof(struct info, arch) },
	[FEATURE_NRCPUS] = { "NRCPUS", read_n_cpus },
	[FEATURE_CPUDESC] = { "CPUDESC", .string = offsetof(struct info, cpu_desc) },
	[FEATURE_CPUID] = { "CPUID", .string = offsetof(struct info, cpuid) },
	[FEATURE_TOTAL_MEM] = { "TOTAL_MEM", read_total_memory },
	[FEATURE_CMDLINE] = { "CMDLINE", read_command_line },
	[FEATURE_EVENT_DESC] = { "EVENT_DESC", read_event_descs },
	[FEATURE_CPU_TOPOLOGY] = { "CPU_TOPOLOGY", read_cpu_topology },
	[FEATURE_NUMA_TOPOLOGY] = { "NUMA_TOPOLOGY", read_numa_topology },
	[FEATURE_BRANCH_STACK] = { "BRANCH_STACK" },
	[FEATURE_PMU_MAPPINGS] = { "PMU_MAPPINGS", read_pmus },
	[FEATURE_GROUP_DESC] = { "GROUP_DESC", read_groups },
	[FEATURE_AUXTRACE] = { "AUXTRACE" },
	[FEATURE_STAT] = { "STAT" },
	[FEATURE_CACHE] = { "CACHE", read_caches },
	[FEATURE_SAMPLE_TIME] = { "SAMPLE_TIME", read_sample_time },
	[FEATURE_MEM_TOPOLOGY] = { "MEM_TOPOLOGY", read_memory_topology },
	[FEATURE_CLOCKID] = { "CLOCKID", read_clock_resolution },
	[FEATURE_DIR_FORMAT] = { "DIR_FORMAT" },
	[FEATURE_BPF_PROG_INFO] = { "BPF_PROG_INFO" },
	[FEATURE_BPF_BTF] = { "BPF_BTF" },
	[FEATURE_COMPRESSED] = { "COMPRESSED", read_compression },
	[FEATURE_CPU_PMU_CAPS] = { "CPU_PMU_CAPS", read_cpu_pmu_capabilities },
	[FEATURE_CLOCK_DATA] = { "CLOCK_DATA", read_clock_data },
	[FEATURE_HYBRID_TOPOLOGY] = { "HYBRID_TOPOLOGY" },
	[FEATURE_PMU_CAPS] = { "PMU_CAPS", read_pmu_capabilities },
	[FEATURE_FILE] = { "FILE", read_stored_files },
	[FEATURE_META_INFO] = { "META_INFO", read_meta_info },
	[FEATURE_FILE2] = { "FILE2", read_stored_files_2 },
};

const char *feature_name(unsigned feature)
{
	return feature < COUNT(features) ? features[feature].name : NULL;
}

/* Frees the lists of `info` that `shared` does not have. */
static void release_lists(struct info *info, const struct info *shared)
{
	if (info->event_descs.items != shared->event_descs.items) {
		for (size_t i = 0; i < info->event_descs.n; i++)
			vec_release(&info->event_descs.items[i].ids);
		vec_release(&info->event_descs);
	}
	if (info->memory_nodes.items != shared->memory_nodes.items) {
		for (size_t i = 0; i < info->memory_nodes.n; i++)
			vec_release(&info->memory_nodes.items[i].blocks);
		vec_release(&info->memory_nodes);
	}
	if (info->build_ids.items != shared->build_ids.items)
		vec_release(&info->build_ids);
	if (info->cpu_places.items != shared->cpu_places.items)
		vec_release(&info->cpu_places);
	if (info->numa_nodes.items != shared->numa_nodes.items)
		vec_release(&info->numa_nodes);
	if (info->pmus.items != shared->pmus.items)
		vec_release(&info->pmus);
	if (info->groups.items != shared->groups.items)
		vec_release(&info->groups);
	if (info->caches.items != shared->caches.items)
		vec_release(&info->caches);
	if (info->capabilities.items != shared->capabilities.items)
		vec_release(&info->capabilities);
	if (info->stored_files.items != shared->stored_files.items)
		vec_release(&info->stored_files);
	if (info->stored_functions.items != shared->stored_functions.items)
		vec_release(&info->stored_functions);
	if (info->event_names.items != shared->event_names.items)
		vec_release(&info->event_names);
}

void info_release(struct info *info)
{
	release_lists(info, &(struct info){ 0 });
	*info = (struct info){ 0 };
}

struct str_id section_string(struct section *s)
{
	uint32_t len = cur_u32(&s->c);
	const char *text = (const char *)cur_take(&s->c, len);

	return text == NULL ? (struct str_id){ 0 } : strings_add(s->strings, text, len);
}

bool section_skip_strings(struct section *s)
{
	uint32_t n = cur_u32(&s->c);

	if (!cur_holds(&s->c, n, STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = cur_u32(&s->c);

		cur_skip(&s->c, len);
	}
	return cur_ok(&s->c);
}

/* Reads the section into the draft. */
static bool read_section(unsigned feature, struct section *s, struct info *draft)
{
	struct str_id text;

	if (features[feature].read != NULL)
		return features[feature].read(s, draft);
	if (features[feature].string == 0)
		return true;
	text = section_string(s);
	memcpy((uint8_t *)draft + features[feature].string, &text, sizeof(text));
	return cur_ok(&s->c);
}

static bool says_something(unsigned feature)
{
	return features[feature].read != NULL || features[feature].string != 0;
}

bool feature_read(struct info *info, unsigned feature, struct cursor bytes, uint64_t at,
		  struct strings *strings, struct diags *diags)
{
	struct section section = { .c = bytes, .at = at, .strings = strings };
	struct info draft = *info;
	size_t size = cur_left(&bytes);
	char text[96];

	if (feature_name(feature) == NULL || (size == 0 && says_something(feature)))
		return false;
	if (!read_section(feature, &section, &draft)) {
		release_lists(&draft, info);
		snprintf(text, sizeof(text), "header feature %s could not be read; ignored",
			 feature_name(feature));
		diags_add(diags, DIAG_DAMAGE, at, size, text);
		return false;
	}
	if (feature < N_FEATURES)
		draft.features |= (uint64_t)1 << feature;
	release_lists(info, &draft);
	*info = draft;
	return true;
}

uint64_t info_midr(const struct info *info, const struct strings *strings)
{
	const char *text = strings_get(strings, info->cpuid);
	char *end = NULL;
	uint64_t midr;

	if (strncmp(text, "0x", 2) != 0)
		return 0;
	errno = 0;
	midr = strtoull(text, &end, 16);
	return *end == '\0' && errno == 0 ? midr : 0;
}

int info_memory_node(const struct info *info, uint64_t physical)
{
	uint64_t block;

	if (info->memory_block_bytes == 0)
		return -1;
	block = physical / info->memory_block_bytes;
	for (size_t i = 0; i < info->memory_nodes.n; i++) {
		const struct memory_node *node = &info->memory_nodes.items[i];

		if (block / 64 < node->blocks.n && node->node < INFO_NODES &&
		    node->blocks.items[block / 64] >> block % 64 & 1)
			return (int)node->node;
	}
	return -1;
}
