/* SPDX-License-Identifier: Apache-2.0 */
/* How the accesses of a region walk through memory, by what the code says and where the records were. */
#include <math.h>
#include <stdlib.h>

#include "access/pattern.h"
#include "base/alloc.h"
#include "bottleneck/judged.h"
#include "variables/code.h"

static unsigned bytes_of(const struct judged *j, size_t i)
{
	struct isa_access access = { 0 };

	return judged_place(j, i) != UINT32_MAX &&
			       symbols_access(j->all->session->symbols,
					      session_place(j->all->session, judged_place(j, i)),
					      &access)
		       ? access.bytes
		       : 0;
}

/* Bytes that an iteration accesses with the same base and step: of how much of each line? */
static uint64_t bytes_beside(const struct judged *j, const struct loop_address *a)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct loop_address *other = &j->addresses[i];

		if (other->move == ADDRESS_STEPS && other->base == a->base &&
		    other->step == a->step && !is_prefetch_word(judged_word(j, i)))
			bytes += bytes_of(j, i);
	}
	return bytes;
}

/* The walk of an address that steps, and how far. */
static enum finding_walk walk_in_steps(const struct judged *j, size_t i, int64_t *out_stride)
{
	const struct loop_address *a = &j->addresses[i];
	const struct insn_sums *s = judged_sums(j, i);
	uint64_t stride = (uint64_t)(a->step < 0 ? -a->step : a->step);

	*out_stride = a->knows_step ? a->step : 0;
	/* Where the step is not known, how often it comes to another line tells. */
	if (!a->knows_step)
		stride = 2 * s->n_refills > s->n ? LINE + 1 : 1;
	if (stride < LINE || (a->knows_step && 2 * bytes_beside(j, a) >= stride))
		return WALK_SEQUENTIAL;
	return s->addresses.divisor > 0 && s->addresses.divisor < LINE ? WALK_COLUMNS : WALK_STRIDE;
}

/*
 * A pointer chase follows links. With a link that more goes into, it looks up, and no node could stand
 * beside the next. At a fixed address the load only reads what the loop has stored.
 */
enum finding_walk chained_walk(const struct judged *j, size_t i)
{
	const struct loop_address *a = &j->addresses[i];

	if (a->move == ADDRESS_FIXED)
		return WALK_UNKNOWN;
	return a->move == ADDRESS_LOADED && !a->is_link ? WALK_LOOKUP : WALK_CHASE;
}

/*
 * Rows that are found one by one, by pointers or by places that are computed: each iteration goes to another
 * line, and the loop around moves on by an element.
 */
static bool is_by_columns(const struct judged *j, size_t i)
{
	const struct loop_address *a = &j->addresses[i];
	const struct insn_sums *s = judged_sums(j, i);
	const struct region *r = j->region;
	size_t n = r->outer_branch - r->outer_head + 1;
	struct loop_insn *outer;
	bool moves = false;

	if (!r->has_outer || n > CHAIN_MOST_INSNS || 2 * s->n_refills < s->n ||
	    (a->move != ADDRESS_LOADED && a->move != ADDRESS_COMPUTED))
		return false;
	outer = mem_zalloc(n, sizeof(*outer));
	for (size_t k = 0; k < n; k++)
		outer[k].word = j->f->words[r->outer_head + k];
	for (unsigned reg = 0; reg < 64 && !moves; reg++) {
		int64_t step;

		moves = a->inputs >> reg & 1 &&
			chain_register_step(outer, n, r->head - r->outer_head, reg, &step) &&
			step != 0 && step > -LINE && step < LINE;
	}
	free(outer);
	return moves;
}

void describe_walk(const struct judged *j, size_t i, struct finding_loop *out)
{
	const struct insn_sums *s = judged_sums(j, i);

	out->element_bytes = bytes_of(j, i);
	if (!j->region->is_loop)
		return;
	if (j->chain_parts[i] > 0 && is_chain_limited(j)) {
		out->walk = chained_walk(j, i);
		if (addr_pattern_walk(&s->addresses, false) != ADDR_WALK_STRIDE)
			return;
		/* Where each leads to is in order all the same, and can be told ahead of time. */
		out->stride = (int64_t)s->addresses.divisor;
		out->walk = out->stride < LINE ? WALK_SEQUENTIAL : WALK_STRIDE;
		return;
	}
	if (is_by_columns(j, i))
		out->walk = WALK_COLUMNS;
	else if (j->addresses[i].move == ADDRESS_LOADED)
		out->walk = WALK_INDIRECT;
	else if (j->addresses[i].move == ADDRESS_COMPUTED)
		out->walk = WALK_COMPUTED;
	else if (j->addresses[i].move == ADDRESS_STEPS)
		out->walk = walk_in_steps(j, i, &out->stride);
}

void describe_columns(const struct judged *j, struct finding_loop *out)
{
	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = judged_sums(j, i);
		int64_t stride;

		if (j->addresses[i].move != ADDRESS_STEPS || s->n < LEAST_HERE ||
		    2 * s->n_refills < s->n || walk_in_steps(j, i, &stride) != WALK_COLUMNS)
			continue;
		describe_walk(j, i, out);
		return;
	}
}

/*
 * Cache lines that are on their way at a time: for how long, by the catalog, at the pace that was measured. A load
 * that moves as a prefetch does waits for the line of that.
 */
void describe_lines(const struct judged *j, size_t prefetched, struct finding_loop *out)
{
	const struct loop_address *p = &j->addresses[prefetched];
	double cycles = 0;

	out->most_lines = j->all->cpu.lines;
	for (size_t i = 0; i < j->n; i++) {
		const struct loop_address *a = &j->addresses[i];

		if (is_prefetch_word(judged_word(j, i)) || a->move != p->move || a->step != p->step)
			cycles += judged_store_cycles(j, judged_sums(j, i)) / j->iterations;
	}
	out->lines_in_flight = isnan(j->time) || j->time <= 0 ? 0 : cycles / j->time;
}

/*
 * What the loop gets of DRAM in a second, by the accesses that missed the LLC: their number has the error of a Poisson
 * count. The hardware's prefetches are none of them, so what steps through memory has its stride at least.
 */
void describe_bandwidth(const struct judged *j, struct finding_loop *out)
{
	double n = 0, seconds = j->iterations * j->time_ns / 1e9, walked = 0;

	if (!(seconds > 0))
		return;
	for (size_t i = 0; i < j->n; i++) {
		const struct insn_sums *s = judged_sums(j, i);
		uint64_t from_dram = s->n_level[SOURCE_DRAM] + s->n_level[SOURCE_REMOTE_DRAM];

		n += (double)(s->n_llc_misses > from_dram ? s->n_llc_misses : from_dram);
	}
	if (out->walk == WALK_SEQUENTIAL && out->stride != 0)
		walked = fabs((double)out->stride) / (j->time_ns / 1e9);
	out->bytes_per_s = fmax(walked, n * LINE / seconds);
	out->bytes_error = n * LINE / seconds > walked ? 1.96 * sqrt(n) * LINE / seconds : 0;
}

/* The atomic, exclusive access or store-release with most records: others wait for it, which no latency shows. */
bool find_ordering(const struct judged *j, size_t *out_insn)
{
	const uint32_t ordering =
		ACCESS_ATOMIC | ACCESS_EXCLUSIVE | ACCESS_ACQUIRE | ACCESS_RELEASE;
	uint32_t most_flags = 0;
	uint64_t most = 0;

	for (size_t i = 0; i < j->n; i++) {
		struct isa_access access = { 0 };
		uint32_t place = judged_place(j, i);
		uint64_t n = judged_sums(j, i)->n;
		bool is_atomic;

		if (place == UINT32_MAX ||
		    !symbols_access(j->all->session->symbols, session_place(j->all->session, place),
				    &access) ||
		    !(access.flags & ordering))
			continue;
		is_atomic = access.flags & ACCESS_ATOMIC;
		if (most > 0 && (is_atomic < !!(most_flags & ACCESS_ATOMIC) ||
				 (is_atomic == !!(most_flags & ACCESS_ATOMIC) && n <= most)))
			continue;
		most = n;
		most_flags = access.flags;
		*out_insn = i;
	}
	return most > 0;
}

bool describe_prefetch(const struct judged *j, size_t load, struct bottleneck *out)
{
	const struct insn_sums *s = judged_sums(j, load);
	const struct loop_address *a = &j->addresses[load];

	if (out->loop.walk == WALK_CHASE || out->loop.walk == WALK_LOOKUP ||
	    (2 * s->n_refills < s->n && 10 * s->n_late < s->n))
		return false;
	for (size_t i = 0; i < j->n; i++) {
		const struct loop_address *p = &j->addresses[i];

		if (!is_prefetch_word(judged_word(j, i)) || p->move != a->move ||
		    p->step != a->step)
			continue;
		out->prefetch = judged_place(j, i);
		if (p->has_offset && a->has_offset && p->base == a->base && a->step != 0)
			out->loop.distance = (p->offset - a->offset) / a->step;
		describe_lines(j, load, &out->loop);
		if (!isnan(j->time))
			out->loop.lacking =
				(int64_t)ceil(mean_of(&s->access, 0) / fmax(j->time, 1));
		return true;
	}
	return false;
}