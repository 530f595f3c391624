/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of `perf stat -x SEP` (perf-stat(1), "CSV FORMAT"). There is no header and no
 * quoting, so the separator is found by trying: it is the one with which lines make sense. A name may have separators in
 * it. There are cgroups in all lines, or behind events that stand without one, too.
 *
 *	[time] [place [n]] value unit event [cgroup] [deviation] run-time percentage [metric unit]
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "count/import_inside.h"

enum { FIELDS_MAX = 64, SEPARATOR_MAX = 3, TRIED_LINES = 64 };

struct fields {
	struct slice items[FIELDS_MAX];
	size_t n;
};

/* A parsed line. */
struct counter_line {
	double seconds; /* of -I; negative if there is none */
	int32_t cpu, tid;
	struct slice where; /* the place; empty if there is none */
	bool has_group;	    /* there is something between event and deviation: */
	struct slice group; /* a cgroup, or the rest of the name */
	double value;
	uint8_t state;
	struct slice unit, event;
	double deviation, percent;
	uint64_t running_ns;
};

static void import_perf_csv_split(struct slice line, struct slice separator, struct fields *out)
{
	const char *at = line.at, *end = line.at + line.n;

	while (at < end && *at == ' ') /* blanks before the time of -I */
		at++;
	for (out->n = 0; out->n < FIELDS_MAX; out->n++) {
		const char *next = memmem(at, (size_t)(end - at), separator.at, separator.n);

		out->items[out->n] =
			(struct slice){ at, (size_t)((next != NULL ? next : end) - at) };
		if (next == NULL) {
			out->n++;
			return;
		}
		at = next + separator.n;
	}
}

/* The fields `first` to `last`, with the separators between them. */
static struct slice join_fields(const struct fields *f, size_t first, size_t last)
{
	const char *start = f->items[first].at;

	return (struct slice){ start, (size_t)(f->items[last].at + f->items[last].n - start) };
}

static size_t n_decimals(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.at[i] == '.' || s.at[i] == ',')
			return s.n - i - 1;
	return 0;
}

static bool is_value(struct slice s, struct counter_line *out)
{
	out->value = 0;
	out->state = COUNT_COUNTED;
	return slice_is_state(s, &out->state) || slice_number(s, &out->value);
}

static bool is_time(struct slice s, double *out)
{
	s = slice_trim(s);
	return n_decimals(s) == 9 && slice_number(s, out);
}

static bool is_percentage(struct slice s, double *out)
{
	return n_decimals(s) == 2 && slice_number(s, out);
}

static bool is_deviation(struct slice s, double *out)
{
	return s.n > 1 && s.at[s.n - 1] == '%' &&
	       slice_number((struct slice){ s.at, s.n - 1 }, out);
}

/*
 * The index of the running time and its percentage behind the event: the first such pair from
 * `from` on, or 0.
 */
static size_t find_times(const struct fields *f, size_t from, struct counter_line *out)
{
	for (size_t i = from; i + 1 < f->n; i++)
		if (slice_u64(f->items[i], &out->running_ns) &&
		    is_percentage(f->items[i + 1], &out->percent))
			return i;
	return 0;
}

/* The last field of an event's name, which may contain the separator between slashes. */
static size_t end_of_event(const struct fields *f, size_t first, size_t limit)
{
	size_t n_slashes = 0, last = first;

	for (size_t i = first; i < limit; i++) {
		for (size_t j = 0; j < f->items[i].n; j++)
			n_slashes += f->items[i].at[j] == '/';
		last = i;
		if (n_slashes % 2 == 0)
			return i;
	}
	return last;
}

/* Reads value, unit, event and times; `at` is the field of the value. */
static bool read_counter(const struct fields *f, size_t at, struct counter_line *out)
{
	size_t times, last;

	if (at + 4 >= f->n || !is_value(f->items[at], out))
		return false;
	times = find_times(f, at + 3, out);
	if (times == 0 || f->items[at + 2].n == 0)
		return false;
	out->unit = f->items[at + 1];
	last = end_of_event(f, at + 2, times);
	out->event = join_fields(f, at + 2, last);
	if (times > last + 1 && is_deviation(f->items[times - 1], &out->deviation))
		times--;
	out->has_group = times > last + 1;
	if (out->has_group)
		out->group = join_fields(f, last + 1, times - 1);
	return true;
}

/* Reads "comm-123"; the name may contain the separator. */
static bool read_thread(const struct fields *f, size_t at, struct counter_line *out)
{
	for (size_t last = at; last + 1 < f->n; last++) {
		struct slice who = join_fields(f, at, last);

		if (!slice_is_thread(who, &out->tid) || !read_counter(f, last + 1, out))
			continue;
		out->where = who;
		return true;
	}
	return false;
}

static bool read_line(const struct fields *f, struct counter_line *out)
{
	uint64_t n;
	size_t at = 0;

	*out = (struct counter_line){ .seconds = -1, .cpu = COUNT_ANY, .tid = COUNT_ANY };
	if (f->n > 1 && is_time(f->items[0], &out->seconds))
		at = 1;
	if (at + 1 >= f->n)
		return false;
	if (slice_is_cpu(f->items[at], &out->cpu))
		return read_counter(f, at + 1, out);
	if (slice_is_part(f->items[at]) && slice_u64(f->items[at + 1], &n)) {
		struct slice part = f->items[at];

		if (!read_counter(f, at + 2, out))
			return false;
		out->where = part;
		return true;
	}
	return read_counter(f, at, out) || read_thread(f, at, out);
}

/* How many of the first lines can be parsed with this separator. */
static size_t n_sensible(const char *text, size_t size, struct slice separator)
{
	struct lines lines = { text, text, text + size };
	struct slice line;
	struct fields fields;
	struct counter_line counter;
	size_t n = 0;

	for (size_t tried = 0; tried < TRIED_LINES && lines_next(&lines, &line); tried++) {
		import_perf_csv_split(line, separator, &fields);
		n += read_line(&fields, &counter);
	}
	return n;
}

static bool may_separate(char c)
{
	return c == '\t' || (ispunct((unsigned char)c) && strchr("<>.%-_", c) == NULL) || c == ' ';
}

/* Finds the separator: tries each short run of signs in the first lines. */
static struct slice find_separator(const char *text, size_t size)
{
	struct lines lines = { text, text, text + size };
	struct slice line, best = { 0 };
	size_t best_n = 0;

	for (size_t tried = 0; best_n == 0 && tried < TRIED_LINES && lines_next(&lines, &line);
	     tried++) {
		if (line.n > 512 || slice_begins(line, "#"))
			continue;
		for (size_t i = 0; i < line.n; i++) {
			for (size_t n = 1; n <= SEPARATOR_MAX && i + n <= line.n &&
					   may_separate(line.at[i + n - 1]);
			     n++) {
				struct slice candidate = { line.at + i, n };
				struct fields fields;
				struct counter_line counter;
				size_t found;

				import_perf_csv_split(line, candidate, &fields);
				if (!read_line(&fields, &counter))
					continue;
				found = n_sensible(text, size, candidate);
				if (found <= best_n)
					continue;
				best = candidate;
				best_n = found;
			}
		}
	}
	return best;
}

static void add_counter(struct counts *c, struct import_times *times,
			const struct counter_line *line)
{
	const char *name = slice_copy(&c->memory, line->event);
	struct slice where = line->where.n > 0 ? line->where : line->group;
	struct count *count = counts_add(c, name);

	count->value = line->value;
	count->state = line->state;
	count->cpu = line->cpu;
	count->tid = line->tid;
	count->spread = line->deviation / 100;
	count->running_ns = line->running_ns;
	if (where.n > 0)
		count->where = slice_copy(&c->memory, where);
	if (line->seconds >= 0)
		count->interval = import_interval(c, line->seconds);
	counts_set_unit(c, count, line->unit.at, line->unit.n);
	*vec_add(&times->percent) = line->percent;
}

/* The names of events that stand without a cgroup. */
static void collect_events(const char *text, size_t size, struct slice separator,
			   struct strings *out)
{
	struct lines lines = { text, text, text + size };
	struct counter_line counter;
	struct fields fields;
	struct slice line;

	while (lines_next(&lines, &line)) {
		import_perf_csv_split(line, separator, &fields);
		if (!slice_begins(line, "#") && read_line(&fields, &counter) && !counter.has_group)
			strings_add(out, counter.event.at, counter.event.n);
	}
}

static int read_csv(const char *text, size_t size, struct counts *out, struct err *err)
{
	struct lines lines = { text, text, text + size };
	struct slice separator = find_separator(text, size), line;
	struct import_times times = { 0 };
	struct counter_line counter;
	struct fields fields;
	struct strings events;
	size_t n_events;

	if (separator.n == 0)
		return err_set(err, ERR_FORMAT, 0,
			       "counts: no line reads like one of perf stat -x (value, unit, "
			       "event, run time, percentage)");
	strings_init(&events);
	collect_events(text, size, separator, &events);
	n_events = events.texts.n;
	while (lines_next(&lines, &line)) {
		if (line.n == 0 || slice_begins(line, "#"))
			continue;
		import_perf_csv_split(line, separator, &fields);
		if (!read_line(&fields, &counter))
			continue;
		if (counter.has_group && n_events > 1 &&
		    strings_add(&events, counter.event.at, counter.event.n).v >= n_events) {
			counter.event.n =
				(size_t)(counter.group.at + counter.group.n - counter.event.at);
			counter.group.n = 0;
		}
		add_counter(out, &times, &counter);
	}
	import_times_finish(&times, out);
	strings_release(&events);
	return 0;
}

static bool is_csv(const char *text, size_t size)
{
	return find_separator(text, size).n > 0;
}

const struct import_format import_perf_csv = { "perf stat -x", is_csv, read_csv };
