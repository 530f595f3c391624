/* SPDX-License-Identifier: Apache-2.0 */
#include "stacks/stacks.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/radix.h"
#include "keys/keys.h"
#include "scan/scan.h"
#include "spe/packet.h"

/* Dimensions that tell stacks apart, besides the place: most significant first, as they are ordered. */
static const enum dimension identity[] = {
	DIM_EVENT, DIM_PROCESS, DIM_TID, DIM_SLICE, DIM_FRAME, DIM_SOURCE,
};

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

/*
 * By frame: its rank. Callers come before callees, callees of one frame in order of their place, so that
 * ranks do not depend on how workers numbered frames. `ranks` are those of places. To be freed.
 */
static uint32_t *rank_frames(const struct session *s, const uint32_t *ranks)
{
	uint32_t n = s->frames.n, top = 0, rank = 0;
	struct radix_pair *keys = mem_zalloc(n + 1, sizeof(*keys));
	uint32_t *first =
		mem_zalloc(n + 1, sizeof(*first)); /* by frame: its first callee; 0: none */
	uint32_t *next = mem_zalloc(n + 1, sizeof(*next));
	uint32_t *open = mem_alloc(n + 1, sizeof(*open));
	uint32_t *out = mem_zalloc(n + 1, sizeof(*out));
	uint32_t *order;

	for (uint32_t i = 1; i < n; i++)
		keys[i] = (struct radix_pair){ tuples_get(&s->frames, i)[0],
					       ranks[tuples_get(&s->frames, i)[1]] };
	order = radix_order(keys, n);
	for (uint32_t i = n; i-- > 0;) { /* backwards: the first of a list is added last */
		uint32_t frame = order[i];

		if (frame == 0)
			continue;
		next[frame] = first[keys[frame].major];
		first[keys[frame].major] = frame;
	}
	if (n > 0)
		open[top++] = first[0];
	while (top > 0) {
		uint32_t frame = open[top - 1];

		if (frame == 0) {
			top--;
			continue;
		}
		out[frame] = ++rank;
		open[top - 1] = next[frame];
		open[top++] = first[frame];
	}
	free(keys);
	free(order);
	free(first);
	free(next);
	free(open);
	return out;
}

/* A rest of the sums: the words by which it is told apart. */
struct stacks_rest {
	uint64_t words[COUNT(identity)];
	uint32_t number;
};

static int compare_rest_words(const struct names *names, const struct stacks_rest *x,
			      const struct stacks_rest *y)
{
	for (size_t i = 0; i < COUNT(identity); i++) {
		uint64_t a = x->words[i], b = y->words[i];
		int order = identity[i] == DIM_SOURCE ? key_word_compare(names, WORD_SOURCE, a, b)
						      : (a > b) - (a < b);

		if (order != 0)
			return order;
	}
	return 0;
}

static int compare_rests(const void *left, const void *right, void *names)
{
	return compare_rest_words(names, left, right);
}

/* By rest: its rank; equal ones are of one stack. To be freed. */
static uint32_t *rank_rests(const struct stacks *s, const uint32_t *frame_ranks)
{
	uint32_t n = s->hot->rests.n, class = 0;
	struct stacks_rest *rests = mem_zalloc(n + 1, sizeof(*rests));
	uint32_t *classes = mem_zalloc(n + 1, sizeof(*classes));

	for (uint32_t i = 0; i < n; i++) {
		rests[i].number = i;
		for (size_t k = 0; k < COUNT(identity); k++) {
			uint64_t word = hot_rest_word(s->hot, i, identity[k]);

			rests[i].words[k] = identity[k] == DIM_FRAME ? frame_ranks[word] : word;
		}
	}
	if (n > 1)
		qsort_r(rests, n, sizeof(*rests), compare_rests, (void *)(uintptr_t)&s->names);
	for (uint32_t i = 0; i < n; i++) {
		class += i > 0 && compare_rest_words(&s->names, &rests[i - 1], &rests[i]) != 0;
		classes[rests[i].number] = class;
	}
	free(rests);
	return classes;
}

/* Orders the groups by stack. */
static void order_groups(struct stacks *s)
{
	uint32_t n = hot_end(s->hot);
	uint32_t *ranks = mem_zalloc(s->names.n + 1, sizeof(*ranks)), *frame_ranks;
	uint64_t *keys = mem_alloc(n + 1, sizeof(*keys));

	assert(!s->hot->is_by_place && s->hot->has_place);
	for (uint32_t i = 0; i < s->names.n; i++)
		ranks[s->names.numbers[i]] = i;
	frame_ranks = rank_frames(s->session, ranks);
	s->classes = rank_rests(s, frame_ranks);
	s->order = mem_alloc(n + 1, sizeof(*s->order));
	for (uint32_t i = hot_next(s->hot, 0); i < n; i = hot_next(s->hot, i + 1)) {
		struct place_group g = s->hot->groups.list.items[i];

		s->order[s->n++] = i;
		keys[i] = (uint64_t)s->classes[g.rest] << 32 | ranks[g.place];
	}
	radix_sort(s->order, s->n, keys);
	free(ranks);
	free(frame_ranks);
	free(keys);
}

/* Names of what stacks consist of. */
static void name_frames(struct stacks *s, enum symbols_depth depth)
{
	const struct keys lines = { { KEY_LINE }, 1 }, functions = { { KEY_FUNCTION }, 1 };

	hot_names(s->session, s->hot, depth == SYMBOLS_LINES ? &lines : &functions, &s->names);
	if (depth == SYMBOLS_INLINED)
		hot_names_inlined(s->hot, &s->names);
}

static void stack_add_spe(const struct stacks *s, const uint64_t *key, const struct hot_cost *c,
			  uint64_t *values)
{
	uint64_t events = key[DIM_EVENTS];

	values[STACK_CYCLES] += c->cycles;
	values[STACK_SATURATED] += c->full;
	values[STACK_OPERATIONS] +=
		c->n * (s->hot->options->dimensions >> DIM_CPU & 1
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
 * The frame of who called the code at `place`. A recorded chain begins with the address of the interrupt,
 * which is the record's own, or, of precise events, somewhat behind it: then in the same function, in one that
 * it just called, or back in its caller. Without the part of the kernel a chain begins with a caller.
 */
static uint32_t callers_frame(const struct stacks *s, uint32_t place, uint32_t frame)
{
	const struct tuples *frames = &s->session->frames;
	const uint64_t *innermost, *caller;

	if (frame == 0)
		return 0;
	innermost = tuples_get(frames, frame);
	if (are_of_one_function(&s->names, place, (uint32_t)innermost[1]))
		return (uint32_t)innermost[0];
	if (innermost[0] == 0)
		return frame;
	caller = tuples_get(frames, (uint32_t)innermost[0]);
	return are_of_one_function(&s->names, place, (uint32_t)caller[1]) ? (uint32_t)caller[0]
									  : frame;
}

bool stacks_next(const struct stacks *s, size_t *at, struct stack *out)
{
	const struct place_group *groups = s->hot->groups.list.items;
	uint64_t key[N_DIMENSIONS];
	uint32_t class, place;

	if (*at >= s->n)
		return false;
	hot_key(s->hot, s->order[*at], key);
	*out = (struct stack){
		.event = key[DIM_EVENT],
		.process = (uint32_t)key[DIM_PROCESS],
		.tid = s->options.dimensions >> DIM_TID & 1 ? key[DIM_TID] : DIM_ABSENT,
		.slice = s->options.dimensions >> DIM_SLICE & 1 ? key[DIM_SLICE] : DIM_ABSENT,
		.source = s->options.dimensions >> DIM_SOURCE & 1 ? key[DIM_SOURCE] : DIM_ABSENT,
		.place = (uint32_t)key[DIM_PLACE],
	};
	out->frame = callers_frame(s, out->place, (uint32_t)key[DIM_FRAME]);
	class = s->classes[groups[s->order[*at]].rest];
	place = groups[s->order[*at]].place;
	for (; *at < s->n && groups[s->order[*at]].place == place &&
	       s->classes[groups[s->order[*at]].rest] == class;
	     ++*at) {
		hot_key(s->hot, s->order[*at], key);
		stack_add(s, key, hot_cost(s->hot, s->order[*at]), out->values);
	}
	out->values[STACK_SCALED] /= HOT_SCALED_UNIT;
	return true;
}

static void add_totals(struct stacks *s)
{
	s->totals_end = hot_event_end(s->hot);
	s->totals = mem_zalloc(s->totals_end, sizeof(*s->totals));
	for (size_t i = 0; i < s->n; i++) {
		uint64_t key[N_DIMENSIONS];

		hot_key(s->hot, s->order[i], key);
		stack_add(s, key, hot_cost(s->hot, s->order[i]), s->totals[key[DIM_EVENT]]);
	}
	for (uint64_t event = 0; event < s->totals_end; event++)
		s->totals[event][STACK_SCALED] /= HOT_SCALED_UNIT;
}

void stacks_collect(struct stacks *out, struct session *session, const struct select *select,
		    const struct stacks_wish *wish)
{
	struct analysis hot = { .class = &hot_class, .options = &out->options };

	*out = (struct stacks){ .session = session, .options = wish->records };
	out->options.dimensions = wished_dimensions(session, wish);
	out->mux = mux_new(session);
	if (mux_scales(out->mux))
		out->options.mux = out->mux;
	scan(session, select, &hot, 1);
	out->hot = hot.result;
	name_frames(out, wish->depth);
	order_groups(out);
	add_totals(out);
}

void stacks_release(struct stacks *s)
{
	if (s->hot != NULL)
		hot_class.free(s->hot);
	names_release(&s->names);
	mux_free(s->mux);
	free(s->order);
	free(s->classes);
	free(s->totals);
	*s = (struct stacks){ 0 };
}
