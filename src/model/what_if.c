/* SPDX-License-Identifier: Apache-2.0 */
#include "model/what_if.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/functions.h"
#include "model/what_if_list.h"

/* A resource that gains less than this share of the cycles is not named as a cause. */
#define LEAST_GAIN 0.05

/* Functions that gain less than this share of all cycles have no row. */
#define LEAST_FUNCTION_GAIN 0.005

enum { IDEAL_NAME, IDEAL_TITLE, IDEAL_CYCLES, IDEAL_CPU_CYCLES, IDEAL_GAIN, IDEAL_WHERE };

static const struct column ideal_columns[] = {
	[IDEAL_NAME] = { "name", NULL, "", CELL_TEXT, 0, "what --what-if calls it" },
	[IDEAL_TITLE] = { "title", "if this were perfect", "", CELL_TEXT, 0,
			  "what would be perfect" },
	[IDEAL_CYCLES] = { "cycles", NULL, "cycles", CELL_COUNT, 0,
			   "modelled cycles from the beginning to the end of the program" },
	[IDEAL_CPU_CYCLES] = { "cpu_cycles", NULL, "cycles", CELL_COUNT, COLUMN_MACHINE_ONLY,
			       "modelled cycles in which a CPU ran, of all CPUs" },
	[IDEAL_GAIN] = { "gain", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_BLANK,
			 "part of the cycles as it is that would be saved; negative: lost" },
	[IDEAL_WHERE] = { "functions", "mostly in", "", CELL_TEXT, COLUMN_GROW | COLUMN_BLANK,
			  "functions with most of the gain" },
};

enum { FUNCTION_NAME, FUNCTION_IDEAL, FUNCTION_NOW, FUNCTION_THEN, FUNCTION_GAIN, FUNCTION_MODULE };

static const struct column function_columns[] = {
	[FUNCTION_NAME] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW, "function" },
	[FUNCTION_IDEAL] = { "name", "if this were perfect", "", CELL_TEXT, 0,
			     "what --what-if calls it" },
	[FUNCTION_NOW] = { "cycles_now", "self now", "cycles", CELL_COUNT, 0,
			   "modelled self cycles as it is" },
	[FUNCTION_THEN] = { "cycles", "then", "cycles", CELL_COUNT, 0,
			    "modelled self cycles with that perfect" },
	[FUNCTION_GAIN] = { "gain", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			    "part of all cycles of the program that would be saved here" },
	[FUNCTION_MODULE] = { "module", NULL, "", CELL_TEXT, 0, "file that the function is in" },
};

/* The cycles of a function as it is, and in a run with an idealisation. */
struct effect {
	uint32_t function; /* index into model_functions.list */
	uint64_t now, then;
};

struct effects {
	VEC_OF(struct effect) list;
};

static double gain_of(uint64_t now, uint64_t then, uint64_t all)
{
	return all > 0 ? ((double)now - (double)then) / (double)all : 0;
}

/* Larger gains first, then by index. */
static int compare_effects(const void *a, const void *b)
{
	const struct effect *x = a, *y = b;
	int64_t of_x = (int64_t)(x->now - x->then), of_y = (int64_t)(y->now - y->then);

	if (of_x != of_y)
		return of_x > of_y ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void sum_by_function(const struct gains *g, const struct model_functions *f,
			    const struct gains_run *run, struct effects *out)
{
	out->list.n = 0;
	for (uint32_t i = 0; i < f->list.n; i++)
		*vec_add(&out->list) = (struct effect){ .function = i };
	for (uint32_t b = 0; b < f->of_block.n; b++) {
		struct effect *e = &out->list.items[f->of_block.items[b]];

		e->now += gains_block(&g->runs.items[0], b);
		e->then += gains_block(run, b);
	}
	if (out->list.n > 0)
		qsort(out->list.items, out->list.n, sizeof(*out->list.items), compare_effects);
}

/* Names at most two functions: each has a fifth of the gain, and they stop at four fifths. */
static struct cell name_top_functions(struct table *t, const struct effects *effects,
				      const struct model_functions *f, uint64_t gain)
{
	enum { MOST = 2 };
	struct text names = { 0 };
	uint64_t sum = 0;
	struct cell cell;

	for (size_t i = 0; i < effects->list.n && i < MOST && 5 * sum < 4 * gain; i++) {
		const struct effect *e = &effects->list.items[i];

		if (e->then >= e->now || 5 * (e->now - e->then) < gain)
			break;
		sum += e->now - e->then;
		text_format(&names, "%s%s", i > 0 ? ", " : "",
			    model_function_label(&f->list.items[e->function]));
	}
	text_char(&names, '\0');
	cell = table_text_cell(t, names.bytes);
	text_release(&names);
	return cell;
}

static void add_function_rows(struct table *t, const struct gains_run *run,
			      const struct effects *effects, const struct model_functions *f,
			      uint64_t all)
{
	for (size_t i = 0; i < effects->list.n; i++) {
		const struct effect *e = &effects->list.items[i];
		const struct model_function *function = &f->list.items[e->function];
		double gain = gain_of(e->now, e->then, all);
		struct cell *row;

		if (gain < LEAST_FUNCTION_GAIN && gain > -LEAST_FUNCTION_GAIN)
			continue;
		row = table_add_row(t);
		row[FUNCTION_NAME] =
			table_text_cell(t, function->name != NULL ? function->name : "[unknown]");
		row[FUNCTION_IDEAL] = table_text_cell(t, run->name);
		row[FUNCTION_NOW] = cell_count(e->now);
		row[FUNCTION_THEN] = cell_count(e->then);
		row[FUNCTION_GAIN] = cell_number(gain);
		row[FUNCTION_MODULE] = table_text_cell(t, function->module);
	}
}

static void set_ideal_name(struct table *t, const struct gains_run *run, struct cell *row)
{
	struct text title = { 0 };

	what_if_title(run->bits, &title);
	text_char(&title, '\0');
	row[IDEAL_NAME] = table_text_cell(t, run->name);
	row[IDEAL_TITLE] = run->bits != 0 ? table_text_cell(t, title.bytes) : cell_text("now");
	text_release(&title);
}

static void add_ideal_row(struct what_if *w, const struct gains *g, const struct gains_run *run,
			  const struct model_functions *f, struct effects *effects)
{
	const struct gains_run *now = &g->runs.items[0];
	struct cell *row = table_add_row(&w->ideals);

	set_ideal_name(&w->ideals, run, row);
	row[IDEAL_CYCLES] = cell_count(run->cycles);
	row[IDEAL_CPU_CYCLES] = cell_count(run->cpu_cycles);
	if (run == now)
		return;
	sum_by_function(g, f, run, effects);
	row[IDEAL_GAIN] = cell_number(gain_of(now->cycles, run->cycles, now->cycles));
	if (gain_of(now->cpu_cycles, run->cpu_cycles, now->cpu_cycles) >= LEAST_FUNCTION_GAIN)
		row[IDEAL_WHERE] = name_top_functions(&w->ideals, effects, f,
						      now->cpu_cycles - run->cpu_cycles);
	add_function_rows(&w->functions, run, effects, f, now->cpu_cycles);
}

/* Notes on all runs together: is the core the limit, does anything gain, do gains add up? */
static void add_what_if_notes(struct table *t, const struct gains *g)
{
	const struct gains_run *now = &g->runs.items[0];
	bool limits = false, causes = false;

	for (size_t i = 1; i < g->runs.n; i++) {
		const struct gains_run *run = &g->runs.items[i];
		bool gains = gain_of(now->cycles, run->cycles, now->cycles) >= LEAST_GAIN;

		limits |= gains && what_if_is_core_limit(run->bits);
		causes |= gains && !what_if_is_core_limit(run->bits);
	}
	if (limits && !causes)
		table_note(t,
			   "only limits of the core gain 5 %% or more: the program would have to "
			   "execute fewer instructions, such as vectors");
	if (!limits && !causes)
		table_note(t, "nothing of this gains 5 %% or more");
	if (causes)
		table_note(t, "gains do not add up: one wait may have several causes");
}

void what_if_make(const struct gains *g, struct session *s, size_t top, struct what_if *out)
{
	struct model_functions functions = { 0 };
	struct effects effects = { 0 };

	table_init(&out->ideals, "what_if", "What if", ideal_columns, COUNT(ideal_columns));
	table_init(&out->functions, "what_if_functions", "Functions that gain", function_columns,
		   COUNT(function_columns));
	model_functions_init(&functions, s, &g->pcs);
	for (size_t i = 0; i < g->runs.n; i++)
		add_ideal_row(out, g, &g->runs.items[i], &functions, &effects);
	table_sort(&out->ideals, IDEAL_GAIN, false);
	table_sort(&out->functions, FUNCTION_GAIN, false);
	table_show_top(&out->functions, top);
	add_what_if_notes(&out->ideals, g);
	*vec_add(&out->shown.list) = &out->ideals;
	if (table_n_rows(&out->functions) > 0)
		*vec_add(&out->shown.list) = &out->functions;
	vec_release(&effects.list);
	model_functions_release(&functions);
}

/* The run in which `ideal` is perfect in all code, or else in this function; NULL: there is none. */
static const struct gains_run *find_run(const struct gains *g, const char *ideal,
					const char *function)
{
	const struct gains_run *run = gains_find(g, ideal);
	struct text name = { 0 };

	if (run == NULL) {
		text_format(&name, "%s@%s", ideal, function);
		text_char(&name, '\0');
		run = gains_find(g, name.bytes);
		text_release(&name);
	}
	return run;
}

double what_if_function_gain(const struct gains *g, struct session *s, const char *ideal,
			     const char *function, const char *module)
{
	const struct gains_run *run = find_run(g, ideal, function);
	struct model_functions functions = { 0 };
	struct effects effects = { 0 };
	double gain = NAN;

	if (run == NULL)
		return NAN;
	model_functions_init(&functions, s, &g->pcs);
	sum_by_function(g, &functions, run, &effects);
	for (size_t i = 0; i < effects.list.n; i++) {
		const struct effect *e = &effects.list.items[i];
		const struct model_function *f = &functions.list.items[e->function];

		if (f->name != NULL && f->module != NULL && strcmp(f->name, function) == 0 &&
		    strcmp(f->module, module) == 0)
			gain = gain_of(e->now, e->then, g->runs.items[0].cpu_cycles);
	}
	vec_release(&effects.list);
	model_functions_release(&functions);
	return gain;
}

void what_if_release(struct what_if *w)
{
	table_release(&w->ideals);
	table_release(&w->functions);
	vec_release(&w->shown.list);
}
