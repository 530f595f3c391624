/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/addr.h"

#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/alloc.h"

enum { MAX_CPUS = 1 << 16 };

static uint32_t number_in(const char **text)
{
	uint32_t n = 0;

	while (**text >= '0' && **text <= '9' && n < MAX_CPUS)
		n = n * 10 + (uint32_t)(*(*text)++ - '0');
	return n;
}

/* Sets the NUMA node of the CPUs in a list, "0-3,8". */
static void mark_cpus(struct addr *a, const char *list, uint32_t node)
{
	while (*list >= '0' && *list <= '9') {
		uint32_t first = number_in(&list), last = first;

		if (*list == '-') {
			list++;
			last = number_in(&list);
		}
		for (uint32_t cpu = first; cpu <= last && cpu < a->n_cpus; cpu++)
			a->cpu_nodes[cpu] = 1ull << node;
		if (*list == ',')
			list++;
	}
}

static void addr_read_nodes(struct addr *a)
{
	const struct info *info = capture_info(a->session->capture);

	a->n_cpus = info->n_cpus_available < MAX_CPUS ? info->n_cpus_available : MAX_CPUS;
	a->cpu_nodes = mem_zalloc(a->n_cpus + 1, sizeof(*a->cpu_nodes));
	for (size_t i = 0; i < info->numa_nodes.n; i++)
		if (info->numa_nodes.items[i].node < INFO_NODES)
			mark_cpus(a,
				  strings_get(capture_strings(a->session->capture),
					      info->numa_nodes.items[i].cpus),
				  info->numa_nodes.items[i].node);
}

static void addr_slices_init(struct addr_slices *s)
{
	*s = (struct addr_slices){ 0 };
	tuples_init(&s->keys, 1);
}

static void addr_slices_release(struct addr_slices *s)
{
	tuples_release(&s->keys);
	vec_release(&s->counts);
}

static void *addr_new(const struct session *session, const void *options)
{
	struct addr *a = mem_zalloc(1, sizeof(*a));

	a->session = session;
	a->options = options;
	addr_slices_init(&a->slices);
	tuples_init(&a->keys, ADDR_KEY_WORDS);
	a->is_sampled = access_is_sampled(session);
	a->sampling = access_sampling_of(session);
	addr_read_nodes(a);
	if (a->options->grain == ADDR_INSTRUCTIONS)
		a->last = addr_last_new();
	return a;
}

static void addr_free(void *partial)
{
	struct addr *a = partial;

	if (a == NULL)
		return;
	tuples_release(&a->keys);
	vec_release(&a->sums);
	vec_release(&a->patterns);
	addr_slices_release(&a->slices);
	addr_last_free(a->last);
	free(a->cpu_nodes);
	free(a);
}

void addr_sums_add(struct addr_sums *to, const struct addr_sums *from)
{
	if (to->n == 0 || from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (to->n == 0 || from->least < to->least)
		to->least = from->least;
	to->n += from->n;
	memory_counts_merge(&to->kinds, &from->kinds);
	to->cycles += from->cycles;
	to->full_cycles += from->full_cycles;
	to->n_cycles += from->n_cycles;
	to->n_saturated += from->n_saturated;
	to->n_translated += from->n_translated;
	to->walks += from->walks;
	to->walk_cycles += from->walk_cycles;
	to->n_walk_cycles += from->n_walk_cycles;
	for (int i = 0; i < N_SOURCE_LEVELS; i++)
		to->levels[i] += from->levels[i];
	to->memory_operations += from->memory_operations;
	to->n_near += from->n_near;
	to->n_far += from->n_far;
	to->far_cycles += from->far_cycles;
	to->page_nodes |= from->page_nodes;
	to->cpu_nodes |= from->cpu_nodes;
}

static uint32_t addr_cpu_of(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX;
}

/*
 * Reads the access of a record. False if it is none, or of the kind of sampling that is not
 * counted. Counts accesses without an address.
 */
static bool addr_read_access(struct addr *a, const struct batch *b, size_t row, struct access *out)
{
	if (b->kind != (a->is_sampled ? BATCH_SAMPLES : BATCH_SPE))
		return false;
	if (!access_read(a->session, &a->sampling, b, row, out))
		return false;
	if (b->has[row] & HAS_VA && (!a->is_sampled || out->address != 0))
		return true;
	a->n_without_address++;
	return false;
}

static void addr_set_nodes(const struct addr *a, const struct batch *b, size_t row,
			   struct addr_sums *out)
{
	const struct info *info = capture_info(a->session->capture);
	int node = b->has[row] & HAS_PA ? info_memory_node(info, b->pa[row]) : -1;
	uint32_t cpu = addr_cpu_of(b, row);

	if (node >= 0)
		out->page_nodes = 1ull << node;
	if (cpu < a->n_cpus)
		out->cpu_nodes = a->cpu_nodes[cpu];
	if (out->page_nodes == 0 || out->cpu_nodes == 0)
		return;
	out->n_near = out->page_nodes == out->cpu_nodes;
	out->n_far = !out->n_near;
	out->far_cycles = out->n_far ? out->cycles : 0;
}

static struct addr_sums addr_record_sums(const struct addr *a, const struct batch *b, size_t row,
					 const struct access *access)
{
	struct addr_sums sums = {
		.n = 1,
		.cycles = access->has_cycles ? access->cycles : 0,
		.n_cycles = access->has_cycles,
		.n_saturated = access->has_cycles && access->is_saturated,
		.n_translated = access->is_translated,
		.walks = access->has_walk,
		.walk_cycles = access->walk_cycles,
		.n_walk_cycles = access->has_walk_cycles,
		.least = access->address,
		.first_ns = data_time(a->session, b, row),
	};

	memory_counts_add(&sums.kinds, access->kind, 1);
	if (access->level != SOURCE_UNKNOWN)
		sums.levels[access->level] = 1;
	if (access->level == SOURCE_DRAM || access->level == SOURCE_REMOTE_DRAM)
		sums.memory_operations =
			a->is_sampled ? 0 : spe_interval(a->session, addr_cpu_of(b, row))->mean;
	sums.full_cycles = sums.n_saturated > 0 ? sums.cycles : 0;
	addr_set_nodes(a, b, row, &sums);
	return sums;
}

static uint32_t addr_process_of(const struct batch *b, size_t row, uint64_t address)
{
	if (attribution_is_of_guest(b, row))
		return 0;
	if (address >> 63)
		return ADDR_KERNEL;
	return b->has[row] & HAS_PROCESS ? b->process[row] : 0;
}

/* Fills the key of the group. False if the access is outside of the window. */
static bool addr_key_of(const struct addr *a, const struct batch *b, size_t row, uint64_t address,
			uint64_t key[ADDR_KEY_WORDS])
{
	const struct addr_options *o = a->options;
	const struct addr_window *w = &o->window;
	uint32_t process = addr_process_of(b, row, address);

	switch (o->grain) {
	case ADDR_PAGES:
		key[0] = process;
		key[1] = address >> ADDR_PAGE_SHIFT;
		return true;
	case ADDR_LINES:
		key[0] = process;
		key[1] = address / o->line_bytes;
		return true;
	case ADDR_FIELDS:
		key[0] = addr_objects_find(o->objects, process, address, &key[1]);
		if (key[0] == UINT32_MAX)
			return false;
		if (addr_object_is_memory(&o->objects->list.items[key[0]]) &&
		    b->has[row] & HAS_PC) {
			key[1] = process;
			key[2] = (uint64_t)b->place[row] + 1;
		}
		return true;
	case ADDR_OFFSETS:
		if (address < w->base || (address - w->base) / w->size >= w->count ||
		    (w->process != 0 && process != w->process))
			return false;
		key[0] = (address - w->base) % w->size;
		key[1] = b->has[row] & HAS_PC ? b->place[row] : 0;
		return true;
	case ADDR_INSTRUCTIONS:
		key[0] = b->has[row] & HAS_PC ? b->place[row] : 0;
		key[1] = b->has[row] & HAS_TID ? b->tid[row] : 0;
		key[2] = process;
		return true;
	}
	return false;
}

static uint32_t find_group(struct addr *a, const uint64_t key[ADDR_KEY_WORDS])
{
	uint32_t group = tuples_add(&a->keys, key);

	if (group == a->sums.n) {
		vec_add(&a->sums);
		if (a->options->grain == ADDR_INSTRUCTIONS)
			vec_add(&a->patterns);
	}
	return group;
}

static void addr_slices_add(struct addr_slices *s, uint64_t key, uint32_t n)
{
	uint32_t number = tuples_add(&s->keys, &key);

	if (number == s->counts.n)
		vec_add(&s->counts);
	s->counts.items[number] += n;
}

static void addr_add_slice(struct addr *a, uint32_t group, const struct batch *b, size_t row)
{
	const struct slices *s = &a->session->slices;

	if (s->n > 0 && !a->options->without_slices && b->has[row] & HAS_TIME)
		addr_slices_add(&a->slices,
				(uint64_t)group * s->n + slices_find(s, b->time_ns[row]), 1);
}

/* Rows are in file order, so neighbouring rows of an instruction are consecutive samples. */
static void add_pattern(struct addr *a, uint32_t group, uint64_t address)
{
	struct addr_pattern *p = &a->patterns.items[group];
	uint64_t before;

	addr_pattern_add(p, address);
	if (addr_last_put(a->last, group, address, &before))
		addr_pattern_add_pair(p, before, address);
}

static void addr_consume(void *partial, const struct batch *b)
{
	struct addr *a = partial;

	if (a->last != NULL)
		addr_last_reset(a->last);
	for (size_t row = 0; row < b->n; row++) {
		uint64_t key[ADDR_KEY_WORDS] = { 0 };
		struct access access;
		struct addr_sums sums;
		uint32_t group;

		if (!addr_read_access(a, b, row, &access) ||
		    !addr_key_of(a, b, row, access.address, key))
			continue;
		group = find_group(a, key);
		sums = addr_record_sums(a, b, row, &access);
		addr_sums_add(&a->sums.items[group], &sums);
		addr_add_slice(a, group, b, row);
		if (a->last != NULL)
			add_pattern(a, group, access.address);
	}
}

/* `groups`: what each group of `from` is called here. */
static void merge_slices(struct addr *a, const struct addr_slices *from, const uint32_t *groups)
{
	uint64_t n = a->session->slices.n;

	for (uint32_t i = 0; i < from->keys.n; i++) {
		uint64_t key = *tuples_get(&from->keys, i);

		addr_slices_add(&a->slices, groups[key / n] * n + key % n, from->counts.items[i]);
	}
}

static void addr_merge(void *into, const void *from, const struct id_map *map)
{
	struct addr *a = into;
	const struct addr *part = from;
	uint32_t *groups = mem_alloc(part->keys.n, sizeof(*groups));

	(void)map;
	a->n_without_address += part->n_without_address;
	for (uint32_t i = 0; i < part->keys.n; i++) {
		uint32_t group = find_group(a, tuples_get(&part->keys, i));

		groups[i] = group;
		addr_sums_add(&a->sums.items[group], &part->sums.items[i]);
		if (a->options->grain == ADDR_INSTRUCTIONS)
			addr_pattern_merge(&a->patterns.items[group], &part->patterns.items[i]);
	}
	merge_slices(a, &part->slices, groups);
	free(groups);
}

void addr_regroup(struct addr *a, const uint64_t *keys)
{
	struct addr old = *a;
	uint32_t *groups = mem_alloc(old.keys.n, sizeof(*groups));

	tuples_init(&a->keys, ADDR_KEY_WORDS);
	addr_slices_init(&a->slices);
	a->sums.items = NULL;
	a->sums.n = a->sums.cap = 0;
	for (uint32_t i = 0; i < old.keys.n; i++) {
		uint32_t group = find_group(a, &keys[(size_t)i * ADDR_KEY_WORDS]);

		groups[i] = group;
		addr_sums_add(&a->sums.items[group], &old.sums.items[i]);
	}
	merge_slices(a, &old.slices, groups);
	free(groups);
	tuples_release(&old.keys);
	vec_release(&old.sums);
	addr_slices_release(&old.slices);
}

const struct analysis_class addr_class = {
	.new = addr_new,
	.free = addr_free,
	.consume = addr_consume,
	.merge = addr_merge,
};
