/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data address → address in a file, by the file's load bias. That comes from the file's mappings
 * near the address, because the mapping at the address itself is often missing or misleading: perf
 * records code mappings only (without -d), .bss is in no file, and the pages at the ends of a
 * segment hold bytes of its neighbours. How far a file's memory reaches is in its program headers.
 */
#include "data/data_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "base/tuples.h"
#include "data/thread_blocks.h"
#include "session/names.h"
#include "variables/accessed.h"
#include "variables/code.h"
#include "variables/heap_map.h"

enum {
	/* Mappings searched for code, in each direction: a library has about five. */
	MAX_NEIGHBOURS = 16,
	PAGE_SHIFT = 12,
};

const char *const data_kind_names[DATA_N_KINDS] = {
	[DATA_UNKNOWN] = "unknown", [DATA_STATIC] = "static",	    [DATA_STACK] = "stack",
	[DATA_HEAP] = "heap",	    [DATA_ANONYMOUS] = "anonymous", [DATA_FILE] = "file",
	[DATA_KERNEL] = "kernel",   [DATA_THREAD] = "thread-local",
};

/* How mappings without a file are named in perf.data. First match wins. */
static const struct {
	const char *prefix;
	enum data_kind kind;
} mapping_kinds[] = {
	{ "[heap", DATA_HEAP },
	{ "[stack", DATA_STACK },
	{ "[anon", DATA_ANONYMOUS },
	{ "//anon", DATA_ANONYMOUS },
	{ "/dev/zero", DATA_ANONYMOUS },
	{ "/anon_hugepage", DATA_ANONYMOUS },
	{ "anon_inode:", DATA_ANONYMOUS },
	{ "/SYSV", DATA_ANONYMOUS },
};

/* A file that is loaded near an address. */
struct loaded {
	struct module_id module; /* 0: there is none */
	uint64_t bias;		 /* from addresses in the file to those in the process */
};

/* Mappings of files around an address, for each direction the nearest first. */
struct walk {
	struct data_mapping mappings[2 * (MAX_NEIGHBOURS + 1)];
	struct module_id modules[2 * (MAX_NEIGHBOURS + 1)];
	struct module_id wanted; /* 0: the first that has code */
	size_t n;
};

/*
 * The last answer, which holds for all addresses [first, last] of a process at times [from_ns, to_ns).
 * One is enough, as queries are sorted by address. It has the files around the mapping as well, which
 * costs several questions to the timeline.
 */
struct region {
	uint32_t process;
	uint64_t first, last, from_ns, to_ns;
	struct placed placed; /* of `at` */
	uint64_t at;
	enum data_kind kind;
	struct loaded below, above;
};

static const struct module *data_names_module_of(const struct session *s, struct module_id id)
{
	return modules_get(timeline_modules(s->timeline), id);
}

static bool is_file_module(const struct session *s, struct module_id id)
{
	return id.v != 0 && data_names_module_of(s, id)->kind == MODULE_FILE;
}

static void narrow(struct region *r, const struct placed *p)
{
	if (p->from_ns > r->from_ns)
		r->from_ns = p->from_ns;
	if (p->to_ns < r->to_ns)
		r->to_ns = p->to_ns;
}

/* Takes the mapping around `at`. False if it is code of another file than the wanted one. */
static bool add_mapping(const struct session *s, const struct placed *p, uint64_t at,
			struct walk *walk)
{
	struct module_id module = p->place.module;

	if (!is_file_module(s, module))
		return true;
	if (!p->is_data && walk->wanted.v == 0)
		walk->wanted = module;
	if (!p->is_data && walk->wanted.v != module.v)
		return false;
	walk->modules[walk->n] = module;
	walk->mappings[walk->n++] = (struct data_mapping){
		.first = p->first,
		.last = p->last,
		.offset = p->place.offset - (at - p->first),
		.is_data = p->is_data,
	};
	return true;
}

static void walk_mappings(const struct session *s, struct region *r, uint64_t time_ns,
			  bool is_upwards, struct walk *out)
{
	struct placed p = r->placed;
	uint64_t at = r->at;

	for (int i = 0; i <= MAX_NEIGHBOURS && add_mapping(s, &p, at, out); i++) {
		if (is_upwards ? p.last == UINT64_MAX : p.first == 0)
			break;
		at = is_upwards ? p.last + 1 : p.first - 1;
		p = timeline_place(s->timeline, r->process, false, at, time_ns);
		narrow(r, &p);
	}
}

static struct loaded loaded_by(const struct session *s, struct walk *walk)
{
	struct loaded out = { .module = walk->wanted };
	size_t n = 0;

	for (size_t i = 0; i < walk->n; i++)
		if (walk->modules[i].v == walk->wanted.v)
			walk->mappings[n++] = walk->mappings[i];
	if (walk->wanted.v == 0 ||
	    !symbols_load_bias(s->symbols, walk->wanted, walk->mappings, n, &out.bias))
		return (struct loaded){ 0 };
	return out;
}

/* Mappings of the file at the region; if there is none, of the nearest files with code below, and above. */
static void walk_around(const struct session *s, struct region *r, uint64_t time_ns,
			struct walk *below, struct walk *above)
{
	struct module_id own = r->placed.place.module;
	bool is_of_file = is_file_module(s, own);

	*below = (struct walk){ 0 };
	*above = (struct walk){ .wanted = is_of_file ? own : (struct module_id){ 0 } };
	walk_mappings(s, r, time_ns, false, is_of_file ? above : below);
	walk_mappings(s, r, time_ns, true, above);
}

static void find_loaded(const struct session *s, struct region *r, uint64_t time_ns)
{
	struct walk below, above;

	walk_around(s, r, time_ns, &below, &above);
	r->below = loaded_by(s, &below);
	r->above = loaded_by(s, &above);
}

static enum data_kind kind_of_mapping(const struct session *s, struct module_id id)
{
	const char *path;

	if (id.v == 0)
		return DATA_UNKNOWN;
	path = strings_get(timeline_modules(s->timeline)->strings,
			   data_names_module_of(s, id)->path);
	for (size_t i = 0; i < COUNT(mapping_kinds); i++)
		if (strncmp(path, mapping_kinds[i].prefix, strlen(mapping_kinds[i].prefix)) == 0)
			return mapping_kinds[i].kind;
	return DATA_FILE;
}

static bool region_holds(const struct region *r, const struct data_query *q)
{
	return r->process == q->process && r->process != 0 && q->address >= r->first &&
	       q->address <= r->last && q->time_ns >= r->from_ns && q->time_ns < r->to_ns;
}

/* What is mapped there, without the files around it. */
static struct region region_at(const struct session *s, const struct data_query *q)
{
	struct region r = { .process = q->process, .last = UINT64_MAX, .to_ns = UINT64_MAX };

	r.placed = timeline_place(s->timeline, q->process, false, q->address, q->time_ns);
	r.at = q->address;
	r.first = r.placed.first;
	r.last = r.placed.last;
	r.kind = kind_of_mapping(s, r.placed.place.module);
	narrow(&r, &r.placed);
	return r;
}

/* The same region serves neighbouring queries; they come in order of addresses. */
static void data_find_region(const struct session *s, const struct data_query *q, struct region *r)
{
	if (region_holds(r, q))
		return;
	*r = region_at(s, q);
	if (q->process != 0)
		find_loaded(s, r, q->time_ns);
}

static bool place_by(struct session *s, const struct loaded *loaded, uint64_t address,
		     struct data_place *out)
{
	out->module = loaded->module;
	out->address = address - loaded->bias;
	return loaded->module.v != 0 && symbols_is_loaded(s->symbols, loaded->module, out->address);
}

/* Perf records mappings of kernel code only: kernel data is taken to belong to the same module. */
static bool place_in_kernel(struct session *s, const struct data_query *q, struct data_place *out)
{
	const struct modules *modules = timeline_modules(s->timeline);

	for (uint32_t i = 1; i < modules->list.n; i++) {
		out->module = (struct module_id){ i };
		if (modules->list.items[i].kind == MODULE_KERNEL &&
		    symbols_kernel_data_place(s->symbols, out->module, q->address, &out->address))
			return true;
	}
	return false;
}

/* True: the address is in the memory of a file, at `out`. Else sets kind and module of a name. */
static bool place_query(struct session *s, const struct data_query *q, struct region *r,
			struct data_name *name, struct data_place *out)
{
	if (q->address >> 63) {
		name->kind = DATA_KERNEL;
		return place_in_kernel(s, q, out);
	}
	data_find_region(s, q, r);
	name->module = r->placed.place.module;
	name->kind = r->kind;
	if (name->kind == DATA_HEAP || name->kind == DATA_STACK)
		return false;
	return place_by(s, &r->below, q->address, out) || place_by(s, &r->above, q->address, out);
}

/*
 * Has a question the answer of the one before it in order? Where there is no heap map all that is asked of it is its
 * address, as long as what is there stays; and where no file is near, not even that.
 */
static bool is_repeated(const struct session *s, const struct region *r,
			const struct data_query *before, const struct data_query *q)
{
	if (s->heap != NULL || q->process != before->process)
		return false;
	if (q->address >> 63)
		return q->address == before->address;
	return region_holds(r, q) && (q->address == before->address ||
				      (r->below.module.v == 0 && r->above.module.v == 0));
}

static struct radix_pair key_of_query(const void *queries, size_t i)
{
	const struct data_query *q = (const struct data_query *)queries + i;

	return (struct radix_pair){ q->process, q->address };
}

static void set_path(struct data_names *names, const struct data_query *q, uint64_t offset,
		     struct data_name *out, struct text *path)
{
	const struct types *types = symbols_types(names->session->symbols);

	text_reset(path);
	if (types_path(types, out->type, offset, q->size, path, &out->leaf) ||
	    types_path(types, out->type, offset, 1, path, &out->leaf))
		out->path = strings_add(&names->strings, path->bytes, path->n);
}

/* Is it in an object of the heap map? Then it is that, whatever code accesses it. */
static bool name_in_heap(struct data_names *names, const struct data_query *q,
			 struct type_id *map_types, struct data_name *out, struct text *path)
{
	const struct session *s = names->session;
	const struct heap_map *map = s->heap;
	const struct heap_object *object;

	if (!heap_map_is_of(map, timeline_process(s->timeline, q->process)->pid))
		return false;
	object = heap_map_find(map, q->address);
	if (object == NULL)
		return false;
	*out = (struct data_name){
		.kind = DATA_HEAP,
		.is_by_type = true,
		.is_managed = true,
		.object_address = object->address,
		.object_size = object->size,
		.type = symbols_heap_type(s->symbols, map, object, map_types),
	};
	out->object = types_get(symbols_types(s->symbols), out->type)->name;
	set_path(names, q, q->address - object->address, out, path);
	return true;
}

static void set_object(struct data_names *names, const struct data_query *q, uint64_t address,
		       const struct data_object *object, struct data_name *out, struct text *path)
{
	uint64_t offset = address - object->start;

	if (object->name.v == 0)
		return;
	out->object = object->name;
	out->object_address = q->address - offset;
	out->object_size = object->size;
	out->type = object->type;
	out->file = object->file;
	out->line = object->line;
	set_path(names, q, offset, out, path);
}

static void set_accessed(struct data_names *names, const struct data_query *q,
			 const struct accessed *a, struct data_name *out, struct text *path)
{
	const struct types *types = symbols_types(names->session->symbols);

	if (a->is_stack && out->kind != DATA_KERNEL) {
		out->kind = DATA_STACK;
		out->function = a->function;
	}
	out->object = a->object;
	if (out->object.v == 0 || a->offset > q->address)
		return;
	out->is_by_code = true;
	out->is_by_type = a->is_pointed;
	out->object_address = q->address - a->offset;
	out->object_size = types_get(types, types_plain(types, a->type))->size;
	out->type = a->type;
	set_path(names, q, a->offset, out, path);
}

static void page_words(const struct data_query *q, uint64_t out[2])
{
	out[0] = q->process;
	out[1] = q->address >> PAGE_SHIFT;
}

/*
 * Stacks of threads are anonymous memory. If one access is known to be to a stack frame, all
 * accesses to its page are to that stack, also those through pointers.
 */
static void spread_stacks(struct data_names *names, const struct data_query *queries)
{
	struct tuples pages;
	uint64_t page[2];

	if (!shared_names_have(&names->names, DATA_STACK))
		return;
	tuples_init(&pages, 2);
	for (size_t i = 0; i < names->n; i++) {
		if (data_names_get(names, i)->kind != DATA_STACK)
			continue;
		page_words(&queries[i], page);
		tuples_add(&pages, page);
	}
	for (size_t i = 0; i < names->n && pages.n > 0; i++) {
		struct data_name name = *data_names_get(names, i);

		page_words(&queries[i], page);
		if ((name.kind != DATA_ANONYMOUS && name.kind != DATA_UNKNOWN) ||
		    tuples_find(&pages, page) == TUPLES_NONE)
			continue;
		name.kind = DATA_STACK;
		data_names_set(names, i, &name);
	}
	tuples_release(&pages);
}

/* Notes the TLS block that an instruction accessed. */
static void add_thread_block(struct data_names *names, const struct data_query *q,
			     const struct accessed *a, struct thread_blocks *out)
{
	struct module_id module = q->code.module;
	uint64_t size;

	if (!a->is_thread)
		return;
	size = symbols_thread_block(names->session->symbols, module, q->address, a->thread_offset);
	if (size == 0)
		return;
	*vec_add(&out->list) = (struct thread_block){
		.process = q->process,
		.tid = q->tid,
		.module = module,
		.start = q->address - a->thread_offset,
		.first = a->is_own_block ? 0 : a->thread_offset,
		.size = a->is_own_block ? size : 1,
	};
}

/*
 * Names all addresses in the TLS blocks that were found, also those accessed through a pointer by
 * another thread.
 */
static void name_thread_locals(struct data_names *names, const struct data_query *queries,
			       const bool *is_thread, const struct thread_blocks *blocks,
			       struct text *path)
{
	size_t *numbers = mem_alloc(names->n + 1, sizeof(*numbers));
	struct data_place *places = mem_alloc(names->n + 1, sizeof(*places));
	struct data_object *objects = mem_alloc(names->n + 1, sizeof(*objects));
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		const struct data_query *q = &queries[i];
		enum data_kind kind = data_names_get(names, i)->kind;
		const struct thread_block *b =
			kind == DATA_STATIC || kind == DATA_KERNEL
				? NULL
				: thread_blocks_find(blocks, q->process, q->address);
		struct data_name name;

		if (b == NULL)
			continue;
		name = (struct data_name){
			.kind = DATA_THREAD,
			.module = b->module,
			.tid = b->tid,
			.is_by_code = is_thread[i],
		};
		data_names_set(names, i, &name);
		numbers[n] = i;
		places[n++] = (struct data_place){ b->module,
						   (q->address - b->start) | ELF_THREAD_LOCAL };
	}
	symbols_data(names->session->symbols, names->session->pool, places, n, objects);
	for (size_t i = 0; i < n; i++) {
		struct data_name name = *data_names_get(names, numbers[i]);

		set_object(names, &queries[numbers[i]], places[i].address, &objects[i], &name,
			   path);
		data_names_set(names, numbers[i], &name);
	}
	free(objects);
	free(places);
	free(numbers);
}

/* Is the address without a variable, and is there code that may say more? */
static bool is_for_code(const struct data_names *names, size_t number, const struct place *code)
{
	const struct data_name *name;

	if (code->module.v == 0)
		return false;
	name = data_names_get(names, number);
	return name->object.v == 0 && name->kind != DATA_STATIC &&
	       symbols_has_code(names->session->symbols, code->module);
}

/* Names addresses without a variable by the code that accesses them; most code accesses many. */
static void ask_code(struct data_names *names, const struct data_query *queries, struct text *path)
{
	struct thread_blocks blocks = { 0 };
	struct tuples keys; /* module, offset: the places that are asked */
	uint32_t *asked = mem_alloc(names->n + 1, sizeof(*asked)); /* by name; TUPLES_NONE: none */
	bool *is_thread = mem_zalloc(names->n + 1, sizeof(*is_thread));
	struct accessed *accessed;
	struct place *places;

	tuples_init(&keys, 2);
	for (size_t i = 0; i < names->n; i++) {
		const struct place *code = &queries[i].code;
		const uint64_t key[] = { code->module.v, code->offset };

		asked[i] = is_for_code(names, i, code) ? tuples_add(&keys, key) : TUPLES_NONE;
	}
	places = mem_alloc((size_t)keys.n + 1, sizeof(*places));
	accessed = mem_alloc((size_t)keys.n + 1, sizeof(*accessed));
	for (uint32_t i = 0; i < keys.n; i++)
		places[i] = (struct place){ { (uint32_t)tuples_get(&keys, i)[0] },
					    tuples_get(&keys, i)[1] };
	symbols_accessed(names->session->symbols, names->session->pool, places, keys.n, accessed);
	for (size_t i = 0; i < names->n && keys.n > 0; i++) {
		struct data_name name;
		const struct accessed *a;

		if (asked[i] == TUPLES_NONE)
			continue;
		name = *data_names_get(names, i);
		a = &accessed[asked[i]];
		set_accessed(names, &queries[i], a, &name, path);
		data_names_set(names, i, &name);
		add_thread_block(names, &queries[i], a, &blocks);
		is_thread[i] = a->is_thread || a->is_thread_element;
	}
	tuples_release(&keys);
	free(accessed);
	free(places);
	free(asked);
	spread_stacks(names, queries);
	thread_blocks_build(&blocks);
	if (blocks.list.n > 0)
		name_thread_locals(names, queries, is_thread, &blocks, path);
	thread_blocks_release(&blocks);
	free(is_thread);
}

/* Names addresses that are in the memory of files, by the variables there. */
static void name_placed(struct data_names *names, const struct data_query *queries,
			const uint32_t *numbers, const struct data_place *places, size_t n,
			struct text *path)
{
	struct session *s = names->session;
	struct data_object *objects = mem_alloc(n + 1, sizeof(*objects));

	symbols_data(s->symbols, s->pool, places, n, objects);
	for (size_t i = 0; i < n; i++) {
		const struct data_query *q = &queries[numbers[i]];
		struct data_name name = {
			.kind = q->address >> 63 ? DATA_KERNEL : DATA_STATIC,
			.module = places[i].module,
			.file_address = places[i].address,
		};

		set_object(names, q, places[i].address, &objects[i], &name, path);
		data_names_set(names, numbers[i], &name);
	}
	free(objects);
}

/* Are both memory of the same kind and module, without a variable? */
static bool is_same_memory(const struct data_name *a, const struct data_name *b)
{
	return a->object.v == 0 && b->object.v == 0 && a->kind == b->kind &&
	       a->module.v == b->module.v;
}

void data_names_init(struct data_names *out, struct session *s, const struct data_query *queries,
		     size_t n)
{
	uint32_t *order = radix_order(queries, n, key_of_query);

	data_names_init_ordered(out, s, queries, n, order);
	free(order);
}

void data_names_init_ordered(struct data_names *out, struct session *s,
			     const struct data_query *queries, size_t n, const uint32_t *order)
{
	uint32_t *numbers = mem_alloc(n + 1, sizeof(*numbers));
	struct data_place *places = mem_alloc(n + 1, sizeof(*places));
	struct type_id *map_types =
		mem_zalloc(s->heap == NULL ? 1 : s->heap->types.list.n, sizeof(*map_types));
	struct region region = { 0 };
	struct data_name last = { 0 }; /* that was found, if it is not placed */
	struct text path = { 0 };
	size_t n_places = 0;
	bool is_placed = false;

	*out = (struct data_names){ .session = s, .n = n };
	strings_init(&out->strings);
	shared_names_init(&out->names, n);
	for (size_t i = 0; i < n; i++) {
		const struct data_query *q = &queries[order[i]];
		struct data_name name = { 0 };

		numbers[n_places] = order[i];
		if (i > 0 && is_repeated(s, &region, &queries[order[i - 1]], q)) {
			if (is_placed)
				places[n_places] = places[n_places - 1];
			else
				shared_names_repeat(&out->names, order[i], order[i - 1]);
		} else {
			bool has_last = i > 0 && !is_placed && s->heap == NULL;

			is_placed = !name_in_heap(out, q, map_types, &name, &path) &&
				    place_query(s, q, &region, &name, &places[n_places]);
			if (!is_placed && has_last && is_same_memory(&last, &name))
				shared_names_repeat(&out->names, order[i], order[i - 1]);
			else if (!is_placed)
				data_names_set(out, order[i], &name);
			last = name;
		}
		n_places += is_placed;
	}
	name_placed(out, queries, numbers, places, n_places, &path);
	free(map_types);
	free(places);
	free(numbers);
	ask_code(out, queries, &path);
	text_release(&path);
}

void data_names_set(struct data_names *names, size_t number, const struct data_name *name)
{
	shared_names_set(&names->names, number, name);
}

bool data_names_has_objects(const struct data_names *names)
{
	for (size_t i = 0; i < names->names.list.n; i++)
		if (names->names.list.items[i].object.v != 0)
			return true;
	return false;
}

bool data_names_are_of_mappings(const struct session *s)
{
	return s->heap == NULL && !symbols_knows_any(s->symbols);
}

/* Is there no file, or one that was looked for and is not here? */
static bool is_without_file(const struct session *s, const struct walk *walk)
{
	return walk->wanted.v == 0 || symbols_lacks_file(s->symbols, walk->wanted);
}

bool data_page_has_one_name(const struct session *s, uint32_t process, uint64_t address,
			    uint64_t from_ns)
{
	const struct data_query query = { .process = process,
					  .address = address,
					  .time_ns = from_ns };
	uint64_t first = address >> PAGE_SHIFT << PAGE_SHIFT;
	struct walk below = { 0 }, above = { 0 };
	struct region r;

	if (address >> 63)
		return true;
	if (timeline_is_by_position(s->timeline)) /* then `from_ns` says nothing */
		return false;
	r = region_at(s, &query);
	if (process != 0)
		walk_around(s, &r, from_ns, &below, &above);
	return is_without_file(s, &below) && is_without_file(s, &above) && r.first <= first &&
	       r.last - first >= (UINT64_C(1) << PAGE_SHIFT) - 1 && r.from_ns <= from_ns &&
	       r.to_ns == UINT64_MAX;
}

void data_names_move_into(struct data_names *names, size_t number, const struct data_query *q,
			  const struct data_name *object)
{
	struct data_name name = *object;
	uint64_t offset = q->address - name.object_address, start = 0;
	struct text path = { 0 }, element = { 0 };

	name.is_by_code = false;
	name.path.v = 0;
	if (name.n_elements > 0) {
		text_format(&element, "[%" PRIu64 "]", offset / name.object_size);
		start = offset - offset % name.object_size;
	}
	set_path(names, q, offset - start, &name, &path);
	if (name.path.v != 0)
		name.leaf.offset += start;
	if (name.n_elements > 0) {
		if (path.n > 0 && path.bytes[0] != '[')
			text_char(&element, '.');
		text_add(&element, path.bytes, path.n);
		name.path = strings_add(&names->strings, element.bytes, element.n);
	}
	data_names_set(names, number, &name);
	text_release(&element);
	text_release(&path);
}

void data_names_release(struct data_names *names)
{
	shared_names_release(&names->names);
	strings_release(&names->strings);
	*names = (struct data_names){ 0 };
}

const char no_data_addresses[] =
	"no access with a data address was found: SPE records and samples of `perf mem record` "
	"have them";

void data_heap_text(const struct session *s, struct text *out)
{
	const struct heap_map *map = s->heap;

	if (map == NULL)
		return;
	text_format(out, "%zu object%s of one moment", map->objects.n, plural(map->objects.n));
	if (map->time.v != 0)
		text_format(out, " (%s)", strings_get(&map->strings, map->time));
	text_str(out, ": what the collector moved before or after it has a wrong name, or none");
	if (map->pid != 0 && timeline_process_of_pid(s->timeline, map->pid, TIMELINE_NO_TIME) == 0)
		text_format(out, "; process %" PRIu32 ", whose heap it is, is not in the capture",
			    map->pid);
}

void data_memory_text(const struct session *s, enum data_kind kind, struct module_id module,
		      struct text *out)
{
	const char *name = module.v == 0 ? "//anon" : names_module(s, module);

	/* perf's name of anonymous mappings */
	if (strcmp(name, "//anon") == 0)
		text_format(out, "[%s]", data_kind_names[kind]);
	else
		text_str(out, name);
}

void data_object_text(const struct data_names *names, const struct data_name *name,
		      struct text *out)
{
	if (name->object.v != 0)
		text_str(out, strings_get(symbols_strings(names->session->symbols), name->object));
	else
		data_memory_text(names->session, name->kind, name->module, out);
}

void data_name_text(const struct data_names *names, const struct data_query *q,
		    const struct data_name *name, struct text *out)
{
	const char *path = strings_get(&names->strings, name->path);

	data_object_text(names, name, out);
	if (name->path.v != 0) {
		if (path[0] != '[')
			text_char(out, '.');
		text_str(out, path);
	} else if (name->object.v != 0 && q->address != name->object_address) {
		text_char(out, '+');
		text_hex(out, q->address - name->object_address);
	}
	if (name->object.v != 0 && name->kind == DATA_THREAD)
		text_str(out, " (thread-local)");
}
