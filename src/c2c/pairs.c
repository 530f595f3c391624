/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contention by pairs of functions: whose loads wait for whose stores. Who made a load wait is not in
 * its record; it is divided among the sampled stores of other threads to the line, as for a verdict.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bisect.h"
#include "base/pool.h"
#include "base/tuples.h"
#include "c2c/accesses/cost.h"
#include "c2c/tables.h"

enum pair_column {
	PAIR_WRITER,
	PAIR_READER,
	PAIR_LOADS,
	PAIR_SHARE,
	PAIR_FINDING,
	PAIR_WRITER_MODULE,
	PAIR_READER_MODULE,
	PAIR_N_COLUMNS,
};

static const struct column columns[PAIR_N_COLUMNS] = {
	[PAIR_WRITER] = { "writer", NULL, "", CELL_TEXT, COLUMN_GROW, "function that stores" },
	[PAIR_READER] = { "reader", NULL, "", CELL_TEXT, COLUMN_GROW,
			  "function of another thread whose loads wait for these stores" },
	[PAIR_LOADS] = { "loads", "loads waited", "loads", CELL_NUMBER, 0,
			 "sampled loads that waited, divided among the stores of other threads" },
	[PAIR_SHARE] = { "share", NULL, "", CELL_NUMBER, COLUMN_SHARE,
			 "part of the latency of all sampled loads" },
	[PAIR_FINDING] = { "finding", "#", "", CELL_COUNT, 0, "number of the finding" },
	[PAIR_WRITER_MODULE] = { "writer_module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				 "module of the writer" },
	[PAIR_READER_MODULE] = { "reader_module", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
				 "module of the reader" },
};

/* A function of a thread on a line. */
struct actor {
	uint64_t thread; /* process << 32 | tid */
	uint32_t function;
	double n, cycles; /* stores; or loads that waited, and their excess */
};

/* A pair of functions. */
struct pair {
	uint32_t finding, writer, reader; /* functions by number */
	double loads, cycles;
};

/* All actors of a function on a line: items[first … first + n - 1] of a list. */
struct actors {
	size_t first, n;
	double loads, cycles; /* no pair with it has more than that times the other's `loads` */
};

/* A line of a finding. */
struct pair_line {
	uint32_t finding, subject;
	bool is_alone; /* it is the only line of its finding, */
	bool is_last;  /* or the last one */
};

/* What a line's pairs are made of. */
struct line_actors {
	VEC_OF(struct actor) writers, readers;
	struct tuples threads; /* that write to the line … */
	VEC_OF(double) stores; /* … by number, their stores */
	double n_stores;
	VEC_OF(struct actors) writing, reading; /* its functions, what may be most first */
};

struct pairing {
	const struct c2c *s;
	size_t top;			/* pairs that are wanted; 0: all */
	VEC_OF(struct pair_line) lines; /* in order of findings */
	uint32_t *functions;		/* by place, of these lines: the number of the function */
	VEC_OF(uint32_t) places;	/* by function: one of its places */
	struct line_actors *work;	/* by line, modulo `window` */
	size_t window;
	struct tuples keys; /* (finding, writer, reader) of a cause of many lines */
	VEC_OF(struct pair) of_cause;
	VEC_OF(struct pair) list; /* the first ones so far, in order */
};

/* Functions have their numbers by where lines and accesses stand. */
static void number_functions(struct pairing *p)
{
	const struct c2c *s = p->s;
	struct tuples
		keys; /* (module, name; or a place where there is none, which is above them) */

	tuples_init(&keys, 2);
	p->functions =
		mem_zalloc((size_t)place_numbers_n(s->session->places) + 1, sizeof(*p->functions));
	for (size_t i = 0; i < p->lines.n; i++) {
		const struct c2c_subject *line = &s->subjects.items[p->lines.items[i].subject];

		for (uint32_t k = 0; k < line->n_accesses; k++) {
			uint32_t place = s->accesses.items[line->first_access + k].place;
			uint32_t name = s->names.symbols[place].function.v;

			if (p->functions[place] != 0)
				continue;
			p->functions[place] =
				1 +
				tuples_add(&keys,
					   (const uint64_t[]){
						   session_place(s->session, place).module.v,
						   name != 0 ? name : (uint64_t)1 << 32 | place });
			if (keys.n > p->places.n)
				*vec_add(&p->places) = place;
		}
	}
	tuples_release(&keys);
}

static void add_actors(const struct pairing *p, const struct c2c_access *a, struct line_actors *out)
{
	const struct c2c *s = p->s;

	for (uint32_t i = 0; i < a->n_touches; i++) {
		uint32_t number = a->first_touch + i;
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, number);
		struct c2c_latency waits = { 0 }, reloads = { 0 };
		struct c2c_counts counts = { 0 };
		struct actor actor = { .thread = (uint64_t)k.process << 32 | k.tid,
				       .function = p->functions[a->place] };

		c2c_touch_add_waits(s->accesses_seen, number, &counts, &waits, &reloads);
		c2c_latency_merge(&waits, &reloads);
		if (c2c_kind_writes(a->kind)) {
			actor.n = counts.n[C2C_RECORDS];
			*vec_add(&out->writers) = actor;
		}
		actor.n = (double)c2c_contended(&counts, s->options.mode) + reloads.n;
		actor.cycles = (double)c2c_excess(s, waits.cycles, waits.n);
		if (actor.n > 0)
			*vec_add(&out->readers) = actor;
	}
}

static int compare_actors(const void *left, const void *right)
{
	const struct actor *a = left, *b = right;

	if (a->function != b->function)
		return (a->function > b->function) - (a->function < b->function);
	return (a->thread > b->thread) - (a->thread < b->thread);
}

/* One for each function and thread. */
static size_t join_actors(struct actor *list, size_t n)
{
	size_t kept = 0;

	if (n > 1)
		qsort(list, n, sizeof(*list), compare_actors);
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && compare_actors(&list[kept - 1], &list[i]) == 0) {
			list[kept - 1].n += list[i].n;
			list[kept - 1].cycles += list[i].cycles;
		} else {
			list[kept++] = list[i];
		}
	}
	return kept;
}

static void add_pair(struct pairing *p, uint32_t finding, const struct actor *writer,
		     const struct actor *reader, double part)
{
	const uint64_t key[] = { finding, writer->function, reader->function };
	uint32_t number = tuples_add(&p->keys, key);
	struct pair *pair;

	if (number == p->of_cause.n)
		*vec_add(&p->of_cause) =
			(struct pair){ finding, writer->function, reader->function, 0, 0 };
	pair = &p->of_cause.items[number];
	pair->loads += part * reader->n;
	pair->cycles += part * reader->cycles;
}

static void find_actors(const struct pairing *p, const struct c2c_subject *subject,
			struct line_actors *out)
{
	for (uint32_t i = 0; i < subject->n_accesses; i++)
		add_actors(p, &p->s->accesses.items[subject->first_access + i], out);
	out->writers.n = join_actors(out->writers.items, out->writers.n);
	out->readers.n = join_actors(out->readers.items, out->readers.n);
	for (size_t i = 0; i < out->writers.n; i++) {
		uint32_t thread = tuples_add(&out->threads, &out->writers.items[i].thread);

		if (thread == out->stores.n)
			vec_add(&out->stores);
		out->stores.items[thread] += out->writers.items[i].n;
		out->n_stores += out->writers.items[i].n;
	}
}

/* Stores of all threads but one: whole numbers. */
static double stores_of_others(const struct line_actors *a, uint64_t thread)
{
	uint32_t number = tuples_find(&a->threads, &thread);

	return a->n_stores - (number == TUPLES_NONE ? 0 : a->stores.items[number]);
}

/* All pairs of a line. */
static void add_line_pairs(struct pairing *p, uint32_t finding, const struct line_actors *a)
{
	for (size_t i = 0; i < a->readers.n; i++) {
		const struct actor *reader = &a->readers.items[i];
		double all = stores_of_others(a, reader->thread);

		for (size_t k = 0; k < a->writers.n; k++)
			if (a->writers.items[k].thread != reader->thread)
				add_pair(p, finding, &a->writers.items[k], reader,
					 a->writers.items[k].n / all);
	}
}

static int compare_doubles(double a, double b)
{
	return (a < b) - (a > b);
}

/* What costs most first; functions have their numbers by where lines and accesses stand. */
static int compare_pairs(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;

	if (a->cycles != b->cycles)
		return compare_doubles(a->cycles, b->cycles);
	if (a->loads != b->loads)
		return compare_doubles(a->loads, b->loads);
	if (a->finding != b->finding)
		return (a->finding > b->finding) - (a->finding < b->finding);
	if (a->writer != b->writer)
		return (a->writer > b->writer) - (a->writer < b->writer);
	return (a->reader > b->reader) - (a->reader < b->reader);
}

/* Enters a pair among the first ones, if it is one. */
static void keep_pair(struct pairing *p, const struct pair *pair)
{
	size_t at = bisect(0, p->list.n, i, compare_pairs(&p->list.items[i], pair) < 0);

	if (p->list.n < p->top)
		vec_add(&p->list);
	else if (at == p->list.n)
		return;
	memmove(&p->list.items[at + 1], &p->list.items[at],
		(p->list.n - at - 1) * sizeof(*p->list.items));
	p->list.items[at] = *pair;
}

/* What may be part of the largest pairs first. */
static int compare_actors_of_function(const void *left, const void *right)
{
	const struct actors *a = left, *b = right;

	if (a->cycles != b->cycles)
		return compare_doubles(a->cycles, b->cycles);
	if (a->loads != b->loads)
		return compare_doubles(a->loads, b->loads);
	return (a->first > b->first) - (a->first < b->first);
}

static void find_functions(struct line_actors *a)
{
	struct actors *f = NULL;

	for (size_t i = 0; i < a->writers.n; i++) {
		const struct actor *w = &a->writers.items[i];

		if (i == 0 || w->function != a->writers.items[i - 1].function) {
			f = vec_add(&a->writing);
			f->first = i;
		}
		f->n++;
		f->loads += w->n;
		f->cycles += w->n;
	}
	for (size_t i = 0; i < a->readers.n; i++) {
		const struct actor *r = &a->readers.items[i];
		double all = stores_of_others(a, r->thread);

		if (i == 0 || r->function != a->readers.items[i - 1].function) {
			f = vec_add(&a->reading);
			f->first = i;
		}
		f->n++;
		f->loads += all > 0 ? r->n / all : 0;
		f->cycles += all > 0 ? r->cycles / all : 0;
	}
	if (a->writing.n > 1)
		qsort(a->writing.items, a->writing.n, sizeof(*a->writing.items),
		      compare_actors_of_function);
	if (a->reading.n > 1)
		qsort(a->reading.items, a->reading.n, sizeof(*a->reading.items),
		      compare_actors_of_function);
}

/* Can it not be one of the first ones? */
static bool is_too_little(const struct pairing *p, const struct actors *writing,
			  const struct actors *reading)
{
	const double rounding = 1 + 1e-9;
	double cycles = writing->cycles * reading->cycles * rounding;
	double loads = writing->loads * reading->loads * rounding;
	const struct pair *last;

	if (p->list.n < p->top)
		return false;
	last = &p->list.items[p->list.n - 1];
	return cycles < last->cycles || (cycles == 0 && last->cycles == 0 && loads < last->loads);
}

static void add_function_pair(struct pairing *p, uint32_t finding, const struct line_actors *a,
			      const struct actors *writing, const struct actors *reading)
{
	const struct actor *writers = &a->writers.items[writing->first];
	const struct actor *readers = &a->readers.items[reading->first];
	struct pair pair = { finding, writers->function, readers->function, 0, 0 };
	bool is_any = false;

	for (size_t i = 0; i < reading->n; i++) {
		double all = stores_of_others(a, readers[i].thread);

		for (size_t k = 0; k < writing->n; k++) {
			if (writers[k].thread == readers[i].thread)
				continue;
			pair.loads += writers[k].n / all * readers[i].n;
			pair.cycles += writers[k].n / all * readers[i].cycles;
			is_any = true;
		}
	}
	if (is_any)
		keep_pair(p, &pair);
}

/*
 * The first pairs of a line: where each instruction is a function, as of a program that is not there, all
 * of them are a square of what is done to the line.
 */
static void add_first_pairs(struct pairing *p, uint32_t finding, const struct line_actors *a)
{
	for (size_t i = 0; i < a->reading.n; i++)
		for (size_t k = 0; k < a->writing.n; k++) {
			if (is_too_little(p, &a->writing.items[k], &a->reading.items[i])) {
				if (k == 0)
					return;
				break;
			}
			add_function_pair(p, finding, a, &a->writing.items[k],
					  &a->reading.items[i]);
		}
}

static bool wants_first_pairs(const struct pairing *p, const struct pair_line *line)
{
	return p->top > 0 && line->is_alone;
}

static void work_out_line(void *context, size_t number, unsigned worker)
{
	struct pairing *p = context;
	const struct pair_line *line = &p->lines.items[number];
	struct line_actors *a = &p->work[number % p->window];

	(void)worker;
	*a = (struct line_actors){ 0 };
	tuples_init(&a->threads, 1);
	find_actors(p, &p->s->subjects.items[line->subject], a);
	if (wants_first_pairs(p, line))
		find_functions(a);
}

static void keep_pairs_of_cause(struct pairing *p)
{
	for (size_t i = 0; i < p->of_cause.n; i++)
		keep_pair(p, &p->of_cause.items[i]);
	p->of_cause.n = 0;
	tuples_reset(&p->keys);
}

static void add_line(void *context, size_t number, unsigned worker)
{
	struct pairing *p = context;
	const struct pair_line *line = &p->lines.items[number];
	struct line_actors *a = &p->work[number % p->window];

	(void)worker;
	if (wants_first_pairs(p, line))
		add_first_pairs(p, line->finding, a);
	else
		add_line_pairs(p, line->finding, a);
	if (p->top > 0 && line->is_last)
		keep_pairs_of_cause(p);
	tuples_release(&a->threads);
	vec_release(&a->writers);
	vec_release(&a->readers);
	vec_release(&a->stores);
	vec_release(&a->writing);
	vec_release(&a->reading);
}

static void list_lines(struct pairing *p, const struct c2c_cause *cause)
{
	for (size_t k = 0; cause->finding != 0 && k < cause->lines.n; k++)
		*vec_add(&p->lines) = (struct pair_line){ .finding = cause->finding,
							  .subject = cause->lines.items[k],
							  .is_alone = cause->lines.n == 1,
							  .is_last = k + 1 == cause->lines.n };
}

static const char *module_of(const struct c2c *s, uint32_t place)
{
	return names_module(s->session, session_place(s->session, place).module);
}

static void add_pair_row(const struct pairing *p, const struct pair *pair, struct table *t)
{
	const struct c2c *s = p->s;
	uint32_t writer = p->places.items[pair->writer - 1],
		 reader = p->places.items[pair->reader - 1];
	struct cell *row = table_add_row(t);

	row[PAIR_WRITER] = table_text_cell(t, names_function(&s->names, writer));
	row[PAIR_READER] = table_text_cell(t, names_function(&s->names, reader));
	row[PAIR_LOADS] = cell_number(pair->loads);
	if (s->lines->loads.cycles > 0)
		row[PAIR_SHARE] = cell_number(pair->cycles / (double)s->lines->loads.cycles);
	row[PAIR_FINDING] = cell_count(pair->finding);
	row[PAIR_WRITER_MODULE] = table_text_cell(t, module_of(s, writer));
	row[PAIR_READER_MODULE] = table_text_cell(t, module_of(s, reader));
}

/* Who does what on a line is found by all workers; pairs are made of it in order of the findings. */
void c2c_pairs_table(const struct c2c *s, const struct c2c_labels *labels, struct table *out)
{
	struct pairing p = { .s = s,
			     .top = s->request.top,
			     .window = 2 * (size_t)pool_size(s->session->pool) };

	table_init(out, "pairs", "Functions whose stores make others wait", columns,
		   COUNT(columns));
	tuples_init(&p.keys, 3);
	for (size_t i = 0; i < labels->causes->list.n; i++)
		list_lines(&p, &labels->causes->list.items[i]);
	number_functions(&p);
	p.work = mem_zalloc(p.window, sizeof(*p.work));
	pool_run_ordered(s->session->pool, p.lines.n, p.window, work_out_line, add_line, &p);
	if (p.of_cause.n > 1)
		qsort(p.of_cause.items, p.of_cause.n, sizeof(*p.of_cause.items), compare_pairs);
	for (size_t i = 0; i < p.list.n; i++)
		add_pair_row(&p, &p.list.items[i], out);
	for (size_t i = 0; i < p.of_cause.n; i++)
		add_pair_row(&p, &p.of_cause.items[i], out);
	tuples_release(&p.keys);
	free(p.work);
	free(p.functions);
	vec_release(&p.lines);
	vec_release(&p.places);
	vec_release(&p.of_cause);
	vec_release(&p.list);
}
