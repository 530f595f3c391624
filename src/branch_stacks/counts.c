/* SPDX-License-Identifier: Apache-2.0 */
#include "branch_stacks/counts.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "branch_stacks/segments.h"
#include "branch_stacks/spill.h"
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

/*
 * A branch that was looked up lately. Keys: its addresses, its flags without the cycles, and the process.
 * Holds at times [from_ns, to_ns).
 */
struct known_branch {
	uint64_t from, to, flags; /* addresses 0 and 0: free */
	uint64_t from_ns, to_ns;
	uint32_t process;
	uint32_t from_place, to_place;
	uint32_t taken; /* number + 1; 0: not yet counted */
	uint8_t source_mode, target_mode, type;
	bool is_exception, is_told, is_mispredicted;
};

/* A segment that was looked up lately. */
struct known_segment {
	uint64_t places; /* of start and end */
	uint32_t flags;
	uint32_t number; /* + 1; 0: free */
};

/* A segment and its duration, as looked up lately. */
struct known_duration {
	uint32_t segment, cycles;
	uint32_t number; /* + 1; 0: free */
};

enum { KNOWN_BITS = 11 };

/* Most stacks have the branches of those before: what is found here needs no table. */
struct stack_scratch {
	struct known_branch branches[1 << KNOWN_BITS];
	struct known_segment segments[1 << KNOWN_BITS];
	struct known_duration durations[1 << KNOWN_BITS];
};

static inline size_t known_slot(uint64_t key)
{
	return (key * 0x9e3779b97f4a7c15u) >> (64 - KNOWN_BITS);
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
	tuples_init(&c->durations, DURATION_WORDS);
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
	free(c->scratch);
	tuples_release(&c->segments);
	vec_release(&c->segment_sums);
	vec_release(&c->chunk_sums);
	tuples_release(&c->durations);
	vec_release(&c->duration_sums);
	tuples_release(&c->taken);
	vec_release(&c->taken_sums);
	tuples_release(&c->speed_keys);
	vec_release(&c->speeds);
	spool_release(&c->spool);
	free(c->faulty);
	free(c);
}

/* What a sample stands for: its period, and what was not counted while others had the counter. */
static uint64_t sample_weight(const struct stack_counts *c, const struct batch *b, size_t row)
{
	size_t event = b->event[row];
	uint64_t period = batch_period(b, row);
	uint32_t cpu = batch_cpu(b, row);
	double scaled;

	if (period > UINT64_MAX / STACK_WEIGHT_ONE)
		return UINT64_MAX;
	if (c->options->mux == NULL)
		return period * STACK_WEIGHT_ONE;
	scaled = (double)period * STACK_WEIGHT_ONE * mux_factor(c->options->mux, event, cpu);
	return scaled < (double)UINT64_MAX ? (uint64_t)(scaled + 0.5) : UINT64_MAX;
}

static uint32_t segment_number(struct stack_counts *c, const uint64_t key[SEGMENT_WORDS])
{
	uint32_t number = tuples_add(&c->segments, key);

	if (number == c->segment_sums.n)
		vec_add(&c->segment_sums);
	return number;
}

/* The counts of a segment at a position and its neighbours. */
static struct chunk_sum *segment_chunk(struct stack_counts *c, struct segment_sum *s, size_t chunk)
{
	if (s->chunks[chunk] == 0) {
		vec_add(&c->chunk_sums);
		s->chunks[chunk] = (uint32_t)c->chunk_sums.n;
	}
	return &c->chunk_sums.items[s->chunks[chunk] - 1];
}

static uint32_t duration_number(struct stack_counts *c, uint32_t segment, uint64_t cycles)
{
	const uint64_t key[DURATION_WORDS] = { segment, cycles };
	uint32_t number = tuples_add(&c->durations, key);

	if (number == c->duration_sums.n)
		vec_add(&c->duration_sums);
	return number;
}

static uint32_t taken_number(struct stack_counts *c, const uint64_t key[TAKEN_WORDS])
{
	uint32_t number = tuples_add(&c->taken, key);

	if (number == c->taken_sums.n)
		vec_add(&c->taken_sums);
	return number;
}

static size_t clip_position(uint64_t position)
{
	return position < STACK_POSITIONS ? (size_t)position : STACK_POSITIONS - 1;
}

/* Looks a place up, and narrows the times at which the branch is known to those of the place. */
static uint32_t look_up_place(struct stack_counts *c, uint32_t process, uint64_t address,
			      uint64_t time_ns, struct known_branch *k)
{
	uint32_t machine = place_is_of_guest(process)
				   ? (process & ~PLACE_OF_GUEST_USER) | PLACE_OF_GUEST_KERNEL
				   : PLACE_OF_KERNEL;
	uint32_t whose = address >> 63 ? machine : process;
	struct mapped_range *r = place_cache_look_up(c->cache, whose, address, time_ns);

	k->from_ns = r->from_ns > k->from_ns ? r->from_ns : k->from_ns;
	k->to_ns = r->to_ns < k->to_ns ? r->to_ns : k->to_ns;
	return mapped_range_number(c->cache, r, address);
}

__attribute__((noinline)) static void look_up_branch(struct stack_counts *c, const uint64_t *words,
						     uint32_t process, uint64_t time_ns,
						     struct known_branch *k)
{
	struct branch_flags flags = branch_read_flags(words[2]);

	*k = (struct known_branch){
		.from = words[0],
		.to = words[1],
		.flags = words[2] & ~BRANCH_CYCLES,
		.to_ns = UINT64_MAX,
		.process = process,
		.source_mode = branch_source_mode(words[0], &flags),
		.target_mode = branch_target_mode(words[1], &flags),
		.type = (uint8_t)flags.type,
		.is_told = flags.is_mispredicted || flags.is_predicted,
		.is_mispredicted = flags.is_mispredicted,
	};
	k->is_exception = branch_changes_privilege(flags.type) || flags.is_abort ||
			  k->source_mode != k->target_mode;
	k->from_place = look_up_place(c, process, words[0], time_ns, k);
	k->to_place = look_up_place(c, process, words[1], time_ns, k);
}

/* Valid until the next call. */
static inline struct known_branch *known_branch(struct stack_counts *c, const uint64_t *words,
						uint32_t process, uint64_t time_ns)
{
	uint64_t flags = words[2] & ~BRANCH_CYCLES;
	struct known_branch *k =
		&c->scratch->branches[known_slot(words[0] ^ words[1] << 24 ^ flags ^ process)];

	if (k->from != words[0] || k->to != words[1] || k->flags != flags ||
	    k->process != process || time_ns - k->from_ns >= k->to_ns - k->from_ns)
		look_up_branch(c, words, process, time_ns, k);
	return k;
}

/* The branch at the end of a segment. */
struct segment_end {
	const uint64_t *words;
	uint32_t place;
	uint8_t mode;
	bool is_exception;
};

static inline uint32_t known_segment(struct stack_counts *c, const struct known_branch *older,
				     const struct segment_end *end)
{
	uint32_t flags = (end->is_exception ? SEGMENT_BY_EXCEPTION : 0u) |
			 (older->target_mode != end->mode ? SEGMENT_CHANGES_MODE : 0u);
	uint64_t places = (uint64_t)older->to_place << 32 | end->place;
	struct known_segment *k = &c->scratch->segments[known_slot(places + flags)];

	if (k->places != places || k->flags != flags || k->number == 0) {
		const uint64_t key[SEGMENT_WORDS] = {
			[SEGMENT_START] = older->to_place,
			[SEGMENT_END] = end->place,
			[SEGMENT_FLAGS] = flags,
		};

		*k = (struct known_segment){ places, flags, segment_number(c, key) + 1 };
	}
	return k->number - 1;
}

static inline void add_duration(struct stack_counts *c, uint32_t segment, uint32_t cycles,
				uint64_t n)
{
	struct known_duration *k =
		&c->scratch->durations[known_slot((uint64_t)segment << 16 | cycles)];

	if (k->segment != segment || k->cycles != cycles || k->number == 0)
		*k = (struct known_duration){ segment, cycles,
					      duration_number(c, segment, cycles) + 1 };
	c->duration_sums.items[k->number - 1] += n;
}

/* Is the entry one: filled, and not of a wrong path? */
static inline bool is_right_path_entry(const uint64_t *words)
{
	return (words[0] | words[1]) != 0 && !branch_is_of_wrong_path(words[2]);
}

/* What a stack has, without what is left out. */
struct stack_size {
	uint64_t n; /* entries, with what is left out */
	uint64_t n_segments, n_taken;
	uint64_t cycles; /* by cycles: of its segments; of all its branches if it has none */
	const uint64_t *newest;
};

static inline bool is_left_out(const struct stack_options *o, uint64_t position)
{
	return o->left_out >> clip_position(position) & 1;
}

/* How many of the positions before `n` are left out. */
static uint64_t count_left_out(const struct stack_options *o, uint64_t n)
{
	if (n >= STACK_POSITIONS)
		return (uint64_t)__builtin_popcountll(o->left_out) +
		       (n - STACK_POSITIONS) * is_left_out(o, STACK_POSITIONS);
	return (uint64_t)__builtin_popcountll(o->left_out & (((uint64_t)1 << n) - 1));
}

/* How many of `n` positions are not left out. */
static inline uint64_t count_kept(const struct stack_options *o, uint64_t position, uint64_t n)
{
	return o->left_out == 0
		       ? n
		       : n - (count_left_out(o, position + n) - count_left_out(o, position));
}

/* The cycles of the first `n` entries whose positions are not left out. */
static uint64_t cycles_of_stack(const struct stack_options *o, const uint64_t *words, uint64_t n)
{
	uint64_t cycles = 0;

	for (uint64_t position = 0; position < n; words += WORDS) {
		if (!is_right_path_entry(words))
			continue;
		cycles += is_left_out(o, position++) ? 0 : branch_cycles(words[2]);
	}
	return cycles;
}

static void note_wrong_path(struct stack_counts *c, uint64_t position)
{
	if (c->n_wrong_path++ == 0 || position < c->first_wrong_path)
		c->first_wrong_path = position;
}

static struct stack_size measure_stack(struct stack_counts *c, const struct batch *b, size_t row)
{
	const uint64_t *words = b->words.items + b->branches[row].first;
	const struct stack_options *o = c->options;
	struct stack_size size = { 0 };
	bool is_oldest_out;

	for (uint32_t i = b->branches[row].n / WORDS; i-- > 0;) {
		const uint64_t *entry = words + (size_t)i * WORDS;

		if (!is_right_path_entry(entry)) {
			if ((entry[0] | entry[1]) != 0)
				note_wrong_path(c, b->position[row]);
			continue;
		}
		size.newest = entry;
		size.n++;
	}
	size.n_taken = size.n;
	if (!o->has_segments || size.n == 0) {
		size.cycles = o->by_cycles ? cycles_of_stack(o, words, size.n) : 0;
		return size;
	}
	/* the oldest branch ends no segment that is known, and is counted nevertheless */
	is_oldest_out = is_left_out(o, size.n - 1);
	size.n_taken = count_kept(o, 0, size.n) + is_oldest_out;
	size.n_segments = size.n_taken - 1;
	size.cycles = o->by_cycles ? cycles_of_stack(o, words, size.n - 1) : 0;
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

	key[0] = size->newest[1] >> SPEED_CODE_SHIFT;
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
	speed->weight = stack_weights_add(speed->weight, sample_weight(c, b, row));
	speed->cycles = stack_weights_add(speed->cycles, size->cycles);
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

/* `n` times a weight. */
static uint64_t times(uint64_t n, uint64_t weight)
{
	return n != 0 && weight > UINT64_MAX / n ? UINT64_MAX : n * weight;
}

static inline struct taken_sum *known_taken(struct stack_counts *c, struct known_branch *k)
{
	if (k->taken == 0) {
		const uint64_t key[TAKEN_WORDS] = {
			[TAKEN_FROM] = k->from_place,
			[TAKEN_TO] = k->to_place,
			[TAKEN_TYPE] = k->type,
		};

		k->taken = taken_number(c, key) + 1;
	}
	return &c->taken_sums.items[k->taken - 1];
}

static inline void add_taken(struct stack_counts *c, struct known_branch *k, uint64_t n,
			     uint64_t weight)
{
	struct taken_sum *t;
	uint64_t before;

	if (n == 0)
		return;
	t = known_taken(c, k);
	before = t->last_sample == c->n_samples ? t->n_in_last : 0;
	t->n += n;
	t->weight = stack_weights_add(t->weight, times(n, weight));
	t->n_told += k->is_told ? n : 0;
	t->n_mispredicted += k->is_mispredicted ? n : 0;
	t->squares += n * (2 * before + n);
	t->n_in_last = before + n;
	t->last_sample = c->n_samples;
}

/*
 * Counts `n` segments of one number, the first at a position, as far as that is not left out. `words` are
 * those of the branch at its end; the others follow.
 */
static inline void add_segments(struct stack_counts *c, uint32_t segment, const uint64_t *words,
				uint64_t position, uint64_t n, uint64_t weight)
{
	struct segment_sum *s = &c->segment_sums.items[segment];
	uint64_t n_counted = 0, n_timed = 0, cycles = 0, n_alike = 0;
	uint32_t alike = 0; /* cycles of the n_alike segments before */

	for (uint64_t i = 0; i < n; i++, words += WORDS) {
		size_t at = clip_position(position + i);
		uint32_t its_cycles = branch_cycles(words[2]);

		if (c->options->left_out >> at & 1)
			continue;
		segment_chunk(c, s, at / STACK_CHUNK)->n[at % STACK_CHUNK]++;
		n_counted++;
		n_timed += its_cycles > 0;
		cycles += its_cycles;
		if (!c->options->with_durations || its_cycles == 0)
			continue;
		if (its_cycles != alike && n_alike > 0) {
			add_duration(c, segment, alike, n_alike);
			n_alike = 0;
		}
		alike = its_cycles;
		n_alike++;
	}
	if (n_alike > 0)
		add_duration(c, segment, alike, n_alike);
	s->n += n_counted;
	s->weight = stack_weights_add(s->weight, times(n_counted, weight));
	s->n_timed += n_timed;
	s->cycles += cycles;
}

/* How many entries there are of the first one's branch, one behind the other; at most `most`. */
static inline uint64_t entries_alike(const uint64_t *words, uint64_t most)
{
	const uint64_t *other = words + WORDS;
	uint64_t n = 1;

	while (n < most && other[0] == words[0] && other[1] == words[1] &&
	       ((other[2] ^ words[2]) & ~BRANCH_CYCLES) == 0) {
		other += WORDS;
		n++;
	}
	return n;
}

/*
 * How many of `n` branches from a position on are counted: those at the ends of segments that are, and
 * the oldest of the stack.
 */
static inline uint64_t taken_of_run(const struct stack_options *o, const struct stack_size *size,
				    uint64_t position, uint64_t n)
{
	uint64_t end = position + n;

	return count_kept(o, position, n) + (end == size->n && is_left_out(o, end - 1));
}

/*
 * Counts a stack, from the newest entry on. Entries of one branch that follow each other are counted
 * together: to add to the same sums at each would be to wait for each addition.
 */
static void count_stack(struct stack_counts *c, const struct batch *b, size_t row,
			const struct stack_size *size)
{
	const struct stack_options *o = c->options;
	const uint64_t *words = size->newest;
	uint32_t process = attribution_is_of_guest(b, row) ? PLACE_OF_GUEST_USER | b->process[row]
							   : attribution_whose_address(b, row, 0);
	uint64_t time_ns =
		attribution_row_time(timeline_is_by_position(c->session->timeline), b, row);
	uint64_t weight = sample_weight(c, b, row);
	uint64_t each_segment = o->by_cycles ? cycle_weight(c, b, row, size) : weight;
	uint64_t each_taken = o->by_cycles ? taken_weight(size, each_segment) : weight;
	struct segment_end end = { 0 };

	c->weight = stack_weights_add(c->weight, weight);
	c->segments_weight =
		stack_weights_add(c->segments_weight, times(size->n_segments, each_segment));
	c->taken_weight = stack_weights_add(c->taken_weight, times(size->n_taken, each_taken));
	if (size->cycles > 0)
		c->timed_weight = stack_weights_add(c->timed_weight, weight);
	for (uint64_t position = 0; position < size->n;) {
		struct known_branch *k;
		uint64_t n;

		if (!is_right_path_entry(words)) {
			words += WORDS;
			continue;
		}
		n = entries_alike(words, size->n - position);
		k = known_branch(c, words, process, time_ns);
		if (position > 0 && o->has_segments && !is_left_out(o, position - 1))
			add_segments(c, known_segment(c, k, &end), end.words, position - 1, 1,
				     each_segment);
		end = (struct segment_end){ words + (n - 1) * WORDS, k->from_place, k->source_mode,
					    k->is_exception };
		if (o->has_segments && count_kept(o, position, n - 1) > 0)
			add_segments(c, known_segment(c, k, &end), words, position, n - 1,
				     each_segment);
		add_taken(c, k, taken_of_run(o, size, position, n), each_taken);
		position += n;
		words += n * WORDS;
	}
}

static size_t sums_size(const struct stack_counts *c)
{
	return c->segment_sums.n * sizeof(*c->segment_sums.items) +
	       c->chunk_sums.n * sizeof(*c->chunk_sums.items) +
	       c->taken_sums.n * sizeof(*c->taken_sums.items) +
	       c->segments.n * (SEGMENT_WORDS + 1) * sizeof(*c->segments.words) +
	       c->taken.n * (TAKEN_WORDS + 1) * sizeof(*c->taken.words) +
	       c->durations.n * (DURATION_WORDS + 1) * sizeof(*c->durations.words) +
	       c->duration_sums.n * sizeof(*c->duration_sums.items);
}

void stack_counts_forget_sums(struct stack_counts *c)
{
	tuples_reset(&c->segments);
	tuples_reset(&c->taken);
	tuples_reset(&c->durations);
	vec_release(&c->duration_sums);
	vec_release(&c->segment_sums);
	vec_release(&c->chunk_sums);
	vec_release(&c->taken_sums);
	memset(c->scratch, 0, sizeof(*c->scratch));
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
				stack_weights_add(c->instructions_weight, sample_weight(c, b, row));
		}
		if (b->event[row] != c->options->event || !(b->has[row] & HAS_BRANCHES))
			continue;
		size = measure_stack(c, b, row);
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
	if (c->options->limit_bytes > 0 && sums_size(c) > c->options->limit_bytes)
		stack_counts_spill(c);
}

static uint32_t merge_segment(struct stack_counts *c, const struct stack_counts *part, uint32_t i)
{
	const struct segment_sum *from = &part->segment_sums.items[i];
	uint32_t number = segment_number(c, tuples_get(&part->segments, i));
	struct segment_sum *to = &c->segment_sums.items[number];

	to->n += from->n;
	to->weight = stack_weights_add(to->weight, from->weight);
	to->n_timed += from->n_timed;
	to->cycles += from->cycles;
	for (size_t at = 0; at < STACK_POSITIONS; at++)
		if (from->chunks[at / STACK_CHUNK] != 0)
			segment_chunk(c, to, at / STACK_CHUNK)->n[at % STACK_CHUNK] +=
				segment_n_at(part, i, at);
	return number;
}

static void merge_taken(struct stack_counts *c, const uint64_t *key, const struct taken_sum *from)
{
	uint32_t number = taken_number(c, key);

	taken_sum_add(&c->taken_sums.items[number], from);
}

static void stack_merge(void *into, const void *from, const struct id_map *map)
{
	struct stack_counts *c = into;
	const struct stack_counts *part = from;
	uint32_t *numbers = mem_alloc(part->segments.n + 1, sizeof(*numbers));

	(void)map; /* places have the same numbers everywhere */
	for (uint32_t i = 0; i < part->segments.n; i++)
		numbers[i] = merge_segment(c, part, i);
	for (uint32_t i = 0; i < part->durations.n; i++) {
		const uint64_t *key = tuples_get(&part->durations, i);
		uint32_t number =
			duration_number(c, numbers[key[DURATION_SEGMENT]], key[DURATION_CYCLES]);

		c->duration_sums.items[number] += part->duration_sums.items[i];
	}
	for (uint32_t i = 0; i < part->taken.n; i++)
		merge_taken(c, tuples_get(&part->taken, i), &part->taken_sums.items[i]);
	for (uint32_t i = 0; i < part->speed_keys.n; i++) {
		struct stack_speed *speed = stack_add_speed(c, tuples_get(&part->speed_keys, i));

		speed->weight = stack_weights_add(speed->weight, part->speeds.items[i].weight);
		speed->cycles = stack_weights_add(speed->cycles, part->speeds.items[i].cycles);
	}
	free(numbers);
	spool_merge(&c->spool, &part->spool);
	for (int fault = 0; fault < N_SEGMENT_FAULTS && part->faulty != NULL; fault++) {
		if (c->faulty == NULL)
			c->faulty = mem_zalloc(1, sizeof(*c->faulty));
		segment_faults_add(c->faulty, (enum segment_fault)fault, part->faulty->n[fault],
				   part->faulty->weight[fault], part->faulty->positions[fault]);
	}
	c->n_samples += part->n_samples;
	c->n_empty += part->n_empty;
	c->n_single += part->n_single;
	c->n_entries += part->n_entries;
	if (c->n_wrong_path == 0 ||
	    (part->n_wrong_path > 0 && part->first_wrong_path < c->first_wrong_path))
		c->first_wrong_path = part->first_wrong_path;
	c->n_wrong_path += part->n_wrong_path;
	c->deepest = part->deepest > c->deepest ? part->deepest : c->deepest;
	c->weight = stack_weights_add(c->weight, part->weight);
	c->segments_weight = stack_weights_add(c->segments_weight, part->segments_weight);
	c->taken_weight = stack_weights_add(c->taken_weight, part->taken_weight);
	c->timed_weight = stack_weights_add(c->timed_weight, part->timed_weight);
	c->n_instruction_samples += part->n_instruction_samples;
	c->instructions_weight =
		stack_weights_add(c->instructions_weight, part->instructions_weight);
}

const struct analysis_class stack_class = {
	.new = stack_new,
	.free = stack_free,
	.reads_branches = true,
	.consume = stack_consume,
	.finish = stack_counts_finish,
	.merge = stack_merge,
};

uint64_t segment_n_at(const struct stack_counts *c, uint32_t segment, size_t position)
{
	uint32_t number = c->segment_sums.items[segment].chunks[position / STACK_CHUNK];

	return number == 0 ? 0 : c->chunk_sums.items[number - 1].n[position % STACK_CHUNK];
}
