/* SPDX-License-Identifier: Apache-2.0 */
/* Does the sampling interval beat with a loop? */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "isa/access.h"
#include "quality/parts.h"
#include "spe/packet.h"
#include "variables/code.h"

enum {
	INSTRUCTION_BYTES = 4, /* A64 */
	LEAST_RECORDS = 50,
	MOST_OPERATIONS = 4, /* that one instruction may be */
	N_SIGMA = 5,	     /* by chance once in two million places */
};

/* Records by place; branches apart. */
struct place_counts {
	uint64_t n, n_branches;
};

static struct place_counts *count_places(const struct session *s, const struct hot *hot)
{
	struct place_counts *counts = mem_zalloc(place_numbers_n(s->places) + 1, sizeof(*counts));

	for (uint32_t i = hot_next(hot, 0); i < hot_end(hot); i = hot_next(hot, i + 1)) {
		uint64_t key[N_DIMENSIONS];

		hot_key(hot, i, key);
		if (!hot_is_spe(hot, key[DIM_EVENT]))
			continue;
		counts[key[DIM_PLACE]].n += hot_cost(hot, i).n;
		counts[key[DIM_PLACE]].n_branches += hot_cost(hot, i).n_branches;
	}
	return counts;
}

/* Is there an A64 instruction behind this one? */
static bool has_next(const struct session *s, struct place next)
{
	struct code code;

	return symbols_code(s->symbols, next, INSTRUCTION_BYTES, &code) && code.isa == ISA_A64 &&
	       code.size == INSTRUCTION_BYTES;
}

static bool is_too_few(uint64_t n_next, uint64_t n)
{
	double least = (double)n / MOST_OPERATIONS;

	return (double)n_next < least - N_SIGMA * sqrt(least);
}

static int quality_bias_compare(const void *left, const void *right, void *context)
{
	const struct bias *a = left, *b = right;
	struct place x = session_place(context, a->place), y = session_place(context, b->place);

	if (a->n != b->n)
		return (a->n < b->n) - (a->n > b->n);
	if (x.module.v != y.module.v)
		return (x.module.v > y.module.v) - (x.module.v < y.module.v);
	return (x.offset > y.offset) - (x.offset < y.offset);
}

void biases_find(const struct session *s, const struct hot *hot, struct biases *out)
{
	struct place_counts *counts = count_places(s, hot);

	*out = (struct biases){ 0 };
	for (uint32_t i = 1; i < place_numbers_n(s->places); i++) {
		struct place place = session_place(s, i);
		struct place next = { place.module, place.offset + INSTRUCTION_BYTES };
		uint32_t number;
		uint64_t n_next;

		if (counts[i].n < LEAST_RECORDS || counts[i].n_branches > 0 ||
		    place.module.v == 0 || !has_next(s, next))
			continue;
		number = place_numbers_find(s->places, next);
		n_next = number == PLACE_NONE ? 0 : counts[number].n;
		out->n_tested += counts[i].n;
		if (!is_too_few(n_next, counts[i].n))
			continue;
		out->n_biased += counts[i].n;
		*vec_add(&out->list) = (struct bias){ i, counts[i].n, n_next };
	}
	if (out->list.n > 1)
		qsort_r(out->list.items, out->list.n, sizeof(*out->list.items),
			quality_bias_compare, (void *)(uintptr_t)s);
	free(counts);
}

void biases_release(struct biases *b)
{
	vec_release(&b->list);
}

static const struct column columns[] = {
	{ "instruction", NULL, "", CELL_TEXT, COLUMN_GROW, "function + offset" },
	{ "samples", NULL, "samples", CELL_COUNT, 0, "SPE records of it" },
	{ "samples_next", "samples of the next", "samples", CELL_COUNT, 0,
	  "SPE records of the next instruction, which runs as often" },
};

void biases_table(const struct biases *b, const struct names *names, size_t top, struct table *out)
{
	table_init(out, "bias", "Sampled more often than the next instruction", columns,
		   COUNT(columns));
	for (size_t i = 0; i < b->list.n && (top == 0 || i < top); i++) {
		const struct bias *bias = &b->list.items[i];
		struct cell *row = table_add_row(out);
		struct text text = { 0 };

		names_place(names, bias->place, &text);
		row[0] = cell_text(table_take_text(out, &text));
		row[1] = cell_count(bias->n);
		row[2] = cell_count(bias->n_next);
	}
	if (top != 0 && b->list.n > top)
		table_note(out, "%zu more; --all shows them", b->list.n - top);
}
