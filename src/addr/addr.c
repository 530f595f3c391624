/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/addr.h"

#include <stdlib.h>
#include <string.h>

#include "access/access.h"
#include "access/kind.h"
#include "base/alloc.h"
#include "base/prefetch.h"
#include "estimate/latency.h"
#include "spe/packet.h"

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
	a->has_nodes = info->memory_nodes.n > 0;
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
	tuples_init(&a->keys, addr_key_words(a->options->grain));
	a->has_slices = session->slices.n > 0 && !a->options->without_slices;
	a->is_by_position = timeline_is_by_position(session->timeline);
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
	addr_briefs_release(&a->sums);
	vec_release(&a->patterns);
	addr_slices_release(&a->slices);
	addr_last_free(a->last);
	free(a->cpu_nodes);
	free(a);
}

/* The NUMA node of the page, as a bit; 0: not known. */
static uint64_t page_node_of(const struct addr *a, const struct batch *b, size_t row)
{
	int node = b->has[row] & HAS_PA
			   ? info_memory_node(capture_info(a->session->capture), b->pa[row])
			   : -1;

	return node >= 0 ? UINT64_C(1) << node : 0;
}

/* What is known of the row's CPU. Most rows are of the one before. */
static inline const struct addr_cpu *cpu_of(struct addr *a, const struct batch *b, size_t row)
{
	uint32_t number = batch_cpu(b, row);

	if (number != a->cpu.number || !a->cpu.is_set)
		a->cpu = (struct addr_cpu){
			.is_set = true,
			.number = number,
			.sources = cpu_sources(session_cpu_of(a->session, number)),
			.interval = a->is_sampled ? 0 : spe_interval(a->session, number)->mean,
			.nodes = number < a->n_cpus ? a->cpu_nodes[number] : 0,
		};
	return &a->cpu;
}

/*
 * What a row adds, but for its access. NUMA nodes matter where those of pages are known. What a record accessed is random,
 * so nothing is decided by it.
 */
static inline void complete_record(struct addr *a, const struct batch *b, size_t row,
				   struct addr_record *r)
{
	const struct addr_cpu *cpu = cpu_of(a, b, row);
	bool is_of_memory = (r->level == SOURCE_DRAM) | (r->level == SOURCE_REMOTE_DRAM);

	r->time_ns = data_time(a->is_by_position, b, row);
	r->operations = cpu->interval & -(uint64_t)is_of_memory;
	if (!a->has_nodes)
		return;
	r->page_nodes = page_node_of(a, b, row);
	r->cpu_nodes = cpu->nodes;
}

/* What access_read() says of an SPE record with an address, which is an access. */
static inline struct addr_record record_of_spe(struct addr *a, const struct batch *b, size_t row)
{
	uint32_t has = b->has[row];
	enum memory_kind kind = memory_kind_of_payload(b->op[row]);
	bool has_source = ((has & HAS_SOURCE) != 0) & (kind != MEMORY_STORE);
	bool has_cycles = (has & HAS_TOTAL) != 0, is_translated = (has & HAS_EVENTS) != 0;
	bool has_walk = is_translated & (b->events[row] >> SPE_EV_TLB_WALK & 1);
	bool has_walk_cycles = has_walk & ((has & HAS_XLAT) != 0);
	uint16_t source = (uint16_t)(b->source[row] & -(unsigned)has_source);
	enum source_level level = cpu_sources_level(&cpu_of(a, b, row)->sources, source);

	return (struct addr_record){
		.address = b->va[row],
		.counts = brief_one(BRIEF_N, true) | brief_one(BRIEF_LOADS + kind, true) |
			  brief_one(BRIEF_N_CYCLES, has_cycles) |
			  brief_one(BRIEF_N_TRANSLATED, is_translated) |
			  brief_one(BRIEF_WALKS, has_walk) |
			  brief_one(BRIEF_N_WALK_CYCLES, has_walk_cycles),
		.cycles = b->total[row] & -(uint64_t)has_cycles,
		.walk_cycles = b->xlat[row] & -(uint64_t)has_walk_cycles,
		.is_saturated = has_cycles & latency_is_full(b->total[row]),
		.level = (enum source_level)(level & -(int)has_source),
	};
}

static inline uint32_t addr_process_of(const struct batch *b, size_t row, uint64_t address)
{
	uint32_t process = batch_process(b, row);

	if (attribution_is_of_guest(b, row))
		return 0;
	return process | -(uint32_t)(address >> 63); /* ADDR_KERNEL has all bits */
}

/* Fills the key of the group. False if the access is outside of the window. */
static inline bool addr_key_of(const struct addr *a, const struct batch *b, size_t row,
			       uint64_t address, uint64_t *key)
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
		key[2] = 0;
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
		key[1] = batch_place(b, row);
		return true;
	case ADDR_INSTRUCTIONS:
		key[0] = batch_place(b, row);
		key[1] = b->has[row] & HAS_TID ? b->tid[row] : 0;
		key[2] = process;
		return true;
	}
	return false;
}

/* Makes room for the patterns of all groups, if there are any. */
static void reach_patterns(struct addr *a)
{
	uint32_t n = a->keys.n;

	if (a->options->grain != ADDR_INSTRUCTIONS || n == a->patterns.n)
		return;
	vec_reserve(&a->patterns, n - a->patterns.n);
	a->patterns.n = n;
}

/* The groups of `n` keys, up to ROWS_AT_ONCE, which are added if they are new. Their sums will be written next. */
static void find_groups(struct addr *a, const uint64_t *keys, size_t n, uint32_t *out)
{
	tuples_add_all(&a->keys, keys, n, out);
	addr_briefs_reach(&a->sums, a->keys.n);
	for (size_t i = 0; i < n; i++)
		prefetch_to_write(&a->sums.items[out[i]]);
	reach_patterns(a);
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

	if (b->has[row] & HAS_TIME)
		addr_slices_add(&a->slices,
				(uint64_t)group * s->n + slices_find(s, b->time_ns[row]), 1);
}

/* Rows are in file order, so neighbouring rows of an instruction are consecutive samples; SPE records of two CPUs are none. */
static void add_pattern(struct addr *a, uint32_t group, const struct batch *b, size_t row,
			uint64_t address)
{
	struct addr_pattern *p = &a->patterns.items[group];
	uint64_t before;

	if (b->kind == BATCH_SPE && batch_cpu(b, row) != a->last_cpu)
		addr_last_reset(a->last);
	a->last_cpu = batch_cpu(b, row);
	addr_pattern_add(p, address);
	if (addr_last_put(a->last, group, address, &before))
		addr_pattern_add_pair(p, before, address);
}

__attribute__((always_inline)) static inline void add_record(struct addr *a, const struct batch *b,
							     size_t row, struct addr_record record,
							     uint32_t group)
{
	complete_record(a, b, row, &record);
	addr_briefs_add(&a->sums, group, &record);
	if (a->has_slices)
		addr_add_slice(a, group, b, row);
	if (a->last != NULL)
		add_pattern(a, group, b, row, record.address);
}

/* Some accesses of a batch, with the keys of their groups. */
struct addr_accesses {
	size_t n;
	uint16_t rows[ROWS_AT_ONCE];
	struct access list[ROWS_AT_ONCE]; /* of samples */
	uint64_t keys[ROWS_AT_ONCE * ADDR_KEY_WORDS];
};

static void add_accesses(struct addr *a, const struct batch *b, const struct addr_accesses *some)
{
	uint32_t groups[ROWS_AT_ONCE];

	find_groups(a, some->keys, some->n, groups);
	for (size_t i = 0; i < some->n && b->kind == BATCH_SPE; i++)
		add_record(a, b, some->rows[i], record_of_spe(a, b, some->rows[i]), groups[i]);
	for (size_t i = 0; i < some->n && b->kind != BATCH_SPE; i++)
		add_record(a, b, some->rows[i], addr_record_of(&some->list[i]), groups[i]);
}

/*
 * Is the row an access with an address that counts? Then its address, and the access of a sample. Counts accesses without
 * an address.
 */
static inline bool addr_read_address(struct addr *a, const struct batch *b, size_t row,
				     struct access *sample, uint64_t *out)
{
	if (b->kind == BATCH_SPE) {
		if (!(b->has[row] & HAS_OP) || b->op_class[row] != SPE_OP_LDST)
			return false;
		*out = b->va[row];
	} else {
		if (!access_read(a->session, &a->sampling, b, row, sample))
			return false;
		*out = sample->address;
	}
	if (b->has[row] & HAS_VA && (!a->is_sampled || *out != 0))
		return true;
	a->n_without_address++;
	return false;
}

static void addr_consume(void *partial, const struct batch *b)
{
	struct addr *a = partial;
	size_t width = a->keys.width;
	struct addr_accesses some;

	if (a->last != NULL)
		addr_last_reset(a->last);
	if (b->kind != (a->is_sampled ? BATCH_SAMPLES : BATCH_SPE))
		return;
	some.n = 0;
	for (size_t row = 0; row < b->n; row++) {
		uint64_t *key = &some.keys[some.n * width];
		uint64_t address;

		if (!addr_read_address(a, b, row, &some.list[some.n], &address) ||
		    !addr_key_of(a, b, row, address, key))
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

/* Adds the groups of `from`, with new keys: their words, one behind the other. Patterns are added, too, if there are any. */
static void add_groups(struct addr *a, const struct addr *from, const uint64_t *keys)
{
	uint32_t *groups = mem_alloc((size_t)from->keys.n + 1, sizeof(*groups));

	for (uint32_t at = 0, n = from->keys.n; at < n; at += ROWS_AT_ONCE) {
		uint32_t some = n - at < ROWS_AT_ONCE ? n - at : ROWS_AT_ONCE;

		find_groups(a, keys + at * a->keys.width, some, groups + at);
		for (uint32_t i = at; i < at + some; i++)
			addr_briefs_merge(&a->sums, groups[i], &from->sums, i);
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

	tuples_init(&a->keys, old.keys.width);
	addr_slices_init(&a->slices);
	a->sums = (struct addr_briefs){ 0 };
	add_groups(a, &old, keys);
	tuples_release(&old.keys);
	addr_briefs_release(&old.sums);
	addr_slices_release(&old.slices);
}

struct addr *addr_of_pages(const struct addr *pages, const struct addr_options *options)
{
	const struct addr_objects *objects = options->objects;
	struct addr *a = addr_new(pages->session, options);
	uint32_t *groups = mem_alloc(objects->list.n + 1, sizeof(*groups)); /* by object */

	for (size_t i = 0; i < objects->list.n; i++)
		find_groups(a, (const uint64_t[ADDR_KEY_WORDS]){ i }, 1, &groups[i]);
	a->n_without_address = pages->n_without_address;
	for (uint32_t i = 0; i < pages->keys.n; i++)
		addr_briefs_merge(&a->sums, groups[objects->of_page[i]], &pages->sums, i);
	free(groups);
	return a;
}

const struct analysis_class addr_class = {
	.new = addr_new,
	.free = addr_free,
	.consume = addr_consume,
	.merge = addr_merge,
};
