/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/addr.h"

#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "base/alloc.h"
#include "base/prefetch.h"

enum {
	MAX_CPUS = 1 << 16,
	ROWS_AT_ONCE = 64, /* whose groups are looked up at once, so that cache misses overlap */
};

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

/* Where the page is, and where the CPU is. */
static void addr_add_nodes(const struct addr *a, const struct batch *b, size_t row, uint64_t cycles,
			   struct addr_sums *to)
{
	const struct info *info = capture_info(a->session->capture);
	int node = b->has[row] & HAS_PA ? info_memory_node(info, b->pa[row]) : -1;
	uint32_t cpu = addr_cpu_of(b, row);
	uint64_t page_node = node >= 0 ? UINT64_C(1) << node : 0;
	uint64_t cpu_node = cpu < a->n_cpus ? a->cpu_nodes[cpu] : 0;

	if (page_node != 0)
		to->page_nodes |= page_node;
	if (cpu_node != 0)
		to->cpu_nodes |= cpu_node;
	if (page_node == 0 || cpu_node == 0)
		return;
	if (page_node == cpu_node) {
		to->n_near++;
	} else {
		to->n_far++;
		to->far_cycles += cycles;
	}
}

static void addr_add_access(const struct addr *a, const struct batch *b, size_t row,
			    const struct access *access, struct addr_sums *to)
{
	uint64_t time_ns = data_time(a->session, b, row);
	uint64_t cycles = access->has_cycles ? access->cycles : 0;
	bool is_saturated = access->has_cycles && access->is_saturated;

	if (to->n == 0 || time_ns < to->first_ns)
		to->first_ns = time_ns;
	if (to->n == 0 || access->address < to->least)
		to->least = access->address;
	to->n++;
	memory_counts_add(&to->kinds, access->kind, 1);
	to->cycles += cycles;
	to->n_cycles += access->has_cycles;
	to->n_translated += access->is_translated;
	if (is_saturated) {
		to->full_cycles += cycles;
		to->n_saturated++;
	}
	if (access->has_walk) {
		to->walks++;
		to->walk_cycles += access->walk_cycles;
		to->n_walk_cycles += access->has_walk_cycles;
	}
	if (access->level != SOURCE_UNKNOWN)
		to->levels[access->level]++;
	if (!a->is_sampled && (access->level == SOURCE_DRAM || access->level == SOURCE_REMOTE_DRAM))
		to->memory_operations += spe_interval(a->session, addr_cpu_of(b, row))->mean;
	addr_add_nodes(a, b, row, cycles, to);
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

/* Makes room for the sums of all groups. */
static void reach_groups(struct addr *a)
{
	uint32_t n = a->keys.n;

	if (n == a->sums.n)
		return;
	vec_reserve(&a->sums, n - a->sums.n);
	a->sums.n = n;
	if (a->options->grain != ADDR_INSTRUCTIONS)
		return;
	vec_reserve(&a->patterns, n - a->patterns.n);
	a->patterns.n = n;
}

/* The sums of these groups will be written next: of most records, what is in the first two cache lines. */
static void fetch_sums(const struct addr *a, const uint32_t *groups, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct addr_sums *sums = &a->sums.items[groups[i]];

		prefetch_to_write(sums);
		prefetch_to_write(&sums->n_translated);
	}
}

/* The groups of `n` keys, up to ROWS_AT_ONCE, which are added if they are new. */
static void find_groups(struct addr *a, const uint64_t *keys, size_t n, uint32_t *out)
{
	tuples_add_all(&a->keys, keys, n, out);
	reach_groups(a);
	fetch_sums(a, out, n);
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

/* Some accesses of a batch, with the keys of their groups. */
struct addr_accesses {
	size_t n;
	uint16_t rows[ROWS_AT_ONCE];
	struct access list[ROWS_AT_ONCE];
	uint64_t keys[ROWS_AT_ONCE * ADDR_KEY_WORDS];
};

static void add_accesses(struct addr *a, const struct batch *b, const struct addr_accesses *some)
{
	uint32_t groups[ROWS_AT_ONCE];

	find_groups(a, some->keys, some->n, groups);
	for (size_t i = 0; i < some->n; i++) {
		size_t row = some->rows[i];

		addr_add_access(a, b, row, &some->list[i], &a->sums.items[groups[i]]);
		addr_add_slice(a, groups[i], b, row);
		if (a->last != NULL)
			add_pattern(a, groups[i], some->list[i].address);
	}
}

static void addr_consume(void *partial, const struct batch *b)
{
	struct addr *a = partial;
	struct addr_accesses some;

	if (a->last != NULL)
		addr_last_reset(a->last);
	some.n = 0;
	for (size_t row = 0; row < b->n; row++) {
		uint64_t *key = &some.keys[some.n * ADDR_KEY_WORDS];
		struct access *access = &some.list[some.n];

		memset(key, 0, ADDR_KEY_WORDS * sizeof(*key));
		if (!addr_read_access(a, b, row, access) ||
		    !addr_key_of(a, b, row, access->address, key))
			continue;
		some.rows[some.n++] = (uint16_t)row;
		if (some.n < ROWS_AT_ONCE)
			continue;
		add_accesses(a, b, &some);
		some.n = 0;
	}
	add_accesses(a, b, &some);
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

/*
 * Adds the groups of `from`, group i under the key keys[i * ADDR_KEY_WORDS …]. Patterns are added, too, if there are
 * any.
 */
static void add_groups(struct addr *a, const struct addr *from, const uint64_t *keys)
{
	uint32_t *groups = mem_alloc((size_t)from->keys.n + 1, sizeof(*groups));

	for (uint32_t at = 0, n = from->keys.n; at < n; at += ROWS_AT_ONCE) {
		uint32_t some = n - at < ROWS_AT_ONCE ? n - at : ROWS_AT_ONCE;

		find_groups(a, keys + (size_t)at * ADDR_KEY_WORDS, some, groups + at);
		for (uint32_t i = at; i < at + some; i++)
			addr_sums_add(&a->sums.items[groups[i]], &from->sums.items[i]);
	}
	for (uint32_t i = 0; i < from->patterns.n; i++)
		addr_pattern_merge(&a->patterns.items[groups[i]], &from->patterns.items[i]);
	merge_slices(a, &from->slices, groups);
	free(groups);
}

static void addr_merge(void *into, const void *from, const struct id_map *map)
{
	struct addr *a = into;
	const struct addr *part = from;

	(void)map;
	a->n_without_address += part->n_without_address;
	add_groups(a, part, part->keys.words);
}

void addr_regroup(struct addr *a, const uint64_t *keys)
{
	struct addr old = *a;

	tuples_init(&a->keys, ADDR_KEY_WORDS);
	addr_slices_init(&a->slices);
	a->sums.items = NULL;
	a->sums.n = a->sums.cap = 0;
	add_groups(a, &old, keys);
	tuples_release(&old.keys);
	vec_release(&old.sums);
	addr_slices_release(&old.slices);
}

struct addr *addr_of_pages(const struct addr *pages, const struct addr_options *options)
{
	struct addr *a = addr_new(pages->session, options);
	uint64_t *keys = mem_zalloc((size_t)pages->keys.n + 1, ADDR_KEY_WORDS * sizeof(*keys));

	a->n_without_address = pages->n_without_address;
	for (uint32_t i = 0; i < pages->keys.n; i++) {
		const uint64_t *page = tuples_get(&pages->keys, i);
		uint64_t *key = &keys[(size_t)i * ADDR_KEY_WORDS];

		key[0] = addr_objects_find(options->objects, (uint32_t)page[0],
					   page[1] << ADDR_PAGE_SHIFT, &key[1]);
	}
	add_groups(a, pages, keys);
	free(keys);
	return a;
}

const struct analysis_class addr_class = {
	.new = addr_new,
	.free = addr_free,
	.consume = addr_consume,
	.merge = addr_merge,
};
