/* SPDX-License-Identifier: Apache-2.0 */
/* The table "counts": a row for each reading of a counter. Columns are stable; append new ones. */
#include <stdlib.h>

#include "base/alloc.h"
#include "estimate/readings.h"
#include "export/export_tables.h"

enum counts_column {
	COUNTS_COL_CPU,
	COUNTS_COL_PID,
	COUNTS_COL_TID,
	COUNTS_COL_TIME,
	COUNTS_COL_EVENT,
	COUNTS_COL_COUNTED,
	COUNTS_COL_SCALED,
	COUNTS_COL_ENABLED,
	COUNTS_COL_RUNNING,
	COUNTS_COL_VALUE,
	COUNTS_COL_KIND,
	COUNTS_COL_END,
	COUNTS_COL_RECORD,
	COUNTS_N_COLS,
};

static const struct column columns[COUNTS_N_COLS] = {
	[COUNTS_COL_CPU] = { "cpu", NULL, "", CELL_COUNT, 0, "cpu of the count; absent: all" },
	[COUNTS_COL_PID] = { "pid", NULL, "", CELL_SIGNED, 0, "process id" },
	[COUNTS_COL_TID] = { "tid", NULL, "", CELL_SIGNED, 0, "thread id; absent: all" },
	[COUNTS_COL_TIME] = { "time_ns", NULL, "ns", CELL_COUNT, 0, "time on the perf clock" },
	[COUNTS_COL_EVENT] = { "event", NULL, "", CELL_TEXT, 0, "event that was counted" },
	[COUNTS_COL_COUNTED] = { "counted", NULL, "events", CELL_COUNT, 0,
				 "since the counter was read before" },
	[COUNTS_COL_SCALED] = { "scaled", NULL, "events", CELL_NUMBER, 0,
				"counted, extrapolated if running_ns is less than enabled_ns" },
	[COUNTS_COL_ENABLED] = { "enabled_ns", NULL, "ns", CELL_COUNT, 0,
				 "enabled time since the counter was read before" },
	[COUNTS_COL_RUNNING] = { "running_ns", NULL, "ns", CELL_COUNT, 0,
				 "time on a counter since then" },
	[COUNTS_COL_VALUE] = { "value", NULL, "events", CELL_COUNT, 0, "the counter as read" },
	[COUNTS_COL_KIND] = { "kind", NULL, "", CELL_TEXT, 0,
			      "where it was read: sample, thread (its end), stat" },
	[COUNTS_COL_END] = { "end_ns", NULL, "ns", CELL_COUNT, 0,
			     "end of the interval, from the start" },
	[COUNTS_COL_RECORD] = { "record", NULL, "", CELL_HEX, 0,
				"where the record begins, as dump shows it" },
};

/* Readings as rows of a batch, whose `period` is what was counted. */
struct counts_batch {
	struct batch rows; /* the first member: a batch of this table is one of these */
	double scaled[BATCH_ROWS];
	uint64_t enabled_ns[BATCH_ROWS], running_ns[BATCH_ROWS];
	uint64_t values[BATCH_ROWS];
	uint64_t end_ns[BATCH_ROWS];
	uint8_t kinds[BATCH_ROWS];
};

/* Further bits of batch.has. */
static const uint32_t HAS_ALWAYS = HAS_PERIOD, HAS_TIMES = 1u << 29, HAS_END = 1u << 30,
		      HAS_SCALED = 1u << 31;

#define COUNTS_FIELD(column, has, name, make)                                                      \
	{                                                                                          \
		column, has, offsetof(struct counts_batch, name),                                  \
			sizeof(((struct counts_batch *)NULL)->name[0]), make                       \
	}

static const struct export_field fields[] = {
	EXPORT_FIELD(COUNTS_COL_CPU, HAS_CPU, cpu, cell_count),
	EXPORT_FIELD(COUNTS_COL_PID, HAS_PID, pid, export_id),
	EXPORT_FIELD(COUNTS_COL_TID, HAS_TID, tid, export_id),
	EXPORT_FIELD(COUNTS_COL_TIME, HAS_TIME, time_ns, cell_count),
	EXPORT_FIELD(COUNTS_COL_COUNTED, HAS_ALWAYS, period, cell_count),
	COUNTS_FIELD(COUNTS_COL_ENABLED, HAS_TIMES, enabled_ns, cell_count),
	COUNTS_FIELD(COUNTS_COL_RUNNING, HAS_TIMES, running_ns, cell_count),
	COUNTS_FIELD(COUNTS_COL_VALUE, HAS_ALWAYS, values, cell_count),
	COUNTS_FIELD(COUNTS_COL_END, HAS_END, end_ns, cell_count),
	EXPORT_FIELD(COUNTS_COL_RECORD, HAS_ALWAYS, position, cell_hex),
};

static const struct counts_batch *counts_batch_of(const struct batch *b)
{
	return (const struct counts_batch *)b;
}

static const char *kind_name(uint64_t kind)
{
	static const char *const names[N_READING_KINDS] = {
		[READING_SAMPLE] = "sample", [READING_THREAD] = "thread", [READING_STAT] = "stat"
	};

	return names[kind];
}

static void spell_kind(const void *context, uint64_t code, struct text *out)
{
	(void)context;
	text_str(out, kind_name(code));
}

static void counts_row(const struct export_context *c, const struct batch *b, size_t row,
		       struct table *t, struct cell *cells)
{
	const struct counts_batch *counts = counts_batch_of(b);

	(void)t;
	cells[COUNTS_COL_EVENT] = cell_text(capture_event_name(c->session->capture, b->event[row]));
	if (b->has[row] & HAS_SCALED)
		cells[COUNTS_COL_SCALED] = cell_number(counts->scaled[row]);
	cells[COUNTS_COL_KIND] = cell_text(kind_name(counts->kinds[row]));
}

static const struct export_code codes[] = {
	{ COUNTS_COL_EVENT, PARQUET_TEXT, sizeof(uint16_t), export_spell_event },
	{ COUNTS_COL_SCALED, PARQUET_DOUBLE, sizeof(double), NULL },
	{ COUNTS_COL_KIND, PARQUET_TEXT, sizeof(uint8_t), spell_kind },
};

static void counts_put(const struct export_context *c, const struct batch *b,
		       const struct export_put *put)
{
	const struct counts_batch *counts = counts_batch_of(b);

	(void)c;
	put->rows(put->to, COUNTS_COL_EVENT, b->event, sizeof(*b->event), b->has, HAS_ALWAYS, b->n);
	put->rows(put->to, COUNTS_COL_SCALED, counts->scaled, sizeof(double), b->has, HAS_SCALED,
		  b->n);
	put->rows(put->to, COUNTS_COL_KIND, counts->kinds, sizeof(uint8_t), b->has, HAS_ALWAYS,
		  b->n);
}

/* The rows on their way to the output. */
struct counts_scan {
	const struct select *select;
	const struct scan_output *output;
	struct counts_batch *batch;
	struct text *texts;
	int rc;
};

static void deliver(struct counts_scan *s)
{
	const struct scan_output *output = s->output;

	if (s->rc == 0 && s->batch->rows.n > 0) {
		output->render(output->context, 0, &s->batch->rows, s->texts);
		s->rc = output->write(output->context, s->texts);
	}
	if (s->rc == 0 && output->pause != NULL)
		s->rc = output->pause(output->context);
	for (size_t i = 0; i < output->n_texts; i++)
		text_reset(&s->texts[i]);
	batch_reset(&s->batch->rows, BATCH_READINGS);
}

/* What would have been counted in the whole time that the counter was enabled. */
static double scaled(const struct reading *r)
{
	double counted = (double)r->counted;

	return r->running_ns < r->enabled_ns
		       ? counted * (double)r->enabled_ns / (double)r->running_ns
		       : counted;
}

/*
 * Nothing can be extrapolated from a counter that never ran. Those of a task on each of its CPUs add up to what it did.
 */
static bool can_scale(const struct reading *r)
{
	if (r->is_of_task)
		return r->has_times && r->running_ns == r->enabled_ns;
	return r->has_times && (r->running_ns > 0 || r->enabled_ns == 0);
}

static uint32_t bit_if(bool is_there, uint32_t bit)
{
	return is_there ? bit : 0;
}

static void add_row(void *context, const struct reading *r)
{
	struct counts_scan *s = context;
	struct counts_batch *c = s->batch;
	struct batch *b = &c->rows;
	size_t row = b->n++;

	b->has[row] = HAS_ALWAYS | bit_if(r->cpu != READING_UNKNOWN, HAS_CPU) |
		      bit_if(r->pid != READING_UNKNOWN, HAS_PID) |
		      bit_if(r->tid != READING_UNKNOWN, HAS_TID) |
		      bit_if(r->time_ns > 0, HAS_TIME) | bit_if(r->has_times, HAS_TIMES) |
		      bit_if(can_scale(r), HAS_SCALED) | bit_if(r->end_ns > 0, HAS_END);
	b->position[row] = r->position;
	b->cpu[row] = r->cpu;
	b->pid[row] = r->pid;
	b->tid[row] = r->tid;
	b->time_ns[row] = r->time_ns;
	b->event[row] = (uint16_t)r->event;
	b->period[row] = r->counted;
	c->scaled[row] = can_scale(r) ? scaled(r) : 0;
	c->enabled_ns[row] = r->enabled_ns;
	c->running_ns[row] = r->running_ns;
	c->values[row] = r->value;
	c->end_ns[row] = r->end_ns;
	c->kinds[row] = (uint8_t)r->kind;
	if (s->select != NULL && !select_matches(s->select, b, row))
		b->n--;
	if (batch_is_full(b))
		deliver(s);
}

/* One after the other: what was counted is known from the reading before. */
static int counts_scan(struct session *session, const struct select *select,
		       const struct scan_output *output)
{
	struct counts_scan s = {
		.select = select,
		.output = output,
		.batch = mem_zalloc(1, sizeof(*s.batch)),
		.texts = mem_zalloc(output->n_texts, sizeof(*s.texts)),
	};

	batch_reset(&s.batch->rows, BATCH_READINGS);
	readings_walk(session->capture, add_row, &s);
	deliver(&s);
	for (size_t i = 0; i < output->n_texts; i++)
		text_release(&s.texts[i]);
	free(s.texts);
	vec_release(&s.batch->rows.words);
	free(s.batch);
	return s.rc;
}

const struct export_table export_counts = {
	.name = "counts",
	.shortage = "no readings of counters (perf stat record; perf record -s, or -e '{a,b}:S')",
	.kind = BATCH_READINGS,
	.columns = columns,
	.n_columns = COUNT(columns),
	.fields = fields,
	.n_fields = COUNT(fields),
	.row = counts_row,
	.codes = codes,
	.n_codes = COUNT(codes),
	.put = counts_put,
	.scan = counts_scan,
};
