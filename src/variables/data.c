/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/data.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "symbol/symbols_state.h"
#include "variables/data_file.h"

/* The work on one module: a job. */
struct group {
	struct module_id module;
	size_t first, n; /* in the order of the question */
	uint64_t *addresses;
	struct functions objects; /* of the symbol table */
	struct data_answer answer;
	bool is_asked;		/* the answer is there */
	const char *type_name;	/* looked for instead; or NULL */
	struct type_id *global; /* by id in the answer's types */
};

struct question {
	struct symbols *symbols;
	VEC_OF(struct group) groups;
};

/* Of the kernel without its file: what kallsyms says. */
static const struct functions *kernel_objects(const struct symbols *s, const struct binary *b)
{
	const struct kallsyms *k = &s->kernel.kallsyms;

	return b->functions == &k->functions && !elf_file_is_open(&b->code) ? &k->data : NULL;
}

/* Names borrowed from files that stay open with the module. */
static void read_objects(const struct binary *b, struct functions *out)
{
	const struct elf_file *named = binary_symtab_file(b);

	if (named != NULL)
		elf_symbols_add_objects(out, named, SHT_SYMTAB);
	else if (elf_file_is_open(&b->code))
		elf_symbols_add_objects(out, &b->code, SHT_DYNSYM);
	functions_build(out);
}

static void data_ask_module(void *context, size_t job, unsigned worker)
{
	struct question *question = context;
	struct group *g = &question->groups.items[job];
	const struct binary *b = &question->symbols->states[g->module.v].binary;
	struct data_question q = {
		.addresses = g->addresses,
		.n = g->n,
		.objects = &g->objects,
		.type_name = g->type_name,
	};

	(void)worker;
	symbols_load(question->symbols, g->module);
	if (g->n > 0)
		read_objects(b, &g->objects);
	if (b->lines_path == NULL)
		return;
	q.path = b->lines_path;
	q.alt_path = b->alt_path;
	q.root = b->root;
	data_ask(&q, &g->answer);
	g->is_asked = true;
}

static struct type_id global_type(struct symbols *s, struct group *g, struct type_id id)
{
	if (g->global == NULL)
		g->global = mem_zalloc(g->answer.types.list.n, sizeof(*g->global));
	return types_copy(&s->types, &g->answer.types, id, g->global);
}

static void data_take_variable(struct symbols *s, struct group *g, const struct data_variable *v,
			       struct data_object *out)
{
	*out = (struct data_object){
		.name = symbols_add_string(s, &g->answer.strings, v->name),
		.start = v->address,
		.size = v->size,
		.type = global_type(s, g, v->type),
		.file = symbols_add_string(s, &g->answer.strings, v->file),
		.line = v->line,
	};
}

static void data_take_symbol(struct symbols *s, const struct function *symbol,
			     struct data_object *out)
{
	struct text name = { 0 };

	function_name(symbol, symbols_style(s), &name);
	*out = (struct data_object){
		.name = strings_add(&s->strings, name.bytes, name.n),
		.start = symbol->start,
		.size = symbol->size,
	};
	text_release(&name);
}

/* DWARF first: it tells the type. A symbol may be larger: its last array has no length. */
static void data_take(struct symbols *s, struct group *g, size_t i, struct data_object *out)
{
	const struct functions *kernel = kernel_objects(s, &s->states[g->module.v].binary);
	const struct function *symbol =
		functions_find(kernel != NULL ? kernel : &g->objects, g->addresses[i]);

	*out = (struct data_object){ 0 };
	if (g->is_asked && g->answer.variables[i].name.v != 0)
		data_take_variable(s, g, &g->answer.variables[i], out);
	else if (symbol != NULL)
		data_take_symbol(s, symbol, out);
}

static void question_release(struct question *q)
{
	for (size_t i = 0; i < q->groups.n; i++) {
		struct group *g = &q->groups.items[i];

		free(g->addresses);
		free(g->global);
		functions_release(&g->objects);
		data_answer_release(&g->answer);
	}
	vec_release(&q->groups);
}

static void data_run(struct question *q, struct pool *pool)
{
	for (size_t i = 0; i < q->groups.n; i++)
		symbols_prepare(q->symbols, q->groups.items[i].module);
	pool_run(pool, q->groups.n, data_ask_module, q);
	for (size_t i = 0; i < q->groups.n; i++)
		diags_merge(&q->symbols->diags, &q->groups.items[i].answer.diags);
}

static void data_make_groups(struct question *q, const struct data_place *places,
			     const uint32_t *order, size_t n)
{
	struct group *g = NULL;

	for (size_t i = 0; i < n; i++) {
		struct module_id module = places[order[i]].module;

		if (g == NULL || g->module.v != module.v) {
			g = vec_add(&q->groups);
			*g = (struct group){ .module = module, .first = i };
		}
		g->n++;
	}
	for (size_t i = 0; i < q->groups.n; i++) {
		g = &q->groups.items[i];
		g->addresses = mem_alloc(g->n, sizeof(*g->addresses));
		for (size_t k = 0; k < g->n; k++)
			g->addresses[k] = places[order[g->first + k]].address;
	}
}

static struct radix_pair key_of_data(const void *places, size_t i)
{
	const struct data_place *p = (const struct data_place *)places + i;

	return (struct radix_pair){ p->module.v, p->address };
}

void symbols_data(struct symbols *s, struct pool *pool, const struct data_place *places, size_t n,
		  struct data_object *out)
{
	struct question q = { .symbols = s };
	uint32_t *order;

	if (n == 0)
		return;
	order = radix_order(places, n, key_of_data);
	data_make_groups(&q, places, order, n);
	data_run(&q, pool);
	for (size_t i = 0; i < q.groups.n; i++) {
		struct group *g = &q.groups.items[i];

		for (size_t k = 0; k < g->n; k++)
			data_take(s, g, k, &out[order[g->first + k]]);
	}
	question_release(&q);
	free(order);
}

static bool is_loaded(const struct binary *b, uint64_t address)
{
	for (size_t i = 0; i < b->code.segments.n; i++) {
		const struct elf_segment *segment = &b->code.segments.items[i];

		if (address >= segment->address &&
		    address - segment->address < segment->memory_size)
			return true;
	}
	return false;
}

bool symbols_kernel_data_place(struct symbols *s, struct module_id module, uint64_t data,
			       uint64_t *out)
{
	const struct binary *b = &s->states[module.v].binary;
	const struct functions *kernel;

	symbols_prepare(s, module);
	symbols_load(s, module);
	kernel = kernel_objects(s, b);
	*out = data + (kernel != NULL ? b->to_function : b->to_file);
	if (kernel != NULL)
		return functions_find(kernel, *out) != NULL;
	return elf_file_is_open(&b->code) && is_loaded(b, *out);
}

bool symbols_load_bias(struct symbols *s, struct module_id module,
		       const struct data_mapping *mappings, size_t n, uint64_t *out_bias)
{
	const struct binary *b = &s->states[module.v].binary;
	struct text text = { 0 };
	enum load_bias answer;

	symbols_prepare(s, module);
	symbols_load(s, module);
	if (!elf_file_is_open(&b->code) || !b->has_segments)
		return false;
	answer = load_bias_find(&b->code, mappings, n, out_bias);
	if (answer == LOAD_BIAS_AMBIGUOUS) {
		text_format(
			&text,
			"%s: what was recorded of its mappings does not tell where its data is: "
			"its variables are not named ('perf record -d' records all mappings)",
			b->code.path);
		text_char(&text, '\0');
		diags_add(&s->diags, DIAG_NOTE, ERR_NOWHERE, 0, text.bytes);
		text_release(&text);
	}
	return answer == LOAD_BIAS_FOUND;
}

uint64_t symbols_thread_block(const struct symbols *s, struct module_id module, uint64_t address,
			      uint64_t offset)
{
	const struct elf_thread_block *block = &s->states[module.v].binary.code.thread_block;

	if (block->size == 0 || offset >= block->size || address < offset ||
	    (address - offset - block->address) % block->align != 0)
		return 0;
	return block->size;
}

bool symbols_is_loaded(const struct symbols *s, struct module_id module, uint64_t address)
{
	const struct binary *b = &s->states[module.v].binary;

	return elf_file_is_open(&b->code) && is_loaded(b, address);
}

bool symbols_lacks_file(const struct symbols *s, struct module_id module)
{
	const struct binary *b = &s->states[module.v].binary;

	return b->is_loaded && !elf_file_is_open(&b->code);
}

bool symbols_knows_any(const struct symbols *s)
{
	for (uint32_t i = 1; i < s->modules->list.n; i++) {
		const struct binary *b = &s->states[i].binary;
		const struct functions *variables = kernel_objects(s, b);

		if (b->is_loaded &&
		    (elf_file_is_open(&b->code) || b->dump.size > 0 || b->only_name != NULL ||
		     (b->functions != NULL && b->functions->list.n > 0) ||
		     (variables != NULL && variables->list.n > 0)))
			return true;
	}
	return false;
}

void symbols_each_object(struct symbols *s, struct module_id module, uint64_t first, uint64_t last,
			 void (*each)(void *context, uint64_t address), void *context)
{
	struct functions objects = { 0 };

	symbols_prepare(s, module);
	symbols_load(s, module);
	read_objects(&s->states[module.v].binary, &objects);
	for (size_t i = 0; i < objects.list.n; i++)
		if (objects.list.items[i].start >= first && objects.list.items[i].start <= last)
			each(context, objects.list.items[i].start);
	functions_release(&objects);
}

struct type_id symbols_find_type(struct symbols *s, struct pool *pool, const char *name)
{
	struct question q = { .symbols = s };
	struct type_id found = { 0 };

	for (uint32_t i = 1; i < s->modules->list.n; i++)
		if (s->modules->list.items[i].kind == MODULE_FILE)
			*vec_add(&q.groups) = (struct group){ .module = { i }, .type_name = name };
	data_run(&q, pool);
	for (size_t i = 0; i < q.groups.n && found.v == 0; i++)
		if (q.groups.items[i].is_asked)
			found = global_type(s, &q.groups.items[i], q.groups.items[i].answer.type);
	question_release(&q);
	return found;
}

const struct types *symbols_types(const struct symbols *s)
{
	return &s->types;
}
