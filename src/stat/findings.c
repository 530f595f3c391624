/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of the top-down method: what stands out, what supports it, what to try. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "findings/finding_table.h"
#include "stat/advice.h"
#include "stat/tables.h"

enum { SHOWN_EVIDENCE = 3, SHOWN_SAMPLES = 4 };

struct finder {
	const struct stat *s;
	struct table *out;
	bool *is_told; /* by metric: part of a finding already */
};

/* A metric above its threshold. */
struct excess {
	const struct cpu_metric *metric;
	double times; /* value by threshold */
};

static size_t index_of(const struct finder *f, const struct cpu_metric *m)
{
	return (size_t)(m - f->s->pmu->metrics);
}

/* "36.8 G of 43.8 G cycles", or the share alone where the whole was not counted. */
static const char *size_words(const struct finder *f, const struct cpu_metric *m)
{
	const struct stat_value *v = stat_value_of(f->s, m);
	const struct stat_total *cycles = stat_counted(f->s, f->s->pmu->cycles);
	const char *whole = stat_whole_of(m);
	const char *part;
	double n;

	if (cycles == NULL || whole[0] == '\0' || v->value < 0)
		return NULL;
	n = cycles->value;
	if (strcmp(whole, "slots") == 0 && f->s->slots > 0)
		n *= f->s->slots;
	else if (strcmp(whole, "cycles") != 0)
		return NULL;
	part = table_human(f->out, stat_count_cell(floor(n * v->value / 100)), whole);
	return table_format(f->out, "%.*s of %s", (int)(strlen(part) - strlen(whole) - 1), part,
			    table_human(f->out, cell_count((uint64_t)n), whole));
}

static const char *value_words(const struct finder *f, const struct cpu_metric *m)
{
	double value = stat_value_of(f->s, m)->value;
	const char *whole = stat_whole_of(m);

	if (whole[0] != '\0')
		return table_format(f->out, "%.1f %% of %s", value, whole);
	if (m->scale == 1 && strncmp(m->unit, "per ", 4) == 0 && value <= 1)
		return table_format(f->out, "%.1f %%", 100 * value);
	return table_format(f->out, value < 10 ? "%.2f" : "%.1f", value);
}

/* "18.7 % of slots: back end memory cache" for each deeper node that the walk went through. */
static void add_path(const struct finder *f, uint32_t root, struct text *text)
{
	for (uint32_t i = root + 1; i < f->s->steps.n; i++) {
		const struct stat_step *step = &f->s->steps.items[i];

		if (step->depth <= f->s->steps.items[root].depth)
			break;
		if (!step->is_pointed)
			continue;
		if (text->n > 0)
			text_str(text, "; ");
		text_format(text, "%s %s", stat_node_words(f->out, step->metric),
			    value_words(f, step->metric));
		f->is_told[index_of(f, step->metric)] = true;
	}
}

static int compare_excess(const void *a, const void *b)
{
	const struct excess *x = a, *y = b;

	if (x->times != y->times)
		return (x->times < y->times) - (x->times > y->times);
	return (x->metric > y->metric) - (x->metric < y->metric);
}

struct excesses {
	VEC_OF(struct excess) list;
};

static void add_excess(const struct finder *f, const struct cpu_metric *m, struct excesses *out)
{
	double threshold;

	for (size_t i = 0; i < out->list.n; i++)
		if (out->list.items[i].metric == m)
			return;
	if (!stat_is_above(f->s, m) || !stat_threshold_of(f->s, m->name, &threshold))
		return;
	*vec_add(&out->list) = (struct excess){ m, stat_value_of(f->s, m)->value /
							   (threshold > 0 ? threshold : 1) };
}

static void add_excesses(const struct finder *f, const struct cpu_metric *root,
			 const struct cpu_group *group, struct excesses *out)
{
	for (size_t i = 0; i < group->metrics.n; i++)
		if (stat_fits_root(f->s, root, group->metrics.items[i]))
			add_excess(f, group->metrics.items[i], out);
}

/* What passes its threshold among the groups that explain the nodes from `root` down. */
static void collect_excesses(const struct finder *f, uint32_t root, struct excesses *out)
{
	for (uint32_t i = root; i < f->s->steps.n; i++) {
		const struct stat_step *step = &f->s->steps.items[i];
		const struct cpu_node *node = stat_node_of(f->s, step->metric);

		if (i > root && step->depth <= f->s->steps.items[root].depth)
			break;
		for (size_t g = 0; step->is_pointed && node != NULL && g < node->next_groups.n; g++)
			add_excesses(f, f->s->steps.items[root].metric, node->next_groups.items[g],
				     out);
	}
	if (out->list.n > 1)
		qsort(out->list.items, out->list.n, sizeof(*out->list.items), compare_excess);
}

static void add_excess_words(const struct finder *f, const struct excesses *all, struct text *text)
{
	for (size_t i = 0; i < all->list.n; i++) {
		const struct cpu_metric *m = all->list.items[i].metric;
		double threshold = 0;

		f->is_told[index_of(f, m)] = true;
		if (i >= SHOWN_EVIDENCE)
			continue;
		stat_threshold_of(f->s, m->name, &threshold);
		if (text->n > 0)
			text_str(text, "; ");
		text_format(text, "%s %s (threshold %g)", value_words(f, m), m->label, threshold);
	}
}

static const char *taken(const struct finder *f, struct text *text)
{
	const char *out = NULL;

	if (text->n > 0) {
		text_char(text, '\0');
		out = table_text(f->out, text->bytes);
	}
	text_release(text);
	return out;
}

static void add_samples(const struct event_list *list, struct event_list *out)
{
	for (size_t i = 0; i < list->n && out->n < SHOWN_SAMPLES; i++) {
		bool is_there = false;

		for (size_t j = 0; j < out->n; j++)
			is_there |= out->items[j] == list->items[i];
		if (!is_there)
			out->items[out->n++] = list->items[i];
	}
}

static const char *samples_words(const struct finder *f, const struct cpu_metric *m,
				 const struct excesses *all)
{
	const struct cpu_event *events[SHOWN_SAMPLES];
	struct event_list list = { .items = events };
	struct text text = { 0 };

	for (size_t i = 0; all != NULL && i < all->list.n; i++)
		add_samples(&all->list.items[i].metric->samples, &list);
	add_samples(&m->samples, &list);
	for (size_t i = 0; i < list.n; i++)
		text_format(&text, "%s%s", i == 0 ? "sample " : ", ", list.items[i]->name);
	if (text.n > 0)
		text_str(&text, " to find the code");
	return taken(f, &text);
}

static double least_coverage(const struct finder *f, const struct excesses *all)
{
	double least = 1;

	for (size_t i = 0; all != NULL && i < all->list.n; i++)
		least = fmin(least, stat_value_of(f->s, all->list.items[i].metric)->coverage);
	return least;
}

static const char *sure_words(const struct finder *f, const struct cpu_metric *m,
			      const struct excesses *all)
{
	const struct stat_value *v = stat_value_of(f->s, m);
	double least = least_coverage(f, all);
	struct text text = { 0 };

	if (v->is_told)
		text_str(&text, "as told by the tool that counted; its coverage is not known");
	else if (v->mark == MARK_EXACT)
		text_str(&text, "counted all of the time");
	else if (v->mark == MARK_SATURATED)
		text_str(&text, "a counter was full: a lower bound");
	else
		text_format(&text, "counted %.0f %% of the time, scaled to all of it",
			    100 * v->coverage);
	if (least < v->coverage && least < 0.999)
		text_format(&text, ", what explains it %.0f %% (scaled)", 100 * least);
	if (v->spread > 0)
		text_format(&text, "; runs differ by %.1f %%", 100 * v->spread);
	return taken(f, &text);
}

static struct cell text_or_none(const char *text)
{
	return text == NULL ? (struct cell){ 0 } : cell_text(text);
}

static struct cell *put(struct finder *f, const struct cpu_metric *m, const char *claim,
			const struct excesses *all)
{
	struct cell *row = table_add_row(f->out);

	row[FINDING_CLAIM] = cell_text(claim);
	row[FINDING_SIZE] = text_or_none(size_words(f, m));
	row[FINDING_SURE] = text_or_none(sure_words(f, m, all));
	row[FINDING_KIND] = cell_text(m->name);
	if (stat_whole_of(m)[0] != '\0')
		row[FINDING_SHARE] = cell_number(stat_value_of(f->s, m)->value / 100);
	f->is_told[index_of(f, m)] = true;
	return row;
}

/* A root that the walk points at, with all that the walk found below it. */
static void put_root(struct finder *f, uint32_t step)
{
	const struct cpu_metric *m = f->s->steps.items[step].metric;
	struct excesses all = { 0 };
	struct stat_cause cause = stat_cause_of(f->s, m);
	struct text evidence = { 0 };
	struct cell *row;

	collect_excesses(f, step, &all);
	add_path(f, step, &evidence);
	add_excess_words(f, &all, &evidence);
	if (evidence.n == 0 && cause.why == NULL) {
		cause.why = stat_front_words(f->s, f->out, m);
		cause.remedy = cause.why != NULL ? stat_front_remedy : cause.remedy;
	}
	if (evidence.n == 0 && cause.why != NULL)
		text_str(&evidence, cause.why);
	row = put(f, m,
		  table_format(f->out, "%s%s", stat_claim_words(f->s, f->out, m), cause.claim),
		  &all);
	row[FINDING_EVIDENCE] = text_or_none(taken(f, &evidence));
	row[FINDING_NEXT] = text_or_none(samples_words(f, m, &all));
	row[FINDING_TRY] = text_or_none(
		stat_remedy(all.list.n > 0 ? all.list.items[0].metric : NULL, m, &cause));
	vec_release(&all.list);
}

/* A rate above its threshold that no root led to. */
static void put_alone(struct finder *f, const struct cpu_metric *m)
{
	const struct stat_cause none = { 0 };
	double threshold = 0;
	struct cell *row;

	stat_threshold_of(f->s, m->name, &threshold);
	row = put(f, m,
		  stat_whole_of(m)[0] != '\0'
			  ? stat_claim_words(f->s, f->out, m)
			  : table_format(f->out, "%s %s", value_words(f, m), m->label),
		  NULL);
	row[FINDING_EVIDENCE] = cell_text(
		table_format(f->out, "threshold %g, by itself no proof of lost time", threshold));
	row[FINDING_NEXT] = text_or_none(samples_words(f, m, NULL));
	row[FINDING_TRY] = text_or_none(stat_remedy(m, m, &none));
}

/* A task that lost its CPU is given one again soon: longer waits than this are for other things. */
enum { LONG_WITHOUT_CPU_NS = 100 * 1000 * 1000 };

/*
 * Why threads did not run: they waited for something, or another task had the CPU. How often
 * each of it was is known, how long is not.
 */
static void explain_waiting(struct finder *f, struct cell *row, double utilization, double idle_ns)
{
	const struct counts *c = f->s->counts;
	uint32_t n_runs = c->n_runs > 0 ? c->n_runs : 1;
	bool is_told = c->n_gave_up + c->n_put_off > 0;
	bool was_put_off = c->n_put_off > c->n_gave_up;
	/* Of one run, as all that stands beside it. */
	uint64_t n_gave_up = (c->n_gave_up + n_runs / 2) / n_runs;
	uint64_t n_put_off = (c->n_put_off + n_runs / 2) / n_runs;
	const char *claim = "it mostly waited", *remedy;
	const char *evidence = "whether for a CPU or for something else is not told; the rest is "
			       "about the time that it was running";

	if (is_told)
		evidence = table_format(
			f->out,
			"left a CPU %" PRIu64 " time%s to wait for something, %" PRIu64
			" time%s for another task%s; the rest is about the time that it "
			"was running",
			n_gave_up, plural(n_gave_up), n_put_off, plural(n_put_off),
			n_runs > 1 ? " in each run" : "");
	if (was_put_off && idle_ns * n_runs < (double)c->n_put_off * LONG_WITHOUT_CPU_NS) {
		claim = "it mostly waited, probably for a CPU";
		remedy = "other tasks had the CPUs: measure on a machine that is not busy, with no "
			 "more threads than CPUs";
	} else if (!is_told || was_put_off) {
		remedy = "if other tasks had the CPUs, measure without them; else find what it "
			 "waits for: input and output, locks, sleep";
	} else {
		remedy = "find what it waits for: input and output, locks, sleep";
	}
	row[FINDING_CLAIM] = cell_text(
		table_format(f->out, "%s: %.1f %% of one CPU was used", claim, utilization));
	row[FINDING_EVIDENCE] = cell_text(evidence);
	row[FINDING_TRY] = cell_text(remedy);
}

/* A CPU that mostly waits has no pipeline to explain. */
static void put_waiting(struct finder *f)
{
	const struct stat_total *busy = stat_totals_find(&f->s->totals, "task-clock");
	double elapsed = stat_elapsed_ns(f->s), threshold, utilization;
	struct cell *row;

	if (busy == NULL || busy->state != COUNT_COUNTED || elapsed <= 0 || busy->unit == NULL ||
	    strcmp(busy->unit, "ns") != 0)
		return;
	utilization = 100 * busy->value / elapsed;
	stat_threshold_of(f->s, THRESHOLD_BUSY, &threshold);
	if (utilization >= threshold)
		return;
	row = table_add_row(f->out);
	explain_waiting(f, row, utilization, elapsed - busy->value);
	row[FINDING_SIZE] = cell_text(table_format(
		f->out, "%s of %s", table_human(f->out, stat_count_cell(floor(busy->value)), "ns"),
		table_human(f->out, cell_count((uint64_t)elapsed), "ns")));
	row[FINDING_KIND] = cell_text("waiting");
	row[FINDING_SHARE] = cell_number(1 - utilization / 100);
}

static int compare_steps(const void *a, const void *b, void *context)
{
	const struct stat *s = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	double vx = stat_value_of(s, s->steps.items[x].metric)->value;
	double vy = stat_value_of(s, s->steps.items[y].metric)->value;

	return vx != vy ? (vx < vy) - (vx > vy) : (x > y) - (x < y);
}

/* Roots that the walk points at, the worst first; what is good to have comes last. */
static void put_roots(struct finder *f)
{
	VEC_OF(uint32_t) pointed = { 0 };

	for (uint32_t i = 0; i < f->s->steps.n; i++)
		if (f->s->steps.items[i].depth == 1 && f->s->steps.items[i].is_pointed)
			*vec_add(&pointed) = i;
	if (pointed.n > 1)
		qsort_r(pointed.items, pointed.n, sizeof(*pointed.items), compare_steps,
			(void *)(uintptr_t)f->s);
	for (size_t i = 0; i < pointed.n; i++)
		put_root(f, pointed.items[i]);
	vec_release(&pointed);
}

static bool is_root(const struct finder *f, const struct cpu_metric *m)
{
	for (size_t i = 0; i < f->s->roots->n; i++)
		if (f->s->roots->items[i] == m)
			return true;
	return false;
}

/* Stalled cycles say again what a tree of slots says better. */
static bool is_another_scale(const struct finder *f, const struct cpu_metric *m)
{
	return stat_has_picture(f->s) && strcmp(stat_whole_of(m), "cycles") == 0;
}

static void put_rest(struct finder *f)
{
	for (size_t i = 0; i < f->s->pmu->n_metrics; i++) {
		const struct cpu_metric *m = &f->s->pmu->metrics[i];

		if (!f->is_told[i] && !is_root(f, m) && cpu_node_of(f->s->pmu, m) == NULL &&
		    m->better == BETTER_LOWER && !is_another_scale(f, m) && stat_is_above(f->s, m))
			put_alone(f, m);
	}
}

/* Metrics that could have passed a threshold. */
static size_t n_judged(const struct finder *f)
{
	size_t n = 0;
	double threshold;

	for (size_t i = 0; i < f->s->pmu->n_metrics; i++)
		n += f->s->values[i].is_known &&
		     stat_threshold_of(f->s, f->s->pmu->metrics[i].name, &threshold);
	return n;
}

/* Why nothing was found, so that silence is not taken for an answer. */
static void note_nothing(struct finder *f)
{
	const struct metric_list *roots = f->s->roots;
	size_t n_known = 0, n_sparse = 0;

	for (size_t i = 0; i < roots->n; i++) {
		const struct stat_value *v = stat_value_of(f->s, roots->items[i]);

		n_known += v->is_known;
		n_sparse += v->is_known && v->mark == MARK_SPARSE;
	}
	if (n_judged(f) == 0)
		table_note(f->out, "no conclusion: no metric that has a threshold was counted");
	else if (n_sparse > 0)
		table_note(f->out,
			   "no conclusion: what the tree begins with was counted less than %.0f %% "
			   "of the time; count fewer events at once",
			   100 * f->s->least_coverage);
	else if (roots->n > 0 && n_known < roots->n)
		table_note(f->out,
			   "the top-down tree lacks counts, such as %s; nothing else passes its "
			   "threshold",
			   stat_value_of(f->s, roots->items[0])->lacks != NULL
				   ? stat_value_of(f->s, roots->items[0])->lacks
				   : "of its roots");
	else
		table_note(f->out, "no bottleneck found: nothing is above its threshold");
}

void stat_findings_table(const struct stat *s, struct table *out)
{
	struct finder f = { .s = s, .out = out };

	finding_table_init(out);
	f.is_told = mem_zalloc(s->pmu->n_metrics + 1, sizeof(*f.is_told));
	put_waiting(&f);
	put_roots(&f);
	put_rest(&f);
	if (table_n_rows(out) == 0)
		note_nothing(&f);
	free(f.is_told);
}
