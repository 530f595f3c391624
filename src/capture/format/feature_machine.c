/* SPDX-License-Identifier: Apache-2.0 */
/* Features about the machine: processors, memory, caches, PMUs. */
#include "capture/format/feature.h"

bool read_n_cpus(struct section *s, struct info *draft)
{
	draft->n_cpus_available = cur_u32(&s->c);
	draft->n_cpus_online = cur_u32(&s->c);
	return cur_ok(&s->c);
}

bool read_total_memory(struct section *s, struct info *draft)
{
	draft->total_memory_kb = cur_u64(&s->c);
	return cur_ok(&s->c);
}

/* Die numbers, in newer files only. */
static bool read_dies(struct section *s, struct info *draft)
{
	if (cur_left(&s->c) < STRING_MIN)
		return true;
	if (!section_skip_strings(s) || !cur_holds(&s->c, draft->cpu_places.n, 4))
		return false;
	for (size_t i = 0; i < draft->cpu_places.n; i++)
		draft->cpu_places.items[i].die = cur_u32(&s->c);
	return true;
}

/*
 * The table by CPU contains all that the lists of siblings before it do. perf 3.x writes the lists
 * only. The size of the table is in NRCPUS; without that it cannot be read.
 */
bool read_cpu_topology(struct section *s, struct info *draft)
{
	uint32_t n = draft->n_cpus_available;

	LIST_FORGET(draft->cpu_places);
	if (!section_skip_strings(s) || !section_skip_strings(s))
		return false;
	if (n == 0 || cur_left(&s->c) < 8)
		return true;
	if (!cur_holds(&s->c, n, 8))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct cpu_place *place = vec_add(&draft->cpu_places);

		place->core = cur_u32(&s->c);
		place->socket = cur_u32(&s->c);
	}
	return read_dies(s, draft);
}

bool read_numa_topology(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);

	LIST_FORGET(draft->numa_nodes);
	if (!cur_holds(&s->c, n, 4 + 8 + 8 + STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct numa_node *node = vec_add(&draft->numa_nodes);

		node->node = cur_u32(&s->c);
		node->total_kb = cur_u64(&s->c);
		node->free_kb = cur_u64(&s->c);
		node->cpus = section_string(s);
	}
	return cur_ok(&s->c);
}

static bool read_memory_node(struct section *s, struct memory_node *out)
{
	uint64_t n_bits, n_words;

	out->node = cur_u64(&s->c);
	cur_skip(&s->c, 8); /* the number of bits is stored twice */
	n_bits = cur_u64(&s->c);
	n_words = n_bits / 64 + (n_bits % 64 != 0);
	if (!cur_holds(&s->c, n_words, 8))
		return false;
	vec_reserve(&out->blocks, n_words);
	for (uint64_t i = 0; i < n_words; i++)
		*vec_add(&out->blocks) = cur_u64(&s->c);
	return true;
}

bool read_memory_topology(struct section *s, struct info *draft)
{
	uint64_t version = cur_u64(&s->c), n;

	LIST_FORGET(draft->memory_nodes);
	draft->memory_block_bytes = cur_u64(&s->c);
	n = cur_u64(&s->c);
	if (version != 1 || !cur_holds(&s->c, n, 3 * 8))
		return false;
	for (uint64_t i = 0; i < n; i++) {
		if (!read_memory_node(s, vec_add(&draft->memory_nodes)))
			return false;
	}
	return true;
}

bool read_caches(struct section *s, struct info *draft)
{
	uint32_t version = cur_u32(&s->c);
	uint32_t n = cur_u32(&s->c);

	LIST_FORGET(draft->caches);
	if (version != 1 || !cur_holds(&s->c, n, 4 * 4 + 3 * STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct cache_level *cache = vec_add(&draft->caches);

		cache->level = cur_u32(&s->c);
		cache->line_bytes = cur_u32(&s->c);
		cache->sets = cur_u32(&s->c);
		cache->ways = cur_u32(&s->c);
		cache->type = section_string(s);
		cache->size = section_string(s);
		cache->cpus = section_string(s);
	}
	return cur_ok(&s->c);
}

bool read_pmus(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);

	LIST_FORGET(draft->pmus);
	if (!cur_holds(&s->c, n, 4 + STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct pmu_name *pmu = vec_add(&draft->pmus);

		pmu->type = cur_u32(&s->c);
		pmu->name = section_string(s);
	}
	return cur_ok(&s->c);
}

/* Reads capabilities of a PMU whose name follows later. */
static bool read_capability_list(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);

	if (!cur_holds(&s->c, n, 2 * STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct capability *capability = vec_add(&draft->capabilities);

		capability->name = section_string(s);
		capability->value = section_string(s);
	}
	return cur_ok(&s->c);
}

/* Two features add to one list, so the draft begins with a copy of the items. */
static void copy_capabilities(struct info *draft)
{
	struct info old = *draft;

	LIST_FORGET(draft->capabilities);
	for (size_t i = 0; i < old.capabilities.n; i++)
		*vec_add(&draft->capabilities) = old.capabilities.items[i];
}

/* A feature is read once: repeated sections could let the list grow without limit. */
static bool feature_machine_is_known(const struct info *info, enum feature feature)
{
	return info->features >> feature & 1;
}

bool read_cpu_pmu_capabilities(struct section *s, struct info *draft)
{
	if (feature_machine_is_known(draft, FEATURE_CPU_PMU_CAPS))
		return true;
	copy_capabilities(draft);
	return read_capability_list(s, draft);
}

bool read_pmu_capabilities(struct section *s, struct info *draft)
{
	uint32_t n = cur_u32(&s->c);

	if (feature_machine_is_known(draft, FEATURE_PMU_CAPS))
		return true;
	copy_capabilities(draft);
	if (!cur_holds(&s->c, n, 4 + STRING_MIN))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		size_t first = draft->capabilities.n;
		struct str_id pmu;

		if (!read_capability_list(s, draft))
			return false;
		pmu = section_string(s);
		for (size_t k = first; k < draft->capabilities.n; k++)
			draft->capabilities.items[k].pmu = pmu;
	}
	return cur_ok(&s->c);
}
