/* SPDX-License-Identifier: Apache-2.0 */
/* What findings rest on, as typed columns for programs: words.c says the same in sentences. */
#include <math.h>

#include "base/alloc.h"
#include "findings/words_inside.h"

enum evidence_column {
	EVIDENCE_OF,
	EVIDENCE_IS,
	EVIDENCE_METRIC,
	EVIDENCE_ISSUE,
	EVIDENCE_EVENT,
	EVIDENCE_VALUE,
	EVIDENCE_UNIT,
	EVIDENCE_LIMIT,
	EVIDENCE_SHARE,
	EVIDENCE_SCALAR,
	EVIDENCE_PART,
	EVIDENCE_ALL,
	EVIDENCE_PENALTY,
	EVIDENCE_IS_ESTIMATE,
	EVIDENCE_PAGE_LINES,
	N_EVIDENCE_COLUMNS,
};

static const struct column evidence_columns[N_EVIDENCE_COLUMNS] = {
	[EVIDENCE_OF] = { "finding", NULL, "", CELL_COUNT, 0, "number among `findings`, from 1" },
	[EVIDENCE_IS] = { "kind", NULL, "", CELL_TEXT, 0, "what speaks for it" },
	[EVIDENCE_METRIC] = { "metric", NULL, "", CELL_TEXT, 0, "name in the catalog" },
	[EVIDENCE_ISSUE] = { "issue", NULL, "", CELL_TEXT, 0, "name of a penalty in the catalog" },
	[EVIDENCE_EVENT] = { "event", NULL, "", CELL_TEXT, 0,
			     "that was counted; of sharing-not-counted: that was not" },
	[EVIDENCE_VALUE] = { "value", NULL, "", CELL_NUMBER, 0, "in the unit of this row" },
	[EVIDENCE_UNIT] = { "unit", NULL, "", CELL_TEXT, 0, "of value, part and all" },
	[EVIDENCE_LIMIT] = { "threshold", NULL, "", CELL_NUMBER, 0,
			     "that the value passes, in the metric's unit" },
	[EVIDENCE_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			     "of the whole that the kind is about, 0 to 1" },
	[EVIDENCE_SCALAR] = { "scalar_share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			      "of mix: operations that are scalar arithmetic" },
	[EVIDENCE_PART] = { "part", NULL, "", CELL_COUNT, 0, "that the finding's code has" },
	[EVIDENCE_ALL] = { "all", NULL, "", CELL_COUNT, 0, "of which this is a part" },
	[EVIDENCE_PENALTY] = { "penalty_cycles", NULL, "cycles", CELL_NUMBER, 0,
			       "that one occurrence costs" },
	[EVIDENCE_IS_ESTIMATE] = { "is_estimate", NULL, "", CELL_BOOL, 0,
				   "the penalty is not published" },
	[EVIDENCE_PAGE_LINES] = { "lines_per_page", NULL, "lines", CELL_NUMBER, 0,
				  "that misses are of" },
};

static const char *const evidence_kinds[] = {
	[EVIDENCE_WEIGHT] = "weight",
	[EVIDENCE_NODE] = "node",
	[EVIDENCE_RATE] = "rate",
	[EVIDENCE_THRESHOLD] = "threshold",
	[EVIDENCE_MEMORY_STALLS] = "memory-stalls",
	[EVIDENCE_COST] = "cost",
	[EVIDENCE_REST_CORE] = "rest-core",
	[EVIDENCE_REST_COPY] = "rest-copy",
	[EVIDENCE_REST_UNITS] = "rest-units",
	[EVIDENCE_REST_FETCH] = "rest-fetch",
	[EVIDENCE_COLD_CODE] = "cold-code",
	[EVIDENCE_STORES] = "stores",
	[EVIDENCE_LINES] = "dram-lines",
	[EVIDENCE_ONE_MISS] = "one-miss",
	[EVIDENCE_SCATTERED] = "scattered",
	[EVIDENCE_IN_ORDER] = "in-order",
	[EVIDENCE_TAKEN_LINES] = "taken-lines",
	[EVIDENCE_SHARING_NOT_COUNTED] = "sharing-not-counted",
	[EVIDENCE_MIX] = "mix",
	[EVIDENCE_CACHES_NOT_COUNTED] = "caches-not-counted",
	[EVIDENCE_BRANCH_STALLS] = "branch-stalls",
	[EVIDENCE_LEFT_CPU] = "left-cpu",
	[EVIDENCE_FINDING] = "finding",
};

static struct cell *add_evidence(struct table *t, size_t finding, const char *kind)
{
	struct cell *row = table_add_row(t);

	row[EVIDENCE_OF] = cell_count(finding);
	row[EVIDENCE_IS] = cell_text(kind);
	return row;
}

static void put_value(struct table *t, struct cell *row, double value, const char *unit)
{
	row[EVIDENCE_VALUE] = cell_number(value);
	row[EVIDENCE_UNIT] = table_text_cell(t, unit);
}

static void put_penalty(struct table *t, const struct evidence *e, struct cell *row)
{
	row[EVIDENCE_ISSUE] = table_text_cell(t, e->penalty->issue);
	row[EVIDENCE_EVENT] = table_text_cell(t, e->penalty->event->name);
	put_value(t, row, e->value, "per 1000 instructions");
	row[EVIDENCE_SHARE] = cell_number(e->share);
	row[EVIDENCE_PENALTY] = cell_number(e->penalty->cycles);
	row[EVIDENCE_IS_ESTIMATE] = cell_bool(e->penalty->is_estimate);
}

static void put_metric(struct table *t, const struct evidence *e, struct cell *row)
{
	row[EVIDENCE_METRIC] = table_text_cell(t, e->metric->name);
	put_value(t, row, e->value, e->metric->unit);
}

static void put_row(struct table *t, const struct evidence *e, struct cell *row)
{
	switch (e->kind) {
	case EVIDENCE_WEIGHT:
		row[EVIDENCE_PART] = cell_count(e->part);
		row[EVIDENCE_ALL] = cell_count(e->all);
		row[EVIDENCE_UNIT] = table_text_cell(t, e->unit);
		row[EVIDENCE_SHARE] = cell_number(e->value);
		break;
	case EVIDENCE_NODE:
		put_metric(t, e, row);
		break;
	case EVIDENCE_RATE:
		put_metric(t, e, row);
		row[EVIDENCE_LIMIT] = cell_number(e->threshold);
		break;
	case EVIDENCE_THRESHOLD:
		row[EVIDENCE_LIMIT] = cell_number(e->threshold);
		break;
	case EVIDENCE_COST:
		put_penalty(t, e, row);
		break;
	case EVIDENCE_REST_CORE:
	case EVIDENCE_REST_UNITS:
	case EVIDENCE_REST_FETCH:
	case EVIDENCE_STORES:
	case EVIDENCE_TAKEN_LINES:
		row[EVIDENCE_SHARE] = cell_number(e->share);
		break;
	case EVIDENCE_COLD_CODE:
	case EVIDENCE_LINES:
		put_value(t, row, e->value, "lines");
		row[EVIDENCE_SHARE] = cell_number(e->share);
		break;
	case EVIDENCE_REST_COPY:
		put_value(t, row, e->value, "operations");
		row[EVIDENCE_SHARE] = cell_number(e->share);
		break;
	case EVIDENCE_ONE_MISS:
		put_value(t, row, e->value, "misses");
		break;
	case EVIDENCE_SCATTERED:
		put_value(t, row, e->value, "misses");
		row[EVIDENCE_PAGE_LINES] = cell_number(e->share);
		break;
	case EVIDENCE_IN_ORDER:
		row[EVIDENCE_PAGE_LINES] = cell_number(e->share);
		break;
	case EVIDENCE_SHARING_NOT_COUNTED:
		put_value(t, row, e->value, "CPUs");
		row[EVIDENCE_EVENT] = table_text_cell(t, e->unit);
		break;
	case EVIDENCE_MIX:
		row[EVIDENCE_SHARE] = cell_number(e->value / 100);
		row[EVIDENCE_SCALAR] = cell_number(e->share / 100);
		break;
	case EVIDENCE_BRANCH_STALLS:
		put_value(t, row, e->value, "cycles");
		break;
	case EVIDENCE_MEMORY_STALLS:
	case EVIDENCE_CACHES_NOT_COUNTED:
	case EVIDENCE_LEFT_CPU:
	case EVIDENCE_FINDING:
		break;
	}
}

/* Of a finding that is evidence itself: what it is, then what it rests on. */
static void put_all(struct table *t, size_t number, const struct finding *f)
{
	if (f->code != NULL) {
		put_value(t, add_evidence(t, number, "operation-time"), f->code->cycles, "cycles");
		put_value(t, add_evidence(t, number, "explained-time"), f->code->explained,
			  "cycles");
		put_value(t, add_evidence(t, number, "code-size"), 64 * (double)f->code->n_lines,
			  "bytes");
		put_value(t, add_evidence(t, number, "code-pages"), (double)f->code->n_pages,
			  "pages");
	}
	for (size_t i = 0; i < f->evidence.n; i++) {
		const struct evidence *e = &f->evidence.items[i];
		struct cell *row = add_evidence(t, number, evidence_kinds[e->kind]);

		put_row(t, e, row);
		if (e->kind != EVIDENCE_FINDING)
			continue;
		row[EVIDENCE_METRIC] = cell_text(finding_id(e->finding));
		row[EVIDENCE_SHARE] = cell_number(e->finding->size.share);
		for (size_t k = 0; k < e->finding->evidence.n; k++) {
			const struct evidence *inner = &e->finding->evidence.items[k];

			put_row(t, inner, add_evidence(t, number, evidence_kinds[inner->kind]));
		}
	}
}

void findings_evidence_table(const struct findings *f, struct table *out)
{
	table_init(out, "evidence", NULL, evidence_columns, COUNT(evidence_columns));
	out->readers = TABLE_FOR_PROGRAMS;
	for (size_t i = 0; i < f->list.n; i++)
		put_all(out, i + 1, f->list.items[i]);
}

enum loop_column {
	LOOP_OF,
	LOOP_IS,
	LOOP_FILE,
	LOOP_LINE,
	LOOP_INSNS,
	LOOP_TIME,
	LOOP_CLOCK,
	LOOP_CLOCK_IS_ASSUMED,
	LOOP_WIDTH,
	LOOP_CHAIN,
	LOOP_REGISTER_CHAIN,
	LOOP_DIVISION,
	LOOP_DIVISION_WAIT,
	LOOP_LEVEL,
	LOOP_ACCESS,
	LOOP_LEVEL_CYCLES,
	LOOP_SATURATED,
	LOOP_PART,
	LOOP_HERE,
	LOOP_RECORDS,
	LOOP_WALK,
	LOOP_STRIDE,
	LOOP_ELEMENT,
	LOOP_PREFETCH,
	LOOP_PREFETCH_FILE,
	LOOP_PREFETCH_LINE,
	LOOP_DISTANCE,
	LOOP_LACKING,
	LOOP_LINES,
	LOOP_MOST_LINES,
	LOOP_DATA,
	LOOP_SHARE,
	LOOP_SHARE_ERROR,
	LOOP_HERE_LOW,
	LOOP_HERE_HIGH,
	LOOP_BYTES,
	LOOP_BYTES_ERROR,
	N_LOOP_COLUMNS,
};

static const struct column loop_columns[N_LOOP_COLUMNS] = {
	[LOOP_OF] = { "finding", NULL, "", CELL_COUNT, 0, "number among `findings`, from 1" },
	[LOOP_IS] = { "is_loop", NULL, "", CELL_BOOL, 0, "false: code outside of loops" },
	[LOOP_FILE] = { "file", NULL, "", CELL_TEXT, 0, "where it goes back" },
	[LOOP_LINE] = { "line", NULL, "", CELL_COUNT, 0, "where it goes back" },
	[LOOP_INSNS] = { "instructions", NULL, "instructions", CELL_NUMBER, 0,
			 "of an iteration, on average" },
	[LOOP_TIME] = { "iteration_ns", NULL, "ns", CELL_NUMBER, 0, "that an iteration takes" },
	[LOOP_CLOCK] = { "clock_hz", NULL, "Hz", CELL_NUMBER, 0,
			 "that times are compared with latencies at" },
	[LOOP_CLOCK_IS_ASSUMED] = { "clock_is_assumed", NULL, "", CELL_BOOL, 0,
				    "else it was recorded or given" },
	[LOOP_WIDTH] = { "width", NULL, "instructions", CELL_NUMBER, 0,
			 "that the core does in a cycle at most" },
	[LOOP_CHAIN] = { "chain_cycles", NULL, "cycles", CELL_NUMBER, COLUMN_TRUST,
			 "of dependent operations, for each iteration" },
	[LOOP_REGISTER_CHAIN] = { "register_chain_cycles", NULL, "cycles", CELL_NUMBER, 0,
				  "of them if what the loop stores and loads again were in "
				  "registers" },
	[LOOP_DIVISION] = { "division_cycles", NULL, "cycles", CELL_NUMBER, 0,
			    "of divisions, for each iteration" },
	[LOOP_DIVISION_WAIT] = { "division_wait_cycles", NULL, "cycles", CELL_NUMBER, 0,
				 "that a division waits for its unit" },
	[LOOP_LEVEL] = { "level", NULL, "", CELL_TEXT, 0, "that its data come from" },
	[LOOP_ACCESS] = { "access_cycles", NULL, "cycles", CELL_NUMBER, 0,
			  "mean latency of the instruction that it is about, from issue on; absent "
			  "if it is saturated" },
	[LOOP_LEVEL_CYCLES] = { "level_cycles", NULL, "cycles", CELL_NUMBER, 0,
				"mean latency of `records` from issue on, without saturated ones" },
	[LOOP_SATURATED] = { "saturated", NULL, "records", CELL_COUNT, 0,
			     "of `records`: a latency counter was saturated" },
	[LOOP_PART] = { "latency_share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			"of the latency of its accesses from issue on, what the cause has" },
	[LOOP_HERE] = { "records", NULL, "records", CELL_COUNT, 0,
			"of that instruction, that the cause is about" },
	[LOOP_RECORDS] = { "all_records", NULL, "records", CELL_COUNT, 0, "of that instruction" },
	[LOOP_WALK] = { "walk", NULL, "", CELL_TEXT, 0,
			"through memory: chase, lookup, sequential, stride, columns, indirect, "
			"computed" },
	[LOOP_STRIDE] = { "stride_bytes", NULL, "bytes", CELL_SIGNED, 0,
			  "from one iteration to the next" },
	[LOOP_ELEMENT] = { "element_bytes", NULL, "bytes", CELL_COUNT, 0, "that it accesses" },
	[LOOP_PREFETCH] = { "prefetch", NULL, "", CELL_TEXT, 0, "its place: function and offset" },
	[LOOP_PREFETCH_FILE] = { "prefetch_file", NULL, "", CELL_TEXT, 0, "source file of it" },
	[LOOP_PREFETCH_LINE] = { "prefetch_line", NULL, "", CELL_COUNT, 0, "line in that file" },
	[LOOP_DISTANCE] = { "prefetch_distance", NULL, "iterations", CELL_SIGNED, 0,
			    "that it is ahead" },
	[LOOP_LACKING] = { "prefetch_lacks", NULL, "iterations", CELL_SIGNED, 0,
			   "more that the data take" },
	[LOOP_LINES] = { "outstanding_lines", NULL, "lines", CELL_NUMBER, 0,
			 "with a prefetch: that are on their way at a time, by the latencies of "
			 "the "
			 "catalog" },
	[LOOP_MOST_LINES] = { "most_outstanding_lines", NULL, "lines", CELL_NUMBER, 0,
			      "that the core can wait for at a time" },
	[LOOP_DATA] = { "data", NULL, "", CELL_TEXT, 0,
			"that the instruction accesses: a variable or type, and the member" },
	[LOOP_SHARE] = { "time_share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			 "of the run time, that it takes" },
	[LOOP_SHARE_ERROR] = { "time_share_error", NULL, "", CELL_NUMBER,
			       COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			       "half of the 95 % interval of that" },
	[LOOP_HERE_LOW] = { "records_low", NULL, "", CELL_NUMBER,
			    COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			    "`records` by `all_records`: where its 95 % interval begins" },
	[LOOP_HERE_HIGH] = { "records_high", NULL, "", CELL_NUMBER,
			     COLUMN_SHARE | COLUMN_MACHINE_ONLY, "where that ends" },
	[LOOP_BYTES] = { "dram_bytes_per_s", NULL, "bytes", CELL_NUMBER, 0,
			 "of what waits for DRAM: bytes in a second, by sampled accesses that "
			 "missed "
			 "the LLC, or by the stride" },
	[LOOP_BYTES_ERROR] = { "dram_bytes_error", NULL, "bytes", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			       "half of the 95 % interval of that, by the number of samples" },
};

static const char *const walks[N_FINDING_WALKS] = {
	[WALK_CHASE] = "chase",	      [WALK_LOOKUP] = "lookup",	  [WALK_SEQUENTIAL] = "sequential",
	[WALK_STRIDE] = "stride",     [WALK_COLUMNS] = "columns", [WALK_INDIRECT] = "indirect",
	[WALK_COMPUTED] = "computed",
};

static struct cell if_positive(double value)
{
	return value > 0 ? cell_number(value) : (struct cell){ 0 };
}

static struct cell bounded_cell(double cycles, bool is_cut)
{
	return cell_marked(if_positive(cycles), mark_bound(is_cut, false));
}

static void put_prefetch(struct table *t, const struct finding_loop *l, struct cell *row)
{
	row[LOOP_PREFETCH] = table_text_cell(t, l->other.name);
	row[LOOP_PREFETCH_FILE] = table_text_cell(t, l->other.file);
	if (l->other.file != NULL)
		row[LOOP_PREFETCH_LINE] = cell_count(l->other.line);
	if (l->distance != 0)
		row[LOOP_DISTANCE] = cell_signed(l->distance);
	if (l->lacking != 0)
		row[LOOP_LACKING] = cell_signed(l->lacking);
	row[LOOP_LINES] = if_positive(l->lines_in_flight);
	row[LOOP_MOST_LINES] = if_positive(l->most_lines);
}

static void loop_row_add(struct table *t, size_t number, const struct finding_loop *l)
{
	struct cell *row = table_add_row(t);

	row[LOOP_OF] = cell_count(number);
	row[LOOP_IS] = cell_bool(l->is_loop);
	row[LOOP_FILE] = table_text_cell(t, l->at.file);
	if (l->at.file != NULL)
		row[LOOP_LINE] = cell_count(l->at.line);
	row[LOOP_INSNS] = cell_number(l->n_insns);
	row[LOOP_TIME] = cell_number(l->iteration_ns);
	row[LOOP_CLOCK] = if_positive(l->ghz * 1e9);
	row[LOOP_CLOCK_IS_ASSUMED] = cell_bool(l->is_clock_assumed);
	row[LOOP_WIDTH] = if_positive(l->width);
	row[LOOP_CHAIN] = bounded_cell(l->chain_cycles, l->is_chain_cut);
	row[LOOP_REGISTER_CHAIN] = if_positive(l->register_chain);
	row[LOOP_DIVISION] = if_positive(l->division_cycles);
	row[LOOP_DIVISION_WAIT] = if_positive(l->division_wait);
	row[LOOP_LEVEL] = table_text_cell(t, l->level);
	if (!l->is_access_cut)
		row[LOOP_ACCESS] = if_positive(l->access_cycles);
	if (l->level != NULL || l->level_cycles > 0) {
		row[LOOP_LEVEL_CYCLES] = if_positive(l->level_cycles);
		row[LOOP_SATURATED] = cell_count(l->n_saturated);
	}
	row[LOOP_PART] = cell_number(l->part);
	row[LOOP_HERE] = cell_count(l->n_here);
	row[LOOP_RECORDS] = cell_count(l->n_of);
	row[LOOP_DATA] = table_text_cell(t, l->data.name);
	row[LOOP_WALK] = words_cell(walks[l->walk]);
	if (l->stride != 0)
		row[LOOP_STRIDE] = cell_signed(l->stride);
	if (l->element_bytes > 0)
		row[LOOP_ELEMENT] = cell_count(l->element_bytes);
	put_prefetch(t, l, row);
	if (l->share > 0) {
		row[LOOP_SHARE] = cell_number(l->share);
		row[LOOP_SHARE_ERROR] = cell_number(l->share_error);
	}
	if (l->here_high > 0) {
		row[LOOP_HERE_LOW] = cell_number(l->here_low);
		row[LOOP_HERE_HIGH] = cell_number(l->here_high);
	}
	row[LOOP_BYTES] = if_positive(l->bytes_per_s);
	row[LOOP_BYTES_ERROR] = if_positive(l->bytes_error);
}

void findings_loops_table(const struct findings *f, struct table *out)
{
	table_init(out, "loops", NULL, loop_columns, COUNT(loop_columns));
	out->readers = TABLE_FOR_PROGRAMS;
	for (size_t i = 0; i < f->list.n; i++)
		if (f->list.items[i]->loop != NULL)
			loop_row_add(out, i + 1, f->list.items[i]->loop);
}

enum unexplained_column {
	REST_SHARE,
	REST_ERROR,
	REST_FUNCTION,
	REST_MODULE,
	REST_FILE,
	REST_LINE,
	REST_CYCLES,
	REST_EXPLAINED,
	REST_CLOCK,
	REST_CLOCK_IS_ASSUMED,
	REST_SUSPECT,
	REST_SUSPECT_FILE,
	REST_SUSPECT_LINE,
	N_REST_COLUMNS,
};

static const struct column unexplained_columns[N_REST_COLUMNS] = {
	[REST_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			 "of the run time, that nothing explains" },
	[REST_ERROR] = { "share_error", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			 "half of the 95 % interval of that" },
	[REST_FUNCTION] = { "function", NULL, "", CELL_TEXT, 0, "function of the loop" },
	[REST_MODULE] = { "module", NULL, "", CELL_TEXT, 0, "module of that function" },
	[REST_FILE] = { "file", NULL, "", CELL_TEXT, 0, "where the loop goes back" },
	[REST_LINE] = { "line", NULL, "", CELL_COUNT, 0, "where the loop goes back" },
	[REST_CYCLES] = { "iteration_cycles", NULL, "cycles", CELL_NUMBER, 0,
			  "that an iteration takes" },
	[REST_EXPLAINED] = { "explained_cycles", NULL, "cycles", CELL_NUMBER, 0,
			     "of that, what its chain, the core's width and its waits explain" },
	[REST_CLOCK] = { "clock_hz", NULL, "Hz", CELL_NUMBER, 0,
			 "that times are compared with latencies at" },
	[REST_CLOCK_IS_ASSUMED] = { "clock_is_assumed", NULL, "", CELL_BOOL, 0,
				    "else it was recorded or given" },
	[REST_SUSPECT] = { "suspect", NULL, "", CELL_TEXT, 0,
			   "atomic or ordered access in it: function and offset" },
	[REST_SUSPECT_FILE] = { "suspect_file", NULL, "", CELL_TEXT, 0, "source file of it" },
	[REST_SUSPECT_LINE] = { "suspect_line", NULL, "", CELL_COUNT, 0, "line in that file" },
};

static void unexplained_row_add(struct table *t, const struct finding *f)
{
	const struct finding_loop *l = f->loop;
	struct cell *row = table_add_row(t);

	row[REST_SHARE] = cell_number(f->size.share);
	row[REST_ERROR] = cell_number(f->size.error);
	row[REST_FUNCTION] = table_text_cell(t, f->function);
	row[REST_MODULE] = table_text_cell(t, f->module);
	row[REST_FILE] = table_text_cell(t, l->at.file);
	if (l->at.file != NULL)
		row[REST_LINE] = cell_count(l->at.line);
	row[REST_CYCLES] = cell_number(l->iteration_cycles);
	row[REST_EXPLAINED] = cell_number(l->explained_cycles);
	row[REST_CLOCK] = if_positive(l->ghz * 1e9);
	row[REST_CLOCK_IS_ASSUMED] = cell_bool(l->is_clock_assumed);
	row[REST_SUSPECT] = table_text_cell(t, l->other.name);
	row[REST_SUSPECT_FILE] = table_text_cell(t, l->other.file);
	if (l->other.file != NULL)
		row[REST_SUSPECT_LINE] = cell_count(l->other.line);
}

void findings_unexplained_table(const struct findings *f, struct table *out)
{
	table_init(out, "unexplained", NULL, unexplained_columns, COUNT(unexplained_columns));
	out->readers = TABLE_FOR_PROGRAMS;
	for (size_t i = 0; i < f->silences.n; i++)
		if (f->silences.items[i].unexplained != NULL)
			unexplained_row_add(out, f->silences.items[i].unexplained);
}
