/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/arguments/loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "estimate/shares.h"
#include "session/slices.h"

#define NO_LOOP UINT32_MAX

uint64_t counted_loop_trips(const struct counted_loop *l, uint64_t bits)
{
	uint64_t limit = argument_value(&l->limit, bits), distance = limit - l->start;
	bool is_below = l->limit.kind == PARAMETER_SIGNED ? (int64_t)limit < (int64_t)l->start
							  : limit < l->start;

	if (is_below || (distance == 0 && !l->includes_limit))
		return 1;
	return l->includes_limit ? distance / l->step + 2
				 : distance / l->step + (distance % l->step != 0) + 1;
}

static void *trips_new(const struct session *s, const void *options)
{
	struct loop_trips *t = mem_zalloc(1, sizeof(*t));

	t->session = s;
	t->request = options;
	tuples_init(&t->keys, 2);
	return t;
}

static void trips_free(void *partial)
{
	struct loop_trips *t = partial;

	if (t == NULL)
		return;
	tuples_release(&t->keys);
	vec_release(&t->n);
	vec_release(&t->loop_of);
	free(t);
}

static void add_trips(struct loop_trips *t, const uint64_t *key, uint64_t n)
{
	uint32_t number = tuples_add(&t->keys, key);

	if (number == t->n.n)
		vec_add(&t->n);
	t->n.items[number] += n;
}

/* The loop of a place; NO_LOOP: none. */
static uint32_t find_loop(struct loop_trips *t, uint32_t place)
{
	struct place where = session_place(t->session, place);
	const struct counted_loops *loops = t->request->loops;
	uint32_t site;

	while (t->loop_of.n <= place)
		vec_add(&t->loop_of);
	if (t->loop_of.items[place] == 0) {
		site = tuples_find(&loops->places, (uint64_t[2]){ where.module.v, where.offset });
		t->loop_of.items[place] =
			site == TUPLES_NONE ? NO_LOOP : loops->loop_of.items[site] + 1;
	}
	return t->loop_of.items[place] == NO_LOOP ? NO_LOOP : t->loop_of.items[place] - 1;
}

static void trips_consume(void *partial, const struct batch *b)
{
	struct loop_trips *t = partial;
	int event = t->request->event;

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t row = 0; row < b->n; row++) {
		const struct counted_loop *loop;
		uint32_t number;
		uint64_t bits;

		if (!(b->has[row] & HAS_REGISTERS) || !(b->has[row] & HAS_PLACE) ||
		    (event >= 0 && b->event[row] != (unsigned)event))
			continue;
		number = find_loop(t, b->place[row]);
		if (number == NO_LOOP)
			continue;
		loop = &t->request->loops->list.items[number];
		if (batch_register(b, b->registers[row], b->register_mask[row], loop->limit.number,
				   &bits))
			add_trips(t, (uint64_t[2]){ number, counted_loop_trips(loop, bits) }, 1);
	}
}

static void trips_merge(void *into, const void *from, const struct id_map *map)
{
	const struct loop_trips *part = from;

	(void)map;
	for (uint32_t i = 0; i < part->keys.n; i++)
		add_trips(into, tuples_get(&part->keys, i), part->n.items[i]);
}

const struct analysis_class loop_trips_class = {
	.new = trips_new,
	.free = trips_free,
	.consume = trips_consume,
	.merge = trips_merge,
};

enum {
	LOOP_FUNCTION,
	LOOP_PLACE,
	LOOP_LIMIT,
	LOOP_SAMPLES,
	LOOP_MIN,
	LOOP_MEDIAN,
	LOOP_MEAN,
	LOOP_MAX,
	LOOP_IN_TIME,
	LOOP_VALUES,
	LOOP_MODULE,
	LOOP_FILE,
	LOOP_LINE,
	LOOP_HEAD,
	LOOP_ARGUMENT,
	LOOP_REGISTER,
	LOOP_START,
	LOOP_STEP,
	LOOP_COLUMNS
};

static const struct column columns[LOOP_COLUMNS] = {
	[LOOP_FUNCTION] = { "function", NULL, "", CELL_TEXT, COLUMN_GROW,
			    "function with the loop" },
	[LOOP_PLACE] = { "location", "line", "", CELL_TEXT, COLUMN_GROW | COLUMN_TEXT_ONLY,
			 "where the loop begins" },
	[LOOP_LIMIT] = { "limit", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY,
			 "what it counts to: the argument of the function, or a register" },
	[LOOP_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "in it, with the limit" },
	[LOOP_MIN] = { "min_trips", "min", "", CELL_COUNT, 0, "fewest iterations of a run of it" },
	[LOOP_MEDIAN] = { "p50_trips", "p50", "", CELL_COUNT, COLUMN_TRUST,
			  "half of its runs have fewer" },
	[LOOP_MEAN] = { "mean_trips", "mean", "", CELL_NUMBER, COLUMN_TRUST,
			"mean of its runs: a run of n iterations is sampled n times as often as "
			"one of 1" },
	[LOOP_MAX] = { "max_trips", "max", "", CELL_COUNT, 0, "most iterations of a run" },
	[LOOP_IN_TIME] = { "mean_trips_in_time", NULL, "", CELL_NUMBER,
			   COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			   "mean of the samples: of the run that is under way at a moment" },
	[LOOP_VALUES] = { "values", NULL, "", CELL_TEXT, COLUMN_SPARK | COLUMN_TEXT_ONLY,
			  "how runs are distributed from min to max, by powers of two" },
	[LOOP_MODULE] = { "module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "where its code is" },
	[LOOP_FILE] = { "file", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "source file" },
	[LOOP_LINE] = { "line", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY, "line in it" },
	[LOOP_HEAD] = { "head", NULL, "", CELL_HEX, COLUMN_MACHINE_ONLY,
			"offset of its first instruction in its module" },
	[LOOP_ARGUMENT] = { "argument", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			    "argument of the function that is the limit; absent: it is none, or "
			    "has no "
			    "known name" },
	[LOOP_REGISTER] = { "register", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			    "register that holds the limit" },
	[LOOP_START] = { "start", NULL, "", CELL_SIGNED, COLUMN_MACHINE_ONLY,
			 "value of the counter where it is first compared" },
	[LOOP_STEP] = { "step", NULL, "", CELL_COUNT, COLUMN_MACHINE_ONLY,
			"what an iteration adds to it" },
};

/* Iterations and how many samples had them. */
struct seen_trips {
	uint64_t trips, n;
};

struct loop_row {
	uint32_t loop;
	uint64_t n;
	VEC_OF(struct seen_trips) list; /* ascending */
};

static int compare_trips(const void *a, const void *b)
{
	const struct seen_trips *x = a, *y = b;

	return x->trips < y->trips ? -1 : x->trips > y->trips;
}

static int compare_loops(const void *a, const void *b, void *context)
{
	const struct loop_trips *t = context;
	const struct loop_row *x = a, *y = b;
	const struct counted_loop *p = &t->request->loops->list.items[x->loop];
	const struct counted_loop *q = &t->request->loops->list.items[y->loop];
	int order;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	order = strcmp(p->function != NULL ? p->function : "",
		       q->function != NULL ? q->function : "");
	if (order != 0)
		return order;
	order = strcmp(p->module, q->module);
	if (order != 0)
		return order;
	return p->head < q->head ? -1 : p->head > q->head;
}

/* Each run once: a sample of a run of n iterations is 1 / n of one. */
static void show_distribution(const struct loop_row *row, struct table *t, struct cell *cells)
{
	double runs = 0, squares = 0, part = 0, in_time = 0, bins[65] = { 0 }, most = 0;
	uint64_t bars[65] = { 0 }, worth;
	size_t first = 64, last = 0;

	for (size_t i = 0; i < row->list.n; i++) {
		double n = (double)row->list.items[i].n, trips = (double)row->list.items[i].trips;
		size_t bin = 63 - (size_t)__builtin_clzll(row->list.items[i].trips);

		runs += n / trips;
		squares += n / trips / trips;
		in_time += n * trips;
		bins[bin] += n / trips;
		first = bin < first ? bin : first;
		last = bin > last ? bin : last;
	}
	/* so many samples of equal weight would be as sure */
	worth = (uint64_t)(runs * runs / squares);
	for (size_t i = 0; i < row->list.n && cells[LOOP_MEDIAN].type == CELL_NONE; i++) {
		part += (double)row->list.items[i].n / (double)row->list.items[i].trips;
		if (part >= runs / 2)
			cells[LOOP_MEDIAN] =
				cell_sparse(cell_count(row->list.items[i].trips), worth);
	}
	for (size_t i = first; i <= last; i++)
		most = bins[i] > most ? bins[i] : most;
	for (size_t i = first; i <= last; i++)
		bars[i - first] = (uint64_t)llround(1e6 * bins[i] / most);
	cells[LOOP_MEAN] = cell_sparse(cell_number((double)row->n / runs), worth);
	cells[LOOP_IN_TIME] = cell_sparse(cell_number(in_time / (double)row->n), row->n);
	cells[LOOP_VALUES] = cell_text(slices_spark(t, bars, (uint32_t)(last - first + 1)));
}

static void show_loop(const struct loop_trips *trips, const struct loop_row *row,
		      const char *const *register_names, struct table *t)
{
	const struct counted_loop *l = &trips->request->loops->list.items[row->loop];
	struct cell *cells = table_add_row(t);
	const char *name = register_names[l->limit.number];

	cells[LOOP_FUNCTION] = cell_text(l->function != NULL ? l->function : "[unknown]");
	cells[LOOP_MODULE] = cell_text(l->module);
	if (l->file != NULL && l->line != 0) {
		cells[LOOP_FILE] = cell_text(l->file);
		cells[LOOP_LINE] = cell_count(l->line);
		cells[LOOP_PLACE] =
			cell_text(table_format(t, "%s:%u", path_base(l->file), (unsigned)l->line));
	}
	cells[LOOP_HEAD] = cell_hex(l->head);
	cells[LOOP_LIMIT] = cell_text(l->parameter != NULL ? l->parameter : name);
	if (l->parameter != NULL)
		cells[LOOP_ARGUMENT] = cell_text(l->parameter);
	cells[LOOP_REGISTER] = cell_text(name);
	cells[LOOP_START] = cell_signed((int64_t)l->start);
	cells[LOOP_STEP] = cell_count(l->step);
	cells[LOOP_SAMPLES] = cell_count(row->n);
	cells[LOOP_MIN] = cell_count(row->list.items[0].trips);
	cells[LOOP_MAX] = cell_count(row->list.items[row->list.n - 1].trips);
	show_distribution(row, t, cells);
}

void loop_trips_table(const struct loop_trips *trips, const char *const *register_names, size_t top,
		      struct table *out)
{
	size_t n = trips->request->loops->list.n, n_seen = 0;
	struct loop_row *rows = mem_zalloc(n + 1, sizeof(*rows));

	table_init(out, "loops", "Iterations of counted loops", columns, LOOP_COLUMNS);
	for (size_t i = 0; i < n; i++)
		rows[i].loop = (uint32_t)i;
	for (uint32_t i = 0; i < trips->keys.n; i++) {
		const uint64_t *key = tuples_get(&trips->keys, i);

		rows[key[0]].n += trips->n.items[i];
		*vec_add(&rows[key[0]].list) = (struct seen_trips){ key[1], trips->n.items[i] };
	}
	for (size_t i = 0; i < n; i++) {
		if (rows[i].list.n > 0)
			qsort(rows[i].list.items, rows[i].list.n, sizeof(*rows[i].list.items),
			      compare_trips);
		n_seen += rows[i].n > 0;
	}
	if (n > 1)
		qsort_r(rows, n, sizeof(*rows), compare_loops,
			(void *)(uintptr_t)(const void *)trips);
	for (size_t i = 0; i < n_seen && (top == 0 || i < top); i++)
		show_loop(trips, &rows[i], register_names, out);
	if (top > 0 && n_seen > top)
		table_note(out, "%zu more; --all shows them", n_seen - top);
	for (size_t i = 0; i < n; i++)
		vec_release(&rows[i].list);
	free(rows);
}
