/* SPDX-License-Identifier: Apache-2.0 */
/* Findings at a glance: the answer in sentences, a row for each finding, the commands that show more. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "data/short_name.h"
#include "findings/words_inside.h"
#include "metrics/metric_words.h"
#include "session/tip.h"

enum {
	COMMANDS_SHOWN = 2,
	NAME_WIDTH = 40,
	SAID_WAITS = 30, /* loads: what fewer of them show is said with their number */
};

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
		       "the cost is an upper bound, with its error in it" },
	[GAIN] = { "gain", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
		   "what a fix may gain; a command in it is in backticks" },
};

static const char *const causes[N_FINDING_KINDS] = {
	[FINDING_MEMORY_BOUND] = "DRAM latency",
	[FINDING_SHARED_DATA] = "peer snoops",
	[FINDING_TLB_WALKS] = "page table walks",
	[FINDING_MISPREDICTIONS] = "branch mispredicts",
	[FINDING_DEPENDENCY_CHAIN] = "dependency chain",
	[FINDING_STORE_FORWARDING] = "store-to-load forwarding",
	[FINDING_DIVISION] = "division",
	[FINDING_L2_BOUND] = "L2 latency",
	[FINDING_LLC_BOUND] = "LLC latency",
	[FINDING_DRAM_LATENCY] = "DRAM latency",
	[FINDING_DRAM_BANDWIDTH] = "DRAM bandwidth",
	[FINDING_STORE_BOUND] = "store misses",
	[FINDING_LATE_PREFETCH] = "late prefetch",
	[FINDING_SCALAR_LOOP] = "scalar loop",
	[FINDING_FRONT_END] = "instruction fetch",
	[FINDING_SLOW_OPERATIONS] = "slow operations",
	[FINDING_PAGE_FAULTS] = "page faults",
	[FINDING_UNNAMED_CODE] = "no symbols",
	[FINDING_HOT_FUNCTION] = "hot function",
	[FINDING_FALSE_SHARING] = "false sharing",
	[FINDING_TRUE_SHARING] = "true sharing",
	[FINDING_CONTENDED] = "contended line",
	[FINDING_WAITING] = "not running",
	[FINDING_SCALAR] = "scalar code",
};

/* Causes that code alone tells of (finding_is_unproven()). */
static const char *const possible_causes[N_FINDING_KINDS] = {
	[FINDING_DEPENDENCY_CHAIN] = "possible dependency chain",
	[FINDING_STORE_FORWARDING] = "possible store-to-load forwarding",
	[FINDING_DIVISION] = "possible wait for the divider",
};

/* The first thing to change, in a clause. Those with a NULL have words of their own. */
static const char *const fixes[N_REMEDIES] = {
	[REMEDY_TOUCH_LESS] = "access less memory, or in order; prefetch ahead",
	[REMEDY_OWN_LINES] = "give each thread its own cache lines",
	[REMEDY_DENSER_PAGES] = "use huge pages, or denser data",
	[REMEDY_PREDICTABLE] = "sort or split the cases, or write branch-free code",
	[REMEDY_POINTER_CHASE] = "store nodes in visiting order, or follow several chains at once",
	[REMEDY_SMALLER_TABLE] = "make the table smaller, or do several look-ups at once",
	[REMEDY_BREAK_CHAIN] = "use several accumulators, or several chains at once",
	[REMEDY_INTERLEAVE] = "work on several independent sequences at once (accumulators do not "
			      "help)",
	[REMEDY_SKIP_AHEAD] = "take several steps at once: x*A + C",
	[REMEDY_IN_REGISTER] =
		"keep the variable in a register: compile with -O2, or copy it to a local",
	[REMEDY_DIVISION] = "multiply by the reciprocal, or shift, in place of the division",
	[REMEDY_INTERCHANGE] = "interchange the loops",
	[REMEDY_SHORTER_STRIDE] = "prefetch ahead, or shorten the stride",
	[REMEDY_PREFETCH_AHEAD] = "prefetch some iterations ahead",
	[REMEDY_PREFETCH_DISTANCE] = "prefetch more iterations ahead",
	[REMEDY_FEWER_BYTES] = "read fewer bytes: smaller types, fused loops",
	[REMEDY_BLOCK] = "block the loops",
	[REMEDY_STORE_IN_ORDER] = "store in order, whole cache lines",
	[REMEDY_REUSE_MEMORY] = "reuse memory, use huge pages, or let malloc keep what is freed",
	[REMEDY_COPY_LESS] = "write to fewer pages after a fork()",
	[REMEDY_MAP_AHEAD] = "map what is needed at once, or read() it into a buffer",
	[REMEDY_LESS_MEMORY] = "access fewer pages, or use less memory",
	[REMEDY_CALL_LESS] = "call it less often: use another algorithm or data structure",
	[REMEDY_CALL_CHAINS] = "record the callers: cyclops record -g",
	[REMEDY_SEPARATE_THREADS] = "give each thread's data its own cache line",
	[REMEDY_LOCK_LESS] = "use the lock or atomic less often",
	[REMEDY_WRITE_LESS] = "write it less often, or give each thread a copy",
	[REMEDY_ONE_NODE] = "run these threads on one node",
	[REMEDY_BRANCH_FREE_SIZES] = "write branch-free code, or sort by case",
	[REMEDY_BRANCH_FREE] = "write branch-free code, or sort by case",
	[REMEDY_CODE_PAGES] = "use huge pages for code",
	[REMEDY_CODE_ORDER] = "order functions by profile (PGO, BOLT)",
	[REMEDY_HUGE_PAGES] = "use huge pages, or denser data",
	[REMEDY_CACHE_L1] = "prefetch ahead, block the loops, or use smaller types",
	[REMEDY_CACHE] = "prefetch ahead, block the loops, or store nodes together",
	[REMEDY_CACHE_CHAIN] = "store nodes in visiting order, or follow several chains at once",
	[REMEDY_CACHE_SCATTERED] = "interchange or block the loops; prefetch known addresses",
	[REMEDY_LESS_SHARING] = "give each thread's data its own cache line",
	[REMEDY_SPECULATION] = "look at mispredicted branches and faults",
	[REMEDY_FRONT_END] = "order code by profile (PGO, BOLT)",
	[REMEDY_VECTORISE] = "vectorise (NEON, SVE)",
	[REMEDY_LESS_WORK] = "execute fewer instructions: a better algorithm",
	[REMEDY_NODES] = "keep threads and their data on one node",
	[REMEDY_CORE] = "break dependency chains, unroll, replace divisions",
	[REMEDY_LONGER_RUN] = "measure a longer run",
	[REMEDY_IDLE_MACHINE] = "measure on an idle machine",
	[REMEDY_IDLE_OR_WAITS] = "find what the program waits for, or measure on an idle machine",
	[REMEDY_WAITS] = "find what the program waits for: I/O, locks, sleep",
};

static const char *cause_words(const struct finding *f)
{
	if (f->metric != NULL)
		return f->metric->label;
	if (f->kind == FINDING_MEMORY_BOUND && f->loop != NULL)
		return "memory latency"; /* the level is not known */
	if (f->kind == FINDING_TRUE_SHARING && f->sharing != NULL && f->sharing->has_lock)
		return f->sharing->is_guarded ? "contended lock" : "contended atomic";
	return finding_is_unproven(f) ? possible_causes[f->kind] : causes[f->kind];
}

static const char *fix_words(const struct finding *f)
{
	const struct remedy *first = f->remedies.items;

	if (f->remedies.n == 0)
		return NULL;
	return first->text != NULL ? first->text : fixes[first->kind];
}

static void put_line(const struct finding_place *p, const char *before, const char *after,
		     struct text *out)
{
	if (p->file != NULL)
		text_format(out, "%s%s:%" PRIu32 "%s", before, p->file, p->line, after);
}

/* " and 2 more like it": variables of one type. */
static void put_variables(const struct finding_sharing *s, struct text *out)
{
	if (s != NULL && s->n_variables > 1)
		text_format(out, " and %" PRIu32 " more like it", s->n_variables - 1);
}

/* The object of a line, the function, or the code without names of a module. */
static void put_subject(const struct finding *f, struct text *out)
{
	const char *name = f->subject != NULL ? f->subject : f->function;

	if (f->sharing != NULL && f->sharing->object != NULL)
		name = f->sharing->object;
	if (f->sharing != NULL && f->sharing->object == NULL && f->sharing->n_lines > 0)
		text_format(out, "%sline 0x%" PRIx64, f->sharing->is_physical ? "physical " : "",
			    f->sharing->lines[0]);
	else if (f->kind == FINDING_UNNAMED_CODE)
		text_str(out, f->subject);
	else if (name != NULL)
		short_name(name, strlen(name), NAME_WIDTH, out);
	put_variables(f->sharing, out);
}

/* "copy, inlined into copy_all": whose code it is, where the subject is the function that has it. */
static void put_code(const struct finding *f, struct text *out)
{
	const char *inlined = f->sharing == NULL && f->function != NULL && f->subject != NULL &&
					      strcmp(f->function, f->subject) == 0
				      ? f->where.inlined
				      : NULL;

	if (inlined != NULL) {
		short_name(inlined, strlen(inlined), NAME_WIDTH, out);
		text_str(out, ", inlined into ");
	}
	put_subject(f, out);
}

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
		short_name(f->sharing->name, strlen(f->sharing->name), NAME_WIDTH, &text);
		if (f->sharing->n_variables > 1)
			text_format(&text, " +%" PRIu32, f->sharing->n_variables - 1);
	} else
		put_subject(f, &text);
	return words_take(t, &text);
}

static const char *line_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	put_line(place_of(f), "", "", &text);
	return words_take(t, &text);
}

static const char *bound_words(const struct finding *f)
{
	if (words_is_limit(f))
		return "at most ";
	return f->code != NULL ? "at least " : "";
}

bool words_has_error(const struct finding *f)
{
	bool is_bound = f->loop == NULL && f->size.mark != MARK_EXACT;

	return !is_bound && !isnan(f->size.error) && f->size.error > 0;
}

void words_put_time(const struct finding *f, struct text *out)
{
	const struct finding_loop *l = f->loop;

	if (l->share <= 0)
		return;
	text_format(out, "%s takes %.1f %%", l->is_loop ? "the loop" : "this code", 100 * l->share);
	if (l->share_error > 0)
		text_format(out, " \xc2\xb1 %.1f", 100 * l->share_error);
}

/* "68.2 % +- 3.7" */
static const char *cost_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (isnan(f->size.share) || (f->sharing != NULL && !f->sharing->has_latency))
		return NULL;
	text_format(&text, "%.1f %%", 100 * f->size.share);
	if (!words_is_limit(f) && words_has_error(f))
		text_format(&text, " \xc2\xb1 %.1f", 100 * f->size.error);
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

/* "<= 71.9 % time"; `whole` is what the share is of, "" if the heading says it. */
static const char *cost_brief(struct table *t, const struct finding *f, const char *whole)
{
	const char *cost = cost_words(t, f);

	if (cost == NULL)
		return NULL;
	return table_format(t, "%s%s%s%s",
			    words_is_limit(f) ? "\xe2\x89\xa4 "
			    : f->code != NULL ? "\xe2\x89\xa5 "
					      : "",
			    cost, whole[0] != '\0' ? " " : "", whole);
}

/* "at most 71.9 % of the time" */
static const char *cost_sentence(struct table *t, const struct finding *f)
{
	const char *cost = cost_words(t, f);
	const char *whole = f->size.of == WHOLE_TIME ? "the time" : whole_brief(f);

	if (cost == NULL)
		return NULL;
	return table_format(t, "%s%s%s%s", bound_words(f), cost, whole[0] != '\0' ? " of " : "",
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

/* Does put_loop_brief() say how many lines are outstanding? */
static bool tells_lines(const struct finding_loop *l, enum finding_kind kind)
{
	return kind == FINDING_DRAM_BANDWIDTH && l->most_lines > 0;
}

/* Does put_loop_brief() say how long loads from a level take? */
static bool tells_level(const struct finding *f)
{
	return f->loop != NULL && f->loop->level_cycles + (double)f->loop->n_saturated > 0 &&
	       f->kind != FINDING_LATE_PREFETCH && !tells_lines(f->loop, f->kind);
}

/* Does put_loop_brief() have a part of the samples, with its interval? */
static bool tells_part(const struct finding *f)
{
	return f->loop != NULL && f->loop->here_high > 0 && f->loop->here_low < 0.995 &&
	       !tells_lines(f->loop, f->kind) && f->kind != FINDING_DEPENDENCY_CHAIN &&
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

/* Of so many loads of so many. */
static const char *const sources[N_FINDING_KINDS] = {
	[FINDING_L2_BOUND] = "loads from L2",
	[FINDING_LLC_BOUND] = "loads from LLC",
	[FINDING_DRAM_LATENCY] = "loads from DRAM",
	[FINDING_DRAM_BANDWIDTH] = "loads from DRAM",
	[FINDING_SHARED_DATA] = "loads from other cores",
};

static void put_loop_cause(const struct finding_loop *l, enum finding_kind kind, struct text *out)
{
	char cycles[GROUPED_BYTES];

	if (tells_lines(l, kind)) {
		put_lines_in_flight(l, out);
		return;
	}
	switch (kind) {
	case FINDING_DEPENDENCY_CHAIN:
		text_format(out, "%.3g cycles an iteration, %.2g by width", l->chain_cycles,
			    l->n_insns / l->width);
		return;
	case FINDING_STORE_FORWARDING:
		text_format(out, "%.3g cycles per iteration (registers: %.3g)", l->chain_cycles,
			    l->register_chain);
		return;
	case FINDING_TLB_WALKS:
		put_loop_part(l, "accesses need a walk", out);
		return;
	case FINDING_MISPREDICTIONS:
		text_str(out, "mispredicted ");
		put_loop_part(l, "times", out);
		return;
	case FINDING_STORE_BOUND:
		put_loop_part(l, "stores miss L1D", out);
		if (l->walk == WALK_STRIDE && l->stride > 0)
			text_format(out, ", one in %s bytes",
				    grouped_u64((uint64_t)l->stride, cycles));
		return;
	case FINDING_LATE_PREFETCH:
		put_loop_part(l, "loads still miss L1D", out);
		return;
	case FINDING_SCALAR_LOOP:
		text_format(out, "%.0f instructions per iteration", l->n_insns);
		return;
	default:
		put_loop_part(l, sources[kind] != NULL ? sources[kind] : "loads", out);
		if (l->level_cycles > 0)
			text_format(out, ", mean %s cycles",
				    grouped_u64((uint64_t)llround(l->level_cycles), cycles));
		if (l->n_saturated == l->n_here)
			text_str(out, ", saturated");
		else if (l->n_saturated > 0)
			text_format(out, ", %s saturated", grouped_u64(l->n_saturated, cycles));
		if (kind == FINDING_DRAM_BANDWIDTH)
			put_bandwidth(l, out);
	}
}

static void put_data_name(const struct finding_loop *l, const char *before, struct text *out)
{
	if (l->data.name == NULL)
		return;
	text_str(out, before);
	short_name(l->data.name, strlen(l->data.name), NAME_WIDTH, out);
}

static void put_loop_brief(const struct finding_loop *l, enum finding_kind kind, struct text *out)
{
	put_loop_cause(l, kind, out);
	put_data_name(l, "; data: ", out);
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
	size_t n_limits = 0;
	double share = 0;

	for (size_t i = 0; i < f->list.n; i++) {
		const struct finding *each = f->list.items[i];

		if (each->size.of == WHOLE_TIME && words_is_limit(each)) {
			n_limits++;
			share += each->size.share;
		}
	}
	if (n_limits == 0)
		return;
	if (n_limits == f->list.n && share < 1)
		table_note(out,
			   "\xe2\x89\xa4: at most, as waits overlap; not explained by a finding: "
			   "at least %.1f %% "
			   "of the time",
			   100 * (1 - share));
	else
		table_note(out, "\xe2\x89\xa4: at most, as waits overlap");
}

/* "as #1: interchange the loops" */
static const char *brief_fix(struct table *t, const struct findings *f, size_t i)
{
	const char *fix = fix_words(f->list.items[i]);
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
		row[WHAT] = cell_text(cause_words(each));
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
		table_note(out, "DRAM bandwidth: what one core reaches, its lines outstanding by "
				"the latency of each; GB/s: sampled accesses that missed the LLC, "
				"64 bytes each");
	if (has_part || has_access || is_cut)
		table_note(out, "%s%s%s%s%s",
			   has_part ? "in brackets: the 95 % interval of that part" : "",
			   has_part && (has_access || is_cut) ? "; " : "",
			   has_access ? "cycles: of these loads, issue to completion" : "",
			   has_access && is_cut ? "; " : "",
			   is_cut ? "saturated: 4 095 cycles or more, with the wait for issue"
				  : "");
	if (is_of_loads)
		table_note(out, "load latency: of all sampled loads; it is no run time");
	for (size_t i = 0; i < f->silences.n && f->list.n > 0; i++)
		if (f->silences.items[i].kind != SILENCE_NO_COUNTERS) /* the answer says so */
			findings_note_silence(out, &f->silences.items[i]);
}

static const char *whole_words(const struct finding *f)
{
	if (f->size.of == WHOLE_TIME)
		return "the time";
	return f->size.of == WHOLE_CPU_TIME ? "the CPU time" : f->size.whole;
}

/* ": at most 71.9 % of the time", ": 86.4 % +- 3.2 of load latency" */
static void put_brief_cost(struct table *t, const struct finding *f, struct text *out)
{
	const char *cost = cost_words(t, f);

	if (cost == NULL)
		return;
	text_format(out, ": %s%s of %s", bound_words(f), cost, whole_words(f));
	if (f->loop == NULL && f->size.mark == MARK_SATURATED)
		text_str(out, " or more");
	else if (f->loop == NULL && f->size.mark == MARK_AT_MOST)
		text_str(out, " or less");
	if (f->sharing != NULL && f->sharing->n_waited > 0 && f->sharing->n_waited < SAID_WAITS)
		text_format(out, ", by %" PRIu32 " sampled %s%s", f->sharing->n_waited,
			    sharing_waiters(f->sharing, f->sharing->n_waited),
			    finding_is_sparse(f) ? ": too few samples" : "");
}

/* ", 40": of a write in the file of the first one, on a line of its own. */
static void put_other_line(const struct finding_sharing *s, size_t number, struct text *out)
{
	const struct finding_place *first = sharing_first_write(s), *p = &s->writes[number].place;

	if (first->file == NULL || p->file == NULL || p == first ||
	    strcmp(first->file, p->file) != 0)
		return;
	for (size_t i = 0; i < number; i++)
		if (s->writes[i].place.line == p->line)
			return;
	text_format(out, ", %" PRIu32, p->line);
}

/* ", written at sharing.c:38, 40, read at sharing.c:52" */
static void put_accesses(const struct finding_sharing *s, struct text *out)
{
	const struct finding_place *writes = s->n_write_places > 0 ? sharing_first_write(s) : NULL;
	const struct finding_place *reads = s->n_read_places > 0 ? &s->reads[0].place : NULL;

	if (writes != NULL && reads != NULL && writes->file != NULL && reads->file != NULL &&
	    strcmp(writes->file, reads->file) == 0 && writes->line == reads->line) {
		put_line(writes, ", written and read at ", "", out);
		return;
	}
	if (writes != NULL)
		put_line(writes, ", written at ", "", out);
	for (size_t i = 0; i < sharing_shown(s->n_write_places); i++)
		put_other_line(s, i, out);
	if (reads != NULL)
		put_line(reads, ", read at ", "", out);
}

/* " (load at stride.c:33, prefetched at stride.c:31)" */
static void put_load_and_prefetch(const struct finding *f, struct text *out)
{
	put_line(&f->where, " (load at ", ", ", out);
	put_line(&f->loop->other, f->where.file != NULL ? "prefetched at " : " (prefetched at ",
		 ")", out);
}

/* " in chase (walk.c:8), called from main (walk.c:20)" */
static void put_location(const struct finding *f, struct text *out)
{
	if (f->subject != NULL || f->sharing != NULL || f->function != NULL) {
		text_str(out, " in ");
		put_code(f, out);
	}
	if (f->sharing != NULL)
		put_accesses(f->sharing, out);
	else if (f->kind == FINDING_LATE_PREFETCH && f->loop != NULL && f->loop->other.file != NULL)
		put_load_and_prefetch(f, out);
	else
		put_line(&f->where, " (", ")", out);
	if (f->loop != NULL)
		put_data_name(f->loop, ", accessing ", out);
	if (f->caller.name != NULL && f->caller.name[0] != '[') {
		text_format(out, ", called from %s", f->caller.name);
		put_line(&f->caller, " (", ")", out);
	}
}

/* The findings are of counts: a share of cycles, and perhaps the place that samples have for it. */
static void put_counts(struct table *t, const struct finding *f, struct text *out)
{
	text_str(out, counts_claim(t, f, true));
	if (f->where.name != NULL)
		put_location(f, out);
}

static void say(struct table *t, struct text *text)
{
	text_char(text, '\0');
	answer_say_sentence(t, text->bytes);
	text_release(text);
}

const char *finding_cause_words(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	text_str(&text, cause_words(f));
	put_location(f, &text);
	put_brief_cost(t, f, &text);
	return words_take(t, &text);
}

static void say_cause(struct table *t, const struct finding *f)
{
	struct text text = { 0 };

	if (finding_is_of_counts(f)) {
		put_counts(t, f, &text);
	} else if (f->kind == FINDING_HOT_FUNCTION || f->kind == FINDING_UNNAMED_CODE) {
		text_format(&text, "%s of %s is", cost_words(t, f), whole_words(f));
		put_location(f, &text);
		if (f->kind == FINDING_UNNAMED_CODE)
			text_str(&text, ", which has no symbols here");
	} else {
		text_str(&text, finding_cause_words(t, f));
	}
	say(t, &text);
}

static void say_fix(struct table *t, const struct finding *f)
{
	struct text text = { 0 };
	const char *fix = fix_words(f);

	if (fix == NULL)
		return;
	text_format(&text, "Fix: %s", fix);
	say(t, &text);
}

static void say_gain(struct table *t, const struct finding *f)
{
	const char *gain = finding_gain_brief(t, f);
	struct text text = { 0 };

	if (gain == NULL)
		return;
	text_format(&text, "Gain: %s", gain);
	say(t, &text);
}

void finding_answer(struct table *answer, const struct finding *f)
{
	say_cause(answer, f);
	say_fix(answer, f);
	say_gain(answer, f);
}

/* Why the cause is not known, if the samples only say where. */
static void put_why_not(const struct findings *f, struct text *out)
{
	if (!finding_is_general(f->list.items[0]->kind))
		return;
	for (size_t i = 0; i < f->silences.n; i++)
		if (f->silences.items[i].kind == SILENCE_NO_COUNTERS) {
			text_str(out, "No hardware counters here: this says where time goes, not "
				      "why (cyclops doctor)");
			return;
		}
	text_str(out, "These samples say where time goes, not why");
	if (!f->has_accounting)
		text_str(out, ". Count: cyclops stat -- COMMAND");
	else
		text_str(out, ". Cycle accounting: cyclops cycles");
}

/* What it rests on, and what was lost of that. */
static void say_confidence(struct table *t, const struct findings *found, const char *lost)
{
	const struct finding *f = found->list.items[0];
	struct text text = { 0 };

	put_why_not(found, &text);
	if (text.n > 0)
		say(t, &text);
	text = (struct text){ 0 };
	if (f->sharing != NULL || f->coverage.is_set)
		text_format(&text, "Confidence: %s", finding_confidence_words(t, f));
	else if (f->samples.n_all > 0) {
		text_str(&text, "Confidence: ");
		if (words_is_limit(f) && f->loop->share > 0) {
			words_put_time(f, &text);
			text_str(&text, " of the time (95 % interval), ");
		} else if (words_has_error(f))
			text_str(&text, "\xc2\xb1 is the 95 % interval, ");
		text_format(&text, "from %s",
			    table_human(t, cell_count(f->samples.n), f->samples.of));
		if (words_is_limit(f)) {
			text_str(&text, "; the cause: ");
			put_loop_cause(f->loop, f->kind, &text);
		}
	}
	if (finding_is_unproven(f))
		text_format(&text, "; %s", words_unproven);
	if (f->samples.no_jitter)
		text_str(&text, "; no jitter: loops in step with the interval mislead");
	if (lost != NULL)
		text_format(&text, "; incomplete: %s", lost);
	say(t, &text);
}

static void say_silences(struct table *t, const struct findings *f)
{
	struct table notes;

	table_init(&notes, "notes", NULL, columns, N_COLUMNS);
	for (size_t i = 0; i < f->silences.n; i++) {
		struct silence without_command = f->silences.items[i];

		without_command.command = NULL;
		findings_note_silence(&notes, &without_command);
	}
	for (size_t i = 0; i < notes.notes.n; i++) {
		struct text text = { 0 };

		text_str(&text, notes.notes.items[i]);
		say(t, &text);
	}
	for (size_t i = 0; i < f->silences.n; i++)
		if (f->silences.items[i].command != NULL)
			answer_next(t, table_text(t, f->silences.items[i].command));
	table_release(&notes);
}

void findings_answer(const struct findings *f, const char *lost, struct table *out)
{
	struct text text = { 0 };

	answer_init(out);
	if (f->list.n == 0) {
		say_silences(out, f);
		if (lost != NULL) {
			text_format(&text, "Incomplete: %s", lost);
			say(out, &text);
		}
		return;
	}
	finding_answer(out, f->list.items[0]);
	say_confidence(out, f, lost);
}

static const struct column next_columns[] = {
	{ "label", NULL, "", CELL_TEXT, 0, "next" },
	{ "command", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_COMMAND, "shows more" },
	{ "is_simulation", NULL, "", CELL_BOOL, COLUMN_MACHINE_ONLY,
	  "it simulates the program without the first cause" },
};

static void add_command(struct table *t, const char *command)
{
	struct cell *row;

	for (size_t i = 0; i < table_n_rows(t); i++)
		if (strcmp(table_cell(t, i, 1)->text, command) == 0)
			return;
	row = table_add_row(t);
	row[0] = cell_text(table_n_rows(t) == 1 ? "next:" : "");
	row[1] = cell_text(command);
	row[2] = cell_bool(false);
}

/* The code of the first finding, then what shows the others; the lines of any that is of sharing. */
static void add_leading(const struct findings *f, const struct session *s, size_t most,
			struct table *out)
{
	const char *code;

	if (f->list.n == 0)
		return;
	code = finding_code_words(out, s, f->list.items[0]);
	if (code != NULL)
		add_command(out, code);
	for (size_t i = 0; i < f->list.n && table_n_rows(out) < most; i++) {
		const struct finding *each = f->list.items[i];
		const char *command =
			i == 0 && code != NULL ? NULL : finding_next_words(out, s, each);

		if (each->sharing != NULL || (i == 0 && code == NULL))
			if (command != NULL)
				add_command(out, command);
	}
}

/* What is gained without the cause of the first finding, where the answer has only a limit. */
static void add_prediction(const struct findings *f, const struct session *s, struct table *out)
{
	const char *command =
		f->list.n > 0 ? finding_what_if_command(out, s, f->list.items[0]) : NULL;
	struct cell *row;

	if (command == NULL)
		return;
	row = table_add_row(out);
	row[0] = cell_text("what if:");
	row[1] = cell_text(command);
	row[2] = cell_bool(true);
}

void findings_next_table(const struct findings *f, const struct session *s, struct table *out)
{
	bool is_told = f->list.n > 0 && !finding_is_general(f->list.items[0]->kind);
	size_t most = COMMANDS_SHOWN - (f->has_accounting && is_told);

	table_init(out, "next", NULL, next_columns, COUNT(next_columns));
	out->style = TABLE_FACTS;
	/* why before where: cycle accounting comes behind a finding that says why itself */
	if (f->has_accounting && !is_told)
		add_command(out, tip(out, s, "cycles"));
	add_leading(f, s, most, out);
	for (size_t i = 0; i < f->list.n && table_n_rows(out) < most; i++) {
		const char *command = finding_next_words(out, s, f->list.items[i]);

		if (command != NULL)
			add_command(out, command);
	}
	if (f->has_accounting)
		add_command(out, tip(out, s, "cycles"));
	for (size_t i = 0; i < f->silences.n && f->list.n == 0; i++) {
		const struct finding *rest = f->silences.items[i].unexplained;
		const char *annotate = rest != NULL ? finding_annotate_words(out, rest) : NULL;

		if (annotate != NULL)
			add_command(out, tip(out, s, annotate));
	}
	add_prediction(f, s, out);
}
