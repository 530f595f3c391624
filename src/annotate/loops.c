/* SPDX-License-Identifier: Apache-2.0 */
/* Loops: branches back to an earlier instruction. */
#include <stdlib.h>

#include "annotate/annotate.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "isa/dominators.h"

/* Prefix sums: of all instructions before one. */
struct sums {
	uint64_t n_records, n_samples, cycles, full;
};

/*
 * Prefix sums by instruction, so that the sum of a loop is a difference: there may be thousands of
 * loops, each nearly as long as the function. To be freed.
 */
static struct sums *loops_sum_up(const struct annotation *a)
{
	struct sums *before = mem_zalloc(a->list.n + 1, sizeof(*before));

	for (size_t i = 0; i < a->list.n; i++) {
		struct annotated_latency total = annotated_latency(a, i, COUNT_TOTAL);

		before[i + 1].n_records =
			before[i].n_records + annotated_count(a, i, COUNT_RECORDS);
		before[i + 1].n_samples =
			before[i].n_samples + annotated_count(a, i, COUNT_SAMPLES);
		before[i + 1].cycles = before[i].cycles + total.cycles;
		before[i + 1].full = before[i].full + total.cycles - total.usable;
	}
	return before;
}

/* The sums from the head of the loop to its branch, inner loops included. */
static struct annotated_loop sum_loop(const struct annotation *a, const struct sums *before,
				      size_t head, size_t branch)
{
	return (struct annotated_loop){
		.head = head,
		.branch = branch,
		.n_records = before[branch + 1].n_records - before[head].n_records,
		.n_samples = before[branch + 1].n_samples - before[head].n_samples,
		.cycles = before[branch + 1].cycles - before[head].cycles,
		.full = before[branch + 1].full - before[head].full,
		.n_taken = annotated_count_of(a, branch, COUNT_BRANCH, 1),
		.n_not_taken = annotated_count_of(a, branch, COUNT_BRANCH, 0),
	};
}

static int compare_loops(const void *left, const void *right)
{
	const struct annotated_loop *a = left, *b = right;

	if (a->head != b->head)
		return a->head < b->head ? -1 : 1;
	return (a->branch < b->branch) - (a->branch > b->branch);
}

/* To be freed. */
static struct isa_step *find_steps(const struct annotation *a)
{
	struct isa_step *steps = mem_alloc(a->list.n + 1, sizeof(*steps));

	for (size_t i = 0; i < a->list.n; i++)
		steps[i] = (struct isa_step){ a->list.items[i].text.flow.kind,
					      (uint32_t)annotated_target(a, i) };
	return steps;
}

struct annotated_loop *annotation_loops(const struct annotation *a, size_t *out_n)
{
	VEC_OF(struct annotated_loop) loops = { 0 };
	struct sums *before = loops_sum_up(a);
	struct isa_step *steps = find_steps(a);
	struct isa_dominators dominators;

	isa_dominators_init(&dominators, steps, a->list.n);
	for (size_t i = 0; i < a->list.n; i++) {
		size_t head = steps[i].target;
		struct annotated_loop loop;

		if (!isa_is_loop(&dominators, head, i))
			continue;
		loop = sum_loop(a, before, head, i);
		if (loop.n_records + loop.n_samples > 0)
			*vec_add(&loops) = loop;
	}
	if (loops.n > 1)
		qsort(loops.items, loops.n, sizeof(*loops.items), compare_loops);
	isa_dominators_release(&dominators);
	free(steps);
	free(before);
	*out_n = loops.n;
	return loops.items;
}
