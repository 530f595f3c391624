/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "table/answer.h"

enum levels_column {
	LEVEL_NAME,
	LEVEL_FROM,
	LEVEL_TO,
	LEVEL_CYCLES,
	LEVEL_NS,
	LEVEL_CONDITION,
	LEVEL_N_SIZES,
	N_LEVEL_COLUMNS,
};
static const struct column level_columns[N_LEVEL_COLUMNS] = {
	[LEVEL_NAME] = { "level", NULL, "", CELL_TEXT, 0,
			 "cache by the sizes that the kernel tells, or a number" },
	[LEVEL_FROM] = { "from_bytes", "from", "bytes", CELL_COUNT, 0,
			 "smallest list of this level" },
	[LEVEL_TO] = { "to_bytes", "to", "bytes", CELL_COUNT, 0, "largest list of this level" },
	[LEVEL_CYCLES] = { "cycles", NULL, "cycles", CELL_NUMBER, 0,
			   "of the core, for a load: median" },
	[LEVEL_NS] = { "ns", "time", "ns", CELL_NUMBER, 0, "for a load: median" },
	[LEVEL_CONDITION] = { "condition", NULL, "", CELL_TEXT, 0,
			      "how addresses are translated there" },
	[LEVEL_N_SIZES] = { "n_sizes", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			    "lists of this level" },
};

enum sizes_column {
	SIZE_BYTES,
	SIZE_CYCLES,
	SIZE_NS,
	SIZE_LEAST_NS,
	SIZE_MOST_NS,
	SIZE_HZ,
	SIZE_LEVEL,
	SIZE_SAMPLES,
	SIZE_MODE,
	SIZE_PEAK_LOW,
	SIZE_PEAK_HIGH,
	SIZE_P99,
	SIZE_UNBIASED,
	SIZE_PLOT,
	N_SIZE_COLUMNS,
};
static const struct column size_columns[N_SIZE_COLUMNS] = {
	[SIZE_BYTES] = { "size_bytes", "size", "bytes", CELL_COUNT, 0, "size of the list" },
	[SIZE_CYCLES] = { "cycles", NULL, "cycles", CELL_NUMBER, 0,
			  "of the core, for a load: median" },
	[SIZE_NS] = { "ns", "time", "ns", CELL_NUMBER, 0,
		      "for a load: median of the stretches of the chase" },
	[SIZE_LEAST_NS] = { "least_ns", "least", "ns", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			    "of the fastest stretch" },
	[SIZE_MOST_NS] = { "most_ns", "most", "ns", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			   "of the slowest stretch" },
	[SIZE_HZ] = { "core_hz", "core", "Hz", CELL_NUMBER, COLUMN_MACHINE_ONLY,
		      "frequency of the core, measured beside it" },
	[SIZE_LEVEL] = { "level", NULL, "", CELL_TEXT, COLUMN_BLANK, "level that it belongs to" },
	[SIZE_SAMPLES] = { "samples", NULL, "loads", CELL_COUNT, COLUMN_BLANK | COLUMN_MACHINE_ONLY,
			   "loads that were timed one by one" },
	[SIZE_MODE] = { "mode_cycles", "mode", "cycles", CELL_NUMBER, COLUMN_BLANK,
			"most frequent time of a single load, bias included" },
	[SIZE_PEAK_LOW] = { "peak_low_cycles", "peak from", "cycles", CELL_NUMBER, COLUMN_BLANK,
			    "where the peak around it begins" },
	[SIZE_PEAK_HIGH] = { "peak_high_cycles", "to", "cycles", CELL_NUMBER, COLUMN_BLANK,
			     "where that ends" },
	[SIZE_P99] = { "p99_cycles", "p99", "cycles", CELL_NUMBER, COLUMN_BLANK,
		       "99 % of single loads take no longer, bias included" },
	[SIZE_UNBIASED] = { "unbiased_cycles", "less bias", "cycles", CELL_NUMBER, COLUMN_BLANK,
			    "end of the peak less the bias" },
	[SIZE_PLOT] = { "plot", "time, logarithmic", "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_BLANK,
			"the time on a logarithmic scale" },
};

enum histogram_column { HIST_SIZE, HIST_VALUE, HIST_COUNT, HIST_SHARE, N_HISTOGRAM_COLUMNS };
static const struct column histogram_columns[N_HISTOGRAM_COLUMNS] = {
	[HIST_SIZE] = { "size_bytes", "size", "bytes", CELL_COUNT, 0, "size of the list" },
	[HIST_VALUE] = { "value_cycles", "value", "cycles", CELL_NUMBER, 0,
			 "time of a single load, bias included" },
	[HIST_COUNT] = { "count", NULL, "loads", CELL_COUNT, 0, "loads that took it" },
	[HIST_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
			 "part of the timed loads of this size" },
};

enum pages_column {
	PAGES_N,
	PAGES_NS,
	PAGES_PACKED,
	PAGES_COST_NS,
	PAGES_COST_CYCLES,
	PAGES_CONDITION,
	N_PAGES_COLUMNS,
};
static const struct column pages_columns[N_PAGES_COLUMNS] = {
	[PAGES_N] = { "n_pages", "pages", "", CELL_COUNT, 0, "pages with a line in each" },
	[PAGES_NS] = { "ns", "time", "ns", CELL_NUMBER, 0, "for a load: median" },
	[PAGES_PACKED] = { "packed_ns", "packed", "ns", CELL_NUMBER, 0,
			   "the same for as many lines without gaps" },
	[PAGES_COST_NS] = { "translation_ns", "translation", "ns", CELL_NUMBER, 0,
			    "difference: what the translation adds" },
	[PAGES_COST_CYCLES] = { "translation_cycles", "translation", "cycles", CELL_NUMBER, 0,
				"the same in cycles of the core" },
	[PAGES_CONDITION] = { "condition", NULL, "", CELL_TEXT, COLUMN_BLANK,
			      "how addresses of so many pages are translated" },
};

enum clock_column {
	CLOCK_NAME,
	CLOCK_STEP_NS,
	CLOCK_STEP_CYCLES,
	CLOCK_CORE_HZ,
	CLOCK_CYCLES_BASIS,
	CLOCK_SINGLE_LOADS,
	CLOCK_CPU,
	CLOCK_CPU_NAME,
	CLOCK_LOAD_TO_USE,
	CLOCK_LOAD_TO_USE_BASIS,
	CLOCK_BIAS,
	CLOCK_ORDER,
	CLOCK_PAGE,
	CLOCK_EMULATED,
	N_CLOCK_COLUMNS,
};
static const struct column clock_columns[N_CLOCK_COLUMNS] = {
	[CLOCK_NAME] = { "clock", NULL, "", CELL_TEXT, 0, "what loads were timed with" },
	[CLOCK_STEP_NS] = { "step_ns", NULL, "ns", CELL_NUMBER, 0, "its smallest step, measured" },
	[CLOCK_STEP_CYCLES] = { "step_cycles", NULL, "cycles", CELL_NUMBER, 0,
				"the same in cycles of the core" },
	[CLOCK_CORE_HZ] = { "core_hz", NULL, "Hz", CELL_NUMBER, 0,
			    "frequency of the core: median" },
	[CLOCK_CYCLES_BASIS] = { "cycles_basis", NULL, "", CELL_TEXT, 0,
				 "counter, or chain: of additions, each of which takes a cycle" },
	[CLOCK_SINGLE_LOADS] = { "times_single_loads", NULL, "", CELL_BOOL, 0,
				 "is the clock fine enough for single loads?" },
	[CLOCK_CPU] = { "cpu", NULL, "", CELL_COUNT, 0, "number of the CPU that it ran on" },
	[CLOCK_CPU_NAME] = { "cpu_name", NULL, "", CELL_TEXT, 0, "name of the CPU in the catalog" },
	[CLOCK_LOAD_TO_USE] = { "load_to_use_cycles", NULL, "cycles", CELL_NUMBER, 0,
				"latency of a load that hits the first cache" },
	[CLOCK_LOAD_TO_USE_BASIS] = { "load_to_use_basis", NULL, "", CELL_TEXT, 0,
				      "catalog, or mean: of the chase in the smallest list" },
	[CLOCK_BIAS] = { "bias_cycles", NULL, "cycles", CELL_NUMBER, 0,
			 "mode of the smallest list less that" },
	[CLOCK_ORDER] = { "order", NULL, "", CELL_TEXT, 0, "order of the lines in the list" },
	[CLOCK_PAGE] = { "page_bytes", NULL, "bytes", CELL_COUNT, 0, "size of a page" },
	[CLOCK_EMULATED] = { "emulated", NULL, "", CELL_BOOL, 0,
			     "does it run in an emulator? Then these are its times" },
};

enum loaded_column {
	LOADED_DELAY,
	LOADED_RATE,
	LOADED_NS,
	LOADED_CYCLES,
	LOADED_LEAST_NS,
	LOADED_MOST_NS,
	LOADED_THREADS,
	LOADED_RUNNING,
	LOADED_PLOT,
	N_LOADED_COLUMNS,
};
static const struct column loaded_columns[N_LOADED_COLUMNS] = {
	[LOADED_DELAY] = { "delay_cycles", "delay", "cycles", CELL_COUNT, 0,
			   "additions behind each line that is read; none: nobody reads" },
	[LOADED_RATE] = { "bytes_per_s", "bandwidth", "bytes/s", CELL_NUMBER, 0,
			  "read by all threads, the chase included" },
	[LOADED_NS] = { "ns", "latency", "ns", CELL_NUMBER, 0, "for a load of the chase: median" },
	[LOADED_CYCLES] = { "cycles", NULL, "cycles", CELL_NUMBER, 0,
			    "the same in cycles of the core" },
	[LOADED_LEAST_NS] = { "least_ns", NULL, "ns", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			      "of the fastest stretch" },
	[LOADED_MOST_NS] = { "most_ns", NULL, "ns", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			     "of the slowest stretch" },
	[LOADED_THREADS] = { "n_threads", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			     "threads that read" },
	[LOADED_RUNNING] = { "running_share", NULL, "", CELL_NUMBER,
			     COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			     "part of the time in which the threads that read had their CPUs" },
	[LOADED_PLOT] = { "plot", "latency, from zero", "", CELL_TEXT, COLUMN_TEXT_ONLY,
			  "the latency" },
};

/* Levels of translations: those that were found, and one more if the largest number of pages is in none. */
static size_t n_conditions(const struct sweep *s)
{
	size_t n = s->translations.n;

	return n == 0 ? 0 : s->translations.items[n - 1].last + 1 < s->pages.n ? n + 1 : n;
}

/* What they are called, by how many there are. */
static const char *condition_name(size_t level, size_t n)
{
	if (level == 0)
		return "TLB hit";
	if (n == 2)
		return "TLB miss";
	return level == 1 ? "second-level TLB hit" : "page table walk";
}

/* The one that so many pages belong to; those between two belong to the later one. */
static size_t condition_of(const struct sweep *s, double n_pages)
{
	size_t i = 0;

	while (i < s->translations.n &&
	       n_pages > (double)s->pages.items[s->translations.items[i].last].n_pages)
		i++;
	return i < n_conditions(s) ? i : n_conditions(s) - 1;
}

static const char *condition_words(const struct sweep *s, const struct latency_setting *setting,
				   double from, double to, struct table *t)
{
	size_t n = n_conditions(s), first, last;

	if (n == 0)
		return NULL;
	first = condition_of(s, ceil(from / (double)setting->page_bytes));
	last = condition_of(s, ceil(to / (double)setting->page_bytes));
	if (first == last)
		return condition_name(last, n);
	return table_format(t, "%s to %s", condition_name(first, n), condition_name(last, n));
}

static const char *level_name(const struct sweep *s, const struct latency_setting *setting,
			      size_t i, struct table *t)
{
	const struct level *l = &s->levels.items[i];
	double from = (double)s->points.items[l->first].size_bytes;
	double to = (double)s->points.items[l->last].size_bytes;
	const char *name = caches_name(setting->caches, sqrt(from * to));

	return name != NULL ? name : table_format(t, "level %zu", i + 1);
}

/* Its latency in cycles, at the median of the frequencies that its lists were measured at. */
static double level_cycles(const struct sweep *s, const struct level *l)
{
	size_t n = l->last - l->first + 1;
	double *values = mem_alloc(n, sizeof(*values)), ghz;

	for (size_t i = 0; i < n; i++)
		values[i] = s->points.items[l->first + i].cycles / s->points.items[l->first + i].ns;
	ghz = median_of(values, n);
	free(values);
	return l->latency * ghz;
}

static void show_levels(const struct sweep *s, const struct latency_setting *setting,
			struct table *t)
{
	table_init(t, "levels", NULL, level_columns, N_LEVEL_COLUMNS);
	for (size_t i = 0; i < s->levels.n; i++) {
		const struct level *l = &s->levels.items[i];
		double from = (double)s->points.items[l->first].size_bytes;
		double to = (double)s->points.items[l->last].size_bytes;
		const char *name = level_name(s, setting, i, t);
		const char *condition = condition_words(s, setting, from, to, t);
		struct cell *row = table_add_row(t);

		row[LEVEL_NAME] = cell_text(name);
		row[LEVEL_FROM] = cell_count((uint64_t)from);
		row[LEVEL_TO] = cell_count((uint64_t)to);
		row[LEVEL_CYCLES] = cell_number(level_cycles(s, l));
		row[LEVEL_NS] = cell_number(l->latency);
		if (condition != NULL)
			row[LEVEL_CONDITION] = cell_text(condition);
		row[LEVEL_N_SIZES] = cell_count(l->last - l->first + 1);
	}
	if (s->levels.n == 0)
		table_note(t, "no level: a level is a range of sizes, from one to twice as much at "
			      "the least, "
			      "whose latencies are within a fifth of each other");
}

enum { PLOT_WIDTH = 40, PLOT_WIDTH_BESIDE_MUCH = 12 };

/* A bar of `part` (0 … 1) of the width, which is at most PLOT_WIDTH. */
static const char *bar(struct table *t, double part, unsigned width, bool has_unicode)
{
	const char *block = has_unicode ? "\xe2\x96\x88" : "#";
	size_t n_block = strlen(block);
	unsigned n = (unsigned)(part * width + 0.5);
	char text[PLOT_WIDTH * 3 + 1];
	size_t at = 0;

	if (n > width)
		n = width;
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < n_block; k++)
			text[at++] = block[k];
	text[at] = '\0';
	return table_text(t, text);
}

/* Ticks of the timer in cycles of the core. */
static double cycles_of_ticks(const struct latency_setting *setting, const struct sweep_point *p,
			      uint64_t ticks)
{
	double ns_per_tick = setting->timer->ns_per_tick;

	return ns_per_tick > 0 ? (double)ticks * ns_per_tick * p->core_ghz : (double)ticks;
}

/* Mode of single loads in the smallest list less what a load takes there; NAN: not known. */
static double bias_of(const struct sweep *s, const struct latency_setting *setting)
{
	const struct sweep_point *p = &s->points.items[0];

	if (p->times.n == 0 || setting->load_to_use.cycles <= 0)
		return NAN;
	return cycles_of_ticks(setting, p, times_peak(&p->times).mode) -
	       setting->load_to_use.cycles;
}

static void show_sizes(const struct sweep *s, const struct latency_setting *setting,
		       struct table *t)
{
	double least = INFINITY, most = 0, bias = bias_of(s, setting);
	unsigned width = s->times_single_loads ? PLOT_WIDTH_BESIDE_MUCH : PLOT_WIDTH;

	table_init(t, "sizes", NULL, size_columns, N_SIZE_COLUMNS);
	for (size_t i = 0; i < s->points.n; i++) {
		least = fmin(least, s->points.items[i].ns);
		most = fmax(most, s->points.items[i].ns);
	}
	for (size_t i = 0; i < s->points.n; i++) {
		const struct sweep_point *p = &s->points.items[i];
		/* so that the least has a bar, too */
		double part = (log(p->ns) - log(least / 1.5)) / (log(most) - log(least / 1.5));
		const char *plot = bar(t, part, width, setting->has_unicode), *name = NULL;
		struct cell *row;

		for (size_t k = 0; k < s->levels.n; k++)
			if (i >= s->levels.items[k].first && i <= s->levels.items[k].last)
				name = level_name(s, setting, k, t);
		row = table_add_row(t);
		row[SIZE_BYTES] = cell_count(p->size_bytes);
		row[SIZE_CYCLES] = cell_number(p->cycles);
		row[SIZE_NS] = cell_number(p->ns);
		row[SIZE_LEAST_NS] = cell_number(p->least_ns);
		row[SIZE_MOST_NS] = cell_number(p->most_ns);
		row[SIZE_HZ] = cell_number(p->core_ghz * 1e9);
		if (name != NULL)
			row[SIZE_LEVEL] = cell_text(name);
		row[SIZE_PLOT] = cell_text(plot);
		if (p->times.n == 0)
			continue;
		row[SIZE_SAMPLES] = cell_count(p->times.n);
		row[SIZE_MODE] =
			cell_number(cycles_of_ticks(setting, p, times_peak(&p->times).mode));
		row[SIZE_PEAK_LOW] =
			cell_number(cycles_of_ticks(setting, p, times_peak(&p->times).low));
		row[SIZE_PEAK_HIGH] =
			cell_number(cycles_of_ticks(setting, p, times_peak(&p->times).high));
		row[SIZE_P99] =
			cell_number(cycles_of_ticks(setting, p, times_quantile(&p->times, 0.99)));
		if (!isnan(bias))
			row[SIZE_UNBIASED] = cell_number(
				cycles_of_ticks(setting, p, times_peak(&p->times).high) - bias);
	}
}

static void add_histogram(struct table *t, uint64_t size_bytes, const struct times *times,
			  double cycles_per_tick)
{
	for (size_t i = 0; i < times->list.n; i++) {
		const struct time_count *c = &times->list.items[i];
		struct cell *row = table_add_row(t);

		if (size_bytes > 0)
			row[HIST_SIZE] = cell_count(size_bytes);
		row[HIST_VALUE] = cell_number((double)c->value * cycles_per_tick);
		row[HIST_COUNT] = cell_count(c->n);
		row[HIST_SHARE] = cell_number((double)c->n / (double)times->n);
	}
}

static void show_pages(const struct sweep *s, struct table *t)
{
	table_init(t, "pages", "A line in each page", pages_columns, N_PAGES_COLUMNS);
	for (size_t i = 0; i < s->pages.n; i++) {
		const struct sweep_pages *p = &s->pages.items[i];
		struct cell *row = table_add_row(t);

		row[PAGES_N] = cell_count(p->n_pages);
		row[PAGES_NS] = cell_number(p->ns);
		row[PAGES_PACKED] = cell_number(p->packed_ns);
		row[PAGES_COST_NS] = cell_number(p->ns - p->packed_ns);
		row[PAGES_COST_CYCLES] = cell_number((p->ns - p->packed_ns) * p->core_ghz);
		if (n_conditions(s) > 0)
			row[PAGES_CONDITION] = cell_text(condition_name(
				condition_of(s, (double)p->n_pages), n_conditions(s)));
	}
}

static double median_hz(const struct sweep *s)
{
	double *values = mem_alloc(s->points.n, sizeof(*values)), median;

	for (size_t i = 0; i < s->points.n; i++)
		values[i] = s->points.items[i].core_ghz;
	median = median_of(values, s->points.n) * 1e9;
	free(values);
	return median;
}

static struct cell *add_clock(const struct latency_setting *setting, struct table *t)
{
	struct cell *row;

	table_init(t, "clock", NULL, clock_columns, N_CLOCK_COLUMNS);
	t->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(t);
	row[CLOCK_NAME] = cell_text(timer_name(setting->timer->kind));
	row[CLOCK_CYCLES_BASIS] = cell_text(setting->timer->ns_per_tick > 0 ? "chain" : "counter");
	row[CLOCK_CPU] = cell_count(setting->cpu);
	if (setting->load_to_use.cpu != NULL)
		row[CLOCK_CPU_NAME] = cell_text(setting->load_to_use.cpu);
	row[CLOCK_ORDER] = cell_text(ring_order_name(setting->order));
	row[CLOCK_PAGE] = cell_count(setting->page_bytes);
	row[CLOCK_EMULATED] = cell_bool(setting->is_emulated);
	return row;
}

static void show_clock(const struct sweep *s, const struct latency_setting *setting,
		       struct table *t)
{
	struct cell *row = add_clock(setting, t);
	double bias = bias_of(s, setting);

	row[CLOCK_STEP_NS] = cell_number(s->step_ns);
	row[CLOCK_STEP_CYCLES] = cell_number(s->step_cycles);
	row[CLOCK_CORE_HZ] = cell_number(median_hz(s));
	row[CLOCK_SINGLE_LOADS] = cell_bool(s->times_single_loads);
	if (setting->load_to_use.cycles > 0) {
		row[CLOCK_LOAD_TO_USE] = cell_number(setting->load_to_use.cycles);
		row[CLOCK_LOAD_TO_USE_BASIS] =
			cell_text(setting->load_to_use.is_catalog ? "catalog" : "mean");
	}
	if (!isnan(bias))
		row[CLOCK_BIAS] = cell_number(bias);
}

/* What the numbers rest on, below the levels. */
static void note_clock(const struct sweep *s, const struct latency_setting *setting,
		       struct table *t)
{
	const char *name = timer_name(setting->timer->kind);
	double bias = bias_of(s, setting);

	if (setting->is_emulated)
		table_note(t, "in an emulator: these are its times, or those of the machine model");
	table_note(t, "CPU %u, lines in order '%s', pages of %s; %s%s", setting->cpu,
		   ring_order_name(setting->order),
		   table_human(t, cell_count(setting->page_bytes), "bytes"),
		   setting->timer->ns_per_tick > 0
			   ? table_format(t, "cycles at %s, by a chain of additions",
					  table_human(t, cell_number(median_hz(s)), "Hz"))
			   : "cycles by the PMU",
		   isnan(bias) ? ""
			       : table_format(t,
					      "; bias of single loads: %.3g cycles (mode of the "
					      "first size less %s)",
					      bias,
					      setting->load_to_use.is_catalog
						      ? table_format(t, "the %g of the catalog",
								     setting->load_to_use.cycles)
						      : "its mean"));
	if (!s->times_single_loads && s->step_cycles > SWEEP_MOST_STEP_CYCLES)
		table_note(t,
			   "%s has steps of %s, %.0f cycles: too coarse to time single loads (%d "
			   "at the most), so "
			   "there are means and no histograms",
			   name, table_human(t, cell_number(s->step_ns), "ns"), s->step_cycles,
			   SWEEP_MOST_STEP_CYCLES);
}

/* Stretches that differ: medians of a busy machine are uncertain. */
static void note_noise(const struct sweep *s, struct table *t)
{
	size_t n = 0;

	for (size_t i = 0; i < s->points.n; i++)
		n += s->points.items[i].ns > s->points.items[i].least_ns * 1.25;
	if (n * 4 > s->points.n)
		table_note(t,
			   "%zu of %zu medians are more than 25 %% above the fastest stretch: this "
			   "machine is busy",
			   n, s->points.n);
}

static const char *cycles_words(double cycles, struct table *t)
{
	return table_human(t, cell_count((uint64_t)llround(cycles)), "cycles");
}

static void say_levels(const struct sweep *s, const struct latency_setting *setting,
		       struct table *answer)
{
	const struct level *first = &s->levels.items[0], *last = &s->levels.items[s->levels.n - 1];

	answer_init(answer);
	if (s->levels.n == 0) {
		answer_say(answer,
			   "No level of the memory hierarchy is to be seen in these sizes.");
		return;
	}
	if (s->levels.n == 1) {
		answer_say(answer, "A load from %s takes %s (%s).",
			   level_name(s, setting, 0, answer),
			   table_human(answer, cell_number(first->latency), "ns"),
			   cycles_words(level_cycles(s, first), answer));
		return;
	}
	answer_say(answer, "A load from %s takes %s (%s), %.3g times as long as one from %s (%s).",
		   level_name(s, setting, s->levels.n - 1, answer),
		   table_human(answer, cell_number(last->latency), "ns"),
		   cycles_words(level_cycles(s, last), answer), last->latency / first->latency,
		   level_name(s, setting, 0, answer),
		   table_human(answer, cell_number(first->latency), "ns"));
}

static void show(struct latency_report *r, struct table *t)
{
	*vec_add(&r->shown.list) = t;
}

void latency_report_sweep(struct latency_report *r, const struct sweep *s,
			  const struct latency_setting *setting, bool has_histograms,
			  bool is_verbose)
{
	say_levels(s, setting, &r->answer);
	show_levels(s, setting, &r->levels);
	note_clock(s, setting, &r->levels);
	note_noise(s, &r->levels);
	show_sizes(s, setting, &r->sizes);
	table_init(&r->histogram, "histogram", "Times of single loads", histogram_columns,
		   N_HISTOGRAM_COLUMNS);
	for (size_t i = 0; i < s->points.n; i++) {
		const struct sweep_point *p = &s->points.items[i];

		add_histogram(&r->histogram, p->size_bytes, &p->times,
			      cycles_of_ticks(setting, p, 1));
	}
	if ((!has_histograms && !is_verbose) || table_n_rows(&r->histogram) == 0)
		r->histogram.readers = TABLE_FOR_PROGRAMS;
	show_pages(s, &r->pages);
	if (!is_verbose)
		r->pages.readers = TABLE_FOR_PROGRAMS;
	show_clock(s, setting, &r->clock);
	show(r, &r->answer);
	show(r, &r->levels);
	show(r, &r->sizes);
	show(r, &r->histogram);
	show(r, &r->pages);
	show(r, &r->clock);
}

/* The list whose loads hit the first cache: the smallest, or the first if sizes are not known. */
static const struct imported_times *fastest_of(const struct imported *all)
{
	const struct imported_times *best = &all->list.items[0];

	for (size_t i = 1; i < all->list.n; i++) {
		const struct imported_times *one = &all->list.items[i];

		if (one->size_bytes > 0 && best->size_bytes > 0 &&
		    one->size_bytes < best->size_bytes)
			best = one;
	}
	return best;
}

static void show_imported(const struct imported *all, double bias, struct table *levels,
			  struct table *sizes)
{
	table_init(levels, "levels", NULL, level_columns, N_LEVEL_COLUMNS);
	table_init(sizes, "sizes", NULL, size_columns, N_SIZE_COLUMNS);
	for (size_t i = 0; i < all->list.n; i++) {
		const struct imported_times *one = &all->list.items[i];
		struct time_peak peak = times_peak(&one->times);
		const char *name = table_format(levels, "level %zu", i + 1);
		struct cell *row = table_add_row(levels);

		row[LEVEL_NAME] = cell_text(name);
		if (one->size_bytes > 0)
			row[LEVEL_FROM] = row[LEVEL_TO] = cell_count(one->size_bytes);
		if (!isnan(bias))
			row[LEVEL_CYCLES] = cell_number((double)peak.high - bias);
		row[LEVEL_N_SIZES] = cell_count(1);
		row = table_add_row(sizes);
		if (one->size_bytes > 0)
			row[SIZE_BYTES] = cell_count(one->size_bytes);
		row[SIZE_LEVEL] = cell_text(name);
		row[SIZE_SAMPLES] = cell_count(one->times.n);
		row[SIZE_MODE] = cell_number((double)peak.mode);
		row[SIZE_PEAK_LOW] = cell_number((double)peak.low);
		row[SIZE_PEAK_HIGH] = cell_number((double)peak.high);
		row[SIZE_P99] = cell_number((double)times_quantile(&one->times, 0.99));
		if (!isnan(bias))
			row[SIZE_UNBIASED] = cell_number((double)peak.high - bias);
	}
}

void latency_report_imported(struct latency_report *r, const struct imported *all,
			     const struct load_to_use *known)
{
	const struct imported_times *fastest = fastest_of(all);
	double mode = (double)times_peak(&fastest->times).mode;
	double bias = known->cycles > 0 ? mode - known->cycles : NAN;
	struct cell *row;

	show_imported(all, bias, &r->levels, &r->sizes);
	answer_init(&r->answer);
	table_init(&r->clock, "clock", NULL, clock_columns, N_CLOCK_COLUMNS);
	r->clock.readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(&r->clock);
	if (known->cpu != NULL)
		row[CLOCK_CPU_NAME] = cell_text(known->cpu);
	if (!isnan(bias)) {
		row[CLOCK_LOAD_TO_USE] = cell_number(known->cycles);
		row[CLOCK_LOAD_TO_USE_BASIS] = cell_text("catalog");
		row[CLOCK_BIAS] = cell_number(bias);
		answer_say(&r->answer,
			   "Times of single loads are %g cycles too long: the mode of the first "
			   "list is %g, and a load "
			   "takes %g on %s.",
			   bias, mode, known->cycles, known->cpu);
	} else {
		answer_say(&r->answer, "The bias of these times is not known: %s.",
			   known->cpu == NULL
				   ? "--cpu NAME says what CPU they are of"
				   : table_format(&r->answer,
						  "the catalog lacks the latency of loads of %s",
						  known->cpu));
	}
	table_note(&r->levels, "cycles: where the peak ends, less the bias");
	table_init(&r->histogram, "histogram", "Times of single loads", histogram_columns,
		   N_HISTOGRAM_COLUMNS);
	for (size_t i = 0; i < all->list.n; i++)
		add_histogram(&r->histogram, all->list.items[i].size_bytes,
			      &all->list.items[i].times, 1);
	show(r, &r->answer);
	show(r, &r->levels);
	show(r, &r->sizes);
	show(r, &r->histogram);
	show(r, &r->clock);
}

void latency_report_loaded(struct latency_report *r, const struct loaded *l,
			   const struct latency_setting *setting)
{
	const struct loaded_point *idle = &l->points.items[l->points.n - 1],
				  *full = &l->points.items[0];
	struct table *t = &r->loaded;
	double most = 0, running = 1;

	table_init(t, "loaded", NULL, loaded_columns, N_LOADED_COLUMNS);
	for (size_t i = 0; i < l->points.n; i++)
		most = fmax(most, l->points.items[i].ns);
	for (size_t i = 0; i < l->points.n; i++) {
		const struct loaded_point *p = &l->points.items[i];
		const char *plot = bar(t, p->ns / most, PLOT_WIDTH, setting->has_unicode);
		struct cell *row = table_add_row(t);

		if (!p->is_idle)
			row[LOADED_DELAY] = cell_count(p->delay_cycles);
		row[LOADED_RATE] = cell_number(p->bytes_per_s);
		row[LOADED_NS] = cell_number(p->ns);
		row[LOADED_CYCLES] = cell_number(p->cycles);
		row[LOADED_LEAST_NS] = cell_number(p->least_ns);
		row[LOADED_MOST_NS] = cell_number(p->most_ns);
		row[LOADED_THREADS] = cell_count(l->n_threads);
		if (!p->is_idle) {
			row[LOADED_RUNNING] = cell_number(p->running);
			running = fmin(running, p->running);
		}
		row[LOADED_PLOT] = cell_text(plot);
		if (p->bytes_per_s > full->bytes_per_s)
			full = p;
	}
	answer_init(&r->answer);
	answer_say(&r->answer,
		   "%zu thread%s read%s at most %s; a load then takes %s (%s), and %s on "
		   "idle memory.",
		   l->n_threads, l->n_threads == 1 ? "" : "s", l->n_threads == 1 ? "s" : "",
		   table_human(&r->answer, cell_number(full->bytes_per_s), "bytes/s"),
		   table_human(&r->answer, cell_number(full->ns), "ns"),
		   cycles_words(full->cycles, &r->answer),
		   table_human(&r->answer, cell_number(idle->ns), "ns"));
	if (setting->is_emulated)
		table_note(t, "in an emulator: these are its times");
	if (running < 0.9)
		table_note(t,
			   "this machine is busy: the threads that read had their CPUs for %.0f %% "
			   "of the "
			   "time in one of the lines, so their bandwidth is less than it could be",
			   100 * running);
	table_note(t, "the last line: nobody reads but the chase, on CPU %u", setting->cpu);
	(void)add_clock(setting, &r->clock);
	show(r, &r->answer);
	show(r, t);
	show(r, &r->clock);
}

void latency_report_release(struct latency_report *r)
{
	struct table *const tables[] = { &r->answer, &r->levels, &r->sizes, &r->histogram,
					 &r->pages,  &r->clock,	 &r->loaded };

	for (size_t i = 0; i < COUNT(tables); i++)
		table_release(tables[i]);
	vec_release(&r->shown.list);
}
