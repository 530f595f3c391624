/* SPDX-License-Identifier: Apache-2.0 */
#include "run/method.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/finding_table.h"
#include "report/finding_kinds.h"
#include "scan/scan.h"
#include "spe/packet.h"
#include "stat/advice.h"

enum { LEAST_SAMPLES = 30 }; /* with fewer, nothing is said of where the time goes */

/* Classes of catalog/schema.md, and what SPE says of the same. */
static const struct class_subject {
	const char *class;
	enum method_subject subject;
	int spe_event;
	const char *words;
} classes[] = {
	{ "l1d", METHOD_MEMORY, SPE_EV_L1D_REFILL, "L1D refills" },
	{ "l2", METHOD_MEMORY, SPE_EV_L1D_REFILL, "L1D refills" },
	{ "l3", METHOD_MEMORY, SPE_EV_LLC_MISS, "last-level misses" },
	{ "llc", METHOD_MEMORY, SPE_EV_LLC_MISS, "last-level misses" },
	{ "memory", METHOD_MEMORY, SPE_EV_LLC_MISS, "last-level misses" },
	{ "remote", METHOD_MEMORY, SPE_EV_REMOTE, "remote accesses" },
	{ "dtlb", METHOD_MEMORY, SPE_EV_TLB_WALK, "page table walks" },
	{ "tlb", METHOD_MEMORY, SPE_EV_TLB_WALK, "page table walks" },
	{ "branch", METHOD_BRANCHES, SPE_EV_MISPREDICTED, "mispredicted branches" },
};

static const struct class_subject *class_of(const struct cpu_metric *m)
{
	for (size_t i = 0; i < m->samples.n; i++)
		for (size_t k = 0; k < COUNT(classes); k++)
			if (strcmp(m->samples.items[i]->class, classes[k].class) == 0)
				return &classes[k];
	return NULL;
}

enum method_subject method_subject_of(const struct cpu_metric *m, int *out_spe_event)
{
	const struct class_subject *class = class_of(m);

	*out_spe_event = class != NULL ? class->spe_event : -1;
	return class != NULL ? class->subject : METHOD_ANYTHING;
}

const struct cpu_metric *method_first(const struct cpu_pmu *pmu, const struct stat_answer *stat)
{
	const char *kind = NULL;

	if (table_n_rows(&stat->findings) > 0)
		kind = finding_text(&stat->findings, 0, FINDING_KIND);
	return kind == NULL ? NULL : cpu_metric_find(pmu, kind);
}

/* Where something happens most, of all places of the capture. */
struct heaviest {
	uint32_t place;
	uint64_t weight, all;
	uint64_t n;
};

static bool counts_for(const struct hot *hot, const uint64_t *key, int spe_event)
{
	if (!hot_is_spe(hot, key[DIM_EVENT]))
		return spe_event < 0;
	return spe_event < 0 || key[DIM_EVENTS] >> spe_event & 1;
}

/* By function first: the place is the heaviest one in the heaviest function. */
struct weigher {
	const struct hot *hot;
	const struct names *names;
	struct strings strings;
	struct tuples functions, places;
	VEC_OF(uint64_t) by_function, by_place;
	VEC_OF(uint32_t) function_of; /* of a place */
	uint64_t all, n;
};

static void weigh(struct weigher *w, uint32_t place, uint64_t weight)
{
	const char *name = names_function(w->names, place);
	const uint64_t function[2] = {
		strings_addz(&w->strings, name).v,
		session_place(w->hot->session, place).module.v,
	};
	uint64_t word = place;
	uint32_t f = tuples_add(&w->functions, function), p = tuples_add(&w->places, &word);

	if (f == w->by_function.n)
		vec_add(&w->by_function);
	if (p == w->by_place.n) {
		vec_add(&w->by_place);
		*vec_add(&w->function_of) = f;
	}
	w->by_function.items[f] += weight;
	w->by_place.items[p] += weight;
	w->all += weight;
}

static void pick_heaviest(const struct weigher *w, struct heaviest *out)
{
	const struct session *s = w->hot->session;
	uint32_t best = UINT32_MAX;
	uint64_t heaviest = 0;

	for (uint32_t p = 0; p < w->places.n; p++) {
		uint64_t of_function = w->by_function.items[w->function_of.items[p]];
		uint32_t place = (uint32_t)tuples_get(&w->places, p)[0];
		bool is_heavier =
			of_function > heaviest || (of_function == heaviest && best != UINT32_MAX &&
						   w->by_place.items[p] > w->by_place.items[best]);
		bool is_equal = best != UINT32_MAX && of_function == heaviest &&
				w->by_place.items[p] == w->by_place.items[best] &&
				hot_place_is_before(s, place, out->place);

		if (!is_heavier && !is_equal)
			continue;
		best = p;
		heaviest = of_function;
		out->place = place;
	}
	out->weight = heaviest;
	out->all = w->all;
	out->n = w->n;
}

/* The weight is the number of records with that event, or without one what they cost. */
static struct heaviest find_heaviest(const struct hot *hot, const struct names *names,
				     int spe_event)
{
	struct weigher w = { .hot = hot, .names = names };
	struct heaviest out = { 0 };

	strings_init(&w.strings);
	tuples_init(&w.functions, 2);
	tuples_init(&w.places, 1);
	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		const struct hot_cost *cost = hot_cost(hot, i);
		uint64_t key[N_DIMENSIONS];

		hot_key(hot, i, key);
		if (!counts_for(hot, key, spe_event))
			continue;
		w.n += cost->n;
		weigh(&w, (uint32_t)key[DIM_PLACE],
		      spe_event >= 0 ? cost->n : hot_event_weight(hot, key[DIM_EVENT], cost));
	}
	pick_heaviest(&w, &out);
	strings_release(&w.strings);
	tuples_release(&w.functions);
	tuples_release(&w.places);
	vec_release(&w.by_function);
	vec_release(&w.by_place);
	vec_release(&w.function_of);
	return out;
}

/* The place of what a metric counts, and in which words. */
struct whereabouts {
	struct heaviest h;
	bool is_event; /* by its event of SPE, else by what costs most */
	bool is_known;
};

static struct whereabouts find_where(const struct hot *hot, const struct names *names,
				     const struct class_subject *class)
{
	enum { LEAST_HERE = 10 };
	int spe_event = class != NULL ? class->spe_event : -1;
	struct whereabouts w = { find_heaviest(hot, names, spe_event), spe_event >= 0, false };

	if (w.h.n < LEAST_HERE) {
		w.h = find_heaviest(hot, names, -1);
		w.is_event = false;
	}
	w.is_known = w.h.n >= LEAST_HERE && w.h.all > 0;
	return w;
}

/* "main+0x30  stride.c:38   99 % of L1D refills (SPE)" */
static const char *where_words(const struct hot *hot, const struct names *names,
			       const struct whereabouts *w, const struct class_subject *class,
			       struct table *t)
{
	bool has_spe = capture_spe(hot->session->capture)->is_present;
	const char *words = w->is_event ? class->words : has_spe ? "latency" : "samples";
	struct text text = { 0 };
	const char *file, *result;
	uint32_t line;

	names_place(names, w->h.place, &text);
	if (names_line(names, w->h.place, &file, &line))
		text_format(&text, "  %s:%u", path_base(file), line);
	text_format(&text, "   its function has %.0f %% of %s (%s)",
		    100 * (double)w->h.weight / (double)w->h.all, words,
		    has_spe ? "SPE" : "sampled");
	text_char(&text, '\0');
	result = table_text(t, text.bytes);
	text_release(&text);
	return result;
}

static bool is_general(const char *kind)
{
	for (size_t i = 0; kind != NULL && i < n_finding_kinds; i++)
		if (strcmp(finding_kinds[i].name, kind) == 0)
			return finding_kinds[i].is_general;
	return false;
}

/* Cells keep their marks. */
static struct cell *copy_row(struct table *to, const struct table *from, size_t row,
			     const char *origin)
{
	struct cell *cells = table_add_row(to);

	for (size_t i = 0; i < FINDING_N_COLUMNS; i++) {
		cells[i] = *table_cell(from, row, i);
		if (cells[i].type == CELL_TEXT)
			cells[i].text = table_text(to, cells[i].text);
	}
	cells[FINDING_FROM] = cell_text(origin);
	return cells;
}

/* Does nothing say why: neither counters of the CPU nor SPE? */
static bool is_blind(const struct method *m, const struct session *s)
{
	bool has_spe = s != NULL && capture_spe(s->capture)->is_present;

	return !has_spe && table_n_rows(&m->stat.topdown) == 0;
}

/*
 * What explains itself, and where, comes from the samples. That a function is hot explains
 * nothing, but where nothing else is known it is the answer.
 */
static void add_sampled(struct method *m, const struct session *s)
{
	bool takes_general = is_blind(m, s);

	for (size_t row = 0; row < table_n_rows(&m->report.findings); row++)
		if (takes_general ||
		    !is_general(finding_text(&m->report.findings, row, FINDING_KIND)))
			copy_row(&m->findings, &m->report.findings, row, "samples");
}

/* Kinds of findings of samples that are about waiting for data. */
static bool is_about_data(const char *kind)
{
	static const char *const kinds[] = { "memory-bound", "shared-data", "tlb-walks",
					     "false-sharing", "true-sharing" };

	for (size_t i = 0; kind != NULL && i < COUNT(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

/*
 * Where samples have found data that a function waits for, stalls of the back end there are the
 * same once more, and so are misses. Returns the row of it, or -1.
 */
static int find_cause(const struct table *findings, const struct cpu_metric *metric,
		      const struct class_subject *class, const char *function, const char *module)
{
	bool waits = (class != NULL && class->subject == METHOD_MEMORY) ||
		     strncmp(metric->name, "backend", 7) == 0;

	for (size_t row = 0; waits && row < table_n_rows(findings); row++)
		if (is_about_data(finding_text(findings, row, FINDING_KIND)) &&
		    finding_is_in(findings, row, function, module))
			return (int)row;
	return -1;
}

/* "52.6 % of cycles stalled in the back end; no cache or TLB rate … is above its threshold" */
static const char *counted_words(struct table *t, const struct table *stat, size_t row)
{
	const char *claim = finding_text(stat, row, FINDING_CLAIM);
	const char *evidence = finding_text(stat, row, FINDING_EVIDENCE);

	return table_format(t, "counted: %.*s%s%s", (int)stat_claim_length(claim), claim,
			    evidence != NULL ? "; " : "", evidence != NULL ? evidence : "");
}

/* Makes a finding of the counts evidence for one of the samples, which know the place and why. */
static void support(struct table *t, size_t cause, const struct table *stat, size_t row)
{
	const char *remedy = finding_text(stat, row, FINDING_TRY);
	const char *first = finding_text(t, cause, FINDING_TRY);

	finding_append(t, cause, FINDING_EVIDENCE, counted_words(t, stat, row));
	/* What helps a busy core does not help one that waits for data. */
	if (remedy != NULL && (first == NULL || strstr(first, remedy) == NULL) &&
	    !stat_claims_core(finding_text(stat, row, FINDING_CLAIM)))
		finding_append(t, cause, FINDING_TRY, remedy);
}

/* A finding of the counts, with the place where samples have it. */
static void add_located(struct method *m, size_t row, const struct cpu_metric *metric,
			const struct hot *hot, const struct names *names)
{
	const struct class_subject *class = class_of(metric);
	struct whereabouts w = find_where(hot, names, class);
	const char *function = NULL, *module = NULL;
	struct cell *cells;
	int cause;

	if (w.is_known) {
		function = names_function(names, w.h.place);
		module = names_module(hot->session, session_place(hot->session, w.h.place).module);
	}
	cause = find_cause(&m->findings, metric, class, function, module);
	if (cause >= 0) {
		support(&m->findings, (size_t)cause, &m->stat.findings, row);
		return;
	}
	cells = copy_row(&m->findings, &m->stat.findings, row, "counts");
	if (!w.is_known)
		return;
	cells[FINDING_WHERE] = cell_text(where_words(hot, names, &w, class, &m->findings));
	cells[FINDING_FUNCTION] = cell_text(table_text(&m->findings, function));
	cells[FINDING_MODULE] = cell_text(table_text(&m->findings, module));
	cells[FINDING_NEXT] = (struct cell){ 0 }; /* it has been sampled */
}

static void add_counted(struct method *m, const struct cpu_pmu *pmu, const struct hot *hot,
			const struct names *names)
{
	for (size_t row = 0; row < table_n_rows(&m->stat.findings); row++) {
		const char *kind = finding_text(&m->stat.findings, row, FINDING_KIND);
		const struct cpu_metric *metric = kind == NULL ? NULL : cpu_metric_find(pmu, kind);

		if (metric != NULL && hot != NULL)
			add_located(m, row, metric, hot, names);
		else
			copy_row(&m->findings, &m->stat.findings, row, "counts");
	}
}

static const char *text_named(const struct table *t, size_t row, const char *name)
{
	int column = table_column(t, name);
	const struct cell *c = column < 0 ? NULL : table_cell(t, row, (size_t)column);

	return c != NULL && c->type == CELL_TEXT ? c->text : NULL;
}

/* "chase", or for code without names the module. */
static const char *heaviest_name(struct method *m)
{
	const struct table *functions = &m->report.functions;
	const char *function =
		table_n_rows(functions) > 0 ? text_named(functions, 0, "function") : NULL;
	const char *module = function != NULL ? text_named(functions, 0, "module") : NULL;

	if (function == NULL || function[0] != '[')
		return function;
	return table_format(&m->findings, "code without names of %s",
			    module != NULL ? module : "an unknown module");
}

static uint64_t count_samples(const struct session *s)
{
	return s == NULL ? 0 : s->attribution.n_rows;
}

/* Time alone says where, not why; a handful of samples not even that. */
static void add_blind_notes(struct method *m, const struct session *s)
{
	const char *name = heaviest_name(m);
	uint64_t n = count_samples(s);

	if (n < LEAST_SAMPLES)
		table_note(&m->findings,
			   "%" PRIu64
			   " sample%s: too few to say where the time goes; give the program "
			   "more to do",
			   n, plural(n));
	else if (table_n_rows(&m->findings) == 0 && name != NULL)
		table_note(&m->findings, "no function has a large part of the time; %s has most",
			   name);
	table_note(&m->findings, "%s",
		   "what limits it cannot be told: there are neither counters of the CPU nor SPE "
		   "here (cyclops doctor says why)");
}

static void add_nothing(struct method *m, const struct session *s)
{
	const char *name = heaviest_name(m);

	if (is_blind(m, s)) {
		add_blind_notes(m, s);
		return;
	}
	if (table_n_rows(&m->findings) > 0)
		return;
	table_note(&m->findings, "nothing stands out: no share of cycles, slots, misses or waits "
				 "is above what is worth a word");
	if (name != NULL)
		table_note(
			&m->findings,
			"most of the time is spent in %s: less work there is what is left to try",
			name);
}

static void show(struct tables *to, struct table *t)
{
	if (table_n_rows(t) > 0)
		*vec_add(&to->list) = t;
}

static const struct hot_options options = {
	.dimensions = 1u << DIM_EVENT | 1u << DIM_PLACE | 1u << DIM_EVENTS,
	.event = -1,
};

int method_make(struct session *s, const struct cpu_pmu *pmu, struct counts *counts,
		struct method *out, struct err *err)
{
	const struct keys lines = { { KEY_FUNCTION, KEY_LINE }, 2 };
	const struct stat_options stat_options = { 0 };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names = { 0 };
	int rc = 0;

	finding_table_init(&out->findings);
	if (counts != NULL)
		rc = stat_answer_make(pmu, counts, &stat_options, &out->stat, err);
	if (rc == 0 && s != NULL)
		rc = report_make(s, NULL, REPORT_BRIEF, &out->report, err);
	if (rc < 0)
		return -1;
	if (s != NULL) {
		scan(s, NULL, &hot, 1);
		hot_names(s, hot.result, &lines, &names);
		show(&out->shown, &out->report.facts);
	}
	/* Samples explain; where they only say where, what the counts say comes first. */
	if (s != NULL && !is_blind(out, s))
		add_sampled(out, s);
	if (counts != NULL)
		add_counted(out, pmu, hot.result, &names);
	if (s != NULL && is_blind(out, s))
		add_sampled(out, s);
	if (counts != NULL) {
		show(&out->shown, &out->stat.run);
		show(&out->shown, &out->stat.topdown);
	}
	add_nothing(out, s);
	if (s != NULL)
		show(&out->shown, &out->report.functions);
	*vec_add(&out->shown.list) = &out->findings;
	if (s != NULL) {
		hot_class.free(hot.result);
		names_release(&names);
	}
	return 0;
}

void method_release(struct method *m)
{
	stat_answer_release(&m->stat);
	report_release(&m->report);
	table_release(&m->findings);
	vec_release(&m->shown.list);
}
