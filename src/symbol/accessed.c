/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/accessed.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "isa/disasm.h"
#include "symbol/access_file.h"
#include "symbol/code.h"
#include "symbol/symbols_state.h"
#include "symbol/thread_local.h"

enum { CODE_BYTES = 16 }; /* the longest instruction */

/* The work on one module: a job. */
struct group {
	struct module_id module;
	VEC_OF(struct access_query) queries;
	VEC_OF(uint32_t) numbers; /* of their places */
	struct access_answer answer;
	bool is_asked;
	struct type_id *global; /* by id in the answer's types */
};

struct work {
	struct symbols *symbols;
	VEC_OF(struct group) groups; /* by module */
	struct disasm *disasm;
	enum isa isa; /* of the disassembler */
	struct accessed *out;
};

/* The operand in memory of the instruction at a place. */
static bool read_operand(struct work *w, struct place place, struct isa_operand *out)
{
	struct instruction instruction;
	struct code code;
	struct err err;

	if (!symbols_code(w->symbols, place, CODE_BYTES, &code))
		return false;
	if (code.isa != w->isa) {
		disasm_free(w->disasm);
		w->disasm = disasm_new(code.isa, SYNTAX_INTEL, &err);
		w->isa = code.isa;
	}
	if (w->disasm == NULL)
		return false;
	disasm_next(w->disasm, code.bytes, code.size, 0, &instruction);
	return instruction.is_known && isa_operand_parse(code.isa, instruction.operands, out);
}

static struct group *group_of(struct work *w, struct module_id module)
{
	if (w->groups.n == 0 || w->groups.items[w->groups.n - 1].module.v != module.v)
		*vec_add(&w->groups) = (struct group){ .module = module };
	return &w->groups.items[w->groups.n - 1];
}

static bool take_thread_local(struct work *w, struct module_id module,
			      const struct access_query *query, struct accessed *out)
{
	struct thread_place found = { 0 };

	if (!thread_local_find(w->symbols, module, query->address, w->isa, &query->operand, &found))
		return false;
	out->is_thread = !found.is_element;
	out->is_thread_element = found.is_element;
	out->is_own_block = found.is_own;
	out->thread_offset = found.offset;
	return true;
}

static void add_query(struct work *w, struct place place, uint32_t number)
{
	struct access_query query;
	struct group *g;

	if (place.module.v == 0)
		return;
	symbols_prepare(w->symbols, place.module);
	symbols_load(w->symbols, place.module);
	if (!binary_address(&w->symbols->states[place.module.v].binary, place.offset,
			    &query.address) ||
	    !read_operand(w, place, &query.operand))
		return;
	if (take_thread_local(w, place.module, &query, &w->out[number]) || query.operand.is_thread)
		return;
	w->out[number].is_stack = query.operand.is_stack;
	g = group_of(w, place.module);
	*vec_add(&g->queries) = query;
	*vec_add(&g->numbers) = number;
}

static void add_queries(struct work *w, const struct place *places, size_t n)
{
	uint32_t *order = mem_alloc(n, sizeof(*order));
	uint64_t *keys = mem_alloc(n, sizeof(*keys));

	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)i;
		keys[i] = places[i].module.v;
	}
	radix_sort(order, n, keys);
	for (size_t i = 0; i < n; i++)
		add_query(w, places[order[i]], order[i]);
	free(keys);
	free(order);
}

static void ask(void *context, size_t job, unsigned worker)
{
	struct work *w = context;
	struct group *g = &w->groups.items[job];
	const struct binary *b = &w->symbols->states[g->module.v].binary;
	struct access_question q = {
		.path = b->lines_path,
		.alt_path = b->alt_path,
		.queries = g->queries.items,
		.n = g->queries.n,
	};

	(void)worker;
	if (q.path == NULL)
		return;
	access_ask(&q, &g->answer);
	g->is_asked = true;
}

static struct str_id global_string(struct symbols *s, const struct group *g, struct str_id id)
{
	return strings_addz(&s->strings, strings_get(&g->answer.strings, id));
}

static void take_answers(struct work *w, struct group *g)
{
	struct symbols *s = w->symbols;

	g->global = mem_zalloc(g->answer.types.list.n, sizeof(*g->global));
	for (size_t i = 0; i < g->numbers.n; i++) {
		const struct access_found *found = &g->answer.found[i];
		struct accessed *out = &w->out[g->numbers.items[i]];

		out->function = global_string(s, g, found->function);
		out->variable = global_string(s, g, found->variable);
		out->is_pointed = found->is_pointed;
		out->is_stack |= found->variable.v != 0 && !found->is_pointed;
		out->type = types_copy(&s->types, &g->answer.types, found->type, g->global);
		out->offset = found->offset;
	}
}

static void group_release(struct group *g)
{
	vec_release(&g->queries);
	vec_release(&g->numbers);
	access_answer_release(&g->answer);
	free(g->global);
}

void symbols_accessed(struct symbols *s, struct pool *pool, const struct place *places, size_t n,
		      struct accessed *out)
{
	struct work w = { .symbols = s, .out = out };

	for (size_t i = 0; i < n; i++)
		out[i] = (struct accessed){ 0 };
	if (n == 0)
		return;
	add_queries(&w, places, n);
	disasm_free(w.disasm);
	pool_run(pool, w.groups.n, ask, &w);
	for (size_t i = 0; i < w.groups.n; i++) {
		diags_merge(&s->diags, &w.groups.items[i].answer.diags);
		if (w.groups.items[i].is_asked)
			take_answers(&w, &w.groups.items[i]);
		group_release(&w.groups.items[i]);
	}
	vec_release(&w.groups);
}
