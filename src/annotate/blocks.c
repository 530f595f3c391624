/* SPDX-License-Identifier: Apache-2.0 */
#include "annotate/blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "isa/dominators.h"

static const char *const kind_names[N_EDGE_KINDS] = {
	[EDGE_TAKEN] = "taken",
	[EDGE_NEXT] = "next",
	[EDGE_INDIRECT] = "indirect",
	[EDGE_UNKNOWN] = "unknown",
};

const char *edge_kind_name(enum edge_kind kind)
{
	return kind_names[kind];
}

static const struct flow *flow_of(const struct cfg *b, size_t i)
{
	return &b->code->list.items[i].text.flow;
}

/* The instruction that a direct branch, jump or call goes to; list.n if it is outside. */
static size_t direct_target(const struct cfg *b, size_t i)
{
	const struct flow *flow = flow_of(b, i);
	const struct annotate_region *r = b->code->region;

	if (!flow->has_target)
		return b->code->list.n;
	return annotation_at(b->code, r->from + (flow->target - r->address));
}

static bool ends_block(enum flow_kind kind, bool splits_calls)
{
	return kind == FLOW_BRANCH || kind == FLOW_JUMP || kind == FLOW_RETURN ||
	       kind == FLOW_STOP || (splits_calls && kind == FLOW_CALL);
}

static bool next_branch(const struct cfg *b, uint64_t *at, struct executed_branch *out)
{
	return b->stacks != NULL && executions_next_branch(&b->executions, at, out);
}

/*
 * Does a recorded branch begin a block at its target? Not a return to behind a call, and not what came
 * back from an exception.
 */
static bool begins_block(const struct cfg *b, const struct executed_branch *e)
{
	if (e->to == b->executions.n || branch_changes_privilege(e->type) ||
	    e->from_place.module.v != e->to_place.module.v)
		return false;
	if (e->to > 0 && flow_of(b, e->to - 1)->kind == FLOW_CALL)
		return false;
	return e->from == b->executions.n || flow_is_branch(flow_of(b, e->from)->kind);
}

/* By instruction: does a block begin there? To be freed. */
static bool *find_leaders(const struct cfg *b, bool splits_calls)
{
	size_t n = b->code->list.n;
	bool *is_leader = mem_zalloc(n + 1, sizeof(*is_leader));
	struct executed_branch branch;

	is_leader[0] = true;
	for (size_t i = 0; i < n; i++) {
		is_leader[direct_target(b, i)] = true; /* that outside is behind the last */
		if (ends_block(flow_of(b, i)->kind, splits_calls))
			is_leader[i + 1] = true;
	}
	for (uint64_t at = 0; next_branch(b, &at, &branch);)
		if (begins_block(b, &branch))
			is_leader[branch.to] = true;
	return is_leader;
}

static double executions_of(const struct cfg *b, double weight)
{
	return b->stacks == NULL ? NAN : branch_stacks_executions(b->stacks, weight);
}

/* The mean over its instructions: a segment may begin or end at a call inside of the block. */
static void count_block(const struct cfg *b, struct block *block)
{
	const struct execution *runs = b->executions.runs;
	double weight = 0;

	if (b->stacks == NULL) {
		block->executions = NAN;
		return;
	}
	for (size_t i = block->first; i <= block->last; i++)
		weight += (double)runs[i].weight;
	weight /= (double)(block->last - block->first + 1);
	block->n_segments = runs[block->first].n;
	block->executions = executions_of(b, weight);
}

static void make_blocks(struct cfg *b, const bool *is_leader)
{
	size_t n = b->code->list.n;

	b->block_of = mem_alloc(n + 1, sizeof(*b->block_of));
	for (size_t i = 0; i < n; i++) {
		if (is_leader[i])
			vec_add(&b->list)->first = i;
		b->list.items[b->list.n - 1].last = i;
		b->block_of[i] = b->list.n - 1;
	}
	for (size_t i = 0; i < b->list.n; i++)
		count_block(b, &b->list.items[i]);
}

/* What edges out of the function go to, by address; these two are no addresses. */
#define TO_ELSEWHERE UINT64_MAX
#define TO_UNKNOWN (UINT64_MAX - 1)

static size_t add_outside(struct cfg *b, struct module_id module, uint64_t address,
			  const char *name)
{
	const uint64_t key[] = { module.v, address };
	uint32_t number = tuples_add(&b->outside_keys, key);

	if (number == b->outside.n)
		*vec_add(&b->outside) = arena_strndup(&b->memory, name, strlen(name));
	return number;
}

static struct block_edge *add_edge(struct cfg *b, size_t from, enum edge_kind kind)
{
	struct block_edge *e = vec_add(&b->edges);

	*e = (struct block_edge){ .from = from, .to = b->list.n, .kind = kind, .executions = NAN };
	return e;
}

/* Branches of the function, as far as edges need them. */
struct jumps {
	struct taken_sum *direct; /* by instruction: of branches to the target that it has */
	/* of indirect jumps; of too many of them the rarest are left out */
	VEC_OF(struct executed_branch) indirect;
	struct tuples outside; /* block, number of what is outside → edge … */
	VEC_OF(size_t) outside_edges;
};

enum { MOST_INDIRECT = 32 << 10 };

static int jumps_compare_commonest(const void *left, const void *right)
{
	const struct executed_branch *a = left, *b = right;

	if (a->sum.n != b->sum.n)
		return a->sum.n > b->sum.n ? -1 : 1;
	return executed_compare(a, b);
}

/* What is left out is a part of the executions of its block nevertheless. */
static void leave_out_rare_jumps(struct cfg *b, struct jumps *j)
{
	qsort(j->indirect.items, j->indirect.n, sizeof(*j->indirect.items),
	      jumps_compare_commonest);
	for (size_t i = MOST_INDIRECT; i < j->indirect.n; i++) {
		const struct executed_branch *t = &j->indirect.items[i];

		b->n_left_out += t->sum.n;
		b->list.items[b->block_of[t->from]].edges_weight += (double)t->sum.weight;
	}
	j->indirect.n = MOST_INDIRECT;
}

static bool is_to_target(const struct cfg *b, const struct executed_branch *branch)
{
	const struct annotate_region *r = b->code->region;
	const struct flow *flow = flow_of(b, branch->from);

	return flow->has_target && branch->to_place.module.v == r->module.v &&
	       branch->to_place.offset == r->from + (flow->target - r->address);
}

/* Also adds up what goes in and out of blocks: branches to their first instruction, and from their last. */
static void collect_jumps(struct cfg *b, struct jumps *j)
{
	struct executed_branch t;
	size_t n = b->code->list.n;

	*j = (struct jumps){ .direct = mem_zalloc(n + 1, sizeof(*j->direct)) };
	tuples_init(&j->outside, 2);
	for (uint64_t at = 0; next_branch(b, &at, &t);) {
		struct block *from = t.from < n ? &b->list.items[b->block_of[t.from]] : NULL;
		struct block *to = t.to < n ? &b->list.items[b->block_of[t.to]] : NULL;

		if (to != NULL && to->first == t.to)
			to->in = stack_weights_add(to->in, t.sum.weight);
		if (from == NULL)
			continue;
		if (from->last == t.from)
			from->out = stack_weights_add(from->out, t.sum.weight);
		if (is_to_target(b, &t))
			taken_sum_add(&j->direct[t.from], &t.sum);
		if (flow_of(b, t.from)->kind != FLOW_JUMP || flow_of(b, t.from)->has_target)
			continue;
		*vec_add(&j->indirect) = t;
		if (j->indirect.n == 2 * MOST_INDIRECT)
			leave_out_rare_jumps(b, j);
	}
	if (j->indirect.n > MOST_INDIRECT)
		leave_out_rare_jumps(b, j);
	if (j->indirect.n > 1)
		qsort(j->indirect.items, j->indirect.n, sizeof(*j->indirect.items),
		      executed_compare);
}

static void jumps_release(struct jumps *j)
{
	free(j->direct);
	vec_release(&j->indirect);
	tuples_release(&j->outside);
	vec_release(&j->outside_edges);
}

static void add_direct_edge(struct cfg *b, const struct jumps *j, size_t from, size_t i)
{
	const struct flow *flow = flow_of(b, i);
	const struct annotate_region *r = b->code->region;
	struct block_edge *e = add_edge(b, from, EDGE_TAKEN);
	size_t target = direct_target(b, i);
	const char *name = b->code->list.items[i].target_name;
	char address[32];

	taken_sum_add(&e->sum, &j->direct[i]);
	if (target < b->code->list.n) {
		e->to = b->block_of[target];
		return;
	}
	snprintf(address, sizeof(address), "%#llx", (unsigned long long)flow->target);
	e->outside = add_outside(b, r->module, flow->target, name != NULL ? name : address);
}

/* The function that a branch went to. Code without a symbol is all one. */
static size_t add_outside_place(struct cfg *b, struct place place)
{
	struct symbols *symbols = b->code->session->symbols;
	struct symbol symbol;

	symbols_resolve(symbols, b->code->session->pool, &place, 1, SYMBOLS_FUNCTIONS, &symbol);
	if (symbol.function.v == 0)
		return add_outside(b, (struct module_id){ 0 }, TO_ELSEWHERE, "[unknown]");
	return add_outside(b, place.module, symbol.address - symbol.function_offset,
			   strings_get(symbols_strings(symbols), symbol.function));
}

/* The edge of indirect jumps out of a block to a place outside. */
static struct block_edge *indirect_edge_outside(struct cfg *b, struct jumps *j, size_t from,
						size_t outside)
{
	const uint64_t key[] = { from, outside };
	uint32_t number = tuples_add(&j->outside, key);

	if (number == j->outside_edges.n) {
		*vec_add(&j->outside_edges) = b->edges.n;
		add_edge(b, from, EDGE_INDIRECT)->outside = outside;
	}
	return &b->edges.items[j->outside_edges.items[number]];
}

static size_t first_indirect(const struct jumps *j, size_t from)
{
	return bisect(0, j->indirect.n, i, j->indirect.items[i].from < from);
}

/* Edges of an indirect jump: one for each block or function that it was seen to go to. */
static void add_indirect_edges(struct cfg *b, struct jumps *j, size_t from, size_t i)
{
	size_t n_before = b->edges.n;

	for (size_t k = first_indirect(j, i); k < j->indirect.n && j->indirect.items[k].from == i;
	     k++) {
		const struct executed_branch *t = &j->indirect.items[k];
		struct block_edge *e;

		if (t->to == b->executions.n) {
			e = indirect_edge_outside(b, j, from, add_outside_place(b, t->to_place));
		} else {
			e = add_edge(b, from, EDGE_INDIRECT);
			e->to = b->block_of[t->to];
		}
		taken_sum_add(&e->sum, &t->sum);
	}
	if (b->edges.n == n_before)
		add_edge(b, from, EDGE_UNKNOWN)->outside = add_outside(
			b, (struct module_id){ 0 }, TO_UNKNOWN, "indirect, targets unknown");
}

static void add_next_edge(struct cfg *b, size_t from, size_t i)
{
	const struct execution *went_on;
	struct block_edge *e;

	if (i + 1 == b->code->list.n)
		return;
	e = add_edge(b, from, EDGE_NEXT);
	e->to = from + 1;
	if (b->stacks == NULL)
		return;
	/* a call does not go on by itself, but it comes back */
	went_on = flow_of(b, i)->kind == FLOW_CALL ? &b->executions.runs[i + 1]
						   : &b->executions.goes_on[i];
	e->sum.n = went_on->n;
	e->sum.weight = went_on->weight;
}

static void make_edges(struct cfg *b)
{
	struct jumps jumps;

	collect_jumps(b, &jumps);
	for (size_t from = 0; from < b->list.n; from++) {
		size_t i = b->list.items[from].last;
		const struct flow *flow = flow_of(b, i);

		switch (flow->kind) {
		case FLOW_BRANCH:
			add_direct_edge(b, &jumps, from, i);
			add_next_edge(b, from, i);
			break;
		case FLOW_JUMP:
			if (flow->has_target)
				add_direct_edge(b, &jumps, from, i);
			else
				add_indirect_edges(b, &jumps, from, i);
			break;
		case FLOW_RETURN:
		case FLOW_STOP:
			break;
		default:
			add_next_edge(b, from, i);
		}
	}
	jumps_release(&jumps);
	for (size_t i = 0; i < b->edges.n; i++) {
		struct block_edge *e = &b->edges.items[i];

		b->list.items[e->from].edges_weight += (double)e->sum.weight;
		if (e->sum.weight > b->most_weight)
			b->most_weight = e->sum.weight;
		if (e->kind != EDGE_UNKNOWN)
			e->executions = executions_of(b, (double)e->sum.weight);
	}
}

static struct isa_step *make_steps(const struct cfg *b)
{
	struct isa_step *steps = mem_alloc(b->code->list.n + 1, sizeof(*steps));

	for (size_t i = 0; i < b->code->list.n; i++) {
		enum flow_kind kind = flow_of(b, i)->kind;

		steps[i] = (struct isa_step){
			kind, (uint32_t)(kind == FLOW_CALL ? b->code->list.n : direct_target(b, i))
		};
	}
	return steps;
}

/*
 * Does the edge close a loop: does its target dominate its source? What is known to be reached by
 * indirect jumps alone has no dominator: there a branch backward does.
 */
static bool closes_loop(const struct cfg *b, const struct isa_dominators *dominators,
			const struct block_edge *e)
{
	size_t head, last = b->list.items[e->from].last;

	if (e->to == b->list.n)
		return false;
	head = b->list.items[e->to].first;
	if (dominators->rank[last] == 0)
		return e->kind == EDGE_TAKEN && e->to <= e->from;
	return dominators->rank[head] != 0 && isa_dominates(dominators, head, last);
}

/* Blocks, a bit for each. */
static bool bit_is_set(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static void bit_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* Marks the blocks that lead to a back edge of the head without passing it: the natural loop. */
static void mark_body(const struct cfg *b, size_t head, uint64_t *is_in)
{
	VEC_OF(size_t) left = { 0 };

	bit_set(is_in, head);
	for (size_t i = b->into_first[head]; i < b->into_first[head + 1]; i++)
		if (b->edges.items[b->into[i]].is_back)
			*vec_add(&left) = b->edges.items[b->into[i]].from;
	while (left.n > 0) {
		size_t block = left.items[--left.n];

		if (bit_is_set(is_in, block))
			continue;
		bit_set(is_in, block);
		for (size_t i = b->into_first[block]; i < b->into_first[block + 1]; i++)
			*vec_add(&left) = b->edges.items[b->into[i]].from;
	}
	vec_release(&left);
}

/* What runs into the head from the block before it, and what the loop comes to. */
static void finish_loop(const struct cfg *b, struct block_loop *l, const uint64_t *is_in,
			uint64_t weight)
{
	size_t first = b->list.items[l->head].first;

	if (first > 0 && !bit_is_set(is_in, l->head - 1)) {
		l->n_entries += b->executions.goes_on[first - 1].n;
		weight = stack_weights_add(weight, b->executions.goes_on[first - 1].weight);
	}
	l->entries = executions_of(b, (double)weight);
	l->trips = (double)b->executions.runs[first].weight / (double)weight;
	l->executions = executions_of(b, (double)b->executions.runs[first].weight);
}

/* Counts what enters the heads of loops `first` … `end` - 1 from outside of them. `loop_of`: by block that is a head. */
static void count_entries(struct cfg *b, const size_t *loop_of, size_t first, size_t end)
{
	size_t n = b->executions.n, n_words = b->list.n / 64 + 1;
	uint64_t *is_in = mem_zalloc((end - first) * n_words + 1, sizeof(*is_in));
	uint64_t *weights = mem_zalloc(end - first + 1, sizeof(*weights));
	struct executed_branch t;

	for (size_t i = first; i < end; i++)
		mark_body(b, b->loops.items[i].head, is_in + (i - first) * n_words);
	for (uint64_t at = 0; next_branch(b, &at, &t);) {
		size_t to = t.to < n ? b->block_of[t.to] : b->list.n;
		size_t loop = to < b->list.n ? loop_of[to] : b->loops.n;

		if (loop < first || loop >= end || b->list.items[to].first != t.to ||
		    (t.from < n &&
		     bit_is_set(is_in + (loop - first) * n_words, b->block_of[t.from])))
			continue;
		b->loops.items[loop].n_entries += t.sum.n;
		weights[loop - first] = stack_weights_add(weights[loop - first], t.sum.weight);
	}
	for (size_t i = first; i < end; i++)
		finish_loop(b, &b->loops.items[i], is_in + (i - first) * n_words,
			    weights[i - first]);
	free(is_in);
	free(weights);
}

/* Branches are gone through once for as many loops as this memory holds the blocks of. */
enum { BODIES_BYTES = 4 << 20 };

static void count_all_entries(struct cfg *b, const size_t *loop_of)
{
	size_t at_once = BODIES_BYTES / (b->list.n / 8 + sizeof(uint64_t)) + 1;

	for (size_t i = 0; i < b->loops.n; i += at_once)
		count_entries(b, loop_of, i, i + at_once < b->loops.n ? i + at_once : b->loops.n);
}

static void add_loop(struct cfg *b, size_t *loop_of, size_t head, size_t last)
{
	struct block_loop *l;

	if (loop_of[head] == SIZE_MAX) {
		loop_of[head] = b->loops.n;
		*vec_add(&b->loops) = (struct block_loop){
			.head = head, .last = last, .entries = NAN, .executions = NAN
		};
	}
	l = &b->loops.items[loop_of[head]];
	l->last = last > l->last ? last : l->last;
}

static int loops_compare(const void *left, const void *right)
{
	const struct block_loop *a = left, *b = right;

	return (a->head > b->head) - (a->head < b->head);
}

/* Lists the edges into each block. */
static void list_predecessors(struct cfg *b)
{
	size_t *at;

	b->into_first = mem_zalloc(b->list.n + 2, sizeof(*b->into_first));
	b->into = mem_alloc(b->edges.n + 1, sizeof(*b->into));
	for (size_t i = 0; i < b->edges.n; i++)
		if (b->edges.items[i].to < b->list.n)
			b->into_first[b->edges.items[i].to + 1]++;
	for (size_t i = 0; i < b->list.n; i++)
		b->into_first[i + 1] += b->into_first[i];
	at = mem_alloc(b->list.n + 1, sizeof(*at));
	memcpy(at, b->into_first, b->list.n * sizeof(*at));
	for (size_t i = 0; i < b->edges.n; i++)
		if (b->edges.items[i].to < b->list.n)
			b->into[at[b->edges.items[i].to]++] = i;
	free(at);
}

static void find_loops(struct cfg *b)
{
	struct isa_step *steps = make_steps(b);
	size_t *loop_of = mem_alloc(b->list.n + 1, sizeof(*loop_of));
	struct isa_dominators dominators;

	for (size_t i = 0; i < b->list.n; i++)
		loop_of[i] = SIZE_MAX;
	isa_dominators_init(&dominators, steps, b->code->list.n);
	for (size_t i = 0; i < b->edges.n; i++) {
		struct block_edge *e = &b->edges.items[i];

		e->is_back = closes_loop(b, &dominators, e);
		if (e->is_back)
			add_loop(b, loop_of, e->to, e->from);
	}
	if (b->stacks != NULL)
		count_all_entries(b, loop_of);
	if (b->loops.n > 1)
		qsort(b->loops.items, b->loops.n, sizeof(*b->loops.items), loops_compare);
	isa_dominators_release(&dominators);
	free(loop_of);
	free(steps);
}

/* Beside the branches: what runs from block to block. */
static void balance_blocks(struct cfg *b)
{
	const struct executions *x = &b->executions;

	for (size_t i = 0; i < b->list.n && b->stacks != NULL; i++) {
		struct block *block = &b->list.items[i];

		if (block->first > 0)
			block->in =
				stack_weights_add(block->in, x->goes_on[block->first - 1].weight);
		block->out = stack_weights_add(block->out, x->goes_on[block->last].weight);
	}
}

double block_balance(const struct block *b)
{
	double in = (double)b->in, out = (double)b->out, most = fmax(in, out);

	return most > 0 ? fabs(in - out) / most : NAN;
}

uint64_t block_samples(const struct cfg *b, const struct block *block, int event)
{
	enum annotate_what what = event < 0 ? COUNT_RECORDS : COUNT_SAMPLES;
	uint64_t value = event < 0 ? 0 : (uint64_t)event, n = 0;

	for (size_t i = block->first; i <= block->last; i++)
		n += annotated_count_of(b->code, i, what, value);
	return n;
}

uint64_t block_periods(const struct cfg *b, const struct block *block, size_t event)
{
	uint64_t n = 0;

	for (size_t i = block->first; i <= block->last; i++)
		n += annotated_count_of(b->code, i, COUNT_PERIOD, event);
	return n;
}

/* The event with most samples; SPE records if there are more of them. */
static void choose_event(struct cfg *b)
{
	const struct capture *c = b->code->session->capture;

	b->event = -1;
	b->n_all = annotation_count(b->code, COUNT_RECORDS);
	for (size_t event = 0; event < capture_n_events(c); event++) {
		uint64_t n = annotation_count_of(b->code, COUNT_SAMPLES, event);

		if (n <= b->n_all)
			continue;
		b->event = (int)event;
		b->n_all = n;
	}
	for (size_t i = 0; i < b->list.n; i++) {
		struct block *block = &b->list.items[i];

		block->n_samples = block_samples(b, block, b->event);
		block->share = b->n_all == 0 ? NAN : (double)block->n_samples / (double)b->n_all;
	}
}

static void count_executions(struct cfg *b)
{
	size_t n = b->code->list.n;
	uint64_t *offsets = mem_alloc(n + 1, sizeof(*offsets));

	for (size_t i = 0; i < n; i++)
		offsets[i] = b->code->list.items[i].offset;
	executions_init(&b->executions, b->stacks, b->code->region->module, b->code->region->to,
			offsets, n);
	free(offsets);
}

void cfg_init(struct cfg *b, const struct annotation *code, const struct branch_stacks *stacks,
	      bool splits_calls)
{
	bool *is_leader;

	*b = (struct cfg){ .code = code, .stacks = stacks };
	tuples_init(&b->outside_keys, 2);
	if (stacks != NULL)
		count_executions(b);
	else
		b->executions.n = code->list.n;
	is_leader = find_leaders(b, splits_calls);
	make_blocks(b, is_leader);
	make_edges(b);
	list_predecessors(b);
	find_loops(b);
	balance_blocks(b);
	choose_event(b);
	free(is_leader);
}

void cfg_release(struct cfg *b)
{
	executions_release(&b->executions);
	vec_release(&b->list);
	vec_release(&b->edges);
	vec_release(&b->loops);
	vec_release(&b->outside);
	tuples_release(&b->outside_keys);
	arena_release(&b->memory);
	free(b->block_of);
	free(b->into_first);
	free(b->into);
	*b = (struct cfg){ 0 };
}

uint64_t *cfg_block_starts(const struct cfg *b)
{
	uint64_t *starts = mem_alloc(b->list.n + 1, sizeof(*starts));

	for (size_t i = 0; i < b->list.n; i++)
		starts[i] = b->code->list.items[b->list.items[i].first].offset;
	starts[b->list.n] = b->code->region->to;
	return starts;
}

double block_edge_share(const struct cfg *b, const struct block_edge *e)
{
	double all = b->list.items[e->from].edges_weight;

	return all > 0 ? (double)e->sum.weight / all : NAN;
}

size_t cfg_first_edge(const struct cfg *b, size_t block)
{
	return bisect(0, b->edges.n, i, b->edges.items[i].from < block);
}

void block_successors(const struct cfg *b, size_t block, struct text *out)
{
	size_t end = cfg_first_edge(b, block + 1), start = out->n;

	for (size_t i = cfg_first_edge(b, block); i < end; i++) {
		const struct block_edge *e = &b->edges.items[i];
		double share = block_edge_share(b, e);

		text_str(out, out->n > start ? ", " : "");
		if (e->to < b->list.n)
			text_format(out, "%zu", e->to);
		else
			text_str(out, b->outside.items[e->outside]);
		if (!isnan(share))
			text_format(out, " (%.0f %%)", 100 * share);
		text_str(out, e->is_back ? " loop" : "");
	}
}

void block_heading(const struct cfg *b, size_t block, struct text *out)
{
	const struct block *its = &b->list.items[block];
	size_t before;

	text_format(out, "[%zu]", block);
	if (!isnan(its->share))
		text_format(out, "  %.1f %% of samples", 100 * its->share);
	if (!isnan(its->executions)) {
		text_str(out, "  executed ");
		branch_stacks_words(b->stacks, its->executions, its->n_segments, out);
	}
	before = out->n;
	text_str(out, "  goes to ");
	block_successors(b, block, out);
	if (cfg_first_edge(b, block) == cfg_first_edge(b, block + 1))
		out->n = before;
}
