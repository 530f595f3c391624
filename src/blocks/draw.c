/* SPDX-License-Identifier: Apache-2.0 */
/* The control flow graph for Graphviz. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "blocks/draw.h"
#include "cli/drawing.h"

enum {
	MANY_BLOCKS = 250,
};

static const double drawn_share = 0.95;

/* What blocks are ordered and coloured by: samples, else executions. */
static double heat(const struct cfg *b, const struct block *block)
{
	if (b->n_all > 0)
		return (double)block->n_samples;
	return isnan(block->executions) ? 0 : block->executions;
}

static double all_heat(const struct cfg *b)
{
	double sum = 0;

	for (size_t i = 0; i < b->list.n; i++)
		sum += heat(b, &b->list.items[i]);
	return sum;
}

/* A block by its heat. */
struct heated {
	double heat;
	size_t block;
};

static int heated_compare(const void *left, const void *right)
{
	const struct heated *a = left, *b = right;

	if (a->heat != b->heat)
		return a->heat > b->heat ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

bool *cfg_blocks_to_draw(const struct cfg *b, size_t *out_n)
{
	bool *is_drawn = mem_zalloc(b->list.n + 1, sizeof(*is_drawn));
	struct heated *order = mem_alloc(b->list.n + 1, sizeof(*order));
	double wanted = drawn_share * all_heat(b), sum = 0;

	for (size_t i = 0; i < b->list.n; i++)
		order[i] = (struct heated){ heat(b, &b->list.items[i]), i };
	if (b->list.n > MANY_BLOCKS)
		qsort(order, b->list.n, sizeof(*order), heated_compare);
	*out_n = 0;
	for (size_t i = 0; i < b->list.n && (b->list.n <= MANY_BLOCKS || sum < wanted || i == 0);
	     i++) {
		sum += order[i].heat;
		is_drawn[order[i].block] = true;
		++*out_n;
	}
	free(order);
	return is_drawn;
}

void cfg_line_text(const struct cfg *b, size_t instruction, struct text *out)
{
	const struct symbol *symbol = &b->code->list.items[instruction].symbol;
	const struct symbol_frame *frame;

	if (symbol->n_frames == 0)
		return;
	/* the last frame is the function's own line */
	frame = &symbols_frames(
		b->code->session->symbols)[symbol->first_frame + symbol->n_frames - 1];
	if (frame->line > 0)
		text_format(out, "%s:%u",
			    path_base(strings_get(symbols_strings(b->code->session->symbols),
						  frame->file)),
			    frame->line);
}

static void dot_block(const struct cfg *b, size_t number, double hottest, struct text *out)
{
	const struct block *block = &b->list.items[number];
	struct text line = { 0 };

	text_format(out, "\tb%zu [", number);
	dot_colour(out, hottest <= 0 ? 0 : heat(b, block) / hottest);
	text_format(out, ", label=\"%zu  %#llx\\n%zu instruction%s", number,
		    (unsigned long long)b->code->list.items[block->first].text.address,
		    block->last - block->first + 1, plural(block->last - block->first + 1));
	if (!isnan(block->share))
		text_format(out, "\\n%.1f %% of samples", 100 * block->share);
	if (!isnan(block->executions)) {
		text_str(out, "\\nexecuted ");
		branch_stacks_words(b->stacks, block->executions, block->n_segments, out);
	}
	cfg_line_text(b, block->first, &line);
	if (line.n > 0) {
		text_char(&line, '\0');
		text_str(out, "\\n");
		dot_text(out, line.bytes);
	}
	text_str(out, "\"];\n");
	text_release(&line);
}

/* The way that is mostly taken, unless hardly anything goes there. */
static const double mostly = 0.5, hardly = 0.01;

bool cfg_is_hot_path(const struct cfg *b, const struct block_edge *e)
{
	return block_edge_share(b, e) > mostly && /* false for NAN */
	       (double)e->sum.weight >= hardly * (double)b->most_weight;
}

static void dot_edge(const struct cfg *b, const struct block_edge *e, struct text *out)
{
	text_format(out, "\tb%zu -> ", e->from);
	if (e->to < b->list.n)
		text_format(out, "b%zu", e->to);
	else
		text_format(out, "o%zu", e->outside);
	text_format(out, " [penwidth=%.2f",
		    dot_pen_width(e->sum.n) * (cfg_is_hot_path(b, e) ? 1.5 : 1));
	if (!isnan(e->executions)) {
		text_str(out, ", label=\"");
		branch_stacks_words(b->stacks, e->executions, e->sum.n, out);
		text_str(out, "\"");
	}
	if (e->kind == EDGE_INDIRECT || e->kind == EDGE_UNKNOWN)
		text_str(out, ", style=dashed");
	if (e->is_back)
		text_str(out, ", color=blue, constraint=false");
	text_str(out, "];\n");
}

void cfg_draw_dot(const struct cfg *b, struct text *out)
{
	size_t n_drawn;
	bool *is_drawn = cfg_blocks_to_draw(b, &n_drawn);
	bool *has_edge = mem_zalloc(b->outside.n + 1, sizeof(*has_edge));
	double hottest = 0;

	for (size_t i = 0; i < b->list.n; i++)
		hottest = fmax(hottest, heat(b, &b->list.items[i]));
	text_str(out, "digraph \"");
	dot_text(out, b->code->region->name);
	text_str(out, "\" {\n\tnode [shape=box, style=filled, colorscheme=ylorrd9, "
		      "fontname=monospace];\n");
	if (n_drawn < b->list.n)
		text_format(out, "\tlabel=\"%zu of %zu blocks, which have 95 %% of the cost\";\n",
			    n_drawn, b->list.n);
	for (size_t i = 0; i < b->list.n; i++)
		if (is_drawn[i])
			dot_block(b, i, hottest, out);
	for (size_t i = 0; i < b->edges.n; i++) {
		const struct block_edge *e = &b->edges.items[i];

		if (!is_drawn[e->from] || (e->to < b->list.n && !is_drawn[e->to]))
			continue;
		has_edge[e->to < b->list.n ? b->outside.n : e->outside] = true;
		dot_edge(b, e, out);
	}
	for (size_t i = 0; i < b->outside.n; i++) {
		if (!has_edge[i])
			continue;
		text_format(out, "\to%zu [shape=ellipse, style=solid, label=\"", i);
		dot_text(out, b->outside.items[i]);
		text_str(out, "\"];\n");
	}
	text_str(out, "}\n");
	free(has_edge);
	free(is_drawn);
}
