/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of an annotated function for csv and json: all counts of each instruction. */
#include <stdlib.h>

#include "annotate/view.h"
#include "base/alloc.h"
#include "base/text.h"
#include "estimate/shares.h"
#include "keys/keys.h"
#include "spe/names.h"
#include "spe/packet.h"
#include "symbol/symbols.h"
#include "table/answer.h"

static const char *const isa_names[] = {
	[ISA_UNKNOWN] = "unknown", [ISA_A64] = "AArch64", [ISA_A32] = "AArch32",
	[ISA_X86_64] = "x86-64",   [ISA_X86_32] = "i386",
};

static const char *const flow_names[] = {
	[FLOW_NEXT] = "next", [FLOW_BRANCH] = "branch", [FLOW_JUMP] = "jump",
	[FLOW_CALL] = "call", [FLOW_RETURN] = "return", [FLOW_SYSTEM] = "system",
	[FLOW_STOP] = "stop",
};

static const struct column function_columns[] = {
	{ "function", NULL, "", CELL_TEXT, 0, "name of the function" },
	{ "module", NULL, "", CELL_TEXT, 0, "module of the function" },
	{ "address", NULL, "", CELL_HEX, 0, "address of its start, in the module's file" },
	{ "size", NULL, "bytes", CELL_COUNT, 0, "size of its code" },
	{ "isa", NULL, "", CELL_TEXT, 0, "instruction set" },
	{ "spe_records", NULL, "records", CELL_COUNT, 0, "SPE records in it" },
	{ "latency_cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST,
	  "sum of their total latencies" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples of all events" },
	{ "shortage", NULL, "", CELL_TEXT, 0, "reason, where there are no instructions" },
};

enum instruction_column {
	INS_ADDRESS,
	INS_OFFSET,
	INS_SIZE,
	INS_TEXT,
	INS_FLOW,
	INS_TARGET,
	INS_TARGET_NAME,
	INS_FUNCTION,
	INS_FILE,
	INS_LINE,
	INS_INLINED,
	INS_RECORDS,
	INS_SHARE,
	INS_CYCLES,
	INS_TOTAL_P50,
	INS_TOTAL_MEAN,
	INS_TOTAL_MAX,
	INS_ISSUE_P50,
	INS_ISSUE_MEAN,
	INS_XLAT_P50,
	INS_XLAT_MEAN,
	INS_BRANCHES,
	INS_TAKEN,
	INS_MISPREDICTED,
	INS_TIME, /* only with an estimate */
	N_INS,
};

static const struct column instruction_columns[N_INS] = {
	[INS_ADDRESS] = { "address", NULL, "", CELL_HEX, 0, "address in the module's file" },
	[INS_OFFSET] = { "offset", NULL, "bytes", CELL_COUNT, 0, "from the start of the function" },
	[INS_SIZE] = { "size", NULL, "bytes", CELL_COUNT, 0, "size of the instruction" },
	[INS_TEXT] = { "instruction", NULL, "", CELL_TEXT, 0, "disassembled" },
	[INS_FLOW] = { "flow", NULL, "", CELL_TEXT, 0,
		       "next, branch (conditional), jump, call, return, system, stop" },
	[INS_TARGET] = { "target", NULL, "", CELL_HEX, 0, "target of a branch, jump or call" },
	[INS_TARGET_NAME] = { "target_name", NULL, "", CELL_TEXT, 0, "function at the target" },
	[INS_FUNCTION] = { "source_function", NULL, "", CELL_TEXT, 0,
			   "function of the source line, which may be inlined" },
	[INS_FILE] = { "file", NULL, "", CELL_TEXT, 0, "source file" },
	[INS_LINE] = { "line", NULL, "", CELL_COUNT, 0, "source line" },
	[INS_INLINED] = { "inlined", NULL, "", CELL_TEXT, 0,
			  "functions that it is inlined into, and where, from the inside out" },
	[INS_RECORDS] = { "spe_records", NULL, "records", CELL_COUNT, 0, "SPE records" },
	[INS_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			"part of the function's latency cycles" },
	[INS_CYCLES] = { "latency_cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST,
			 "sum of total latencies" },
	[INS_TOTAL_P50] = { "total_p50_cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST,
			    "median of the total latency" },
	[INS_TOTAL_MEAN] = { "total_mean_cycles", NULL, "cycles", CELL_NUMBER, COLUMN_TRUST,
			     "mean total latency, without saturated ones" },
	[INS_TOTAL_MAX] = { "total_max_cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST,
			    "longest total latency" },
	[INS_ISSUE_P50] = { "issue_p50_cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST,
			    "median of the issue latency" },
	[INS_ISSUE_MEAN] = { "issue_mean_cycles", NULL, "cycles", CELL_NUMBER, COLUMN_TRUST,
			     "mean issue latency, without saturated ones" },
	[INS_XLAT_P50] = { "translation_p50_cycles", NULL, "cycles", CELL_COUNT, COLUMN_TRUST,
			   "median of the translation latency" },
	[INS_XLAT_MEAN] = { "translation_mean_cycles", NULL, "cycles", CELL_NUMBER, COLUMN_TRUST,
			    "mean translation latency, without saturated ones" },
	[INS_BRANCHES] = { "branches", NULL, "records", CELL_COUNT, 0,
			   "SPE records of branches, or entries of branch stacks" },
	[INS_TAKEN] = { "taken", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			"part of them that were taken" },
	[INS_MISPREDICTED] = { "mispredicted", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			       "part of them that were mispredicted" },
	[INS_TIME] = { "time_estimate", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
		       "part of the function's time, estimated by a walk through the code" },
};

/* Behind those, if blocks are asked for. */
static const struct column block_columns[] = {
	{ "block", NULL, "", CELL_COUNT, 0, "number of its basic block" },
	{ "exec", "executions", "executions", CELL_NUMBER, COLUMN_TRUST,
	  "how often it ran, by branch stacks" },
};

static const struct column event_columns[] = {
	{ "address", NULL, "", CELL_HEX, 0, "address of the instruction" },
	{ "event", NULL, "", CELL_TEXT, 0, "event of samples, or of SPE records" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples or records" },
	{ "period", NULL, "events", CELL_COUNT, 0, "events that samples represent" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
	  "part of the function's events (samples) or records (SPE)" },
};

static const struct column source_columns[] = {
	{ "address", NULL, "", CELL_HEX, 0, "address of the instruction" },
	{ "source", NULL, "", CELL_TEXT, 0, "data source" },
	{ "spe_records", NULL, "records", CELL_COUNT, 0, "SPE records" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
	  "part of its records with a data source" },
	{ "level", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
	  "the level of the memory hierarchy that the catalog maps the data source to; absent: it "
	  "has none" },
};

static const struct column loop_columns[] = {
	{ "start", "from", "", CELL_HEX, 0, "first instruction" },
	{ "end", "to", "", CELL_HEX, 0, "address of the branch back" },
	{ "instructions", NULL, "instructions", CELL_COUNT, 0, "number of instructions" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR | COLUMN_TRUST,
	  "part of the function's latency cycles, or samples; outer loops include inner ones" },
	{ "spe_records", "records", "records", CELL_COUNT, 0, "SPE records in it" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "samples of all events" },
	{ "taken", NULL, "records", CELL_COUNT, 0, "records of the branch back, taken" },
	{ "not_taken", "not taken", "records", CELL_COUNT, 0,
	  "records of the branch back, not taken" },
	{ "iterations", NULL, "iterations", CELL_NUMBER, COLUMN_TRUST,
	  "estimated iterations each time the loop is entered: records of the branch / records not "
	  "taken" },
};

static struct cell annotate_table_share_cell(uint64_t part, uint64_t whole, uint64_t n)
{
	return cell_sparse(cell_ratio(part, whole), n);
}

static const char *annotate_table_string_of(const struct annotation *a, struct str_id id)
{
	return strings_get(symbols_strings(a->session->symbols), id);
}

static struct latency_amount annotate_latency_amount(const struct annotated_latency *l)
{
	return (struct latency_amount){ l->cycles, l->cycles - l->usable };
}

/* The total latencies of all instructions. */
static struct latency_amount all_latency(const struct annotation *a)
{
	struct latency_amount whole = { 0 };

	for (size_t i = 0; i < a->list.n; i++) {
		struct annotated_latency l = annotated_latency(a, i, COUNT_TOTAL);

		whole.cycles += l.cycles;
		whole.full += annotate_latency_amount(&l).full;
	}
	return whole;
}

static void fill_function(const struct annotation *a, struct table *t)
{
	const struct annotate_region *r = a->region;
	struct latency_amount whole = all_latency(a);
	struct cell *row = table_add_row(t);

	row[0] = cell_text(r->has_name ? r->name : "[unknown]");
	row[1] = cell_text(names_module(a->session, r->module));
	row[2] = cell_hex(r->address);
	row[3] = cell_count(r->to - r->from);
	row[4] = cell_text(isa_names[a->isa]);
	row[5] = cell_count(annotation_count(a, COUNT_RECORDS));
	row[6] =
		cell_marked(cell_count(whole.cycles), whole.full > 0 ? MARK_SATURATED : MARK_EXACT);
	row[7] = cell_count(annotation_count(a, COUNT_SAMPLES));
	if (a->shortage != NULL)
		row[8] = cell_text(a->shortage);
}

/* "inner at b.c:7, outer at a.c:9": what the instruction was inlined into. */
static const char *inline_chain(const struct annotation *a, const struct symbol *s, struct table *t)
{
	const struct symbol_frame *frames = symbols_frames(a->session->symbols) + s->first_frame;
	struct text text = { 0 };

	for (uint32_t i = 1; i < s->n_frames; i++)
		text_format(&text, "%s%s at %s:%u", i > 1 ? ", " : "",
			    annotate_table_string_of(a, frames[i].function),
			    annotate_table_string_of(a, frames[i].file), frames[i].line);
	return table_take_text(t, &text);
}

static void fill_line(const struct annotation *a, const struct annotated *i, struct table *t,
		      struct cell *row)
{
	const struct symbol *s = &i->symbol;
	const struct symbol_frame *frame;

	if (s->n_frames == 0)
		return;
	frame = &symbols_frames(a->session->symbols)[s->first_frame];
	if (frame->function.v != 0)
		row[INS_FUNCTION] = cell_text(annotate_table_string_of(a, frame->function));
	if (frame->file.v != 0)
		row[INS_FILE] = cell_text(annotate_table_string_of(a, frame->file));
	if (frame->line != 0)
		row[INS_LINE] = cell_count(frame->line);
	if (s->n_frames > 1)
		row[INS_INLINED] = cell_text(inline_chain(a, s, t));
}

static void fill_latency(const struct annotated_latency *l, struct cell *p50, struct cell *mean)
{
	enum cell_mark mark = l->n_usable < l->n_all ? MARK_SATURATED : MARK_EXACT;

	if (l->n_all == 0)
		return;
	*p50 = cell_count(l->p50);
	if (latency_is_full(l->p50))
		*p50 = cell_marked(*p50, MARK_SATURATED);
	if (l->n_usable > 0)
		*mean = cell_marked(cell_number((double)l->usable / (double)l->n_usable), mark);
}

static void fill_spe(const struct annotation *a, size_t i, const struct latency_amount *whole,
		     struct cell *row)
{
	struct annotated_latency total = annotated_latency(a, i, COUNT_TOTAL);
	struct annotated_latency issue = annotated_latency(a, i, COUNT_ISSUE);
	struct annotated_latency xlat = annotated_latency(a, i, COUNT_XLAT);
	enum cell_mark mark = total.n_usable < total.n_all ? MARK_SATURATED : MARK_EXACT;

	row[INS_RECORDS] = cell_count(annotated_count(a, i, COUNT_RECORDS));
	fill_latency(&total, &row[INS_TOTAL_P50], &row[INS_TOTAL_MEAN]);
	fill_latency(&issue, &row[INS_ISSUE_P50], &row[INS_ISSUE_MEAN]);
	fill_latency(&xlat, &row[INS_XLAT_P50], &row[INS_XLAT_MEAN]);
	if (total.n_all == 0)
		return;
	row[INS_SHARE] = cell_latency_share(annotate_latency_amount(&total), *whole, total.n_all);
	row[INS_CYCLES] = cell_marked(cell_count(total.cycles), mark);
	row[INS_TOTAL_MAX] = cell_marked(cell_count(total.max),
					 latency_is_full(total.max) ? MARK_SATURATED : MARK_EXACT);
}

static void annotate_fill_branches(const struct annotation *a, size_t i, struct cell *row)
{
	struct annotated_branches b = annotated_branches(a, i);

	if (b.n == 0)
		return;
	row[INS_BRANCHES] = cell_count(b.n);
	if (b.n_directed > 0)
		row[INS_TAKEN] = annotate_table_share_cell(b.n_taken, b.n_directed, b.n_directed);
	if (b.n_predicted > 0)
		row[INS_MISPREDICTED] =
			annotate_table_share_cell(b.n_mispredicted, b.n_predicted, b.n_predicted);
}

static void add_block_columns(struct table *t)
{
	struct column *own = table_own_columns(t, COUNT(block_columns));

	for (size_t i = 0; i < COUNT(block_columns); i++)
		own[t->n_columns++] = block_columns[i];
}

static void fill_block(const struct cfg *b, size_t i, struct cell *cells)
{
	cells[0] = cell_count(b->block_of[i]);
	if (b->stacks != NULL)
		cells[1] = branch_stacks_cell(
			b->stacks,
			branch_stacks_executions(b->stacks, (double)b->executions.runs[i].weight),
			b->executions.runs[i].n);
}

static void fill_instruction(const struct annotation *a, const struct cfg *blocks, size_t i,
			     const struct latency_amount *whole, uint64_t all_time, struct table *t)
{
	const struct annotated *line = &a->list.items[i];
	const struct instruction *text = &line->text;
	struct cell *row = table_add_row(t);
	uint64_t slices[SLICES_MAX];

	row[INS_ADDRESS] = cell_hex(text->address);
	row[INS_OFFSET] = cell_count(line->offset - a->region->from);
	if (text->mnemonic[0] != '\0') {
		row[INS_SIZE] = cell_count(text->size);
		row[INS_TEXT] = cell_text(table_format(t, "%s%s%s", text->mnemonic,
						       text->operands[0] == '\0' ? "" : " ",
						       text->operands));
		row[INS_FLOW] = cell_text(flow_names[text->flow.kind]);
	}
	if (text->flow.has_target)
		row[INS_TARGET] = cell_hex(text->flow.target);
	if (line->target_name != NULL)
		row[INS_TARGET_NAME] = cell_text(line->target_name);
	fill_line(a, line, t, row);
	if (annotated_count(a, i, COUNT_RECORDS) > 0)
		fill_spe(a, i, whole, row);
	annotate_fill_branches(a, i, row);
	if (a->time != NULL && annotated_count(a, i, COUNT_RECORDS) > 0)
		row[INS_TIME] =
			cell_marked(cell_ratio(annotated_time(a, i), all_time), MARK_SCALED);
	if (blocks != NULL)
		fill_block(blocks, i, &row[a->time != NULL ? N_INS : INS_TIME]);
	annotated_slices(a, i, slices);
	slices_show(&a->session->slices, slices, t, row);
}

static void add_event_row(const struct annotation *a, size_t i, const struct annotate_event *e,
			  uint64_t n, uint64_t total, struct table *t)
{
	struct cell *row = table_add_row(t);
	uint64_t part = annotated_count_of(a, i, e->is_spe ? COUNT_EVENT : COUNT_PERIOD, e->number);

	row[0] = cell_hex(a->list.items[i].text.address);
	row[1] = e->is_spe && spe_event_name(e->number) == NULL
			 ? cell_text(table_format(t, "IMPDEF:%u", e->number))
			 : cell_text(annotate_event_name(a, e));
	row[2] = cell_count(n);
	if (!e->is_spe)
		row[3] = cell_count(part);
	row[4] = annotate_table_share_cell(part, total, n);
}

static void fill_events(const struct annotation *a, struct table *t)
{
	size_t n_events = capture_n_events(a->session->capture);

	for (uint32_t k = 0; k < n_events + 64; k++) {
		struct annotate_event e = {
			.is_spe = k >= n_events,
			.number = k >= n_events ? k - (uint32_t)n_events : k,
		};
		uint64_t total = annotate_total(a, &e);

		for (size_t i = 0; i < a->list.n && total > 0; i++) {
			uint64_t n = annotated_count_of(
				a, i, e.is_spe ? COUNT_EVENT : COUNT_SAMPLES, e.number);

			if (n > 0)
				add_event_row(a, i, &e, n, total, t);
		}
	}
}

static void fill_sources(const struct annotation *a, struct table *t)
{
	for (size_t i = 0; i < a->list.n; i++) {
		const struct annotated *line = &a->list.items[i];
		uint64_t total = annotated_count(a, i, COUNT_SOURCE);

		for (uint32_t k = line->first[COUNT_SOURCE]; k < line->first[COUNT_SOURCE + 1];
		     k++) {
			const struct annotate_value *v = &a->values.items[k];
			const struct cpu_source *source = key_source(v->value);
			struct cell *row = table_add_row(t);

			row[0] = cell_hex(line->text.address);
			row[1] = cell_text(source != NULL
						   ? source->name
						   : table_format(t, "0x%x", (unsigned)v->value));
			row[2] = cell_count(v->n);
			row[3] = annotate_table_share_cell(v->n, total, v->n);
			if (source != NULL && source->level != SOURCE_UNKNOWN)
				row[4] = cell_text(source_level_name(source->level));
		}
	}
}

static void fill_loop(const struct annotation *a, const struct annotated_loop *l,
		      const struct latency_amount *whole, uint64_t samples, struct table *t)
{
	struct cell *row = table_add_row(t);
	uint64_t n = l->n_taken + l->n_not_taken;

	row[0] = cell_hex(a->list.items[l->head].text.address);
	row[1] = cell_hex(a->list.items[l->branch].text.address);
	row[2] = cell_count(l->branch - l->head + 1);
	row[3] = whole->cycles > 0
			 ? cell_latency_share((struct latency_amount){ l->cycles, l->full }, *whole,
					      l->n_records)
			 : annotate_table_share_cell(l->n_samples, samples, l->n_samples);
	if (l->n_records > 0)
		row[4] = cell_count(l->n_records);
	if (l->n_samples > 0)
		row[5] = cell_count(l->n_samples);
	if (n == 0 || a->list.items[l->branch].text.flow.kind != FLOW_BRANCH)
		return;
	row[6] = cell_count(l->n_taken);
	row[7] = cell_count(l->n_not_taken);
	if (l->n_not_taken > 0)
		row[8] = cell_marked(cell_number((double)n / (double)l->n_not_taken),
				     l->n_not_taken < SPARSE_BELOW ? MARK_SPARSE : MARK_SCALED);
}

static void fill_loops(const struct annotation *a, struct table *t)
{
	size_t n;
	struct annotated_loop *loops = annotation_loops(a, &n);
	struct latency_amount whole = all_latency(a);
	uint64_t samples = annotation_count(a, COUNT_SAMPLES);

	for (size_t i = 0; i < n; i++)
		fill_loop(a, &loops[i], &whole, samples, t);
	free(loops);
}

void annotate_tables_make(const struct annotation *a, const struct annotate_view *view,
			  bool is_text, struct annotate_tables *out)
{
	struct latency_amount whole = all_latency(a);
	uint64_t all_time;

	table_init(&out->loops, "loops", "Loops", loop_columns, COUNT(loop_columns));
	fill_loops(a, &out->loops);
	if (is_text) {
		answer_init(&out->answer);
		annotate_summary(a, &out->answer);
		annotate_listing(a, view, &out->listing);
		*vec_add(&out->shown.list) = &out->answer;
		*vec_add(&out->shown.list) = &out->listing;
		if (out->loops.cells.n > 0)
			*vec_add(&out->shown.list) = &out->loops;
		return;
	}
	table_init(&out->function, "function", NULL, function_columns, COUNT(function_columns));
	table_init(&out->instructions, "instructions", NULL, instruction_columns,
		   a->time != NULL ? N_INS : INS_TIME);
	if (view->blocks != NULL)
		add_block_columns(&out->instructions);
	slices_add_columns(&a->session->slices, "records", "samples and SPE records over time",
			   &out->instructions);
	table_init(&out->events, "events", NULL, event_columns, COUNT(event_columns));
	table_init(&out->sources, "sources", NULL, source_columns, COUNT(source_columns));
	fill_function(a, &out->function);
	all_time = a->time != NULL ? annotation_time(a) : 0;
	for (size_t i = 0; i < a->list.n; i++)
		fill_instruction(a, view->blocks, i, &whole, all_time, &out->instructions);
	fill_events(a, &out->events);
	fill_sources(a, &out->sources);
	table_nest(&out->instructions, &out->events);
	table_nest(&out->instructions, &out->sources);
	*vec_add(&out->shown.list) = &out->function;
	*vec_add(&out->shown.list) = &out->instructions;
	*vec_add(&out->shown.list) = &out->loops;
}

void annotate_tables_release(struct annotate_tables *t)
{
	table_release(&t->answer);
	table_release(&t->function);
	table_release(&t->instructions);
	table_release(&t->events);
	table_release(&t->sources);
	table_release(&t->loops);
	table_release(&t->listing);
	vec_release(&t->shown.list);
}
