/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/spill.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "branch_stacks/segments.h"

/* Numbers of durations, those of a segment together. */
struct durations_by_segment {
	uint32_t *order;
	uint32_t *first; /* by segment, in `order`; one more: behind the last */
};

static void durations_init(struct durations_by_segment *d, const struct stack_counts *c)
{
	d->order = mem_alloc(c->durations.n + 1, sizeof(*d->order));
	d->first = mem_zalloc(c->segments.n + 2, sizeof(*d->first));
	for (uint32_t i = 0; i < c->durations.n; i++)
		d->first[tuples_get(&c->durations, i)[DURATION_SEGMENT] + 2]++;
	for (uint32_t i = 1; i < c->segments.n + 2; i++)
		d->first[i] += d->first[i - 1];
	for (uint32_t i = 0; i < c->durations.n; i++)
		d->order[d->first[tuples_get(&c->durations, i)[DURATION_SEGMENT] + 1]++] = i;
}

static void durations_release(struct durations_by_segment *d)
{
	free(d->order);
	free(d->first);
}

/* Appends the value of a segment, or of a branch; stack_segment_read() and stack_taken_read() read it. */
static void put_segment(const struct stack_counts *c, const struct durations_by_segment *durations,
			uint32_t i, struct text *out)
{
	const struct segment_sum *s = &c->segment_sums.items[i];
	size_t n_positions = 0;

	for (size_t at = 0; at < STACK_POSITIONS; at++)
		n_positions += segment_n_at(c, i, at) > 0;
	for (size_t word = 0; word < SEGMENT_WORDS; word++)
		sort_value_put(out, tuples_get(&c->segments, i)[word]);
	sort_value_put(out, s->n);
	sort_value_put(out, s->weight);
	sort_value_put(out, s->n_timed);
	sort_value_put(out, s->cycles);
	sort_value_put(out, n_positions);
	for (size_t at = 0; at < STACK_POSITIONS; at++) {
		if (segment_n_at(c, i, at) == 0)
			continue;
		sort_value_put(out, at);
		sort_value_put(out, segment_n_at(c, i, at));
	}
	sort_value_put(out, durations->first[i + 1] - durations->first[i]);
	for (uint32_t k = durations->first[i]; k < durations->first[i + 1]; k++) {
		uint32_t duration = durations->order[k];

		sort_value_put(out, tuples_get(&c->durations, duration)[DURATION_CYCLES]);
		sort_value_put(out, c->duration_sums.items[duration]);
	}
}

static void put_taken(const struct stack_counts *c, uint32_t i, struct text *out)
{
	const struct taken_sum *t = &c->taken_sums.items[i];

	for (size_t word = 0; word < TAKEN_WORDS; word++)
		sort_value_put(out, tuples_get(&c->taken, i)[word]);
	sort_value_put(out, t->n);
	sort_value_put(out, t->weight);
	sort_value_put(out, t->n_told);
	sort_value_put(out, t->n_mispredicted);
	sort_value_put(out, t->squares);
}

void stack_segment_read(const uint8_t *value, uint64_t key[], struct segment_sum *sum,
			uint64_t positions[STACK_POSITIONS], struct segment_times *times)
{
	uint64_t n_positions, n_times;

	for (size_t word = 0; word < SEGMENT_WORDS; word++)
		key[word] = sort_value_get(&value);
	sum->n += sort_value_get(&value);
	sum->weight = stack_weights_add(sum->weight, sort_value_get(&value));
	sum->n_timed += sort_value_get(&value);
	sum->cycles += sort_value_get(&value);
	n_positions = sort_value_get(&value);
	for (uint64_t i = 0; i < n_positions; i++) {
		uint64_t at = sort_value_get(&value);

		positions[at] += sort_value_get(&value);
	}
	n_times = sort_value_get(&value);
	for (uint64_t i = 0; i < n_times; i++) {
		struct segment_cycles *at = vec_add(times);

		at->cycles = sort_value_get(&value);
		at->n = sort_value_get(&value);
	}
}

void stack_taken_read(const uint8_t *value, uint64_t key[], struct taken_sum *sum)
{
	for (size_t word = 0; word < TAKEN_WORDS; word++)
		key[word] = sort_value_get(&value);
	sum->n += sort_value_get(&value);
	sum->weight = stack_weights_add(sum->weight, sort_value_get(&value));
	sum->n_told += sort_value_get(&value);
	sum->n_mispredicted += sort_value_get(&value);
	sum->squares += sort_value_get(&value);
}

/* Adds up a segment that is none, if its places show that. */
static bool spill_faulty(struct stack_counts *c, uint32_t i)
{
	const uint64_t *key = tuples_get(&c->segments, i);
	enum segment_fault fault =
		segment_place_fault(session_place(c->session, (uint32_t)key[SEGMENT_START]),
				    session_place(c->session, (uint32_t)key[SEGMENT_END]),
				    (uint32_t)key[SEGMENT_FLAGS]);
	uint64_t positions[STACK_POSITIONS];

	if (fault == SEGMENT_GOOD)
		return false;
	if (c->faulty == NULL)
		c->faulty = mem_zalloc(1, sizeof(*c->faulty));
	for (size_t at = 0; at < STACK_POSITIONS; at++)
		positions[at] = segment_n_at(c, i, at);
	segment_faults_add(c->faulty, fault, c->segment_sums.items[i].n,
			   c->segment_sums.items[i].weight, positions);
	return true;
}

/* In the file: what it is, its size, and its value. */
enum { SPILLED_SEGMENT, SPILLED_TAKEN, SPILLED_PIECE = 64 << 10 };

static void spill_value(struct stack_counts *c, uint64_t what, struct text *value)
{
	sort_value_put(&c->spool.written, what);
	sort_value_put(&c->spool.written, value->n);
	text_add(&c->spool.written, value->bytes, value->n);
	text_reset(value);
	spool_flush(&c->spool, SPILLED_PIECE);
}

void stack_counts_spill(struct stack_counts *c)
{
	struct durations_by_segment durations;
	struct text value = { 0 };

	durations_init(&durations, c);
	for (uint32_t i = 0; i < c->segments.n; i++) {
		if (spill_faulty(c, i))
			continue;
		put_segment(c, &durations, i, &value);
		spill_value(c, SPILLED_SEGMENT, &value);
	}
	durations_release(&durations);
	for (uint32_t i = 0; i < c->taken.n; i++) {
		put_taken(c, i, &value);
		spill_value(c, SPILLED_TAKEN, &value);
	}
	text_release(&value);
	stack_counts_forget_sums(c);
}

void stack_counts_finish(void *partial)
{
	struct stack_counts *c = partial;

	if (!stack_counts_are_spilled(c))
		return;
	stack_counts_spill(c);
	spool_flush(&c->spool, 0);
	spool_finish(&c->spool);
}

bool stack_counts_are_spilled(const struct stack_counts *c)
{
	return c->spool.file != NULL || c->spool.files.n > 0 || c->spool.rc < 0 ||
	       c->spool.written.n > 0 || c->faulty != NULL;
}

static void sort_value(const struct stack_counts *c, const uint8_t *bytes, size_t size,
		       struct sorter *sorter)
{
	const uint8_t *at = bytes;
	struct place from = session_place(c->session, (uint32_t)sort_value_get(&at));
	struct place to = session_place(c->session, (uint32_t)sort_value_get(&at));
	struct text key = { 0 }, value = { 0 };

	sort_key_u32(&key, from.module.v);
	sort_key_u64(&key, from.offset);
	sort_key_u32(&key, to.module.v);
	sort_key_u64(&key, to.offset);
	sort_key_u32(&key, (uint32_t)sort_value_get(&at));
	text_add(&value, (const char *)bytes, size);
	sorter_add(sorter, &key, &value);
	text_release(&key);
	text_release(&value);
}

void stack_counts_sort(const struct stack_counts *c, struct sorter *segments, struct sorter *taken)
{
	struct spool_position position = { 0 };
	struct durations_by_segment durations;
	struct text value = { 0 };
	const uint8_t *at;

	while ((at = spool_next(&c->spool, &position)) != NULL) {
		uint64_t what = sort_value_get(&at);
		size_t size = (size_t)sort_value_get(&at);

		sort_value(c, at, size, what == SPILLED_SEGMENT ? segments : taken);
		spool_move(&c->spool, &position, at + size);
	}
	durations_init(&durations, c);
	for (uint32_t i = 0; i < c->segments.n; i++) {
		text_reset(&value);
		put_segment(c, &durations, i, &value);
		sort_value(c, (const uint8_t *)value.bytes, value.n, segments);
	}
	durations_release(&durations);
	for (uint32_t i = 0; i < c->taken.n; i++) {
		text_reset(&value);
		put_taken(c, i, &value);
		sort_value(c, (const uint8_t *)value.bytes, value.n, taken);
	}
	text_release(&value);
}

void stack_counts_forget(struct stack_counts *c)
{
	stack_counts_forget_sums(c);
	spool_release(&c->spool);
	free(c->faulty);
	c->faulty = NULL;
}
