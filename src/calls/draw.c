/* SPDX-License-Identifier: Apache-2.0 */
/* The call graph, for Graphviz and for a terminal. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "calls/calls.h"
#include "cli/drawing.h"
#include "table/human.h"

enum {
	DRAWN_FUNCTIONS = 50,
	MANY_CALLERS = 50,  /* a function with more of them … */
	DRAWN_CALLERS = 12, /* … is drawn with so many */
};

/* Calls from one function to another, of all sites. */
struct drawn_call {
	uint32_t caller, callee;
	uint64_t n;
	double calls;
	bool by_jump;
};

struct drawing {
	const struct calls *calls;
	bool *is_drawn;	    /* by function */
	struct tuples keys; /* caller, callee */
	VEC_OF(struct drawn_call) list;
};

/* A function by its calls. */
struct ranked {
	uint64_t n;
	uint32_t function;
};

static int ranked_compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static int drawn_compare(const void *left, const void *right)
{
	const struct drawn_call *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

static void choose_functions(struct drawing *d)
{
	const struct calls *c = d->calls;
	struct ranked *ranked = mem_alloc(c->functions.n + 1, sizeof(*ranked));

	d->is_drawn = mem_zalloc(c->functions.n + 1, sizeof(*d->is_drawn));
	for (size_t i = 0; i < c->functions.n; i++)
		ranked[i] =
			(struct ranked){ c->functions.items[i].n_in + c->functions.items[i].n_out,
					 (uint32_t)i };
	qsort(ranked, c->functions.n, sizeof(*ranked), ranked_compare);
	for (size_t i = 0; i < c->functions.n && i < DRAWN_FUNCTIONS && ranked[i].n > 0; i++)
		d->is_drawn[ranked[i].function] = true;
	free(ranked);
}

static void drawing_init(struct drawing *d, const struct calls *c)
{
	*d = (struct drawing){ .calls = c };
	tuples_init(&d->keys, 2);
	choose_functions(d);
	for (size_t i = 0; i < c->list.n; i++) {
		const struct call *call = &c->list.items[i];
		const uint64_t key[] = { call->caller, call->callee };
		struct drawn_call *drawn;
		uint32_t number;

		if (!d->is_drawn[call->caller] || !d->is_drawn[call->callee])
			continue;
		number = tuples_add(&d->keys, key);
		if (number == d->list.n)
			*vec_add(&d->list) = (struct drawn_call){ .caller = call->caller,
								  .callee = call->callee,
								  .by_jump = true };
		drawn = &d->list.items[number];
		drawn->n += call->returns.n;
		drawn->calls += calls_of(c, call);
		drawn->by_jump &= call->via != NULL;
	}
	if (d->list.n > 1)
		qsort(d->list.items, d->list.n, sizeof(*d->list.items), drawn_compare);
}

static void drawing_release(struct drawing *d)
{
	tuples_release(&d->keys);
	vec_release(&d->list);
	free(d->is_drawn);
}

/* Takes calls that are not among the first callers of a function with very many off the list. */
static void thin_out_callers(struct drawing *d)
{
	uint32_t *n_callers = mem_zalloc(d->calls->functions.n + 1, sizeof(*n_callers));
	uint32_t *n_kept = mem_zalloc(d->calls->functions.n + 1, sizeof(*n_kept));
	size_t kept = 0;

	for (size_t i = 0; i < d->list.n; i++)
		n_callers[d->list.items[i].callee]++;
	for (size_t i = 0; i < d->list.n; i++) {
		uint32_t callee = d->list.items[i].callee;

		if (n_callers[callee] <= MANY_CALLERS || n_kept[callee]++ < DRAWN_CALLERS)
			d->list.items[kept++] = d->list.items[i];
	}
	d->list.n = kept;
	free(n_callers);
	free(n_kept);
}

static void add_count(const struct calls *c, const struct drawn_call *drawn, struct text *out)
{
	const struct cell records = cell_count(drawn->n);
	const struct cell calls = calls_cell(c, drawn->calls, drawn->n);

	if (isnan(drawn->calls)) {
		human_words(out, &records, "records");
		return;
	}
	human_words(out, &calls, "");
	text_str(out, mark_sign(calls.mark));
}

static double most_calls(const struct calls *c)
{
	uint64_t most = 1;

	for (size_t i = 0; i < c->functions.n; i++)
		most = c->functions.items[i].n_in > most ? c->functions.items[i].n_in : most;
	return (double)most;
}

void calls_draw_dot(const struct calls *c, struct text *out)
{
	double most = most_calls(c);
	struct drawing d;

	drawing_init(&d, c);
	thin_out_callers(&d);
	text_str(out,
		 "digraph calls {\n\tnode [shape=ellipse, style=filled, colorscheme=ylorrd9];\n");
	for (size_t i = 0; i < c->functions.n; i++) {
		double heat = (double)c->functions.items[i].n_in / most;

		if (!d.is_drawn[i])
			continue;
		text_format(out, "\tf%zu [", i);
		dot_colour(out, heat);
		text_str(out, ", label=\"");
		dot_text(out, c->functions.items[i].name);
		text_str(out, "\"];\n");
	}
	for (size_t i = 0; i < d.list.n; i++) {
		const struct drawn_call *drawn = &d.list.items[i];

		text_format(out, "\tf%u -> f%u [penwidth=%.2f%s, label=\"", drawn->caller,
			    drawn->callee, dot_pen_width(drawn->n),
			    drawn->by_jump ? ", style=dashed" : "");
		add_count(c, drawn, out);
		text_str(out, "\"];\n");
	}
	text_str(out, "}\n");
	drawing_release(&d);
}

void calls_draw_text(const struct calls *c, bool has_unicode, struct text *out)
{
	struct drawing d;

	drawing_init(&d, c);
	thin_out_callers(&d);
	for (size_t i = 0; i < d.list.n; i++) {
		const struct drawn_call *drawn = &d.list.items[i];

		text_format(out, "%s %s %s  ", c->functions.items[drawn->caller].name,
			    has_unicode ? (drawn->by_jump ? "╌╌►" : "──►")
					: (drawn->by_jump ? "..>" : "-->"),
			    c->functions.items[drawn->callee].name);
		add_count(c, drawn, out);
		text_char(out, '\n');
	}
	if (c->is_spe)
		text_format(out, "%s   %s\n",
			    mark_meaning(c->interval.lost.is_unknown ? MARK_AT_LEAST : MARK_SCALED),
			    mark_meaning(MARK_SPARSE));
	else
		branch_stacks_legend(&c->stacks, out);
	drawing_release(&d);
}
