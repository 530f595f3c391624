/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/elapsed/inside.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/widen.h"
#include "estimate/latency.h"

enum {
	STEADY = 4,	  /* records in a steady run, at least */
	ISSUE_CYCLES = 4, /* from dispatch to issue of an operation that waits for nothing */
	FULL_CYCLES =
		4095, /* assumed where the latency was not recorded, or its counter was full */
};

static void *elapsed_new(const struct session *session, const void *options)
{
	struct elapsed *e = mem_zalloc(1, sizeof(*e));

	(void)session;
	e->plan = options;
	e->rows = mem_zalloc(e->plan->rows.n + 1, sizeof(*e->rows));
	e->rest.has_switches = e->plan->has_switches;
	tuples_init(&e->pairs, 2);
	tuples_init(&e->threads, 1);
	tuples_init(&e->streams, 1);
	return e;
}

static void elapsed_free(void *partial)
{
	struct elapsed *e = partial;

	if (e == NULL)
		return;
	free(e->rows);
	tuples_release(&e->pairs);
	vec_release(&e->pair_ns);
	tuples_release(&e->threads);
	vec_release(&e->by_thread);
	tuples_release(&e->streams);
	vec_release(&e->spans);
	free(e);
}

/*
 * How long the operation may have delayed others: from issue to completion. Before, it waited
 * itself.
 */
static uint64_t delay_cycles(const struct batch *b, size_t row)
{
	const uint32_t need = HAS_TOTAL | HAS_ISSUE;
	uint32_t total = b->total[row], issue = b->issue[row];

	if ((b->has[row] & need) == need && !latency_is_full(total))
		return (total > issue ? total - issue : 0) + ISSUE_CYCLES;
	return b->has[row] & HAS_TOTAL && total > FULL_CYCLES ? total : FULL_CYCLES;
}

static void add_operations(struct elapsed_operations *to, const struct elapsed_operations *from)
{
	to->n += from->n;
	to->operations += from->operations;
	to->cycles += from->cycles;
	to->squares += from->squares;
}

/* A batch, and by record of it: */
struct looked_at {
	const struct batch *batch;
	uint32_t rows[BATCH_ROWS]; /* its row of the answer */
	struct elapsed_operations records[BATCH_ROWS];
	uint64_t pairs[BATCH_ROWS][2], pair_ns[BATCH_ROWS]; /* edges, for struct elapsed */
	size_t n_pairs;
};

static uint64_t stream_of(const struct batch *b, size_t row)
{
	return b->has[row] & HAS_CPU ? b->cpu[row] : ELAPSED_THREAD | b->tid[row];
}

static void add_span(struct elapsed *e, uint64_t of, uint64_t first_ns, uint64_t last_ns)
{
	uint32_t number = tuples_add(&e->streams, &of);
	struct elapsed_span *span;

	if (number == e->spans.n)
		*vec_add(&e->spans) = (struct elapsed_span){ .of = of, .first_ns = UINT64_MAX };
	span = &e->spans.items[number];
	widen_times(&span->first_ns, &span->last_ns, first_ns, last_ns);
}

/* Adds the time from the first to the last record of each stream in the batch. */
static void add_spans(struct elapsed *e, const struct batch *b)
{
	uint64_t of = 0, first_ns = UINT64_MAX, last_ns = 0;

	for (size_t row = 0; row < b->n; row++) {
		if (!(b->has[row] & HAS_TIME) || !(b->has[row] & (HAS_CPU | HAS_TID)))
			continue;
		if (first_ns <= last_ns && stream_of(b, row) != of) {
			add_span(e, of, first_ns, last_ns);
			first_ns = UINT64_MAX;
			last_ns = 0;
		}
		of = stream_of(b, row);
		widen_times(&first_ns, &last_ns, b->time_ns[row], b->time_ns[row]);
	}
	if (first_ns <= last_ns)
		add_span(e, of, first_ns, last_ns);
}

/* Adds a record, which stands for so many operations. */
static void elapsed_count_record(struct elapsed *e, struct looked_at *l, size_t row,
				 uint64_t operations)
{
	const struct batch *b = l->batch;
	struct elapsed_sum *sum;
	uint64_t cycles = delay_cycles(b, row);

	l->records[row] = (struct elapsed_operations){
		.n = 1,
		.operations = operations,
		.cycles = cycles,
		.squares = cycles * cycles,
	};
	if (l->rows[row] == ELAPSED_NO_ROW)
		return;
	sum = &e->rows[l->rows[row]];
	add_operations(&sum->all, &l->records[row]);
	if (b->has[row] & HAS_TID)
		sum->threads |= elapsed_thread_bit(b->tid[row]);
	if (b->has[row] & HAS_TOTAL) {
		sum->latency.cycles += b->total[row];
		sum->latency.full += latency_is_full(b->total[row]) ? b->total[row] : 0u;
	}
}

static bool has_stop(struct elapsed *e, uint64_t of, uint64_t from_ns, uint64_t to_ns)
{
	if (e->known.of != of || from_ns <= e->known.first_ns || from_ns > e->known.last_ns) {
		uint32_t cpu = of < ELAPSED_THREAD ? (uint32_t)of : UINT32_MAX;

		e->known = elapsed_plan_span(e->plan, of, from_ns);
		e->known_gap_ns = spe_longest_gap_ns(spe_interval(e->plan->session, cpu));
	}
	return to_ns > e->known.last_ns;
}

/*
 * Does the time since the record before it belong to the thread? Both must be of the same stream
 * and thread, have rows, and nothing may have interrupted the stream between them.
 */
static bool follows(struct elapsed *e, const struct looked_at *l, size_t row)
{
	const uint32_t need = HAS_TIME | HAS_TID;
	const struct batch *b = l->batch;
	uint64_t of = stream_of(b, row), from_ns = b->time_ns[row - 1], to_ns = b->time_ns[row];

	if ((b->has[row] & b->has[row - 1] & need) != need || of != stream_of(b, row - 1) ||
	    b->tid[row] != b->tid[row - 1] || to_ns < from_ns || l->rows[row] == ELAPSED_NO_ROW ||
	    l->rows[row - 1] == ELAPSED_NO_ROW || has_stop(e, of, from_ns, to_ns))
		return false;
	if (to_ns - from_ns <= e->known_gap_ns)
		return true;
	e->rest.waiting_ns += to_ns - from_ns;
	return false;
}

/* Records of one row that follow each other. */
struct run {
	size_t from, to;
	uint32_t row;
	bool is_steady;
};

/* Does the batch have nothing of the stream in front of this row, or is that its end? */
static bool is_cut_at(const struct batch *b, size_t row)
{
	return row == 0 || row == b->n || stream_of(b, row) != stream_of(b, row - 1);
}

/*
 * Cuts the records [from, to) into runs of one row each. A run at the start or end of what the batch has of a stream may
 * be longer than what is seen of it: it counts as steady.
 */
static size_t cut_runs(const struct looked_at *l, size_t from, size_t to, struct run *out)
{
	size_t n = 0;

	for (size_t row = from; row < to;) {
		struct run *r = &out[n++];

		*r = (struct run){ .from = row, .row = l->rows[row] };
		while (row < to && l->rows[row] == r->row)
			row++;
		r->to = row;
		r->is_steady = r->to - r->from >= STEADY || is_cut_at(l->batch, r->from) ||
			       is_cut_at(l->batch, r->to);
	}
	return n;
}

static void add_inside(struct elapsed *e, const struct looked_at *l, const struct run *r)
{
	uint64_t ns = l->batch->time_ns[r->to - 1] - l->batch->time_ns[r->from];
	struct elapsed_sum *sum = &e->rows[r->row];

	e->rest.covered_ns += ns;
	if (r->is_steady) {
		sum->steady_ns += ns;
		sum->n_steady += r->to - 1 - r->from;
		return;
	}
	sum->brief_ns += ns;
	for (size_t row = r->from; row < r->to; row++)
		add_operations(&sum->briefly, &l->records[row]);
}

/* All edges of a batch at once: tuples_add_all() is faster than one by one. */
static void elapsed_add_pairs(struct elapsed *e, const uint64_t *pairs, const uint64_t *ns,
			      size_t n)
{
	uint32_t numbers[BATCH_ROWS];

	tuples_add_all(&e->pairs, pairs, n, numbers);
	while (e->pair_ns.n < e->pairs.n)
		vec_add(&e->pair_ns);
	for (size_t i = 0; i < n; i++)
		e->pair_ns.items[numbers[i]] += ns[i];
}

static void elapsed_add_thread(struct elapsed *e, uint64_t tid, const struct elapsed_thread *more)
{
	uint32_t number = tuples_add(&e->threads, &tid);
	struct elapsed_thread *t;

	if (number == e->by_thread.n)
		vec_add(&e->by_thread)->only_row = more->only_row;
	t = &e->by_thread.items[number];
	t->ns += more->ns;
	t->n += more->n;
	if (more->n > 0 && t->only_row != more->only_row)
		t->only_row = ELAPSED_NO_ROW;
}

/* Counts the records of each thread, and notes which rows they are of. */
static void add_threads(struct elapsed *e, const struct looked_at *l)
{
	const struct batch *b = l->batch;

	for (size_t from = 0, to; from < b->n; from = to) {
		struct elapsed_thread t = { .only_row = l->rows[from] };

		to = from + 1;
		if (!(b->has[from] & HAS_TID))
			continue;
		for (; to < b->n && b->has[to] & HAS_TID && b->tid[to] == b->tid[from]; to++)
			if (l->rows[to] != l->rows[from])
				t.only_row = ELAPSED_NO_ROW;
		t.n = to - from;
		elapsed_add_thread(e, b->tid[from], &t);
	}
}

static void add_edge(struct elapsed *e, struct looked_at *l, const struct run *a,
		     const struct run *b)
{
	uint64_t ns = l->batch->time_ns[b->from] - l->batch->time_ns[a->to - 1];

	e->rest.covered_ns += ns;
	e->rows[a->row].edge_ns += ns;
	e->rows[b->row].edge_ns += ns;
	e->rows[a->row].ending += l->records[a->to - 1].cycles;
	e->rows[b->row].beginning += l->records[a->to - 1].cycles;
	l->pairs[l->n_pairs][0] = a->row < b->row ? a->row : b->row;
	l->pairs[l->n_pairs][1] = a->row < b->row ? b->row : a->row;
	l->pair_ns[l->n_pairs++] = ns;
}

/* Adds the records of brief runs [from, to) as visitors of the steady run beside them. */
static void add_visitors(struct elapsed *e, const struct looked_at *l, const struct run *runs,
			 size_t from, size_t to, uint32_t host)
{
	for (size_t i = from; i < to; i++)
		for (size_t row = runs[i].from; row < runs[i].to && runs[i].row != host; row++)
			add_operations(&e->rows[host].visitors, &l->records[row]);
}

static void add_visits(struct elapsed *e, const struct looked_at *l, const struct run *runs,
		       size_t n)
{
	for (size_t from = 0, to; from < n; from = to + 1) {
		bool has_before = from > 0, has_after;

		for (to = from; to < n && !runs[to].is_steady;)
			to++;
		has_after = to < n;
		if (has_before)
			add_visitors(e, l, runs, from, to, runs[from - 1].row);
		if (has_after && !(has_before && runs[to].row == runs[from - 1].row))
			add_visitors(e, l, runs, from, to, runs[to].row);
	}
}

/* Sums up the records [from, to), each of which follows the one before it. */
static void elapsed_take_records(struct elapsed *e, struct looked_at *l, size_t from, size_t to)
{
	struct elapsed_thread time = { 0 };
	struct run runs[BATCH_ROWS];
	size_t n;

	if (to - from < 2)
		return;
	time.ns = l->batch->time_ns[to - 1] - l->batch->time_ns[from];
	elapsed_add_thread(e, l->batch->tid[from], &time);
	n = cut_runs(l, from, to, runs);
	for (size_t i = 0; i < n; i++) {
		add_inside(e, l, &runs[i]);
		if (i > 0)
			add_edge(e, l, &runs[i - 1], &runs[i]);
	}
	add_visits(e, l, runs, n);
}

/* Gaps between batches are left out: so the sums do not depend on which worker decodes which. */
static void elapsed_consume(void *partial, const struct batch *b)
{
	struct elapsed *e = partial;
	struct looked_at l;
	size_t from = 0;

	if (b->kind != BATCH_SPE)
		return;
	l.batch = b;
	l.n_pairs = 0;
	elapsed_plan_find(e->plan, b, l.rows);
	for (size_t row = 0; row < b->n;) {
		uint32_t cpu = batch_cpu(b, row);
		uint64_t operations = spe_interval(e->plan->session, cpu)->mean;

		for (; row < b->n && batch_cpu(b, row) == cpu; row++)
			elapsed_count_record(e, &l, row, operations);
	}
	add_threads(e, &l);
	add_spans(e, b);
	for (size_t row = 1; row <= b->n; row++) {
		if (row < b->n && follows(e, &l, row))
			continue;
		elapsed_take_records(e, &l, from, row);
		from = row;
	}
	elapsed_add_pairs(e, l.pairs[0], l.pair_ns, l.n_pairs);
}

static void add_sum(struct elapsed_sum *to, const struct elapsed_sum *from)
{
	add_operations(&to->all, &from->all);
	add_operations(&to->briefly, &from->briefly);
	add_operations(&to->visitors, &from->visitors);
	to->latency.cycles += from->latency.cycles;
	to->latency.full += from->latency.full;
	to->steady_ns += from->steady_ns;
	to->n_steady += from->n_steady;
	to->brief_ns += from->brief_ns;
	to->edge_ns += from->edge_ns;
	to->ending += from->ending;
	to->beginning += from->beginning;
	to->threads |= from->threads;
}

static void elapsed_merge(void *into, const void *from, const struct id_map *map)
{
	struct elapsed *e = into;
	const struct elapsed *part = from;

	(void)map;
	for (uint32_t i = 0; i < e->plan->rows.n; i++)
		add_sum(&e->rows[i], &part->rows[i]);
	for (uint32_t i = 0, n; i < part->pairs.n; i += n) {
		n = part->pairs.n - i < BATCH_ROWS ? part->pairs.n - i : BATCH_ROWS;
		elapsed_add_pairs(e, tuples_get(&part->pairs, i), part->pair_ns.items + i, n);
	}
	for (uint32_t i = 0; i < part->threads.n; i++)
		elapsed_add_thread(e, *tuples_get(&part->threads, i), &part->by_thread.items[i]);
	for (uint32_t i = 0; i < part->streams.n; i++)
		add_span(e, *tuples_get(&part->streams, i), part->spans.items[i].first_ns,
			 part->spans.items[i].last_ns);
	e->rest.covered_ns += part->rest.covered_ns;
	e->rest.waiting_ns += part->rest.waiting_ns;
}

const struct analysis_class elapsed_class = {
	.new = elapsed_new,
	.free = elapsed_free,
	.consume = elapsed_consume,
	.merge = elapsed_merge,
};
