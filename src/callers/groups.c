/* SPDX-License-Identifier: Apache-2.0 */
#include "callers/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "spe/packet.h"

/* A thread with fewer stacks of a function is judged by those of its process. */
enum { OWN_STACKS = 20 };

enum { SCOPE_PROCESS, SCOPE_THREAD };

static unsigned log2_below(uint64_t n, unsigned most)
{
	unsigned log = 0;

	while (n > 1 && log < most) {
		n >>= 1;
		log++;
	}
	return log;
}

bool record_is_neighbour(const struct batch *b, size_t row, size_t other)
{
	return other < b->n && b->has[other] & HAS_TIME && b->has[other] & HAS_TID &&
	       b->tid[other] == b->tid[row] && b->cpu[other] == b->cpu[row];
}

/* Time from the record before to the one behind, of the same thread; 0: not known. */
static uint64_t gap_around(const struct batch *b, size_t row)
{
	bool has_before = row > 0 && record_is_neighbour(b, row, row - 1);
	bool has_behind = record_is_neighbour(b, row, row + 1);
	uint64_t from = b->time_ns[has_before ? row - 1 : row];
	uint64_t to = b->time_ns[has_behind ? row + 1 : row];

	if ((b->has[row] & (HAS_TIME | HAS_TID)) != (HAS_TIME | HAS_TID) || to < from)
		return 0;
	return has_before && has_behind ? to - from : 2 * (to - from);
}

struct record_cell record_cell(const struct batch *b, size_t row)
{
	bool is_memory = b->has[row] & HAS_OP && b->op_class[row] == SPE_OP_LDST;
	bool is_miss = b->has[row] & HAS_EVENTS && b->events[row] >> SPE_EV_L1D_REFILL & 1;
	uint64_t gap_ns = gap_around(b, row);
	unsigned latency =
		b->has[row] & HAS_TOTAL ? log2_below(b->total[row], CELL_LATENCIES - 1) : 0;

	return (struct record_cell){
		.class = (uint8_t)(is_miss ? CELL_MISS
					   : 1 + (is_memory ? CELL_LATENCIES : 0) + latency),
		.gap = (uint8_t)(gap_ns > 0 ? log2_below(gap_ns, CELL_GAPS - 2) : CELL_GAPS - 1),
		.gap_ns = gap_ns,
	};
}

/* Thread ids are used again by other processes: a thread is known by both. */
static void thread_key(uint32_t pid, uint32_t tid, uint32_t function, uint64_t out[2])
{
	out[0] = (uint64_t)pid << 32 | tid;
	out[1] = (uint64_t)SCOPE_THREAD << 32 | function;
}

static void process_key(uint32_t pid, uint32_t function, uint64_t out[2])
{
	out[0] = pid;
	out[1] = (uint64_t)SCOPE_PROCESS << 32 | function;
}

static struct caller_group *group_at(struct caller_groups *g, const uint64_t key[2])
{
	uint32_t number = tuples_add(&g->keys, key);

	if (number == g->list.n)
		*vec_add(&g->list) = (struct caller_group){
			.is_by_thread = key[1] >> 32 == SCOPE_THREAD,
			.id = (uint32_t)key[0],
			.function = (uint32_t)key[1],
		};
	return &g->list.items[number];
}

static int compare_chains(const void *left, const void *right)
{
	const struct group_chain *a = left, *b = right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return (a->first > b->first) - (a->first < b->first);
}

/* Counts the chains of the group's stacks, and numbers them. */
static void group_list_chains(struct caller_group *g, const struct stacks_seen *seen)
{
	struct tuples numbers;
	VEC_OF(struct group_chain) all = { 0 };
	uint8_t *places;

	tuples_init(&numbers, 1);
	for (size_t i = 0; i < g->stacks.n; i++) {
		uint32_t index = g->stacks.items[i], chain = seen->list.items[index].chain;
		uint32_t number = tuples_add(&numbers, (const uint64_t[]){ chain });

		if (number == all.n)
			*vec_add(&all) = (struct group_chain){ .number = chain, .first = index };
		all.items[number].n++;
	}
	qsort(all.items, all.n, sizeof(*all.items), compare_chains);
	places = mem_alloc(all.n + 1, sizeof(*places));
	for (size_t i = 0; i < all.n; i++) {
		uint8_t place = (uint8_t)(i < CHAINS_MOST ? i : CHAINS_MOST - 1);

		places[tuples_find(&numbers, (const uint64_t[]){ all.items[i].number })] = place;
		if (i < CHAINS_MOST)
			*vec_add(&g->list) = all.items[i];
		else
			g->list.items[place].n += all.items[i].n;
	}
	for (size_t i = 0; i < g->stacks.n; i++) {
		const uint64_t chain = seen->list.items[g->stacks.items[i]].chain;

		*vec_add(&g->chains) = places[tuples_find(&numbers, &chain)];
	}
	free(places);
	vec_release(&all);
	tuples_release(&numbers);
}

/*
 * The frames that records of each chain are given: of its stacks of instructions, which fall on call sites and
 * depths as records do; else of those of time; else of those there are.
 */
static void group_list_frames(struct caller_group *g, const struct stacks_seen *seen)
{
	static const uint8_t order[N_STACK_KINDS] = {
		[STACK_OF_INSTRUCTIONS] = 0, [STACK_OF_TIME] = 1, [STACK_OF_REFILLS] = 2
	};
	uint8_t best[CHAINS_MOST];
	uint32_t at = 0;

	memset(best, N_STACK_KINDS, sizeof(best));
	for (size_t i = 0; i < g->stacks.n; i++) {
		uint8_t kind = order[seen->list.items[g->stacks.items[i]].kind];
		uint8_t *of_chain = &best[g->chains.items[i]];

		*of_chain = kind < *of_chain ? kind : *of_chain;
	}
	for (size_t i = 0; i < g->stacks.n; i++)
		g->list.items[g->chains.items[i]].n_frames +=
			order[seen->list.items[g->stacks.items[i]].kind] ==
			best[g->chains.items[i]];
	for (size_t c = 0; c < g->list.n; c++) {
		g->list.items[c].first_frame = at;
		at += g->list.items[c].n_frames;
		g->list.items[c].n_frames = 0;
	}
	vec_reserve(&g->frames, at);
	g->frames.n = at;
	for (size_t i = 0; i < g->stacks.n; i++) {
		const struct stack_seen *s = &seen->list.items[g->stacks.items[i]];
		struct group_chain *chain = &g->list.items[g->chains.items[i]];

		if (order[s->kind] == best[g->chains.items[i]])
			g->frames.items[chain->first_frame + chain->n_frames++] = s->caller;
	}
}

void caller_groups_init(struct caller_groups *g, const struct stacks_seen *seen)
{
	struct tuples own;
	VEC_OF(uint32_t) n_own = { 0 };
	uint64_t key[2];

	*g = (struct caller_groups){ .seen = seen };
	tuples_init(&g->keys, 2);
	tuples_init(&own, 2);
	for (size_t i = 0; i < seen->list.n; i++) {
		const struct stack_seen *s = &seen->list.items[i];
		uint32_t number;

		thread_key(s->pid, s->tid, s->function, key);
		number = tuples_add(&own, key);
		if (number == n_own.n)
			*vec_add(&n_own) = 0;
		n_own.items[number] += s->kind != STACK_OF_REFILLS;
	}
	for (uint32_t i = 0; i < seen->list.n; i++) {
		const struct stack_seen *s = &seen->list.items[i];

		process_key(s->pid, s->function, key);
		*vec_add(&group_at(g, key)->stacks) = i;
		thread_key(s->pid, s->tid, s->function, key);
		if (n_own.items[tuples_find(&own, key)] >= OWN_STACKS)
			*vec_add(&group_at(g, key)->stacks) = i;
	}
	for (size_t i = 0; i < g->list.n; i++) {
		group_list_chains(&g->list.items[i], seen);
		group_list_frames(&g->list.items[i], seen);
	}
	vec_release(&n_own);
	tuples_release(&own);
}

void caller_groups_release(struct caller_groups *g)
{
	for (size_t i = 0; i < g->list.n; i++) {
		vec_release(&g->list.items[i].stacks);
		vec_release(&g->list.items[i].chains);
		vec_release(&g->list.items[i].list);
		vec_release(&g->list.items[i].frames);
	}
	vec_release(&g->list);
	tuples_release(&g->keys);
	*g = (struct caller_groups){ 0 };
}

uint32_t caller_groups_find(const struct caller_groups *g, const struct batch *b, size_t row)
{
	uint32_t function, pid, group;
	uint64_t key[2];

	if ((b->has[row] & (HAS_PC | HAS_TID)) != (HAS_PC | HAS_TID))
		return TUPLES_NONE;
	function = function_of_place(&g->seen->functions, b->place[row]);
	pid = b->has[row] & HAS_PID ? b->pid[row] : STACK_WITHOUT_PID;
	thread_key(pid, b->tid[row], function, key);
	group = tuples_find(&g->keys, key);
	if (group != TUPLES_NONE || pid == STACK_WITHOUT_PID)
		return group;
	process_key(pid, function, key);
	return tuples_find(&g->keys, key);
}
