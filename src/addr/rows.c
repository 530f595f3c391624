/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "access/chase.h"
#include "base/alloc.h"
#include "base/path.h"
#include "estimate/shares.h"
#include "variables/code.h"

enum {
	KEY_COLUMNS = 8,
};

static const struct addr_object *object_at(const struct addr_source *s, uint64_t number)
{
	return &s->objects->list.items[number];
}

static const struct types *types_of(const struct addr_source *s)
{
	return symbols_types(s->addr->session->symbols);
}

static const struct addr *addr_of(const struct addr_source *s)
{
	return s->addr;
}

/* A value of --by: words that identify a row, columns that show them. */
struct view {
	const char *name;
	size_t n_columns;
	struct column columns[KEY_COLUMNS];
	void (*make)(const struct addr_source *, uint32_t group, uint64_t *words);
	void (*show)(const struct addr_rows *, uint32_t row, struct table *, struct cell *);
	bool in_order; /* sorted by the first column instead of the weight */
};

static const uint64_t *addr_row_words(const struct addr_rows *r, uint32_t row)
{
	return tuples_get(&r->keys, row);
}

static struct cell addr_text_cell(struct table *t, struct text *text)
{
	struct cell cell;

	text_char(text, '\0');
	cell = cell_text(table_text(t, text->bytes));
	text_release(text);
	return cell;
}

static struct cell object_cell(const struct addr_source *s, const struct addr_object *object,
			       struct table *t)
{
	struct text text = { 0 };

	addr_object_name(s->objects, object, &text);
	return addr_text_cell(t, &text);
}

static struct cell type_cell(const struct addr_source *s, struct type_id id, struct table *t)
{
	struct text text = { 0 };

	if (id.v == 0)
		return (struct cell){ 0 };
	types_name(types_of(s), id, &text);
	return addr_text_cell(t, &text);
}

static struct cell addr_module_cell(const struct addr_source *s, struct module_id id)
{
	if (id.v == 0)
		return (struct cell){ 0 };
	return cell_text(names_module(addr_of(s)->session, id));
}

static void make_object(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	words[0] = tuples_get(&s->addr->keys, group)[0];
}

static void show_object(const struct addr_rows *r, uint32_t row, struct table *t,
			struct cell *cells)
{
	const struct addr_object *object = object_at(r->source, addr_row_words(r, row)[0]);

	cells[0] = object_cell(r->source, object, t);
	cells[1] = type_cell(r->source, object->type, t);
	cells[2] = cell_text(data_kind_names[object->kind]);
	cells[3] = addr_module_cell(r->source, object->module);
	if (object->size > 0)
		cells[4] = cell_count(object->size);
}

static void make_type(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	const struct addr_object *object = object_at(s, tuples_get(&s->addr->keys, group)[0]);

	words[0] = object->element.v;
	words[1] = object->element.v == 0 ? object->kind : DATA_STATIC;
}

static void show_type(const struct addr_rows *r, uint32_t row, struct table *t, struct cell *cells)
{
	const uint64_t *words = addr_row_words(r, row);
	struct type_id id = { (uint32_t)words[0] };

	cells[0] = id.v != 0 ? type_cell(r->source, id, t)
			     : cell_text(table_format(t, "[%s]", data_kind_names[words[1]]));
	if (types_get(types_of(r->source), id)->size > 0)
		cells[1] = cell_count(types_get(types_of(r->source), id)->size);
}

/* The path of the member at an offset of an element, in s->strings; 0 if there is none. */
static struct str_id path_at(const struct addr_source *s, struct type_id type, uint64_t offset,
			     struct type_leaf *leaf)
{
	struct text path = { 0 };
	struct str_id id = { 0 };

	*leaf = (struct type_leaf){ .offset = offset };
	if (type.v != 0 && types_path(types_of(s), type, offset, 1, &path, leaf))
		id = strings_add(s->strings, path.bytes, path.n);
	else if (type.v != 0)
		*leaf = (struct type_leaf){ .size = types_get(types_of(s), type)->size,
					    .type = type };
	text_release(&path);
	return id;
}

static void make_field(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	const uint64_t *key = tuples_get(&s->addr->keys, group);
	struct type_leaf leaf;

	words[0] = key[0];
	words[1] = path_at(s, object_at(s, key[0])->element, key[1], &leaf).v;
	words[2] = leaf.offset;
	words[3] = leaf.size;
}

static void show_field(const struct addr_rows *r, uint32_t row, struct table *t, struct cell *cells)
{
	const uint64_t *words = addr_row_words(r, row);
	const struct addr_object *object = object_at(r->source, words[0]);

	cells[0] = object_cell(r->source, object, t);
	if (words[1] != 0)
		cells[1] = cell_text(table_text(
			t, strings_get(r->source->strings, (struct str_id){ (uint32_t)words[1] })));
	cells[2] = type_cell(r->source, object->element, t);
	cells[3] = cell_count(words[2]);
	if (words[3] > 0)
		cells[4] = cell_count(words[3]);
}

static void make_two(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	const uint64_t *key = tuples_get(&s->addr->keys, group);

	words[0] = key[1];
	words[1] = key[0];
}

static void make_hugepage(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	make_two(s, group, words);
	words[0] >>= ADDR_HUGE_SHIFT - ADDR_PAGE_SHIFT;
}

static struct cell process_cell(const struct addr_rows *r, uint64_t process)
{
	if (process == ADDR_KERNEL || process == 0)
		return (struct cell){ 0 };
	return cell_signed(
		(int32_t)timeline_process(r->source->addr->session->timeline, (uint32_t)process)
			->pid);
}

/* The object at the lowest address of the page or line. */
static struct cell holds_cell(const struct addr_rows *r, uint32_t row, struct table *t)
{
	const struct addr_source *s = r->source;
	struct text text = { 0 };

	if (s->page_names == NULL)
		return (struct cell){ 0 };
	data_object_text(s->page_names, data_names_get(s->page_names, r->groups.items[row]), &text);
	return addr_text_cell(t, &text);
}

static void show_range(const struct addr_rows *r, uint32_t row, struct table *t, struct cell *cells,
		       uint64_t bytes)
{
	cells[0] = cell_hex(addr_row_words(r, row)[0] * bytes);
	cells[1] = process_cell(r, addr_row_words(r, row)[1]);
	cells[2] = holds_cell(r, row, t);
}

static void addr_show_line(const struct addr_rows *r, uint32_t row, struct table *t,
			   struct cell *cells)
{
	show_range(r, row, t, cells, r->source->line_bytes);
}

static void show_page(const struct addr_rows *r, uint32_t row, struct table *t, struct cell *cells)
{
	show_range(r, row, t, cells, 1 << ADDR_PAGE_SHIFT);
}

static void show_hugepage(const struct addr_rows *r, uint32_t row, struct table *t,
			  struct cell *cells)
{
	show_range(r, row, t, cells, 1 << ADDR_HUGE_SHIFT);
}

static void make_node(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	words[0] = addr_group_sums(s->addr, group).page_nodes;
}

/* "0", "0,2"; "[unknown]" where no physical address or memory topology was recorded. */
static struct cell addr_nodes_cell(struct table *t, uint64_t nodes)
{
	struct text text = { 0 };

	for (int node = 0; node < 64; node++)
		if (nodes >> node & 1)
			text_format(&text, "%s%d", text.n > 0 ? "," : "", node);
	if (nodes == 0)
		text_str(&text, "[unknown]");
	return addr_text_cell(t, &text);
}

static void show_node(const struct addr_rows *r, uint32_t row, struct table *t, struct cell *cells)
{
	cells[0] = addr_nodes_cell(t, addr_row_words(r, row)[0]);
}

static void make_instruction(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	words[0] = tuples_get(&s->addr->keys, group)[0];
}

static void addr_show_instruction(const struct addr_rows *r, uint32_t row, struct table *t,
				  struct cell *cells)
{
	uint32_t place = (uint32_t)addr_row_words(r, row)[0];
	const struct addr_pattern *p = &r->patterns.items[row];
	enum addr_walk walk = addr_pattern_walk(p, chase_at(r->source->addr->session, place));
	struct text text = { 0 };
	const char *file;
	uint32_t line;

	names_place(r->source->names, place, &text);
	cells[0] = addr_text_cell(t, &text);
	if (names_line(r->source->names, place, &file, &line))
		cells[1] = cell_text(table_format(t, "%s:%" PRIu32, path_base(file), line));
	cells[2] = cell_text(addr_walk_names[walk]);
	if (walk != ADDR_WALK_UNKNOWN && p->divisor > 0)
		cells[3] = cell_count(p->divisor);
	cells[4] = cell_count(p->most - p->any);
	cells[5] = cell_count(p->n_pairs);
	cells[6] = cell_count(p->n_up);
	cells[7] = cell_count(p->n_down);
}

static void make_offset(const struct addr_source *s, uint32_t group, uint64_t *words)
{
	const uint64_t *key = tuples_get(&s->addr->keys, group);

	words[0] = key[0];
	words[1] = s->names->symbols[key[1]].function.v;
	words[2] = session_place(s->addr->session, (uint32_t)key[1]).module.v;
}

static void show_offset(const struct addr_rows *r, uint32_t row, struct table *t,
			struct cell *cells)
{
	const uint64_t *words = addr_row_words(r, row);
	const struct symbols *symbols = r->source->addr->session->symbols;
	struct type_leaf leaf;
	struct str_id path = path_at(r->source, r->source->window_type, words[0], &leaf);

	cells[0] = cell_count(words[0]);
	if (path.v != 0)
		cells[1] = cell_text(table_text(t, strings_get(r->source->strings, path)));
	cells[2] = words[1] == 0 ? cell_text("[unknown]")
				 : cell_text(strings_get(symbols_strings(symbols),
							 (struct str_id){ (uint32_t)words[1] }));
	cells[3] = addr_module_cell(r->source, (struct module_id){ (uint32_t)words[2] });
}

#define PID_COLUMN                                                                                 \
	{                                                                                          \
		"pid", NULL, "", CELL_SIGNED, 0, "process; absent for the kernel"                  \
	}
#define HOLDS_COLUMN                                                                               \
	{                                                                                          \
		"object", NULL, "", CELL_TEXT, COLUMN_GROW, "name of the lowest accessed address"  \
	}

static const struct view views[N_ADDR_BYS] = {
	[ADDR_BY_OBJECT] = { "objects",
			     5,
			     { { "object", NULL, "", CELL_TEXT, COLUMN_GROW,
				 "variable; in other memory its type, or the kind of memory" },
			       { "type", NULL, "", CELL_TEXT, COLUMN_GROW, "type of the variable" },
			       { "kind", NULL, "", CELL_TEXT, 0,
				 "static, stack, heap, anonymous, file, kernel, thread-local" },
			       { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				 "module whose memory it is" },
			       { "size", NULL, "bytes", CELL_COUNT, 0, "size of the variable" } },
			     make_object,
			     show_object,
			     false },
	[ADDR_BY_TYPE] = { "types",
			   2,
			   { { "type", NULL, "", CELL_TEXT, COLUMN_GROW,
			       "type of the elements, for arrays" },
			     { "size", NULL, "bytes", CELL_COUNT, 0, "size of one" } },
			   make_type,
			   show_type,
			   false },
	[ADDR_BY_FIELD] = { "fields",
			    5,
			    { { "object", NULL, "", CELL_TEXT, COLUMN_GROW,
				"variable, or kind of memory" },
			      { "field", NULL, "", CELL_TEXT, COLUMN_GROW,
				"member; of all elements of an array" },
			      { "type", NULL, "", CELL_TEXT, COLUMN_GROW,
				"type that the field is a member of" },
			      { "offset", NULL, "bytes", CELL_COUNT, 0, "offset in the element" },
			      { "size", NULL, "bytes", CELL_COUNT, COLUMN_MACHINE_ONLY,
				"size of the field" } },
			    make_field,
			    show_field,
			    false },
	[ADDR_BY_LINE] = { "lines",
			   3,
			   { { "line", NULL, "", CELL_HEX, 0, "address of the cache line" },
			     PID_COLUMN,
			     HOLDS_COLUMN },
			   make_two,
			   addr_show_line,
			   false },
	[ADDR_BY_PAGE] = { "pages",
			   3,
			   { { "page", NULL, "", CELL_HEX, 0, "address of the page of 4 KiB" },
			     PID_COLUMN,
			     HOLDS_COLUMN },
			   make_two,
			   show_page,
			   false },
	[ADDR_BY_HUGEPAGE] = { "hugepages",
			       3,
			       { { "hugepage", NULL, "", CELL_HEX, 0,
				   "address of the aligned 2 MiB" },
				 PID_COLUMN,
				 HOLDS_COLUMN },
			       make_hugepage,
			       show_hugepage,
			       false },
	[ADDR_BY_NODE] = { "nodes",
			   1,
			   { { "page_nodes", "pages on node", "", CELL_TEXT, 0,
			       "NUMA nodes of the page's physical addresses" } },
			   make_node,
			   show_node,
			   false },
	[ADDR_BY_INSTRUCTION] = { "instructions",
				  8,
				  { { "instruction", NULL, "", CELL_TEXT, COLUMN_GROW,
				      "function and offset" },
				    { "source_line", "line", "", CELL_TEXT, 0, "source line" },
				    { "pattern", NULL, "", CELL_TEXT, 0,
				      "access pattern: stride, sequential, random …" },
				    { "stride", "multiple of", "bytes", CELL_COUNT, 0,
				      "greatest common divisor of the distances between its "
				      "sampled addresses" },
				    { "span", NULL, "bytes", CELL_COUNT, 0,
				      "from the lowest to the highest address, of the thread with "
				      "the widest range" },
				    { "pairs", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
				      "pairs of successive samples of the instruction in one "
				      "thread" },
				    { "up", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
				      "pairs with a higher second address" },
				    { "down", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
				      "pairs with a lower second address" } },
				  make_instruction,
				  addr_show_instruction,
				  false },
	[ADDR_BY_OFFSET] = { "offsets",
			     4,
			     { { "offset", NULL, "bytes", CELL_COUNT, 0,
				 "(address - base) modulo size" },
			       { "field", NULL, "", CELL_TEXT, COLUMN_GROW,
				 "member at the offset" },
			       { "function", NULL, "", CELL_TEXT, COLUMN_GROW,
				 "instructions that accessed it" },
			       { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				 "module of the function" } },
			     make_offset,
			     show_offset,
			     true },
};

/* Is the group a part of the answer (only_type)? */
static bool addr_rows_is_wanted(const struct addr_source *s, uint32_t group)
{
	const struct addr_object *object;

	if (s->only_type.v == 0)
		return true;
	object = object_at(s, tuples_get(&s->addr->keys, group)[0]);
	return types_plain(types_of(s), object->element).v == s->only_type.v;
}

/* `row_of`: the row of each group; TUPLES_NONE: none. */
static void rows_add_slices(struct addr_rows *r, const struct addr *a, const uint32_t *row_of)
{
	size_t n = a->session->slices.n;

	for (uint32_t i = 0; i < a->slices.keys.n; i++) {
		uint64_t key = *tuples_get(&a->slices.keys, i);
		uint32_t row = row_of[key / n];

		if (row != TUPLES_NONE)
			r->slices.items[row * n + key % n] += a->slices.counts.items[i];
	}
}

void addr_rows_init(struct addr_rows *r, const struct addr_source *source, enum addr_by by)
{
	const struct addr *a = source->addr;
	size_t n_slices = a->session->slices.n;
	uint32_t *row_of = mem_alloc(a->keys.n, sizeof(*row_of));

	*r = (struct addr_rows){ .source = source, .by = by };
	tuples_init(&r->keys, ADDR_ROW_WORDS);
	for (uint32_t group = 0; group < a->keys.n; group++) {
		const struct addr_sums sums = addr_group_sums(a, group);
		uint64_t words[ADDR_ROW_WORDS] = { 0 };
		uint32_t row;

		row_of[group] = TUPLES_NONE;
		addr_sums_add(&r->total, &sums);
		if (!addr_rows_is_wanted(source, group))
			continue;
		views[by].make(source, group, words);
		row = tuples_add(&r->keys, words);
		if (row == r->sums.n) {
			vec_add(&r->sums);
			vec_add(&r->patterns);
			for (size_t i = 0; i < n_slices; i++)
				vec_add(&r->slices);
			*vec_add(&r->groups) = group;
		} else if (sums.least < r->sums.items[row].least) {
			r->groups.items[row] = group;
		}
		addr_sums_add(&r->sums.items[row], &sums);
		row_of[group] = row;
		if (a->patterns.n > 0)
			addr_pattern_merge_other(&r->patterns.items[row],
						 &a->patterns.items[group]);
	}
	rows_add_slices(r, a, row_of);
	free(row_of);
}

void addr_rows_release(struct addr_rows *r)
{
	tuples_release(&r->keys);
	vec_release(&r->sums);
	vec_release(&r->patterns);
	vec_release(&r->slices);
	vec_release(&r->groups);
	*r = (struct addr_rows){ 0 };
}

uint64_t addr_weight(const struct addr_rows *r, const struct addr_sums *sums)
{
	return r->total.n_cycles > 0 ? sums->cycles : sums->n;
}

/* Columns of the sums, behind those of the view. */
enum sum_column {
	SUM_SHARE,
	SUM_RECORDS,
	SUM_MEAN,
	SUM_LOADS,
	SUM_STORES,
	SUM_ATOMICS,
	SUM_CYCLES,
	SUM_MEMORY,
	SUM_PEER,
	SUM_WALKS,
	SUM_WALK_CYCLES,
	SUM_FAR,
	SUM_FAR_CYCLES,
	SUM_NEAR,
	SUM_BYTES,
	SUM_LEVELS, /* one for each level that is known */
	N_SUMS = SUM_LEVELS,
};

static const struct column sum_columns[N_SUMS] = {
	[SUM_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
			"part of the latency of all accesses; without latencies, of their number" },
	[SUM_RECORDS] = { "records", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
			  "sampled accesses" },
	[SUM_LOADS] = { "loads", NULL, "records", CELL_COUNT, 0, "sampled loads" },
	[SUM_STORES] = { "stores", NULL, "records", CELL_COUNT, 0, "sampled stores" },
	[SUM_ATOMICS] = { "atomics", NULL, "records", CELL_COUNT, 0,
			  "sampled atomic operations, which are neither of them" },
	[SUM_MEAN] = { "mean_latency_cycles", "mean", "cycles", CELL_NUMBER, COLUMN_TRUST,
		       "mean latency of an access" },
	[SUM_CYCLES] = { "latency_cycles", "latency", "cycles", CELL_COUNT,
			 COLUMN_TRUST | COLUMN_MACHINE_ONLY, "sum of the latencies" },
	[SUM_MEMORY] = { "memory_share", "memory", "", CELL_NUMBER, COLUMN_SHARE,
			 "part of the loads with a known source that came from memory, local or "
			 "remote" },
	[SUM_PEER] = { "peer_share", "peer snoop", "", CELL_NUMBER, COLUMN_SHARE,
		       "part that came from the cache of another core, cluster or socket" },
	[SUM_WALKS] = { "walks", NULL, "records", CELL_COUNT, 0,
			"accesses with a page table walk" },
	[SUM_WALK_CYCLES] = { "walk_cycles", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY,
			      "sum of the translation latencies of those" },
	[SUM_FAR] = { "far", "remote node", "records", CELL_COUNT, 0,
		      "accesses to a page on another NUMA node" },
	[SUM_FAR_CYCLES] = { "far_cycles", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY,
			     "sum of the latencies of those" },
	[SUM_NEAR] = { "near", NULL, "records", CELL_COUNT, COLUMN_MACHINE_ONLY,
		       "accesses to a page on the CPU's own node" },
	[SUM_BYTES] = { "memory_bytes", NULL, "bytes", CELL_NUMBER,
			COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			"estimated traffic: loads from memory times the line size times the "
			"interval" },
};

static const char *const level_names[N_SOURCE_LEVELS] = {
	[SOURCE_L1] = "loads_l1",
	[SOURCE_L2] = "loads_l2",
	[SOURCE_PEER_CORE] = "loads_peer_core",
	[SOURCE_LOCAL_CLUSTER] = "loads_local_cluster",
	[SOURCE_SYSTEM_CACHE] = "loads_system_cache",
	[SOURCE_PEER_CLUSTER] = "loads_peer_cluster",
	[SOURCE_REMOTE] = "loads_remote",
	[SOURCE_DRAM] = "loads_dram",
	[SOURCE_REMOTE_DRAM] = "loads_remote_dram",
	[SOURCE_DEVICE] = "loads_device",
};

static uint64_t levels_sum(const struct addr_sums *s, const enum source_level *levels, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += s->levels[levels[i]];
	return sum;
}

static const enum source_level memory_levels[] = { SOURCE_DRAM, SOURCE_REMOTE_DRAM };
static const enum source_level peer_levels[] = { SOURCE_PEER_CORE, SOURCE_PEER_CLUSTER,
						 SOURCE_REMOTE };

/* Is the column shown in text? csv and json have all. */
static bool addr_rows_is_shown(const struct addr_rows *r, enum sum_column column)
{
	switch (column) {
	case SUM_FAR:
		return r->total.n_far > 0;
	case SUM_ATOMICS:
		return r->total.kinds.atomics > 0;
	case SUM_WALKS:
		return r->total.walks > 0 && r->by != ADDR_BY_INSTRUCTION;
	case SUM_MEMORY:
		return r->by != ADDR_BY_INSTRUCTION &&
		       levels_sum(&r->total, memory_levels, COUNT(memory_levels)) > 0;
	case SUM_PEER:
		return r->by != ADDR_BY_INSTRUCTION &&
		       levels_sum(&r->total, peer_levels, COUNT(peer_levels)) > 0;
	default:
		return true;
	}
}

static const struct slices *slices_of(const struct addr_rows *r)
{
	return &addr_of(r->source)->session->slices;
}

static void addr_rows_start_table(const struct addr_rows *r, const struct view *view,
				  struct table *t)
{
	struct column columns[ADDR_MAX_COLUMNS];
	size_t n = view->n_columns;

	memcpy(columns, view->columns, n * sizeof(*columns));
	for (int i = 0; i < N_SUMS; i++) {
		columns[n] = sum_columns[i];
		if (!addr_rows_is_shown(r, (enum sum_column)i))
			columns[n].flags |= COLUMN_MACHINE_ONLY;
		n++;
	}
	for (int i = SOURCE_UNKNOWN + 1; i < N_SOURCE_LEVELS; i++)
		columns[n++] = (struct column){ level_names[i],	     NULL,
						"records",	     CELL_COUNT,
						COLUMN_MACHINE_ONLY, "loads that came from there" };
	table_init(t, view->name, NULL, columns, n);
	table_own_columns(t, 0);
	slices_add_columns(slices_of(r), "records", "accesses over time", t);
}

static void show_sources(const struct addr_rows *r, const struct addr_sums *s, struct cell *cells)
{
	uint64_t memory = levels_sum(s, memory_levels, COUNT(memory_levels));
	uint64_t known = 0;

	for (int i = SOURCE_UNKNOWN + 1; i < N_SOURCE_LEVELS; i++)
		known += s->levels[i];
	if (known == 0 && memory_reads(&s->kinds) > 0)
		return; /* no data source was recorded: 0 would be wrong */
	for (int i = SOURCE_UNKNOWN + 1; i < N_SOURCE_LEVELS; i++)
		cells[SUM_LEVELS + i - 1] = cell_count(s->levels[i]);
	if (known > 0) {
		cells[SUM_MEMORY] = cell_ratio(memory, known);
		cells[SUM_PEER] = cell_ratio(levels_sum(s, peer_levels, COUNT(peer_levels)), known);
	}
	if (r->source->has_intervals)
		cells[SUM_BYTES] = cell_marked(
			cell_number((double)s->memory_operations * (double)r->source->line_bytes),
			memory < SPARSE_BELOW ? MARK_SPARSE : MARK_SCALED);
}

/* PMU samples record that there was a walk, but not its latency. */
static void show_walks(const struct addr_rows *r, const struct addr_sums *s, struct cell *cells)
{
	if (s->n_translated == 0)
		return;
	cells[SUM_WALKS] = cell_count(s->walks);
	if (!r->source->addr->is_sampled && (s->walks == 0 || s->n_walk_cycles > 0))
		cells[SUM_WALK_CYCLES] = cell_count(s->walk_cycles);
}

static void addr_show_sums(const struct addr_rows *r, const struct addr_sums *s, struct cell *cells)
{
	enum cell_mark mark = s->n_saturated > 0 ? MARK_SATURATED : MARK_EXACT;

	cells[SUM_SHARE] = cell_latency_share(
		(struct latency_amount){ addr_weight(r, s), s->full_cycles },
		(struct latency_amount){ addr_weight(r, &r->total), r->total.full_cycles }, s->n);
	cells[SUM_RECORDS] = cell_count(s->n);
	cells[SUM_LOADS] = cell_count(s->kinds.loads);
	cells[SUM_STORES] = cell_count(s->kinds.stores);
	cells[SUM_ATOMICS] = cell_count(s->kinds.atomics);
	if (s->n_cycles > 0) {
		cells[SUM_MEAN] =
			cell_marked(cell_number((double)s->cycles / (double)s->n_cycles), mark);
		cells[SUM_CYCLES] = cell_marked(cell_count(s->cycles), mark);
	}
	show_walks(r, s, cells);
	if (s->n_near + s->n_far > 0) {
		cells[SUM_FAR] = cell_count(s->n_far);
		cells[SUM_FAR_CYCLES] = cell_count(s->far_cycles);
		cells[SUM_NEAR] = cell_count(s->n_near);
	}
	show_sources(r, s, cells);
}

/* Sorts by --sort, else by the first column (in_order), else by weight. */
static int sort_rows(const struct view *view, const struct addr_request *request, struct table *t,
		     struct err *err)
{
	int column = view->in_order ? 0 : table_column(t, "share");

	if (request->sort != NULL)
		column = table_sort_column(t, request->sort, err);
	if (column < 0)
		return -1;
	/* table_sort() sorts quantities descending, but offsets ascend. */
	table_sort(t, (size_t)column, view->in_order && request->sort == NULL);
	table_show_top(t, request->top);
	return 0;
}

int addr_rows_table(const struct addr_rows *r, const struct addr_request *request,
		    struct table *out, struct err *err)
{
	const struct view *view = &views[r->by];

	addr_rows_start_table(r, view, out);
	for (uint32_t row = 0; row < r->keys.n; row++) {
		struct cell *cells = table_add_row(out);

		view->show(r, row, out, cells);
		addr_show_sums(r, &r->sums.items[row], cells + view->n_columns);
		if (r->slices.n > 0)
			slices_show(slices_of(r), &r->slices.items[row * slices_of(r)->n], out,
				    cells);
	}
	return sort_rows(view, request, out, err);
}
