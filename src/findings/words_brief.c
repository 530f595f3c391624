/* SPDX-License-Identifier: Apache-2.0 */
/* Findings at a glance: a row for each finding. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/short_name.h"
#include "findings/words_inside.h"
#include "metrics/metric_words.h"

enum column_index {
	NUMBER,
	WHAT,
	WHERE,
	LINE,
	COST,
	EVIDENCE,
	FIX,
	PREDICTION,
	COST_SENTENCE,
	IS_LIMIT,
	GAIN,
	N_COLUMNS
};

static const struct column columns[N_COLUMNS] = {
	[NUMBER] = { "number", "#", "", CELL_COUNT, 0, "number of the finding" },
	[WHAT] = { "what", NULL, "", CELL_TEXT, 0, "the cause" },
	[WHERE] = { "where", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_YIELD,
		    "function, or the data that threads share" },
	[LINE] = { "line", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_PATH, "source line" },
	[COST] = { "cost", NULL, "", CELL_TEXT, COLUMN_BLANK | COLUMN_WHOLE,
		   "cost as a share, half of its 95 % interval, and what it is a share of" },
	[EVIDENCE] = { "evidence", NULL, "", CELL_TEXT, COLUMN_BELOW, "the evidence" },
	[FIX] = { "fix", NULL, "", CELL_TEXT, COLUMN_BELOW, "what to change first" },
	[PREDICTION] = { "prediction", "gain", "", CELL_TEXT, COLUMN_BELOW,
			 "what the machine model saves without the cause" },
	/* Of the pages only: where each finding has a place of its own, there are more words. */
	[COST_SENTENCE] = { "cost_sentence", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			    "the cost, and what it is a share of" },
	[IS_LIMIT] = { "is_limit", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
		       "the cost is an upper bound" },
	[GAIN] = { "gain", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		   "what a fix may gain; a command in it is in backticks" },
};

/* Of shared data where they are written, or, if that has no source line, read. */
static const struct finding_place *place_of(const struct finding *f)
{
	const struct finding_sharing *s = f->sharing;
	const struct finding_place *write;

	if (s == NULL)
		return &f->where;
	write = sharing_first_write(s);
	return write->file != NULL ? write : &s->reads[0].place;
}

/* An object without its type: "account" of "account (struct account, 64 bytes)". */
static const char *brief_where_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (f->sharing != NULL && f->sharing->name != NULL) {
		short_name(f->sharing->name, strlen(f->sharing->name), WORDS_NAME_WIDTH, &text);
		if (f->sharing->n_variables > 1)
			text_format(&text, " +%" PRIu32, f->sharing->n_variables - 1);
	} else
		words_put_subject(f, &text);
	return words_take(t, &text);
}

static const char *line_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	words_put_line(place_of(f), "", "", &text);
	return words_take(t, &text);
}

/* What the share is of, in few words; "" if that is not known. */
static const char *whole_brief(const struct finding *f)
{
	static const char *const known[] = {
		[WHOLE_TIME] = "time",	       [WHOLE_CPU_TIME] = "CPU time",
		[WHOLE_LATENCY] = "latency",   [WHOLE_LOAD_LATENCY] = "load latency",
		[WHOLE_BRANCHES] = "branches",
	};

	if (f->size.of != WHOLE_OTHER)
		return known[f->size.of];
	if (f->size.whole != NULL)
		return f->size.whole;
	return f->metric != NULL ? metric_whole(f->metric) : "";
}

/* "<= 68.8 % +- 3.7 time"; `whole` is what the share is of, "" if the heading says it. */
static const char *cost_brief(struct table *t, const struct finding *f, const char *whole)
{
	const char *cost = words_cost(t, f);

	if (cost == NULL)
		return NULL;
	return table_format(t, "%s%s%s%s",
			    words_is_limit(f) ? "\xe2\x89\xa4 "
			    : f->code != NULL ? "\xe2\x89\xa5 "
					      : "",
			    cost, whole[0] != '\0' ? " " : "", whole);
}

/* "at most 68.8 % +- 3.7 of the time" */
static const char *cost_sentence(struct table *t, const struct finding *f)
{
	const char *cost = words_cost(t, f);
	const char *whole = f->size.of == WHOLE_TIME ? "the time" : whole_brief(f);

	if (cost == NULL)
		return NULL;
	return table_format(t, "%s%s%s%s", words_bound(f), cost, whole[0] != '\0' ? " of " : "",
			    whole);
}

/* What all shares are of; "" if they are of different wholes. */
static const char *common_whole(const struct findings *f)
{
	const char *whole = f->list.n > 0 ? whole_brief(f->list.items[0]) : "";

	for (size_t i = 1; i < f->list.n; i++)
		if (strcmp(whole_brief(f->list.items[i]), whole) != 0)
			return "";
	return whole;
}

/* Does put_loop_brief() say how long loads from a level take? */
static bool tells_level(const struct finding *f)
{
	return f->loop != NULL && f->loop->level_cycles + (double)f->loop->n_saturated > 0 &&
	       f->kind != FINDING_LATE_PREFETCH && !words_tells_lines(f->loop, f->kind);
}

/* Does put_loop_brief() have a part of the samples, with its interval? */
static bool tells_part(const struct finding *f)
{
	return f->loop != NULL && f->loop->here_high > 0 && f->loop->here_low < 0.995 &&
	       !words_tells_lines(f->loop, f->kind) && f->kind != FINDING_DEPENDENCY_CHAIN &&
	       f->kind != FINDING_STORE_FORWARDING && f->kind != FINDING_DIVISION &&
	       f->kind != FINDING_SCALAR_LOOP;
}

/* The columns, with what costs are shares of in the heading if all are of the same. */
static void init_brief_table(const char *whole, struct table *out)
{
	struct column *own;

	table_init(out, "summary", NULL, columns, N_COLUMNS);
	if (whole[0] == '\0')
		return;
	own = arena_alloc(&out->memory, sizeof(columns));
	memcpy(own, columns, sizeof(columns));
	own[COST].title = table_format(out, "cost (%s)", whole);
	out->columns = own;
}

static void put_loop_brief(const struct finding_loop *l, enum finding_kind kind, struct text *out)
{
	words_put_loop_cause(l, kind, out);
	words_put_data_name(l, "; data: ", out);
}

static void put_sharing_brief(struct table *t, const struct finding *f, struct text *out)
{
	const struct finding_sharing *s = f->sharing;
	const struct finding_waits *w = s->contended.n > 0 ? &s->contended : &s->reloads;

	if (w->n > 0)
		text_format(out, "%s%s, mean %s%.0f cycles",
			    table_human(t, cell_count(w->n), sharing_waiters(s, w->n)),
			    w == &s->contended ? " from another core" : "",
			    w->n_saturated > 0 ? "\xe2\x89\xa5" : "", w->mean_cycles);
	else
		text_str(out, sharing_writes(t, s));
}

static const char *evidence_brief(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (f->loop != NULL)
		put_loop_brief(f->loop, f->kind, &text);
	else if (f->sharing != NULL)
		put_sharing_brief(t, f, &text);
	else if (f->page_faults != NULL)
		text_format(&text, "%.0f %% %s", 100 * f->page_faults->part,
			    page_faults_words(f->page_faults));
	else if (f->kind == FINDING_MEMORY_BOUND)
		text_format(&text, "%.0f %% of loads from DRAM", f->value);
	else if (f->kind == FINDING_SHARED_DATA)
		text_format(&text, "%.0f %% of loads are peer snoops", f->value);
	else if (f->kind == FINDING_TLB_WALKS)
		text_format(&text, "%.0f %% of operations need a walk", f->value);
	else if (f->kind == FINDING_MISPREDICTIONS)
		text_format(&text, "%.0f %% of its branches mispredicted", f->value);
	else if (f->kind == FINDING_SLOW_OPERATIONS)
		text_format(&text, "mean %.0f cycles; of all operations %.0f", f->value, f->other);
	else if (f->kind == FINDING_WAITING)
		text_format(&text, "used %.1f %% of one CPU", f->value);
	else if (f->metric != NULL || f->kind == FINDING_SCALAR)
		text_str(&text, counts_claim(t, f, false));
	else if (f->samples.n_all > 0)
		text_str(&text, table_human(t, cell_count(f->samples.n), "samples"));
	return words_take(t, &text);
}

/*
 * Costs of loops are limits: waiting for several things at a time is in the limit of each of them. So what they leave is
 * the least that is of no finding.
 */
static void note_rest(const struct findings *f, struct table *out)
{
	const char *limits;
	size_t n_limits = 0;
	double share = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		const struct finding *each = f->list.items[i];

		if (each->size.of == WHOLE_TIME && words_is_limit(each)) {
			n_limits++;
			share += each->size.share + fmax(0, each->size.error);
		}
	}
	if (n_limits == 0)
		return;
	limits = f->list.n == 1		 ? "the cost is an upper limit, as waits overlap"
		 : n_limits == f->list.n ? "costs are upper limits, as waits overlap"
					 : "costs of loops are upper limits, as waits overlap";
	if (n_limits == f->list.n && share < 1)
		table_note(out, "%s; not explained by a finding: at least %.1f %% of the time",
			   limits, 100 * (1 - share));
	else
		table_note(out, "%s", limits);
}

/* "as #1: interchange the loops" */
static const char *brief_fix(struct table *t, const struct findings *f, size_t i)
{
	const char *fix = words_fix(f->list.items[i]);
	size_t same = findings_same_fix(f, i);

	return same == 0 ? fix : table_format(t, "as #%zu: %s", same, fix);
}

void findings_brief_table(const struct findings *f, const struct session *s, struct table *out)
{
	const char *whole = common_whole(f);
	bool has_access = false, is_cut = false, has_part = false, is_of_loads = f->list.n > 0;
	bool has_bandwidth = false;

	init_brief_table(whole, out);
	for (size_t i = 0; i < f->list.n; i++) {
		const struct finding *each = f->list.items[i];
		struct cell *row = table_add_row(out);

		row[NUMBER] = cell_count(i + 1);
		row[WHAT] = cell_text(words_cause(each));
		row[WHERE] = words_cell(brief_where_words(out, each));
		row[LINE] = words_cell(line_words(out, each));
		row[COST] = words_cell(
			cost_brief(out, each, whole[0] != '\0' ? "" : whole_brief(each)));
		row[EVIDENCE] = words_cell(evidence_brief(out, each));
		row[FIX] = words_cell(brief_fix(out, f, i));
		row[PREDICTION] = words_cell(finding_prediction_words(out, each));
		row[COST_SENTENCE] = words_cell(cost_sentence(out, each));
		row[IS_LIMIT] = cell_bool(words_is_limit(each));
		row[GAIN] = words_cell(finding_gain_words(out, s, each, "`"));
		has_access |= tells_level(each) && each->loop->level_cycles > 0;
		is_cut |= tells_level(each) && each->loop->n_saturated > 0;
		is_of_loads &= each->size.of == WHOLE_LOAD_LATENCY;
		has_part |= tells_part(each);
		has_bandwidth |= each->kind == FINDING_DRAM_BANDWIDTH;
	}
	note_rest(f, out);
	if (has_bandwidth)
		table_note(out, "DRAM bandwidth: what one core reaches: its outstanding cache "
				"lines divided by their latency; GB/s: sampled accesses that "
				"missed the LLC, "
				"64 bytes each");
	if (has_part || has_access || is_cut)
		table_note(out, "%s%s%s%s%s",
			   has_part ? "in parentheses: the 95 % interval of that part" : "",
			   has_part && (has_access || is_cut) ? "; " : "",
			   has_access ? "cycles: of these loads, issue to completion" : "",
			   has_access && is_cut ? "; " : "",
			   is_cut ? "saturated: 4 095 cycles or more, wait for issue included"
				  : "");
	if (is_of_loads)
		table_note(out, "load latency: of all sampled loads; it is no run time");
	for (size_t i = 0; i < f->silences.n && f->list.n > 0; i++)
		if (f->silences.items[i].kind != SILENCE_NO_COUNTERS) /* the answer says so */
			findings_note_silence(out, &f->silences.items[i]);
}
