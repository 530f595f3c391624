/* SPDX-License-Identifier: Apache-2.0 */
/* What findings of counts say (Arm Neoverse N1 core: performance analysis methodology). */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/words_inside.h"
#include "metrics/metric_words.h"

/* What a root of the tree says, behind its share. */
static const struct claim {
	const char *metric, *words;
} claims[] = {
	{ "frontend_stalled_cycles", "stalled in the frontend" },
	{ "backend_stalled_cycles", "stalled in the backend" },
	{ "frontend_bound", "are Frontend Bound" },
	{ "backend_bound", "are Backend Bound" },
	{ "bad_speculation", "are lost to Bad Speculation" },
	{ "retiring", "are Retiring: only fewer instructions will make it faster" },
};

/* Issues of the catalog's penalties: their occurrences, and what a side waits for. */
static const struct issue {
	const char *issue, *occurrences, *on;
} issues[] = {
	{ "mispredict", "mispredicted branches", ", on mispredicted branches" },
	{ "l1d_miss", "L1D misses", ", on memory (the L2 cache)" },
	{ "l2_miss", "L2 misses", ", on memory (the last-level cache, or another core)" },
	{ "llc_miss", "last-level misses", ", on memory (DRAM)" },
	{ "coherence", "lines that another core took", ", on cache lines that move between cores" },
	{ "l1d_tlb_miss", "L1D TLB misses", ", on memory (address translation)" },
	{ "dtlb_walk", "page walks", ", on memory (page walks)" },
	{ "main_tlb_miss", "main TLB misses", ", on memory (page walks)" },
	{ "l1i_miss", "L1I misses", ", on instruction cache misses" },
	{ "l1i_tlb_miss", "L1I TLB misses", ", on translation of code addresses" },
	{ "itlb_walk", "page walks for code", ", on page walks for code" },
	{ "stores", "stores", ", on memory (stores)" },
	{ "store_stall", "stalls of the store buffer", ", on stores" },
};

static const struct issue *find_issue_words(const char *issue)
{
	for (size_t i = 0; issue != NULL && i < COUNT(issues); i++)
		if (strcmp(issues[i].issue, issue) == 0)
			return &issues[i];
	return NULL;
}

const char *issue_words(const struct cpu_penalty *p)
{
	const struct issue *issue = find_issue_words(p->issue);

	return issue != NULL ? issue->occurrences : p->event->name;
}

static const char *on_words(const struct finding *f)
{
	const struct issue *issue = find_issue_words(f->issue);

	switch (f->cause) {
	case CAUSE_MEMORY:
		return issue != NULL ? issue->on : ", on memory";
	case CAUSE_COUNTED:
		return issue != NULL ? issue->on : "";
	case CAUSE_CORE:
		return ", in the core";
	case CAUSE_FETCH:
		return ", on fetching and decoding";
	case CAUSE_COLD_CODE:
		return ", on code that runs for the first time";
	case CAUSE_NOT_KNOWN:
		break;
	}
	return "";
}

const char *counts_cause(const struct finding *f)
{
	if (f->cause == CAUSE_CORE)
		return "core";
	if (f->cause == CAUSE_COLD_CODE)
		return "cold-code";
	return f->cause == CAUSE_FETCH ? "fetch" : f->issue;
}

/* "83.9 % of cycles stalled in the back end" */
static const char *share_words(struct table *t, const struct cpu_metric *m, double value)
{
	const char *whole = m->unit + strlen("percent of ");

	for (size_t i = 0; i < COUNT(claims); i++)
		if (strcmp(claims[i].metric, m->name) == 0)
			return table_format(t, "%.1f %% of %s %s", value, whole, claims[i].words);
	return table_format(t, "%.1f %% of %s: %s", value, whole, m->label);
}

const char *counts_claim(struct table *t, const struct finding *f, bool with_cause)
{
	if (f->kind == FINDING_WAITING)
		return table_format(t, "the program mostly waited%s: it used %.1f %% of one CPU",
				    f->is_probable ? ", probably for a CPU" : "", f->value);
	if (f->kind == FINDING_SCALAR)
		return table_format(t,
				    "%.1f %% of cycles are not stalled, and no operations are "
				    "vector operations",
				    f->value);
	if (metric_whole(f->metric)[0] == '\0')
		return table_format(t, "%s %s", metric_value_words(t, f->metric, f->value),
				    f->metric->label);
	return table_format(t, "%s%s", share_words(t, f->metric, f->value),
			    with_cause ? on_words(f) : "");
}

/* "<= 24.4 % of cycles: 9.30 mispredicted branches per 1000 instructions x 11 cycles" */
static void put_counted_cost(const struct evidence *e, struct text *out)
{
	const char *what = issue_words(e->penalty);

	text_format(out, "\xe2\x89\xa4 %.1f %% of cycles: ", 100 * e->share);
	if (e->penalty->cycles == 1)
		text_format(out, "%s", e->penalty->event->name);
	else if (isnan(e->value))
		text_format(out, "%s \xc3\x97 %g cycles", what, e->penalty->cycles);
	else
		text_format(out, "%.*f %s per 1000 instructions \xc3\x97 %g cycles",
			    e->value < 10 ? 2 : 1, e->value, what, e->penalty->cycles);
	if (e->penalty->is_estimate)
		text_str(out, " (estimate)");
}

void counts_evidence(const struct evidence *e, bool is_alone, struct text *out)
{
	switch (e->kind) {
	case EVIDENCE_COST:
		put_counted_cost(e, out);
		break;
	case EVIDENCE_REST_CORE:
		text_format(out,
			    "%.1f %% of cycles are not explained by the counted misses: likely a "
			    "dependency chain, or operations of long latency%s",
			    100 * e->share, is_alone ? "; sample to find the instruction" : "");
		break;
	case EVIDENCE_REST_COPY:
		text_format(
			out,
			"%.1f %% of cycles are not explained by the counted misses. It copies: "
			"%.2f loads and stores in a cycle, as many of each, hardly any "
			"calculation. Of pairs of vectors that is all that the units can do, of "
			"smaller ones it is not%s",
			100 * e->share, e->value,
			is_alone ? ": counts alone do not tell which" : "");
		break;
	case EVIDENCE_REST_UNITS:
		text_format(out,
			    "%.1f %% of cycles are not explained by the counted misses, and the "
			    "sampled "
			    "loops have no limiting dependency chain or division: execution units",
			    100 * e->share);
		break;
	case EVIDENCE_REST_FETCH:
		text_format(out,
			    "%.1f %% of cycles are not explained by the counted mispredictions and "
			    "misses: likely taken branches or decoding",
			    100 * e->share);
		break;
	case EVIDENCE_COLD_CODE:
		text_format(out,
			    "\xe2\x89\xa4 %.1f %% of cycles: %.0f L1I misses that the LLC missed, "
			    "too: no "
			    "more than the L1I holds lines, so each may be the first of its line",
			    100 * e->share, e->value);
		break;
	case EVIDENCE_STORES:
		text_format(out, "\xe2\x89\xa4 %.1f %% of cycles: cache lines fetched for stores",
			    100 * e->share);
		break;
	case EVIDENCE_LINES:
		text_format(
			out,
			"%.1f DRAM lines are in flight at a time: %.0f %% of what the core allows",
			e->value, 100 * e->share);
		break;
	case EVIDENCE_ONE_MISS:
		text_format(out,
			    "%.1f L2 misses are outstanding during a stall: each load seems to "
			    "wait for the previous one",
			    e->value);
		break;
	case EVIDENCE_SCATTERED:
		text_format(
			out,
			"%.1f L2 misses are outstanding during a stall, with %.1f lines of each "
			"page%s",
			e->value, e->share,
			is_alone ? "; counts alone do not tell long strides from random addresses"
				 : "");
		break;
	case EVIDENCE_IN_ORDER:
		text_format(out, "%.0f lines of each page are read: the accesses are in order",
			    e->share);
		break;
	case EVIDENCE_TAKEN_LINES:
		text_format(out,
			    "lines that other cores took to write to them: %.0f %% of the number "
			    "of L1D misses; requests for one line wait for each other%s",
			    100 * e->share,
			    is_alone ? "; counts alone do not tell which data, nor false from true "
				       "sharing"
				     : "");
		break;
	case EVIDENCE_SHARING_NOT_COUNTED:
		text_format(out, "it ran on %.1f CPUs: core or shared cache lines is not known%s%s",
			    e->value, e->unit != NULL ? " without " : "",
			    e->unit != NULL ? e->unit : "");
		break;
	case EVIDENCE_MIX:
		text_format(out,
			    "%.1f %% of operations are vector operations, %.1f %% are scalar "
			    "arithmetic",
			    e->value, e->share);
		break;
	default: /* EVIDENCE_BRANCH_STALLS */
		text_format(out,
			    "up to %.0f stalled cycles for each mispredicted branch: branches wait "
			    "for the data they compare",
			    e->value);
		break;
	}
}

/* "36.8 G of 43.8 G cycles" */
const char *counts_size(struct table *t, const struct finding *f)
{
	const struct finding_size *size = &f->size;
	const char *part, *all;

	if (size->unit == NULL)
		return NULL;
	part = table_human(t, cell_count((uint64_t)size->part), size->unit);
	all = table_human(t, cell_count((uint64_t)size->all), size->unit);
	if (f->kind == FINDING_WAITING)
		return table_format(t, "%s of %s", part, all);
	return table_format(t, "%.*s of %s", (int)(strlen(part) - strlen(size->unit) - 1), part,
			    all);
}

const char *counts_confidence(struct table *t, const struct finding_coverage *c)
{
	struct text text = { 0 };

	if (c->is_imported)
		text_str(&text, "counted by another tool; coverage is not known");
	else if (c->mark == MARK_EXACT)
		text_str(&text, "counted all of the time");
	else if (c->mark == MARK_SATURATED)
		text_str(&text, "a counter was saturated: the value is a lower bound");
	else
		text_format(&text, "counted %.0f %% of the time, scaled up", 100 * c->coverage);
	if (c->least_coverage < c->coverage && c->least_coverage < 0.999)
		text_format(&text, "; the explaining events %.0f %% (scaled up)",
			    100 * c->least_coverage);
	if (c->spread > 0)
		text_format(&text, "; runs differ by %.1f %%", 100 * c->spread);
	return words_take(t, &text);
}

/* "2.0 × CPU_CYCLES" */
static void put_times(const struct contradiction *c, struct text *out)
{
	text_format(out, "%s is %.*f times %s", c->event, c->value < 10 ? 2 : 0, c->value,
		    c->other);
}

static void put_contradiction(struct table *t, const struct contradiction *c, struct text *out)
{
	switch (c->kind) {
	case CONTRADICTION_MORE:
		put_times(c, out);
		text_format(out, ", at most %g is possible", c->limit);
		break;
	case CONTRADICTION_LESS:
		put_times(c, out);
		text_format(out, ", at least %g is possible", c->limit);
		break;
	case CONTRADICTION_IPC:
	case CONTRADICTION_DIVIDED:
		text_format(out, "IPC %.2f, at most %g is possible", c->value, c->limit);
		break;
	case CONTRADICTION_SHARE:
		text_format(out, "%s is %.1f %% of %s", c->metric->name, c->value,
			    metric_whole(c->metric));
		break;
	case CONTRADICTION_SUM:
		text_format(out, "the roots of the tree add up to %.1f %%", c->value);
		break;
	case CONTRADICTION_ISSUED:
		text_format(out, "%s is %.2f times the slots in use, at %g slots in a cycle",
			    c->event, c->value, c->limit);
		break;
	case CONTRADICTION_ZERO:
		text_format(out, "%s reads 0 in %s", c->event,
			    table_human(t, cell_count((uint64_t)c->value), c->other));
		break;
	case CONTRADICTION_WIDTH:
		text_format(out, "%g slots in a cycle, not %g", c->value, c->limit);
		break;
	case CONTRADICTION_IDLE:
		text_format(out, "%s counted %.2f per ns", c->event, c->value);
		break;
	case CONTRADICTION_EVENT:
		text_str(out, c->event);
		break;
	case CONTRADICTION_CPU:
		text_str(out, c->other);
		break;
	}
}

/* Contradictions that are said in one note, and what stands around them. */
static const struct contradiction_note {
	unsigned kinds;
	const char *before, *beside; /* the CPU stands between them */
	const char *behind;
} contradiction_notes[] = {
	{ 1u << CONTRADICTION_CPU | 1u << CONTRADICTION_WIDTH, "These counts do not fit ", ": ",
	  ". Wrong --cpu?" },
	{ 1u << CONTRADICTION_EVENT, "These events do not exist on ", ": ", ". Wrong --cpu?" },
	{ 1u << CONTRADICTION_ZERO, "These counters do not count on ", ": ",
	  ". Any program causes some, so their values are not known." },
	{ 1u << CONTRADICTION_DIVIDED, "These counts are impossible on ", ": ",
	  ". The cycle counter may count every 64th cycle (PMCR.D): multiply cycles by 64. No "
	  "conclusion uses the values marked !." },
	{ 1u << CONTRADICTION_MORE | 1u << CONTRADICTION_LESS | 1u << CONTRADICTION_IPC |
		  1u << CONTRADICTION_SHARE | 1u << CONTRADICTION_SUM | 1u << CONTRADICTION_ISSUED,
	  "These counts are impossible on ", ": ",
	  ". Wrong --cpu, another revision of it, or counted at different times? No conclusion "
	  "uses the values marked !." },
	{ 1u << CONTRADICTION_IDLE, "CPUs were counted, not a program. On ", ", ",
	  ": the cycle counter stops while a CPU is idle (WFI), other counters go on. Shares are "
	  "of the cycles of busy CPUs. Cycles give no time and no clock rate." },
};

enum { CONTRADICTIONS_SHOWN = 4 };

static void note_contradictions(struct table *t, const struct silence *s,
				const struct contradiction_note *note)
{
	struct text text = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct contradiction *c = &s->contradictions[i];

		if ((note->kinds & 1u << c->kind) == 0 || n++ >= CONTRADICTIONS_SHOWN)
			continue;
		if (n == 1)
			text_format(&text, "%s%s%s", note->before, s->cpu, note->beside);
		else
			text_str(&text, ", ");
		put_contradiction(t, c, &text);
	}
	if (n > CONTRADICTIONS_SHOWN)
		text_format(&text, " and %zu more", n - CONTRADICTIONS_SHOWN);
	if (n > 0) {
		text_str(&text, note->behind);
		table_note(t, "%s", words_take(t, &text));
	}
	text_release(&text);
}

/* Why counts allow no conclusion. */
static const char *silence_words(struct table *t, const struct silence *s)
{
	switch (s->kind) {
	case SILENCE_NO_PMU:
		return "No hardware counters here: what limits the program on the CPU is not known "
		       "(cyclops doctor)";
	case SILENCE_NO_CPU_EVENTS:
		return "What limits the program is not known: no event of the CPU was counted";
	case SILENCE_COVERAGE:
		return table_format(
			t,
			"What limits the program is not known: the roots of the tree were counted "
			"less than %.0f %% of the time. Count fewer events at once",
			s->percent);
	case SILENCE_NO_ROOTS:
		return table_format(t, "How many cycles are lost is not known without %s", s->text);
	case SILENCE_REFUSED_ROOTS:
		return table_format(
			t, "How many cycles are lost is not known: this machine does not count %s",
			s->text);
	case SILENCE_NO_STALLS:
		return table_format(t,
				    "Stalls are not known: %s has no stall events. All counted "
				    "rates are below their thresholds",
				    s->text);
	case SILENCE_NOT_EXPLORED:
		return table_format(t,
				    "All counted roots of the tree are below their thresholds. The "
				    "answer is incomplete without %s",
				    s->text);
	default:
		return "No bottleneck found: everything is below its threshold";
	}
}

void counts_note(struct table *t, const struct silence *s)
{
	if (s->kind == SILENCE_IMPLAUSIBLE) {
		for (size_t i = 0; i < COUNT(contradiction_notes); i++)
			note_contradictions(t, s, &contradiction_notes[i]);
	} else if (s->command != NULL) {
		table_note(t, "%s. Count: %s", silence_words(t, s), s->command);
	} else {
		table_note(t, "%s.", silence_words(t, s));
	}
}
