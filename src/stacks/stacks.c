/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/stacks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "callers/callers.h"
#include "keys/keys.h"
#include "scan/scan.h"
#include "spe/packet.h"

static uint32_t wished_dimensions(const struct session *s, const struct stacks_wish *wish)
{
	uint32_t dimensions = 1u << DIM_PROCESS | 1u << DIM_PLACE | 1u << DIM_FRAME;

	dimensions |= wish->by_thread ? 1u << DIM_TID : 0;
	dimensions |= wish->by_source ? 1u << DIM_SOURCE : 0;
	dimensions |= wish->by_slice && s->slices.n > 0 ? 1u << DIM_SLICE : 0;
	if (capture_n_chunks(s->capture) > 0)
		dimensions |= 1u << DIM_EVENTS | estimate_dimensions(s);
	return dimensions;
}

static void stack_add_spe(const struct stacks *s, const uint64_t *key, const struct hot_cost *c,
			  uint64_t *values)
{
	uint64_t events = key[DIM_EVENTS];

	values[STACK_CYCLES] += c->cycles;
	values[STACK_SATURATED] += c->full;
	values[STACK_OPERATIONS] +=
		c->n * (s->options.hot.dimensions >> DIM_CPU & 1
				? spe_interval(s->session, (uint32_t)key[DIM_CPU])->mean
				: spe_interval_common(s->session).mean);
	values[STACK_L1D_MISSES] += events >> SPE_EV_L1D_REFILL & 1 ? c->n : 0;
	values[STACK_LLC_MISSES] += events >> SPE_EV_LLC_MISS & 1 ? c->n : 0;
	values[STACK_WALKS] += c->n_walks;
	values[STACK_MISPREDICTED] += c->n_mispredicted;
}

static void stack_add(const struct stacks *s, const uint64_t *key, const struct hot_cost *c,
		      uint64_t *values)
{
	size_t sampled;

	values[STACK_RECORDS] += c->n;
	if (hot_is_spe(s->hot, key[DIM_EVENT])) {
		stack_add_spe(s, key, c, values);
	} else if (!hot_is_branches(s->hot, key[DIM_EVENT], &sampled)) {
		values[STACK_PERIOD] += c->period;
		values[STACK_SCALED] +=
			c->scaled; /* in HOT_SCALED_UNIT, until the sum is complete */
	}
}

static bool are_of_one_function(const struct names *names, uint32_t a, uint32_t b)
{
	const struct symbol *x = &names->symbols[a], *y = &names->symbols[b];

	return a == b || (x->function.v != 0 && x->function.v == y->function.v &&
			  session_place(names->session, a).module.v ==
				  session_place(names->session, b).module.v);
}

/*
 * How many callers of the code at `place` a recorded chain has. It begins with the address of the interrupt,
 * which is the record's own, or, of precise events, somewhat behind it: then in the same function, in one that
 * it just called, or back in its caller. Without the part of the kernel a chain begins with a caller.
 */
static uint32_t n_callers(const struct stacks *s, const struct stack *stack)
{
	uint32_t n = stack->n_callers;

	if (n == 0)
		return 0;
	if (are_of_one_function(&s->names, stack->place, stack_caller(s, stack->callers, n - 1)))
		return n - 1;
	if (n == 1)
		return 1;
	return are_of_one_function(&s->names, stack->place, stack_caller(s, stack->callers, n - 2))
		       ? n - 2
		       : n;
}

/*
 * What stacks are ordered and told apart by. A number of the chain is the place's rank + 1, so that callers stand
 * before callees; 0 ends it.
 */
static void put_stack_key(const uint32_t *ranks, uint32_t source_rank,
			  const struct chained_group *g, struct text *key)
{
	text_reset(key);
	sort_key_u32(key, (uint32_t)g->key[DIM_EVENT]);
	sort_key_u32(key, (uint32_t)g->key[DIM_PROCESS]);
	sort_key_u64(key, g->key[DIM_TID]);
	sort_key_u64(key, g->key[DIM_SLICE]);
	for (size_t i = g->chain.n; i-- > 0;)
		sort_key_u32(key, ranks[g->chain.items[i]] + 1);
	sort_key_u32(key, 0);
	sort_key_u32(key, source_rank);
	sort_key_u32(key, ranks[g->key[DIM_PLACE]]);
}

enum { KEY_HEAD = 4 + 4 + 8 + 8, KEY_TAIL = 4 + 4 + 4, RANK_BYTES = 4 };

static void read_stack_key(const struct stacks *s, const struct sorter_record *r, struct stack *out)
{
	const uint8_t *tail = r->key + r->key_size - KEY_TAIL;
	uint32_t dimensions = s->options.hot.dimensions;

	*out = (struct stack){
		.event = sort_key_get_u32(r->key),
		.process = sort_key_get_u32(r->key + 4),
		.tid = dimensions >> DIM_TID & 1 ? sort_key_get_u64(r->key + 8) : DIM_ABSENT,
		.slice = dimensions >> DIM_SLICE & 1 ? sort_key_get_u64(r->key + 16) : DIM_ABSENT,
		.source = dimensions >> DIM_SOURCE & 1 ? s->sources[sort_key_get_u32(tail + 4)]
						       : DIM_ABSENT,
		.place = s->names.numbers[sort_key_get_u32(tail + 8)],
		.callers = r->key + KEY_HEAD,
		.n_callers = (r->key_size - KEY_HEAD - KEY_TAIL) / RANK_BYTES,
	};
	out->n_callers = n_callers(s, out);
}

uint32_t stack_caller(const struct stacks *s, const uint8_t *callers, uint32_t i)
{
	return s->names.numbers[sort_key_get_u32(callers + (size_t)i * RANK_BYTES) - 1];
}

bool stacks_next(const struct stacks *s, uint64_t *at, struct stack *out)
{
	struct sorter_record first, record;

	if (!sorter_next(&s->sorted, at, &first))
		return false;
	read_stack_key(s, &first, out);
	record = first;
	for (uint64_t next = *at;; *at = next) {
		const uint8_t *value = record.value;

		for (int i = 0; i < N_STACK_VALUES; i++)
			out->values[i] += sort_value_get(&value);
		if (!sorter_next(&s->sorted, &next, &record) || !sorter_keys_equal(&first, &record))
			break;
	}
	out->values[STACK_SCALED] /= HOT_SCALED_UNIT;
	return true;
}

static int compare_source_words(const void *left, const void *right, void *names)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return key_word_compare(names, WORD_SOURCE, a, b);
}

/* By number of a source in `sources`: its rank. To be freed. */
static uint32_t *rank_sources(struct stacks *s, const struct tuples *sources)
{
	uint32_t *ranks = mem_alloc(sources->n + 1, sizeof(*ranks));

	s->sources = mem_alloc(sources->n + 1, sizeof(*s->sources));
	for (uint32_t i = 0; i < sources->n; i++)
		s->sources[i] = tuples_get(sources, i)[0];
	if (sources->n > 1)
		qsort_r(s->sources, sources->n, sizeof(*s->sources), compare_source_words,
			&s->names);
	for (uint32_t i = 0; i < sources->n; i++)
		ranks[tuples_find(sources, &s->sources[i])] = i;
	return ranks;
}

/* The numbers of places in order. To be freed. */
static uint32_t *order_places(const struct session *s)
{
	uint32_t *numbers = mem_alloc(place_numbers_n(s->places) + 1, sizeof(*numbers));

	place_numbers_sorted(s->places, s->pool, numbers, NULL);
	return numbers;
}

/* By place: its rank in that order. To be freed. */
static uint32_t *rank_places(const struct session *s, const uint32_t *numbers)
{
	uint32_t n = place_numbers_n(s->places);
	uint32_t *ranks = mem_alloc(n + 1, sizeof(*ranks));

	for (uint32_t i = 0; i < n; i++)
		ranks[numbers[i]] = i;
	return ranks;
}

static void want_places(const struct chained_group *g, bool *wanted)
{
	wanted[g->key[DIM_PLACE]] = true;
	for (size_t i = 0; i < g->chain.n; i++)
		wanted[g->chain.items[i]] = true;
}

/* Sorts all groups by stack, adds up the totals, and marks the places that need a name. */
static int sort_stacks(struct stacks *s, const struct stack_sums *sums, const uint32_t *numbers,
		       bool *wanted, struct err *err)
{
	uint32_t *ranks = rank_places(s->session, numbers);
	uint32_t *source_ranks = rank_sources(s, &sums->sources);
	struct stack_sums_position at = { 0 };
	struct chained_group g = { 0 };
	struct text key = { 0 }, value = { 0 };

	while (stack_sums_next(sums, &at, &g)) {
		uint64_t values[N_STACK_VALUES] = { 0 };
		uint32_t source = tuples_find(&sums->sources, &g.key[DIM_SOURCE]);

		want_places(&g, wanted);
		stack_add(s, g.key, &g.cost, values);
		text_reset(&value);
		for (int i = 0; i < N_STACK_VALUES; i++) {
			sort_value_put(&value, values[i]);
			s->totals[g.key[DIM_EVENT]][i] += values[i];
		}
		put_stack_key(ranks, source_ranks[source], &g, &key);
		sorter_add(&s->sorted, &key, &value);
	}
	for (uint64_t event = 0; event < s->totals_end; event++)
		s->totals[event][STACK_SCALED] /= HOT_SCALED_UNIT;
	free(ranks);
	free(source_ranks);
	chained_group_release(&g);
	text_release(&key);
	text_release(&value);
	return sorter_finish(&s->sorted, err);
}

/* What hot_event_weight() is of a stack. */
static uint64_t weight_of(const struct stacks *s, uint64_t event, const uint64_t *values)
{
	size_t sampled;

	return hot_is_spe(s->hot, event)		  ? values[STACK_CYCLES]
	       : hot_is_branches(s->hot, event, &sampled) ? values[STACK_RECORDS]
							  : values[STACK_PERIOD];
}

/* Looks up what was inlined into functions that matter, as `hot` does. */
static void name_inlined(struct stacks *s)
{
	uint64_t *parts = mem_zalloc((size_t)hot_function_end(&s->names) + 1, sizeof(*parts));
	struct stack stack;

	for (uint64_t at = 0; stacks_next(s, &at, &stack);) {
		uint64_t whole = weight_of(s, stack.event, s->totals[stack.event]);
		double part = whole == 0 ? 0 : ldexp(1, HOT_PART_BITS) / (double)whole;

		parts[s->names.symbols[stack.place].function.v] +=
			(uint64_t)((double)weight_of(s, stack.event, stack.values) * part);
	}
	hot_inline_parts(&s->names, parts);
	free(parts);
}

/* Takes the sums, which need no memory then. */
static int take_sums(struct stacks *s, struct stack_sums *sums, enum symbols_depth depth,
		     struct err *err)
{
	bool *wanted = mem_zalloc(place_numbers_n(s->session->places) + 1, sizeof(*wanted));
	uint32_t *numbers = order_places(s->session);
	int rc = stack_sums_finish(sums, err);

	s->totals_end = hot_event_end(s->hot);
	s->totals = mem_zalloc(s->totals_end, sizeof(*s->totals));
	if (rc == 0)
		rc = sort_stacks(s, sums, numbers, wanted, err);
	stack_sums_class.free(sums);
	/* the next scan has other places, unless it goes on with these */
	if (s->session->callers.of.find == NULL)
		place_numbers_forget_index(s->session->places);
	if (rc == 0)
		names_init_in_order(&s->names, s->session, numbers, wanted,
				    depth == SYMBOLS_INLINED ? SYMBOLS_FUNCTIONS : depth);
	else
		free(numbers);
	if (rc == 0 && depth == SYMBOLS_INLINED)
		name_inlined(s);
	free(wanted);
	return rc;
}

int stacks_collect(struct stacks *out, struct session *session, const struct select *select,
		   const struct stacks_wish *wish, struct err *err)
{
	size_t memory = wish->memory_bytes > 0 ? wish->memory_bytes : STACKS_MEMORY_BYTES;
	struct analysis sums = { .class = &stack_sums_class, .options = &out->options };
	int rc;

	*out = (struct stacks){
		.session = session,
		.memory_bytes = memory,
	};
	out->options = (struct stack_sums_options){
		.hot = wish->records,
		.limit_bytes = memory / pool_size(session->pool),
	};
	out->options.hot.dimensions = wished_dimensions(session, wish);
	out->mux = mux_new(session);
	if (mux_scales(out->mux))
		out->options.hot.mux = out->mux;
	if (!wish->records.without_spe)
		callers_estimate(session);
	scan(session, select, &sums, 1);
	out->hot = hot_class.new(session, &out->options.hot);
	sorter_init(&out->sorted, memory);
	rc = take_sums(out, sums.result, wish->depth, err);
	if (rc < 0)
		stacks_release(out);
	return rc;
}

void stacks_release(struct stacks *s)
{
	hot_class.free(s->hot);
	sorter_release(&s->sorted);
	names_release(&s->names);
	mux_free(s->mux);
	free(s->sources);
	free(s->totals);
	*s = (struct stacks){ 0 };
}
