/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `perf stat` prints for people.
 *
 *	 Performance counter stats for './stride' (3 runs):
 *
 *	          1,234.56 msec task-clock       #    0.998 CPUs utilized    ( +-  0.35% )
 *	    43,809,490,290      cycles           #    2.600 GHz              (83.31%)
 *	   <not supported>      LLC-loads
 *
 *	      16.851234567 seconds time elapsed
 *
 * Old perf writes the part of the time as "[33.40%]" or "(scaled from 33.40%)". Lines of a number and
 * an event alone are taken, too.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "count/import_inside.h"

enum { NUMBER_MAX = 64, WORDS_MAX = 8 };

/* The state of the reader. */
struct reader {
	struct counts *out;
	uint32_t n_runs;
	VEC_OF(double) coverage; /* of each count, 0 … 1 */
};

static bool is_separator(char c)
{
	return c == ',' || c == '.' || c == '\'';
}

/*
 * Reads a number with thousands separators of any locale. What follows the last separator is a
 * fraction, if it has not three digits, or if separators of another kind came before.
 */
static bool read_grouped(struct slice s, double *out)
{
	char digits[NUMBER_MAX];
	size_t n = 0, last = s.n, n_last = 0;

	if (s.n == 0 || s.n >= sizeof(digits) || !isdigit((unsigned char)s.at[0]))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit((unsigned char)s.at[i]) && !is_separator(s.at[i]))
			return false;
		if (is_separator(s.at[i]))
			last = i;
	}
	for (size_t i = 0; i < last && last < s.n; i++)
		n_last += s.at[i] == s.at[last];
	for (size_t i = 0; i < s.n; i++) {
		bool is_point = i == last && n_last == 0 &&
				(s.n - i - 1 != 3 || memchr(s.at, ',' + '.' - s.at[i], i) != NULL);

		if (isdigit((unsigned char)s.at[i]))
			digits[n++] = s.at[i];
		else if (is_point)
			digits[n++] = '.';
	}
	digits[n] = '\0';
	*out = strtod(digits, NULL);
	return isfinite(*out);
}

/* Cuts the next word off the line. */
static struct slice take_word(struct slice *line)
{
	struct slice word;

	*line = slice_trim(*line);
	word = (struct slice){ line->at, 0 };
	while (word.n < line->n && !isspace((unsigned char)line->at[word.n]))
		word.n++;
	line->at += word.n;
	line->n -= word.n;
	return word;
}

/* Reads a number, or "<not counted>", which is two words. */
static bool take_value(struct slice *line, struct count *out)
{
	struct slice state;
	const char *end;

	*line = slice_trim(*line);
	if (line->n > 0 && line->at[0] == '<') {
		end = memchr(line->at, '>', line->n);
		if (end == NULL)
			return false;
		state = (struct slice){ line->at, (size_t)(end - line->at) + 1 };
		line->at += state.n;
		line->n -= state.n;
		return slice_is_state(state, &out->state);
	}
	return read_grouped(take_word(line), &out->value);
}

/* Reads the rest of "Performance counter stats for 'name' (3 runs):". */
static void import_perf_text_read_header(struct reader *r, struct slice line)
{
	static const char before[] = "Performance counter stats for ";
	const char *at = memmem(line.at, line.n, before, sizeof(before) - 1);
	const char *quote, *runs;
	uint64_t n = 0;

	if (at == NULL)
		return;
	line.n -= (size_t)(at + sizeof(before) - 1 - line.at);
	line.at = at + sizeof(before) - 1;
	runs = memrchr(line.at, '(', line.n);
	if (runs != NULL &&
	    slice_has((struct slice){ runs, (size_t)(line.at + line.n - runs) }, " runs)")) {
		struct slice number = { runs + 1, 0 };

		while (isdigit((unsigned char)number.at[number.n]))
			number.n++;
		if (slice_u64(number, &n) && n <= UINT32_MAX)
			r->n_runs = (uint32_t)n;
	}
	if (line.n == 0 || line.at[0] != '\'')
		return;
	quote = memrchr(line.at + 1, '\'', line.n - 1);
	if (quote != NULL)
		r->out->command =
			slice_copy(&r->out->memory,
				   (struct slice){ line.at + 1, (size_t)(quote - line.at) - 1 });
}

/* Reads what is in brackets: "(83.31%)", "[83.31%]" or "( +-  0.35% )". */
static void read_remarks(struct slice line, double *coverage, double *spread)
{
	static const char scaled_from[] = "scaled from";

	for (size_t i = 0; i < line.n; i++) {
		struct slice rest = { line.at + i + 1, line.n - i - 1 };
		bool is_spread;
		const char *end;
		double percent;

		if (line.at[i] != '(' && line.at[i] != '[')
			continue;
		rest = slice_trim(rest);
		if (slice_begins(rest, scaled_from))
			rest = slice_trim((struct slice){ rest.at + sizeof(scaled_from) - 1,
							  rest.n - (sizeof(scaled_from) - 1) });
		is_spread = slice_begins(rest, "+-");
		if (is_spread)
			rest = slice_trim((struct slice){ rest.at + 2, rest.n - 2 });
		end = rest.n == 0 ? NULL : memchr(rest.at, '%', rest.n);
		if (end == NULL ||
		    !slice_number((struct slice){ rest.at, (size_t)(end - rest.at) }, &percent))
			continue;
		*(is_spread ? spread : coverage) = percent / 100;
	}
}

/* Reads "16.85 seconds time elapsed", which a deviation may follow. */
static bool read_elapsed(struct reader *r, struct slice line)
{
	struct slice word = take_word(&line);
	double seconds, coverage;

	if (!slice_has(line, "seconds time elapsed") || !read_grouped(word, &seconds))
		return false;
	if (seconds < 1e9)
		r->out->elapsed_ns = (uint64_t)llround(seconds * 1e9);
	read_remarks(line, &coverage, &r->out->elapsed_spread);
	return true;
}

/* Splits what precedes '#' or a parenthesis: unit and event, or the event alone. */
static bool read_names(struct slice line, struct slice *unit, struct slice *event)
{
	static const char msecs[] = "-msecs";
	struct slice words[WORDS_MAX];
	size_t n = 0;

	for (struct slice w = take_word(&line); w.n > 0 && n < WORDS_MAX; w = take_word(&line)) {
		if (w.at[0] == '#' || w.at[0] == '(' || w.at[0] == '[')
			break;
		words[n++] = w;
	}
	*unit = (struct slice){ 0 };
	if (n == 0 || n > 2)
		return false;
	if (n == 2)
		*unit = words[0];
	*event = words[n - 1];
	/* old perf has the unit in the name: "task-clock-msecs" */
	if (n == 1 && event->n > sizeof(msecs) - 1 &&
	    memcmp(event->at + event->n - (sizeof(msecs) - 1), msecs, sizeof(msecs) - 1) == 0) {
		event->n -= sizeof(msecs) - 1;
		*unit = (struct slice){ event->at + event->n + 1, 4 };
	}
	return true;
}

/* Reads "comm-123" before a value; names of threads may have blanks. */
static void take_thread(struct reader *r, struct slice *line, struct count *out)
{
	struct slice rest = *line, word = take_word(&rest);
	const char *start = word.at;

	for (size_t i = 0; i < WORDS_MAX && word.n > 0; i++, word = take_word(&rest)) {
		struct slice behind = rest;
		struct count value;

		if (!slice_is_thread(word, &out->tid))
			continue;
		if (take_value(&behind, &value)) {
			out->where = slice_copy(
				&r->out->memory,
				(struct slice){ start, (size_t)(word.at + word.n - start) });
			*line = rest;
			return;
		}
		out->tid = COUNT_ANY;
	}
}

/* Reads the time and the place that may precede the value. */
static void take_prefix(struct reader *r, struct slice *line, struct count *out, double *seconds)
{
	struct slice rest = *line, word = take_word(&rest);
	uint64_t n;

	if (word.n > 10 && memchr(word.at, '.', word.n) == word.at + word.n - 10 &&
	    slice_number(word, seconds)) {
		*line = rest;
		word = take_word(&rest);
	}
	if (slice_is_cpu(word, &out->cpu)) {
		*line = rest;
	} else if (slice_is_part(word)) {
		out->where = slice_copy(&r->out->memory, word);
		*line = rest;
		if (slice_u64(take_word(&rest), &n))
			*line = rest;
	} else {
		take_thread(r, line, out);
	}
}

static void read_count_line(struct reader *r, struct slice line)
{
	struct count read = { .cpu = COUNT_ANY, .tid = COUNT_ANY };
	double coverage = 1, seconds = -1;
	struct slice unit, event;
	struct count *count;

	take_prefix(r, &line, &read, &seconds);
	if (!take_value(&line, &read) || !read_names(line, &unit, &event))
		return;
	read_remarks(line, &coverage, &read.spread);
	count = counts_add(r->out, slice_copy(&r->out->memory, event));
	read.event = count->event;
	*count = read;
	count->n_runs = r->n_runs;
	if (seconds >= 0)
		count->interval = import_interval(r->out, seconds);
	counts_set_unit(r->out, count, unit.at, unit.n);
	*vec_add(&r->coverage) = coverage;
}

/*
 * The text has shares of the time, but no times. The whole is the time of the task, else of the
 * run. If both are missing it is set to a second, so that the shares are kept.
 */
static void set_times(struct reader *r)
{
	const struct count *task = counts_find(r->out, "task-clock");
	double ns = (double)r->out->elapsed_ns;

	if (task != NULL && task->state == COUNT_COUNTED && task->unit != NULL)
		ns = task->value;
	for (size_t i = 0; ns < 1 && i < r->coverage.n; i++)
		if (r->coverage.items[i] < 1)
			ns = 1e9;
	for (size_t i = 0; i < r->out->items.n; i++) {
		struct count *c = &r->out->items.items[i];
		double coverage = r->coverage.items[i];

		if (c->state != COUNT_COUNTED || coverage > 1)
			continue;
		c->enabled_ns = (uint64_t)ns;
		c->running_ns = (uint64_t)(ns * coverage);
	}
}

static int read_text(const char *text, size_t size, struct counts *out, struct err *err)
{
	static const char started_on[] = "# started on";
	struct lines lines = { text, text, text + size };
	struct reader r = { .out = out };
	struct slice line;

	(void)err;
	while (lines_next(&lines, &line)) {
		struct slice begin = slice_trim(line);

		if (slice_begins(begin, started_on))
			out->date = slice_copy(
				&out->memory,
				slice_trim((struct slice){ begin.at + sizeof(started_on) - 1,
							   begin.n - (sizeof(started_on) - 1) }));
		if (begin.n == 0 || begin.at[0] == '#')
			continue;
		if (slice_begins(begin, "Performance counter stats for"))
			import_perf_text_read_header(&r, begin);
		else if (!read_elapsed(&r, begin))
			read_count_line(&r, line);
	}
	set_times(&r);
	vec_release(&r.coverage);
	return 0;
}

/* Are all lines like "1,234 cycles"? Lines of perf's CSV have more fields. */
static bool is_bare(const char *text, size_t size)
{
	struct lines lines = { text, text, text + size };
	struct slice line, unit, event;
	bool has_any = false;

	while (lines_next(&lines, &line)) {
		double value;

		line = slice_trim(line);
		if (line.n == 0 || line.at[0] == '#')
			continue;
		if (!read_grouped(take_word(&line), &value) || !read_names(line, &unit, &event) ||
		    !isalpha((unsigned char)event.at[0]))
			return false;
		has_any = true;
	}
	return has_any;
}

static bool is_text(const char *text, size_t size)
{
	struct slice all = { text, size };

	if (is_bare(text, size))
		return true;
	return slice_has(all, "Performance counter stats for") ||
	       slice_has(all, "seconds time elapsed") || slice_has(all, "counts unit events");
}

const struct import_format import_perf_text = { "perf stat", is_text, read_text };
