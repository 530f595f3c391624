/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/probes/tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "count/counts.h"
#include "measure/histogram.h"
#include "table/answer.h"

static const char duration_name[] = "duration_time";

/* Columns of libcyclops' tables, in its order; some it has more. */
enum run_column {
	RUN_PROGRAM,
	RUN_PID,
	RUN_MIDR,
	RUN_PMU,
	RUN_MODE,
	RUN_PRIVILEGE,
	RUN_MIXED_CORES,
	RUN_THREADS,
	RUN_PROCESSES,
	RUN_UNRETURNED,
	RUN_UNSTARTED,
	RUN_LOST,
	RUN_AFTER_LOSS,
	RUN_CALL_NS,
	RUN_WHY,
	N_RUN_COLUMNS,
};

static const struct column run_columns[N_RUN_COLUMNS] = {
	[RUN_PROGRAM] = { "program", NULL, "", CELL_TEXT, 0, "that was run, or measured itself" },
	[RUN_PID] = { "pid", NULL, "", CELL_COUNT, 0, "its process" },
	[RUN_MIDR] = { "midr", NULL, "", CELL_HEX, 0, "MIDR_EL1 of the CPU" },
	[RUN_PMU] = { "pmu", NULL, "", CELL_TEXT, 0, "of the CPU; absent: there is none here" },
	[RUN_MODE] = { "mode", NULL, "", CELL_TEXT, 0,
		       "that was asked for: auto, read, user; probe: of functions" },
	[RUN_PRIVILEGE] = { "privilege", NULL, "", CELL_TEXT, 0,
			    "of hardware events without a modifier: user, kernel, "
			    "user-and-kernel" },
	[RUN_MIXED_CORES] = { "mixed_cores", NULL, "", CELL_BOOL, 0,
			      "the CPU has cores of other types: counts are those on this type, "
			      "and not "
			      "scaled" },
	[RUN_THREADS] = { "threads", NULL, "", CELL_COUNT, 0, "that were opened" },
	[RUN_PROCESSES] = { "processes", NULL, "", CELL_COUNT, 0, "that were followed" },
	[RUN_UNRETURNED] = { "calls_without_return", NULL, "", CELL_COUNT, 0,
			     "left by longjmp, an exception, exec or the end of a thread: not "
			     "counted" },
	[RUN_UNSTARTED] = { "returns_without_call", NULL, "", CELL_COUNT, 0,
			    "of calls that began before their process was forked, or deeper than "
			    "64: not "
			    "counted" },
	[RUN_LOST] = { "lost_records", NULL, "", CELL_COUNT, 0, "that did not fit into the ring" },
	[RUN_AFTER_LOSS] = { "calls_lost", NULL, "", CELL_COUNT, 0,
			     "that could not be paired, as records of them were lost" },
	[RUN_CALL_NS] = { "probe_ns", NULL, "ns", CELL_NUMBER, 0,
			  "how much longer a call takes with its probes: of an empty function" },
	[RUN_WHY] = { "why", NULL, "", CELL_TEXT, COLUMN_MESSAGE,
		      "why events are not counted, or a function failed" },
};

enum region_column {
	REGION_NAME,
	REGION_THREAD,
	REGION_PARENT,
	REGION_RECURSIVE,
	REGION_SET,
	REGION_CALLS,
	REGION_EVENT,
	REGION_COUNT,
	REGION_EXCLUSIVE,
	REGION_ENABLED_NS,
	REGION_RUNNING_NS,
	REGION_COVERAGE,
	REGION_STATE,
	REGION_MODE,
	REGION_BIAS,
	REGION_COUNTED_CALLS,
	REGION_MIN,
	REGION_MAX,
	REGION_P50,
	REGION_P90,
	REGION_P99,
	REGION_USER_ONLY,
	N_REGION_COLUMNS,
};

static const struct column region_columns[N_REGION_COLUMNS] = {
	[REGION_NAME] = { "region", NULL, "", CELL_TEXT, 0, "its name" },
	[REGION_THREAD] = { "thread", NULL, "", CELL_COUNT, 0, "thread id" },
	[REGION_PARENT] = { "parent", NULL, "", CELL_TEXT, 0,
			    "the region around it; absent: none" },
	[REGION_RECURSIVE] = { "recursive", NULL, "", CELL_BOOL, 0,
			       "it was open already; the outermost call has its count, too" },
	[REGION_SET] = { "set", NULL, "", CELL_COUNT, 0,
			 "set of the event, from 0; of duration_time: absent" },
	[REGION_CALLS] = { "calls", NULL, "", CELL_COUNT, 0, "that ended while the set was on" },
	[REGION_EVENT] = { "event", NULL, "", CELL_TEXT, 0,
			   "as it was asked for; duration_time: the elapsed time in ns" },
	[REGION_COUNT] = { "count", NULL, "events", CELL_NUMBER, 0,
			   "for all of the time; extrapolated if running_ns is less than "
			   "enabled_ns" },
	[REGION_EXCLUSIVE] = { "exclusive", NULL, "events", CELL_NUMBER, 0,
			       "without the regions inside of it" },
	[REGION_ENABLED_NS] = { "enabled_ns", NULL, "ns", CELL_COUNT, 0,
				"time in the region while the set was on" },
	[REGION_RUNNING_NS] = { "running_ns", NULL, "ns", CELL_COUNT, 0,
				"of this, time on a counter" },
	[REGION_COVERAGE] = { "coverage", NULL, "", CELL_NUMBER, 0,
			      "part of the time on a counter; 1: the count is exact" },
	[REGION_STATE] = { "state", NULL, "", CELL_TEXT, 0,
			   "counted, not-counted, not-supported, forbidden" },
	[REGION_MODE] = { "mode", NULL, "", CELL_TEXT, 0,
			  "how it was read: user (by instructions), read (by a call), both; probe: "
			  "by the "
			  "kernel, at the function's start and return" },
	[REGION_BIAS] = { "bias", NULL, "events", CELL_NUMBER, 0,
			  "of one empty begin and end: the median of 1000; absent: not known" },
	[REGION_COUNTED_CALLS] = { "counted_calls", NULL, "", CELL_COUNT, 0,
				   "that were on a counter all of the time" },
	[REGION_MIN] = { "min", NULL, "events", CELL_COUNT, 0, "of one of these calls" },
	[REGION_MAX] = { "max", NULL, "events", CELL_COUNT, 0, "of one of these calls" },
	[REGION_P50] = { "p50", NULL, "events", CELL_COUNT, 0,
			 "median of these calls, at most 3 % too large" },
	[REGION_P90] = { "p90", NULL, "events", CELL_COUNT, 0,
			 "quantile of these calls, at most 3 % too large" },
	[REGION_P99] = { "p99", NULL, "events", CELL_COUNT, 0,
			 "quantile of these calls, at most 3 % too large" },
	[REGION_USER_ONLY] = { "user_only", NULL, "", CELL_BOOL, 0,
			       "events in the kernel are not in it" },
};

/* What an event came to in a path. */
struct event_sums {
	bool is_counted;
	enum count_state state;
	double count, exclusive, coverage;
	uint64_t enabled_ns, running_ns, counted_calls;
};

static double scaled(const struct probe_result *r, uint64_t value, uint64_t enabled,
		     uint64_t running)
{
	if (enabled == running || running == 0 || r->is_mixed)
		return (double)value;
	return (double)((long double)value * enabled / running);
}

static const char *const state_words[N_COUNT_STATES] = {
	[COUNT_COUNTED] = "counted",
	[COUNT_NOT_COUNTED] = "not-counted",
	[COUNT_NOT_SUPPORTED] = "not-supported",
	[COUNT_FORBIDDEN] = "forbidden",
};

static struct event_sums sums_of(const struct probe_result *r, const struct call_path *p,
				 size_t event)
{
	const struct call_event *e = &p->events[event];
	bool is_duration = event == CALL_DURATION;
	struct event_sums s = {
		.enabled_ns = is_duration ? e->sum : p->enabled_ns,
		.running_ns = is_duration ? e->sum : p->running_ns,
		.counted_calls = is_duration ? p->calls : p->whole_calls,
	};
	enum count_state state = is_duration ? COUNT_COUNTED : r->follow->plan->events[event].state;

	if (state == COUNT_COUNTED && s.running_ns == 0 && s.enabled_ns > 0)
		state = COUNT_NOT_COUNTED;
	s.state = state;
	s.is_counted = state == COUNT_COUNTED;
	s.coverage = s.enabled_ns == s.running_ns ? 1 : (double)s.running_ns / (double)s.enabled_ns;
	s.count = is_duration ? (double)e->sum : scaled(r, e->sum, s.enabled_ns, s.running_ns);
	s.exclusive = is_duration
			      ? (double)(e->sum - e->inside)
			      : scaled(r, e->sum - e->inside, p->enabled_ns - p->inside_enabled_ns,
				       p->running_ns - p->inside_running_ns);
	return s;
}

static const char *event_name_of(const struct probe_result *r, size_t event)
{
	return event == CALL_DURATION ? duration_name : r->follow->plan->events[event].spec->name;
}

static uint64_t quantile_of(const struct call_event *e, uint64_t n, double part)
{
	uint64_t value = histogram_upper_quantile(e->histogram, n, part);

	return value < e->max ? value : e->max;
}

/* What a call of an empty function counts. */
static struct cell bias_cell(const struct probe_result *r, size_t event)
{
	const struct call_path *p = r->empty->paths.items;

	if (r->empty->paths.n == 0 || p->calls == 0 || !sums_of(r, p, event).is_counted ||
	    p->whole_calls == 0)
		return (struct cell){ 0 };
	return cell_number((double)quantile_of(&p->events[event], p->whole_calls, 0.5));
}

static void add_region_row(const struct probe_result *r, const struct call_path *p, size_t event,
			   struct table *t)
{
	const struct probe_function *functions = r->follow->plan->functions.list.items;
	const struct event_sums s = sums_of(r, p, event);
	const struct call_event *e = &p->events[event];
	struct cell *row = table_add_row(t);
	bool is_duration = event == CALL_DURATION;

	row[REGION_NAME] = table_text_cell(t, functions[p->function].name);
	row[REGION_THREAD] = cell_count((uint64_t)p->tid);
	if (p->parent > 0)
		row[REGION_PARENT] = table_text_cell(t, functions[p->parent - 1].name);
	row[REGION_RECURSIVE] = cell_bool(p->is_recursive);
	if (!is_duration)
		row[REGION_SET] = cell_count(0);
	row[REGION_CALLS] = cell_count(p->calls);
	row[REGION_EVENT] = table_text_cell(t, event_name_of(r, event));
	row[REGION_STATE] = cell_text(state_words[s.state]);
	if (!is_duration)
		row[REGION_USER_ONLY] = cell_bool(r->follow->plan->events[event].is_user_only);
	if (s.state != COUNT_COUNTED && s.state != COUNT_NOT_COUNTED)
		return;
	row[REGION_ENABLED_NS] = cell_count(s.enabled_ns);
	row[REGION_RUNNING_NS] = cell_count(s.running_ns);
	if (!s.is_counted)
		return;
	row[REGION_COUNT] = cell_number(s.count);
	row[REGION_EXCLUSIVE] = cell_number(s.exclusive);
	row[REGION_COVERAGE] = cell_number(s.coverage);
	if (!is_duration)
		row[REGION_MODE] = table_text_cell(t, "probe");
	row[REGION_BIAS] = bias_cell(r, event);
	row[REGION_COUNTED_CALLS] = cell_count(s.counted_calls);
	if (s.counted_calls == 0)
		return;
	row[REGION_MIN] = cell_count(e->min);
	row[REGION_MAX] = cell_count(e->max);
	for (size_t i = 0; i < 3; i++) {
		static const double parts[] = { 0.5, 0.9, 0.99 };

		row[REGION_P50 + i] = cell_count(quantile_of(e, s.counted_calls, parts[i]));
	}
}

/* The first reason why an event is not counted. */
static const char *first_reason(const struct probe_plan *plan)
{
	for (size_t i = 1; i < plan->n_events; i++)
		if (plan->events[i].why[0] != '\0')
			return plan->events[i].why;
	return NULL;
}

void probes_program_tables(const struct probe_result *r, struct table *run, struct table *regions)
{
	const struct follow *f = r->follow;
	struct cell *row;

	table_init(run, "run", NULL, run_columns, N_RUN_COLUMNS);
	run->readers = TABLE_FOR_PROGRAMS;
	row = table_add_row(run);
	row[RUN_PROGRAM] = table_text_cell(run, f->command[0]);
	row[RUN_PID] = cell_count((uint64_t)f->pid);
	if (r->midr != 0)
		row[RUN_MIDR] = cell_hex(r->midr);
	row[RUN_PMU] = table_text_cell(run, r->core == NULL ? NULL : r->core->name);
	row[RUN_MODE] = table_text_cell(run, "probe");
	row[RUN_PRIVILEGE] = table_text_cell(run, f->plan->user_only	 ? "user"
						  : f->plan->kernel_only ? "kernel"
									 : "user-and-kernel");
	row[RUN_MIXED_CORES] = cell_bool(r->is_mixed);
	row[RUN_THREADS] = cell_count(f->n_threads);
	row[RUN_PROCESSES] = cell_count(f->n_processes);
	row[RUN_UNRETURNED] = cell_count(r->calls->n_unreturned);
	row[RUN_UNSTARTED] = cell_count(r->calls->n_unstarted);
	row[RUN_LOST] = cell_count(r->calls->n_lost);
	row[RUN_AFTER_LOSS] = cell_count(r->calls->n_after_loss);
	if (r->call_ns > 0)
		row[RUN_CALL_NS] = cell_number(r->call_ns);
	row[RUN_WHY] = table_text_cell(run, first_reason(f->plan));
	table_init(regions, "regions", NULL, region_columns, N_REGION_COLUMNS);
	regions->readers = TABLE_FOR_PROGRAMS;
	for (size_t i = 0; i < r->calls->paths.n; i++)
		for (size_t e = 0; e < r->calls->n_events && r->calls->paths.items[i].calls > 0;
		     e++)
			add_region_row(r, &r->calls->paths.items[i], e, regions);
}

/* For people */

enum people_column {
	PEOPLE_REGION,
	PEOPLE_THREAD,
	PEOPLE_CALLS,
	PEOPLE_EVENT,
	PEOPLE_COUNT,
	PEOPLE_SELF,
	PEOPLE_MEAN,
	PEOPLE_P50,
	PEOPLE_P99,
	PEOPLE_MAX,
	PEOPLE_BIAS,
	N_PEOPLE_COLUMNS,
};

static const struct column people_columns[N_PEOPLE_COLUMNS] = {
	[PEOPLE_REGION] = { "region", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK, "its name" },
	[PEOPLE_THREAD] = { "thread", NULL, "", CELL_COUNT, COLUMN_BLANK, "thread id" },
	[PEOPLE_CALLS] = { "calls", NULL, "", CELL_COUNT, COLUMN_BLANK, "that returned" },
	[PEOPLE_EVENT] = { "event", NULL, "", CELL_TEXT, COLUMN_WHOLE, "that is counted" },
	[PEOPLE_COUNT] = { "total", NULL, "", CELL_TEXT, COLUMN_FIGURES, "of all calls" },
	[PEOPLE_SELF] = { "self", NULL, "", CELL_TEXT, COLUMN_FIGURES | COLUMN_BLANK,
			  "without other regions inside" },
	[PEOPLE_MEAN] = { "mean", "per call", "", CELL_TEXT, COLUMN_FIGURES | COLUMN_BLANK,
			  "mean of calls" },
	[PEOPLE_P50] = { "p50", NULL, "", CELL_TEXT, COLUMN_FIGURES | COLUMN_BLANK,
			 "median of calls" },
	[PEOPLE_P99] = { "p99", NULL, "", CELL_TEXT, COLUMN_FIGURES | COLUMN_BLANK,
			 "quantile of calls" },
	[PEOPLE_MAX] = { "max", NULL, "", CELL_TEXT, COLUMN_FIGURES | COLUMN_BLANK,
			 "largest of a call" },
	[PEOPLE_BIAS] = { "empty", "empty call", "", CELL_TEXT, COLUMN_FIGURES | COLUMN_BLANK,
			  "what a call of an empty function counts here: the probes' own part" },
};

/* An amount of an event, as people read it; "~": it was extrapolated. */
static struct cell figure(const struct probe_result *r, struct table *t, size_t event, double value,
			  bool is_scaled)
{
	const struct probe_event *e = &r->follow->plan->events[event];
	bool is_time = event == CALL_DURATION || attr_is_clock(&e->spec->attr);
	bool is_whole = value == floor(value) || is_time;
	const char *text =
		is_whole ? table_human(t, cell_count((uint64_t)value), is_time ? "ns" : "")
			 : table_format(t, value < 100 ? "%.2f" : "%.0f", value);

	return table_text_cell(t, is_scaled ? table_format(t, "%s %s", text, mark_sign(MARK_SCALED))
					    : text);
}

static void add_people_row(const struct probe_result *r, const struct call_path *p, size_t event,
			   bool is_first, struct table *t)
{
	const struct event_sums s = sums_of(r, p, event);
	const struct call_event *e = &p->events[event];
	const struct cell bias = bias_cell(r, event);
	bool is_scaled = s.coverage < 1;
	struct cell *row = table_add_row(t);

	if (is_first) {
		row[PEOPLE_REGION] =
			table_text_cell(t, r->follow->plan->functions.list.items[p->function].name);
		row[PEOPLE_CALLS] = cell_count(p->calls);
	}
	if (is_first && p->tid != 0)
		row[PEOPLE_THREAD] = cell_count((uint64_t)p->tid);
	row[PEOPLE_EVENT] = table_text_cell(t, event_name_of(r, event));
	if (!s.is_counted) {
		row[PEOPLE_COUNT] = cell_text(state_words[s.state]);
		return;
	}
	row[PEOPLE_COUNT] = figure(r, t, event, floor(s.count + 0.5), is_scaled);
	row[PEOPLE_SELF] = figure(r, t, event, floor(s.exclusive + 0.5), is_scaled);
	row[PEOPLE_MEAN] = figure(r, t, event, s.count / (double)p->calls, is_scaled);
	if (bias.type != CELL_NONE)
		row[PEOPLE_BIAS] = figure(r, t, event, bias.number, false);
	if (s.counted_calls == 0)
		return;
	row[PEOPLE_P50] = figure(r, t, event, (double)quantile_of(e, s.counted_calls, 0.5), false);
	row[PEOPLE_P99] = figure(r, t, event, (double)quantile_of(e, s.counted_calls, 0.99), false);
	row[PEOPLE_MAX] = figure(r, t, event, (double)e->max, false);
}

/* The calls of a function that are inside of another call of it: in the outermost one's counts. */
static const struct call_path *recursive_of(const struct call_counts *c,
					    const struct call_path *outer)
{
	for (size_t i = 0; i < c->paths.n; i++) {
		const struct call_path *p = &c->paths.items[i];

		if (p->is_recursive && p->function == outer->function && p->tid == outer->tid)
			return p;
	}
	return NULL;
}

/* The rows of a function and thread. What recursive calls took themselves is its own, too. */
static void add_people_rows(const struct probe_result *r, const struct call_counts *sums,
			    const struct call_path *outer, struct table *t)
{
	const struct call_path *inner = recursive_of(sums, outer);
	struct call_path p = *outer;

	for (size_t i = 0; i < sums->n_events; i++) {
		if (inner != NULL)
			p.events[i].inside -= inner->events[i].sum - inner->events[i].inside;
		add_people_row(r, &p, i, i == 0, t);
	}
}

static void say_time(const struct probe_result *r, const struct call_counts *sums,
		     struct table *answer)
{
	const struct probe_functions *functions = &r->follow->plan->functions;

	for (size_t i = 0; i < functions->list.n; i++) {
		const struct call_path *p = NULL;
		double ns, elapsed = (double)r->follow->elapsed_ns;

		for (size_t k = 0; k < sums->paths.n; k++)
			if (sums->paths.items[k].function == i &&
			    !sums->paths.items[k].is_recursive)
				p = &sums->paths.items[k];
		if (p == NULL || p->calls == 0) {
			answer_say(answer, "%s: no call returned%s.", functions->list.items[i].name,
				   r->calls->n_unreturned == 0 ? ", or none was made (calls that "
								 "were inlined are not seen)"
							       : "");
			continue;
		}
		ns = (double)p->events[CALL_DURATION].sum;
		answer_say(answer, "%s: %" PRIu64 " call%s, %s, %.1f %% of the run's elapsed time.",
			   functions->list.items[i].name, p->calls, plural(p->calls),
			   table_human(answer, cell_count((uint64_t)ns), "ns"),
			   elapsed > 0 ? 100 * ns / elapsed : 0);
	}
}

static void note_doubts(const struct probe_result *r, struct table *t)
{
	const struct call_counts *c = r->calls;
	const struct follow *f = r->follow;
	uint64_t n_recursive = 0;

	if (f->n_threads > 1)
		table_note(t, "%u threads in %u process%s", f->n_threads, f->n_processes,
			   f->n_processes == 1 ? "" : "es");
	for (size_t i = 0; i < c->paths.n; i++)
		n_recursive += c->paths.items[i].is_recursive ? c->paths.items[i].calls : 0;
	if (n_recursive > 0)
		table_note(t,
			   "%" PRIu64 " more call%s were recursive: they are in those around them",
			   n_recursive, plural(n_recursive));
	if (c->n_unreturned > 0)
		table_note(t,
			   "%" PRIu64
			   " call%s did not return (longjmp, an exception, exit, exec or the "
			   "end of a thread): not counted",
			   c->n_unreturned, plural(c->n_unreturned));
	if (c->n_unstarted > 0)
		table_note(t,
			   "%" PRIu64
			   " return%s of calls that began before their process was forked, or "
			   "deeper than 64 calls: not counted",
			   c->n_unstarted, plural(c->n_unstarted));
	if (c->n_lost > 0)
		table_note(t,
			   "%" PRIu64 " record%s lost, as calls came too fast: at least %" PRIu64
			   " calls are not counted; all counts are lower bounds",
			   c->n_lost, plural(c->n_lost), c->n_after_loss);
	if (r->call_ns > 0)
		table_note(t, "a call takes %s longer with its probes (an empty function, here)",
			   table_human(t, cell_count((uint64_t)r->call_ns), "ns"));
	for (size_t i = 1; i < f->plan->n_events; i++)
		if (f->plan->events[i].why[0] != '\0')
			table_note(t, "%s", f->plan->events[i].why);
}

void probes_people_tables(const struct probe_result *r, struct table *answer, struct table *regions)
{
	struct call_counts sums = { 0 }, all = { 0 };
	const struct call_counts *shown = &sums;

	call_counts_sum(r->calls, r->by_thread, &sums);
	call_counts_sum(r->calls, false, &all);
	answer_init(answer);
	say_time(r, &all, answer);
	table_init(regions, "regions", NULL, people_columns, N_PEOPLE_COLUMNS);
	regions->readers = TABLE_FOR_PEOPLE;
	for (size_t f = 0; f < r->follow->plan->functions.list.n; f++)
		for (size_t i = 0; i < shown->paths.n; i++)
			if (shown->paths.items[i].function == f &&
			    !shown->paths.items[i].is_recursive && shown->paths.items[i].calls > 0)
				add_people_rows(r, shown, &shown->paths.items[i], regions);
	note_doubts(r, regions);
	call_counts_release(&sums);
	call_counts_release(&all);
}
