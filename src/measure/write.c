/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output: tables `run`, `regions` and `histograms`. csv and json have the shape of those of
 * cyclops (docs/schema/measure.json). Nothing is allocated.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "measure/inside.h"

enum { BUFFER = 8192, TEXT_FIELD = 1024 };

struct writer {
	int fd;
	int error; /* errno of the first write that failed */
	size_t n;
	bool is_later; /* a field or a row was written before */
	char buffer[BUFFER];
};

static void flush(struct writer *w)
{
	size_t at = 0;

	while (at < w->n && w->error == 0) {
		ssize_t n = write(w->fd, w->buffer + at, w->n - at);

		if (n < 0 && errno != EINTR)
			w->error = errno;
		at += n > 0 ? (size_t)n : 0;
	}
	w->n = 0;
}

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
	va_list args;
	int n;

	if (w->n > BUFFER - TEXT_FIELD)
		flush(w);
	va_start(args, format);
	n = vsnprintf(w->buffer + w->n, BUFFER - w->n, format, args);
	va_end(args);
	w->n += n < 0 ? 0 : (size_t)n < BUFFER - w->n ? (size_t)n : BUFFER - w->n - 1;
}

static void put_json_text(struct writer *w, const char *text)
{
	put(w, "\"");
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			put(w, "\\%c", c);
		else if (c < 0x20)
			put(w, "\\u%04x", c);
		else
			put(w, "%c", c);
	}
	put(w, "\"");
}

static void put_csv_text(struct writer *w, const char *text)
{
	if (strpbrk(text, ",\"\n\r") == NULL) {
		put(w, "%.1000s", text);
		return;
	}
	put(w, "\"");
	for (; *text != '\0'; text++)
		put(w, *text == '"' ? "\"\"" : "%c", *text);
	put(w, "\"");
}

/* A column of a table, for programs. */
struct column {
	const char *name, *type, *unit, *meaning;
};

/* A cell: its type is that of the column. */
struct cell {
	bool is_there;
	const char *text;
	uint64_t number;
	double real;
};

static struct cell cell_text(const char *text)
{
	return (struct cell){ .is_there = text != NULL && text[0] != '\0', .text = text };
}

static struct cell cell_number(uint64_t number)
{
	return (struct cell){ .is_there = true, .number = number };
}

static struct cell cell_real(double real)
{
	return (struct cell){ .is_there = true, .real = real };
}

static const struct cell no_cell;

/* Tables */

static const struct column run_columns[] = {
	{ "program", "string", "", "that was run, or measured itself" },
	{ "pid", "integer", "", "its process" },
	{ "midr", "hex", "", "MIDR_EL1 of the CPU" },
	{ "pmu", "string", "", "of the CPU; absent: there is none here" },
	{ "mode", "string", "", "that was asked for: auto, read, user; probe: of functions" },
	{ "privilege", "string", "",
	  "of hardware events without a modifier: user, kernel, user-and-kernel" },
	{ "all_sets", "boolean", "",
	  "all sets took turns on the counters; else one was on at a time" },
	{ "less_bias", "boolean", "", "count and exclusive are less the bias of each call" },
	{ "mixed_cores", "boolean", "",
	  "the CPU has cores of other types: counts are those on this type, and not scaled" },
	{ "threads", "integer", "", "that were opened" },
	{ "mismatched_ends", "integer", "", "ends of regions that were not the innermost" },
	{ "too_deep", "integer", "", "begins beyond max_depth: not measured" },
	{ "interrupted", "integer", "",
	  "begins and ends of signal handlers that interrupted another one: not measured" },
	{ "without_path", "integer", "", "begins beyond max_paths: not measured" },
	{ "not_open", "integer", "", "begins and ends of threads that were not opened" },
	{ "why", "string", "", "why events are not counted, or a function failed" },
};
enum {
	RUN_PROGRAM,
	RUN_PID,
	RUN_MIDR,
	RUN_PMU,
	RUN_MODE,
	RUN_PRIVILEGE,
	RUN_ALL_SETS,
	RUN_LESS_BIAS,
	RUN_MIXED_CORES,
	RUN_THREADS,
	RUN_MISMATCHED_ENDS,
	RUN_TOO_DEEP,
	RUN_INTERRUPTED,
	RUN_WITHOUT_PATH,
	RUN_NOT_OPEN,
	RUN_WHY,
	N_RUN_COLUMNS,
};
_Static_assert(COUNT(run_columns) == N_RUN_COLUMNS, "a number for each column");

static const struct column region_columns[] = {
	{ "region", "string", "", "its name" },
	{ "thread", "integer", "", "thread id" },
	{ "parent", "string", "", "the region around it; absent: none" },
	{ "recursive", "boolean", "",
	  "it was open already; the outermost call has its count, too" },
	{ "set", "integer", "", "set of the event, from 0; of duration_time: absent" },
	{ "calls", "integer", "", "that ended while the set was on" },
	{ "event", "string", "", "as it was asked for; duration_time: the elapsed time in ns" },
	{ "count", "number", "events",
	  "for all of the time; extrapolated if running_ns is less than enabled_ns" },
	{ "exclusive", "number", "events", "without the regions inside of it" },
	{ "enabled_ns", "integer", "ns", "time in the region while the set was on" },
	{ "running_ns", "integer", "ns", "of this, time on a counter" },
	{ "coverage", "number", "", "part of the time on a counter; 1: the count is exact" },
	{ "state", "string", "", "counted, not-counted, not-supported, forbidden" },
	{ "mode", "string", "",
	  "how it was read: user (by instructions), read (by a call), both; probe: by the kernel, "
	  "at the function's start and return" },
	{ "bias", "number", "events",
	  "of one empty begin and end: the median of 1000; absent: not known" },
	{ "counted_calls", "integer", "", "that were on a counter all of the time" },
	{ "min", "integer", "events", "of one of these calls" },
	{ "max", "integer", "events", "of one of these calls" },
	{ "p50", "integer", "events", "median of these calls, at most 3 % too large" },
	{ "p90", "integer", "events", "quantile of these calls, at most 3 % too large" },
	{ "p99", "integer", "events", "quantile of these calls, at most 3 % too large" },
	{ "user_only", "boolean", "", "events in the kernel are not in it" },
};
enum {
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
_Static_assert(COUNT(region_columns) == N_REGION_COLUMNS, "a number for each column");

static const struct column histogram_columns[] = {
	{ "region", "string", "", "its name" },
	{ "thread", "integer", "", "thread id" },
	{ "parent", "string", "", "the region around it; absent: none" },
	{ "recursive", "boolean", "", "it was open already" },
	{ "event", "string", "", "that calls are counted by" },
	{ "low", "integer", "events", "the least count of these calls" },
	{ "high", "integer", "events", "the largest count of these calls" },
	{ "calls", "integer", "", "that were counted all of the time and are in this range" },
};
enum {
	HISTOGRAM_NAME,
	HISTOGRAM_THREAD,
	HISTOGRAM_PARENT,
	HISTOGRAM_RECURSIVE,
	HISTOGRAM_EVENT,
	HISTOGRAM_LOW,
	HISTOGRAM_HIGH,
	HISTOGRAM_CALLS,
	N_HISTOGRAM_COLUMNS,
};
_Static_assert(COUNT(histogram_columns) == N_HISTOGRAM_COLUMNS, "a number for each column");

/* One format's way to write a table. */
struct measure_format {
	const char *name;
	void (*begin)(struct writer *);
	void (*table)(struct writer *, const char *name, const struct column *, size_t n);
	void (*row)(struct writer *, const struct column *, const struct cell *, size_t n);
	void (*end_table)(struct writer *);
	void (*end)(struct writer *);
};

static void put_value(struct writer *w, const struct column *column, const struct cell *cell,
		      void (*put_text)(struct writer *, const char *))
{
	switch (column->type[0]) {
	case 's':
		put_text(w, cell->text);
		break;
	case 'h':
		if (put_text == put_json_text)
			put(w, "\"0x%" PRIx64 "\"", cell->number);
		else
			put(w, "0x%" PRIx64, cell->number);
		break;
	case 'b':
		put(w, "%s", cell->number != 0 ? "true" : "false");
		break;
	case 'n':
		/* Whole numbers as such: a program's locale may have another decimal point. */
		if (cell->real < 0x1p63 && cell->real == (double)(uint64_t)cell->real)
			put(w, "%" PRIu64, (uint64_t)cell->real);
		else
			put(w, "%" PRIu64 ".%06u", (uint64_t)cell->real,
			    (unsigned)((cell->real - (double)(uint64_t)cell->real) * 1e6));
		break;
	default:
		put(w, "%" PRIu64, cell->number);
	}
}

static void csv_table(struct writer *w, const char *name, const struct column *columns, size_t n)
{
	put(w, "# table %s\n", name);
	for (size_t i = 0; i < n; i++)
		put(w, "%s%s", i == 0 ? "" : ",", columns[i].name);
	put(w, "\n");
}

static void csv_row(struct writer *w, const struct column *columns, const struct cell *cells,
		    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		put(w, "%s", i == 0 ? "" : ",");
		if (cells[i].is_there)
			put_value(w, &columns[i], &cells[i], put_csv_text);
	}
	put(w, "\n");
}

static void nothing(struct writer *w)
{
	(void)w;
}

static void json_describe(struct writer *w, const char *table, const struct column *columns,
			  size_t n)
{
	put(w, "%s\"%s\":{", w->is_later ? "," : "", table);
	for (size_t i = 0; i < n; i++)
		put(w, "%s\"%s\":{\"type\":\"%s\",\"unit\":\"%s\",\"meaning\":\"%s\"%s}",
		    i == 0 ? "" : ",", columns[i].name, columns[i].type, columns[i].unit,
		    columns[i].meaning,
		    strcmp(columns[i].name, "why") == 0 ? ",\"message\":true" : "");
	put(w, "}");
	w->is_later = true;
}

static void json_begin(struct writer *w)
{
	put(w,
	    "{\"schema\":2,\"cyclops\":\"%s\",\"command\":\"measure\",\"modelled\":false,\n"
	    "\"columns\":{",
	    CYCLOPS_VERSION);
	json_describe(w, "run", run_columns, N_RUN_COLUMNS);
	json_describe(w, "regions", region_columns, N_REGION_COLUMNS);
	json_describe(w, "histograms", histogram_columns, N_HISTOGRAM_COLUMNS);
	put(w, "}");
}

static void json_table(struct writer *w, const char *name, const struct column *columns, size_t n)
{
	(void)columns;
	(void)n;
	put(w, ",\n\"%s\":[", name);
	w->is_later = false;
}

static void json_row(struct writer *w, const struct column *columns, const struct cell *cells,
		     size_t n)
{
	bool is_first = true;

	put(w, "%s\n{", w->is_later ? "," : "");
	w->is_later = true;
	for (size_t i = 0; i < n; i++) {
		if (!cells[i].is_there)
			continue;
		put(w, "%s\"%s\":", is_first ? "" : ",", columns[i].name);
		put_value(w, &columns[i], &cells[i], put_json_text);
		is_first = false;
	}
	put(w, "}");
}

static void json_end_table(struct writer *w)
{
	put(w, "\n]");
}

static void json_end(struct writer *w)
{
	put(w, ",\n\"notes\":{}}\n");
}

/* What became of an event on a path: the number in the cell of REGION_STATE, beside its word. */
enum region_state { REGION_COUNTED, REGION_NOT_COUNTED, REGION_NOT_SUPPORTED, REGION_FORBIDDEN };

static struct cell cell_state(enum region_state state)
{
	static const char *const words[] = {
		[REGION_COUNTED] = "counted",
		[REGION_NOT_COUNTED] = "not-counted",
		[REGION_NOT_SUPPORTED] = "not-supported",
		[REGION_FORBIDDEN] = "forbidden",
	};

	return (struct cell){ .is_there = true, .text = words[state], .number = state };
}

static void text_table(struct writer *w, const char *name, const struct column *columns, size_t n)
{
	(void)columns;
	(void)n;
	if (strcmp(name, "regions") == 0)
		put(w, "%-24s %7s %9s  %-20s %15s %15s %13s %13s  %s\n", "region", "thread",
		    "calls", "event", "count", "exclusive", "p50", "p99", "counted");
}

/* Why there is no count, or how good it is. */
static void put_coverage(struct writer *w, const struct cell *cells)
{
	const struct cell *coverage = &cells[REGION_COVERAGE];

	if (cells[REGION_STATE].number != REGION_COUNTED)
		put(w, "%s", cells[REGION_STATE].text);
	else if (coverage->is_there && coverage->real < 1)
		put(w, "%u %% of the time, scaled", (unsigned)(coverage->real * 100));
	else
		put(w, "exact");
}

/* The name, and the region around it, as far as they fit. */
static void write_region_place(struct writer *w, const struct cell *cells)
{
	char place[64];

	snprintf(place, sizeof(place), "%s%s%s", cells[REGION_NAME].text,
		 cells[REGION_PARENT].is_there ? " in " : "",
		 cells[REGION_PARENT].is_there ? cells[REGION_PARENT].text : "");
	put(w, "%-24.24s", place);
}

static void text_row(struct writer *w, const struct column *columns, const struct cell *cells,
		     size_t n)
{
	static const struct {
		uint8_t column, width;
	} numbers[] = {
		{ REGION_COUNT, 15 },
		{ REGION_EXCLUSIVE, 15 },
		{ REGION_P50, 13 },
		{ REGION_P99, 13 },
	};

	if (columns == run_columns) {
		for (size_t i = RUN_MISMATCHED_ENDS; i < RUN_WHY; i++)
			if (cells[i].number > 0)
				put(w, "%" PRIu64 " %s\n", cells[i].number, columns[i].meaning);
	}
	if (n != N_REGION_COLUMNS || cells[REGION_STATE].number == REGION_FORBIDDEN ||
	    cells[REGION_STATE].number == REGION_NOT_SUPPORTED)
		return; /* why has been said */
	write_region_place(w, cells);
	put(w, " %7" PRIu64 " %9" PRIu64 "  %-20.20s", cells[REGION_THREAD].number,
	    cells[REGION_CALLS].number, cells[REGION_EVENT].text);
	for (size_t i = 0; i < COUNT(numbers); i++) {
		const struct cell *cell = &cells[numbers[i].column];

		if (!cell->is_there)
			put(w, " %*s", numbers[i].width, "");
		else if (columns[numbers[i].column].type[0] == 'n')
			put(w, " %*.0f", numbers[i].width, cell->real);
		else
			put(w, " %*" PRIu64, numbers[i].width, cell->number);
	}
	put(w, "  ");
	put_coverage(w, cells);
	put(w, "\n");
}

static const struct measure_format measure_formats[] = {
	{ "text", nothing, text_table, text_row, nothing, nothing },
	{ "csv", nothing, csv_table, csv_row, nothing, nothing },
	{ "json", json_begin, json_table, json_row, json_end_table, json_end },
};

/* What the tables are filled from */

static const char *program_name(char out[64])
{
	int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, 63);

	if (fd >= 0)
		close(fd);
	out[n > 0 ? n : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
	for (char *c = out; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return out;
}

static void write_run(struct cyclops *c, struct writer *w, const struct measure_format *f)
{
	static const char *const modes[] = { "", "auto", "read", "user" };
	static const char *const privileges[] = { "user", "kernel", "user-and-kernel" };
	struct cell cells[N_RUN_COLUMNS] = { 0 };
	uint64_t mismatched = 0, too_deep = 0, interrupted = 0, without_path = 0;
	char name[64];

	for (unsigned i = 0; i < c->n_threads; i++) {
		mismatched += LOAD(c->threads[i]->n_mismatched);
		too_deep += LOAD(c->threads[i]->n_too_deep);
		interrupted += LOAD(c->threads[i]->n_interrupted);
		without_path += LOAD(c->threads[i]->n_without_path);
	}
	cells[RUN_PROGRAM] = cell_text(program_name(name));
	cells[RUN_PID] = cell_number((uint64_t)c->pid);
	cells[RUN_MIDR] = c->pmu.midr == 0 ? no_cell : cell_number(c->pmu.midr);
	cells[RUN_PMU] = cell_text(c->pmu.name);
	cells[RUN_MODE] = cell_text(modes[c->mode]);
	cells[RUN_PRIVILEGE] = cell_text(privileges[c->privilege]);
	cells[RUN_ALL_SETS] = cell_number(c->has_all_sets);
	cells[RUN_LESS_BIAS] = cell_number(c->is_less_bias);
	cells[RUN_MIXED_CORES] = cell_number(c->pmu.is_mixed);
	cells[RUN_THREADS] = cell_number(c->n_threads);
	cells[RUN_MISMATCHED_ENDS] = cell_number(mismatched);
	cells[RUN_TOO_DEEP] = cell_number(too_deep);
	cells[RUN_INTERRUPTED] = cell_number(interrupted);
	cells[RUN_WITHOUT_PATH] = cell_number(without_path);
	cells[RUN_NOT_OPEN] = cell_number(LOAD(c->n_not_open));
	cells[RUN_WHY] = cell_text(c->why);
	f->table(w, "run", run_columns, N_RUN_COLUMNS);
	f->row(w, run_columns, cells, N_RUN_COLUMNS);
	for (unsigned i = 1; i < c->events.n && f->row == text_row; i++)
		if (c->events.items[i].why[0] != '\0')
			put(w, "%.900s\n", c->events.items[i].why);
	f->end_table(w);
}

static double less_bias(double count, double bias)
{
	return count > bias ? count - bias : 0;
}

/* The cells of what was counted. `calls`: that the bias is of. */
static void fill_counts(const struct cyclops *c, const struct path *p, unsigned event,
			uint64_t calls, struct cell *cells)
{
	static const char *const words[2][2] = { { NULL, "user" }, { "read", "both" } };
	const struct path_event *e = &p->events[event];
	const struct path_set *s = &p->sets[c->events.items[event].set];
	bool is_duration = event == MEASURE_DURATION;
	uint64_t enabled = is_duration ? e->sum : s->enabled_ns;
	uint64_t running = is_duration ? e->sum : s->running_ns;
	bool is_scaled = !is_duration && !c->pmu.is_mixed;
	double bias = path_bias(c, s, event);
	double all_bias = c->is_less_bias && !isnan(bias) ? bias * (double)calls : 0;

	cells[REGION_COUNT] = cell_real(less_bias(
		is_scaled ? measure_estimate(e->sum, enabled, running) : (double)e->sum, all_bias));
	cells[REGION_EXCLUSIVE] = cell_real(
		less_bias(is_scaled ? measure_estimate((e->sum - e->inside),
						       s->enabled_ns - s->inside_enabled_ns,
						       s->running_ns - s->inside_running_ns)
				    : (double)(e->sum - e->inside),
			  all_bias));
	cells[REGION_ENABLED_NS] = cell_number(enabled);
	cells[REGION_RUNNING_NS] = cell_number(running);
	cells[REGION_COVERAGE] =
		cell_real(enabled == running ? 1 : (double)running / (double)enabled);
	if (!is_duration)
		cells[REGION_MODE] = cell_text(words[s->by_read > 0][s->by_user > 0]);
	cells[REGION_BIAS] = isnan(bias) ? no_cell : cell_real(bias);
	cells[REGION_COUNTED_CALLS] = cell_number(e->n);
	if (e->n == 0)
		return;
	cells[REGION_MIN] = cell_number(e->min);
	cells[REGION_MAX] = cell_number(e->max);
	for (unsigned i = 0; i < 3; i++) {
		static const double parts[] = { 0.5, 0.9, 0.99 };

		uint64_t value = histogram_upper_quantile(e->histogram, e->n, parts[i]);

		cells[REGION_P50 + i] = cell_number(value < e->max ? value : e->max);
	}
}

static enum region_state state_of(const struct measure_event *e, const struct path_set *s,
				  bool is_duration)
{
	if (e->state == MEASURE_FORBIDDEN)
		return REGION_FORBIDDEN;
	if (e->state == MEASURE_NOT_SUPPORTED)
		return REGION_NOT_SUPPORTED;
	if (is_duration ||
	    (s->by_read + s->by_user > 0 && (s->running_ns > 0 || s->enabled_ns == 0)))
		return REGION_COUNTED;
	return REGION_NOT_COUNTED;
}

static void write_path_event(struct cyclops *c, const struct caliper_thread *t,
			     const struct path *p, unsigned event, struct writer *w,
			     const struct measure_format *f)
{
	const struct measure_event *e = &c->events.items[event];
	const struct path_set *s = &p->sets[e->set];
	bool is_duration = event == MEASURE_DURATION;
	struct cell cells[N_REGION_COLUMNS] = { 0 };
	uint64_t calls = is_duration ? p->events[event].n : s->calls;
	enum region_state state = state_of(e, s, is_duration);

	if (calls == 0)
		return;
	cells[REGION_NAME] = cell_text(c->regions[p->region]);
	cells[REGION_THREAD] = cell_number((uint64_t)t->tid);
	cells[REGION_PARENT] = p->parent == 0 ? no_cell : cell_text(c->regions[p->parent]);
	cells[REGION_RECURSIVE] = cell_number(p->is_recursive);
	cells[REGION_SET] = is_duration ? no_cell : cell_number(e->set);
	cells[REGION_CALLS] = cell_number(calls);
	cells[REGION_EVENT] = cell_text(e->name);
	cells[REGION_STATE] = cell_state(state);
	if (!is_duration && e->state == MEASURE_COUNTED)
		cells[REGION_USER_ONLY] = cell_number(
			e->is_user_only ||
			(e->is_hardware && !e->has_privilege && c->privilege == CYCLOPS_USER) ||
			attr_has(&e->attr, ATTR_EXCLUDE_KERNEL));
	if (state == REGION_COUNTED)
		fill_counts(c, p, event, calls, cells);
	else if (e->state == MEASURE_COUNTED) {
		cells[REGION_ENABLED_NS] = cell_number(s->enabled_ns);
		cells[REGION_RUNNING_NS] = cell_number(s->running_ns);
	}
	f->row(w, region_columns, cells, N_REGION_COLUMNS);
}

static void write_path_histograms(struct cyclops *c, const struct caliper_thread *t,
				  const struct path *p, struct writer *w,
				  const struct measure_format *f)
{
	struct cell cells[N_HISTOGRAM_COLUMNS] = { 0 };

	cells[HISTOGRAM_NAME] = cell_text(c->regions[p->region]);
	cells[HISTOGRAM_THREAD] = cell_number((uint64_t)t->tid);
	cells[HISTOGRAM_PARENT] = p->parent == 0 ? no_cell : cell_text(c->regions[p->parent]);
	cells[HISTOGRAM_RECURSIVE] = cell_number(p->is_recursive);
	for (unsigned event = 0; event < c->events.n; event++) {
		const uint64_t *buckets = p->events[event].histogram;

		if (p->events[event].n == 0)
			continue;
		cells[HISTOGRAM_EVENT] = cell_text(c->events.items[event].name);
		for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
			uint64_t calls = LOAD(buckets[i]);

			if (calls == 0)
				continue;
			cells[HISTOGRAM_LOW] = cell_number(histogram_low(i));
			cells[HISTOGRAM_HIGH] = cell_number(histogram_low(i + 1) - 1);
			cells[HISTOGRAM_CALLS] = cell_number(calls);
			f->row(w, histogram_columns, cells, N_HISTOGRAM_COLUMNS);
		}
	}
}

static void write_regions(struct cyclops *c, struct writer *w, const struct measure_format *f,
			  bool are_histograms)
{
	struct path copy;

	for (unsigned i = 0; i < c->n_threads; i++) {
		const struct caliper_thread *t = c->threads[i];
		unsigned n = __atomic_load_n(&t->n_paths, __ATOMIC_ACQUIRE);

		for (unsigned k = 0; k < n; k++) {
			if (!path_copy(c, t, &t->paths[k], &copy))
				continue;
			if (are_histograms)
				write_path_histograms(c, t, &copy, w, f);
			else
				for (unsigned e = 0; e < c->events.n; e++)
					write_path_event(c, t, &copy, e, w, f);
		}
	}
}

static const struct measure_format *format_of(const char *format, const char *path)
{
	const char *dot = strrchr(path, '.');
	const char *word = format != NULL ? format : dot != NULL ? dot + 1 : "";

	for (size_t i = 0; i < COUNT(measure_formats); i++)
		if (strcmp(measure_formats[i].name, word) == 0)
			return &measure_formats[i];
	return format != NULL ? NULL : &measure_formats[0];
}

static void write_tables(struct cyclops *c, struct writer *w, const struct measure_format *f)
{
	f->begin(w);
	write_run(c, w, f);
	f->table(w, "regions", region_columns, N_REGION_COLUMNS);
	write_regions(c, w, f, false);
	f->end_table(w);
	if (f->row != text_row) {
		f->table(w, "histograms", histogram_columns, N_HISTOGRAM_COLUMNS);
		write_regions(c, w, f, true);
		f->end_table(w);
	}
	f->end(w);
	flush(w);
}

int cyclops_write(struct cyclops *c, const char *path, const char *format)
{
	const struct measure_format *f = path == NULL ? NULL : format_of(format, path);
	bool is_stdout = path != NULL && strcmp(path, "-") == 0;
	struct writer w = { .fd = STDOUT_FILENO };
	int cancel_state, error;

	if (c == NULL || path == NULL)
		return -EINVAL;
	if (!measure_is_usable(c))
		return -ECHILD;
	if (f == NULL)
		return measure_fail(c, EINVAL, "format '%.100s': it is text, csv or json", format);
	cancel_state = measure_lock(c);
	if (!is_stdout)
		w.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	w.error = w.fd < 0 ? errno : 0;
	if (w.fd >= 0)
		write_tables(c, &w, f);
	if (w.fd >= 0 && !is_stdout && close(w.fd) < 0 && w.error == 0)
		w.error = errno;
	error = w.error == 0 ? 0 : measure_fail(c, w.error, "%.300s: %s", path, strerror(w.error));
	measure_unlock(c, cancel_state);
	return error;
}
