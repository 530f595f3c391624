/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dominators by the algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm").
 * Nodes are instructions, not basic blocks: only a few times as many, and no blocks have to be
 * built.
 */
#include "isa/dominators.h"

#include <stdlib.h>

#include "base/alloc.h"

/* The control flow graph of the function; its nodes are instructions. */
struct graph {
	const struct isa_step *steps;
	size_t n;
	uint32_t *order; /* reachable instructions, by rank from 1 */
	size_t n_reachable;
	uint32_t *first_predecessor; /* by instruction: index in `predecessors`; n + 1 of them */
	uint32_t *predecessors;
};

/* Successor `k` (0 or 1) of an instruction; n if there is none. */
static size_t flow_successor(const struct graph *g, size_t i, unsigned k)
{
	enum flow_kind kind = g->steps[i].kind;
	bool goes_on = kind == FLOW_NEXT || kind == FLOW_BRANCH || kind == FLOW_CALL ||
		       kind == FLOW_SYSTEM;

	if (k == 1)
		return g->steps[i].target;
	return goes_on ? i + 1 : g->n;
}

/* Ranks reachable instructions in reverse postorder, by a depth-first walk without recursion. */
static void flow_rank(struct graph *g, uint32_t *ranks)
{
	uint32_t *stack = mem_alloc(g->n + 1, sizeof(*stack));
	/* 1 + successors visited so far; 0: not seen */
	uint8_t *tried = mem_zalloc(g->n + 1, sizeof(*tried));
	size_t depth = 0, n_done = 0;

	g->order = mem_alloc(g->n + 1, sizeof(*g->order));
	tried[0] = 1;
	stack[depth++] = 0;
	while (depth > 0) {
		uint32_t i = stack[depth - 1];
		size_t next;

		if (tried[i] > 2) {
			g->order[g->n - n_done++] = i;
			depth--;
			continue;
		}
		next = flow_successor(g, i, tried[i]++ - 1u);
		if (next < g->n && tried[next] == 0) {
			tried[next] = 1;
			stack[depth++] = (uint32_t)next;
		}
	}
	g->n_reachable = n_done;
	for (size_t k = 1; k <= n_done; k++) {
		g->order[k] = g->order[g->n - n_done + k];
		ranks[g->order[k]] = (uint32_t)k;
	}
	free(tried);
	free(stack);
}

/* Lists the predecessors of each instruction. */
static void find_predecessors(struct graph *g, const uint32_t *ranks)
{
	uint32_t *at;

	g->first_predecessor = mem_zalloc(g->n + 2, sizeof(*g->first_predecessor));
	g->predecessors = mem_alloc(2 * g->n + 1, sizeof(*g->predecessors));
	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < 2; k++)
			if (ranks[i] != 0 && flow_successor(g, i, k) < g->n)
				g->first_predecessor[flow_successor(g, i, k) + 1]++;
	for (size_t i = 0; i < g->n; i++)
		g->first_predecessor[i + 1] += g->first_predecessor[i];
	at = mem_alloc(g->n + 1, sizeof(*at));
	for (size_t i = 0; i < g->n; i++)
		at[i] = g->first_predecessor[i];
	for (size_t i = 0; i < g->n; i++)
		for (unsigned k = 0; k < 2; k++)
			if (ranks[i] != 0 && flow_successor(g, i, k) < g->n)
				g->predecessors[at[flow_successor(g, i, k)]++] = (uint32_t)i;
	free(at);
}

/* The nearest common dominator. */
static uint32_t common_dominator(const struct isa_dominators *f, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (f->rank[a] > f->rank[b])
			a = f->dominator[a];
		else
			b = f->dominator[b];
	}
	return a;
}

static uint32_t dominator_of(const struct graph *g, const struct isa_dominators *f, uint32_t i)
{
	uint32_t found = UINT32_MAX;

	for (uint32_t k = g->first_predecessor[i]; k < g->first_predecessor[i + 1]; k++) {
		uint32_t predecessor = g->predecessors[k];

		if (f->dominator[predecessor] == UINT32_MAX)
			continue;
		found = found == UINT32_MAX ? predecessor : common_dominator(f, found, predecessor);
	}
	return found;
}

static void find_dominators(const struct graph *g, struct isa_dominators *f)
{
	bool has_changed = true;

	for (size_t i = 0; i < g->n; i++)
		f->dominator[i] = UINT32_MAX;
	f->dominator[0] = 0;
	while (has_changed) {
		has_changed = false;
		for (size_t k = 2; k <= g->n_reachable; k++) {
			uint32_t i = g->order[k], found = dominator_of(g, f, i);

			has_changed |= f->dominator[i] != found;
			f->dominator[i] = found;
		}
	}
}

void isa_dominators_init(struct isa_dominators *f, const struct isa_step *steps, size_t n)
{
	struct graph g = { .steps = steps, .n = n };

	f->steps = steps;
	f->rank = mem_zalloc(g.n + 1, sizeof(*f->rank));
	f->dominator = mem_zalloc(g.n + 1, sizeof(*f->dominator));
	if (g.n == 0)
		return;
	flow_rank(&g, f->rank);
	find_predecessors(&g, f->rank);
	find_dominators(&g, f);
	free(g.order);
	free(g.first_predecessor);
	free(g.predecessors);
}

void isa_dominators_release(struct isa_dominators *f)
{
	free(f->rank);
	free(f->dominator);
	*f = (struct isa_dominators){ 0 };
}

bool isa_dominates(const struct isa_dominators *f, size_t by, size_t to)
{
	if (f->rank[by] == 0 || f->rank[to] == 0)
		return false;
	while (f->rank[to] > f->rank[by])
		to = f->dominator[to];
	return to == by;
}

bool isa_is_loop(const struct isa_dominators *f, size_t head, size_t branch)
{
	if (head > branch || f->rank[branch] == 0)
		return head <= branch;
	while (!isa_dominates(f, head, branch) && f->steps[head].kind == FLOW_NEXT && head < branch)
		head++;
	return isa_dominates(f, head, branch);
}
