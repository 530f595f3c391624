/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/counts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "process/attribution.h"
#include "process/place_cache.h"

enum { WORDS = sizeof(struct branch_entry) / sizeof(uint64_t) };

/* An entry with the numbers of its places. */
struct entry {
	uint64_t from, to; /* addresses */
	struct branch_flags flags;
	uint32_t from_place, to_place;
};

static void *stack_new(const struct session *session, const void *options)
{
	struct stack_counts *c = mem_zalloc(1, sizeof(*c));

	c->session = session;
	c->options = options;
	c->cache = mem_zalloc(1, sizeof(*c->cache));
	place_cache_init(c->cache, session->timeline, session->places);
	tuples_init(&c->segments, SEGMENT_WORDS);
	tuples_init(&c->chunks, 2);
	tuples_init(&c->durations, 2);
	tuples_init(&c->taken, TAKEN_WORDS);
	return c;
}

static void stack_free(void *partial)
{
	struct stack_counts *c = partial;

	if (c == NULL)
		return;
	place_cache_release(c->cache);
	free(c->cache);
	tuples_release(&c->segments);
	vec_release(&c->segment_sums);
	tuples_release(&c->chunks);
	vec_release(&c->chunk_sums);
	tuples_release(&c->durations);
	vec_release(&c->duration_sums);
	tuples_release(&c->taken);
	vec_release(&c->taken_sums);
	free(c);
}

/* Periods come from the file: sums stay at the largest number. */
static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t weight_of(uint64_t period)
{
	return period > UINT64_MAX / STACK_WEIGHT_ONE ? UINT64_MAX : period * STACK_WEIGHT_ONE;
}

static uint32_t stack_add_segment(struct stack_counts *c, const uint64_t key[SEGMENT_WORDS],
				  const struct segment_sum *sum)
{
	uint32_t number = tuples_add(&c->segments, key);
	struct segment_sum *s;

	if (number == c->segment_sums.n)
		vec_add(&c->segment_sums);
	s = &c->segment_sums.items[number];
	s->n += sum->n;
	s->weight = add_up(s->weight, sum->weight);
	s->n_timed += sum->n_timed;
	s->cycles += sum->cycles;
	return number;
}

static void stack_add_chunk(struct stack_counts *c, uint32_t segment, uint64_t chunk,
			    const struct chunk_sum *sum)
{
	const uint64_t key[] = { segment, chunk };
	uint32_t number = tuples_add(&c->chunks, key);

	if (number == c->chunk_sums.n)
		vec_add(&c->chunk_sums);
	for (size_t i = 0; i < STACK_CHUNK; i++)
		c->chunk_sums.items[number].n[i] += sum->n[i];
}

static void stack_add_duration(struct stack_counts *c, uint32_t segment, uint64_t cycles,
			       uint64_t n)
{
	const uint64_t key[] = { segment, cycles };
	uint32_t number = tuples_add(&c->durations, key);

	if (number == c->duration_sums.n)
		vec_add(&c->duration_sums);
	c->duration_sums.items[number] += n;
}

static uint32_t stack_add_taken(struct stack_counts *c, const uint64_t key[TAKEN_WORDS],
				const struct taken_sum *sum)
{
	uint32_t number = tuples_add(&c->taken, key);
	struct taken_sum *t;

	if (number == c->taken_sums.n)
		vec_add(&c->taken_sums);
	t = &c->taken_sums.items[number];
	t->n += sum->n;
	t->weight = add_up(t->weight, sum->weight);
	t->n_told += sum->n_told;
	t->n_mispredicted += sum->n_mispredicted;
	t->squares += sum->squares;
	return number;
}

static bool is_kernel_address(uint64_t address)
{
	return address >> 63;
}

static uint64_t flags_of(const struct entry *older, const struct entry *newer)
{
	bool is_exception = branch_changes_privilege(newer->flags.type) || newer->flags.is_abort ||
			    is_kernel_address(newer->from) != is_kernel_address(newer->to);
	bool changes = is_kernel_address(older->to) != is_kernel_address(newer->from);

	return (is_exception ? SEGMENT_BY_EXCEPTION : 0u) | (changes ? SEGMENT_CHANGES_MODE : 0u);
}

static size_t clip_position(uint64_t position)
{
	return position < STACK_POSITIONS ? (size_t)position : STACK_POSITIONS - 1;
}

/* The segment that ends with the branch `newer`, at this position. */
static void count_segment(struct stack_counts *c, const struct entry *older,
			  const struct entry *newer, size_t position, uint64_t weight)
{
	const uint64_t key[SEGMENT_WORDS] = {
		[SEGMENT_START] = older->to_place,
		[SEGMENT_END] = newer->from_place,
		[SEGMENT_FLAGS] = flags_of(older, newer),
	};
	const struct segment_sum sum = {
		.n = 1,
		.weight = weight,
		.n_timed = newer->flags.cycles > 0,
		.cycles = newer->flags.cycles,
	};
	struct chunk_sum chunk = { 0 };
	uint32_t number = stack_add_segment(c, key, &sum);

	chunk.n[position % STACK_CHUNK] = 1;
	stack_add_chunk(c, number, position / STACK_CHUNK, &chunk);
	if (c->options->with_durations && newer->flags.cycles > 0)
		stack_add_duration(c, number, newer->flags.cycles, 1);
}

static void count_taken(struct stack_counts *c, const struct entry *e, uint64_t weight)
{
	const uint64_t key[TAKEN_WORDS] = {
		[TAKEN_FROM] = e->from_place,
		[TAKEN_TO] = e->to_place,
		[TAKEN_TYPE] = e->flags.type,
	};
	const struct taken_sum sum = {
		.n = 1,
		.weight = weight,
		.n_told = e->flags.is_mispredicted || e->flags.is_predicted,
		.n_mispredicted = e->flags.is_mispredicted,
	};

	uint32_t number = stack_add_taken(c, key, &sum);
	struct taken_sum *t = &c->taken_sums.items[number];

	t->n_in_last = t->last_sample == c->n_samples ? t->n_in_last + 1 : 1;
	t->last_sample = c->n_samples;
	t->squares += 2 * t->n_in_last - 1;
}

static void look_up_entry(struct stack_counts *c, const struct batch *b, size_t row,
			  uint64_t time_ns, struct entry *e)
{
	e->from_place = place_cache_find(c->cache, attribution_whose_address(b, row, e->from),
					 e->from, time_ns);
	e->to_place = place_cache_find(c->cache, attribution_whose_address(b, row, e->to), e->to,
				       time_ns);
}

/* Is the entry one: filled, and not of a wrong path? */
static bool read_entry(struct stack_counts *c, const uint64_t *words, struct entry *out)
{
	if (words[0] == 0 && words[1] == 0)
		return false;
	*out = (struct entry){ .from = words[0],
			       .to = words[1],
			       .flags = branch_read_flags(words[2]) };
	if (out->flags.spec != BRANCH_WRONG_PATH)
		return true;
	c->n_wrong_path++;
	return false;
}

/* What a stack has, without what is left out. */
struct stack_size {
	uint64_t n; /* entries, with what is left out */
	uint64_t n_segments, n_taken;
	uint64_t cycles; /* of its segments; of all its branches if it has none */
};

static bool is_left_out(const struct stack_options *o, uint64_t position)
{
	return o->has_segments && o->is_left_out[clip_position(position)];
}

static struct stack_size measure_stack(struct stack_counts *c, const uint64_t *words,
				       uint32_t n_slots)
{
	const struct stack_options *o = c->options;
	struct stack_size size = { 0 };
	uint64_t oldest_cycles = 0;
	bool is_oldest_out = false;
	struct entry e;

	for (uint32_t i = 0; i < n_slots; i++) {
		if (!read_entry(c, words + (size_t)i * WORDS, &e))
			continue;
		is_oldest_out = is_left_out(o, size.n++);
		oldest_cycles = is_oldest_out ? 0 : e.flags.cycles;
		size.n_taken += !is_oldest_out;
		size.cycles += oldest_cycles;
	}
	if (!o->has_segments || size.n == 0)
		return size;
	/* the oldest branch ends no segment that is known, and is counted nevertheless */
	size.cycles -= oldest_cycles;
	size.n_taken += is_oldest_out;
	size.n_segments = size.n_taken - 1;
	return size;
}

/* The weight of each of `n` things that a sample of this weight stands for; rounded. */
static uint64_t divide_weight(uint64_t weight, uint64_t n)
{
	return n == 0 ? 0 : weight / n + (weight % n >= n - n / 2);
}

/* The weight of a segment: see counts.h. */
static uint64_t segment_weight(const struct stack_counts *c, const struct stack_size *size,
			       uint64_t weight)
{
	return divide_weight(weight, c->options->by_cycles ? size->cycles : size->n_segments);
}

/* The weight of a branch. By cycles: as many of them as there are segments in that time. */
static uint64_t taken_weight(const struct stack_counts *c, const struct stack_size *size,
			     uint64_t weight)
{
	if (!c->options->by_cycles)
		return divide_weight(weight, size->n_taken);
	if (!c->options->has_segments)
		return divide_weight(weight, size->cycles);
	if (size->cycles == 0)
		return 0;
	return (uint64_t)((double)weight / (double)size->cycles * (double)size->n_segments /
				  (double)size->n_taken +
			  0.5);
}

/* Counts a stack, from the newest entry on. */
static void count_stack(struct stack_counts *c, const struct batch *b, size_t row,
			const struct stack_size *size)
{
	const struct stack_options *o = c->options;
	const uint64_t *words = b->words.items + b->branches[row].first;
	uint32_t n_slots = b->branches[row].n / WORDS;
	uint64_t time_ns =
		attribution_row_time(timeline_is_by_position(c->session->timeline), b, row);
	uint64_t weight = weight_of(b->has[row] & HAS_PERIOD ? b->period[row] : 1);
	uint64_t each_segment = segment_weight(c, size, weight);
	uint64_t each_taken = taken_weight(c, size, weight);
	uint64_t n_wrong_path = c->n_wrong_path, position = 0;
	struct entry newer = { 0 }, e;

	c->weight = add_up(c->weight, weight);
	if (size->cycles > 0)
		c->timed_weight = add_up(c->timed_weight, weight);
	for (uint32_t i = 0; i < n_slots; i++) {
		if (!read_entry(c, words + (size_t)i * WORDS, &e))
			continue;
		look_up_entry(c, b, row, time_ns, &e);
		if (position > 0 && o->has_segments && !is_left_out(o, position - 1))
			count_segment(c, &e, &newer, clip_position(position - 1), each_segment);
		/* the branch at the end of the segment of the same position */
		if (position + 1 == size->n || !is_left_out(o, position))
			count_taken(c, &e, each_taken);
		newer = e;
		position++;
	}
	c->n_wrong_path = n_wrong_path; /* counted before */
}

static void stack_consume(void *partial, const struct batch *b)
{
	struct stack_counts *c = partial;

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t row = 0; row < b->n; row++) {
		struct stack_size size;

		if (b->event[row] != c->options->event || !(b->has[row] & HAS_BRANCHES))
			continue;
		size = measure_stack(c, b->words.items + b->branches[row].first,
				     b->branches[row].n / WORDS);
		c->n_samples += size.n > 0;
		c->n_empty += size.n == 0;
		c->n_single += size.n == 1;
		c->n_entries += size.n;
		c->deepest = size.n > c->deepest ? size.n : c->deepest;
		if (size.n > 0)
			count_stack(c, b, row, &size);
	}
}

static void stack_merge(void *into, const void *from, const struct id_map *map)
{
	struct stack_counts *c = into;
	const struct stack_counts *part = from;
	uint32_t *numbers = mem_alloc(part->segments.n + 1, sizeof(*numbers));

	(void)map; /* places have the same numbers everywhere */
	for (uint32_t i = 0; i < part->segments.n; i++)
		numbers[i] = stack_add_segment(c, tuples_get(&part->segments, i),
					       &part->segment_sums.items[i]);
	for (uint32_t i = 0; i < part->chunks.n; i++) {
		const uint64_t *key = tuples_get(&part->chunks, i);

		stack_add_chunk(c, numbers[key[0]], key[1], &part->chunk_sums.items[i]);
	}
	for (uint32_t i = 0; i < part->durations.n; i++) {
		const uint64_t *key = tuples_get(&part->durations, i);

		stack_add_duration(c, numbers[key[0]], key[1], part->duration_sums.items[i]);
	}
	for (uint32_t i = 0; i < part->taken.n; i++)
		stack_add_taken(c, tuples_get(&part->taken, i), &part->taken_sums.items[i]);
	free(numbers);
	c->n_samples += part->n_samples;
	c->n_empty += part->n_empty;
	c->n_single += part->n_single;
	c->n_entries += part->n_entries;
	c->n_wrong_path += part->n_wrong_path;
	c->deepest = part->deepest > c->deepest ? part->deepest : c->deepest;
	c->weight = add_up(c->weight, part->weight);
	c->timed_weight = add_up(c->timed_weight, part->timed_weight);
}

const struct analysis_class stack_class = {
	.new = stack_new,
	.free = stack_free,
	.consume = stack_consume,
	.merge = stack_merge,
};
