/* SPDX-License-Identifier: Apache-2.0 */
#include "latency/sweep.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/random.h"

enum {
	LEAST_STRETCHES = 31,
	MOST_STRETCHES = 101,
	LOADS_OF_SIZE = 1 << 17, /* shared out to its stretches */
	STRETCH_NS = 20000,
	STRETCH_STEPS = 100,  /* of the clock, at the least */
	STRETCH_LOADS = 1024, /* at the least */
	LOADS_BETWEEN = 4096, /* at the most, from one timed load to the next */
	LEAST_PAGES = 8,
	MOST_PAGES = 16384,
};

/* So many loads that their time is long beside the clock's steps. */
static uint64_t loads_of_stretch(const struct timer *t, double ns_of_load)
{
	double least_ns = (double)t->step * t->ns_per_tick * STRETCH_STEPS, n;

	if (least_ns < STRETCH_NS)
		least_ns = STRETCH_NS;
	n = least_ns / (ns_of_load > 0.1 ? ns_of_load : 0.1);
	return n > STRETCH_LOADS ? (uint64_t)n : STRETCH_LOADS;
}

void sweep_chase(const struct timer *t, void **ring, uint64_t n_lines, struct sweep_point *out)
{
	double ns[MOST_STRETCHES], cycles[MOST_STRETCHES];
	uint64_t n_warm = n_lines < STRETCH_LOADS ? STRETCH_LOADS : n_lines, n, n_stretches;
	struct timer_start start = timer_start(t);
	struct elapsed e;

	ring = ring_follow(ring, n_warm);
	e = timer_stop(t, &start);
	n = loads_of_stretch(t, e.ns / (double)n_warm);
	n_stretches = LOADS_OF_SIZE / n;
	if (n_stretches < LEAST_STRETCHES)
		n_stretches = LEAST_STRETCHES;
	if (n_stretches > MOST_STRETCHES)
		n_stretches = MOST_STRETCHES;
	out->core_ghz = timer_core_ghz(t);
	ring = ring_follow(ring, n_lines < n ? n_lines : n);
	for (uint64_t i = 0; i < n_stretches; i++) {
		start = timer_start(t);
		ring = ring_follow(ring, n);
		e = timer_stop(t, &start);
		ns[i] = e.ns / (double)n;
		cycles[i] = (e.cycles > 0 ? e.cycles : e.ns * out->core_ghz) / (double)n;
	}
	out->ns = median_of(ns, n_stretches);
	out->cycles = median_of(cycles, n_stretches);
	out->least_ns = ns[0];
	out->most_ns = ns[n_stretches - 1];
}

/* One timed load in each traversal, at a random place; of long rings in each LOADS_BETWEEN loads. */
static void time_single_loads(const struct timer *t, void **ring, uint64_t n_lines,
			      unsigned n_samples, struct times *out)
{
	uint64_t most = n_lines < LOADS_BETWEEN ? n_lines : LOADS_BETWEEN, state = n_lines;

	for (unsigned i = 0; i < n_samples; i++) {
		uint64_t ticks, before = random_next(&state) % most;
		void *next;

		ring = ring_follow(ring, before);
		if (timer_time_load(t, ring, &ticks, &next))
			times_add(out, ticks, 1);
		ring = ring_follow((void **)next, most - before);
	}
	times_sort(out);
}

static void sweep_sizes(const struct sweep_request *r, const struct ring_memory *memory,
			const struct timer *t, struct sweep *out)
{
	for (size_t i = 0; i < r->n_sizes; i++) {
		struct sweep_point *point = vec_add(&out->points);
		uint64_t n_lines = r->sizes[i] / memory->line;
		void **ring = ring_link(memory, r->sizes[i], r->order, i + 1);

		point->size_bytes = r->sizes[i];
		sweep_chase(t, ring, n_lines, point);
		if (out->times_single_loads)
			time_single_loads(t, ring, n_lines, r->n_samples, &point->times);
		progress_add(r->progress, r->sizes[i]);
	}
}

/* 8, 12, 16, 24 … pages, as many as there are. */
static void sweep_translations(const struct ring_memory *memory, const struct timer *t,
			       struct sweep *out)
{
	uint64_t most = memory->size / memory->page;

	for (uint64_t octave = LEAST_PAGES; octave <= MOST_PAGES; octave *= 2)
		for (uint64_t n = octave; n < 2 * octave && n <= MOST_PAGES && n <= most;
		     n += octave / 2) {
			struct sweep_pages *pages = vec_add(&out->pages);
			struct sweep_point point = { 0 };

			pages->n_pages = n;
			sweep_chase(t, ring_link(memory, n * memory->line, RING_RANDOM, n), n,
				    &point);
			pages->packed_ns = point.ns;
			sweep_chase(t, ring_link_pages(memory, n, n), n, &point);
			pages->ns = point.ns;
			pages->core_ghz = point.core_ghz;
		}
}

static void find_levels(struct sweep *s)
{
	size_t n = s->points.n > s->pages.n ? s->points.n : s->pages.n;
	double *sizes = mem_alloc(n + 1, sizeof(*sizes)), *ns = mem_alloc(n + 1, sizeof(*ns));

	for (size_t i = 0; i < s->points.n; i++) {
		sizes[i] = (double)s->points.items[i].size_bytes;
		ns[i] = s->points.items[i].ns;
	}
	levels_find(sizes, ns, s->points.n, &s->levels);
	/* What the translation adds to a load that hits the first cache. */
	for (size_t i = 0; i < s->pages.n; i++) {
		const struct sweep_pages *p = &s->pages.items[i];

		sizes[i] = (double)p->n_pages;
		ns[i] = s->pages.items[0].packed_ns +
			(p->ns > p->packed_ns ? p->ns - p->packed_ns : 0);
	}
	levels_find(sizes, ns, s->pages.n, &s->translations);
	free(sizes);
	free(ns);
}

void sweep_run(const struct sweep_request *r, const struct ring_memory *memory,
	       const struct timer *t, struct sweep *out)
{
	double ghz = timer_core_ghz(t);
	uint64_t all = 0;

	*out = (struct sweep){ 0 };
	out->step_ns = (double)t->step * (t->ns_per_tick > 0 ? t->ns_per_tick : 1 / ghz);
	out->step_cycles = t->ns_per_tick > 0 ? out->step_ns * ghz : (double)t->step;
	out->times_single_loads = r->n_samples > 0 && out->step_cycles <= SWEEP_MOST_STEP_CYCLES;
	for (size_t i = 0; i < r->n_sizes; i++)
		all += r->sizes[i];
	progress_begin(r->progress, "chasing pointers", all);
	sweep_translations(memory, t, out);
	sweep_sizes(r, memory, t, out);
	progress_end(r->progress);
	find_levels(out);
}

void sweep_release(struct sweep *s)
{
	for (size_t i = 0; i < s->points.n; i++)
		times_release(&s->points.items[i].times);
	vec_release(&s->points);
	vec_release(&s->pages);
}
