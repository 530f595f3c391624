/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of memory operations by key: their columns and cells. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/estimate.h"
#include "estimate/shares.h"
#include "keys/keys.h"
#include "mem/rows.h"
#include "scan/spe_filters.h"

enum {
	MAX_COLUMNS = 2 + N_KEYS * KEY_MAX_COLUMNS + 64 + SLICES_MAX,
};

/* The columns of the sums, in their order; those of latencies stand behind SUM_TIME. */
enum sum_column {
	SUM_SAMPLES,
	SUM_SHARE,
	SUM_LATENCY_SHARE,
	SUM_TIME, /* the last one before the latencies */
	SUM_SATURATED,
	SUM_RATE,
	SUM_ESTIMATED,
	SUM_ESTIMATED_LOW,
	SUM_ESTIMATED_HIGH,
	SUM_WALKS,
	SUM_WALK_MEAN,
	SUM_BYTES,
	SUM_SIZED,
	N_SUMS,
};

static const struct column kind_column = {
	"access", NULL, "", CELL_TEXT, 0, "load, store, or atomic (counted as neither)",
};

/* Those of the latencies come behind SUM_TIME. */
static const struct column sum_columns[N_SUMS] = {
	[SUM_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0,
			  "SPE records, or samples with a data source" },
	[SUM_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_TRUST,
			"part of all records of this kind of access" },
	[SUM_LATENCY_SHARE] = { "latency_share", "latency share", "", CELL_NUMBER,
				COLUMN_SHARE | COLUMN_TRUST,
				"part of the total latency cycles of this kind of access; "
				"saturated counters count with their maximum" },
	[SUM_ESTIMATED] = { "estimated_operations", "estimated", "operations", CELL_COUNT,
			    COLUMN_TRUST, "estimated operations" },
	[SUM_ESTIMATED_LOW] = { "estimated_low", NULL, "operations", CELL_NUMBER,
				COLUMN_MACHINE_ONLY, "lower limit of it (95 %)" },
	[SUM_ESTIMATED_HIGH] = { "estimated_high", NULL, "operations", CELL_NUMBER,
				 COLUMN_MACHINE_ONLY, "upper limit of it (95 %)" },
	[SUM_SATURATED] = { "saturated_share", "saturated", "", CELL_NUMBER, COLUMN_SHARE,
			    "part of the records with a saturated total latency" },
	[SUM_WALKS] = { "walk_share", "walks", "", CELL_NUMBER, COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			"part of the records with a page table walk" },
	[SUM_WALK_MEAN] = { "walk_mean_cycles", "walk", "cycles", CELL_NUMBER,
			    COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			    "mean translation latency of records with a walk" },
	[SUM_BYTES] = { "bytes", NULL, "bytes", CELL_COUNT, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			"estimated bytes that were accessed" },
	[SUM_RATE] = { "bytes_per_s", "bandwidth", "bytes/s", CELL_NUMBER, COLUMN_TRUST,
		       "these bytes by the time from the first record to the last one; of rows by "
		       "time "
		       "by the length of a slice" },
	[SUM_SIZED] = { "sized_share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			"part of the records with a known access size" },
	[SUM_TIME] = { "time", SLICES_TITLE, "", CELL_TEXT, COLUMN_SPARK | COLUMN_TEXT_ONLY,
		       "records over time" },
};

static const struct {
	const char *name, *title;
	const char *meaning;
} latency_words[N_ALL_LATENCIES] = {
	[LATENCY_TOTAL] = { "total", "total", "total latency" },
	[LATENCY_ISSUE] = { "issue", "issue", "issue latency" },
	[LATENCY_XLAT] = { "translation", "translation", "translation latency" },
	[LATENCY_EXECUTION] = { "execution", "execution",
				"execution latency (total - issue - translation)" },
	[LATENCY_ACCESS] = { "access", "execution + translation",
			     "execution and translation latency (total - issue)" },
	[LATENCY_INSTRUCTION] = { "instruction", "instruction",
				  "second part of the samples' weight" },
	[LATENCY_STAGE] = { "stage", "stage", "third part of the samples' weight" },
};

/* The columns of each latency. */
enum figure { FIGURE_MEAN, FIGURE_P50, FIGURE_P90, FIGURE_P99, FIGURE_MAX, FIGURE_NS, N_FIGURES };
static const struct {
	const char *name, *unit;
	double quantile;
} figures[N_FIGURES] = {
	[FIGURE_MEAN] = { "mean", "cycles", 0 }, [FIGURE_P50] = { "p50", "cycles", 0.5 },
	[FIGURE_P90] = { "p90", "cycles", 0.9 }, [FIGURE_P99] = { "p99", "cycles", 0.99 },
	[FIGURE_MAX] = { "max", "cycles", 1.0 }, [FIGURE_NS] = { "mean", "ns", 0 },
};

/* A table being made. */
struct making {
	const struct mem_rows *rows;
	const struct mem_view *view;
	struct table *out;
	struct column list[MAX_COLUMNS];
	size_t n;
	size_t first_key, first_sum, first_latency, first_slice;
	int n_latencies;
	struct spe_interval_range range; /* of samples: not known */
};

static void mem_table_add_column(struct making *m, const struct column *column)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->list[i].name, column->name) == 0)
			return;
	m->list[m->n++] = *column;
}

/* Text has room for the total in full, and for the mean of the others. */
static bool is_for_text(enum latency latency, enum figure figure)
{
	if (latency == LATENCY_TOTAL)
		return figure <= FIGURE_P90;
	return latency != LATENCY_ACCESS && figure == FIGURE_MEAN;
}

static void add_latency_columns(struct making *m)
{
	m->first_latency = m->n;
	for (int l = 0; l < m->n_latencies; l++)
		for (int f = 0; f < N_FIGURES; f++) {
			struct table *t = m->out;
			const char *name = latency_words[l].name, *figure = figures[f].name;
			bool is_shown = is_for_text((enum latency)l, (enum figure)f);

			m->list[m->n++] = (struct column){
				.name = table_format(t, "%s_%s_%s", name, figure, figures[f].unit),
				.title = l == LATENCY_TOTAL && f != FIGURE_MEAN
						 ? figure
						 : latency_words[l].title,
				.unit = figures[f].unit,
				.type = CELL_NUMBER,
				.flags = COLUMN_TRUST | (is_shown ? 0 : COLUMN_MACHINE_ONLY),
				.meaning = table_format(t, "%s of the %s", figure,
							latency_words[l].meaning),
			};
		}
}

static void add_slice_columns(struct making *m)
{
	uint32_t n = m->rows->mem->session->slices.n;

	m->first_slice = m->n;
	for (uint32_t i = 0; i < n; i++)
		m->list[m->n++] = (struct column){
			.name = table_format(m->out, "slice_%u", i),
			.unit = "samples",
			.type = CELL_COUNT,
			.flags = COLUMN_MACHINE_ONLY,
			.meaning = "records in this slice of time",
		};
}

static void mem_table_start(struct making *m)
{
	const struct keys *by = m->rows->by;
	struct column *kept;

	mem_table_add_column(m, &kind_column);
	m->first_key = m->n;
	for (size_t i = 0; i < by->n; i++)
		for (size_t c = 0; c < key_classes[by->keys[i]].n_columns; c++) {
			struct column column = key_classes[by->keys[i]].columns[c];

			column.flags &= ~(unsigned)COLUMN_SOURCE; /* of stores nobody expects one */
			mem_table_add_column(m, &column);
		}
	m->first_sum = m->n;
	for (int i = 0; i <= SUM_TIME; i++)
		m->list[m->n++] = sum_columns[i];
	add_latency_columns(m);
	for (int i = SUM_TIME + 1; i < N_SUMS; i++)
		m->list[m->n++] = sum_columns[i];
	add_slice_columns(m);
	kept = arena_alloc(&m->out->memory, m->n * sizeof(*kept));
	memcpy(kept, m->list, m->n * sizeof(*kept));
	m->out->columns = kept;
	m->out->n_columns = m->n;
}

static struct cell *sum_cell(const struct making *m, struct cell *row, enum sum_column column)
{
	if (column <= SUM_TIME)
		return &row[m->first_sum + column];
	return &row[m->first_latency + (size_t)m->n_latencies * N_FIGURES + column - SUM_TIME - 1];
}

static struct cell number_or_none(double v)
{
	return isnan(v) ? (struct cell){ 0 } : cell_number(v);
}

struct cell mem_mean_cell(const struct latency_sum *sum, double factor)
{
	struct cell cell = number_or_none(latency_mean(sum) * factor);

	return sum->n_full > 0 ? cell_marked(cell, MARK_SATURATED) : cell;
}

struct cell mem_rate_cell(const struct session *s, uint64_t bytes, uint64_t n, uint64_t length_ns)
{
	if (length_ns == 0 || spe_filters_thin(s))
		return (struct cell){ 0 };
	return estimate_amount_cell(cell_number((double)bytes / (double)length_ns * 1e9), n,
				    &s->lost);
}

static struct cell quantile_cell(const struct histogram *h, double q)
{
	bool is_full;
	struct cell cell = number_or_none(histogram_quantile(h, q, &is_full));

	return is_full ? cell_marked(cell, MARK_SATURATED) : cell;
}

static void show_latencies(const struct making *m, const struct mem_row *r, struct cell *row)
{
	const struct core_clock *clock = m->view->clock;
	struct cell *cell = row + m->first_latency;

	for (int l = 0; l < m->n_latencies; l++) {
		const struct latency_sum *sum = &r->cost.sums[l];
		/* Of what a difference with a full counter is, only a part is known. */
		bool is_cut = (l == LATENCY_EXECUTION || l == LATENCY_ACCESS) && sum->n_full > 0;

		for (int f = 0; f < N_FIGURES; f++, cell++) {
			if (f == FIGURE_MEAN)
				*cell = mem_mean_cell(sum, 1);
			else if (f != FIGURE_NS)
				*cell = quantile_cell(mem_row_histogram(r, (enum latency)l),
						      figures[f].quantile);
			else if (clock->hz > 0)
				*cell = mem_mean_cell(sum, 1e9 / clock->hz);
			if (is_cut && cell->type != CELL_NONE)
				*cell = sum->n == 0 ? (struct cell){ 0 }
						    : cell_marked(*cell, MARK_SATURATED);
		}
	}
}

static void mem_table_show_estimates(const struct making *m, const struct mem_row *r,
				     struct cell *row)
{
	const struct session *s = m->rows->mem->session;
	const struct mem_cost *c = &r->cost;
	struct estimate e;

	if (m->range.longest == 0)
		return;
	e = estimate_of(c->n, c->operations, &m->range);
	*sum_cell(m, row, SUM_ESTIMATED) = estimate_cell(&e);
	*sum_cell(m, row, SUM_ESTIMATED_LOW) = cell_number(e.low);
	*sum_cell(m, row, SUM_ESTIMATED_HIGH) = estimate_high_cell(&e);
	if (r->n_sized == 0)
		return;
	*sum_cell(m, row, SUM_BYTES) =
		estimate_amount_cell(cell_count(r->bytes), r->n_sized, &m->range.lost);
	*sum_cell(m, row, SUM_RATE) = mem_rate_cell(
		s, r->bytes, r->n_sized,
		keys_have_time(m->rows->by) ? s->slices.width_ns : m->view->length_ns);
}

/* What callers have of SPE records is an estimate. */
static struct cell mark_share(const struct making *m, struct cell cell)
{
	bool is_estimate = keys_have(m->rows->by, KEY_CALLER) && !m->rows->mem->is_sampled;

	return is_estimate && cell.mark == MARK_EXACT ? cell_marked(cell, MARK_SCALED) : cell;
}

static void show_sums(const struct making *m, enum memory_kind kind, const struct mem_row *r,
		      struct cell *row)
{
	const struct mem_cost *c = &r->cost, *all = &m->rows->kinds[kind];
	const struct latency_sum *total = &c->sums[LATENCY_TOTAL];

	*sum_cell(m, row, SUM_SAMPLES) = cell_count(c->n);
	*sum_cell(m, row, SUM_SHARE) = mark_share(m, cell_sparse(cell_ratio(c->n, all->n), c->n));
	*sum_cell(m, row, SUM_LATENCY_SHARE) = mark_share(
		m, cell_latency_share((struct latency_amount){ mem_weight(c), c->full_cycles },
				      (struct latency_amount){ mem_weight(all), all->full_cycles },
				      c->n));
	*sum_cell(m, row, SUM_SATURATED) =
		cell_ratio(total->n_full, (uint64_t)total->n + total->n_full);
	*sum_cell(m, row, SUM_WALKS) =
		cell_ratio(c->n_walks, m->rows->mem->is_sampled ? c->n_translated : c->n);
	*sum_cell(m, row, SUM_WALK_MEAN) = mem_mean_cell(&c->walk, 1);
	if (!m->rows->mem->is_sampled)
		*sum_cell(m, row, SUM_SIZED) = cell_ratio(r->n_sized, c->n);
	mem_table_show_estimates(m, r, row);
}

static void show_keys(const struct making *m, const uint64_t *words, struct cell *row)
{
	for (size_t i = 0; i < m->rows->by->n; i++) {
		const struct key_class *class = &key_classes[m->rows->by->keys[i]];
		struct cell cells[KEY_MAX_COLUMNS] = { 0 };

		class->show(m->rows->names, words, m->out, cells);
		for (size_t c = 0; c < class->n_columns; c++)
			row[table_column(m->out, class->columns[c].name)] = cells[c];
		words += class->n_words;
	}
}

static void show_slices(const struct making *m, uint32_t number, struct cell *row)
{
	uint32_t n = m->rows->mem->session->slices.n;
	const uint64_t *amounts;

	if (n == 0)
		return;
	amounts = m->rows->slices.items + (size_t)m->rows->index[number] * n;
	for (uint32_t i = 0; i < n; i++)
		row[m->first_slice + i] = cell_count(amounts[i]);
	*sum_cell(m, row, SUM_TIME) = cell_text(slices_spark(m->out, amounts, n));
}

static void mem_table_show_row(const struct making *m, uint32_t number)
{
	const uint64_t *words = tuples_get(&m->rows->keys, number);
	const struct mem_row *r = mem_rows_at(m->rows, number);
	struct cell *row = table_add_row(m->out);

	row[0] = cell_text(memory_kind_name((enum memory_kind)words[0]));
	show_keys(m, words + 1, row);
	show_sums(m, (enum memory_kind)words[0], r, row);
	show_latencies(m, r, row);
	show_slices(m, number, row);
}

int mem_table(const struct mem_rows *rows, const struct mem_view *view, struct table *out,
	      struct err *err)
{
	struct making m = {
		.rows = rows,
		.view = view,
		.out = out,
		.n_latencies = rows->mem->is_sampled ? N_ALL_LATENCIES : N_LATENCIES,
	};

	if (!rows->mem->is_sampled)
		m.range = spe_interval_range(rows->mem->session);
	table_init(out, view->name, view->title, &kind_column, 1);
	mem_table_start(&m);
	spe_filters_name_estimates(rows->mem->session, out);
	for (uint32_t i = 0; i < rows->n_shown; i++)
		mem_table_show_row(&m, rows->shown[i]);
	if (rows->n_left_out > 0)
		table_note(out, "%" PRIu32 " more; --all shows them", rows->n_left_out);
	return table_sort_by(out, view->sort, view->top, err);
}
