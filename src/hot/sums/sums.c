/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/sums/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/prefetch.h"
#include "capture/format/sample.h"
#include "estimate/latency.h"
#include "spe/packet.h"

/* Records whose groups are looked up at once, so that cache misses overlap. */
enum { ROWS_AT_ONCE = 64 };

/* Call chains are looked up all over their tables: more of them than a core's cache holds is slower than the file. */
enum { CHAINS_BYTES = 1 << 20, MOST_CHAINS_BYTES = 16 << 20 };

size_t hot_chains_bytes(const struct session *s)
{
	size_t most = MOST_CHAINS_BYTES / pool_size(s->pool);

	return most < CHAINS_BYTES ? most : CHAINS_BYTES;
}

static bool has_chains(const struct capture *c)
{
	for (size_t i = 0; i < capture_n_events(c); i++)
		if (capture_event(c, i)->attr.sample_type &
		    ((uint64_t)1 << SAMPLE_CALLCHAIN | (uint64_t)1 << SAMPLE_STACK_USER))
			return true;
	return false;
}

/* Is it a dimension of the groups? Call chains are none if the capture has no chains. */
static bool is_told_apart(const struct hot *hot, int dimension)
{
	if (dimension == DIM_FRAME && !has_chains(hot->session->capture))
		return false;
	return dimension == DIM_EVENT || hot->options->dimensions >> dimension & 1;
}

static void *hot_new(const struct session *session, const void *options)
{
	struct hot *hot = mem_zalloc(1, sizeof(*hot));

	hot->session = session;
	hot->options = options;
	hot->spe_event = capture_n_events(session->capture);
	for (int i = 0; i < N_DIMENSIONS; i++)
		if (i != DIM_PLACE && is_told_apart(hot, i))
			hot->dimensions[hot->n_dimensions++] = (enum dimension)i;
	hot->has_place = is_told_apart(hot, DIM_PLACE);
	tuples_init(&hot->rests, hot->n_dimensions);
	tuples_init(&hot->events_with_callers, 1);
	place_groups_init(&hot->groups);
	place_costs_init(&hot->by_place);
	/* SPE records have call chains only if those were estimated */
	hot->is_by_place = !(hot->options->dimensions &
			     ~(1u << DIM_EVENT | 1u << DIM_PLACE | 1u << DIM_FRAME)) &&
			   (session->callers.of.find == NULL || !is_told_apart(hot, DIM_FRAME));
	return hot;
}

static void hot_free(void *partial)
{
	struct hot *hot = partial;

	if (hot == NULL)
		return;
	tuples_release(&hot->rests);
	place_groups_release(&hot->groups);
	vec_release(&hot->costs);
	place_costs_release(&hot->by_place);
	vec_release(&hot->of_rests);
	hot_chains_release(&hot->chains);
	hot_free(hot->folded);
	tuples_release(&hot->events_with_callers);
	free(hot->is_dropped);
	free(hot);
}

/* Place and rest of a group of `costs`. */
static struct place_group hot_group_at(const struct hot *hot, uint32_t at)
{
	return hot->has_place ? hot->groups.list.items[at] : (struct place_group){ .rest = at };
}

void hot_key(const struct hot *hot, uint32_t group, uint64_t key[N_DIMENSIONS])
{
	struct place_group g;
	const uint64_t *words;

	for (size_t i = 0; i < N_DIMENSIONS; i++)
		key[i] = 0;
	if (group < hot_n_by_place(hot)) {
		key[DIM_EVENT] = hot->spe_event;
		key[DIM_PLACE] = group;
		return;
	}
	g = hot_group_at(hot, group - hot_n_by_place(hot));
	key[DIM_PLACE] = g.place;
	words = tuples_get(&hot->rests, g.rest);
	for (size_t i = 0; i < hot->n_dimensions; i++)
		key[hot->dimensions[i]] = words[i];
	if (key[DIM_FRAME] == HOT_FOLDED)
		key[DIM_FRAME] = 0;
}

uint64_t hot_key_word(const struct hot *hot, uint32_t group, enum dimension dimension)
{
	struct place_group g;
	uint64_t word;

	if (group < hot_n_by_place(hot) && dimension == DIM_PLACE)
		return group;
	if (group < hot_n_by_place(hot))
		return dimension == DIM_EVENT ? hot->spe_event : 0;
	g = hot_group_at(hot, group - hot_n_by_place(hot));
	if (dimension == DIM_PLACE)
		return g.place;
	word = hot_rest_word(hot, g.rest, dimension);
	return dimension == DIM_FRAME && word == HOT_FOLDED ? 0 : word;
}

bool hot_is_folded(const struct hot *hot, uint32_t group)
{
	return group >= hot_n_by_place(hot) &&
	       hot_rest_word(hot, hot_group_at(hot, group - hot_n_by_place(hot)).rest, DIM_FRAME) ==
		       HOT_FOLDED;
}

void hot_read_chained(const struct hot *hot, uint32_t group, const struct tuples *frames,
		      struct chained_group *out)
{
	uint64_t key[N_DIMENSIONS];
	struct hot_cost cost;

	hot_key(hot, group, key);
	cost = hot_cost(hot, group);
	chained_group_read(out, key, &cost, frames);
}

bool hot_chained_next(const struct hot *hot, struct spool_position *at, struct chained_group *out)
{
	while (hot_chains_next(&hot->chains, at, out))
		if (hot->is_dropped == NULL || out->key[DIM_EVENT] >= hot->spe_event ||
		    !hot->is_dropped[out->key[DIM_EVENT]])
			return true;
	return false;
}

int hot_check(const struct hot *hot, struct err *err)
{
	if (hot->chains.spool.rc < 0)
		*err = hot->chains.spool.err;
	return hot->chains.spool.rc;
}

size_t hot_chains_size(const struct hot *hot, const struct tuples *frames)
{
	return hot->costs.n * (sizeof(*hot->costs.items) + sizeof(*hot->groups.list.items)) +
	       hot->rests.n * (hot->rests.width + 1) * sizeof(*hot->rests.words) +
	       (size_t)frames->n * HOT_FRAME_BYTES;
}

const struct hot_cost *hot_rest_cost(const struct hot *hot, uint32_t rest)
{
	return rest < hot->rests.n ? &hot->of_rests.items[rest] : &hot->of_by_place;
}

uint64_t hot_rest_word(const struct hot *hot, uint32_t rest, enum dimension dimension)
{
	if (rest >= hot->rests.n)
		return dimension == DIM_EVENT ? hot->spe_event : 0;
	for (size_t i = 0; i < hot->n_dimensions; i++)
		if (hot->dimensions[i] == dimension)
			return tuples_get(&hot->rests, rest)[i];
	return 0;
}

/* The number in `costs` of a group, which is added if it is new. */
static inline uint32_t hot_group_of(struct hot *hot, uint32_t place, uint32_t rest)
{
	uint32_t group = hot->has_place ? place_groups_add(&hot->groups, place, rest) : rest;

	if (group == hot->costs.n)
		*vec_add(&hot->costs) = (struct hot_cost){ 0 };
	return group;
}

/* All bits, or none. */
static inline uint64_t mask_if(bool is)
{
	return -(uint64_t)is;
}

/* Without branches: which records walk or are branches is random, so half of these would be mispredicted. */
static inline struct hot_cost cost_of_spe(const struct batch *b, size_t row)
{
	uint32_t has = b->has[row];
	bool has_total = (has & HAS_TOTAL) != 0;
	uint64_t events = b->events[row] & mask_if((has & HAS_EVENTS) != 0);
	uint64_t total = b->total[row] & mask_if(has_total);
	bool is_full = latency_is_full(total), is_walk = events >> SPE_EV_TLB_WALK & 1;
	bool is_branch = (has & HAS_OP) != 0 && b->op_class[row] == SPE_OP_BRANCH;

	return (struct hot_cost){
		.n = 1,
		.n_cycles = has_total,
		.cycles = total,
		.squares = total * total,
		.n_saturated = is_full,
		.full = total & mask_if(is_full),
		.n_walks = is_walk,
		.xlat_cycles = b->xlat[row] & mask_if(is_walk & ((has & HAS_XLAT) != 0)),
		.n_branches = is_branch,
		.n_mispredicted = is_branch & (events >> SPE_EV_MISPREDICTED & 1),
	};
}

/* The same, narrow. Of a latency that is too wide upper bits are set. */
static inline struct narrow_cost narrow_cost_of_spe(const struct batch *b, size_t row)
{
	uint32_t has = b->has[row], has_total = has / HAS_TOTAL & 1;
	uint32_t events = (uint32_t)b->events[row] & -(has / HAS_EVENTS & 1);
	uint32_t total = b->total[row] & -has_total, is_full = latency_is_full(total);
	uint32_t is_walk = events >> SPE_EV_TLB_WALK & 1;
	uint32_t is_branch = has / HAS_OP & (b->op_class[row] == SPE_OP_BRANCH);

	return (struct narrow_cost){
		.squares = total * total,
		.cycles = (uint16_t)total,
		.xlat_cycles = (uint16_t)(b->xlat[row] & -(has / HAS_XLAT & is_walk)),
		.full = (uint16_t)(total & -is_full),
		.n = 1,
		.n_cycles = (uint8_t)has_total,
		.n_saturated = (uint8_t)is_full,
		.n_walks = (uint8_t)is_walk,
		.n_branches = (uint8_t)is_branch,
		.n_mispredicted = (uint8_t)(events >> SPE_EV_MISPREDICTED & is_branch),
	};
}

static void add_spe(struct hot_cost *c, const struct batch *b, size_t row)
{
	const struct hot_cost record = cost_of_spe(b, row);

	hot_cost_add(c, &record);
}

static void hot_add_sample(struct hot_cost *c, const struct batch *b, size_t row,
			   const struct mux *mux)
{
	uint64_t period = batch_period(b, row);
	double scaled;

	c->n++;
	c->period += period;
	if (mux == NULL)
		return;
	scaled = (double)period * mux_factor(mux, b->event[row], batch_cpu(b, row)) *
		 HOT_SCALED_UNIT;
	c->scaled += scaled < 0x1p63 ? (uint64_t)scaled : (uint64_t)1 << 63;
}

/* Entries that do not match are counted, too: they are the denominator of branch_share. */
static void add_branch(struct hot_cost *c, const struct batch *b, size_t row,
		       const struct hot_options *o)
{
	uint32_t has = b->has[row];
	bool is_decidable = (has & o->branch_needs) == o->branch_needs;

	c->n += is_decidable && (o->condition == NULL || select_matches(o->condition, b, row));
	c->n_decidable += is_decidable;
	c->n_branches++;
	c->n_typed += (has & HAS_BRANCH_TYPE) != 0;
	c->n_predicted += (has & HAS_EVENTS) != 0;
	c->n_mispredicted += has & HAS_EVENTS && b->events[row] >> SPE_EV_MISPREDICTED & 1;
	if (has & HAS_BRANCH_CYCLES) {
		c->n_cycles++;
		c->cycles += b->branch_cycles[row];
	}
}

/* Sums that are about to be written. Most are in two lines. */
static void fetch_cost(const struct hot_cost *c)
{
	prefetch_to_write(c);
	prefetch_to_write((const char *)(c + 1) - 1);
}

/* The numbers of the rests of records. Neighbours often have the same: tuples_add_runs(). */
static void find_rests(struct hot *hot, const struct batch *b, const uint16_t *rows, size_t n,
		       uint32_t *rests)
{
	uint64_t words[ROWS_AT_ONCE * N_DIMENSIONS];

	for (size_t i = 0; i < hot->n_dimensions; i++)
		records_dimension(hot->session, b, rows, n, hot->dimensions[i], words + i,
				  hot->n_dimensions);
	tuples_add_runs(&hot->rests, words, n, rests);
}

static void consume_by_key(struct hot *hot, const struct batch *b, const uint16_t *rows, size_t n)
{
	uint32_t rests[ROWS_AT_ONCE], places[ROWS_AT_ONCE] = { 0 }, groups[ROWS_AT_ONCE];

	find_rests(hot, b, rows, n, rests);
	if (hot->has_place) {
		records_places(b, rows, n, places);
		place_groups_fetch(&hot->groups, places, n);
	}
	for (size_t i = 0; i < n; i++)
		groups[i] = hot_group_of(hot, places[i], rests[i]);
	for (size_t i = 0; i < n; i++)
		fetch_cost(&hot->costs.items[groups[i]]);
	switch (b->kind) {
	case BATCH_SPE:
		for (size_t i = 0; i < n; i++)
			add_spe(&hot->costs.items[groups[i]], b, rows[i]);
		break;
	case BATCH_SAMPLES:
		for (size_t i = 0; i < n; i++)
			hot_add_sample(&hot->costs.items[groups[i]], b, rows[i], hot->options->mux);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			add_branch(&hot->costs.items[groups[i]], b, rows[i], hot->options);
	}
}

/* Adds a record to what is wide. */
__attribute__((noinline)) static void widen(struct place_costs *costs, const struct batch *b,
					    size_t row)
{
	const struct hot_cost record = cost_of_spe(b, row);

	place_costs_widen(costs, batch_place(b, row), &record);
}

static void consume_by_place(struct hot *hot, const struct batch *b, const uint16_t *rows, size_t n)
{
	struct place_costs *costs = &hot->by_place;
	struct narrow_cost records[ROWS_AT_ONCE], *to[ROWS_AT_ONCE];

	place_costs_reach(costs, place_numbers_n(hot->session->places));
	for (size_t i = 0; i < n; i++) {
		to[i] = place_costs_narrow(costs, batch_place(b, rows[i]));
		prefetch_to_write(to[i]);
	}
	for (size_t i = 0; i < n; i++)
		records[i] = narrow_cost_of_spe(b, rows[i]);
	for (size_t i = 0; i < n; i++)
		if (!narrow_cost_add(to[i], &records[i]))
			widen(costs, b, rows[i]);
}

static bool hot_is_wanted(const struct hot *hot, const struct batch *b, size_t row)
{
	const struct hot_options *o = hot->options;

	if (b->kind == BATCH_SPE)
		return !o->without_spe &&
		       (o->condition == NULL || select_matches(o->condition, b, row));
	if (b->kind == BATCH_BRANCHES)
		return o->branches_of < 0 || b->event[row] == (unsigned)o->branches_of;
	return !o->without_samples && (o->event < 0 || b->event[row] == (unsigned)o->event);
}

/* The rows that are counted. Returns how many they are. */
static size_t hot_wanted_rows(const struct hot *hot, const struct batch *b, uint16_t *rows)
{
	const struct hot_options *o = hot->options;
	size_t n = 0;

	if ((b->kind == BATCH_SPE && !o->without_spe && o->condition == NULL) ||
	    (b->kind == BATCH_SAMPLES && !o->without_samples && o->event < 0)) {
		for (size_t row = 0; row < b->n; row++)
			rows[row] = (uint16_t)row;
		return b->n;
	}
	for (size_t row = 0; row < b->n; row++) {
		rows[n] = (uint16_t)row;
		n += hot_is_wanted(hot, b, row);
	}
	return n;
}

static void hot_consume(void *partial, const struct batch *b)
{
	struct hot *hot = partial;
	uint16_t rows[BATCH_ROWS];
	size_t n = hot_wanted_rows(hot, b, rows);

	for (size_t i = 0; i < n; i += ROWS_AT_ONCE) {
		size_t some = n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE;

		if (hot->is_by_place && b->kind == BATCH_SPE)
			consume_by_place(hot, b, rows + i, some);
		else
			consume_by_key(hot, b, rows + i, some);
	}
}

/* The sums of a rest of the whole result, which is added with nothing in it if it is new. */
static struct hot_cost *hot_rest_sums(struct hot *hot, uint32_t rest)
{
	while (hot->of_rests.n <= rest)
		vec_add(&hot->of_rests);
	return &hot->of_rests.items[rest];
}

/* Adds a group of `costs` to another result; without its chain if that is in a file. */
static void pass_group(const struct hot *hot, uint32_t at, bool is_folded, struct hot *to)
{
	struct place_group g = hot_group_at(hot, at);
	uint64_t words[N_DIMENSIONS];
	uint32_t group;

	memcpy(words, tuples_get(&hot->rests, g.rest), hot->n_dimensions * sizeof(*words));
	for (size_t i = 0; is_folded && i < hot->n_dimensions; i++)
		if (hot->dimensions[i] == DIM_FRAME)
			words[i] = HOT_FOLDED;
	group = hot_group_of(to, g.place, tuples_add(&to->rests, words));
	hot_cost_add(&to->costs.items[group], &hot->costs.items[at]);
}

/* Sends the chains of all groups to the file. Their sums go to `folded`. */
static void fold_chains(struct hot *hot, const struct tuples *frames)
{
	struct chained_group g = { 0 };

	if (hot->folded == NULL)
		hot->folded = hot_new(hot->session, hot->options);
	for (uint32_t i = 0; i < hot->costs.n; i++) {
		hot_read_chained(hot, hot_n_by_place(hot) + i, frames, &g);
		pass_group(hot, i, g.chain.n > 0, hot->folded);
		if (g.chain.n == 0)
			continue;
		hot_chains_note(&hot->chains, &g);
		hot_chains_add(&hot->chains, &g);
		if (g.chain.n > 1)
			tuples_add(&hot->events_with_callers, &g.key[DIM_EVENT]);
	}
	chained_group_release(&g);
	tuples_reset(&hot->rests);
	place_groups_release(&hot->groups);
	place_groups_init(&hot->groups);
	hot->costs.n = 0;
}

/* Puts together again what a worker has with chains and what it has without. */
static void join_folded(struct hot *hot)
{
	struct hot *folded = hot->folded, old = *hot;

	for (uint32_t i = 0; i < hot->costs.n; i++)
		pass_group(hot, i, false, folded);
	hot->costs.items = folded->costs.items;
	hot->costs.n = folded->costs.n;
	hot->costs.cap = folded->costs.cap;
	hot->rests = folded->rests;
	hot->groups = folded->groups;
	folded->costs.items = old.costs.items;
	folded->rests = old.rests;
	folded->groups = old.groups;
	hot_free(folded);
	hot->folded = NULL;
	hot_chains_finish(&hot->chains);
}

static void hot_finish(void *partial)
{
	struct hot *hot = partial;

	if (hot->folded != NULL)
		join_folded(hot);
	for (uint32_t i = 0; i < hot->rests.n; i++)
		hot_rest_sums(hot, i);
	for (uint32_t i = 0; i < hot->costs.n; i++)
		hot_cost_add(&hot->of_rests.items[hot_group_at(hot, i).rest], &hot->costs.items[i]);
	hot->of_by_place = place_costs_total(&hot->by_place);
}

/* By number of a rest in `part`: its number in `into`. */
static uint32_t *map_rests(struct hot *into, const struct hot *part, const struct id_map *map)
{
	uint32_t *rests = mem_alloc(part->rests.n + 1, sizeof(*rests));

	for (uint32_t k = 0; k < part->rests.n; k++) {
		uint64_t words[N_DIMENSIONS];

		memcpy(words, tuples_get(&part->rests, k), part->n_dimensions * sizeof(*words));
		for (size_t i = 0; i < part->n_dimensions; i++)
			if (part->dimensions[i] == DIM_FRAME && words[i] != HOT_FOLDED)
				words[i] = map->frames[words[i]];
		rests[k] = tuples_add(&into->rests, words);
	}
	return rests;
}

/* Adds `n` groups of `part` from one on, at most ROWS_AT_ONCE. */
static void merge_groups(struct hot *hot, const struct hot *part, const uint32_t *rests,
			 uint32_t from, uint32_t n)
{
	uint32_t places[ROWS_AT_ONCE], groups[ROWS_AT_ONCE];

	for (uint32_t i = 0; i < n; i++)
		places[i] = hot_group_at(part, from + i).place;
	if (hot->has_place)
		place_groups_fetch(&hot->groups, places, n);
	for (uint32_t i = 0; i < n; i++)
		groups[i] = hot_group_of(hot, places[i], rests[hot_group_at(part, from + i).rest]);
	for (uint32_t i = 0; i < n; i++)
		fetch_cost(&hot->costs.items[groups[i]]);
	for (uint32_t i = 0; i < n; i++)
		hot_cost_add(&hot->costs.items[groups[i]], &part->costs.items[from + i]);
}

static void hot_merge(void *into, const void *from, const struct id_map *map)
{
	const struct hot *part = from;
	struct hot *hot = into;
	uint32_t *rests = map_rests(hot, part, map), n = (uint32_t)part->costs.n;

	/* room; hot_merge_part() adds them up */
	place_costs_reach(&hot->by_place, hot_n_by_place(part));
	for (uint32_t i = 0; i < n; i += ROWS_AT_ONCE)
		merge_groups(hot, part, rests, i, n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE);
	for (uint32_t k = 0; k < part->rests.n; k++)
		hot_cost_add(hot_rest_sums(hot, rests[k]), hot_rest_cost(part, k));
	hot_cost_add(&hot->of_by_place, &part->of_by_place);
	hot_chains_merge(&hot->chains, &part->chains);
	for (uint32_t i = 0; i < part->events_with_callers.n; i++)
		tuples_add(&hot->events_with_callers, tuples_get(&part->events_with_callers, i));
	free(rests);
}

static unsigned hot_wants_chains(const void *options)
{
	const struct hot_options *o = options;

	if (!(o->dimensions >> DIM_FRAME & 1))
		return 0;
	return (o->without_samples ? 0 : CHAINS_OF_SAMPLES) | (o->without_spe ? 0 : CHAINS_OF_SPE);
}

static bool hot_let_go(void *partial, const struct tuples *frames, bool must)
{
	struct hot *hot = partial;

	if (!is_told_apart(hot, DIM_FRAME))
		return true;
	if (hot->options->chains_bytes == 0 ||
	    (hot_chains_size(hot, frames) < hot->options->chains_bytes && !must))
		return false;
	fold_chains(hot, frames);
	return true;
}

static void hot_merge_part(void *into, const void *from, size_t part, size_t n_parts)
{
	struct hot *hot = into;

	place_costs_merge_part(&hot->by_place, &((const struct hot *)from)->by_place, part,
			       n_parts);
}

const struct analysis_class hot_class = {
	.new = hot_new,
	.free = hot_free,
	.wants_chains = hot_wants_chains,
	.consume = hot_consume,
	.let_go = hot_let_go,
	.finish = hot_finish,
	.merge = hot_merge,
	.merge_part = hot_merge_part,
};
