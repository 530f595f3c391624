/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/counts.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "estimate/mux.h"
#include "process/attribution.h"
#include "process/place_cache.h"

enum { WORDS = sizeof(struct branch_entry) / sizeof(uint64_t) };

/* What is one place, and one part of the capture, for the speed of stacks. */
enum {
	SPEED_CODE_SHIFT = 8,	     /* bytes of code */
	SPEED_PARTS = 64,	     /* of the capture, */
	SPEED_PART_LEAST = 32 << 10, /* if they have so many bytes */
};

/* An entry with the numbers of its places. */
struct entry {
	uint64_t from, to; /* addresses */
	struct branch_flags flags;
	uint32_t from_place, to_place;
};

enum { MEMO_BITS = 10, MEMO_WORDS = 3 };

/* Numbers of tuples that were asked for lately. Most stacks have the branches of those before. */
struct tuple_memo {
	struct {
		uint64_t key[MEMO_WORDS];
		uint32_t number; /* + 1; 0: free */
	} slots[1 << MEMO_BITS];
};

struct stack_scratch {
	struct tuple_memo segments, chunks, durations, taken;
	VEC_OF(struct entry) entries; /* of the stack that is being counted */
};

/* As tuples_add(). */
static uint32_t memo_add(struct tuple_memo *m, struct tuples *t, const uint64_t *key)
{
	uint64_t hash = 0;
	size_t slot;

	for (size_t i = 0; i < t->width; i++)
		hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
	slot = hash >> (64 - MEMO_BITS);
	if (m->slots[slot].number != 0 && tuples_equal(m->slots[slot].key, key, t->width))
		return m->slots[slot].number - 1;
	for (size_t i = 0; i < t->width; i++)
		m->slots[slot].key[i] = key[i];
	m->slots[slot].number = tuples_add(t, key) + 1;
	return m->slots[slot].number - 1;
}

static void *stack_new(const struct session *session, const void *options)
{
	struct stack_counts *c = mem_zalloc(1, sizeof(*c));

	c->session = session;
	c->options = options;
	c->scratch = mem_zalloc(1, sizeof(*c->scratch));
	c->cache = mem_zalloc(1, sizeof(*c->cache));
	place_cache_init(c->cache, session->timeline, session->places);
	tuples_init(&c->segments, SEGMENT_WORDS);
	tuples_init(&c->chunks, 2);
	tuples_init(&c->durations, 2);
	tuples_init(&c->taken, TAKEN_WORDS);
	tuples_init(&c->speed_keys, 2);
	return c;
}

static void stack_free(void *partial)
{
	struct stack_counts *c = partial;

	if (c == NULL)
		return;
	place_cache_release(c->cache);
	free(c->cache);
	vec_release(&c->scratch->entries);
	free(c->scratch);
	tuples_release(&c->segments);
	vec_release(&c->segment_sums);
	tuples_release(&c->chunks);
	vec_release(&c->chunk_sums);
	tuples_release(&c->durations);
	vec_release(&c->duration_sums);
	tuples_release(&c->taken);
	vec_release(&c->taken_sums);
	tuples_release(&c->speed_keys);
	vec_release(&c->speeds);
	free(c);
}

/* Periods come from the file: sums stay at the largest number. */
static uint64_t add_up(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What a sample stands for: its period, and what was not counted while others had the counter. */
static uint64_t sample_weight(const struct stack_counts *c, const struct batch *b, size_t row)
{
	size_t event = b->event[row];
	uint64_t period = b->has[row] & HAS_PERIOD ? b->period[row] : 1;
	uint32_t cpu = b->has[row] & HAS_CPU ? b->cpu[row] : UINT32_MAX;
	double scaled;

	if (period > UINT64_MAX / STACK_WEIGHT_ONE)
		return UINT64_MAX;
	if (c->options->mux == NULL)
		return period * STACK_WEIGHT_ONE;
	scaled = (double)period * STACK_WEIGHT_ONE * mux_factor(c->options->mux, event, cpu);
	return scaled < (double)UINT64_MAX ? (uint64_t)(scaled + 0.5) : UINT64_MAX;
}

static uint32_t stack_add_segment(struct stack_counts *c, const uint64_t key[SEGMENT_WORDS],
				  const struct segment_sum *sum)
{
	uint32_t number = memo_add(&c->scratch->segments, &c->segments, key);
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
	uint32_t number = memo_add(&c->scratch->chunks, &c->chunks, key);

	if (number == c->chunk_sums.n)
		vec_add(&c->chunk_sums);
	for (size_t i = 0; i < STACK_CHUNK; i++)
		c->chunk_sums.items[number].n[i] += sum->n[i];
}

static void stack_add_duration(struct stack_counts *c, uint32_t segment, uint64_t cycles,
			       uint64_t n)
{
	const uint64_t key[] = { segment, cycles };
	uint32_t number = memo_add(&c->scratch->durations, &c->durations, key);

	if (number == c->duration_sums.n)
		vec_add(&c->duration_sums);
	c->duration_sums.items[number] += n;
}

static uint32_t stack_add_taken(struct stack_counts *c, const uint64_t key[TAKEN_WORDS],
				const struct taken_sum *sum)
{
	uint32_t number = memo_add(&c->scratch->taken, &c->taken, key);
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

static uint64_t flags_of(const struct entry *older, const struct entry *newer)
{
	uint8_t mode = branch_source_mode(newer->from, &newer->flags);
	bool is_exception = branch_changes_privilege(newer->flags.type) || newer->flags.is_abort ||
			    mode != branch_target_mode(newer->to, &newer->flags);
	bool changes = branch_target_mode(older->to, &older->flags) != mode;

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
	uint64_t cycles;    /* of its segments; of all its branches if it has none */
	uint64_t newest_to; /* address */
};

static bool is_left_out(const struct stack_options *o, uint64_t position)
{
	return o->has_segments && o->is_left_out[clip_position(position)];
}

/* Reads the entries of a stack into the scratch, and what there is of them. */
static struct stack_size measure_stack(struct stack_counts *c, const uint64_t *words,
				       uint32_t n_slots)
{
	const struct stack_options *o = c->options;
	struct stack_size size = { 0 };
	uint64_t oldest_cycles = 0;
	bool is_oldest_out = false;
	struct entry e;

	c->scratch->entries.n = 0;
	for (uint32_t i = 0; i < n_slots; i++) {
		if (!read_entry(c, words + (size_t)i * WORDS, &e))
			continue;
		*vec_add(&c->scratch->entries) = e;
		size.newest_to = size.n == 0 ? e.to : size.newest_to;
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

static struct stack_speed *stack_add_speed(struct stack_counts *c, const uint64_t key[2])
{
	uint32_t number = tuples_add(&c->speed_keys, key);

	if (number == c->speeds.n)
		vec_add(&c->speeds);
	return &c->speeds.items[number];
}

/* The place of a sample is where the newest branch went. */
static void speed_key(const struct stack_counts *c, const struct stack_size *size,
		      const struct batch *b, size_t row, uint64_t key[2])
{
	uint64_t part = capture_size(c->session->capture) / SPEED_PARTS;

	key[0] = size->newest_to >> SPEED_CODE_SHIFT;
	key[1] = b->position[row] / (part < SPEED_PART_LEAST ? SPEED_PART_LEAST : part);
}

static void count_speed(struct stack_counts *c, const struct batch *b, size_t row,
			const struct stack_size *size)
{
	struct stack_speed *speed;
	uint64_t key[2];

	if (size->cycles == 0)
		return;
	speed_key(c, size, b, row, key);
	speed = stack_add_speed(c, key);
	speed->weight = add_up(speed->weight, sample_weight(c, b, row));
	speed->cycles = add_up(speed->cycles, size->cycles);
}

/* By cycles: the weight of a cycle of the stack; 0 if it has none. */
static uint64_t cycle_weight(const struct stack_counts *c, const struct batch *b, size_t row,
			     const struct stack_size *size)
{
	const struct stack_counts *measured = c->options->speeds;
	const struct stack_speed *speed;
	uint64_t key[2];
	uint32_t number;

	if (size->cycles == 0)
		return 0;
	speed_key(c, size, b, row, key);
	number = tuples_find(&measured->speed_keys, key);
	if (number == TUPLES_NONE)
		return 0;
	speed = &measured->speeds.items[number];
	return divide_weight(speed->weight, speed->cycles);
}

/* By cycles: as many branches as there are segments in that time. */
static uint64_t taken_weight(const struct stack_size *size, uint64_t segment_weight)
{
	if (size->n_segments == 0 || size->n_taken == 0)
		return segment_weight;
	return (uint64_t)((double)segment_weight * (double)size->n_segments /
				  (double)size->n_taken +
			  0.5);
}

/* Counts a stack, from the newest entry on. */
static void count_stack(struct stack_counts *c, const struct batch *b, size_t row,
			const struct stack_size *size)
{
	const struct stack_options *o = c->options;
	uint64_t time_ns =
		attribution_row_time(timeline_is_by_position(c->session->timeline), b, row);
	uint64_t weight = sample_weight(c, b, row);
	uint64_t each_segment = o->by_cycles ? cycle_weight(c, b, row, size)
					     : divide_weight(weight, size->n_segments);
	uint64_t each_taken = o->by_cycles ? taken_weight(size, each_segment)
					   : divide_weight(weight, size->n_taken);
	struct entry *entries = c->scratch->entries.items;

	c->weight = add_up(c->weight, weight);
	if (size->n == 1)
		c->single_weight = add_up(c->single_weight, weight);
	if (size->cycles > 0)
		c->timed_weight = add_up(c->timed_weight, weight);
	for (uint64_t position = 0; position < size->n; position++) {
		struct entry *at = &entries[position];

		look_up_entry(c, b, row, time_ns, at);
		if (position > 0 && o->has_segments && !is_left_out(o, position - 1))
			count_segment(c, at, at - 1, clip_position(position - 1), each_segment);
		/* the branch at the end of the segment of the same position */
		if (position + 1 == size->n || !is_left_out(o, position))
			count_taken(c, at, each_taken);
	}
}

static void stack_consume(void *partial, const struct batch *b)
{
	struct stack_counts *c = partial;

	if (b->kind != BATCH_SAMPLES)
		return;
	for (size_t row = 0; row < b->n; row++) {
		struct stack_size size;

		if ((int)b->event[row] == c->options->instructions_event) {
			c->n_instruction_samples++;
			c->instructions_weight =
				add_up(c->instructions_weight, sample_weight(c, b, row));
		}
		if (b->event[row] != c->options->event || !(b->has[row] & HAS_BRANCHES))
			continue;
		size = measure_stack(c, b->words.items + b->branches[row].first,
				     b->branches[row].n / WORDS);
		if (c->options->only_speeds) {
			count_speed(c, b, row, &size);
			continue;
		}
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
	for (uint32_t i = 0; i < part->speed_keys.n; i++) {
		struct stack_speed *speed = stack_add_speed(c, tuples_get(&part->speed_keys, i));

		speed->weight = add_up(speed->weight, part->speeds.items[i].weight);
		speed->cycles = add_up(speed->cycles, part->speeds.items[i].cycles);
	}
	free(numbers);
	c->n_samples += part->n_samples;
	c->n_empty += part->n_empty;
	c->n_single += part->n_single;
	c->n_entries += part->n_entries;
	c->n_wrong_path += part->n_wrong_path;
	c->deepest = part->deepest > c->deepest ? part->deepest : c->deepest;
	c->weight = add_up(c->weight, part->weight);
	c->single_weight = add_up(c->single_weight, part->single_weight);
	c->timed_weight = add_up(c->timed_weight, part->timed_weight);
	c->n_instruction_samples += part->n_instruction_samples;
	c->instructions_weight = add_up(c->instructions_weight, part->instructions_weight);
}

const struct analysis_class stack_class = {
	.new = stack_new,
	.free = stack_free,
	.consume = stack_consume,
	.merge = stack_merge,
};
