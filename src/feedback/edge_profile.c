/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/edge_profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/nearest.h"
#include "feedback/graph.h"
#include "feedback/module_choice.h"
#include "session/names.h"
#include "symbol/symbols_state.h"

static const struct modules *modules_of(const struct flow_evidence *e)
{
	return timeline_modules(e->session->timeline);
}

static bool is_file(const struct flow_evidence *e, struct module_id id)
{
	return modules_get(modules_of(e), id)->kind == MODULE_FILE;
}

/* How many branches (or samples) of each module were recorded; to be freed. */
static uint64_t *count_branches(const struct flow_evidence *e)
{
	uint64_t *counts = mem_zalloc(modules_of(e)->list.n + 1, sizeof(*counts));

	for (size_t i = 0; i < e->branches.n; i++) {
		counts[e->branches.items[i].from.module.v] += e->branches.items[i].n;
		if (i % EVIDENCE_AT_ONCE == 0)
			flow_evidence_let_go(e);
	}
	for (size_t i = 0; i < e->others.n && e->source == EVIDENCE_SAMPLES; i++)
		counts[e->others.items[i].place.module.v] += e->others.items[i].n;
	return counts;
}

static int choose_module(struct edge_profile *p, const char *name, struct err *err)
{
	const struct flow_evidence *e = p->evidence;
	uint64_t *counts = count_branches(e);
	int rc = feedback_choose_module(e->session, counts, "branches", name, &p->module, err);

	for (size_t i = 0; i < modules_of(e)->list.n && rc == 0; i++)
		p->n_elsewhere += i != p->module.v ? counts[i] : 0;
	free(counts);
	return rc;
}

static const struct binary *binary_of(const struct edge_profile *p, struct module_id id)
{
	return feedback_binary(p->evidence->session, id);
}

/* Numbers of local functions among those of their name, by address, as BOLT counts them. */
static void number_locals(struct edge_profile *p)
{
	const struct functions *functions = binary_of(p, p->module)->functions;
	struct strings names;
	VEC_OF(uint32_t) counts = { 0 };

	if (functions == NULL)
		return;
	strings_init(&names);
	p->local_numbers = mem_zalloc(functions->list.n + 1, sizeof(*p->local_numbers));
	for (size_t i = 0; i < functions->list.n; i++) {
		const struct function *f = &functions->list.items[i];
		struct str_id id;

		if (f->binding != FUNCTION_LOCAL)
			continue;
		id = strings_add(&names, f->name, strlen(f->name));
		while (counts.n <= id.v)
			vec_add(&counts);
		p->local_numbers[i] = ++counts.items[id.v];
	}
	vec_release(&counts);
	strings_release(&names);
}

bool edge_profile_symbol(const struct edge_profile *p, struct place place,
			 struct feedback_function *out)
{
	const struct binary *b;
	const struct function *f;
	uint64_t address, before;

	if (place.module.v == 0 || !is_file(p->evidence, place.module))
		return false;
	b = binary_of(p, place.module);
	if (!binary_address(b, place.offset, &address) || (f = binary_find(b, address)) == NULL)
		return false;
	before = address + b->to_function - f->start;
	if (before > place.offset)
		return false;
	*out = (struct feedback_function){
		.from = place.offset - before,
		.to = place.offset - before + f->size,
		.address = address - before,
		.name = f->name,
		.number = place.module.v == p->module.v
				  ? p->local_numbers[f - b->functions->list.items]
				  : 0,
		.is_stub = f->is_stub,
	};
	return true;
}

const struct binary *edge_profile_binary(const struct edge_profile *p)
{
	return binary_of(p, p->module);
}

uint64_t edge_profile_address(const struct edge_profile *p, uint64_t offset)
{
	uint64_t address;

	return binary_address(binary_of(p, p->module), offset, &address) ? address : offset;
}

static void take_least(struct place place, struct module_id module, uint64_t *least)
{
	if (place.module.v == module.v && place.offset < *least)
		*least = place.offset;
}

/* The first offset of the module from `from` on with evidence; UINT64_MAX: none. *at: what is behind the places before. */
static uint64_t next_offset(const struct edge_profile *p, uint64_t from, struct evidence_at *at)
{
	const struct flow_evidence *e = p->evidence;
	uint64_t least = UINT64_MAX;

	flow_evidence_move(e, (struct place){ p->module, from }, at);
	if (at->branch < e->branches.n)
		take_least(e->branches.items[at->branch].from, p->module, &least);
	if (at->entry < e->entries.n)
		take_least(e->entries.items[at->entry].to, p->module, &least);
	if (at->other < e->others.n)
		take_least(e->others.items[at->other].place, p->module, &least);
	return least;
}

static void find_functions(struct edge_profile *p)
{
	struct evidence_at at = { 0 };
	struct feedback_function f;
	uint64_t from = next_offset(p, 0, &at);

	for (size_t i = 1; from != UINT64_MAX; i++) {
		bool is_found = edge_profile_symbol(p, (struct place){ p->module, from }, &f);

		if (is_found)
			*vec_add(&p->functions) = f;
		from = next_offset(p, is_found && f.to > from ? f.to : from + 1, &at);
		if (i % EVIDENCE_AT_ONCE == 0)
			flow_evidence_let_go(p->evidence);
	}
}

/* The part of the branches from one place to another that was mispredicted; NAN: not known. */
static double mispredicted_share(const struct flow_evidence *e, struct place from, struct place to)
{
	const struct evidence_branch *b = flow_evidence_branch(e, from, to);

	return b != NULL && b->n_told > 0 ? (double)b->n_mispredicted / (double)b->n_told
					  : (double)NAN;
}

/* The blocks and edges of the function that is fitted. */
struct fitted {
	VEC_OF(struct feedback_block) blocks;
	VEC_OF(struct feedback_edge) edges;
};

static void add_edge(struct fitted *f, const struct flow_evidence *e, enum feedback_edge_kind kind,
		     struct place from, struct place to, double executions)
{
	double share = kind == FEEDBACK_NEXT ? 0 : mispredicted_share(e, from, to);

	*vec_add(&f->edges) = (struct feedback_edge){
		.kind = kind,
		.from = from.offset,
		.to = to,
		.executions = executions,
		.mispredicted = share * executions,
	};
}

/* An indirect call goes to what was recorded, in these parts. */
static void add_indirect_calls(struct fitted *f, const struct flow_evidence *e, struct place from,
			       double executions)
{
	size_t first = flow_evidence_first_branch(e, from), end = first;
	double all = 0;

	for (; end < e->branches.n && e->branches.items[end].from.module.v == from.module.v &&
	       e->branches.items[end].from.offset == from.offset;
	     end++)
		all += e->branches.items[end].executions;
	for (size_t i = first; i < end && all > 0; i++)
		add_edge(f, e, FEEDBACK_CALL, from, e->branches.items[i].to,
			 executions * e->branches.items[i].executions / all);
}

static void add_calls(struct fitted *f, const struct flow_evidence *e, const struct graph *g,
		      size_t block, double executions)
{
	const struct graph_block *b = &g->blocks.items[block];

	for (size_t i = b->first; i <= b->last; i++) {
		const struct code_instruction *at = &g->code->list.items[i];
		struct place from = { g->code->module, at->offset };

		if (at->flow.kind != FLOW_CALL)
			continue;
		if (at->flow.has_target)
			add_edge(f, e, FEEDBACK_CALL, from,
				 (struct place){ g->code->module, at->flow.target }, executions);
		else
			add_indirect_calls(f, e, from, executions);
	}
}

static int edge_compare(const void *left, const void *right)
{
	const struct feedback_edge *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->to.module.v != b->to.module.v)
		return a->to.module.v < b->to.module.v ? -1 : 1;
	return (a->to.offset > b->to.offset) - (a->to.offset < b->to.offset);
}

/* Returns how often the function was entered. */
static double take_graph(struct fitted *f, const struct flow_evidence *e, const struct graph *g)
{
	double entries = 0;

	f->blocks.n = f->edges.n = 0;
	for (size_t i = 0; i < g->edges.n; i++) {
		const struct graph_edge *edge = &g->edges.items[i];
		const struct graph_block *b = &g->blocks.items[edge->block];
		double executions = g->flow.items[i].executions * e->lost_factor;
		struct place from = { g->code->module, g->code->list.items[b->last].offset };

		switch (edge->kind) {
		case GRAPH_BLOCK:
			*vec_add(&f->blocks) = (struct feedback_block){
				.first = g->code->list.items[b->first].offset,
				.last = from.offset,
				.executions = executions,
			};
			add_calls(f, e, g, edge->block, executions);
			break;
		case GRAPH_NEXT:
			add_edge(f, e, FEEDBACK_NEXT, from, edge->to, executions);
			break;
		case GRAPH_TAKEN:
			add_edge(f, e, FEEDBACK_TAKEN, from, edge->to, executions);
			break;
		case GRAPH_ENTRY:
			entries += edge->block == 0 ? executions : 0;
			break;
		case GRAPH_INTO:
		case GRAPH_RETURN:
			break;
		}
	}
	if (f->edges.n > 1)
		qsort(f->edges.items, f->edges.n, sizeof(*f->edges.items), edge_compare);
	return entries;
}

/* What goes to a file at once; functions until what was looked at is let go. */
enum { FITTED_PIECE = 64 << 10, FUNCTIONS_AT_ONCE = 64 };

static void keep_fitted(struct edge_profile *p, const struct fitted *fitted)
{
	struct spool *to = &p->fitted;

	text_add(&to->written, (const char *)fitted->blocks.items,
		 fitted->blocks.n * sizeof(*fitted->blocks.items));
	text_add(&to->written, (const char *)fitted->edges.items,
		 fitted->edges.n * sizeof(*fitted->edges.items));
	spool_flush(to, to->file == NULL ? p->evidence->memory_bytes : FITTED_PIECE);
}

/* Where the functions find them: one after the other, as they were written. */
static int find_fitted(struct edge_profile *p, struct err *err)
{
	const uint8_t *at;
	size_t size;

	spool_finish(&p->fitted);
	if (p->fitted.rc < 0) {
		*err = p->fitted.err;
		return -1;
	}
	at = spool_bytes(&p->fitted, &size);
	for (size_t i = 0; i < p->functions.n; i++) {
		struct feedback_function *f = &p->functions.items[i];

		f->blocks.items = (const void *)at;
		at += f->blocks.n * sizeof(*f->blocks.items);
		f->edges.items = (const void *)at;
		at += f->edges.n * sizeof(*f->edges.items);
	}
	return 0;
}

static int fit_functions(struct edge_profile *p, struct err *err)
{
	struct fitted fitted = { 0 };

	for (size_t i = 0; i < p->functions.n; i++) {
		struct feedback_function *f = &p->functions.items[i];
		const struct code_function *code =
			flow_evidence_code(p->evidence, p->module, f->from, f->to);
		struct graph graph;

		if (code->list.n == 0) {
			p->n_without_code++;
			continue;
		}
		graph_init(&graph, p->evidence, code);
		f->is_fitted = graph.is_fitted;
		f->entries = take_graph(&fitted, p->evidence, &graph);
		f->blocks.n = fitted.blocks.n;
		f->edges.n = fitted.edges.n;
		keep_fitted(p, &fitted);
		graph_release(&graph);
		if (i % FUNCTIONS_AT_ONCE == 0)
			flow_evidence_let_go(p->evidence);
	}
	vec_release(&fitted.blocks);
	vec_release(&fitted.edges);
	return find_fitted(p, err);
}

void edge_profile_let_go(const struct edge_profile *p)
{
	spool_drop(&p->fitted);
}

int edge_profile_read(struct edge_profile *p, struct flow_evidence *e, const char *module,
		      struct err *err)
{
	*p = (struct edge_profile){ .evidence = e };
	if (choose_module(p, module, err) < 0)
		return -1;
	number_locals(p);
	find_functions(p);
	if (e->source != EVIDENCE_SAMPLES && fit_functions(p, err) < 0)
		return -1;
	if (p->functions.n > p->n_without_code)
		return 0;
	return err_set(
		err, ERR_NO_DATA, ERR_NOWHERE,
		"the code of %s is needed, and is not here with its symbols (--symfs DIR says "
		"where binaries are)",
		names_module(e->session, p->module));
}

void edge_profile_release(struct edge_profile *p)
{
	vec_release(&p->functions);
	spool_release(&p->fitted);
	free(p->local_numbers);
	*p = (struct edge_profile){ 0 };
}

const struct feedback_function *edge_profile_find(const struct edge_profile *p, uint64_t offset)
{
	size_t at = bisect(0, p->functions.n, i, p->functions.items[i].to <= offset);

	return at < p->functions.n && p->functions.items[at].from <= offset
		       ? &p->functions.items[at]
		       : NULL;
}
