/* SPDX-License-Identifier: Apache-2.0 */
/* Contended cache lines, named by the data on them: addresses differ from run to run. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "c2c/c2c.h"
#include "c2c/fix/labels.h"
#include "diff/measures.h"
#include "estimate/latency.h"

enum { MAX_LINES = 1000 }; /* the lines with the highest cost */

/*
 * Excess latency of loads over a local hit, of all lines with one name. Squares are for the error.
 */
struct waits {
	uint64_t n, n_saturated;
	double cycles, squares;
};

/* Waits by name; number 0 is "all lines". */
struct by_name {
	struct strings strings;
	struct tuples names;
	VEC_OF(struct waits) list;
};

static const char all_lines[] = "all lines";

/* The excess latency of a line: its contended loads and reloads. */
static struct waits waits_of_line(const struct c2c *s, const struct c2c_subject *subject)
{
	double base = (double)s->local_cycles;
	struct c2c_latency l = subject->contended;

	c2c_latency_merge(&l, &subject->reloads);
	return (struct waits){
		.n = l.n,
		.n_saturated = l.n_saturated,
		.cycles = (double)subject->excess_cycles,
		.squares = (double)l.squares - 2 * base * (double)l.cycles + base * base * l.n,
	};
}

static void add_named_waits(struct by_name *b, const char *name, const struct waits *l)
{
	uint64_t word = strings_addz(&b->strings, name).v;
	uint32_t number = tuples_add(&b->names, &word);
	struct waits *w;

	if (number == b->list.n)
		vec_add(&b->list);
	w = &b->list.items[number];
	w->n += l->n;
	w->n_saturated += l->n_saturated;
	w->cycles += l->cycles;
	w->squares += l->squares;
}

static uint32_t n_records(const struct c2c *s, const struct c2c_access *a)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < a->n_touches; i++)
		n += c2c_touch_records(s->accesses_seen, a->first_touch + i);
	return n;
}

/* The function with most records on the line. */
static const char *heaviest_function(const struct c2c *s, const struct c2c_subject *subject)
{
	const struct c2c_access *best = NULL;
	uint32_t most = 0;

	for (uint32_t i = 0; i < subject->n_accesses; i++) {
		const struct c2c_access *a = &s->accesses.items[subject->first_access + i];
		uint32_t n = n_records(s, a);

		if (best == NULL || n > most) {
			best = a;
			most = n;
		}
	}
	return best == NULL ? "[unknown]" : names_function(&s->names, best->place);
}

static void add_line_waits(struct by_name *b, const struct c2c *s, const struct c2c_labels *labels,
			   size_t i)
{
	const struct c2c_subject *subject = &s->subjects.items[i];
	const struct waits waits = waits_of_line(s, subject);
	struct text name = { 0 };

	add_named_waits(b, all_lines, &waits);
	if (labels->names[i] != NULL) {
		add_named_waits(b, labels->names[i], &waits);
		return;
	}
	text_format(&name, "data of %s", heaviest_function(s, subject));
	text_char(&name, '\0');
	add_named_waits(b, name.bytes, &waits);
	text_release(&name);
}

/* The part of the excess from saturated counters, a lower bound. */
static double saturated_waits(const struct waits *w)
{
	return fmin(w->cycles, (double)w->n_saturated * LATENCY_LEAST_FULL);
}

static void add_shared_measures(const struct by_name *b, const struct session *s, double interval,
				struct measures *out)
{
	bool is_spe = capture_spe(s->capture)->is_present;

	for (uint32_t i = 0; i < b->names.n; i++) {
		const struct waits *w = &b->list.items[i];
		struct str_id id = { (uint32_t)tuples_get(&b->names, i)[0] };
		const char *name = strings_get(&b->strings, id);

		*vec_add(&out->list) = (struct measure){
			.kind = MEASURE_SHARED,
			.event = is_spe ? "arm_spe" : "",
			.name = measures_text(out, name),
			.module = "",
			.unit = "cycles",
			.value = w->cycles * interval,
			.error = sqrt(w->squares > 0 ? w->squares : 0) * interval,
			.samples = w->n,
			.saturated = saturated_waits(w) * interval,
			.n_saturated = w->n_saturated,
		};
	}
}

const struct c2c_request measures_shared_request = {
	.mode = -1,
	.top = MAX_LINES,
	.sort = C2C_SORT_COST,
	.only_waiting = true,
	.only_phases = true,
};

int measures_add_shared(struct c2c *sharing, const struct select *select, struct measures *out,
			struct err *err)
{
	const struct waits none = { 0 };
	struct shared_scan second = { 0 };
	struct c2c_labels labels;
	struct by_name b = { 0 };

	if (c2c_choose(sharing, select, &second, err) < 0)
		return -1;
	shared_scan_run(sharing->session, select, &second);
	c2c_finish(sharing, select);
	strings_init(&b.strings);
	tuples_init(&b.names, 1);
	c2c_labels_init_names(&labels, sharing);
	add_named_waits(&b, all_lines,
			&none); /* also if nothing is shared: a later run may share something */
	for (size_t i = 0; i < sharing->subjects.n; i++)
		if (c2c_waited(&sharing->subjects.items[i], sharing->options.mode) > 0 &&
		    !c2c_is_in_phases(&sharing->subjects.items[i].judgement))
			add_line_waits(&b, sharing, &labels, i);
	add_shared_measures(&b, sharing->session, sharing->interval > 0 ? sharing->interval : 1,
			    out);
	out->kinds |= 1u << MEASURE_SHARED;
	tuples_release(&b.names);
	strings_release(&b.strings);
	vec_release(&b.list);
	c2c_labels_release(&labels);
	return 0;
}
