/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "blocks/tables.h"
#include "branch_stacks/instructions.h"
#include "cycles/tree/node_table.h"
#include "estimate/shares.h"
#include "session/names.h"
#include "table/answer.h"

enum blocks_column {
	BLOCKS_COL_FUNCTION,
	BLOCKS_COL_BLOCK,
	BLOCKS_COL_START,
	BLOCKS_COL_END,
	BLOCKS_COL_INSTRUCTIONS,
	BLOCKS_COL_TAKEN,
	BLOCKS_COL_NEXT,
	BLOCKS_COL_SHARE,
	BLOCKS_COL_EXEC,
	BLOCKS_COL_EXEC_SHARE,
	BLOCKS_COL_CYCLES,
	BLOCKS_COL_FILE,
	BLOCKS_COL_LINE,
	BLOCKS_COL_LAST_LINE,
	BLOCKS_COL_INLINED,
	BLOCKS_COL_BALANCE,
	BLOCKS_COL_TO,
	BLOCKS_N_COLS,
};

static const struct column block_columns[BLOCKS_N_COLS] = {
	[BLOCKS_COL_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				  "function that the block is of" },
	[BLOCKS_COL_BLOCK] = { "block", NULL, "", CELL_COUNT, 0, "number of the block" },
	[BLOCKS_COL_START] = { "start", NULL, "", CELL_HEX, 0,
			       "address of its first instruction in the module's file" },
	[BLOCKS_COL_END] = { "end", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			     "address behind its last instruction" },
	[BLOCKS_COL_INSTRUCTIONS] = { "instructions", "instr.", "", CELL_COUNT, 0,
				      "instructions in it" },
	[BLOCKS_COL_TAKEN] = { "succ_taken", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			       "block that its branch goes to, or the name of what is outside" },
	[BLOCKS_COL_NEXT] = { "succ_next", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			      "block that it runs into" },
	[BLOCKS_COL_SHARE] = { "share", "self", "", CELL_NUMBER,
			       COLUMN_BAR | COLUMN_SHARE | COLUMN_TRUST,
			       "its part of the function's samples, of the event there are most "
			       "of" },
	[BLOCKS_COL_EXEC] = { "exec", "executions", "executions", CELL_NUMBER, COLUMN_TRUST,
			      "how often it ran, by branch stacks" },
	[BLOCKS_COL_EXEC_SHARE] = { "exec_share", "of instr.", "", CELL_NUMBER, COLUMN_SHARE,
				    "its part of the instructions that the function ran" },
	[BLOCKS_COL_CYCLES] = { "cycles_per_exec", "cycles each", "", CELL_NUMBER, COLUMN_TRUST,
				"cycles that were sampled in it, for each execution" },
	[BLOCKS_COL_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			      "source file of its first instruction" },
	[BLOCKS_COL_LINE] = { "line", NULL, "", CELL_COUNT, 0,
			      "source line of its first instruction, in the function itself" },
	[BLOCKS_COL_LAST_LINE] = { "last_line", "to", "", CELL_COUNT, 0,
				   "source line of its last instruction" },
	[BLOCKS_COL_INLINED] = { "inlined", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				 "functions that its hottest instruction was inlined from" },
	[BLOCKS_COL_BALANCE] = { "imbalance", NULL, "", CELL_NUMBER,
				 COLUMN_SHARE | COLUMN_MACHINE_ONLY,
				 "how much of what enters it does not leave it, or the reverse, by "
				 "recorded edges" },
	[BLOCKS_COL_TO] = { "to", "goes to", "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_GROW,
			    "where execution goes, with the part that does" },
};

enum edges_column {
	EDGES_COL_FROM,
	EDGES_COL_TO,
	EDGES_COL_NAME,
	EDGES_COL_KIND,
	EDGES_COL_COUNT,
	EDGES_COL_SHARE,
	EDGES_COL_MISPREDICTED,
	EDGES_COL_BACK,
	EDGES_N_COLS,
};

static const struct column edge_columns[EDGES_N_COLS] = {
	[EDGES_COL_FROM] = { "from_block", "from", "", CELL_COUNT, 0, "block that it leaves" },
	[EDGES_COL_TO] = { "to_block", "to", "", CELL_COUNT, 0,
			   "block that it enters; absent: outside of the function" },
	[EDGES_COL_NAME] = { "to_name", "outside", "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK,
			     "what it enters outside of the function" },
	[EDGES_COL_KIND] = { "kind", NULL, "", CELL_TEXT, 0,
			     "taken, next, indirect, or unknown: an indirect jump without "
			     "records" },
	[EDGES_COL_COUNT] = { "count", "executions", "executions", CELL_NUMBER, COLUMN_TRUST,
			      "how often it was taken, by branch stacks" },
	[EDGES_COL_SHARE] = { "share", "of block", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			      "part of the executions of its block" },
	[EDGES_COL_MISPREDICTED] = { "mispredicted", NULL, "", CELL_NUMBER, COLUMN_SHARE,
				     "part of the recorded branches that were mispredicted" },
	[EDGES_COL_BACK] = { "is_back", "loop", "", CELL_BOOL, 0, "it closes a loop" },
};

enum loops_column {
	LOOPS_COL_HEAD,
	LOOPS_COL_LAST,
	LOOPS_COL_START,
	LOOPS_COL_LINE,
	LOOPS_COL_EXEC,
	LOOPS_COL_ENTRIES,
	LOOPS_COL_TRIPS,
	LOOPS_N_COLS,
};

static const struct column loop_columns[LOOPS_N_COLS] = {
	[LOOPS_COL_HEAD] = { "head", NULL, "", CELL_COUNT, 0, "block that it begins with" },
	[LOOPS_COL_LAST] = { "last", NULL, "", CELL_COUNT, 0, "last block that goes back" },
	[LOOPS_COL_START] = { "start", NULL, "", CELL_HEX, 0, "address of the head" },
	[LOOPS_COL_LINE] = { "line", NULL, "", CELL_COUNT, 0, "source line of the head" },
	[LOOPS_COL_EXEC] = { "exec", "executions", "executions", CELL_NUMBER, COLUMN_TRUST,
			     "how often the head ran" },
	[LOOPS_COL_ENTRIES] = { "entries", NULL, "executions", CELL_NUMBER, COLUMN_TRUST,
				"how often it was entered from outside" },
	[LOOPS_COL_TRIPS] = { "trips", NULL, "", CELL_NUMBER, COLUMN_TRUST,
			      "executions of the head for each time it was entered" },
};

enum segments_column {
	SEGMENTS_COL_START,
	SEGMENTS_COL_END,
	SEGMENTS_COL_BLOCK,
	SEGMENTS_COL_LINE,
	SEGMENTS_COL_INSTRUCTIONS,
	SEGMENTS_COL_N,
	SEGMENTS_COL_EXEC,
	SEGMENTS_COL_TIMED,
	SEGMENTS_COL_P50,
	SEGMENTS_COL_P90,
	SEGMENTS_COL_P99,
	SEGMENTS_N_COLS,
};

static const struct column segment_columns[SEGMENTS_N_COLS] = {
	[SEGMENTS_COL_START] = { "start", NULL, "", CELL_HEX, 0, "address that was branched to" },
	[SEGMENTS_COL_END] = { "end", NULL, "", CELL_HEX, 0, "address of the next taken branch" },
	[SEGMENTS_COL_BLOCK] = { "block", NULL, "", CELL_COUNT, 0, "block that it begins in" },
	[SEGMENTS_COL_LINE] = { "line", NULL, "", CELL_COUNT, 0, "source line of its start" },
	[SEGMENTS_COL_INSTRUCTIONS] = { "instructions", "instr.", "", CELL_COUNT, 0,
					"instructions in it" },
	[SEGMENTS_COL_N] = { "records", NULL, "segments", CELL_COUNT, COLUMN_MACHINE_ONLY,
			     "how often it was recorded" },
	[SEGMENTS_COL_EXEC] = { "exec", "executions", "executions", CELL_NUMBER, COLUMN_TRUST,
				"how often it ran from end to end" },
	[SEGMENTS_COL_TIMED] = { "timed", NULL, "segments", CELL_COUNT, COLUMN_MACHINE_ONLY,
				 "records with a duration" },
	[SEGMENTS_COL_P50] = { "cycles_p50", "p50", "cycles", CELL_COUNT, COLUMN_TRUST,
			       "median duration" },
	[SEGMENTS_COL_P90] = { "cycles_p90", "p90", "cycles", CELL_COUNT, COLUMN_TRUST,
			       "9 of 10 are not longer" },
	[SEGMENTS_COL_P99] = { "cycles_p99", "p99", "cycles", CELL_COUNT, COLUMN_TRUST,
			       "99 of 100 are not longer" },
};

enum { TIMED_FOR_P99 = 1000 };

/* The line of an instruction in the function itself: the last frame of its inline chain. */
static const struct symbol_frame *frame_of(const struct cfg *b, size_t instruction)
{
	const struct symbol *s = &b->code->list.items[instruction].symbol;
	const struct symbol_frame *frames = symbols_frames(b->code->session->symbols);

	return s->n_frames == 0 ? NULL : &frames[s->first_frame + s->n_frames - 1];
}

static struct cell line_cell(const struct cfg *b, size_t instruction)
{
	const struct symbol_frame *frame = frame_of(b, instruction);

	if (frame == NULL || frame->line == 0)
		return (struct cell){ 0 };
	return cell_count(frame->line);
}

static struct cell executions_cell(const struct cfg *b, double executions, uint64_t n)
{
	if (b->stacks == NULL)
		return (struct cell){ 0 };
	return branch_stacks_cell(b->stacks, executions, n);
}

/* "first ← second": the inlined functions at the hottest instruction, innermost first. */
static struct cell inlined_cell(const struct cfg *b, const struct block *block, struct table *t)
{
	size_t hottest = block->first;
	uint64_t most = 0;
	const struct symbol *s;
	struct text text = { 0 };
	struct cell cell;

	for (size_t i = block->first; i <= block->last; i++) {
		uint64_t n = b->event < 0 ? annotated_count(b->code, i, COUNT_RECORDS)
					  : annotated_count_of(b->code, i, COUNT_SAMPLES,
							       (uint64_t)b->event);

		hottest = n > most ? i : hottest;
		most = n > most ? n : most;
	}
	s = &b->code->list.items[hottest].symbol;
	for (uint32_t i = 0; i + 1 < s->n_frames; i++) {
		const struct symbol_frame *frame =
			&symbols_frames(b->code->session->symbols)[s->first_frame + i];

		text_format(
			&text, "%s%s", i > 0 ? " < " : "",
			strings_get(symbols_strings(b->code->session->symbols), frame->function));
	}
	if (text.n > 0)
		text_char(&text, '\0');
	cell = table_text_cell(t, text.n > 0 ? text.bytes : NULL);
	text_release(&text);
	return cell;
}

static void name_edge(const struct cfg *b, const struct block_edge *e, struct text *out)
{
	if (e->to < b->list.n)
		text_format(out, "%zu", e->to);
	else
		text_str(out, b->outside.items[e->outside]);
}

static void show_edges_of(const struct cfg *b, size_t block, struct table *t, struct cell *cells)
{
	size_t first = cfg_first_edge(b, block), end = cfg_first_edge(b, block + 1);
	struct text text = { 0 };

	block_successors(b, block, &text);
	if (text.n > 0) {
		text_char(&text, '\0');
		cells[BLOCKS_COL_TO] = cell_text(table_text(t, text.bytes));
	}
	text_reset(&text);
	for (size_t i = first; i < end; i++) {
		const struct block_edge *e = &b->edges.items[i];

		if (e->kind == EDGE_NEXT) {
			cells[BLOCKS_COL_NEXT] = cell_count(e->to);
		} else if (e->kind != EDGE_UNKNOWN) {
			text_str(&text, text.n > 0 ? ":" : "");
			name_edge(b, e, &text);
		}
	}
	if (text.n > 0) {
		text_char(&text, '\0');
		cells[BLOCKS_COL_TAKEN] = cell_text(table_text(t, text.bytes));
	}
	text_release(&text);
}

/* Cycles of the block by samples, if an event of the capture counts them. */
static struct cell cycles_cell(const struct cfg *b, const struct block *block)
{
	const struct session *s = b->code->session;

	if (b->stacks == NULL || isnan(block->executions) || block->executions <= 0)
		return (struct cell){ 0 };
	for (size_t event = 0; event < capture_n_events(s->capture); event++) {
		uint64_t n = block_samples(b, block, (int)event);

		if (stack_trigger_of(s, event, NULL) != TRIGGER_CYCLES ||
		    annotation_count_of(b->code, COUNT_SAMPLES, event) == 0)
			continue;
		return branch_stacks_cell(
			b->stacks, (double)block_periods(b, block, event) / block->executions,
			n < block->n_segments ? n : block->n_segments);
	}
	return (struct cell){ 0 };
}

static double all_instructions(const struct cfg *b)
{
	double sum = 0;

	for (size_t i = 0; i < b->list.n; i++)
		for (size_t k = b->list.items[i].first; k <= b->list.items[i].last; k++)
			sum += (double)b->executions.runs[k].weight;
	return sum;
}

/* The block's part of the instructions that the function ran; NAN: it ran none. */
static double exec_share(const struct cfg *b, const struct block *block, double all)
{
	double sum = 0;

	for (size_t k = block->first; k <= block->last; k++)
		sum += (double)b->executions.runs[k].weight;
	return all > 0 ? sum / all : NAN;
}

/* "samples_" and the event's name, with an underscore for what is no letter or digit. */
static const char *samples_column_name(struct table *t, const char *event)
{
	char *name = (char *)(uintptr_t)table_format(t, "samples_%s", event);

	for (char *c = name; *c != '\0'; c++)
		*c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
	return name;
}

/* Adds a column for each event that was sampled in the function. Returns how many. */
static size_t add_event_columns(const struct cfg *b, struct table *t, struct column *columns,
				size_t *events)
{
	const struct capture *c = b->code->session->capture;
	size_t n = 0;

	for (size_t event = 0; event < capture_n_events(c); event++) {
		struct column column = { NULL,
					 NULL,
					 "samples",
					 CELL_COUNT,
					 COLUMN_MACHINE_ONLY,
					 "samples of this event" };

		if (annotation_count_of(b->code, COUNT_SAMPLES, event) == 0)
			continue;
		column.name = samples_column_name(t, capture_event_name(c, event));
		t->n_columns = columns_add(columns, t->n_columns, &column);
		if (t->n_columns == BLOCKS_N_COLS + n + 1)
			events[n++] = event;
	}
	return n;
}

/* The branches at the top of the tree, and all stalled cycles: those that say anything of the function. */
static bool has_cost_column(const struct cycle_ranges *costs, size_t node)
{
	const struct cycle_node *n = &costs->tree->nodes[node];
	bool is_stalled = (int)node == costs->tree->stalled;

	return (is_stalled || (n->parent == NO_NODE && n->title != NULL)) &&
	       cycle_range_values(costs, costs->n)[node].state == CYCLE_MEASURED;
}

/*
 * Adds a column for the cycles of the block, the first of `nodes`, and one for each of those nodes. Returns how
 * many.
 */
static size_t add_cost_columns(const struct cycle_ranges *costs, struct table *t,
			       struct column *columns, int *nodes)
{
	static const struct column cycles = {
		"cycle_share",
		"cycles",
		"",
		CELL_NUMBER,
		COLUMN_SHARE | COLUMN_TRUST,
		"its part of the function's unhalted cycles, for cycle accounting",
	};
	size_t n = 0;

	t->n_columns = columns_add(columns, t->n_columns, &cycles);
	nodes[n++] = costs->tree->cycles;
	for (size_t i = 0; i < costs->tree->n_nodes; i++) {
		bool is_stalled = (int)i == costs->tree->stalled;
		struct column column = {
			.unit = "",
			.type = CELL_NUMBER,
			.flags = COLUMN_SHARE | COLUMN_TRUST,
			.meaning = "cycles of this node of the tree of cycle accounting, of the "
				   "block's cycles",
		};

		if (!has_cost_column(costs, i))
			continue;
		column.name = table_format(t, "cost_%s",
					   is_stalled ? "stalled" : costs->tree->nodes[i].name);
		column.title = is_stalled ? "stalled" : costs->tree->nodes[i].title;
		t->n_columns = columns_add(columns, t->n_columns, &column);
		nodes[n++] = (int)i;
	}
	return n;
}

/* `is_text`: "-" is a difference of samples, which says nothing of so few. */
static struct cell cost_cell(const struct cycle_ranges *costs, size_t block, int node, bool is_text)
{
	const struct cycle_value *v = &cycle_range_values(costs, block)[node];
	/* cycles are a part of the function's, others of the block's */
	size_t whole = node == costs->tree->cycles ? costs->n : block;
	const struct cycle_value *cycles = &cycle_range_values(costs, whole)[costs->tree->cycles];

	if (v->state == CYCLE_TOO_FINE)
		return is_text ? cell_text("-") : (struct cell){ 0 };
	if (v->state != CYCLE_MEASURED || cycles->state != CYCLE_MEASURED || cycles->cycles <= 0)
		return is_text ? cell_text("·") : (struct cell){ 0 };
	return cell_marked(cell_number(v->cycles / cycles->cycles), node_mark(v));
}

static void fill_blocks(const struct cfg *b, const struct cycle_ranges *costs, bool is_text,
			struct table *t)
{
	size_t most = capture_n_events(b->code->session->capture), n_costs = 0;
	size_t *events = mem_alloc(most + 1, sizeof(*events));
	int *nodes = mem_alloc(costs != NULL ? costs->tree->n_nodes + 1 : 1, sizeof(*nodes));
	struct column *columns =
		table_own_columns(t, most + (costs != NULL ? costs->tree->n_nodes : 0));
	size_t n_events = add_event_columns(b, t, columns, events);
	double all = b->stacks == NULL ? 0 : all_instructions(b);

	if (costs != NULL)
		n_costs = add_cost_columns(costs, t, columns, nodes);
	for (size_t i = 0; i < b->list.n; i++) {
		const struct block *block = &b->list.items[i];
		const struct annotated *head = &b->code->list.items[block->first];
		const struct annotated *tail = &b->code->list.items[block->last];
		const struct symbol_frame *frame = frame_of(b, block->first);
		struct cell *cells = table_add_row(t);

		cells[BLOCKS_COL_FUNCTION] = cell_text(b->code->region->name);
		cells[BLOCKS_COL_BLOCK] = cell_count(i);
		cells[BLOCKS_COL_START] = cell_hex(head->text.address);
		cells[BLOCKS_COL_END] = cell_hex(tail->text.address + tail->text.size);
		cells[BLOCKS_COL_INSTRUCTIONS] = cell_count(block->last - block->first + 1);
		if (!isnan(block->share))
			cells[BLOCKS_COL_SHARE] =
				cell_sparse(cell_number(block->share), block->n_samples);
		cells[BLOCKS_COL_EXEC] = executions_cell(b, block->executions, block->n_segments);
		if (all > 0)
			cells[BLOCKS_COL_EXEC_SHARE] = cell_number(exec_share(b, block, all));
		cells[BLOCKS_COL_CYCLES] = cycles_cell(b, block);
		if (frame != NULL && frame->file.v != 0)
			cells[BLOCKS_COL_FILE] = cell_text(strings_get(
				symbols_strings(b->code->session->symbols), frame->file));
		cells[BLOCKS_COL_LINE] = line_cell(b, block->first);
		cells[BLOCKS_COL_LAST_LINE] = line_cell(b, block->last);
		cells[BLOCKS_COL_INLINED] = inlined_cell(b, block, t);
		if (!isnan(block_balance(block)))
			cells[BLOCKS_COL_BALANCE] = cell_number(block_balance(block));
		show_edges_of(b, i, t, cells);
		for (size_t k = 0; k < n_events; k++)
			cells[BLOCKS_N_COLS + k] =
				cell_count(block_samples(b, block, (int)events[k]));
		for (size_t k = 0; k < n_costs; k++)
			cells[BLOCKS_N_COLS + n_events + k] =
				cost_cell(costs, i, nodes[k], is_text);
	}
	if (n_costs > 0 && costs->assumed_ghz > 0)
		table_note(t,
			   "costs off the core are times: in cycles they are those at %.1f GHz "
			   "(--ghz)",
			   costs->assumed_ghz);
	free(events);
	free(nodes);
}

static void fill_edges(const struct cfg *b, struct table *t)
{
	for (size_t i = 0; i < b->edges.n; i++) {
		const struct block_edge *e = &b->edges.items[i];
		struct cell *cells = table_add_row(t);
		double share = block_edge_share(b, e);

		cells[EDGES_COL_FROM] = cell_count(e->from);
		if (e->to < b->list.n)
			cells[EDGES_COL_TO] = cell_count(e->to);
		else
			cells[EDGES_COL_NAME] = table_text_cell(t, b->outside.items[e->outside]);
		cells[EDGES_COL_KIND] = cell_text(edge_kind_name(e->kind));
		if (e->kind != EDGE_UNKNOWN)
			cells[EDGES_COL_COUNT] = executions_cell(b, e->executions, e->sum.n);
		if (!isnan(share) && e->kind != EDGE_UNKNOWN)
			cells[EDGES_COL_SHARE] = executions_cell(b, share, e->sum.n);
		if (e->sum.n_told > 0)
			cells[EDGES_COL_MISPREDICTED] =
				cell_ratio(e->sum.n_mispredicted, e->sum.n_told);
		cells[EDGES_COL_BACK] = cell_bool(e->is_back);
	}
	if (b->n_left_out > 0)
		table_note(t, "%" PRIu64 " records of rarer ways of indirect jumps are left out",
			   b->n_left_out);
}

static void fill_loops(const struct cfg *b, struct table *t)
{
	for (size_t i = 0; i < b->loops.n; i++) {
		const struct block_loop *l = &b->loops.items[i];
		size_t first = b->list.items[l->head].first;
		struct cell *cells = table_add_row(t);
		uint64_t n = b->stacks == NULL ? 0 : b->executions.runs[first].n;

		cells[LOOPS_COL_HEAD] = cell_count(l->head);
		cells[LOOPS_COL_LAST] = cell_count(l->last);
		cells[LOOPS_COL_START] = cell_hex(b->code->list.items[first].text.address);
		cells[LOOPS_COL_LINE] = line_cell(b, first);
		cells[LOOPS_COL_EXEC] = executions_cell(b, l->executions, n);
		cells[LOOPS_COL_ENTRIES] = executions_cell(b, l->entries, l->n_entries);
		if (l->n_entries > 0)
			cells[LOOPS_COL_TRIPS] = executions_cell(b, l->trips, l->n_entries);
	}
}

static struct cell duration_cell(uint64_t cycles, uint64_t n, uint64_t needed)
{
	if (n == 0)
		return (struct cell){ 0 };
	return cell_marked(cell_count(cycles), n < needed ? MARK_SPARSE : MARK_EXACT);
}

static void add_segment_row(const struct cfg *b, const struct good_segment *good, size_t first,
			    struct table *t)
{
	const struct segment *s = &good->segment;
	const struct annotate_region *r = b->code->region;
	struct stack_duration d = segment_duration(b->stacks, good);
	struct cell *cells = table_add_row(t);

	cells[SEGMENTS_COL_START] = cell_hex(r->address + (s->start - r->from));
	cells[SEGMENTS_COL_END] = cell_hex(r->address + (s->end - r->from));
	cells[SEGMENTS_COL_BLOCK] = cell_count(b->block_of[first]);
	cells[SEGMENTS_COL_LINE] = line_cell(b, first);
	cells[SEGMENTS_COL_INSTRUCTIONS] = cell_count(s->n_instructions);
	cells[SEGMENTS_COL_N] = cell_count(good->n);
	cells[SEGMENTS_COL_EXEC] = executions_cell(
		b, branch_stacks_executions(b->stacks, (double)good->weight), good->n);
	cells[SEGMENTS_COL_TIMED] = cell_count(d.n);
	cells[SEGMENTS_COL_P50] = duration_cell(d.p50, d.n, SPARSE_BELOW);
	cells[SEGMENTS_COL_P90] = duration_cell(d.p90, d.n, 10 * SPARSE_BELOW);
	cells[SEGMENTS_COL_P99] = duration_cell(d.p99, d.n, TIMED_FOR_P99);
}

/* A good segment that begins in the function. */
struct its_segment {
	struct good_segment good;
	size_t first;	/* instruction */
	uint64_t order; /* among all good ones */
};

static int segments_compare_commonest(const void *left, const void *right)
{
	const struct its_segment *a = left, *b = right;

	if (a->good.n != b->good.n)
		return a->good.n > b->good.n ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* More of them are left out. */
enum { MOST_SEGMENTS = 32 << 10 };

typedef VEC_OF(struct its_segment) segment_list;

/* Returns how many were left out. */
static size_t leave_out_rare_segments(segment_list *list)
{
	size_t n = list->n > MOST_SEGMENTS ? list->n - MOST_SEGMENTS : 0;

	if (n == 0)
		return 0;
	qsort(list->items, list->n, sizeof(*list->items), segments_compare_commonest);
	list->n -= n;
	return n;
}

static void fill_segments(const struct cfg *b, struct table *t)
{
	const struct segments *all = &b->stacks->segments;
	const struct annotate_region *r = b->code->region;
	segment_list list = { 0 };
	size_t n_left_out = 0;

	for (struct its_segment s = { .order = segments_good_from(all, r->module, r->from) };
	     segments_next_good(all, &s.order, &s.good) && s.good.segment.module.v == r->module.v &&
	     s.good.segment.start < r->to;) {
		s.first = annotation_at(b->code, s.good.segment.start);
		if (s.first == b->code->list.n)
			continue;
		*vec_add(&list) = s;
		if (list.n == 2 * MOST_SEGMENTS)
			n_left_out += leave_out_rare_segments(&list);
	}
	n_left_out += leave_out_rare_segments(&list);
	for (size_t i = 0; i < list.n; i++)
		add_segment_row(b, &list.items[i].good, list.items[i].first, t);
	if (n_left_out > 0)
		table_note(t, "%zu segments are left out: these are the %zu commonest", n_left_out,
			   list.n);
	vec_release(&list);
}

static int imbalances_compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Of the blocks that were recorded often: what goes in should go out. */
static void note_balance(const struct cfg *b, struct table *t)
{
	double *sorted = mem_alloc(b->list.n + 1, sizeof(*sorted)), worst = -1;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < b->list.n; i++) {
		const struct block *block = &b->list.items[i];
		double balance = block_balance(block);

		if (isnan(balance) || block->n_segments < 10 * SPARSE_BELOW)
			continue;
		sorted[n++] = balance;
		at = balance > worst ? i : at;
		worst = fmax(worst, balance);
	}
	if (n > 1)
		qsort(sorted, n, sizeof(*sorted), imbalances_compare);
	if (n > 0)
		table_note(t,
			   "what goes into a block and what comes out of it differ by %.1f %% "
			   "(median of %zu), at most by %.1f %% (block %zu)",
			   100 * sorted[n / 2], n, 100 * worst, at);
	free(sorted);
}

enum shadow_column {
	SHADOW_COL_BLOCK,
	SHADOW_COL_START,
	SHADOW_COL_LINE,
	SHADOW_COL_EXEC,
	SHADOW_COL_SAMPLES,
	SHADOW_COL_SAMPLES_SHARE,
	SHADOW_COL_RATIO,
	SHADOW_N_COLS,
};

static const struct column shadow_columns[SHADOW_N_COLS] = {
	[SHADOW_COL_BLOCK] = { "block", NULL, "", CELL_COUNT, 0, "number of the block" },
	[SHADOW_COL_START] = { "start", NULL, "", CELL_HEX, 0, "address of its first instruction" },
	[SHADOW_COL_LINE] = { "line", NULL, "", CELL_COUNT, 0,
			      "source line of its first instruction" },
	[SHADOW_COL_EXEC] = { "exec_share", "executions", "", CELL_NUMBER, COLUMN_SHARE,
			      "its part of the instructions that the function ran, by branch "
			      "stacks" },
	[SHADOW_COL_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0,
				 "samples of retired instructions in it" },
	[SHADOW_COL_SAMPLES_SHARE] = { "sample_share", "sampled", "", CELL_NUMBER,
				       COLUMN_SHARE | COLUMN_TRUST, "its part of these samples" },
	[SHADOW_COL_RATIO] = { "ratio", NULL, "", CELL_NUMBER, COLUMN_TRUST,
			       "sampled / executed: far from 1 where samples come behind another "
			       "instruction than the one that was counted" },
};

/* Blocks without samples that ran less are not shown. */
static const double least_executed = 0.001;

/* Samples of retired instructions beside executed ones: what the interrupt's delay hides. */
static void fill_shadow(const struct cfg *b, struct table *t)
{
	int event = b->stacks->options.instructions_event;
	uint64_t n_all =
		event < 0 ? 0 : annotation_count_of(b->code, COUNT_SAMPLES, (uint64_t)event);
	double all = all_instructions(b);

	if (n_all == 0 || all <= 0)
		return;
	for (size_t i = 0; i < b->list.n; i++) {
		const struct block *block = &b->list.items[i];
		uint64_t n = block_samples(b, block, event);
		double share = (double)n / (double)n_all, executed = exec_share(b, block, all);
		struct cell *cells;

		if (n == 0 && executed < least_executed)
			continue;
		cells = table_add_row(t);
		cells[SHADOW_COL_BLOCK] = cell_count(i);
		cells[SHADOW_COL_START] = cell_hex(b->code->list.items[block->first].text.address);
		cells[SHADOW_COL_LINE] = line_cell(b, block->first);
		cells[SHADOW_COL_EXEC] = cell_number(executed);
		cells[SHADOW_COL_SAMPLES] = cell_count(n);
		cells[SHADOW_COL_SAMPLES_SHARE] = cell_sparse(cell_number(share), n);
		if (executed > 0)
			cells[SHADOW_COL_RATIO] = cell_sparse(cell_number(share / executed), n);
	}
}

/* " at FILE:LINE" of an instruction, if the line is known. */
static void add_line(const struct cfg *b, size_t instruction, struct text *out)
{
	const struct symbol_frame *frame = frame_of(b, instruction);
	const char *file;

	if (frame == NULL || frame->line == 0 || frame->file.v == 0)
		return;
	file = strings_get(symbols_strings(b->code->session->symbols), frame->file);
	text_format(out, " at %s:%u", path_base(file), frame->line);
}

/* The block with most samples, and the loop that runs most. */
static void answer_blocks(const struct cfg *b, struct table *t)
{
	const struct block *hottest = NULL;
	const struct block_loop *loop = NULL;
	struct text at = { 0 };

	for (size_t i = 0; i < b->list.n; i++)
		if (b->list.items[i].n_samples > 0 &&
		    (hottest == NULL || b->list.items[i].n_samples > hottest->n_samples))
			hottest = &b->list.items[i];
	for (size_t i = 0; i < b->loops.n; i++)
		if (b->loops.items[i].n_entries > 0 &&
		    (loop == NULL || b->loops.items[i].executions > loop->executions))
			loop = &b->loops.items[i];
	if (hottest != NULL) {
		add_line(b, hottest->first, &at);
		answer_say(t,
			   "Block %zu of %s%.*s has %.1f %% of the function's samples (%" PRIu64
			   ").",
			   (size_t)(hottest - b->list.items), b->code->region->name, (int)at.n,
			   at.n > 0 ? at.bytes : "", 100 * hottest->share, hottest->n_samples);
	}
	text_release(&at);
	if (loop == NULL)
		return;
	at = (struct text){ 0 };
	add_line(b, b->list.items[loop->head].first, &at);
	answer_say(t, "The loop%.*s (block %zu) runs about %.3g times for each entry%s.", (int)at.n,
		   at.n > 0 ? at.bytes : "", loop->head, loop->trips,
		   loop->n_entries < SPARSE_BELOW ? " (too few samples)" : "");
	text_release(&at);
}

void blocks_tables_make(const struct cfg *b, const struct cycle_ranges *costs, size_t top,
			bool is_text, struct blocks_tables *out)
{
	answer_init(&out->answer);
	if (is_text) {
		answer_blocks(b, &out->answer);
		*vec_add(&out->shown.list) = &out->answer;
	}
	table_init(&out->blocks, "blocks", b->code->region->name, block_columns,
		   COUNT(block_columns));
	table_init(&out->edges, "edges", "Edges", edge_columns, COUNT(edge_columns));
	table_init(&out->loops, "loops", "Loops", loop_columns, COUNT(loop_columns));
	table_init(&out->segments, "segments", "Segments, and how long they take", segment_columns,
		   COUNT(segment_columns));
	table_init(&out->shadow, "shadow", "Executed and sampled instructions", shadow_columns,
		   COUNT(shadow_columns));
	fill_blocks(b, costs, is_text, &out->blocks);
	fill_edges(b, &out->edges);
	fill_loops(b, &out->loops);
	*vec_add(&out->shown.list) = &out->blocks;
	if (!is_text || table_n_rows(&out->loops) > 0)
		*vec_add(&out->shown.list) = &out->loops;
	if (b->stacks != NULL) {
		fill_segments(b, &out->segments);
		table_sort(&out->segments, SEGMENTS_COL_N, false);
		note_balance(b, &out->blocks);
		branch_stacks_note(b->stacks, &out->blocks);
		if (is_text)
			table_show_top(&out->segments, top);
		if (table_n_rows(&out->segments) > 0 || !is_text)
			*vec_add(&out->shown.list) = &out->segments;
		fill_shadow(b, &out->shadow);
		if (table_n_rows(&out->shadow) > 0 || !is_text)
			*vec_add(&out->shown.list) = &out->shadow;
	}
	if (!is_text)
		*vec_add(&out->shown.list) = &out->edges;
	if (!is_text && b->stacks != NULL) {
		branch_stacks_positions(b->stacks, &out->positions);
		*vec_add(&out->shown.list) = &out->positions;
		executed_instructions_table(b->stacks, &out->instructions);
		*vec_add(&out->shown.list) = &out->instructions;
	}
}

void blocks_tables_release(struct blocks_tables *t)
{
	table_release(&t->answer);
	table_release(&t->blocks);
	table_release(&t->edges);
	table_release(&t->loops);
	table_release(&t->segments);
	table_release(&t->positions);
	table_release(&t->instructions);
	table_release(&t->shadow);
	vec_release(&t->shown.list);
}
