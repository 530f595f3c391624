/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control flow graph for a terminal: blocks in the order of their addresses, jumps as arrows in lanes left of
 * them.
 *
 *	 ┏━━►[1]  0x1957  2  7.0 %  73.6 M
 *	╭╂───      ⇓ 100 %  → [4] 0 %
 *	│┃   [2]  0x1964  8  13.4 %  76.8 M
 *	│┗━━       ↑ [1] 99 %, loop  ↓ 1 %
 *	│    [3] …
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/lanes.h"
#include "base/alloc.h"
#include "blocks/draw.h"
#include "table/format.h"

enum {
	ROOM = 64,	 /* columns that the text of a block should have */
	LEAST_LANES = 4, /* even if that is too narrow for it */
	MOST_LANES = 14, /* more cannot be followed by eye */
	NAMED_EDGES = 4, /* that are named at the end of a block */
};

enum cell_of_row {
	ROW_NUMBER,
	ROW_START,
	ROW_INSTRUCTIONS,
	ROW_SHARE,
	ROW_EXECUTED,
	ROW_LINES,
	N_ROW_CELLS
};

static const char *const row_heads[N_ROW_CELLS] = { "",	    "start",	  "instr.",
						    "self", "executions", "line" };

/* A block that is drawn, and the rows where it begins and where it goes on to others. */
struct drawn_block {
	char *cells[N_ROW_CELLS];
	size_t head, tail; /* rows; equal: it goes nowhere */
};

struct text_drawing {
	const struct cfg *cfg;
	bool *is_drawn;
	size_t n_drawn;
	bool has_unicode;
	struct drawn_block *blocks; /* by block */
	size_t widths[N_ROW_CELLS];
	lane_arrows arrows;
	size_t n_rows;
	const char **lanes; /* by row */
	struct arena memory;
};

/* Cuts what stands behind `start` to the width, and ends the line. */
static void end_line(struct text *out, size_t start, unsigned width)
{
	size_t columns = 0, at = start;

	for (; at < out->n; at++) {
		bool is_first = ((unsigned char)out->bytes[at] & 0xc0) != 0x80;

		if (is_first && columns == width)
			break;
		columns += is_first;
	}
	while (at > start && out->bytes[at - 1] == ' ')
		at--;
	out->n = at;
	text_char(out, '\n');
}

static char *take(struct text_drawing *d, struct text *text)
{
	char *copy = arena_strndup(&d->memory, text->n > 0 ? text->bytes : "", text->n);

	text_reset(text);
	return copy;
}

static void make_cells(struct text_drawing *d, size_t number)
{
	const struct cfg *b = d->cfg;
	const struct block *block = &b->list.items[number];
	char **cells = d->blocks[number].cells;
	struct text text = { 0 };

	text_format(&text, "[%zu]", number);
	cells[ROW_NUMBER] = take(d, &text);
	text_hex(&text, b->code->list.items[block->first].text.address);
	cells[ROW_START] = take(d, &text);
	text_u64(&text, block->last - block->first + 1);
	cells[ROW_INSTRUCTIONS] = take(d, &text);
	if (!isnan(block->share))
		text_format(&text, "%.1f %%", 100 * block->share);
	cells[ROW_SHARE] = take(d, &text);
	if (!isnan(block->executions))
		branch_stacks_words(b->stacks, block->executions, block->n_segments, &text);
	cells[ROW_EXECUTED] = take(d, &text);
	cfg_line_text(b, block->first, &text);
	cells[ROW_LINES] = take(d, &text);
	for (size_t i = 0; i < N_ROW_CELLS; i++) {
		size_t width = display_width(cells[i]);

		d->widths[i] = width > d->widths[i] ? width : d->widths[i];
	}
	text_release(&text);
}

/* Gives rows to the blocks: one where it begins, one for where it goes. */
static void place_rows(struct text_drawing *d)
{
	const struct cfg *b = d->cfg;

	for (size_t i = 0; i < b->list.n; i++) {
		struct drawn_block *drawn = &d->blocks[i];

		if (!d->is_drawn[i]) {
			/* a row stands for all neighbours that are not drawn */
			d->n_rows += i == 0 || d->is_drawn[i - 1];
			continue;
		}
		make_cells(d, i);
		drawn->head = drawn->tail = d->n_rows++;
		if (cfg_first_edge(b, i) < cfg_first_edge(b, i + 1))
			drawn->tail = d->n_rows++;
	}
	for (size_t i = 0; i < N_ROW_CELLS; i++) {
		size_t width = strlen(row_heads[i]);

		if (d->widths[i] > 0)
			d->widths[i] = width > d->widths[i] ? width : d->widths[i];
	}
}

static void place_arrows(struct text_drawing *d)
{
	const struct cfg *b = d->cfg;

	for (size_t i = 0; i < b->edges.n; i++) {
		const struct block_edge *e = &b->edges.items[i];

		if (e->kind == EDGE_NEXT || e->to == b->list.n || !d->is_drawn[e->from] ||
		    !d->is_drawn[e->to])
			continue;
		*vec_add(&d->arrows) = (struct lane_arrow){
			.from = d->blocks[e->from].tail,
			.to = d->blocks[e->to].head,
			.group = e->to,
			.weight = (double)e->sum.weight,
			.style = e->kind == EDGE_INDIRECT ? LANE_DASHED
				 : cfg_is_hot_path(b, e)  ? LANE_HEAVY
							  : LANE_LIGHT,
		};
	}
}

static void add_share(const struct cfg *b, const struct block_edge *e, struct text *out)
{
	double share = block_edge_share(b, e);

	if (!isnan(share))
		text_format(out, " %.0f %%", 100 * share);
}

/* "→ [9] 69 %, 2.1 % mispredicted": an edge that is no fall-through. */
static void add_taken(const struct text_drawing *d, const struct block_edge *e, struct text *out)
{
	const struct cfg *b = d->cfg;

	text_str(out,
		 e->is_back ? (d->has_unicode ? "↑ " : "^ ") : (d->has_unicode ? "→ " : "-> "));
	if (e->to < b->list.n)
		text_format(out, "[%zu]", e->to);
	else
		text_str(out, b->outside.items[e->outside]);
	add_share(b, e, out);
	if (e->sum.n_mispredicted > 0)
		text_format(out, ", %.1f %% mispredicted",
			    100 * (double)e->sum.n_mispredicted / (double)e->sum.n_told);
	text_str(out, e->is_back ? ", loop  " : "  ");
}

static int compare_edges(const void *left, const void *right)
{
	const struct block_edge *const *a = left, *const *b = right;

	if ((*a)->sum.weight != (*b)->sum.weight)
		return (*a)->sum.weight > (*b)->sum.weight ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* Where a block goes: what it runs into, then the others, the commonest first. */
static void add_ways(const struct text_drawing *d, size_t block, struct text *out)
{
	const struct cfg *b = d->cfg;
	size_t first = cfg_first_edge(b, block), end = cfg_first_edge(b, block + 1), n = 0;
	const struct block_edge **others =
		mem_alloc(end - first + 1, sizeof(const struct block_edge *));

	for (size_t i = first; i < end; i++) {
		const struct block_edge *e = &b->edges.items[i];
		bool is_hot = cfg_is_hot_path(b, e);

		if (e->kind != EDGE_NEXT) {
			others[n++] = e;
			continue;
		}
		text_str(out, d->has_unicode ? (is_hot ? "⇓" : "↓") : (is_hot ? "V" : "v"));
		add_share(b, e, out);
		text_str(out, "  ");
	}
	if (n > 1)
		qsort(others, n, sizeof(const struct block_edge *), compare_edges);
	for (size_t i = 0; i < n && i < NAMED_EDGES; i++)
		add_taken(d, others[i], out);
	if (n > NAMED_EDGES)
		text_format(out, "and %zu others", n - NAMED_EDGES);
	free(others);
}

static void add_cells(const struct text_drawing *d, const char *const *cells, struct text *out)
{
	for (size_t i = 0; i < N_ROW_CELLS; i++) {
		size_t used = display_width(cells[i]);
		size_t blanks = d->widths[i] > used ? d->widths[i] - used : 0;
		bool is_left = i == ROW_NUMBER || i == ROW_LINES;

		if (d->widths[i] == 0)
			continue;
		text_repeat(out, ' ', is_left ? 0 : blanks);
		text_str(out, cells[i]);
		text_repeat(out, ' ', (is_left ? blanks : 0) + 2);
	}
}

static void draw_rows(const struct text_drawing *d, unsigned width, struct text *out)
{
	const struct cfg *b = d->cfg;
	size_t start = out->n, n_hidden = 0;

	text_repeat(out, ' ', d->n_rows > 0 ? display_width(d->lanes[0]) : 0);
	add_cells(d, row_heads, out);
	end_line(out, start, width);
	for (size_t i = 0, row = 0; i < b->list.n; i++) {
		const struct drawn_block *drawn = &d->blocks[i];

		n_hidden += !d->is_drawn[i];
		if (!d->is_drawn[i] && i + 1 < b->list.n && !d->is_drawn[i + 1])
			continue;
		start = out->n;
		text_str(out, d->lanes[row++]);
		if (!d->is_drawn[i]) {
			text_format(out, "%s %zu block%s", d->has_unicode ? "…" : "...", n_hidden,
				    plural(n_hidden));
			n_hidden = 0;
		} else {
			add_cells(d, (const char *const *)drawn->cells, out);
		}
		end_line(out, start, width);
		if (drawn->tail == drawn->head)
			continue;
		start = out->n;
		text_str(out, d->lanes[row++]);
		text_repeat(out, ' ', d->widths[ROW_NUMBER] + 2);
		add_ways(d, i, out);
		end_line(out, start, width);
	}
}

/* What the signs mean, of those that are there. */
static void draw_legend(const struct text_drawing *d, struct text *out)
{
	const struct cfg *b = d->cfg;
	size_t n_without = 0;
	bool has_heavy = false, has_dashed = false, has_back = false;

	for (size_t i = 0; i < d->arrows.n; i++) {
		n_without += !d->arrows.items[i].is_drawn;
		has_heavy |= d->arrows.items[i].style == LANE_HEAVY;
		has_dashed |= d->arrows.items[i].style == LANE_DASHED;
	}
	for (size_t i = 0; i < b->edges.n; i++) {
		has_back |= b->edges.items[i].is_back;
		has_heavy |= b->edges.items[i].kind == EDGE_NEXT &&
			     cfg_is_hot_path(b, &b->edges.items[i]);
	}
	if (has_heavy)
		text_str(out, d->has_unicode ? "━ ⇓ mostly taken   " : "= V mostly taken   ");
	if (has_dashed)
		text_str(out, d->has_unicode ? "╌ indirect   " : ". indirect   ");
	if (has_back)
		text_str(out, d->has_unicode ? "↑ closes a loop" : "^ closes a loop");
	if (has_heavy || has_dashed || has_back)
		text_char(out, '\n');
	if (b->stacks != NULL)
		branch_stacks_legend(b->stacks, out);
	if (n_without > 0)
		text_format(out,
			    "%zu of %zu jumps have no arrow: too many cross; the numbers say where "
			    "they go\n",
			    n_without, d->arrows.n);
	if (d->n_drawn < b->list.n)
		text_format(out, "%zu of %zu blocks are drawn, which have 95 %% of the cost\n",
			    d->n_drawn, b->list.n);
}

void cfg_draw_text(const struct cfg *b, unsigned width, bool has_unicode, struct text *out)
{
	struct text_drawing d = { .cfg = b, .has_unicode = has_unicode };
	unsigned room = width > ROOM + LEAST_LANES ? width - ROOM : LEAST_LANES;
	unsigned most = room < MOST_LANES ? room : MOST_LANES;
	size_t start = out->n;

	d.is_drawn = cfg_blocks_to_draw(b, &d.n_drawn);
	d.blocks = mem_zalloc(b->list.n + 1, sizeof(*d.blocks));
	place_rows(&d);
	place_arrows(&d);
	d.lanes = lanes_draw(&d.arrows, d.n_rows, most, has_unicode, &d.memory);
	text_format(out, "%s   %zu block%s   %zu loop%s", b->code->region->name, b->list.n,
		    plural(b->list.n), b->loops.n, plural(b->loops.n));
	end_line(out, start, width);
	draw_rows(&d, width, out);
	draw_legend(&d, out);
	vec_release(&d.arrows);
	arena_release(&d.memory);
	free(d.blocks);
	free(d.is_drawn);
}
