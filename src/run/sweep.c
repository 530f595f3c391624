/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cyclops run --sweep NAME=V1,V2,…: the program once for each value of a parameter, and how fast each
 * run was beside the first, as the white paper on the Neoverse N1 looks for a prefetch distance.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "cpu/event_name.h"
#include "metrics/totals.h"
#include "run/command.h"
#include "run/steps.h"
#include "table/table.h"

enum { VALUES_MAX = 256, VALUE_LENGTH_MAX = 64 };

/* One value, and what its run came to. NAN: not known. */
struct sweep_run {
	const char *value;
	double time_ns, cycles, instructions;
	int status; /* of the program */
	bool is_scaled;
};

struct sweep {
	const char *name;
	VEC_OF(struct sweep_run) runs;
	bool is_modelled;
};

enum column_index {
	VALUE,
	TIME,
	CYCLES,
	INSTRUCTIONS,
	IPC,
	SPEED,
	STATUS,
	N_COLUMNS,
};

static const struct column columns[N_COLUMNS] = {
	[VALUE] = { "value", NULL, "", CELL_TEXT, 0, "of the parameter" },
	[TIME] = { "time_ns", "time", "ns", CELL_COUNT, 0, "from start to end" },
	[CYCLES] = { "cycles", NULL, "", CELL_COUNT, COLUMN_TRUST, "of the program" },
	[INSTRUCTIONS] = { "instructions", NULL, "", CELL_COUNT, COLUMN_TRUST, "of the program" },
	[IPC] = { "ipc", "IPC", "", CELL_NUMBER, COLUMN_TRUST, "instructions per cycle" },
	[SPEED] = { "speed", NULL, "", CELL_NUMBER, COLUMN_BAR | COLUMN_TRUST,
		    "time of the first value / time of this one; of cycles where the time is not "
		    "known" },
	[STATUS] = { "status", NULL, "", CELL_COUNT, 0, "of the program, where it is not 0" },
};

static int bad_sweep(const char *text, const char *what, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--sweep %s: %s; wanted NAME=VALUE,VALUE, such as DIST=5,10,20", text, what);
}

int run_sweep_check(const char *text, struct err *err)
{
	size_t name = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
				   "0123456789");
	size_t n = 0;

	if (name == 0 || isdigit((unsigned char)text[0]) || text[name] != '=')
		return bad_sweep(text, "there is no name of a variable", err);
	for (const char *at = text + name; *at != '\0'; n++) {
		size_t length = strcspn(++at, ",");

		if (length == 0)
			return bad_sweep(text, "a value is empty", err);
		if (length > VALUE_LENGTH_MAX || n == VALUES_MAX)
			return bad_sweep(text, "too many values, or a value is too long", err);
		at += length;
	}
	return 0;
}

static void read_values(struct run *r, struct sweep *out)
{
	const char *text = r->command->sweep;
	size_t name = strcspn(text, "=");

	out->name = arena_strndup(&r->memory, text, name);
	for (const char *at = text + name; *at != '\0';) {
		size_t length = strcspn(++at, ",");

		*vec_add(&out->runs) = (struct sweep_run){
			.value = arena_strndup(&r->memory, at, length),
			.time_ns = NAN,
			.cycles = NAN,
			.instructions = NAN,
		};
		at += length;
	}
}

/* The word with each "{NAME}" as the value. */
static char *with_value(struct run *r, const char *word, const char *name, const char *value)
{
	struct text out = { 0 };
	size_t length = strlen(name);
	char *copy;

	for (; *word != '\0'; word++) {
		if (word[0] == '{' && strncmp(word + 1, name, length) == 0 &&
		    word[length + 1] == '}') {
			text_str(&out, value);
			word += length + 1;
		} else {
			text_char(&out, *word);
		}
	}
	copy = arena_alloc(&r->memory, out.n + 1);
	if (out.n > 0)
		memcpy(copy, out.bytes, out.n);
	copy[out.n] = '\0';
	text_release(&out);
	return copy;
}

static char *const *program_with(struct run *r, char *const *program, const char *name,
				 const char *value)
{
	size_t n = 0;
	char **words;

	while (program[n] != NULL)
		n++;
	words = arena_alloc(&r->memory, (n + 1) * sizeof(*words));
	for (size_t i = 0; i < n; i++)
		words[i] = with_value(r, program[i], name, value);
	words[n] = NULL;
	return words;
}

static double total_of_event(const struct stat_totals *totals, const struct cpu_event *event,
			     bool *is_scaled)
{
	const struct stat_total *t = event == NULL ? NULL : stat_totals_find(totals, event->name);

	if (t == NULL || t->state != COUNT_COUNTED)
		return NAN;
	*is_scaled |= stat_total_mark(t, 0) != MARK_EXACT;
	return t->value;
}

static void take_counts(struct run *r, struct sweep_run *out)
{
	struct stat_totals totals = { 0 };
	double ns = counts_elapsed_ns(&r->counts);

	counts_name(&r->counts, r->pmu);
	stat_totals_init(&totals, r->counts.items.items, r->counts.items.n);
	out->cycles = total_of_event(&totals, r->pmu->cycles, &out->is_scaled);
	out->instructions = total_of_event(&totals, r->pmu->instructions, &out->is_scaled);
	if (ns > 0)
		out->time_ns = ns;
	stat_totals_release(&totals);
}

/* The files of a value: "counts.2.json" is of the second. */
static char *numbered(struct run *r, const char *begin, size_t i, const char *end)
{
	size_t size = strlen(r->folder) + strlen(begin) + strlen(end) + 32;
	char *path = mem_alloc(size, 1);

	snprintf(path, size, "%s/%s.%zu%s", r->folder, begin, i + 1, end);
	return path;
}

static const char *environment_of(struct run *r, const char *name, const char *value)
{
	size_t size = strlen(name) + strlen(value) + 2;
	char *text = arena_alloc(&r->memory, size);

	snprintf(text, size, "%s=%s", name, value);
	return text;
}

static int sweep_step(struct run *r, char *const *program, struct sweep *s, size_t i,
		      struct err *err)
{
	struct sweep_run *one = &s->runs.items[i];
	int rc;

	r->counts_path = numbered(r, "counts", i, ".json");
	r->capture_path = numbered(r, "perf", i, ".data");
	r->program = program_with(r, program, s->name, one->value);
	setenv(s->name, one->value, 1);
	r->environment = environment_of(r, s->name, one->value);
	rc = r->command->model ? run_model(r, err)
			       : run_counting(r, r->command->runs > 0 ? r->command->runs : 1, err);
	if (rc == 0)
		rc = run_read_counts(r, err);
	if (rc == 0)
		take_counts(r, one);
	one->status = r->program_status;
	s->is_modelled |= r->counts.is_modelled;
	counts_release(&r->counts);
	cpu_pmu_free(r->pmu);
	r->pmu = NULL;
	free(r->counts_path);
	free(r->capture_path);
	r->counts_path = r->capture_path = NULL;
	return rc;
}

/* By what runs are compared; the same for all of them, or their speeds would not compare. */
static double cost_of(const struct sweep *s, const struct sweep_run *run)
{
	for (size_t i = 0; i < s->runs.n; i++)
		if (isnan(s->runs.items[i].time_ns))
			return run->cycles;
	return run->time_ns;
}

static struct cell sweep_cell(double value, bool is_scaled)
{
	if (isnan(value))
		return (struct cell){ 0 };
	return cell_marked(cell_count((uint64_t)llround(value)),
			   is_scaled ? MARK_SCALED : MARK_EXACT);
}

static void put_run(const struct sweep *s, const struct sweep_run *run, struct table *t)
{
	double speed = cost_of(s, &s->runs.items[0]) / cost_of(s, run);
	struct cell *row = table_add_row(t);

	row[VALUE] = cell_text(run->value);
	row[TIME] = sweep_cell(run->time_ns, false);
	row[CYCLES] = sweep_cell(run->cycles, run->is_scaled);
	row[INSTRUCTIONS] = sweep_cell(run->instructions, run->is_scaled);
	if (run->instructions / run->cycles > 0)
		row[IPC] = cell_marked(cell_number(run->instructions / run->cycles),
				       run->is_scaled ? MARK_SCALED : MARK_EXACT);
	if (run->status != 0)
		row[STATUS] = cell_count((uint64_t)run->status);
	else if (isfinite(speed))
		row[SPEED] = cell_number(speed);
}

/* What is less is not worth a change. */
static const double least_gain = 1.01;

/* A run that failed is no fast one. */
static const struct sweep_run *fastest(const struct sweep *s)
{
	const struct sweep_run *best = NULL;

	for (size_t i = 0; i < s->runs.n; i++) {
		const struct sweep_run *run = &s->runs.items[i];

		if (run->status == 0 && cost_of(s, run) > 0 &&
		    (best == NULL || cost_of(s, run) < cost_of(s, best)))
			best = run;
	}
	return best;
}

static void sweep_table(const struct run *r, const struct sweep *s, struct table *t)
{
	const struct sweep_run *first = &s->runs.items[0], *best = fastest(s);
	double speed = best == NULL ? NAN : cost_of(s, first) / cost_of(s, best);

	table_init(t, "sweep", s->name, columns, COUNT(columns));
	for (size_t i = 0; i < s->runs.n; i++)
		put_run(s, &s->runs.items[i], t);
	if (first->status != 0)
		table_note(t, "%s=%s ended with status %d: its speed is not comparable", s->name,
			   first->value, first->status);
	else if (isfinite(speed) && speed < least_gain)
		table_note(t, "no value is %.0f %% faster than %s=%s", 100 * (least_gain - 1),
			   s->name, first->value);
	else if (isfinite(speed))
		table_note(t, "fastest: %s=%s, %.2f times as fast as %s=%s", s->name, best->value,
			   speed, s->name, first->value);
	if (s->is_modelled)
		table_note(t, "modelled: simulated counts and time, not measured");
	else if (r->command->runs < 2)
		table_note(t, "one run of each value: --runs N takes the mean of N");
}

int run_sweep(struct run *r, const struct output_options *output, struct err *err)
{
	char *const *program = r->program;
	struct sweep sweep = { 0 };
	struct tables tables = { 0 };
	struct table table = { 0 };
	struct printer out = { 0 };
	int rc = 0;

	read_values(r, &sweep);
	r->n_wanted = (unsigned)sweep.runs.n;
	if (!r->command->model && r->command->runs > 1)
		r->n_wanted *= r->command->runs;
	for (size_t i = 0; i < sweep.runs.n && rc == 0; i++)
		rc = sweep_step(r, program, &sweep, i, err);
	if (rc == 0) {
		sweep_table(r, &sweep, &table);
		*vec_add(&tables.list) = &table;
		rc = printer_open(&out, output, "text", "run", NULL, err);
	}
	if (rc == 0) {
		out.document.is_modelled = sweep.is_modelled;
		rc = printer_finish(&out, output, &tables, 0, err);
	}
	vec_release(&tables.list);
	table_release(&table);
	vec_release(&sweep.runs);
	return rc;
}
