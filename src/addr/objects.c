/* SPDX-License-Identifier: Apache-2.0 */
#include "addr/objects.h"

#include <stdlib.h>

#include "addr/huge.h"
#include "base/alloc.h"
#include "base/bisect.h"
#include "variables/heap_map.h"

enum {
	KEY_WORDS = 7,
	/* Offsets in larger elements are not counted: there could be too many. */
	MOST_ELEMENT = 1 << 20,
	/* The same for objects without a type. */
	MOST_UNTYPED = 4096,
	/*
	 * Up to so many pages are searched byte by byte for variables that are in DWARF, but not in
	 * the symbol table.
	 */
	FEW_PAGES = 256,
	STEP_BYTES = 16,
	HEAP_STEP = 8, /* objects of heap maps begin at its multiples */
	PAGE_BYTES = 1 << ADDR_PAGE_SHIFT,
};

/* Queries for data_names_init(). */
struct asking {
	struct addr_objects *objects;
	const struct addr *pages;
	VEC_OF(struct data_query) queries;
	struct data_names by_page; /* names of one address of each page */
	uint32_t *order;	   /* groups by process and page */
	size_t n_kernel;	   /* of the kernel: the last of them */

	/* For add_symbol(): pages first … last - 1 of `order` are of one module and process. */
	size_t first, last;
	uint64_t bias;
};

static const uint64_t *page_key(const struct asking *a, size_t i)
{
	return tuples_get(&a->pages->keys, a->order[i]);
}

static struct data_query query_of(const struct asking *a, uint32_t group, uint64_t address)
{
	uint64_t process = tuples_get(&a->pages->keys, group)[0];

	return (struct data_query){
		.process = process == ADDR_KERNEL ? 0 : (uint32_t)process,
		.time_ns = addr_briefs_first_ns(&a->pages->sums, group),
		.address = address,
		.size = 1,
	};
}

/*
 * Looks up one accessed address of each page, for its kind of memory. They are asked in order of data_names_init(), which
 * calls the kernel process 0.
 */
static void ask_pages(struct asking *a)
{
	size_t n = a->pages->keys.n;
	struct data_query *queries = mem_alloc(n + 1, sizeof(*queries));

	while (a->n_kernel < n && page_key(a, n - 1 - a->n_kernel)[0] == ADDR_KERNEL)
		a->n_kernel++;
	for (size_t i = 0; i < n; i++) {
		uint32_t group = a->order[i < a->n_kernel ? n - a->n_kernel + i : i - a->n_kernel];

		queries[i] = query_of(a, group, addr_briefs_least(&a->pages->sums, group));
	}
	data_names_init(&a->by_page, a->objects->session, queries, n);
	free(queries);
}

static const struct data_name *name_of_page(const struct asking *a, size_t i)
{
	size_t n_others = a->pages->keys.n - a->n_kernel;

	return data_names_get(&a->by_page, i < n_others ? i + a->n_kernel : i - n_others);
}

static uint64_t bias_of(const struct asking *a, size_t i)
{
	return addr_briefs_least(&a->pages->sums, a->order[i]) - name_of_page(a, i)->file_address;
}

/* The first page in order[first … last - 1] that is not below the address. */
static size_t page_at(const struct asking *a, uint64_t address)
{
	return bisect(a->first, a->last, i, page_key(a, i)[1] < address >> ADDR_PAGE_SHIFT);
}

/* Adds a query for a variable of the symbol table that starts on an accessed page. */
static void add_symbol(void *context, uint64_t file_address)
{
	struct asking *a = context;
	uint64_t address = file_address + a->bias;
	size_t i = page_at(a, address);

	if (i < a->last && page_key(a, i)[1] == address >> ADDR_PAGE_SHIFT)
		*vec_add(&a->queries) = query_of(a, a->order[i], address);
}

static void add_steps(struct asking *a)
{
	for (size_t i = a->first; i < a->last; i++) {
		uint64_t start = page_key(a, i)[1] << ADDR_PAGE_SHIFT;

		for (uint64_t at = 0; at < PAGE_BYTES; at += STEP_BYTES)
			*vec_add(&a->queries) = query_of(a, a->order[i], start + at);
	}
}

static void ask_run(struct asking *a)
{
	const struct data_name *name = name_of_page(a, a->first);
	uint64_t first = page_key(a, a->first)[1] << ADDR_PAGE_SHIFT;
	uint64_t last = (page_key(a, a->last - 1)[1] << ADDR_PAGE_SHIFT) + (PAGE_BYTES - 1);

	a->bias = bias_of(a, a->first);
	symbols_each_object(a->objects->session->symbols, name->module, first - a->bias,
			    last - a->bias, add_symbol, a);
	if (a->last - a->first <= FEW_PAGES)
		add_steps(a);
	for (size_t i = a->first; i < a->last; i++)
		*vec_add(&a->queries) =
			query_of(a, a->order[i], addr_briefs_least(&a->pages->sums, a->order[i]));
}

/* Adds queries for the objects of the heap map on a page. */
static void ask_heap(struct asking *a, size_t page)
{
	const struct heap_map *map = a->objects->session->heap;
	uint64_t address = page_key(a, page)[1] << ADDR_PAGE_SHIFT;
	uint64_t last = address + (PAGE_BYTES - 1);

	while (map != NULL && address <= last) {
		const struct heap_object *object = heap_map_find(map, address);

		if (object != NULL)
			*vec_add(&a->queries) = query_of(a, a->order[page], address);
		if (object != NULL && last - object->address < object->size)
			return;
		address = object == NULL ? address + HEAP_STEP : object->address + object->size;
	}
}

/* Adds queries for the variables of each module, for runs of its pages in a process. */
static void ask_runs(struct asking *a)
{
	size_t n = a->pages->keys.n;

	for (a->first = 0; a->first < n; a->first = a->last) {
		const struct data_name *name = name_of_page(a, a->first);

		a->last = a->first + 1;
		if (name->kind != DATA_STATIC) {
			ask_heap(a, a->first);
			continue;
		}
		while (a->last < n && name_of_page(a, a->last)->kind == DATA_STATIC &&
		       name_of_page(a, a->last)->module.v == name->module.v &&
		       page_key(a, a->last)[0] == page_key(a, a->first)[0] &&
		       bias_of(a, a->last) == bias_of(a, a->first))
			a->last++;
		ask_run(a);
	}
}

uint32_t addr_objects_add(struct addr_objects *o, const struct addr_object *object)
{
	const uint64_t key[KEY_WORDS] = {
		object->kind | (uint64_t)object->is_by_code << 32 |
			(uint64_t)object->is_by_type << 33,
		object->module.v,
		object->name.v,
		object->type.v,
		object->size,
		(uint64_t)object->file.v << 32 | object->line,
		object->function.v,
	};
	uint32_t number = tuples_add(&o->keys, key);

	if (number == o->list.n)
		*vec_add(&o->list) = *object;
	return number;
}

/* Sets the element type of an array, the innermost one, and its size. */
static void set_element(const struct types *t, struct addr_object *object)
{
	struct type_id id = types_plain(t, object->type);

	object->element = object->type;
	while (types_get(t, id)->kind == TYPE_ARRAY) {
		object->element = types_get(t, id)->inner;
		id = types_plain(t, object->element);
	}
	object->element_size = types_get(t, id)->size;
	if (object->element_size == 0 && object->size <= MOST_UNTYPED)
		object->element_size = object->size;
	if (object->element_size > MOST_ELEMENT)
		object->element_size = 0;
}

struct addr_object addr_object_of(const struct addr_objects *o, const struct data_name *name)
{
	struct addr_object object = {
		.kind = name->kind,
		.is_by_code = name->is_by_code,
		.is_by_type = name->is_by_type,
		.function = name->is_by_code ? name->function : (struct str_id){ 0 },
		.module = name->is_by_code ? (struct module_id){ 0 } : name->module,
		.name = name->object,
		.type = name->type,
		.size = name->object_size,
		.file = name->file,
		.line = name->line,
	};

	if (name->object.v != 0)
		set_element(symbols_types(o->session->symbols), &object);
	else
		object.type = (struct type_id){ 0 };
	return object;
}

static int addr_objects_compare_ranges(const void *left, const void *right)
{
	const struct addr_range *a = left, *b = right;

	if (a->process != b->process)
		return (a->process > b->process) - (a->process < b->process);
	if (a->first != b->first)
		return (a->first > b->first) - (a->first < b->first);
	return (a->last > b->last) - (a->last < b->last);
}

static void add_variables(struct asking *a)
{
	struct addr_objects *o = a->objects;
	struct data_names names;
	size_t n = 0;

	data_names_init(&names, o->session, a->queries.items, a->queries.n);
	for (size_t i = 0; i < names.n; i++) {
		const struct data_name *name = data_names_get(&names, i);
		struct addr_object object = addr_object_of(o, name);

		if (name->object.v == 0 || name->object_size == 0)
			continue;
		*vec_add(&o->variables) = (struct addr_range){
			.process = a->queries.items[i].process,
			.first = name->object_address,
			.last = name->object_address + (name->object_size - 1),
			.object = addr_objects_add(o, &object),
		};
	}
	data_names_release(&names);
	if (o->variables.n > 1)
		qsort(o->variables.items, o->variables.n, sizeof(*o->variables.items),
		      addr_objects_compare_ranges);
	for (size_t i = 0; i < o->variables.n; i++)
		if (n == 0 || addr_objects_compare_ranges(&o->variables.items[n - 1],
							  &o->variables.items[i]) != 0)
			o->variables.items[n++] = o->variables.items[i];
	o->variables.n = n;
}

/* Adds an object for each kind of memory and module, for the bytes outside of variables. Neighbours mostly share a name. */
static void add_pages(struct asking *a)
{
	const struct data_name *last = NULL;
	uint32_t number = 0;

	vec_reserve(&a->objects->pages, a->pages->keys.n);
	for (size_t i = 0; i < a->pages->keys.n; i++) {
		const struct data_name *name = name_of_page(a, i);
		uint64_t start = page_key(a, i)[1] << ADDR_PAGE_SHIFT;

		if (name != last)
			number = addr_objects_add(a->objects,
						  &(struct addr_object){ .kind = name->kind,
									 .module = name->module });
		last = name;
		*vec_add(&a->objects->pages) = (struct addr_range){
			.process = (uint32_t)page_key(a, i)[0],
			.first = start,
			.last = start + (PAGE_BYTES - 1),
			.object = number,
		};
		a->objects->of_page[a->order[i]] = number;
	}
}

void addr_objects_init(struct addr_objects *o, struct session *s, const struct addr_huge *huge)
{
	const struct addr *pages = huge->pages;
	struct asking a = { .objects = o, .pages = pages };

	*o = (struct addr_objects){ .session = s };
	tuples_init(&o->keys, KEY_WORDS);
	o->of_page = mem_alloc((size_t)pages->keys.n + 1, sizeof(*o->of_page));
	a.order = addr_huge_order(huge);
	ask_pages(&a);
	ask_runs(&a);
	add_variables(&a);
	add_pages(&a);
	data_names_release(&a.by_page);
	vec_release(&a.queries);
	free(a.order);
}

void addr_objects_release(struct addr_objects *o)
{
	vec_release(&o->list);
	vec_release(&o->variables);
	vec_release(&o->pages);
	free(o->of_page);
	tuples_release(&o->keys);
	*o = (struct addr_objects){ 0 };
}

/* Binary search: the range that has the address, or NULL. */
static const struct addr_range *find_range(const struct addr_range *ranges, size_t n,
					   uint32_t process, uint64_t address)
{
	size_t at = bisect(0, n, i,
			   ranges[i].process < process ||
				   (ranges[i].process == process && ranges[i].first <= address));

	if (at == 0 || ranges[at - 1].process != process || ranges[at - 1].last < address)
		return NULL;
	return &ranges[at - 1];
}

uint32_t addr_objects_find(const struct addr_objects *o, uint32_t process, uint64_t address,
			   uint64_t *out_offset)
{
	const struct addr_range *r =
		find_range(o->variables.items, o->variables.n, process, address);
	uint64_t size;

	*out_offset = 0;
	if (r == NULL)
		r = find_range(o->pages.items, o->pages.n, process, address);
	if (r == NULL)
		return UINT32_MAX;
	size = o->list.items[r->object].element_size;
	if (size > 0)
		*out_offset = (address - r->first) % size;
	return r->object;
}

void addr_object_name(const struct addr_objects *o, const struct addr_object *object,
		      struct text *out)
{
	const struct strings *strings = symbols_strings(o->session->symbols);

	if (object->name.v == 0) {
		data_memory_text(o->session, object->kind, object->module, out);
		return;
	}
	if (object->is_by_code && object->kind != DATA_UNKNOWN && object->kind != DATA_THREAD)
		text_format(out, "%s: ", data_kind_names[object->kind]);
	text_str(out, strings_get(strings, object->name));
	if (object->function.v != 0)
		text_format(out, " of %s", strings_get(strings, object->function));
}
