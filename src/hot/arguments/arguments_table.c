/* SPDX-License-Identifier: Apache-2.0 */
/* Values of arguments as tables. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "estimate/shares.h"
#include "hot/arguments/inside.h"
#include "session/slices.h"

enum {
	MAX_BARS = 12,
};

enum value_column {
	COL_FUNCTION,
	COL_DECLARED,
	COL_ARGUMENT,
	COL_TYPE,
	COL_SAMPLES,
	COL_MIN_SHOWN,
	COL_MAX_SHOWN,
	COL_MIN,
	COL_MAX,
	COL_MEAN,
	COL_RMS,
	COL_VALUES,
	COL_MODULE,
	COL_REGISTER,
	COL_PLACE,
	COL_FILE,
	COL_LINE,
	COL_MIN_ADDRESS,
	COL_MAX_ADDRESS,
	N_VALUE_COLUMNS,
};

static const struct column value_columns[N_VALUE_COLUMNS] = {
	[COL_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW, "function called" },
	[COL_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_GROW, "where its code is" },
	[COL_DECLARED] = { "declared", "argument", "", CELL_TEXT, COLUMN_TEXT_ONLY | COLUMN_GROW,
			   "its type and name" },
	[COL_ARGUMENT] = { "argument", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			   "its name, or the register where the function's parameters are not "
			   "known" },
	[COL_TYPE] = { "type", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "its type, where known" },
	[COL_REGISTER] = { "register", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			   "register that holds it" },
	[COL_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "values seen" },
	[COL_MIN_SHOWN] = { "min_shown", "min", "", CELL_SIGNED, COLUMN_TEXT_ONLY,
			    "least value; of pointers in hexadecimal" },
	[COL_MAX_SHOWN] = { "max_shown", "max", "", CELL_SIGNED, COLUMN_TEXT_ONLY,
			    "greatest value; of pointers in hexadecimal" },
	[COL_MIN] = { "min", NULL, "", CELL_SIGNED, COLUMN_MACHINE_ONLY,
		      "least value; not of pointers" },
	[COL_MAX] = { "max", NULL, "", CELL_SIGNED, COLUMN_MACHINE_ONLY,
		      "greatest value; not of pointers" },
	[COL_MIN_ADDRESS] = { "min_address", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			      "least value of a pointer" },
	[COL_MAX_ADDRESS] = { "max_address", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			      "greatest value of a pointer" },
	[COL_MEAN] = { "mean", NULL, "", CELL_NUMBER, COLUMN_TRUST,
		       "mean of the values; not of pointers" },
	[COL_RMS] = { "rms", NULL, "", CELL_NUMBER, COLUMN_TRUST,
		      "square root of the mean of their squares; not of pointers" },
	[COL_VALUES] = { "values", NULL, "", CELL_TEXT, COLUMN_SPARK | COLUMN_TEXT_ONLY,
			 "how they are distributed from min to max: below 0, 0, then by powers of "
			 "two" },
	[COL_PLACE] = { "entry", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			"offset of the function in its module" },
	[COL_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "where it is declared" },
	[COL_LINE] = { "line", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "line in it" },
};

enum histogram_column {
	HIST_FUNCTION,
	HIST_ARGUMENT,
	HIST_FROM,
	HIST_TO,
	HIST_SHARE,
	HIST_SAMPLES,
	HIST_MODULE,
	N_HISTOGRAM_COLUMNS,
};

static const struct column histogram_columns[N_HISTOGRAM_COLUMNS] = {
	[HIST_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW, "function called" },
	[HIST_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_GROW, "where its code is" },
	[HIST_ARGUMENT] = { "argument", NULL, "", CELL_TEXT, 0, "as in the first table" },
	[HIST_FROM] = { "from", NULL, "", CELL_COUNT, 0, "least of the step; absent: below 0" },
	[HIST_TO] = { "to", "below", "", CELL_COUNT, 0,
		      "where the next step begins; absent: no end" },
	[HIST_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BAR,
			 "part of the argument's values" },
	[HIST_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "values in the step" },
};

static const char *argument_name(const struct argument_sites *sites, const struct argument *a)
{
	return a->name != NULL ? a->name : sites->registers->names[a->number];
}

/* "size_t n", "struct buf *b". */
static const char *declaration(struct table *t, const struct argument_sites *sites,
			       const struct argument *a)
{
	const char *name = argument_name(sites, a);
	size_t n = a->type == NULL ? 0 : strlen(a->type);

	if (n == 0)
		return name;
	return table_format(t, "%s%s%s", a->type, strchr("*&", a->type[n - 1]) != NULL ? "" : " ",
			    name);
}

static struct cell value_cell(const struct argument *a, uint64_t key)
{
	uint64_t value = argument_of_key(a, key);

	if (a->kind == PARAMETER_POINTER)
		return cell_hex(value);
	return a->kind == PARAMETER_SIGNED ? cell_signed((int64_t)value) : cell_count(value);
}

/* A mean over enough values to say something. */
static struct cell mean_cell(double value, uint64_t n)
{
	return cell_sparse(cell_number(value), n);
}

static double mean_square(const struct argument_sums *s)
{
	return (ldexp((double)s->squares_high, 128) + uint128_to_double(s->squares)) / (double)s->n;
}

/*
 * The distribution as a line of bars: negative values, zeros, then powers of two, or of four and
 * so on where there are many.
 */
static const char *spark(struct table *t, const struct argument_sums *s)
{
	uint64_t amounts[1 + ARGUMENT_BINS], bars[MAX_BARS] = { 0 };
	uint32_t first = UINT32_MAX, last = 0, n, in_one;

	amounts[0] = s->n_negative;
	memcpy(amounts + 1, s->bins, sizeof(s->bins));
	for (uint32_t i = 0; i < COUNT(amounts); i++) {
		if (amounts[i] == 0)
			continue;
		first = first == UINT32_MAX ? i : first;
		last = i;
	}
	n = last - first + 1;
	in_one = (n + MAX_BARS - 1) / MAX_BARS;
	for (uint32_t i = first; i <= last; i++)
		bars[(i - first) / in_one] += amounts[i];
	return slices_spark(t, bars, (n + in_one - 1) / in_one);
}

static void show_argument(const struct argument_sites *sites, const struct argument_function *f,
			  const struct argument *a, const struct argument_sums *s, struct table *t)
{
	struct cell *row = table_add_row(t);

	row[COL_FUNCTION] = cell_text(f->name);
	row[COL_MODULE] = cell_text(f->module);
	row[COL_DECLARED] = cell_text(declaration(t, sites, a));
	row[COL_ARGUMENT] = cell_text(argument_name(sites, a));
	if (a->type != NULL)
		row[COL_TYPE] = cell_text(a->type);
	row[COL_REGISTER] = cell_text(sites->registers->names[a->number]);
	row[COL_SAMPLES] = cell_count(s->n);
	row[COL_MIN_SHOWN] = value_cell(a, s->least);
	row[COL_MAX_SHOWN] = value_cell(a, s->most);
	row[a->kind == PARAMETER_POINTER ? COL_MIN_ADDRESS : COL_MIN] = row[COL_MIN_SHOWN];
	row[a->kind == PARAMETER_POINTER ? COL_MAX_ADDRESS : COL_MAX] = row[COL_MAX_SHOWN];
	if (a->kind != PARAMETER_POINTER) {
		row[COL_MEAN] = mean_cell(uint128_signed_to_double(s->sum) / (double)s->n, s->n);
		row[COL_RMS] = mean_cell(sqrt(mean_square(s)), s->n);
		row[COL_VALUES] = cell_text(spark(t, s));
	}
	row[COL_PLACE] = cell_hex(f->entry.offset);
	if (f->file != NULL)
		row[COL_FILE] = cell_text(f->file);
	if (f->line != 0)
		row[COL_LINE] = cell_count(f->line);
}

static struct cell *arguments_add_step(const struct argument_sites *sites,
				       const struct argument_function *f, const struct argument *a,
				       const struct argument_sums *s, uint64_t n, struct table *t)
{
	struct cell *row = table_add_row(t);

	row[HIST_FUNCTION] = cell_text(f->name);
	row[HIST_MODULE] = cell_text(f->module);
	row[HIST_ARGUMENT] = cell_text(argument_name(sites, a));
	row[HIST_SHARE] = cell_number((double)n / (double)s->n);
	row[HIST_SAMPLES] = cell_count(n);
	return row;
}

static void arguments_show_histogram(const struct argument_sites *sites,
				     const struct argument_function *f, const struct argument *a,
				     const struct argument_sums *s, struct table *t)
{
	if (a->kind == PARAMETER_POINTER)
		return;
	if (s->n_negative > 0)
		arguments_add_step(sites, f, a, s, s->n_negative, t)[HIST_TO] = cell_count(0);
	for (unsigned i = 0; i < ARGUMENT_BINS; i++) {
		struct cell *row;

		if (s->bins[i] == 0)
			continue;
		row = arguments_add_step(sites, f, a, s, s->bins[i], t);
		row[HIST_FROM] = cell_count(i == 0 ? 0 : (uint64_t)1 << (i - 1));
		if (i < 64)
			row[HIST_TO] = cell_count((uint64_t)1 << i);
	}
}

static int compare_functions(const void *left, const void *right, void *context)
{
	const struct argument_values *v = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct argument_function *fa = &v->sites->functions.items[a],
				       *fb = &v->sites->functions.items[b];
	int by_name;

	if (v->n_samples[a] != v->n_samples[b])
		return (v->n_samples[a] < v->n_samples[b]) - (v->n_samples[a] > v->n_samples[b]);
	by_name = strcmp(fa->name, fb->name);
	if (by_name != 0)
		return by_name;
	if (fa->entry.module.v != fb->entry.module.v)
		return (fa->entry.module.v > fb->entry.module.v) -
		       (fa->entry.module.v < fb->entry.module.v);
	return (fa->entry.offset > fb->entry.offset) - (fa->entry.offset < fb->entry.offset);
}

/* Functions with a value to show, those seen most first. Free with free(). */
static uint32_t *order_functions(const struct argument_values *v, size_t *out_n)
{
	uint32_t *order = mem_alloc(v->sites->functions.n + 1, sizeof(*order));
	size_t n = 0;

	for (uint32_t i = 0; i < v->sites->functions.n; i++) {
		const struct argument_function *f = &v->sites->functions.items[i];
		uint64_t n_values = 0;

		for (uint32_t k = f->first; k < f->first + f->n; k++)
			n_values += v->sums[k].n;
		order[n] = i;
		n += n_values > 0;
	}
	if (n > 1)
		qsort_r(order, n, sizeof(*order), compare_functions,
			(void *)(uintptr_t)(const void *)v);
	*out_n = n;
	return order;
}

static void arguments_show_function(const struct argument_values *v,
				    const struct argument_function *f, struct argument_tables *out)
{
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct argument *a = &v->sites->arguments.items[i];

		if (v->sums[i].n == 0)
			continue;
		show_argument(v->sites, f, a, &v->sums[i], &out->values);
		arguments_show_histogram(v->sites, f, a, &v->sums[i], &out->histogram);
	}
}

/* How many samples were at calls, and how to get more of them. */
static void arguments_table_add_notes(const struct argument_values *v, size_t n_left,
				      struct table *t)
{
	const struct argument_sites *sites = v->sites;
	uint64_t n_at_sites = 0;

	for (size_t i = 0; i < sites->functions.n; i++)
		n_at_sites += v->n_samples[i];
	if (n_left > 0)
		table_note(t, "%zu more function%s; --all shows them", n_left, plural(n_left));
	table_note(t,
		   "%" PRIu64 " of %" PRIu64
		   " samples with registers are at calls or function starts",
		   n_at_sites, sites->n_with_registers);
	if (n_at_sites < sites->n_with_registers / 2)
		table_note(t, "time samples miss most calls: sample calls (-e "
			      "br_inst_retired.near_call:p) or a function's address (-e "
			      "mem:ADDRESS:x), with --regs");
}

int argument_tables_fill(const struct argument_values *v, const struct argument_request *request,
			 struct argument_tables *out, struct err *err)
{
	size_t n, n_shown;
	uint32_t *order = order_functions(v, &n);
	int column;

	n_shown = request->top == 0 || request->top > n ? n : request->top;
	table_init(&out->values, "arguments", "Arguments of functions", value_columns,
		   N_VALUE_COLUMNS);
	table_init(&out->histogram, "histogram", "Distribution of the values", histogram_columns,
		   N_HISTOGRAM_COLUMNS);
	for (size_t i = 0; i < n_shown; i++)
		arguments_show_function(v, &v->sites->functions.items[order[i]], out);
	arguments_table_add_notes(v, n - n_shown, &out->values);
	free(order);
	if (request->sort != NULL) {
		column = table_sort_column(&out->values, request->sort, err);
		if (column < 0)
			return -1;
		table_sort(&out->values, (size_t)column, false);
	}
	return 0;
}
