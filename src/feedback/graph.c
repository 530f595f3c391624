/* SPDX-License-Identifier: Apache-2.0 */
#include "feedback/graph.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "branch_stacks/executions.h"

enum { MOST_GUESSES = 1 << 14 }; /* edges of indirect jumps to blocks that nothing else leads to */

/* What was recorded of an instruction: in records, and records for each execution. */
struct seen {
	double n, rate;
};

/* The function while its graph is made. */
struct making {
	struct graph *g;
	const struct flow_evidence *e;
	const struct code_function *f;
	size_t n;	    /* instructions */
	bool *begins;	    /* a block, by instruction; [n] is outside */
	size_t *block_of;   /* by instruction */
	struct seen *runs;  /* executed, by instruction */
	struct seen *stays; /* went on to the next one */
	struct seen *into;  /* by instruction that begins a block: came by a branch to it … */
	struct seen *onto;  /* … or from the one before it (with previous targets) */
	VEC_OF(size_t) indirect; /* blocks that end in an indirect jump */
	size_t first_branch;	 /* of the function's, in the evidence */
	size_t first_entry;
};

static struct place place_in(const struct making *m, uint64_t offset)
{
	return (struct place){ m->f->module, offset };
}

static bool is_inside(const struct making *m, struct place p)
{
	return p.module.v == m->f->module.v && p.offset >= m->f->from && p.offset < m->f->to;
}

static const struct code_instruction *at(const struct making *m, size_t i)
{
	return &m->f->list.items[i];
}

/* The branch `i` of the evidence, if it is one of the function; else NULL. */
static const struct evidence_branch *branch_from(const struct making *m, size_t i)
{
	const struct evidence_branches *all = &m->e->branches;

	return i < all->n && is_inside(m, all->items[i].from) ? &all->items[i] : NULL;
}

static const struct evidence_branch *entry_to(const struct making *m, size_t i)
{
	const struct evidence_branches *all = &m->e->entries;

	return i < all->n && is_inside(m, all->items[i].to) ? &all->items[i] : NULL;
}

static bool is_jump(enum flow_kind kind)
{
	return kind == FLOW_BRANCH || kind == FLOW_JUMP;
}

/* Does a branch of the function stay in it, as an edge of its graph? Calls and returns do not. */
static bool is_edge(const struct making *m, const struct evidence_branch *b)
{
	size_t from = code_instruction_at(m->f, b->from.offset);

	return is_inside(m, b->from) && is_inside(m, b->to) && from < m->n &&
	       is_jump(at(m, from)->flow.kind);
}

/*
 * Does a branch come in from elsewhere: at the start, or at another place that is not behind a call, where
 * calls return to?
 */
static bool is_function_entry(const struct making *m, const struct evidence_branch *b)
{
	const struct modules *modules = timeline_modules(m->e->session->timeline);
	size_t to = code_instruction_at(m->f, b->to.offset);

	if (to == m->n || is_edge(m, b) ||
	    modules_get(modules, b->from.module)->kind == MODULE_KERNEL) /* after an interrupt */
		return false;
	return to == 0 || at(m, to - 1)->flow.kind != FLOW_CALL;
}

static void find_blocks(struct making *m)
{
	const struct evidence_branch *b;

	m->begins[0] = true;
	for (size_t i = 0; i < m->n; i++) {
		const struct flow *flow = &at(m, i)->flow;

		if (flow->has_target && is_jump(flow->kind))
			m->begins[code_instruction_at(m->f, flow->target)] = true;
		if (is_jump(flow->kind) || flow->kind == FLOW_RETURN || flow->kind == FLOW_STOP)
			m->begins[i + 1] = true;
	}
	for (size_t i = m->first_entry; (b = entry_to(m, i)) != NULL; i++)
		if (is_edge(m, b) || is_function_entry(m, b))
			m->begins[code_instruction_at(m->f, b->to.offset)] = true;
	for (size_t i = 0; i < m->n; i++) {
		if (m->begins[i])
			*vec_add(&m->g->blocks) = (struct graph_block){ i, i };
		m->block_of[i] = m->g->blocks.n - 1;
		m->g->blocks.items[m->g->blocks.n - 1].last = i;
	}
}

/* Is each record of the instruction an execution of it? See evidence.h. */
static bool counts_once(const struct making *m, const struct code_instruction *i)
{
	if (flow_is_branch(i->flow.kind))
		return true;
	if (!m->e->has_all_operations || i->flow.kind != FLOW_NEXT || !i->is_known)
		return false;
	return capture_spe(m->e->session->capture)->is_modelled || i->class == CODE_OTHER;
}

/*
 * A record whose branch before is known, at an instruction whose block was entered since: it says how. Behind
 * a call that is not known: the branch before is the return.
 */
static bool tells_way(const struct making *m, const struct evidence_record *r, size_t i,
		      struct seen **out)
{
	size_t first = m->g->blocks.items[m->block_of[i]].first;
	size_t from;

	if (r->previous.module.v != m->f->module.v || r->previous.offset < m->f->from ||
	    r->previous.offset > at(m, first)->offset)
		return false;
	from = code_instruction_at(m->f, r->previous.offset);
	if (from == m->n)
		return false;
	*out = from == first ? &m->into[first] : &m->onto[first];
	return true;
}

static void note_spe(struct making *m)
{
	const struct flow_evidence *e = m->e;
	double rate = e->branch_rate;

	for (size_t i = 0; i < m->n; i++)
		if (counts_once(m, at(m, i)))
			m->runs[i].rate = rate;
	for (size_t k = flow_evidence_first_other(e, place_in(m, m->f->from)); k < e->others.n;
	     k++) {
		const struct evidence_record *r = &e->others.items[k];
		size_t i = code_instruction_at(m->f, r->place.offset);
		struct seen *way;

		if (!is_inside(m, r->place))
			break;
		if (i == m->n)
			continue;
		if (r->kind == RECORD_NOT_TAKEN) {
			m->stays[i].n += r->executions * rate;
			continue;
		}
		if (m->runs[i].rate > 0 && m->g->blocks.items[m->block_of[i]].last != i &&
		    tells_way(m, r, i, &way))
			way->n += r->executions * rate;
		else
			m->runs[i].n += r->executions * rate;
	}
	for (size_t i = 0; i < m->n; i++)
		if (at(m, i)->flow.kind == FLOW_BRANCH)
			m->stays[i].rate = rate;
}

/* With previous targets: the part of the records that have one is evidence of the ways into blocks. */
static void split_rates(struct making *m)
{
	double share = m->e->previous_share;

	for (size_t b = 0; b < m->g->blocks.n && share > 0; b++) {
		const struct graph_block *block = &m->g->blocks.items[b];
		double rate = 0;

		for (size_t i = block->first; i < block->last; i++) {
			rate += m->runs[i].rate * share;
			m->runs[i].rate *= 1 - share;
			if (at(m, i)->flow.kind == FLOW_CALL)
				break; /* what is behind it came by the return */
		}
		m->into[block->first].rate = rate;
		m->onto[block->first].rate = rate;
	}
}

static void note_stacks(struct making *m)
{
	uint64_t *offsets = mem_alloc(m->n, sizeof(*offsets));
	struct executions x;

	for (size_t i = 0; i < m->n; i++)
		offsets[i] = at(m, i)->offset;
	executions_init(&x, &m->e->stacks, m->f->module, m->f->to, offsets, m->n);
	for (size_t i = 0; i < m->n; i++) {
		/* of a block, that of its first instruction: the others are of the same segments */
		double scale = m->e->execution_rate * flow_evidence_executions(m->e, 1);

		m->stays[i] =
			(struct seen){ (double)x.goes_on[i].weight * scale, m->e->execution_rate };
		if (m->begins[i])
			m->runs[i] = (struct seen){ (double)x.runs[i].weight * scale,
						    m->e->execution_rate };
	}
	executions_release(&x);
	free(offsets);
}

/* Nodes of a block: before it by branches, before it, behind it. */
static uint32_t node_into(size_t block)
{
	return (uint32_t)(1 + 3 * block);
}

static uint32_t node_before(size_t block)
{
	return (uint32_t)(2 + 3 * block);
}

static uint32_t node_behind(size_t block)
{
	return (uint32_t)(3 + 3 * block);
}

static void add_edge(struct making *m, enum graph_edge_kind kind, size_t block, struct place to,
		     uint32_t from_node, uint32_t to_node, struct seen seen)
{
	*vec_add(&m->g->edges) = (struct graph_edge){ kind, block, to };
	*vec_add(&m->g->flow) = (struct flow_edge){
		.from = from_node,
		.to = to_node,
		.n = seen.n,
		.rate = seen.rate,
	};
}

static void add_next(struct making *m, size_t block, struct seen seen)
{
	uint32_t to = block + 1 < m->g->blocks.n ? node_before(block + 1) : FLOW_OUTSIDE;
	const struct graph_block *b = &m->g->blocks.items[block];

	if (to != FLOW_OUTSIDE) {
		struct seen onto = m->onto[m->g->blocks.items[block + 1].first];

		seen = (struct seen){ seen.n + onto.n, seen.rate + onto.rate };
	}
	add_edge(m, GRAPH_NEXT, block, place_in(m, at(m, b->last)->offset + at(m, b->last)->size),
		 node_behind(block), to, seen);
}

static uint32_t node_at(const struct making *m, struct place to)
{
	size_t i = is_inside(m, to) ? code_instruction_at(m->f, to.offset) : m->n;

	return i < m->n && m->begins[i] ? node_into(m->block_of[i]) : FLOW_OUTSIDE;
}

/* The edges of a branch with one target. */
static void add_direct(struct making *m, size_t block, size_t i)
{
	struct seen seen = { 0, m->e->branch_rate };
	struct place to = place_in(m, at(m, i)->flow.target);
	const struct evidence_branch *b;

	for (size_t k = flow_evidence_first_branch(m->e, place_in(m, at(m, i)->offset));
	     (b = branch_from(m, k)) != NULL && b->from.offset == at(m, i)->offset; k++)
		seen.n += b->executions * seen.rate;
	add_edge(m, GRAPH_TAKEN, block, to, node_behind(block), node_at(m, to), seen);
}

/*
 * Edges to each recorded target. A jump by a table stays in the function, a call at its end leaves it: if none
 * stayed, some may have left unseen.
 */
static void add_indirect(struct making *m, size_t block, size_t i)
{
	double rate = m->e->branch_rate;
	const struct evidence_branch *b;
	bool stays = false;

	for (size_t k = flow_evidence_first_branch(m->e, place_in(m, at(m, i)->offset));
	     (b = branch_from(m, k)) != NULL && b->from.offset == at(m, i)->offset; k++) {
		add_edge(m, GRAPH_TAKEN, block, b->to, node_behind(block), node_at(m, b->to),
			 (struct seen){ b->executions * rate, rate });
		stays |= node_at(m, b->to) != FLOW_OUTSIDE;
	}
	if (!stays)
		add_edge(m, GRAPH_RETURN, block, (struct place){ 0 }, node_behind(block),
			 FLOW_OUTSIDE, (struct seen){ 0, rate });
	*vec_add(&m->indirect) = block;
}

static void add_return(struct making *m, size_t block, size_t i)
{
	struct seen seen = { 0, m->e->branch_rate };
	const struct evidence_branch *b;

	for (size_t k = flow_evidence_first_branch(m->e, place_in(m, at(m, i)->offset));
	     (b = branch_from(m, k)) != NULL && b->from.offset == at(m, i)->offset; k++)
		seen.n += b->executions * seen.rate;
	add_edge(m, GRAPH_RETURN, block, (struct place){ 0 }, node_behind(block), FLOW_OUTSIDE,
		 seen);
}

static void add_ways_out(struct making *m, size_t block)
{
	size_t last = m->g->blocks.items[block].last;
	const struct flow *flow = &at(m, last)->flow;

	switch (flow->kind) {
	case FLOW_BRANCH:
		add_direct(m, block, last);
		add_next(m, block, m->stays[last]);
		break;
	case FLOW_JUMP:
		if (flow->has_target)
			add_direct(m, block, last);
		else
			add_indirect(m, block, last);
		break;
	case FLOW_RETURN:
		add_return(m, block, last);
		break;
	case FLOW_STOP:
		add_edge(m, GRAPH_RETURN, block, (struct place){ 0 }, node_behind(block),
			 FLOW_OUTSIDE, (struct seen){ 0 });
		break;
	default:
		add_next(m, block, m->stays[last]);
	}
}

/* The edge through a block: evidence of its instructions, but for the branch at its end. */
static void add_block(struct making *m, size_t block)
{
	const struct graph_block *b = &m->g->blocks.items[block];
	struct seen seen = { 0 };

	for (size_t i = b->first; i <= b->last; i++) {
		bool is_branch_of_end = m->e->source == EVIDENCE_SPE && i == b->last &&
					flow_is_branch(at(m, i)->flow.kind) &&
					at(m, i)->flow.kind != FLOW_CALL;

		if (is_branch_of_end)
			continue;
		seen.n += m->runs[i].n;
		seen.rate += m->runs[i].rate;
	}
	if (seen.rate <= 0)
		seen.n = 0;
	add_edge(m, GRAPH_INTO, block, (struct place){ 0 }, node_into(block), node_before(block),
		 m->into[b->first]);
	add_edge(m, GRAPH_BLOCK, block, (struct place){ 0 }, node_before(block), node_behind(block),
		 seen);
}

/*
 * A block that nothing is known to lead to: an indirect jump may, unseen. Else an exception may, or a jump from
 * elsewhere.
 */
static void add_unseen_jumps(struct making *m, size_t block)
{
	struct place to = place_in(m, at(m, m->g->blocks.items[block].first)->offset);

	for (size_t i = 0; i < m->indirect.n; i++)
		add_edge(m, GRAPH_TAKEN, m->indirect.items[i], to,
			 node_behind(m->indirect.items[i]), node_into(block),
			 (struct seen){ 0, m->e->branch_rate });
}

static void add_entries(struct making *m)
{
	struct seen *seen = mem_zalloc(m->g->blocks.n + 1, sizeof(*seen));
	bool *is_reached = mem_zalloc(m->g->n_nodes + 1, sizeof(*is_reached));
	const struct evidence_branch *b;
	size_t n_orphans = 0;

	seen[0].rate = m->e->branch_rate;
	for (size_t i = m->first_entry; (b = entry_to(m, i)) != NULL; i++) {
		struct seen *s;

		if (!is_function_entry(m, b))
			continue;
		s = &seen[m->block_of[code_instruction_at(m->f, b->to.offset)]];
		s->rate = m->e->branch_rate;
		s->n += b->executions * s->rate;
	}
	for (size_t i = 0; i < m->g->flow.n; i++)
		is_reached[m->g->flow.items[i].to] |= m->g->edges.items[i].kind == GRAPH_NEXT ||
						      m->g->edges.items[i].kind == GRAPH_TAKEN;
	for (size_t i = 0; i < m->g->blocks.n; i++)
		n_orphans += !is_reached[node_into(i)] && !is_reached[node_before(i)] &&
			     seen[i].rate == 0;
	for (size_t i = 0; i < m->g->blocks.n; i++) {
		bool is_orphan = !is_reached[node_into(i)] && !is_reached[node_before(i)] &&
				 seen[i].rate == 0;

		if (is_orphan && m->indirect.n > 0 && n_orphans * m->indirect.n <= MOST_GUESSES)
			add_unseen_jumps(m, i);
		else if (is_orphan || seen[i].rate > 0)
			add_edge(m, GRAPH_ENTRY, i, (struct place){ 0 }, FLOW_OUTSIDE, node_into(i),
				 seen[i]);
	}
	free(seen);
	free(is_reached);
}

void graph_init(struct graph *g, const struct flow_evidence *e, const struct code_function *f)
{
	struct making m = { .g = g, .e = e, .f = f, .n = f->list.n };

	*g = (struct graph){ .code = f };
	m.begins = mem_zalloc(m.n + 1, sizeof(*m.begins));
	m.block_of = mem_zalloc(m.n + 1, sizeof(*m.block_of));
	m.runs = mem_zalloc(m.n + 1, sizeof(*m.runs));
	m.stays = mem_zalloc(m.n + 1, sizeof(*m.stays));
	m.into = mem_zalloc(m.n + 1, sizeof(*m.into));
	m.onto = mem_zalloc(m.n + 1, sizeof(*m.onto));
	m.first_branch = flow_evidence_first_branch(e, place_in(&m, f->from));
	m.first_entry = flow_evidence_first_entry(e, place_in(&m, f->from));
	find_blocks(&m);
	if (e->source == EVIDENCE_STACKS) {
		note_stacks(&m);
	} else {
		note_spe(&m);
		split_rates(&m);
	}
	g->n_nodes = (uint32_t)(1 + 3 * g->blocks.n);
	for (size_t b = 0; b < g->blocks.n; b++) {
		add_block(&m, b);
		add_ways_out(&m, b);
	}
	add_entries(&m);
	g->is_fitted = flow_fit(g->flow.items, g->flow.n, g->n_nodes);
	free(m.begins);
	free(m.block_of);
	free(m.runs);
	free(m.stays);
	free(m.into);
	free(m.onto);
	vec_release(&m.indirect);
}

void graph_release(struct graph *g)
{
	vec_release(&g->blocks);
	vec_release(&g->edges);
	vec_release(&g->flow);
}
