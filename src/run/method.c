/* SPDX-License-Identifier: Apache-2.0 */
#include "run/method.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "findings/words.h"
#include "hot/hot.h"
#include "hot/sums/functions.h"
#include "spe/packet.h"

enum { LEAST_SAMPLES = 30 }; /* with fewer, nothing is said of where the time goes */

/* Classes of catalog/schema.md, and what SPE says of the same. */
static const struct event_class {
	const char *class;
	enum finding_side side;
	int spe_event;
	const char *words;
} classes[] = {
	{ "l1d", FINDING_SIDE_BACK_END, SPE_EV_L1D_REFILL, "L1D refills" },
	{ "l2", FINDING_SIDE_BACK_END, SPE_EV_L1D_REFILL, "L1D refills" },
	{ "l3", FINDING_SIDE_BACK_END, SPE_EV_LLC_MISS, "last-level misses" },
	{ "llc", FINDING_SIDE_BACK_END, SPE_EV_LLC_MISS, "last-level misses" },
	{ "memory", FINDING_SIDE_BACK_END, SPE_EV_LLC_MISS, "last-level misses" },
	{ "remote", FINDING_SIDE_BACK_END, SPE_EV_REMOTE, "remote accesses" },
	{ "dtlb", FINDING_SIDE_BACK_END, SPE_EV_TLB_WALK, "page table walks" },
	{ "tlb", FINDING_SIDE_BACK_END, SPE_EV_TLB_WALK, "page table walks" },
	{ "branch", FINDING_SIDE_FRONT_END, SPE_EV_MISPREDICTED, "mispredicted branches" },
};

static const struct event_class *class_of(const struct cpu_metric *m)
{
	for (size_t i = 0; i < m->samples.n; i++)
		for (size_t k = 0; k < COUNT(classes); k++)
			if (strcmp(m->samples.items[i]->class, classes[k].class) == 0)
				return &classes[k];
	return NULL;
}

const struct cpu_metric *method_first(const struct stat_answer *stat)
{
	return stat->found.list.n > 0 ? stat->found.list.items[0]->metric : NULL;
}

/* Where something happens most, of all places of the capture. */
struct heaviest {
	uint32_t place;
	uint64_t weight, all;
	uint64_t n;
};

/* Latencies of SPE and periods of samples are not added up: SPE counts, if it was recorded. */
static bool counts_for(const struct hot *hot, const uint64_t *key, int spe_event)
{
	if (!hot_is_spe(hot, key[DIM_EVENT]))
		return spe_event < 0 && !capture_spe(hot->session->capture)->is_present;
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
		const struct hot_cost cost = hot_cost(hot, i);
		uint64_t key[N_DIMENSIONS];

		hot_key(hot, i, key);
		if (!counts_for(hot, key, spe_event))
			continue;
		w.n += cost.n;
		weigh(&w, (uint32_t)key[DIM_PLACE],
		      spe_event >= 0 ? cost.n : hot_event_weight(hot, key[DIM_EVENT], &cost));
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
				     const struct event_class *class)
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

/* The heaviest place of what a finding of the counts is about. */
static void set_where(const struct hot *hot, const struct names *names, const struct whereabouts *w,
		      const struct event_class *class, struct findings *memory, struct finding *out)
{
	bool has_spe = capture_spe(hot->session->capture)->is_present;

	out->where = findings_place(memory, names, w->h.place);
	out->where_percent = 100 * (double)w->h.weight / (double)w->h.all;
	out->where_of = w->is_event ? class->words : has_spe ? "latency" : "samples";
	out->where_from = has_spe ? "SPE" : "sampled";
}

/* Does nothing say why: neither counters of the CPU nor SPE? */
static bool is_blind(const struct method *m, const struct session *s)
{
	bool has_spe = s != NULL && capture_spe(s->capture)->is_present;

	return !has_spe && table_n_rows(&m->stat.topdown) == 0;
}

static void tell(struct method *m, struct finding *f, enum finding_origin origin)
{
	f->origin = origin;
	*vec_add(&m->found.list) = f;
}

/*
 * What explains itself, and where, comes from the samples. That a function is hot explains
 * nothing, but where nothing else is known it is the answer.
 */
static bool is_told_first(const struct finding *f, bool is_blind)
{
	return !finding_is_general(f->kind) || (!is_blind && f->remedies.n > 0);
}

static void add_sampled(struct method *m, const struct session *s, bool are_first,
			const struct counts *counts)
{
	const struct count *n = counts == NULL ? NULL : counts_find(counts, "page-faults");

	for (size_t i = 0; i < m->report.found.list.n; i++) {
		struct finding *f = m->report.found.list.items[i];

		if (is_told_first(f, is_blind(m, s)) != are_first)
			continue;
		if (f->page_faults != NULL && n != NULL)
			f->page_faults->n_counted = n->value;
		tell(m, f, FINDING_FROM_SAMPLES);
	}
}

/* On Arm what is lost by mispredictions counts for the front end. */
static enum finding_side side_of(const struct cpu_metric *metric, const struct event_class *class)
{
	if (cpu_metric_is_of_side(metric, SIDE_BACKEND))
		return FINDING_SIDE_BACK_END;
	if (cpu_metric_is_of_side(metric, SIDE_FRONTEND) ||
	    cpu_metric_is_of_side(metric, SIDE_BAD_SPECULATION))
		return FINDING_SIDE_FRONT_END;
	if (strcmp(metric->name, "retiring") == 0)
		return FINDING_SIDE_BUSY;
	return class != NULL ? class->side : FINDING_SIDE_NONE;
}

/* Does it have half of what was counted at least? Of rates it is not known how much they take. */
static bool may_explain(const struct finding *sampled, const struct finding *counted)
{
	return (sampled->loop != NULL || sampled->code != NULL) &&
	       (isnan(counted->size.share) || 2 * sampled->size.share >= counted->size.share);
}

/*
 * What samples found of the same function, or have seen in loops for about as much of the time: what
 * is counted is the same once more. They know the place and the cause; a rate only suggests one.
 */
static struct finding *find_cause(const struct findings *found, const struct finding *counted,
				  const struct event_class *class, const char *function,
				  const char *module)
{
	enum finding_side side = side_of(counted->metric, class);

	for (size_t i = 0; side != FINDING_SIDE_NONE && i < found->list.n; i++) {
		struct finding *f = found->list.items[i];

		if (f->origin == FINDING_FROM_SAMPLES && finding_side(f->kind) == side &&
		    (finding_is_in(f, function, module) || may_explain(f, counted)))
			return f;
	}
	return NULL;
}

/*
 * Makes a finding of the counts evidence for one of the samples. Its remedies are those of a cause
 * that was not seen, unless samples know none.
 */
static void support(struct finding *sampled, const struct finding *counted)
{
	finding_add_evidence(sampled, EVIDENCE_FINDING)->finding = counted;
	for (size_t i = 0; sampled->remedies.n == 0 && i < counted->remedies.n; i++)
		finding_add_remedy(sampled, counted->remedies.items[i]);
}

/*
 * Counts blame the core for what no miss explains. Where samples know what limits most loops, and saw no
 * chain and no division, it is the number of its units: none of the remedies helps.
 */
static void rule_chains_out(const struct method *m, struct finding *f)
{
	const double enough = 0.5;
	size_t n = 0;

	if (f->cause != CAUSE_CORE || m->report.explained < enough)
		return;
	for (size_t i = 0; i < f->remedies.n; i++)
		if (f->remedies.items[i].kind != REMEDY_CORE)
			f->remedies.items[n++] = f->remedies.items[i];
	f->remedies.n = n;
	for (size_t i = 0; i < f->evidence.n; i++)
		if (f->evidence.items[i].kind == EVIDENCE_REST_CORE ||
		    f->evidence.items[i].kind == EVIDENCE_REST_COPY)
			f->evidence.items[i].kind = EVIDENCE_REST_UNITS;
}

/* A finding of the counts, with the place where samples have it. */
static void add_located(struct method *m, struct finding *f, const struct hot *hot,
			const struct names *names)
{
	const struct event_class *class = class_of(f->metric);
	struct whereabouts w = find_where(hot, names, class);
	const char *function = NULL, *module = NULL;
	struct finding *sampled;

	if (w.is_known) {
		function = names_function(names, w.h.place);
		module = names_module(hot->session, session_place(hot->session, w.h.place).module);
	}
	sampled = find_cause(&m->found, f, class, function, module);
	if (sampled != NULL) {
		support(sampled, f);
		return;
	}
	rule_chains_out(m, f);
	tell(m, f, FINDING_FROM_COUNTS);
	if (!w.is_known)
		return;
	set_where(hot, names, &w, class, &m->found, f);
	f->function = findings_text(&m->found, function);
	f->module = findings_text(&m->found, module);
	f->n_events = 0; /* it has been sampled */
}

static void add_counted(struct method *m, const struct hot *hot, const struct names *names)
{
	for (size_t i = 0; i < m->stat.found.list.n; i++) {
		struct finding *f = m->stat.found.list.items[i];

		if (f->metric != NULL && hot != NULL)
			add_located(m, f, hot, names);
		else
			tell(m, f, FINDING_FROM_COUNTS);
	}
}

static uint64_t count_samples(const struct session *s)
{
	return s == NULL ? 0 : s->attribution.n_rows;
}

/* What has most of the first event: a function, or for code without names its module. */
static const char *hottest_of(const struct hot *hot, const struct names *names,
			      struct findings *memory)
{
	struct text text = { 0 };
	struct str_id function;
	struct module_id module;
	const char *out;

	if (hot == NULL || !hot_heaviest_function(hot, names, &function, &module))
		return NULL;
	if (function.v != 0)
		return findings_text(memory,
				     strings_get(symbols_strings(hot->session->symbols), function));
	text_format(&text, "code without names of %s", names_module(hot->session, module));
	out = arena_strndup(&memory->memory, text.bytes, text.n);
	text_release(&text);
	return out;
}

static void add_silence(struct method *m, enum silence_kind kind, uint64_t n, const char *text)
{
	*vec_add(&m->found.silences) = (struct silence){ .kind = kind, .n = n, .text = text };
}

/* That counts cannot be, and where nothing was found, why they do not tell. */
static bool add_silences_of_counts(struct method *m)
{
	const struct findings *counted = &m->stat.found;
	bool cannot_tell = false;

	for (size_t i = 0; i < counted->silences.n; i++) {
		const struct silence *each = &counted->silences.items[i];
		bool is_note = each->kind == SILENCE_IMPLAUSIBLE;

		if (each->kind == SILENCE_NO_METRIC || (!is_note && m->found.list.n > 0))
			continue;
		*vec_add(&m->found.silences) = *each;
		cannot_tell |= !is_note;
	}
	return cannot_tell;
}

/* Time alone says where, not why; a handful of samples not even that. */
static void add_silences(struct method *m, const struct session *s, const struct hot *hot,
			 const struct names *names)
{
	uint64_t n = count_samples(s);
	const char *name;

	if (is_blind(m, s)) {
		if (n < LEAST_SAMPLES)
			add_silence(m, SILENCE_TOO_SHORT, n, NULL);
		else if (m->found.list.n == 0 && (name = hottest_of(hot, names, &m->found)) != NULL)
			add_silence(m, SILENCE_NO_FUNCTION, 0, name);
		add_silence(m, SILENCE_NO_COUNTERS, 0, NULL);
	} else if (!add_silences_of_counts(m) && m->found.list.n == 0) {
		add_silence(m, SILENCE_NO_LIMIT, 0, NULL);
		name = hottest_of(hot, names, &m->found);
		if (name != NULL)
			add_silence(m, SILENCE_MOSTLY, 0, name);
	}
}

static void tables_add_filled(struct tables *to, struct table *t)
{
	if (table_n_rows(t) > 0)
		*vec_add(&to->list) = t;
}

/* That other tasks used the CPUs is nothing to change in the program. */
static void put_busy_machine_last(struct findings *found)
{
	struct finding *first = found->list.n > 1 ? found->list.items[0] : NULL;

	if (first == NULL || first->kind != FINDING_WAITING || first->remedies.n == 0 ||
	    first->remedies.items[0].kind != REMEDY_IDLE_MACHINE)
		return;
	memmove(found->list.items, found->list.items + 1,
		(found->list.n - 1) * sizeof(*found->list.items));
	found->list.items[found->list.n - 1] = first;
}

static const struct hot_options options = {
	.dimensions = 1u << DIM_EVENT | 1u << DIM_PLACE | 1u << DIM_EVENTS,
	.event = -1,
};

int method_find(struct session *s, const struct cpu_pmu *pmu, struct counts *counts,
		struct method *out, struct err *err)
{
	const struct keys lines = { { KEY_FUNCTION, KEY_LINE }, 2 };
	const struct stat_options stat_options = { 0 };
	struct analysis hot = { .class = &hot_class, .options = &options };
	struct names names = { 0 };
	int rc = 0;

	if (counts != NULL)
		rc = stat_answer_make(pmu, counts, &stat_options, &out->stat, err);
	if (rc == 0 && s != NULL)
		rc = report_make_beside(s, NULL, REPORT_BRIEF, &hot, &out->report, err);
	if (rc < 0) {
		hot_class.free(hot.result);
		return -1;
	}
	if (s != NULL) {
		hot_names(s, hot.result, &lines, &names);
		tables_add_filled(&out->shown, &out->report.facts);
		tables_add_filled(&out->shown, &out->report.capture);
		tables_add_filled(&out->shown, &out->report.sampled);
	}
	/* Samples explain; where they only say where, what the counts say comes first. */
	if (s != NULL)
		add_sampled(out, s, true, counts);
	if (counts != NULL)
		add_counted(out, hot.result, &names);
	if (s != NULL && is_blind(out, s)) {
		add_sampled(out, s, false, counts);
		put_busy_machine_last(&out->found);
	}
	if (counts != NULL) {
		tables_add_filled(&out->shown, &out->stat.facts);
		tables_add_filled(&out->shown, &out->stat.run);
		tables_add_filled(&out->shown, &out->stat.topdown);
	}
	add_silences(out, s, hot.result, &names);
	if (s != NULL) {
		hot_class.free(hot.result);
		names_release(&names);
	}
	return 0;
}

void method_make_tables(struct session *s, struct method *m)
{
	findings_table(&m->found, s, &m->findings);
	findings_evidence_table(&m->found, &m->evidence);
	findings_loops_table(&m->found, &m->loops);
	if (s != NULL) {
		tables_add_filled(&m->shown, &m->report.functions);
		tables_add_filled(&m->shown, &m->report.user_code);
	}
	*vec_add(&m->shown.list) = &m->findings;
	*vec_add(&m->shown.list) = &m->evidence;
	*vec_add(&m->shown.list) = &m->loops;
}

void method_screen(const struct session *s, const struct tables *more, bool is_verbose,
		   struct method *m)
{
	struct report *r = &m->report;

	findings_answer(&m->found, facts_lost(s, &r->facts), &m->answer);
	findings_brief_table(&m->found, s, &m->summary);
	findings_next_table(&m->found, s, &m->next);
	*vec_add(&m->screen.list) = &m->answer;
	tables_add_filled(&m->screen, is_verbose ? &m->findings : &m->summary);
	for (size_t i = 0; i < more->list.n; i++)
		*vec_add(&m->screen.list) = more->list.items[i];
	tables_add_filled(&m->screen, &m->stat.topdown);
	tables_add_filled(&m->screen, &r->functions);
	tables_add_filled(&m->screen, &r->user_code);
	tables_add_filled(&m->screen, &m->stat.facts);
	*vec_add(&m->screen.list) = is_verbose ? &r->facts : &r->brief_facts;
	if (!is_verbose)
		tables_add_filled(&m->screen, &m->next);
}

void method_release(struct method *m)
{
	table_release(&m->answer);
	table_release(&m->summary);
	table_release(&m->next);
	vec_release(&m->screen.list);
	stat_answer_release(&m->stat);
	report_release(&m->report);
	table_release(&m->findings);
	table_release(&m->evidence);
	table_release(&m->loops);
	findings_release(&m->found);
	vec_release(&m->shown.list);
}
