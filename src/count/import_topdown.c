/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CSV files of Arm's topdown-tool. Events: "run,time,event,value". Metrics:
 * "time,group,stage,level,metric,value,units". A missing value is empty.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/strings.h"
#include "base/tuples.h"
#include "count/import_inside.h"

enum { FIELDS_MAX = 16 };

/* Headings of columns, which come in any order. */
enum field {
	FIELD_TIME,
	FIELD_RUN,
	FIELD_EVENT,
	FIELD_METRIC,
	FIELD_VALUE,
	FIELD_UNITS,
	N_FIELDS,
};

static const char *const field_names[N_FIELDS] = {
	[FIELD_TIME] = "time",	   [FIELD_RUN] = "run",	    [FIELD_EVENT] = "event",
	[FIELD_METRIC] = "metric", [FIELD_VALUE] = "value", [FIELD_UNITS] = "units",
};

struct table {
	int columns[N_FIELDS]; /* by field; -1: there is no such column */
	struct counts *out;
	struct strings names;
	struct tuples seen; /* metric and interval, to find repetitions */
	struct strings runs;
};

/* Splits a line into fields, without quotes around them. */
static size_t import_topdown_split(struct slice line, struct slice *out)
{
	const char *at = line.at, *end = line.at + line.n;
	size_t n = 0;

	while (n < FIELDS_MAX) {
		bool is_quoted = at < end && *at == '"';
		const char *start = at + is_quoted;
		const char *stop =
			start >= end ? NULL
				     : memchr(start, is_quoted ? '"' : ',', (size_t)(end - start));

		if (stop == NULL)
			stop = end;
		out[n++] = slice_trim((struct slice){ start, (size_t)(stop - start) });
		at = stop + (is_quoted && stop < end);
		if (at >= end)
			break;
		at++;
	}
	return n;
}

static bool import_topdown_read_header(struct table *t, struct slice line)
{
	struct slice fields[FIELDS_MAX];
	size_t n = import_topdown_split(line, fields);

	for (size_t i = 0; i < N_FIELDS; i++)
		t->columns[i] = -1;
	for (size_t i = 0; i < n; i++)
		for (size_t f = 0; f < N_FIELDS; f++)
			if (slice_is(fields[i], field_names[f]))
				t->columns[f] = (int)i;
	return t->columns[FIELD_VALUE] >= 0 && t->columns[FIELD_TIME] >= 0 &&
	       (t->columns[FIELD_EVENT] >= 0 || t->columns[FIELD_METRIC] >= 0);
}

static struct slice import_topdown_field(const struct table *t, const struct slice *fields,
					 size_t n, enum field which)
{
	int column = t->columns[which];

	return column < 0 || (size_t)column >= n ? (struct slice){ 0 } : fields[column];
}

static uint32_t topdown_interval(struct table *t, struct slice time)
{
	double seconds;

	return slice_number(time, &seconds) ? import_interval(t->out, seconds) : 0;
}

/* Events of the same run of the program were counted at the same time: a group. */
static void import_topdown_add_event(struct table *t, const struct slice *fields, size_t n)
{
	struct slice name = import_topdown_field(t, fields, n, FIELD_EVENT);
	struct slice run = import_topdown_field(t, fields, n, FIELD_RUN);
	struct count *count;
	double value = 0;

	if (name.n == 0)
		return;
	count = counts_add(t->out, slice_copy(&t->out->memory, name));
	count->interval = topdown_interval(t, import_topdown_field(t, fields, n, FIELD_TIME));
	count->state = slice_number(import_topdown_field(t, fields, n, FIELD_VALUE), &value)
			       ? COUNT_COUNTED
			       : COUNT_NOT_COUNTED;
	count->value = value;
	if (run.n > 0)
		count->group = strings_add(&t->runs, run.at, run.n).v;
}

/* A metric that is in several groups is listed for each. */
static void import_topdown_add_metric(struct table *t, const struct slice *fields, size_t n)
{
	struct slice name = import_topdown_field(t, fields, n, FIELD_METRIC);
	struct slice units = import_topdown_field(t, fields, n, FIELD_UNITS);
	struct count_metric *metric;
	uint32_t interval = topdown_interval(t, import_topdown_field(t, fields, n, FIELD_TIME)),
		 n_seen;
	double value;

	if (name.n == 0 || !slice_number(import_topdown_field(t, fields, n, FIELD_VALUE), &value))
		return;
	n_seen = t->seen.n;
	tuples_add(&t->seen, (uint64_t[]){ strings_add(&t->names, name.at, name.n).v, interval });
	if (t->seen.n == n_seen)
		return;
	metric = vec_add(&t->out->metrics);
	metric->name = slice_copy(&t->out->memory, name);
	metric->unit = units.n > 0 ? slice_copy(&t->out->memory, units) : NULL;
	metric->value = value;
	metric->interval = interval;
}

/* With a single run nothing is known about groups. */
static void forget_single_run(struct table *t)
{
	if (t->runs.texts.n > 2) /* the empty string is one of them */
		return;
	for (size_t i = 0; i < t->out->items.n; i++)
		t->out->items.items[i].group = 0;
}

static int read_table(const char *text, size_t size, struct counts *out, struct err *err)
{
	struct lines lines = { text, text, text + size };
	struct table t = { .out = out };
	struct slice fields[FIELDS_MAX];
	struct slice line;

	if (!lines_next(&lines, &line) || !import_topdown_read_header(&t, line))
		return err_set(err, ERR_FORMAT, 0, "counts: the columns are not topdown-tool's");
	strings_init(&t.names);
	strings_init(&t.runs);
	tuples_init(&t.seen, 2);
	while (lines_next(&lines, &line)) {
		size_t n = import_topdown_split(line, fields);

		(t.columns[FIELD_EVENT] >= 0 ? import_topdown_add_event
					     : import_topdown_add_metric)(&t, fields, n);
	}
	forget_single_run(&t);
	strings_release(&t.names);
	strings_release(&t.runs);
	tuples_release(&t.seen);
	return 0;
}

static bool is_table(const char *text, size_t size)
{
	struct lines lines = { text, text, text + size };
	struct table t = { 0 };
	struct slice line;

	return lines_next(&lines, &line) && import_topdown_read_header(&t, line);
}

const struct import_format import_topdown = { "topdown-tool", is_table, read_table };
