/* SPDX-License-Identifier: Apache-2.0 */
#include "variables/accessed.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "base/text.h"
#include "isa/disasm.h"
#include "symbol/symbols_state.h"
#include "variables/access_file.h"
#include "variables/code.h"
#include "variables/function_code.h"
#include "variables/thread_local.h"

enum {
	MAX_HOLDERS = 8,
};

/* The work on one module: a job. */
struct group {
	struct module_id module;
	VEC_OF(struct access_query) queries;
	VEC_OF(uint32_t) numbers; /* of their places */
	VEC_OF(struct access_query) loads;
	VEC_OF(struct isa_holder) holders;
	struct access_answer answer;
	bool is_asked;
	struct type_id *global; /* by id in the answer's types */
};

struct work {
	struct symbols *symbols;
	VEC_OF(struct group) groups; /* by module */
	struct disasm *disasm;
	enum isa isa;		       /* of the disassembler */
	struct function_code function; /* around the last place */
	struct accessed *out;
};

/* The operand in memory of the instruction at a place, and how much it accesses. */
static bool read_operand(struct work *w, struct place place, struct access_query *out)
{
	struct isa_access access = { 0 };
	struct code code;
	struct err err;

	if (!symbols_code(w->symbols, place, ISA_LONGEST_INSTRUCTION, &code))
		return false;
	if (code.isa != w->isa) {
		function_code_release(&w->function);
		disasm_free(w->disasm);
		w->disasm = disasm_new(code.isa, SYNTAX_INTEL, &err);
		w->isa = code.isa;
	}
	if (w->disasm == NULL)
		return false;
	if (isa_access(code.isa, code.bytes, code.size, &access) &&
	    !(access.flags & ACCESS_SCALABLE))
		out->bytes = access.bytes;
	out->is_vector = access.flags & ACCESS_VECTOR;
	return isa_operand(w->disasm, code.bytes, code.size, &out->operand);
}

static void accessed_add_source(struct work *w, struct group *g, const struct isa_followed *,
				unsigned depth, struct access_query *);

/* The instruction that loaded the root of an address. */
static void accessed_add_load(struct work *w, struct group *g, const struct isa_followed *followed,
			      const struct isa_origin *origin, unsigned depth,
			      struct access_source *out)
{
	const struct binary *b = &w->symbols->states[g->module.v].binary;
	struct access_query load = { .address = origin->address };
	struct place place = { .module = g->module };

	if (depth == ACCESS_MAX_LOADS || !binary_offset(b, origin->address, &place.offset) ||
	    !read_operand(w, place, &load) || load.operand.is_thread)
		return;
	load.bytes = 0;
	accessed_add_source(w, g, followed, depth + 1, &load);
	out->load = (uint32_t)g->loads.n;
	out->displacement = origin->reg;
	out->is_loaded = true;
	*vec_add(&g->loads) = load;
}

/* What the address of an access is made of, by the code before it. */
static void accessed_add_source(struct work *w, struct group *g,
				const struct isa_followed *followed, unsigned depth,
				struct access_query *q)
{
	struct access_source *s = &q->source;
	struct isa_holder holders[MAX_HOLDERS];
	struct isa_origin origin;
	struct isa_value base;

	s->value = isa_followed_address(followed, q->address, &q->operand);
	if (s->value.root != ISA_CONTENT && s->value.root < ISA_LOADED) {
		s->value = (struct isa_value){ 0 };
		return;
	}
	s->first_holder = (uint32_t)g->holders.n;
	base = isa_followed_register(followed, q->address, q->operand.base);
	if (base.root == s->value.root && base.slot == s->value.slot)
		*vec_add(&g->holders) =
			(struct isa_holder){ q->address, q->operand.base, base.offset, base.step };
	for (size_t i = 0, n = isa_followed_holders(followed, &s->value, MAX_HOLDERS, holders);
	     i < n; i++)
		*vec_add(&g->holders) = holders[i];
	s->n_holders = (uint32_t)g->holders.n - s->first_holder;
	if (s->value.root != ISA_LOADED)
		return;
	origin = isa_origin_of(followed, &s->value);
	accessed_add_load(w, g, followed, &origin, depth, s);
}

static struct group *accessed_group_of(struct work *w, struct module_id module)
{
	if (w->groups.n == 0 || w->groups.items[w->groups.n - 1].module.v != module.v)
		*vec_add(&w->groups) = (struct group){ .module = module };
	return &w->groups.items[w->groups.n - 1];
}

static bool take_thread_local(struct work *w, struct module_id module,
			      const struct isa_followed *followed, const struct access_query *query,
			      struct accessed *out)
{
	struct thread_place found = { 0 };

	if (!thread_local_find(w->symbols, module, followed, query->address, w->isa,
			       &query->operand, &found))
		return false;
	out->is_thread = !found.is_element;
	out->is_thread_element = found.is_element;
	out->is_own_block = found.is_own;
	out->thread_offset = found.offset;
	return true;
}

static void add_query(struct work *w, struct place place, uint32_t number)
{
	const struct isa_followed *followed = NULL;
	struct access_query query = { 0 };
	const struct binary *b;
	struct group *g;

	if (place.module.v == 0)
		return;
	symbols_prepare(w->symbols, place.module);
	symbols_load(w->symbols, place.module);
	b = &w->symbols->states[place.module.v].binary;
	if (!binary_address(b, place.offset, &query.address) || !read_operand(w, place, &query))
		return;
	if (b->lines_path != NULL || b->code.thread_block.size > 0)
		followed = function_code_at(&w->function, w->symbols, place.module, query.address,
					    w->isa);
	if (take_thread_local(w, place.module, followed, &query, &w->out[number]) ||
	    query.operand.is_thread)
		return;
	w->out[number].is_stack = query.operand.is_stack;
	g = accessed_group_of(w, place.module);
	if (followed != NULL && !query.operand.is_stack)
		accessed_add_source(w, g, followed, 0, &query);
	*vec_add(&g->queries) = query;
	*vec_add(&g->numbers) = number;
}

/* Is place `i` of the order the one before it? An instruction is asked about once for each datum. */
static bool is_repeated(const struct place *places, const uint32_t *order, size_t i)
{
	return i > 0 && places[order[i]].module.v == places[order[i - 1]].module.v &&
	       places[order[i]].offset == places[order[i - 1]].offset;
}

static void accessed_ask(void *context, size_t job, unsigned worker)
{
	struct work *w = context;
	struct group *g = &w->groups.items[job];
	const struct binary *b = &w->symbols->states[g->module.v].binary;
	struct access_question q = {
		.path = b->lines_path,
		.alt_path = b->alt_path,
		.root = b->root,
		.queries = g->queries.items,
		.n = g->queries.n,
		.loads = g->loads.items,
		.holders = g->holders.items,
	};

	(void)worker;
	if (q.path == NULL)
		return;
	access_ask(&q, &g->answer);
	g->is_asked = true;
}

/* The name of the object. None for what a void * or char * buffer points to. */
static struct str_id accessed_object(struct symbols *s, const struct accessed *a)
{
	const struct type *plain = types_get(&s->types, types_plain(&s->types, a->type));
	struct text name = { 0 };
	struct str_id id;

	if (!a->is_pointed)
		return a->variable;
	if (plain->kind == TYPE_STRUCT || plain->kind == TYPE_UNION)
		return types_get(&s->types, a->type)->name;
	if (plain->kind == TYPE_UNKNOWN || plain->kind == TYPE_ARRAY)
		return (struct str_id){ 0 };
	text_format(&name, "*%s", strings_get(&s->strings, a->variable));
	id = strings_add(&s->strings, name.bytes, name.n);
	text_release(&name);
	return id;
}

static void take_answers(struct work *w, struct group *g)
{
	struct symbols *s = w->symbols;

	g->global = mem_zalloc(g->answer.types.list.n, sizeof(*g->global));
	for (size_t i = 0; i < g->numbers.n; i++) {
		const struct access_found *found = &g->answer.found[i];
		struct accessed *out = &w->out[g->numbers.items[i]];

		out->function = symbols_add_string(s, &g->answer.strings, found->function);
		out->variable = symbols_add_string(s, &g->answer.strings, found->variable);
		out->is_pointed = found->is_pointed;
		out->is_stack |= found->variable.v != 0 && !found->is_pointed;
		out->type = types_copy(&s->types, &g->answer.types, found->type, g->global);
		out->offset = found->offset;
		out->object = accessed_object(s, out);
	}
}

static void group_release(struct group *g)
{
	vec_release(&g->queries);
	vec_release(&g->numbers);
	vec_release(&g->loads);
	vec_release(&g->holders);
	access_answer_release(&g->answer);
	free(g->global);
}

void symbols_accessed(struct symbols *s, struct pool *pool, const struct place *places, size_t n,
		      struct accessed *out)
{
	struct work w = { .symbols = s, .out = out };
	uint32_t *order;

	for (size_t i = 0; i < n; i++)
		out[i] = (struct accessed){ 0 };
	if (n == 0)
		return;
	order = radix_order(places, n, symbols_place_key);
	for (size_t i = 0; i < n; i++)
		if (!is_repeated(places, order, i))
			add_query(&w, places[order[i]], order[i]);
	function_code_release(&w.function);
	disasm_free(w.disasm);
	pool_run(pool, w.groups.n, accessed_ask, &w);
	for (size_t i = 0; i < w.groups.n; i++) {
		diags_merge(&s->diags, &w.groups.items[i].answer.diags);
		if (w.groups.items[i].is_asked)
			take_answers(&w, &w.groups.items[i]);
		group_release(&w.groups.items[i]);
	}
	for (size_t i = 0; i < n; i++)
		if (is_repeated(places, order, i))
			out[order[i]] = out[order[i - 1]];
	free(order);
	vec_release(&w.groups);
}
