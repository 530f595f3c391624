/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of commit_time.h: an out-of-order core in a few lines, whose latencies are the records'. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/random.h"
#include "commit_time/inside.h"

enum {
	WALKS = 1000,
	WARM_UP = 400,	   /* instructions of a walk that fill the window, and are not counted */
	LENGTH = 1200,	   /* instructions of a walk */
	ISSUE_CYCLES = 2,  /* from dispatch to issue, at least */
	STORE_BUFFER = 40, /* stores: an estimate, as it is not published */
	MOST_CALLS = 64,
	WORD = 4,
};

struct walk {
	struct program *p;
	uint64_t random;
	bool is_counted;

	/* The way: the nodes to return to, the last ones in a ring. */
	uint32_t calls[MOST_CALLS];
	unsigned n_calls;

	/* The core. Times are cycles since the walk began. */
	uint64_t dispatch, commit; /* of the last instruction */
	uint64_t fetch;		   /* nothing is dispatched before */
	unsigned n_dispatched;	   /* in the cycle `dispatch` */
	uint64_t ready[ISA_N_REGS];
	uint64_t last_loaded, last_stored; /* when the last lines came */
	uint64_t *window;		   /* when the instructions in it leave it: a ring */
	unsigned at;		       /* in it: the next one, which is also the one a window ago */
	uint64_t stores[STORE_BUFFER]; /* when those in it leave it, in the same way */
	unsigned next_store;
	uint64_t drained; /* when the last one does */

	/* Who gets the cycle. */
	VEC_OF(uint32_t) taken; /* nodes that leave the window in the cycle `commit` */
	uint32_t flusher;	/* the instruction before, if it was mispredicted; or NO_NODE */
};

/* The node of record `number` of all. */
static uint32_t start_at(const struct program *p, uint64_t number)
{
	return p->starts[bisect(0, p->n_starts - 1, i, p->up_to[i] <= number)];
}

static void look_around(struct program *p, uint32_t number)
{
	struct node node = p->nodes.items[number];
	struct place to = node.at;

	to.offset += WORD;
	if (node.kind != FLOW_JUMP && node.kind != FLOW_RETURN && node.kind != FLOW_STOP)
		node.next = program_node(p, to);
	to.offset = node.goes_to;
	if (node.goes_to != node.at.offset)
		node.target = program_node(p, to);
	for (uint32_t i = 0; i < node.n_branches; i++) {
		struct branch *b = &p->branches.items[node.first_branch + i];

		to.offset = node.at.offset + (uint64_t)b->distance;
		b->node = program_node(p, to);
	}
	node.has_looked = true;
	p->nodes.items[number] = node;
}

/* Where one of the records of a branch says that it went. */
static uint32_t sampled_target(struct walk *w, const struct node *node)
{
	const struct branch *b = &w->p->branches.items[node->first_branch];
	uint64_t number = random_below(&w->random, b[node->n_branches - 1].n);

	while (b->n <= number)
		b++;
	return b->node;
}

/* The next instruction; NO_NODE if it is not known. */
static uint32_t next_node(struct walk *w, const struct node *node)
{
	if (node->kind == FLOW_NEXT || node->kind == FLOW_SYSTEM)
		return node->next;
	if (node->kind == FLOW_RETURN && w->n_calls > 0)
		return w->calls[--w->n_calls % MOST_CALLS];
	if (node->kind == FLOW_CALL)
		w->calls[w->n_calls++ % MOST_CALLS] = node->next;
	if (node->n_branches > 0)
		return sampled_target(w, node);
	return node->kind == FLOW_BRANCH ? node->next : node->target;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t whole_cycles(uint64_t sum, uint32_t n)
{
	return n == 0 || sum <= n ? 1 : (sum + n / 2) / n;
}

/* Lines from outside of the core come one after the other. */
static uint64_t line_arrives(const struct walk *w, uint64_t *last, uint64_t at)
{
	return *last = later(at, *last + w->p->cpu.line_gap);
}

/* When a load has its data that misses the L1D now and then, as often as records say. */
static uint64_t load_end(struct walk *w, const struct record_sums *s, uint64_t issue)
{
	uint64_t end;

	if (random_below(&w->random, s->n_hits + s->n_misses) >= s->n_misses)
		return issue + whole_cycles(s->hit_cycles, s->n_hits);
	end = issue + whole_cycles(s->miss_cycles, s->n_misses);
	return 2 * s->n_far >= s->n_misses ? line_arrives(w, &w->last_loaded, end) : end;
}

/* When the instruction has ended, from what its records say. */
static uint64_t end_of(struct walk *w, const struct node *node, uint64_t issue)
{
	const struct isa_registers *r = &node->registers;
	const struct record_sums *s = node->sums;

	if (s == NULL || node->is_store)
		return issue + 1;
	if (s->n_hits + s->n_misses == 0)
		return issue + (s->n_loads > 0 ? w->p->cpu.memory_cycles : 1);
	if (s->n_misses > 0 && r->is_access && r->n_writes > 0)
		return load_end(w, s, issue);
	return issue + whole_cycles(s->hit_cycles + s->miss_cycles, s->n_hits + s->n_misses);
}

/* A store leaves the store buffer after those before it, once its line is there. */
static void add_store(struct walk *w, const struct node *node, uint64_t issue)
{
	const struct record_sums *s = node->sums;
	bool may_miss = s != NULL && s->n_misses > 0;
	uint64_t number = may_miss ? random_below(&w->random, s->n_hits + s->n_misses) : 0;

	w->drained = later(w->drained, w->commit);
	if (may_miss && number < s->n_far)
		w->drained = later(w->drained, line_arrives(w, &w->last_stored,
							    issue + w->p->cpu.memory_cycles));
	else if (may_miss && number < s->n_misses)
		w->drained = later(w->drained, issue + w->p->cpu.l2_cycles);
	w->stores[w->next_store] = w->drained;
	w->next_store = (w->next_store + 1) % STORE_BUFFER;
}

/* The cycle of the commit stage that is over belongs to all that it took. */
static void share_cycle(struct walk *w)
{
	for (size_t i = 0; i < w->taken.n; i++)
		w->p->nodes.items[w->taken.items[i]].cycles += 1.0 / (double)w->taken.n;
	w->taken.n = 0;
}

/* The instruction leaves the window at `end`, or with those before it. */
static void commit(struct walk *w, uint32_t number, uint64_t end)
{
	if (end > w->commit) {
		uint64_t waits = end - w->commit - 1, empty = 0;

		share_cycle(w);
		if (w->flusher != NO_NODE && w->dispatch > w->commit)
			empty = w->dispatch - w->commit;
		empty = empty < waits ? empty : waits;
		if (w->is_counted) {
			w->p->nodes.items[number].cycles += (double)(waits - empty);
			if (empty > 0)
				w->p->nodes.items[w->flusher].cycles += (double)empty;
		}
		w->commit = end;
	}
	if (w->is_counted)
		*vec_add(&w->taken) = number;
	w->window[w->at] = w->commit;
	w->at = w->at + 1 == w->p->cpu.window ? 0 : w->at + 1;
}

static uint64_t dispatch(struct walk *w, const struct node *node)
{
	uint64_t at = later(w->dispatch, later(w->window[w->at], w->fetch));

	if (node->is_store)
		at = later(at, w->stores[w->next_store]);
	w->n_dispatched = at == w->dispatch ? w->n_dispatched + 1 : 1;
	if (w->n_dispatched > w->p->cpu.width) {
		at++;
		w->n_dispatched = 1;
	}
	return w->dispatch = at;
}

static void execute(struct walk *w, uint32_t number)
{
	struct node *node = &w->p->nodes.items[number];
	const struct isa_registers *r = &node->registers;
	uint64_t issue = dispatch(w, node) + ISSUE_CYCLES, end;

	node->n_executed += w->is_counted;
	for (unsigned i = 0; i < r->n_reads; i++)
		issue = later(issue, w->ready[r->reads[i]]);
	end = end_of(w, node, issue);
	for (unsigned i = 0; i < r->n_writes; i++)
		w->ready[r->writes[i]] = r->writes[i] == r->moved ? issue + 1 : end;
	commit(w, number, end);
	if (node->is_store)
		add_store(w, node, issue);
	w->flusher = NO_NODE;
	if (node->sums != NULL && node->sums->n_mispredicted > 0 &&
	    random_below(&w->random, node->sums->n) < node->sums->n_mispredicted) {
		w->fetch = end + w->p->cpu.refill_cycles;
		w->flusher = number;
	}
}

/* The walk begins with an empty core. */
static void walk_reset(struct walk *w)
{
	w->n_calls = 0;
	w->dispatch = w->commit = w->fetch = 0;
	w->last_loaded = w->last_stored = w->drained = 0;
	w->n_dispatched = w->at = w->next_store = 0;
	w->flusher = NO_NODE;
	memset(w->ready, 0, sizeof(w->ready));
	memset(w->stores, 0, sizeof(w->stores));
	memset(w->window, 0, w->p->cpu.window * sizeof(*w->window));
}

static void walk_from(struct walk *w, uint32_t number)
{
	struct program *p = w->p;

	walk_reset(w);
	for (int i = 0; i < LENGTH; i++) {
		w->is_counted = i >= WARM_UP;
		if (!p->nodes.items[number].has_looked)
			look_around(p, number);
		execute(w, number);
		number = next_node(w, &p->nodes.items[number]);
		if (number == NO_NODE && w->n_calls > 0) /* code that is not there was called */
			number = w->calls[--w->n_calls % MOST_CALLS];
		if (number == NO_NODE)
			number = start_at(p, random_below(&w->random, p->n_records));
	}
	share_cycle(w);
}

void program_walk(struct program *p)
{
	struct walk w = { .p = p };

	if (p->n_starts == 0)
		return;
	w.window = mem_alloc(p->cpu.window, sizeof(*w.window));
	for (uint64_t i = 0; i < WALKS; i++)
		walk_from(&w, start_at(p, (2 * i + 1) * p->n_records / (2 * WALKS)));
	vec_release(&w.taken);
	free(w.window);
}
