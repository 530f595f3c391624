/* SPDX-License-Identifier: Apache-2.0 */
#include "quality/quality.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "callers/callers.h"
#include "cpu/errata.h"
#include "estimate/shares.h"
#include "quality/parts.h"
#include "scan/scan.h"
#include "scan/spe_filters.h"
#include "scan/time_slices.h"
#include "session/names.h"
#include "table/answer.h"

enum {
	BRIEF_ROWS = 10,
	FEW_RECORDS = 1000,
	UNEVEN = 4,
	SHORT_INTERVAL = 3000, /* samples are most accurate from here … */
	LONG_INTERVAL = 4096,  /* … to here, says published work */
	SMALL_BUFFER = 1 << 20,
};

/* Shares from which on a check is a note, and a warning. */
#define SOME 0.001
#define MUCH 0.02
#define NEVER 2.0

enum verdict { OK, NOTE, WARNING, NOTHING, N_VERDICTS };
static const char *const verdicts[] = {
	[OK] = "ok", [NOTE] = "note", [WARNING] = "warning", [NOTHING] = "n/a"
};

static const struct column check_columns[] = {
	{ "check", NULL, "", CELL_TEXT, 0, "name of the check" },
	{ "verdict", NULL, "", CELL_TEXT, 0,
	  "ok, note, warning, or n/a where there is nothing to judge" },
	{ "value", NULL, "", CELL_NUMBER, COLUMN_MACHINE_ONLY,
	  "the value: a share, or a count for checks of counts" },
	{ "part", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "how many of what the check is about: records, buffers, bytes, by the check" },
	{ "all", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "of so many that were looked at" },
	{ "finding", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_MESSAGE, "text" },
};

/* What the checks look at. */
struct judging {
	const struct session *s;
	const struct quality_counts *counts;
	const struct losses *losses;
	const struct biases *biases;
	const struct hot *hot;
	const struct attr *spe; /* the SPE event's, or NULL */
	struct table *out;

	/* What the next check counted. */
	bool has_amounts;
	uint64_t part, all;

	bool is_for_people;
	enum verdict wanted;	       /* for people: rows are of this one … */
	size_t n[N_VERDICTS];	       /* … and so many */
	struct text names[N_VERDICTS]; /* of these checks */
};

static bool is_wanted(const struct judging *j, enum verdict verdict)
{
	return !j->is_for_people || j->wanted == verdict;
}

/* The next check counted so many of so many. */
static struct judging *judge_counted(struct judging *j, uint64_t part, uint64_t all)
{
	j->has_amounts = true;
	j->part = part;
	j->all = all;
	return j;
}

static void say(struct judging *j, const char *check, enum verdict verdict, double value,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

static void say(struct judging *j, const char *check, enum verdict verdict, double value,
		const char *format, ...)
{
	struct cell *row;
	va_list arguments;
	char text[600];

	if (!is_wanted(j, verdict)) {
		j->has_amounts = false;
		return;
	}
	if (verdict != OK)
		text_format(&j->names[verdict], "%s%s", j->names[verdict].n > 0 ? ", " : "", check);
	j->n[verdict]++;
	row = table_add_row(j->out);
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	row[0] = cell_text(check);
	row[1] = cell_text(verdicts[verdict]);
	row[2] = cell_number(value);
	row[5] = cell_text(table_text(j->out, text));
	if (j->has_amounts) {
		row[3] = cell_count(j->part);
		row[4] = cell_count(j->all);
	}
	j->has_amounts = false;
}

/* The check is there, but nothing of what it looks at was recorded. */
static void say_nothing(struct judging *j, const char *check, const char *what)
{
	struct cell *row;

	if (!is_wanted(j, NOTHING))
		return;
	row = table_add_row(j->out);
	row[0] = cell_text(check);
	row[1] = cell_text(verdicts[NOTHING]);
	row[5] = cell_text(table_format(j->out, "no %s", what));
}

/* A part of what was recorded; `remedy` is shown from SOME on. */
struct missing {
	const char *check;
	uint64_t n, n_all;
	const char *of;	   /* what n_all are */
	const char *words; /* behind the per cent */
	const char *remedy;
	double much; /* from which on it is serious */
};

static enum verdict quality_judge(double share, double some, double much)
{
	return share >= much ? WARNING : share >= some ? NOTE : OK;
}

static void check_records(struct judging *j)
{
	char records[GROUPED_BYTES], samples[GROUPED_BYTES];
	uint64_t n = j->counts->n;
	struct text traces = { 0 };

	capture_other_trace_names(j->s->capture, &traces);
	text_char(&traces, '\0');
	if (n + j->counts->n_samples == 0 && traces.n > 1)
		say(j, "records", WARNING, 0,
		    "no SPE records, no samples: the capture has %s traces only, which cyclops "
		    "does "
		    "not decode",
		    traces.bytes);
	else if (n == 0 && j->counts->n_samples > 0)
		say(j, "records", NOTE, 0, "no SPE records, %" PRIu64 " sample%s",
		    j->counts->n_samples, plural(j->counts->n_samples));
	else
		say(j, "records", n < FEW_RECORDS ? WARNING : OK, (double)n,
		    "%s SPE record%s%s, %s sample%s", grouped_u64(n, records), plural(n),
		    n < FEW_RECORDS ? ": few; see the confidence intervals" : "",
		    grouped_u64(j->counts->n_samples, samples), plural(j->counts->n_samples));
	text_release(&traces);
	if (capture_spe(j->s->capture)->is_modelled)
		say(j, "modelled", NOTE, 1, "made by a machine model, not by hardware");
}

/* What another interval would have avoided; "" if nothing. */
static const char *interval_fault(const struct judging *j)
{
	const struct losses *l = j->losses;
	uint64_t base = j->spe->sample_period, n = j->counts->n;

	if (spe_interval_common(j->s).base > 0)
		base = spe_interval_common(j->s).base;
	if (base < SHORT_INTERVAL && l->n[LOSS_COLLISION] + l->n[LOSS_TRUNCATED] > 0)
		return "; the interval is short and samples were lost: record with --spe "
		       "interval=4096";
	if (base > LONG_INTERVAL && n < FEW_RECORDS)
		return "; the interval is long and records are few: record longer, or with --spe "
		       "interval=4096";
	return "";
}

static void check_interval(struct judging *j)
{
	const char *fault = interval_fault(j);
	double mean = (double)spe_interval_common(j->s).mean;
	struct spe_interval_range range = spe_interval_range(j->s);
	struct text text = { 0 };

	spe_intervals_text(j->s, &text);
	text_char(&text, '\0');
	if (range.longest == 0)
		say(j, "interval", WARNING, mean, "%s: shares only (--interval gives it)",
		    text.bytes);
	else if (spe_filters_are_contradicted(j->s))
		say(j, "interval", WARNING, mean,
		    "%s, but records contradict the header (see filters): estimates are "
		    "unreliable",
		    text.bytes);
	else if (range.least < 1)
		say(j, "interval", NOTE, mean,
		    "%s; the jitter of this CPU is not known: estimates may be %.1f %% too high%s",
		    text.bytes, 100 * (1 - range.least), fault);
	else
		say(j, "interval", fault[0] != '\0' ? NOTE : OK, mean, "%s%s", text.bytes, fault);
	text_release(&text);
}

static void check_filters(struct judging *j)
{
	char part[GROUPED_BYTES], all[GROUPED_BYTES];
	struct text text = { 0 };

	spe_filters_text(j->s, &text);
	text_char(&text, '\0');
	if (spe_filters_are_contradicted(j->s))
		say(judge_counted(j, j->s->unfiltered.n, j->s->unfiltered.n_records), "filters",
		    WARNING, ratio(j->s->unfiltered.n, j->s->unfiltered.n_records),
		    "the header says %s, but %s of %s records do not fit: interval and totals are "
		    "unreliable",
		    text.bytes + 2, grouped_u64(j->s->unfiltered.n, part),
		    grouped_u64(j->s->unfiltered.n_records, all));
	else if (spe_filters_least_cycles(j->s) > 0)
		say(j, "filters", WARNING, 1,
		    "%s: faster operations are missing; means and shares are of the recorded ones",
		    text.bytes + 2);
	else if (spe_filters_thin(j->s))
		say(j, "filters", WARNING, 1,
		    "%s: other operations are missing; shares are of the recorded ones",
		    text.bytes + 2);
	else if (spe_filters_hide(j->s))
		say(j, "filters", NOTE, 1, "%s: shares are of the recorded operations",
		    text.bytes + 2);
	else
		say(j, "filters", OK, 0, "%s", text.bytes + 2);
	text_release(&text);
}

static void check_buffers(struct judging *j)
{
	const struct losses *l = j->losses;
	const struct lost_samples *lost = &j->s->lost;
	double truncated = ratio(l->n[LOSS_TRUNCATED], l->n_aux);
	double collided = ratio(l->n[LOSS_COLLISION], l->n_aux);

	say(judge_counted(j, l->n[LOSS_TRUNCATED], l->n_aux), "truncated",
	    l->n[LOSS_TRUNCATED] > 0 ? WARNING : OK, truncated,
	    l->n[LOSS_TRUNCATED] > 0 ? "%" PRIu64 " of %" PRIu64
				       " buffers were full and lost records%s: use larger buffers "
				       "(cyclops record --aux 4M, perf -m ,4M) or a longer interval"
				     : "%" PRIu64 " of %" PRIu64 " buffers%s",
	    l->n[LOSS_TRUNCATED], l->n_aux,
	    l->most_truncated > 0 && l->most_truncated < SMALL_BUFFER
		    ? ", with less than 1 MiB in each"
		    : "");
	say(judge_counted(j, l->n[LOSS_COLLISION], l->n_aux), "collisions",
	    quality_judge(collided, SOME, 0.5), collided,
	    l->n[LOSS_COLLISION] > 0 ? "samples collided in %" PRIu64 " of %" PRIu64
				       " buffers: slow code has too few samples; %s"
				     : "%" PRIu64 " of %" PRIu64 " buffers",
	    l->n[LOSS_COLLISION], l->n_aux,
	    lost->is_counted
		    ? table_format(j->out, "%.0f samples (%.1f %%) were lost (counted by the PMU)",
				   lost->n, 100 * lost->share)
		    : "count SAMPLE_COLLISION, or use a longer interval");
}

static void check_ring(struct judging *j)
{
	const struct capture_totals *t = capture_totals(j->s->capture);
	uint64_t lost = capture_lost(t);
	double share = ratio(lost, lost + t->n_records);
	uint64_t unread = diags_bytes(capture_diags(j->s->capture), DIAG_LOSS);
	uint64_t other = capture_other_trace_bytes(j->s->capture);
	struct text traces = { 0 };

	say(judge_counted(j, lost, lost + t->n_records), "lost",
	    lost > 0 ? quality_judge(share, 0, MUCH) : OK, share,
	    "%" PRIu64 " record%s and %" PRIu64 " sample%s were lost%s", t->n_lost_events,
	    plural(t->n_lost_events), t->n_lost_samples, plural(t->n_lost_samples),
	    t->n_lost_events > 0 ? "; mappings and threads may be missing" : "");
	say(j, "throttled", t->n_throttled > 0 ? WARNING : OK, (double)t->n_throttled,
	    "%" PRIu64 " time%s%s", t->n_throttled, plural(t->n_throttled),
	    t->n_throttled > 0 ? ": use a longer period, or a higher perf_event_max_sample_rate"
			       : "");
	if (unread > 0 || t->missing_bytes > 0)
		say(judge_counted(j, unread, capture_size(j->s->capture)), "damage", WARNING,
		    ratio(unread, capture_size(j->s->capture)),
		    "%" PRIu64 " byte%s could not be read, %" PRIu64 " missing", unread,
		    plural(unread), t->missing_bytes);
	capture_other_trace_names(j->s->capture, &traces);
	text_char(&traces, '\0');
	if (other > 0)
		say(judge_counted(j, other, capture_size(j->s->capture)), "not-decoded", NOTE,
		    ratio(other, capture_size(j->s->capture)),
		    "%" PRIu64 " byte%s of %s traces were not decoded: cyclops cannot read them",
		    other, plural(other), traces.bytes);
	text_release(&traces);
}

static void check_saturation(struct judging *j)
{
	const struct quality_counts *q = j->counts;
	double part = ratio(q->full_cycles, q->cycles);

	say(judge_counted(j, q->full_cycles, q->cycles), "saturated",
	    quality_judge(part, 0.01, 0.1), part,
	    "%.1f %% of total latencies are saturated (issue %.1f %%, translation %.1f %%); they "
	    "have %.1f %% of the latency cycles%s",
	    100 * ratio(q->full_total, q->with_total), 100 * ratio(q->full_issue, q->with_issue),
	    100 * ratio(q->full_xlat, q->with_xlat), 100 * part,
	    part >= 0.01 ? "; latency shares are bounds (\xe2\x89\xa5, \xe2\x89\xa4)" : "");
}

static void check_missing(struct judging *j, const struct missing *m)
{
	double share = ratio(m->n, m->n_all);

	if (m->n_all == 0)
		say_nothing(j, m->check, m->of);
	else
		say(judge_counted(j, m->n, m->n_all), m->check, quality_judge(share, SOME, m->much),
		    share, "%.1f %% of the %s %s%s", 100 * share, m->of, m->words,
		    share >= SOME ? m->remedy : "");
}

static void check_contents(struct judging *j)
{
	const struct quality_counts *q = j->counts;
	const struct attribution_totals *a = &j->s->attribution;
	const struct missing all[] = {
		{ "context", q->without_context, q->n, "SPE records", "have no thread",
		  "; threads come from switch records (SPE has them with CONFIG_PID_IN_CONTEXTIDR "
		  "and root)",
		  NEVER },
		{ "address", q->without_address, q->n_memory, "SPE loads and stores",
		  "have no data address", "", MUCH },
		{ "time", q->without_time, q->n, "SPE records", "have no time",
		  ": record with ts_enable=1", MUCH },
		{ "thread", a->n_without_tid, a->n_rows, "records and samples",
		  "have no known thread", "", MUCH },
		{ "place", a->n_without_place, a->n_rows, "records and samples",
		  "are in no known module", "", MUCH },
	};

	for (size_t i = 0; i < COUNT(all); i++)
		check_missing(j, &all[i]);
}

/* A slice without a record on a CPU that has some before and behind it. */
static uint64_t n_holes(const struct quality_counts *q, const struct quality_cpu *c,
			uint64_t *out_n)
{
	int n = (int)q->slices.n, first = 0, last = n - 1;
	uint64_t holes = 0;

	while (first < n && c->slices[first] == 0)
		first++;
	while (last > first && c->slices[last] == 0)
		last--;
	for (int i = first; i <= last; i++)
		holes += c->slices[i] == 0;
	*out_n += first <= last ? (uint64_t)(last - first + 1) : 0;
	return holes;
}

static void check_time(struct judging *j)
{
	const struct quality_counts *q = j->counts;
	uint64_t n = 0, holes = 0, most = 0, least = UINT64_MAX;
	char busiest[GROUPED_BYTES], idlest[GROUPED_BYTES];

	for (size_t i = 0; i < q->by_cpu.n; i++) {
		const struct quality_cpu *c = &q->by_cpu.items[i];

		if (c->n == 0)
			continue;
		holes += n_holes(q, c, &n);
		most = c->n > most ? c->n : most;
		least = c->n < least ? c->n : least;
	}
	if (q->slices.n > 0)
		say(judge_counted(j, n - holes, n), "coverage",
		    quality_judge(ratio(holes, n), 0.05, 0.25), 1 - ratio(holes, n),
		    "%.0f %% of the CPUs' time has records (%u slices); the rest is idle or lost",
		    100 * (1 - ratio(holes, n)), q->slices.n);
	if (most > 0)
		say(judge_counted(j, least, most), "balance", most > UNEVEN * least ? NOTE : OK,
		    ratio(least, most), "the busiest CPU has %s record%s, the idlest %s",
		    grouped_u64(most, busiest), plural(most), grouped_u64(least, idlest));
}

/* Why the CPU favours some instructions, as far as a fault of it is known to. */
static const char *known_fault(struct judging *j)
{
	const struct session *s = j->s;
	uint64_t midr = s->cpu_is_given ? 0 : capture_midr(s->capture, UINT32_MAX);
	const struct cpu_erratum *e = cpu_erratum_find(s->cpu, midr, ERRATUM_SPE_BIAS);

	if (e == NULL)
		return "";
	return table_format(j->out, " (on %s%s%s %s, erratum %s)", cpu_name(s->cpu),
			    e->fixed_in != NULL ? " before " : "",
			    e->fixed_in != NULL ? e->fixed_in : "", e->what, e->id);
}

static void check_bias(struct judging *j)
{
	const struct biases *b = j->biases;
	double share = ratio(b->n_biased, b->n_tested);
	bool has_jitter = j->spe->config >> 16 & 1;
	enum verdict untested = !has_jitter ? NOTE : j->is_for_people ? NOTHING : OK;

	if (spe_filters_hide_kinds(j->spe) || spe_filters_hide_outcomes(j->spe))
		say(j, "bias", untested, 0, "filters hide neighbouring instructions%s",
		    has_jitter ? "" : "; no jitter: the interval may be in step with a loop");
	else if (b->n_tested == 0)
		say(j, "bias", untested, 0, "no instruction has enough records and known code%s",
		    has_jitter ? "" : "; no jitter: the interval may be in step with a loop");
	else
		say(judge_counted(j, b->n_biased, b->n_tested), "bias",
		    quality_judge(share, SOME, 0.01), share,
		    "%.1f %% of the tested records are of instructions with many more samples than "
		    "the next instruction%s%s",
		    100 * share,
		    share < SOME ? ""
		    : has_jitter ? ": a bias of the CPU"
				 : ": the interval is in step with a loop; record with jitter=1",
		    share >= SOME && has_jitter ? known_fault(j) : "");
}

/* The events that are sampled with a fixed period that loops may fall into step with. */
static void check_period(struct judging *j)
{
	const struct capture *c = j->s->capture;
	struct text found = { 0 };
	uint64_t n = 0, n_fixed = 0;

	for (size_t i = 0; i < capture_n_events(c); i++) {
		const struct attr *a = &capture_event(c, i)->attr;
		uint64_t factor = attr_period_factor(a);

		if (a->sample_period <= 1 || attr_has(a, ATTR_FREQ) || attr_is_clock(a) ||
		    capture_is_trace(c, i))
			continue;
		n_fixed++;
		if (factor == 0)
			continue;
		n++;
		text_format(&found, "%s%s %" PRIu64 " (%" PRIu64 " × %" PRIu64 ")",
			    n > 1 ? ", " : "", capture_event_name(c, i), a->sample_period, factor,
			    a->sample_period / factor);
	}
	text_char(&found, '\0');
	if (n > 0)
		say(judge_counted(j, n, n_fixed), "period", WARNING, (double)n,
		    "%s: loops whose length divides a period are sampled in step; take a prime",
		    found.bytes);
	else if (n_fixed > 0)
		say(judge_counted(j, n, n_fixed), "period", OK, 0,
		    "no sampling period has a small factor");
	text_release(&found);
}

static void make_checks(struct judging *j)
{
	bool has_spe = j->spe != NULL && j->counts->n > 0;

	check_records(j);
	if (has_spe) {
		check_interval(j);
		check_filters(j);
		check_buffers(j);
	}
	check_ring(j);
	check_period(j);
	if (has_spe) {
		check_saturation(j);
		check_bias(j);
	}
	check_contents(j);
	if (has_spe)
		check_time(j);
}

static void say_names(struct judging *j, enum verdict verdict, const char *words, struct table *t)
{
	size_t n = j->n[verdict];

	if (n > 0)
		answer_say(t, "%zu %s%s: %.*s.", n, words, plural(n), (int)j->names[verdict].n,
			   j->names[verdict].bytes);
}

/* For people, problems are first, and an answer says which. */
static void make_all_checks(struct judging *j, struct table *answer)
{
	static const enum verdict order[] = { WARNING, NOTE, NOTHING, OK };

	table_init(j->out, "quality", NULL, check_columns, COUNT(check_columns));
	j->out->style = TABLE_FACTS;
	answer_init(answer);
	if (!j->is_for_people) {
		make_checks(j);
	} else {
		for (size_t i = 0; i < COUNT(order); i++) {
			j->wanted = order[i];
			make_checks(j);
		}
		if (j->n[WARNING] == 0)
			answer_say(answer, "No problem found.");
		say_names(j, WARNING, "problem", answer);
		say_names(j, NOTE, "note", answer);
	}
	for (size_t i = 0; i < N_VERDICTS; i++)
		text_release(&j->names[i]);
}

static const struct column cpu_columns[] = {
	{ "cpu", NULL, "", CELL_COUNT, 0, "number of the cpu" },
	{ "records", NULL, "records", CELL_COUNT, 0, "SPE records" },
	{ "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR, "part of all SPE records" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "PMU samples" },
	{ "first_ns", "first", "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "time of the first SPE record (without SPE: sample), of the perf clock" },
	{ "last_ns", "last", "ns", CELL_COUNT, COLUMN_MACHINE_ONLY,
	  "time of the last SPE record (without SPE: sample), of the perf clock" },
};

static void make_cpus(const struct quality_counts *q, struct table *out)
{
	table_init(out, "cpus", "Records by CPU", cpu_columns, COUNT(cpu_columns));
	slices_add_columns(&q->slices, "records", "SPE records over time; without SPE: samples",
			   out);
	for (uint32_t i = 0; i < q->cpus.n; i++) {
		const struct quality_cpu *c = &q->by_cpu.items[i];
		uint64_t cpu = tuples_get(&q->cpus, i)[0];
		struct cell *row = table_add_row(out);

		if (cpu != UINT64_MAX)
			row[0] = cell_count(cpu);
		row[1] = cell_count(c->n);
		if (q->n > 0)
			row[2] = cell_number(ratio(c->n, q->n));
		row[3] = cell_count(c->n_samples);
		if (c->last_ns > 0) {
			row[4] = cell_count(c->first_ns);
			row[5] = cell_count(c->last_ns);
		}
		slices_show(&q->slices, c->slices, out, row);
	}
	table_sort(out, 0, false);
}

static void quality_show(struct quality *out, struct table *t, bool always)
{
	if (always || table_n_rows(t) > 0)
		*vec_add(&out->shown.list) = t;
}

static void quality_make_tables(struct judging *j, struct session *s, size_t top,
				struct quality *out)
{
	const struct keys by_function = { { KEY_FUNCTION }, 1 };
	size_t n_rows = top == 0 ? SIZE_MAX : top < BRIEF_ROWS ? top : BRIEF_ROWS;
	struct names names = { 0 };

	hot_names(s, j->hot, &by_function, &names);
	make_all_checks(j, &out->answer);
	losses_table(j->losses, s->capture, &out->losses);
	biases_table(j->biases, &names, n_rows, &out->bias);
	quality_rows(j->hot, &names, n_rows, &out->rows);
	quality_callers(s, n_rows, &out->callers);
	make_cpus(j->counts, &out->cpus);
	quality_show(out, &out->answer, false);
	quality_show(out, &out->checks, true);
	quality_show(out, &out->losses, false);
	quality_show(out, &out->bias, false);
	quality_show(out, &out->rows, false);
	quality_show(out, &out->callers, false);
	quality_show(out, &out->cpus, false);
	names_release(&names);
}

int quality_make(struct session *s, const struct select *select, size_t top, struct quality *out,
		 struct err *err)
{
	const struct hot_options options = { .dimensions = 1u << DIM_PLACE, .event = -1 };
	struct analysis parts[] = {
		{ .class = &quality_class },
		{ .class = &hot_class, .options = &options },
	};
	int event = capture_spe(s->capture)->event;
	struct losses losses;
	struct biases biases = { 0 };
	struct judging j = { .s = s,
			     .losses = &losses,
			     .biases = &biases,
			     .out = &out->checks,
			     .is_for_people = out->is_for_people };

	if (s->slices.n == 0 && scan_choose_slices(s, QUALITY_SLICES, true, err) < 0)
		s->slices = (struct slices){ 0 }; /* records have no times */
	callers_estimate(s);
	scan(s, select, parts, COUNT(parts));
	j.counts = parts[0].result;
	j.hot = parts[1].result;
	j.spe = event < 0 ? NULL : &capture_event(s->capture, (size_t)event)->attr;
	losses_find(s->capture, &losses);
	if (j.spe != NULL && !spe_filters_hide_kinds(j.spe) && !spe_filters_hide_outcomes(j.spe))
		biases_find(s, j.hot, &biases);
	quality_make_tables(&j, s, top, out);
	losses_release(&losses);
	biases_release(&biases);
	for (size_t i = 0; i < COUNT(parts); i++)
		parts[i].class->free(parts[i].result);
	return 0;
}

void quality_release(struct quality *q)
{
	struct table *const tables[] = { &q->answer, &q->checks, &q->losses, &q->cpus,
					 &q->rows,   &q->bias,	 &q->callers };

	for (size_t i = 0; i < COUNT(tables); i++)
		table_release(tables[i]);
	vec_release(&q->shown.list);
}
