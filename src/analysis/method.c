/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/method.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding_kinds.h"
#include "analysis/scan.h"
#include "base/alloc.h"
#include "spe/packet.h"

enum { LEAST_SAMPLES = 30 }; /* with fewer, nothing is said of where the time goes */

enum finding_column {
	FINDING_CLAIM,
	FINDING_SIZE,
	FINDING_EVIDENCE,
	FINDING_WHERE,
	FINDING_NEXT,
	FINDING_TRY,
	FINDING_SURE,
	FINDING_KIND,
	FINDING_SHARE,
	FINDING_FROM,
	FINDING_N_COLUMNS,
};

static const struct column columns[FINDING_N_COLUMNS] = {
	[FINDING_CLAIM] = { "claim", NULL, "", CELL_TEXT, COLUMN_GROW, "what stands out" },
	[FINDING_SIZE] = { "size", NULL, "", CELL_TEXT, 0, "how much of the whole it concerns" },
	[FINDING_EVIDENCE] = { "evidence", "", "", CELL_TEXT, COLUMN_GROW, "what says so" },
	[FINDING_WHERE] = { "where", NULL, "", CELL_TEXT, COLUMN_GROW, "its heaviest place" },
	[FINDING_NEXT] = { "next", NULL, "", CELL_TEXT, COLUMN_GROW, "what would tell more" },
	[FINDING_TRY] = { "try", NULL, "", CELL_TEXT, COLUMN_GROW, "what might change it" },
	[FINDING_SURE] = { "sure", NULL, "", CELL_TEXT, COLUMN_GROW, "how certain it is" },
	[FINDING_KIND] = { "kind", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			   "kind of finding, or the metric that passes its threshold" },
	[FINDING_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			    "the size, as a share of the whole" },
	[FINDING_FROM] = { "from", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "samples or counts" },
};

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

static const struct cell *cell_named(const struct table *t, size_t row, const char *name)
{
	int column = table_column(t, name);

	return column < 0 ? NULL : table_cell(t, row, (size_t)column);
}

static const char *text_named(const struct table *t, size_t row, const char *name)
{
	const struct cell *c = cell_named(t, row, name);

	return c != NULL && c->type == CELL_TEXT ? c->text : NULL;
}

const struct cpu_metric *method_first(const struct cpu_pmu *pmu, const struct stat_answer *stat)
{
	const char *kind = NULL;

	if (table_n_rows(&stat->findings) > 0)
		kind = text_named(&stat->findings, 0, "kind");
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
		uint64_t key[HOT_N_DIMENSIONS];

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

/* "main+0x30  stride.c:38   99 % of L1D refills (SPE)" */
static const char *where_words(const struct hot *hot, const struct names *names,
			       const struct cpu_metric *m, struct table *t)
{
	enum { LEAST_HERE = 10 };
	const struct class_subject *class = class_of(m);
	int spe_event = class != NULL ? class->spe_event : -1;
	struct heaviest h = find_heaviest(hot, names, spe_event);
	const char *file, *words = class != NULL ? class->words : "latency";
	struct text text = { 0 };
	uint32_t line;
	const char *result;

	if (h.n < LEAST_HERE) {
		h = find_heaviest(hot, names, -1);
		words = "latency";
		spe_event = -1;
	}
	if (h.n < LEAST_HERE || h.all == 0)
		return NULL;
	names_place(names, h.place, &text);
	if (names_line(names, h.place, &file, &line))
		text_format(&text, "  %s:%u", path_base(file), line);
	text_format(&text, "   its function has %.0f %% of %s (%s)",
		    100 * (double)h.weight / (double)h.all,
		    spe_event < 0 && !capture_spe(hot->session->capture)->is_present ? "samples"
										     : words,
		    capture_spe(hot->session->capture)->is_present ? "SPE" : "sampled");
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

/* Columns of the same name; cells keep their marks. */
static struct cell *copy_row(struct table *to, const struct table *from, size_t row,
			     const char *origin)
{
	struct cell *cells = table_add_row(to);

	for (size_t i = 0; i < FINDING_N_COLUMNS; i++) {
		const struct cell *c = cell_named(from, row, columns[i].name);

		if (c == NULL)
			continue;
		cells[i] = *c;
		if (c->type == CELL_TEXT)
			cells[i].text = table_text(to, c->text);
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
		if (takes_general || !is_general(text_named(&m->report.findings, row, "kind")))
			copy_row(&m->findings, &m->report.findings, row, "samples");
}

static void add_counted(struct method *m, const struct cpu_pmu *pmu, const struct hot *hot,
			const struct names *names)
{
	for (size_t row = 0; row < table_n_rows(&m->stat.findings); row++) {
		const char *kind = text_named(&m->stat.findings, row, "kind");
		const struct cpu_metric *metric = kind == NULL ? NULL : cpu_metric_find(pmu, kind);
		struct cell *cells = copy_row(&m->findings, &m->stat.findings, row, "counts");
		const char *where = NULL;

		if (metric != NULL && hot != NULL)
			where = where_words(hot, names, metric, &m->findings);
		if (where == NULL)
			continue;
		cells[FINDING_WHERE] = cell_text(where);
		cells[FINDING_NEXT] = (struct cell){ 0 }; /* it has been sampled */
	}
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
	const struct hot_keys lines = { { HOT_FUNCTION, HOT_LINE }, 2 };
	const struct stat_options stat_options = { 0 };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names = { 0 };
	int rc = 0;

	table_init(&out->findings, "findings", "Findings", columns, FINDING_N_COLUMNS);
	out->findings.style = TABLE_FINDINGS;
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
