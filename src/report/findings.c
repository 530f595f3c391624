/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of functions: what stands out, how much it is, where, what might help. */
#include <stdlib.h>
#include <string.h>

#include "access/chase.h"
#include "base/alloc.h"
#include "branch_stacks/trigger.h"
#include "estimate/estimate.h"
#include "hot/sums/functions.h"
#include "report/finding_kinds.h"
#include "report/loops.h"
#include "report/page_faults.h"
#include "report/report.h"
#include "report/user_code.h"

enum {
	SHOWN = 5,	    /* findings */
	LEAST_SAMPLES = 30, /* with fewer, nothing is said of a function */
};

/* Part of the time: of less of a loop nothing is said. */
static const double least_loop = 0.05;

/* A class that applies to a function. */
struct candidate {
	const struct finding_class *class;
	const struct hot_function *function;
	struct extent extent;
};

struct finder {
	const struct hot *hot;
	const struct session *session;
	const struct names *names;
	const struct bottlenecks *bottlenecks;
	const struct user_code *user_code;
	struct hot_functions functions;
	VEC_OF(struct candidate) found;
	const struct candidate *shown[SHOWN];
	size_t n_shown;
	bool has_faults; /* there is a finding of page faults */
	struct findings *out;
};

static const char *event_words(const struct finder *d, uint64_t event)
{
	return hot_is_spe(d->hot, event) ? "latency cycles"
					 : capture_event_name(d->session->capture, event);
}

/* What shares of an event's weight are of. */
static enum finding_whole whole_of_event(const struct finder *d, uint64_t event)
{
	if (hot_is_spe(d->hot, event))
		return WHOLE_LATENCY;
	return hot_event_is_time(d->hot, event) ? WHOLE_CPU_TIME : WHOLE_OTHER;
}

static struct subject subject_of(const struct finder *d, const struct hot_function *f)
{
	const struct hot_cost *all = &d->functions.totals[f->event];

	return (struct subject){
		.f = f,
		.all = all,
		.is_spe = hot_is_spe(d->hot, f->event),
		.has_name = d->names->symbols[f->places[0]].function.v != 0,
		.share = ratio(f->weight, hot_event_weight(d->hot, f->event, all)),
	};
}

static void look_at(struct finder *d, const struct hot_function *f)
{
	struct subject subject = subject_of(d, f);
	bool has_special = false, is_explained;

	if (f->cost.n < LEAST_SAMPLES)
		return;
	/* Other events that are sampled beside SPE say nothing more of it. */
	is_explained = bottlenecks_explain(d->bottlenecks, f->places[0]);
	for (size_t i = 0; i < n_finding_classes; i++) {
		const struct finding_class *class = &finding_classes[i];
		struct extent extent = class->extent(&subject);

		if (extent.n == 0 || extent.share < class->least_share ||
		    (is_explained && class->is_of_loops) ||
		    (finding_is_general(class->kind) && has_special))
			continue;
		*vec_add(&d->found) = (struct candidate){ class, f, extent };
		has_special = true;
	}
}

static int compare_counts(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Largest first; the rest only makes the order the same for any numbering of functions. */
static int compare_candidates(const void *left, const void *right, void *context)
{
	const struct finder *d = context;
	const struct candidate *a = left, *b = right;
	const struct hot_function *f = a->function, *g = b->function;

	if (a->extent.share != b->extent.share)
		return (a->extent.share < b->extent.share) - (a->extent.share > b->extent.share);
	if (f->cost.n != g->cost.n)
		return compare_counts(g->cost.n, f->cost.n);
	if (f->event != g->event)
		return compare_counts(f->event, g->event);
	if (a->class != b->class)
		return (a->class > b->class) - (a->class < b->class);
	return hot_place_is_before(d->session, g->places[0], f->places[0]) -
	       hot_place_is_before(d->session, f->places[0], g->places[0]);
}

/* What would give names to the code of this place, or NULL. */
static const char *remedy_for_names(const struct finder *d, uint32_t place)
{
	struct module_id module = session_place(d->session, place).module;
	size_t n = symbols_n_missing(d->session->symbols);

	for (size_t i = 0; i < n; i++) {
		const struct symbols_missing *m = symbols_missing_at(d->session->symbols, i);

		if (m->module.v == module.v && m->remedy[0] != '\0')
			return findings_text(d->out, m->remedy);
	}
	return NULL;
}

/* Is a function hot by SPE's latency and by another event, too? Both say where the time goes. */
static bool is_hot_twice(const struct finder *d, const struct candidate *a,
			 const struct candidate *b)
{
	const char *name = names_function(d->names, a->function->places[0]);

	return a->class->kind == FINDING_HOT_FUNCTION &&
	       hot_is_spe(d->hot, a->function->event) != hot_is_spe(d->hot, b->function->event) &&
	       strcmp(name, names_function(d->names, b->function->places[0])) == 0;
}

/* Code without names is one thing to do, however many events found it. */
static bool is_shown(const struct finder *d, const struct candidate *found)
{
	struct place place = session_place(d->session, found->function->places[0]);

	for (size_t i = 0; i < d->n_shown; i++) {
		const struct candidate *other = d->shown[i];
		struct place its_place = session_place(d->session, other->function->places[0]);

		if (other->class == found->class && its_place.module.v == place.module.v &&
		    (found->class->kind == FINDING_UNNAMED_CODE || is_hot_twice(d, other, found)))
			return true;
	}
	return false;
}

/* What a finding of a function says once more of all of it that one of its loop has said. */
static bool is_same_cause(enum finding_kind of_function, enum finding_kind of_loop)
{
	switch (of_function) {
	case FINDING_MEMORY_BOUND:
		return finding_side(of_loop) == FINDING_SIDE_BACK_END &&
		       of_loop != FINDING_TLB_WALKS;
	case FINDING_TLB_WALKS:
	case FINDING_MISPREDICTIONS:
		return of_loop == of_function;
	default:
		return finding_is_general(of_function);
	}
}

/* Do findings of the function's loops tell at least half of it? They know more of the cause. */
static bool is_told_by_loops(const struct finder *d, const struct candidate *found)
{
	uint32_t place = found->function->places[0];
	const char *function = names_function(d->names, place);
	const char *module = names_module(d->session, session_place(d->session, place).module);
	double share = 0;

	if (d->names->symbols[place].function.v == 0 || !found->class->is_of_loops)
		return false;
	for (size_t i = 0; i < d->out->list.n; i++) {
		const struct finding *f = d->out->list.items[i];

		if (f->loop != NULL && finding_is_in(f, function, module) &&
		    is_same_cause(found->class->kind, f->kind))
			share += f->size.share;
	}
	return 2 * share >= found->extent.share;
}

static bool is_chase(const struct finder *d, const struct candidate *found)
{
	return found->class->may_chase && hot_is_spe(d->hot, found->function->event) &&
	       chase_at(d->session, found->function->places[found->class->aspect]);
}

static bool has_branch_stacks(const struct session *s)
{
	for (size_t i = 0; i < capture_n_events(s->capture); i++)
		if (stack_filter_of(s, i) == FILTER_ANY)
			return true;
	return false;
}

/* What shows more of a function that has no source lines: by line it would be the same once more. */
static const char *command_without_lines(const struct finder *d, uint32_t place)
{
	struct text text = { 0 };
	const char *out;

	if (d->names->symbols[place].function.v == 0)
		return "hot --by instruction";
	text_str(&text, has_branch_stacks(d->session) ? "blocks" : "annotate");
	text_shell_word(&text, names_function(d->names, place));
	out = arena_strndup(&d->out->memory, text.bytes, text.n);
	text_release(&text);
	return out;
}

/*
 * What helps where each address is loaded by the load before: no prefetch knows it earlier, so
 * the other ways to have less, or more at once, of that.
 */
static void advise(const struct finder *d, const struct candidate *found, struct finding *out)
{
	const struct hot_cost *cost = &found->function->cost;
	struct remedy remedy = { .kind = found->class->remedy };
	uint32_t place = found->function->places[found->class->aspect], line;
	const char *file;

	out->command = found->class->command;
	if (found->class->kind == FINDING_HOT_FUNCTION &&
	    !names_line(d->names, place, &file, &line))
		out->command = command_without_lines(d, place);
	if (found->class->kind == FINDING_UNNAMED_CODE) {
		remedy.text = remedy_for_names(d, found->function->places[0]);
		remedy.kind = remedy.text != NULL ? REMEDY_SYMBOLS : REMEDY_NONE;
		out->command = remedy.text == NULL ? "hot --by instruction" : NULL;
	}
	if (is_chase(d, found))
		remedy = (struct remedy){ .kind = REMEDY_POINTER_CHASE,
					  .percent = 100 * ratio(cost->n_walks, cost->n) };
	finding_add_remedy(out, remedy);
}

/* What the function has: told also where the finding is not about all of it. */
static void add_weight(const struct finder *d, const struct subject *s, const struct extent *e,
		       struct finding *out)
{
	struct evidence *weight = finding_add_evidence(out, EVIDENCE_WEIGHT);

	weight->part = s->f->weight;
	weight->all = hot_event_weight(d->hot, s->f->event, s->all);
	weight->unit = hot_event_is_time(d->hot, s->f->event) ? "ns" : out->event;
	if (e->n != s->f->cost.n)
		weight->value = s->share;
}

/* Of a library's or the kernel's function: which code of the program has it called. */
static void add_caller(const struct finder *d, const struct hot_function *function,
		       struct finding *out)
{
	uint32_t place = function->places[0], caller;

	if (d->user_code == NULL || !user_code_is_library(d->user_code, place))
		return;
	if (!user_code_caller(d->user_code, function->event, place, &caller, &out->caller_share)) {
		if (finding_is_general(out->kind) && !hot_is_spe(d->hot, function->event) &&
		    !user_code_has_chains(d->user_code))
			finding_add_remedy(out, (struct remedy){ .kind = REMEDY_CALL_CHAINS });
		return;
	}
	out->caller = findings_place(d->out, d->names, caller);
	out->caller.name = findings_text(d->out, names_function(d->names, caller));
	finding_add_remedy(out, (struct remedy){ .kind = REMEDY_CALL_LESS });
}

static void add_finding(const struct finder *d, const struct candidate *found)
{
	const struct finding_class *class = found->class;
	const struct extent *e = &found->extent;
	struct subject s = subject_of(d, found->function);
	uint32_t place = s.f->places[class->aspect];
	struct finding *f = findings_add(d->out, class->kind);

	f->subject = subject_name(d->names, s.f->places[0], d->out);
	f->event = findings_text(d->out, event_words(d, s.f->event));
	if (class->measure != NULL)
		class->measure(&s, f);
	f->size = (struct finding_size){
		.share = e->share,
		.error = extent_error(e) +
			 (s.is_spe ? estimate_lost_error(e->share, &d->session->lost) : 0),
		.mark = e->mark,
		.of = class->whole != NULL ? WHOLE_BRANCHES : whole_of_event(d, s.f->event),
		.whole = class->whole != NULL ? class->whole : f->event,
	};
	add_weight(d, &s, e, f);
	f->where = findings_place(d->out, d->names, place);
	advise(d, found, f);
	f->samples = (struct finding_samples){
		.n = e->n,
		.n_all = e->n_all,
		.of = class->whole != NULL ? class->whole : "samples",
		.error = f->size.error,
		.no_jitter = s.is_spe && spe_lacks_jitter(d->session->capture),
		.full_share = e->mark == MARK_EXACT ? -1 : ratio(s.all->full, s.all->cycles),
	};
	add_caller(d, s.f, f);
	f->function = findings_text(d->out, names_function(d->names, place));
	f->module = findings_text(
		d->out, names_module(d->session, session_place(d->session, place).module));
}

/* What helps, by what the faults are for. */
static const enum remedy_kind fault_remedies[N_FINDING_FAULTS] = {
	[FAULTS_OTHER] = REMEDY_REUSE_MEMORY,  [FAULTS_FRESH] = REMEDY_REUSE_MEMORY,
	[FAULTS_COPIED] = REMEDY_COPY_LESS,    [FAULTS_OF_FILES] = REMEDY_MAP_AHEAD,
	[FAULTS_SWAPPED] = REMEDY_LESS_MEMORY, [FAULTS_MOVED] = REMEDY_NODES,
};

/* Of less of the time nothing is said: each program faults while it starts. */
static const double least_faults = 0.1;

static bool add_page_faults(const struct finder *d)
{
	struct page_fault_sums sums;
	uint64_t event;
	const struct page_faults *faults =
		d->user_code == NULL ? NULL : user_code_faults(d->user_code, &event);
	const struct hot_cost *all;
	struct finding *f;
	double share;

	if (faults == NULL || !page_faults_sums(faults, &sums) || sums.n < LEAST_SAMPLES)
		return false;
	all = &d->functions.totals[event];
	share = ratio(sums.weight, hot_event_weight(d->hot, event, all));
	if (share < least_faults)
		return false;
	f = findings_add(d->out, FINDING_PAGE_FAULTS);
	f->event = findings_text(d->out, event_words(d, event));
	f->size = (struct finding_size){
		.share = share,
		.error = share_error(share, sums.n, all->n, 1, 1),
		.whole = f->event,
	};
	f->subject = subject_name(d->names, sums.place, d->out);
	f->where = findings_place(d->out, d->names, sums.place);
	f->function = findings_text(d->out, names_function(d->names, sums.place));
	f->module = findings_text(
		d->out, names_module(d->session, session_place(d->session, sums.place).module));
	f->samples = (struct finding_samples){
		.n = sums.n,
		.n_all = all->n,
		.of = "samples",
		.error = f->size.error,
		.full_share = -1,
	};
	f->page_faults = arena_alloc(&d->out->memory, sizeof(*f->page_faults));
	*f->page_faults = (struct finding_page_faults){
		.faults = sums.faults,
		.part = sums.faults_part,
		.function_part = sums.function_part,
	};
	f->command = "hot --call-tree";
	finding_add_remedy(f, (struct remedy){ .kind = fault_remedies[sums.faults] });
	return true;
}

/* Is the function the kernel's, and most of what it does in page faults, which have a finding? */
static bool is_of_faults(const struct finder *d, const struct candidate *found)
{
	uint64_t event;
	const struct page_faults *faults =
		d->user_code == NULL ? NULL : user_code_faults(d->user_code, &event);

	return d->has_faults && finding_is_general(found->class->kind) &&
	       found->function->event == event &&
	       2 * page_faults_of_function(faults, found->function->places[0]) >=
		       found->function->weight;
}

/* Says why there is no finding: nothing stands out, or nothing could. */
static void add_silence(const struct finder *d)
{
	struct silence silence = { .kind = SILENCE_NOTHING,
				   .least = LEAST_SAMPLES,
				   .percent = d->bottlenecks != NULL ? 100 * least_loop : 0 };
	struct text traces = { 0 };
	bool has_spe = false;

	for (uint64_t event = 0; event < hot_event_end(d->hot); event++) {
		uint64_t n = d->functions.totals[event].n;

		silence.n = n > silence.n ? n : silence.n;
		has_spe |= n > 0 && hot_is_spe(d->hot, event);
	}
	if (silence.n == 0)
		capture_other_trace_names(d->session->capture, &traces);
	if (traces.n > 0) {
		silence.kind = SILENCE_NOT_DECODED;
		silence.text = arena_strndup(&d->out->memory, traces.bytes, traces.n);
	} else if (silence.n < LEAST_SAMPLES)
		silence.kind = SILENCE_FEW_SAMPLES;
	else if (!has_spe)
		silence.kind = SILENCE_NO_LATENCIES;
	else if (d->bottlenecks != NULL)
		silence.text = bottlenecks_code(d->bottlenecks)->obstacle;
	if (silence.text != NULL && silence.kind == SILENCE_NOTHING)
		silence.kind = SILENCE_NO_TIMES;
	if (silence.kind == SILENCE_NOTHING) {
		silence.largest = report_largest_left(d->bottlenecks, d->names, d->out);
		silence.unexplained =
			report_unexplained(d->bottlenecks, d->names, least_loop, d->out);
	}
	text_release(&traces);
	*vec_add(&d->out->silences) = silence;
}

void report_find(const struct hot *hot, const struct names *names,
		 const struct bottlenecks *bottlenecks, const struct user_code *user_code,
		 struct findings *out)
{
	struct finder d = { .hot = hot, .session = hot->session, .names = names, .out = out };
	size_t n_loops;
	bool has_code;

	d.bottlenecks = bottlenecks;
	d.user_code = user_code;
	hot_functions_init(&d.functions, hot, names);
	for (size_t i = 0; i < d.functions.list.n; i++)
		look_at(&d, &d.functions.list.items[i]);
	if (d.found.n > 1)
		qsort_r(d.found.items, d.found.n, sizeof(*d.found.items), compare_candidates, &d);
	d.has_faults = add_page_faults(&d);
	n_loops = report_add_loops(bottlenecks, names, user_code, least_loop, SHOWN, out);
	for (size_t i = 0; i < d.found.n && n_loops + d.n_shown < SHOWN; i++) {
		const struct candidate *found = &d.found.items[i];

		if (is_shown(&d, found) || is_told_by_loops(&d, found) || is_of_faults(&d, found))
			continue;
		add_finding(&d, found);
		d.shown[d.n_shown++] = found;
	}
	has_code = report_add_code(bottlenecks, out);
	if (d.found.n + n_loops == 0 && !has_code && !d.has_faults)
		add_silence(&d);
	findings_sort(out);
	vec_release(&d.found);
	hot_functions_release(&d.functions);
}
