/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a region draws from memory: direct and derived latency, bytes, bandwidth, as the SPE
 * white paper works them out in its sections 4.2.4 and 4.4.2.
 */
#include <inttypes.h>
#include <math.h>

#include "base/alloc.h"
#include "estimate/estimate.h"
#include "mem/parts.h"
#include "scan/spe_filters.h"

enum region_column {
	REGION_KIND,
	REGION_SAMPLES,
	REGION_ESTIMATED,
	REGION_ERROR,
	REGION_LOW,
	REGION_HIGH,
	REGION_TIME,
	REGION_DIRECT_CYCLES,
	REGION_DIRECT_NS,
	REGION_DERIVED,
	REGION_BYTES,
	REGION_RATE,
	REGION_SIZED,
	N_REGION,
};
static const struct column columns[N_REGION] = {
	[REGION_KIND] = { "access", NULL, "", CELL_TEXT, 0,
			  "load, store, or atomic (counted as neither)" },
	[REGION_SAMPLES] = { "samples", NULL, "samples", CELL_COUNT, 0, "SPE records, or samples" },
	[REGION_ESTIMATED] = { "estimated_operations", "estimated", "operations", CELL_COUNT,
			       COLUMN_TRUST, "estimated operations" },
	[REGION_ERROR] = { "estimated_error", "\xc2\xb1", "", CELL_NUMBER, COLUMN_SHARE,
			   "half of its 95 % interval, as a part of it" },
	[REGION_LOW] = { "estimated_low", NULL, "operations", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			 "lower limit of it (95 %)" },
	[REGION_HIGH] = { "estimated_high", NULL, "operations", CELL_NUMBER, COLUMN_MACHINE_ONLY,
			  "upper limit of it (95 %)" },
	[REGION_TIME] = { "thread_time_ns", "thread time", "ns", CELL_COUNT, 0,
			  "time from the first to the last record, summed over threads" },
	[REGION_DIRECT_CYCLES] = { "direct_latency_cycles", "direct", "cycles", CELL_NUMBER,
				   COLUMN_TRUST, "mean execution and translation latency" },
	[REGION_DIRECT_NS] = { "direct_latency_ns", "direct", "ns", CELL_NUMBER, COLUMN_TRUST,
			       "the same in ns" },
	[REGION_DERIVED] = { "derived_latency_ns", "derived", "ns", CELL_NUMBER, COLUMN_TRUST,
			     "thread time by estimated operations: for loads and regions" },
	[REGION_BYTES] = { "bytes", NULL, "bytes", CELL_COUNT, COLUMN_TRUST | COLUMN_MACHINE_ONLY,
			   "estimated bytes that were accessed" },
	[REGION_RATE] = { "bytes_per_s", "bandwidth", "bytes/s", CELL_NUMBER, COLUMN_TRUST,
			  "these bytes by the time from the first record to the last one" },
	[REGION_SIZED] = { "sized_share", NULL, "", CELL_NUMBER, COLUMN_SHARE | COLUMN_MACHINE_ONLY,
			   "part of the records with a known access size" },
};

/* A kind of access over all threads. */
struct whole {
	const struct mem_cost *cost;
	uint64_t thread_ns, bytes, n_sized;
};

static void mem_region_add_up(const struct mem_region *r, struct whole wholes[N_MEMORY_KINDS])
{
	for (int kind = 0; kind < N_MEMORY_KINDS; kind++)
		wholes[kind] = (struct whole){ .cost = &r->rows->kinds[kind],
					       .bytes = r->rows->bytes[kind],
					       .n_sized = r->rows->n_sized[kind] };
	for (uint32_t i = 0; i < r->set->threads.n; i++)
		wholes[tuples_get(&r->set->threads, i)[0]].thread_ns +=
			mem_times_length_ns(&r->set->times.items[i]);
}

static void show_direct(const struct mem_region *r, const struct whole *w, struct cell *row)
{
	const struct latency_sum *sum = &w->cost->sums[LATENCY_ACCESS];
	enum cell_mark mark = sum->n_full > 0 ? MARK_SATURATED : MARK_EXACT;

	if (sum->n == 0)
		return;
	row[REGION_DIRECT_CYCLES] = cell_marked(cell_number(latency_mean(sum)), mark);
	if (r->clock->hz > 0)
		row[REGION_DIRECT_NS] =
			cell_marked(cell_number(latency_mean(sum) / r->clock->hz * 1e9), mark);
}

/* Were operations left out because of how they went? Then those that are here do not fill the time. */
static bool is_thinned(const struct mem_region *r)
{
	return spe_filters_thin(r->rows->mem->session) || select_thins(r->select);
}

/*
 * Loads are what a program waits for. The time by the number of stores is a rate and no latency,
 * unless it is of code that does little else: a region.
 */
static bool has_derived_latency(const struct mem_region *r, enum memory_kind kind)
{
	return (kind == MEMORY_LOAD || r->name != NULL) && !is_thinned(r);
}

static void mem_region_show_estimates(const struct mem_region *r, enum memory_kind kind,
				      const struct whole *w, struct cell *row)
{
	const struct session *s = r->rows->mem->session;
	uint64_t length_ns = mem_set_length_ns(r->set);
	struct spe_interval_range range = spe_interval_range(s);
	struct estimate e;

	if (w->cost->operations == 0 || range.longest == 0)
		return;
	e = estimate_of(w->cost->n, w->cost->operations, &range);
	row[REGION_ESTIMATED] = estimate_cell(&e);
	if (!isinf(e.high))
		row[REGION_ERROR] = cell_number(estimate_error(&e));
	row[REGION_LOW] = cell_number(e.low);
	row[REGION_HIGH] = estimate_high_cell(&e);
	if (w->thread_ns > 0 && has_derived_latency(r, kind) &&
	    !estimate_is_open(w->cost->n, &range.lost))
		row[REGION_DERIVED] =
			cell_marked(cell_number((double)w->thread_ns / e.total), MARK_SCALED);
	if (w->n_sized == 0)
		return;
	row[REGION_BYTES] = estimate_amount_cell(cell_count(w->bytes), w->n_sized, &range.lost);
	row[REGION_RATE] = mem_rate_cell(s, w->bytes, w->n_sized, length_ns);
}

static void note_basis(const struct mem_region *r, struct table *out)
{
	const struct session *s = r->rows->mem->session;
	double timer_hz = spe_timer_hz(s->capture);
	struct text text = { 0 };

	text_str(&text, "sampling interval: ");
	spe_intervals_text(s, &text);
	if (timer_hz > 0)
		text_format(&text, "; timer %s", table_human(out, cell_number(timer_hz), "Hz"));
	text_str(&text, "; ");
	core_clock_text(r->clock, &text);
	table_note(out, "%.*s", (int)text.n, text.bytes);
	text_release(&text);
	if (spe_interval_range(s).longest == 0)
		table_note(out,
			   "the sampling interval is not known: shares only (give --interval)");
}

/* What the bytes of vectors without a length of their own rest on. */
static void note_vectors(const struct vector_length *v, uint32_t given, struct table *out)
{
	uint32_t bits = vector_length_bits(v, given);

	if (v->bits >= VECTOR_LEAST_BITS)
		table_note(out,
			   "SVE: vector lengths as recorded (up to %" PRIu32 " bits), else %" PRIu32
			   " bits; bytes assume that all elements are active",
			   v->bits, bits);
	else if (given != 0)
		table_note(out,
			   "SVE: vector length %" PRIu32
			   " bits, as given; bytes assume that all elements are active",
			   bits);
	else
		table_note(out,
			   "SVE: the vector length was not recorded (give --vector-length); bytes "
			   "assume %" PRIu32 " bits, the minimum, and that all elements are active",
			   bits);
}

static void note_limits(const struct mem_region *r, struct table *out)
{
	bool has_bytes = false, has_derived = false;

	for (size_t row = 0; row < table_n_rows(out); row++) {
		has_bytes |= table_cell(out, row, REGION_BYTES)->type != CELL_NONE;
		has_derived |= table_cell(out, row, REGION_DERIVED)->type != CELL_NONE;
	}
	if (has_bytes && r->vectors != NULL)
		note_vectors(r->vectors, r->vector_bits, out);
	if (has_derived)
		table_note(out, "direct: mean execution + translation latency. derived: thread "
				"time / estimated operations, less where operations overlap");
	else if (select_thins(r->select))
		table_note(out,
			   "no derived latency: --select excludes operations, but not their time");
	else if (has_derived_latency(r, MEMORY_LOAD) &&
		 estimate_is_open(r->rows->kinds[MEMORY_LOAD].n, &r->rows->mem->session->lost))
		table_note(out, "no derived latency: samples were lost");
	if (has_bytes && spe_filters_thin(r->rows->mem->session))
		table_note(out, "no bandwidth: the recording was filtered by latency, event or "
				"data source; record without these filters");
	else if (has_bytes)
		table_note(out, "bytes and bandwidth are estimated from samples");
}

void mem_region_table(const struct mem_region *r, struct table *out)
{
	struct whole wholes[N_MEMORY_KINDS];

	table_init(out, "region", NULL, columns, N_REGION);
	out->title =
		r->name == NULL ? "All memory operations" : table_format(out, "Region %s", r->name);
	mem_region_add_up(r, wholes);
	for (int kind = 0; kind < N_MEMORY_KINDS; kind++) {
		const struct whole *w = &wholes[kind];
		struct cell *row;

		if (w->cost->n == 0)
			continue;
		row = table_add_row(out);
		row[REGION_KIND] = cell_text(memory_kind_name((enum memory_kind)kind));
		row[REGION_SAMPLES] = cell_count(w->cost->n);
		if (w->thread_ns > 0)
			row[REGION_TIME] = cell_count(w->thread_ns);
		if (!r->rows->mem->is_sampled)
			row[REGION_SIZED] = cell_number((double)w->n_sized / (double)w->cost->n);
		show_direct(r, w, row);
		mem_region_show_estimates(r, (enum memory_kind)kind, w, row);
	}
	if (r->rows->mem->is_sampled)
		return;
	spe_filters_name_estimates(r->rows->mem->session, out);
	note_basis(r, out);
	note_limits(r, out);
}
