/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contention by pairs of functions: whose loads wait for whose stores. Who made a load wait is not in
 * its record; it is divided among the sampled stores of other threads to the line, as for a verdict.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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
	[PAIR_LOADS] = { "loads", NULL, "loads", CELL_NUMBER, 0,
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

struct pairing {
	const struct c2c *s;
	struct tuples
		functions; /* (module, name; or a place where there is none, which is above them) */
	VEC_OF(uint32_t) places;	       /* by function: one of its places */
	VEC_OF(struct actor) writers, readers; /* of a line */
	struct tuples keys;		       /* (finding, writer, reader) */
	VEC_OF(struct pair) list;
};

static uint32_t pairing_function(struct pairing *p, uint32_t place)
{
	uint32_t name = p->s->names.symbols[place].function.v;
	const uint64_t key[] = { session_place(p->s->session, place).module.v,
				 name != 0 ? name : (uint64_t)1 << 32 | place };
	uint32_t number = tuples_add(&p->functions, key);

	if (number == p->places.n)
		*vec_add(&p->places) = place;
	return number;
}

static void add_actors(struct pairing *p, const struct c2c_access *a)
{
	const struct c2c *s = p->s;
	uint32_t function = pairing_function(p, a->place);

	for (uint32_t i = 0; i < a->n_touches; i++) {
		uint32_t number = s->order[a->first_touch + i];
		const struct c2c_touch *touch = &s->accesses_seen->touches.items[number];
		struct c2c_touch_key k = c2c_touch_key(s->accesses_seen, number);
		struct c2c_latency waits = touch->contended;
		struct actor actor = { .thread = (uint64_t)k.process << 32 | k.tid,
				       .function = function };

		c2c_latency_merge(&waits, &touch->reloads);
		if (c2c_kind_writes(a->kind)) {
			actor.n = touch->counts.n[C2C_RECORDS];
			*vec_add(&p->writers) = actor;
		}
		actor.n = (double)c2c_contended(&touch->counts, s->options.mode) + touch->reloads.n;
		actor.cycles = (double)c2c_excess(s, waits.cycles, waits.n);
		if (actor.n > 0)
			*vec_add(&p->readers) = actor;
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

	if (number == p->list.n)
		*vec_add(&p->list) =
			(struct pair){ finding, writer->function, reader->function, 0, 0 };
	pair = &p->list.items[number];
	pair->loads += part * reader->n;
	pair->cycles += part * reader->cycles;
}

static void add_line_pairs(struct pairing *p, uint32_t finding, const struct c2c_subject *subject)
{
	p->writers.n = p->readers.n = 0;
	for (uint32_t i = 0; i < subject->n_accesses; i++)
		add_actors(p, &p->s->accesses.items[subject->first_access + i]);
	p->writers.n = join_actors(p->writers.items, p->writers.n);
	p->readers.n = join_actors(p->readers.items, p->readers.n);
	for (size_t i = 0; i < p->readers.n; i++) {
		const struct actor *reader = &p->readers.items[i];
		double all = 0;

		for (size_t k = 0; k < p->writers.n; k++)
			if (p->writers.items[k].thread != reader->thread)
				all += p->writers.items[k].n;
		for (size_t k = 0; k < p->writers.n; k++)
			if (p->writers.items[k].thread != reader->thread)
				add_pair(p, finding, &p->writers.items[k], reader,
					 p->writers.items[k].n / all);
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

static const char *module_of(const struct c2c *s, uint32_t place)
{
	return names_module(s->session, session_place(s->session, place).module);
}

static void add_pair_row(const struct pairing *p, const struct pair *pair, struct table *t)
{
	const struct c2c *s = p->s;
	uint32_t writer = p->places.items[pair->writer], reader = p->places.items[pair->reader];
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

void c2c_pairs_table(const struct c2c *s, const struct c2c_labels *labels, struct table *out)
{
	struct pairing p = { .s = s };

	table_init(out, "pairs", "Functions whose stores make others wait", columns,
		   COUNT(columns));
	tuples_init(&p.functions, 2);
	tuples_init(&p.keys, 3);
	for (size_t i = 0; i < labels->causes.list.n; i++) {
		const struct c2c_cause *cause = &labels->causes.list.items[i];

		for (size_t k = 0; cause->finding != 0 && k < cause->lines.n; k++)
			add_line_pairs(&p, cause->finding,
				       &s->subjects.items[cause->lines.items[k]]);
	}
	if (p.list.n > 1)
		qsort(p.list.items, p.list.n, sizeof(*p.list.items), compare_pairs);
	for (size_t i = 0; i < p.list.n; i++)
		if (s->request.top == 0 || i < s->request.top)
			add_pair_row(&p, &p.list.items[i], out);
	tuples_release(&p.functions);
	tuples_release(&p.keys);
	vec_release(&p.places);
	vec_release(&p.writers);
	vec_release(&p.readers);
	vec_release(&p.list);
}
